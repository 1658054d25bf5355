//! The numbers that tell what a DAE is. Kunkel & Mehrmann (2006), Hypothesis 4.2.

use std::fmt;

/// Strangeness index and characteristic values of a DAE with m equations and n unknowns: m = d + a + v, n = d + a + u.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CharacteristicValues {
    /// Strangeness index μ.
    pub mu: usize,
    /// Differential equations.
    pub d: usize,
    /// Algebraic equations.
    pub a: usize,
    /// Equations that follow from the others (vanishing).
    pub v: usize,
    /// Unknowns that stay undetermined.
    pub u: usize,
}

impl CharacteristicValues {
    /// Differentiation index of a regular system (u = v = 0): 0 without algebraic equations, else μ + 1.
    pub fn differentiation_index(&self) -> Option<usize> {
        (self.u == 0 && self.v == 0).then_some(if self.a == 0 { 0 } else { self.mu + 1 })
    }
}

impl fmt::Display for CharacteristicValues {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let CharacteristicValues { mu, d, a, v, u } = self;
        write!(f, "μ = {mu}, d = {d}, a = {a}, v = {v}, u = {u}")
    }
}
