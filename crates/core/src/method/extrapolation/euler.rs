//! Substeps of the half-explicit Euler method, n of size h = H/n:
//!
//! ```text
//! F = f(t, p, v, r),   b = b(t, p, v, r),   p⁺ = p + h Z(p) v,   r⁺ = r + h b
//! [ M(p⁺)  K(p⁺)ᵀ ; K(p⁺)  0 ] (v⁺; h Λ) = ( M(p⁺) v + h F ; −k₀(p⁺) )
//! ```
//! M and K stand at the new position, f at the old state. Its errors have an expansion in h, those of Λ and of (v⁺ − v)/h as well.
//! Lubich, Impact Comput. Sci. Eng. 3 (1991); Lubich, Nowak, Pöhle & Engstler, ZIB SC 92-12 (MEXX).

use super::Rates;
use crate::method::structural::{Saddle, StructuralEquations, Trouble};

/// Room for the substeps.
pub(super) struct Euler {
    saddle: Saddle,
    /// h F
    impulse: Vec<f64>,
}

impl Euler {
    pub fn new(equations: &StructuralEquations) -> Self {
        let n = equations.layout().v().len();
        Euler { saddle: Saddle::of(equations), impulse: vec![0.0; n] }
    }

    /// n substeps over H from t; x moves, with its accelerations and multipliers.
    pub fn line(
        &mut self,
        equations: &mut StructuralEquations,
        (t, H): (f64, f64),
        n: u32,
        x: &mut [f64],
        rates: &mut Rates,
    ) -> Result<(), Trouble> {
        let h = H / f64::from(n);
        let (p, v, r, a) = {
            let l = equations.layout();
            (l.p(), l.v(), l.r(), l.a())
        };
        let multipliers = equations.layout().lambda().start..equations.layout().mu().end;
        for i in 0..n {
            equations.forces(t + h * f64::from(i), x)?;
            for (impulse, f) in self.impulse.iter_mut().zip(equations.minus_force()) {
                *impulse = -h * f;
            }
            rates.of_positions(i, equations);
            x[p.clone()].iter_mut().zip(equations.kinematics()).for_each(|(p, rate)| *p += h * rate);
            x[r.clone()].iter_mut().zip(equations.dynamic()).for_each(|(r, rate)| *r += h * rate);
            equations.at_position(t + h * f64::from(i + 1), x)?;
            equations.statistics.decompositions += 1;
            self.saddle.factor_at(equations).map_err(|_| Trouble::Singular)?;
            let (top, bottom) = self.saddle.b.split_at_mut(v.len());
            for (j, (b, impulse)) in top.iter_mut().zip(&self.impulse).enumerate() {
                *b = equations.M.row_times(j, &x[v.clone()]) + impulse;
            }
            bottom.iter_mut().zip(&equations.k0).for_each(|(b, k0)| *b = -k0);
            self.saddle.solve();
            for (j, new) in self.saddle.top().iter().enumerate() {
                x[a.start + j] = (new - x[v.start + j]) / h;
                x[v.start + j] = *new;
            }
            for (lambda, impulse) in x[multipliers.clone()].iter_mut().zip(self.saddle.bottom()) {
                *lambda = impulse / h;
            }
            rates.of_velocities(i, &v, &x[a.clone()]);
        }
        Ok(())
    }
}
