//! What can be known about a model before it is solved.
//!
//! [`Check`] is written as one JSON object; that of general systems is told in `general_object.rs`, that of models with modes in
//! `modes_object.rs`. Its keys for equations of motion, stable across versions; a number that does not exist or is infinite is `null`:
//!
//! ```text
//! model, parameters {name: value}, t0, tend
//! possible          bool: false if a finding is impossible (exit code 1)
//! findings          [ { severity: "impossible"|"warning"|"note", code, message, equations [name] } ], the worst first
//!     code          no_consistent_start, undefined, contradictory_constraints, singular_mass, undetermined, singular_contact,
//!                   singular_auxiliary, singular_configuration, wrong_invariant, indefinite_mass, unused, trial, implied, redundant
//! sizes             { positions, velocities, dynamic, auxiliary, contact, holonomic, nonholonomic, invariants }
//! index             null | { strangeness, differentiation: null with redundant constraints }
//! freedom           null | { position, velocity }
//! equations         [ { name, kind: "holonomic"|"nonholonomic"|"contact"|"auxiliary"|"invariant",
//!                       level: "position"|"velocity"|"acceleration", hidden: bool, formula: null|text } ]
//! definitions       {name: formula} of subexpressions that several formulas share
//! stated_hidden     that of general systems
//! start             { place: "consistent"|"nearest"|"given", error: null|text, iterations, surplus, filled [name],
//!                     values {name: value},
//!                     residuals [ { equation, level: null for conditions, value, terms, tolerance, satisfied } ],
//!                     movements [ { variable, given, start, relative, fixed } ] }
//! constraints       null | { holonomic RANK, all RANK, position RANK, kinematics RANK,
//!                     redundancies [ { combination SUM, consistent, position, velocity, acceleration } ],
//!                     nearby: null | { distance, rank }, undetermined_multipliers [SUM] }
//! contact           null | { rank RANK, undefined [SUM], surplus [SUM] }         ∂c/∂s
//! auxiliary         null | { rank RANK, undefined [SUM], surplus [SUM] }         ∂d/∂w
//! mass              null | { structure: "constant diagonal"|"constant"|"diagonal"|"full", symmetric, asymmetry,
//!                     definiteness: "positive"|"semidefinite"|"indefinite", eigenvalues [smallest, largest], singular_values,
//!                     condition, rank RANK, with_constraints RANK, accelerations RANK, undetermined [SUM],
//!                     undetermined_unknowns [SUM], equations [SUM], touching [name] }
//! invariants        [ { name, verdict: "invariant"|"not invariant"|"undecided", value, rate, terms, relative_rate, drift,
//!                       explained, points, until } ]
//! time_scales       null | { modes [ { re, im, time_constant, frequency, damping } ], dimension, zero, interval, fastest_decay,
//!                     slowest, highest_frequency, fastest_growth, stiffness_ratio, stiffness: "not stiff"|"mild"|"stiff" }
//! trial             null | { until, error: null|text, verification: null | that of `daedal solve --verify --stats json` }
//! mechanism         only of models made of bodies: { counted, freedoms, rows, smallest_kept,
//!                     redundant [ { row, joint, from [joint], remainder } ], not_unique [joint], free [body], flipped [joint],
//!                     reactions [ { joint, kind, force [x, y, z], torque [x, y, z], unique } ] at the start, in the world, of A on B }
//! boundary          only with [final]: { account: null | that of `daedal solve --stats json`, error: null|text }
//! RANK              { rows, cols, rank, singular_values, threshold, smallest_kept, largest_dropped, gap, condition }; of large systems with sparse
//!                     matrices pivots decide, singular_values are empty and condition and time_scales are null
//! SUM               { name: factor }
//! ```
//! Residuals are told at the given values, everything else at `start.values`. Frequencies are oscillations per unit of time.

mod boundary;
mod finding;
mod formulas;
mod general;
mod general_object;
mod linear;
mod linear_object;
mod mechanism;
mod mode_change;
mod modes;
mod modes_object;
mod motion_object;
mod orders;
mod trial;

use crate::error::Error;
use crate::model::{Model, ModelSystem, MotionModel};
use daedal::analysis::{Analysis, Place, Severity, analyse_by};
use daedal::dae::analysis::{HiddenComparison, compare_hidden};
use daedal::dae::{Depth, System};
use daedal::graph::Interpreted;
use daedal::linalg::RankRule;
use daedal::motion::{Form, Formulas, Layout};
use daedal::{Initial, Start};
use daedal_run::WarningRecord;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

pub use boundary::{BoundaryCheck, account_object};
pub use finding::Remark;
pub use formulas::Texts;
pub use general::{ConstraintFormula, GeneralAnalysis, GeneralCheck, SystemSizes};
pub use linear::{GivenStart, LinearAnalysis, SymmetryFound, SymmetryKind};
pub use mechanism::MechanismCheck;
pub use mode_change::ModeChange;
pub use modes::{ModeCheck, ModesCheck, SlidingPair, condition};
pub use motion_object::{kind, level, severity, structure, verdict};
pub use orders::OrderAnalysis;
pub use trial::TrialRun;

/// What was found about a model.
pub struct Check {
    /// The model.
    pub model: Model,
    /// Initial time.
    pub t0: f64,
    /// What should be looked at in the model as a whole, with a word that programs can rely on.
    pub odd: Vec<(&'static str, WarningRecord)>,
    /// What was found, by the kind of the system.
    pub examined: Examined,
    /// A trial run, where the model has an interval and a run can be started.
    pub trial: Option<TrialRun>,
    /// The conditions at both ends, of a boundary value problem; it has no trial run.
    pub boundary: Option<BoundaryCheck>,
}

/// What was found, by the kind of the system.
pub enum Examined {
    /// Equations of motion.
    Motion(Box<MotionCheck>),
    /// A general system.
    General(Box<GeneralCheck>),
    /// A system with modes.
    Modes(Box<ModesCheck>),
}

/// What was found about equations of motion.
pub struct MotionCheck {
    /// Ranks, consistency, mass, time scales, findings.
    pub analysis: Analysis,
    /// How the constraints read, where that is known.
    pub texts: Texts,
    /// End of the interval that was looked at.
    pub tend: f64,
    /// Hidden constraints that the model states, compared with those that follow.
    pub comparison: HiddenComparison,
    /// Freedoms, redundant joints and joint forces, of a model made of bodies.
    pub mechanism: Option<MechanismCheck>,
}

/// Values by name near which a mode is looked at that is not the first one.
type NearbyValues<'n> = &'n [(&'n String, f64)];

/// Look at a model, and try a short run.
///
/// ```
/// use daedal_simulation::{Model, check};
/// let found = check(&Model::reference("pendulum")?, None)?;
/// assert_eq!(found.object()["index"]["differentiation"], 3);
/// assert!(found.into_error().is_none());
/// # Ok::<(), daedal_simulation::Error>(())
/// ```
pub fn check(model: &Model, t0: Option<f64>) -> Result<Check, Error> {
    let boundary = boundary::make(model, t0)?;
    let trial = if boundary.is_some() { None } else { trial::make(model, t0)? };
    let doubts = trial.as_ref().map(TrialRun::doubts).unwrap_or_default();
    let t0 = t0.unwrap_or(model.interval().0);
    // a boundary value problem is looked at where its solution starts
    let start = boundary.as_ref().map(|found| found.start.iter().map(|(name, x)| (name, *x)).collect::<Vec<_>>());
    let start = start.as_deref().filter(|start| !start.is_empty());
    let mut found = examine(model, t0, doubts, start).map_err(|error| model.located(error))?;
    (found.trial, found.boundary) = (trial, boundary);
    Ok(found)
}

/// Look at a model, or at a mode near given values.
fn examine(model: &Model, t0: f64, doubts: Vec<WarningRecord>, nearby: Option<NearbyValues>) -> Result<Check, Error> {
    let odd = model.warnings().iter().map(|warning| ("unused", warning.clone()));
    let odd: Vec<_> = odd.chain(doubts.into_iter().map(|doubt| ("trial", doubt))).collect();
    let mut odd = odd;
    let examined = match &model.content.equations {
        ModelSystem::Motion(motion) => {
            let found = of_motion(model, motion, t0, nearby)?;
            let wrong = finding::of_claims(&found.comparison).into_iter();
            odd.extend(wrong.map(|remark| (remark.code, WarningRecord::new(remark.message))));
            Examined::Motion(Box::new(found))
        }
        ModelSystem::General(general) => {
            Examined::General(Box::new(general::examine(model, general, t0, &odd, nearby)?))
        }
        ModelSystem::Modes(modes) => Examined::Modes(Box::new(modes::examine(model, modes, t0))),
    };
    Ok(Check { model: model.clone(), t0, odd, examined, trial: None, boundary: None })
}

fn of_motion(model: &Model, motion: &MotionModel, t0: f64, nearby: Option<NearbyValues>) -> Result<MotionCheck, Error> {
    let mut initial = Initial { t: t0, ..motion.initial.clone() };
    if let Some(known) = nearby {
        let (layout, names) = motion.layout();
        let block =
            |range: std::ops::Range<usize>| names[range].iter().map(|name| near(known, name)).collect::<Vec<_>>();
        (initial.p, initial.v, initial.r) = (block(layout.p()), block(layout.v()), block(layout.r()));
        (initial.w, initial.s) = (block(layout.w()), block(layout.s()));
    }
    // a model without an interval is looked at over one unit of time
    let tend = model.interval().1.filter(|tend| *tend > t0).unwrap_or(t0 + 1.0);
    // joints of bodies are told by their names: their formulas are long
    let written = motion.formulas.as_ref().filter(|_| motion.bodies.is_none());
    let texts = written.map(formulas::texts).unwrap_or_default();
    let analysis = analyse_by(motion.mechanism(), &initial, tend, model.ranks())?.with_formulas(&texts.formulas);
    let comparison = match &motion.formulas {
        Some(formulas) if analysis.consistency.place == Place::Consistent => {
            compared(formulas, &analysis, model.ranks())?
        }
        _ => HiddenComparison::default(),
    };
    let mechanism = motion.bodies.as_ref().map(|system| MechanismCheck::of(system, &analysis));
    Ok(MotionCheck { analysis, texts, tend, comparison, mechanism })
}

/// Stated hidden constraints of equations of motion, looked at as those of a general system.
fn compared(formulas: &Formulas, analysis: &Analysis, ranks: RankRule) -> Result<HiddenComparison, Error> {
    if formulas.hidden.is_empty() {
        return Ok(HiddenComparison::default());
    }
    let system = System::new(&daedal::dae::Formulas::of_motion(formulas), Interpreted);
    let layout = Layout::new(analysis.sizes, Form::StrangenessFree, false);
    let mut states: Vec<Start> = layout.shown().into_iter().map(|j| Start::Guess(analysis.x[j])).collect();
    states.resize(system.formulas.states.len(), Start::Unknown);
    let initial = Initial { t: analysis.t, states, ..Initial::default() };
    Ok(compare_hidden(&system, &initial, Depth { ranks, ..Depth::default() })?)
}

/// A guess by name.
fn near(known: NearbyValues, name: &str) -> Start {
    let found = known.iter().find(|(other, _)| *other == name);
    found.map_or(Start::Unknown, |(_, x)| Start::Guess(*x))
}

impl Check {
    /// Why there is no solution, or not only one.
    pub fn into_error(self) -> Option<Error> {
        let model = self.model.clone();
        self.into_own_error().map(|error| model.located(error))
    }

    fn into_own_error(self) -> Option<Error> {
        if let Some(BoundaryCheck { error: Some(reason), .. }) = &self.boundary {
            let (model, reasons) = (self.model.name().to_string(), vec![reason.clone()]);
            return Some(Error::Unsolvable { model, reasons });
        }
        match self.examined {
            Examined::Modes(found) => found.into_error(),
            _ => self.own_error(),
        }
    }

    /// The same of a system without modes.
    fn own_error(&self) -> Option<Error> {
        let model = self.model.name().to_string();
        match &self.examined {
            Examined::Motion(found) => {
                let worst = found.analysis.findings.iter().filter(|f| f.severity() == Severity::Impossible);
                let reasons = worst.map(ToString::to_string).collect();
                (!found.analysis.is_possible()).then_some(Error::Impossible { model, reasons })
            }
            Examined::General(found) => {
                let worst = found.findings.iter().filter(|finding| finding.severity == Severity::Impossible);
                let reasons: Vec<String> = worst.map(|finding| finding.message.clone()).collect();
                (!reasons.is_empty()).then_some(Error::Unsolvable { model, reasons })
            }
            Examined::Modes(_) => None,
        }
    }

    /// What should be looked at.
    pub fn warnings(&self) -> Vec<String> {
        let odd = self.odd.iter().map(|(_, warning)| warning.to_string());
        match &self.examined {
            Examined::Motion(found) => {
                let findings = found.analysis.findings.iter().filter(|f| f.severity() == Severity::Warning);
                findings.map(ToString::to_string).chain(odd).collect()
            }
            Examined::General(found) => {
                let findings = found.findings.iter().filter(|finding| finding.severity == Severity::Warning);
                findings.map(|finding| finding.message.clone()).collect()
            }
            Examined::Modes(found) => odd.chain(found.warnings()).collect(),
        }
    }

    /// All of it for programs.
    pub fn object(&self) -> Value {
        let mut object = self.bare_object();
        object.insert("trial".into(), self.trial.as_ref().map_or(Value::Null, TrialRun::object));
        if let Some(boundary) = &self.boundary {
            object.insert("boundary".into(), boundary.object());
        }
        Value::Object(object)
    }

    /// All but the trial run.
    fn bare_object(&self) -> Map<String, Value> {
        let object = match &self.examined {
            Examined::Motion(found) => motion_object::object(self, found),
            Examined::General(found) => general_object::object(self, found),
            Examined::Modes(found) => modes_object::object(self, found),
        };
        match object {
            Value::Object(object) => object,
            _ => Map::new(),
        }
    }

    fn parameters(&self) -> Map<String, Value> {
        self.model.parameters().iter().map(|(name, value)| (name.clone(), json!(value))).collect()
    }
}

impl Serialize for Check {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.object().serialize(serializer)
    }
}

/// A number in few digits.
pub fn short(x: f64) -> String {
    if x == 0.0 {
        "0".into()
    } else if (0.001..10000.0).contains(&x.abs()) {
        let digits = 3 - (x.abs().log10().floor() as i32).clamp(-3, 3);
        let text = format!("{x:.*}", digits.max(0) as usize);
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
    } else {
        format!("{x:.1e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_keep_their_size() {
        for (x, told) in [
            (0.0, "0"),
            (1.0, "1"),
            (1.0 / 3.0, "0.3333"),
            (1234.5, "1234"),
            (-2.5, "-2.5"),
            (1e-9, "1.0e-9"),
            (31250.0, "3.1e4"),
        ] {
            assert_eq!(short(x), told);
        }
    }
}
