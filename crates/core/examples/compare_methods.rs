//! One mechanism, several methods of the catalogue: errors and work. `cargo run --example compare_methods`

use daedal::linalg::Matrix;
use daedal::motion::{EquationsOfMotion, Motion, Position, Sizes};
use daedal::scalar::Scalar;
use daedal::{Initial, Options, Problem, Statistics, Tolerance, catalogue, solve};
use std::error::Error;

/// A point mass on a rod.
struct Pendulum;

impl EquationsOfMotion for Pendulum {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 2, velocities: 2, holonomic: 1, ..Sizes::default() }
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        M[(0, 0)] = S::from(1.0);
        M[(1, 1)] = S::from(1.0);
    }
    fn force<S: Scalar>(&self, _: &Motion<S>, f: &mut [S]) {
        f[1] = S::from(-9.81);
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        g[0] = at.p[0].square() + at.p[1].square() - 1.0;
    }
}

/// x(10) of the pendulum released from the horizontal, by Jacobi's elliptic functions.
const EXACT: f64 = -0.2750874625761169;

/// A method, the error of x at the end, and the work.
pub struct Row {
    /// Name in the catalogue.
    pub method: &'static str,
    /// |x(10) − exact|.
    pub error: f64,
    /// Counters.
    pub statistics: Statistics,
}

/// The same problem by an implicit, a half-explicit and an extrapolation method, and by BDF.
pub fn run() -> Result<Vec<Row>, Box<dyn Error>> {
    let problem = Problem::new(&Pendulum, Initial::motion(0.0, &[-1.0, 0.0], &[0.0, 0.0]), 10.0);
    let options = Options { tolerance: Tolerance::new(1e-8, 1e-8), ..Options::default() };
    let mut rows = Vec::new();
    for method in ["geoms", "hedop5", "mexx", "bdf"] {
        let entry = catalogue::find(method).ok_or("no such method")?;
        let solution = solve(&problem, &*entry.with(entry.usual())?, &options)?;
        let error = (solution.at_end().p[0] - EXACT).abs();
        rows.push(Row { method, error, statistics: solution.statistics });
    }
    Ok(rows)
}

fn main() -> Result<(), Box<dyn Error>> {
    for Row { method, error, statistics } in run()? {
        println!("{method:8} error {error:.1e}, {statistics}");
    }
    Ok(())
}
