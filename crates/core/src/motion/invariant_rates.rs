//! How fast invariants change along the motion through a point.
//!
//! ```text
//! de/dt = e_p Z v + e_v a + e_s s' + e_t,        c_s s' = −(c_p Z v + c_t)
//! ```
//! It vanishes at every point of a motion that keeps e, whatever the error of that point is.

use super::{Layout, Mechanism, ReducedArray, Undefined};
use crate::linalg::{Jacobian, Lu};

/// One invariant at a point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct InvariantRate {
    /// e, as the array gives it.
    pub value: f64,
    /// de/dt.
    pub rate: f64,
    /// Sum of the sizes of the terms of de/dt.
    pub terms: f64,
    /// Σ |∂e/∂xⱼ| times the largest rate of all variables: what de/dt might be.
    pub possible: f64,
    /// How well e_t is known, where time enters.
    pub noise: f64,
}

/// Rates of all invariants, with scratch space.
pub(crate) struct InvariantRates {
    layout: Layout,
    /// step of the differences in time, where time enters
    shift: Option<f64>,
    rows: Vec<f64>,
    shifted: Vec<f64>,
    /// ∂k/∂t, where time enters
    time: Vec<f64>,
    /// the same by differences of order two
    rough: Vec<f64>,
    F: Jacobian,
    contact: Lu<f64>,
    /// ẋ of p, v and s
    xdot: Vec<f64>,
    rates: Vec<InvariantRate>,
}

impl InvariantRates {
    /// For a system and an array of it that contains the invariants; `shift` is the step of differences in time.
    pub fn new(mechanism: &dyn Mechanism, array: &dyn ReducedArray, shift: f64) -> Self {
        let layout = array.layout();
        InvariantRates {
            shift: (!mechanism.structure().autonomous).then_some(shift),
            rows: vec![0.0; layout.rows()],
            shifted: vec![0.0; layout.rows()],
            time: vec![0.0; layout.rows()],
            rough: vec![0.0; layout.rows()],
            F: array.new_jacobian(),
            contact: Lu::new(layout.s().len()),
            xdot: vec![0.0; layout.dim()],
            rates: vec![InvariantRate::default(); layout.row_invariants().len()],
            layout: layout.clone(),
        }
    }

    /// Rates at a point where the equations hold.
    pub fn at(&mut self, array: &mut dyn ReducedArray, t: f64, x: &[f64]) -> Result<(), Undefined> {
        let l = &self.layout;
        array.evaluate(t, x, &mut self.rows)?;
        array.jacobian(t, x, &self.rows, &mut self.F)?;
        // ∂k/∂t by differences of order four
        if let Some(shift) = self.shift {
            self.time.fill(0.0);
            self.rough.fill(0.0);
            for (steps, factor, rough) in [(-2.0, 1.0, 0.0), (-1.0, -8.0, -6.0), (1.0, 8.0, 6.0), (2.0, -1.0, 0.0)] {
                array.evaluate(t + steps * shift, x, &mut self.shifted)?;
                let [factor, rough] = [factor, rough].map(|f| f / (12.0 * shift));
                self.time.iter_mut().zip(&self.shifted).for_each(|(d, row)| *d += factor * row);
                self.rough.iter_mut().zip(&self.shifted).for_each(|(d, row)| *d += rough * row);
            }
        }
        self.xdot.fill(0.0);
        self.xdot[l.p()].copy_from_slice(&self.rows[l.row_kinematics()]);
        self.xdot[l.v()].copy_from_slice(&self.rows[l.row_acceleration()]);
        // s' from c = 0
        if !l.s().is_empty() {
            let (c, s) = (l.row_contact(), l.s());
            for (i, row) in c.clone().enumerate() {
                s.clone().enumerate().for_each(|(k, j)| self.contact.A[(i, k)] = -self.F[(row, j)]);
                let along: f64 = l.p().map(|j| -self.F[(row, j)] * self.xdot[j]).sum();
                self.shifted[i] = -along - self.time[row];
            }
            self.contact.factor().map_err(|_| Undefined)?;
            self.contact.solve(&mut self.shifted[..c.len()]);
            self.xdot[s].copy_from_slice(&self.shifted[..c.len()]);
        }
        let fastest = self.xdot.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        for (row, rate) in l.row_invariants().zip(&mut self.rates) {
            let terms = || self.F.row(row).map(|(j, f)| -f * self.xdot[j]).chain([self.time[row]]);
            *rate = InvariantRate {
                value: self.rows[row],
                rate: terms().sum(),
                terms: terms().map(f64::abs).sum(),
                possible: fastest * self.F.row(row).map(|(_, f)| f.abs()).sum::<f64>(),
                noise: (self.time[row] - self.rough[row]).abs(),
            };
        }
        Ok(())
    }

    /// The invariants at the last point.
    pub fn rates(&self) -> &[InvariantRate] {
        &self.rates
    }

    /// Σ |∂e/∂xⱼ| scⱼ of an invariant at the last point: how much it changes if every xⱼ changes by scⱼ.
    pub fn sensitivity(&self, invariant: usize, scale: impl Fn(usize) -> f64) -> f64 {
        let row = self.layout.row_invariants().start + invariant;
        self.F.row(row).filter(|(_, f)| *f != 0.0).map(|(j, f)| f.abs() * scale(j)).sum()
    }
}
