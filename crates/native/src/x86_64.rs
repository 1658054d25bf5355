//! Instructions of x86-64 for numbers in `f64`: with three operands (AVX) where the machine has them, else with two (SSE2).
//!
//! Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2: 2.1 (prefixes, ModRM), 2.3 (VEX).

use crate::functions::LibraryFunction;
use crate::program::Operation;

/// A register xmm0 to xmm15.
pub(crate) type Register = u8;

/// Registers for values: 0 to 14.
pub(crate) const REGISTERS: usize = 15;
/// The one that code may use at any time.
const SPARE: Register = 15;

/// The arrays that code reads and writes, in the order of the arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Array {
    Inputs,
    Outputs,
    Scratch,
    Constants,
}

/// An entry of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub array: Array,
    pub entry: u32,
}

/// What an instruction may read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operand {
    Register(Register),
    Memory(Place),
}

/// rdi, rsi, rdx, rcx: where the arguments arrive.
const ARGUMENTS: [u8; 4] = [7, 6, 2, 1];
/// rbx, rbp, r13, r14: which functions that are called leave alone.
const KEPT: [u8; 4] = [3, 5, 13, 14];

/// Prefixes: their bytes and their numbers in VEX.
#[derive(Clone, Copy)]
enum Prefix {
    /// Packed doubles.
    P66,
    /// One double.
    PF2,
}

/// Code while it is written.
pub(crate) struct Assembler {
    pub code: Vec<u8>,
    three_operands: bool,
    bases: [u8; 4],
    calls: bool,
}

impl Assembler {
    /// The begin of a function of four arrays; `calls` says whether it calls others.
    pub(crate) fn new(three_operands: bool, calls: bool) -> Self {
        let bases = if calls { KEPT } else { ARGUMENTS };
        let mut assembler = Assembler { code: Vec::new(), three_operands, bases, calls };
        if calls {
            // push rbx, rbp, r13, r14; sub rsp, 8: the stack is aligned to 16 at calls
            assembler.bytes(&[0x53, 0x55, 0x41, 0x55, 0x41, 0x56, 0x48, 0x83, 0xEC, 0x08]);
            for (to, from) in KEPT.into_iter().zip(ARGUMENTS) {
                // mov to, from
                assembler.bytes(&[0x48 | to >> 3, 0x89, 0xC0 | from << 3 | to & 7]);
            }
        }
        assembler
    }

    /// The end of the function.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        if self.calls {
            // add rsp, 8; pop r14, r13, rbp, rbx
            self.bytes(&[0x48, 0x83, 0xC4, 0x08, 0x41, 0x5E, 0x41, 0x5D, 0x5D, 0x5B]);
        }
        self.bytes(&[0xC3]);
        self.code
    }

    /// Read an entry.
    pub(crate) fn load(&mut self, to: Register, from: Place) {
        self.encode(Prefix::PF2, 0x10, to, 0, Operand::Memory(from)); // movsd
    }

    /// Write an entry.
    pub(crate) fn store(&mut self, from: Register, to: Place) {
        self.encode(Prefix::PF2, 0x11, from, 0, Operand::Memory(to)); // movsd
    }

    /// Write what stands in one entry to another.
    pub(crate) fn copy_entry(&mut self, from: Place, to: Place) {
        self.load(SPARE, from);
        self.store(SPARE, to);
    }

    fn copy(&mut self, to: Register, from: Register) {
        if to != from {
            self.encode(Prefix::P66, 0x28, to, 0, Operand::Register(from)); // movapd
        }
    }

    fn fetch(&mut self, to: Register, from: Operand) {
        match from {
            Operand::Register(from) => self.copy(to, from),
            Operand::Memory(from) => self.load(to, from),
        }
    }

    /// √x.
    pub(crate) fn root(&mut self, to: Register, x: Register) {
        self.encode(Prefix::PF2, 0x51, to, x, Operand::Register(x)); // sqrtsd
    }

    /// May the second operand stand in memory? Operations on bits would read two numbers.
    pub(crate) fn reads_memory(operation: Operation) -> bool {
        matches!(operation, Operation::Add | Operation::Sub | Operation::Mul | Operation::Div)
    }

    /// An operation of a register and an operand.
    pub(crate) fn two(&mut self, operation: Operation, to: Register, x: Register, y: Operand) {
        if self.three_operands {
            return self.operate(operation, to, x, y);
        }
        // the first operand takes the result
        match y {
            Operand::Register(y) if to == y && x != y && operation.commutes() => {
                self.operate(operation, to, to, Operand::Register(x));
            }
            Operand::Register(y) if to == y && x != y => {
                self.copy(SPARE, x);
                self.operate(operation, SPARE, SPARE, Operand::Register(y));
                self.copy(to, SPARE);
            }
            y => {
                self.copy(to, x);
                self.operate(operation, to, to, y);
            }
        }
    }

    fn operate(&mut self, operation: Operation, to: Register, x: Register, y: Operand) {
        let (prefix, opcode, predicate) = match operation {
            Operation::Add => (Prefix::PF2, 0x58, None),
            Operation::Mul => (Prefix::PF2, 0x59, None),
            Operation::Sub => (Prefix::PF2, 0x5C, None),
            Operation::Div => (Prefix::PF2, 0x5E, None),
            Operation::And => (Prefix::P66, 0x54, None),
            Operation::AndNot => (Prefix::P66, 0x55, None),
            Operation::Or => (Prefix::P66, 0x56, None),
            Operation::Xor => (Prefix::P66, 0x57, None),
            // cmpsd
            Operation::NotLarger => (Prefix::PF2, 0xC2, Some(2)),
            Operation::Ordered => (Prefix::PF2, 0xC2, Some(7)),
        };
        self.encode(prefix, opcode, to, x, y);
        self.code.extend(predicate);
    }

    /// Call a function: arguments go to the first registers, where results are afterwards. Nothing else is left in registers.
    pub(crate) fn call(&mut self, function: LibraryFunction, arguments: [Option<Operand>; 2]) {
        if let Some(second) = arguments[1] {
            self.fetch(SPARE, second);
        }
        if let Some(first) = arguments[0] {
            self.fetch(0, first);
        }
        if arguments[1].is_some() {
            self.copy(1, SPARE);
        }
        // mov rax, address; call rax
        self.bytes(&[0x48, 0xB8]);
        self.bytes(&(function.address() as u64).to_le_bytes());
        self.bytes(&[0xFF, 0xD0]);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.code.extend_from_slice(bytes);
    }

    /// An instruction of the map 0F: `register` and the operand `rm`, with a further source `x` where instructions have three operands.
    fn encode(&mut self, prefix: Prefix, opcode: u8, register: Register, x: Register, rm: Operand) {
        let low = match rm {
            Operand::Register(low) => low,
            Operand::Memory(place) => self.bases[place.array as usize],
        };
        let (high_register, high_rm) = (register >> 3, low >> 3);
        if self.three_operands {
            let pp = match prefix {
                Prefix::P66 => 1,
                Prefix::PF2 => 3,
            };
            // registers are written with their bits inverted
            if high_rm == 0 {
                self.bytes(&[0xC5, (1 - high_register) << 7 | (15 - x) << 3 | pp]);
            } else {
                self.bytes(&[0xC4, (1 - high_register) << 7 | 1 << 6 | (1 - high_rm) << 5 | 1, (15 - x) << 3 | pp]);
            }
        } else {
            self.code.push(match prefix {
                Prefix::P66 => 0x66,
                Prefix::PF2 => 0xF2,
            });
            if high_register | high_rm != 0 {
                self.code.push(0x40 | high_register << 2 | high_rm);
            }
            self.code.push(0x0F);
        }
        self.code.push(opcode);
        let middle = (register & 7) << 3;
        match rm {
            Operand::Register(_) => self.code.push(0xC0 | middle | low & 7),
            Operand::Memory(place) => {
                let offset = place.entry as usize * size_of::<f64>();
                if let Ok(short) = i8::try_from(offset) {
                    self.bytes(&[0x40 | middle | low & 7, short.cast_unsigned()]);
                } else {
                    self.code.push(0x80 | middle | low & 7);
                    self.bytes(&(offset as u32).to_le_bytes());
                }
            }
        }
    }
}
