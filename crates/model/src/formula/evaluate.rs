//! The value of a formula in any domain: numbers while the file is read, graph nodes for the model.
//!
//! Arithmetic is not reordered: a + b + c is (a + b) + c. Conditions that are decided by constants are decided here, and the
//! other branch is not looked at.

use super::ast::*;
use super::operation::{Arithmetic, power};
use crate::diagnostic::Mistake;
use crate::index::{Bindings, Budget};
use crate::source::Span;
use std::borrow::Cow;
use std::fmt::Write;

/// Why a formula has no value.
#[derive(Debug)]
pub(crate) enum Stop {
    /// A new mistake.
    Mistake(Box<Mistake>),
    /// A mistake that was told already, elsewhere.
    Told,
    /// Another formula must be evaluated first: the chain of definitions is long.
    Postponed(usize),
}

impl From<Mistake> for Stop {
    fn from(mistake: Mistake) -> Self {
        Stop::Mistake(Box::new(mistake))
    }
}

/// What formulas are evaluated to.
pub(crate) trait Domain {
    /// A value.
    type Value: Clone;
    /// A constant.
    fn number(&mut self, x: f64) -> Self::Value;
    /// The number behind a value that does not vary.
    fn known(&mut self, value: &Self::Value) -> Option<f64>;
    /// Note that a number was used to decide what the model looks like.
    fn decided(&mut self, value: &Self::Value, by: &Tree, bindings: &Bindings);
    /// The value of a name.
    fn reference(&mut self, name: &str, reference: &NameUse) -> Result<Self::Value, Stop>;
    /// The value of a derivative.
    fn derivative(&mut self, name: &str, order: u32, reference: &NameUse, span: Span) -> Result<Self::Value, Stop>;
    /// The value that a variable has at the start, where that can be told apart from the present one; `function` is how it is written.
    fn at_start(&mut self, function: &NameUse, name: &str, argument: &NameUse) -> Option<Result<Self::Value, Stop>> {
        let _ = (function, name, argument);
        None
    }
    /// The value of a table.
    fn table(&mut self, table: &NameUse, argument: Self::Value) -> Result<Self::Value, Stop>;
    /// The result of an operation.
    fn apply(&mut self, operation: Arithmetic, arguments: &[Self::Value]) -> Self::Value;
    /// The value of an index or of the bound of a range.
    fn integer(&mut self, node: &Tree, what: &str, bindings: &mut Bindings) -> Result<i64, Stop>;
    /// How much may still be expanded.
    fn budget(&mut self) -> &mut Budget;
    /// An index must not hide another name.
    fn check_index(&self, range: &Range, bindings: &Bindings) -> Result<(), Stop>;
}

/// A condition as far as it could be decided.
pub(crate) enum Truth<V> {
    Known(bool),
    /// value ≥ 0, or the contrary; the comparison stands there
    Sign(V, bool, Span),
    Not(Box<Truth<V>>),
    And(Vec<Truth<V>>),
    Or(Vec<Truth<V>>),
}

/// The function of a variable that is its value at the start.
pub(crate) const AT_START: &str = "initial";

/// The value of a formula.
pub(crate) fn evaluate<D: Domain>(node: &Tree, domain: &mut D, bindings: &mut Bindings) -> Result<D::Value, Stop> {
    domain.budget().operation(node.span)?;
    match &node.kind {
        Term::Number(x) => Ok(domain.number(*x)),
        Term::Reference(reference) => {
            if reference.indices.is_empty()
                && let Some(i) = bindings.get(&reference.base)
            {
                return Ok(domain.number(i as f64));
            }
            let name = full_name(reference, domain, bindings)?;
            domain.reference(&name, reference)
        }
        Term::Negative(inner) => {
            let x = evaluate(inner, domain, bindings)?;
            Ok(domain.apply(Arithmetic::Negative, &[x]))
        }
        Term::Terms(first, rest) => chain(first, rest, [Arithmetic::Add, Arithmetic::Subtract], domain, bindings),
        Term::Factors(first, rest) => chain(first, rest, [Arithmetic::Multiply, Arithmetic::Divide], domain, bindings),
        Term::Power(base, exponent) => raise(base, exponent, domain, bindings),
        Term::Call(Elementary::Pow, arguments) => raise(&arguments[0], &arguments[1], domain, bindings),
        Term::Call(function, arguments) => {
            let values: Result<Vec<_>, _> = arguments.iter().map(|a| evaluate(a, domain, bindings)).collect();
            Ok(domain.apply(Arithmetic::Function(*function), &values?))
        }
        Term::Table(table, argument) => {
            if table.base == AT_START
                && let Term::Reference(reference) = &argument.kind
            {
                let name = full_name(reference, domain, bindings)?;
                if let Some(value) = domain.at_start(table, &name, reference) {
                    return value;
                }
            }
            let argument = evaluate(argument, domain, bindings)?;
            domain.table(table, argument)
        }
        Term::If(parts) => choose(&parts[0], &parts[1], &parts[2], domain, bindings),
        Term::Over(fold, body, ranges) => over(*fold, body, ranges, domain, bindings),
        Term::Derivative(reference, order) => {
            let order = match order {
                Some(order) => {
                    let k = domain.integer(order, "the order of a derivative", bindings)?;
                    u32::try_from(k).ok().filter(|k| (1..=MOST_DERIVATIVES).contains(k)).ok_or_else(|| {
                        Mistake::Syntax {
                            message: format!("the order of a derivative is between 1 and {MOST_DERIVATIVES}, not {k}"),
                            label: format!("this is {k}"),
                            at: order.span.into(),
                            help: None,
                        }
                    })?
                }
                None => 1,
            };
            let name = full_name(reference, domain, bindings)?;
            domain.derivative(&name, order, reference, node.span)
        }
        Term::Compare(..) | Term::Not(_) | Term::And(_) | Term::Or(_) => Err(Mistake::Syntax {
            message: "a comparison is not a number".into(),
            label: "true or false".into(),
            at: node.span.into(),
            help: None,
        }
        .into()),
    }
}

/// Highest derivative that can be written.
pub(crate) const MOST_DERIVATIVES: u32 = 9;

/// The name with its indices as numbers: `x[3]`, `P[1,2]`.
pub(crate) fn full_name<'r, D: Domain>(
    reference: &'r NameUse,
    domain: &mut D,
    bindings: &mut Bindings,
) -> Result<Cow<'r, str>, Stop> {
    if reference.indices.is_empty() {
        return Ok(Cow::Borrowed(&reference.base));
    }
    let mut indices = Vec::with_capacity(reference.indices.len());
    for index in &reference.indices {
        indices.push(domain.integer(index, "an index", bindings)?);
    }
    Ok(Cow::Owned(indexed(&reference.base, &indices)))
}

/// `x`, `x[3]`, `P[1,2]`.
pub(crate) fn indexed(base: &str, indices: &[i64]) -> String {
    if indices.is_empty() {
        return base.to_string();
    }
    // link[].x with the index 3 is link[3].x
    let (before, after) = base.split_once("[]").unwrap_or((base, ""));
    let mut name = format!("{before}[");
    for (k, i) in indices.iter().enumerate() {
        // writing to a string cannot fail
        let _ = write!(name, "{}{i}", if k > 0 { "," } else { "" });
    }
    name.push(']');
    name.push_str(after);
    name
}

fn chain<D: Domain>(
    first: &Tree,
    rest: &[(bool, Tree)],
    operations: [Arithmetic; 2],
    domain: &mut D,
    bindings: &mut Bindings,
) -> Result<D::Value, Stop> {
    let mut value = evaluate(first, domain, bindings)?;
    for (inverse, node) in rest {
        let next = evaluate(node, domain, bindings)?;
        value = domain.apply(operations[usize::from(*inverse)], &[value, next]);
    }
    Ok(value)
}

/// Integer powers for integer constants, real powers for other constants, exp(y ln x) else.
fn raise<D: Domain>(base: &Tree, exponent: &Tree, domain: &mut D, bindings: &mut Bindings) -> Result<D::Value, Stop> {
    let x = evaluate(base, domain, bindings)?;
    let y = evaluate(exponent, domain, bindings)?;
    if let Some(a) = domain.known(&y) {
        domain.decided(&y, exponent, bindings);
        return Ok(domain.apply(power(a), &[x]));
    }
    Ok(domain.apply(Arithmetic::Power, &[x, y]))
}

fn choose<D: Domain>(
    condition: &Tree,
    yes: &Tree,
    no: &Tree,
    domain: &mut D,
    bindings: &mut Bindings,
) -> Result<D::Value, Stop> {
    let truth = decide(condition, domain, bindings)?;
    if let Truth::Known(known) = truth {
        return evaluate(if known { yes } else { no }, domain, bindings);
    }
    let yes = evaluate(yes, domain, bindings)?;
    let no = evaluate(no, domain, bindings)?;
    Ok(select(truth, yes, no, domain))
}

/// What is known about a condition; parts that do not matter any more are not looked at.
pub(crate) fn decide<D: Domain>(node: &Tree, domain: &mut D, bindings: &mut Bindings) -> Result<Truth<D::Value>, Stop> {
    domain.budget().operation(node.span)?;
    match &node.kind {
        Term::Compare(comparison, sides) => {
            let a = evaluate(&sides[0], domain, bindings)?;
            let b = evaluate(&sides[1], domain, bindings)?;
            if let (Some(x), Some(y)) = (domain.known(&a), domain.known(&b)) {
                domain.decided(&a, &sides[0], bindings);
                domain.decided(&b, &sides[1], bindings);
                if x.is_nan() || y.is_nan() {
                    // neither true nor false: what it decides has no value
                    return Ok(Truth::Sign(domain.number(f64::NAN), true, node.span));
                }
                return Ok(Truth::Known(match comparison {
                    Relation::Less => x < y,
                    Relation::LessOrEqual => x <= y,
                    Relation::Greater => x > y,
                    Relation::GreaterOrEqual => x >= y,
                    Relation::Equal => x == y,
                    Relation::NotEqual => x != y,
                }));
            }
            let mut difference = |a, b| domain.apply(Arithmetic::Subtract, &[a, b]);
            match comparison {
                Relation::GreaterOrEqual => Ok(Truth::Sign(difference(a, b), true, node.span)),
                Relation::LessOrEqual => Ok(Truth::Sign(difference(b, a), true, node.span)),
                // a > b is the contrary of b − a ≥ 0
                Relation::Greater => Ok(Truth::Sign(difference(b, a), false, node.span)),
                Relation::Less => Ok(Truth::Sign(difference(a, b), false, node.span)),
                Relation::Equal | Relation::NotEqual => {
                    let varying = usize::from(domain.known(&a).is_some());
                    let sign = if *comparison == Relation::Equal { "==" } else { "!=" };
                    Err(Mistake::EqualityOfVariables { sign: sign.into(), at: sides[varying].span.into() }.into())
                }
            }
        }
        Term::Not(inner) => Ok(match decide(inner, domain, bindings)? {
            Truth::Known(known) => Truth::Known(!known),
            other => Truth::Not(Box::new(other)),
        }),
        Term::And(parts) => join(parts, false, domain, bindings),
        Term::Or(parts) => join(parts, true, domain, bindings),
        _ => Err(Mistake::Syntax {
            message: "expected a condition, found a number".into(),
            label: "a number".into(),
            at: node.span.into(),
            help: None,
        }
        .into()),
    }
}

/// `and` is decided by one false part, `or` by one true part.
fn join<D: Domain>(
    parts: &[Tree],
    decisive: bool,
    domain: &mut D,
    bindings: &mut Bindings,
) -> Result<Truth<D::Value>, Stop> {
    let mut open = Vec::new();
    for part in parts {
        match decide(part, domain, bindings)? {
            Truth::Known(known) if known == decisive => return Ok(Truth::Known(decisive)),
            Truth::Known(_) => {}
            other => open.push(other),
        }
    }
    match open.len() {
        0 => Ok(Truth::Known(!decisive)),
        1 => Ok(open.remove(0)),
        _ if decisive => Ok(Truth::Or(open)),
        _ => Ok(Truth::And(open)),
    }
}

/// Conditions as nested selections; every comparison is used once.
fn select<D: Domain>(truth: Truth<D::Value>, yes: D::Value, no: D::Value, domain: &mut D) -> D::Value {
    match truth {
        Truth::Known(true) => yes,
        Truth::Known(false) => no,
        Truth::Sign(value, true, _) => domain.apply(Arithmetic::Select, &[value, yes, no]),
        Truth::Sign(value, false, _) => domain.apply(Arithmetic::Select, &[value, no, yes]),
        Truth::Not(inner) => select(*inner, no, yes, domain),
        Truth::And(parts) => parts.into_iter().rev().fold(yes, |inner, part| select(part, inner, no.clone(), domain)),
        Truth::Or(parts) => parts.into_iter().rev().fold(no, |inner, part| select(part, yes.clone(), inner, domain)),
    }
}

/// Sum or product over index ranges, from the first entry on; empty ranges give 0 and 1.
fn over<D: Domain>(
    fold: Fold,
    body: &Tree,
    ranges: &[Range],
    domain: &mut D,
    bindings: &mut Bindings,
) -> Result<D::Value, Stop> {
    let (operation, empty) = match fold {
        Fold::Sum => (Arithmetic::Add, 0.0),
        Fold::Product => (Arithmetic::Multiply, 1.0),
    };
    let mut total: Option<D::Value> = None;
    crate::index::each(ranges, domain, bindings, &mut |domain, bindings| {
        let next = evaluate(body, domain, bindings)?;
        total = Some(match total.take() {
            Some(sum) => domain.apply(operation, &[sum, next]),
            None => next,
        });
        Ok(())
    })?;
    Ok(total.unwrap_or_else(|| domain.number(empty)))
}
