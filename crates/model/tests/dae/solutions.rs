//! Solutions in closed form, as series in time: they give all derivatives.

use daedal::scalar::{Scalar, Taylor};
use std::f64::consts::FRAC_1_SQRT_2;

/// x(t), x'(t), x''(t)/2, …
pub type Series = Taylor<f64, 5>;

/// A solution of a model with some parameters changed.
pub struct Known {
    /// The file.
    pub name: &'static str,
    /// Parameters that are changed.
    pub changes: Vec<(&'static str, f64)>,
    /// All states at a time.
    pub solution: Box<dyn Fn(Series) -> Vec<Series>>,
    /// Is every state determined by the equations and the initial values?
    pub unique: bool,
}

impl Known {
    /// States, first, second and third derivatives.
    pub fn jet(&self, t: f64) -> Vec<Vec<f64>> {
        let series = (self.solution)(Series::parameter(t));
        (0..4).map(|k| series.iter().map(|x| x.coefficients[k] * [1.0, 1.0, 2.0, 6.0][k]).collect()).collect()
    }

    /// The states.
    pub fn states(&self, t: f64) -> Vec<f64> {
        self.jet(t).swap_remove(0)
    }
}

/// All that are known.
pub fn all() -> Vec<Known> {
    let chains = (1..=4).map(|n| Known { changes: vec![("N", n as f64)], ..chain(n) });
    examples().into_iter().chain(linear()).chain(pendulums()).chain(chains).collect()
}

fn known(name: &'static str, solution: impl Fn(Series) -> Vec<Series> + 'static) -> Known {
    Known { name, changes: vec![], solution: Box::new(solution), unique: true }
}

/// One of many solutions.
fn one_of(name: &'static str, solution: impl Fn(Series) -> Vec<Series> + 'static) -> Known {
    Known { unique: false, ..known(name, solution) }
}

fn number(x: f64) -> Series {
    Series::constant(x)
}

fn examples() -> Vec<Known> {
    vec![
        known("varying-rank", |t| vec![t.exp() * 1.3, number(1.0), number(1.0)]),
        known("implicit-circle", |t| vec![t.cos(), t.sin()]),
        known("prescribed-output", |t| vec![t.sin(), t.cos() - t.sin()]),
        known("singular-point", |t| vec![t.exp() * 2.0]),
        known("overdetermined", |_| vec![number(0.0)]),
        known("multiple-root", |_| vec![number(0.0)]),
        one_of("redundant-underdetermined", |t| vec![number(0.0), number(0.0), t.sin()]),
        one_of("crossing-lines", |t| vec![number(0.0), t.exp()]),
        known("stirred-tank", |t| {
            let u = (1..=4).map(|i| (t + f64::from(i)).sin());
            u.chain([t + 1.0, t.square(), t.cos(), (-t).exp()]).collect()
        }),
        known("perturbation-index", |t| vec![t, (t * 100.0).sin() * 0.1, (t * 100.0).cos() * 0.1]),
        known("second-order-varying-rank", |t| vec![t.cosh() + t.sinh() * 0.5, number(1.0), number(1.0)]),
    ]
}

fn linear() -> Vec<Known> {
    let homogeneous = Known { changes: vec![("a", 0.0)], ..known("singular-pencil", |_| vec![number(0.0); 2]) };
    vec![
        homogeneous,
        known("singular-pencil", |t| {
            let x2 = (t * 2.0).cos() - t.cos();
            vec![t * x2 + t.sin(), x2]
        }),
        one_of("regular-pencil", |t| vec![t * t.exp(), t.exp()]),
        known("nilpotent", |t| {
            let decay = (-t).exp();
            vec![t.sin() + (t * 2.0).sin() * 2.0 + decay, (t * 2.0).cos() + decay, decay]
        }),
        known("second-order-linear", |t| vec![t.sin(), (t * 2.0).cos(), (-t).exp()]),
        known("gyroscopic-chain", |t| {
            let (p1, p2) = (t.sin(), (t * 2.0).cos());
            vec![p1, p2, -p1 - p2, (-t).exp()]
        }),
        known("prescribed-jerk", |t| vec![t.sin(), -t.cos(), t.cos()]),
        known("inconsistent-start", |t| vec![number(-5.0), t * -4.0 - 3.0]),
        known("saddle-point", |t| {
            let (slow, fast) = ((t * -2.0).exp(), (t * (-10.0 / 3.0)).exp());
            vec![slow + fast, fast * -2.0, fast - slow, fast * (2.0 / 3.0)]
        }),
        one_of("kronecker-blocks", |t| vec![t.sin(), t, number(1.0)]),
        known("second-order-mixed", |t| vec![t.sin(), t.cos(), (-t).exp(), t.square()]),
    ]
}

/// Masses m, springs k, frequency 1: the amplitude of mass i follows from the motion of the masses after it.
fn chain(n: usize) -> Known {
    let (m, k) = (1.0, 4.0);
    let mut amplitudes = vec![1.0; n + 2];
    for i in (1..n).rev() {
        // m x''_{i+1} = k (x_{i+2} − x_{i+1}) − k (x_{i+1} − x_i), without the first spring at the end
        let ahead = if i + 1 == n { 0.0 } else { amplitudes[i + 2] - amplitudes[i + 1] };
        amplitudes[i] = amplitudes[i + 1] - (m / k) * amplitudes[i + 1] - ahead;
    }
    let total: f64 = amplitudes[1..=n].iter().sum();
    known("spring-chain-inverse", move |t| {
        let x = amplitudes[1..=n].iter().map(|a| t.sin() * *a);
        let v = amplitudes[1..=n].iter().map(|a| t.cos() * *a);
        x.chain(v).chain([t.sin() * (-m * total)]).collect()
    })
}

/// θ(t) of a pendulum θ'' = −g sin θ from its value and rate.
fn angle(theta: f64, rate: f64, g: f64) -> Series {
    let mut series = number(theta);
    series.coefficients[1] = rate;
    for k in 0..3 {
        let torque = series.sin().coefficients[k] * -g;
        series.coefficients[k + 2] = torque / ((k + 1) * (k + 2)) as f64;
    }
    series
}

/// The series of the derivative; its last coefficient is lost.
fn rate(x: Series) -> Series {
    Series { coefficients: std::array::from_fn(|k| if k < 4 { x.coefficients[k + 1] * (k + 1) as f64 } else { 0.0 }) }
}

/// x, y, their rates and λ of x'' = −2 λ x, y'' = −2 λ y − g.
fn pendulum(g: f64, theta: Series) -> [Series; 5] {
    let (x, y) = (theta.sin(), -theta.cos());
    let (vx, vy) = (rate(x), rate(y));
    [x, y, vx, vy, (vx.square() + vy.square() - y * g) * 0.5]
}

/// Swings with the speed v0 through the lowest point at t = 0.
fn swinging(t: f64, g: f64, v0: f64) -> Series {
    // sin(θ/2) = k sn(√g t)
    let k = v0 / (2.0 * g.sqrt());
    let (sn, cn) = jacobi(g.sqrt() * t, k);
    angle(2.0 * (k * sn).asin(), 2.0 * k * g.sqrt() * cn, g)
}

fn pendulums() -> Vec<Known> {
    let (g, v0) = (13.75, 2.8);
    let five =
        ["pendulum-dae", "pendulum-velocity", "pendulum-acceleration", "pendulum-overdetermined", "pendulum-energy"];
    let mut list: Vec<Known> =
        five.into_iter().map(|name| known(name, move |t| pendulum(g, swinging(t.value(), g, v0)).to_vec())).collect();
    list.push(known("pendulum-second-order", move |t| {
        let [x, y, _, _, lambda] = pendulum(g, swinging(t.value(), g, v0));
        vec![x, y, lambda]
    }));
    list.push(known("pendulum-ggl", move |t| [&pendulum(g, swinging(t.value(), g, v0))[..], &[number(0.0)]].concat()));
    list.push(one_of("pendulum-twice", move |t| {
        let [x, y, vx, vy, lambda] = pendulum(g, swinging(t.value(), g, v0));
        vec![x, y, vx, vy, lambda * 0.2, lambda * 0.4]
    }));
    // from rest at the height of the joint: a quarter of the period earlier it was at the lowest point
    list.push(known("pendulum-horizontal", |t| {
        let (sn, cn) = jacobi(t.value() + QUARTER, FRAC_1_SQRT_2);
        let theta = angle(2.0 * (FRAC_1_SQRT_2 * sn).asin(), 2.0 * FRAC_1_SQRT_2 * cn, 1.0);
        let [x, y, u, v, lambda] = pendulum(1.0, theta);
        vec![x, y, u, v, lambda * 2.0]
    }));
    list
}

/// K(k² = 1/2).
pub const QUARTER: f64 = 1.854_074_677_301_371_9;

/// sn and cn of modulus k, by the arithmetic-geometric mean. Abramowitz and Stegun, 16.4.
pub fn jacobi(u: f64, k: f64) -> (f64, f64) {
    let (mut a, mut b) = (1.0, (1.0 - k * k).sqrt());
    let mut ratios = Vec::new();
    while (a - b).abs() > 1e-16 * a && ratios.len() < 8 {
        ratios.push((a - b) / (a + b));
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    let mut phi = f64::powi(2.0, ratios.len() as i32) * a * u;
    for ratio in ratios.iter().rev() {
        phi = 0.5 * (phi + (ratio * phi.sin()).asin());
    }
    phi.sin_cos()
}
