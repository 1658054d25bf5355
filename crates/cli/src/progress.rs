//! Progress of a long run, shown on a terminal.

use daedal::observer::{Observer, StepView};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Runs shorter than this show nothing.
const PATIENCE: Duration = Duration::from_millis(500);
/// Time between two pictures.
const PAUSE: Duration = Duration::from_millis(100);
/// Parts of the bar.
const PARTS: u64 = 1000;

/// A bar on standard error, if that is a terminal.
pub struct Progress {
    bar: Option<ProgressBar>,
    /// when to draw next; never if nobody looks
    next: Option<Instant>,
}

impl Progress {
    pub fn new() -> Self {
        let watched = io::stderr().is_terminal();
        Progress { bar: None, next: watched.then(|| Instant::now() + PATIENCE) }
    }

    fn draw<L>(&mut self, step: &StepView<L>) {
        let bar = self.bar.get_or_insert_with(|| {
            let style = ProgressStyle::with_template("{wide_bar} {percent:>3} %  {msg}  {eta} left");
            ProgressBar::new(PARTS).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        bar.set_position((step.progress * PARTS as f64) as u64);
        bar.set_message(format!("t = {:.4}, {} steps", step.t, step.statistics.steps));
    }
}

/// How many runs of many are done.
pub struct Tally {
    bar: Option<ProgressBar>,
}

impl Tally {
    pub fn new(runs: usize, what: &'static str) -> Self {
        let watched = io::stderr().is_terminal();
        let bar = watched.then(|| {
            let style = ProgressStyle::with_template("{msg} {wide_bar} {pos} of {len}  {eta} left");
            ProgressBar::new(runs as u64)
                .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
                .with_message(what)
        });
        Tally { bar }
    }

    /// One more is done.
    pub fn count(&self) {
        if let Some(bar) = &self.bar {
            bar.inc(1);
        }
    }
}

impl Drop for Tally {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl<L> Observer<L> for Progress {
    fn observe(&mut self, step: &StepView<L>) -> ControlFlow<()> {
        if let Some(next) = self.next
            && Instant::now() >= next
        {
            self.draw(step);
            self.next = Some(Instant::now() + PAUSE);
        }
        ControlFlow::Continue(())
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
