//! Derivatives that are auxiliary unknowns of a minimal array are eliminated from its rows.
//!
//! The rows 0 = c(t, x, w) of an array are affine in most of their derivatives w. A row with a coefficient e of w_j that contains no derivative
//! takes w_j out of every other row,
//!
//! c_i − (e_i/e) c,    or c_i with w_j = −c|₀/e in it where it is not affine in w_j.
//!
//! What is left without derivatives are the constraints 0 = k̃(t, x) of all levels. Steinbrecher (2006), Procedure 3.5.11, with frozen pivots. Numbers
//! are divided by first, then coefficients that have no zero, as intervals show; others last, those of equations before those of constraints
//! that were differentiated. A quotient e_i/e that is a number needs no division; after any other one the result holds where e ≠ 0, which is told.
//!
//! Coefficients that cancel are found by their values at points that satisfy nothing, unless they have branches.

use super::differentiate::{IDENTICALLY_ZERO, VANISHING, neat};
use super::points::Points;
use super::{Constraint, MinimalArray, Role};
use crate::graph::{Expr, Tape};
use crate::scalar::Interval;

/// A row of the array on its way.
#[derive(Clone)]
pub(super) struct OpenRow {
    pub residual: Expr,
    /// its place among the constraints of the array
    pub origin: usize,
    pub equations: Vec<(String, usize)>,
    pub nonzero: Vec<Expr>,
    /// size of the terms of its gradient at every point
    terms: Vec<f64>,
}

pub(super) struct DerivativeElimination<'p> {
    pub array: MinimalArray,
    points: &'p Points<'p>,
    /// places of the auxiliary unknowns
    pub auxiliary: Vec<usize>,
    pub rows: Vec<OpenRow>,
    /// rows that determine a derivative
    pivots: Vec<OpenRow>,
    /// coefficients that vanish at the start and not elsewhere
    pub special: bool,
}

/// Entries ∂(row)/∂y that are not zero, with their values at all points, the start first.
struct RowGradients {
    entries: Vec<RowEntry>,
    /// largest of each row at every point
    largest: Vec<Vec<f64>>,
}

struct RowEntry {
    row: usize,
    column: usize,
    formula: Expr,
    values: Vec<f64>,
}

impl<'p> DerivativeElimination<'p> {
    pub fn new(array: MinimalArray, points: &'p Points<'p>) -> Self {
        let auxiliary = (array.dim..array.unknowns.len()).collect();
        let constraints = array.constraints.iter().enumerate().filter(|(_, c)| c.role != Role::Invariant);
        let row = |(origin, c): (usize, &Constraint)| OpenRow {
            residual: c.residual,
            origin,
            equations: vec![(c.equation.clone(), c.level)],
            nonzero: Vec::new(),
            terms: Vec::new(),
        };
        let rows = constraints.map(row).collect();
        DerivativeElimination { array, points, auxiliary, rows, pivots: Vec::new(), special: false }
    }

    /// Which of these unknowns a formula contains.
    pub fn contained(&self, e: Expr, of: &[usize]) -> Vec<usize> {
        let inputs = self.array.graph.depends_on(e);
        of.iter().copied().filter(|&j| inputs.contains(&self.array.place(self.array.unknowns[j]))).collect()
    }

    pub fn run(&mut self) {
        while let Some(gradients) = self.gradients() {
            let gradients = self.without_zeros(gradients);
            let Some((row, entry)) = self.pivot(&gradients) else { return };
            let (column, e, values) = (entry.column, entry.formula, entry.values.clone());
            let pivot = self.rows[row].clone();
            for i in (0..self.rows.len()).filter(|&i| i != row) {
                let own = gradients.entries.iter().find(|own| own.row == i && own.column == column);
                if let Some(own) = own {
                    self.take_out(i, &pivot, (column, e, &values), own);
                }
            }
            self.pivots.push(self.rows.remove(row));
        }
    }

    /// Gradients of all rows that contain derivatives; `None` if there is none, or no value.
    fn gradients(&mut self) -> Option<RowGradients> {
        let auxiliary = self.auxiliary.clone();
        let with: Vec<usize> =
            (0..self.rows.len()).filter(|&i| !self.contained(self.rows[i].residual, &auxiliary).is_empty()).collect();
        if with.is_empty() {
            return None;
        }
        let residuals: Vec<Expr> = with.iter().map(|&i| self.rows[i].residual).collect();
        let jacobian = self.array.graph.jacobian(&residuals, &self.array.unknowns.clone());
        let tape = Tape::new(&self.array.graph, &jacobian.entries);
        let mut values = vec![self.points.start(&self.array, &tape)?];
        values.extend(self.points.beside(&self.array, &tape));
        values.extend(self.points.far(&self.array, &tape));
        let mut largest = vec![vec![0.0_f64; values.len()]; self.rows.len()];
        let mut entries = Vec::new();
        for (k, (i, column, formula)) in jacobian.iter().enumerate() {
            let row = with[i];
            let values: Vec<f64> = values.iter().map(|point| point[k]).collect();
            largest[row].iter_mut().zip(&values).for_each(|(top, v)| *top = top.max(v.abs()));
            if auxiliary.contains(&column) {
                entries.push(RowEntry { row, column, formula, values });
            }
        }
        for (row, largest) in self.rows.iter_mut().zip(&largest) {
            row.terms.resize(values.len(), 0.0);
            row.terms.iter_mut().zip(largest).for_each(|(terms, top)| *terms = terms.max(*top));
        }
        // what is contained and has no slope has cancelled
        for &i in &with {
            let gone = |j: &usize| !entries.iter().any(|entry| entry.row == i && entry.column == *j);
            let contained = self.contained(self.rows[i].residual, &auxiliary).into_iter();
            let zeros: Vec<(Expr, f64)> = contained.filter(gone).map(|j| (self.array.unknowns[j], 0.0)).collect();
            if !zeros.is_empty() {
                self.rows[i].residual = self.array.graph.bind(&[self.rows[i].residual], &zeros)[0];
            }
        }
        Some(RowGradients { entries, largest })
    }

    /// Derivatives whose coefficients vanish everywhere leave their rows.
    fn without_zeros(&mut self, gradients: RowGradients) -> RowGradients {
        let RowGradients { entries, largest } = gradients;
        let (mut kept, mut zeros): (Vec<RowEntry>, Vec<Vec<(Expr, f64)>>) =
            (Vec::new(), vec![Vec::new(); self.rows.len()]);
        for entry in entries {
            let terms = &self.rows[entry.row].terms;
            let seen = entry.values.iter().zip(terms).any(|(v, terms)| v.abs() > IDENTICALLY_ZERO * terms);
            // the start alone tells nothing
            if seen || entry.values.len() < 2 || self.array.graph.has_branches(&[entry.formula]) {
                kept.push(entry);
            } else {
                zeros[entry.row].push((self.array.unknowns[entry.column], 0.0));
            }
        }
        for (row, zeros) in self.rows.iter_mut().zip(zeros).filter(|(_, zeros)| !zeros.is_empty()) {
            row.residual = self.array.graph.bind(&[row.residual], &zeros)[0];
        }
        RowGradients { entries: kept, largest }
    }

    /// The row and the coefficient to divide by: what has no zero first, equations before constraints, short ones first.
    fn pivot<'g>(&mut self, gradients: &'g RowGradients) -> Option<(usize, &'g RowEntry)> {
        let mut best: Option<([usize; 5], &RowEntry)> = None;
        for entry in &gradients.entries {
            if !self.contained(entry.formula, &self.auxiliary).is_empty() {
                continue;
            }
            let here = entry.values[0].abs();
            if here <= VANISHING * gradients.largest[entry.row][0] {
                self.special = true;
                continue;
            }
            let constraint = &self.array.constraints[self.rows[entry.row].origin];
            let derivatives = gradients.entries.iter().filter(|other| other.row == entry.row).count();
            let graph = &self.array.graph;
            let safety = match self.number(entry.formula) {
                Some(_) => 0,
                None if self.never_zero(entry.formula) => 1,
                None => 2,
            };
            let key = [
                safety,
                usize::from(constraint.role == Role::Constraint),
                constraint.level,
                derivatives,
                graph.written_size(entry.formula),
            ];
            if best.as_ref().is_none_or(|(least, _)| key < *least) {
                best = Some((key, entry));
            }
        }
        best.map(|(_, entry)| (entry.row, entry))
    }

    /// Take a derivative out of row i.
    fn take_out(&mut self, i: usize, pivot: &OpenRow, (column, e, at): (usize, Expr, &[f64]), own: &RowEntry) {
        let w = self.array.unknowns[column];
        let ratios: Vec<f64> = own.values.iter().zip(at).map(|(own, e)| own / e).collect();
        let number = self.ratio(own.formula, e, &ratios);
        let affine = self.contained(own.formula, &self.auxiliary).is_empty();
        let at_zero = self.array.graph.bind(&[self.rows[i].residual, pivot.residual], &[(w, 0.0)]);
        let residual = if affine {
            self.array.graph.with(|| match number {
                Some(1.0) => at_zero[0] - at_zero[1],
                Some(factor) => at_zero[0] - at_zero[1] * factor,
                None => at_zero[0] - at_zero[1] * (own.formula / e),
            })
        } else {
            let rate = self.array.graph.with(|| -(at_zero[1] / e));
            self.array.graph.substitute(&[self.rows[i].residual], &[(w, rate)])[0]
        };
        let free = (affine && number.is_some()) || self.never_zero(e);
        let row = &mut self.rows[i];
        row.residual = residual;
        for (name, level) in &pivot.equations {
            if !row.equations.iter().any(|(other, l)| other == name && l == level) {
                row.equations.push((name.clone(), *level));
            }
        }
        for &coefficient in pivot.nonzero.iter().chain((!free).then_some(&e)) {
            if !row.nonzero.contains(&coefficient) {
                row.nonzero.push(coefficient);
            }
        }
        let terms = row.terms.iter_mut().zip(&pivot.terms).zip(&ratios);
        terms.for_each(|((own, other), ratio)| *own = own.max(ratio.abs() * other));
    }

    /// The quotient of two coefficients where it is a number.
    fn ratio(&self, own: Expr, e: Expr, values: &[f64]) -> Option<f64> {
        if own == e {
            return Some(1.0);
        }
        let same = |ratio: &f64| (ratio - values[0]).abs() <= IDENTICALLY_ZERO * (1.0 + values[0].abs());
        let analytic = values.len() > 1 && !self.array.graph.has_branches(&[own, e]);
        (values[0].is_finite() && analytic && values.iter().all(same)).then(|| neat(values[0]))
    }

    /// Is a coefficient nonzero whatever time and unknowns are? Told by interval arithmetic.
    fn never_zero(&self, e: Expr) -> bool {
        let mut inputs = vec![Interval::EVERYTHING; self.array.graph.inputs().len()];
        for &(parameter, value) in &self.array.parameters {
            inputs[self.array.place(parameter)] = Interval::from(value);
        }
        let value = Tape::new(&self.array.graph, &[e]).evaluate(&inputs)[0];
        !value.is_undefined() && (value.low > 0.0 || value.high < 0.0)
    }

    /// The number a coefficient is, with its parameters.
    pub fn number(&self, e: Expr) -> Option<f64> {
        let mut graph = self.array.graph.clone();
        let bound = graph.bind(&[e], &self.array.parameters)[0];
        graph.constant(bound)
    }
}
