//! The saddle point systems `[M Uᵀ; L 0] (a; λ) = (f; c)`, where the constraint matrices U above and L below may belong to two points.

use crate::linalg::{Lu, Matrix, Singular};

/// Factors of a saddle point matrix, and room for one right-hand side.
#[derive(Clone, Debug)]
pub struct Saddle {
    lu: Lu<f64>,
    /// Right-hand side (f; c) before, (a; λ) after [`Saddle::solve`].
    pub b: Vec<f64>,
    velocities: usize,
}

impl Saddle {
    /// For so many velocities and constraints.
    pub fn new(velocities: usize, constraints: usize) -> Self {
        let n = velocities + constraints;
        Saddle { lu: Lu::new(n), b: vec![0.0; n], velocities }
    }

    /// Decompose `[M Uᵀ; L 0]`.
    pub fn factor(&mut self, M: &Matrix, upper: &Matrix, lower: &Matrix) -> Result<(), Singular> {
        let n = self.velocities;
        let A = &mut self.lu.A;
        for i in 0..n {
            A.row_mut(i)[..n].copy_from_slice(M.row(i));
        }
        for k in 0..upper.rows() {
            for j in 0..n {
                A[(j, n + k)] = upper[(k, j)];
            }
            A.row_mut(n + k)[..n].copy_from_slice(lower.row(k));
            A.row_mut(n + k)[n..].fill(0.0);
        }
        self.lu.factor()
    }

    /// Solve for the right-hand side in [`Saddle::b`].
    pub fn solve(&mut self) {
        self.lu.solve(&mut self.b);
    }

    /// The upper part of b.
    pub fn top(&self) -> &[f64] {
        &self.b[..self.velocities]
    }

    /// The lower part of b.
    pub fn bottom(&self) -> &[f64] {
        &self.b[self.velocities..]
    }
}
