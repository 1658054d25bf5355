//! Solve systems with modes.

use super::error::HybridError;
use super::mode::ActiveMode;
use super::options::HybridOptions;
use super::solution::HybridSolution;
use super::system::Hybrid;
use crate::error::BadOption;
use crate::observer::Observer;
use crate::options::Options;
use crate::problem::Problem;
use crate::run::Execution;
use crate::run::place::Place;
use crate::solution::Ended;
use crate::solve::{Solver, check_times};

/// ```
/// use daedal::prelude::*;
///
/// /// A ball: height and velocity.
/// struct Ball;
/// impl Equations for Ball {
///     fn dim(&self) -> usize { 2 }
///     fn residual<S: Scalar>(&self, _: S, x: &[S], xdot: &[S], r: &mut [S]) {
///         r[0] = xdot[0] - x[1];
///         r[1] = xdot[1] + 9.81;
///     }
/// }
///
/// let mut system = Hybrid::new();
/// let flying = system.mode(Mode::equations("flying", &Ball));
/// let bounce = Transition::when(flying, flying, "height <= 0", |_, x| x[0]).transfer(|_, old, _, new| new[1] = -0.5 * old[1]);
/// system.transition(bounce);
/// let problem = Problem::new(&system, Initial::new(0.0, &[1.0, 0.0]).in_mode(flying), 1.0);
/// let solution = solve(&problem, &HybridOptions::default(), &Options::default())?;
/// // the fall takes √(2/9.81)
/// assert!((solution.switches[0].t - 0.4515236409857309).abs() < 1e-9);
/// # Ok::<(), daedal::hybrid::HybridError>(())
/// ```
impl<'h> Solver<Hybrid<'h>> for HybridOptions {
    fn solve(
        &self,
        problem: &Problem<Hybrid<'h>>,
        options: &Options,
        observers: &mut [&mut dyn Observer<ActiveMode>],
    ) -> Result<HybridSolution, HybridError> {
        let (t0, tend, first) = (problem.initial.t, problem.tend, problem.initial.mode);
        if tend < t0 {
            return Err(BadOption::Backward {
                t0,
                tend,
                what: "a system with modes, whose switches do not say where they came from,",
                instead: "solve the equations of one mode without transitions",
            }
            .into());
        }
        check_times(t0, tend, &options.save)?;
        options.check()?;
        self.check()?;
        problem.system.check(first)?;
        if options.tolerance.usual().is_none() {
            return Err(HybridError::System(
                "modes may have different unknowns: give one tolerance for all, or tolerances by name, instead of one for each".into(),
            ));
        }
        let options = &options.over(t0, tend);
        let given = |k: usize| Place::given(problem.system, k, &problem.events);
        let places: Vec<Place> = (0..problem.system.modes.len()).map(given).collect();
        if let Some(event) = problem.events.first()
            && let Some(other) = places.iter().find(|place| place.unknowns != places[first].unknowns)
        {
            let (event, mode, other) = (&event.name, &places[first].name, &other.name);
            return Err(HybridError::System(format!(
                "the event `{event}` is to hold in all modes, but `{mode}` and `{other}` have different unknowns: give it to modes (`Mode::event`)"
            )));
        }
        let mut run = Execution::new(problem.system, places, first, (t0, tend), options, self);
        match run.enter_first(&problem.initial).and_then(|()| run.make(observers)) {
            Ok(ended) => Ok(run.finish(ended, options.verify)),
            Err(cause) => {
                let partial = Box::new(run.finish(Ended::ByFailure, options.verify));
                Err(HybridError::Stopped { cause: Box::new(cause), partial })
            }
        }
    }
}
