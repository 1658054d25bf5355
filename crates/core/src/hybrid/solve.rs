//! The mode controller.

use super::error::HybridError;
use super::options::HybridOptions;
use super::problem::Problem;
use super::solution::HybridSolution;
use crate::observer::Observer;
use crate::options::Options;

/// Where an observer stands: the mode that is active.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActiveMode {
    /// Its place in [`HybridSolution::modes`].
    pub mode: usize,
    /// Its name.
    pub name: String,
}

/// Solve a hybrid problem.
pub fn solve(problem: &Problem, options: &Options, hybrid: &HybridOptions) -> Result<HybridSolution, HybridError> {
    solve_observed(problem, options, hybrid, &mut [])
}

/// Solve a hybrid problem while observers look on.
pub fn solve_observed(
    _problem: &Problem,
    _options: &Options,
    _hybrid: &HybridOptions,
    _observers: &mut [&mut dyn Observer<ActiveMode>],
) -> Result<HybridSolution, HybridError> {
    todo!()
}
