//! The stages of a step, and the simplified Newton iteration on the transformed ones W = (T⁻¹ ⊗ I) Z. \[HW\] IV.8.
//!
//! The transformation splits the stage equations into one real system and pairs of complex ones, which the equations solve
//! ([`StageEquations`]).

use super::tableau::Tableau;
use crate::method::convergence::{Convergence, IterationEnd, IterationVerdict};
use crate::method::sums::{add_and_transform, combine, of_length, parts, square, sum_of, transform, vectors};
use crate::method::weights::Weights;
use crate::motion::Undefined;
use crate::segment::Segment;
use crate::statistics::Statistics;

/// Equations at the stages of a step, with the linear algebra of their Newton systems.
pub(crate) trait StageEquations {
    /// Evaluate the rows at a stage and keep them.
    fn evaluate(&mut self, stage: usize, t: f64, X: &[f64], Xdot: StageRate) -> Result<(), Undefined>;

    /// The same at all stages, one after the other, counting them; X is scratch.
    fn evaluate_all(&mut self, points: &StagePoints, X: &mut [f64], evaluated: &mut u64) -> Result<(), Undefined> {
        for j in 0..points.tableau.stages() {
            points.point(j, X);
            *evaluated += 1;
            self.evaluate(j, points.time(j), X, points.rate(j))?;
        }
        Ok(())
    }

    /// Increments of the transformed stages from the rows at all of them.
    fn increments(&mut self, stages: &mut Transformed, h: f64);

    /// By how much a stage, whose rows are at hand, is beside the constraints, as far as the matrices at hand tell.
    fn beside_constraints(&mut self, _stage: usize, xi: &mut [f64]) {
        xi.fill(0.0);
    }
}

/// The transformed stages, one behind the other.
pub(crate) struct Transformed<'s> {
    pub tableau: &'static Tableau,
    /// W.
    pub W: &'s [f64],
    /// ΔW.
    pub dW: &'s mut [f64],
}

/// The derivative at a stage, for whoever needs it: Ẋⱼ = Σ (A⁻¹)ⱼₖ Zₖ / h.
#[derive(Clone, Copy)]
pub(crate) struct StageRate<'s> {
    tableau: &'static Tableau,
    Z: &'s [f64],
    stage: usize,
    h: f64,
}

impl StageRate<'_> {
    pub fn write(&self, xdot: &mut [f64]) {
        combine(self.tableau.a_inverse(self.stage), self.Z, xdot);
        for d in xdot {
            *d /= self.h;
        }
    }
}

/// The stages Xⱼ = x₀ + Zⱼ of a step from x₀.
#[derive(Clone, Copy)]
pub(crate) struct StagePoints<'s> {
    pub tableau: &'static Tableau,
    pub t: f64,
    pub x: &'s [f64],
    pub h: f64,
    pub Z: &'s [f64],
}

impl<'s> StagePoints<'s> {
    /// t₀ + cⱼh.
    pub fn time(&self, stage: usize) -> f64 {
        self.t + self.tableau.C[stage] * self.h
    }

    /// Xⱼ.
    fn point(&self, stage: usize, X: &mut [f64]) {
        for ((X, x), z) in X.iter_mut().zip(self.x).zip(&self.Z[stage * self.x.len()..]) {
            *X = x + z;
        }
    }

    fn rate(&self, stage: usize) -> StageRate<'s> {
        StageRate { tableau: self.tableau, Z: self.Z, stage, h: self.h }
    }

    /// X and Ẋ of all stages, one behind the other.
    pub fn points_and_rates(&self, X: &mut [f64], Xdot: &mut [f64]) {
        match self.tableau.stages() {
            1 => self.points_and_rates_of::<1>(X, Xdot),
            3 => self.points_and_rates_of::<3>(X, Xdot),
            5 => self.points_and_rates_of::<5>(X, Xdot),
            _ => self.points_and_rates_of::<7>(X, Xdot),
        }
    }

    fn points_and_rates_of<const S: usize>(&self, X: &mut [f64], Xdot: &mut [f64]) {
        let (n, weights) = (self.x.len(), square::<S>(self.tableau.A_INVERSE));
        of_length!(n, S => self.points_and_rates_at::<S>(n, &weights, X, Xdot));
    }

    #[inline(always)]
    fn points_and_rates_at<const S: usize>(&self, n: usize, w: &[[f64; S]; S], X: &mut [f64], Xdot: &mut [f64]) {
        let (x, Z, h) = (&self.x[..n], vectors::<S>(self.Z, n), self.h);
        let (X, Xdot) = (parts::<S>(X, n), parts::<S>(Xdot, n));
        for i in 0..n {
            let (x, z) = (x[i], Z.map(|z| z[i]));
            for j in 0..S {
                X[j][i] = x + z[j];
                Xdot[j][i] = sum_of(&w[j], &z) / h;
            }
        }
    }
}

/// Where Newton's iteration starts.
#[derive(Clone, Copy, Debug)]
pub enum Prediction<'s> {
    /// On the extrapolated polynomial of the last step.
    Polynomial(&'s Segment),
    /// On the polynomial of the last step itself, from its begin: for making it again.
    Inside(&'s Segment),
    /// On the tangent: for systems that are not linear in ẋ, for which ẋ = 0 may be too far away.
    Line(&'s [f64]),
    /// At the last point, whatever its derivative: stiff transients do not follow their tangent.
    Zero,
}

/// Where an iteration goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum NewtonPath {
    /// Along the linearised constraints.
    Tangential,
    /// Back onto the constraints after every increment (`on_constraints.rs`).
    OnConstraints,
}

/// Stages of one step, with scratch: vectors of n components, one behind the other.
pub struct StageVectors {
    pub(super) tableau: &'static Tableau,
    pub(super) n: usize,
    /// Zⱼ = Xⱼ − x₀.
    pub(super) Z: Vec<f64>,
    pub(super) W: Vec<f64>,
    pub(super) dW: Vec<f64>,
    /// Corrections of Z and of W onto the constraints.
    pub(super) onto: [Vec<f64>; 2],
    X: Vec<f64>,
    /// Iterations of the last step, converged or not, and how fast they contracted.
    pub iterations: u32,
    /// Rate Θ.
    pub rate: f64,
}

impl StageVectors {
    /// Room for n unknowns and up to `most` stages.
    pub fn new(n: usize, tableau: &'static Tableau, most: usize) -> Self {
        let all = || vec![0.0; most * n];
        let (onto, X) = ([all(), all()], vec![0.0; n]);
        StageVectors { tableau, n, Z: all(), W: all(), dW: all(), onto, X, iterations: 0, rate: 0.0 }
    }

    /// Go on with another number of stages.
    pub fn change(&mut self, tableau: &'static Tableau) {
        self.tableau = tableau;
    }

    /// The method.
    pub fn tableau(&self) -> &'static Tableau {
        self.tableau
    }

    /// Z of one stage.
    pub fn Z(&self, stage: usize) -> &[f64] {
        &self.Z[stage * self.n..][..self.n]
    }

    /// Σⱼ wⱼ Zⱼ.
    pub fn weighted(&self, weights: &[f64], out: &mut [f64]) {
        combine(weights, &self.Z, out);
    }

    /// Stages from the polynomial of the last step, on a line, or zero.
    pub fn predict(&mut self, from: Prediction, h: f64) {
        let (n, s) = (self.n, self.tableau.stages());
        if let Prediction::Polynomial(segment) = from {
            segment.predict(h, self.tableau.C, &mut self.Z[..s * n]);
        }
        for (j, c) in self.tableau.C.iter().enumerate() {
            let Z = &mut self.Z[j * n..][..n];
            match from {
                Prediction::Polynomial(_) => {}
                Prediction::Line(xdot) => Z.iter_mut().zip(xdot).for_each(|(z, d)| *z = c * h * d),
                Prediction::Inside(segment) => {
                    let ratio = h / (segment.t1 - segment.t0);
                    for (i, z) in Z.iter_mut().enumerate() {
                        *z = segment.increment(c * ratio - 1.0, i) - segment.increment(-1.0, i);
                    }
                }
                Prediction::Zero => Z.fill(0.0),
            }
        }
        transform(self.tableau.T_INVERSE, &self.Z[..s * n], &mut self.W[..s * n]);
    }

    /// Iterate from the stages at hand; `eta` is carried from step to step.
    pub fn iterate(
        &mut self,
        equations: &mut dyn StageEquations,
        at: (f64, &[f64], f64),
        weights: &Weights,
        (path, mut convergence): (NewtonPath, Convergence),
        eta: &mut f64,
        statistics: &mut Statistics,
    ) -> IterationEnd {
        for newton in 1..=convergence.most() {
            self.iterations = newton;
            self.rate = 1.0;
            if self.linearise(equations, at, statistics).is_err()
                || path == NewtonPath::OnConstraints
                    && self.update_on_constraints(equations, at, weights, statistics).is_err()
            {
                return IterationEnd::Diverged;
            }
            let verdict = convergence.judge(newton, self.increment(weights), eta);
            self.rate = convergence.rate();
            if path == NewtonPath::Tangential && !matches!(verdict, IterationVerdict::Failed(_)) {
                self.update();
            }
            match verdict {
                IterationVerdict::Failed(outcome) | IterationVerdict::Enough(outcome) => return outcome,
                IterationVerdict::GoOn => {}
            }
        }
        convergence.exhausted()
    }

    /// ‖ΔW‖.
    pub(super) fn increment(&self, weights: &Weights) -> f64 {
        let s = self.tableau.stages();
        weights.norm_of_stages(&self.dW[..s * self.n], s)
    }

    /// Ẋⱼ = Σ (A⁻¹)ⱼₖ Zₖ / h.
    pub fn derivative(&self, stage: usize, h: f64, xdot: &mut [f64]) {
        StageRate { tableau: self.tableau, Z: &self.Z, stage, h }.write(xdot);
    }

    /// ΔW from the rows at the stages.
    pub(super) fn linearise(
        &mut self,
        equations: &mut dyn StageEquations,
        at: (f64, &[f64], f64),
        statistics: &mut Statistics,
    ) -> Result<(), Undefined> {
        self.evaluate(equations, at, statistics)?;
        let (tableau, used) = (self.tableau, self.tableau.stages() * self.n);
        let mut stages = Transformed { tableau, W: &self.W[..used], dW: &mut self.dW[..used] };
        equations.increments(&mut stages, at.2);
        statistics.solves += 1;
        Ok(())
    }

    pub(super) fn evaluate(
        &mut self,
        equations: &mut dyn StageEquations,
        (t, x, h): (f64, &[f64], f64),
        statistics: &mut Statistics,
    ) -> Result<(), Undefined> {
        let points = StagePoints { tableau: self.tableau, t, x, h, Z: &self.Z };
        equations.evaluate_all(&points, &mut self.X, &mut statistics.residuals)
    }

    /// W ← W + ΔW, Z = (T ⊗ I) W.
    pub(super) fn update(&mut self) {
        let used = self.tableau.stages() * self.n;
        add_and_transform(self.tableau.T, &self.dW[..used], &mut self.W[..used], &mut self.Z[..used]);
    }
}
