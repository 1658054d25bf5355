//! All solvers of a problem in turn, round by round, so that noise hits all alike; of each run the shortest time counts.

use super::classical::ClassicalCode;
use super::curve::{RunPoint, WorkPrecision};
use super::own::LoadedModel;
use super::problems::{OwnMethod, PeerProblem};
use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

/// What was measured on a problem.
pub struct Measured {
    /// The problem.
    pub problem: PeerProblem,
    /// Daedal first, its own choice at the front, then the peers.
    pub curves: Vec<WorkPrecision>,
    /// Seconds for reading the file, for the first start with compiling, and for a later start.
    pub start: [f64; 3],
}

/// What to spend.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// How often all solvers have their turn.
    pub rounds: usize,
    /// Seconds for the repetitions of a run in each round.
    pub budget: f64,
}

/// Longest time for a ladder, as for the peers.
const PATIENCE: Duration = Duration::from_secs(30);

/// Measure a problem with the peers of a folder.
pub fn measure(problem: PeerProblem, folder: &Path, effort: Effort) -> Result<Measured, Box<dyn Error>> {
    let (compared, tolerances) = (problem.compared(), problem.tolerances());
    let methods: Vec<OwnMethod> = [OwnMethod::new("auto")].into_iter().chain(problem.methods.iter().copied()).collect();
    let codes: Vec<ClassicalCode> = problem
        .peers
        .iter()
        .flat_map(|(code, forms)| forms.iter().map(|form| ClassicalCode::new(folder, code, form)))
        .collect();
    let mut model = LoadedModel::load(&problem)?;
    let mut runs: Vec<Vec<Option<RunPoint>>> = vec![vec![None; tolerances.len()]; methods.len() + codes.len()];
    for round in 0..effort.rounds {
        for (k, method) in methods.iter().enumerate() {
            let begin = Instant::now();
            for (best, &rtol) in runs[k].iter_mut().zip(&tolerances) {
                // what gave up once does so again
                if (round == 0 || best.is_some()) && begin.elapsed() < PATIENCE {
                    keep(best, model.run(&problem, &compared, *method, (rtol, effort.budget)));
                }
            }
        }
        for (code, runs) in codes.iter().zip(&mut runs[methods.len()..]) {
            let wanted: Vec<usize> = (0..runs.len()).filter(|&k| round == 0 || runs[k].is_some()).collect();
            let asked: Vec<f64> = wanted.iter().map(|&k| tolerances[k]).collect();
            let found = code
                .run(&problem, &compared, &asked, effort.budget)
                .map_err(|error| format!("{}: {error}; peers/setup.sh makes the programs", code.code))?;
            for (&k, point) in wanted.iter().zip(found) {
                keep(&mut runs[k], point);
            }
        }
    }
    let ours = methods.iter().map(|method| (format!("Daedal {method}"), true));
    let names = ours.chain(codes.iter().map(|code| (code.title(), false)));
    let curves = names.zip(runs).map(|((solver, ours), runs)| WorkPrecision {
        solver,
        ours,
        failed: runs.iter().zip(&tolerances).filter(|(run, _)| run.is_none()).map(|(_, &rtol)| rtol).collect(),
        points: runs.into_iter().flatten().collect(),
    });
    let start = [model.reading, model.first_start, model.later_start];
    Ok(Measured { problem, curves: curves.collect(), start })
}

/// The shorter of two runs.
fn keep(best: &mut Option<RunPoint>, found: Option<RunPoint>) {
    let Some(found) = found else { return };
    if best.is_none_or(|best| found.seconds < best.seconds) {
        *best = Some(found);
    }
}
