//! Which method and which formulation suit a system, and why.
//!
//! The decision is made at the consistent start from what the equations contain, the rank of the constraints and the time scales there;
//! the tolerance decides on the order of GEOMS. It is a default, not a theorem: ranks and time scales change along a motion, and `daedal compare`
//! measures. Numbers behind the rules are those of a study (`docs/src/study.md`).

use super::linearised::{LARGE, Linearised, Means, implied_by};
use super::time_scales::{Stiffness, TimeScales, time_scales};
use crate::catalogue::{self, MotionMethod};
use crate::formulation::{Formulation, Selectors};
use crate::linalg::{Jacobian, RankRule, SparseMatrix};
use crate::method::dormand_prince::DormandPrince;
use crate::method::explicit::Pair;
use crate::method::geoms::Geoms;
use crate::method::passage::SparseRank;
use crate::method::structural::{Redundancy, kinds};
use crate::method::symplectic::is_hamiltonian;
use crate::method::{ProjectedOnto, Stages, State};
use crate::motion::{Form, Mechanism, Solved};

/// A motion has died out where its slowest part has decayed by e so many times: errors and steps are then those of a state at rest, and an explicit
/// method makes steps that its stability alone asks for. With the truck (18 times) dop853 needs 11 and 17 times the time of GEOMS at 1e-4 and 1e-6 for
/// the same error, with the half car (5.5 times) a little more.
const DIED_OUT: f64 = 5.0;
/// Where the kinematics keep a constraint, orders vary below this relative tolerance: at 1e-4 variable order has eighteen times the error of three stages with the heavy
/// top, whose spin is quick, for a third more evaluations.
const VARIABLE_WHERE_IMPLIED: f64 = 3e-5;

/// A method, a formulation and the reasons.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// Name of the method, as in [`catalogue`](crate::catalogue).
    pub method: &'static str,
    /// The formulation.
    pub formulation: Formulation,
    /// Why, in sentences without a full stop.
    pub reasons: Vec<String>,
    /// Are invariants kept by a method that does so only where it is asked to?
    pub onto_invariants: bool,
    /// Do the kinematics keep a constraint?
    pub implied: bool,
}

impl Choice {
    fn of(method: &'static str, formulation: Formulation, reasons: Vec<String>) -> Self {
        Choice { method, formulation, reasons, onto_invariants: false, implied: false }
    }

    /// Number of stages at a relative tolerance, if the method is one of collocation.
    pub fn stages(&self, rtol: f64) -> Option<Stages> {
        let fixed = self.implied && rtol >= VARIABLE_WHERE_IMPLIED;
        (self.method == "geoms").then(|| if fixed { Stages::default() } else { Stages::chosen(rtol) })
    }

    /// The method for a relative tolerance.
    pub fn method(&self, rtol: f64) -> Box<dyn MotionMethod> {
        if let Some(stages) = self.stages(rtol) {
            return Box::new(Geoms { formulation: self.formulation, stages, ..Geoms::default() });
        }
        if self.onto_invariants {
            return Box::new(DormandPrince { project: ProjectedOnto::Invariants, ..DormandPrince::of(Pair::Order8) });
        }
        let made = catalogue::find(self.method).and_then(|entry| entry.with(self.formulation).ok());
        made.unwrap_or_else(|| Box::new(Geoms::default()))
    }
}

/// What the decision depends on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Features {
    /// Does the system have formulas, or only values?
    pub black_box: bool,
    /// Number of contact variables.
    pub contact: usize,
    /// Number of auxiliary variables.
    pub auxiliary: usize,
    /// Do forces depend on multipliers?
    pub multipliers_in_forces: bool,
    /// Number of nonholonomic constraints.
    pub nonholonomic: usize,
    /// Rank and number of the constraints.
    pub constraints: Option<(usize, usize)>,
    /// Can explicit methods leave out what follows from the others?
    pub left_out: bool,
    /// Constraints that the kinematics imply: they restrict positions only.
    pub implied: Vec<String>,
    /// Is the mass matrix together with the constraints regular?
    pub regular: bool,
    /// Number of invariants, and rank that they add to the constraints of velocity and position.
    pub invariants: Option<(usize, usize)>,
    /// Are accelerations and the directions in which invariants change formulas?
    pub solved: bool,
    /// Rate of the fastest decay over that of the slowest mode, and what follows from it.
    pub stiffness: Option<(f64, Stiffness)>,
    /// How many times the slowest part of the motion decays by e in the interval, where everything decays.
    pub decays: Option<f64>,
    /// Is the system Hamiltonian, as far as one can tell at the start? Looked for where an explicit method would be chosen without invariants.
    pub hamiltonian: bool,
    /// Number of unknowns, where these are too many for singular values and eigenvalues, and matrices are sparse.
    pub large: Option<usize>,
}

impl Features {
    /// Of a system at a consistent point.
    pub fn of(mechanism: &dyn Mechanism, start: &State, tend: f64, ranks: RankRule) -> Self {
        let (sizes, structure) = (mechanism.sizes(), mechanism.structure());
        let formulas = mechanism.formulas();
        let mut features = Features {
            black_box: formulas.is_none(),
            contact: sizes.contact,
            auxiliary: sizes.auxiliary,
            multipliers_in_forces: structure.multipliers_in_forces,
            nonholonomic: sizes.nonholonomic,
            implied: implied_by(formulas.as_ref(), mechanism),
            ..Features::default()
        };
        let rows = sizes.holonomic + sizes.nonholonomic;
        let mut array = mechanism.array(Form::StrangenessFree, true);
        if let (Jacobian::Sparse(_), Jacobian::Sparse(_)) = kinds(&*array)
            && start.x.len() >= LARGE
        {
            features.large = Some(start.x.len());
            features.invariants = (sizes.invariants > 0).then_some((sizes.invariants, 0));
            if let Ok([M, GZ, HZ]) = array.matrices(start.t, &start.x)
                && let (Jacobian::Sparse(M), Jacobian::Sparse(K)) = (M, Jacobian::stacked(&GZ, &HZ))
            {
                features.constraints = sparse_rank(mechanism, (M, &K), ranks).map(|rank| (rank, rows));
                features.left_out = true;
            }
            // a consistent start was found by solving for them
            features.regular = true;
            return features;
        }
        let means = Means { ranks, sparse: false };
        let Ok(mut at) = Linearised::at(&mut *array, start.t, &start.x, means) else { return features };
        at.look_around(&mut *array);
        features.constraints = at.decide_constraints().map(|all| (all.decision().rank, rows));
        features.left_out = features.constraints.is_some_and(|(rank, rows)| {
            rank < rows && features.implied.is_empty() && rank_of_the_rest(mechanism, start, ranks) == Some(rank)
        });
        if sizes.invariants > 0 {
            features.invariants = at.independent_invariants().map(|rank| (sizes.invariants, rank));
            let what = [Solved::Acceleration, Solved::Invariants];
            features.solved = array.know_solutions(start.t, &start.x, &what).unwrap_or(false);
        }
        let scales = time_scales(&at, tend - start.t);
        features.regular = scales.is_some();
        features.decays = scales.as_ref().and_then(decays);
        features.stiffness = scales.and_then(|scales| Some((scales.stiffness_ratio?, scales.stiffness)));
        // a test by derivatives of all forces, which costs as much as the rest: only where the choice tells its result
        let chosen = features.choose();
        features.hamiltonian = chosen.method == "dop853" && !chosen.onto_invariants && is_hamiltonian(mechanism, start);
        features
    }

    /// Why a method that takes M, f and G one by one does not suit, if so.
    fn against_explicit(&self) -> Option<String> {
        if self.black_box {
            return Some("the system is a black box".into());
        }
        if self.contact > 0 {
            return Some("the system has contact variables".into());
        }
        if self.auxiliary > 0 {
            return Some("the system has auxiliary variables".into());
        }
        if self.multipliers_in_forces {
            return Some("forces depend on multipliers".into());
        }
        if !self.implied.is_empty() {
            return Some(format!("the kinematics keep {}, which restricts positions only", self.implied.join(", ")));
        }
        match self.constraints {
            Some((rank, rows)) if rank < rows && !self.left_out => {
                return Some(format!("the constraints are redundant, of rank {rank} where there are {rows}"));
            }
            None => return Some("the rank of the constraints is not known".into()),
            Some(_) => {}
        }
        if !self.regular {
            return Some("the accelerations are not determined at the start".into());
        }
        match self.stiffness {
            Some((ratio, Stiffness::Stiff | Stiffness::Mild)) => Some(format!(
                "the motion is stiff: its fastest decay is {ratio:.0} times as fast as its slowest change"
            )),
            _ => None,
        }
    }

    /// What explicit methods do about redundant constraints, if there are any.
    fn redundant(&self) -> Option<String> {
        let (rank, rows) = self.constraints.filter(|(rank, rows)| rank < rows)?;
        Some(format!(
            "{} of {rows} constraints follow from the others, and explicit methods with sparse matrices leave them out",
            rows - rank
        ))
    }

    /// Why an explicit method would make more steps than the motion asks for.
    fn against_small_steps(&self) -> Option<String> {
        self.decays.filter(|times| *times >= DIED_OUT).map(|times| {
            format!(
                "the motion dies out: its slowest part decays by e {times:.0} times in the interval, and explicit methods would go on with small steps"
            )
        })
    }

    /// The decision.
    pub fn choose(&self) -> Choice {
        Choice { implied: !self.implied.is_empty(), ..self.of_class() }
    }

    fn of_class(&self) -> Choice {
        let psf = Formulation::Projected;
        let mut reasons: Vec<String> = Vec::new();
        if let Some((all, independent)) = self.invariants.filter(|_| self.large.is_none()) {
            let explicit = || {
                let suits = self.solved && !self.left_out;
                suits && self.against_explicit().is_none() && self.against_small_steps().is_none()
            };
            if independent == all && explicit() {
                let why = "invariants are given, and the motion is not stiff: every step of an explicit method of high order is brought onto them";
                let onto_invariants = true;
                return Choice { onto_invariants, ..Choice::of("dop853", Formulation::Eom0, vec![why.into()]) };
            }
            if independent == all {
                let why = "invariants are given: they are kept like constraints, which geoms does".into();
                let formulation = Formulation::ProjectedWithInvariants(Selectors::EveryJacobian);
                return Choice::of("geoms", formulation, vec![why]);
            }
            let why = "invariants are given, but at the start they depend on the constraints or on each other: they are not kept";
            reasons.push(why.into());
        }
        if let (Some(unknowns), None) = (self.large, self.against_explicit()) {
            let sparse = self
                .redundant()
                .unwrap_or_else(|| "the constraints are independent, and explicit methods take sparse matrices".into());
            let why = format!(
                "time scales were not computed, with {unknowns} unknowns: if the motion is stiff, radau with ggl takes sparse matrices, too"
            );
            reasons.extend([sparse, why]);
            if self.invariants.is_some() {
                reasons.push("invariants are not kept: geoms, which keeps them, decomposes densely".into());
            }
            return Choice::of("dop853", Formulation::Eom0, reasons);
        }
        let kept = || "all constraint levels are kept".to_string();
        if let Some(why) = self.against_explicit() {
            reasons.extend([format!("{why}, which geoms takes"), kept()]);
            return Choice::of("geoms", psf, reasons);
        }
        if let Some(why) = self.against_small_steps() {
            reasons.extend([why, kept()]);
            return Choice::of("geoms", psf, reasons);
        }
        let constraints = self.redundant().unwrap_or_else(|| "the constraints are independent".into());
        let nonstiff = format!(
            "the motion is not stiff, and {constraints}: an explicit method of high order needs the least work"
        );
        // at all tolerances from 1e-4 to 1e-10: for the same error it needs the evaluations of hedop5 down to a quarter of them (`choose.md`)
        let why = "positions and velocities are projected, multipliers come from the acceleration level";
        reasons.extend([nonstiff, why.to_string()]);
        if self.hamiltonian {
            // steps of one size, so never without being asked for
            let long = "the system is Hamiltonian: over very long times rattle keeps its energy from drifting";
            reasons.push(long.into());
        }
        Choice::of("dop853", Formulation::Eom0, reasons)
    }
}

/// The rank of sparse constraints at a consistent point, where it is clear.
fn sparse_rank(mechanism: &dyn Mechanism, (M, K): (&SparseMatrix, &SparseMatrix), ranks: RankRule) -> Option<usize> {
    if SparseRank::of(K, ranks).is_full() {
        return Some(K.rows());
    }
    Redundancy::of((M, K), mechanism.names(), ranks).map(|chosen| chosen.rank())
}

/// The same of a mechanism whose matrices are dense otherwise.
fn rank_of_the_rest(mechanism: &dyn Mechanism, start: &State, ranks: RankRule) -> Option<usize> {
    let mut array = mechanism.sparse_array(Form::StrangenessFree)?;
    let [M, GZ, HZ] = array.matrices(start.t, &start.x).ok()?;
    let (Jacobian::Sparse(M), Jacobian::Sparse(K)) = (M, Jacobian::stacked(&GZ, &HZ)) else { return None };
    sparse_rank(mechanism, (M, &K), ranks)
}

/// How many times the slowest part decays by e; none if anything stays, grows or is not damped.
fn decays(scales: &TimeScales) -> Option<f64> {
    let slowest = scales.modes.iter().map(|mode| -mode.re).reduce(f64::min)?;
    (slowest > scales.zero).then_some(slowest * scales.interval)
}

/// Choose for a system at a consistent start.
pub fn choose(mechanism: &dyn Mechanism, start: &State, tend: f64) -> Choice {
    choose_by(mechanism, start, tend, RankRule::default())
}

/// The same with another rule for ranks.
pub fn choose_by(mechanism: &dyn Mechanism, start: &State, tend: f64, ranks: RankRule) -> Choice {
    Features::of(mechanism, start, tend, ranks).choose()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Independent holonomic constraints, no stiffness.
    fn usual() -> Features {
        Features { constraints: Some((2, 2)), regular: true, ..Features::default() }
    }

    fn method(features: &Features) -> (&'static str, &'static str) {
        let choice = features.choose();
        assert!(!choice.reasons.is_empty());
        assert!(crate::catalogue::find(choice.method).is_some_and(|entry| entry.with(choice.formulation).is_ok()));
        (choice.method, choice.formulation.name())
    }

    #[test]
    fn what_is_easy_goes_to_explicit_methods_and_the_rest_to_geoms() {
        assert_eq!(method(&usual()), ("dop853", "eom0"));
        let left_out = Features { constraints: Some((1, 2)), left_out: true, ..usual() };
        assert_eq!(method(&left_out), ("dop853", "eom0"));
        assert!(left_out.choose().reasons[0].contains("1 of 2 constraints follow"));
        assert_eq!(method(&Features { nonholonomic: 1, ..usual() }), ("dop853", "eom0"));
        for harder in [
            Features { black_box: true, ..usual() },
            Features { contact: 1, ..usual() },
            Features { auxiliary: 1, ..usual() },
            Features { multipliers_in_forces: true, ..usual() },
            Features { constraints: Some((1, 2)), ..usual() },
            Features { constraints: None, ..usual() },
            Features { regular: false, ..usual() },
            Features { stiffness: Some((1e4, Stiffness::Stiff)), ..usual() },
            Features { stiffness: Some((100.0, Stiffness::Mild)), ..usual() },
        ] {
            assert_eq!(method(&harder), ("geoms", "psf"), "{harder:?}");
        }
        assert_eq!(method(&Features { stiffness: Some((5.0, Stiffness::NotStiff)), ..usual() }), ("dop853", "eom0"));
    }

    #[test]
    fn large_mechanisms_with_sparse_matrices_go_to_explicit_methods_and_what_is_not_known_is_said() {
        let large = Features { large: Some(4_000), invariants: Some((1, 0)), ..usual() };
        assert_eq!(method(&large), ("dop853", "eom0"));
        let reasons = large.choose().reasons.join("; ");
        assert!(reasons.contains("4000 unknowns") && reasons.contains("invariants are not kept"), "{reasons}");
        let redundant = Features { constraints: Some((3, 5)), left_out: true, ..large.clone() };
        assert_eq!(method(&redundant), ("dop853", "eom0"));
        assert!(redundant.choose().reasons[0].starts_with("2 of 5 constraints follow"));
        assert_eq!(method(&Features { constraints: None, ..large }), ("geoms", "psf"));
    }

    #[test]
    fn orders_vary_at_smaller_tolerances_where_kinematics_keep_a_constraint() {
        let choice = Features { implied: vec!["norm".into()], ..usual() }.choose();
        assert_eq!((choice.method, choice.formulation.name()), ("geoms", "psf"));
        assert_eq!((choice.stages(1e-4), choice.stages(1e-6)), (Some(Stages::Fixed(3)), Some(Stages::VARIABLE)));
    }

    #[test]
    fn what_dies_out_is_not_followed() {
        let chosen = |decays| Features { decays, ..usual() }.choose();
        assert_eq!(chosen(Some(18.0)).method, "geoms");
        assert_eq!(chosen(Some(2.0)).method, "dop853");
    }

    #[test]
    fn time_scales_tell_what_dies_out() {
        let of = |values: &[(f64, f64)]| decays(&TimeScales::of(values, 10.0));
        let pair = |re: f64, im: f64| [(re, im), (re, -im)];
        assert_eq!(of(&[pair(-3.0, 40.0), pair(-0.5, 2.0)].concat()), Some(5.0));
        assert_eq!(of(&[pair(-3.0, 40.0).to_vec(), vec![(0.0, 0.0)]].concat()), None);
        assert_eq!(of(&[pair(0.1, 40.0), pair(-0.5, 2.0)].concat()), None);
    }

    #[test]
    fn orders_of_geoms_vary_with_small_tolerances() {
        let choice = Features { contact: 1, ..usual() }.choose();
        assert_eq!((choice.stages(1e-3), choice.stages(1e-4)), (Some(Stages::Fixed(3)), Some(Stages::VARIABLE)));
        assert_eq!(usual().choose().stages(1e-7), None);
    }

    #[test]
    fn of_hamiltonian_systems_it_is_said_what_long_runs_need() {
        let says = |features: &Features| features.choose().reasons.iter().any(|reason| reason.contains("rattle"));
        assert!(says(&Features { hamiltonian: true, ..usual() }));
        assert!(!says(&usual()));
    }

    #[test]
    fn invariants_are_kept_where_they_are_independent() {
        assert_eq!(method(&Features { invariants: Some((1, 1)), ..usual() }), ("geoms", "psf+i"));
        let solved = Features { invariants: Some((1, 1)), solved: true, ..usual() };
        assert_eq!(method(&solved), ("dop853", "eom0"));
        assert!(solved.choose().onto_invariants);
        assert_eq!(method(&Features { contact: 1, ..solved }), ("geoms", "psf+i"));
        let dependent = Features { invariants: Some((1, 0)), ..usual() };
        assert_eq!(method(&dependent), ("dop853", "eom0"));
        assert!(dependent.choose().reasons[0].contains("depend"));
        assert_eq!(method(&Features { contact: 1, ..dependent }), ("geoms", "psf"));
    }
}
