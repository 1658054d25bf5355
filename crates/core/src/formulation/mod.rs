//! Formulations: equations of motion as systems that an [`Integrator`] takes, with more or fewer of their hidden constraints.
//!
//! All contain p' = Zv, v' = a, r' = b, 0 = M a − f + (GZ)ᵀλ + (HZ)ᵀμ, 0 = d, 0 = c, and besides
//!
//! | name | rows | index | constraints that hold |
//! | --- | --- | --- | --- |
//! | `eom` | g, HZv + h | 3 | position |
//! | `eom1` | gI, HZv + h | 2 | velocity |
//! | `eom0` | gII, hI | 1 | acceleration |
//! | `ode` | derivatives of gII, hI, d, c and of the dynamics | 0 | none |
//! | `baumgarte` | gII + 2α gI + β² g, hI + δ (HZv + h) | 1 | all, in the limit |
//! | `ggl` | g, gI, HZv + h, with p' = Zv − Gᵀϑ | 2 | position, velocity |
//! | `over` | gII, hI with g, gI, HZv + h as further rows, relaxed by multipliers | 1 | all |
//! | `p1` | g, gI, HZv + h, with selected kinematic equations | 2 | position, velocity |
//! | `psf`, `psf+i` | g, gI, gII, HZv + h, hI (and invariants), with selected differential equations | 1 | all |
//!
//! Steinbrecher, thesis (2006), section 4.6. The digits count hidden levels, as there; the preprint 742-02 of 2002 counts the
//! differentiation index and calls `eom1` EoM₂ and `eom0` EoM₁.

mod forces;
mod motion_stepper;
mod overdetermined;
mod projected;
mod selector;
mod square;
mod underlying;

pub(crate) use forces::WithForces;

use crate::dae::{Dae, Point};
use crate::error::{BadOption, StepFailure};
use crate::linalg::{Jacobian, RankRule};
use crate::method::structural::refuse_redundant;
use crate::method::{Integrator, Kept, Method, StartFailure, State, Stepper};
use crate::motion::{Layout, Mechanism};
use crate::options::Options;
use crate::tolerance::Tolerance;
use projected::Kind;

/// Which equations are discretised.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Formulation {
    /// The equations as they are written: constraints on position level.
    Eom,
    /// Holonomic constraints on velocity level.
    Eom1,
    /// All constraints on acceleration level.
    Eom0,
    /// The underlying ordinary differential equation.
    Underlying,
    /// Combinations of all levels that decay.
    Baumgarte(Baumgarte),
    /// Position and velocity level, with further multipliers in the kinematic equations. Gear, Gupta & Leimkuhler (1985).
    Ggl,
    /// All levels, more equations than unknowns. Führer & Leimkuhler (1991).
    Overdetermined(Relaxed),
    /// Position and velocity level with selected kinematic equations: pEoM1.
    ProjectedIndexOne(Selectors),
    /// All levels with selected differential equations: psfEoM.
    #[default]
    Projected,
    /// psfEoM with other selectors.
    ProjectedBy(Selectors),
    /// psfEoM with the invariants of the system as further constraints.
    ProjectedWithInvariants(Selectors),
    /// One that is defined elsewhere.
    Other(Row),
}

/// A formulation that is defined elsewhere: its name, and how it is made.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Its name in options and reports.
    pub name: &'static str,
    /// The system at a consistent point, as [`Formulation::system`] describes it.
    #[allow(clippy::type_complexity)] // a function, written out where it is called
    pub system: for<'p> fn(&'p dyn Mechanism, &State) -> Result<Box<dyn Dae + 'p>, StartFailure>,
}

impl PartialEq for Row {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// Parameters of Baumgarte's stabilisation: γ'' + 2α γ' + β² γ = 0 for residuals of holonomic, η' + δ η = 0 of nonholonomic constraints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Baumgarte {
    /// α.
    pub alpha: f64,
    /// β.
    pub beta: f64,
    /// δ.
    pub delta: f64,
}

impl Default for Baumgarte {
    fn default() -> Self {
        Baumgarte { alpha: 10.0, beta: 10.0, delta: 10.0 }
    }
}

/// Which equations of the overdetermined formulation are relaxed by the multipliers of the further rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Relaxed {
    /// Stabilised index 1, rows D, K, L, with P and V besides: dynamics are relaxed by g, kinematics by gI. Dynamics are relaxed by ∂gI/∂p
    /// as well, which disturbs accelerations where velocities are large and masses small.
    DynamicsFirst,
    /// Stabilised index 1, rows K, D, L, with P and V besides: kinematics are relaxed by g, dynamics by gI.
    #[default]
    KinematicsFirst,
    /// Stabilised index 2, rows K, D, V, with P besides.
    IndexTwo,
    /// Stabilised index 2, rows D, K, V, with P besides: structurally singular, and refused.
    IndexTwoDynamicsFirst,
}

/// How long the selectors of a projected formulation are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Selectors {
    /// Chosen anew at every Jacobian.
    #[default]
    EveryJacobian,
    /// Chosen anew after this many accepted steps, and after failures.
    EverySteps(u32),
    /// Chosen at the start.
    Constant,
}

impl Formulation {
    /// One of each, with the usual parameters.
    pub const ALL: [Formulation; 10] = [
        Formulation::Eom,
        Formulation::Eom1,
        Formulation::Eom0,
        Formulation::Underlying,
        Formulation::Baumgarte(Baumgarte { alpha: 10.0, beta: 10.0, delta: 10.0 }),
        Formulation::Ggl,
        Formulation::Overdetermined(Relaxed::KinematicsFirst),
        Formulation::ProjectedIndexOne(Selectors::EveryJacobian),
        Formulation::Projected,
        Formulation::ProjectedWithInvariants(Selectors::EveryJacobian),
    ];

    /// Its name in options and reports.
    pub fn name(self) -> &'static str {
        match self {
            Formulation::Eom => "eom",
            Formulation::Eom1 => "eom1",
            Formulation::Eom0 => "eom0",
            Formulation::Underlying => "ode",
            Formulation::Baumgarte(_) => "baumgarte",
            Formulation::Ggl => "ggl",
            Formulation::Overdetermined(_) => "over",
            Formulation::ProjectedIndexOne(_) => "p1",
            Formulation::Projected | Formulation::ProjectedBy(_) => "psf",
            Formulation::ProjectedWithInvariants(_) => "psf+i",
            Formulation::Other(row) => row.name,
        }
    }

    /// The system at a consistent point. Its first unknowns are those of [`Layout`], in its order, accelerations included; unknowns of the
    /// formulation stand behind them.
    pub fn system<'p>(
        self,
        mechanism: &'p (dyn Mechanism + '_),
        at: &State,
    ) -> Result<Box<dyn Dae + 'p>, StartFailure> {
        self.system_by(mechanism, at, RankRule::default())
    }

    /// The same with ranks decided by a rule.
    pub fn system_by<'p>(
        self,
        mechanism: &'p (dyn Mechanism + '_),
        at: &State,
        ranks: RankRule,
    ) -> Result<Box<dyn Dae + 'p>, StartFailure> {
        match self {
            Formulation::Eom | Formulation::Eom1 | Formulation::Eom0 | Formulation::Baumgarte(_) | Formulation::Ggl => {
                needs_independence(mechanism, at, ranks)?;
                Ok(Box::new(square::Square::new(self, mechanism, at)?))
            }
            Formulation::ProjectedIndexOne(selectors) => projected(Kind::IndexOne, selectors, mechanism, at, ranks),
            Formulation::Projected => projected(Kind::StrangenessFree, Selectors::default(), mechanism, at, ranks),
            Formulation::ProjectedBy(selectors) => projected(Kind::StrangenessFree, selectors, mechanism, at, ranks),
            Formulation::ProjectedWithInvariants(selectors) => {
                projected(Kind::WithInvariants, selectors, mechanism, at, ranks)
            }
            Formulation::Overdetermined(relaxed) => {
                Ok(Box::new(overdetermined::Overdetermined::new(relaxed, mechanism, at, ranks)?))
            }
            Formulation::Underlying => {
                needs_independence(mechanism, at, ranks)?;
                Ok(Box::new(underlying::Underlying::new(mechanism, at)?))
            }
            Formulation::Other(row) => (row.system)(mechanism, at),
        }
    }
}

/// Equations that are not projected have a multiplier for every constraint.
fn needs_independence(mechanism: &dyn Mechanism, at: &State, ranks: RankRule) -> Result<(), StartFailure> {
    let mut array = mechanism.array(crate::motion::Form::StrangenessFree, false);
    let dim = array.layout().dim();
    let [_, GZ, HZ] = array.matrices(at.t, &at.x[..dim]).map_err(|_| StepFailure::Undefined { t: at.t })?;
    let K = Jacobian::stacked(&GZ, &HZ);
    refuse_redundant("this formulation", mechanism, at.t, &K, ranks)
}

fn projected<'p>(
    kind: Kind,
    selectors: Selectors,
    mechanism: &'p (dyn Mechanism + '_),
    at: &State,
    ranks: RankRule,
) -> Result<Box<dyn Dae + 'p>, StartFailure> {
    Ok(Box::new(projected::Projected::new(kind, selectors, mechanism, at, ranks)?))
}
/// What is told about an integrator whose steps are not reliable for a formulation.
const INDEX_TOO_HIGH: &str = "warning: variable steps of this method are not reliable for equations of index 3; choose another formulation, or fixed steps";

/// An integrator at work on a formulation of equations of motion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Formulated<I> {
    /// Which equations.
    pub formulation: Formulation,
    /// With which method.
    pub integrator: I,
}

impl<'m, I: Integrator> Method<dyn Mechanism + 'm> for Formulated<I> {
    fn start<'p>(
        &self,
        system: &'p (dyn Mechanism + 'm),
        at: State,
        options: &Options,
    ) -> Result<Box<dyn Stepper + 'p>, StartFailure> {
        let layout = Layout::new(system.sizes(), crate::motion::Form::StrangenessFree, false);
        let kept = match self.formulation {
            Formulation::ProjectedWithInvariants(_) => Some(Kept::new(system, &at, &options.tolerance)?),
            _ => None,
        };
        let ranks = options.ranks();
        BadOption::in_ranks(ranks)?;
        let dae = self.formulation.system_by(system, &at, ranks)?;
        let n = dae.dim();
        let mut x = at.x;
        x.resize(n, 0.0);
        // multipliers that are undetermined begin where the system keeps them
        for combination in dae.undetermined() {
            let along = combination.iter().zip(&x).map(|(c, x)| c * x).sum::<f64>()
                / combination.iter().map(|c| c * c).sum::<f64>();
            x.iter_mut().zip(&combination).for_each(|(x, c)| *x -= along * c);
        }
        let mut xdot = vec![0.0; n];
        let mut array = system.array(crate::motion::Form::StrangenessFree, false);
        motion_stepper::first_rates(&mut *array, at.t, &x, &mut xdot)?;
        let of_index_two = layout.lambda().chain(layout.mu()).any(|j| dae.recovered(j));
        let reliable = (0..n).all(|i| dae.index(i) <= self.integrator.largest_index());
        let warning = if reliable { "" } else { INDEX_TOO_HIGH };
        // tolerances are given in the order in which variables are shown
        let tolerance = &options.tolerance;
        let mut options = options.clone();
        if let Tolerance::PerComponent(_) = options.tolerance {
            let pairs = options.tolerance.pairs(&layout).map_err(BadOption::from)?;
            let counted = (0..n).filter(|&i| dae.in_error_norm(i)).filter_map(|i| pairs.get(i).copied());
            options.tolerance = Tolerance::PerComponent(counted.collect());
        }
        let stepper = self.integrator.start(dae, Point { t: at.t, x, xdot }, &options)?;
        let shown = Box::new(motion_stepper::MotionStepper::new(stepper, array, n, kept, warning, ranks));
        Ok(if of_index_two { Box::new(WithForces::new(shown, system, tolerance, ranks)?) } else { shown })
    }
}
