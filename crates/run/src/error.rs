//! What can be wrong with a run file: what, and where.

use std::io;

/// Why a run file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file system said no.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The name does not say how the file is written, or says that it is no run file.
    #[error("the ending of its name does not say that it is a run file; those end in json, npz or csv")]
    Ending,
    /// A JSON file that is broken, or a key with an impossible value.
    #[error("{}", json_place(.key, .cause))]
    Json {
        /// The key, with places in lists; empty or `.` if the text is broken outside of any.
        key: String,
        /// What is wrong, with line and column.
        #[source]
        cause: serde_json::Error,
    },
    /// Another kind of file.
    #[error("it is no run file: its format is {found:?}, expected {:?}", crate::json::FORMAT)]
    Format {
        /// The tag that was found.
        found: String,
    },
    /// A file of a later version.
    #[error("it is a run file of version {found}; this program reads versions up to {}", crate::json::VERSION)]
    Version {
        /// The version that was found.
        found: u64,
    },
    /// A key or an array is absent.
    #[error("it has no {what}")]
    Missing {
        /// Which.
        what: String,
    },
    /// Broken text of a table.
    #[error("the table is broken")]
    Csv(#[source] ::csv::Error),
    /// A row that is longer or shorter than the line of names.
    #[error("line {line}: the row has {found} cells, but there are {expected} names")]
    Row {
        /// Line of the file, from 1.
        line: u64,
        /// How many cells it has.
        found: u64,
        /// How many names there are.
        expected: u64,
    },
    /// A cell that is no number.
    #[error("line {line}, column {column}: {text:?} is no number")]
    Cell {
        /// Line of the file, from 1.
        line: u64,
        /// Name of the column.
        column: String,
        /// The cell.
        text: String,
    },
    /// A quote that is opened and never closed.
    #[error("line {line}: a quote is opened here and never closed")]
    OpenQuote {
        /// Line of the file, from 1.
        line: u64,
    },
    /// A table without a column of times.
    #[error("the first column must hold the times and be called t; it is called {found:?}")]
    TimeColumn {
        /// What it is called.
        found: String,
    },
    /// A broken archive.
    #[error("the archive is broken or cut off")]
    Archive(#[from] zip::result::ZipError),
    /// An array that cannot be read.
    #[error("the array {name} cannot be read: {fault}")]
    Array {
        /// Its name in the archive.
        name: String,
        /// What is wrong with it.
        fault: ArrayFault,
    },
    /// Parts that do not fit together.
    #[error(transparent)]
    Inconsistent(#[from] Inconsistent),
}

impl From<::csv::Error> for ReadError {
    fn from(error: ::csv::Error) -> Self {
        match error.kind() {
            &::csv::ErrorKind::UnequalLengths { ref pos, expected_len, len } => {
                let line = pos.as_ref().map_or(0, ::csv::Position::line);
                ReadError::Row { line, found: len, expected: expected_len }
            }
            _ => ReadError::Csv(error),
        }
    }
}

/// What is wrong with an array of an archive.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArrayFault {
    /// It does not begin like a NumPy array.
    #[error("it does not begin like a NumPy array")]
    Magic,
    /// The description of the array makes no sense.
    #[error("its description {text:?} is not understood")]
    Description {
        /// The description.
        text: String,
    },
    /// Numbers of a kind that does not belong here.
    #[error("it holds {found}, expected {expected}")]
    Type {
        /// NumPy's letters for what was found.
        found: String,
        /// NumPy's letters for what is read.
        expected: &'static str,
    },
    /// More or fewer dimensions.
    #[error("it has {found} dimensions, expected {expected}")]
    Dimensions {
        /// How many it has.
        found: usize,
        /// How many it should have.
        expected: usize,
    },
    /// The bytes are not as many as the description says.
    #[error("it has {found} bytes of numbers, expected {expected}: the file may be cut off")]
    Bytes {
        /// How many there are.
        found: usize,
        /// How many the description says.
        expected: u128,
    },
    /// Not as many numbers as the rest of the file wants.
    #[error("it has {found} numbers, expected {expected}")]
    Length {
        /// How many its description says.
        found: u64,
        /// How many there should be.
        expected: usize,
    },
    /// Compressed data that would fill the memory.
    #[error("it would fill {bytes} bytes, more than the {most} that are read of a compressed array")]
    TooLarge {
        /// How many bytes it would have.
        bytes: u128,
        /// The limit.
        most: u64,
    },
    /// Text with something else than characters.
    #[error("its text holds {code:#x}, which is no character")]
    Text {
        /// The number that is no character.
        code: u32,
    },
}

/// Parts of a run that do not fit together.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Inconsistent {
    /// Lists whose lengths differ.
    #[error("{what} has {found} values, but there are {expected} {of}")]
    Length {
        /// What has the wrong length.
        what: String,
        /// Its length.
        found: usize,
        /// What it should be as long as.
        of: &'static str,
        /// How long that is.
        expected: usize,
    },
    /// A time that is NaN or infinite.
    #[error("{list}: the time at place {place} is {value:?}; times must be finite")]
    TimeWithoutValue {
        /// Which list.
        list: &'static str,
        /// Where, from 0.
        place: usize,
        /// The value.
        value: f64,
    },
    /// A mode that is not in the list of modes.
    #[error("{what}: place {place} names mode {mode}, but there are {modes} modes, counted from 0")]
    UnknownMode {
        /// Which list.
        what: &'static str,
        /// Where, from 0.
        place: usize,
        /// The mode.
        mode: usize,
        /// How many there are.
        modes: usize,
    },
    /// A picture that names what is not there.
    #[error("the scene cannot be drawn: {what}")]
    Scene {
        /// What is wrong.
        what: String,
    },
    /// A time before the one in front of it.
    #[error("{list}: the time falls from {before:?} to {value:?} at place {place}; times must not fall")]
    TimeFalls {
        /// Which list.
        list: &'static str,
        /// Where, from 0.
        place: usize,
        /// The time in front.
        before: f64,
        /// The time there.
        value: f64,
    },
    /// A time behind the one in front of it, in a run backward.
    #[error(
        "{list}: the time rises from {before:?} to {value:?} at place {place}; times of a run backward must not rise"
    )]
    TimeRises {
        /// Which list.
        list: &'static str,
        /// Where, from 0.
        place: usize,
        /// The time in front.
        before: f64,
        /// The time there.
        value: f64,
    },
}

/// Why a run could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The file system said no.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The archive could not be made.
    #[error("the archive could not be made")]
    Archive(#[from] zip::result::ZipError),
    /// Parts that do not fit together.
    #[error(transparent)]
    Inconsistent(#[from] Inconsistent),
    /// Neither a picture nor curves.
    #[error("there is nothing to draw: the run has no picture, and {why}")]
    NothingToDraw {
        /// Why there are no curves either.
        why: &'static str,
    },
}

fn json_place(key: &str, cause: &serde_json::Error) -> String {
    if cause.is_eof() {
        return "the file is cut off".to_string();
    }
    // outside of any key, or a list where the object should be
    if matches!(key, "" | "." | "?") || key.starts_with('[') {
        return "it is not written as a run file is".to_string();
    }
    format!("the value of {key} is not understood")
}
