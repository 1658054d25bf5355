//! The end of a step: onto the position constraints, onto the velocity constraints, then accelerations and multipliers.
//!
//! ```text
//! positions:      M(p̃) δ + K(p̃)ᵀ μ = 0,  g(p̃ + Zδ) = 0          simplified Newton
//! velocities:     M(p)(v − ṽ) + K(p)ᵀ μ = 0,  K(p) v + k₀ = 0    linear
//! ```
//! Both corrections are the smallest ones in the metric of the mass matrix. Hairer & Wanner, Solving ODEs II, VII.2, (2.10), (2.11).
//!
//! Invariants e(p, v) = e₀ restrict velocities, but at rest an energy restricts positions. So a point moves in both, along the constraints, by the smallest
//! change in |δp|²/T² + |δv|², T being the step size:
//!
//! ```text
//! δp = T² Z u α,   δv = w α,   M u + Kᵀμ = (e_p Z)ᵀ, K u = 0,   M w + Kᵀν = e_vᵀ, K w = 0
//! ```
//!
//! Where p' = v does not hold there are invariants that no velocity changes, as the norm of a quaternion: positions move along e_pᵀ instead of Z u there.

use super::equations::StructuralEquations;
use super::one_step::Trouble;
use super::saddle::Saddle;
use crate::linalg::Lu;
use crate::method::weights::Weights;
use crate::motion::{InvariantSlopes, Solved};
use crate::statistics::Residuals;
use std::ops::Range;

/// Most iterations onto the position constraints.
const MOST: u32 = 10;
/// A correction is the last one if the next would be smaller than this, relative to 1 + |p|. The matrix stays that of the beginning, so that
/// each correction is smaller than the one before by about the size of the first one.
const ENOUGH: f64 = 1e-16;

/// Which constraints a new point is brought onto.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProjectedOnto {
    /// Those of positions and of velocities.
    #[default]
    All,
    /// Those of positions alone: errors of velocities go on to drift, and nothing is gained.
    Positions,
    /// Those of velocities alone, which is nearly as good as all.
    Velocities,
    /// None: the point drifts.
    Nothing,
    /// Those of positions and of velocities, and the invariants, along the constraints.
    Invariants,
}

/// What is needed to bring a point onto the constraints.
pub(super) struct Projection {
    saddle: Saddle,
    /// is p' = v?
    plain: bool,
    delta: Vec<f64>,
    shifted: Vec<f64>,
    correction: Vec<f64>,
    /// are there formulas of the corrections, and of accelerations and multipliers?
    by_formulas: bool,
    /// are the factors those of the position where M and K stand?
    factored: bool,
    /// Unit of time T.
    pub unit: f64,
    kept: Option<KeptInvariants>,
}

/// Invariants, and the values that they are kept at.
struct KeptInvariants {
    values: Vec<f64>,
    at: InvariantSlopes,
    /// T² e_p Z u + e_v w, and α
    lu: Lu<f64>,
    alpha: Vec<f64>,
    /// how far the last point is from them
    left: f64,
}

impl Projection {
    /// `by_formulas` if the equations have formulas of solutions with M and K.
    pub fn new(equations: &StructuralEquations, by_formulas: bool) -> Self {
        let dim = equations.layout().dim();
        let plain = equations.kinematics_structure().is_plain();
        let saddle = Saddle::of(equations);
        let zeros = || vec![0.0; dim];
        Projection {
            saddle,
            plain,
            delta: zeros(),
            shifted: zeros(),
            correction: zeros(),
            by_formulas,
            factored: false,
            unit: 1.0,
            kept: None,
        }
    }

    /// Is p' = v?
    pub fn plain(&self) -> bool {
        self.plain
    }

    /// Bring positions, velocities or both onto their constraints; the size of the correction in the norm of the tolerance.
    pub fn project(
        &mut self,
        equations: &mut StructuralEquations,
        (t, x): (f64, &mut [f64]),
        weights: &Weights,
        onto: ProjectedOnto,
    ) -> Result<f64, Trouble> {
        let (p, v) = (equations.layout().p(), equations.layout().v());
        let n = v.len();
        let nothing = equations.constraints() == 0 && onto != ProjectedOnto::Invariants;
        if nothing || onto == ProjectedOnto::Nothing {
            self.stay(equations, t, x)?;
            return Ok(0.0);
        }
        if let Some(moved) = self.project_by_formulas(equations, (t, x), weights, onto)? {
            return Ok(moved);
        }
        equations.at_position(t, x)?;
        self.factor(equations)?;
        self.delta.fill(0.0);
        let (mut first, mut last) = (0.0_f64, f64::INFINITY);
        for iteration in 0.. {
            if equations.g.is_empty() || onto == ProjectedOnto::Velocities {
                break;
            }
            self.saddle.b.fill(0.0);
            self.saddle.b[n..].iter_mut().zip(&equations.g).for_each(|(b, g)| *b = -g);
            self.saddle.solve();
            let mut size = 0.0_f64;
            if self.plain {
                for (j, d) in p.clone().zip(self.saddle.top()) {
                    size = size.max(d.abs() / (1.0 + x[j].abs()));
                    x[j] += d;
                    self.delta[j] += d;
                }
            } else {
                // p moves along Z δ
                self.shifted.copy_from_slice(x);
                self.shifted[v.clone()].copy_from_slice(self.saddle.top());
                equations.forces(t, &self.shifted)?;
                for (j, d) in p.clone().zip(equations.kinematics()) {
                    size = size.max(d.abs() / (1.0 + x[j].abs()));
                    x[j] += d;
                    self.delta[j] += d;
                }
            }
            equations.at_position(t, x)?;
            first = first.max(size);
            if size * first < ENOUGH || size < 10.0 * ENOUGH {
                break;
            }
            if iteration >= MOST || !(size < last) {
                return Err(Trouble::Diverged);
            }
            last = size;
        }
        // the linear problem of the velocities, with the matrices of the new position
        if !equations.g.is_empty() && onto != ProjectedOnto::Velocities {
            self.factor(equations)?;
        }
        if onto == ProjectedOnto::Positions {
            return Ok(weights.norm(&self.delta));
        }
        self.saddle.b.fill(0.0);
        for (k, b) in self.saddle.b[n..].iter_mut().enumerate() {
            *b = -(equations.K.row_times(k, &x[v.clone()]) + equations.k0[k]);
        }
        self.saddle.solve();
        for (j, d) in v.zip(self.saddle.top()) {
            x[j] += d;
            self.delta[j] = *d;
        }
        Ok(weights.norm(&self.delta))
    }

    /// The same by formulas of the corrections, with the matrices of every point that they are made at. None where they do not hold, and nothing
    /// has moved.
    fn project_by_formulas(
        &mut self,
        equations: &mut StructuralEquations,
        (t, x): (f64, &mut [f64]),
        weights: &Weights,
        onto: ProjectedOnto,
    ) -> Result<Option<f64>, Trouble> {
        if !self.by_formulas {
            return Ok(None);
        }
        let (p, v) = (equations.layout().p(), equations.layout().v());
        let Projection { delta, shifted, correction, .. } = self;
        delta.fill(0.0);
        shifted.copy_from_slice(x);
        let mut last = f64::INFINITY;
        for iteration in 0.. {
            if equations.g.is_empty() || onto == ProjectedOnto::Velocities {
                break;
            }
            equations.statistics.masses += 1;
            equations.statistics.decompositions += 1;
            if !equations.correction_by_formulas(Solved::Position, t, shifted, correction) {
                return Ok(None);
            }
            let mut size = 0.0_f64;
            for j in p.clone() {
                size = size.max(correction[j].abs() / (1.0 + shifted[j].abs()));
                shifted[j] += correction[j];
                delta[j] += correction[j];
            }
            // what is left is of the size of its square
            if size * size < ENOUGH {
                break;
            }
            if iteration >= MOST || !(size < last) {
                return Err(Trouble::Diverged);
            }
            last = size;
        }
        let constrained = equations.constraints() > 0;
        if constrained && onto != ProjectedOnto::Positions {
            if !equations.correction_by_formulas(Solved::Velocity, t, shifted, correction) {
                return Ok(None);
            }
            for j in v {
                shifted[j] += correction[j];
                delta[j] = correction[j];
            }
        }
        if onto == ProjectedOnto::Invariants && !self.onto_invariants(equations, t) {
            return Ok(None);
        }
        x.copy_from_slice(&self.shifted);
        self.factored = false;
        Ok(Some(weights.norm(&self.delta)))
    }

    /// Keep invariants at their values at a point; false where there are no formulas.
    pub fn keep_invariants(&mut self, equations: &mut StructuralEquations, (t, x): (f64, &[f64])) -> bool {
        let n = equations.layout().sizes;
        let kept = self.kept.get_or_insert_with(|| KeptInvariants {
            values: vec![0.0; n.invariants],
            at: InvariantSlopes::new(n.invariants, n.positions, n.velocities),
            lu: Lu::new(n.invariants),
            alpha: vec![0.0; n.invariants],
            left: 0.0,
        });
        let known = equations.invariant_slopes(t, x, &mut kept.at);
        kept.values.copy_from_slice(&kept.at.e);
        kept.left = 0.0;
        known
    }

    /// The shifted point onto the invariants, and back onto the constraints, until nothing but rounding is left. False where formulas do not hold.
    fn onto_invariants(&mut self, equations: &mut StructuralEquations, t: f64) -> bool {
        let Projection { shifted, delta, correction, unit, kept: Some(kept), .. } = self else { return true };
        let (p, v) = (equations.layout().p(), equations.layout().v());
        let mut last = f64::INFINITY;
        for _ in 0..MOST {
            if !equations.invariant_slopes(t, shifted, &mut kept.at) {
                return false;
            }
            let KeptInvariants { values, at: InvariantSlopes { e, along, slopes }, lu, alpha, left } = &mut *kept;
            *left = values.iter().zip(&*e).fold(0.0, |most: f64, (value, e)| most.max((value - e).abs()));
            let k = e.len();
            for i in 0..k {
                alpha[i] = values[i] - e[i];
                (0..k).for_each(|j| lu.A[(i, j)] = *unit * *unit * slopes[0][i * k + j] + slopes[1][i * k + j]);
            }
            if lu.factor().is_err() {
                // nothing changes them here
                return true;
            }
            lu.solve(alpha);
            let parts = [(p.clone(), &along[0], *unit * *unit), (v.clone(), &along[1], 1.0)];
            let mut size = 0.0_f64;
            for (range, along, factor) in parts {
                let n = range.len();
                for (j, place) in range.enumerate() {
                    correction[place] = factor * (0..k).map(|i| alpha[i] * along[i * n + j]).sum::<f64>();
                    size = size.max(correction[place].abs() / (1.0 + shifted[place].abs()));
                }
            }
            if size < 10.0 * ENOUGH || !(size < 0.5 * last) {
                return true;
            }
            last = size;
            let mut shift = |shifted: &mut [f64], correction: &[f64], range: &Range<usize>| {
                for j in range.clone() {
                    shifted[j] += correction[j];
                    delta[j] += correction[j];
                }
            };
            shift(shifted, correction, &p);
            shift(shifted, correction, &v);
            if equations.constraints() == 0 {
                continue;
            }
            for (what, range) in [(Solved::Position, &p), (Solved::Velocity, &v)] {
                if !equations.correction_by_formulas(what, t, shifted, correction) {
                    return false;
                }
                shift(shifted, correction, range);
            }
        }
        true
    }

    /// Take the matrices at the position of x, and no correction.
    pub fn stay(&mut self, equations: &mut StructuralEquations, t: f64, x: &[f64]) -> Result<(), Trouble> {
        equations.at_position(t, x)?;
        self.factored = false;
        if self.by_formulas { Ok(()) } else { self.factor(equations) }
    }

    /// a, λ, μ at the point where this stands.
    pub fn accelerations(
        &mut self,
        equations: &mut StructuralEquations,
        t: f64,
        x: &mut [f64],
    ) -> Result<Residuals, Trouble> {
        if self.by_formulas {
            equations.at_position(t, x)?;
            if equations.accelerations_by_formulas(t, x) {
                equations.statistics.decompositions += 1;
                let invariant = self.kept.as_ref().map(|kept| kept.left);
                return Ok(Residuals { invariant, ..equations.settled_residuals(x) });
            }
        }
        if !self.factored {
            self.factor(equations)?;
        }
        let invariant = self.kept.as_ref().map(|kept| kept.left);
        let residuals = equations.accelerations(t, x, &mut self.saddle)?;
        equations.least_multipliers(x);
        Ok(Residuals { invariant, ..residuals })
    }

    fn factor(&mut self, equations: &mut StructuralEquations) -> Result<(), Trouble> {
        equations.statistics.decompositions += 1;
        self.factored = true;
        self.saddle.factor_at(equations).map_err(|_| Trouble::Singular)
    }
}
