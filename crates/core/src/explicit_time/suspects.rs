//! Conditions that change where a run fails.
//!
//! A method cannot make steps across a point where a right-hand side jumps with the state, as dry friction does: its step size falls until it
//! gives up. All conditions of the formulas are evaluated at that point and a little later; the one whose zero is closest is named.

use crate::dae::System;
use crate::error::StepFailure;
use crate::graph::{Binary, Expr, Graph, Node, Tape, Unary};
use crate::method::Stepper;
use crate::motion::{Form, Layout, Mechanism};

/// A zero is at the point of failure if it is reached within so many of the last step, at the present rate.
const STEPS: f64 = 100.0;
/// Or within this part of the time since the start.
const PART: f64 = 1e-6;
/// Formulas in messages are cut after so many letters.
const SHOWN: usize = 80;

/// Formulas with names, and how a state is put into their inputs.
pub struct Suspects {
    graph: Graph,
    /// name and formula
    formulas: Vec<(String, Expr)>,
    time: usize,
    /// where x and ẋ stand among the inputs
    x: Vec<Option<usize>>,
    xdot: Vec<Option<usize>>,
}

impl Suspects {
    /// Of a general system.
    pub fn general(system: &System) -> Self {
        let first = system.first.bound();
        let place = |e: &Expr| Some(first.place(*e));
        let names = first.row_names.iter().map(|name| format!("equation `{name}`"));
        Suspects {
            formulas: names.zip(first.equations.iter().copied()).collect(),
            time: first.place(first.t),
            x: first.x.iter().map(place).collect(),
            xdot: first.xdot.iter().map(place).collect(),
            graph: first.graph,
        }
    }

    /// Of equations of motion, where they have formulas.
    pub fn motion(system: &dyn Mechanism) -> Option<Self> {
        let formulas = system.formulas()?.bound();
        let layout = Layout::new(formulas.sizes, Form::StrangenessFree, false);
        let names = &formulas.names;
        let mut named: Vec<(String, Expr)> = Vec::new();
        let blocks: [(&str, &[String], &[Expr]); 7] = [
            ("the force on", &names.velocities, &formulas.force),
            ("the kinematics of", &names.positions, &formulas.kinematics),
            ("the equation of", &names.dynamic, &formulas.dynamic),
            ("the equation of", &names.auxiliary, &formulas.auxiliary),
            ("the equation of", &names.contact, &formulas.contact),
            ("holonomic constraint", &names.holonomic, &formulas.holonomic),
            ("nonholonomic constraint", &names.nonholonomic, &formulas.nonholonomic),
        ];
        for (what, names, rows) in blocks {
            named.extend(names.iter().zip(rows).map(|(name, e)| (format!("{what} `{name}`"), *e)));
        }
        named.extend(formulas.mass.iter().map(|(i, _, m)| (format!("the mass of `{}`", names.velocities[*i]), *m)));
        // inputs: t, p, v, r, w, s, λ, μ, a
        let mut x = vec![None; layout.dim()];
        let blocks =
            [layout.p(), layout.v(), layout.r(), layout.w(), layout.s(), layout.lambda(), layout.mu(), layout.a()];
        for (place, j) in blocks.into_iter().flatten().enumerate() {
            x[j] = Some(place + 1);
        }
        Some(Suspects { graph: formulas.graph, formulas: named, time: 0, xdot: vec![None; x.len()], x })
    }

    /// The failure, with the formula that jumps or kinks where it happened, if there is one.
    pub fn explain(&self, stepper: &mut dyn Stepper, t0: f64, failure: StepFailure) -> StepFailure {
        let last = stepper.segment().t1 - stepper.segment().t0;
        let at_once = (PART * (stepper.state().t - t0)).max(f64::MIN_POSITIVE);
        match self.closest(stepper, at_once, at_once.max(STEPS * last)) {
            Some((formula, place)) => StepFailure::Jump { t: failure.time(), formula, place, cause: Box::new(failure) },
            None => failure,
        }
    }

    /// The condition whose zero is closest, if one is near: the formula that it decides, and where that stands.
    /// Steps end where conditions of time alone change, so these must change at once.
    fn closest(&self, stepper: &mut dyn Stepper, at_once: f64, near: f64) -> Option<(String, String)> {
        let mut all: Vec<(Expr, Expr, usize)> = Vec::new();
        for (k, (_, e)) in self.formulas.iter().enumerate() {
            for node in self.graph.needed(&[*e]) {
                if let Node::Select(c, ..) | Node::Unary(Unary::Abs, c) = self.graph.node(node) {
                    all.push((c, node, k));
                }
            }
        }
        let conditions: Vec<Expr> = all.iter().map(|(c, ..)| *c).collect();
        let tape = Tape::new(&self.graph, &conditions);
        let (t, x) = (stepper.state().t, stepper.state().x.clone());
        let mut xdot = vec![0.0; x.len()];
        stepper.rates(&mut xdot);
        let at = |ahead: f64| {
            let mut inputs = vec![0.0; self.graph.inputs().len()];
            inputs[self.time] = t + ahead;
            for (j, (x, xdot)) in x.iter().zip(&xdot).enumerate() {
                // auxiliary unknowns of a form are no inputs
                if let Some(place) = self.x.get(j).copied().flatten() {
                    inputs[place] = x + ahead * xdot;
                }
                if let Some(place) = self.xdot.get(j).copied().flatten() {
                    inputs[place] = *xdot;
                }
            }
            tape.evaluate(&inputs)
        };
        let (here, there) = (at(0.0), at(near));
        let distance = |k: usize| if here[k] == 0.0 { 0.0 } else { near * here[k].abs() / (there[k] - here[k]).abs() };
        let of_time = |k: usize| self.graph.depends_on(conditions[k]).iter().all(|input| *input == self.time);
        let limit = |k: usize| if of_time(k) { at_once } else { near };
        let found = (0..all.len()).map(|k| (k, distance(k))).filter(|(k, d)| *d <= limit(*k));
        let (k, _) = found.min_by(|a, b| a.1.total_cmp(&b.1))?;
        let (_, node, formula) = all[k];
        Some((written(&self.graph, node), self.formulas[formula].0.clone()))
    }
}

/// A selection as it was written: `sign(v)`, `max(a, b)`, `abs(x)`, `if(…)`.
fn written(graph: &Graph, node: Expr) -> String {
    let short = |text: String| match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    };
    let text = |e: Expr| graph.formula(e);
    let Node::Select(c, yes, no) = graph.node(node) else { return short(text(node)) };
    // sign(x) is 1, 0 or −1, in either nesting
    let is = |e: Expr, value: f64| graph.constant(e) == Some(value);
    let inner = |e: Expr| if let Node::Select(c, a, b) = graph.node(e) { Some((c, a, b)) } else { None };
    if is(no, -1.0) && inner(yes).is_some_and(|(_, a, b)| is(a, 0.0) && is(b, 1.0)) {
        return short(format!("sign({})", text(c)));
    }
    if is(yes, 0.0) && is(no, 1.0) {
        return short(format!("sign({})", text(c).trim_start_matches('-')));
    }
    if let Node::Binary(Binary::Sub, a, b) = graph.node(c) {
        for (name, first, second) in [("max", yes, no), ("min", no, yes)] {
            if (a, b) == (first, second) {
                return short(format!("{name}({}, {})", text(a), text(b)));
            }
        }
    }
    short(text(node))
}
