//! `daedal check` for general systems.

use crate::support::{code, daedal, fails, json, keys, shipped, stderr, stdout, words, written};
use serde_json::Value;

const CHECKED: [&str; 23] = [
    "model",
    "parameters",
    "t0",
    "tend",
    "possible",
    "findings",
    "sizes",
    "index",
    "characteristic",
    "levels",
    "equations",
    "definitions",
    "stated_hidden",
    "redundant",
    "undetermined",
    "free",
    "start",
    "elsewhere",
    "form",
    "orders",
    "linear",
    "control",
    "trial",
];

fn codes(object: &Value) -> Vec<&str> {
    object["findings"].as_array().unwrap().iter().map(|finding| finding["code"].as_str().unwrap()).collect()
}

#[test]
fn the_pendulum_shows_its_index_and_its_hidden_constraints() {
    let text = words(&["check", &shipped("pendulum-dae.toml")]);
    for part in [
        "the model can be solved",
        "strangeness index 2, differentiation index 3",
        "structural index 3",
        "2 differential equations (d), 3 algebraic equations (a)",
        "stated rod: 0 = x^2 + y^2 - L^2",
        "hidden rod, differentiated once: 0 = 2*x*vx + 2*y*vy",
        "hidden rod, differentiated twice: 0 = 2*(vx^2 - 2*x^2*lambda1/m) + 2*(vy^2 + y*(-2*y*lambda1 - m*g)/m)",
        "constraint level 2: constraints are hidden, and all visible after 2 differentiations",
        "perturbation index 3 (Hessenberg form)",
        "a = 1, d = 3, v = 0: more constraints are hidden",
        "a = 3, d = 2, v = 0: all constraints found",
        "form quasilinear",
        "beside the start 4 points: the same",
        "along a run 6 points up to t = 5.0: the same",
    ] {
        assert!(text.contains(part), "“{part}” is missing in: {text}");
    }
    // the multiplier is determined, velocities can be chosen
    assert!(!text.contains("free at the start lambda1") && !text.contains(", lambda1 form"), "{text}");
}

#[test]
fn the_object_has_exactly_the_agreed_keys_in_order() {
    let object = json(&daedal(&["check", &shipped("pendulum-dae.toml"), "--format", "json"]));
    assert_eq!(keys(&object), CHECKED);
    assert_eq!(object["possible"], true);
    assert_eq!(codes(&object), Vec::<&str>::new());
    assert_eq!((&object["index"]["strangeness"], &object["index"]["differentiation"]), (&2.into(), &3.into()));
    assert_eq!((&object["index"]["structural"], &object["index"]["structural_trusted"]), (&3.into(), &true.into()));
    assert_eq!(object["characteristic"], serde_json::json!({ "d": 2, "a": 3, "v": 0, "u": 0 }));
    let levels: Vec<&Value> = object["equations"].as_array().unwrap().iter().map(|e| &e["level"]).collect();
    assert_eq!(levels, [0, 1, 2]);
    assert_eq!(object["equations"][1]["formula"], "0 = 2*x*vx + 2*y*vy");
    assert_eq!(object["equations"][1]["hidden"], true);
    assert_eq!(object["levels"].as_array().unwrap().len(), 4);
    assert_eq!(object["levels"][2]["holds"], true);
    assert_eq!(object["free"].as_array().unwrap().len(), 2);
    assert!((object["start"]["values"]["lambda1"].as_f64().unwrap() - 10.795).abs() < 1e-12);
    assert!((object["start"]["derivatives"]["x"].as_f64().unwrap() - 2.8).abs() < 1e-14);
    assert_eq!(object["elsewhere"].as_array().unwrap().len(), 10);
    assert_eq!(object["form"], "quasilinear");
}

#[test]
fn a_check_is_told_in_sections_within_a_hundred_columns() {
    for model in ["stirred-tank", "pendulum-energy", "second-order-linear", "andrews-dae", "pollution"] {
        let output = daedal(&["check", &shipped(&format!("{model}.toml"))]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let text = stdout(&output);
        // the first line is what the file says
        assert!(text.lines().skip(1).all(|line| line.chars().count() <= 100), "{text}");
        for part in ["structure\n", "constraints\n", "levels of differentiation\n", "initial values", "other points\n"]
        {
            assert!(text.contains(part), "{part} is missing: {text}");
        }
    }
}

#[test]
fn redundant_equations_and_undetermined_unknowns_are_told() {
    let file = shipped("redundant-underdetermined.toml");
    let text = words(&["check", &file]);
    for part in [
        "the model can be solved",
        "declared free keeps its initial value",
        "differentiation index not defined",
        "undetermined x3",
        "vanishes by itself",
    ] {
        assert!(text.contains(part), "“{part}” is missing in: {text}");
    }
    let object = json(&daedal(&["check", &file, "--format", "json"]));
    assert_eq!(codes(&object), ["undetermined", "redundant"]);
    assert_eq!(object["undetermined"], serde_json::json!([{ "x3": 1.0 }]));
    assert_eq!(object["index"]["differentiation"], Value::Null);
    assert_eq!(object["characteristic"], serde_json::json!({ "d": 0, "a": 2, "v": 1, "u": 1 }));
}

#[test]
fn a_structure_that_misleads_is_noted() {
    let object = json(&daedal(&["check", &shipped("transistor-amplifier.toml"), "--format", "json"]));
    assert!(codes(&object).contains(&"structural_index") && codes(&object).contains(&"structure_misleads"));
    assert_eq!((&object["index"]["structural"], &object["index"]["differentiation"]), (&0.into(), &1.into()));
    assert_eq!(object["index"]["structural_trusted"], false);
    // structural index 1, true index 2: both are told, with a warning
    let object = json(&daedal(&["check", &shipped("singular-pencil.toml"), "--format", "json"]));
    assert_eq!((&object["index"]["structural"], &object["index"]["differentiation"]), (&1.into(), &2.into()));
    let text = stdout(&daedal(&["check", &shipped("singular-pencil.toml")]));
    assert!(text.contains("warning           the structural index is 1, but the differentiation index is 2"), "{text}");
    let singular = json(&daedal(&["check", &shipped("multiple-root.toml"), "--format", "json"]));
    assert!(codes(&singular).contains(&"singular_point"), "{singular}");
}

#[test]
fn systems_without_a_solution_exit_with_one() {
    let text = "[model]\nname = \"contradiction\"\n[dae]\nstates = [\"x\", \"y\"]\n\
                equations = { one = \"x + y = 1\", two = \"x + y = 2\" }\n";
    let file = written("contradiction-dae.toml", text);
    let file = file.to_str().unwrap();
    let output = daedal(&["check", file, "--format", "json"]);
    assert_eq!(code(&output), 1);
    let object = json(&output);
    assert_eq!(keys(&object), CHECKED);
    assert_eq!((&object["possible"], &object["index"], &object["tend"]), (&false.into(), &Value::Null, &Value::Null));
    assert_eq!(codes(&object), ["no_consistent_start"]);
    fails(&["check", file], 1, &["contradiction has no solution that could be found", "contradict each other"]);
    let undefined = text.replace("x + y = 2", "ln(x) = -1/y").replace("name = \"contra", "name = \"un");
    let undefined = written("undefined-dae.toml", &(undefined + "[initial]\nfix = { x = -1 }\n"));
    fails(&["check", undefined.to_str().unwrap()], 1, &["no finite value"]);
}

#[test]
fn fast_elements_do_not_raise_the_index() {
    let text = r#"
        [model]
        name = "a pendulum with a fast force element"
        time = [0, 3]
        [dae]
        states = ["x", "y", "vx", "vy", "l", "r"]
        equations = [
            "der(x) = vx", "der(y) = vy", "der(vx) = -2*x*l - r", "der(vy) = -2*y*l - 9.81",
            "x^2 + y^2 = 1", "1e-6*der(r) = -(r - x*vy)",
        ]
        [initial]
        fix = { x = 0.6, vx = 0 }
        guess = { y = -0.8, vy = 0, r = 1 }
    "#;
    let file = written("fast-element.toml", text);
    let object = json(&daedal(&["check", file.to_str().unwrap(), "--format", "json"]));
    // three differential equations, and r stays where it was given; deeper derivatives are out of reach
    assert_eq!((&object["index"]["strangeness"], &object["characteristic"]["d"]), (&2.into(), &3.into()));
    assert_eq!((&object["form"], &object["start"]["values"]["r"]), (&"quasilinear".into(), &1.0.into()));
    assert!(codes(&object).contains(&"unconfirmed"), "{object}");
}

/// Constraints of all levels as the text shows them: label, where from, formula.
fn told(model: &str) -> String {
    let text = words(&["check", &shipped(model)]);
    let to = text.find("levels of differentiation").unwrap();
    let from = text[..to].rfind(" constraints ").unwrap_or_else(|| panic!("no section of constraints in {text}"));
    text[from..to].to_string()
}

#[test]
fn hidden_constraints_of_the_theory_are_told_in_the_unknowns() {
    for (model, formulas) in [
        // Steinbrecher (2006), examples 3.2.5, 3.2.16 and 3.5.58
        ("varying-rank.toml", &["stated 3: 0 = 1 - x3 hidden 3, differentiated once, with 2: 0 = x2 - 1"][..]),
        (
            "singular-pencil.toml",
            &[
                "stated 1: 0 = x1 - t*x2 - a*sin(t)",
                "hidden 1, differentiated once, with 2: 0 = x2 + a*cos(t) - a*cos(2*t)",
            ],
        ),
        ("crossing-lines.toml", &["stated 2: 0 = -x1^2 - x1*x2", "hidden 2, differentiated once, with 1: 0 = x1 "]),
        // Wunderlich (2008), example 3.32
        ("second-order-varying-rank.toml", &["stated 3: 0 = 1 - x3 hidden 3, differentiated once, with 2: 0 = x2 - 1"]),
    ] {
        let told = told(model);
        for formula in formulas {
            assert!(told.contains(formula), "{model}: “{formula}” is missing in {told}");
        }
        assert!(!told.contains("x1'") && !told.contains("x2'") && !told.contains("x3'"), "{model}: {told}");
    }
}

#[test]
fn example_3_23_shows_all_of_its_constraints() {
    let object = json(&daedal(&["check", &shipped("second-order-linear.toml"), "--format", "json"]));
    let equations = object["equations"].as_array().unwrap();
    let levels: Vec<u64> = equations.iter().map(|e| e["level"].as_u64().unwrap()).collect();
    assert_eq!(levels, [0, 1, 2, 3], "{equations:?}");
    assert!(equations.iter().all(|e| e["kept"].is_null() && e["nonzero"] == serde_json::json!([])), "{equations:?}");
    // x2 + x3 = f3 − t f2 needs no differentiation: two equations are combined
    assert_eq!(equations[0]["hidden"], false);
    assert!(told("second-order-linear.toml").contains("combined 3: 0 = "), "{}", told("second-order-linear.toml"));
    // both indices, and which of them a run has
    let text = words(&["check", &shipped("second-order-linear.toml")]);
    for part in [
        "index strangeness index 3, differentiation index 4 with derivatives as unknowns; without order reduction the strangeness index is 2",
        "as written order 2, strangeness index 2",
        "trimmed only x1' as an unknown after 2 differentiations: harmless",
        "a run highest derivatives of x2, x3 enter together only: with der(x2 + x3) as unknown the strangeness index is 2 instead of 3",
    ] {
        assert!(text.contains(part), "“{part}” is missing in: {text}");
    }
}

/// What a derivative of a rate leaves of a formula is told once: x1 = f3 − f4' of example 3.14, with f3 = sin t − e⁻ᵗ, f4 = e⁻ᵗ.
#[test]
fn terms_of_a_constraint_that_cancel_are_not_told() {
    let told = told("second-order-mixed.toml");
    assert!(
        told.contains(
            "hidden 4, differentiated once: 0 = sin(t) - x1 hidden 4, differentiated twice: 0 = cos(t) - x1' "
        ),
        "{told}"
    );
}

/// An equation that says something later, and nothing at the start.
#[test]
fn an_equation_that_vanishes_at_the_start_only_is_told_as_such() {
    let text = "[model]\nname = \"vanishing\"\ntime = [0, 1]\n[dae]\nstates = [\"x\"]\nequations = [\"t*x = 0\"]\n";
    let file = written("vanishing.toml", text);
    let output = daedal(&["check", file.to_str().unwrap()]);
    assert_eq!(code(&output), 1);
    let said = stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("(1 for 1 unknown); equation 1 (line 6: t*x = 0) says nothing here: replace it"), "{said}");
    assert!(said.contains("is not that of points nearby"), "{said}");
}

#[test]
fn derivatives_that_stay_in_a_constraint_have_a_reason() {
    let told = told("three-joint-arm.toml");
    assert!(told.contains("(not free of w[1]', w[2]', w[3]': without derivatives it has "), "{told}");
}

#[test]
fn a_divisor_that_may_vanish_is_told() {
    // v = u x' with x' from the differentiated constraint
    let check = |name: &str, constraint: &str| {
        let model = format!(
            r#"
            [model]
            name = "divisor"
            time = [0, 1]
            [dae]
            states = ["x", "u", "v"]
            equations = ["u*der(x) = v", "{constraint}", "u = 2 + x"]
            [initial]
            guess = {{ x = 1, u = 3, v = 0 }}
            "#
        );
        words(&["check", written(name, &model).to_str().unwrap()])
    };
    // 1 + 3 x² has no zero
    let text = check("never_zero.toml", "x^3 + x = 2 + t");
    assert!(text.contains("hidden 2, differentiated once, with 1: 0 = ") && !text.contains("≠"), "{text}");
    let text = check("may_be_zero.toml", "x^2 = 1 + t");
    assert!(text.contains("hidden 2, differentiated once, with 1: 0 = ") && text.contains(", where u ≠ 0"), "{text}");
}

#[test]
fn stated_hidden_constraints_are_compared() {
    let shipped_text = std::fs::read_to_string(shipped("pendulum-dae.toml")).unwrap();
    let check = |name: &str, from: &str, to: &str| {
        assert!(shipped_text.contains(from));
        let path = written(name, &shipped_text.replace(from, to));
        let text = words(&["check", path.to_str().unwrap()]);
        (text, json(&daedal(&["check", path.to_str().unwrap(), "--format", "json"])))
    };
    let tangent = r#"tangent = "x*vx + y*vy = 0""#;
    let (text, object) = check("stated.toml", tangent, tangent);
    assert!(text.contains("stated hidden tangent: 0 = x*vx + y*vy follows from the equations"), "{text}");
    assert!(!text.contains("not stated"), "{text}");
    assert_eq!(object["stated_hidden"]["claims"][1]["verdict"], "implied");
    assert_eq!(codes(&object), Vec::<&str>::new());

    let (text, object) = check("contradicts.toml", tangent, r#"tangent = "x*vx + y*vy = 0.5""#);
    assert!(text.contains("contradicts the equations: wherever they hold it is -0.5 instead of 0"), "{text}");
    assert!(text.contains("not stated 0 = 2*x*vx + 2*y*vy"), "{text}");
    assert_eq!(codes(&object), ["hidden_contradicts", "hidden_missing"]);

    let (text, object) = check("further.toml", tangent, r#"tangent = "x = 0""#);
    assert!(text.contains("tangent: 0 = x does not follow from the equations: it would restrict"), "{text}");
    assert_eq!(codes(&object), ["hidden_not_implied", "hidden_missing"]);

    let (text, object) = check("missing.toml", tangent, "");
    assert!(text.contains("not stated 0 = 2*x*vx + 2*y*vy"), "{text}");
    assert_eq!(object["stated_hidden"]["missing"], serde_json::json!(["2*x*vx + 2*y*vy"]));
    assert_eq!(codes(&object), ["hidden_missing"]);

    let path = written("derivative.toml", &shipped_text.replace(tangent, r#"tangent = "x*der(x) + y*vy = 0""#));
    fails(
        &["check", path.to_str().unwrap()],
        2,
        &["the derivative of order 1 of `x`", "the hidden constraint `tangent`"],
    );
}

#[test]
fn the_perturbation_index_is_told_where_theory_gives_it() {
    let index = |model: &str| {
        let object = json(&daedal(&["check", &shipped(model), "--format", "json"]));
        let index = &object["index"];
        (
            index["perturbation"].as_u64(),
            index["perturbation_class"].clone(),
            index["perturbation_may_be_higher"] == true,
        )
    };
    assert_eq!(index("nilpotent.toml"), (Some(3), "linear".into(), false));
    assert_eq!(index("semi-explicit.toml"), (Some(2), "Hessenberg form".into(), false));
    assert_eq!(index("hessenberg-3.toml"), (Some(3), "Hessenberg form".into(), false));
    assert_eq!(index("robertson.toml"), (Some(0), "explicit".into(), false));
    // differentiation index 1, perturbation index 2
    assert_eq!(index("perturbation-index.toml"), (None, Value::Null, true));
}
