//! Reference problems by the names that people give them.

use crate::error::Error;
use daedal_problems::{ReferenceProblem, all};

/// The problem that a name means.
pub struct Meant {
    /// The problem.
    pub problem: &'static ReferenceProblem,
    /// What was taken for what, if the name is not that of the problem.
    pub note: Option<String>,
}

/// The problem of that name, or the one that can be meant: `_` stands for `-`, and the beginning of a name for the only problem that
/// begins so, or for the first of a family, as `skateboard` for `skateboard-1`. Which one is taken is told.
pub fn find(name: &str) -> Result<Meant, Error> {
    if let Some(problem) = daedal_problems::find(name) {
        return Ok(Meant { problem, note: None });
    }
    if let Some((problem, others)) = meant(name) {
        let besides = if others.is_empty() { String::new() } else { format!(" (there is {}, too)", others.join(", ")) };
        let note = Some(format!("{name} is taken for the problem {}{besides}", problem.name));
        return Ok(Meant { problem, note });
    }
    let known = all().iter().map(|problem| problem.name.to_string()).collect();
    Err(Error::UnknownName { kind: "model file or reference problem", name: name.to_string(), known })
}

/// The problem that an unknown name can mean, and others that it may.
fn meant(name: &str) -> Option<(&'static ReferenceProblem, Vec<&'static str>)> {
    let name = name.to_lowercase().replace('_', "-");
    if let Some(problem) = daedal_problems::find(&name) {
        return Some((problem, Vec::new()));
    }
    // one letter says nothing
    let begins = |problem: &&ReferenceProblem| name.len() > 1 && problem.name.starts_with(&name);
    let candidates: Vec<&ReferenceProblem> = all().iter().filter(begins).collect();
    let (first, others) = candidates.split_first()?;
    let family = candidates.iter().all(|problem| problem.name[name.len()..].starts_with('-'));
    (others.is_empty() || family).then(|| (*first, others.iter().map(|problem| problem.name).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_can_mean_only_one_problem_are_taken() {
        let taken = |name: &str| meant(name).map(|(problem, others)| (problem.name, others));
        assert_eq!(taken("slider_crank"), Some(("slider-crank", vec![])));
        assert_eq!(taken("Truck"), Some(("truck", vec![])));
        assert_eq!(taken("andr"), Some(("andrews", vec![])));
        assert_eq!(taken("skateboard"), Some(("skateboard-1", vec!["skateboard-2"])));
        assert_eq!(taken("pend"), None, "several problems begin so");
        assert_eq!(taken("s"), None);
        assert_eq!(taken("pendulm"), None);
    }
}
