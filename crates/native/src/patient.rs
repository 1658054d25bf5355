//! Kernels whose machine code is made when they have been called some times. Many are called once or twice, where a run begins, and code with memory of its own
//! costs as much as dozens of calls; until then their steps are made one by one, with the same bits.

use crate::CompiledKernel;
use crate::functions::LibraryFunction;
use crate::program::{Home, Operation, Program, Step};
use daedal_graph::{Expr, Graph, Kernel};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

/// Calls before machine code is made. A step that is made here costs some fifteen instructions, making it into code some three hundred, and memory for
/// code three calls of the system.
const PATIENCE: u32 = 32;

/// A kernel that becomes native code.
pub(crate) struct PatientKernel {
    shared: Arc<SharedProgram>,
    /// Of all steps, while they are made one by one.
    values: Vec<f64>,
    compiled: Option<CompiledKernel>,
}

/// What duplicates share.
struct SharedProgram {
    program: Program,
    inputs: usize,
    outputs: usize,
    calls: AtomicU32,
    /// None where the machine gives no memory for code.
    compiled: OnceLock<Option<CompiledKernel>>,
}

impl PatientKernel {
    pub fn new(graph: &Graph, outputs: &[Expr]) -> Self {
        let program = Program::new(graph, outputs);
        let values = vec![0.0; program.homes.len()];
        let (inputs, outputs) = (graph.inputs().len(), outputs.len());
        let shared = SharedProgram { program, inputs, outputs, calls: AtomicU32::new(0), compiled: OnceLock::new() };
        PatientKernel { shared: Arc::new(shared), values, compiled: None }
    }
}

impl SharedProgram {
    fn code(&self) -> Option<&CompiledKernel> {
        let three_operands = std::arch::is_x86_feature_detected!("avx");
        let make = || CompiledKernel::of(&self.program, (self.inputs, self.outputs), three_operands).ok();
        self.compiled.get_or_init(make).as_ref()
    }
}

impl Kernel for PatientKernel {
    fn call(&mut self, inputs: &[f64], outputs: &mut [f64]) {
        if let Some(compiled) = &mut self.compiled {
            return compiled.call(inputs, outputs);
        }
        let shared = &*self.shared;
        if shared.calls.fetch_add(1, Ordering::Relaxed) >= PATIENCE
            && let Some(code) = shared.code()
        {
            self.compiled.insert(code.clone()).call(inputs, outputs);
            self.values = Vec::new();
            return;
        }
        assert_eq!(inputs.len(), shared.inputs, "a kernel of {} inputs got {}", shared.inputs, inputs.len());
        assert_eq!(outputs.len(), shared.outputs, "a kernel of {} outputs got {}", shared.outputs, outputs.len());
        shared.program.make(inputs, &mut self.values, outputs);
    }

    fn duplicate(&self) -> Box<dyn Kernel> {
        let (shared, compiled) = (self.shared.clone(), self.compiled.clone());
        Box::new(PatientKernel { shared, values: self.values.clone(), compiled })
    }
}

impl Program {
    /// Make all steps.
    fn make(&self, inputs: &[f64], values: &mut [f64], outputs: &mut [f64]) {
        for (value, home) in values.iter_mut().zip(&self.homes) {
            match *home {
                Home::Input(i) => *value = inputs[i as usize],
                Home::Constant(k) => *value = f64::from_bits(self.constants[k as usize]),
                Home::Step => {}
            }
        }
        for &(first, step) in &self.steps {
            let first = first as usize;
            match step {
                Step::Two(operation, [x, y]) => values[first] = operation.of(values[x as usize], values[y as usize]),
                Step::Root(x) => values[first] = values[x as usize].sqrt(),
                Step::Call(function, [x, y]) => {
                    let at = |place: Option<u32>| place.map_or(0.0, |place| values[place as usize]);
                    match function {
                        LibraryFunction::Unary(f) => values[first] = f.of(at(x)),
                        LibraryFunction::Atan2 => values[first] = at(x).atan2(at(y)),
                        LibraryFunction::Pow => values[first] = at(x).powf(at(y)),
                        LibraryFunction::SineAndCosine => (values[first], values[first + 1]) = at(x).sin_cos(),
                    }
                }
            }
        }
        for &(value, output) in &self.outputs {
            outputs[output as usize] = values[value as usize];
        }
    }
}

impl Operation {
    /// What it makes of two numbers.
    fn of(self, x: f64, y: f64) -> f64 {
        let mask = |is: bool| f64::from_bits(if is { u64::MAX } else { 0 });
        let bits = |f: fn(u64, u64) -> u64| f64::from_bits(f(x.to_bits(), y.to_bits()));
        match self {
            Operation::Add => x + y,
            Operation::Sub => x - y,
            Operation::Mul => x * y,
            Operation::Div => x / y,
            Operation::And => bits(|x, y| x & y),
            Operation::AndNot => bits(|x, y| !x & y),
            Operation::Or => bits(|x, y| x | y),
            Operation::Xor => bits(|x, y| x ^ y),
            Operation::NotLarger => mask(x <= y),
            Operation::Ordered => mask(!x.is_nan() && !y.is_nan()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiled::tests::mixed;
    use daedal_graph::Tape;

    #[test]
    fn the_bits_are_those_of_the_tape_before_and_after() {
        for length in [0, 5, 60, 1000] {
            let mut graph = Graph::new();
            let outputs = mixed(&mut graph, length);
            let mut kernel: Box<dyn Kernel> = Box::new(PatientKernel::new(&graph, &outputs));
            for call in 0..2 * PATIENCE {
                let shift = f64::from(call) * 0.37;
                for inputs in
                    [[0.3 - shift, -1.7, 2.5, -0.1], [1.0, 0.0, -0.0, shift], [f64::NAN, 1.0, -1.0, f64::INFINITY]]
                {
                    let expected = Tape::new(&graph, &outputs).evaluate(&inputs);
                    let mut values = vec![0.0; outputs.len()];
                    kernel.call(&inputs, &mut values);
                    let same = |(x, y): (&f64, &f64)| x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan();
                    assert!(values.iter().zip(&expected).all(same), "{length} nodes, call {call}");
                }
                if call % 7 == 0 {
                    kernel = kernel.duplicate();
                }
            }
        }
    }

    #[test]
    fn code_is_made_once_for_all_duplicates() {
        let mut graph = Graph::new();
        let outputs = mixed(&mut graph, 20);
        let (mut one, mut other) = {
            let kernel = PatientKernel::new(&graph, &outputs);
            let twin = PatientKernel { shared: kernel.shared.clone(), values: kernel.values.clone(), compiled: None };
            (kernel, twin)
        };
        let mut values = vec![0.0; outputs.len()];
        for _ in 0..PATIENCE {
            one.call(&[0.1, 0.2, 0.3, 0.4], &mut values);
        }
        assert!(one.compiled.is_none() && one.shared.compiled.get().is_none());
        other.call(&[0.1, 0.2, 0.3, 0.4], &mut values);
        assert!(other.compiled.is_some() && one.shared.compiled.get().is_some());
    }
}
