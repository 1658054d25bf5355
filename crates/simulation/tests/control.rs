//! Control through the library: model files in, facts out.

use daedal_simulation::control::{ControlReport, FeedbackKind, control};
use daedal_simulation::{Model, SaveSetting, Settings, Unwatched, solve};
use std::path::Path;

fn shipped(name: &str) -> Model {
    Model::load(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(name)).unwrap()
}

fn read(rest: &str) -> Model {
    Model::read("plant.toml", &format!("[model]\nname = 'plant'\ntime = [0, 1]\n{rest}")).unwrap()
}

fn look(model: &Model) -> ControlReport {
    control(model, None, None).unwrap()
}

fn unknown(report: &ControlReport) -> String {
    report.systems[0].1.as_ref().err().cloned().unwrap_or_default()
}

/// Values of the last point of a run by name.
fn end(model: &Model, name: &str) -> f64 {
    let settings = Settings { rtol: Some(1e-9), save: SaveSetting::End, ..Settings::default() };
    let run = solve(model, &settings, &mut Unwatched).unwrap().record().unwrap();
    let column = run.columns.iter().position(|column| column.name == name).unwrap();
    run.end.unwrap().values[column]
}

#[test]
fn example_5_45_has_modes_of_index_one_and_no_consistent_transfer() {
    let report = control(&shipped("example-5-45.toml"), Some(FeedbackKind::State), None).unwrap();
    let hybrid = report.hybrid.as_ref().unwrap();
    assert_eq!((hybrid.connected, hybrid.is_controllable()), (false, Some(false)));
    // x1 is zero in the second mode; x2 is what u makes of it
    let [transfer] = &hybrid.transfers[..] else { panic!("one transfer") };
    assert!(transfer.surplus.as_ref().is_err_and(|why| why.contains("close its loop")), "{:?}", transfer.surplus);
    let closed = report.closed.as_ref().unwrap();
    let [moving, held] = &closed.modes[..] else { panic!("two modes") };
    assert!(moving.needless && moving.pencil.index() == 0);
    assert!(!held.needless && held.pencil.index() == 1 && held.pencil.finite.is_empty());
    assert!(held.gain[(0, 0)].abs() < 1e-14 && (held.gain[(0, 1)].abs() - 1.0).abs() < 1e-14);
    // the closed loop as a model: index 0 and 1, and transfers that are not consistent
    let text = closed.text.as_ref().unwrap();
    let again = look(&Model::read("closed.toml", text).unwrap());
    let hybrid = again.hybrid.unwrap();
    assert_eq!(hybrid.transfers[0].surplus, Ok(1));
    assert!(again.systems.iter().all(|(_, facts)| facts.as_ref().is_ok_and(|facts| facts.free.is_regular())));
}

#[test]
fn the_valve_is_solved_with_its_loop_closed() {
    let plant = shipped("valve-servo.toml");
    for kind in FeedbackKind::ALL {
        let report = control(&plant, Some(kind), None).unwrap();
        let facts = report.systems[0].1.as_ref().unwrap();
        assert!(!facts.free.is_regular() && facts.controllability.is_impulse_free());
        let text = report.closed.unwrap().text.unwrap();
        let closed = Model::read("closed.toml", &text).unwrap();
        let facts = look(&closed).systems.remove(0).1.unwrap();
        assert!(facts.free.is_regular() && facts.free.index() <= 1, "{kind:?}");
        if kind == FeedbackKind::State {
            // 0 = u_w ± q, so that the level rises with inflow/area
            assert!((end(&closed, "h") - 1.5).abs() < 1e-7);
            let opened = closed.set(&[("u_w".into(), 0.25)]).unwrap();
            assert!((end(&opened, "q").abs() - 0.25).abs() < 1e-9);
        }
    }
}

/// An inverted pendulum on a cart, x\" = u: linearised about the upright position, and at any other point refused.
#[test]
fn a_nonlinear_system_is_linearised_about_its_equilibrium() {
    let file = |angle: f64, rate: &str| {
        read(&format!(
            "[parameters]\nu = 0\n[dae]\nstates = ['a', 'w']\nequations = ['der(a) = w', 'der(w) = 9.81*sin(a) + u*cos(a){rate}']\n\
             [control]\ninputs = ['u']\noutputs = ['a']\ncost = 'a^2 + u^2'\n[initial]\nfix = {{ a = {angle}, w = 0 }}\n"
        ))
    };
    let report = look(&file(0.0, ""));
    let facts = report.systems[0].1.as_ref().unwrap();
    assert_eq!(facts.point.as_ref().unwrap()[..], [("a".into(), 0.0), ("w".into(), 0.0), ("u".into(), 0.0)]);
    assert!(facts.controllability.is_complete() && facts.observability.as_ref().unwrap().is_complete());
    assert!((facts.free.finite[0].0.abs() - 9.81_f64.sqrt()).abs() < 1e-9);
    assert!(report.optimum.unwrap().is_err_and(|why| why.contains("nonlinear")));
    assert!(unknown(&look(&file(0.1, ""))).contains("no equilibrium: equation 2 has the residual"));
    assert!(unknown(&look(&file(0.0, " + 0*t"))).is_empty());
    assert!(unknown(&look(&file(0.0, " + sin(t)"))).contains("nonlinear and contains time"));
}

#[test]
fn what_cannot_be_said_is_said_why() {
    let file = |equation: &str, control: &str| {
        read(&format!(
            "[parameters]\nu = 0\n[dae]\nstates = ['x', 'y']\nequations = ['{equation}', 'y = x']\n[control]\ninputs = ['u']\n{control}[initial]\nfix = {{ x = 1 }}\n"
        ))
    };
    assert!(unknown(&look(&file("der(x) = t*x + u", ""))).contains("coefficients depend on time"));
    assert!(unknown(&look(&file("der(x) = u", "outputs = ['x + u']\n"))).contains("`x + u` contains inputs"));
    assert!(unknown(&look(&file("der(x) = x^2 + u", ""))).contains("nothing is given for y"));
    let optimum = |model: &Model| look(model).optimum.unwrap().err().unwrap();
    assert!(optimum(&file("der(x) = u", "cost = 'x^4 + u^2'\n")).contains("`x^4 + u^2` is not quadratic"));
    assert!(optimum(&file("der(x) = u", "cost = 'x^2'\n")).contains("R̂ has rank"));
    assert!(optimum(&file("der(x) = u + sin(t)", "cost = 'x^2 + u^2'\n")).contains("depend on time"));
    assert!(optimum(&file("der(x) = u", "cost = 'x^2 + u^2'\nfinal_cost = 'u^2'\n")).contains("contains inputs"));
    assert!(optimum(&file("der(x) = u", "cost = 'x^2 + u^2'\nfinal_cost = 'y^2'\n")).contains("algebraic unknowns"));
    let more = read("[dae]\nstates = ['x', 'u', 'y']\nequations = ['der(x) = u']\n[control]\ninputs = ['u']\n");
    assert!(unknown(&look(&more)).contains("1 equations for 2 states beside the inputs"));
    let rate = read("[dae]\nstates = ['x', 'u']\nequations = ['der(x) = der(u)']\n[control]\ninputs = ['u']\n");
    assert!(unknown(&look(&rate)).contains("the derivative of the input u enters"));
    let without = read("[dae]\nstates = ['x']\nequations = ['der(x) = 1']\n");
    let told = control(&without, None, None).err().unwrap().to_string();
    assert!(told.contains("it has no section [control]"), "{told}");
}

/// y' = u + 1 with costs that have linear and constant terms: λ' = −1, u = −λ/2.
#[test]
fn linear_and_constant_terms_of_costs_count() {
    let model = read(
        "[parameters]\nu = 0\n[dae]\nstates = ['y']\nequations = ['der(y) = u + 1']\n[control]\ninputs = ['u']\n\
         cost = 'u^2 + y + 3'\nfinal_cost = '2 + y'\n[initial]\nfix = { y = 2 }\n",
    );
    let optimum = look(&model).optimum.unwrap().unwrap();
    // λ = 2 − t, u = −(2 − t)/2, y = 2 + t − (t − t²/4)
    let y = |t: f64| 2.0 + t * t / 4.0;
    let cost = (8.0 - 1.0) / 12.0 + (2.0 + 1.0 / 12.0) + 3.0 + 2.0 + y(1.0);
    assert!((optimum.cost - cost).abs() < 1e-11, "{} {cost}", optimum.cost);
    assert!((optimum.end[0].1 - y(1.0)).abs() < 1e-12 && (optimum.start[1].1 + 1.0).abs() < 1e-12);
}

#[test]
fn the_best_switch_of_the_regulator_is_better_than_its_neighbours() {
    let best = look(&shipped("switched-regulator.toml")).optimum.unwrap().unwrap();
    assert!(best.found_times && best.at_edge.is_empty(), "{:?}", best.times);
    let text =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/switched-regulator.toml"))
            .unwrap();
    for moved in [-0.05, 0.05] {
        let fixed = text
            .replace("free_switches = true", "free_switches = false")
            .replace("switches      = [1.0]", &format!("switches = [{}]", best.times[1] + moved));
        let other = look(&Model::read("fixed.toml", &fixed).unwrap()).optimum.unwrap().unwrap();
        assert!(other.cost > best.cost && other.slopes[0] * moved > 0.0, "{moved}: {} {}", other.cost, best.cost);
    }
    // the run has both rows at the switch, and the adjoint variables of the states are continuous there
    let run = &best.run;
    run.check().unwrap();
    let k = run.times.windows(2).position(|w| w[0] == w[1]).unwrap();
    for name in ["x", "v"] {
        let column = run.columns.iter().find(|column| column.name == name).unwrap();
        assert!((column.values[k] - column.values[k + 1]).abs() < 1e-9);
    }
}

/// Along x + τv = 0 the relay is its equivalent, u = v(drag − 1/τ) (ẋ = v, v̇ = u − drag·v, ṡ = v + τ v̇ = 0), and x decays as e^{−t/τ}.
#[test]
fn the_relay_slides_as_its_equivalent_control_says() {
    let model = shipped("sliding-regulator.toml");
    let report = look(&model);
    for (_, facts) in &report.systems {
        let sliding = facts.as_ref().unwrap().sliding.as_ref().unwrap().as_ref().unwrap();
        let (input, law) = &sliding.law[0];
        assert_eq!((input.as_str(), law.as_str()), ("u", "-0.95*v"));
        assert!((sliding.crossing[(0, 0)] - 0.8).abs() < 1e-12);
        // what is left is x' = −x/τ, and s' = 0
        assert_eq!((sliding.sliding.index(), sliding.sliding.finite.len()), (1, 2));
        let rates: Vec<f64> = sliding.sliding.finite.iter().map(|value| value.0).collect();
        assert!((rates[0] + 1.25).abs() < 1e-12 && rates[1].abs() < 1e-12, "{rates:?}");
    }
    let settings = Settings { rtol: Some(1e-9), save: SaveSetting::At(vec![3.0, 4.0]), ..Settings::default() };
    let run = solve(&model, &settings, &mut Unwatched).unwrap().record().unwrap();
    let column = |name: &str| &run.columns.iter().find(|column| column.name == name).unwrap().values;
    let (x, v) = (column("x"), column("v"));
    let count = x.len();
    assert!((x[count - 1] + 0.8 * v[count - 1]).abs() < 1e-7);
    assert!((x[count - 1] / x[count - 2] - (-1.0 / 0.8_f64).exp()).abs() < 1e-5, "{x:?}");
}

#[test]
fn the_object_has_the_keys_of_its_documentation() {
    let report = control(&shipped("switched-regulator.toml"), Some(FeedbackKind::Derivative), None).unwrap();
    let object = report.object();
    let keys = |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&object), ["model", "systems", "hybrid", "optimum", "closed"]);
    let system = &object["systems"][0];
    assert_eq!(system["mode"], "strong");
    assert_eq!(system["controllability"]["reachable"], true);
    assert_eq!(system["optimality"]["regular"], true);
    assert_eq!(object["closed"]["kind"], "derivative");
    assert_eq!(object["closed"]["modes"][0]["needless"], true);
    assert_eq!(object["optimum"]["sequence"][1], "weak");
}

/// Inputs that are states get an equation for their law: the behaviour approach.
#[test]
fn an_input_that_is_a_state_is_closed_by_an_equation() {
    let plant = read(
        "[dae]\nstates = ['h', 'q', 'u']\nfree = ['q', 'u']\nequations = ['der(h) = 1 - q', '0 = u + h - h']\n\
         [control]\ninputs = ['u']\n[initial]\nfix = { h = 2 }\n",
    );
    let report = control(&plant, Some(FeedbackKind::State), None).unwrap();
    let facts = report.systems[0].1.as_ref().unwrap();
    assert_eq!((facts.states.join(" "), facts.inputs.join(" ")), ("h q".into(), "u".into()));
    assert!(!facts.free.is_regular() && facts.behaviour.left.is_empty());
    let text = report.closed.unwrap().text.unwrap();
    assert!(text.contains("equations = [\"u = u_w + q\", 'der(h)") && text.contains("inputs = [\"u_w\"]"), "{text}");
    let closed = Model::read("closed.toml", &text).unwrap();
    assert!((end(&closed, "h") - 3.0).abs() < 1e-7 && end(&closed, "q").abs() < 1e-9);
}

/// About an equilibrium that is not zero the law contains the distance from it.
#[test]
fn laws_about_an_equilibrium_rest_there() {
    // 0 = y² + u − 5 at y = 2, u = 1 has a regular slope: y determines nothing else, so that q needs the feedback
    let plant = read(
        "[parameters]\nu = 1\n[dae]\nstates = ['y', 'q']\nfree = ['q']\nequations = ['der(y) = 4 - y^2 + 0*q', '0 = u - 1']\n\
         [control]\ninputs = ['u']\n[initial]\nfix = { y = 2 }\nguess = { q = 3 }\n",
    );
    let report = control(&plant, Some(FeedbackKind::State), None).unwrap();
    let closed = report.closed.unwrap();
    let (_, law) = &closed.modes[0].laws[0];
    assert!(law == "q - 3" || law == "-q + 3", "{law}");
    let model = Model::read("closed.toml", &closed.text.unwrap()).unwrap();
    assert!((end(&model, "q") - 3.0).abs() < 1e-9 && (end(&model, "y") - 2.0).abs() < 1e-9);
}
