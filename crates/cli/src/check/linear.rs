//! Systems of higher order and linear systems for people: what holds without order reduction, the pencil, symmetry, impulses.

use super::general::counted;
use super::lines::ReportText;
use daedal::linear::CharacteristicValues;
use daedal_pencils::Kronecker;
use daedal_simulation::check::{GivenStart, LinearAnalysis, OrderAnalysis, SymmetryFound, SymmetryKind, short};
use std::cmp::Ordering;
use std::fmt::Write;

/// Most eigenvalues and jumps that are listed.
const MOST_VALUES: usize = 12;
/// Real parts below this part of an eigenvalue are rounding.
const ROUNDING: f64 = 1e-12;

pub fn orders(text: &mut ReportText, found: Option<&Result<OrderAnalysis, String>>, unknowns: Option<&str>) {
    let Some(found) = found else { return };
    text.heading("without order reduction");
    let found = match found {
        Ok(found) => found,
        Err(why) => return text.entry("not known", why),
    };
    let values = &found.values;
    let place = if found.linear { "" } else { ", at the start" };
    let sizes = values.d.iter().enumerate().rev();
    let d: Vec<String> = sizes.map(|(q, d)| format!("{d} of order {} (d{})", q + 1, below_line(q + 1))).collect();
    text.entry("as written", &format!("order {}, strangeness index {}{place}", found.order, values.mu));
    let mut solution = format!("{}, {} algebraic (a)", d.join(", "), values.a);
    for (n, what) in [(values.v, "redundant (v)"), (values.u, "undetermined (u)")] {
        if n > 0 {
            let _ = write!(solution, ", {n} {what}");
        }
    }
    text.entry("equations", &solution);
    if values.beyond_proved_range() {
        text.entry("", "beyond what is proved (order 2 and index 2); no counterexample is known");
    }
    if found.converted > 0 {
        let told = format!(
            "equations of lower order bind {} of order {}, and lower it by the reduction",
            counted(found.converted, "unknown", "unknowns"),
            found.order
        );
        text.entry("", &told);
    }
    text.entry("all derivatives", &form(&found.companion, values.mu));
    text.entry("those that enter", &form(&found.entering, values.mu));
    let added = match &found.trimmed[..] {
        [] => "no derivative becomes an unknown".to_string(),
        some => {
            let names: Vec<String> = some.iter().take(MOST_VALUES).map(ToString::to_string).collect();
            let more = if some.len() > MOST_VALUES { ", …" } else { "" };
            let role = if some.len() == 1 { "an unknown" } else { "unknowns" };
            format!("only {}{more} as {role}", names.join(", "))
        }
    };
    let least = values.mu <= found.entering.mu && values.mu <= found.companion.mu;
    let verdict = if least { "harmless" } else { "needs more differentiations than the form above" };
    let reduced = match values.mu {
        0 => "without a differentiation".to_string(),
        1 => "after one differentiation".to_string(),
        n => format!("after {n} differentiations"),
    };
    text.entry("trimmed", &format!("{added} {reduced}: {verdict}"));
    if let Some(why) = unknowns {
        text.entry("a run", why);
    }
}

/// A number as an index.
fn below_line(n: usize) -> String {
    const DIGITS: [char; 10] = ['₀', '₁', '₂', '₃', '₄', '₅', '₆', '₇', '₈', '₉'];
    n.to_string().bytes().map(|digit| DIGITS[usize::from(digit - b'0')]).collect()
}

/// A form of first order, and what it does to the index.
fn form(values: &CharacteristicValues, mu: usize) -> String {
    let verdict = match values.mu.cmp(&mu) {
        Ordering::Greater => format!("raises the index by {}", values.mu - mu),
        Ordering::Equal => "harmless".to_string(),
        Ordering::Less => format!("lowers the index by {}", mu - values.mu),
    };
    let CharacteristicValues { mu, d, a, .. } = values;
    format!("as unknowns: strangeness index {mu}, d = {d}, a = {a}: {verdict}")
}

pub fn linear(text: &mut ReportText, found: Option<&LinearAnalysis>) {
    let Some(found) = found else { return };
    text.heading("linear system");
    text.entry("coefficients", if found.constant { "constant" } else { "depend on time" });
    match &found.pencil {
        Some(Ok(pencil)) => blocks(text, pencil),
        Some(Err(why)) => text.entry("pencil", why),
        None => {}
    }
    if let Some(found) = &found.symmetry {
        symmetry(text, found);
    }
    match &found.start {
        Some(GivenStart::Jump { jumps, impulses }) => start(text, jumps, impulses),
        Some(GivenStart::Open(open)) => {
            text.entry("given start", &format!("consistent or not: nothing is given for {}", open.join(", ")));
        }
        Some(GivenStart::Consistent) => text.entry("given start", "consistent: no impulses"),
        None => {}
    }
}

fn list(sizes: &[usize]) -> String {
    sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn blocks(text: &mut ReportText, pencil: &Kronecker) {
    let finite = pencil.finite.len();
    if pencil.is_regular() {
        text.entry("pencil", &format!("regular, index {}", pencil.index()));
    } else {
        text.entry("pencil", "singular: the equations leave unknowns open, or contradict or repeat each other");
        let sizes = |indices: &[usize], right: bool| {
            let size = |&k: &usize| if right { format!("{k} × {}", k + 1) } else { format!("{} × {k}", k + 1) };
            indices.iter().map(size).collect::<Vec<_>>().join(", ")
        };
        if !pencil.right.is_empty() {
            text.entry("", &format!("open unknowns: blocks L of sizes {}", sizes(&pencil.right, true)));
        }
        if !pencil.left.is_empty() {
            text.entry("", &format!("surplus equations: blocks Lᵀ of sizes {}", sizes(&pencil.left, false)));
        }
    }
    let infinite = match pencil.infinite() {
        0 => "none".to_string(),
        n => format!("{n}, in nilpotent blocks of sizes {}", list(&pencil.nilpotent)),
    };
    text.entry("infinite values", &infinite);
    let told = if finite == 0 { "none".to_string() } else { format!("{finite}: {}", eigenvalues(&pencil.finite)) };
    text.entry("eigenvalues", &told);
}

/// Eigenvalues, pairs of them at once.
pub fn eigenvalues(finite: &[(f64, f64)]) -> String {
    let mut told: Vec<String> = Vec::new();
    let mut values = finite.iter().peekable();
    while let Some(&(re, im)) = values.next() {
        // a pair is told at once
        let re = if re.abs() < ROUNDING * re.hypot(im) { 0.0 } else { re };
        if im > 0.0 && values.next_if(|other| other.1 < 0.0).is_some() {
            let centre = if re == 0.0 { String::new() } else { format!("{} ", short(re)) };
            told.push(format!("{centre}±{}{}i", if centre.is_empty() { "" } else { " " }, short(im)));
        } else {
            told.push(short(re));
        }
    }
    let more = if told.len() > MOST_VALUES { ", …" } else { "" };
    told.truncate(MOST_VALUES);
    format!("{}{more}", told.join(", "))
}

fn symmetry(text: &mut ReportText, found: &SymmetryFound) {
    let kind = match found.kind {
        SymmetryKind::Symmetric => "symmetric: E = Eᵀ, A = Aᵀ",
        SymmetryKind::SelfAdjoint => "self-adjoint: E = −Eᵀ, A = (A + E')ᵀ; eigenvalues come in pairs ±λ",
        SymmetryKind::Damped => "symmetric of second order: M, C and K are symmetric",
        SymmetryKind::Gyroscopic => "gyroscopic: M and K are symmetric, C is skew; eigenvalues come in pairs ±λ",
    };
    let turned = match &found.turned[..] {
        [] => String::new(),
        some => format!(" (with the other sign of {})", some.join(", ")),
    };
    text.entry("structure", &format!("{kind}{turned}"));
    match &found.reduction {
        Some(Ok(sizes)) => {
            let told = format!(
                "an index reduction by congruence keeps it: s = {}, d = {}, a = {}, u = {}",
                sizes.s, sizes.d, sizes.a, sizes.u
            );
            text.entry("", &told);
        }
        Some(Err(why)) => text.entry("", why),
        None => {}
    }
}

fn start(text: &mut ReportText, jumps: &[(String, f64, f64)], impulses: &[(String, usize, f64)]) {
    let told: Vec<String> = jumps
        .iter()
        .take(MOST_VALUES)
        .map(|(name, before, behind)| format!("{name} from {} to {}", short(*before), short(*behind)))
        .collect();
    let jumps = if told.is_empty() { String::new() } else { format!(": {} would jump", told.join(", ")) };
    text.entry("given start", &format!("inconsistent{jumps}"));
    if impulses.is_empty() {
        return text.entry("impulses", "none");
    }
    let told: Vec<String> = impulses
        .iter()
        .take(MOST_VALUES)
        .map(|(name, order, factor)| format!("{} δ{} in {name}", short(*factor), "'".repeat(*order)))
        .collect();
    let more = if impulses.len() > MOST_VALUES { ", …" } else { "" };
    text.entry("impulses", &format!("{}{more}", told.join(", ")));
}
