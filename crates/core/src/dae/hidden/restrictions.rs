//! Constraints as functions of the unknowns alone: the derivatives that are auxiliary unknowns of a minimal array are eliminated.
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
use super::{Characteristics, Constraint, MinimalArray, Role, System};
use crate::graph::{Expr, Graph, Tape};
use crate::scalar::Interval;

/// More rows with derivatives are not eliminated: nobody would read the result.
const MOST_ROWS: usize = 40;

/// 0 = residual(t, x), with x the unknowns of the first-order system.
#[derive(Clone, Debug, PartialEq)]
pub struct Restriction {
    /// The formula.
    pub residual: Expr,
    /// Largest number of differentiations of an equation in it.
    pub level: usize,
    /// Is it a constraint, or a quantity that keeps its value?
    pub role: Role,
    /// Equations that it comes from, each with the number of its differentiations, the most often differentiated first.
    pub equations: Vec<(String, usize)>,
    /// Is it an equation whose derivatives were taken out by others?
    pub combined: bool,
    /// Coefficients that it was divided by: it holds where none of them is zero.
    pub nonzero: Vec<Expr>,
    /// Why it still contains derivatives.
    pub kept: Option<KeptDerivatives>,
}

/// Why derivatives stay in a constraint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeptDerivatives {
    /// They are not determined by linear equations.
    #[error("not free of {derivatives}: no equation gives it with a coefficient that contains no derivative")]
    NotLinear {
        /// Their names.
        derivatives: String,
    },
    /// The coefficients vanish at the start.
    #[error("not free of {derivatives}: the coefficients to divide by vanish at the start")]
    Vanishing {
        /// Their names.
        derivatives: String,
    },
    /// It would be too long.
    #[error("not free of {derivatives}: without derivatives it has {operations} different operations")]
    TooLong {
        /// Their names.
        derivatives: String,
        /// Number of operations.
        operations: usize,
    },
    /// Too many equations with derivatives.
    #[error("not free of {derivatives}: {rows} equations with derivatives are too many to be solved by formulas")]
    TooMany {
        /// Their names.
        derivatives: String,
        /// Number of equations.
        rows: usize,
    },
}

/// All constraints of a system in its unknowns.
#[derive(Clone, Debug)]
pub struct Restrictions {
    /// The graph of the formulas, that of the array with what was added.
    pub graph: Graph,
    /// The constraints, then what is kept; of each the lowest level first.
    pub all: Vec<Restriction>,
}

/// A row of the array on its way.
#[derive(Clone)]
struct OpenRow {
    residual: Expr,
    /// its place among the constraints of the array
    origin: usize,
    equations: Vec<(String, usize)>,
    nonzero: Vec<Expr>,
    /// size of the terms of its gradient at every point
    terms: Vec<f64>,
}

/// Eliminate the derivatives from the constraints of a system, unless what comes out is not readable.
pub fn restrictions(
    system: &System,
    at: &Characteristics,
    array: &MinimalArray,
    readable: impl Fn(&Graph, Expr) -> bool,
) -> Restrictions {
    let points = Points::new(system, at);
    let mut elimination = Elimination::new(array.clone(), &points);
    let auxiliary = elimination.auxiliary.clone();
    let contains = |e: Expr| elimination.contained(e, &auxiliary);
    let with = elimination.rows.iter().filter(|row| !contains(row.residual).is_empty()).count();
    if with <= MOST_ROWS {
        elimination.run();
    }
    elimination.finish(array, readable, with)
}

struct Elimination<'p> {
    array: MinimalArray,
    points: &'p Points<'p>,
    /// places of the auxiliary unknowns
    auxiliary: Vec<usize>,
    rows: Vec<OpenRow>,
    /// rows that determine a derivative
    pivots: Vec<OpenRow>,
    /// coefficients that vanish at the start and not elsewhere
    special: bool,
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

impl<'p> Elimination<'p> {
    fn new(array: MinimalArray, points: &'p Points<'p>) -> Self {
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
        Elimination { array, points, auxiliary, rows, pivots: Vec::new(), special: false }
    }

    /// Which of these unknowns a formula contains.
    fn contained(&self, e: Expr, of: &[usize]) -> Vec<usize> {
        let inputs = self.array.graph.depends_on(e);
        of.iter().copied().filter(|&j| inputs.contains(&self.array.place(self.array.unknowns[j]))).collect()
    }

    fn run(&mut self) {
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
    fn number(&self, e: Expr) -> Option<f64> {
        let mut graph = self.array.graph.clone();
        let bound = graph.bind(&[e], &self.array.parameters)[0];
        graph.constant(bound)
    }

    fn finish(mut self, array: &MinimalArray, readable: impl Fn(&Graph, Expr) -> bool, with: usize) -> Restrictions {
        let mut all = Vec::new();
        for row in std::mem::take(&mut self.rows) {
            let before = &array.constraints[row.origin];
            let kept = self.kept(&row, before, &readable, with);
            let free = self.contained(row.residual, &self.auxiliary).is_empty();
            let restriction = match kept {
                // as it was derived
                Some(kept) => {
                    let equations = vec![row.equations[0].clone()];
                    Restriction { kept: Some(kept), ..self.restriction(before.residual, equations, Vec::new()) }
                }
                // an equation that determines derivatives
                None if !free => continue,
                None if row.residual == before.residual => self.restriction(row.residual, row.equations, Vec::new()),
                None => {
                    let residual = self.tidy(row.residual);
                    let nonzero = row.nonzero.iter().map(|&e| self.positive(e)).collect();
                    let combined = before.role == Role::Definition;
                    Restriction { combined, ..self.restriction(residual, row.equations, nonzero) }
                }
            };
            // what vanishes by itself is told among the redundant equations
            if self.array.graph.constant(restriction.residual) != Some(0.0) {
                all.push(restriction);
            }
        }
        all.sort_by_key(|c| c.level);
        for c in array.constraints.iter().filter(|c| c.role == Role::Invariant) {
            let equations = vec![(c.equation.clone(), c.level)];
            all.push(Restriction { role: Role::Invariant, ..self.restriction(c.residual, equations, Vec::new()) });
        }
        Restrictions { graph: self.array.graph, all }
    }

    fn restriction(&self, residual: Expr, mut equations: Vec<(String, usize)>, nonzero: Vec<Expr>) -> Restriction {
        // the one that was differentiated most is what it comes from
        equations.sort_by_key(|(_, level)| std::cmp::Reverse(*level));
        let level = equations.first().map_or(0, |(_, level)| *level);
        Restriction { residual, level, role: Role::Constraint, equations, combined: false, nonzero, kept: None }
    }

    /// The coefficient or its negative, whichever is written shorter.
    fn positive(&mut self, e: Expr) -> Expr {
        let negative = self.array.graph.negative(e);
        let size = |e: Expr| self.array.graph.formula(e).len();
        if size(negative) < size(e) { negative } else { e }
    }

    /// Why a constraint is told as it was derived, with derivatives.
    fn kept(
        &self,
        row: &OpenRow,
        before: &Constraint,
        readable: &impl Fn(&Graph, Expr) -> bool,
        with: usize,
    ) -> Option<KeptDerivatives> {
        let contained = self.contained(before.residual, &self.auxiliary);
        if contained.is_empty() || before.role != Role::Constraint {
            return None;
        }
        let left = self.contained(row.residual, &self.auxiliary);
        let derivatives = self.names(if left.is_empty() { &contained } else { &left });
        if with > MOST_ROWS {
            Some(KeptDerivatives::TooMany { derivatives, rows: with })
        } else if !left.is_empty() && self.special {
            Some(KeptDerivatives::Vanishing { derivatives })
        } else if !left.is_empty() {
            Some(KeptDerivatives::NotLinear { derivatives })
        } else if !readable(&self.array.graph, row.residual) && readable(&self.array.graph, before.residual) {
            let operations = self.array.graph.needed(&[row.residual]).len();
            Some(KeptDerivatives::TooLong { derivatives, operations })
        } else {
            None
        }
    }

    fn names(&self, unknowns: &[usize]) -> String {
        unknowns.iter().map(|&j| self.array.names[j].as_str()).collect::<Vec<_>>().join(", ")
    }

    /// With a positive sign of the first unknown, if its coefficient is a number.
    fn tidy(&mut self, residual: Expr) -> Expr {
        let slopes = self.array.graph.jacobian(&[residual], &self.array.unknowns[..self.array.dim].to_vec());
        let first = slopes.iter().next().and_then(|(_, _, e)| self.number(e));
        if first.is_some_and(|slope| slope < 0.0) { self.array.graph.negative(residual) } else { residual }
    }
}
