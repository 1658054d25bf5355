//! Systems whose formulas are linear, F = E(t) ẋ − A(t) x − b(t): coefficients as functions of time.

use super::System;
use super::structure::Structure;
use crate::graph::{Expr, Tape};
use crate::linalg::Matrix;
use crate::linear::{CoefficientError, Coefficients, Differentiated, LinearEquations, TaylorData};
use crate::scalar::Scalar;

/// The coefficients of a linear system.
pub struct LinearFormulas {
    m: usize,
    n: usize,
    inputs: usize,
    time: usize,
    /// entries of E, of −A, and −b
    tape: Tape,
    E: Vec<(usize, usize)>,
    A: Vec<(usize, usize)>,
    /// do E and A not depend on time?
    constant: bool,
}

impl LinearFormulas {
    /// `None` if the system is not linear in x and ẋ.
    pub fn new(system: &System) -> Option<Self> {
        let structure = system.structure();
        structure.linear().then(|| Self::of(structure))
    }

    /// Of a system that is known to be linear.
    fn of(structure: &Structure) -> Self {
        let entries = structure.coefficients();
        let constant = structure.constant_coefficients();
        let Structure { system: first, leading, slope } = structure;
        let mut first = first.clone();
        let zeros: Vec<(Expr, f64)> = first.x.iter().chain(&first.xdot).map(|&e| (e, 0.0)).collect();
        let rest = first.graph.bind(&first.equations, &zeros);
        let outputs = [&entries[..], &rest].concat();
        LinearFormulas {
            m: first.rows(),
            n: first.dim(),
            inputs: first.graph.inputs().len(),
            time: first.place(first.t),
            tape: Tape::new(&first.graph, &outputs),
            E: leading.iter().map(|(i, j, _)| (i, j)).collect(),
            A: slope.iter().map(|(i, j, _)| (i, j)).collect(),
            constant,
        }
    }
}

impl LinearEquations for LinearFormulas {
    fn dim(&self) -> usize {
        self.n
    }
    fn rows(&self) -> usize {
        self.m
    }
    fn coefficients<S: Scalar>(&self, t: S, E: &mut Matrix<S>, A: &mut Matrix<S>, b: &mut [S]) {
        let mut inputs = vec![S::from(0.0); self.inputs];
        inputs[self.time] = t;
        let values = self.tape.evaluate(&inputs);
        let (leading, rest) = values.split_at(self.E.len());
        let (slope, rest) = rest.split_at(self.A.len());
        E.fill(S::from(0.0));
        A.fill(S::from(0.0));
        for (&place, &e) in self.E.iter().zip(leading) {
            E[place] = e;
        }
        for (&place, &a) in self.A.iter().zip(slope) {
            A[place] = -a;
        }
        for (b, &value) in b.iter_mut().zip(rest) {
            *b = -value;
        }
    }
}

/// What GELDA asks for.
pub struct FormulaCoefficients {
    equations: Differentiated<LinearFormulas>,
    constant: bool,
}

impl FormulaCoefficients {
    /// Of a linear system; `None` if it is not linear.
    pub fn new(system: &System) -> Option<Self> {
        let formulas = LinearFormulas::new(system)?;
        let constant = formulas.constant;
        Some(FormulaCoefficients { equations: Differentiated::new(formulas), constant })
    }
}

impl Coefficients for FormulaCoefficients {
    fn rows(&self) -> usize {
        self.equations.rows()
    }
    fn dim(&self) -> usize {
        self.equations.dim()
    }
    fn taylor(&mut self, t: f64, order: usize, out: &mut TaylorData) -> Result<(), CoefficientError> {
        self.equations.taylor(t, order, out)
    }
    fn constant(&self) -> bool {
        self.constant
    }
}
