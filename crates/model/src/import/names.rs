//! Names of a robot's file as names of a model file: one for each thing, letters, digits and underscores.

use super::xml::Log;
use crate::formula::ast::is_reserved;
use std::collections::HashSet;

/// Words that have a meaning beside bodies and in laws of forces.
const TAKEN: [&str; 12] = [
    "ground",
    "energy",
    "momentum",
    "angular_momentum",
    "lambda",
    "mu",
    "angle",
    "rate",
    "travel",
    "speed",
    "length",
    "x",
];

/// Names that are given away.
#[derive(Debug, Default)]
pub(super) struct TakenNames {
    used: HashSet<String>,
}

impl TakenNames {
    /// The name of something that is called like this in its file; `suffix` is added where another thing has the name.
    pub fn take(&mut self, log: &mut Log, called: &str, suffix: &str) -> String {
        let name = self.free(called, suffix);
        if name != called {
            log.note("names are changed where a model file does not allow them; comments tell the old ones");
        }
        name
    }

    /// The name of something that has none.
    pub fn free(&mut self, called: &str, suffix: &str) -> String {
        let plain = identifier(called);
        let mut name = plain.clone();
        if !self.is_free(&name) {
            name = format!("{plain}_{suffix}");
        }
        let mut number = 2;
        while !self.is_free(&name) {
            name = format!("{plain}_{suffix}_{number}");
            number += 1;
        }
        self.used.insert(name.clone());
        name
    }

    fn is_free(&self, name: &str) -> bool {
        !self.used.contains(name) && !is_reserved(name) && !TAKEN.contains(&name)
    }
}

/// Letters, digits and underscores, a letter first.
fn identifier(called: &str) -> String {
    let plain: String = called.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    match plain.chars().next() {
        Some(first) if first.is_ascii_alphabetic() => plain,
        Some('_') => format!("n{plain}"),
        Some(_) => format!("n_{plain}"),
        None => "n".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_different() {
        let (mut names, mut log) = (TakenNames::default(), Log::default());
        let mut take = |called: &str, suffix: &str| names.take(&mut log, called, suffix);
        assert_eq!(take("upper arm/1", "joint"), "upper_arm_1");
        assert_eq!(take("elbow", "body"), "elbow");
        assert_eq!(take("elbow", "joint"), "elbow_joint");
        assert_eq!(take("elbow", "joint"), "elbow_joint_2");
        assert_eq!(take("6dof", "body"), "n_6dof");
        assert_eq!(take("sin", "body"), "sin_body");
        assert_eq!(take("ground", "body"), "ground_body");
        assert_eq!(take("t", "body"), "t_body");
    }
}
