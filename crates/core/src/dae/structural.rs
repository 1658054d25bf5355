//! The structural index: what the pattern of the equations says. Pantelides (1988); Pryce (2001), the Σ-method.
//!
//! σ_ij is the highest derivative of unknown j in equation i. A transversal of largest sum gives offsets c_i ≥ 0, d_j with
//! d_j − c_i ≥ σ_ij, equality on the transversal: equation i is to be differentiated c_i times. The system Jacobian ∂F_i/∂x_j^(d_j − c_i), where
//! d_j − c_i = σ_ij, tells whether the answer can be trusted: if it is singular, the structure misleads.

use super::{Characteristics, System};
use crate::graph::{Expr, Tape};
use crate::linalg::rank::{AT_POINT, is_regular};
use faer::Mat;

/// What the structure says.
#[derive(Clone, Debug, PartialEq)]
pub enum Structural {
    /// Equations can be assigned to unknowns.
    Regular {
        /// Structural index.
        index: usize,
        /// How often each equation is to be differentiated.
        offsets: Vec<usize>,
        /// Is the system Jacobian regular at the point, so that the structural result holds?
        trusted: bool,
    },
    /// Some equations and unknowns cannot be assigned to each other.
    Singular {
        /// Equations without an unknown of their own.
        equations: Vec<String>,
        /// Unknowns without an equation of their own.
        unknowns: Vec<String>,
    },
    /// Not as many equations as unknowns.
    NotSquare,
}

/// Structural analysis of a system; its Jacobian is judged at a point that has been analysed.
pub fn structural(system: &System, at: &Characteristics) -> Structural {
    let n = system.dim();
    if system.rows() != n {
        return Structural::NotSquare;
    }
    let sigma = system.first.signature();
    let assigned = transversal(&sigma);
    if assigned.iter().any(Option::is_none) {
        let taken: Vec<usize> = assigned.iter().flatten().copied().collect();
        let names = |all: &[String], keep: &dyn Fn(usize) -> bool| {
            (0..n).filter(|&k| keep(k)).map(|k| all[k].clone()).collect()
        };
        return Structural::Singular {
            equations: names(system.row_names(), &|i| assigned[i].is_none()),
            unknowns: names(system.names(), &|j| !taken.contains(&j)),
        };
    }
    let column: Vec<usize> = assigned.into_iter().flatten().collect();
    let (c, d) = offsets(&sigma, &column);
    let most = c.iter().copied().max().unwrap_or(0);
    let index = most + usize::from(d.contains(&0));
    let trusted = jacobian(system, at, &sigma, &c, &d).is_some_and(|J| is_regular(&J, at.ranks.or(AT_POINT)));
    Structural::Regular { index, offsets: c, trusted }
}

/// An assignment of equations to unknowns with the largest sum of orders, by shortest augmenting paths (Kuhn, Munkres).
fn transversal(sigma: &[Vec<Option<u8>>]) -> Vec<Option<usize>> {
    let n = sigma.len();
    // costs to be made small; what is impossible costs more than everything else together
    let impossible = 4 * n as i64 + 4;
    let cost = |i: usize, j: usize| sigma[i][j].map_or(impossible, |s| 1 - i64::from(s));
    let (mut u, mut v) = (vec![0_i64; n + 1], vec![0_i64; n + 1]);
    // row of each column, both counted from one; column 0 stands for the row that looks for one
    let mut row_of = vec![0_usize; n + 1];
    for i in 1..=n {
        row_of[0] = i;
        let mut j0 = 0;
        let (mut least, mut way) = (vec![i64::MAX; n + 1], vec![0_usize; n + 1]);
        let mut done = vec![false; n + 1];
        while row_of[j0] != 0 {
            done[j0] = true;
            let i0 = row_of[j0];
            let (mut delta, mut j1) = (i64::MAX, 0);
            for j in 1..=n {
                if done[j] {
                    continue;
                }
                let reduced = cost(i0 - 1, j - 1) - u[i0] - v[j];
                if reduced < least[j] {
                    (least[j], way[j]) = (reduced, j0);
                }
                if least[j] < delta {
                    (delta, j1) = (least[j], j);
                }
            }
            for j in 0..=n {
                if done[j] {
                    u[row_of[j]] += delta;
                    v[j] -= delta;
                } else {
                    least[j] -= delta;
                }
            }
            j0 = j1;
        }
        while j0 != 0 {
            row_of[j0] = row_of[way[j0]];
            j0 = way[j0];
        }
    }
    let mut assigned = vec![None; n];
    for j in 1..=n {
        if sigma[row_of[j] - 1][j - 1].is_some() {
            assigned[row_of[j] - 1] = Some(j - 1);
        }
    }
    assigned
}

/// The smallest offsets c ≥ 0, d with d_j − c_i ≥ σ_ij, equality where j is assigned to i.
fn offsets(sigma: &[Vec<Option<u8>>], column: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let n = sigma.len();
    let mut c = vec![0_usize; n];
    loop {
        let d: Vec<usize> = (0..n)
            .map(|j| (0..n).filter_map(|i| sigma[i][j].map(|s| usize::from(s) + c[i])).max().unwrap_or(0))
            .collect();
        let next: Vec<usize> = (0..n).map(|i| d[column[i]] - usize::from(sigma[i][column[i]].unwrap_or(0))).collect();
        if next == c {
            return (c, d);
        }
        c = next;
    }
}

/// The system Jacobian at a point.
fn jacobian(
    system: &System,
    at: &Characteristics,
    sigma: &[Vec<Option<u8>>],
    c: &[usize],
    d: &[usize],
) -> Option<Mat<f64>> {
    let mut first = system.first.bound();
    let variables: Vec<Expr> = first.x.iter().chain(&first.xdot).copied().collect();
    let derivatives = first.graph.jacobian(&first.equations, &variables);
    let mut inputs = vec![0.0; first.graph.inputs().len()];
    inputs[first.place(first.t)] = at.t;
    for (&e, &value) in variables.iter().zip(at.x().iter().chain(at.xdot())) {
        inputs[first.place(e)] = value;
    }
    let values = Tape::new(&first.graph, &derivatives.entries).evaluate(&inputs);
    let n = system.dim();
    let mut J = Mat::zeros(n, n);
    for ((i, k, _), value) in derivatives.iter().zip(values) {
        let (order, j) = (k / n, k % n);
        if sigma[i][j] == Some(order as u8) && d[j] == c[i] + order {
            J[(i, j)] = value;
        }
    }
    let finite = J.is_all_finite();
    finite.then_some(J)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_transversal_is_found() {
        // pendulum: x, y, u, v, λ
        let s = |row: [i8; 5]| row.map(|s| (s >= 0).then_some(s as u8)).to_vec();
        let sigma = [
            s([1, -1, 0, -1, -1]),
            s([-1, 1, -1, 0, -1]),
            s([0, -1, 1, -1, 0]),
            s([-1, 0, -1, 1, 0]),
            s([0, 0, -1, -1, -1]),
        ];
        let column: Vec<usize> = transversal(&sigma).into_iter().flatten().collect();
        let total: usize = (0..5).map(|i| usize::from(sigma[i][column[i]].unwrap())).sum();
        assert_eq!(total, 2, "degrees of freedom");
        let (c, d) = offsets(&sigma, &column);
        assert_eq!((c, d), (vec![1, 1, 0, 0, 2], vec![2, 2, 1, 1, 0]));
    }
}
