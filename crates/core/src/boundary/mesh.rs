//! Meshes: where a curve and one on half the intervals differ, and intervals that share the error evenly.

use super::curve::Curve;
use super::scheme::{K, SymmetricScheme};

/// An interval becomes at most this much longer or shorter at once.
const MOST_GROWTH: f64 = 3.0;
/// Neighbours differ in length by at most this factor.
const SMOOTH: f64 = 4.0;
/// Fewest intervals.
pub(super) const FEWEST: usize = 4;

/// Both halves of every interval.
pub(super) fn halved(mesh: &[f64]) -> Vec<f64> {
    let middles = mesh.windows(2).flat_map(|pair| [pair[0], 0.5 * (pair[0] + pair[1])]);
    middles.chain(mesh.last().copied()).collect()
}

/// The largest difference of two curves over every interval of the first, in units of the tolerance. The second has halves of these intervals.
pub(super) fn differences(
    scheme: &SymmetricScheme,
    coarse: &Curve,
    fine: &Curve,
    tolerances: &[(f64, f64)],
) -> Vec<f64> {
    let mut y = vec![0.0; coarse.n];
    let mut errors = vec![0.0_f64; coarse.intervals()];
    for half in 0..fine.intervals() {
        for l in 0..=K {
            let sigma = 0.5 * (scheme.lobatto[l] + (half % 2) as f64);
            coarse.combination(half / 2, &scheme.at(sigma), &mut y);
            for ((&(rtol, atol), y), exact) in tolerances.iter().zip(&y).zip(fine.point(half, l)) {
                let error = (y - exact).abs() / (atol + rtol * exact.abs());
                errors[half / 2] = errors[half / 2].max(error);
            }
        }
    }
    errors
}

/// Intervals over which the error is about `wanted`, if it is O(h^(K+1)) and was `errors` over those of a mesh; no longer than `longest`.
pub(super) fn redistributed(mesh: &[f64], errors: &[f64], wanted: f64, longest: impl Fn(f64) -> f64) -> Vec<f64> {
    let order = 1.0 / (K as f64 + 1.0);
    // intervals per unit of τ
    let mut density: Vec<f64> = mesh
        .windows(2)
        .zip(errors)
        .map(|(pair, error)| {
            let factor = (error / wanted).powf(order).clamp(1.0 / MOST_GROWTH, 2.0 * MOST_GROWTH);
            factor / (pair[1] - pair[0])
        })
        .collect();
    for k in 1..density.len() {
        density[k] = density[k].max(density[k - 1] / SMOOTH);
    }
    for k in (1..density.len()).rev() {
        density[k - 1] = density[k - 1].max(density[k] / SMOOTH);
    }
    for (density, pair) in density.iter_mut().zip(mesh.windows(2)) {
        *density = density.max(1.0 / longest(pair[0]));
    }
    let total: f64 = mesh.windows(2).zip(&density).map(|(pair, density)| (pair[1] - pair[0]) * density).sum();
    let count = (total.ceil() as usize).max(FEWEST);
    let each = total / count as f64;
    let mut next = vec![mesh[0]];
    let (mut k, mut left) = (0, mesh[0]);
    let mut room = density[0] * (mesh[1] - mesh[0]);
    for _ in 1..count {
        let mut wanted = each;
        while wanted > room && k + 1 < density.len() {
            wanted -= room;
            k += 1;
            left = mesh[k];
            room = density[k] * (mesh[k + 1] - mesh[k]);
        }
        left += wanted / density[k];
        room -= wanted;
        next.push(left);
    }
    next.push(mesh[mesh.len() - 1]);
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_become_short_where_the_error_is_large() {
        let mesh: Vec<f64> = (0..=10).map(|i| f64::from(i) / 10.0).collect();
        let mut errors = vec![1e-9; 10];
        errors[4] = 1e6;
        let next = redistributed(&mesh, &errors, 1.0, |_| 1.0);
        let length = |at: f64| next.windows(2).find(|pair| pair[0] <= at && at < pair[1]).map_or(0.0, |p| p[1] - p[0]);
        assert!(length(0.45) < 0.02 && length(0.05) > 0.1, "{next:?}");
        assert!(next.windows(2).all(|pair| pair[0] < pair[1]) && next[0] == 0.0 && *next.last().unwrap() == 1.0);
    }

    #[test]
    fn even_errors_keep_even_intervals() {
        let mesh: Vec<f64> = (0..=8).map(|i| f64::from(i) / 8.0).collect();
        let next = redistributed(&mesh, &[1.0; 8], 1.0, |_| 1.0);
        assert_eq!(next.len(), 9);
        assert!(next.iter().zip(&mesh).all(|(a, b)| (a - b).abs() < 1e-14));
    }
}
