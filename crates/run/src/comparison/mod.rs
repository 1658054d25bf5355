//! A comparison as plain data: one model, many runs with different methods, formulations and tolerances, what each cost and how
//! accurate it was.
//!
//! Errors are those at the end of the interval, the largest |x − x̂| / max(1, |x̂|) over the components of a kind, x̂ being the reference.
//! Residuals and the drift of invariants are the largest at any accepted point.

pub mod csv;
pub mod json;
pub mod text;

use crate::error::WriteError;
use crate::format::Format;
use crate::number::Ordered;
use crate::page;
use serde::{Serialize, Serializer};
use std::io::Write;

/// Runs of one model with different methods.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Comparison {
    /// Name of the model.
    pub model: String,
    /// What the model is.
    pub description: String,
    /// Where the model comes from.
    pub source: String,
    /// Parameters with their values, in the order of the model.
    #[serde(serialize_with = "ordered")]
    pub parameters: Vec<(String, f64)>,
    /// Start of the interval.
    pub t0: f64,
    /// End of the interval.
    pub tend: f64,
    /// The command that made it.
    pub command: String,
    /// What errors are measured against.
    pub reference: ErrorReference,
    /// How times were measured.
    pub timing: Timing,
    /// What was left out, and why.
    pub notes: Vec<String>,
    /// The runs by method, formulation and tolerance, the largest tolerance first.
    pub runs: Vec<ComparedRun>,
}

/// What errors are measured against.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ErrorReference {
    /// Where the values come from; empty if there are none.
    pub source: String,
    /// What it was checked with.
    pub check: Option<String>,
    /// How far it is trusted: errors below are not resolved. `None` where that is not known.
    pub accuracy: ErrorLevels,
    /// Multipliers that are left out because redundant constraints leave them undetermined.
    pub undetermined: Vec<String>,
}

/// How times were measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Timing {
    /// Runs at the same time, each on one thread.
    pub jobs: usize,
    /// Seconds after which a run was stopped.
    pub timeout: f64,
}

/// Kinds of variables that have errors: what they are called, and their sign in tables.
pub const KINDS: [(&str, &str); 5] =
    [("positions", "p"), ("velocities", "v"), ("multipliers", "λ"), ("states", "x"), ("switch times", "switches")];

/// One number for each kind of variable; `None` where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ErrorLevels {
    /// Positions p.
    pub position: Option<f64>,
    /// Velocities v.
    pub velocity: Option<f64>,
    /// Multipliers λ and μ.
    pub multiplier: Option<f64>,
    /// States of general systems.
    pub state: Option<f64>,
    /// Times of switches between modes.
    pub switch: Option<f64>,
}

/// Largest residual of each level of the constraints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ConstraintLevels {
    /// g.
    pub position: Option<f64>,
    /// gI and nonholonomic constraints.
    pub velocity: Option<f64>,
    /// gII, and nonholonomic constraints differentiated.
    pub acceleration: Option<f64>,
    /// Constraints that a general system states.
    pub constraint: Option<f64>,
    /// Constraints that are hidden in it.
    pub hidden: Option<f64>,
}

/// One run. Counters are `None` where it could not even start.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ComparedRun {
    /// Name of the method.
    pub method: String,
    /// Name of the formulation.
    pub formulation: String,
    /// Relative and absolute tolerance.
    pub tolerance: f64,
    /// Why it did not reach the end; `None` if it did.
    pub failure: Option<String>,
    /// The time it reached.
    pub t_end: Option<f64>,
    /// Counters.
    #[serde(flatten)]
    pub counters: Option<Counters>,
    /// Computing time in seconds, the shortest of all repetitions.
    pub seconds: Option<f64>,
    /// (longest − shortest) / shortest.
    pub spread: Option<f64>,
    /// Repetitions that were timed.
    pub repeats: u32,
    /// Errors at the end.
    pub error: ErrorLevels,
    /// Largest residuals of the constraints.
    pub max_residual: ConstraintLevels,
    /// Largest change of an invariant e, |e − e(t0)| / max(1, |e(t0)|); `None` if the model has none.
    pub drift: Option<f64>,
}

/// What a run did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// Accepted steps.
    pub steps: u64,
    /// Attempts rejected by the error test.
    pub rejected_error: u64,
    /// Attempts rejected by Newton's iteration.
    pub rejected_newton: u64,
    /// Evaluations of the equations.
    pub residuals: u64,
    /// Jacobians.
    pub jacobians: u64,
    /// Decompositions for a step size.
    pub decompositions: u64,
    /// Newton iterations.
    pub solves: u64,
}

impl ErrorLevels {
    /// In the order of [`KINDS`].
    pub fn list(&self) -> [Option<f64>; 5] {
        [self.position, self.velocity, self.multiplier, self.state, self.switch]
    }

    /// The same backward.
    pub fn of(list: [Option<f64>; 5]) -> Self {
        let [position, velocity, multiplier, state, switch] = list;
        ErrorLevels { position, velocity, multiplier, state, switch }
    }
}

impl ConstraintLevels {
    /// In the order position, velocity, acceleration, stated, hidden.
    pub fn list(&self) -> [Option<f64>; 5] {
        [self.position, self.velocity, self.acceleration, self.constraint, self.hidden]
    }
}

impl Comparison {
    /// The runs that reached the end.
    pub fn succeeded(&self) -> impl Iterator<Item = &ComparedRun> {
        self.runs.iter().filter(|run| run.failure.is_none())
    }

    /// The runs that did not, with the reason.
    pub fn failed(&self) -> impl Iterator<Item = (&ComparedRun, &str)> {
        self.runs.iter().filter_map(|run| Some((run, run.failure.as_deref()?)))
    }

    /// Is an error of this kind, a place in [`KINDS`], larger than what the reference resolves?
    pub fn resolves(&self, kind: usize, error: f64) -> bool {
        self.reference.accuracy.list()[kind].is_none_or(|accuracy| error > accuracy)
    }

    /// Methods in the order of their first runs.
    pub fn methods(&self) -> Vec<&str> {
        distinct(self.runs.iter().map(|run| run.method.as_str()))
    }

    /// Formulations in the order of their first runs.
    pub fn formulations(&self) -> Vec<&str> {
        distinct(self.runs.iter().map(|run| run.formulation.as_str()))
    }

    /// Pairs of method and formulation in the order of their first runs.
    pub fn series(&self) -> Vec<(&str, &str)> {
        distinct(self.runs.iter().map(|run| (run.method.as_str(), run.formulation.as_str())))
    }

    /// Write it; there is no archive of arrays and no picture for papers.
    pub fn write(&self, format: Format, file: impl Write) -> Result<(), WriteError> {
        match format {
            Format::Csv => csv::write(self, file),
            Format::Json | Format::Npz | Format::Svg => json::write(self, file),
            Format::Html => page::comparison::write(self, file),
        }
    }
}

fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for one in all {
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found
}

fn ordered<S: Serializer>(entries: &[(String, f64)], serializer: S) -> Result<S::Ok, S::Error> {
    Ordered(entries.to_vec()).serialize(serializer)
}

#[cfg(test)]
pub(crate) mod example {
    //! A comparison for the tests.

    use super::*;

    /// Two methods, three tolerances, one failure.
    pub fn comparison() -> Comparison {
        let mut runs = Vec::new();
        for (method, formulation) in [("geoms", "psf"), ("radau", "ggl")] {
            for k in [3, 4, 5] {
                let tolerance = 10.0_f64.powi(-k);
                let failed = method == "radau" && k == 4;
                runs.push(ComparedRun {
                    method: method.into(),
                    formulation: formulation.into(),
                    tolerance,
                    failure: failed.then(|| "stopped after 10 s at t = 0.5".to_string()),
                    t_end: Some(if failed { 0.5 } else { 1.0 }),
                    counters: Some(Counters { steps: 10 * k as u64, residuals: 100 * k as u64, ..Counters::default() }),
                    seconds: (!failed).then_some(1e-4 * f64::from(k)),
                    spread: (!failed).then_some(0.03),
                    repeats: 3,
                    error: if failed {
                        ErrorLevels::default()
                    } else {
                        ErrorLevels {
                            position: Some(0.1 * tolerance),
                            velocity: Some(tolerance),
                            ..ErrorLevels::default()
                        }
                    },
                    max_residual: ConstraintLevels {
                        position: Some(1e-16),
                        velocity: Some(0.0),
                        acceleration: Some(1e-3 * tolerance),
                        ..ConstraintLevels::default()
                    },
                    drift: Some(1e-2 * tolerance),
                });
            }
        }
        Comparison {
            model: "pendulum".into(),
            description: "point mass on a rod".into(),
            tend: 1.0,
            command: "daedal compare pendulum".into(),
            parameters: vec![("m".into(), 1.0), ("L".into(), 2.0)],
            reference: ErrorReference {
                source: "elliptic functions".into(),
                accuracy: ErrorLevels { position: Some(2e-6), velocity: Some(1e-14), ..ErrorLevels::default() },
                ..ErrorReference::default()
            },
            timing: Timing { jobs: 2, timeout: 10.0 },
            runs,
            ..Comparison::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_failures_and_resolved_errors_are_told_apart() {
        let comparison = example::comparison();
        assert_eq!(comparison.series(), [("geoms", "psf"), ("radau", "ggl")]);
        assert_eq!(comparison.failed().count(), 1);
        assert_eq!(comparison.succeeded().count(), 5);
        assert!(comparison.resolves(0, 1e-5) && !comparison.resolves(0, 1e-6));
        assert!(comparison.resolves(2, 1e-99), "nothing is known about the accuracy of multipliers");
    }
}
