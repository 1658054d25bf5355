//! The text of a model file.

use crate::diagnostic::plain;
use daedal_multibody::vector::{IDENTITY, Matrix3, Vector, norm, quaternion_of};
use daedal_multibody::{Form, Shape};
use std::fmt::Write;

/// A value of a key.
#[derive(Clone, Debug)]
pub(super) enum WrittenValue {
    Text(String),
    Words(Vec<String>),
    Number(f64),
    Truth(bool),
    Vector(Vector<f64>),
    Vectors([Vector<f64>; 2]),
    /// xx, yy, zz, or all six entries where others are not zero.
    Inertia(Matrix3<f64>),
    Rotation(Matrix3<f64>),
    Shapes(Vec<Shape>),
}

/// One `[[…]]` table.
#[derive(Clone, Debug)]
pub(super) struct WrittenTable {
    /// Where it comes from.
    pub comment: String,
    pub entries: Vec<(&'static str, WrittenValue)>,
    /// Does it stand in comments only?
    pub off: bool,
}

impl WrittenTable {
    pub fn new(comment: String) -> Self {
        WrittenTable { comment, entries: Vec::new(), off: false }
    }
    pub fn with(mut self, key: &'static str, value: WrittenValue) -> Self {
        self.entries.push((key, value));
        self
    }
    pub fn text(self, key: &'static str, text: impl Into<String>) -> Self {
        self.with(key, WrittenValue::Text(text.into()))
    }
}

/// Everything that is written.
#[derive(Clone, Debug, Default)]
pub(super) struct WrittenRobot {
    pub name: String,
    pub source: String,
    pub notes: Vec<String>,
    pub gravity: Option<Vector<f64>>,
    /// Name, number, comment.
    pub parameters: Vec<(String, f64, String)>,
    pub bodies: Vec<WrittenTable>,
    pub points: Vec<WrittenTable>,
    pub joints: Vec<WrittenTable>,
    pub forces: Vec<WrittenTable>,
}

/// The interval of time that is written; nothing in a robot's file says one.
const TIME: &str = "[0, 1]";

impl WrittenRobot {
    /// The file.
    pub fn text(&self) -> String {
        let mut text = String::new();
        // writing to a string cannot fail
        let _ = writeln!(
            text,
            "# bodies, joints and forces in world coordinates of one position, imported from {}",
            one_line(&self.source)
        );
        for note in &self.notes {
            let _ = writeln!(text, "# {}", one_line(note));
        }
        let _ = writeln!(
            text,
            "\n[model]\nname = {}\nsource = {}\ntime = {TIME}",
            quoted(&self.name),
            quoted(&self.source)
        );
        if !self.parameters.is_empty() {
            text.push_str("\n[parameters]\n");
            for (name, value, comment) in &self.parameters {
                let _ = writeln!(text, "{name} = {}  # {}", number(*value, 0.0), one_line(comment));
            }
        }
        if let Some(gravity) = self.gravity {
            let _ = writeln!(text, "\n[world]\ngravity = {}", vector(gravity));
        }
        for (title, tables) in
            [("bodies", &self.bodies), ("points", &self.points), ("joints", &self.joints), ("forces", &self.forces)]
        {
            for table in tables {
                let _ = write!(text, "\n# {}\n", one_line(&table.comment));
                let before = if table.off { "# " } else { "" };
                let _ = writeln!(text, "{before}[[{title}]]");
                for (key, value) in &table.entries {
                    let _ = writeln!(text, "{before}{key} = {}", written(value));
                }
            }
        }
        text
    }
}

/// A text of others in a comment.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// A TOML string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push(' '),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

fn written(value: &WrittenValue) -> String {
    match value {
        WrittenValue::Text(text) => quoted(text),
        WrittenValue::Words(words) => {
            format!("[{}]", words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(", "))
        }
        WrittenValue::Number(x) => number(*x, 0.0),
        WrittenValue::Truth(truth) => truth.to_string(),
        WrittenValue::Vector(a) => vector(*a),
        WrittenValue::Vectors([a, b]) => format!("[{}, {}]", vector(*a), vector(*b)),
        WrittenValue::Inertia(J) => inertia(J),
        WrittenValue::Rotation(R) => rotation(R),
        WrittenValue::Shapes(shapes) => {
            let lines: Vec<String> = shapes.iter().map(|one| format!("  {},\n", shape(one))).collect();
            format!("[\n{}]", lines.concat())
        }
    }
}

/// `{ quaternion = […] }`.
fn rotation(R: &Matrix3<f64>) -> String {
    let q = quaternion_of(R).map(|x| number(x, 1.0));
    format!("{{ quaternion = [{}] }}", q.join(", "))
}

/// Is it no rotation, to rounding?
pub(super) fn is_identity(R: &Matrix3<f64>) -> bool {
    R.iter().flatten().zip(IDENTITY.iter().flatten()).all(|(x, y)| (x - y).abs() <= 4.0 * f64::EPSILON)
}

fn inertia(J: &Matrix3<f64>) -> String {
    let size = J.iter().flatten().fold(0.0f64, |size, x| size.max(x.abs()));
    let entries = [J[0][0], J[1][1], J[2][2], J[0][1], J[0][2], J[1][2]].map(|x| number(x, size));
    let diagonal = entries[3..].iter().all(|entry| entry == "0");
    format!("[{}]", if diagonal { &entries[..3] } else { &entries[..] }.join(", "))
}

fn shape(Shape { form, at, rotation: R }: &Shape) -> String {
    let written = match form {
        Form::Box { size } => format!("box = {{ size = {} }}", vector(*size)),
        Form::Cylinder { radius, length, .. } => {
            format!("cylinder = {{ radius = {}, length = {} }}", number(*radius, 0.0), number(*length, 0.0))
        }
        Form::Sphere { radius } => format!("sphere = {{ radius = {} }}", number(*radius, 0.0)),
    };
    let turns = !matches!(form, Form::Sphere { .. }) && !is_identity(R);
    let turned = if turns { format!(", rotation = {}", rotation(R)) } else { String::new() };
    format!("{{ {written}, at = {}{turned} }}", vector(*at))
}

fn vector(a: Vector<f64>) -> String {
    format!("[{}]", a.map(|x| number(x, norm(a))).join(", "))
}

/// A number: with 15 digits where that is the same to rounding, zero where it is nothing beside `size`.
pub(super) fn number(x: f64, size: f64) -> String {
    if x.abs() <= 2.0 * f64::EPSILON * size {
        return "0".into();
    }
    let short: f64 = format!("{x:.14e}").parse().unwrap_or(x);
    plain(if (short - x).abs() <= 4.0 * f64::EPSILON * x.abs() { short } else { x })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_where_that_is_the_same_to_rounding() {
        assert_eq!(number(0.1 + 0.2, 0.0), "0.3");
        assert_eq!(number(1e-17, 1.0), "0");
        assert_eq!(number(1e-17, 0.0), "1e-17");
        assert_eq!(number(2.0, 0.0), "2");
        // digits that somebody gave are kept
        assert_eq!(number(0.123456789012345678, 0.0), "0.12345678901234568");
    }

    #[test]
    fn names_of_others_cannot_end_their_string() {
        assert_eq!(quoted("a\"b\\c\nd"), "\"a\\\"b\\\\c d\"");
        assert_eq!(one_line("a\nb"), "a b");
    }
}
