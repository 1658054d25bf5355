//! A graph as a list of operations over registers, for any scalar.
//!
//! Equal operations stand together as far as their arguments allow: what is to be done is then found once for a run of them, not for each one, which
//! makes a large tape two to three times as fast.

use crate::schedule::schedule;
use crate::{Binary, Expr, Graph, Node, Unary};
use daedal_scalar::Scalar;

/// What is done with operands. Numbers stand in a list of the tape; an operand says where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Operation {
    /// A number.
    Constant,
    /// An input.
    Input,
    /// A function of one register.
    Unary(Unary),
    /// A function of two registers.
    Binary(Binary),
    /// Register + number.
    Shift,
    /// Register · number.
    Scale,
    /// Register / number.
    Quotient,
    /// 1 / register.
    Recip,
    /// Register times itself: bounds of a square are closer than those of a product.
    Square,
    /// Register to the power of the second operand.
    Powi,
    /// Register to the power of a number.
    Powf,
    /// The second register where the first is ≥ 0, the third where it is negative.
    Select,
}

/// Operands and the register that takes the result.
#[derive(Clone, Copy, Debug)]
struct Instruction {
    target: u32,
    operands: [u32; 3],
}

/// Instructions of one operation, up to `end`.
#[derive(Clone, Copy, Debug)]
struct TapeRun {
    operation: Operation,
    end: usize,
}

/// Instructions in order; a register is used again when its value is no longer needed.
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
    instructions: Vec<Instruction>,
    runs: Vec<TapeRun>,
    numbers: Vec<f64>,
    outputs: Vec<u32>,
    registers: usize,
    inputs: usize,
}

impl Tape {
    /// The tape of these outputs.
    pub fn new(graph: &Graph, outputs: &[Expr]) -> Self {
        let order = schedule(graph, outputs);
        // after which instruction a value is no longer needed
        let mut last = vec![0; graph.len()];
        for (k, e) in order.iter().enumerate() {
            operands(graph, graph.node(*e)).for_each(|x| last[x.index()] = k);
        }
        for e in outputs {
            last[e.index()] = usize::MAX;
        }
        let mut place = vec![0_u32; graph.len()];
        let mut free: Vec<u32> = Vec::new();
        let mut tape = Tape {
            instructions: Vec::with_capacity(order.len()),
            runs: Vec::new(),
            numbers: Vec::new(),
            outputs: Vec::new(),
            registers: 0,
            inputs: graph.inputs().len(),
        };
        for (k, &e) in order.iter().enumerate() {
            let node = graph.node(e);
            let operation = operation(graph, node);
            // registers first, then what is none
            let mut filled = [0; 3];
            let extra = match node {
                Node::Constant(value) | Node::Powf(_, value) => Some(tape.number(value)),
                Node::Input(i) => Some(i as u32),
                Node::Powi(_, n) => Some(n.cast_unsigned()),
                Node::Binary(f, x, y)
                    if matches!(operation, Operation::Shift | Operation::Scale | Operation::Quotient) =>
                {
                    let c = graph.constant(x).or(graph.constant(y)).unwrap_or(f64::NAN);
                    Some(tape.number(if f == Binary::Sub { -c } else { c }))
                }
                _ => None,
            };
            let registers = operands(graph, node).map(|x| place[x.index()]);
            for (operand, value) in filled.iter_mut().zip(registers.chain(extra)) {
                *operand = value;
            }
            for x in operands(graph, node) {
                // once, if it is an argument twice
                if last[x.index()] == k {
                    last[x.index()] = usize::MAX;
                    free.push(place[x.index()]);
                }
            }
            let target = free.pop().unwrap_or_else(|| {
                tape.registers += 1;
                (tape.registers - 1) as u32
            });
            place[e.index()] = target;
            tape.instructions.push(Instruction { target, operands: filled });
            match tape.runs.last_mut() {
                Some(run) if run.operation == operation => run.end = k + 1,
                _ => tape.runs.push(TapeRun { operation, end: k + 1 }),
            }
        }
        tape.outputs = outputs.iter().map(|e| place[e.index()]).collect();
        tape
    }

    /// The place of a number that is added to the list.
    fn number(&mut self, value: f64) -> u32 {
        self.numbers.push(value);
        (self.numbers.len() - 1) as u32
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

    /// Evaluate with registers that the caller keeps; `registers` has [`Tape::registers`] entries.
    pub fn run<S: Scalar>(&self, inputs: &[S], registers: &mut [S], outputs: &mut [S]) {
        assert_eq!(inputs.len(), self.inputs, "a tape of {} inputs got {}", self.inputs, inputs.len());
        let number = |k: u32| self.numbers[k as usize];
        let mut start = 0;
        for &TapeRun { operation, end } in &self.runs {
            let run = ActiveRun { instructions: &self.instructions[start..end], registers };
            match operation {
                Operation::Constant => run.each(|_, [k, ..]| S::from(number(k))),
                Operation::Input => run.each(|_, [i, ..]| inputs[i as usize]),
                Operation::Binary(Binary::Add) => run.two(|x, y| x + y),
                Operation::Binary(Binary::Sub) => run.two(|x, y| x - y),
                Operation::Binary(Binary::Mul) => run.two(|x, y| x * y),
                Operation::Binary(f) => run.two(|x, y| f.of(x, y)),
                Operation::Unary(Unary::Neg) => run.one(|x, _| -x),
                Operation::Unary(f) => run.one(|x, _| f.of(x)),
                Operation::Shift => run.one(|x, c| x + number(c)),
                Operation::Scale => run.one(|x, c| x * number(c)),
                Operation::Quotient => run.one(|x, c| x / number(c)),
                Operation::Recip => run.one(|x, _| x.recip()),
                Operation::Square => run.one(|x, _| x.square()),
                Operation::Powi => run.one(|x, n| x.powi(n.cast_signed())),
                Operation::Powf => run.one(|x, a| x.powf(number(a))),
                Operation::Select => {
                    run.each(|r, [c, yes, no]| r[c as usize].select(r[yes as usize], r[no as usize]));
                }
            }
            start = end;
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

/// A run at work.
struct ActiveRun<'s, S> {
    instructions: &'s [Instruction],
    registers: &'s mut [S],
}

impl<S: Scalar> ActiveRun<'_, S> {
    /// A function of the operands.
    #[inline(always)]
    fn each(self, f: impl Fn(&[S], [u32; 3]) -> S) {
        for instruction in self.instructions {
            let value = f(self.registers, instruction.operands);
            self.registers[instruction.target as usize] = value;
        }
    }

    /// A function of one register and an operand that is none.
    #[inline(always)]
    fn one(self, f: impl Fn(S, u32) -> S) {
        self.each(|r, [x, other, _]| f(r[x as usize], other));
    }

    /// A function of two registers.
    #[inline(always)]
    fn two(self, f: impl Fn(S, S) -> S) {
        self.each(|r, [x, y, _]| f(r[x as usize], r[y as usize]));
    }
}

/// What a node does: a number of a sum, product or quotient belongs to the operation, as it does in `x * 2.0` of a model.
pub(crate) fn operation(graph: &Graph, node: Node) -> Operation {
    match node {
        Node::Constant(_) => Operation::Constant,
        Node::Input(_) => Operation::Input,
        Node::Unary(f, _) => Operation::Unary(f),
        Node::Binary(f, x, y) => match (f, graph.constant(x), graph.constant(y)) {
            (Binary::Add, Some(_), None) | (Binary::Add | Binary::Sub, None, Some(_)) => Operation::Shift,
            (Binary::Mul, Some(_), None) => Operation::Scale,
            (Binary::Div, None, Some(_)) => Operation::Quotient,
            (Binary::Div, Some(1.0), None) => Operation::Recip,
            (Binary::Mul, None, None) if x == y => Operation::Square,
            _ => Operation::Binary(f),
        },
        Node::Powi(..) => Operation::Powi,
        Node::Powf(..) => Operation::Powf,
        Node::Select(..) => Operation::Select,
    }
}

/// The arguments that must stand in registers.
pub(crate) fn operands(graph: &Graph, node: Node) -> impl Iterator<Item = Expr> {
    let numbers_inside =
        matches!(operation(graph, node), Operation::Shift | Operation::Scale | Operation::Quotient | Operation::Recip);
    // a square has one operand
    let once = usize::from(operation(graph, node) == Operation::Square);
    node.arguments().skip(once).filter(move |x| !(numbers_inside && graph.constant(*x).is_some()))
}
