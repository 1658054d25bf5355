//! Signals that ask a run to stop: the step is finished, everything computed is written, and the command ends with code 128 + signal.
//!
//! Ctrl-C, a request to terminate and a terminal that hangs up are looked at between two steps; a second signal ends the command at
//! once. A signal that the caller had ignored, as `nohup` does, stays ignored.

#[cfg(unix)]
use signal_hook::consts::SIGHUP;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The signals, with what people call them.
const SIGNALS: &[(i32, &str)] = &[
    (SIGINT, "Ctrl-C"),
    (SIGTERM, "a request to terminate"),
    #[cfg(unix)]
    (SIGHUP, "a hangup"),
];

/// Ends the run when a signal has come.
pub struct Interrupt {
    /// number of the signal; 0 as long as none has come
    signal: Arc<AtomicUsize>,
}

impl Interrupt {
    /// From now on signals are waited for.
    pub fn watch() -> Self {
        let signal = Arc::new(AtomicUsize::new(0));
        let asked = Arc::new(AtomicBool::new(false));
        let ignored = ignored();
        for &(number, _) in SIGNALS.iter().filter(|(number, _)| !is_among(ignored, *number)) {
            // the order matters: the first signal is written down behind the question whether it is the second one. Where signals cannot
            // be caught they end the command, as they did before
            let _ = flag::register_conditional_shutdown(number, code(number).into(), Arc::clone(&asked));
            let _ = flag::register_usize(number, Arc::clone(&signal), number as usize);
            let _ = flag::register(number, Arc::clone(&asked));
        }
        Interrupt { signal }
    }

    /// The signal that has come.
    pub fn signal(&self) -> Option<i32> {
        Some(self.signal.load(Ordering::Relaxed) as i32).filter(|signal| *signal > 0)
    }
}

/// The exit code of a command that a signal ended.
pub fn code(signal: i32) -> u8 {
    128_u8.saturating_add(u8::try_from(signal).unwrap_or(0))
}

/// What people call a signal.
pub fn name(signal: i32) -> &'static str {
    SIGNALS.iter().find(|(number, _)| *number == signal).map_or("a signal", |(_, name)| name)
}

/// Signals that the caller had ignored, one bit each; none where the system does not tell it in a file.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

fn is_among(signals: u64, number: i32) -> bool {
    signals >> (number - 1) & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_shells() {
        assert_eq!([SIGINT, SIGTERM, 1].map(code), [130, 143, 129]);
        assert!(is_among(0b10, SIGINT) && !is_among(0b10, SIGTERM));
    }
}
