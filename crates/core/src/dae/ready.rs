//! A quick look at square systems: is the index at most one at the given point, and is the point consistent?
//!
//! Rows of F without ẋ are constraints. With Z₁, Z₂ for the others, where their leading matrix is constant and loses rank, the index is at most
//! one if (Z₁ᵀF_ẋ; Z₂ᵀF_x) is regular. What needs no reduction pays one elimination, and no derivative array is made; where an unknown
//! stands in no row of that matrix, nothing is compiled either.

use super::initial::values;
use super::{CharacteristicValues, Dae, Plain, Point, Structure, System};
use crate::graph::{Expr, Tape};
use crate::initial::{Initial, Start};
use crate::linalg::rank::{AT_POINT, CLEAR_PIVOT, Elimination, REGULAR};
use crate::linalg::{LargeLu, Lu, Matrix, RankRule, Shift};
use crate::scalar::Dual;
use std::collections::HashSet;

/// Leading matrices of this size are eliminated as sparse ones.
const SPARSE_FROM: usize = 150;
/// Scaled residuals of constraints below this are zero.
const CONSISTENT: f64 = 1e-9;

/// A system as it stands, a consistent point, and its characteristic values.
pub(super) type Ready = (Plain, Point, CharacteristicValues);

/// The system as it stands with a consistent point, or nothing if more must be known.
pub(super) fn ready(system: &System, initial: &Initial, ranks: RankRule) -> Option<Ready> {
    let (n, first) = (system.dim(), &system.first);
    if initial.states.len() != system.formulas.states.len() || initial.check(first).is_err() {
        return None;
    }
    let starts = initial.starts(first);
    // a derivative of lower order is an unknown itself, whose value is told twice
    let unknowns: HashSet<(usize, u32)> = first.origin.iter().copied().collect();
    let told =
        |j: usize| starts[n + j] != Start::Unknown && !unknowns.contains(&(first.origin[j].0, first.origin[j].1 + 1));
    let given = starts[..n].iter().all(|s| *s != Start::Unknown) && !(0..n).any(told);
    if system.rows() != n || !given || !initial.conditions.is_empty() || !first.invariants.is_empty() {
        return None;
    }
    let (t, x) = (initial.t, values(&starts[..n]));
    let structure = system.structure();
    if !structure.quasilinear() || x.iter().any(|x| !x.is_finite()) || misses_an_unknown(structure) {
        return None;
    }
    let mut plain = Plain::new(structure, &system.compiler, ranks, system.matrices);
    let zeros = vec![0.0; n];
    let mut F = vec![0.0; n];
    plain.residual(0, t, &x, &zeros, &mut F).ok()?;
    let [E, F_x] = plain.slopes_by_row(t, &x, &zeros).ok()?;
    let (leading, constraints) = split(structure, &E, ranks)?;
    let a = constraints.len();

    // rows of ẋ: leading rows, and the derivatives of the constraints
    let mut B: Vec<Combination> = leading.iter().map(|&i| E[i].clone()).collect();
    let mut xdot: Vec<f64> = leading.iter().map(|&i| -F[i]).collect();
    if a > 0 {
        let F_t = time_derivative(structure, t, &x)?;
        for combination in &constraints {
            let along = |values: &[f64]| combination.iter().map(|&(i, z)| z * values[i]).sum::<f64>();
            let row = sum(combination, &F_x);
            let sizes = row.iter().map(|&(j, slope)| slope.abs() * x[j].abs().max(1.0));
            if along(&F).abs() > CONSISTENT * sizes.fold(f64::MIN_POSITIVE, f64::max) {
                return None;
            }
            B.push(row);
            xdot.push(-along(&F_t));
        }
    }
    solve(B, &mut xdot, plain.is_sparse(), ranks.or(AT_POINT))?;
    let mut at = Point { t, x, xdot };
    plain.accepted(0, t, &mut at.x, &at.xdot).ok()?;
    Some((plain, at, CharacteristicValues { mu: 0, d: n - a, a, v: 0, u: 0 }))
}

/// Can a system of strangeness index zero be integrated as it stands? Its constraints must be rows, or combinations that do not change:
/// Newton's iteration with one Jacobian does not contract where the left null space of the leading matrix turns.
pub(super) fn stands_alone(system: &System, values: CharacteristicValues) -> bool {
    let structure = system.structure();
    structure.constant_leading() || structure.algebraic().iter().filter(|a| **a).count() == values.a
}

/// Does an unknown appear neither with its derivative nor in a constraint? Only where the rows without ẋ are all constraints.
fn misses_an_unknown(structure: &Structure) -> bool {
    if structure.constant_leading() && !structure.own_columns() {
        return false;
    }
    let (mut found, algebraic) = (structure.differentiated(), structure.algebraic());
    structure.slope.iter().filter(|(i, _, _)| algebraic[*i]).for_each(|(_, j, _)| found[j] = true);
    found.contains(&false)
}

/// Rows of a matrix with their factors, columns ascending.
fn sum(combination: &[(usize, f64)], rows: &[Combination]) -> Combination {
    let scaled = |&(i, z): &(usize, f64)| rows[i].iter().map(move |&(j, slope)| (j, z * slope));
    let mut all: Combination = combination.iter().flat_map(scaled).collect();
    all.sort_by_key(|entry| entry.0);
    all.dedup_by(|next, sum| {
        let same = next.0 == sum.0;
        sum.1 += if same { next.1 } else { 0.0 };
        same
    });
    all
}

/// A sum of rows: number and factor of each.
type Combination = Vec<(usize, f64)>;

/// Rows that determine derivatives, and combinations of rows that are constraints: rows without ẋ, or the left null space of a
/// constant leading matrix that loses rank. Nothing where the rank is in doubt.
pub(super) fn split(
    structure: &Structure,
    E: &[Combination],
    ranks: RankRule,
) -> Option<(Vec<usize>, Vec<Combination>)> {
    let n = E.len();
    if !structure.constant_leading() || structure.own_columns() {
        let without = structure.algebraic();
        let (algebraic, leading): (Vec<usize>, Vec<usize>) = (0..n).partition(|&i| without[i]);
        return Some((leading, algebraic.into_iter().map(|i| vec![(i, 1.0)]).collect()));
    }
    if n >= SPARSE_FROM {
        return split_sparse(E, ranks);
    }
    // Gaußian elimination of (E I), complete pivoting, rows of one size
    let mut M = Matrix::zeros(n, 2 * n);
    for (i, row) in E.iter().enumerate() {
        let top = row.iter().fold(0.0_f64, |top, (_, e)| top.max(e.abs()));
        let scale = if top > 0.0 { 1.0 / top } else { 1.0 };
        for &(j, e) in row {
            M[(i, j)] = scale * e;
        }
        M[(i, n + i)] = scale;
    }
    let largest = |row: &[f64]| {
        row[..n].iter().enumerate().fold(
            (0, 0.0),
            |top: (usize, f64), (j, e)| {
                if e.abs() > top.1 { (j, e.abs()) } else { top }
            },
        )
    };
    let mut tops: Vec<(usize, f64)> = (0..n).map(|i| largest(M.row(i))).collect();
    let mut left: Vec<usize> = (0..n).collect();
    let mut leading = Vec::with_capacity(n);
    while let Some(place) = (0..left.len()).max_by(|&k, &l| tops[left[k]].1.total_cmp(&tops[left[l]].1)) {
        let (j, size) = tops[left[place]];
        if size < ranks.or(REGULAR) {
            break;
        }
        if size < ranks.or(CLEAR_PIVOT) {
            return None;
        }
        let i = left.swap_remove(place);
        leading.push(i);
        for &k in &left {
            if M[(k, j)] == 0.0 {
                continue;
            }
            let (pivot, row) = M.row_pair(i, k);
            let factor = row[j] / pivot[j];
            row.iter_mut().zip(pivot).for_each(|(x, p)| *x -= factor * p);
            row[j] = 0.0;
            tops[k] = largest(row);
        }
    }
    let combination = |&k: &usize| {
        let factors = M.row(k)[n..].iter().copied().enumerate();
        factors.filter(|(_, z)| *z != 0.0).collect()
    };
    Some((leading, left.iter().map(combination).collect()))
}

/// The same of a large matrix.
fn split_sparse(E: &[Combination], ranks: RankRule) -> Option<(Vec<usize>, Vec<Combination>)> {
    let mut found = Elimination::of_rows(E.iter().cloned(), E.len(), ranks.or(REGULAR));
    found.eliminate(|_| true, |_| true);
    if found.smallest() < ranks.or(CLEAR_PIVOT) {
        return None;
    }
    let constraints = found.left_null_vectors(E)?;
    Some(((0..E.len()).filter(|&i| found.has_pivot(i)).collect(), constraints))
}

fn largest_entry(row: &[f64]) -> f64 {
    row.iter().fold(0.0_f64, |top, c| top.max(c.abs()))
}

/// b ← B⁻¹ b, if B is regular.
pub(super) fn solve(rows: Vec<Combination>, b: &mut [f64], sparse: bool, tolerance: f64) -> Option<()> {
    let n = b.len();
    if sparse {
        let with_right = rows.into_iter().zip(b.iter()).map(|(mut row, &b)| {
            row.push((n, b));
            row
        });
        let mut found = Elimination::of_rows(with_right, n + 1, tolerance);
        found.eliminate(|_| true, |j| j < n);
        let mut x = vec![0.0; n + 1];
        x[n] = -1.0;
        found.solve(&mut x);
        b.copy_from_slice(&x[..n]);
        return (found.rank() == n && b.iter().all(|x| x.is_finite())).then_some(());
    }
    let mut B = Matrix::zeros(n, n);
    rows.iter().enumerate().for_each(|(i, row)| row.iter().for_each(|&(j, c)| B[(i, j)] = c));
    // rows of one size, so that pivots can be judged
    let mut single = true;
    for (i, b) in b.iter_mut().enumerate() {
        let row = B.row_mut(i);
        let top = largest_entry(row);
        if top == 0.0 {
            return None;
        }
        for c in row.iter_mut() {
            *c /= top;
        }
        *b /= top;
        single = single && row.iter().filter(|c| **c != 0.0).count() == 1;
    }
    if single {
        // a permutation with signs
        let place = |i: usize| B.row(i).iter().position(|c| *c != 0.0);
        let mut x = vec![f64::NAN; n];
        for i in 0..n {
            let j = place(i)?;
            x[j] = B[(i, j)] * b[i];
        }
        b.copy_from_slice(&x);
        return b.iter().all(|x| x.is_finite()).then_some(());
    }
    if n < f64::LARGE {
        let mut lu = Lu::<f64>::new(n);
        lu.A = B;
        lu.factor().ok()?;
        if (0..n).any(|k| lu.A[(k, k)].abs() < tolerance) {
            return None;
        }
        lu.solve(b);
    } else {
        let mut lu = LargeLu::<f64>::new(n);
        for i in 0..n {
            B.row(i).iter().enumerate().for_each(|(j, &c)| lu.A[(i, j)] = c);
        }
        lu.factor().ok()?;
        if (0..n).any(|k| lu.A[(k, k)].abs() < tolerance) {
            return None;
        }
        lu.solve(b);
    }
    Some(())
}

/// ∂F/∂t at ẋ = 0, by dual numbers, of the rows that contain t.
fn time_derivative(structure: &Structure, t: f64, x: &[f64]) -> Option<Vec<f64>> {
    let (system, graph) = (&structure.system, &structure.system.graph);
    let mut contains = vec![false; graph.len()];
    contains[system.t.index()] = true;
    for e in graph.needed(&system.equations) {
        contains[e.index()] |= graph.node(e).arguments().any(|argument| contains[argument.index()]);
    }
    let rows: Vec<usize> = (0..system.rows()).filter(|&i| contains[system.equations[i].index()]).collect();
    let mut F_t = vec![0.0; system.rows()];
    if rows.is_empty() {
        return Some(F_t);
    }
    let mut inputs = vec![Dual::<f64, 1>::constant(0.0); graph.inputs().len()];
    inputs[system.place(system.t)] = Dual::variable(t, 0);
    for (&e, &value) in system.x.iter().zip(x) {
        inputs[system.place(e)] = Dual::constant(value);
    }
    let formulas: Vec<Expr> = rows.iter().map(|&i| system.equations[i]).collect();
    for (i, value) in rows.into_iter().zip(Tape::new(graph, &formulas).evaluate(&inputs)) {
        F_t[i] = value.lanes[0].is_finite().then_some(value.lanes[0])?;
    }
    Some(F_t)
}
