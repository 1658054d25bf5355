//! Index ranges: `for i in A..B`, both ends included, the last of several running fastest.

use crate::diagnostic::Mistake;
use crate::formula::ast::Range;
use crate::formula::evaluate::{Domain, Stop};
use crate::source::Span;

/// Most entries of all index ranges of a file together.
pub(crate) const MOST_ENTRIES: usize = 1_000_000;
/// Most operations of all formulas after expansion.
pub(crate) const MOST_OPERATIONS: usize = 20_000_000;

/// The indices that have a value at some place.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Bindings(pub Vec<(String, i64)>);

impl Bindings {
    /// The value of an index.
    pub fn get(&self, index: &str) -> Option<i64> {
        self.0.iter().rev().find(|(name, _)| name == index).map(|(_, i)| *i)
    }
}

/// How much may still be expanded.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    entries: usize,
    operations: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { entries: MOST_ENTRIES, operations: MOST_OPERATIONS }
    }
}

impl Budget {
    /// One more entry of an index range.
    pub fn entry(&mut self, at: Span) -> Result<(), Stop> {
        take(&mut self.entries, MOST_ENTRIES, "entries", at)
    }
    /// One more operation of a formula.
    pub fn operation(&mut self, at: Span) -> Result<(), Stop> {
        take(&mut self.operations, MOST_OPERATIONS, "operations", at)
    }
}

fn take(left: &mut usize, limit: usize, unit: &str, at: Span) -> Result<(), Stop> {
    match left.checked_sub(1) {
        Some(less) => {
            *left = less;
            Ok(())
        }
        None => Err(Mistake::TooLarge { limit, unit: unit.into(), at: at.into() }.into()),
    }
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
    let depth = bindings.0.len();
    for i in from..=to {
        domain.budget().entry(range.from.span.to(range.to.span))?;
        bindings.0.push((range.index.clone(), i));
        let result = each(inner, domain, bindings, visit);
        bindings.0.truncate(depth);
        result?;
    }
    Ok(())
}
