//! The minimal reduced derivative array of a large system as a square one, with sparse matrices: [`QuasiLinear`](super::QuasiLinear) at scale.
//!
//! y_j' = rate_j for the chosen j, 0 = c_i for the independent constraints, in the order of their numbers. The same preferences choose, by pivots of a
//! sparse elimination, and again where the choice becomes poor; the pattern of the pencils changes only then. Ranks are decided with a choice; on the way
//! they are not followed, as those of large systems of index one are not (`watch.rs`).

use super::hidden::MinimalArray;
use super::rows::{ArrayRows, CONTRADICTION, changed};
use super::selection::{EliminationStages, choose_sparse};
use super::{CharacteristicValues, Dae, Pencil};
use crate::error::StepFailure;
use crate::graph::Compiler;
use crate::linalg::rank::AT_POINT;
use crate::linalg::{Jacobian, RankRule, SparseLu, SparseMatrix};
use crate::motion::Undefined;
use crate::statistics::Residuals;

/// A choice is made anew where dependent unknowns move so many times as much with the others as they did.
const WORSE: f64 = 3.0;

/// A large general system of any index through its minimal reduced derivative array.
pub(super) struct LargeSystem {
    rows: ArrayRows,
    /// gradients of the rows, and where the derivatives stand in it
    D: SparseMatrix,
    positions: Vec<usize>,
    stages: EliminationStages,
    /// chosen constraints, their pivot columns, unknowns with a differential equation, then undetermined ones
    chosen: Vec<usize>,
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
    characteristic: CharacteristicValues,
    ranks: RankRule,
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
        let rows = ArrayRows::new(array, compiler, t, y)?;
        let N = rows.rate_row.len();
        let D = SparseMatrix::new(rows.outputs.len(), N, rows.places.clone());
        let mut system = LargeSystem {
            positions: rows.places.iter().filter_map(|&place| D.position(place)).collect(),
            D,
            stages: rows.elimination_stages(),
            chosen: Vec::new(),
            dependent: Vec::new(),
            independent: Vec::new(),
            is_dependent: vec![false; N],
            usual: 1.0,
            determined: 0,
            pattern: Pencil::sparse(0, Vec::new(), Vec::new()),
            lu: None,
            of_lu: Vec::new(),
            correction: Vec::new(),
            characteristic,
            ranks,
            rows,
        };
        system.gradients(t, y)?;
        system.choose(t, None)?;
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

    /// D at a point.
    fn gradients(&mut self, t: f64, y: &[f64]) -> Result<(), StepFailure> {
        self.rows.differentiate(t, y)?;
        let D = self.D.values_mut();
        self.positions.iter().zip(&self.rows.slopes).for_each(|(&k, &slope)| D[k] = slope);
        Ok(())
    }

    /// Choose constraints and differential equations with the gradients at hand; ranks that are known must stay.
    fn choose(&mut self, t: f64, known: Option<(usize, usize)>) -> Result<(), StepFailure> {
        let (k, m) = (self.rows.moving, self.rows.array.constraints.len());
        let blind = |i: usize| self.rows.array.constraints[i].blind;
        let row = |i: usize| {
            let (columns, values) = self.D.row(k + i);
            if blind(i) { Vec::new() } else { columns.iter().copied().zip(values.iter().copied()).collect() }
        };
        let chosen = choose_sparse((0..m).map(row), &self.stages, self.ranks.or(AT_POINT));
        let now = (self.rows.rank(&chosen.rows), chosen.determined);
        if let Some(known) = known.filter(|known| *known != now) {
            return Err(changed(t, self.characteristic, known, now));
        }
        // also where there is nothing to choose
        if known.is_none() || (&chosen.rows, &chosen.dependent) != (&self.chosen, &self.dependent) {
            (self.chosen, self.dependent, self.determined) = (chosen.rows, chosen.dependent, chosen.determined);
            self.arrange(t)?;
        }
        self.factor(t)?;
        self.usual = self.growth().max(1.0);
        Ok(())
    }

    /// How much dependent unknowns move with the independent ones, C_d⁻¹ C_i times signs: it grows where the choice becomes poor.
    fn growth(&mut self) -> f64 {
        if self.chosen.is_empty() {
            return 0.0;
        }
        for (c, &i) in self.correction.iter_mut().zip(&self.chosen) {
            let (columns, slopes) = self.D.row(self.rows.moving + i);
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
        let (N, k, a) = (self.dim(), self.rows.moving, self.chosen.len());
        let mut column = vec![usize::MAX; N];
        self.dependent.iter().enumerate().for_each(|(c, &j)| column[j] = c);
        self.is_dependent = column.iter().map(|c| *c != usize::MAX).collect();
        self.rows.independent(|j| column[j] != usize::MAX, &mut self.independent);
        let constraints = self.chosen.iter().enumerate().map(|(row, &i)| (row, k + i));
        let rate_row = &self.rows.rate_row;
        let rates = self.independent.iter().enumerate().filter_map(|(row, &j)| Some((a + row, rate_row[j]?)));
        let of_row = |(row, source): (usize, usize)| self.D.row(source).0.iter().map(move |&j| (row, j));
        let A: Vec<(usize, usize)> = constraints.chain(rates).flat_map(of_row).collect();
        let E = self.independent.iter().enumerate().map(|(row, &j)| (a + row, j)).collect();
        self.pattern = Pencil::sparse(N, E, A);
        let mut places = Vec::new();
        self.of_lu.clear();
        for (row, &i) in self.chosen.iter().enumerate() {
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
        (self.rows.rank(&self.chosen), self.determined)
    }

    /// One Newton correction of the dependent unknowns brings the constraints far below the tolerance.
    fn polish(&mut self, t: f64, y: &mut [f64]) -> Result<(), Undefined> {
        self.rows.evaluate(t, y)?;
        self.correction.iter_mut().zip(&self.chosen).for_each(|(c, &i)| *c = self.rows.constraint(i));
        let before = self.correction.iter().fold(0.0_f64, |top, c| top.max(c.abs()));
        if before == 0.0 {
            return Ok(());
        }
        if let Some(lu) = &mut self.lu {
            lu.solve(&mut self.correction);
        }
        self.dependent.iter().zip(&self.correction).for_each(|(&j, c)| y[j] -= c);
        let undefined = self.rows.evaluate(t, y).is_err();
        if undefined || self.chosen.iter().any(|&i| self.rows.constraint(i).abs() > before) {
            self.dependent.iter().zip(&self.correction).for_each(|(&j, c)| y[j] += c);
            self.rows.evaluate(t, y)?;
        }
        Ok(())
    }

    /// Stop where a coefficient that was taken for zero is not, or what was left out as redundant does not hold.
    fn contradiction(&mut self, t: f64, y: &[f64]) -> Result<(), StepFailure> {
        if !self.rows.array.omitted.is_empty() {
            self.rows.differentiate(t, y)?;
            self.rows.look_for_terms(t)?;
        }
        if self.chosen.len() == self.rows.array.constraints.len() {
            return Ok(());
        }
        let worst = self.rows.contradiction(|i| {
            let (columns, slopes) = self.D.row(self.rows.moving + i);
            let sizes = columns.iter().zip(slopes).map(|(&j, slope)| slope.abs() * y[j].abs().max(1.0));
            sizes.fold(0.0, f64::max)
        });
        if worst > CONTRADICTION { Err(StepFailure::Contradictory { t, residual: worst }) } else { Ok(()) }
    }
}

impl Dae for LargeSystem {
    fn dim(&self) -> usize {
        self.rows.rate_row.len()
    }

    fn new_pencil(&self) -> Pencil {
        self.pattern.clone()
    }

    fn algebraic(&self, row: usize) -> bool {
        row < self.chosen.len()
    }

    fn quasilinear(&self) -> bool {
        true
    }

    fn residual(&mut self, _: usize, t: f64, y: &[f64], ydot: &[f64], r: &mut [f64]) -> Result<(), Undefined> {
        self.rows.residual((&self.chosen, &self.independent), (t, y, ydot), r)
    }

    fn pencil(&mut self, t: f64, y: &[f64], _: &[f64], out: &mut Pencil) -> Result<(), StepFailure> {
        self.gradients(t, y)?;
        if self.factor(t).is_err() || self.growth() > WORSE * self.usual {
            self.choose(t, Some(self.known()))?;
        }
        let (k, a) = (self.rows.moving, self.chosen.len());
        let Pencil { E, A } = &mut self.pattern;
        if let (Jacobian::Sparse(E), Jacobian::Sparse(A)) = (E, A) {
            E.values_mut().fill(1.0);
            for (row, &i) in self.chosen.iter().enumerate() {
                A.row_mut(row).iter_mut().zip(self.D.row(k + i).1).for_each(|(A, c)| *A = -c);
            }
            for (row, &j) in self.independent.iter().enumerate() {
                if let Some(k) = self.rows.rate_row[j] {
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
        self.rows.measure();
        self.rows.watch_invariants(t)?;
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
        let _ = self.rows.keep_invariants(t, y);
    }

    fn row_name(&self, row: usize) -> Option<String> {
        self.chosen.get(row).map(|&i| self.rows.name(i))
    }

    fn invariant(&self, row: usize) -> bool {
        self.chosen.get(row).is_some_and(|&i| self.rows.is_invariant(i))
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
            "minimal reduced derivative array, sparse: {} of {} differential equations chosen at a time, {all} constraints, {hidden} of them hidden, {} auxiliary unknowns",
            self.degrees(),
            self.rows.moving,
            self.dim() - self.rows.array.dim,
        )
    }
}
