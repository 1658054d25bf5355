//! Consistent initial values, in the shape in which a model takes them.

mod general;
pub mod hybrid;
mod motion;

use crate::arguments::Init;
use crate::failure::Failure;
use crate::setup::{Equations, Setup};
use daedal::motion::Start;

/// Find consistent initial values and print them.
pub fn init(arguments: &Init) -> Result<(), Failure> {
    let setup = Setup::resolve(&arguments.model)?;
    let found = match &setup.equations {
        Equations::Motion(motion) => motion::init(&setup, motion, arguments),
        Equations::General(general) => general::init(&setup, general, arguments),
        Equations::Hybrid(switched) => hybrid::init(&setup, switched, arguments),
    };
    found.map_err(|failure| failure.at(&setup.places))
}

/// What is said about variables on the command line, once about each.
fn said(arguments: &Init) -> Result<Vec<(String, Start)>, Failure> {
    let fixed = arguments.fix.iter().map(|(name, value)| (name.clone(), Start::Fixed(*value)));
    let guessed = arguments.guess.iter().map(|(name, value)| (name.clone(), Start::Guess(*value)));
    let unknown = arguments.unknown.iter().map(|name| (name.clone(), Start::Unknown));
    let said: Vec<(String, Start)> = fixed.chain(guessed).chain(unknown).collect();
    match (1..said.len()).find(|&k| said[..k].iter().any(|(before, _)| *before == said[k].0)) {
        Some(k) => Err(Failure::SaidTwice { name: said[k].0.clone() }),
        None => Ok(said),
    }
}

/// A name as a key of TOML, quoted where it must be.
fn key(name: &str) -> String {
    let bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if bare { name.to_string() } else { format!("{name:?}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_where_toml_needs_it() {
        assert_eq!(key("vx_1"), "vx_1");
        assert_eq!(key("body.x"), "\"body.x\"");
    }
}
