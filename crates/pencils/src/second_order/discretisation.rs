//! Direct discretisation of the strangeness-free system with difference formulas on a fixed grid.
//!
//! ```text
//! D₁xᵢ = (1/h) Σ αⱼ xᵢ₋ⱼ,  D₂xᵢ = (1/h²) Σ βⱼ xᵢ₋ⱼ
//! (β₀ M̂₁ + α₀ h Ĉ₁ + h² K̂₁) xᵢ = h² f̂₁ − history,   (α₀ Ĉ₂ + h K̂₂) xᵢ = h f̂₂ − history,   K̂₃ xᵢ = f̂₃
//! ```
//! As h falls the matrix tends to [β₀M̂₁; α₀Ĉ₂; K̂₃], which is regular where the solution is unique; algebraic equations hold to
//! rounding. The strangeness-free system is that of Wunderlich, thesis (2008), Theorem 3.22.

use super::start::evaluate;
use super::{
    SecondOrderError, SecondOrderValues, StrangenessFreeTriple, TripleCoefficients, strangeness_free, taylor_start,
};
use daedal::linalg::{Lu, RankRule};

/// Backward difference formulas for first and second derivatives on a fixed grid.
#[derive(Clone, Debug, PartialEq)]
pub struct DifferenceFormulas {
    alpha: Vec<f64>,
    beta: Vec<f64>,
    order: usize,
}

impl DifferenceFormulas {
    /// x′ ≈ (1/h) Σ αⱼ xᵢ₋ⱼ and x″ ≈ (1/h²) Σ βⱼ xᵢ₋ⱼ. Refused unless both are consistent.
    pub fn new(alpha: Vec<f64>, beta: Vec<f64>) -> Result<Self, SecondOrderError> {
        let first = accuracy("first", &alpha, 1)?;
        let second = accuracy("second", &beta, 2)?;
        Ok(DifferenceFormulas { alpha, beta, order: first.min(second) })
    }

    /// α = (1, −1), β = (1, −2, 1): order one.
    pub fn first_order() -> Self {
        DifferenceFormulas { alpha: vec![1.0, -1.0], beta: vec![1.0, -2.0, 1.0], order: 1 }
    }

    /// α = (3/2, −2, 1/2), β = (2, −5, 4, −1): order two.
    pub fn second_order() -> Self {
        DifferenceFormulas { alpha: vec![1.5, -2.0, 0.5], beta: vec![2.0, -5.0, 4.0, -1.0], order: 2 }
    }

    /// Order of both formulas.
    pub fn order(&self) -> usize {
        self.order
    }

    /// Number of values before the new one.
    pub fn history(&self) -> usize {
        self.alpha.len().max(self.beta.len()) - 1
    }
}

/// Order of Σ cⱼ x(t − jh) / hᵏ ≈ x^(k): moments Σ cⱼ (−j)ᵖ = k! δ_{pk}.
fn accuracy(derivative: &'static str, weights: &[f64], k: usize) -> Result<usize, SecondOrderError> {
    let moment = |p: usize| weights.iter().enumerate().map(|(j, c)| c * (-(j as f64)).powi(p as i32)).sum::<f64>();
    let exact = |p: usize| if p == k { if k == 2 { 2.0 } else { 1.0 } } else { 0.0 };
    let holds = |p: usize| {
        let size: f64 = weights.iter().enumerate().map(|(j, c)| (c * (j as f64).powi(p as i32)).abs()).sum();
        (moment(p) - exact(p)).abs() <= 1e-12 * size.max(1.0)
    };
    if weights.len() <= k || weights[0] == 0.0 {
        return Err(SecondOrderError::Formulas {
            derivative,
            moment: 0,
            value: weights.first().copied().unwrap_or(0.0),
        });
    }
    match (0..=k).find(|&p| !holds(p)) {
        Some(p) => Err(SecondOrderError::Formulas { derivative, moment: p, value: moment(p) }),
        None => Ok((k + 1..=weights.len()).find(|&p| !holds(p)).unwrap_or(weights.len() + 1) - k),
    }
}

/// Where a discretisation starts.
#[derive(Clone, Debug, PartialEq)]
pub enum DiscreteStart {
    /// Consistent x and x′ at t₀; the values at the first points are found from the derivative array.
    Point {
        /// x(t₀).
        x: Vec<f64>,
        /// x′(t₀).
        xdot: Vec<f64>,
    },
    /// x(t₀), x(t₀ + h), …, as many as the formulas look back.
    Values(Vec<Vec<f64>>),
}

/// What a discretisation found.
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory {
    /// Times.
    pub t: Vec<f64>,
    /// x at the times.
    pub x: Vec<Vec<f64>>,
    /// Characteristic values, the same all along.
    pub values: SecondOrderValues,
    /// Largest relative residual of redundant equations along the way.
    pub consistency_residual: f64,
    /// Smallest gap of all rank decisions along the way.
    pub smallest_gap: f64,
}

/// Steps of fixed size h from t₀. `max_index` bounds the levels tried. Stops with an error where the characteristic values change.
///
/// ```
/// use daedal::linalg::{Mat, RankRule};
/// use daedal_pencils::second_order::{Constant, DifferenceFormulas, DiscreteStart, discretise};
/// // x″ + x = 0
/// let one = Mat::identity(1, 1);
/// let system = Constant { M: one.clone(), C: Mat::zeros(1, 1), K: one, f: |_: f64, l: usize| vec![vec![0.0]; l + 1] };
/// let start = DiscreteStart::Point { x: vec![1.0], xdot: vec![0.0] };
/// let formulas = DifferenceFormulas::second_order();
/// let found = discretise(&system, &formulas, &start, 0.0, 0.01, 100, 2, RankRule::default()).unwrap();
/// assert!((found.x[100][0] - 1.0_f64.cos()).abs() < 1e-4);
/// ```
#[allow(clippy::too_many_arguments)] // system, scheme and grid
pub fn discretise(
    system: &impl TripleCoefficients,
    formulas: &DifferenceFormulas,
    start: &DiscreteStart,
    t0: f64,
    h: f64,
    steps: usize,
    max_index: usize,
    rule: RankRule,
) -> Result<Trajectory, SecondOrderError> {
    if !(h > 0.0 && h.is_finite()) {
        return Err(SecondOrderError::Impossible { what: "the step size h", value: h });
    }
    let at = |i: usize| t0 + i as f64 * h;
    let first = strangeness_free(&system.expand(t0, max_index.max(1))?, rule)?;
    let values = determined(first.values)?;
    let mut consistency_residual = first.consistency_residual;
    let mut smallest_gap = first.ranks.smallest_gap().unwrap_or(f64::INFINITY);
    let mut x = first_values(system, formulas, start, t0, h, values, rule)?;
    x.truncate(steps + 1);
    for i in x.len()..=steps {
        let reduced = strangeness_free(&system.expand(at(i), values.mu.max(1))?, rule)?;
        if reduced.values != values {
            return Err(SecondOrderError::Changed { t: at(i), before: values, now: reduced.values });
        }
        consistency_residual = consistency_residual.max(reduced.consistency_residual);
        smallest_gap = smallest_gap.min(reduced.ranks.smallest_gap().unwrap_or(f64::INFINITY));
        let next = step(&reduced, formulas, &x, h).ok_or(SecondOrderError::SingularStep { t: at(i), h })?;
        x.push(next);
    }
    let t = (0..x.len()).map(at).collect();
    Ok(Trajectory { t, x, values, consistency_residual, smallest_gap })
}

fn determined(values: SecondOrderValues) -> Result<SecondOrderValues, SecondOrderError> {
    if values.u > 0 { Err(SecondOrderError::Undetermined(values)) } else { Ok(values) }
}

/// Values at the first points of the grid.
fn first_values(
    system: &impl TripleCoefficients,
    formulas: &DifferenceFormulas,
    start: &DiscreteStart,
    t0: f64,
    h: f64,
    values: SecondOrderValues,
    rule: RankRule,
) -> Result<Vec<Vec<f64>>, SecondOrderError> {
    match start {
        DiscreteStart::Values(given) => {
            let n = values.d2 + values.d1 + values.a;
            if given.len() != formulas.history() {
                let expected = (formulas.history(), n);
                return Err(SecondOrderError::Size { what: "the history", expected, found: (given.len(), n) });
            }
            if let Some(wrong) = given.iter().find(|x| x.len() != n) {
                return Err(SecondOrderError::Size { what: "the history", expected: (n, 1), found: (wrong.len(), 1) });
            }
            if given.iter().flatten().any(|x| !x.is_finite()) {
                return Err(SecondOrderError::NotFinite { what: "the history" });
            }
            Ok(given.clone())
        }
        DiscreteStart::Point { x, xdot } => {
            // an error of order h^(p+2) in the first values does not lower the order p
            let degree = formulas.order + 1;
            let expansion = system.expand(t0, values.mu + degree)?;
            let coefficients = taylor_start(&expansion, values, x, xdot, degree, rule)?;
            Ok((0..formulas.history()).map(|i| evaluate(&coefficients, i as f64 * h)).collect())
        }
    }
}

/// xᵢ from the values before; `None` if the matrix is singular.
fn step(reduced: &StrangenessFreeTriple, formulas: &DifferenceFormulas, x: &[Vec<f64>], h: f64) -> Option<Vec<f64>> {
    let SecondOrderValues { d2, d1, .. } = reduced.values;
    let n = reduced.M.ncols();
    let mut lu = Lu::new(n);
    let mut right = vec![0.0; n];
    let past = |weights: &[f64], k: usize| {
        weights[1..].iter().enumerate().map(|(j, weight)| weight * x[x.len() - 1 - j][k]).sum::<f64>()
    };
    let first: Vec<f64> = (0..n).map(|k| past(&formulas.alpha, k)).collect();
    let second: Vec<f64> = (0..n).map(|k| past(&formulas.beta, k)).collect();
    let (alpha, beta) = (formulas.alpha[0], formulas.beta[0]);
    for i in 0..n {
        // block rows times h², h, 1
        let (of_M, of_C, of_K) = match i {
            _ if i < d2 => (1.0, h, h * h),
            _ if i < d2 + d1 => (0.0, 1.0, h),
            _ => (0.0, 0.0, 1.0),
        };
        right[i] = of_K * reduced.f[i];
        for k in 0..n {
            let (M, C) = (of_M * reduced.M[(i, k)], of_C * reduced.C[(i, k)]);
            lu.A[(i, k)] = beta * M + alpha * C + of_K * reduced.K[(i, k)];
            right[i] -= M * second[k] + C * first[k];
        }
    }
    lu.factor().ok()?;
    lu.solve(&mut right);
    right.iter().all(|x| x.is_finite()).then_some(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_know_their_order_and_refuse_wrong_weights() {
        let order =
            |alpha: &[f64], beta: &[f64]| DifferenceFormulas::new(alpha.to_vec(), beta.to_vec()).map(|f| f.order);
        assert_eq!(order(&[1.0, -1.0], &[1.0, -2.0, 1.0]), Ok(1));
        assert_eq!(order(&[1.5, -2.0, 0.5], &[2.0, -5.0, 4.0, -1.0]), Ok(2));
        let (alpha, beta) =
            ([11.0 / 6.0, -3.0, 1.5, -1.0 / 3.0], [35.0 / 12.0, -26.0 / 3.0, 9.5, -14.0 / 3.0, 11.0 / 12.0]);
        assert_eq!(order(&alpha, &beta), Ok(3));
        assert!(matches!(order(&[1.0, -0.5], &beta), Err(SecondOrderError::Formulas { moment: 0, .. })));
        assert!(matches!(
            order(&alpha, &[1.0, -1.0, 0.0]),
            Err(SecondOrderError::Formulas { derivative: "second", .. })
        ));
        assert!(order(&[], &[]).is_err());
        assert_eq!(DifferenceFormulas::second_order().history(), 3);
    }
}
