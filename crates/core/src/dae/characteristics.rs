//! What a DAE is at a consistent point: a consistent jet, the ranks of its levels, the characteristic values.

use super::initial::{conditions, freedom, values};
use super::jet::{Conditions, OnJet};
use super::levels::{self, Level, Pivots, Projections};
use super::missing::complete;
use super::{CharacteristicValues, DerivativeArray, MOST_LEVELS, System};
use crate::consistent::{Contradicting, Fit, Stage, solve};
use crate::initial::{BadInitial, Initial, Start};
use crate::linalg::{Matrix, RankRule, SparseMatrix};
use std::borrow::Cow;

/// How far to go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Depth {
    /// Most differentiations.
    pub most: usize,
    /// Look one level further than the hypothesis needs, to confirm that no constraint is left.
    pub confirm: bool,
    /// How ranks are decided.
    pub ranks: RankRule,
}

impl Default for Depth {
    fn default() -> Self {
        Depth { most: 9, confirm: false, ranks: RankRule::default() }
    }
}

/// The result at one point.
#[derive(Clone, Debug)]
pub struct Characteristics {
    /// Strangeness index and characteristic values.
    pub values: CharacteristicValues,
    /// Ranks of all levels that were looked at.
    pub levels: Vec<Level>,
    /// Bases at level μ, or what sparse matrices tell instead.
    pub bases: Bases,
    /// Time of the point.
    pub t: f64,
    /// The consistent jet of level μ: X_0, …, X_{μ+1}.
    pub jet: Vec<f64>,
    /// How the jet of level μ was found.
    pub fit: Fit,
    /// Had guesses to be moved?
    pub released: bool,
    /// Did the level beyond show nothing new? Only looked at if asked for; derivatives of stiff systems may be out of reach.
    pub confirmed: bool,
    /// How ranks were decided.
    pub ranks: RankRule,
}

/// What belongs to the ranks at level μ.
#[derive(Clone, Debug)]
pub enum Bases {
    /// By singular vectors.
    Vectors(Box<Projections>),
    /// By pivots of sparse matrices.
    Pivots(Pivots),
}

/// Largest derivative array that is decomposed densely although it is sparse, as entries: two seconds or so, and 160 MB for the decomposition.
const MOST_DENSE: usize = 2_000_000;

impl Characteristics {
    /// Bases of singular vectors; those of a sparse array are made for it, unless it is too large.
    pub fn projections(&self, system: &System) -> Result<Cow<'_, Projections>, AnalysisError> {
        if let Bases::Vectors(projections) = &self.bases {
            return Ok(Cow::Borrowed(projections));
        }
        let (m, n, level) = (system.rows(), system.dim(), self.values.mu);
        let (rows, columns) = (m * (level + 1), n * (level + 2));
        if rows * columns > MOST_DENSE {
            return Err(AnalysisError::TooLarge { unknowns: n, rows, columns, memory: gigabytes(rows, columns) });
        }
        let undefined = || AnalysisError::Undefined { t: self.t };
        let mut J = Matrix::zeros(rows, columns);
        system.array().jacobian(level, self.t, &self.jet, &mut J).map_err(|_| undefined())?;
        let found = levels::analyse(&J, (m, n), level, 0, None, self.ranks);
        found.map(|(_, projections, _)| Cow::Owned(projections)).ok_or_else(undefined)
    }

    /// What sparse matrices tell.
    pub fn pivots(&self) -> Option<&Pivots> {
        if let Bases::Pivots(pivots) = &self.bases { Some(pivots) } else { None }
    }

    /// Gradients of all constraints, as (unknown, slope).
    pub fn constraints(&self) -> Vec<Vec<(usize, f64)>> {
        match &self.bases {
            Bases::Pivots(pivots) => pivots.constraints.clone(),
            Bases::Vectors(projections) => {
                let C = &projections.constraints;
                let row = |i: usize| (0..C.ncols()).map(move |j| (j, C[(i, j)])).filter(|(_, c)| *c != 0.0).collect();
                (0..C.nrows()).map(row).collect()
            }
        }
    }

    /// Maximal constraint level: the last level that brought a new constraint; `None` without constraints.
    pub fn constraint_level(&self) -> Option<usize> {
        let mut last = 0;
        let mut found = None;
        for level in &self.levels {
            if level.a > last {
                found = Some(level.level);
            }
            last = level.a;
        }
        found
    }

    /// Differentiation index by the rank test, of square systems without redundant equations and undetermined unknowns.
    pub fn differentiation_index(&self) -> Option<usize> {
        (self.values.u == 0 && self.values.v == 0).then_some(())?;
        if self.values.a == 0 {
            return Some(0);
        }
        self.levels.iter().find(|l| l.one_full).map(|l| l.level).or(self.values.differentiation_index())
    }

    /// The unknowns.
    pub fn x(&self) -> &[f64] {
        &self.jet[..self.dim()]
    }

    /// Their derivatives.
    pub fn xdot(&self) -> &[f64] {
        &self.jet[self.dim()..2 * self.dim()]
    }

    fn dim(&self) -> usize {
        self.jet.len() / (self.values.mu + 2)
    }

    /// Smallest gap between kept and dropped singular values among all decisions.
    pub fn gap(&self) -> f64 {
        self.levels.iter().map(|l| l.gap).fold(f64::INFINITY, f64::min)
    }
}

/// Why nothing could be said, or no consistent values found.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AnalysisError {
    /// Not as many starting values as states.
    #[error("{given} initial values given for {wanted} states")]
    WrongLength {
        /// How many were given.
        given: usize,
        /// How many there are.
        wanted: usize,
    },
    /// Values of another system.
    #[error(transparent)]
    Given(#[from] BadInitial),
    /// A starting value is NaN or infinite.
    #[error("the initial value of `{name}` is not finite")]
    NotFinite {
        /// Which.
        name: String,
    },
    /// The equations have no value.
    #[error(
        "at t = {t}: the equations have no finite value at the initial values; give other guesses, or check the model here"
    )]
    Undefined {
        /// Time.
        t: f64,
    },
    /// Values that are fixed do not satisfy the equations.
    #[error(
        "at t = {t}: no consistent initial values with {} fixed: {}; fix fewer values, give some of them as guesses, or correct them",
        fixed.join(", "), violated(equations)
    )]
    FixedInconsistent {
        /// Time.
        t: f64,
        /// The equations that contradict each other or the fixed values, when all of them are met as well as possible.
        equations: Vec<Violated>,
        /// Fixed values that take part.
        fixed: Vec<String>,
    },
    /// No consistent values were found near the guesses.
    #[error(
        "at t = {t}: no consistent initial values near the given ones: {}; the equations contradict each other here, or better guesses are needed",
        violated(equations)
    )]
    Inconsistent {
        /// Time.
        t: f64,
        /// The equations that contradict each other, when all of them are met as well as possible.
        equations: Vec<Violated>,
    },
    /// A function in the equations has too few derivatives.
    #[error(
        "the table `{table}` has {smoothness} continuous derivatives, and the equations must be differentiated {} (strangeness index {needed}): give it a smoothness of {needed} at least",
        if *needed == 1 { "once".to_string() } else { format!("{needed} times") }
    )]
    NotSmooth {
        /// Its name.
        table: String,
        /// What it has.
        smoothness: usize,
        /// What is needed.
        needed: usize,
    },
    /// Unknowns that nothing determines, and that are not declared free.
    #[error(
        "at t = {t}: nothing determines {}; {}; {}or declare free = [{}], which then keep{} the initial value{}",
        several(unknowns), missing_equations(*missing, *sizes), told_twice(dependent), quoted(free),
        if free.len() == 1 { "s" } else { "" }, if free.len() == 1 { "" } else { "s" }
    )]
    Undetermined {
        /// Time.
        t: f64,
        /// Unknowns that take part.
        unknowns: Vec<String>,
        /// How many equations are missing.
        missing: usize,
        /// Number of equations and of unknowns, as written.
        sizes: (usize, usize),
        /// Equations that say what others say.
        dependent: Vec<String>,
        /// Unknowns that could be declared free.
        free: Vec<String>,
    },
    /// A stated invariant changes along the solutions.
    #[error(
        "at t = {t}: the stated invariant `{name}` is none: the equations change it at a rate of {rate:.1e}, its terms having the size {terms:.1e}; correct it, or take it out of the invariants"
    )]
    NotInvariant {
        /// Time.
        t: f64,
        /// Its name.
        name: String,
        /// Its derivative along the solution.
        rate: f64,
        /// Sum of the absolute terms of the derivative.
        terms: f64,
    },
    /// Something needs a dense decomposition of a large derivative array.
    #[error(
        "the derivative array of {unknowns} unknowns ({rows} equations for {columns} derivatives) is too large for a dense decomposition, which would take about {memory:.1} GB: equations that are redundant, unknowns that are not determined and the form array ask for it; correct the equations, or make the model smaller to see what is wrong"
    )]
    TooLarge {
        /// Number of unknowns.
        unknowns: usize,
        /// Rows of the array.
        rows: usize,
        /// Its columns.
        columns: usize,
        /// What its decomposition takes, in GB.
        memory: f64,
    },
    /// The strangeness hypothesis was not met.
    #[error(
        "at t = {t}: the strangeness index was not found up to {most} differentiations (last level: a = {}, v = {}, d = {} of {equations} equations): it is higher, or ranks are not constant here (a singular point); set rank_tolerance if one is decided wrongly",
        last.a, last.v, last.d
    )]
    IndexNotFound {
        /// Time.
        t: f64,
        /// Most differentiations.
        most: usize,
        /// Ranks of the last level.
        last: Box<Level>,
        /// Number of equations.
        equations: usize,
    },
}

/// An equation that cannot be satisfied together with others.
#[derive(Clone, Debug, PartialEq)]
pub struct Violated {
    /// Its name.
    pub equation: String,
    /// How often it is differentiated.
    pub differentiated: usize,
    /// What is left of it.
    pub residual: f64,
}

/// Memory of a singular value decomposition with all of its vectors.
fn gigabytes(rows: usize, columns: usize) -> f64 {
    let (m, n) = (rows as f64, columns as f64);
    8e-9 * (2.0 * m * n + m * m + n * n)
}

fn violated(equations: &[Violated]) -> String {
    let told = |v: &Violated| {
        format!("{} keeps a residual of {:.1e}", differentiated(&v.equation, v.differentiated), v.residual.abs())
    };
    equations.iter().map(told).collect::<Vec<_>>().join(" while ")
}

impl AnalysisError {
    /// What it means for a run, in a few words.
    pub fn headline(&self) -> &'static str {
        match self {
            AnalysisError::Undetermined { .. } => "the equations do not determine the solution",
            AnalysisError::NotInvariant { .. } => "a stated invariant is none",
            AnalysisError::NotSmooth { .. } => "a table is not smooth enough",
            AnalysisError::TooLarge { .. } => "the system is too large",
            _ => "no consistent initial values",
        }
    }
}

/// Names in a sentence; the first few of many.
fn several(names: &[String]) -> String {
    const MOST: usize = 6;
    let all: Vec<String> = names.iter().take(MOST).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > MOST { ", …" } else { "" };
    match all.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) if more.is_empty() => format!("{} and {last} completely", rest.join(", ")),
        _ => format!("{}{more}", all.join(", ")),
    }
}

fn quoted(names: &[String]) -> String {
    const MOST: usize = 20;
    let more = if names.len() > MOST { ", …" } else { "" };
    names.iter().take(MOST).map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ") + more
}

fn missing_equations(missing: usize, (equations, unknowns): (usize, usize)) -> String {
    let what = if missing == 1 { "an equation is missing".into() } else { format!("{missing} equations are missing") };
    format!("{what} ({equations} for {unknowns} unknown{})", if unknowns == 1 { "" } else { "s" })
}

fn told_twice(dependent: &[String]) -> String {
    match dependent {
        [] => "add one that contains them, ".into(),
        [one] => format!("`{one}` says nothing here: replace it, "),
        all => format!("{} follow from each other here: replace one, ", several(all).replace(" completely", "")),
    }
}

/// An equation with the number of its differentiations.
pub(super) fn differentiated(equation: &str, times: usize) -> String {
    match times {
        0 => format!("`{equation}`"),
        1 => format!("`{equation}`, differentiated once,"),
        2 => format!("`{equation}`, differentiated twice,"),
        k => format!("`{equation}`, differentiated {k} times,"),
    }
}

/// Analyse a system at initial values that are made consistent.
pub fn characterise(system: &System, initial: &Initial, depth: Depth) -> Result<Characteristics, AnalysisError> {
    check(system, initial)?;
    let completed = complete(system, initial, depth.ranks);
    let initial = completed.as_ref().map_or(initial, |(initial, _)| initial);
    let starts = initial.starts(&system.first);
    let mut array = system.array();
    let mut further = conditions(system, initial);
    let mut search = LevelSearch {
        system,
        array: &mut array,
        conditions: further.as_mut(),
        t: initial.t,
        starts: &starts,
        condition_names: initial.conditions.iter().map(|c| format!("condition {}", c.name)).collect(),
        released: false,
        ranks: depth.ranks,
    };
    let mut jet = values(&starts);
    search.run(&mut jet, depth)
}

/// What is given about the states, and where a search begins.
pub(super) fn states_of(system: &System, initial: &Initial) -> Result<(Vec<Start>, Vec<f64>), AnalysisError> {
    check(system, initial)?;
    let mut starts = initial.starts(&system.first);
    starts.truncate(system.dim());
    let x = values(&starts);
    Ok((starts, x))
}

/// Analyse a system at a state that is taken as it is, or as little changed as possible.
pub fn characterise_at(
    system: &System,
    array: &mut DerivativeArray,
    t: f64,
    x: &[f64],
    depth: Depth,
) -> Result<Characteristics, AnalysisError> {
    let n = system.dim();
    let mut starts: Vec<Start> = x.iter().map(|&x| Start::Guess(x)).collect();
    starts.resize(2 * n, Start::Unknown);
    let mut jet = values(&starts);
    let ranks = depth.ranks;
    let condition_names = Vec::new();
    LevelSearch { system, array, conditions: None, t, starts: &starts, condition_names, released: false, ranks }
        .run(&mut jet, depth)
}

fn check(system: &System, initial: &Initial) -> Result<(), AnalysisError> {
    let (given, wanted) = (initial.states.len(), system.formulas.states.len());
    if given != wanted {
        return Err(AnalysisError::WrongLength { given, wanted });
    }
    initial.check(&system.first)?;
    let starts = initial.starts(&system.first);
    for (k, start) in starts.iter().enumerate() {
        if let Start::Fixed(x) | Start::Guess(x) = start
            && !x.is_finite()
        {
            return Err(AnalysisError::NotFinite { name: system.names()[k % system.dim()].clone() });
        }
    }
    Ok(())
}

struct LevelSearch<'s, 'a> {
    system: &'s System,
    array: &'a mut DerivativeArray,
    conditions: Option<&'a mut Conditions>,
    t: f64,
    starts: &'s [Start],
    condition_names: Vec<String>,
    released: bool,
    ranks: RankRule,
}

impl LevelSearch<'_, '_> {
    fn run(&mut self, jet: &mut Vec<f64>, depth: Depth) -> Result<Characteristics, AnalysisError> {
        let (m, n) = (self.array.rows(), self.array.dim());
        let most = depth.most.min(MOST_LEVELS - 1);
        let mut found: Vec<Level> = Vec::new();
        let mut corank = 0;
        let mut result: Option<Characteristics> = None;
        for level in 0..=most + 1 {
            if level > most && result.is_none() {
                break;
            }
            jet.resize((level + 2) * n, 0.0);
            let fit = match (self.consistent(level, jet), result.take()) {
                (Ok(fit), found) => {
                    result = found;
                    fit
                }
                // the level beyond is only looked at to confirm
                (Err(_), Some(found)) => return Ok(found),
                (Err(error), None) => return Err(error),
            };
            let (ranks, bases) = self.ranks_at(level, jet, corank)?;
            corank = m * (level + 1) - ranks.rank;
            found.push(ranks.clone());
            if let Some(mut result) = result.take() {
                // the level beyond: nothing new may turn up. If it does, derivatives of this order are out of reach, or ranks change here: the
                // result is that of the level where the hypothesis holds, as for a run, and not confirmed
                if ranks.a == result.values.a && ranks.holds {
                    (result.levels, result.confirmed) = (found, true);
                }
                return Ok(result);
            }
            if ranks.holds {
                let values = levels::characteristic(&ranks, m, n);
                let result_here = Characteristics {
                    values,
                    levels: found.clone(),
                    bases,
                    t: self.t,
                    jet: jet.clone(),
                    fit,
                    released: self.released,
                    confirmed: false,
                    ranks: self.ranks,
                };
                if !depth.confirm {
                    return Ok(result_here);
                }
                result = Some(result_here);
            }
        }
        match result {
            Some(result) => Ok(result),
            None => Err(AnalysisError::IndexNotFound {
                t: self.t,
                most,
                equations: m,
                last: Box::new(found.pop().unwrap_or(Level {
                    level: 0,
                    rank: 0,
                    a: 0,
                    v: 0,
                    d: 0,
                    holds: false,
                    one_full: false,
                    gap: 0.0,
                })),
            }),
        }
    }

    /// Ranks of a level at a jet.
    fn ranks_at(&mut self, level: usize, jet: &[f64], corank: usize) -> Result<(Level, Bases), AnalysisError> {
        let (m, n, t) = (self.array.rows(), self.array.dim(), self.t);
        let undefined = AnalysisError::Undefined { t };
        if self.array.is_sparse() {
            let mut J = SparseMatrix::new(m * (level + 1), (level + 2) * n, self.array.places(level));
            self.array.sparse_jacobian(level, t, jet, &mut J).map_err(|_| undefined)?;
            let (ranks, pivots) = levels::analyse_sparse(&J, (m, n), level, corank, self.ranks);
            return Ok((ranks, Bases::Pivots(pivots)));
        }
        let mut J = Matrix::zeros(m * (level + 1), (level + 2) * n);
        self.array.jacobian(level, t, jet, &mut J).map_err(|_| undefined.clone())?;
        let (ranks, projections, _) = levels::analyse(&J, (m, n), level, corank, None, self.ranks).ok_or(undefined)?;
        Ok((ranks, Bases::Vectors(Box::new(projections))))
    }

    /// A consistent jet of a level; guesses are released only if it is impossible to keep them.
    fn consistent(&mut self, level: usize, jet: &mut [f64]) -> Result<Fit, AnalysisError> {
        let (begin, mut last) = (jet.to_vec(), None);
        for released in [false, true] {
            if !released && self.released {
                continue;
            }
            let freedom = freedom(self.starts, released, jet.len(), self.ranks);
            let mut equations = OnJet::new(self.array, self.conditions.as_deref_mut(), level, self.t);
            jet.copy_from_slice(&begin);
            match solve(&mut equations, &freedom, jet) {
                Ok(fit) if fit.consistent() => {
                    self.released = released;
                    return Ok(fit);
                }
                Ok(fit) => last = Some(fit),
                Err(_) => {}
            }
        }
        let undefined = AnalysisError::Undefined { t: self.t };
        let fit = last.ok_or(undefined.clone())?;
        jet.copy_from_slice(&begin);
        Err(self.contradiction(level, jet, &fit).unwrap_or(undefined))
    }

    /// What excludes each other where no jet is consistent; if that is not found, the equation that is violated most and all that is fixed.
    fn contradiction(&mut self, level: usize, jet: &mut [f64], fit: &Fit) -> Option<AnalysisError> {
        let (t, m, names) = (self.t, self.array.rows(), self.system.names());
        let freedom = freedom(self.starts, true, jet.len(), self.ranks);
        let mut equations = OnJet::new(self.array, self.conditions.as_deref_mut(), level, t);
        let stage = Stage { rows: 0..equations.rows(), free: freedom.free() };
        let found = Contradicting::near(&mut equations, &freedom, &[stage], jet).ok()?;
        let found = found.unwrap_or(Contradicting { equations: vec![(fit.worst, fit.left)], fixed: freedom.fixed });
        let equations = found.equations.iter().map(|&(row, residual)| match row / m {
            differentiated if differentiated <= level => {
                Violated { equation: self.system.row_names()[row % m].clone(), differentiated, residual }
            }
            _ => {
                Violated { equation: self.condition_names[row - m * (level + 1)].clone(), differentiated: 0, residual }
            }
        });
        let equations = equations.collect();
        let mut fixed: Vec<String> = Vec::new();
        for k in found.fixed {
            // a derivative that is an unknown stands in x and in ẋ
            let name = format!("{}{}", names[k % names.len()], if k < names.len() { "" } else { "'" });
            if !fixed.contains(&name) {
                fixed.push(name);
            }
        }
        Some(if fixed.is_empty() {
            AnalysisError::Inconsistent { t, equations }
        } else {
            AnalysisError::FixedInconsistent { t, equations, fixed }
        })
    }
}
