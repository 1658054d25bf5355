//! Row and column scales R, C with R [N M] C of entries about one: rows, then columns, are divided by the square root of their
//! largest entry, a few times over. Ranks of arrays whose equations or unknowns have different units cannot be decided without.
//! Wunderlich, thesis (2008), 7.1.

use super::array::DerivativeArray;
use super::coefficients::TaylorData;

/// Rows and columns below this part of the largest entry are rounding, and are not scaled up.
const VANISHING: f64 = 1e-13;
/// A coefficient row this much smaller than its derivative vanishes at this time by chance.
const NOTHING: f64 = 1e-8;
const SWEEPS: usize = 6;

/// Scales of one derivative array, powers of two.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Scales {
    /// One per row of the array.
    pub rows: Vec<f64>,
    /// One per column of N, then one per column of M.
    pub columns: Vec<f64>,
}

impl Scales {
    /// Equilibrate [N M]; `factors` are the scales of the original equations, from which the rows of all levels start.
    pub fn choose(&mut self, array: &DerivativeArray, factors: &[f64]) {
        let (height, n, width) = (array.M.rows(), array.N.cols(), array.M.cols());
        let m = factors.len();
        self.rows.resize(height, 1.0);
        self.columns.resize(n + width, 1.0);
        for (i, r) in self.rows.iter_mut().enumerate() {
            *r = factors[i % m];
        }
        self.columns.fill(1.0);
        let entries = |i: usize| array.N.row(i).iter().chain(array.M.row(i));
        let largest = |rows: &[f64]| {
            (0..height).map(|i| entries(i).fold(0.0_f64, |y, x| y.max(x.abs())) * rows[i]).fold(0.0, f64::max)
        };
        let floor = VANISHING * largest(&self.rows);
        for _ in 0..SWEEPS {
            for i in 0..height {
                let max = entries(i).zip(&self.columns).fold(0.0_f64, |y, (x, c)| y.max(x.abs() * c)) * self.rows[i];
                if max > floor {
                    self.rows[i] /= max.sqrt();
                }
            }
            for j in 0..n + width {
                let column = |i: usize| if j < n { array.N[(i, j)] } else { array.M[(i, j - n)] };
                let max = (0..height).fold(0.0_f64, |y, i| y.max(column(i).abs() * self.rows[i])) * self.columns[j];
                if max > floor {
                    self.columns[j] /= max.sqrt();
                }
            }
        }
        for s in self.rows.iter_mut().chain(&mut self.columns) {
            *s = power_of_two(*s);
        }
    }
}

/// One factor per original equation: the inverse of its largest coefficient, or of its derivative
/// where it vanishes at this time.
pub(crate) fn equation_factors(data: &TaylorData, order: usize) -> Vec<f64> {
    (0..data.E[0].rows())
        .map(|i| {
            let largest =
                |k: usize| data.E[k].row(i).iter().chain(data.A[k].row(i)).fold(0.0_f64, |y, x| y.max(x.abs()));
            let first = largest(0);
            let size = (1..=order).map(largest).find(|&size| first < NOTHING * size).unwrap_or(first);
            let size = if size > 0.0 { size } else { 1.0 };
            power_of_two(1.0 / size)
        })
        .collect()
}

/// The nearest power of two below, so that scaling does not round.
fn power_of_two(x: f64) -> f64 {
    let y = x.log2().floor().exp2();
    if y.is_finite() && y > 0.0 { y } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Matrix;

    #[test]
    fn rows_and_columns_of_different_units_become_comparable() {
        let mut array = DerivativeArray::new(2, 2, 0);
        let entries = [[1.0, 1e5], [1e-7, 1e-2]];
        for i in 0..2 {
            for j in 0..2 {
                array.M[(i, j)] = entries[i][j];
            }
        }
        array.N = Matrix::zeros(2, 2);
        let mut scales = Scales::default();
        scales.choose(&array, &[1.0, 1.0]);
        for i in 0..2 {
            for j in 0..2 {
                let scaled = entries[i][j] * scales.rows[i] * scales.columns[2 + j];
                assert!(scaled > 0.05 && scaled < 2.0, "{scaled}");
            }
        }
    }
}
