//! What the formulas of F(t, x, ẋ) = 0 tell by themselves: which unknowns and derivatives each row contains, whether F is linear, what its
//! coefficients depend on.
//!
//! Everything is read from the graph, with numbers for the parameters, and nothing from values at points: a coefficient may vanish at
//! many of them. A `select` depends on its condition. Nothing is simplified for it, so that an answer may err on one side only: `t - t`
//! counts as dependence on t.

use super::FirstOrder;
use crate::graph::{Expr, Jacobian, Node};
use crate::linalg::Mat;

/// The structure of a general system.
#[derive(Clone, Debug)]
pub struct Structure {
    /// The system with numbers for its parameters, and its own graph.
    pub system: FirstOrder,
    /// ∂F/∂ẋ: the entries that are not zero by their formulas.
    pub leading: Jacobian,
    /// ∂F/∂x.
    pub slope: Jacobian,
}

impl Structure {
    /// Of a system.
    pub fn new(first: &FirstOrder) -> Self {
        let mut system = first.bound();
        let (x, xdot) = (system.x.clone(), system.xdot.clone());
        let leading = system.graph.jacobian(&system.equations, &xdot);
        let slope = system.graph.jacobian(&system.equations, &x);
        Structure { system, leading, slope }
    }

    /// Which rows contain no derivative?
    pub fn algebraic(&self) -> Vec<bool> {
        let mut algebraic = vec![true; self.system.rows()];
        self.leading.row.iter().for_each(|&i| algebraic[i] = false);
        algebraic
    }

    /// Which unknowns have a derivative in some row?
    pub fn differentiated(&self) -> Vec<bool> {
        (0..self.system.dim()).map(|j| self.is_differentiated(j)).collect()
    }

    /// Has this unknown?
    pub fn is_differentiated(&self, unknown: usize) -> bool {
        self.leading.columns[unknown] < self.leading.columns[unknown + 1]
    }

    /// Has each row with derivatives one of them, in a column of its own? Then these rows are independent without further ado.
    pub fn own_columns(&self) -> bool {
        let mut rows = vec![false; self.system.rows()];
        let alone = self.leading.columns.windows(2).all(|w| w[1] - w[0] <= 1);
        alone && self.leading.row.iter().all(|&i| !std::mem::replace(&mut rows[i], true))
    }

    /// Are the gradients of the rows without ẋ made of numbers, and all others independent by their pattern?
    pub fn constant_constraints(&self) -> bool {
        let algebraic = self.algebraic();
        let mut slopes = self.slope.iter().filter(|(i, _, _)| algebraic[*i]);
        self.own_columns() && slopes.all(|(_, _, e)| self.system.graph.constant(e).is_some())
    }

    /// Does ∂F/∂ẋ not contain ẋ?
    pub fn quasilinear(&self) -> bool {
        !self.contain(&self.leading.entries, &self.system.xdot)
    }

    /// Is ∂F/∂ẋ made of numbers?
    pub fn constant_leading(&self) -> bool {
        self.leading.entries.iter().all(|&e| self.system.graph.constant(e).is_some())
    }

    /// ∂F/∂ẋ and ∂F/∂x, if all of their entries are numbers.
    pub fn numbers(&self) -> Option<[Mat<f64>; 2]> {
        let dense = |J: &Jacobian| {
            let mut M = Mat::zeros(self.system.rows(), self.system.dim());
            for (i, j, e) in J.iter() {
                M[(i, j)] = self.system.graph.constant(e)?;
            }
            Some(M)
        };
        Some([dense(&self.leading)?, dense(&self.slope)?])
    }

    /// Does ∂F/∂ẋ depend on unknowns or their derivatives?
    pub fn leading_moves(&self) -> bool {
        let FirstOrder { x, xdot, .. } = &self.system;
        self.contain(&self.leading.entries, x) || self.contain(&self.leading.entries, xdot)
    }

    /// Is the derivative of an unknown that stands in a constraint multiplied by unknowns? Its perturbation index may be higher then.
    pub fn multiplies_constrained_rates(&self) -> bool {
        let algebraic = self.algebraic();
        let mut constrained = vec![false; self.system.dim()];
        self.slope.iter().filter(|(i, _, _)| algebraic[*i]).for_each(|(_, j, _)| constrained[j] = true);
        let factors: Vec<Expr> = self.leading.iter().filter(|(_, j, _)| constrained[*j]).map(|(_, _, e)| e).collect();
        self.contain(&factors, &self.system.x)
    }

    /// Is F linear in x and ẋ, with coefficients that depend on time at most? Not where a condition asks for x or ẋ, although the
    /// derivatives of what it chooses from may be equal.
    pub fn linear(&self) -> bool {
        let FirstOrder { graph, x, xdot, equations, .. } = &self.system;
        let condition = |e: Expr| if let Node::Select(condition, ..) = graph.node(e) { Some(condition) } else { None };
        let mut formulas = self.coefficients();
        formulas.extend(graph.needed(equations).into_iter().filter_map(condition));
        !self.contain(&formulas, x) && !self.contain(&formulas, xdot)
    }

    /// Is F linear with coefficients that do not depend on time either?
    pub fn constant_coefficients(&self) -> bool {
        self.linear() && !self.contain(&self.coefficients(), &[self.system.t])
    }

    /// Does time not enter?
    pub fn autonomous(&self) -> bool {
        !self.contain(&self.system.equations, &[self.system.t])
    }

    /// Entries of ∂F/∂ẋ, then of ∂F/∂x.
    pub fn coefficients(&self) -> Vec<Expr> {
        [&self.leading.entries[..], &self.slope.entries].concat()
    }

    /// Does one of the formulas contain one of the inputs?
    fn contain(&self, formulas: &[Expr], inputs: &[Expr]) -> bool {
        let needed = self.system.graph.needed(formulas);
        inputs.iter().any(|input| needed.binary_search(input).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dae::{Equations, Formulas};
    use crate::scalar::Scalar;

    /// max(0, t − 5), which is zero at every time that one would try.
    fn late<S: Scalar>(t: S) -> S {
        (t - 5.0).select(t - 5.0, S::from(0.0))
    }

    struct Late;
    impl Equations for Late {
        fn dim(&self) -> usize {
            2
        }
        fn residual<S: Scalar>(&self, t: S, x: &[S], xdot: &[S], r: &mut [S]) {
            r[0] = xdot[0] + (late(t) + 1.0) * x[0] - x[1];
            r[1] = x[0] - t.sin();
        }
    }

    /// x' = y, and a condition on x chooses between two constant coefficients.
    struct Piecewise;
    impl Equations for Piecewise {
        fn dim(&self) -> usize {
            2
        }
        fn residual<S: Scalar>(&self, _: S, x: &[S], xdot: &[S], r: &mut [S]) {
            r[0] = xdot[0] - x[1];
            r[1] = (x[0] - 5.0).select(xdot[1], xdot[1] * 2.0) + x[1];
        }
    }

    /// x' = 1 or 2: the derivative with respect to x is zero on both sides.
    struct TwoSpeeds;
    impl Equations for TwoSpeeds {
        fn dim(&self) -> usize {
            1
        }
        fn residual<S: Scalar>(&self, _: S, x: &[S], xdot: &[S], r: &mut [S]) {
            r[0] = xdot[0] - (x[0] - 5.0).select(S::from(2.0), S::from(1.0));
        }
    }

    #[test]
    fn a_jump_is_not_linear() {
        assert!(!Structure::new(&FirstOrder::new(&Formulas::trace(&TwoSpeeds))).linear());
    }

    #[test]
    fn what_vanishes_early_counts() {
        let structure = Structure::new(&FirstOrder::new(&Formulas::trace(&Late)));
        assert!(structure.linear() && !structure.constant_coefficients() && !structure.autonomous());
        assert!(structure.constant_leading() && structure.quasilinear() && !structure.leading_moves());
        assert_eq!((structure.algebraic(), structure.differentiated()), (vec![false, true], vec![true, false]));
    }

    #[test]
    fn a_condition_is_a_dependence() {
        let structure = Structure::new(&FirstOrder::new(&Formulas::trace(&Piecewise)));
        assert!(!structure.linear() && !structure.constant_leading() && structure.leading_moves());
        assert!(structure.quasilinear() && structure.autonomous());
    }
}
