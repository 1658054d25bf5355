//! Consistent initial values of equations of motion.

use super::{key, said};
use crate::arguments::{Format, Init};
use crate::failure::{Failure, print};
use crate::setup::{Motion, Setup};
use daedal::SolveError;
use daedal::motion::consistent::{Consistent, initialise};
use daedal::motion::{Form, Initial, Layout, Start};
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// Find them and print them.
pub fn init(setup: &Setup, motion: &Motion, arguments: &Init) -> Result<(), Failure> {
    let mechanism = &*motion.case.mechanism;
    let layout = Layout::new(mechanism.sizes(), Form::StrangenessFree, false);
    let names = layout.variable_names(&mechanism.names());
    let mut initial = motion.case.initial.clone();
    for (name, start) in said(arguments)? {
        let place = names.iter().position(|known| *known == name);
        if place.and_then(|j| change(&mut initial, &layout, j, start)).is_none() {
            // accelerations follow from the rest
            let mut known: Vec<String> = layout.shown().into_iter().map(|j| names[j].clone()).collect();
            known.truncate(layout.dim() - layout.a().len());
            return Err(Failure::UnknownName { kind: "variable", name, known });
        }
    }
    let consistent = initialise(mechanism, &initial, Form::StrangenessFree).map_err(SolveError::Initialisation)?;
    match arguments.format {
        Format::Text => print(&table(setup, &initial, &layout, &names, &consistent)),
        Format::Json => print(&format!("{:#}\n", object(setup, &layout, &names, &consistent))),
    }
}

/// Change what is known about variable j of x; nothing can be said about accelerations.
fn change(initial: &mut Initial, layout: &Layout, j: usize, start: Start) -> Option<()> {
    let blocks = [
        (layout.p(), &mut initial.p),
        (layout.v(), &mut initial.v),
        (layout.r(), &mut initial.r),
        (layout.w(), &mut initial.w),
        (layout.s(), &mut initial.s),
        (layout.lambda(), &mut initial.lambda),
        (layout.mu(), &mut initial.mu),
    ];
    let (range, block) = blocks.into_iter().find(|(range, _)| range.contains(&j))?;
    // an empty block means that nothing is known
    block.resize(range.len(), Start::Unknown);
    block[j - range.start] = start;
    Some(())
}

/// An `[initial]` table; multipliers, which are computed anew, as comments.
fn table(setup: &Setup, initial: &Initial, layout: &Layout, names: &[String], consistent: &Consistent) -> String {
    let x = &consistent.state.x;
    let Consistent { iterations, surplus, undetermined_multipliers, .. } = consistent;
    let mut text = format!("# consistent initial values of {} at t = {:?}\n", setup.name, consistent.state.t);
    let _ = writeln!(text, "# iterations: {iterations}");
    let _ = writeln!(text, "# surplus conditions: {surplus}");
    let _ = writeln!(text, "# undetermined multipliers: {undetermined_multipliers}");
    let given = initial.values(layout).unwrap_or_default();
    let is_fixed = |j: usize| matches!(given.get(j), Some(Start::Fixed(_)));
    let states = [layout.p(), layout.v(), layout.r(), layout.w(), layout.s()].into_iter().flatten();
    let (fixed, guessed): (Vec<usize>, Vec<usize>) = states.partition(|&j| is_fixed(j));
    text.push_str("[initial]\n");
    for (what, list) in [("fix", fixed), ("guess", guessed)] {
        let values: Vec<String> = list.into_iter().map(|j| format!("{} = {:?}", key(&names[j]), x[j])).collect();
        if !values.is_empty() {
            let _ = writeln!(text, "{what} = {{ {} }}", values.join(", "));
        }
    }
    for j in layout.lambda().chain(layout.mu()) {
        let _ = writeln!(text, "# {} = {:?}", names[j], x[j]);
    }
    text
}

fn object(setup: &Setup, layout: &Layout, names: &[String], consistent: &Consistent) -> Value {
    let parameters: Map<String, Value> =
        setup.parameters.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    let values: Map<String, Value> =
        layout.shown().into_iter().map(|j| (names[j].clone(), json!(consistent.state.x[j]))).collect();
    json!({
        "model": setup.name,
        "parameters": parameters,
        "t0": consistent.state.t,
        "iterations": consistent.iterations,
        "surplus": consistent.surplus,
        "undetermined_multipliers": consistent.undetermined_multipliers,
        "values": values,
    })
}
