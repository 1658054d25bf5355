//! Curves to begin with.

use super::curve::Curve;
use super::problem::General;
use super::scheme::SymmetricScheme;
use crate::dae::{Form, InForm, RegularisedSystem};
use crate::initial::Start;
use crate::method::radau::RadauIIa;
use crate::options::{Options, Save};
use crate::problem::Problem;
use crate::solve::solve;
use crate::tolerance::Tolerance;

/// Places at which a guess is brought onto the constraints.
const PLACES: usize = 8;
/// Periods after which a run may have settled.
const PERIODS: u32 = 20;
/// Tolerance of a run that is only a guess.
const ROUGH: f64 = 1e-4;

/// What an iteration begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GuessKind {
    /// curves that are given
    Curves,
    /// straight lines between the values at the ends
    Between,
    /// the solution that starts at the initial values
    Run,
    /// the same after many periods
    Settled,
}

impl GuessKind {
    pub fn name(self) -> &'static str {
        match self {
            GuessKind::Curves => "the curves that are given",
            GuessKind::Between => "straight lines between the ends",
            GuessKind::Run => "the run from the initial values",
            GuessKind::Settled => "the run from the initial values, after some periods",
        }
    }
}

/// Which guesses are tried, the best first.
pub(super) fn kinds(problem: &General, periodic: bool, autonomous: bool) -> Vec<GuessKind> {
    match (problem.near.is_empty(), periodic) {
        (false, _) => vec![GuessKind::Curves],
        // what does not move is periodic as well, and nearer to a straight line
        (true, true) if autonomous => vec![GuessKind::Run, GuessKind::Between],
        (true, true) => vec![GuessKind::Run, GuessKind::Settled, GuessKind::Between],
        (true, false) => vec![GuessKind::Between, GuessKind::Run],
    }
}

/// A guess as values at nodes, linear between them.
pub(super) struct Guess {
    nodes: Vec<(f64, Vec<f64>)>,
}

impl Guess {
    pub fn new(
        kind: GuessKind,
        problem: &General,
        of: &RegularisedSystem,
        start: &[f64],
        (t0, length): (f64, f64),
    ) -> Option<Self> {
        match kind {
            GuessKind::Run => run(problem, of, length, 0),
            GuessKind::Settled => run(problem, of, length, PERIODS),
            GuessKind::Curves | GuessKind::Between => Some(between(problem, of, start, (t0, length))),
        }
    }

    /// The guess on a mesh.
    pub fn on(&self, scheme: &SymmetricScheme, n: usize, (t0, length): (f64, f64), mesh: Vec<f64>) -> Curve {
        Curve::new(scheme, n, (t0, length), mesh, |tau, y| {
            let k = self.nodes.partition_point(|(node, _)| *node <= tau).clamp(1, self.nodes.len() - 1);
            let ((before, a), (after, b)) = (&self.nodes[k - 1], &self.nodes[k]);
            let part = ((tau - before) / (after - before)).clamp(0.0, 1.0);
            y.iter_mut().zip(a).zip(b).for_each(|((y, a), b)| *y = a + part * (b - a));
        })
    }
}

/// Lines between the values at the ends, or given curves, brought onto the constraints at some places.
fn between(problem: &General, of: &RegularisedSystem, start: &[f64], (t0, length): (f64, f64)) -> Guess {
    let (first, last) = (problem.starts(&problem.initial), problem.starts(&problem.last));
    let own = of.own();
    let known = |starts: &[Start], j: usize| match starts.get(j) {
        Some(Start::Fixed(x) | Start::Guess(x)) => Some(*x),
        _ => None,
    };
    let ends: Vec<(f64, f64)> = (0..own)
        .map(|j| {
            let (a, b) = (known(&first, j), known(&last, j));
            let a_or = a.or(b).unwrap_or(start[j]);
            (a_or, b.unwrap_or(a_or))
        })
        .collect();
    let origin = &problem.system.first.origin;
    let curve = |j: usize, tau: f64| -> f64 {
        let name = &of.names()[j];
        if let Some((_, f)) = problem.near.iter().find(|(of, _)| of == name) {
            return f(t0 + length * tau);
        }
        // the derivative of a state whose curve is known
        if let Some(&(state, 1)) = origin.get(j)
            && known(&first, j).is_none()
            && known(&last, j).is_none()
        {
            let state_name = &of.names()[state];
            if let Some((_, f)) = problem.near.iter().find(|(of, _)| of == state_name) {
                let h = 1e-4 * length;
                let t = t0 + length * tau;
                return (f(t + h) - f(t - h)) / (2.0 * h);
            }
            return (ends[state].1 - ends[state].0) / length;
        }
        ends[j].0 + tau * (ends[j].1 - ends[j].0)
    };
    let places = if problem.near.is_empty() { PLACES } else { 4 * PLACES };
    let mut before = start.to_vec();
    let nodes = (0..=places)
        .map(|k| {
            let tau = k as f64 / places as f64;
            let x: Vec<f64> = (0..own).map(|j| curve(j, tau)).collect();
            let y = of.consistent(t0 + length * tau, &x).filter(|y| y.iter().all(|y| y.is_finite()));
            let y = y.unwrap_or_else(|| {
                let mut y = before.clone();
                y[..own].copy_from_slice(&x);
                y
            });
            before.clone_from(&y);
            (tau, y)
        })
        .collect();
    Guess { nodes }
}

/// The run from the initial values, so many periods later.
fn run(problem: &General, of: &RegularisedSystem, length: f64, periods: u32) -> Option<Guess> {
    let system = of.system();
    let begin = problem.initial.t + f64::from(periods) * length;
    let start = Problem::new(system, problem.initial.clone(), begin + length);
    let options =
        Options { tolerance: Tolerance::new(ROUGH, ROUGH), save: Save::Steps, max_steps: 10_000, ..Options::default() };
    let radau = RadauIIa::default();
    let method = InForm { form: Form::QuasiLinear, integrator: &radau };
    let found = solve(&start, &method, &options).ok()?;
    if found.names != of.names() {
        return None;
    }
    // from the last point before the last period on
    let sense = length.signum();
    let first = found.times.iter().rposition(|&t| sense * t <= sense * begin)?;
    let nodes: Vec<(f64, Vec<f64>)> =
        (first..found.len()).map(|k| ((found.times[k] - begin) / length, found.state(k).to_vec())).collect();
    (nodes.len() > 1).then_some(Guess { nodes })
}
