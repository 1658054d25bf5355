//! The minimal reduced derivative array as a square system: a choice of differential equations, all independent constraints.
//!
//! y_j' = rate_j for the chosen j, 0 = c_i for the chosen i, y_j' = 0 for what is undetermined. The choice is made anew with every
//! pencil. Steinbrecher (2006), 3.5: (3.78) with selectors that are constant over a step.

use super::chord::Chosen;
use super::determined::Determined;
use super::hidden::{MinimalArray, Role};
use super::rows::{ArrayRows, CONTRADICTION, changed};
use super::selection::{EliminationStages, Selection};
use super::{CharacteristicValues, Dae, Pencil};
use crate::error::StepFailure;
use crate::graph::Compiler;
use crate::linalg::rank::{AT_POINT, BESIDE_CONSTRAINTS};
use crate::linalg::{Lu, Matrix, RankRule};
use crate::motion::Undefined;
use crate::statistics::Residuals;

/// Gradients below this part of the largest one are rounding: rows that cancel each other.
const NEGLIGIBLE: f64 = 1e-10;
/// Most further corrections before redundant constraints are said to contradict, and invariants to be none.
const POLISHING: usize = 3;

/// Pivots below this part of the usual size of their row are a reason to look at redundant constraints again: what is solved from such a row
/// has its errors divided by the pivot.
const POOR: f64 = 0.3;
/// So they are between pencils, if they have become smaller by this factor since the last choice.
const WORSE: f64 = 0.5;

/// A general system of any index through its minimal reduced derivative array.
pub struct QuasiLinear {
    rows: ArrayRows,
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
    characteristic: CharacteristicValues,
    ranks: RankRule,
    // scratch
    elsewhere: Vec<f64>,
    C: Matrix,
    D: Matrix,
    decided: bool,
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
        let rows = ArrayRows::new(array, compiler, t, y)?;
        let (N, k, m) = (rows.rate_row.len(), rows.moving, rows.array.constraints.len());
        let held = rows.of_constraints().filter(|(_, i, _)| !rows.is_invariant(*i));
        let determined_by = Determined::new(held, &rows.moves());
        let mut system = QuasiLinear {
            elsewhere: vec![0.0; rows.slopes.len()],
            C: Matrix::zeros(m, N),
            D: Matrix::zeros(k + m, N),
            stages: rows.elimination_stages(),
            selection: Selection::new(m, N),
            trial: Selection::new(m, N),
            worn: false,
            candidates: rows.array.constraints.iter().map(|c| !c.blind).collect(),
            rank: 0,
            determined: 0,
            lu: Lu::new(m.min(N)),
            correction: vec![0.0; m.min(N)],
            passage: Chosen::new(N),
            sizes: vec![0.0; m],
            stated: Vec::with_capacity(m),
            independent: Vec::with_capacity(N),
            characteristic,
            ranks,
            decided: false,
            determined_by,
            rows,
        };
        system.select(t, y)?;
        system.decided = true;
        system.watch(t, y)?;
        system.rows.evaluate(t, y).map_err(|_| StepFailure::Undefined { t })?;
        system.rows.measure();
        Ok(system)
    }

    /// Derivatives of the unknowns that follow from the rates; zero for the others.
    pub fn rates(&mut self, t: f64, y: &[f64], ydot: &mut [f64]) -> Result<(), Undefined> {
        self.rows.rates(t, y, ydot)
    }

    /// Unknowns that nothing determines, auxiliary ones included.
    pub fn open(&self) -> usize {
        self.independent.len() - self.degrees()
    }

    /// How many of the differential equations are integrated.
    pub fn degrees(&self) -> usize {
        self.rows.degrees(&self.independent)
    }

    /// Gradients at a point and a new choice.
    fn select(&mut self, t: f64, y: &[f64]) -> Result<(), StepFailure> {
        self.gradients(t, y)?;
        let k = self.rows.moving;
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
        } else if self.decided && self.selection.smallest < POOR && rank < self.rows.array.constraints.len() {
            // redundant rows may see better now
            let (before, candidates) = (self.selection.clone(), self.candidates.clone());
            let again = self.choose_among_all(BESIDE_CONSTRAINTS);
            let same = (again, self.selection.determined) == (rank, before.determined);
            if !same || self.selection.smallest <= before.smallest {
                (self.selection, self.candidates) = (before, candidates);
            }
        }
        if self.decided && (rank, self.selection.determined) != known {
            return Err(changed(t, self.characteristic, known, (rank, self.selection.determined)));
        }
        (self.rank, self.determined) = (rank, self.selection.determined);
        self.worn = false;
        // redundant rows stay out: beside the manifold they may look independent
        let chosen = &self.selection.rows;
        for (i, candidate) in self.candidates.iter_mut().enumerate() {
            *candidate = chosen.contains(&i) || self.rows.is_invariant(i);
        }
        let taken = &self.selection.taken;
        self.rows.independent(|j| taken[j], &mut self.independent);
        self.factor(t)
    }

    /// D at a point.
    fn gradients(&mut self, t: f64, y: &[f64]) -> Result<(), StepFailure> {
        self.rows.differentiate(t, y)?;
        self.D.fill(0.0);
        for (&(i, j), &slope) in self.rows.places.iter().zip(&self.rows.slopes) {
            self.D[(i, j)] = slope;
        }
        Ok(())
    }

    /// Choose anew among all constraints but those that are rounding: rows that cancel each other.
    fn choose_among_all(&mut self, zero: f64) -> usize {
        let floor = self.rounding();
        for (i, candidate) in self.candidates.iter_mut().enumerate() {
            *candidate |= !self.rows.array.constraints[i].blind && self.sizes[i] > floor;
        }
        self.choose(zero)
    }

    /// Gradients that are not larger are rounding.
    fn rounding(&self) -> f64 {
        NEGLIGIBLE * self.sizes.iter().fold(0.0_f64, |top, size| top.max(*size))
    }

    /// Stop where a step has passed a singular point of the stated constraints.
    fn watch(&mut self, t: f64, y: &[f64]) -> Result<(), StepFailure> {
        self.watch_determined(t, y)?;
        let constraints = &self.rows.array.constraints;
        let stated = |i: &usize| constraints[*i].role == Role::Constraint && constraints[*i].level == 0;
        self.stated.clear();
        self.stated.extend(self.selection.rows.iter().copied().filter(stated));
        if self.stated.is_empty() && self.rows.array.omitted.is_empty() {
            return Ok(());
        }
        self.rows.look_for_terms(t)?;
        self.stated.sort_unstable();
        let QuasiLinear { rows, stated, C, elsewhere, passage, .. } = self;
        let ArrayRows { kernels, places, slopes, moving: k, .. } = rows;
        let gather = |slopes: &[f64], C: &mut Matrix| {
            C.fill(0.0);
            for (&(i, j), &slope) in places.iter().zip(slopes) {
                if let Some(row) = i.checked_sub(*k).and_then(|i| stated.binary_search(&i).ok()) {
                    C[(row, j)] = slope;
                }
            }
        };
        gather(slopes, C);
        let gradients_at = |t: f64, y: &[f64], C: &mut Matrix| {
            kernels.differentiate(t, y, elsewhere);
            gather(elsewhere, C);
        };
        let lost = passage.follow(stated, (t, y), |row, j| C[(row, j)], gradients_at);
        kernels.set(t, y);
        lost.map_or(Ok(()), |t| Err(StepFailure::ConstraintsSingular { t }))
    }

    /// Stop where a step has passed a point at which the constraints do not determine an unknown without a rate.
    fn watch_determined(&mut self, t: f64, y: &[f64]) -> Result<(), StepFailure> {
        self.rows.differentiate(t, y)?;
        let QuasiLinear { rows: ArrayRows { kernels, slopes, .. }, elsewhere, determined_by, .. } = self;
        let lost = determined_by.step((t, y), slopes, |t, y, put| {
            kernels.differentiate(t, y, elsewhere);
            put(elsewhere);
        });
        kernels.set(t, y);
        lost.map_or(Ok(()), |t| Err(StepFailure::ConstraintsSingular { t }))
    }

    /// Have the pivots of the constraints that were chosen among redundant ones become poor?
    fn watch_choice(&mut self, t: f64, y: &[f64]) -> Result<(), StepFailure> {
        if self.selection.rows.len() == self.rows.array.constraints.len() {
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
        let k = self.rows.moving;
        for i in 0..self.C.rows() {
            self.C.row_mut(i).copy_from_slice(self.D.row(k + i));
        }
    }

    /// Choose among the candidates; the rank, invariants apart.
    fn choose(&mut self, zero: f64) -> usize {
        self.take_gradients();
        self.selection.choose(&mut self.C, &self.stages, &self.candidates, zero);
        self.rows.rank(&self.selection.rows)
    }

    /// Decompose the gradients with respect to the dependent unknowns.
    fn factor(&mut self, t: f64) -> Result<(), StepFailure> {
        let k = self.rows.moving;
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
        self.rows.evaluate(t, y)?;
        self.correction.fill(0.0);
        let mut before = 0.0_f64;
        for (c, &i) in self.correction.iter_mut().zip(&self.selection.rows) {
            *c = self.rows.constraint(i);
            before = before.max(c.abs());
        }
        if before == 0.0 {
            return Ok(());
        }
        self.lu.solve(&mut self.correction);
        for (&j, c) in self.selection.dependent.iter().zip(&self.correction) {
            y[j] -= c;
        }
        let undefined = self.rows.evaluate(t, y).is_err();
        if undefined || self.selection.rows.iter().any(|&i| self.rows.constraint(i).abs() > before) {
            for (&j, c) in self.selection.dependent.iter().zip(&self.correction) {
                y[j] += c;
            }
            self.rows.evaluate(t, y)?;
        }
        Ok(())
    }

    /// The largest residual of what was left out as redundant and must hold, in units of the unknowns, from the rows at hand.
    fn contradiction(&self, y: &[f64]) -> f64 {
        if self.selection.rows.len() == self.rows.array.constraints.len() {
            return 0.0;
        }
        let (k, floor) = (self.rows.moving, self.rounding());
        self.rows.contradiction(|i| {
            let sizes = self.D.row(k + i).iter().zip(y).map(|(slope, y)| slope.abs() * y.abs().max(1.0));
            sizes.fold(self.sizes[i].max(floor), f64::max)
        })
    }
}

impl Dae for QuasiLinear {
    fn dim(&self) -> usize {
        self.rows.rate_row.len()
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
        self.rows.residual((&self.selection.rows, &self.independent), (t, y, ydot), r)
    }

    fn pencil(&mut self, t: f64, y: &[f64], _: &[f64], out: &mut Pencil) -> Result<(), StepFailure> {
        self.select(t, y)?;
        let [E, A] = out.dense_mut();
        E.fill(0.0);
        A.fill(0.0);
        let (k, a) = (self.rows.moving, self.selection.rows.len());
        for (row, &i) in self.selection.rows.iter().enumerate() {
            A.row_mut(row).iter_mut().zip(self.D.row(k + i)).for_each(|(A, c)| *A = -c);
        }
        for (row, &j) in self.independent.iter().enumerate() {
            E[(a + row, j)] = 1.0;
            if let Some(k) = self.rows.rate_row[j] {
                A.row_mut(a + row).copy_from_slice(self.D.row(k));
            }
        }
        Ok(())
    }

    fn accepted(&mut self, _: usize, t: f64, y: &mut [f64], _: &[f64]) -> Result<(), StepFailure> {
        self.polish(t, y).map_err(|_| StepFailure::Undefined { t })?;
        self.rows.measure();
        self.watch(t, y)?;
        self.watch_choice(t, y)?;
        // one correction leaves the square of an error: what must hold besides is judged after more of them
        for _ in 0..POLISHING {
            if !self.rows.invariants_are_suspicious() && self.contradiction(y) <= CONTRADICTION {
                break;
            }
            // the factors at hand are those of the begin of the step
            self.gradients(t, y)?;
            self.factor(t)?;
            self.polish(t, y).map_err(|_| StepFailure::Undefined { t })?;
        }
        self.rows.watch_invariants(t)?;
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
        let _ = self.rows.keep_invariants(t, y);
    }

    fn row_name(&self, row: usize) -> Option<String> {
        self.selection.rows.get(row).map(|&i| self.rows.name(i))
    }

    fn invariant(&self, row: usize) -> bool {
        self.selection.rows.get(row).is_some_and(|&i| self.rows.is_invariant(i))
    }

    fn residuals(&self) -> Residuals {
        self.rows.residuals
    }

    fn in_error_norm(&self, unknown: usize) -> bool {
        unknown < self.rows.array.dim
    }

    fn undetermined(&self) -> Vec<Vec<f64>> {
        self.rows.undetermined(&self.independent)
    }

    fn decisions(&self) -> String {
        let (all, hidden) = self.rows.count();
        format!(
            "minimal reduced derivative array: {} of {} differential equations chosen at a time, {all} constraints, {hidden} of them hidden, {} auxiliary unknowns",
            self.degrees(),
            self.rows.moving,
            self.dim() - self.rows.array.dim,
        )
    }
}
