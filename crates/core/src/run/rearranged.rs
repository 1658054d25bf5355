//! Places have unknowns of their own, which are told by their names: values, functions and events of one place in the order of another.

use crate::event::Event;
use crate::graph::Expr;
use crate::hybrid::watch::Guard;
use crate::hybrid::{Condition, EnterError, SwitchingFunction};
use crate::initial::Start;
use std::cell::RefCell;
use std::ops::Deref;

/// Where the names of one list stand in another.
pub fn places_of(names: &[String], among: &[String]) -> Vec<Option<usize>> {
    names.iter().map(|name| among.iter().position(|other| other == name)).collect()
}

/// A switching function of a mode, for a place that orders unknowns in another way.
pub fn rearranged<'h>(function: &'h SwitchingFunction<'h>, places: Vec<Option<usize>>) -> SwitchingFunction<'h> {
    let buffers = RefCell::new((vec![0.0; places.len()], vec![0.0; places.len()]));
    let formula = function.formula.as_ref().map(|formula| {
        let places = places.clone();
        move |t: Expr, x: &[Expr]| {
            let y: Vec<Expr> = places.iter().map(|place| place.map_or(Expr::from(f64::NAN), |j| x[j])).collect();
            formula(t, &y)
        }
    });
    let value = move |t: f64, x: &[f64], xdot: &[f64]| {
        let (y, ydot) = &mut *buffers.borrow_mut();
        for (k, place) in places.iter().enumerate() {
            (y[k], ydot[k]) = place.map_or((f64::NAN, f64::NAN), |j| (x[j], xdot[j]));
        }
        (function.value)(t, y, ydot)
    };
    let mut rearranged = SwitchingFunction::with_derivatives(function.name.clone(), value).with_formula(formula);
    rearranged.strict = function.strict;
    rearranged.uses_derivatives = function.uses_derivatives;
    rearranged
}

/// An event of a mode, for a place that orders unknowns in another way.
pub fn rearranged_event<'h>(event: &'h Event<'h>, places: &[Option<usize>]) -> Event<'h> {
    let Condition { name, functions, logic } = &event.condition;
    let functions = functions.iter().map(|g| rearranged(g, places.to_vec())).collect();
    let condition = Condition { name: name.clone(), functions, logic: logic.clone() };
    Event { name: event.name.clone(), action: event.action, condition, touching: event.touching }
}

/// What is known in a mode from the values of another one with other names; what is new is not a number.
pub fn carried(x: &[f64], names: &[String], wanted: &[String]) -> Vec<f64> {
    places_of(wanted, names).into_iter().map(|place| place.map_or(f64::NAN, |j| x[j])).collect()
}

/// Known values and unknown ones; those that must not change are fixed.
pub fn starts(x: &[f64], names: &[String], keep: &[&[String]]) -> Result<Vec<Start>, EnterError> {
    for name in keep.iter().flat_map(|list| list.iter()) {
        if !names.contains(name) {
            return Err(EnterError::UnknownName { name: name.clone() });
        }
    }
    let start = |(x, name): (&f64, &String)| {
        if x.is_nan() {
            Start::Unknown
        } else if keep.iter().any(|list| list.contains(name)) {
            Start::Fixed(*x)
        } else {
            Start::Guess(*x)
        }
    };
    Ok(x.iter().zip(names).map(start).collect())
}

/// An event of a place.
pub enum EventOf<'h> {
    /// As it was given.
    Given(&'h Event<'h>),
    /// For a place that orders unknowns in another way.
    Made(Event<'h>),
}

impl<'h> Deref for EventOf<'h> {
    type Target = Event<'h>;
    fn deref(&self) -> &Event<'h> {
        match self {
            EventOf::Given(event) => event,
            EventOf::Made(event) => event,
        }
    }
}

impl Guard for EventOf<'_> {
    fn condition(&self) -> Option<&Condition<'_>> {
        Some(&self.condition)
    }
    fn touching(&self) -> bool {
        self.touching
    }
}
