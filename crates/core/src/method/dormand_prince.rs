//! The explicit pairs of Dormand and Prince on the acceleration level, with projection after each step.
//!
//! ```text
//! p' = Z v,   [M Kᵀ; K 0] (v'; λ, μ) = (f; −Γ),   r' = b
//! ```
//! is an ordinary differential equation, what index reduction leaves; its solutions drift off the constraints of position and velocity
//! unless they are projected. For equations that are not stiff. Dormand & Prince (1980); Hairer, Nørsett & Wanner, Solving ODEs I, II.5,
//! table 5.2; Eich, Convergence results for a coordinate projection method (1993).

use super::bdf::Steps;
use super::explicit::{ExplicitTableau, Pair};
use super::structural::{
    AtSingular, Attempt, OneStep, ProjectedOnto, Saddle, Scheme, Step, StepSize, StructuralEquations, Trouble,
};
use super::weights::Weights;
use super::{Method, StartFailure, State, Stepper};
use crate::motion::Mechanism;
use crate::options::Options;
use std::ops::Range;

/// A step is accepted with this part of the tolerance: errors of single steps add up where nothing damps them. With all of it answers of a
/// thousand random mechanisms were off by up to 474 tolerances (`tests/cross` of the models).
pub(super) const OF_A_STEP: f64 = 0.2;
/// The same for the pair of order 8, whose steps are so long that forces with kinks deceive its estimates: with a fifth 9 of a thousand random mechanisms
/// were off by up to 360 tolerances. A tenth of that costs a third more steps.
const OF_A_LONG_STEP: f64 = 0.02;

/// The pair with its options.
#[derive(Clone, Debug, PartialEq)]
pub struct DormandPrince {
    /// Order 5 or 8.
    pub pair: Pair,
    /// How step sizes are chosen.
    pub steps: Steps,
    /// Which constraints is every new point brought onto? It drifts off the others.
    pub project: ProjectedOnto,
    /// Safety factor of the step sizes.
    pub safety: f64,
    /// What happens at singular configurations.
    pub singular: AtSingular,
}

impl DormandPrince {
    /// A pair with its usual options.
    pub fn of(pair: Pair) -> Self {
        DormandPrince { pair, ..Self::default() }
    }
}

impl Default for DormandPrince {
    fn default() -> Self {
        DormandPrince {
            pair: Pair::default(),
            steps: Steps::Variable,
            project: ProjectedOnto::All,
            safety: 0.9,
            singular: AtSingular::Stop,
        }
    }
}

impl<'m> Method<dyn Mechanism + 'm> for DormandPrince {
    fn start<'p>(
        &self,
        system: &'p (dyn Mechanism + 'm),
        at: State,
        options: &Options,
    ) -> Result<Box<dyn Stepper + 'p>, StartFailure> {
        let stepper = OneStep::start(self.pair.tableau().name, system, at, options, |equations| {
            DormandPrincePair::new(self, equations, options)
        })?;
        Ok(Box::new(stepper))
    }
}

/// The pair at work.
struct DormandPrincePair {
    tableau: &'static ExplicitTableau,
    /// the stage that is evaluated
    Y: Vec<f64>,
    /// Fᵢ = (Z V, V', b), at the places of p, v and r
    F: Vec<Vec<f64>>,
    saddle: Saddle,
    control: StepSize,
    project: ProjectedOnto,
    singular: AtSingular,
    /// r, v and p
    moving: Range<usize>,
    error: Vec<f64>,
}

impl DormandPrincePair {
    fn new(method: &DormandPrince, equations: &StructuralEquations, options: &Options) -> Result<Self, StartFailure> {
        let (l, tableau) = (equations.layout(), method.pair.tableau());
        Ok(DormandPrincePair {
            tableau,
            Y: vec![0.0; l.dim()],
            F: vec![vec![0.0; l.dim()]; tableau.stages + 1],
            saddle: Saddle::of(equations),
            control: StepSize::new(method.steps, method.safety, tableau.order, options)?,
            project: method.project,
            singular: method.singular,
            moving: l.r().start..l.p().end,
            error: vec![0.0; l.dim()],
        })
    }

    /// Fᵢ at (t, Y).
    fn rates(&mut self, equations: &mut StructuralEquations, t: f64, i: usize) -> Result<(), Trouble> {
        equations.statistics.decompositions += 1;
        if equations.accelerations_by_formulas(t, &mut self.Y) {
            equations.statistics.masses += 1;
        } else {
            equations.at_position(t, &self.Y)?;
            self.saddle.factor_at(equations).map_err(|_| Trouble::Singular)?;
            equations.accelerations(t, &mut self.Y, &mut self.saddle)?;
        }
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
    const CHOOSES_CONSTRAINTS: bool = true;

    fn attempt(
        &mut self,
        equations: &mut StructuralEquations,
        weights: &Weights,
        step: Step,
        x1: &mut [f64],
    ) -> Result<Attempt, Trouble> {
        let moving = self.moving.clone();
        self.F[0][moving.clone()].copy_from_slice(&step.xdot[moving.clone()]);
        let s = self.tableau.stages;
        for i in 1..=s {
            Self::combine(&self.F, self.tableau.A[i], step.h, &moving, Some(step.x), &mut self.Y);
            if i == s {
                x1[moving.clone()].copy_from_slice(&self.Y[moving.clone()]);
                if self.control.fixed() {
                    return Ok(self.control.judge(&step, 0.0));
                }
                if !self.tableau.error_needs_end() {
                    break;
                }
            }
            self.rates(equations, self.tableau.time(i, step.t, step.t1), i)?;
        }
        let DormandPrincePair { F, error, .. } = self;
        let error = self.tableau.error(|estimate| {
            Self::combine(F, self.tableau.error[estimate], step.h, &moving, None, error);
            weights.norm(error)
        });
        let part = if self.long_steps() { OF_A_LONG_STEP } else { OF_A_STEP };
        Ok(self.control.judge(&step, error / part))
    }

    fn projects(&self) -> ProjectedOnto {
        self.project
    }

    fn at_singular(&self) -> AtSingular {
        self.singular
    }

    fn solves_by_formulas(&self) -> bool {
        true
    }

    fn fixed(&self) -> bool {
        self.control.fixed()
    }

    fn long_steps(&self) -> bool {
        self.tableau.order > 5
    }
}
