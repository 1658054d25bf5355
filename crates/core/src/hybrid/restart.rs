//! Consistent states when a mode is entered: x near x̃ with 0 = G₂(t, x), the algebraic rows of a system of index at most one.
//!
//! Newton's method with steps δ that satisfy C δ = −G₂, C = ∂G₂/∂x of full row rank. What else they satisfy is the way to restart:
//!
//! | way | step | what stays |
//! | --- | --- | --- |
//! | impulse | N δ = 0, N of the original equations at x̃, or along the way (`way.rs`) | N x̃: what impulses cannot change |
//! | differential | E₁ δ = 0 | E₁ x̃, the differential part; E₁ is that of x̃ |
//! | least change | ‖δ‖ smallest: δ = −C⁺G₂ | as much as possible of every component |
//! | states | the smallest δ of unknowns whose derivatives occur | as much as possible of these |
//! | weighted | Σ (wⱼ δⱼ)² smallest | as much as possible, relative to the tolerances |
//! | tangential | T̃₂ᵀδ = 0, T̃₂ = kernel C at the result of the least change | T̃₂ᵀx̃ exactly |
//!
//! Wunderlich, thesis (2008), Remark 5.27 (the first two, for linear systems), (5.20) and (5.21). A step of least change lies in the range of
//! Cᵀ, which turns on the way along curved constraints; with T̃₂ fixed all steps lie in the range of C̃ᵀ, so that (5.21) is the same iteration
//! with C̃ kept in that place. For linear constraints both are the same.
//!
//! Components that must not change lose their columns: the rest of C must have full row rank still (Wunderlich, 5.2.2). Together with
//! E₁ δ = 0 there are more equations than unknowns then: C δ = −G₂ holds, and ‖E₁ δ‖ is the smallest in every step.

use super::error::EnterError;
use super::jumping::Jumping;
use super::options::Restart;
use super::way::end_of_way;
use crate::consistent::{Requirements, residual};
use crate::dae::Dae;
use crate::error::StepFailure;
use crate::linalg::{Mat, RankRule};

/// Constraints that hold up to this are cleaned of rounding only: any way does.
const CLEAN: f64 = 1e-12;

/// Move x onto all constraints of a system, the hidden ones included; a state that satisfies them to rounding stays as it is.
///
/// `kept` are numbers and names of components that must not change. If the constraints do not hold and cannot be made to hold without
/// them, they are refused ([`EnterError::Kept`]). `weights` are 1/(rtol |xⱼ| + atol), used by [`Restart::Weighted`] only. `xdot` is a
/// guess of ẋ; it changes only where constraints are hidden in rows that contain ẋ, and is not the derivative of the new state.
/// Bookkeeping ([`Dae::in_error_norm`]) changes as it must. The system is told that the state has jumped. [`Restart::Momentum`] has no meaning
/// for general systems; for [`Restart::Impulse`] and [`Restart::States`] a system of index at most one does not tell enough: what
/// is kept must be given.
///
/// ```
/// use daedal::dae::{Equations, Form, System, prepare};
/// use daedal::hybrid::{Restart, make_consistent};
/// use daedal::linalg::RankRule;
/// use daedal::scalar::Scalar;
/// use daedal::Initial;
///
/// /// x' = y, 0 = x² + y² − 1.
/// struct Circle;
/// impl Equations for Circle {
///     fn dim(&self) -> usize { 2 }
///     fn residual<S: Scalar>(&self, _t: S, x: &[S], xdot: &[S], r: &mut [S]) {
///         r[0] = xdot[0] - x[1];
///         r[1] = x[0].square() + x[1].square() - 1.0;
///     }
/// }
/// let mut circle = prepare(&System::of(&Circle), &Initial::new(0.0, &[0.6, 0.8]), Form::Plain)?;
/// let (mut x, mut xdot) = ([0.8, 0.7], [0.0, 0.0]);
/// make_consistent(&mut *circle.dae, 0.0, &mut x, &mut xdot, Restart::Differential, &[], &[1.0, 1.0], RankRule::default())?;
/// assert!(x[0] == 0.8 && (x[1] - 0.6).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[allow(clippy::too_many_arguments)] // a point, and what is known about it
pub fn make_consistent(
    dae: &mut dyn Dae,
    t: f64,
    x: &mut [f64],
    xdot: &mut [f64],
    restart: Restart,
    kept: &[(usize, &str)],
    weights: &[f64],
    ranks: RankRule,
) -> Result<(), EnterError> {
    check(dae, t, x, &[xdot.len(), weights.len()])?;
    match restart {
        Restart::Momentum => return Err(EnterError::NoMomentum),
        Restart::Impulse | Restart::States => {
            let reason = "what they leave alone follows from the original equations".into();
            return Err(EnterError::Impulses { reason });
        }
        _ => {}
    }
    let mut jumping = Jumping::new(dae, t, x, xdot, kept, ranks);
    if restart == Restart::Weighted {
        // what has no weight may change by any amount
        let [counted, light] = &mut jumping.freedom.classes[..] else { unreachable!("two classes") };
        light.extend(counted.extract_if(.., |j| weights[*j] == 0.0));
        light.sort_unstable();
        jumping.freedom.units = Some(weights.iter().map(|&w| if w > 0.0 { 1.0 / w } else { 1.0 }).collect());
    }
    if restart == Restart::Differential {
        jumping.system.linearise(x)?;
        jumping.keep_differential_part();
    }
    let start = x.to_vec();
    jumping.solve(x)?;
    if restart == Restart::Tangential {
        jumping.system.linearise(x)?;
        jumping.keep_tangent()?;
        x.copy_from_slice(&start);
        jumping.solve(x)?;
    }
    xdot.copy_from_slice(&jumping.system.xdot);
    jumping.system.dae.jumped(t, x);
    Ok(())
}

/// Move x onto all constraints of a system while combinations N x keep their values, such as those that impulses cannot change. N has as many
/// columns as there are unknowns; auxiliary unknowns behind them follow. It is asked for only if constraints do not hold; without any,
/// the differential part is kept. `kept` as in [`make_consistent`].
#[allow(clippy::type_complexity)] // a function, written out where it is called
pub fn make_consistent_keeping(
    dae: &mut dyn Dae,
    t: f64,
    x: &mut [f64],
    xdot: &mut [f64],
    combinations: &mut dyn FnMut(&[f64], &[f64]) -> Result<Option<Mat<f64>>, EnterError>,
    kept: &[(usize, &str)],
    ranks: RankRule,
) -> Result<(), EnterError> {
    check(dae, t, x, &[xdot.len()])?;
    let mut jumping = Jumping::new(dae, t, x, xdot, kept, ranks);
    // combinations are asked for only if constraints do not hold
    jumping.begin(x, &mut |jumping, x| {
        let found = if residual(&jumping.system) > CLEAN { combinations(x, &jumping.system.xdot)? } else { None };
        fitting(jumping, x, found)
    })?;
    jumping.solve(x)?;
    xdot.copy_from_slice(&jumping.system.xdot);
    jumping.system.dae.jumped(t, x);
    Ok(())
}

/// The same where combinations depend on what jumps: they are followed along the jump if those at its begin are not those at its end.
/// `scale` is rtol |x| + atol of an unknown with a value.
#[allow(clippy::type_complexity)] // a function, written out where it is called
#[allow(clippy::too_many_arguments)] // a point, and what is known about it
pub(super) fn make_consistent_following(
    dae: &mut dyn Dae,
    t: f64,
    x: &mut [f64],
    xdot: &mut [f64],
    combinations: &mut dyn FnMut(&[f64], &[f64]) -> Result<Option<Mat<f64>>, EnterError>,
    kept: &[(usize, &str)],
    scale: &dyn Fn(usize, f64) -> f64,
    ranks: RankRule,
) -> Result<(), EnterError> {
    let (from, guess) = (x.to_vec(), xdot.to_vec());
    make_consistent_keeping(dae, t, x, xdot, combinations, kept, ranks)?;
    let change: Vec<f64> = x.iter().zip(&from).map(|(x, from)| x - from).collect();
    let scales: Vec<f64> = (0..x.len()).map(|j| scale(j, x[j])).collect();
    let mut jumping = Jumping::new(dae, t, x, xdot, kept, ranks);
    let mut always = |jumping: &Jumping, x: &[f64]| fitting(jumping, x, combinations(x, &jumping.system.xdot)?);
    let jumps = (0..x.len()).any(|j| jumping.system.dae.in_error_norm(j) && change[j].abs() > scales[j]);
    if jumps {
        let halfway: Vec<f64> = from.iter().zip(&change).map(|(from, change)| from + 0.5 * change).collect();
        let mut same = true;
        for point in [&halfway[..], x] {
            jumping.system.xdot.copy_from_slice(xdot);
            jumping.begin(point, &mut always)?;
            same &= jumping.satisfies(&change, &scales);
        }
        if !same {
            x.copy_from_slice(&end_of_way(&mut jumping, &from, &guess, &mut always, scale)?);
            jumping.system.xdot.copy_from_slice(&guess);
            jumping.begin(x, &mut always)?;
            jumping.solve(x)?;
            xdot.copy_from_slice(&jumping.system.xdot);
        }
        jumping.system.dae.jumped(t, x);
    }
    Ok(())
}

/// Combinations that were found, with zeros for auxiliary unknowns. There must be as many as the constraints leave free.
fn fitting(jumping: &Jumping, x: &[f64], found: Option<Mat<f64>>) -> Result<Option<Mat<f64>>, EnterError> {
    let Some(N) = found else { return Ok(None) };
    let (n, a) = (x.len(), jumping.system.values().len());
    if N.nrows() + a > n {
        let (kept, free) = (N.nrows(), n - a);
        let reason = format!("{kept} combinations would be kept, but the constraints leave {free} free");
        return Err(EnterError::Impulses { reason });
    }
    Ok(Some(Mat::from_fn(N.nrows(), n, |i, j| if j < N.ncols() { N[(i, j)] } else { 0.0 })))
}

/// Lengths and values.
fn check(dae: &dyn Dae, t: f64, x: &[f64], lengths: &[usize]) -> Result<(), EnterError> {
    let wanted = dae.dim();
    if let Some(&given) = [x.len()].iter().chain(lengths).find(|&&given| given != wanted) {
        return Err(EnterError::Length { given, wanted });
    }
    if x.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(StepFailure::Undefined { t }.into()) }
}
