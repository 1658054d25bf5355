//! What a run did, for people.

use crate::record::final_outputs;
use crate::setup::Equations;
use crate::solve::{Made, Run};
use crate::tolerances::Tolerances;
use crate::variables::Computed;
use crate::verification;
use crate::warnings;
use daedal::dae::Form;
use daedal::{Ended, Residuals};
use daedal_problems::Reference;
use std::fmt::Write;
use std::path::PathBuf;

/// Some lines about a run.
///
/// `files` are those that were written, and the number of points in them.
pub fn summary(run: &Run, made: &Made, solution: &Computed, files: (&[PathBuf], usize)) -> String {
    let mut text = String::new();
    heading(&mut text, run, solution);
    let warned = warnings::counted(&made.warnings);
    let _ = writeln!(text, "{} in {:.3} s{warned}", ending(&solution.ended, solution.end_time()), made.seconds);
    let _ = writeln!(text, "{}", solution.statistics);
    if !solution.decisions.is_empty() {
        let _ = writeln!(text, "{}", solution.decisions);
    }
    for path in files.0 {
        let _ = writeln!(text, "{} points in {}", files.1, path.display());
    }
    residuals(&mut text, &solution.max_residuals, solution.layout.formulation);
    undetermined(&mut text, run, solution);
    if let Some(found) = &solution.verification {
        let _ = writeln!(text, "\n{}", verification::line(found));
    }
    let references = references(run, solution);
    values(&mut text, solution, &references);
    outputs(&mut text, &final_outputs(run, made, solution));
    largest_error(&mut text, solution, &references);
    text
}

fn heading(text: &mut String, run: &Run, solution: &Computed) {
    let setup = &run.setup;
    let colon = if setup.description.is_empty() { "" } else { ": " };
    let _ = writeln!(text, "{}{colon}{}", setup.name, setup.description);
    let (method, form) = (run.method.name(), solution.layout.formulation);
    tolerances(text, &format!("{method}, {form}"), &run.tolerances);
    for (name, value) in &setup.changed {
        let _ = write!(text, ", {name} = {value:?}");
    }
    text.push('\n');
    if !run.method.reasons().is_empty() {
        let _ = writeln!(text, "chosen because {}", run.method.reasons().join("; "));
    }
}

/// Method and tolerances.
pub fn tolerances(text: &mut String, method: &str, tolerances: &Tolerances) {
    let Tolerances { rtol, atol, of } = tolerances;
    let _ = write!(text, "{method}, rtol {rtol:?}, atol {atol:?}");
    if !of.is_empty() {
        let own: Vec<String> = of.iter().map(|(name, atol)| format!("{name}: {atol:?}")).collect();
        let _ = write!(text, " ({})", own.join(", "));
    }
}

/// How and where a run ended.
pub fn ending(ended: &Ended, t: f64) -> String {
    match ended {
        Ended::AtEnd => format!("reached the end t = {t:?}"),
        Ended::AtEvent { name } => format!("stopped by the event {name} at t = {t:?}"),
        Ended::ByObserver => format!("interrupted at t = {t:?}"),
        Ended::ByFailure => format!("STOPPED at t = {t:?} before the end"),
    }
}

/// Largest residuals by level.
pub fn residuals(text: &mut String, largest: &Residuals, form: &str) {
    // the linear form and the derivative array do not tell stated and hidden constraints apart
    let levels = [
        ("position", largest.position),
        ("velocity", largest.velocity),
        ("acceleration", largest.acceleration),
        ("invariant", largest.invariant),
        (if form == Form::Linear.name() { "all" } else { "stated" }, largest.constraint),
        (if form == Form::DerivativeArray.name() { "all" } else { "hidden" }, largest.hidden),
    ];
    if levels.iter().all(|(_, residual)| residual.is_none()) {
        return;
    }
    text.push_str("\nlargest residual of the constraints\n");
    for (level, residual) in levels {
        if let Some(residual) = residual {
            let _ = writeln!(text, "  {level:<14}{residual:.2e}");
        }
    }
}

/// Combinations of multipliers that redundant constraints leave open, or of unknowns that a general system does.
fn undetermined(text: &mut String, run: &Run, solution: &Computed) {
    if solution.undetermined.is_empty() {
        return;
    }
    let what = match run.setup.equations {
        Equations::Motion(_) => "multipliers",
        Equations::General(_) | Equations::Hybrid(_) => "unknowns, which keep their values",
    };
    let _ = writeln!(text, "\nundetermined combinations of {what}");
    for combination in &solution.undetermined {
        let terms: Vec<String> = combination.iter().map(|(name, factor)| format!("{factor:+.4} {name}")).collect();
        let _ = writeln!(text, "  {}", terms.join(" "));
    }
}

/// References that hold at the end of this run.
fn references<'r>(run: &'r Run, solution: &Computed) -> Vec<&'r Reference> {
    let reached = solution.ended == Ended::AtEnd;
    let known = match &run.setup.equations {
        Equations::Motion(motion) => &motion.case.references[..],
        Equations::General(_) | Equations::Hybrid(_) => &[],
    };
    known.iter().filter(|reference| reached && reference.t == solution.end_time()).collect()
}

/// A table of the last point, with errors where a reference is known.
fn values(text: &mut String, solution: &Computed, references: &[&Reference]) {
    let names = &solution.names;
    let shown = solution.layout.shown.iter().map(|&(j, _)| names[j].chars().count());
    let width = shown.max().unwrap_or(0).max("final values".len() - 2);
    let column = if references.is_empty() { "" } else { "error" };
    let _ = writeln!(text, "{}", format!("\n{:<w$}   {:<24}{column}", "final values", "", w = width + 2).trim_end());
    for &(j, _) in &solution.layout.shown {
        let value = solution.end.x[j];
        // a place for the sign, so that digits stand below each other
        let sign = if value.is_sign_negative() { "" } else { " " };
        let error =
            known(references, &names[j]).map_or(String::new(), |exact| format!("{:.1e}", (value - exact).abs()));
        let line = format!("  {:<width$}  {:<25}{error}", names[j], format!("{sign}{value:?}"));
        let _ = writeln!(text, "{}", line.trim_end());
    }
}

/// The outputs of a model file at the last point.
pub fn outputs(text: &mut String, outputs: &[(String, f64)]) {
    let Some(width) = outputs.iter().map(|(name, _)| name.chars().count()).max() else { return };
    text.push_str("\nfinal outputs\n");
    for (name, value) in outputs {
        let sign = if value.is_sign_negative() && !value.is_nan() { "" } else { " " };
        let _ = writeln!(text, "  {name:<width$}  {sign}{value:?}");
    }
}

fn known(references: &[&Reference], name: &str) -> Option<f64> {
    references.iter().flat_map(|reference| &reference.values).find(|(known, _)| known == name).map(|&(_, x)| x)
}

/// The largest error relative to max(1, |x|), for each reference, as it is trusted.
fn largest_error(text: &mut String, solution: &Computed, references: &[&Reference]) {
    for reference in references {
        let errors = reference.values.iter().filter_map(|(name, exact)| {
            let error = (solution.end_value(name)? - exact).abs() / exact.abs().max(1.0);
            Some((error, name))
        });
        if let Some((error, name)) = errors.max_by(|a, b| a.0.total_cmp(&b.0)) {
            let Reference { source, accuracy, .. } = reference;
            let _ = writeln!(
                text,
                "\nlargest error relative to max(1, |x|): {error:.1e} in {name}; reference: {source}, trusted to {accuracy:.0e}"
            );
        }
    }
}
