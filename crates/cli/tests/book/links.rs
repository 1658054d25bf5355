//! Links to files of the project.

/// Targets of `[text](target)` and `{{#include target}}`, without those on the web and without places inside a page.
pub fn of(page: &str) -> Vec<String> {
    let mut prose = String::new();
    let mut inside = false;
    for line in page.lines() {
        if line.trim().starts_with("```") {
            inside = !inside;
        } else if !inside {
            prose.push_str(line);
            prose.push('\n');
        }
    }
    let links = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let included = prose.split("{{#include ").skip(1).filter_map(|rest| rest.split("}}").next());
    links
        .chain(included)
        .filter(|target| !target.contains("://"))
        .filter_map(|target| target.split('#').next())
        .filter(|target| !target.is_empty())
        .map(ToString::to_string)
        .collect()
}

/// Where `docs/build.sh` puts what it makes.
const GENERATED: &str = "comparisons/";

/// Is the target made by `docs/build.sh`?
pub fn is_generated(target: &str) -> bool {
    target.starts_with(GENERATED)
}

/// Pages that a script makes with `"$daedal" … -o PAGE`, each with its command.
pub fn made_by(script: &str) -> Vec<(String, String)> {
    let commands = script.lines().filter_map(|line| line.strip_prefix("\"$daedal\" "));
    commands
        .filter_map(|command| {
            command.split(" -o ").nth(1).map(|page| (format!("{GENERATED}{page}"), command.to_string()))
        })
        .collect()
}

#[test]
fn links_are_found_outside_of_blocks() {
    let page = "[a](a.md#part), [b](https://b.org/) [c](#c)\n```rust\nx[0](y)\n```\n{{#include ../D.md}}\n";
    assert_eq!(of(page), ["a.md", "../D.md"]);
}
