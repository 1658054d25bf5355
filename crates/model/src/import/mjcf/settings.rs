//! `<compiler>` and `<option>` of MJCF.

use super::super::xml::{Element, Log, elements};
use super::orientation::Angles;
use daedal_multibody::vector::Vector;
use roxmltree::Node;

/// Settings of the compiler that change masses in ways that are not imported.
const MASSES: [&str; 3] = ["boundmass", "boundinertia", "balanceinertia"];
/// Settings of the compiler that are applied.
const APPLIED: [&str; 6] = ["angle", "coordinate", "eulerseq", "inertiafromgeom", "inertiagrouprange", "settotalmass"];
/// Parts of the physics that a flag switches off.
const FLAGS: [&str; 6] = ["constraint", "equality", "passive", "spring", "damper", "actuation"];

/// What holds for the whole file.
#[derive(Clone, Debug)]
pub(super) struct CompilerSettings {
    pub angles: Angles,
    /// Do geoms weigh: always, never, or where a body has no `inertial`?
    from_geoms: Option<bool>,
    /// Groups of geoms that weigh.
    pub groups: (f64, f64),
    pub total_mass: Option<f64>,
    pub gravity: Vector<f64>,
    /// Do geoms touch?
    pub contacts: bool,
}

impl CompilerSettings {
    /// Do the geoms of a body say its mass?
    pub fn weighs(&self, has_inertial: bool) -> bool {
        self.from_geoms.unwrap_or(!has_inertial)
    }
}

/// The settings of a file.
pub(super) fn read(model: Node, log: &mut Log) -> CompilerSettings {
    let mut settings = CompilerSettings {
        angles: Angles { unit: std::f64::consts::PI / 180.0, sequence: "xyz".into() },
        from_geoms: None,
        groups: (f64::NEG_INFINITY, f64::INFINITY),
        total_mass: None,
        gravity: [0.0, 0.0, -9.81],
        contacts: true,
    };
    for section in elements(model) {
        match section.tag_name().name() {
            "compiler" => compiler(&Element::new(section), &mut settings, log),
            "option" => option(&Element::new(section), &mut settings, log),
            _ => {}
        }
    }
    settings
}

fn compiler(element: &Element, settings: &mut CompilerSettings, log: &mut Log) {
    if element.word(log, "angle", &["degree", "radian"]) == Some("radian") {
        settings.angles.unit = 1.0;
    }
    if element.word(log, "coordinate", &["local", "global"]) == Some("global") {
        let help = "write the file again by MuJoCo 2.3 or earlier, which makes coordinates local";
        log.refuse(element.at("coordinate"), "global coordinates are not imported", "coordinate", help);
    }
    if let Some(sequence) = element.text("eulerseq") {
        if sequence.len() == 3 && sequence.chars().all(|c| "xyzXYZ".contains(c)) {
            settings.angles.sequence = sequence.into();
        } else {
            let help = "three of x, y, z about axes of the body, or of X, Y, Z about fixed ones";
            log.refuse(
                element.at("eulerseq"),
                format!("{sequence:?} is no sequence of Euler angles"),
                "eulerseq",
                help,
            );
        }
    }
    match element.word(log, "inertiafromgeom", &["false", "true", "auto"]) {
        Some("auto") => settings.from_geoms = None,
        Some(word) => settings.from_geoms = Some(word == "true"),
        None => {}
    }
    if let Some(range) = element.numbers(log, "inertiagrouprange", 2..=2) {
        settings.groups = (range[0], range[1]);
    }
    if let Some(mass) = element.number(log, "settotalmass").filter(|mass| *mass > 0.0) {
        settings.total_mass = Some(mass);
    }
    for key in MASSES {
        let nothing = element.text(key).is_none_or(|text| text == "false" || text.parse() == Ok(0.0));
        if !nothing {
            let help = "give the masses and inertias that are meant to the bodies";
            log.refuse(element.at(key), format!("`{key}` is not imported"), "changes masses", help);
        }
    }
    element.leave_out_but(log, &[&APPLIED[..], &MASSES].concat());
}

fn option(element: &Element, settings: &mut CompilerSettings, log: &mut Log) {
    settings.gravity = element.vector(log, "gravity").unwrap_or(settings.gravity);
    element.leave_out_but(log, &["gravity"]);
    for flag in elements(element.node).filter(|child| child.has_tag_name("flag")).map(Element::new) {
        let off = |key: &str| flag.text(key) == Some("disable");
        if off("gravity") {
            settings.gravity = [0.0; 3];
        }
        settings.contacts &= !off("contact");
        for key in FLAGS.into_iter().filter(|key| off(key)) {
            let help = "delete the flag, and what it switches off";
            log.refuse(flag.at(key), format!("the flag `{key}` is not imported"), "switched off", help);
        }
        flag.leave_out_but(log, &[&["gravity", "contact"][..], &FLAGS].concat());
    }
}
