//! What is saved between the steps of a run is as accurate as its steps, multipliers included; so is an event that stops it.

use crate::problems::{Arm, Pendulum};
use daedal::catalogue::{self, MotionMethod};
use daedal::linalg::Matrix;
use daedal::motion::{EquationsOfMotion, Mechanism, Motion, Position, Sizes, Velocity};
use daedal::scalar::Scalar;
use daedal::{Ended, Hedop5, Initial, Options, Problem, Save, Solution, Tolerance, solve};

/// Methods that control their error.
const METHODS: [&str; 13] = [
    "hem3",
    "hem4",
    "hem5",
    "hedop5",
    "dopri5",
    "dop853",
    "mexx",
    "geoms",
    "gmkssol",
    "radau",
    "bdf",
    "partition",
    "tangent",
];
/// Those of them whose polynomial is of lower order than their steps, and is left where it deviates by less than a few tolerances.
const COLLOCATION: [&str; 3] = ["geoms", "gmkssol", "radau"];

/// A wheel on a path: heading and place from the speed and the rate of turn, p' = Z(p) v with Z ≠ I.
struct Wheel;

impl EquationsOfMotion for Wheel {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 3, velocities: 2, ..Sizes::default() }
    }
    fn kinematics<S: Scalar>(&self, at: &Velocity<S>, pdot: &mut [S]) {
        let (sin, cos) = at.p[2].sin_cos();
        pdot[0] = cos * at.v[0];
        pdot[1] = sin * at.v[0];
        pdot[2] = at.v[1];
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        M[(0, 0)] = S::from(1.0);
        M[(1, 1)] = S::from(1.0);
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        f[0] = at.p[1].sin() - at.v[0] * 0.3;
        f[1] = at.p[0].cos() - at.v[1];
    }
}

fn times() -> Vec<f64> {
    (1..=12).map(|k| 0.1234567 * f64::from(k)).collect()
}

fn run(
    mechanism: &dyn Mechanism,
    initial: &Initial,
    tend: f64,
    method: &dyn MotionMethod,
    options: &Options,
) -> Solution {
    solve(&Problem::new(mechanism, initial.clone(), tend), method, options).unwrap()
}

fn tight(tolerance: f64) -> Options {
    Options { tolerance: Tolerance::new(tolerance, tolerance), ..Options::default() }
}

/// Largest errors of p, v, λ, a.
fn errors(solution: &Solution, x: &[f64], exact: &[f64]) -> [f64; 4] {
    let l = &solution.layout;
    [l.p(), l.v(), l.lambda(), l.a()]
        .map(|block| block.map(|j| (x[j] - exact[j]).abs() / exact[j].abs().max(1.0)).fold(0.0, f64::max))
}

fn largest(all: impl Iterator<Item = [f64; 4]>) -> [f64; 4] {
    all.fold([0.0; 4], |largest, errors| std::array::from_fn(|i| largest[i].max(errors[i])))
}

fn show(errors: [f64; 4]) -> String {
    errors.map(|error| format!("{error:8.1e}")).join(" ")
}

#[test]
fn saved_states_are_as_accurate_as_steps() {
    let problems: [(&str, &dyn Mechanism, Initial, &[&str]); 3] = [
        ("pendulum", &Pendulum::PERIOD_TWO, Pendulum::horizontal(), &METHODS),
        ("arm", &Arm::P2, Arm::start(), &METHODS),
        ("wheel", &Wheel, Initial::motion(0.0, &[0.0, 1.0, 0.3], &[1.0, -0.5]), &METHODS[..7]),
    ];
    for (name, mechanism, initial, methods) in problems {
        let exact = times().into_iter().map(|t| run(mechanism, &initial, t, &Hedop5::default(), &tight(1e-13)).end.x);
        let exact: Vec<Vec<f64>> = exact.collect();
        for method in methods {
            let entry = catalogue::find(method).unwrap();
            let method = entry.with(entry.usual()).unwrap();
            for tolerance in [1e-4, 1e-7, 1e-10] {
                let inside = Options { save: Save::At(times()), ..tight(tolerance) };
                let saved = run(mechanism, &initial, 1.5, &*method, &inside);
                let between = largest((0..12).map(|k| errors(&saved, saved.state(k), &exact[k])));
                let at_steps = largest(times().into_iter().zip(&exact).map(|(t, exact)| {
                    let ended = run(mechanism, &initial, t, &*method, &tight(tolerance));
                    errors(&ended, &ended.end.x, exact)
                }));
                let kept = Options { save: Save::Dense, ..tight(tolerance) };
                let kept = run(mechanism, &initial, 1.5, &*method, &kept);
                let mut x = kept.end.x.clone();
                let on_polynomials = largest(times().into_iter().zip(&exact).map(|(t, exact)| {
                    kept.eval(t, &mut x).unwrap();
                    errors(&kept, &x, exact)
                }));
                println!(
                    "{name:<9} {:<10} {tolerance:.0e} {}  {}  {}",
                    entry.name,
                    show(between),
                    show(on_polynomials),
                    show(at_steps)
                );
                let factor = if COLLOCATION.contains(&entry.name) { 30.0 } else { 10.0 };
                for i in 0..4 {
                    let bound = factor * tolerance + 4.0 * at_steps[i];
                    assert!(between[i] < bound, "{name}, {}, {tolerance}: {between:?} {at_steps:?}", entry.name);
                    let kept = on_polynomials[i];
                    assert!(kept < 3.0 * bound, "{name}, {}, {tolerance}: {kept} {at_steps:?}", entry.name);
                }
            }
        }
    }
}

#[test]
fn a_run_stops_at_an_event_as_accurately_as_it_steps() {
    // released from the horizontal with the period 2, it is lowest at 1/2
    let problem = Problem::new(&Pendulum::PERIOD_TWO, Pendulum::horizontal(), 10.0)
        .stop_when("lowest", |at: &Motion<f64>| at.p[0]);
    for method in METHODS {
        let entry = catalogue::find(method).unwrap();
        let method = entry.with(entry.usual()).unwrap();
        for tolerance in [1e-4, 1e-7, 1e-10] {
            let options = Options { save: Save::Steps, ..tight(tolerance) };
            let solution = solve(&problem, &*method, &options).unwrap();
            assert_eq!(solution.ended, Ended::AtEvent { name: "lowest".into() });
            let (t, p) = (solution.end.t, solution.at_end().p);
            println!("{:<10} {tolerance:.0e} {:.1e} {:.1e} {:.1e}", entry.name, t - 0.5, p[0], p[1] + 1.0);
            assert!((t - 0.5).abs() < 20.0 * tolerance, "{}: {t}", entry.name);
            // the point belongs to the time, and to the end of the last step
            assert!(p[0].abs() < 10.0 * tolerance && (p[1] + 1.0).abs() < 1e-8 + tolerance, "{}: {p:?}", entry.name);
            assert_eq!(solution.times.last(), Some(&t));
            assert_eq!(
                solution.events.last().map(|event| (event.t, event.x.clone())),
                Some((t, solution.end.x.clone()))
            );
        }
    }
}
