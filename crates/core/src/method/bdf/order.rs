//! Choice of order and step size from the size of scaled derivatives. Brenan, Campbell & Petzold (1996), 5.2.4.
//!
//! TERK(q) ≈ ‖h^(q+1) x^(q+1)‖ for q = k − 2, …, k + 1. The order is lowered when these do not fall with q, raised when they do;
//! the error of order q is ERK(q) = TERK(q)/(q + 1).

use super::differences::Differences;
use crate::method::weights::Weights;

/// What the differences say after a corrected step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimates {
    order: usize,
    /// TERK(k)
    here: f64,
    /// TERK(k − 1)
    below: Option<f64>,
    /// order that the derivatives ask for: k or k − 1
    pub wanted: usize,
    /// ERK of the order wanted
    pub error: f64,
}

impl Estimates {
    /// From the correction `e` of a step of order k; `scratch` is overwritten.
    pub fn new(differences: &Differences, e: &[f64], k: usize, weights: &Weights, scratch: &mut [f64]) -> Self {
        let erk = differences.sigma(k) * weights.norm(e);
        let here = (k + 1) as f64 * erk;
        let mut estimates = Estimates { order: k, here, below: None, wanted: k, error: erk };
        if k == 1 {
            return estimates;
        }
        add(differences.phi(k), e, scratch);
        let erk_below = differences.sigma(k - 1) * weights.norm(scratch);
        let below = k as f64 * erk_below;
        estimates.below = Some(below);
        let lower = if k == 2 {
            below <= 0.5 * here
        } else {
            for (s, phi) in scratch.iter_mut().zip(differences.phi(k - 1)) {
                *s += phi;
            }
            let two_below = (k - 1) as f64 * differences.sigma(k - 2) * weights.norm(scratch);
            below.max(two_below) <= here
        };
        if lower {
            (estimates.wanted, estimates.error) = (k - 1, erk_below);
        }
        estimates
    }

    /// Stay at order k.
    pub fn keep(&mut self) {
        (self.wanted, self.error) = (self.order, self.here / (self.order + 1) as f64);
    }

    /// After an accepted step with constant step size: is the next higher order better? `e` and φ*_(k+1) tell.
    pub fn consider_higher(&mut self, differences: &Differences, e: &[f64], weights: &Weights, scratch: &mut [f64]) {
        let k = self.order;
        for ((s, e), phi) in scratch.iter_mut().zip(e).zip(differences.phi(k + 1)) {
            *s = e - phi;
        }
        let above = weights.norm(scratch);
        let erk_above = above / (k + 2) as f64;
        match self.below {
            // order one is left only for a clear advantage
            None if above >= 0.5 * self.here => {}
            Some(below) if below <= self.here.min(above) => {
                (self.wanted, self.error) = (k - 1, below / k as f64);
            }
            Some(_) if above >= self.here => {}
            _ => (self.wanted, self.error) = (k + 1, erk_above),
        }
    }

    /// Ratio r by which the step could change so that the error of the order wanted would be one half.
    fn ratio(&self) -> f64 {
        (2.0 * self.error + 1e-4).powf(-1.0 / (self.wanted + 1) as f64)
    }

    /// Factor for the next step after an accepted one: double, keep, or shrink a little.
    pub fn growth(&self) -> f64 {
        match self.ratio() {
            r if r >= 2.0 => 2.0,
            r if r <= 1.0 => r.clamp(0.5, 0.9),
            _ => 1.0,
        }
    }

    /// Factor after the first failed error test of a step.
    pub fn shrinkage(&self) -> f64 {
        (0.9 * self.ratio()).clamp(0.25, 0.9)
    }
}

fn add(a: &[f64], b: &[f64], sum: &mut [f64]) {
    for ((s, a), b) in sum.iter_mut().zip(a).zip(b) {
        *s = a + b;
    }
}
