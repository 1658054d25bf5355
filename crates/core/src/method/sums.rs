//! Sums of vectors that stand one behind the other, in one pass over their components.

/// An expression for a number of unknowns that the compiler knows, up to eight, or else for any: loops over a few unknowns become straight. Not with
/// more stages than [`FEW_STAGES`].
macro_rules! of_length {
    ($n:ident, $stages:expr => $body:expr) => {
        of_length!(@ $n, $stages => $body; 1 2 3 4 5 6 7 8)
    };
    (@ $n:ident, $stages:expr => $body:expr; $($number:literal)*) => {
        match $n {
            $($number if $stages <= $crate::method::sums::FEW_STAGES => {
                let $n: usize = $number;
                $body
            })*
            $n => $body,
        }
    };
}
pub(crate) use of_length;

/// With more stages what is done for one unknown is long enough: nothing is gained by a copy for every number of unknowns.
pub(crate) const FEW_STAGES: usize = 3;

/// out = Σⱼ wⱼ Vⱼ of vectors that stand one behind the other; 1, 3, 5 or 7 weights.
pub(crate) fn combine(weights: &[f64], vectors: &[f64], out: &mut [f64]) {
    match weights.len() {
        1 => combine_of::<1>(weights, vectors, out),
        3 => combine_of::<3>(weights, vectors, out),
        5 => combine_of::<5>(weights, vectors, out),
        _ => combine_of::<7>(weights, vectors, out),
    }
}

fn combine_of<const S: usize>(weights: &[f64], vectors: &[f64], out: &mut [f64]) {
    let (n, w) = (out.len(), std::array::from_fn(|j| weights[j]));
    of_length!(n, S => combine_at::<S>(n, &w, vectors, out));
}

#[inline(always)]
fn combine_at<const S: usize>(n: usize, w: &[f64; S], vectors: &[f64], out: &mut [f64]) {
    let (V, out) = (self::vectors::<S>(vectors, n), &mut out[..n]);
    for i in 0..n {
        out[i] = sum_of(w, &V.map(|v| v[i]));
    }
}

/// (T ⊗ I) V of 1, 3, 5 or 7 vectors that stand one behind the other.
pub(crate) fn transform(T: &[f64], vectors: &[f64], out: &mut [f64]) {
    match T.len() {
        1 => transform_of::<1>(T, vectors, out),
        9 => transform_of::<3>(T, vectors, out),
        25 => transform_of::<5>(T, vectors, out),
        _ => transform_of::<7>(T, vectors, out),
    }
}

fn transform_of<const S: usize>(T: &[f64], vectors: &[f64], out: &mut [f64]) {
    let (n, T) = (out.len() / S, square::<S>(T));
    of_length!(n, S => transform_at::<S>(n, &T, vectors, out));
}

#[inline(always)]
fn transform_at<const S: usize>(n: usize, T: &[[f64; S]; S], vectors: &[f64], out: &mut [f64]) {
    let (V, out) = (self::vectors::<S>(vectors, n), parts::<S>(out, n));
    // component by component, so that each is read once
    for i in 0..n {
        let v = V.map(|v| v[i]);
        for j in 0..S {
            out[j][i] = sum_of(&T[j], &v);
        }
    }
}

/// W ← W + ΔW, then (T ⊗ I) W, of 1, 3, 5 or 7 vectors that stand one behind the other.
pub(crate) fn add_and_transform(T: &[f64], dW: &[f64], W: &mut [f64], out: &mut [f64]) {
    match T.len() {
        1 => add_and_transform_of::<1>(T, dW, W, out),
        9 => add_and_transform_of::<3>(T, dW, W, out),
        25 => add_and_transform_of::<5>(T, dW, W, out),
        _ => add_and_transform_of::<7>(T, dW, W, out),
    }
}

fn add_and_transform_of<const S: usize>(T: &[f64], dW: &[f64], W: &mut [f64], out: &mut [f64]) {
    let (n, T) = (out.len() / S, square::<S>(T));
    of_length!(n, S => add_and_transform_at::<S>(n, &T, dW, W, out));
}

#[inline(always)]
fn add_and_transform_at<const S: usize>(n: usize, T: &[[f64; S]; S], dW: &[f64], W: &mut [f64], out: &mut [f64]) {
    let (dW, W, out) = (vectors::<S>(dW, n), parts::<S>(W, n), parts::<S>(out, n));
    for i in 0..n {
        let w: [f64; S] = std::array::from_fn(|j| W[j][i] + dW[j][i]);
        for j in 0..S {
            W[j][i] = w[j];
            out[j][i] = sum_of(&T[j], &w);
        }
    }
}

/// A square matrix, row by row.
#[inline(always)]
pub(crate) fn square<const S: usize>(T: &[f64]) -> [[f64; S]; S] {
    std::array::from_fn(|j| std::array::from_fn(|k| T[S * j + k]))
}

/// Vectors of n components that stand one behind the other.
#[inline(always)]
pub(crate) fn vectors<const S: usize>(all: &[f64], n: usize) -> [&[f64]; S] {
    let all = &all[..S * n];
    std::array::from_fn(|j| &all[j * n..][..n])
}

/// The same, to be written.
#[inline(always)]
pub(crate) fn parts<const S: usize>(mut all: &mut [f64], n: usize) -> [&mut [f64]; S] {
    std::array::from_fn(|_| {
        let (first, behind) = std::mem::take(&mut all).split_at_mut(n);
        all = behind;
        first
    })
}

/// Σⱼ wⱼ vⱼ.
#[inline(always)]
pub(crate) fn sum_of<const S: usize>(w: &[f64; S], v: &[f64; S]) -> f64 {
    let mut sum = w[0] * v[0];
    for j in 1..S {
        sum += w[j] * v[j];
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_numbers_of_unknowns_and_of_stages_have_the_same_sums() {
        for s in [1, 3, 5, 7] {
            for n in 0..11 {
                let numbers =
                    |count: usize, by: f64| (0..count).map(|i| (by * i as f64 + 1.0).sin()).collect::<Vec<f64>>();
                let (T, V, dV) = (numbers(s * s, 0.7), numbers(s * n, 1.3), numbers(s * n, 0.4));
                let expected = |V: &[f64]| -> Vec<f64> {
                    let sum = |j: usize, i: usize| (0..s).map(|k| T[s * j + k] * V[k * n + i]).reduce(|a, b| a + b);
                    (0..s).flat_map(|j| (0..n).map(move |i| (j, i))).filter_map(|(j, i)| sum(j, i)).collect()
                };
                let mut out = vec![0.0; s * n];
                transform(&T, &V, &mut out);
                assert_eq!(out, expected(&V), "{s} stages, {n} unknowns");
                let mut first = vec![0.0; n];
                combine(&T[..s], &V, &mut first);
                assert_eq!(first, out[..n]);
                let sum: Vec<f64> = V.iter().zip(&dV).map(|(v, d)| v + d).collect();
                let mut W = V.clone();
                add_and_transform(&T, &dV, &mut W, &mut out);
                assert_eq!((&W, &out), (&sum, &expected(&sum)), "{s} stages, {n} unknowns");
            }
        }
    }
}
