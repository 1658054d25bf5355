//! Text as it goes to a terminal: control characters are told and not sent, and numbers are no rows of zeros.

use std::borrow::Cow;
use std::fmt::Write;

/// Decimal numbers with more characters than this are written with an exponent: 17 digits, sign and point, and some zeros.
const LONGEST: usize = 24;

/// Characters that change what a terminal does or in which order it shows text, other than line breaks and tabulators.
pub fn is_control(c: char) -> bool {
    let turns = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (c.is_control() && c != '\n' && c != '\t') || turns
}

/// A text whose control characters are told and not sent: `\u001b`, as JSON and TOML write them.
pub fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(is_control) {
        return short(text);
    }
    let mut told = String::with_capacity(text.len());
    for c in text.chars() {
        if is_control(c) {
            let _ = write!(told, "\\u{:04x}", u32::from(c));
        } else {
            told.push(c);
        }
    }
    Cow::Owned(short(&told).into_owned())
}

/// Numbers such as 0.000…0118 with an exponent; all digits that they have stay.
fn short(text: &str) -> Cow<'_, str> {
    let is_part = |c: u8| c.is_ascii_digit() || c == b'.';
    let long = |run: &[u8]| run.len() > LONGEST && run.iter().all(|c| is_part(*c));
    if !text.as_bytes().windows(LONGEST + 1).any(long) {
        return Cow::Borrowed(text);
    }
    let mut told = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let end = rest[start..].find(|c: char| !c.is_ascii() || !is_part(c as u8)).map_or(rest.len(), |n| start + n);
        told.push_str(&rest[..start]);
        // a full stop behind a number is none of it
        let number = rest[start..end].trim_end_matches('.');
        match number.parse::<f64>() {
            Ok(x) if number.len() > LONGEST => {
                let _ = write!(told, "{x:?}");
            }
            _ => told.push_str(number),
        }
        told.push_str(&rest[start + number.len()..end]);
        rest = &rest[end..];
    }
    told.push_str(rest);
    Cow::Owned(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_told_and_not_sent() {
        assert_eq!(plain("a\tb\nλ"), "a\tb\nλ");
        assert_eq!(plain("\u{1b}[2J\u{7f}\u{9b}\u{202e}\r"), "\\u001b[2J\\u007f\\u009b\\u202e\\u000d");
    }

    #[test]
    fn tiny_and_huge_times_are_no_rows_of_zeros() {
        let text = format!("at t = {}: after λ = {}. And 0.1.", -1.18e-150, 2e200);
        assert_eq!(plain(&text), "at t = -1.18e-150: after λ = 2e200. And 0.1.");
        assert_eq!(plain("0.12345678901234567"), "0.12345678901234567");
    }
}
