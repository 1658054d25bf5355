//! How fast things happen at the start: eigenvalues of the motion linearised in local coordinates.
//!
//! With orthonormal bases Q_p of ker G and Q_v of ker K, (Q_pᵀp, Q_vᵀv, r) are local coordinates of the motion. A change (ξ, η, ρ)
//! of them moves
//!
//! ```text
//! δp = Q_p ξ,   δs = −c_s⁻¹c_p δp,   δv = Q_v η − K⁺ (∂(gI, h)/∂p) δp,   δr = ρ
//! ```
//! and δ(a, w, λ, μ) follows from the dynamic equations, d, gII and hI. The rates of the coordinates are then the matrix whose
//! eigenvalues are told. At an equilibrium they do not depend on the coordinates; elsewhere they are estimates that do, and that
//! change along the motion.

use super::linearised::Linearised;
use crate::linalg::rank::{Decomposed, Scaling};
use crate::linalg::{Matrix, eigenvalues};
use faer::Mat;
use std::f64::consts::TAU;

/// Eigenvalues below this part of the largest are not told from zero: a double zero moves by √ε.
const ZERO: f64 = 1e-7;
/// What changes by less than this within the interval counts as zero.
const IDLE: f64 = 1e-3;
/// Ratio of rates from which a system is called stiff, and mildly stiff.
const STIFF: f64 = 1e3;
const MILDLY_STIFF: f64 = 30.0;

/// How stiff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stiffness {
    /// No decay is much faster than the rest.
    NotStiff,
    /// Explicit methods lose some efficiency.
    Mild,
    /// Explicit methods need far more steps than the solution.
    Stiff,
}

/// One real eigenvalue or one pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mode {
    /// Real part.
    pub re: f64,
    /// Imaginary part, not negative; a pair if positive.
    pub im: f64,
}

impl Mode {
    /// |re ± i im|.
    pub fn magnitude(&self) -> f64 {
        self.re.hypot(self.im)
    }

    /// 1/|re|: the time in which it decays or grows by e; `None` if it does neither.
    pub fn time_constant(&self) -> Option<f64> {
        (self.re.abs() > ZERO * self.magnitude()).then(|| 1.0 / self.re.abs())
    }

    /// Oscillations per unit of time; `None` if it does not oscillate.
    pub fn frequency(&self) -> Option<f64> {
        (self.im > 0.0).then(|| self.im / TAU)
    }

    /// −re/|re ± i im|: 0 undamped, 1 no oscillation, negative growing.
    pub fn damping(&self) -> f64 {
        if self.magnitude() > 0.0 { -self.re / self.magnitude() } else { 0.0 }
    }
}

/// Time scales of the motion at the start.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeScales {
    /// Eigenvalues, the largest first, pairs once.
    pub modes: Vec<Mode>,
    /// Number of eigenvalues: freedom in position and velocity, and dynamic force elements.
    pub dimension: usize,
    /// Magnitudes up to this count as zero: not told from it, or without effect in the interval.
    pub zero: f64,
    /// Length of the interval.
    pub interval: f64,
    /// Time constant of the fastest decay.
    pub fastest_decay: Option<f64>,
    /// 1/|eigenvalue| of the slowest mode that is not zero.
    pub slowest: Option<f64>,
    /// Highest frequency, oscillations per unit of time.
    pub highest_frequency: Option<f64>,
    /// Time constant of the fastest growth.
    pub fastest_growth: Option<f64>,
    /// Rate of the fastest decay over that of the slowest mode, no slower than the interval.
    pub stiffness_ratio: Option<f64>,
    /// What follows from it.
    pub stiffness: Stiffness,
}

/// Linearise the motion at a point; `None` if accelerations are not determined there, or if the system is large.
pub(super) fn time_scales(at: &Linearised, interval: f64) -> Option<TimeScales> {
    if at.means.sparse {
        return None;
    }
    Some(TimeScales::of(&eigenvalues(&reduced(at)?).ok()?, interval))
}

impl TimeScales {
    /// Of eigenvalues, the largest first, for an interval.
    pub(crate) fn of(values: &[(f64, f64)], interval: f64) -> Self {
        let largest = values.first().map_or(0.0, |z| z.0.hypot(z.1));
        let modes: Vec<Mode> = values.iter().filter(|z| z.1 >= 0.0).map(|&(re, im)| Mode { re, im }).collect();
        let idle = if interval > 0.0 { IDLE / interval } else { 0.0 };
        let zero = idle.max(ZERO * largest);
        let nonzero = || modes.iter().filter(|mode| mode.magnitude() > zero);
        let rate =
            |sign: f64| nonzero().filter(|m| m.time_constant().is_some()).map(|m| sign * m.re).fold(0.0, f64::max);
        let positive = |x: f64| (x > 0.0).then_some(x);
        let decay = positive(rate(-1.0));
        let slowest = nonzero().map(Mode::magnitude).fold(f64::INFINITY, f64::min);
        let slow_rate = if interval > 0.0 { slowest.max(1.0 / interval) } else { slowest };
        let stiffness_ratio = decay.map(|rate| rate / slow_rate.min(rate));
        TimeScales {
            dimension: values.len(),
            zero,
            interval,
            fastest_decay: decay.map(|rate| 1.0 / rate),
            slowest: slowest.is_finite().then(|| 1.0 / slowest),
            highest_frequency: positive(nonzero().filter_map(Mode::frequency).fold(0.0, f64::max)),
            fastest_growth: positive(rate(1.0)).map(|rate| 1.0 / rate),
            stiffness: match stiffness_ratio {
                Some(ratio) if ratio >= STIFF => Stiffness::Stiff,
                Some(ratio) if ratio >= MILDLY_STIFF => Stiffness::Mild,
                _ => Stiffness::NotStiff,
            },
            stiffness_ratio,
            modes,
        }
    }
}

/// The matrix of the motion in local coordinates.
fn reduced(at: &Linearised) -> Option<Matrix> {
    let l = &at.layout;
    let velocity_rows = l.row_g1().start..l.row_h().end;
    // s follows p
    let contact = Decomposed::of(&at.block(l.row_contact(), l.s()), Scaling::Both, at.means.ranks)?;
    let contact_p = contact.solve(&-at.block(l.row_contact(), l.p()));
    let along = |rows: std::ops::Range<usize>| at.block(rows.clone(), l.p()) + at.block(rows, l.s()) * &contact_p;
    // directions of p and v that the constraints leave open
    let Qp = Decomposed::with_usual_sizes(&along(l.row_g()), at.usual_sizes(l.row_g()), at.means.ranks)?.null_basis();
    let K = Decomposed::with_usual_sizes(&at.constraints(), at.usual_sizes(velocity_rows.clone()), at.means.ranks)?;
    let Qv = K.null_basis();
    let (np, nv, nr) = (Qp.ncols(), Qv.ncols(), l.r().len());
    let n = np + nv + nr;
    if contact.decision.rank < l.s().len() {
        return None;
    }
    let follows = K.solve(&-(along(velocity_rows) * &Qp));
    let dp = Mat::from_fn(l.p().len(), n, |i, k| if k < np { Qp[(i, k)] } else { 0.0 });
    let ds = &contact_p * &dp;
    let dv = Mat::from_fn(l.v().len(), n, |i, k| match k {
        k if k < np => follows[(i, k)],
        k if k < np + nv => Qv[(i, k - np)],
        _ => 0.0,
    });
    let dr = Mat::from_fn(nr, n, |i, k| if k == np + nv + i { 1.0 } else { 0.0 });
    // a, w, λ, μ follow all of them
    let change = |rows: std::ops::Range<usize>| {
        at.block(rows.clone(), l.r()) * &dr
            + at.block(rows.clone(), l.v()) * &dv
            + at.block(rows.clone(), l.s()) * &ds
            + at.block(rows, l.p()) * &dp
    };
    let first = l.algebraic_blocks()[0].clone();
    let block = Decomposed::of(&at.block(first.clone(), 0..l.n1()), Scaling::Both, at.means.ranks)?;
    if !block.null_vectors().iter().all(|z| z[l.a()].iter().all(|a| *a == 0.0)) {
        return None;
    }
    let dz = block.solve(&-change(first));
    let rate = |rows: std::ops::Range<usize>| change(rows.clone()) + at.block(rows, 0..l.n1()) * &dz;
    let p = Qp.transpose() * rate(l.row_kinematics());
    let v = Qv.transpose() * rate(l.row_acceleration());
    let r = rate(l.row_dynamic());
    let mut A = Matrix::zeros(n, n);
    for k in 0..n {
        for i in 0..np {
            A[(i, k)] = p[(i, k)];
        }
        for i in 0..nv {
            A[(np + i, k)] = v[(i, k)];
        }
        for i in 0..nr {
            A[(np + nv + i, k)] = r[(i, k)];
        }
    }
    Some(A)
}
