//! Symmetric collocation: polynomials of degree K over an interval, through its K + 1 Lobatto points. Constraints hold at the Lobatto
//! points, differential equations at the K Gauß points.
//!
//! Symmetric, because what grows in time and what decays are treated alike: |R(z)| > 1 for Re z > 0, as for the exponential function. The error
//! is O(h^(K+1)) everywhere and O(h^(2K)) at the ends of the intervals. Kunkel, Mehrmann, Stöver (2004), Numer. Math. 98.

/// Degree of the polynomials.
pub(super) const K: usize = 6;

/// Nodes in [0, 1], and the Lagrange polynomials of the Lobatto points at the Gauß points.
pub(super) struct SymmetricScheme {
    /// σ₀ = 0, …, σ_K = 1.
    pub lobatto: [f64; K + 1],
    pub gauss: [f64; K],
    /// `values[m][l]` = L_l(γ_m).
    pub values: [[f64; K + 1]; K],
    /// `slopes[m][l]` = L_l'(γ_m).
    pub slopes: [[f64; K + 1]; K],
}

impl SymmetricScheme {
    pub fn new() -> Self {
        let (mut lobatto, mut gauss) = ([0.0; K + 1], [0.0; K]);
        lobatto[K] = 1.0;
        for (m, node) in gauss.iter_mut().enumerate() {
            let near = -(std::f64::consts::PI * (m as f64 + 0.75) / (K as f64 + 0.5)).cos();
            *node = 0.5 * (1.0 + newton(near, legendre));
        }
        for (m, node) in lobatto.iter_mut().enumerate().take(K).skip(1) {
            let near = -(std::f64::consts::PI * m as f64 / K as f64).cos();
            // (1 − x²) P'' = 2 x P' − K (K + 1) P
            let of_slope = |x: f64| {
                let (p, slope) = legendre(x);
                (slope, (2.0 * x * slope - (K * (K + 1)) as f64 * p) / (1.0 - x * x))
            };
            *node = 0.5 * (1.0 + newton(near, of_slope));
        }
        let (mut values, mut slopes) = ([[0.0; K + 1]; K], [[0.0; K + 1]; K]);
        for m in 0..K {
            (values[m], slopes[m]) = lagrange(&lobatto, gauss[m]);
        }
        SymmetricScheme { lobatto, gauss, values, slopes }
    }

    /// L_l(σ).
    pub fn at(&self, sigma: f64) -> [f64; K + 1] {
        lagrange(&self.lobatto, sigma).0
    }
}

/// P_K and its derivative.
fn legendre(x: f64) -> (f64, f64) {
    let (mut before, mut p) = (1.0, x);
    for k in 1..K {
        let k = k as f64;
        (before, p) = (p, ((2.0 * k + 1.0) * x * p - k * before) / (k + 1.0));
    }
    (p, K as f64 * (x * p - before) / (x * x - 1.0))
}

fn newton(mut x: f64, f: impl Fn(f64) -> (f64, f64)) -> f64 {
    for _ in 0..50 {
        let (value, slope) = f(x);
        let step = value / slope;
        x -= step;
        if step.abs() < 1e-16 {
            break;
        }
    }
    x
}

/// Lagrange polynomials of some nodes and their derivatives.
fn lagrange(nodes: &[f64; K + 1], x: f64) -> ([f64; K + 1], [f64; K + 1]) {
    let (mut values, mut slopes) = ([1.0; K + 1], [0.0; K + 1]);
    for l in 0..=K {
        for i in (0..=K).filter(|&i| i != l) {
            let width = nodes[l] - nodes[i];
            slopes[l] = (slopes[l] * (x - nodes[i]) + values[l]) / width;
            values[l] *= (x - nodes[i]) / width;
        }
    }
    (values, slopes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_of_the_degree_of_the_scheme_are_reproduced_with_their_slopes() {
        let scheme = SymmetricScheme::new();
        let f = |x: f64| (0..=K).map(|k| (k as f64 + 1.0).sin() * x.powi(k as i32)).sum::<f64>();
        let df = |x: f64| (1..=K).map(|k| (k as f64 + 1.0).sin() * k as f64 * x.powi(k as i32 - 1)).sum::<f64>();
        for m in 0..K {
            let along = |factors: &[f64; K + 1]| factors.iter().zip(scheme.lobatto).map(|(c, x)| c * f(x)).sum::<f64>();
            assert!((along(&scheme.values[m]) - f(scheme.gauss[m])).abs() < 1e-14);
            assert!((along(&scheme.slopes[m]) - df(scheme.gauss[m])).abs() < 1e-13);
        }
    }

    #[test]
    fn quadrature_at_the_gauss_points_is_exact_to_twice_their_number() {
        // the weights are those that integrate polynomials of degree K − 1
        let scheme = SymmetricScheme::new();
        for degree in [2 * K - 1, 2 * K] {
            // ∏ (x − γ)² / … : integrate x^degree by Lagrange polynomials of the Gauß points, each by many midpoints
            let weight = |m: usize| {
                let count = 200_000;
                let at = |x: f64| {
                    (0..K)
                        .filter(|&i| i != m)
                        .map(|i| (x - scheme.gauss[i]) / (scheme.gauss[m] - scheme.gauss[i]))
                        .product::<f64>()
                };
                (0..count).map(|k| at((f64::from(k) + 0.5) / f64::from(count))).sum::<f64>() / f64::from(count)
            };
            let sum: f64 = (0..K).map(|m| weight(m) * scheme.gauss[m].powi(degree as i32)).sum();
            let error = (sum - 1.0 / (degree as f64 + 1.0)).abs();
            assert_eq!(error < 1e-9, degree < 2 * K, "{degree}: {error}");
        }
    }
}
