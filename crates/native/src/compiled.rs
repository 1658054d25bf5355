//! A kernel of native code, which owns its memory.

use crate::NativeError;
use crate::allocate::generate;
use crate::program::Program;
use daedal_graph::{Expr, Graph, Kernel};
use memmap2::{Mmap, MmapMut};
use std::sync::Arc;

/// Compiled code of some formulas, with scratch space of its own.
#[derive(Clone)]
pub struct CompiledKernel {
    program: Arc<MachineCode>,
    scratch: Vec<f64>,
}

/// What duplicates of a kernel share.
struct MachineCode {
    inputs: usize,
    outputs: usize,
    /// Bits, some of which are masks.
    constants: Vec<u64>,
    size: usize,
    /// Begins with the function.
    code: Mmap,
}

/// A function of inputs, outputs, scratch and constants.
type KernelFunction = unsafe extern "sysv64" fn(*const f64, *mut f64, *mut f64, *const u64);

impl CompiledKernel {
    /// Code for these formulas.
    pub(crate) fn new(graph: &Graph, outputs: &[Expr], three_operands: bool) -> Result<Self, NativeError> {
        Self::of(&Program::new(graph, outputs), (graph.inputs().len(), outputs.len()), three_operands)
    }

    /// Code for a program with so many inputs and outputs.
    pub(crate) fn of(
        program: &Program,
        (inputs, outputs): (usize, usize),
        three_operands: bool,
    ) -> Result<Self, NativeError> {
        let (code, scratch) = generate(program, three_operands);
        // offsets have 32 bits with a sign
        let numbers = inputs.max(outputs).max(scratch).max(program.constants.len());
        if numbers > i32::MAX as usize / size_of::<f64>() {
            return Err(NativeError::TooLarge { numbers });
        }
        let memory = || {
            let mut memory = MmapMut::map_anon(code.len())?;
            memory.copy_from_slice(&code);
            memory.make_exec()
        };
        let program = MachineCode {
            inputs,
            outputs,
            constants: program.constants.clone(),
            size: code.len(),
            code: memory().map_err(|cause| NativeError::Memory(Arc::new(cause)))?,
        };
        Ok(CompiledKernel { program: Arc::new(program), scratch: vec![0.0; scratch] })
    }

    /// Bytes of machine code.
    pub fn code_size(&self) -> usize {
        self.program.size
    }
}

impl Kernel for CompiledKernel {
    fn call(&mut self, inputs: &[f64], outputs: &mut [f64]) {
        let program = &*self.program;
        assert_eq!(inputs.len(), program.inputs, "a kernel of {} inputs got {}", program.inputs, inputs.len());
        assert_eq!(outputs.len(), program.outputs, "a kernel of {} outputs got {}", program.outputs, outputs.len());
        let scratch = self.scratch.as_mut_ptr();
        // SAFETY: the memory begins with a function of four addresses without a result, with the calling convention that its type says; it stays there
        // as long as `program`. It is made for arrays of exactly these lengths: it reads inputs and constants, writes outputs, and reads what it
        // has written to outputs and scratch before. None of them overlap, since two are borrowed exclusively.
        unsafe {
            let function = std::mem::transmute::<*const u8, KernelFunction>(program.code.as_ptr());
            function(inputs.as_ptr(), outputs.as_mut_ptr(), scratch, program.constants.as_ptr());
        }
    }

    fn duplicate(&self) -> Box<dyn Kernel> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use daedal_graph::Tape;
    use daedal_scalar::Scalar;

    /// Sums, products, sines, choices and roots of what came before, near and far, with more values alive than there are registers.
    pub(crate) fn mixed(graph: &mut Graph, length: usize) -> Vec<Expr> {
        let mut all: Vec<Expr> = (0..4).map(|i| graph.input(format!("x{i}"))).collect();
        graph.with(|| {
            for k in 0..length {
                let (x, y, z) = (all[all.len() - 1], all[(7 * k) % all.len()], all[(5 * k + 3) % all.len()]);
                all.push(match k % 9 {
                    0 => x * y + 0.25,
                    1 => (x * 0.01).sin() - z,
                    2 => x.select(y, z),
                    3 => x / (y.square() + 1.0),
                    4 => y.cos() + z.powi(-3),
                    5 => (x.abs() + 0.5).sqrt().atan2(y),
                    6 => y - x,
                    7 => -(z * x) + y.sin() * y.cos(),
                    _ => x * 0.125 - z / 3.0,
                });
            }
        });
        all.into_iter().step_by(3).collect()
    }

    #[test]
    fn both_kinds_of_instructions_have_the_bits_of_the_tape() {
        for length in [0, 5, 60, 1000] {
            let mut graph = Graph::new();
            let outputs = mixed(&mut graph, length);
            for three_operands in [false, true] {
                if three_operands && !std::arch::is_x86_feature_detected!("avx") {
                    continue;
                }
                let mut kernel = CompiledKernel::new(&graph, &outputs, three_operands).expect("memory for code");
                for inputs in [[0.3, -1.7, 2.5, -0.1], [1.0, 0.0, -0.0, 2.0], [f64::NAN, 1.0, -1.0, f64::INFINITY]] {
                    let expected = Tape::new(&graph, &outputs).evaluate(&inputs);
                    let mut values = vec![0.0; outputs.len()];
                    kernel.call(&inputs, &mut values);
                    let same = |(x, y): (&f64, &f64)| x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan();
                    assert!(values.iter().zip(&expected).all(same), "{length} nodes, three operands: {three_operands}");
                }
            }
        }
    }

    #[test]
    fn scratch_is_used_again() {
        let mut graph = Graph::new();
        let x = graph.input("x");
        let y = graph.with(|| (0..1000).fold(x, |y, _| (y * 1.5 + x).sin() * y));
        let kernel = CompiledKernel::new(&graph, &[y], true).expect("memory for code");
        assert!((1..=2).contains(&kernel.scratch.len()), "{} places", kernel.scratch.len());
    }
}
