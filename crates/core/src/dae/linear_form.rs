//! Systems whose formulas are linear, F = E(t) ẋ − A(t) x − b(t): coefficients as functions of time.

use super::{FirstOrder, System};
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
}

impl LinearFormulas {
    /// `None` if the system is not linear in x and ẋ.
    pub fn new(system: &System) -> Option<Self> {
        let mut first: FirstOrder = system.first.bound();
        let leading = first.graph.jacobian(&first.equations, &first.xdot.clone());
        let slope = first.graph.jacobian(&first.equations, &first.x.clone());
        let time = first.place(first.t);
        let entries: Vec<Expr> = leading.entries.iter().chain(&slope.entries).copied().collect();
        if entries.iter().any(|&e| first.graph.depends_on(e).iter().any(|&i| i != time)) {
            return None;
        }
        let zeros: Vec<(Expr, f64)> = first.x.iter().chain(&first.xdot).map(|&e| (e, 0.0)).collect();
        let rest = first.graph.bind(&first.equations, &zeros);
        let outputs = [&entries[..], &rest].concat();
        Some(LinearFormulas {
            m: first.rows(),
            n: first.dim(),
            inputs: first.graph.inputs().len(),
            time,
            tape: Tape::new(&first.graph, &outputs),
            E: leading.iter().map(|(i, j, _)| (i, j)).collect(),
            A: slope.iter().map(|(i, j, _)| (i, j)).collect(),
        })
    }

    /// Do E and A not depend on time? Told by their values and first derivatives at a few times.
    fn constant(&self) -> bool {
        use crate::scalar::Taylor;
        [0.137, 1.71, -2.93].iter().all(|&t| {
            let (mut E, mut A) = (Matrix::zeros(self.m, self.n), Matrix::zeros(self.m, self.n));
            let mut b = vec![Taylor::<f64, 2>::from(0.0); self.m];
            self.coefficients(Taylor::parameter(t), &mut E, &mut A, &mut b);
            E.data().iter().chain(A.data()).all(|entry| entry.coefficients[1] == 0.0)
        })
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
        let constant = formulas.constant();
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
