//! Solve a problem.

use crate::backward;
use crate::dae::{self, System};
use crate::error::{BadOption, SolveError};
use crate::event::Event;
use crate::graph::Interpreted;
use crate::method::{Method, State};
use crate::motion::{Form, Layout, Mechanism, consistent};
use crate::observer::Observer;
use crate::options::{Options, Save};
use crate::problem::{Class, Problem};
use crate::run::{Alone, CourseOfMotion};
use crate::solution::Solution;
use crate::verify::Verifier;
use std::ops::Deref;

/// A way to solve problems of a class of systems: a method with its options, or [`Auto`](crate::Auto).
pub trait Solver<S: Class + ?Sized> {
    /// Solve a problem while observers look on.
    fn solve(
        &self,
        problem: &Problem<S>,
        options: &Options,
        observers: &mut [&mut dyn Observer<S::Layout>],
    ) -> Result<S::Solution, S::Error>;
}

/// Solve a problem.
///
/// ```
/// use daedal::prelude::*;
///
/// /// A point mass on a rod, in absolute coordinates.
/// struct Pendulum;
/// impl EquationsOfMotion for Pendulum {
///     fn sizes(&self) -> Sizes { Sizes { positions: 2, velocities: 2, holonomic: 1, ..Sizes::default() } }
///     fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
///         M[(0, 0)] = S::from(1.0);
///         M[(1, 1)] = S::from(1.0);
///     }
///     fn force<S: Scalar>(&self, _: &Motion<S>, f: &mut [S]) { f[1] = S::from(-9.81); }
///     fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
///         g[0] = at.p[0].square() + at.p[1].square() - 1.0;
///     }
/// }
///
/// let problem = Problem::new(&Pendulum, Initial::motion(0.0, &[-1.0, 0.0], &[0.0, 0.0]), 10.0);
/// let options = Options { tolerance: Tolerance::new(1e-10, 1e-10), ..Options::default() };
/// let solution = solve(&problem, &Geoms::default(), &options)?;
/// // exact value from elliptic functions
/// assert!((solution.at_end().p[0] + 0.2750874625761169).abs() < 1e-8);
/// # Ok::<(), SolveError>(())
/// ```
pub fn solve<S: Class + ?Sized, M: Solver<S> + ?Sized>(
    problem: &Problem<S>,
    method: &M,
    options: &Options,
) -> Result<S::Solution, S::Error> {
    method.solve(problem, options, &mut [])
}

/// Solve a problem while observers look on.
pub fn solve_observed<S: Class + ?Sized, M: Solver<S> + ?Sized>(
    problem: &Problem<S>,
    method: &M,
    options: &Options,
    observers: &mut [&mut dyn Observer<S::Layout>],
) -> Result<S::Solution, S::Error> {
    method.solve(problem, options, observers)
}

impl<'m, M: for<'a> Method<dyn Mechanism + 'a> + ?Sized> Solver<dyn Mechanism + 'm> for M {
    fn solve(
        &self,
        problem: &Problem<dyn Mechanism + 'm>,
        options: &Options,
        observers: &mut [&mut dyn Observer],
    ) -> Result<Solution, SolveError> {
        solve_motion(problem, |_| self, options, observers)
    }
}

/// Solve equations of motion with a method that may depend on their consistent start.
pub(crate) fn solve_motion<'m, M: for<'a> Method<dyn Mechanism + 'a> + ?Sized, C: Deref<Target = M>>(
    problem: &Problem<dyn Mechanism + 'm>,
    choose: impl FnOnce(&State) -> C,
    options: &Options,
    observers: &mut [&mut dyn Observer],
) -> Result<Solution, SolveError> {
    let t0 = problem.trusted.as_ref().map_or(problem.initial.t, |s| s.t);
    check_times(t0, problem.tend, &options.save)?;
    options.check()?;
    let start = match &problem.trusted {
        Some(state) => state.clone(),
        None => {
            let (initial, form) = (&problem.initial, Form::StrangenessFree);
            consistent::initialise_by(problem.system, initial, form, options.ranks())?.state
        }
    };
    let method = choose(&start);
    if problem.tend < t0 {
        return backward::motion(problem, &start, &*method, options, observers);
    }
    forward(problem.system, &start, (problem.tend, &problem.events), &*method, options, observers)
}

/// Solve from a consistent start to a later time.
pub(crate) fn forward<M: for<'a> Method<dyn Mechanism + 'a> + ?Sized>(
    system: &dyn Mechanism,
    start: &State,
    (tend, events): (f64, &[Event]),
    method: &M,
    options: &Options,
    observers: &mut [&mut dyn Observer],
) -> Result<Solution, SolveError> {
    let t0 = start.t;
    let options = &options.over(t0, tend);
    let layout = Layout::new(system.sizes(), Form::StrangenessFree, false);
    let names = layout.variable_names(&system.names());
    let named = options.for_motion(&layout, &names);
    let options = named.as_ref().unwrap_or(options);
    // what is wrong with them the method says
    let tolerances = options.tolerance.pairs(&layout).unwrap_or_else(|_| options.tolerance.of_states(layout.dim()));
    let wanted = options.verify.then(|| verifier_of_motion(system, &names, &tolerances, tend - t0));
    let alone = Alone {
        layout: &layout,
        names,
        start: start.clone(),
        tend,
        events,
        course: &CourseOfMotion(system),
        tolerances,
        verifier: wanted.flatten(),
        options,
    };
    alone.run(|| method.start(system, start.clone(), options), observers)
}

/// Looks at the equations of motion as they were written; a black box has none.
fn verifier_of_motion(
    system: &dyn Mechanism,
    names: &[String],
    tolerances: &[(f64, f64)],
    length: f64,
) -> Option<Verifier> {
    let formulas = dae::Formulas::of_motion(&system.formulas()?);
    Some(Verifier::new(&System::new(&formulas, Interpreted), names, tolerances, length))
}

/// Is the end finite, and do the times to save at lie inside the interval, in the order of the run?
pub(crate) fn check_times(t0: f64, tend: f64, save: &Save) -> Result<(), BadOption> {
    if !tend.is_finite() {
        return Err(BadOption::OutOfRange { name: "tend", value: tend, expected: "it must be finite" });
    }
    if let Save::At(times) = save {
        let sense = if tend < t0 { -1.0 } else { 1.0 };
        let mut last = t0;
        for &value in times {
            if !(sense * value >= sense * last && sense * value <= sense * tend) {
                let expected = if tend < t0 {
                    "the times must fall, as in a run backward, and lie in the interval"
                } else {
                    "the times must rise and lie in the interval"
                };
                return Err(BadOption::OutOfRange { name: "a time to save at", value, expected });
            }
            last = value;
        }
    }
    Ok(())
}
