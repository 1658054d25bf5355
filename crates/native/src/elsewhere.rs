//! Machines for which there is no native code.

use crate::NativeError;
use daedal_graph::{Expr, Graph, Kernel};

/// Compiled code of some formulas: nothing makes it here.
#[derive(Clone)]
pub enum CompiledKernel {}

/// Why there is none.
pub(crate) fn refuse(_graph: &Graph, _outputs: &[Expr]) -> Result<CompiledKernel, NativeError> {
    Err(NativeError::Machine(std::env::consts::ARCH))
}

impl CompiledKernel {
    /// Bytes of machine code.
    pub fn code_size(&self) -> usize {
        match *self {}
    }
}

impl Kernel for CompiledKernel {
    fn call(&mut self, _inputs: &[f64], _outputs: &mut [f64]) {
        match *self {}
    }

    fn duplicate(&self) -> Box<dyn Kernel> {
        match *self {}
    }
}
