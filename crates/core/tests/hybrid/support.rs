//! Small systems, and how they are run.

use daedal::dae::{Equations, Form, System};
use daedal::graph::Expr;
use daedal::hybrid::{
    Condition, Hybrid, HybridError, HybridFailure, HybridOptions, HybridSolution, Mode, SwitchingFunction, Transition,
};
use daedal::method::Integrator;
use daedal::scalar::Scalar;
use daedal::{Bdf, Initial, Options, Problem, RadauIIa, Tolerance, solve};

/// x' = A x + b + t c.
#[derive(Clone, Debug)]
pub struct Affine {
    pub A: Vec<Vec<f64>>,
    pub b: Vec<f64>,
    pub c: Vec<f64>,
}

impl Affine {
    /// x' = b.
    pub fn constant(b: &[f64]) -> Self {
        Affine { A: vec![vec![0.0; b.len()]; b.len()], b: b.to_vec(), c: vec![0.0; b.len()] }
    }

    /// x' = b + t c.
    pub fn ramp(b: &[f64], c: &[f64]) -> Self {
        Affine { c: c.to_vec(), ..Self::constant(b) }
    }
}

impl Equations for Affine {
    fn dim(&self) -> usize {
        self.b.len()
    }
    fn residual<S: Scalar>(&self, t: S, x: &[S], xdot: &[S], r: &mut [S]) {
        for i in 0..self.dim() {
            r[i] = xdot[i] - self.b[i] - t * self.c[i];
            for j in 0..self.dim() {
                r[i] -= x[j] * self.A[i][j];
            }
        }
    }
}

/// The methods of general systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Radau,
    Bdf,
}

pub const METHODS: [Method; 2] = [Method::Radau, Method::Bdf];

/// A mode with a method.
pub fn mode(name: &str, equations: &impl Equations, method: Method) -> Mode<'static> {
    match method {
        Method::Radau => with(name, equations, RadauIIa::default()),
        Method::Bdf => with(name, equations, Bdf::default()),
    }
}

fn with(name: &str, equations: &impl Equations, integrator: impl Integrator + 'static) -> Mode<'static> {
    Mode::general(name, System::of(equations), Form::Auto, integrator)
}

/// Modes a, b, c, … that all have x' = 1 and the same unknown, x = t from x(0) = 0.
pub fn clocks(count: usize, method: Method) -> Hybrid<'static> {
    let mut hybrid = Hybrid::new();
    for name in ["a", "b", "c", "d", "e"].iter().take(count) {
        hybrid.mode(mode(name, &Affine::constant(&[1.0]), method));
    }
    hybrid
}

/// Left when x ≥ limit.
pub fn above(from: usize, to: usize, limit: f64) -> Transition<'static> {
    Transition::when(from, to, format!("x >= {limit}"), move |_, x| limit - x[0])
}

/// A condition along whose surface a system may slide.
pub fn surface(
    name: &str,
    value: impl Fn(f64, &[f64]) -> f64 + 'static,
    formula: impl Fn(Expr, &[Expr]) -> Expr + 'static,
) -> Condition<'static> {
    let mut function = SwitchingFunction::new(name, value);
    function.formula = Some(Box::new(formula));
    Condition::of(function)
}

/// Options with one tolerance.
pub fn tolerance(tol: f64) -> Options {
    Options { tolerance: Tolerance::new(tol, tol), ..Options::default() }
}

/// Run from mode 0 at t = 0.
pub fn run(hybrid: &Hybrid, x0: &[f64], tend: f64) -> Result<HybridSolution, HybridError> {
    solve(&Problem::new(hybrid, Initial::new(0.0, x0), tend), &HybridOptions::default(), &tolerance(1e-9))
}

/// Run from mode 0 at t = 0; it must reach its end.
#[track_caller]
pub fn reach(hybrid: &Hybrid, x0: &[f64], tend: f64) -> HybridSolution {
    run(hybrid, x0, tend).unwrap_or_else(|error| panic!("{}", told(&error)))
}

/// Why a run stopped, and what it had computed.
#[track_caller]
pub fn stopped(result: Result<HybridSolution, HybridError>) -> (HybridFailure, HybridSolution) {
    match result {
        Err(HybridError::Stopped { cause, partial }) => (*cause, *partial),
        Err(error) => panic!("{error}"),
        Ok(solution) => panic!("the run reached t = {} with {:?}", solution.end.t, solution.mode_trajectory()),
    }
}

/// An error with its causes.
pub fn told(error: &HybridError) -> String {
    match error {
        HybridError::Stopped { cause, partial } => format!("{error}: {cause}; {:?}", partial.warnings),
        _ => error.to_string(),
    }
}

/// The switches, as "a b 0.3".
#[track_caller]
pub fn expect(solution: &HybridSolution, switches: &[(f64, &str, &str)], accuracy: f64) {
    let found = solution.mode_trajectory();
    let same = found.len() == switches.len()
        && found.iter().zip(switches).all(|(found, wanted)| {
            (found.0 - wanted.0).abs() <= accuracy && found.1 == wanted.1 && found.2 == wanted.2
        });
    assert!(same, "found {found:?}\nwanted {switches:?}");
}
