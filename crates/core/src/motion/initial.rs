//! What is said about the initial values: some hold, some help, the rest is computed.

use super::{Layout, Motion};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// What is known about one initial value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Start {
    /// It holds, and is not moved.
    Fixed(f64),
    /// It helps: the consistent value nearest to the guesses is taken.
    Guess(f64),
    /// It is to be computed.
    Unknown,
}

/// A further equation that must hold at the start, 0 = value(motion).
#[derive(Clone)]
pub struct Condition {
    /// How messages call it.
    pub name: String,
    /// Its residual.
    #[allow(clippy::type_complexity)] // a function, written out where it is called
    pub residual: Arc<dyn Fn(&Motion<f64>) -> f64 + Send + Sync>,
}

impl fmt::Debug for Condition {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Condition").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Initial values of a system at time t.
///
/// ```
/// use daedal::motion::{Initial, Start};
/// // p₁ holds, p₂ is a guess, both velocities are guesses; multipliers and accelerations are computed
/// let mut initial = Initial::new(0.0, &[0.6, -0.8], &[0.0, 0.0]);
/// initial.p[0] = Start::Fixed(0.6);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Initial {
    /// Initial time.
    pub t: f64,
    /// Positions.
    pub p: Vec<Start>,
    /// Velocities.
    pub v: Vec<Start>,
    /// Dynamic force elements; all unknown if empty.
    pub r: Vec<Start>,
    /// Auxiliary variables; all unknown if empty.
    pub w: Vec<Start>,
    /// Contact variables; all unknown if empty.
    pub s: Vec<Start>,
    /// Multipliers of holonomic constraints; all unknown if empty.
    pub lambda: Vec<Start>,
    /// Multipliers of nonholonomic constraints; all unknown if empty.
    pub mu: Vec<Start>,
    /// Further equations.
    pub conditions: Vec<Condition>,
}

/// A block of initial values whose length does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{given} initial values given for {block}, where the system has {wanted}")]
pub struct WrongLength {
    /// Which block.
    pub block: &'static str,
    /// How many were given.
    pub given: usize,
    /// How many the system has.
    pub wanted: usize,
}

impl Initial {
    /// Guesses for positions and velocities.
    pub fn new(t: f64, p: &[f64], v: &[f64]) -> Self {
        Initial { t, p: guesses(p), v: guesses(v), ..Initial::default() }
    }

    /// Guesses for the states of dynamic force elements.
    #[must_use]
    pub fn dynamic(mut self, r: &[f64]) -> Self {
        self.r = guesses(r);
        self
    }

    /// Guesses for the auxiliary variables.
    #[must_use]
    pub fn auxiliary(mut self, w: &[f64]) -> Self {
        self.w = guesses(w);
        self
    }

    /// Guesses for the contact variables.
    #[must_use]
    pub fn contact(mut self, s: &[f64]) -> Self {
        self.s = guesses(s);
        self
    }

    /// Guesses for the multipliers.
    #[must_use]
    pub fn multipliers(mut self, lambda: &[f64], mu: &[f64]) -> Self {
        self.lambda = guesses(lambda);
        self.mu = guesses(mu);
        self
    }

    /// A further equation that must hold at the start.
    #[must_use]
    pub fn condition(
        mut self,
        name: impl Into<String>,
        residual: impl Fn(&Motion<f64>) -> f64 + Send + Sync + 'static,
    ) -> Self {
        self.conditions.push(Condition { name: name.into(), residual: Arc::new(residual) });
        self
    }

    /// All values in the order of x; accelerations are unknown.
    pub fn values(&self, layout: &Layout) -> Result<Vec<Start>, WrongLength> {
        let mut values = vec![Start::Unknown; layout.dim()];
        let blocks: [(&'static str, &[Start], Range<usize>, bool); 7] = [
            ("the positions p", &self.p, layout.p(), true),
            ("the velocities v", &self.v, layout.v(), true),
            ("the dynamic force elements r", &self.r, layout.r(), false),
            ("the auxiliary variables w", &self.w, layout.w(), false),
            ("the contact variables s", &self.s, layout.s(), false),
            ("the multipliers lambda", &self.lambda, layout.lambda(), false),
            ("the multipliers mu", &self.mu, layout.mu(), false),
        ];
        for (block, given, range, required) in blocks {
            if given.len() == range.len() {
                values[range].copy_from_slice(given);
            } else if required || !given.is_empty() {
                return Err(WrongLength { block, given: given.len(), wanted: range.len() });
            }
        }
        Ok(values)
    }
}

fn guesses(values: &[f64]) -> Vec<Start> {
    values.iter().map(|&x| Start::Guess(x)).collect()
}
