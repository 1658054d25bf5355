//! Freedoms and redundant rows of a system at a point.
//!
//! The rank of K decides, with rows of length one in the metric of M: the count of Grübler, velocities minus rows, is too small where joints repeat
//! each other. Rows are taken one after another, holonomic ones first, and one whose remainder is below 1e-9 follows from those before it.

use crate::system::System;
use daedal::linalg::Svd;

/// Remainders of unit rows below this are rounding.
const DEPENDENT: f64 = 1e-9;

/// A row that follows from others.
#[derive(Clone, Debug, PartialEq)]
pub struct Dependent {
    /// `pin4.z`
    pub row: String,
    /// Its joint.
    pub joint: String,
    /// Joints whose rows it follows from.
    pub from: Vec<String>,
    /// What is left of the row.
    pub remainder: f64,
}

/// What a system can do.
#[derive(Clone, Debug, PartialEq)]
pub struct Mobility {
    /// Velocities minus rows.
    pub counted: i64,
    /// Velocities minus independent rows.
    pub freedoms: usize,
    /// Rows of all joints.
    pub rows: usize,
    /// Redundant rows.
    pub dependent: Vec<Dependent>,
    /// The smallest remainder of a row that was kept.
    pub smallest_kept: f64,
    /// Joints whose forces are not unique.
    pub not_unique: Vec<String>,
}

impl System {
    /// K at positions p and time t: rows with their names, by velocities.
    pub fn jacobian(&self, t: f64, p: &[f64]) -> Vec<(String, usize, bool, Vec<f64>)> {
        let (_, nv) = self.per_body();
        let n = nv * self.movers().count();
        let view = self.view(t, p, &vec![0.0; n]);
        let mut rows = Vec::new();
        for row in self.constraints(&view) {
            let mut K = vec![0.0; n];
            for (body, part) in &row.parts {
                let Some(m) = self.moving(*body) else { continue };
                let values: Vec<f64> = if self.is_planar() {
                    vec![part.force[0], part.force[1], part.torque[2]]
                } else {
                    part.force.into_iter().chain(part.torque).collect()
                };
                values.into_iter().enumerate().for_each(|(k, x)| K[nv * m + k] += x);
            }
            rows.push((format!("{}.{}", self.joints()[row.joint].name, row.name), row.joint, row.holonomic, K));
        }
        rows
    }

    /// Freedoms and redundancy at positions p and time t.
    pub fn mobility(&self, t: f64, p: &[f64]) -> Mobility {
        let mut rows = self.jacobian(t, p);
        // holonomic rows first: a nonholonomic one that repeats them is then the dependent one
        rows.sort_by_key(|(_, _, holonomic, _)| !holonomic);
        let lightness = self.lightness();
        let n = lightness.len();
        let mut kept: Vec<(usize, Vec<f64>)> = Vec::new();
        let (mut dependent, mut smallest_kept) = (Vec::new(), f64::INFINITY);
        let mut units: Vec<Vec<f64>> = Vec::new();
        for (k, (name, joint, _, K)) in rows.iter().enumerate() {
            let mut unit: Vec<f64> = K.iter().zip(&lightness).map(|(x, l)| x * l).collect();
            let size = unit.iter().map(|x| x * x).sum::<f64>().sqrt();
            for x in &mut unit {
                *x /= if size > 0.0 { size } else { 1.0 };
            }
            units.push(unit.clone());
            // twice is enough (Kahan)
            for _ in 0..2 {
                for (_, q) in &kept {
                    let along: f64 = q.iter().zip(&unit).map(|(a, b)| a * b).sum();
                    unit.iter_mut().zip(q).for_each(|(x, q)| *x -= along * q);
                }
            }
            let remainder = unit.iter().map(|x| x * x).sum::<f64>().sqrt();
            if remainder < DEPENDENT {
                let from = self.combination(&units, &kept, k, &rows);
                let joint = self.joints()[*joint].name.clone();
                dependent.push(Dependent { row: name.clone(), joint, from, remainder });
            } else {
                smallest_kept = smallest_kept.min(remainder);
                for x in &mut unit {
                    *x /= remainder;
                }
                kept.push((k, unit));
            }
        }
        let not_unique = if dependent.is_empty() { Vec::new() } else { self.not_unique(&units, &rows, kept.len()) };
        Mobility {
            counted: n as i64 - rows.len() as i64,
            freedoms: n - kept.len(),
            rows: rows.len(),
            dependent,
            smallest_kept,
            not_unique,
        }
    }

    /// The joints of the rows that a dependent row is made of.
    fn combination(
        &self,
        units: &[Vec<f64>],
        kept: &[(usize, Vec<f64>)],
        k: usize,
        rows: &[(String, usize, bool, Vec<f64>)],
    ) -> Vec<String> {
        // least squares with the rows that were kept, which are independent
        let (m, n) = (kept.len(), units[k].len());
        if m == 0 {
            return Vec::new();
        }
        let mut svd = Svd::new(n, m);
        kept.iter().enumerate().for_each(|(c, (row, _))| (0..n).for_each(|i| svd.A[(i, c)] = units[*row][i]));
        if svd.factor().is_err() {
            return Vec::new();
        }
        let mut weights = vec![0.0; m];
        for s in 0..svd.rank(DEPENDENT * svd.sigma(0)) {
            let along: f64 = (0..n).map(|i| svd.U[(i, s)] * units[k][i]).sum::<f64>() / svd.sigma(s);
            (0..m).for_each(|c| weights[c] += svd.V[(c, s)] * along);
        }
        let mut joints: Vec<usize> = (0..m).filter(|&c| weights[c].abs() > 1e-8).map(|c| rows[kept[c].0].1).collect();
        joints.sort_unstable();
        joints.dedup();
        joints.into_iter().map(|j| self.joints()[j].name.clone()).collect()
    }

    /// Joints with a multiplier that is not zero in a null vector of Kᵀ.
    fn not_unique(&self, units: &[Vec<f64>], rows: &[(String, usize, bool, Vec<f64>)], rank: usize) -> Vec<String> {
        let (m, n) = (units.len(), units[0].len());
        let mut svd = Svd::new(m, n);
        units.iter().enumerate().for_each(|(i, row)| (0..n).for_each(|j| svd.A[(i, j)] = row[j]));
        if svd.factor().is_err() {
            return Vec::new();
        }
        let moves = |i: usize| (rank..m).any(|k| svd.U[(i, k)].abs() > 1e-7);
        let mut joints: Vec<usize> = (0..m).filter(|&i| moves(i)).map(|i| rows[i].1).collect();
        joints.sort_unstable();
        joints.dedup();
        joints.into_iter().map(|j| self.joints()[j].name.clone()).collect()
    }

    /// M^{-1/2} by its diagonal, for every velocity.
    fn lightness(&self) -> Vec<f64> {
        let mut lightness = Vec::new();
        for (_, body) in self.movers() {
            let J = body.inertia;
            let masses: Vec<f64> = if self.is_planar() {
                vec![body.mass, body.mass, J[2][2]]
            } else {
                vec![body.mass, body.mass, body.mass, J[0][0], J[1][1], J[2][2]]
            };
            lightness.extend(masses.into_iter().map(|m| m.sqrt().recip()));
        }
        lightness
    }
}
