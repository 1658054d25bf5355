//! The frame of one-step methods with structural equations: attempts, acceptance, projection, dense output, events.

use super::constant_step::StepTrial;
use super::equations::StructuralEquations;
use super::interpolation::{End, MultiplierHistory, SAMPLES, interpolate, interpolate_back, interpolate_samples};
use super::projection::{ProjectedOnto, Projection};
use crate::error::{BadOption, ConstraintBlock, StepFailure};
use crate::method::collocation::nodes::NEGLIGIBLE;
use crate::method::pace::{Failures, Rules, Try, first_step};
use crate::method::shell::{self, Formula, Shell};
use crate::method::weights::Weights;
use crate::method::{Kept, Passage, StartFailure, State};
use crate::motion::{Mechanism, Undefined};
use crate::options::Options;
use crate::segment::Segment;
use crate::statistics::{Residuals, Statistics};

/// A projection that moves a point by more than this many tolerances belongs to a step that is too long.
const LARGEST_PROJECTION: f64 = 5.0;
/// A polynomial that deviates by more than this many tolerances belongs to a step that is too long, where values between steps are wanted.
const LARGEST_DEVIATION: f64 = 10.0;
/// Long steps aim at a deviation of this many tolerances.
const AIM: f64 = 0.5;
/// Polynomials are not made more accurate than a relative tolerance of this would ask for: everything that is looked for on them is seen, and
/// values at given times are computed anew.
const VISIBLE: f64 = 1e-10;
/// For so long the positions move to where constraints that are left out are looked at beside the start. Chosen: their velocities would be off by about as
/// much, and its square, by which turns differ that are counted and drawn, is small.
const BESIDE: f64 = 1e-5;
/// Degrees of the polynomials through two and three points.
const DEGREES: [usize; 2] = [5, 8];
/// A run that stops at a singular configuration ends so near to it, relative to the step that met it. Chosen: two or three more steps.
const NEAR: f64 = 0.01;
/// A leap over a singular configuration is made where the polynomials through the last two and the last three points differ by at most so many tolerances
/// behind it, and the constraints move the point by no more. Fitted on flat ladders of one and two cells at 1e-8 and 1e-10; what it does not allow stops.
const LEAP: f64 = 3.0;

/// What happens where constraints lose rank on the way: the motion may go on in more than one way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AtSingular {
    /// The run stops in front of it.
    #[default]
    Stop,
    /// It goes on as smoothly as it came.
    Pass,
}

/// Why an attempt gave no new point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The model has no value at a stage.
    Undefined,
    /// A saddle point matrix is singular.
    Singular,
    /// An iteration does not converge.
    Diverged,
    /// What a method assumes of the equations does not hold here.
    OutOfClass(&'static str),
}

impl From<Undefined> for Trouble {
    fn from(_: Undefined) -> Self {
        Trouble::Undefined
    }
}

/// A step that is to be tried: from the point x at t, where a, λ, μ are known, over h.
#[derive(Clone, Copy)]
pub(crate) struct Step<'x> {
    pub t: f64,
    /// Where it ends: t + h up to rounding.
    pub t1: f64,
    pub x: &'x [f64],
    pub h: f64,
    /// ẋ of p, v, r at the point.
    pub xdot: &'x [f64],
    /// Was the last attempt rejected?
    pub after_rejection: bool,
    /// Is it the first step, or one after a restart?
    pub first: bool,
    /// Does it end where the run ends?
    pub last: bool,
}

/// What an attempt gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Attempt {
    /// Is the error below the tolerance?
    pub accepted: bool,
    /// Step size for the next step, or for the next attempt.
    pub next: f64,
}

/// A one-step formula with its control of step sizes.
///
/// The contract of an implementation:
/// 1. p, v and r of the new point are written to `x1`, in the order of the layout; the frame computes a, λ and μ;
/// 2. it allocates nothing after its first step.
pub(crate) trait Scheme {
    /// Does it solve with M and K alone, so that constraints which follow from others may be left out?
    const CHOOSES_CONSTRAINTS: bool = false;

    /// Try a step.
    fn attempt(
        &mut self,
        equations: &mut StructuralEquations,
        weights: &Weights,
        step: Step,
        x1: &mut [f64],
    ) -> Result<Attempt, Trouble>;

    /// Which constraints is the new point to be brought onto?
    fn projects(&self) -> ProjectedOnto {
        ProjectedOnto::All
    }

    /// What happens at a singular configuration?
    fn at_singular(&self) -> AtSingular {
        AtSingular::Stop
    }

    /// Does it take accelerations by formulas, where there are any? The frame then does so, too.
    fn solves_by_formulas(&self) -> bool {
        false
    }

    /// Are all steps of one size? Attempts are then not judged by their error.
    fn fixed(&self) -> bool {
        false
    }

    /// Are steps so long that what is known at their ends does not tell how the motion goes between them?
    fn long_steps(&self) -> bool {
        false
    }

    /// The end of a step from the begin of the last one to a time inside of it, where steps are long; p, v and r are written to `x`.
    fn shorter(&mut self, _equations: &mut StructuralEquations, _step: Step, _x: &mut [f64]) -> Result<(), Trouble> {
        Err(Trouble::Diverged)
    }

    /// Bring p and v inside of the last step onto the constraints in a way of the scheme; false if it has none.
    fn settle(&mut self, _equations: &mut StructuralEquations, _t: f64, _x: &mut [f64]) -> Result<bool, Trouble> {
        Ok(false)
    }

    /// Order of the formula; asked where the one size of all steps is chosen.
    fn order(&self) -> u32 {
        1
    }

    /// Does the scheme write a, λ and μ of the new point itself? The frame then keeps them.
    fn own_multipliers(&self) -> bool {
        false
    }

    /// The point that the frame has made of the new one, with a, λ and μ; called after every accepted step.
    fn accepted(&mut self, _equations: &StructuralEquations, _x: &[f64]) {}

    /// The last step did not happen, or the next point does not continue the last one.
    fn forget(&mut self) {}

    /// What the scheme decided by itself, for reports.
    fn decisions(&self) -> String {
        String::new()
    }
}

/// A one-step method at work.
pub(crate) struct OneStep<'p, S> {
    scheme: S,
    equations: StructuralEquations<'p>,
    projection: Projection,
    /// the invariants, if they are kept
    kept: Option<Kept<'p>>,
    weights: Weights,
    state: State,
    xdot: Vec<f64>,
    segment: Segment,
    multipliers: MultiplierHistory,
    passage: Passage,
    residuals: Residuals,
    /// where an attempt began, where the last step began, and the one before
    left: Past,
    before: Past,
    older: Past,
    x1: Vec<f64>,
    /// why the last attempt gave no new point
    trouble: Trouble,
    hmax: f64,
    /// are values between steps wanted? Then how the polynomial deviates, and the longest step that follows from it
    between: bool,
    deviation: Vec<f64>,
    longest: f64,
    /// deviation of the last step in tolerances; infinite where it is not known
    deviates: f64,
    samples: [Vec<f64>; SAMPLES],
    /// where steps of one size are to end, and the size that was asked for or chosen
    planned: Option<f64>,
    nominal: Option<f64>,
    chosen: bool,
    /// singular configurations that were passed, and the one ahead
    passed: Vec<f64>,
    met: Option<Met>,
    /// the next attempt is a leap; the point from which the last one was looked for
    aim: Option<Aim>,
    aimed: f64,
}

/// A singular configuration that a step has met. Steps end in front of it from then on, whatever they see: next to it nothing is left that could vanish.
#[derive(Clone, Copy)]
struct Met {
    at: f64,
    sigma: f64,
    /// the step that met it first
    h: f64,
}

/// A leap over a singular configuration.
struct Aim {
    at: f64,
    /// the size of the attempt after it, if it is not made
    instead: f64,
}

/// A point that was left. Its time is not a number if there is none.
struct Past {
    t: f64,
    x: Vec<f64>,
    xdot: Vec<f64>,
}

impl Past {
    fn new(n: usize) -> Self {
        Past { t: f64::NAN, x: vec![0.0; n], xdot: vec![0.0; n] }
    }

    fn end(&self) -> End<'_> {
        End { t: self.t, x: &self.x, xdot: &self.xdot }
    }
}

impl<'p, S: Scheme> OneStep<'p, S> {
    /// Start at a consistent point; `method` is the name of the method, `scheme` is made for the equations.
    pub fn start(
        method: &'static str,
        system: &'p (dyn Mechanism + '_),
        at: State,
        options: &Options,
        scheme: impl FnOnce(&mut StructuralEquations<'p>) -> Result<S, StartFailure>,
    ) -> Result<Shell<Self>, StartFailure> {
        options.check()?;
        let mut equations = StructuralEquations::new(method, system)?;
        equations.check_rank((method, S::CHOOSES_CONSTRAINTS), system, (at.t, &at.x), options.ranks())?;
        let mut weights = Weights::of_motion(equations.layout(), &options.tolerance)?;
        weights.at(&at.x);
        let n = at.x.len();
        let scheme = scheme(&mut equations)?;
        let invariants = scheme.projects() == ProjectedOnto::Invariants;
        if invariants && system.sizes().invariants == 0 {
            return Err(BadOption::NoInvariants.into());
        }
        let by_formulas = scheme.solves_by_formulas()
            && !equations.is_redundant()
            && equations.know_solutions(&at.x, invariants).unwrap_or(false);
        let mut projection = Projection::new(&equations, by_formulas);
        if invariants && !(by_formulas && projection.keep_invariants(&mut equations, (at.t, &at.x))) {
            let why = "invariants are to be kept, and its accelerations are no formulas".to_string();
            return Err(StartFailure::OutOfClass { method, why, instead: "geoms" });
        }
        let kept = invariants.then(|| Kept::new(system, &at, &options.tolerance)).transpose()?;
        let degree = DEGREES[usize::from(scheme.long_steps() && projection.plain())];
        let mut frame = OneStep {
            scheme,
            projection,
            kept,
            weights,
            segment: Segment::with_room(at.t, &at.x, degree),
            multipliers: MultiplierHistory::new(equations.layout(), at.t, &at.x),
            passage: equations.passage(options.ranks()),
            equations,
            xdot: vec![0.0; n],
            residuals: Residuals::default(),
            left: Past::new(n),
            before: Past::new(n),
            older: Past::new(n),
            x1: vec![0.0; n],
            trouble: Trouble::Diverged,
            hmax: options.hmax.unwrap_or(f64::INFINITY),
            between: false,
            deviation: vec![0.0; n],
            longest: f64::INFINITY,
            deviates: f64::INFINITY,
            samples: std::array::from_fn(|_| vec![0.0; n]),
            planned: None,
            nominal: options.h0.map(|h0| h0.min(options.hmax.unwrap_or(f64::INFINITY))),
            chosen: false,
            passed: Vec::new(),
            met: None,
            aim: None,
            aimed: f64::NAN,
            state: at,
        };
        let t = frame.state.t;
        frame.equations.watch(&mut frame.passage, t, &frame.state.x)?;
        frame.look_beside()?;
        let settled = frame.settle();
        settled.map_err(|trouble| frame.failure(trouble, 0.0, Failures::default()))?;
        frame.multipliers.restart(frame.equations.layout(), t, &frame.state.x);
        let rules = Rules { constant: frame.scheme.fixed(), ..Rules::default() };
        Ok(Shell::new(frame, rules, options))
    }

    /// Do constraints that are left out hold wherever the others do? Looked at beside the start, because at a singular configuration rows are dependent
    /// that are not dependent beside it.
    fn look_beside(&mut self) -> Result<(), StepFailure> {
        if !self.equations.is_redundant() {
            return Ok(());
        }
        let t = self.state.t;
        let mut x = self.state.x.clone();
        let (p, v) = (self.equations.layout().p(), self.equations.layout().v());
        // velocities that belong to no direction of a model, along which positions move
        v.clone().for_each(|j| x[j] += (0.754_877_666 * (1 + j) as f64).fract() - 0.5);
        self.equations.forces(t, &x).map_err(|_| StepFailure::Undefined { t })?;
        p.zip(self.equations.kinematics()).for_each(|(j, rate)| x[j] += BESIDE * rate);
        let found = self.projection.project(&mut self.equations, (t, &mut x), &self.weights, ProjectedOnto::All);
        // a point that is not reached tells nothing
        if found.is_ok() { self.equations.left_out_hold(t, &x) } else { Ok(()) }
    }

    /// a, λ, μ, ẋ and residuals at the point, whose matrices are not at hand.
    fn settle(&mut self) -> Result<(), Trouble> {
        self.projection.stay(&mut self.equations, self.state.t, &self.state.x)?;
        self.residuals = self.projection.accelerations(&mut self.equations, self.state.t, &mut self.state.x)?;
        self.rate();
        Ok(())
    }

    /// The same where the projection has just been made, or where the scheme knows a, λ and μ.
    fn complete(&mut self) -> Result<(), Trouble> {
        let (t, equations) = (self.state.t, &mut self.equations);
        self.residuals = if self.scheme.own_multipliers() {
            equations.residuals(t, &self.state.x)?
        } else {
            self.projection.accelerations(equations, t, &mut self.state.x)?
        };
        self.rate();
        Ok(())
    }

    /// ẋ at the point that has just been evaluated.
    fn rate(&mut self) {
        let l = self.equations.layout();
        self.xdot[l.p()].copy_from_slice(self.equations.kinematics());
        self.xdot[l.r()].copy_from_slice(self.equations.dynamic());
        self.xdot[l.v()].copy_from_slice(&self.state.x[l.a()]);
    }

    /// The polynomial over the step that has just been made. Its deviation in the norm of the tolerance, where that counts.
    fn interpolate(&mut self) -> Option<f64> {
        let (l, plain) = (self.equations.layout(), self.projection.plain());
        let here = End { t: self.state.t, x: &self.state.x, xdot: &self.xdot };
        let (from, segment) = (self.left.end(), &mut self.segment);
        // two points are enough for short steps where p' = v
        let third = (self.scheme.long_steps() || !plain) && self.before.t < from.t;
        if !third {
            interpolate(segment, l, plain, [from, here], &self.multipliers);
            return None;
        }
        let ends = [self.before.end(), from, here];
        interpolate_back(segment, l, plain, ends, &self.multipliers, &mut self.deviation);
        let bounded = self.between && self.scheme.long_steps() && !self.scheme.fixed();
        bounded.then(|| self.weights.norm(&self.deviation))
    }

    /// p, v and r at a time of the last step: on its polynomial, or where a shorter step ends if long steps have left that too far behind.
    fn look(&mut self, t: f64, x: &mut [f64]) {
        let far = self.between && self.scheme.long_steps() && self.deviates > NEGLIGIBLE;
        let past = &self.before;
        if far && past.t < t && !self.scheme.fixed() {
            let (h, first, last) = (t - past.t, false, false);
            let step = Step { t: past.t, t1: t, x: &past.x, h, xdot: &past.xdot, after_rejection: false, first, last };
            x.copy_from_slice(&past.x);
            if self.scheme.shorter(&mut self.equations, step, x).is_ok() {
                return;
            }
        }
        self.segment.eval(t, x);
    }

    /// Back to where the attempt began.
    fn go_back(&mut self) {
        self.state.t = self.left.t;
        self.state.x.copy_from_slice(&self.left.x);
        self.xdot.copy_from_slice(&self.left.xdot);
    }

    /// The one size of all steps over a span, where none is given.
    fn choose_size(&mut self, span: f64) -> Result<f64, StepFailure> {
        let guess = self.first_size().min(self.hmax);
        let trial = StepTrial {
            scheme: &mut self.scheme,
            equations: &mut self.equations,
            projection: &mut self.projection,
            weights: &self.weights,
            from: &self.state,
            xdot: &self.xdot,
        };
        let chosen = trial.step_size(guess, span);
        let size = chosen.map_err(|trouble| self.failure(trouble, guess, Failures::default()))?.min(self.hmax);
        (self.nominal, self.chosen) = (Some(size), true);
        Ok(size)
    }

    /// After an attempt without a new point: half the step.
    fn failed(&mut self, trouble: Trouble) -> shell::Attempt {
        self.scheme.forget();
        self.trouble = trouble;
        shell::Attempt::Failed { factor: 0.5, singular: false }
    }

    /// After an attempt whose error was too large.
    fn rejected(&self, next: f64) -> shell::Attempt {
        shell::Attempt::Rejected { next: next.min(self.hmax) }
    }

    /// p, v and r of a new point, written to x1, on the constraints; the size that the scheme proposes next. Otherwise what is to be done instead.
    fn new_point(&mut self, tried: &Try) -> Result<f64, shell::Attempt> {
        let (t, &Try { h, t1, last, first, after_rejection, .. }) = (self.state.t, tried);
        let step = Step { t, t1, x: &self.state.x, h, xdot: &self.xdot, after_rejection, first, last };
        self.x1.copy_from_slice(&self.state.x);
        let attempt = match self.scheme.attempt(&mut self.equations, &self.weights, step, &mut self.x1) {
            Ok(attempt) => attempt,
            Err(trouble) => return Err(self.failed(trouble)),
        };
        if !attempt.accepted && !self.scheme.fixed() {
            return Err(self.rejected(attempt.next));
        }
        let onto = self.scheme.projects();
        self.projection.unit = h;
        if onto != ProjectedOnto::Nothing {
            match self.projection.project(&mut self.equations, (t1, &mut self.x1), &self.weights, onto) {
                Ok(moved) if moved > LARGEST_PROJECTION && !self.scheme.fixed() => {
                    self.scheme.forget();
                    return Err(self.rejected(h * (0.9 / moved).max(0.45)));
                }
                Ok(_) => {}
                Err(trouble) => return Err(self.failed(trouble)),
            }
        } else if !self.scheme.own_multipliers()
            && let Err(trouble) = self.projection.stay(&mut self.equations, t1, &self.x1)
        {
            return Err(self.failed(trouble));
        }
        Ok(attempt.next)
    }

    /// Where an attempt fails in front of a singular configuration, the next one is a leap, once from every point, which ends as far behind it.
    fn take_aim(&mut self, h: f64, instead: &shell::Attempt) -> Option<shell::Attempt> {
        let t = self.state.t;
        if self.scheme.at_singular() == AtSingular::Stop || !(self.older.t < self.before.t) || self.aimed == t {
            return None;
        }
        self.aimed = t;
        let found = self.singular_ahead(2.0 * h);
        self.equations.stand(&mut self.passage, t, &self.state.x);
        let (at, _) = found.filter(|(at, _)| *at > t)?;
        let instead = match instead {
            shell::Attempt::Rejected { next } => *next,
            shell::Attempt::Failed { factor, .. } => factor * h,
            shell::Attempt::Accepted { next, .. } => *next,
        };
        self.aim = Some(Aim { at, instead });
        Some(self.rejected(2.0 * (at - t)))
    }

    /// The new point behind a singular configuration by the polynomials through the last points, written to x1 and brought onto the constraints; false if
    /// it is not near enough for that.
    fn leap(&mut self, &Try { t1, .. }: &Try, at: f64) -> bool {
        let t = self.state.t;
        // what is as near behind it as in front of it is no way out
        if !(t1 - at >= 0.5 * (at - t)) {
            return false;
        }
        let (l, plain) = (self.equations.layout(), self.projection.plain());
        let here = End { t, x: &self.state.x, xdot: &self.xdot };
        let mut ahead = Segment::with_room(t, &self.state.x, DEGREES[usize::from(plain)]);
        let ends = [self.older.end(), self.before.end(), here];
        interpolate_back(&mut ahead, l, plain, ends, &self.multipliers, &mut self.deviation);
        self.x1.copy_from_slice(&self.state.x);
        ahead.eval(t1, &mut self.x1);
        interpolate(&mut ahead, l, plain, [self.before.end(), here], &self.multipliers);
        ahead.eval(t1, &mut self.left.x);
        self.deviation.fill(0.0);
        for j in l.r().start..l.p().end {
            self.deviation[j] = self.x1[j] - self.left.x[j];
        }
        if !(self.weights.norm(&self.deviation) <= LEAP) {
            return false;
        }
        self.scheme.forget();
        let all = ProjectedOnto::All;
        let moved = self.projection.project(&mut self.equations, (t1, &mut self.x1), &self.weights, all);
        moved.is_ok_and(|moved| moved <= LEAP)
    }

    /// The size of a step that ends in front of the singular configuration ahead, if this one does not; the end of the run next to it.
    fn in_front(&self, h: f64) -> Result<Option<f64>, StepFailure> {
        let Some(Met { at, sigma, h: first }) = self.met else { return Ok(None) };
        let way = at - self.state.t;
        if !(way > NEAR * first) || self.scheme.fixed() {
            return Err(StepFailure::Singularity { t: at, sigma });
        }
        Ok((h > 0.95 * way).then_some(0.9 * way))
    }

    /// Why there is no way on, as far as the rank of the constraints tells.
    fn failure(&mut self, trouble: Trouble, h: f64, failures: Failures) -> StepFailure {
        let t = self.state.t;
        match (trouble, self.rank_loss(h)) {
            (Trouble::Undefined, _) => StepFailure::Undefined { t },
            (Trouble::OutOfClass(why), _) => StepFailure::LeftClass { t, why },
            (_, Some(loss)) => loss,
            (Trouble::Singular, None) => StepFailure::SaddleSingular { t },
            (Trouble::Diverged, None) => StepFailure::NewtonDiverged { t, h, failures: failures.attempts },
        }
    }

    /// Do the constraints lose rank at the point, or on the way that begins there?
    fn rank_loss(&mut self, h: f64) -> Option<StepFailure> {
        let t = self.state.t;
        if let Some(smallest) = self.equations.lost(&mut self.passage, t, &self.state.x) {
            return Some(StepFailure::RankLoss { t, block: ConstraintBlock::Velocity, smallest });
        }
        let (t, sigma) = self.singular_ahead(h)?;
        Some(StepFailure::Singularity { t, sigma })
    }

    /// Where the constraints lose rank on the way that begins at the point, and the relative size of the singular value that vanishes.
    fn singular_ahead(&mut self, h: f64) -> Option<(f64, f64)> {
        let t = self.state.t;
        if !(h > 0.0) {
            return None;
        }
        // p + τ h p' + ½ τ² h² p'', in powers of σ = τ − 1
        let n = self.state.x.len();
        let mut ahead = Segment::with_room(t, &self.state.x, 2);
        let l = self.equations.layout();
        let (p, v, a) = (l.p(), l.v(), l.a());
        let bend: Vec<f64> = if self.projection.plain() { self.state.x[a].to_vec() } else { vec![0.0; p.len()] };
        let powers = ahead.powers(t, t + h);
        for (k, j) in p.enumerate() {
            let (rate, bend) = (h * self.xdot[j], 0.5 * h * h * bend[k]);
            powers[j] += rate + bend;
            powers[n + j] = rate + 2.0 * bend;
            powers[2 * n + j] = bend;
        }
        powers[v].fill(0.0);
        self.equations.ahead(&mut self.passage, &ahead)
    }
}

impl<S: Scheme> Formula for OneStep<'_, S> {
    fn state(&self) -> &State {
        &self.state
    }

    fn segment(&self) -> &Segment {
        &self.segment
    }

    fn first_size(&mut self) -> f64 {
        first_step(self.weights.norm(&self.state.x), self.weights.norm(&self.xdot))
    }

    fn attempt(&mut self, tried: &Try) -> Result<shell::Attempt, StepFailure> {
        let (t, &Try { h, t1, .. }) = (self.state.t, tried);
        if let Some(next) = self.in_front(h)? {
            return Ok(self.rejected(next));
        }
        let (next, mut passed) = match self.aim.take() {
            Some(Aim { at, instead }) => {
                if !self.leap(tried, at) {
                    return Ok(self.rejected(instead));
                }
                (h, Some(at))
            }
            None => match self.new_point(tried) {
                Ok(next) => (next, None),
                Err(instead) => return Ok(self.take_aim(h, &instead).unwrap_or(instead)),
            },
        };
        std::mem::swap(&mut self.state.x, &mut self.x1);
        self.left.t = t;
        self.left.x.copy_from_slice(&self.x1);
        self.left.xdot.copy_from_slice(&self.xdot);
        self.state.t = t1;
        if let Err(trouble) = self.complete() {
            // there is no way on from the new point: it does not count
            self.go_back();
            return Ok(self.failed(trouble));
        }
        self.multipliers.push(self.equations.layout(), t1, &self.state.x);
        let deviation = self.interpolate();
        self.deviates = deviation.unwrap_or(f64::INFINITY);
        if let Some(deviation) = deviation {
            let deviation = deviation / (VISIBLE / self.weights.rtol()).max(1.0);
            self.longest = h * (AIM / deviation).powf(1.0 / self.segment.degree() as f64);
            if deviation > LARGEST_DEVIATION {
                self.go_back();
                self.multipliers.retreat();
                self.scheme.forget();
                return Ok(self.rejected(self.longest));
            }
        }
        let to = (t1, &self.state.x[..]);
        if let Err(contradiction) = self.equations.left_out_hold(t1, to.1) {
            self.go_back();
            self.multipliers.retreat();
            return Err(contradiction);
        }
        if let Some((at, sigma)) = self.equations.singularity(&mut self.passage, &self.segment, to) {
            if self.scheme.at_singular() == AtSingular::Stop {
                // the step went wrong
                self.go_back();
                self.multipliers.retreat();
                self.met = Some(Met { at, sigma, h: self.met.map_or(h, |met| met.h) });
                self.scheme.forget();
                self.equations.stand(&mut self.passage, t, &self.state.x);
                let next = self.in_front(f64::INFINITY)?.unwrap_or(h);
                return Ok(self.rejected(next));
            }
            passed.get_or_insert(at);
        }
        // seen from both sides it is one
        self.passed.extend(passed.filter(|at| self.passed.last().is_none_or(|last| at - last > h)));
        std::mem::swap(&mut self.older, &mut self.before);
        std::mem::swap(&mut self.before, &mut self.left);
        self.scheme.accepted(&self.equations, &self.state.x);
        self.weights.at(&self.state.x);
        let next = if self.scheme.fixed() {
            tried.proposed
        } else {
            // a step that was cut short says little about the size that is possible
            let cut = h < 0.9 * tried.proposed;
            let next = if cut { next.max(tried.proposed) } else { next };
            next.min(tried.longest).min(self.longest)
        };
        let settled = self.kept.as_mut().map_or(Ok(()), |kept| kept.step(t1, &self.state.x));
        Ok(shell::Attempt::Accepted { next, settled })
    }

    fn stuck(&mut self, h: f64, failures: Failures) -> StepFailure {
        self.failure(self.trouble, h, failures)
    }

    fn too_small(&mut self, h: f64, _: Failures) -> StepFailure {
        let t = self.state.t;
        self.rank_loss(h).unwrap_or(StepFailure::StepTooSmall { t, h })
    }

    /// Steps of one size: as many as lead to the limit, none longer than the size that was given or is chosen now.
    fn plan(&mut self, limit: f64) -> Result<Option<f64>, StepFailure> {
        if !self.scheme.fixed() || self.planned == Some(limit) {
            return Ok(None);
        }
        let span = limit - self.state.t;
        let nominal = match self.nominal {
            Some(nominal) => nominal,
            None => self.choose_size(span)?,
        };
        self.planned = Some(limit);
        // rounding of the quotient makes no further step
        Ok(Some(span / (span / nominal * (1.0 - 1e-9)).ceil().max(1.0)))
    }

    /// Steps of one size are planned up to a limit: how long they are if nothing limits them, or may become when that is chosen.
    fn proposed(&self, h: f64) -> f64 {
        if self.scheme.fixed() { self.nominal.unwrap_or(self.hmax) } else { h }
    }

    fn back(&mut self) -> Result<bool, StepFailure> {
        std::mem::swap(&mut self.left, &mut self.before);
        std::mem::swap(&mut self.before, &mut self.older);
        self.older.t = f64::NAN;
        self.go_back();
        self.weights.at(&self.state.x);
        self.passage.forget();
        self.scheme.forget();
        self.multipliers.retreat();
        Ok(true)
    }

    fn restart(&mut self, at: State, _: Option<&[f64]>) -> Result<(), StepFailure> {
        self.state = at;
        self.planned = None;
        (self.before.t, self.older.t, self.longest) = (f64::NAN, f64::NAN, f64::INFINITY);
        (self.met, self.aim, self.aimed) = (None, None, f64::NAN);
        self.equations.watch(&mut self.passage, self.state.t, &self.state.x)?;
        self.scheme.forget();
        let degree = self.segment.degree();
        self.segment = Segment::with_room(self.state.t, &self.state.x, degree);
        self.weights.at(&self.state.x);
        if let Some(kept) = &mut self.kept {
            // invariants go on from their new values
            kept.begin(self.state.t, &self.state.x)?;
            self.projection.keep_invariants(&mut self.equations, (self.state.t, &self.state.x));
        }
        // a point without values is told by the next attempt
        let _ = self.settle();
        self.multipliers.restart(self.equations.layout(), self.state.t, &self.state.x);
        Ok(())
    }

    fn watch_between(&mut self) {
        self.between = true;
    }

    /// p, v and r of the polynomial, brought onto the constraints, and the accelerations and multipliers that belong to them.
    fn inside(&mut self, t: f64, x: &mut [f64]) {
        self.look(t, x);
        if self.scheme.own_multipliers() {
            return;
        }
        let settled = match self.scheme.settle(&mut self.equations, t, x) {
            Ok(true) => self.projection.stay(&mut self.equations, t, x),
            none => {
                if none.is_err() {
                    self.look(t, x);
                }
                let all = ProjectedOnto::All;
                self.projection.project(&mut self.equations, (t, x), &self.weights, all).map(drop)
            }
        };
        let complete = settled.and_then(|()| self.projection.accelerations(&mut self.equations, t, x));
        if complete.is_err() {
            self.segment.eval(t, x);
        }
    }

    fn refine(&mut self) {
        if self.scheme.own_multipliers() {
            return;
        }
        let (t0, t1) = (self.segment.t0, self.segment.t1);
        let mut samples = std::mem::take(&mut self.samples);
        samples[0].copy_from_slice(&self.state.x);
        samples[SAMPLES - 1].copy_from_slice(&self.before.x);
        for (i, x) in samples[..SAMPLES - 1].iter_mut().enumerate().skip(1) {
            self.inside(t1 - (t1 - t0) * i as f64 / (SAMPLES - 1) as f64, x);
        }
        interpolate_samples(&mut self.segment, self.equations.layout(), &samples);
        self.samples = samples;
    }

    fn rates(&mut self, xdot: &mut [f64]) {
        xdot.copy_from_slice(&self.xdot);
    }

    fn counters(&self) -> Statistics {
        self.equations.statistics
    }

    fn residuals(&self) -> Residuals {
        self.residuals
    }

    fn decisions(&self) -> String {
        let mut decisions = self.scheme.decisions();
        if let Some(redundancy) = self.equations.decision() {
            decisions = if decisions.is_empty() { redundancy } else { format!("{decisions}; {redundancy}") };
        }
        if !self.passed.is_empty() {
            let passed = passed_by(&self.passed);
            decisions = if decisions.is_empty() { passed } else { format!("{decisions}; {passed}") };
        }
        if let Some(nominal) = self.nominal.filter(|_| self.scheme.fixed()) {
            let how = if self.chosen { "chosen from the tolerance at the start" } else { "given" };
            let size = format!("constant steps of at most {nominal:.4e}, {how}");
            decisions = if decisions.is_empty() { size } else { format!("{decisions}; {size}") };
        }
        decisions
    }
}

/// Which singular configurations were passed, for reports.
fn passed_by(times: &[f64]) -> String {
    let told: Vec<String> = times.iter().take(MOST_TOLD).map(|t| format!("{t:.6}")).collect();
    let more = if times.len() > MOST_TOLD { ", …" } else { "" };
    let (count, s) = (times.len(), if times.len() == 1 { "" } else { "s" });
    format!(
        "{count} singular configuration{s} passed, where the motion might have gone on in another way: t = {}{more}",
        told.join(", ")
    )
}

/// So many times are told.
const MOST_TOLD: usize = 8;
