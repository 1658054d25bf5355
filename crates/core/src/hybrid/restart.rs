//! Consistent states when a mode is entered: x near x̃ with 0 = G₂(t, x), the algebraic rows of a system of index at most one.
//!
//! Newton's method with steps δ that satisfy C δ = −G₂, C = ∂G₂/∂x of full row rank. What else they satisfy is the way to restart:
//!
//! | way | step | what stays |
//! | --- | --- | --- |
//! | differential | E₁ δ = 0 | E₁ x̃, the differential part; E₁ is that of x̃ |
//! | least change | ‖δ‖ smallest: δ = −C⁺G₂ | as much as possible of every component |
//! | weighted | Σ (wⱼ δⱼ)² smallest | as much as possible, relative to the tolerances |
//! | tangential | T̃₂ᵀδ = 0, T̃₂ = kernel C at the result of the least change | T̃₂ᵀx̃ exactly |
//!
//! Wunderlich, thesis (2008), Remark 5.27 (the first two, for linear systems), (5.20) and (5.21). A step of least change lies in the range of
//! Cᵀ, which turns on the way along curved constraints; with T̃₂ fixed all steps lie in the range of C̃ᵀ, so that (5.21) is the same iteration
//! with C̃ kept in that place. For linear constraints both are the same.
//!
//! Components that must not change lose their columns: the rest of C must have full row rank still (Wunderlich, 5.2.2). Together with
//! E₁ δ = 0 there are more equations than unknowns then: C δ = −G₂ holds, and ‖E₁ δ‖ is the smallest in every step.

use super::error::EnterError;
use super::options::Restart;
use crate::analysis::rank::{Decomposed, Scaling, scales};
use crate::dae::{Dae, Pencil};
use crate::error::StepFailure;
use crate::linalg::{IterationMatrix, Mat, Matrix, Svd, below, constrained_least_squares};

/// Most iterations; a multiple root needs many.
const MOST: usize = 60;
/// Most shortenings of a step.
const SHORTENINGS: u32 = 12;
/// Residuals below this part of what they are summed from are rounding.
const ROUNDING: f64 = 16.0 * f64::EPSILON;
/// Where rounding is larger inside of the rows, residuals below this are accepted when steps do not make them smaller.
const CONSISTENT: f64 = 1e-9;
/// A matrix of rows and columns of size one whose inverse is larger is singular.
const SINGULAR: f64 = 1e12;

/// Move x onto all constraints of a system, the hidden ones included; a state that satisfies them to rounding stays as it is.
///
/// `kept` are numbers and names of components that must not change. If the constraints do not hold and cannot be made to hold without
/// them, they are refused ([`EnterError::Kept`]). `weights` are 1/(rtol |xⱼ| + atol), used by [`Restart::Weighted`] only. `xdot` is a
/// guess of ẋ; it changes only where constraints are hidden in rows that contain ẋ, and is not the derivative of the new state.
/// Bookkeeping ([`Dae::counts`]) changes as it must. The system is told that the state has jumped. [`Restart::Momentum`] has no meaning
/// for general systems.
///
/// ```
/// use daedal::dae::{Equations, Form, Initial, System, prepare};
/// use daedal::hybrid::{Restart, make_consistent};
/// use daedal::scalar::Scalar;
///
/// /// x' = y, 0 = x² + y² − 1.
/// struct Circle;
/// impl Equations for Circle {
///     fn dim(&self) -> usize { 2 }
///     fn residual<S: Scalar>(&self, _t: S, x: &[S], xdot: &[S], r: &mut [S]) {
///         r[0] = xdot[0] - x[1];
///         r[1] = x[0].square() + x[1].square() - 1.0;
///     }
/// }
/// let mut circle = prepare(&System::of(&Circle), &Initial::new(0.0, &[0.6, 0.8]), Form::Plain)?;
/// let (mut x, mut xdot) = ([0.8, 0.7], [0.0, 0.0]);
/// make_consistent(&mut *circle.dae, 0.0, &mut x, &mut xdot, Restart::Differential, &[], &[1.0, 1.0])?;
/// assert!(x[0] == 0.8 && (x[1] - 0.6).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn make_consistent(
    dae: &mut dyn Dae,
    t: f64,
    x: &mut [f64],
    xdot: &mut [f64],
    restart: Restart,
    kept: &[(usize, &str)],
    weights: &[f64],
) -> Result<(), EnterError> {
    let n = dae.dim();
    for given in [x.len(), xdot.len(), weights.len()] {
        if given != n {
            return Err(EnterError::Length { given, wanted: n });
        }
    }
    if restart == Restart::Momentum {
        return Err(EnterError::NoMomentum);
    }
    let mut newton = Newton::new(dae, t, x, kept);
    newton.linearise(x, xdot)?;
    match restart {
        Restart::Differential => {
            newton.wish = newton.differential_part();
            newton.solve(x, xdot)?;
        }
        Restart::Weighted => {
            newton.units = weights.iter().map(|w| 1.0 / w).collect();
            newton.solve(x, xdot)?;
        }
        _ => newton.solve(x, xdot)?,
    }
    if restart == Restart::Tangential {
        newton.linearise(x, xdot)?;
        newton.wish = Wish::Rows(newton.tangent()?);
        x.copy_from_slice(&newton.start);
        newton.linearise(x, xdot)?;
        newton.solve(x, xdot)?;
    }
    newton.dae.jumped(t, x);
    Ok(())
}

/// What steps satisfy beside the constraints.
enum Wish {
    /// They are short, in some units.
    Short,
    /// B (x + δ) is B x̃, or where that is impossible B δ is as small as possible.
    Rows(Mat<f64>),
    /// E₁ δ = 0 with the rows of the sparse pencil at hand.
    Sparse,
}

/// A sum of rows: number and factor of each.
type Combination = Vec<(usize, f64)>;

/// Newton's method at work.
struct Newton<'d> {
    dae: &'d mut dyn Dae,
    t: f64,
    /// x̃
    start: Vec<f64>,
    kept: &'d [(usize, &'d str)],
    /// components that may change
    free: Vec<usize>,
    wish: Wish,
    /// units of the components
    units: Vec<f64>,
    pencil: Pencil,
    /// all rows
    rows: Vec<f64>,
    /// rows that are constraints, or sums of rows that are
    constraints: Vec<Combination>,
    /// rows, or sums of rows, that determine derivatives; then invariants, which behave like these
    differential: Vec<Combination>,
    invariants: Vec<usize>,
    /// what the constraints are summed from
    sizes: Vec<f64>,
    /// do the rows show all constraints? Asked at the first point.
    shown: Option<bool>,
    checked: bool,
}

impl<'d> Newton<'d> {
    fn new(dae: &'d mut dyn Dae, t: f64, x: &[f64], kept: &'d [(usize, &'d str)]) -> Self {
        let n = x.len();
        Newton {
            pencil: dae.new_pencil(),
            dae,
            t,
            start: x.to_vec(),
            kept,
            free: (0..n).filter(|j| kept.iter().all(|(k, _)| k != j)).collect(),
            wish: Wish::Short,
            units: vec![1.0; n],
            rows: vec![0.0; n],
            constraints: Vec::new(),
            differential: Vec::new(),
            invariants: Vec::new(),
            sizes: Vec::new(),
            shown: None,
            checked: false,
        }
    }

    /// Iterate from x; what is wished refers to x̃.
    fn solve(&mut self, x: &mut [f64], xdot: &mut [f64]) -> Result<(), EnterError> {
        for _ in 0..MOST {
            let residual = self.residual();
            if residual <= ROUNDING {
                return Ok(());
            }
            self.check_kept(residual)?;
            let Some(step) = self.step(x) else { return Err(EnterError::NotConsistent { residual }) };
            if !self.advance(x, xdot, &step, residual)? {
                // rounding inside of the rows may be larger than that of their sums
                return if residual <= CONSISTENT { Ok(()) } else { Err(EnterError::NotConsistent { residual }) };
            }
        }
        let residual = self.residual();
        if residual <= CONSISTENT { Ok(()) } else { Err(EnterError::NotConsistent { residual }) }
    }

    /// Take a step, shortened until the residual falls. False if it does not.
    fn advance(&mut self, x: &mut [f64], xdot: &mut [f64], step: &[f64], residual: f64) -> Result<bool, EnterError> {
        let before = x.to_vec();
        let mut factor = 1.0;
        for _ in 0..SHORTENINGS {
            for ((x, before), step) in x.iter_mut().zip(&before).zip(step) {
                *x = before + factor * step;
            }
            let defined = self.dae.residual(0, self.t, x, xdot, &mut self.rows).is_ok();
            if defined && self.residual() <= (1.0 - 0.1 * factor) * residual {
                if self.linearise(x, xdot).is_ok() {
                    return Ok(true);
                }
                // back to the choices of the last point
                self.linearise(&before, xdot)?;
            }
            factor *= 0.5;
        }
        x.copy_from_slice(&before);
        Ok(false)
    }

    /// Largest residual of the constraints, each relative to what it is summed from.
    fn residual(&self) -> f64 {
        let scaled = self.constraints.iter().zip(&self.sizes).map(|(row, size)| (sum(row, &self.rows) / size).abs());
        scaled.fold(0.0, f64::max)
    }

    /// Rows and their derivatives at x.
    fn linearise(&mut self, x: &[f64], xdot: &mut [f64]) -> Result<(), EnterError> {
        let undefined = |_| StepFailure::Undefined { t: self.t };
        self.dae.jumped(self.t, x);
        self.dae.pencil(self.t, x, xdot, &mut self.pencil)?;
        self.dae.residual(0, self.t, x, xdot, &mut self.rows).map_err(undefined)?;
        let n = x.len();
        let single = |i: usize| vec![(i, 1.0)];
        self.constraints.clear();
        self.invariants.clear();
        for i in (0..n).filter(|&i| self.dae.algebraic(i)) {
            if self.dae.invariant(i) {
                self.invariants.push(i);
            } else {
                self.constraints.push(single(i));
            }
        }
        self.differential = (0..n).filter(|&i| !self.dae.algebraic(i)).map(single).collect();
        let shown = self.shown.unwrap_or_else(|| self.regular());
        self.shown = Some(shown);
        if !shown {
            self.uncover(x, xdot)?;
        }
        // a row C x + c is summed from the entries of C x, and c
        let a = self.constraints.len();
        let (mut sums, mut products) = (vec![0.0; a], vec![0.0; a]);
        self.each_entry(&self.constraints, Part::Slope, |i, j, c| {
            sums[i] += (c * x[j]).abs();
            products[i] += c * x[j];
        });
        let sizes = self.constraints.iter().zip(sums.iter().zip(&products));
        self.sizes = sizes
            .map(|(row, (size, product))| (size + (sum(row, &self.rows) - product).abs()).max(f64::MIN_POSITIVE))
            .collect();
        Ok(())
    }

    /// Is the matrix of E₁ and C regular, invariants among the latter?
    fn regular(&self) -> bool {
        Square::new(&self.pencil, self.flags()).is_some()
    }

    fn flags(&self) -> Vec<bool> {
        (0..self.rows.len()).map(|i| self.dae.algebraic(i)).collect()
    }

    /// Constraints that are sums of rows with ẋ: the left null space of their leading matrix. ẋ follows, so that the other rows hold.
    fn uncover(&mut self, x: &[f64], xdot: &mut [f64]) -> Result<(), EnterError> {
        let t = self.t;
        let rows: Vec<usize> = self.differential.iter().map(|row| row[0].0).collect();
        let E1 = self.dense(&self.differential, Part::Leading);
        let (scale, columns) = scales(&E1, Scaling::Rows);
        let found = Decomposed::scaled(&E1, scale.clone(), columns, 0.0).ok_or(StepFailure::SvdFailed { t })?;
        let rank = found.decision.rank;
        if rank == rows.len() {
            return Ok(());
        }
        let change = found.solve(&Mat::from_fn(rows.len(), 1, |i, _| self.rows[rows[i]]));
        xdot.iter_mut().enumerate().for_each(|(j, xdot)| *xdot -= change[(j, 0)]);
        self.dae.residual(0, t, x, xdot, &mut self.rows).map_err(|_| StepFailure::Undefined { t })?;
        let U = found.left_vectors();
        let combination = |k: usize| rows.iter().enumerate().map(|(i, &row)| (row, scale[i] * U[(i, k)])).collect();
        self.differential = (0..rank).map(combination).collect();
        self.constraints.extend((rank..rows.len()).map(combination));
        Ok(())
    }

    /// Components that must not change must leave full rank to the constraints.
    fn check_kept(&mut self, residual: f64) -> Result<(), EnterError> {
        if self.kept.is_empty() || self.checked {
            return Ok(());
        }
        self.checked = true;
        let t = self.t;
        let C = self.dense(&self.constraints, Part::Slope);
        let (r, c) = scales(&C, Scaling::Both);
        let rank = |columns: &[usize]| {
            let C = Mat::from_fn(C.nrows(), columns.len(), |i, k| C[(i, columns[k])]);
            let c = columns.iter().map(|&j| c[j]).collect();
            Decomposed::scaled(&C, r.clone(), c, 1.0).map(|found| found.decision.rank)
        };
        let all: Vec<usize> = (0..C.ncols()).collect();
        match (rank(&all), rank(&self.free)) {
            (Some(full), _) if full < C.nrows() => Err(EnterError::NotConsistent { residual }),
            (Some(full), Some(left)) if left < full => {
                Err(EnterError::Kept { names: self.kept.iter().map(|(_, name)| (*name).to_string()).collect() })
            }
            (Some(_), Some(_)) => Ok(()),
            _ => Err(StepFailure::SvdFailed { t }.into()),
        }
    }

    /// B of the differential part: E₁, undetermined combinations, and gradients of invariants that stand for differential equations.
    fn differential_part(&self) -> Wish {
        let n = self.rows.len();
        let hidden = self.shown != Some(true);
        if matches!(self.pencil, Pencil::Sparse { .. }) && self.kept.is_empty() && !hidden {
            return Wish::Sparse;
        }
        let single = |&i: &usize| vec![(i, 1.0)];
        let invariants: Vec<Combination> = self.invariants.iter().map(single).collect();
        let invariants = self.dense(&invariants, Part::Slope);
        let E1 = match self.dae.differential_part() {
            Some(E1) => {
                let open = self.dae.undetermined();
                let d = E1.rows();
                Mat::from_fn(d + open.len(), n, |i, j| if i < d { E1[(i, j)] } else { open[i - d][j] })
            }
            None => self.dense(&self.differential, Part::Leading),
        };
        Wish::Rows(below(&[&E1, &invariants]))
    }

    /// T₂ᵀ: a basis of the kernel of C, without the components that are kept or bookkeeping.
    fn tangent(&self) -> Result<Mat<f64>, EnterError> {
        let (t, C) = (self.t, self.dense(&self.constraints, Part::Slope));
        let (a, n) = (C.nrows(), C.ncols());
        let (scale, _) = scales(&C, Scaling::Rows);
        let mut svd = Svd::new(a, self.free.len());
        for i in 0..a {
            for (k, &j) in self.free.iter().enumerate() {
                svd.A[(i, k)] = scale[i] * C[(i, j)];
            }
        }
        svd.factor().map_err(|_| StepFailure::SvdFailed { t })?;
        let mut T2 = Mat::zeros(self.free.len().saturating_sub(a), n);
        for i in 0..T2.nrows() {
            for (k, &j) in self.free.iter().enumerate().filter(|(_, j)| self.dae.counts(**j)) {
                T2[(i, j)] = svd.V[(k, a + i)];
            }
        }
        Ok(T2)
    }

    /// δ from x, if the constraints are independent.
    fn step(&self, x: &[f64]) -> Option<Vec<f64>> {
        let n = x.len();
        let c: Vec<f64> = self.constraints.iter().map(|row| -sum(row, &self.rows)).collect();
        let (B, units) = match &self.wish {
            Wish::Sparse => match self.sparse_step(&c) {
                Some(step) => return Some(step),
                None => (self.dense(&self.differential, Part::Leading), None),
            },
            Wish::Rows(B) => (B.clone(), None),
            Wish::Short if (0..n).all(|j| self.dae.counts(j)) => (Mat::zeros(0, n), Some(&self.units)),
            // bookkeeping may change by any amount
            Wish::Short => {
                let weight = |j: usize| if self.dae.counts(j) { 1.0 / self.units[j] } else { 0.0 };
                (Mat::from_fn(n, n, |i, j| if i == j { weight(j) } else { 0.0 }), Some(&self.units))
            }
        };
        let C = self.dense(&self.constraints, Part::Slope);
        if self.kept.is_empty() {
            // back to B x̃, without the rounding of the steps before
            let b = |i: usize| (0..n).map(|j| B[(i, j)] * (self.start[j] - x[j])).sum();
            let b: Vec<f64> = (0..B.nrows()).map(b).collect();
            if let Some(step) = square_step(&B, &b, &C, &c) {
                return Some(step);
            }
        }
        let unit = |j: usize| units.map_or(1.0, |units| units[j]);
        let columns =
            |M: &Mat<f64>| Mat::from_fn(M.nrows(), self.free.len(), |i, k| M[(i, self.free[k])] * unit(self.free[k]));
        let scaled = constrained_least_squares(&columns(&C), &c, &columns(&B), &vec![0.0; B.nrows()]).ok()?;
        let mut step = vec![0.0; n];
        self.free.iter().zip(&scaled).for_each(|(&j, d)| step[j] = d * unit(j));
        Some(step)
    }

    /// E₁ δ = 0, C δ = c with the sparse pencil.
    fn sparse_step(&self, c: &[f64]) -> Option<Vec<f64>> {
        let mut step = vec![0.0; self.rows.len()];
        self.constraints.iter().zip(c).for_each(|(row, c)| step[row[0].0] = *c);
        Square::new(&self.pencil, self.flags())?.solve(&mut step);
        // rows with one derivative hold their unknowns, without rounding
        let mut columns = vec![Vec::new(); self.differential.len()];
        self.each_entry(&self.differential, Part::Leading, |i, j, _| columns[i].push(j));
        columns.iter().filter(|columns| columns.len() == 1).for_each(|columns| step[columns[0]] = 0.0);
        Some(step)
    }

    /// Entries that are not zero of sums of rows: their derivatives with respect to ẋ or x.
    fn each_entry(&self, rows: &[Combination], part: Part, mut each: impl FnMut(usize, usize, f64)) {
        let (leading, sign) = (part == Part::Leading, if part == Part::Leading { 1.0 } else { -1.0 });
        match &self.pencil {
            Pencil::Dense { E, A } => {
                let M = if leading { E } else { A };
                for (i, row) in rows.iter().enumerate() {
                    for j in 0..M.cols() {
                        let entry = sign * row.iter().map(|&(k, factor)| factor * M[(k, j)]).sum::<f64>();
                        if entry != 0.0 {
                            each(i, j, entry);
                        }
                    }
                }
            }
            Pencil::Sparse { places, E, A } => {
                let mut of_row = vec![Vec::new(); self.rows.len()];
                for (i, row) in rows.iter().enumerate() {
                    row.iter().for_each(|&(k, factor)| of_row[k].push((i, sign * factor)));
                }
                for (&(k, j), &entry) in places.iter().zip(if leading { E } else { A }) {
                    if entry != 0.0 {
                        of_row[k].iter().for_each(|&(i, factor)| each(i, j, factor * entry));
                    }
                }
            }
        }
    }

    fn dense(&self, rows: &[Combination], part: Part) -> Mat<f64> {
        let mut M = Mat::zeros(rows.len(), self.rows.len());
        self.each_entry(rows, part, |i, j, entry| M[(i, j)] += entry);
        M
    }
}

/// Which derivatives of rows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// With respect to ẋ.
    Leading,
    /// With respect to x.
    Slope,
}

fn sum(row: &Combination, values: &[f64]) -> f64 {
    row.iter().map(|&(i, factor)| factor * values[i]).sum()
}

/// B δ = b, C δ = c, if these are as many equations as unknowns, and independent.
fn square_step(B: &Mat<f64>, b: &[f64], C: &Mat<f64>, c: &[f64]) -> Option<Vec<f64>> {
    let (d, n) = (B.nrows(), B.ncols());
    if d + C.nrows() != n {
        return None;
    }
    let (mut E, mut A) = (Matrix::zeros(n, n), Matrix::zeros(n, n));
    for j in 0..n {
        (0..d).for_each(|i| E[(i, j)] = B[(i, j)]);
        (d..n).for_each(|i| A[(i, j)] = -C[(i - d, j)]);
    }
    let mut step = [b, c].concat();
    Square::new(&Pencil::Dense { E, A }, (0..n).map(|i| i >= d).collect())?.solve(&mut step);
    // rows with one entry hold their unknowns, without rounding
    for (i, b) in b.iter().enumerate() {
        let mut entries = (0..n).filter(|&j| B[(i, j)] != 0.0);
        if let (Some(j), None) = (entries.next(), entries.next()) {
            step[j] = b / B[(i, j)];
        }
    }
    Some(step)
}

/// (E₁; −A₂), decomposed.
struct Square(IterationMatrix<f64>);

impl Square {
    /// Nothing if it is singular to working accuracy: its rows and columns scaled, a solution for a right side of size one is very large.
    fn new(pencil: &Pencil, algebraic: Vec<bool>) -> Option<Self> {
        let n = algebraic.len();
        let mut entries = Vec::new();
        match pencil {
            Pencil::Dense { E, A } => {
                for i in 0..n {
                    let row = if algebraic[i] { A.row(i) } else { E.row(i) };
                    entries.extend(row.iter().enumerate().map(|(j, m)| (i, j, m.abs())));
                }
            }
            Pencil::Sparse { places, E, A } => {
                let entry = |(&(i, j), (e, a)): (&(usize, usize), (&f64, &f64))| {
                    (i, j, if algebraic[i] { a.abs() } else { e.abs() })
                };
                entries.extend(places.iter().zip(E.iter().zip(A)).map(entry));
            }
        }
        let (mut row, mut column) = (vec![0.0_f64; n], vec![0.0_f64; n]);
        entries.iter().for_each(|&(i, _, m)| row[i] = row[i].max(m));
        entries.iter().filter(|(i, ..)| row[*i] > 0.0).for_each(|&(i, j, m)| column[j] = column[j].max(m / row[i]));
        let mut matrix = IterationMatrix::new(pencil, algebraic);
        matrix.decompose(pencil, 1.0, 0.0).ok()?;
        // no special direction
        let mut probe: Vec<f64> = row.iter().enumerate().map(|(i, size)| size * (1.0 + 7.3 * i as f64).sin()).collect();
        matrix.solve(&mut probe);
        let regular = probe.iter().zip(&column).all(|(x, size)| (x * size).abs() < SINGULAR);
        regular.then_some(Square(matrix))
    }

    fn solve(&mut self, b: &mut [f64]) {
        self.0.solve(b);
    }
}
