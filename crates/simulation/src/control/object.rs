//! Control as one JSON object. Its keys, stable across versions:
//!
//! ```text
//! model             name
//! systems           [ { mode: null|name, unknown: text } | { mode, states [name], inputs [name], outputs [formula], point: null|{name: value},
//!                       free PENCIL, behaviour PENCIL, controllability ABILITY, observability: null|ABILITY,
//!                       feedback { state|output|derivative: { refused: text } | { needless: bool, F: MATRIX, G: MATRIX, index } },
//!                       optimality: null | { unknown: text } | { regular: bool, rank, size, index: null|number, strangeness: null|number,
//!                         d, a, semidefinite: bool },
//!                       sliding: null | { unknown: text } | { surfaces [formula], law {input: formula}, crossing MATRIX, index } } ]
//! ABILITY           { n, complete: bool, reachable: bool, impulses: bool, strong: bool, stabilisable: bool, rank_infinite, rank_impulses,
//!                     fixed [[re, im]], empty [number] }; of outputs: observable, detectable
//! PENCIL            { regular: bool, index, finite [[re, im]], infinite, right [ε], left [η] }
//! hybrid            null | { controllable: null|bool, modes: bool, connected: bool, transfers [ { from, to, surplus: number|null, unknown: null|text } ] }
//! optimum           null | { unknown: text } | { sequence [name], times, found_times: bool, at_edge [number], cost, slopes, start {name: value},
//!                     end {name: value}, moved [ { variable, given, optimal } ] }
//! closed            null | { kind, modes [ { mode: null|name, gain MATRIX, law {input: formula}, index, needless: bool } ] }
//! MATRIX            [[row], …]
//! ```

use super::{ClosedLoop, ControlFacts, ControlReport, HybridFacts, OptimumFacts};
use daedal::linalg::Mat;
use daedal_pencils::Kronecker;
use daedal_pencils::control::Controllability;
use serde_json::{Map, Value, json};

pub(super) fn report(report: &ControlReport) -> Value {
    json!({
        "model": report.model,
        "systems": report.systems.iter().map(|(mode, facts)| system(report.has_modes.then_some(mode), facts)).collect::<Value>(),
        "hybrid": report.hybrid.as_ref().map(hybrid),
        "optimum": report.optimum.as_ref().map(|found| match found {
            Ok(found) => optimum(found),
            Err(why) => json!({ "unknown": why }),
        }),
        "closed": report.closed.as_ref().map(closed),
    })
}

/// Facts of one system, for the object of a check too.
pub(crate) fn system(mode: Option<&String>, facts: &Result<ControlFacts, String>) -> Value {
    let facts = match facts {
        Ok(facts) => facts,
        Err(why) => return json!({ "mode": mode, "unknown": why }),
    };
    let feedback = facts.feedback.iter().map(|(kind, found)| {
        let told = match found {
            Ok(found) => json!({
                "needless": found.needless,
                "F": matrix(&found.F),
                "G": matrix(&found.G),
                "index": found.pencil.index(),
            }),
            Err(why) => json!({ "refused": why }),
        };
        (kind.name().to_string(), told)
    });
    let optimality = facts.optimality.as_ref().map(|found| match found {
        Ok(found) => json!({
            "regular": found.is_regular(),
            "rank": found.rank,
            "size": found.size,
            "index": found.pencil.is_regular().then(|| found.pencil.index()),
            "strangeness": found.strangeness(),
            "d": found.pencil.finite.len(),
            "a": found.pencil.infinite(),
            "semidefinite": found.semidefinite,
        }),
        Err(why) => json!({ "unknown": why }),
    });
    let sliding = facts.sliding.as_ref().map(|found| match found {
        Ok(found) => json!({
            "surfaces": found.surfaces,
            "law": texts(&found.law),
            "crossing": matrix(&found.crossing),
            "index": found.sliding.index(),
        }),
        Err(why) => json!({ "unknown": why }),
    });
    json!({
        "mode": mode,
        "states": facts.states,
        "inputs": facts.inputs,
        "outputs": facts.outputs,
        "point": facts.point.as_ref().map(|point| numbers(point)),
        "free": pencil(&facts.free),
        "behaviour": pencil(&facts.behaviour),
        "controllability": ability(&facts.controllability),
        "observability": facts.observability.as_ref().map(ability),
        "feedback": feedback.collect::<Map<String, Value>>(),
        "optimality": optimality,
        "sliding": sliding,
    })
}

fn numbers(values: &[(String, f64)]) -> Map<String, Value> {
    values.iter().map(|(name, value)| (name.clone(), json!(value))).collect()
}

fn texts(values: &[(String, String)]) -> Map<String, Value> {
    values.iter().map(|(name, text)| (name.clone(), json!(text))).collect()
}

fn matrix(X: &Mat<f64>) -> Value {
    (0..X.nrows()).map(|i| (0..X.ncols()).map(|j| json!(X[(i, j)])).collect::<Value>()).collect()
}

fn pairs(values: &[(f64, f64)]) -> Value {
    values.iter().map(|(re, im)| json!([re, im])).collect()
}

fn pencil(found: &Kronecker) -> Value {
    json!({
        "regular": found.is_regular(),
        "index": found.index(),
        "finite": pairs(&found.finite),
        "infinite": found.infinite(),
        "right": found.right,
        "left": found.left,
    })
}

fn ability(found: &Controllability) -> Value {
    json!({
        "n": found.n,
        "complete": found.is_complete(),
        "reachable": found.is_reachable(),
        "impulses": found.is_impulse_free(),
        "strong": found.is_strong(),
        "stabilisable": found.is_stabilisable(),
        "rank_infinite": found.at_infinity,
        "rank_impulses": found.of_impulses,
        "fixed": pairs(&found.fixed),
        "empty": found.empty,
    })
}

fn hybrid(found: &HybridFacts) -> Value {
    let transfers = found.transfers.iter().map(|transfer| {
        json!({
            "from": transfer.from,
            "to": transfer.to,
            "surplus": transfer.surplus.as_ref().ok(),
            "unknown": transfer.surplus.as_ref().err(),
        })
    });
    json!({
        "controllable": found.is_controllable(),
        "modes": found.modes,
        "connected": found.connected,
        "transfers": transfers.collect::<Value>(),
    })
}

fn optimum(found: &OptimumFacts) -> Value {
    let moved = found
        .moved
        .iter()
        .map(|(name, given, optimal)| json!({ "variable": name, "given": given, "optimal": optimal }));
    json!({
        "sequence": found.sequence,
        "times": found.times,
        "found_times": found.found_times,
        "at_edge": found.at_edge,
        "cost": found.cost,
        "slopes": found.slopes,
        "start": numbers(&found.start),
        "end": numbers(&found.end),
        "moved": moved.collect::<Value>(),
    })
}

fn closed(found: &ClosedLoop) -> Value {
    let modes = found.modes.iter().map(|mode| {
        json!({
            "mode": mode.mode,
            "gain": matrix(&mode.gain),
            "law": texts(&mode.laws),
            "index": mode.pencil.index(),
            "needless": mode.needless,
        })
    });
    json!({ "kind": found.kind.name(), "modes": modes.collect::<Value>() })
}
