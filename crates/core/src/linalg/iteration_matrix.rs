//! The matrix that implicit methods iterate with: σ E − h A in rows with derivatives, −A in algebraic rows.
//!
//! It is (σ/h) E − A with the rows that contain derivatives multiplied by h, so that it tends to (σ E₁; −A₂), which is regular for
//! systems of index one, as h → 0. σ is real or complex.

use super::large_lu::LargeLu;
use super::sparse_lu::SparseLu;
use super::{Field, Lu, Singular};
use crate::dae::Pencil;
use faer::c64;
use faer::traits::ComplexField;

/// Numbers of which iteration matrices are made.
pub trait Shift: Field + ComplexField {
    /// Dense matrices of at least this size are decomposed by faer. Measured in µs for one decomposition and four solves, written-out
    /// loops and faer: real n = 24: 4.8, 5.6; 32: 8.4, 8.4; 40: 13.5, 12.1; 64: 40, 26; 128: 257, 113. Complex n = 16: 4.2, 4.3;
    /// 20: 6.7, 6.0; 32: 19, 13; 64: 110, 48; 128: 740, 250.
    const LARGE: usize;

    /// Decompose a small matrix.
    fn factor_small(lu: &mut Lu<Self>) -> Result<(), Singular>;
}

impl Shift for f64 {
    const LARGE: usize = 32;

    fn factor_small(lu: &mut Lu<f64>) -> Result<(), Singular> {
        lu.factor()
    }
}

impl Shift for c64 {
    const LARGE: usize = 20;

    fn factor_small(lu: &mut Lu<c64>) -> Result<(), Singular> {
        lu.factor_complex()
    }
}

/// σ E − h A, or −A in algebraic rows, decomposed.
pub struct IterationMatrix<T> {
    algebraic: Vec<bool>,
    factors: Factors<T>,
}

enum Factors<T> {
    Small(Lu<T>),
    Large(LargeLu<T>),
    Sparse(Box<SparseLu<T>>),
    /// the pattern leaves no regular matrix
    NoPattern(Singular),
}

impl<T: Shift> IterationMatrix<T> {
    /// Room for matrices of the kind of a pencil; `algebraic` tells which rows contain no derivatives.
    pub fn new(pencil: &Pencil, algebraic: Vec<bool>) -> Self {
        let n = algebraic.len();
        let factors = match pencil {
            Pencil::Dense { .. } if n < T::LARGE => Factors::Small(Lu::new(n)),
            Pencil::Dense { .. } => Factors::Large(LargeLu::new(n)),
            Pencil::Sparse { places, .. } => {
                SparseLu::new(n, places).map_or_else(Factors::NoPattern, |lu| Factors::Sparse(Box::new(lu)))
            }
        };
        IterationMatrix { algebraic, factors }
    }

    /// Put together and decompose.
    pub fn decompose(&mut self, pencil: &Pencil, sigma: T, h: f64) -> Result<(), Singular> {
        let h = T::from(h);
        let minus = T::from(-1.0);
        let entry = |algebraic: bool, e: f64, a: f64| {
            if algebraic { minus * T::from(a) } else { sigma * T::from(e) - h * T::from(a) }
        };
        match (&mut self.factors, pencil) {
            (Factors::Small(lu), Pencil::Dense { E, A }) => {
                for (i, &algebraic) in self.algebraic.iter().enumerate() {
                    for ((m, &e), &a) in lu.A.row_mut(i).iter_mut().zip(E.row(i)).zip(A.row(i)) {
                        *m = entry(algebraic, e, a);
                    }
                }
                T::factor_small(lu)
            }
            (Factors::Large(lu), Pencil::Dense { E, A }) => {
                for j in 0..self.algebraic.len() {
                    for (i, &algebraic) in self.algebraic.iter().enumerate() {
                        lu.A[(i, j)] = entry(algebraic, E[(i, j)], A[(i, j)]);
                    }
                }
                lu.factor()
            }
            (Factors::Sparse(lu), Pencil::Sparse { places, E, A }) => {
                for (((m, &(i, _)), &e), &a) in lu.values.iter_mut().zip(places).zip(E).zip(A) {
                    *m = entry(self.algebraic[i], e, a);
                }
                lu.factor()
            }
            (Factors::NoPattern(singular), _) => Err(*singular),
            _ => unreachable!("the kind of a pencil does not change"),
        }
    }

    /// b ← M⁻¹ b.
    pub fn solve(&mut self, b: &mut [T]) {
        match &mut self.factors {
            Factors::Small(lu) => lu.solve(b),
            Factors::Large(lu) => lu.solve(b),
            Factors::Sparse(lu) => lu.solve(b),
            Factors::NoPattern(_) => b.fill(T::from(f64::NAN)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Matrix;

    /// A pencil with `n` rows of which the last is algebraic, dense and sparse.
    fn pencils(n: usize) -> (Pencil, Pencil, Vec<bool>) {
        let (mut E, mut A) = (Matrix::zeros(n, n), Matrix::zeros(n, n));
        let (mut places, mut e, mut a) = (Vec::new(), Vec::new(), Vec::new());
        for j in 0..n {
            for i in 0..n {
                if (i + 2 * j) % 3 == 0 || i == j {
                    if i + 1 < n {
                        E[(i, j)] = if i == j { 3.0 } else { 0.1 };
                    }
                    A[(i, j)] = 1.0 / (1.0 + (i + j) as f64);
                    places.push((i, j));
                    e.push(E[(i, j)]);
                    a.push(A[(i, j)]);
                }
            }
        }
        let algebraic = (0..n).map(|i| i + 1 == n).collect();
        (Pencil::Dense { E, A }, Pencil::Sparse { places, E: e, A: a }, algebraic)
    }

    #[test]
    fn small_large_and_sparse_matrices_solve_the_same_system() {
        for n in [4, f64::LARGE + 5] {
            let (dense, sparse, algebraic) = pencils(n);
            let (Pencil::Dense { E, A }, h) = (&dense, 1e-3) else { unreachable!() };
            let x: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
            let z: Vec<c64> = x.iter().map(|x| c64::new(*x, 1.0 - x)).collect();
            let sigma = c64::new(2.0, 3.0);
            let (mut b, mut d) = (vec![0.0; n], vec![c64::new(0.0, 0.0); n]);
            for i in 0..n {
                for j in 0..n {
                    if algebraic[i] {
                        b[i] -= A[(i, j)] * x[j];
                        d[i] -= z[j] * A[(i, j)];
                    } else {
                        b[i] += (2.0 * E[(i, j)] - h * A[(i, j)]) * x[j];
                        d[i] += (sigma * E[(i, j)] - c64::new(h * A[(i, j)], 0.0)) * z[j];
                    }
                }
            }
            for pencil in [&dense, &sparse] {
                let mut real = IterationMatrix::<f64>::new(pencil, algebraic.clone());
                real.decompose(pencil, 2.0, h).unwrap();
                let mut found = b.clone();
                real.solve(&mut found);
                assert!(found.iter().zip(&x).all(|(f, x)| (f - x).abs() < 1e-11));
                let mut complex = IterationMatrix::<c64>::new(pencil, algebraic.clone());
                complex.decompose(pencil, sigma, h).unwrap();
                let mut found = d.clone();
                complex.solve(&mut found);
                assert!(found.iter().zip(&z).all(|(f, z)| (f - z).norm() < 1e-11));
            }
        }
    }
}
