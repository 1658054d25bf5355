//! What is between the steps: unknowns that follow functions of time by constraints are saved as accurately as those that are integrated,
//! and events are found where they are.

use daedal::dae::{Form, InForm, System, Unknowns};
use daedal::graph::Interpreted;
use daedal::method::Integrator;
use daedal::{Bdf, Options, Problem, RadauIIa, Save, Solution, Tolerance, solve};
use daedal_model::{Model, ModelKind};

/// What unknowns are.
type Exact = fn(f64) -> Vec<(&'static str, f64)>;

/// Systems with quick algebraic unknowns, their forms and solutions.
const SYSTEMS: [(&str, &str, &[Form], Exact); 5] = [
    (
        "an algebraic unknown that nothing depends on",
        r#"states = ["x", "y"]
equations = ["der(x) = 1", "y = sin(20*x)"]
[initial]
fix = { x = 0 }"#,
        &[Form::Plain, Form::QuasiLinear, Form::DerivativeArray],
        |t| vec![("x", t), ("y", (20.0 * t).sin())],
    ),
    (
        "index 2",
        r#"states = ["x", "y", "z"]
equations = ["x = sin(20*t)", "y = der(x)", "der(z) = -0.01*z"]
[initial]
fix = { z = 1 }"#,
        &[Form::Linear, Form::QuasiLinear, Form::DerivativeArray],
        |t| vec![("x", (20.0 * t).sin()), ("y", 20.0 * (20.0 * t).cos()), ("z", (-0.01 * t).exp())],
    ),
    (
        "underdetermined: a control problem",
        r#"states = ["p", "v", "F", "u"]
free = ["u"]
equations = ["der(p) = v", "der(v) = F + u", "p = sin(5*t)"]"#,
        &[Form::Linear, Form::QuasiLinear, Form::DerivativeArray],
        |t| vec![("p", (5.0 * t).sin()), ("v", 5.0 * (5.0 * t).cos()), ("F+u", -25.0 * (5.0 * t).sin())],
    ),
    (
        "so stiff that it is almost algebraic",
        r#"states = ["x", "y"]
equations = ["der(x) = 1", "der(y) = 1e7*(sin(20*x) - y) + 20*cos(20*x)"]
[initial]
fix = { x = 0, y = 0 }"#,
        &[Form::Plain],
        |t| vec![("x", t), ("y", (20.0 * t).sin())],
    ),
    (
        "a kink",
        r#"states = ["x", "y"]
equations = ["der(x) = 1", "y = abs(sin(20*x))"]
[initial]
fix = { x = 0 }"#,
        &[Form::Plain],
        |t| vec![("x", t), ("y", (20.0 * t).sin().abs())],
    ),
];

fn system(text: &str) -> (System, daedal::Initial) {
    let text = format!("[model]\nname = \"between\"\n[dae]\n{text}\n");
    let model = Model::read("between.toml", &text, &[]).unwrap_or_else(|mistakes| panic!("{}", mistakes.lines()));
    let ModelKind::Dae { formulas, initial, .. } = model.kind else { panic!("no general system") };
    (System::new(&formulas, Interpreted), *initial)
}

fn options(tolerance: f64, save: Save) -> Options {
    Options { tolerance: Tolerance::new(tolerance, tolerance), save, ..Options::default() }
}

/// Largest error relative to max(1, |x|) of what is known exactly.
fn error(solution: &Solution<Unknowns>, exact: Exact, t: f64, x: &[f64]) -> f64 {
    let value = |name: &str| x[solution.names.iter().position(|n| n == name).unwrap()];
    let value = |name: &str| name.split('+').map(value).sum::<f64>();
    exact(t).into_iter().map(|(name, exact)| (value(name) - exact).abs() / exact.abs().max(1.0)).fold(0.0, f64::max)
}

#[allow(clippy::type_complexity)] // a table, written out where it is read
const METHODS: [(&str, fn() -> Box<dyn Integrator>); 2] =
    [("radau", || Box::new(RadauIIa::default())), ("bdf", || Box::new(Bdf::default()))];

#[test]
fn saved_values_are_within_a_hundred_tolerances() {
    let times: Vec<f64> = (1..100).map(|k| 0.03 * f64::from(k)).collect();
    for (name, text, forms, exact) in SYSTEMS {
        let (system, initial) = system(text);
        let problem = Problem::new(&system, initial, 3.0);
        for (method, integrator) in METHODS {
            for &form in forms {
                for tolerance in [1e-4, 1e-7, 1e-10] {
                    let run = |save: Save| {
                        solve(&problem, &InForm { form, integrator: &*integrator() }, &options(tolerance, save))
                            .unwrap()
                    };
                    let saved = run(Save::At(times.clone()));
                    let all = (0..saved.len()).map(|k| error(&saved, exact, saved.times[k], saved.state(k)));
                    let at_times = all.fold(0.0, f64::max);
                    let dense = run(Save::Dense);
                    let mut x = dense.end.x.clone();
                    let all = times.iter().map(|&t| {
                        dense.eval(t, &mut x).unwrap();
                        error(&dense, exact, t, &x)
                    });
                    let on_polynomials = all.fold(0.0, f64::max);
                    let steps = [&saved, &dense].map(|solution| solution.statistics.steps);
                    println!(
                        "{name}, {method}, {}, {tolerance:e}: {at_times:.1e} {on_polynomials:.1e} {steps:?}",
                        form.name()
                    );
                    assert!(at_times < 100.0 * tolerance, "{name}, {method}, {form:?}, {tolerance:e}: {at_times:e}");
                    assert!(
                        on_polynomials < 100.0 * tolerance,
                        "{name}, {method}, {form:?}, {tolerance:e}: {on_polynomials:e}"
                    );
                }
            }
        }
    }
}

#[test]
fn runs_that_keep_no_values_between_steps_make_the_same_long_steps() {
    let (system, initial) = system(SYSTEMS[0].1);
    let problem = Problem::new(&system, initial, 3.0);
    for save in [Save::End, Save::Steps] {
        let solution =
            solve(&problem, &InForm { form: Form::Plain, integrator: &RadauIIa::default() }, &options(1e-7, save))
                .unwrap();
        // those of a tenth of the interval among them
        assert_eq!(solution.statistics.steps, 18);
        assert!((solution.end.x[1] - 60.0_f64.sin()).abs() < 1e-7);
    }
}

#[test]
fn jumps_of_algebraic_unknowns_do_not_stop_a_run() {
    for (when, after) in [(1.0, "x >= 1"), (1.0 + 1e-9, "x > 1.000000001")] {
        let text = format!(
            r#"states = ["x", "y", "z"]
equations = ["der(x) = 1", "y = if({after}, sin(5*x), 2)", "der(z) = -z"]
[initial]
fix = {{ x = 0, z = 1 }}"#
        );
        let (system, initial) = system(&text);
        let problem = Problem::new(&system, initial, 3.0);
        let times: Vec<f64> = (1..300).map(|k| 0.01 * f64::from(k)).collect();
        for tolerance in [1e-4, 1e-7, 1e-10] {
            let options = options(tolerance, Save::At(times.clone()));
            let solution =
                solve(&problem, &InForm { form: Form::Plain, integrator: &RadauIIa::default() }, &options).unwrap();
            for k in 0..solution.len() {
                let (t, x) = (solution.times[k], solution.state(k));
                let exact = if t > when { (5.0 * t).sin() } else { 2.0 };
                // the jump itself is somewhere in a step
                assert!(
                    (x[1] - exact).abs() < 100.0 * tolerance || (t - when).abs() < 1e-6,
                    "{after}, {tolerance:e}: {t}"
                );
            }
            println!("{after}, {tolerance:e}: {:?}", solution.statistics);
        }
    }
}

#[test]
fn recorded_events_on_algebraic_unknowns_are_within_a_hundred_tolerances() {
    let (system, initial) = system(SYSTEMS[0].1);
    let problem = Problem::new(&system, initial, 3.0).record_when("falls", |_, x| x[1] - 0.5);
    for (method, integrator) in METHODS {
        for tolerance in [1e-4, 1e-7, 1e-10] {
            let solution = solve(&problem, &*integrator(), &options(tolerance, Save::End)).unwrap();
            // sin(20 t) falls through 1/2 at (5π/6 + 2πk)/20
            let pi = std::f64::consts::PI;
            let exact: Vec<f64> =
                (0..10).map(|k| (5.0 / 6.0 + 2.0 * f64::from(k)) * pi / 20.0).filter(|t| *t < 3.0).collect();
            assert_eq!(solution.events.len(), exact.len(), "{method}, {tolerance:e}");
            for (event, exact) in solution.events.iter().zip(exact) {
                assert!(
                    (event.t - exact).abs() < 100.0 * tolerance / 20.0,
                    "{method}, {tolerance:e}: {} {exact}",
                    event.t
                );
                assert!((event.x[1] - 0.5).abs() < 100.0 * tolerance, "{method}, {tolerance:e}: {}", event.x[1]);
            }
        }
    }
}

#[test]
fn constraints_hold_between_the_steps_at_small_tolerances() {
    let model = super::files::read("pendulum-horizontal", &[]);
    let (formulas, initial) = super::files::system(&model);
    let system = System::new(formulas, Interpreted);
    let times: Vec<f64> = (1..=40).map(|k| 0.25 * f64::from(k)).collect();
    let options = Options { tolerance: Tolerance::new(1e-12, 1e-12), save: Save::At(times), ..Options::default() };
    let problem = Problem::new(&system, initial.clone(), 10.0);
    let solution =
        solve(&problem, &InForm { form: Form::QuasiLinear, integrator: &RadauIIa::default() }, &options).unwrap();
    for k in 0..solution.len() {
        let x = solution.state(k);
        let g = x[0] * x[0] + x[1] * x[1] - 1.0;
        assert!(g.abs() < 1e-12, "at {}: {g:e}", solution.times[k]);
    }
}
