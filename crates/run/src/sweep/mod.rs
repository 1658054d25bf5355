//! Runs of one model with many values of its parameters, and their files. A table of text and a page are for others to read; what is read back is
//! an archive of NumPy arrays. `header` is a text that holds names, statuses and messages as
//! JSON, `run` the numbers of the runs, `parameters` their values (runs, parameters), `t` the times that were kept, if not only the end was,
//! `t_end` and `steps` how far each run came and in how many steps. Every column has an array (runs, times), or (runs,) at the end.
//!
//! A value that a run did not reach is NaN. How long a run took is not written: the same sweep gives the same bytes, on any number of threads.

mod csv;

use crate::error::{ReadError, WriteError};
use crate::npz::{Archive, ArchiveReader, array_names};
use crate::page;
use crate::run::{ColumnKind, Ending};
use serde::{Deserialize, Serialize};
use std::io::{Read, Seek, Write};
use std::path::Path;
use zip::{ZipArchive, ZipWriter};

/// The tag of its files.
pub const FORMAT: &str = "daedal sweep";
const VERSION: u64 = 1;

/// Many runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sweep {
    /// Name of the model.
    pub model: String,
    /// Names of the parameters that vary.
    pub parameters: Vec<String>,
    /// The values of each of them, where every combination is a run, the last parameter running fastest.
    pub grid: Option<Vec<Vec<f64>>>,
    /// How many runs there are, those that are not here included.
    pub size: usize,
    /// The times that were kept; absent if only the end of every run was.
    pub times: Option<Vec<f64>>,
    /// Names and kinds of the columns.
    pub columns: Vec<(String, ColumnKind)>,
    /// The runs that were made, by rising number.
    pub runs: Vec<SweptRun>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq)]
pub struct SweptRun {
    /// Its number, from 0.
    pub number: usize,
    /// The values of the parameters.
    pub parameters: Vec<f64>,
    /// How it ended.
    pub status: Ending,
    /// Why it did not reach its end; empty if it did.
    pub message: String,
    /// The time that it reached; NaN if it could not start.
    pub t_end: f64,
    /// How many steps it made.
    pub steps: u64,
    /// How long it took, where that is known.
    pub seconds: Option<f64>,
    /// The columns at the first time, at the second one, and so on.
    pub values: Vec<f64>,
}

#[derive(Serialize, Deserialize)]
struct SweepHeader {
    format: String,
    version: u64,
    model: String,
    parameters: Vec<String>,
    grid: Option<Vec<Vec<f64>>>,
    size: usize,
    columns: Vec<(String, ColumnKind)>,
    arrays: Vec<String>,
    at_times: bool,
    status: Vec<Ending>,
    message: Vec<String>,
}

impl Sweep {
    /// How many points of a run are kept.
    pub fn points(&self) -> usize {
        self.times.as_ref().map_or(1, Vec::len)
    }

    /// One column of all runs, point by point.
    pub fn column(&self, k: usize) -> Vec<f64> {
        let (points, columns) = (self.points(), self.columns.len());
        let of_run = |run: &SweptRun| (0..points).map(|i| run.values[i * columns + k]).collect::<Vec<_>>();
        self.runs.iter().flat_map(of_run).collect()
    }

    /// Write it in one of the formats.
    pub fn write_as(&self, format: SweepFormat, file: impl Write) -> Result<(), WriteError> {
        match format {
            SweepFormat::Npz => self.write(file),
            SweepFormat::Csv => csv::write(self, file),
            SweepFormat::Html => page::sweep::write(self, file),
        }
    }

    /// Write it as NumPy arrays.
    pub fn write(&self, file: impl Write) -> Result<(), WriteError> {
        let arrays = array_names(self.columns.iter().map(|(name, _)| name.as_str()).map(array_name));
        let header = SweepHeader {
            format: FORMAT.to_string(),
            version: VERSION,
            model: self.model.clone(),
            parameters: self.parameters.clone(),
            grid: self.grid.clone(),
            size: self.size,
            columns: self.columns.clone(),
            arrays: arrays.clone(),
            at_times: self.times.is_some(),
            status: self.runs.iter().map(|run| run.status).collect(),
            message: self.runs.iter().map(|run| run.message.clone()).collect(),
        };
        let header = serde_json::to_string(&header).map_err(std::io::Error::from)?;
        let mut archive = Archive(ZipWriter::new_stream(file));
        archive.text("header", &header)?;
        let n = self.runs.len();
        archive.list("run", &self.runs.iter().map(|run| run.number as u64).collect::<Vec<_>>())?;
        let values: Vec<f64> = self.runs.iter().flat_map(|run| run.parameters.iter().copied()).collect();
        archive.shaped("parameters", &values, &[n, self.parameters.len()])?;
        archive.list("t_end", &self.runs.iter().map(|run| run.t_end).collect::<Vec<_>>())?;
        archive.list("steps", &self.runs.iter().map(|run| run.steps).collect::<Vec<_>>())?;
        if let Some(times) = &self.times {
            archive.list("t", times)?;
        }
        for (k, array) in arrays.iter().enumerate() {
            match &self.times {
                Some(times) => archive.shaped(array, &self.column(k), &[n, times.len()])?,
                None => archive.list(array, &self.column(k))?,
            }
        }
        archive.0.finish()?;
        Ok(())
    }

    /// Read a file.
    pub fn read(file: impl Read + Seek) -> Result<Sweep, ReadError> {
        let mut archive = ArchiveReader(ZipArchive::new(file)?);
        let text = archive.text("header")?;
        let key = |cause| ReadError::Json { key: String::new(), cause };
        let header: SweepHeader = serde_json::from_str(&text).map_err(key)?;
        if header.format != FORMAT {
            return Err(ReadError::Format { found: header.format });
        }
        if header.version > VERSION {
            return Err(ReadError::Version { found: header.version });
        }
        let numbers: Vec<u64> = archive.list("run", None)?;
        let (n, k) = (numbers.len(), header.parameters.len());
        let missing = |what: &str| ReadError::Missing { what: what.to_string() };
        if header.status.len() != n || header.message.len() != n || header.arrays.len() != header.columns.len() {
            return Err(missing("status, message and array for everything that it lists"));
        }
        let parameters = archive.shaped("parameters", 2, n * k)?;
        let t_end: Vec<f64> = archive.list("t_end", Some(n))?;
        let steps: Vec<u64> = archive.list("steps", Some(n))?;
        let times: Option<Vec<f64>> = if header.at_times { Some(archive.list("t", None)?) } else { None };
        let points = times.as_ref().map_or(1, Vec::len);
        let mut columns = Vec::new();
        for array in &header.arrays {
            columns.push(archive.shaped(array, if header.at_times { 2 } else { 1 }, n * points)?);
        }
        let run = |i: usize| SweptRun {
            number: numbers[i] as usize,
            parameters: parameters[i * k..(i + 1) * k].to_vec(),
            status: header.status[i],
            message: header.message[i].clone(),
            t_end: t_end[i],
            steps: steps[i],
            seconds: None,
            values: (i * points..(i + 1) * points).flat_map(|row| columns.iter().map(move |c| c[row])).collect(),
        };
        let runs = (0..n).map(run).collect();
        let SweepHeader { model, parameters, grid, size, columns, .. } = header;
        Ok(Sweep { model, parameters, grid, size, times, columns, runs })
    }
}

/// Names that mean something else here are no names of arrays.
fn array_name(name: &str) -> &str {
    if ["run", "parameters", "t_end", "steps"].contains(&name) { "" } else { name }
}

/// How a sweep is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SweepFormat {
    /// NumPy arrays, which can be read back.
    Npz,
    /// A table of text.
    Csv,
    /// A page for people.
    Html,
}

impl SweepFormat {
    /// All of them.
    pub const ALL: [SweepFormat; 3] = [SweepFormat::Npz, SweepFormat::Csv, SweepFormat::Html];

    /// The format that the ending of a name stands for.
    pub fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?;
        SweepFormat::ALL.into_iter().find(|format| format.ending() == ending)
    }

    /// The ending of its files.
    pub fn ending(self) -> &'static str {
        match self {
            SweepFormat::Npz => "npz",
            SweepFormat::Csv => "csv",
            SweepFormat::Html => "html",
        }
    }
}

#[cfg(test)]
pub(crate) mod example {
    use super::*;

    /// Two runs of a grid, of which the second failed; run k has the values 10 k, 10 k + 1, and so on.
    pub fn sweep(times: Option<Vec<f64>>) -> Sweep {
        let points = times.as_ref().map_or(1, Vec::len);
        let run = |number: usize, status, message: &str, t_end| SweptRun {
            number,
            parameters: vec![0.5, number as f64],
            status,
            message: message.to_string(),
            t_end,
            steps: 7,
            seconds: None,
            values: (0..2 * points).map(|k| k as f64 + 10.0 * number as f64).collect(),
        };
        Sweep {
            model: "pendulum".into(),
            parameters: vec!["L".into(), "v0".into()],
            grid: Some(vec![vec![0.5], vec![0.0, 1.0]]),
            size: 2,
            times,
            columns: vec![("x".into(), ColumnKind::Position), ("steps".into(), ColumnKind::Output)],
            runs: vec![run(0, Ending::End, "", 5.0), run(1, Ending::Failure, "it stopped", 2.5)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::example::sweep;
    use super::*;
    use std::io::Cursor;

    #[test]
    fn what_is_written_is_read() {
        for times in [None, Some(vec![0.0, 2.5, 5.0])] {
            let (sweep, mut file) = (sweep(times), Vec::new());
            sweep.write(&mut file).expect("memory");
            assert_eq!(Sweep::read(Cursor::new(&file)).expect("a sweep"), sweep);
        }
    }

    #[test]
    fn columns_are_told_run_by_run() {
        assert_eq!(sweep(Some(vec![0.0, 1.0])).column(1), [1.0, 3.0, 11.0, 13.0]);
    }

    #[test]
    fn a_run_file_is_no_sweep() {
        let (run, mut file) = (crate::Run::default(), Vec::new());
        run.write(crate::Format::Npz, &mut file).expect("memory");
        assert!(Sweep::read(Cursor::new(file)).is_err());
    }
}
