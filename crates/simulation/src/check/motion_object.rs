//! An analysis as one JSON object; the keys are listed in the module above.

use super::general_object::stated_hidden;
use super::{Check, MotionCheck};
use daedal::analysis::Consistency;
use daedal::analysis::{
    Analysis, Combination, Constraints, Definiteness, InvariantTest, Kind, Level, Mass, Place, RankDecision,
    Regularity, Severity, Stiffness, TimeScales, Verdict,
};
use daedal::motion::{Form, Layout, MassStructure};
use serde_json::{Map, Value, json};

pub fn object(check: &Check, motion: &MotionCheck) -> Value {
    let found = &motion.analysis;
    let findings = found.findings.iter().map(|finding| {
        json!({
            "severity": severity(finding.severity()),
            "code": finding.code(),
            "message": finding.to_string(),
            "equations": finding.equations(),
        })
    });
    let mut findings: Vec<Value> = findings.collect();
    // the worst first: warnings stand before notes
    let place = found.findings.iter().take_while(|finding| finding.severity() <= Severity::Warning).count();
    let told = check
        .odd
        .iter()
        .map(|(code, warning)| json!({ "severity": "warning", "code": code, "message": warning.to_string(), "equations": [] }));
    findings.splice(place..place, told);
    let definitions: Map<String, Value> =
        motion.texts.definitions.iter().map(|(name, text)| (name.clone(), json!(text))).collect();
    let equations = found.equations.iter().map(|equation| {
        json!({
            "name": equation.name,
            "kind": kind(equation.kind),
            "level": level(equation.level),
            "hidden": equation.hidden,
            "formula": equation.formula,
        })
    });
    let n = found.sizes;
    let mut object = json!({
        "model": check.model.name(),
        "parameters": check.parameters(),
        "t0": found.t,
        "tend": motion.tend,
        "possible": found.is_possible(),
        "findings": findings,
        "sizes": {
            "positions": n.positions,
            "velocities": n.velocities,
            "dynamic": n.dynamic,
            "auxiliary": n.auxiliary,
            "contact": n.contact,
            "holonomic": n.holonomic,
            "nonholonomic": n.nonholonomic,
            "invariants": n.invariants,
        },
        "index": found.index.map(|index| {
            json!({ "strangeness": index.strangeness, "differentiation": index.differentiation })
        }),
        "freedom": found.constraints.as_ref().map(|constraints| {
            json!({ "position": constraints.position_freedom, "velocity": constraints.velocity_freedom })
        }),
        "equations": equations.collect::<Value>(),
        "definitions": definitions,
        "stated_hidden": stated_hidden(&motion.comparison),
        "start": start(found, &found.consistency),
        "constraints": found.constraints.as_ref().map(|c| constraints(c, found.mass.as_ref())),
        "contact": found.contact.as_ref().map(regularity),
        "auxiliary": found.auxiliary.as_ref().map(regularity),
        "mass": found.mass.as_ref().map(mass),
        "invariants": found.invariants.iter().map(invariant).collect::<Value>(),
        "time_scales": found.time_scales.as_ref().map(time_scales),
    });
    if let (Some(mechanism), Some(object)) = (&motion.mechanism, object.as_object_mut()) {
        object.insert("mechanism".into(), mechanism.object());
    }
    object
}

fn start(found: &Analysis, given: &Consistency) -> Value {
    let layout = Layout::new(found.sizes, Form::StrangenessFree, false);
    let names = layout.variable_names(&found.names);
    let values: Map<String, Value> =
        layout.shown().into_iter().map(|j| (names[j].clone(), json!(found.x[j]))).collect();
    let residuals = given.residuals.iter().map(|residual| {
        json!({
            "equation": residual.equation,
            "level": residual.level.map(level),
            "value": residual.value,
            "terms": residual.terms,
            "tolerance": residual.tolerance,
            "satisfied": residual.is_satisfied(),
        })
    });
    let movements = given.movements.iter().map(|movement| {
        json!({
            "variable": movement.variable,
            "given": movement.given,
            "start": movement.start,
            "relative": movement.relative(),
            "fixed": movement.fixed,
        })
    });
    json!({
        "place": match given.place {
            Place::Consistent => "consistent",
            Place::Nearest => "nearest",
            Place::Given => "given",
        },
        "error": given.error.as_ref().map(ToString::to_string),
        "iterations": given.iterations,
        "surplus": given.surplus,
        "filled": given.filled,
        "values": values,
        "residuals": residuals.collect::<Value>(),
        "movements": movements.collect::<Value>(),
    })
}

fn constraints(found: &Constraints, mass: Option<&Mass>) -> Value {
    let redundancies = found.redundancies.iter().map(|redundancy| {
        json!({
            "combination": sum(&redundancy.combination),
            "consistent": redundancy.is_consistent(),
            "position": redundancy.position,
            "velocity": redundancy.velocity,
            "acceleration": redundancy.acceleration,
        })
    });
    json!({
        "holonomic": rank(&found.holonomic),
        "all": rank(&found.all),
        "position": rank(&found.position),
        "kinematics": rank(&found.kinematics),
        "redundancies": redundancies.collect::<Value>(),
        "nearby": found.nearby.map(|nearby| json!({ "distance": nearby.distance, "rank": nearby.rank })),
        "undetermined_multipliers": sums(mass.map_or(&[], |mass| &mass.undetermined_multipliers)),
    })
}

fn regularity(found: &Regularity) -> Value {
    json!({ "rank": rank(&found.rank), "undefined": sums(&found.undefined), "surplus": sums(&found.surplus) })
}

fn mass(found: &Mass) -> Value {
    json!({
        "structure": structure(found.structure),
        "symmetric": found.is_symmetric(),
        "asymmetry": found.asymmetry,
        "definiteness": match found.definiteness {
            Definiteness::Positive => "positive",
            Definiteness::Semidefinite => "semidefinite",
            Definiteness::Indefinite => "indefinite",
        },
        "eigenvalues": [found.eigenvalues.0, found.eigenvalues.1],
        "singular_values": found.singular_values,
        "condition": found.condition(),
        "rank": rank(&found.rank),
        "with_constraints": rank(&found.with_constraints),
        "accelerations": rank(&found.accelerations),
        "undetermined": sums(&found.undetermined),
        "undetermined_unknowns": sums(&found.undetermined_unknowns),
        "equations": sums(&found.equations),
        "touching": found.touching,
    })
}

fn invariant(test: &InvariantTest) -> Value {
    json!({
        "name": test.name,
        "verdict": verdict(test.verdict),
        "value": test.value,
        "rate": test.rate,
        "terms": test.terms,
        "relative_rate": test.relative_rate(),
        "drift": test.drift,
        "explained": test.explained,
        "points": test.points,
        "until": test.until,
    })
}

fn time_scales(found: &TimeScales) -> Value {
    let modes = found.modes.iter().map(|mode| {
        json!({
            "re": mode.re,
            "im": mode.im,
            "time_constant": mode.time_constant(),
            "frequency": mode.frequency(),
            "damping": mode.damping(),
        })
    });
    json!({
        "modes": modes.collect::<Value>(),
        "dimension": found.dimension,
        "zero": found.zero,
        "interval": found.interval,
        "fastest_decay": found.fastest_decay,
        "slowest": found.slowest,
        "highest_frequency": found.highest_frequency,
        "fastest_growth": found.fastest_growth,
        "stiffness_ratio": found.stiffness_ratio,
        "stiffness": match found.stiffness {
            Stiffness::NotStiff => "not stiff",
            Stiffness::Mild => "mild",
            Stiffness::Stiff => "stiff",
        },
    })
}

fn rank(found: &RankDecision) -> Value {
    json!({
        "rows": found.rows,
        "cols": found.cols,
        "rank": found.rank,
        "singular_values": found.singular_values,
        "threshold": found.threshold,
        "smallest_kept": (found.rank > 0).then_some(found.smallest_kept),
        "largest_dropped": (!found.is_full()).then_some(found.largest_dropped),
        "gap": found.gap().between(),
        "condition": found.condition(),
    })
}

fn sum(combination: &Combination) -> Value {
    combination.terms.iter().map(|(name, factor)| (name.clone(), json!(factor))).collect::<Map<String, Value>>().into()
}

pub fn sums(combinations: &[Combination]) -> Value {
    combinations.iter().map(sum).collect()
}

/// The word for a severity.
pub fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Impossible => "impossible",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

/// The word for a kind of a constraint.
pub fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Holonomic => "holonomic",
        Kind::Nonholonomic => "nonholonomic",
        Kind::Contact => "contact",
        Kind::Auxiliary => "auxiliary",
        Kind::Invariant => "invariant",
    }
}

/// The word for a level.
pub fn level(level: Level) -> &'static str {
    match level {
        Level::Position => "position",
        Level::Velocity => "velocity",
        Level::Acceleration => "acceleration",
    }
}

/// The word for a structure of a mass matrix.
pub fn structure(structure: MassStructure) -> &'static str {
    match structure {
        MassStructure::Full => "full",
        MassStructure::Diagonal => "diagonal",
        MassStructure::ConstantFull => "constant",
        MassStructure::ConstantDiagonal => "constant diagonal",
    }
}

/// The word for a verdict about an invariant.
pub fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Invariant => "invariant",
        Verdict::NotInvariant => "not invariant",
        Verdict::Undecided => "undecided",
    }
}
