//! The rows of a minimal reduced derivative array at a point: rates and constraints as numbers, and their derivatives.
//!
//! y_j' = rate_j(t, y), 0 = c_i(t, y). Which of them make a square system is chosen elsewhere, with dense matrices (`quasilinear.rs`) or sparse ones
//! (`large.rs`); what rows are, what they must keep and what they are called is the same for both.

use super::CharacteristicValues;
use super::characteristics::differentiated;
use super::hidden::{MinimalArray, Role};
use super::invariance::Invariance;
use super::selection::EliminationStages;
use crate::error::StepFailure;
use crate::graph::{Compiler, Expr, Kernel};
use crate::motion::Undefined;
use crate::statistics::Residuals;

/// Redundant constraints may keep this residual, relative to what their unknowns make of it.
pub(super) const CONTRADICTION: f64 = 1e-5;
/// Coefficients that were taken for zero may keep this part of the largest derivative of their constraint.
const APPEARING: f64 = 1e-5;

/// Programs, and the point that they see.
pub(super) struct Kernels {
    values: Box<dyn Kernel>,
    /// derivatives with respect to y, then the coefficients that were taken for zero
    entries: Box<dyn Kernel>,
    inputs: Vec<f64>,
    time: usize,
    unknown_places: Vec<usize>,
}

impl Kernels {
    /// Look at a point.
    pub fn set(&mut self, t: f64, y: &[f64]) {
        self.inputs[self.time] = t;
        self.unknown_places.iter().zip(y).for_each(|(&place, &value)| self.inputs[place] = value);
    }

    fn evaluate(&mut self, t: f64, y: &[f64], outputs: &mut [f64]) {
        self.set(t, y);
        self.values.call(&self.inputs, outputs);
    }

    /// Derivatives of all rows at a point, and coefficients.
    pub fn differentiate(&mut self, t: f64, y: &[f64], slopes: &mut [f64]) {
        self.set(t, y);
        self.entries.call(&self.inputs, slopes);
    }
}

/// Rates, then constraints.
pub(super) struct ArrayRows {
    pub array: MinimalArray,
    pub kernels: Kernels,
    /// (row, column) of every derivative
    pub places: Vec<(usize, usize)>,
    /// the derivatives of the constraint of each coefficient that was taken for zero
    of_omitted: Vec<Vec<usize>>,
    /// number of rates
    pub moving: usize,
    /// row with the rate of an unknown
    pub rate_row: Vec<Option<usize>>,
    /// what is subtracted from constraints: the values of invariants
    kept: Vec<f64>,
    /// all rows, where they were evaluated last
    pub outputs: Vec<f64>,
    /// derivatives and coefficients, and the point that they belong to
    pub slopes: Vec<f64>,
    slopes_at: (f64, Vec<f64>),
    pub residuals: Residuals,
    invariance: Option<Invariance>,
}

impl ArrayRows {
    /// From formulas; invariants keep the values that they have at t, y.
    pub fn new(array: MinimalArray, compiler: &dyn Compiler, t: f64, y: &[f64]) -> Result<Self, StepFailure> {
        let (N, m) = (array.unknowns.len(), array.constraints.len());
        let with_rate: Vec<usize> = (0..N).filter(|&j| array.rates[j].is_some()).collect();
        let mut rate_row = vec![None; N];
        with_rate.iter().enumerate().for_each(|(k, &j)| rate_row[j] = Some(k));
        let rates = with_rate.iter().filter_map(|&j| array.rates[j]);
        let rows: Vec<Expr> = rates.chain(array.constraints.iter().map(|c| c.residual)).collect();
        let mut graph = array.graph.clone();
        let rows = graph.bind(&rows, &array.parameters);
        let jacobian = graph.jacobian(&rows, &array.unknowns);
        let omitted: Vec<Expr> = array.omitted.iter().map(|o| o.coefficient).collect();
        let omitted = graph.bind(&omitted, &array.parameters);
        let entries = [&jacobian.entries[..], &omitted].concat();
        let places: Vec<(usize, usize)> = jacobian.iter().map(|(i, j, _)| (i, j)).collect();
        let mut of_row = vec![Vec::new(); rows.len()];
        places.iter().enumerate().for_each(|(entry, &(i, _))| of_row[i].push(entry));
        let mut rows = ArrayRows {
            of_omitted: array.omitted.iter().map(|o| of_row[with_rate.len() + o.constraint].clone()).collect(),
            kernels: Kernels {
                values: compiler.compile(&graph, &rows),
                entries: compiler.compile(&graph, &entries),
                inputs: array.inputs(t, y),
                time: array.place(array.t),
                unknown_places: array.unknowns.iter().map(|&e| array.place(e)).collect(),
            },
            places,
            moving: with_rate.len(),
            rate_row,
            kept: vec![0.0; m],
            outputs: vec![0.0; rows.len()],
            slopes: vec![0.0; entries.len()],
            slopes_at: (f64::NAN, vec![0.0; N]),
            residuals: Residuals::default(),
            invariance: Invariance::new(&array, compiler),
            array,
        };
        rows.keep_invariants(t, y).map_err(|_| StepFailure::Undefined { t })?;
        Ok(rows)
    }

    /// (constraint, column) of every derivative of a constraint, with its number among all derivatives.
    pub fn of_constraints(&self) -> impl Iterator<Item = (usize, usize, usize)> {
        let places = self.places.iter().enumerate();
        places.filter_map(|(entry, &(i, j))| Some((entry, i.checked_sub(self.moving)?, j)))
    }

    /// Which unknowns have a rate?
    pub fn moves(&self) -> Vec<bool> {
        self.rate_row.iter().map(Option::is_some).collect()
    }

    /// In which order unknowns are preferred as dependent ones.
    pub fn elimination_stages(&self) -> EliminationStages {
        let constraints = &self.array.constraints;
        let levels: Vec<Option<usize>> =
            constraints.iter().map(|c| (c.role == Role::Constraint).then_some(c.level)).collect();
        let places: Vec<(usize, usize)> = self.of_constraints().map(|(_, i, j)| (i, j)).collect();
        EliminationStages::new(
            self.moves(),
            self.array.dim,
            &places,
            &levels,
            (0..constraints.len()).map(|i| self.is_invariant(i)).collect(),
        )
    }

    /// All rows at a point.
    pub fn evaluate(&mut self, t: f64, y: &[f64]) -> Result<(), Undefined> {
        self.kernels.evaluate(t, y, &mut self.outputs);
        self.outputs[self.moving..].iter_mut().zip(&self.kept).for_each(|(value, kept)| *value -= kept);
        if self.outputs.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(Undefined) }
    }

    /// Derivatives of all rows at a point; those at hand are not computed again.
    pub fn differentiate(&mut self, t: f64, y: &[f64]) -> Result<(), StepFailure> {
        if self.slopes_at.0 == t && self.slopes_at.1 == y {
            return Ok(());
        }
        self.kernels.differentiate(t, y, &mut self.slopes);
        self.slopes_at.0 = t;
        self.slopes_at.1.copy_from_slice(y);
        if self.slopes.iter().any(|x| !x.is_finite()) {
            self.slopes_at.0 = f64::NAN;
            return Err(StepFailure::Undefined { t });
        }
        Ok(())
    }

    /// Invariants keep the values that they have here.
    pub fn keep_invariants(&mut self, t: f64, y: &[f64]) -> Result<(), Undefined> {
        self.kept.fill(0.0);
        self.evaluate(t, y)?;
        for i in 0..self.kept.len() {
            if self.is_invariant(i) {
                self.kept[i] = self.outputs[self.moving + i];
            }
        }
        Ok(())
    }

    /// Value of a constraint.
    pub fn constraint(&self, i: usize) -> f64 {
        self.outputs[self.moving + i]
    }

    /// Rate of an unknown; zero if it has none.
    pub fn rate(&self, j: usize) -> f64 {
        self.rate_row[j].map_or(0.0, |k| self.outputs[k])
    }

    /// Derivatives of the unknowns that follow from the rates; zero for the others.
    pub fn rates(&mut self, t: f64, y: &[f64], ydot: &mut [f64]) -> Result<(), Undefined> {
        self.evaluate(t, y)?;
        ydot.iter_mut().enumerate().for_each(|(j, rate)| *rate = self.rate(j));
        Ok(())
    }

    /// 0 = c_i for the chosen constraints, then y_j' = rate_j for the independent unknowns, as residuals.
    pub fn residual(
        &mut self,
        (chosen, independent): (&[usize], &[usize]),
        (t, y, ydot): (f64, &[f64], &[f64]),
        r: &mut [f64],
    ) -> Result<(), Undefined> {
        self.evaluate(t, y)?;
        let (algebraic, differential) = r.split_at_mut(chosen.len());
        algebraic.iter_mut().zip(chosen).for_each(|(r, &i)| *r = self.constraint(i));
        differential.iter_mut().zip(independent).for_each(|(r, &j)| *r = ydot[j] - self.rate(j));
        Ok(())
    }

    /// Unknowns that are left: with a differential equation, then undetermined ones.
    pub fn independent(&self, is_dependent: impl Fn(usize) -> bool, out: &mut Vec<usize>) {
        let all = 0..self.rate_row.len();
        out.clear();
        out.extend(all.clone().filter(|&j| !is_dependent(j) && self.rate_row[j].is_some()));
        out.extend(all.filter(|&j| !is_dependent(j) && self.rate_row[j].is_none()));
    }

    /// How many of the independent unknowns have a differential equation.
    pub fn degrees(&self, independent: &[usize]) -> usize {
        independent.iter().filter(|&&j| self.rate_row[j].is_some()).count()
    }

    /// Directions of the system's unknowns that nothing determines.
    pub fn undetermined(&self, independent: &[usize]) -> Vec<Vec<f64>> {
        let n = self.rate_row.len();
        let free = independent.iter().filter(|&&j| self.rate_row[j].is_none() && j < self.array.dim);
        free.map(|&j| (0..n).map(|k| if k == j { 1.0 } else { 0.0 }).collect()).collect()
    }

    /// Rank of chosen constraints, invariants apart.
    pub fn rank(&self, chosen: &[usize]) -> usize {
        chosen.iter().filter(|&&i| !self.is_invariant(i)).count()
    }

    /// Is it a quantity that keeps its value?
    pub fn is_invariant(&self, i: usize) -> bool {
        self.array.constraints[i].role == Role::Invariant
    }

    /// The equation that a constraint comes from, with primes.
    pub fn name(&self, i: usize) -> String {
        let constraint = &self.array.constraints[i];
        differentiated(&constraint.equation, constraint.level)
    }

    /// Numbers of constraints and of hidden ones among them.
    pub fn count(&self) -> (usize, usize) {
        let stated = self.array.constraints.iter().filter(|c| c.role == Role::Constraint);
        (stated.clone().count(), stated.filter(|c| c.level > 0).count())
    }

    /// Stop where a coefficient that was taken for zero is not: a term is missing in a hidden constraint. By the derivatives at hand.
    pub fn look_for_terms(&self, t: f64) -> Result<(), StepFailure> {
        let (slopes, coefficients) = self.slopes.split_at(self.places.len());
        for ((omitted, entries), coefficient) in self.array.omitted.iter().zip(&self.of_omitted).zip(coefficients) {
            let top = entries.iter().fold(omitted.terms, |top, &entry| top.max(slopes[entry].abs()));
            if coefficient.abs() > APPEARING * top {
                let equation = self.array.constraints[omitted.constraint].equation.clone();
                let unknown = self.array.names[omitted.unknown].clone();
                return Err(StepFailure::TermAppears { t, equation, unknown });
            }
        }
        Ok(())
    }

    /// The largest residual of the constraints, in units of the unknowns; `size` is what the unknowns make of a constraint.
    pub fn contradiction(&self, size: impl Fn(usize) -> f64) -> f64 {
        let constraints = self.array.constraints.iter().enumerate().filter(|(_, c)| c.role == Role::Constraint);
        let of = |i: usize| match size(i) {
            size if size > 0.0 => self.constraint(i).abs() / size,
            _ => self.constraint(i).abs(),
        };
        constraints.fold(0.0, |worst, (i, _)| worst.max(of(i)))
    }

    /// Could stated invariants be none, at the point that was evaluated last?
    pub fn invariants_are_suspicious(&mut self) -> bool {
        self.invariance.as_mut().is_some_and(|invariance| invariance.suspicious(&self.kernels.inputs))
    }

    /// Stop where a stated invariant is none.
    pub fn watch_invariants(&mut self, t: f64) -> Result<(), StepFailure> {
        let Some(invariance) = &mut self.invariance else { return Ok(()) };
        invariance.suspicious(&self.kernels.inputs);
        invariance.step(t)
    }

    /// Residuals from the rows at hand.
    pub fn measure(&mut self) {
        self.residuals = Residuals::default();
        for (i, constraint) in self.array.constraints.iter().enumerate() {
            let place = match (constraint.role, constraint.level) {
                (Role::Invariant, _) => &mut self.residuals.invariant,
                (Role::Definition, _) => continue,
                (Role::Constraint, 0) => &mut self.residuals.constraint,
                (Role::Constraint, _) => &mut self.residuals.hidden,
            };
            let value = self.outputs[self.moving + i].abs();
            *place = Some(place.map_or(value, |most| most.max(value)));
        }
    }
}

/// What a rank of the constraints, and a number of unknowns without rates that they determine, before and now, make of the characteristic values.
pub(super) fn changed(t: f64, before: CharacteristicValues, known: (usize, usize), now: (usize, usize)) -> StepFailure {
    let lost = known.0 as isize - now.0 as isize;
    let open = known.1 as isize - now.1 as isize;
    let (a, u) = (before.a as isize - lost, before.u as isize + open);
    let now = CharacteristicValues { a: a.max(0) as usize, u: u.max(0) as usize, ..before };
    StepFailure::CharacteristicChange { t, before, now }
}
