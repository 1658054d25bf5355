//! What errors are measured against: values that are known for a problem, else a run with a very small tolerance that another method
//! checks. Errors below the difference of the two are not resolved.

use super::attempt::{RunResult, Subject, attempt};
use super::plan::PlannedRun;
use super::pool;
use daedal::catalogue;
use daedal::formulation::Formulation;
use daedal::motion::Layout;
use daedal_problems::ReferenceValues;
use daedal_run::comparison::{self, ErrorLevels};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Tolerances of the run, the first that works.
const TOLERANCES: [f64; 6] = [1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8];
/// Methods for the run and for its check, in the order in which they are tried. All of them keep all constraints.
const RUN: [(&str, &str); 2] = [("geoms", "psf"), ("radau", "psf")];
const CHECK: [(&str, &str); 3] = [("radau", "psf"), ("gmkssol", "psf"), ("radau", "ggl")];
/// With known values, a run with this tolerance tells which multipliers are undetermined.
const PROBE: f64 = 1e-4;
/// Time for all tries, in multiples of that of the other runs, and at least. Each try has half of what is left.
const LONGER: u32 = 5;
const LEAST: Duration = Duration::from_secs(40);

/// The reference.
pub struct ReferenceState {
    /// A value for each unknown, in the order of a state.
    values: Vec<Option<f64>>,
    /// What is told about it.
    pub told: comparison::ErrorReference,
}

impl ReferenceState {
    /// Errors of a state at the end.
    pub fn errors(&self, layout: &Layout, x: &[f64]) -> ErrorLevels {
        let [position, velocity, multiplier] = kinds(layout).map(|places| largest(&self.values, &places, x));
        ErrorLevels { position, velocity, multiplier }
    }
}

/// Places of positions, velocities and multipliers in a state.
fn kinds(layout: &Layout) -> [Vec<usize>; 3] {
    [layout.p().collect(), layout.v().collect(), layout.lambda().chain(layout.mu()).collect()]
}

/// The largest |x − x̂| / max(1, |x̂|) of these places; none if no value is known.
fn largest(values: &[Option<f64>], places: &[usize], x: &[f64]) -> Option<f64> {
    let error = |&j: &usize| values[j].map(|exact| (x[j] - exact).abs() / exact.abs().max(1.0));
    places.iter().filter_map(error).reduce(f64::max)
}

/// Find a reference at the end of the interval.
pub fn find(subject: &Arc<Subject>, known: &[&ReferenceValues], jobs: usize, timeout: Duration) -> ReferenceState {
    let names = subject.layout.variable_names(&subject.mechanism().names());
    let kinds = kinds(&subject.layout);
    let mut best = known.to_vec();
    best.sort_by(|a, b| a.accuracy.total_cmp(&b.accuracy));
    let exact = |j: usize| {
        best.iter().find_map(|reference| {
            let (_, value) = reference.values.iter().find(|(name, _)| *name == names[j])?;
            Some((*value, *reference))
        })
    };
    // a kind of variables of which all values are known
    let covered = |places: &[usize]| places.iter().all(|&j| exact(j).is_some());
    let all = (timeout * LONGER).max(LEAST);
    let computed = computed(subject, kinds.iter().all(|places| covered(places)), jobs, all);

    let undetermined: Vec<String> = computed.undetermined.clone();
    let mut values = vec![None; subject.layout.dim()];
    let mut accuracy = [None; 3];
    let mut sources: Vec<String> = Vec::new();
    for (kind, places) in kinds.iter().enumerate() {
        let source = if places.is_empty() {
            continue;
        } else if covered(places) {
            let found: Vec<(f64, &ReferenceValues)> = places.iter().filter_map(|&j| exact(j)).collect();
            accuracy[kind] = found.iter().map(|(_, reference)| reference.accuracy).reduce(f64::max);
            for (&j, (value, _)) in places.iter().zip(&found) {
                values[j] = Some(*value);
            }
            found[0].1.source.to_string()
        } else if let Some(x) = &computed.x {
            for &j in places.iter().filter(|&&j| !undetermined.contains(&names[j])) {
                values[j] = Some(x[j]);
            }
            accuracy[kind] = computed.check.as_ref().and_then(|check| largest(&values, places, check));
            computed.source.clone()
        } else {
            continue;
        };
        if !sources.contains(&source) {
            sources.push(source);
        }
    }
    for j in (0..values.len()).filter(|&j| undetermined.contains(&names[j])) {
        values[j] = None;
    }
    let [position, velocity, multiplier] = accuracy;
    let told = comparison::ErrorReference {
        source: sources.join("; "),
        check: computed.told.filter(|_| sources.contains(&computed.source)),
        accuracy: ErrorLevels { position, velocity, multiplier },
        undetermined,
    };
    ReferenceState { values, told }
}

/// What very accurate runs gave.
#[derive(Default)]
struct AccurateRuns {
    x: Option<Vec<f64>>,
    source: String,
    check: Option<Vec<f64>>,
    /// How it was checked.
    told: Option<String>,
    undetermined: Vec<String>,
}

/// A run and its check at the same time; only a probe where values are known.
fn computed(subject: &Arc<Subject>, probe: bool, jobs: usize, all: Duration) -> AccurateRuns {
    let tolerances = if probe { vec![PROBE] } else { TOLERANCES.to_vec() };
    let mut ladders = vec![ladder(&RUN, &tolerances)];
    if !probe {
        ladders.push(ladder(&CHECK, &tolerances));
    }
    let mut found = climb(subject, ladders, jobs, all).into_iter();
    let Some((run, attempt)) = found.next().flatten() else { return AccurateRuns::default() };
    let Some(solution) = attempt.solution else { return AccurateRuns::default() };
    let mut names: Vec<String> = Vec::new();
    for (name, _) in solution.undetermined.iter().flatten() {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    let mut check = found.next().flatten();
    if check.is_none() && !probe {
        // the same method with a larger tolerance is better than nothing
        let again = PlannedRun { tolerance: 10.0 * run.tolerance, ..run };
        check = climb(subject, vec![vec![again]], jobs, all).into_iter().next().flatten();
    }
    let told = match &check {
        Some((run, _)) => Some(format!("checked by {}", said(run))),
        None if !probe => Some("nothing could check it".to_string()),
        None => None,
    };
    AccurateRuns {
        source: said(&run),
        x: Some(solution.end.x),
        check: check.and_then(|(_, attempt)| attempt.solution).map(|solution| solution.end.x),
        told,
        undetermined: names,
    }
}

fn said(run: &PlannedRun) -> String {
    format!("{} {} with tolerance {:e}", run.entry.name, run.formulation.name(), run.tolerance)
}

/// Runs in the order in which they are tried; methods that the catalogue does not have are left out.
fn ladder(methods: &[(&str, &str)], tolerances: &[f64]) -> Vec<PlannedRun> {
    let mut runs = Vec::new();
    for (method, formulation) in methods {
        let formulation = Formulation::ALL.into_iter().find(|one| one.name() == *formulation);
        let entry = catalogue::find(method);
        if let (Some(entry), Some(formulation)) = (entry, formulation)
            && entry.formulations.contains(&formulation.name())
        {
            runs.extend(tolerances.iter().map(|&tolerance| PlannedRun { entry, formulation, tolerance }));
        }
    }
    runs
}

/// The first run of each ladder that reaches the end, if there is one in this time.
fn climb(
    subject: &Arc<Subject>,
    ladders: Vec<Vec<PlannedRun>>,
    jobs: usize,
    all: Duration,
) -> Vec<Option<(PlannedRun, RunResult)>> {
    let subject = Arc::clone(subject);
    let first = move |runs: &Vec<PlannedRun>| {
        let begin = Instant::now();
        runs.iter().find_map(|run| {
            let limit = all.saturating_sub(begin.elapsed()) / 2;
            let outcome = catch_unwind(AssertUnwindSafe(|| attempt(&subject, run, limit)));
            outcome.ok().filter(|attempt| attempt.failure.is_none()).map(|attempt| (*run, attempt))
        })
    };
    pool::all(jobs, ladders, 2 * all, first, || {}).into_iter().map(|found| found.ok().flatten()).collect()
}
