//! What became of many models: counts, reasons of refusals, and the smallest models with wrong answers.

use crate::examine::{Answer, Outcome};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Reasons shown of each way.
const MOST_REASONS: usize = 8;

/// What became of some models.
#[derive(Default)]
pub struct Tally {
    pub models: usize,
    ways: BTreeMap<String, Way>,
    /// Smallest models with wrong answers.
    pub wrong: Vec<String>,
    /// Models that no way solved.
    unsolved: Vec<u64>,
}

/// What one way came to.
#[derive(Default)]
struct Way {
    right: usize,
    wrong: usize,
    refused: usize,
    /// Reasons without their numbers: how often, and the seed of one of them.
    reasons: BTreeMap<String, (usize, u64)>,
}

impl Tally {
    pub fn count(&mut self, seed: u64, answers: &[Answer]) {
        self.models += 1;
        for answer in answers {
            let way = self.ways.entry(answer.way.clone()).or_default();
            match &answer.outcome {
                Outcome::Right(_) => way.right += 1,
                Outcome::Wrong { .. } | Outcome::Panicked(_) => way.wrong += 1,
                Outcome::Refused(reason) => {
                    way.refused += 1;
                    way.reasons.entry(without_numbers(reason)).or_insert((0, seed)).0 += 1;
                }
            }
        }
        if answers.iter().all(Answer::is_refused) {
            self.unsolved.push(seed);
        }
    }

    /// Part of the models that a way solved.
    pub fn solved(&self, way: &str) -> f64 {
        self.ways.get(way).map_or(0.0, |way| way.right as f64 / (way.right + way.wrong + way.refused) as f64)
    }

    pub fn table(&self) -> String {
        let mut text = format!("{:24} {:>6} {:>8} {:>6}\n", "", "right", "refused", "wrong");
        for (name, Way { right, refused, wrong, .. }) in &self.ways {
            let _ = writeln!(text, "{name:24} {right:6} {refused:8} {wrong:6}");
        }
        for (name, way) in self.ways.iter().filter(|(_, way)| way.refused > 0) {
            let _ = writeln!(text, "{name} refused because");
            let mut reasons: Vec<_> = way.reasons.iter().collect();
            reasons.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
            for (reason, (count, seed)) in reasons.into_iter().take(MOST_REASONS) {
                let _ = writeln!(text, "{count:6}  {reason} (seed {seed})");
            }
        }
        let _ = writeln!(text, "solved by no way: {:?}", self.unsolved);
        text
    }
}

/// A sentence with # for its numbers and names of unknowns with numbers.
fn without_numbers(reason: &str) -> String {
    let mut text = String::new();
    for c in reason.chars() {
        let of_number = c.is_ascii_digit() || (c == '.' && text.ends_with('#'));
        if !of_number {
            text.push(c);
        } else if !text.ends_with('#') {
            text.push('#');
        }
    }
    text.replace("#e-#", "#")
}
