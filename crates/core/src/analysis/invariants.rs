//! Are the invariants invariant?
//!
//! ```text
//! de/dt = e_p Z v + e_v a + e_s s' + e_t,        c_s s' = −(c_p Z v + c_t)
//! ```
//! must vanish at every point of the motion, against the size of its terms. The points are accepted steps of GEOMS, which does
//! not use the invariants here and keeps all other constraints to rounding. Second, the drift of e along these steps must not
//! exceed what the tolerance of the run explains.

use super::linearised::Linearised;
use super::rank::{Decomposed, Scaling};
use crate::method::State;
use crate::motion::{Form, Initial, Mechanism, ReducedArray, Undefined};
use crate::observer::StepView;
use crate::{Geoms, Options, Problem, Save, Tolerance, solve_observed};
use faer::Mat;
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
pub(super) fn invariants(mechanism: &dyn Mechanism, names: &[String], start: &State, tend: f64) -> Vec<InvariantTest> {
    let mut array = mechanism.array(Form::StrangenessFree, true);
    let autonomous = mechanism.structure().autonomous;
    let Ok(first) = Linearised::at(&mut *array, start.t, &start.x) else { return Vec::new() };
    let values = &first.rows[first.layout.row_invariants()];
    let mut tests: Vec<InvariantTest> =
        names.iter().zip(values).map(|(name, value)| InvariantTest::new(name, start.t, *value)).collect();
    if tests.is_empty() {
        return tests;
    }
    // differences in time, where time enters
    let shift = (!autonomous).then(|| 1e-4 * (tend - start.t).clamp(1e-6, 1.0));
    let mut look = |t: f64, x: &[f64]| observe(&mut *array, t, x, shift, &mut tests).is_ok();
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
        let _ = solve_observed(&problem, &Geoms::default(), &options, &mut [&mut observer]);
    }
    tests.iter_mut().for_each(InvariantTest::judge);
    tests
}

/// Add a point to the tests.
fn observe(
    array: &mut dyn ReducedArray,
    t: f64,
    x: &[f64],
    shift: Option<f64>,
    tests: &mut [InvariantTest],
) -> Result<(), Undefined> {
    let at = Linearised::at(array, t, x)?;
    let l = at.layout.clone();
    let time = partial_time(array, &at, shift)?;
    // s' from c = 0
    let pdot = &at.rows[l.row_kinematics()];
    let right = Mat::from_fn(l.s().len(), 1, |i, _| {
        let row = l.row_contact().start + i;
        let along: f64 = l.p().zip(pdot).map(|(j, rate)| at.slope(row, j) * rate).sum();
        -along - time[row]
    });
    let sdot = Decomposed::of(&at.block(l.row_contact(), l.s()), Scaling::Both).ok_or(Undefined)?.solve(&right);
    let rates = l
        .p()
        .zip(pdot.iter().copied())
        .chain(l.v().zip(at.rows[l.row_acceleration()].iter().copied()))
        .chain(l.s().enumerate().map(|(i, j)| (j, sdot[(i, 0)])));
    let rates: Vec<(usize, f64)> = rates.collect();
    for (row, test) in l.row_invariants().zip(tests.iter_mut()) {
        let terms = || rates.iter().map(|&(j, rate)| at.slope(row, j) * rate).chain([time[row]]);
        test.rate = test.rate.max(terms().sum::<f64>().abs());
        test.terms = test.terms.max(terms().map(f64::abs).sum());
        test.drift = test.drift.max((at.rows[row] - test.value).abs());
        let sensitivity: f64 = x.iter().enumerate().map(|(j, x)| at.slope(row, j).abs() * (1.0 + x.abs())).sum();
        test.explained = test.explained.max(TRUST * TOLERANCE * sensitivity);
        test.points += 1;
        test.until = t;
    }
    Ok(())
}

/// ∂k/∂t of all rows by differences of order four; zero where time does not enter.
fn partial_time(array: &mut dyn ReducedArray, at: &Linearised, shift: Option<f64>) -> Result<Vec<f64>, Undefined> {
    let mut derivative = vec![0.0; at.rows.len()];
    let Some(h) = shift else { return Ok(derivative) };
    let mut rows = vec![0.0; at.rows.len()];
    for (steps, factor) in [(-2.0, 1.0), (-1.0, -8.0), (1.0, 8.0), (2.0, -1.0)] {
        array.evaluate(at.t + steps * h, &at.x, &mut rows)?;
        derivative.iter_mut().zip(&rows).for_each(|(d, row)| *d += factor * row / (12.0 * h));
    }
    Ok(derivative)
}
