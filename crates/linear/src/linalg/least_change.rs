//! The least change that makes linear constraints hold: x ← x − W²Cᵀ(C W²Cᵀ)⁻¹ r for residuals r = C x + c, C of full row rank.
//!
//! Unknowns with a large weight move first: an error of a multiplier must not move positions.

use super::{Lu, Matrix};

/// Weight of unknowns with a differential equation; the others have one.
pub const MOVING_WEIGHT: f64 = 1e-6;

/// Room for the constraints.
#[derive(Clone, Debug)]
pub struct LeastChange {
    /// C Cᵀ
    gram: Lu<f64>,
    factors: Vec<f64>,
}

impl LeastChange {
    /// For a constraints.
    pub fn new(a: usize) -> Self {
        LeastChange { gram: Lu::new(a), factors: vec![0.0; a] }
    }

    /// Change x, each unknown with its weight w²; nothing happens where the rows of C are dependent.
    pub fn apply(&mut self, C: &Matrix, weights: &[f64], residuals: &[f64], x: &mut [f64]) {
        let a = C.rows();
        for i in 0..a {
            for j in 0..a {
                self.gram.A[(i, j)] = C.row(i).iter().zip(C.row(j)).zip(weights).map(|((x, y), w)| x * y * w).sum();
            }
        }
        if a == 0 || self.gram.factor().is_err() {
            return;
        }
        self.factors.copy_from_slice(residuals);
        self.gram.solve(&mut self.factors);
        for (i, factor) in self.factors.iter().enumerate() {
            x.iter_mut().zip(C.row(i)).zip(weights).for_each(|((x, c), w)| *x -= factor * w * c);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_point_of_a_line_is_found() {
        // x + 2 y = 5 from the origin
        let mut C = Matrix::zeros(1, 2);
        C[(0, 0)] = 1.0;
        C[(0, 1)] = 2.0;
        let mut x = [0.0, 0.0];
        LeastChange::new(1).apply(&C, &[1.0, 1.0], &[-5.0], &mut x);
        assert!((x[0] - 1.0).abs() < 1e-15 && (x[1] - 2.0).abs() < 1e-15);
        // the second one does not want to move
        let mut x = [0.0, 0.0];
        LeastChange::new(1).apply(&C, &[1.0, 1e-9], &[-5.0], &mut x);
        assert!((x[0] - 5.0).abs() < 1e-7 && x[1].abs() < 1e-7);
    }
}
