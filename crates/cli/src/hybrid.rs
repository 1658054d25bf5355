//! Simulate a model with modes.

mod methods;
mod object;
mod record;
mod summary;
mod table;

use crate::arguments::Solve;
use crate::failure::{Failure, is_stop, print};
use crate::files::{self, Output};
use crate::interrupt::Interrupt;
use crate::outputs::LastRates;
use crate::progress::Progress;
use crate::record::StepRecorder;
use crate::setup::{Equations, Setup, Switched};
use crate::solve::{Chosen, Report};
use crate::tolerances::Largest;
use crate::verification;
use crate::warnings;
use daedal::hybrid::{ActiveMode, HybridError, HybridOptions, HybridSolution, ModeNames, solve_observed};
use daedal::observer::{Observer, StepView};
use daedal::{Options, Save};
use daedal_run::{Kind, Warning};
use methods::Modes;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;
use table::Table;

pub use table::shown;

/// All that a run needs to know.
struct Run {
    setup: Setup,
    chosen: Chosen,
    modes: Modes,
    hybrid: HybridOptions,
    /// Do outputs contain derivatives that are no unknowns?
    with_rates: bool,
    /// Is the table of switches asked for?
    with_events: bool,
}

/// What a run gave.
struct Made {
    outcome: Result<HybridSolution, HybridError>,
    /// Derivatives at the last point.
    rates: LastRates,
    /// What a reader should know although the run went on.
    warnings: Vec<Warning>,
    seconds: f64,
}

impl Made {
    /// What was computed, even if the end was not reached. None if not even the start was possible.
    fn solution(&self) -> Option<&HybridSolution> {
        let solution = match &self.outcome {
            Ok(solution) => solution,
            Err(HybridError::Stopped { partial, .. }) => partial,
            Err(_) => return None,
        };
        (!solution.phases.is_empty()).then_some(solution)
    }
}

/// Simulate.
pub fn solve(setup: Setup, chosen: Chosen, arguments: &Solve) -> Result<(), Failure> {
    let run = Run::resolve(setup, chosen, arguments)?;
    let outputs = Output::open_all(&arguments.output, arguments.events.as_ref())?;
    let asked = run.chosen.options.save != Save::End && outputs.iter().any(Output::holds_steps);
    let mut recorder = asked.then(|| run.modes.recorder());
    let interrupt = Interrupt::watch();
    let made = run.make(&interrupt, recorder.as_mut());
    let steps = recorder.map(|recorder| recorder.steps.steps());
    let mut written = Ok(());
    let mut printed = Ok(());
    if let Some(solution) = made.solution() {
        let mut table = Table::new(&run.switched().model, solution);
        let recorded = record::record(&run, &made, solution, &mut table, steps);
        let paths: Vec<PathBuf> = arguments.output.iter().chain(&arguments.events).cloned().collect();
        printed = run.print(&made, solution, &recorded, &paths);
        written = files::write_all(outputs, &recorded);
    } else if run.chosen.report == Report::Statistics && made.outcome.as_ref().err().is_some_and(is_stop) {
        printed = print(&format!("{}\n", object::statistics(&run, &made, None)));
    }
    warnings::report(&made.warnings);
    match made.outcome {
        Ok(solution) => written.and(printed).and(interrupt.outcome(&solution.ended, solution.end.t, arguments)),
        Err(error) => {
            // the reason of the stop comes last; what went wrong besides must not be lost
            for failure in [written, printed].into_iter().filter_map(Result::err) {
                failure.report();
            }
            Err(Failure::Hybrid(Box::new(error)))
        }
    }
}

/// Try a run: what was computed, and why it did not go on.
pub fn attempt(
    setup: Setup,
    chosen: Chosen,
    arguments: &Solve,
) -> Result<(Option<HybridSolution>, Option<HybridError>), Failure> {
    let made = Run::resolve(setup, chosen, arguments)?.make(&Interrupt::never(), None);
    Ok((made.solution().cloned(), made.outcome.err()))
}

impl Run {
    fn resolve(mut setup: Setup, chosen: Chosen, arguments: &Solve) -> Result<Self, Failure> {
        let name = setup.name.clone();
        let Equations::Hybrid(switched) = &mut setup.equations else {
            unreachable!("models without modes are solved elsewhere")
        };
        let wished = setup.defaults.formulation.as_deref();
        let modes = Modes::choose(&name, &mut switched.model, wished, arguments)?;
        let with_rates = table::needs_rates(&switched.model)?;
        let mut hybrid = switched.model.options.clone();
        hybrid.max_switches = arguments.max_switches.unwrap_or(hybrid.max_switches);
        hybrid.detection = arguments.sliding.unwrap_or(hybrid.detection);
        let with_events = arguments.events.is_some();
        if arguments.output.is_empty() && !with_events {
            // nothing but the summary shows them
            hybrid.keep_switches = Some(summary::SHOWN);
        }
        Ok(Run { setup, chosen, modes, hybrid, with_rates, with_events })
    }

    fn switched(&self) -> &Switched {
        match &self.setup.equations {
            Equations::Hybrid(switched) => switched,
            Equations::Motion(_) | Equations::General(_) => unreachable!("models without modes are solved elsewhere"),
        }
    }

    fn make(&self, mut interrupt: &Interrupt, recorder: Option<&mut Recorder>) -> Made {
        let start = Instant::now();
        let switched = self.switched();
        let system = switched.model.build(&switched.compiler(), &self.modes.methods);
        let problem = switched.model.problem(&system, switched.tend);
        let options = self.options();
        let mut progress = Progress::new();
        let mut rates = LastRates::default();
        let mut largest = Largest::default();
        let mut observers: Vec<&mut dyn Observer<ActiveMode>> = vec![&mut progress, &mut interrupt, &mut largest];
        observers.extend(recorder.map(|recorder| recorder as &mut dyn Observer<ActiveMode>));
        if self.with_rates {
            observers.push(&mut rates);
        }
        let outcome = solve_observed(&problem, &options, &self.hybrid, &mut observers);
        let mut made = Made { outcome, rates, warnings: Vec::new(), seconds: start.elapsed().as_secs_f64() };
        let mut warnings = self.setup.warnings.clone();
        if let Some(solution) = made.solution() {
            let names: Vec<_> = solution.modes.iter().enumerate().map(|(k, mode)| self.counted(k, mode)).collect();
            warnings.extend(self.chosen.tolerances.blind(&largest, &names));
            let seen = solution.warnings.iter().map(|warning| Warning::at(warning.t, &warning.message));
            warnings.extend(seen);
            warnings.extend(verification::warnings(options.verify, solution.verification.as_ref()));
        }
        made.warnings = warnings;
        made
    }

    /// Names of the unknowns of a mode; none for accelerations, which have no tolerance.
    fn counted<'m>(&self, k: usize, mode: &'m ModeNames) -> Vec<Option<&'m String>> {
        let mut names: Vec<Option<&String>> = mode.unknowns.iter().map(Some).collect();
        if let Some(known) = self.switched().model.modes.get(k) {
            for (j, _) in shown(&known.kind, names.len()).iter().filter(|(_, kind)| *kind == Kind::Acceleration) {
                names[*j] = None;
            }
        }
        names
    }

    /// Derivatives are those of the polynomials over the steps, which must be kept for them.
    fn options(&self) -> Options {
        let mut options = self.chosen.options.clone();
        if self.with_rates && options.save != Save::End {
            options.save = Save::Dense;
        }
        options
    }

    fn print(
        &self,
        made: &Made,
        solution: &HybridSolution,
        recorded: &daedal_run::Run,
        paths: &[PathBuf],
    ) -> Result<(), Failure> {
        match self.chosen.report {
            Report::Statistics => print(&format!("{}\n", object::statistics(self, made, Some((solution, recorded))))),
            Report::Summary => print(&summary::summary(self, made, solution, recorded, paths)),
        }
    }
}

/// Writes down every accepted step, with the order of the method of its mode.
pub struct Recorder {
    steps: StepRecorder,
    modes: Vec<crate::record::Order>,
}

impl Observer<ActiveMode> for Recorder {
    fn observe(&mut self, step: &StepView<ActiveMode>) -> ControlFlow<()> {
        // generated modes have the order of Radau IIa
        self.steps.of_method = self.modes.get(step.layout.mode).copied().unwrap_or(methods::USUAL);
        self.steps.observe(step)
    }
}
