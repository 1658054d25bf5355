//! Freedoms and redundant rows of a system at a point.
//!
//! The rank of K decides, with rows of length one in the metric of M: the count of Grübler, velocities minus rows, is too small where joints repeat
//! each other. Rows are merged one after another, holonomic ones first, and one whose remainder is below 1e-9 follows from those before it. All of it is sparse.

use crate::system::System;
use daedal::linalg::rank::REMAINDER;
use daedal::linalg::{Augmented, RowMerge, SparseMatrix};
use std::collections::{BTreeMap, BTreeSet};

/// A row is made of others whose unit rows have a larger part in it.
const PART: f64 = 1e-8;

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

/// A row of K: its name, its joint, and its entries by velocities.
struct Row {
    name: String,
    joint: usize,
    holonomic: bool,
    entries: Vec<(usize, f64)>,
}

impl System {
    /// K at positions p and time t.
    fn rows(&self, t: f64, p: &[f64]) -> Vec<Row> {
        let (_, nv) = self.per_body();
        let n = nv * self.movers().count();
        let view = self.view(t, p, &vec![0.0; n]);
        let mut rows = Vec::new();
        for row in self.constraints(&view) {
            let mut entries: BTreeMap<usize, f64> = BTreeMap::new();
            for (body, part) in &row.parts {
                let Some(m) = self.moving(*body) else { continue };
                let values: Vec<f64> = if self.is_planar() {
                    vec![part.force[0], part.force[1], part.torque[2]]
                } else {
                    part.force.into_iter().chain(part.torque).collect()
                };
                values.into_iter().enumerate().for_each(|(k, x)| *entries.entry(nv * m + k).or_insert(0.0) += x);
            }
            let name = format!("{}.{}", self.joints()[row.joint].name, row.name);
            let entries = entries.into_iter().collect();
            rows.push(Row { name, joint: row.joint, holonomic: row.holonomic, entries });
        }
        rows
    }

    /// Freedoms and redundancy at positions p and time t.
    pub fn mobility(&self, t: f64, p: &[f64]) -> Mobility {
        let (rows, lightness) = (self.rows(t, p), self.lightness());
        let (m, n) = (rows.len(), lightness.len());
        let K = unit_rows(&rows, &lightness);
        // holonomic rows first: a nonholonomic one that repeats them is then the dependent one
        let mut order: Vec<usize> = (0..m).collect();
        order.sort_by_key(|&i| !rows[i].holonomic);
        let found = RowMerge::new(&K).independent(&K, &vec![1.0; n], &order, REMAINDER);
        let name = |joint: usize| self.joints()[joint].name.clone();
        let (mut dependent, mut not_unique) = (Vec::new(), BTreeSet::new());
        let mut kept = Augmented::with_rows_left_out(&K, 1.0, &found.dropped);
        let solved = found.gap.is_full() || kept.factor(&K).is_ok();
        for &k in order.iter().filter(|&&k| found.dropped[k]) {
            let mut from = BTreeSet::new();
            if solved {
                let (columns, values) = K.row(k);
                let weights = kept.coefficients(|a| {
                    a.fill(0.0);
                    columns.iter().zip(values).for_each(|(&j, &x)| a[j] = x);
                });
                let made_of = (0..m).filter(|&i| weights[i].abs() > PART).map(|i| rows[i].joint);
                from.extend(made_of);
            }
            // a null vector of Kᵀ: the weights, and −1 at this row
            not_unique.extend(from.iter().copied().chain([rows[k].joint]));
            dependent.push(Dependent {
                row: rows[k].name.clone(),
                joint: name(rows[k].joint),
                from: from.into_iter().map(name).collect(),
                remainder: found.remainders[k],
            });
        }
        Mobility {
            counted: n as i64 - m as i64,
            freedoms: n - found.gap.rank,
            rows: m,
            dependent,
            smallest_kept: found.gap.kept,
            not_unique: not_unique.into_iter().map(name).collect(),
        }
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

/// K D^{-1/2} with rows of length one; rows that vanish stay so.
fn unit_rows(rows: &[Row], lightness: &[f64]) -> SparseMatrix {
    let places = rows.iter().enumerate().flat_map(|(i, row)| row.entries.iter().map(move |&(j, _)| (i, j)));
    let mut K = SparseMatrix::new(rows.len(), lightness.len(), places.collect());
    for (i, row) in rows.iter().enumerate() {
        let values: Vec<f64> = row.entries.iter().map(|&(j, x)| x * lightness[j]).collect();
        let size = values.iter().map(|x| x * x).sum::<f64>().sqrt();
        let unit = if size > 0.0 { size } else { 1.0 };
        K.row_mut(i).iter_mut().zip(values).for_each(|(k, x)| *k = x / unit);
    }
    K
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Body, GROUND, Joint};

    /// Cranks on pins in a row and couplers between them, in space: every loop has three redundant rows.
    fn ladder(cells: usize) -> System {
        let (end, mut system) = ([0.4, -0.3, 0.0], System::new());
        let z = [0.0, 0.0, 1.0];
        let mut before = None;
        for k in 0..=cells {
            let foot = [0.9 * k as f64, 0.0, 0.0];
            let top = crate::vector::add(foot, end);
            let crank = system.body(Body::bar(foot, top, 0.05).mass(0.5).name(format!("crank{k}")));
            system.joint(Joint::revolute(foot, z).between(GROUND, crank).name(format!("foot{k}")));
            if let Some((other, from)) = before {
                let coupler = system.body(Body::bar(from, top, 0.05).mass(0.8).name(format!("coupler{k}")));
                system.joint(Joint::revolute(from, z).between(other, coupler).name(format!("left{k}")));
                system.joint(Joint::revolute(top, z).between(crank, coupler).name(format!("right{k}")));
            }
            before = Some((crank, top));
        }
        system
    }

    #[test]
    fn every_loop_of_a_ladder_repeats_three_rows() {
        let system = ladder(6);
        let found = system.mobility(0.0, &system.positions(&[]));
        assert_eq!((found.freedoms, found.dependent.len(), found.counted), (1, 18, -17));
        assert!(found.dependent.iter().all(|row| !row.from.is_empty() && row.remainder < REMAINDER));
    }

    #[test]
    fn ranks_of_large_systems_are_decided() {
        // 15 N + 5 rows and 12 N + 6 velocities, of which 3 N rows follow from the others
        let system = ladder(80);
        let found = system.mobility(0.0, &system.positions(&[]));
        assert_eq!((found.rows, found.counted, found.freedoms, found.dependent.len()), (1205, -239, 1, 240));
        assert!(found.smallest_kept > 1e3 * REMAINDER, "{}", found.smallest_kept);
    }
}
