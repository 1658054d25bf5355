//! One pass of the procedure: which constraints are to be differentiated, and what becomes of them.

use super::{Constraint, Procedure, ProcedureError, Role};
use crate::graph::{Expr, Tape};
use crate::linalg::Matrix;

/// Rows with a gradient below this part of their usual size do not see an unknown.
const VANISHING: f64 = 1e-9;
/// How much later a solution is looked at, in parts of the time in which it changes by its own size, to tell a coefficient that vanishes at a point from one that vanishes along it.
const LATER: f64 = 1e-3;
/// Part of a row's gradient that is seen there.
const SEEN: f64 = 1e-6;
/// Most auxiliary unknowns for each unknown of the system.
const MOST_AUXILIARY: usize = 4;

impl Procedure {
    /// One pass: every constraint that does not help to determine the unknowns without rates is differentiated.
    pub(super) fn differentiate(&mut self) -> Result<bool, ProcedureError> {
        let free: Vec<usize> = (0..self.array.unknowns.len()).filter(|&j| self.array.rates[j].is_none()).collect();
        let gradients = self.gradients()?;
        // independent rows, as far as the unknowns without rates are concerned
        let mut basis: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
        let mut dependent: Vec<usize> = Vec::new();
        let mut together: Vec<usize> = Vec::new();
        // dependent rows that were replaced by sums without these unknowns
        let mut combined: Vec<usize> = Vec::new();
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
                if size > VANISHING && self.combine(k, &combination, &gradients, &free)? {
                    combined.push(k);
                } else if size > VANISHING {
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
        let mut chosen: Vec<usize> = dependent.iter().chain(&together).copied().collect();
        chosen.sort_unstable();
        chosen.dedup();
        // unknowns without rates in these rows, also those that the rows do not see at this point: their derivatives become unknown
        let rows: Vec<usize> = chosen.iter().copied().filter(|k| !combined.contains(k)).collect();
        let columns = self.seen(&rows, &free)?;
        for j in columns {
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
        for shift in [0.0, 0.013, -0.029] {
            let values = tape.evaluate(&self.nearby(shift));
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

    /// Inputs of the graph at the point, or beside it.
    fn nearby(&self, shift: f64) -> Vec<f64> {
        let y = self.array.on_jet(&self.jet).into_iter().enumerate();
        let moved: Vec<f64> = y.map(|(j, y)| y + shift * (1.0 + y.abs()) * (1.0 + 0.37 * (j % 7) as f64)).collect();
        self.array.inputs(self.t + shift, &moved)
    }

    /// Inputs of the graph a part of its time scale later or earlier on the solution, as far as its Taylor coefficients tell: Xₖ(δ) = Σ (i over k) Xᵢ δⁱ⁻ᵏ.
    fn along(&self, part: f64) -> Vec<f64> {
        let n = self.array.dim;
        let levels = self.jet.len() / n;
        // the solution changes by its own size in 1/rate
        let rate = |k: usize, j: usize| (self.jet[k * n + j].abs() / (1.0 + self.jet[j].abs())).powf(1.0 / k as f64);
        let rates = (1..levels).flat_map(|k| (0..n).map(move |j| (k, j))).map(|(k, j)| rate(k, j));
        let delta = part / rates.fold(1.0, f64::max);
        let mut shifted = vec![0.0; self.jet.len()];
        for k in 0..levels {
            let mut factor = 1.0;
            for i in k..levels {
                (0..n).for_each(|j| shifted[k * n + j] += factor * self.jet[i * n + j]);
                factor *= delta * (i + 1) as f64 / (i + 1 - k) as f64;
            }
        }
        self.array.inputs(self.t + delta, &self.array.on_jet(&shifted))
    }

    /// Which of the unknowns without rates enter these rows, at the point or elsewhere on the solution. Beside it rows may see more: what
    /// multiplies a constraint that holds.
    fn seen(&mut self, rows: &[usize], free: &[usize]) -> Result<Vec<usize>, ProcedureError> {
        let residuals: Vec<Expr> = rows.iter().map(|&k| self.array.constraints[self.active[k]].residual).collect();
        let jacobian = self.array.graph.jacobian(&residuals, &self.array.unknowns.clone());
        let tape = Tape::new(&self.array.graph, &jacobian.entries);
        let mut seen = vec![false; self.array.unknowns.len()];
        for (delta, least) in [(0.0, VANISHING), (LATER, SEEN), (-LATER, SEEN)] {
            let values = tape.evaluate(&self.along(delta));
            if values.iter().any(|x| !x.is_finite()) {
                return Err(ProcedureError::Undefined);
            }
            let mut top = vec![0.0_f64; rows.len()];
            jacobian.iter().zip(&values).for_each(|((i, _, _), x)| top[i] = top[i].max(x.abs()));
            jacobian.iter().zip(&values).for_each(|((i, j, _), x)| seen[j] |= x.abs() > least * top[i]);
        }
        Ok(free.iter().copied().filter(|&j| seen[j]).collect())
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
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// A number that is an integer or half of one up to rounding.
fn neat(x: f64) -> f64 {
    let twice = (2.0 * x).round();
    if (2.0 * x - twice).abs() < 1e-11 * x.abs().max(1.0) { 0.5 * twice } else { x }
}
