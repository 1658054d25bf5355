//! What both formats describe: a tree of links, each with its frame in that of its parent, and what connects them beside.
//!
//! ```text
//! X_WL = X_WP X_PL ∏ (displacement of a movement)
//! ```
//! The file shows one position. The drawing of the model file may be another one: movements that follow others by `Coupling` stand where it puts them.

use super::frame::{Frame, MassProperties};
use crate::source::Span;
use daedal_multibody::Shape;
use daedal_multibody::vector::Vector;

/// How a movement goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MovementKind {
    Hinge,
    Slide,
    Ball,
    /// In the plane normal to the axis, and about it.
    Planar,
}

/// One way in which a link moves against its parent.
#[derive(Clone, Debug)]
pub(super) struct LinkMovement {
    pub name: Option<String>,
    pub place: Span,
    pub freedom: MovementKind,
    /// In the frame of the link.
    pub point: Vector<f64>,
    /// Of length one.
    pub axis: Vector<f64>,
    /// Coordinate of the format where the file shows the link.
    pub zero: f64,
    /// Displacement of the drawing from there.
    pub drawn: f64,
    pub stiffness: f64,
    /// Coordinate of the format where the spring rests.
    pub rest: f64,
    pub damping: f64,
    /// Dry friction.
    pub friction: f64,
}

impl LinkMovement {
    pub fn new(
        name: Option<String>,
        place: Span,
        freedom: MovementKind,
        point: Vector<f64>,
        axis: Vector<f64>,
    ) -> Self {
        LinkMovement {
            name,
            place,
            freedom,
            point,
            axis,
            zero: 0.0,
            drawn: 0.0,
            stiffness: 0.0,
            rest: 0.0,
            damping: 0.0,
            friction: 0.0,
        }
    }

    /// Where its displacement puts the link.
    fn displacement(&self) -> Frame {
        match self.freedom {
            _ if self.drawn == 0.0 => Frame::IDENTITY,
            MovementKind::Hinge => Frame::turned(self.point, self.axis, self.drawn),
            MovementKind::Slide => Frame::moved(self.axis, self.drawn),
            MovementKind::Ball | MovementKind::Planar => Frame::IDENTITY,
        }
    }
}

/// What holds a link.
#[derive(Clone, Debug)]
pub(super) enum Holding {
    /// It is a part of its parent.
    Welded,
    /// Nothing.
    Free,
    By(Vec<LinkMovement>),
}

/// A link of URDF, a body of MJCF.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub name: Option<String>,
    pub place: Span,
    /// A link before this one, or the world.
    pub parent: Option<usize>,
    /// X_PL where the file shows it.
    pub frame: Frame,
    pub holding: Holding,
    /// In the frame of the link.
    pub mass: Option<MassProperties>,
    pub shapes: Vec<Shape>,
    pub color: Option<String>,
    /// Further places with names.
    pub points: Vec<(String, Span, Vector<f64>)>,
}

/// A movement by link and number.
pub(super) type MovementId = (usize, usize);

/// The displacement of the second movement is a polynomial of that of the first, or a constant.
#[derive(Clone, Debug)]
pub(super) struct Coupling {
    pub name: Option<String>,
    pub place: Span,
    pub first: Option<MovementId>,
    pub second: MovementId,
    /// Coefficients of 1, x, x², …
    pub polynomial: Vec<f64>,
}

impl Coupling {
    /// Its value.
    pub fn at(&self, x: f64) -> f64 {
        self.polynomial.iter().rev().fold(0.0, |sum, c| sum * x + c)
    }
}

/// A joint that closes a loop.
#[derive(Clone, Debug)]
pub(super) struct Closure {
    pub name: Option<String>,
    pub place: Span,
    /// Does it hold rotations, too?
    pub weld: bool,
    /// Links, or the world, each with the place of the joint in its frame.
    pub ends: [(Option<usize>, Vector<f64>); 2],
}

/// F = gear (gain u + b₀ + b₁ gear q + b₂ gear q') along a movement, with a control u.
#[derive(Clone, Debug)]
pub(super) struct Actuator {
    pub name: Option<String>,
    pub tag: String,
    pub place: Span,
    pub on: MovementId,
    pub gear: f64,
    pub gain: f64,
    pub bias: [f64; 3],
}

/// All of it.
#[derive(Clone, Debug, Default)]
pub(super) struct LinkTree {
    pub name: Option<String>,
    /// "link" or "body".
    pub noun: &'static str,
    pub gravity: Option<Vector<f64>>,
    pub links: Vec<Link>,
    /// Shapes of the world itself.
    pub scenery: Vec<Shape>,
    pub couplings: Vec<Coupling>,
    pub closures: Vec<Closure>,
    pub actuators: Vec<Actuator>,
}

/// A link where it is drawn, and its movements before their own displacements.
pub(super) struct Placed {
    pub frame: Frame,
    /// Point and axis of each movement in the world.
    pub movements: Vec<(Vector<f64>, Vector<f64>)>,
}

impl LinkTree {
    pub fn movement(&self, (link, number): MovementId) -> &LinkMovement {
        match &self.links[link].holding {
            Holding::By(movements) => &movements[number],
            _ => unreachable!("ids are made from movements"),
        }
    }

    fn movement_mut(&mut self, (link, number): MovementId) -> &mut LinkMovement {
        match &mut self.links[link].holding {
            Holding::By(movements) => &mut movements[number],
            _ => unreachable!("ids are made from movements"),
        }
    }

    /// Displacements where couplings put them, those of others being zero. Gives a coupling that follows itself.
    pub fn pose(&mut self) -> Result<(), usize> {
        let mut open: Vec<usize> = (0..self.couplings.len()).collect();
        while !open.is_empty() {
            let waits = |k: &usize| {
                let first = self.couplings[*k].first;
                open.iter().any(|other| Some(self.couplings[*other].second) == first)
            };
            let Some(ready) = open.iter().position(|k| !waits(k)) else { return Err(open[0]) };
            let k = open.remove(ready);
            let coupling = &self.couplings[k];
            let x = coupling.first.map_or(0.0, |first| self.movement(first).drawn);
            let (second, value) = (coupling.second, coupling.at(x));
            self.movement_mut(second).drawn = value;
        }
        Ok(())
    }

    /// All links where they are drawn, or where the file shows them.
    pub fn placed(&self, drawn: bool) -> Vec<Placed> {
        let mut all: Vec<Placed> = Vec::with_capacity(self.links.len());
        for link in &self.links {
            let parent = link.parent.map_or(Frame::IDENTITY, |k| all[k].frame);
            let mut frame = parent.then(&link.frame);
            let mut movements = Vec::new();
            if let Holding::By(of) = &link.holding {
                for movement in of {
                    movements.push((frame.point(movement.point), frame.direction(movement.axis)));
                    if drawn {
                        frame = frame.then(&movement.displacement());
                    }
                }
            }
            all.push(Placed { frame, movements });
        }
        all
    }
}
