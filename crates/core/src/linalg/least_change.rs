//! The least change that makes linear constraints hold: x ← x − C⁺r for residuals r = C x + c, C of full row rank.

use super::{Lu, Matrix};

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

    /// Change x; nothing happens where the rows of C are dependent.
    pub fn apply(&mut self, C: &Matrix, residuals: &[f64], x: &mut [f64]) {
        let a = C.rows();
        for i in 0..a {
            for j in 0..a {
                self.gram.A[(i, j)] = C.row(i).iter().zip(C.row(j)).map(|(x, y)| x * y).sum();
            }
        }
        if a == 0 || self.gram.factor().is_err() {
            return;
        }
        self.factors.copy_from_slice(residuals);
        self.gram.solve(&mut self.factors);
        for (i, factor) in self.factors.iter().enumerate() {
            x.iter_mut().zip(C.row(i)).for_each(|(x, c)| *x -= factor * c);
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
        LeastChange::new(1).apply(&C, &[-5.0], &mut x);
        assert!((x[0] - 1.0).abs() < 1e-15 && (x[1] - 2.0).abs() < 1e-15);
    }
}
