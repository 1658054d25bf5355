//! The whole run as one JSON object. The same run gives the same bytes: keys have an order, and the time that the
//! computation took is not written. How numbers that JSON does not know are written: `number.rs`.

mod hybrid;

use crate::error::{ReadError, WriteError};
use crate::number::{Number, Ordered, absent, unwrap, wrap};
use crate::run::{Column, End, Ended, Event, Header, Kind, Residuals, Run, Steps, same_length};
use hybrid::{HybridRecord, WarningRecord};
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};

/// The tag by which a run file is known.
pub const FORMAT: &str = "daedal run";
/// The version that is written, and the latest one that is read.
pub const VERSION: u64 = 1;

/// Write a run.
pub fn write(run: &Run, mut file: impl Write) -> Result<(), WriteError> {
    run.check()?;
    let mut record = Record::of(run);
    record.times = Some(wrap(&run.times));
    record.states =
        Some((0..run.times.len()).map(|k| run.columns.iter().map(|c| Number(c.values[k])).collect()).collect());
    record.steps = run.steps.as_ref().map(StepRecord::of);
    serde_json::to_writer(&mut file, &record).map_err(std::io::Error::from)?;
    Ok(writeln!(file)?)
}

/// Read a run.
pub fn read(mut file: impl Read) -> Result<Run, ReadError> {
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    let mut record = parse(&text)?;
    let times = unwrap(record.times.take().ok_or_else(|| missing("times"))?);
    let states = record.states.take().ok_or_else(|| missing("states"))?;
    let steps = record.steps.take().map(StepRecord::into_steps);
    same_length("the list of states", states.len(), "times", times.len())?;
    let mut columns: Vec<Vec<f64>> = vec![Vec::with_capacity(times.len()); record.names.len()];
    for (k, state) in states.iter().enumerate() {
        same_length(&format!("the state at place {k}"), state.len(), "names", columns.len())?;
        for (column, Number(x)) in columns.iter_mut().zip(state) {
            column.push(*x);
        }
    }
    record.into_run(times, columns, steps)
}

/// The object in a text.
pub(crate) fn parse(text: &[u8]) -> Result<Record, ReadError> {
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let record = serde_path_to_error::deserialize::<_, Record>(&mut deserializer)
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
pub(crate) struct Record {
    format: String,
    version: u64,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    source: Option<String>,
    #[serde(default, deserialize_with = "absent")]
    parameters: Ordered<Number>,
    #[serde(default)]
    formulation: Option<String>,
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    rtol: Option<Number>,
    #[serde(default)]
    atol: Option<Number>,
    #[serde(default, deserialize_with = "absent")]
    atol_of: Ordered<Number>,
    #[serde(default)]
    t0: Option<Number>,
    #[serde(default)]
    tend: Option<Number>,
    #[serde(default)]
    ended: Option<Ended>,
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    decisions: Option<String>,
    #[serde(default, deserialize_with = "absent")]
    warnings: Vec<WarningRecord>,
    #[serde(default, deserialize_with = "absent")]
    undetermined: Vec<Vec<(String, Number)>>,
    #[serde(default, deserialize_with = "absent")]
    statistics: Statistics,
    names: Vec<String>,
    #[serde(default)]
    kinds: Option<Vec<Kind>>,
    #[serde(default)]
    units: Option<Vec<Option<String>>>,
    /// names of the arrays in an archive
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) arrays: Option<Vec<String>>,
    #[serde(default)]
    t_end: Option<Number>,
    #[serde(default, rename = "final")]
    last: Option<Vec<Number>>,
    #[serde(default, deserialize_with = "absent")]
    events: Vec<EventRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hybrid: Option<HybridRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    times: Option<Vec<Number>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    states: Option<Vec<Vec<Number>>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    steps: Option<StepRecord>,
}

#[derive(Default, Serialize, Deserialize)]
struct Statistics {
    #[serde(flatten)]
    counters: Ordered<Option<u64>>,
    #[serde(default, deserialize_with = "absent")]
    max_residual: ResidualRecord,
}

#[derive(Default, Serialize, Deserialize)]
struct ResidualRecord {
    position: Option<Number>,
    velocity: Option<Number>,
    acceleration: Option<Number>,
    invariant: Option<Number>,
    #[serde(default)]
    constraint: Option<Number>,
    #[serde(default)]
    hidden: Option<Number>,
}

#[derive(Serialize, Deserialize)]
struct EventRecord {
    name: String,
    t: Number,
    state: Vec<Number>,
}

#[derive(Serialize, Deserialize)]
struct StepRecord {
    t: Vec<Number>,
    h: Vec<Number>,
    #[serde(default)]
    order: Option<Vec<u32>>,
    #[serde(default)]
    newton: Option<Vec<u64>>,
    #[serde(default)]
    residual_position: Option<Vec<Number>>,
    #[serde(default)]
    residual_velocity: Option<Vec<Number>>,
    #[serde(default)]
    residual_acceleration: Option<Vec<Number>>,
    #[serde(default)]
    residual_invariant: Option<Vec<Number>>,
    #[serde(default)]
    residual_constraint: Option<Vec<Number>>,
    #[serde(default)]
    residual_hidden: Option<Vec<Number>>,
}

impl Record {
    /// All but times, states and steps.
    pub(crate) fn of(run: &Run) -> Self {
        let header = &run.header;
        Record {
            format: FORMAT.to_string(),
            version: VERSION,
            model: header.model.clone(),
            description: header.description.clone(),
            source: header.source.clone(),
            parameters: Ordered(pairs(&header.parameters)),
            formulation: header.formulation.clone(),
            method: header.method.clone(),
            rtol: header.rtol.map(Number),
            atol: header.atol.map(Number),
            atol_of: Ordered(pairs(&header.atol_of)),
            t0: header.t0.map(Number),
            tend: header.tend.map(Number),
            ended: header.ended,
            message: header.message.clone(),
            decisions: header.decisions.clone(),
            warnings: header.warnings.iter().map(WarningRecord::of).collect(),
            undetermined: header.undetermined.iter().map(|combination| pairs(combination)).collect(),
            statistics: Statistics {
                counters: Ordered(header.counters.clone()),
                max_residual: ResidualRecord {
                    position: header.max_residual.position.map(Number),
                    velocity: header.max_residual.velocity.map(Number),
                    acceleration: header.max_residual.acceleration.map(Number),
                    invariant: header.max_residual.invariant.map(Number),
                    constraint: header.max_residual.constraint.map(Number),
                    hidden: header.max_residual.hidden.map(Number),
                },
            },
            names: run.columns.iter().map(|column| column.name.clone()).collect(),
            kinds: Some(run.columns.iter().map(|column| column.kind).collect()),
            units: Some(run.columns.iter().map(|column| column.unit.clone()).collect()),
            arrays: None,
            t_end: run.end.as_ref().map(|end| Number(end.t)),
            last: run.end.as_ref().map(|end| wrap(&end.values)),
            events: run.events.iter().map(EventRecord::of).collect(),
            hybrid: run.hybrid.as_ref().map(HybridRecord::of),
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
        steps: Option<Steps>,
    ) -> Result<Run, ReadError> {
        let n = self.names.len();
        let kinds = self.kinds.unwrap_or_else(|| vec![Kind::Variable; n]);
        let units = self.units.unwrap_or_else(|| vec![None; n]);
        same_length("the list of kinds", kinds.len(), "names", n)?;
        same_length("the list of units", units.len(), "names", n)?;
        same_length("the list of columns", values.len(), "names", n)?;
        let columns = self.names.into_iter().zip(kinds).zip(units).zip(values);
        let columns = columns.map(|(((name, kind), unit), values)| Column { name, kind, unit, values }).collect();
        let largest = self.statistics.max_residual;
        // files of runs through modes had their warnings elsewhere
        let mut hybrid = self.hybrid;
        let older = hybrid.as_mut().map(|hybrid| std::mem::take(&mut hybrid.warnings)).unwrap_or_default();
        let warnings = self.warnings.into_iter().chain(older).map(WarningRecord::into_warning).collect();
        let number = |x: Option<Number>| x.map(|Number(x)| x);
        let header = Header {
            model: self.model,
            description: self.description,
            source: self.source,
            parameters: plain(self.parameters.0),
            formulation: self.formulation,
            method: self.method,
            rtol: number(self.rtol),
            atol: number(self.atol),
            atol_of: plain(self.atol_of.0),
            t0: number(self.t0),
            tend: number(self.tend),
            ended: self.ended,
            message: self.message,
            seconds: None,
            counters: self.statistics.counters.0,
            max_residual: Residuals {
                position: number(largest.position),
                velocity: number(largest.velocity),
                acceleration: number(largest.acceleration),
                invariant: number(largest.invariant),
                constraint: number(largest.constraint),
                hidden: number(largest.hidden),
            },
            undetermined: self.undetermined.into_iter().map(plain).collect(),
            decisions: self.decisions,
            warnings,
        };
        let end = self.t_end.zip(self.last).map(|(Number(t), values)| End { t, values: unwrap(values) });
        let events = self.events.into_iter().map(EventRecord::into_event).collect();
        let hybrid = hybrid.map(HybridRecord::into_hybrid);
        let run = Run { header, times, columns, steps, events, end, hybrid };
        run.check()?;
        Ok(run)
    }
}

impl EventRecord {
    fn of(event: &Event) -> Self {
        EventRecord { name: event.name.clone(), t: Number(event.t), state: wrap(&event.state) }
    }

    fn into_event(self) -> Event {
        Event { name: self.name, t: self.t.0, state: unwrap(self.state) }
    }
}

impl StepRecord {
    fn of(steps: &Steps) -> Self {
        let level = |residuals: &Option<Vec<f64>>| residuals.as_deref().map(wrap);
        StepRecord {
            t: wrap(&steps.t),
            h: wrap(&steps.h),
            order: steps.order.clone(),
            newton: steps.newton.clone(),
            residual_position: level(&steps.position),
            residual_velocity: level(&steps.velocity),
            residual_acceleration: level(&steps.acceleration),
            residual_invariant: level(&steps.invariant),
            residual_constraint: level(&steps.constraint),
            residual_hidden: level(&steps.hidden),
        }
    }

    fn into_steps(self) -> Steps {
        Steps {
            t: unwrap(self.t),
            h: unwrap(self.h),
            order: self.order,
            newton: self.newton,
            position: self.residual_position.map(unwrap),
            velocity: self.residual_velocity.map(unwrap),
            acceleration: self.residual_acceleration.map(unwrap),
            invariant: self.residual_invariant.map(unwrap),
            constraint: self.residual_constraint.map(unwrap),
            hidden: self.residual_hidden.map(unwrap),
        }
    }
}

fn pairs(entries: &[(String, f64)]) -> Vec<(String, Number)> {
    entries.iter().map(|(name, x)| (name.clone(), Number(*x))).collect()
}

fn plain(entries: Vec<(String, Number)>) -> Vec<(String, f64)> {
    entries.into_iter().map(|(name, Number(x))| (name, x)).collect()
}
