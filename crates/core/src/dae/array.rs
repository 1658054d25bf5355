//! Derivative arrays 𝔉_ℓ = (F, dF/dt, …, dˡF/dtˡ) at a jet (x, ẋ, …, x^(ℓ+1)), by Taylor arithmetic.
//!
//! Jets and rows are normalised Taylor coefficients: X_k = x^(k)/k!, F_j = (dʲF/dtʲ)/j!. One sweep with truncated series gives all
//! F_j, and the Jacobian needs only the series of ∂F/∂x and ∂F/∂ẋ along the jet, because linearising and differentiating commute:
//! ∂F_j/∂X_i = (F_x)_{j−i} + i (F_ẋ)_{j−i+1}. The sweeps are made once, with formulas as coefficients, and compiled.

use super::{FirstOrder, Structure};
use crate::graph::{Compiler, Expr, Graph, Kernel, Tape};
use crate::linalg::{Matrix, SparseMatrix};
use crate::motion::Undefined;
use crate::scalar::Taylor;
use std::sync::{Arc, OnceLock};

/// Most differentiations.
pub const MOST_LEVELS: usize = 11;

/// Derivative arrays of a system, for every level that is asked for, up to `MOST_LEVELS`; more are a programming error.
pub struct DerivativeArray {
    kernels: Arc<ArrayKernels>,
    /// of each level
    values: Vec<Option<KernelCall>>,
    entries: Vec<Option<KernelCall>>,
    sparse: bool,
}

/// What all derivative arrays of a system share: kernels of each level, compiled when they are first asked for.
pub(super) struct ArrayKernels {
    pub structure: Structure,
    compiler: Arc<dyn Compiler>,
    values: Vec<OnceLock<Box<dyn Kernel>>>,
    /// entries of the Jacobian
    entries: Vec<OnceLock<Box<dyn Kernel>>>,
}

/// A kernel with its arguments.
struct KernelCall {
    kernel: Box<dyn Kernel>,
    inputs: Vec<f64>,
    outputs: Vec<f64>,
}

impl DerivativeArray {
    /// Of a system.
    pub(super) fn new(kernels: Arc<ArrayKernels>, sparse: bool) -> Self {
        let none = || (0..=MOST_LEVELS).map(|_| None).collect();
        DerivativeArray { kernels, values: none(), entries: none(), sparse }
    }

    /// Are its Jacobians to be decomposed as sparse matrices?
    pub fn is_sparse(&self) -> bool {
        self.sparse
    }

    /// Number of unknowns.
    pub fn dim(&self) -> usize {
        self.kernels.structure.system.dim()
    }

    /// Number of equations of F.
    pub fn rows(&self) -> usize {
        self.kernels.structure.system.rows()
    }

    /// F_0 … F_ℓ at the jet X_0 … X_{ℓ+1}, one after the other.
    pub fn evaluate(&mut self, level: usize, t: f64, jet: &[f64], F: &mut [f64]) -> Result<(), Undefined> {
        let values = self.values[level].get_or_insert_with(|| self.kernels.values(level));
        values.call(t, jet);
        F.copy_from_slice(&values.outputs);
        if F.iter().all(|f| f.is_finite()) { Ok(()) } else { Err(Undefined) }
    }

    /// ∂(F_0 … F_ℓ)/∂(X_0 … X_{ℓ+1}).
    pub fn jacobian(&mut self, level: usize, t: f64, jet: &[f64], J: &mut Matrix) -> Result<(), Undefined> {
        J.fill(0.0);
        self.each_term(level, t, jet, |place, term| J[place] += term)
    }

    /// The same in a sparse matrix, which has further rows perhaps.
    pub fn sparse_jacobian(
        &mut self,
        level: usize,
        t: f64,
        jet: &[f64],
        J: &mut SparseMatrix,
    ) -> Result<(), Undefined> {
        J.values_mut().fill(0.0);
        self.each_term(level, t, jet, |place, term| {
            if let Some(k) = J.position(place) {
                J.values_mut()[k] += term;
            }
        })
    }

    /// Places of all entries that are not zero by their formulas.
    pub fn places(&self, level: usize) -> Vec<(usize, usize)> {
        let Structure { leading, slope, .. } = &self.kernels.structure;
        let (m, n) = (self.rows(), self.dim());
        let by_x = slope.iter().flat_map(|(r, c, _)| terms(level, 0).map(move |(j, i)| (j * m + r, i * n + c)));
        let by_xdot = leading.iter().flat_map(|(r, c, _)| terms(level, 1).map(move |(j, i)| (j * m + r, i * n + c)));
        by_x.chain(by_xdot).collect()
    }

    /// The terms that the entries of the Jacobian are summed from, with their places.
    fn each_term(
        &mut self,
        level: usize,
        t: f64,
        jet: &[f64],
        mut add: impl FnMut((usize, usize), f64),
    ) -> Result<(), Undefined> {
        let (m, n) = (self.rows(), self.dim());
        let entries = self.entries[level].get_or_insert_with(|| self.kernels.entries(level));
        entries.call(t, jet);
        let Structure { leading, slope, .. } = &self.kernels.structure;
        let (by_xdot, by_x) = entries.outputs.split_at(leading.entries.len() * (level + 1));
        for ((r, c, _), series) in slope.iter().zip(by_x.chunks_exact(level + 1)) {
            terms(level, 0).for_each(|(j, i)| add((j * m + r, i * n + c), series[j - i]));
        }
        for ((r, c, _), series) in leading.iter().zip(by_xdot.chunks_exact(level + 1)) {
            terms(level, 1).for_each(|(j, i)| add((j * m + r, i * n + c), i as f64 * series[j + 1 - i]));
        }
        if entries.outputs.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(Undefined) }
    }
}

/// (j, i) for which F_j depends on X_i through ∂F/∂x (`order` 0) or ∂F/∂ẋ (1).
fn terms(level: usize, order: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..=level).flat_map(move |j| (order..=j + order).map(move |i| (j, i)))
}

impl ArrayKernels {
    /// Of a system.
    pub fn new(structure: Structure, compiler: Arc<dyn Compiler>) -> Self {
        let none = || (0..=MOST_LEVELS).map(|_| OnceLock::new()).collect();
        ArrayKernels { structure, compiler, values: none(), entries: none() }
    }

    fn values(&self, level: usize) -> KernelCall {
        let system = &self.structure.system;
        let kernel = self.values[level].get_or_init(|| {
            let (graph, series) = series(system, &system.equations, level);
            // F_0, then F_1, …
            let by_level: Vec<Expr> = (0..=level).flat_map(|j| series.iter().map(move |row| row[j])).collect();
            self.compiler.compile(&graph, &by_level)
        });
        KernelCall::new(&**kernel, system, level, system.rows())
    }

    fn entries(&self, level: usize) -> KernelCall {
        let (system, entries) = (&self.structure.system, self.structure.coefficients());
        let kernel = self.entries[level].get_or_init(|| {
            let (graph, series) = series(system, &entries, level);
            self.compiler.compile(&graph, &series.concat())
        });
        KernelCall::new(&**kernel, system, level, entries.len())
    }
}

impl KernelCall {
    /// Series of this many formulas.
    fn new(kernel: &dyn Kernel, system: &FirstOrder, level: usize, formulas: usize) -> Self {
        let inputs = 1 + (level + 2) * system.dim();
        KernelCall { kernel: kernel.duplicate(), inputs: vec![0.0; inputs], outputs: vec![0.0; formulas * (level + 1)] }
    }

    fn call(&mut self, t: f64, jet: &[f64]) {
        self.inputs[0] = t;
        self.inputs[1..].copy_from_slice(jet);
        self.kernel.call(&self.inputs, &mut self.outputs);
    }
}

/// Taylor coefficients 0 … ℓ of formulas of a system along a jet, as formulas of another graph with the inputs t, X_0 … X_{ℓ+1}.
fn series(system: &FirstOrder, formulas: &[Expr], level: usize) -> (Graph, Vec<Vec<Expr>>) {
    macro_rules! of_length {
        ($($k:literal)*) => {
            match level + 1 {
                $($k => swept::<$k>(system, formulas),)*
                _ => panic!("level {level} of at most {MOST_LEVELS}"),
            }
        };
    }
    of_length!(1 2 3 4 5 6 7 8 9 10 11 12)
}

fn swept<const K: usize>(system: &FirstOrder, formulas: &[Expr]) -> (Graph, Vec<Vec<Expr>>) {
    let mut graph = Graph::new();
    let t = graph.input("t");
    let named = |k: usize| system.names.iter().map(move |name| format!("{name}[{k}]"));
    let jet: Vec<Vec<Expr>> = (0..=K).map(|k| named(k).map(|name| graph.input(name)).collect()).collect();
    let tape = Tape::new(&system.graph, formulas);
    let series = graph.with(|| {
        let mut inputs = vec![Taylor::<Expr, K>::from(0.0); system.graph.inputs().len()];
        inputs[system.place(system.t)] = Taylor::parameter(t);
        for j in 0..system.dim() {
            let x = std::array::from_fn(|k| jet[k][j]);
            // (k + 1) X_{k+1} are the coefficients of ẋ
            let xdot = std::array::from_fn(|k| jet[k + 1][j] * (k + 1) as f64);
            inputs[system.place(system.x[j])] = Taylor { coefficients: x };
            inputs[system.place(system.xdot[j])] = Taylor { coefficients: xdot };
        }
        tape.evaluate(&inputs).into_iter().map(|series| series.coefficients.to_vec()).collect()
    });
    (graph, series)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dae::{Equations, Formulas};
    use crate::graph::Interpreted;
    use crate::scalar::Scalar;

    /// Everything that a series can be made of.
    struct Mixture;
    impl Equations for Mixture {
        fn dim(&self) -> usize {
            3
        }
        fn rows(&self) -> usize {
            2
        }
        fn residual<S: Scalar>(&self, t: S, x: &[S], xdot: &[S], r: &mut [S]) {
            r[0] = xdot[0] * (x[1].sin() + 2.0) - (x[0] * t).exp() + xdot[2].square() * x[2].abs();
            r[1] = x[0].square() + x[1] * x[2] / (x[2].square() + 1.0) - t.cos() * xdot[1];
        }
    }

    /// A curve with known Taylor coefficients: x_j(t + τ) = Σ jet[k][j] τᵏ.
    fn jet() -> Vec<f64> {
        vec![0.3, -0.4, 0.9, 0.5, 0.2, -0.7, -0.3, 0.8, 0.1, 0.25, -0.15, 0.05, 0.02, -0.06, 0.03]
    }

    #[test]
    fn coefficients_are_those_of_the_curve_that_is_put_in() {
        let system = FirstOrder::new(&Formulas::trace(&Mixture));
        let mut array =
            DerivativeArray::new(Arc::new(ArrayKernels::new(Structure::new(&system), Arc::new(Interpreted))), false);
        let (level, t) = (3, 0.7);
        let mut F = vec![0.0; 8];
        array.evaluate(level, t, &jet(), &mut F).unwrap();
        // F along the curve at small τ against its series: the remainder falls with τ⁴
        let remainder = |tau: f64| {
            let at = |j: usize| (0..5).map(|k| jet()[3 * k + j] * tau.powi(k as i32)).sum::<f64>();
            let rate = |j: usize| (1..5).map(|k| k as f64 * jet()[3 * k + j] * tau.powi(k as i32 - 1)).sum::<f64>();
            let (x, xdot) = ([at(0), at(1), at(2)], [rate(0), rate(1), rate(2)]);
            let mut r = [0.0; 2];
            Mixture.residual(t + tau, &x, &xdot, &mut r);
            (0..2)
                .map(|i| (r[i] - (0..4).map(|j| F[2 * j + i] * tau.powi(j as i32)).sum::<f64>()).abs())
                .fold(0.0, f64::max)
        };
        let (coarse, fine) = (remainder(0.02), remainder(0.01));
        assert!(coarse < 1e-5 && (12.0..22.0).contains(&(coarse / fine)), "{coarse:e} {fine:e}");
    }

    #[test]
    fn the_jacobian_is_the_derivative_of_the_array() {
        let system = FirstOrder::new(&Formulas::trace(&Mixture));
        let mut array =
            DerivativeArray::new(Arc::new(ArrayKernels::new(Structure::new(&system), Arc::new(Interpreted))), false);
        let (level, t) = (3, 0.7);
        let mut J = Matrix::zeros(8, 15);
        array.jacobian(level, t, &jet(), &mut J).unwrap();
        let (mut up, mut down) = (vec![0.0; 8], vec![0.0; 8]);
        for c in 0..15 {
            let mut moved = jet();
            moved[c] += 1e-5;
            array.evaluate(level, t, &moved, &mut up).unwrap();
            moved[c] -= 2e-5;
            array.evaluate(level, t, &moved, &mut down).unwrap();
            for r in 0..8 {
                let difference = (up[r] - down[r]) / 2e-5;
                assert!((J[(r, c)] - difference).abs() < 1e-8, "({r}, {c}): {} {difference}", J[(r, c)]);
            }
        }
    }
}
