//! Trimmed form of first order of a system of order k with constant coefficients: index reduction first, then order reduction, so that no
//! derivative of an algebraic unknown becomes an unknown.
//!
//! ```text
//! [Â_k; …; Â_0] Q = lower triangular by blocks,  Q = [Q_k … Q_0],  v_{r,i} = Q_rᵀ x⁽ⁱ⁾,  i = 1, …, r − 1
//! ```
//! In a row of order q, Q_rᵀ x⁽ᵖ⁾ with p ≥ r is taken away by derivative p − r of the rows of order r; then every row of order q has
//! v_{q,q−1}′ as its highest derivative, and the others are unknowns. Size n + Σ (r − 1) d_r, Σ q d_q differential equations.

use super::{OrderExpansion, ReducedOrder};
use crate::blocks::{beside, put};
use crate::second_order::{SecondOrderError, Trimmed};
use faer::linalg::solvers::Solve;
use faer::{Col, Mat};
use std::ops::Range;

impl ReducedOrder {
    /// The trimmed form, strangeness-free; `at` is the expansion that was reduced, which must be constant and reach k − 1 derivatives of f
    /// further than the index. `V` of the result holds Q_k, …, Q_2.
    pub fn trimmed(&self, at: &OrderExpansion) -> Result<Trimmed, SecondOrderError> {
        let at = at.equilibrated();
        let k = at.order();
        if (0..=k).any(|q| at.A(q)[1..].iter().any(|X| X.norm_max() > 0.0)) {
            return Err(SecondOrderError::VariableCoefficients);
        }
        if self.values.u > 0 {
            return Err(SecondOrderError::FreeUnknowns { count: self.values.u });
        }
        let (n, asked) = (at.dim(), self.values.mu + k - 1);
        if at.level() < asked {
            return Err(SecondOrderError::TooFewDerivatives { asked, given: at.level() });
        }
        let leading = self.leading();
        let Q: Mat<f64> = if n == 0 { Mat::zeros(0, 0) } else { leading.transpose().qr().compute_Q() };
        let columns = self.columns();
        // R[q][p]: factor of Qᵀx⁽ᵖ⁾ in the rows of order q; f[q][i]: derivative i of their right-hand side
        let mut R: Vec<Vec<Mat<f64>>> = self.rows.iter().map(|rows| rows.A.iter().map(|A| A * &Q).collect()).collect();
        let mut f: Vec<Vec<Col<f64>>> =
            (0..=k).map(|q| (0..k).map(|i| self.derivative_of_f(&at, q, i)).collect()).collect();
        for q in 1..=k {
            for p in (0..q).rev() {
                for r in 0..=p {
                    let factor = divided(&R[q][p].get(.., columns[r].clone()).to_owned(), &own(&R, &columns, r));
                    for s in 0..=r {
                        let change = &factor * &R[r][s];
                        R[q][s + p - r] -= change;
                    }
                    for i in 0..k - (p - r) {
                        let change = &factor * &f[r][i + p - r];
                        f[q][i] -= change;
                    }
                }
            }
        }
        Ok(assemble(&Q, &R, &f, &columns))
    }

    /// Columns of Q_0, …, Q_k.
    fn columns(&self) -> Vec<Range<usize>> {
        let mut first = 0;
        let mut columns: Vec<Range<usize>> = self
            .rows
            .iter()
            .rev()
            .map(|rows| {
                first += rows.len();
                first - rows.len()..first
            })
            .collect();
        columns.reverse();
        columns
    }

    /// Derivative i of the right-hand side of the rows of order q, constant combinations of f, f′, ….
    fn derivative_of_f(&self, at: &OrderExpansion, q: usize, i: usize) -> Col<f64> {
        let (Z, m) = (&self.rows[q].Z, at.rows());
        let levels = Z.nrows().checked_div(m).unwrap_or(0);
        let mut g = Col::zeros(Z.nrows());
        for j in 0..levels {
            // f_[j] has the derivative (j + 1) ⋯ (j + i) f_[j+i]
            let factor: f64 = (j + 1..=j + i).map(|x| x as f64).product();
            for row in 0..m {
                g[j * m + row] = factor * at.f().get(j + i).map_or(0.0, |f| f[row]);
            }
        }
        Z.transpose() * g
    }
}

/// The factor of Q_rᵀ x⁽ʳ⁾ in the rows of order r, regular.
fn own(R: &[Vec<Mat<f64>>], columns: &[Range<usize>], r: usize) -> Mat<f64> {
    R[r][r].get(.., columns[r].clone()).to_owned()
}

/// X Y⁻¹.
fn divided(X: &Mat<f64>, Y: &Mat<f64>) -> Mat<f64> {
    if Y.nrows() == 0 || X.nrows() == 0 {
        return Mat::zeros(X.nrows(), Y.nrows());
    }
    let transposed = Y.transpose().to_owned().partial_piv_lu().solve(X.transpose().to_owned());
    transposed.transpose().to_owned()
}

fn assemble(Q: &Mat<f64>, R: &[Vec<Mat<f64>>], f: &[Vec<Col<f64>>], columns: &[Range<usize>]) -> Trimmed {
    let (k, n) = (R.len() - 1, Q.nrows());
    // where v_{r,i} begins; x stands behind all of them
    let mut place = vec![vec![0; k]; k + 1];
    let mut added = 0;
    for r in (2..=k).rev() {
        for at in &mut place[r][1..r] {
            *at = added;
            added += columns[r].len();
        }
    }
    let basis = |r: usize| Q.get(.., columns[r].clone()).to_owned();
    let size = added + n;
    let (mut E, mut A) = (Mat::zeros(size, size), Mat::zeros(size, size));
    let mut b = vec![0.0; size];
    // Q_rᵀx⁽ᵖ⁾, p < r or p = 0, as columns of the unknowns
    let unknown = |r: usize, p: usize| {
        let mut X = Mat::zeros(columns[r].len(), size);
        match p {
            0 => put(&mut X, 0, added, &basis(r).transpose().to_owned()),
            _ => put(&mut X, 0, place[r][p], &Mat::identity(columns[r].len(), columns[r].len())),
        }
        X
    };
    let mut row = 0;
    for q in (0..=k).rev() {
        let height = columns[q].len();
        for (p, factor) in R[q].iter().enumerate() {
            for r in 0..=k {
                let block = factor.get(.., columns[r].clone()).to_owned();
                if p < r || (p, q, r) == (0, 0, 0) {
                    let term: Mat<f64> = block * unknown(r, p);
                    let sum = A.get(row..row + height, ..).to_owned() - term;
                    put(&mut A, row, 0, &sum);
                } else if q > 0 && (p, r) == (q, q) {
                    let term: Mat<f64> = block * unknown(r, p - 1);
                    put(&mut E, row, 0, &term);
                }
            }
        }
        f[q][0].iter().enumerate().for_each(|(i, x)| b[row + i] = *x);
        row += height;
    }
    for r in (2..=k).rev() {
        for i in 1..r {
            put(&mut E, row, 0, &unknown(r, i - 1));
            put(&mut A, row, 0, &unknown(r, i));
            row += columns[r].len();
        }
    }
    let V: Vec<Mat<f64>> = (2..=k).rev().map(basis).collect();
    let V = if V.is_empty() { Mat::zeros(n, 0) } else { beside(&V.iter().collect::<Vec<_>>()) };
    Trimmed { E, A, b, V }
}
