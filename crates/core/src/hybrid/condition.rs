//! Conditions of transitions: logical combinations of the signs of switching functions.
//!
//! A switching function g is positive until its statement becomes true, so that every change of a condition is a zero of one of its
//! functions. Wunderlich, thesis (2008), Definition 5.3.

use super::watch::Bounds;
use crate::graph::Expr;
use crate::scalar::Scalar;
use std::cell::OnceCell;
use std::rc::Rc;

/// A switching function written once for every scalar, so that sliding along its zeros can be derived.
///
/// ```
/// use daedal::hybrid::Surface;
/// use daedal::scalar::Scalar;
///
/// /// The velocity relative to a belt.
/// struct Slip { belt: f64 }
/// impl Surface for Slip {
///     fn value<S: Scalar>(&self, _: S, x: &[S]) -> S { x[1] - self.belt }
/// }
/// assert_eq!(Slip { belt: 0.25 }.value(0.0, &[0.0, 1.0]), 0.75);
/// ```
pub trait Surface {
    /// Its value; x in the order of the names of the mode that is left.
    fn value<S: Scalar>(&self, t: S, x: &[S]) -> S;
}

/// g(t, x, ẋ), positive until its statement becomes true.
pub struct SwitchingFunction<'h> {
    /// How messages call it: "y <= 0".
    pub name: String,
    /// g(t, x, ẋ); x and ẋ are those of the mode that is left, maybe followed by auxiliary unknowns.
    #[allow(clippy::type_complexity)] // a function, written out where it is called
    pub value: Box<dyn Fn(f64, &[f64], &[f64]) -> f64 + 'h>,
    /// Is the statement g < 0 instead of g ≤ 0? Then a function that touches zero does not make it true.
    pub strict: bool,
    /// Does it contain ẋ? Then nothing slides along its zeros.
    pub uses_derivatives: bool,
    /// The same on formulas, where it can be had: from time and unknowns, in the order of the names of its mode, to its value. Called
    /// inside of [`Graph::with`](crate::graph::Graph::with). Sliding along its zeros needs it, and so does who wants no zero to be overlooked.
    #[allow(clippy::type_complexity)] // a function, written out where it is called
    pub formula: Option<Box<dyn Fn(Expr, &[Expr]) -> Expr + 'h>>,
    bounds: OnceCell<Option<Bounds>>,
}

impl<'h> SwitchingFunction<'h> {
    /// A function of time and unknowns; its statement is g ≤ 0.
    pub fn new(name: impl Into<String>, value: impl Fn(f64, &[f64]) -> f64 + 'h) -> Self {
        SwitchingFunction {
            name: name.into(),
            value: Box::new(move |t, x, _| value(t, x)),
            strict: false,
            uses_derivatives: false,
            formula: None,
            bounds: OnceCell::new(),
        }
    }

    /// A function written for every scalar; its statement is g ≤ 0.
    pub fn surface(name: impl Into<String>, surface: impl Surface + 'h) -> Self {
        let surface = Rc::new(surface);
        let formula = surface.clone();
        SwitchingFunction {
            formula: Some(Box::new(move |t, x| formula.value(t, x))),
            ..Self::new(name, move |t, x| surface.value(t, x))
        }
    }

    /// A function of time, unknowns and their derivatives; its statement is g ≤ 0.
    pub fn with_derivatives(name: impl Into<String>, value: impl Fn(f64, &[f64], &[f64]) -> f64 + 'h) -> Self {
        SwitchingFunction {
            name: name.into(),
            value: Box::new(value),
            strict: false,
            uses_derivatives: true,
            formula: None,
            bounds: OnceCell::new(),
        }
    }

    /// The same on formulas, in the order of n unknowns.
    #[must_use]
    pub fn with_formula(mut self, formula: Option<impl Fn(Expr, &[Expr]) -> Expr + 'h>) -> Self {
        self.formula = formula.map(|formula| Box::new(formula) as Box<_>);
        self
    }

    /// Bounds of its values where there are n unknowns, if it is a formula.
    pub(super) fn bounds(&self, n: usize) -> Option<&Bounds> {
        self.bounds.get_or_init(|| self.formula.as_ref().map(|formula| Bounds::new(n, formula))).as_ref()
    }

    /// Its statement is g < 0.
    #[must_use]
    pub fn strict(mut self) -> Self {
        self.strict = true;
        self
    }
}

/// A combination of statements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Logic {
    /// The statement of this switching function.
    Is(usize),
    /// The contrary.
    Not(Box<Logic>),
    /// All of them.
    All(Vec<Logic>),
    /// One of them at least.
    Any(Vec<Logic>),
}

impl Logic {
    /// Is it true, where the statements are?
    pub fn holds(&self, statement: &dyn Fn(usize) -> bool) -> bool {
        match self {
            Logic::Is(k) => statement(*k),
            Logic::Not(logic) => !logic.holds(statement),
            Logic::All(all) => all.iter().all(|logic| logic.holds(statement)),
            Logic::Any(any) => any.iter().any(|logic| logic.holds(statement)),
        }
    }
}

/// A logical combination of statements about switching functions.
pub struct Condition<'h> {
    /// How messages call it.
    pub name: String,
    /// Its switching functions.
    pub functions: Vec<SwitchingFunction<'h>>,
    /// When it is true.
    pub logic: Logic,
}

impl<'h> Condition<'h> {
    /// The statement of one function.
    pub fn of(function: SwitchingFunction<'h>) -> Self {
        Condition { name: function.name.clone(), functions: vec![function], logic: Logic::Is(0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_combine_statements() {
        let logic = Logic::All(vec![Logic::Is(0), Logic::Any(vec![Logic::Is(1), Logic::Not(Box::new(Logic::Is(2)))])]);
        let holds = |a: bool, b: bool, c: bool| logic.holds(&|k| [a, b, c][k]);
        assert!(holds(true, true, true) && holds(true, false, false));
        assert!(!holds(true, false, true) && !holds(false, true, false));
    }
}
