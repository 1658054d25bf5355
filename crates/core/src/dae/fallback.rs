//! Formulas of hidden constraints are tried before they are trusted, where equations are redundant or terms were left out.
//!
//! Redundant nonlinear equations look independent beside the constraints, and which of them are taken may turn out wrong in the first steps.
//! So a few steps are made for a trial; where they fail and the derivative array, which projects all equations, makes them, it is taken.

use super::System;
use super::characteristics::{Depth, characterise};
use super::problem::{Form, PrepareError, Prepared, array, prepare_by};
use crate::method::Integrator;
use crate::options::Options;
use crate::problem::Problem;

/// Steps of a trial.
const TRIAL_STEPS: usize = 10;

/// Put a problem into a form with which this method makes its first steps, if there is one.
pub(super) fn prepare_tried(
    problem: &Problem<System>,
    form: Form,
    method: &dyn Integrator,
    options: &Options,
) -> Result<Prepared, PrepareError> {
    let (system, initial) = (problem.system, &problem.initial);
    let prepare = || prepare_by(system, initial, form, options.ranks());
    let prepared = prepare()?;
    let doubtful = prepared.unknowns.values.v > 0 || prepared.array.as_ref().is_some_and(|a| !a.omitted.is_empty());
    let formulas = form == Form::Auto && prepared.unknowns.form == Form::QuasiLinear;
    // only formulas keep invariants, and free unknowns are completed before
    if prepared.completed.is_some() || !formulas || !doubtful || !system.first.invariants.is_empty() {
        return Ok(prepared);
    }
    let Err(failure) = trial(prepared, problem.tend, method, options) else { return prepare() };
    let found = characterise(system, initial, Depth { ranks: options.ranks(), ..Depth::default() })?;
    let better = array(system, &found, None).is_ok_and(|other| trial(other, problem.tend, method, options).is_ok());
    if better { array(system, &found, Some(failure)) } else { prepare() }
}

fn trial(prepared: Prepared, tend: f64, method: &dyn Integrator, options: &Options) -> Result<(), PrepareError> {
    let named = options.for_unknowns(&prepared.names[..prepared.unknowns.dim]);
    let options = named.as_ref().unwrap_or(options);
    let mut stepper = method.start(prepared.dae, prepared.at, options).map_err(PrepareError::Start)?;
    for _ in 0..TRIAL_STEPS {
        if stepper.state().t < tend {
            stepper.advance(tend)?;
        }
    }
    Ok(())
}
