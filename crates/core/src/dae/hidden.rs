//! Hidden constraints as formulas: the iterative procedure for quasi-linear systems E(t, x) x' = k(t, x).
//!
//! Only constraints are differentiated, never the differential part. Rows whose leading coefficients are numbers give rates
//! x_j' = …; for the other derivatives that enter, x_j' becomes an auxiliary unknown, so that nothing is inverted symbolically, rows that are
//! nonlinear in x' are allowed, and a leading matrix may lose rank where the trajectory does not notice. What remains has the form
//!
//! x_j' = rate_j(t, y),  0 = c(t, y),  y = (x, auxiliary unknowns).
//!
//! A constraint whose gradient with respect to the unknowns without rates vanishes is differentiated along the rates; constraints whose
//! gradients depend on each other are differentiated together, with the derivatives of the unknowns they share as further auxiliary
//! unknowns. Steinbrecher (2006), Procedure 3.5.11, with the numbers of new constraints known from the derivative array.

use super::{Characteristics, FirstOrder, System};
use crate::graph::{Expr, Graph, Node, Tape};
use crate::linalg::Matrix;
use std::collections::BTreeMap;

/// Rows with a gradient below this part of their usual size do not see an unknown.
const VANISHING: f64 = 1e-9;
/// Most auxiliary unknowns for each unknown of the system.
const MOST_AUXILIARY: usize = 4;

/// What a constraint is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It restricts the unknowns of the system: stated (level 0) or hidden.
    Constraint,
    /// It determines auxiliary unknowns.
    Definition,
    /// A quantity that keeps its initial value.
    Invariant,
}

/// 0 = residual(t, y).
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    /// The formula.
    pub residual: Expr,
    /// How often equations of the system were differentiated for it.
    pub level: usize,
    /// What it is.
    pub role: Role,
    /// The equation it comes from.
    pub equation: String,
}

/// The minimal reduced derivative array as formulas.
#[derive(Clone, Debug)]
pub struct MinimalArray {
    /// The graph of all formulas.
    pub graph: Graph,
    /// Time.
    pub t: Expr,
    /// Unknowns y: those of the system, then auxiliary ones.
    pub unknowns: Vec<Expr>,
    /// Their names.
    pub names: Vec<String>,
    /// Number of unknowns of the system.
    pub dim: usize,
    /// Which derivative of which unknown of the system each one is.
    pub origin: Vec<(usize, usize)>,
    /// y_j' = rate_j, where there is such an equation.
    pub rates: Vec<Option<Expr>>,
    /// All constraints.
    pub constraints: Vec<Constraint>,
    /// Parameters: input, number.
    pub parameters: Vec<(Expr, f64)>,
}

/// Why the procedure gave no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProcedureError {
    /// It needs more auxiliary unknowns than allowed.
    #[error("hidden constraints could not be separated: too many derivatives became unknowns of their own")]
    TooManyUnknowns,
    /// The formulas have no value at the point.
    #[error("the formulas of the hidden constraints have no finite value at the point of the analysis")]
    Undefined,
}

/// Derive the hidden constraints of a system at a point where its characteristic values are known.
pub fn minimal_array(system: &System, at: &Characteristics) -> Result<MinimalArray, ProcedureError> {
    let mut procedure = Procedure::new(&system.first, at);
    procedure.separate();
    // redundant equations show only after μ differentiations: then they are conditions on the right-hand sides, which are watched
    let levels = if at.values.v > 0 { at.values.mu } else { at.constraint_level().unwrap_or(0) };
    for _ in 0..levels {
        if !procedure.differentiate()? {
            break;
        }
    }
    let mut array = procedure.array;
    for (name, e) in &system.first.invariants {
        let (residual, equation) = (*e, name.clone());
        array.constraints.push(Constraint { residual, level: 0, role: Role::Invariant, equation });
    }
    Ok(array)
}

impl MinimalArray {
    /// Inputs of the graph at a jet: time, unknowns, parameters.
    pub(super) fn inputs(&self, t: f64, y: &[f64]) -> Vec<f64> {
        let mut inputs = vec![0.0; self.graph.inputs().len()];
        inputs[self.place(self.t)] = t;
        for (&e, &value) in self.unknowns.iter().zip(y) {
            inputs[self.place(e)] = value;
        }
        for &(e, value) in &self.parameters {
            inputs[self.place(e)] = value;
        }
        inputs
    }

    /// Values of the unknowns on a jet of normalised Taylor coefficients.
    pub(super) fn on_jet(&self, jet: &[f64]) -> Vec<f64> {
        let value = |&(j, order): &(usize, usize)| {
            let factorial: f64 = (1..=order).map(|k| k as f64).product();
            jet.get(order * self.dim + j).map_or(0.0, |x| x * factorial)
        };
        self.origin.iter().map(value).collect()
    }

    /// Where a handle of an input stands among the inputs of the graph.
    pub(super) fn place(&self, input: Expr) -> usize {
        match self.graph.node(input) {
            Node::Input(i) => i,
            _ => unreachable!("unknowns and parameters are inputs"),
        }
    }
}

struct Procedure {
    array: MinimalArray,
    /// time and jet of the point
    t: f64,
    jet: Vec<f64>,
    xdot: Vec<Expr>,
    equations: Vec<(String, Expr)>,
    /// constraints that have not been differentiated
    active: Vec<usize>,
}

impl Procedure {
    fn new(first: &FirstOrder, at: &Characteristics) -> Self {
        let n = first.dim();
        let array = MinimalArray {
            graph: first.graph.clone(),
            t: first.t,
            unknowns: first.x.clone(),
            names: first.names.clone(),
            dim: n,
            origin: (0..n).map(|j| (j, 0)).collect(),
            rates: vec![None; n],
            constraints: Vec::new(),
            parameters: first.parameters.clone(),
        };
        Procedure {
            array,
            t: at.t,
            jet: at.jet.clone(),
            xdot: first.xdot.clone(),
            equations: first.row_names.iter().cloned().zip(first.equations.iter().copied()).collect(),
            active: Vec::new(),
        }
    }

    /// Rates from rows with numbers as leading coefficients; derivatives in the other rows become unknowns.
    fn separate(&mut self) {
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

    /// One pass: every constraint that does not help to determine the unknowns without rates is differentiated.
    fn differentiate(&mut self) -> Result<bool, ProcedureError> {
        let free: Vec<usize> = (0..self.array.unknowns.len()).filter(|&j| self.array.rates[j].is_none()).collect();
        let gradients = self.gradients()?;
        // independent rows, as far as the unknowns without rates are concerned
        let mut basis: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
        let mut dependent: Vec<usize> = Vec::new();
        let mut together: Vec<usize> = Vec::new();
        for (k, gradient) in gradients.iter().enumerate() {
            let top = gradient.iter().fold(0.0_f64, |top, g| top.max(g.abs()));
            let mut rest: Vec<f64> = free.iter().map(|&j| gradient[j] / if top > 0.0 { top } else { 1.0 }).collect();
            let size = norm(&rest);
            let mut combination = vec![0.0; gradients.len()];
            combination[k] = 1.0;
            if size > VANISHING {
                for _ in 0..2 {
                    for (direction, of) in &basis {
                        let along: f64 = direction.iter().zip(&rest).map(|(a, b)| a * b).sum();
                        rest.iter_mut().zip(direction).for_each(|(x, d)| *x -= along * d);
                        combination.iter_mut().zip(of).for_each(|(x, c)| *x -= along * c);
                    }
                }
            }
            let left = norm(&rest);
            if size > VANISHING && left > 1e-7 * size {
                for x in rest.iter_mut().chain(&mut combination) {
                    *x /= left;
                }
                basis.push((rest, combination));
            } else {
                dependent.push(k);
                if size > VANISHING && !self.combine(k, &combination, &gradients, &free)? {
                    together.extend((0..gradients.len()).filter(|&i| combination[i].abs() > 1e-7 && i != k));
                    together.push(k);
                }
            }
        }
        if dependent.is_empty() {
            return Ok(false);
        }
        together.sort_unstable();
        together.dedup();
        // unknowns that rows share: their derivatives become unknown
        let mut columns: Vec<usize> = Vec::new();
        for &k in &together {
            columns.extend(free.iter().copied().filter(|&j| gradients[k][j] != 0.0));
        }
        columns.sort_unstable();
        columns.dedup();
        for j in columns {
            let (original, order) = self.array.origin[j];
            if order >= MOST_AUXILIARY {
                return Err(ProcedureError::TooManyUnknowns);
            }
            let name = format!("{}{}", self.array.names[original], "'".repeat(order + 1));
            let derivative = self.array.graph.input(name);
            self.add_unknown(j, derivative);
        }
        let mut chosen: Vec<usize> = dependent.iter().chain(&together).copied().collect();
        chosen.sort_unstable();
        chosen.dedup();
        let flow: Vec<(Expr, Expr)> = self.flow();
        let indices: Vec<usize> = chosen.iter().map(|&k| self.active[k]).collect();
        let residuals: Vec<Expr> = indices.iter().map(|&c| self.array.constraints[c].residual).collect();
        let derived = self.array.graph.total_derivative(&residuals, &flow);
        for &k in chosen.iter().rev() {
            self.active.remove(k);
        }
        for ((k, c), residual) in chosen.into_iter().zip(indices).zip(derived) {
            let Constraint { level, role, equation, .. } = self.array.constraints[c].clone();
            // what only determines derivatives of shared unknowns is bookkeeping
            let role = if dependent.contains(&k) { role } else { Role::Definition };
            self.add(residual, level + 1, role, equation);
        }
        Ok(true)
    }

    /// Where a combination with constant factors does not see the unknowns without rates, it takes the place of constraint k.
    fn combine(
        &mut self,
        k: usize,
        combination: &[f64],
        gradients: &[Vec<f64>],
        free: &[usize],
    ) -> Result<bool, ProcedureError> {
        // factors belong to gradients of size one
        let top = |i: usize| gradients[i].iter().fold(0.0_f64, |top, g| top.max(g.abs()));
        let factor = |i: usize| neat(combination[i] / top(i) * top(k) / combination[k]);
        let terms: Vec<(Expr, f64)> = (0..gradients.len())
            .filter(|&i| combination[i].abs() > 1e-10)
            .map(|i| (self.array.constraints[self.active[i]].residual, factor(i)))
            .collect();
        let sum = self.array.graph.with(|| {
            let mut sum = Expr::from(0.0);
            for (residual, factor) in terms {
                sum = if factor == 1.0 { sum + residual } else { sum + residual * factor };
            }
            sum
        });
        let unknowns: Vec<Expr> = free.iter().map(|&j| self.array.unknowns[j]).collect();
        let jacobian = self.array.graph.jacobian(&[sum], &unknowns);
        let tape = Tape::new(&self.array.graph, &jacobian.entries);
        let y = self.array.on_jet(&self.jet);
        for shift in [0.0, 0.013, -0.029] {
            let moved: Vec<f64> = y
                .iter()
                .enumerate()
                .map(|(j, y)| y + shift * (1.0 + y.abs()) * (1.0 + 0.37 * (j % 7) as f64))
                .collect();
            let values = tape.evaluate(&self.array.inputs(self.t + shift, &moved));
            if values.iter().any(|x| !x.is_finite()) {
                return Err(ProcedureError::Undefined);
            }
            if values.iter().any(|x| x.abs() > 1e-9 * top(k)) {
                return Ok(false);
            }
        }
        self.array.constraints[self.active[k]].residual = sum;
        Ok(true)
    }

    fn flow(&mut self) -> Vec<(Expr, Expr)> {
        let one = self.array.graph.with(|| Expr::from(1.0));
        let rates = self.array.unknowns.iter().zip(&self.array.rates);
        std::iter::once((self.array.t, one)).chain(rates.filter_map(|(&y, rate)| rate.map(|rate| (y, rate)))).collect()
    }

    /// Gradients of the active constraints with respect to all unknowns, at the point.
    fn gradients(&mut self) -> Result<Vec<Vec<f64>>, ProcedureError> {
        let residuals: Vec<Expr> = self.active.iter().map(|&c| self.array.constraints[c].residual).collect();
        let jacobian = self.array.graph.jacobian(&residuals, &self.array.unknowns.clone());
        let y = self.array.on_jet(&self.jet);
        let inputs = self.array.inputs(self.t, &y);
        let values = Tape::new(&self.array.graph, &jacobian.entries).evaluate(&inputs);
        if values.iter().any(|x| !x.is_finite()) {
            return Err(ProcedureError::Undefined);
        }
        let mut G = Matrix::<f64>::zeros(residuals.len(), self.array.unknowns.len());
        for ((i, j, _), value) in jacobian.iter().zip(values) {
            G[(i, j)] = value;
        }
        Ok((0..residuals.len()).map(|i| G.row(i).to_vec()).collect())
    }

    fn add(&mut self, residual: Expr, level: usize, role: Role, equation: String) {
        self.active.push(self.array.constraints.len());
        self.array.constraints.push(Constraint { residual, level, role, equation });
    }

    /// y_j' = w with a new unknown w.
    fn add_unknown(&mut self, j: usize, w: Expr) {
        let (original, order) = self.array.origin[j];
        self.array.rates[j] = Some(w);
        self.array.unknowns.push(w);
        self.array.names.push(format!("{}{}", self.array.names[original], "'".repeat(order + 1)));
        self.array.origin.push((original, order + 1));
        self.array.rates.push(None);
    }

    /// The number a formula of parameters is; `None` if it contains anything else.
    fn number(&mut self, e: Expr) -> Option<f64> {
        let bound = self.array.graph.bind(&[e], &self.array.parameters.clone())[0];
        self.array.graph.constant(bound)
    }
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// A number that is an integer or half of one up to rounding.
fn neat(x: f64) -> f64 {
    let twice = (2.0 * x).round();
    if (2.0 * x - twice).abs() < 1e-11 * x.abs().max(1.0) { 0.5 * twice } else { x }
}
