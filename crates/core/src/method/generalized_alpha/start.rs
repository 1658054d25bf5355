//! Starting values with which multipliers are of second order from the first step.
//!
//! ```text
//! a₀ = v'(t₀ + (α_m − α_f) h)
//! v₀ + Δ₀,   Δ₀ ∈ range M⁻¹(GZ)ᵀ,   GZ (v₀ + Δ₀) + g_t = h² GZ (C v''₀ + [v₀, v'₀]/12),   C = (1 − 6β − 3(α_m − α_f))/6
//! ```
//! the second only in the index-3 form. Z [v, w] = ∂_p(Zw) Zv − ∂_p(Zv) Zw is zero where p' = v; v × w for angular velocities in the
//! body. Accelerations beside t₀ come from steps of the classical Runge-Kutta method with the constraints on acceleration level, all of them
//! forward in time: what was before t₀ may be another branch of the forces. Those before it are extrapolated from three behind it.
//! In content Arnold, Brüls & Cardona, Numer. Math. 129 (2015).

use super::newton::Old;
use super::{AlphaStart, Parameters};
use crate::linalg::Jacobian;
use crate::method::structural::{Saddle, StructuralEquations, Trouble};

/// Scratch of the start.
pub(super) struct Starter {
    saddle: Saddle,
    x: Vec<f64>,
    stage: Vec<f64>,
    sum: Vec<f64>,
    rate: Vec<f64>,
    second: Vec<f64>,
    bracket: Vec<f64>,
    F: Jacobian,
}

impl Starter {
    pub fn new(equations: &StructuralEquations) -> Self {
        let l = equations.layout();
        let room = || vec![0.0; l.dim()];
        Starter {
            saddle: Saddle::of(equations),
            x: room(),
            stage: room(),
            sum: room(),
            rate: room(),
            second: vec![0.0; l.v().len()],
            bracket: vec![0.0; l.p().len()],
            F: equations.new_jacobian(),
        }
    }

    /// a₀ and v₀ of the first step from the point x at t; `index3` if velocities may be perturbed.
    pub fn values(
        &mut self,
        equations: &mut StructuralEquations,
        (parameters, variant, index3): (Parameters, AlphaStart, bool),
        (t, x, h): (f64, &[f64], f64),
        old: &mut Old,
    ) -> Result<(), Trouble> {
        let a = equations.layout().a();
        let shifted = matches!(variant, AlphaStart::Shifted | AlphaStart::Both) && parameters.shift() != 0.0;
        let s = parameters.shift() * h;
        if shifted && s > 0.0 {
            self.flow(equations, t, x, s)?;
            old.a.copy_from_slice(&self.x[a]);
        } else if shifted {
            // a(−s) = 3 a(0) − 3 a(s) + a(2s)
            self.flow(equations, t, x, -s)?;
            old.a.iter_mut().zip(&x[a.clone()]).zip(&self.x[a.clone()]).for_each(|((a, a0), a1)| *a = 3.0 * (a0 - a1));
            self.flow(equations, t, x, -2.0 * s)?;
            old.a.iter_mut().zip(&self.x[a]).for_each(|(a, a2)| *a += a2);
        } else {
            old.a.copy_from_slice(&x[a]);
        }
        if index3 && matches!(variant, AlphaStart::Perturbed | AlphaStart::Both) {
            self.perturb(equations, parameters, (t, x, h), &mut old.v)?;
        }
        Ok(())
    }

    /// v₀ + Δ₀.
    fn perturb(
        &mut self,
        equations: &mut StructuralEquations,
        parameters: Parameters,
        (t, x, h): (f64, &[f64], f64),
        velocity: &mut [f64],
    ) -> Result<(), Trouble> {
        let l = equations.layout().clone();
        let n = l.v().len();
        // v'' = (−3 a(0) + 4 a(τ) − a(2τ))/2τ along the motion
        let tau = 0.5 * h;
        self.flow(equations, t, x, tau)?;
        let known = self.x[l.a()].iter().zip(&x[l.a()]);
        self.second.iter_mut().zip(known).for_each(|(s, (a1, a0))| *s = 4.0 * a1 - 3.0 * a0);
        self.flow(equations, t, x, 2.0 * tau)?;
        self.second.iter_mut().zip(&self.x[l.a()]).for_each(|(s, a2)| *s = (*s - a2) / (2.0 * tau));
        // ∂_p(Zv') Zv − ∂_p(Zv) Zv'
        self.x.copy_from_slice(x);
        equations.jacobian(t, &self.x, &mut self.F)?;
        self.rate[l.p()].copy_from_slice(equations.kinematics());
        self.x[l.v()].copy_from_slice(&x[l.a()]);
        equations.forces(t, &self.x)?;
        let Za = equations.kinematics();
        for (b, row) in self.bracket.iter_mut().zip(l.row_kinematics()) {
            *b = l.p().zip(Za).map(|(column, z)| self.F[(row, column)] * z).sum();
        }
        equations.jacobian(t, &self.x, &mut self.F)?;
        for (b, row) in self.bracket.iter_mut().zip(l.row_kinematics()) {
            *b -= l.p().map(|column| self.F[(row, column)] * self.rate[column]).sum::<f64>();
        }
        // the velocity level, moved by O(h²)
        equations.at_position(t, x)?;
        self.saddle.factor_at(equations).map_err(|_| Trouble::Singular)?;
        equations.evaluate(t, x)?;
        self.saddle.b[..n].fill(0.0);
        for (b, level) in self.saddle.b[n..].iter_mut().zip(equations.velocity_level()) {
            *b = -level;
        }
        let C = (1.0 - 6.0 * parameters.beta - 3.0 * parameters.shift()) / 6.0;
        for (k, row) in l.row_g().enumerate() {
            let second = equations.K.row_times(k, &self.second);
            let bracket: f64 = l.p().zip(&self.bracket).map(|(column, b)| -self.F[(row, column)] * b).sum();
            self.saddle.b[n + k] += h * h * (C * second + bracket / 12.0);
        }
        self.saddle.solve();
        velocity.iter_mut().zip(self.saddle.top()).for_each(|(v, d)| *v += d);
        Ok(())
    }

    /// The point a time τ later than x, accelerations included.
    fn flow(&mut self, equations: &mut StructuralEquations, t: f64, x: &[f64], tau: f64) -> Result<(), Trouble> {
        self.stage.copy_from_slice(x);
        self.sum.copy_from_slice(x);
        for (c, b, next) in [(0.0, 1.0 / 6.0, 0.5), (0.5, 1.0 / 3.0, 0.5), (0.5, 1.0 / 3.0, 1.0), (1.0, 1.0 / 6.0, 0.0)]
        {
            self.rates(equations, t + c * tau)?;
            for j in equations.layout().r().start..x.len() {
                self.sum[j] += b * tau * self.rate[j];
                self.stage[j] = x[j] + next * tau * self.rate[j];
            }
        }
        self.stage.copy_from_slice(&self.sum);
        self.rates(equations, t + tau)?;
        self.x.copy_from_slice(&self.stage);
        Ok(())
    }

    /// ẋ at the stage, and its accelerations.
    fn rates(&mut self, equations: &mut StructuralEquations, t: f64) -> Result<(), Trouble> {
        equations.at_position(t, &self.stage)?;
        self.saddle.factor_at(equations).map_err(|_| Trouble::Singular)?;
        equations.accelerations(t, &mut self.stage, &mut self.saddle)?;
        let l = equations.layout();
        self.rate[l.p()].copy_from_slice(equations.kinematics());
        self.rate[l.r()].copy_from_slice(equations.dynamic());
        self.rate[l.v()].copy_from_slice(&self.stage[l.a()]);
        Ok(())
    }
}
