//! Compiled formulas in `f64`: many outputs of many inputs.

use crate::{Expr, Graph, Tape};
use std::sync::Arc;

/// A compiled list of formulas, with its own scratch space.
///
/// The contract of an implementation:
/// 1. `inputs` has an entry for every input of the graph, `outputs` one for every formula;
/// 2. nothing is allocated by `call`, but where better code is made, which happens once;
/// 3. the bits are those of the [`Tape`]; a NaN may have other bits.
pub trait Kernel: Send + Sync {
    /// Evaluate.
    fn call(&mut self, inputs: &[f64], outputs: &mut [f64]);
    /// The same formulas with scratch space of their own; nothing is compiled again.
    fn duplicate(&self) -> Box<dyn Kernel>;
}

/// Makes kernels of graphs.
pub trait Compiler: Send + Sync {
    /// A kernel for these formulas.
    fn compile(&self, graph: &Graph, outputs: &[Expr]) -> Box<dyn Kernel>;
    /// How reports call it.
    fn name(&self) -> &'static str;
}

/// A compiler that several systems share.
impl Compiler for Arc<dyn Compiler> {
    fn compile(&self, graph: &Graph, outputs: &[Expr]) -> Box<dyn Kernel> {
        self.as_ref().compile(graph, outputs)
    }
    fn name(&self) -> &'static str {
        self.as_ref().name()
    }
}

/// Kernels that run a [`Tape`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interpreted;

impl Compiler for Interpreted {
    fn compile(&self, graph: &Graph, outputs: &[Expr]) -> Box<dyn Kernel> {
        let tape = Tape::new(graph, outputs);
        let registers = vec![0.0; tape.registers()];
        Box::new(Interpreter { tape: Arc::new(tape), registers })
    }
    fn name(&self) -> &'static str {
        "tape"
    }
}

struct Interpreter {
    tape: Arc<Tape>,
    registers: Vec<f64>,
}

impl Kernel for Interpreter {
    fn call(&mut self, inputs: &[f64], outputs: &mut [f64]) {
        self.tape.run(inputs, &mut self.registers, outputs);
    }
    fn duplicate(&self) -> Box<dyn Kernel> {
        Box::new(Interpreter { tape: self.tape.clone(), registers: self.registers.clone() })
    }
}
