//! Strangeness-free system of second order at a point, in the unknowns of the original one. Wunderlich, thesis (2008), Theorems 3.21
//! and 3.22; for nonlinear systems Hypothesis 3.26.
//!
//! ```text
//! Z₀ᵀ(M x″ + C x′ + K x) = Z₀ᵀf,    Ĉ₂ x′ + K̂₂ x = f̂₂,    K̂₃ x = f̂₃          d₂ + d₁ + a + v = m
//! ```
//! from left multiplications of the derivative array alone: no derivative of a computed transformation is needed.

use super::derivative_array::levels;
use super::{Expansion, SecondOrderError, SecondOrderValues, TripleArray};
use crate::blocks::below;
use daedal::linalg::{RankRule, Ranks};
use faer::{Col, Mat};

/// A strangeness-free system M̂ x″ + Ĉ x′ + K̂ x = f̂ with block rows d₂, d₁, a, v, of the size of the original one.
#[derive(Clone, Debug)]
pub struct StrangenessFreeTriple {
    /// Index and sizes.
    pub values: SecondOrderValues,
    /// M̂ = [Z₀ᵀM; 0; 0; 0].
    pub M: Mat<f64>,
    /// Ĉ = [Z₀ᵀC; Ĉ₂; 0; 0].
    pub C: Mat<f64>,
    /// K̂ = [Z₀ᵀK; K̂₂; K̂₃; 0].
    pub K: Mat<f64>,
    /// f̂; its last v entries are set to zero, see [`consistency_residual`](Self::consistency_residual).
    pub f: Vec<f64>,
    /// d/dt of Z₀ᵀM with Z₀ held fast, d₂ × n, where the derivative of M is known.
    pub M1_rate: Option<Mat<f64>>,
    /// Combinations of the rows of level 0, m × d₂.
    pub Z0: Mat<f64>,
    /// Combinations of the columns of Z₂, κ × d₁.
    pub Z1: Mat<f64>,
    /// Combinations of the rows of the array without x″ and higher, with x′.
    pub Z2: Mat<f64>,
    /// Combinations without x′ and higher, with x.
    pub Z3: Mat<f64>,
    /// Combinations without unknowns.
    pub Z4: Mat<f64>,
    /// Basis of kernel K̂₃.
    pub T3: Mat<f64>,
    /// Basis of kernel Ĉ₂T₃.
    pub T2: Mat<f64>,
    /// ‖Z₄ᵀg‖ / max(1, ‖g‖): what redundant equations leave; the system has a solution only if it vanishes.
    pub consistency_residual: f64,
    /// Unknowns of second order that equations of first order bind, rank(M T₃) − d₂: "sMC" strangeness. The reduction replaces them
    /// by unknowns of first order.
    pub converted: usize,
    /// Factors by which the equations were multiplied before anything else.
    pub row_factors: Vec<f64>,
    /// Rank decisions.
    pub ranks: Ranks,
}

impl StrangenessFreeTriple {
    /// M̂₁ = Z₀ᵀM, d₂ × n.
    pub fn M1(&self) -> Mat<f64> {
        self.M.get(..self.values.d2, ..).to_owned()
    }

    /// Ĉ₂, d₁ × n.
    pub fn C2(&self) -> Mat<f64> {
        let d2 = self.values.d2;
        self.C.get(d2..d2 + self.values.d1, ..).to_owned()
    }

    /// K̂₃, a × n.
    pub fn K3(&self) -> Mat<f64> {
        let first = self.values.d2 + self.values.d1;
        self.K.get(first..first + self.values.a, ..).to_owned()
    }

    /// Does the array of level μ + 1 give the same d₂, d₁, a and v? Then every solution of the reduced nonlinear system solves the
    /// original one, Theorems 3.29–3.31; where it does not, ranks change near the point.
    pub fn repeats_at(&self, next: &TripleArray) -> Result<bool, SecondOrderError> {
        let SecondOrderValues { mu, d2, d1, a, v, .. } = self.values;
        if next.level != mu + 1 || (next.rows, next.dim()) != (self.M.nrows(), self.M.ncols()) {
            let (m, n) = (self.M.nrows(), self.M.ncols());
            let expected = ((mu + 2) * m, (mu + 2) * n);
            let found = (next.M.nrows(), next.M.ncols());
            return Err(SecondOrderError::Size { what: "M_l", expected, found });
        }
        let parts = project(next, &next.mass, &mut Ranks::new(self.ranks.rule))?;
        let found = (parts.Z0.ncols(), parts.Z1.ncols(), parts.Z3.ncols(), parts.Z4.ncols());
        Ok(found == (d2, d1, a, self.Z4.ncols() + v))
    }

    /// [M̂₁; Ĉ₂; K̂₃], of full row rank.
    pub fn leading(&self) -> Mat<f64> {
        below(&[&self.M1(), &self.C2(), &self.K3()])
    }
}

/// Strangeness-free system at the point of the expansion. The levels tried are those the expansion gives derivatives for; rows are
/// equilibrated before.
///
/// ```
/// use daedal::linalg::{Mat, RankRule};
/// use daedal_pencils::second_order::{Constant, TripleCoefficients, strangeness_free};
/// // x₁″ + x₁′ + x₂ = f₁, x₁ = f₂ with f = (1, eᵗ): x₂ = f₁ − f₂′ − f₂″
/// let (mut M, mut K) = (Mat::zeros(2, 2), Mat::zeros(2, 2));
/// M[(0, 0)] = 1.0;
/// (K[(0, 1)], K[(1, 0)]) = (1.0, 1.0);
/// let f = |t: f64, l| (0..=l).map(|k| vec![if k == 0 { 1.0 } else { 0.0 }, t.exp()]).collect();
/// let system = Constant { C: M.clone(), M, K, f };
/// let found = strangeness_free(&system.expand(0.0, 4).unwrap(), RankRule::default()).unwrap();
/// assert_eq!(found.values.to_string(), "μ = 2, d₂ = 0, d₁ = 0, a = 2, v = 0, u = 0");
/// // K̂ x = f̂ holds for x = (1, −1)
/// let residual = |i: usize| found.K[(i, 0)] * 1.0 + found.K[(i, 1)] * -1.0 - found.f[i];
/// assert!(residual(0).abs() < 1e-14 && residual(1).abs() < 1e-14);
/// ```
pub fn strangeness_free(at: &Expansion, rule: RankRule) -> Result<StrangenessFreeTriple, SecondOrderError> {
    let (at, row_factors) = at.equilibrated();
    let mut found = strangeness_free_of_arrays(levels(&at), rule)?;
    found.M1_rate = at.M().get(1).map(|rate| found.Z0.transpose() * rate);
    found.row_factors = row_factors;
    Ok(found)
}

/// The same from arrays of levels 0, 1, …, as they come: for nonlinear systems from Jacobians of the derivatives at a point where these
/// vanish. The block rows of the result are then the derivatives of the reduced equations.
pub fn strangeness_free_of_arrays(
    arrays: impl IntoIterator<Item = Result<TripleArray, SecondOrderError>>,
    rule: RankRule,
) -> Result<StrangenessFreeTriple, SecondOrderError> {
    let mut ranks = Ranks::new(rule);
    let mut first: Option<TripleArray> = None;
    let (mut vanishing, mut level) = (0, 0);
    for array in arrays {
        let array = array?;
        let zeroth = first.get_or_insert_with(|| array.clone());
        let (m, n) = (zeroth.rows, zeroth.dim());
        if (array.rows, array.dim()) != (m, n) || array.level < level {
            let found = (array.rows, array.dim());
            return Err(SecondOrderError::Size { what: "the derivative array", expected: (m, n), found });
        }
        level = array.level;
        let parts = project(&array, &zeroth.mass, &mut ranks)?;
        let (d2, d1, a) = (parts.Z0.ncols(), parts.Z1.ncols(), parts.Z3.ncols());
        let all_vanishing = parts.Z4.ncols();
        if d2 + d1 + a + all_vanishing == m + vanishing {
            let v = all_vanishing - vanishing;
            let values = SecondOrderValues { mu: level, d2, d1, a, v, u: n - d2 - d1 - a };
            return Ok(assemble(values, &array, zeroth, parts, ranks));
        }
        vanishing = all_vanishing;
    }
    Err(SecondOrderError::IndexNotFound { level })
}

/// Projections of one level.
struct LevelProjections {
    Z0: Mat<f64>,
    Z1: Mat<f64>,
    Z2: Mat<f64>,
    Z3: Mat<f64>,
    Z4: Mat<f64>,
    T3: Mat<f64>,
    T2: Mat<f64>,
    second_order: usize,
}

fn project(array: &TripleArray, M: &Mat<f64>, ranks: &mut Ranks) -> Result<LevelProjections, SecondOrderError> {
    let scale = array.size();
    let Z = ranks.subspaces(&array.M, scale)?.corange;
    // rows with x′, rows without
    let of_L = ranks.subspaces(&(Z.transpose() * &array.L), scale)?;
    let (Z2, rest) = (&Z * &of_L.range, &Z * &of_L.corange);
    // rows with x, rows without
    let of_N = ranks.subspaces(&(rest.transpose() * &array.N), scale)?;
    let (Z3, Z4, T3) = (&rest * &of_N.range, &rest * &of_N.corange, of_N.kernel);
    // what the algebraic equations leave of the others
    let of_C = ranks.subspaces(&(Z2.transpose() * &array.L * &T3), scale)?;
    let (Z1, T2) = (of_C.range, of_C.kernel);
    let MT3 = M * &T3;
    let second_order = ranks.rank(&MT3, scale)?;
    let Z0 = ranks.subspaces(&(&MT3 * &T2), scale)?.range;
    Ok(LevelProjections { Z0, Z1, Z2, Z3, Z4, T3, T2, second_order })
}

fn assemble(
    values: SecondOrderValues,
    array: &TripleArray,
    zeroth: &TripleArray,
    parts: LevelProjections,
    ranks: Ranks,
) -> StrangenessFreeTriple {
    let LevelProjections { Z0, Z1, Z2, Z3, Z4, T3, T2, second_order } = parts;
    let SecondOrderValues { d2, d1, a, v, .. } = values;
    let (m, n) = (zeroth.rows, zeroth.dim());
    let first = &Z2 * &Z1;
    let zeros = |rows: usize| Mat::<f64>::zeros(rows, n);
    let M = below(&[&(Z0.transpose() * &zeroth.mass), &zeros(d1 + a + v)]);
    let C = below(&[&(Z0.transpose() * &zeroth.L), &(first.transpose() * &array.L), &zeros(a + v)]);
    let K = below(&[
        &(Z0.transpose() * &zeroth.N),
        &(first.transpose() * &array.N),
        &(Z3.transpose() * &array.N),
        &zeros(v),
    ]);
    let column = |g: &[f64]| Col::from_fn(g.len(), |i| g[i]);
    let (g0, g) = (column(&zeroth.g), column(&array.g));
    let mut f = Vec::with_capacity(m);
    for part in [Z0.transpose() * &g0, first.transpose() * &g, Z3.transpose() * &g] {
        f.extend(part.iter());
    }
    f.resize(m, 0.0);
    let consistency_residual = (Z4.transpose() * &g).norm_l2() / g.norm_l2().max(1.0);
    let converted = second_order - d2;
    StrangenessFreeTriple {
        values,
        M,
        C,
        K,
        f,
        M1_rate: None,
        Z0,
        Z1,
        Z2,
        Z3,
        Z4,
        T3,
        T2,
        consistency_residual,
        converted,
        row_factors: vec![1.0; m],
        ranks,
    }
}
