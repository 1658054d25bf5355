//! Of all multipliers λ with the same force Kᵀλ the smallest ones, for a sparse K with dependent rows.
//!
//! ```text
//! min ½ λᵀWλ,   W = diag K D⁻¹ Kᵀ,   A = W^{-1/2} K D^{-1/2},   W^{1/2} λ_min = A y,   min ‖W^{1/2} λ − A y‖
//! ```
//! D is the diagonal of the mass matrix, so that rows of different units are compared. The rows of A have length one, and λ_min is a projection onto its range.
//! y is refined with AᵀA + δ, which is solved with as `[δ Aᵀ; A −1] (z; A z) = (s; 0)`: no product AᵀA, which a column with many entries would fill. Errors in the
//! direction of a singular value σ fall by δ/(σ² + δ) each time. Directions that A does not see have no effect, so there is no division by a length of y, as
//! conjugate gradients would have it: rounding in these directions is divided by δ. Björck, Numerical Methods for Least Squares Problems, 2.7.4.

use super::{Singular, SparseLu, SparseMatrix, norm};

/// δ, rows of A having length one. Derived: rounding of the factors is below it, and singular values down to 1e-6 need a few iterations only.
const DAMPING: f64 = 1e-12;
/// Most refinements, the part of λ that the last one changes, and the part of the last change that the next one must stay below. Chosen.
const MOST: usize = 40;
const ENOUGH: f64 = 1e-15;
const STALLED: f64 = 0.9;

/// Factors for matrices of one pattern.
pub struct LeastMultipliers {
    lu: Option<SparseLu<f64>>,
    /// where the values of A stand, above and below
    upper: Vec<usize>,
    lower: Vec<usize>,
    A: SparseMatrix,
    /// W^{1/2}
    sizes: Vec<f64>,
    /// (s; 0) before, (x; z) after
    b: Vec<f64>,
    /// λ − A y, and A z
    rest: Vec<f64>,
    along: Vec<f64>,
}

impl LeastMultipliers {
    /// For matrices of the pattern of K.
    pub fn new(K: &SparseMatrix) -> Self {
        let A = K.clone();
        let (m, n) = (A.rows(), A.cols());
        let diagonal = (0..n + m).map(|j| (j, j));
        let places = diagonal.chain(A.places().map(|(i, j)| (j, n + i))).chain(A.places().map(|(i, j)| (n + i, j)));
        let (mut lu, positions) = SparseLu::of_places(n + m, &places.collect::<Vec<_>>());
        if let Some(lu) = &mut lu {
            positions[..n].iter().for_each(|&k| lu.values[k] = DAMPING);
            positions[n..n + m].iter().for_each(|&k| lu.values[k] = -1.0);
        }
        let (upper, lower) = positions[n + m..].split_at(A.values().len());
        LeastMultipliers {
            lu,
            upper: upper.to_vec(),
            lower: lower.to_vec(),
            A,
            sizes: vec![1.0; m],
            b: vec![0.0; n + m],
            rest: vec![0.0; m],
            along: vec![0.0; m],
        }
    }

    /// λ ← the smallest one with the same Kᵀλ; `columns` is the diagonal of D^{-1/2}. Where there is none, λ stays.
    pub fn project(&mut self, K: &SparseMatrix, columns: &[f64], lambda: &mut [f64]) -> Result<(), Singular> {
        self.take(K, columns);
        let Self { lu: Some(lu), A, sizes, .. } = self else { return Err(Singular { column: 0 }) };
        for ((&above, &below), &value) in self.upper.iter().zip(&self.lower).zip(A.values()) {
            (lu.values[above], lu.values[below]) = (value, value);
        }
        lu.factor()?;
        let n = A.cols();
        let scaled = lambda.iter().zip(&*sizes).map(|(lambda, size)| lambda * size);
        self.rest.iter_mut().zip(scaled).for_each(|(rest, lambda)| *rest = lambda);
        let given = norm(&self.rest);
        lambda.fill(0.0);
        let mut last = f64::INFINITY;
        for _ in 0..MOST {
            // (AᵀA + δ) z = Aᵀ(λ − A y)
            self.b.fill(0.0);
            A.add_transposed_times(&self.rest, &mut self.b[..n]);
            lu.solve(&mut self.b);
            (0..A.rows()).for_each(|i| self.along[i] = A.row_times(i, &self.b[..n]));
            let change = norm(&self.along);
            // rounding does not become smaller
            if !(change < STALLED * last) {
                break;
            }
            for ((lambda, rest), along) in lambda.iter_mut().zip(&mut self.rest).zip(&self.along) {
                *lambda += along;
                *rest -= along;
            }
            if change <= ENOUGH * given {
                break;
            }
            last = change;
        }
        lambda.iter_mut().zip(&*sizes).for_each(|(lambda, size)| *lambda /= size);
        Ok(())
    }

    /// A and W^{1/2}.
    fn take(&mut self, K: &SparseMatrix, columns: &[f64]) {
        self.A.take_rows(K, 0);
        for (i, size) in self.sizes.iter_mut().enumerate() {
            self.A.scale_row(i, 1.0, columns);
            let row = self.A.row_mut(i);
            let length = norm(row);
            *size = if length > 0.0 { length } else { 1.0 };
            for a in row.iter_mut() {
                *a /= *size;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Svd;

    /// n masses in a row, neighbours held by two rows of which the second is a multiple of the first, and every other one held to the ground, or none.
    fn row_of_masses(n: usize, held: bool) -> SparseMatrix {
        let links = (0..n - 1).flat_map(|k| [(2 * k, k), (2 * k, k + 1), (2 * k + 1, k), (2 * k + 1, k + 1)]);
        let grounds = if held { n.div_ceil(2) } else { 0 };
        let ground = (0..grounds).map(|k| (2 * (n - 1) + k, 2 * k));
        let mut A = SparseMatrix::new(2 * (n - 1) + grounds, n, links.chain(ground).collect());
        for i in 0..A.rows() {
            let row = A.row_mut(i);
            match row.len() {
                1 => row[0] = 1.0,
                _ => row.copy_from_slice(&[0.6, -0.8].map(|a| if i % 2 == 0 { a } else { -a })),
            }
        }
        A
    }

    #[test]
    fn the_least_multipliers_are_those_of_singular_values() {
        // without the ground there is a motion that A does not see
        for (n, held) in [(2, true), (5, true), (40, true), (2, false), (5, false), (40, false)] {
            let A = row_of_masses(n, held);
            let m = A.rows();
            let given: Vec<f64> = (0..m).map(|i| (1.3 * i as f64).sin() + 2.0).collect();
            let mut svd = Svd::new(m, n);
            A.places().zip(A.values()).for_each(|((i, j), &a)| svd.A[(i, j)] = a);
            svd.factor().unwrap();
            let rank = svd.rank(1e-10);
            assert!(rank < m);
            let mut expected = vec![0.0; m];
            for k in 0..rank {
                let along: f64 = (0..m).map(|i| svd.U[(i, k)] * given[i]).sum();
                (0..m).for_each(|i| expected[i] += svd.U[(i, k)] * along);
            }
            let mut least = LeastMultipliers::new(&A);
            for _ in 0..2 {
                let mut lambda = given.clone();
                least.project(&A, &vec![1.0; n], &mut lambda).unwrap();
                let error = lambda.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(error < 1e-12, "{n}: {error:e}");
            }
        }
    }

    #[test]
    fn forces_of_long_rows_are_kept() {
        let A = row_of_masses(3_001, true);
        let given: Vec<f64> = (0..A.rows()).map(|i| f64::from(u8::from(i % 7 == 0))).collect();
        let force = |lambda: &[f64]| {
            let mut force = vec![0.0; A.cols()];
            A.add_transposed_times(lambda, &mut force);
            force
        };
        let mut lambda = given.clone();
        LeastMultipliers::new(&A).project(&A, &vec![1.0; A.cols()], &mut lambda).unwrap();
        let error = force(&lambda).iter().zip(force(&given)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(error < 1e-12, "{error:e}");
        assert!(norm(&lambda) < norm(&given));
    }

    #[test]
    fn units_of_rows_do_not_matter() {
        // one mass held twice: the force is shared by the rows as their sizes are, whatever these are
        let mut K = SparseMatrix::new(2, 1, vec![(0, 0), (1, 0)]);
        K.values_mut().copy_from_slice(&[1e-3, 2.0]);
        let mut lambda = [0.0, 3.0];
        LeastMultipliers::new(&K).project(&K, &[0.5], &mut lambda).unwrap();
        assert!((lambda[0] * 1e-3 - 3.0).abs() < 1e-12 && (lambda[1] * 2.0 - 3.0).abs() < 1e-12, "{lambda:?}");
    }
}
