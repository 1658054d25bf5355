//! What can be known about a general system before a run.

mod claims;
mod finding;
mod perturbation;
mod written;

pub use claims::{ClaimVerdict, HiddenClaim, HiddenComparison};
pub use finding::Finding;
pub use perturbation::{PerturbationClass, PerturbationIndex};
pub use written::{shortened, too_long};

use super::characteristics::{AnalysisError, Bases, Characteristics, Depth, characterise, characterise_at};
use super::hidden::{MinimalArray, Restrictions, Role, minimal_array, restrictions};
use super::structural::{Structural, structural};
use super::{CharacteristicValues, DerivativeArray, System};
use crate::RadauIIa;
use crate::analysis::random::Random;
use crate::error::{SolveError, StepFailure};
use crate::initial::{Initial, Start};
use crate::linalg::rank::{CLEAR_GAP, Combination, Elimination, ON_JET, echelon, normalised};
use crate::options::{Options, Save};
use crate::problem::Problem;
use crate::solve::solve;
use crate::tolerance::Tolerance;
use faer::Mat;

/// Points beside the start that are looked at.
const NEARBY: usize = 4;
/// Points along a trajectory that are looked at.
const ALONG: usize = 6;
/// Most steps of that trajectory.
const MOST_STEPS: u64 = 3000;
/// The same for large systems: one point beside the start, two along a trajectory, and so many steps of one unknown.
const FEW: (usize, usize, u64) = (1, 2, 1_000_000);

/// Points beside the start, points along a trajectory, steps of it.
fn effort(system: &System) -> (usize, usize, u64) {
    let most = (FEW.2 / system.dim().max(1) as u64).clamp(10, MOST_STEPS);
    if system.is_large() { (FEW.0, FEW.1, most) } else { (NEARBY, ALONG, MOST_STEPS) }
}

/// How far points beside the start are, relative to 1 + |x|: nearer in large systems, whose parts are small.
fn distance(system: &System) -> f64 {
    if system.is_large() { 1e-4 } else { 1e-2 }
}

/// Ranks at another point; those of large systems are not confirmed.
fn look(
    system: &System,
    array: &mut DerivativeArray,
    (t, x): (f64, &[f64]),
    depth: Depth,
) -> Result<Characteristics, AnalysisError> {
    let confirm = depth.confirm && !system.is_large();
    characterise_at(system, array, t, x, Depth { confirm, ..depth })
}

/// How far to look.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scope {
    /// Depth of the derivative arrays.
    pub depth: Depth,
    /// Follow a trajectory up to this time and look at points on it.
    pub tend: Option<f64>,
}

/// A constraint that follows from the equations by differentiation.
#[derive(Clone, Debug, PartialEq)]
pub struct HiddenConstraint {
    /// How often equations were differentiated.
    pub level: usize,
    /// The equation it comes from.
    pub equation: String,
    /// Its formula, which vanishes along solutions.
    pub formula: String,
    /// Coefficients that it was divided by: it holds where none of them is zero.
    pub nonzero: Vec<String>,
}

/// Values of the analysis at another point.
#[derive(Clone, Debug, PartialEq)]
pub struct Elsewhere {
    /// Time.
    pub t: f64,
    /// Is it a point of the trajectory, or one beside the start?
    pub on_trajectory: bool,
    /// What was found there.
    pub values: CharacteristicValues,
}

/// What is known about a system at its start.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// Number of equations of the first-order form.
    pub equations: usize,
    /// Names of the unknowns of the first-order form.
    pub unknowns: Vec<String>,
    /// Ranks, characteristic values, consistent jet.
    pub at: Characteristics,
    /// Structural index.
    pub structural: Structural,
    /// Hidden constraints, if they have formulas.
    pub hidden: Vec<HiddenConstraint>,
    /// The formulas, for whoever wants to compute with them: with derivatives as further unknowns.
    pub array: Option<MinimalArray>,
    /// All constraints in the unknowns alone, where derivatives can be eliminated.
    pub restrictions: Option<Restrictions>,
    /// Guesses that had to be moved: name, given, consistent.
    pub moved: Vec<(String, f64, f64)>,
    /// Combinations of equations, differentiated as often as they have primes, that vanish identically. They contain no unknown:
    /// where they contain inputs, these must satisfy them.
    pub redundant: Vec<Combination>,
    /// Combinations of unknowns that nothing determines.
    pub undetermined: Vec<Combination>,
    /// Unknowns that can be given freely at the start, best choice.
    pub free: Vec<String>,
    /// Hidden constraints that the system states, compared with those that follow.
    pub comparison: HiddenComparison,
    /// What is known about the perturbation index.
    pub perturbation: PerturbationIndex,
    /// Results at other points.
    pub elsewhere: Vec<Elsewhere>,
    /// What is worth telling.
    pub findings: Vec<Finding>,
}

/// Analyse a system at initial values that are made consistent, at points beside them, and along a trajectory if asked for.
///
/// ```
/// use daedal::dae::analysis::{Scope, analyse};
/// use daedal::dae::{Equations, System};
/// use daedal::scalar::Scalar;
/// use daedal::Initial;
///
/// /// x' = y, 0 = x − sin t: index two.
/// struct Prescribed;
/// impl Equations for Prescribed {
///     fn dim(&self) -> usize { 2 }
///     fn names(&self) -> Vec<String> { vec!["x".into(), "y".into()] }
///     fn residual<S: Scalar>(&self, t: S, x: &[S], xdot: &[S], r: &mut [S]) {
///         r[0] = xdot[0] - x[1];
///         r[1] = x[0] - t.sin();
///     }
/// }
/// let found = analyse(&System::of(&Prescribed), &Initial::new(0.0, &[0.0, 0.0]), Scope::default())?;
/// assert_eq!(found.at.differentiation_index(), Some(2));
/// assert_eq!(found.hidden[0].formula, "y - cos(t)");
/// # Ok::<(), daedal::dae::AnalysisError>(())
/// ```
pub fn analyse(system: &System, initial: &Initial, scope: Scope) -> Result<Analysis, AnalysisError> {
    let depth = Depth { confirm: true, ..scope.depth };
    let at = characterise(system, initial, depth)?;
    let structural = structural(system, &at);
    let mut findings = Vec::new();
    look_at_structure(&structural, &at, &mut findings);
    if at.gap() < CLEAR_GAP {
        findings.push(Finding::UnclearRank { gap: at.gap() });
    }
    if !at.confirmed {
        findings.push(Finding::NotConfirmed { level: at.values.mu + 1 });
    }
    if at.fit.slow {
        findings.push(Finding::SlowConvergence { iterations: at.fit.iterations });
    }
    let array = match minimal_array(system, &at) {
        Ok(array) => Some(array),
        Err(cause) => {
            findings.push(Finding::NoFormulas { cause: cause.to_string() });
            None
        }
    };
    let restrictions = array.as_ref().map(|array| readable(system, &at, array));
    let comparison = claims::compare(system, &at, restrictions.as_ref(), depth);
    let mut elsewhere = beside(system, &at, scope.tend, depth);
    if let Some(other) = elsewhere.iter().find(|other| other.values != at.values) {
        findings.push(Finding::SingularPoint { here: at.values, nearby: other.values });
    }
    if let Some(tend) = scope.tend {
        follow(system, &at, tend, depth, &mut elsewhere, &mut findings);
    }
    let names = system.names();
    Ok(Analysis {
        equations: system.rows(),
        unknowns: names.to_vec(),
        structural,
        hidden: array.as_ref().zip(restrictions.as_ref()).map_or_else(Vec::new, hidden_constraints),
        array,
        restrictions,
        moved: moved(system, initial, &at),
        redundant: redundant(system, &at),
        undetermined: undetermined(system, &at),
        free: free(&at, names, &system.structure().differentiated()),
        comparison,
        perturbation: perturbation::find(system, &at),
        elsewhere,
        findings,
        at,
    })
}

/// Compare the hidden constraints that a system states with those that follow from its equations, at initial values that are made consistent.
pub fn compare_hidden(system: &System, initial: &Initial, depth: Depth) -> Result<HiddenComparison, AnalysisError> {
    if system.formulas.hidden.is_empty() {
        return Ok(HiddenComparison::default());
    }
    let at = characterise(system, initial, Depth { confirm: true, ..depth })?;
    let array = minimal_array(system, &at).ok();
    let derived = array.as_ref().map(|array| readable(system, &at, array));
    Ok(claims::compare(system, &at, derived.as_ref(), depth))
}

/// Constraints in the unknowns alone, unless nobody would read them.
fn readable(system: &System, at: &Characteristics, array: &MinimalArray) -> Restrictions {
    restrictions(system, at, array, |graph, residual| shortened(&mut graph.clone(), array, residual).is_some())
}

fn look_at_structure(structural: &Structural, at: &Characteristics, findings: &mut Vec<Finding>) {
    if let Structural::Regular { index, trusted, .. } = structural {
        match at.differentiation_index() {
            Some(numerical) if numerical != *index => {
                findings.push(Finding::StructuralIndexDiffers { structural: *index, numerical });
            }
            _ => {}
        }
        if !trusted {
            findings.push(Finding::StructureMisleads);
        }
    }
}

fn hidden_constraints((array, found): (&MinimalArray, &Restrictions)) -> Vec<HiddenConstraint> {
    let hidden = found.all.iter().filter(|c| c.level > 0 && c.role == Role::Constraint);
    hidden
        .map(|c| HiddenConstraint {
            level: c.level,
            equation: c.equations[0].0.clone(),
            formula: written::text(&found.graph, array, c.residual),
            nonzero: c.nonzero.iter().map(|&e| found.graph.formula(e)).collect(),
        })
        .collect()
}

/// Consistent points beside the start; where time enters and equations say nothing at the start, every other of them a little later.
fn beside(system: &System, at: &Characteristics, tend: Option<f64>, depth: Depth) -> Vec<Elsewhere> {
    let first = &system.first;
    let says_nothing = at.values.u > 0 || at.values.v > 0;
    let with_time = says_nothing && first.graph.needed(&first.equations).binary_search(&first.t).is_ok();
    let (count, length) = (effort(system).0, tend.map_or(1.0 + at.t.abs(), |tend| tend - at.t));
    let mut array = system.array();
    let mut random = Random::default();
    let mut found = Vec::new();
    for k in 0..count {
        let later = if with_time && k % 2 == 1 { 1e-2 * length * k as f64 / count as f64 } else { 0.0 };
        let t = at.t + later;
        let x: Vec<f64> = at.x().iter().map(|x| x + distance(system) * (1.0 + x.abs()) * random.next()).collect();
        if let Ok(other) = look(system, &mut array, (t, &x), depth) {
            found.push(Elsewhere { t, on_trajectory: false, values: other.values });
        }
    }
    found
}

/// Points along a trajectory.
fn follow(
    system: &System,
    at: &Characteristics,
    tend: f64,
    depth: Depth,
    elsewhere: &mut Vec<Elsewhere>,
    findings: &mut Vec<Finding>,
) {
    let mut problem = Problem::new(system, Initial::new(at.t, &[]), tend);
    problem.initial.states = vec![Start::Unknown; system.formulas.states.len()];
    for (&(state, order), &x) in system.first.origin.iter().zip(at.x()) {
        if order == 0 {
            problem.initial.states[state] = Start::Guess(x);
        } else {
            let block = order as usize - 1;
            if problem.initial.derivatives.len() <= block {
                problem.initial.derivatives.resize(block + 1, vec![Start::Unknown; system.formulas.states.len()]);
            }
            problem.initial.derivatives[block][state] = Start::Guess(x);
        }
    }
    let (_, along, most_steps) = effort(system);
    let mut times: Vec<f64> = (1..along).map(|k| at.t + (tend - at.t) * k as f64 / along as f64).collect();
    times.push(tend);
    let options = Options {
        tolerance: Tolerance::new(1e-5, 1e-5),
        save: Save::At(times),
        max_steps: most_steps,
        ..Options::default()
    };
    let solution = match solve(&problem, &RadauIIa::default(), &options) {
        Ok(solution) => solution,
        // enough has been seen of a long run
        Err(SolveError::Stopped { cause: StepFailure::TooManySteps { .. }, partial }) => *partial,
        Err(SolveError::Stopped { cause, partial }) => {
            findings.push(Finding::Trajectory { t: partial.end.t, cause: cause.to_string() });
            *partial
        }
        Err(error) => {
            findings.push(Finding::Trajectory { t: at.t, cause: error.to_string() });
            return;
        }
    };
    let mut array = system.array();
    for k in 0..solution.len() {
        let t = solution.times[k];
        if let Ok(there) = look(system, &mut array, (t, &solution.state(k)[..system.dim()]), depth) {
            elsewhere.push(Elsewhere { t, on_trajectory: true, values: there.values });
            if there.values != at.values && !findings.iter().any(|f| matches!(f, Finding::Changes { .. })) {
                findings.push(Finding::Changes { t, before: at.values, now: there.values });
            }
        }
    }
}

/// Guesses that are not kept.
fn moved(system: &System, initial: &Initial, at: &Characteristics) -> Vec<(String, f64, f64)> {
    let starts = initial.starts(&system.first);
    let mut moved = Vec::new();
    for (j, &found) in at.x().iter().enumerate() {
        if let Start::Guess(given) = starts[j]
            && (given - found).abs() > 1e-12 * (1.0 + given.abs())
        {
            moved.push((system.names()[j].clone(), given, found));
        }
    }
    moved
}

/// Redundant combinations in echelon form; a prime stands for a differentiation.
fn redundant(system: &System, at: &Characteristics) -> Vec<Combination> {
    let m = system.rows();
    let name = |i: usize| format!("{}{}", system.row_names()[i % m], "'".repeat(i / m));
    let projections = match (&at.bases, at.values.v) {
        (Bases::Pivots(pivots), v) if pivots.redundant.is_empty() || v == 0 => return Vec::new(),
        _ => at.projections(system),
    };
    let Ok(projections) = projections else { return alone(at.pivots().map(|p| &p.redundant[..]), name) };
    let Z3 = &projections.Z3;
    let names: Vec<String> = (0..Z3.nrows()).map(name).collect();
    // rows of the array are Taylor coefficients: j! of them are derivatives
    let factorial = |j: usize| (1..=j).map(|k| k as f64).product::<f64>();
    let vectors = columns(Z3);
    let vectors = vectors.into_iter().map(|z| z.iter().enumerate().map(|(i, z)| z / factorial(i / m)).collect());
    echelon(vectors.collect()).into_iter().map(normalised).map(|z| Combination::of(&rounded(z), &names)).collect()
}

/// Combinations of unknowns that nothing determines.
fn undetermined(system: &System, at: &Characteristics) -> Vec<Combination> {
    if at.values.u == 0 {
        return Vec::new();
    }
    match at.projections(system) {
        Ok(projections) => columns(&projections.U).iter().map(|u| Combination::of(u, system.names())).collect(),
        Err(_) => alone(at.pivots().map(|p| &p.undetermined[..]), |j| system.names()[j].clone()),
    }
}

/// What large systems tell of their null spaces: which rows or unknowns have no pivot.
fn alone(without: Option<&[usize]>, name: impl Fn(usize) -> String) -> Vec<Combination> {
    without.unwrap_or_default().iter().map(|&k| Combination::of(&[1.0], &[name(k)])).collect()
}

fn rounded(mut vector: Vec<f64>) -> Vec<f64> {
    vector.iter_mut().filter(|x| x.abs() < 1e-8).for_each(|x| *x = 0.0);
    vector
}

/// Columns of a basis in echelon form.
fn columns(Z: &Mat<f64>) -> Vec<Vec<f64>> {
    let vectors = (0..Z.ncols()).map(|k| (0..Z.nrows()).map(|i| Z[(i, k)]).collect()).collect();
    echelon(vectors).into_iter().map(|v| rounded(normalised(v))).collect()
}

/// Unknowns that the constraints leave free: all but the pivot columns of their gradients. Unknowns without derivatives are
/// determined first, so that initial values are asked for where one expects it.
fn free(at: &Characteristics, names: &[String], differentiated: &[bool]) -> Vec<String> {
    let gradients = match &at.bases {
        Bases::Vectors(projections) => &projections.constraints,
        Bases::Pivots(pivots) => {
            let mut found = Elimination::of_rows(pivots.constraints.iter().cloned(), names.len(), at.ranks.or(ON_JET));
            found.eliminate(|_| true, |j| !differentiated[j]);
            found.eliminate(|_| true, |_| true);
            return (0..names.len()).filter(|&j| !found.is_taken(j)).map(|j| names[j].clone()).collect();
        }
    };
    let (a, n) = (gradients.nrows(), gradients.ncols());
    let mut G = gradients.clone();
    let mut dependent = vec![false; n];
    for k in 0..a {
        // largest entry among these columns, and relative to its row
        let largest = |kept: &dyn Fn(usize) -> bool| {
            let mut best = (k, 0, 0.0, 0.0);
            for i in k..a {
                let top = (0..n).fold(0.0_f64, |top, j| top.max(G[(i, j)].abs()));
                for j in (0..n).filter(|&j| !dependent[j] && kept(j)) {
                    if G[(i, j)].abs() > best.2 {
                        best = (i, j, G[(i, j)].abs(), G[(i, j)].abs() / top);
                    }
                }
            }
            best
        };
        let algebraic = largest(&|j| !differentiated[j]);
        let (row, pivot, size, _) = if algebraic.3 > 1e-6 { algebraic } else { largest(&|_| true) };
        if size == 0.0 {
            break;
        }
        dependent[pivot] = true;
        for j in 0..n {
            let kept = G[(k, j)];
            G[(k, j)] = G[(row, j)];
            G[(row, j)] = kept;
        }
        for i in k + 1..a {
            let factor = G[(i, pivot)] / G[(k, pivot)];
            for j in 0..n {
                G[(i, j)] -= factor * G[(k, j)];
            }
        }
    }
    (0..n).filter(|&j| !dependent[j]).map(|j| names[j].clone()).collect()
}
