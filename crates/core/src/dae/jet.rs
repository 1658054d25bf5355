//! Consistent jets: 𝔉_ℓ(t, X_0, …, X_{ℓ+1}) = 0 by Gauss–Newton steps of least size.
//!
//! The system is underdetermined and may be rank-deficient, so steps come from a truncated singular value decomposition of the
//! equilibrated Jacobian. The state is protected: it is held first, and only if that is impossible it may move, with small
//! weights, so that everything else moves before it does.

use super::DerivativeArray;
use crate::graph::Kernel;
use crate::linalg::Matrix;
use crate::linalg::rank::{Decomposed, RankRule, Scales, Scaling};
use crate::motion::Undefined;
use faer::Mat;

/// Weight of the components that should stay where they are.
const PROTECTED: f64 = 1e-6;
/// Most iterations; a multiple root needs many.
const MOST_ITERATIONS: usize = 60;
/// Scaled residuals below this are zero.
const CONSISTENT: f64 = 1e-9;

/// How far a component of the jet may move; what is not told is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freedom {
    /// Not at all.
    Held,
    /// If there is no other way.
    Protected,
    /// As it likes.
    Free,
}

/// Further equations 0 = c(t, X_0, X_1) that must hold, compiled: values, and derivatives with their places (row, column of (X_0, X_1)).
pub struct Conditions {
    /// Values of all conditions; inputs are those of the system's graph.
    pub values: Box<dyn Kernel>,
    /// Entries of their Jacobian.
    pub entries: Box<dyn Kernel>,
    /// Places of the entries.
    pub places: Vec<(usize, usize)>,
    /// Number of conditions.
    pub count: usize,
    /// Where t, X_0 and X_1 stand among the inputs.
    pub inputs: Vec<usize>,
    /// Number of inputs.
    pub width: usize,
}

/// How an iteration ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// Largest scaled residual.
    pub residual: f64,
    /// Which row has it: j m + i for equation i of 𝔉_j, then the conditions.
    pub worst: usize,
    /// What is left of that row, not scaled.
    pub left: f64,
    /// Iterations.
    pub iterations: usize,
    /// Did the last increments shrink only slowly? A sign of a multiple root.
    pub slow: bool,
}

impl Fit {
    /// Do the equations hold?
    pub fn consistent(&self) -> bool {
        self.residual <= CONSISTENT
    }
}

/// Move a jet onto 𝔉_ℓ = 0.
pub fn fit(
    array: &mut DerivativeArray,
    mut conditions: Option<&mut Conditions>,
    level: usize,
    t: f64,
    jet: &mut [f64],
    freedom: &[Freedom],
    rule: RankRule,
) -> Result<Fit, Undefined> {
    let m = array.rows() * (level + 1);
    let width = jet.len();
    let further = conditions.as_ref().map_or(0, |c| c.count);
    let (mut F, mut J) = (vec![0.0; m + further], Matrix::zeros(m, width));
    let of = |c: usize| freedom.get(c).copied().unwrap_or(Freedom::Free);
    let columns: Vec<usize> = (0..width).filter(|&c| of(c) != Freedom::Held).collect();
    let weight = |c: usize| if of(c) == Freedom::Protected { PROTECTED } else { 1.0 };
    let mut evaluate = |jet: &[f64], F: &mut [f64]| {
        array.evaluate(level, t, jet, &mut F[..m])?;
        if let Some(conditions) = conditions.as_mut() {
            conditions.evaluate(t, jet, &mut F[m..])?;
        }
        array.jacobian(level, t, jet, &mut J)?;
        let mut A = Mat::from_fn(m + further, columns.len(), |i, k| if i < m { J[(i, columns[k])] } else { 0.0 });
        // rows are judged by the sizes they are summed from
        let size = |row: &[f64]| {
            let (top, sum) =
                row.iter().zip(jet).fold((0.0_f64, 0.0), |(top, sum), (a, x)| (top.max(a.abs()), sum + (a * x).abs()));
            sum.max(top).max(f64::MIN_POSITIVE)
        };
        let mut usual: Vec<f64> = (0..m).map(|i| size(J.row(i))).collect();
        usual.resize(m + further, f64::MIN_POSITIVE);
        if let Some(conditions) = conditions.as_mut() {
            for (i, c, value) in conditions.jacobian(t, jet)? {
                usual[m + i] = usual[m + i].max(value.abs()).max((value * jet[c]).abs());
                if let Ok(k) = columns.binary_search(&c) {
                    A[(m + i, k)] = value;
                }
            }
        }
        Ok((A, usual))
    };
    let (mut A, mut usual) = evaluate(jet, &mut F)?;
    let (mut last_step, mut slow) = (f64::INFINITY, false);
    let mut iterations = 0;
    let mut units: Option<Vec<f64>> = None;
    loop {
        let scaled = |F: &[f64]| {
            let sizes = F.iter().zip(&usual).map(|(f, size)| (f / size).abs()).enumerate();
            sizes.fold((0, 0.0), |worst, (i, size)| if size > worst.1 { (i, size) } else { worst })
        };
        let (worst, residual) = scaled(&F);
        let left = residual * usual.get(worst).copied().unwrap_or(0.0);
        if residual <= 1e-15 || iterations == MOST_ITERATIONS {
            return Ok(Fit { residual, worst, left, iterations, slow });
        }
        let mut scales = Scales::of(&A, Scaling::Both);
        // what is protected keeps its units: it must not move the more, the less it helps
        let units = units.get_or_insert_with(|| scales.columns.clone());
        for (k, &c) in columns.iter().enumerate().filter(|(_, c)| of(**c) == Freedom::Protected) {
            scales.columns[k] = scales.columns[k].min(units[k]) * weight(c);
        }
        let col_scale = scales.columns.clone();
        let decomposed = Decomposed::scaled(&A, scales, 0.0, rule).ok_or(Undefined)?;
        let step = decomposed.solve(&Mat::from_fn(F.len(), 1, |i, _| -F[i]));
        // size of the step relative to the jet
        let size = columns
            .iter()
            .enumerate()
            .map(|(k, &c)| (step[(k, 0)] / (jet[c].abs() + col_scale[k] / weight(c))).abs())
            .fold(0.0, f64::max);
        // steps that do not shorten the residual are shortened
        let before = jet.to_vec();
        let mut factor = 1.0;
        let mut after = None;
        for _ in 0..8 {
            for (k, &c) in columns.iter().enumerate() {
                jet[c] = before[c] + factor * step[(k, 0)];
            }
            if let Ok(next) = evaluate(jet, &mut F)
                && scaled(&F).1 <= (1.0 - 0.1 * factor) * residual.max(1e-14)
            {
                after = Some(next);
                break;
            }
            factor *= 0.5;
        }
        iterations += 1;
        let Some(next) = after else {
            jet.copy_from_slice(&before);
            return Ok(Fit { residual, worst, left, iterations, slow });
        };
        let (worst, residual) = scaled(&F);
        let left = residual * usual.get(worst).copied().unwrap_or(0.0);
        (A, usual) = next;
        if size <= 1e-15 {
            return Ok(Fit { residual, worst, left, iterations, slow });
        }
        slow = iterations > 6 && size > 0.2 * last_step;
        last_step = size;
    }
}

impl Conditions {
    fn fill(&self, t: f64, jet: &[f64]) -> Vec<f64> {
        let mut inputs = vec![0.0; self.width];
        for (value, &place) in std::iter::once(&t).chain(jet).zip(&self.inputs) {
            inputs[place] = *value;
        }
        inputs
    }

    fn evaluate(&mut self, t: f64, jet: &[f64], values: &mut [f64]) -> Result<(), Undefined> {
        let inputs = self.fill(t, jet);
        self.values.call(&inputs, values);
        if values.iter().all(|c| c.is_finite()) { Ok(()) } else { Err(Undefined) }
    }

    fn jacobian(&mut self, t: f64, jet: &[f64]) -> Result<Vec<(usize, usize, f64)>, Undefined> {
        let inputs = self.fill(t, jet);
        let mut entries = vec![0.0; self.places.len()];
        self.entries.call(&inputs, &mut entries);
        if entries.iter().any(|e| !e.is_finite()) {
            return Err(Undefined);
        }
        Ok(self.places.iter().zip(entries).map(|(&(i, c), e)| (i, c, e)).collect())
    }
}
