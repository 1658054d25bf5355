//! Generalised coordinate partitioning: η = p_I and ν = v_I are some of the positions and velocities, the others depend on them.
//!
//! ```text
//! p_D ← p_D − G_D⁻¹ g(p),     v_D = −K_D⁻¹ (K_I v_I + k₀),     η' = v_I,   ν' = v'_I
//! ```
//! The dependent ones are the pivots of a QR decomposition of G, and of K for the velocities, with column pivoting. Wehage & Haug,
//! J. Mech. Design 104 (1982); Hairer & Wanner, Solving ODEs II, (VII.2.21), (2.22).

use super::{Coordinates, ENOUGH, MOST, largest, size_of};
use crate::linalg::{Jacobian, Lu, Matrix, PivotedQr};
use crate::method::structural::{StructuralEquations, Trouble};
use std::ops::Range;

/// A partition is left when the largest entry of K_D⁻¹K_I, which is the slope of the dependent coordinates, has grown by this factor, or from
/// less than 1 to it.
const WORN: f64 = 2.0;
/// No step may end where it has grown by this factor.
const STEEP: f64 = 4.0;

/// Which positions and velocities are independent.
pub(super) struct Partition {
    positions: CoordinateBlock,
    velocities: CoordinateBlock,
}

/// Dependent and independent columns of the first rows of K.
struct CoordinateBlock {
    /// first the dependent ones, then the independent ones
    order: Vec<usize>,
    /// the slope where they were chosen, 1 at least
    slope: f64,
    qr: PivotedQr,
    work: Matrix,
    lu: Lu<f64>,
    b: Vec<f64>,
}

impl CoordinateBlock {
    /// For m constraints of n coordinates.
    fn new(m: usize, n: usize) -> Self {
        CoordinateBlock {
            order: (0..n).collect(),
            slope: 1.0,
            qr: PivotedQr::new(0..m, n),
            work: Matrix::zeros(m, n),
            lu: Lu::new(m),
            b: vec![0.0; m],
        }
    }

    fn dependent(&self) -> &[usize] {
        &self.order[..self.b.len()]
    }

    fn independent(&self) -> &[usize] {
        &self.order[self.b.len()..]
    }

    fn choose(&mut self, K: &Jacobian) -> Result<(), Trouble> {
        let m = self.b.len();
        for k in 0..m {
            let row = self.work.row_mut(k);
            row.fill(0.0);
            K.row(k).for_each(|(j, entry)| row[j] = entry);
        }
        let n = self.order.len();
        self.order.iter_mut().enumerate().for_each(|(j, place)| *place = j);
        if self.qr.factor(&mut self.work, &(0..n), 0.0, &mut self.order) < m {
            return Err(Trouble::Singular);
        }
        self.factor(K)?;
        self.slope = self.largest_slope(K).max(1.0);
        Ok(())
    }

    /// Decompose K_D.
    fn factor(&mut self, K: &Jacobian) -> Result<(), Trouble> {
        for k in 0..self.b.len() {
            for i in 0..self.b.len() {
                self.lu.A[(k, i)] = K[(k, self.order[i])];
            }
        }
        self.lu.factor().map_err(|_| Trouble::Singular)
    }

    /// The largest entry of K_D⁻¹K_I; K_D is decomposed.
    fn largest_slope(&mut self, K: &Jacobian) -> f64 {
        let m = self.b.len();
        let mut largest = 0.0_f64;
        for j in m..self.order.len() {
            for k in 0..m {
                self.b[k] = K[(k, self.order[j])];
            }
            self.lu.solve(&mut self.b);
            largest = self.b.iter().fold(largest, |largest, slope| largest.max(slope.abs()));
        }
        largest
    }

    /// Has the slope grown by this factor?
    fn grown(&mut self, factor: f64, K: &Jacobian) -> bool {
        self.factor(K).is_err() || !(self.largest_slope(K) <= factor * self.slope)
    }

    /// x_D = −K_D⁻¹ (K_I x_I + k₀), where K_D is decomposed.
    fn complete(&mut self, K: &Jacobian, k0: &[f64], x: &mut [f64]) {
        let m = self.b.len();
        for k in 0..m {
            let sum: f64 = self.order[m..].iter().map(|&j| K[(k, j)] * x[j]).sum();
            self.b[k] = -(sum + k0[k]);
        }
        self.lu.solve(&mut self.b);
        for (&j, b) in self.order[..m].iter().zip(&self.b) {
            x[j] = *b;
        }
    }

    /// The independent ones of x.
    fn read(&self, x: &[f64], y: &mut [f64]) {
        self.independent().iter().zip(y).for_each(|(&j, y)| *y = x[j]);
    }

    /// Set the independent ones of x.
    fn write(&self, y: &[f64], x: &mut [f64]) {
        self.independent().iter().zip(y).for_each(|(&j, y)| x[j] = *y);
    }
}

impl Partition {
    pub fn new(equations: &StructuralEquations) -> Self {
        let (n, m) = (equations.layout().v().len(), equations.layout().lambda().len());
        Partition {
            positions: CoordinateBlock::new(m, n),
            velocities: CoordinateBlock::new(equations.constraints(), n),
        }
    }

    fn places(equations: &StructuralEquations) -> [Range<usize>; 2] {
        [equations.layout().p(), equations.layout().v()]
    }
}

impl Coordinates for Partition {
    fn degrees(&self) -> [usize; 2] {
        [self.positions.independent().len(), self.velocities.independent().len()]
    }

    fn choose(&mut self, equations: &StructuralEquations, _x: &[f64]) -> Result<(), Trouble> {
        self.positions.choose(&equations.K)?;
        self.velocities.choose(&equations.K)
    }

    fn worn(&mut self, equations: &StructuralEquations) -> bool {
        self.positions.grown(WORN, &equations.K) || self.velocities.grown(WORN, &equations.K)
    }

    fn steep(&mut self, equations: &StructuralEquations) -> bool {
        self.positions.grown(STEEP, &equations.K) || self.velocities.grown(STEEP, &equations.K)
    }

    fn coordinates(&self, equations: &StructuralEquations, x: &[f64], y: &mut [f64]) {
        let [p, v] = Self::places(equations);
        let (eta, nu) = y.split_at_mut(self.degrees()[0]);
        self.positions.read(&x[p], eta);
        self.velocities.read(&x[v], nu);
    }

    fn lift(&mut self, equations: &mut StructuralEquations, t: f64, y: &[f64], x: &mut [f64]) -> Result<(), Trouble> {
        let [p, v] = Self::places(equations);
        let (eta, nu) = y.split_at(self.degrees()[0]);
        self.positions.write(eta, &mut x[p.clone()]);
        equations.at_position(t, x)?;
        let mut last = f64::INFINITY;
        for iteration in 0.. {
            if equations.g.is_empty() {
                break;
            }
            let block = &mut self.positions;
            block.factor(&equations.K)?;
            block.b.iter_mut().zip(&equations.g).for_each(|(b, g)| *b = -g);
            block.lu.solve(&mut block.b);
            let corrections = || block.dependent().iter().map(|j| p.start + j).zip(block.b.iter().copied());
            corrections().for_each(|(place, d)| x[place] += d);
            let size = size_of(corrections().map(|(place, d)| (d, x[place])), largest(&x[p.clone()]));
            equations.at_position(t, x)?;
            if size < ENOUGH {
                break;
            }
            if iteration >= MOST || !(size < last) {
                return Err(Trouble::Diverged);
            }
            last = size;
        }
        self.velocities.write(nu, &mut x[v.clone()]);
        self.velocities.factor(&equations.K)?;
        self.velocities.complete(&equations.K, &equations.k0, &mut x[v]);
        Ok(())
    }

    fn slope(&self, equations: &StructuralEquations, x: &[f64], ydot: &mut [f64]) {
        let l = equations.layout();
        let (eta, nu) = ydot.split_at_mut(self.degrees()[0]);
        self.positions.read(&x[l.v()], eta);
        self.velocities.read(&x[l.a()], nu);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependent_columns_have_an_inverse_and_slopes_that_grow_wear_a_partition() {
        let mut K = Jacobian::dense(2, 4);
        K.dense_mut().data_mut().copy_from_slice(&[1e-8, 2.0, 0.5, 1.0, 1e-8, 4.0, 1.0, -1.0]);
        let mut block = CoordinateBlock::new(2, 4);
        block.choose(&K).unwrap();
        let mut dependent = block.dependent().to_vec();
        dependent.sort_unstable();
        assert_eq!(dependent, [1, 3]);
        assert!(!block.grown(WORN, &K));
        // x_D from x_I with K x + k₀ = 0
        let mut x = [0.3, 0.0, -0.7, 0.0];
        block.complete(&K, &[0.1, 0.2], &mut x);
        for (k, k0) in [0.1, 0.2].into_iter().enumerate() {
            let sum: f64 = (0..4).map(|j| K[(k, j)] * x[j]).sum();
            assert!((sum + k0).abs() < 1e-15, "{sum}");
        }
        K.put((0, 1), 0.1);
        K.put((1, 1), 0.1);
        assert!(block.grown(WORN, &K));
        K.clear_row(1);
        assert_eq!(block.choose(&K), Err(Trouble::Singular));
    }
}
