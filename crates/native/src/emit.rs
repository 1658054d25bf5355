//! Nodes as instructions of Cranelift.

use crate::NativeError;
use crate::functions::LibraryFunction;
use crate::plan::{Task, TaskPlan};
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::types::F64;
use cranelift_codegen::ir::{FuncRef, InstBuilder, MemFlagsData, StackSlot, StackSlotData, StackSlotKind, Value};
use cranelift_frontend::FunctionBuilder;
use cranelift_jit::JITModule;
use cranelift_module::{Linkage, Module};
use daedal_graph::{Binary, Expr, Graph, Node, Unary};
use std::collections::HashMap;

const NUMBER: usize = size_of::<f64>();

/// The code of one part while it is written.
pub(crate) struct Emitter<'e, 'f> {
    graph: &'e Graph,
    plan: &'e TaskPlan,
    module: &'e mut JITModule,
    builder: FunctionBuilder<'f>,
    /// Addresses of inputs, outputs and scratch.
    arrays: [Value; 3],
    values: HashMap<Expr, Value>,
    called: HashMap<LibraryFunction, FuncRef>,
    both: Option<StackSlot>,
}

impl<'e, 'f> Emitter<'e, 'f> {
    /// Begin a function of three addresses.
    pub(crate) fn new(
        graph: &'e Graph,
        plan: &'e TaskPlan,
        module: &'e mut JITModule,
        mut builder: FunctionBuilder<'f>,
    ) -> Self {
        let block = builder.create_block();
        builder.append_block_params_for_function_params(block);
        builder.switch_to_block(block);
        let &[inputs, outputs, scratch] = builder.block_params(block) else {
            unreachable!("a part is a function of three addresses")
        };
        let arrays = [inputs, outputs, scratch];
        let (values, called) = (HashMap::new(), HashMap::new());
        Emitter { graph, plan, module, builder, arrays, values, called, both: None }
    }

    /// End the function.
    pub(crate) fn finish(mut self) {
        self.builder.ins().return_(&[]);
        self.builder.seal_all_blocks();
        self.builder.finalize(self.module.target_config());
    }

    /// Write a value to the outputs.
    pub(crate) fn output(&mut self, e: Expr, place: usize) {
        let value = self.value(e);
        self.store(value, 1, place);
    }

    /// Compute and keep where it is needed later.
    pub(crate) fn step(&mut self, step: Task) -> Result<(), NativeError> {
        match step {
            Task::Node(e) => {
                let value = self.node(self.graph.node(e))?;
                self.values.insert(e, value);
            }
            Task::SineAndCosine { sin, cos, of } => {
                let x = self.value(of);
                let slot = *self.both.get_or_insert_with(|| {
                    let data = StackSlotData::new(StackSlotKind::ExplicitSlot, 2 * NUMBER as u32, 3);
                    self.builder.create_sized_stack_slot(data)
                });
                let pointer = self.module.target_config().pointer_type();
                let address = self.builder.ins().stack_addr(pointer, slot, 0);
                self.call(LibraryFunction::SineAndCosine, &[x, address])?;
                for (k, e) in [sin, cos].into_iter().enumerate() {
                    let value = self.builder.ins().load(F64, MemFlagsData::trusted(), address, (k * NUMBER) as i32);
                    self.values.insert(e, value);
                }
            }
        }
        for e in step.results() {
            if let Some(&place) = self.plan.place.get(&e) {
                self.store(self.values[&e], 2, place);
            }
        }
        Ok(())
    }

    /// Write a value to an entry of the outputs or of the scratch array.
    fn store(&mut self, value: Value, array: usize, place: usize) {
        self.builder.ins().store(MemFlagsData::trusted(), value, self.arrays[array], (place * NUMBER) as i32);
    }

    fn load(&mut self, array: usize, place: usize) -> Value {
        let flags = MemFlagsData::trusted();
        let flags = if array == 0 { flags.with_readonly().with_can_move() } else { flags };
        self.builder.ins().load(F64, flags, self.arrays[array], (place * NUMBER) as i32)
    }

    /// The value of a node that was computed before, here or in an earlier part.
    fn value(&mut self, e: Expr) -> Value {
        if let Some(&value) = self.values.get(&e) {
            return value;
        }
        let value = match self.graph.node(e) {
            Node::Constant(value) => self.builder.ins().f64const(value),
            Node::Input(i) => self.load(0, i),
            _ => self.load(2, self.plan.place[&e]),
        };
        // once in a part: loads at every use made the code longer and slower
        self.values.insert(e, value);
        value
    }

    fn node(&mut self, node: Node) -> Result<Value, NativeError> {
        Ok(match node {
            Node::Constant(_) | Node::Input(_) => unreachable!("constants and inputs are no steps"),
            Node::Unary(f, x) => {
                let x = self.value(x);
                match f {
                    Unary::Neg => self.builder.ins().fneg(x),
                    Unary::Sqrt => self.builder.ins().sqrt(x),
                    Unary::Abs => self.builder.ins().fabs(x),
                    _ => self.call(LibraryFunction::Unary(f), &[x])?,
                }
            }
            Node::Binary(f, x, y) => {
                let (x, y) = (self.value(x), self.value(y));
                match f {
                    Binary::Add => self.builder.ins().fadd(x, y),
                    Binary::Sub => self.builder.ins().fsub(x, y),
                    Binary::Mul => self.builder.ins().fmul(x, y),
                    Binary::Div => self.builder.ins().fdiv(x, y),
                    Binary::Atan2 => self.call(LibraryFunction::Atan2, &[x, y])?,
                    Binary::Pow => self.call(LibraryFunction::Pow, &[x, y])?,
                }
            }
            Node::Powi(x, n) => {
                let x = self.value(x);
                self.powi(x, n)
            }
            Node::Powf(x, a) => {
                let (x, a) = (self.value(x), self.builder.ins().f64const(a));
                self.call(LibraryFunction::Pow, &[x, a])?
            }
            Node::Select(c, yes, no) => {
                let (c, yes, no) = (self.value(c), self.value(yes), self.value(no));
                let zero = self.builder.ins().f64const(0.0);
                let chosen = self.builder.ins().fcmp(FloatCC::GreaterThanOrEqual, c, zero);
                let value = self.builder.ins().select(chosen, yes, no);
                // a condition that is not a number has no result
                let undefined = self.builder.ins().fcmp(FloatCC::Unordered, c, c);
                self.builder.ins().select(undefined, c, value)
            }
        })
    }

    /// xⁿ by repeated squaring, in the order of `f64::powi`.
    fn powi(&mut self, x: Value, n: i32) -> Value {
        let one = self.builder.ins().f64const(1.0);
        let (mut square, mut product, mut rest) = (x, None, n.unsigned_abs());
        while rest > 0 {
            if rest % 2 == 1 {
                product = Some(match product {
                    Some(product) => self.builder.ins().fmul(product, square),
                    None => square,
                });
            }
            rest /= 2;
            if rest > 0 {
                square = self.builder.ins().fmul(square, square);
            }
        }
        let product = product.unwrap_or(one);
        if n < 0 { self.builder.ins().fdiv(one, product) } else { product }
    }

    /// Call a function of this crate; its result, if it returns one.
    fn call(&mut self, function: LibraryFunction, arguments: &[Value]) -> Result<Value, NativeError> {
        let called = if let Some(&called) = self.called.get(&function) {
            called
        } else {
            let mut signature = self.module.make_signature();
            function.describe(self.module.target_config().pointer_type(), &mut signature);
            let id = self.module.declare_function(function.name(), Linkage::Import, &signature)?;
            let called = self.module.declare_func_in_func(id, self.builder.func);
            self.called.insert(function, called);
            called
        };
        let call = self.builder.ins().call(called, arguments);
        // the argument stands for the result of a function that has none
        Ok(self.builder.inst_results(call).first().copied().unwrap_or(arguments[0]))
    }
}
