//! The explicit pairs of Dormand and Prince for ordinary differential equations E ẋ = f(t, x) with a constant, regular E.
//!
//! With their dense outputs, and the test of stiffness. Hairer, Nørsett & Wanner, Solving ODEs I, II.5, II.6; Hairer & Wanner, Solving ODEs II, IV.2.

mod order5;
mod order8;
mod stage_sums;
mod tableau;

pub(super) use tableau::ExplicitTableau;
pub use tableau::Pair;

use super::dormand_prince::{DormandPrince, OF_A_STEP};
use super::pace::{Failures, Rules, Try, first_step};
use super::shell::{Attempt, Formula, Shell};
use super::structural::{Step, StepSize};
use super::sums::parts;
use super::weights::Weights;
use super::{Integrator, StartFailure, State, Stepper};
use crate::analysis::TimeScales;
use crate::dae::{Dae, Pencil, Point};
use crate::error::StepFailure;
use crate::linalg::{IterationMatrix, Matrix, eigenvalues};
use crate::motion::Undefined;
use crate::options::Options;
use crate::segment::Segment;
use crate::statistics::{Residuals, Statistics};
use stage_sums::StageSums;
use tableau::powers;

/// Degree of the polynomial over a step of order 5 once it is refined, and that of the dense output of order 7.
const DEGREE: usize = 5;
const DENSE_DEGREE: usize = 7;
/// Terms of the dense output: Δ, two from the rates at the ends, and up to four.
const MOST_TERMS: usize = 7;
/// Rates that differ by less, relative to the largest, are the same: far above the rounding of a consistent start, far below what a singular
/// matrix leaves.
const SAME_RATE: f64 = 1e-6;
/// Steps at the border of stability after which a system is called stiff. Solving ODEs II, IV.2.
const STIFF_STEPS: u32 = 15;
/// Steps in a row inside of it after which the count begins anew.
const CALM_STEPS: u32 = 6;

/// Steps of a power iteration: what decays half as fast is a millionth then.
const POWERS: usize = 20;
/// Part of the length of J x that points along −x where x decays: a cluster of neighbouring rates leaves something beside it.
const ALONG: f64 = 0.9;

impl Integrator for DormandPrince {
    fn start<'p>(
        &self,
        mut system: Box<dyn Dae + 'p>,
        at: Point,
        options: &Options,
    ) -> Result<Box<dyn Stepper + 'p>, StartFailure> {
        options.check()?;
        let admitted = Admitted::new(self.pair.tableau().name, &mut *system, &at)?;
        Ok(Box::new(ExplicitStep::new(self, system, at, admitted, options)?))
    }
}

/// What is known of a system of the class at a consistent point.
pub(super) struct Admitted {
    pencil: Pencil,
    leading: Leading,
    /// ẋ
    rate: Vec<f64>,
}

/// How ẋ is found.
enum Leading {
    /// The system has formulas for it.
    Formulas,
    /// E is the identity.
    Identity,
    /// By solving with E.
    Matrix(Box<IterationMatrix<f64>>),
}

impl Admitted {
    /// Refuse what is no ordinary differential equation.
    pub fn new(method: &'static str, dae: &mut dyn Dae, at: &Point) -> Result<Self, StartFailure> {
        let why = "it is not an ordinary differential equation E ẋ = f(t, x) with a regular matrix E of numbers";
        let refused = || StartFailure::OutOfClass { method, why: why.into(), instead: "radau" };
        if !dae.is_ordinary() {
            return Err(refused());
        }
        let n = dae.dim();
        let mut pencil = dae.new_pencil();
        dae.pencil(at.t, &at.x, &at.xdot, &mut pencil)?;
        let leading = if dae.make_rates() {
            Leading::Formulas
        } else if pencil.leading_is_identity() {
            Leading::Identity
        } else {
            Leading::Matrix(Box::new(decomposed(&pencil).ok_or_else(refused)?))
        };
        let mut admitted = Admitted { pencil, leading, rate: vec![0.0; n] };
        let defined = rate_of(dae, &mut admitted.leading, at.t, &at.x, &vec![0.0; n], &mut admitted.rate);
        defined.map_err(|_| StepFailure::Undefined { t: at.t })?;
        // a matrix that is singular but for rounding gives other rates than those of the consistent start
        let size = at.xdot.iter().fold(1.0_f64, |size, rate| size.max(rate.abs()));
        if admitted.rate.iter().zip(&at.xdot).any(|(k, rate)| !((k - rate).abs() <= SAME_RATE * size)) {
            return Err(refused());
        }
        Ok(admitted)
    }

    /// Number of unknowns.
    pub fn dim(&self) -> usize {
        self.rate.len()
    }

    /// Rate of the fastest change, where it is a decay that is far faster than all else: by power iteration, for systems that are too large for
    /// eigenvalues. None where it does not come out: nothing dominates, or what does oscillates or grows.
    pub fn dominant_decay(&self) -> Option<f64> {
        let n = self.rate.len();
        // the derivative of every row
        let own = |i: usize| {
            let mut row = self.pencil.E.row(i).filter(|(_, e)| *e != 0.0);
            let first = row.next()?;
            row.next().is_none().then_some(first)
        };
        let leading: Vec<(usize, f64)> = (0..n).map(own).collect::<Option<_>>()?;
        // no direction is left out
        let mut x: Vec<f64> = (0..n).map(|i| (1.0 + i as f64).sin()).collect();
        let mut y = vec![0.0; n];
        let (mut rate, mut grown) = (0.0, 0.0);
        for _ in 0..POWERS {
            let size = x.iter().map(|x| x * x).sum::<f64>().sqrt();
            for x in &mut x {
                *x /= size;
            }
            for (i, &(own, e)) in leading.iter().enumerate() {
                y[own] = self.pencil.A.row(i).fold(0.0, |sum, (j, a)| sum + a * x[j]) / e;
            }
            rate = -x.iter().zip(&y).map(|(x, y)| x * y).sum::<f64>();
            grown = y.iter().map(|y| y * y).sum::<f64>().sqrt();
            std::mem::swap(&mut x, &mut y);
        }
        (rate.is_finite() && rate > ALONG * grown).then_some(rate)
    }

    /// Time scales in an interval, from the eigenvalues of E⁻¹A.
    pub fn time_scales(&mut self, interval: f64) -> Option<TimeScales> {
        let n = self.rate.len();
        let mut J = Matrix::zeros(n, n);
        let mut column = vec![0.0; n];
        for i in 0..n {
            self.pencil.A.row(i).for_each(|(j, a)| J[(i, j)] = a);
        }
        if !self.pencil.leading_is_identity() {
            let mut leading = decomposed(&self.pencil)?;
            for j in 0..n {
                (0..n).for_each(|i| column[i] = J[(i, j)]);
                leading.solve(&mut column);
                (0..n).for_each(|i| J[(i, j)] = column[i]);
            }
        }
        Some(TimeScales::of(&eigenvalues(&J).ok()?, interval))
    }
}

/// E, if it is regular.
fn decomposed(pencil: &Pencil) -> Option<IterationMatrix<f64>> {
    let mut matrix = IterationMatrix::new(pencil, vec![false; pencil.E.rows()]);
    matrix.decompose(pencil, 1.0, 0.0).ok()?;
    Some(matrix)
}

/// ẋ = E⁻¹ f(t, x).
fn rate_of(
    dae: &mut dyn Dae,
    leading: &mut Leading,
    t: f64,
    x: &[f64],
    zeros: &[f64],
    rate: &mut [f64],
) -> Result<(), Undefined> {
    if let Leading::Formulas = leading {
        return dae.rates_by_formulas(t, x, rate);
    }
    dae.residual(0, t, x, zeros, rate)?;
    for rate in rate.iter_mut() {
        *rate = -*rate;
    }
    if let Leading::Matrix(leading) = leading {
        leading.solve(rate);
    }
    Ok(())
}

/// The pair at a point of a solution.
pub(super) struct ExplicitStep<'p> {
    tableau: &'static ExplicitTableau,
    dae: Box<dyn Dae + 'p>,
    leading: Leading,
    zeros: Vec<f64>,
    state: State,
    /// kᵢ = ẋ at the stages, one behind the other; the first is ẋ at the point where the formula stands
    k: Vec<f64>,
    /// sums of rates: those of the stages, and of the estimates of the error
    sums: StageSums,
    before: State,
    rate_before: Vec<f64>,
    segment: Segment,
    weights: Weights,
    control: StepSize,
    /// is the polynomial that of the dense output, and is it wanted after every step?
    dense: bool,
    wanted: bool,
    /// the stage that is evaluated, and the last one before the end of the step
    Y: Vec<f64>,
    last_stage: Vec<f64>,
    error: Vec<f64>,
    /// of the polynomial at thirds of a step
    deviations: [Vec<f64>; 2],
    /// steps that stability limits, those in a row that it does not limit, and where the former became too many
    at_border: u32,
    inside_border: u32,
    stiff_from: Option<f64>,
    counters: Statistics,
}

impl<'p> ExplicitStep<'p> {
    /// At a consistent point of a system that was admitted.
    pub fn new(
        method: &DormandPrince,
        dae: Box<dyn Dae + 'p>,
        at: Point,
        Admitted { leading, rate, .. }: Admitted,
        options: &Options,
    ) -> Result<Shell<Self>, StartFailure> {
        let (n, tableau) = (dae.dim(), method.pair.tableau());
        let control = StepSize::new(method.steps, method.safety, tableau.order, options)?;
        let mut weights = Weights::new(&*dae, &options.tolerance)?;
        weights.at(&at.x);
        let state = State { t: at.t, x: at.x };
        let mut k = vec![0.0; tableau.A.len() * n];
        k[..n].copy_from_slice(&rate);
        let step = ExplicitStep {
            leading,
            zeros: vec![0.0; n],
            k,
            sums: StageSums::new(tableau),
            before: state.clone(),
            rate_before: vec![0.0; n],
            segment: Segment::with_room(state.t, &state.x, degree(tableau)),
            weights,
            dense: false,
            wanted: false,
            Y: state.x.clone(),
            last_stage: vec![0.0; n],
            error: vec![0.0; n],
            deviations: std::array::from_fn(|_| vec![0.0; n]),
            at_border: 0,
            inside_border: 0,
            stiff_from: None,
            counters: Statistics { residuals: 1, ..Statistics::default() },
            tableau,
            dae,
            state,
            control,
        };
        let rules = Rules { constant: control.fixed(), ..Rules::default() };
        Ok(Shell::new(step, rules, options))
    }

    /// Where stability began to limit the steps.
    pub fn stiff_from(&self) -> Option<f64> {
        self.stiff_from
    }

    /// The system, and ẋ at the point where the formula stands.
    pub fn system_and_rate(&mut self) -> (&mut dyn Dae, &[f64]) {
        (&mut *self.dae, &self.k[..self.Y.len()])
    }

    /// The system and the point where the formula stands.
    pub fn into_system(mut self) -> (Box<dyn Dae + 'p>, Point) {
        let State { t, x } = self.state;
        self.k.truncate(x.len());
        (self.dae, Point { t, x, xdot: self.k })
    }

    /// kᵢ = E⁻¹ f(t, Y).
    fn rate(&mut self, t: f64, i: usize) -> Result<(), Undefined> {
        let n = self.Y.len();
        self.counters.residuals += 1;
        rate_of(&mut *self.dae, &mut self.leading, t, &self.Y, &self.zeros, &mut self.k[i * n..][..n])
    }

    /// Y = x₀ + h Σ aᵢⱼ kⱼ at the stages of a step from x₀, whose rate is k₁, up to its end and the rate there. Y is the end.
    fn stages(&mut self, from: &State, t1: f64) -> Result<(), Undefined> {
        let s = self.tableau.stages;
        for i in 1..=s {
            self.stage(from, t1, i);
            if i + 1 == s {
                self.last_stage.copy_from_slice(&self.Y);
            }
            self.rate(self.tableau.time(i, from.t, t1), i)?;
        }
        Ok(())
    }

    /// Y of one stage.
    fn stage(&mut self, from: &State, t1: f64, i: usize) {
        self.sums.stages[i].step(&from.x, t1 - from.t, &self.k, &mut self.Y);
    }

    /// The polynomial over a step from x₀ to x₁, with all rates; without those of stages of its own it is that of values and rates at both ends.
    fn interpolate(&mut self, (t0, x0): (f64, &[f64]), (t1, x1): (f64, &[f64])) {
        let (s, h, n) = (self.tableau.stages, t1 - t0, x1.len());
        let terms: &[&[f64]] = if self.tableau.has_dense_stages() && !self.dense { &[] } else { self.tableau.dense };
        let coefficients = self.segment.powers(t0, t1);
        if terms.is_empty() {
            // x₀ + θ (c₀ + (1 − θ)(c₁ + θ c₂)) in powers of σ = θ − 1
            let (cubic, higher) = coefficients.split_at_mut(4 * n);
            higher.fill(0.0);
            let powers = parts::<4>(cubic, n);
            let (k0, k1, x0) = (&self.k[..n], &self.k[s * n..][..n], &x0[..n]);
            for j in 0..n {
                let c0 = x1[j] - x0[j];
                let c1 = h * k0[j] - c0;
                let c2 = c0 - h * k1[j] - c1;
                powers[0][j] = x1[j];
                powers[1][j] = c0 - c1 - c2;
                powers[2][j] = -(c1 + 2.0 * c2);
                powers[3][j] = -c2;
            }
            return;
        }
        for j in 0..n {
            let mut c = [0.0; MOST_TERMS];
            c[0] = x1[j] - x0[j];
            c[1] = h * self.k[j] - c[0];
            c[2] = c[0] - h * self.k[s * n + j] - c[1];
            for (c, weights) in c[3..].iter_mut().zip(terms) {
                *c = h * weights.iter().zip(self.k[j..].iter().step_by(n)).map(|(d, k)| d * k).sum::<f64>();
            }
            let powers = powers(x0[j], &c[..3 + terms.len()]);
            coefficients[j] = x1[j];
            (1..coefficients.len() / n).for_each(|power| coefficients[power * n + j] = powers[power]);
        }
    }

    /// The polynomial that the stages of a step tell.
    fn accepted_polynomial(&mut self) {
        let (before, state) = (std::mem::take(&mut self.before), std::mem::take(&mut self.state));
        self.dense = false;
        self.interpolate((before.t, &before.x), (state.t, &state.x));
        (self.before, self.state) = (before, state);
    }

    /// The dense output over the last step, by stages of its own.
    fn make_dense(&mut self) {
        if self.dense || !self.tableau.has_dense_stages() || self.before.t != self.segment.t0 {
            return;
        }
        let (before, state) = (std::mem::take(&mut self.before), std::mem::take(&mut self.state));
        // k₁ is the rate at the end of the step, where the next one begins
        self.k[..self.Y.len()].swap_with_slice(&mut self.rate_before);
        let made = (self.tableau.stages + 1..self.tableau.A.len()).try_for_each(|i| {
            self.stage(&before, state.t, i);
            self.rate(self.tableau.time(i, before.t, state.t), i)
        });
        if made.is_ok() {
            self.dense = true;
            self.interpolate((before.t, &before.x), (state.t, &state.x));
        }
        self.k[..self.Y.len()].swap_with_slice(&mut self.rate_before);
        (self.before, self.state) = (before, state);
    }

    /// Is the step as long as stability allows?
    fn watch_stiffness(&mut self, h: f64) {
        let s = self.tableau.stages;
        let distance = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        let (n, k) = (self.Y.len(), &self.k);
        let (rates, points) = (distance(&k[s * n..][..n], &k[(s - 1) * n..][..n]), distance(&self.Y, &self.last_stage));
        if h * (rates / points).sqrt() > self.tableau.stable {
            self.at_border += 1;
            self.inside_border = 0;
        } else {
            // a step is a little shorter now and then, after a rejection
            self.inside_border += 1;
            if self.inside_border == CALM_STEPS {
                self.at_border = 0;
            }
        }
        if self.at_border == STIFF_STEPS && self.stiff_from.is_none() {
            self.stiff_from = Some(self.state.t);
        }
    }
}

/// Degree of the polynomials of a pair.
fn degree(tableau: &ExplicitTableau) -> usize {
    if tableau.has_dense_stages() { DENSE_DEGREE } else { DEGREE }
}

impl Formula for ExplicitStep<'_> {
    fn state(&self) -> &State {
        &self.state
    }

    fn segment(&self) -> &Segment {
        &self.segment
    }

    fn first_size(&mut self) -> f64 {
        first_step(self.weights.norm(&self.state.x), self.weights.norm(&self.k[..self.Y.len()]))
    }

    fn attempt(&mut self, tried: &Try) -> Result<Attempt, StepFailure> {
        let &Try { h, t1, .. } = tried;
        let state = std::mem::take(&mut self.state);
        let made = self.stages(&state, t1);
        self.state = state;
        if made.is_err() {
            return Ok(Attempt::Failed { factor: 0.5, singular: false });
        }
        let Self { k, sums, error, weights, Y, state, zeros, .. } = self;
        let error = self.tableau.error(|estimate| {
            sums.errors[estimate].step(zeros, h, k, error);
            weights.norm_between(error, &state.x, Y)
        }) / OF_A_STEP;
        let &Try { last, first, after_rejection, .. } = tried;
        let step = Step {
            t: self.state.t,
            t1,
            x: &self.state.x,
            h,
            xdot: &self.k[..self.Y.len()],
            after_rejection,
            first,
            last,
        };
        let judged = self.control.judge(&step, error);
        if !judged.accepted {
            return Ok(Attempt::Rejected { next: judged.next });
        }
        self.watch_stiffness(h);
        std::mem::swap(&mut self.before, &mut self.state);
        self.state.t = t1;
        self.state.x.copy_from_slice(&self.Y);
        self.accepted_polynomial();
        let (n, end) = (self.Y.len(), self.tableau.stages * self.Y.len());
        self.rate_before.copy_from_slice(&self.k[..n]);
        self.k.copy_within(end..end + n, 0);
        if self.wanted {
            self.make_dense();
        }
        self.weights.at(&self.state.x);
        let settled = self.dae.accepted(0, t1, &mut self.state.x, &self.k[..n]);
        let next = if self.control.fixed() { tried.proposed } else { judged.next.min(tried.longest) };
        Ok(Attempt::Accepted { next, settled })
    }

    fn stuck(&mut self, h: f64, failures: Failures) -> StepFailure {
        match self.dae.cause_of_failure(self.state.t) {
            Some(failure) => failure,
            None if failures.attempts > 0 => StepFailure::Undefined { t: self.state.t },
            None => StepFailure::StepTooSmall { t: self.state.t, h },
        }
    }

    fn back(&mut self) -> Result<bool, StepFailure> {
        std::mem::swap(&mut self.before, &mut self.state);
        self.k[..self.Y.len()].copy_from_slice(&self.rate_before);
        self.weights.at(&self.state.x);
        Ok(true)
    }

    fn restart(&mut self, at: State, _: Option<&[f64]>) -> Result<(), StepFailure> {
        self.state = at;
        self.segment = Segment::with_room(self.state.t, &self.state.x, degree(self.tableau));
        self.dense = false;
        self.dae.jumped(self.state.t, &self.state.x);
        self.weights.at(&self.state.x);
        self.Y.copy_from_slice(&self.state.x);
        (self.at_border, self.inside_border) = (0, 0);
        let t = self.state.t;
        self.rate(t, 0).map_err(|_| StepFailure::Undefined { t })
    }

    fn watch_between(&mut self) {
        self.wanted = true;
    }

    /// The dense output of order 7, or else the end of a step from the same begin, of order 5 like all.
    fn inside(&mut self, t: f64, x: &mut [f64]) {
        self.make_dense();
        if self.tableau.has_dense_stages() || t >= self.segment.t1 || t <= self.segment.t0 {
            return self.segment.eval(t, x);
        }
        // k₁ is the rate at the end of the step
        let before = std::mem::take(&mut self.before);
        self.k[..self.Y.len()].swap_with_slice(&mut self.rate_before);
        let s = self.tableau.stages;
        let made = (1..s).try_for_each(|i| {
            self.stage(&before, t, i);
            self.rate(self.tableau.time(i, before.t, t), i)
        });
        if made.is_ok() {
            self.stage(&before, t, s);
            x.copy_from_slice(&self.Y);
        }
        self.k[..self.Y.len()].swap_with_slice(&mut self.rate_before);
        self.before = before;
        if made.is_err() {
            self.segment.eval(t, x);
        }
    }

    /// The polynomial of degree 5 with values and rates at both ends and the values of shorter steps at thirds.
    fn refine(&mut self) {
        if self.tableau.has_dense_stages() {
            return self.make_dense();
        }
        let n = self.state.x.len();
        let (t0, t1) = (self.segment.t0, self.segment.t1);
        let mut deviations = std::mem::take(&mut self.deviations);
        for (deviation, part) in deviations.iter_mut().zip([2.0 / 3.0, 1.0 / 3.0]) {
            let t = t1 - part * (t1 - t0);
            self.inside(t, deviation);
            deviation.iter_mut().enumerate().for_each(|(j, x)| *x -= self.segment.component(t, j));
        }
        // σ² (1 + σ)² (α + β σ) at σ = −2/3 and −1/3, where σ² (1 + σ)² = 4/81
        let c = self.segment.powers(t0, t1);
        for j in 0..n {
            let [left, right] = [0, 1].map(|i| 81.0 / 4.0 * deviations[i][j]);
            let (alpha, beta) = (2.0 * right - left, 3.0 * (right - left));
            let add = [0.0, 0.0, alpha, 2.0 * alpha + beta, alpha + 2.0 * beta, beta];
            add.into_iter().enumerate().for_each(|(power, value)| c[power * n + j] += value);
        }
        self.deviations = deviations;
    }

    fn rates(&mut self, xdot: &mut [f64]) {
        xdot.copy_from_slice(&self.k[..self.Y.len()]);
    }

    fn system(&mut self) -> Option<&mut dyn Dae> {
        Some(&mut *self.dae)
    }

    fn counters(&self) -> Statistics {
        self.counters
    }

    fn residuals(&self) -> Residuals {
        self.dae.residuals()
    }

    fn decisions(&self) -> String {
        let stiff = self.stiff_from.map(|t| {
            format!("; stability limits the steps from t = {t:.6} on: the system is stiff there, where radau needs less work")
        });
        format!("an ordinary differential equation{}", stiff.unwrap_or_default())
    }
}
