//! The minimal reduced derivative array as a square system: a choice of differential equations, all independent constraints.
//!
//! y_j' = rate_j for the chosen j, 0 = c_i for the chosen i, y_j' = 0 for what is undetermined. The choice is made anew with every
//! pencil. Steinbrecher (2006), 3.5: (3.78) with selectors that are constant over a step.

use super::characteristics::differentiated;
use super::chord::Chosen;
use super::determined::Determined;
use super::hidden::{MinimalArray, Role};
use super::invariance::Invariance;
use super::selection::{EliminationStages, Selection};
use super::{CharacteristicValues, Dae, Pencil};
use crate::error::StepFailure;
use crate::graph::{Compiler, Expr, Kernel};
use crate::linalg::rank::{AT_POINT, BESIDE_CONSTRAINTS};
use crate::linalg::{Lu, Matrix, RankRule};
use crate::motion::Undefined;
use crate::statistics::Residuals;

/// Redundant constraints may keep this residual, relative to what their unknowns make of it.
const CONTRADICTION: f64 = 1e-5;
/// Gradients below this part of the largest one are rounding: rows that cancel each other.
const NEGLIGIBLE: f64 = 1e-10;
/// Most further corrections before redundant constraints are said to contradict, and invariants to be none.
const POLISHING: usize = 3;

/// Pivots below this part of the usual size of their row are a reason to look at redundant constraints again: what is solved from such a row
/// has its errors divided by the pivot.
const POOR: f64 = 0.3;
/// So they are between pencils, if they have become smaller by this factor since the last choice.
const WORSE: f64 = 0.5;

/// Coefficients that were taken for zero may keep this part of the largest derivative of their constraint.
const APPEARING: f64 = 1e-5;

/// A general system of any index through its minimal reduced derivative array.
pub struct QuasiLinear {
    array: MinimalArray,
    /// rates, then constraints
    values: Box<dyn Kernel>,
    /// their derivatives with respect to y, then the coefficients that were taken for zero
    entries: Box<dyn Kernel>,
    /// (row of `values`, column) of every entry
    places: Vec<(usize, usize)>,
    /// unknowns with a rate, in the order of the rows of `values`
    moving: Vec<usize>,
    /// row of `values` with the rate of an unknown
    rate_row: Vec<Option<usize>>,
    stages: EliminationStages,
    selection: Selection,
    /// the same choice at the last accepted point, to see whether its pivots are still good; and whether they are not
    trial: Selection,
    worn: bool,
    /// constraints that were independent when last looked at all of them
    candidates: Vec<bool>,
    /// rank of the constraints, invariants apart
    rank: usize,
    /// unknowns without a rate that the constraints determine
    determined: usize,
    /// factors of the constraint gradients with respect to the dependent unknowns
    lu: Lu<f64>,
    correction: Vec<f64>,
    passage: Chosen,
    /// largest gradients of the constraints so far: one that vanishes at a point does not make rounding a contradiction
    sizes: Vec<f64>,
    /// chosen constraints that are stated
    stated: Vec<usize>,
    /// unknowns with a differential equation, then undetermined ones
    independent: Vec<usize>,
    kept: Vec<f64>,
    characteristic: CharacteristicValues,
    ranks: RankRule,
    // scratch
    inputs: Vec<f64>,
    time: usize,
    unknown_places: Vec<usize>,
    outputs: Vec<f64>,
    slopes: Vec<f64>,
    /// the point that the slopes belong to
    slopes_at: (f64, Vec<f64>),
    C: Matrix,
    D: Matrix,
    residuals: Residuals,
    decided: bool,
    invariance: Option<Invariance>,
    determined_by: Determined,
}

impl QuasiLinear {
    /// From formulas, at a point: time and values of all unknowns.
    pub fn new(
        array: MinimalArray,
        compiler: &dyn Compiler,
        characteristic: CharacteristicValues,
        ranks: RankRule,
        t: f64,
        y: &[f64],
    ) -> Result<Self, StepFailure> {
        let N = array.unknowns.len();
        let moving: Vec<usize> = (0..N).filter(|&j| array.rates[j].is_some()).collect();
        let mut rate_row = vec![None; N];
        for (k, &j) in moving.iter().enumerate() {
            rate_row[j] = Some(k);
        }
        let rates = moving.iter().filter_map(|&j| array.rates[j]);
        let rows: Vec<Expr> = rates.chain(array.constraints.iter().map(|c| c.residual)).collect();
        let mut graph = array.graph.clone();
        let rows = graph.bind(&rows, &array.parameters);
        let jacobian = graph.jacobian(&rows, &array.unknowns);
        let omitted: Vec<Expr> = array.omitted.iter().map(|o| o.coefficient).collect();
        let omitted = graph.bind(&omitted, &array.parameters);
        let entries = [&jacobian.entries[..], &omitted].concat();
        let places: Vec<(usize, usize)> = jacobian.iter().map(|(i, j, _)| (i, j)).collect();
        let (k, m) = (moving.len(), array.constraints.len());
        let levels: Vec<Option<usize>> =
            array.constraints.iter().map(|c| (c.role == Role::Constraint).then_some(c.level)).collect();
        let optional = array.constraints.iter().map(|c| c.role == Role::Invariant).collect();
        let constraint_places: Vec<(usize, usize)> =
            places.iter().filter(|(i, _)| *i >= k).map(|&(i, j)| (i - k, j)).collect();
        let moves: Vec<bool> = array.rates.iter().map(Option::is_some).collect();
        let held = |i: usize| i >= k && array.constraints[i - k].role != Role::Invariant;
        let gradients = places.iter().enumerate().filter(|(_, (i, _))| held(*i)).map(|(e, &(i, j))| (e, i - k, j));
        let determined_by = Determined::new(gradients, &moves);
        let mut system = QuasiLinear {
            values: compiler.compile(&graph, &rows),
            entries: compiler.compile(&graph, &entries),
            inputs: array.inputs(t, y),
            time: array.place(array.t),
            unknown_places: array.unknowns.iter().map(|&e| array.place(e)).collect(),
            outputs: vec![0.0; k + m],
            slopes: vec![0.0; entries.len()],
            slopes_at: (f64::NAN, vec![0.0; N]),
            C: Matrix::zeros(m, N),
            D: Matrix::zeros(k + m, N),
            stages: EliminationStages::new(moves, array.dim, &constraint_places, &levels, optional),
            selection: Selection::new(m, N),
            trial: Selection::new(m, N),
            worn: false,
            candidates: array.constraints.iter().map(|c| !c.blind).collect(),
            rank: 0,
            determined: 0,
            lu: Lu::new(m.min(N)),
            correction: vec![0.0; m.min(N)],
            passage: Chosen::new(N),
            sizes: vec![0.0; m],
            stated: Vec::with_capacity(m),
            independent: Vec::with_capacity(N),
            kept: vec![0.0; m],
            characteristic,
            ranks,
            residuals: Residuals::default(),
            decided: false,
            invariance: Invariance::new(&array, compiler),
            determined_by,
            places,
            moving,
            rate_row,
            array,
        };
        system.keep_invariants(t, y).map_err(|_| StepFailure::Undefined { t })?;
        system.select(t, y)?;
        system.decided = true;
        system.watch(t, y)?;
        system.evaluate(t, y).map_err(|_| StepFailure::Undefined { t })?;
        system.measure();
        Ok(system)
    }

    /// Derivatives of the unknowns that follow from the rates; zero for the others.
    pub fn rates(&mut self, t: f64, y: &[f64], ydot: &mut [f64]) -> Result<(), Undefined> {
        self.evaluate(t, y)?;
        for (j, rate) in ydot.iter_mut().enumerate() {
            *rate = self.rate_row[j].map_or(0.0, |k| self.outputs[k]);
        }
        Ok(())
    }

    /// Unknowns that nothing determines, auxiliary ones included.
    pub fn open(&self) -> usize {
        self.independent.len() - self.degrees()
    }

    /// How many of the differential equations are integrated.
    pub fn degrees(&self) -> usize {
        self.independent.iter().filter(|&&j| self.rate_row[j].is_some()).count()
    }

    fn set(&mut self, t: f64, y: &[f64]) {
        self.inputs[self.time] = t;
        for (&place, &value) in self.unknown_places.iter().zip(y) {
            self.inputs[place] = value;
        }
    }

    fn evaluate(&mut self, t: f64, y: &[f64]) -> Result<(), Undefined> {
        self.set(t, y);
        self.values.call(&self.inputs, &mut self.outputs);
        let k = self.moving.len();
        for (value, kept) in self.outputs[k..].iter_mut().zip(&self.kept) {
            *value -= kept;
        }
        if self.outputs.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(Undefined) }
    }

    /// Invariants keep the values that they have here.
    fn keep_invariants(&mut self, t: f64, y: &[f64]) -> Result<(), Undefined> {
        self.kept.fill(0.0);
        self.evaluate(t, y)?;
        let k = self.moving.len();
        for (i, constraint) in self.array.constraints.iter().enumerate() {
            if constraint.role == Role::Invariant {
                self.kept[i] = self.outputs[k + i];
            }
        }
        Ok(())
    }

    /// Gradients at a point and a new choice.
    fn select(&mut self, t: f64, y: &[f64]) -> Result<(), StepFailure> {
        self.gradients(t, y)?;
        let k = self.moving.len();
        for (i, size) in self.sizes.iter_mut().enumerate() {
            *size = self.D.row(k + i).iter().fold(*size, |top, slope| top.max(slope.abs()));
        }
        let mut rank = self.choose(self.ranks.or(AT_POINT));
        let known = (self.rank, self.determined);
        if self.decided && (rank, self.selection.determined) != known {
            rank = self.choose_among_all(BESIDE_CONSTRAINTS);
            if (rank, self.selection.determined) != known {
                rank = self.choose_among_all(self.ranks.or(AT_POINT));
            }
        } else if self.decided && self.selection.smallest < POOR && rank < self.array.constraints.len() {
            // redundant rows may see better now
            let (before, candidates) = (self.selection.clone(), self.candidates.clone());
            let again = self.choose_among_all(BESIDE_CONSTRAINTS);
            let same = (again, self.selection.determined) == (rank, before.determined);
            if !same || self.selection.smallest <= before.smallest {
                (self.selection, self.candidates) = (before, candidates);
            }
        }
        if self.decided && (rank, self.selection.determined) != known {
            let before = self.characteristic;
            let lost = self.rank as isize - rank as isize;
            let open = self.determined as isize - self.selection.determined as isize;
            let (a, u) = (before.a as isize - lost, before.u as isize + open);
            let now = CharacteristicValues { a: a.max(0) as usize, u: u.max(0) as usize, ..before };
            return Err(StepFailure::CharacteristicChange { t, before, now });
        }
        (self.rank, self.determined) = (rank, self.selection.determined);
        self.worn = false;
        // redundant rows stay out: beside the manifold they may look independent
        let chosen = &self.selection.rows;
        for (i, candidate) in self.candidates.iter_mut().enumerate() {
            *candidate = chosen.contains(&i) || self.array.constraints[i].role == Role::Invariant;
        }
        self.independent.clear();
        let taken = &self.selection.taken;
        let with_rate = |&j: &usize| self.rate_row[j].is_some();
        self.independent.extend((0..taken.len()).filter(|&j| !taken[j]).filter(with_rate));
        self.independent.extend((0..taken.len()).filter(|&j| !taken[j]).filter(|j| !with_rate(j)));
        self.factor(t)
    }

    /// D at a point.
    fn gradients(&mut self, t: f64, y: &[f64]) -> Result<(), StepFailure> {
        self.differentiate(t, y)?;
        self.D.fill(0.0);
        for (&(i, j), &slope) in self.places.iter().zip(&self.slopes) {
            self.D[(i, j)] = slope;
        }
        Ok(())
    }

    /// Choose anew among all constraints but those that are rounding: rows that cancel each other.
    fn choose_among_all(&mut self, zero: f64) -> usize {
        let floor = self.rounding();
        for (i, candidate) in self.candidates.iter_mut().enumerate() {
            *candidate |= !self.array.constraints[i].blind && self.sizes[i] > floor;
        }
        self.choose(zero)
    }

    /// Gradients that are not larger are rounding.
    fn rounding(&self) -> f64 {
        NEGLIGIBLE * self.sizes.iter().fold(0.0_f64, |top, size| top.max(*size))
    }

    /// Derivatives of all rows at a point; those at hand are not computed again.
    fn differentiate(&mut self, t: f64, y: &[f64]) -> Result<(), StepFailure> {
        if self.slopes_at.0 == t && self.slopes_at.1 == y {
            return Ok(());
        }
        self.set(t, y);
        self.entries.call(&self.inputs, &mut self.slopes);
        self.slopes_at.0 = t;
        self.slopes_at.1.copy_from_slice(y);
        if self.slopes.iter().any(|x| !x.is_finite()) {
            self.slopes_at.0 = f64::NAN;
            return Err(StepFailure::Undefined { t });
        }
        Ok(())
    }

    /// Stop where a step has passed a singular point of the stated constraints.
    fn watch(&mut self, t: f64, y: &[f64]) -> Result<(), StepFailure> {
        self.watch_determined(t, y)?;
        let k = self.moving.len();
        let constraints = &self.array.constraints;
        let stated = |i: &usize| constraints[*i].role == Role::Constraint && constraints[*i].level == 0;
        self.stated.clear();
        self.stated.extend(self.selection.rows.iter().copied().filter(stated));
        if self.stated.is_empty() && self.array.omitted.is_empty() {
            return Ok(());
        }
        self.differentiate(t, y)?;
        self.look_for_terms(t)?;
        self.stated.sort_unstable();
        let (places, stated) = (&self.places, &self.stated);
        let gather = |slopes: &[f64], C: &mut Matrix| {
            C.fill(0.0);
            for (&(i, j), &slope) in places.iter().zip(slopes) {
                if let Some(row) = i.checked_sub(k).and_then(|i| stated.binary_search(&i).ok()) {
                    C[(row, j)] = slope;
                }
            }
        };
        gather(&self.slopes, &mut self.C);
        let (entries, inputs, slopes) = (&mut self.entries, &mut self.inputs, &mut self.slopes);
        let (time, unknown_places, slopes_at) = (self.time, &self.unknown_places, &mut self.slopes_at);
        let gradients_at = |t: f64, y: &[f64], C: &mut Matrix| {
            inputs[time] = t;
            for (&place, &value) in unknown_places.iter().zip(y) {
                inputs[place] = value;
            }
            entries.call(inputs, slopes);
            slopes_at.0 = f64::NAN;
            gather(slopes, C);
        };
        let C = &self.C;
        if let Some(t) = self.passage.follow(stated, (t, y), |row, j| C[(row, j)], gradients_at) {
            return Err(StepFailure::ConstraintsSingular { t });
        }
        Ok(())
    }

    /// Stop where a coefficient that was taken for zero is not: a term is missing in a hidden constraint.
    fn look_for_terms(&self, t: f64) -> Result<(), StepFailure> {
        let (slopes, coefficients) = self.slopes.split_at(self.places.len());
        for (omitted, coefficient) in self.array.omitted.iter().zip(coefficients) {
            let row = self.moving.len() + omitted.constraint;
            let of_row = self.places.iter().zip(slopes).filter(|((i, _), _)| *i == row);
            let top = of_row.fold(omitted.terms, |top, (_, slope)| top.max(slope.abs()));
            if coefficient.abs() > APPEARING * top {
                let equation = self.array.constraints[omitted.constraint].equation.clone();
                return Err(StepFailure::TermAppears {
                    t,
                    equation,
                    unknown: self.array.names[omitted.unknown].clone(),
                });
            }
        }
        Ok(())
    }

    /// Stop where a step has passed a point at which the constraints do not determine an unknown without a rate.
    fn watch_determined(&mut self, t: f64, y: &[f64]) -> Result<(), StepFailure> {
        self.differentiate(t, y)?;
        let mut elsewhere = false;
        let (time, unknown_places, width) = (self.time, &self.unknown_places, self.slopes.len());
        let mut found = Vec::new();
        let (entries, inputs) = (&mut self.entries, &mut self.inputs);
        let lost = self.determined_by.step((t, y), &self.slopes, |t, y, put| {
            inputs[time] = t;
            unknown_places.iter().zip(y).for_each(|(&place, &value)| inputs[place] = value);
            found.resize(width, 0.0);
            entries.call(inputs, &mut found);
            elsewhere = true;
            put(&found);
        });
        if elsewhere {
            self.slopes_at.0 = f64::NAN;
            self.set(t, y);
        }
        lost.map_or(Ok(()), |t| Err(StepFailure::ConstraintsSingular { t }))
    }

    /// Have the pivots of the constraints that were chosen among redundant ones become poor?
    fn watch_choice(&mut self, t: f64, y: &[f64]) -> Result<(), StepFailure> {
        if self.selection.rows.len() == self.array.constraints.len() {
            return Ok(());
        }
        self.gradients(t, y)?;
        self.take_gradients();
        self.trial.choose(&mut self.C, &self.stages, &self.candidates, self.ranks.or(AT_POINT));
        self.worn = self.trial.smallest < POOR.min(WORSE * self.selection.smallest);
        // they may hold on a branch of their own from here on
        if self.trial.rows.len() < self.selection.rows.len() { Err(StepFailure::ChoiceSingular { t }) } else { Ok(()) }
    }

    /// C ← ∂c/∂y from D.
    fn take_gradients(&mut self) {
        let k = self.moving.len();
        for i in 0..self.C.rows() {
            self.C.row_mut(i).copy_from_slice(self.D.row(k + i));
        }
    }

    /// Choose among the candidates; the rank, invariants apart.
    fn choose(&mut self, zero: f64) -> usize {
        self.take_gradients();
        self.selection.choose(&mut self.C, &self.stages, &self.candidates, zero);
        let constraints = &self.array.constraints;
        self.selection.rows.iter().filter(|&&i| constraints[i].role != Role::Invariant).count()
    }

    /// Decompose the gradients with respect to the dependent unknowns.
    fn factor(&mut self, t: f64) -> Result<(), StepFailure> {
        let k = self.moving.len();
        self.lu.A.fill(0.0);
        for j in 0..self.lu.A.rows() {
            self.lu.A[(j, j)] = 1.0;
        }
        for (row, &i) in self.selection.rows.iter().enumerate() {
            for (column, &j) in self.selection.dependent.iter().enumerate() {
                self.lu.A[(row, column)] = self.D[(k + i, j)];
            }
        }
        self.lu.factor().map_err(|_| StepFailure::SingularPencil { t })
    }

    /// One Newton correction of the dependent unknowns brings the constraints far below the tolerance.
    fn polish(&mut self, t: f64, y: &mut [f64]) -> Result<(), Undefined> {
        let k = self.moving.len();
        self.evaluate(t, y)?;
        self.correction.fill(0.0);
        let mut before = 0.0_f64;
        for (c, &i) in self.correction.iter_mut().zip(&self.selection.rows) {
            *c = self.outputs[k + i];
            before = before.max(c.abs());
        }
        if before == 0.0 {
            return Ok(());
        }
        self.lu.solve(&mut self.correction);
        for (&j, c) in self.selection.dependent.iter().zip(&self.correction) {
            y[j] -= c;
        }
        let worse =
            self.evaluate(t, y).is_err() || self.selection.rows.iter().any(|&i| self.outputs[k + i].abs() > before);
        if worse {
            for (&j, c) in self.selection.dependent.iter().zip(&self.correction) {
                y[j] += c;
            }
            self.evaluate(t, y)?;
        }
        Ok(())
    }

    /// The largest residual of what was left out as redundant and must hold, in units of the unknowns, from the rows at hand.
    fn contradiction(&self, y: &[f64]) -> f64 {
        if self.selection.rows.len() == self.array.constraints.len() {
            return 0.0;
        }
        let k = self.moving.len();
        let floor = self.rounding();
        let mut worst = 0.0_f64;
        for (i, constraint) in self.array.constraints.iter().enumerate() {
            let sizes = self.D.row(k + i).iter().zip(y).map(|(slope, y)| slope.abs() * y.abs().max(1.0));
            let size = sizes.fold(self.sizes[i].max(floor), f64::max);
            if constraint.role == Role::Constraint {
                worst = worst.max(self.outputs[k + i].abs() / if size > 0.0 { size } else { 1.0 });
            }
        }
        worst
    }

    /// Residuals from the rows at hand.
    fn measure(&mut self) {
        let k = self.moving.len();
        self.residuals = Residuals::default();
        for (i, constraint) in self.array.constraints.iter().enumerate() {
            let place = match (constraint.role, constraint.level) {
                (Role::Invariant, _) => &mut self.residuals.invariant,
                (Role::Definition, _) => continue,
                (Role::Constraint, 0) => &mut self.residuals.constraint,
                (Role::Constraint, _) => &mut self.residuals.hidden,
            };
            let value = self.outputs[k + i].abs();
            *place = Some(place.map_or(value, |most| most.max(value)));
        }
    }
}

impl Dae for QuasiLinear {
    fn dim(&self) -> usize {
        self.array.unknowns.len()
    }

    fn new_pencil(&self) -> Pencil {
        let n = self.dim();
        Pencil::dense(n, n)
    }

    fn algebraic(&self, row: usize) -> bool {
        row < self.selection.rows.len()
    }

    fn quasilinear(&self) -> bool {
        true
    }

    fn residual(&mut self, _: usize, t: f64, y: &[f64], ydot: &[f64], r: &mut [f64]) -> Result<(), Undefined> {
        self.evaluate(t, y)?;
        let k = self.moving.len();
        let (algebraic, differential) = r.split_at_mut(self.selection.rows.len());
        for (r, &i) in algebraic.iter_mut().zip(&self.selection.rows) {
            *r = self.outputs[k + i];
        }
        for (r, &j) in differential.iter_mut().zip(&self.independent) {
            *r = ydot[j] - self.rate_row[j].map_or(0.0, |k| self.outputs[k]);
        }
        Ok(())
    }

    fn pencil(&mut self, t: f64, y: &[f64], _: &[f64], out: &mut Pencil) -> Result<(), StepFailure> {
        self.select(t, y)?;
        let [E, A] = out.dense_mut();
        E.fill(0.0);
        A.fill(0.0);
        let (k, a) = (self.moving.len(), self.selection.rows.len());
        for (row, &i) in self.selection.rows.iter().enumerate() {
            A.row_mut(row).iter_mut().zip(self.D.row(k + i)).for_each(|(A, c)| *A = -c);
        }
        for (row, &j) in self.independent.iter().enumerate() {
            E[(a + row, j)] = 1.0;
            if let Some(k) = self.rate_row[j] {
                A.row_mut(a + row).copy_from_slice(self.D.row(k));
            }
        }
        Ok(())
    }

    fn accepted(&mut self, _: usize, t: f64, y: &mut [f64], _: &[f64]) -> Result<(), StepFailure> {
        self.polish(t, y).map_err(|_| StepFailure::Undefined { t })?;
        self.measure();
        self.watch(t, y)?;
        self.watch_choice(t, y)?;
        // one correction leaves the square of an error: what must hold besides is judged after more of them
        for _ in 0..POLISHING {
            let suspicious = self.invariance.as_mut().is_some_and(|invariance| invariance.suspicious(&self.inputs));
            if !suspicious && self.contradiction(y) <= CONTRADICTION {
                break;
            }
            // the factors at hand are those of the begin of the step
            self.gradients(t, y)?;
            self.factor(t)?;
            self.polish(t, y).map_err(|_| StepFailure::Undefined { t })?;
        }
        if let Some(invariance) = &mut self.invariance {
            invariance.suspicious(&self.inputs);
            invariance.step(t)?;
        }
        match self.contradiction(y) {
            residual if residual > CONTRADICTION => Err(StepFailure::Contradictory { t, residual }),
            _ => Ok(()),
        }
    }

    fn wants_pencil(&self) -> bool {
        self.worn
    }

    fn settle(&mut self, t: f64, y: &mut [f64]) {
        // two corrections: the matrix is that of the begin of the step; where there is no value the state stays
        for _ in 0..2 {
            if self.polish(t, y).is_err() {
                return;
            }
        }
    }

    fn jumped(&mut self, t: f64, y: &[f64]) {
        self.passage.forget();
        self.determined_by.forget();
        // where there is no value the next pencil says so
        let _ = self.keep_invariants(t, y);
    }

    fn row_name(&self, row: usize) -> Option<String> {
        let constraint = &self.array.constraints[*self.selection.rows.get(row)?];
        Some(differentiated(&constraint.equation, constraint.level))
    }

    fn invariant(&self, row: usize) -> bool {
        self.selection.rows.get(row).is_some_and(|&i| self.array.constraints[i].role == Role::Invariant)
    }

    fn residuals(&self) -> Residuals {
        self.residuals
    }

    fn in_error_norm(&self, unknown: usize) -> bool {
        unknown < self.array.dim
    }

    fn undetermined(&self) -> Vec<Vec<f64>> {
        let n = self.dim();
        let free = self.independent.iter().filter(|&&j| self.rate_row[j].is_none() && j < self.array.dim);
        free.map(|&j| (0..n).map(|k| if k == j { 1.0 } else { 0.0 }).collect()).collect()
    }

    fn decisions(&self) -> String {
        let hidden = self.array.constraints.iter().filter(|c| c.role == Role::Constraint && c.level > 0).count();
        format!(
            "minimal reduced derivative array: {} of {} differential equations chosen at a time, {} constraints, {hidden} of them hidden, {} auxiliary unknowns",
            self.degrees(),
            self.moving.len(),
            self.array.constraints.iter().filter(|c| c.role == Role::Constraint).count(),
            self.dim() - self.array.dim,
        )
    }
}
