//! Gauss and Newton: corrections of least change, shortened until the residual falls.
//!
//! Residuals are judged by the sizes of their terms, each row relative to what it is summed from.

use super::{Freedom, Requirements};
use crate::linalg::Mat;
use std::ops::Range;

/// Most iterations. Chosen: a double root gains one bit in each, and 1e-15 is reached.
const MOST_ITERATIONS: usize = 60;
/// The shortest part of a step that is tried. Chosen: steps 2000 times too long are those from flat places.
const SHORTEST: f64 = 1.0 / 2048.0;
/// The part of the predicted decrease that must be reached. Chosen: small, so that far from a solution most steps will do.
const DECREASE: f64 = 0.1;
/// Given values with residuals below this part of what they are summed from stay as they are. Derived: a few roundings of each term.
pub(crate) const ROUNDING: f64 = 16.0 * f64::EPSILON;
/// Where rounding is larger inside of the rows, residuals below this are accepted when steps do not make them smaller. Chosen: equations that
/// lose seven digits still hold.
pub(crate) const CONSISTENT: f64 = 1e-9;
/// Steps that shrink by less than this factor after some iterations are a sign of a multiple root. Derived: a double root halves them.
const SLOW: (usize, f64) = (6, 0.2);

/// How an iteration ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// Largest residual, each relative to what its row is summed from.
    pub residual: f64,
    /// Which row has it.
    pub worst: usize,
    /// What is left of that row.
    pub left: f64,
    /// Iterations.
    pub iterations: usize,
    /// Did the last steps shrink only slowly? A sign of a multiple root.
    pub slow: bool,
    /// How many equations the unknowns that may move can satisfy, at the last linearisation that was solved; nothing if none was.
    pub rank: Option<usize>,
}

impl Fit {
    /// Do the equations hold?
    pub fn consistent(&self) -> bool {
        self.residual <= CONSISTENT
    }
}

/// Move x onto the equations. Where that fails x is the last point; the equations are linearised there.
pub(crate) fn solve<R: Requirements>(equations: &mut R, freedom: &Freedom, x: &mut [f64]) -> Result<Fit, R::Failure> {
    equations.linearise(x)?;
    let holds = |equations: &R| -> Vec<bool> {
        equations.values().iter().zip(equations.sizes()).map(|(f, size)| f.abs() <= ROUNDING * size).collect()
    };
    // what holds to rounding at the given values moves nothing, whatever else has to move
    let given = holds(equations);
    let (mut last, mut slow, mut rank, mut polished) = (f64::INFINITY, false, None, false);
    let mut iterations = 0;
    loop {
        let (worst, residual) = largest(equations.values(), equations.sizes());
        let left = equations.values().get(worst).copied().unwrap_or(0.0);
        let fit = |iterations, slow, rank| Fit { residual, worst, left, iterations, slow, rank };
        // values that were moved are moved once more: the last step takes away the rounding of the ones before
        let last_step = residual <= ROUNDING;
        if last_step && (iterations == 0 || polished) || iterations == MOST_ITERATIONS {
            return Ok(fit(iterations, slow, rank));
        }
        polished = last_step;
        let still = holds(equations);
        let same_rows = still.len() == given.len();
        let resting = |i: usize| same_rows && given[i] && still[i];
        let Some(step) = correction(equations, freedom, x, resting, &mut rank) else {
            return Ok(fit(iterations, slow, rank));
        };
        iterations += 1;
        let before = x.to_vec();
        let size = |(step, x): (&f64, &f64)| step.abs() / (1.0 + x.abs());
        let size = step.iter().zip(&before).map(size).fold(0.0, f64::max);
        // what holds already is not improved by short steps
        let shortest = if residual <= CONSISTENT { 1.0 } else { SHORTEST };
        if !advance(equations, x, &before, (&step, shortest), residual)? {
            return Ok(fit(iterations, slow, rank));
        }
        slow = iterations > SLOW.0 && size > SLOW.1 * last && !polished;
        last = size;
    }
}

/// Equations that are to be satisfied by some of the values, before the next ones are looked at.
pub(crate) struct Stage {
    pub rows: Range<usize>,
    /// Values that may move.
    pub free: Vec<usize>,
}

impl Stage {
    /// Move x onto the equations of this stage, and stay where that fails. The number of iterations.
    pub fn solve<R: Requirements>(&self, all: &mut R, freedom: &Freedom, x: &mut [f64]) -> Result<usize, R::Failure> {
        if self.rows.is_empty() || self.free.is_empty() {
            return Ok(0);
        }
        let mut moves = vec![false; x.len()];
        self.free.iter().for_each(|&j| moves[j] = true);
        let among = |class: &Vec<usize>| class.iter().copied().filter(|&j| moves[j]).collect();
        let freedom = Freedom {
            fixed: (0..x.len()).filter(|&j| !moves[j]).collect(),
            classes: freedom.classes.iter().map(among).collect(),
            ..freedom.clone()
        };
        let mut moved = x.to_vec();
        let fit = solve(&mut SomeRows { all, rows: self.rows.clone() }, &freedom, &mut moved)?;
        if fit.consistent() {
            x.copy_from_slice(&moved);
        }
        Ok(fit.iterations)
    }
}

/// Some rows of equations.
struct SomeRows<'a, R> {
    all: &'a mut R,
    rows: Range<usize>,
}

impl<R: Requirements> Requirements for SomeRows<'_, R> {
    type Failure = R::Failure;

    fn linearise(&mut self, x: &[f64]) -> Result<(), R::Failure> {
        self.all.linearise(x)
    }

    fn evaluate(&mut self, x: &[f64]) -> bool {
        self.all.evaluate(x)
    }

    fn values(&self) -> &[f64] {
        &self.all.values()[self.rows.clone()]
    }

    fn sizes(&self) -> &[f64] {
        &self.all.sizes()[self.rows.clone()]
    }

    fn slopes(&self) -> Mat<f64> {
        self.all.slopes().subrows(self.rows.start, self.rows.len()).to_owned()
    }
}

/// The correction at x, if there is one. Resting rows are taken as zero.
pub(crate) fn correction<R: Requirements>(
    equations: &R,
    freedom: &Freedom,
    x: &[f64],
    resting: impl Fn(usize) -> bool,
    rank: &mut Option<usize>,
) -> Option<Vec<f64>> {
    if let Some(step) = equations.shortcut(x) {
        return Some(step);
    }
    let F: Vec<f64> = equations.values().iter().enumerate().map(|(i, f)| if resting(i) { 0.0 } else { *f }).collect();
    let change = match equations.sparse_slopes() {
        Some(C) => freedom.least_change_sparse(C, &F, x)?,
        None => freedom.least_change(&equations.slopes(), &F, x)?,
    };
    *rank = Some(change.rank);
    (!freedom.independent || change.rank == F.len()).then_some(change.delta)
}

/// Take a step, shortened to a part of it until the residual falls. False if it does not, and x is where it was.
fn advance<R: Requirements>(
    equations: &mut R,
    x: &mut [f64],
    before: &[f64],
    (step, shortest): (&[f64], f64),
    before_step: f64,
) -> Result<bool, R::Failure> {
    let mut factor = 1.0;
    while factor >= shortest {
        x.iter_mut().zip(before.iter().zip(step)).for_each(|(x, (before, step))| *x = before + factor * step);
        let enough = if before_step <= ROUNDING { ROUNDING } else { (1.0 - DECREASE * factor) * before_step };
        if equations.evaluate(x) && residual(equations) <= enough {
            if equations.linearise(x).is_ok() {
                return Ok(true);
            }
            // back to the choices of the last point
            equations.linearise(before)?;
        }
        factor *= 0.5;
    }
    x.copy_from_slice(before);
    equations.evaluate(x);
    Ok(false)
}

/// The largest residual where the equations were evaluated last, each relative to what its row is summed from.
pub(crate) fn residual<R: Requirements>(equations: &R) -> f64 {
    largest(equations.values(), equations.sizes()).1
}

/// The row with the largest residual relative to its size, and that; what is not a number counts as largest.
pub(crate) fn largest(values: &[f64], sizes: &[f64]) -> (usize, f64) {
    let relative = values.iter().zip(sizes).map(|(f, size)| (f / size).abs()).enumerate();
    relative.fold((0, 0.0), |most, (i, r)| if r <= most.1 { most } else { (i, r) })
}
