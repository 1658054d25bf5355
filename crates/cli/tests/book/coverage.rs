//! The tables of what the sources describe and of the numbers that they print: every row has a proof that exists, or a reason.

use super::{project, text};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Items of the audit that the table repeats, and lists of published numbers; none may get lost.
const ITEMS: usize = 216;
const NUMBERS: usize = 190;

/// Names of all functions that are marked as tests, in all crates.
fn tests() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    walk(&project().join("crates"), &mut |path| {
        if path.extension().is_none_or(|ending| ending != "rs") {
            return;
        }
        let source = text(path);
        let mut marked = false;
        for line in source.lines().map(str::trim) {
            if line.starts_with("#[test]") {
                marked = true;
            } else if let Some(rest) = line.strip_prefix("fn ").filter(|_| marked) {
                found.insert(rest.split(['(', '<']).next().unwrap_or_default().to_string());
                marked = false;
            }
        }
    });
    found
}

/// Every file of a folder and of those inside, but for what is built.
pub fn walk(folder: &Path, visit: &mut dyn FnMut(&Path)) {
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("a file").path()) {
        if entry.is_dir() && entry.file_name().is_some_and(|name| name != "target") {
            walk(&entry, visit);
        } else {
            visit(&entry);
        }
    }
}

/// What stands in backticks.
pub fn words(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// What is wrong with one row: item, where, proof or reason.
fn wrong(cells: &[&str], tests: &BTreeSet<String>) -> Vec<String> {
    let [_, place, proof] = cells else { return vec![format!("{} cells", cells.len())] };
    let is_file =
        |word: &&str| word.contains('/') && [".rs", ".toml", ".md"].iter().any(|ending| word.ends_with(ending));
    let is_test = |word: &&str| {
        word.contains('_') && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    let files = words(place).chain(words(proof)).filter(is_file);
    let mut wrong: Vec<String> =
        files.filter(|file| !project().join(file).exists()).map(|file| format!("there is no {file}")).collect();
    let proofs: Vec<&str> = words(proof).filter(is_test).collect();
    wrong.extend(proofs.iter().filter(|name| !tests.contains(**name)).map(|name| format!("there is no test {name}")));
    let reason = proof.trim().strip_prefix("reason: ").is_some_and(|reason| reason.len() > 5);
    if proofs.is_empty() && !reason {
        wrong.push("neither a proof nor a reason".to_string());
    }
    if proof.contains(" yet") {
        wrong.push("what is put off has no reason".to_string());
    }
    wrong
}

/// Every row of a page's tables, whose heads begin with `head`.
fn assert_rows(page: &str, head: &str, count: usize) {
    let tests = tests();
    let page = text(&project().join(page));
    let rows: Vec<&str> = page
        .lines()
        .filter(|line| line.starts_with('|') && !line.starts_with("| ---") && !line.starts_with(head))
        .collect();
    assert_eq!(rows.len(), count, "rows of the table");
    let mut failures = Vec::new();
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        failures.extend(wrong(&cells, &tests).into_iter().map(|what| format!("{}: {what}", cells[0])));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_row_of_the_coverage_has_a_proof_or_a_reason() {
    assert_rows("docs/src/coverage.md", "| item |", ITEMS);
}

#[test]
fn every_row_of_the_numbers_has_a_proof_or_a_reason() {
    assert_rows("docs/src/numbers.md", "| source |", NUMBERS);
}

#[test]
fn rows_without_proof_are_noticed() {
    let tests = BTreeSet::from(["a_test_that_exists".to_string()]);
    assert!(wrong(&["item", "", "`a_test_that_exists`"], &tests).is_empty());
    assert!(wrong(&["item", "", "reason: nobody asks"], &tests).is_empty());
    assert_eq!(wrong(&["item", "", ""], &tests).len(), 1);
    assert_eq!(wrong(&["item", "", "reason: not compared yet"], &tests).len(), 1);
    assert_eq!(wrong(&["item", "", "`a_test_that_was_renamed`"], &tests).len(), 1);
    assert_eq!(wrong(&["item", "`models/none.toml`", "`a_test_that_exists`"], &tests).len(), 1);
    assert_eq!(wrong(&["item", "`a_test_that_exists`"], &tests).len(), 1);
}
