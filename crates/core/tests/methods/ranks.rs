//! One tolerance decides every rank: of methods and formulations, of initial values, analysis and choice.

use daedal::BadOption;
use daedal::analysis::{analyse_by, choose_by};
use daedal::formulation::Formulation;
use daedal::linalg::{Matrix, RankRule};
use daedal::method::StartFailure;
use daedal::motion::consistent::initialise_by;
use daedal::motion::{EquationsOfMotion, Form, Motion, Position, Sizes};
use daedal::scalar::Scalar;
use daedal::{Initial, catalogue};
use daedal::{Options, Problem, Solution, SolveError, solve};

/// A point that falls between two planes, x = 0 and x + ε y = 0, which are almost the same: singular values 1.4 and 0.7 ε.
struct AlmostOnePlane;
const EPSILON: f64 = 1e-3;

impl EquationsOfMotion for AlmostOnePlane {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 3, velocities: 3, holonomic: 2, ..Sizes::default() }
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        (0..3).for_each(|i| M[(i, i)] = S::from(1.0));
    }
    fn force<S: Scalar>(&self, _: &Motion<S>, f: &mut [S]) {
        f[2] = S::from(-9.81);
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        g[0] = at.p[0];
        g[1] = at.p[0] + at.p[1] * EPSILON;
    }
}

fn start() -> Initial {
    Initial::motion(0.0, &[0.0, 0.0, 1.0], &[0.0, 0.0, 0.5])
}

fn run(name: &str, formulation: Formulation, rank_tolerance: Option<f64>) -> Result<Solution, SolveError> {
    let method = catalogue::find(name).unwrap().with(formulation).unwrap();
    let options = Options { rank_tolerance, ..Options::default() };
    solve(&Problem::new(&AlmostOnePlane, start(), 0.2), &*method, &options)
}

#[test]
fn every_method_in_every_formulation_obeys_the_tolerance() {
    let mut compared = 0;
    for entry in catalogue::all() {
        for formulation in Formulation::ALL {
            if !entry.formulations.contains(&formulation.name()) || formulation.name() == "psf+i" {
                continue;
            }
            let what = format!("{} on {}", entry.name, formulation.name());
            let (usual, tight) =
                (run(entry.name, formulation, None), run(entry.name, formulation, Some(1e-5 * EPSILON)));
            let loose = run(entry.name, formulation, Some(10.0 * EPSILON));
            // the trapezoidal rule and Gauss take index two and more with steps of one size only
            if let Err(SolveError::Start(StartFailure::OutOfClass { why, .. })) = &usual {
                assert!(["trapezoidal", "gauss"].contains(&entry.name) && why.contains("one size"), "{what}: {why}");
                continue;
            }
            let usual = usual.unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(usual.decisions, tight.unwrap_or_else(|error| panic!("{what}: {error}")).decisions, "{what}");
            match loose {
                Ok(loose) => assert_ne!(usual.decisions, loose.decisions, "{what}"),
                Err(error) => {
                    let told = error.to_string()
                        + &std::error::Error::source(&error).map_or(String::new(), ToString::to_string);
                    assert!(told.contains("redundant"), "{what}: {told}");
                    assert!(formulation.name() == "over" || told.contains("set rank_tolerance"), "{what}: {told}");
                }
            }
            compared += 1;
        }
    }
    assert!(compared > 25, "{compared}");
}

#[test]
fn initial_values_analysis_and_choice_obey_the_tolerance() {
    for (rule, rank) in [(RankRule::default(), 2), (RankRule::of(Some(10.0 * EPSILON)), 1)] {
        let found = initialise_by(&AlmostOnePlane, &start(), Form::StrangenessFree, rule).unwrap();
        assert_eq!(found.undetermined_multipliers, 2 - rank);
        let constraints = analyse_by(&AlmostOnePlane, &start(), 1.0, rule).unwrap().constraints.unwrap();
        assert_eq!((constraints.all.rank, constraints.redundancies.len()), (rank, 2 - rank));
        let reasons = choose_by(&AlmostOnePlane, &found.state, 1.0, rule).reasons.join("; ");
        assert_eq!(reasons.contains("redundant"), rank == 1, "{reasons}");
    }
}

#[test]
fn impossible_tolerances_are_refused() {
    for value in [0.0, -1e-9, 1.0, f64::NAN] {
        for entry in catalogue::all() {
            let refused = run(entry.name, entry.usual(), Some(value));
            let Err(SolveError::Options(bad)) = refused else { panic!("{}: {value}", entry.name) };
            assert!(matches!(bad, BadOption::OutOfRange { name: "rank_tolerance", .. }), "{bad}");
            assert!(bad.to_string().contains("between 0 and 1"), "{bad}");
        }
        assert!(analyse_by(&AlmostOnePlane, &start(), 1.0, RankRule::of(Some(value))).is_err());
    }
}
