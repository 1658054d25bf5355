//! The first change of the sign of a condition, found by interval arithmetic.
//!
//! A cell of time is clear of a condition if its bounds there have the sign of the piece, or if it is monotone and has that sign at both ends.
//! Other cells are halved, the left part first, so that what lies behind the first change costs nothing. What cannot be decided down to the
//! smallest width (a double zero, where no sign changes) is judged at the ends of the cell.

use super::extract::OfTime;
use crate::graph::Tape;
use crate::scalar::{Interval, Scalar, Taylor};

/// Smallest cells, as part of the interval: a pulse that is shorter is missed.
const SMALLEST: f64 = 1e-13;
/// Most cells of one search, which takes milliseconds then; it goes on when the run has come there.
const MOST_CELLS: usize = 20_000;
/// How often the distance to a zero is doubled until rounding does not hide the sign there.
const MOST_DOUBLINGS: u32 = 16;

/// A tape with space for its values.
#[derive(Clone, Debug)]
pub(super) struct TapeValues<S> {
    inputs: Vec<S>,
    registers: Vec<S>,
    pub outputs: Vec<S>,
}

impl<S: Scalar> TapeValues<S> {
    pub fn new(tape: &Tape, inputs: usize, outputs: usize) -> Self {
        let zeros = |n: usize| vec![S::from(0.0); n];
        TapeValues { inputs: zeros(inputs), registers: zeros(tape.registers()), outputs: zeros(outputs) }
    }

    /// Evaluate at a time, with signs.
    pub fn at(&mut self, of: &OfTime, tape: &Tape, t: S, signs: &[f64]) {
        self.inputs[of.time] = t;
        for (input, sign) in self.inputs[of.first_sign..].iter_mut().zip(signs) {
            *input = S::from(*sign);
        }
        tape.run(&self.inputs, &mut self.registers, &mut self.outputs);
    }
}

/// Conditions with space for their values.
#[derive(Clone, Debug)]
pub(super) struct TimeConditions {
    bounds: TapeValues<Taylor<Interval, 2>>,
    points: TapeValues<Interval>,
    numbers: TapeValues<f64>,
    /// cells that are to be looked at, the next one last
    open: Vec<(f64, f64)>,
}

impl TimeConditions {
    pub fn new(of: &OfTime) -> Self {
        let (tape, count) = (&of.conditions, of.texts.len());
        TimeConditions {
            bounds: TapeValues::new(tape, of.inputs, count),
            points: TapeValues::new(tape, of.inputs, count),
            numbers: TapeValues::new(tape, of.inputs, count),
            open: Vec::with_capacity(64),
        }
    }

    /// The signs at a time; none where rounding hides one of them.
    pub fn signs(&mut self, of: &OfTime, t: f64, signs: &mut [f64]) -> bool {
        // inner conditions decide what outer ones are
        for _ in 0..=signs.len() {
            self.points.at(of, &of.conditions, Interval::from(t), signs);
            let (mut settled, mut certain) = (true, true);
            for (sign, c) in signs.iter_mut().zip(&self.points.outputs) {
                certain &= c.low >= 0.0 || c.high < 0.0 || c.is_undefined();
                let new = if c.is_undefined() { *sign } else { sign_of(c.value()) };
                settled &= new == *sign;
                *sign = new;
            }
            if settled {
                return certain;
            }
        }
        false
    }

    /// The signs right behind a time, and from when on they are certain.
    pub fn signs_after(&mut self, of: &OfTime, (t, tend): (f64, f64), span: f64, signs: &mut [f64]) -> f64 {
        self.certain_from(of, (t.next_up(), tend), span, signs, |_| true)
    }

    /// The first time from t on, but for rounding, at which signs are certain and wanted.
    fn certain_from(
        &mut self,
        of: &OfTime,
        (t, tend): (f64, f64),
        span: f64,
        signs: &mut [f64],
        wanted: impl Fn(&[f64]) -> bool,
    ) -> f64 {
        let (mut after, mut distance) = (t, rounding(t, span));
        for _ in 0..MOST_DOUBLINGS {
            if after >= tend {
                break;
            }
            if self.signs(of, after, signs) && wanted(signs) {
                return after;
            }
            after = t + distance;
            distance *= 2.0;
        }
        self.signs(of, after.min(tend), signs);
        after.min(tend)
    }

    /// Are the signs at a time, as formulas see them, other than these?
    pub fn differ(&mut self, of: &OfTime, t: f64, signs: &[f64]) -> bool {
        self.numbers.at(of, &of.conditions, t, signs);
        self.numbers.outputs.iter().zip(signs).any(|(c, sign)| !c.is_nan() && sign_of(*c) != *sign)
    }

    /// The first change of a sign between two times; at the first one the signs are those given. A search that takes too long ends where it
    /// stands, with the same signs on both sides.
    pub fn first_change(
        &mut self,
        of: &OfTime,
        (from, to): (f64, f64),
        signs: &[f64],
        span: f64,
    ) -> Option<SignChange> {
        if signs.is_empty() {
            return None;
        }
        self.open.clear();
        self.open.push((from, to));
        let mut cells = 0;
        while let Some((a, b)) = self.open.pop() {
            cells += 1;
            if cells > MOST_CELLS && a > from {
                return Some(SignChange { before: a, behind: a, signs: signs.to_vec() });
            }
            let decided = self.look(of, (a, b), signs);
            let middle = 0.5 * (a + b);
            let smallest = b - a <= SMALLEST * span || !(a < middle && middle < b);
            match decided {
                TimeCell::Clear => {}
                TimeCell::Unclear if !smallest => self.open.extend([(middle, b), (a, middle)]),
                TimeCell::Changes | TimeCell::Unclear => {
                    if self.differ(of, b, signs) {
                        return Some(self.narrow(of, (a, b, to), signs, span));
                    }
                }
            }
        }
        None
    }

    fn look(&mut self, of: &OfTime, (a, b): (f64, f64), signs: &[f64]) -> TimeCell {
        self.bounds.at(of, &of.conditions, Taylor::parameter(Interval::new(a, b)), signs);
        let mut decided = TimeCell::Clear;
        for (c, &sign) in self.bounds.outputs.iter().zip(signs) {
            let [c, slope] = c.coefficients;
            if c.is_undefined() || keeps(c, sign) {
                continue;
            }
            if sign * slope.low >= 0.0 && sign * slope.high >= 0.0 {
                // it leads away from zero
            } else if slope.low > 0.0 || slope.high < 0.0 {
                decided = TimeCell::Changes;
            } else {
                return TimeCell::Unclear;
            }
        }
        decided
    }

    /// The first change between two times with different signs, and what is certain on both sides of it.
    fn narrow(&mut self, of: &OfTime, (from, to, tend): (f64, f64, f64), signs: &[f64], span: f64) -> SignChange {
        let (mut a, mut b) = (from, to);
        loop {
            let middle = 0.5 * (a + b);
            if !(a < middle && middle < b) {
                break;
            }
            if self.differ(of, middle, signs) {
                b = middle;
            } else {
                a = middle;
            }
        }
        let certain = |(c, sign): (&Interval, &f64)| c.is_undefined() || keeps(*c, *sign);
        let (mut left, mut distance) = (a, rounding(a, span));
        for _ in 0..MOST_DOUBLINGS {
            self.points.at(of, &of.conditions, Interval::from(left), signs);
            if left <= from || self.points.outputs.iter().zip(signs).all(certain) {
                break;
            }
            left = (a - distance).max(from);
            distance *= 2.0;
        }
        let mut new = signs.to_vec();
        let behind = self.certain_from(of, (b, tend), span, &mut new, |new| new != signs);
        SignChange { before: left, behind, signs: new }
    }
}

/// A change of signs.
#[derive(Clone, Debug)]
pub(super) struct SignChange {
    /// The last time before it at which the old ones are certain.
    pub before: f64,
    /// The first time behind it at which new ones are.
    pub behind: f64,
    /// The new ones.
    pub signs: Vec<f64>,
}

/// What bounds tell about a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TimeCell {
    /// No sign changes.
    Clear,
    /// Every condition whose sign may change is monotone.
    Changes,
    /// Nothing.
    Unclear,
}

/// The sign as selections see it.
pub(super) fn sign_of(c: f64) -> f64 {
    if c >= 0.0 { 1.0 } else { -1.0 }
}

/// Do all numbers have this sign?
fn keeps(c: Interval, sign: f64) -> bool {
    if sign > 0.0 { c.low >= 0.0 } else { c.high < 0.0 }
}

/// What rounding may shift a time by.
fn rounding(t: f64, span: f64) -> f64 {
    f64::EPSILON * t.abs().max(SMALLEST * span)
}
