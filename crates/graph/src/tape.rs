//! A graph as a list of instructions over registers, for any scalar.

use crate::{Binary, Expr, Graph, Node, Unary};
use daedal_scalar::Scalar;

/// One operation; the numbers are registers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Instruction {
    /// A number.
    Constant(f64),
    /// An input.
    Input(u32),
    /// A function of one register.
    Unary(Unary, u32),
    /// A function of two registers.
    Binary(Binary, u32, u32),
    /// x + c.
    Shift(u32, f64),
    /// c x.
    Scale(u32, f64),
    /// x / c.
    Quotient(u32, f64),
    /// 1 / x.
    Recip(u32),
    /// xⁿ.
    Powi(u32, i32),
    /// xᵃ.
    Powf(u32, f64),
    /// The second where the first is ≥ 0, else the third.
    Select(u32, u32, u32),
}

/// Instructions in order, each with the register it writes; a register is used again when its value is no longer needed.
///
/// ```
/// use daedal_graph::{Graph, Tape};
/// use daedal_scalar::{Dual, Scalar};
/// let mut graph = Graph::new();
/// let x = graph.input("x");
/// let y = graph.with(|| x.sin() * x);
/// let tape = Tape::new(&graph, &[y]);
/// assert_eq!(tape.evaluate(&[2.0]), [2.0 * 2.0_f64.sin()]);
/// let slope = tape.evaluate(&[Dual::<f64, 1>::variable(2.0, 0)])[0].lanes[0];
/// assert_eq!(slope, 2.0_f64.sin() + 2.0 * 2.0_f64.cos());
/// ```
#[derive(Clone, Debug)]
pub struct Tape {
    instructions: Vec<(u32, Instruction)>,
    outputs: Vec<u32>,
    registers: usize,
    inputs: usize,
}

impl Tape {
    /// The tape of these outputs.
    pub fn new(graph: &Graph, outputs: &[Expr]) -> Self {
        // what must stand in a register
        let mut wanted = vec![false; graph.len()];
        for e in outputs {
            wanted[e.index()] = true;
        }
        let mut order = graph.needed(outputs);
        for &e in order.iter().rev() {
            if wanted[e.index()] {
                operands(graph, graph.node(e)).for_each(|x| wanted[x.index()] = true);
            }
        }
        order.retain(|e| wanted[e.index()]);
        // after which instruction it is no longer needed
        let mut last = vec![0; graph.len()];
        for (k, e) in order.iter().enumerate() {
            operands(graph, graph.node(*e)).for_each(|x| last[x.index()] = k);
        }
        for e in outputs {
            last[e.index()] = usize::MAX;
        }
        let mut place = vec![0_u32; graph.len()];
        let mut free: Vec<u32> = Vec::new();
        let mut registers = 0;
        let mut instructions = Vec::with_capacity(order.len());
        for (k, &e) in order.iter().enumerate() {
            let node = graph.node(e);
            let at = |x: Expr| place[x.index()];
            let instruction = match node {
                Node::Constant(value) => Instruction::Constant(value),
                Node::Input(i) => Instruction::Input(i as u32),
                Node::Unary(f, x) => Instruction::Unary(f, at(x)),
                // numbers go into the instruction, as they do in `x * 2.0` of a model
                Node::Binary(f, x, y) => match (f, graph.constant(x), graph.constant(y)) {
                    (Binary::Add, Some(c), None) => Instruction::Shift(at(y), c),
                    (Binary::Add, None, Some(c)) => Instruction::Shift(at(x), c),
                    (Binary::Sub, None, Some(c)) => Instruction::Shift(at(x), -c),
                    (Binary::Mul, Some(c), None) => Instruction::Scale(at(y), c),
                    (Binary::Div, None, Some(c)) => Instruction::Quotient(at(x), c),
                    (Binary::Div, Some(1.0), None) => Instruction::Recip(at(y)),
                    _ => Instruction::Binary(f, at(x), at(y)),
                },
                Node::Powi(x, n) => Instruction::Powi(at(x), n),
                Node::Powf(x, a) => Instruction::Powf(at(x), a),
                Node::Select(c, x, y) => Instruction::Select(at(c), at(x), at(y)),
            };
            for x in operands(graph, node) {
                // once, if it is an argument twice
                if last[x.index()] == k {
                    last[x.index()] = usize::MAX;
                    free.push(place[x.index()]);
                }
            }
            let register = free.pop().unwrap_or_else(|| {
                registers += 1;
                registers - 1
            });
            place[e.index()] = register;
            instructions.push((register, instruction));
        }
        let inputs = graph.inputs().len();
        Tape {
            instructions,
            outputs: outputs.iter().map(|e| place[e.index()]).collect(),
            registers: registers as usize,
            inputs,
        }
    }

    /// Number of registers.
    pub fn registers(&self) -> usize {
        self.registers
    }

    /// Number of instructions.
    pub fn len(&self) -> usize {
        self.instructions.len()
    }

    /// Is there nothing to do?
    pub fn is_empty(&self) -> bool {
        self.instructions.is_empty()
    }

    /// The instructions, each with the register it writes.
    pub fn instructions(&self) -> &[(u32, Instruction)] {
        &self.instructions
    }

    /// The registers of the outputs at the end.
    pub fn outputs(&self) -> &[u32] {
        &self.outputs
    }

    /// Evaluate with registers that the caller keeps; `registers` has [`Tape::registers`] entries.
    pub fn run<S: Scalar>(&self, inputs: &[S], registers: &mut [S], outputs: &mut [S]) {
        assert_eq!(inputs.len(), self.inputs, "a tape of {} inputs got {}", self.inputs, inputs.len());
        for &(target, instruction) in &self.instructions {
            let at = |r: u32| registers[r as usize];
            let value = match instruction {
                Instruction::Constant(value) => S::from(value),
                Instruction::Input(i) => inputs[i as usize],
                Instruction::Unary(f, x) => f.of(at(x)),
                Instruction::Binary(f, x, y) => f.of(at(x), at(y)),
                Instruction::Shift(x, c) => at(x) + c,
                Instruction::Scale(x, c) => at(x) * c,
                Instruction::Quotient(x, c) => at(x) / c,
                Instruction::Recip(x) => at(x).recip(),
                Instruction::Powi(x, n) => at(x).powi(n),
                Instruction::Powf(x, a) => at(x).powf(a),
                Instruction::Select(c, x, y) => at(c).select(at(x), at(y)),
            };
            registers[target as usize] = value;
        }
        for (output, &register) in outputs.iter_mut().zip(&self.outputs) {
            *output = registers[register as usize];
        }
    }

    /// Evaluate once, with registers of its own.
    pub fn evaluate<S: Scalar>(&self, inputs: &[S]) -> Vec<S> {
        let mut registers = vec![S::from(0.0); self.registers];
        let mut outputs = vec![S::from(0.0); self.outputs.len()];
        self.run(inputs, &mut registers, &mut outputs);
        outputs
    }
}

/// The arguments that must stand in registers: a number of a sum, product or quotient goes into the instruction.
fn operands(graph: &Graph, node: Node) -> impl Iterator<Item = Expr> {
    let only = match node {
        Node::Binary(f, x, y) => match (f, graph.constant(x), graph.constant(y)) {
            (Binary::Add | Binary::Mul, Some(_), None) | (Binary::Div, Some(1.0), None) => Some(y),
            (Binary::Add | Binary::Sub | Binary::Div, None, Some(_)) => Some(x),
            _ => None,
        },
        _ => None,
    };
    node.arguments().filter(move |x| only.is_none_or(|only| only == *x))
}
