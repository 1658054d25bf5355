//! Each bad input is told with its place.

use daedal_model::Model;

const ROD: &str = "[model]\nname = \"rod\"\n[[bodies]]\nname = \"rod\"\nbar = { from = [0, 0, 0], to = [1, 0, 0], width = 0.1 }\nmass = 1\n";
const PIN: &str = "[[joints]]\nname = \"pin\"\nkind = \"revolute\"\nbetween = [\"ground\", \"rod\"]\nat = [0, 0, 0]\naxis = [0, 1, 0]\n";

#[track_caller]
fn refused(text: &str, expected: &str) {
    match Model::read("model.toml", text, &[]) {
        Ok(_) => panic!("read without a mistake: {text}"),
        Err(mistakes) => {
            let told: Vec<String> = mistakes.list().iter().map(ToString::to_string).collect();
            assert!(told.iter().any(|told| told.contains(expected)), "{told:?} without `{expected}`");
            assert!(mistakes.list().iter().all(|mistake| mistake.place().is_some()), "{told:?}");
        }
    }
}

#[test]
fn bodies_that_cannot_be_are_refused() {
    refused(&ROD.replace("mass = 1", "mass = -1"), "the mass of `rod` must be positive, not -1");
    refused(&ROD.replace("mass = 1\n", ""), "the key `mass`");
    refused("[model]\nname = \"m\"\n[[bodies]]\nname = \"b\"\nmass = 1\n", "mass without extent");
    refused("[model]\nname = \"m\"\n[[bodies]]\nname = \"b\"\nmass = 1\ninertia = [1, 1, 3]\n", "triangle inequality");
    refused("[model]\nname = \"m\"\n[[bodies]]\nname = \"b\"\nmass = 1\ninertia = [1, 1, 0]\n", "principal moment");
    refused("[model]\nname = \"m\"\n[[bodies]]\nname = \"b\"\ndensity = 1\n", "a density and no shape");
    refused(&ROD.replace("width = 0.1", "width = 0"), "`width`");
    refused(&ROD.replace("to = [1, 0, 0]", "to = [0, 0, 0]"), "no length");
    refused(&ROD.replace("to = [1, 0, 0]", "to = [1, 0]"), "a list of 3 numbers");
    refused(&ROD.replace("bar =", "bra ="), "`bra`");
    refused("[model]\nname = \"m\"\n[world]\n", "a body that moves");
}

#[test]
fn shapes_that_cannot_be_drawn_are_refused() {
    let with = |shapes: &str| ROD.replace("mass = 1", &format!("mass = 1\nshapes = {shapes}"));
    refused(&with("3"), "`shapes` must be a list of tables");
    refused(&with("[3]"), "an entry of `shapes` must be a table");
    refused(&with("[{ at = [0, 0, 0] }]"), "an entry of `shapes` has 0 shapes");
    refused(&with("[{ sphere = { radius = 1 }, box = { size = [1, 1, 1] } }]"), "an entry of `shapes` has 2 shapes");
    refused(&with("[{ sphere = { radius = -1 } }]"), "`radius` must be positive");
    refused(&with("[{ sphere = 1 }]"), "`sphere` must be a table");
    refused(&with("[{ sphere = { radius = 1 }, color = \"red\" }]"), "`color`");
}

#[test]
fn shapes_stand_where_they_are_drawn_and_do_not_weigh() {
    let shapes =
        "shapes = [{ sphere = { radius = 0.1 }, at = [1, 0, 0.5] }, { cylinder = { radius = 1, length = 2 } }]";
    let text = ROD.replace("mass = 1", &format!("density = 100\n{shapes}"));
    let model = Model::read("model.toml", &text, &[]).unwrap_or_else(|mistakes| panic!("{}", mistakes.lines()));
    let system = model.bodies.expect("bodies");
    let body = &system.bodies()[0];
    assert_eq!(body.shapes.len(), 3);
    assert!((body.mass - 1.0).abs() < 1e-15);
    let drawn = body.drawn(body.shapes[1].at);
    (0..3).for_each(|k| assert!((drawn[k] - [1.0, 0.0, 0.5][k]).abs() < 1e-15));
}

#[test]
fn joints_that_cannot_be_are_refused() {
    let with = |pin: &str| format!("{ROD}{pin}");
    refused(&with(&PIN.replace("\"ground\", \"rod\"", "\"ground\", \"rot\"")), "`rot`");
    refused(&with(&PIN.replace("[0, 1, 0]", "[0, 0, 0]")), "`axis` is zero");
    refused(&with(&PIN.replace("\"ground\", \"rod\"", "\"rod\", \"rod\"")), "itself");
    refused(&with(&PIN.replace("\"ground\", \"rod\"", "\"ground\", \"ground\"")), "itself");
    refused(&with(&PIN.replace("revolute", "revolut")), "there is no kind `revolut`");
    refused(&with(&format!("{PIN}{}", PIN.replace("\"pin\"", "\"pin2\""))), "once more");
    refused(&with(&format!("{PIN}{PIN}")), "`pin`");
    refused(&with(&PIN.replace("at = [0, 0, 0]\n", "")), "the key `at`");
    refused(&with(&PIN.replace("kind = \"revolute\"", "kind = \"screw\"")), "the key `lead`");
    let cross = "[[joints]]\nname = \"c\"\nkind = \"universal\"\nbetween = [\"ground\", \"rod\"]\nat = [0, 0, 0]\naxes = [[1, 0, 0], [1, 1, 0]]\n";
    refused(&with(cross), "normal to each other");
    let drive = "[[joints]]\nname = \"d\"\nkind = \"drive\"\njoint = \"pin\"\ntravel = \"t\"\n";
    refused(&with(&format!("{PIN}{drive}")), "has none");
    let drive = drive.replace("travel = \"t\"", "angle = \"rod.x\"");
    refused(&with(&format!("{PIN}{drive}")), "rod.x");
}

#[test]
fn names_and_forces_that_cannot_be_are_refused() {
    let with = |rest: &str| format!("{ROD}{PIN}{rest}");
    refused(&with("[output]\na = \"rod.w\"\n"), "`rod.w`");
    refused(&with("[output]\na = \"rod.tip.x\"\n"), "rod.tip.x");
    refused(&with("[output]\na = \"pin.travel\"\n"), "pin.travel");
    refused(&with("[output]\na = \"bolt.angle\"\n"), "`bolt`");
    refused(&with("[[forces]]\nkind = \"torsion\"\njoint = \"pin\"\n"), "the key `stiffness`");
    refused(&with("[[forces]]\nkind = \"linear\"\njoint = \"pin\"\nstiffness = 1\n"), "has no travel");
    refused(&with("[[forces]]\nkind = \"torsion\"\njoint = \"rod\"\nstiffness = 1\n"), "not a joint");
    refused(&with("[[forces]]\nkind = \"torsion\"\njoint = \"pin\"\nstiffness = 1\ntorque = \"1\"\n"), "stands beside");
    refused(&with("[[forces]]\nkind = \"torsion\"\njoint = \"pin\"\ntorque = \"speed\"\n"), "`speed`");
    refused(&with("[initial]\nguess = { \"pin.rate\" = 1 }\n"), "pin.rate");
    refused(&with("[initial]\nfix = { \"pin.force.x\" = 1 }\n"), "pin.force.x");
    refused(&with("[motion]\npositions = [\"x\"]\n"), "`positions`");
    refused(&with("[dae]\nstates = [\"x\"]\n"), "[dae]");
    refused(&with("[world]\nplane = \"yz\"\n"), "plane");
    refused(
        &format!(
            "{ROD}{}[world]\nplane = \"xy\"\n",
            PIN.replace("revolute", "spherical").replace("axis = [0, 1, 0]\n", "")
        ),
        "a planar model has no spherical joint",
    );
}

const MODES: &str = "[modes.a]\n[modes.b]\nwithout = [\"pin\"]\n[[transitions]]\nfrom = \"a\"\nto = \"b\"\nwhen = \"rod.z < -1\"\n[initial]\nmode = \"a\"\n";

#[test]
fn modes_of_bodies_name_joints_forces_and_modes_that_there_are() {
    let text = format!("{ROD}{PIN}{MODES}");
    Model::read("model.toml", &text, &[]).unwrap_or_else(|mistakes| panic!("{}", mistakes.lines()));
    refused(&text.replace("[\"pin\"]", "[\"pim\"]"), "no joint and no force is called `pim`");
    refused(&text.replace("[\"pin\"]", "[\"rod\"]"), "`rod` is neither a joint nor a force");
    refused(&text.replace("[\"pin\"]", "[3]"), "an entry of `without` must be the name of a joint or a force");
    let joint = |modes: &str| text.replace("axis = [0, 1, 0]", &format!("axis = [0, 1, 0]\nmodes = {modes}"));
    refused(&joint("[\"c\"]"), "`c`");
    refused(&joint("3"), "an entry of `modes` must be the name of a mode");
    refused(&format!("{ROD}{PIN}modes = [\"a\"]\n"), "`modes` cannot stand in a file without [modes]");
    refused(&text.replace("rod.z < -1", "rod.length < -1"), "`rod.length`");
    refused(&text.replace("mode = \"a\"", "mode = \"a\"\nfix = { \"pin.rote\" = 1 }"), "`pin.rote`");
    refused(&text.replace("[modes.b]", "[modes.b]\ndae = { states = [\"x\"] }"), "`dae`");
    refused(&text.replace("at = [0, 0, 0]", "at = [[0, 0, 0], [0, 0]]"), "a list of 3 numbers");
    let grip = "[[joints]]\nname = \"grip\"\nkind = \"rate\"\njoint = \"pin\"\nspeed = \"0\"\n";
    refused(&text.replace("[modes.a]", &format!("{grip}[modes.a]")), "travel");
    let motion = "[model]\nname = \"m\"\n[motion]\npositions = [\"x\"]\nvelocities = [\"v\"]\nmass = [1]\nforces = [0]\n[modes.a]\nwithout = [\"pin\"]\n";
    refused(motion, "`without` cannot stand in a file without [[bodies]]");
}
