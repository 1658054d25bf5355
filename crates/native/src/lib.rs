//! Native code for formulas, made while the program runs.
//!
//! ```
//! use daedal_graph::{Compiler, Graph};
//! use daedal_native::Native;
//! use daedal_scalar::Scalar;
//! let mut graph = Graph::new();
//! let x = graph.input("x");
//! let y = graph.with(|| x.sin() * x);
//! let mut kernel = Native.compile(&graph, &[y]);
//! let mut output = [0.0];
//! kernel.call(&[2.0], &mut output);
//! assert_eq!(output, [2.0_f64.sin() * 2.0]);
//! ```
//!
//! The bits are those of the [`Tape`](daedal_graph::Tape): every operation is one instruction of the machine or one call of the function of
//! the standard library that the tape calls. Nothing is reassociated, and products and sums are not fused.
//!
//! Formulas have neither branches nor loops, so that code is made in one pass over them, with registers allocated on the way. It is made for x86-64;
//! on other machines kernels run the tape.
//!
//! | file | what |
//! | --- | --- |
//! | `program.rs` | formulas as steps of at most two operands |
//! | `allocate.rs` | which values stand in registers |
//! | `x86_64.rs` | steps as instructions |
//! | `functions.rs` | elementary functions that code calls |
//! | `compiled.rs` | the kernel, and the memory of its code |
//! | `patient.rs` | kernels that become code when they have been called some times |

#[cfg(target_arch = "x86_64")]
mod allocate;
#[cfg(target_arch = "x86_64")]
mod compiled;
#[cfg(target_arch = "x86_64")]
mod functions;
#[cfg(target_arch = "x86_64")]
mod patient;
#[cfg(target_arch = "x86_64")]
mod program;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(not(target_arch = "x86_64"))]
mod elsewhere;
#[cfg(not(target_arch = "x86_64"))]
use elsewhere as compiled;

pub use compiled::CompiledKernel;

#[cfg(not(target_arch = "x86_64"))]
use daedal_graph::Interpreted;
use daedal_graph::{Compiler, Expr, Graph, Kernel};
use std::sync::Arc;

/// Kernels that become native code when they have been called some times; the tape where that is not possible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Native;

/// Why there is no native code.
#[derive(Clone, Debug, thiserror::Error)]
pub enum NativeError {
    /// There is no code for this machine.
    #[error("no native code for {0}, only for x86_64")]
    Machine(&'static str),
    /// The machine does not give memory for code.
    #[error("the machine gives no memory for native code")]
    Memory(#[source] Arc<std::io::Error>),
    /// More numbers than an offset reaches.
    #[error("{numbers} numbers are more than compiled code can address; split the formulas")]
    TooLarge {
        /// Length of the longest array.
        numbers: usize,
    },
}

impl Native {
    /// Native code for these formulas, or why there is none.
    pub fn try_compile(&self, graph: &Graph, outputs: &[Expr]) -> Result<CompiledKernel, NativeError> {
        #[cfg(target_arch = "x86_64")]
        return CompiledKernel::new(graph, outputs, std::arch::is_x86_feature_detected!("avx"));
        #[cfg(not(target_arch = "x86_64"))]
        return elsewhere::refuse(graph, outputs);
    }

    /// Does this machine run native code? Otherwise [`Compiler::compile`] gives kernels that run the tape.
    pub fn supported() -> Result<(), NativeError> {
        Native.try_compile(&Graph::new(), &[]).map(|_| ())
    }
}

impl Compiler for Native {
    fn compile(&self, graph: &Graph, outputs: &[Expr]) -> Box<dyn Kernel> {
        #[cfg(target_arch = "x86_64")]
        return Box::new(patient::PatientKernel::new(graph, outputs));
        #[cfg(not(target_arch = "x86_64"))]
        return Interpreted.compile(graph, outputs);
    }

    fn name(&self) -> &'static str {
        "native"
    }
}
