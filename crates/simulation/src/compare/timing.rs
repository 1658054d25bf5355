//! How long a run takes: the shortest of some repetitions, after one that warms up. A repetition of a short run is the shortest of
//! several, for other work of the machine only ever adds to the time.

use super::plan::PlannedRun;
use super::subject::Subject;
use std::time::Duration;

/// Repetitions unless they are asked for.
const REPEATS: u32 = 3;
/// Runs longer than this are timed once unless repetitions are asked for.
const LONG: f64 = 1.0;
/// Runs shorter than this are warmed up.
const SHORT: f64 = 0.2;
/// How long a repetition of short runs takes.
const REPETITION: f64 = 4e-3;
/// Most runs of a repetition.
const MOST: u32 = 100;

/// How long a run takes.
pub struct Timed {
    /// The shortest repetition.
    pub seconds: f64,
    /// (longest − shortest) / shortest.
    pub spread: f64,
    pub repeats: u32,
}

/// Repeat a run that took about so many seconds; none if a repetition did not reach the end in its time.
pub fn time<S: Subject>(
    subject: &S,
    run: &PlannedRun,
    rough: f64,
    repeat: Option<u32>,
    timeout: Duration,
) -> Option<Timed> {
    let repeats = repeat.unwrap_or(if rough > LONG { 1 } else { REPEATS });
    let mut one = rough;
    if rough < SHORT {
        one = shortest_of(1, subject, run, timeout)?;
    }
    let runs = (REPETITION / one.max(1e-9)).ceil().clamp(1.0, f64::from(MOST)) as u32;
    let (mut shortest, mut longest) = (f64::INFINITY, 0.0_f64);
    for _ in 0..repeats {
        let seconds = shortest_of(runs, subject, run, timeout)?;
        shortest = shortest.min(seconds);
        longest = longest.max(seconds);
    }
    Some(Timed { seconds: shortest, spread: (longest - shortest) / shortest, repeats })
}

/// Seconds of the shortest of n runs.
fn shortest_of<S: Subject>(n: u32, subject: &S, run: &PlannedRun, timeout: Duration) -> Option<f64> {
    let mut shortest = f64::INFINITY;
    for _ in 0..n {
        // it reached the end before, and may take a little longer now
        let result = subject.run(run, 2 * timeout, false);
        result.reached()?;
        shortest = shortest.min(result.seconds);
    }
    Some(shortest)
}
