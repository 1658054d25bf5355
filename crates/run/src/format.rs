//! How a run is written, by the ending of the name of its file.

use crate::error::{ReadError, WriteError};
use crate::run::Run;
use crate::{csv, json, npz, page, still};
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// How a run is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Columns as text.
    Csv,
    /// Everything as text.
    Json,
    /// Everything as NumPy arrays.
    Npz,
    /// A page for people, which cannot be read back.
    Html,
    /// Stills of the picture for papers, or curves, which cannot be read back.
    Svg,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 5] = [Format::Csv, Format::Json, Format::Npz, Format::Html, Format::Svg];

    /// The format that the ending of a name stands for.
    pub fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?;
        Format::ALL.into_iter().find(|format| format.ending() == ending)
    }

    /// The ending of its files.
    pub fn ending(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::Json => "json",
            Format::Npz => "npz",
            Format::Html => "html",
            Format::Svg => "svg",
        }
    }
}

impl Run {
    /// Write it.
    pub fn write(&self, format: Format, file: impl Write) -> Result<(), WriteError> {
        match format {
            Format::Csv => csv::write(self, file),
            Format::Json => json::write(self, file),
            Format::Npz => npz::write(self, file),
            Format::Html => page::write(self, file),
            Format::Svg => still::write(self, file),
        }
    }

    /// Read a file; the ending of its name says how.
    pub fn read(path: &Path) -> Result<Run, ReadError> {
        match Format::of(path) {
            Some(Format::Csv) => csv::read(File::open(path)?),
            Some(Format::Json) => json::read(File::open(path)?),
            Some(Format::Npz) => npz::read(File::open(path)?),
            Some(Format::Html | Format::Svg) | None => Err(ReadError::Ending),
        }
    }
}
