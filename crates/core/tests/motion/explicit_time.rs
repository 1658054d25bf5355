//! Late disturbances of a mechanism are met by every method.

use crate::support::{says, tolerance};
use daedal::linalg::Matrix;
use daedal::motion::{EquationsOfMotion, Motion, Names, Position, Sizes};
use daedal::scalar::Scalar;
use daedal::{Geoms, Hedop5, Initial, Options, Problem, Save, SolveError, StepFailure, catalogue, solve};

/// A mass beside a driven one: x' = u, y' = v, 0 = x − drive(t), a force on y.
struct Pushed {
    late: bool,
    kink: bool,
}

impl EquationsOfMotion for Pushed {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 2, velocities: 2, holonomic: 1, ..Sizes::default() }
    }
    fn names(&self) -> Names {
        Names::numbered(&self.sizes()).constraints(&["drive"], &[])
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        M[(0, 0)] = S::from(1.0);
        M[(1, 1)] = S::from(1.0);
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        let zero = S::from(0.0);
        f[1] = if self.late {
            // 10 between t = 5 and t = 5.1
            (-at.t + 5.0).select(zero, (at.t - 5.1).select(zero, S::from(10.0)))
        } else {
            (-((at.t - 1.33) / 0.02).square()).exp() * 100.0
        };
        f[0] = f[1];
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        g[0] = if self.kink { at.p[0] - (at.t - 1.0).abs() } else { at.p[0] };
    }
}

#[test]
fn late_pulses_are_met_by_every_method() {
    for entry in catalogue::all() {
        let method = entry.with(entry.usual()).unwrap();
        for late in [true, false] {
            let system = Pushed { late, kink: false };
            let problem = Problem::new(&system, Initial::motion(0.0, &[0.0, 0.0], &[0.0, 0.0]), 10.0);
            let solution = match solve(&problem, &*method, &Options { save: Save::End, ..tolerance(1e-6) }) {
                Ok(solution) => solution,
                // a method for autonomous systems refuses
                Err(SolveError::Start(_)) => continue,
                Err(error) => panic!("{}: {error:?}", entry.name),
            };
            let (speed, from) = if late { (1.0, 5.05) } else { (2.0 * std::f64::consts::PI.sqrt(), 1.33) };
            let (p, v) = (solution.at_end().p[1], solution.at_end().v[1]);
            // steps of one size are not chosen for the pulse: they are only no longer than it
            let enough = if entry.name == "alpha" { 0.1 } else { 2e-3 };
            assert!((v - speed).abs() < enough, "{}: v = {v} instead of {speed}", entry.name);
            assert!((p - speed * (10.0 - from)).abs() < 10.0 * enough, "{}: p = {p}", entry.name);
        }
    }
}

#[test]
fn multipliers_jump_with_a_force() {
    let system = Pushed { late: true, kink: false };
    let problem = Problem::new(&system, Initial::motion(0.0, &[0.0, 0.0], &[0.0, 0.0]), 10.0);
    let options = Options { save: Save::At(vec![4.9, 5.05, 5.2]), ..tolerance(1e-7) };
    let solution = solve(&problem, &Hedop5::default(), &options).unwrap();
    let lambda: Vec<f64> = (0..3).map(|k| solution.motion(k).lambda[0].abs()).collect();
    assert!(lambda[0] < 1e-9 && (lambda[1] - 10.0).abs() < 1e-9 && lambda[2] < 1e-9, "{lambda:?}");
}

#[test]
fn a_driven_coordinate_with_a_kink_is_told() {
    let system = Pushed { late: true, kink: true };
    let problem = Problem::new(&system, Initial::motion(0.0, &[1.0, 0.0], &[-1.0, 0.0]), 2.0);
    for method in [&Geoms::default() as &dyn catalogue::MotionMethod, &Hedop5::default()] {
        let Err(SolveError::Stopped { cause, partial }) = solve(&problem, method, &tolerance(1e-7)) else { panic!() };
        assert!(matches!(cause, StepFailure::Break { .. }), "{cause}");
        assert!((cause.time() - 1.0).abs() < 1e-12 && (partial.end.t - 1.0).abs() < 1e-12);
        says(&cause.to_string(), &["holonomic constraint drive at velocity level", "jumps by", "`t - 1`"]);
    }
}
