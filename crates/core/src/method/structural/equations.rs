//! M, f, G and H of a mechanism, one by one. States x stand in the order of [`Layout`].

use super::redundancy::Redundancy;
use super::saddle::Saddle;
use crate::error::StepFailure;
use crate::linalg::rank::{Decomposed, Scaling};
use crate::linalg::{Jacobian, Mat, RankRule, SparseMatrix};
use crate::method::passage::{MOST_DENSE, SparseRank};
use crate::method::{Passage, StartFailure};
use crate::motion::{Form, InvariantSlopes, Kinematics, Layout, Mechanism, ReducedArray, Solved, Undefined};
use crate::segment::Segment;
use crate::statistics::{Residuals, Statistics};

/// Refuse redundant constraints: those whose K lacks rank.
pub(crate) fn refuse_redundant(
    method: &'static str,
    system: &dyn Mechanism,
    t: f64,
    K: &Jacobian,
    ranks: RankRule,
) -> Result<(), StartFailure> {
    if let Jacobian::Sparse(K) = K
        && SparseRank::of(K, ranks).is_full()
    {
        return Ok(());
    }
    if K.is_sparse() && K.rows() > MOST_DENSE {
        return Err(redundant(method, "its constraints are redundant, or nearly so".into()));
    }
    // singular values tell how many
    let K = Mat::from_fn(K.rows(), K.cols(), |i, j| K[(i, j)]);
    let found = Decomposed::of(&K, Scaling::Rows, ranks).ok_or(StepFailure::SvdFailed { t })?;
    let gap = found.decision.gap();
    if gap.is_full() {
        return Ok(());
    }
    let implied = system.formulas().map_or(Vec::new(), |formulas| formulas.implied());
    if let Some(name) = implied.first().and_then(|&k| system.names().holonomic.into_iter().nth(k)) {
        let why = format!("the kinematics keep {name}, which is no constraint of velocities; state it as an invariant");
        return Err(StartFailure::OutOfClass { method, why, instead: "geoms" });
    }
    let why = format!(
        "its constraints are redundant: rank {} of {} (singular values up to {:.1e} do not count; set rank_tolerance if they should)",
        gap.rank, gap.rows, gap.dropped
    );
    Err(redundant(method, why))
}

/// Methods that take redundant constraints with all kinds of matrices.
const ELSEWHERE: &str = "geoms or gmkssol";

fn redundant(method: &'static str, why: String) -> StartFailure {
    StartFailure::OutOfClass { method, why, instead: ELSEWHERE }
}

/// M, K, k₀ and g at a position.
#[derive(Clone, Debug)]
pub struct Place {
    t: f64,
    p: Vec<f64>,
    /// M.
    pub M: Jacobian,
    /// K = (GZ; HZ).
    pub K: Jacobian,
    /// k₀ = (g_t; h), so that the velocity constraints are K v + k₀ = 0.
    pub k0: Vec<f64>,
    /// g.
    pub g: Vec<f64>,
}

/// Equations of motion without contact and auxiliary variables, whose forces do not depend on multipliers.
pub struct StructuralEquations<'p> {
    array: Box<dyn ReducedArray + 'p>,
    layout: Layout,
    kinematics: Kinematics,
    /// M at the last position of [`StructuralEquations::at_position`].
    pub M: Jacobian,
    /// K = (GZ; HZ) there.
    pub K: Jacobian,
    /// k₀ = (g_t; h) there, so that the velocity constraints are K v + k₀ = 0.
    pub k0: Vec<f64>,
    /// g there.
    pub g: Vec<f64>,
    /// The position before that one; a position that is asked for again is not evaluated again.
    pub before: Place,
    /// t and p where M, K, k₀ and g were evaluated
    t: f64,
    p: Vec<f64>,
    /// x with a = λ = μ = 0
    x: Vec<f64>,
    /// the same with v = 0
    at_rest: Vec<f64>,
    rows: Vec<f64>,
    /// rows that are left out, where constraints are redundant
    redundancy: Option<Redundancy>,
    /// Counters of what was evaluated: forces in `residuals`, mass matrices in `masses`.
    pub statistics: Statistics,
}

impl<'p> StructuralEquations<'p> {
    /// The equations of a system; refused if the method cannot take them. `method` is its name.
    pub fn new(method: &'static str, system: &'p (dyn Mechanism + '_)) -> Result<Self, StartFailure> {
        let (sizes, structure) = (system.sizes(), system.structure());
        let refuse = |why: &str| StartFailure::OutOfClass { method, why: why.to_string(), instead: "geoms" };
        if sizes.contact > 0 {
            return Err(refuse("it has contact variables"));
        }
        if sizes.auxiliary > 0 {
            return Err(refuse("it has auxiliary variables"));
        }
        if structure.black_box {
            return Err(refuse("it is a black box, which gives M, f and its constraints only together"));
        }
        if structure.multipliers_in_forces {
            return Err(refuse("its forces depend on multipliers"));
        }
        Ok(Self::with(system, system.array(Form::StrangenessFree, false)))
    }

    fn with(system: &dyn Mechanism, array: Box<dyn ReducedArray + 'p>) -> Self {
        let (sizes, structure) = (system.sizes(), system.structure());
        let layout = array.layout().clone();
        let (M, K) = kinds(&*array);
        let before = Place {
            t: f64::NAN,
            p: vec![0.0; sizes.positions],
            M,
            k0: vec![0.0; K.rows()],
            K,
            g: vec![0.0; sizes.holonomic],
        };
        let Place { t, p, M, K, k0, g } = before.clone();
        StructuralEquations {
            M,
            K,
            k0,
            g,
            before,
            t,
            p,
            x: vec![0.0; layout.dim()],
            at_rest: vec![0.0; layout.dim()],
            rows: vec![0.0; layout.rows()],
            array,
            layout,
            redundancy: None,
            kinematics: structure.kinematics,
            statistics: Statistics::default(),
        }
    }

    /// Where the blocks stand in x.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// What p' = Z(p) v is.
    pub fn kinematics_structure(&self) -> Kinematics {
        self.kinematics
    }

    /// Number of constraints, holonomic and nonholonomic.
    pub fn constraints(&self) -> usize {
        self.K.rows()
    }

    /// Are some constraints left out, because they follow from the others?
    pub fn is_redundant(&self) -> bool {
        self.redundancy.is_some()
    }

    /// Which constraints are left out; nothing where all take part.
    pub fn left_out(&self) -> &[bool] {
        self.redundancy.as_ref().map_or(&[], Redundancy::left_out)
    }

    /// What was decided about redundant constraints, for reports.
    pub fn decision(&self) -> Option<String> {
        self.redundancy.as_ref().map(Redundancy::decision)
    }

    /// At a consistent point: refuse redundant constraints, or choose among them where the method takes a choice. Rows are left out of sparse matrices
    /// alone, so that dense ones become sparse.
    pub fn check_rank(
        &mut self,
        (method, chooses): (&'static str, bool),
        system: &'p (dyn Mechanism + '_),
        (t, x): (f64, &[f64]),
        ranks: RankRule,
    ) -> Result<(), StartFailure> {
        self.at_position(t, x).map_err(|_| StepFailure::Undefined { t })?;
        if chooses && self.K.is_sparse() {
            return self.choose((method, system), t, ranks);
        }
        let refused = refuse_redundant(method, system, t, &self.K, ranks);
        if let Err(StartFailure::OutOfClass { instead: ELSEWHERE, .. }) = refused
            && chooses
            && let Some(array) = system.sparse_array(Form::StrangenessFree)
        {
            let mut sparse = Self::with(system, array);
            sparse.at_position(t, x).map_err(|_| StepFailure::Undefined { t })?;
            sparse.choose((method, system), t, ranks)?;
            if sparse.is_redundant() {
                *self = sparse;
                return Ok(());
            }
        }
        refused
    }

    /// The same with sparse matrices.
    fn choose(
        &mut self,
        (method, system): (&'static str, &dyn Mechanism),
        t: f64,
        ranks: RankRule,
    ) -> Result<(), StartFailure> {
        if let (Jacobian::Sparse(M), Jacobian::Sparse(K)) = (&self.M, &self.K) {
            if SparseRank::of(K, ranks).is_full() {
                return Ok(());
            }
            let kept_by_kinematics = system.formulas().is_some_and(|formulas| !formulas.implied().is_empty());
            let chosen = Redundancy::of((M, K), system.names(), ranks).filter(|_| !kept_by_kinematics);
            if chosen.is_some() {
                self.redundancy = chosen;
                return Ok(());
            }
        }
        refuse_redundant(method, system, t, &self.K, ranks)
    }

    /// M and K, where constraints are left out.
    fn redundant(&mut self) -> Option<(&mut Redundancy, &SparseMatrix, &SparseMatrix)> {
        match (&mut self.redundancy, &self.M, &self.K) {
            (Some(redundancy), Jacobian::Sparse(M), Jacobian::Sparse(K)) => Some((redundancy, M, K)),
            _ => None,
        }
    }

    /// Do constraints that are left out hold at p and v of x, whose position M and K belong to?
    pub(crate) fn left_out_hold(&self, t: f64, x: &[f64]) -> Result<(), StepFailure> {
        let Some(redundancy) = &self.redundancy else { return Ok(()) };
        let v = &x[self.layout.v()];
        let velocity: Vec<f64> = self.k0.iter().enumerate().map(|(k, k0)| self.K.row_times(k, v) + k0).collect();
        redundancy.contradiction(t, &self.K, [(&x[self.layout.p()], &self.g), (v, &velocity)])
    }

    /// The smallest λ and μ of x with the same force, at the position of M and K, where these depend on a choice of constraints.
    pub(crate) fn least_multipliers(&mut self, x: &mut [f64]) {
        let multipliers = self.layout.lambda().start..self.layout.mu().end;
        if let Some((redundancy, M, K)) = self.redundant() {
            redundancy.least((M, K), &mut x[multipliers]);
        }
    }

    /// Where the constraints lose rank on a step to a point, if they do.
    pub(crate) fn singularity(
        &mut self,
        passage: &mut Passage,
        segment: &Segment,
        (t, x): (f64, &[f64]),
    ) -> Option<(f64, f64)> {
        self.at_position(t, x).ok()?;
        passage.put(&self.K);
        let lost = passage.singularity(&mut *self.array, segment);
        if let (None, Some((redundancy, M, K))) = (lost, self.redundant()) {
            redundancy.look_again((M, K), passage);
        }
        lost
    }

    /// Smallest singular value of K at a point, relative to the start, where it is the reason that steps fail.
    pub(crate) fn lost(&mut self, passage: &mut Passage, t: f64, x: &[f64]) -> Option<f64> {
        passage.lost(&mut *self.array, t, x)
    }

    /// Where the constraints lose rank on a way that was not taken, if they do.
    pub(crate) fn ahead(&mut self, passage: &mut Passage, way: &Segment) -> Option<(f64, f64)> {
        passage.ahead(&mut *self.array, way)
    }

    /// Let K at a point be the last one that was seen.
    pub(crate) fn stand(&mut self, passage: &mut Passage, t: f64, x: &[f64]) {
        passage.stand(&mut *self.array, t, x);
    }

    /// Room to look for turns of K.
    pub(crate) fn passage(&self, ranks: RankRule) -> Passage {
        Passage::new(&*self.array, ranks)
    }

    /// Begin to look for turns of K at a point, with a new choice among redundant constraints.
    pub(crate) fn watch(&mut self, passage: &mut Passage, t: f64, x: &[f64]) -> Result<(), StepFailure> {
        if self.is_redundant() {
            self.at_position(t, x).map_err(|_| StepFailure::Undefined { t })?;
        }
        if let Some((redundancy, M, K)) = self.redundant() {
            redundancy.begin(t, M, K)?;
        }
        let left_out = self.redundancy.as_ref().map_or(&[][..], Redundancy::left_out);
        passage.begin_without(&mut *self.array, t, x, left_out);
        Ok(())
    }

    /// M, K, k₀ and g at the position of x; what stood there goes to [`StructuralEquations::before`].
    pub fn at_position(&mut self, t: f64, x: &[f64]) -> Result<(), Undefined> {
        let p = self.layout.p();
        if self.is_at(t, x) {
            return Ok(());
        }
        let before = &mut self.before;
        std::mem::swap(&mut self.t, &mut before.t);
        std::mem::swap(&mut self.p, &mut before.p);
        std::mem::swap(&mut self.M, &mut before.M);
        std::mem::swap(&mut self.K, &mut before.K);
        std::mem::swap(&mut self.k0, &mut before.k0);
        std::mem::swap(&mut self.g, &mut before.g);
        if self.is_at(t, x) {
            return Ok(());
        }
        // nothing is known here if the evaluation fails
        self.t = f64::NAN;
        self.at_rest[p.clone()].copy_from_slice(&x[p.clone()]);
        self.statistics.masses += 1;
        let [M, GZ, HZ] = self.array.at_rest(t, &self.at_rest, &mut self.rows)?;
        self.M.take_rows(&M, 0);
        self.K.take_rows(&GZ, 0);
        self.K.take_rows(&HZ, GZ.rows());
        let (g1, h) = self.k0.split_at_mut(self.g.len());
        g1.copy_from_slice(&self.rows[self.layout.row_g1()]);
        h.copy_from_slice(&self.rows[self.layout.row_h()]);
        self.g.copy_from_slice(&self.rows[self.layout.row_g()]);
        self.p.copy_from_slice(&x[p]);
        self.t = t;
        Ok(())
    }

    /// Do M, K, k₀ and g belong to the position of x?
    pub fn is_at(&self, t: f64, x: &[f64]) -> bool {
        self.t == t && self.p == x[self.layout.p()]
    }

    /// f, b and Z v at p, v, r of x.
    pub fn forces(&mut self, t: f64, x: &[f64]) -> Result<(), Undefined> {
        self.evaluate_forces(t, x, false)
    }

    fn evaluate_forces(&mut self, t: f64, x: &[f64], hidden: bool) -> Result<(), Undefined> {
        let moving = self.layout.r().start..self.layout.p().end;
        self.x[moving.clone()].copy_from_slice(&x[moving]);
        self.statistics.residuals += 1;
        self.array.forces(t, &self.x, hidden, &mut self.rows)
    }

    /// f, b, Z v, g, K v + k₀ and what the acceleration level needs, at p, v, r of x.
    pub fn evaluate(&mut self, t: f64, x: &[f64]) -> Result<(), Undefined> {
        let moving = self.layout.r().start..self.layout.p().end;
        self.x[moving.clone()].copy_from_slice(&x[moving]);
        self.statistics.residuals += 1;
        self.array.evaluate(t, &self.x, &mut self.rows)
    }

    /// −f at the last point of [`StructuralEquations::evaluate`].
    pub fn minus_force(&self) -> &[f64] {
        &self.rows[self.layout.row_dynamics()]
    }

    /// b there.
    pub fn dynamic(&self) -> &[f64] {
        &self.rows[self.layout.row_dynamic()]
    }

    /// Z v there.
    pub fn kinematics(&self) -> &[f64] {
        &self.rows[self.layout.row_kinematics()]
    }

    /// gI and H Z v + h there, one after the other.
    pub fn velocity_level(&self) -> impl Iterator<Item = f64> + '_ {
        self.rows[self.layout.row_g1()].iter().chain(&self.rows[self.layout.row_h()]).copied()
    }

    /// Derive formulas of solutions with M and K, for pivots that suit the position where these stand; false where there are none.
    pub fn know_solutions(&mut self, x: &[f64], invariants: bool) -> Result<bool, Undefined> {
        let all = [Solved::Acceleration, Solved::Position, Solved::Velocity, Solved::Invariants];
        self.array.know_solutions(self.t, x, if invariants { &all } else { &all[..3] })
    }

    /// Invariants at x, and directions that change them, by formulas; false where there are none, or where they do not hold.
    pub fn invariant_slopes(&mut self, t: f64, x: &[f64], at: &mut InvariantSlopes) -> bool {
        self.array.invariant_slopes(t, x, at)
    }

    /// a, λ and μ at p, v, r of x, written to x, with b and Z v, by formulas; false where there are none, or where they do not hold. M and K
    /// stay where they were.
    pub fn accelerations_by_formulas(&mut self, t: f64, x: &mut [f64]) -> bool {
        let solved = self.array.accelerations(t, x, &mut self.rows);
        self.statistics.residuals += u64::from(solved);
        solved
    }

    /// The correction of positions or velocities of x by formulas, at their places; false where there are none, or where they do not hold.
    pub fn correction_by_formulas(&mut self, what: Solved, t: f64, x: &[f64], correction: &mut [f64]) -> bool {
        self.array.correction(what, t, x, correction)
    }

    /// Residuals of all constraint levels at x, whose position M and K belong to, and whose accelerations have just been solved for.
    pub fn settled_residuals(&self, x: &[f64]) -> Residuals {
        let (l, mut residuals) = (&self.layout, Residuals::default());
        let v = &x[l.v()];
        self.k0.iter().enumerate().for_each(|(k, k0)| larger(&mut residuals.velocity, self.K.row_times(k, v) + k0));
        self.rows[l.row_g2().start..l.row_h1().end].iter().for_each(|&row| larger(&mut residuals.acceleration, row));
        self.g.iter().for_each(|&g| larger(&mut residuals.position, g));
        residuals
    }

    /// a, λ and μ at p, v, r of x, written to x, and the residuals of all constraint levels. M, K, g and the factors in `saddle` belong
    /// to the position.
    pub fn accelerations(&mut self, t: f64, x: &mut [f64], saddle: &mut Saddle) -> Result<Residuals, Undefined> {
        self.evaluate_forces(t, x, true)?;
        let l = &self.layout;
        let n = l.a().len();
        for (b, f) in saddle.b[..n].iter_mut().zip(&self.rows[l.row_dynamics()]) {
            *b = -f;
        }
        // Γ stands in the rows gII and hI, which are neighbours
        let level = &self.rows[l.row_g2().start..l.row_h1().end];
        saddle.b[n..].iter_mut().zip(level).for_each(|(b, row)| *b = -row);
        saddle.solve();
        x[l.a()].copy_from_slice(saddle.top());
        x[l.lambda().start..l.mu().end].copy_from_slice(saddle.bottom());
        // K v + k₀ and K a + Γ
        let levels = [(&x[l.v()], &self.k0[..]), (&x[l.a()], level)];
        let mut residuals = match &self.K {
            Jacobian::Dense(K) => left(|k, y| K.row(k).iter().zip(y).map(|(k, y)| k * y).sum(), levels),
            Jacobian::Sparse(K) => left(|k, y| K.row_times(k, y), levels),
        };
        self.g.iter().for_each(|&g| larger(&mut residuals.position, g));
        Ok(residuals)
    }

    /// All rows at x, accelerations and multipliers included, in the order of [`Layout`].
    pub fn rows(&mut self, t: f64, x: &[f64]) -> Result<&[f64], Undefined> {
        self.statistics.residuals += 1;
        self.array.evaluate(t, x, &mut self.rows)?;
        Ok(&self.rows)
    }

    /// Zeros of the kind of the next.
    pub fn new_jacobian(&self) -> Jacobian {
        self.array.new_jacobian()
    }

    /// −∂k/∂x of all rows at x, accelerations and multipliers included. Those of the dynamics, of g and of Z v are exact everywhere.
    pub fn jacobian(&mut self, t: f64, x: &[f64], F: &mut Jacobian) -> Result<(), Undefined> {
        self.statistics.jacobians += 1;
        self.array.evaluate(t, x, &mut self.rows)?;
        self.array.jacobian(t, x, &self.rows, F)
    }

    /// Residuals of all constraint levels at x, accelerations and multipliers included.
    pub fn residuals(&mut self, t: f64, x: &[f64]) -> Result<Residuals, Undefined> {
        self.array.evaluate(t, x, &mut self.rows)?;
        Ok(self.layout.residuals(&self.rows))
    }
}

/// Zeros of the kinds of M and K = (GZ; HZ): both sparse, or both dense.
pub(crate) fn kinds(array: &dyn ReducedArray) -> (Jacobian, Jacobian) {
    let [M, GZ, HZ] = array.new_matrices();
    let K = Jacobian::stacked(&GZ, &HZ);
    if M.is_sparse() && K.is_sparse() {
        (M, K)
    } else {
        (Jacobian::Dense(M.into_dense()), Jacobian::Dense(K.into_dense()))
    }
}

/// What is left of K v + k₀ and of K a + Γ; `product` gives the rows of K times a vector.
#[inline]
fn left(product: impl Fn(usize, &[f64]) -> f64, [velocity, acceleration]: [(&[f64], &[f64]); 2]) -> Residuals {
    let mut residuals = Residuals::default();
    for (k, (k0, gamma)) in velocity.1.iter().zip(acceleration.1).enumerate() {
        larger(&mut residuals.velocity, product(k, velocity.0) + k0);
        larger(&mut residuals.acceleration, product(k, acceleration.0) + gamma);
    }
    residuals
}

/// The larger size of both.
fn larger(largest: &mut Option<f64>, value: f64) {
    *largest = Some(largest.unwrap_or(0.0).max(value.abs()));
}
