//! How many stages: the order control of RADAU. Hairer & Wanner, J. Comput. Appl. Math. 111 (1999).
//!
//! With Θ ← min(10, max(rate of the last Newton iteration, Θ/2)), before every new decomposition: two stages more if Θ is small, the
//! last iteration was no formality and the step size hardly changes; two less if Newton's iteration converges badly or failed. Ten
//! decompositions or kept steps lie between a change and the next raise.

use crate::error::BadOption;

/// Number of stages s, which is 1, 3, 5 or 7; the order is 2s − 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stages {
    /// Always the same.
    Fixed(usize),
    /// Chosen at work, beginning with the least.
    Variable {
        /// Fewest stages.
        least: usize,
        /// Most stages.
        most: usize,
    },
}

impl Default for Stages {
    fn default() -> Self {
        Stages::Fixed(3)
    }
}

/// Orders of the automatic choice vary up to this relative tolerance, which is 1e-4. At the same error variable order needs at 1e-6 and 1e-8 0.51 and 0.29 of the
/// time of three stages with the heat equation, 0.32 and 0.22 with the gyroscopic chain, 0.41 and 0.17 with the car axis as a general system; at 1e-4 0.39 to 1.17
/// in 55 models of the study, 0.71 with the Sallen–Key filter, 0.66 with the truck, 0.81 with the gyroscopic chain. Stiff ordinary equations lose at 1e-4 and 1e-5 (HIRES needs 2.2
/// and 1.7 times the evaluations): at 1e-4 these go to RODAS.
const VARIABLE_UP_TO: f64 = 1.01e-4;

impl Stages {
    /// Three to seven, as in RADAU.
    pub const VARIABLE: Stages = Stages::Variable { least: 3, most: 7 };

    /// What the automatic choice takes at a relative tolerance: [`Stages::VARIABLE`] where it is small.
    pub fn chosen(rtol: f64) -> Stages {
        if rtol < VARIABLE_UP_TO { Stages::VARIABLE } else { Stages::default() }
    }

    /// Fewest and most.
    pub fn range(self) -> (usize, usize) {
        match self {
            Stages::Fixed(s) => (s, s),
            Stages::Variable { least, most } => (least, most),
        }
    }

    pub(crate) fn check(self) -> Result<(), BadOption> {
        let (least, most) = self.range();
        for s in [least, most] {
            if ![1, 3, 5, 7].contains(&s) {
                return Err(BadOption::OutOfRange { name: "stages", value: s as f64, expected: "1, 3, 5 or 7" });
            }
        }
        if least > most {
            let expected = "the least number of stages must not be larger than the most";
            return Err(BadOption::OutOfRange { name: "stages", value: least as f64, expected });
        }
        Ok(())
    }
}

/// Θ up to which RADAU raises the order (VITU), and from which it is lowered (VITD).
pub(crate) const RAISED_UP_TO: f64 = 0.002;
const LOWERED_FROM: f64 = 0.8;
/// Ratios of step sizes between which the order is raised (HHOD, HHOU).
const STEADY: (f64, f64) = (0.8, 1.2);
/// Decompositions and kept steps that lie between a change and a raise.
const PAUSE: u32 = 10;

/// The choice of the number of stages.
#[derive(Clone, Debug)]
pub(super) struct OrderControl {
    least: usize,
    most: usize,
    /// Θ up to which the order is raised
    raised_up_to: f64,
    /// decompositions and kept steps since the last change
    count: u32,
    /// Θ
    theta: f64,
    /// did the last attempt fail: unexpectedly, or foreseen, with a step cut to less than a half?
    pub failed: bool,
}

impl OrderControl {
    pub fn new(stages: Stages, raised_up_to: f64) -> Self {
        let (least, most) = stages.range();
        OrderControl { least, most, raised_up_to, count: 0, theta: 0.0, failed: false }
    }

    /// Begin anew with the fewest stages.
    pub fn forget(&mut self) -> usize {
        (self.count, self.theta, self.failed) = (0, 0.0, false);
        self.least
    }

    /// Is the number of stages variable?
    pub fn is_variable(&self) -> bool {
        self.least < self.most
    }

    /// A step size was kept, and no decomposition is needed: may the order be raised nevertheless?
    pub fn kept(&mut self, stages: usize) -> bool {
        self.count += 1;
        self.count >= PAUSE && stages < self.most
    }

    /// Number of stages of the next attempt, whose step size is `ratio` times that of the last accepted step, after a Newton iteration with so
    /// many iterations and this rate.
    pub fn select(&mut self, stages: usize, (iterations, rate): (u32, f64), ratio: f64) -> usize {
        self.count += 1;
        self.theta = rate.max(0.5 * self.theta).min(10.0);
        let mut next = stages;
        if iterations > 1
            && self.theta <= self.raised_up_to
            && ratio > STEADY.0
            && ratio < STEADY.1
            && self.count > PAUSE
        {
            next = (stages + 2).min(self.most);
        }
        if self.theta >= LOWERED_FROM || std::mem::take(&mut self.failed) {
            next = stages.saturating_sub(2).max(self.least);
        }
        if next != stages {
            self.count = 1;
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_vary_where_tolerances_are_small() {
        assert_eq!([1e-3, 1e-4, 1e-8].map(Stages::chosen), [Stages::Fixed(3), Stages::VARIABLE, Stages::VARIABLE]);
    }

    #[test]
    fn order_rises_after_a_pause_of_quick_convergence_and_falls_at_once() {
        let mut control = OrderControl::new(Stages::VARIABLE, RAISED_UP_TO);
        let raised = (1..30).find(|_| control.select(3, (2, 1e-4), 1.0) == 5);
        assert_eq!(raised, Some(11));
        assert_eq!(control.select(5, (3, 0.1), 1.0), 5);
        assert_eq!(control.select(5, (3, 0.9), 1.0), 3);
        control.failed = true;
        assert_eq!(control.select(5, (3, 0.0), 1.0), 3);
        assert!(!control.failed);
        // slow convergence is remembered for a while, and growing steps do not raise
        for _ in 0..30 {
            assert_eq!(control.select(3, (2, 0.003), 1.0), 3);
            assert_eq!(control.select(3, (2, 1e-4), 1.3), 3);
        }
    }

    #[test]
    fn other_numbers_of_stages_are_refused() {
        for stages in [Stages::Fixed(2), Stages::Variable { least: 5, most: 3 }, Stages::Variable { least: 3, most: 9 }]
        {
            assert!(stages.check().is_err());
        }
        assert!(Stages::Fixed(1).check().is_ok() && Stages::VARIABLE.check().is_ok());
    }
}
