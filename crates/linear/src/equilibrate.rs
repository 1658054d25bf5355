//! Scales of a derivative array [N M] and of the equations it is made of. Ranks of arrays whose equations or unknowns have different units
//! cannot be decided without. Wunderlich, thesis (2008), 7.1.

use super::array::DerivativeArray;
use super::coefficients::TaylorData;
use crate::linalg::rank::{Scales, Scaling, scale_of};

/// A coefficient row this much smaller than its derivative vanishes at this time by chance.
const NOTHING: f64 = 1e-8;

/// Equilibrate [N M]; `factors` are the scales of the original equations, from which the rows of all levels start. Columns of N come first.
pub fn equilibrate(array: &DerivativeArray, factors: &[f64], scales: &mut Scales) {
    let (height, n, width) = (array.M.rows(), array.N.cols(), array.M.cols());
    scales.rows.clear();
    scales.rows.extend(factors.iter().cycle().take(height));
    scales.columns.clear();
    scales.columns.resize(n + width, 1.0);
    scales.improve(|i, j| if j < n { array.N[(i, j)] } else { array.M[(i, j - n)] }, Scaling::Both);
}

/// One factor per original equation: the inverse of its largest coefficient, or of its derivative
/// where it vanishes at this time.
pub fn equation_factors(data: &TaylorData, order: usize) -> Vec<f64> {
    (0..data.E[0].rows())
        .map(|i| {
            let largest =
                |k: usize| data.E[k].row(i).iter().chain(data.A[k].row(i)).fold(0.0_f64, |y, x| y.max(x.abs()));
            let first = largest(0);
            scale_of((1..=order).map(largest).find(|&size| first < NOTHING * size).unwrap_or(first))
        })
        .collect()
}
