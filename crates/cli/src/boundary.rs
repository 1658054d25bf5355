//! How a boundary value problem was solved, for people.

use daedal::BoundaryAccount;
use std::fmt::Write;

/// Most conditions that are told one by one.
const SHOWN: usize = 12;

/// Some lines about the conditions and what was found.
pub fn account(text: &mut String, account: &BoundaryAccount) {
    let _ = writeln!(text, "\nconditions at the ends");
    for (label, said) in lines(account) {
        let _ = writeln!(text, "  {label:<14}{said}");
    }
    for condition in account.conditions.iter().take(SHOWN) {
        let _ = writeln!(text, "  {:.1e}  {}", condition.residual.abs(), condition.name);
    }
    if let Some(more) = account.conditions.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        let _ = writeln!(text, "  … {more} more");
    }
    if account.found.is_empty() && account.end.is_none() {
        return;
    }
    let _ = writeln!(text, "\nfound");
    let end = account.end.map(|end| ("t at the end".to_string(), end));
    for (name, value) in account.found.iter().cloned().chain(end) {
        let _ = writeln!(text, "  {name} = {value:?}");
    }
}

/// How many are needed, how many there are, and whether they suffice.
pub fn lines(account: &BoundaryAccount) -> Vec<(&'static str, String)> {
    let free = if account.end.is_some() { " and the end time" } else { "" };
    let plural = if account.degrees == 1 { "degree" } else { "degrees" };
    let given = account.conditions.len() - usize::from(account.phase);
    let phase = if account.phase { ", and the phase of a periodic solution" } else { "" };
    vec![
        ("needed", format!("{}: {} {plural} of freedom{free}", account.needed, account.degrees)),
        ("given", format!("{given}{phase}")),
        (
            "determined",
            format!("all; values at the ends move at most {:.1e} times as much as a condition", account.conditioning),
        ),
    ]
}
