//! Orders and exponents that errors show.

/// The order that two errors show when the step is divided by `ratio`.
pub fn observed_order(coarse: f64, fine: f64, ratio: f64) -> f64 {
    (coarse / fine).ln() / ratio.ln()
}

/// Exponent a of the power law y ≈ c xᵃ that fits the points best in logarithms.
pub fn exponent(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let log: Vec<_> = points.iter().map(|&(x, y)| (x.ln(), y.abs().ln())).collect();
    let mean = log.iter().fold((0.0, 0.0), |s, p| (s.0 + p.0 / n, s.1 + p.1 / n));
    let (mut covariance, mut variance) = (0.0, 0.0);
    for (x, y) in log {
        covariance += (x - mean.0) * (y - mean.1);
        variance += (x - mean.0) * (x - mean.0);
    }
    covariance / variance
}

/// Largest difference of two vectors.
pub fn distance<const N: usize>(a: &[f64; N], b: &[f64; N]) -> f64 {
    (0..N).map(|i| (a[i] - b[i]).abs()).fold(0.0, f64::max)
}

/// Length of the difference of two vectors.
pub fn euclidean_distance<const N: usize>(a: &[f64; N], b: &[f64; N]) -> f64 {
    (0..N).map(|i| (a[i] - b[i]).powi(2)).sum::<f64>().sqrt()
}

#[test]
fn a_power_law_shows_its_exponent() {
    let points: Vec<_> = (1..50).map(|i| (f64::from(i), -3.0 * f64::from(i).powf(1.7))).collect();
    assert!((exponent(&points) - 1.7).abs() < 1e-12);
}
