//! Modes and jumps: a ball that bounces until it lies. `cargo run --example bouncing_ball`

use daedal::dae::Equations;
use daedal::hybrid::{Hybrid, HybridError, HybridOptions, HybridSolution, Mode, Transition};
use daedal::scalar::Scalar;
use daedal::{Initial, Options, Problem, solve};

const GRAVITY: f64 = 9.81;
/// Part of the velocity that is left after an impact.
const RESTITUTION: f64 = 0.5;

/// Height and velocity of a ball: falling, or lying where it is.
struct Ball {
    acceleration: f64,
}

impl Equations for Ball {
    fn dim(&self) -> usize {
        2
    }
    fn names(&self) -> Vec<String> {
        ["height", "velocity"].map(String::from).to_vec()
    }
    fn residual<S: Scalar>(&self, _: S, x: &[S], xdot: &[S], r: &mut [S]) {
        r[0] = xdot[0] - x[1];
        r[1] = xdot[1] - self.acceleration;
    }
}

/// When the ball lies still: the fall, and twice the times between impacts, a geometric series.
pub fn rest_time() -> f64 {
    (2.0 / GRAVITY).sqrt() * (1.0 + 2.0 * RESTITUTION / (1.0 - RESTITUTION))
}

/// A ball falls from a height of one. Infinitely many impacts in finite time end in the mode `lying`.
pub fn run() -> Result<HybridSolution, HybridError> {
    let mut system = Hybrid::new();
    let flying = system.mode(Mode::equations("flying", &Ball { acceleration: -GRAVITY }));
    let lying = system.mode(Mode::equations("lying", &Ball { acceleration: 0.0 }));
    let bounce = Transition::when(flying, flying, "height <= 0", |_, x| x[0])
        .transfer(|_, old, _, new| new.copy_from_slice(&[0.0, -RESTITUTION * old[1]]))
        .after_accumulation(lying);
    system.transition(bounce);
    let problem = Problem::new(&system, Initial::new(0.0, &[1.0, 0.0]).in_mode(flying), 2.0);
    solve(&problem, &HybridOptions::default(), &Options::default())
}

fn main() -> Result<(), HybridError> {
    let solution = run()?;
    for switch in solution.switches.iter().take(5) {
        println!("t = {:.9}: {}", switch.t, switch.condition);
    }
    let last = &solution.switches[solution.switches.len() - 1];
    println!("{} impacts, then {} from t = {:.9}", solution.switch_count - 1, solution.modes[last.to].name, last.t);
    println!("closed form: {:.9}", rest_time());
    Ok(())
}
