//! Conditions and changes of the state as nodes of the graph of the mode that is left.
//!
//! A comparison becomes a function g that is positive while it is false: a < b gives g = a − b, a > b gives g = b − a.

use crate::diagnostic::Mistake;
use crate::document::{KeyText, TomlItem};
use crate::entries::{self, Name};
use crate::formula::ast::Tree;
use crate::formula::evaluate::{Domain, Truth};
use crate::formula::operation::Arithmetic;
use crate::lower::{Lowering, Symbolic};
use crate::names::{Classes, Context};
use daedal::graph::Expr;
use daedal::hybrid::{Logic, Schedule};
use std::rc::Rc;

const WHEN: Context = Context {
    place: "the condition of a transition",
    allowed: Classes::EVERYTHING,
    help: "conditions may contain everything of the mode that is left",
};

const SET: Context = Context {
    place: "`set` of a transition",
    allowed: Classes::EVERYTHING,
    help: "new values may contain everything of the mode that is left",
};

/// A new value of an unknown as it is written.
pub(crate) struct ChangeDraft<'t, 'i> {
    /// `lambda` or `mu`, if the key stands in such a table.
    pub prefix: String,
    pub key: &'t KeyText<'i>,
    pub value: &'t TomlItem<'i>,
    pub node: Rc<Tree>,
}

/// What is to be made of one transition in the graph of the mode that it leaves.
pub(crate) struct Job<'p, 't, 'i> {
    /// Number of the transition in the file; those of modes for sliding follow behind the last.
    pub plan: usize,
    pub when: Option<&'p Tree>,
    pub set: &'p [ChangeDraft<'t, 'i>],
    /// The comparisons: text, g, strict.
    pub statements: Vec<(String, Expr, bool)>,
    /// How they are joined.
    pub logic: Option<Logic>,
    /// New values.
    pub changes: Vec<(Name, Expr)>,
    /// Times, if they are given instead of a condition.
    pub schedule: Option<Schedule>,
    pub hysteresis: f64,
}

impl<'p, 't, 'i> Job<'p, 't, 'i> {
    pub fn new(plan: usize, when: Option<&'p Tree>, set: &'p [ChangeDraft<'t, 'i>]) -> Self {
        Job {
            plan,
            when,
            set,
            statements: Vec::new(),
            logic: None,
            changes: Vec::new(),
            schedule: None,
            hysteresis: 0.0,
        }
    }

    /// All formulas.
    pub fn nodes(&self) -> impl Iterator<Item = &'p Tree> + use<'p, 't, 'i> {
        self.when.into_iter().chain(self.set.iter().map(|change| &*change.node))
    }
}

/// All conditions and new values of a mode.
pub(crate) fn lower(to: &mut Lowering, jobs: &mut [Job]) {
    for job in jobs {
        if let Some(when) = job.when
            && let Some(truth) = to.condition(when, WHEN)
        {
            if let Truth::Known(known) = truth {
                to.reader.mistake(Mistake::ConstantCondition { known, at: when.span.into() });
            } else {
                job.logic = Some(logic(to, truth, &mut job.statements));
            }
        }
        for change in job.set {
            let mut names = Vec::new();
            entries::keys(to.reader, change.key, change.value, &mut |_, name, bindings, _| {
                names.push((name, bindings.clone()));
                Ok(())
            });
            for (mut name, bindings) in names {
                if !change.prefix.is_empty() {
                    name.full = format!("{}.{}", change.prefix, name.full);
                }
                if let Some(value) = to.formula(&change.node, SET, &bindings) {
                    job.changes.push((name, value.expr));
                }
            }
        }
    }
}

/// The statements of a condition, and how they are joined.
pub(crate) fn logic(to: &mut Lowering, truth: Truth<Symbolic>, statements: &mut Vec<(String, Expr, bool)>) -> Logic {
    match truth {
        // decided parts are left out where the condition is decided
        Truth::Known(true) => Logic::All(Vec::new()),
        Truth::Known(false) => Logic::Any(Vec::new()),
        Truth::Sign(value, holds, span) => {
            let text = to.reader.written(span).split_whitespace().collect::<Vec<_>>().join(" ");
            let g = if holds { to.apply(Arithmetic::Negative, &[value]) } else { value };
            statements.push((text, g.expr, !holds));
            Logic::Is(statements.len() - 1)
        }
        Truth::Not(inner) => Logic::Not(Box::new(logic(to, *inner, statements))),
        Truth::And(parts) => Logic::All(parts.into_iter().map(|part| logic(to, part, statements)).collect()),
        Truth::Or(parts) => Logic::Any(parts.into_iter().map(|part| logic(to, part, statements)).collect()),
    }
}
