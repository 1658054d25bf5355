//! Impulses of a linear mode E ẋ = A x + b with constant coefficients that is entered from a state which is not consistent there.
//!
//! With the jump Δ = x⁺ − x⁻ the solution contains Σ cⱼ δ⁽ʲ⁾, E Δ = A c₀, E cⱼ₋₁ = A cⱼ; a regular pencil has exactly one such sequence.
//! Wunderlich, thesis (2008), (2.37). Nonlinear equations are not looked at: a product of impulses has no meaning.

use super::{Entered, Impulses, ModeEntry};
use crate::hybrid::options::Restart;
use crate::initial::Start;
use crate::linalg::{Matrix, RankRule, times};
use crate::options::Options;
use daedal_pencils::RegularPencil;

/// Most unknowns: the structure of a pencil costs the fourth power of their number in the worst case.
const MOST_UNKNOWNS: usize = 200;
/// Changes below this many times the tolerance are no jumps.
const JUMP: f64 = 10.0;
/// Factors below this part of the largest are rounding.
const ROUNDING: f64 = 1e-10;

/// The pencil of a linear mode.
pub(super) struct ImpulseLaw {
    pencil: RegularPencil,
    E: Matrix,
}

impl ImpulseLaw {
    /// Of E ẋ = A x + b; none if the pencil is singular, not square or large, or has no impulses.
    pub fn new(E: Matrix, A: &Matrix, ranks: RankRule) -> Option<Self> {
        let n = E.cols();
        if n > MOST_UNKNOWNS {
            return None;
        }
        let pencil = RegularPencil::new(&E, A, ranks.of_numbers(n, n)).ok()?;
        (pencil.index() > 1).then_some(ImpulseLaw { pencil, E })
    }

    /// What entering the mode did, from what was known and the consistent state.
    pub fn entered(&self, entry: &ModeEntry, x: &[f64], names: &[String], options: &Options) -> Entered {
        let is_differentiated = |j: usize| (0..self.E.rows()).any(|i| self.E[(i, j)] != 0.0);
        let before = |j: usize| match entry.start[j] {
            Start::Fixed(value) | Start::Guess(value) => Some(value),
            // what only enters algebraically has no past
            Start::Unknown => (!is_differentiated(j)).then_some(x[j]),
        };
        let jump: Option<Vec<f64>> = (0..names.len()).map(|j| before(j).map(|before| x[j] - before)).collect();
        let (Some(Restart::Impulse), Some(jump)) = (entry.restart, jump) else { return Entered::default() };
        let moved = |j: usize| {
            let (rtol, atol) = options.tolerance.of(&names[j]).or(options.tolerance.usual()).unwrap_or((1e-7, 1e-7));
            is_differentiated(j) && jump[j].abs() > JUMP * (rtol * x[j].abs() + atol)
        };
        if !(0..names.len()).any(moved) || times(&self.E, &jump).iter().all(|row| *row == 0.0) {
            return Entered::default();
        }
        let factors = self.pencil.impulses(&jump);
        let largest = factors.iter().flatten().fold(0.0_f64, |largest, c| largest.max(c.abs()));
        let told = |c: &Vec<f64>| -> Impulses {
            let some = names.iter().zip(c).filter(|(_, c)| c.abs() > ROUNDING * largest);
            some.map(|(name, c)| (name.clone(), *c)).collect()
        };
        let mut orders: Vec<Impulses> = factors.iter().map(told).collect();
        while orders.last().is_some_and(Vec::is_empty) {
            orders.pop();
        }
        let higher_impulses = if orders.len() > 1 { orders.split_off(1) } else { Vec::new() };
        Entered { impulses: orders.pop().unwrap_or_default(), higher_impulses, balance: None }
    }
}
