//! The equations as they were written, F(t, x, x', …, x⁽ᵏ⁾) = 0, before any derivative becomes an unknown: what their formulas tell, and
//! Taylor coefficients of A_q = ∂F/∂x⁽q⁾ and of −F along a curve, which is all that the theory of order k asks for.

use super::jet::fit_derivatives;
use super::linear_terms::linear_terms;
use super::{Characteristics, Formulas, MOST_LEVELS, System};
use crate::graph::{Expr, Graph, Jacobian, Node, Tape};
use crate::linalg::Mat;
use crate::motion::Undefined;
use crate::scalar::Taylor;
use std::collections::HashMap;

/// Numbers of a formula that differ by less are computed differently only.
const ROUNDING: f64 = 1e-14;
/// Taylor coefficients that can be had.
const COEFFICIENTS: usize = 16;
type CurveSeries = Taylor<f64, COEFFICIENTS>;

/// A system of order k with its Jacobians as formulas, and numbers for its parameters.
#[derive(Clone, Debug)]
pub struct HighOrderSystem {
    graph: Graph,
    t: Expr,
    /// x⁽q⁾, q = 0, …, k
    derivatives: Vec<Vec<Expr>>,
    equations: Vec<Expr>,
    /// A_q
    jacobians: Vec<Jacobian>,
    tape: Tape,
}

/// Taylor coefficients at a point: `A[q][i]` of A_q = ∂F/∂x⁽q⁾, `f[i]` of f = −F. Of a linear system along x = 0 these are the
/// coefficients of Σ A_q x⁽q⁾ = f.
pub struct OrderCoefficients {
    /// Of the Jacobians.
    pub A: Vec<Vec<Mat<f64>>>,
    /// Of −F.
    pub f: Vec<Vec<f64>>,
}

impl HighOrderSystem {
    /// As a model writes it.
    pub fn new(formulas: &Formulas) -> Self {
        let mut graph = formulas.graph.clone();
        let n = formulas.states.len();
        let inputs: Vec<Expr> = graph.inputs().map(|(_, e)| e).collect();
        let order = formulas.orders.iter().copied().max().unwrap_or(0).max(1) as usize;
        let mut derivatives: Vec<Vec<Expr>> = inputs[1..]
            .chunks_exact(n.max(1))
            .take((formulas.levels as usize).min(order) + 1)
            .map(<[Expr]>::to_vec)
            .collect();
        derivatives.resize(derivatives.len().max(1), Vec::new());
        while derivatives.len() <= order {
            // a system without derivatives: they enter nothing
            let names = formulas.states.iter().map(|name| format!("der({name}, {})", derivatives.len()));
            derivatives.push(names.collect::<Vec<_>>().into_iter().map(|name| graph.input(name)).collect());
        }
        let first_parameter = 1 + n * (formulas.levels as usize + 1);
        let numbers = formulas.parameters.iter().zip(&inputs[first_parameter..]).map(|((_, value), &e)| (e, *value));
        let written: Vec<Expr> = formulas.equations.iter().map(|(_, e)| *e).collect();
        let equations = graph.bind(&written, &numbers.collect::<Vec<_>>());
        let jacobians: Vec<Jacobian> = derivatives.iter().map(|x| graph.jacobian(&equations, x)).collect();
        let entries = jacobians.iter().flat_map(|J| J.entries.iter().copied());
        let tape = Tape::new(&graph, &entries.chain(equations.iter().copied()).collect::<Vec<_>>());
        HighOrderSystem { t: inputs[0], graph, derivatives, equations, jacobians, tape }
    }

    /// The highest derivative k, one at least.
    pub fn order(&self) -> usize {
        self.derivatives.len() - 1
    }

    /// Number of equations.
    pub fn rows(&self) -> usize {
        self.equations.len()
    }

    /// Number of unknowns.
    pub fn dim(&self) -> usize {
        self.derivatives[0].len()
    }

    /// Is F linear in x and its derivatives, with coefficients that depend on time at most? Not where a condition asks for them.
    pub fn linear(&self) -> bool {
        let condition = |e| if let Node::Select(condition, ..) = self.graph.node(e) { Some(condition) } else { None };
        let mut formulas = self.coefficients();
        formulas.extend(self.graph.needed(&self.equations).into_iter().filter_map(condition));
        !self.derivatives.iter().any(|x| self.contain(&formulas, x))
    }

    /// Is F linear with coefficients that do not depend on time either?
    pub fn constant_coefficients(&self) -> bool {
        self.linear() && !self.contain(&self.coefficients(), &[self.t])
    }

    /// A_0, …, A_k, if all of their entries are numbers.
    pub fn numbers(&self) -> Option<Vec<Mat<f64>>> {
        let dense = |J: &Jacobian| {
            let mut A = Mat::zeros(self.rows(), self.dim());
            for (i, j, e) in J.iter() {
                A[(i, j)] = self.graph.constant(e)?;
            }
            Some(A)
        };
        self.jacobians.iter().map(dense).collect()
    }

    /// Signs of the equations with which A_q = ε_q A_qᵀ for all q, ε_q = `signs[q]`, as the formulas show it: entries on both sides of the
    /// diagonal are the same formula or its negative. A pair of first order with skew A₁ is to be its own adjoint: A₀ − ½ A₁′ is taken for A₀.
    pub fn row_signs(&self, signs: &[f64]) -> Option<Vec<f64>> {
        if self.rows() != self.dim() {
            return None;
        }
        let mut graph = self.graph.clone();
        let mut relations = Vec::new();
        for (q, (J, &sign)) in self.jacobians.iter().zip(signs).enumerate() {
            let mut entries: Vec<(usize, usize, Expr)> = J.iter().collect();
            if q == 0 && self.order() == 1 && signs[1] < 0.0 {
                let A1: Vec<(usize, usize, Expr)> = self.jacobians[1].iter().collect();
                let rates = graph.jacobian(&A1.iter().map(|(_, _, e)| *e).collect::<Vec<_>>(), &[self.t]);
                for (k, _, rate) in rates.iter() {
                    let half = graph.with(|| rate * -0.5);
                    let (i, j, _) = A1[k];
                    match entries.iter_mut().find(|(r, c, _)| (*r, *c) == (i, j)) {
                        Some((_, _, e)) => *e = graph.with(|| *e + half),
                        None => entries.push((i, j, half)),
                    }
                }
            }
            relations.extend(mirrored(&graph, &entries)?.into_iter().map(|(i, j, equal)| (i, j, sign * equal)));
        }
        coloured(self.rows(), &relations)
    }

    /// Taylor coefficients up to `level` along the curve with the Taylor coefficients `curve[0]`, …, `curve[level + k]` of x at t; what is
    /// missing counts as zero.
    pub fn expand(&self, t: f64, curve: &[Vec<f64>], level: usize) -> Result<OrderCoefficients, Undefined> {
        let level = level.min(COEFFICIENTS - 1);
        let mut inputs = vec![CurveSeries::from(0.0); self.graph.inputs().len()];
        inputs[self.place(self.t)] = CurveSeries::parameter(t);
        for (q, x) in self.derivatives.iter().enumerate() {
            for (j, &input) in x.iter().enumerate() {
                // (x⁽q⁾)_[i] = (i + 1) ⋯ (i + q) x_[i+q]
                let series = &mut inputs[self.place(input)];
                for i in 0..=level {
                    let factor: f64 = (1..=q).map(|p| (i + p) as f64).product();
                    series.coefficients[i] = factor * curve.get(i + q).map_or(0.0, |x| x[j]);
                }
            }
        }
        let values = self.tape.evaluate(&inputs);
        if values.iter().any(|series| series.coefficients[..=level].iter().any(|x| !x.is_finite())) {
            return Err(Undefined);
        }
        let mut values = values.into_iter();
        let mut A = Vec::new();
        for J in &self.jacobians {
            let mut series = vec![Mat::zeros(self.rows(), self.dim()); level + 1];
            for ((i, j, _), value) in J.iter().zip(values.by_ref()) {
                series.iter_mut().zip(&value.coefficients).for_each(|(A, &x)| A[(i, j)] = x);
            }
            A.push(series);
        }
        let rest: Vec<CurveSeries> = values.collect();
        let f = (0..=level).map(|k| rest.iter().map(|F| -F.coefficients[k]).collect()).collect();
        Ok(OrderCoefficients { A, f })
    }

    fn coefficients(&self) -> Vec<Expr> {
        self.jacobians.iter().flat_map(|J| J.entries.iter().copied()).collect()
    }

    /// Does one of the formulas contain one of the inputs?
    fn contain(&self, formulas: &[Expr], inputs: &[Expr]) -> bool {
        let needed = self.graph.needed(formulas);
        inputs.iter().any(|input| needed.binary_search(input).is_ok())
    }

    fn place(&self, input: Expr) -> usize {
        match self.graph.node(input) {
            Node::Input(i) => i,
            _ => unreachable!("time and derivatives are inputs"),
        }
    }
}

/// For entries that are not zero, σ with A_ij = σ A_ji; nothing if some entry has no such σ.
fn mirrored(graph: &Graph, entries: &[(usize, usize, Expr)]) -> Option<Vec<(usize, usize, f64)>> {
    let terms: HashMap<(usize, usize), _> = entries.iter().map(|&(i, j, e)| ((i, j), linear_terms(graph, e))).collect();
    let there = terms.iter().filter(|(_, terms)| !terms.is_empty());
    there
        .map(|(&(i, j), one)| {
            let other = terms.get(&(j, i))?;
            let same = |sign: f64| {
                one.len() == other.len()
                    && one
                        .iter()
                        .zip(other)
                        .all(|((e, x), (f, y))| e == f && (x - sign * y).abs() <= ROUNDING * x.abs())
            };
            [1.0, -1.0].into_iter().find(|&sign| same(sign)).map(|sign| (i, j, sign))
        })
        .collect()
}

/// Signs s with s_i s_j = c for all (i, j, c), if there are some.
fn coloured(n: usize, relations: &[(usize, usize, f64)]) -> Option<Vec<f64>> {
    let mut signs = vec![0.0; n];
    for first in 0..n {
        if signs[first] != 0.0 {
            continue;
        }
        signs[first] = 1.0;
        let mut open = vec![first];
        while let Some(i) = open.pop() {
            for &(r, c, sign) in relations.iter().filter(|(r, c, _)| *r == i || *c == i) {
                let j = if r == i { c } else { r };
                if signs[j] == 0.0 {
                    signs[j] = sign * signs[i];
                    open.push(j);
                } else if signs[j] != sign * signs[i] {
                    return None;
                }
            }
        }
    }
    Some(signs)
}

/// Taylor coefficients 0, …, `order` of the states on a curve through an analysed point that satisfies the equations and their
/// derivatives; `None` where no such curve was found.
pub fn curve_of_states(system: &System, at: &Characteristics, order: usize) -> Option<Vec<Vec<f64>>> {
    let (n, states) = (system.dim(), system.formulas.states.len());
    let level = order.saturating_sub(1);
    if level > MOST_LEVELS {
        return None;
    }
    let mut jet = at.jet.clone();
    jet.resize((level + 2) * n, 0.0);
    let found = fit_derivatives(&mut system.array(), level, at.t, &mut jet, at.ranks).ok()?;
    found.consistent().then(|| (0..=order).map(|k| jet[k * n..k * n + states].to_vec()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dae::highest_orders;
    use crate::scalar::Scalar;

    /// t x₁″ + c x₁′ + x₂ = sin t, x₁″ x₂ = 0 or x₁″ = 0.
    fn written(linear: bool) -> Formulas {
        let mut graph = Graph::new();
        let inputs = ["t", "x1", "x2", "x1'", "x2'", "x1''", "x2''", "c"].map(|name| graph.input(name));
        let [t, _, x2, x1_rate, _, x1_second, _, c] = inputs;
        let second = graph.with(|| if linear { x1_second } else { x1_second * x2 });
        let first = graph.with(|| t * x1_second + c * x1_rate + x2 - t.sin());
        Formulas {
            orders: highest_orders(&graph, &[first, second], 2, 2),
            graph,
            states: vec!["x1".into(), "x2".into()],
            levels: 2,
            equations: vec![("1".into(), first), ("2".into(), second)],
            parameters: vec![("c".into(), 3.0)],
            ..Formulas::default()
        }
    }

    #[test]
    fn formulas_tell_what_is_linear_and_constant() {
        let system = HighOrderSystem::new(&written(true));
        assert_eq!((system.order(), system.rows(), system.dim()), (2, 2, 2));
        assert!(system.linear() && !system.constant_coefficients() && system.numbers().is_none());
        assert!(!HighOrderSystem::new(&written(false)).linear());
    }

    #[test]
    fn equations_are_symmetric_up_to_their_signs() {
        // x₁' = x₁ t − x₂, 0 = x₁: A₀ = [−t 1; ±1 0]
        let pair = |sign: f64| {
            let mut graph = Graph::new();
            let [t, x1, x2, x1_rate, _] = ["t", "x1", "x2", "x1'", "x2'"].map(|name| graph.input(name));
            let all = graph.with(|| [x1_rate - x1 * t + x2, x1 * sign]);
            HighOrderSystem::new(&Formulas {
                orders: highest_orders(&graph, &all, 2, 1),
                graph,
                states: vec!["x1".into(), "x2".into()],
                levels: 1,
                equations: vec![("1".into(), all[0]), ("2".into(), all[1])],
                ..Formulas::default()
            })
        };
        assert_eq!(pair(1.0).row_signs(&[1.0, 1.0]), Some(vec![1.0, 1.0]));
        assert_eq!(pair(-1.0).row_signs(&[1.0, 1.0]), Some(vec![1.0, -1.0]));
        assert_eq!(pair(1.0).row_signs(&[1.0, -1.0]), None);
    }

    #[test]
    fn a_moving_skew_matrix_needs_half_of_its_rate() {
        // E = [0 t; −t 0], A = [1 −c; ½ 0], F = E ẋ − A x: A = (A + E')ᵀ for c = ½
        let pair = |c: f64| {
            let mut graph = Graph::new();
            let [t, x1, x2, rate1, rate2] = ["t", "x1", "x2", "x1'", "x2'"].map(|name| graph.input(name));
            let all = graph.with(|| [t * rate2 - x1 + x2 * c, -(t * rate1) - x1 * 0.5]);
            HighOrderSystem::new(&Formulas {
                orders: highest_orders(&graph, &all, 2, 1),
                graph,
                states: vec!["x1".into(), "x2".into()],
                levels: 1,
                equations: vec![("1".into(), all[0]), ("2".into(), all[1])],
                ..Formulas::default()
            })
        };
        assert_eq!(pair(0.5).row_signs(&[1.0, -1.0]), Some(vec![1.0, 1.0]));
        // with the other sign of the second equation it is symmetric as well
        assert_eq!(pair(0.5).row_signs(&[1.0, 1.0]), Some(vec![1.0, -1.0]));
        assert!(pair(0.25).row_signs(&[1.0, -1.0]).is_none() && pair(0.25).row_signs(&[1.0, 1.0]).is_none());
    }

    #[test]
    fn a_system_without_derivatives_has_order_one() {
        let mut graph = Graph::new();
        let [t, x, c] = ["t", "x", "c"].map(|name| graph.input(name));
        let all = graph.with(|| [x * c - t.sin()]);
        let system = HighOrderSystem::new(&Formulas {
            orders: vec![0],
            graph,
            states: vec!["x".into()],
            equations: vec![("1".into(), all[0])],
            parameters: vec![("c".into(), 2.0)],
            ..Formulas::default()
        });
        assert!(system.order() == 1 && system.constant_coefficients());
        let found = system.expand(0.5, &[], 1).unwrap();
        assert_eq!((found.A[0][0][(0, 0)], found.A[1][0][(0, 0)], found.f[0][0]), (2.0, 0.0, 0.5_f64.sin()));
    }

    #[test]
    fn coefficients_are_those_of_the_linearisation() {
        let found = HighOrderSystem::new(&written(true)).expand(2.0, &[], 3).unwrap();
        let (M, C, K) = (&found.A[2], &found.A[1], &found.A[0]);
        assert_eq!((M[0][(0, 0)], M[1][(0, 0)], M[2][(0, 0)], C[0][(0, 0)], K[0][(0, 1)]), (2.0, 1.0, 0.0, 3.0, 1.0));
        assert!((found.f[1][0] - 2.0_f64.cos()).abs() < 1e-15 && (found.f[3][0] + 2.0_f64.cos() / 6.0).abs() < 1e-15);
        // along x₁ = τ², x₂ = 5 + τ: ∂(x₁″ x₂)/∂x₁″ = 5 + τ, ∂/∂x₂ = 2
        let curve = [vec![0.0, 5.0], vec![0.0, 1.0], vec![1.0, 0.0]];
        let found = HighOrderSystem::new(&written(false)).expand(2.0, &curve, 2).unwrap();
        assert_eq!((found.A[2][0][(1, 0)], found.A[2][1][(1, 0)], found.A[0][0][(1, 1)]), (5.0, 1.0, 2.0));
        assert_eq!((found.f[0][1], found.f[1][1]), (-10.0, -2.0));
    }
}
