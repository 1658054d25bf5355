//! The book and the README: what they show is run, and what they link is there.
//!
//! | block | what happens |
//! | --- | --- |
//! | `toml` | a complete model: it is checked and solved through the command |
//! | `toml,file=NAME` | the same, under this name, which later blocks of the chapter may use |
//! | `toml,fragment` | must be TOML |
//! | `xml,file=NAME` | written under this name, for commands below it |
//! | `sh` | lines after `$ ` are run, and the lines below are what they answer, see `terminal.rs` |
//! | `python` | run, or compiled where it needs a package that is not installed; those of the package `daedal` are run by `python/tests/test_book.py` |
//! | `rust` | compiled by the documentation tests of the library |

mod blocks;
mod coverage;
mod links;
mod names;
mod options;
mod terminal;

use blocks::Block;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The top of the project.
fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All chapters and the README.
fn pages() -> Vec<PathBuf> {
    let source = project().join("docs/src");
    let entries = fs::read_dir(&source).expect("the book").map(|entry| entry.expect("a file").path());
    let mut pages: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|e| e == "md")).collect();
    pages.push(project().join("README.md"));
    pages.sort();
    pages
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// An empty folder for one page, with the models and mechanisms that ship with the project.
fn folder(page: &Path) -> PathBuf {
    let name = page.file_stem().expect("a file");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("book").join(name);
    let _ = fs::remove_dir_all(&folder);
    for shipped in ["models", "gallery"] {
        let copies = folder.join(shipped);
        fs::create_dir_all(&copies).expect("a folder for the test");
        for entry in fs::read_dir(project().join(shipped)).expect("the models") {
            let path = entry.expect("a file").path();
            fs::copy(&path, copies.join(path.file_name().expect("a file"))).expect("a copy");
        }
    }
    folder
}

/// What is wrong with one block, if anything.
fn run(block: &Block, folder: &Path) -> Result<(), String> {
    match block.language.as_str() {
        "toml" if block.has("fragment") => {
            toml::de::DeTable::parse(&block.text).map(|_| ()).map_err(|error| error.to_string())
        }
        "toml" => {
            let name = block.value("file").unwrap_or("model.toml");
            fs::write(folder.join(name), &block.text).map_err(|error| error.to_string())?;
            ["check", "solve"].into_iter().try_for_each(|command| succeeds(&[command, name], folder))
        }
        "xml" => {
            let name = block.value("file").ok_or("a robot without a name")?;
            fs::write(folder.join(name), &block.text).map_err(|error| error.to_string())
        }
        "sh" => terminal::run(&block.text, folder),
        "python" => python(&block.text, folder),
        "rust" | "text" | "csv" | "json" => Ok(()),
        other => Err(format!("a block of {other:?}: what should be tested?")),
    }
}

fn succeeds(arguments: &[&str], folder: &Path) -> Result<(), String> {
    let output = terminal::daedal(arguments, folder);
    match output.status.code() {
        Some(0) => Ok(()),
        code => Err(format!(
            "daedal {} exits with {code:?}: {}",
            arguments.join(" "),
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}

/// Run a script, or compile it where it needs a package that is missing; nothing without Python.
fn python(script: &str, folder: &Path) -> Result<(), String> {
    let python = |arguments: &[&str]| Command::new("python3").args(arguments).current_dir(folder).output();
    let Ok(numpy) = python(&["-c", "import numpy"]) else { return Ok(()) };
    fs::write(folder.join("script.py"), script).map_err(|error| error.to_string())?;
    let needs =
        |package: &str| script.contains(&format!("import {package}")) || script.contains(&format!("from {package}"));
    let others = ["daedal", "scipy", "casadi"].iter().any(|package| needs(package));
    let runs = (numpy.status.success() || !needs("numpy")) && !others;
    let how: &[&str] = if runs { &["script.py"] } else { &["-m", "py_compile", "script.py"] };
    let output = python(how).map_err(|error| error.to_string())?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

#[test]
fn every_example_of_the_book_does_what_it_shows() {
    let mut failures = vec![];
    for page in pages() {
        let folder = folder(&page);
        for block in blocks::of(&text(&page)) {
            if let Err(what) = run(&block, &folder) {
                failures.push(format!("{}, line {}: {what}", page.display(), block.line));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn every_chapter_is_listed() {
    let summary = text(&project().join("docs/src/SUMMARY.md"));
    let listed = links::of(&summary);
    for page in pages() {
        let name = page.file_name().and_then(|name| name.to_str()).expect("a name");
        if !["README.md", "SUMMARY.md"].contains(&name) {
            assert!(listed.iter().any(|link| link == name), "{name} is not listed in SUMMARY.md");
        }
    }
}

#[test]
fn every_link_leads_somewhere() {
    for page in pages() {
        for link in links::of(&text(&page)) {
            let target = page.parent().expect("a folder").join(&link);
            assert!(
                target.exists() || links::is_generated(&link),
                "{} links {link}, which is not there",
                page.display()
            );
        }
    }
}

/// Pages that `docs/build.sh` makes are those that are linked, by the commands that the book shows.
#[test]
fn generated_pages_are_made_by_the_commands_of_the_book() {
    let mut linked: Vec<String> = pages().iter().flat_map(|page| links::of(&text(page))).collect();
    linked.retain(|link| links::is_generated(link));
    linked.sort();
    let script = text(&project().join("docs/build.sh"));
    let mut made: Vec<(String, String)> = links::made_by(&script);
    made.sort();
    assert_eq!(linked, made.iter().map(|(page, _)| page.clone()).collect::<Vec<_>>());
    let shown = text(&project().join("docs/src/choose.md"));
    for (page, command) in made {
        assert!(shown.contains(&format!("]({page}) | `daedal {command}` |")), "choose.md does not show {command}");
    }
}

/// The table of the study is that of the stored file.
#[test]
fn the_study_shows_what_the_stored_file_holds() {
    let stored = project().join("docs/study.json");
    let output = terminal::daedal(&["study", "--from", stored.to_str().expect("text")], &project());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let page = text(&project().join("docs/src/study.md"));
    let made = String::from_utf8_lossy(&output.stdout);
    assert!(page.ends_with(&*made), "make it anew: daedal study --from docs/study.json");
}
