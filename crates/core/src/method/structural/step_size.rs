//! Elementary control of step sizes: h ← h min(10, max(1/5, safety · err^(−1/q))) for errors of the size h^q.
//! Hairer, Nørsett & Wanner, Solving ODEs I, II.4, (4.13).

use super::one_step::{Attempt, Step};
use crate::error::BadOption;
use crate::method::bdf::Steps;
use crate::options::Options;

/// Smallest and largest ratio of successive step sizes.
const RATIO: (f64, f64) = (0.2, 10.0);

/// How the next step size follows from the error.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepSize {
    steps: Steps,
    safety: f64,
    exponent: f64,
}

impl StepSize {
    /// For errors of the size h^q.
    pub fn new(steps: Steps, safety: f64, q: i32, options: &Options) -> Result<Self, BadOption> {
        BadOption::between("safety", safety, 0.0, 1.0, "it must lie between 0 and 1")?;
        if steps == Steps::Fixed && options.h0.is_none() {
            let expected = "steps of one size need it";
            return Err(BadOption::OutOfRange { name: "h0", value: f64::NAN, expected });
        }
        Ok(StepSize { steps, safety, exponent: -1.0 / f64::from(q) })
    }

    /// Are all steps of one size?
    pub fn fixed(&self) -> bool {
        self.steps == Steps::Fixed
    }

    /// Is a step with this error accepted, and how long is the next one? Not longer than this one after a rejection.
    pub fn judge(&self, step: &Step, error: f64) -> Attempt {
        if self.fixed() {
            return Attempt { accepted: true, next: step.h };
        }
        let accepted = error <= 1.0;
        let most = if step.after_rejection { 1.0 } else { RATIO.1 };
        // an error that is not a number takes the smallest ratio
        let ratio = self.safety * error.powf(self.exponent);
        let ratio = if ratio >= RATIO.0 { ratio.min(most) } else { RATIO.0 };
        Attempt { accepted, next: step.h * ratio }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn step_sizes_follow_the_error() {
        let control = StepSize::new(Steps::Variable, 0.9, 5, &Options::default()).unwrap();
        let mut step =
            Step { t: 0.0, t1: 0.1, x: &[], h: 0.1, xdot: &[], after_rejection: false, first: false, last: false };
        let next = |step: &Step, error: f64| control.judge(step, error).next;
        assert!((next(&step, 1.0 / 32.0) - 0.18).abs() < 1e-15);
        assert!((next(&step, 0.0) - 1.0).abs() < 1e-15);
        assert!((next(&step, 1e9) - 0.02).abs() < 1e-15);
        let undefined = control.judge(&step, f64::NAN);
        assert!(!undefined.accepted && (undefined.next - 0.02).abs() < 1e-15);
        step.after_rejection = true;
        assert!((next(&step, 0.0) - 0.1).abs() < 1e-15);
        assert!(StepSize::new(Steps::Fixed, 0.9, 5, &Options::default()).is_err());
        assert!(StepSize::new(Steps::Variable, 1.5, 5, &Options::default()).is_err());
    }
}
