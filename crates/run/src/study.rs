//! A study: what `auto` costs against the best method of the catalogue, for many models at some tolerances, as plain data and as a page of
//! the book.
//!
//! The error is that of `auto` at its tolerance. What other methods need for the same error is read off between their own tolerances, on
//! straight lines between logarithms.

use crate::error::WriteError;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::io::Write;

/// The tag by which a study is known.
pub const FORMAT: &str = "daedal study";

/// Many models.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Study {
    /// [`FORMAT`].
    pub format: String,
    /// The command that made it.
    pub command: String,
    /// Tolerances, the largest first.
    pub tolerances: Vec<f64>,
    /// In the order in which they were named.
    pub models: Vec<StudiedModel>,
}

/// One model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StudiedModel {
    /// Name of the file, without its ending.
    pub model: String,
    /// `mechanism`, `general` or `modes`.
    pub kind: String,
    /// Why it is not compared.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub left_out: Option<String>,
    /// One for each tolerance at which `auto` reached the end.
    pub cells: Vec<StudyCell>,
}

/// One model at one tolerance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StudyCell {
    /// Relative and absolute.
    pub tolerance: f64,
    /// What `auto` took.
    pub auto: String,
    /// Its error at the end.
    pub error: f64,
    /// Its time, in microseconds.
    pub time: f64,
    /// Other methods with their times at the same error, the fastest first.
    pub others: Vec<(String, f64)>,
}

impl StudyCell {
    /// Time of `auto` over that of the best method, `auto` among them; none if nobody else reached that error.
    pub fn ratio(&self) -> Option<f64> {
        self.others.first().map(|(_, best)| (self.time / best).max(1.0))
    }
}

impl Study {
    /// All cells, with their models.
    pub fn cells(&self) -> impl Iterator<Item = (&StudiedModel, &StudyCell)> {
        self.models.iter().flat_map(|model| model.cells.iter().map(move |cell| (model, cell)))
    }

    /// How many cells there are, and how many of them lie within this ratio.
    pub fn within(&self, ratio: f64) -> (usize, usize) {
        let known: Vec<f64> = self.cells().filter_map(|(_, cell)| cell.ratio()).collect();
        (known.len(), known.iter().filter(|own| **own <= ratio).count())
    }

    /// Write it, a model to a line.
    pub fn write(&self, mut file: impl Write) -> Result<(), WriteError> {
        let text = |value: &dyn erased::Text| value.text();
        writeln!(file, "{{\"format\": {},", text(&self.format))?;
        writeln!(file, "\"command\": {},", text(&self.command))?;
        writeln!(file, "\"tolerances\": {},", text(&self.tolerances))?;
        writeln!(file, "\"models\": [")?;
        for (k, model) in self.models.iter().enumerate() {
            writeln!(file, "{}{}", text(model), if k + 1 < self.models.len() { "," } else { "" })?;
        }
        Ok(writeln!(file, "]}}")?)
    }

    /// Read what was written.
    pub fn read(text: &str) -> Result<Self, String> {
        let study: Study = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if study.format == FORMAT { Ok(study) } else { Err(format!("its format is not {FORMAT:?}")) }
    }

    /// The table in Markdown: a row for each model, ratio and choice for each tolerance.
    pub fn table(&self) -> String {
        let mut text = "| model | kind |".to_string();
        for tolerance in &self.tolerances {
            let _ = write!(text, " {tolerance:e} | auto | best |");
        }
        text.push_str("\n| --- | --- |");
        text.push_str(&" ---: | --- | --- |".repeat(self.tolerances.len()));
        text.push('\n');
        for model in self.models.iter().filter(|model| !model.cells.is_empty()) {
            let _ = write!(text, "| {} | {} |", model.model, model.kind);
            for tolerance in &self.tolerances {
                let cell = model.cells.iter().find(|cell| cell.tolerance == *tolerance);
                let _ = match cell.map(|cell| (cell, cell.ratio(), cell.others.first())) {
                    Some((cell, Some(ratio), Some((best, _)))) => {
                        let best = if ratio <= 1.0 || *best == cell.auto { "" } else { best };
                        write!(text, " {ratio:.2} | {} | {best} |", cell.auto)
                    }
                    Some((cell, _, _)) => write!(text, " – | {} | |", cell.auto),
                    None => write!(text, " | | |"),
                };
            }
            text.push('\n');
        }
        text
    }

    /// Models that are not compared, with the reason.
    pub fn left_out(&self) -> String {
        let mut text = String::new();
        for model in &self.models {
            if let Some(why) = &model.left_out {
                let _ = writeln!(text, "| {} | {} | {why} |", model.model, model.kind);
            }
        }
        if text.is_empty() { text } else { format!("| model | kind | why |\n| --- | --- | --- |\n{text}") }
    }
}

mod erased {
    //! Values as JSON on one line.

    /// Something that has a text.
    pub trait Text {
        fn text(&self) -> String;
    }

    impl<T: serde::Serialize> Text for T {
        fn text(&self) -> String {
            serde_json::to_string(self).unwrap_or_default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn study() -> Study {
        let others = vec![("radau psf".to_string(), 50.0), ("geoms psf".to_string(), 61.0)];
        let cell = StudyCell { tolerance: 1e-4, auto: "geoms psf".into(), error: 2e-5, time: 60.0, others };
        Study {
            format: FORMAT.into(),
            command: "daedal study a.toml".into(),
            tolerances: vec![1e-4, 1e-6],
            models: vec![
                StudiedModel { model: "a".into(), kind: "mechanism".into(), left_out: None, cells: vec![cell] },
                StudiedModel {
                    model: "b".into(),
                    kind: "general".into(),
                    left_out: Some("no".into()),
                    ..StudiedModel::default()
                },
            ],
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let mut bytes = Vec::new();
        study().write(&mut bytes).expect("a file");
        let text = String::from_utf8(bytes).expect("text");
        assert_eq!(Study::read(&text), Ok(study()));
        assert!(Study::read("{}").is_err());
        assert_eq!(text.lines().count(), 7);
    }

    #[test]
    fn the_table_has_a_row_for_each_model() {
        assert_eq!(study().table().lines().nth(2), Some("| a | mechanism | 1.20 | geoms psf | radau psf | | | |"));
        assert_eq!(study().within(1.2), (1, 1));
        assert!(study().left_out().contains("| b | general | no |"));
    }
}
