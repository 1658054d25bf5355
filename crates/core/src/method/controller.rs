//! Step size control. \[HW\] IV.8, (8.25); Gustafsson (1994).

use super::pace::Try;

/// How the next step size follows from the error.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Control {
    /// RADAU5: the smaller of the classical and the predictive proposal, not larger after a rejection.
    #[default]
    Radau5,
    /// GEOMS as published: the predictive proposal alone, without a cap after rejections. For comparison with published counters.
    Thesis,
    /// The classical proposal alone.
    Classical,
    /// Every step has the size h0 and is accepted.
    Fixed,
}

/// State of the controller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Controller {
    /// Which rule.
    pub control: Control,
    /// Safety factor.
    pub safety: f64,
    /// Smallest and largest ratio of successive step sizes.
    pub ratio: (f64, f64),
    /// Most Newton iterations, for the factor that prefers quick convergence.
    pub max_newton: u32,
    /// The error behaves like h^(1/exponent): 1/4 for three stages.
    pub exponent: f64,
    /// Was the order just changed? The next accepted step then says nothing about the one before.
    pub new_order: bool,
    /// step size and error of the last accepted step
    accepted: Option<(f64, f64)>,
}

impl Controller {
    /// A controller before its first step.
    pub fn new(control: Control, safety: f64, ratio: (f64, f64), max_newton: u32) -> Self {
        Controller { control, safety, ratio, max_newton, exponent: 0.25, new_order: false, accepted: None }
    }

    /// Forget the past.
    pub fn forget(&mut self) {
        self.accepted = None;
    }

    /// Has no step been accepted yet?
    pub fn is_new(&self) -> bool {
        self.accepted.is_none()
    }

    /// Step size after an accepted step with this error, found in `newton` iterations.
    pub fn accept(&mut self, tried: &Try, error: f64, newton: u32) -> f64 {
        let &Try { h, proposed, after_rejection, .. } = tried;
        let classical = self.classical(h, error, newton);
        // h_gu = safe h (h/h_acc) (err_acc/err²)^(1/4)
        let predictive = self.accepted.filter(|_| !self.new_order).map(|(h_acc, err_acc)| {
            h * self.clip(self.safety * (h / h_acc) * (err_acc / (error * error)).powf(self.exponent))
        });
        if !self.new_order || self.is_new() {
            self.accepted = Some((h, error.max(1e-2)));
        }
        self.new_order = false;
        match (self.control, predictive) {
            (Control::Fixed, _) => proposed,
            (Control::Thesis, Some(predictive)) => predictive,
            (Control::Radau5, Some(predictive)) => {
                let next = classical.min(predictive);
                if after_rejection { next.min(h) } else { next }
            }
            (Control::Radau5, None) if after_rejection => classical.min(h),
            _ => classical,
        }
    }

    /// Step size after a step whose error was too large.
    pub fn reject(&self, h: f64, error: f64, newton: u32) -> f64 {
        if self.is_new() { 0.1 * h } else { self.classical(h, error, newton) }
    }

    /// h_cl = h fac err^(−1/(s + 1)), fac ≤ safe falling with the number of iterations.
    fn classical(&self, h: f64, error: f64, newton: u32) -> f64 {
        let most = f64::from(2 * self.max_newton);
        let fac = self.safety.min(self.safety * (most + 1.0) / (most + f64::from(newton)));
        h * self.clip(fac * error.powf(-self.exponent))
    }

    fn clip(&self, ratio: f64) -> f64 {
        ratio.clamp(self.ratio.0, self.ratio.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classical_and_predictive_proposals_follow_their_formulas() {
        let tried = |h: f64, after_rejection: bool| {
            let (proposed, longest) = (h, f64::INFINITY);
            Try { h, t1: h, last: false, proposed, longest, after_rejection, first: false }
        };
        let mut controller = Controller::new(Control::Radau5, 0.9, (0.2, 8.0), 10);
        // first step: classical; one iteration gives the full safety factor
        assert!((controller.accept(&tried(0.1, false), 0.0625, 1) - 0.1 * 0.9 * 2.0).abs() < 1e-15);
        // growing error: the predictive proposal is the smaller one
        let predictive: f64 = 0.9 * 2.0 * (0.0625_f64 / 0.25).powf(0.25);
        let classical = 0.9 * 0.5_f64.powf(-0.25);
        let expected = 0.2 * predictive.min(classical);
        assert!((controller.accept(&tried(0.2, false), 0.5, 1) - expected).abs() < 1e-15);
        assert!(controller.accept(&tried(0.1, true), 1e-12, 1) <= 0.1, "not larger after a rejection");
        assert_eq!(Controller::new(Control::Radau5, 0.9, (0.2, 8.0), 10).reject(1.0, 3.0, 2), 0.1);
    }
}
