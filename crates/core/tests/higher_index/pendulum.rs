//! The pendulum x' = u, u' = −xλ, y' = v, v' = −1 − yλ, 0 = (x² + y² − 1)/2, and its motion from rest at (1, 0) in closed form:
//!
//! ```text
//! sin(θ/2) = √½ cd(t | ½),   x = sin θ,   y = −cos θ,   λ = −3 y,   period 4 K(½).
//! ```
//!
//! Hairer & Wanner, Solving ODEs II, (VII.2.1); Jacobi's functions by the arithmetic-geometric mean, Abramowitz & Stegun, 16.4.

use super::mechanism::{Mechanism, State};
use super::observed::distance;
use daedal::scalar::Scalar;

/// The pendulum.
pub struct Pendulum;

/// At rest at (1, 0).
pub const START: State = [1.0, 0.0, 0.0, 0.0];

/// Period 4 K(½) of the motion from [`START`].
pub const PERIOD: f64 = 7.416298709205487;

impl Mechanism for Pendulum {
    fn mass<S: Scalar>(&self, _: [S; 2]) -> [[S; 2]; 2] {
        [[S::from(1.0), S::from(0.0)], [S::from(0.0), S::from(1.0)]]
    }
    fn force<S: Scalar>(&self, _: S, _: [S; 2], _: [S; 2]) -> [S; 2] {
        [S::from(0.0), S::from(-1.0)]
    }
    fn constraint<S: Scalar>(&self, _: S, [x, y]: [S; 2]) -> S {
        (x.square() + y.square() - 1.0) * 0.5
    }
}

/// The motion from [`START`].
pub fn closed_form(t: f64) -> State {
    let [sn, cn, dn] = jacobi(t % PERIOD, 0.5);
    let sine = 0.5_f64.sqrt() * cn / dn;
    let cosine = (1.0 - sine * sine).sqrt();
    // cd' = −(1 − m) sn/dn²
    let rate = -(0.5_f64.sqrt()) * sn / (dn * dn * cosine);
    let (x, y) = (2.0 * sine * cosine, 2.0 * sine * sine - 1.0);
    [x, y, -rate * y, rate * x]
}

/// sn, cn, dn of the argument u and the parameter m.
fn jacobi(u: f64, m: f64) -> [f64; 3] {
    let mut means = vec![(1.0_f64, m.sqrt())];
    let (mut a, mut b) = (1.0_f64, (1.0 - m).sqrt());
    while means[means.len() - 1].1 > 1e-16 {
        let c = (a - b) / 2.0;
        (a, b) = (f64::midpoint(a, b), (a * b).sqrt());
        means.push((a, c));
    }
    let steps = means.len() - 1;
    let mut phase = f64::from(1_u32 << steps) * a * u;
    for &(a, c) in means[1..].iter().rev() {
        phase = f64::midpoint(phase, (c / a * phase.sin()).asin());
    }
    let (sn, cn) = phase.sin_cos();
    [sn, cn, (1.0 - m * sn * sn).sqrt()]
}

/// t, (x, y, u, v), λ.
const TABLE: [(f64, State, f64); 5] = [
    (1.0, [0.8795481324118892, -0.4758099229427208, -0.464157358850994, -0.8580080373224432], 1.427429768828162),
    (2.0, [-0.2041932147882804, -0.9789306058319084, -1.369754885003414, 0.2857144845349995], 2.936791817495725),
    (5.0, [-0.6853448712787485, -0.7282186535731666, 0.87883571287484, -0.8270943700220097], 2.1846559607195),
    (10.0, [-0.8115864461913038, -0.5842323513453957, -0.6315291490650176, 0.8772887988410693], 1.752697054036187),
    (
        100.0,
        [-0.9999740520463562, -0.007203834672683709, -0.0008646903329793774, 0.1200288367684844],
        0.02161150401805113,
    ),
];

#[test]
fn the_closed_form_has_the_tabulated_values() {
    for (t, expected, lambda) in TABLE {
        let y = closed_form(t);
        assert!(distance(&y, &expected) < 2e-13, "t = {t}: {y:?}");
        let [g, w] = Pendulum.residuals(t, &y);
        assert!(g < 1e-14 && w < 1e-14);
        // the energy is zero, and the multiplier −3 y
        assert!((0.5 * (y[2] * y[2] + y[3] * y[3]) + y[1]).abs() < 1e-14);
        assert!((Pendulum.accelerations(t, &y).1 - lambda).abs() < 1e-12);
        assert!((lambda + 3.0 * expected[1]).abs() < 1e-13);
    }
}
