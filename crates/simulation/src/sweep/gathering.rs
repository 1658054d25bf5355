//! A sweep that is made in parts: which runs are missing, those that were made, and the folder that keeps them. Where a part is made, on a thread or on
//! another machine, does not matter: a run depends on its row only.

use super::store::SweepStore;
use super::{SweepOutcome, SweepSettings, Variation, run_settings};
use crate::ErrorKind;
use crate::error::Error;
use crate::model::Model;
use crate::settings::Settings;
use crate::solve::choose;
use daedal_run::{ColumnKind, Sweep, SweptRun};

/// Runs of a sweep, as they come in.
pub struct SweepGathering {
    model: Model,
    variation: Variation,
    store: Option<SweepStore>,
    times: Option<Vec<f64>>,
    parts: Vec<FinishedRun>,
    /// Which runs are there, by their numbers.
    done: Vec<bool>,
    /// How many were found in the folder.
    found: usize,
    /// How many are in the folder.
    saved: usize,
}

/// One finished run, before it is known which columns the others have.
pub(super) struct FinishedRun {
    pub run: SweptRun,
    pub columns: Vec<(String, ColumnKind)>,
}

impl SweepGathering {
    /// See that the sweep makes sense, and take what its folder holds already.
    pub fn new(model: &Model, variation: &Variation, settings: &SweepSettings) -> Result<Self, Error> {
        variation.check(model)?;
        let (run, times) = run_settings(model, &settings.run)?;
        concerns_all(model, variation, &run)?;
        let open = |folder| SweepStore::open(folder, model, variation, &run);
        let store = settings.resume.as_deref().map(open).transpose()?;
        let mut gathering = SweepGathering {
            model: model.clone(),
            variation: variation.clone(),
            times,
            parts: Vec::new(),
            done: vec![false; variation.len()],
            found: 0,
            saved: 0,
            store,
        };
        let kept = gathering.store.as_ref().map_or(Ok(Vec::new()), SweepStore::parts)?;
        for part in &kept {
            gathering.take(part);
        }
        (gathering.found, gathering.saved) = (gathering.parts.len(), gathering.parts.len());
        Ok(gathering)
    }

    /// The numbers of the runs that are not there.
    pub fn missing(&self) -> Vec<usize> {
        (0..self.done.len()).filter(|&k| !self.done[k]).collect()
    }

    /// The values of the parameters of a run; none if there is no run of this number.
    pub fn row(&self, number: usize) -> Option<&[f64]> {
        self.variation.rows.get(number).map(Vec::as_slice)
    }

    /// Runs that are there, those of the folder included.
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    /// Is no run there?
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Add runs that [`make_runs`](super::make_runs) made from the rows of these numbers, and write them to the folder. Those that are there
    /// already are left as they are.
    pub fn add(&mut self, mut part: Sweep, numbers: &[usize]) -> Result<(), Error> {
        for run in &mut part.runs {
            run.number = numbers.get(run.number).copied().unwrap_or(usize::MAX);
        }
        self.take(&part);
        self.save()
    }

    /// What was gathered.
    pub fn outcome(mut self) -> SweepOutcome {
        self.parts.sort_by_key(|part| part.run.number);
        let interrupted = self.parts.len() < self.done.len();
        SweepOutcome { sweep: self.sweep(0), interrupted, found: self.found, unwritten: None }
    }

    /// One more run, which is not written yet.
    pub(super) fn push(&mut self, made: FinishedRun) {
        if let Some(done) = self.done.get_mut(made.run.number).filter(|done| !**done) {
            *done = true;
            self.parts.push(made);
        }
    }

    /// Write what is not in the folder yet.
    pub(super) fn save(&mut self) -> Result<(), Error> {
        if let Some(store) = self.store.as_ref().filter(|_| self.saved < self.parts.len()) {
            store.write(&self.sweep(self.saved))?;
        }
        self.saved = self.parts.len();
        Ok(())
    }

    fn take(&mut self, part: &Sweep) {
        for run in &part.runs {
            self.push(FinishedRun { run: run.clone(), columns: part.columns.clone() });
        }
    }

    /// Those from this place on. A mode that only some runs enter may bring columns of its own, which have no values in the others.
    fn sweep(&self, from: usize) -> Sweep {
        together(&self.model, &self.variation, self.times.clone(), &self.parts[from..])
    }
}

/// Runs as one table, in the order of their numbers, whatever the order in which they were made.
pub(super) fn together(model: &Model, variation: &Variation, times: Option<Vec<f64>>, parts: &[FinishedRun]) -> Sweep {
    let mut columns: Vec<(String, ColumnKind)> = Vec::new();
    let mut order: Vec<&FinishedRun> = parts.iter().collect();
    order.sort_by_key(|part| part.run.number);
    for column in order.iter().flat_map(|part| &part.columns) {
        if !columns.iter().any(|(name, _)| *name == column.0) {
            columns.push(column.clone());
        }
    }
    let points = times.as_ref().map_or(1, Vec::len);
    let spread = |part: &&FinishedRun| {
        let place = |name: &String| part.columns.iter().position(|(own, _)| own == name);
        let places: Vec<Option<usize>> = columns.iter().map(|(name, _)| place(name)).collect();
        let value = |i: usize, place: &Option<usize>| {
            let at = place.map(|place| i * part.columns.len() + place);
            at.and_then(|at| part.run.values.get(at).copied()).unwrap_or(f64::NAN)
        };
        let values = (0..points).flat_map(|i| places.iter().map(move |place| value(i, place)).collect::<Vec<_>>());
        SweptRun { values: values.collect(), ..part.run.clone() }
    };
    Sweep {
        model: model.name().to_string(),
        parameters: variation.names.clone(),
        grid: variation.grid.clone(),
        size: variation.len(),
        runs: order.iter().map(spread).collect(),
        times,
        columns,
    }
}

/// A mistake that all runs have is told before any of them is made.
fn concerns_all(model: &Model, variation: &Variation, settings: &Settings) -> Result<(), Error> {
    let first = model.set(&variation.row(0)).and_then(|first| choose(&first, settings));
    match (first, choose(model, settings)) {
        (Err(error), Err(_)) if error.kind() == ErrorKind::Input => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::{make_runs, sweep};
    use std::ops::ControlFlow;

    /// Parts that are made apart, come in in another order and partly twice, are the sweep that threads make.
    #[test]
    fn parts_give_the_sweep_whatever_their_order() {
        let model = Model::reference("pendulum").expect("a reference problem");
        let lengths = Variation::grid(vec![("L".into(), vec![0.5, 1.0, 1.5, 2.0, 2.5])]).expect("a grid");
        let settings = SweepSettings::default();
        let mut whole =
            sweep(&model, &lengths, &settings, &mut |_, _| ControlFlow::Continue(())).expect("a sweep").sweep;
        let mut gathering = SweepGathering::new(&model, &lengths, &settings).expect("a sweep");
        for numbers in [&[3_usize, 4][..], &[0, 1], &[1], &[2]] {
            let rows = numbers.iter().filter_map(|&k| gathering.row(k)).map(<[f64]>::to_vec).collect();
            let part = Variation::rows(vec!["L".into()], rows).expect("rows");
            gathering.add(make_runs(&model, &part, &settings.run).expect("runs"), numbers).expect("no folder");
        }
        assert!(gathering.missing().is_empty() && gathering.len() == 5);
        let mut parts = gathering.outcome();
        assert!(!parts.interrupted && parts.found == 0);
        // how long a run took is no part of what it gave
        for run in whole.runs.iter_mut().chain(&mut parts.sweep.runs) {
            run.seconds = None;
        }
        assert_eq!(parts.sweep, whole);
    }

    #[test]
    fn numbers_that_do_not_exist_are_not_added() {
        let model = Model::reference("pendulum").expect("a reference problem");
        let lengths = Variation::grid(vec![("L".into(), vec![0.5])]).expect("a grid");
        let settings = SweepSettings::default();
        let mut gathering = SweepGathering::new(&model, &lengths, &settings).expect("a sweep");
        let made = make_runs(&model, &lengths, &settings.run).expect("runs");
        gathering.add(made.clone(), &[7]).expect("no folder");
        gathering.add(made, &[]).expect("no folder");
        assert!(gathering.is_empty() && gathering.row(1).is_none());
        assert!(gathering.outcome().interrupted);
    }
}
