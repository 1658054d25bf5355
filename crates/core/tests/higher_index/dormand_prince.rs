//! The pair of Dormand and Prince (1980) of order 5(4), with the step size control of the program DOPRI5.
//! Hairer, Nørsett & Wanner, Solving ODEs I (1993), II.4 and II.5, table 5.2.

use super::mechanism::Mechanism;
use super::observed::{distance, observed_order, shifted};
use super::pendulum::{Pendulum, START, closed_form};

/// Nodes cᵢ.
const C: [f64; 7] = [0.0, 1.0 / 5.0, 3.0 / 10.0, 4.0 / 5.0, 8.0 / 9.0, 1.0, 1.0];

/// aᵢⱼ; the last row holds the weights bⱼ of order 5, so that the last stage is the first one of the next step.
const A: [[f64; 6]; 7] = [
    [0.0; 6],
    [1.0 / 5.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [3.0 / 40.0, 9.0 / 40.0, 0.0, 0.0, 0.0, 0.0],
    [44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0, 0.0, 0.0, 0.0],
    [19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0, 0.0, 0.0],
    [9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0, 0.0],
    [35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
];

/// bⱼ − b̂ⱼ, the weights of the error estimate.
const E: [f64; 7] =
    [71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0];

/// The method with a tolerance, absolute and relative.
#[derive(Clone, Copy, Debug)]
pub struct DormandPrince {
    /// Tolerance.
    pub tolerance: f64,
    /// Weight β of the last error in the choice of the step; 0.04 in DOPRI5, zero for the elementary controller.
    pub beta: f64,
}

/// What a run has cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Accepted steps.
    pub accepted: usize,
    /// Rejected steps.
    pub rejected: usize,
    /// Evaluations of the right-hand side.
    pub evaluations: usize,
}

impl DormandPrince {
    /// The controller of DOPRI5.
    pub fn new(tolerance: f64) -> Self {
        DormandPrince { tolerance, beta: 0.04 }
    }

    /// Integrates y' = f(t, y) from t to `end`. After each accepted step `accept` sees t and y and may change y.
    pub fn integrate<const N: usize>(
        &self,
        f: impl Fn(f64, &[f64; N]) -> [f64; N],
        mut t: f64,
        mut y: [f64; N],
        end: f64,
        mut accept: impl FnMut(f64, &mut [f64; N]),
    ) -> ([f64; N], Cost) {
        let mut cost = Cost { evaluations: 2, ..Cost::default() };
        let mut first = f(t, &y);
        let mut h = self.first_step(&f, t, &y, &first);
        let mut last_error = 1e-4_f64;
        let mut after_rejection = false;
        while t < end {
            let to_end = end - t;
            let reaches_end = h >= to_end * (1.0 - 1e-12);
            if reaches_end {
                h = to_end;
            }
            assert!(h > 1e-14 && cost.accepted + cost.rejected < 1_000_000, "no progress at t = {t}, h = {h}");
            let (new, last, estimate) = step(&f, t, &y, h, first);
            cost.evaluations += 6;
            let error = self.norm(&estimate, &y, &new).max(1e-10);
            // h ← h · 0.9 · error^−(0.2 − 0.75 β) · last_error^β, between h/5 and 10 h
            let factor = error.powf(0.2 - 0.75 * self.beta);
            if error <= 1.0 {
                cost.accepted += 1;
                t = if reaches_end { end } else { t + h };
                let growth = (0.9 * last_error.powf(self.beta) / factor).clamp(0.2, 10.0);
                h *= if after_rejection { growth.min(1.0) } else { growth };
                last_error = error.max(1e-4);
                after_rejection = false;
                (y, first) = (new, last);
                accept(t, &mut y);
                if y != new {
                    first = f(t, &y);
                    cost.evaluations += 1;
                }
            } else {
                cost.rejected += 1;
                after_rejection = true;
                h *= (0.9 / factor).max(0.2);
            }
        }
        (y, cost)
    }

    /// First step from the sizes of y, y' and y'', II.4.
    fn first_step<const N: usize>(
        &self,
        f: impl Fn(f64, &[f64; N]) -> [f64; N],
        t: f64,
        y: &[f64; N],
        slope: &[f64; N],
    ) -> f64 {
        let (d0, d1) = (self.norm(y, y, y), self.norm(slope, y, y));
        let h0 = if d0 < 1e-5 || d1 < 1e-5 { 1e-6 } else { 0.01 * d0 / d1 };
        let change = shifted(&f(t + h0, &shifted(y, h0, slope)), -1.0, slope);
        let d2 = self.norm(&change, y, y) / h0;
        (100.0 * h0).min((0.01 / d1.max(d2)).powf(0.2))
    }

    /// Root mean square of e, weighted by the tolerance and the larger of two states.
    fn norm<const N: usize>(&self, e: &[f64; N], y0: &[f64; N], y1: &[f64; N]) -> f64 {
        let weight = |i: usize| self.tolerance * (1.0 + y0[i].abs().max(y1[i].abs()));
        ((0..N).map(|i| (e[i] / weight(i)).powi(2)).sum::<f64>() / N as f64).sqrt()
    }
}

/// One step: the new state, its slope and the error estimate. `first` is f(t, y).
pub fn step<const N: usize>(
    f: impl Fn(f64, &[f64; N]) -> [f64; N],
    t: f64,
    y: &[f64; N],
    h: f64,
    first: [f64; N],
) -> ([f64; N], [f64; N], [f64; N]) {
    let mut k = [first; 7];
    let mut Y = *y;
    for i in 1..7 {
        Y = std::array::from_fn(|l| y[l] + h * (0..i).map(|j| A[i][j] * k[j][l]).sum::<f64>());
        k[i] = f(t + C[i] * h, &Y);
    }
    (Y, k[6], std::array::from_fn(|l| h * (0..7).map(|j| E[j] * k[j][l]).sum::<f64>()))
}

#[test]
fn the_pair_has_orders_five_and_four() {
    let f = |t: f64, y: &[f64; 4]| Pendulum.slope(t, y);
    let [coarse, fine] = [200, 400].map(|n| {
        let (h, mut y, mut error, mut estimate) = (5.0 / f64::from(n), START, 0.0_f64, 0.0_f64);
        for k in 0..n {
            let t = f64::from(k) * h;
            let (new, _, e) = step(f, t, &y, h, f(t, &y));
            y = new;
            error = error.max(distance(&y, &closed_form(t + h)));
            estimate = estimate.max(distance(&e, &[0.0; 4]));
        }
        [error, estimate]
    });
    // the estimate is the local error of the method of order 4
    for i in 0..2 {
        let order = observed_order(coarse[i], fine[i], 2.0);
        assert!((order - 5.0).abs() < 0.25, "{i}: {order} {coarse:?}");
    }
}

#[test]
fn nodes_are_row_sums_and_the_estimate_has_no_mean() {
    for i in 0..7 {
        assert!((A[i].iter().sum::<f64>() - C[i]).abs() < 1e-15);
    }
    assert!(E.iter().sum::<f64>().abs() < 1e-16);
}
