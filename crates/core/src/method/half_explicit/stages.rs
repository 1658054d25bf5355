//! Stages of half-explicit methods, one after the other.

use crate::method::structural::{Saddle, Step, StructuralEquations, Trouble};
use std::ops::Range;

/// Stages and their rates, with room for one linear system.
pub(super) struct ExplicitStages {
    /// Yᵢ: p, v and r of the stages, at their places in x.
    pub Y: Vec<Vec<f64>>,
    /// Fᵢ = (Z V, V', b), at the same places.
    pub F: Vec<Vec<f64>>,
    saddle: Saddle,
    v: Range<usize>,
    /// r, v and p
    moving: Range<usize>,
}

impl ExplicitStages {
    pub fn new(equations: &StructuralEquations, stages: usize) -> Self {
        let l = equations.layout();
        ExplicitStages {
            Y: vec![vec![0.0; l.dim()]; stages],
            F: vec![vec![0.0; l.dim()]; stages],
            saddle: Saddle::of(equations),
            v: l.v(),
            moving: l.r().start..l.p().end,
        }
    }

    /// The first stage is the point where the step begins.
    pub fn begin(&mut self, step: &Step) {
        self.Y[0][self.moving.clone()].copy_from_slice(&step.x[self.moving.clone()]);
    }

    /// The places of r, v and p.
    pub fn moving(&self) -> Range<usize> {
        self.moving.clone()
    }

    /// Stage i gets F from elsewhere.
    pub fn set_rates(&mut self, i: usize, xdot: &[f64]) {
        self.F[i][self.moving.clone()].copy_from_slice(&xdot[self.moving.clone()]);
    }

    /// Yᵢ = y + h Σ aⱼ Fⱼ.
    pub fn combine(&mut self, step: &Step, i: usize, a: &[f64]) {
        let moving = self.moving.clone();
        let Y = &mut self.Y[i][moving.clone()];
        Y.copy_from_slice(&step.x[moving.clone()]);
        for (a, F) in a.iter().zip(&self.F).filter(|(a, _)| **a != 0.0) {
            let ha = step.h * a;
            Y.iter_mut().zip(&F[moving.clone()]).for_each(|(y, f)| *y += ha * f);
        }
    }

    /// Yᵢ₊₁ and V'ᵢ, so that the velocity constraints hold at the new stage; M, K and k₀ of the equations belong to stage i, and to stage
    /// i + 1 afterwards. `a` is its row of the tableau, c its node; `t` is the time of stage i.
    pub fn next(
        &mut self,
        equations: &mut StructuralEquations,
        step: &Step,
        i: usize,
        (a, c): (&[f64], f64),
        t: f64,
    ) -> Result<f64, Trouble> {
        equations.forces(t, &self.Y[i])?;
        let l = equations.layout();
        let F = &mut self.F[i];
        F[l.p()].copy_from_slice(equations.kinematics());
        F[l.r()].copy_from_slice(equations.dynamic());
        F[l.v()].fill(0.0);
        let n = self.v.len();
        self.saddle.b[..n].iter_mut().zip(equations.minus_force()).for_each(|(b, f)| *b = -f);
        self.combine(step, i + 1, a);
        let t1 = if c == 1.0 { step.t1 } else { step.t + c * step.h };
        let Y = &mut self.Y[i + 1];
        let same = equations.is_at(t1, Y);
        equations.at_position(t1, Y)?;
        let K = &equations.K;
        let (M, upper) = if same { (&equations.M, K) } else { (&equations.before.M, &equations.before.K) };
        let ha = step.h * a[i];
        // −(K ṽ + k₀)/(h a)
        for (k, b) in self.saddle.b[n..].iter_mut().enumerate() {
            *b = -(K.row_times(k, &Y[self.v.clone()]) + equations.k0[k]) / ha;
        }
        equations.statistics.decompositions += 1;
        self.saddle.leave_out(equations.left_out());
        self.saddle.factor(M, upper, K).map_err(|_| Trouble::Singular)?;
        self.saddle.solve();
        self.F[i][self.v.clone()].copy_from_slice(self.saddle.top());
        Y[self.v.clone()].iter_mut().zip(self.saddle.top()).for_each(|(v, a)| *v += ha * a);
        Ok(t1)
    }

    /// The stage i as the new point.
    pub fn write(&self, i: usize, x1: &mut [f64]) {
        x1[self.moving.clone()].copy_from_slice(&self.Y[i][self.moving.clone()]);
    }

    /// h Σ dⱼ Fⱼ.
    pub fn weighted(&self, h: f64, d: &[f64], out: &mut [f64]) {
        let out = &mut out[self.moving.clone()];
        out.fill(0.0);
        for (d, F) in d.iter().zip(&self.F).filter(|(d, _)| **d != 0.0) {
            out.iter_mut().zip(&F[self.moving.clone()]).for_each(|(e, f)| *e += h * d * f);
        }
    }
}
