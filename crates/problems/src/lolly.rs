//! Lolly: a point mass on a circle that is also the ridge of a surface.
//!
//! ```text
//! p' = v,   m v' = (0, 0, −m g) − Gᵀλ,   0 = ρ,   0 = exp(−βρ²) − 1 − p₃      with ρ = p₁² + p₂² − 1
//! ```
//! β sharpens the ridge: away from the circle the second constraint is strongly nonlinear, on it the motion does not depend
//! on β. Energy and angular momentum about the vertical axis are invariants; on the circle each determines the other.
//! Steinbrecher (2006), examples 4.1.13 and 5.3.2. Initial values are not printed there; a unit angular speed is taken.
//!
//! Erratum: the printed constraint forces lack the factor −β exp(−βρ²) in the second column, which changes the sign of λ₂;
//! here they follow from the constraints.

use crate::{Case, ReferenceProblem, ReferenceValues};
use daedal::Initial;
use daedal::linalg::Matrix;
use daedal::motion::{EquationsOfMotion, Motion, Names, Position, Sizes, Velocity};
use daedal::scalar::{Scalar, dot};

/// The lolly and its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lolly {
    /// Mass.
    pub m: f64,
    /// Acceleration of gravity, along −z.
    pub g: f64,
    /// Sharpness of the ridge.
    pub beta: f64,
}

impl Lolly {
    /// (p, v, λ) at time t with the angular speed `omega`, from p = (1, 0, 0).
    pub fn exact(&self, omega: f64, t: f64) -> [f64; 8] {
        let (sin, cos) = (omega * t).sin_cos();
        let lambda = [0.5 * self.m * omega * omega, self.m * self.g];
        [cos, sin, 0.0, -omega * sin, omega * cos, 0.0, lambda[0], lambda[1]]
    }
}

impl EquationsOfMotion for Lolly {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 3, velocities: 3, holonomic: 2, invariants: 2, ..Sizes::default() }
    }
    fn names(&self) -> Names {
        Names::numbered(&self.sizes())
            .motion(&["x", "y", "z"], &["vx", "vy", "vz"])
            .constraints(&["circle", "ridge"], &[])
            .invariants(&["energy", "angular_momentum"])
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        for i in 0..3 {
            M[(i, i)] = S::from(self.m);
        }
    }
    fn force<S: Scalar>(&self, _: &Motion<S>, f: &mut [S]) {
        f[2] = S::from(-self.m * self.g);
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        let rho = at.p[0].square() + at.p[1].square() - 1.0;
        g[0] = rho;
        g[1] = (rho.square() * -self.beta).exp() - 1.0 - at.p[2];
    }
    fn invariant<S: Scalar>(&self, at: &Velocity<S>, e: &mut [S]) {
        e[0] = dot(at.v, at.v) * (0.5 * self.m) + at.p[2] * (self.m * self.g);
        e[1] = (at.p[0] * at.v[1] - at.p[1] * at.v[0]) * self.m;
    }
}

pub(crate) const PROBLEM: ReferenceProblem = ReferenceProblem {
    name: "lolly",
    description: "point mass on a circle along a ridge of sharpness beta",
    source: "Steinbrecher (2006), example 5.3.2",
    parameters: &[("m", 1.0), ("g", 9.81), ("beta", 10.0), ("omega", 1.0)],
    build: |x| {
        let lolly = Lolly { m: x[0], g: x[1], beta: x[2] };
        let names = ["x", "y", "z", "vx", "vy", "vz", "lambda.circle", "lambda.ridge"];
        let start = lolly.exact(x[3], 0.0);
        let reference = |t: f64| ReferenceValues::new(t, &names, &lolly.exact(x[3], t), 1e-14, "closed form");
        Case {
            mechanism: Box::new(lolly),
            initial: Initial::motion(0.0, &start[..3], &start[3..6]).multipliers(&start[6..], &[]),
            tend: 10.0,
            h0: None,
            references: vec![reference(1.0), reference(10.0)],
        }
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Bench, RandomNumbers, close};

    #[test]
    fn hidden_constraints_are_those_of_the_book() {
        let model = Lolly { m: 1.3, g: 9.81, beta: 2.0 };
        let (mut bench, mut random) = (Bench::new(&model), RandomNumbers::new(2));
        for _ in 0..20 {
            let mut x = random.vector(bench.layout.dim());
            bench.accelerate(0.0, &mut x);
            let (p, v, lambda) = (&x[bench.layout.p()], &x[bench.layout.v()], &x[bench.layout.lambda()]);
            let (rho, q) = (p[0] * p[0] + p[1] * p[1] - 1.0, p[0] * v[0] + p[1] * v[1]);
            let (beta, E) = (model.beta, (-model.beta * rho * rho).exp());
            // v' by hand
            let radial = -(2.0 * lambda[0] - 4.0 * beta * rho * E * lambda[1]) / model.m;
            let a = [p[0] * radial, p[1] * radial, -model.g + lambda[1] / model.m];
            let rate = v[0] * v[0] + v[1] * v[1] + p[0] * a[0] + p[1] * a[1];
            let g1 = [2.0 * q, -4.0 * beta * rho * q * E - v[2]];
            let g2 = [2.0 * rate, -4.0 * beta * E * (2.0 * q * q + rho * rate - 4.0 * beta * rho * rho * q * q) - a[2]];
            let rows = bench.rows(0.0, &x);
            close(&x[bench.layout.a()], &a, 1e-12);
            close(&rows[bench.layout.row_g1()], &g1, 1e-13);
            close(&rows[bench.layout.row_g2()], &g2, 1e-12);
        }
    }

    #[test]
    fn exact_solution_satisfies_all_equations() {
        let model = Lolly { m: 1.3, g: 9.81, beta: 30.0 };
        let (mut bench, omega) = (Bench::new(&model), 1.7);
        for t in [0.0, 0.4, 3.0] {
            let [x, y, z, vx, vy, vz, circle, ridge] = model.exact(omega, t);
            let a = [-omega * omega * x, -omega * omega * y, 0.0];
            let at = bench.point(&[("p", &[x, y, z]), ("v", &[vx, vy, vz]), ("lambda", &[circle, ridge]), ("a", &a)]);
            bench.keep_invariants(0.0, &at);
            let rows = bench.rows(t, &at);
            close(&rows[..bench.layout.algebraic()], &[0.0; 11], 1e-14);
        }
    }
}
