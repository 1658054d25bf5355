//! Which constraints a system has at which level, and its index.

use super::constraints::Constraints;
use super::mass::Mass;
use crate::motion::{Names, Sizes};

/// What kind of equation a constraint is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// g, with gI and gII.
    Holonomic,
    /// H Z v + h, with hI.
    Nonholonomic,
    /// c, which defines contact variables.
    Contact,
    /// d, which defines auxiliary variables.
    Auxiliary,
    /// e, kept at its initial value.
    Invariant,
}

/// What an equation restricts: positions, velocities, or accelerations with multipliers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// c, g.
    Position,
    /// gI, H Z v + h, e.
    Velocity,
    /// gII, hI, d.
    Acceleration,
}

/// A constraint of one level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Equation {
    /// Name of the constraint, of its variable for contact and auxiliary equations.
    pub name: String,
    /// Which kind.
    pub kind: Kind,
    /// Which level.
    pub level: Level,
    /// Is it derived from the equations that are given?
    pub hidden: bool,
    /// How it reads, where formulas are known.
    pub formula: Option<String>,
}

/// How a constraint of one level reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula {
    /// Name of the constraint.
    pub name: String,
    /// Which kind.
    pub kind: Kind,
    /// Which level.
    pub level: Level,
    /// The text.
    pub text: String,
}

/// Constraints of all levels, in the order of levels.
pub(super) fn equations(names: &Names) -> Vec<Equation> {
    let blocks: [(&[String], Kind, Level, bool); 8] = [
        (&names.contact, Kind::Contact, Level::Position, false),
        (&names.holonomic, Kind::Holonomic, Level::Position, false),
        (&names.holonomic, Kind::Holonomic, Level::Velocity, true),
        (&names.nonholonomic, Kind::Nonholonomic, Level::Velocity, false),
        (&names.invariants, Kind::Invariant, Level::Velocity, false),
        (&names.holonomic, Kind::Holonomic, Level::Acceleration, true),
        (&names.nonholonomic, Kind::Nonholonomic, Level::Acceleration, true),
        (&names.auxiliary, Kind::Auxiliary, Level::Acceleration, false),
    ];
    let equation =
        |name: &String, (kind, level, hidden)| Equation { name: name.clone(), kind, level, hidden, formula: None };
    blocks
        .into_iter()
        .flat_map(|(names, kind, level, hidden)| names.iter().map(move |name| equation(name, (kind, level, hidden))))
        .collect()
}

/// Indices of the equations as they are given, at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Index {
    /// Strangeness index.
    pub strangeness: u8,
    /// Differentiation index; `None` where redundant constraints leave multipliers undetermined.
    pub differentiation: Option<u8>,
}

/// Index 3 with holonomic constraints, 2 with nonholonomic ones only, 1 with contact or auxiliary variables only. Steinbrecher
/// (2006), 4.2. Not decided where M is singular or the equations are.
pub(super) fn index(sizes: &Sizes, constraints: &Constraints, mass: &Mass) -> Option<Index> {
    if mass.rank.rank < sizes.velocities
        || mass.accelerations.rank != mass.accelerations.cols - constraints.redundancies.len()
    {
        return None;
    }
    let strangeness = match (constraints.holonomic.rank, constraints.all.rank) {
        (0, 0) => 0,
        (0, _) => 1,
        _ => 2,
    };
    let algebraic = sizes.contact + sizes.auxiliary + sizes.holonomic + sizes.nonholonomic > 0;
    let differentiation = constraints.redundancies.is_empty().then_some(if algebraic { strangeness + 1 } else { 0 });
    Some(Index { strangeness, differentiation })
}
