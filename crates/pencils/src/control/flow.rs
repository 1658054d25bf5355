//! The solutions of 𝓔 ż = 𝓐 z + β with constant β: z = ζ + X y, ẏ = J y + γ, exact by exponentials.

use super::ControlError;
use super::system::{columns, rows};
use crate::{RegularPencil, exponential};
use daedal_linear::linalg::{Mat, RankRule};
use faer::Scale;

/// Solutions of a pencil with a constant right-hand side.
#[derive(Clone, Debug)]
pub(super) struct ConstantFlow {
    /// Basis of the finite part.
    pub X: Mat<f64>,
    /// What does not vary.
    pub zeta: Mat<f64>,
    pub J: Mat<f64>,
    pub gamma: Mat<f64>,
}

impl ConstantFlow {
    pub fn new(E: &Mat<f64>, A: &Mat<f64>, beta: &Mat<f64>, rule: RankRule) -> Result<Self, ControlError> {
        let n = E.nrows();
        let pencil = RegularPencil::new(&rows(E), &rows(A), rule.of_numbers(n, n))?;
        let parts = pencil.parts();
        let zeta = &parts.infinite * (&parts.of_infinite * beta) * Scale(-1.0);
        let gamma = &parts.of_finite * beta;
        Ok(ConstantFlow { J: columns(parts.J), X: parts.finite, zeta, gamma })
    }

    /// Number of unknowns y.
    pub fn dim(&self) -> usize {
        self.J.nrows()
    }

    /// Φ and φ with y(t + h) = Φ y(t) + φ.
    pub fn over(&self, h: f64) -> Result<(Mat<f64>, Mat<f64>), ControlError> {
        let d = self.dim();
        let G = Mat::from_fn(d + 1, d + 1, |i, j| match (i < d, j < d) {
            (true, true) => h * self.J[(i, j)],
            (true, false) => h * self.gamma[(i, 0)],
            _ => 0.0,
        });
        let power = exponential(&G)?;
        Ok((power.get(..d, ..d).to_owned(), power.get(..d, d..).to_owned()))
    }

    /// z of y.
    pub fn whole(&self, y: &Mat<f64>) -> Mat<f64> {
        &self.zeta + &self.X * y
    }
}
