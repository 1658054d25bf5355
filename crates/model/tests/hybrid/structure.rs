//! Systems with modes become the equations, conditions and changes that their files say.

use daedal::Start;
use daedal::graph::{Compiler, Expr, Graph, Interpreted, Tape};
use daedal::hybrid::{Combination, Detection, Hybrid, Logic, Restart, Schedule, Trigger};
use daedal_model::{HybridModel, HybridSliding, HybridTrigger, Methods, Model, ModelKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models")
}

fn file(name: &str) -> Model {
    let text = std::fs::read_to_string(folder().join(format!("{name}.toml"))).unwrap();
    read_with(&text, &[])
}

fn read_with(text: &str, overrides: &[(&str, f64)]) -> Model {
    let overrides: Vec<(String, f64)> = overrides.iter().map(|(name, x)| ((*name).to_string(), *x)).collect();
    Model::read("model.toml", text, &overrides).unwrap_or_else(|mistakes| panic!("{}", mistakes.lines()))
}

fn hybrid(model: &Model) -> &HybridModel {
    match &model.kind {
        ModelKind::Hybrid(hybrid) => hybrid,
        _ => panic!("{} has no modes", model.name),
    }
}

fn build(model: &HybridModel) -> Hybrid<'static> {
    let compiler: Arc<dyn Compiler> = Arc::new(Interpreted);
    model.build(&compiler, &Methods::default())
}

/// Names of the modes, and from which to which the transitions lead.
fn structure(model: &Model) -> (Vec<&str>, Vec<(usize, usize)>) {
    let hybrid = hybrid(model);
    let names = hybrid.modes.iter().map(|mode| mode.name.as_str()).collect();
    (names, hybrid.transitions.iter().map(|t| (t.from, t.to)).collect())
}

#[test]
fn every_file_with_modes_is_read_and_built() {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_string();
        let text = std::fs::read_to_string(&path).unwrap();
        let model = Model::read(&name, &text, &[]).unwrap_or_else(|mistakes| panic!("{}", mistakes.lines()));
        let ModelKind::Hybrid(hybrid) = &model.kind else { continue };
        assert!(model.time.is_some() && model.description.is_some() && model.source.is_some(), "{name}");
        let system = build(hybrid);
        for (mode, built) in hybrid.modes.iter().zip(&system.modes) {
            assert_eq!(mode.unknowns, built.flow.names(), "{name}, {}", mode.name);
        }
        for transition in &system.transitions {
            let Trigger::When(condition) = &transition.trigger else { continue };
            let x = vec![0.5; hybrid.modes[transition.from].unknowns.len()];
            for function in &condition.functions {
                assert!((function.value)(0.1, &x, &x).is_finite(), "{name}: {}", function.name);
            }
        }
        let problem = hybrid.problem(&system, 1.0);
        assert_eq!(problem.initial.states.len(), hybrid.modes[problem.initial.mode].unknowns.len(), "{name}");
        found.push(name);
    }
    for name in
        ["bouncing-ball", "bouncing-ball-rest", "rope-cut", "friction-bodies", "mass-on-belt", "boost-converter"]
    {
        assert!(found.iter().any(|known| known == name), "{name}");
    }
}

#[test]
fn a_mode_lays_its_tables_over_the_common_ones() {
    let model = file("mass-on-belt");
    assert_eq!(structure(&model), (vec!["faster", "slower", "stick"], vec![(0, 1), (1, 0), (2, 0), (2, 1)]));
    let hybrid = hybrid(&model);
    assert_eq!(hybrid.modes[0].unknowns, ["x", "v"]);
    assert_eq!(hybrid.modes[2].unknowns, ["x", "v", "share"]);
    assert_eq!(hybrid.sliding, [HybridSliding { between: (0, 1), mode: 2, set: Vec::new() }]);
    assert_eq!((hybrid.options.chatter_time, hybrid.options.probe), (Some(1e-3), 1e-8));
    assert_eq!(hybrid.initial.states, [Start::Fixed(0.0), Start::Fixed(0.0)]);
    let ModelKind::Dae { formulas, .. } = &hybrid.modes[1].kind else { panic!("a general system") };
    let residuals: Vec<Expr> = formulas.equations.iter().map(|(_, e)| *e).collect();
    // t x v x' v' and the parameters
    let mut inputs = vec![0.0, 0.3, 0.7, 0.1, 0.2];
    inputs.extend(formulas.parameters.iter().map(|(_, value)| *value));
    let friction = 1.0 / (1.0 + 3.0 * 0.5);
    let values = Tape::new(&formulas.graph, &residuals).evaluate(&inputs);
    assert!((values[0] - (0.1 - 0.7)).abs() < 1e-15 && (values[1] - (0.2 - (-0.9 + friction))).abs() < 1e-15);
}

#[test]
fn switching_functions_are_positive_while_their_statement_is_false() {
    let model = file("friction-bodies");
    let system = build(hybrid(&model));
    let eps = 0.003;
    for (transition, sign) in system.transitions.iter().zip([1.0, -1.0]) {
        let Trigger::When(condition) = &transition.trigger else { panic!("a condition") };
        let [function] = &condition.functions[..] else { panic!("one function") };
        let g = |v1: f64, v2: f64| (function.value)(0.0, &[1.0, 1.0, v1, v2], &[0.0; 4]);
        assert!(function.strict && !function.uses_derivatives);
        assert!((g(0.5, 0.25) - (sign * 0.25 + eps)).abs() < 1e-15);
        assert!(g(-2.0 * eps * sign, 0.0) < 0.0);
    }
}

#[test]
fn switching_functions_have_formulas_for_other_graphs() {
    let model = file("mass-on-belt");
    let system = build(hybrid(&model));
    let Trigger::When(condition) = &system.transitions[2].trigger else { panic!("a condition") };
    let formula = condition.functions[0].formula.as_ref().expect("a formula");
    let mut graph = Graph::new();
    let (t, x) = (graph.input("t"), ["a", "b", "c"].map(|name| graph.input(name)));
    let g = graph.with(|| formula(t, &x));
    assert_eq!(Tape::new(&graph, &[g]).evaluate(&[0.0, 0.25, 9.0, 9.0]), [1.75]);
}

#[test]
fn derivatives_of_a_general_system_are_told_apart() {
    let text = r#"
        [model]
        name = "second order"
        [parameters]
        k = 4
        [dae]
        states = ["x", "y"]
        equations = ["der(x, 2) = -k*x", "der(y) = x"]
        [modes.only]
        keep = ["x", "der(x)"]
        [[transitions]]
        when = "der(x) < 0 or not (der(y) <= t and der(x, 2) >= k)"
        set = { "der(x)" = "-0.5*der(x) + der(y)" }
        [initial]
        fix = { x = 1, "der(x)" = 2 }
    "#;
    let model = read_with(text, &[]);
    let model = hybrid(&model);
    assert_eq!(model.modes[0].unknowns, ["x", "y", "x'"]);
    assert_eq!(model.modes[0].keep, ["x", "x'"]);
    assert_eq!(model.initial.states, [Start::Fixed(1.0), Start::Unknown, Start::Fixed(2.0)]);
    let system = build(model);
    let transition = &system.transitions[0];
    let Trigger::When(condition) = &transition.trigger else { panic!("a condition") };
    let names: Vec<&str> = condition.functions.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["der(x) < 0", "der(y) <= t", "der(x, 2) >= k"]);
    let not = Logic::Not(Box::new(Logic::All(vec![Logic::Is(1), Logic::Is(2)])));
    assert_eq!(condition.logic, Logic::Any(vec![Logic::Is(0), not]));
    // x' is an unknown, y' and x'' are not
    assert_eq!(condition.functions.iter().map(|f| f.uses_derivatives).collect::<Vec<_>>(), [false, true, true]);
    assert_eq!(condition.functions.iter().map(|f| f.strict).collect::<Vec<_>>(), [true, false, false]);
    assert_eq!(condition.functions.iter().map(|f| f.formula.is_some()).collect::<Vec<_>>(), [true, false, false]);
    let (x, rates) = ([1.0, 2.0, 3.0], [10.0, 20.0, 30.0]);
    let g: Vec<f64> = condition.functions.iter().map(|f| (f.value)(5.0, &x, &rates)).collect();
    assert_eq!(g, [3.0, 20.0 - 5.0, 4.0 - 30.0]);
    let mut new = x;
    transition.transfer.as_ref().expect("a change")(5.0, &x, &rates, &mut new);
    assert_eq!(new, [1.0, 2.0, -1.5 + 20.0]);
}

#[test]
fn equations_of_motion_switch_by_all_their_unknowns() {
    let model = file("bouncing-ball-rest");
    let model = hybrid(&model);
    assert_eq!(model.modes[0].unknowns, ["v'", "v", "y"]);
    assert_eq!(model.modes[1].unknowns, ["v'", "lambda.floor", "v", "y"]);
    assert_eq!(model.transitions[0].after_accumulation, Some(1));
    let system = build(model);
    let mut new = [f64::NAN, -3.0, -1e-9];
    system.transitions[0].transfer.as_ref().expect("a change")(0.4, &[-9.81, -3.0, -1e-9], &[0.0; 3], &mut new);
    assert!((new[1] - 2.1).abs() < 1e-15 && new[2] == 0.0);
    let Trigger::When(condition) = &system.transitions[1].trigger else { panic!("a condition") };
    assert_eq!((condition.functions[0].value)(0.0, &[0.0, 7.0, 0.0, 0.0], &[0.0; 4]), 7.0);
    // the force of the floor exists in one mode only, the energy in both
    let outputs = |mode: usize| match &model.modes[mode].kind {
        ModelKind::Motion { formulas, .. } => formulas.outputs.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>(),
        _ => panic!("equations of motion"),
    };
    assert_eq!((outputs(0), outputs(1)), (vec!["energy".to_string()], vec!["energy".into(), "floor".into()]));
}

#[test]
fn schedules_are_times_or_periods() {
    let model = file("boost-converter");
    let hybrid = hybrid(&model);
    assert_eq!(hybrid.transitions.len(), 8);
    let schedule = |k: usize| match &hybrid.transitions[k].trigger {
        HybridTrigger::At(schedule) => schedule.clone(),
        HybridTrigger::When { .. } => panic!("a schedule"),
    };
    assert_eq!(schedule(4), Schedule::Every { first: 0.1, period: 0.16 });
    assert_eq!(schedule(6), Schedule::Every { first: 0.16, period: 0.16 });
    assert_eq!((hybrid.initial.mode, hybrid.initial.restart), (0, Some(Restart::LeastChange)));
    assert_eq!(hybrid.initial.states, [Start::Guess(10.0); 7]);
    let ModelKind::Dae { formulas, .. } = &hybrid.modes[2].kind else { panic!("a general system") };
    let names: Vec<&str> = formulas.equations.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["capacitor", "inductor", "loop", "resistor", "node", "switch", "diode"]);
}

const RELAY: &str = r#"
    [model]
    name = "relay"
    time = [0, 10]
    [solve]
    max_switches = 7
    max_immediate = 3
    formulation = "plain"
    [parameters]
    N = 2
    low = 1
    width = "low/4"
    [dae]
    states = ["x[i] for i in 1..N"]
    equations = ["der(x[i]) = u - shift for i in 1..N"]
    [definitions]
    shift = "x[1]*low"
    [modes.up]
    parameters = { u = 1 }
    method = "bdf"
    restart = "weighted"
    keep = ["x[i] for i in 1..N"]
    dwell = "low/2"
    [modes.down]
    parameters = { u = "-low", low = 3 }
    formulation = "array"
    [modes.off]
    definitions = { shift = 0 }
    parameters = { u = 0 }
    [[transitions]]
    from = ["up", "down"]
    to = "off"
    when = "x[N] > 2*low"
    hysteresis = "width"
    priority = 2
    [[transitions]]
    from = "*"
    to = "up"
    at = [1, "2 + k for k in 0..2"]
    restart = "least-change"
    keep = ["x[1]"]
    set = { "x[i] for i in 1..N" = "i*x[i] + low" }
    [[transitions]]
    from = "up"
    to = "down"
    every = "low"
    [sliding]
    detection = "three-points"
    method = "equivalent-control"
    [initial]
    mode = "up"
    guess = { "x[i] for i in 1..N" = 0 }
"#;

#[test]
fn every_key_arrives() {
    let model = read_with(RELAY, &[]);
    let hybrid = hybrid(&model);
    let (_, transitions) = structure(&model);
    assert_eq!(transitions, [(0, 2), (1, 2), (1, 0), (2, 0), (0, 1)]);
    let mode = &hybrid.modes[0];
    assert_eq!((mode.method, mode.restart, mode.dwell), (Some("bdf"), Restart::Weighted, 0.5));
    assert_eq!((mode.keep.clone(), mode.formulation.as_deref()), (vec!["x[1]".into(), "x[2]".into()], Some("plain")));
    assert_eq!(hybrid.modes[1].formulation.as_deref(), Some("array"));
    // numbers are those of the mode that is left
    assert_eq!((hybrid.transitions[0].hysteresis, hybrid.transitions[1].hysteresis), (0.25, 0.75));
    assert_eq!((hybrid.transitions[0].priority, hybrid.transitions[2].priority), (Some(2), None));
    let HybridTrigger::At(schedule) = &hybrid.transitions[2].trigger else { panic!("times") };
    assert_eq!(*schedule, Schedule::Times(vec![1.0, 2.0, 3.0, 4.0]));
    assert_eq!(hybrid.transitions[2].keep, ["x[1]"]);
    assert_eq!(hybrid.transitions[2].restart, Some(Restart::LeastChange));
    assert_eq!((hybrid.options.max_switches, hybrid.options.max_immediate), (7, 3));
    assert_eq!(hybrid.options.detection, Detection::ThreePoints);
    assert_eq!(hybrid.options.combination, Combination::EquivalentControl);
    let system = build(hybrid);
    let mut new = [0.0; 2];
    system.transitions[2].transfer.as_ref().expect("a change")(0.0, &[5.0, 7.0], &[0.0; 2], &mut new);
    assert_eq!(new, [5.0 + 3.0, 14.0 + 3.0]);
    assert_eq!(system.modes[0].dwell, 0.5);
}

#[test]
fn parameters_of_modes_are_set_by_the_name_of_the_mode() {
    let value = |model: &Model, mode: usize, name: &str| match &hybrid(model).modes[mode].kind {
        ModelKind::Dae { formulas, .. } => formulas.parameters.iter().find(|(known, _)| known == name).expect("it").1,
        _ => panic!("a general system"),
    };
    let model = read_with(RELAY, &[]);
    assert_eq!((value(&model, 0, "low"), value(&model, 1, "low"), value(&model, 1, "u")), (1.0, 3.0, -3.0));
    let names: Vec<&str> = model.parameters.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["N", "low", "width", "up.u", "down.low", "down.u", "off.u"]);
    assert_eq!(model.structural, ["N"]);
    let model = read_with(RELAY, &[("low", 8.0), ("down.u", 5.0)]);
    assert_eq!((value(&model, 0, "low"), value(&model, 1, "low"), value(&model, 1, "u")), (8.0, 3.0, 5.0));
    let refuse = |name: &str| {
        let overrides = [(name.to_string(), 1.0)];
        Model::read("a", RELAY, &overrides).unwrap_err().lines()
    };
    assert_eq!(
        refuse("u"),
        "a: `u` cannot be set: modes have numbers of their own for it (set `up.u`, `down.u` and `off.u`)"
    );
    assert_eq!(refuse("down.v"), "a: `down.v` cannot be set: the model has no such parameter (did you mean `down.u`?)");
    assert_eq!(refuse("down.u[3]"), "a: `down.u[3]` cannot be set: mode `down` has no such entry");
}

#[test]
fn definitions_and_outputs_are_computed_where_their_names_exist() {
    let text = RELAY.replace("[definitions]", "[definitions]\nonly = '2*force'\ntwice = '2*only'")
        + "[output]\nboth = 'x[1] + x[2]'\npull = 'twice + x[1]'\n";
    let text = text.replace("method = \"bdf\"", "definitions = { force = 'u*x[1]' }");
    let model = read_with(&text, &[]);
    let outputs = |mode: usize| match &hybrid(&model).modes[mode].kind {
        ModelKind::Dae { formulas, .. } => formulas.outputs.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>(),
        _ => panic!("a general system"),
    };
    assert_eq!((outputs(0), outputs(1)), (vec!["both".to_string(), "pull".into()], vec!["both".to_string()]));
    // a name that no mode has is a mistake, told once
    let mistakes = Model::read("a", &text.replace("'2*force'", "'2*forces'"), &[]).unwrap_err();
    assert_eq!(mistakes.list().len(), 1, "{}", mistakes.lines());
    assert!(mistakes.lines().contains("nothing is called `forces` (did you mean `force`?)"), "{}", mistakes.lines());
}

#[test]
fn outputs_that_mean_the_same_are_known() {
    let model = file("mass-on-belt");
    // the friction differs, the relative velocity does not
    assert_eq!(hybrid(&model).shared_outputs(&[0, 1]), ["relative"]);
    assert_eq!(hybrid(&model).shared_outputs(&[2]), ["relative", "friction"]);
    let model = file("hysteresis-relay");
    // the same formula with other numbers
    assert_eq!(hybrid(&model).shared_outputs(&[0, 1]), Vec::<String>::new());
}

#[test]
fn mistakes_in_the_common_part_are_told_once() {
    let text = RELAY.replace("u - shift", "u - shift + sin(y)").replace("width = \"low/4\"", "width = \"lo/4\"");
    let mistakes = Model::read("a", &text, &[]).unwrap_err();
    assert_eq!(mistakes.list().len(), 1, "{}", mistakes.lines());
    let text = RELAY.replace("u - shift", "u - shift + sin(y)");
    let mistakes = Model::read("a", &text, &[]).unwrap_err();
    assert_eq!(mistakes.list().len(), 1, "{}", mistakes.lines());
    assert!(mistakes.lines().contains("in mode `up`"), "{}", mistakes.lines());
}

#[test]
fn modes_may_have_equations_of_different_kinds() {
    let text = r#"
        [model]
        name = "different"
        [modes.swing]
        motion = { positions = ["x"], velocities = ["v"], mass = [1], forces = ["-x"] }
        [modes.decay]
        dae = { states = ["x"], equations = ["der(x) = -x"] }
        [[transitions]]
        from = "swing"
        to = "decay"
        when = "x < 0 and der(v) > 0.5"
        set = { x = "-v" }
        [[transitions]]
        from = "decay"
        to = "swing"
        at = 3
        set = { v = "der(x)" }
        [initial]
        mode = "swing"
        fix = { x = 1, v = 0 }
    "#;
    let model = read_with(text, &[]);
    let system = build(hybrid(&model));
    assert_eq!(system.modes[0].flow.names(), ["v'", "v", "x"]);
    assert_eq!(system.modes[1].flow.names(), ["x"]);
    let Trigger::When(condition) = &system.transitions[0].trigger else { panic!("a condition") };
    // accelerations are unknowns
    assert!(!condition.functions[1].uses_derivatives);
    assert_eq!((condition.functions[1].value)(0.0, &[2.0, 0.0, 0.0], &[]), -1.5);
    let mut new = [f64::NAN, f64::NAN, 0.5];
    system.transitions[1].transfer.as_ref().expect("a change")(3.0, &[0.5], &[-0.5], &mut new);
    assert_eq!(new[1..], [-0.5, 0.5]);
}
