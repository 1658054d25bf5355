//! HEDOP5. Arnold, BIT 38 (1998): half-explicit Runge-Kutta methods with explicit stages for differential-algebraic systems of index 2.
//!
//! Rows 1 to 7 are those of Dormand and Prince (1980); row 8, at c₈ = 19/20, is there for the constraint force at the new point, row 7.
//! The first stage is explicit: its acceleration is that of the acceleration level, and stage 2 need not satisfy the constraints.

use super::Hedop5;
use super::stages::ExplicitStages;
use crate::error::BadOption;
use crate::method::StartFailure;
use crate::method::structural::{Attempt, ProjectedOnto, Scheme, Step, StepSize, StructuralEquations, Trouble};
use crate::method::weights::Weights;
use crate::options::Options;

/// A fraction.
type Fraction = (i64, i64);

/// Nodes cᵢ.
const C: [Fraction; 8] = [(0, 1), (1, 5), (3, 10), (4, 5), (8, 9), (1, 1), (1, 1), (19, 20)];

/// aᵢⱼ; row 7 are the weights of order 5.
const A: [[Fraction; 7]; 8] = [
    [ZERO; 7],
    [(1, 5), ZERO, ZERO, ZERO, ZERO, ZERO, ZERO],
    [(3, 40), (9, 40), ZERO, ZERO, ZERO, ZERO, ZERO],
    [(44, 45), (-56, 15), (32, 9), ZERO, ZERO, ZERO, ZERO],
    [(19372, 6561), (-25360, 2187), (64448, 6561), (-212, 729), ZERO, ZERO, ZERO],
    [(9017, 3168), (-355, 33), (46732, 5247), (49, 176), (-5103, 18656), ZERO, ZERO],
    [(35, 384), ZERO, (500, 1113), (125, 192), (-2187, 6784), (11, 84), ZERO],
    [
        (-18611506045861, 19738176307200),
        (59332529, 14479296),
        (-2509441598627, 893904224850),
        (2763523204159, 3289696051200),
        (-41262869588913, 116235927142400),
        (46310205821, 287848404480),
        (-3280, 75413),
    ],
];

/// b̂ⱼ, the weights of order 4.
const EMBEDDED: [Fraction; 7] =
    [(5179, 57600), ZERO, (7571, 16695), (393, 640), (-92097, 339200), (187, 2100), (1, 40)];

const ZERO: Fraction = (0, 1);

const fn quotient((numerator, denominator): Fraction) -> f64 {
    numerator as f64 / denominator as f64
}

const fn quotients<const N: usize>(fractions: [Fraction; N]) -> [f64; N] {
    let mut values = [0.0; N];
    let mut i = 0;
    while i < N {
        values[i] = quotient(fractions[i]);
        i += 1;
    }
    values
}

/// The rows in `f64`.
const ROWS: [[f64; 7]; 8] = {
    let mut rows = [[0.0; 7]; 8];
    let mut i = 0;
    while i < 8 {
        rows[i] = quotients(A[i]);
        i += 1;
    }
    rows
};
const NODES: [f64; 8] = quotients(C);
/// bⱼ − b̂ⱼ.
const DIFFERENCE: [f64; 7] = {
    let (mut difference, embedded) = (ROWS[6], quotients(EMBEDDED));
    let mut j = 0;
    while j < 7 {
        difference[j] -= embedded[j];
        j += 1;
    }
    difference
};

/// The row of the new point.
const NEW: usize = 6;

/// The pair at work.
pub(super) struct Hedop5Step {
    stages: ExplicitStages,
    control: StepSize,
    project: ProjectedOnto,
    error: Vec<f64>,
}

impl Hedop5Step {
    pub fn new(method: &Hedop5, equations: &StructuralEquations, options: &Options) -> Result<Self, StartFailure> {
        let control: Result<StepSize, BadOption> = StepSize::new(method.steps, method.safety, 5, options);
        Ok(Hedop5Step {
            stages: ExplicitStages::new(equations, 8),
            control: control?,
            project: method.project,
            error: vec![0.0; equations.layout().dim()],
        })
    }
}

impl Scheme for Hedop5Step {
    const CHOOSES_CONSTRAINTS: bool = true;

    fn attempt(
        &mut self,
        equations: &mut StructuralEquations,
        weights: &Weights,
        step: Step,
        x1: &mut [f64],
    ) -> Result<Attempt, Trouble> {
        let stages = &mut self.stages;
        stages.set_rates(0, step.xdot);
        stages.combine(&step, 1, &ROWS[1][..1]);
        let mut t = step.t + NODES[1] * step.h;
        equations.at_position(t, &stages.Y[1])?;
        for i in 1..7 {
            t = stages.next(equations, &step, i, (&ROWS[i + 1][..=i], NODES[i + 1]), t)?;
        }
        stages.write(NEW, x1);
        stages.weighted(step.h, &DIFFERENCE, &mut self.error);
        Ok(self.control.judge(&step, weights.norm(&self.error)))
    }

    fn projects(&self) -> ProjectedOnto {
        self.project
    }

    fn fixed(&self) -> bool {
        self.control.fixed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Σ of fractions as a fraction in lowest terms.
    fn sum(terms: impl Iterator<Item = (i128, i128)>) -> (i128, i128) {
        terms.fold((0, 1), |(n, d), (a, b)| {
            let common = gcd(d, b);
            lowest((n * (b / common) + a * (d / common), d / common * b))
        })
    }

    fn product((a, b): (i128, i128), (c, d): (i128, i128)) -> (i128, i128) {
        let ((a, d), (c, b)) = (lowest((a, d)), lowest((c, b)));
        (a * c, b * d)
    }

    fn lowest((n, d): (i128, i128)) -> (i128, i128) {
        let common = gcd(n.abs(), d).max(1);
        (n / common, d / common)
    }

    fn gcd(a: i128, b: i128) -> i128 {
        if b == 0 { a.abs() } else { gcd(b, a % b) }
    }

    fn wide((n, d): Fraction) -> (i128, i128) {
        (i128::from(n), i128::from(d))
    }

    /// Σⱼ aⱼ cⱼᵏ.
    fn moment(row: &[Fraction; 7], k: usize) -> (i128, i128) {
        sum((0..7).map(|j| (0..k).fold(wide(row[j]), |a, _| product(a, wide(C[j])))))
    }

    fn power(c: Fraction, k: usize) -> (i128, i128) {
        (0..k).fold((1, 1), |a, _| product(a, wide(c)))
    }

    #[test]
    fn rows_satisfy_their_identities_exactly() {
        // M2
        for i in 0..8 {
            assert_eq!(moment(&A[i], 0), lowest(wide(C[i])), "row {}", i + 1);
        }
        for (row, c, most) in [(&A[6], C[6], 5), (&EMBEDDED, (1, 1), 4), (&A[7], C[7], 3)] {
            for k in 1..=most {
                assert_eq!(moment(row, k - 1), product(power(c, k), (1, k as i128)), "{k}");
            }
        }
        // the stages from the third on: Σ aᵢⱼ cⱼ = cᵢ²/2
        for i in 2..8 {
            assert_eq!(moment(&A[i], 1), product(power(C[i], 2), (1, 2)), "row {}", i + 1);
        }
        assert_ne!(moment(&A[7], 3), product(power(C[7], 4), (1, 4)));
    }

    #[test]
    fn weights_of_the_error_cancel() {
        assert!(DIFFERENCE.iter().sum::<f64>().abs() < 1e-15);
        assert!((DIFFERENCE[6] + 1.0 / 40.0).abs() < 1e-16);
    }
}
