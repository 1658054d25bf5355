//! Strangeness-free system of order k at a point, in the unknowns of the original one, by left multiplications of the derivative array.
//!
//! ```text
//! d_k rows    Z_kᵀ(A_k x⁽ᵏ⁾ + … + A_0 x) = Z_kᵀ f
//! d_q rows    Â_q x⁽q⁾ + … = f̂_q         q = k−1, …, 1,  with no higher derivative
//! a rows      Â_0 x = f̂_0
//! v rows      0 = 0                       d_k + … + d_1 + a + v = m
//! ```
//! [Â_k; …; Â_0] has full row rank. The index μ is the number of differentiations that were needed. For k = 2 this is Theorem 3.21 of
//! Wunderlich, thesis (2008); the steps for other k are the same, one order after the other.

use super::{OrderArray, OrderExpansion};
use crate::second_order::SecondOrderError;
use daedal_linear::linalg::{RankRule, Ranks};
use faer::{Col, Mat, Scale};
use std::fmt;

/// Strangeness index and characteristic values of order k: m = Σ d_q + a + v, n = Σ d_q + a + u.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderValues {
    /// Strangeness index μ.
    pub mu: usize,
    /// `d[q − 1]`: differential equations of order q, q = 1, …, k.
    pub d: Vec<usize>,
    /// Algebraic equations.
    pub a: usize,
    /// Equations that follow from the others.
    pub v: usize,
    /// Unknowns that stay undetermined.
    pub u: usize,
}

impl OrderValues {
    /// Numbers to be chosen at the start, Σ q d_q.
    pub fn free_initial_values(&self) -> usize {
        self.d.iter().enumerate().map(|(q, d)| (q + 1) * d).sum()
    }

    /// The theory is proved for k = 2 and μ ≤ 2, and for k = 1.
    pub fn beyond_proved_range(&self) -> bool {
        self.d.len() > 2 || (self.d.len() == 2 && self.mu > 2)
    }
}

/// A number as an index below the line.
fn subscript(q: usize) -> String {
    q.to_string().chars().map(|c| char::from_u32(c as u32 - '0' as u32 + '₀' as u32).unwrap_or(c)).collect()
}

impl fmt::Display for OrderValues {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let OrderValues { mu, d, a, v, u } = self;
        write!(f, "μ = {mu}")?;
        for (q, d) in d.iter().enumerate().rev() {
            write!(f, ", d{} = {d}", subscript(q + 1))?;
        }
        write!(f, ", a = {a}, v = {v}, u = {u}")
    }
}

/// Rows of one order.
#[derive(Clone, Debug)]
pub struct OrderRows {
    /// `A[p]`: factor of x⁽ᵖ⁾, p = 0, …, q.
    pub A: Vec<Mat<f64>>,
    /// Right-hand side.
    pub f: Vec<f64>,
    /// Which combinations of the rows of the array they are, as columns.
    pub(super) Z: Mat<f64>,
}

impl OrderRows {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.f.len()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.f.is_empty()
    }
}

/// A strangeness-free system of order k at a point.
#[derive(Clone, Debug)]
pub struct ReducedOrder {
    /// Index and sizes.
    pub values: OrderValues,
    /// `rows[q]`: the rows of order q, q = 0, …, k.
    pub rows: Vec<OrderRows>,
    /// ‖Zᵀg‖ / max(1, ‖g‖) of the combinations without unknowns; the system has a solution only if it vanishes.
    pub consistency_residual: f64,
    /// Unknowns of order k that equations of lower order bind, so that the reduction turns them into unknowns of lower order.
    pub converted: usize,
    /// Rank decisions.
    pub ranks: Ranks,
}

impl ReducedOrder {
    /// [Â_k; …; Â_0], of full row rank.
    pub fn leading(&self) -> Mat<f64> {
        let blocks: Vec<&Mat<f64>> = self.rows.iter().enumerate().rev().map(|(q, rows)| &rows.A[q]).collect();
        crate::blocks::below(&blocks)
    }
}

/// Reduce at the point of the expansion. The levels tried are those it gives derivatives for; rows are equilibrated before.
///
/// ```
/// use daedal_linear::linalg::{Mat, RankRule};
/// use daedal_pencils::high_order::{OrderExpansion, reduce_order};
/// // x₁‴ + x₂ = f₁, x₁ = f₂: x₂ = f₁ − f₂‴
/// let zero = Mat::zeros(2, 2);
/// let (mut A0, mut A3) = (zero.clone(), zero.clone());
/// (A3[(0, 0)], A0[(0, 1)], A0[(1, 0)]) = (1.0, 1.0, 1.0);
/// let at = OrderExpansion::constant(&[A0, zero.clone(), zero, A3], 6).unwrap();
/// let found = reduce_order(&at, RankRule::default()).unwrap();
/// assert_eq!(found.values.to_string(), "μ = 3, d₃ = 0, d₂ = 0, d₁ = 0, a = 2, v = 0, u = 0");
/// ```
pub fn reduce_order(at: &OrderExpansion, rule: RankRule) -> Result<ReducedOrder, SecondOrderError> {
    let at = at.equilibrated();
    let (m, n, k) = (at.rows(), at.dim(), at.order());
    let mut ranks = Ranks::new(rule);
    let mut vanishing = 0;
    for level in 0..=at.level() {
        let array = OrderArray::new(&at, level)?;
        let scale = array.size();
        // Z[q]: combinations without x⁽ᵖ⁾, p > q, with x⁽q⁾
        let mut rest = ranks.subspaces(&array.high, scale)?.corange;
        let mut Z = vec![Mat::zeros(0, 0); k];
        for q in (0..k).rev() {
            let of = ranks.subspaces(&(rest.transpose() * &array.low[q]), scale)?;
            (Z[q], rest) = (&rest * &of.range, &rest * &of.corange);
        }
        // what the equations of lower order leave of those of higher order
        let mut T = ranks.subspaces(&(Z[0].transpose() * &array.low[0]), scale)?.kernel;
        let bound = ranks.rank(&(&at.A(k)[0] * &T), scale)?;
        for q in 1..k {
            let of = ranks.subspaces(&(Z[q].transpose() * &array.low[q] * &T), scale)?;
            (Z[q], T) = (&Z[q] * &of.range, &T * &of.kernel);
        }
        let Zk = ranks.subspaces(&(&at.A(k)[0] * &T), scale)?.range;
        let d: Vec<usize> = Z[1..].iter().chain([&Zk]).map(Mat::ncols).collect();
        let (a, dk, all_vanishing) = (Z[0].ncols(), Zk.ncols(), rest.ncols());
        let determined = a + d.iter().sum::<usize>();
        if determined + all_vanishing == m + vanishing {
            let column = Col::from_fn(array.g.len(), |i| array.g[i]);
            let mut rows: Vec<OrderRows> = Z
                .into_iter()
                .enumerate()
                .map(|(q, Z)| OrderRows {
                    A: (0..=q).map(|p| Z.transpose() * &array.low[p] * Scale(1.0 / factorial(p))).collect(),
                    f: (Z.transpose() * &column).iter().copied().collect(),
                    Z,
                })
                .collect();
            let f = Col::from_fn(m, |i| at.f()[0][i]);
            rows.push(OrderRows {
                A: (0..=k).map(|p| Zk.transpose() * &at.A(p)[0]).collect(),
                f: (Zk.transpose() * f).iter().copied().collect(),
                Z: Zk,
            });
            let v = all_vanishing - vanishing;
            return Ok(ReducedOrder {
                values: OrderValues { mu: level, d, a, v, u: n - determined },
                rows,
                consistency_residual: (rest.transpose() * &column).norm_l2() / column.norm_l2().max(1.0),
                converted: bound - dk,
                ranks,
            });
        }
        vanishing = all_vanishing;
    }
    Err(SecondOrderError::IndexNotFound { level: at.level() })
}

fn factorial(p: usize) -> f64 {
    (1..=p).map(|x| x as f64).product()
}
