//! Functions that are given by points.

use crate::support::{fails, statistics, words, written};
use serde_json::Value;

/// Points of a function from 0 to 2.
fn points(f: impl Fn(f64) -> f64, n: usize) -> String {
    let x = |i: usize| 2.0 * i as f64 / n as f64;
    let all: Vec<String> = (0..=n).map(|i| format!("[{:?}, {:?}]", x(i), f(x(i)))).collect();
    format!("points = [{}]", all.join(", "))
}

fn value(object: &Value, name: &str) -> f64 {
    object["final"][name].as_f64().unwrap_or_else(|| panic!("{name} in {object}"))
}

/// x is prescribed, and as many derivatives of it are unknown as there are further states.
fn prescribed(table: &str, states: &[&str], tend: f64) -> String {
    let rates: Vec<String> = states.windows(2).map(|w| format!("\"der({}) = {}\"", w[0], w[1])).collect();
    format!(
        "[model]\nname = \"prescribed\"\ntime = [0, {tend:?}]\n[tables.u]\n{table}\n[dae]\nstates = {states:?}\nequations = [{}, \"{} = u(t)\"]\n",
        rates.join(", "),
        states[0]
    )
}

#[test]
fn derivatives_of_a_table_are_those_of_its_polynomials() {
    // a cubic is reproduced, whatever lies between the points: x = t³ − t, x' = 3t² − 1, x'' = 6t
    let file = written("cubic_table.toml", &prescribed(&points(|x| x.powi(3) - x, 7), &["x", "v", "a"], 1.5));
    let object = statistics(&[file.to_str().unwrap(), "--rtol", "1e-8"]);
    for (name, exact) in [("x", 1.875), ("v", 5.75), ("a", 9.0)] {
        assert!((value(&object, name) - exact).abs() < 1e-9, "{name}: {object}");
    }
    // a quintic for two more derivatives
    let table = format!("{}\nsmoothness = 4", points(|x| x.powi(5), 9));
    let file = written("quintic_table.toml", &prescribed(&table, &["x", "v", "a", "j", "s"], 1.5));
    let object = statistics(&[file.to_str().unwrap(), "--rtol", "1e-8"]);
    for (name, exact) in [("x", 1.5_f64.powi(5)), ("a", 20.0 * 1.5_f64.powi(3)), ("s", 180.0)] {
        assert!((value(&object, name) - exact).abs() < 1e-6, "{name}: {object}");
    }
}

#[test]
fn a_table_with_too_few_derivatives_is_refused_with_the_number_that_is_needed() {
    let message = "the table `u` has 2 continuous derivatives, and the equations must be differentiated 3 times (strangeness index 3): give it a smoothness of 3 at least";
    let file = written("too_rough.toml", &prescribed(&points(f64::sin, 9), &["x", "v", "a", "j"], 1.5));
    for command in ["solve", "check"] {
        let output = crate::support::daedal(&[command, file.to_str().unwrap()]);
        let told = crate::support::stdout(&output) + &crate::support::stderr(&output);
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(!output.status.success() && told.contains(message), "{command}: {told}");
    }
    // of mechanisms
    let model = format!(
        "[model]\nname = \"rough\"\ntime = [0, 1]\n[tables.u]\nsmoothness = 0\n{}\n[motion]\npositions = [\"x\"]\nvelocities = [\"v\"]\nmass = [1]\nforces = [\"0\"]\nholonomic = {{ path = \"x = u(t)\" }}\n",
        points(f64::sin, 9)
    );
    let file = written("rough_motion.toml", &model);
    fails(
        &["solve", file.to_str().unwrap()],
        2,
        &["the table `u`, which has 0 continuous derivatives,", "a holonomic constraint", "smoothness of 2 at least"],
    );
}

#[test]
fn a_table_must_cover_the_run() {
    let file = written("short_table.toml", &prescribed(&points(f64::sin, 9), &["x", "v"], 3.0));
    let said = "the table `u` covers 0.0 to 2.0, the interval of the model is 0.0 to 3.0";
    fails(&["solve", file.to_str().unwrap()], 2, &[said]);
    let file = written("covering_table.toml", &prescribed(&points(f64::sin, 9), &["x", "v"], 2.0));
    let said = "the table `u` covers times from 0.0 to 2.0, the run goes from 0.0 to 2.5";
    fails(&["solve", file.to_str().unwrap(), "--tend", "2.5"], 2, &[said]);
}

#[test]
fn tables_of_unknowns_and_in_forces_work() {
    // a spring with a characteristic that is a cubic: x'' = −x − x³ by table and by formula
    let model = |force: &str| {
        format!(
            "[model]\nname = \"spring\"\ntime = [0, 3]\n[tables.k]\npoints = [{}]\n[motion]\npositions = [\"x\"]\nvelocities = [\"v\"]\nmass = [1]\nforces = [\"{force}\"]\n[initial]\nfix = {{ x = 0.9, v = 0 }}\n",
            [-1.0_f64, -0.5, 0.0, 0.5, 1.0].map(|x| format!("[{x:?}, {:?}]", x + x.powi(3))).join(", ")
        )
    };
    let table = written("spring_table.toml", &model("-k(x)"));
    let formula = written("spring_formula.toml", &model("-x - x^3"));
    let end = |file: &std::path::Path| value(&statistics(&[file.to_str().unwrap(), "--rtol", "1e-9"]), "x");
    assert!((end(&table) - end(&formula)).abs() < 1e-8);
    assert!(words(&["check", table.to_str().unwrap()]).contains("the model can be solved"));
}

#[test]
fn mistakes_in_tables_are_told() {
    let states = ["x", "v"];
    for (name, table, said) in [
        ("falls", "points = [[0, 1], [1, 2], [1, 3], [2, 1]]", "the arguments of a table rise"),
        (
            "few",
            "points = [[0, 1], [2, 2], [3, 1]]",
            "a table with 2 continuous derivatives has between 4 and 1000 points",
        ),
        ("odd", "smoothness = 3\npoints = [[0, 1], [2, 2]]", "it is one of `0`, `2` and `4`"),
        ("pair", "points = [[0, 1], [2]]", "a point of a table is a pair of numbers"),
        ("key", "point = [[0, 1], [2, 1]]", "[tables.u] has no key `point`"),
    ] {
        let file = written(&format!("table_{name}.toml"), &prescribed(table, &states, 1.0));
        fails(&["check", file.to_str().unwrap()], 2, &[said]);
    }
    let text = prescribed(&points(f64::sin, 9), &states, 1.0);
    let file = written("table_alone.toml", &text.replace("u(t)", "u + t"));
    fails(&["check", file.to_str().unwrap()], 2, &["`u` is a table", "write u(t)"]);
    let file = written("table_misspelt.toml", &text.replace("u(t)", "w(t)"));
    fails(&["check", file.to_str().unwrap()], 2, &["`w`"]);
}
