//! What does not fit models with modes, or models without them.

use crate::support::{fails, refused, shipped};

#[test]
fn methods_forms_and_options_that_fit_no_mode_are_refused() {
    let (general, motion) = (shipped("friction-bodies.toml"), shipped("rope-cut.toml"));
    refused(&["solve", &general, "--method", "geoms"], &["every mode of friction-bodies is a general system"]);
    refused(&["solve", &motion, "--method", "hedop5", "--formulation", "psf"], &["hedop5", "psf", "eom1"]);
    refused(&["solve", &general, "--formulation", "psf"], &["quasilinear"]);
    refused(&["solve", &motion, "--formulation", "array"], &["psf+i"]);
    refused(&["solve", &general, "--refilter"], &["radau does not know --refilter"]);
    refused(&["solve", &general, "--events", "events.json"], &["must end in csv"]);
    refused(&["solve", &general, "-o", "same.csv", "--events", "same.csv"], &["given twice"]);
    refused(&["solve", &general, "--sliding", "sometimes"], &["three-points"]);
}

#[test]
fn options_of_modes_need_modes() {
    refused(
        &["solve", "pendulum", "--sliding", "off", "--max-switches", "5"],
        &["pendulum has no modes", "--max-switches, --sliding"],
    );
    refused(&["solve", "pendulum", "--events", "events.csv"], &["neither modes nor events", "--record-when"]);
}

#[test]
fn a_start_that_is_not_possible_is_told_with_its_mode() {
    let text = std::fs::read_to_string(shipped("rope-cut.toml")).unwrap();
    let far = text.replace("x = \"l\"", "x = \"2*l\"");
    assert_ne!(far, text);
    let file = crate::support::written("rope-far.toml", &far);
    fails(&["solve", file.to_str().unwrap()], 2, &["mode `rope` cannot be entered"]);
    fails(&["init", file.to_str().unwrap()], 2, &["mode `rope` cannot be entered"]);
}
