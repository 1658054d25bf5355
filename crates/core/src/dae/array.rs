//! Derivative arrays 𝔉_ℓ = (F, dF/dt, …, dˡF/dtˡ) at a jet (x, ẋ, …, x^(ℓ+1)), by Taylor arithmetic.
//!
//! Jets and rows are normalised Taylor coefficients: X_k = x^(k)/k!, F_j = (dʲF/dtʲ)/j!. One sweep with truncated series gives all
//! F_j, and the Jacobian needs only the series of ∂F/∂x and ∂F/∂ẋ along the jet, because linearising and differentiating commute:
//! ∂F_j/∂X_i = (F_x)_{j−i} + i (F_ẋ)_{j−i+1}. The sweeps are made once, with formulas as coefficients, and compiled.

use super::FirstOrder;
use crate::graph::{Compiler, Expr, Graph, Jacobian, Kernel, Tape};
use crate::linalg::Matrix;
use crate::motion::Undefined;
use crate::scalar::Taylor;
use std::sync::Arc;

/// Most differentiations.
pub const MOST_LEVELS: usize = 11;

/// Derivative arrays of a system, for every level that is asked for, up to [`MOST_LEVELS`]; more are a programming error.
pub struct DerivativeArray {
    /// with numbers for the parameters, and their own graph
    system: FirstOrder,
    by_x: Jacobian,
    by_xdot: Jacobian,
    compiler: Arc<dyn Compiler>,
    levels: Vec<Option<Level>>,
}

/// Kernels of one level.
struct Level {
    values: Box<dyn Kernel>,
    entries: Box<dyn Kernel>,
    inputs: Vec<f64>,
    outputs: Vec<f64>,
}

impl DerivativeArray {
    /// Of a system.
    pub fn new(system: &FirstOrder, compiler: Arc<dyn Compiler>) -> Self {
        let mut system = system.bound();
        let by_x = system.graph.jacobian(&system.equations, &system.x.clone());
        let by_xdot = system.graph.jacobian(&system.equations, &system.xdot.clone());
        DerivativeArray { system, by_x, by_xdot, compiler, levels: (0..=MOST_LEVELS).map(|_| None).collect() }
    }

    /// Number of unknowns.
    pub fn dim(&self) -> usize {
        self.system.dim()
    }

    /// Number of equations of F.
    pub fn rows(&self) -> usize {
        self.system.rows()
    }

    /// F_0 … F_ℓ at the jet X_0 … X_{ℓ+1}, one after the other.
    pub fn evaluate(&mut self, level: usize, t: f64, jet: &[f64], F: &mut [f64]) -> Result<(), Undefined> {
        let kernels = self.level(level);
        kernels.inputs[0] = t;
        kernels.inputs[1..].copy_from_slice(jet);
        kernels.values.call(&kernels.inputs, F);
        if F.iter().all(|f| f.is_finite()) { Ok(()) } else { Err(Undefined) }
    }

    /// ∂(F_0 … F_ℓ)/∂(X_0 … X_{ℓ+1}).
    pub fn jacobian(&mut self, level: usize, t: f64, jet: &[f64], J: &mut Matrix) -> Result<(), Undefined> {
        let (m, n) = (self.rows(), self.dim());
        let kernels = self.level(level);
        kernels.inputs[0] = t;
        kernels.inputs[1..].copy_from_slice(jet);
        kernels.entries.call(&kernels.inputs, &mut kernels.outputs);
        let outputs = std::mem::take(&mut kernels.outputs);
        J.fill(0.0);
        let (by_x, by_xdot) = outputs.split_at(self.by_x.entries.len() * (level + 1));
        for ((r, c, _), series) in self.by_x.iter().zip(by_x.chunks_exact(level + 1)) {
            for j in 0..=level {
                for i in 0..=j {
                    J[(j * m + r, i * n + c)] += series[j - i];
                }
            }
        }
        for ((r, c, _), series) in self.by_xdot.iter().zip(by_xdot.chunks_exact(level + 1)) {
            for j in 0..=level {
                for i in 1..=j + 1 {
                    J[(j * m + r, i * n + c)] += i as f64 * series[j + 1 - i];
                }
            }
        }
        let finite = outputs.iter().all(|x| x.is_finite());
        self.level(level).outputs = outputs;
        if finite { Ok(()) } else { Err(Undefined) }
    }

    fn level(&mut self, level: usize) -> &mut Level {
        assert!(level <= MOST_LEVELS, "level {level} of at most {MOST_LEVELS}");
        let (system, by_x, by_xdot, compiler) = (&self.system, &self.by_x, &self.by_xdot, &*self.compiler);
        self.levels[level].get_or_insert_with(|| Level::new(system, [by_x, by_xdot], level, compiler))
    }
}

impl Level {
    fn new(system: &FirstOrder, jacobians: [&Jacobian; 2], level: usize, compiler: &dyn Compiler) -> Self {
        let n = system.dim();
        let mut graph = Graph::new();
        let t = graph.input("t");
        let jet: Vec<Vec<Expr>> = (0..level + 2)
            .map(|k| system.names.iter().map(|name| graph.input(format!("{name}[{k}]"))).collect())
            .collect();
        let values = series(system, &system.equations, level, &mut graph, t, &jet);
        // F_0, then F_1, …
        let m = system.rows();
        let values: Vec<Expr> =
            (0..=level).flat_map(|j| (0..m).map(move |r| (j, r))).map(|(j, r)| values[r][j]).collect();
        let entries: Vec<Expr> = jacobians.iter().flat_map(|J| J.entries.iter().copied()).collect();
        let entries = series(system, &entries, level, &mut graph, t, &jet).concat();
        Level {
            values: compiler.compile(&graph, &values),
            entries: compiler.compile(&graph, &entries),
            inputs: vec![0.0; 1 + (level + 2) * n],
            outputs: vec![0.0; entries.len()],
        }
    }
}

/// Taylor coefficients 0 … ℓ of formulas of a system along a jet, as formulas of another graph.
fn series(
    system: &FirstOrder,
    formulas: &[Expr],
    level: usize,
    graph: &mut Graph,
    t: Expr,
    jet: &[Vec<Expr>],
) -> Vec<Vec<Expr>> {
    macro_rules! of_length {
        ($($k:literal)*) => {
            match level + 1 {
                $($k => swept::<$k>(system, formulas, graph, t, jet),)*
                _ => unreachable!("levels are checked where they are asked for"),
            }
        };
    }
    of_length!(1 2 3 4 5 6 7 8 9 10 11 12)
}

fn swept<const K: usize>(
    system: &FirstOrder,
    formulas: &[Expr],
    graph: &mut Graph,
    t: Expr,
    jet: &[Vec<Expr>],
) -> Vec<Vec<Expr>> {
    let tape = Tape::new(&system.graph, formulas);
    graph.with(|| {
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
    })
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
        let mut array = DerivativeArray::new(&system, Arc::new(Interpreted));
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
        let mut array = DerivativeArray::new(&system, Arc::new(Interpreted));
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
