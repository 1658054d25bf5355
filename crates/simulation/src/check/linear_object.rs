//! What is known of systems of higher order and of linear systems, for the JSON object of a check.

use super::motion_object::sums;
use super::{GivenStart, LinearAnalysis, OrderAnalysis, SymmetryFound};
use daedal::linear::CharacteristicValues;
use daedal_pencils::Kronecker;
use serde_json::{Value, json};

pub fn orders(found: Option<&Result<OrderAnalysis, String>>, unknowns: Option<&str>) -> Value {
    let form = |values: &CharacteristicValues| {
        let CharacteristicValues { mu, d, a, v, u } = values;
        json!({ "strangeness": mu, "d": d, "a": a, "v": v, "u": u })
    };
    match found {
        None => Value::Null,
        Some(Err(why)) => json!({ "unknown": why }),
        Some(Ok(found)) => json!({
            "order": found.order,
            "linear": found.linear,
            "strangeness": found.values.mu,
            "d": found.values.d,
            "a": found.values.a,
            "v": found.values.v,
            "u": found.values.u,
            "proved": !found.values.beyond_proved_range(),
            "converted": found.converted,
            "trimmed": sums(&found.trimmed),
            "entering": form(&found.entering),
            "companion": form(&found.companion),
            "run": unknowns,
        }),
    }
}

pub fn linear(found: Option<&LinearAnalysis>) -> Value {
    let Some(found) = found else { return Value::Null };
    json!({
        "constant": found.constant,
        "pencil": found.pencil.as_ref().map(|pencil| match pencil {
            Ok(pencil) => blocks(pencil),
            Err(why) => json!({ "unknown": why }),
        }),
        "symmetry": found.symmetry.as_ref().map(symmetry),
        "start": found.start.as_ref().map(start),
    })
}

fn blocks(pencil: &Kronecker) -> Value {
    json!({
        "regular": pencil.is_regular(),
        "index": pencil.index(),
        "finite": pencil.finite.iter().map(|(re, im)| json!([re, im])).collect::<Value>(),
        "infinite": pencil.infinite(),
        "nilpotent": pencil.nilpotent,
        "right": pencil.right,
        "left": pencil.left,
    })
}

fn symmetry(found: &SymmetryFound) -> Value {
    let reduction = found.reduction.as_ref().map(|reduction| match reduction {
        Ok(sizes) => json!({ "s": sizes.s, "d": sizes.d, "a": sizes.a, "u": sizes.u }),
        Err(why) => json!({ "refused": why }),
    });
    json!({ "kind": found.kind.name(), "turned": found.turned, "reduction": reduction })
}

fn start(found: &GivenStart) -> Value {
    let empty = Vec::new();
    let (consistent, open, jumps, impulses) = match found {
        GivenStart::Consistent => (true, &empty, &[][..], &[][..]),
        GivenStart::Open(open) => (false, open, &[][..], &[][..]),
        GivenStart::Jump { jumps, impulses } => (false, &empty, &jumps[..], &impulses[..]),
    };
    let jump =
        |(name, before, behind): &(String, f64, f64)| json!({ "variable": name, "before": before, "behind": behind });
    let impulse =
        |(name, order, factor): &(String, usize, f64)| json!({ "variable": name, "order": order, "factor": factor });
    json!({
        "consistent": consistent,
        "open": open,
        "jumps": jumps.iter().map(jump).collect::<Value>(),
        "impulses": impulses.iter().map(impulse).collect::<Value>(),
    })
}
