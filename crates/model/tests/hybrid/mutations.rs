//! Files with modes that were cut, mixed and misspelt are read or have mistakes; nothing panics or hangs.

use daedal_model::{Model, ReadingLimits};
use std::path::Path;

/// Numbers that look random and are always the same.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n.max(1)
    }
}

fn files(folder: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "toml"));
    paths.sort();
    let texts = paths.into_iter().map(|path| std::fs::read_to_string(path).unwrap());
    texts.filter(|text| text.contains("[modes") || text.contains("[[transitions]]")).collect()
}

#[test]
fn damaged_files_are_read_or_have_mistakes() {
    let texts = [files("../../models"), files("tests/malformed")].concat();
    assert!(texts.len() > 50);
    let words = ["\"*\"", "-1", "0", "[]", "{}", "\"x < 0\"", "\"up\"", "[1, 2]", "\"der(x, 3)\"", "true"];
    let mut numbers = Numbers(1);
    let (mut good, mut bad) = (0, 0);
    for round in 0..1500 {
        let mut lines: Vec<String> = texts[round % texts.len()].lines().map(str::to_string).collect();
        for _ in 0..=numbers.below(3) {
            let k = numbers.below(lines.len());
            match numbers.below(5) {
                0 => drop(lines.remove(k)),
                1 => lines.insert(numbers.below(k + 1), lines[k].clone()),
                2 => {
                    // a line of another file
                    let other: Vec<&str> = texts[numbers.below(texts.len())].lines().collect();
                    lines.insert(k, other[numbers.below(other.len())].to_string());
                }
                3 => {
                    let key = lines[k].split('=').next().unwrap_or_default().trim_end().to_string();
                    lines[k] = format!("{key} = {}", words[numbers.below(words.len())]);
                }
                _ => {
                    let mut characters: Vec<char> = lines[k].chars().collect();
                    if !characters.is_empty() {
                        characters.remove(numbers.below(characters.len()));
                    }
                    lines[k] = characters.into_iter().collect();
                }
            }
            if lines.is_empty() {
                break;
            }
        }
        let text = lines.join("\n");
        match Model::read_within("damaged", &text, &[], ReadingLimits { entries: 20_000, operations: 200_000 }) {
            Ok(_) => good += 1,
            Err(mistakes) => {
                assert!(!mistakes.list().is_empty() && !mistakes.lines().is_empty());
                bad += 1;
            }
        }
    }
    assert!(good > 20 && bad > 500, "{good} good, {bad} bad");
}
