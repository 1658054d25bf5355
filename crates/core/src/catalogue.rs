//! All methods by name: the formulations of equations of motion that each of them takes, and whether it takes general systems.

use crate::formulation::{Formulated, Formulation};
use crate::method::bdf::Bdf;
use crate::method::dormand_prince::DormandPrince;
use crate::method::exact::Exact;
use crate::method::explicit::Pair;
use crate::method::extrapolation::Mexx;
use crate::method::generalized_alpha::{AlphaForm, GeneralizedAlpha};
use crate::method::geoms::Geoms;
use crate::method::gmkssol::Gmkssol;
use crate::method::half_explicit::{HalfExplicit, HalfExplicitFormula, Hedop5};
use crate::method::local_state_space::{Chart, LocalStateSpace};
use crate::method::radau::RadauIIa;
use crate::method::rosenbrock::Rodas;
use crate::method::runge_kutta::{ImplicitRungeKutta, RungeKuttaFamily};
use crate::method::symplectic::{Lobatto, Rattle};
use crate::method::{Integrator, Method, StartFailure, State, Stepper};
use crate::motion::Mechanism;
use crate::options::Options;

/// A method for every mechanism.
pub trait MotionMethod: for<'m> Method<dyn Mechanism + 'm> + Send + Sync {}

impl<T: for<'m> Method<dyn Mechanism + 'm> + Send + Sync> MotionMethod for T {}

impl<'m> Method<dyn Mechanism + 'm> for Box<dyn MotionMethod> {
    fn start<'p>(
        &self,
        system: &'p (dyn Mechanism + 'm),
        at: State,
        options: &Options,
    ) -> Result<Box<dyn Stepper + 'p>, StartFailure> {
        (**self).start(system, at, options)
    }
}

/// A method with its name.
pub struct Entry {
    /// Its name in options and reports.
    pub name: &'static str,
    /// What it is, in one line.
    pub description: &'static str,
    /// The formulations it takes, by their names, the usual one first.
    pub formulations: &'static [&'static str],
    /// Makes it on one of them.
    pub build: fn(Formulation) -> Box<dyn MotionMethod>,
    /// Makes it for general systems, if it solves them.
    pub integrator: Option<fn() -> Box<dyn Integrator>>,
}

/// A method for general systems alone, with its name.
pub struct SystemMethod {
    /// Its name in options and reports.
    pub name: &'static str,
    /// What it is, in one line.
    pub description: &'static str,
    /// Makes it.
    pub integrator: fn() -> Box<dyn Integrator>,
}

/// A method does not take a formulation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{method} does not take the formulation {formulation}; it takes {}", known.join(", "))]
pub struct Unsuitable {
    /// Name of the method.
    pub method: &'static str,
    /// Name of the formulation.
    pub formulation: &'static str,
    /// What it takes.
    pub known: &'static [&'static str],
}

/// All methods.
pub fn all() -> &'static [Entry] {
    &ENTRIES
}

/// Methods for general systems without modes alone.
pub fn of_systems() -> &'static [SystemMethod] {
    &OF_SYSTEMS
}

/// Names of all methods.
pub fn names() -> impl Iterator<Item = &'static str> {
    ENTRIES.iter().map(|entry| entry.name).chain(OF_SYSTEMS.iter().map(|method| method.name))
}

/// What makes the method of that name for a general system without modes.
pub fn integrator(name: &str) -> Option<fn() -> Box<dyn Integrator>> {
    let own = || OF_SYSTEMS.iter().find(|method| method.name == name).map(|method| method.integrator);
    find(name).and_then(|entry| entry.integrator).or_else(own)
}

/// Names of the methods for general systems, with and without modes.
pub fn general() -> impl Iterator<Item = &'static str> {
    ENTRIES.iter().filter(|entry| entry.integrator.is_some()).map(|entry| entry.name)
}

/// The method of that name.
pub fn find(name: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.name == name)
}

impl Entry {
    /// The method on a formulation, with its usual options.
    pub fn with(&self, formulation: Formulation) -> Result<Box<dyn MotionMethod>, Unsuitable> {
        if self.formulations.contains(&formulation.name()) {
            Ok((self.build)(formulation))
        } else {
            Err(Unsuitable { method: self.name, formulation: formulation.name(), known: self.formulations })
        }
    }

    /// The usual formulation.
    pub fn usual(&self) -> Formulation {
        let name = self.formulations[0];
        Formulation::ALL.into_iter().find(|formulation| formulation.name() == name).unwrap_or_default()
    }
}

fn runge_kutta(formulation: Formulation, family: RungeKuttaFamily) -> Box<dyn MotionMethod> {
    Box::new(Formulated { formulation, integrator: ImplicitRungeKutta::of(family) })
}

const EVERY: &[&str] = &["psf", "psf+i", "p1", "ggl", "eom1", "eom0", "eom", "baumgarte", "over", "ode"];

/// Formulations of index one whose derivatives stand alone in their rows.
const OF_INDEX_ONE: &[&str] = &["eom0", "baumgarte"];

/// Formulations with which the trapezoidal rule is known to differ; its family takes those of index one and two.
const CLASSICAL: &[&str] = &["psf", "eom0", "eom1", "eom", "ode"];
const WITH_CONSTRAINTS: &[&str] = &["psf", "eom0", "eom1"];

static OF_SYSTEMS: [SystemMethod; 1] = [SystemMethod {
    name: "exact",
    description: "explicit solution of linear systems with constant coefficients",
    integrator: || Box::new(Exact),
}];

static ENTRIES: [Entry; 21] = [
    Entry {
        name: "geoms",
        description: "Radau IIa of order 5 on all constraint levels, regularised inside the linear algebra",
        formulations: &["psf", "psf+i", "p1"],
        build: |formulation| Box::new(Geoms { formulation, ..Geoms::default() }),
        integrator: None,
    },
    Entry {
        name: "gmkssol",
        description: "Radau IIa of order 5 on all constraint levels, with selectors that are kept for some steps",
        formulations: &["psf"],
        build: |formulation| match formulation {
            Formulation::ProjectedBy(selectors) => Box::new(Gmkssol { selectors, ..Gmkssol::default() }),
            _ => Box::new(Gmkssol::default()),
        },
        integrator: None,
    },
    Entry {
        name: "radau",
        description: "Radau IIa of order 5",
        formulations: EVERY,
        build: |formulation| Box::new(Formulated { formulation, integrator: RadauIIa::default() }),
        integrator: Some(|| Box::new(RadauIIa::default())),
    },
    Entry {
        name: "bdf",
        description: "backward differentiation formulas of orders 1 to 5",
        formulations: EVERY,
        build: |formulation| Box::new(Formulated { formulation, integrator: Bdf::default() }),
        integrator: Some(|| Box::new(Bdf::default())),
    },
    Entry {
        name: "rodas",
        description: "Rosenbrock method of order 4 for systems of index one, without iterations; for loose tolerances",
        formulations: OF_INDEX_ONE,
        build: |formulation| Box::new(Formulated { formulation, integrator: Rodas::default() }),
        integrator: Some(|| Box::new(Rodas::default())),
    },
    Entry {
        name: "trapezoidal",
        description: "implicit trapezoidal rule, of order 2; not L-stable",
        formulations: CLASSICAL,
        build: |formulation| runge_kutta(formulation, RungeKuttaFamily::Trapezoidal),
        integrator: Some(|| Box::new(ImplicitRungeKutta::of(RungeKuttaFamily::Trapezoidal))),
    },
    Entry {
        name: "gauss",
        description: "Gauss of order 6 with projection onto the constraints; not L-stable",
        // stiff forces without damping: with eom0 errors of the wheelset did not fall with the tolerance
        formulations: &["psf", "eom1"],
        build: |formulation| runge_kutta(formulation, RungeKuttaFamily::Gauss),
        integrator: Some(|| Box::new(ImplicitRungeKutta::of(RungeKuttaFamily::Gauss))),
    },
    Entry {
        name: "radau-ia",
        description: "Radau IA of order 5 with projection onto the constraints",
        formulations: WITH_CONSTRAINTS,
        build: |formulation| runge_kutta(formulation, RungeKuttaFamily::RadauIA),
        integrator: Some(|| Box::new(ImplicitRungeKutta::of(RungeKuttaFamily::RadauIA))),
    },
    Entry {
        name: "lobatto-iiic",
        description: "Lobatto IIIC of order 4",
        formulations: WITH_CONSTRAINTS,
        build: |formulation| runge_kutta(formulation, RungeKuttaFamily::LobattoIIIC),
        integrator: Some(|| Box::new(ImplicitRungeKutta::of(RungeKuttaFamily::LobattoIIIC))),
    },
    Entry {
        name: "hem3",
        description: "half-explicit Runge-Kutta method of order 3, with projection; not for stiff systems",
        formulations: &["eom1"],
        build: |_| Box::new(HalfExplicit { formula: HalfExplicitFormula::Hem3, ..HalfExplicit::default() }),
        integrator: None,
    },
    Entry {
        name: "hem4",
        description: "half-explicit Runge-Kutta method of order 4, with projection; not for stiff systems",
        formulations: &["eom1"],
        build: |_| Box::new(HalfExplicit { formula: HalfExplicitFormula::Hem4, ..HalfExplicit::default() }),
        integrator: None,
    },
    Entry {
        name: "hem5",
        description: "half-explicit Runge-Kutta method of order 5, with projection; not for stiff systems",
        formulations: &["eom1"],
        build: |_| Box::new(HalfExplicit { formula: HalfExplicitFormula::Hem5, ..HalfExplicit::default() }),
        integrator: None,
    },
    Entry {
        name: "hedop5",
        description: "half-explicit pair of Dormand and Prince of order 5(4), with projection; not for stiff systems",
        formulations: &["eom1"],
        build: |_| Box::new(Hedop5::default()),
        integrator: None,
    },
    Entry {
        name: "dopri5",
        description: "explicit pair of Dormand and Prince of order 5(4), with projection; not for stiff systems",
        formulations: &["eom0"],
        build: |_| Box::new(DormandPrince::default()),
        integrator: Some(|| Box::new(DormandPrince::default())),
    },
    Entry {
        name: "dop853",
        description: "explicit pair of Dormand and Prince of order 8(5,3), with projection; for small tolerances, not for stiff systems",
        formulations: &["eom0"],
        build: |_| Box::new(DormandPrince::of(Pair::Order8)),
        integrator: Some(|| Box::new(DormandPrince::of(Pair::Order8))),
    },
    Entry {
        name: "mexx",
        description: "half-explicit extrapolation of variable order, for motions that are not stiff",
        formulations: &["eom1"],
        build: |_| Box::new(Mexx::default()),
        integrator: None,
    },
    Entry {
        name: "partition",
        description: "explicit pair of order 5(4) in independent positions, chosen along the way; not for stiff systems",
        formulations: &["eom0"],
        build: |_| Box::new(LocalStateSpace { chart: Chart::Partition, ..LocalStateSpace::default() }),
        integrator: None,
    },
    Entry {
        name: "tangent",
        description: "explicit pair of order 5(4) in coordinates of the tangent space; not for stiff systems",
        formulations: &["eom0"],
        build: |_| Box::new(LocalStateSpace { chart: Chart::Tangent, ..LocalStateSpace::default() }),
        integrator: None,
    },
    Entry {
        name: "rattle",
        description: "RATTLE, symplectic of order 2, for conservative systems, with constant steps",
        formulations: &["eom"],
        build: |_| Box::new(Rattle::default()),
        integrator: None,
    },
    Entry {
        name: "lobatto",
        description: "the pair Lobatto IIIA-IIIB, symplectic of order 4, for conservative systems, with constant steps",
        formulations: &["eom"],
        build: |_| Box::new(Lobatto::default()),
        integrator: None,
    },
    Entry {
        name: "alpha",
        description: "the generalised-α method of order 2 with damping of high frequencies, on Lie groups too, with constant steps",
        formulations: &["ggl", "eom"],
        build: |formulation| {
            let form = if formulation == Formulation::Eom { AlphaForm::Index3 } else { AlphaForm::Stabilised };
            Box::new(GeneralizedAlpha { form, ..GeneralizedAlpha::default() })
        },
        integrator: None,
    },
];
