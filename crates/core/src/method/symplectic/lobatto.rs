//! A step of a pair Lobatto IIIA-IIIB with s stages.
//!
//! ```text
//! Qᵢ = q + h Σ aᵢⱼ Vⱼ,    M(Qᵢ) Vᵢ = Pᵢ = p + h Σ âᵢⱼ (−H_q(Pⱼ, Qⱼ) − G(Qⱼ)ᵀ Λⱼ),    0 = g(Qᵢ)
//! q₁ = Q_s,               p₁ = p + h Σ bᵢ (−H_q(Pᵢ, Qᵢ) − G(Qᵢ)ᵀ Λᵢ),                 0 = G(q₁) v₁
//! ```
//! Q₁ = q, and the last column of Â is zero: the stages and Λ₁ … Λ_{s−1} come first, then Λ_s alone. The stages are iterated as they
//! stand; Λ by simplified Newton iterations with the blocks (AÂ)ᵢⱼ G(Qᵢ) M⁻¹ G(Qⱼ)ᵀ of g(Qᵢ)/h². Both go on to rounding.
//! Jay, SIAM J. Numer. Anal. 33 (1996); Hairer, Lubich & Wanner, Geometric Numerical Integration, VII.1.4.

use super::super::structural::{Saddle, StructuralEquations, Trouble};
use super::hamiltonian::Inertia;
use super::tableau::LobattoTableau;
use crate::linalg::{Lu, Matrix};

/// Most iterations.
const MOST: u32 = 100;
/// Changes of this size that do not become smaller are rounding.
const ROUNDING: f64 = 1e-13;
/// A change below this is none.
const NONE: f64 = 2.0 * f64::EPSILON;

/// Why velocities cannot be had from momenta.
const SINGULAR_MASS: &str = "its mass matrix is singular, so that velocities do not follow from momenta";

/// One stage.
struct LobattoStage {
    Q: Vec<f64>,
    V: Vec<f64>,
    /// f(Q, 0)
    potential: Vec<f64>,
    /// −H_q − Gᵀ Λ
    rate: Vec<f64>,
    Lambda: Vec<f64>,
    g: Vec<f64>,
    G: Matrix,
    /// M⁻¹ Gᵀ, column by column
    W: Matrix,
    M: Lu<f64>,
}

/// A step with its scratch space.
pub(super) struct Implicit {
    tableau: &'static LobattoTableau,
    constant_mass: bool,
    inertia: Inertia,
    stages: Vec<LobattoStage>,
    blocks: Lu<f64>,
    correction: Vec<f64>,
    momentum: Vec<f64>,
    sum: Vec<f64>,
    x: Vec<f64>,
    saddle: Saddle,
}

impl Implicit {
    pub fn new(equations: &StructuralEquations, tableau: &'static LobattoTableau, constant_mass: bool) -> Self {
        let (n, m) = (equations.layout().v().len(), equations.constraints());
        let stage = || LobattoStage {
            Q: vec![0.0; n],
            V: vec![0.0; n],
            potential: vec![0.0; n],
            rate: vec![0.0; n],
            Lambda: vec![0.0; m],
            g: vec![0.0; m],
            G: Matrix::zeros(m, n),
            W: Matrix::zeros(m, n),
            M: Lu::new(n),
        };
        Implicit {
            tableau,
            constant_mass,
            inertia: Inertia::new(equations),
            stages: (0..tableau.s).map(|_| stage()).collect(),
            blocks: Lu::new((tableau.s - 1) * m),
            correction: vec![0.0; (tableau.s - 1) * m],
            momentum: vec![0.0; n],
            sum: vec![0.0; n],
            x: vec![0.0; equations.layout().dim()],
            saddle: Saddle::of(equations),
        }
    }

    /// From p and v of x to those at the end of the step; t is any time. a and λ of x are guesses, before and after.
    pub fn step(&mut self, equations: &mut StructuralEquations, t: f64, h: f64, x: &mut [f64]) -> Result<(), Trouble> {
        let s = self.tableau.s;
        self.predict(equations, h, x);
        self.start_momentum(equations, t, x)?;
        for i in 0..s {
            self.visit(equations, t, i)?;
        }
        self.factor_blocks()?;
        let (p, v) = (equations.layout().p(), equations.layout().v());
        let size = |x: &[f64]| x.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let a = equations.layout().a();
        let moving = h.abs() * (size(&x[v.clone()]) + h.abs() * size(&x[a]));
        let scale = size(&x[p.clone()]) + moving + f64::MIN_POSITIVE;
        let mut last = f64::INFINITY;
        for iteration in 0.. {
            let mut change = self.stage_values(equations, t, h, &x[p.clone()])?;
            for i in 1..s {
                self.visit(equations, t, i)?;
            }
            change = change.max(self.correct_multipliers(h)) / scale;
            equations.statistics.solves += 1;
            if change <= NONE {
                break;
            }
            if change < ROUNDING && change > 0.5 * last {
                break;
            }
            // the first changes need not fall
            if !change.is_finite() || iteration >= MOST || (iteration > 3 && change > 2.0 * last) {
                return Err(Trouble::Diverged);
            }
            last = change;
        }
        self.finish(equations, t, h, x)
    }

    /// Stages from the Taylor series at the start of the step.
    fn predict(&mut self, equations: &StructuralEquations, h: f64, x: &[f64]) {
        let l = equations.layout();
        let (q, v, a) = (&x[l.p()], &x[l.v()], &x[l.a()]);
        for (stage, c) in self.stages.iter_mut().zip(self.tableau.c) {
            let tau = c * h;
            for k in 0..q.len() {
                stage.Q[k] = q[k] + tau * (v[k] + 0.5 * tau * a[k]);
                stage.V[k] = v[k] + tau * a[k];
            }
            stage.Lambda.copy_from_slice(&x[l.lambda()]);
        }
    }

    /// M, G, f(Q, 0) and g at a stage.
    fn visit(&mut self, equations: &mut StructuralEquations, t: f64, i: usize) -> Result<(), Trouble> {
        let stage = &mut self.stages[i];
        self.x[equations.layout().p()].copy_from_slice(&stage.Q);
        equations.at_position(t, &self.x)?;
        equations.forces(t, &self.x)?;
        stage.potential.iter_mut().zip(equations.minus_force()).for_each(|(f, minus)| *f = -minus);
        stage.g.copy_from_slice(&equations.g);
        equations.K.copy_to(&mut stage.G, 0);
        equations.M.copy_to(&mut stage.M.A, 0);
        stage.M.factor().map_err(|_| Trouble::OutOfClass(SINGULAR_MASS))
    }

    /// p = M(q) v.
    fn start_momentum(&mut self, equations: &mut StructuralEquations, t: f64, x: &[f64]) -> Result<(), Trouble> {
        let v = &x[equations.layout().v()];
        equations.at_position(t, x)?;
        for (i, p) in self.momentum.iter_mut().enumerate() {
            *p = equations.M.row_times(i, v);
        }
        Ok(())
    }

    /// (AÂ)ᵢⱼ G(Qᵢ) M⁻¹ G(Qⱼ)ᵀ for i = 2 … s, j = 1 … s − 1.
    fn factor_blocks(&mut self) -> Result<(), Trouble> {
        let (s, m) = (self.tableau.s, self.stages[0].g.len());
        for stage in &mut self.stages[..s - 1] {
            for k in 0..m {
                stage.W.row_mut(k).copy_from_slice(stage.G.row(k));
                stage.M.solve(stage.W.row_mut(k));
            }
        }
        for i in 1..s {
            for j in 0..s - 1 {
                let factor = self.tableau.product(i, j);
                for k in 0..m {
                    for l in 0..m {
                        let GW: f64 =
                            self.stages[i].G.row(k).iter().zip(self.stages[j].W.row(l)).map(|(g, w)| g * w).sum();
                        self.blocks.A[((i - 1) * m + k, j * m + l)] = factor * GW;
                    }
                }
            }
        }
        self.blocks.factor().map_err(|_| Trouble::Singular)
    }

    /// −H_q − Gᵀ Λ at stage j, without Gᵀ Λ at the last.
    fn rate(&mut self, equations: &mut StructuralEquations, t: f64, j: usize) -> Result<(), Trouble> {
        let stage = &mut self.stages[j];
        stage.rate.copy_from_slice(&stage.potential);
        if !self.constant_mass {
            self.inertia.add(equations, t, &stage.Q, &stage.V, &mut stage.rate)?;
        }
        if j + 1 < self.tableau.s {
            for (k, lambda) in stage.Lambda.iter().enumerate() {
                stage.rate.iter_mut().zip(stage.G.row(k)).for_each(|(rate, g)| *rate -= g * lambda);
            }
        }
        Ok(())
    }

    /// Vᵢ and Qᵢ from the rates of the last ones; how far they moved.
    fn stage_values(&mut self, equations: &mut StructuralEquations, t: f64, h: f64, q: &[f64]) -> Result<f64, Trouble> {
        let s = self.tableau.s;
        let mut change = 0.0_f64;
        for j in 0..s - 1 {
            self.rate(equations, t, j)?;
        }
        for i in 0..s {
            self.sum.copy_from_slice(&self.momentum);
            for j in 0..s - 1 {
                let factor = h * self.tableau.hat(i, j);
                self.sum.iter_mut().zip(&self.stages[j].rate).for_each(|(sum, rate)| *sum += factor * rate);
            }
            let stage = &mut self.stages[i];
            stage.M.solve(&mut self.sum);
            for (V, new) in stage.V.iter_mut().zip(&self.sum) {
                change = change.max(h.abs() * (*V - new).abs());
                *V = *new;
            }
        }
        for i in 1..s {
            self.sum.fill(0.0);
            for j in 0..s {
                let factor = h * self.tableau.A[i][j];
                self.sum.iter_mut().zip(&self.stages[j].V).for_each(|(sum, V)| *sum += factor * V);
            }
            for ((Q, q), d) in self.stages[i].Q.iter_mut().zip(q).zip(&self.sum) {
                change = change.max((*Q - (q + d)).abs());
                *Q = q + d;
            }
        }
        Ok(change)
    }

    /// Λ from g(Qᵢ)/h²; by how much positions will move.
    fn correct_multipliers(&mut self, h: f64) -> f64 {
        let (s, m) = (self.tableau.s, self.stages[0].g.len());
        for i in 1..s {
            for k in 0..m {
                self.correction[(i - 1) * m + k] = self.stages[i].g[k] / (h * h);
            }
        }
        self.blocks.solve(&mut self.correction);
        let mut move_by = 0.0_f64;
        for (j, stage) in self.stages[..s - 1].iter_mut().enumerate() {
            for (k, lambda) in stage.Lambda.iter_mut().enumerate() {
                let correction = self.correction[j * m + k];
                *lambda += correction;
                let w = stage.W.row(k).iter().fold(0.0_f64, |largest, w| largest.max(w.abs()));
                move_by = move_by.max(h * h * (w * correction).abs());
            }
        }
        move_by
    }

    /// The last multiplier, and the new point.
    fn finish(&mut self, equations: &mut StructuralEquations, t: f64, h: f64, x: &mut [f64]) -> Result<(), Trouble> {
        let l = equations.layout().clone();
        let (s, n) = (self.tableau.s, l.v().len());
        self.rate(equations, t, s - 1)?;
        x[l.p()].copy_from_slice(&self.stages[s - 1].Q);
        equations.at_position(t, x)?;
        equations.statistics.decompositions += 1;
        self.saddle.factor_at(equations).map_err(|_| Trouble::Singular)?;
        self.saddle.b[..n].copy_from_slice(&self.momentum);
        self.saddle.b[n..].fill(0.0);
        for (stage, b) in self.stages.iter().zip(self.tableau.b) {
            self.saddle.b[..n].iter_mut().zip(&stage.rate).for_each(|(p, rate)| *p += h * b * rate);
        }
        self.saddle.solve();
        x[l.v()].copy_from_slice(self.saddle.top());
        for (j, y) in l.lambda().zip(self.saddle.bottom()) {
            x[j] = y / (h * self.tableau.b[s - 1]);
        }
        Ok(())
    }
}
