//! Reference problems: names, parameters, variables, constraints. Methods: names, and what they take.

use crate::arguments::{List, OutputFormat};
use crate::failure::{Failure, print};
use daedal::catalogue;
use daedal_problems::{ReferenceProblem, all};
use daedal_simulation::reference;
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// Print the problems.
pub fn list(arguments: &List) -> Result<(), Failure> {
    match (&arguments.name, arguments.format) {
        (_, OutputFormat::Text) if arguments.methods => print(&methods()),
        (_, OutputFormat::Json) if arguments.methods => {
            let entries = catalogue::all().iter().map(|entry| {
                json!({"name": entry.name, "description": entry.description, "formulations": entry.formulations})
            });
            let alone = catalogue::of_systems()
                .iter()
                .map(|method| json!({"name": method.name, "description": method.description, "formulations": []}));
            print(&format!("{:#}\n", entries.chain(alone).collect::<Value>()))
        }
        (Some(name), OutputFormat::Text) => print(&details(reference_problem(name)?)),
        (Some(name), OutputFormat::Json) => print(&format!("{:#}\n", object(reference_problem(name)?))),
        (None, OutputFormat::Json) => print(&format!("{:#}\n", all().iter().map(object).collect::<Value>())),
        (None, OutputFormat::Text) if arguments.verbose => {
            print(&all().iter().map(details).collect::<Vec<_>>().join("\n"))
        }
        (None, OutputFormat::Text) => print(&overview()),
    }
}

/// The problem that a name means; which one is taken is told.
fn reference_problem(name: &str) -> Result<&'static ReferenceProblem, Failure> {
    let found = reference::find(name)?;
    told(&found);
    Ok(found.problem)
}

/// Say what a name was taken for.
pub fn told(found: &reference::Meant) {
    if let Some(note) = &found.note {
        eprintln!("note: {note}");
    }
}

/// All methods, those for general systems alone at the end.
fn methods() -> String {
    let mut text = String::new();
    for method in catalogue::all() {
        let _ = writeln!(text, "{}\n  {}", method.name, method.description);
        let names: Vec<String> = method.formulations.iter().map(ToString::to_string).collect();
        entry(&mut text, "formulations", &names);
    }
    for method in catalogue::of_systems() {
        let _ = writeln!(text, "{}\n  {}", method.name, method.description);
        entry(&mut text, "only for", &["general systems ([dae]) without modes".to_string()]);
    }
    text
}

fn overview() -> String {
    let width = all().iter().map(|problem| problem.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for problem in all() {
        let _ = writeln!(text, "{:width$}  {}", problem.name, problem.description);
    }
    text
}

fn details(problem: &ReferenceProblem) -> String {
    let case = problem.case();
    let names = case.mechanism.names();
    let parameters: Vec<String> =
        problem.parameters.iter().map(|(name, value)| format!("{name} = {value:?}")).collect();
    let references: Vec<String> = reference_times(problem).iter().map(|t| format!("t = {t:?}")).collect();
    let mut text = format!("{}\n  {}\n", problem.name, problem.description);
    entry(&mut text, "source", &[problem.source.to_string()]);
    entry(&mut text, "interval", &[format!("{:?} to {:?}", case.initial.t, case.tend)]);
    entry(&mut text, "parameters", &parameters);
    entry(&mut text, "positions", &names.positions);
    entry(&mut text, "velocities", &names.velocities);
    entry(&mut text, "dynamic", &names.dynamic);
    entry(&mut text, "auxiliary", &names.auxiliary);
    entry(&mut text, "contact", &names.contact);
    entry(&mut text, "holonomic", &names.holonomic);
    entry(&mut text, "nonholonomic", &names.nonholonomic);
    entry(&mut text, "invariants", &names.invariants);
    entry(&mut text, "references", &references);
    text
}

/// Columns of a line of text.
const WIDTH: usize = 100;

/// A labelled list, broken into lines; nothing if it is empty.
fn entry(text: &mut String, label: &str, items: &[String]) {
    let Some((last, others)) = items.split_last() else { return };
    let indent = 16;
    let _ = write!(text, "  {label:<width$}", width = indent - 2);
    let mut column = indent;
    for item in others.iter().map(|item| format!("{item},")).chain([last.clone()]) {
        let length = item.chars().count();
        if column > indent && column + 1 + length > WIDTH {
            let _ = write!(text, "\n{:indent$}", "");
            column = indent;
        } else if column > indent {
            text.push(' ');
            column += 1;
        }
        text.push_str(&item);
        column += length;
    }
    text.push('\n');
}

fn object(problem: &ReferenceProblem) -> Value {
    let case = problem.case();
    let names = case.mechanism.names();
    let parameters: Map<String, Value> =
        problem.parameters.iter().map(|(name, value)| ((*name).to_string(), json!(value))).collect();
    json!({
        "name": problem.name,
        "description": problem.description,
        "source": problem.source,
        "interval": [case.initial.t, case.tend],
        "h0": case.h0,
        "parameters": parameters,
        "variables": {
            "positions": names.positions,
            "velocities": names.velocities,
            "dynamic": names.dynamic,
            "auxiliary": names.auxiliary,
            "contact": names.contact,
        },
        "constraints": {
            "holonomic": names.holonomic,
            "nonholonomic": names.nonholonomic,
            "invariants": names.invariants,
        },
        "references": reference_times(problem),
    })
}

/// Times at which something is known about the solution.
fn reference_times(problem: &ReferenceProblem) -> Vec<f64> {
    let mut times: Vec<f64> = problem.case().references.iter().map(|reference| reference.t).collect();
    times.dedup();
    times
}
