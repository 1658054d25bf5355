//! LU decomposition with complete pivoting of one block of a larger matrix; reveals the rank.

use super::Matrix;
use std::ops::Range;

/// L⁻¹ Π F P = [R S; 0 0] for the block of F at given rows and columns. The row transform reaches every column to the right
/// of the block as well; the column exchanges are carried out in all rows of F.
#[derive(Clone, Debug)]
pub struct CompleteLu {
    rows: Range<usize>,
    swaps: Vec<usize>,
    rank: usize,
}

impl CompleteLu {
    /// For the block at these rows.
    pub fn new(rows: Range<usize>) -> Self {
        CompleteLu { swaps: vec![0; rows.len()], rows, rank: 0 }
    }

    /// Decompose in place: afterwards the first `rank` rows of the block hold R in the first `rank` of its columns. Pivots not
    /// larger than `threshold` count as zero. `order` follows the columns of F. Returns the rank.
    pub fn factor(&mut self, F: &mut Matrix, cols: &Range<usize>, threshold: f64, order: &mut [usize]) -> usize {
        let (first, end) = (self.rows.start, self.rows.end);
        self.rank = self.rows.len().min(cols.len());
        for k in 0..self.rank {
            let (row, col) = (first + k, cols.start + k);
            let mut best = (row, col, 0.0_f64);
            for i in row..end {
                for (j, x) in F.row(i)[col..cols.end].iter().enumerate() {
                    if x.abs() > best.2 {
                        best = (i, col + j, x.abs());
                    }
                }
            }
            if best.2 <= threshold {
                self.rank = k;
                break;
            }
            self.swaps[k] = best.0;
            F.swap_rows(row, best.0);
            swap_columns(F, col, best.1, order);
            for i in row + 1..end {
                let (pivot, target) = F.row_pair(row, i);
                let l = target[col] / pivot[col];
                target[col] = l;
                if l != 0.0 {
                    for (t, p) in target[col + 1..].iter_mut().zip(&pivot[col + 1..]) {
                        *t -= l * p;
                    }
                }
            }
        }
        self.rank
    }

    /// b ← first `rank` entries of L⁻¹ Π b, for b over the rows of the block.
    pub fn transform(&self, F: &Matrix, cols: &Range<usize>, b: &mut [f64]) {
        // the multipliers stand where later exchanges have put them: exchange first
        for k in 0..self.rank {
            b.swap(k, self.swaps[k] - self.rows.start);
        }
        for i in 1..self.rows.len() {
            let (solved, rest) = b.split_at_mut(i);
            let multipliers = &F.row(self.rows.start + i)[cols.start..cols.start + i.min(self.rank)];
            rest[0] -= multipliers.iter().zip(solved.iter()).map(|(l, b)| l * b).sum::<f64>();
        }
    }
}

/// Exchange two columns in all rows.
pub fn swap_columns(F: &mut Matrix, j: usize, k: usize, order: &mut [usize]) {
    if j != k {
        for i in 0..F.rows() {
            F.row_mut(i).swap(j, k);
        }
        order.swap(j, k);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_exchanges_and_eliminations_are_applied_in_the_right_order() {
        let rows = [[0.1, 0.2, 9.0, 0.3], [5.0, 1.0, 0.4, 0.2], [0.3, -7.0, 2.0, 1.0], [1.0, 2.0, 3.0, 8.0]];
        let x = [0.3, -1.0, 2.0, 0.7];
        let mut F = Matrix::zeros(4, 4);
        let mut b = [0.0; 4];
        for i in 0..4 {
            F.row_mut(i).copy_from_slice(&rows[i]);
            b[i] = (0..4).map(|j| rows[i][j] * x[j]).sum();
        }
        let mut order = [0, 1, 2, 3];
        let mut lu = CompleteLu::new(0..4);
        assert_eq!(lu.factor(&mut F, &(0..4), 1e-12, &mut order), 4);
        lu.transform(&F, &(0..4), &mut b);
        for i in 0..4 {
            let sum: f64 = (i..4).map(|j| F[(i, j)] * x[order[j]]).sum();
            assert!((sum - b[i]).abs() < 1e-13);
        }
    }

    #[test]
    fn the_rank_of_a_product_is_found_and_the_transform_is_the_same_for_the_right_hand_side() {
        // rank 2: third row is the sum of the first two
        let rows = [[1.0, 2.0, 0.5, 3.0], [0.0, 1.0, -4.0, 1.0], [1.0, 3.0, -3.5, 4.0]];
        let x = [0.3, -1.0, 2.0, 0.7];
        let mut F = Matrix::zeros(3, 4);
        let mut b = [0.0; 3];
        for i in 0..3 {
            F.row_mut(i).copy_from_slice(&rows[i]);
            b[i] = (0..4).map(|j| rows[i][j] * x[j]).sum();
        }
        let mut order = [0, 1, 2, 3];
        let mut lu = CompleteLu::new(0..3);
        assert_eq!(lu.factor(&mut F, &(0..3), 1e-12, &mut order), 2);
        lu.transform(&F, &(0..3), &mut b);
        // R x = b in the new order of columns
        for i in 0..2 {
            let sum: f64 = (i..4).map(|j| F[(i, j)] * x[order[j]]).sum();
            assert!((sum - b[i]).abs() < 1e-14);
        }
        assert!(b[2].abs() < 1e-14);
    }
}
