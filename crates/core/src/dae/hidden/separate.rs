//! The first step: rates x_j' = … from rows with numbers as leading coefficients, constraints and definitions from the others.

use super::{Procedure, Role};
use crate::graph::Expr;
use std::collections::BTreeMap;

impl Procedure<'_> {
    /// Rates from rows with numbers as leading coefficients; derivatives in the other rows become unknowns.
    pub(super) fn separate(&mut self) {
        let n = self.array.dim;
        let rows: Vec<Expr> = self.equations.iter().map(|(_, e)| *e).collect();
        let leading = self.array.graph.jacobian(&rows, &self.xdot);
        let mut entries: Vec<BTreeMap<usize, Expr>> = vec![BTreeMap::new(); rows.len()];
        for (i, j, e) in leading.iter() {
            entries[i].insert(j, e);
        }
        let zeros: Vec<(Expr, f64)> = self.xdot.iter().map(|&e| (e, 0.0)).collect();
        // rows Σ c_j x_j' = k with numbers c_j
        let mut numeric: Vec<(Vec<f64>, Expr, usize)> = Vec::new();
        let mut others: Vec<usize> = Vec::new();
        for (i, row) in entries.iter().enumerate() {
            let numbers: Option<Vec<(usize, f64)>> = row.iter().map(|(&j, &e)| Some((j, self.number(e)?))).collect();
            match numbers {
                Some(numbers) if !numbers.is_empty() => {
                    let mut c = vec![0.0; n];
                    for &(j, value) in &numbers {
                        c[j] = value;
                    }
                    let at_zero = self.array.graph.bind(&[rows[i]], &zeros)[0];
                    let k = self.array.graph.negative(at_zero);
                    numeric.push((c, k, i));
                }
                _ => others.push(i),
            }
        }
        // single derivatives keep their formulas: x_j' = k/c
        let single = |c: &[f64]| c.iter().filter(|c| **c != 0.0).count() == 1;
        let (lone, mut coupled): (Vec<_>, Vec<_>) = numeric.into_iter().partition(|(c, _, _)| single(c));
        for (c, k, i) in lone {
            let j = c.iter().position(|c| *c != 0.0).unwrap_or(0);
            if self.array.rates[j].is_some() {
                coupled.push((c, k, i));
                continue;
            }
            // the coefficient with its parameters, if it has any
            let coefficient = entries[i][&j];
            self.array.rates[j] = Some(self.array.graph.with(|| k / coefficient));
        }
        // known rates leave the coupled rows
        for (c, k, _) in &mut coupled {
            for j in 0..n {
                if let (true, Some(rate)) = (c[j] != 0.0, self.array.rates[j]) {
                    let factor = std::mem::take(&mut c[j]);
                    *k = self.array.graph.with(|| *k - rate * factor);
                }
            }
        }
        self.eliminate(coupled);
        // rows with other coefficients: what is known is put in, the rest becomes unknown
        let known: Vec<(Expr, Expr)> =
            (0..n).filter_map(|j| self.array.rates[j].map(|rate| (self.xdot[j], rate))).collect();
        for i in others {
            let residual = self.array.graph.substitute(&[rows[i]], &known)[0];
            let left: Vec<usize> = self.array.graph.depends_on(residual);
            let places: Vec<usize> = self.xdot.iter().map(|&e| self.array.place(e)).collect();
            let columns: Vec<usize> = (0..n).filter(|&j| left.contains(&places[j])).collect();
            let role = if columns.is_empty() { Role::Constraint } else { Role::Definition };
            for j in columns {
                if self.array.rates[j].is_none() {
                    self.add_unknown(j, self.xdot[j]);
                }
            }
            self.add(residual, 0, role, self.equations[i].0.clone());
        }
    }

    /// Gauß–Jordan on rows Σ c_j x_j' = k with numbers c_j: rates, constraints from rows that vanish.
    fn eliminate(&mut self, mut rows: Vec<(Vec<f64>, Expr, usize)>) {
        let n = self.array.dim;
        let mut pivots: Vec<(usize, usize)> = Vec::new();
        for r in 0..rows.len() {
            // largest coefficient of all rows that are left
            let mut best = (r, 0, 0.0);
            for (i, (c, _, _)) in rows.iter().enumerate().skip(r) {
                let top = c.iter().fold(0.0_f64, |top, c| top.max(c.abs()));
                for (j, c) in c.iter().enumerate() {
                    if top > 0.0 && c.abs() / top > best.2 {
                        best = (i, j, c.abs() / top);
                    }
                }
            }
            let (i, j, size) = best;
            if size == 0.0 {
                break;
            }
            rows.swap(r, i);
            let (pivot_row, k, _) = rows[r].clone();
            let pivot = pivot_row[j];
            for (i, (c, own, _)) in rows.iter_mut().enumerate() {
                if i != r && c[j] != 0.0 {
                    let factor = c[j] / pivot;
                    for (c, p) in c.iter_mut().zip(&pivot_row) {
                        let size = c.abs().max((factor * p).abs());
                        *c -= factor * p;
                        if c.abs() < 1e-13 * size {
                            *c = 0.0;
                        }
                    }
                    c[j] = 0.0;
                    *own = self.array.graph.with(|| *own - k * factor);
                }
            }
            pivots.push((r, j));
        }
        for (c, k, i) in &rows[pivots.len()..] {
            debug_assert!(c.iter().all(|c| *c == 0.0));
            self.add(*k, 0, Role::Constraint, self.equations[*i].0.clone());
        }
        // what has no pivot becomes unknown
        for &(r, pivot) in &pivots {
            for j in 0..n {
                if j != pivot && rows[r].0[j] != 0.0 && self.array.rates[j].is_none() {
                    self.add_unknown(j, self.xdot[j]);
                }
            }
        }
        for (r, pivot) in pivots {
            let (c, mut rate, _) = rows[r].clone();
            for j in 0..n {
                if j != pivot && c[j] != 0.0 {
                    let derivative = self.xdot[j];
                    rate = self.array.graph.with(|| rate - derivative * c[j]);
                }
            }
            self.array.rates[pivot] = Some(self.array.graph.with(|| rate / c[pivot]));
        }
    }

    /// The number a formula of parameters is; `None` if it contains anything else.
    fn number(&mut self, e: Expr) -> Option<f64> {
        let bound = self.array.graph.bind(&[e], &self.array.parameters.clone())[0];
        self.array.graph.constant(bound)
    }
}
