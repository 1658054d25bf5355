//! The strangeness-free system at a time near a reference, in bases close to those of the reference: a smooth function of t.
//!
//! With the scales of the reference kept, the orthonormal Ẑ₂(t) spans a subspace that moves smoothly. It is turned by the polar factor
//! of Ẑ₂(t)ᵀ Ẑ₂*, the rotation that brings it closest to the reference. Z₁* is kept as long as Z₁*ᵀ E T₂ is regular.
//! Kunkel & Mehrmann (2006), 3.1 (smooth bases) and 6.2.

use super::coefficients::{CoefficientError, Coefficients, TaylorData};
use super::level::{Level, kernel};
use super::product::{copy, resize};
use super::strangeness_free::{ReducedSystem, StrangenessFree};
use crate::linalg::{Matrix, NoConvergence, Svd};

/// Cosine of the largest angle between the constraints here and at the reference that is allowed.
const LARGEST_TURN: f64 = 0.2;
/// Part of the smallest singular value of Z₁*ᵀ E T₂ at the reference that must be left.
const SMALLEST_PART: f64 = 1e-2;

/// Why there are no reduced coefficients in the frame of a reference.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FrameError {
    /// The coefficients cannot be had.
    #[error(transparent)]
    Coefficients(#[from] CoefficientError),
    /// The bases have turned too far from those of the reference.
    #[error("at t = {t}: the equations have turned too far from those at t = {reference}; choose a nearer reference")]
    TurnedTooFar {
        /// Time.
        t: f64,
        /// Time of the reference.
        reference: f64,
    },
    /// The singular value decomposition did not converge.
    #[error(
        "at t = {t}: the singular value decomposition of the derivative array did not converge; check the coefficients here"
    )]
    SvdFailed {
        /// Time.
        t: f64,
    },
}

/// Reduced coefficients near a reference.
pub struct MovingFrame {
    reference: StrangenessFree,
    data: TaylorData,
    work: Level,
    /// Ẑ₂ᵀ Ẑ₂*
    svd_W: Svd,
    svd_A: Svd,
    svd_E: Svd,
    Z2: Matrix,
    /// smallest singular value of Z₁*ᵀ E T₂ at the reference
    smallest: f64,
}

impl MovingFrame {
    /// Near this reference.
    pub fn new(reference: &StrangenessFree) -> Self {
        let (m, n) = (reference.Z1.rows(), reference.T2.rows());
        let (mu, d, a) = (reference.values.mu, reference.values.d, reference.values.a);
        let mut frame = MovingFrame {
            reference: reference.clone(),
            data: TaylorData::new(m, n, mu),
            work: Level::new(m, n, mu),
            svd_W: Svd::new(a, a),
            svd_A: Svd::new(a, n),
            svd_E: Svd::new(d, n - a),
            Z2: Matrix::zeros((mu + 1) * m, a),
            smallest: 0.0,
        };
        frame.reset(reference);
        frame
    }

    /// Another reference with the same characteristic values.
    pub fn reset(&mut self, reference: &StrangenessFree) {
        assert_eq!(reference.values, self.reference.values, "a reference of another kind");
        self.reference.copy_from(reference);
        self.work.scales.rows.clone_from(&reference.scales.rows);
        self.work.scales.columns.clone_from(&reference.scales.columns);
        self.smallest = 0.0;
        if let Ok(smallest) = self.smallest_of(&reference.system) {
            self.smallest = smallest;
        }
    }

    /// The reference.
    pub fn reference(&self) -> &StrangenessFree {
        &self.reference
    }

    /// Reduced coefficients at t.
    pub fn reduce<C: Coefficients + ?Sized>(
        &mut self,
        coefficients: &mut C,
        t: f64,
        out: &mut ReducedSystem,
    ) -> Result<(), FrameError> {
        let mu = self.reference.values.mu;
        if coefficients.constant() {
            // the same matrices at all times
            coefficients.inhomogeneity(t, mu, &mut self.data)?;
            self.work.array.build_inhomogeneity(&self.data);
            let StrangenessFree { system, Z1, Z2, .. } = &self.reference;
            copy(&mut out.E1, &system.E1);
            copy(&mut out.A1, &system.A1);
            copy(&mut out.A2, &system.A2);
            out.project_inhomogeneity(t, &self.work.array, Z1, Z2);
            return Ok(());
        }
        let failed = |_: NoConvergence| FrameError::SvdFailed { t };
        coefficients.taylor(t, mu, &mut self.data)?;
        self.work.array.build(&self.data);
        self.work.decompose().map_err(failed)?;

        // the ranks of the reference; whether they are still right is decided at accepted points
        let a = self.reference.values.a;
        let rank = self.work.array.M.rows() - a - self.reference.Z3.cols();
        self.work.constraints(rank).map_err(failed)?;
        self.work.turn(rank, a);
        let turned = FrameError::TurnedTooFar { t, reference: self.reference.system.t };
        if !self.rotate().map_err(failed)? {
            return Err(turned);
        }
        out.project(t, &self.data, &self.work.array, &self.reference.Z1, &self.Z2);
        if self.smallest_of(out).map_err(failed)? < SMALLEST_PART * self.smallest {
            return Err(turned);
        }
        Ok(())
    }

    /// Z₂ ← R Ẑ₂ O with the polar factor O of Ẑ₂ᵀ Ẑ₂*. False if the subspaces are too far apart.
    fn rotate(&mut self) -> Result<bool, NoConvergence> {
        let (rows, a) = (self.work.Z2.rows(), self.work.Z2.cols());
        let R = &self.work.scales.rows;
        for p in 0..a {
            for q in 0..a {
                self.svd_W.A[(p, q)] =
                    (0..rows).map(|i| self.work.Z2[(i, p)] / R[i] * (self.reference.Z2[(i, q)] / R[i])).sum();
            }
        }
        self.svd_W.factor()?;
        if a > 0 && !(self.svd_W.sigma(a - 1) > LARGEST_TURN) {
            return Ok(false);
        }
        // O = U Vᵀ, put where the matrix stood
        for p in 0..a {
            for q in 0..a {
                self.svd_W.A[(p, q)] = (0..a).map(|k| self.svd_W.U[(p, k)] * self.svd_W.V[(q, k)]).sum();
            }
        }
        resize(&mut self.Z2, rows, a);
        for i in 0..rows {
            for q in 0..a {
                self.Z2[(i, q)] = (0..a).map(|p| self.work.Z2[(i, p)] * self.svd_W.A[(p, q)]).sum();
            }
        }
        Ok(true)
    }

    /// Smallest singular value of E₁ T₂ with T₂ = kernel A₂.
    fn smallest_of(&mut self, system: &ReducedSystem) -> Result<f64, NoConvergence> {
        let (d, a, n) = (system.E1.rows(), system.A2.rows(), system.E1.cols());
        if d == 0 {
            return Ok(0.0);
        }
        kernel(&mut self.svd_A, &system.A2, &[])?;
        for i in 0..d {
            for j in 0..n - a {
                self.svd_E.A[(i, j)] = (0..n).map(|k| system.E1[(i, k)] * self.svd_A.V[(k, a + j)]).sum();
            }
        }
        self.svd_E.factor()?;
        Ok(self.svd_E.sigma(d - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::{Differentiated, LinearEquations, RankOptions, strangeness_free};
    use crate::scalar::Scalar;

    /// A constraint whose direction turns with t, and a copy of it.
    struct Turning;
    impl LinearEquations for Turning {
        fn dim(&self) -> usize {
            3
        }
        fn rows(&self) -> usize {
            4
        }
        fn coefficients<S: Scalar>(&self, t: S, E: &mut Matrix<S>, A: &mut Matrix<S>, b: &mut [S]) {
            let (s, c) = t.sin_cos();
            E[(0, 0)] = S::from(1.0);
            E[(1, 1)] = S::from(1.0);
            A[(0, 2)] = c;
            A[(1, 2)] = s;
            for row in 2..4 {
                A[(row, 0)] = c;
                A[(row, 1)] = s;
                b[row] = t.exp();
            }
        }
    }

    #[test]
    fn reduced_coefficients_are_smooth_in_time_and_keep_the_solution() {
        let mut problem = Differentiated::new(Turning);
        let reference = strangeness_free(&mut problem, 0.3, &RankOptions::default()).unwrap();
        assert_eq!((reference.values.mu, reference.values.d, reference.values.a, reference.values.v), (1, 1, 2, 1));
        let mut frame = MovingFrame::new(&reference);
        let mut at = |t: f64| {
            let mut out = ReducedSystem::new(1, 2, 3);
            frame.reduce(&mut problem, t, &mut out).unwrap();
            out
        };
        // at the reference nothing turns
        let same = at(0.3);
        for i in 0..2 {
            for j in 0..3 {
                assert!((same.A2[(i, j)] - reference.system.A2[(i, j)]).abs() < 1e-13);
            }
        }
        // fourth differences of a smooth function fall by 16 when the distance is halved
        let mut difference = |h: f64| {
            let x: Vec<ReducedSystem> = (0..5).map(|k| at(0.3 + h * f64::from(k))).collect();
            let mut largest = 0.0_f64;
            for i in 0..2 {
                for j in 0..3 {
                    let y: Vec<f64> = x.iter().map(|x| x.A2[(i, j)]).collect();
                    largest = largest.max((y[0] - 4.0 * y[1] + 6.0 * y[2] - 4.0 * y[3] + y[4]).abs());
                }
            }
            largest
        };
        let ratio = difference(0.1) / difference(0.05);
        assert!(ratio > 12.0 && ratio < 20.0, "{ratio}");
    }

    #[test]
    fn a_time_at_which_everything_has_turned_is_refused() {
        let mut problem = Differentiated::new(Turning);
        let reference = strangeness_free(&mut problem, 0.0, &RankOptions::default()).unwrap();
        let mut frame = MovingFrame::new(&reference);
        let mut out = ReducedSystem::new(1, 2, 3);
        let refused = frame.reduce(&mut problem, std::f64::consts::FRAC_PI_2, &mut out);
        assert!(matches!(refused, Err(FrameError::TurnedTooFar { .. })), "{refused:?}");
    }
}
