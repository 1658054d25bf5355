//! A step of RODAS.

use super::Rodas;
use super::tableau::{A, ALPHA, C, DENSE, GAMMA, GAMMA_SUMS, STAGES};
use crate::dae::{Dae, Pencil, Point};
use crate::error::StepFailure;
use crate::linalg::IterationMatrix;
use crate::method::controller::{Control, Controller};
use crate::method::explicit::Admitted;
use crate::method::pace::{Failures, Rules, Try, first_step_of};
use crate::method::shell::{Attempt, Formula, Shell};
use crate::method::sums::{of_length, parts, sum_of, vectors};
use crate::method::weights::Weights;
use crate::method::{StartFailure, State, derivative};
use crate::motion::Undefined;
use crate::options::Options;
use crate::segment::Segment;
use crate::statistics::{Residuals, Statistics};

/// Factor of the step size where a stage has no value.
const AFTER_FAILURE: f64 = 0.5;
/// Degree of the dense output.
const DEGREE: usize = 3;
/// Where it is told between the ends of a step, and its end.
const NODES: [f64; DEGREE] = [1.0 / 3.0, 2.0 / 3.0, 1.0];

/// RODAS at a point of a solution.
pub(super) struct RosenbrockStep<'p> {
    dae: Box<dyn Dae + 'p>,
    pencil: Pencil,
    /// E/γ − hA
    matrix: IterationMatrix<f64>,
    /// E: row, column, entry
    leading: Vec<(usize, usize, f64)>,
    /// its diagonal, where it has no other entries
    diagonal: Option<Vec<f64>>,
    algebraic: Vec<bool>,
    /// are some unknowns determined by constraints? Rows with derivatives may contain them, too
    constrained: bool,
    controller: Controller,
    constant: bool,
    state: State,
    xdot: Vec<f64>,
    before: State,
    xdot_before: Vec<f64>,
    segment: Segment,
    weights: Weights,
    /// G = −f and ∂G/∂t at the point where the formula stands
    G: Vec<f64>,
    by_time: Vec<f64>,
    /// are they and the pencil those of another point?
    begin_wanted: bool,
    zeros: Vec<f64>,
    /// U₁, …, U₆, one behind the other
    U: Vec<f64>,
    /// the stage that is evaluated, the new point at last
    Y: Vec<f64>,
    /// Σ cᵢⱼ Uⱼ
    sum: Vec<f64>,
    /// values between the ends of a step, for a polynomial that is kept
    between: [Vec<f64>; DEGREE],
    /// what ẋ is found with
    of_rates: IterationMatrix<f64>,
    counters: Statistics,
}

impl<'p> RosenbrockStep<'p> {
    pub fn start(
        method: &Rodas,
        mut dae: Box<dyn Dae + 'p>,
        at: Point,
        options: &Options,
    ) -> Result<Shell<Self>, StartFailure> {
        let n = dae.dim();
        assert!(at.x.len() == n && at.xdot.len() == n, "{} and {} values for {n} unknowns", at.x.len(), at.xdot.len());
        let mut weights = Weights::new(&*dae, &options.tolerance)?;
        weights.at(&at.x);
        let mut pencil = dae.new_pencil();
        dae.pencil(at.t, &at.x, &at.xdot, &mut pencil)?;
        let entries = |i: usize| pencil.E.row(i).filter(|(_, e)| *e != 0.0).map(move |(j, e)| (i, j, e));
        let leading: Vec<(usize, usize, f64)> = (0..n).flat_map(entries).collect();
        let mut diagonal = leading.iter().all(|(i, j, _)| i == j).then(|| vec![0.0; n]);
        if let Some(diagonal) = &mut diagonal {
            for &(i, _, e) in &leading {
                diagonal[i] = e;
            }
        }
        let algebraic: Vec<bool> = (0..n).map(|i| dae.algebraic(i)).collect();
        let constrained = Admitted::new("rodas", &mut *dae, &at).is_err();
        let constant = method.control == Control::Fixed;
        let state = State { t: at.t, x: at.x };
        let step = RosenbrockStep {
            matrix: IterationMatrix::new(&pencil, algebraic.clone()),
            of_rates: IterationMatrix::new(&pencil, algebraic.clone()),
            leading,
            diagonal,
            algebraic,
            constrained,
            controller: Controller::new(method.control, method.safety, method.ratio, 1),
            constant,
            before: state.clone(),
            xdot_before: at.xdot.clone(),
            xdot: at.xdot,
            segment: Segment::with_room(state.t, &state.x, DEGREE),
            weights,
            G: vec![0.0; n],
            by_time: vec![0.0; n],
            begin_wanted: true,
            zeros: vec![0.0; n],
            U: vec![0.0; STAGES * n],
            Y: vec![0.0; n],
            sum: vec![0.0; n],
            between: std::array::from_fn(|_| vec![0.0; n]),
            counters: Statistics::default(),
            dae,
            pencil,
            state,
        };
        Ok(Shell::new(step, Rules { constant, ..Rules::default() }, options))
    }

    /// Is there an end of a step to t₁, whose error nobody asks for?
    fn made(&mut self, h: f64, t1: f64) -> bool {
        self.begin_at(h).is_ok()
            && self.matrix.decompose(&self.pencil, 1.0 / GAMMA, h).is_ok()
            && self.stages(h, t1).is_ok()
    }

    /// A, f and ∂f/∂t where the step begins.
    fn begin_at(&mut self, h: f64) -> Result<(), StepFailure> {
        let State { t, x } = &self.state;
        self.dae.pencil(*t, x, &self.xdot, &mut self.pencil)?;
        self.counters.jacobians += 1;
        self.counters.residuals += 1;
        let mut known = self.dae.residual(0, *t, x, &self.zeros, &mut self.G);
        if known.is_ok() && !self.dae.is_autonomous() {
            known = self.dae.time_slope((*t, x, &self.G), h, [&mut self.zeros, &mut self.sum], &mut self.by_time);
        }
        self.begin_wanted = known.is_err();
        known.map_err(|Undefined| StepFailure::Undefined { t: *t })
    }

    /// U₁, …, U₆, and the new point in Y.
    fn stages(&mut self, h: f64, t1: f64) -> Result<(), Undefined> {
        let (n, t0, timed) = (self.Y.len(), self.state.t, !self.dae.is_autonomous());
        for i in 0..STAGES {
            let (known, rest) = self.U.split_at_mut(i * n);
            let (right, x0, Y, sum) = (&mut rest[..n], &self.state.x[..], &mut self.Y[..], &mut self.sum[..]);
            match i {
                0 => right.copy_from_slice(&self.G),
                1 => sums::<1>(known, x0, Y, sum),
                2 => sums::<2>(known, x0, Y, sum),
                3 => sums::<3>(known, x0, Y, sum),
                4 => sums::<4>(known, x0, Y, sum),
                _ => last_sums(known, Y, sum),
            }
            if i > 0 {
                self.counters.residuals += 1;
                let t = if ALPHA[i] == 1.0 { t1 } else { t0 + ALPHA[i] * h };
                self.dae.residual(i, t, Y, &self.zeros, right)?;
            }
            // rows with derivatives are multiplied by h, as those of the matrix
            if timed {
                let weight = h * GAMMA_SUMS[i];
                right.iter_mut().zip(&self.by_time).for_each(|(right, by_time)| *right += weight * by_time);
            }
            for (right, algebraic) in right.iter_mut().zip(&self.algebraic) {
                *right *= if *algebraic { -1.0 } else { -h };
            }
            if i > 0 {
                match &self.diagonal {
                    Some(e) => right.iter_mut().zip(e).zip(sum).for_each(|((right, e), sum)| *right += e * *sum),
                    None => self.leading.iter().for_each(|&(row, j, e)| right[row] += e * sum[j]),
                }
            }
            self.matrix.solve(right);
            self.counters.solves += 1;
        }
        add(&self.U[5 * n..], &mut self.Y);
        Ok(())
    }

    /// The dense output over a step to the new point Y, and its slope there. With σ = θ − 1 it is x₁ + σ(Δ − d₁ − d₂) − σ²(d₁ + 2 d₂) − σ³ d₂.
    fn interpolate(&mut self, t1: f64) {
        let (n, h) = (self.Y.len(), t1 - self.state.t);
        let powers = parts::<{ DEGREE + 1 }>(self.segment.powers(self.state.t, t1), n);
        let (U, x0, x1, xdot) =
            (vectors::<{ STAGES - 1 }>(&self.U, n), &self.state.x[..n], &self.Y[..n], &mut self.xdot_before[..n]);
        for j in 0..n {
            let [d1, d2] = DENSE.map(|weights| sum_of(&weights, &U.map(|U| U[j])));
            powers[0][j] = x1[j];
            powers[1][j] = x1[j] - x0[j] - d1 - d2;
            powers[2][j] = -(d1 + 2.0 * d2);
            powers[3][j] = -d2;
            xdot[j] = powers[1][j] / h;
        }
    }
}

/// Y = x₀ + Σ aᵢⱼ Uⱼ and Σ cᵢⱼ Uⱼ of stage I, from those before it.
fn sums<const I: usize>(known: &[f64], x0: &[f64], Y: &mut [f64], sum: &mut [f64]) {
    let n = Y.len();
    of_length!(n, 1 => sums_at::<I>(n, known, x0, Y, sum));
}

#[inline(always)]
fn sums_at<const I: usize>(n: usize, known: &[f64], x0: &[f64], Y: &mut [f64], sum: &mut [f64]) {
    let (a, c): ([f64; I], [f64; I]) = (std::array::from_fn(|j| A[I][j]), std::array::from_fn(|j| C[I][j]));
    let (U, x0, Y, sum) = (vectors::<I>(known, n), &x0[..n], &mut Y[..n], &mut sum[..n]);
    for k in 0..n {
        let u = U.map(|U| U[k]);
        Y[k] = x0[k] + sum_of(&a, &u);
        sum[k] = sum_of(&c, &u);
    }
}

/// The same of the sixth stage, which begins where the fifth ends.
fn last_sums(known: &[f64], Y: &mut [f64], sum: &mut [f64]) {
    let n = Y.len();
    of_length!(n, 1 => last_sums_at(n, known, Y, sum));
}

#[inline(always)]
fn last_sums_at(n: usize, known: &[f64], Y: &mut [f64], sum: &mut [f64]) {
    const I: usize = STAGES - 1;
    let c: [f64; I] = std::array::from_fn(|j| C[I][j]);
    let (U, Y, sum) = (vectors::<I>(known, n), &mut Y[..n], &mut sum[..n]);
    for k in 0..n {
        let u = U.map(|U| U[k]);
        Y[k] += u[I - 1];
        sum[k] = sum_of(&c, &u);
    }
}

/// y ← y + u.
fn add(u: &[f64], y: &mut [f64]) {
    y.iter_mut().zip(u).for_each(|(y, u)| *y += u);
}

impl Formula for RosenbrockStep<'_> {
    fn state(&self) -> &State {
        &self.state
    }

    fn segment(&self) -> &Segment {
        &self.segment
    }

    fn first_size(&mut self) -> f64 {
        let (of_x, rest) = self.U.split_at_mut(self.Y.len());
        let rates = &mut rest[..of_x.len()];
        first_step_of(&self.pencil, (&self.state.x, &self.xdot), &self.weights, [of_x, rates])
    }

    fn attempt(&mut self, tried: &Try) -> Result<Attempt, StepFailure> {
        let &Try { h, t1, .. } = tried;
        if self.begin_wanted {
            self.begin_at(h)?;
        }
        self.counters.decompositions += 1;
        if self.matrix.decompose(&self.pencil, 1.0 / GAMMA, h).is_err() {
            return Ok(Attempt::Failed { factor: AFTER_FAILURE, singular: true });
        }
        let made = self.stages(h, t1);
        // U₆ is the difference of both formulas
        let error = self.weights.norm_between(&self.U[5 * self.Y.len()..], &self.state.x, &self.Y);
        if made.is_err() || !error.is_finite() {
            return Ok(Attempt::Failed { factor: AFTER_FAILURE, singular: false });
        }
        if !(error <= 1.0) && !self.constant {
            return Ok(Attempt::Rejected { next: self.controller.reject(h, error, 1) });
        }
        let next = self.controller.accept(tried, error, 1);
        self.interpolate(t1);
        std::mem::swap(&mut self.before, &mut self.state);
        std::mem::swap(&mut self.xdot_before, &mut self.xdot);
        self.state.t = t1;
        self.state.x.copy_from_slice(&self.Y);
        self.begin_wanted = true;
        let settled = self.dae.accepted(STAGES - 1, t1, &mut self.state.x, &self.xdot);
        self.segment.shift_to(&self.state.x);
        self.weights.at(&self.state.x);
        Ok(Attempt::Accepted { next: if self.constant { next } else { next.min(tried.longest) }, settled })
    }

    fn stuck(&mut self, h: f64, failures: Failures) -> StepFailure {
        match failures.of_general(&*self.dae, self.state.t, h) {
            StepFailure::NewtonDiverged { t, .. } => StepFailure::Undefined { t },
            other => other,
        }
    }

    fn back(&mut self) -> Result<bool, StepFailure> {
        std::mem::swap(&mut self.before, &mut self.state);
        std::mem::swap(&mut self.xdot_before, &mut self.xdot);
        self.weights.at(&self.state.x);
        self.begin_wanted = true;
        Ok(true)
    }

    fn restart(&mut self, at: State, xdot: Option<&[f64]>) -> Result<(), StepFailure> {
        self.state = at;
        if let Some(xdot) = xdot {
            self.xdot.copy_from_slice(xdot);
        }
        self.segment = Segment::with_room(self.state.t, &self.state.x, DEGREE);
        self.weights.at(&self.state.x);
        self.controller.forget();
        self.dae.jumped(self.state.t, &self.state.x);
        self.begin_wanted = true;
        let here = (self.state.t, &self.state.x[..]);
        derivative::recover(&mut *self.dae, &mut self.pencil, &mut self.of_rates, here, &mut self.xdot)
    }

    /// The end of a step from the same begin where there are constraints: between steps what they determine has one order less.
    fn inside(&mut self, t: f64, x: &mut [f64]) {
        let (t0, t1) = (self.segment.t0, self.segment.t1);
        if !(self.constrained && t > t0 && t < t1) {
            return self.segment.eval(t, x);
        }
        std::mem::swap(&mut self.before, &mut self.state);
        std::mem::swap(&mut self.xdot_before, &mut self.xdot);
        let made = self.made(t - t0, t);
        std::mem::swap(&mut self.before, &mut self.state);
        std::mem::swap(&mut self.xdot_before, &mut self.xdot);
        self.begin_wanted = true;
        self.dae.looked_back();
        if made {
            x.copy_from_slice(&self.Y);
            self.dae.settle(t, x);
        } else {
            self.segment.eval(t, x);
        }
    }

    /// The polynomial through ends of shorter steps.
    fn refine(&mut self) {
        if !self.constrained {
            return;
        }
        let (t0, t1) = (self.segment.t0, self.segment.t1);
        let mut values = std::mem::take(&mut self.between);
        for (value, node) in values.iter_mut().zip(NODES) {
            if node == 1.0 {
                value.copy_from_slice(&self.state.x);
            } else {
                self.inside(t0 + node * (t1 - t0), value);
            }
            value.iter_mut().zip(&self.before.x).for_each(|(value, x0)| *value -= x0);
        }
        self.segment.collocation(t0, t1, &self.state.x, &NODES, &[&values[0], &values[1], &values[2]]);
        self.between = values;
    }

    /// The slope of the dense output is less accurate than the point: ẋ is found there.
    fn rates(&mut self, xdot: &mut [f64]) {
        xdot.copy_from_slice(&self.xdot);
        let here = (self.state.t, &self.state.x[..]);
        let found = derivative::recover(&mut *self.dae, &mut self.pencil, &mut self.of_rates, here, xdot);
        // what has no value there keeps the slope
        if found.is_err() {
            xdot.copy_from_slice(&self.xdot);
        }
        self.begin_wanted = true;
    }

    fn system(&mut self) -> Option<&mut dyn Dae> {
        Some(&mut *self.dae)
    }

    fn counters(&self) -> Statistics {
        Statistics { selectors: self.dae.selections(), ..self.counters }
    }

    fn residuals(&self) -> Residuals {
        self.dae.residuals()
    }

    fn undetermined(&self) -> Vec<Vec<f64>> {
        self.dae.undetermined()
    }

    fn decisions(&self) -> String {
        self.dae.decisions()
    }
}
