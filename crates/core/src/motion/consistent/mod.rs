//! Consistent initial values: all constraint levels and the user's conditions hold, what is fixed stays, what is guessed moves least.
//!
//! Gauss–Newton on F(x) = (k_C; conditions) over the values that are not fixed. The correction solves the linearised equations with the
//! smallest movement in lexicographic order: guessed positions move only as far as they must, then guessed velocities and contact
//! variables, then guessed multipliers; unknown values move freely. So each level is repaired by its own variables, and a guess that is
//! consistent is not moved at all. Steinbrecher (2006), 5.1.5.

mod blame;

use super::hidden::motion;
use super::{Form, Layout, Mechanism, ReducedArray};
use crate::initial::{BadInitial, Initial, Start, WrongLength};
use crate::linalg::rank::{REGULAR, balance};
use crate::linalg::{Matrix, RankRule, Svd};
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

const MOST_ITERATIONS: u32 = 60;
/// Larger entries of a null vector move their variable.
const MOVES: f64 = 1e-6;

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
    // at zero the constraints may be singular: begin unknown positions, velocities and contacts elsewhere if that fails
    let mut first_failure = None;
    for unknown in [0.0, 0.5, -0.5] {
        let begin = |(j, start): (usize, &Start)| match *start {
            Start::Fixed(value) | Start::Guess(value) => value,
            Start::Unknown if j < layout.n1() => 0.0,
            Start::Unknown => unknown,
        };
        let x = starts.iter().enumerate().map(begin).collect();
        let mut system = System::new(&mut *array, initial, &starts, &layout, x, ranks);
        match system.iterate(&equations, &variables) {
            Ok(iterations) => {
                *last = Some(system.x.clone());
                system.check_determined(&variables)?;
                let (surplus, undetermined_multipliers) = system.surplus();
                let state = State { t: initial.t, x: system.x };
                return Ok(Consistent { state, iterations, surplus, undetermined_multipliers });
            }
            Err(failure) => {
                let try_again = (layout.n1()..layout.dim()).any(|j| starts[j] == Start::Unknown);
                if first_failure.is_none() {
                    *last = Some(system.x);
                }
                first_failure.get_or_insert(failure);
                if !try_again {
                    break;
                }
            }
        }
    }
    Err(first_failure.unwrap_or(InitialisationError::Undefined { t: initial.t }))
}

/// Classes of variables in the order in which they are kept: guessed positions first, unknown values last.
const CLASSES: usize = 4;

/// Class of a variable that is not fixed.
fn class(layout: &Layout, j: usize, start: Start) -> usize {
    if start == Start::Unknown {
        3
    } else if j < layout.n1() {
        2
    } else if layout.v().contains(&j) || layout.s().contains(&j) {
        1
    } else {
        0
    }
}

/// The equations F(x) = 0 and their linearisation.
struct System<'a> {
    array: &'a mut dyn ReducedArray,
    initial: &'a Initial,
    layout: &'a Layout,
    x: Vec<f64>,
    fixed: Vec<usize>,
    /// columns of each class
    classes: [Vec<usize>; CLASSES],
    rows: Vec<f64>,
    F: Vec<f64>,
    J: Matrix,
    /// ∂F/∂x with all columns, conditions included
    slopes: Matrix,
    /// R J D, rows and columns of comparable size
    scaled: Matrix,
    row_scale: Vec<f64>,
    col_scale: Vec<f64>,
    rank: usize,
    ranks: RankRule,
}

impl<'a> System<'a> {
    fn new(
        array: &'a mut dyn ReducedArray,
        initial: &'a Initial,
        starts: &[Start],
        layout: &'a Layout,
        x: Vec<f64>,
        ranks: RankRule,
    ) -> Self {
        let mut classes: [Vec<usize>; CLASSES] = std::array::from_fn(|_| Vec::new());
        let mut fixed = Vec::new();
        for (j, &start) in starts.iter().enumerate() {
            if let Start::Fixed(_) = start {
                fixed.push(j);
            } else {
                classes[class(layout, j, start)].push(j);
            }
        }
        let m = layout.algebraic() + initial.conditions.len();
        System {
            rows: vec![0.0; layout.rows()],
            F: vec![0.0; m],
            J: Matrix::zeros(layout.rows(), x.len()),
            slopes: Matrix::zeros(m, x.len()),
            scaled: Matrix::zeros(m, x.len()),
            row_scale: vec![1.0; m],
            col_scale: vec![1.0; x.len()],
            rank: 0,
            ranks,
            array,
            initial,
            layout,
            x,
            fixed,
            classes,
        }
    }

    fn undefined(&self) -> InitialisationError {
        InitialisationError::Undefined { t: self.initial.t }
    }

    fn evaluate(&mut self) -> Result<(), InitialisationError> {
        let t = self.initial.t;
        let at = self.layout.algebraic();
        self.array.evaluate(t, &self.x, &mut self.rows).map_err(|_| InitialisationError::Undefined { t })?;
        self.F[..at].copy_from_slice(&self.rows[..at]);
        for (f, condition) in self.F[at..].iter_mut().zip(&self.initial.conditions) {
            *f = condition.value(&motion(self.layout, t, &self.x));
        }
        if self.F.iter().all(|f| f.is_finite()) { Ok(()) } else { Err(self.undefined()) }
    }

    /// J, conditions differenced, and its scaled form.
    fn linearise(&mut self) -> Result<(), InitialisationError> {
        let t = self.initial.t;
        let at = self.layout.algebraic();
        self.array
            .dense_jacobian(t, &self.x, &self.rows, &mut self.J)
            .map_err(|_| InitialisationError::Undefined { t })?;
        for i in 0..at {
            for j in 0..self.x.len() {
                self.slopes[(i, j)] = -self.J[(i, j)];
            }
        }
        for (c, condition) in self.initial.conditions.iter().enumerate() {
            for j in 0..self.x.len() {
                let (x, delta) = (self.x[j], 1e-6 * (1.0 + self.x[j].abs()));
                let mut side = |shift: f64| {
                    self.x[j] = x + shift;
                    condition.value(&motion(self.layout, t, &self.x))
                };
                self.slopes[(at + c, j)] = (side(delta) - side(-delta)) / (2.0 * delta);
                self.x[j] = x;
            }
        }
        self.scaled.clone_from(&self.slopes);
        self.equilibrate();
        if self.scaled.data().iter().all(|x| x.is_finite()) { Ok(()) } else { Err(self.undefined()) }
    }

    /// Guesses move in units of their size, in which movements are least; rows and unknown columns are balanced.
    fn equilibrate(&mut self) {
        for j in 0..self.x.len() {
            self.col_scale[j] = 1.0 + self.x[j].abs();
        }
        for &j in &self.fixed {
            self.col_scale[j] = 0.0;
        }
        for _ in 0..4 {
            let size = |i: usize| {
                (0..self.x.len()).fold(0.0_f64, |m, j| m.max((self.scaled[(i, j)] * self.col_scale[j]).abs()))
            };
            let sizes: Vec<f64> = (0..self.F.len()).map(size).collect();
            let top = sizes.iter().copied().fold(0.0, f64::max);
            for (scale, size) in self.row_scale.iter_mut().zip(sizes) {
                *scale = balance(size, top);
            }
            for &j in &self.classes[CLASSES - 1] {
                let size =
                    (0..self.F.len()).fold(0.0_f64, |m, i| m.max((self.scaled[(i, j)] * self.row_scale[i]).abs()));
                self.col_scale[j] = balance(size, 1.0);
            }
        }
        for i in 0..self.F.len() {
            for j in 0..self.x.len() {
                self.scaled[(i, j)] *= self.row_scale[i] * self.col_scale[j];
            }
        }
    }

    /// The correction of least movement, class by class.
    fn correction(&mut self) -> Result<Vec<f64>, InitialisationError> {
        let n = self.x.len();
        // from the freest class to the most kept one: decompose its columns, pass on what its range does not reach
        let mut rows: Vec<Vec<f64>> = (0..self.F.len())
            .map(|i| {
                let mut row = self.scaled.row(i).to_vec();
                row.push(-self.F[i] * self.row_scale[i]);
                row
            })
            .collect();
        let mut stages = Vec::new();
        for columns in self.classes.iter().rev() {
            let (svd, rank) = self.decompose(&rows, columns).ok_or_else(|| self.undefined())?;
            let turn = |k: usize| -> Vec<f64> {
                (0..=n).map(|j| (0..rows.len()).map(|i| svd.U[(i, k)] * rows[i][j]).sum()).collect()
            };
            let reached: Vec<Vec<f64>> = (0..rank).map(turn).collect();
            let left: Vec<Vec<f64>> = (rank..rows.len()).map(turn).collect();
            stages.push((columns, svd, reached));
            rows = left;
        }
        self.rank = stages.iter().map(|(_, _, reached)| reached.len()).sum();
        // back: least movement of each class, given the classes that are kept more
        let mut dx = vec![0.0; n];
        for (columns, svd, reached) in stages.into_iter().rev() {
            let mut y = vec![0.0; columns.len()];
            for (k, row) in reached.iter().enumerate() {
                let rhs = row[n] - (0..n).map(|j| row[j] * dx[j]).sum::<f64>();
                for (c, y) in y.iter_mut().enumerate() {
                    *y += svd.V[(c, k)] * rhs / svd.sigma(k);
                }
            }
            for (&j, y) in columns.iter().zip(y) {
                dx[j] = y;
            }
        }
        Ok(dx.iter().zip(&self.col_scale).map(|(d, s)| d * s).collect())
    }

    /// Size of F in the units of the variables.
    fn size(&self) -> f64 {
        self.F.iter().zip(&self.row_scale).map(|(f, r)| (f * r).powi(2)).sum::<f64>().sqrt()
    }

    fn iterate(&mut self, equations: &[String], variables: &[String]) -> Result<u32, InitialisationError> {
        let begin = self.x.clone();
        self.evaluate()?;
        let mut last = f64::INFINITY;
        for iteration in 1..=MOST_ITERATIONS {
            self.linearise()?;
            let before = self.size();
            let dx = self.correction()?;
            let start = self.x.clone();
            // shorten the step until the residual does not grow much
            let mut factor = 1.0;
            loop {
                for (x, (x0, d)) in self.x.iter_mut().zip(start.iter().zip(&dx)) {
                    *x = x0 + factor * d;
                }
                let good = self.evaluate().is_ok() && self.size() <= 2.0 * before + 1e-14;
                if good || factor < 1e-3 {
                    break;
                }
                factor *= 0.5;
            }
            self.evaluate()?;
            let moved = dx.iter().zip(&start).map(|(d, x)| (factor * d).abs() / (1.0 + x.abs())).fold(0.0, f64::max);
            // converged when corrections are down to rounding
            if moved < 1e-14 || moved < 1e-9 && moved >= 0.5 * last {
                let all = 0..self.F.len();
                return if self.satisfied(all) { Ok(iteration) } else { Err(self.exclusion(equations, variables)) };
            }
            last = moved;
        }
        if self.satisfied(0..self.F.len()) {
            return Ok(MOST_ITERATIONS);
        }
        let (equation, residual) = self.worst(equations);
        // no solution at all, or one that was not found? Where the residual is smallest, a contradiction shows
        self.x = begin;
        self.evaluate()?;
        if let Some(contradiction) = self.nearest(equations, variables)? {
            return Err(contradiction);
        }
        Err(InitialisationError::NoConvergence { iterations: MOST_ITERATIONS, equation, residual })
    }

    /// Is what remains of these equations small against their terms, and against rounding in their arguments?
    fn satisfied(&self, mut rows: std::ops::Range<usize>) -> bool {
        let at = self.layout.algebraic();
        let slope = |i: usize, j: usize| if i < at { self.J[(i, j)] } else { 1.0 };
        let largest = |rows: std::ops::Range<usize>| rows.map(|i| size(|j| slope(i, j), &self.x).0).fold(0.0, f64::max);
        // a constraint whose terms cancel is as exact as the other ones
        let constraints = largest(self.layout.row_g()).max(largest(self.layout.row_g1()));
        rows.all(|i| {
            let (terms, rounding) = size(|j| slope(i, j), &self.x);
            self.F[i].abs() <= 1e-9 * terms + 1e-13 * rounding + 1e-15 * (1.0 + constraints)
        })
    }

    fn worst(&self, equations: &[String]) -> (String, f64) {
        let i = (0..self.F.len()).max_by(|&i, &k| self.F[i].abs().total_cmp(&self.F[k].abs())).unwrap_or(0);
        (equations.get(i).cloned().unwrap_or_default(), self.F.get(i).copied().unwrap_or(0.0))
    }

    fn is_multiplier(&self, j: usize) -> bool {
        self.layout.lambda().contains(&j) || self.layout.mu().contains(&j)
    }

    /// Directions in which only unknown values move and nothing changes. Multipliers alone may do so: their constraints are redundant.
    fn check_determined(&mut self, variables: &[String]) -> Result<(), InitialisationError> {
        self.linearise()?;
        let rows: Vec<Vec<f64>> = (0..self.F.len()).map(|i| self.scaled.row(i).to_vec()).collect();
        let unknown = &self.classes[CLASSES - 1];
        let (svd, rank) = self.decompose(&rows, unknown).ok_or_else(|| self.undefined())?;
        // what a rank takes for zero moves with it
        let still = MOVES.max(10.0 * self.ranks.or(REGULAR));
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
        if count == 0 {
            return Ok(());
        }
        // accelerations follow from the rest: name them only if nothing else is free
        let named = |with_accelerations: bool| -> Vec<String> {
            (0..unknown.len())
                .filter(|&u| free[u])
                .map(|u| unknown[u])
                .filter(|j| with_accelerations || !self.layout.a().contains(j))
                .map(|j| variables[j].clone())
                .collect()
        };
        let names = if named(false).is_empty() { named(true) } else { named(false) };
        Err(InitialisationError::Underdetermined { names, count })
    }

    /// Surplus equations, those that only repeat redundant constraints left out, and null directions of the multipliers.
    fn surplus(&self) -> (usize, usize) {
        let rows: Vec<Vec<f64>> = (0..self.F.len()).map(|i| self.scaled.row(i).to_vec()).collect();
        let columns: Vec<usize> = (0..self.x.len()).filter(|&j| self.is_multiplier(j)).collect();
        let null = self.decompose(&rows, &columns).map_or(0, |(_, rank)| columns.len() - rank);
        // rank of the constraints themselves, fixed variables included
        let constraints: Vec<Vec<f64>> = (0..self.layout.algebraic())
            .map(|i| {
                let size = self.J.row(i).iter().fold(0.0_f64, |m, x| m.max(x.abs()));
                self.J.row(i).iter().map(|x| if size > 0.0 { x / size } else { 0.0 }).collect()
            })
            .collect();
        let all: Vec<usize> = (0..self.x.len()).collect();
        let redundant = self.decompose(&constraints, &all).map_or(0, |(_, rank)| constraints.len() - rank);
        ((self.F.len() - self.rank).saturating_sub(redundant), null)
    }

    /// SVD of some columns of a list of rows of size one, with its rank; `None` if it does not converge.
    fn decompose(&self, rows: &[Vec<f64>], columns: &[usize]) -> Option<(Svd, usize)> {
        let mut svd = Svd::new(rows.len(), columns.len());
        for (i, row) in rows.iter().enumerate() {
            for (c, &j) in columns.iter().enumerate() {
                svd.A[(i, c)] = row[j];
            }
        }
        svd.factor().ok()?;
        let rank = svd.rank(self.ranks.or(REGULAR));
        Some((svd, rank))
    }
}

/// max |aⱼ xⱼ| and max |aⱼ| (1 + |xⱼ|): the terms of an equation with slopes a, and what rounding of its arguments may change.
pub(crate) fn size(slope: impl Fn(usize) -> f64, x: &[f64]) -> (f64, f64) {
    x.iter().enumerate().fold((0.0, 0.0), |(terms, rounding), (j, x)| {
        let slope = slope(j).abs();
        (f64::max(terms, slope * x.abs()), f64::max(rounding, slope * (1.0 + x.abs())))
    })
}
