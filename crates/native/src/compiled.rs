//! A kernel of native code, which owns its memory.

use crate::NativeError;
use crate::emit::Emitter;
use crate::functions::LibraryFunction;
use crate::host::host;
use crate::plan::TaskPlan;
use cranelift_codegen::ir::{AbiParam, UserFuncName};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module, default_libcall_names};
use daedal_graph::{Expr, Graph, Kernel, Node};
use std::collections::HashMap;
use std::mem::ManuallyDrop;
use std::sync::{Arc, Mutex};

/// Compiled code of some formulas, with scratch space of its own.
#[derive(Clone)]
pub struct CompiledKernel {
    program: Arc<MachineCode>,
    scratch: Vec<f64>,
}

/// What duplicates of a kernel share.
struct MachineCode {
    parts: Vec<PartFunction>,
    inputs: usize,
    outputs: usize,
    code_size: usize,
    /// Keeps the code that `parts` point to. Nothing but the end of the program looks at it; the lock makes it fit for threads.
    _code: Mutex<Code>,
}

/// A function of inputs, outputs and scratch.
type PartFunction = unsafe extern "C" fn(*const f64, *mut f64, *mut f64);

impl CompiledKernel {
    /// Code in parts of that many steps.
    pub(crate) fn new(graph: &Graph, outputs: &[Expr], part: usize) -> Result<Self, NativeError> {
        let plan = TaskPlan::new(graph, outputs, part);
        let inputs = graph.inputs().len();
        // offsets of loads and stores have 32 bits with a sign
        let longest = inputs.max(outputs.len()).max(plan.scratch);
        if longest > i32::MAX as usize / size_of::<f64>() {
            return Err(NativeError::TooLarge { numbers: longest });
        }
        let mut code = Code::new()?;
        let (ids, code_size) = code.write(graph, outputs, &plan)?;
        code.0.finalize_definitions()?;
        let parts = ids
            .into_iter()
            .map(|id| {
                let address = code.0.get_finalized_function(id);
                // SAFETY: the address is that of a finished function, which was declared with three pointers as arguments, no
                // result and the calling convention of C. The code stays in memory as long as `code`, which is kept beside it.
                unsafe { std::mem::transmute::<*const u8, PartFunction>(address) }
            })
            .collect();
        let scratch = vec![0.0; plan.scratch];
        let program = MachineCode { parts, inputs, outputs: outputs.len(), code_size, _code: Mutex::new(code) };
        Ok(CompiledKernel { program: Arc::new(program), scratch })
    }

    /// Bytes of machine code.
    pub fn code_size(&self) -> usize {
        self.program.code_size
    }
}

impl Kernel for CompiledKernel {
    fn call(&mut self, inputs: &[f64], outputs: &mut [f64]) {
        let program = &*self.program;
        assert_eq!(inputs.len(), program.inputs, "a kernel of {} inputs got {}", program.inputs, inputs.len());
        assert_eq!(outputs.len(), program.outputs, "a kernel of {} outputs got {}", program.outputs, outputs.len());
        for part in &program.parts {
            // SAFETY: code is made for arrays of exactly these lengths: it reads the inputs, writes the outputs, and reads and writes
            // scratch of the length of the plan. None of the three overlap, since two are borrowed exclusively.
            unsafe { part(inputs.as_ptr(), outputs.as_mut_ptr(), self.scratch.as_mut_ptr()) };
        }
    }

    fn duplicate(&self) -> Box<dyn Kernel> {
        Box::new(self.clone())
    }
}

/// Code under construction or finished; its memory is given back when it is dropped.
struct Code(ManuallyDrop<JITModule>);

impl Drop for Code {
    fn drop(&mut self) {
        // SAFETY: the module is taken once, here. Addresses of its functions are only in the `MachineCode` that is being dropped with it, so
        // that none of them runs now or later.
        unsafe { ManuallyDrop::take(&mut self.0).free_memory() };
    }
}

impl Code {
    fn new() -> Result<Self, NativeError> {
        let mut builder = JITBuilder::with_isa(host()?, default_libcall_names());
        builder.symbols(LibraryFunction::all().map(|function| (function.name(), function.address())));
        Ok(Code(ManuallyDrop::new(JITModule::new(builder))))
    }

    /// The parts of a plan as functions, with the size of their code.
    fn write(&mut self, graph: &Graph, outputs: &[Expr], plan: &TaskPlan) -> Result<(Vec<FuncId>, usize), NativeError> {
        let module = &mut *self.0;
        let mut signature = module.make_signature();
        signature.params = vec![AbiParam::new(module.target_config().pointer_type()); 3];
        // which outputs a node is; constants and inputs are not computed and go to the end
        let mut wanted: HashMap<Expr, Vec<usize>> = HashMap::new();
        let mut plain: Vec<(usize, Expr)> = Vec::new();
        for (i, &e) in outputs.iter().enumerate() {
            match graph.node(e) {
                Node::Constant(_) | Node::Input(_) => plain.push((i, e)),
                _ => wanted.entry(e).or_default().push(i),
            }
        }
        let (mut ids, mut size) = (Vec::new(), 0);
        let mut context = module.make_context();
        let mut shared = FunctionBuilderContext::new();
        let count = plan.steps.len().div_ceil(plan.part).max(usize::from(!plain.is_empty()));
        for number in 0..count {
            let id = module.declare_anonymous_function(&signature)?;
            context.func.signature = signature.clone();
            context.func.name = UserFuncName::user(0, id.as_u32());
            let mut emitter = Emitter::new(graph, plan, module, FunctionBuilder::new(&mut context.func, &mut shared));
            for &step in plan.steps.iter().skip(number * plan.part).take(plan.part) {
                emitter.step(step)?;
                for e in step.results() {
                    for &i in wanted.get(&e).into_iter().flatten() {
                        emitter.output(e, i);
                    }
                }
            }
            if number + 1 == count {
                for &(i, e) in &plain {
                    emitter.output(e, i);
                }
            }
            emitter.finish();
            module.define_function(id, &mut context)?;
            size += context.compiled_code().map_or(0, |code| code.code_buffer().len());
            module.clear_context(&mut context);
            ids.push(id);
        }
        Ok((ids, size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use daedal_graph::Tape;
    use daedal_scalar::Scalar;

    /// Sums, products, sines and roots of what came before, near and far.
    fn mixed(graph: &mut Graph) -> Vec<Expr> {
        let mut all: Vec<Expr> = (0..4).map(|i| graph.input(format!("x{i}"))).collect();
        graph.with(|| {
            for k in 0..60 {
                let (x, y, z) = (all[all.len() - 1], all[(7 * k) % all.len()], all[(5 * k + 3) % all.len()]);
                all.push(match k % 6 {
                    0 => x * y + 0.25,
                    1 => x.sin() - z,
                    2 => x.select(y, z),
                    3 => x / (y.square() + 1.0),
                    4 => y.cos() + z.powi(-3),
                    _ => (x.abs() + 0.5).sqrt().atan2(y),
                });
            }
        });
        all.into_iter().step_by(3).collect()
    }

    #[test]
    fn where_code_is_cut_makes_no_difference() {
        let mut graph = Graph::new();
        let outputs = mixed(&mut graph);
        let inputs = [0.3, -1.7, 2.5, -0.1];
        let expected = Tape::new(&graph, &outputs).evaluate(&inputs);
        for part in [1, 2, 3, 7, 20, 1000] {
            let mut kernel = CompiledKernel::new(&graph, &outputs, part).expect("this machine runs native code");
            let mut values = vec![0.0; outputs.len()];
            kernel.call(&inputs, &mut values);
            assert_eq!(values, expected, "parts of {part}");
        }
    }

    #[test]
    fn scratch_is_used_again() {
        let mut graph = Graph::new();
        let x = graph.input("x");
        let y = graph.with(|| (0..1000).fold(x, |y, _| (y * 1.5 + x).sin()));
        let kernel = CompiledKernel::new(&graph, &[y], 10).expect("this machine runs native code");
        assert_eq!(kernel.program.parts.len(), 300);
        assert!(kernel.scratch.len() <= 2, "{} places", kernel.scratch.len());
    }
}
