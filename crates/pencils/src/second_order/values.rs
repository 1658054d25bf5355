//! The numbers that tell what a DAE of second order is. Wunderlich, thesis (2008), Theorem 3.11.

use std::fmt;

/// Strangeness index and characteristic values of m equations in n unknowns: m = d₂ + d₁ + a + v, n = d₂ + d₁ + a + u.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SecondOrderValues {
    /// Strangeness index μ.
    pub mu: usize,
    /// Differential equations of second order.
    pub d2: usize,
    /// Differential equations of first order.
    pub d1: usize,
    /// Algebraic equations.
    pub a: usize,
    /// Equations that follow from the others (vanishing).
    pub v: usize,
    /// Unknowns that stay undetermined.
    pub u: usize,
}

impl SecondOrderValues {
    /// Is the solution unique for consistent data, and does every right-hand side have one?
    pub fn regular(&self) -> bool {
        self.u == 0 && self.v == 0
    }

    /// Numbers to be chosen at the start: positions and velocities of d₂, values of d₁ components.
    pub fn free_initial_values(&self) -> usize {
        2 * self.d2 + self.d1
    }

    /// The theory is proved for μ ≤ 2 only; beyond, it is a conjecture that no experiment has contradicted.
    pub fn beyond_proved_range(&self) -> bool {
        self.mu > 2
    }
}

impl fmt::Display for SecondOrderValues {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let SecondOrderValues { mu, d2, d1, a, v, u } = self;
        write!(f, "μ = {mu}, d₂ = {d2}, d₁ = {d1}, a = {a}, v = {v}, u = {u}")
    }
}
