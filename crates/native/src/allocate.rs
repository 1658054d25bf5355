//! Values in registers: a value stays in its register until another one needs it, and the one that is needed last gives way.
//!
//! There are no branches, so that the next use of every value is known. A value that gave way is read from memory when it is needed: inputs, constants
//! and outputs stand there anyway, others have been written to scratch. Belady, A study of replacement algorithms (1966).

use crate::program::{Home, Operation, Program, Step, Value};
use crate::x86_64::{Array, Assembler, Operand, Place, REGISTERS, Register};

/// The next use of a value that is not used any more.
const NEVER: u32 = u32::MAX;
/// How much further away a value counts that stands in memory, and need not be written when it gives way.
const IN_MEMORY: u64 = 2;

/// Code under construction.
struct Allocation {
    code: Assembler,
    /// The step at hand.
    now: u32,
    /// Next use of each value, as the number of a step.
    next: Vec<u32>,
    register: Vec<Option<Register>>,
    memory: Vec<Option<Place>>,
    holds: [Option<Value>; REGISTERS],
    /// Entries of scratch that are not used now.
    free: Vec<u32>,
    scratch: u32,
}

/// Machine code of a program, and the length of the scratch array that it needs.
pub(crate) fn generate(program: &Program, three_operands: bool) -> (Vec<u8>, usize) {
    let (next, later) = uses(program);
    let memory = program.homes.iter().map(|home| match *home {
        Home::Input(entry) => Some(Place { array: Array::Inputs, entry }),
        Home::Constant(entry) => Some(Place { array: Array::Constants, entry }),
        Home::Step => None,
    });
    let mut allocation = Allocation {
        code: Assembler::new(three_operands, program.calls()),
        register: vec![None; next.len()],
        memory: memory.collect(),
        now: 0,
        next,
        holds: [None; REGISTERS],
        free: Vec::new(),
        scratch: 0,
    };
    let of_steps = |value: Value| program.homes[value as usize] == Home::Step;
    let mut outputs = program.outputs.iter().filter(|(value, _)| of_steps(*value)).peekable();
    for (&(value, step), &later) in program.steps.iter().zip(&later) {
        allocation.step(value, step, later);
        allocation.now += 1;
        while let Some(&(value, entry)) = outputs.next_if(|(output, _)| *output < value + step.results()) {
            allocation.output(value, entry);
        }
        (0..step.results()).for_each(|k| allocation.leave_if_dead(value + k));
    }
    for &(value, entry) in program.outputs.iter().filter(|(value, _)| !of_steps(*value)) {
        if let Some(from) = allocation.memory[value as usize] {
            allocation.code.copy_entry(from, Place { array: Array::Outputs, entry });
        }
    }
    (allocation.code.finish(), allocation.scratch as usize)
}

/// The first use of every value, and for the operands of every step their next one.
fn uses(program: &Program) -> (Vec<u32>, Vec<[u32; 2]>) {
    let mut next = vec![NEVER; program.homes.len()];
    let mut later = vec![[NEVER; 2]; program.steps.len()];
    for (k, (_, step)) in program.steps.iter().enumerate().rev() {
        let operands = step.operands();
        for (later, value) in later[k].iter_mut().zip(operands) {
            *later = value.map_or(NEVER, |value| next[value as usize]);
        }
        operands.into_iter().flatten().for_each(|value| next[value as usize] = k as u32);
    }
    (next, later)
}

impl Allocation {
    fn step(&mut self, value: Value, step: Step, later: [u32; 2]) {
        match step {
            Step::Two(operation, [x, y]) => self.two(value, operation, [x, y], later),
            Step::Root(x) => {
                let from = self.fetch(x, x);
                self.used(x, later[0]);
                let to = self.take(value);
                self.code.root(to, from);
                self.free_entry_if_dead(x);
            }
            Step::Call(function, operands) => {
                let sources = operands.map(|operand| operand.map(|value| self.operand(value)));
                for (operand, later) in operands.into_iter().zip(later) {
                    if let Some(value) = operand {
                        self.used(value, later);
                    }
                }
                for register in 0..REGISTERS {
                    if let Some(value) = self.holds[register] {
                        self.make_way(value);
                    }
                }
                self.code.call(function, sources);
                operands.into_iter().flatten().for_each(|value| self.free_entry_if_dead(value));
                for k in 0..step.results() {
                    self.bind(value + k, k as Register);
                }
            }
        }
    }

    fn two(
        &mut self,
        value: Value,
        operation: Operation,
        [mut x, mut y]: [Value; 2],
        [mut next_x, mut next_y]: [u32; 2],
    ) {
        // the second operand may stay in memory
        let turned = self.register[x as usize].is_none()
            && (self.register[y as usize].is_some() || (next_x == NEVER && next_y != NEVER));
        if operation.commutes() && turned {
            (x, y, next_x, next_y) = (y, x, next_y, next_x);
        }
        let first = self.fetch(x, y);
        let wanted = next_y != NEVER && self.holds.contains(&None);
        let second = match self.operand(y) {
            memory @ Operand::Memory(_) if Assembler::reads_memory(operation) && !wanted => memory,
            Operand::Memory(_) => Operand::Register(self.fetch(y, x)),
            register @ Operand::Register(_) => register,
        };
        self.used(x, next_x);
        self.used(y, next_y);
        let to = self.take(value);
        self.code.two(operation, to, first, second);
        self.free_entry_if_dead(x);
        self.free_entry_if_dead(y);
    }

    /// Where a value stands.
    fn operand(&self, value: Value) -> Operand {
        match (self.register[value as usize], self.memory[value as usize]) {
            (Some(register), _) => Operand::Register(register),
            (None, Some(place)) => Operand::Memory(place),
            (None, None) => unreachable!("a value that is used stands somewhere"),
        }
    }

    /// The register of a value, into which it is read if need be; `other` stays where it is.
    fn fetch(&mut self, value: Value, other: Value) -> Register {
        match self.operand(value) {
            Operand::Register(register) => register,
            Operand::Memory(place) => {
                let register = self.vacate(Some(other));
                self.bind(value, register);
                self.code.load(register, place);
                register
            }
        }
    }

    /// A register for a new value.
    fn take(&mut self, value: Value) -> Register {
        let register = self.vacate(None);
        self.bind(value, register);
        register
    }

    fn bind(&mut self, value: Value, register: Register) {
        self.holds[usize::from(register)] = Some(value);
        self.register[value as usize] = Some(register);
    }

    /// A register without a value: that of the value whose next use is furthest away.
    fn vacate(&mut self, except: Option<Value>) -> Register {
        if let Some(empty) = self.holds.iter().position(Option::is_none) {
            return empty as Register;
        }
        let candidates = self.holds.iter().flatten().filter(|value| Some(**value) != except);
        let distance = |value: &&Value| {
            let away = u64::from(self.next[**value as usize] - self.now);
            away * if self.memory[**value as usize].is_some() { IN_MEMORY } else { 1 }
        };
        let furthest = *candidates.max_by_key(distance).expect("there is more than one register");
        let register = self.register[furthest as usize].expect("it stands in a register");
        self.make_way(furthest);
        register
    }

    /// A value leaves its register.
    fn make_way(&mut self, value: Value) {
        let Some(register) = self.register[value as usize].take() else { return };
        self.holds[usize::from(register)] = None;
        if self.next[value as usize] != NEVER && self.memory[value as usize].is_none() {
            let entry = self.free.pop().unwrap_or_else(|| {
                self.scratch += 1;
                self.scratch - 1
            });
            let place = Place { array: Array::Scratch, entry };
            self.memory[value as usize] = Some(place);
            self.code.store(register, place);
        }
    }

    /// An operand has been read.
    fn used(&mut self, value: Value, next: u32) {
        self.next[value as usize] = next;
        self.leave_if_dead(value);
    }

    fn leave_if_dead(&mut self, value: Value) {
        if self.next[value as usize] == NEVER {
            self.make_way(value);
        }
    }

    /// An entry of scratch is free when its value has been used: not before the instruction that reads it.
    fn free_entry_if_dead(&mut self, value: Value) {
        if self.next[value as usize] == NEVER
            && let Some(Place { array: Array::Scratch, entry }) = self.memory[value as usize]
        {
            self.memory[value as usize] = None;
            self.free.push(entry);
        }
    }

    /// Write a value that was computed a moment ago to an output, where it can be read from now on.
    fn output(&mut self, value: Value, entry: u32) {
        let place = Place { array: Array::Outputs, entry };
        match self.operand(value) {
            Operand::Register(register) => self.code.store(register, place),
            Operand::Memory(from) => self.code.copy_entry(from, place),
        }
        self.memory[value as usize].get_or_insert(place);
    }
}
