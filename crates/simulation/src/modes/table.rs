//! Columns of a run through several modes: the unknowns of all modes by name, then the outputs.
//!
//! Every point writes what its mode knows; the rest has no value, NaN, which is a gap in a curve. A generated mode for sliding has those
//! outputs that are the same in all modes between which it slides.

use crate::error::Error;
use crate::model::Model;
use crate::outputs::{self, ModelOutputs};
use crate::record::KeptPoint;
use crate::variables::ShownVariables;
use daedal::Segment;
use daedal::Solution;
use daedal::hybrid::{HybridSolution, ModeNames, Phase};
use daedal::motion::{self, Layout};
use daedal_model::{HybridModel, ModelKind as Equations};
use daedal_run::ColumnKind;
use std::collections::HashMap;

/// Names and kinds of the columns, and who writes them.
pub struct ColumnTable {
    pub names: Vec<String>,
    pub kinds: Vec<ColumnKind>,
    /// columns by name
    places: HashMap<String, usize>,
    modes: Vec<Writer>,
    row: Vec<f64>,
}

/// What a mode writes into a row.
struct Writer {
    /// names of the unknowns, in the order of the state
    names: Vec<String>,
    /// place in the state, column
    unknowns: Vec<(usize, usize)>,
    outputs: ModelOutputs,
    /// places of the unknowns of the outputs in the state, where they are not the same
    order: Option<Vec<usize>>,
    /// columns of the outputs; none for one that means something else in every mode
    columns: Vec<Option<usize>>,
}

impl ColumnTable {
    fn empty() -> Self {
        let (names, kinds, modes, row) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        ColumnTable { names, kinds, places: HashMap::new(), modes, row }
    }

    /// Of a run without modes.
    pub fn single(model: &Model, solution: &Solution<ShownVariables>) -> Self {
        Self::with_outputs(ModelOutputs::new(model, &solution.names), solution)
    }

    /// Of a run without modes, with these outputs.
    pub fn with_outputs(outputs: ModelOutputs, solution: &Solution<ShownVariables>) -> Self {
        let mut table = ColumnTable::empty();
        let names = solution.names.clone();
        let unknowns = solution.layout.shown.iter().map(|&(j, kind)| (j, table.column(&names[j], kind))).collect();
        let columns = outputs.names().iter().map(|name| Some(table.column(name, ColumnKind::Output))).collect();
        table.modes.push(Writer { names, unknowns, outputs, order: None, columns });
        table.row = vec![f64::NAN; table.names.len()];
        table
    }

    /// Before the first point.
    pub fn new(model: &HybridModel, solution: &HybridSolution) -> Self {
        let mut table = ColumnTable::empty();
        for (k, mode) in solution.modes.iter().enumerate() {
            let shown = match model.modes.get(k) {
                Some(known) => shown(&known.kind, mode.unknowns.len()),
                None => (0..mode.unknowns.len()).map(|j| (j, ColumnKind::Auxiliary)).collect(),
            };
            let unknowns = shown.into_iter().map(|(j, kind)| (j, table.column(&mode.unknowns[j], kind))).collect();
            let names = mode.unknowns.clone();
            table.modes.push(Writer { names, unknowns, outputs: ModelOutputs::None, order: None, columns: Vec::new() });
        }
        for (k, mode) in solution.modes.iter().enumerate() {
            let (source, order) = match model.modes.get(k) {
                Some(_) => (Some(k), None),
                None => parent(model, mode).map_or((None, None), |(source, order)| (Some(source), Some(order))),
            };
            let Some(source) = source else { continue };
            let outputs = match &model.modes[source].kind {
                Equations::Motion { formulas, .. } => ModelOutputs::of_motion(formulas),
                Equations::Dae { formulas, .. } => ModelOutputs::of_general(formulas, &model.modes[source].unknowns),
                Equations::Hybrid(_) => ModelOutputs::None,
            };
            let shared = if k < model.modes.len() { None } else { Some(model.shared_outputs(&mode.between)) };
            let has = |name: &String| shared.as_ref().is_none_or(|shared| shared.contains(name));
            let columns = outputs.names().to_vec();
            let columns =
                columns.iter().map(|name| has(name).then(|| table.column(name, ColumnKind::Output))).collect();
            let writer = &mut table.modes[k];
            (writer.outputs, writer.order, writer.columns) = (outputs, order, columns);
        }
        table.row = vec![f64::NAN; table.names.len()];
        table
    }

    /// The column of that name, a new one if there is none.
    fn column(&mut self, name: &str, kind: ColumnKind) -> usize {
        if let Some(&place) = self.places.get(name) {
            return place;
        }
        self.places.insert(name.to_string(), self.names.len());
        self.names.push(name.to_string());
        self.kinds.push(kind);
        self.names.len() - 1
    }

    /// The name of the column with the active mode, which no other has.
    pub fn mode_column(&self) -> String {
        let mut name = "mode".to_string();
        while self.names.contains(&name) {
            name.push('_');
        }
        name
    }

    /// Names of the unknowns of a mode.
    pub fn unknowns(&self, mode: usize) -> &[String] {
        &self.modes[mode].names
    }

    /// The columns that a mode has.
    pub fn columns_of(&self, mode: usize) -> Vec<String> {
        let writer = &self.modes[mode];
        let unknowns = writer.unknowns.iter().map(|&(_, column)| column);
        unknowns.chain(writer.columns.iter().flatten().copied()).map(|column| self.names[column].clone()).collect()
    }

    /// The row at a point of a mode.
    pub fn at(&mut self, mode: usize, t: f64, x: &[f64], rates: Option<&[f64]>) -> &[f64] {
        self.row.fill(f64::NAN);
        let writer = &mut self.modes[mode];
        for &(j, column) in &writer.unknowns {
            self.row[column] = x[j];
        }
        let mut values = vec![0.0; writer.columns.len()];
        match &writer.order {
            Some(order) => {
                let sorted = |x: &[f64]| -> Vec<f64> { order.iter().map(|&j| x[j]).collect() };
                writer.outputs.evaluate(t, &sorted(x), rates.map(sorted).as_deref(), &mut values);
            }
            None => writer.outputs.evaluate(t, x, rates, &mut values),
        }
        for (column, value) in writer.columns.iter().zip(values) {
            if let Some(column) = *column {
                self.row[column] = value;
            }
        }
        &self.row
    }
}

/// Where the variables of a mode stand in its state, in the order in which they are shown.
pub fn shown(kind: &Equations, unknowns: usize) -> Vec<(usize, ColumnKind)> {
    match kind {
        Equations::Motion { formulas, .. } => {
            let layout = Layout::new(formulas.sizes, motion::Form::StrangenessFree, false);
            ShownVariables::of_motion(&layout, "").shown
        }
        Equations::Dae { formulas, .. } => {
            let states = formulas.states.len();
            (0..unknowns).map(|j| (j, if j < states { ColumnKind::State } else { ColumnKind::Derivative })).collect()
        }
        Equations::Hybrid(_) => Vec::new(),
    }
}

/// The first of these modes whose unknowns the generated one has, and their places.
fn parent(model: &HybridModel, sliding: &ModeNames) -> Option<(usize, Vec<usize>)> {
    sliding.between.iter().find_map(|&k| {
        let place = |name: &String| sliding.unknowns.iter().position(|known| known == name);
        model.modes[k].unknowns.iter().map(place).collect::<Option<Vec<usize>>>().map(|places| (k, places))
    })
}

/// Do outputs of any mode need derivatives that are no unknowns? Those that a run does not know are refused.
pub fn needs_rates(model: &HybridModel) -> Result<bool, Error> {
    let mut needed = false;
    for mode in &model.modes {
        if let Equations::Dae { formulas, .. } = &mode.kind {
            needed |= outputs::needs_rates(formulas)?;
        }
    }
    Ok(needed)
}

/// Derivative at a time of a phase, where polynomials were kept.
pub fn rates_at(phase: &Phase, t: f64) -> Option<Vec<f64>> {
    let k = phase.segments.partition_point(|segment| segment.t1 < t);
    let segment = behind(phase, k).or(phase.segments.last().filter(|last| last.t1 > last.t0))?;
    Some(outputs::rates_of(segment, t))
}

/// The polynomial of step k, or of the next one if that has no length: a formula jumps in time there.
fn behind(phase: &Phase, k: usize) -> Option<&Segment> {
    phase.segments.get(k..)?.iter().find(|segment| segment.t1 > segment.t0)
}

/// Derivative at point k of a phase: that of the step which ends there. Where one begins only, of that one.
fn rates_of(phase: &Phase, k: usize) -> Option<Vec<f64>> {
    let ends = k.checked_sub(1).and_then(|before| phase.segments.get(before)).filter(|segment| segment.t1 > segment.t0);
    let segment = ends.or_else(|| behind(phase, k))?;
    Some(outputs::rates_of(segment, phase.times[k]))
}

/// The points of a phase that are kept. With polynomials these are its own points, or those at `times`, which lose what was served.
pub fn points(phase: &Phase, times: Option<&mut &[f64]>) -> Vec<KeptPoint> {
    if phase.segments.is_empty() && times.is_none() {
        return (0..phase.len()).map(|k| (phase.times[k], phase.state(k).to_vec(), None)).collect();
    }
    let polynomial = |t: f64| {
        let k = phase.segments.partition_point(|segment| segment.t1 < t);
        phase.segments.get(k).or(phase.segments.last())
    };
    match times {
        None => (0..phase.len()).map(|k| (phase.times[k], phase.state(k).to_vec(), rates_of(phase, k))).collect(),
        Some(times) => {
            let served = times.partition_point(|&t| t <= phase.t1);
            let (now, later) = times.split_at(served);
            *times = later;
            let at = |&t: &f64| {
                let known = phase.times.iter().position(|&time| time == t).map(|k| phase.state(k).to_vec());
                let x = known.or_else(|| Some(state_inside(phase, polynomial(t)?, t)));
                x.map(|x| (t, x, rates_at(phase, t)))
            };
            now.iter().filter_map(at).collect()
        }
    }
}

/// The state on the polynomial of a step.
fn state_inside(phase: &Phase, segment: &Segment, t: f64) -> Vec<f64> {
    let mut x = vec![0.0; segment.dim()];
    segment.eval(t, &mut x);
    x.truncate(if phase.is_empty() { segment.dim() } else { phase.state(0).len() });
    x
}
