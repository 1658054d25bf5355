//! The method that suits a system.

use crate::analysis::choose_by;
use crate::dae::{System, Unknowns};
use crate::error::SolveError;
use crate::hybrid::{ActiveMode, Hybrid, HybridError, HybridOptions, HybridSolution};
use crate::method::{NonstiffFirst, State};
use crate::motion::Mechanism;
use crate::observer::Observer;
use crate::options::Options;
use crate::problem::Problem;
use crate::solution::Solution;
use crate::solve::{Solver, solve_motion};

/// What suits the system: for equations of motion what [`choose`](crate::analysis::choose) finds at their consistent start, for general systems Radau IIa on the
/// cheapest form, or for ordinary differential equations an explicit pair as long as they are not stiff, for systems with modes what their modes say.
///
/// ```
/// use daedal::prelude::*;
///
/// /// Two species: prey and predators.
/// struct Lotka;
/// impl OrdinaryEquations for Lotka {
///     fn dim(&self) -> usize { 2 }
///     fn rates<S: Scalar>(&self, _: S, x: &[S], f: &mut [S]) {
///         f[0] = x[0] * (S::from(1.0) - x[1]);
///         f[1] = x[1] * (x[0] - 1.0);
///     }
/// }
/// let system = System::explicit(&Lotka);
/// let problem = Problem::new(&system, Initial::new(0.0, &[2.0, 1.0]), 10.0);
/// let solution = solve(&problem, &Auto, &Options::default())?;
/// // x − ln x + y − ln y is kept
/// let kept = |x: &[f64]| x[0] - x[0].ln() + x[1] - x[1].ln();
/// assert!((kept(&solution.end.x) - kept(&[2.0, 1.0])).abs() < 1e-6);
/// # Ok::<(), SolveError<daedal::dae::Unknowns>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Auto;

impl<'m> Solver<dyn Mechanism + 'm> for Auto {
    fn solve(
        &self,
        problem: &Problem<dyn Mechanism + 'm>,
        options: &Options,
        observers: &mut [&mut dyn Observer],
    ) -> Result<Solution, SolveError> {
        let chosen = |start: &State| {
            // backward in time the scales are the same
            let tend = start.t + (problem.tend - start.t).abs();
            choose_by(problem.system, start, tend, options.ranks()).method(options.tolerance.rtol())
        };
        solve_motion(problem, chosen, options, observers)
    }
}

impl Solver<System> for Auto {
    fn solve(
        &self,
        problem: &Problem<System>,
        options: &Options,
        observers: &mut [&mut dyn Observer<Unknowns>],
    ) -> Result<Solution<Unknowns>, SolveError<Unknowns>> {
        NonstiffFirst.solve(problem, options, observers)
    }
}

impl<'h> Solver<Hybrid<'h>> for Auto {
    fn solve(
        &self,
        problem: &Problem<Hybrid<'h>>,
        options: &Options,
        observers: &mut [&mut dyn Observer<ActiveMode>],
    ) -> Result<HybridSolution, HybridError> {
        HybridOptions::default().solve(problem, options, observers)
    }
}
