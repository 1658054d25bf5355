//! How long a run takes: the shortest of some repetitions, after one that warms up. A repetition of a short run is the shortest of
//! several, for other work of the machine only ever adds to the time.

use super::attempt::{Subject, once};
use super::plan::PlannedRun;
use daedal::Ended;
use std::time::{Duration, Instant};

/// Repetitions unless they are asked for.
const REPEATS: u32 = 3;
/// Runs longer than this are timed once unless repetitions are asked for.
const LONG: Duration = Duration::from_secs(1);
/// Runs shorter than this are warmed up.
const SHORT: Duration = Duration::from_millis(200);
/// How long a repetition of short runs takes.
const REPETITION: Duration = Duration::from_millis(4);
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

/// Repeat a run that took about this long; none if a repetition did not reach the end in its time.
pub fn time(
    subject: &Subject,
    run: &PlannedRun,
    rough: Duration,
    repeat: Option<u32>,
    timeout: Duration,
) -> Option<Timed> {
    let repeats = repeat.unwrap_or(if rough > LONG { 1 } else { REPEATS });
    let mut one = rough.as_secs_f64();
    if rough < SHORT {
        one = shortest_of(1, subject, run, timeout)?;
    }
    let runs = (REPETITION.as_secs_f64() / one.max(1e-9)).ceil().clamp(1.0, f64::from(MOST)) as u32;
    let (mut shortest, mut longest) = (f64::INFINITY, 0.0_f64);
    for _ in 0..repeats {
        let seconds = shortest_of(runs, subject, run, timeout)?;
        shortest = shortest.min(seconds);
        longest = longest.max(seconds);
    }
    Some(Timed { seconds: shortest, spread: (longest - shortest) / shortest, repeats })
}

/// Seconds of the shortest of n runs.
fn shortest_of(n: u32, subject: &Subject, run: &PlannedRun, timeout: Duration) -> Option<f64> {
    let mut shortest = f64::INFINITY;
    for _ in 0..n {
        let begin = Instant::now();
        // it reached the end before, and may take a little longer now
        let solution = once(subject, run, 2 * timeout, None).ok()?;
        if solution.ended != Ended::AtEnd {
            return None;
        }
        shortest = shortest.min(begin.elapsed().as_secs_f64());
    }
    Some(shortest)
}
