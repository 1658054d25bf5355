//! Functions of one variable with two derivatives: prescribed motions and transmissions.

use daedal::graph::{Expr, Graph, Tape};
use daedal::scalar::Scalar;
use std::fmt;
use std::sync::Arc;

/// F with F' and F'', for every scalar.
#[derive(Clone)]
pub struct Function {
    tape: Arc<Tape>,
    /// of the graph; all but the first one are bound
    inputs: usize,
}

impl Function {
    /// From its formula.
    ///
    /// ```
    /// use daedal::scalar::Scalar;
    /// let swing = daedal_multibody::Function::new(|t| (t * 2.0).sin() * 0.8);
    /// let [angle, rate, acceleration] = swing.evaluate(0.0);
    /// assert_eq!([angle, rate, acceleration], [0.0, 1.6, 0.0]);
    /// ```
    pub fn new(formula: impl FnOnce(Expr) -> Expr) -> Self {
        let mut graph = Graph::new();
        let x = graph.input("x");
        let value = graph.with(|| formula(x));
        Function::of(graph, x, value)
    }

    /// A formula in a graph whose first input x is the only one that is not bound to a number.
    pub fn of(mut graph: Graph, x: Expr, value: Expr) -> Self {
        let one = graph.with(|| Expr::from(1.0));
        let first = graph.total_derivative(&[value], &[(x, one)])[0];
        let second = graph.total_derivative(&[first], &[(x, one)])[0];
        let inputs = graph.inputs().len();
        Function { tape: Arc::new(Tape::new(&graph, &[value, first, second])), inputs }
    }

    /// r x.
    pub fn linear(r: f64) -> Self {
        Function::new(|x| x * r)
    }

    /// F, F' and F'' at x.
    pub fn evaluate<S: Scalar>(&self, x: S) -> [S; 3] {
        let mut inputs = vec![S::from(0.0); self.inputs];
        inputs[0] = x;
        let values = self.tape.evaluate(&inputs);
        [values[0], values[1], values[2]]
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("Function")
    }
}
