//! What a check tells about systems of higher order and about linear systems, with the numbers of Wunderlich, thesis (2008), and random
//! systems whose numbers are known.
#![allow(missing_docs)]

#[path = "../../core/tests/support/orders.rs"]
#[allow(dead_code)]
mod orders;
#[path = "../../core/tests/support/random.rs"]
#[allow(dead_code)]
mod random;

use daedal_simulation::Model;
use daedal_simulation::check::{Check, check};
use orders::{OrderedSystem, regular};
use random::Random;
use serde_json::{Value, json};
use std::fmt::Write;

fn shipped(name: &str) -> Value {
    let path = format!("{}/../../models/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    found(&Model::load(path).unwrap())
}

fn found(model: &Model) -> Value {
    check(model, None).as_ref().map(Check::object).unwrap()
}

/// A system in a file without an interval.
fn written(states: &[&str], equations: &[&str], initial: &str) -> Value {
    let text = format!(
        "[model]\nname = \"made\"\n[dae]\nstates = {states:?}\nequations = {equations:?}\n[initial]\nguess = {{ {initial} }}\n"
    );
    found(&Model::read("made.toml", &text).unwrap_or_else(|error| panic!("{error}\n{text}")))
}

fn form(mu: usize, d: usize, a: usize) -> Value {
    json!({ "strangeness": mu, "d": d, "a": a, "v": 0, "u": 0 })
}

fn close(found: &Value, exact: &[[f64; 2]]) {
    let found: Vec<[f64; 2]> = serde_json::from_value(found.clone()).unwrap();
    assert_eq!(found.len(), exact.len(), "{found:?}");
    for (z, w) in found.iter().zip(exact) {
        assert!((z[0] - w[0]).hypot(z[1] - w[1]) < 1e-10, "{found:?} {exact:?}");
    }
}

#[test]
fn t2_3_shows_index_two_and_not_the_three_of_the_companion() {
    let found = &shipped("second-order-linear")["orders"];
    assert_eq!((&found["strangeness"], &found["d"], &found["a"]), (&json!(2), &json!([0, 1]), &json!(2)));
    assert_eq!((&found["v"], &found["u"], &found["proved"]), (&json!(0), &json!(0), &json!(true)));
    assert_eq!((&found["companion"], &found["entering"]), (&form(3, 2, 4), &form(3, 2, 4)));
    assert_eq!(found["trimmed"], json!([{ "x1'": 1.0 }]));
    // what `solve` does about it
    assert!(
        found["run"].as_str().unwrap().contains("with der(x2 + x3) as unknown the strangeness index is 2 instead of 3")
    );
    assert_eq!(shipped("second-order-mixed")["orders"]["run"], Value::Null);
}

#[test]
fn t2_1_only_one_derivative_is_harmless() {
    let found = &written(&["x1", "x2"], &["der(x1, 2) + der(x1) + x2 = sin(t)", "x1 = cos(t)"], "x1 = 1")["orders"];
    assert_eq!((&found["strangeness"], &found["d"], &found["a"]), (&json!(2), &json!([0, 0]), &json!(2)));
    assert_eq!((&found["companion"], &found["entering"]), (&form(3, 0, 4), &form(2, 0, 3)));
    assert_eq!(found["trimmed"], json!([]));
}

#[test]
fn t2_5_is_found_beyond_the_proved_range() {
    let found = &shipped("second-order-mixed")["orders"];
    assert_eq!((&found["strangeness"], &found["d"], &found["a"]), (&json!(3), &json!([1, 1]), &json!(2)));
    assert_eq!((&found["proved"], &found["entering"]), (&json!(false), &form(2, 3, 3)));
}

#[test]
fn t2_8_and_t2_9_nonlinear_systems_are_looked_at_along_their_solution() {
    let found = &shipped("second-order-varying-rank")["orders"];
    assert_eq!((&found["strangeness"], &found["d"], &found["a"]), (&json!(1), &json!([0, 1]), &json!(2)));
    assert_eq!(found["linear"], json!(false));
    // a pendulum that moves, and one that turns back
    let pendulum = |start: &str| {
        let equations = ["der(x, 2) = -2*x*f", "der(y, 2) = -2*y*f - 9.81", "x^2 + y^2 = 1"];
        written(&["x", "y", "f"], &equations, start)["orders"].clone()
    };
    let moving = pendulum("x = 0.5646424733950354, y = -0.8253356149096783, \"der(x)\" = 0.9, \"der(y)\" = 0.6, f = 5");
    assert_eq!((&moving["strangeness"], &moving["d"], &moving["a"]), (&json!(3), &json!([2, 0]), &json!(1)));
    let resting = pendulum("x = 0.5646424733950354, y = -0.8253356149096783, \"der(x)\" = 0, \"der(y)\" = 0, f = 5");
    assert_eq!((&resting["strangeness"], &resting["d"], &resting["a"]), (&json!(2), &json!([0, 1]), &json!(2)));
    assert_eq!((&moving["entering"], &resting["entering"]), (&form(2, 2, 3), &form(2, 2, 3)));
}

#[test]
fn t2_9_forms_of_a_gyroscopic_chain() {
    let all = shipped("gyroscopic-chain");
    let found = &all["orders"];
    assert_eq!((&found["strangeness"], &found["d"], &found["a"]), (&json!(3), &json!([2, 1]), &json!(1)));
    assert_eq!((&found["entering"], &found["companion"]), (&form(2, 4, 3), &form(3, 4, 4)));
    assert_eq!(found["converted"], json!(1));
    assert_eq!(all["linear"]["symmetry"]["kind"], "gyroscopic");
    assert_eq!(all["linear"]["pencil"]["nilpotent"], json!([3]));
    assert_eq!(all["linear"]["pencil"]["finite"].as_array().unwrap().len(), 4);
    assert_eq!(all["linear"]["start"]["consistent"], true);
}

#[test]
fn systems_of_order_three_need_no_order_reduction() {
    let all = shipped("prescribed-jerk");
    let found = &all["orders"];
    assert_eq!((&found["order"], &found["strangeness"]), (&json!(3), &json!(3)));
    assert_eq!((&found["d"], &found["a"]), (&json!([0, 0, 1]), &json!(2)));
    assert_eq!((&found["entering"], &found["companion"]), (&form(3, 3, 4), &form(5, 3, 6)));
    assert_eq!(found["trimmed"], json!([{ "y'": 1.0 }, { "y''": 1.0 }]));
    // (s + 1)(s² + s + 1)
    let half = 0.75_f64.sqrt();
    let mut exact = vec![[-1.0, 0.0], [-0.5, half], [-0.5, -half]];
    let finite: Vec<[f64; 2]> = serde_json::from_value(all["linear"]["pencil"]["finite"].clone()).unwrap();
    // all of them have the size one, in any order
    exact.sort_by(|a, b| a[1].total_cmp(&b[1]));
    let mut sorted = finite;
    sorted.sort_by(|a, b| a[1].total_cmp(&b[1]));
    close(&json!(sorted), &exact);
}

#[test]
fn t1_6_impulses_of_an_inconsistent_start() {
    let found = &shipped("inconsistent-start")["linear"];
    assert_eq!((&found["constant"], &found["pencil"]["index"]), (&json!(true), &json!(2)));
    assert_eq!((&found["pencil"]["nilpotent"], &found["pencil"]["infinite"]), (&json!([2]), &json!(2)));
    let start = &found["start"];
    assert_eq!(start["jumps"][0], json!({ "variable": "x1", "before": 5.0, "behind": -5.0 }));
    assert_eq!(start["jumps"][1], json!({ "variable": "x2", "before": 2.0, "behind": -3.0 }));
    assert_eq!(start["impulses"], json!([{ "variable": "x1", "order": 0, "factor": -5.0 }]));
    // index three: δ and δ'
    let equations = ["der(x2) + x1 = 0", "der(x3) + x2 = 0", "x3 = 0"];
    let start = written(&["x1", "x2", "x3"], &equations, "x1 = 0, x2 = 0, x3 = 2")["linear"]["start"].clone();
    let impulse = |name: &str, order: usize, factor: f64| json!({ "variable": name, "order": order, "factor": factor });
    // x3 falls by 2: x2 = −x3' = 2δ, x1 = −x2' = −2δ'
    assert_eq!(start["impulses"], json!([impulse("x2", 0, 2.0), impulse("x1", 1, -2.0)]));
    // what E does not see needs not be given, the rest must
    let start = written(&["x1", "x2", "x3"], &equations, "x3 = 2")["linear"]["start"].clone();
    assert_eq!(start["open"], json!(["x2"]));
}

#[test]
fn t3_8_a_symmetric_pencil_and_its_reduction() {
    let found = &shipped("saddle-point")["linear"];
    let symmetry = &found["symmetry"];
    assert_eq!((&symmetry["kind"], &symmetry["turned"]), (&json!("symmetric"), &json!(["volume"])));
    assert_eq!(symmetry["reduction"], json!({ "s": 1, "d": 2, "a": 0, "u": 0 }));
    close(&found["pencil"]["finite"], &[[-10.0 / 3.0, 0.0], [-2.0, 0.0]]);
}

#[test]
fn t3_7_a_self_adjoint_pencil_of_optimal_control() {
    // unknowns λ, x, u of the plant E = diag(1, 0, 1), A = [0 1 1; 1 0 α; 0 0 −1], B = e₃, Q = diag(1, 0, 1), R = 1
    let optimality = |alpha: f64, weight: f64| {
        let equations = [
            "der(x1) = x2 + x3".to_string(),
            format!("0 = x1 + {alpha}*x3"),
            "der(x3) = -x3 + u".to_string(),
            "-der(l1) = l2 + x1".to_string(),
            format!("0 = l1 + {weight}*x2"),
            format!("-der(l3) = l1 + {alpha}*l2 - l3 + x3"),
            "0 = l3 + u".to_string(),
        ];
        let equations: Vec<&str> = equations.iter().map(String::as_str).collect();
        let states = ["l1", "l2", "l3", "x1", "x2", "x3", "u"];
        written(&states, &equations, "x1 = 0")["linear"].clone()
    };
    for (alpha, eigenvalue) in [(0.0, 2.0_f64.sqrt()), (0.5, 1.5)] {
        let found = optimality(alpha, 0.0);
        assert_eq!(found["symmetry"]["kind"], "self-adjoint");
        assert_eq!(found["symmetry"]["reduction"], json!({ "s": 2, "d": 2, "a": 1, "u": 0 }));
        let mut finite: Vec<[f64; 2]> = serde_json::from_value(found["pencil"]["finite"].clone()).unwrap();
        finite.sort_by(|a, b| a[0].total_cmp(&b[0]));
        close(&json!(finite), &[[-eigenvalue, 0.0], [eigenvalue, 0.0]]);
    }
    // Q = I: the coupling is odd, and no reduction keeps the symmetry
    let refused = optimality(0.0, 1.0);
    assert!(refused["symmetry"]["reduction"]["refused"].as_str().unwrap().contains("s = 1"));
}

#[test]
fn t3_10_kronecker_structure_of_a_singular_pencil() {
    let found = &shipped("kronecker-blocks")["linear"]["pencil"];
    assert_eq!((&found["regular"], &found["right"], &found["left"]), (&json!(false), &json!([1]), &json!([1])));
    assert_eq!((&found["nilpotent"], &found["finite"]), (&json!([]), &json!([])));
}

#[test]
fn t3_1_variable_coefficients_are_symmetric_by_their_formulas() {
    // E = diag(1, t, 0), A = [0 0 t; 0 1 0; t 0 0]
    let equations = ["der(x1) = t*x3 + 1", "t*der(x2) = x2", "0 = t*x1"];
    let text = format!(
        "[model]\nname = \"made\"\ntime = [1.0, 2.0]\n[dae]\nstates = [\"x1\", \"x2\", \"x3\"]\nequations = {equations:?}\n[initial]\nguess = {{ x1 = 0, x2 = 1 }}\n"
    );
    let found = found(&Model::read("made.toml", &text).unwrap());
    assert_eq!(found["linear"]["constant"], false);
    assert_eq!((&found["linear"]["symmetry"]["kind"], &found["linear"]["pencil"]), (&json!("symmetric"), &Value::Null));
    assert_eq!(found["linear"]["symmetry"]["reduction"], json!({ "s": 1, "d": 1, "a": 0, "u": 0 }));
    // nothing of it where a formula differs
    let other = written(&["x1", "x2"], &["der(x1) = t*x2", "0 = t^2*x1"], "x1 = 0");
    assert_eq!(other["linear"]["symmetry"], Value::Null);
}

/// The equations of a system as a file writes them.
fn text(system: &OrderedSystem) -> String {
    let (m, n) = system.size();
    let mut equations = String::new();
    for i in 0..m {
        let mut row = String::new();
        for (q, A) in system.0.iter().enumerate() {
            for j in 0..n {
                let powers = A.iter().enumerate().filter(|(_, X)| X[(i, j)] != 0.0);
                let factor: Vec<String> = powers.map(|(k, X)| format!("({:?})*t^{k}", X[(i, j)])).collect();
                if !factor.is_empty() {
                    let unknown = if q == 0 { format!("x{j}") } else { format!("der(x{j}, {q})") };
                    let _ =
                        write!(row, "{}({})*{unknown}", if row.is_empty() { "" } else { " + " }, factor.join(" + "));
                }
            }
        }
        let _ = writeln!(equations, "    \"{} = 0\",", if row.is_empty() { "0" } else { &row });
    }
    let states: Vec<String> = (0..n).map(|j| format!("\"x{j}\"")).collect();
    format!("[model]\nname = \"random\"\n[dae]\nstates = [{}]\nequations = [\n{equations}]\n", states.join(", "))
}

#[test]
fn three_hundred_random_systems_of_second_order_have_the_values_they_were_made_with() {
    let mut random = Random(2024);
    let (mut looked, mut raised) = (0, 0);
    while looked < 300 {
        let d = [random.below(3), random.below(2) + 1];
        let sizes = [random.below(3), random.below(6) / 5, random.below(6) / 5];
        let varying = random.below(2) == 0;
        let mut system = OrderedSystem::strangeness_free(&mut random, &d, sizes, varying);
        system.hide(&mut random, 3);
        let (m, n) = system.size();
        let system = system.turned(&regular(&mut random, m, varying), &random.orthogonal(n));
        let text = text(&system);
        let model = Model::read("random.toml", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let found = found(&model);
        let orders = &found["orders"];
        let [a, v, u] = sizes;
        assert_eq!(orders["d"], json!(d), "system {looked}\n{text}{found:#}");
        assert_eq!((&orders["a"], &orders["v"], &orders["u"]), (&json!(a), &json!(v), &json!(u)), "system {looked}");
        assert_eq!(found["linear"]["constant"], json!(!varying), "system {looked}");
        let codes = found["findings"].as_array().unwrap().iter();
        assert!(codes.clone().all(|finding| finding["code"] != "unclear_order"), "system {looked}");
        // the oracle of constant systems: as many finite eigenvalues as free initial values
        if !varying && u == 0 && v == 0 {
            let finite = found["linear"]["pencil"]["finite"].as_array().unwrap().len();
            assert_eq!(finite, d[0] + 2 * d[1], "system {looked}");
        }
        raised += usize::from(orders["companion"]["strangeness"].as_u64() > orders["strangeness"].as_u64());
        looked += 1;
    }
    assert!(raised > 30, "{raised}");
}
