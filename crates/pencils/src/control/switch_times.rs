//! Optimal times of switches: minima of the optimal cost over τ, whose gradient is H_i(τ⁻) − H_{i+1}(τ⁺) + g_t η, so that the Hamiltonian is
//! continuous at an optimum without a moving surface. Wunderlich, thesis (2008), (5.57e).
//!
//! The BFGS iteration of Nocedal & Wright, Numerical Optimization (2006), 6.1, with halved steps; times keep their order.

use super::{ControlError, SwitchedOptimum, SwitchedProblem};
use daedal_linear::linalg::{RankRule, dot};

/// Most iterations.
const MOST_ITERATIONS: usize = 100;
/// Shortest phase, as part of the interval.
const SHORTEST: f64 = 1e-6;
/// The gradient times the interval is zero below this part of the cost.
const FLAT: f64 = 1e-10;
/// Longest step, as part of the interval: farther away another minimum may lie.
const LONGEST: f64 = 0.1;
/// Costs that differ by less than this part of them are equal.
const ROUNDING: f64 = 1e-13;
/// Armijo's constant.
const DECREASE: f64 = 1e-4;

/// Times and what is optimal with them.
#[derive(Clone, Debug)]
pub struct OptimalTimes {
    /// The problem with these times.
    pub problem: SwitchedProblem,
    /// Its optimum.
    pub optimum: SwitchedOptimum,
    /// Switches, from 1, that the search pushed against their neighbours: a phase is not worth its place.
    pub at_edge: Vec<usize>,
}

/// Search from the times of the problem.
pub fn optimal_times(problem: &SwitchedProblem, rule: RankRule) -> Result<OptimalTimes, ControlError> {
    let mut problem = problem.clone();
    let mut found = problem.solve(rule)?;
    let count = problem.surfaces.len();
    if count == 0 {
        return Ok(OptimalTimes { problem, optimum: found, at_edge: Vec::new() });
    }
    let whole = problem.times[count + 1] - problem.times[0];
    // inverse of the second derivative, diagonal at first
    let mut H = vec![vec![0.0; count]; count];
    let reset = |H: &mut Vec<Vec<f64>>, found: &SwitchedOptimum| {
        let size = LONGEST * whole / steepest(found);
        for (i, row) in H.iter_mut().enumerate() {
            row.fill(0.0);
            row[i] = size;
        }
    };
    reset(&mut H, &found);
    let mut fresh = true;
    for _ in 0..MOST_ITERATIONS {
        if steepest(&found) * whole <= FLAT * found.cost.abs().max(f64::MIN_POSITIVE) {
            return Ok(OptimalTimes { problem, optimum: found, at_edge: Vec::new() });
        }
        let mut direction: Vec<f64> = H.iter().map(|row| -dot(row, &found.slopes)).collect();
        let longest = direction.iter().fold(0.0_f64, |size, x| size.max(x.abs()));
        if longest > LONGEST * whole {
            for x in &mut direction {
                *x *= LONGEST * whole / longest;
            }
        }
        let slope = dot(&direction, &found.slopes);
        let Some((next, better)) = line(&problem, &found, &direction, slope, whole, rule)? else {
            if fresh {
                let edge = at_edge(&problem, whole);
                return match (edge.is_empty(), steepest(&found) * whole <= FLAT.sqrt() * found.cost.abs()) {
                    // no decrease is left within rounding
                    (true, true) => Ok(OptimalTimes { problem, optimum: found, at_edge: edge }),
                    (true, false) => Err(ControlError::NoTimes("the cost does not decrease along its gradient")),
                    (false, _) => Ok(OptimalTimes { problem, optimum: found, at_edge: edge }),
                };
            }
            reset(&mut H, &found);
            fresh = true;
            continue;
        };
        let s: Vec<f64> = (1..=count).map(|i| next.times[i] - problem.times[i]).collect();
        let y: Vec<f64> = better.slopes.iter().zip(&found.slopes).map(|(new, old)| new - old).collect();
        let sy = dot(&s, &y);
        if sy > 0.0 {
            // H ← (I − s yᵀ/sy) H (I − y sᵀ/sy) + s sᵀ/sy
            let Hy: Vec<f64> = H.iter().map(|row| dot(row, &y)).collect();
            let yHy = dot(&y, &Hy);
            for i in 0..count {
                for j in 0..count {
                    H[i][j] += (1.0 + yHy / sy) * s[i] * s[j] / sy - (Hy[i] * s[j] + s[i] * Hy[j]) / sy;
                }
            }
        }
        fresh = false;
        (problem, found) = (next, better);
    }
    Err(ControlError::NoTimes("too many iterations"))
}

/// The largest slope.
fn steepest(found: &SwitchedOptimum) -> f64 {
    found.slopes.iter().fold(f64::MIN_POSITIVE, |size, g| size.max(g.abs()))
}

/// A point along a direction with sufficient decrease; none if there is none within rounding.
fn line(
    problem: &SwitchedProblem,
    found: &SwitchedOptimum,
    direction: &[f64],
    slope: f64,
    whole: f64,
    rule: RankRule,
) -> Result<Option<(SwitchedProblem, SwitchedOptimum)>, ControlError> {
    let mut length = 1.0;
    while length * direction.iter().fold(0.0_f64, |size, x| size.max(x.abs())) > f64::EPSILON * whole {
        let mut next = problem.clone();
        for (i, d) in direction.iter().enumerate() {
            next.times[i + 1] += length * d;
        }
        if next.times.windows(2).all(|w| w[1] - w[0] >= SHORTEST * whole) {
            let better = next.solve(rule)?;
            // where costs differ by rounding only, slopes decide
            let rounding = ROUNDING * found.cost.abs();
            let flatter = steepest(&better) < 0.5 * steepest(found) && better.cost < found.cost + rounding;
            if better.cost < found.cost + DECREASE * length * slope || flatter {
                return Ok(Some((next, better)));
            }
        }
        length *= 0.5;
    }
    Ok(None)
}

/// Switches that stand at their neighbours.
fn at_edge(problem: &SwitchedProblem, whole: f64) -> Vec<usize> {
    let near = |i: usize| problem.times[i + 1] - problem.times[i] < 10.0 * SHORTEST * whole;
    (1..problem.times.len() - 1).filter(|&i| near(i - 1) || near(i)).collect()
}
