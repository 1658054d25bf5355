//! Trimmed form of first order: only derivatives of unknowns of second order become unknowns. Wunderlich, thesis (2008), Lemma 3.35.
//!
//! ```text
//! [M̂₁; Ĉ₂; K̂₃] Q = [M₁₁ 0 0 0; C₂₁ C₂₂ 0 0; K₃₁ K₃₂ K₃₃ 0],   v = Q₁ᵀ x′,   C̃ = Ĉ − M̂ Q₁ Q₁′ᵀ
//!
//! [M̂Q₁ C̃ ; 0 Q₁ᵀ] (v′, x′) = [0 −K̂; I 0] (v, x) + (f̂, 0)            size (m + d₂) × (n + d₂)
//! ```
//! With Z₀ held fast near the point and a frame with Q₁ᵀQ₁′ = 0, M̂₁Q₁Q₁′ᵀ = M̂₁′(I − Q₁Q₁ᵀ). The variant without a frame takes
//! v = M̂₁x′ and needs no Q.

use super::{SecondOrderError, StrangenessFreeTriple};
use crate::blocks::{below, beside};
use faer::{Mat, Scale};

/// E (v′, x′) = A (v, x) + b, strangeness-free with 2 d₂ + d₁ differential equations.
#[derive(Clone, Debug, PartialEq)]
pub struct Trimmed {
    /// Factor of the derivatives, (m + d₂) × (d₂ + n).
    pub E: Mat<f64>,
    /// Factor of the unknowns.
    pub A: Mat<f64>,
    /// Right-hand side.
    pub b: Vec<f64>,
    /// v = Vᵀx′ at the point: Q₁ with orthonormal columns, or M̂₁ᵀ in the form without a frame.
    pub V: Mat<f64>,
}

impl StrangenessFreeTriple {
    /// Q of the LQ decomposition of [M̂₁; Ĉ₂; K̂₃], n × n orthogonal.
    pub fn frame(&self) -> Mat<f64> {
        let leading = self.leading();
        let n = leading.ncols();
        if leading.nrows() == 0 || n == 0 {
            return Mat::identity(n, n);
        }
        leading.transpose().qr().compute_Q()
    }

    /// Trimmed form with v = Q₁ᵀx′. The same Q₁ is to be used for v over a step.
    pub fn trimmed(&self) -> Result<Trimmed, SecondOrderError> {
        let d2 = self.values.d2;
        let (m, n) = (self.M.nrows(), self.M.ncols());
        let Q1 = self.frame().get(.., ..d2).to_owned();
        let away = Mat::<f64>::identity(n, n) - &Q1 * Q1.transpose();
        let turning = below(&[&(self.rate()? * &away), &Mat::zeros(m - d2, n)]);
        let upper = beside(&[&(&self.M * &Q1), &(&self.C - &turning)]);
        let lower = beside(&[&Mat::zeros(d2, d2), &Q1.transpose().to_owned()]);
        Ok(self.with_velocities(below(&[&upper, &lower]), Q1))
    }

    /// Trimmed form with v = M̂₁x′, Z₀ held fast: no frame has to be followed.
    pub fn trimmed_without_frame(&self) -> Result<Trimmed, SecondOrderError> {
        let d2 = self.values.d2;
        let (m, n) = (self.M.nrows(), self.M.ncols());
        let turning = below(&[&self.rate()?, &Mat::zeros(m - d2, n)]);
        let mut start = Mat::<f64>::zeros(m, d2);
        start.diagonal_mut().fill(1.0);
        let upper = beside(&[&start, &(&self.C - &turning)]);
        let lower = beside(&[&Mat::zeros(d2, d2), &self.M1()]);
        Ok(self.with_velocities(below(&[&upper, &lower]), self.M1().transpose().to_owned()))
    }

    fn rate(&self) -> Result<Mat<f64>, SecondOrderError> {
        match &self.M1_rate {
            Some(rate) => Ok(rate.clone()),
            None if self.values.d2 == 0 => Ok(Mat::zeros(0, self.M.ncols())),
            None => Err(SecondOrderError::TooFewDerivatives { asked: 1, given: 0 }),
        }
    }

    fn with_velocities(&self, E: Mat<f64>, V: Mat<f64>) -> Trimmed {
        let (d2, m, n) = (self.values.d2, self.M.nrows(), self.M.ncols());
        let upper = beside(&[&Mat::zeros(m, d2), &(&self.K * Scale(-1.0))]);
        let lower = beside(&[&Mat::identity(d2, d2), &Mat::zeros(d2, n)]);
        let mut b = self.f.clone();
        b.resize(m + d2, 0.0);
        Trimmed { E, A: below(&[&upper, &lower]), b, V }
    }
}
