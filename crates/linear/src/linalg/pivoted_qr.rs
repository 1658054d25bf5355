//! QR decomposition with column pivoting of one block of a larger matrix; reveals the rank. Golub & Van Loan, 5.4.2.

use super::Matrix;
use super::complete_lu::swap_columns;
use std::ops::Range;

/// Qᵀ F P = [R S; 0 0] for the block of F at given rows and columns, with the reflectors applied to every column to the right.
#[derive(Clone, Debug)]
pub struct PivotedQr {
    rows: Range<usize>,
    /// reflector k is I − βₖ uuᵀ with u = (1, below the diagonal of column k)
    beta: Vec<f64>,
    products: Vec<f64>,
    rank: usize,
}

impl PivotedQr {
    /// For the block at these rows of a matrix with `n` columns.
    pub fn new(rows: Range<usize>, n: usize) -> Self {
        PivotedQr { beta: vec![0.0; rows.len()], rows, products: vec![0.0; n], rank: 0 }
    }

    /// Decompose in place; see [`CompleteLu::factor`](super::CompleteLu::factor) for the meaning of the arguments.
    pub fn factor(&mut self, F: &mut Matrix, cols: &Range<usize>, threshold: f64, order: &mut [usize]) -> usize {
        let (first, end) = (self.rows.start, self.rows.end);
        let n = F.cols();
        self.rank = self.rows.len().min(cols.len());
        for k in 0..self.rank {
            let (row, col) = (first + k, cols.start + k);
            // column with the largest norm below row k; the blocks are small, so norms are not downdated
            let norms = &mut self.products[col..cols.end];
            norms.fill(0.0);
            for i in row..end {
                for (norm, x) in norms.iter_mut().zip(&F.row(i)[col..cols.end]) {
                    *norm += x * x;
                }
            }
            let mut best = (col, 0.0);
            for (j, &norm) in norms.iter().enumerate() {
                if norm > best.1 {
                    best = (col + j, norm);
                }
            }
            let norm = best.1.sqrt();
            if norm <= threshold {
                self.rank = k;
                break;
            }
            swap_columns(F, col, best.0, order);
            // u₀ = x₀ + sign(x₀)‖x‖, scaled to 1
            let x0 = F[(row, col)];
            let alpha = if x0 >= 0.0 { -norm } else { norm };
            let u0 = x0 - alpha;
            self.beta[k] = -u0 / alpha;
            for i in row + 1..end {
                F[(i, col)] /= u0;
            }
            F[(row, col)] = alpha;
            // (I − β u uᵀ) on the columns to the right
            let beta = self.beta[k];
            let products = &mut self.products[col + 1..n];
            products.copy_from_slice(&F.row(row)[col + 1..n]);
            for i in row + 1..end {
                let u = F[(i, col)];
                for (product, x) in products.iter_mut().zip(&F.row(i)[col + 1..n]) {
                    *product += u * x;
                }
            }
            for (x, product) in F.row_mut(row)[col + 1..n].iter_mut().zip(products.iter()) {
                *x -= beta * product;
            }
            for i in row + 1..end {
                let u = beta * F[(i, col)];
                for (x, product) in F.row_mut(i)[col + 1..n].iter_mut().zip(products.iter()) {
                    *x -= u * product;
                }
            }
        }
        self.rank
    }

    /// b ← Qᵀ b over the rows of the block; its first `rank` entries belong to R.
    pub fn transform(&self, F: &Matrix, cols: &Range<usize>, b: &mut [f64]) {
        for k in 0..self.rank {
            let col = cols.start + k;
            let mut product = b[k];
            for i in k + 1..self.rows.len() {
                product += F[(self.rows.start + i, col)] * b[i];
            }
            product *= self.beta[k];
            b[k] -= product;
            for i in k + 1..self.rows.len() {
                b[i] -= product * F[(self.rows.start + i, col)];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rank_is_found_and_the_right_hand_side_follows() {
        let rows = [[1.0, 2.0, 0.5, 3.0], [0.0, 1.0, -4.0, 1.0], [1.0, 3.0, -3.5, 4.0]];
        let x = [0.3, -1.0, 2.0, 0.7];
        let mut F = Matrix::zeros(3, 4);
        let mut b = [0.0; 3];
        for i in 0..3 {
            F.row_mut(i).copy_from_slice(&rows[i]);
            b[i] = (0..4).map(|j| rows[i][j] * x[j]).sum();
        }
        let mut order = [0, 1, 2, 3];
        let mut qr = PivotedQr::new(0..3, 4);
        assert_eq!(qr.factor(&mut F, &(0..3), 1e-12, &mut order), 2);
        qr.transform(&F, &(0..3), &mut b);
        for i in 0..2 {
            let sum: f64 = (i..4).map(|j| F[(i, j)] * x[order[j]]).sum();
            assert!((sum - b[i]).abs() < 1e-14);
        }
        assert!(b[2].abs() < 1e-14);
    }
}
