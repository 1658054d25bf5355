//! Equations that exclude each other.
//!
//! Where the scaled residual r = R F is as small as it can be, rᵀ R ∂F/∂x = 0 over all values that may move: r is a left null
//! vector, and its entries are the equations that contradict each other. What they say about the fixed values shows in rᵀ R ∂F/∂x
//! over the columns of those.

use super::least_change::Balanced;
use super::{CONSISTENT, Freedom, Requirements, Stage};
use crate::linalg::{Mat, Svd};
use std::ops::Range;

/// Most iterations.
const MOST_ITERATIONS: usize = 300;
/// Most operations, a decomposition having 20 m n min(m, n). Chosen: what is told about an error takes seconds at most.
const MOST_WORK: usize = 20_000_000_000;
/// The residual is smallest where its projection on the range of the linearisation is below this part of it.
const STATIONARY: f64 = 1e-6;
/// Parts of a null vector below this do not count.
const TAKES_PART: f64 = 1e-3;
/// Damping at the start, and its limits: beyond the larger one nothing makes the residual smaller but rounding.
const DAMPING: (f64, f64, f64) = (1e-3, 1e-12, 1e8);

/// What excludes each other.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Contradicting {
    /// Equations with what is left of them when all of them are met as well as possible.
    pub equations: Vec<(usize, f64)>,
    /// Fixed values that take part.
    pub fixed: Vec<usize>,
}

impl Contradicting {
    /// The first stage that cannot be satisfied near x, with x where its equations are met as well as possible; nothing if none was found.
    pub fn near<R: Requirements>(
        equations: &mut R,
        freedom: &Freedom,
        stages: &[Stage],
        x: &mut [f64],
    ) -> Result<Option<Self>, R::Failure> {
        for Stage { rows, free } in stages {
            if let Some(scales) = minimise(equations, freedom, rows, free, x)?
                && rows.clone().any(|i| equations.values()[i].abs() > CONSISTENT * equations.sizes()[i])
            {
                return Ok(Some(Self::of(equations, &freedom.fixed, rows, &scales, x)));
            }
        }
        Ok(None)
    }

    /// Where R F is a left null vector.
    fn of<R: Requirements>(equations: &R, fixed: &[usize], rows: &Range<usize>, scales: &[f64], x: &[f64]) -> Self {
        let (F, C) = (equations.values(), equations.slopes());
        let blame = |i: usize| scales[i] * F[i];
        let largest = rows.clone().map(|i| blame(i).abs()).fold(0.0, f64::max);
        let part: Vec<usize> = rows.clone().filter(|&i| blame(i).abs() > TAKES_PART * largest).collect();
        let pull =
            |j: usize| part.iter().map(|&i| blame(i) * scales[i] * C[(i, j)]).sum::<f64>().abs() * (1.0 + x[j].abs());
        let pulls: Vec<f64> = fixed.iter().map(|&j| pull(j)).collect();
        let strongest = pulls.iter().copied().fold(0.0, f64::max);
        let pulling = fixed.iter().zip(&pulls).filter(|(_, pull)| **pull > TAKES_PART * strongest);
        Contradicting {
            fixed: pulling.map(|(&j, _)| j).collect(),
            equations: part.into_iter().map(|i| (i, F[i])).collect(),
        }
    }
}

/// Make ‖R F‖ over some rows as small as possible near x by moving some values, scales R kept. Levenberg and Marquardt; Nocedal and
/// Wright (2006), Numerical optimization, 10.3. Gives R if a smallest value was found.
fn minimise<R: Requirements>(
    equations: &mut R,
    freedom: &Freedom,
    rows: &Range<usize>,
    free: &[usize],
    x: &mut [f64],
) -> Result<Option<Vec<f64>>, R::Failure> {
    let (m, n) = (rows.len(), free.len());
    let most = MOST_ITERATIONS.min(MOST_WORK / (20 * m * n * m.min(n)).max(1));
    if most == 0 {
        return Ok(None);
    }
    equations.linearise(x)?;
    let scales = Balanced::new(&equations.slopes(), x, freedom).rows;
    let scaled = |F: &[f64]| Mat::from_fn(rows.len(), 1, |k, _| scales[rows.start + k] * F[rows.start + k]);
    let mut damping = DAMPING.0;
    for _ in 0..most {
        // another choice of rows is another problem
        if equations.values().len() < rows.end {
            return Ok(None);
        }
        let C = equations.slopes();
        let units = Balanced::new(&C, x, freedom).columns;
        let r = scaled(equations.values());
        let mut svd = Svd::new(m, n);
        for (c, &j) in free.iter().enumerate() {
            rows.clone().enumerate().for_each(|(k, i)| svd.A[(k, c)] = scales[i] * C[(i, j)] * units[j]);
        }
        if svd.factor().is_err() {
            return Ok(None);
        }
        let turned = svd.U.transpose() * &r;
        let count = m.min(n);
        let slope = (0..count).map(|k| (turned[(k, 0)] * svd.sigma(k)).powi(2)).sum::<f64>().sqrt();
        if slope <= STATIONARY * svd.sigma(0).max(1.0) * r.norm_l2() {
            return Ok(Some(scales));
        }
        // the step −J⁺F, damped until the residual falls
        let start = x.to_vec();
        loop {
            for (c, &j) in free.iter().enumerate() {
                let part = |k: usize| {
                    svd.V[(c, k)] * turned[(k, 0)] * svd.sigma(k) / (svd.sigma(k).powi(2) + damping * damping)
                };
                x[j] = start[j] - units[j] * (0..count).map(part).sum::<f64>();
            }
            if equations.evaluate(x)
                && scaled(equations.values()).norm_l2() < r.norm_l2()
                && equations.linearise(x).is_ok()
            {
                damping = (damping * 0.25).max(DAMPING.1);
                break;
            }
            damping *= 4.0;
            if damping > DAMPING.2 {
                x.copy_from_slice(&start);
                equations.linearise(x)?;
                return Ok(None);
            }
        }
    }
    Ok(None)
}
