//! Options that pages name are those of the command.

use super::{pages, project, terminal, text};
use std::collections::BTreeSet;

const COMMANDS: [&str; 10] =
    ["list", "solve", "init", "compare", "study", "sweep", "report", "import", "check", "control"];
/// Lines with options of other programs.
const OTHERS: [&str; 4] = ["cargo ", "valgrind ", "--toggle-collect", "peers/chain.py"];

/// Words that begin with two dashes.
fn of(page: &str) -> impl Iterator<Item = &str> {
    let lines = page.lines().filter(|line| !OTHERS.iter().any(|other| line.contains(other)));
    let words = lines.flat_map(|line| line.split(|c: char| !c.is_ascii_alphanumeric() && c != '-'));
    words.filter(|word| word.strip_prefix("--").is_some_and(|name| name.starts_with(|c: char| c.is_ascii_lowercase())))
}

#[test]
fn every_option_that_is_named_is_one_of_the_command() {
    let helps = COMMANDS.map(|command| terminal::daedal(&[command, "--help"], &project()).stdout);
    let helps = helps.map(|help| String::from_utf8_lossy(&help).into_owned());
    let known: BTreeSet<&str> = helps.iter().flat_map(|help| of(help)).collect();
    assert!(known.len() > 50, "{known:?}");
    let others = ["DESIGN.md", "CHANGELOG.md"].map(|name| project().join(name));
    for page in pages().into_iter().chain(others) {
        let text = text(&page);
        let unknown: Vec<&str> = of(&text).filter(|word| !known.contains(word)).collect();
        assert!(unknown.is_empty(), "{} names {unknown:?}", page.display());
    }
}

#[test]
fn words_with_two_dashes_are_options() {
    let page = "| --- | `--set m=1`, --tend 2; a--b\ncargo test --release\n";
    assert_eq!(of(page).collect::<Vec<_>>(), ["--set", "--tend"]);
}
