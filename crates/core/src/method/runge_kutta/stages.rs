//! The stages of one step of an implicit Runge–Kutta method on a square system, by simplified Newton iteration.
//!
//! Rows that contain derivatives are multiplied by h; algebraic rows are −A ΔZ = −G, whatever h.

use super::formula::StageFormula;
use crate::dae::{Dae, Pencil};
use crate::error::StepFailure;
use crate::linalg::{IterationMatrix, Singular};
use crate::method::convergence::{Convergence, IterationEnd, IterationVerdict, Limits};
use crate::method::weights::Weights;
use crate::statistics::Statistics;
use faer::c64;

/// Where a step begins.
#[derive(Clone, Copy)]
pub(super) struct Begin<'x> {
    pub t: f64,
    pub x: &'x [f64],
    pub xdot: &'x [f64],
}

/// What a step came to: Zⱼ one behind the other, x₁ and ẋ₁.
pub(super) struct StepEnd {
    pub Z: Vec<f64>,
    pub x: Vec<f64>,
    pub xdot: Vec<f64>,
}

impl StepEnd {
    pub fn new(n: usize, stages: usize) -> Self {
        StepEnd { Z: vec![0.0; stages * n], x: vec![0.0; n], xdot: vec![0.0; n] }
    }
}

/// Why there is no new point.
pub(super) struct NoPoint {
    pub singular: bool,
}

/// The system with the matrices of its stages.
pub(super) struct StageSystem<'p> {
    pub dae: Box<dyn Dae + 'p>,
    pub formula: StageFormula,
    pub pencil: Pencil,
    pub counters: Statistics,
    pub algebraic: Vec<bool>,
    limits: Limits,
    /// μₖE − hA
    matrices: Vec<IterationMatrix<c64>>,
    /// (E₁; −A₂), where new points are brought onto the constraints
    projection: Option<IterationMatrix<f64>>,
    decomposed_for: Option<f64>,
    /// has the Jacobian been that of iterates since it was renewed?
    pub by_newton: bool,
    // scratch
    G: Vec<f64>,
    at_begin: Vec<f64>,
    X: Vec<f64>,
    Xdot: Vec<f64>,
    part: Vec<c64>,
    dZ: Vec<f64>,
}

impl<'p> StageSystem<'p> {
    pub fn new(dae: Box<dyn Dae + 'p>, formula: StageFormula, project: bool, limits: Limits) -> Self {
        let (n, s) = (dae.dim(), formula.stages());
        let pencil = dae.new_pencil();
        let algebraic: Vec<bool> = (0..n).map(|i| dae.algebraic(i)).collect();
        // unknowns of index two are not determined by the constraints
        let beside = !formula.ends_on_stage && algebraic.contains(&true) && (0..n).all(|i| dae.index(i) == 1);
        let zeros = || vec![0.0; n];
        StageSystem {
            matrices: formula.parts.iter().map(|_| IterationMatrix::new(&pencil, algebraic.clone())).collect(),
            projection: (project && beside).then(|| IterationMatrix::new(&pencil, algebraic.clone())),
            decomposed_for: None,
            by_newton: false,
            G: vec![0.0; s * n],
            at_begin: zeros(),
            X: zeros(),
            Xdot: zeros(),
            part: vec![c64::new(0.0, 0.0); n],
            dZ: vec![0.0; s * n],
            counters: Statistics::default(),
            limits,
            algebraic,
            pencil,
            formula,
            dae,
        }
    }

    /// The Jacobian at a point, after a new choice of equations.
    pub fn renew(&mut self, at: Begin) -> Result<(), StepFailure> {
        self.dae.pencil(at.t, at.x, at.xdot, &mut self.pencil)?;
        self.counters.jacobians += 1;
        self.decomposed_for = None;
        self.by_newton = false;
        Ok(())
    }

    /// Decompose the matrices of a step size.
    fn decompose(&mut self, h: f64) -> Result<(), Singular> {
        if self.decomposed_for == Some(h) {
            return Ok(());
        }
        self.decomposed_for = None;
        self.counters.decompositions += 1;
        for (matrix, part) in self.matrices.iter_mut().zip(&self.formula.parts) {
            matrix.decompose(&self.pencil, part.mu, h)?;
        }
        if let Some(projection) = &mut self.projection {
            projection.decompose(&self.pencil, 1.0, 0.0)?;
        }
        self.decomposed_for = Some(h);
        Ok(())
    }

    /// A step with the Jacobian at hand.
    pub fn step(&mut self, from: Begin, h: f64, weights: &Weights, end: &mut StepEnd) -> Result<(), NoPoint> {
        self.decompose(h).map_err(|_| NoPoint { singular: true })?;
        let mut eta = 1.0;
        let judge = if self.dae.multipliers_lag() { Convergence::patient } else { Convergence::cautious };
        let mut convergence = judge(self.limits, &mut eta);
        let judge = |newton: u32, size: f64| convergence.judge(newton, size, &mut eta);
        self.iterate(from, h, weights, end, |_, _, _| true, judge)?;
        self.finish(from, h, weights, end)
    }

    /// A step with a Jacobian of every iterate, which may go astray before it converges.
    pub fn step_by_newton(&mut self, from: Begin, h: f64, weights: &Weights, end: &mut StepEnd) -> Result<(), NoPoint> {
        let prepare = |stages: &mut Self, t: f64, h: f64| {
            let StageSystem { dae, pencil, X, Xdot, .. } = stages;
            let there = dae.pencil(t, X, Xdot, pencil).is_ok();
            stages.counters.jacobians += 1;
            stages.decomposed_for = None;
            stages.by_newton = true;
            there && stages.decompose(h).is_ok()
        };
        let enough = self.limits.tolerance;
        let judge = |iterations: u32, size: f64| match size {
            size if size <= enough => IterationVerdict::Enough(IterationEnd::Converged { iterations, rate: 0.0 }),
            size if size.is_finite() => IterationVerdict::GoOn,
            _ => IterationVerdict::Failed(IterationEnd::Diverged),
        };
        self.iterate(from, h, weights, end, prepare, judge)?;
        self.finish(from, h, weights, end)
    }

    /// Newton's iteration; `prepare` makes the matrices ready at the last stage at hand, `judge` sees the sizes of increments.
    fn iterate(
        &mut self,
        from: Begin,
        h: f64,
        weights: &Weights,
        end: &mut StepEnd,
        prepare: impl Fn(&mut Self, f64, f64) -> bool,
        mut judge: impl FnMut(u32, f64) -> IterationVerdict,
    ) -> Result<(), NoPoint> {
        let failed = NoPoint { singular: false };
        let s = self.formula.stages();
        self.predict(from, h, &mut end.Z);
        for newton in 1..=self.limits.most {
            if !self.evaluate(from, h, &end.Z) || !prepare(self, from.t + self.formula.c[s - 1] * h, h) {
                return Err(failed);
            }
            self.increments(h);
            let verdict = judge(newton, weights.norm_of_stages(&self.dZ, s));
            if let IterationVerdict::Failed(_) = verdict {
                return Err(failed);
            }
            end.Z.iter_mut().zip(&self.dZ).for_each(|(z, d)| *z += d);
            if let IterationVerdict::Enough(_) = verdict {
                return Ok(());
            }
        }
        Err(failed)
    }

    /// Where the iteration begins: at x₀, or on the tangent where the system is not linear in ẋ.
    fn predict(&self, from: Begin, h: f64, Z: &mut [f64]) {
        let n = from.x.len();
        if self.dae.quasilinear() {
            Z.fill(0.0);
            return;
        }
        for (Z, c) in Z.chunks_exact_mut(n).zip(&self.formula.c) {
            Z.iter_mut().zip(from.xdot).for_each(|(z, rate)| *z = c * h * rate);
        }
    }

    /// Rows at all stages, the last of which is left in `X` and `Xdot`. False where the system has no values.
    fn evaluate(&mut self, from: Begin, h: f64, Z: &[f64]) -> bool {
        let (n, s) = (from.x.len(), self.formula.stages());
        for j in 0..s {
            combine(self.formula.A_inverse.row(j), Z, &mut self.Xdot);
            self.Xdot.iter_mut().for_each(|rate| *rate /= h);
            for (X, (x, z)) in self.X.iter_mut().zip(from.x.iter().zip(&Z[j * n..])) {
                *X = x + z;
            }
            let G = &mut self.G[j * n..][..n];
            self.counters.residuals += 1;
            if self.dae.residual(j, from.t + self.formula.c[j] * h, &self.X, &self.Xdot, G).is_err() {
                return false;
            }
            if self.formula.averages {
                self.counters.residuals += 1;
                if self.dae.residual(s, from.t, from.x, &self.Xdot, &mut self.at_begin).is_err() {
                    return false;
                }
                let rows = G.iter_mut().zip(&self.at_begin).zip(&self.algebraic);
                rows.filter(|(_, algebraic)| !**algebraic).for_each(|((G, begin), _)| *G += begin);
            }
        }
        true
    }

    /// ΔZ = −Σ uₖ ⊗ (μₖE − hA)⁻¹ (vₖᵀ ⊗ I) h G.
    fn increments(&mut self, h: f64) {
        let StageSystem { formula, matrices, algebraic, G, part, dZ, .. } = self;
        let n = algebraic.len();
        self.counters.solves += 1;
        dZ.fill(0.0);
        for (eigenpart, matrix) in formula.parts.iter().zip(matrices) {
            for (i, r) in part.iter_mut().enumerate() {
                let factor = if algebraic[i] { -1.0 } else { -h };
                let sum: c64 = eigenpart.v.iter().enumerate().map(|(j, v)| v * G[j * n + i]).sum();
                *r = sum * factor;
            }
            matrix.solve(part);
            for (dZ, u) in dZ.chunks_exact_mut(n).zip(&eigenpart.u) {
                dZ.iter_mut().zip(&*part).for_each(|(d, w)| *d += u.re * w.re - u.im * w.im);
            }
        }
    }

    /// x₁ and ẋ₁ from the stages, on the constraints where that is wanted.
    fn finish(&mut self, from: Begin, h: f64, weights: &Weights, end: &mut StepEnd) -> Result<(), NoPoint> {
        let n = from.x.len();
        if self.formula.ends_on_stage {
            end.x.copy_from_slice(&end.Z[end.Z.len() - n..]);
        } else {
            combine(&self.formula.to_end, &end.Z, &mut end.x);
        }
        end.x.iter_mut().zip(from.x).for_each(|(x, x0)| *x += x0);
        combine(&self.formula.rate_at_end, &end.Z, &mut end.xdot);
        end.xdot.iter_mut().for_each(|rate| *rate /= h);
        self.project(from.t + h, weights, end)
    }

    /// (E₁; −A₂) δ = (0; −g): by how much a point is beside the constraints, until that is nothing.
    fn project(&mut self, t1: f64, weights: &Weights, end: &mut StepEnd) -> Result<(), NoPoint> {
        let StageSystem { dae, projection: Some(matrix), algebraic, G, limits, .. } = self else { return Ok(()) };
        let delta = &mut G[..end.x.len()];
        for _ in 0..limits.most {
            self.counters.residuals += 1;
            let number = self.formula.stages() + 1;
            dae.residual(number, t1, &end.x, &end.xdot, delta).map_err(|_| NoPoint { singular: false })?;
            let rows = delta.iter_mut().zip(&*algebraic);
            rows.for_each(|(r, algebraic)| *r = if *algebraic { -*r } else { 0.0 });
            matrix.solve(delta);
            end.x.iter_mut().zip(&*delta).for_each(|(x, d)| *x += d);
            if weights.norm(delta) <= limits.tolerance {
                return Ok(());
            }
        }
        Err(NoPoint { singular: false })
    }
}

/// Σ wⱼ Vⱼ of vectors that stand one behind the other.
fn combine(w: &[f64], V: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    for (w, V) in w.iter().zip(V.chunks_exact(out.len().max(1))) {
        out.iter_mut().zip(V).for_each(|(out, v)| *out += w * v);
    }
}
