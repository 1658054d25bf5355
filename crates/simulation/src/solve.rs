//! A run: settings are resolved, the method is chosen, the equations are solved, whatever kind of system it is.

use crate::boundary;
use crate::choice::{MethodChoice, PlannedSolver, RunPlan};
use crate::error::{Error, ErrorKind, not_started};
use crate::events;
use crate::model::{Model, ModelSystem};
use crate::modes::plan::ModesPlan;
use crate::modes::table::shown;
use crate::monitor::{Monitor, WatchedBy};
use crate::outcome::{Computed, Outcome, SolverResult};
use crate::outputs::{LastRates, RateRecorder, needs_rates};
use crate::settings::{SaveSetting, Settings};
use crate::steps::StepRecorder;
use crate::tolerances::Tolerances;
use crate::variables::{ShownVariables, Stopped};
use crate::verification;
use daedal::Observer;
use daedal::dae::InForm;
use daedal::hybrid::{ActiveMode, HybridError};
use daedal::{Initial, Options, Save, Solution, SolveError, dae, solve_observed};
use daedal_model::ModelEvents;
use daedal_run::{ColumnKind, StepRecords, WarningRecord};
use std::time::Instant;

/// Which method solves a model, in which formulation, and why.
pub fn choose(model: &Model, settings: &Settings) -> Result<MethodChoice, Error> {
    Ok(Simulation::new(model, settings)?.plan.choice)
}

/// Solve a model. A run that stops on the way, or is interrupted, is an outcome as well, and keeps what was computed; an error is a
/// mistake in the input, or a start that could not be made.
pub fn solve(model: &Model, settings: &Settings, monitor: &mut dyn Monitor) -> Result<Outcome, Error> {
    let outcome = Simulation::new(model, settings)?.run(monitor);
    match outcome.error {
        Some(error) if outcome.computed.is_none() => Err(error),
        _ => Ok(outcome),
    }
}

/// A run that is ready to be made: everything that the input can have wrong has been looked at.
pub struct Simulation<'m> {
    model: &'m Model,
    tolerances: Tolerances,
    options: Options,
    interval: (f64, f64),
    plan: RunPlan<'m>,
    /// events, without modes
    events: ModelEvents,
    /// do outputs need derivatives that are no unknowns?
    with_rates: bool,
    /// what to keep, whose times depend on an end that may have to be found
    save: SaveSetting,
}

impl<'m> Simulation<'m> {
    /// Resolve settings, and choose what they leave open.
    pub fn new(model: &'m Model, settings: &Settings) -> Result<Self, Error> {
        let (model, reason) = model.for_run(settings);
        let made = Self::resolve(model, settings).map_err(|error| match error {
            // their lines are their own
            Error::Event { .. } | Error::Model(_) => error,
            error => model.located(error),
        });
        made.map(|mut simulation| {
            simulation.plan.choice.unknowns = reason.map(String::from);
            simulation
        })
    }

    fn resolve(model: &'m Model, settings: &Settings) -> Result<Self, Error> {
        let (t0, tend) = model.interval();
        let t0 = settings.t0.unwrap_or(t0);
        let tend = settings.tend.or(tend).ok_or_else(|| Error::NoInterval { name: model.source_name() })?;
        if let Some(table) =
            model.content.tables.iter().find(|table| t0.min(tend) < table.from || t0.max(tend) > table.to)
        {
            let (table, from, to) = (table.name.clone(), table.from, table.to);
            return Err(Error::BeyondTable { table, from, to, t0, tend });
        }
        let tolerances = Tolerances::resolve(model, settings)?;
        if !model.has_modes() {
            let given = [
                ("max_switches", settings.max_switches.is_some()),
                ("time_tolerance", settings.time_tolerance.is_some()),
                ("sliding", settings.sliding.is_some()),
            ];
            let settings: Vec<&str> = given.iter().filter(|(_, given)| *given).map(|(key, _)| *key).collect();
            if !settings.is_empty() {
                return Err(Error::NoModes { settings, model: model.name().to_string() });
            }
        }
        let ranks = model.ranks_unless(settings.rank_tolerance)?;
        let plan = RunPlan::new(model, settings, (t0, tend), ranks)?;
        let with_rates = match (&model.content.equations, &plan.solver) {
            (ModelSystem::General(general), _) => needs_rates(&general.formulas)?,
            (_, PlannedSolver::Modes(plan)) => plan.with_rates,
            _ => false,
        };
        let events = match plan.solver {
            PlannedSolver::Modes(_) => ModelEvents::default(),
            _ => events::of_model(model, &settings.events)?,
        };
        let defaults = &model.content.defaults;
        let options = Options {
            tolerance: tolerances.core(),
            h0: settings.h0.or(defaults.h0),
            hmax: settings.hmax.or(defaults.hmax),
            rank_tolerance: ranks.tolerance,
            max_steps: settings.max_steps.unwrap_or(Options::default().max_steps),
            verify: settings.verify,
            save: settings.save.over(t0, tend),
        };
        let save = settings.save.clone();
        Ok(Simulation { model, tolerances, options, interval: (t0, tend), plan, events, with_rates, save })
    }

    /// Method and formulation, with the reasons.
    pub fn choice(&self) -> &MethodChoice {
        &self.plan.choice
    }

    /// Make the run.
    pub fn run(mut self, monitor: &mut dyn Monitor) -> Outcome {
        let begin = Instant::now();
        let mut account = None;
        let mut recorder = (self.options.save != Save::End).then(|| StepRecorder::new(self.plan.order()));
        let mut steps: Option<StepRecords> = None;
        let (found, error) = match &self.plan.solver {
            PlannedSolver::Motion { motion, formulation, method, initial, start } => {
                let mut problem = daedal::Problem::new(motion.mechanism(), Initial::clone(initial), self.interval.1);
                if let Some(start) = start {
                    problem = problem.trust(start.clone());
                }
                problem.events = self.events.build(&self.model.kernel.compiler());
                let mut watched = WatchedBy(monitor);
                let mut observers: Vec<&mut dyn Observer> = vec![&mut watched];
                observers.extend(recorder.as_mut().map(|recorder| recorder as &mut dyn Observer));
                let outcome = solve_observed(&problem, &**method, &self.options, &mut observers);
                let variables = |layout: &_| ShownVariables::of_motion(layout, formulation);
                let outcome = outcome.map(|found| found.map_layout(variables)).map_err(|e| e.map_layout(variables));
                single(outcome, None, motion.bodies.as_deref())
            }
            PlannedSolver::General { general, form, integrator } => {
                let initial = Initial { t: self.interval.0, ..general.initial.clone() };
                let mut problem = daedal::Problem::new(general.system(), initial, self.interval.1);
                problem.events = self.events.build(&self.model.kernel.compiler());
                let mut rates = self.with_rates.then(|| RateRecorder::new(self.options.save.clone(), self.interval));
                let mut watched = WatchedBy(monitor);
                let mut observers: Vec<&mut dyn Observer<dae::Unknowns>> = vec![&mut watched];
                observers.extend(recorder.as_mut().map(|recorder| recorder as &mut dyn Observer<dae::Unknowns>));
                observers.extend(rates.as_mut().map(|rates| rates as &mut dyn Observer<dae::Unknowns>));
                let outcome = solve_observed(
                    &problem,
                    &InForm { form: *form, integrator: &**integrator },
                    &self.options,
                    &mut observers,
                );
                let states = general.formulas.states.len();
                let variables = |unknowns: &_| ShownVariables::of_general(unknowns, states);
                let outcome = outcome.map(|found| found.map_layout(variables)).map_err(|e| e.map_layout(variables));
                single(outcome, rates, None)
            }
            PlannedSolver::Modes(plan) => self.modes(plan, monitor, &mut steps),
            PlannedSolver::Boundary(plan) => {
                let t0 = self.interval.0;
                let save = |tend: f64| self.save.over(t0, tend);
                let found = plan.run(self.interval, &save, &self.options, self.with_rates, monitor);
                self.options.save = found.save;
                steps = found.steps.map(StepRecorder::steps);
                recorder = None;
                account = found.account;
                (found.found, found.error)
            }
        };
        if let Some(end) = account.as_ref().and_then(|account| account.end) {
            self.interval.1 = end;
        }
        if let Some(SolverResult::Single { solution, .. }) = &found {
            self.plan.choice.settle(&solution.methods, self.tolerances.rtol);
        }
        if let Some(recorder) = &mut recorder {
            recorder.settle(self.plan.order());
        }
        let steps = steps.or_else(|| recorder.filter(|_| !self.model.has_modes()).map(StepRecorder::steps));
        let seconds = begin.elapsed().as_secs_f64();
        let mut warnings = self.warnings(found.as_ref());
        if let (Some(account), Some(conditions)) = (&account, self.model.boundary()) {
            warnings.extend(boundary::warnings(account, conditions.periodic != daedal::Periodic::No));
        }
        let computed = found.map(Computed::new);
        let interrupted = computed.as_ref().filter(|found| found.ended == daedal::Ended::ByObserver);
        let error = error.or(interrupted.map(|found| Error::Interrupted { t: found.t }));
        Outcome {
            model: self.model.clone(),
            choice: self.plan.choice,
            tolerances: self.tolerances,
            interval: self.interval,
            seconds,
            warnings,
            error: error.map(|error| match error.kind() {
                ErrorKind::Interrupted => error,
                _ => self.model.located(error),
            }),
            computed,
            boundary: account,
            steps,
            save: self.options.save,
        }
    }

    fn modes(
        &self,
        plan: &ModesPlan,
        monitor: &mut dyn Monitor,
        steps: &mut Option<StepRecords>,
    ) -> (Option<SolverResult>, Option<Error>) {
        let system = plan.model.build(&plan.kernel.compiler(), &plan.methods);
        let problem = plan.model.problem(&system, self.interval.1);
        let mut options = self.options.clone();
        // derivatives are those of the polynomials over the steps, which must be kept for them
        if self.with_rates && options.save != Save::End {
            options.save = Save::Dense;
        }
        let mut recorder = (self.options.save != Save::End).then(|| plan.recorder());
        let mut rates = LastRates::default();
        let mut watched = WatchedBy(monitor);
        let mut observers: Vec<&mut dyn Observer<ActiveMode>> = vec![&mut watched];
        observers.extend(recorder.as_mut().map(|recorder| recorder as &mut dyn Observer<ActiveMode>));
        if self.with_rates {
            observers.push(&mut rates);
        }
        let outcome = solve_observed(&problem, &plan.options, &options, &mut observers);
        *steps = recorder.map(|recorder| recorder.steps.steps());
        let (solution, error) = match outcome {
            Ok(solution) => (Some(solution), None),
            Err(HybridError::Stopped { cause, partial }) => {
                let t = partial.end.t;
                (Some(*partial), Some(Error::StoppedInMode { t, cause }))
            }
            Err(error) => (None, Some(Error::Hybrid(Box::new(error)))),
        };
        let found = solution.filter(|solution| !solution.phases.is_empty()).map(|solution| {
            let (model, with_rates) = (Box::new(plan.model.clone()), self.with_rates);
            SolverResult::Modes { solution: Box::new(solution), rates, model, with_rates }
        });
        (found, error)
    }

    /// What a reader should know although the run went on.
    fn warnings(&self, found: Option<&SolverResult>) -> Vec<WarningRecord> {
        let mut warnings = self.model.warnings().to_vec();
        let checked = match found {
            None => return warnings,
            Some(SolverResult::Single { solution, .. }) => {
                // what is not shown, or follows from the rest, has no tolerance
                let counted = solution.layout.shown.iter().filter(|(_, kind)| *kind != ColumnKind::Acceleration);
                warnings
                    .extend(self.tolerances.blind(counted.map(|&(j, _)| (&solution.names[j], solution.largest[j]))));
                &solution.verification
            }
            Some(SolverResult::Modes { solution, model, .. }) => {
                let all = solution.modes.iter().enumerate().flat_map(|(k, mode)| {
                    let without: Vec<usize> = model.modes.get(k).map_or(Vec::new(), |known| {
                        let shown = shown(&known.kind, mode.unknowns.len()).into_iter();
                        shown.filter(|(_, kind)| *kind == ColumnKind::Acceleration).map(|(j, _)| j).collect()
                    });
                    let values = mode.unknowns.iter().zip(mode.largest.iter().copied()).enumerate();
                    values.filter(move |(j, _)| !without.contains(j)).map(|(_, pair)| pair)
                });
                warnings.extend(self.tolerances.blind(all));
                warnings.extend(solution.warnings.iter().map(|warning| WarningRecord::at(warning.t, &warning.message)));
                &solution.verification
            }
        };
        warnings.extend(verification::warnings(self.options.verify, checked.as_ref()));
        warnings
    }
}

/// What a run without modes gave.
fn single(
    outcome: std::result::Result<Solution<ShownVariables>, Stopped>,
    rates: Option<RateRecorder>,
    bodies: Option<&daedal_multibody::System>,
) -> (Option<SolverResult>, Option<Error>) {
    let found = |solution| Some(SolverResult::Single { solution: Box::new(solution), rates });
    match outcome {
        Ok(solution) => (found(solution), None),
        Err(SolveError::Stopped { cause, partial }) => {
            let error = Error::Stopped { t: partial.end.t, cause: Box::new(cause) };
            (found(*partial), Some(error))
        }
        Err(error) => (None, Some(not_started(error, bodies))),
    }
}
