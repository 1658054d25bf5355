//! A method of one's own: implicit Euler with error control, for general systems and for formulations of equations of motion.
//! `cargo run -p daedal --example implicit_euler`

use daedal::Segment;
use daedal::catalogue::Entry;
use daedal::dae::{Dae, Pencil, Point, Unknowns};
use daedal::linalg::IterationMatrix;
use daedal::method::{Attempt, Failures, Formula, Integrator, Rules, Shell, Try, Weights, first_step};
use daedal::method::{StartFailure, State, Stepper};
use daedal::prelude::*;
use daedal::{Residuals, Statistics, StepFailure};

/// Implicit Euler: G(t₁, x₁, (x₁ − x₀)/h) = 0.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImplicitEuler;

/// Its row in the catalogue.
pub const ROW: Entry = Entry {
    name: "euler",
    description: "implicit Euler, of order 1",
    formulations: &["psf"],
    build: |formulation| Box::new(Formulated { formulation, integrator: ImplicitEuler }),
    integrator: Some(|| Box::new(ImplicitEuler)),
};

impl Integrator for ImplicitEuler {
    fn start<'p>(
        &self,
        dae: Box<dyn Dae + 'p>,
        at: Point,
        options: &Options,
    ) -> Result<Box<dyn Stepper + 'p>, StartFailure> {
        options.check()?;
        let mut weights = Weights::new(&*dae, &options.tolerance)?;
        weights.at(&at.x);
        let pencil = dae.new_pencil();
        let algebraic = (0..dae.dim()).map(|i| dae.algebraic(i)).collect();
        let state = State { t: at.t, x: at.x };
        let step = EulerStep {
            matrix: IterationMatrix::new(&pencil, algebraic),
            pencil,
            segment: Segment::with_room(state.t, &state.x, 1),
            before: state.clone(),
            rate_before: at.xdot.clone(),
            x: state.x.clone(),
            r: at.xdot.clone(),
            xdot: at.xdot,
            dae,
            state,
            weights,
            counters: Statistics::default(),
        };
        Ok(Box::new(Shell::new(step, Rules::default(), options)))
    }

    fn largest_index(&self) -> u8 {
        1
    }
}

/// Where it stands.
struct EulerStep<'p> {
    dae: Box<dyn Dae + 'p>,
    pencil: Pencil,
    matrix: IterationMatrix<f64>,
    state: State,
    xdot: Vec<f64>,
    before: State,
    rate_before: Vec<f64>,
    segment: Segment,
    weights: Weights,
    x: Vec<f64>,
    r: Vec<f64>,
    counters: Statistics,
}

impl EulerStep<'_> {
    /// Newton's iteration from x₀ + h ẋ₀. False if it does not converge.
    fn iterate(&mut self, t1: f64, h: f64) -> bool {
        let rate = |x: &f64, x0: &f64| (x - x0) / h;
        for _ in 0..10 {
            self.xdot.iter_mut().zip(self.x.iter().zip(&self.state.x)).for_each(|(v, (x, x0))| *v = rate(x, x0));
            self.counters.residuals += 1;
            if self.dae.residual(0, t1, &self.x, &self.xdot, &mut self.r).is_err() {
                return false;
            }
            // rows with derivatives are those of E − h A
            for (i, r) in self.r.iter_mut().enumerate() {
                *r *= if self.dae.algebraic(i) { -1.0 } else { -h };
            }
            self.matrix.solve(&mut self.r);
            self.x.iter_mut().zip(&self.r).for_each(|(x, d)| *x += d);
            if self.weights.norm(&self.r) < 1e-3 {
                return true;
            }
        }
        false
    }
}

impl Formula for EulerStep<'_> {
    fn state(&self) -> &State {
        &self.state
    }

    fn segment(&self) -> &Segment {
        &self.segment
    }

    fn first_size(&mut self) -> f64 {
        first_step(self.weights.norm(&self.state.x), self.weights.norm(&self.xdot))
    }

    fn attempt(&mut self, tried: &Try) -> Result<Attempt, StepFailure> {
        let (t, h) = (self.state.t, tried.h);
        self.rate_before.copy_from_slice(&self.xdot);
        self.dae.pencil(t, &self.state.x, &self.xdot, &mut self.pencil)?;
        self.counters.jacobians += 1;
        self.counters.decompositions += 1;
        if self.matrix.decompose(&self.pencil, 1.0, h).is_err() {
            return Ok(Attempt::Failed { factor: 0.5, singular: true });
        }
        self.x.iter_mut().zip(self.state.x.iter().zip(&self.rate_before)).for_each(|(x, (x0, v))| *x = x0 + h * v);
        if !self.iterate(tried.t1, h) {
            self.xdot.copy_from_slice(&self.rate_before);
            return Ok(Attempt::Failed { factor: 0.25, singular: false });
        }
        // h² x''/2, from the difference of the rates at both ends
        self.r
            .iter_mut()
            .zip(self.xdot.iter().zip(&self.rate_before))
            .for_each(|(e, (v1, v0))| *e = 0.5 * h * (v1 - v0));
        let error = self.weights.norm(&self.r);
        let next = h * (0.9 / error.sqrt()).clamp(0.2, 3.0);
        if error > 1.0 {
            self.xdot.copy_from_slice(&self.rate_before);
            return Ok(Attempt::Rejected { next });
        }
        std::mem::swap(&mut self.before, &mut self.state);
        self.state.t = tried.t1;
        self.state.x.copy_from_slice(&self.x);
        let settled = self.dae.accepted(0, tried.t1, &mut self.state.x, &self.xdot);
        let line = self.segment.powers(self.before.t, tried.t1);
        for (j, (x0, x1)) in self.before.x.iter().zip(&self.state.x).enumerate() {
            (line[j], line[self.x.len() + j]) = (*x1, x1 - x0);
        }
        self.weights.at(&self.state.x);
        Ok(Attempt::Accepted { next: next.min(tried.longest), settled })
    }

    fn stuck(&mut self, h: f64, failures: Failures) -> StepFailure {
        failures.of_general(&*self.dae, self.state.t, h)
    }

    fn back(&mut self) -> Result<bool, StepFailure> {
        std::mem::swap(&mut self.before, &mut self.state);
        self.xdot.copy_from_slice(&self.rate_before);
        self.weights.at(&self.state.x);
        Ok(true)
    }

    fn restart(&mut self, at: State, xdot: Option<&[f64]>) -> Result<(), StepFailure> {
        self.dae.jumped(at.t, &at.x);
        self.segment = Segment::with_room(at.t, &at.x, 1);
        self.weights.at(&at.x);
        self.state = at;
        if let Some(xdot) = xdot {
            self.xdot.copy_from_slice(xdot);
        }
        Ok(())
    }

    fn rates(&mut self, xdot: &mut [f64]) {
        xdot.copy_from_slice(&self.xdot);
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
}

/// A stiff chemical reaction: A → B slowly, 2 B → C fast, with the total amount kept.
struct Reaction;

impl Equations for Reaction {
    fn dim(&self) -> usize {
        3
    }
    fn residual<S: Scalar>(&self, _: S, x: &[S], xdot: &[S], r: &mut [S]) {
        r[0] = xdot[0] + x[0];
        r[1] = xdot[1] - x[0] + x[1].square() * 1e4;
        r[2] = x[0] + x[1] + x[2] - 1.0;
    }
}

/// The reaction with error control at this tolerance.
pub fn run(tolerance: f64) -> Result<Solution<Unknowns>, SolveError<Unknowns>> {
    let system = System::of(&Reaction);
    let problem = Problem::new(&system, Initial::new(0.0, &[1.0, 0.0, 0.0]), 5.0);
    let options = Options { tolerance: Tolerance::new(tolerance, 1e-3 * tolerance), ..Options::default() };
    solve(&problem, &ImplicitEuler, &options)
}

fn main() -> Result<(), SolveError<Unknowns>> {
    for tolerance in [1e-3, 1e-4, 1e-5] {
        let solution = run(tolerance)?;
        println!("{tolerance:e}: {:?} after {} steps", solution.end.x, solution.statistics.steps);
    }
    Ok(())
}
