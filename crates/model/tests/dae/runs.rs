//! How tests solve the files, and how errors are measured.

use super::files::{read, system};
use daedal::dae::{Form, InForm, System, Unknowns};
use daedal::graph::Interpreted;
use daedal::{Options, Problem, RadauIIa, Solution, SolveError, Tolerance, solve};
use std::error::Error;

/// A run of a file.
#[derive(Clone, Copy, Debug)]
pub struct Run<'r> {
    pub name: &'r str,
    pub changes: &'r [(&'r str, f64)],
    pub rtol: f64,
    pub atol: f64,
    pub h0: Option<f64>,
    pub hmax: Option<f64>,
    /// From this unknown on the absolute tolerance is so many times larger.
    pub larger: Option<(usize, f64)>,
    pub tend: Option<f64>,
    pub form: Form,
}

impl<'r> Run<'r> {
    /// With a tolerance for everything.
    pub fn new(name: &'r str, tolerance: f64) -> Self {
        let (rtol, atol) = (tolerance, tolerance);
        Run { name, changes: &[], rtol, atol, h0: None, hmax: None, larger: None, tend: None, form: Form::Auto }
    }

    /// Solve it; the end is kept.
    pub fn make(&self) -> Result<Solution<Unknowns>, SolveError<Unknowns>> {
        self.make_with(&RadauIIa::default())
    }

    /// Solve it with other options of the method.
    pub fn make_with(&self, method: &RadauIIa) -> Result<Solution<Unknowns>, SolveError<Unknowns>> {
        let model = read(self.name, self.changes);
        let (formulas, initial) = system(&model);
        let states = formulas.states.len();
        let system = System::new(formulas, Interpreted);
        let tend = self.tend.unwrap_or_else(|| model.time.expect("an interval").1);
        let (rtol, atol) = (self.rtol, self.atol);
        let tolerance = self.larger.map_or(Tolerance::new(rtol, atol), |(from, times)| {
            let of = |k| (rtol, if k < from { atol } else { times * atol });
            Tolerance::PerComponent((0..states).map(of).collect())
        });
        let options = Options { tolerance, h0: self.h0, hmax: self.hmax, max_steps: 1_000_000, ..Options::default() };
        solve(&Problem::new(&system, initial.clone(), tend), &InForm { form: self.form, integrator: method }, &options)
    }

    /// The state at the end.
    pub fn end(&self) -> Vec<f64> {
        match self.make() {
            Ok(solution) => solution.end.x,
            Err(error) => panic!("{} {:?}: {}", self.name, self.changes, reason(&error)),
        }
    }
}

/// A message with its causes.
pub fn reason(error: &dyn Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {}", reason(cause)),
        None => error.to_string(),
    }
}

/// Where a run stopped on its way.
pub fn stopped(error: &SolveError<Unknowns>) -> f64 {
    match error {
        SolveError::Stopped { partial, .. } => partial.end.t,
        _ => panic!("not on the way: {}", reason(error)),
    }
}

/// −log10 of the largest relative error: significant correct digits.
pub fn scd(found: &[f64], reference: &[f64]) -> f64 {
    digits(found, reference, f64::abs)
}

/// The same with |y| + atol/rtol in the denominator, for small components.
pub fn mescd(found: &[f64], reference: &[f64], ratio: f64) -> f64 {
    digits(found, reference, |y| y.abs() + ratio)
}

fn digits(found: &[f64], reference: &[f64], size: impl Fn(f64) -> f64) -> f64 {
    let errors = found.iter().zip(reference).map(|(x, y)| (x - y).abs() / size(*y));
    -errors.fold(0.0, f64::max).log10()
}
