//! The way of a jump where what impulses keep changes along it.
//!
//! A leading matrix E(x) that depends on what jumps makes N depend on it: N(x) dx = 0 along the jump keeps a charge q(u), while N of its begin
//! would keep q'(u⁻) u. On the way constraints fall in proportion, G₂(x(s)) = (1 − s) G₂(x⁻), so that
//!
//! N(x) x' = 0,   C(x) x' = −G₂(x)/(1 − s),   0 ≤ s ≤ 1.
//!
//! Where N consists of gradients, in whatever combination, the end does not depend on the way. The equations are solved by Ralston's method of
//! order three (Mathematics of Computation 16, 1962), whose stages lie before s = 1, in 1, 2, 4, … pieces; results are extrapolated until
//! two of them agree.

use super::error::EnterError;
use super::jumping::{Jumping, KeptAt};

/// The way is halved this often at most. Three to five are usual; near a singular leading matrix a thousand pieces are needed.
const HALVINGS: u32 = 10;
/// Order of the method; every extrapolation adds one.
const ORDER: i32 = 3;
/// Results agree that differ by less than this part of the tolerances, so that the jump is more exact than the steps around it.
const AGREE: f64 = 0.1;

/// Where a jump from x⁻ ends, up to what one step of Newton's method mends. `scale` is rtol |x| + atol of an unknown with a value.
pub(super) fn end_of_way(
    jumping: &mut Jumping,
    from: &[f64],
    xdot: &[f64],
    kept: &mut KeptAt,
    scale: &dyn Fn(usize, f64) -> f64,
) -> Result<Vec<f64>, EnterError> {
    let mut coarse: Vec<Vec<f64>> = Vec::new();
    for halvings in 0..=HALVINGS {
        let mut fine = vec![travel(jumping, from, xdot, kept, 1 << halvings)?];
        for (k, coarse) in (0..).zip(&coarse) {
            let gain = 2.0_f64.powi(ORDER + k) - 1.0;
            fine.extend(fine.last().map(|fine| fine.iter().zip(coarse).map(|(a, b)| a + (a - b) / gain).collect()));
        }
        if let (Some(end), Some(before)) = (fine.last(), coarse.last()) {
            let close = |j: usize| (end[j] - before[j]).abs() <= AGREE * scale(j, end[j]);
            if (0..end.len()).all(|j| close(j) || !jumping.system.dae.in_error_norm(j)) {
                return Ok(end.clone());
            }
        }
        coarse = fine;
    }
    let reason = "what they keep depends on what jumps, and the way of the jump could not be followed".into();
    Err(EnterError::Impulses { reason })
}

/// From s = 0 to s = 1 in equal pieces.
fn travel(
    jumping: &mut Jumping,
    from: &[f64],
    xdot: &[f64],
    kept: &mut KeptAt,
    pieces: u32,
) -> Result<Vec<f64>, EnterError> {
    let (mut x, h) = (from.to_vec(), 1.0 / f64::from(pieces));
    jumping.system.xdot.copy_from_slice(xdot);
    let moved = |x: &[f64], by: f64, k: &[f64]| -> Vec<f64> { x.iter().zip(k).map(|(x, k)| x + by * k).collect() };
    for piece in 0..pieces {
        let s = f64::from(piece) * h;
        let k1 = direction(jumping, &x, kept, s)?;
        let k2 = direction(jumping, &moved(&x, 0.5 * h, &k1), kept, s + 0.5 * h)?;
        let k3 = direction(jumping, &moved(&x, 0.75 * h, &k2), kept, s + 0.75 * h)?;
        for (j, x) in x.iter_mut().enumerate() {
            *x += h / 9.0 * (2.0 * k1[j] + 3.0 * k2[j] + 4.0 * k3[j]);
        }
    }
    Ok(x)
}

/// x' at s.
fn direction(jumping: &mut Jumping, x: &[f64], kept: &mut KeptAt, s: f64) -> Result<Vec<f64>, EnterError> {
    jumping.begin(x, kept)?;
    Ok(jumping.step(x)?.iter().map(|step| step / (1.0 - s)).collect())
}
