//! Tables of the book against the rows of a study.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Counters may differ by this part from machine to machine, where steps are decided at the level of rounding.
const COUNTERS: f64 = 0.03;
/// Errors of one digit, by this factor.
const ERRORS: f64 = 4.0;

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
    let stale: Vec<String> = (0..count.max(lines.len()))
        .filter(|&k| !(k < count && k < lines.len() && agree(before[first + k], &lines[k])))
        .map(|k| format!("book  {}\nstudy {}", before.get(first + k).unwrap_or(&""), lines.get(k).map_or("", |s| s)))
        .collect();
    assert!(stale.is_empty(), "{chapter}, {name}:\n{}", stale.join("\n"));
}

/// Words must be the same, counters and errors nearly.
fn agree(book: &str, study: &str) -> bool {
    let (book, study): (Vec<&str>, Vec<&str>) = (book.split_whitespace().collect(), study.split_whitespace().collect());
    book.len() == study.len() && book.iter().zip(&study).all(|(b, s)| b == s || same_number(b, s))
}

fn same_number(book: &str, study: &str) -> bool {
    let number = |word: &str| word.replace(',', "").parse::<f64>().ok();
    let (Some(b), Some(s)) = (number(book), number(study)) else { return false };
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
        if k > 0 && (digits.len() - k) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[test]
fn rows_agree_up_to_the_noise_of_machines_and_no_further() {
    assert!(agree("| a | 1,000 | 2e-7 |", "| a | 1,020 | 3e-7 |"));
    assert!(!agree("| a | 1,000 |", "| a | 1,050 |"));
    assert!(!agree("| a | 2e-7 |", "| a | 2e-6 |"));
    assert!(!agree("| a | fails |", "| a | 1e-3 |"));
    assert_eq!(thousands(1_234_567), "1,234,567");
}
