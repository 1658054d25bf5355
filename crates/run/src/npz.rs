//! The whole run as an archive of NumPy arrays: `t`, one array for each column under its name, `step_t`, `step_h`,
//! `step_order`, `step_newton`, `residual_position`, `residual_velocity`, `residual_acceleration`, `residual_invariant`,
//! `residual_constraint`, `residual_hidden`, and `header`, a text that holds everything else as JSON. A run through
//! several modes has `phase_mode`, `phase_t0`, `phase_t1`, `switch_t`, `switch_from`, `switch_to` besides, one with events `event_t`, which repeat the header. A moving picture has
//! `scene_t` and `scene_columns`, one column of its frames after the other. `numpy.load` reads it as it is: nothing is pickled.
//! The same run gives the same bytes: entries have no dates.

use crate::error::{ReadError, WriteError};
use crate::hybrid::ModeHistory;
use crate::json::{self, RunRecord};
use crate::npy::{self, ArrayElement, ArrayLimits, Fault};
use crate::run::{Run, StepRecords};
use crate::scene::SceneFrames;
use std::collections::HashSet;
use std::io::{Read, Seek, Write};
use zip::result::ZipError;
use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

/// Most bytes that a compressed array is unpacked to: deflate makes a thousand bytes of one, and a file of some megabytes would fill the
/// memory. 134 million numbers are more than any run that was written here; what is not compressed has no limit.
const MOST_INFLATED: u64 = 1 << 30;

/// Write a run.
pub fn write(run: &Run, file: impl Write) -> Result<(), WriteError> {
    run.check()?;
    let arrays = array_names(run.columns.iter().map(|column| column.name.as_str()));
    let mut archive = Archive(ZipWriter::new_stream(file));
    let mut record = RunRecord::of(run);
    record.arrays = Some(arrays.clone());
    // the numbers of a scene are arrays
    let frames = record.scene.as_mut().map(|scene| std::mem::take(&mut scene.frames));
    let header = serde_json::to_string(&record).map_err(std::io::Error::from)?;
    archive.text("header", &header)?;
    archive.list("t", &run.times)?;
    for (column, array) in run.columns.iter().zip(&arrays) {
        archive.list(array, &column.values)?;
    }
    if let Some(steps) = &run.steps {
        archive.list("step_t", &steps.t)?;
        archive.list("step_h", &steps.h)?;
        if let Some(order) = &steps.order {
            archive.list("step_order", order)?;
        }
        if let Some(newton) = &steps.newton {
            archive.list("step_newton", newton)?;
        }
        for (level, residuals) in steps.levels() {
            if let Some(residuals) = residuals {
                archive.list(&format!("residual_{level}"), residuals)?;
            }
        }
    }
    if let Some(ModeHistory { phases, switches, .. }) = &run.hybrid {
        // for NumPy only: the header says all of it
        let mode = |mode: usize| mode as u64;
        archive.list("phase_mode", &phases.iter().map(|p| mode(p.mode)).collect::<Vec<_>>())?;
        archive.list("phase_t0", &phases.iter().map(|p| p.t0).collect::<Vec<_>>())?;
        archive.list("phase_t1", &phases.iter().map(|p| p.t1).collect::<Vec<_>>())?;
        archive.list("switch_t", &switches.iter().map(|s| s.t).collect::<Vec<_>>())?;
        archive.list("switch_from", &switches.iter().map(|s| mode(s.from)).collect::<Vec<_>>())?;
        archive.list("switch_to", &switches.iter().map(|s| mode(s.to)).collect::<Vec<_>>())?;
    }
    if !run.events.is_empty() {
        archive.list("event_t", &run.events.iter().map(|event| event.t).collect::<Vec<_>>())?;
    }
    if let Some(frames) = frames {
        archive.list("scene_t", &frames.t)?;
        archive.list("scene_columns", &frames.columns.concat())?;
    }
    archive.0.finish()?;
    Ok(())
}

/// Read a run.
pub fn read(file: impl Read + Seek) -> Result<Run, ReadError> {
    let mut archive = ArchiveReader(ZipArchive::new(file)?);
    let header = archive.text("header")?;
    let mut record = json::parse(header.as_bytes())?;
    let arrays = record.arrays.take().ok_or_else(|| ReadError::Missing { what: "list arrays in its header".into() })?;
    let times: Vec<f64> = archive.list("t", None)?;
    let mut columns = Vec::new();
    for array in &arrays {
        columns.push(archive.list(array, Some(times.len()))?);
    }
    let steps = if archive.holds("step_t") {
        let t: Vec<f64> = archive.list("step_t", None)?;
        let n = t.len();
        Some(StepRecords {
            h: archive.list("step_h", Some(n))?,
            order: archive.list_if_there("step_order", n)?,
            newton: archive.list_if_there("step_newton", n)?,
            position: archive.list_if_there("residual_position", n)?,
            velocity: archive.list_if_there("residual_velocity", n)?,
            acceleration: archive.list_if_there("residual_acceleration", n)?,
            invariant: archive.list_if_there("residual_invariant", n)?,
            constraint: archive.list_if_there("residual_constraint", n)?,
            hidden: archive.list_if_there("residual_hidden", n)?,
            t,
        })
    } else {
        None
    };
    if let Some(scene) = &mut record.scene {
        let t: Vec<f64> = archive.list("scene_t", None)?;
        let values: Vec<f64> = archive.list("scene_columns", None)?;
        let columns = if t.is_empty() { Vec::new() } else { values.chunks(t.len()).map(<[f64]>::to_vec).collect() };
        scene.frames = SceneFrames { t, columns };
    }
    record.into_run(times, columns, steps)
}

/// Names of arrays for columns: the name of the column, unless it means something else here, is taken, or no archive
/// should have it; then `column_` with its place.
pub(crate) fn array_names<'n>(names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut taken: HashSet<String> = HashSet::new();
    let mut arrays = Vec::new();
    for (k, name) in names.enumerate() {
        let mut array = name.to_string();
        let mut tries = 0;
        while !is_possible(&array) || taken.contains(&array) {
            // a column may be called so, too
            array = if tries == 0 { format!("column_{k}") } else { format!("column_{k}_{tries}") };
            tries += 1;
        }
        taken.insert(array.clone());
        arrays.push(array);
    }
    arrays
}

fn is_possible(name: &str) -> bool {
    let blocks = ["step_", "residual_", "phase_", "switch_", "event_", "scene_"];
    let reserved = name == "t" || name == "header" || blocks.iter().any(|block| name.starts_with(block));
    let odd = |c: char| c.is_control() || matches!(c, '/' | '\\' | ':');
    !name.is_empty() && name.len() <= 200 && !reserved && !name.contains(odd)
}

pub(crate) struct Archive<W: Write>(pub ZipWriter<StreamWriter<W>>);

impl<W: Write> Archive<W> {
    pub fn list<T: ArrayElement>(&mut self, name: &str, values: &[T]) -> Result<(), WriteError> {
        Ok(npy::write(values, self.begin(name, values.len())?)?)
    }

    /// An array of this shape, the last index running fastest.
    pub fn shaped(&mut self, name: &str, values: &[f64], shape: &[usize]) -> Result<(), WriteError> {
        Ok(npy::write_shaped(values, shape, self.begin(name, values.len())?)?)
    }

    /// A text.
    pub fn text(&mut self, name: &str, text: &str) -> Result<(), WriteError> {
        Ok(npy::write_text(text, self.begin(name, text.len())?)?)
    }

    fn begin(&mut self, name: &str, values: usize) -> Result<&mut ZipWriter<StreamWriter<W>>, WriteError> {
        // four gigabytes are the limit of the short form
        let large = values as u64 * 8 > u64::from(u32::MAX) / 2;
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .last_modified_time(DateTime::default())
            .large_file(large);
        self.0.start_file(format!("{name}.npy"), options)?;
        Ok(&mut self.0)
    }
}

pub(crate) struct ArchiveReader<R>(pub ZipArchive<R>);

impl<R: Read + Seek> ArchiveReader<R> {
    fn holds(&self, name: &str) -> bool {
        self.0.index_for_name(&format!("{name}.npy")).is_some()
    }

    /// A list of so many numbers, where that is known.
    pub fn list<T: ArrayElement>(&mut self, name: &str, length: Option<usize>) -> Result<Vec<T>, ReadError> {
        self.array(name, length, |file, limits| npy::read(file, limits))
    }

    /// An array of so many dimensions and numbers.
    pub fn shaped(&mut self, name: &str, dimensions: usize, length: usize) -> Result<Vec<f64>, ReadError> {
        self.array(name, Some(length), |file, limits| npy::read_shaped(file, dimensions, limits))
    }

    fn list_if_there<T: ArrayElement>(&mut self, name: &str, length: usize) -> Result<Option<Vec<T>>, ReadError> {
        if self.holds(name) { self.list(name, Some(length)).map(Some) } else { Ok(None) }
    }

    pub fn text(&mut self, name: &str) -> Result<String, ReadError> {
        self.array(name, None, |file, limits| npy::read_text(file, limits))
    }

    fn array<T>(
        &mut self,
        name: &str,
        length: Option<usize>,
        read: impl Fn(&mut dyn Read, ArrayLimits) -> Result<T, Fault>,
    ) -> Result<T, ReadError> {
        let mut entry = match self.0.by_name(&format!("{name}.npy")) {
            Err(ZipError::FileNotFound) => return Err(ReadError::Missing { what: format!("array {name}") }),
            entry => entry?,
        };
        // what is not compressed is no longer than the file itself
        let bytes = if entry.compression() == CompressionMethod::Stored { u64::MAX } else { MOST_INFLATED };
        read(&mut entry, ArrayLimits { length, bytes }).map_err(|fault| match fault {
            Fault::Io(error) => ReadError::Archive(ZipError::Io(error)),
            Fault::Array(fault) => ReadError::Array { name: name.to_string(), fault },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_keep_their_names_where_an_archive_can() {
        let names = ["x", "lambda.rod", "vx'", "t", "step_h", "x", "a/b", "", "column_3"];
        let arrays = array_names(names.into_iter());
        assert_eq!(
            arrays,
            ["x", "lambda.rod", "vx'", "column_3", "column_4", "column_5", "column_6", "column_7", "column_8"]
        );
        let again = array_names(["column_1", ""].into_iter());
        assert_eq!(again, ["column_1", "column_1_1"]);
    }
}
