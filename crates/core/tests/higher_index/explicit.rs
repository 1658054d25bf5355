//! Explicit methods with constant steps, in their textbook form, and the slopes that tell their orders.
//! Hairer, Nørsett & Wanner, Solving ODEs I (1993), II.1 and III.1.

/// y + a k.
pub fn shifted<const N: usize>(y: &[f64; N], a: f64, k: &[f64; N]) -> [f64; N] {
    std::array::from_fn(|i| y[i] + a * k[i])
}

/// y₁ = y₀ + h f(y₀).
pub fn euler<const N: usize>(f: impl Fn(f64, &[f64; N]) -> [f64; N], t: f64, y: &[f64; N], h: f64) -> [f64; N] {
    shifted(y, h, &f(t, y))
}

/// The Runge-Kutta method of order 4 of Kutta (1901).
pub fn runge_kutta4<const N: usize>(f: impl Fn(f64, &[f64; N]) -> [f64; N], t: f64, y: &[f64; N], h: f64) -> [f64; N] {
    let k1 = f(t, y);
    let k2 = f(t + h / 2.0, &shifted(y, h / 2.0, &k1));
    let k3 = f(t + h / 2.0, &shifted(y, h / 2.0, &k2));
    let k4 = f(t + h, &shifted(y, h, &k3));
    std::array::from_fn(|i| y[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]))
}

/// The four-step method of Adams and Bashforth (1883); `f` holds the slopes of the last four points, the oldest first.
pub fn adams_bashforth4<const N: usize>(f: &[[f64; N]; 4], y: &[f64; N], h: f64) -> [f64; N] {
    std::array::from_fn(|i| y[i] + h / 24.0 * (55.0 * f[3][i] - 59.0 * f[2][i] + 37.0 * f[1][i] - 9.0 * f[0][i]))
}

/// The symplectic Euler method for p' = −∂U/∂q, q' = p: the new momenta move the positions.
pub fn symplectic_euler(force: impl Fn(&[f64; 2]) -> [f64; 2], q: &[f64; 2], p: &[f64; 2], h: f64) -> [[f64; 2]; 2] {
    let p = shifted(p, h, &force(q));
    [shifted(q, h, &p), p]
}

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
fn the_explicit_methods_have_their_orders() {
    // p' = −q, q' = p from (q, p) = (0, 1): q = sin t
    let f = |_: f64, y: &[f64; 2]| [y[1], -y[0]];
    let exact = |t: f64| [t.sin(), t.cos()];
    let error = |method: &str, n: usize| {
        let h = 1.0 / n as f64;
        let mut y = exact(0.0);
        let mut past = std::array::from_fn(|i| f(0.0, &exact(h * (i as f64 - 3.0))));
        for k in 0..n {
            let t = k as f64 * h;
            y = match method {
                "Euler" => euler(f, t, &y, h),
                "Runge-Kutta" => runge_kutta4(f, t, &y, h),
                "Adams-Bashforth" => {
                    let new = adams_bashforth4(&past, &y, h);
                    past = [past[1], past[2], past[3], f(t, &new)];
                    new
                }
                _ => {
                    let [q, p] = symplectic_euler(|q| [-q[0], 0.0], &[y[0], 0.0], &[y[1], 0.0], h);
                    [q[0], p[0]]
                }
            };
        }
        distance(&y, &exact(1.0))
    };
    for (method, order) in [("Euler", 1.0), ("Runge-Kutta", 4.0), ("Adams-Bashforth", 4.0), ("symplectic Euler", 1.0)] {
        let observed = observed_order(error(method, 100), error(method, 200), 2.0);
        assert!((observed - order).abs() < 0.1, "{method}: {observed}");
    }
}

#[test]
fn a_power_law_shows_its_exponent() {
    let points: Vec<_> = (1..50).map(|i| (f64::from(i), -3.0 * f64::from(i).powf(1.7))).collect();
    assert!((exponent(&points) - 1.7).abs() < 1e-12);
}
