//! How the constraints of all levels read.

use daedal::analysis::{Formula, Kind, Level};
use daedal::graph::Expr;
use daedal::motion::Formulas;

/// Formulas of all constraints, and of long subexpressions that occur more than once.
#[derive(Default)]
pub struct Texts {
    /// Names of subexpressions, in the order they are needed.
    pub definitions: Vec<(String, String)>,
    /// Constraints of all levels.
    pub formulas: Vec<Formula>,
}

/// Write out the constraints and what follows from them.
pub fn texts(formulas: &Formulas) -> Texts {
    let hidden = formulas.hidden();
    let names = &formulas.names;
    let blocks: [(&[String], &[Expr], Kind, Level); 8] = [
        (&names.contact, &formulas.contact, Kind::Contact, Level::Position),
        (&names.holonomic, &formulas.holonomic, Kind::Holonomic, Level::Position),
        (&names.holonomic, &hidden.holonomic_velocity, Kind::Holonomic, Level::Velocity),
        (&names.nonholonomic, &formulas.nonholonomic, Kind::Nonholonomic, Level::Velocity),
        (&names.invariants, &formulas.invariant, Kind::Invariant, Level::Velocity),
        (&names.holonomic, &hidden.holonomic_acceleration, Kind::Holonomic, Level::Acceleration),
        (&names.nonholonomic, &hidden.nonholonomic_acceleration, Kind::Nonholonomic, Level::Acceleration),
        (&names.auxiliary, &formulas.auxiliary, Kind::Auxiliary, Level::Acceleration),
    ];
    let all: Vec<Expr> = blocks.iter().flat_map(|(_, block, ..)| block.iter().copied()).collect();
    let listing = hidden.graph.listing(&all);
    let told = blocks.iter().flat_map(|&(names, _, kind, level)| names.iter().map(move |name| (name, kind, level)));
    let formulas = told
        .zip(listing.formulas)
        .map(|((name, kind, level), text)| {
            let text = if kind == Kind::Invariant { format!("{text} = constant") } else { format!("0 = {text}") };
            Formula { name: name.clone(), kind, level, text }
        })
        .collect();
    Texts { definitions: listing.definitions, formulas }
}
