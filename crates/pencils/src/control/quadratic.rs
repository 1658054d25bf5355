//! Optimality conditions of a linear-quadratic problem, ½∫ (x, u)ᵀ[Q S; Sᵀ R](x, u) dt under E ẋ = A x + B u, in (λ, x, u). They have index one
//! at most exactly if
//!
//! ```text
//!     [0     ZᵀAT  ZᵀB]
//! R̂ = [TᵀAᵀZ TᵀQT  TᵀS]   is regular,  T, Z bases of kernel E and of kernel Eᵀ.
//!     [BᵀZ   SᵀT   R  ]
//! ```
//! Wunderlich, thesis (2008), (5.57a) and Theorem 5.47.

use super::ControlError;
use super::system::rows;
use crate::Kronecker;
use crate::blocks::{below, beside};
use crate::structured::OptimalControl;
use daedal_linear::linalg::{Mat, RankRule, Ranks, symmetric_eigenvalues};

/// What is known of the optimality conditions.
#[derive(Clone, Debug, PartialEq)]
pub struct OptimalityValues {
    /// The self-adjoint pencil: eigenvalues come in pairs ±λ.
    pub pencil: Kronecker,
    /// Size of R̂.
    pub size: usize,
    /// Its rank.
    pub rank: usize,
    /// Is the weight [Q S; Sᵀ R] positive semidefinite? Then the conditions are sufficient.
    pub semidefinite: bool,
}

impl OptimalityValues {
    /// Of a plant with its cost.
    pub fn new(plant: &OptimalControl, rule: RankRule) -> Result<Self, ControlError> {
        let pair = plant.pair()?;
        let (m, n) = (plant.E.nrows(), plant.E.ncols());
        if m != n {
            return Err(ControlError::NotSquare { equations: m, states: n });
        }
        let mut ranks = Ranks::new(rule);
        let of_E = ranks.subspaces(&plant.E, 0.0)?;
        let (T, Z) = (&of_E.kernel, &of_E.corange);
        let (k, q) = (plant.B.ncols(), T.ncols());
        let up = |X: &Mat<f64>| X.transpose().to_owned();
        let ZAT = Z.transpose() * &plant.A * T;
        let (ZB, TS) = (Z.transpose() * &plant.B, T.transpose() * &plant.S);
        let hat = below(&[
            &beside(&[&Mat::zeros(q, q), &ZAT, &ZB]),
            &beside(&[&up(&ZAT), &(T.transpose() * &plant.Q * T), &TS]),
            &beside(&[&up(&ZB), &up(&TS), &plant.R]),
        ]);
        let scale = pair.A.norm_max();
        let rank = ranks.rank(&hat, scale)?;
        let weight = beside(&[&below(&[&plant.Q, &up(&plant.S)]), &below(&[&plant.S, &plant.R])]);
        let smallest = symmetric_eigenvalues(&rows(&weight))?.first().copied().unwrap_or(0.0);
        let semidefinite = smallest >= -rule.of_numbers(n + k, n + k) * weight.norm_max();
        Ok(OptimalityValues { pencil: Kronecker::new(&pair.E, &pair.A, rule)?, size: 2 * q + k, rank, semidefinite })
    }

    /// Is R̂ regular, and the index one at most?
    pub fn is_regular(&self) -> bool {
        self.rank == self.size
    }

    /// Strangeness index of the conditions, for regular pencils.
    pub fn strangeness(&self) -> Option<usize> {
        self.pencil.is_regular().then(|| self.pencil.index().saturating_sub(1))
    }
}
