//! The analysis of a general system as one JSON object. Its keys, stable across versions; a number that does not exist or is
//! infinite is `null`, and everything from `index` to `form` is `null` where no consistent start was found:
//!
//! ```text
//! model, parameters {name: value}, t0, tend
//! possible          bool: false if a finding is impossible (exit code 1)
//! findings          [ { severity: "impossible"|"warning"|"note", code, message } ], the worst first
//!     code          no_consistent_start, undefined, index_not_found, no_form, singular_point, changes, unclear_rank,
//!                   slow_convergence, trajectory, undetermined, not_invariant, unused, redundant, structural_index,
//!                   structure_misleads, no_formulas, unconfirmed, hidden_contradicts, hidden_not_implied,
//!                   hidden_with_derivatives, hidden_undefined, hidden_missing, unclear_order
//! sizes             { states, equations, invariants, unknowns, rows }: as written, and of the first-order form
//! index             { strangeness, differentiation, structural, structural_trusted: null|bool, constraint_level,
//!                     perturbation: null where it is not known, perturbation_class: null|"linear"|"explicit"|"semi-explicit"|
//!                     "Hessenberg form", perturbation_may_be_higher: bool }
//! characteristic    { d, a, v, u }
//! levels            [ { level, rank, rows, a, d, v, holds: bool, one_full: bool, gap } ]
//! equations         [ { name, with {equation: differentiations}, combined: bool, kind: "constraint"|"invariant", level, hidden: bool, formula,
//!                       nonzero [formula], kept: null|text } ], level: number of differentiations; it holds where no entry of
//!                   `nonzero` is zero; `combined`: an equation whose derivatives others took out; `kept`: why derivatives stay
//! definitions       {name: formula} of subexpressions that several formulas share
//! stated_hidden     { claims [ { name, formula, verdict: "implied"|code } ], missing [formula], further }: hidden constraints that the
//!                   model states; derived ones that do not follow from them, and how many more have no formula
//! redundant         [SUM]: combinations of equations, differentiated as often as they have primes, that vanish identically
//! undetermined      [SUM]: combinations of unknowns that nothing determines
//! free              [name]: unknowns that can be given freely at the start
//! start             { iterations, values {name: value}, derivatives {name: value}, moved [ { variable, given, start } ] }
//! elsewhere         [ { t, on_trajectory: bool, strangeness, d, a, v, u } ]
//! form              null | the form that `solve` takes
//! orders            null for order one | { unknown: text } where it was not found | { order, linear: bool, strangeness,
//!                     d [of order 1, of order 2, …], a, v, u, proved: bool, converted, trimmed [SUM],
//!                     entering FORM, companion FORM, run: null | why a run has other unknowns than those that enter }
//!     FORM          { strangeness, d, a, v, u }: forms of first order with the derivatives that enter as unknowns, and with all
//! linear            null | { constant: bool, pencil: null | { unknown: text } | { regular: bool, index, finite [[re, im]], infinite,
//!                     nilpotent [size], right [ε], left [η] },
//!                     symmetry: null | { kind: "symmetric"|"self-adjoint"|"symmetric of second order"|"gyroscopic", turned [name],
//!                       reduction: null | { s, d, a, u } | { refused: text } },
//!                     start: null | { consistent: bool, open [name], jumps [ { variable, before, behind } ],
//!                       impulses [ { variable, order, factor } ] } }
//! control           null without [control] | what `daedal control` tells of one system
//! SUM               { name: factor }
//! ```

use super::finding::claim_code;
use super::motion_object::{severity, sums};
use super::{Check, GeneralAnalysis, GeneralCheck, linear_object};
use crate::control;
use daedal::analysis::Severity;
use daedal::dae::analysis::{HiddenComparison, PerturbationIndex};
use daedal::dae::hidden::Role;
use daedal::dae::{CharacteristicValues, Structural};
use serde_json::{Map, Value, json};

pub fn object(check: &Check, general: &GeneralCheck) -> Value {
    let findings = general.findings.iter().map(
        |finding| json!({ "severity": severity(finding.severity), "code": finding.code, "message": finding.message }),
    );
    let mut object = Map::new();
    let mut insert = |key: &str, value: Value| object.insert(key.to_string(), value);
    insert("model", json!(check.model.name()));
    insert("parameters", json!(check.parameters()));
    insert("t0", json!(check.t0));
    insert("tend", json!(check.model.interval().1));
    insert("possible", json!(!general.findings.iter().any(|finding| finding.severity == Severity::Impossible)));
    insert("findings", findings.collect());
    insert(
        "sizes",
        json!({
            "states": general.sizes.states,
            "equations": general.sizes.equations,
            "invariants": general.sizes.invariants,
            "unknowns": general.sizes.unknowns,
            "rows": general.sizes.rows,
        }),
    );
    let found = general.found.as_ref().ok();
    for (key, value) in KEYS {
        insert(key, found.map_or(Value::Null, value));
    }
    insert("orders", linear_object::orders(general.orders.as_ref(), general.unknowns.as_deref()));
    insert("linear", linear_object::linear(general.linear.as_ref()));
    insert("control", general.control.as_ref().map_or(Value::Null, |facts| control::object::system(None, facts)));
    Value::Object(object)
}

/// What is told about a point, in its order.
#[allow(clippy::type_complexity)] // a table of functions
const KEYS: [(&str, fn(&GeneralAnalysis) -> Value); 12] = [
    ("index", index),
    ("characteristic", |found| {
        let CharacteristicValues { d, a, v, u, .. } = found.analysis.at.values;
        json!({ "d": d, "a": a, "v": v, "u": u })
    }),
    ("levels", levels),
    ("equations", equations),
    ("definitions", |found| {
        found.definitions.iter().map(|(name, text)| (name.clone(), json!(text))).collect::<Map<_, _>>().into()
    }),
    ("stated_hidden", |found| stated_hidden(&found.analysis.comparison)),
    ("redundant", |found| sums(&found.analysis.redundant)),
    ("undetermined", |found| sums(&found.analysis.undetermined)),
    ("free", |found| json!(found.analysis.free)),
    ("start", start),
    ("elsewhere", elsewhere),
    ("form", |found| json!(found.form.map(daedal::dae::Form::name))),
];

fn index(found: &GeneralAnalysis) -> Value {
    let analysis = &found.analysis;
    let (structural, trusted) = match &analysis.structural {
        Structural::Regular { index, trusted, .. } => (Some(index), Some(trusted)),
        Structural::Singular { .. } | Structural::NotSquare => (None, None),
    };
    let perturbation = match analysis.perturbation {
        PerturbationIndex::Known { index, class } => Some((index, class)),
        _ => None,
    };
    json!({
        "strangeness": analysis.at.values.mu,
        "differentiation": analysis.at.differentiation_index(),
        "structural": structural,
        "structural_trusted": trusted,
        "constraint_level": analysis.at.constraint_level(),
        "perturbation": perturbation.map(|(index, _)| index),
        "perturbation_class": perturbation.map(|(_, class)| class.name()),
        "perturbation_may_be_higher": analysis.perturbation == PerturbationIndex::MayBeHigher,
    })
}

pub(super) fn stated_hidden(comparison: &HiddenComparison) -> Value {
    let claims = comparison
        .claims
        .iter()
        .map(|claim| json!({ "name": claim.name, "formula": claim.formula, "verdict": claim_code(claim.verdict) }));
    json!({
        "claims": claims.collect::<Value>(),
        "missing": comparison.missing,
        "further": comparison.further,
    })
}

fn levels(found: &GeneralAnalysis) -> Value {
    let equations = found.analysis.equations;
    let levels = found.analysis.at.levels.iter().map(|level| {
        json!({
            "level": level.level,
            "rank": level.rank,
            "rows": equations * (level.level + 1),
            "a": level.a,
            "d": level.d,
            "v": level.v,
            "holds": level.holds,
            "one_full": level.one_full,
            "gap": level.gap,
        })
    });
    levels.collect()
}

fn equations(found: &GeneralAnalysis) -> Value {
    let constraints = found.constraints.iter().map(|c| {
        json!({
            "name": c.equation,
            "with": c.with.iter().map(|(name, level)| (name.clone(), json!(level))).collect::<Map<_, _>>(),
            "combined": c.combined,
            "kind": if c.role == Role::Invariant { "invariant" } else { "constraint" },
            "level": c.level,
            "hidden": c.level > 0,
            "formula": c.formula,
            "nonzero": c.nonzero,
            "kept": c.kept,
        })
    });
    constraints.collect()
}

fn start(found: &GeneralAnalysis) -> Value {
    let analysis = &found.analysis;
    let named = |values: &[f64]| -> Map<String, Value> {
        analysis.unknowns.iter().zip(values).map(|(name, x)| (name.clone(), json!(x))).collect()
    };
    let moved = analysis
        .moved
        .iter()
        .map(|(variable, given, start)| json!({ "variable": variable, "given": given, "start": start }));
    json!({
        "iterations": analysis.at.fit.iterations,
        "values": named(analysis.at.x()),
        "derivatives": named(&found.rates),
        "moved": moved.collect::<Value>(),
    })
}

fn elsewhere(found: &GeneralAnalysis) -> Value {
    let points = found.analysis.elsewhere.iter().map(|point| {
        let CharacteristicValues { mu, d, a, v, u } = point.values;
        json!({ "t": point.t, "on_trajectory": point.on_trajectory, "strangeness": mu, "d": d, "a": a, "v": v, "u": u })
    });
    points.collect()
}
