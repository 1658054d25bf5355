//! Why a run could not start or go on. Every message says what, where and what to try.

use crate::dae::{AnalysisError, CharacteristicValues};
use crate::linalg::RankRule;
use crate::method::StartFailure;
use crate::motion::Layout;
use crate::motion::consistent::InitialisationError;
use crate::solution::Solution;
use crate::tolerance::BadTolerance;
use std::fmt;

/// Which diagonal block of the constraint Jacobian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConstraintBlock {
    /// Dynamics, auxiliary equations and acceleration level: fixes a, w, λ, μ.
    Acceleration,
    /// Velocity level and invariants.
    Velocity,
    /// Position level and contact equations.
    Position,
}

impl fmt::Display for ConstraintBlock {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            ConstraintBlock::Acceleration => "acceleration-level equations (dynamics, auxiliary equations, gII, hI)",
            ConstraintBlock::Velocity => "velocity-level constraints",
            ConstraintBlock::Position => "position-level constraints (c, g)",
        })
    }
}

/// Why a step could not be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StepFailure {
    /// The constraints are redundant and the chosen decomposition cannot handle that.
    #[error(
        "at t = {t}: the {block} have rank {rank} of {rows}: constraints are redundant, or invariants depend on them; use the formulation psf with the decomposition svd, which handles redundancy, remove constraints, or set rank_tolerance if they are independent"
    )]
    Redundant {
        /// Time.
        t: f64,
        /// Which constraints.
        block: ConstraintBlock,
        /// Their rank.
        rank: usize,
        /// Their number.
        rows: usize,
    },
    /// The rank of the constraints changes along the motion.
    #[error(
        "at t = {t}: the rank of the {block} drops or changes ({before} before, {now} here; deciding pivots {smallest:.1e} and {neglected:.1e}): a singular configuration, where the motion may continue in more than one way; change the geometry, stop before it, or set rank_tolerance if the change is spurious"
    )]
    RankChange {
        /// Time.
        t: f64,
        /// Which constraints.
        block: ConstraintBlock,
        /// Rank before.
        before: usize,
        /// Rank now.
        now: usize,
        /// Smallest relative pivot that counts.
        smallest: f64,
        /// Largest relative pivot that does not.
        neglected: f64,
    },
    /// A step would pass a singular configuration.
    #[error(
        "at t = {t}: the constraints lose rank (smallest singular value of their Jacobian {sigma:.1e} of its usual size): a singular configuration, where the motion may continue in more than one way; change the geometry or stop before it"
    )]
    Singularity {
        /// Time.
        t: f64,
        /// Smallest singular value relative to the ends of the step.
        sigma: f64,
    },
    /// The redundancy of the levels does not fit together.
    #[error(
        "at t = {t}: rank deficiencies {deficiencies:?} of acceleration, velocity and position level do not belong to the same redundant constraints: a force may cancel its constraint, or a singular configuration is near; check the constraints here"
    )]
    UnevenRedundancy {
        /// Time.
        t: f64,
        /// Deficiencies of the three blocks.
        deficiencies: [usize; 3],
    },
    /// Constraints that were redundant do not agree any more.
    #[error(
        "at t = {t}: {block} that were dropped as redundant do not hold any more (residual {residual:.1e}): they contradict the others, or the start was a singular configuration; check the geometry, the parameters and the initial values"
    )]
    Contradiction {
        /// Time.
        t: f64,
        /// Which constraints.
        block: ConstraintBlock,
        /// Residual of a dropped combination.
        residual: f64,
    },
    /// A constraint that follows from others at the start does not follow from them here.
    #[error(
        "at t = {t}: the constraint {constraint} was left out because it follows from the others, and does not hold any more (residual {residual:.1e}): it contradicts them, or the start was a singular configuration; check the geometry, the parameters and the initial values"
    )]
    LeftOutFails {
        /// Time.
        t: f64,
        /// Its name.
        constraint: String,
        /// What is left of it.
        residual: f64,
    },
    /// Newton's iteration failed several times in a row.
    #[error(
        "at t = {t}: Newton's iteration fails ({failures} in a row), down to h = {h:.2e}; the constraints may be close to losing rank (smallest pivot {smallest:.1e} of its largest value), or the forces may jump or have no value beyond this point; try a smaller tolerance, newton_updates = 1, or check the model here"
    )]
    NewtonFailed {
        /// Time.
        t: f64,
        /// Last step size.
        h: f64,
        /// How often.
        failures: u32,
        /// Smallest pivot of the constraint blocks relative to the largest seen.
        smallest: f64,
    },
    /// Newton's iteration failed several times in a row where the constraints lose rank.
    #[error(
        "at t = {t}: the {block} lose rank (pivot down to {smallest:.1e} of its usual size) and Newton's iteration fails: a singular configuration, where the motion may continue in more than one way; change the geometry or stop before it"
    )]
    RankLoss {
        /// Time.
        t: f64,
        /// Which constraints.
        block: ConstraintBlock,
        /// Smallest pivot relative to its usual size.
        smallest: f64,
    },
    /// The step size fell to rounding.
    #[error(
        "at t = {t}: the step size {h:.2e} is lost in rounding; the tolerance may be too small for this problem, or the solution ends here"
    )]
    StepTooSmall {
        /// Time.
        t: f64,
        /// Step size.
        h: f64,
    },
    /// More steps than allowed.
    #[error("at t = {t}: {steps} attempts made, more than max_steps allows; raise max_steps or the tolerance")]
    TooManySteps {
        /// Time.
        t: f64,
        /// How many.
        steps: u64,
    },
    /// The model has no finite value at an accepted point.
    #[error("at t = {t}: the model gives values that are not finite (NaN or infinity); check it at this point")]
    Undefined {
        /// Time.
        t: f64,
    },
    /// Newton's iteration for a general system failed several times in a row.
    #[error(
        "at t = {t}: Newton's iteration fails ({failures} in a row), down to h = {h:.2e}; the equations may be close to a singular point, jump, or have no value beyond this point; try a smaller tolerance, or check the model here"
    )]
    NewtonDiverged {
        /// Time.
        t: f64,
        /// Last step size.
        h: f64,
        /// How often.
        failures: u32,
    },
    /// The iteration matrix of a general system has no inverse.
    #[error(
        "at t = {t}: the iteration matrix is singular: the equations do not determine the solution here, or a constraint is hidden; run the analysis at this point"
    )]
    SingularPencil {
        /// Time.
        t: f64,
    },
    /// M, G and H together have no inverse.
    #[error(
        "at t = {t}: the matrix [M Gᵀ; G 0] of the mass matrix and the constraints is singular: the constraints lose rank, or a mass vanishes in a free direction; change the geometry, stop before this point, or choose the method geoms, which tells more"
    )]
    SaddleSingular {
        /// Time.
        t: f64,
    },
    /// The stated constraints of a general system lose rank.
    #[error(
        "at t = {t}: the constraints lose rank, or do not determine the unknowns without derivatives any more: a singular point, where a solution may end, or continue in more than one way; change the model or stop before it"
    )]
    ConstraintsSingular {
        /// Time.
        t: f64,
    },
    /// Constraints that were chosen among redundant ones are dependent.
    #[error(
        "at t = {t}: the constraints that were chosen among redundant ones become dependent within a step, and may lead to a branch of their own; leave redundant equations out, try a smaller largest step (hmax), or the form array"
    )]
    ChoiceSingular {
        /// Time.
        t: f64,
    },
    /// The leading matrix of a general system loses rank.
    #[error(
        "at t = {t}: the leading matrix loses rank: a singular point of the equations, where a solution may end, or continue in more than one way; stop before it, or divide the equations by the factor that vanishes"
    )]
    LeadingSingular {
        /// Time.
        t: f64,
    },
    /// The characteristic values of a general system change along the solution.
    #[error(
        "at t = {t}: the equations change their nature: {before} before, {now} here; a singular point, or the start of another mode; stop before it, start again behind it, or set rank_tolerance if a rank is decided wrongly"
    )]
    CharacteristicChange {
        /// Time.
        t: f64,
        /// Values so far.
        before: CharacteristicValues,
        /// Values here.
        now: CharacteristicValues,
    },
    /// Equations that should hold because of the others do not.
    #[error(
        "at t = {t}: the equations contradict each other: a combination of them that contains no unknown is {residual:.1e} instead of zero; check the right-hand sides and the redundant equations"
    )]
    Contradictory {
        /// Time.
        t: f64,
        /// The combination that should vanish.
        residual: f64,
    },
    /// A hidden constraint lacks a term.
    #[error(
        "at t = {t}: the derivative of `{unknown}` enters a hidden constraint, derived from `{equation}`, from here on; its coefficient was zero where the formulas were derived, and they do not hold any more; choose the form array"
    )]
    TermAppears {
        /// Time.
        t: f64,
        /// The equation the constraint comes from.
        equation: String,
        /// The unknown.
        unknown: String,
    },
    /// The condition of an event has no value.
    #[error(
        "at t = {t}: the condition of the event `{event}` has no value here (NaN); write it so that it has one wherever the run comes"
    )]
    EventUndefined {
        /// Time.
        t: f64,
        /// Which event.
        event: String,
    },
    /// A formula of time jumps, and the state would have to jump with it.
    #[error(
        "at t = {t}: where {changed} changes its sign, {what}; make the formula continuous there, or write modes with a transition at this time that says what jumps"
    )]
    Break {
        /// Time.
        t: f64,
        /// The conditions that change.
        changed: String,
        /// What would have to jump.
        what: String,
    },
    /// A step failed where a formula jumps or kinks with the state.
    #[error(
        "at t = {t}: `{formula}` in {place} jumps or kinks here, and no step can be made across it; write modes with a transition there (friction that sticks, a contact that opens), or smooth the formula. What failed: {cause}"
    )]
    Jump {
        /// Time.
        t: f64,
        /// The formula.
        formula: String,
        /// Where it stands.
        place: String,
        /// What failed.
        cause: Box<StepFailure>,
    },
    /// An invariant that is kept changes along the motion.
    #[error(
        "at t = {t}: {name} is not invariant: de/dt = {rate:.3e} along the motion{}; forces, masses or constraints do not conserve it; correct it, remove it, or choose the formulation psf, which does not keep invariants",
        integrated(*.change)
    )]
    FalseInvariant {
        /// Time.
        t: f64,
        /// Which.
        name: String,
        /// Its rate there.
        rate: f64,
        /// How much it would have changed since the start; zero at the start.
        change: f64,
    },
    /// What a method assumes of the equations, and held at the start, does not hold any more.
    #[error("at t = {t}: the method does not suit the equations here: {why}; choose the method alpha or geoms")]
    LeftClass {
        /// Time.
        t: f64,
        /// What does not hold.
        why: &'static str,
    },
    /// A stated invariant of a general system changes along the solution.
    #[error(
        "at t = {t}: the stated invariant `{name}` is none any more: the equations change it at a rate of {rate:.1e}, its terms having the size {terms:.1e}; correct it, or take it out of the invariants"
    )]
    NotInvariant {
        /// Time.
        t: f64,
        /// Its name.
        name: String,
        /// Its derivative along the solution.
        rate: f64,
        /// Sum of the absolute terms of the derivative.
        terms: f64,
    },
    /// The singular value decomposition did not converge.
    #[error("at t = {t}: the singular value decomposition of the constraints did not converge; check the model here")]
    SvdFailed {
        /// Time.
        t: f64,
    },
}

/// What a false invariant would have done until now.
fn integrated(change: f64) -> String {
    if change == 0.0 { String::new() } else { format!(", which adds up to {change:.1e} since the start") }
}

impl StepFailure {
    /// May a jump or a kink of a formula be the reason?
    pub(crate) fn may_be_a_jump(&self) -> bool {
        matches!(
            self,
            StepFailure::NewtonFailed { .. }
                | StepFailure::NewtonDiverged { .. }
                | StepFailure::StepTooSmall { .. }
                | StepFailure::TooManySteps { .. }
        )
    }

    /// Where it happened.
    pub fn time(&self) -> f64 {
        *self.clone().time_mut()
    }

    /// The same, to change it.
    pub(crate) fn time_mut(&mut self) -> &mut f64 {
        match self {
            StepFailure::Redundant { t, .. }
            | StepFailure::RankChange { t, .. }
            | StepFailure::Singularity { t, .. }
            | StepFailure::UnevenRedundancy { t, .. }
            | StepFailure::Contradiction { t, .. }
            | StepFailure::LeftOutFails { t, .. }
            | StepFailure::NewtonFailed { t, .. }
            | StepFailure::RankLoss { t, .. }
            | StepFailure::StepTooSmall { t, .. }
            | StepFailure::TooManySteps { t, .. }
            | StepFailure::Undefined { t }
            | StepFailure::NewtonDiverged { t, .. }
            | StepFailure::SingularPencil { t }
            | StepFailure::SaddleSingular { t }
            | StepFailure::LeadingSingular { t }
            | StepFailure::ConstraintsSingular { t }
            | StepFailure::ChoiceSingular { t }
            | StepFailure::CharacteristicChange { t, .. }
            | StepFailure::Contradictory { t, .. }
            | StepFailure::TermAppears { t, .. }
            | StepFailure::EventUndefined { t, .. }
            | StepFailure::Break { t, .. }
            | StepFailure::Jump { t, .. }
            | StepFailure::FalseInvariant { t, .. }
            | StepFailure::LeftClass { t, .. }
            | StepFailure::NotInvariant { t, .. }
            | StepFailure::SvdFailed { t } => t,
        }
    }
}

/// Why a run did not reach its end. L as in [`Solution`].
#[derive(Debug, thiserror::Error)]
pub enum SolveError<L = Layout> {
    /// Options that make no sense.
    #[error(transparent)]
    Options(#[from] BadOption),
    /// No consistent initial values.
    #[error("no consistent initial values")]
    Initialisation(#[from] InitialisationError),
    /// A method could not be started.
    #[error("the run could not be started")]
    Start(#[source] StartFailure),
    /// No consistent initial values of a general system, or unknowns that nothing determines.
    #[error("{}", .0.headline())]
    Analysis(#[from] AnalysisError),
    /// The run stopped on the way.
    #[error("the run stopped at t = {}", partial.end.t)]
    Stopped {
        /// Why.
        #[source]
        cause: StepFailure,
        /// What was computed.
        partial: Box<Solution<L>>,
    },
}

impl<L: Clone> SolveError<L> {
    /// The same with another account of where the variables stand in what was computed.
    pub fn map_layout<M>(self, layout: impl FnOnce(&L) -> M) -> SolveError<M> {
        match self {
            SolveError::Options(bad) => SolveError::Options(bad),
            SolveError::Initialisation(error) => SolveError::Initialisation(error),
            SolveError::Start(failure) => SolveError::Start(failure),
            SolveError::Analysis(error) => SolveError::Analysis(error),
            SolveError::Stopped { cause, partial } => {
                SolveError::Stopped { cause, partial: Box::new(partial.map_layout(layout)) }
            }
        }
    }
}

/// An option with an impossible value.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BadOption {
    /// Tolerances.
    #[error(transparent)]
    Tolerance(#[from] BadTolerance),
    /// A number out of its range.
    #[error("{name} = {value} is impossible: {expected}")]
    OutOfRange {
        /// Name of the option.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What is possible.
        expected: &'static str,
    },
    /// The end lies before the start.
    #[error(
        "the end tend = {tend} lies before the start t0 = {t0}, but {what} runs forward in time only; exchange the two, or {instead}"
    )]
    Backward {
        /// Start.
        t0: f64,
        /// End.
        tend: f64,
        /// What cannot go backward, and why.
        what: &'static str,
        /// What to try.
        instead: &'static str,
    },
    /// Invariants asked for where there are none.
    #[error("the formulation with invariants was asked for, but the system declares none; use psf")]
    NoInvariants,
}

impl BadOption {
    /// Is a value positive and finite?
    pub(crate) fn positive(name: &'static str, value: f64) -> Result<(), BadOption> {
        if value > 0.0 && value.is_finite() {
            Ok(())
        } else {
            Err(BadOption::OutOfRange { name, value, expected: "it must be positive and finite" })
        }
    }

    /// Is a tolerance of ranks possible, if one is set?
    pub fn in_ranks(rule: RankRule) -> Result<(), BadOption> {
        let expected = "it must lie between 0 and 1";
        rule.tolerance.map_or(Ok(()), |tolerance| Self::between("rank_tolerance", tolerance, 0.0, 1.0, expected))
    }

    /// Does a value lie between two others?
    pub(crate) fn between(
        name: &'static str,
        value: f64,
        low: f64,
        high: f64,
        expected: &'static str,
    ) -> Result<(), BadOption> {
        if value > low && value < high { Ok(()) } else { Err(BadOption::OutOfRange { name, value, expected }) }
    }
}
