//! Files whose control loop is closed: what changes, and that they are models.

use daedal_model::{ControlLaw, Model, NotClosed, closed_loop};

fn law(mode: Option<&str>, input: &str, is_state: bool, formula: &str) -> ControlLaw {
    ControlLaw { mode: mode.map(String::from), input: input.into(), is_state, formula: formula.into() }
}

fn closed(text: &str, laws: &[ControlLaw]) -> String {
    let closed = closed_loop(text, laws).unwrap();
    Model::read("closed.toml", &closed, &[]).unwrap_or_else(|mistakes| panic!("{closed}\n{}", mistakes.lines()));
    closed
}

const HEAD: &str = "[model]\nname = 'plant'\ntime = [0, 1]\n";

#[test]
fn a_parameter_becomes_a_definition_wherever_definitions_stand() {
    let rest = "[dae]\nstates = ['x']\nequations = ['der(x) = u']\n[control]\ninputs = ['u']\n";
    for (tables, shown) in [
        ("[parameters]\nu = 0 # open\n", "u_w = 0 # open"),
        ("[parameters]\nu = 1\n[definitions]\na = 'x'\n", "[definitions]\nu = \"u_w - 2*x\"\na = 'x'"),
        ("parameters = { u = 1 }\ndefinitions = { a = 'x' }\n", "definitions = { u = \"u_w - 2*x\", a = 'x' }"),
    ] {
        let text = if tables.starts_with("parameters") {
            format!("{tables}{HEAD}{rest}")
        } else {
            format!("{HEAD}{tables}{rest}")
        };
        let closed = closed(&text, &[law(None, "u", false, "-2*x")]);
        assert!(closed.contains(shown) && closed.contains("inputs = [\"u_w\"]"), "{closed}");
    }
}

#[test]
fn a_state_gets_an_equation_and_the_name_that_is_added_is_new() {
    let text = format!(
        "{HEAD}[parameters]\nu_w = 4\n[dae]\nstates = ['x', 'u']\nequations = ['der(x) = u + u_w']\n[control]\ninputs = ['u']\n"
    );
    let closed = closed(&text, &[law(None, "u", true, "3*x")]);
    assert!(
        closed.contains("[\"u = u_ww + 3*x\", 'der(x)") && closed.contains("[parameters]\nu_ww = 0\nu_w = 4"),
        "{closed}"
    );
}

#[test]
fn modes_get_laws_of_their_own() {
    let text = format!(
        "{HEAD}[dae]\nstates = ['x']\nequations = ['der(x) = u']\n[modes]\na = {{ parameters = {{ u = 1 }} }}\n[modes.b]\nparameters = {{ u = 2 }}\n\
         [[transitions]]\nfrom = 'a'\nto = 'b'\nwhen = 'x > 1'\n[control]\ninputs = ['u']\n[initial]\nmode = 'a'\nfix = {{ x = 0 }}"
    );
    let closed = closed(&text, &[law(Some("a"), "u", false, "-x"), law(Some("b"), "u", false, "-5*x")]);
    assert!(closed.contains("a = { definitions = { u = \"u_w - x\" }, parameters = { u_w = 1 } }"), "{closed}");
    assert!(
        closed.contains("[modes.b.definitions]\nu = \"u_w - 5*x\"") && closed.contains("parameters = { u_w = 2 }"),
        "{closed}"
    );
    let refused = closed_loop(&text, &[law(Some("a"), "u", true, "-x")]);
    assert_eq!(refused, Err(NotClosed::StateWithModes("u".into())));
}

#[test]
fn entries_of_arrays_and_inputs_that_are_not_listed_are_refused() {
    let text = format!("{HEAD}[control]\ninputs = ['u[1]']\n");
    assert_eq!(closed_loop(&text, &[law(None, "u[1]", false, "x")]), Err(NotClosed::Indexed("u[1]".into())));
    let told = closed_loop(&text, &[law(None, "v", false, "x")]).unwrap_err().to_string();
    assert_eq!(told, "the input v is not found where it should stand in the file");
}
