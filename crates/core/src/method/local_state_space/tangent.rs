//! Tangent space parametrisation: coordinates of the tangent space at a point (p_k, v_k), completed in the metric of the mass matrix.
//!
//! ```text
//! p = p_k + Q₀ η + Q₁ η̄,   v = v_k + Q₀ ν + Q₁ ν̄,          K(p_k) Q₀ = 0,   Q₁ = −M(p_k)⁻¹ K(p_k)ᵀ
//! η' = W v,                ν' = W v',                       W = (Q₀ᵀ M Q₀)⁻¹ Q₀ᵀ M, the first rows of [Q₀ Q₁]⁻¹
//! ```
//! η̄ follows from g(p) = 0, ν̄ from K(p) v + k₀ = 0, both from systems `[M(p_k) K(p_k)ᵀ; K(p) 0]`, which need no M⁻¹. Positions have their
//! own Q₀ and Q₁, with G in the place of K, where there are nonholonomic constraints. Potra & Rheinboldt, Mech. Struct. Mach. 19 (1991);
//! Hairer & Wanner, Solving ODEs II, (VII.2.23), (2.24). Printed there are ν' = Q₀⁺ v', which is right for Q₁ = −Kᵀ only, and η' = ν, which
//! holds where ν does not measure the difference to v_k.

use super::{Coordinates, ENOUGH, MOST, largest, size_of};
use crate::linalg::{Jacobian, Lu, Matrix, Svd};
use crate::method::structural::{Saddle, StructuralEquations, Trouble};

/// No step may end where a direction of the tangent space needs a correction as large as this part of it: the tangent of the angle by which
/// the tangent space has turned.
const STEEP: f64 = 1.0;

/// The tangent space at a point.
pub(super) struct Tangent {
    /// p_k and v_k, as in x
    base: Vec<f64>,
    /// M(p_k)
    M: Matrix,
    positions: Space,
    velocities: Space,
}

/// The space of directions that some constraints allow.
struct Space {
    /// the constraint matrix at p_k, and at another point
    K: Matrix,
    now: Matrix,
    svd: Svd,
    Q0: Matrix,
    W: Matrix,
    /// Q₀ᵀ M Q₀
    S: Lu<f64>,
    column: Vec<f64>,
    saddle: Saddle,
}

impl Space {
    /// For m constraints of n coordinates.
    fn new(m: usize, n: usize) -> Self {
        let d = n - m;
        Space {
            K: Matrix::zeros(m, n),
            now: Matrix::zeros(m, n),
            svd: Svd::new(m, n),
            Q0: Matrix::zeros(n, d),
            W: Matrix::zeros(d, n),
            S: Lu::new(d),
            column: vec![0.0; d],
            saddle: Saddle::dense(n, m),
        }
    }

    /// Q₀ and W for the first rows of K.
    fn choose(&mut self, M: &Matrix, K: &Jacobian) -> Result<(), Trouble> {
        let (m, n) = (self.K.rows(), self.K.cols());
        for k in 0..m {
            K.row(k).for_each(|(j, entry)| self.K[(k, j)] = entry);
            for j in 0..n {
                self.svd.A[(k, j)] = K[(k, j)];
            }
        }
        self.svd.factor().map_err(|_| Trouble::Singular)?;
        for i in 0..n {
            for j in 0..n - m {
                self.Q0[(i, j)] = self.svd.V[(i, m + j)];
            }
        }
        // W ← Q₀ᵀ M, then S⁻¹ from the left
        for j in 0..n - m {
            for i in 0..n {
                self.W[(j, i)] = (0..n).map(|l| self.Q0[(l, j)] * M[(l, i)]).sum();
            }
        }
        for j in 0..n - m {
            for i in 0..n - m {
                self.S.A[(j, i)] = (0..n).map(|l| self.W[(j, l)] * self.Q0[(l, i)]).sum();
            }
        }
        self.S.factor().map_err(|_| Trouble::Singular)?;
        for i in 0..n {
            for j in 0..n - m {
                self.column[j] = self.W[(j, i)];
            }
            self.S.solve(&mut self.column);
            for j in 0..n - m {
                self.W[(j, i)] = self.column[j];
            }
        }
        Ok(())
    }

    /// out ← Q₀ y.
    fn span(&self, y: &[f64], out: &mut [f64]) {
        for (i, out) in out.iter_mut().enumerate() {
            *out = self.Q0.row(i).iter().zip(y).map(|(q, y)| q * y).sum();
        }
    }

    /// y ← W x, for the entries x(i).
    fn measure(&self, x: impl Fn(usize) -> f64, y: &mut [f64]) {
        for (j, y) in y.iter_mut().enumerate() {
            *y = self.W.row(j).iter().enumerate().map(|(i, w)| w * x(i)).sum();
        }
    }

    /// The correction δ in the range of Q₁ with K δ = −residual, in the upper part of the saddle; its residual stands in the lower part.
    fn correct(&mut self, M: &Matrix, K: &Jacobian) -> Result<&[f64], Trouble> {
        let n = self.K.cols();
        for k in 0..self.now.rows() {
            K.row(k).for_each(|(j, entry)| self.now[(k, j)] = entry);
        }
        self.saddle.factor(M, &self.K, &self.now).map_err(|_| Trouble::Singular)?;
        self.saddle.b[..n].fill(0.0);
        self.saddle.b[n..].iter_mut().for_each(|b| *b = -*b);
        self.saddle.solve();
        Ok(self.saddle.top())
    }

    /// The largest entry of a correction that brings a column of Q₀ into the null space of K, which belongs to the factors.
    fn largest_correction(&mut self, K: &Jacobian) -> f64 {
        let n = self.K.cols();
        let mut largest = 0.0_f64;
        for j in 0..self.column.len() {
            if self.K.rows() == 0 {
                break;
            }
            self.saddle.b[..n].fill(0.0);
            for k in 0..self.K.rows() {
                self.saddle.b[n + k] = -K.row(k).map(|(i, k)| k * self.Q0[(i, j)]).sum::<f64>();
            }
            self.saddle.solve();
            largest = self.saddle.top().iter().fold(largest, |largest, d| largest.max(d.abs()));
        }
        largest
    }
}

impl Tangent {
    pub fn new(equations: &StructuralEquations) -> Self {
        let l = equations.layout();
        let (n, m) = (l.v().len(), l.lambda().len());
        Tangent {
            base: vec![0.0; l.dim()],
            M: Matrix::zeros(n, n),
            positions: Space::new(m, n),
            velocities: Space::new(equations.constraints(), n),
        }
    }
}

impl Coordinates for Tangent {
    fn degrees(&self) -> [usize; 2] {
        [self.positions.column.len(), self.velocities.column.len()]
    }

    fn choose(&mut self, equations: &StructuralEquations, x: &[f64]) -> Result<(), Trouble> {
        self.base.copy_from_slice(x);
        equations.M.copy_to(&mut self.M, 0);
        self.positions.choose(&self.M, &equations.K)?;
        self.velocities.choose(&self.M, &equations.K)
    }

    /// A tangent space serves one step.
    fn worn(&mut self, _: &StructuralEquations) -> bool {
        true
    }

    fn steep(&mut self, equations: &StructuralEquations) -> bool {
        self.velocities.largest_correction(&equations.K) > STEEP
    }

    /// η = W (p − p_k), ν = W (v − v_k).
    fn coordinates(&self, equations: &StructuralEquations, x: &[f64], y: &mut [f64]) {
        let (p, v) = (equations.layout().p(), equations.layout().v());
        let (eta, nu) = y.split_at_mut(self.degrees()[0]);
        let from_base = |j: usize| x[j] - self.base[j];
        self.positions.measure(|i| from_base(p.start + i), eta);
        self.velocities.measure(|i| from_base(v.start + i), nu);
    }

    fn lift(&mut self, equations: &mut StructuralEquations, t: f64, y: &[f64], x: &mut [f64]) -> Result<(), Trouble> {
        let (p, v) = (equations.layout().p(), equations.layout().v());
        let n = v.len();
        let (eta, nu) = y.split_at(self.degrees()[0]);
        self.positions.span(eta, &mut x[p.clone()]);
        x[p.clone()].iter_mut().zip(&self.base[p.clone()]).for_each(|(x, base)| *x += base);
        equations.at_position(t, x)?;
        let mut last = f64::INFINITY;
        for iteration in 0.. {
            if equations.g.is_empty() {
                break;
            }
            self.positions.saddle.b[n..].copy_from_slice(&equations.g);
            equations.statistics.decompositions += 1;
            let correction = self.positions.correct(&self.M, &equations.K)?;
            let positions = &mut x[p.clone()];
            positions.iter_mut().zip(correction).for_each(|(x, d)| *x += d);
            let both = correction.iter().copied().zip(positions.iter().copied());
            let size = size_of(both, largest(positions));
            equations.at_position(t, x)?;
            if size < ENOUGH {
                break;
            }
            if iteration >= MOST || !(size < last) {
                return Err(Trouble::Diverged);
            }
            last = size;
        }
        self.velocities.span(nu, &mut x[v.clone()]);
        x[v.clone()].iter_mut().zip(&self.base[v.clone()]).for_each(|(x, base)| *x += base);
        if !equations.k0.is_empty() {
            for (k, b) in self.velocities.saddle.b[n..].iter_mut().enumerate() {
                *b = equations.K.row_times(k, &x[v.clone()]) + equations.k0[k];
            }
            equations.statistics.decompositions += 1;
            let correction = self.velocities.correct(&self.M, &equations.K)?;
            x[v].iter_mut().zip(correction).for_each(|(x, d)| *x += d);
        }
        Ok(())
    }

    fn slope(&self, equations: &StructuralEquations, x: &[f64], ydot: &mut [f64]) {
        let l = equations.layout();
        let (eta, nu) = ydot.split_at_mut(self.degrees()[0]);
        self.positions.measure(|i| x[l.v().start + i], eta);
        self.velocities.measure(|i| x[l.a().start + i], nu);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_basis_is_free_and_its_inverse_takes_off_what_the_constraints_hold() {
        let (mut M, mut K) = (Matrix::zeros(3, 3), Matrix::zeros(1, 3));
        for (i, row) in [[2.0, 0.3, 0.0], [0.3, 1.0, 0.2], [0.0, 0.2, 4.0]].iter().enumerate() {
            M.row_mut(i).copy_from_slice(row);
        }
        K.row_mut(0).copy_from_slice(&[1.0, -2.0, 0.5]);
        let K = Jacobian::Dense(K);
        let mut space = Space::new(1, 3);
        space.choose(&M, &K).unwrap();
        // K Q₀ = 0 and W Q₀ = I
        let (mut direction, mut y) = ([0.0; 3], [0.0; 2]);
        space.span(&[0.7, -0.4], &mut direction);
        assert!(K.row_times(0, &direction).abs() < 1e-15);
        space.measure(|i| direction[i], &mut y);
        assert!((y[0] - 0.7).abs() < 1e-15 && (y[1] + 0.4).abs() < 1e-15, "{y:?}");
        // W Q₁ = 0, also for the correction of another point: it lies in the range of M⁻¹Kᵀ
        let mut beside = Matrix::zeros(1, 3);
        beside.row_mut(0).copy_from_slice(&[0.9, -2.1, 0.8]);
        let beside = Jacobian::Dense(beside);
        space.saddle.b[3] = 0.5;
        let correction = space.correct(&M, &beside).unwrap().to_vec();
        let product = beside.row_times(0, &correction);
        assert!((product + 0.5).abs() < 1e-14, "{product}");
        space.measure(|i| correction[i], &mut y);
        assert!(y.iter().all(|y| y.abs() < 1e-15), "{y:?}");
        // a tangent space that has turned needs corrections
        assert!((0.05..0.5).contains(&space.largest_correction(&beside)));
    }
}
