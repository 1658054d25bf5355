//! A mechanism: mass, force and constraint of a pendulum; everything else is derived. `cargo run --example pendulum`

use daedal::linalg::Matrix;
use daedal::motion::{EquationsOfMotion, Motion, Names, Position, Sizes};
use daedal::scalar::Scalar;
use daedal::{Geoms, Initial, Options, Problem, Solution, SolveError, Tolerance, solve};

/// A point mass on a rod of length one.
struct Pendulum {
    mass: f64,
    gravity: f64,
}

impl EquationsOfMotion for Pendulum {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 2, velocities: 2, holonomic: 1, ..Sizes::default() }
    }
    fn names(&self) -> Names {
        Names::numbered(&self.sizes()).motion(&["x", "y"], &["vx", "vy"]).constraints(&["rod"], &[])
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        M[(0, 0)] = S::from(self.mass);
        M[(1, 1)] = S::from(self.mass);
    }
    fn force<S: Scalar>(&self, _: &Motion<S>, f: &mut [S]) {
        f[1] = S::from(-self.mass * self.gravity);
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        g[0] = at.p[0].square() + at.p[1].square() - 1.0;
    }
}

/// Ten seconds of the pendulum that is released from the horizontal.
pub fn run() -> Result<Solution, SolveError> {
    let pendulum = Pendulum { mass: 1.0, gravity: 9.81 };
    let problem = Problem::new(&pendulum, Initial::motion(0.0, &[-1.0, 0.0], &[0.0, 0.0]), 10.0);
    let options = Options { tolerance: Tolerance::new(1e-9, 1e-9), ..Options::default() };
    solve(&problem, &Geoms::default(), &options)
}

fn main() -> Result<(), SolveError> {
    let solution = run()?;
    let end = solution.at_end();
    println!("at t = {}: x = {:.9}, y = {:.9}", end.t, end.p[0], end.p[1]);
    // the multiplier belongs to x² + y² − 1, whose gradient has the length 2
    println!("force in the rod: {:.6}", 2.0 * end.lambda[0]);
    println!("largest residual of the constraint: {:.1e}", solution.max_residuals.position.unwrap_or(0.0));
    println!("{}", solution.statistics);
    Ok(())
}
