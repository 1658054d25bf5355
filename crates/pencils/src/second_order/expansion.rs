//! Taylor coefficients of M, C, K and f at one point, X(t + τ) = Σ X_\[k\] τᵏ with X_\[k\] = X^(k) / k!.

use super::SecondOrderError;
use daedal_linear::linalg::scale_of;
use faer::{Mat, Scale};

/// Taylor coefficients 0..=level of the coefficient matrices and the right-hand side at one point, of fitting sizes and finite.
#[derive(Clone, Debug, PartialEq)]
pub struct Expansion {
    M: Vec<Mat<f64>>,
    C: Vec<Mat<f64>>,
    K: Vec<Mat<f64>>,
    f: Vec<Vec<f64>>,
}

impl Expansion {
    /// From Taylor coefficients, all of the same number.
    pub fn new(
        M: Vec<Mat<f64>>,
        C: Vec<Mat<f64>>,
        K: Vec<Mat<f64>>,
        f: Vec<Vec<f64>>,
    ) -> Result<Self, SecondOrderError> {
        let given = [M.len(), C.len(), K.len(), f.len()];
        let (least, most) = (given.iter().min().copied().unwrap_or(0), given.iter().max().copied().unwrap_or(0));
        if least == 0 || least != most {
            return Err(SecondOrderError::TooFewDerivatives { asked: most.max(1) - 1, given: least.max(1) - 1 });
        }
        let size = (M[0].nrows(), M[0].ncols());
        for (what, matrices) in [("M", &M), ("C", &C), ("K", &K)] {
            for X in matrices {
                if (X.nrows(), X.ncols()) != size {
                    return Err(SecondOrderError::Size { what, expected: size, found: (X.nrows(), X.ncols()) });
                }
                if X.col_iter().any(|column| column.iter().any(|x| !x.is_finite())) {
                    return Err(SecondOrderError::NotFinite { what });
                }
            }
        }
        for values in &f {
            if values.len() != size.0 {
                return Err(SecondOrderError::Size { what: "f", expected: (size.0, 1), found: (values.len(), 1) });
            }
            if values.iter().any(|x| !x.is_finite()) {
                return Err(SecondOrderError::NotFinite { what: "f" });
            }
        }
        Ok(Expansion { M, C, K, f })
    }

    /// From derivatives X, X′, X″, ….
    pub fn from_derivatives(
        mut M: Vec<Mat<f64>>,
        mut C: Vec<Mat<f64>>,
        mut K: Vec<Mat<f64>>,
        mut f: Vec<Vec<f64>>,
    ) -> Result<Self, SecondOrderError> {
        for matrices in [&mut M, &mut C, &mut K] {
            let mut factor = 1.0;
            for (k, X) in matrices.iter_mut().enumerate().skip(1) {
                factor /= k as f64;
                *X = &*X * Scale(factor);
            }
        }
        let mut factor = 1.0;
        for (k, values) in f.iter_mut().enumerate().skip(1) {
            factor /= k as f64;
            for x in values {
                *x *= factor;
            }
        }
        Self::new(M, C, K, f)
    }

    /// Number of equations m.
    pub fn rows(&self) -> usize {
        self.M[0].nrows()
    }

    /// Number of unknowns n.
    pub fn dim(&self) -> usize {
        self.M[0].ncols()
    }

    /// The highest coefficient that is given.
    pub fn level(&self) -> usize {
        self.M.len() - 1
    }

    /// Coefficients of M.
    pub fn M(&self) -> &[Mat<f64>] {
        &self.M
    }

    /// Coefficients of C.
    pub fn C(&self) -> &[Mat<f64>] {
        &self.C
    }

    /// Coefficients of K.
    pub fn K(&self) -> &[Mat<f64>] {
        &self.K
    }

    /// Coefficients of f.
    pub fn f(&self) -> &[Vec<f64>] {
        &self.f
    }

    /// Every equation divided by the largest entry of its row in [M C K] at the point, to the next power of two; the factors are
    /// constant in time. A row that vanishes at the point is measured by its first coefficients that do not.
    pub fn equilibrated(&self) -> (Self, Vec<f64>) {
        let largest = |i: usize| {
            (0..=self.level())
                .map(|k| {
                    [&self.M[k], &self.C[k], &self.K[k]]
                        .iter()
                        .flat_map(|X| (0..X.ncols()).map(|j| X[(i, j)].abs()))
                        .fold(0.0, f64::max)
                })
                .find(|size| *size > 0.0)
        };
        let factors: Vec<f64> = (0..self.rows()).map(|i| largest(i).map_or(1.0, scale_of)).collect();
        let scaled = |X: &Mat<f64>| Mat::from_fn(X.nrows(), X.ncols(), |i, j| factors[i] * X[(i, j)]);
        let expansion = Expansion {
            M: self.M.iter().map(scaled).collect(),
            C: self.C.iter().map(scaled).collect(),
            K: self.K.iter().map(scaled).collect(),
            f: self.f.iter().map(|f| f.iter().zip(&factors).map(|(f, r)| f * r).collect()).collect(),
        };
        (expansion, factors)
    }

    /// The same system in the time s = t / unit: M / unit², C / unit, K, with derivatives by s. Balances inertia against stiffness.
    pub fn in_time_unit(&self, unit: f64) -> Result<Self, SecondOrderError> {
        if !(unit > 0.0 && unit.is_finite()) {
            return Err(SecondOrderError::Impossible { what: "the unit of time", value: unit });
        }
        let power = |k: usize, order: i32| Scale(unit.powi(k as i32 - order));
        let scaled = |X: &[Mat<f64>], order: i32| X.iter().enumerate().map(|(k, X)| X * power(k, order)).collect();
        let f = self.f.iter().enumerate().map(|(k, f)| f.iter().map(|x| x * unit.powi(k as i32)).collect()).collect();
        Self::new(scaled(&self.M, 2), scaled(&self.C, 1), scaled(&self.K, 0), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_become_coefficients_and_wrong_data_are_refused() {
        let one = || vec![Mat::identity(1, 1); 4];
        let f = vec![vec![6.0]; 4];
        let found = Expansion::from_derivatives(one(), one(), one(), f.clone()).unwrap();
        assert_eq!((found.f()[2][0], found.f()[3][0]), (3.0, 1.0));
        assert!((found.M()[3][(0, 0)] - 1.0 / 6.0).abs() < 1e-16);
        let wrong = Expansion::new(one(), vec![Mat::identity(2, 2); 4], one(), f.clone());
        assert!(matches!(wrong, Err(SecondOrderError::Size { what: "C", .. })));
        let wrong = Expansion::new(one(), one(), vec![Mat::full(1, 1, f64::NAN); 4], f.clone());
        assert_eq!(wrong, Err(SecondOrderError::NotFinite { what: "K" }));
        let wrong = Expansion::new(one(), one(), one(), f[..2].to_vec());
        assert_eq!(wrong, Err(SecondOrderError::TooFewDerivatives { asked: 3, given: 1 }));
        assert!(Expansion::new(vec![], vec![], vec![], vec![]).is_err());
    }

    #[test]
    fn a_row_that_vanishes_at_the_point_is_measured_by_its_next_coefficient() {
        let zero = Mat::zeros(1, 1);
        let small = Mat::full(1, 1, 1e-9);
        let found = Expansion::new(
            vec![zero.clone(), small],
            vec![zero.clone(); 2],
            vec![zero.clone(); 2],
            vec![vec![0.0], vec![1e-9]],
        );
        let (scaled, factors) = found.unwrap().equilibrated();
        assert!(scaled.M()[1][(0, 0)] > 0.5 && scaled.M()[1][(0, 0)] < 2.0);
        assert!((factors[0] * 1e-9 - scaled.f()[1][0]).abs() < 1e-15);
    }
}
