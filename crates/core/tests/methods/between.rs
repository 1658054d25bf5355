//! What constraints drive beside what is integrated: saved between the steps as accurately as at their ends, by all methods that control errors.

use daedal::RadauIIa;
use daedal::formulation::{Formulated, Formulation};
use daedal::linalg::Matrix;
use daedal::method::Stages;
use daedal::motion::{EquationsOfMotion, Motion, Position, Sizes};
use daedal::scalar::Scalar;
use daedal::{Initial, catalogue};
use daedal::{Options, Problem, Save, Solution, Tolerance, solve};

/// A mass that is driven, x = sin 20t with the force λ = 400 sin 20t, beside one that falls slowly, z' = w, w' = −z/100.
struct Driven;

impl EquationsOfMotion for Driven {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 2, velocities: 2, holonomic: 1, ..Sizes::default() }
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        M[(0, 0)] = S::from(1.0);
        M[(1, 1)] = S::from(1.0);
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        f[1] = at.p[1] * -0.01;
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        g[0] = at.p[0] - (at.t * 20.0).sin();
    }
}

fn start() -> Initial {
    Initial::motion(0.0, &[0.0, 1.0], &[20.0, 0.0])
}

fn options(tolerance: f64, save: Save) -> Options {
    Options { tolerance: Tolerance::new(tolerance, tolerance), save, ..Options::default() }
}

/// Largest errors of p, v and λ, relative to max(1, |x|).
fn error(solution: &Solution, t: f64, x: &[f64]) -> f64 {
    let l = &solution.layout;
    let (s, c) = (20.0 * t).sin_cos();
    let (zs, zc) = (0.1 * t).sin_cos();
    let exact = [s, zc, 20.0 * c, -0.1 * zs, 400.0 * s];
    let places = l.p().chain(l.v()).chain(l.lambda());
    places.zip(exact).map(|(j, exact)| (x[j] - exact).abs() / exact.abs().max(1.0)).fold(0.0, f64::max)
}

fn times() -> Vec<f64> {
    (1..100).map(|k| 0.0297 * f64::from(k)).collect()
}

#[test]
fn driven_coordinates_are_saved_within_a_hundred_tolerances() {
    for name in ["geoms", "gmkssol", "radau", "bdf", "hedop5", "mexx"] {
        let entry = catalogue::find(name).unwrap();
        let method = entry.with(entry.usual()).unwrap();
        let problem = Problem::new(&Driven, start(), 3.0);
        for tolerance in [1e-4, 1e-7, 1e-10] {
            let saved = solve(&problem, &*method, &options(tolerance, Save::At(times()))).unwrap();
            let at_times = (0..saved.len()).map(|k| error(&saved, saved.times[k], saved.state(k))).fold(0.0, f64::max);
            let dense = solve(&problem, &*method, &options(tolerance, Save::Dense)).unwrap();
            let mut x = dense.end.x.clone();
            let all = times().into_iter().map(|t| {
                dense.eval(t, &mut x).unwrap();
                error(&dense, t, &x)
            });
            let on_polynomials = all.fold(0.0, f64::max);
            println!("{name} {tolerance:e}: {at_times:.1e} {on_polynomials:.1e} {} steps", saved.statistics.steps);
            assert!(at_times < 100.0 * tolerance, "{name} {tolerance:e}: {at_times:e}");
            assert!(on_polynomials < 300.0 * tolerance, "{name} {tolerance:e}: {on_polynomials:e}");
        }
    }
}

/// Other formulations and numbers of stages have the same remedy; multipliers of index 2 and 3 are of lower order at the ends of steps already.
#[test]
fn positions_are_saved_accurately_in_every_formulation() {
    let problem = Problem::new(&Driven, start(), 3.0);
    let three = Formulation::ALL.into_iter().map(|formulation| (formulation, 3));
    let more = [1, 5, 7].map(|stages| (Formulation::Projected, stages));
    for (formulation, stages) in three.chain(more) {
        if matches!(formulation, Formulation::Underlying | Formulation::ProjectedWithInvariants(_)) {
            continue; // drifts by itself; there are no invariants
        }
        let integrator = RadauIIa { stages: Stages::Fixed(stages), ..RadauIIa::default() };
        let method = Formulated { formulation, integrator };
        let tolerance = 1e-6;
        let saved = solve(&problem, &method, &options(tolerance, Save::At(times()))).unwrap();
        let l = &saved.layout;
        let x = l.p().start;
        let error = (0..saved.len()).map(|k| (saved.state(k)[x] - (20.0 * saved.times[k]).sin()).abs());
        let error = error.fold(0.0, f64::max);
        println!("{} {stages}: {error:.1e} {} steps", formulation.name(), saved.statistics.steps);
        assert!(error < 100.0 * tolerance, "{} {stages}: {error:e}", formulation.name());
    }
}

/// Nothing between the steps is asked for: the same steps as ever.
#[test]
fn runs_that_keep_steps_or_the_end_are_not_changed() {
    let problem = Problem::new(&Driven, start(), 3.0);
    for name in ["geoms", "gmkssol", "radau"] {
        let entry = catalogue::find(name).unwrap();
        let method = entry.with(entry.usual()).unwrap();
        let steps = [Save::End, Save::Steps].map(|save| {
            let solution = solve(&problem, &*method, &options(1e-7, save)).unwrap();
            assert!(error(&solution, 3.0, &solution.end.x) < 1e-6);
            solution.statistics
        });
        assert_eq!(steps[0], steps[1]);
        assert!(steps[0].steps < 60, "{name}: {}", steps[0]);
    }
}
