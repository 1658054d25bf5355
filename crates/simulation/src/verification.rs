//! What the independent check of a run says, in the list of warnings, in the summary and for programs.

use daedal::Verification;
use daedal_run::WarningRecord;
use serde_json::{Value, json};
use std::fmt::Write;

/// Equations that are named; more than that say nothing new.
const MOST: usize = 4;

/// Warnings of a run whose check was asked for; `None` is a system without formulas.
pub fn warnings(asked: bool, found: Option<&Verification>) -> Vec<WarningRecord> {
    let Some(found) = found else {
        let nothing =
            "the run could not be verified: the system is a black box, without formulas to put the solution into";
        return if asked { vec![WarningRecord::new(nothing)] } else { Vec::new() };
    };
    if asked && found.points == 0 {
        return vec![WarningRecord::new(format!("the run could not be verified: {}", unseen(found)))];
    }
    let worst = found.disagreements.iter().take(MOST).map(|wrong| WarningRecord::at(wrong.t, wrong.to_string()));
    let more = found.disagreements.len().saturating_sub(MOST);
    let rest = (more > 0).then(|| WarningRecord::new(format!("nor does it satisfy {more} further equations")));
    worst.chain(rest).collect()
}

/// Why no point was looked at.
fn unseen(found: &Verification) -> String {
    match found.skipped {
        0 => "no step is long enough for difference quotients".to_string(),
        n => format!("a formula has no value at any of {n} points between the steps"),
    }
}

/// One line for people.
pub fn line(found: &Verification) -> String {
    let (label, text) = entry(found);
    if found.points == 0 { format!("{label}: {text}") } else { format!("{label} {text}") }
}

/// What was done and what came out.
pub fn entry(found: &Verification) -> (&'static str, String) {
    if found.points == 0 {
        return ("not verified", unseen(found));
    }
    let worst = match found.disagreements.len() {
        0 => "the equations as written hold".to_string(),
        1 => "one equation DOES NOT HOLD".to_string(),
        n => format!("{n} equations DO NOT HOLD"),
    };
    let mut line = format!(
        "at {} points between the steps: {worst}, the largest residual is {:.1e} times what the tolerance allows",
        found.points, found.worst
    );
    if found.skipped > 0 {
        let _ = write!(line, "; at {} more points a formula has no value", found.skipped);
    }
    if !found.unchecked.is_empty() {
        line += "; not looked at: ";
        line += &found.unchecked.join(", ");
    }
    ("verified", line)
}

/// For programs; null if nobody asked.
pub fn object(found: Option<&Verification>) -> Value {
    found.map_or(Value::Null, |found| {
        let wrong = found.disagreements.iter();
        json!({
            "points": found.points,
            "skipped": found.skipped,
            "unchecked": found.unchecked,
            "worst": found.worst,
            "disagreements": wrong.map(|wrong| json!({
                "equation": wrong.equation, "t": wrong.t, "residual": wrong.residual, "allowed": wrong.allowed,
            })).collect::<Vec<Value>>(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use daedal::Disagreement;

    #[test]
    fn only_the_worst_equations_are_named() {
        let wrong = |k: usize| Disagreement { equation: format!("e{k}"), t: 1.0, residual: 2.0, allowed: 1e-6 };
        let found = Verification { points: 9, disagreements: (0..7).map(wrong).collect(), ..Verification::default() };
        let said = warnings(true, Some(&found));
        assert_eq!(said.len(), 5);
        assert!(said[4].message.contains("3 further"), "{said:?}");
        assert!(line(&found).contains("7 equations DO NOT HOLD"));
        assert_eq!(object(Some(&found))["disagreements"][6]["equation"], "e6");
    }

    #[test]
    fn a_run_without_a_point_is_not_verified_and_points_without_a_value_are_counted() {
        let nothing = Verification { skipped: 5, ..Verification::default() };
        assert!(line(&nothing).starts_with("not verified: a formula has no value at any of 5"), "{}", line(&nothing));
        assert!(warnings(true, Some(&nothing))[0].message.contains("could not be verified"));
        assert!(line(&Verification::default()).contains("no step is long enough"));
        let some = Verification { points: 3, skipped: 2, ..Verification::default() };
        assert!(line(&some).starts_with("verified at 3 points") && line(&some).contains("at 2 more points"));
        assert!(warnings(true, Some(&some)).is_empty());
    }

    #[test]
    fn a_black_box_cannot_be_verified_and_it_is_said_if_somebody_asked() {
        assert!(warnings(true, None)[0].message.contains("black box"));
        assert!(warnings(false, None).is_empty() && object(None).is_null());
    }
}
