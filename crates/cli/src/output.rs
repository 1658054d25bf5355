//! What a run did, for programs: the object of statistics.

use crate::record::{ended, final_outputs};
use crate::solve::{Made, Run};
use crate::tolerances::Tolerances;
use crate::variables::Computed;
use crate::verification;
use crate::warnings;
use daedal::{Residuals, Statistics};
use serde_json::{Map, Value, json};

/// What a run did, as one object; the same keys in the same order in every version. Nothing but nulls if it could not start.
pub fn statistics(run: &Run, made: &Made) -> Value {
    let solution = made.solution();
    let mut object = Map::new();
    object.insert("model".into(), json!(run.setup.name));
    let formulation = solution.map_or(run.method.formulation(), |s| s.layout.formulation);
    object.insert("formulation".into(), json!(formulation));
    object.insert("method".into(), json!(run.method.name()));
    object.insert("rtol".into(), json!(run.tolerances.rtol));
    object.insert("atol".into(), json!(run.tolerances.atol));
    object.insert("ended".into(), json!(solution.map_or(daedal_run::Ended::Failure, |s| ended(&s.ended))));
    object.insert("t_end".into(), json!(solution.map_or(run.setup.t0(), Computed::end_time)));
    object.extend(counters(run, solution.map(|s| &s.statistics)).map(|(name, count)| (name, json!(count))));
    object.insert("seconds".into(), json!(made.seconds));
    object.insert("max_residual".into(), residuals(&solution.map_or_else(Residuals::default, |s| s.max_residuals)));
    object.insert("final".into(), solution.map_or_else(|| json!({}), |s| final_values(run, made, s)));
    object.insert("atol_of".into(), of_variables(&run.tolerances));
    object.insert("verification".into(), verification::object(solution.and_then(|s| s.verification.as_ref())));
    object.insert("warnings".into(), warnings::object(&made.warnings));
    Value::Object(object)
}

/// Absolute tolerances of single variables.
pub fn of_variables(tolerances: &Tolerances) -> Value {
    Value::Object(tolerances.of.iter().map(|(name, atol)| (name.clone(), json!(atol))).collect())
}

/// Counters by name; `None` for those that a method does not have, and without a run.
pub fn counters(run: &Run, statistics: Option<&Statistics>) -> [(String, Option<u64>); 10] {
    counters_of(run.method.name() == "geoms", statistics)
}

/// The same; those of GEOMS only where it is among the methods, or where another method counts them.
pub fn counters_of(geoms: bool, statistics: Option<&Statistics>) -> [(String, Option<u64>); 10] {
    let count = |name: &str, read: fn(&Statistics) -> u64| (name.to_string(), statistics.map(read));
    let own = |name: &str, read: fn(&Statistics) -> u64| {
        let (name, count) = count(name, read);
        (name, count.filter(|&count| geoms || count > 0))
    };
    [
        count("steps", |s| s.steps),
        count("rejected_error", |s| s.rejected_error),
        count("rejected_newton", |s| s.rejected_newton),
        count("residuals", |s| s.residuals),
        count("jacobians", |s| s.jacobians),
        own("masses", |s| s.masses),
        own("selectors", |s| s.selectors),
        own("predecompositions", |s| s.predecompositions),
        count("decompositions", |s| s.decompositions),
        count("solves", |s| s.solves),
    ]
}

pub fn residuals(residuals: &Residuals) -> Value {
    json!({
        "position": residuals.position,
        "velocity": residuals.velocity,
        "acceleration": residuals.acceleration,
        "invariant": residuals.invariant,
        "constraint": residuals.constraint,
        "hidden": residuals.hidden,
    })
}

/// All variables, then the outputs of a model file.
fn final_values(run: &Run, made: &Made, solution: &Computed) -> Value {
    let value = |&(j, _): &(usize, _)| (solution.names[j].clone(), json!(solution.end.x[j]));
    let outputs = final_outputs(run, made, solution).into_iter().map(|(name, value)| (name, json!(value)));
    Value::Object(solution.layout.shown.iter().map(value).chain(outputs).collect())
}
