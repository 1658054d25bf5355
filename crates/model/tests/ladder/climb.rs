//! One way of solving one model, down the ladder of tolerances.

use super::promise::Promise;
use super::run::{Case, Found, Level, Way};
use std::fmt;

/// A smaller tolerance must not make an error larger than this many times what it was, or what was asked for.
const GROWTH: f64 = 10.0;

/// What became of one tolerance.
#[derive(Clone, Debug)]
pub enum Rung {
    /// Largest error and whose, and steps.
    Answered {
        error: f64,
        name: String,
        steps: u64,
    },
    Refused(String),
}

/// All of them.
#[derive(Clone, Debug)]
pub struct Climb {
    pub way: Way,
    pub promise: Promise,
    pub rungs: Vec<(f64, Rung)>,
}

/// What is known about the solution: values, and how far two methods differ on them.
#[derive(Clone, Debug)]
pub struct Trusted {
    pub found: Found,
    pub doubt: f64,
}

impl Climb {
    /// Solve with every tolerance. One that takes too many steps ends the ladder: the next takes more.
    pub fn new(case: &Case, way: Way, promise: Promise, trusted: &Trusted, tolerances: &[f64]) -> Self {
        let mut rungs = Vec::new();
        for &tolerance in tolerances {
            let rung = match case.solve(&way, tolerance) {
                Ok(found) => {
                    let (error, name) = case.error(&found, &trusted.found, promise.counts);
                    Rung::Answered { error: (error - trusted.doubt).max(0.0), name, steps: found.statistics.steps }
                }
                Err(reason) => Rung::Refused(reason),
            };
            let over = matches!(&rung, Rung::Refused(reason) if is_final(reason));
            rungs.push((tolerance, rung));
            if over {
                break;
            }
        }
        Climb { way, promise, rungs }
    }

    fn answers(&self) -> impl Iterator<Item = (f64, f64, &str)> {
        self.rungs.iter().filter_map(|(tolerance, rung)| match rung {
            Rung::Answered { error, name, .. } => Some((*tolerance, *error, name.as_str())),
            Rung::Refused(_) => None,
        })
    }

    /// The smallest tolerance with an answer.
    pub fn reached(&self) -> f64 {
        self.answers().map(|(tolerance, ..)| tolerance).fold(1.0, f64::min)
    }

    /// The largest error in tolerances, and whose it is.
    fn worst(&self) -> (f64, f64, &str) {
        let multiples = self.answers().map(|(tolerance, error, name)| (error / tolerance, tolerance, name));
        multiples.fold((0.0, 1.0, ""), |worst, next| if next.0 > worst.0 { next } else { worst })
    }

    /// An error above the multiple that is promised, and errors that grow where the tolerance shrinks.
    pub fn broken(&self) -> Vec<String> {
        let mut broken = Vec::new();
        let (multiple, tolerance, name) = self.worst();
        let promised = self.promise.multiple;
        if multiple > promised {
            broken.push(format!("at {tolerance:e} {name} is off by {multiple:.1e} tolerances, not {promised:.0e}"));
        }
        let mut least = f64::INFINITY;
        for (tolerance, error, name) in self.answers() {
            if error > GROWTH * least {
                broken.push(format!("at {tolerance:e} the error of {name} grows to {error:.1e}, it was {least:.1e}"));
            }
            least = least.min(error.max(self.promise.luck * tolerance).max(self.promise.floor));
        }
        broken
    }
}

/// Would a smaller tolerance be refused as well?
fn is_final(reason: &str) -> bool {
    ["attempts made", "does not solve", "could not be started", "declares none"]
        .iter()
        .any(|known| reason.contains(known))
}

impl Case {
    /// Largest error of the values that count, over nominal and largest value, and whose it is.
    pub fn error(&self, found: &Found, trusted: &Found, counts: Level) -> (f64, String) {
        let mut worst = (0.0, String::new());
        for value in trusted.values.iter().filter(|value| value.level <= counts) {
            let Some(own) = found.values.iter().find(|own| own.name == value.name) else {
                return (f64::INFINITY, format!("{} (not found)", value.name));
            };
            let size = value.at.iter().fold(self.size(&value.name), |size, x| size.max(x.abs()));
            // what is known about the end only is compared there
            for (x, exact) in own.at.iter().rev().zip(value.at.iter().rev()) {
                let error = (x - exact).abs() / size;
                let error = if error.is_nan() { f64::INFINITY } else { error };
                if error > worst.0 {
                    worst = (error, value.name.clone());
                }
            }
        }
        worst
    }
}

impl fmt::Display for Climb {
    /// Errors of all tolerances, then the steps.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:18}", self.way.name())?;
        for (_, rung) in &self.rungs {
            match rung {
                Rung::Answered { error, .. } => write!(f, " {error:7.0e}")?,
                Rung::Refused(_) => write!(f, " {:>7}", "-")?,
            }
        }
        write!(f, "  {:.0e} tolerances, steps", self.worst().0)?;
        for (_, rung) in &self.rungs {
            match rung {
                Rung::Answered { steps, .. } => write!(f, " {steps}")?,
                Rung::Refused(_) => write!(f, " -")?,
            }
        }
        if !self.promise.why.is_empty() {
            write!(f, "  ({})", self.promise.why)?;
        }
        match self.rungs.last() {
            Some((_, Rung::Refused(reason))) => {
                let shown = reason.rfind("attempts made").map_or(0, |_| reason.len());
                let reason: String = reason[shown..].chars().take(120).collect();
                if reason.is_empty() { write!(f, "  too many steps") } else { write!(f, "  {reason}") }
            }
            _ => Ok(()),
        }
    }
}
