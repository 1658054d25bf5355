//! Cross-examination: random models whose solution is known, through every form and method that accepts them.
//!
//! An answer is right within a hundred tolerances, or the model was refused; anything else is a defect, shrunk to the
//! smallest file that shows it. Seeds are fixed: the same models in every run.

mod block;
mod course;
mod drawn;
mod examine;
mod general;
mod motion;
mod random;
mod switched;

use drawn::{Drawn, shrink};
use examine::{Answer, examine};
use random::Random;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What became of some models.
#[derive(Default)]
struct Tally {
    /// Of each way: answers that were right, refused and wrong.
    ways: BTreeMap<String, [usize; 3]>,
    /// Smallest models with wrong answers.
    wrong: Vec<String>,
}

impl Tally {
    fn count(&mut self, answers: &[Answer]) {
        for answer in answers {
            let counts = self.ways.entry(answer.way.clone()).or_default();
            counts[if answer.is_wrong() { 2 } else { usize::from(answer.is_refused()) }] += 1;
        }
    }

    fn table(&self) -> String {
        let mut text = format!("{:24} {:>6} {:>8} {:>6}\n", "", "right", "refused", "wrong");
        for (way, [right, refused, wrong]) in &self.ways {
            let _ = writeln!(text, "{way:24} {right:6} {refused:8} {wrong:6}");
        }
        text
    }
}

/// Look at one model; a wrong answer is shrunk and told with its file.
fn look<D: Drawn>(seed: u64, drawn: &D, tally: &Mutex<Tally>) {
    let answers = examine(drawn);
    tally.lock().expect("no panic").count(&answers);
    let Some(first) = answers.iter().find(|answer| answer.is_wrong()) else { return };
    let same_way = |model: &D| examine(model).into_iter().find(|answer| answer.way == first.way);
    let small = shrink(drawn.clone(), |model| same_way(model).is_some_and(|answer| answer.is_wrong()));
    let mut text = format!("seed {seed}: {first}\nsmallest model:\n{}", small.text());
    for answer in examine(&small) {
        let _ = writeln!(text, "# {answer}");
    }
    tally.lock().expect("no panic").wrong.push(text);
}

/// Models of all families with the seeds from first to last, on all cores.
fn cross_examine(family: &str, seeds: std::ops::Range<u64>) {
    let tally = Mutex::new(Tally::default());
    let next = AtomicUsize::new(0);
    let count = (seeds.end - seeds.start) as usize;
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, Into::into) {
            scope.spawn(|| {
                while let k = next.fetch_add(1, Ordering::Relaxed)
                    && k < count
                {
                    let seed = seeds.start + k as u64;
                    let mut random = Random(seed);
                    match family {
                        "general" => look(seed, &general::General::draw(&mut random), &tally),
                        "motion" => look(seed, &motion::Chain::draw(&mut random), &tally),
                        _ => {
                            let mut model = switched::Switched::draw(&mut random);
                            while !model.is_clear() {
                                model = switched::Switched::draw(&mut random);
                            }
                            look(seed, &model, &tally);
                        }
                    }
                }
            });
        }
    });
    let tally = tally.into_inner().expect("no panic");
    println!("{count} models of the family {family}\n{}", tally.table());
    let shown: Vec<&str> = tally.wrong.iter().map(String::as_str).collect();
    assert!(shown.is_empty(), "{} of {count} models have wrong answers\n\n{}", shown.len(), shown.join("\n\n"));
}

#[test]
#[ignore = "until hidden constraints, late pulses and values between steps are right (issue F, items 1, 2, 4, S1)"]
fn general_systems_agree() {
    cross_examine("general", 0..60);
}

#[test]
#[ignore = "until hidden constraints, late pulses and values between steps are right (issue F, items 1, 2, 4, S1)"]
fn mechanisms_agree() {
    cross_examine("motion", 0..20);
}

#[test]
fn switched_systems_agree() {
    cross_examine("switched", 0..30);
}

#[test]
#[ignore = "ten minutes in release"]
fn three_thousand_general_systems_agree() {
    cross_examine("general", 1000..4000);
}

#[test]
#[ignore = "ten minutes in release"]
fn a_thousand_mechanisms_agree() {
    cross_examine("motion", 1000..2000);
}

#[test]
#[ignore = "ten minutes in release"]
fn a_thousand_switched_systems_agree() {
    cross_examine("switched", 1000..2000);
}
