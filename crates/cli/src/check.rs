//! What can be known about a model before it is solved.
//!
//! Text for people, or one JSON object; that of general systems is told in `general/object.rs`, that of models with modes in
//! `hybrid/object.rs`. Its keys for equations of motion, stable across versions; a number that does not exist or is infinite is `null`:
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
//! RANK              { rows, cols, rank, singular_values, threshold, smallest_kept, largest_dropped, gap, condition }
//! SUM               { name: factor }
//! ```
//! Residuals are told at the given values, everything else at `start.values`. Frequencies are oscillations per unit of time.

mod formulas;
mod general;
mod hybrid;
mod lines;
mod object;
mod text;
mod trial;

use crate::arguments::{Check, Format};
use crate::failure::{Failure, print};
use crate::setup::{Equations, Setup};
use daedal::analysis::{Analysis, Finding, Severity, analyse};
use daedal::motion::{Initial, Mechanism};
use daedal_run::Warning;

use formulas::Texts;
use serde_json::Value;
use trial::Trial;

/// What is checked.
pub struct Subject<'m> {
    pub model: &'m str,
    pub description: &'m str,
    pub parameters: &'m [(String, f64)],
    pub mechanism: &'m dyn Mechanism,
    pub initial: &'m Initial,
    pub tend: f64,
    /// How the constraints read, where that is known.
    pub texts: Texts,
    /// What is odd about the file or was said by a trial run, with a word for it.
    pub warnings: Vec<(&'static str, &'m Warning)>,
}

/// What a check tells.
pub struct Examined {
    /// For people.
    pub text: String,
    /// For programs.
    pub object: Value,
    /// Why there is no solution, or not only one.
    pub impossible: Option<Failure>,
    /// What should be looked at.
    pub warnings: Vec<String>,
}

/// Check a model.
pub fn check(arguments: &Check) -> Result<(), Failure> {
    let mut setup = Setup::resolve(&arguments.model)?;
    let trial = trial::make(&arguments.model)?;
    setup.doubts = trial.as_ref().map(Trial::doubts).unwrap_or_default();
    let mut examined = examine(&setup).map_err(|failure| failure.at(&setup.places))?;
    if let Some(trial) = &trial {
        examined.text += &setup.places.told(&trial.text());
    }
    if let Value::Object(object) = &mut examined.object {
        object.insert("trial".into(), trial.as_ref().map_or(Value::Null, Trial::object));
    }
    match arguments.format {
        Format::Text => print(&examined.text)?,
        Format::Json => print(&format!("{:#}\n", examined.object))?,
    }
    examined.impossible.map_or(Ok(()), |failure| Err(failure.at(&setup.places)))
}

/// Look at a model.
pub fn examine(setup: &Setup) -> Result<Examined, Failure> {
    let motion = match &setup.equations {
        Equations::Motion(motion) => motion,
        Equations::General(system) => return general::examine(setup, system),
        Equations::Hybrid(switched) => return Ok(hybrid::examine(setup, switched)),
    };
    let case = &motion.case;
    let subject = Subject {
        model: &setup.name,
        description: &setup.description,
        parameters: &setup.parameters,
        mechanism: &*case.mechanism,
        initial: &case.initial,
        // a model without an interval is looked at over one unit of time
        tend: if case.tend > case.initial.t { case.tend } else { case.initial.t + 1.0 },
        texts: motion.formulas.as_ref().map(formulas::texts).unwrap_or_default(),
        warnings: setup.told().collect(),
    };
    let analysis = analyse(subject.mechanism, subject.initial, subject.tend)?.with_formulas(&subject.texts.formulas);
    Ok(Examined {
        text: text::text(&subject, &analysis),
        object: object::object(&subject, &analysis),
        impossible: (!analysis.is_possible()).then(|| impossible(subject.model, &analysis)),
        warnings: warnings(&analysis).chain(setup.told().map(|(_, warning)| warning.to_string())).collect(),
    })
}

fn warnings(analysis: &Analysis) -> impl Iterator<Item = String> {
    analysis.findings.iter().filter(|f| f.severity() == Severity::Warning).map(Finding::to_string)
}

fn impossible(model: &str, analysis: &Analysis) -> Failure {
    let reasons = analysis.findings.iter().filter(|f| f.severity() == Severity::Impossible).map(Finding::to_string);
    Failure::Impossible { model: model.to_string(), reasons: reasons.collect() }
}
