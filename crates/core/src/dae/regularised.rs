//! The minimal reduced derivative array as functions of time and unknowns: y_j' = rate_j(t, y), 0 = c_i(t, y), with derivatives by all unknowns
//! and by time, at points that need not satisfy anything. For problems whose unknowns are a whole curve.

use super::characteristics::{AnalysisError, Depth, characterise, characterise_at};
use super::freedom::{completed, undetermined};
use super::hidden::{Constraint, MinimalArray, Role, minimal_array};
use super::linear_array::linear_array;
use super::problem::PrepareError;
use super::selection::{EliminationStages, Selection};
use super::{CharacteristicValues, Characteristics, System};
use crate::error::StepFailure;
use crate::graph::{Expr, Kernel};
use crate::initial::Initial;
use crate::linalg::rank::AT_POINT;
use crate::linalg::{Matrix, RankRule};
use crate::method::StartFailure;
use crate::motion::Undefined;

/// A system of any index as rates and constraints.
pub(crate) struct RegularisedSystem {
    array: MinimalArray,
    /// characteristic values at the start
    pub values: CharacteristicValues,
    ranks: RankRule,
    /// the system with ẋ = 0 for unknowns that are free
    system: System,
    /// rates, then constraints
    formulas: Box<dyn Kernel>,
    /// their derivatives by y and t
    entries: Box<dyn Kernel>,
    places: Vec<(usize, usize)>,
    /// row of the rate of each unknown
    rate_row: Vec<Option<usize>>,
    moving: usize,
    stages: EliminationStages,
    selection: Selection,
    /// constraints that are independent at the start
    candidates: Vec<bool>,
    inputs: Vec<f64>,
    time: usize,
    unknown_places: Vec<usize>,
    /// values of all rows where they were last evaluated
    pub outputs: Vec<f64>,
    /// derivatives of all rows, where they were last differentiated; the last column is that by time
    pub slopes: Matrix,
    entry_values: Vec<f64>,
}

/// Which rows make a square system near a point.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EquationChoice {
    /// Constraints, as rows.
    pub constraints: Vec<usize>,
    /// Unknowns whose differential equations are taken, and the rows of their rates.
    pub differential: Vec<(usize, usize)>,
}

impl RegularisedSystem {
    /// At a start that is made consistent; and that start.
    pub fn new(system: &System, initial: &Initial, ranks: RankRule) -> Result<(Self, Vec<f64>), PrepareError> {
        let depth = Depth { ranks, ..Depth::default() };
        let mut found = characterise(system, initial, depth)?;
        let mut system = system.clone();
        if let Some((complete, _)) = completed(&system, &found)? {
            found = characterise_at(&complete, &mut complete.array(), found.t, found.x(), depth)?;
            if found.values.u > 0 {
                return Err(undetermined(&complete, &found, &[]).into());
            }
            system = complete;
        }
        let (t, values) = (found.t, found.values);
        if let Some((table, smoothness)) = system.formulas.tables.iter().find(|(_, smooth)| *smooth < values.mu) {
            let (table, smoothness) = (table.clone(), *smoothness);
            return Err(AnalysisError::NotSmooth { table, smoothness, needed: values.mu }.into());
        }
        let formulas = minimal_array(&system, &found)
            .map_err(|cause| PrepareError::from(StartFailure::Procedure { t, cause }))
            .and_then(|array| Self::at(array, &system, &found));
        formulas.or_else(|error| match linear_array(&system, &found) {
            Some(array) => Self::at(array, &system, &found),
            None => Err(error),
        })
    }

    /// From rates and constraints at a consistent point; and that point.
    fn at(mut array: MinimalArray, system: &System, found: &Characteristics) -> Result<(Self, Vec<f64>), PrepareError> {
        // invariants follow from the equations; their values are not known before the solution is
        array.constraints.retain(|c| c.role != Role::Invariant);
        let (t, values) = (found.t, found.values);
        let y = array.on_jet(&found.jet);
        let mut regularised = Self::of(array, system, values, found.ranks, &y, t);
        let undefined = |_| PrepareError::from(StepFailure::Undefined { t });
        regularised.evaluate(t, &y).map_err(undefined)?;
        let choice = regularised.choose(t, &y).map_err(undefined)?;
        let (degrees, wanted) = (choice.differential.len(), values.d);
        let open = y.len() - choice.constraints.len() - degrees;
        if degrees != wanted || open > 0 {
            return Err(StartFailure::Degrees { t, degrees, wanted, open, undetermined: values.u }.into());
        }
        let moving = regularised.moving;
        regularised
            .candidates
            .iter_mut()
            .enumerate()
            .for_each(|(i, c)| *c = choice.constraints.contains(&(moving + i)));
        Ok((regularised, y))
    }

    fn of(
        array: MinimalArray,
        system: &System,
        values: CharacteristicValues,
        ranks: RankRule,
        y: &[f64],
        t: f64,
    ) -> Self {
        let N = array.unknowns.len();
        let mut rate_row = vec![None; N];
        let with_rate: Vec<usize> = (0..N).filter(|&j| array.rates[j].is_some()).collect();
        with_rate.iter().enumerate().for_each(|(k, &j)| rate_row[j] = Some(k));
        let rates = with_rate.iter().filter_map(|&j| array.rates[j]);
        let rows: Vec<Expr> = rates.chain(array.constraints.iter().map(|c| c.residual)).collect();
        let mut graph = array.graph.clone();
        let rows = graph.bind(&rows, &array.parameters);
        let variables = [&array.unknowns[..], &[array.t]].concat();
        let jacobian = graph.jacobian(&rows, &variables);
        let places: Vec<(usize, usize)> = jacobian.iter().map(|(i, j, _)| (i, j)).collect();
        let (k, m) = (with_rate.len(), array.constraints.len());
        let level = |c: &Constraint| (c.role == Role::Constraint).then_some(c.level);
        let levels: Vec<Option<usize>> = array.constraints.iter().map(level).collect();
        let constraint_places: Vec<(usize, usize)> =
            places.iter().filter(|(i, j)| *i >= k && *j < N).map(|&(i, j)| (i - k, j)).collect();
        let moves = array.rates.iter().map(Option::is_some).collect();
        RegularisedSystem {
            formulas: system.compiler.compile(&graph, &rows),
            entries: system.compiler.compile(&graph, &jacobian.entries),
            entry_values: vec![0.0; jacobian.entries.len()],
            inputs: array.inputs(t, y),
            time: array.place(array.t),
            unknown_places: array.unknowns.iter().map(|&e| array.place(e)).collect(),
            outputs: vec![0.0; k + m],
            slopes: Matrix::zeros(k + m, N + 1),
            stages: EliminationStages::new(moves, array.dim, &constraint_places, &levels, vec![false; m]),
            selection: Selection::new(m, N),
            candidates: array.constraints.iter().map(|c| !c.blind).collect(),
            moving: k,
            places,
            rate_row,
            system: system.clone(),
            values,
            ranks,
            array,
        }
    }

    /// Number of unknowns, auxiliary ones included.
    pub fn dim(&self) -> usize {
        self.rate_row.len()
    }

    /// Number of unknowns of the system.
    pub fn own(&self) -> usize {
        self.array.dim
    }

    /// Names of all unknowns.
    pub fn names(&self) -> &[String] {
        &self.array.names
    }

    /// The system, completed where unknowns are free.
    pub fn system(&self) -> &System {
        &self.system
    }

    /// Number of independent constraints.
    pub fn constraints(&self) -> usize {
        self.candidates.iter().filter(|c| **c).count()
    }

    /// Row of the rate of an unknown.
    pub fn rate_row(&self, unknown: usize) -> Option<usize> {
        self.rate_row[unknown]
    }

    /// Does time appear in no formula?
    pub fn autonomous(&self) -> bool {
        let n = self.dim();
        !self.places.iter().any(|(_, j)| *j == n)
    }

    /// The constraint in a row: its equation and how often it was differentiated.
    pub fn constraint(&self, row: usize) -> (&str, usize, Role) {
        let constraint = &self.array.constraints[row - self.moving];
        (&constraint.equation, constraint.level, constraint.role)
    }

    /// Rows of the constraints that are kept.
    pub fn constraint_rows(&self) -> impl Iterator<Item = usize> {
        let moving = self.moving;
        self.candidates.iter().enumerate().filter(|(_, kept)| **kept).map(move |(i, _)| moving + i)
    }

    fn set(&mut self, t: f64, y: &[f64]) {
        self.inputs[self.time] = t;
        self.unknown_places.iter().zip(y).for_each(|(&place, &value)| self.inputs[place] = value);
    }

    /// All rows.
    pub fn evaluate(&mut self, t: f64, y: &[f64]) -> Result<(), Undefined> {
        self.set(t, y);
        self.formulas.call(&self.inputs, &mut self.outputs);
        if self.outputs.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(Undefined) }
    }

    /// The derivatives of all rows.
    pub fn differentiate(&mut self, t: f64, y: &[f64]) -> Result<(), Undefined> {
        self.set(t, y);
        self.entries.call(&self.inputs, &mut self.entry_values);
        self.slopes.fill(0.0);
        for (&(i, j), &value) in self.places.iter().zip(&self.entry_values) {
            self.slopes[(i, j)] = value;
        }
        if self.entry_values.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(Undefined) }
    }

    /// Rows that make a square system near a point.
    pub fn choose(&mut self, t: f64, y: &[f64]) -> Result<EquationChoice, Undefined> {
        self.differentiate(t, y)?;
        let (n, m) = (self.dim(), self.candidates.len());
        let mut C = Matrix::zeros(m, n);
        for i in 0..m {
            C.row_mut(i).copy_from_slice(&self.slopes.row(self.moving + i)[..n]);
        }
        self.selection.choose(&mut C, &self.stages, &self.candidates, self.ranks.or(AT_POINT));
        let taken = &self.selection.taken;
        let differential = |j: usize| self.rate_row[j].filter(|_| !taken[j]).map(|row| (j, row));
        Ok(EquationChoice {
            constraints: self.selection.rows.iter().map(|i| self.moving + i).collect(),
            differential: (0..n).filter_map(differential).collect(),
        })
    }

    /// All unknowns near some values of those of the system, on the constraints if that is possible.
    pub fn consistent(&self, t: f64, x: &[f64]) -> Option<Vec<f64>> {
        let depth = Depth { most: self.values.mu + 1, confirm: false, ranks: self.ranks };
        let found = characterise_at(&self.system, &mut self.system.array(), t, x, depth).ok()?;
        (found.values.mu == self.values.mu).then(|| self.array.on_jet(&found.jet))
    }
}
