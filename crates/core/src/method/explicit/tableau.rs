//! Explicit Runge–Kutta pairs as numbers.

use super::order5::ORDER_5;
use super::order8::ORDER_8;
use crate::segment::MOST_DEGREE;

/// Which pair of Dormand and Prince.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pair {
    /// Order 5(4), seven stages of which the last is the first of the next step.
    #[default]
    Order5,
    /// Order 8(5,3), twelve stages, and three more where values between steps are wanted.
    Order8,
}

impl Pair {
    /// Its numbers.
    pub(crate) fn tableau(self) -> &'static ExplicitTableau {
        match self {
            Pair::Order5 => &ORDER_5,
            Pair::Order8 => &ORDER_8,
        }
    }
}

/// An explicit pair with dense output. Stage s + 1 is the rate at the end of a step; stages behind it belong to the dense output.
pub(crate) struct ExplicitTableau {
    /// Name of the method.
    pub name: &'static str,
    /// Errors of steps are estimated as terms of the size h^order.
    pub order: i32,
    /// s.
    pub stages: usize,
    /// Nodes cᵢ.
    pub C: &'static [f64],
    /// aᵢⱼ; row s holds the weights bⱼ.
    pub A: &'static [&'static [f64]],
    /// bⱼ − b̂ⱼ of one embedded formula, or of one of order 5 and another of order 3.
    pub error: &'static [&'static [f64]],
    /// Weights of the terms of the dense output that values and rates at both ends of a step do not tell.
    pub dense: &'static [&'static [f64]],
    /// h |λ| at the border of the stability region on the negative real axis.
    pub stable: f64,
}

impl ExplicitTableau {
    /// Time of a stage of a step from t to t₁.
    pub fn time(&self, stage: usize, t: f64, t1: f64) -> f64 {
        if self.C[stage] == 1.0 { t1 } else { t + self.C[stage] * (t1 - t) }
    }

    /// Have values between steps stages of their own?
    pub fn has_dense_stages(&self) -> bool {
        self.A.len() > self.stages + 1
    }

    /// Does the estimate of the error contain the rate at the end of the step?
    pub fn error_needs_end(&self) -> bool {
        self.error.iter().any(|weights| weights.get(self.stages).is_some_and(|weight| *weight != 0.0))
    }

    /// The error of a step from the norms of its estimates by their numbers: for two of them ε₅²/√(ε₅² + ε₃²/100). Solving ODEs I, II.10, (10.17).
    pub fn error(&self, mut norm: impl FnMut(usize) -> f64) -> f64 {
        match self.error {
            [_] => norm(0),
            [_, _] => {
                let (fifth, third) = (norm(0), norm(1));
                if fifth == 0.0 { 0.0 } else { fifth * fifth / (fifth * fifth + 0.01 * third * third).sqrt() }
            }
            _ => 0.0,
        }
    }
}

/// Coefficients of the powers of σ = θ − 1 of x₀ + θ (c₀ + (1 − θ)(c₁ + θ (c₂ + (1 − θ)(c₃ + …)))).
pub(super) fn powers(x0: f64, c: &[f64]) -> [f64; MOST_DEGREE + 1] {
    let mut p = [0.0; MOST_DEGREE + 1];
    for (i, c) in c.iter().enumerate().rev() {
        // behind the factor 1 − θ = −σ of odd terms, or θ = 1 + σ of even ones; c₀ has θ, which is added last
        times(&mut p, i % 2 == 0);
        p[0] += c;
    }
    times(&mut p, false);
    p[0] += x0;
    p
}

/// p ← −σ p, or (1 + σ) p.
fn times(p: &mut [f64; MOST_DEGREE + 1], backwards: bool) {
    for q in (0..p.len()).rev() {
        let lower = if q > 0 { p[q - 1] } else { 0.0 };
        p[q] = if backwards { -lower } else { p[q] + lower };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(terms: impl Iterator<Item = f64>) -> f64 {
        terms.sum()
    }

    #[test]
    fn rows_meet_their_nodes_and_weights_have_their_order() {
        for pair in [Pair::Order5, Pair::Order8] {
            let tableau = pair.tableau();
            for (row, c) in tableau.A.iter().zip(tableau.C) {
                assert!((sum(row.iter().copied()) - c).abs() < 1e-13, "{}: {row:?}", tableau.name);
            }
            // Σ bⱼ cⱼ^(q−1) = 1/q, and the error estimates see no polynomial of their order
            for q in 1..=tableau.order {
                let moment = |weights: &[f64]| sum(weights.iter().zip(tableau.C).map(|(b, c)| b * c.powi(q - 1)));
                assert!((moment(tableau.A[tableau.stages]) - 1.0 / f64::from(q)).abs() < 1e-14);
                for (error, order) in tableau.error.iter().zip([if tableau.stages == 6 { 4 } else { 5 }, 3]) {
                    assert!(q > order || moment(error).abs() < 1e-14, "{}: {q}", tableau.name);
                }
            }
        }
    }

    #[test]
    fn nested_terms_are_powers() {
        let c = [0.3, -0.7, 1.1, 0.4, -0.2, 0.9, 0.5];
        let (x0, theta) = (2.0, 0.37_f64);
        let nested = c.iter().enumerate().rev().fold(0.0, |inner, (i, c)| {
            let factor = if i % 2 == 0 { 1.0 - theta } else { theta };
            c + factor * inner
        });
        let expected = x0 + theta * nested;
        let value = powers(x0, &c).iter().rev().fold(0.0, |value, p| value * (theta - 1.0) + p);
        assert!((value - expected).abs() < 1e-15, "{value} {expected}");
    }
}
