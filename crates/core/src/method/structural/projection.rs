//! The end of a step: onto the position constraints, onto the velocity constraints, then accelerations and multipliers.
//!
//! ```text
//! positions:      M(p̃) δ + K(p̃)ᵀ μ = 0,  g(p̃ + Zδ) = 0          simplified Newton
//! velocities:     M(p)(v − ṽ) + K(p)ᵀ μ = 0,  K(p) v + k₀ = 0    linear
//! ```
//! Both corrections are the smallest ones in the metric of the mass matrix. Hairer & Wanner, Solving ODEs II, VII.2, (2.10), (2.11).

use super::equations::StructuralEquations;
use super::one_step::Trouble;
use super::saddle::Saddle;
use crate::method::weights::Weights;
use crate::statistics::Residuals;

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
}

/// What is needed to bring a point onto the constraints.
pub(super) struct Projection {
    saddle: Saddle,
    /// is p' = v?
    plain: bool,
    delta: Vec<f64>,
    shifted: Vec<f64>,
}

impl Projection {
    pub fn new(equations: &StructuralEquations) -> Self {
        let l = equations.layout();
        let dim = l.dim();
        let plain = equations.kinematics_structure().is_plain();
        let saddle = Saddle::of(equations);
        Projection { saddle, plain, delta: vec![0.0; dim], shifted: vec![0.0; dim] }
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
        if equations.constraints() == 0 || onto == ProjectedOnto::Nothing {
            self.stay(equations, t, x)?;
            return Ok(0.0);
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

    /// Take the matrices at the position of x, and no correction.
    pub fn stay(&mut self, equations: &mut StructuralEquations, t: f64, x: &[f64]) -> Result<(), Trouble> {
        equations.at_position(t, x)?;
        self.factor(equations)
    }

    /// a, λ, μ at the point where this stands.
    pub fn accelerations(
        &mut self,
        equations: &mut StructuralEquations,
        t: f64,
        x: &mut [f64],
    ) -> Result<Residuals, Trouble> {
        Ok(equations.accelerations(t, x, &mut self.saddle)?)
    }

    fn factor(&mut self, equations: &mut StructuralEquations) -> Result<(), Trouble> {
        equations.statistics.decompositions += 1;
        self.saddle.factor(&equations.M, &equations.K, &equations.K).map_err(|_| Trouble::Singular)
    }
}
