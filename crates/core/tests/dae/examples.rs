//! Worked examples, written once. Steinbrecher (2006), 3.2 – 3.5; Hairer & Wanner II, VII.1.

use daedal::dae::Equations;
use daedal::scalar::Scalar;

/// An example from a function for every scalar.
macro_rules! example {
    ($(#[$doc:meta])* $name:ident, $n:expr, $m:expr, |$t:ident, $x:ident, $d:ident, $r:ident| $body:block) => {
        $(#[$doc])*
        pub struct $name;
        impl Equations for $name {
            fn dim(&self) -> usize { $n }
            fn rows(&self) -> usize { $m }
            #[allow(unused_variables)]
            fn residual<S: Scalar>(&self, $t: S, $x: &[S], $d: &[S], $r: &mut [S]) $body
        }
    };
}

pub(crate) use example;

example!(
    /// E8: the pendulum that starts horizontally, unit mass, length and gravity.
    HorizontalPendulum,
    5,
    5,
    |t, x, d, r| {
        r[0] = d[0] - x[2];
        r[1] = d[1] - x[3];
        r[2] = d[2] + x[0] * x[4];
        r[3] = d[3] + x[1] * x[4] + 1.0;
        r[4] = x[0].square() + x[1].square() - 1.0;
    }
);
example!(
    /// 7.1: a multiple root.
    DoubleRoot,
    1,
    1,
    |t, x, d, r| {
        r[0] = x[0].square();
    }
);
example!(
/// 7.2: a leading matrix with varying rank.
VaryingRank, 3, 3, |t, x, d, r| {
    r[0] = d[0] - x[0] * x[1];
    r[1] = x[0] * d[2] - x[1] + 1.0;
    r[2] = x[2] - 1.0;
});
example!(
/// 7.2 regularised: its first equation, and both constraints.
VaryingRankSelected, 3, 3, |t, x, d, r| {
    r[0] = d[0] - x[0] * x[1];
    r[1] = x[1] - 1.0;
    r[2] = x[2] - 1.0;
});
example!(
/// 7.3: a singular pencil at every time, a unique solution nevertheless.
SingularPencil, 2, 2, |t, x, d, r| {
    r[0] = -x[0] + t * x[1];
    r[1] = d[0] - t * d[1];
});
example!(
/// 7.4: strangeness-free with a leading matrix of the state.
Circle, 2, 2, |t, x, d, r| {
    r[0] = x[1] * d[0] - x[0] * d[1] + 1.0;
    r[1] = x[0].square() + x[1].square() - 1.0;
});
example!(
/// 7.5 (i): semi-explicit, index 2.
IndexTwo, 3, 3, |t, x, d, r| {
    r[0] = d[0] - x[1] - x[2];
    r[1] = d[1] + x[0] - x[2].sin() * 0.5 - x[2];
    r[2] = x[0] + x[1].square() - t.cos();
});
example!(
/// 7.5 (ii): without dynamics.
IndexTwoAlgebraic, 2, 2, |t, x, d, r| {
    r[0] = d[0] - x[0] - x[1];
    r[1] = x[0] - t.sin();
});
example!(
/// 7.6: no constraint, a singular point at x = 1.
NoConstraint, 1, 1, |t, x, d, r| {
    r[0] = (x[0] - 1.0) * d[0] - (x[0] - 1.0) * x[0];
});
example!(
/// 7.7: overdetermined.
Overdetermined, 1, 2, |t, x, d, r| {
    r[0] = d[0];
    r[1] = x[0];
});
example!(
/// 7.8: redundant and underdetermined.
RedundantUnderdetermined, 3, 3, |t, x, d, r| {
    r[0] = d[0] - x[1];
    r[1] = d[1] - x[0];
    r[2] = x[0];
});
example!(
/// 7.9: Hessenberg form of order 3.
HessenbergThree, 5, 5, |t, x, d, r| {
    let [a, b, c, e, w] = [x[0], x[1], x[2], x[3], x[4]];
    r[0] = d[0] - c - a * b;
    r[1] = d[1] - e + a;
    r[2] = d[2] - w - a.sin();
    r[3] = d[3] - w * 2.0 + c * e;
    r[4] = a + b.square() - t.sin();
});
example!(
/// 7.9 with an input u = 1 + t in its constraint: a + b² u = sin u.
HessenbergDriven, 5, 5, |t, x, d, r| {
    HessenbergThree.residual(t, x, d, r);
    let u = t + 1.0;
    r[4] = x[0] + x[1].square() * u - u.sin();
});
/// 7.9 regularised: rows b', c' and three constraints, or b', c', d' and the first two.
pub struct HessenbergSelected {
    pub complete: bool,
}

impl Equations for HessenbergSelected {
    fn dim(&self) -> usize {
        5
    }
    fn residual<S: Scalar>(&self, t: S, x: &[S], d: &[S], r: &mut [S]) {
        let mut all = [S::from(0.0); 5];
        HessenbergThree.residual(t, x, d, &mut all);
        let [a, b, c, e, w] = [x[0], x[1], x[2], x[3], x[4]];
        // a', b', c', d' along the solution
        let [a1, b1, c1, e1] = [c + a * b, e - a, w + a.sin(), w * 2.0 - c * e];
        (r[0], r[1], r[2]) = (all[1], all[2], all[4]);
        r[3] = a1 + b * b1 * 2.0 - t.cos();
        r[4] =
            if self.complete { c1 + a1 * b + a * b1 + (b1.square() + b * (e1 - a1)) * 2.0 + t.sin() } else { all[3] };
    }
}
example!(
/// 7.10: a constraint set of two lines that cross.
CrossingLines, 2, 2, |t, x, d, r| {
    r[0] = (x[0] * 2.0 + x[1]) * d[0] + x[0] * d[1] - x[0];
    r[1] = x[0].square() + x[0] * x[1];
});
example!(
/// An equation that vanishes at t = 0.
Vanishing, 1, 1, |t, x, d, r| {
    r[0] = t * x[0];
});
example!(
/// Pendulum of unit mass and length, g = 13.75: x, y, u, v, λ.
Pendulum, 5, 5, |t, x, d, r| {
    pendulum(x, d, r);
    r[4] = x[0].square() + x[1].square() - 1.0;
});
example!(
/// Its velocity constraint instead.
PendulumVelocity, 5, 5, |t, x, d, r| {
    pendulum(x, d, r);
    r[4] = x[0] * x[2] + x[1] * x[3];
});
example!(
/// Its acceleration constraint instead.
PendulumAcceleration, 5, 5, |t, x, d, r| {
    pendulum(x, d, r);
    r[4] = acceleration(x);
});
example!(
/// The underlying ordinary differential equation.
PendulumOde, 5, 5, |t, x, d, r| {
    pendulum(x, d, r);
    // d/dt of the acceleration constraint, λ' written out
    let (p, q, u, v, l) = (x[0], x[1], x[2], x[3], x[4]);
    r[4] = u * d[2] * 2.0 + v * d[3] * 2.0 - v * 13.75 - (p * u + q * v) * l * 4.0 - (p.square() + q.square()) * d[4] * 2.0;
});
example!(
/// Baumgarte's stabilisation.
PendulumBaumgarte, 5, 5, |t, x, d, r| {
    pendulum(x, d, r);
    let g = x[0].square() + x[1].square() - 1.0;
    r[4] = acceleration(x) + (x[0] * x[2] + x[1] * x[3]) * 2.0 + g * 0.5;
});
example!(
/// Gear, Gupta and Leimkuhler.
PendulumGgl, 6, 6, |t, x, d, r| {
    pendulum(x, d, r);
    r[0] += x[0] * x[5];
    r[1] += x[1] * x[5];
    r[4] = x[0].square() + x[1].square() - 1.0;
    r[5] = x[0] * x[2] + x[1] * x[3];
});
example!(
/// All constraints kept: seven equations.
PendulumOverdetermined, 5, 7, |t, x, d, r| {
    pendulum(x, d, r);
    r[4] = x[0].square() + x[1].square() - 1.0;
    r[5] = x[0] * x[2] + x[1] * x[3];
    r[6] = acceleration(x);
});
example!(
/// With the energy: six equations.
PendulumEnergy, 5, 6, |t, x, d, r| {
    pendulum(x, d, r);
    r[4] = x[0].square() + x[1].square() - 1.0;
    r[5] = (x[2].square() + x[3].square()) * 0.5 + x[1] * 13.75 - ENERGY;
});
example!(
/// Its constraint given twice, with two multipliers.
PendulumTwice, 6, 6, |t, x, d, r| {
    pendulum(x, d, r);
    let (p, q, l) = (x[0], x[1], x[5]);
    r[2] += p * l * 4.0;
    r[3] += q * l * 4.0;
    r[4] = p.square() + q.square() - 1.0;
    r[5] = (p.square() + q.square()) * 2.0 - 2.0;
});
example!(
/// Dummy derivatives: x'' and y'' are unknowns.
PendulumDummy, 7, 7, |t, x, d, r| {
    let (p, q, u, v, l, du, dv) = (x[0], x[1], x[2], x[3], x[4], x[5], x[6]);
    r[0] = d[1] - v;
    r[1] = d[3] - dv;
    r[2] = du + p * l * 2.0;
    r[3] = dv + q * l * 2.0 + 13.75;
    r[4] = p.square() + q.square() - 1.0;
    r[5] = p * u + q * v;
    r[6] = u.square() + v.square() + p * du + q * dv;
});

pub const ENERGY: f64 = 0.5 * 1.3 * 1.3 - 13.75 * 0.8253356149096783;

fn pendulum<S: Scalar>(x: &[S], d: &[S], r: &mut [S]) {
    r[0] = d[0] - x[2];
    r[1] = d[1] - x[3];
    r[2] = d[2] + x[0] * x[4] * 2.0;
    r[3] = d[3] + x[1] * x[4] * 2.0 + 13.75;
}

fn acceleration<S: Scalar>(x: &[S]) -> S {
    x[2].square() + x[3].square() - x[1] * 13.75 - (x[0].square() + x[1].square()) * x[4] * 2.0
}

/// A consistent point of the pendulum, 0.6 from the hanging position, with speed 1.3.
pub fn moving_pendulum() -> [f64; 5] {
    let (s, c) = 0.6_f64.sin_cos();
    let (x, y, u, v) = (s, -c, 1.3 * c, 1.3 * s);
    [x, y, u, v, (u * u + v * v - 13.75 * y) / 2.0]
}
