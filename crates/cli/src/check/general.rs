//! The analysis of a general system for people, in sections, within 100 columns.

use super::linear;
use super::lines::{MOST_FORMULAS, ReportText, solvable, stated_hidden};
use crate::control;
use daedal::analysis::Severity;
use daedal::dae::analysis::PerturbationIndex;
use daedal::dae::hidden::Role;
use daedal::dae::levels::Level;
use daedal::dae::{Form, Structural};
use daedal::families;
use daedal_simulation::EquationPlaces;
use daedal_simulation::check::{Check, GeneralAnalysis, GeneralCheck, Remark, severity, short};

/// Most unknowns in a list of values.
const MOST_VALUES: usize = 12;

pub fn text(check: &Check, checked: &GeneralCheck) -> String {
    let mut text = ReportText::default();
    let model = &check.model;
    let colon = if model.description().is_empty() { "" } else { ": " };
    text.line(&format!("{}{colon}{}", model.name(), model.description()));
    text.line(&conclusion(&checked.findings));
    for finding in &checked.findings {
        text.entry(severity(finding.severity), &finding.message);
    }
    text.heading("structure");
    sizes(&mut text, checked);
    let Ok(found) = &checked.found else {
        beyond(&mut text, checked);
        return text.into_string();
    };
    overview(&mut text, checked, found, model.places());
    beyond(&mut text, checked);
    text.heading("constraints");
    constraints(&mut text, found);
    text.heading("levels of differentiation");
    let at = &found.analysis.at;
    for level in &at.levels {
        text.entry(&level.level.to_string(), &ranks(level, found.analysis.equations));
    }
    text.heading(&format!("initial values at t = {:?}", found.analysis.at.t));
    start(&mut text, checked, found);
    text.heading("other points");
    elsewhere(&mut text, found);
    text.into_string()
}

/// What holds without order reduction, and what linear systems tell more.
fn beyond(text: &mut ReportText, checked: &GeneralCheck) {
    linear::orders(text, checked.orders.as_ref(), checked.unknowns.as_deref());
    linear::linear(text, checked.linear.as_ref());
    control::brief(text, checked.control.as_ref());
}

/// The verdict, when everything is known.
fn conclusion(findings: &[Remark]) -> String {
    if findings.iter().any(|finding| finding.severity == Severity::Impossible) {
        return "IMPOSSIBLE or singular: no solution could be found from here".into();
    }
    let warnings = findings.iter().filter(|finding| finding.severity == Severity::Warning).count();
    // a rough run that did not reach the end says more than a start that could be made
    let stopped = findings.iter().any(|finding| finding.code == "trajectory");
    solvable(if stopped { "a run can be started" } else { "the model can be solved" }, warnings)
}

/// A number of things.
pub(super) fn counted(n: usize, one: &str, several: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { several })
}

fn sizes(text: &mut ReportText, checked: &GeneralCheck) {
    let (states, unknowns) = (checked.sizes.states, checked.sizes.unknowns);
    let mut told = vec![counted(checked.sizes.equations, "equation", "equations"), counted(states, "state", "states")];
    if unknowns > states {
        told.push(counted(
            unknowns - states,
            "derivative as an unknown of its own",
            "derivatives as unknowns of their own",
        ));
    }
    let invariants = checked.sizes.invariants;
    if invariants > 0 {
        told.push(counted(invariants, "invariant", "invariants"));
    }
    text.entry("sizes", &told.join(", "));
    text.entry("time", if checked.with_time { "enters" } else { "does not enter" });
}

fn overview(text: &mut ReportText, checked: &GeneralCheck, found: &GeneralAnalysis, places: &EquationPlaces) {
    let (analysis, values) = (&found.analysis, found.analysis.at.values);
    let differentiation = match analysis.at.differentiation_index() {
        Some(index) => format!("differentiation index {index}"),
        None => "differentiation index not defined (redundant or undetermined)".to_string(),
    };
    text.entry("index", &format!("strangeness index {}, {differentiation}", values.mu));
    if let Some(Ok(orders)) = &checked.orders
        && orders.values.mu != values.mu
    {
        let told = format!(
            "with derivatives as unknowns; without order reduction the strangeness index is {}",
            orders.values.mu
        );
        text.entry("", &told);
    }
    text.entry("constraint level", &constraint_level(analysis.at.constraint_level()));
    match &analysis.structural {
        Structural::Regular { index, trusted, .. } => {
            let word = if *trusted { "" } else { ", which is not to be trusted here" };
            text.entry("structural index", &format!("{index}{word}"));
        }
        Structural::Singular { equations, unknowns } => {
            let told = format!(
                "not defined: no unknown of its own for {}; no equation for {}",
                families(&equations.iter().map(|name| places.named(name)).collect::<Vec<_>>()).join(", "),
                families(unknowns).join(", ")
            );
            text.entry("structural index", &told);
        }
        Structural::NotSquare => text.entry("structural index", "not defined: more or fewer equations than unknowns"),
    }
    match analysis.perturbation {
        PerturbationIndex::Known { index, class } => {
            text.entry("perturbation index", &format!("{index} ({})", class.name()));
        }
        PerturbationIndex::MayBeHigher => text.entry(
            "perturbation index",
            "may be higher than the differentiation index: derivatives are multiplied by unknowns",
        ),
        PerturbationIndex::Open | PerturbationIndex::Undefined => {}
    }
    let mut solution = vec![
        counted(values.d, "differential equation", "differential equations") + " (d)",
        counted(values.a, "algebraic equation", "algebraic equations") + " (a)",
    ];
    if values.v > 0 {
        solution.push(format!("{} redundant (v)", values.v));
    }
    if values.u > 0 {
        solution.push(counted(values.u, "unknown", "unknowns") + " undetermined (u)");
    }
    text.entry("solution", &solution.join(", "));
    let free = if analysis.free.is_empty() { "nothing".to_string() } else { families(&analysis.free).join(", ") };
    text.entry("free at the start", &free);
    if let Some(form) = found.form {
        text.entry("form", &format!("{}: {}", form.name(), told(form)));
    }
}

/// The maximal constraint level ν_c in words.
fn constraint_level(level: Option<usize>) -> String {
    match level {
        None => "none: there is no constraint".into(),
        Some(0) => "0: differentiation brings no further constraint here".into(),
        Some(1) => "1: constraints are hidden, and visible after one differentiation".into(),
        Some(level) => format!("{level}: constraints are hidden, and all visible after {level} differentiations"),
    }
}

/// What a form hands to the integrator.
fn told(form: Form) -> &'static str {
    match form {
        Form::Plain => "the equations as they stand",
        Form::QuasiLinear => "hidden constraints as formulas, and a choice of differential equations",
        Form::DerivativeArray => "the derivative array, projected numerically",
        Form::Linear => "the strangeness-free form of a linear system",
        Form::LeastSquares => "the strangeness-free form of a linear system, without what contradicts",
        Form::Auto => "the cheapest that fits",
    }
}

fn constraints(text: &mut ReportText, found: &GeneralAnalysis) {
    let times = |level: usize| match level {
        1 => "differentiated once".to_string(),
        2 => "differentiated twice".to_string(),
        k => format!("differentiated {k} times"),
    };
    let all = &found.constraints;
    let named = |(name, level): (&String, usize)| match level {
        0 => name.clone(),
        level => format!("{name}, {}", times(level)),
    };
    for c in all.iter().take(MOST_FORMULAS) {
        let label = match (c.role, c.level) {
            (Role::Invariant, _) => "invariant",
            (_, 0) if c.combined => "combined",
            (_, 0) => "stated",
            _ => "hidden",
        };
        let mut from = named((&c.equation, c.level));
        if !c.with.is_empty() {
            let others: Vec<String> = c.with.iter().map(|(name, level)| named((name, *level))).collect();
            from = format!("{from}, with {}", others.join(" and "));
        }
        let nonzero: Vec<String> = c.nonzero.iter().map(|e| format!("{e} ≠ 0")).collect();
        let only = if nonzero.is_empty() { String::new() } else { format!(", where {}", nonzero.join(" and ")) };
        text.entry(label, &format!("{from}: {}{only}", c.formula));
        if let Some(why) = &c.kept {
            text.entry("", &format!("({why})"));
        }
    }
    text.more(all.len());
    let independent = found.analysis.at.values.a;
    let with_formula = all.iter().filter(|c| c.role == Role::Constraint).count();
    if independent > with_formula {
        let told = counted(independent - with_formula, "constraint", "constraints");
        text.entry("without formula", &format!("{told}, found in the derivative array only"));
    } else if all.is_empty() {
        text.entry("none", "");
    }
    for (k, (name, formula)) in found.definitions.iter().take(MOST_FORMULAS).enumerate() {
        text.entry(if k == 0 { "where" } else { "" }, &format!("{name} = {formula}"));
    }
    text.more(found.definitions.len());
    stated_hidden(text, &found.analysis.comparison);
    for combination in found.analysis.redundant.iter().take(MOST_FORMULAS) {
        text.entry("redundant", &format!("{combination} vanishes by itself"));
    }
    text.more(found.analysis.redundant.len());
    for combination in found.analysis.undetermined.iter().take(MOST_FORMULAS) {
        text.entry("undetermined", &combination.to_string());
    }
    text.more(found.analysis.undetermined.len());
}

fn ranks(level: &Level, equations: usize) -> String {
    let rows = equations * (level.level + 1);
    let gap = if level.gap.is_finite() { format!("gap {}", short(level.gap)) } else { "no gap to decide".into() };
    let enough = if level.holds { "all constraints found" } else { "more constraints are hidden" };
    format!("a = {}, d = {}, v = {}: {enough}; rank {} of {rows}, {gap}", level.a, level.d, level.v, level.rank)
}

fn start(text: &mut ReportText, checked: &GeneralCheck, found: &GeneralAnalysis) {
    let analysis = &found.analysis;
    let iterations = counted(analysis.at.fit.iterations, "iteration", "iterations");
    text.entry("consistent values", &format!("found in {iterations}"));
    if !checked.open.is_empty() {
        text.entry("not given", &families(&checked.open).join(", "));
    }
    if analysis.moved.is_empty() {
        text.entry("moved", "nothing");
    }
    for (name, given, start) in analysis.moved.iter().take(8) {
        text.entry("moved", &format!("{name} from {given:?} to {start:?} (by {})", short(start - given)));
    }
    if analysis.moved.len() > 8 {
        text.entry("", &format!("and {} others", analysis.moved.len() - 8));
    }
    let values = analysis.unknowns.iter().zip(analysis.at.x());
    let values: Vec<String> = values.take(MOST_VALUES).map(|(name, x)| format!("{name} = {}", short(*x))).collect();
    let more = if analysis.unknowns.len() > MOST_VALUES { ", …" } else { "" };
    text.entry("values", &format!("{}{more}", values.join(", ")));
}

fn elsewhere(text: &mut ReportText, found: &GeneralAnalysis) {
    let here = found.analysis.at.values;
    for (label, on_trajectory) in [("beside the start", false), ("along a run", true)] {
        let points: Vec<_> = found.analysis.elsewhere.iter().filter(|p| p.on_trajectory == on_trajectory).collect();
        let Some(last) = points.last() else {
            text.entry(label, "no point could be looked at");
            continue;
        };
        let other: Vec<_> = points.iter().filter(|p| p.values != here).collect();
        let until = if on_trajectory { format!(" up to t = {:?}", last.t) } else { String::new() };
        let told = match other.first() {
            None => format!("{}{until}: the same", counted(points.len(), "point", "points")),
            Some(p) => {
                format!("{} of {}{until} differ, the first at t = {:?}: {}", other.len(), points.len(), p.t, p.values)
            }
        };
        text.entry(label, &told);
    }
}
