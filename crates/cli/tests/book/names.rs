//! Names of the code and of files that stand in the texts are there.

use super::coverage::{walk, words};
use super::{pages, project, text};
use std::collections::BTreeSet;
use std::path::Path;

/// All files of the project, from its top on, with `/` between folders.
fn files() -> Vec<String> {
    let mut found = Vec::new();
    for folder in ["crates", "docs", "models", "gallery", "measured", "boundary", "python", "tests", "fuzz"] {
        walk(&project().join(folder), &mut |path| {
            let inside = path.strip_prefix(project()).expect("a file of the project");
            found.push(inside.to_string_lossy().replace('\\', "/"));
        });
    }
    found
}

/// Does a name have the look of a file with its folder?
fn is_file(word: &str) -> bool {
    let ending = [".rs", ".toml", ".md", ".py", ".json", ".csv", ".sh"].iter().any(|ending| word.ends_with(ending));
    ending && word.contains('/') && !word.contains([' ', '*', '<', '$', ','])
}

#[test]
fn files_that_texts_name_exist() {
    let files = files();
    let exists = |word: &str| files.iter().any(|file| file == word || file.ends_with(&format!("/{word}")));
    let others = ["DESIGN.md", "CONTRIBUTING.md", "CHANGELOG.md", "NOTATION.md"].map(|name| project().join(name));
    for page in pages().into_iter().chain(others) {
        let text = text(&page);
        let missing: Vec<&str> = text.lines().flat_map(words).filter(|word| is_file(word) && !exists(word)).collect();
        assert!(missing.is_empty(), "{} names {missing:?}", page.display());
    }
}

/// Symbols of the theory stand beside names of the code.
#[test]
fn names_of_the_notation_are_those_of_the_code() {
    let mut known = BTreeSet::new();
    walk(&project().join("crates"), &mut |path| {
        if path.extension().is_some_and(|ending| ending == "rs") {
            let source = text(path);
            known.extend(source.split(|c: char| !c.is_alphanumeric() && c != '_').map(ToString::to_string));
        }
    });
    let notation = text(&project().join("NOTATION.md"));
    for row in notation.lines().filter(|line| line.starts_with('|')) {
        let names =
            words(row).filter(|word| !is_file(word) && Path::new(word).extension().is_none_or(|end| end != "rs"));
        for name in names.flat_map(|word| word.split(|c: char| !c.is_alphanumeric() && c != '_')) {
            assert!(name.is_empty() || known.contains(name), "there is no {name}: {row}");
        }
    }
}
