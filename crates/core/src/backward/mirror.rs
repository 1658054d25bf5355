//! The way between a run and its mirror image: t becomes −t, and some components change their sign.

use crate::error::{SolveError, StepFailure};
use crate::event::Event;
use crate::graph::Expr;
use crate::hybrid::{Condition, SwitchingFunction};
use crate::method::{StartFailure, State};
use crate::observer::{Observer, StepView};
use crate::options::{Options, Save};
use crate::segment::Segment;
use crate::solution::Solution;
use std::cell::RefCell;
use std::iter::repeat;
use std::ops::ControlFlow;

/// ±1 for every component: those with −1 are derivatives of odd order. Components behind the last one keep their sign.
#[derive(Clone, Debug, PartialEq)]
pub struct Mirror {
    signs: Vec<f64>,
}

impl Mirror {
    pub fn new(signs: Vec<f64>) -> Self {
        Mirror { signs }
    }

    pub fn state(&self, state: &State) -> State {
        State { t: -state.t, x: self.values(&state.x) }
    }

    fn values(&self, x: &[f64]) -> Vec<f64> {
        let mut x = x.to_vec();
        self.turn(&mut x);
        x
    }

    /// Give components their signs.
    pub fn turn(&self, x: &mut [f64]) {
        x.iter_mut().zip(&self.signs).for_each(|(x, sign)| *x *= sign);
    }

    /// Options with the times that are asked for in the mirror.
    pub fn options(options: &Options) -> Options {
        let save = match &options.save {
            Save::At(times) => Save::At(times.iter().map(|t| -t).collect()),
            save => save.clone(),
        };
        Options { save, ..options.clone() }
    }

    /// Events whose conditions look back through the mirror.
    pub fn events<'e>(&'e self, events: &'e [Event<'e>]) -> Vec<Event<'e>> {
        events.iter().map(|event| self.event(event)).collect()
    }

    fn event<'e>(&'e self, event: &'e Event<'e>) -> Event<'e> {
        let Condition { name, functions, logic } = &event.condition;
        let functions = functions.iter().map(|g| self.function(g)).collect();
        let condition = Condition { name: name.clone(), functions, logic: logic.clone() };
        Event { name: event.name.clone(), action: event.action, condition, touching: event.touching }
    }

    fn function<'e>(&'e self, g: &'e SwitchingFunction<'e>) -> SwitchingFunction<'e> {
        let buffers = RefCell::new((Vec::new(), Vec::new()));
        let value = move |t: f64, x: &[f64], xdot: &[f64]| {
            let (y, ydot): &mut (Vec<f64>, Vec<f64>) = &mut buffers.borrow_mut();
            y.clear();
            y.extend_from_slice(x);
            self.turn(y);
            ydot.clear();
            ydot.extend(xdot.iter().map(|x| -x));
            self.turn(ydot);
            (g.value)(-t, y, ydot)
        };
        let formula = g.formula.as_ref().map(|formula| {
            move |t: Expr, x: &[Expr]| {
                let y: Vec<Expr> =
                    x.iter().zip(self.signs.iter().chain(repeat(&1.0))).map(|(x, sign)| *x * *sign).collect();
                formula(-t, &y)
            }
        });
        let mut mirrored = SwitchingFunction::with_derivatives(g.name.clone(), value).with_formula(formula);
        (mirrored.strict, mirrored.uses_derivatives) = (g.strict, g.uses_derivatives);
        mirrored
    }

    pub fn solution<L: Clone>(&self, mut solution: Solution<L>) -> Solution<L> {
        solution.each_point(|t, x| {
            *t = -*t;
            self.turn(x);
        });
        for event in &mut solution.events {
            event.xdot.iter_mut().for_each(|rate| *rate = -*rate);
            self.turn(&mut event.xdot);
        }
        solution.methods.iter_mut().for_each(|(_, from)| *from = -*from);
        solution.segments.iter_mut().for_each(|segment| segment.mirror(&self.signs));
        for (name, factor) in solution.undetermined.iter_mut().flatten() {
            let place = solution.names.iter().position(|known| known == name);
            *factor *= place.and_then(|j| self.signs.get(j)).copied().unwrap_or(1.0);
        }
        if let Some(found) = &mut solution.verification {
            found.disagreements.iter_mut().for_each(|one| one.t = -one.t);
        }
        solution
    }

    pub fn error<L: Clone>(&self, error: SolveError<L>) -> SolveError<L> {
        match error {
            SolveError::Stopped { cause, partial } => {
                SolveError::Stopped { cause: seen(cause), partial: Box::new(self.solution(*partial)) }
            }
            SolveError::Start(StartFailure::Step(cause)) => SolveError::Start(StartFailure::Step(seen(cause))),
            error => error,
        }
    }
}

/// A failure at its own time, with formulas that are read more easily.
fn seen(mut failure: StepFailure) -> StepFailure {
    let t = failure.time_mut();
    *t = -*t;
    match &mut failure {
        StepFailure::FalseInvariant { rate, .. } | StepFailure::NotInvariant { rate, .. } => *rate = -*rate,
        StepFailure::Break { changed, .. } => *changed = read_easily(changed),
        StepFailure::Jump { formula, cause, .. } => {
            *formula = read_easily(formula);
            **cause = seen((**cause).clone());
        }
        _ => {}
    }
    failure
}

/// How the mirror image of a quantity is called in formulas.
pub fn called(name: &str) -> String {
    format!("(-{name})")
}

/// `-(-t)` is `t`, and `1 - (-t)` is `1 + t`.
fn read_easily(formula: &str) -> String {
    let is_name = |name: &str| name.chars().all(|c| c.is_alphanumeric() || "_.'".contains(c));
    let mut text = String::new();
    let mut rest = formula;
    while let Some((before, behind)) = rest.split_once("(-") {
        text.push_str(before);
        let (minus, named) =
            (text.trim_end().strip_suffix('-'), behind.split_once(')').filter(|(name, _)| is_name(name)));
        let (Some(minus), Some((name, later))) = (minus, named) else {
            text.push_str("(-");
            rest = behind;
            continue;
        };
        // a difference has something in front of its sign
        let is_difference = minus.trim_end().ends_with(|c: char| c.is_alphanumeric() || matches!(c, ')' | '_' | '\''));
        text = if is_difference { format!("{minus}+ {name}") } else { format!("{minus}{name}") };
        rest = later;
    }
    text.push_str(rest);
    text
}

/// Somebody who looks at a run through the mirror.
pub struct Looking<'o, 'i, L> {
    pub mirror: &'o Mirror,
    pub observer: &'o mut (dyn Observer<L> + 'i),
}

impl<L> Observer<L> for Looking<'_, '_, L> {
    fn begin(&mut self) {
        self.observer.begin();
    }

    fn observe(&mut self, step: &StepView<L>) -> ControlFlow<()> {
        let mut segment: Segment = step.segment.clone();
        segment.mirror(&self.mirror.signs);
        let x = self.mirror.values(step.x);
        self.observer.observe(&StepView {
            t: -step.t,
            x: &x,
            segment: &segment,
            layout: step.layout,
            statistics: step.statistics,
            residuals: step.residuals,
            progress: step.progress,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_of_the_mirror_are_read_easily() {
        assert_eq!(read_easily("-(-t) - 1"), "t - 1");
        assert_eq!(read_easily("1 - (-t)"), "1 + t");
        assert_eq!(read_easily("(-1.25) - (-t) + (-vx)"), "(-1.25) + t + (-vx)");
        assert_eq!(read_easily("sin(-(-vx))"), "sin(vx)");
        assert_eq!(read_easily("(-t) + 1"), "(-t) + 1");
        assert_eq!(read_easily("-(-t - 1)"), "-(-t - 1)");
    }

    #[test]
    fn events_see_what_the_user_sees() {
        let mirror = Mirror::new(vec![1.0, -1.0]);
        let g = SwitchingFunction::with_derivatives("g", |t, x, xdot| t + 10.0 * x[1] + 100.0 * xdot[0]);
        let events = [Event::when("g", crate::event::Action::Record, Condition::of(g))];
        let seen = mirror.events(&events);
        assert_eq!((seen[0].condition.functions[0].value)(-3.0, &[5.0, 2.0], &[4.0, 0.0]), 3.0 - 20.0 - 400.0);
    }
}
