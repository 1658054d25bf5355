//! Are the invariants invariant?
//!
//! ```text
//! de/dt = e_p Z v + e_v a + e_s s' + e_t,        c_s s' = −(c_p Z v + c_t)
//! ```
//! must vanish at every point of the motion, against the size of its terms. The points are accepted steps of GEOMS (of dop853 for large systems), which does
//! not use the invariants here and keeps all other constraints to rounding. Second, the drift of e along these steps must not
//! exceed what the tolerance of the run explains.

use super::linearised::Means;
use crate::initial::Initial;
use crate::method::State;
use crate::method::dormand_prince::DormandPrince;
use crate::method::explicit::Pair;
use crate::motion::{Form, InvariantRate, InvariantRates, Mechanism, ReducedArray, Undefined};
use crate::observer::{Observer, StepView};
use crate::{Geoms, Options, Problem, Save, Tolerance, solve_observed};
use std::ops::ControlFlow;

/// Tolerance of the run.
pub const TOLERANCE: f64 = 1e-9;
/// Most accepted steps of the run.
const STEPS: usize = 60;
/// Rates below this part of their terms vanish.
const VANISHES: f64 = 1e-8;
/// Rates above this part of their terms do not vanish.
const REMAINS: f64 = 1e-6;
/// Errors of a run are taken to stay below this multiple of its tolerance.
const TRUST: f64 = 1e3;

/// What the test says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is invariant.
    Invariant,
    /// It changes along the motion.
    NotInvariant,
    /// The numbers do not tell: nothing moved, no run was possible, or the change is small.
    Undecided,
}

/// Test of one invariant.
#[derive(Clone, Debug, PartialEq)]
pub struct InvariantTest {
    /// Its name.
    pub name: String,
    /// Its value at the start.
    pub value: f64,
    /// Largest |de/dt| at the points.
    pub rate: f64,
    /// Largest sum of the absolute terms of de/dt at the points.
    pub terms: f64,
    /// Largest |e − e(start)|.
    pub drift: f64,
    /// What the tolerance of the run explains of it.
    pub explained: f64,
    /// Number of points, the start included.
    pub points: usize,
    /// Time of the last point.
    pub until: f64,
    /// What follows.
    pub verdict: Verdict,
}

impl InvariantTest {
    fn new(name: &str, t: f64, value: f64) -> Self {
        InvariantTest {
            name: name.to_string(),
            value,
            rate: 0.0,
            terms: 0.0,
            drift: 0.0,
            explained: 0.0,
            points: 0,
            until: t,
            verdict: Verdict::Undecided,
        }
    }

    /// |de/dt| relative to its terms; zero if nothing moves.
    pub fn relative_rate(&self) -> f64 {
        if self.terms > 0.0 { self.rate / self.terms } else { 0.0 }
    }

    fn judge(&mut self) {
        let drifts = self.drift > self.explained;
        self.verdict = match self.relative_rate() {
            _ if self.points < 2 || self.terms == 0.0 => Verdict::Undecided,
            rate if rate <= VANISHES && !drifts => Verdict::Invariant,
            rate if rate >= REMAINS && drifts => Verdict::NotInvariant,
            _ => Verdict::Undecided,
        };
    }
}

/// Test all invariants along some steps from a consistent start.
pub(super) fn invariants(
    mechanism: &dyn Mechanism,
    names: &[String],
    start: &State,
    tend: f64,
    means: Means,
) -> Vec<InvariantTest> {
    let mut array = mechanism.array(Form::StrangenessFree, true);
    let shift = 1e-4 * (tend - start.t).clamp(1e-6, 1.0);
    let mut rates = InvariantRates::new(mechanism, &*array, shift);
    if names.is_empty() || rates.at(&mut *array, start.t, &start.x).is_err() {
        return Vec::new();
    }
    let test = |(name, rate): (&String, &InvariantRate)| InvariantTest::new(name, start.t, rate.value);
    let mut tests: Vec<InvariantTest> = names.iter().zip(rates.rates()).map(test).collect();
    let mut look = |t: f64, x: &[f64]| observe(&mut rates, &mut *array, t, x, &mut tests).is_ok();
    if look(start.t, &start.x) && tend > start.t {
        let problem = Problem::new(mechanism, Initial::default(), tend).trust(start.clone());
        let options = Options {
            tolerance: Tolerance::new(TOLERANCE, TOLERANCE),
            save: Save::End,
            max_steps: 10 * STEPS as u64,
            ..Options::default()
        };
        let mut steps = 0;
        let mut observer = |step: &StepView| {
            steps += 1;
            if look(step.t, step.x) && steps < STEPS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        // a run that stops early leaves fewer points
        let observers: &mut [&mut dyn Observer] = &mut [&mut observer];
        let _ = if means.sparse {
            solve_observed(&problem, &DormandPrince::of(Pair::Order8), &options, observers)
        } else {
            solve_observed(&problem, &Geoms::default(), &options, observers)
        };
    }
    tests.iter_mut().for_each(InvariantTest::judge);
    tests
}

/// Add a point to the tests.
fn observe(
    rates: &mut InvariantRates,
    array: &mut dyn ReducedArray,
    t: f64,
    x: &[f64],
    tests: &mut [InvariantTest],
) -> Result<(), Undefined> {
    rates.at(array, t, x)?;
    for (k, (rate, test)) in rates.rates().iter().zip(tests.iter_mut()).enumerate() {
        test.rate = test.rate.max(rate.rate.abs());
        test.terms = test.terms.max(rate.terms);
        test.drift = test.drift.max((rate.value - test.value).abs());
        let sensitivity = rates.sensitivity(k, |j| 1.0 + x[j].abs());
        test.explained = test.explained.max(TRUST * TOLERANCE * sensitivity);
        test.points += 1;
        test.until = t;
    }
    Ok(())
}
