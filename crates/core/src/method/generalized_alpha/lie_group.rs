//! Positions after a step with constant velocity: the flow of p' = Z(p) u over unit time, u = h Δq.
//!
//! Where Z is affine in p, p' = Σⱼ uⱼ (Aⱼ p + bⱼ), the flow is an exponential, summed as its Taylor series: on unit quaternions, where
//! Z(p) ω = ½ p∘ω, it is the exponential of the group, p exp(u/2), and keeps the norm to rounding. Its derivative by u, the tangent
//! operator times Z, is summed beside it. Elsewhere, as for Euler angles, the flow is one step of the classical Runge-Kutta method,
//! and its derivative is taken as Z(p₁), which is exact up to O(h). Brüls, Cardona & Arnold, Mech. Mach. Theory 48 (2012).

use crate::linalg::{Jacobian, Matrix};
use crate::method::structural::StructuralEquations;
use crate::motion::{Kinematics, Undefined};

/// Constant parts of Zeⱼ that are rounding, relative to the sum of the sizes of its terms: units may be as small as they like.
const ROUNDING: f64 = 1e-12;
/// Most terms of the series; its argument is at most one.
const TERMS: usize = 24;
/// Most parts of a step with arguments of at most one: no iteration that converges goes round more often.
const PARTS: usize = 1000;

/// How positions move.
pub(super) enum KinematicFlow {
    /// p' = v.
    Translation,
    /// Z is affine in p.
    Affine(Generators),
    /// Any Z.
    General(FlowStages),
}

/// Σⱼ uⱼ (Aⱼ p + bⱼ), by nonzero entries.
pub(super) struct Generators {
    /// (i, j, k, Aⱼ[i, k])
    linear: Vec<(usize, usize, usize, f64)>,
    /// (i, j, bⱼ[i])
    constant: Vec<(usize, usize, f64)>,
    position: Vec<f64>,
    // term of the series and its derivatives by u
    term: Vec<f64>,
    next: Vec<f64>,
    derivatives: Vec<Vec<f64>>,
    next_derivatives: Vec<Vec<f64>>,
}

/// Scratch of the Runge-Kutta step.
pub(super) struct FlowStages {
    x: Vec<f64>,
    start: Vec<f64>,
    sum: Vec<f64>,
}

impl KinematicFlow {
    /// How the positions of a system move, as its formulas say; the coefficients are taken at a point.
    pub fn of(equations: &mut StructuralEquations, t: f64, x: &[f64]) -> Self {
        let l = equations.layout().clone();
        let (n, np) = (l.v().len(), l.p().len());
        let coefficients = match equations.kinematics_structure() {
            Kinematics::Plain => return KinematicFlow::Translation,
            Kinematics::Affine => coefficients(equations, t, x),
            Kinematics::General => None,
        };
        match coefficients {
            Some((linear, constant)) => KinematicFlow::Affine(Generators {
                linear,
                constant,
                position: vec![0.0; np],
                term: vec![0.0; np],
                next: vec![0.0; np],
                derivatives: vec![vec![0.0; np]; n],
                next_derivatives: vec![vec![0.0; np]; n],
            }),
            None => {
                KinematicFlow::General(FlowStages { x: vec![0.0; l.dim()], start: vec![0.0; np], sum: vec![0.0; np] })
            }
        }
    }

    /// What it is, for reports.
    pub fn told(&self) -> &'static str {
        match self {
            KinematicFlow::Translation => "on a vector space",
            KinematicFlow::Affine(_) => "on a Lie group with exponentials of affine fields",
            KinematicFlow::General(_) => "on a manifold with Runge-Kutta steps of p' = Z(p) Δq",
        }
    }

    /// p ← the flow of p' = Z(p) u from p.
    pub fn apply(
        &mut self,
        equations: &mut StructuralEquations,
        (t, h): (f64, f64),
        u: &[f64],
        p: &mut [f64],
    ) -> Result<(), Undefined> {
        match self {
            KinematicFlow::Translation => p.iter_mut().zip(u).for_each(|(p, u)| *p += u),
            KinematicFlow::Affine(generators) => generators.apply(u, p)?,
            KinematicFlow::General(stages) => stages.apply(equations, (t, h), u, p)?,
        }
        Ok(())
    }

    /// P = ∂p₁/∂u, where p₁ comes from p. F holds −∂k/∂x at p₁.
    pub fn tangent(&mut self, equations: &StructuralEquations, u: &[f64], p: &[f64], F: &Jacobian, P: &mut Matrix) {
        match self {
            KinematicFlow::Translation => {
                P.fill(0.0);
                (0..P.rows()).for_each(|i| P[(i, i)] = 1.0);
            }
            KinematicFlow::Affine(generators) => generators.tangent(u, p, P),
            KinematicFlow::General(_) => {
                let l = equations.layout();
                for (i, row) in l.row_kinematics().enumerate() {
                    for (j, column) in l.v().enumerate() {
                        P[(i, j)] = -F[(row, column)];
                    }
                }
            }
        }
    }
}

/// Entries of Aⱼ and bⱼ where Z is affine in p: derivatives of Zeⱼ by p, and what is left of it.
fn coefficients(
    equations: &mut StructuralEquations,
    t: f64,
    at: &[f64],
) -> Option<(Vec<(usize, usize, usize, f64)>, Vec<(usize, usize, f64)>)> {
    let l = equations.layout().clone();
    let mut x = vec![0.0; l.dim()];
    x[l.p()].copy_from_slice(&at[l.p()]);
    let mut F = equations.new_jacobian();
    let (mut linear, mut constant) = (Vec::new(), Vec::new());
    for (j, column) in l.v().enumerate() {
        x[l.v()].fill(0.0);
        x[column] = 1.0;
        equations.jacobian(t, &x, &mut F).ok()?;
        for (i, row) in l.row_kinematics().enumerate() {
            let z = equations.kinematics()[i];
            let (mut b, mut size) = (z, z.abs());
            for (k, column) in l.p().enumerate() {
                let A = -F[(row, column)];
                if A != 0.0 {
                    linear.push((i, j, k, A));
                    b -= A * at[column];
                    size += (A * at[column]).abs();
                }
            }
            if b.abs() > ROUNDING * size {
                constant.push((i, j, b));
            }
        }
    }
    Some((linear, constant))
}

impl Generators {
    /// Number of equal parts of u for which the series has an argument of at most one.
    fn parts(&mut self, u: &[f64]) -> usize {
        self.next.fill(0.0);
        self.linear.iter().for_each(|&(i, j, _, A)| self.next[i] += (A * u[j]).abs());
        self.next.iter().fold(1.0_f64, |m, x| m.max(*x)).ceil() as usize
    }

    /// The first term of the series at p, Σⱼ uⱼ (Aⱼ p + bⱼ).
    fn first(&mut self, u: &[f64], factor: f64, p: &[f64]) {
        self.term.fill(0.0);
        self.linear.iter().for_each(|&(i, j, k, A)| self.term[i] += factor * u[j] * A * p[k]);
        self.constant.iter().for_each(|&(i, j, b)| self.term[i] += factor * u[j] * b);
    }

    /// The next term; is it rounding beside p?
    fn advance(&mut self, u: &[f64], factor: f64, p: &[f64]) -> bool {
        self.next.fill(0.0);
        self.linear.iter().for_each(|&(i, j, k, A)| self.next[i] += factor * u[j] * A * self.term[k]);
        std::mem::swap(&mut self.term, &mut self.next);
        let size = |x: &[f64]| x.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        size(&self.term) <= 0.1 * f64::EPSILON * size(p)
    }

    fn apply(&mut self, u: &[f64], p: &mut [f64]) -> Result<(), Undefined> {
        let parts = self.parts(u);
        if parts > PARTS {
            return Err(Undefined);
        }
        let factor = 1.0 / parts as f64;
        for _ in 0..parts {
            self.first(u, factor, p);
            for k in 2..=TERMS {
                p.iter_mut().zip(&self.term).for_each(|(p, term)| *p += term);
                if self.advance(u, factor / k as f64, p) {
                    break;
                }
            }
        }
        Ok(())
    }

    /// ∂p₁/∂u, by the derivatives of the terms.
    fn tangent(&mut self, u: &[f64], p: &[f64], P: &mut Matrix) {
        let parts = self.parts(u);
        let factor = 1.0 / parts as f64;
        let mut position = std::mem::take(&mut self.position);
        position.copy_from_slice(p);
        P.fill(0.0);
        for _ in 0..parts {
            self.first(u, factor, &position);
            // d term = Σ duⱼ (Aⱼ p + bⱼ) + A(u) dp
            self.derivatives.iter_mut().for_each(|d| d.fill(0.0));
            for &(i, j, k, A) in &self.linear {
                self.derivatives[j][i] += factor * A * position[k];
                for (l, d) in self.derivatives.iter_mut().enumerate() {
                    d[i] += factor * u[j] * A * P[(k, l)];
                }
            }
            self.constant.iter().for_each(|&(i, j, b)| self.derivatives[j][i] += factor * b);
            for term in 2..=TERMS {
                position.iter_mut().zip(&self.term).for_each(|(p, term)| *p += term);
                for (l, d) in self.derivatives.iter().enumerate() {
                    d.iter().enumerate().for_each(|(i, d)| P[(i, l)] += d);
                }
                let factor = factor / term as f64;
                self.next_derivatives.iter_mut().for_each(|d| d.fill(0.0));
                for &(i, j, k, A) in &self.linear {
                    self.next_derivatives[j][i] += factor * A * self.term[k];
                    for (next, d) in self.next_derivatives.iter_mut().zip(&self.derivatives) {
                        next[i] += factor * u[j] * A * d[k];
                    }
                }
                std::mem::swap(&mut self.derivatives, &mut self.next_derivatives);
                if self.advance(u, factor, &position) {
                    break;
                }
            }
        }
        self.position = position;
    }
}

impl FlowStages {
    fn apply(
        &mut self,
        equations: &mut StructuralEquations,
        (t, h): (f64, f64),
        u: &[f64],
        p: &mut [f64],
    ) -> Result<(), Undefined> {
        let (range, v) = (equations.layout().p(), equations.layout().v());
        self.start.copy_from_slice(p);
        self.sum.fill(0.0);
        self.x[v].copy_from_slice(u);
        self.x[range.clone()].copy_from_slice(p);
        for (c, b, next) in [(0.0, 1.0 / 6.0, 0.5), (0.5, 1.0 / 3.0, 0.5), (0.5, 1.0 / 3.0, 1.0), (1.0, 1.0 / 6.0, 0.0)]
        {
            equations.forces(t + c * h, &self.x)?;
            for (k, rate) in equations.kinematics().iter().enumerate() {
                self.sum[k] += b * rate;
                self.x[range.start + k] = self.start[k] + next * rate;
            }
        }
        for (k, p) in p.iter_mut().enumerate() {
            *p = self.start[k] + self.sum[k];
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// p' = ½ p∘ω and x' = u.
    fn generators() -> Generators {
        let mut linear = Vec::new();
        // columns of ½ p∘ω for p = (w, x, y, z)
        for (i, j, k, sign) in [
            (0, 0, 1, -1.0),
            (0, 1, 2, -1.0),
            (0, 2, 3, -1.0),
            (1, 0, 0, 1.0),
            (1, 1, 3, -1.0),
            (1, 2, 2, 1.0),
            (2, 0, 3, 1.0),
            (2, 1, 0, 1.0),
            (2, 2, 1, -1.0),
            (3, 0, 2, -1.0),
            (3, 1, 1, 1.0),
            (3, 2, 0, 1.0),
        ] {
            linear.push((i, j, k, 0.5 * sign));
        }
        let room = |n: usize| vec![vec![0.0; 5]; n];
        Generators {
            linear,
            constant: vec![(4, 3, 1.0)],
            position: vec![0.0; 5],
            term: vec![0.0; 5],
            next: vec![0.0; 5],
            derivatives: room(4),
            next_derivatives: room(4),
        }
    }

    #[test]
    fn the_flow_on_quaternions_is_the_exponential_and_keeps_the_norm() {
        let mut flow = generators();
        for size in [1e-3, 0.3, 4.0] {
            let u = [size, -2.0 * size, 0.5 * size, 0.7];
            let mut p = [1.0, 0.0, 0.0, 0.0, 2.0];
            flow.apply(&u, &mut p).unwrap();
            let theta = (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]).sqrt();
            let (c, s) = ((0.5 * theta).cos(), (0.5 * theta).sin() / theta);
            let exact = [c, s * u[0], s * u[1], s * u[2], 2.7];
            for (p, exact) in p.iter().zip(exact) {
                assert!((p - exact).abs() < 3e-15, "{size}: {p} {exact}");
            }
        }
    }

    #[test]
    fn the_tangent_is_the_derivative_of_the_flow() {
        let mut flow = generators();
        let (u, p) = ([0.9, -1.4, 0.5, 0.3], [0.5, 0.1, -0.7, 0.4, 1.0]);
        let mut P = Matrix::zeros(5, 4);
        flow.tangent(&u, &p, &mut P);
        for j in 0..4 {
            let d = 1e-6;
            let [mut low, mut high] = [u, u];
            low[j] -= d;
            high[j] += d;
            let [mut before, mut after] = [p, p];
            flow.apply(&low, &mut before).unwrap();
            flow.apply(&high, &mut after).unwrap();
            for i in 0..5 {
                let difference = (after[i] - before[i]) / (2.0 * d);
                assert!((P[(i, j)] - difference).abs() < 1e-9, "{i} {j}: {} {difference}", P[(i, j)]);
            }
        }
    }
}
