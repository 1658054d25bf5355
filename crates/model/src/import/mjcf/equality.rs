//! `<equality>` of MJCF: joints that close loops, and joints that follow others.

use super::super::frame::Frame;
use super::super::tree::{Closure, Coupling, MovementId};
use super::super::xml::Element;
use super::Reading;
use crate::diagnostic::Mistake;
use crate::suggestion::help;
use daedal_multibody::vector::{Vector, norm, rotation, sub};
use roxmltree::Node;

/// A pose that is given agrees with that of the drawing to so much; files are written with few digits.
const AGREE: f64 = 1e-6;

/// A body, or the world.
struct JointEnd(Option<usize>);

impl<'d> Reading<'d, '_> {
    /// One constraint.
    pub(super) fn equality(&mut self, node: Node<'d, 'd>) {
        let element = self.classes.element(node, None, self.log);
        if element.text("active") == Some("false") {
            self.log.left_out(format!("inactive equality {}", element.tag()));
            return;
        }
        match element.tag() {
            "connect" | "weld" => self.closure(&element),
            "joint" => self.joint_equality(&element),
            other => {
                let help = "connect, weld and joint are imported; delete it and write [[joints]] after the import";
                self.log.refuse(element.place(), format!("<equality> <{other}> is not imported"), "not imported", help);
                return;
            }
        }
        self.log.note("constraints of <equality> are hard in the model file, not soft");
    }

    /// `connect` and `weld`, closed where the file shows them.
    fn closure(&mut self, element: &Element<'d>) {
        let shown = self.tree.placed(false);
        let frame = |k: Option<usize>| k.map_or(Frame::IDENTITY, |k| shown[k].frame);
        let weld = element.tag() == "weld";
        let ends = if element.has("site1") || element.has("site2") {
            let (first, second) = (self.site_of(element, "site1"), self.site_of(element, "site2"));
            let (Some(first), Some(second)) = (first, second) else { return };
            [first, second]
        } else {
            let first = element.needed(self.log, "body1").and_then(|name| self.body_of(element, "body1", name));
            let second = match element.text("body2") {
                Some(name) => self.body_of(element, "body2", name),
                None => Some(JointEnd(None)),
            };
            let (Some(JointEnd(first)), Some(JointEnd(second))) = (first, second) else { return };
            if !weld && !element.has("anchor") {
                element.missing(self.log, "anchor");
                return;
            }
            let anchor = element.vector(self.log, "anchor").unwrap_or_default();
            // the anchor of a weld is a point of the second body
            let at = if weld { frame(second).point(anchor) } else { frame(first).point(anchor) };
            if weld && !self.as_drawn(element, &frame(first).inverse().then(&frame(second))) {
                return;
            }
            [first, second].map(|link| (link, frame(link).local(at)))
        };
        let name = element.text("name").map(Into::into);
        self.tree.closures.push(Closure { name, place: element.place(), weld, ends });
    }

    /// Is the pose of a weld that of the file? A quaternion of zeros says so.
    fn as_drawn(&mut self, element: &Element, X: &Frame) -> bool {
        let Some(x) = element.numbers(self.log, "relpose", 7..=7) else { return true };
        if x[3..].iter().all(|x| *x == 0.0) {
            return true;
        }
        let R = rotation([x[3], x[4], x[5], x[6]]);
        let same = norm(sub([x[0], x[1], x[2]], X.p)) < AGREE && (0..3).all(|i| norm(sub(R[i], X.R[i])) < AGREE);
        if !same {
            let help = "draw the bodies as they are welded, and delete `relpose`";
            self.log.refuse(element.at("relpose"), "the bodies are not drawn as they are welded", "another pose", help);
        }
        same
    }

    fn site_of(&mut self, element: &Element<'d>, key: &str) -> Option<(Option<usize>, Vector<f64>)> {
        let name = element.needed(self.log, key)?;
        let site = self.sites.get(name).copied();
        if site.is_none() {
            let help = Some(help(name, self.sites.keys().copied(), "the sites are"));
            self.log.mistakes.push(Mistake::UnknownName { name: name.into(), at: element.at(key).into(), help });
        }
        site
    }

    fn body_of(&mut self, element: &Element<'d>, key: &str, name: &str) -> Option<JointEnd> {
        if name == "world" {
            return Some(JointEnd(None));
        }
        let body = self.bodies.get(name).map(|(number, _)| *number);
        if body.is_none() {
            let help = Some(help(name, self.bodies.keys().copied(), "the bodies are"));
            self.log.mistakes.push(Mistake::UnknownName { name: name.into(), at: element.at(key).into(), help });
        }
        body.map(|number| JointEnd(Some(number)))
    }

    /// A joint by its name.
    pub(super) fn joint_of(&mut self, element: &Element<'d>, key: &str) -> Option<MovementId> {
        let name = element.text(key)?;
        let joint = self.joints.get(name).map(|(id, _)| *id);
        if joint.is_none() {
            let help = Some(help(name, self.joints.keys().copied(), "the joints that are not free are"));
            self.log.mistakes.push(Mistake::UnknownName { name: name.into(), at: element.at(key).into(), help });
        }
        joint
    }

    /// y − y₀ = c₀ + c₁ (x − x₀) + … + c₄ (x − x₀)⁴ of the joints y and x, or y − y₀ = c₀ without the second one.
    fn joint_equality(&mut self, element: &Element<'d>) {
        if element.needed(self.log, "joint1").is_none() {
            return;
        }
        let Some(second) = self.joint_of(element, "joint1") else { return };
        let first = self.joint_of(element, "joint2");
        // a second joint that is not there has been told
        if first.is_none() && element.has("joint2") {
            return;
        }
        let polynomial = element.numbers(self.log, "polycoef", 1..=5).unwrap_or_else(|| vec![0.0, 1.0]);
        let (name, place) = (element.text("name").map(Into::into), element.place());
        self.tree.couplings.push(Coupling { name, place, first, second, polynomial });
    }
}
