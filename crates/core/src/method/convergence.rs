//! When a simplified Newton iteration has converged, and when it never will. \[HW\] IV.8, (8.10), (8.11).
//!
//! With the rate Θ of contraction the iteration stops when η ‖ΔZ‖ ≤ κ, η = Θ/(1 − Θ), and fails when Θ ≥ 0.99 or when
//! Θ^(most − k) would leave more than κ.

/// How an iteration ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum IterationEnd {
    /// Converged after so many iterations with this last rate of contraction.
    Converged {
        /// Iterations.
        iterations: u32,
        /// Rate Θ.
        rate: f64,
    },
    /// Θ ≥ 0.99, or the model has no value at a stage.
    Diverged,
    /// It would not converge within the allowed number of iterations.
    Slow {
        /// Predicted excess over the tolerance.
        excess: f64,
        /// Iterations made.
        iterations: u32,
    },
}

/// What the iteration needs to know about norms and limits.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Most iterations.
    pub most: u32,
    /// Stopping factor.
    pub tolerance: f64,
    /// Rate assumed if the first iteration is enough.
    pub default_rate: f64,
    /// Increments this small that do not shrink any more are rounding: the iteration has converged as far as it can.
    pub rounding: f64,
}

/// Best rate of contraction that a cautious iteration assumes without having measured it in this step.
const ASSUMED_RATE: f64 = 0.01;
/// The same where some unknowns follow others: these have not contracted at all after one iteration.
const ASSUMED_RATE_OF_FOLLOWERS: f64 = 0.3;

/// Rate of contraction that is none.
const DIVERGING: f64 = 0.99;
/// Ratio of two increments after which nobody waits for a third.
const EXPLODING: f64 = 3.0;

/// What to do after an iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum IterationVerdict {
    /// Apply the increment and iterate again.
    GoOn,
    /// Apply the increment; the iteration has converged.
    Enough(IterationEnd),
    /// Throw the increment away; the iteration has failed.
    Failed(IterationEnd),
}

/// An iteration under observation.
#[derive(Clone, Copy, Debug)]
pub struct Convergence {
    limits: Limits,
    rate: f64,
    last_ratio: f64,
    last_size: f64,
    /// iteration from which on it may be given up
    patience: u32,
    /// is the first ratio forgotten where it was waited for a second one, and was it?
    forgets: bool,
    waited: bool,
}

impl Convergence {
    /// Before the first iteration; `eta` is carried from step to step.
    pub fn new(limits: Limits, eta: &mut f64) -> Self {
        *eta = eta.max(f64::EPSILON).powf(0.8);
        let (rate, last_ratio, last_size) = (limits.default_rate, 1.0, 1.0);
        Convergence { limits, rate, last_ratio, last_size, patience: 2, forgets: false, waited: false }
    }

    /// The same, but a first increment is not trusted because former steps converged at once: where the equations were almost linear
    /// η falls to rounding, and a nonlinear constraint would be violated by much more than the tolerance when it comes into play.
    pub fn cautious(limits: Limits, eta: &mut f64) -> Self {
        let convergence = Self::new(limits, eta);
        *eta = eta.max(ASSUMED_RATE);
        convergence
    }

    /// The same where some unknowns follow others by one iteration: trusted less, and not given up after two iterations unless it explodes.
    pub fn patient(limits: Limits, eta: &mut f64) -> Self {
        let convergence = Self::new(limits, eta);
        *eta = eta.max(ASSUMED_RATE_OF_FOLLOWERS);
        Convergence { patience: 3, ..convergence }
    }

    /// The same where constraints of several levels are solved with one matrix: what the curvature of those of the positions does to velocities
    /// and multipliers is undone by the next increment, so that the first two are of one size although the third is tiny. An iteration
    /// that two increments would give up is judged by the second and the third alone.
    pub fn waiting(limits: Limits, eta: &mut f64) -> Self {
        Convergence { patience: 3, forgets: true, ..Self::new(limits, eta) }
    }

    /// Most iterations.
    pub fn most(&self) -> u32 {
        self.limits.most
    }

    /// Rate Θ that was measured last.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Judge iteration number `newton`, from one, by the size of its increment.
    pub fn judge(&mut self, newton: u32, size: f64, eta: &mut f64) -> IterationVerdict {
        let limits = self.limits;
        if !size.is_finite() {
            return IterationVerdict::Failed(IterationEnd::Diverged);
        }
        if newton > 1 && newton < limits.most {
            let ratio = size / self.last_size;
            let first = newton == 2 || std::mem::take(&mut self.waited);
            self.rate = if first { ratio } else { (ratio * self.last_ratio).sqrt() };
            self.last_ratio = ratio;
            let stalled = newton > 2 && ratio > 0.5 && size <= limits.rounding;
            if stalled {
                return IterationVerdict::Enough(IterationEnd::Converged { iterations: newton, rate: 1.0 });
            }
            let early = newton < self.patience && ratio < EXPLODING;
            if self.rate >= DIVERGING && !early {
                return IterationVerdict::Failed(IterationEnd::Diverged);
            }
            let rate = self.rate.min(DIVERGING);
            *eta = rate / (1.0 - rate);
            let left = limits.most - 1 - newton;
            let excess = *eta * size * rate.powi(left as i32) / limits.tolerance;
            if excess >= 1.0 && !early {
                return IterationVerdict::Failed(IterationEnd::Slow { excess, iterations: newton });
            }
            self.waited = self.forgets && excess >= 1.0;
        }
        self.last_size = size.max(f64::EPSILON);
        if *eta * size <= limits.tolerance {
            return IterationVerdict::Enough(IterationEnd::Converged { iterations: newton, rate: self.rate });
        }
        IterationVerdict::GoOn
    }

    /// The allowed iterations were not enough.
    pub fn exhausted(&self) -> IterationEnd {
        IterationEnd::Slow { excess: 20.0, iterations: self.limits.most }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { most: 7, tolerance: 0.01, default_rate: 0.001, rounding: 0.001 };

    fn outcome(sizes: &[f64]) -> IterationVerdict {
        let mut eta = 1.0;
        let mut convergence = Convergence::new(LIMITS, &mut eta);
        for (k, &size) in sizes.iter().enumerate() {
            let verdict = convergence.judge(k as u32 + 1, size, &mut eta);
            if verdict != IterationVerdict::GoOn {
                return verdict;
            }
        }
        IterationVerdict::GoOn
    }

    #[test]
    fn a_cautious_iteration_looks_twice() {
        let mut eta = 1e-16;
        let mut trusting = Convergence::new(LIMITS, &mut eta);
        assert!(matches!(trusting.judge(1, 1e3, &mut eta), IterationVerdict::Enough(_)));
        let mut cautious = Convergence::cautious(LIMITS, &mut eta);
        assert_eq!(cautious.judge(1, 1e3, &mut eta), IterationVerdict::GoOn);
        assert!(matches!(cautious.judge(2, 1e-3, &mut eta), IterationVerdict::Enough(_)));
    }

    #[test]
    fn a_patient_iteration_waits_for_multipliers_that_follow_by_one() {
        let after = |sizes: [f64; 3]| {
            let mut eta = 1.0;
            let mut convergence = Convergence::patient(LIMITS, &mut eta);
            let judged = (1..).zip(sizes).map(|(k, size)| convergence.judge(k, size, &mut eta));
            judged.into_iter().find(|verdict| *verdict != IterationVerdict::GoOn).unwrap_or(IterationVerdict::GoOn)
        };
        assert!(matches!(
            after([1.0, 1.1, 1e-3]),
            IterationVerdict::Enough(IterationEnd::Converged { iterations: 3, .. })
        ));
        assert!(matches!(after([1.0, 0.9, 0.8]), IterationVerdict::Failed(IterationEnd::Slow { iterations: 3, .. })));
        assert_eq!(after([1.0, 1.1, 1.2]), IterationVerdict::Failed(IterationEnd::Diverged));
        assert_eq!(after([1.0, 5.0, 0.0]), IterationVerdict::Failed(IterationEnd::Diverged));
    }

    #[test]
    fn a_waiting_iteration_forgets_a_ratio_that_tells_nothing() {
        let after = |sizes: &[f64]| {
            let mut eta = 1.0;
            let mut convergence = Convergence::waiting(LIMITS, &mut eta);
            let mut judged = (1..).zip(sizes).map(|(k, &size)| convergence.judge(k, size, &mut eta));
            let verdict = judged.find(|verdict| *verdict != IterationVerdict::GoOn).unwrap_or(IterationVerdict::GoOn);
            (verdict, convergence.rate())
        };
        // the levels follow each other, and the third increment shows how it contracts
        assert_eq!(after(&[1.0, 0.9, 0.1]), (IterationVerdict::GoOn, 0.1 / 0.9));
        assert!(matches!(
            after(&[1.0, 0.9, 0.8]).0,
            IterationVerdict::Failed(IterationEnd::Slow { iterations: 3, .. })
        ));
        assert_eq!(after(&[1.0, 5.0]).0, IterationVerdict::Failed(IterationEnd::Diverged));
        // an iteration that nobody would have given up is judged as ever
        let (verdict, rate) = after(&[1.0, 0.1, 0.05]);
        assert_eq!((verdict, rate), (IterationVerdict::GoOn, (0.1_f64 * 0.5).sqrt()));
    }

    #[test]
    fn quick_iterations_converge_and_the_others_are_told_apart() {
        assert!(matches!(outcome(&[0.005]), IterationVerdict::Enough(IterationEnd::Converged { iterations: 1, .. })));
        assert!(matches!(outcome(&[1.0, 0.1]), IterationVerdict::GoOn));
        assert!(matches!(
            outcome(&[1.0, 0.1, 0.01]),
            IterationVerdict::Enough(IterationEnd::Converged { iterations: 3, .. })
        ));
        assert_eq!(outcome(&[1.0, 1.1]), IterationVerdict::Failed(IterationEnd::Diverged));
        assert_eq!(outcome(&[f64::NAN]), IterationVerdict::Failed(IterationEnd::Diverged));
        assert!(matches!(outcome(&[1.0, 0.9]), IterationVerdict::Failed(IterationEnd::Slow { iterations: 2, .. })));
    }
}
