//! The whole run as one JSON object. The same run gives the same bytes: keys have an order, and the time that the
//! computation took is not written. How numbers that JSON does not know are written: `number.rs`.

use crate::error::{ReadError, WriteError};
use crate::hybrid::{ModeHistory, ModeRecord, PhaseRecord, SwitchRecord};
use crate::number::{self, Ordered, absent};
use crate::run::{
    ChosenPlot, Column, ColumnKind, Ending, EventRecord, Header, LastPoint, ResidualRecord, Run, StepRecords,
    WarningRecord, same_length,
};
use crate::scene::Scene;
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};

/// The tag by which a run file is known.
pub const FORMAT: &str = "daedal run";
/// The version that is written, and the latest one that is read.
pub const VERSION: u64 = 1;

/// Write a run.
pub fn write(run: &Run, mut file: impl Write) -> Result<(), WriteError> {
    run.check()?;
    let mut record = RunRecord::of(run);
    record.times = Some(run.times.clone());
    record.states = Some((0..run.times.len()).map(|k| run.columns.iter().map(|c| c.values[k]).collect()).collect());
    record.steps.clone_from(&run.steps);
    serde_json::to_writer(&mut file, &record).map_err(std::io::Error::from)?;
    Ok(writeln!(file)?)
}

/// Read a run.
pub fn read(mut file: impl Read) -> Result<Run, ReadError> {
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    let mut record = parse(&text)?;
    let times = record.times.take().ok_or_else(|| missing("times"))?;
    let states = record.states.take().ok_or_else(|| missing("states"))?;
    let steps = record.steps.take();
    same_length("the list of states", states.len(), "times", times.len())?;
    let mut columns: Vec<Vec<f64>> = vec![Vec::with_capacity(times.len()); record.names.len()];
    for (k, state) in states.iter().enumerate() {
        same_length(&format!("the state at place {k}"), state.len(), "names", columns.len())?;
        for (column, x) in columns.iter_mut().zip(state) {
            column.push(*x);
        }
    }
    record.into_run(times, columns, steps)
}

/// The object in a text.
pub(crate) fn parse(text: &[u8]) -> Result<RunRecord, ReadError> {
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let record = serde_path_to_error::deserialize::<_, RunRecord>(&mut deserializer)
        .map_err(|error| ReadError::Json { key: error.path().to_string(), cause: error.into_inner() })
        .and_then(|record| match deserializer.end() {
            Ok(()) => Ok(record),
            Err(cause) => Err(ReadError::Json { key: String::new(), cause }),
        });
    // what is wrong with another kind of file, or one of a later version, is first of all just that
    let tag = match &record {
        Ok(record) => Some(Tag { format: record.format.clone(), version: record.version }),
        Err(_) => serde_json::from_slice(text).ok(),
    };
    match tag {
        Some(tag) if tag.format != FORMAT => Err(ReadError::Format { found: tag.format }),
        Some(tag) if tag.version > VERSION => Err(ReadError::Version { found: tag.version }),
        _ => record,
    }
}

/// What every version has.
#[derive(Deserialize)]
struct Tag {
    format: String,
    version: u64,
}

fn missing(key: &str) -> ReadError {
    ReadError::Missing { what: format!("key {key}") }
}

/// The object as it is written. Archives of arrays keep the numbers elsewhere and the rest as this object.
#[derive(Serialize, Deserialize)]
pub(crate) struct RunRecord {
    format: String,
    version: u64,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    source: Option<String>,
    #[serde(default, with = "number::object")]
    parameters: Vec<(String, f64)>,
    #[serde(default)]
    formulation: Option<String>,
    #[serde(default)]
    method: Option<String>,
    #[serde(default, with = "number::exact")]
    rtol: Option<f64>,
    #[serde(default, with = "number::exact")]
    atol: Option<f64>,
    #[serde(default, with = "number::object")]
    atol_of: Vec<(String, f64)>,
    #[serde(default, with = "number::exact")]
    t0: Option<f64>,
    #[serde(default, with = "number::exact")]
    tend: Option<f64>,
    #[serde(default)]
    ended: Option<Ending>,
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    decisions: Option<String>,
    #[serde(default, deserialize_with = "absent")]
    warnings: Vec<WarningRecord>,
    #[serde(default, with = "number::exact_or_absent")]
    undetermined: Vec<Vec<(String, f64)>>,
    #[serde(default, deserialize_with = "absent")]
    statistics: StatisticsRecord,
    names: Vec<String>,
    #[serde(default)]
    kinds: Option<Vec<ColumnKind>>,
    #[serde(default)]
    units: Option<Vec<Option<String>>>,
    /// names of the arrays in an archive
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) arrays: Option<Vec<String>>,
    #[serde(default, with = "number::exact")]
    t_end: Option<f64>,
    #[serde(default, rename = "final", with = "number::exact")]
    last: Option<Vec<f64>>,
    #[serde(default, deserialize_with = "absent")]
    events: Vec<EventRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hybrid: Option<HybridRecord>,
    #[serde(default, deserialize_with = "absent", skip_serializing_if = "Vec::is_empty")]
    plots: Vec<ChosenPlot>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) scene: Option<Box<Scene>>,
    #[serde(default, with = "number::exact", skip_serializing_if = "Option::is_none")]
    times: Option<Vec<f64>>,
    #[serde(default, with = "number::exact", skip_serializing_if = "Option::is_none")]
    states: Option<Vec<Vec<f64>>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    steps: Option<StepRecords>,
}

#[derive(Default, Serialize, Deserialize)]
struct StatisticsRecord {
    #[serde(flatten)]
    counters: Ordered<Option<u64>>,
    #[serde(default, deserialize_with = "absent")]
    max_residual: ResidualRecord,
}

#[derive(Serialize, Deserialize)]
struct HybridRecord {
    modes: Vec<ModeRecord>,
    #[serde(default, deserialize_with = "absent")]
    phases: Vec<PhaseRecord>,
    #[serde(default, deserialize_with = "absent")]
    switches: Vec<SwitchRecord>,
    /// Where files had their warnings before every run had some.
    #[serde(default, deserialize_with = "absent", skip_serializing)]
    warnings: Vec<WarningRecord>,
}

impl RunRecord {
    /// All but times, states and steps.
    pub(crate) fn of(run: &Run) -> Self {
        let header = &run.header;
        RunRecord {
            format: FORMAT.to_string(),
            version: VERSION,
            model: header.model.clone(),
            description: header.description.clone(),
            source: header.source.clone(),
            parameters: header.parameters.clone(),
            formulation: header.formulation.clone(),
            method: header.method.clone(),
            rtol: header.rtol,
            atol: header.atol,
            atol_of: header.atol_of.clone(),
            t0: header.t0,
            tend: header.tend,
            ended: header.ended,
            message: header.message.clone(),
            decisions: header.decisions.clone(),
            warnings: header.warnings.clone(),
            undetermined: header.undetermined.clone(),
            statistics: StatisticsRecord {
                counters: Ordered(header.counters.clone()),
                max_residual: header.max_residual,
            },
            names: run.columns.iter().map(|column| column.name.clone()).collect(),
            kinds: Some(run.columns.iter().map(|column| column.kind).collect()),
            units: Some(run.columns.iter().map(|column| column.unit.clone()).collect()),
            arrays: None,
            t_end: run.end.as_ref().map(|end| end.t),
            last: run.end.as_ref().map(|end| end.values.clone()),
            events: run.events.clone(),
            hybrid: run.hybrid.clone().map(|ModeHistory { modes, phases, switches }| HybridRecord {
                modes,
                phases,
                switches,
                warnings: Vec::new(),
            }),
            plots: run.plots.clone(),
            scene: run.scene.clone(),
            times: None,
            states: None,
            steps: None,
        }
    }

    /// The run, with the numbers that stand elsewhere.
    pub(crate) fn into_run(
        self,
        times: Vec<f64>,
        values: Vec<Vec<f64>>,
        steps: Option<StepRecords>,
    ) -> Result<Run, ReadError> {
        let n = self.names.len();
        let kinds = self.kinds.unwrap_or_else(|| vec![ColumnKind::Variable; n]);
        let units = self.units.unwrap_or_else(|| vec![None; n]);
        same_length("the list of kinds", kinds.len(), "names", n)?;
        same_length("the list of units", units.len(), "names", n)?;
        same_length("the list of columns", values.len(), "names", n)?;
        let columns = self.names.into_iter().zip(kinds).zip(units).zip(values);
        let columns = columns.map(|(((name, kind), unit), values)| Column { name, kind, unit, values }).collect();
        let mut warnings = self.warnings;
        let hybrid = self.hybrid.map(|hybrid| {
            warnings.extend(hybrid.warnings);
            ModeHistory { modes: hybrid.modes, phases: hybrid.phases, switches: hybrid.switches }
        });
        let header = Header {
            model: self.model,
            description: self.description,
            source: self.source,
            parameters: self.parameters,
            formulation: self.formulation,
            method: self.method,
            rtol: self.rtol,
            atol: self.atol,
            atol_of: self.atol_of,
            t0: self.t0,
            tend: self.tend,
            ended: self.ended,
            message: self.message,
            seconds: None,
            counters: self.statistics.counters.0,
            max_residual: self.statistics.max_residual,
            undetermined: self.undetermined,
            decisions: self.decisions,
            warnings,
        };
        let end = self.t_end.zip(self.last).map(|(t, values)| LastPoint { t, values });
        let (events, plots, scene) = (self.events, self.plots, self.scene);
        let run = Run { header, times, columns, steps, events, end, hybrid, plots, scene };
        run.check()?;
        Ok(run)
    }
}
