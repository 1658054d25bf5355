//! Solve general systems.

use super::System;
use super::fallback::prepare_tried;
use super::problem::{Form, PrepareError, Unknowns};
use crate::backward;
use crate::error::SolveError;
use crate::method::{Integrator, StartFailure, State};
use crate::observer::Observer;
use crate::options::Options;
use crate::problem::Problem;
use crate::run::{Alone, CourseOfSystem};
use crate::solution::Solution;
use crate::solve::{Solver, check_times};
use crate::verify::Verifier;

/// A method for a general system in a form of its own; without it the form is [`Form::Auto`].
///
/// ```
/// use daedal::prelude::*;
///
/// /// A pendulum: x, y, u, v and the force λ in the rod. Its index is three.
/// struct Pendulum;
/// impl Equations for Pendulum {
///     fn dim(&self) -> usize { 5 }
///     fn residual<S: Scalar>(&self, _: S, x: &[S], xdot: &[S], r: &mut [S]) {
///         let (p, q, lambda) = (x[0], x[1], x[4]);
///         r[0] = xdot[0] - x[2];
///         r[1] = xdot[1] - x[3];
///         r[2] = xdot[2] + p * lambda;
///         r[3] = xdot[3] + q * lambda + 1.0;
///         r[4] = p.square() + q.square() - 1.0;
///     }
/// }
///
/// let system = System::of(&Pendulum);
/// let problem = Problem::new(&system, Initial::new(0.0, &[1.0, 0.0, 0.0, 0.0, 0.0]), 10.0);
/// let options = Options { tolerance: Tolerance::new(1e-9, 1e-9), ..Options::default() };
/// let solution = solve(&problem, &RadauIIa::default(), &options)?;
/// // exact value from elliptic functions
/// assert!((solution.end.x[0] + 0.8115864461913038).abs() < 1e-7);
/// assert!(solution.max_residuals.hidden.unwrap() < 1e-8);
/// // the derivative array itself
/// let method = InForm { form: Form::DerivativeArray, integrator: &RadauIIa::default() };
/// let solution = solve(&problem, &method, &options)?;
/// assert!((solution.end.x[0] + 0.8115864461913038).abs() < 1e-7);
/// # Ok::<(), daedal::SolveError<daedal::dae::Unknowns>>(())
/// ```
#[derive(Clone, Copy)]
pub struct InForm<'i> {
    /// Which equations are integrated.
    pub form: Form,
    /// The method.
    pub integrator: &'i dyn Integrator,
}

impl Solver<System> for InForm<'_> {
    fn solve(
        &self,
        problem: &Problem<System>,
        options: &Options,
        observers: &mut [&mut dyn Observer<Unknowns>],
    ) -> Result<Solution<Unknowns>, SolveError<Unknowns>> {
        solve_in(problem, self.form, self.integrator, options, observers)
    }
}

impl<I: Integrator> Solver<System> for I {
    fn solve(
        &self,
        problem: &Problem<System>,
        options: &Options,
        observers: &mut [&mut dyn Observer<Unknowns>],
    ) -> Result<Solution<Unknowns>, SolveError<Unknowns>> {
        InForm { form: Form::Auto, integrator: self }.solve(problem, options, observers)
    }
}

impl Solver<System> for dyn Integrator + '_ {
    fn solve(
        &self,
        problem: &Problem<System>,
        options: &Options,
        observers: &mut [&mut dyn Observer<Unknowns>],
    ) -> Result<Solution<Unknowns>, SolveError<Unknowns>> {
        InForm { form: Form::Auto, integrator: self }.solve(problem, options, observers)
    }
}

fn solve_in(
    problem: &Problem<System>,
    form: Form,
    method: &dyn Integrator,
    options: &Options,
    observers: &mut [&mut dyn Observer<Unknowns>],
) -> Result<Solution<Unknowns>, SolveError<Unknowns>> {
    check_times(problem.initial.t, problem.tend, &options.save)?;
    options.check()?;
    let form = match method.own_form(problem.system).map_err(SolveError::Start)? {
        None => form,
        Some(own) if form == Form::Auto || form == own => own,
        Some(own) => return Err(SolveError::Start(StartFailure::OtherForm { form: own.name() })),
    };
    if problem.tend < problem.initial.t {
        return backward::general(problem, form, method, options, observers);
    }
    let options = &options.over(problem.initial.t, problem.tend);
    let prepared = prepare_tried(problem, form, method, options).map_err(refused)?;
    let named = options.for_unknowns(&prepared.names[..prepared.unknowns.dim]);
    let options = named.as_ref().unwrap_or(options);
    let start = State { t: prepared.at.t, x: prepared.at.x.clone() };
    let (unknowns, refused, length) = (prepared.unknowns, prepared.refused, problem.tend - start.t);
    let tolerances = options.tolerance.of_states(prepared.names.len());
    let verifier = options.verify.then(|| Verifier::new(problem.system, &prepared.names, &tolerances, length));
    let system = prepared.completed.as_ref().unwrap_or(problem.system);
    let alone = Alone {
        layout: &unknowns,
        names: prepared.names,
        start,
        tend: problem.tend,
        events: &problem.events,
        course: &CourseOfSystem { system, array: prepared.array.as_ref(), values: Some(unknowns.values) },
        tolerances,
        verifier,
        options,
    };
    let mut outcome = alone.run(|| method.start(prepared.dae, prepared.at, options), observers);
    let solution = match &mut outcome {
        Ok(solution) => Some(solution),
        Err(SolveError::Stopped { partial, .. }) => Some(&mut **partial),
        Err(_) => None,
    };
    if let Some(solution) = solution {
        solution.undetermined.extend(prepared.free.into_iter().map(|name| vec![(name, 1.0)]));
        if let Some(reason) = refused {
            solution.decisions += "; hidden constraints as formulas were not taken: ";
            solution.decisions += &reason.to_string();
        }
    }
    outcome
}

/// Why a run could not be started.
pub(crate) fn refused(error: PrepareError) -> SolveError<Unknowns> {
    match error {
        PrepareError::Analysis(error) => error.into(),
        PrepareError::Start(StartFailure::Options(bad)) => bad.into(),
        PrepareError::Start(failure) => SolveError::Start(failure),
    }
}
