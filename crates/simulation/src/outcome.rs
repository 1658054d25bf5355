//! What a run gave, however it ended.

use crate::choice::MethodChoice;
use crate::error::Error;
use crate::model::Model;
use crate::outputs::{LastRates, RateRecorder};
use crate::record;
use crate::tolerances::Tolerances;
use crate::variables::ShownVariables;
use daedal::hybrid::HybridSolution;
use daedal::{BoundaryAccount, Verification};
use daedal::{Ended, Residuals, Save, Solution, Statistics};
use daedal_model::HybridModel;
use daedal_run::{Run, StepRecords, WarningRecord};
use serde::Serialize;

/// What a run gave.
pub struct Outcome {
    /// What was solved.
    pub model: Model,
    /// Method and formulation, with the reasons.
    pub choice: MethodChoice,
    /// Tolerances of all variables.
    pub tolerances: Tolerances,
    /// The interval that was asked for.
    pub interval: (f64, f64),
    /// How long it took.
    pub seconds: f64,
    /// What a reader should know although the run went on.
    pub warnings: Vec<WarningRecord>,
    /// Why the end was not reached.
    pub error: Option<Error>,
    /// What was computed; nothing if the run could not be started.
    pub computed: Option<Computed>,
    /// How a boundary value problem was solved.
    pub boundary: Option<BoundaryAccount>,
    pub(crate) steps: Option<StepRecords>,
    pub(crate) save: Save,
}

/// What was computed.
pub struct Computed {
    /// Time that was reached.
    pub t: f64,
    /// How the run ended.
    pub ended: Ended,
    /// Which equations were discretised, where the run decided it.
    pub formulation: Option<&'static str>,
    /// Counters.
    pub statistics: Statistics,
    /// Largest residuals of the constraints.
    pub max_residuals: Residuals,
    /// Combinations of unknowns that nothing determines.
    pub undetermined: Vec<Vec<(String, f64)>>,
    /// What the method decided by itself.
    pub decisions: String,
    /// How many events happened that do not switch.
    pub events: u64,
    /// The independent check, if it was asked for.
    pub verification: Option<Verification>,
    /// Modes and switches, of a model that has them.
    pub switching: Option<Switching>,
    pub(crate) result: SolverResult,
}

/// Modes and switches of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Switching {
    /// How many switches there were.
    pub switches: u64,
    /// How many of them in short succession.
    pub chattering: u64,
    /// All modes, generated ones at the end.
    pub modes: Vec<ModeShare>,
    /// Name of the last one.
    pub end_mode: String,
}

/// How much of a run a mode had.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModeShare {
    /// Its name.
    pub name: String,
    /// Was it generated for sliding, or written for it?
    pub sliding: bool,
    /// How often it was entered.
    pub entered: u64,
    /// Time spent in it.
    pub time: f64,
    /// Steps made in it.
    pub steps: u64,
}

/// The result of the solver.
pub(crate) enum SolverResult {
    Single { solution: Box<Solution<ShownVariables>>, rates: Option<RateRecorder> },
    Modes { solution: Box<HybridSolution>, rates: LastRates, model: Box<HybridModel>, with_rates: bool },
}

impl Computed {
    pub(crate) fn new(result: SolverResult) -> Self {
        match &result {
            SolverResult::Single { solution, .. } => Computed {
                t: solution.end.t,
                ended: solution.ended.clone(),
                formulation: Some(solution.layout.formulation),
                statistics: solution.statistics,
                max_residuals: solution.max_residuals,
                undetermined: solution.undetermined.clone(),
                decisions: solution.decisions.clone(),
                events: solution.events.len() as u64,
                verification: solution.verification.clone(),
                switching: None,
                result,
            },
            SolverResult::Modes { solution, .. } => Computed {
                t: solution.end.t,
                ended: solution.ended.clone(),
                formulation: None,
                statistics: solution.statistics,
                max_residuals: solution.max_residuals,
                undetermined: Vec::new(),
                decisions: String::new(),
                events: solution.event_count,
                verification: solution.verification.clone(),
                switching: Some(Switching::of(solution)),
                result,
            },
        }
    }
}

impl Switching {
    fn of(solution: &HybridSolution) -> Self {
        let share = |mode: &daedal::hybrid::ModeNames| ModeShare {
            name: mode.name.clone(),
            sliding: mode.sliding,
            entered: mode.entered,
            time: mode.time,
            steps: mode.statistics.steps,
        };
        Switching {
            switches: solution.switch_count,
            chattering: solution.chattering_count,
            modes: solution.modes.iter().map(share).collect(),
            end_mode: solution.modes[solution.end_mode].name.clone(),
        }
    }
}

impl Outcome {
    /// Everything that a run file holds; nothing if the run could not be started.
    pub fn record(&self) -> Option<Run> {
        let computed = self.computed.as_ref()?;
        Some(record::record(self, computed, true))
    }

    /// The same without the moving picture, which costs as much as a short run.
    pub fn numbers(&self) -> Option<Run> {
        let computed = self.computed.as_ref()?;
        Some(record::record(self, computed, false))
    }

    /// Which equations were discretised.
    pub fn formulation(&self) -> &str {
        self.computed.as_ref().and_then(|found| found.formulation).unwrap_or(&self.choice.formulation)
    }

    /// Counters by name; those of GEOMS only where it is among the methods, or where another method counts them.
    pub fn counters(&self) -> [(&'static str, Option<u64>); 10] {
        let statistics = self.computed.as_ref().map(|found| &found.statistics);
        let geoms = self.choice.method.split(", ").any(|method| method == "geoms");
        let count = |name, read: fn(&Statistics) -> u64| (name, statistics.map(read));
        let own = |name, read: fn(&Statistics) -> u64| (name, statistics.map(read).filter(|n| geoms || *n > 0));
        [
            count("steps", |s| s.steps),
            count("rejected_error", |s| s.rejected_error),
            count("rejected_newton", |s| s.rejected_newton),
            count("residuals", |s| s.residuals),
            count("jacobians", |s| s.jacobians),
            own("masses", |s| s.masses),
            own("selectors", |s| s.selectors),
            own("predecompositions", |s| s.predecompositions),
            count("decompositions", |s| s.decompositions),
            count("solves", |s| s.solves),
        ]
    }
}
