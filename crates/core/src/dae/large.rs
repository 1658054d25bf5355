//! The minimal reduced derivative array of a large system as a square one, with sparse matrices: [`QuasiLinear`](super::QuasiLinear) at scale.
//!
//! y_j' = rate_j for the chosen j, 0 = c_i for the independent constraints, in the order of their numbers. The same preferences choose, by pivots of a
//! sparse elimination, and again where the choice becomes poor; the pattern of the pencils changes only then. Ranks are decided with a choice; on the way
//! they are not followed, as those of large systems of index one are not (`watch.rs`).

use super::characteristics::differentiated;
use super::hidden::{MinimalArray, Role};
use super::invariance::Invariance;
use super::selection::{EliminationStages, choose_sparse};
use super::{CharacteristicValues, Dae, Pencil};
use crate::error::StepFailure;
use crate::graph::{Compiler, Expr, Kernel};
use crate::linalg::rank::AT_POINT;
use crate::linalg::{Jacobian, RankRule, SparseLu, SparseMatrix};
use crate::motion::Undefined;
use crate::statistics::Residuals;

/// As for small systems: residuals of redundant constraints, coefficients that were taken for zero.
const CONTRADICTION: f64 = 1e-5;
const APPEARING: f64 = 1e-5;

/// A choice is made anew where dependent unknowns move so many times as much with the others as they did.
const WORSE: f64 = 3.0;

/// A large general system of any index through its minimal reduced derivative array.
pub(super) struct LargeSystem {
    array: MinimalArray,
    /// rates, then constraints
    values: Box<dyn Kernel>,
    /// their derivatives with respect to y, then the coefficients that were taken for zero
    entries: Box<dyn Kernel>,
    /// gradients of the rows of `values`, and where the entries stand in it
    D: SparseMatrix,
    positions: Vec<usize>,
    /// number of rates, and the row of `values` with the rate of an unknown
    moving: usize,
    rate_row: Vec<Option<usize>>,
    stages: EliminationStages,
    /// chosen constraints, their pivot columns, unknowns with a differential equation, then undetermined ones
    rows: Vec<usize>,
    dependent: Vec<usize>,
    independent: Vec<usize>,
    is_dependent: Vec<bool>,
    /// how much dependent unknowns moved with the others when they were chosen
    usual: f64,
    /// unknowns without a rate that the constraints determine
    determined: usize,
    pattern: Pencil,
    /// ∂c/∂y of the chosen constraints by the dependent unknowns, and where the entries of D stand in it
    lu: Option<SparseLu<f64>>,
    of_lu: Vec<(usize, usize)>,
    correction: Vec<f64>,
    kept: Vec<f64>,
    characteristic: CharacteristicValues,
    ranks: RankRule,
    inputs: Vec<f64>,
    time: usize,
    places: Vec<usize>,
    outputs: Vec<f64>,
    slopes: Vec<f64>,
    residuals: Residuals,
    invariance: Option<Invariance>,
}

impl LargeSystem {
    /// From formulas, at a point: time and values of all unknowns.
    pub fn new(
        array: MinimalArray,
        compiler: &dyn Compiler,
        characteristic: CharacteristicValues,
        ranks: RankRule,
        t: f64,
        y: &[f64],
    ) -> Result<Self, StepFailure> {
        let (N, m) = (array.unknowns.len(), array.constraints.len());
        let mut rate_row = vec![None; N];
        let with_rate: Vec<usize> = (0..N).filter(|&j| array.rates[j].is_some()).collect();
        with_rate.iter().enumerate().for_each(|(k, &j)| rate_row[j] = Some(k));
        let k = with_rate.len();
        let rates = with_rate.iter().filter_map(|&j| array.rates[j]);
        let rows: Vec<Expr> = rates.chain(array.constraints.iter().map(|c| c.residual)).collect();
        let mut graph = array.graph.clone();
        let rows = graph.bind(&rows, &array.parameters);
        let jacobian = graph.jacobian(&rows, &array.unknowns);
        let omitted: Vec<Expr> = array.omitted.iter().map(|o| o.coefficient).collect();
        let omitted = graph.bind(&omitted, &array.parameters);
        let entries = [&jacobian.entries[..], &omitted].concat();
        let places: Vec<(usize, usize)> = jacobian.iter().map(|(i, j, _)| (i, j)).collect();
        let D = SparseMatrix::new(k + m, N, places.clone());
        let levels: Vec<Option<usize>> =
            array.constraints.iter().map(|c| (c.role == Role::Constraint).then_some(c.level)).collect();
        let optional = array.constraints.iter().map(|c| c.role == Role::Invariant).collect();
        let of_constraints: Vec<(usize, usize)> =
            places.iter().filter(|(i, _)| *i >= k).map(|&(i, j)| (i - k, j)).collect();
        let moves: Vec<bool> = array.rates.iter().map(Option::is_some).collect();
        let mut system = LargeSystem {
            values: compiler.compile(&graph, &rows),
            entries: compiler.compile(&graph, &entries),
            positions: places.iter().filter_map(|&place| D.position(place)).collect(),
            D,
            moving: k,
            rate_row,
            stages: EliminationStages::new(moves, array.dim, &of_constraints, &levels, optional),
            rows: Vec::new(),
            dependent: Vec::new(),
            independent: Vec::new(),
            is_dependent: vec![false; N],
            usual: 1.0,
            determined: 0,
            pattern: Pencil::sparse(0, Vec::new(), Vec::new()),
            lu: None,
            of_lu: Vec::new(),
            correction: Vec::new(),
            kept: vec![0.0; m],
            characteristic,
            ranks,
            inputs: array.inputs(t, y),
            time: array.place(array.t),
            places: array.unknowns.iter().map(|&e| array.place(e)).collect(),
            outputs: vec![0.0; k + m],
            slopes: vec![0.0; entries.len()],
            residuals: Residuals::default(),
            invariance: Invariance::new(&array, compiler),
            array,
        };
        system.keep_invariants(t, y).map_err(|_| StepFailure::Undefined { t })?;
        system.gradients(t, y)?;
        system.choose(t, None)?;
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
        self.places.iter().zip(y).for_each(|(&place, &value)| self.inputs[place] = value);
    }

    fn evaluate(&mut self, t: f64, y: &[f64]) -> Result<(), Undefined> {
        self.set(t, y);
        self.values.call(&self.inputs, &mut self.outputs);
        self.outputs[self.moving..].iter_mut().zip(&self.kept).for_each(|(value, kept)| *value -= kept);
        if self.outputs.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(Undefined) }
    }

    /// Invariants keep the values that they have here.
    fn keep_invariants(&mut self, t: f64, y: &[f64]) -> Result<(), Undefined> {
        self.kept.fill(0.0);
        self.evaluate(t, y)?;
        for (i, constraint) in self.array.constraints.iter().enumerate() {
            if constraint.role == Role::Invariant {
                self.kept[i] = self.outputs[self.moving + i];
            }
        }
        Ok(())
    }

    /// D at a point.
    fn gradients(&mut self, t: f64, y: &[f64]) -> Result<(), StepFailure> {
        self.set(t, y);
        self.entries.call(&self.inputs, &mut self.slopes);
        if self.slopes.iter().any(|x| !x.is_finite()) {
            return Err(StepFailure::Undefined { t });
        }
        let D = self.D.values_mut();
        self.positions.iter().zip(&self.slopes).for_each(|(&k, &slope)| D[k] = slope);
        Ok(())
    }

    /// Choose constraints and differential equations with the gradients at hand; ranks that are known must stay.
    fn choose(&mut self, t: f64, known: Option<(usize, usize)>) -> Result<(), StepFailure> {
        let (k, m) = (self.moving, self.array.constraints.len());
        let blind = |i: usize| self.array.constraints[i].blind;
        let row = |i: usize| {
            let (columns, values) = self.D.row(k + i);
            if blind(i) { Vec::new() } else { columns.iter().copied().zip(values.iter().copied()).collect() }
        };
        let chosen = choose_sparse((0..m).map(row), &self.stages, self.ranks.or(AT_POINT));
        let held = |rows: &[usize]| rows.iter().filter(|&&i| self.array.constraints[i].role != Role::Invariant).count();
        if let Some((rank, determined)) = known
            && (held(&chosen.rows), chosen.determined) != (rank, determined)
        {
            let before = self.characteristic;
            let lost = rank as isize - held(&chosen.rows) as isize;
            let open = determined as isize - chosen.determined as isize;
            let (a, u) = (before.a as isize - lost, before.u as isize + open);
            let now = CharacteristicValues { a: a.max(0) as usize, u: u.max(0) as usize, ..before };
            return Err(StepFailure::CharacteristicChange { t, before, now });
        }
        if (&chosen.rows, &chosen.dependent) != (&self.rows, &self.dependent) {
            (self.rows, self.dependent, self.determined) = (chosen.rows, chosen.dependent, chosen.determined);
            self.arrange(t)?;
        }
        self.factor(t)?;
        self.usual = self.growth().max(1.0);
        Ok(())
    }

    /// How much dependent unknowns move with the independent ones, C_d⁻¹ C_i times signs: it grows where the choice becomes poor.
    fn growth(&mut self) -> f64 {
        if self.rows.is_empty() {
            return 0.0;
        }
        for (c, &i) in self.correction.iter_mut().zip(&self.rows) {
            let (columns, slopes) = self.D.row(self.moving + i);
            let others = columns.iter().zip(slopes).filter(|(j, _)| !self.is_dependent[**j]);
            *c = others.map(|(&j, slope)| if (j * 0x9E37) & 16 == 0 { *slope } else { -slope }).sum();
        }
        if let Some(lu) = &mut self.lu {
            lu.solve(&mut self.correction);
        }
        self.correction.iter().fold(0.0, |top, c| top.max(c.abs()))
    }

    /// Independent unknowns, and the patterns of the matrices, for a new choice.
    fn arrange(&mut self, t: f64) -> Result<(), StepFailure> {
        let (N, k, a) = (self.array.unknowns.len(), self.moving, self.rows.len());
        let mut column = vec![usize::MAX; N];
        self.dependent.iter().enumerate().for_each(|(c, &j)| column[j] = c);
        self.is_dependent = column.iter().map(|c| *c != usize::MAX).collect();
        let free = (0..N).filter(|&j| column[j] == usize::MAX);
        let (with_rate, without): (Vec<usize>, Vec<usize>) = free.partition(|&j| self.rate_row[j].is_some());
        self.independent = [with_rate, without].concat();
        let constraints = self.rows.iter().enumerate().map(|(row, &i)| (row, k + i));
        let rates = self.independent.iter().enumerate().filter_map(|(row, &j)| Some((a + row, self.rate_row[j]?)));
        let of_row = |(row, source): (usize, usize)| self.D.row(source).0.iter().map(move |&j| (row, j));
        let A: Vec<(usize, usize)> = constraints.chain(rates).flat_map(of_row).collect();
        let E = self.independent.iter().enumerate().map(|(row, &j)| (a + row, j)).collect();
        self.pattern = Pencil::sparse(N, E, A);
        let mut places = Vec::new();
        self.of_lu.clear();
        for (row, &i) in self.rows.iter().enumerate() {
            for &j in self.D.row(k + i).0.iter().filter(|&&j| column[j] != usize::MAX) {
                let Some(entry) = self.D.position((k + i, j)) else { continue };
                places.push((row, column[j]));
                self.of_lu.push((entry, 0));
            }
        }
        self.correction.resize(a, 0.0);
        if a == 0 {
            self.lu = None;
            return Ok(());
        }
        let (lu, positions) = SparseLu::of_places(a, &places);
        self.lu = Some(lu.ok_or(StepFailure::SingularPencil { t })?);
        self.of_lu.iter_mut().zip(positions).for_each(|(place, position)| place.1 = position);
        Ok(())
    }

    /// Decompose the gradients with respect to the dependent unknowns.
    fn factor(&mut self, t: f64) -> Result<(), StepFailure> {
        let (D, Some(lu)) = (self.D.values(), &mut self.lu) else { return Ok(()) };
        self.of_lu.iter().for_each(|&(entry, position)| lu.values[position] = D[entry]);
        lu.factor().map_err(|_| StepFailure::SingularPencil { t })
    }

    /// Rank of the constraints, invariants apart, and the number of unknowns without rates that they determine.
    fn known(&self) -> (usize, usize) {
        let held = self.rows.iter().filter(|&&i| self.array.constraints[i].role != Role::Invariant).count();
        (held, self.determined)
    }

    /// One Newton correction of the dependent unknowns brings the constraints far below the tolerance.
    fn polish(&mut self, t: f64, y: &mut [f64]) -> Result<(), Undefined> {
        let k = self.moving;
        self.evaluate(t, y)?;
        self.correction.iter_mut().zip(&self.rows).for_each(|(c, &i)| *c = self.outputs[k + i]);
        let before = self.correction.iter().fold(0.0_f64, |top, c| top.max(c.abs()));
        if before == 0.0 {
            return Ok(());
        }
        if let Some(lu) = &mut self.lu {
            lu.solve(&mut self.correction);
        }
        self.dependent.iter().zip(&self.correction).for_each(|(&j, c)| y[j] -= c);
        if self.evaluate(t, y).is_err() || self.rows.iter().any(|&i| self.outputs[k + i].abs() > before) {
            self.dependent.iter().zip(&self.correction).for_each(|(&j, c)| y[j] += c);
            self.evaluate(t, y)?;
        }
        Ok(())
    }

    /// Stop where what was left out as redundant does not hold, or a coefficient that was taken for zero is not, by the rows and gradients at hand.
    fn contradiction(&self, t: f64, y: &[f64]) -> Result<(), StepFailure> {
        let k = self.moving;
        let top = |i: usize| self.D.row(k + i).1.iter().fold(0.0_f64, |top, slope| top.max(slope.abs()));
        for (omitted, coefficient) in self.array.omitted.iter().zip(&self.slopes[self.positions.len()..]) {
            if coefficient.abs() > APPEARING * top(omitted.constraint).max(omitted.terms) {
                let equation = self.array.constraints[omitted.constraint].equation.clone();
                return Err(StepFailure::TermAppears {
                    t,
                    equation,
                    unknown: self.array.names[omitted.unknown].clone(),
                });
            }
        }
        if self.rows.len() == self.array.constraints.len() {
            return Ok(());
        }
        let mut worst = 0.0_f64;
        for (i, constraint) in self.array.constraints.iter().enumerate() {
            let (columns, slopes) = self.D.row(k + i);
            let sizes = columns.iter().zip(slopes).map(|(&j, slope)| slope.abs() * y[j].abs().max(1.0));
            let size = sizes.fold(0.0, f64::max);
            if constraint.role == Role::Constraint {
                worst = worst.max(self.outputs[k + i].abs() / if size > 0.0 { size } else { 1.0 });
            }
        }
        if worst > CONTRADICTION { Err(StepFailure::Contradictory { t, residual: worst }) } else { Ok(()) }
    }

    /// Residuals from the rows at hand.
    fn measure(&mut self) {
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

impl Dae for LargeSystem {
    fn dim(&self) -> usize {
        self.array.unknowns.len()
    }

    fn new_pencil(&self) -> Pencil {
        self.pattern.clone()
    }

    fn algebraic(&self, row: usize) -> bool {
        row < self.rows.len()
    }

    fn quasilinear(&self) -> bool {
        true
    }

    fn residual(&mut self, _: usize, t: f64, y: &[f64], ydot: &[f64], r: &mut [f64]) -> Result<(), Undefined> {
        self.evaluate(t, y)?;
        let (algebraic, differential) = r.split_at_mut(self.rows.len());
        algebraic.iter_mut().zip(&self.rows).for_each(|(r, &i)| *r = self.outputs[self.moving + i]);
        for (r, &j) in differential.iter_mut().zip(&self.independent) {
            *r = ydot[j] - self.rate_row[j].map_or(0.0, |k| self.outputs[k]);
        }
        Ok(())
    }

    fn pencil(&mut self, t: f64, y: &[f64], _: &[f64], out: &mut Pencil) -> Result<(), StepFailure> {
        self.gradients(t, y)?;
        if self.factor(t).is_err() || self.growth() > WORSE * self.usual {
            self.choose(t, Some(self.known()))?;
        }
        let (k, a) = (self.moving, self.rows.len());
        let Pencil { E, A } = &mut self.pattern;
        if let (Jacobian::Sparse(E), Jacobian::Sparse(A)) = (E, A) {
            E.values_mut().fill(1.0);
            for (row, &i) in self.rows.iter().enumerate() {
                A.row_mut(row).iter_mut().zip(self.D.row(k + i).1).for_each(|(A, c)| *A = -c);
            }
            for (row, &j) in self.independent.iter().enumerate() {
                if let Some(k) = self.rate_row[j] {
                    A.row_mut(a + row).copy_from_slice(self.D.row(k).1);
                }
            }
        }
        for (out, own) in [(&mut out.E, &self.pattern.E), (&mut out.A, &self.pattern.A)] {
            if out.has_pattern_of(own) { out.copy_from(own) } else { out.clone_from(own) }
        }
        Ok(())
    }

    fn accepted(&mut self, _: usize, t: f64, y: &mut [f64], _: &[f64]) -> Result<(), StepFailure> {
        self.polish(t, y).map_err(|_| StepFailure::Undefined { t })?;
        self.measure();
        if let Some(invariance) = &mut self.invariance {
            invariance.suspicious(&self.inputs);
            invariance.step(t)?;
        }
        self.contradiction(t, y)
    }

    fn settle(&mut self, t: f64, y: &mut [f64]) {
        for _ in 0..2 {
            if self.polish(t, y).is_err() {
                return;
            }
        }
    }

    fn jumped(&mut self, t: f64, y: &[f64]) {
        // where there is no value the next pencil says so
        let _ = self.keep_invariants(t, y);
    }

    fn row_name(&self, row: usize) -> Option<String> {
        let constraint = &self.array.constraints[*self.rows.get(row)?];
        Some(differentiated(&constraint.equation, constraint.level))
    }

    fn invariant(&self, row: usize) -> bool {
        self.rows.get(row).is_some_and(|&i| self.array.constraints[i].role == Role::Invariant)
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
        let stated = self.array.constraints.iter().filter(|c| c.role == Role::Constraint);
        let (hidden, all) = (stated.clone().filter(|c| c.level > 0).count(), stated.count());
        format!(
            "minimal reduced derivative array, sparse: {} of {} differential equations chosen at a time, {all} constraints, {hidden} of them hidden, {} auxiliary unknowns",
            self.degrees(),
            self.moving,
            self.dim() - self.array.dim,
        )
    }
}
