//! RATTLE for a constant mass matrix, in velocities.
//!
//! ```text
//! M v½ = M v + h/2 (f(q) − G(q)ᵀλ),    q₁ = q + h v½,                       g(q₁) = 0
//! M v₁ = M v½ + h/2 (f(q₁) − G(q₁)ᵀμ),                                G(q₁) v₁ = 0
//! ```
//! λ by simplified Newton iterations with G(q₁) M⁻¹ G(q)ᵀ, to rounding; μ from a linear system.

use super::super::structural::{Saddle, StructuralEquations, Trouble};
use crate::linalg::Jacobian;

/// Most iterations.
const MOST: u32 = 50;
/// Corrections of this size that do not become smaller are rounding.
const ROUNDING: f64 = 1e-13;

/// A substep with its scratch space.
pub(super) struct Explicit {
    /// G where the last substep ended
    G: Jacobian,
    /// that position; NaN before the first substep
    position: Vec<f64>,
    saddle: Saddle,
}

impl Explicit {
    pub fn new(equations: &StructuralEquations) -> Self {
        let n = equations.layout().v().len();
        Explicit { G: equations.K.clone(), position: vec![f64::NAN; n], saddle: Saddle::of(equations) }
    }

    /// From p and v of x to those at the end of the substep; t is the time there. a of x is M⁻¹(f − Gᵀλ) at p with any λ, before and after.
    pub fn step(&mut self, equations: &mut StructuralEquations, t: f64, h: f64, x: &mut [f64]) -> Result<(), Trouble> {
        let l = equations.layout();
        let (p, v, a, lambda) = (l.p(), l.v(), l.a(), l.lambda());
        let n = v.len();
        if x[p.clone()] != self.position {
            equations.at_position(t, x)?;
            self.G.copy_from(&equations.K);
        }
        // first half, with the multiplier that is known
        for k in 0..n {
            x[v.start + k] += 0.5 * h * x[a.start + k];
            x[p.start + k] += h * x[v.start + k];
        }
        equations.at_position(t, x)?;
        if equations.constraints() > 0 {
            equations.statistics.decompositions += 1;
            self.saddle.factor(&equations.M, &self.G, &equations.K).map_err(|_| Trouble::Singular)?;
            let scale = x[p.clone()].iter().fold(0.0_f64, |m, q| m.max(q.abs())) + f64::MIN_POSITIVE;
            let mut last = f64::INFINITY;
            for iteration in 0.. {
                self.saddle.b[..n].fill(0.0);
                self.saddle.b[n..].iter_mut().zip(&equations.g).for_each(|(b, g)| *b = -g);
                self.saddle.solve();
                equations.statistics.solves += 1;
                let mut size = 0.0_f64;
                for (k, d) in self.saddle.top().iter().enumerate() {
                    x[p.start + k] += d;
                    x[v.start + k] += d / h;
                    size = size.max(d.abs() / scale);
                }
                equations.at_position(t, x)?;
                // the next correction would be smaller by the same ratio
                let ratio = if iteration == 0 { 1.0 } else { size / last };
                if size * ratio < 0.1 * f64::EPSILON {
                    break;
                }
                if size < ROUNDING && size > 0.5 * last {
                    break;
                }
                if !(size < last) || iteration >= MOST {
                    return Err(Trouble::Diverged);
                }
                last = size;
            }
        }
        // second half
        equations.forces(t, x)?;
        equations.statistics.decompositions += 1;
        self.saddle.factor_at(equations).map_err(|_| Trouble::Singular)?;
        self.saddle.b[..n].iter_mut().zip(equations.minus_force()).for_each(|(b, f)| *b = -0.5 * h * f);
        for (k, b) in self.saddle.b[n..].iter_mut().enumerate() {
            *b = -equations.K.row_times(k, &x[v.clone()]);
        }
        self.saddle.solve();
        for (k, d) in self.saddle.top().iter().enumerate() {
            x[v.start + k] += d;
            x[a.start + k] = d / (0.5 * h);
        }
        for (j, y) in lambda.zip(self.saddle.bottom()) {
            x[j] = y / (0.5 * h);
        }
        self.G.copy_from(&equations.K);
        self.position.copy_from_slice(&x[p]);
        Ok(())
    }
}
