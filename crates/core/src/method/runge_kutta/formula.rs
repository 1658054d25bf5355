//! A Runge–Kutta method with a regular matrix A, as its step needs it: in increments Zⱼ = Xⱼ − x₀ instead of rates.
//!
//! ```text
//! h Ẋ = (A⁻¹ ⊗ I) Z,   x₁ = x₀ + Σ dⱼ Zⱼ,   dᵀ = bᵀA⁻¹
//! ```
//!
//! The eigenvalues μₖ of A⁻¹ are distinct. With the projectors Pₖ = Π (A⁻¹ − μⱼ)/(μₖ − μⱼ) = uₖvₖᵀ (Lagrange and Sylvester) a Newton system of all
//! stages falls apart:
//!
//! ```text
//! (A⁻¹ ⊗ E − h I ⊗ A) ΔZ = r   ⇔   ΔZ = Σ uₖ ⊗ (μₖE − hA)⁻¹ (vₖᵀ ⊗ I) r
//! ```
//!
//! Of two conjugate eigenvalues one is solved with, and its real part counts twice.

use super::RungeKuttaFamily;
use super::tableau::ButcherTableau;
use crate::linalg::{Matrix, Singular, eigenvalues};
use faer::c64;

/// An eigenvalue of A⁻¹ with its projector uvᵀ.
#[derive(Clone, Debug)]
pub(super) struct Eigenpart {
    pub mu: c64,
    pub u: Vec<c64>,
    pub v: Vec<c64>,
}

/// Nodes, A⁻¹, d and the parts of A⁻¹.
#[derive(Clone, Debug)]
pub(super) struct StageFormula {
    pub c: Vec<f64>,
    pub A_inverse: Matrix,
    /// d.
    pub to_end: Vec<f64>,
    /// Σ eⱼ Zⱼ/h is ẋ at the end, as far as the rates of the stages tell.
    pub rate_at_end: Vec<f64>,
    pub parts: Vec<Eigenpart>,
    /// Are rows with derivatives the means of both ends, as those of the trapezoidal rule?
    pub averages: bool,
    /// Is the last stage the end? Then constraints hold there.
    pub ends_on_stage: bool,
}

impl StageFormula {
    /// The coefficients of a family; its matrix of stages is regular.
    pub fn new(family: RungeKuttaFamily, stages: usize) -> Result<Self, Singular> {
        let tableau = match family {
            RungeKuttaFamily::Trapezoidal => return Ok(Self::trapezoidal()),
            RungeKuttaFamily::Gauss => ButcherTableau::gauss(stages)?,
            RungeKuttaFamily::RadauIA => ButcherTableau::radau_ia(stages)?,
            RungeKuttaFamily::LobattoIIIC => ButcherTableau::lobatto_iiic(stages)?,
        };
        let A_inverse = tableau.inverse()?;
        let c = tableau.c;
        let ends_on_stage = family == RungeKuttaFamily::LobattoIIIC;
        let to_end = (0..stages).map(|j| (0..stages).map(|i| tableau.b[i] * A_inverse[(i, j)]).sum()).collect();
        // the polynomial through the rates, at one
        let at_one: Vec<f64> = (0..stages)
            .map(|j| (0..stages).filter(|&k| k != j).map(|k| (1.0 - c[k]) / (c[j] - c[k])).product())
            .collect();
        let rate_at_end = (0..stages).map(|j| (0..stages).map(|i| at_one[i] * A_inverse[(i, j)]).sum()).collect();
        let parts = eigenparts(&A_inverse);
        Ok(StageFormula { c, to_end, rate_at_end, parts, averages: false, ends_on_stage, A_inverse })
    }

    /// (G(t₀, x₀, Ẋ) + G(t₁, x₁, Ẋ))/2 = 0 with Ẋ = (x₁ − x₀)/h; twice that is solved with 2E − hA.
    fn trapezoidal() -> Self {
        let mut A_inverse = Matrix::zeros(1, 1);
        A_inverse[(0, 0)] = 1.0;
        let one = c64::new(1.0, 0.0);
        StageFormula {
            c: vec![1.0],
            A_inverse,
            to_end: vec![1.0],
            rate_at_end: vec![1.0],
            parts: vec![Eigenpart { mu: c64::new(2.0, 0.0), u: vec![one], v: vec![one] }],
            averages: true,
            ends_on_stage: true,
        }
    }

    pub fn stages(&self) -> usize {
        self.c.len()
    }
}

/// The parts of eigenvalues whose imaginary part is not negative; those of pairs are doubled.
fn eigenparts(A_inverse: &Matrix) -> Vec<Eigenpart> {
    let s = A_inverse.rows();
    let mu: Vec<c64> = eigenvalues(A_inverse)
        .expect("a small regular matrix has eigenvalues")
        .into_iter()
        .map(|(re, im)| c64::new(re, if im.abs() < 1e-9 * re.abs() { 0.0 } else { im }))
        .collect();
    let part = |k: usize| {
        // Π (A⁻¹ − μⱼ)/(μₖ − μⱼ), row by row
        let mut P: Vec<c64> = (0..s * s).map(|ij| c64::new(f64::from(u8::from(ij / s == ij % s)), 0.0)).collect();
        for j in (0..s).filter(|&j| j != k) {
            let factor = c64::new(1.0, 0.0) / (mu[k] - mu[j]);
            P = (0..s * s)
                .map(|place| {
                    let (row, column) = (place / s, place % s);
                    let product: c64 = (0..s).map(|l| P[row * s + l] * A_inverse[(l, column)]).sum();
                    (product - P[place] * mu[j]) * factor
                })
                .collect();
        }
        let size = |place: &usize| P[*place].re.hypot(P[*place].im);
        let pivot = (0..s * s).max_by(|a, b| size(a).total_cmp(&size(b))).unwrap_or(0);
        let (row, column) = (pivot / s, pivot % s);
        let twice = if mu[k].im > 0.0 { 2.0 } else { 1.0 };
        let u = (0..s).map(|i| P[i * s + column] / P[pivot] * twice).collect();
        Eigenpart { mu: mu[k], u, v: P[row * s..][..s].to_vec() }
    };
    (0..s).filter(|&k| mu[k].im >= 0.0).map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_make_up_the_matrix_and_the_identity() {
        for (family, most) in
            [(RungeKuttaFamily::Gauss, 3), (RungeKuttaFamily::RadauIA, 3), (RungeKuttaFamily::LobattoIIIC, 4)]
        {
            for s in family.fewest()..=most {
                let formula = StageFormula::new(family, s).unwrap();
                for i in 0..s {
                    for j in 0..s {
                        let of = |power: i32| -> f64 {
                            formula.parts.iter().map(|part| (part.u[i] * part.v[j] * part.mu.powi(power)).re).sum()
                        };
                        let identity = if i == j { 1.0 } else { 0.0 };
                        assert!((of(0) - identity).abs() < 1e-12, "{family:?} {s}: {}", of(0));
                        let exact = formula.A_inverse[(i, j)];
                        assert!((of(1) - exact).abs() < 1e-11 * (1.0 + exact.abs()), "{family:?} {s}: {}", of(1));
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_left_of_infinitely_stiff_components_is_known() {
        // R(∞) = 1 − bᵀA⁻¹𝟙: ±1 of Gauss, zero of Radau IA and Lobatto IIIC
        let left = |family, s| 1.0 - StageFormula::new(family, s).unwrap().to_end.iter().sum::<f64>();
        for (s, sign) in [(1, -1.0), (2, 1.0), (3, -1.0)] {
            assert!((left(RungeKuttaFamily::Gauss, s) - sign).abs() < 1e-12);
            assert!(left(RungeKuttaFamily::RadauIA, s).abs() < 1e-12);
            assert!(left(RungeKuttaFamily::LobattoIIIC, s + 1).abs() < 1e-12);
        }
    }
}
