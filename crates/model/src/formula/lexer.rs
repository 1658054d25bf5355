//! Words, numbers and signs of a formula.

use crate::diagnostic::Mistake;
use crate::source::{DecodedText, Span};
use std::fmt;

/// One word, number or sign with its place in the file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token {
    pub kind: TokenKind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TokenKind {
    Number(f64),
    Word(String),
    /// One of `+ - * / ^ ( ) [ ] , . .. = == != < <= > >=`.
    Sign(&'static str),
    End,
}

impl fmt::Display for TokenKind {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            TokenKind::Number(x) => write!(f, "the number {}", crate::diagnostic::plain(*x)),
            TokenKind::Word(word) => write!(f, "`{word}`"),
            TokenKind::Sign(sign) => write!(f, "`{sign}`"),
            TokenKind::End => f.write_str("the end of the formula"),
        }
    }
}

/// Longer signs first.
const SIGNS: [&str; 19] =
    ["..", "==", "!=", "<=", ">=", "+", "-", "*", "/", "^", "(", ")", "[", "]", ",", ".", "=", "<", ">"];

/// Cut a text into tokens; the last one is `End`.
pub(crate) fn tokens(text: &DecodedText) -> Result<Vec<Token>, Mistake> {
    let s = text.value.as_str();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(c) = s[at..].chars().next() {
        let rest = &s[at..];
        let (kind, length) = if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        } else if c.is_alphabetic() {
            let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
            (TokenKind::Word(rest[..length].to_string()), length)
        } else if c.is_ascii_digit() || (c == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit())) {
            let length = number_length(rest);
            let digits = rest[..length].replace('_', "");
            match digits.parse::<f64>() {
                Ok(x) if x.is_finite() => (TokenKind::Number(x), length),
                Ok(_) => {
                    return Err(Mistake::Syntax {
                        message: format!("the number {} is too large", &rest[..length]),
                        label: "larger than 1.8e308".to_string(),
                        at: text.place(at..at + length).into(),
                        help: None,
                    });
                }
                Err(_) => {
                    return Err(Mistake::Syntax {
                        message: format!("`{}` is not a number", &rest[..length]),
                        label: "digits are missing here".to_string(),
                        at: text.place(at..at + length).into(),
                        help: Some("numbers are written 1, 1.5, .5, 1e-3".to_string()),
                    });
                }
            }
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            (TokenKind::Sign(sign), sign.len())
        } else {
            return Err(strange(c, text.place(at..at + c.len_utf8())));
        };
        tokens.push(Token { kind, span: text.place(at..at + length) });
        at += length;
    }
    tokens.push(Token { kind: TokenKind::End, span: text.place(s.trim_end().len()..s.trim_end().len()) });
    Ok(tokens)
}

/// A character that no formula contains, with advice for those that other languages use.
fn strange(c: char, at: Span) -> Mistake {
    let help = match c {
        '&' => Some("write `and`".to_string()),
        '|' => Some("write `or`, or abs(x) for the absolute value".to_string()),
        '!' => Some("write `not`".to_string()),
        '\'' | '\u{2019}' => Some("a derivative is written der(x)".to_string()),
        '{' | '}' => Some("use round brackets".to_string()),
        '·' | '×' | '⋅' => Some("write `*`".to_string()),
        '−' | '–' => Some("write the minus sign of the keyboard, `-`".to_string()),
        '²' | '³' => Some("write ^2 or ^3".to_string()),
        '_' => Some("a name begins with a letter".to_string()),
        ';' => Some("entries are separated by commas".to_string()),
        '#' => Some("a comment stands outside of the string".to_string()),
        _ => None,
    };
    Mistake::Syntax {
        message: format!("`{}` has no meaning in a formula", c.escape_debug()),
        label: "this character".to_string(),
        at: at.into(),
        help,
    }
}

/// Length of the number at the beginning: digits, fraction, exponent; `1..N` is 1 and a range.
fn number_length(s: &str) -> usize {
    let bytes = s.as_bytes();
    let digits = |mut k: usize| {
        while bytes.get(k).is_some_and(|b| b.is_ascii_digit() || (*b == b'_' && k > 0)) {
            k += 1;
        }
        k
    };
    let mut k = digits(0);
    if bytes.get(k) == Some(&b'.') && bytes.get(k + 1) != Some(&b'.') {
        k = digits(k + 1);
    }
    if matches!(bytes.get(k), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(k + 1), Some(b'+' | b'-')));
        let end = digits(k + 1 + sign);
        // `2e` and `2exp(x)` are a number and a word unless digits follow
        let word = bytes.get(k + 1).is_some_and(u8::is_ascii_alphabetic);
        if !word {
            k = end;
        }
    }
    k
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(s: &str) -> Vec<TokenKind> {
        tokens(&DecodedText::bare(s)).unwrap().into_iter().map(|t| t.kind).collect()
    }

    #[test]
    fn numbers_are_read_as_in_rust() {
        for (text, x) in
            [("1", 1.0), ("1.5", 1.5), (".5", 0.5), ("1e-3", 1e-3), ("2.", 2.0), ("1_000", 1000.0), ("1E+2", 100.0)]
        {
            assert_eq!(kinds(text), [TokenKind::Number(x), TokenKind::End], "{text}");
        }
    }

    #[test]
    fn a_range_is_not_a_fraction() {
        assert_eq!(
            kinds("1..N"),
            [TokenKind::Number(1.0), TokenKind::Sign(".."), TokenKind::Word("N".to_string()), TokenKind::End]
        );
    }

    #[test]
    fn names_may_be_greek() {
        assert_eq!(kinds("φ_1"), [TokenKind::Word("φ_1".to_string()), TokenKind::End]);
    }

    #[test]
    fn a_number_without_exponent_digits_is_refused() {
        assert!(tokens(&DecodedText::bare("2e")).is_err());
        assert!(tokens(&DecodedText::bare("2e+")).is_err());
        assert!(tokens(&DecodedText::bare("1e999")).is_err());
        assert!(tokens(&DecodedText::bare("a ? b")).is_err());
    }
}
