//! A study of many models: what `auto` costs against the best method of the catalogue, at the same error.
//!
//! Methods run at every decade of the tolerance, as long as they are not far slower than `auto`. Those that come near are timed in rounds,
//! one run after the other and then all of them again, so that other work on the machine meets all of them; the shortest time counts.
//! A method competes where it keeps what `auto` keeps: constraints up to its tolerance, invariants that are stated far below it.
//!
//! An error is not asked for that lies far below the tolerance: such luck is not known before. Where errors of `auto` are not told from those of the
//! reference, others are compared at the same tolerance.

use super::plan::PlannedRun;
use super::pool;
use super::reference::{ReferenceState, find};
use super::subject::{RunResult, Subject};
use super::{ComparisonSettings, PlannedComparison};
use crate::error::Error;
use crate::model::{Model, ModelSystem};
use daedal_run::comparison::{ConstraintLevels, Counters, ErrorLevels};
use daedal_run::study::{StudiedModel, StudyCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Powers of ten of the tolerances at which methods run.
const POWERS: std::ops::RangeInclusive<i32> = 3..=10;
/// Constraints may be violated by so many tolerances, and invariants by this part of one.
const KEPT: f64 = 10.0;
const UNCHANGED: f64 = 0.01;
/// Errors below this part of the tolerance are luck.
const LUCK: f64 = 0.01;
/// A run is given up when it takes so many times the time of `auto`, and this long at least, in seconds.
const FAR_SLOWER: f64 = 8.0;
const AT_LEAST: f64 = 0.02;
/// Methods within this factor of the best are timed again, in so many rounds.
const NEAR: f64 = 2.0;
const ROUNDS: usize = 12;
/// Rounds of one model end after so many seconds.
const ROUNDS_TIME: f64 = 4.0;
/// A run of which nothing is heard is given up this long after its time.
const SILENT: Duration = Duration::from_secs(2);
/// Others that are told.
const TOLD: usize = 3;
/// Formulations that keep all constraints; methods have others, too, but they drift.
const KEEPING: [&str; 9] = ["psf", "psf+i", "ggl", "over", "p1", "eom0", "eom1", "auto", "eom"];
/// Methods with steps of one size or for one kind of equations: nobody could choose them without knowing the answer.
const APART: [&str; 4] = ["rattle", "lobatto", "alpha", "exact"];

/// What is studied.
#[derive(Clone, Debug)]
pub struct StudySettings {
    /// Tolerances at which `auto` is judged, the largest first.
    pub tolerances: Vec<f64>,
    /// Longest time of a run of `auto`, in seconds.
    pub timeout: f64,
    /// Further methods, with options.
    pub besides: Vec<String>,
}

/// One series: a method in a formulation, at falling tolerances.
struct MethodSeries {
    label: String,
    points: Vec<StudyPoint>,
}

struct StudyPoint {
    run: PlannedRun,
    error: f64,
    /// Is the error told from that of the reference?
    resolved: bool,
    counters: Option<Counters>,
    seconds: f64,
    by_the_wall: f64,
    kept: bool,
}

/// Study one model; `name` is how the table calls it.
pub fn study(model: &Model, name: &str, settings: &StudySettings) -> StudiedModel {
    let kind = match &model.content.equations {
        ModelSystem::Motion(_) => "mechanism",
        ModelSystem::General(_) => "general",
        ModelSystem::Modes(_) => "modes",
    };
    let empty = StudiedModel { model: name.to_string(), kind: kind.to_string(), ..StudiedModel::default() };
    match cells(model, settings) {
        Ok(cells) => StudiedModel { cells, ..empty },
        Err(why) => StudiedModel { left_out: Some(why.lines().next().unwrap_or_default().to_string()), ..empty },
    }
}

fn cells(model: &Model, settings: &StudySettings) -> Result<Vec<StudyCell>, String> {
    let said = |error: Error| super::subject::told(&error);
    let tolerances: Vec<f64> = POWERS.map(|k| 10_f64.powi(-k)).collect();
    let compared = ComparisonSettings { tolerances, timeout: settings.timeout, ..ComparisonSettings::default() };
    let planned = PlannedComparison::new(model, &compared).map_err(said)?;
    let mut runs = planned.plan.runs.clone();
    for name in &settings.besides {
        let more = ComparisonSettings { methods: vec![name.clone()], ..compared.clone() };
        // not every kind of model has every method
        runs.extend(PlannedComparison::new(model, &more).map_or(Vec::new(), |planned| planned.plan.runs));
    }
    let timeout = Duration::from_secs_f64(settings.timeout);
    match &model.content.equations {
        ModelSystem::Motion(motion) => {
            let subject = Arc::new(planned.motion(motion).map_err(said)?);
            StudiedSubject { subject, timeout }.cells(runs, model, &planned, settings)
        }
        ModelSystem::General(_) | ModelSystem::Modes(_) => {
            let subject = Arc::new(planned.whole());
            runs.retain(|run| run.formulation.is_none_or(|form| form == "auto"));
            StudiedSubject { subject, timeout }.cells(runs, model, &planned, settings)
        }
    }
}

struct StudiedSubject<S> {
    subject: Arc<S>,
    timeout: Duration,
}

impl<S: Subject + 'static> StudiedSubject<S> {
    fn cells(
        &self,
        mut runs: Vec<PlannedRun>,
        model: &Model,
        planned: &PlannedComparison,
        settings: &StudySettings,
    ) -> Result<Vec<StudyCell>, String> {
        runs.retain(|run| !APART.contains(&run.method) && KEEPING.contains(&run.formulation()));
        let (t0, tend) = planned.interval;
        let known = find(&self.subject, &model.references(t0, tend), 2, (self.timeout, self.timeout));
        if known.told.source.is_empty() {
            return Err("no run with a very small tolerance reaches the end".to_string());
        }
        let (auto, others): (Vec<PlannedRun>, Vec<PlannedRun>) = runs.into_iter().partition(PlannedRun::is_auto);
        let mut chosen: Vec<(f64, String)> = Vec::new();
        let mut residuals: Vec<(f64, [f64; 2])> = Vec::new();
        let mut own = MethodSeries { label: "auto".to_string(), points: Vec::new() };
        let mut why = "auto does not reach the end".to_string();
        for run in auto {
            let result = self.once(&run, self.timeout);
            if let Some(failure) = &result.failure {
                why.clone_from(failure);
                continue;
            }
            let Some((error, resolved)) = error_of(&known, &result, run.tolerance) else { continue };
            chosen.push((run.tolerance, result.chosen.clone().unwrap_or_default()));
            residuals.push((run.tolerance, violation(&result)));
            own.points.push(StudyPoint {
                run,
                error,
                resolved,
                counters: result.counters,
                seconds: result.seconds,
                by_the_wall: result.by_the_wall,
                kept: true,
            });
        }
        if own.points.is_empty() {
            return Err(why);
        }
        let mut all = vec![own];
        for run in others {
            let label = match run.formulation() {
                "auto" => run.label.clone(),
                form => format!("{} {form}", run.label),
            };
            if all.last().is_none_or(|series| series.label != label) {
                all.push(MethodSeries { label, points: Vec::new() });
            }
            let longest = all[0].points.iter().filter(|point| point.run.tolerance >= 0.9 * run.tolerance);
            let auto = longest.map(|point| point.by_the_wall).fold(0.0, f64::max);
            let limit = Duration::from_secs_f64((FAR_SLOWER * auto).max(AT_LEAST)).min(self.timeout);
            let series = all.last_mut().expect("it was pushed");
            // what was too slow at a larger tolerance is slower now
            if series.points.last().is_some_and(|point| point.seconds.is_nan()) {
                continue;
            }
            let result = self.once(&run, limit);
            let as_auto = residuals.iter().find(|(tolerance, _)| *tolerance == run.tolerance);
            let [most, drift] = as_auto.map_or([0.0; 2], |(_, violation)| *violation);
            let allowed = [(KEPT * run.tolerance).max(most), (UNCHANGED * run.tolerance).max(drift)];
            let kept = violation(&result).iter().zip(allowed).all(|(own, most)| *own <= most);
            match error_of(&known, &result, run.tolerance) {
                Some((error, resolved)) => series.points.push(StudyPoint {
                    run,
                    error,
                    resolved,
                    counters: result.counters,
                    seconds: result.seconds,
                    by_the_wall: result.by_the_wall,
                    kept,
                }),
                None if result.failure.as_ref().is_some_and(|why| why.starts_with("stopped after")) => {
                    let (error, seconds) = (f64::NAN, f64::NAN);
                    series.points.push(StudyPoint {
                        run,
                        error,
                        resolved: false,
                        counters: None,
                        seconds,
                        by_the_wall: seconds,
                        kept: false,
                    });
                }
                None => {}
            }
        }
        self.rounds(&mut all, settings);
        share(&mut all);
        let (own, others) = all.split_first().expect("auto is there");
        let mut cells = Vec::new();
        for &tolerance in &settings.tolerances {
            let Some(point) = own.points.iter().find(|point| is_at(point, tolerance)) else { continue };
            let mut at: Vec<(String, f64)> =
                others.iter().filter_map(|other| Some((other.label.clone(), other.work(point)?))).collect();
            at.sort_by(|a, b| a.1.total_cmp(&b.1));
            at.truncate(TOLD);
            let name = chosen.iter().find(|(own, _)| (own / tolerance - 1.0).abs() < 1e-6);
            cells.push(StudyCell {
                tolerance,
                auto: name.map_or(String::new(), |(_, chosen)| chosen.clone()),
                error: rounded(point.error),
                time: rounded(1e6 * point.seconds),
                others: at.into_iter().map(|(label, seconds)| (label, rounded(1e6 * seconds))).collect(),
            });
        }
        Ok(cells)
    }

    /// One run; a method that accepts and refuses no step any more is left behind.
    fn once(&self, run: &PlannedRun, limit: Duration) -> RunResult {
        let subject = Arc::clone(&self.subject);
        let work = move |run: &PlannedRun| subject.run(run, limit, true);
        let outcome = pool::all(1, vec![run.clone()], 2 * limit + SILENT, work, || {}).pop();
        outcome.map_or_else(RunResult::default, |outcome| outcome.unwrap_or_else(RunResult::lost))
    }

    /// Time those again that come near to the best.
    fn rounds(&self, all: &mut [MethodSeries], settings: &StudySettings) {
        let begin = Instant::now();
        for round in 0..ROUNDS {
            let near = |series: &MethodSeries| {
                all[0].points.iter().filter(|point| settings.judges(point)).any(|point| {
                    let best = all.iter().filter_map(|other| other.work(point)).fold(f64::INFINITY, f64::min);
                    series.work(point).is_some_and(|work| work <= NEAR * best)
                })
            };
            let again: Vec<bool> = all.iter().enumerate().map(|(k, series)| k == 0 || near(series)).collect();
            for series in all.iter_mut().zip(&again).filter(|(_, again)| **again).map(|(series, _)| series) {
                for point in series.points.iter_mut().filter(|point| point.seconds.is_finite()) {
                    let outcome = catch_unwind(AssertUnwindSafe(|| self.subject.run(&point.run, self.timeout, false)));
                    if let Ok(result) = outcome
                        && result.reached().is_some()
                    {
                        point.seconds = point.seconds.min(result.seconds);
                    }
                }
            }
            if round > 1 && begin.elapsed().as_secs_f64() > ROUNDS_TIME {
                break;
            }
        }
    }
}

/// Runs of `auto` that are the same as those of the method that it took have the same time.
fn share(all: &mut [MethodSeries]) {
    let Some((auto, others)) = all.split_first_mut() else { return };
    for point in &mut auto.points {
        for other in others.iter_mut().flat_map(|series| &mut series.points) {
            let same = is_at(other, point.run.tolerance) && other.error == point.error;
            if same && other.counters.is_some() && other.counters == point.counters {
                let least = point.seconds.min(other.seconds);
                (point.seconds, other.seconds) = (least, least);
            }
        }
    }
}

impl StudySettings {
    fn judges(&self, point: &StudyPoint) -> bool {
        self.tolerances.iter().any(|tolerance| is_at(point, *tolerance))
    }
}

fn is_at(point: &StudyPoint, tolerance: f64) -> bool {
    (point.run.tolerance / tolerance - 1.0).abs() < 1e-6
}

impl MethodSeries {
    /// The least time for an error that is not larger than that of a point of `auto`: of a run that reached it, or between two of neighbouring
    /// tolerances.
    fn work(&self, auto: &StudyPoint) -> Option<f64> {
        let error = auto.error;
        let kept = |point: &&StudyPoint| point.kept && point.seconds.is_finite();
        let points: Vec<&StudyPoint> = self.points.iter().filter(kept).collect();
        if !auto.resolved {
            let same = points.iter().filter(|point| is_at(point, auto.run.tolerance));
            return same.filter(|point| point.error <= error).map(|point| point.seconds).next();
        }
        let reached = points.iter().filter(|point| point.error <= error).map(|point| point.seconds);
        let between = points.windows(2).filter_map(|pair| {
            let (from, to) = (pair[0], pair[1]);
            if !(from.error > error && to.error < error) {
                return None;
            }
            let part = (from.error / error).ln() / (from.error / to.error).ln();
            Some((from.seconds.ln() + part * (to.seconds / from.seconds).ln()).exp())
        });
        reached.chain(between).min_by(f64::total_cmp)
    }
}

/// The largest error that counts: positions, velocities, states, switch times; and whether it is larger than what the reference resolves.
fn error_of(known: &ReferenceState, result: &RunResult, tolerance: f64) -> Option<(f64, bool)> {
    let (errors, _) = known.errors(result.reached()?);
    let counts = |levels: &ErrorLevels| [levels.position, levels.velocity, levels.state, levels.switch];
    let pairs = counts(&errors).into_iter().zip(counts(&known.told.accuracy));
    let larger = |a: (f64, bool), b: (f64, bool)| if a.0 >= b.0 { a } else { b };
    let told = |(error, accuracy): (Option<f64>, Option<f64>)| {
        let (error, accuracy) = (error?, accuracy.unwrap_or(0.0));
        Some((error.max(accuracy), error > accuracy))
    };
    let luck = (LUCK * tolerance, true);
    let (error, resolved) = larger(pairs.filter_map(told).reduce(larger)?, luck);
    error.is_finite().then_some((error, resolved))
}

/// By how much constraints of position and velocity level and those of general systems are violated, and how far invariants drift.
fn violation(result: &RunResult) -> [f64; 2] {
    let ConstraintLevels { position, velocity, constraint, hidden, .. } = result.max_residual;
    let largest = [position, velocity, constraint, hidden].into_iter().flatten().fold(0.0, f64::max);
    [largest, result.drift.unwrap_or(0.0)]
}

/// Three digits are enough.
fn rounded(x: f64) -> f64 {
    format!("{x:.2e}").parse().unwrap_or(x)
}
