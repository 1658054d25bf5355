//! Freedoms and redundant rows of a system at a point.
//!
//! The rank of K decides, with rows of length one in the metric of M: the count of Grübler, velocities minus rows, is too small where joints repeat
//! each other. Rows are taken one after another, holonomic ones first, and one whose remainder is below 1e-9 follows from those before it. Large
//! systems are eliminated sparsely: which of the rows of a loop is called the dependent one then follows from the order of the pivots.

use crate::system::System;
use daedal::linalg::Svd;
use daedal::linalg::rank::Elimination;

/// Remainders of unit rows below this are rounding.
const DEPENDENT: f64 = 1e-9;
/// Factors of unit rows below this are rounding.
const NO_FACTOR: f64 = 1e-8;
/// Systems with more rows are eliminated sparsely: a dense decomposition of so many needs seconds.
const MOST_DENSE: usize = 1000;

/// A row of K by velocities, with its name and joint.
pub struct NamedRow {
    /// `pin4.z`
    pub name: String,
    /// Number of its joint.
    pub joint: usize,
    /// Is it the derivative of g?
    pub holonomic: bool,
    /// Velocity, value.
    pub entries: Vec<(usize, f64)>,
}

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
    /// K at positions p and time t.
    pub fn jacobian(&self, t: f64, p: &[f64]) -> Vec<NamedRow> {
        let (_, nv) = self.per_body();
        let view = self.view(t, p, &vec![0.0; nv * self.movers().count()]);
        let mut rows = Vec::new();
        for row in self.constraints(&view) {
            let mut entries: Vec<(usize, f64)> = Vec::new();
            for (body, part) in &row.parts {
                let Some(m) = self.moving(*body) else { continue };
                let values: Vec<f64> = if self.is_planar() {
                    vec![part.force[0], part.force[1], part.torque[2]]
                } else {
                    part.force.into_iter().chain(part.torque).collect()
                };
                for (k, x) in values.into_iter().enumerate().map(|(k, x)| (nv * m + k, x)) {
                    match entries.iter_mut().find(|(known, _)| *known == k) {
                        Some((_, sum)) => *sum += x,
                        None => entries.push((k, x)),
                    }
                }
            }
            let name = format!("{}.{}", self.joints()[row.joint].name, row.name);
            rows.push(NamedRow { name, joint: row.joint, holonomic: row.holonomic, entries });
        }
        rows
    }

    /// Freedoms and redundancy at positions p and time t.
    pub fn mobility(&self, t: f64, p: &[f64]) -> Mobility {
        let mut rows = self.jacobian(t, p);
        // holonomic rows first: a nonholonomic one that repeats them is then the dependent one
        rows.sort_by_key(|row| !row.holonomic);
        // of length one in the metric of M
        let lightness = self.lightness();
        for row in &mut rows {
            row.entries.iter_mut().for_each(|(k, x)| *x *= lightness[*k]);
            let size = row.entries.iter().map(|(_, x)| x * x).sum::<f64>().sqrt();
            row.entries.iter_mut().for_each(|(_, x)| *x /= if size > 0.0 { size } else { 1.0 });
        }
        if rows.len() <= MOST_DENSE { self.by_remainders(&rows) } else { self.by_elimination(&rows) }
    }

    /// Sparse elimination of unit rows, and the null vectors of those that are left.
    fn by_elimination(&self, rows: &[NamedRow]) -> Mobility {
        let n = self.lightness().len();
        let mut found = Elimination::of_rows(rows.iter().map(|row| row.entries.clone()), n, DEPENDENT);
        found.eliminate(|i| rows[i].holonomic, |_| true);
        found.eliminate(|_| true, |_| true);
        let (rank, smallest_kept) = (found.rank(), found.smallest());
        let remainder = smallest_kept / found.take_gap();
        let left: Vec<usize> = (0..rows.len()).filter(|&i| !found.has_pivot(i)).collect();
        let entries: Vec<Vec<(usize, f64)>> = rows.iter().map(|row| row.entries.clone()).collect();
        // without null vectors a dependent row is known, not what it follows from
        let vectors =
            found.left_null_vectors(&entries).unwrap_or_else(|| left.iter().map(|&i| vec![(i, 1.0)]).collect());
        let mut not_unique = Vec::new();
        let mut dependent = Vec::new();
        for (&i, vector) in left.iter().zip(&vectors) {
            let moved = vector.iter().filter(|(_, factor)| factor.abs() > NO_FACTOR);
            not_unique.extend(moved.clone().map(|(k, _)| rows[*k].joint));
            let from = self.names_of(moved.filter(|(k, _)| *k != i).map(|(k, _)| rows[*k].joint).collect());
            let joint = self.joints()[rows[i].joint].name.clone();
            dependent.push(Dependent { row: rows[i].name.clone(), joint, from, remainder });
        }
        Mobility {
            counted: n as i64 - rows.len() as i64,
            freedoms: n - rank,
            rows: rows.len(),
            dependent,
            smallest_kept,
            not_unique: self.names_of(not_unique),
        }
    }

    /// Unit rows without what those before them have, twice (Kahan).
    fn by_remainders(&self, rows: &[NamedRow]) -> Mobility {
        let n = self.lightness().len();
        let mut kept: Vec<(usize, Vec<f64>)> = Vec::new();
        let (mut dependent, mut smallest_kept) = (Vec::new(), f64::INFINITY);
        let mut units: Vec<Vec<f64>> = Vec::new();
        for (k, row) in rows.iter().enumerate() {
            let mut unit = vec![0.0; n];
            row.entries.iter().for_each(|&(i, x)| unit[i] = x);
            units.push(unit.clone());
            for _ in 0..2 {
                for (_, q) in &kept {
                    let along: f64 = q.iter().zip(&unit).map(|(a, b)| a * b).sum();
                    unit.iter_mut().zip(q).for_each(|(x, q)| *x -= along * q);
                }
            }
            let remainder = unit.iter().map(|x| x * x).sum::<f64>().sqrt();
            if remainder < DEPENDENT {
                let from = self.combination(&units, &kept, k, rows);
                let joint = self.joints()[row.joint].name.clone();
                dependent.push(Dependent { row: row.name.clone(), joint, from, remainder });
            } else {
                smallest_kept = smallest_kept.min(remainder);
                for x in &mut unit {
                    *x /= remainder;
                }
                kept.push((k, unit));
            }
        }
        let not_unique = if dependent.is_empty() { Vec::new() } else { self.not_unique(&units, rows, kept.len()) };
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
    fn combination(&self, units: &[Vec<f64>], kept: &[(usize, Vec<f64>)], k: usize, rows: &[NamedRow]) -> Vec<String> {
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
        self.names_of((0..m).filter(|&c| weights[c].abs() > NO_FACTOR).map(|c| rows[kept[c].0].joint).collect())
    }

    /// Joints with a multiplier that is not zero in a null vector of Kᵀ.
    fn not_unique(&self, units: &[Vec<f64>], rows: &[NamedRow], rank: usize) -> Vec<String> {
        let (m, n) = (units.len(), units[0].len());
        let mut svd = Svd::new(m, n);
        units.iter().enumerate().for_each(|(i, row)| (0..n).for_each(|j| svd.A[(i, j)] = row[j]));
        if svd.factor().is_err() {
            return Vec::new();
        }
        let moves = |i: usize| (rank..m).any(|k| svd.U[(i, k)].abs() > 1e-7);
        self.names_of((0..m).filter(|&i| moves(i)).map(|i| rows[i].joint).collect())
    }

    /// Names of joints, each once.
    fn names_of(&self, mut joints: Vec<usize>) -> Vec<String> {
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
    fn a_sparse_elimination_finds_what_a_dense_one_finds() {
        let system = ladder(6);
        let p = system.positions(&[]);
        let mut rows = system.jacobian(0.0, &p);
        let lightness = system.lightness();
        rows.iter_mut().flat_map(|row| &mut row.entries).for_each(|(k, x)| *x *= lightness[*k]);
        let (dense, sparse) = (system.mobility(0.0, &p), system.by_elimination(&rows));
        assert_eq!((dense.freedoms, dense.dependent.len(), dense.counted), (1, 18, -17));
        assert_eq!((sparse.freedoms, sparse.dependent.len(), sparse.counted), (1, 18, -17));
        assert_eq!(sparse.not_unique, dense.not_unique);
        assert!(sparse.dependent.iter().all(|row| !row.from.is_empty() && row.remainder < DEPENDENT));
    }

    #[test]
    fn ranks_of_large_systems_are_decided() {
        // 15 N + 5 rows and 12 N + 6 velocities, of which 3 N rows follow from the others
        let system = ladder(80);
        let found = system.mobility(0.0, &system.positions(&[]));
        assert_eq!((found.rows, found.counted, found.freedoms, found.dependent.len()), (1205, -239, 1, 240));
        assert!(found.smallest_kept > 1e3 * DEPENDENT, "{}", found.smallest_kept);
    }
}
