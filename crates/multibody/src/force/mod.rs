//! Forces: what acts on bodies without holding them.
//!
//! | force | law |
//! | --- | --- |
//! | spring between points | pulls with k(ℓ − ℓ₀) + cℓ', or by a formula of length and speed |
//! | torsion, linear on a joint | ±τ e₃ with τ = −k(θ − θ₀) − cθ'; ±F e₃ on B and on A *at the same point*; or a formula |
//! | bushing | F = −K_t D − C_t(Ḋ − w_A×D) in A's frame; τ is the gradient of ½ψᵀK_rψ with ψ = 2q⃗ of the relative rotation |
//! | wrench | formulas at a point, in the world or in the body |
//! | contact of a ball and a plane | max(0, kδ + cδ')n, friction −μF_n v_t/max(\|v_t\|, v_s) |

mod laws;

use crate::body::BodyId;
use crate::joint::block::Marker;
use crate::joint::{Coordinate, JointId};
use crate::vector::Vector;
use daedal::graph::Expr;
pub use laws::{Acting, act, bushing, contact, pull};
use std::fmt;
use std::sync::Arc;

/// What a law may contain: length and speed, angle and rate, travel and speed; and time.
#[derive(Clone, Copy, Debug)]
pub struct LawArguments {
    /// Length, angle or travel.
    pub coordinate: Expr,
    /// Its rate.
    pub rate: Expr,
    /// Time.
    pub t: Expr,
}

/// How a force follows from its coordinate.
#[derive(Clone)]
pub enum Law {
    /// k(c − c₀) + d c'.
    Linear {
        /// k.
        stiffness: f64,
        /// d.
        damping: f64,
        /// c₀; where it is drawn if absent.
        rest: Option<f64>,
    },
    /// A formula.
    Formula(Arc<dyn Fn(LawArguments) -> Expr + Send + Sync>),
    /// Given where the equations are made, by its number.
    Outside,
}

impl fmt::Debug for Law {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Law::Linear { stiffness, damping, rest } => {
                write!(f, "Linear({stiffness}, {damping}, {rest:?})")
            }
            Law::Formula(_) => f.write_str("Formula"),
            Law::Outside => f.write_str("Outside"),
        }
    }
}

/// What a force acts on.
#[derive(Clone, Debug)]
pub enum Action {
    /// Between two points, each in the coordinates of its body.
    Spring {
        /// Bodies and points.
        ends: [(BodyId, Vector<f64>); 2],
        /// Pulls where positive.
        law: Law,
    },
    /// Along or about the axis of a joint.
    OnJoint {
        /// The joint.
        joint: JointId,
        /// About (a torque) or along (a force).
        coordinate: Coordinate,
        /// On B; linear laws act against their coordinate.
        law: Law,
    },
    /// An elastic joint.
    Bushing {
        /// Bodies.
        bodies: [BodyId; 2],
        /// Point and axes of both.
        markers: [Marker; 2],
        /// Stiffness and damping along the axes, then about them.
        coefficients: [Vector<f64>; 4],
    },
    /// A force and a torque at a point, from [`Laws`] by components 0…5.
    Wrench {
        /// The body.
        body: BodyId,
        /// In body coordinates.
        point: Vector<f64>,
        /// Are the components those of the body?
        in_body: bool,
    },
    /// A ball of B on a plane of A.
    Contact {
        /// Bodies.
        bodies: [BodyId; 2],
        /// The plane through A's point, normal to its third axis; the centre of the ball.
        markers: [Marker; 2],
        /// Radius, stiffness, damping, friction, speed from which on friction is full.
        coefficients: [f64; 5],
    },
}

/// A force with its name.
#[derive(Clone, Debug)]
pub struct Force {
    /// Its name.
    pub name: String,
    /// What it acts on, and how.
    pub action: Action,
}

/// Values of laws that are given where the equations are made: number of the force, component, and what the law may contain.
pub type Laws<'l> = dyn FnMut(usize, usize, Option<LawArguments>) -> Expr + 'l;
