//! The loop over one continuous interval.

use crate::dae::{self, System};
use crate::error::{BadOption, SolveError, StepFailure};
use crate::event::{Action, Event, Happened};
use crate::explicit_time::{Crossing, Suspects, Timetable, cross_motion};
use crate::graph::Interpreted;
use crate::method::{Method, StartFailure, State, Stepper};
use crate::motion::{Form, Initial, Layout, Mechanism, consistent, view};
use crate::observer::{Observer, StepView};
use crate::options::{Options, Save};
use crate::problem::Problem;
use crate::segment::Segment;
use crate::solution::{Ended, Solution};
use crate::verify::Verifier;

/// Most repetitions of a step until it ends at an event that stops.
const MOST_REPETITIONS: u32 = 4;

/// Solve a problem.
///
/// ```
/// use daedal::linalg::Matrix;
/// use daedal::motion::{EquationsOfMotion, Initial, Motion, Position, Sizes};
/// use daedal::scalar::Scalar;
/// use daedal::{Geoms, Options, Problem, Tolerance, solve};
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
/// let problem = Problem::new(&Pendulum, Initial::new(0.0, &[-1.0, 0.0], &[0.0, 0.0]), 10.0);
/// let options = Options { tolerance: Tolerance::new(1e-10, 1e-10), ..Options::default() };
/// let solution = solve(&problem, &Geoms::default(), &options)?;
/// // exact value from elliptic functions
/// assert!((solution.end().p[0] + 0.2750874625761169).abs() < 1e-8);
/// # Ok::<(), daedal::SolveError>(())
/// ```
pub fn solve<'p, M: Method<dyn Mechanism + 'p> + ?Sized>(
    problem: &'p Problem<'p>,
    method: &M,
    options: &Options,
) -> Result<Solution, SolveError> {
    solve_observed(problem, method, options, &mut [])
}

/// Solve a problem while observers look on.
pub fn solve_observed<'p, M: Method<dyn Mechanism + 'p> + ?Sized>(
    problem: &'p Problem<'p>,
    method: &M,
    options: &Options,
    observers: &mut [&mut dyn Observer],
) -> Result<Solution, SolveError> {
    let t0 = problem.trusted.as_ref().map_or(problem.initial.t, |s| s.t);
    check_times(t0, problem.tend, &options.save)?;
    options.check()?;
    let options = &options.over(t0, problem.tend);
    let start = match &problem.trusted {
        Some(state) => state.clone(),
        None => {
            let (initial, form) = (&problem.initial, Form::StrangenessFree);
            consistent::initialise_by(problem.system, initial, form, options.ranks())?.state
        }
    };
    let layout = Layout::new(problem.system.sizes(), Form::StrangenessFree, false);
    let names = layout.variable_names(&problem.system.names());
    let named = options.for_motion(&layout, &names);
    let options = named.as_ref().unwrap_or(options);
    let course = MotionCourse { system: problem.system, layout: &layout, options };
    let mut run = Run::new(&layout, names, &start, (problem.tend, &problem.events), options, &course);
    run.timetable = Timetable::of_motion(problem.system, (t0, problem.tend));
    run.verifier = options.verify.then(|| verifier_of_motion(problem, &layout, t0, options)).flatten();
    run.make(|| method.start(problem.system, start, options), observers)
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
fn verifier_of_motion(problem: &Problem, layout: &Layout, t0: f64, options: &Options) -> Option<Verifier> {
    let names = layout.variable_names(&problem.system.names());
    let formulas = dae::Formulas::of_motion(&problem.system.formulas()?);
    let tolerances = options.tolerance.pairs(layout).ok()?;
    Some(Verifier::new(&System::new(&formulas, Interpreted), &names, &tolerances, problem.tend - t0))
}

/// The polynomial satisfies the constraints only at its ends: bring a state back onto them.
fn make_consistent(system: &dyn Mechanism, layout: &Layout, options: &Options, t: f64, x: &mut [f64]) {
    let at = view(layout, t, x);
    let initial = Initial::new(t, at.p, at.v).dynamic(at.r).auxiliary(at.w).contact(at.s).multipliers(at.lambda, at.mu);
    if let Ok(consistent) = consistent::initialise_by(system, &initial, Form::StrangenessFree, options.ranks()) {
        x.copy_from_slice(&consistent.state.x);
    }
}

/// Does the interval run forward, and do the times to save at rise inside it?
pub(crate) fn check_times(t0: f64, tend: f64, save: &Save) -> Result<(), BadOption> {
    if !tend.is_finite() {
        return Err(BadOption::OutOfRange { name: "tend", value: tend, expected: "it must be finite" });
    }
    if tend < t0 {
        return Err(BadOption::Backward { t0, tend });
    }
    if let Save::At(times) = save {
        let mut last = t0;
        for &value in times {
            if !(value >= last && value <= tend) {
                let expected = "the times must rise and lie in the interval";
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
        while stepper.state().t < tend {
            let (t, proposed) = (stepper.state().t, stepper.proposed_step());
            let mut limit = tend;
            if let Some(times) = &mut self.timetable {
                if let Some(crossing) = times.crossing(t) {
                    self.cross(stepper, &crossing)?;
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

    /// Write down the events of a step; the time of the first one that stops, where the step ends then if the method can make it end there.
    fn find_events(&mut self, stepper: &mut dyn Stepper) -> Result<Option<f64>, StepFailure> {
        let mut found: Vec<(f64, usize)> = Vec::new();
        for (k, event) in self.events.iter().enumerate() {
            event.locate(stepper.segment(), &mut self.x, |t| found.push((t, k)));
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        let stop = found.iter().position(|(_, k)| self.events[*k].action == Action::Stop);
        let mut ends = false;
        if let Some(i) = stop {
            found.truncate(i + 1);
            let (t, k) = found[i];
            match self.end_at(stepper, t, k)? {
                Some(t) => (found[i].0, ends) = (t, true),
                // the step had to be shorter: the event comes later
                None => found.retain(|(t, _)| *t <= stepper.state().t),
            }
        }
        let last = found.len();
        for (i, (t, k)) in found.iter_mut().enumerate() {
            let event = &self.events[*k];
            // the one that stops is at the end of the step already
            let stops_here = ends && i + 1 == last;
            if !stops_here && !event.correct(stepper, t, &mut self.x) {
                continue;
            }
            let t = *t;
            stepper.inside(t, &mut self.x);
            self.solution.events.push(Happened {
                name: event.name.clone(),
                t,
                x: self.x.clone(),
                action: event.action,
            });
        }
        let Some(&(t, k)) = found.last().filter(|_| ends) else { return Ok(None) };
        self.solution.ended = Ended::AtEvent { name: self.events[k].name.clone() };
        Ok(Some(t))
    }

    /// Make the last step end at an event that was found on its polynomial. Its time; none if the step had to end before.
    fn end_at(&mut self, stepper: &mut dyn Stepper, found: f64, k: usize) -> Result<Option<f64>, StepFailure> {
        let (t0, t1) = (stepper.segment().t0, stepper.segment().t1);
        let (mut t, h) = (found, t1 - t0);
        let rounding = 100.0 * f64::EPSILON * (t0.abs() + h);
        // no step is as short as rounding
        if t >= t1 - rounding || t <= t0 + 1e3 * rounding {
            return Ok(Some(t));
        }
        for _ in 0..MOST_REPETITIONS {
            if !stepper.retake(t)? {
                return Ok(Some(t));
            }
            if stepper.state().t < t {
                return Ok(None);
            }
            // Newton's method for the function at the end of the step
            let event = &self.events[k];
            let width = 1e-3 * (t - t0);
            let value = (event.function)(t, &stepper.state().x);
            // the slope is that of the polynomial, whose end may be less accurate than the state
            let mut on_polynomial = |t: f64| {
                stepper.segment().eval(t, &mut self.x);
                (event.function)(t, &self.x)
            };
            let shift = -value * width / (on_polynomial(t) - on_polynomial(t - width));
            // a function that only touches zero has no slope there
            if !(shift.abs() > rounding && shift.abs() < 0.1 * h && t + shift > t0) {
                break;
            }
            // the polynomial deviates from the solution, which reaches zero behind the step
            if t + shift > t1 + rounding {
                return Ok(None);
            }
            t = (t + shift).min(t1);
        }
        Ok(Some(stepper.state().t))
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
