//! Progress of a long run, shown on a terminal.

use daedal_simulation::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Runs shorter than this show nothing.
const PATIENCE: Duration = Duration::from_millis(500);
/// Time between two pictures.
const PAUSE: Duration = Duration::from_millis(100);
/// Time between two lines, which stay where they are.
const LONG_PAUSE: Duration = Duration::from_secs(10);
/// Parts of the bar.
const PARTS: u64 = 1000;

/// A bar on standard error, if that is a terminal; single lines on one that cannot move its cursor.
pub struct Bar {
    shown: Shown,
    /// when to draw next; never if nobody looks
    next: Option<Instant>,
    /// is the run over? Whoever draws for the first time looks here
    over: Arc<Mutex<bool>>,
}

enum Shown {
    Nothing,
    Bar(ProgressBar),
    Lines,
}

impl Bar {
    /// A run begins. What comes before its first step may take long as well: the bar says that it is prepared.
    pub fn new() -> Self {
        let over = Arc::new(Mutex::new(false));
        if !io::stderr().is_terminal() {
            return Bar { shown: Shown::Nothing, next: None, over };
        }
        let next = Some(Instant::now() + PATIENCE);
        let dumb = std::env::var_os("TERM").is_none_or(|terminal| terminal == "dumb");
        if cfg!(unix) && dumb {
            return Bar { shown: Shown::Lines, next, over };
        }
        let style = ProgressStyle::with_template("{wide_bar} {percent:>3} %  {msg}  {eta} left");
        let bar = ProgressBar::with_draw_target(Some(PARTS), ProgressDrawTarget::hidden())
            .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
            .with_message("preparing");
        let (first, is_over) = (bar.clone(), Arc::clone(&over));
        std::thread::spawn(move || {
            std::thread::sleep(PATIENCE);
            // held while it is drawn, so that nothing is drawn behind the end
            if let Ok(over) = is_over.lock()
                && !*over
            {
                first.set_draw_target(ProgressDrawTarget::stderr());
                first.tick();
            }
        });
        Bar { shown: Shown::Bar(bar), next, over }
    }

    /// A step was made.
    pub fn show(&mut self, step: &Progress) {
        if let Some(next) = self.next
            && Instant::now() >= next
        {
            let pause = self.draw(step);
            self.next = Some(Instant::now() + pause);
        }
    }

    fn draw(&mut self, step: &Progress) -> Duration {
        let told = format!("t = {:.6e}, {} steps", step.t, step.statistics.steps);
        match &self.shown {
            Shown::Nothing => PAUSE,
            Shown::Bar(bar) => {
                bar.set_position((step.fraction * PARTS as f64) as u64);
                bar.set_message(told);
                PAUSE
            }
            Shown::Lines => {
                eprintln!("{:.0} %  {told}", 100.0 * step.fraction);
                LONG_PAUSE
            }
        }
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

impl Drop for Bar {
    fn drop(&mut self) {
        if let Ok(mut over) = self.over.lock() {
            *over = true;
        }
        if let Shown::Bar(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }
}
