//! `<actuator>` of MJCF: forces along joints, affine in control, position and rate.

use super::super::tree::Actuator;
use super::super::xml::Element;
use super::Reading;
use roxmltree::Node;

/// Other transmissions than joints.
const TRANSMISSIONS: [&str; 7] = ["tendon", "site", "body", "slidersite", "cranksite", "refsite", "actdim"];
/// Attributes that are read; limits are counted by their names.
const KNOWN: [&str; 16] = [
    "name",
    "class",
    "group",
    "joint",
    "jointinparent",
    "gear",
    "kp",
    "kv",
    "gaintype",
    "gainprm",
    "biastype",
    "biasprm",
    "dyntype",
    "dampratio",
    "timeconst",
    "user",
];

impl<'d> Reading<'d, '_> {
    /// One actuator.
    pub(super) fn actuator(&mut self, node: Node<'d, 'd>) {
        let element = self.classes.element(node, None, self.log);
        let tag = element.tag();
        // F = gain u + b₀ + b₁ length + b₂ speed
        let (gain, bias) = match tag {
            "motor" => (1.0, [0.0; 3]),
            "position" => {
                let (kp, kv) = (element.number_or(self.log, "kp", 1.0), element.number_or(self.log, "kv", 0.0));
                (kp, [0.0, -kp, -kv])
            }
            "velocity" => {
                let kv = element.number_or(self.log, "kv", 1.0);
                (kv, [0.0, 0.0, -kv])
            }
            "general" => match self.general(&element) {
                Some(law) => law,
                None => return,
            },
            other => {
                let help = "motor, position, velocity and general are imported; delete it and write [[forces]] after the import";
                self.log.refuse(
                    element.place(),
                    format!("the actuator <{other}> is not imported"),
                    "not imported",
                    help,
                );
                return;
            }
        };
        for key in ["dampratio", "timeconst"] {
            if element.number_or(self.log, key, 0.0) != 0.0 {
                let help = "give `kv` instead of a ratio; a filter is a `dynamic` state of the model file";
                self.log.refuse(element.at(key), format!("`{key}` of an actuator is not imported"), key, help);
            }
        }
        if let Some(key) = TRANSMISSIONS.into_iter().find(|key| element.has(key)) {
            let help = "delete it and write [[forces]] after the import";
            self.log.refuse(element.at(key), format!("an actuator of a {key} is not imported"), "not a joint", help);
            return;
        }
        element.leave_out_but(self.log, &KNOWN);
        let key = if element.has("jointinparent") { "jointinparent" } else { "joint" };
        if element.needed(self.log, key).is_none() {
            return;
        }
        let Some(on) = self.joint_of(&element, key) else { return };
        let gear = element.numbers(self.log, "gear", 1..=6).map_or(1.0, |gear| gear[0]);
        let (name, place) = (element.text("name").map(Into::into), element.place());
        self.tree.actuators.push(Actuator { name, tag: tag.into(), place, on, gear, gain, bias });
    }

    /// `general` with a fixed gain and an affine bias.
    fn general(&mut self, element: &Element<'d>) -> Option<(f64, [f64; 3])> {
        let gains = element.text("gaintype").is_none_or(|word| word == "fixed");
        let biases = element.text("biastype").is_none_or(|word| ["none", "affine"].contains(&word));
        let dynamics = element.text("dyntype").is_none_or(|word| word == "none");
        if !(gains && biases && dynamics) {
            let help = "gaintype=\"fixed\", biastype=\"none\" or \"affine\" and dyntype=\"none\" are imported";
            self.log.refuse(element.place(), "this law of a general actuator is not imported", "general", help);
            return None;
        }
        let gain = element.numbers(self.log, "gainprm", 1..=10).map_or(1.0, |x| x[0]);
        let mut bias = [0.0; 3];
        if element.text("biastype") == Some("affine") {
            let given = element.numbers(self.log, "biasprm", 1..=10).unwrap_or_default();
            given.iter().zip(&mut bias).for_each(|(x, b)| *b = *x);
        }
        Some((gain, bias))
    }
}
