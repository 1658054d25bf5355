//! A hybrid system.

use super::error::HybridError;
use super::mode::Mode;
use super::transition::{Transfer, Transition};

/// A mode that was written for sliding between two others.
pub struct SlidingMode<'h> {
    /// The two modes.
    pub between: (usize, usize),
    /// The mode for sliding; its transitions lead back.
    pub mode: usize,
    /// What happens to the state when sliding begins, from unknowns in the order of the first of the two modes.
    pub transfer: Option<Transfer<'h>>,
}

/// Modes and transitions.
#[derive(Default)]
pub struct Hybrid<'h> {
    /// The modes.
    pub modes: Vec<Mode<'h>>,
    /// All transitions, those of one mode in the order in which messages name them.
    pub transitions: Vec<Transition<'h>>,
    /// Modes for sliding that were written by hand; others are generated.
    pub sliding: Vec<SlidingMode<'h>>,
}

impl<'h> Hybrid<'h> {
    /// Without any mode.
    pub fn new() -> Self {
        Self::default()
    }

    /// Add a mode; its number.
    pub fn mode(&mut self, mode: Mode<'h>) -> usize {
        self.modes.push(mode);
        self.modes.len() - 1
    }

    /// Add a transition.
    pub fn transition(&mut self, transition: Transition<'h>) {
        self.transitions.push(transition);
    }

    /// Slide between two modes in a mode that was written for it.
    pub fn slide(&mut self, between: (usize, usize), mode: usize) {
        self.sliding.push(SlidingMode { between, mode, transfer: None });
    }

    /// The same with a change of the state when sliding begins.
    pub fn slide_after(
        &mut self,
        between: (usize, usize),
        mode: usize,
        transfer: impl Fn(f64, &[f64], &[f64], &mut [f64]) + 'h,
    ) {
        self.sliding.push(SlidingMode { between, mode, transfer: Some(Box::new(transfer)) });
    }

    /// Do all numbers of modes exist?
    pub(super) fn check(&self, first: usize) -> Result<(), HybridError> {
        let count = self.modes.len();
        let wrong = |what: String, mode: usize| {
            HybridError::System(format!("{what} names mode number {mode}, but there are {count} modes, from 0 on"))
        };
        if first >= count {
            return Err(wrong("the start".into(), first));
        }
        for transition in &self.transitions {
            for mode in
                [Some(transition.from), Some(transition.to), transition.after_accumulation].into_iter().flatten()
            {
                if mode >= count {
                    return Err(wrong(format!("the transition `{}`", transition.name()), mode));
                }
            }
            if !(transition.hysteresis >= 0.0) {
                let name = transition.name();
                return Err(HybridError::System(format!("the hysteresis of `{name}` is negative or not a number")));
            }
        }
        for sliding in &self.sliding {
            for mode in [sliding.between.0, sliding.between.1, sliding.mode] {
                if mode >= count {
                    return Err(wrong("a sliding mode".into(), mode));
                }
            }
        }
        Ok(())
    }
}
