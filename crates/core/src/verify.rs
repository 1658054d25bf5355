//! An independent check of a run: the equations as they were written, at points inside of the steps, with derivatives by differences of
//! the solution itself.
//!
//! Nothing that a form or a method has derived is used: no hidden constraint, no projection, no rate. With weights wⱼ = atol + rtol |xⱼ|
//! of the tolerances of single steps, which collocation methods loosen to ⅒ rtol^⅔, and steps of size h, a solution whose values are off by wⱼ has derivatives that are off by wⱼ/h, so that a row of F(t, x, ẋ) = 0 may be off by
//!
//! ```text
//! Σⱼ |∂F/∂xⱼ| wⱼ + Σⱼ |∂F/∂ẋⱼ| wⱼ/h.
//! ```
//! Polynomials between the ends of steps are less accurate than the ends, by a factor; what is off by `DISAGREEMENT` times that much is
//! another solution.

use crate::dae::System;
use crate::graph::{Expr, Graph, Node, Tape};
use crate::method::Stepper;
use crate::scalar::{Dual, Scalar};
use crate::segment::Segment;
use std::collections::HashMap;
use std::fmt;

/// How many times what the tolerance allows a row may be off. Difference quotients over a twentieth of a step magnify errors of values some
/// thirty times. Measured on 37 of the shipped models at 1e-3, 1e-5, 1e-7, 1e-10: at most 11, and 23 for the wheelset at 1e-10; a lost term or
/// a pulse that was stepped over is off by its part of the terms of its row over the tolerance.
pub(crate) const DISAGREEMENT: f64 = 100.0;
/// Points at which a step is looked at, at least.
const POINTS_PER_STEP: f64 = 2.0;
/// Points over the interval of a run, so that a long step is looked at in many places.
const POINTS_PER_RUN: f64 = 400.0;
/// Distance of the values of a difference quotient, in parts of the step. Its error (δ⁴/30) x⁽⁵⁾ lies below that of any polynomial of
/// degree four over the step.
const REACH: f64 = 0.05;
/// Steps whose differences are shorter than this many units of rounding of time have no derivative.
const SHORTEST: f64 = 1e6;
/// Rounding in rows that are differences of large terms, in units of the bound of a running error analysis; difference quotients magnify
/// it some thirty times.
const ROUNDING: f64 = 1e3;

/// What the check of a run found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verification {
    /// How many points were looked at.
    pub points: u64,
    /// How many more were not, because a formula has no value there.
    pub skipped: u64,
    /// Equations that could not be looked at, because they contain unknowns that a run does not have.
    pub unchecked: Vec<String>,
    /// The largest residual, as a multiple of what the tolerance allows.
    pub worst: f64,
    /// Equations that the solution does not satisfy, the worst first, each with its worst point.
    pub disagreements: Vec<Disagreement>,
}

/// An equation that a solution does not satisfy.
#[derive(Clone, Debug, PartialEq)]
pub struct Disagreement {
    /// The equation.
    pub equation: String,
    /// Where it is off the most.
    pub t: f64,
    /// By how much.
    pub residual: f64,
    /// What the tolerance allows.
    pub allowed: f64,
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Disagreement { equation, residual, allowed, .. } = self;
        write!(
            f,
            "the solution does not satisfy {equation}: put in, it leaves {residual:.3e}, {:.0e} times what the tolerance allows; do not trust it there: compare with another method or formulation, or bound the steps by hmax",
            residual / allowed
        )
    }
}

impl Verification {
    /// That of a mode, whose name its equations get.
    pub(crate) fn of_mode(mut self, mode: &str) -> Self {
        let named = |equation: &mut String| *equation = format!("{equation} of mode {mode}");
        self.disagreements.iter_mut().for_each(|wrong| named(&mut wrong.equation));
        self.unchecked.iter_mut().for_each(named);
        self
    }

    /// Together with the check of another part of the run.
    pub(crate) fn add(&mut self, other: Verification) {
        self.points += other.points;
        self.skipped += other.skipped;
        self.worst = self.worst.max(other.worst);
        self.unchecked.extend(other.unchecked);
        self.disagreements.extend(other.disagreements);
        self.disagreements.sort_by(|a, b| (b.residual / b.allowed).total_cmp(&(a.residual / a.allowed)));
    }
}

/// Looks at the steps of a run.
pub(crate) struct Verifier {
    /// names of the rows that are looked at
    rows: Vec<String>,
    unchecked: Vec<String>,
    /// F, then ∂F/∂x, then ∂F/∂ẋ
    tape: Tape,
    sizes: TermSizes,
    /// (row, unknown) of the derivatives, ∂F/∂x first
    by_x: Vec<(usize, usize)>,
    by_xdot: Vec<(usize, usize)>,
    /// where time, unknowns and derivatives stand among the inputs
    inputs: usize,
    time: usize,
    x: Vec<usize>,
    xdot: Vec<usize>,
    /// where the unknowns stand in a state, and their rtol and atol
    places: Vec<usize>,
    tolerances: Vec<(f64, f64)>,
    /// length of the interval of the run
    interval: f64,
    /// for each row its worst point: multiple, t, residual, allowed
    worst: Vec<(f64, f64, f64, f64)>,
    points: u64,
    skipped: u64,
}

impl Verifier {
    /// For the equations of a system whose unknowns have these names in the states of a run; `tolerances` are those of a state.
    pub fn new(system: &System, names: &[String], tolerances: &[(f64, f64)], interval: f64) -> Self {
        let mut first = system.first.bound();
        let mut places: HashMap<&str, usize> = HashMap::with_capacity(names.len());
        for (k, name) in names.iter().enumerate() {
            places.entry(name.as_str()).or_insert(k);
        }
        let known: Vec<Option<usize>> = first.names.iter().map(|name| places.get(name.as_str()).copied()).collect();
        // a row with an unknown that the run does not have cannot be looked at
        let mut stranger = vec![false; first.graph.inputs().len()];
        for j in (0..first.dim()).filter(|&j| known[j].is_none()) {
            (stranger[first.place(first.x[j])], stranger[first.place(first.xdot[j])]) = (true, true);
        }
        let inputs = first.graph.dependencies(&first.equations);
        let (seen, unseen): (Vec<usize>, Vec<usize>) =
            (0..first.rows()).partition(|&i| !inputs[i].iter().any(|&input| stranger[input]));
        let name = |i: usize| first.row_names[i].clone();
        let (rows, unchecked) =
            (seen.iter().map(|&i| name(i)).collect::<Vec<_>>(), unseen.iter().map(|&i| name(i)).collect());
        let equations: Vec<Expr> = seen.iter().map(|&i| first.equations[i]).collect();
        let (x, xdot) = (first.x.clone(), first.xdot.clone());
        let slope = first.graph.jacobian(&equations, &x);
        let leading = first.graph.jacobian(&equations, &xdot);
        let outputs = [&equations[..], &slope.entries, &leading.entries].concat();
        let graph = &first.graph;
        Verifier {
            unchecked,
            tape: Tape::new(graph, &outputs),
            sizes: TermSizes::new(graph, &equations),
            by_x: slope.iter().map(|(i, j, _)| (i, j)).collect(),
            by_xdot: leading.iter().map(|(i, j, _)| (i, j)).collect(),
            inputs: graph.inputs().len(),
            time: first.place(first.t),
            x: x.iter().map(|&e| first.place(e)).collect(),
            xdot: xdot.iter().map(|&e| first.place(e)).collect(),
            // unknowns that the run does not have enter no row that is looked at
            places: known.iter().map(|place| place.unwrap_or(0)).collect(),
            tolerances: known.iter().map(|place| of_steps(tolerances[place.unwrap_or(0)])).collect(),
            interval,
            worst: vec![(0.0, 0.0, 0.0, 0.0); rows.len()],
            rows,
            points: 0,
            skipped: 0,
        }
    }

    /// Look at the last step, up to a time.
    pub fn step(&mut self, stepper: &mut dyn Stepper, end: f64) {
        let (begin, n) = (stepper.segment().t0, stepper.state().x.len());
        self.between((begin, end), n, |t, x| stepper.inside(t, x));
    }

    /// Look at a polynomial.
    pub fn stretch(&mut self, segment: &Segment) {
        self.between((segment.t0, segment.t1), segment.dim(), |t, x| segment.eval(t, x));
    }

    fn between(&mut self, (begin, end): (f64, f64), n: usize, mut inside: impl FnMut(f64, &mut [f64])) {
        let h = end - begin;
        let delta = REACH * h;
        if !(delta > SHORTEST * f64::EPSILON * begin.abs().max(end.abs())) {
            return;
        }
        let count = (POINTS_PER_RUN * h / self.interval).ceil().max(POINTS_PER_STEP);
        let mut values = vec![vec![0.0; n]; 5];
        for k in 0..count as usize {
            let theta = (k as f64 + 0.5) / count;
            let t = begin + 2.0 * delta + (h - 4.0 * delta) * theta;
            for (value, steps) in values.iter_mut().zip([-2.0, -1.0, 0.0, 1.0, 2.0]) {
                inside(t + steps * delta, value);
            }
            self.look(t, delta, h, &values);
        }
    }

    /// The equations at t, from values at t − 2δ, t − δ, t, t + δ, t + 2δ.
    fn look(&mut self, t: f64, delta: f64, h: f64, values: &[Vec<f64>]) {
        let derivative =
            |j: usize| (8.0 * (values[3][j] - values[1][j]) - (values[4][j] - values[0][j])) / (12.0 * delta);
        let xdot: Vec<f64> = self.places.iter().map(|&j| derivative(j)).collect();
        let x: Vec<f64> = self.places.iter().map(|&j| values[2][j]).collect();
        let inputs = self.inputs_at(t, &x, &xdot);
        let all = self.tape.evaluate(&inputs);
        if all.iter().any(|value| !value.is_finite()) {
            self.skipped += 1;
            return;
        }
        self.points += 1;
        let (residuals, derivatives) = all.split_at(self.rows.len());
        let (by_x, by_xdot) = derivatives.split_at(self.by_x.len());
        let mut allowed = vec![0.0; residuals.len()];
        let weight = |j: usize| self.tolerances[j].1 + self.tolerances[j].0 * x[j].abs();
        for (&(i, j), d) in self.by_x.iter().zip(by_x) {
            allowed[i] += d.abs() * weight(j);
        }
        for (&(i, j), d) in self.by_xdot.iter().zip(by_xdot) {
            allowed[i] += d.abs() * weight(j) / h;
        }
        // rows whose terms cancel, or that depend on nothing but time, have no tolerance: what is left of them is rounding. That of time
        // moves the values
        let moved: Vec<f64> = x.iter().zip(&xdot).map(|(x, xdot)| x.abs() + (t * xdot).abs()).collect();
        let sizes = self.sizes.of(&inputs, &self.inputs_at(t, &moved, &xdot));
        for (((worst, &residual), allowed), size) in self.worst.iter_mut().zip(residuals).zip(allowed).zip(sizes) {
            let allowed = allowed + ROUNDING * f64::EPSILON * size;
            let multiple = residual.abs() / allowed;
            if multiple > worst.0 {
                *worst = (multiple, t, residual.abs(), allowed);
            }
        }
    }

    fn inputs_at(&self, t: f64, x: &[f64], xdot: &[f64]) -> Vec<f64> {
        let mut inputs = vec![0.0; self.inputs];
        inputs[self.time] = t;
        self.x.iter().zip(x).for_each(|(&input, &value)| inputs[input] = value);
        self.xdot.iter().zip(xdot).for_each(|(&input, &value)| inputs[input] = value);
        inputs
    }

    /// What was found.
    pub fn finish(self) -> Verification {
        let mut found = Verification {
            points: self.points,
            skipped: self.skipped,
            unchecked: self.unchecked,
            worst: self.worst.iter().fold(0.0, |top, worst| f64::max(top, worst.0)),
            disagreements: Vec::new(),
        };
        let rows = self.rows.into_iter().zip(self.worst);
        let disagreements = rows
            .filter(|(_, worst)| worst.0 > DISAGREEMENT)
            .map(|(equation, (_, t, residual, allowed))| Disagreement { equation, t, residual, allowed })
            .collect();
        found.add(Verification { disagreements, ..Verification::default() });
        found
    }
}

/// How large the terms of rows are: what rounding of every operation and every input leaves of a row, in units of rounding, to first
/// order. So rows are measured in their own units.
struct TermSizes {
    /// nodes that the rows need, arguments first, with the places of their arguments in this list
    nodes: Vec<(Node, [usize; 3])>,
    /// places of the rows
    rows: Vec<usize>,
}

impl TermSizes {
    fn new(graph: &Graph, rows: &[Expr]) -> Self {
        let order = graph.needed(rows);
        let mut places = vec![0; graph.len()];
        order.iter().enumerate().for_each(|(k, e)| places[e.index()] = k);
        let placed = |e: &Expr| {
            let mut arguments = [0; 3];
            let found = graph.node(*e).arguments();
            arguments.iter_mut().zip(found).for_each(|(place, argument)| *place = places[argument.index()]);
            (graph.node(*e), arguments)
        };
        TermSizes { nodes: order.iter().map(placed).collect(), rows: rows.iter().map(|e| places[e.index()]).collect() }
    }

    /// Of all rows, from values and sizes of the inputs.
    fn of(&self, inputs: &[f64], input_sizes: &[f64]) -> Vec<f64> {
        let mut known: Vec<(f64, f64)> = Vec::with_capacity(self.nodes.len());
        for &(node, [a, b, c]) in &self.nodes {
            let moving = |place: usize, lane: usize| Dual::<f64, 2>::variable(known[place].0, lane);
            let result = match node {
                Node::Constant(value) => (value, value.abs()),
                Node::Input(i) => (inputs[i], input_sizes[i].abs()),
                Node::Select(..) => known[if known[a].0 >= 0.0 { b } else { c }],
                Node::Unary(f, _) => propagated(f.of(moving(a, 0)), [known[a].1, 0.0]),
                Node::Powi(_, n) => propagated(moving(a, 0).powi(n), [known[a].1, 0.0]),
                Node::Powf(_, n) => propagated(moving(a, 0).powf(n), [known[a].1, 0.0]),
                Node::Binary(f, ..) => propagated(f.of(moving(a, 0), moving(b, 1)), [known[a].1, known[b].1]),
            };
            known.push(result);
        }
        self.rows.iter().map(|&row| known[row].1).collect()
    }
}

/// Value and size of a function of arguments with these sizes.
fn propagated(f: Dual<f64, 2>, sizes: [f64; 2]) -> (f64, f64) {
    // what is zero stays zero, however steep the function is
    let moved = |k: usize| if sizes[k] == 0.0 || f.lanes[k] == 0.0 { 0.0 } else { (f.lanes[k] * sizes[k]).abs() };
    (f.value, f.value.abs() + moved(0) + moved(1))
}

/// The tolerance of a single step of a collocation method, unless that is stricter than the given one.
fn of_steps((rtol, atol): (f64, f64)) -> (f64, f64) {
    let loosened = (0.1 * rtol.powf(-1.0 / 3.0)).max(1.0);
    (rtol * loosened, atol * loosened)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dae::{Equations, Form, prepare};
    use crate::initial::Initial;
    use crate::method::Integrator;
    use crate::options::Options;
    use crate::scalar::Scalar;
    use crate::{Bdf, RadauIIa, Tolerance};

    /// x' = −k(t) x + y, 0 = y − sin t, where k rises by `bump` between t = 2 and t = 2.1; all rows in the unit `unit`.
    struct Decay {
        bump: f64,
        unit: f64,
    }

    impl Equations for Decay {
        fn dim(&self) -> usize {
            2
        }
        fn residual<S: Scalar>(&self, t: S, x: &[S], xdot: &[S], r: &mut [S]) {
            let inside = (t - 2.0).select((-t + 2.1).select(S::from(self.bump), S::from(0.0)), S::from(0.0));
            r[0] = (xdot[0] + (inside + 1.0) * x[0] - x[1]) * self.unit;
            r[1] = (x[1] - t.sin()) * self.unit;
        }
    }

    /// A run of one system, looked at with the equations of another.
    fn verify(integrator: &dyn Integrator, tolerance: f64, solved: f64, written: f64) -> Verification {
        verify_in(1.0, integrator, tolerance, solved, written)
    }

    fn verify_in(unit: f64, integrator: &dyn Integrator, tolerance: f64, solved: f64, written: f64) -> Verification {
        let options = Options { tolerance: Tolerance::new(tolerance, tolerance), ..Options::default() };
        let solved =
            prepare(&System::of(&Decay { bump: solved, unit: 1.0 }), &Initial::new(0.0, &[1.0, 0.0]), Form::Plain)
                .unwrap();
        let mut verifier = Verifier::new(
            &System::of(&Decay { bump: written, unit }),
            &solved.names,
            &[(tolerance, tolerance); 2],
            5.0,
        );
        let mut stepper = integrator.start(solved.dae, solved.at, &options).unwrap();
        stepper.watch_between();
        while stepper.state().t < 5.0 {
            stepper.advance(5.0).unwrap();
            let end = stepper.state().t;
            verifier.step(&mut *stepper, end);
        }
        verifier.finish()
    }

    #[test]
    fn a_solution_satisfies_its_own_equations() {
        for tolerance in [1e-3, 1e-6, 1e-9] {
            for integrator in [&RadauIIa::default() as &dyn Integrator, &Bdf::default()] {
                let found = verify(integrator, tolerance, 0.0, 0.0);
                assert!(found.disagreements.is_empty() && found.worst < 0.3 * DISAGREEMENT, "{found:?}");
                assert!(found.points >= 400, "{found:?}");
            }
        }
    }

    #[test]
    fn a_pulse_that_was_stepped_over_is_found_where_it_is() {
        for tolerance in [1e-3, 1e-6, 1e-9] {
            let found = verify(&RadauIIa::default(), tolerance, 0.0, 50.0);
            let [worst] = &found.disagreements[..] else { panic!("{found:?}") };
            assert!(worst.equation.contains('0') && worst.t > 2.0 && worst.t < 2.1, "{worst:?}");
            assert!(worst.to_string().contains("does not satisfy"), "{worst}");
        }
    }

    #[test]
    fn rows_are_measured_in_their_own_units() {
        for unit in [1e-25, 1e25] {
            let found = verify_in(unit, &RadauIIa::default(), 1e-6, 0.0, 0.0);
            assert!(found.disagreements.is_empty() && found.worst > 1e-3, "{found:?}");
            let found = verify_in(unit, &RadauIIa::default(), 1e-6, 0.0, 50.0);
            assert_eq!(found.disagreements.len(), 1, "{found:?}");
        }
    }

    #[test]
    fn what_cancels_is_as_large_as_its_terms() {
        let mut graph = Graph::new();
        let (t, x) = (graph.input("t"), graph.input("x"));
        let rows = graph.with(|| vec![(t.sin() * t.sin() + t.cos() * t.cos() - 1.0) * 1e-20, (x + 1e6) - x, x.sqrt()]);
        let sizes = TermSizes::new(&graph, &rows).of(&[1.0, 0.0], &[1.0, 0.0]);
        assert!(sizes[0] > 1e-20 && sizes[0] < 1e-18, "{sizes:?}");
        assert!(sizes[1] >= 1e6 && sizes[1] < 1e7 && sizes[2] == 0.0, "{sizes:?}");
    }

    #[test]
    fn rows_with_unknowns_that_a_run_does_not_have_are_named() {
        let system = System::of(&Decay { bump: 0.0, unit: 1.0 });
        let verifier = Verifier::new(&system, &["x1".to_string()], &[(1e-6, 1e-6)], 1.0);
        assert_eq!(verifier.finish().unchecked.len(), 2);
    }
}
