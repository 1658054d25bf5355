//! Forces with small names: springs, torsion springs, bushings, contacts.

use crate::body::BodyId;
use crate::force::{Action, Force, Law, LawArguments};
use crate::joint::block::Marker;
use crate::joint::{Coordinate, JointId};
use crate::vector::{IDENTITY, Vector, frame_about, unit};
use daedal::graph::Expr;
use std::sync::Arc;

/// A spring with a damper between two points.
pub struct Spring;
/// A torque about the axis of a joint.
pub struct Torsion;
/// A force along the axis of a joint.
pub struct Linear;
/// An elastic joint.
pub struct Bushing;
/// A ball on a plane.
pub struct Contact;

const NOTHING: Law = Law::Linear { stiffness: 0.0, damping: 0.0, rest: None };

impl Spring {
    /// Between two points of the drawing.
    pub fn between(A: BodyId, at_A: Vector<f64>, B: BodyId, at_B: Vector<f64>) -> Force {
        Force { name: String::new(), action: Action::Spring { ends: [(A, at_A), (B, at_B)], law: NOTHING } }
    }
}

impl Torsion {
    /// About the axis of this joint.
    pub fn on(joint: JointId) -> Force {
        Force { name: String::new(), action: Action::OnJoint { joint, coordinate: Coordinate::Angle, law: NOTHING } }
    }
}

impl Linear {
    /// Along the axis of this joint.
    pub fn on(joint: JointId) -> Force {
        Force { name: String::new(), action: Action::OnJoint { joint, coordinate: Coordinate::Travel, law: NOTHING } }
    }
}

impl Bushing {
    /// At a point of the drawing, with stiffness and damping along and about axes that are those of the world there.
    pub fn between(A: BodyId, B: BodyId, at: Vector<f64>, coefficients: [Vector<f64>; 4]) -> Force {
        let marker = Marker { point: at, frame: IDENTITY };
        let action = Action::Bushing { bodies: [A, B], markers: [marker; 2], coefficients };
        Force { name: String::new(), action }
    }
}

impl Contact {
    /// A ball of B with this centre on a plane of A through a point with a normal: radius, stiffness, damping, friction, and the speed from
    /// which on friction is full.
    pub fn between(
        A: BodyId,
        plane: (Vector<f64>, Vector<f64>),
        B: BodyId,
        centre: Vector<f64>,
        coefficients: [f64; 5],
    ) -> Force {
        let frame = unit(plane.1).map_or([[f64::NAN; 3]; 3], frame_about);
        let markers = [Marker { point: plane.0, frame }, Marker { point: centre, frame: IDENTITY }];
        Force { name: String::new(), action: Action::Contact { bodies: [A, B], markers, coefficients } }
    }
}

impl Force {
    fn law_mut(&mut self) -> Option<&mut Law> {
        match &mut self.action {
            Action::Spring { law, .. } | Action::OnJoint { law, .. } => Some(law),
            _ => None,
        }
    }

    fn linear(mut self, change: impl FnOnce(&mut f64, &mut f64, &mut Option<f64>)) -> Self {
        if let Some(law) = self.law_mut() {
            if !matches!(law, Law::Linear { .. }) {
                *law = NOTHING;
            }
            if let Law::Linear { stiffness, damping, rest } = law {
                change(stiffness, damping, rest);
            }
        }
        self
    }

    /// Its stiffness.
    pub fn stiffness(self, k: f64) -> Self {
        self.linear(|stiffness, _, _| *stiffness = k)
    }
    /// Its damping.
    pub fn damping(self, c: f64) -> Self {
        self.linear(|_, damping, _| *damping = c)
    }
    /// The coordinate at which it rests; where it is drawn unless this is said.
    pub fn rest(self, at: f64) -> Self {
        self.linear(|_, _, rest| *rest = Some(at))
    }
    /// A formula instead: a pull between points, a torque or force on B on a joint.
    pub fn law(mut self, formula: impl Fn(LawArguments) -> Expr + Send + Sync + 'static) -> Self {
        if let Some(law) = self.law_mut() {
            *law = Law::Formula(Arc::new(formula));
        }
        self
    }
    /// Its name.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }
}
