//! The whole problem, linearised at a curve and condensed to its degrees of freedom at the ends of the intervals.
//!
//! At every node i the curve may move by δyᵢ = pᵢ + Tᵢ zᵢ: pᵢ goes back onto the constraints, Tᵢ spans the null space of their gradients. The intervals
//! give zᵢ₊₁ = Gᵢ zᵢ + fᵢ, where z has the length of the interval as its last entry if that is free. These blocks are eliminated from left to
//! right by orthogonal transformations, which is stable whatever grows or decays in either direction (Wright 1992, SIAM J. Sci. Stat. Comput. 13). What is left
//! relates both ends, L z₀ + M z_N = φ; on its null space the conditions have a Jacobian of full column rank where they determine the solution.

use super::curve::{Correction, Curve};
use super::ends::{AtEnd, EndConditions};
use super::interval::{CollocatedInterval, LinearisationFailure};
use super::orthogonal::{FullQr, transposed};
use super::scheme::{K, SymmetricScheme};
use crate::dae::{EquationChoice, RegularisedSystem};
use crate::linalg::{Matrix, Svd, product, times};

/// Gradients whose rows are dependent up to this are those of a singular point.
const DEPENDENT: f64 = 1e-13;

/// Residuals of everything at a curve.
pub(super) struct CurveResiduals {
    intervals: Vec<Vec<f64>>,
    /// constraints at the start
    start: Vec<f64>,
    pub ends: Vec<f64>,
}

impl CurveResiduals {
    pub fn of(
        system: &mut RegularisedSystem,
        scheme: &SymmetricScheme,
        curve: &Curve,
        choices: &[EquationChoice],
        conditions: &EndConditions,
    ) -> Result<Self, LinearisationFailure> {
        let mut intervals = Vec::with_capacity(choices.len());
        for (i, choice) in choices.iter().enumerate() {
            intervals.push(CollocatedInterval::residuals(system, scheme, curve, i, choice)?);
        }
        let (first, last) = ends(system, curve)?;
        let undefined = |t: f64| LinearisationFailure::Undefined { t };
        system.evaluate(first.t, &first.y).map_err(|_| undefined(first.t))?;
        let start = system.constraint_rows().map(|row| system.outputs[row]).collect();
        let ends = conditions.residuals(&first, &last);
        if ends.iter().any(|r| !r.is_finite()) {
            return Err(undefined(last.t));
        }
        Ok(CurveResiduals { intervals, start, ends })
    }

    /// The largest residual of the equations: interval, place in it, value.
    pub fn worst(&self) -> (usize, usize, f64) {
        let mut worst = (0, 0, 0.0);
        for (i, interval) in self.intervals.iter().enumerate() {
            for (k, r) in interval.iter().enumerate() {
                if r.abs() > worst.2 {
                    worst = (i, k, r.abs());
                }
            }
        }
        worst
    }
}

/// Both ends of a curve.
pub(super) fn ends(system: &mut RegularisedSystem, curve: &Curve) -> Result<(AtEnd, AtEnd), LinearisationFailure> {
    let (t0, t1) = (curve.time(0.0), curve.time(1.0));
    let first = AtEnd::new(system, t0, curve.point(0, 0)).map_err(|_| LinearisationFailure::Undefined { t: t0 })?;
    let last = AtEnd::new(system, t1, curve.point(curve.intervals() - 1, K))
        .map_err(|_| LinearisationFailure::Undefined { t: t1 })?;
    Ok((first, last))
}

/// Directions in which a node may move, and how it goes back onto the constraints.
struct NodeSpace {
    /// of the transposed gradients
    qr: FullQr,
    basis: Matrix,
}

impl NodeSpace {
    fn of(system: &mut RegularisedSystem, t: f64, y: &[f64]) -> Result<Self, LinearisationFailure> {
        system.differentiate(t, y).map_err(|_| LinearisationFailure::Undefined { t })?;
        let rows: Vec<usize> = system.constraint_rows().collect();
        let mut C = Matrix::zeros(y.len(), rows.len());
        for (k, &row) in rows.iter().enumerate() {
            // rows of one size, so that their dependence can be judged
            let slopes = &system.slopes.row(row)[..y.len()];
            let size = slopes.iter().fold(0.0_f64, |top, s| top.max(s.abs()));
            slopes.iter().enumerate().for_each(|(j, s)| C[(j, k)] = if size > 0.0 { s / size } else { 0.0 });
        }
        let qr = FullQr::of(C);
        if qr.quality() < DEPENDENT {
            return Err(LinearisationFailure::Singular { t });
        }
        let basis = qr.complement();
        Ok(NodeSpace { qr, basis })
    }

    /// The shortest p with C p = −c; `sizes` are those of the gradients.
    fn back(&self, c: &[f64], sizes: &[f64]) -> Vec<f64> {
        let n = self.basis.rows();
        let mut p = vec![0.0; n];
        p.iter_mut().zip(c).zip(sizes).for_each(|((p, c), size)| *p = if *size > 0.0 { -c / size } else { 0.0 });
        let a = c.len();
        self.qr.solve_transposed(&mut p[..a]);
        self.qr.times(&mut p);
        p
    }
}

/// One eliminated node: R z_i = ρ − E z_0 − F z_{i+1}.
struct EliminatedNode {
    qr: FullQr,
    E: Matrix,
    F: Matrix,
}

/// How well conditions determine a solution.
pub(super) struct Determination {
    /// Rank of the Jacobian of the conditions.
    pub rank: usize,
    pub needed: usize,
    /// How far values at the ends move if conditions, in units of their gradients, move by one.
    pub conditioning: f64,
    /// Conditions that depend on each other.
    pub dependent: Vec<usize>,
    /// Unknowns at the start (false) and at the end that can be moved; none is the end time.
    pub free: Vec<(bool, Option<usize>)>,
}

/// The condensed problem.
pub(super) struct LinearisedCurve {
    n: usize,
    d: usize,
    with_length: bool,
    intervals: Vec<CollocatedInterval>,
    nodes: Vec<NodeSpace>,
    /// sizes of the gradients at the nodes
    sizes: Vec<Vec<f64>>,
    eliminated: Vec<EliminatedNode>,
    /// of (L M)ᵀ, and its complement
    relation: FullQr,
    W: Matrix,
    /// conditions by (δy₀, δy_N, length), each row divided by its size
    B: Matrix,
    row_sizes: Vec<f64>,
    svd: Svd,
    pub determined: Determination,
}

impl LinearisedCurve {
    pub fn at(
        system: &mut RegularisedSystem,
        scheme: &SymmetricScheme,
        curve: &Curve,
        choices: &[EquationChoice],
        conditions: &EndConditions,
        with_length: bool,
        tolerance: f64,
    ) -> Result<Self, LinearisationFailure> {
        let (n, N, d) = (curve.n, curve.intervals(), system.values.d);
        let D = d + usize::from(with_length);
        let mut nodes = Vec::with_capacity(N + 1);
        let mut sizes = Vec::with_capacity(N + 1);
        for i in 0..=N {
            let y = if i == N { curve.point(N - 1, K) } else { curve.point(i, 0) };
            nodes.push(NodeSpace::of(system, curve.time(curve.mesh[i]), y)?);
            let top = |row: usize| system.slopes.row(row)[..n].iter().fold(0.0_f64, |top, s| top.max(s.abs()));
            sizes.push(system.constraint_rows().map(top).collect::<Vec<_>>());
        }
        let mut intervals = Vec::with_capacity(N);
        let mut G = Vec::with_capacity(N);
        for (i, choice) in choices.iter().enumerate() {
            let interval = CollocatedInterval::linearise(system, scheme, curve, i, choice, &nodes[i].basis)?;
            G.push(transition(&interval, &nodes[i + 1].basis, d, with_length));
            intervals.push(interval);
        }
        // eliminate the nodes inside
        let mut L = negative(&G[0]);
        let mut M = identity(D);
        let mut eliminated = Vec::with_capacity(N);
        for G in &G[1..] {
            let mut column = Matrix::zeros(2 * D, D);
            for i in 0..D {
                column.row_mut(i).copy_from_slice(M.row(i));
                for j in 0..D {
                    column[(D + i, j)] = -G[(i, j)];
                }
            }
            let qr = FullQr::of(column);
            let (E, next_L) = rotated(&qr, |i, j| if i < D { L[(i, j)] } else { 0.0 }, D);
            let (F, next_M) = rotated(&qr, |i, j| if i == D + j { 1.0 } else { 0.0 }, D);
            eliminated.push(EliminatedNode { qr, E, F });
            (L, M) = (next_L, next_M);
        }
        let mut LM = Matrix::zeros(D, 2 * D);
        for i in 0..D {
            LM.row_mut(i)[..D].copy_from_slice(L.row(i));
            LM.row_mut(i)[D..].copy_from_slice(M.row(i));
        }
        let relation = FullQr::of(transposed(&LM));
        let W = relation.complement();

        // the conditions on what is left
        let (first, last) = ends(system, curve)?;
        let mut B = conditions.slopes(&first, &last);
        let mut row_sizes = Vec::with_capacity(B.rows());
        for i in 0..B.rows() {
            let size = B.row(i).iter().map(|b| b * b).sum::<f64>().sqrt();
            if !size.is_finite() {
                return Err(LinearisationFailure::Undefined { t: last.t });
            }
            B.row_mut(i).iter_mut().for_each(|b| *b /= if size > 0.0 { size } else { 1.0 });
            row_sizes.push(if size > 0.0 { size } else { 1.0 });
        }
        let m = B.rows();
        let mut on_ends = Matrix::zeros(m, 2 * D);
        for i in 0..m {
            for (k, (node, by)) in
                [(&nodes[0], &B.row(i)[..n]), (&nodes[N], &B.row(i)[n..2 * n])].into_iter().enumerate()
            {
                for c in 0..d {
                    on_ends[(i, k * D + c)] = (0..n).map(|j| by[j] * node.basis[(j, c)]).sum();
                }
            }
            if with_length {
                on_ends[(i, D - 1)] = B[(i, 2 * n)];
            }
        }
        let Q = product(&on_ends, &W);
        let mut svd = Svd::new(m, D);
        for i in 0..m {
            (0..D).for_each(|j| svd.A[(i, j)] = Q[(i, j)]);
        }
        let t = curve.t0;
        svd.factor().map_err(|_| LinearisationFailure::Undefined { t })?;
        let top = svd.sigma(0);
        let rank = svd.rank(tolerance * top.max(f64::MIN_POSITIVE));
        let basis = [&nodes[0].basis, &nodes[N].basis];
        let determined = determine(&svd, rank, (D, d, n), &W, basis, with_length);
        Ok(LinearisedCurve {
            n,
            d,
            with_length,
            intervals,
            nodes,
            sizes,
            eliminated,
            relation,
            W,
            B,
            row_sizes,
            svd,
            determined,
        })
    }

    /// The correction that makes the linearised residuals zero, the conditions as well as possible.
    pub fn solve(&mut self, curve: &Curve, residuals: &CurveResiduals) -> Correction {
        let (n, d, N) = (self.n, self.d, self.intervals.len());
        let D = d + usize::from(self.with_length);
        let mut back = vec![self.nodes[0].back(&residuals.start, &self.sizes[0])];
        for (i, interval) in self.intervals.iter().enumerate() {
            let c = interval.at_right_end(&residuals.intervals[i]);
            back.push(self.nodes[i + 1].back(c, &self.sizes[i + 1]));
        }
        let mut particular = Vec::with_capacity(N);
        let mut f = Vec::with_capacity(N);
        for i in 0..N {
            let u = self.intervals[i].particular(&residuals.intervals[i], &back[i]);
            let end = &u[(K - 1) * n..];
            let basis = &self.nodes[i + 1].basis;
            let mut right = vec![0.0; D];
            for (c, right) in right.iter_mut().enumerate().take(d) {
                *right = (0..n).map(|j| basis[(j, c)] * (end[j] - back[i + 1][j])).sum();
            }
            particular.push(u);
            f.push(right);
        }
        // φ, and the right-hand sides of the eliminated nodes
        let mut phi = f[0].clone();
        let mut rho = Vec::with_capacity(N);
        for (eliminated, f) in self.eliminated.iter().zip(&f[1..]) {
            let mut both = [&phi[..], f].concat();
            eliminated.qr.transposed_times(&mut both);
            phi.copy_from_slice(&both[D..]);
            rho.push(both[..D].to_vec());
        }
        // a particular solution of L z₀ + M z_N = φ
        let mut z = vec![0.0; 2 * D];
        z[..D].copy_from_slice(&phi);
        self.relation.solve_transposed(&mut z[..D]);
        self.relation.times(&mut z);
        // what is left of the conditions there
        let m = self.B.rows();
        let at = |z: &[f64], node: usize, half: usize| -> Vec<f64> {
            let basis = &self.nodes[node].basis;
            let own = &z[half * D..half * D + d];
            (0..n).map(|j| back[node][j] + (0..d).map(|c| basis[(j, c)] * own[c]).sum::<f64>()).collect()
        };
        let (first, last) = (at(&z, 0, 0), at(&z, N, 1));
        let length = if self.with_length { z[D - 1] } else { 0.0 };
        let beta: Vec<f64> = (0..m)
            .map(|i| {
                let row = self.B.row(i);
                let moved = row[..n].iter().zip(&first).chain(row[n..2 * n].iter().zip(&last));
                -residuals.ends[i] / self.row_sizes[i] - moved.map(|(b, y)| b * y).sum::<f64>() - row[2 * n] * length
            })
            .collect();
        // v = Q⁺ β
        let mut v = vec![0.0; D];
        for k in 0..self.determined.rank {
            let along = (0..m).map(|i| self.svd.U[(i, k)] * beta[i]).sum::<f64>() / self.svd.sigma(k);
            (0..D).for_each(|j| v[j] += self.svd.V[(j, k)] * along);
        }
        z.iter_mut().zip(times(&self.W, &v)).for_each(|(z, w)| *z += w);

        // back to the nodes inside, from right to left
        let mut all = vec![vec![0.0; D]; N + 1];
        all[0].copy_from_slice(&z[..D]);
        all[N].copy_from_slice(&z[D..]);
        for i in (1..N).rev() {
            let EliminatedNode { qr, E, F } = &self.eliminated[i - 1];
            let (first, next) = (times(E, &all[0]), times(F, &all[i + 1]));
            let mut b: Vec<f64> =
                rho[i - 1].iter().zip(&first).zip(&next).map(|((r, first), next)| r - first - next).collect();
            qr.solve(&mut b);
            all[i] = b;
        }
        let length = if self.with_length { all[0][D - 1] } else { 0.0 };
        let mut y = vec![0.0; curve.y.len()];
        let start = at(&z, 0, 0);
        y[..n].copy_from_slice(&start);
        for (i, interval) in self.intervals.iter().enumerate() {
            let place = &mut y[(i * K + 1) * n..((i + 1) * K + 1) * n];
            for (row, place) in place.iter_mut().enumerate() {
                let by_start = interval.by_start.row(row).iter().zip(&all[i]).map(|(v, z)| v * z).sum::<f64>();
                *place = particular[i][row] + by_start + interval.response[row] * length;
            }
        }
        Correction { y, length }
    }
}

/// z_{i+1} = G z_i without its right-hand side.
fn transition(interval: &CollocatedInterval, basis: &Matrix, d: usize, with_length: bool) -> Matrix {
    let (n, D) = (basis.rows(), d + usize::from(with_length));
    let mut G = Matrix::zeros(D, D);
    let end = (K - 1) * n;
    for c in 0..d {
        for k in 0..d {
            G[(c, k)] = (0..n).map(|j| basis[(j, c)] * interval.by_start[(end + j, k)]).sum();
        }
        if with_length {
            G[(c, d)] = (0..n).map(|j| basis[(j, c)] * interval.response[end + j]).sum();
        }
    }
    if with_length {
        G[(d, d)] = 1.0;
    }
    G
}

fn negative(A: &Matrix) -> Matrix {
    let mut B = A.clone();
    B.data_mut().iter_mut().for_each(|b| *b = -*b);
    B
}

fn identity(n: usize) -> Matrix {
    let mut I = Matrix::zeros(n, n);
    (0..n).for_each(|i| I[(i, i)] = 1.0);
    I
}

/// Qᵀ times a matrix of 2D rows, cut in two.
fn rotated(qr: &FullQr, entry: impl Fn(usize, usize) -> f64, D: usize) -> (Matrix, Matrix) {
    let (mut upper, mut lower) = (Matrix::zeros(D, D), Matrix::zeros(D, D));
    let mut column = vec![0.0; 2 * D];
    for j in 0..D {
        column.iter_mut().enumerate().for_each(|(i, c)| *c = entry(i, j));
        qr.transposed_times(&mut column);
        for i in 0..D {
            upper[(i, j)] = column[i];
            lower[(i, j)] = column[D + i];
        }
    }
    (upper, lower)
}

/// Entries of null vectors below this part of the largest one are not told.
const TOLD: f64 = 1e-3;

fn determine(
    svd: &Svd,
    rank: usize,
    (D, d, n): (usize, usize, usize),
    W: &Matrix,
    basis: [&Matrix; 2],
    with_length: bool,
) -> Determination {
    let m = svd.A.nrows();
    let size = |i: usize| (rank..m).map(|k| svd.U[(i, k)].powi(2)).sum::<f64>().sqrt();
    let dependent = if rank < D && m > rank { (0..m).filter(|&i| size(i) > TOLD).collect() } else { Vec::new() };
    let mut free = Vec::new();
    for k in rank..D {
        let v: Vec<f64> = (0..D).map(|j| svd.V[(j, k)]).collect();
        let z = times(W, &v);
        let moves = |half: usize| -> Vec<f64> {
            (0..n).map(|j| (0..d).map(|c| basis[half][(j, c)] * z[half * D + c]).sum::<f64>().abs()).collect()
        };
        let (first, last) = (moves(0), moves(1));
        let length = if with_length { z[D - 1].abs() } else { 0.0 };
        let top = first.iter().chain(&last).fold(length, |top, x| top.max(*x));
        for (is_last, moves) in [(false, first), (true, last)] {
            let told =
                moves.iter().enumerate().filter(|(_, size)| **size > TOLD * top).map(|(j, _)| (is_last, Some(j)));
            free.extend(told);
        }
        if length > TOLD * top {
            free.push((true, None));
        }
    }
    free.sort_unstable();
    free.dedup();
    let conditioning = if rank == D && D > 0 { 1.0 / svd.sigma(D - 1) } else { f64::INFINITY };
    Determination { rank, needed: D, conditioning: if D == 0 { 0.0 } else { conditioning }, dependent, free }
}
