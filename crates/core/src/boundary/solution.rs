//! What was found, and an account of how.

use super::curve::Curve;
use super::error::{BoundaryError, Unmet};
use super::scheme::{K, SymmetricScheme};
use crate::dae::hidden::Role;
use crate::dae::{RegularisedSystem, Unknowns};
use crate::method::State;
use crate::observer::{Observer, StepView};
use crate::options::Save;
use crate::segment::Segment;
use crate::solution::{Ended, Solution};
use crate::statistics::{Residuals, Statistics};
use crate::verify::Verifier;

/// A solution of a boundary value problem.
#[derive(Clone, Debug)]
pub struct BoundarySolution<L = Unknowns> {
    /// The solution, as that of an initial value problem.
    pub solution: Solution<L>,
    /// How it was found.
    pub account: BoundaryAccount,
}

/// How a solution was found.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundaryAccount {
    /// Degrees of freedom of the system, parameters that were found included.
    pub degrees: usize,
    /// How many conditions are needed: as many, and one more if the end time is to be found.
    pub needed: usize,
    /// The conditions with their residuals.
    pub conditions: Vec<Unmet>,
    /// Was a condition on the phase added, because a periodic solution may begin anywhere?
    pub phase: bool,
    /// How far values at the ends move if conditions, in units of their gradients, move by one.
    pub conditioning: f64,
    /// Intervals of the last mesh.
    pub intervals: usize,
    /// Meshes.
    pub meshes: usize,
    /// Newton iterations on all meshes.
    pub iterations: u64,
    /// Difference to the solution on half the intervals, in units of the tolerance.
    pub difference: f64,
    /// What the iteration began with.
    pub guess: &'static str,
    /// Parameters that were found.
    pub found: Vec<(String, f64)>,
    /// The end time, if it was found.
    pub end: Option<f64>,
    /// Does nothing move along the solution?
    pub at_rest: bool,
}

/// Where the components of a state of the result come from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ValueSource {
    Unknown(usize),
    Rate(usize),
    /// nowhere: it is zero
    Nothing,
}

/// What states of the result look like.
pub(super) struct ResultShape {
    pub names: Vec<String>,
    pub sources: Vec<ValueSource>,
}

impl ResultShape {
    /// All unknowns, auxiliary ones included.
    pub fn all(of: &RegularisedSystem) -> Self {
        ResultShape { names: of.names().to_vec(), sources: (0..of.dim()).map(ValueSource::Unknown).collect() }
    }

    /// Unknowns with these names, and rates of others.
    pub fn named(of: &RegularisedSystem, names: Vec<String>) -> Self {
        let unknown = |name: &str| of.names().iter().position(|n| n == name);
        let source = |name: &String| match unknown(name) {
            Some(j) => ValueSource::Unknown(j),
            None => name
                .strip_suffix('\'')
                .and_then(unknown)
                .and_then(|j| of.rate_row(j))
                .map_or(ValueSource::Nothing, ValueSource::Rate),
        };
        let sources = names.iter().map(source).collect();
        ResultShape { names, sources }
    }
}

/// A curve as a solution.
pub(super) fn solution(
    system: &mut RegularisedSystem,
    scheme: &SymmetricScheme,
    curve: &Curve,
    shape: &ResultShape,
    verifier: Option<Verifier>,
    (statistics, decisions): (Statistics, String),
    ended: Ended,
) -> Solution<Unknowns> {
    let n = shape.names.len();
    let mut max_residuals = Residuals::default();
    let mut largest = vec![0.0_f64; n];
    let mut at = |system: &mut RegularisedSystem, t: f64, y: &[f64]| -> Vec<f64> {
        let defined = system.evaluate(t, y).is_ok();
        if defined {
            let rows: Vec<usize> = system.constraint_rows().collect();
            for row in rows {
                let value = Some(system.outputs[row].abs());
                let found = match system.constraint(row) {
                    (_, _, Role::Definition | Role::Invariant) => continue,
                    (_, 0, _) => Residuals { constraint: value, ..Residuals::default() },
                    _ => Residuals { hidden: value, ..Residuals::default() },
                };
                max_residuals = max_residuals.max(found);
            }
        }
        let value = |source: &ValueSource| match source {
            ValueSource::Unknown(j) => y[*j],
            ValueSource::Rate(row) if defined => system.outputs[*row],
            ValueSource::Rate(_) => f64::NAN,
            ValueSource::Nothing => 0.0,
        };
        let x: Vec<f64> = shape.sources.iter().map(value).collect();
        largest.iter_mut().zip(&x).for_each(|(top, x)| *top = top.max(x.abs()));
        x
    };
    let mut segments = Vec::with_capacity(curve.intervals());
    let t0 = curve.time(0.0);
    let mut x0 = at(system, t0, curve.point(0, 0));
    let (mut times, mut states) = (vec![t0], x0.clone());
    for i in 0..curve.intervals() {
        let (begin, end) = (curve.time(curve.mesh[i]), curve.time(curve.mesh[i + 1]));
        let points: Vec<Vec<f64>> =
            (1..=K).map(|l| at(system, curve.time(curve.tau(i, scheme.lobatto[l])), curve.point(i, l))).collect();
        let stages: Vec<Vec<f64>> = points.iter().map(|x| x.iter().zip(&x0).map(|(x, x0)| x - x0).collect()).collect();
        let stages: Vec<&[f64]> = stages.iter().map(Vec::as_slice).collect();
        let mut segment = Segment::with_room(begin, &x0, K);
        segment.collocation(begin, end, &points[K - 1], &scheme.lobatto[1..], &stages);
        segments.push(segment);
        x0.clone_from(&points[K - 1]);
        times.push(end);
        states.extend_from_slice(&x0);
    }
    let end = State { t: curve.time(1.0), x: x0 };
    let verification = verifier.map(|mut verifier| {
        for segment in &segments {
            verifier.stretch(segment);
        }
        verifier.finish()
    });
    let proposed_step = segments.last().map_or(0.0, |s| s.t1 - s.t0);
    Solution {
        layout: Unknowns { dim: system.own(), form: crate::dae::Form::QuasiLinear, values: system.values },
        names: shape.names.clone(),
        times,
        states,
        segments,
        events: Vec::new(),
        end,
        ended,
        statistics,
        max_residuals,
        largest,
        undetermined: Vec::new(),
        decisions,
        methods: Vec::new(),
        proposed_step,
        verification,
    }
}

/// With what was asked for only.
pub(super) fn kept<L: Clone>(
    mut found: Result<BoundarySolution<L>, BoundaryError<L>>,
    save: &Save,
) -> Result<BoundarySolution<L>, BoundaryError<L>> {
    match &mut found {
        Ok(found) => found.solution.keep(save),
        Err(error) => error.partial_mut().into_iter().for_each(|partial| partial.keep(save)),
    }
    found
}

impl<L: Clone> Solution<L> {
    /// Show the polynomials to observers as if they were steps that are made just now; needs [`Save::Dense`].
    pub fn show(&self, observers: &mut [&mut dyn Observer<L>]) {
        let (count, n) = (self.segments.len(), self.end.x.len());
        for (k, segment) in self.segments.iter().enumerate() {
            let view = StepView {
                t: segment.t1,
                x: &self.states[(k + 1) * n..(k + 2) * n],
                segment,
                layout: &self.layout,
                statistics: &self.statistics,
                residuals: self.max_residuals,
                progress: (k + 1) as f64 / count as f64,
            };
            for observer in observers.iter_mut() {
                // all of it has been computed: there is nothing left to end
                let _ = observer.observe(&view);
            }
        }
    }

    /// Keep no more than this of a solution with all of its polynomials.
    pub fn keep(&mut self, save: &Save) {
        match save {
            Save::Dense => {}
            Save::Steps => self.segments.clear(),
            Save::End => {
                self.segments.clear();
                self.times.clear();
                self.states.clear();
            }
            Save::At(wanted) => {
                let mut x = vec![0.0; self.names.len()];
                let (mut times, mut states) = (Vec::new(), Vec::new());
                for &t in wanted {
                    if self.eval(t, &mut x).is_some() {
                        times.push(t);
                        states.extend_from_slice(&x);
                    }
                }
                (self.times, self.states) = (times, states);
                self.segments.clear();
            }
        }
    }
}
