//! Events: functions that fall through zero, located on the polynomial of a step, and there as accurately as the method knows the state.

use crate::method::Stepper;
use crate::segment::Segment;

/// What to do when an event happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Stop the run there.
    Stop,
    /// Write it down and go on.
    Record,
}

/// A function of time and state that is positive until the event.
pub struct Event<'p> {
    /// How results call it.
    pub name: String,
    /// What to do.
    pub action: Action,
    /// The function; the event is where it falls through zero.
    #[allow(clippy::type_complexity)] // a function, written out where it is called
    pub function: Box<dyn Fn(f64, &[f64]) -> f64 + 'p>,
}

/// An event that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Happened {
    /// Which event.
    pub name: String,
    /// When.
    pub t: f64,
    /// The state there.
    pub x: Vec<f64>,
    /// Did it stop the run?
    pub action: Action,
}

/// Parts of a step in which a fall through zero is looked for.
const PARTS: u32 = 8;
/// Most corrections of a time by values that are more accurate than the polynomial.
const MOST_CORRECTIONS: u32 = 2;

impl Event<'_> {
    /// Times in (t₀, t₁] at which the function falls through zero, as far as they lie in different parts of the step.
    pub fn locate(&self, segment: &Segment, x: &mut [f64], mut found: impl FnMut(f64)) {
        let mut value = |t: f64| {
            segment.eval(t, x);
            (self.function)(t, x)
        };
        let h = segment.t1 - segment.t0;
        let (mut left, mut at_left) = (segment.t0, value(segment.t0));
        for k in 1..=PARTS {
            let right = if k == PARTS { segment.t1 } else { segment.t0 + h * f64::from(k) / f64::from(PARTS) };
            let at_right = value(right);
            if at_left > 0.0 && at_right <= 0.0 {
                found(fall(left, at_left, right, at_right, &mut value));
            }
            (left, at_left) = (right, at_right);
        }
    }

    /// Newton's method from a zero on the polynomial, with values inside the step and the slope of the polynomial. False if the zero lies behind
    /// the step: the polynomial deviates from the solution, and only it falls through zero here.
    pub(crate) fn correct(&self, stepper: &mut dyn Stepper, t: &mut f64, x: &mut [f64]) -> bool {
        let (t0, t1) = (stepper.segment().t0, stepper.segment().t1);
        let h = t1 - t0;
        let rounding = 100.0 * f64::EPSILON * (t0.abs() + h);
        for _ in 0..MOST_CORRECTIONS {
            stepper.inside(*t, x);
            let value = (self.function)(*t, x);
            let width = 1e-3 * h;
            let [before, behind] = [(*t - width).max(t0), (*t + width).min(t1)].map(|t| {
                stepper.segment().eval(t, x);
                (t, (self.function)(t, x))
            });
            let shift = -value * (behind.0 - before.0) / (behind.1 - before.1);
            // a function that only touches zero has no slope there
            if !(shift.abs() > rounding && shift.abs() < 0.1 * h) {
                return true;
            }
            if *t + shift > t1 && (self.function)(t1, &stepper.state().x) > 0.0 {
                return false;
            }
            *t = (*t + shift).clamp(t0, t1);
        }
        true
    }
}

/// Zero of a function with f(a) > 0 ≥ f(b), by bisection and secants that keep the bracket (Illinois).
fn fall(mut a: f64, mut fa: f64, mut b: f64, mut fb: f64, value: &mut dyn FnMut(f64) -> f64) -> f64 {
    for k in 0..200 {
        if (b - a) <= 2.0 * f64::EPSILON * a.abs().max(b.abs()) || fb == 0.0 {
            break;
        }
        // every third step a bisection, so that the bracket shrinks whatever the function is like
        let mut c = if k % 3 == 2 { 0.5 * (a + b) } else { b - fb * (b - a) / (fb - fa) };
        if !(c > a && c < b) {
            c = 0.5 * (a + b);
        }
        let fc = value(c);
        if fc > 0.0 {
            (a, fa) = (c, fc);
            fb *= 0.5;
        } else {
            (b, fb) = (c, fc);
            fa *= 0.5;
        }
    }
    b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fall_through_zero_is_found_to_rounding() {
        let mut f = |t: f64| (-t).exp() - 0.25;
        let (fa, fb) = (f(0.0), f(9.0));
        assert!((fall(0.0, fa, 9.0, fb, &mut f) - 4.0_f64.ln()).abs() < 1e-15);
    }
}
