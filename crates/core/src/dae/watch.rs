//! The matrix that must stay regular along a system of index at most one: (Z₁ᵀF_ẋ; Z₂ᵀF_x), where Z₂ spans the left null space of F_ẋ.
//!
//! Where it loses rank solutions end or branch, whatever the residuals say. It is followed from step to step; entries that cannot
//! make a difference, rows and columns with a single entry that is a number, are left out, so that many systems need no watch at all.

use super::Structure;
use super::ready::split;
use crate::error::StepFailure;
use crate::graph::{Compiler, Expr, Graph, Kernel};
use crate::linalg::rank::{RankWatch, Rows};
use crate::linalg::{Matrix, RankRule};

/// Larger matrices are not followed: one elimination for each step would cost more than a step of a sparse system.
const MOST_ROWS: usize = 150;

/// The matrix at the last accepted point.
pub(super) struct WatchedMatrix {
    entries: Box<dyn Kernel>,
    places: Vec<(usize, usize)>,
    values: Vec<f64>,
    inputs: Vec<f64>,
    time: usize,
    unknowns: Vec<usize>,
    /// rows of the matrix that stand for constraints
    constraints: Vec<bool>,
    matrix: RankWatch,
    /// time, x, ẋ
    last: Option<(f64, Vec<f64>, Vec<f64>)>,
    x: Vec<f64>,
    xdot: Vec<f64>,
}

/// Entries of a square matrix of formulas: row, column, formula.
type WatchedEntries = Vec<(usize, usize, Expr)>;

impl WatchedMatrix {
    /// Nothing where the matrix is made of numbers, or not known.
    pub fn new(structure: &Structure, compiler: &dyn Compiler, ranks: RankRule) -> Option<Self> {
        let system = &structure.system;
        if system.rows() != system.dim() || (structure.constant_leading() && structure.constant_constraints()) {
            return None;
        }
        let mut graph = system.graph.clone();
        let (entries, algebraic) = matrix(structure, &mut graph, ranks)?;
        let (entries, rows) = essential(entries, &graph);
        let r = rows.len();
        if r == 0 || r > MOST_ROWS {
            return None;
        }
        let formulas: Vec<Expr> = entries.iter().map(|(_, _, e)| *e).collect();
        let (n, values) = (system.dim(), vec![0.0; entries.len()]);
        Some(WatchedMatrix {
            entries: compiler.compile(&graph, &formulas),
            places: entries.iter().map(|&(i, j, _)| (i, j)).collect(),
            values,
            inputs: vec![0.0; graph.inputs().len()],
            time: system.place(system.t),
            unknowns: system.x.iter().chain(&system.xdot).map(|&e| system.place(e)).collect(),
            constraints: rows.iter().map(|&i| algebraic[i]).collect(),
            matrix: RankWatch::new(r, r, Rows::Fixed),
            last: None,
            x: vec![0.0; n],
            xdot: vec![0.0; n],
        })
    }

    /// The next point does not continue the last one.
    pub fn forget(&mut self) {
        self.last = None;
        self.matrix.forget();
    }

    /// Go on to an accepted point.
    pub fn step(&mut self, t: f64, x: &[f64], xdot: &[f64]) -> Result<(), StepFailure> {
        let WatchedMatrix { entries, places, values, inputs, time, unknowns, matrix: watch, last, .. } = self;
        let mut evaluate = |t: f64, x: &[f64], xdot: &[f64], W: &mut Matrix| {
            inputs[*time] = t;
            for (&place, &value) in unknowns.iter().zip(x.iter().chain(xdot)) {
                inputs[place] = value;
            }
            entries.call(inputs, values);
            W.fill(0.0);
            places.iter().zip(values.iter()).for_each(|(&place, &value)| W[place] = value);
            values.iter().all(|w| w.is_finite())
        };
        if !evaluate(t, x, xdot, watch.next_matrix()) {
            return Err(StepFailure::Undefined { t });
        }
        let (between, rates) = (&mut self.x, &mut self.xdot);
        let lost = watch.step(|s, W| match last {
            Some((t0, x0, xdot0)) => {
                hermite(s, t - *t0, [x0, xdot0, x, xdot], between, rates);
                evaluate(*t0 + s * (t - *t0), between, rates, W)
            }
            None => false,
        });
        let lost = lost.zip(last.as_ref()).map(|(s, (t0, ..))| t0 + s * (t - t0));
        match last {
            Some((t0, x0, xdot0)) => {
                *t0 = t;
                x0.copy_from_slice(x);
                xdot0.copy_from_slice(xdot);
            }
            None => *last = Some((t, x.to_vec(), xdot.to_vec())),
        }
        match lost {
            // a loss in rows of derivatives only is one of the leading matrix
            Some(t) if self.constraints.iter().any(|c| *c) => Err(StepFailure::ConstraintsSingular { t }),
            Some(t) => Err(StepFailure::LeadingSingular { t }),
            None => Ok(()),
        }
    }
}

/// x and ẋ at a part s of a step of length h, from both at its ends.
fn hermite(s: f64, h: f64, [x0, d0, x1, d1]: [&[f64]; 4], x: &mut [f64], xdot: &mut [f64]) {
    for j in 0..x.len() {
        let (rise, a, b) = (x1[j] - x0[j], h * d0[j], h * d1[j]);
        let (second, third) = (3.0 * rise - 2.0 * a - b, a + b - 2.0 * rise);
        x[j] = x0[j] + s * (a + s * (second + s * third));
        xdot[j] = (a + s * (2.0 * second + 3.0 * s * third)) / h;
    }
}

/// All entries of the matrix, and which of its rows are constraints. Nothing where the left null space is in doubt.
fn matrix(structure: &Structure, graph: &mut Graph, ranks: RankRule) -> Option<(WatchedEntries, Vec<bool>)> {
    let m = structure.system.rows();
    let mut numbers = vec![Vec::new(); m];
    if structure.constant_leading() {
        for (i, j, e) in structure.leading.iter() {
            numbers[i].push((j, graph.constant(e)?));
        }
    }
    let (rows, constraints) = split(structure, &numbers, ranks)?;
    let mut entries = WatchedEntries::new();
    let mut row_of = vec![usize::MAX; m];
    rows.iter().enumerate().for_each(|(row, &i)| row_of[i] = row);
    for (i, j, e) in structure.leading.iter().filter(|(i, _, _)| row_of[*i] != usize::MAX) {
        entries.push((row_of[i], j, e));
    }
    let mut of_row: Vec<Vec<(usize, Expr)>> = vec![Vec::new(); m];
    structure.slope.iter().for_each(|(i, j, e)| of_row[i].push((j, e)));
    for (k, combination) in constraints.iter().enumerate() {
        let mut sums: Vec<Option<Expr>> = vec![None; structure.system.dim()];
        graph.with(|| {
            for &(i, z) in combination {
                for &(j, e) in &of_row[i] {
                    let term = if z == 1.0 { e } else { e * z };
                    sums[j] = Some(sums[j].map_or(term, |sum| sum + term));
                }
            }
        });
        entries.extend(sums.iter().enumerate().filter_map(|(j, e)| Some((rows.len() + k, j, (*e)?))));
    }
    let algebraic = (0..m).map(|row| row >= rows.len()).collect();
    entries.retain(|(_, _, e)| graph.constant(*e) != Some(0.0));
    Some((entries, algebraic))
}

/// Without rows and columns that have a single entry, a number: the rest is regular where the whole is. Entries beside a single one
/// that is not a number do not matter either. Rows and columns are numbered anew; which rows they were.
fn essential(mut entries: WatchedEntries, graph: &Graph) -> (WatchedEntries, Vec<usize>) {
    let size = entries.iter().map(|&(i, j, _)| i.max(j) + 1).max().unwrap_or(0);
    let mut alone: WatchedEntries = Vec::new();
    // entries of every row and column, and how many of them are left
    let mut lines = [vec![Vec::new(); size], vec![Vec::new(); size]];
    for (k, &(i, j, _)) in entries.iter().enumerate() {
        lines[0][i].push(k);
        lines[1][j].push(k);
    }
    let mut left = [0, 1].map(|side: usize| lines[side].iter().map(Vec::len).collect::<Vec<_>>());
    let mut gone = vec![false; entries.len()];
    let is_single = |left: &[Vec<usize>; 2], k: usize| left[0][entries[k].0] == 1 || left[1][entries[k].1] == 1;
    let mut open: Vec<usize> = (0..entries.len()).rev().filter(|&k| is_single(&left, k)).collect();
    while let Some(k) = open.pop() {
        if gone[k] || !is_single(&left, k) {
            continue;
        }
        let (i, j, e) = entries[k];
        if graph.constant(e).is_none() {
            alone.push(entries[k]);
        }
        for &other in lines[0][i].iter().chain(&lines[1][j]) {
            if !std::mem::replace(&mut gone[other], true) {
                left[0][entries[other].0] -= 1;
                left[1][entries[other].1] -= 1;
            }
        }
        let columns = lines[0][i].iter().map(|&other| &lines[1][entries[other].1]);
        let rows = lines[1][j].iter().map(|&other| &lines[0][entries[other].0]);
        open.extend(columns.chain(rows).flatten().copied().filter(|&k| !gone[k] && is_single(&left, k)));
    }
    let mut gone = gone.into_iter();
    entries.retain(|_| !gone.next().unwrap_or(false));
    if entries.iter().all(|(_, _, e)| graph.constant(*e).is_some()) {
        entries.clear();
    }
    entries.extend(alone);
    let mut rows: Vec<usize> = entries.iter().map(|e| e.0).collect();
    let mut columns: Vec<usize> = entries.iter().map(|e| e.1).collect();
    for list in [&mut rows, &mut columns] {
        list.sort_unstable();
        list.dedup();
    }
    // a structure without a regular matrix is not followed
    if rows.len() != columns.len() {
        return (Vec::new(), Vec::new());
    }
    for (i, j, _) in &mut entries {
        *i = rows.binary_search(i).unwrap_or(0);
        *j = columns.binary_search(j).unwrap_or(0);
    }
    (entries, rows)
}
