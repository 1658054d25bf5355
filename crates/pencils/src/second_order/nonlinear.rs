//! Nonlinear systems F(t, x, x′, x″) = 0 at a point. Wunderlich, thesis (2008), Hypothesis 3.26, Theorems 3.25 and 3.29–3.31.
//!
//! Linearising along a curve and differentiating commute: with the Taylor coefficients of
//! M = ∂F/∂x″, C = ∂F/∂x′, K = ∂F/∂x, f = −F along the curve, the derivative array of the linear system holds the Jacobians of
//! (F, dF/dt, …) by the coefficients of x. The numbers are those of the nonlinear system where the derivatives of F vanish; [`solve_jet`]
//! finds such a point.

use super::{Expansion, SecondOrderError, TripleArray};
use crate::blocks::beside;
use daedal::linalg::{RankRule, Ranks};
use daedal::scalar::{Dual, Scalar, Taylor};
use faer::{Col, Mat};

/// Coefficients of the series that are computed.
const COEFFICIENTS: usize = 16;
type DualSeries = Taylor<Dual<f64, 1>, COEFFICIENTS>;
/// Steps of the iteration for a jet.
const MOST_STEPS: usize = 30;

/// F(t, x, x′, x″) = 0, written once for every scalar.
pub trait SecondOrderEquations {
    /// Number of equations m.
    fn rows(&self) -> usize;
    /// Number of unknowns n.
    fn dim(&self) -> usize;
    /// F; every entry of `r` is written.
    fn residual<S: Scalar>(&self, t: S, x: &[S], xdot: &[S], xddot: &[S], r: &mut [S]);
}

/// A point in time with Taylor coefficients of x there.
#[derive(Clone, Debug, PartialEq)]
pub struct Jet {
    /// Time.
    pub t: f64,
    /// x_\[0\], x_\[1\], …: x, x′, x″/2, ….
    pub coefficients: Vec<Vec<f64>>,
}

/// Taylor coefficients 0..=level of M, C, K and f = −F along the curve of a jet with coefficients up to x_\[level+2\].
pub fn linearise<E: SecondOrderEquations>(
    equations: &E,
    jet: &Jet,
    level: usize,
) -> Result<Expansion, SecondOrderError> {
    let (m, n) = (equations.rows(), equations.dim());
    if level >= COEFFICIENTS {
        return Err(SecondOrderError::TooFewDerivatives { asked: level, given: COEFFICIENTS - 1 });
    }
    if jet.coefficients.len() < level + 3 {
        return Err(SecondOrderError::TooFewDerivatives { asked: level + 2, given: jet.coefficients.len().max(1) - 1 });
    }
    if let Some(wrong) = jet.coefficients.iter().find(|x| x.len() != n) {
        return Err(SecondOrderError::Size { what: "the jet", expected: (n, 1), found: (wrong.len(), 1) });
    }
    let entry = |p: usize, j: usize| jet.coefficients.get(p).map_or(0.0, |x| x[j]);
    // series of the q-th derivative of x, as far as the level needs it
    let series = |q: usize, j: usize| {
        let mut s = DualSeries::from(0.0);
        for k in 0..=level {
            let factor: f64 = (1..=q).map(|i| (k + i) as f64).product();
            s.coefficients[k] = Dual::constant(factor * entry(k + q, j));
        }
        s
    };
    let curve: [Vec<DualSeries>; 3] = [0, 1, 2].map(|q| (0..n).map(|j| series(q, j)).collect());
    let t = DualSeries::parameter(Dual::constant(jet.t));
    let mut r = vec![DualSeries::from(0.0); m];
    let mut value = r.clone();
    equations.residual(t, &curve[0], &curve[1], &curve[2], &mut value);
    let mut jacobians = [0, 1, 2].map(|_| vec![Mat::<f64>::zeros(m, n); level + 1]);
    let mut moved = curve.clone();
    for q in 0..3 {
        for j in 0..n {
            moved[q][j].coefficients[0].lanes[0] = 1.0;
            equations.residual(t, &moved[0], &moved[1], &moved[2], &mut r);
            moved[q][j] = curve[q][j];
            for (k, X) in jacobians[q].iter_mut().enumerate() {
                for i in 0..m {
                    X[(i, j)] = r[i].coefficients[k].lanes[0];
                }
            }
        }
    }
    let [K, C, M] = jacobians;
    let f = (0..=level).map(|k| value.iter().map(|x| -x.coefficients[k].value).collect()).collect();
    Expansion::new(M, C, K, f)
}

/// A jet with F = 0, dF/dt = 0, …, up to the level, nearest to the given one in each of Gauss and Newton's steps. The first `fixed`
/// coefficients are kept: 0 lets x move too, 2 keeps x and x′.
pub fn solve_jet<E: SecondOrderEquations>(
    equations: &E,
    guess: &Jet,
    level: usize,
    fixed: usize,
    rule: RankRule,
) -> Result<Jet, SecondOrderError> {
    let n = equations.dim();
    let mut jet = guess.clone();
    jet.coefficients.resize(level + 3, vec![0.0; n]);
    let mut change = f64::INFINITY;
    for _ in 0..MOST_STEPS {
        let array = TripleArray::new(&linearise(equations, &jet, level)?, level)?;
        let all = beside(&[&array.N, &array.L, &array.M]);
        let free = all.get(.., fixed.min(level + 3) * n..).to_owned();
        let right = Col::from_fn(array.g.len(), |i| array.g[i]);
        let of = Ranks::new(rule).subspaces(&free, array.size())?;
        let mut reached = of.range.transpose() * &right;
        for (y, sigma) in reached.iter_mut().zip(&of.singular_values) {
            *y /= sigma;
        }
        let correction = &of.cokernel * &reached;
        let size = jet.coefficients.iter().flatten().fold(1.0_f64, |y, x| y.max(x.abs()));
        change = correction.norm_max() / size;
        for (k, dx) in correction.iter().enumerate() {
            let place = fixed * n + k;
            jet.coefficients[place / n][place % n] += dx;
        }
        if change < 1e-13 {
            let residual = right.norm_max() / array.size().max(1.0) / size;
            return if residual < 1e-9 { Ok(jet) } else { Err(SecondOrderError::Inconsistent { residual }) };
        }
    }
    Err(SecondOrderError::NotConverged { what: "the iteration for consistent derivatives", change })
}
