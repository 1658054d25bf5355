//! Redundant equations and free unknowns are found and told; contradictions are refused.

use super::files::{read, system};
use super::runs::{Run, reason};
use super::solutions::all;
use daedal::dae::{System, Unknowns};
use daedal::graph::Interpreted;
use daedal::method::Integrator;
use daedal::{Bdf, Initial, Options, Problem, RadauIIa, Solution, SolveError, Tolerance, solve};
use daedal_model::{Model, ModelKind};

fn solved(name: &str) -> Solution<Unknowns> {
    Run::new(name, 1e-8).make().unwrap_or_else(|error| panic!("{name}: {}", reason(&error)))
}

/// Names of the unknowns that enter the undetermined combinations.
fn undetermined(solution: &Solution<Unknowns>) -> Vec<Vec<&str>> {
    solution.undetermined.iter().map(|terms| terms.iter().map(|(name, _)| name.as_str()).collect()).collect()
}

#[test]
fn a_constraint_given_twice_leaves_only_a_multiplier_undetermined() {
    let solution = solved("pendulum-twice");
    // a multiplier that is declared free completes the system
    assert_eq!((solution.layout.values.v, solution.layout.values.u), (1, 0));
    let exact = all().into_iter().find(|known| known.name == "pendulum-dae").unwrap().states(5.0);
    let x = &solution.end.x;
    for k in 0..4 {
        assert!((x[k] - exact[k]).abs() < 1e-6, "{k}: {} {}", x[k], exact[k]);
    }
    let force = x[4] + 2.0 * x[5];
    assert!((force - exact[4]).abs() < 1e-5, "{force} {}", exact[4]);
    // one combination of the two multipliers
    let names = undetermined(&solution);
    assert!(names.len() == 1 && names[0].iter().all(|name| name.starts_with("lambda")), "{names:?}");
}

/// A point that is carried by a rotor, with constraints that have branches of their own: x sin φ = y cos φ and x = cos φ hold for φ = π/2 and
/// any y.
#[test]
fn redundant_constraints_do_not_lead_to_branches_of_their_own() {
    let rows = [r#""x^2 + y^2 = 1""#, r#""x*vx + y*vy = 0""#, r#""x*sin(phi) = y*cos(phi)""#];
    for chosen in [vec![0], vec![1], vec![1, 2], vec![0, 1, 2]] {
        let more: Vec<&str> = chosen.iter().map(|&k| rows[k]).collect();
        let text = format!(
            r#"
[model]
name = "rotor"
time = [0, 3]
[dae]
states = ["x", "y", "phi", "vx", "vy", "om", "l1", "l2"]
equations = [
  "der(x) = vx", "der(y) = vy", "der(phi) = om", "der(vx) = -l1", "der(vy) = -l2", "der(om) = -l1*sin(phi) + l2*cos(phi)",
  "x = cos(phi)", "y = sin(phi)", {}
]
[initial]
fix = {{ phi = 0.3, om = 8 }}
guess = {{ x = 0.95, y = 0.29, vx = 0, vy = 8 }}
"#,
            more.join(", ")
        );
        let model = Model::read("rotor.toml", &text, &[]).unwrap_or_else(|mistakes| panic!("{}", mistakes.lines()));
        let ModelKind::Dae { formulas, initial, .. } = &model.kind else { panic!("general") };
        let system = System::new(formulas, Interpreted);
        let problem = Problem::new(&system, (**initial).clone(), 3.0);
        for method in [&RadauIIa::default() as &dyn Integrator, &Bdf::default()] {
            for tolerance in [1e-5, 1e-7] {
                let options = Options { tolerance: Tolerance::new(tolerance, tolerance), ..Options::default() };
                let solution = solve(&problem, method, &options)
                    .unwrap_or_else(|error| panic!("{chosen:?} {tolerance:e}: {}", reason(&error)));
                let error = (solution.end.x[2] - 24.3).abs() / 24.3 / tolerance;
                assert!(error < 100.0, "{chosen:?} {tolerance:e}: {error} tolerances");
            }
        }
    }
}

#[test]
fn an_unknown_that_stands_in_no_equation_keeps_its_value() {
    let solution = solved("redundant-underdetermined");
    assert_eq!(undetermined(&solution), [["x3"]]);
    assert_eq!(solution.end.x[2], 1.0);
    assert!(solution.end.x[0].abs() < 1e-14 && solution.end.x[1].abs() < 1e-14, "{:?}", solution.end.x);
}

#[test]
fn on_one_of_two_crossing_lines_an_unknown_is_free() {
    let solution = solved("crossing-lines");
    assert_eq!(undetermined(&solution), [["x2"]]);
    assert!(solution.end.x[0].abs() < 1e-14);
}

#[test]
fn a_regular_pencil_does_not_make_a_solution_unique() {
    let solution = solved("regular-pencil");
    assert_eq!(solution.layout.values.u, 0, "completed by what is declared free");
    // x1 = t x2
    let x = &solution.end.x;
    assert!((x[0] - solution.end.t * x[1]).abs() < 1e-10, "{x:?}");
    assert_eq!(undetermined(&solution).len(), 1);
}

fn from(name: &str, initial: Initial) -> Result<Solution<Unknowns>, SolveError<Unknowns>> {
    let model = read(name, &[]);
    let system = System::new(system(&model).0, Interpreted);
    solve(&Problem::new(&system, initial, 1.0), &RadauIIa::default(), &Options::default())
}

#[test]
fn where_no_solution_begins_the_start_is_refused() {
    // x1² + x1 x2 = 0 holds, its derivative cannot unless x1 = 0; x2 is −x1 then, whether it is fixed or not
    let error = from("crossing-lines", Initial::new(0.0, &[0.0; 2]).fix(0, 0.7).fix(1, -0.7)).unwrap_err();
    assert!(reason(&error).contains("no consistent initial values with x1 fixed"), "{}", reason(&error));
    // x' = 0, 0 = x
    let error = from("overdetermined", Initial::new(0.0, &[0.0]).fix(0, 1.0)).unwrap_err();
    assert!(reason(&error).contains("no consistent initial values with x fixed"), "{}", reason(&error));
}

#[test]
fn consistent_overdetermined_systems_are_solved() {
    for name in ["overdetermined", "pendulum-overdetermined", "pendulum-energy"] {
        let known = all().into_iter().find(|known| known.name == name).unwrap();
        let solution = solved(name);
        assert!(solution.layout.values.v > 0);
        for (x, y) in solution.end.x.iter().zip(known.states(solution.end.t)) {
            assert!((x - y).abs() < 1e-5, "{name}: {x} {y}");
        }
    }
}

#[test]
fn equations_that_contradict_each_other_later_stop_the_run() {
    // the energy of another start
    let model = read("pendulum-energy", &[]);
    let (formulas, initial) = system(&model);
    let mut formulas = formulas.clone();
    // energy = E0 + 0.1 t is true at the start only
    let energy = formulas.equations.iter().position(|(name, _)| name == "energy").unwrap();
    let t = formulas.graph.inputs().next().map(|(_, e)| e).unwrap();
    let residual = formulas.equations[energy].1;
    formulas.equations[energy].1 = formulas.graph.with(|| residual - t * 0.1);
    let system = System::new(&formulas, Interpreted);
    let problem = Problem::new(&system, initial.clone(), 1.0);
    let result = solve(&problem, &RadauIIa::default(), &Options::default());
    assert!(result.is_err(), "{:?}", result.map(|s| (s.layout, s.end)));
}
