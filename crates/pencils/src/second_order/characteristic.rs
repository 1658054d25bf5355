//! Index and characteristic values from ranks of derivative arrays. Wunderlich, thesis (2008), Theorem 3.19 and Corollary 3.20.
//!
//! ```text
//! ρ₁ = rank M_l,  ρ₂ = rank [M_l L_l],  ρ₃ = rank [M_l L_l N_l]
//! c_l = Δ(ρ₃ − ρ₂),  q_l = Δ(ρ₂ − ρ₁),  σ_l = c_l − rank V₃ᵀN_lV₄,  τ_l = q_l − rank V₁ᵀL_lV₂
//! ```
//! μ is the first level with σ = τ = 0. Proved for μ ≤ 2.

use super::derivative_array::levels;
use super::{Expansion, SecondOrderError, SecondOrderValues, TripleArray};
use crate::blocks::beside;
use daedal::linalg::{RankRule, Ranks};

/// Ranks of one level and what follows from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelRanks {
    /// ρ₁, ρ₂, ρ₃.
    pub rho: [usize; 3],
    /// New algebraic equations.
    pub c: i64,
    /// New equations of first order.
    pub q: i64,
    /// Algebraic equations that meet differential ones.
    pub sigma: i64,
    /// Equations of first order that meet others of second order.
    pub tau: i64,
    /// New vanishing equations.
    pub v: i64,
}

/// All levels up to μ, and the characteristic values.
#[derive(Clone, Debug, PartialEq)]
pub struct CharacteristicTable {
    /// Characteristic values.
    pub values: SecondOrderValues,
    /// Levels 0..=μ.
    pub levels: Vec<LevelRanks>,
    /// Rank decisions.
    pub ranks: Ranks,
}

/// Characteristic values of the system at the point of the expansion, after equilibration of its rows.
pub fn characteristic_values(at: &Expansion, rule: RankRule) -> Result<CharacteristicTable, SecondOrderError> {
    let (at, _) = at.equilibrated();
    characteristic_values_of_arrays(levels(&at), rule)
}

/// The same from arrays of levels 0, 1, …, as they come.
pub fn characteristic_values_of_arrays(
    arrays: impl IntoIterator<Item = Result<TripleArray, SecondOrderError>>,
    rule: RankRule,
) -> Result<CharacteristicTable, SecondOrderError> {
    let mut ranks = Ranks::new(rule);
    let mut found: Vec<LevelRanks> = Vec::new();
    for array in arrays {
        let array = array?;
        let (m, n) = (array.rows, array.dim());
        let level = level_ranks(&array, found.last().map(|level| level.rho), &mut ranks)?;
        let before = found.last().map_or([0, 0, 0], |level| level.rho);
        found.push(level);
        if level.sigma == 0 && level.tau == 0 {
            let [rho1, rho2, rho3] = level.rho;
            let a = rho3 - rho2;
            let d1 = (rho2 - rho1) as i64 - (before[2] - before[1]) as i64;
            let d2 = m as i64 - a as i64 - d1 - level.v;
            let u = n as i64 - a as i64 - d1 - d2;
            let count =
                |x: i64| usize::try_from(x).map_err(|_| SecondOrderError::IndexNotFound { level: found.len() - 1 });
            let values = SecondOrderValues {
                mu: found.len() - 1,
                d2: count(d2)?,
                d1: count(d1)?,
                a,
                v: count(level.v)?,
                u: count(u)?,
            };
            return Ok(CharacteristicTable { values, levels: found, ranks });
        }
    }
    Err(SecondOrderError::IndexNotFound { level: found.len().max(1) - 1 })
}

fn level_ranks(
    array: &TripleArray,
    before: Option<[usize; 3]>,
    ranks: &mut Ranks,
) -> Result<LevelRanks, SecondOrderError> {
    let (m, n, scale) = (array.rows, array.dim(), array.size());
    let of_M = ranks.subspaces(&array.M, scale)?;
    let (V1, V2) = (&of_M.corange, &of_M.kernel);
    let rho2 = ranks.rank(&beside(&[&array.M, &array.L]), scale)?;
    let rho3 = ranks.rank(&beside(&[&array.M, &array.L, &array.N]), scale)?;
    let rho = [of_M.rank, rho2, rho3];
    let [before1, before2, before3] = before.unwrap_or([0, 0, 0]).map(|rho| rho as i64);
    let [rho1, rho2, rho3] = rho.map(|rho| rho as i64);
    let c = (rho3 - rho2) - (before3 - before2);
    let q = (rho2 - rho1) - (before2 - before1);
    let v = m as i64 - (rho3 - before3);

    // L_l and N_l act on the first n rows of vectors in the inflated space
    let top = V2.get(..n, ..);
    let V1L = V1.transpose() * &array.L;
    let of_LtV1 = ranks.subspaces(&V1L, scale)?;
    let V3 = V1 * &of_LtV1.corange;
    let of_V1LV2 = ranks.subspaces(&(&V1L * top), scale)?;
    let V4 = top * &of_V1LV2.kernel;
    let algebraic = ranks.rank(&(V3.transpose() * &array.N * V4), scale)?;
    Ok(LevelRanks { rho, c, q, sigma: c - algebraic as i64, tau: q - of_V1LV2.rank as i64, v })
}
