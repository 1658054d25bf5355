//! Good model files become the formulas they say.

use daedal::Start;
use daedal::graph::Tape;
use daedal::motion::{Formulas, Motion};
use daedal_model::{Mistake, Model, ModelKind, ReadingLimits};
use std::path::Path;

fn text(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/good").join(name)).unwrap()
}

fn read_with(name: &str, overrides: &[(&str, f64)]) -> Model {
    let overrides: Vec<(String, f64)> = overrides.iter().map(|(n, x)| ((*n).to_string(), *x)).collect();
    Model::read(name, &text(name), &overrides).unwrap_or_else(|mistakes| panic!("{}", mistakes.lines()))
}

fn read(name: &str) -> Model {
    read_with(name, &[])
}

fn motion(model: &Model) -> &Formulas {
    match &model.kind {
        ModelKind::Motion { formulas, .. } => formulas,
        ModelKind::Dae { .. } | ModelKind::Hybrid(_) => panic!("not a mechanism"),
    }
}

/// Values of all formulas at inputs 0.1, 0.2, … with the parameters bound.
fn evaluate(formulas: &Formulas, expressions: &[daedal::graph::Expr]) -> Vec<f64> {
    let n = formulas.graph.inputs().len() - formulas.parameters.len();
    let mut inputs: Vec<f64> = (1..=n).map(|k| 0.1 * k as f64).collect();
    inputs.extend(formulas.parameters.iter().map(|(_, x)| *x));
    Tape::new(&formulas.graph, expressions).evaluate(&inputs)
}

#[test]
fn every_good_file_is_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/good");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        read(&name);
        count += 1;
    }
    assert!(count >= 5);
}

#[test]
fn the_pendulum_is_what_the_design_says() {
    let model = read("pendulum.toml");
    assert_eq!(model.time, Some((0.0, 5.0)));
    let f = motion(&model);
    assert_eq!((f.sizes.positions, f.sizes.velocities, f.sizes.holonomic, f.sizes.invariants), (2, 2, 1, 1));
    // t, x, y, vx, vy = 0.1 … 0.5
    let values =
        evaluate(f, &[f.force[0], f.force[1], f.holonomic[0], f.invariant[0], f.kinematics[1], f.outputs[0].1]);
    let (x, y, vx, vy) = (0.1f64 * 2.0, 0.1f64 * 3.0, 0.1f64 * 4.0, 0.1f64 * 5.0);
    let energy = 1.0 / 2.0 * (vx * vx + vy * vy) + 1.0 * 13.75 * y;
    assert_eq!(values, [0.0, -13.75, x * x + y * y - 1.0, energy, vy, x.atan2(-y)]);
    let ModelKind::Motion { initial, texts, .. } = &model.kind else { unreachable!() };
    assert_eq!(initial.p, [Start::Fixed(0.0), Start::Guess(-1.0)]);
    assert_eq!(initial.v, [Start::Fixed(2.8), Start::Guess(0.0)]);
    assert_eq!(initial.lambda, [Start::Unknown]);
    assert_eq!(texts.holonomic[0].to_string(), "x^2 + y^2 - L^2");
    // the parameters stay symbols
    assert_eq!(f.graph.formula(f.force[1]), "-m*g");
    assert_eq!(model.structural, Vec::<String>::new());
}

#[test]
fn a_chain_grows_with_its_parameter() {
    for n in [1, 5, 40] {
        let model = read_with("chain.toml", &[("N", f64::from(n))]);
        let f = motion(&model);
        assert_eq!(f.sizes.positions, 2 * n as usize);
        assert_eq!(f.names.holonomic.last().unwrap(), &format!("link[{n}]"));
        assert_eq!(model.structural, ["N"]);
        assert_eq!(
            f.parameters.iter().find(|(name, _)| *name == format!("m[{n}]")).unwrap().1,
            1.0 + f64::from(n) / 10.0
        );
        // the last link joins the last two masses: 4 coordinates and L
        let inputs = f.graph.depends_on(*f.holonomic.last().unwrap());
        assert_eq!(inputs.len(), if n == 1 { 3 } else { 5 });
    }
}

#[test]
fn an_empty_range_has_no_entries() {
    let text = text("chain.toml")
        .replace("velocities = [", "velocities = [\"extra\", ")
        .replace("positions  = [", "positions = [\"more\", ");
    let text = text
        .replace("mass   = [", "mass = [1, ")
        .replace("forces = [", "forces = [0, ")
        .replace("m = [\"", "m = [1, \"");
    let model = Model::read("chain", &text, &[("N".to_string(), 0.0)]).unwrap();
    assert_eq!(motion(&model).sizes.positions, 1);
    assert_eq!(motion(&model).sizes.holonomic, 0);
}

#[test]
fn every_section_arrives() {
    let model = read("everything.toml");
    assert_eq!(model.time, Some((0.0, std::f64::consts::PI)));
    assert_eq!((model.solve.rtol, model.solve.hmax), (Some(1e-8), Some(0.1)));
    assert_eq!(model.solve.formulation.as_deref(), Some("psf+i"));
    let f = motion(&model);
    assert_eq!(f.names.positions, ["q[1]", "q[2]", "z"]);
    assert_eq!(f.names.holonomic, ["arm[1]"]);
    assert_eq!(f.mass.len(), 5);
    assert!(f.parameters.contains(&("P[2,1]".to_string(), 3.0)));
    let names: Vec<&str> = f.outputs.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["acceleration", "rate[1]", "rate[2]", "warming", "pressure"]);
    // t q1 q2 z u w vz heat drag contact1 λ μ a…
    let at: Vec<f64> = (1..=15).map(|k| 0.1 * f64::from(k)).collect();
    let (t, q1, q2, z, u, w, vz) = (at[0], at[1], at[2], at[3], at[4], at[5], at[6]);
    let (heat, drag) = (at[7], at[8]);
    let values = evaluate(f, &[f.force[1], f.kinematics[1], f.nonholonomic[0], f.auxiliary[0], f.outputs[0].1]);
    let speed = (u * u + w * w).sqrt();
    let switched = if speed > 1.0 && !(z <= 0.0 || t < 0.5) { heat } else { -heat };
    assert_eq!(values[0], -4.0 * q2 + switched - drag);
    assert_eq!(values[1], q1.cos() * w);
    assert_eq!(values[2], q1.cos() * u - q1.sin() * w + vz);
    assert_eq!(values[3], drag - (u.abs().powf(2.5) * 1.0 + w - u));
    assert_eq!(values[4], at[12]);
    assert_eq!(model.structural, ["N", "e"]);
    let ModelKind::Motion { initial, .. } = &model.kind else { unreachable!() };
    assert_eq!(initial.r, [Start::Fixed(0.0)]);
    assert_eq!(initial.w, [Start::Guess(2.5)]);
    assert_eq!(initial.p[1], Start::Fixed(0.2));
    assert_eq!(initial.lambda, [Start::Guess(0.0)]);
}

#[test]
fn conditions_are_evaluated_with_the_numbers_of_the_parameters() {
    let text = text("pendulum.toml").replace("# conditions", "conditions");
    let model = Model::read("pendulum", &text, &[("L".to_string(), 2.0)]).unwrap();
    let ModelKind::Motion { initial, .. } = &model.kind else { unreachable!() };
    let at = Motion { t: 0.0, p: &[0.0, -2.0], v: &[3.0, 4.0], r: &[], w: &[], s: &[], lambda: &[0.0], mu: &[] };
    assert_eq!(initial.conditions[0].value(&at), 5.0 / 2.0 - 2.8);
}

#[test]
fn a_general_system_knows_its_derivatives() {
    let model = read("oscillator_dae.toml");
    let ModelKind::Dae { formulas: f, initial, texts, .. } = &model.kind else { panic!("not a general system") };
    assert_eq!(f.states, ["x", "y", "lambda1"]);
    assert_eq!((f.orders.as_slice(), f.levels), (&[2, 1, 0][..], 2));
    assert_eq!(texts[2].to_string(), "x + y = sin(t)");
    assert_eq!(initial.derivatives[0], [Start::Guess(1.0), Start::Unknown, Start::Unknown]);
    assert_eq!(initial.conditions.len(), 1);
    // t x y l x' y' l' x'' y'' l'' c
    let inputs = [0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 3.0];
    let residuals: Vec<_> = f.equations.iter().map(|(_, e)| *e).collect();
    let values = Tape::new(&f.graph, &residuals).evaluate(&inputs);
    assert_eq!(values, [7.0 - (3.0 + 3.0), 0.0 - (5.0 - 3.0), 3.0 - 0.5f64.sin()]);
}

#[test]
fn long_chains_of_definitions_need_no_deep_stack() {
    let model = r#"
        [model]
        name = "chain of definitions"
        [parameters]
        "a" = "b"
        b = 1
        N = 50000
        [definitions]
        "down[i] for i in 1..N" = "if(i == N, x, down[i+1] + 1)"
        [motion]
        positions = ["x"]
        velocities = ["v"]
        mass = [1]
        forces = ["down[1]"]
    "#;
    let model = Model::read("chain", model, &[]).unwrap_or_else(|m| panic!("{}", m.lines()));
    let f = motion(&model);
    assert_eq!(evaluate(f, &[f.force[0]]), [0.2 + 49999.0]);
}

const OSCILLATOR: &str =
    "[model]\nname = 'a'\n[motion]\npositions = ['x']\nvelocities = ['v']\nmass = [1]\nforces = ['FORCE']\n";

#[test]
fn a_long_circle_of_definitions_is_told_once() {
    let definitions = (0..5000).map(|k| format!("d{k} = 'd{} + 1'\n", (k + 1) % 5000)).collect::<Vec<_>>().concat();
    let text = format!("{}[definitions]\n{definitions}", OSCILLATOR.replace("FORCE", "d0"));
    let mistakes = Model::read("circle", &text, &[]).unwrap_err();
    assert!(matches!(mistakes.list(), [Mistake::Cycle { .. }]), "{}", mistakes.lines());
}

#[test]
fn definitions_used_twice_are_computed_once() {
    // 2^60 additions if every use were computed again
    let definitions = (0..60).map(|k| format!("d{k} = 'd{0} + d{0}'\n", k + 1)).collect::<Vec<_>>().concat();
    let text = format!("{}[definitions]\n{definitions}d60 = 'x'\n", OSCILLATOR.replace("FORCE", "d0"));
    let model = Model::read("doubled", &text, &[]).unwrap();
    let f = motion(&model);
    assert_eq!(evaluate(f, &[f.force[0]]), [0.2 * 2f64.powi(60)]);
}

#[test]
fn work_is_bounded_by_the_limits() {
    let text = OSCILLATOR.replace("FORCE", "sum(x for i in 1..101)");
    let entries = ReadingLimits { entries: 100, ..ReadingLimits::default() };
    let operations = ReadingLimits { operations: 100, ..ReadingLimits::default() };
    for limits in [entries, operations] {
        let mistakes = Model::read_within("large", &text, &[], limits).unwrap_err();
        assert!(matches!(mistakes.list(), [Mistake::TooLarge { limit: 100, .. }]), "{}", mistakes.lines());
    }
    assert!(Model::read("large", &text, &[]).is_ok());
}

#[test]
fn many_mistakes_are_told_up_to_a_hundred() {
    let definitions = (0..500).map(|k| format!("d{k} = 'u{k}'\n")).collect::<Vec<_>>().concat();
    let text = format!("{}[definitions]\n{definitions}", OSCILLATOR.replace("FORCE", "0"));
    assert_eq!(Model::read("many", &text, &[]).unwrap_err().list().len(), 100);
}

#[test]
fn parameters_that_shape_the_model_are_known() {
    let text = OSCILLATOR.replace("FORCE", "x^n + if(a > 1, x, 0) + b*c[k]")
        + "[parameters]\nn = 2\na = 'd + 1'\nb = 3\nc = [1, 2]\nk = 2\nd = 1\n";
    let model = Model::read("shape", &text, &[]).unwrap();
    assert_eq!(model.structural, ["n", "a", "k", "d"]);
    let f = motion(&model);
    assert_eq!(evaluate(f, &[f.force[0]]), [0.2f64.powi(2) + 0.2 + 3.0 * 2.0]);
}

#[test]
fn a_general_system_may_keep_invariants() {
    let text = r#"
        [model]
        name = "oscillator"
        [dae]
        states = ["x"]
        equations = ["der(x, 2) = -x"]
        invariants = { energy = "der(x)^2 + x^2" }
    "#;
    let model = Model::read("oscillator.toml", text, &[]).unwrap();
    let ModelKind::Dae { formulas, .. } = &model.kind else { panic!("a general system") };
    assert_eq!(formulas.graph.formula(formulas.invariants[0].1), "x'^2 + x^2");
    let wrong = text.replace("der(x)^2", "der(x, 2)^2");
    let message = Model::read("oscillator.toml", &wrong, &[]).unwrap_err().to_string();
    assert!(format!("{message:?}").contains("invariant"), "{message}");
}

#[test]
fn a_file_may_wish_for_a_method_and_a_formulation() {
    let with = |wishes: &str| {
        let text = text("pendulum.toml");
        assert!(!text.contains("[solve]"));
        Model::read("pendulum", &format!("{text}\n[solve]\n{wishes}\n"), &[])
    };
    let model = with("method = \"hedop5\"\nformulation = \"eom1\"").unwrap_or_else(|m| panic!("{}", m.lines()));
    assert_eq!((model.solve.method.as_deref(), model.solve.formulation.as_deref()), (Some("hedop5"), Some("eom1")));
    for (wish, told) in
        [("method = \"hedop\"", "`hedop5`"), ("formulation = \"gll\"", "`ggl`"), ("method = 3", "string")]
    {
        let Err(mistakes) = with(wish) else { panic!("{wish} is taken") };
        assert!(mistakes.lines().contains(told), "{}", mistakes.lines());
    }
}

const GENERAL: &str = "[model]\nname = \"m\"\ntime = [0, 1]\n[dae]\nstates = [\"x\"]\nequations = [\"der(x) = -x\"]\n";

#[test]
fn outputs_may_use_outputs_in_any_order() {
    let text = format!("{GENERAL}[output]\ntwice = \"2*square\"\nsquare = \"x^2\"\nx2 = \"twice + square\"\n");
    let model = Model::read("m.toml", &text, &[]).unwrap();
    let ModelKind::Dae { formulas, .. } = &model.kind else { unreachable!() };
    let outputs: Vec<_> = formulas.outputs.iter().map(|(_, e)| *e).collect();
    let tape = daedal::graph::Tape::new(&formulas.graph, &outputs);
    let mut inputs = vec![0.0; formulas.graph.inputs().len()];
    inputs[1] = 3.0;
    assert_eq!(tape.evaluate(&inputs), [18.0, 9.0, 27.0]);
}

#[test]
fn outputs_that_need_each_other_are_told_with_their_path() {
    let text = format!("{GENERAL}[output]\na = \"b + 1\"\nb = \"c\"\nc = \"a*x\"\n");
    let said = format!("{:?}", miette_text(&text));
    assert!(said.contains("a → b → c → a"), "{said}");
}

#[test]
fn outputs_are_no_names_for_equations_and_give_way_to_definitions() {
    let text = GENERAL.replace("der(x) = -x", "der(x) = -energy") + "[output]\nenergy = \"x^2\"\n";
    assert!(miette_text(&text).contains("energy"));
    // an output that shows a definition under its own name
    let text = format!("{GENERAL}[definitions]\nenergy = \"x^2\"\n[output]\nenergy = \"energy\"\n");
    assert!(Model::read("m.toml", &text, &[]).is_ok());
}

#[test]
fn lambda_and_mu_are_names_unless_a_dot_follows() {
    let text = GENERAL.replace("[dae]", "[parameters]\nmu = 0.3\nlambda = 2\n[dae]").replace("-x", "-mu*x*lambda");
    let model = Model::read("m.toml", &text, &[("mu".to_string(), 0.5)]).unwrap();
    assert_eq!(model.parameters, [("mu".to_string(), 0.5), ("lambda".to_string(), 2.0)]);
    let said = miette_text(&GENERAL.replace("-x", "-mu*x"));
    assert!(said.contains("mu.NAME"), "{said}");
}

#[test]
fn equations_know_their_lines() {
    let text = GENERAL.replace("[\"der(x) = -x\"]", "[\n  \"der(x) = -x\",\n  \"0 = 0*x\",\n]");
    let model = Model::read("m.toml", &text, &[]).unwrap();
    let ModelKind::Dae { texts, .. } = &model.kind else { unreachable!() };
    assert_eq!(texts.iter().map(|written| written.line).collect::<Vec<_>>(), [7, 8]);
}

/// All that is said about the mistakes of a file.
fn miette_text(text: &str) -> String {
    let mistakes = Model::read("m.toml", text, &[]).expect_err("a mistake");
    format!("{mistakes}: {mistakes:?}")
}
