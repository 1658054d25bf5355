//! The differential part of the Newton systems: decomposed for every step size. Steinbrecher (2007), section 5.
//!
//! ```text
//! E₁ = γ V_D + h V_B,   E₂ = (αₖ + iβₖ) V_D + h V_B        more rows than columns
//! ```
//! A selector S makes them square: rows of the identity (LU) or Q₁ᵀ of E₁ = Q₁R (QR). The same S serves E₁, E₂ and the error estimate.

use super::constraint::ConstraintPart;
use super::{Decomposition, Selection};
use crate::linalg::{Lu, Matrix, Singular, ThinQr, row_pivots};
use crate::method::collocation::Tableau;
use crate::motion::Layout;
use faer::c64;

/// The decomposed differential part.
pub struct DifferentialPart {
    decomposition: Decomposition,
    selection: Selection,
    /// rows that S picks
    selected: Vec<usize>,
    real: Lu<f64>,
    /// one for each pair αₖ ± iβₖ
    complex: Vec<Lu<c64>>,
    qr: ThinQr,
    tableau: &'static Tableau,
    h: f64,
    /// free columns of λ, μ come first; they are solved for h Δλ, which keeps E₁ regular as h → 0
    multipliers: usize,
    algebraic: usize,
    velocities: usize,
    invariants: bool,
    tall: Matrix,
    order: Vec<usize>,
    rhs: Vec<f64>,
    rhs_complex: Vec<c64>,
    projected: Vec<f64>,
    projected_complex: Vec<c64>,
}

impl DifferentialPart {
    /// Room for the part that `constraints` leaves, and up to so many stages.
    pub fn new(
        layout: &Layout,
        constraints: &ConstraintPart,
        decomposition: Decomposition,
        selection: Selection,
        stages: usize,
    ) -> Self {
        let (m, n) = (layout.differential(), constraints.free.len());
        let zero = c64::new(0.0, 0.0);
        DifferentialPart {
            decomposition,
            selection,
            selected: (0..n).collect(),
            real: Lu::new(n),
            complex: (0..stages / 2).map(|_| Lu::new(n)).collect(),
            qr: ThinQr::new(m, n),
            tableau: Tableau::of(stages),
            h: 0.0,
            multipliers: constraints.free_counts()[0],
            algebraic: layout.algebraic(),
            velocities: layout.sizes.velocities,
            invariants: !layout.row_invariants().is_empty(),
            tall: Matrix::zeros(m, n),
            order: vec![0; m],
            rhs: vec![0.0; m],
            rhs_complex: vec![zero; m],
            projected: vec![0.0; n],
            projected_complex: vec![zero; n],
        }
    }

    /// Rows of the differential equations that S picks, if it picks rows.
    pub fn selected(&self) -> Option<&[usize]> {
        (self.decomposition == Decomposition::Lu).then_some(&self.selected)
    }

    /// Choose the selector anew. With QR there is nothing to choose: Q₁ follows from every E₁.
    pub fn select(&mut self, constraints: &mut ConstraintPart, tableau: &Tableau, h: f64) -> Result<(), Singular> {
        if self.decomposition != Decomposition::Lu {
            return Ok(());
        }
        (0..self.rhs.len()).for_each(|i| constraints.eliminate(i));
        // with invariants the free columns are not those of v and p apart
        if self.selection == Selection::Blockwise && !self.invariants {
            return self.select_blockwise(constraints);
        }
        let mut tall = std::mem::replace(&mut self.tall, Matrix::zeros(0, 0));
        for i in 0..tall.rows() {
            for k in 0..tall.cols() {
                let (d, b) = self.entry(constraints, i, k, h);
                tall[(i, k)] = tableau.GAMMA * d + b;
            }
        }
        let result = row_pivots(&mut tall, &mut self.order, &mut self.selected);
        self.tall = tall;
        result
    }

    /// S = diag(I, S_v, S_p): pivot rows of the v rows of V_D (beside V_B for free multipliers) and of its p rows.
    fn select_blockwise(&mut self, constraints: &ConstraintPart) -> Result<(), Singular> {
        let [multipliers, r, v, p] = constraints.free_counts();
        let (velocities, positions) = (self.velocities, self.order.len() - r - self.velocities);
        for (k, row) in self.selected[..r].iter_mut().enumerate() {
            *row = k;
        }
        // free columns in the order λμ, r, v, p; rows in the order r, v, p
        for (first_row, rows, columns, at) in [
            (r, velocities, (0..multipliers).chain(multipliers + r..multipliers + r + v), r),
            (
                r + velocities,
                positions,
                (0..0).chain(multipliers + r + v..multipliers + r + v + p),
                r + multipliers + v,
            ),
        ] {
            let count = columns.clone().count();
            let mut part = Matrix::zeros(0, 0);
            std::mem::swap(&mut part, &mut self.tall);
            // the part stands in the upper left corner; rows beyond it are zero and never chosen
            part.fill(0.0);
            for i in 0..rows {
                for (k, j) in columns.clone().enumerate() {
                    let column = constraints.free[j];
                    part[(i, k)] = if j < multipliers {
                        constraints.F[(self.algebraic + first_row + i, column)]
                    } else {
                        constraints.D[(first_row + i, column)]
                    };
                }
            }
            let result = row_pivots(&mut part, &mut self.order, &mut self.selected[at..at + count]);
            self.tall = part;
            result?;
            for row in &mut self.selected[at..at + count] {
                *row += first_row;
            }
        }
        Ok(())
    }

    /// Entries of V_D and of h V_B in a free column.
    #[inline]
    fn entry(&self, constraints: &ConstraintPart, row: usize, k: usize, h: f64) -> (f64, f64) {
        let column = constraints.free[k];
        let b = constraints.F[(self.algebraic + row, column)];
        (constraints.D[(row, column)], if k < self.multipliers { b } else { h * b })
    }

    /// Decompose S E₁ and all S E₂ for step size h.
    pub fn decompose(
        &mut self,
        constraints: &mut ConstraintPart,
        tableau: &'static Tableau,
        h: f64,
    ) -> Result<(), Singular> {
        self.rows().for_each(|i| constraints.eliminate(self.row(i)));
        (self.tableau, self.h) = (tableau, h);
        let n = constraints.free.len();
        if self.decomposition == Decomposition::Lu {
            for r in 0..n {
                for k in 0..n {
                    let (d, b) = self.entry(constraints, self.selected[r], k, h);
                    self.real.A[(r, k)] = tableau.GAMMA * d + b;
                    for (complex, (alpha, beta)) in self.complex.iter_mut().zip(tableau.PAIRS) {
                        complex.A[(r, k)] = c64::new(alpha * d + b, beta * d);
                    }
                }
            }
            self.real.factor()?;
        } else {
            for i in 0..self.tall.rows() {
                for k in 0..n {
                    let (d, b) = self.entry(constraints, i, k, h);
                    self.qr.Qt[(k, i)] = tableau.GAMMA * d + b;
                }
            }
            self.qr.factor()?;
            self.complex.iter_mut().for_each(|complex| complex.A.fill(c64::new(0.0, 0.0)));
            for i in 0..self.tall.rows() {
                for k in 0..n {
                    let (d, b) = self.entry(constraints, i, k, h);
                    for (complex, (alpha, beta)) in self.complex.iter_mut().zip(tableau.PAIRS) {
                        let e = c64::new(alpha * d + b, beta * d);
                        for r in 0..n {
                            complex.A[(r, k)] += e * self.qr.Qt[(r, i)];
                        }
                    }
                }
            }
        }
        self.complex.iter_mut().take(tableau.PAIRS.len()).try_for_each(Lu::factor_complex)
    }

    /// Free unknowns of the real system: (S E₁) ζ = S (bD + (γ L_D + h L_B) c).
    pub fn solve_real(&mut self, constraints: &ConstraintPart, c: &[f64], bD: &[f64], zeta: &mut [f64]) {
        let (h, gamma) = (self.h, self.tableau.GAMMA);
        let pivots = constraints.pivots();
        for i in self.rows() {
            let i = self.row(i);
            let (D, B) = (constraints.D.row(i), constraints.F.row(self.algebraic + i));
            let mut sum = bD[i];
            for (rows, cols) in &pivots {
                for ((d, b), c) in D[cols.clone()].iter().zip(&B[cols.clone()]).zip(&c[rows.clone()]) {
                    sum += (gamma * d + h * b) * c;
                }
            }
            self.rhs[i] = sum;
        }
        let n = self.projected.len();
        if self.decomposition == Decomposition::Lu {
            for r in 0..n {
                self.projected[r] = self.rhs[self.selected[r]];
            }
            self.real.solve(&mut self.projected);
        } else {
            for r in 0..n {
                self.projected[r] = self.qr.Qt.row(r).iter().zip(&self.rhs).map(|(q, b)| q * b).sum();
            }
            self.qr.solve(&mut self.projected);
        }
        zeta.fill(0.0);
        for (k, &column) in constraints.free.iter().enumerate() {
            zeta[column] = if k < self.multipliers { self.projected[k] / h } else { self.projected[k] };
        }
    }

    /// Free unknowns of the complex system of a pair, real and imaginary parts apart.
    pub fn solve_complex(
        &mut self,
        pair: usize,
        constraints: &ConstraintPart,
        c: [&[f64]; 2],
        bD: [&[f64]; 2],
        re: &mut [f64],
        im: &mut [f64],
    ) {
        let (h, (alpha, beta)) = (self.h, self.tableau.PAIRS[pair]);
        let pivots = constraints.pivots();
        for i in self.rows() {
            let i = self.row(i);
            let (D, B) = (constraints.D.row(i), constraints.F.row(self.algebraic + i));
            let (mut x, mut y) = (bD[0][i], bD[1][i]);
            for (rows, cols) in &pivots {
                let (cx, cy) = (&c[0][rows.clone()], &c[1][rows.clone()]);
                for (k, (d, b)) in D[cols.clone()].iter().zip(&B[cols.clone()]).enumerate() {
                    let (a, b) = (alpha * d + h * b, beta * d);
                    x += a * cx[k] - b * cy[k];
                    y += a * cy[k] + b * cx[k];
                }
            }
            self.rhs_complex[i] = c64::new(x, y);
        }
        let n = self.projected_complex.len();
        if self.decomposition == Decomposition::Lu {
            for r in 0..n {
                self.projected_complex[r] = self.rhs_complex[self.selected[r]];
            }
        } else {
            for r in 0..n {
                self.projected_complex[r] = self.qr.Qt.row(r).iter().zip(&self.rhs_complex).map(|(q, b)| b * q).sum();
            }
        }
        self.complex[pair].solve(&mut self.projected_complex);
        re.fill(0.0);
        im.fill(0.0);
        for (k, &column) in constraints.free.iter().enumerate() {
            let z = if k < self.multipliers { self.projected_complex[k] / h } else { self.projected_complex[k] };
            (re[column], im[column]) = (z.re, z.im);
        }
    }

    /// Rows whose right-hand sides are needed: the selected ones, or all.
    fn rows(&self) -> std::ops::Range<usize> {
        0..if self.decomposition == Decomposition::Lu { self.selected.len() } else { self.rhs.len() }
    }

    fn row(&self, i: usize) -> usize {
        if self.decomposition == Decomposition::Lu { self.selected[i] } else { i }
    }
}
