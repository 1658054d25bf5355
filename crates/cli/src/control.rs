//! Control of a model: text for people, or one JSON object, whose keys `daedal_simulation::control` lists; the closed loop and the optimal course
//! as files.

use crate::arguments::{ControlArguments as Arguments, OutputFormat};
use crate::check::{ReportText, eigenvalues as written};
use crate::failure::{Failure, print};
use crate::files::{self, Output};
use daedal::linalg::Mat;
use daedal_pencils::Kronecker;
use daedal_pencils::control::Controllability;
use daedal_simulation::check::short;
use daedal_simulation::control::{
    ClosedLoop, ControlFacts, ControlReport, HybridFacts, OptimumFacts, SlidingFacts, control as look,
};
use std::path::PathBuf;

/// Parts of the largest eigenvalue below this are rounding.
const ROUNDING: f64 = 1e-12;

/// Look at the control of a model.
pub fn control(arguments: &Arguments) -> Result<(), Failure> {
    let model = arguments.model.load()?;
    let is_model = |path: &&PathBuf| path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml"));
    let (closed, courses): (Vec<&PathBuf>, Vec<&PathBuf>) = arguments.output.iter().partition(is_model);
    if let (Some(path), None) = (closed.first(), arguments.feedback) {
        return Err(Failure::NoFeedback { path: (*path).clone() });
    }
    let courses: Vec<PathBuf> = courses.into_iter().cloned().collect();
    let outputs = Output::open_all(&courses, None)?;
    let report = look(&model, arguments.feedback, arguments.tend)?;
    match arguments.format {
        OutputFormat::Text => print(&text(&report, model.description()))?,
        OutputFormat::Json => print(&format!("{:#}\n", report.object()))?,
    }
    for path in closed {
        let folder = path.parent().unwrap_or(path);
        match report.closed.as_ref().and_then(|closed| closed.text_in(folder)) {
            Some(text) => files::write_text(path, &text)?,
            None => return Err(Failure::NothingClosed { path: path.clone() }),
        }
    }
    match (report.optimum, courses.first()) {
        (_, None) => Ok(()),
        (Some(Ok(optimum)), _) => files::write_all(outputs, &optimum.run),
        (Some(Err(reason)), _) => Err(Failure::NoOptimum { reason }),
        (None, Some(path)) => Err(Failure::NoCost { path: path.clone() }),
    }
}

fn text(report: &ControlReport, description: &str) -> String {
    let mut text = ReportText::default();
    let colon = if description.is_empty() { "" } else { ": " };
    text.line(&format!("{}{colon}{description}", report.model));
    for (name, facts) in &report.systems {
        if report.has_modes {
            text.heading(&format!("=== mode {name} ==="));
        }
        match facts {
            Ok(facts) => whole(&mut text, facts),
            Err(why) => {
                text.heading("system");
                text.entry("not known", why);
            }
        }
    }
    if let Some(hybrid) = &report.hybrid {
        together(&mut text, hybrid);
        reached(&mut text, report);
    }
    match &report.optimum {
        Some(Ok(found)) => optimum(&mut text, found),
        Some(Err(why)) => {
            text.heading("optimum");
            text.entry("none", why);
        }
        None => {}
    }
    if let Some(closed) = &report.closed {
        closed_loop(&mut text, closed);
    }
    text.into_string()
}

fn whole(text: &mut ReportText, facts: &ControlFacts) {
    text.heading("system");
    text.entry("states", &facts.states.join(", "));
    text.entry("inputs", &facts.inputs.join(", "));
    if !facts.outputs.is_empty() {
        text.entry("outputs", &facts.outputs.join(", "));
    }
    match &facts.point {
        None => text.entry("coefficients", "linear and constant"),
        Some(point) => {
            let values: Vec<String> = point.iter().map(|(name, value)| format!("{name} = {}", short(*value))).collect();
            text.entry("linearised", &format!("about the equilibrium {}", values.join(", ")));
        }
    }
    text.entry("without control", &pencil(&facts.free));
    text.entry("inputs unknown", &pencil(&facts.behaviour));
    text.heading("controllability");
    ability(text, &facts.controllability, &INPUTS);
    if let Some(seen) = &facts.observability {
        text.heading("observability");
        ability(text, seen, &OUTPUTS);
    }
    text.heading("regularising feedback");
    for (kind, found) in &facts.feedback {
        let told = match found {
            Ok(found) if found.needless => "not needed: regular, index at most one already".to_string(),
            Ok(found) => format!(
                "closed loop regular, index {}, largest gain {}",
                found.pencil.index(),
                short(found.F.norm_max().max(found.G.norm_max()))
            ),
            Err(why) => why.clone(),
        };
        text.entry(kind.name(), &told);
    }
    if let Some(found) = &facts.optimality {
        text.heading("optimality conditions");
        match found {
            Ok(found) => {
                let verdict = if found.is_regular() { "index at most one" } else { "index above one" };
                text.entry("R̂", &format!("rank {} of {}: {verdict}", found.rank, found.size));
                text.entry("pencil", &format!("{}, self-adjoint", pencil(&found.pencil)));
                let weights = if found.semidefinite {
                    "positive semidefinite: the conditions are sufficient"
                } else {
                    "not positive semidefinite: the conditions are necessary only"
                };
                text.entry("weights", weights);
            }
            Err(why) => text.entry("not known", why),
        }
    }
    if let Some(found) = &facts.sliding {
        text.heading("sliding-mode control");
        match found {
            Ok(found) => sliding(text, found),
            Err(why) => text.entry("not possible", why),
        }
    }
}

/// The same in a few lines, for a check.
pub fn brief(text: &mut ReportText, facts: Option<&Result<ControlFacts, String>>) {
    let Some(facts) = facts else { return };
    text.heading("control");
    let facts = match facts {
        Ok(facts) => facts,
        Err(why) => return text.entry("not known", why),
    };
    let words = |found: &Controllability, words: &Words| {
        let mut told: Vec<String> = vec![
            verdict(found.is_complete(), "complete"),
            verdict(found.is_reachable(), words.reachable),
            verdict(found.is_impulse_free(), "impulses"),
            verdict(found.is_stabilisable(), words.stable),
        ];
        if !found.fixed.is_empty() {
            told.push(format!("{} {}", words.fixed, eigenvalues(&found.fixed)));
        }
        told.join(", ")
    };
    text.entry("inputs", &format!("{}: {}", facts.inputs.join(", "), words(&facts.controllability, &INPUTS)));
    if let Some(seen) = &facts.observability {
        text.entry("outputs", &format!("{}: {}", facts.outputs.join(", "), words(seen, &OUTPUTS)));
    }
    for (kind, found) in &facts.feedback {
        let told = match found {
            Ok(found) if found.needless => continue,
            Ok(found) => format!("makes the system regular with index {}", found.pencil.index()),
            Err(why) => why.clone(),
        };
        text.entry(&format!("{} feedback", kind.name()), &told);
    }
    match &facts.optimality {
        Some(Ok(found)) => {
            let index = if found.is_regular() { "at most one" } else { "above one" };
            text.entry("optimality", &format!("conditions of index {index}"));
        }
        Some(Err(why)) => text.entry("optimality", why),
        None => {}
    }
    match &facts.sliding {
        Some(Ok(found)) => {
            for (input, law) in &found.law {
                text.entry("sliding", &format!("{input} = {law}"));
            }
        }
        Some(Err(why)) => text.entry("sliding", why),
        None => {}
    }
}

fn verdict(holds: bool, what: &str) -> String {
    if holds { what.to_string() } else { format!("NOT {what}") }
}

/// What inputs are called, and what outputs are.
struct Words {
    reachable: &'static str,
    stable: &'static str,
    fixed: &'static str,
    finite: &'static str,
    infinite: &'static str,
    impulses: &'static str,
    nothing: &'static str,
}

const INPUTS: Words = Words {
    reachable: "reachable",
    stable: "stabilisable",
    fixed: "not controllable at λ =",
    finite: "[λE − A, B]",
    infinite: "[E, B]",
    impulses: "[E, A S, B]",
    nothing: "combinations of equations contain neither states nor inputs",
};
const OUTPUTS: Words = Words {
    reachable: "observable",
    stable: "detectable",
    fixed: "not observable at λ =",
    finite: "[λE − A; C]",
    infinite: "[E; C]",
    impulses: "[E; ZᵀA; C]",
    nothing: "combinations of states do not enter equations or outputs",
};

fn ability(text: &mut ReportText, found: &Controllability, words: &Words) {
    let n = found.n;
    let yes = |holds: bool| if holds { "yes" } else { "NO" };
    let finite = if found.is_reachable() {
        format!("{} has rank {n} for all λ", words.finite)
    } else if found.empty.is_empty() {
        format!("{} {}", words.fixed, eigenvalues(&found.fixed))
    } else {
        format!("{} {}", found.empty.len(), words.nothing)
    };
    let at_infinity = format!("{} has rank {} of {n}", words.infinite, found.at_infinity);
    let complete = if found.at_infinity == n && !found.is_reachable() {
        format!("not {} (R)", words.reachable)
    } else {
        at_infinity
    };
    text.entry("complete (C)", &format!("{}: {complete}", yes(found.is_complete())));
    text.entry(&format!("{} (R)", words.reachable), &format!("{}: {finite}", yes(found.is_reachable())));
    let impulses = format!("{} has rank {} of {n}", words.impulses, found.of_impulses);
    text.entry("impulses (I)", &format!("{}: {impulses}", yes(found.is_impulse_free())));
    text.entry(words.stable, yes(found.is_stabilisable()));
}

fn pencil(found: &Kronecker) -> String {
    let finite = match found.finite.len() {
        0 => "no finite eigenvalues".to_string(),
        _ => format!("eigenvalues {}", eigenvalues(&found.finite)),
    };
    if found.is_regular() {
        return format!("regular, index {}, {finite}", found.index());
    }
    let mut told = vec!["singular".to_string()];
    for (sizes, what) in [(&found.right, "free direction"), (&found.left, "surplus equation")] {
        match sizes.len() {
            0 => {}
            1 => told.push(format!("1 {what}")),
            n => told.push(format!("{n} {what}s")),
        }
    }
    told.push(format!("nilpotent part of index {}", found.index()));
    told.push(finite);
    told.join(", ")
}

fn sliding(text: &mut ReportText, found: &SlidingFacts) {
    for surface in &found.surfaces {
        text.entry("surface", &format!("s = {surface} = 0"));
    }
    for (input, law) in &found.law {
        text.entry("equivalent", &format!("{input} = {law}"));
    }
    match &found.law[..] {
        [(input, _)] => {
            let above = if found.crossing[(0, 0)] > 0.0 { ('<', '>') } else { ('>', '<') };
            text.entry(
                "s is reached",
                &format!("where {input} {} its equivalent for s > 0, {} for s < 0", above.0, above.1),
            );
        }
        _ => text.entry("ds/dt", &format!("Q (u - equivalent) with Q = {}", matrix(&found.crossing))),
    }
    text.entry("while sliding", &pencil(&found.sliding));
}

fn together(text: &mut ReportText, found: &HybridFacts) {
    text.heading("=== modes together ===");
    for transfer in &found.transfers {
        let told = match &transfer.surplus {
            Ok(0) => "consistent for every state".to_string(),
            Ok(surplus) => {
                format!("NOT consistent: states in {surplus} direction(s) violate the constraints of {}", transfer.to)
            }
            Err(why) => format!("not decided: {why}"),
        };
        text.entry(&transfer.from, &format!("→ {}: {told}", transfer.to));
    }
    text.entry(
        "modes",
        if found.modes {
            "each is R-controllable and R-observable"
        } else {
            "NOT each is R-controllable and R-observable"
        },
    );
    text.entry(
        "trajectories",
        if found.connected { "lead from every mode to every other" } else { "do not lead back from every mode" },
    );
    let whole = match found.is_controllable() {
        Some(true) => "yes: every mode is reached, with consistent transfers",
        Some(false) => "NO",
        None => "not decided",
    };
    text.entry("R-controllable", whole);
}

/// Sliding between modes that differ in the value of a single input.
fn reached(text: &mut ReportText, report: &ControlReport) {
    let mut known = Vec::new();
    for (name, facts) in &report.systems {
        if let Ok(ControlFacts { sliding: Some(Ok(found)), .. }) = facts
            && let ([(input, law)], [value]) = (&found.law[..], &found.values[..])
        {
            known.push((name, input, law, *value));
        }
    }
    for (k, (name, input, law, value)) in known.iter().enumerate() {
        for (other, _, other_law, other_value) in &known[k + 1..] {
            if law == other_law && value != other_value {
                let (low, high) = (value.min(*other_value), value.max(*other_value));
                let told = format!("between {name} and {other} while {} < {law} < {}", short(low), short(high));
                text.entry(&format!("slides ({input})"), &told);
            }
        }
    }
}

fn optimum(text: &mut ReportText, found: &OptimumFacts) {
    text.heading("optimum");
    text.entry("cost", &format!("{:.10}", found.cost));
    if !found.sequence.is_empty() {
        text.entry("sequence", &found.sequence.join(" → "));
        let switches = &found.times[1..found.times.len() - 1];
        let times: Vec<String> = switches.iter().map(|t| format!("{t:.8}")).collect();
        text.entry(
            if found.found_times { "best switches" } else { "switches" },
            &format!("at t = {}", times.join(", ")),
        );
        for (k, slope) in found.slopes.iter().enumerate().filter(|_| !found.found_times) {
            let later = if *slope < 0.0 { "later" } else { "earlier" };
            text.entry(
                "",
                &format!(
                    "the cost changes by {} per unit of time of switch {}: {later} is better",
                    short(*slope),
                    k + 1
                ),
            );
        }
        for switch in &found.at_edge {
            text.entry("", &format!("switch {switch} stands at its neighbour: a phase is not worth its place"));
        }
    }
    let values = |values: &[(String, f64)]| {
        values.iter().map(|(name, value)| format!("{name} = {value:.8}")).collect::<Vec<_>>().join(", ")
    };
    text.entry("start", &values(&found.start));
    text.entry("end", &values(&found.end));
    for (name, given, optimal) in &found.moved {
        let told = format!("{name} from {} to {}: it is not differential", short(*given), short(*optimal));
        text.entry("moved", &told);
    }
}

fn closed_loop(text: &mut ReportText, closed: &ClosedLoop) {
    text.heading(&format!("{} feedback", closed.kind.name()));
    for mode in &closed.modes {
        let label = mode.mode.clone().unwrap_or_default();
        if mode.needless {
            text.entry(&label, "not needed: regular, index at most one already");
            continue;
        }
        for (input, law) in &mode.laws {
            text.entry(&label, &format!("{input} = {law} + {input}_w"));
        }
        text.entry("closed loop", &pencil(&mode.pencil));
    }
}

/// Eigenvalues, with what is rounding beside the largest as zero.
fn eigenvalues(values: &[(f64, f64)]) -> String {
    let largest = values.iter().fold(0.0_f64, |size, (re, im)| size.max(re.hypot(*im)));
    let clean = |x: f64| if x.abs() <= ROUNDING * largest { 0.0 } else { x };
    written(&values.iter().map(|(re, im)| (clean(*re), clean(*im))).collect::<Vec<_>>())
}

fn matrix(X: &Mat<f64>) -> String {
    let row = |i: usize| (0..X.ncols()).map(|j| short(X[(i, j)])).collect::<Vec<_>>().join(" ");
    format!("[{}]", (0..X.nrows()).map(row).collect::<Vec<_>>().join("; "))
}
