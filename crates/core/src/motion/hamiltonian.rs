//! Is a system Hamiltonian, H = ½ vᵀM(q)v + U(q)?
//!
//! ```text
//! f(q, v) = −U_q + ½ ∂_q(vᵀMv) − ∂_q(Mv) v          that is       ∂f/∂q symmetric at rest, and the rest inertia terms
//! ```
//! Where derivatives are the same formulas, this is proved. Otherwise it is a sum that cancels: it is decided at random points in
//! regions of several sizes around the start, with every branch of every `select` taken in turn, wherever it would be taken. What is decided so is
//! said, and looked at again along the run ([`ForceTest`]).

use super::{Formulas, Structure};
use crate::analysis::random::Random;
use crate::graph::{Expr, Graph, Node, Tape};

/// Points of each region and branch.
const POINTS: usize = 12;
/// Sizes of the regions, relative to 1 + |q| and 1 + |v|.
const REGIONS: [f64; 3] = [0.05, 0.5, 2.5];
/// The same where conditions are looked for that change: far away, too.
const WIDE: [f64; 4] = [0.5, 5.0, 50.0, 500.0];
/// What does not fit, relative to the size of derivatives of forces, and of forces.
const ROUNDING: [f64; 2] = [1e-9, 1e-10];
/// Branches beyond this many are not looked at.
const MOST_BRANCHES: usize = 32;

/// What is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hamiltonian {
    /// The formulas prove it.
    Proved,
    /// It is, at this many random points.
    Generic {
        /// How many.
        points: usize,
    },
    /// It is not, or cannot be shown to be.
    Not(&'static str),
}

const SKEW: &str = "its forces have no potential: their derivatives by the positions are not symmetric";
const DAMPED: &str = "its forces depend on velocities beyond the inertia terms of the mass matrix, as damping does";
const JUMPS: &str = "its forces jump where a condition changes, so that they have no smooth potential";
const BRANCHES: &str = "its forces have too many branches to look at each of them";

impl Formulas {
    /// Is the system Hamiltonian? The parameters are bound; (q, v) is the start.
    pub fn hamiltonian(&self, structure: Structure, q: &[f64], v: &[f64]) -> Hamiltonian {
        let n = self.sizes;
        if n.dynamic > 0 {
            return Hamiltonian::Not("it has force elements with states of their own, which have no energy");
        }
        if n.nonholonomic > 0 {
            return Hamiltonian::Not("it has nonholonomic constraints, so that it is not Hamiltonian");
        }
        if n.auxiliary > 0 || n.contact > 0 {
            return Hamiltonian::Not("it has auxiliary or contact variables");
        }
        if !structure.autonomous {
            return Hamiltonian::Not("time enters its equations, so that its energy is not constant");
        }
        if n.positions != n.velocities {
            return Hamiltonian::Not("it has more positions than velocities, so that M v are not the momenta of p");
        }
        if !structure.kinematics.is_plain() {
            return Hamiltonian::Not("its velocities are not the derivatives of its positions");
        }
        if self.forces_depend_on_positions_symmetrically() {
            return Hamiltonian::Proved;
        }
        let all: Vec<Expr> = self.force.iter().copied().chain(self.mass.iter().map(|(_, _, m)| *m)).collect();
        let is_select = |e: &Expr| matches!(self.graph.node(*e), Node::Select(..));
        let selects: Vec<Expr> = self.graph.needed(&all).into_iter().filter(is_select).collect();
        if selects.len() > MOST_BRANCHES {
            return Hamiltonian::Not(BRANCHES);
        }
        let mut points = 0;
        let mut look = |formulas: &Formulas| {
            let mut test = ForceTest::new(formulas);
            each_point(&REGIONS, q, v, |q, v| match test.at(q, v) {
                Some(Err(why)) => Some(why),
                Some(Ok(())) => {
                    points += 1;
                    None
                }
                None => None,
            })
        };
        let mut why = look(self);
        for select in selects {
            let branches = self.branches(select);
            why = why.or_else(|| branches.iter().find_map(&mut look)).or_else(|| jump(&branches, self, select, q, v));
        }
        match why {
            Some(why) => Hamiltonian::Not(why),
            None if points == 0 => Hamiltonian::Not("its forces have no value at any point that was looked at"),
            None => Hamiltonian::Generic { points },
        }
    }

    /// The same with a select that takes its first branch everywhere, and its second one.
    fn branches(&self, select: Expr) -> [Formulas; 2] {
        let Node::Select(_, yes, no) = self.graph.node(select) else { return [self.clone(), self.clone()] };
        [yes, no].map(|branch| {
            let mut own = self.clone();
            own.force = own.graph.substitute(&own.force, &[(select, branch)]);
            let mass: Vec<Expr> = own.mass.iter().map(|(_, _, m)| *m).collect();
            let mass = own.graph.substitute(&mass, &[(select, branch)]);
            own.mass.iter_mut().zip(mass).for_each(|((_, _, old), new)| *old = new);
            own
        })
    }

    /// Is M constant, and are the forces independent of v with the same formulas on both sides of the diagonal of ∂f/∂q?
    fn forces_depend_on_positions_symmetrically(&self) -> bool {
        let at = self.variables();
        let needed = self.graph.needed(&self.force);
        if self.mass.iter().any(|(_, _, m)| self.graph.constant(*m).is_none())
            || at.v().iter().any(|v| needed.contains(v))
        {
            return false;
        }
        // a select may jump, which no derivative shows
        if needed.iter().any(|e| matches!(self.graph.node(*e), Node::Select(..))) {
            return false;
        }
        let mut graph = self.graph.clone();
        slopes(&mut graph, &self.force, at.p()).iter().all(|[one, other]| one == other)
    }
}

/// Call with the start and with random points around it, until there is an answer.
fn each_point(
    regions: &[f64],
    q: &[f64],
    v: &[f64],
    mut look: impl FnMut(&[f64], &[f64]) -> Option<&'static str>,
) -> Option<&'static str> {
    let mut random = Random::default();
    let mut around =
        |x: &[f64], size: f64| -> Vec<f64> { x.iter().map(|x| x + size * (1.0 + x.abs()) * random.next()).collect() };
    look(q, v).or_else(|| {
        regions.iter().find_map(|&size| {
            (0..POINTS).find_map(|_| {
                let (q, v) = (around(q, size), around(v, size.max(1.0)));
                look(&q, &v)
            })
        })
    })
}

/// Do the forces of two branches differ where the condition of their select vanishes?
fn jump(branches: &[Formulas; 2], all: &Formulas, select: Expr, q: &[f64], v: &[f64]) -> Option<&'static str> {
    let Node::Select(condition, ..) = all.graph.node(select) else { return None };
    let condition = Tape::new(&all.graph, &[condition]);
    let forces = branches.each_ref().map(|one| Tape::new(&one.graph, &one.force));
    let mut inputs = vec![0.0; all.graph.inputs().len()];
    let n = q.len();
    let mut last: Option<(Vec<f64>, f64)> = None;
    each_point(&WIDE, q, v, |q, v| {
        inputs[1..=n].copy_from_slice(q);
        inputs[1 + n..=2 * n].copy_from_slice(v);
        let c = condition.evaluate(&inputs)[0];
        let (mut low, before) = last.replace((inputs.clone(), c))?;
        if !(before * c < 0.0) {
            return None;
        }
        // bisection between two points of different sign
        let mut high = inputs.clone();
        for _ in 0..100 {
            let middle: Vec<f64> = low.iter().zip(&high).map(|(a, b)| 0.5 * (a + b)).collect();
            let side = if condition.evaluate(&middle)[0] * before > 0.0 { &mut low } else { &mut high };
            *side = middle;
        }
        let [yes, no] = forces.each_ref().map(|tape| tape.evaluate(&high));
        let size = yes.iter().chain(&no).fold(1.0_f64, |m, f| m.max(f.abs()));
        let jump = yes.iter().zip(&no).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
        (size.is_finite() && jump > 1e-8 * size).then_some(JUMPS)
    })
}

/// Entries of a matrix of derivatives below its diagonal, each with its image above; zero where there is none.
fn slopes(graph: &mut Graph, f: &[Expr], q: &[Expr]) -> Vec<[Expr; 2]> {
    let zero = graph.with(|| Expr::from(0.0));
    let jacobian = graph.jacobian(f, q);
    let mut pairs: std::collections::BTreeMap<(usize, usize), [Expr; 2]> = std::collections::BTreeMap::new();
    for (i, k, e) in jacobian.iter().filter(|(i, k, _)| i != k) {
        pairs.entry((i.max(k), i.min(k))).or_insert([zero; 2])[usize::from(i < k)] = e;
    }
    pairs.into_values().collect()
}

/// The identities of conservative forces at a point, with scratch space.
#[derive(Debug)]
pub(crate) struct ForceTest {
    tape: Tape,
    inputs: Vec<f64>,
    registers: Vec<f64>,
    /// pairs of slopes, then f, f at rest, ½ ∂_q(vᵀMv) and ∂_q(Mv) v
    outputs: Vec<f64>,
    pairs: usize,
}

impl ForceTest {
    /// Of formulas whose parameters are bound.
    pub fn new(formulas: &Formulas) -> Self {
        let at = formulas.variables();
        let mut graph = formulas.graph.clone();
        let rest: Vec<(Expr, f64)> = at.v().iter().map(|&v| (v, 0.0)).collect();
        let at_rest = graph.bind(&formulas.force, &rest);
        let slopes = slopes(&mut graph, &at_rest, at.p());
        let n = at.v().len();
        let momentum = graph.with(|| {
            let mut sums = vec![Expr::from(0.0); n];
            formulas.mass.iter().for_each(|&(i, j, m)| sums[i] += m * at.v()[j]);
            sums
        });
        let by_q = graph.jacobian(&momentum, at.p());
        let (gradient, rate) = graph.with(|| {
            let (mut gradient, mut rate) = (vec![Expr::from(0.0); n], vec![Expr::from(0.0); n]);
            for (i, k, slope) in by_q.iter() {
                gradient[k] += at.v()[i] * slope * 0.5;
                rate[i] += slope * at.v()[k];
            }
            (gradient, rate)
        });
        let mut outputs: Vec<Expr> = slopes.iter().flatten().copied().collect();
        for block in [&formulas.force, &at_rest, &gradient, &rate] {
            outputs.extend(block);
        }
        let tape = Tape::new(&graph, &outputs);
        ForceTest {
            inputs: vec![0.0; graph.inputs().len()],
            registers: vec![0.0; tape.registers()],
            outputs: vec![0.0; outputs.len()],
            pairs: slopes.len(),
            tape,
        }
    }

    /// Do they hold? If not, why; no answer where the forces have no value.
    pub fn at(&mut self, q: &[f64], v: &[f64]) -> Option<Result<(), &'static str>> {
        let n = q.len();
        self.inputs[1..=n].copy_from_slice(q);
        self.inputs[1 + n..=2 * n].copy_from_slice(v);
        self.tape.run(&self.inputs, &mut self.registers, &mut self.outputs);
        let largest = |values: &[f64]| values.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let (slopes, forces) = self.outputs.split_at(2 * self.pairs);
        if !self.outputs.iter().all(|x| x.is_finite()) {
            return None;
        }
        let skew = slopes.chunks_exact(2).fold(0.0_f64, |m, pair| m.max((pair[0] - pair[1]).abs()));
        if skew > ROUNDING[0] * largest(slopes) {
            return Some(Err(SKEW));
        }
        let excess = (0..n).fold(0.0_f64, |m, i| {
            let [f, rest, gradient, rate] = [0, 1, 2, 3].map(|block| forces[block * n + i]);
            m.max((f - rest - gradient + rate).abs())
        });
        Some(if excess > ROUNDING[1] * largest(forces) { Err(DAMPED) } else { Ok(()) })
    }
}
