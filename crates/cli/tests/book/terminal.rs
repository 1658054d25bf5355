//! What is typed at a terminal: commands after `$ `, and below each what it answers.
//!
//! Answers are compared line by line, spaces apart. Integers must agree, other numbers to one unit of the last digit shown. `…` ends
//! a line early; alone on a line it stands for any number of lines. A command must succeed unless `$ echo $?` follows and
//! shows another code. The answer of a command without lines below it is not compared.

use std::path::Path;
use std::process::{Command, Output};

/// Run the command in a folder.
pub fn daedal(arguments: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_daedal"));
    command.args(arguments).current_dir(folder).output().expect("the command runs")
}

/// Run what is typed; what differs from what is shown.
pub fn run(typed: &str, folder: &Path) -> Result<(), String> {
    // commands of other programs are shown without a prompt
    let Some(typed) = typed.strip_prefix("$ ") else { return Ok(()) };
    let mut code = 0;
    for step in typed.split("\n$ ") {
        let (line, shown) = step.split_once('\n').unwrap_or((step, ""));
        if line == "echo $?" {
            let wanted = shown.trim().parse::<i32>().map_err(|_| "no code below echo $?".to_string())?;
            if code != wanted {
                return Err(format!("the code is {code} instead of {wanted}"));
            }
            code = 0;
            continue;
        }
        if code != 0 {
            return Err(format!("the command before `{line}` exits with {code}"));
        }
        let words = words(line);
        let Some(("daedal", arguments)) = words.split_first().map(|(first, rest)| (first.as_str(), rest)) else {
            return Err(format!("`{line}` is no daedal command"));
        };
        let output = daedal(&arguments.iter().map(String::as_str).collect::<Vec<_>>(), folder);
        let answer = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        code = output.status.code().ok_or("ended by a signal")?;
        compare(shown.trim_end(), answer.trim_end())
            .map_err(|what| format!("`{line}`: {what}\nit answers\n{answer}"))?;
    }
    if code == 0 { Ok(()) } else { Err(format!("the last command exits with {code}")) }
}

/// Words of a command line; quotes hold spaces together.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut quote) = (vec![String::new()], None);
    for c in line.chars() {
        match (c, quote) {
            (c, Some(q)) if c == q => quote = None,
            ('\'' | '"', None) => quote = Some(c),
            (' ', None) => words.push(String::new()),
            (c, _) => words.last_mut().expect("one at least").push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn compare(shown: &str, answer: &str) -> Result<(), String> {
    if shown.is_empty() {
        return Ok(());
    }
    let mut lines = answer.lines();
    let mut skip = false;
    for line in shown.lines() {
        if line.trim() == "…" {
            skip = true;
            continue;
        }
        let found = if skip {
            lines.any(|actual| same(line, actual))
        } else {
            lines.next().is_some_and(|actual| same(line, actual))
        };
        if !found {
            return Err(format!("the line `{line}` is not there, or not in this place"));
        }
        skip = false;
    }
    match lines.next() {
        Some(more) if !skip => Err(format!("the line `{more}` is not shown")),
        _ => Ok(()),
    }
}

/// Does a line answer as it is shown?
fn same(shown: &str, actual: &str) -> bool {
    let (shown, open) = shown.split_once('…').map_or((shown, false), |(before, _)| (before, true));
    let (shown, actual) = (tokens(shown), tokens(actual));
    if shown.len() > actual.len() || (!open && shown.len() < actual.len()) {
        return false;
    }
    let last = shown.len();
    shown.iter().zip(&actual).enumerate().all(|(k, (s, a))| agree(s, a) || (open && k + 1 == last && a.starts_with(s)))
}

/// Do two words agree, as numbers where both are?
fn agree(shown: &str, actual: &str) -> bool {
    if shown == actual {
        return true;
    }
    match (shown.parse::<f64>(), actual.parse::<f64>()) {
        (Ok(x), Ok(y)) if shown.contains(['.', 'e']) => (x - y).abs() <= unit(shown) * (1.0 + 1e-6),
        _ => false,
    }
}

/// One unit of the last digit.
fn unit(number: &str) -> f64 {
    let (mantissa, exponent) = number.split_once('e').unwrap_or((number, "0"));
    let digits = mantissa.split_once('.').map_or(0, |(_, behind)| behind.len());
    10_f64.powi(exponent.parse::<i32>().unwrap_or(0) - digits as i32)
}

/// Numbers, words and single signs.
fn tokens(line: &str) -> Vec<String> {
    let characters: Vec<char> = line.chars().collect();
    let mut tokens = vec![];
    let mut k = 0;
    while k < characters.len() {
        let start = k;
        let digit = |k: usize| characters.get(k).is_some_and(char::is_ascii_digit);
        let sign = |k: usize| matches!(characters.get(k), Some('-' | '+'));
        let number = digit(k) || (sign(k) && digit(k + 1));
        k += 1;
        if number {
            while digit(k) || (characters.get(k) == Some(&'.') && digit(k + 1)) {
                k += 1;
            }
            if characters.get(k) == Some(&'e') && (digit(k + 1) || (sign(k + 1) && digit(k + 2))) {
                k += 2;
                while digit(k) {
                    k += 1;
                }
            }
        } else if characters[start].is_alphabetic() {
            while characters.get(k).is_some_and(|c| c.is_alphanumeric() || *c == '_') {
                k += 1;
            }
        } else if characters[start].is_whitespace() {
            continue;
        }
        tokens.push(characters[start..k].iter().collect());
    }
    tokens
}

#[test]
fn lines_agree_as_far_as_shown() {
    for (shown, actual) in [
        ("x = 1.25", "x   =  1.2512345"),
        ("lambda.rod 10.79499…", "  lambda.rod   10.794999999999998   1.2e-7"),
        ("reached the end t = 5.0 in …", "reached the end t = 5.0 in 0.002 s"),
        ("…", "anything"),
        ("error 2e-8", "error 1.5e-8"),
        ("a longer wo…", "a longer word"),
    ] {
        assert!(same(shown, actual), "{shown} / {actual}");
    }
    for (shown, actual) in [
        ("x = 1.25", "x = 1.27"),
        ("x = 1.25", "y = 1.25"),
        ("197 steps", "198 steps"),
        ("x = 1.0", "x = 1.0 and more"),
        ("x = 1.0 and more", "x = 1.0"),
        ("x = -1.0…", "x = 1.0"),
    ] {
        assert!(!same(shown, actual), "{shown} / {actual}");
    }
}

#[test]
fn lines_may_be_left_out_where_marked() {
    assert!(compare("a\n…\nc", "a\nb\nb\nc").is_ok());
    assert!(compare("a\n…", "a\nb").is_ok());
    assert!(compare("a\nc", "a\nb\nc").is_err());
    assert!(compare("a", "a\nb").is_err());
    assert!(compare("…\nd", "a\nb\nc").is_err());
}

#[test]
fn quotes_hold_words_together() {
    assert_eq!(words("daedal solve 'a b' --set m[2]=1"), ["daedal", "solve", "a b", "--set", "m[2]=1"]);
}
