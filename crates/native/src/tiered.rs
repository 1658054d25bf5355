//! Formulas that are run as a tape until native code pays.

use crate::Native;
use crate::compiled::CompiledKernel;
use daedal_graph::{Compiler, Expr, Graph, Kernel, Tape};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

/// Calls of a tape after which its formulas become native code. Estimated: compiling a node takes 2.6 µs, and a call of the tape some nanoseconds
/// per node longer than one of native code. Who waits until the loss is as large as the price pays at most twice what is best.
const PAYS_AFTER: u32 = 1000;

/// Kernels that run a tape first, which is there at once, and native code when they are called often. The bits are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tiered;

impl Compiler for Tiered {
    fn compile(&self, graph: &Graph, outputs: &[Expr]) -> Box<dyn Kernel> {
        let tape = Tape::new(graph, outputs);
        let registers = vec![0.0; tape.registers()];
        let formulas = graph.reduced_to(outputs);
        let shared = SharedTier { tape, formulas, calls: AtomicU32::new(0), code: OnceLock::new() };
        Box::new(TieredKernel { shared: Arc::new(shared), registers, native: None })
    }

    fn name(&self) -> &'static str {
        "tape, then native"
    }
}

/// What duplicates share: their calls count together.
struct SharedTier {
    tape: Tape,
    formulas: (Graph, Vec<Expr>),
    calls: AtomicU32,
    /// Nothing where native code is not possible.
    code: OnceLock<Option<CompiledKernel>>,
}

impl SharedTier {
    /// Native code, if it pays by now and is possible.
    fn paid(&self) -> Option<CompiledKernel> {
        if self.calls.load(Ordering::Relaxed) < PAYS_AFTER {
            self.calls.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        let (graph, outputs) = &self.formulas;
        self.code.get_or_init(|| Native.try_compile(graph, outputs).ok()).clone()
    }
}

struct TieredKernel {
    shared: Arc<SharedTier>,
    registers: Vec<f64>,
    native: Option<CompiledKernel>,
}

impl Kernel for TieredKernel {
    fn call(&mut self, inputs: &[f64], outputs: &mut [f64]) {
        if self.native.is_none() {
            self.native = self.shared.paid();
        }
        match &mut self.native {
            Some(native) => native.call(inputs, outputs),
            None => self.shared.tape.run(inputs, &mut self.registers, outputs),
        }
    }

    fn duplicate(&self) -> Box<dyn Kernel> {
        let native = self.native.clone();
        Box::new(TieredKernel { shared: self.shared.clone(), registers: self.registers.clone(), native })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use daedal_scalar::Scalar;

    #[test]
    fn code_changes_no_bit() {
        let mut graph = Graph::new();
        let inputs: Vec<Expr> = (0..3).map(|i| graph.input(format!("x{i}"))).collect();
        let outputs = graph.with(|| [inputs[2].sin() * inputs[1] + 0.1, inputs[1], (inputs[2] * inputs[2]).sqrt()]);
        let tape = Tape::new(&graph, &outputs);
        let mut first = Tiered.compile(&graph, &outputs);
        let mut second = first.duplicate();
        for k in 0..2 * PAYS_AFTER + 10 {
            let x = [0.3, 1.0 / f64::from(k + 1), 0.01 * f64::from(k)];
            let mut values = [0.0; 3];
            let kernel = if k % 3 == 0 { &mut second } else { &mut first };
            kernel.call(&x, &mut values);
            assert_eq!(values.to_vec(), tape.evaluate(&x), "call {k}");
        }
    }

    #[test]
    fn native_code_comes_after_so_many_calls() {
        let mut graph = Graph::new();
        let x = graph.input("x");
        let y = graph.with(|| x * x);
        let (tape, formulas) = (Tape::new(&graph, &[y]), graph.reduced_to(&[y]));
        let shared = SharedTier { tape, formulas, calls: AtomicU32::new(0), code: OnceLock::new() };
        assert!((0..PAYS_AFTER).all(|_| shared.paid().is_none()) && shared.code.get().is_none());
        assert_eq!(shared.paid().is_some(), Native::is_supported());
    }
}
