//! Car axis on a bumpy road, with constraints that depend on time.
//!
//! ```text
//! p = (xl, yl, xr, yr),   y_b = h sin ωt,   x_b = √(L² − y_b²),   κ = ε²M/2
//! κ p'' = ((L₀−Ll)xl/Ll, (L₀−Ll)yl/Ll − κ, (L₀−Lr)(xr−x_b)/Lr, (L₀−Lr)(yr−y_b)/Lr − κ) − Gᵀλ
//! 0 = xl x_b + yl y_b,   0 = (xl−xr)² + (yl−yr)² − L²
//! ```
//! Two springs of lengths Ll and Lr carry the axle; the left wheel stands on a flat road, the right one at (x_b, y_b). Mazzia and
//! Magherini (2008), Test set for initial value problem solvers, release 2.4.
//!
//! The source writes the constraint forces as +Gᵀλ, hence the multipliers here have the opposite sign.

use crate::{Case, ReferenceProblem, ReferenceValues};
use daedal::Initial;
use daedal::linalg::Matrix;
use daedal::motion::{EquationsOfMotion, Motion, Names, Position, Sizes};
use daedal::scalar::Scalar;

/// The car axis and its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CarAxis {
    /// Distance of the wheels and length of the axle.
    pub l: f64,
    /// Unstretched length of the springs.
    pub l0: f64,
    /// ε in κ = ε²M/2.
    pub eps: f64,
    /// M in κ = ε²M/2.
    pub m: f64,
    /// Amplitude of the road.
    pub h: f64,
    /// Angular frequency of the road.
    pub omega: f64,
}

/// (p, v) at t = 3: GAMD in quadruple precision, tolerance 1e-24.
pub const END: [f64; 8] = [
    0.04934557842754028,
    0.49698946023017115,
    1.0417425248854215,
    0.37391102726536124,
    -0.07705836840409723,
    0.007446866587237785,
    0.017556815753723223,
    0.7703410437792519,
];
/// λ at t = 3, with the sign of this crate: GAMD in quadruple precision, tolerance 1e-24.
pub const LAMBDA_END: [f64; 2] = [0.004736886590848933, 0.0011046803312573436];

const NAMES: [&str; 10] = ["xl", "yl", "xr", "yr", "vxl", "vyl", "vxr", "vyr", "lambda.left", "lambda.axle"];

impl CarAxis {
    fn kappa(&self) -> f64 {
        0.5 * self.eps * self.eps * self.m
    }

    /// The road under the right wheel, (x_b, y_b).
    fn road<S: Scalar>(&self, t: S) -> [S; 2] {
        let y = (t * self.omega).sin() * self.h;
        [(-y.square() + self.l * self.l).sqrt(), y]
    }

    /// Force of a spring that points along (x, y).
    fn spring<S: Scalar>(&self, x: S, y: S) -> [S; 2] {
        let length = (x.square() + y.square()).sqrt();
        let factor = (-length + self.l0) / length;
        [x * factor, y * factor]
    }
}

impl EquationsOfMotion for CarAxis {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 4, velocities: 4, holonomic: 2, ..Sizes::default() }
    }
    fn names(&self) -> Names {
        Names::numbered(&self.sizes()).motion(&NAMES[..4], &NAMES[4..8]).constraints(&["left", "axle"], &[])
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        for i in 0..4 {
            M[(i, i)] = S::from(self.kappa());
        }
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        let [xb, yb] = self.road(at.t);
        let left = self.spring(at.p[0], at.p[1]);
        let right = self.spring(at.p[2] - xb, at.p[3] - yb);
        f[0] = left[0];
        f[1] = left[1] - self.kappa();
        f[2] = right[0];
        f[3] = right[1] - self.kappa();
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        let [xb, yb] = self.road(at.t);
        let p = at.p;
        g[0] = p[0] * xb + p[1] * yb;
        g[1] = (p[0] - p[2]).square() + (p[1] - p[3]).square() - self.l * self.l;
    }
}

pub(crate) const PROBLEM: ReferenceProblem = ReferenceProblem {
    name: "car-axis",
    description: "car axis on a bumpy road, constraints that depend on time",
    source: "Mazzia and Magherini (2008), Test set for initial value problem solvers",
    parameters: &[("L", 1.0), ("L0", 0.5), ("eps", 0.01), ("M", 10.0), ("h", 0.1), ("omega", 10.0)],
    build: |x| {
        let (l, l0, h, omega) = (x[0], x[1], x[4], x[5]);
        let slide = -l0 / l * h * omega;
        let end: Vec<f64> = END.into_iter().chain(LAMBDA_END).collect();
        Case {
            mechanism: Box::new(CarAxis { l, l0, eps: x[2], m: x[3], h, omega }),
            initial: Initial::motion(0.0, &[0.0, l0, l, l0], &[slide, 0.0, slide, 0.0]).multipliers(&[0.0, 0.0], &[]),
            tend: 3.0,
            h0: None,
            references: vec![ReferenceValues::new(3.0, &NAMES, &end, 1e-15, "GAMD in quadruple precision")],
        }
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Bench, close};

    #[test]
    fn published_initial_values_satisfy_all_equations() {
        let case = PROBLEM.case();
        let mut bench = Bench::new(&*case.mechanism);
        let (y0, yp0) = (
            [0.0, 0.5, 1.0, 0.5, -0.5, 0.0, -0.5, 0.0, 0.0, 0.0],
            [-0.5, 0.0, -0.5, 0.0, 0.0, -1.0, 0.0, -1.0, 0.0, 0.0],
        );
        let at = bench.point(&[("p", &y0[..4]), ("v", &y0[4..8]), ("a", &yp0[4..8])]);
        close(&at[bench.layout.p().start..], &bench.start(&case)[bench.layout.p().start..], 0.0);
        close(&at[bench.layout.v()], &bench.start(&case)[bench.layout.v()], 1e-16);
        let rows = bench.rows(0.0, &at);
        close(&rows[..bench.layout.algebraic()], &[0.0; 10], 1e-15);
    }
}
