//! GENDA: nonlinear DAEs of any index on the derivative-array form. Kunkel, Mehrmann & Seufer (2002).
//!
//! Rows Z₁ᵀF(t, x, ẋ) = 0 and Z₂ᵀ𝔉_μ(t, x, y) = 0, where the derivatives y = (X_1, …, X_{μ+1}) of the array are unknowns of their own, not the
//! differences of the integrator. Simplified Gauss–Newton: with 𝔉 + N Δx + M Δy = 0 the left null space Z₂ of M gives the rows for Δx, and
//! Δy = −M⁺(𝔉 + N Δx) the least change of y; here y follows x before every evaluation of the rows. Projections are made anew with every pencil and
//! kept until the next.

use super::levels::{self, Known, MOST_GROWTH, Projections};
use super::problem::PrepareError;
use super::{CharacteristicValues, Characteristics, Dae, DerivativeArray, Pencil, Plain, System};
use crate::error::StepFailure;
use crate::linalg::rank::{self, Decomposed, RankRule, RankWatch, Scales, Scaling};
use crate::linalg::{LeastChange, MOVING_WEIGHT, Matrix};
use crate::motion::Undefined;
use crate::statistics::Residuals;
use faer::Mat;

/// Points inside of a step that keep their own y: at most seven stages and the one of the error estimate.
const STAGES: usize = 8;
/// Most corrections of y before the rows are evaluated, and relative corrections that are small enough.
const CORRECTIONS: usize = 5;
const SMALL_CORRECTION: f64 = 1e-11;
/// Most corrections of an accepted point.
const POLISHING: usize = 4;
/// Times of a stage that differ by less than this part of the step are the same, but for rounding.
const SAME_TIME: f64 = 1e-9;
/// Combinations of which the unknowns make less than this part are numbers.
const NEGLIGIBLE: f64 = 1e-10;
/// Redundant equations may keep this residual, relative to what their unknowns make of it, as with formulas.
const CONTRADICTION: f64 = 1e-5;

/// A general system of any index through its derivative array.
pub struct Genda {
    m: usize,
    n: usize,
    level: usize,
    values: CharacteristicValues,
    rule: RankRule,
    array: DerivativeArray,
    first: OriginalRows,
    projections: Projections,
    /// ranks at the start, which are kept, and scales
    known: Option<Known>,
    /// M⁺ of the array at the last pencil
    inverse: Mat<f64>,
    /// derivatives X_1, …, X_{μ+1} at the last accepted point, and its time
    derivatives: Vec<f64>,
    accepted_at: f64,
    /// the same for every stage, with the time they belong to
    stages: [(f64, Vec<f64>); STAGES],
    // scratch
    jet: Vec<f64>,
    F: Vec<f64>,
    J: Matrix,
    residuals: Residuals,
    /// gradients of the constraints at the last pencil
    gradients: Matrix,
    least_change: LeastChange,
    /// unknowns without a derivative in the equations move first
    weights: Vec<f64>,
    rows: Vec<f64>,
    /// smallest scales of the rows so far: a row that vanishes on the way is not scaled up
    least_scales: Vec<f64>,
    /// (Z₁ᵀF_ẋ; Z₂ᵀN) must stay regular on the way from one accepted point to the next
    watch: RankWatch,
    watched: Option<AcceptedPoint>,
}

/// An accepted point: time, jet, F_ẋ and Z₂ᵀN.
struct AcceptedPoint {
    t: f64,
    jet: Vec<f64>,
    leading: Mat<f64>,
    gradients: Mat<f64>,
}

/// Two spaces, or, without a differential part, functions.
fn watched_rows(d: usize) -> rank::Rows {
    if d == 0 { rank::Rows::Fixed } else { rank::Rows::Bases(d) }
}

/// K = (A; B).
fn stack(A: &Mat<f64>, B: &Mat<f64>, K: &mut Matrix) {
    for j in 0..K.cols() {
        (0..A.nrows()).for_each(|i| K[(i, j)] = A[(i, j)]);
        (0..B.nrows()).for_each(|i| K[(A.nrows() + i, j)] = B[(i, j)]);
    }
}

/// F and its pencil.
struct OriginalRows {
    plain: Plain,
    values: Vec<f64>,
    pencil: Pencil,
}

impl Genda {
    /// At a point that has been analysed.
    pub fn new(system: &System, at: &Characteristics) -> Result<Self, PrepareError> {
        let (m, n, level) = (system.rows(), system.dim(), at.values.mu);
        let plain = Plain::rectangular(system.structure(), &*system.compiler);
        let pencil = Pencil::dense(m, n);
        let derivatives = at.jet[n..].to_vec();
        let mut genda = Genda {
            m,
            n,
            level,
            values: at.values,
            rule: at.ranks,
            array: system.array(),
            first: OriginalRows { plain, values: vec![0.0; m], pencil },
            projections: at.projections(system)?.into_owned(),
            known: None,
            inverse: Mat::zeros(0, 0),
            stages: std::array::from_fn(|_| (at.t, derivatives.clone())),
            derivatives,
            accepted_at: at.t,
            jet: at.jet.clone(),
            F: vec![0.0; m * (level + 1)],
            J: Matrix::zeros(m * (level + 1), n * (level + 2)),
            residuals: Residuals::default(),
            gradients: Matrix::zeros(at.values.a, n),
            least_change: LeastChange::new(at.values.a),
            weights: vec![1.0; n],
            rows: vec![0.0; at.values.a],
            least_scales: vec![f64::INFINITY; m * (level + 1)],
            watch: RankWatch::new(at.values.d + at.values.a, n, watched_rows(at.values.d)),
            watched: None,
        };
        genda.project(at.t, at.x())?;
        genda.follow(0, at.t, at.x()).map_err(|_| PrepareError::from(StepFailure::Undefined { t: at.t }))?;
        genda.measure(at.t)?;
        Ok(genda)
    }

    /// Projections and M⁺ at the point with the derivatives at hand.
    fn project(&mut self, t: f64, x: &[f64]) -> Result<(), StepFailure> {
        let (m, n, level) = (self.m, self.n, self.level);
        self.jet[..n].copy_from_slice(x);
        self.jet[n..].copy_from_slice(&self.derivatives);
        let undefined = |_| StepFailure::Undefined { t };
        self.array.jacobian(level, t, &self.jet, &mut self.J).map_err(undefined)?;
        let (found, projections, known) = levels::analyse(&self.J, (m, n), level, 0, self.known.as_ref(), self.rule)
            .ok_or(StepFailure::SvdFailed { t })?;
        let now = levels::characteristic(&found, m, n);
        if now != self.values {
            return Err(StepFailure::CharacteristicChange { t, before: self.values, now });
        }
        self.projections = projections;
        let rank = known.derivatives;
        self.known = Some(known);
        for k in 0..self.values.a {
            for j in 0..n {
                self.gradients[(k, j)] = self.projections.constraints[(k, j)];
            }
        }
        let rows = m * (level + 1);
        let M = Mat::from_fn(rows, n * (level + 1), |i, j| self.J[(i, n + j)]);
        let mut scales = Scales::of(&M, Scaling::Both);
        let c = scales.columns.clone();
        for (scale, least) in scales.rows.iter_mut().zip(&mut self.least_scales) {
            *scale = scale.min(MOST_GROWTH * *least);
            *least = least.min(*scale);
        }
        let mut decomposed = Decomposed::scaled(&M, scales, 0.0, self.rule).ok_or(StepFailure::SvdFailed { t })?;
        decomposed.keep_rank(rank, f64::INFINITY);
        self.inverse = decomposed.solve(&Mat::identity(rows, rows));
        // what the array leaves open of y is kept at zero, or it would grow from shift to shift
        let open = decomposed.null_basis();
        for k in 0..open.ncols() {
            let along: f64 = self.derivatives.iter().zip(&c).enumerate().map(|(j, (y, c))| open[(j, k)] * y / c).sum();
            for (j, (y, c)) in self.derivatives.iter_mut().zip(&c).enumerate() {
                *y -= along * open[(j, k)] * c;
            }
        }
        Ok(())
    }

    /// y of a stage follows x and t; the array is evaluated in `self.F`.
    fn follow(&mut self, stage: usize, t: f64, x: &[f64]) -> Result<(), Undefined> {
        let n = self.n;
        let stage = stage.min(STAGES - 1);
        // from another time: shifted by its own Taylor polynomial from the last accepted point
        if (self.stages[stage].0 - t).abs() > SAME_TIME * (t - self.accepted_at).abs() {
            let tau = t - self.accepted_at;
            let shifted = &mut self.stages[stage];
            shifted.0 = t;
            let orders = self.level + 1;
            for k in 0..orders {
                for j in 0..n {
                    // X_{k+1}(t + τ) = Σ_i C(i + 1, k + 1) X_{i+1} τ^{i−k}
                    let mut sum = 0.0;
                    let mut factor = 1.0;
                    for i in k..orders {
                        sum += factor * self.derivatives[i * n + j];
                        factor *= tau * (i + 2) as f64 / (i + 1 - k) as f64;
                    }
                    shifted.1[k * n + j] = sum;
                }
            }
        }
        self.jet[..n].copy_from_slice(x);
        let mut converged = false;
        for correction in 0..=CORRECTIONS {
            self.jet[n..].copy_from_slice(&self.stages[stage].1);
            self.array.evaluate(self.level, t, &self.jet, &mut self.F)?;
            if correction == CORRECTIONS || converged {
                break;
            }
            converged = true;
            let y = &mut self.stages[stage].1;
            for (k, y) in y.iter_mut().enumerate() {
                let step: f64 = (0..self.F.len()).map(|i| self.inverse[(k, i)] * self.F[i]).sum();
                *y -= step;
                converged &= step.abs() <= SMALL_CORRECTION * (1.0 + y.abs());
            }
        }
        Ok(())
    }

    /// Stop where (Z₁ᵀF_ẋ; Z₂ᵀN) has lost rank since the last accepted point. Z₁ is that of the step. With the Z₂ at hand, corrected to first
    /// order by N − M M⁺N, it is an estimate that suffices where nothing happens; otherwise ranks are decided on the way.
    fn watch(&mut self, t: f64, x: &[f64]) -> Result<(), StepFailure> {
        let (m, n, level, values) = (self.m, self.n, self.level, self.values);
        if values.a == 0 {
            return Ok(());
        }
        self.jet[..n].copy_from_slice(x);
        self.jet[n..].copy_from_slice(&self.derivatives);
        self.array.jacobian(level, t, &self.jet, &mut self.J).map_err(|_| StepFailure::Undefined { t })?;
        let Genda { array, watch, watched, jet, J, known, projections, inverse, rule, .. } = self;
        let Projections { Z1, Z2, .. } = &*projections;
        let rows = m * (level + 1);
        let leading = |J: &Matrix| Z1.transpose() * Mat::from_fn(m, n, |i, j| J[(i, n + j)]);
        let estimate = |J: &Matrix| {
            let N = Mat::from_fn(rows, n, |i, j| J[(i, j)]);
            let M = Mat::from_fn(rows, n * (level + 1), |i, j| J[(i, n + j)]);
            Z2.transpose() * &N - (Z2.transpose() * M) * &*inverse * &N
        };
        let here = AcceptedPoint {
            t,
            jet: jet.clone(),
            leading: Mat::from_fn(m, n, |i, j| J[(i, n + j)]),
            gradients: estimate(J),
        };
        let Some(before) = watched.replace(here) else { return Ok(()) };
        let Some(here) = &*watched else { return Ok(()) };
        // without a differential part the constraints are all of space, and their functions themselves are followed, with one Z₂
        let functions = values.d == 0;
        let from = if functions {
            array.jacobian(level, before.t, &before.jet, J).map_err(|_| StepFailure::Undefined { t })?;
            estimate(J)
        } else {
            before.gradients
        };
        stack(&(Z1.transpose() * &before.leading), &from, watch.next_matrix());
        watch.begin_again();
        stack(&(Z1.transpose() * &here.leading), &here.gradients, watch.next_matrix());
        let time = |s: f64| before.t + s * (t - before.t);
        let lost = watch.step(|s, K| {
            jet.iter_mut().zip(before.jet.iter().zip(&here.jet)).for_each(|(x, (a, b))| *x = a + s * (b - a));
            K.fill(0.0);
            if array.jacobian(level, time(s), jet, J).is_err() {
                return false;
            }
            // other ranks are a loss, too
            let decided = || {
                let (found, there, _) = levels::analyse(J, (m, n), level, 0, known.as_ref(), *rule)?;
                (levels::characteristic(&found, m, n) == values).then_some(there.constraints)
            };
            if let Some(gradients) = if functions { Some(estimate(J)) } else { decided() } {
                stack(&leading(J), &gradients, K);
            }
            true
        });
        lost.map_or(Ok(()), |s| Err(StepFailure::ConstraintsSingular { t: time(s) }))
    }

    /// Z₂ᵀ𝔉 of the array at hand.
    fn constraint_rows(&mut self) {
        let Z2 = &self.projections.Z2;
        for (k, row) in self.rows.iter_mut().enumerate() {
            *row = (0..self.F.len()).map(|i| Z2[(i, k)] * self.F[i]).sum();
        }
    }

    /// Residuals of constraints and of redundant equations, from the array at hand.
    fn measure(&mut self, t: f64) -> Result<(), StepFailure> {
        let top = |Z: &Mat<f64>, F: &[f64]| {
            (0..Z.ncols())
                .map(|k| {
                    let size: f64 = (0..F.len()).map(|i| Z[(i, k)].powi(2)).sum::<f64>().sqrt();
                    ((0..F.len()).map(|i| Z[(i, k)] * F[i]).sum::<f64>() / size.max(f64::MIN_POSITIVE)).abs()
                })
                .fold(0.0, f64::max)
        };
        let constraints = top(&self.projections.Z2, &self.F);
        self.residuals = Residuals::default();
        if self.values.a > 0 {
            *(if self.level == 0 { &mut self.residuals.constraint } else { &mut self.residuals.hidden }) =
                Some(constraints);
        }
        // in units of the unknowns, by what they make of each combination
        let Z3 = &self.projections.Z3;
        let mut redundant = 0.0_f64;
        for k in 0..Z3.ncols() {
            let value: f64 = (0..self.F.len()).map(|i| Z3[(i, k)] * self.F[i]).sum();
            let made = |j: usize| {
                let terms: f64 = (0..self.F.len()).map(|i| (Z3[(i, k)] * self.J[(i, j)]).abs()).sum();
                terms * self.jet[j].abs().max(1.0)
            };
            let size = (0..self.n).map(made).fold(0.0, f64::max);
            let plain: f64 = (0..self.F.len()).map(|i| Z3[(i, k)].powi(2)).sum::<f64>().sqrt();
            redundant = redundant.max(value.abs() / if size > NEGLIGIBLE * plain { size } else { plain });
        }
        if redundant > CONTRADICTION {
            return Err(StepFailure::Contradictory { t, residual: redundant });
        }
        Ok(())
    }

    /// From Newton's tolerance far below it, as long as that helps.
    fn polish(&mut self, stage: usize, t: f64, x: &mut [f64]) -> Result<(), Undefined> {
        self.follow(stage, t, x)?;
        let mut before = f64::INFINITY;
        for _ in 0..POLISHING {
            self.constraint_rows();
            let size = self.rows.iter().fold(0.0_f64, |most, r| most.max(r.abs()));
            if size > 0.5 * before || size < f64::EPSILON {
                break;
            }
            before = size;
            self.least_change.apply(&self.gradients, &self.weights, &self.rows, x);
            self.follow(stage, t, x)?;
        }
        Ok(())
    }
}

impl Dae for Genda {
    fn dim(&self) -> usize {
        self.n
    }

    fn new_pencil(&self) -> Pencil {
        Pencil::dense(self.n, self.n)
    }

    fn algebraic(&self, row: usize) -> bool {
        row < self.values.a
    }

    fn quasilinear(&self) -> bool {
        self.first.plain.quasilinear()
    }

    fn residual(&mut self, stage: usize, t: f64, x: &[f64], xdot: &[f64], r: &mut [f64]) -> Result<(), Undefined> {
        self.follow(stage, t, x)?;
        self.constraint_rows();
        let Projections { Z1, U, .. } = &self.projections;
        let (a, d) = (self.values.a, self.values.d);
        r[..a].copy_from_slice(&self.rows);
        self.first.plain.residual(stage, t, x, xdot, &mut self.first.values)?;
        for k in 0..d {
            r[a + k] = (0..self.m).map(|i| Z1[(i, k)] * self.first.values[i]).sum();
        }
        for k in 0..self.values.u {
            r[a + d + k] = (0..self.n).map(|j| U[(j, k)] * xdot[j]).sum();
        }
        Ok(())
    }

    fn pencil(&mut self, t: f64, x: &[f64], xdot: &[f64], out: &mut Pencil) -> Result<(), StepFailure> {
        self.project(t, x)?;
        self.first.plain.pencil(t, x, xdot, &mut self.first.pencil)?;
        let Pencil { E: F_xdot, A: F_x } = &self.first.pencil;
        for (j, weight) in self.weights.iter_mut().enumerate() {
            let moves = (0..self.m).any(|i| F_xdot[(i, j)] != 0.0);
            *weight = if moves { MOVING_WEIGHT } else { 1.0 };
        }
        let [E, A] = out.dense_mut();
        E.fill(0.0);
        A.fill(0.0);
        let Projections { Z1, constraints, U, .. } = &self.projections;
        let (a, d) = (self.values.a, self.values.d);
        for j in 0..self.n {
            for k in 0..a {
                A[(k, j)] = -constraints[(k, j)];
            }
            for k in 0..d {
                E[(a + k, j)] = (0..self.m).map(|i| Z1[(i, k)] * F_xdot[(i, j)]).sum();
                A[(a + k, j)] = (0..self.m).map(|i| Z1[(i, k)] * F_x[(i, j)]).sum();
            }
            for k in 0..self.values.u {
                E[(a + d + k, j)] = U[(j, k)];
            }
        }
        Ok(())
    }

    fn accepted(&mut self, stage: usize, t: f64, x: &mut [f64], _: &[f64]) -> Result<(), StepFailure> {
        self.polish(stage, t, x).map_err(|_| StepFailure::Undefined { t })?;
        let stage = stage.min(STAGES - 1);
        self.derivatives.copy_from_slice(&self.stages[stage].1);
        self.accepted_at = t;
        self.measure(t)?;
        self.watch(t, x)
    }

    fn jumped(&mut self, t: f64, x: &[f64]) {
        // y follows from where it was last, not along its Taylor polynomial; where that is impossible the next pencil says so
        let _ = self.project(t, x);
        self.watch.forget();
        self.watched = None;
        self.accepted_at = t;
        for (time, y) in &mut self.stages {
            *time = t;
            y.copy_from_slice(&self.derivatives);
        }
        let followed = self.follow(0, t, x).is_ok() && self.stages[0].1.iter().all(|y| y.is_finite());
        if followed {
            self.derivatives.copy_from_slice(&self.stages[0].1);
        }
        for (_, y) in &mut self.stages {
            y.copy_from_slice(&self.derivatives);
        }
    }

    fn residuals(&self) -> Residuals {
        self.residuals
    }

    fn undetermined(&self) -> Vec<Vec<f64>> {
        let U = &self.projections.U;
        (0..U.ncols()).map(|k| (0..self.n).map(|j| U[(j, k)]).collect()).collect()
    }

    fn decisions(&self) -> String {
        format!("derivative array of level {} with {} rows, projected", self.level, self.m * (self.level + 1))
    }
}
