//! The explicit pair of Dormand and Prince of order 5(4) on the acceleration level, with projection after each step.
//!
//! ```text
//! p' = Z v,   [M Kᵀ; K 0] (v'; λ, μ) = (f; −Γ),   r' = b
//! ```
//! is an ordinary differential equation, what index reduction leaves; its solutions drift off the constraints of position and velocity
//! unless they are projected. For equations that are not stiff. Dormand & Prince (1980); Hairer, Nørsett & Wanner, Solving ODEs I, II.5,
//! table 5.2; Eich, Convergence results for a coordinate projection method (1993).

use super::bdf::Steps;
use super::structural::{
    Attempt, OneStep, ProjectedOnto, Saddle, Scheme, Step, StepSize, StructuralEquations, Trouble,
};
use super::weights::Weights;
use super::{Method, StartFailure, State, Stepper};
use crate::motion::Mechanism;
use crate::options::Options;
use std::ops::Range;

/// Nodes cᵢ.
pub(super) const C: [f64; 7] = [0.0, 1.0 / 5.0, 3.0 / 10.0, 4.0 / 5.0, 8.0 / 9.0, 1.0, 1.0];

/// aᵢⱼ; the last row holds the weights of order 5.
pub(super) const A: [[f64; 6]; 7] = [
    [0.0; 6],
    [1.0 / 5.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [3.0 / 40.0, 9.0 / 40.0, 0.0, 0.0, 0.0, 0.0],
    [44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0, 0.0, 0.0, 0.0],
    [19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0, 0.0, 0.0],
    [9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0, 0.0],
    [35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
];

/// bⱼ − b̂ⱼ, the weights of the error estimate.
pub(super) const E: [f64; 7] =
    [71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0];

/// A step is accepted with this part of the tolerance: errors of single steps add up where nothing damps them. With all of it answers of a
/// thousand random mechanisms were off by up to 474 tolerances (`tests/cross` of the models).
pub(super) const OF_A_STEP: f64 = 0.2;

/// The pair with its options.
#[derive(Clone, Debug, PartialEq)]
pub struct DormandPrince {
    /// How step sizes are chosen.
    pub steps: Steps,
    /// Which constraints is every new point brought onto? It drifts off the others.
    pub project: ProjectedOnto,
    /// Safety factor of the step sizes.
    pub safety: f64,
}

impl Default for DormandPrince {
    fn default() -> Self {
        DormandPrince { steps: Steps::Variable, project: ProjectedOnto::All, safety: 0.9 }
    }
}

impl<'m> Method<dyn Mechanism + 'm> for DormandPrince {
    fn start<'p>(
        &self,
        system: &'p (dyn Mechanism + 'm),
        at: State,
        options: &Options,
    ) -> Result<Box<dyn Stepper + 'p>, StartFailure> {
        let stepper = OneStep::start("dopri5", system, at, options, |equations| {
            DormandPrincePair::new(self, equations, options)
        })?;
        Ok(Box::new(stepper))
    }
}

/// The pair at work.
struct DormandPrincePair {
    /// the stage that is evaluated
    Y: Vec<f64>,
    /// Fᵢ = (Z V, V', b), at the places of p, v and r
    F: [Vec<f64>; 7],
    saddle: Saddle,
    control: StepSize,
    project: ProjectedOnto,
    /// r, v and p
    moving: Range<usize>,
    error: Vec<f64>,
}

impl DormandPrincePair {
    fn new(method: &DormandPrince, equations: &StructuralEquations, options: &Options) -> Result<Self, StartFailure> {
        let l = equations.layout();
        Ok(DormandPrincePair {
            Y: vec![0.0; l.dim()],
            F: std::array::from_fn(|_| vec![0.0; l.dim()]),
            saddle: Saddle::new(l.a().len(), equations.constraints()),
            control: StepSize::new(method.steps, method.safety, 5, options)?,
            project: method.project,
            moving: l.r().start..l.p().end,
            error: vec![0.0; l.dim()],
        })
    }

    /// Fᵢ at (t, Y).
    fn rates(&mut self, equations: &mut StructuralEquations, t: f64, i: usize) -> Result<(), Trouble> {
        equations.at_position(t, &self.Y)?;
        equations.statistics.decompositions += 1;
        self.saddle.factor(&equations.M, &equations.K, &equations.K).map_err(|_| Trouble::Singular)?;
        equations.accelerations(t, &mut self.Y, &mut self.saddle)?;
        let (l, F) = (equations.layout(), &mut self.F[i]);
        F[l.p()].copy_from_slice(equations.kinematics());
        F[l.r()].copy_from_slice(equations.dynamic());
        F[l.v()].copy_from_slice(&self.Y[l.a()]);
        Ok(())
    }

    /// start + h Σ wⱼ Fⱼ.
    fn combine(F: &[Vec<f64>], weights: &[f64], h: f64, moving: &Range<usize>, start: Option<&[f64]>, out: &mut [f64]) {
        let out = &mut out[moving.clone()];
        match start {
            Some(start) => out.copy_from_slice(&start[moving.clone()]),
            None => out.fill(0.0),
        }
        for (w, F) in weights.iter().zip(F).filter(|(w, _)| **w != 0.0) {
            out.iter_mut().zip(&F[moving.clone()]).for_each(|(y, f)| *y += h * w * f);
        }
    }
}

impl Scheme for DormandPrincePair {
    fn attempt(
        &mut self,
        equations: &mut StructuralEquations,
        weights: &Weights,
        step: Step,
        x1: &mut [f64],
    ) -> Result<Attempt, Trouble> {
        let moving = self.moving.clone();
        self.F[0][moving.clone()].copy_from_slice(&step.xdot[moving.clone()]);
        for i in 1..7 {
            Self::combine(&self.F, &A[i][..i], step.h, &moving, Some(step.x), &mut self.Y);
            if i == 6 {
                x1[moving.clone()].copy_from_slice(&self.Y[moving.clone()]);
                if self.control.fixed() {
                    break;
                }
            }
            let t = if C[i] == 1.0 { step.t1 } else { step.t + C[i] * step.h };
            self.rates(equations, t, i)?;
        }
        Self::combine(&self.F, &E, step.h, &moving, None, &mut self.error);
        Ok(self.control.judge(&step, weights.norm(&self.error) / OF_A_STEP))
    }

    fn projects(&self) -> ProjectedOnto {
        self.project
    }

    fn fixed(&self) -> bool {
        self.control.fixed()
    }
}
