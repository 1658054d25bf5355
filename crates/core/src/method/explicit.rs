//! The explicit pair of Dormand and Prince of order 5(4) for ordinary differential equations E ẋ = f(t, x) with a constant, regular E.
//!
//! With its dense output of order 4, and the test of stiffness. Dormand & Prince (1980); Hairer, Nørsett & Wanner, Solving ODEs I, II.5,
//! table 5.2, and II.6, (6.12); Hairer & Wanner, Solving ODEs II, IV.2.

use super::dormand_prince::{A, C, DormandPrince, E, OF_A_STEP};
use super::pace::{Failures, Rules, Try, first_step};
use super::shell::{Attempt, Formula, Shell};
use super::structural::{Step, StepSize};
use super::weights::Weights;
use super::{Integrator, StartFailure, State, Stepper};
use crate::dae::{Dae, Point};
use crate::error::StepFailure;
use crate::linalg::IterationMatrix;
use crate::motion::Undefined;
use crate::options::Options;
use crate::segment::Segment;
use crate::statistics::{Residuals, Statistics};

/// Weights of the term of the dense output that is not known from the ends of a step. Solving ODEs I, II.6: `CONTD5` of DOPRI5.
const D: [f64; 7] = [
    -12_715_105_075.0 / 11_282_082_432.0,
    0.0,
    87_487_479_700.0 / 32_700_410_799.0,
    -10_690_763_975.0 / 1_880_347_072.0,
    701_980_252_875.0 / 199_316_789_632.0,
    -1_453_857_185.0 / 822_651_844.0,
    69_997_945.0 / 29_380_423.0,
];
/// Degree of the polynomial over a step once it is refined.
const DEGREE: usize = 5;
/// h |λ| at the border of the stability region on the negative real axis. Solving ODEs II, IV.2.
const STABLE: f64 = 3.25;
/// Rates that differ by less, relative to the largest, are the same: far above the rounding of a consistent start, far below what a singular
/// matrix leaves.
const SAME_RATE: f64 = 1e-6;
/// Steps in a row at that border after which a system is called stiff. The same.
const STIFF_STEPS: u32 = 15;

impl Integrator for DormandPrince {
    fn start<'p>(
        &self,
        system: Box<dyn Dae + 'p>,
        at: Point,
        options: &Options,
    ) -> Result<Box<dyn Stepper + 'p>, StartFailure> {
        Ok(Box::new(ExplicitStep::start(self, system, at, options)?))
    }
}

/// The pair at a point of a solution.
struct ExplicitStep<'p> {
    dae: Box<dyn Dae + 'p>,
    /// E, unless it is the identity
    leading: Option<IterationMatrix<f64>>,
    zeros: Vec<f64>,
    state: State,
    /// kᵢ = ẋ at the stages; the first is ẋ at the point where the formula stands
    k: [Vec<f64>; 7],
    before: State,
    rate_before: Vec<f64>,
    segment: Segment,
    weights: Weights,
    control: StepSize,
    /// the stage that is evaluated, and the last but one
    Y: Vec<f64>,
    Y6: Vec<f64>,
    error: Vec<f64>,
    /// of the polynomial at thirds of a step
    deviations: [Vec<f64>; 2],
    /// steps in a row that stability limits, and where they became too many
    at_border: u32,
    stiff_from: Option<f64>,
    counters: Statistics,
}

impl<'p> ExplicitStep<'p> {
    fn start(
        method: &DormandPrince,
        mut dae: Box<dyn Dae + 'p>,
        at: Point,
        options: &Options,
    ) -> Result<Shell<Self>, StartFailure> {
        options.check()?;
        let control = StepSize::new(method.steps, method.safety, 5, options)?;
        let why = "it is not an ordinary differential equation E ẋ = f(t, x) with a regular matrix E of numbers";
        let refused = || StartFailure::OutOfClass { method: "dopri5", why: why.into(), instead: "radau" };
        if !dae.is_ordinary() {
            return Err(refused());
        }
        let n = dae.dim();
        let mut pencil = dae.new_pencil();
        dae.pencil(at.t, &at.x, &at.xdot, &mut pencil)?;
        let leading = if pencil.leading_is_identity() {
            None
        } else {
            let mut matrix = IterationMatrix::new(&pencil, vec![false; n]);
            matrix.decompose(&pencil, 1.0, 0.0).map_err(|_| refused())?;
            Some(matrix)
        };
        let mut weights = Weights::new(&*dae, &options.tolerance)?;
        weights.at(&at.x);
        let state = State { t: at.t, x: at.x };
        let mut step = ExplicitStep {
            leading,
            zeros: vec![0.0; n],
            k: std::array::from_fn(|_| vec![0.0; n]),
            before: state.clone(),
            rate_before: vec![0.0; n],
            segment: Segment::with_room(state.t, &state.x, DEGREE),
            weights,
            Y: state.x.clone(),
            Y6: vec![0.0; n],
            error: vec![0.0; n],
            deviations: std::array::from_fn(|_| vec![0.0; n]),
            at_border: 0,
            stiff_from: None,
            counters: Statistics::default(),
            dae,
            state,
            control,
        };
        step.rate(step.state.t, 0).map_err(|_| StepFailure::Undefined { t: at.t })?;
        // a matrix that is singular but for rounding gives other rates than those of the consistent start
        let size = at.xdot.iter().fold(1.0_f64, |size, rate| size.max(rate.abs()));
        if step.k[0].iter().zip(&at.xdot).any(|(k, rate)| !((k - rate).abs() <= SAME_RATE * size)) {
            return Err(refused());
        }
        let rules = Rules { constant: control.fixed(), ..Rules::default() };
        Ok(Shell::new(step, rules, options))
    }

    /// kᵢ = E⁻¹ f(t, Y).
    fn rate(&mut self, t: f64, i: usize) -> Result<(), Undefined> {
        let k = &mut self.k[i];
        self.counters.residuals += 1;
        self.dae.residual(0, t, &self.Y, &self.zeros, k)?;
        for k in k.iter_mut() {
            *k = -*k;
        }
        if let Some(leading) = &mut self.leading {
            leading.solve(k);
        }
        Ok(())
    }

    /// Y = x₀ + h Σ aᵢⱼ kⱼ, stages 2 to `last` of a step from x₀, whose rate is k₁.
    fn stages(&mut self, from: &State, t1: f64, last: usize) -> Result<(), Undefined> {
        let h = t1 - from.t;
        for i in 1..=last {
            for (j, y) in self.Y.iter_mut().enumerate() {
                let sum: f64 = A[i][..i].iter().zip(&self.k).map(|(a, k)| a * k[j]).sum();
                *y = from.x[j] + h * sum;
            }
            if i == 5 {
                self.Y6.copy_from_slice(&self.Y);
            }
            if i < last || last == 6 {
                self.rate(if C[i] == 1.0 { t1 } else { from.t + C[i] * h }, i)?;
            }
        }
        Ok(())
    }

    /// The polynomial of order 4 over a step that ends at Y, with rates k.
    fn interpolate(&mut self, t1: f64) {
        let (t0, h, n) = (self.state.t, t1 - self.state.t, self.Y.len());
        let c = self.segment.powers(t0, t1);
        for j in 0..n {
            let change = self.Y[j] - self.state.x[j];
            let b = h * self.k[0][j] - change;
            let c4 = change - h * self.k[6][j] - b;
            let d = h * D.iter().zip(&self.k).map(|(d, k)| d * k[j]).sum::<f64>();
            // powers of σ = θ − 1 of x₀ + θ (Δ + (1 − θ)(b + θ (c + (1 − θ) d)))
            let powers = [self.Y[j], change - b - c4, d - b - 2.0 * c4, 2.0 * d - c4, d, 0.0];
            powers.into_iter().enumerate().for_each(|(power, value)| c[power * n + j] = value);
        }
    }

    /// Is the step as long as stability allows?
    fn watch_stiffness(&mut self, h: f64) {
        let distance = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        let (rates, points) = (distance(&self.k[6], &self.k[5]), distance(&self.Y, &self.Y6));
        self.at_border = if h * (rates / points).sqrt() > STABLE { self.at_border + 1 } else { 0 };
        if self.at_border == STIFF_STEPS && self.stiff_from.is_none() {
            self.stiff_from = Some(self.state.t);
        }
    }
}

impl Formula for ExplicitStep<'_> {
    fn state(&self) -> &State {
        &self.state
    }

    fn segment(&self) -> &Segment {
        &self.segment
    }

    fn first_size(&mut self) -> f64 {
        first_step(self.weights.norm(&self.state.x), self.weights.norm(&self.k[0]))
    }

    fn attempt(&mut self, tried: &Try) -> Result<Attempt, StepFailure> {
        let &Try { h, t1, .. } = tried;
        let state = std::mem::take(&mut self.state);
        let made = self.stages(&state, t1, 6);
        self.state = state;
        if made.is_err() {
            return Ok(Attempt::Failed { factor: 0.5, singular: false });
        }
        for (j, e) in self.error.iter_mut().enumerate() {
            *e = h * E.iter().zip(&self.k).map(|(e, k)| e * k[j]).sum::<f64>();
        }
        let error = self.weights.norm_between(&self.error, &self.state.x, &self.Y) / OF_A_STEP;
        let &Try { last, first, after_rejection, .. } = tried;
        let step = Step { t: self.state.t, t1, x: &self.state.x, h, xdot: &self.k[0], after_rejection, first, last };
        let judged = self.control.judge(&step, error);
        if !judged.accepted {
            return Ok(Attempt::Rejected { next: judged.next });
        }
        self.interpolate(t1);
        self.watch_stiffness(h);
        std::mem::swap(&mut self.before, &mut self.state);
        self.state.t = t1;
        self.state.x.copy_from_slice(&self.Y);
        let [first, .., last] = &mut self.k;
        self.rate_before.copy_from_slice(first);
        first.copy_from_slice(last);
        self.weights.at(&self.state.x);
        let settled = self.dae.accepted(0, t1, &mut self.state.x, &self.k[0]);
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
        self.k[0].copy_from_slice(&self.rate_before);
        self.weights.at(&self.state.x);
        Ok(true)
    }

    fn restart(&mut self, at: State, _: Option<&[f64]>) -> Result<(), StepFailure> {
        self.state = at;
        self.segment = Segment::with_room(self.state.t, &self.state.x, DEGREE);
        self.dae.jumped(self.state.t, &self.state.x);
        self.weights.at(&self.state.x);
        self.Y.copy_from_slice(&self.state.x);
        self.at_border = 0;
        let t = self.state.t;
        self.rate(t, 0).map_err(|_| StepFailure::Undefined { t })
    }

    /// The end of a step from the same begin, of order 5 like all.
    fn inside(&mut self, t: f64, x: &mut [f64]) {
        if t >= self.segment.t1 || t <= self.segment.t0 {
            return self.segment.eval(t, x);
        }
        // k₁ is the rate at the end of the step
        let before = std::mem::take(&mut self.before);
        std::mem::swap(&mut self.k[0], &mut self.rate_before);
        let made = self.stages(&before, t, 5).and_then(|()| {
            self.rate(t, 5)?;
            let h = t - before.t;
            for (j, x) in x.iter_mut().enumerate() {
                *x = before.x[j] + h * A[6].iter().zip(&self.k).map(|(a, k)| a * k[j]).sum::<f64>();
            }
            Ok(())
        });
        std::mem::swap(&mut self.k[0], &mut self.rate_before);
        self.before = before;
        if made.is_err() {
            self.segment.eval(t, x);
        }
    }

    /// The polynomial of degree 5 with values and rates at both ends and the values of shorter steps at thirds.
    fn refine(&mut self) {
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
        xdot.copy_from_slice(&self.k[0]);
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
