//! Mistakes in the arguments.

use crate::support::refused;

#[test]
fn unknown_problems_are_refused_with_a_suggestion() {
    for command in ["solve", "init", "list"] {
        refused(&[command, "pendulm"], &["pendulm", "did you mean pendulum?", "truck"]);
    }
    refused(&["solve"], &["MODEL"]);
}

#[test]
fn unknown_parameters_are_refused_with_a_suggestion() {
    refused(&["solve", "truck", "--set", "sped=3"], &["sped", "did you mean speed?", "hump"]);
    refused(&["solve", "truck", "--set", "speed"], &["NAME=VALUE"]);
    refused(&["solve", "truck", "--set", "speed=fast"], &["expected a number"]);
    refused(&["solve", "truck", "--set", "speed=nan"], &["finite"]);
}

#[test]
fn impossible_numbers_are_refused() {
    for option in ["--rtol", "--atol", "--h0", "--hmax", "--newton-tolerance", "--safety"] {
        for value in ["0", "-1", "nan", "inf"] {
            refused(&["solve", "pendulum", option, value], &[option, "positive and finite"]);
        }
        refused(&["solve", "pendulum", option, "small"], &[option, "expected a number"]);
    }
    for value in ["0", "-1", "1", "nan", "inf"] {
        for command in ["solve", "check", "init", "compare"] {
            refused(&[command, "pendulum", "--rank-tolerance", value], &["--rank-tolerance", "between 0 and 1"]);
        }
    }
    for option in ["--t0", "--tend", "--jacobian-reuse"] {
        refused(&["solve", "pendulum", option, "nan"], &[option, "finite"]);
    }
    refused(&["solve", "pendulum", "--rtol", "1e-20"], &["impossible tolerance", "rtol"]);
    refused(&["solve", "pendulum", "--rtol", "2"], &["impossible tolerance"]);
    refused(&["solve", "pendulum", "--safety", "2"], &["safety"]);
    refused(&["solve", "pendulum", "--max-newton", "2"], &["--max-newton"]);
    refused(&["solve", "pendulum", "--max-steps", "0"], &["--max-steps"]);
    refused(&["solve", "pendulum", "--save", "1"], &["--save", "steps, end"]);
    refused(&["solve", "truck", "--formulation", "psf+i"], &["invariants"]);
}

#[test]
fn unknown_values_of_options_are_refused_with_the_known_ones() {
    refused(&["solve", "pendulum", "--formulation", "psf+j"], &["p1, psf, psf+i"]);
    refused(
        &["solve", "pendulum", "--method", "geoms", "--formulation", "ggl"],
        &["geoms does not take the formulation ggl", "psf, psf+i, p1"],
    );
    refused(&["solve", "pendulum", "--method", "euler"], &["geoms"]);
    refused(&["solve", "pendulum", "--decomposition", "cholesky"], &["auto, lu, qr, svd"]);
    refused(&["solve", "pendulum", "--differential", "svd"], &["auto, lu, qr"]);
    refused(&["solve", "pendulum", "--stats", "yaml"], &["json"]);
    refused(&["solve", "pendulum", "--polsih", "off"], &["--polish"]);
    refused(&["list", "--format", "xml"], &["text, json"]);
}
