//! What does not fit a general system, or a mechanism, is refused.

use crate::support::{fails, refused, shipped, written};

#[test]
fn methods_are_for_their_models() {
    let file = shipped("pendulum-dae.toml");
    refused(
        &["solve", &file, "--method", "geoms"],
        &[
            "geoms is for equations of motion",
            "--method with one of radau, bdf, rodas, trapezoidal, gauss, radau-ia, lobatto-iiic, dopri5",
        ],
    );
    for entry in daedal::catalogue::all().iter().filter(|entry| entry.integrator.is_none()) {
        let said = format!("{} is for equations of motion", entry.name);
        refused(
            &["solve", &file, "--method", entry.name],
            &[&said, "--method with one of radau, bdf, rodas, trapezoidal, gauss, radau-ia, lobatto-iiic, dopri5"],
        );
    }
    // for general systems, but not for this one
    let said = ["dopri5 does not solve", "ordinary differential equation", "radau"];
    fails(&["solve", &file, "--method", "dopri5"], 2, &said);
}

#[test]
fn forms_are_for_their_models() {
    let file = shipped("pendulum-dae.toml");
    for form in ["psf", "psf+i", "p1"] {
        let known = "auto, plain, quasilinear, array, linear";
        refused(&["solve", &file, "--formulation", form], &[form, "equations of motion", known]);
    }
    for form in ["plain", "quasilinear", "array", "linear"] {
        refused(&["solve", "pendulum", "--formulation", form], &[form, "general systems", "p1, psf, psf+i"]);
    }
    refused(&["solve", &file, "--formulation", "plain"], &["as they stand", "μ = 2", "auto, quasilinear or array"]);
    refused(&["solve", &file, "--formulation", "linear"], &["linear"]);
    let text = std::fs::read_to_string(&file).unwrap().replace("[solve]\n", "[solve]\nformulation = \"psf\"\n");
    let wished = written("wished-psf.toml", &text);
    fails(&["solve", wished.to_str().unwrap()], 2, &["there is no formulation `psf`", "`quasilinear`"]);
}

#[test]
fn options_of_other_methods_are_refused() {
    let file = shipped("pendulum-dae.toml");
    for (option, value) in [
        ("--decomposition", "svd"),
        ("--differential", "qr"),
        ("--selection", "joint"),
        ("--selector-update", "adaptive"),
        ("--predictor", "zero"),
        ("--newton-point", "left"),
        ("--newton-updates", "1"),
        ("--polish", "off"),
        ("--multipliers", "wanted"),
    ] {
        for method in ["radau", "bdf"] {
            let said = format!("{method} does not know {option}");
            refused(&["solve", &file, "--method", method, option, value], &[&said]);
        }
    }
    for flag in ["--reproduction", "--refilter"] {
        refused(&["solve", &file, flag], &["radau does not know", flag]);
    }
    refused(&["solve", &file, "--polish", "off", "--refilter"], &["--refilter, --polish"]);
    refused(&["solve", &file, "--max-order", "2"], &["radau does not know --max-order"]);
    refused(&["solve", "pendulum", "--max-order", "2"], &["geoms does not know --max-order"]);
    refused(&["solve", &file, "--method", "bdf", "--safety", "0.8"], &["bdf does not know --safety"]);
    refused(&["solve", &file, "--method", "bdf", "--control", "classical"], &["--control", "fixed"]);
    refused(&["solve", &file, "--method", "bdf", "--max-order", "6"], &["--max-order"]);
    refused(&["solve", &file, "--kernel", "rust"], &["is a model file"]);
}

#[test]
fn impossible_numbers_are_refused_for_general_systems_too() {
    let file = shipped("pendulum-dae.toml");
    refused(&["solve", &file, "--safety", "2"], &["safety = 2"]);
    refused(&["solve", &file, "--rtol", "1e-20"], &["impossible tolerance"]);
    fails(&["solve", &file, "--set", "q=1"], 2, &["`q` cannot be set"]);
}

#[test]
fn mistakes_in_the_file_and_missing_intervals_are_refused() {
    let text = "[model]\nname = \"oscillator\"\n[dae]\nstates = [\"x\"]\nequations = [\"der(x, 2) + x = 0\"]\n";
    let file = written("general.toml", text);
    fails(&["solve", file.to_str().unwrap()], 2, &["nothing about the interval", "--tend"]);
    let file = written("general-mistake.toml", &text.replace("+ x", "+ y"));
    fails(&["solve", file.to_str().unwrap()], 2, &["nothing is called `y`"]);
    // derivatives that no run knows
    let file = written("general-jerk.toml", &format!("{text}[output]\njerk = \"der(x, 3)\"\n"));
    let said = ["the output jerk contains derivative 3 of x", "only up to derivative 2", "add a state v"];
    fails(&["solve", file.to_str().unwrap(), "--tend", "1"], 2, &said);
}
