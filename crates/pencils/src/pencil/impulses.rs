//! Jump and impulses of E ẋ = A x + b with constant regular (E, A) that starts at τ from a value that is not consistent: the
//! generalised solution of E ẋ = A x + b + E x⁻ δ_τ with zero history.
//!
//! x⁺ = Π x⁻ − (I − Π) Σᵢ (ÊÂᴰ)ⁱ Âᴰ b̂⁽ⁱ⁾(τ), Δ = x⁺ − x⁻, impulses Σⱼ cⱼ δ_τ⁽ʲ⁾ with cⱼ = (I − Π)(ÊÂᴰ)ʲ⁺¹ Δ, j ≤ ν − 2;
//! EΔ = A c₀, E cⱼ₋₁ = A cⱼ. Wunderlich, thesis (2008), 2.2.3; Kunkel & Mehrmann (2006), 2.4.

use super::{PencilError, RegularPencil};
use daedal_linear::linalg::times;

/// What an inconsistent start does.
#[derive(Clone, Debug, PartialEq)]
pub struct InconsistentStart {
    /// x(τ⁺).
    pub value: Vec<f64>,
    /// Δ = x(τ⁺) − x(τ⁻).
    pub jump: Vec<f64>,
    /// cⱼ of δ_τ⁽ʲ⁾, j = 0, …, ν − 2.
    pub impulses: Vec<Vec<f64>>,
}

impl RegularPencil {
    /// Start from x(τ⁻) = `x`; `b[i]` is the i-th derivative of b at τ, ν of them are needed.
    pub fn inconsistent_start(&self, x: &[f64], b: &[Vec<f64>]) -> Result<InconsistentStart, PencilError> {
        let value = self.consistent(x, b)?;
        let jump: Vec<f64> = value.iter().zip(x).map(|(a, b)| a - b).collect();
        let impulses = self.impulses(&jump);
        Ok(InconsistentStart { value, jump, impulses })
    }

    /// The factors cⱼ of δ_τ⁽ʲ⁾, j = 0, …, ν − 2, that belong to a jump Δ.
    pub fn impulses(&self, jump: &[f64]) -> Vec<Vec<f64>> {
        let k = self.N.rows();
        let mut z = self.coordinates(jump);
        z[k..].fill(0.0);
        let mut impulses = Vec::new();
        for _ in 1..self.index() {
            let Nz = times(&self.N, &z[..k]);
            z[..k].copy_from_slice(&Nz);
            impulses.push(times(&self.X, &z));
        }
        impulses
    }
}
