//! Pairs of first order, E(t) x′ = A(t) x + b(t), by their Taylor coefficients at one point.

use super::SecondOrderError;
use crate::dae::CharacteristicValues;
use crate::linalg::{RankRule, Ranks};
use faer::{Mat, Scale};

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
        let zero = Mat::zeros(E.nrows(), E.ncols());
        let series = |X: &Mat<f64>| (0..=level).map(|k| if k == 0 { X.clone() } else { zero.clone() }).collect();
        FirstOrderExpansion { E: series(E), A: series(A), b: vec![vec![0.0; E.nrows()]; level + 1] }
    }

    /// Strangeness index and characteristic values.
    pub fn characteristic_values(&self, rule: RankRule) -> Result<CharacteristicValues, SecondOrderError> {
        let (m, n) = (self.E[0].nrows(), self.E[0].ncols());
        let mut ranks = Ranks::new(rule);
        let mut before = 0;
        for l in 0..self.E.len() {
            let mut M = Mat::<f64>::zeros((l + 1) * m, (l + 1) * n);
            let mut N = Mat::<f64>::zeros((l + 1) * m, n);
            for i in 0..=l {
                for j in 0..=i {
                    let mut block = &self.E[i - j] * Scale((j + 1) as f64);
                    if i > j {
                        block -= &self.A[i - j - 1];
                    }
                    M.get_mut(i * m..(i + 1) * m, j * n..(j + 1) * n).copy_from(&block);
                }
                N.get_mut(i * m..(i + 1) * m, ..).copy_from(&self.A[i]);
            }
            let scale = M.norm_max().max(N.norm_max());
            let Z = ranks.subspaces(&M, scale)?.corange;
            let B = ranks.subspaces(&(Z.transpose() * &N), scale)?;
            let all = Z.ncols() - B.rank;
            let d = ranks.rank(&(&self.E[0] * &B.kernel), scale)?;
            if B.rank + d + all == m + before {
                let (a, v) = (B.rank, all - before);
                return Ok(CharacteristicValues { mu: l, d, a, v, u: n - a - d });
            }
            before = all;
        }
        Err(SecondOrderError::IndexNotFound { level: self.E.len() - 1 })
    }
}
