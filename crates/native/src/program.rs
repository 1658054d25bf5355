//! Formulas as straight-line code: steps of at most two operands, in the order in which nodes were made.
//!
//! What a machine need not know is taken apart here: powers are products, those of 3/2 with a root, a choice is made by masks, signs and absolute values by bits.

use crate::functions::LibraryFunction;
use daedal_graph::{Binary, Expr, Graph, Node, Unary};
use rustc_hash::FxHashMap;

/// A number that code works with, by its place in [`Program::homes`].
pub(crate) type Value = u32;

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    /// An input.
    Input(u32),
    /// A number of the list of constants.
    Constant(u32),
    /// A step computes it.
    Step,
}

/// What one instruction makes of two numbers; masks are numbers all of whose bits are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Add,
    Sub,
    Mul,
    Div,
    /// The bits that both have.
    And,
    /// The bits of the second that the first has not.
    AndNot,
    /// The bits that one of them has.
    Or,
    /// The bits that exactly one of them has.
    Xor,
    /// A mask: is the first not larger than the second?
    NotLarger,
    /// A mask: are both numbers?
    Ordered,
}

impl Operation {
    /// May operands be exchanged? A NaN may have other bits then.
    pub(crate) fn commutes(self) -> bool {
        matches!(self, Operation::Add | Operation::Mul | Operation::And | Operation::Or | Operation::Xor)
    }
}

/// One thing to do. It gives the next value, sine and cosine together the next two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Two(Operation, [Value; 2]),
    Root(Value),
    Call(LibraryFunction, [Option<Value>; 2]),
}

impl Step {
    /// How many values it gives.
    pub(crate) fn results(self) -> u32 {
        if matches!(self, Step::Call(LibraryFunction::SineAndCosine, _)) { 2 } else { 1 }
    }

    /// Its operands.
    pub(crate) fn operands(self) -> [Option<Value>; 2] {
        match self {
            Step::Two(_, [x, y]) => [Some(x), Some(y)],
            Step::Root(x) => [Some(x), None],
            Step::Call(_, operands) => operands,
        }
    }
}

/// Steps with what they read and what becomes of their values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    /// Of all values.
    pub homes: Vec<Home>,
    /// Each with the value that it gives first.
    pub steps: Vec<(Value, Step)>,
    /// Bits of the constants.
    pub constants: Vec<u64>,
    /// Values and the outputs that they are, by value.
    pub outputs: Vec<(Value, u32)>,
}

impl Program {
    /// The program of these outputs.
    pub(crate) fn new(graph: &Graph, outputs: &[Expr]) -> Self {
        let order = graph.needed(outputs);
        let mut lowering = ProgramDraft {
            program: Program::default(),
            value: vec![None; graph.len()],
            constants: FxHashMap::default(),
        };
        // both sine and cosine of one argument: the first of them computes both
        let mut partner: FxHashMap<(Unary, Expr), Expr> = FxHashMap::default();
        for &e in &order {
            if let Node::Unary(f @ (Unary::Sin | Unary::Cos), x) = graph.node(e) {
                partner.insert((f, x), e);
            }
        }
        for &e in &order {
            if lowering.value[e.index()].is_some() {
                continue;
            }
            let node = graph.node(e);
            if let Node::Unary(Unary::Sin | Unary::Cos, x) = node
                && let (Some(sin), Some(cos)) = (partner.get(&(Unary::Sin, x)), partner.get(&(Unary::Cos, x)))
            {
                let of = lowering.at(x);
                let first = lowering.step(Step::Call(LibraryFunction::SineAndCosine, [Some(of), None]));
                let second = lowering.value(Home::Step);
                lowering.value[sin.index()] = Some(first);
                lowering.value[cos.index()] = Some(second);
                continue;
            }
            let value = lowering.node(node);
            lowering.value[e.index()] = Some(value);
        }
        let places = outputs.iter().enumerate().map(|(i, e)| (lowering.at(*e), i as u32));
        let mut places: Vec<(Value, u32)> = places.collect();
        places.sort_unstable();
        Program { outputs: places, ..lowering.program }
    }

    /// Does it call functions?
    pub(crate) fn calls(&self) -> bool {
        self.steps.iter().any(|(_, step)| matches!(step, Step::Call(..)))
    }
}

/// A program while it is written.
struct ProgramDraft {
    program: Program,
    /// of nodes
    value: Vec<Option<Value>>,
    constants: FxHashMap<u64, Value>,
}

impl ProgramDraft {
    fn value(&mut self, home: Home) -> Value {
        self.program.homes.push(home);
        (self.program.homes.len() - 1) as Value
    }

    fn step(&mut self, step: Step) -> Value {
        let value = self.value(Home::Step);
        self.program.steps.push((value, step));
        value
    }

    fn two(&mut self, operation: Operation, x: Value, y: Value) -> Value {
        self.step(Step::Two(operation, [x, y]))
    }

    fn call(&mut self, function: LibraryFunction, x: Value, y: Option<Value>) -> Value {
        self.step(Step::Call(function, [Some(x), y]))
    }

    /// The value of a node, which stands before all that read it.
    fn at(&self, e: Expr) -> Value {
        self.value[e.index()].expect("arguments are older than what reads them")
    }

    fn constant(&mut self, bits: u64) -> Value {
        if let Some(&value) = self.constants.get(&bits) {
            return value;
        }
        self.program.constants.push(bits);
        let value = self.value(Home::Constant((self.program.constants.len() - 1) as u32));
        self.constants.insert(bits, value);
        value
    }

    fn number(&mut self, value: f64) -> Value {
        self.constant(value.to_bits())
    }

    fn node(&mut self, node: Node) -> Value {
        match node {
            Node::Constant(value) => self.number(value),
            Node::Input(i) => self.value(Home::Input(i as u32)),
            Node::Unary(f, x) => {
                let x = self.at(x);
                match f {
                    Unary::Neg => {
                        let sign = self.number(-0.0);
                        self.two(Operation::Xor, x, sign)
                    }
                    Unary::Abs => {
                        let sign = self.number(-0.0);
                        self.two(Operation::AndNot, sign, x)
                    }
                    Unary::Sqrt => self.step(Step::Root(x)),
                    _ => self.call(LibraryFunction::Unary(f), x, None),
                }
            }
            Node::Binary(f, x, y) => {
                let (x, y) = (self.at(x), self.at(y));
                match f {
                    Binary::Add => self.two(Operation::Add, x, y),
                    Binary::Sub => self.two(Operation::Sub, x, y),
                    Binary::Mul => self.two(Operation::Mul, x, y),
                    Binary::Div => self.two(Operation::Div, x, y),
                    Binary::Atan2 => self.call(LibraryFunction::Atan2, x, Some(y)),
                    Binary::Pow => self.call(LibraryFunction::Pow, x, Some(y)),
                }
            }
            Node::Powi(x, n) => {
                let x = self.at(x);
                self.powi(x, n)
            }
            // as the scalar f64 does
            Node::Powf(x, a) if a.abs() == 1.5 => {
                let x = self.at(x);
                let root = self.step(Step::Root(x));
                let power = self.two(Operation::Mul, x, root);
                if a > 0.0 {
                    return power;
                }
                let one = self.number(1.0);
                self.two(Operation::Div, one, power)
            }
            Node::Powf(x, a) => {
                let (x, a) = (self.at(x), self.number(a));
                self.call(LibraryFunction::Pow, x, Some(a))
            }
            Node::Select(c, yes, no) => {
                let (c, yes, no) = (self.at(c), self.at(yes), self.at(no));
                let zero = self.number(0.0);
                let positive = self.two(Operation::NotLarger, zero, c);
                let chosen = self.choice(positive, yes, no);
                // a condition that is not a number has no result
                let ordered = self.two(Operation::Ordered, c, c);
                self.choice(ordered, chosen, c)
            }
        }
    }

    /// The first where the mask is set, the second elsewhere.
    fn choice(&mut self, mask: Value, yes: Value, no: Value) -> Value {
        let yes = self.two(Operation::And, mask, yes);
        let no = self.two(Operation::AndNot, mask, no);
        self.two(Operation::Or, yes, no)
    }

    /// xⁿ by repeated squaring, in the order of `f64::powi`.
    fn powi(&mut self, x: Value, n: i32) -> Value {
        let (mut square, mut product, mut rest) = (x, None, n.unsigned_abs());
        while rest > 0 {
            if rest % 2 == 1 {
                product = Some(product.map_or(square, |product| self.two(Operation::Mul, product, square)));
            }
            rest /= 2;
            if rest > 0 {
                square = self.two(Operation::Mul, square, square);
            }
        }
        let one = self.number(1.0);
        let product = product.unwrap_or(one);
        if n < 0 { self.two(Operation::Div, one, product) } else { product }
    }
}
