//! The first step: rates x_j' = … from rows with numbers as leading coefficients, constraints and definitions from the others.

use super::{Procedure, Role};
use crate::graph::Expr;
use std::collections::BTreeMap;

/// More rows that share derivatives are not solved for them: the rates would be long sums, as the inverse of a chain is full.
const MOST_COUPLED: usize = 40;

/// Σ c_j x_j' = k with numbers c_j: the coefficients that are not zero, k, and which equation it is.
type NumericRow = (Vec<(usize, f64)>, Expr, usize);

impl Procedure<'_> {
    /// Rates from rows with numbers as leading coefficients; derivatives in the other rows become unknowns.
    pub(super) fn separate(&mut self) {
        let n = self.array.dim;
        let rows: Vec<Expr> = self.equations.iter().map(|(_, e)| *e).collect();
        let leading = self.array.graph.jacobian(&rows, &self.xdot);
        let bound = self.array.graph.bind(&leading.entries, &self.array.parameters);
        let mut entries: Vec<Vec<(usize, Expr, Option<f64>)>> = vec![Vec::new(); rows.len()];
        for ((i, j, e), &bound) in leading.iter().zip(&bound) {
            entries[i].push((j, e, self.array.graph.constant(bound)));
        }
        let zeros: Vec<(Expr, f64)> = self.xdot.iter().map(|&e| (e, 0.0)).collect();
        let mut numbers: Vec<(usize, Vec<(usize, f64)>)> = Vec::new();
        let mut others = Vec::new();
        for (i, row) in entries.iter().enumerate() {
            let coefficients: Option<Vec<(usize, f64)>> = row.iter().map(|&(j, _, c)| Some((j, c?))).collect();
            match coefficients {
                Some(coefficients) if !coefficients.is_empty() => numbers.push((i, coefficients)),
                _ => others.push(i),
            }
        }
        let with_numbers: Vec<Expr> = numbers.iter().map(|(i, _)| rows[*i]).collect();
        let at_zero = self.array.graph.bind(&with_numbers, &zeros);
        let mut numeric: Vec<NumericRow> = Vec::with_capacity(numbers.len());
        for ((i, mut c), at_zero) in numbers.into_iter().zip(at_zero) {
            c.retain(|(_, value)| *value != 0.0);
            numeric.push((c, self.array.graph.negative(at_zero), i));
        }
        // single derivatives keep their formulas: x_j' = k/c
        let (lone, mut coupled): (Vec<_>, Vec<_>) = numeric.into_iter().partition(|(c, _, _)| c.len() == 1);
        for (c, k, i) in lone {
            let j = c[0].0;
            if self.array.rates[j].is_some() {
                coupled.push((c, k, i));
                continue;
            }
            // the coefficient with its parameters, if it has any
            let coefficient = entries[i].iter().find(|entry| entry.0 == j).map(|entry| entry.1);
            self.array.rates[j] = coefficient.map(|coefficient| self.array.graph.with(|| k / coefficient));
        }
        // known rates leave the coupled rows
        for (c, k, _) in &mut coupled {
            let rates = &self.array.rates;
            let known: Vec<(Expr, f64)> = c.iter().filter_map(|&(j, c)| Some((rates[j]?, c))).collect();
            c.retain(|(j, _)| rates[*j].is_none());
            for (rate, factor) in known {
                *k = self.array.graph.with(|| *k - rate * factor);
            }
        }
        for rows in groups(coupled, n) {
            if rows.len() <= MOST_COUPLED {
                self.eliminate(rows);
            } else {
                others.extend(rows.into_iter().map(|(_, _, i)| i));
            }
        }
        // rows with other coefficients: what is known is put in, the rest becomes unknown
        let known: Vec<(Expr, Expr)> =
            (0..n).filter_map(|j| self.array.rates[j].map(|rate| (self.xdot[j], rate))).collect();
        let with_others: Vec<Expr> = others.iter().map(|&i| rows[i]).collect();
        let residuals = self.array.graph.substitute(&with_others, &known);
        let mut rate_of = vec![None; self.array.graph.inputs().len()];
        (0..n).for_each(|j| rate_of[self.array.place(self.xdot[j])] = Some(j));
        let dependencies = self.array.graph.dependencies(&residuals);
        for ((i, residual), inputs) in others.into_iter().zip(residuals).zip(dependencies) {
            let mut columns: Vec<usize> = inputs.into_iter().filter_map(|input| rate_of[input]).collect();
            columns.sort_unstable();
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
    fn eliminate(&mut self, rows: Vec<NumericRow>) {
        // derivatives in these rows, and their coefficients
        let mut columns: Vec<usize> = rows.iter().flat_map(|(c, _, _)| c.iter().map(|entry| entry.0)).collect();
        columns.sort_unstable();
        columns.dedup();
        let n = columns.len();
        let dense = |(c, k, i): NumericRow| {
            let mut all = vec![0.0; n];
            for (j, value) in c {
                all[columns.binary_search(&j).unwrap_or(0)] = value;
            }
            (all, k, i)
        };
        let mut rows: Vec<(Vec<f64>, Expr, usize)> = rows.into_iter().map(dense).collect();
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
                if j != pivot && rows[r].0[j] != 0.0 && self.array.rates[columns[j]].is_none() {
                    self.add_unknown(columns[j], self.xdot[columns[j]]);
                }
            }
        }
        for (r, pivot) in pivots {
            let (c, mut rate, _) = rows[r].clone();
            for j in 0..n {
                if j != pivot && c[j] != 0.0 {
                    let derivative = self.xdot[columns[j]];
                    rate = self.array.graph.with(|| rate - derivative * c[j]);
                }
            }
            self.array.rates[columns[pivot]] = Some(self.array.graph.with(|| rate / c[pivot]));
        }
    }
}

/// Where j leads to, with shorter ways for the next time.
fn find(leader: &mut [usize], mut j: usize) -> usize {
    while leader[j] != j {
        leader[j] = leader[leader[j]];
        j = leader[j];
    }
    j
}

/// Rows that share derivatives, directly or through others; few rows are one group.
fn groups(rows: Vec<NumericRow>, n: usize) -> Vec<Vec<NumericRow>> {
    if rows.len() <= MOST_COUPLED {
        return vec![rows];
    }
    // derivatives of one group lead to one of them
    let mut leader: Vec<usize> = (0..n).collect();
    for (c, _, _) in &rows {
        for pair in c.windows(2) {
            let (a, b) = (find(&mut leader, pair[0].0), find(&mut leader, pair[1].0));
            leader[a.max(b)] = a.min(b);
        }
    }
    let mut groups: BTreeMap<Option<usize>, Vec<NumericRow>> = BTreeMap::new();
    for row in rows {
        let group = row.0.first().map(|entry| find(&mut leader, entry.0));
        groups.entry(group).or_default().push(row);
    }
    groups.into_values().collect()
}
