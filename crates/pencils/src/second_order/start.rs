//! Taylor coefficients of the solution at a start: the derivative array solved for x″, x‴, …, given x and x′.
//!
//! Level μ + p of the array determines the coefficients up to x_\[p\] of a system with a unique solution; its least squares residual
//! tells whether x and x′ are consistent with all derivatives of all equations.

use super::{Expansion, SecondOrderError, SecondOrderValues, TripleArray};
use daedal::linalg::{RankRule, Ranks};
use faer::Col;

/// Relative residual of the array below which a start counts as consistent.
const CONSISTENT: f64 = 1e-6;

/// Coefficients x_\[0\], …, x_\[order\] from x_\[0\] = x and x_\[1\] = x′; the expansion must give level μ + `order`.
pub fn taylor_start(
    at: &Expansion,
    values: SecondOrderValues,
    x: &[f64],
    xdot: &[f64],
    order: usize,
    rule: RankRule,
) -> Result<Vec<Vec<f64>>, SecondOrderError> {
    let n = at.dim();
    for (what, given) in [("x", x), ("x′", xdot)] {
        if given.len() != n {
            return Err(SecondOrderError::Size { what, expected: (n, 1), found: (given.len(), 1) });
        }
        if given.iter().any(|x| !x.is_finite()) {
            return Err(SecondOrderError::NotFinite { what });
        }
    }
    let order = order.max(1);
    let (at, _) = at.equilibrated();
    let array = TripleArray::new(&at, values.mu + order)?;
    let column = |x: &[f64]| Col::from_fn(x.len(), |i| x[i]);
    let known = &array.L * column(xdot) + &array.N * column(x);
    let right = column(&array.g) - &known;

    // smallest least squares solution
    let mut ranks = Ranks::new(rule);
    let of_M = ranks.subspaces(&array.M, array.size())?;
    let wanted = (order - 1) * n;
    let free = of_M.kernel.get(..wanted, ..).norm_max();
    if free > 1e-6 {
        return Err(SecondOrderError::Undetermined(values));
    }
    let mut reached = of_M.range.transpose() * &right;
    for (y, sigma) in reached.iter_mut().zip(&of_M.singular_values) {
        *y /= sigma;
    }
    let solution = &of_M.cokernel * &reached;
    let residual = (&array.M * &solution - &right).norm_l2();
    let size = column(&array.g).norm_l2().max(known.norm_l2()).max(1.0);
    if !(residual <= CONSISTENT * size) {
        return Err(SecondOrderError::Inconsistent { residual: residual / size });
    }
    let mut coefficients = vec![x.to_vec(), xdot.to_vec()];
    coefficients.extend((0..order - 1).map(|p| (0..n).map(|i| solution[p * n + i]).collect()));
    Ok(coefficients)
}

/// x(t + τ) from Taylor coefficients.
pub(super) fn evaluate(coefficients: &[Vec<f64>], tau: f64) -> Vec<f64> {
    let mut x = vec![0.0; coefficients.first().map_or(0, Vec::len)];
    for coefficient in coefficients.iter().rev() {
        x.iter_mut().zip(coefficient).for_each(|(x, c)| *x = *x * tau + c);
    }
    x
}
