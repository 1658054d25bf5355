//! Substeps of the half-explicit midpoint rule, an even number n of size h = H/n, begun with a half-explicit Euler step:
//!
//! ```text
//! p₁ = p₀ + h Z(p₀) v₀,       [ M(p₀)  K(p₀)ᵀ ; K(p₁)    0 ] (v₁; h Λ)     = ( M(p₀) v₀ + h f₀ ; −k₀(p₁) )
//! pᵢ₊₁ = pᵢ₋₁ + 2h Z(pᵢ) vᵢ,  [ M(pᵢ)  K(pᵢ)ᵀ ; K(pᵢ₊₁)  0 ] (vᵢ₊₁; 2h Λ) = ( M(pᵢ) vᵢ₋₁ + 2h fᵢ ; −k₀(pᵢ₊₁) )
//! ```
//! Its errors have an expansion in h². Λ belongs to the midpoints, to first order only, and is not kept.
//! Gragg's method for constrained systems: Lubich, Impact Comput. Sci. Eng. 3 (1991); Hairer, Nørsett & Wanner, Solving ODEs I, II.9.

use super::Rates;
use crate::linalg::Jacobian;
use crate::method::structural::{Saddle, StructuralEquations, Trouble};

/// Room for the substeps.
pub(super) struct Midpoint {
    saddle: Saddle,
    /// M and K at the point before
    M: Jacobian,
    K: Jacobian,
    /// the point before the last one
    before: Vec<f64>,
    next: Vec<f64>,
}

impl Midpoint {
    pub fn new(equations: &StructuralEquations) -> Self {
        let dim = equations.layout().dim();
        Midpoint {
            saddle: Saddle::of(equations),
            M: equations.M.clone(),
            K: equations.K.clone(),
            before: vec![0.0; dim],
            next: vec![0.0; dim],
        }
    }

    /// n substeps over H from t; positions, velocities and dynamic variables of x move.
    pub fn line(
        &mut self,
        equations: &mut StructuralEquations,
        (t, H): (f64, f64),
        n: u32,
        x: &mut [f64],
        rates: &mut Rates,
    ) -> Result<(), Trouble> {
        let h = H / f64::from(n);
        let (p, v, r) = (equations.layout().p(), equations.layout().v(), equations.layout().r());
        self.before.copy_from_slice(x);
        equations.at_position(t, x)?;
        for i in 0..n {
            // M and K of the point x stay, those of the next one come
            self.M.copy_from(&equations.M);
            self.K.copy_from(&equations.K);
            let width = if i == 0 { h } else { 2.0 * h };
            equations.forces(t + h * f64::from(i), x)?;
            rates.of_positions(i, equations);
            self.next.copy_from_slice(&self.before);
            self.next[p.clone()].iter_mut().zip(equations.kinematics()).for_each(|(p, rate)| *p += width * rate);
            self.next[r.clone()].iter_mut().zip(equations.dynamic()).for_each(|(r, rate)| *r += width * rate);
            for (j, b) in self.saddle.b[..v.len()].iter_mut().enumerate() {
                *b = self.M.row_times(j, &self.before[v.clone()]) - width * equations.minus_force()[j];
            }
            equations.at_position(t + h * f64::from(i + 1), &self.next)?;
            equations.statistics.decompositions += 1;
            self.saddle.leave_out(equations.left_out());
            self.saddle.factor(&self.M, &self.K, &equations.K).map_err(|_| Trouble::Singular)?;
            self.saddle.b[v.len()..].iter_mut().zip(&equations.k0).for_each(|(b, k0)| *b = -k0);
            self.saddle.solve();
            self.next[v.clone()].copy_from_slice(self.saddle.top());
            if Rates::wanted(i) {
                // the acceleration takes the place of the right-hand side
                for (b, old) in self.saddle.b.iter_mut().zip(&self.before[v.clone()]) {
                    *b = (*b - old) / width;
                }
                rates.of_velocities(i, &v, self.saddle.top());
            }
            self.before.copy_from_slice(x);
            x.copy_from_slice(&self.next);
        }
        Ok(())
    }
}
