//! Items are evaluated once, in the order in which they need each other.
//!
//! Short chains of definitions are followed by recursion. A long one is cut: the formula that waits is given up, what it
//! needs is evaluated first from an empty stack, and then it is begun again.

use crate::diagnostic::Mistake;
use crate::formula::ast::NameUse;
use crate::formula::evaluate::{Domain, Stop, evaluate};
use crate::names::NamedFormula;
use crate::source::Span;
use std::collections::HashSet;
use std::rc::Rc;

/// Longest chain of definitions that is followed by recursion.
const CHAIN: usize = 24;

/// Values of the items of a domain.
#[derive(Debug)]
pub(crate) struct Memo<V> {
    states: Vec<MemoState<V>>,
    active: Vec<usize>,
}

impl<V> Default for Memo<V> {
    fn default() -> Self {
        Memo { states: Vec::new(), active: Vec::new() }
    }
}

impl<V> Memo<V> {
    /// Is no item being evaluated?
    pub fn is_idle(&self) -> bool {
        self.active.is_empty()
    }
}

#[derive(Clone, Debug)]
enum MemoState<V> {
    New,
    Active,
    Done(V),
    Failed,
}

/// A domain in which names can stand for formulas.
pub(crate) trait NamedFormulas: Domain {
    fn memo(&mut self) -> &mut Memo<Self::Value>;
    fn item(&self, k: usize) -> Rc<NamedFormula>;
    /// The formula of an item begins: say where it stands. Gives back what was said before.
    fn enter(&mut self, item: &NamedFormula) -> crate::names::Context;
    /// It is done.
    fn leave(&mut self, before: crate::names::Context);
    /// The formula of an item has a mistake.
    fn failed(&mut self, stop: Stop, item: &NamedFormula, reference: &NameUse) -> Stop;
}

/// The value of item k, where it is referred to.
pub(crate) fn value<D: NamedFormulas>(k: usize, reference: &NameUse, domain: &mut D) -> Result<D::Value, Stop> {
    let memo = domain.memo();
    if memo.states.len() <= k {
        memo.states.resize_with(k + 1, || MemoState::New);
    }
    match &memo.states[k] {
        MemoState::Done(value) => return Ok(value.clone()),
        MemoState::Failed => return Err(Stop::Told),
        MemoState::Active => {
            let from = memo.active.iter().position(|a| *a == k).unwrap_or(0);
            let circle = memo.active[from..].to_vec();
            return Err(cycle(&circle, k, reference.span, domain));
        }
        MemoState::New if memo.active.len() >= CHAIN => return Err(Stop::Postponed(k)),
        MemoState::New => {}
    }
    memo.states[k] = MemoState::Active;
    memo.active.push(k);
    let item = domain.item(k);
    let before = domain.enter(&item);
    let result = evaluate(&item.node, domain, &mut item.bindings.clone());
    domain.leave(before);
    domain.memo().active.pop();
    let (state, result) = match result {
        Ok(value) => (MemoState::Done(value.clone()), Ok(value)),
        Err(Stop::Postponed(j)) => (MemoState::New, Err(Stop::Postponed(j))),
        Err(stop) => (MemoState::Failed, Err(domain.failed(stop, &item, reference))),
    };
    domain.memo().states[k] = state;
    result
}

/// Run `start` with everything it waits for done before.
pub(crate) fn complete<D: NamedFormulas, V>(
    domain: &mut D,
    mut start: impl FnMut(&mut D) -> Result<V, Stop>,
) -> Result<V, Stop> {
    let mut waiting: Vec<usize> = Vec::new();
    let mut known: HashSet<usize> = HashSet::new();
    loop {
        let result = match waiting.last() {
            None => match start(domain) {
                Err(Stop::Postponed(k)) => Err(Stop::Postponed(k)),
                result => return result,
            },
            Some(&k) => {
                let reference = own_name(&domain.item(k));
                value(k, &reference, domain).map(|_| ())
            }
        };
        match result {
            Err(Stop::Postponed(j)) => {
                if !known.insert(j) {
                    let from = waiting.iter().position(|k| *k == j).unwrap_or(0);
                    let span = domain.item(j).node.span;
                    let mistake = cycle(&waiting[from..], j, span, domain);
                    // none of them will ever have a value
                    for k in waiting {
                        domain.memo().states[k] = MemoState::Failed;
                    }
                    return Err(mistake);
                }
                waiting.push(j);
            }
            Ok(()) | Err(Stop::Told) => {
                if let Some(k) = waiting.pop() {
                    known.remove(&k);
                }
            }
            Err(mistake) => return Err(mistake),
        }
    }
}

fn own_name(item: &NamedFormula) -> NameUse {
    NameUse { base: item.name.clone(), indices: Vec::new(), span: item.node.span }
}

fn cycle<D: NamedFormulas>(circle: &[usize], k: usize, span: Span, domain: &D) -> Stop {
    let name = domain.item(k).name.clone();
    let mut names: Vec<String> = circle.iter().take(8).map(|c| domain.item(*c).name.clone()).collect();
    if circle.len() > names.len() {
        names.push("…".to_string());
    }
    names.push(name.clone());
    Mistake::Cycle { name, circle: names.join(" → "), at: span.into() }.into()
}
