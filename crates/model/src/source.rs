//! Places in a model file, and formulas that know where their characters stand in it.
//!
//! A formula is a TOML string. Escapes, line breaks after a backslash and the quotes themselves move its characters;
//! [`DecodedText`] maps every byte of the decoded text back to the file.

use std::ops::Range;

/// From here to there in the file, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The smallest span that contains both.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

impl From<Range<usize>> for Span {
    fn from(range: Range<usize>) -> Self {
        Span { start: range.start, end: range.end }
    }
}

impl From<Span> for miette::SourceSpan {
    fn from(span: Span) -> Self {
        (span.start, span.end.saturating_sub(span.start)).into()
    }
}

/// The decoded text of a TOML string or key.
#[derive(Clone, Debug)]
pub(crate) struct DecodedText {
    /// What the author means.
    pub value: String,
    /// The whole string in the file, with its quotes.
    pub span: Span,
    /// Where the bytes of `value` stand in the file.
    places: BytePlaces,
}

#[derive(Clone, Debug)]
enum BytePlaces {
    /// One after the other, beginning here.
    From(usize),
    /// Each byte, and the end.
    Each(Vec<usize>),
    /// Not found out: only the whole string can be shown.
    Whole,
}

impl DecodedText {
    /// `value` was read from `file[span]`.
    pub fn new(file: &str, span: Span, value: &str) -> Self {
        let places = file.get(span.start..span.end).map_or(BytePlaces::Whole, |raw| places(raw, span.start, value));
        DecodedText { value: value.to_string(), span, places }
    }

    /// A text that stands in no file.
    pub fn bare(value: &str) -> Self {
        DecodedText { value: value.to_string(), span: Span { start: 0, end: value.len() }, places: BytePlaces::From(0) }
    }

    /// Where bytes of the decoded text stand in the file.
    pub fn place(&self, range: Range<usize>) -> Span {
        match &self.places {
            BytePlaces::From(start) => Span { start: start + range.start, end: start + range.end },
            BytePlaces::Each(each) => {
                let at = |k: usize| each.get(k).copied().unwrap_or(self.span.end);
                // an escape is shown whole: up to where the next character begins
                Span { start: at(range.start), end: at(range.end).max(at(range.start)) }
            }
            BytePlaces::Whole => self.span,
        }
    }
}

/// Decode `raw` once more beside the parser and note where each byte came from.
fn places(raw: &str, start: usize, value: &str) -> BytePlaces {
    let quotes = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|q| raw.starts_with(q));
    let Some(quote) = quotes.filter(|q| raw.len() >= 2 * q.len() && raw.ends_with(q)) else {
        return if raw == value { BytePlaces::From(start) } else { BytePlaces::Whole };
    };
    let mut at = quote.len();
    let end = raw.len() - quote.len();
    if quote.len() == 3 {
        // the first line break does not count
        if raw[at..end].starts_with("\r\n") {
            at += 2;
        } else if raw[at..end].starts_with('\n') {
            at += 1;
        }
    }
    if raw[at..end] == *value {
        return BytePlaces::From(start + at);
    }
    let mut decoded = String::with_capacity(value.len());
    let mut each = Vec::with_capacity(value.len() + 1);
    let mut push = |decoded: &mut String, c: char, from: usize| {
        decoded.push(c);
        each.extend(std::iter::repeat_n(start + from, c.len_utf8()));
    };
    while at < end {
        let rest = &raw[at..end];
        let Some(c) = rest.chars().next() else { break };
        if c == '\\' && quote.starts_with('"') {
            let Some((character, length)) = escape(rest) else { return BytePlaces::Whole };
            if let Some(character) = character {
                push(&mut decoded, character, at);
            }
            at += length;
        } else if rest.starts_with("\r\n") {
            push(&mut decoded, '\n', at);
            at += 2;
        } else {
            push(&mut decoded, c, at);
            at += c.len_utf8();
        }
    }
    each.push(start + end);
    if decoded == value { BytePlaces::Each(each) } else { BytePlaces::Whole }
}

/// The character of an escape at the beginning of `rest`, if it stands for one, and its length.
fn escape(rest: &str) -> Option<(Option<char>, usize)> {
    let second = rest[1..].chars().next()?;
    let hexadecimal = |digits: usize| {
        let code = u32::from_str_radix(rest.get(2..2 + digits)?, 16).ok()?;
        Some((Some(char::from_u32(code)?), 2 + digits))
    };
    match second {
        'b' => Some((Some('\u{8}'), 2)),
        't' => Some((Some('\t'), 2)),
        'n' => Some((Some('\n'), 2)),
        'f' => Some((Some('\u{c}'), 2)),
        'r' => Some((Some('\r'), 2)),
        'e' => Some((Some('\u{1b}'), 2)),
        '"' => Some((Some('"'), 2)),
        '\\' => Some((Some('\\'), 2)),
        'x' => hexadecimal(2),
        'u' => hexadecimal(4),
        'U' => hexadecimal(8),
        // the end of a line: all blanks up to the next character are left out
        ' ' | '\t' | '\r' | '\n' => {
            let blanks = rest[1..].len() - rest[1..].trim_start_matches([' ', '\t', '\r', '\n']).len();
            Some((None, 1 + blanks))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The place of `needle` of the decoded value, as text of the file.
    fn shown<'f>(file: &'f str, needle: &str) -> &'f str {
        let table = toml::de::DeTable::parse(file).unwrap();
        let (_, item) = table.get_ref().iter().next().unwrap();
        let text = DecodedText::new(file, item.span().into(), item.get_ref().as_str().unwrap());
        let at = text.value.find(needle).unwrap();
        let span = text.place(at..at + needle.len());
        &file[span.start..span.end]
    }

    #[test]
    fn plain_strings_are_shifted_by_their_quotes() {
        assert_eq!(shown("a = \"x + yy\"", "yy"), "yy");
        assert_eq!(shown("a = 'x + yy'", "yy"), "yy");
    }

    #[test]
    fn escapes_do_not_move_the_place() {
        assert_eq!(shown("a = \"x\\t+\\u00e4 yy\"", "yy"), "yy");
        assert_eq!(shown("a = \"x\\t+\\u00e4 yy\"", "ä"), "\\u00e4");
    }

    #[test]
    fn lines_of_long_strings_are_found() {
        assert_eq!(shown("a = \"\"\"\nx +\n  yy\"\"\"", "yy"), "yy");
        assert_eq!(shown("a = \"\"\"\r\nx +\r\n  yy\"\"\"", "yy"), "yy");
        assert_eq!(shown("a = \"\"\"x + \\\n   yy\"\"\"", "yy"), "yy");
        assert_eq!(shown("a = '''\nx +\n  yy'''", "yy"), "yy");
    }
}
