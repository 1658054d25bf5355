//! Are invariants that are kept like constraints invariant? A false one would be enforced, with perfect residuals.
//!
//! The rate de/dt along the field is looked at where a run begins and at some of its steps. Its integral is the change that e would have had
//! if nothing kept it. An invariant is false if the rate is no rounding and that change is more than the tolerance explains.

use crate::error::{BadOption, StepFailure};
use crate::method::{StartFailure, State};
use crate::motion::{Form, InvariantRate, InvariantRates, Mechanism, ReducedArray};
use crate::tolerance::Tolerance;

/// Rates above this part of their terms are no rounding; as in the analysis of models.
const REMAINS: f64 = 1e-6;
/// At the start, where nothing has been integrated, rates above this part of what they might be are too large.
const CLEAR: f64 = 1e-4;
/// Errors of a run are taken to stay below this multiple of its tolerance.
const TRUST: f64 = 10.0;
/// Step of differences in time, where time enters: rounding of e is amplified by its inverse, which leaves ten digits.
const SHIFT: f64 = 1e-6;
/// After the first steps, every so many steps are looked at.
const EVERY: u64 = 16;

/// The invariants of a run that keeps them.
pub(crate) struct Kept<'p> {
    array: Box<dyn ReducedArray + 'p>,
    rates: InvariantRates,
    names: Vec<String>,
    tolerances: Vec<(f64, f64)>,
    t: f64,
    steps: u64,
    last: Vec<f64>,
    /// ∫ de/dt dt
    change: Vec<f64>,
}

impl<'p> Kept<'p> {
    /// Begin at a consistent point; a false invariant is refused if it shows there.
    pub fn new(system: &'p (dyn Mechanism + '_), at: &State, tolerance: &Tolerance) -> Result<Self, StartFailure> {
        let array = system.array(Form::StrangenessFree, true);
        let layout = array.layout().clone();
        let names = system.names().invariants;
        let mut kept = Kept {
            rates: InvariantRates::new(system, &*array, SHIFT),
            array,
            tolerances: tolerance.pairs(&layout).map_err(BadOption::from)?,
            t: at.t,
            steps: 0,
            last: vec![0.0; names.len()],
            change: vec![0.0; names.len()],
            names,
        };
        kept.begin(at.t, &at.x)?;
        Ok(kept)
    }

    /// Begin again at a point.
    pub fn begin(&mut self, t: f64, x: &[f64]) -> Result<(), StepFailure> {
        (self.t, self.steps) = (t, 0);
        self.change.fill(0.0);
        // where a rate has no value, the run itself tells more
        if self.rates.at(&mut *self.array, t, x).is_err() {
            return Ok(());
        }
        for (k, rate) in self.rates.rates().iter().enumerate() {
            self.last[k] = rate.rate;
            if remains(rate) && rate.rate.abs() > CLEAR * rate.possible {
                let name = self.names[k].clone();
                return Err(StepFailure::FalseInvariant { t, name, rate: rate.rate, change: 0.0 });
            }
        }
        Ok(())
    }

    /// An accepted step ends at a point.
    pub fn step(&mut self, t: f64, x: &[f64]) -> Result<(), StepFailure> {
        self.steps += 1;
        let looked_at = self.steps < EVERY && self.steps.is_power_of_two() || self.steps.is_multiple_of(EVERY);
        if !looked_at || self.rates.at(&mut *self.array, t, x).is_err() {
            return Ok(());
        }
        let dt = t - std::mem::replace(&mut self.t, t);
        for (k, rate) in self.rates.rates().iter().enumerate() {
            self.change[k] += 0.5 * dt * (rate.rate + std::mem::replace(&mut self.last[k], rate.rate));
            let scale = |j: usize| self.tolerances[j].1 + self.tolerances[j].0 * x[j].abs();
            let change = self.change[k];
            if remains(rate) && change.abs() > TRUST * self.rates.sensitivity(k, scale) {
                let name = self.names[k].clone();
                return Err(StepFailure::FalseInvariant { t, name, rate: rate.rate, change });
            }
        }
        Ok(())
    }
}

/// Is a rate no rounding?
fn remains(rate: &InvariantRate) -> bool {
    rate.rate.abs() > REMAINS * rate.terms + rate.noise
}
