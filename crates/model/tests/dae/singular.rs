//! Singular points are told with their time, in every form; regular systems are not stopped.

use super::runs::reason;
use daedal::dae::{Form, InForm, System, Unknowns};
use daedal::graph::Interpreted;
use daedal::method::Integrator;
use daedal::{Bdf, Initial, Options, Problem, RadauIIa, Solution, SolveError, StepFailure, Tolerance, solve};
use daedal_model::{Model, ModelKind};

/// Solve a file that is given here.
fn run_with(text: &str, form: Form, method: &dyn Integrator) -> Result<Solution<Unknowns>, SolveError<Unknowns>> {
    let model = Model::read("test.toml", text, &[]).unwrap_or_else(|mistakes| panic!("{}", mistakes.lines()));
    let ModelKind::Dae { formulas, initial, .. } = &model.kind else { panic!("a general system") };
    let system = System::new(formulas, Interpreted);
    let options = Options { tolerance: Tolerance::new(1e-7, 1e-7), max_steps: 100_000, ..Options::default() };
    solve(
        &Problem::new(&system, Initial::clone(initial), model.time.unwrap().1),
        &InForm { form, integrator: method },
        &options,
    )
}

fn run(text: &str, form: Form) -> Result<Solution<Unknowns>, SolveError<Unknowns>> {
    run_with(text, form, &RadauIIa::default())
}

/// The run stops at a singular point, which lies at this time; what was computed ends there.
fn singular_at(text: &str, form: Form, t: f64, near: f64) {
    for method in [&RadauIIa::default() as &dyn Integrator, &Bdf::default()] {
        match run_with(text, form, method) {
            Err(SolveError::Stopped { cause, partial }) => {
                let told = matches!(
                    cause,
                    StepFailure::ConstraintsSingular { .. }
                        | StepFailure::LeadingSingular { .. }
                        | StepFailure::CharacteristicChange { .. }
                );
                assert!(told && (cause.time() - t).abs() < near, "{form:?}: {cause}\n{text}");
                assert!(partial.end.t <= cause.time(), "{form:?}: {} {cause}", partial.end.t);
            }
            Err(error) => panic!("{form:?}: {}\n{text}", reason(&error)),
            Ok(solution) => panic!("{form:?}: passed to {:?}\n{text}", solution.end),
        }
    }
}

fn file(time: &str, dae: &str, initial: &str) -> String {
    format!("[model]\nname = \"test\"\ntime = {time}\n[dae]\n{dae}\n[initial]\n{initial}\n")
}

const BRANCHING: [&str; 2] = ["\"der(x) = -1\", \"0 = x^2 - y^2\"", "\"der(p) = -1\", \"0 = p^2 - q^2\""];

#[test]
fn branch_points_of_semi_explicit_systems_are_told() {
    let one =
        file("[0, 2]", &format!("states = [\"x\", \"y\"]\nequations = [{}]", BRANCHING[0]), "guess = { x = 1, y = 1 }");
    for form in [Form::Auto, Form::Plain, Form::QuasiLinear] {
        singular_at(&one, form, 1.0, 1e-3);
    }
    // the rank drops by two: no determinant changes its sign
    let states = "states = [\"x\", \"y\", \"p\", \"q\"]";
    let equations = format!("{states}\nequations = [{}, {}]", BRANCHING[0], BRANCHING[1]);
    let two = file("[0, 2]", &equations, "guess = { x = 1, y = 1, p = 1, q = -1 }");
    for form in [Form::Auto, Form::Plain, Form::QuasiLinear] {
        singular_at(&two, form, 1.0, 1e-3);
    }
    // a pitchfork: 0 = y (λ − y²) with λ = t − 1, along y = 0
    let pitchfork = "states = [\"l\", \"y\"]\nequations = [\"der(l) = 1\", \"0 = y*(l - y^2)\"]";
    singular_at(&file("[0, 2]", pitchfork, "guess = { l = -1, y = 0 }"), Form::Auto, 1.0, 1e-3);
}

#[test]
fn an_algebraic_unknown_that_loses_its_equation_is_told() {
    let states = "states = [\"x\", \"y\", \"z\"]";
    let equations = "equations = [\"der(x) = z\", \"der(y) = -1\", \"0 = y*z + x - 1\"]";
    let text = file("[0, 2]", &format!("{states}\n{equations}"), "fix = { x = 0.5, y = 1 }\nguess = { z = 0.5 }");
    singular_at(&text, Form::Auto, 1.0, 1e-3);
    singular_at(&text, Form::Plain, 1.0, 1e-3);
}

#[test]
fn a_singular_point_of_moving_equations_is_told_by_every_form() {
    // (2 cos t + sin t) y' = −3 y with x = 2 y, in mixed rows: singular where tan t = −2
    let equations = "states = [\"x\", \"y\"]\nequations = [\
        \"sin(t+1)*(cos(t)*der(x) + sin(t)*der(y)) = -sin(t+1)*(x+y)\",\
        \"cos(t+1)*(cos(t)*der(x) + sin(t)*der(y)) = -cos(t+1)*(x+y) + x - 2*y\"]";
    let text = file("[0, 2.1]", equations, "guess = { x = 1, y = 0.5 }");
    let t = std::f64::consts::PI - 2.0_f64.atan();
    for form in [Form::Auto, Form::Linear, Form::DerivativeArray] {
        singular_at(&text, form, t, 1e-2);
    }
}

#[test]
fn a_singular_point_inside_of_a_step_has_its_own_time() {
    // Clairaut: x = t x' + x'²/2 along x' = −2, which meets the singular solution x = −t²/2 at t = 2
    let text = file(
        "[0, 3]",
        "states = [\"x\"]\nequations = [\"x = t*der(x) + der(x)^2/2\"]",
        "fix = { x = 2, \"der(x)\" = -2 }",
    );
    singular_at(&text, Form::Auto, 2.0, 1e-3);
}

#[test]
fn leading_matrices_that_are_singular_at_every_time_do_not_stop_a_run() {
    let varactors = "[model]\nname = \"delta of varactors\"\ntime = [0, 3]\n[definitions]\n\
        c12 = \"1 + 0.1*(u1-u2)^2\"\nc13 = \"2 + 0.2*(u1-u3)^2\"\nc23 = \"0.7 + 0.3*(u2-u3)^2\"\n\
        [dae]\nstates = [\"u1\", \"u2\", \"u3\"]\n[dae.equations]\n\
        n1 = \"c12*(der(u1)-der(u2)) + c13*(der(u1)-der(u3)) + u1 = sin(3*t)\"\n\
        n2 = \"c12*(der(u2)-der(u1)) + c23*(der(u2)-der(u3)) + u2/2 = 0\"\n\
        n3 = \"c13*(der(u3)-der(u1)) + c23*(der(u3)-der(u2)) + u3/3 = 0\"\n\
        [initial]\nfix = { u1 = 0.5, u2 = -0.5 }\n";
    let end = run(varactors, Form::Auto).unwrap_or_else(|error| panic!("{}", reason(&error))).end.x;
    // the sum of the rows: all currents to ground
    assert!((end[0] + end[1] / 2.0 + end[2] / 3.0 - 9.0_f64.sin()).abs() < 1e-7, "{end:?}");
    let reference = [0.583_188_4, -0.079_512_1, -0.393_941_7];
    assert!(end.iter().zip(reference).all(|(x, y)| (x - y).abs() < 1e-6), "{end:?}");

    // x = 2 y, (4 + 2 cos t + sin t) y' = −3 y in rows that turn
    let equations = "states = [\"x\", \"y\"]\nequations = [\
        \"sin(t+1)*((2+cos(t))*der(x) + sin(t)*der(y)) = -sin(t+1)*(x+y) - cos(t+1)*(x-2*y)\",\
        \"cos(t+1)*((2+cos(t))*der(x) + sin(t)*der(y)) = -cos(t+1)*(x+y) + sin(t+1)*(x-2*y)\"]";
    let text = file("[0, 3]", equations, "guess = { x = 1, y = 0.5 }");
    // ∫ 3/(4 + 2 cos t + sin t) dt from 0 to 3 by the rule of Simpson
    let rate = |t: f64| 3.0 / (4.0 + 2.0 * t.cos() + t.sin());
    let n = 3000;
    let simpson = (0..n).map(|k| {
        let (a, h) = (3.0 * f64::from(k) / f64::from(n), 3.0 / f64::from(n));
        h / 6.0 * (rate(a) + 4.0 * rate(a + 0.5 * h) + rate(a + h))
    });
    let y = 0.5 * (-simpson.sum::<f64>()).exp();
    for form in [Form::Auto, Form::Linear, Form::DerivativeArray] {
        let end = run(&text, form).unwrap_or_else(|error| panic!("{form:?}: {}", reason(&error))).end.x;
        assert!((end[0] - 2.0 * y).abs() < 1e-6 && (end[1] - y).abs() < 1e-6, "{form:?}: {end:?} {y}");
    }
}

#[test]
fn systems_without_differential_part_are_watched_too() {
    let text = file(
        "[0, 2]",
        "states = [\"x\", \"y\"]\nequations = [\"x^2 = (t - 1.03)^2\", \"y = x\"]",
        "guess = { x = 1.03 }",
    );
    for form in [Form::Auto, Form::Plain, Form::QuasiLinear, Form::DerivativeArray] {
        singular_at(&text, form, 1.03, 1e-3);
    }
    let text = file(
        "[0, 2]",
        "states = [\"x\", \"y\", \"F\"]\nequations = [\"x^2 = (t - 1.03)^2\", \"y = x\", \"der(y) = F\"]",
        "guess = { x = 1.03 }",
    );
    for form in [Form::Auto, Form::QuasiLinear, Form::DerivativeArray] {
        singular_at(&text, form, 1.03, 1e-3);
    }
}

#[test]
fn an_index_that_rises_behind_a_jump_in_time_is_told() {
    let equations = "states = [\"x\", \"y\", \"w\"]\nequations = [\"der(x) = y\", \
                     \"0 = if(t < 5, y - cos(t), x - sin(t))\", \"der(w) = y^2\"]";
    let text = file("[0, 10]", equations, "guess = { x = 0, y = 1, w = 0 }");
    for method in [&RadauIIa::default() as &dyn Integrator, &Bdf::default()] {
        match run_with(&text, Form::Auto, method) {
            Err(SolveError::Stopped { cause, partial }) => {
                assert!((5.0 - 1e-6..5.5).contains(&cause.time()), "{cause}");
                assert!((partial.end.x[0] - partial.end.t.sin()).abs() < 1e-5, "{:?}", partial.end);
            }
            Err(error) => panic!("{}", reason(&error)),
            Ok(solution) => panic!("passed to {:?}", solution.end),
        }
    }
}

#[test]
fn an_invariant_that_is_slowly_none_later_is_told() {
    // energy is lost from t = 5 on, at less than a thousandth of its terms
    let dae = "states = [\"x\", \"v\"]\nequations = [\"der(x) = v\", \"der(v) = -x - if(t > 5, 9e-4, 0)*v\"]\n\
               invariants = { energy = \"x^2 + v^2\" }";
    let text = file("[0, 100]", dae, "guess = { x = 1, v = 0 }");
    match run(&text, Form::Auto) {
        Err(SolveError::Stopped { cause: StepFailure::NotInvariant { t, .. }, .. }) => {
            assert!((5.0..6.0).contains(&t), "{t}");
        }
        Err(error) => panic!("{}", reason(&error)),
        Ok(solution) => panic!("passed to {:?}", solution.end),
    }
}

#[test]
fn redundant_equations_are_judged_in_units_of_the_unknowns() {
    // x = 1 + t, and a row in small units that asks for something else from t = 1 on
    let dae = "states = [\"y\", \"x\"]\nequations = [\"der(y) = x*y\", \"x^2 = (1 + t)^2\", \
               \"1e-7*x = 1e-7*(1 + t + max(0, t - 1)^6)\"]";
    let text = file("[0, 3]", dae, "guess = { x = 1, y = 1 }");
    for form in [Form::Auto, Form::QuasiLinear, Form::DerivativeArray] {
        match run(&text, form) {
            Err(SolveError::Stopped { cause: StepFailure::Contradictory { t, .. }, .. }) => {
                assert!((1.0..2.6).contains(&t), "{form:?} {t}");
            }
            Err(error) => panic!("{form:?} {}", reason(&error)),
            Ok(solution) => panic!("{form:?} passed to {:?}", solution.end),
        }
    }
}

#[test]
fn equations_that_agree_do_not_contradict_each_other_at_loose_tolerances() {
    let equations = "states = [\"x\", \"y\", \"u\", \"v\", \"l\"]\nequations = [\"der(x) = u\", \"der(y) = v\", \
                     \"der(u) = -l*x\", \"der(v) = -l*y - 9.81\", \"x^2 + y^2 = 1\", \"x*u + y*v = 0\"]";
    let text = file("[0, 10]", equations, "guess = { x = 1, y = 0, u = 0, v = 0, l = 0 }");
    let ModelKind::Dae { formulas, initial, .. } = Model::read("test.toml", &text, &[]).unwrap().kind else {
        unreachable!()
    };
    let system = System::new(&formulas, Interpreted);
    for tolerance in [1e-3, 1e-4, 1e-5] {
        let options = Options { tolerance: Tolerance::new(tolerance, tolerance), ..Options::default() };
        let problem = Problem::new(&system, Initial::clone(&initial), 10.0);
        let solution = solve(&problem, &RadauIIa::default(), &options);
        let x = solution.unwrap_or_else(|error| panic!("{tolerance}: {}", reason(&error))).end.x;
        // energy
        let energy = 0.5 * (x[2] * x[2] + x[3] * x[3]) + 9.81 * x[1];
        assert!(energy.abs() < 1e3 * tolerance, "{tolerance}: {energy}");
    }
}

#[test]
fn fixed_values_that_contradict_are_refused_whatever_stands_beside_them() {
    let dae = "states = [\"p\", \"x\", \"y\"]\nequations = [\"der(p) = -p\", \"der(x) + der(y) = 1\", \"0 = y - x\"]";
    let text = file("[0, 1]", dae, "fix = { p = 1e8, x = 0, y = 0.05 }");
    match run(&text, Form::Auto) {
        Err(SolveError::Analysis(error)) => assert!(error.to_string().contains("5.0e-2"), "{error}"),
        Err(error) => panic!("{}", reason(&error)),
        Ok(solution) => panic!("passed to {:?}", solution.end),
    }
}
