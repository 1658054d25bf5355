//! ẋ at a consistent point of a system of index one: G(t, x, ẋ) = 0 in rows with derivatives, d/dt g(t, x) = 0 in algebraic rows.
//!
//! Newton's method with (E₁; −A₂), the iteration matrix for h = 0; the derivative of g along ẋ is a difference quotient.

use crate::dae::{Dae, Pencil};
use crate::error::StepFailure;
use crate::linalg::IterationMatrix;

/// Most iterations.
const MOST: u32 = 8;
/// Relative change at which ẋ is good enough for a Jacobian and a first step.
const ENOUGH: f64 = 1e-6;

/// Improve the guess `xdot`. A system whose rows do not show its constraints keeps the guess. `pencil` and `matrix` are changed.
pub fn recover(
    dae: &mut dyn Dae,
    pencil: &mut Pencil,
    matrix: &mut IterationMatrix<f64>,
    (t, x): (f64, &[f64]),
    xdot: &mut [f64],
) -> Result<(), StepFailure> {
    let n = x.len();
    let (mut r, mut ahead, mut x_ahead) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    let size = xdot.iter().chain(x).fold(1.0_f64, |m, x| m.max(x.abs()));
    let delta = f64::EPSILON.sqrt() * (1.0 + t.abs()) / size;
    for _ in 0..MOST {
        dae.pencil(t, x, xdot, pencil)?;
        if matrix.decompose(pencil, 1.0, 0.0).is_err() {
            return Ok(());
        }
        let undefined = |_| StepFailure::Undefined { t };
        dae.residual(0, t, x, xdot, &mut r).map_err(undefined)?;
        for ((ahead, x), d) in x_ahead.iter_mut().zip(x).zip(xdot.iter()) {
            *ahead = x + delta * d;
        }
        let defined = dae.residual(0, t + delta, &x_ahead, xdot, &mut ahead).is_ok();
        for (i, r) in r.iter_mut().enumerate() {
            if dae.algebraic(i) {
                *r = if defined { (ahead[i] - *r) / delta } else { 0.0 };
            }
        }
        matrix.solve(&mut r);
        if r.iter().any(|d| !d.is_finite()) {
            return Ok(());
        }
        let (mut change, mut largest) = (0.0_f64, 0.0_f64);
        for (xdot, d) in xdot.iter_mut().zip(&r) {
            *xdot -= d;
            change = change.max(d.abs());
            largest = largest.max(xdot.abs());
        }
        if change <= ENOUGH * largest || largest == 0.0 {
            break;
        }
    }
    Ok(())
}
