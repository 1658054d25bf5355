//! Consistent initial values: all constraint levels and the user's conditions hold, what is fixed stays, what is guessed moves least.
//!
//! F(x) = (k_C; conditions) = 0 by corrections of least change (`consistent/`): guessed positions move only as far as they must, then
//! guessed velocities and contact variables, then guessed multipliers; unknown values move freely. So each level is repaired by its own
//! variables, and a guess that is consistent is not moved at all. Steinbrecher (2006), 5.1.5.

mod levels;

use super::hidden::motion;
use super::{Form, Layout, Mechanism, ReducedArray};
use crate::consistent::{Balanced, CONSISTENT, Contradicting, Freedom, Requirements, Stage, solve};
use crate::initial::{BadInitial, Initial, Start, WrongLength};
use crate::linalg::rank::REGULAR;
use crate::linalg::{Mat, Matrix, RankRule};
use crate::method::State;

/// Consistent initial values, with what is worth knowing about them.
#[derive(Clone, Debug)]
pub struct Consistent {
    /// The values.
    pub state: State,
    /// Iterations.
    pub iterations: u32,
    /// Independent equations that were not needed: fixed values and conditions beyond the freedom of the system that agree with it.
    pub surplus: usize,
    /// Combinations of multipliers that redundant constraints leave undetermined; the smallest multipliers were taken.
    pub undetermined_multipliers: usize,
}

/// Why there are no consistent initial values.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InitialisationError {
    /// A block of the wrong length.
    #[error(transparent)]
    WrongLength(#[from] WrongLength),
    /// Values of another system.
    #[error(transparent)]
    Given(#[from] BadInitial),
    /// A given value is NaN or infinite.
    #[error("the initial value of {name} is {value}; give a finite number")]
    NotFinite {
        /// Which.
        name: String,
        /// Its value.
        value: f64,
    },
    /// The model has no finite value.
    #[error(
        "the model gives values that are not finite near the initial values (t = {t}); check them and the parameters"
    )]
    Undefined {
        /// Time.
        t: f64,
    },
    /// Too little is known.
    #[error(
        "underdetermined: nothing fixes {}; {}",
        .names.join(", "), remedy(.names, *.count)
    )]
    Underdetermined {
        /// Variables that can still move.
        names: Vec<String>,
        /// How many values are missing.
        count: usize,
    },
    /// Fixed values, conditions and constraints exclude each other.
    #[error(
        "contradictory: the initial values cannot satisfy {}{}",
        .equations.iter().map(|(name, residual)| format!("{name} (residual {residual:.3e})")).collect::<Vec<_>>().join(", "),
        contradiction_remedy(.equations, .fixed)
    )]
    Contradictory {
        /// Equations that contradict each other or the fixed values, with the residuals that are left when all of them are met as well
        /// as possible. Their residuals, as a vector, are orthogonal to every change of the values that are not fixed.
        equations: Vec<(String, f64)>,
        /// Fixed variables that take part.
        fixed: Vec<String>,
    },
    /// The iteration did not converge.
    #[error(
        "the iteration for consistent initial values did not converge in {iterations} iterations: {equation} has residual {residual:.3e}; start closer to a consistent state"
    )]
    NoConvergence {
        /// Iterations made.
        iterations: u32,
        /// The worst equation.
        equation: String,
        /// Its residual.
        residual: f64,
    },
}

/// What to do about equations that exclude each other.
fn contradiction_remedy(equations: &[(String, f64)], fixed: &[String]) -> String {
    match (fixed, equations) {
        ([], [_]) => "; nothing that may move changes it: check the model and its parameters".into(),
        ([], _) => " together: they contradict each other; remove one of them or change the parameters".into(),
        ([one], _) => format!("; fixed is {one}: make it a guess or change it"),
        (several, _) => format!("; fixed are {}: make one of them a guess", several.join(", ")),
    }
}

/// What to do about variables that nothing fixes.
fn remedy(names: &[String], count: usize) -> String {
    if names.iter().all(|name| name.ends_with('\'')) {
        "these are accelerations: the mass matrix is singular there and no constraint makes up for it".into()
    } else {
        let s = if count == 1 { "" } else { "s" };
        format!("give {count} more value{s} (as fixed or guessed) or condition{s}")
    }
}

/// Larger entries of a null vector move their variable.
const MOVES: f64 = 1e-6;
/// Position constraints may depend on each other where a singular value is below this part of the largest. Chosen: undamped corrections lead dependent rows
/// to where theirs is the square root of ε.
const MAY_DEPEND: f64 = 1e-6;

/// Find consistent initial values.
pub fn initialise(system: &dyn Mechanism, initial: &Initial, form: Form) -> Result<Consistent, InitialisationError> {
    initialise_by(system, initial, form, RankRule::default())
}

/// The same with ranks decided by a rule.
pub fn initialise_by(
    system: &dyn Mechanism,
    initial: &Initial,
    form: Form,
    ranks: RankRule,
) -> Result<Consistent, InitialisationError> {
    attempt(system, initial, form, ranks).outcome
}

/// What an initialisation led to, and where it ended.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    /// Consistent values, or why there are none.
    pub outcome: Result<Consistent, InitialisationError>,
    /// The last values: consistent ones, or those at which the equations are met as well as possible. `None` if nothing was computed.
    pub last: Option<Vec<f64>>,
}

/// Find consistent initial values, and say where the search ended if there are none.
pub(crate) fn attempt(system: &dyn Mechanism, initial: &Initial, form: Form, ranks: RankRule) -> Attempt {
    let mut last = None;
    let outcome = search(system, initial, form, ranks, &mut last);
    Attempt { outcome, last }
}

fn search(
    system: &dyn Mechanism,
    initial: &Initial,
    form: Form,
    ranks: RankRule,
    last: &mut Option<Vec<f64>>,
) -> Result<Consistent, InitialisationError> {
    let mut array = system.array(form, false);
    let layout = array.layout().clone();
    let names = system.names();
    let variables = layout.variable_names(&names);
    let mut equations = layout.row_names(&names);
    equations.extend(initial.conditions.iter().map(|c| format!("condition {}", c.name)));
    let starts = initial.values(&layout, &variables)?;
    if !initial.t.is_finite() {
        return Err(InitialisationError::NotFinite { name: "t0".into(), value: initial.t });
    }
    for (name, start) in variables.iter().zip(&starts) {
        if let Start::Fixed(value) | Start::Guess(value) = *start
            && !value.is_finite()
        {
            return Err(InitialisationError::NotFinite { name: name.clone(), value });
        }
    }
    if initial.conditions.is_empty() {
        let given = |start: &Start| if let Start::Fixed(value) | Start::Guess(value) = *start { value } else { 0.0 };
        let mut x: Vec<f64> = starts.iter().map(given).collect();
        let settled = levels::settle(&mut *array, || system.names(), initial.t, &starts, ranks, &mut x);
        if let Some(levels::Settled { iterations, redundant }) = settled {
            *last = Some(x.clone());
            let state = State { t: initial.t, x };
            return Ok(Consistent { state, iterations, surplus: 0, undetermined_multipliers: redundant });
        }
    }
    let freedom = freedom(&layout, &starts, ranks);
    let mut system = System::new(&mut *array, initial, &layout);
    // at zero the constraints may be singular: begin unknown positions, velocities and contacts elsewhere if that fails
    let elsewhere = (layout.n1()..layout.dim()).any(|j| starts[j] == Start::Unknown);
    let mut first_failure = None;
    for unknown in if elsewhere { &[0.0, 0.5, -0.5][..] } else { &[0.0] } {
        let begin = |(j, start): (usize, &Start)| match *start {
            Start::Fixed(value) | Start::Guess(value) => value,
            Start::Unknown if j < layout.n1() => 0.0,
            Start::Unknown => *unknown,
        };
        let mut x: Vec<f64> = starts.iter().enumerate().map(begin).collect();
        match system.settle(&freedom, &mut x, &equations, &variables) {
            Ok(iterations) => {
                *last = Some(x.clone());
                let (rank, surplus, undetermined_multipliers) = system.determined(&freedom, &x, &variables)?;
                let surplus = (system.F.len() - rank).saturating_sub(surplus);
                let state = State { t: initial.t, x };
                return Ok(Consistent { state, iterations, surplus, undetermined_multipliers });
            }
            Err(failure) => {
                if first_failure.is_none() {
                    *last = Some(x);
                }
                first_failure.get_or_insert(failure);
            }
        }
    }
    Err(first_failure.unwrap_or(InitialisationError::Undefined { t: initial.t }))
}

/// Classes in the order in which they are kept: guessed positions first, unknown values last.
fn freedom(layout: &Layout, starts: &[Start], ranks: RankRule) -> Freedom {
    let (mut fixed, mut classes) = (Vec::new(), vec![Vec::new(); 4]);
    for (j, &start) in starts.iter().enumerate() {
        match start {
            Start::Fixed(_) => fixed.push(j),
            Start::Unknown => classes[3].push(j),
            Start::Guess(_) if j < layout.n1() => classes[2].push(j),
            Start::Guess(_) if layout.v().contains(&j) || layout.s().contains(&j) => classes[1].push(j),
            Start::Guess(_) => classes[0].push(j),
        }
    }
    let tau = ranks.or(REGULAR);
    Freedom { fixed, classes, units: None, kept: None, tau, independent: false, equilibrated: false, damped: false }
}

/// The equations F(x) = 0 and their linearisation.
struct System<'a> {
    array: &'a mut dyn ReducedArray,
    initial: &'a Initial,
    layout: &'a Layout,
    rows: Vec<f64>,
    F: Vec<f64>,
    J: Matrix,
    /// ∂F/∂x, conditions included
    slopes: Mat<f64>,
    sizes: Vec<f64>,
}

impl Requirements for System<'_> {
    type Failure = InitialisationError;

    fn evaluate(&mut self, x: &[f64]) -> bool {
        let (t, at) = (self.initial.t, self.layout.algebraic());
        if self.array.evaluate(t, x, &mut self.rows).is_err() {
            return false;
        }
        self.F[..at].copy_from_slice(&self.rows[..at]);
        for (f, condition) in self.F[at..].iter_mut().zip(&self.initial.conditions) {
            *f = condition.value(&motion(self.layout, t, x));
        }
        self.F.iter().all(|f| f.is_finite())
    }

    fn linearise(&mut self, x: &[f64]) -> Result<(), InitialisationError> {
        let (t, at) = (self.initial.t, self.layout.algebraic());
        let undefined = InitialisationError::Undefined { t };
        if !self.evaluate(x) || self.array.dense_jacobian(t, x, &self.rows, &mut self.J).is_err() {
            return Err(undefined);
        }
        self.slopes = Mat::from_fn(self.F.len(), x.len(), |i, j| if i < at { -self.J[(i, j)] } else { 0.0 });
        // conditions are differenced
        for (c, condition) in self.initial.conditions.iter().enumerate() {
            let mut beside = x.to_vec();
            for j in 0..x.len() {
                let delta = 1e-6 * (1.0 + x[j].abs());
                let mut side = |shift: f64| {
                    beside[j] = x[j] + shift;
                    condition.value(&motion(self.layout, t, &beside))
                };
                self.slopes[(at + c, j)] = (side(delta) - side(-delta)) / (2.0 * delta);
                beside[j] = x[j];
            }
        }
        self.sizes = self.tolerances(x).iter().map(|tolerance| tolerance / CONSISTENT).collect();
        if self.slopes.is_all_finite() { Ok(()) } else { Err(undefined) }
    }

    fn values(&self) -> &[f64] {
        &self.F
    }

    fn sizes(&self) -> &[f64] {
        &self.sizes
    }

    fn slopes(&self) -> Mat<f64> {
        self.slopes.clone()
    }
}

impl<'a> System<'a> {
    fn new(array: &'a mut dyn ReducedArray, initial: &'a Initial, layout: &'a Layout) -> Self {
        let m = layout.algebraic() + initial.conditions.len();
        System {
            rows: vec![0.0; layout.rows()],
            F: vec![0.0; m],
            J: Matrix::zeros(layout.rows(), layout.dim()),
            slopes: Mat::zeros(m, layout.dim()),
            sizes: vec![1.0; m],
            array,
            initial,
            layout,
        }
    }

    /// What may remain of each equation, by its terms and rounding in their arguments.
    fn tolerances(&self, x: &[f64]) -> Vec<f64> {
        let at = self.layout.algebraic();
        let of = |i: usize| tolerance(|j| if i < at { self.J[(i, j)] } else { 1.0 }, x);
        let largest = |rows: std::ops::Range<usize>| rows.map(|i| of(i).1).fold(0.0, f64::max);
        // a constraint whose terms cancel is as exact as the other ones
        let constraints = largest(self.layout.row_g()).max(largest(self.layout.row_g1()));
        (0..self.F.len()).map(|i| of(i).0 + 1e-15 * (1.0 + constraints)).collect()
    }

    /// Move x onto the equations, or say why that is impossible; x is then where they are met as well as possible.
    fn settle(
        &mut self,
        freedom: &Freedom,
        x: &mut [f64],
        equations: &[String],
        variables: &[String],
    ) -> Result<u32, InitialisationError> {
        let l = self.layout;
        let (position, velocity) = (l.row_contact().start..l.row_g().end, l.row_g1().start..l.row_g().end);
        let stage = |rows, columns: std::ops::Range<usize>| {
            let free = freedom.free().into_iter().filter(|j| columns.contains(j)).collect();
            Stage { rows, free }
        };
        let stages = [
            stage(position, l.s().start..l.p().end),
            stage(velocity, l.v().start..l.p().end),
            stage(0..self.F.len(), 0..l.dim()),
        ];
        let begin = x.to_vec();
        // level by level: beside the constraints redundant ones look independent, and velocities and forces that satisfy all of them are wild
        let mut iterations = stages[0].solve(self, freedom, x)?;
        if iterations > 0 && self.may_depend(&stages[0], freedom, x)? {
            let damped = Freedom { damped: true, ..freedom.clone() };
            let mut moved = begin.clone();
            iterations += stages[0].solve(self, &damped, &mut moved)?;
            if moved != begin {
                x.copy_from_slice(&moved);
            }
        }
        iterations += stages[1].solve(self, freedom, x)?;
        let fit = solve(self, freedom, x)?;
        iterations += fit.iterations;
        if fit.consistent() {
            return Ok(iterations as u32);
        }
        // no solution at all, or one that was not found? Where the residual is smallest, a contradiction shows. What positions cannot satisfy is
        // no matter of velocities and multipliers
        x.copy_from_slice(&begin);
        Err(match Contradicting::near(self, freedom, &stages, x)? {
            Some(found) => InitialisationError::Contradictory {
                fixed: found.fixed.iter().map(|&j| variables[j].clone()).collect(),
                equations: found.equations.iter().map(|&(i, left)| (equations[i].clone(), left)).collect(),
            },
            None => {
                let equation = equations.get(fit.worst).cloned().unwrap_or_default();
                InitialisationError::NoConvergence { iterations: iterations as u32, equation, residual: fit.left }
            }
        })
    }

    /// Is there a small singular value of some rows, over what may move?
    fn may_depend(&mut self, stage: &Stage, freedom: &Freedom, x: &[f64]) -> Result<bool, InitialisationError> {
        if stage.rows.is_empty() || stage.free.is_empty() {
            return Ok(false);
        }
        self.linearise(x)?;
        let rows = self.slopes.subrows(stage.rows.start, stage.rows.len()).to_owned();
        let balanced = Balanced::new(&rows, x, freedom);
        let full = |(_, rank): (_, usize)| rank == stage.rows.len();
        Ok(!balanced.decompose(&stage.free, MAY_DEPEND).is_some_and(full))
    }

    fn is_multiplier(&self, j: usize) -> bool {
        self.layout.lambda().contains(&j) || self.layout.mu().contains(&j)
    }

    /// Directions in which only unknown values move and nothing changes are refused, unless multipliers alone do so: their constraints are
    /// redundant. The rank of all equations, the number of redundant constraints, and of null directions of the multipliers.
    fn determined(
        &mut self,
        freedom: &Freedom,
        x: &[f64],
        variables: &[String],
    ) -> Result<(usize, usize, usize), InitialisationError> {
        self.linearise(x)?;
        let (tau, undefined) = (freedom.tau, InitialisationError::Undefined { t: self.initial.t });
        let balanced = Balanced::new(&self.slopes, x, freedom);
        let unknown = &freedom.classes[3];
        let (svd, rank) = balanced.decompose(unknown, tau).ok_or(undefined)?;
        // what a rank takes for zero moves with it
        let still = MOVES.max(10.0 * tau);
        let mut free = vec![false; unknown.len()];
        let mut count = 0;
        for k in rank..unknown.len() {
            let moves: Vec<usize> = (0..unknown.len()).filter(|&u| svd.V[(u, k)].abs() > still).collect();
            if moves.iter().any(|&u| !self.is_multiplier(unknown[u])) {
                count += 1;
                for u in moves {
                    free[u] = true;
                }
            }
        }
        if count > 0 {
            // accelerations follow from the rest: name them only if nothing else is free
            let free: Vec<usize> = (0..unknown.len()).filter(|&u| free[u]).map(|u| unknown[u]).collect();
            let (accelerations, others): (Vec<usize>, Vec<usize>) =
                free.into_iter().partition(|j| self.layout.a().contains(j));
            let named = if others.is_empty() { accelerations } else { others };
            let names = named.into_iter().map(|j| variables[j].clone()).collect();
            return Err(InitialisationError::Underdetermined { names, count });
        }
        let rank_of = |balanced: &Balanced, columns: &[usize]| balanced.decompose(columns, tau).map(|found| found.1);
        let all: Vec<usize> = (0..x.len()).collect();
        let reached = freedom.least_change(&self.slopes, &self.F, x).map_or(self.F.len(), |change| change.rank);
        let multipliers: Vec<usize> = all.iter().copied().filter(|&j| self.is_multiplier(j)).collect();
        let null = rank_of(&balanced, &multipliers).map_or(0, |rank| multipliers.len() - rank);
        // constraints themselves, fixed variables included
        let m = self.layout.algebraic();
        let every = Freedom { fixed: vec![], classes: vec![], units: Some(vec![1.0; x.len()]), ..freedom.clone() };
        let constraints = Balanced::new(&self.slopes.subrows(0, m).to_owned(), x, &every);
        let redundant = rank_of(&constraints, &all).map_or(0, |rank| m - rank);
        Ok((reached, redundant, null))
    }
}

/// What may remain of an equation with slopes a: a small part of its largest term max |aⱼ xⱼ|, and of max |aⱼ| (1 + |xⱼ|), which rounding of its
/// arguments changes; the largest term besides.
pub(crate) fn tolerance(slope: impl Fn(usize) -> f64, x: &[f64]) -> (f64, f64) {
    tolerance_of(x.iter().enumerate().map(|(j, &x)| (slope(j), x)))
}

/// The same from slopes with their values.
pub(crate) fn tolerance_of(terms: impl Iterator<Item = (f64, f64)>) -> (f64, f64) {
    let (terms, rounding) = terms.fold((0.0, 0.0), |(terms, rounding), (slope, x)| {
        let slope = slope.abs();
        (f64::max(terms, slope * x.abs()), f64::max(rounding, slope * (1.0 + x.abs())))
    });
    (CONSISTENT * terms + 1e-13 * rounding, terms)
}
