//! One pass of the procedure: which constraints are to be differentiated, and what becomes of them.
//!
//! Which unknowns a constraint contains is read from its formula. Which constraints depend on each other is a rank: it is decided at the
//! start and at points beside it, and where they contradict each other the start is special.

use super::dependence::{DependentRow, SparseRow, dependences, size};
use super::{Constraint, EntersBy, Omitted, Procedure, ProcedureError, Role};
use crate::graph::{Expr, Jacobian, Tape};

/// A sum below this part of its terms is zero.
pub(super) const VANISHING: f64 = 1e-9;
/// A coefficient below this part of its row's gradient at random points is zero but for rounding.
pub(super) const IDENTICALLY_ZERO: f64 = 1e-12;
/// The same at consistent points, whose residuals are small and not zero.
const ZERO_ON_CONSTRAINTS: f64 = 1e-7;
/// A gradient below this part of its size very near the start is rounding: that of c² where c = 0.
const ROUNDED: f64 = 1e-3;
/// Most auxiliary unknowns for each unknown of the system.
const MOST_AUXILIARY: usize = 4;

impl Procedure<'_> {
    /// One pass: every constraint that does not help to determine the unknowns without rates is differentiated.
    pub(super) fn differentiate(&mut self) -> Result<bool, ProcedureError> {
        let free = self.array.without_rates();
        let gradients = self.gradients(&self.active.clone())?;
        let (dependent, generic) = self.dependent(&gradients, &free);
        if dependent.is_empty() {
            return Ok(false);
        }
        // dependent rows that were replaced by sums without these unknowns
        let mut combined: Vec<usize> = Vec::new();
        let mut chosen: Vec<usize> = dependent.iter().map(|d| d.row).collect();
        for d in &dependent {
            if !d.blind && self.combine(d, &gradients, &free)? {
                combined.push(d.row);
            } else {
                chosen.extend(d.others());
                chosen.extend(generic.iter().filter(|g| g.row == d.row).flat_map(DependentRow::others));
            }
        }
        chosen.sort_unstable();
        chosen.dedup();
        // derivatives of the unknowns without rates in these rows become unknown
        let mut depends = vec![false; gradients.rows];
        for d in &dependent {
            depends[d.row] = true;
        }
        let mut rows = vec![false; gradients.rows];
        for &k in &chosen {
            rows[k] = true;
        }
        for &k in &combined {
            rows[k] = false;
        }
        for j in self.contained(&gradients, &rows, &free) {
            let (original, order) = self.array.origin[j];
            if order >= MOST_AUXILIARY {
                return Err(ProcedureError::TooManyUnknowns);
            }
            let name = format!("{}{}", self.array.names[original], "'".repeat(order + 1));
            let derivative = self.array.graph.input(name);
            self.add_unknown(j, derivative);
        }
        let flow: Vec<(Expr, Expr)> = self.flow();
        let indices: Vec<usize> = chosen.iter().map(|&k| self.active[k]).collect();
        let residuals: Vec<Expr> = indices.iter().map(|&c| self.array.constraints[c].residual).collect();
        let derived = self.array.graph.total_derivative(&residuals, &flow);
        let mut place = 0..;
        self.active.retain(|_| place.next().is_none_or(|k| chosen.binary_search(&k).is_err()));
        for ((k, c), residual) in chosen.into_iter().zip(indices).zip(derived) {
            let Constraint { level, role, equation, .. } = self.array.constraints[c].clone();
            // what only determines derivatives of shared unknowns is bookkeeping
            let role = if depends[k] { role } else { Role::Definition };
            self.add(residual, level + 1, role, equation);
        }
        Ok(true)
    }

    /// Rows that depend on others in these columns at the start, and what they depend on at points beside it.
    fn dependent(&self, gradients: &Gradients, free: &[usize]) -> (Vec<DependentRow>, Vec<DependentRow>) {
        let (independent, dependent) =
            dependences(&gradients.at(&gradients.start), free, 0..gradients.rows, self.points.ranks());
        if dependent.is_empty() {
            return (dependent, Vec::new());
        }
        let order: Vec<usize> = independent.iter().copied().chain(dependent.iter().map(|d| d.row)).collect();
        let elsewhere =
            |values: &Vec<f64>| dependences(&gradients.at(values), free, order.iter().copied(), self.points.ranks());
        let (ranks, mut generic): (Vec<_>, Vec<_>) = gradients.beside.iter().map(elsewhere).unzip();
        if ranks.is_empty() || ranks.iter().any(|found: &Vec<usize>| found.len() != independent.len()) {
            // beside the constraints rows may see more: what multiplies a constraint that holds
            let consistent = self.points.consistent(&self.array, &gradients.tape);
            let mut found: Vec<_> = consistent.iter().map(elsewhere).collect();
            if let Some(k) = found.iter().position(|(rank, _)| rank.len() > independent.len()) {
                // the start is special, and tells no factors of a sum
                let (_, dependent) = found.swap_remove(k);
                return (dependent.into_iter().map(|d| DependentRow { blind: true, ..d }).collect(), Vec::new());
            }
            generic = found.into_iter().map(|(_, dependent)| dependent).collect();
        }
        (dependent, generic.into_iter().flatten().collect())
    }

    /// Where a combination with constant factors does not see the unknowns without rates, it takes the place of its row.
    fn combine(&mut self, d: &DependentRow, gradients: &Gradients, free: &[usize]) -> Result<bool, ProcedureError> {
        // factors belong to gradients of size one
        let at_start = gradients.at(&gradients.start);
        let own = d.combination.iter().find(|(i, _)| *i == d.row).map_or(1.0, |(_, own)| *own);
        let factor = |(i, c): (usize, f64)| neat(c / size(&at_start[i]) * size(&at_start[d.row]) / own);
        let mut counting: Vec<(usize, f64)> = d.combination.iter().copied().filter(|(_, c)| c.abs() > 1e-10).collect();
        counting.sort_unstable_by_key(|entry| entry.0);
        let terms: Vec<(usize, f64)> = counting.into_iter().map(|entry| (entry.0, factor(entry))).collect();
        let residual = |i: usize| self.array.constraints[self.active[i]].residual;
        let summands: Vec<(Expr, f64)> = terms.iter().map(|&(i, factor)| (residual(i), factor)).collect();
        let sum = self.array.graph.with(|| {
            let mut sum = Expr::from(0.0);
            for (residual, factor) in summands {
                sum = if factor == 1.0 { sum + residual } else { sum + residual * factor };
            }
            sum
        });
        let unknowns: Vec<Expr> = free.iter().map(|&j| self.array.unknowns[j]).collect();
        let jacobian = self.array.graph.jacobian(&[sum], &unknowns);
        let tape = Tape::new(&self.array.graph, &jacobian.entries);
        let here = self.points.start(&self.array, &tape).ok_or(ProcedureError::Undefined)?;
        let beside = self.points.beside(&self.array, &tape);
        // a sum is judged by its terms at the same point
        let vanishes = |(sum, rows): (&Vec<f64>, &Vec<f64>)| {
            let rows = gradients.at(rows);
            let usual: f64 = terms.iter().map(|&(i, factor)| factor.abs() * size(&rows[i])).sum();
            sum.iter().all(|x| x.abs() <= VANISHING * usual)
        };
        let points = || std::iter::once((&here, &gradients.start)).chain(beside.iter().zip(&gradients.beside));
        if beside.is_empty() || beside.len() != gradients.beside.len() || !points().all(vanishes) {
            return Ok(false);
        }
        let constraint = self.active[d.row];
        self.array.constraints[constraint].residual = sum;
        let size_of = |&(i, factor): &(usize, f64)| factor.abs() * size(&at_start[i]);
        let terms: f64 = terms.iter().map(size_of).sum();
        let omitted = |(_, j, coefficient)| Omitted { constraint, unknown: free[j], coefficient, terms };
        let left_out = jacobian.iter().map(omitted);
        self.array.omitted.extend(left_out);
        Ok(true)
    }

    /// Unknowns without rates that enter these rows. What is left out is written down.
    fn contained(&mut self, gradients: &Gradients, rows: &[bool], free: &[usize]) -> Vec<usize> {
        let mut contained = vec![false; self.array.unknowns.len()];
        let mut is_free = vec![false; self.array.unknowns.len()];
        for &j in free {
            is_free[j] = true;
        }
        // coefficients that are zero at the start
        let mut doubtful: Vec<(usize, usize, usize, Expr)> = Vec::new();
        let top = gradients.tops(&gradients.start);
        for (k, (i, j, coefficient)) in gradients.jacobian.iter().enumerate() {
            if rows[i] && is_free[j] {
                if gradients.start[k].abs() > VANISHING * top[i] {
                    contained[j] = true;
                } else {
                    doubtful.push((k, i, j, coefficient));
                }
            }
        }
        doubtful.retain(|&(_, _, j, _)| !contained[j]);
        if !doubtful.is_empty() {
            let (points, least) = match self.sight {
                EntersBy::Formula => {
                    let far = self.points.far(&self.array, &gradients.tape);
                    (gradients.beside.iter().cloned().chain(far).collect(), IDENTICALLY_ZERO)
                }
                EntersBy::Constraints => (self.points.consistent(&self.array, &gradients.tape), ZERO_ON_CONSTRAINTS),
            };
            let tops: Vec<Vec<f64>> = points.iter().map(|values| gradients.tops(values)).collect();
            for &(k, i, j, coefficient) in &doubtful {
                let seen = points.iter().zip(&tops).any(|(values, top)| values[k].abs() > least * top[i]);
                // where nothing can be seen, and where a coefficient may begin to count anywhere, the formula decides
                contained[j] |= seen || points.is_empty() || self.array.graph.has_branches(&[coefficient]);
            }
            self.concealed |= doubtful.iter().any(|&(_, _, j, _)| contained[j]);
            let left_out = doubtful.into_iter().filter(|&(_, _, j, _)| !contained[j]);
            let active = &self.active;
            let written = left_out.map(|(_, i, unknown, coefficient)| Omitted {
                constraint: active[i],
                unknown,
                coefficient,
                terms: top[i],
            });
            self.array.omitted.extend(written);
        }
        free.iter().copied().filter(|&j| contained[j]).collect()
    }

    fn flow(&mut self) -> Vec<(Expr, Expr)> {
        let one = self.array.graph.with(|| Expr::from(1.0));
        let rates = self.array.unknowns.iter().zip(&self.array.rates);
        std::iter::once((self.array.t, one)).chain(rates.filter_map(|(&y, rate)| rate.map(|rate| (y, rate)))).collect()
    }

    /// Gradients of constraints with respect to all unknowns, at the start and beside it.
    pub(super) fn gradients(&mut self, constraints: &[usize]) -> Result<Gradients, ProcedureError> {
        let residuals: Vec<Expr> = constraints.iter().map(|&c| self.array.constraints[c].residual).collect();
        let jacobian = self.array.graph.jacobian(&residuals, &self.array.unknowns.clone());
        let tape = Tape::new(&self.array.graph, &jacobian.entries);
        let start = self.points.start(&self.array, &tape).ok_or(ProcedureError::Undefined)?;
        let beside = self.points.beside(&self.array, &tape);
        let rows = residuals.len();
        let mut gradients = Gradients { rows, jacobian, tape, start, beside, usual: vec![0.0; rows] };
        if let Some(values) = self.points.very_near(&self.array, &gradients.tape) {
            gradients.usual = gradients.largest(&values);
        }
        Ok(gradients)
    }
}

/// Gradients of some constraints: formulas, and values of their entries.
pub(super) struct Gradients {
    pub rows: usize,
    jacobian: Jacobian,
    tape: Tape,
    pub start: Vec<f64>,
    beside: Vec<Vec<f64>>,
    /// largest entry of each row very near the start, where equations are redundant
    usual: Vec<f64>,
}

impl Gradients {
    /// Rows from the values of the entries; what is rounding is zero.
    pub fn at(&self, values: &[f64]) -> Vec<SparseRow> {
        let mut rows = vec![SparseRow::new(); self.rows];
        for ((i, j, _), value) in self.jacobian.iter().zip(values) {
            rows[i].push((j, *value));
        }
        for (row, usual) in rows.iter_mut().zip(&self.usual) {
            if size(row) < ROUNDED * usual {
                row.clear();
            }
        }
        rows
    }

    /// What the entries of each row are judged by: the largest, or what it usually is where all are rounding.
    fn tops(&self, values: &[f64]) -> Vec<f64> {
        let mut tops = self.largest(values);
        tops.iter_mut().zip(&self.usual).filter(|(top, usual)| **top < ROUNDED * *usual).for_each(|(t, u)| *t = *u);
        tops
    }

    /// Which rows have a gradient that is rounding at the start?
    pub fn blind(&self) -> Vec<bool> {
        let tops = self.largest(&self.start);
        tops.iter().zip(&self.usual).map(|(top, usual)| *top < ROUNDED * usual).collect()
    }

    fn largest(&self, values: &[f64]) -> Vec<f64> {
        let mut tops = vec![0.0_f64; self.rows];
        self.jacobian.iter().zip(values).for_each(|((i, _, _), value)| tops[i] = tops[i].max(value.abs()));
        tops
    }
}

/// A number that is an integer or half of one up to rounding.
pub(super) fn neat(x: f64) -> f64 {
    let twice = (2.0 * x).round();
    if (2.0 * x - twice).abs() < 1e-11 * x.abs().max(1.0) { 0.5 * twice } else { x }
}
