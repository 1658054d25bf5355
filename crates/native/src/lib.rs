//! Native code for formulas, made by Cranelift while the program runs.
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
//! | file | what |
//! | --- | --- |
//! | `plan.rs` | the order of operations, and where code is cut |
//! | `emit.rs` | nodes as instructions |
//! | `functions.rs` | elementary functions that code calls |
//! | `host.rs` | the machine and the settings |
//! | `compiled.rs` | the kernel, and the memory of its code |
//! | `tiered.rs` | a tape first, native code when it pays |

mod compiled;
mod emit;
mod functions;
mod host;
mod plan;
mod tiered;

pub use compiled::CompiledKernel;
pub use tiered::Tiered;

use cranelift_module::ModuleError;
use daedal_graph::{Compiler, Expr, Graph, Interpreted, Kernel};
use std::sync::{Arc, OnceLock};

/// Kernels of native code; the tape where that is not possible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Native;

/// Why there is no native code.
#[derive(Clone, Debug, thiserror::Error)]
pub enum NativeError {
    /// Cranelift has no code for this machine, or the machine does not let code be made.
    #[error("no native code on this machine: {0}")]
    Host(String),
    /// The code was not accepted, or there is no memory for it.
    #[error("native code could not be made")]
    Code(#[source] Arc<ModuleError>),
    /// More numbers than an offset reaches.
    #[error("{numbers} numbers are more than compiled code can address; split the formulas")]
    TooLarge {
        /// Length of the longest array.
        numbers: usize,
    },
}

impl From<ModuleError> for NativeError {
    fn from(cause: ModuleError) -> Self {
        NativeError::Code(Arc::new(cause))
    }
}

/// Steps of a part. Compiling takes 2.6 ms per thousand nodes for anything from 250 to 1000; shorter parts run slower, since more goes through
/// memory, longer ones compile slower.
const PART: usize = 500;

impl Native {
    /// Native code for these formulas, or why there is none.
    pub fn try_compile(&self, graph: &Graph, outputs: &[Expr]) -> Result<CompiledKernel, NativeError> {
        CompiledKernel::new(graph, outputs, PART)
    }

    /// Does this machine run native code? Otherwise [`Compiler::compile`] gives kernels that run the tape. Tried out once.
    pub fn is_supported() -> bool {
        static SUPPORTED: OnceLock<bool> = OnceLock::new();
        *SUPPORTED.get_or_init(|| {
            let mut graph = Graph::new();
            let x = graph.input("x");
            let y = graph.with(|| x + 1.0);
            let mut output = [0.0];
            Native.try_compile(&graph, &[y]).is_ok_and(|mut kernel| {
                kernel.call(&[2.0], &mut output);
                output == [3.0]
            })
        })
    }
}

impl Compiler for Native {
    fn compile(&self, graph: &Graph, outputs: &[Expr]) -> Box<dyn Kernel> {
        match self.try_compile(graph, outputs) {
            Ok(kernel) => Box::new(kernel),
            Err(_) => Interpreted.compile(graph, outputs),
        }
    }

    fn name(&self) -> &'static str {
        "native"
    }
}
