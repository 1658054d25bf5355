//! The structural index: what the pattern of the equations says. Pantelides (1988); Pryce (2001), the Σ-method.
//!
//! σ_ij is the highest derivative of unknown j in equation i. A transversal of largest sum gives offsets c_i ≥ 0, d_j with
//! d_j − c_i ≥ σ_ij, equality on the transversal: equation i is to be differentiated c_i times. The system Jacobian ∂F_i/∂x_j^(d_j − c_i), where
//! d_j − c_i = σ_ij, tells whether the answer can be trusted: if it is singular, the structure misleads.

use super::{Characteristics, Structure, System};
use crate::graph::Tape;
use crate::linalg::rank::{AT_POINT, Elimination, is_regular};
use faer::Mat;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

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
        let mut taken = vec![false; n];
        assigned.iter().flatten().for_each(|&j| taken[j] = true);
        let names = |all: &[String], keep: &dyn Fn(usize) -> bool| {
            (0..n).filter(|&k| keep(k)).map(|k| all[k].clone()).collect()
        };
        return Structural::Singular {
            equations: names(system.row_names(), &|i| assigned[i].is_none()),
            unknowns: names(system.names(), &|j| !taken[j]),
        };
    }
    let column: Vec<usize> = assigned.into_iter().flatten().collect();
    let (c, d) = offsets(&sigma, &column);
    let most = c.iter().copied().max().unwrap_or(0);
    let index = most + usize::from(d.contains(&0));
    let tau = at.ranks.or(AT_POINT);
    let trusted = jacobian(system, at, &sigma, &c, &d).is_some_and(|J| {
        if system.is_large() {
            let mut found = Elimination::of_rows(J, n, tau);
            found.eliminate(|_| true, |_| true);
            return found.rank() == n;
        }
        let mut dense = Mat::zeros(n, n);
        J.iter().enumerate().for_each(|(i, row)| row.iter().for_each(|&(j, value)| dense[(i, j)] = value));
        is_regular(&dense, tau)
    });
    Structural::Regular { index, offsets: c, trusted }
}

/// An assignment of equations to unknowns with the largest sum of orders, by shortest augmenting paths; Jonker and Volgenant (1987) on a sparse graph.
/// Costs are 1 − σ, so that potentials are small integers.
fn transversal(sigma: &[Vec<(usize, u8)>]) -> Vec<Option<usize>> {
    let n = sigma.len();
    let cost = |order: u8| 1 - i64::from(order);
    let mut u: Vec<i64> = sigma.iter().map(|row| row.iter().map(|e| cost(e.1)).min().unwrap_or(0)).collect();
    let mut v = vec![0_i64; n];
    let (mut row_of, mut assigned): (Vec<Option<usize>>, Vec<Option<usize>>) = (vec![None; n], vec![None; n]);
    // distances of columns from the row at hand, the row before them, and columns that are done
    let (mut distance, mut before, mut done) = (vec![i64::MAX; n], vec![0; n], vec![false; n]);
    for start in 0..n {
        let (mut open, mut touched) = (BinaryHeap::new(), Vec::new());
        let (mut row, mut length, mut end) = (start, 0, None);
        'search: loop {
            for &(j, order) in sigma[row].iter().filter(|e| !done[e.0]) {
                let reached = length + cost(order) - u[row] - v[j];
                if reached < distance[j] {
                    if distance[j] == i64::MAX {
                        touched.push(j);
                    }
                    (distance[j], before[j]) = (reached, row);
                    if reached == length && row_of[j].is_none() {
                        end = Some(j);
                        break 'search;
                    }
                    open.push(Reverse((reached, j)));
                }
            }
            let next = loop {
                match open.pop() {
                    Some(Reverse((reached, j))) if done[j] || reached > distance[j] => {}
                    Some(Reverse((reached, j))) => break Some((reached, j)),
                    None => break None,
                }
            };
            let Some((reached, j)) = next else { break };
            length = reached;
            let Some(next_row) = row_of[j] else {
                end = Some(j);
                break;
            };
            done[j] = true;
            row = next_row;
        }
        if let Some(end) = end {
            u[start] += length;
            for &j in touched.iter().filter(|&&j| done[j]) {
                v[j] -= length - distance[j];
                if let Some(i) = row_of[j] {
                    u[i] += length - distance[j];
                }
            }
            let mut j = end;
            loop {
                let i = before[j];
                row_of[j] = Some(i);
                match assigned[i].replace(j) {
                    Some(other) if i != start => j = other,
                    _ => break,
                }
            }
        }
        for j in touched {
            (distance[j], done[j]) = (i64::MAX, false);
        }
    }
    assigned
}

/// The smallest offsets c ≥ 0, d with d_j − c_i ≥ σ_ij, equality where j is assigned to i.
fn offsets(sigma: &[Vec<(usize, u8)>], column: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let n = sigma.len();
    let order = |i: usize| sigma[i].iter().find(|e| e.0 == column[i]).map_or(0, |e| usize::from(e.1));
    let own: Vec<usize> = (0..n).map(order).collect();
    let mut c = vec![0_usize; n];
    loop {
        let mut d = vec![0_usize; n];
        for (row, c) in sigma.iter().zip(&c) {
            for &(j, order) in row {
                d[j] = d[j].max(usize::from(order) + c);
            }
        }
        let next: Vec<usize> = (0..n).map(|i| d[column[i]] - own[i]).collect();
        if next == c {
            return (c, d);
        }
        c = next;
    }
}

/// The system Jacobian at a point, as rows of (unknown, value).
fn jacobian(
    system: &System,
    at: &Characteristics,
    sigma: &[Vec<(usize, u8)>],
    c: &[usize],
    d: &[usize],
) -> Option<Vec<Vec<(usize, f64)>>> {
    let Structure { system: first, leading, slope } = system.structure();
    let mut inputs = vec![0.0; first.graph.inputs().len()];
    inputs[first.place(first.t)] = at.t;
    for (&e, &value) in first.x.iter().chain(&first.xdot).zip(at.x().iter().chain(at.xdot())) {
        inputs[first.place(e)] = value;
    }
    let values = Tape::new(&first.graph, &system.structure().coefficients()).evaluate(&inputs);
    let entries = leading.iter().map(|(i, j, _)| (i, j, 1)).chain(slope.iter().map(|(i, j, _)| (i, j, 0)));
    let mut J = vec![Vec::new(); system.dim()];
    for ((i, j, order), value) in entries.zip(values) {
        let highest = sigma[i].binary_search_by_key(&j, |e| e.0).is_ok_and(|k| usize::from(sigma[i][k].1) == order);
        if highest && d[j] == c[i] + order {
            J[i].push((j, value));
        }
    }
    J.iter().flatten().all(|(_, value): &(usize, f64)| value.is_finite()).then_some(J)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_transversal_is_found() {
        // pendulum: x, y, u, v, λ
        let s = |row: [i8; 5]| (0..5).filter(|&j| row[j] >= 0).map(|j| (j, row[j] as u8)).collect::<Vec<_>>();
        let sigma = [
            s([1, -1, 0, -1, -1]),
            s([-1, 1, -1, 0, -1]),
            s([0, -1, 1, -1, 0]),
            s([-1, 0, -1, 1, 0]),
            s([0, 0, -1, -1, -1]),
        ];
        let column: Vec<usize> = transversal(&sigma).into_iter().flatten().collect();
        let order = |i: usize| usize::from(sigma[i].iter().find(|e| e.0 == column[i]).unwrap().1);
        let total: usize = (0..5).map(order).sum();
        assert_eq!(total, 2, "degrees of freedom");
        let (c, d) = offsets(&sigma, &column);
        assert_eq!((c, d), (vec![1, 1, 0, 0, 2], vec![2, 2, 1, 1, 0]));
    }
}
