//! Sums x₀ + h Σ wⱼ kⱼ of the rates of an explicit pair, over the weights that are not zero, in one pass over the unknowns.
//!
//! Loops are compiled twice, for any processor and for those with registers of four numbers; which one runs is found out at the start. Every number is
//! made of the same operations in the same order, so that no bit depends on it.

use super::ExplicitTableau;
use crate::method::sums::sum_of;
use pulp::{Arch, Simd, WithSimd};

/// From this number of unknowns on a wider register pays for finding out which one there is.
const WIDE: usize = 12;
/// Most weights of a sum that are not zero.
const MOST_TERMS: usize = 16;

/// The sums of a tableau.
pub(super) struct StageSums {
    /// Of every stage.
    pub stages: Vec<WeightedSum>,
    /// Of the estimates of the error.
    pub errors: Vec<WeightedSum>,
}

impl StageSums {
    pub fn new(tableau: &ExplicitTableau) -> Self {
        let of = |rows: &[&[f64]]| rows.iter().map(|row| WeightedSum::new(row)).collect();
        StageSums { stages: of(tableau.A), errors: of(tableau.error) }
    }
}

/// Weights that are not zero, and the rates that they belong to.
pub(super) struct WeightedSum {
    weights: [f64; MOST_TERMS],
    rates: [usize; MOST_TERMS],
    terms: usize,
    processor: Arch,
}

impl WeightedSum {
    fn new(row: &[f64]) -> Self {
        let processor = Arch::new();
        let mut sum = WeightedSum { weights: [0.0; MOST_TERMS], rates: [0; MOST_TERMS], terms: 0, processor };
        for (j, &weight) in row.iter().enumerate().filter(|(_, weight)| **weight != 0.0) {
            (sum.weights[sum.terms], sum.rates[sum.terms]) = (weight, j);
            sum.terms += 1;
        }
        sum
    }

    /// out = x₀ + h Σ wⱼ kⱼ of rates that stand one behind the other.
    pub fn step(&self, x0: &[f64], h: f64, k: &[f64], out: &mut [f64]) {
        // the number of terms is known to the compiler
        match self.terms {
            1 => self.step_of::<1>(x0, h, k, out),
            2 => self.step_of::<2>(x0, h, k, out),
            3 => self.step_of::<3>(x0, h, k, out),
            4 => self.step_of::<4>(x0, h, k, out),
            5 => self.step_of::<5>(x0, h, k, out),
            6 => self.step_of::<6>(x0, h, k, out),
            7 => self.step_of::<7>(x0, h, k, out),
            8 => self.step_of::<8>(x0, h, k, out),
            9 => self.step_of::<9>(x0, h, k, out),
            10 => self.step_of::<10>(x0, h, k, out),
            _ => self.step_of_any(x0, h, k, out),
        }
    }

    fn step_of<const T: usize>(&self, x0: &[f64], h: f64, k: &[f64], out: &mut [f64]) {
        let n = out.len();
        let w: [f64; T] = std::array::from_fn(|j| self.weights[j]);
        let k: [&[f64]; T] = std::array::from_fn(|j| &k[self.rates[j] * n..][..n]);
        let sum = Pass { w, k, x0: &x0[..n], h, out };
        if n < WIDE { sum.make() } else { self.processor.dispatch(sum) }
    }

    fn step_of_any(&self, x0: &[f64], h: f64, k: &[f64], out: &mut [f64]) {
        let n = out.len();
        let terms = || self.weights.iter().zip(&self.rates).take(self.terms);
        for (i, (out, x0)) in out.iter_mut().zip(x0).enumerate() {
            *out = x0 + h * terms().map(|(w, j)| w * k[j * n + i]).sum::<f64>();
        }
    }
}

/// One pass over the unknowns.
struct Pass<'s, const T: usize> {
    w: [f64; T],
    k: [&'s [f64]; T],
    x0: &'s [f64],
    h: f64,
    out: &'s mut [f64],
}

impl<const T: usize> Pass<'_, T> {
    #[inline(always)]
    fn make(self) {
        let Pass { w, k, x0, h, out } = self;
        let n = out.len();
        let (x0, k) = (&x0[..n], k.map(|k| &k[..n]));
        for i in 0..n {
            out[i] = x0[i] + h * sum_of(&w, &k.map(|k| k[i]));
        }
    }
}

impl<const T: usize> WithSimd for Pass<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.make();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::explicit::Pair;

    #[test]
    fn terms_without_weight_are_left_out_of_sums_of_any_length() {
        for (n, pair) in [(5, Pair::Order5), (5, Pair::Order8), (31, Pair::Order5), (31, Pair::Order8)] {
            let tableau = pair.tableau();
            let k: Vec<f64> = (0..n * tableau.A.len()).map(|i| (i as f64).sin()).collect();
            let (x0, h): (Vec<f64>, f64) = ((0..n).map(|i| (i as f64).cos()).collect(), 0.1);
            let mut out = vec![0.0; n];
            let sums = StageSums::new(tableau);
            for (sum, row) in sums.stages.iter().zip(tableau.A).chain(sums.errors.iter().zip(tableau.error)) {
                sum.step(&x0, h, &k, &mut out);
                for i in 0..n {
                    let expected = x0[i] + h * row.iter().enumerate().map(|(j, w)| w * k[j * n + i]).sum::<f64>();
                    assert_eq!(out[i], expected, "{}: {row:?}", tableau.name);
                }
            }
        }
    }
}
