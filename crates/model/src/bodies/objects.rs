//! Names of parts of bodies, points and joints: `crank.x`, `crank.omega.z`, `rod.to.z`, `pin.angle`, `pin.force.x`.
//!
//! They are understood when they are used: a chain of ten thousand links has no list of them.

use crate::diagnostic::Mistake;
use crate::names::{Quantity, Symbol};
use crate::source::Span;
use crate::suggestion::{enumerate, nearest};
use daedal_multibody::{Coordinate, System};
use std::collections::HashMap;

/// A quantity of a mechanism that is no variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Mechanical {
    /// Coordinate of a point of a body; its rate.
    Place {
        body: usize,
        point: Option<usize>,
        axis: usize,
    },
    Velocity {
        body: usize,
        point: Option<usize>,
        axis: usize,
    },
    /// Angular velocity in the world.
    Spin {
        body: usize,
        axis: usize,
    },
    /// Joint coordinates and their rates.
    Coordinate {
        joint: usize,
        coordinate: Coordinate,
    },
    Rate {
        joint: usize,
        coordinate: Coordinate,
    },
    /// Force (0) and torque (1) of A on B, along the axes of A as drawn or those of the world.
    Reaction {
        joint: usize,
        moment: bool,
        axis: usize,
        in_world: bool,
    },
    /// Kinetic, potential, total energy.
    Energy(usize),
    /// Momentum and angular momentum.
    Momentum {
        angular: bool,
        axis: usize,
    },
}

/// What a name before the dot stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Object {
    Body(usize),
    Point { body: usize, point: usize },
    Joint(usize),
    Force,
}

/// All bodies, points and joints by name.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    pub by_name: HashMap<String, (Object, Span)>,
    /// what is needed to find variables; made when all objects are known
    pub planar: bool,
    pub moving: Vec<Option<usize>>,
    pub points: Vec<Vec<String>>,
    pub coordinates: Vec<(String, &'static str, Vec<Coordinate>)>,
}

const AXES: [&str; 3] = ["x", "y", "z"];

impl Objects {
    /// Learn from the finished system.
    pub fn complete(&mut self, system: &System) {
        self.planar = system.is_planar();
        let mut next = 0;
        self.moving = system
            .bodies()
            .iter()
            .map(|body| {
                (!body.fixed).then(|| {
                    next += 1;
                    next - 1
                })
            })
            .collect();
        self.points =
            system.bodies().iter().map(|body| body.points.iter().map(|(name, _)| name.clone()).collect()).collect();
        let joints = system.joints().iter();
        self.coordinates = joints.map(|j| (j.name.clone(), j.kind.name(), j.kind.coordinates().to_vec())).collect();
    }

    /// Is this the name of an object?
    pub fn knows(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// Are there objects of this name with indices?
    pub fn has_several(&self, family: &str) -> bool {
        self.by_name.keys().any(|name| name.strip_prefix(family).is_some_and(|rest| rest.starts_with('[')))
    }

    /// What a name with a dot means.
    pub fn find(&self, name: &str, at: Span) -> Result<Symbol, Mistake> {
        let (object, part) = name.split_once('.').unwrap_or((name, ""));
        match object {
            "energy" => return one_of(&["kinetic", "potential", "total"], part, at, Mechanical::Energy),
            "momentum" | "angular_momentum" => {
                let angular = object == "angular_momentum";
                return one_of(&AXES, part, at, |axis| Mechanical::Momentum { angular, axis });
            }
            _ => {}
        }
        match self.by_name.get(object) {
            Some((Object::Body(body), _)) => self.of_body(object, *body, part, at),
            Some((Object::Point { body, point }, _)) => {
                self.of_point(*body, Some(*point), part).map_or_else(|| Err(no_part(object, part, &POINT, at)), Ok)
            }
            Some((Object::Joint(joint), _)) => self.of_joint(object, *joint, part, at),
            Some((Object::Force, _)) => Err(no_part(object, part, &[], at)),
            None => Err(self.unknown(object, at)),
        }
    }

    /// The mistake of an object that does not exist.
    pub fn unknown(&self, object: &str, at: Span) -> Mistake {
        let mut known: Vec<&str> = self.by_name.keys().map(String::as_str).collect();
        known.sort_unstable();
        let help = match nearest(object, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", enumerate(known)),
        };
        Mistake::UnknownName { name: object.into(), at: at.into(), help: Some(help) }
    }

    /// Coordinates and velocities of a point; of the centre they are variables.
    fn of_point(&self, body: usize, point: Option<usize>, part: &str) -> Option<Symbol> {
        let (rate, axis) = match part.strip_prefix('v') {
            Some(axis) => (true, axis),
            None => (false, part),
        };
        let axis = AXES.iter().position(|name| *name == axis)?;
        let (np, nv) = if self.planar { (3, 3) } else { (7, 6) };
        match (point, self.moving[body]) {
            (None, Some(m)) if !(self.planar && axis == 2) => Some(if rate {
                Symbol::Variable(Quantity::Velocity, nv * m + axis)
            } else {
                Symbol::Variable(Quantity::Position, np * m + axis)
            }),
            _ if rate => Some(Symbol::Mechanical(Mechanical::Velocity { body, point, axis })),
            _ => Some(Symbol::Mechanical(Mechanical::Place { body, point, axis })),
        }
    }

    fn of_body(&self, name: &str, body: usize, part: &str, at: Span) -> Result<Symbol, Mistake> {
        if let Some(symbol) = self.of_point(body, None, part) {
            return Ok(symbol);
        }
        let axis_after =
            |prefix: &str| part.strip_prefix(prefix).and_then(|axis| AXES.iter().position(|name| *name == axis));
        let moving = self.moving[body];
        if let Some(axis) = axis_after("w.") {
            return Ok(Symbol::Mechanical(Mechanical::Spin { body, axis }));
        }
        if let (Some(m), false) = (moving, self.planar) {
            if let Some(axis) = axis_after("omega.") {
                return Ok(Symbol::Variable(Quantity::Velocity, 6 * m + 3 + axis));
            }
            if let Some(k) = ["q0", "q1", "q2", "q3"].iter().position(|q| *q == part) {
                return Ok(Symbol::Variable(Quantity::Position, 7 * m + 3 + k));
            }
        }
        if let (Some(m), true) = (moving, self.planar) {
            match part {
                "phi" => return Ok(Symbol::Variable(Quantity::Position, 3 * m + 2)),
                "omega" | "omega.z" => return Ok(Symbol::Variable(Quantity::Velocity, 3 * m + 2)),
                _ => {}
            }
        }
        if let Some((point, rest)) = part.split_once('.')
            && let Some(k) = self.points[body].iter().position(|known| known == point)
        {
            let found = self.of_point(body, Some(k), rest);
            return found.ok_or_else(|| no_part(&format!("{name}.{point}"), rest, &POINT, at));
        }
        let mut known: Vec<&str> = if self.planar {
            vec!["x", "y", "phi", "vx", "vy", "omega"]
        } else {
            vec!["x", "y", "z", "vx", "vy", "vz", "omega.x", "w.x", "q0", "q1", "q2", "q3"]
        };
        known.extend(self.points[body].iter().map(String::as_str));
        Err(no_part(name, part, &known, at))
    }

    fn of_joint(&self, name: &str, joint: usize, part: &str, at: Span) -> Result<Symbol, Mistake> {
        let coordinates = &self.coordinates[joint].2;
        let mut known: Vec<&str> = vec!["force.x", "force.world.x", "torque.x", "torque.world.x"];
        for (coordinate, names) in [(Coordinate::Angle, ["angle", "rate"]), (Coordinate::Travel, ["travel", "speed"])] {
            if coordinates.contains(&coordinate) {
                match names.iter().position(|known| *known == part) {
                    Some(0) => return Ok(Symbol::Mechanical(Mechanical::Coordinate { joint, coordinate })),
                    Some(_) => return Ok(Symbol::Mechanical(Mechanical::Rate { joint, coordinate })),
                    None => known.extend(names),
                }
            }
        }
        let mut words = part.split('.');
        let moment = match words.next() {
            Some("force") => Some(false),
            Some("torque") => Some(true),
            _ => None,
        };
        let rest: Vec<&str> = words.collect();
        let (in_world, axis) = match rest[..] {
            [axis] => (false, axis),
            ["world", axis] => (true, axis),
            _ => (false, ""),
        };
        match (moment, AXES.iter().position(|known| *known == axis)) {
            (Some(moment), Some(axis)) => {
                Ok(Symbol::Mechanical(Mechanical::Reaction { joint, moment, axis, in_world }))
            }
            _ => Err(no_part(name, part, &known, at)),
        }
    }
}

const POINT: [&str; 6] = ["x", "y", "z", "vx", "vy", "vz"];

/// The part of this name among those that there are.
fn one_of(names: &[&str], part: &str, at: Span, make: impl Fn(usize) -> Mechanical) -> Result<Symbol, Mistake> {
    let found = names.iter().position(|name| *name == part);
    found.map(|k| Symbol::Mechanical(make(k))).ok_or_else(|| no_part("it", part, names, at))
}

fn no_part(object: &str, part: &str, known: &[&str], at: Span) -> Mistake {
    let help = match nearest(part, known.iter().copied()) {
        Some(near) if !part.is_empty() => {
            format!("did you mean `{object}.{near}`? It has {}", enumerate(known.iter().copied()))
        }
        _ if known.is_empty() => "a force has no parts that formulas could use".to_string(),
        _ => format!("it has {}", enumerate(known.iter().copied())),
    };
    let name = if part.is_empty() { object.to_string() } else { format!("{object}.{part}") };
    Mistake::UnknownName { name, at: at.into(), help: Some(help) }
}
