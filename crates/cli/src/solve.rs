//! Simulate a model: resolve the arguments into a run, make the run, write what it computed.

use crate::arguments::{Kept, Solve};
use crate::failure::{Failure, is_numerical, print};
use crate::files::{self, Output};
use crate::hybrid;
use crate::interrupt::Interrupt;
use crate::method::Method;
use crate::output;
use crate::outputs::{Rates, needs_rates};
use crate::progress::Progress;
use crate::record::{StepRecorder, record};
use crate::setup::{Equations, General, Motion, Setup};
use crate::summary;
use crate::tolerances::{Largest, Tolerances};
use crate::variables::{Computed, Stopped, Variables};
use crate::verification;
use crate::warnings;
use daedal::catalogue::MotionMethod;
use daedal::dae::{self, Form};
use daedal::method::Integrator;
use daedal::observer::Observer;
use daedal::{Options, Save, SolveError, solve_observed};
use daedal_run::{Kind, Warning};
use std::path::PathBuf;
use std::time::Instant;

/// All that a run needs to know.
pub struct Run {
    pub setup: Setup,
    pub tolerances: Tolerances,
    pub method: Method,
    pub options: Options,
    pub report: Report,
}

/// What a run gave.
pub struct Made {
    pub outcome: Result<Computed, Stopped>,
    /// Derivatives at the points that were kept, where outputs need them.
    pub rates: Option<Rates>,
    /// What a reader should know although the run went on; whatever is found out about the run is added here.
    pub warnings: Vec<Warning>,
    /// How long it took.
    pub seconds: f64,
}

impl Made {
    /// What was computed, even if the end was not reached.
    pub fn solution(&self) -> Option<&Computed> {
        match &self.outcome {
            Ok(solution) => Some(solution),
            Err(SolveError::Stopped { partial, .. }) => Some(partial),
            Err(_) => None,
        }
    }

    /// Why the end was not reached.
    pub fn error(&self) -> Option<&Stopped> {
        self.outcome.as_ref().err()
    }
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
    let mut setup = Setup::resolve(&arguments.model)?;
    if let Some(tend) = arguments.tend {
        setup.end_at(tend);
    }
    if setup.tend().is_nan() {
        return Err(Failure::NoInterval { path: arguments.model.name.clone().into() });
    }
    let places = setup.places.clone();
    solved(setup, arguments).map_err(|failure| failure.at(&places))
}

fn solved(setup: Setup, arguments: &Solve) -> Result<(), Failure> {
    let chosen = Chosen::resolve(&setup, arguments)?;
    if matches!(setup.equations, Equations::Hybrid(_)) {
        return hybrid::solve(setup, chosen, arguments);
    }
    let run = Run::resolve(setup, chosen, arguments)?;
    let rates = run.rates()?;
    let outputs = Output::open_all(&arguments.output, None)?;
    // only the end is kept, or only columns: nobody asks for the steps
    let asked = run.options.save != Save::End && outputs.iter().any(Output::holds_steps);
    let mut recorder = asked.then(|| StepRecorder::new(run.method.order()));
    let interrupt = Interrupt::watch();
    let made = run.make(&interrupt, recorder.as_mut(), rates);
    let mut points = 0;
    let written = match made.solution() {
        Some(solution) if !outputs.is_empty() => {
            let steps = recorder.map(StepRecorder::steps);
            let recorded = record(&run, &made, solution, steps);
            points = recorded.times.len();
            files::write_all(outputs, &recorded)
        }
        _ => Ok(()),
    };
    let printed = run.print(&made, &arguments.output, points);
    warnings::report(&made.warnings);
    match made.outcome {
        Ok(solution) => written.and(printed).and(interrupt.outcome(&solution.ended, solution.end.t, arguments)),
        Err(error) => {
            // the reason of the stop comes last; what went wrong besides must not be lost
            for failure in [written, printed].into_iter().filter_map(Result::err) {
                failure.report();
            }
            Err(error.into())
        }
    }
}

/// What the arguments and the model say about every kind of run.
pub struct Chosen {
    pub tolerances: Tolerances,
    pub options: Options,
    pub report: Report,
}

impl Chosen {
    pub fn resolve(setup: &Setup, arguments: &Solve) -> Result<Self, Failure> {
        let (t0, tend) = (setup.t0(), setup.tend());
        let wishes = &setup.defaults;
        let tolerances = Tolerances::resolve(setup, arguments)?;
        let defaults = Options::default();
        let kept = arguments.save.unwrap_or(if arguments.output.is_empty() { Kept::End } else { Kept::Dense });
        let options = Options {
            tolerance: tolerances.core(),
            h0: arguments.h0.or(setup.h0()),
            hmax: arguments.hmax.or(wishes.hmax),
            max_steps: arguments.max_steps.unwrap_or(defaults.max_steps),
            verify: arguments.verify,
            save: match kept {
                Kept::Dense => Save::Dense,
                Kept::Steps => Save::Steps,
                Kept::End => Save::End,
                Kept::Points(n) => Save::At(equidistant(t0, tend, n)),
            },
        };
        let report = if arguments.stats.is_some() { Report::Statistics } else { Report::Summary };
        Ok(Chosen { tolerances, options, report })
    }
}

impl Run {
    pub fn resolve(setup: Setup, chosen: Chosen, arguments: &Solve) -> Result<Self, Failure> {
        let given = [
            ("--max-switches", arguments.max_switches.is_some()),
            ("--sliding", arguments.sliding.is_some()),
            ("--events", arguments.events.is_some()),
        ];
        let given: Vec<&str> = given.iter().filter(|(_, given)| *given).map(|(option, _)| *option).collect();
        if !given.is_empty() {
            return Err(Failure::NoModes { options: given.join(", "), model: setup.name });
        }
        let method = Method::choose(&setup, arguments)?;
        let Chosen { tolerances, options, report } = chosen;
        Ok(Run { setup, tolerances, method, options, report })
    }

    /// Somebody who writes down derivatives, if outputs need them.
    fn rates(&self) -> Result<Option<Rates>, Failure> {
        match &self.setup.equations {
            Equations::Motion(_) | Equations::Hybrid(_) => Ok(None),
            Equations::General(general) => {
                Ok(needs_rates(&general.system.formulas)?.then(|| Rates::new(self.options.save.clone())))
            }
        }
    }

    /// Make the run.
    pub fn make(&self, interrupt: &Interrupt, recorder: Option<&mut StepRecorder>, mut rates: Option<Rates>) -> Made {
        let start = Instant::now();
        let mut largest = Largest::default();
        let outcome = match (&self.setup.equations, &self.method) {
            (Equations::Motion(motion), Method::Motion { method, .. }) => {
                self.motion(motion, &**method, (interrupt, &mut largest), recorder)
            }
            (Equations::General(general), Method::General { form, integrator, .. }) => {
                self.general(general, *form, &**integrator, (interrupt, &mut largest), recorder, rates.as_mut())
            }
            _ => unreachable!("methods are chosen for their model"),
        };
        let seconds = start.elapsed().as_secs_f64();
        let mut made = Made { outcome, rates, warnings: self.setup.warnings.clone(), seconds };
        let blind = made.solution().and_then(|solution| {
            // what is not shown, or follows from the rest, has no tolerance
            let mut names = vec![None; solution.names.len()];
            for (j, _) in solution.layout.shown.iter().filter(|(_, kind)| *kind != Kind::Acceleration) {
                names[*j] = Some(&solution.names[*j]);
            }
            self.tolerances.blind(&largest, &[names])
        });
        made.warnings.extend(blind);
        let found =
            made.solution().map(|solution| verification::warnings(self.options.verify, solution.verification.as_ref()));
        made.warnings.extend(found.unwrap_or_default());
        made
    }

    fn motion(
        &self,
        motion: &Motion,
        method: &dyn MotionMethod,
        (mut interrupt, largest): (&Interrupt, &mut Largest),
        recorder: Option<&mut StepRecorder>,
    ) -> Result<Computed, Stopped> {
        let case = &motion.case;
        let problem = daedal::Problem::new(&*case.mechanism, case.initial.clone(), case.tend);
        let mut progress = Progress::new();
        let mut observers: Vec<&mut dyn Observer> = vec![&mut progress, &mut interrupt, largest];
        observers.extend(recorder.map(|recorder| recorder as &mut dyn Observer));
        let outcome = solve_observed(&problem, method, &self.options, &mut observers);
        let variables = |layout: &_| Variables::of_motion(layout, self.method.formulation());
        outcome.map(|solution| solution.map_layout(variables)).map_err(|error| error.map_layout(variables))
    }

    fn general(
        &self,
        general: &General,
        form: Form,
        integrator: &dyn Integrator,
        (mut interrupt, largest): (&Interrupt, &mut Largest),
        recorder: Option<&mut StepRecorder>,
        rates: Option<&mut Rates>,
    ) -> Result<Computed, Stopped> {
        let problem = dae::Problem::new(&general.system, general.initial.clone(), general.tend);
        let mut progress = Progress::new();
        let mut observers: Vec<&mut dyn Observer<dae::Unknowns>> = vec![&mut progress, &mut interrupt, largest];
        observers.extend(recorder.map(|recorder| recorder as &mut dyn Observer<dae::Unknowns>));
        observers.extend(rates.map(|rates| rates as &mut dyn Observer<dae::Unknowns>));
        let outcome = dae::solve_observed(&problem, form, integrator, &self.options, &mut observers);
        let variables = |unknowns: &_| Variables::of_general(unknowns, general.system.formulas.states.len());
        outcome.map(|solution| solution.map_layout(variables)).map_err(|error| error.map_layout(variables))
    }

    /// `points` is the number of points in the files.
    fn print(&self, made: &Made, paths: &[PathBuf], points: usize) -> Result<(), Failure> {
        match (self.report, made.solution()) {
            (Report::Statistics, _) if made.error().is_none_or(is_numerical) => {
                print(&format!("{}\n", output::statistics(self, made)))
            }
            (Report::Summary, Some(solution)) => print(&summary::summary(self, made, solution, (paths, points))),
            _ => Ok(()),
        }
    }
}

/// n times from t0 to tend.
fn equidistant(t0: f64, tend: f64, n: u32) -> Vec<f64> {
    let last = n - 1;
    (0..n).map(|k| if k == last { tend } else { t0 + (tend - t0) * f64::from(k) / f64::from(last) }).collect()
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
