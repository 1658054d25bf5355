//! Tables of the book against the rows of a study.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Counters may differ by this part from machine to machine, where steps are decided at the level of rounding.
const COUNTERS: f64 = 0.03;
/// Errors of one digit, by this factor.
const ERRORS: f64 = 4.0;
/// Part of the cells of a table that may differ from machine to machine: whether a run passes a singular point by a hair.
const OTHER_MACHINE: f64 = 0.02;
/// A phase that is lost on one machine has at least this error on another.
const NEARLY_LOST: f64 = 0.05;

/// Runs write their tables one after the other.
static WRITING: Mutex<()> = Mutex::new(());

fn path(chapter: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src").join(chapter)
}

/// The rows of the table behind `<!-- table NAME -->`, without its head, must be these.
#[track_caller]
pub fn table(chapter: &str, name: &str, rows: &[Vec<String>]) {
    let lines: Vec<String> = rows.iter().map(|row| format!("| {} |", row.join(" | "))).collect();
    println!("{name}\n{}", lines.join("\n"));
    let _writing = WRITING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let text = fs::read_to_string(path(chapter)).expect("a chapter");
    let marker = format!("<!-- table {name} -->");
    let mut before: Vec<&str> = text.lines().collect();
    let at = before.iter().position(|line| *line == marker).unwrap_or_else(|| panic!("{chapter} has no {marker}"));
    // marker, empty line, head, rule
    let first = at + 4;
    let count = before[first..].iter().take_while(|line| line.starts_with('|')).count();
    if std::env::var("DAEDAL_BLESS").is_ok() {
        before.splice(first..first + count, lines.iter().map(String::as_str));
        fs::write(path(chapter), before.join("\n") + "\n").expect("a chapter that can be written");
        return;
    }
    assert_eq!(count, lines.len(), "{chapter}, {name}: rows");
    let (mut cells, mut stale) = (0, Vec::new());
    for (book, study) in before[first..first + count].iter().zip(&lines) {
        let (b, s): (Vec<&str>, Vec<&str>) = (book.split_whitespace().collect(), study.split_whitespace().collect());
        let differ = b.len().abs_diff(s.len()) + b.iter().zip(&s).filter(|(b, s)| !agree(b, s)).count();
        cells += b.len();
        stale.extend(std::iter::repeat_n(format!("book  {book}\nstudy {study}"), differ));
    }
    let most = if exact() { 0.0 } else { OTHER_MACHINE * cells as f64 };
    assert!(stale.len() as f64 <= most, "{chapter}, {name}:\n{}", stale.join("\n"));
}

/// Is this the machine that wrote the tables?
fn exact() -> bool {
    std::env::var("DAEDAL_COUNTERS").is_ok_and(|how| how == "exact")
}

/// Words must be the same, counters and errors nearly.
fn agree(book: &str, study: &str) -> bool {
    let number = |word: &str| word.replace(',', "").parse::<f64>().ok();
    let (b, s) = match (number(book), number(study)) {
        (Some(b), Some(s)) => (b, s),
        (Some(error), None) => return study == "lost" && error > NEARLY_LOST,
        (None, Some(error)) => return book == "lost" && error > NEARLY_LOST,
        (None, None) => return book == study,
    };
    if book.contains('e') || study.contains('e') {
        // noise at the level of rounding says nothing
        let size = |x: f64| x.abs().max(1e-13);
        return size(b) / size(s) < ERRORS && size(s) / size(b) < ERRORS;
    }
    (b - s).abs() <= (COUNTERS * b.abs()).max(2.0)
}

/// 1234567 as 1,234,567.
pub fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[test]
fn cells_agree_up_to_the_noise_of_machines_and_no_further() {
    assert!(agree("1,000", "1,020") && agree("2e-7", "3e-7") && agree("2e-15", "9e-17") && agree("lost", "2e-1"));
    assert!(!agree("1,000", "1,050") && !agree("2e-7", "2e-6") && !agree("fails", "1e-3") && !agree("lost", "1e-2"));
    assert_eq!(thousands(1_234_567), "1,234,567");
}
