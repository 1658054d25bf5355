//! A quick look at square systems: is the index at most one at the given point, and is the point consistent?
//!
//! Rows of F without ẋ are constraints. With Z₁, Z₂ for the others, where their leading matrix is constant and loses rank, the index is at most
//! one if (Z₁ᵀF_ẋ; Z₂ᵀF_x) is regular. What needs no reduction pays one decomposition, and no derivative array is made.

use super::initial::{Initial, values};
use super::{CharacteristicValues, Dae, Pencil, Plain, Point, System};
use crate::linalg::{Lu, Matrix, Svd};
use crate::motion::Start;
use faer::Mat;

/// Pivots below this count as zero.
const REGULAR: f64 = 1e-10;
/// Scaled residuals of constraints below this are zero.
const CONSISTENT: f64 = 1e-9;

/// The system as it stands with a consistent point, or nothing if more must be known.
pub(super) fn ready(system: &System, initial: &Initial) -> Option<(Plain, Point, CharacteristicValues)> {
    let (n, first) = (system.dim(), &system.first);
    if initial.states.len() != system.formulas.states.len() {
        return None;
    }
    let starts = initial.starts(first);
    let given = starts[..n].iter().all(|s| *s != Start::Unknown) && starts[n..].iter().all(|s| *s == Start::Unknown);
    if system.rows() != n || !given || !initial.conditions.is_empty() || !first.invariants.is_empty() {
        return None;
    }
    let (t, x) = (initial.t, values(&starts[..n]));
    let mut plain = Plain::new(first, &*system.compiler);
    if !plain.quasilinear() || x.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let zeros = vec![0.0; n];
    let (mut F, mut F_t) = (vec![0.0; n], vec![0.0; n]);
    plain.residual(0, t, &x, &zeros, &mut F).ok()?;
    let mut pencil = plain.new_pencil();
    plain.pencil(t, &x, &zeros, &mut pencil).ok()?;
    let (E, A) = dense(&pencil, n);
    time_derivative(system, t, &x, &mut F_t)?;

    // rows of ẋ: leading rows, and the derivatives of the constraints
    let mut lu = Lu::<f64>::new(n);
    let mut xdot = vec![0.0; n];
    let constraints = constraint_rows(&plain, &E)?;
    let a = constraints.ncols();
    let mut row = 0;
    for i in (0..n).filter(|&i| !plain.algebraic(i)) {
        if row == n {
            break;
        }
        lu.A.row_mut(row).copy_from_slice(E.row(i));
        xdot[row] = -F[i];
        row += 1;
    }
    let leading = row;
    if leading + a > n {
        // dependent leading rows: an orthonormal choice of them
        let Z1 = leading_rows(&E, n - a)?;
        for (k, direction) in Z1.iter().enumerate() {
            for j in 0..n {
                lu.A[(k, j)] = (0..n).map(|i| direction[i] * E[(i, j)]).sum();
            }
            xdot[k] = -(0..n).map(|i| direction[i] * F[i]).sum::<f64>();
        }
    } else if leading + a < n {
        return None;
    }
    for k in 0..a {
        let row = n - a + k;
        let along = |values: &dyn Fn(usize) -> f64| (0..n).map(|i| constraints[(i, k)] * values(i)).sum::<f64>();
        for j in 0..n {
            lu.A[(row, j)] = -along(&|i| A[(i, j)]);
        }
        let top = lu.A.row(row).iter().fold(0.0_f64, |top, c| top.max(c.abs()));
        if along(&|i| F[i]).abs()
            > CONSISTENT * top.max(f64::MIN_POSITIVE) * x.iter().fold(1.0_f64, |m, x| m.max(x.abs()))
        {
            return None;
        }
        xdot[row] = -along(&|i| F_t[i]);
    }
    // equilibrate, so that pivots can be judged
    for i in 0..n {
        let top = lu.A.row(i).iter().fold(0.0_f64, |top, c| top.max(c.abs()));
        if top == 0.0 {
            return None;
        }
        lu.A.row_mut(i).iter_mut().for_each(|c| *c /= top);
        xdot[i] /= top;
    }
    lu.factor().ok()?;
    if (0..n).any(|k| lu.A[(k, k)].abs() < REGULAR) {
        return None;
    }
    lu.solve(&mut xdot);
    let mut at = Point { t, x, xdot };
    plain.accepted(0, t, &mut at.x, &at.xdot).ok()?;
    Some((plain, at, CharacteristicValues { mu: 0, d: n - a, a, v: 0, u: 0 }))
}

fn dense(pencil: &Pencil, n: usize) -> (Matrix, Matrix) {
    match pencil {
        Pencil::Dense { E, A } => (E.clone(), A.clone()),
        Pencil::Sparse { places, E, A } => {
            let (mut full_E, mut full_A) = (Matrix::zeros(n, n), Matrix::zeros(n, n));
            for (k, &place) in places.iter().enumerate() {
                full_E[place] = E[k];
                full_A[place] = A[k];
            }
            (full_E, full_A)
        }
    }
}

/// Columns that take constraints out of the rows: unit vectors for rows without ẋ; the left null space of a constant leading
/// matrix that loses rank.
fn constraint_rows(plain: &Plain, E: &Matrix) -> Option<Mat<f64>> {
    let n = E.rows();
    let algebraic: Vec<usize> = (0..n).filter(|&i| plain.algebraic(i)).collect();
    let unit = Mat::from_fn(n, algebraic.len(), |i, k| if algebraic[k] == i { 1.0 } else { 0.0 });
    if !plain.constant_leading() {
        return Some(unit);
    }
    // each leading row has a column of its own: regular without further ado
    let mut owned = vec![false; n];
    let simple = (0..n).filter(|&i| !plain.algebraic(i)).all(|i| {
        let mut entries = (0..n).filter(|&j| E[(i, j)] != 0.0);
        matches!((entries.next(), entries.next()), (Some(j), None) if !std::mem::replace(&mut owned[j], true))
    });
    if simple {
        return Some(unit);
    }
    let (svd, scale) = scaled_svd(E)?;
    let rank = svd.rank(REGULAR);
    Some(Mat::from_fn(n, n - rank, |i, k| svd.U[(i, rank + k)] * scale[i]))
}

/// An orthonormal choice of d combinations of the rows of E.
fn leading_rows(E: &Matrix, d: usize) -> Option<Vec<Vec<f64>>> {
    let (svd, scale) = scaled_svd(E)?;
    Some((0..d).map(|k| (0..E.rows()).map(|i| svd.U[(i, k)] * scale[i]).collect()).collect())
}

fn scaled_svd(E: &Matrix) -> Option<(Svd, Vec<f64>)> {
    let n = E.rows();
    let mut svd = Svd::new(n, n);
    let mut scale = vec![1.0; n];
    for i in 0..n {
        let top = E.row(i).iter().fold(0.0_f64, |top, c| top.max(c.abs()));
        scale[i] = if top > 0.0 { 1.0 / top } else { 1.0 };
        for j in 0..n {
            svd.A[(i, j)] = E[(i, j)] * scale[i];
        }
    }
    svd.factor().ok()?;
    Some((svd, scale))
}

/// ∂F/∂t.
fn time_derivative(system: &System, t: f64, x: &[f64], F_t: &mut [f64]) -> Option<()> {
    let first = system.first.bound();
    let mut graph = first.graph.clone();
    let jacobian = graph.jacobian(&first.equations, &[first.t]);
    if jacobian.entries.is_empty() {
        return Some(());
    }
    let mut inputs = vec![0.0; graph.inputs().len()];
    inputs[first.place(first.t)] = t;
    for (&e, &value) in first.x.iter().zip(x) {
        inputs[first.place(e)] = value;
    }
    let values = crate::graph::Tape::new(&graph, &jacobian.entries).evaluate(&inputs);
    for ((i, _, _), value) in jacobian.iter().zip(values) {
        F_t[i] = value.is_finite().then_some(value)?;
    }
    Some(())
}
