//! What the independent check of a run says, in the list of warnings, in the summary and for programs.

use daedal::verify::Verification;
use daedal_run::Warning;
use serde_json::{Value, json};

/// Equations that are named; more than that say nothing new.
const MOST: usize = 4;

/// Warnings of a run whose check was asked for; `None` is a system without formulas.
pub fn warnings(asked: bool, found: Option<&Verification>) -> Vec<Warning> {
    let Some(found) = found else {
        let nothing =
            "the run could not be verified: the system is a black box, without formulas to put the solution into";
        return if asked { vec![Warning::new(nothing)] } else { Vec::new() };
    };
    let worst = found.disagreements.iter().take(MOST).map(|wrong| Warning::at(wrong.t, wrong.to_string()));
    let more = found.disagreements.len().saturating_sub(MOST);
    let rest = (more > 0).then(|| Warning::new(format!("nor does it satisfy {more} further equations")));
    worst.chain(rest).collect()
}

/// One line for people.
pub fn line(found: &Verification) -> String {
    let worst = match found.disagreements.len() {
        0 => "the equations as written hold".to_string(),
        1 => "one equation DOES NOT HOLD".to_string(),
        n => format!("{n} equations DO NOT HOLD"),
    };
    let mut line = format!(
        "verified at {} points between the steps: {worst}, the largest residual is {:.1e} times what the tolerance allows",
        found.points, found.worst
    );
    if !found.unchecked.is_empty() {
        line += "; not looked at: ";
        line += &found.unchecked.join(", ");
    }
    line
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
    use daedal::verify::Disagreement;

    #[test]
    fn only_the_worst_equations_are_named() {
        let wrong = |k: usize| Disagreement { equation: format!("e{k}"), t: 1.0, residual: 2.0, allowed: 1e-6 };
        let found = Verification { disagreements: (0..7).map(wrong).collect(), ..Verification::default() };
        let said = warnings(true, Some(&found));
        assert_eq!(said.len(), 5);
        assert!(said[4].message.contains("3 further"), "{said:?}");
        assert!(line(&found).contains("7 equations DO NOT HOLD"));
        assert_eq!(object(Some(&found))["disagreements"][6]["equation"], "e6");
    }

    #[test]
    fn a_black_box_cannot_be_verified_and_it_is_said_if_somebody_asked() {
        assert!(warnings(true, None)[0].message.contains("black box"));
        assert!(warnings(false, None).is_empty() && object(None).is_null());
    }
}
