//! Events and the solution between steps: the period of a pendulum, and where it is at any time. `cargo run --example dense_output`

use daedal::linalg::Matrix;
use daedal::motion::{EquationsOfMotion, Motion, Names, Position, Sizes};
use daedal::scalar::Scalar;
use daedal::{Hedop5, Initial, Options, Problem, Save, Tolerance, solve};
use std::error::Error;
use std::f64::consts::TAU;

const GRAVITY: f64 = 9.81;
/// Released from here, at rest.
const START: [f64; 2] = [0.8, -0.6];

/// A point mass on a rod.
struct Pendulum;

impl EquationsOfMotion for Pendulum {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 2, velocities: 2, holonomic: 1, ..Sizes::default() }
    }
    fn names(&self) -> Names {
        Names::numbered(&self.sizes()).motion(&["x", "y"], &["vx", "vy"])
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        M[(0, 0)] = S::from(1.0);
        M[(1, 1)] = S::from(1.0);
    }
    fn force<S: Scalar>(&self, _: &Motion<S>, f: &mut [S]) {
        f[1] = S::from(-GRAVITY);
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        g[0] = at.p[0].square() + at.p[1].square() - 1.0;
    }
}

/// The period, 2π √(l/g) / agm(1, cos ϑ₀/2) with the amplitude ϑ₀.
pub fn exact_period() -> f64 {
    let amplitude = START[0].atan2(-START[1]);
    let (mut a, mut b) = (1.0, (0.5 * amplitude).cos());
    for _ in 0..6 {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    TAU / GRAVITY.sqrt() / a
}

/// What is read from the run.
pub struct Found {
    /// From one passage through the lowest point, leftwards, to the next.
    pub period: f64,
    /// x a quarter of a period after that passage: the turning point on the left.
    pub turning: f64,
}

/// Record passages through the lowest point, then ask for a value between steps.
pub fn run() -> Result<Found, Box<dyn Error>> {
    let initial = Initial::motion(0.0, &START, &[0.0, 0.0]);
    // events are where a function falls through zero
    let problem = Problem::new(&Pendulum, initial, 10.0).record_when("leftwards", |at| at.p[0]);
    let options = Options { tolerance: Tolerance::new(1e-9, 1e-9), save: Save::Dense, ..Options::default() };
    let solution = solve(&problem, &Hedop5::default(), &options)?;

    let times: Vec<f64> = solution.events.iter().map(|event| event.t).collect();
    let period = times[1] - times[0];
    let x = solution.names.iter().position(|name| name == "x").ok_or("no such variable")?;
    let mut state = vec![0.0; solution.layout.dim()];
    solution.eval(times[0] + 0.25 * period, &mut state).ok_or("outside of the run")?;
    Ok(Found { period, turning: state[x] })
}

fn main() -> Result<(), Box<dyn Error>> {
    let found = run()?;
    println!("period {:.9}, by the arithmetic-geometric mean {:.9}", found.period, exact_period());
    println!("x at the turning point {:.9}, released at {:.9}", found.turning, START[0]);
    Ok(())
}
