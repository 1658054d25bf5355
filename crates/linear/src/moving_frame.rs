//! The strangeness-free system at a time near a reference, in rows close to those of the reference: a smooth function of t.
//!
//! With Xᵢ from (E₁*; A₂*)⁺ = (X₁ X₂), the rows at t are E₁ = (Z₁*ᵀE X₁)⁻¹ Z₁*ᵀE and A₂ = (Z₂ᵀN X₂)⁻¹ Z₂ᵀN, whatever basis Z₂ of the
//! constraints is found at t. So E₁X₁ = I and A₂X₂ = I at all times, as at the reference: an iteration matrix of the reference serves
//! as long as possible, and one iteration solves equations that turn without changing their meaning. The orthonormal factor that would
//! turn Z₂(t) closest to Z₂* is contained in the inverse. Kunkel & Mehrmann (2006), 3.1 (smooth bases) and 6.2.

use super::coefficients::{CoefficientError, Coefficients, TaylorData};
use super::level::Level;
use super::strangeness_free::{ReducedSystem, StrangenessFree};
use crate::linalg::product::copy;
use crate::linalg::{Matrix, NoConvergence, Svd};

/// Smallest singular value of Z₂ᵀN X₂ that is allowed; 1 at the reference, 0 where a constraint stands across.
const LARGEST_TURN: f64 = 0.2;
/// Smallest singular value of Z₁*ᵀE X₁ that is allowed; 1 at the reference.
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
    /// (E₁*; A₂*)
    svd_H: Svd,
    /// its pseudo-inverse, n × (d + a)
    X: Matrix,
    /// its kernel, n × u
    U: Matrix,
    differential: Normalisation,
    algebraic: Normalisation,
}

impl MovingFrame {
    /// Near this reference.
    pub fn new(reference: &StrangenessFree) -> Result<Self, FrameError> {
        let (m, n) = (reference.Z1.rows(), reference.T2.rows());
        let (mu, d, a) = (reference.values.mu, reference.values.d, reference.values.a);
        let mut frame = MovingFrame {
            reference: reference.clone(),
            data: TaylorData::new(m, n, mu),
            work: Level::new(m, n, mu),
            svd_H: Svd::new(d + a, n),
            X: Matrix::zeros(n, d + a),
            U: Matrix::zeros(n, reference.values.u),
            differential: Normalisation::new(d, n),
            algebraic: Normalisation::new(a, n),
        };
        frame.reset(reference)?;
        Ok(frame)
    }

    /// Another reference with the same characteristic values.
    pub fn reset(&mut self, reference: &StrangenessFree) -> Result<(), FrameError> {
        assert_eq!(reference.values, self.reference.values, "a reference of another kind");
        self.reference.copy_from(reference);
        self.work.scales.rows.clone_from(&reference.scales.rows);
        self.work.scales.columns.clone_from(&reference.scales.columns);
        let (E1, A2, n) = (&reference.system.E1, &reference.system.A2, self.X.rows());
        let (d, rank) = (E1.rows(), E1.rows() + A2.rows());
        for j in 0..n {
            for i in 0..rank {
                self.svd_H.A[(i, j)] = if i < d { E1[(i, j)] } else { A2[(i - d, j)] };
            }
        }
        self.svd_H.factor().map_err(|_| FrameError::SvdFailed { t: reference.system.t })?;
        for j in 0..n {
            for i in 0..rank {
                self.X[(j, i)] =
                    (0..rank).map(|k| self.svd_H.V[(j, k)] / self.svd_H.sigma(k) * self.svd_H.U[(i, k)]).sum();
            }
            for k in 0..n - rank {
                self.U[(j, k)] = self.svd_H.V[(j, rank + k)];
            }
        }
        Ok(())
    }

    /// What the equations leave undetermined at the reference: an orthonormal basis of the kernel of (E₁; A₂), n × u.
    pub fn undetermined(&self) -> &Matrix {
        &self.U
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
            if !out.matrices_stay {
                copy(&mut out.E1, &system.E1);
                copy(&mut out.A1, &system.A1);
                copy(&mut out.A2, &system.A2);
                out.matrices_stay = true;
            }
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
        out.project(t, &self.data, &self.work.array, &self.reference.Z1, &self.work.Z2);

        // E₁X₁ = I, A₂X₂ = I
        let d = self.reference.values.d;
        let differential = self.differential.measure(&out.E1, &self.X, 0).map_err(failed)?;
        let algebraic = self.algebraic.measure(&out.A2, &self.X, d).map_err(failed)?;
        if !(differential > SMALLEST_PART && algebraic > LARGEST_TURN) {
            return Err(FrameError::TurnedTooFar { t, reference: self.reference.system.t });
        }
        self.differential.apply(&mut out.E1);
        self.differential.apply(&mut out.A1);
        self.differential.apply_to_vector(&mut out.b1);
        self.algebraic.apply(&mut out.A2);
        self.algebraic.apply_to_vector(&mut out.b2);
        Ok(())
    }
}

/// Rows are multiplied by W⁻¹, W = rows · some columns of X.
struct Normalisation {
    svd_W: Svd,
    inverse: Matrix,
    rows: Matrix,
    vector: Vec<f64>,
}

impl Normalisation {
    fn new(k: usize, n: usize) -> Self {
        Normalisation {
            svd_W: Svd::new(k, k),
            inverse: Matrix::zeros(k, k),
            rows: Matrix::zeros(k, n),
            vector: vec![0.0; k],
        }
    }

    /// Make W⁻¹ from the columns of X from `first` on; returns the smallest singular value of W.
    fn measure(&mut self, A: &Matrix, X: &Matrix, first: usize) -> Result<f64, NoConvergence> {
        let k = A.rows();
        for i in 0..k {
            for j in 0..k {
                self.svd_W.A[(i, j)] = (0..A.cols()).map(|p| A[(i, p)] * X[(p, first + j)]).sum();
            }
        }
        self.svd_W.factor()?;
        for i in 0..k {
            for j in 0..k {
                self.inverse[(i, j)] =
                    (0..k).map(|p| self.svd_W.V[(i, p)] / self.svd_W.sigma(p) * self.svd_W.U[(j, p)]).sum();
            }
        }
        Ok(if k > 0 { self.svd_W.sigma(k - 1) } else { 1.0 })
    }

    /// A ← W⁻¹ A.
    fn apply(&mut self, A: &mut Matrix) {
        copy(&mut self.rows, A);
        A.fill(0.0);
        for i in 0..A.rows() {
            for k in 0..A.rows() {
                let w = self.inverse[(i, k)];
                for (a, row) in A.row_mut(i).iter_mut().zip(self.rows.row(k)) {
                    *a += w * row;
                }
            }
        }
    }

    /// b ← W⁻¹ b.
    fn apply_to_vector(&mut self, b: &mut [f64]) {
        self.vector.copy_from_slice(b);
        for (i, b) in b.iter_mut().enumerate() {
            *b = self.inverse.row(i).iter().zip(&self.vector).map(|(w, x)| w * x).sum();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Differentiated, LinearEquations, RankOptions, strangeness_free};
    use daedal_scalar::Scalar;

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
        let mut frame = MovingFrame::new(&reference).unwrap();
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
        let mut frame = MovingFrame::new(&reference).unwrap();
        let mut out = ReducedSystem::new(1, 2, 3);
        let refused = frame.reduce(&mut problem, std::f64::consts::FRAC_PI_2, &mut out);
        assert!(matches!(refused, Err(FrameError::TurnedTooFar { .. })), "{refused:?}");
    }
}
