//! Pairs of first order, E(t) x′ = A(t) x + b(t), by their Taylor coefficients at one point.

use super::SecondOrderError;
use daedal_linear::CharacteristicValues;
use daedal_linear::linalg::{Matrix, RankRule};
use daedal_linear::{CoefficientError, Coefficients, RankOptions, StrangenessFree, TaylorData, strangeness_free};
use faer::Mat;

/// Taylor coefficients 0..=level of E, A and b at one point.
#[derive(Clone, Debug, PartialEq)]
pub struct FirstOrderExpansion {
    /// Coefficients of E, m × n.
    pub E: Vec<Mat<f64>>,
    /// Coefficients of A, m × n.
    pub A: Vec<Mat<f64>>,
    /// Coefficients of b.
    pub b: Vec<Vec<f64>>,
}

impl FirstOrderExpansion {
    /// Of constant E and A with b = 0.
    pub fn constant(E: &Mat<f64>, A: &Mat<f64>, level: usize) -> Self {
        let series = |X: &Mat<f64>| {
            (0..=level).map(|k| if k == 0 { X.clone() } else { Mat::zeros(X.nrows(), X.ncols()) }).collect()
        };
        FirstOrderExpansion { E: series(E), A: series(A), b: vec![vec![0.0; E.nrows()]; level + 1] }
    }

    /// The strangeness-free system at the point, of the first-order theory; levels are tried as far as coefficients are given.
    pub fn strangeness_free(&self, rule: RankRule) -> Result<StrangenessFree, SecondOrderError> {
        self.check()?;
        let options = RankOptions { max_index: self.E.len() - 1, rule };
        let found = strangeness_free(&mut AtPoint(self), 0.0, &options)?;
        let gap = found.least_clear.gap;
        if gap.is_narrower(rule.smallest_gap) {
            return Err(SecondOrderError::NarrowGap { ratio: gap.ratio() });
        }
        Ok(found)
    }

    /// Strangeness index and characteristic values.
    pub fn characteristic_values(&self, rule: RankRule) -> Result<CharacteristicValues, SecondOrderError> {
        Ok(self.strangeness_free(rule)?.values)
    }

    fn check(&self) -> Result<(), SecondOrderError> {
        let given = [self.E.len(), self.A.len(), self.b.len()];
        if given.iter().any(|&count| count == 0 || count != given[0]) {
            let least = given.iter().min().copied().unwrap_or(0);
            return Err(SecondOrderError::TooFewDerivatives { asked: given[0].max(1) - 1, given: least.max(1) - 1 });
        }
        let expected = (self.E[0].nrows(), self.E[0].ncols());
        for (what, matrices) in [("E", &self.E), ("A", &self.A)] {
            if let Some(X) = matrices.iter().find(|X| (X.nrows(), X.ncols()) != expected) {
                return Err(SecondOrderError::Size { what, expected, found: (X.nrows(), X.ncols()) });
            }
        }
        if let Some(b) = self.b.iter().find(|b| b.len() != expected.0) {
            return Err(SecondOrderError::Size { what: "b", expected: (expected.0, 1), found: (b.len(), 1) });
        }
        Ok(())
    }
}

/// The expansion as coefficients of a linear problem, whatever the time.
struct AtPoint<'a>(&'a FirstOrderExpansion);

impl Coefficients for AtPoint<'_> {
    fn rows(&self) -> usize {
        self.0.E[0].nrows()
    }

    fn dim(&self) -> usize {
        self.0.E[0].ncols()
    }

    fn taylor(&mut self, t: f64, order: usize, out: &mut TaylorData) -> Result<(), CoefficientError> {
        let available = self.0.E.len() - 1;
        if order > available {
            return Err(CoefficientError::Order { wanted: order, available });
        }
        let copy = |from: &Mat<f64>, to: &mut Matrix| {
            for i in 0..from.nrows() {
                for (j, x) in to.row_mut(i).iter_mut().enumerate() {
                    *x = from[(i, j)];
                }
            }
            from.col_iter().all(|column| column.iter().all(|x| x.is_finite()))
        };
        for k in 0..=order {
            out.b[k].copy_from_slice(&self.0.b[k]);
            let finite = copy(&self.0.E[k], &mut out.E[k]) && copy(&self.0.A[k], &mut out.A[k]);
            if !finite || self.0.b[k].iter().any(|x| !x.is_finite()) {
                return Err(CoefficientError::NotFinite { t });
            }
        }
        Ok(())
    }
}
