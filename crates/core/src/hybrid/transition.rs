//! Transitions: when a mode is left, for which other one, and what happens to the state.

use super::condition::{Condition, SwitchingFunction};
use super::options::Restart;

/// When a transition happens.
pub enum Trigger<'h> {
    /// When a condition becomes true, or is true when the mode is entered.
    When(Condition<'h>),
    /// At given times.
    At(Schedule),
}

/// Times that are known beforehand.
#[derive(Clone, Debug, PartialEq)]
pub enum Schedule {
    /// These times, which rise.
    Times(Vec<f64>),
    /// first, first + period, first + 2 period, …
    Every {
        /// First time.
        first: f64,
        /// Distance.
        period: f64,
    },
}

impl Schedule {
    /// The first time after t.
    pub fn next_after(&self, t: f64) -> Option<f64> {
        match self {
            Schedule::Times(times) => times.iter().copied().find(|&time| time > t),
            Schedule::Every { first, period } => {
                if t < *first {
                    return Some(*first);
                }
                let k = ((t - first) / period).floor();
                // rounding may take us to t itself
                [k, k + 1.0, k + 2.0].iter().map(|k| first + k * period).find(|&time| time > t)
            }
        }
    }
}

/// What a transition does to the state: from (t, x, ẋ) of the old mode to x of the new one, which holds on entry what has the same name
/// in both, and not a number for what is new.
pub type Transfer<'h> = Box<dyn Fn(f64, &[f64], &[f64], &mut [f64]) + 'h>;

/// A way out of a mode.
pub struct Transition<'h> {
    /// The mode that is left.
    pub from: usize,
    /// The mode that is entered; it may be the same.
    pub to: usize,
    /// When.
    pub trigger: Trigger<'h>,
    /// What happens to the state; nothing if absent.
    pub transfer: Option<Transfer<'h>>,
    /// Which one is taken if several happen at the same time: the one with the largest priority.
    pub priority: Option<i32>,
    /// How the state is made consistent; as the new mode says if absent.
    pub restart: Option<Restart>,
    /// Names of unknowns of the new mode that must not be changed when the state is made consistent, beyond those of the mode.
    pub keep: Vec<String>,
    /// A width ε: the condition counts when its functions have fallen to −ε.
    pub hysteresis: f64,
    /// The mode that is entered where this transition happens infinitely often in finite time.
    pub after_accumulation: Option<usize>,
}

impl<'h> Transition<'h> {
    fn new(from: usize, to: usize, trigger: Trigger<'h>) -> Self {
        Transition {
            from,
            to,
            trigger,
            transfer: None,
            priority: None,
            restart: None,
            keep: Vec::new(),
            hysteresis: 0.0,
            after_accumulation: None,
        }
    }

    /// When a function of time and unknowns falls to zero.
    pub fn when(from: usize, to: usize, name: impl Into<String>, g: impl Fn(f64, &[f64]) -> f64 + 'h) -> Self {
        Self::on(from, to, Condition::of(SwitchingFunction::new(name, g)))
    }

    /// When a condition becomes true.
    pub fn on(from: usize, to: usize, condition: Condition<'h>) -> Self {
        Self::new(from, to, Trigger::When(condition))
    }

    /// At given times.
    pub fn at(from: usize, to: usize, schedule: Schedule) -> Self {
        Self::new(from, to, Trigger::At(schedule))
    }

    /// With a change of the state.
    #[must_use]
    pub fn transfer(mut self, transfer: impl Fn(f64, &[f64], &[f64], &mut [f64]) + 'h) -> Self {
        self.transfer = Some(Box::new(transfer));
        self
    }

    /// With a priority.
    #[must_use]
    pub fn priority(mut self, priority: i32) -> Self {
        self.priority = Some(priority);
        self
    }

    /// With a width of hysteresis.
    #[must_use]
    pub fn hysteresis(mut self, width: f64) -> Self {
        self.hysteresis = width;
        self
    }

    /// With another way to make the state consistent.
    #[must_use]
    pub fn restart(mut self, restart: Restart) -> Self {
        self.restart = Some(restart);
        self
    }

    /// With the mode that follows an accumulation of this transition.
    #[must_use]
    pub fn after_accumulation(mut self, mode: usize) -> Self {
        self.after_accumulation = Some(mode);
        self
    }

    /// How messages call it.
    pub fn name(&self) -> String {
        match &self.trigger {
            Trigger::When(condition) => condition.name.clone(),
            Trigger::At(Schedule::Times(_)) => "at given times".into(),
            Trigger::At(Schedule::Every { period, .. }) => format!("every {period}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_time_lies_behind_the_present_one() {
        let every = Schedule::Every { first: 0.1, period: 0.16 };
        let mut t = 0.0;
        for k in 0..1000 {
            let next = every.next_after(t).unwrap();
            assert!(next > t && (next - (0.1 + 0.16 * f64::from(k))).abs() < 1e-9, "{next} after {t}");
            t = next;
        }
        let times = Schedule::Times(vec![0.5, 1.0]);
        assert_eq!((times.next_after(0.5), times.next_after(1.0)), (Some(1.0), None));
    }
}
