//! A general system of index 3: which force moves a damped mass on a spring along x = sin t? `cargo run --example index_three`

use daedal::dae::analysis::{Scope, analyse};
use daedal::dae::{Equations, System};
use daedal::scalar::Scalar;
use daedal::{Initial, Options, Problem, RadauIIa, Tolerance, solve};
use std::error::Error;

const STIFFNESS: f64 = 4.0;
const DAMPING: f64 = 0.5;
const END: f64 = 3.0;

/// x' = v, v' = −k x − d v + u, 0 = x − sin t; nothing is said about u.
struct Prescribed;

impl Equations for Prescribed {
    fn dim(&self) -> usize {
        3
    }
    fn names(&self) -> Vec<String> {
        ["x", "v", "u"].map(String::from).to_vec()
    }
    fn residual<S: Scalar>(&self, t: S, x: &[S], xdot: &[S], r: &mut [S]) {
        r[0] = xdot[0] - x[1];
        r[1] = xdot[1] + x[0] * STIFFNESS + x[1] * DAMPING - x[2];
        r[2] = x[0] - t.sin();
    }
}

/// What is found.
pub struct Found {
    /// How often equations have to be differentiated.
    pub index: Option<usize>,
    /// Constraints that follow from the equations, as formulas.
    pub hidden: Vec<String>,
    /// The force at the end.
    pub force: f64,
}

/// The force that follows from the equations put by hand: u = (k − 1) sin t + d cos t.
pub fn exact() -> f64 {
    (STIFFNESS - 1.0) * END.sin() + DAMPING * END.cos()
}

/// Analyse and solve; all initial values are guesses, because the path determines them.
pub fn run() -> Result<Found, Box<dyn Error>> {
    let system = System::of(&Prescribed);
    let initial = Initial::new(0.0, &[0.0; 3]);
    let found = analyse(&system, &initial, Scope::default())?;
    let options = Options { tolerance: Tolerance::new(1e-8, 1e-8), ..Options::default() };
    let solution = solve(&Problem::new(&system, initial, END), &RadauIIa::default(), &options)?;
    Ok(Found {
        index: found.at.differentiation_index(),
        hidden: found.hidden.iter().map(|constraint| constraint.formula.clone()).collect(),
        force: solution.end_value("u").ok_or("no such unknown")?,
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let found = run()?;
    println!("differentiation index {:?}", found.index);
    for formula in &found.hidden {
        println!("hidden: 0 = {formula}");
    }
    println!("u({END}) = {:.9}, exact {:.9}", found.force, exact());
    Ok(())
}
