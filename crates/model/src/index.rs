//! Index ranges: `for i in A..B`, both ends included, the last of several running fastest.

use crate::diagnostic::Mistake;
use crate::formula::ast::Range;
use crate::formula::evaluate::{Domain, Stop};
use crate::source::Span;
use std::rc::Rc;

/// Memory of a model and its run for each entry of a range, in bytes. Measured: 3,600 for each unknown of a chain of 10,000 links, 9,700 for each
/// temperature of a rod of as many pieces.
const MEMORY_OF_ENTRY: f64 = 4e3;

/// How much a file may ask for. Time and memory of reading are bounded by these numbers and the length of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadingLimits {
    /// Entries of all index ranges together.
    pub entries: usize,
    /// Operations of all formulas after expansion.
    pub operations: usize,
}

impl Default for ReadingLimits {
    /// A million entries and twenty million operations: some seconds of reading.
    fn default() -> Self {
        ReadingLimits { entries: 1_000_000, operations: 20_000_000 }
    }
}

/// The indices that have a value at some place.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Bindings(pub Vec<(Rc<str>, i64)>);

impl Bindings {
    /// The value of an index.
    pub fn get(&self, index: &str) -> Option<i64> {
        self.0.iter().rev().find(|(name, _)| **name == *index).map(|(_, i)| *i)
    }
}

/// How much may still be expanded.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    left: ReadingLimits,
    limits: ReadingLimits,
    exceeded: bool,
}

impl Budget {
    pub fn new(limits: ReadingLimits) -> Self {
        Budget { left: limits, limits, exceeded: false }
    }
    /// The entries of an index range.
    fn entries(&mut self, from: i64, to: i64, at: Span) -> Result<(), Stop> {
        let count = usize::try_from(i128::from(to) - i128::from(from) + 1).unwrap_or(0);
        match self.left.entries.checked_sub(count) {
            Some(left) => {
                self.left.entries = left;
                Ok(())
            }
            None => Err(self.exceed(self.limits.entries, asked_for(count), "entries", at)),
        }
    }
    /// One more operation of a formula.
    pub fn operation(&mut self, at: Span) -> Result<(), Stop> {
        match self.left.operations.checked_sub(1) {
            Some(left) => {
                self.left.operations = left;
                Ok(())
            }
            None => Err(self.exceed(self.limits.operations, String::new(), "operations", at)),
        }
    }
    /// The first time it is told; then nothing more is expanded.
    fn exceed(&mut self, limit: usize, wanted: String, unit: &str, at: Span) -> Stop {
        if std::mem::replace(&mut self.exceeded, true) {
            return Stop::Told;
        }
        self.left = ReadingLimits { entries: 0, operations: 0 };
        Mistake::TooLarge { limit, wanted, unit: unit.into(), at: at.into() }.into()
    }
}

/// What a range with too many entries asks for.
fn asked_for(entries: usize) -> String {
    let memory = entries as f64 * MEMORY_OF_ENTRY * 1e-9;
    format!(", and this range has {entries}: as many unknowns would take about {memory:.0} GB of memory")
}

/// Call `visit` for each entry of the ranges, with the indices bound.
pub(crate) fn each<D: Domain>(
    ranges: &[Range],
    domain: &mut D,
    bindings: &mut Bindings,
    visit: &mut dyn FnMut(&mut D, &mut Bindings) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let Some((range, inner)) = ranges.split_first() else { return visit(domain, bindings) };
    domain.check_index(range, bindings)?;
    let from = domain.integer(&range.from, "the bound of an index range", bindings)?;
    let to = domain.integer(&range.to, "the bound of an index range", bindings)?;
    domain.budget().entries(from, to, range.from.span.to(range.to.span))?;
    let depth = bindings.0.len();
    for i in from..=to {
        bindings.0.push((range.index.clone(), i));
        let result = each(inner, domain, bindings, visit);
        bindings.0.truncate(depth);
        result?;
    }
    Ok(())
}
