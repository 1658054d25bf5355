//! What can be known about equations of motion before they are solved: levels of constraints, index, degrees of freedom, redundancy,
//! consistency of the initial values, mass matrix, invariants, time scales, and what makes a model impossible.
//!
//! Everything is judged at the consistent start, with the numbers behind each decision. Another point may tell another story: ranks
//! and time scales change along a motion.
//!
//! ```
//! use daedal::analysis::analyse;
//! use daedal::linalg::Matrix;
//! use daedal::motion::{EquationsOfMotion, Motion, Position, Sizes};
//! use daedal::scalar::Scalar;
//! use daedal::Initial;
//!
//! /// A point mass on a rod.
//! struct Pendulum;
//! impl EquationsOfMotion for Pendulum {
//!     fn sizes(&self) -> Sizes { Sizes { positions: 2, velocities: 2, holonomic: 1, ..Sizes::default() } }
//!     fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
//!         M[(0, 0)] = S::from(1.0);
//!         M[(1, 1)] = S::from(1.0);
//!     }
//!     fn force<S: Scalar>(&self, _: &Motion<S>, f: &mut [S]) { f[1] = S::from(-9.81); }
//!     fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
//!         g[0] = at.p[0].square() + at.p[1].square() - 1.0;
//!     }
//! }
//!
//! let found = analyse(&Pendulum, &Initial::motion(0.0, &[0.0, -1.0], &[0.0, 0.0]), 10.0)?;
//! let constraints = found.constraints.as_ref().ok_or("no constraints")?;
//! assert_eq!((constraints.position_freedom, constraints.velocity_freedom), (1, 1));
//! // small oscillations about the lowest point
//! let fastest = found.time_scales.as_ref().and_then(|scales| scales.highest_frequency).ok_or("no frequency")?;
//! assert!((fastest - 9.81_f64.sqrt() / std::f64::consts::TAU).abs() < 1e-9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod choice;
mod consistency;
mod constraints;
mod decided;
mod equations;
mod finding;
mod invariants;
mod linearised;
mod mass;
pub(crate) mod random;
mod regularity;
mod time_scales;

pub use crate::linalg::rank::{Combination, RankDecision};
pub use choice::{Choice, choose, choose_by};
pub use consistency::{Consistency, Movement, Place, Residual};
pub use constraints::{Constraints, Nearby, Redundancy};
pub use equations::{Equation, Formula, Index, Kind, Level};
pub use finding::{Finding, Severity};
pub use invariants::{InvariantTest, Verdict};
pub use mass::{Definiteness, Mass};
pub use regularity::Regularity;
pub use time_scales::{Mode, Stiffness, TimeScales};

use crate::error::BadOption;
use crate::initial::{Initial, Start};
use crate::linalg::RankRule;
use crate::motion::consistent::{InitialisationError, attempt};
use crate::motion::{Form, Mechanism, Names, Sizes, Structure, declared};
use linearised::{Linearised, Means};
use std::collections::HashMap;

/// What is known about a system. Parts that could not be computed, because the model has no finite value or a decomposition did not
/// converge, are `None`.
#[derive(Clone, Debug, PartialEq)]
pub struct Analysis {
    /// How many variables of each kind.
    pub sizes: Sizes,
    /// Names of variables, constraints and invariants.
    pub names: Names,
    /// What is constant, diagonal or absent.
    pub structure: Structure,
    /// Constraints of all levels.
    pub equations: Vec<Equation>,
    /// Index of the equations as they are given; `None` if it is not decided.
    pub index: Option<Index>,
    /// Time of the start.
    pub t: f64,
    /// Where the analysis is made, in the order of [`Layout::variable_names`](crate::motion::Layout::variable_names).
    pub x: Vec<f64>,
    /// The given initial values.
    pub consistency: Consistency,
    /// Ranks, freedom, redundancy.
    pub constraints: Option<Constraints>,
    /// Regularity of ∂c/∂s; `None` without contact variables.
    pub contact: Option<Regularity>,
    /// Regularity of ∂d/∂w; `None` without auxiliary variables.
    pub auxiliary: Option<Regularity>,
    /// The mass matrix.
    pub mass: Option<Mass>,
    /// Tests of the invariants; empty without a consistent start.
    pub invariants: Vec<InvariantTest>,
    /// Time scales; `None` of large systems.
    pub time_scales: Option<TimeScales>,
    /// Were ranks decided by elimination of sparse matrices, and eigenvalues not computed?
    pub sparse: bool,
    /// What follows, the worst first.
    pub findings: Vec<Finding>,
}

/// A question that makes no sense.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AnalysisError {
    /// Initial values that do not fit the system.
    #[error(transparent)]
    Initial(InitialisationError),
    /// An interval or a tolerance of ranks that is none.
    #[error(transparent)]
    Interval(#[from] BadOption),
}

impl Analysis {
    /// Is there a motion?
    pub fn is_possible(&self) -> bool {
        self.findings.iter().all(|finding| finding.severity() != Severity::Impossible)
    }

    /// Write formulas beside the constraints they belong to.
    #[must_use]
    pub fn with_formulas(mut self, formulas: &[Formula]) -> Self {
        let mut texts: HashMap<(&str, Kind, Level), &str> = HashMap::new();
        for formula in formulas {
            texts.entry((&formula.name, formula.kind, formula.level)).or_insert(&formula.text);
        }
        for equation in &mut self.equations {
            let text = texts.get(&(equation.name.as_str(), equation.kind, equation.level));
            equation.formula = text.map(|text| (*text).to_string());
        }
        self
    }
}

/// Analyse a system at its start; `tend` bounds the test of invariants and the time scales that matter.
pub fn analyse(mechanism: &dyn Mechanism, initial: &Initial, tend: f64) -> Result<Analysis, AnalysisError> {
    analyse_by(mechanism, initial, tend, RankRule::default())
}

/// The same with ranks decided by a rule.
pub fn analyse_by(
    mechanism: &dyn Mechanism,
    initial: &Initial,
    tend: f64,
    ranks: RankRule,
) -> Result<Analysis, AnalysisError> {
    BadOption::in_ranks(ranks)?;
    if !tend.is_finite() {
        return Err(BadOption::OutOfRange { name: "tend", value: tend, expected: "it must be finite" }.into());
    }
    if tend < initial.t {
        let (t0, what, instead) =
            (initial.t, "the analysis", "analyse the start of a run forward: it is the same point");
        return Err(BadOption::Backward { t0, tend, what, instead }.into());
    }
    let mut array = mechanism.array(Form::StrangenessFree, true);
    let (names, structure) = (mechanism.names(), mechanism.structure());
    let means = Means::of(mechanism, &*array, ranks);
    let layout = array.layout().clone();
    let starts = initial.values(&layout, &layout.variable_names(&names)).map_err(AnalysisError::Initial)?;

    // the point
    let attempt = attempt(mechanism, initial, Form::StrangenessFree, ranks);
    if let Err(error @ (InitialisationError::NotFinite { .. } | InitialisationError::WrongLength(_))) = attempt.outcome
    {
        return Err(AnalysisError::Initial(error));
    }
    let given = |start: &Start| match *start {
        Start::Fixed(value) | Start::Guess(value) => value,
        Start::Unknown => 0.0,
    };
    let (place, x) = match (&attempt.outcome, &attempt.last) {
        (Ok(found), _) => (Place::Consistent, found.state.x.clone()),
        (Err(_), Some(last)) if last.iter().all(|x| x.is_finite()) => (Place::Nearest, last.clone()),
        _ => (Place::Given, starts.iter().map(given).collect()),
    };
    let consistency = consistency::consistency(&mut *array, &names, initial, &starts, &attempt, (place, &x), means);
    let mut analysis = Analysis {
        sizes: layout.sizes,
        equations: equations::equations(&names),
        names,
        structure,
        index: None,
        t: initial.t,
        x,
        consistency,
        constraints: None,
        contact: None,
        auxiliary: None,
        mass: None,
        invariants: Vec::new(),
        time_scales: None,
        sparse: means.sparse,
        findings: Vec::new(),
    };
    if let Ok(mut at) = Linearised::at(&mut *array, analysis.t, &analysis.x, means) {
        at.look_around(&mut *array);
        analysis.look_at(mechanism, &at, tend);
    } else {
        analysis.findings.push(Finding::Undefined { t: analysis.t });
    }
    let wrong = declared::refuted(mechanism, (analysis.t, &analysis.x), tend, &declared::EVERYWHERE);
    analysis.findings.extend(wrong.into_iter().map(|wrong| Finding::WrongDeclaration { wrong }));
    if let Ok(found) = &attempt.outcome {
        analysis.invariants = invariants::invariants(mechanism, &analysis.names.invariants, &found.state, tend, means);
    }
    analysis.conclude();
    Ok(analysis)
}

impl Analysis {
    /// All that is judged at one point.
    fn look_at(&mut self, mechanism: &dyn Mechanism, at: &Linearised, tend: f64) {
        self.constraints = constraints::constraints(at, &self.names);
        if let Some(found) = &mut self.constraints {
            found.implied = linearised::implied_names(mechanism);
        }
        if self.consistency.place == Place::Consistent
            && let Some(found) = &mut self.constraints
            && !found.redundancies.is_empty()
        {
            found.nearby = constraints::nearby(mechanism, at);
        }
        self.contact = regularity::contact(at, &self.names);
        self.auxiliary = regularity::auxiliary(at, &self.names);
        self.mass = mass::mass(at, &self.names, self.structure.mass);
        if let (Some(constraints), Some(mass)) = (&self.constraints, &self.mass) {
            self.index = equations::index(&self.sizes, constraints, mass);
        }
        self.time_scales = time_scales::time_scales(at, tend - self.t);
    }

    /// Findings from what is known.
    fn conclude(&mut self) {
        let mut findings = std::mem::take(&mut self.findings);
        if let Some(error) = &self.consistency.error {
            findings.push(Finding::NoStart { error: error.clone() });
        }
        if let Some(mass) = &self.mass {
            self.judge_mass(mass, &mut findings);
        }
        if let Some(constraints) = &self.constraints {
            self.judge_constraints(constraints, &mut findings);
        }
        if let Some(Regularity { undefined, surplus, .. }) = self.contact.as_ref().filter(|r| !r.is_regular()) {
            let (variables, equations) = (undefined.clone(), surplus.clone());
            findings.push(Finding::SingularContact { variables, equations });
        }
        if let Some(Regularity { undefined, surplus, .. }) = self.auxiliary.as_ref().filter(|r| !r.is_regular()) {
            let (variables, equations) = (undefined.clone(), surplus.clone());
            findings.push(Finding::SingularAuxiliary { variables, equations });
        }
        for test in self.invariants.iter().filter(|test| test.verdict == Verdict::NotInvariant) {
            findings.push(Finding::WrongInvariant {
                name: test.name.clone(),
                rate: test.relative_rate(),
                drift: test.drift,
                until: test.until,
            });
        }
        findings.sort_by_key(Finding::severity);
        self.findings = findings;
    }

    fn judge_mass(&self, mass: &Mass, findings: &mut Vec<Finding>) {
        if !mass.is_regular_with_constraints() {
            findings.push(Finding::SingularMass {
                accelerations: mass.undetermined.clone(),
                equations: mass.equations.clone(),
                constraints: mass.touching.clone(),
            });
        } else if let Some(constraints) = &self.constraints
            && mass.accelerations.null_directions() > constraints.redundancies.len()
        {
            let several = [&mass.undetermined_unknowns[..], &mass.undetermined_multipliers];
            findings.push(Finding::Undetermined { unknowns: several.concat() });
        }
        if mass.definiteness == Definiteness::Indefinite {
            findings.push(Finding::IndefiniteMass { smallest: mass.eigenvalues.0 });
        }
    }

    fn judge_constraints(&self, constraints: &Constraints, findings: &mut Vec<Finding>) {
        // a residual tells a contradiction only where the values are as consistent as they can be
        let best = matches!(self.consistency.error, None | Some(InitialisationError::Contradictory { .. }));
        let contradictory = |r: &&Redundancy| best && !r.is_consistent();
        for redundancy in constraints.redundancies.iter().filter(contradictory) {
            findings.push(Finding::Contradiction { redundancy: redundancy.clone() });
        }
        if constraints.redundancies.is_empty() {
            return;
        }
        if !constraints.implied.is_empty() {
            findings.push(Finding::Implied { constraints: constraints.implied.clone() });
        }
        let is_implied =
            |c: &Combination| c.names().iter().all(|name| constraints.implied.iter().any(|own| own == name));
        let all = constraints.redundancies.iter().map(|r| r.combination.clone());
        let combinations: Vec<Combination> = all.filter(|c| !is_implied(c)).collect();
        if combinations.is_empty() {
            return;
        }
        if let Some(nearby) = constraints.nearby.filter(|_| constraints.is_singular_configuration()) {
            findings.push(Finding::SingularConfiguration {
                rank: constraints.all.rank,
                nearby: nearby.rank,
                constraints: combinations,
            });
        } else if constraints.redundancies.iter().all(Redundancy::is_consistent) {
            let multipliers = self.mass.as_ref().map_or(Vec::new(), |mass| mass.undetermined_multipliers.clone());
            // where nothing moves there is no nearby
            let fixed = constraints.position_freedom == 0;
            let nearby = constraints.nearby.map(|_| true).or(fixed.then_some(true));
            findings.push(Finding::Redundant { constraints: combinations, multipliers, nearby });
        }
    }
}
