//! Jumps that the equations of a mode ask for themselves: charge, flux and momentum are kept, however the rows are written.

use super::support::*;
use daedal::dae::{Equations, Form, System};
use daedal::hybrid::{Hybrid, HybridSolution, Mode, Restart, Schedule, Transition};
use daedal::linalg::Matrix;
use daedal::linear::ConstantCoefficients;
use daedal::scalar::Scalar;
use daedal::{Bdf, RadauIIa};

/// Capacitors between common nodes, apart or connected: C_k u_k' = i_k, then i_k = 0, or all u_k equal and Σ i_k = 0. Row k is multiplied with
/// scale_k; `mixed` adds rows to each other.
#[derive(Clone)]
struct Capacitors {
    C: Vec<f64>,
    scale: Vec<f64>,
    mixed: bool,
    connected: bool,
}

impl Equations for Capacitors {
    fn dim(&self) -> usize {
        2 * self.C.len()
    }
    fn names(&self) -> Vec<String> {
        let n = self.C.len();
        (0..n).map(|k| format!("u{k}")).chain((0..n).map(|k| format!("i{k}"))).collect()
    }
    fn residual<S: Scalar>(&self, _: S, x: &[S], d: &[S], r: &mut [S]) {
        let n = self.C.len();
        for k in 0..n {
            r[k] = (d[k] * self.C[k] - x[n + k]) * self.scale[k];
            r[n + k] = if !self.connected {
                x[n + k]
            } else if k > 0 {
                x[k - 1] - x[k]
            } else {
                x[n..].iter().fold(S::from(0.0), |sum, i| sum + *i)
            };
        }
        if self.mixed {
            for k in (1..2 * n).rev() {
                r[k] += r[k - 1] * (0.3 + k as f64);
            }
            r[0] += r[2 * n - 1] * 0.7;
        }
    }
}

/// Connected at t = 0.5.
fn connected(system: &Capacitors, make: &dyn Fn(&str, &Capacitors) -> Mode<'static>, u: &[f64]) -> HybridSolution {
    let mut hybrid = Hybrid::new();
    hybrid.mode(make("apart", &Capacitors { connected: false, ..system.clone() }));
    hybrid.mode(make("connected", &Capacitors { connected: true, ..system.clone() }));
    hybrid.transition(Transition::at(0, 1, Schedule::Times(vec![0.5])));
    let start: Vec<f64> = u.iter().copied().chain(u.iter().map(|_| 0.0)).collect();
    reach(&hybrid, &start, 1.0)
}

#[test]
fn capacitors_keep_their_charge_in_every_scaling_form_and_method() {
    #[allow(clippy::type_complexity)] // a table, written out where it is read
    let makes: [(&str, &dyn Fn(&str, &Capacitors) -> Mode<'static>); 4] = [
        ("radau", &|name, system| mode(name, system, Method::Radau)),
        ("bdf", &|name, system| mode(name, system, Method::Bdf)),
        ("array", &|name, system| Mode::general(name, System::of(system), Form::DerivativeArray, RadauIIa::default())),
        ("linear", &|name, system| Mode::general(name, System::of(system), Form::Linear, Bdf::default())),
    ];
    for (C, u) in [(vec![1.0, 3.0], vec![4.0, 0.0]), (vec![1.0, 2.0, 5.0], vec![8.0, -1.0, 0.5])] {
        let charge: f64 = C.iter().zip(&u).map(|(C, u)| C * u).sum();
        let exact = charge / C.iter().sum::<f64>();
        for scale in [[1.0, 1.0, 1.0], [1.0, 1.0 / 3.0, 2.0], [1.0, 100.0, 1e-2], [1e-3, 1e3, 1.0]] {
            for mixed in [false, true] {
                let system = Capacitors { C: C.clone(), scale: scale.to_vec(), mixed, connected: false };
                for (how, make) in makes {
                    let solution = connected(&system, make, &u);
                    let end = &solution.end.x[..C.len()];
                    let off = end.iter().map(|u| (u - exact).abs()).fold(0.0, f64::max);
                    assert!(off < 1e-8, "{how}, {scale:?}, {mixed}: {end:?} not {exact}");
                }
            }
        }
    }
}

#[test]
fn a_linear_mode_keeps_the_charge() {
    // u₁' = −i, 3 c u₂' = c i, 0 = u₁ − u₂
    for c in [1.0, 1.0 / 3.0, 100.0] {
        let matrices = |closed: bool| {
            let (mut E, mut A) = (Matrix::zeros(3, 3), Matrix::zeros(3, 3));
            (E[(0, 0)], E[(1, 1)], A[(0, 2)], A[(1, 2)]) = (1.0, 3.0 * c, -1.0, c);
            (A[(2, 0)], A[(2, 1)], A[(2, 2)]) = if closed { (1.0, -1.0, 0.0) } else { (0.0, 0.0, 1.0) };
            ConstantCoefficients::new(E, A, ())
        };
        let mut hybrid = Hybrid::new();
        for (name, closed) in [("open", false), ("closed", true)] {
            hybrid.mode(Mode::linear(name, &["u1", "u2", "i"], matrices(closed), RadauIIa::default()));
        }
        hybrid.transition(Transition::at(0, 1, Schedule::Times(vec![0.5])));
        let solution = reach(&hybrid, &[4.0, 0.0, 0.0], 1.0);
        assert!((solution.end_value("u1").unwrap() - 1.0).abs() < 1e-9, "{:?}", solution.end.x);
    }
}

/// Coils L₁ = 1, L₂ = 3 in a loop with a resistor; a branch between them carries i₁ − i₂ until it is cut.
struct Coils {
    cut: bool,
    scale: f64,
}

impl Equations for Coils {
    fn dim(&self) -> usize {
        4
    }
    fn residual<S: Scalar>(&self, _: S, x: &[S], d: &[S], r: &mut [S]) {
        let [i1, i2, u1, u2] = [x[0], x[1], x[2], x[3]];
        r[0] = d[0] - u1;
        r[1] = (d[1] * 3.0 - u2) * self.scale;
        r[2] = u1 + u2 + i2 * 0.1;
        // a resistor that takes both currents, or nothing
        r[3] = if self.cut { i1 - i2 } else { u1 + (i1 - i2) * 2.0 };
    }
}

#[test]
fn coils_keep_their_flux_when_a_branch_is_cut() {
    for scale in [1.0, 1.0 / 3.0, 1e4] {
        for method in METHODS {
            let mut hybrid = Hybrid::new();
            hybrid.mode(mode("whole", &Coils { cut: false, scale }, method));
            hybrid.mode(mode("cut", &Coils { cut: true, scale }, method));
            hybrid.transition(Transition::at(0, 1, Schedule::Times(vec![0.5])));
            let solution = reach(&hybrid, &[2.0, -1.0, -6.0, 6.1], 1.0);
            let switch = &solution.switches[0];
            let flux = switch.before[0] + 3.0 * switch.before[1];
            assert!((switch.before[0] - switch.before[1]).abs() > 0.1);
            let i = switch.after[0];
            assert!((i - flux / 4.0).abs() < 1e-9 && (switch.after[1] - i).abs() < 1e-12, "{switch:?}");
            // 4 i' = −0.1 i afterwards
            assert!((solution.end.x[0] - i * (-0.0125_f64).exp()).abs() < 1e-8, "{:?}", solution.end.x);
        }
    }
}

/// Charges q₁ = u₁ + u₁³ and q₂ = 2u₂: q₁' = −i, q₂' = i.
struct Varactors {
    closed: bool,
    scale: f64,
}

impl Equations for Varactors {
    fn dim(&self) -> usize {
        5
    }
    fn residual<S: Scalar>(&self, _: S, x: &[S], d: &[S], r: &mut [S]) {
        let [q1, q2, u1, u2, i] = [x[0], x[1], x[2], x[3], x[4]];
        r[0] = (d[0] + i) * self.scale;
        r[1] = d[1] - i;
        r[2] = q1 - u1 - u1 * u1.square();
        r[3] = q2 - u2 * 2.0;
        r[4] = if self.closed { u1 - u2 } else { i };
    }
}

#[test]
fn nonlinear_capacitors_keep_the_charge_that_is_written_as_an_unknown() {
    for scale in [1.0, 1e3] {
        for method in METHODS {
            let mut hybrid = Hybrid::new();
            hybrid.mode(mode("open", &Varactors { closed: false, scale }, method));
            hybrid.mode(mode("closed", &Varactors { closed: true, scale }, method));
            hybrid.transition(Transition::at(0, 1, Schedule::Times(vec![0.5])));
            let solution = reach(&hybrid, &[10.0, 0.0, 2.0, 0.0, 0.0], 1.0);
            let u = solution.end.x[2];
            // u + u³ + 2u = 10
            assert!((u * u * u + 3.0 * u - 10.0).abs() < 1e-8, "{:?}", solution.end.x);
        }
    }
}

#[test]
fn keeping_the_differential_part_depends_on_the_scaling_and_impulses_do_not() {
    // what Wunderlich's Remark 5.27 keeps is E₁x, where E₁ is a choice
    let end = |scale: f64, restart: Restart| {
        let system = Capacitors { C: vec![1.0, 3.0], scale: vec![1.0, scale], mixed: false, connected: false };
        let make = |name: &str, system: &Capacitors| mode(name, system, Method::Radau).restart(restart);
        connected(&system, &make, &[4.0, 0.0]).end.x[0]
    };
    assert!((end(1.0, Restart::Differential) - end(100.0, Restart::Differential)).abs() > 0.1);
    assert!((end(1.0, Restart::Impulse) - end(100.0, Restart::Impulse)).abs() < 1e-9);
}

/// Capacitances that depend on voltages, written as such: (1 + 3k u₁²) u₁' = −i, (1 + 2c u₂) u₂' = i; or without the current between them.
#[derive(Clone, Copy)]
struct Capacitances {
    k: f64,
    c: f64,
    scale: f64,
    closed: bool,
    current: bool,
}

impl Capacitances {
    fn charge(&self, u: &[f64]) -> f64 {
        u[0] + self.k * u[0].powi(3) + u[1] + self.c * u[1].powi(2)
    }
}

impl Equations for Capacitances {
    fn dim(&self) -> usize {
        if self.current { 3 } else { 2 }
    }
    fn residual<S: Scalar>(&self, _: S, x: &[S], d: &[S], r: &mut [S]) {
        let rates = [(x[0].square() * (3.0 * self.k) + 1.0) * d[0] * self.scale, (x[1] * (2.0 * self.c) + 1.0) * d[1]];
        if self.current {
            (r[0], r[1]) = (rates[0] + x[2] * self.scale, rates[1] - x[2]);
            r[2] = if self.closed { x[0] - x[1] } else { x[2] };
        } else if self.closed {
            (r[0], r[1]) = (rates[0] + rates[1] * self.scale, x[0] - x[1]);
        } else {
            (r[0], r[1]) = (d[0], d[1]);
        }
    }
}

#[test]
fn capacitances_that_depend_on_what_jumps_are_followed_along_the_jump() {
    for (k, c) in [(-0.02, 0.0), (1.0, 0.0), (0.3, 0.5), (0.0, -0.05), (0.0, 0.0)] {
        for (scale, current) in [(1.0, true), (100.0, true), (1.0, false), (1e-3, false)] {
            for method in METHODS {
                let system = Capacitances { k, c, scale, closed: false, current };
                let mut hybrid = Hybrid::new();
                hybrid.mode(mode("open", &system, method));
                hybrid.mode(mode("closed", &Capacitances { closed: true, ..system }, method));
                hybrid.transition(Transition::at(0, 1, Schedule::Times(vec![0.25, 0.75])));
                // apart again, with another voltage: the mode is entered a second time
                let apart = Transition::at(1, 0, Schedule::Times(vec![0.5]));
                hybrid.transition(apart.transfer(|_, old, _, new| new[1] = old[1] - 1.5));
                let start = [4.0, 0.0, 0.0];
                let solution = reach(&hybrid, &start[..system.dim()], 1.0);
                let closings: Vec<_> = solution.switches.iter().filter(|switch| switch.to == 1).collect();
                assert_eq!(closings.len(), 2);
                for switch in closings {
                    let (before, after) = (system.charge(&switch.before), system.charge(&switch.after));
                    let case = format!("{method:?}, k = {k}, c = {c}, scale {scale}, {current}");
                    assert!((before - after).abs() < 1e-8 * (1.0 + before.abs()), "{case}: {before} {after}");
                    assert!((switch.after[0] - switch.after[1]).abs() < 1e-12, "{case}: {:?}", switch.after);
                }
            }
        }
    }
}
