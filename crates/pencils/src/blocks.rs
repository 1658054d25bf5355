//! Matrices put together from blocks.

use faer::Mat;

/// [X₁ X₂ …], side by side. All blocks have the same number of rows.
pub fn beside(blocks: &[&Mat<f64>]) -> Mat<f64> {
    let rows = blocks.first().map_or(0, |block| block.nrows());
    let mut all = Mat::zeros(rows, blocks.iter().map(|block| block.ncols()).sum());
    let mut at = 0;
    for block in blocks {
        put(&mut all, 0, at, block);
        at += block.ncols();
    }
    all
}

/// [X₁; X₂; …], one below the other. All blocks have the same number of columns.
pub fn below(blocks: &[&Mat<f64>]) -> Mat<f64> {
    let cols = blocks.first().map_or(0, |block| block.ncols());
    let mut all = Mat::zeros(blocks.iter().map(|block| block.nrows()).sum(), cols);
    let mut at = 0;
    for block in blocks {
        put(&mut all, at, 0, block);
        at += block.nrows();
    }
    all
}

/// Write a block with its upper left entry at (row, col).
pub fn put(target: &mut Mat<f64>, row: usize, col: usize, block: &Mat<f64>) {
    target.get_mut(row..row + block.nrows(), col..col + block.ncols()).copy_from(block);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_find_their_places_and_may_be_empty() {
        let (X, Y) = (faer::mat![[1.0, 2.0]], faer::mat![[3.0]]);
        assert_eq!(beside(&[&X, &Mat::zeros(1, 0), &Y]), faer::mat![[1.0, 2.0, 3.0]]);
        assert_eq!(below(&[&X, &Mat::zeros(0, 2), &X]), faer::mat![[1.0, 2.0], [1.0, 2.0]]);
    }
}
