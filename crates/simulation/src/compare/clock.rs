//! How long something takes on its processor: what other work of the machine takes meanwhile is left out, where the system tells it.

use std::time::{Duration, Instant};

/// Where Linux tells how long a thread has been at work, in nanoseconds.
const AT_WORK: &str = "/proc/thread-self/schedstat";

/// What takes less, in seconds, is hardly ever interrupted: what the question costs would count more.
const SHORT: f64 = 5e-4;

/// A clock of the thread that starts it.
pub struct Clock {
    begin: Instant,
    at_work: Option<Duration>,
}

impl Clock {
    /// From now on.
    pub fn start() -> Self {
        let at_work = at_work();
        Clock { begin: Instant::now(), at_work }
    }

    /// Seconds of work since the start, and seconds by the clock on the wall.
    pub fn seconds(&self) -> (f64, f64) {
        let all = self.begin.elapsed().as_secs_f64();
        let share = self.share();
        (all * share, all)
    }

    /// Part of the time since the start in which the thread was at work; one where nobody tells.
    pub fn share(&self) -> f64 {
        let all = self.begin.elapsed().as_secs_f64();
        if all < SHORT {
            return 1.0;
        }
        match (self.at_work, at_work()) {
            (Some(before), Some(now)) if now > before => (now.saturating_sub(before).as_secs_f64() / all).min(1.0),
            _ => 1.0,
        }
    }
}

/// How long this thread has been at work. The number is brought up to date where the thread stops, so it sleeps for a moment.
fn at_work() -> Option<Duration> {
    std::thread::sleep(Duration::from_micros(1));
    let told = std::fs::read_to_string(AT_WORK).ok()?;
    told.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleep_is_no_work() {
        let clock = Clock::start();
        std::thread::sleep(Duration::from_millis(50));
        if clock.at_work.is_some() {
            assert!(clock.share() < 0.5);
        }
        let (work, all) = clock.seconds();
        assert!(work >= 0.0 && work <= all && all >= 0.05);
    }
}
