//! What errors are measured against: values that are known for a problem, else a run with a very small tolerance that another method
//! checks. Errors below the difference of the two are not resolved.

use super::plan::PlannedRun;
use super::pool;
use super::subject::{EndPoint, EndValue, RunResult, SWITCH_TIMES, Subject, SwitchHistory};
use daedal_problems::ReferenceValues;
use daedal_run::comparison::{self, ErrorLevels, KINDS};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Tolerances of the run, the first that works.
const TOLERANCES: [f64; 6] = [1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8];
/// With known values, a run with this tolerance tells which multipliers are undetermined.
const PROBE: f64 = 1e-4;
/// Time for all tries, in multiples of that of the other runs. Each try has half of what is left.
const LONGER: u32 = 5;

/// The reference.
pub struct ReferenceState {
    values: Vec<Trusted>,
    switching: Option<SwitchHistory>,
    /// What is told about it.
    pub told: comparison::ErrorReference,
}

/// A variable at the end.
struct Trusted {
    name: String,
    kind: usize,
    /// What errors are divided by.
    scale: f64,
    /// None where nothing is known about it.
    value: Option<f64>,
}

/// How a run differs from the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switched {
    /// It has the same switches, or there are none.
    Alike,
    /// It switches otherwise.
    Otherwise,
}

impl ReferenceState {
    /// Errors of a run at its end, and whether it switches as the reference does. A run that ends in another mode has no errors.
    pub fn errors(&self, end: &EndPoint) -> (ErrorLevels, Switched) {
        let (mut errors, switched) = (self.of_switches(end.switching.as_ref()), self.switched(end.switching.as_ref()));
        let modes = |history: &Option<SwitchHistory>| history.as_ref().map(|history| history.mode.clone());
        if modes(&self.switching) == modes(&end.switching) {
            for (kind, error) in errors.iter_mut().enumerate().take(SWITCH_TIMES) {
                *error = self.largest(kind, &end.values);
            }
        }
        (ErrorLevels::of(errors), switched)
    }

    /// The largest |x − x̂| / max(size, |x̂|) of a kind; none if no value is known.
    fn largest(&self, kind: usize, values: &[EndValue]) -> Option<f64> {
        let error = |known: &Trusted| {
            let found = values.iter().find(|value| value.name == known.name)?;
            Some((found.value - known.value?).abs() / known.scale)
        };
        self.values.iter().filter(|known| known.kind == kind).filter_map(error).reduce(f64::max)
    }

    fn switched(&self, of: Option<&SwitchHistory>) -> Switched {
        let modes = |history: Option<&SwitchHistory>| -> Vec<String> {
            history.map_or(Vec::new(), |history| history.switches.iter().map(|(_, mode)| mode.clone()).collect())
        };
        if modes(self.switching.as_ref()) == modes(of) { Switched::Alike } else { Switched::Otherwise }
    }

    /// The largest |t − t̂| / max(1, |t̂|) of the switches, where both have the same ones.
    fn of_switches(&self, of: Option<&SwitchHistory>) -> [Option<f64>; KINDS.len()] {
        let mut errors = [None; KINDS.len()];
        if let (Some(known), Some(of), Switched::Alike) = (&self.switching, of, self.switched(of)) {
            let pairs = known.switches.iter().zip(&of.switches);
            let error = pairs.map(|((exact, _), (t, _))| (t - exact).abs() / exact.abs().max(1.0));
            errors[SWITCH_TIMES] = error.reduce(f64::max);
        }
        errors
    }
}

/// Find a reference at the end of the interval.
pub fn find<S: Subject + 'static>(
    subject: &Arc<S>,
    known: &[&ReferenceValues],
    jobs: usize,
    (timeout, least): (Duration, Duration),
) -> ReferenceState {
    let mut best = known.to_vec();
    best.sort_by(|a, b| a.accuracy.total_cmp(&b.accuracy));
    let exact = |name: &str| {
        best.iter().find_map(|reference| {
            let (_, value) = reference.values.iter().find(|(known, _)| *known == name)?;
            Some((*value, *reference))
        })
    };
    // a run of any accuracy tells which variables there are
    let all = (timeout * LONGER).max(least);
    let mut computed = AccurateRuns::default();
    let mut covered = [false; KINDS.len()];
    if !best.is_empty() {
        computed = AccurateRuns::make(subject, &[PROBE], false, jobs, all);
        for (kind, covered) in covered.iter_mut().enumerate() {
            let mut own = computed.values(kind).peekable();
            *covered = own.peek().is_some() && own.all(|value| exact(&value.name).is_some());
        }
    }
    let open = |kind: usize| computed.values(kind).next().is_some() && !covered[kind];
    if best.is_empty() || (0..SWITCH_TIMES).any(open) {
        computed = AccurateRuns::make(subject, &TOLERANCES, true, jobs, all);
    }
    let undetermined = computed.run.as_ref().map_or(Vec::new(), |run| run.undetermined.clone());
    let mut sources: Vec<String> = Vec::new();
    let mut accuracy = [None; KINDS.len()];
    let mut values = Vec::new();
    for kind in 0..SWITCH_TIMES {
        if computed.values(kind).next().is_none() {
            continue;
        }
        let mut source = computed.source.clone();
        for value in computed.values(kind) {
            let mut trusted = value.value;
            if covered[kind]
                && let Some((known, reference)) = exact(&value.name)
            {
                trusted = known;
                source = reference.source.to_string();
                let accuracy = accuracy[kind].get_or_insert(reference.accuracy);
                *accuracy = f64::max(*accuracy, reference.accuracy);
            }
            let value_known = (!undetermined.contains(&value.name)).then_some(trusted);
            let scale = trusted.abs().max(value.size);
            values.push(Trusted { name: value.name.clone(), kind, scale, value: value_known });
        }
        if !sources.contains(&source) {
            sources.push(source);
        }
    }
    let switching = computed.end().and_then(|end| end.switching.clone());
    let mut found = ReferenceState { values, switching, told: comparison::ErrorReference::default() };
    if let Some(check) = computed.check.as_ref().and_then(RunResult::reached) {
        let (difference, _) = found.errors(check);
        for (kind, difference) in difference.list().into_iter().enumerate() {
            accuracy[kind] = accuracy[kind].or(difference);
        }
    }
    found.told = comparison::ErrorReference {
        check: computed.told.filter(|_| sources.contains(&computed.source)),
        source: sources.join("; "),
        accuracy: ErrorLevels::of(accuracy),
        undetermined,
    };
    found
}

/// What very accurate runs gave.
#[derive(Default)]
struct AccurateRuns {
    run: Option<RunResult>,
    source: String,
    check: Option<RunResult>,
    /// How it was checked.
    told: Option<String>,
}

impl AccurateRuns {
    fn end(&self) -> Option<&EndPoint> {
        self.run.as_ref()?.reached()
    }

    fn values(&self, kind: usize) -> impl Iterator<Item = &EndValue> {
        self.end().into_iter().flat_map(|end| &end.values).filter(move |value| value.kind == kind)
    }

    /// A run and its check at the same time.
    fn make<S: Subject + 'static>(
        subject: &Arc<S>,
        tolerances: &[f64],
        checked: bool,
        jobs: usize,
        all: Duration,
    ) -> Self {
        let ways = subject.references();
        let mut ladders = vec![ladder(&ways.run, tolerances)];
        if checked {
            ladders.push(ladder(&ways.check, tolerances));
        }
        let mut found = climb(subject, ladders, jobs, all).into_iter();
        let Some((run, result)) = found.next().flatten() else { return AccurateRuns::default() };
        let mut check = found.next().flatten();
        if check.is_none() && checked {
            // the same method with a larger tolerance is better than nothing
            let again = PlannedRun { tolerance: 10.0 * run.tolerance, ..run.clone() };
            check = climb(subject, vec![vec![again]], jobs, all).into_iter().next().flatten();
        }
        let told = match &check {
            Some((run, _)) => Some(format!("checked by {}", said(run))),
            None if checked => Some("nothing could check it".to_string()),
            None => None,
        };
        AccurateRuns { run: Some(result), source: said(&run), check: check.map(|(_, result)| result), told }
    }
}

fn said(run: &PlannedRun) -> String {
    let formulation = run.formulation.filter(|form| *form != "auto").map_or(String::new(), |form| format!(" {form}"));
    format!("{}{formulation} with tolerance {:e}", run.label, run.tolerance)
}

/// Runs in the order in which they are tried.
fn ladder(ways: &[(&'static str, &'static str)], tolerances: &[f64]) -> Vec<PlannedRun> {
    let runs = |&(method, form): &(&'static str, &'static str)| {
        let formulation = (method != "auto").then_some(form);
        tolerances.iter().map(move |&tolerance| PlannedRun::of(method, formulation, tolerance))
    };
    ways.iter().flat_map(runs).collect()
}

/// The first run of each ladder that reaches the end, if there is one in this time.
fn climb<S: Subject + 'static>(
    subject: &Arc<S>,
    ladders: Vec<Vec<PlannedRun>>,
    jobs: usize,
    all: Duration,
) -> Vec<Option<(PlannedRun, RunResult)>> {
    let subject = Arc::clone(subject);
    let first = move |runs: &Vec<PlannedRun>| {
        let begin = Instant::now();
        runs.iter().find_map(|run| {
            let limit = all.saturating_sub(begin.elapsed()) / 2;
            let outcome = catch_unwind(AssertUnwindSafe(|| subject.run(run, limit, false)));
            outcome.ok().filter(|result| result.failure.is_none()).map(|result| (run.clone(), result))
        })
    };
    pool::all(jobs, ladders, 2 * all, first, || {}).into_iter().map(|found| found.ok().flatten()).collect()
}
