//! General systems without being asked how: explicit as long as that pays.
//!
//! Ordinary differential equations begin with an explicit pair unless their eigenvalues at the start say that they are stiff. The pair watches
//! its own stability: where h |λ| lies at the border of the stability region for many steps in a row, accuracy would allow longer ones, and an
//! implicit method goes on from the point that was reached; so it does where the pair cannot go on. All other systems are solved by the
//! implicit method from the start. Hairer & Wanner, Solving ODEs II, IV.2.

use super::dormand_prince::DormandPrince;
use super::explicit::{Admitted, ExplicitStep, Pair};
use super::radau::{RadauIIa, Stages};
use super::rosenbrock::Rodas;
use super::shell::Shell;
use super::weights::Weights;
use super::{Integrator, StartFailure, State, Stepper};
use crate::analysis::Stiffness;
use crate::dae::{Dae, Point};
use crate::error::StepFailure;
use crate::options::Options;
use crate::segment::Segment;
use crate::statistics::{Residuals, Statistics};
use std::f64::consts::TAU;

/// A pair of Dormand and Prince for ordinary differential equations while they are not stiff, then RODAS at loose tolerances if time does not enter;
/// Radau IIa for all else, with three stages at loose tolerances and with three to seven at others ([`Stages::chosen`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NonstiffFirst;

/// Pleiades needs 565 evaluations of the pair of order 5 at 1e-3 and 937 of that of order 8, with the smaller error; 787 and 1105 at 1e-4, where it is
/// five times the larger one, and 3085 and 2737 at 1e-8.
const LOOSE: f64 = 3e-4;
/// From this relative tolerance on stiff ordinary equations that time does not move go to RODAS: of the instructions of Radau IIa it needs 85 and 89 % with HIRES at
/// 1e-3 and 1e-4, 75 and 84 % with the Oregonator, 74 and 77 % with the pollution problem, start included, but 114 and 157 % with the transistor
/// amplifier, which has constraints and a source. At 1e-5 it needs half of the evaluations of variable order with HIRES, but with E5 its error is 120 tolerances.
const LOOSE_AND_STIFF: f64 = 0.99e-4;
/// Eigenvalues of larger systems cost more than the steps that tell stiffness: there the fastest decay is found by power iteration, where it dominates.
const LARGEST: usize = 64;
/// Part by which a decay must be faster than growth and oscillations for steps to be limited by it alone.
const DOMINANT: f64 = 10.0;
/// Steps that stability alone would ask for, above which a decay is stiff whatever else changes.
const LIMITED: f64 = 500.0;
/// Steps of a run make up at least so many, unless the largest step is given.
const LONGEST_STEPS: f64 = 10.0;

impl Integrator for NonstiffFirst {
    fn start<'p>(
        &self,
        mut system: Box<dyn Dae + 'p>,
        at: Point,
        options: &Options,
    ) -> Result<Box<dyn Stepper + 'p>, StartFailure> {
        options.check()?;
        let rtol = Weights::new(&*system, &options.tolerance)?.rtol();
        let pair = if rtol > LOOSE { Pair::Order5 } else { Pair::Order8 };
        let implicit = if rtol > LOOSE_AND_STIFF && system.is_ordinary() && system.is_autonomous() {
            StiffMethod::Rodas
        } else {
            StiffMethod::Radau(Stages::chosen(rtol))
        };
        let (name, t) = (pair.tableau().name, at.t);
        let admitted = match Admitted::new(name, &mut *system, &at) {
            Ok(mut admitted) => (!is_stiff(&mut admitted, pair, options)).then_some(admitted),
            Err(StartFailure::OutOfClass { .. }) => None,
            Err(other) => return Err(other),
        };
        let (name, at_work) = match admitted {
            Some(admitted) => {
                let shell = ExplicitStep::new(&DormandPrince::of(pair), system, at, admitted, options)?;
                (name, AtWork::Explicit(Box::new(shell)))
            }
            None => (implicit.name(), AtWork::Implicit(implicit.start(system, at, options)?)),
        };
        Ok(Box::new(NonstiffFirstStepper {
            at_work: Some(at_work),
            implicit,
            options: options.clone(),
            before: Statistics::default(),
            attempts_before: 0,
            looked_at_between: false,
            methods: vec![(name, t)],
        }))
    }
}

/// Is the fastest decay at the start far faster than the slowest change in an interval of the longest steps, and than all that grows or
/// oscillates, which an explicit method must follow as well?
fn is_stiff(admitted: &mut Admitted, pair: Pair, options: &Options) -> bool {
    let interval = LONGEST_STEPS * options.hmax.unwrap_or(0.0);
    if admitted.dim() > LARGEST {
        let decay = admitted.dominant_decay().unwrap_or(0.0);
        return decay * interval > LIMITED * pair.tableau().stable;
    }
    let Some(scales) = admitted.time_scales(interval) else { return false };
    let growth = scales.fastest_growth.map_or(0.0, |time| 1.0 / time);
    let followed = scales.highest_frequency.map_or(0.0, |frequency| TAU * frequency).max(growth);
    let decay = scales.fastest_decay.map_or(0.0, |time| 1.0 / time);
    let limited = decay * interval > LIMITED * pair.tableau().stable;
    decay > DOMINANT * followed && (limited || scales.stiffness == Stiffness::Stiff)
}

/// What solves stiff systems.
#[derive(Clone, Copy)]
enum StiffMethod {
    Radau(Stages),
    Rodas,
}

impl StiffMethod {
    fn name(self) -> &'static str {
        match self {
            StiffMethod::Radau(_) => "radau",
            StiffMethod::Rodas => "rodas",
        }
    }

    fn start<'p>(
        self,
        system: Box<dyn Dae + 'p>,
        at: Point,
        options: &Options,
    ) -> Result<Box<dyn Stepper + 'p>, StartFailure> {
        match self {
            StiffMethod::Radau(stages) => RadauIIa { stages, ..RadauIIa::default() }.start(system, at, options),
            StiffMethod::Rodas => Rodas::default().start(system, at, options),
        }
    }
}

enum AtWork<'p> {
    Explicit(Box<Shell<ExplicitStep<'p>>>),
    Implicit(Box<dyn Stepper + 'p>),
}

struct NonstiffFirstStepper<'p> {
    /// always there but while one method hands over to the other
    at_work: Option<AtWork<'p>>,
    implicit: StiffMethod,
    options: Options,
    /// of the explicit method, once it has handed over
    before: Statistics,
    attempts_before: u64,
    looked_at_between: bool,
    /// with the times from which on they are used
    methods: Vec<(&'static str, f64)>,
}

impl<'p> NonstiffFirstStepper<'p> {
    fn now(&self) -> &dyn Stepper {
        match self.at_work.as_ref().expect("a method is at work") {
            AtWork::Explicit(shell) => &**shell,
            AtWork::Implicit(stepper) => &**stepper,
        }
    }

    fn now_mut<'s>(&'s mut self) -> &'s mut (dyn Stepper + 'p) {
        match self.at_work.as_mut().expect("a method is at work") {
            AtWork::Explicit(shell) => &mut **shell,
            AtWork::Implicit(stepper) => &mut **stepper,
        }
    }

    /// Does stability limit the steps of the explicit method?
    fn is_at_border(&self) -> bool {
        matches!(&self.at_work, Some(AtWork::Explicit(shell)) if shell.formula.stiff_from().is_some())
    }

    /// Let the implicit method go on from where the explicit one stands.
    fn hand_over(&mut self) -> Result<(), StepFailure> {
        let Some(AtWork::Explicit(shell)) = &mut self.at_work else { return Ok(()) };
        // what the other method needs to start is tried while this one still stands
        let State { t, x } = shell.state().clone();
        let (system, rate) = shell.formula.system_and_rate();
        let (mut pencil, xdot) = (system.new_pencil(), rate.to_vec());
        system.pencil(t, &x, &xdot, &mut pencil)?;
        let (statistics, attempts, h) = (shell.statistics(), shell.attempts(), shell.proposed_step());
        let Some(AtWork::Explicit(shell)) = self.at_work.take() else { return Ok(()) };
        let (system, at) = shell.formula.into_system();
        let options = Options { max_steps: self.options.max_steps.saturating_sub(attempts), ..self.options.clone() };
        let started = self.implicit.start(system, at, &options);
        let mut stepper = started.expect("what a start needs was tried");
        stepper.propose(h);
        if self.looked_at_between {
            stepper.watch_between();
        }
        (self.before, self.attempts_before) = (statistics, attempts);
        self.at_work = Some(AtWork::Implicit(stepper));
        self.methods.push((self.implicit.name(), t));
        Ok(())
    }

    /// Attempts of both methods are bounded together.
    fn of_both<T>(&self, outcome: Result<T, StepFailure>) -> Result<T, StepFailure> {
        outcome.map_err(|failure| match failure {
            StepFailure::TooManySteps { t, .. } => StepFailure::TooManySteps { t, steps: self.options.max_steps },
            other => other,
        })
    }
}

impl Stepper for NonstiffFirstStepper<'_> {
    fn state(&self) -> &State {
        self.now().state()
    }

    fn segment(&self) -> &Segment {
        self.now().segment()
    }

    fn advance(&mut self, limit: f64) -> Result<(), StepFailure> {
        if self.is_at_border() {
            self.hand_over()?;
        }
        let mut made = self.now_mut().advance(limit);
        let explicit = matches!(self.at_work, Some(AtWork::Explicit(_)));
        let stuck = |failure: &StepFailure| !matches!(failure, StepFailure::TooManySteps { .. });
        if explicit && made.as_ref().is_err_and(stuck) && self.now().state().t < limit {
            self.hand_over()?;
            made = self.now_mut().advance(limit);
        }
        self.of_both(made)
    }

    fn restart(&mut self, at: State) {
        self.now_mut().restart(at);
    }

    fn restart_along(&mut self, at: State, xdot: &[f64]) {
        self.now_mut().restart_along(at, xdot);
    }

    fn retake(&mut self, t: f64) -> Result<bool, StepFailure> {
        let made = self.now_mut().retake(t);
        self.of_both(made)
    }

    fn watch_between(&mut self) {
        self.looked_at_between = true;
        self.now_mut().watch_between();
    }

    fn inside(&mut self, t: f64, x: &mut [f64]) {
        self.now_mut().inside(t, x);
    }

    fn refine(&mut self) {
        self.now_mut().refine();
    }

    fn propose(&mut self, h: f64) {
        self.now_mut().propose(h);
    }

    fn rates(&mut self, xdot: &mut [f64]) {
        self.now_mut().rates(xdot);
    }

    fn system(&mut self) -> Option<&mut dyn Dae> {
        self.now_mut().system()
    }

    fn attempts(&self) -> u64 {
        self.attempts_before + self.now().attempts()
    }

    fn statistics(&self) -> Statistics {
        self.before.plus(self.now().statistics())
    }

    fn residuals(&self) -> Residuals {
        self.now().residuals()
    }

    fn proposed_step(&self) -> f64 {
        self.now().proposed_step()
    }

    fn undetermined(&self) -> Vec<Vec<f64>> {
        self.now().undetermined()
    }

    fn decisions(&self) -> String {
        self.now().decisions()
    }

    fn methods(&self) -> Vec<(&'static str, f64)> {
        self.methods.clone()
    }
}
