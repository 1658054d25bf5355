//! Simulate a model: resolve the arguments into a run, make the run, write what it computed.

use crate::arguments::{FORMULATIONS, GeomsArguments, Kept, Solve};
use crate::failure::{Failure, is_numerical, print};
use crate::output::{self, Output};
use crate::progress::Progress;
use crate::record::{StepRecorder, record};
use crate::setup::Setup;
use crate::summary;
use daedal::observer::Observer;
use daedal::{Geoms, Options, Save, Solution, SolveError, Tolerance, solve_observed};
use std::time::Instant;

/// The relative tolerance where none is given.
const RTOL: f64 = 1e-7;

/// All that a run needs to know.
pub struct Run {
    pub setup: Setup,
    pub rtol: f64,
    pub atol: f64,
    pub method: Geoms,
    pub options: Options,
    pub report: Report,
}

/// What is printed about a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Report {
    /// Some lines for people.
    Summary,
    /// One JSON object.
    Statistics,
}

/// Simulate.
pub fn solve(arguments: &Solve) -> Result<(), Failure> {
    let run = Run::resolve(arguments)?;
    let outputs = Output::open_all(&arguments.output)?;
    // only the end is kept, or only columns: nobody asks for the steps
    let asked = run.options.save != Save::End && outputs.iter().any(Output::holds_steps);
    let mut recorder = asked.then(StepRecorder::default);
    let (outcome, seconds) = run.make(recorder.as_mut());
    let solution = match &outcome {
        Ok(solution) => Some(solution),
        Err(SolveError::Stopped { partial, .. }) => Some(&**partial),
        Err(_) => None,
    };
    let written = if let Some(solution) = solution {
        let steps = recorder.map(StepRecorder::steps);
        output::write_all(outputs, &record(&run, solution, steps, outcome.as_ref().err(), seconds))
    } else {
        output::discard_all(outputs);
        Ok(())
    };
    let printed = run.print(solution, outcome.as_ref().err(), &arguments.output, seconds);
    match outcome {
        Ok(_) => written.and(printed),
        Err(error) => {
            // the reason of the stop comes last; what went wrong besides must not be lost
            for failure in [written, printed].into_iter().filter_map(Result::err) {
                failure.report();
            }
            Err(error.into())
        }
    }
}

impl Run {
    fn resolve(arguments: &Solve) -> Result<Self, Failure> {
        let mut setup = Setup::resolve(&arguments.model)?;
        setup.case.tend = arguments.tend.unwrap_or(setup.case.tend);
        let (t0, tend) = (setup.case.initial.t, setup.case.tend);
        if tend.is_nan() {
            return Err(Failure::NoInterval { path: arguments.model.name.clone().into() });
        }
        let wishes = &setup.defaults;
        let rtol = arguments.rtol.or(wishes.rtol).unwrap_or(RTOL);
        // an absolute tolerance belongs to the relative one that it stands beside
        let beside = if arguments.rtol.is_none() { wishes.atol } else { None };
        let atol = arguments.atol.or(beside).unwrap_or(rtol);
        let mut method = geoms(&arguments.geoms);
        if let (None, Some(wish)) = (arguments.geoms.formulation, &wishes.formulation) {
            method.formulation = FORMULATIONS.iter().find(|(word, _)| word == wish).map_or(method.formulation, |f| f.1);
        }
        let defaults = Options::default();
        let kept = arguments.save.unwrap_or(if arguments.output.is_empty() { Kept::End } else { Kept::Steps });
        let options = Options {
            tolerance: Tolerance::new(rtol, atol),
            h0: arguments.h0.or(setup.case.h0),
            hmax: arguments.hmax.or(wishes.hmax),
            max_steps: arguments.max_steps.unwrap_or(defaults.max_steps),
            save: match kept {
                Kept::Steps => Save::Steps,
                Kept::End => Save::End,
                Kept::Points(n) => Save::At(equidistant(t0, tend, n)),
            },
        };
        let report = if arguments.stats.is_some() { Report::Statistics } else { Report::Summary };
        Ok(Run { setup, rtol, atol, method, options, report })
    }

    /// The solution, and how long it took in seconds.
    fn make(&self, recorder: Option<&mut StepRecorder>) -> (Result<Solution, SolveError>, f64) {
        let case = &self.setup.case;
        let problem = daedal::Problem::new(&*case.mechanism, case.initial.clone(), case.tend);
        let mut progress = Progress::new();
        let mut observers: Vec<&mut dyn Observer> = vec![&mut progress];
        observers.extend(recorder.map(|recorder| recorder as &mut dyn Observer));
        let start = Instant::now();
        let outcome = solve_observed(&problem, &self.method, &self.options, &mut observers);
        (outcome, start.elapsed().as_secs_f64())
    }

    fn print(
        &self,
        solution: Option<&Solution>,
        error: Option<&SolveError>,
        paths: &[std::path::PathBuf],
        seconds: f64,
    ) -> Result<(), Failure> {
        match (self.report, solution) {
            (Report::Statistics, _) if error.is_none_or(is_numerical) => {
                print(&format!("{}\n", output::statistics(self, solution, seconds)))
            }
            (Report::Summary, Some(solution)) => print(&summary::summary(self, solution, paths, seconds)),
            _ => Ok(()),
        }
    }
}

/// n times from t0 to tend.
fn equidistant(t0: f64, tend: f64, n: u32) -> Vec<f64> {
    let last = n - 1;
    (0..n).map(|k| if k == last { tend } else { t0 + (tend - t0) * f64::from(k) / f64::from(last) }).collect()
}

/// The method with the options that are given.
fn geoms(given: &GeomsArguments) -> Geoms {
    let defaults = if given.reproduction { Geoms::reproduction() } else { Geoms::default() };
    Geoms {
        formulation: given.formulation.unwrap_or(defaults.formulation),
        constraint_decomposition: given.decomposition.unwrap_or(defaults.constraint_decomposition),
        differential_decomposition: given.differential.unwrap_or(defaults.differential_decomposition),
        selection: given.selection.unwrap_or(defaults.selection),
        selector_update: given.selector_update.unwrap_or(defaults.selector_update),
        predictor: given.predictor.unwrap_or(defaults.predictor),
        newton_point: given.newton_point.unwrap_or(defaults.newton_point),
        newton_updates: given.newton_updates.unwrap_or(defaults.newton_updates),
        max_newton: given.max_newton.unwrap_or(defaults.max_newton),
        newton_tolerance: given.newton_tolerance.or(defaults.newton_tolerance),
        jacobian_reuse: given.jacobian_reuse.unwrap_or(defaults.jacobian_reuse),
        safety: given.safety.unwrap_or(defaults.safety),
        control: given.control.unwrap_or(defaults.control),
        refilter: given.refilter || defaults.refilter,
        rank_tolerance: given.rank_tolerance.unwrap_or(defaults.rank_tolerance),
        polish: given.polish.unwrap_or(defaults.polish),
        multipliers: given.multipliers.unwrap_or(defaults.multipliers),
        keep_step: defaults.keep_step,
        ratio: defaults.ratio,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equidistant_times_hold_both_ends_exactly() {
        assert_eq!(equidistant(0.0, 0.3, 4), [0.0, 0.3 / 3.0, 0.6 / 3.0, 0.3]);
        assert_eq!(equidistant(-1.0, 0.1, 2), [-1.0, 0.1]);
    }
}
