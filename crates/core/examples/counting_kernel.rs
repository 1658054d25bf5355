//! A kernel of one's own: formulas are evaluated as before, and counted. Code generators, GPUs and tables go the same way.
//! `cargo run -p daedal --example counting_kernel`

use daedal::dae::{Formulas, Unknowns};
use daedal::graph::{Compiler, Expr, Graph, Interpreted, Kernel};
use daedal::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Kernels that count how many formulas they evaluate.
#[derive(Clone, Debug, Default)]
pub struct Counting {
    evaluated: Arc<AtomicU64>,
}

impl Compiler for Counting {
    fn compile(&self, graph: &Graph, outputs: &[Expr]) -> Box<dyn Kernel> {
        Box::new(Counted { kernel: Interpreted.compile(graph, outputs), evaluated: self.evaluated.clone() })
    }
    fn name(&self) -> &'static str {
        "counting"
    }
}

struct Counted {
    kernel: Box<dyn Kernel>,
    evaluated: Arc<AtomicU64>,
}

impl Kernel for Counted {
    fn call(&mut self, inputs: &[f64], outputs: &mut [f64]) {
        self.evaluated.fetch_add(outputs.len() as u64, Ordering::Relaxed);
        self.kernel.call(inputs, outputs);
    }
    fn duplicate(&self) -> Box<dyn Kernel> {
        Box::new(Counted { kernel: self.kernel.duplicate(), evaluated: self.evaluated.clone() })
    }
}

/// The oscillator of van der Pol.
struct VanDerPol;

impl OrdinaryEquations for VanDerPol {
    fn dim(&self) -> usize {
        2
    }
    fn rates<S: Scalar>(&self, _: S, x: &[S], f: &mut [S]) {
        f[0] = x[1];
        f[1] = (S::from(1.0) - x[0].square()) * x[1] * 5.0 - x[0];
    }
}

/// The solution with a compiler, and how many formulas were evaluated.
pub fn run() -> Result<(Solution<Unknowns>, u64), SolveError<Unknowns>> {
    let compiler = Counting::default();
    let traced: Formulas = System::explicit(&VanDerPol).formulas;
    let system = System::new(&traced, compiler.clone());
    let problem = Problem::new(&system, Initial::new(0.0, &[2.0, 0.0]), 20.0);
    let solution = solve(&problem, &Auto, &Options::default())?;
    Ok((solution, compiler.evaluated.load(Ordering::Relaxed)))
}

fn main() -> Result<(), SolveError<Unknowns>> {
    let (solution, evaluated) = run()?;
    println!("{:?}: {evaluated} formulas in {} residuals", solution.end.x, solution.statistics.residuals);
    Ok(())
}
