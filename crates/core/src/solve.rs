//! The loop over one continuous interval.

use crate::backward;
use crate::dae::{self, System};
use crate::error::{BadOption, SolveError, StepFailure};
use crate::event::Event;
use crate::explicit_time::{Crossing, Suspects, Timetable, cross_motion};
use crate::graph::Interpreted;
use crate::initial::Initial;
use crate::lookout::{Lookout, Seen};
use crate::method::{Method, StartFailure, State, Stepper};
use crate::motion::{Form, Layout, Mechanism, consistent, declared, view};
use crate::observer::{Observer, StepView};
use crate::options::{Options, Save};
use crate::problem::{Class, Problem};
use crate::segment::Segment;
use crate::solution::{Ended, Solution};
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
    let course = MotionCourse { system, layout: &layout, options };
    let mut run = Run::new(&layout, names, start, (tend, events), options, &course);
    if let Ok(tolerances) = options.tolerance.pairs(&layout) {
        run.tolerances = tolerances;
    }
    run.timetable = Timetable::of_motion(system, (t0, tend));
    run.verifier = options.verify.then(|| verifier_of_motion(system, &layout, tend - t0, options)).flatten();
    let begin = || {
        declared::check(system, (start.t, &start.x), tend)?;
        method.start(system, start.clone(), options)
    };
    run.make(begin, observers)
}

/// What a run needs to know about the equations beside their stepper.
pub(crate) trait Course {
    /// Bring a state back onto the constraints.
    fn restore(&self, t: f64, x: &mut [f64]);
    /// Restart a stepper beyond a break.
    fn cross(&self, stepper: &mut dyn Stepper, crossing: &Crossing) -> Result<(), StepFailure>;
    /// The formulas among which the reason of a failure may be.
    fn suspects(&self) -> Option<Suspects>;
}

struct MotionCourse<'p> {
    system: &'p dyn Mechanism,
    layout: &'p Layout,
    options: &'p Options,
}

impl Course for MotionCourse<'_> {
    fn restore(&self, t: f64, x: &mut [f64]) {
        make_consistent(self.system, self.layout, self.options, t, x);
    }
    fn cross(&self, stepper: &mut dyn Stepper, crossing: &Crossing) -> Result<(), StepFailure> {
        cross_motion(self.system, stepper, crossing, self.options)
    }
    fn suspects(&self) -> Option<Suspects> {
        Suspects::motion(self.system)
    }
}

/// Looks at the equations of motion as they were written; a black box has none.
fn verifier_of_motion(system: &dyn Mechanism, layout: &Layout, length: f64, options: &Options) -> Option<Verifier> {
    let names = layout.variable_names(&system.names());
    let formulas = dae::Formulas::of_motion(&system.formulas()?);
    let tolerances = options.tolerance.pairs(layout).ok()?;
    Some(Verifier::new(&System::new(&formulas, Interpreted), &names, &tolerances, length))
}

/// The polynomial satisfies the constraints only at its ends: bring a state back onto them.
fn make_consistent(system: &dyn Mechanism, layout: &Layout, options: &Options, t: f64, x: &mut [f64]) {
    let at = view(layout, t, x);
    let initial =
        Initial::motion(t, at.p, at.v).dynamic(at.r).auxiliary(at.w).contact(at.s).multipliers(at.lambda, at.mu);
    if let Ok(consistent) = consistent::initialise_by(system, &initial, Form::StrangenessFree, options.ranks()) {
        x.copy_from_slice(&consistent.state.x);
    }
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

/// A run over one interval, whatever is solved.
pub(crate) struct Run<'r, L> {
    tend: f64,
    events: &'r [Event<'r>],
    lookout: Lookout,
    /// rtol and atol of every unknown, for those who look for events
    pub tolerances: Vec<(f64, f64)>,
    options: &'r Options,
    course: &'r dyn Course,
    /// what the formulas know about times
    pub timetable: Option<Timetable>,
    /// what was proposed before the last step
    stride: f64,
    solution: Solution<L>,
    /// next time of [`Save::At`]
    next: usize,
    x: Vec<f64>,
    /// an independent look at every step
    pub verifier: Option<Verifier>,
}

impl<'r, L: Clone> Run<'r, L> {
    /// Before its first step.
    pub fn new(
        layout: &L,
        names: Vec<String>,
        start: &State,
        (tend, events): (f64, &'r [Event<'r>]),
        options: &'r Options,
        course: &'r dyn Course,
    ) -> Self {
        let solution = Solution::at(layout, names, start.clone());
        let mut run = Run {
            tend,
            events,
            lookout: Lookout::new(tend - start.t),
            tolerances: options.tolerance.of_states(start.x.len()),
            options,
            course,
            timetable: None,
            stride: 0.0,
            solution,
            next: 0,
            x: start.x.clone(),
            verifier: None,
        };
        run.save_start(start);
        run
    }

    /// Start the method and go on to the end.
    pub fn make<'p>(
        mut self,
        start: impl FnOnce() -> Result<Box<dyn Stepper + 'p>, StartFailure>,
        observers: &mut [&mut dyn Observer<L>],
    ) -> Result<Solution<L>, SolveError<L>> {
        let mut stepper = match start() {
            Ok(stepper) => stepper,
            Err(StartFailure::Options(bad)) => return Err(bad.into()),
            Err(StartFailure::Step(cause)) => {
                return Err(SolveError::Stopped { cause, partial: Box::new(self.solution) });
            }
            Err(failure) => return Err(SolveError::Start(failure)),
        };
        let between = !self.events.is_empty() || matches!(self.options.save, Save::At(_) | Save::Dense);
        if between || self.verifier.is_some() {
            stepper.watch_between();
        }
        let t0 = stepper.state().t;
        let outcome = self.advance(&mut *stepper, observers);
        self.finish(&*stepper);
        match outcome {
            Ok(()) => Ok(self.solution),
            Err(cause) => {
                let suspects = if cause.may_be_a_jump() { self.course.suspects() } else { None };
                let cause = suspects.map_or_else(|| cause.clone(), |all| all.explain(&mut *stepper, t0, cause.clone()));
                Err(SolveError::Stopped { cause, partial: Box::new(self.solution) })
            }
        }
    }

    fn advance(
        &mut self,
        stepper: &mut dyn Stepper,
        observers: &mut [&mut dyn Observer<L>],
    ) -> Result<(), StepFailure> {
        let (t0, tend) = (stepper.state().t, self.tend);
        let layout = self.solution.layout.clone();
        self.solution.max_residuals = stepper.residuals();
        if let Some(crossing) = self.timetable.as_mut().and_then(Timetable::first_crossing) {
            self.cross(stepper, &crossing)?;
        }
        self.look_around(stepper)?;
        while stepper.state().t < tend {
            let (t, proposed) = (stepper.state().t, stepper.proposed_step());
            let mut limit = tend;
            if let Some(times) = &mut self.timetable {
                if let Some(crossing) = times.crossing(t) {
                    self.cross(stepper, &crossing)?;
                    if self.look_around(stepper)? {
                        return Ok(());
                    }
                    continue;
                }
                limit = times.limit(t, proposed).min(tend);
                self.stride = proposed;
            }
            if let Err(failure) = stepper.advance(limit) {
                if stepper.state().t > self.solution.end.t {
                    // the step stands up to where it fails, but there is no way on from there
                    let until = Some(failure.time()).filter(|t| *t > self.solution.end.t && *t < stepper.state().t);
                    self.save(stepper, until);
                }
                return Err(failure);
            }
            self.solution.max_residuals = self.solution.max_residuals.max(stepper.residuals());
            let stop = self.find_events(stepper)?;
            if let Some(verifier) = &mut self.verifier {
                let end = stop.unwrap_or(stepper.state().t);
                verifier.step(stepper, end);
            }
            let statistics = stepper.statistics();
            let view = StepView {
                t: stepper.state().t,
                x: &stepper.state().x,
                segment: stepper.segment(),
                layout: &layout,
                statistics: &statistics,
                residuals: stepper.residuals(),
                progress: if tend > t0 { (stepper.state().t - t0) / (tend - t0) } else { 1.0 },
            };
            // before the polynomial of the step is exchanged for one that is kept; all see the step, whoever ends the run
            let mut ended = false;
            for observer in observers.iter_mut() {
                ended |= observer.observe(&view).is_break();
            }
            self.save(stepper, stop);
            if stop.is_some() {
                return Ok(());
            }
            if ended {
                self.solution.ended = Ended::ByObserver;
                return Ok(());
            }
        }
        self.solution.ended = Ended::AtEnd;
        Ok(())
    }

    /// Go on beyond a break, with steps as long as before: a step that ends at a break says little about the size that is possible.
    fn cross(&mut self, stepper: &mut dyn Stepper, crossing: &Crossing) -> Result<(), StepFailure> {
        let proposed = stepper.proposed_step().max(self.stride);
        self.course.cross(stepper, crossing)?;
        stepper.propose(proposed);
        let state = stepper.state();
        self.solution.end.t = state.t;
        self.solution.end.x.copy_from_slice(&state.x);
        match &self.options.save {
            // what jumps has two values, with a polynomial of no length between them
            Save::Steps => self.solution.push(state.t, &state.x),
            Save::At(times) => {
                while times.get(self.next).is_some_and(|&t| t <= state.t) {
                    self.solution.push(times[self.next], &state.x);
                    self.next += 1;
                }
            }
            Save::Dense => {
                self.solution.push(state.t, &state.x);
                self.solution.segments.push(Segment::with_room(state.t, &state.x, 1));
            }
            Save::End => {}
        }
        Ok(())
    }

    fn save_start(&mut self, start: &State) {
        match &self.options.save {
            Save::Steps | Save::Dense => self.solution.push(start.t, &start.x),
            Save::At(times) => {
                while times.get(self.next).is_some_and(|&t| t <= start.t) {
                    self.solution.push(start.t, &start.x);
                    self.next += 1;
                }
            }
            Save::End => {}
        }
    }

    /// Keep what is asked for of the last step, up to its end or to an event that stops.
    fn save(&mut self, stepper: &mut dyn Stepper, stop: Option<f64>) {
        let end = stop.unwrap_or(stepper.state().t);
        if end == stepper.state().t {
            self.x.copy_from_slice(&stepper.state().x);
        } else {
            stepper.inside(end, &mut self.x);
        }
        if let Some(event) = self.solution.events.last_mut().filter(|event| Some(event.t) == stop) {
            self.course.restore(end, &mut self.x);
            event.x.copy_from_slice(&self.x);
        }
        self.solution.end.t = end;
        self.solution.end.x.copy_from_slice(&self.x);
        for (largest, x) in self.solution.largest.iter_mut().zip(&self.x) {
            *largest = largest.max(x.abs());
        }
        match &self.options.save {
            Save::End => {}
            Save::Steps => self.solution.push(end, &self.x),
            Save::Dense => {
                self.solution.push(end, &self.x);
                stepper.refine();
                self.solution.segments.push(stepper.segment().clone());
            }
            Save::At(times) => {
                while let Some(&t) = times.get(self.next).filter(|&&t| t <= end) {
                    if t < end {
                        stepper.inside(t, &mut self.x);
                    } else {
                        self.x.copy_from_slice(&self.solution.end.x);
                    }
                    self.solution.push(t, &self.x);
                    self.next += 1;
                }
            }
        }
    }

    /// Write down what happened; the time of the event that stops.
    fn note(&mut self, seen: Seen) -> Option<f64> {
        if let Some(name) = seen.stopped_by() {
            self.solution.ended = Ended::AtEvent { name };
        }
        self.solution.events.extend(seen.happened);
        seen.stop
    }

    /// Begin to look for events where the stepper stands. True if the run stops here.
    fn look_around(&mut self, stepper: &mut dyn Stepper) -> Result<bool, StepFailure> {
        if self.events.is_empty() {
            return Ok(false);
        }
        let seen = self.lookout.begin(self.events, stepper, self.tolerances.clone())?;
        Ok(self.note(seen).is_some())
    }

    /// The time at which the last step stops the run.
    fn find_events(&mut self, stepper: &mut dyn Stepper) -> Result<Option<f64>, StepFailure> {
        if self.events.is_empty() {
            return Ok(None);
        }
        let until = stepper.state().t;
        let seen = self.lookout.step(self.events, stepper, until)?;
        Ok(self.note(seen))
    }

    fn finish(&mut self, stepper: &dyn Stepper) {
        self.solution.statistics = stepper.statistics();
        self.solution.statistics.events = self.solution.events.len() as u64;
        self.solution.decisions = stepper.decisions();
        self.solution.proposed_step = stepper.proposed_step();
        self.solution.verification = self.verifier.take().map(Verifier::finish);
        self.solution.undetermined = stepper
            .undetermined()
            .iter()
            .map(|vector| {
                vector
                    .iter()
                    .enumerate()
                    .filter(|(_, f)| f.abs() > 1e-8)
                    .map(|(j, &f)| (self.solution.names[j].clone(), f))
                    .collect()
            })
            .collect();
    }
}
