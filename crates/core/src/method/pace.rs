//! The pace of a run: how long the next attempt is, how far a method is trusted after failures, and when it gives up. The same for all methods.

use super::shell::Attempt;
use super::weights::Weights;
use crate::dae::{Dae, Pencil};
use crate::error::StepFailure;
use crate::options::Options;

/// Failed attempts in a row after which a run stops.
pub(crate) const MOST_FAILURES: u32 = 10;
/// The same before the first step from a point, whose size may be a guess, in multiples.
const FIRST: u32 = 2;
/// Singular matrices in a row after which a run stops.
const MOST_SINGULAR: u32 = 6;
/// Failures in a row after which every further one at least halves the step: what did not help three times is not enough.
const ENOUGH: u32 = 3;
/// A step that comes this near to the limit is made to end there: no last step has the size of rounding.
const ALMOST: f64 = 1.0001;
/// A step must move time by this many units of rounding.
const SHORTEST: f64 = 10.0;
/// Growth of the step size that is trusted after a failure, per accepted step.
const TRUST_GROWTH: f64 = 1.1;
/// Sizes and rates below this many tolerances tell nothing about the first step. Hairer, Nørsett & Wanner, Solving ODEs I, II.4, as the two below.
const NOTHING: f64 = 1e-5;
/// The first step where nothing is known.
const BLIND: f64 = 1e-6;
/// Part of their size by which the first step changes the unknowns.
const FIRST_CHANGE: f64 = 0.01;

/// A step that changes unknowns of this size, which change at this rate, by about a hundredth; both are norms in tolerances.
pub fn first_step(size: f64, rate: f64) -> f64 {
    if size < NOTHING || rate < NOTHING { BLIND } else { FIRST_CHANGE * size / rate }
}

/// The same for unknowns whose derivatives stand in a pencil; others do not tell. Two vectors of scratch.
pub(crate) fn first_step_of(
    pencil: &Pencil,
    (x, xdot): (&[f64], &[f64]),
    weights: &Weights,
    [of_x, rates]: [&mut [f64]; 2],
) -> f64 {
    of_x.fill(0.0);
    rates.fill(0.0);
    let E = &pencil.E;
    for (j, _) in (0..E.rows()).flat_map(|i| E.row(i)).filter(|(_, e)| *e != 0.0) {
        (of_x[j], rates[j]) = (x[j], xdot[j]);
    }
    first_step(weights.norm(of_x), weights.norm(rates))
}

/// How fast steps may grow after a failure: whoever runs into a wall does not so again at every second step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// As fast as the error allows.
    AtOnce,
    /// By a tenth per accepted step.
    Steady,
    /// By a tenth, then by its square, its fourth power, …: what limited the steps is left behind quickly.
    Accelerated,
}

/// What methods decide differently.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Have all steps one size? Nothing is then tried again.
    pub constant: bool,
    /// Trust after failures.
    pub trust: Trust,
    /// Failed attempts in a row after which a run stops, and the same before the first step from a point.
    pub failures: (u32, u32),
    /// Do failures at least halve the step when there have been some?
    pub halves: bool,
    /// Part of the way to the first limit that a guessed first step may take.
    pub first_part: f64,
    /// Is the rest of the way divided evenly where it is shorter than two steps?
    pub even_end: bool,
    /// Does every start, also after a jump, begin with a small step of the method's own choice?
    pub starts_small: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Rules {
            constant: false,
            trust: Trust::AtOnce,
            failures: (MOST_FAILURES, FIRST * MOST_FAILURES),
            halves: true,
            first_part: 0.01,
            even_end: false,
            starts_small: false,
        }
    }
}

/// A step that is to be tried.
#[derive(Clone, Copy, Debug)]
pub struct Try {
    /// Size.
    pub h: f64,
    /// Where it ends: t + h up to rounding.
    pub t1: f64,
    /// Does it end at the limit?
    pub last: bool,
    /// The size that was proposed, before the limit cut it.
    pub proposed: f64,
    /// The longest step that may follow.
    pub longest: f64,
    /// Was the last attempt rejected?
    pub after_rejection: bool,
    /// Is it the first step, or one after a restart?
    pub first: bool,
}

/// Failures in a row.
#[derive(Clone, Copy, Debug, Default)]
pub struct Failures {
    /// Attempts without a new point.
    pub attempts: u32,
    /// Matrices that were singular.
    pub singular: u32,
}

impl Failures {
    /// Why there is no way on for a general system at t, with steps of size h.
    pub fn of_general(self, dae: &dyn Dae, t: f64, h: f64) -> StepFailure {
        match dae.cause_of_failure(t) {
            Some(failure) => failure,
            None if self.singular > 0 => StepFailure::SingularPencil { t },
            None => StepFailure::NewtonDiverged { t, h, failures: self.attempts },
        }
    }
}

/// The pace of one run.
#[derive(Clone, Debug)]
pub(crate) struct Pace {
    rules: Rules,
    /// size of the next attempt
    h: f64,
    hmax: f64,
    guessed: bool,
    first: bool,
    first_before: bool,
    after_rejection: bool,
    failures: Failures,
    /// step size that is trusted, and its growth with the next accepted step
    trusted: f64,
    growth: f64,
    attempts: u64,
    max_steps: u64,
}

impl Pace {
    /// Before the first step, whose size is given or guessed.
    pub fn new(rules: Rules, options: &Options, guess: impl FnOnce() -> f64) -> Self {
        let hmax = options.hmax.unwrap_or(f64::INFINITY);
        Pace {
            rules,
            h: options.h0.unwrap_or_else(|| guess().min(hmax)),
            hmax,
            guessed: options.h0.is_none(),
            first: true,
            first_before: true,
            after_rejection: false,
            failures: Failures::default(),
            trusted: f64::INFINITY,
            growth: TRUST_GROWTH,
            attempts: 0,
            max_steps: options.max_steps,
        }
    }

    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    pub fn failures(&self) -> Failures {
        self.failures
    }

    /// Attempts so far.
    pub fn attempts(&self) -> u64 {
        self.attempts
    }

    /// Size of the next attempt, if nothing limits it.
    pub fn proposed(&self) -> f64 {
        self.h
    }

    /// Take this size next.
    pub fn propose(&mut self, h: f64) {
        (self.h, self.guessed) = (h.min(self.hmax), false);
    }

    /// A guessed first step is a small part of the way to the limit. Its size, if it was guessed.
    pub fn settle_guess(&mut self, way: f64) -> Option<f64> {
        std::mem::take(&mut self.guessed).then(|| {
            self.h = self.h.min(self.rules.first_part * way);
            self.h
        })
    }

    /// The next attempt from t, never past the limit.
    pub fn next(&mut self, t: f64, limit: f64) -> Result<Try, StepFailure> {
        self.attempts += 1;
        if self.attempts > self.max_steps {
            return Err(StepFailure::TooManySteps { t, steps: self.max_steps });
        }
        let left = limit - t;
        let mut h = self.h.min(self.hmax);
        let last = ALMOST * h >= left;
        if last {
            h = left;
        } else if self.rules.even_end && 2.0 * h > left {
            h = 0.5 * left;
        }
        Ok(Try {
            h,
            t1: if last { limit } else { t + h },
            last,
            proposed: self.h,
            longest: self.hmax.min(self.trusted * self.growth),
            after_rejection: self.after_rejection,
            first: self.first,
        })
    }

    /// Does a step of this size move time?
    pub fn moves(t: f64, h: f64) -> bool {
        h > SHORTEST * t.abs() * f64::EPSILON
    }

    /// An attempt came to this. False if there is no point in trying again.
    pub fn judge(&mut self, tried: &Try, attempt: &Attempt) -> bool {
        match *attempt {
            Attempt::Accepted { next, .. } => {
                if self.trusted.is_finite() {
                    self.trusted *= self.growth;
                    if self.rules.trust == Trust::Accelerated {
                        self.growth *= self.growth;
                    }
                }
                self.h = next;
                self.first_before = self.first;
                (self.failures, self.after_rejection, self.first) = (Failures::default(), false, false);
            }
            Attempt::Rejected { next } => {
                self.h = next;
                (self.failures, self.after_rejection) = (Failures::default(), true);
            }
            Attempt::Failed { factor, singular } => {
                self.failures.attempts += 1;
                self.failures.singular = if singular { self.failures.singular + 1 } else { 0 };
                let (usual, first) = self.rules.failures;
                let most = if self.first { first } else { usual };
                if self.rules.constant || self.failures.attempts >= most || self.failures.singular >= MOST_SINGULAR {
                    return false;
                }
                let halves = self.rules.halves && self.failures.attempts > ENOUGH;
                self.h = if halves { factor.min(0.5) } else { factor } * tried.h;
                self.after_rejection = true;
                if self.rules.trust != Trust::AtOnce {
                    (self.trusted, self.growth) = (self.h, TRUST_GROWTH);
                }
            }
        }
        true
    }

    /// The last step did not happen: the next one goes from its begin over this way.
    pub fn retake(&mut self, way: f64) {
        self.h = self.h.max(way);
        self.first = self.first_before;
    }

    /// The next step goes from another point; `guess` is its size where the method begins anew with small steps.
    pub fn restart(&mut self, guess: impl FnOnce() -> f64) {
        self.guessed &= self.rules.constant;
        if self.rules.starts_small && !self.rules.constant {
            (self.h, self.guessed) = (guess().min(self.hmax), true);
        }
        (self.first, self.after_rejection) = (true, false);
        self.failures = Failures::default();
        (self.trusted, self.growth) = (f64::INFINITY, TRUST_GROWTH);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(rules: Rules, h0: f64) -> Pace {
        Pace::new(rules, &Options { h0: Some(h0), hmax: Some(1.0), ..Options::default() }, || f64::NAN)
    }

    const FAILED: Attempt = Attempt::Failed { factor: 0.5, singular: false };

    fn accepted(next: f64) -> Attempt {
        Attempt::Accepted { next, settled: Ok(()) }
    }

    #[test]
    fn a_step_ends_at_the_limit_if_it_comes_close_and_the_rest_may_be_divided() {
        let tried = pace(Rules::default(), 0.1).next(0.0, 0.100_009).unwrap();
        assert_eq!((tried.h, tried.t1, tried.last, tried.proposed), (0.100_009, 0.100_009, true, 0.1));
        let tried = pace(Rules::default(), 0.1).next(0.0, 0.15).unwrap();
        assert_eq!((tried.h, tried.t1, tried.last), (0.1, 0.1, false));
        let tried = pace(Rules { even_end: true, ..Rules::default() }, 0.1).next(0.0, 0.15).unwrap();
        assert_eq!((tried.h, tried.last), (0.075, false));
        assert!(Pace::moves(1.0, 1e-14) && !Pace::moves(1.0, 1e-15) && !Pace::moves(0.0, 0.0));
        assert!(!Pace::moves(0.0, f64::NAN));
    }

    #[test]
    fn trust_comes_back_step_by_step_after_a_failure() {
        for (trust, longest) in [
            (Trust::AtOnce, [1.0, 1.0, 1.0]),
            (Trust::Steady, [0.055, 0.0605, 0.06655]),
            (Trust::Accelerated, [0.055, 0.06655, 0.0974_35_8]),
        ] {
            let mut pace = pace(Rules { trust, ..Rules::default() }, 0.1);
            let tried = pace.next(0.0, 10.0).unwrap();
            assert!(pace.judge(&tried, &FAILED) && pace.proposed() == 0.05);
            for expected in longest {
                let tried = pace.next(0.0, 10.0).unwrap();
                assert!((tried.longest - expected).abs() < 1e-4, "{trust:?}: {} {expected}", tried.longest);
                pace.judge(&tried, &accepted(tried.longest.min(0.05)));
            }
            pace.restart(|| 0.0);
            assert_eq!(pace.next(0.0, 10.0).unwrap().longest, 1.0);
        }
    }

    #[test]
    fn failures_in_a_row_end_a_run_and_the_first_step_from_a_point_has_more_chances() {
        let chances = |pace: &mut Pace, attempt: &Attempt| {
            (1..100).find(|_| {
                let tried = pace.next(0.0, 10.0).unwrap();
                !pace.judge(&tried, attempt)
            })
        };
        let mut pace = pace(Rules::default(), 0.1);
        assert_eq!(chances(&mut pace.clone(), &FAILED), Some(20));
        assert_eq!(chances(&mut pace.clone(), &Attempt::Failed { factor: 0.5, singular: true }), Some(6));
        let tried = pace.next(0.0, 10.0).unwrap();
        assert!(tried.first && pace.judge(&tried, &accepted(0.1)));
        assert_eq!(chances(&mut pace.clone(), &FAILED), Some(10));
        // a rejection by the error is no failure
        for _ in 0..8 {
            pace.judge(&tried, &FAILED);
        }
        pace.judge(&tried, &Attempt::Rejected { next: 0.1 });
        assert_eq!(chances(&mut pace.clone(), &FAILED), Some(10));
        pace.restart(|| 0.0);
        assert_eq!(chances(&mut pace.clone(), &FAILED), Some(20));
        let mut constant = self::pace(Rules { constant: true, ..Rules::default() }, 0.1);
        assert_eq!(chances(&mut constant, &FAILED), Some(1));
    }

    #[test]
    fn after_three_failures_a_step_is_at_least_halved() {
        let slow = Attempt::Failed { factor: 0.9, singular: false };
        let mut pace = pace(Rules::default(), 1.0);
        for expected in [0.9, 0.81, 0.729, 0.3645] {
            let tried = pace.next(0.0, 10.0).unwrap();
            pace.judge(&tried, &slow);
            assert!((pace.proposed() - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn attempts_are_counted_over_restarts_and_steps_that_are_made_again() {
        let mut pace = Pace::new(Rules::default(), &Options { max_steps: 4, ..Options::default() }, || 0.1);
        for _ in 0..4 {
            let tried = pace.next(0.0, 1.0).unwrap();
            pace.judge(&tried, &accepted(0.1));
            pace.retake(0.05);
            pace.restart(|| 0.1);
        }
        assert_eq!(pace.next(2.0, 3.0).unwrap_err(), StepFailure::TooManySteps { t: 2.0, steps: 4 });
    }

    #[test]
    fn the_first_step_changes_the_unknowns_by_a_hundredth() {
        assert_eq!(first_step(10.0, 2.0), 0.05);
        assert_eq!((first_step(0.0, 1.0), first_step(1.0, 0.0)), (1e-6, 1e-6));
    }
}
