//! Taylor coefficients from equations written for every scalar, from supplied derivatives, and for constant E and A.

use super::coefficients::{CoefficientError, Coefficients, LinearEquations, TaylorData};
use crate::linalg::Matrix;
use daedal_scalar::{Scalar, Taylor};

/// Highest order of the Taylor coefficients of [`Differentiated`] and [`ConstantCoefficients`].
pub const HIGHEST_ORDER: usize = 15;

/// [`Coefficients`] by power series arithmetic.
pub struct Differentiated<L> {
    equations: L,
    evaluators: Evaluators<L>,
}

impl<L: LinearEquations> Differentiated<L> {
    /// Of these equations.
    pub fn new(equations: L) -> Self {
        Differentiated { equations, evaluators: Evaluators::new() }
    }

    /// The equations.
    pub fn equations(&self) -> &L {
        &self.equations
    }
}

impl<L: LinearEquations> Coefficients for Differentiated<L> {
    fn rows(&self) -> usize {
        self.equations.rows()
    }

    fn dim(&self) -> usize {
        self.equations.dim()
    }

    fn taylor(&mut self, t: f64, order: usize, out: &mut TaylorData) -> Result<(), CoefficientError> {
        let (m, n) = (self.equations.rows(), self.equations.dim());
        self.evaluators.at(order, m, n)?.evaluate(&self.equations, t, out);
        finite(t, order, out)
    }
}

/// One evaluator per order, made when it is first needed.
struct Evaluators<L>(Vec<Option<Box<dyn Evaluate<L>>>>);

impl<L: LinearEquations> Evaluators<L> {
    fn new() -> Self {
        Evaluators((0..=HIGHEST_ORDER).map(|_| None).collect())
    }

    fn at(&mut self, order: usize, m: usize, n: usize) -> Result<&mut Box<dyn Evaluate<L>>, CoefficientError> {
        let place = self.0.get_mut(order).ok_or(CoefficientError::Order { wanted: order, available: HIGHEST_ORDER })?;
        Ok(place.get_or_insert_with(|| match order {
            0 => Box::new(Series::<1>::new(m, n)),
            1 => Box::new(Series::<2>::new(m, n)),
            2 => Box::new(Series::<3>::new(m, n)),
            3 => Box::new(Series::<4>::new(m, n)),
            4 => Box::new(Series::<5>::new(m, n)),
            5 => Box::new(Series::<6>::new(m, n)),
            6 => Box::new(Series::<7>::new(m, n)),
            7 => Box::new(Series::<8>::new(m, n)),
            8 => Box::new(Series::<9>::new(m, n)),
            9 => Box::new(Series::<10>::new(m, n)),
            10 => Box::new(Series::<11>::new(m, n)),
            11 => Box::new(Series::<12>::new(m, n)),
            12 => Box::new(Series::<13>::new(m, n)),
            13 => Box::new(Series::<14>::new(m, n)),
            14 => Box::new(Series::<15>::new(m, n)),
            _ => Box::new(Series::<16>::new(m, n)),
        }))
    }
}

/// The coefficients as series of one length.
trait Evaluate<L> {
    fn evaluate(&mut self, equations: &L, t: f64, out: &mut TaylorData);
}

/// Room for series with K coefficients.
struct Series<const K: usize> {
    E: Matrix<Taylor<f64, K>>,
    A: Matrix<Taylor<f64, K>>,
    b: Vec<Taylor<f64, K>>,
}

impl<const K: usize> Series<K> {
    fn new(m: usize, n: usize) -> Self {
        Series { E: Matrix::zeros(m, n), A: Matrix::zeros(m, n), b: vec![Taylor::from(0.0); m] }
    }
}

impl<L: LinearEquations, const K: usize> Evaluate<L> for Series<K> {
    fn evaluate(&mut self, equations: &L, t: f64, out: &mut TaylorData) {
        let Series { E, A, b } = self;
        E.fill(Taylor::from(0.0));
        A.fill(Taylor::from(0.0));
        b.fill(Taylor::from(0.0));
        equations.coefficients(Taylor::parameter(t), E, A, b);
        for k in 0..K {
            for i in 0..E.rows() {
                for j in 0..E.cols() {
                    out.E[k][(i, j)] = E[(i, j)].coefficients[k];
                    out.A[k][(i, j)] = A[(i, j)].coefficients[k];
                }
                out.b[k][i] = b[i].coefficients[k];
            }
        }
    }
}

/// [`Coefficients`] from derivatives that the user supplies.
pub struct Supplied<F> {
    rows: usize,
    dim: usize,
    available: usize,
    constant: bool,
    derivatives: F,
}

impl<F: FnMut(usize, f64, &mut Matrix, &mut Matrix, &mut [f64])> Supplied<F> {
    /// `derivatives(k, t, E, A, b)` writes the k-th derivatives E⁽ᵏ⁾, A⁽ᵏ⁾, b⁽ᵏ⁾ at t, for k ≤ `available`, into zeros.
    pub fn new(rows: usize, dim: usize, available: usize, derivatives: F) -> Self {
        Supplied { rows, dim, available, constant: false, derivatives }
    }

    /// E and A do not depend on t.
    #[must_use]
    pub fn with_constant_matrices(self) -> Self {
        Supplied { constant: true, ..self }
    }
}

impl<F: FnMut(usize, f64, &mut Matrix, &mut Matrix, &mut [f64])> Coefficients for Supplied<F> {
    fn rows(&self) -> usize {
        self.rows
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn taylor(&mut self, t: f64, order: usize, out: &mut TaylorData) -> Result<(), CoefficientError> {
        if order > self.available {
            return Err(CoefficientError::Order { wanted: order, available: self.available });
        }
        let mut inverse_factorial = 1.0;
        for k in 0..=order {
            let (E, A, b) = (&mut out.E[k], &mut out.A[k], &mut out.b[k]);
            E.fill(0.0);
            A.fill(0.0);
            b.fill(0.0);
            (self.derivatives)(k, t, E, A, b);
            if k > 1 {
                inverse_factorial /= k as f64;
            }
            for i in 0..self.rows {
                for x in E.row_mut(i).iter_mut().chain(A.row_mut(i)) {
                    *x *= inverse_factorial;
                }
                b[i] *= inverse_factorial;
            }
        }
        finite(t, order, out)
    }

    fn constant(&self) -> bool {
        self.constant
    }
}

/// A right-hand side b(t), written once for every scalar.
pub trait Inhomogeneity {
    /// b(t), into zeros.
    fn value<S: Scalar>(&self, t: S, b: &mut [S]);
}

/// No right-hand side.
impl Inhomogeneity for () {
    fn value<S: Scalar>(&self, _t: S, _b: &mut [S]) {}
}

/// Polynomials: `self[i][k]` is the coefficient of tᵏ in equation i.
impl Inhomogeneity for Vec<Vec<f64>> {
    fn value<S: Scalar>(&self, t: S, b: &mut [S]) {
        for (b, polynomial) in b.iter_mut().zip(self) {
            for &c in polynomial.iter().rev() {
                *b = *b * t + c;
            }
        }
    }
}

/// E ẋ = A x + b(t) with constant E and A.
pub struct ConstantCoefficients<B> {
    E: Matrix,
    A: Matrix,
    right: RightSide<B>,
    evaluators: Evaluators<RightSide<B>>,
}

impl<B: Inhomogeneity> ConstantCoefficients<B> {
    /// E and A have the same size m × n.
    pub fn new(E: Matrix, A: Matrix, b: B) -> Self {
        assert_eq!((E.rows(), E.cols()), (A.rows(), A.cols()), "E and A differ in size");
        let right = RightSide { rows: E.rows(), b };
        ConstantCoefficients { E, A, right, evaluators: Evaluators::new() }
    }
}

impl<B: Inhomogeneity + Clone> Clone for ConstantCoefficients<B> {
    fn clone(&self) -> Self {
        ConstantCoefficients::new(self.E.clone(), self.A.clone(), self.right.b.clone())
    }
}

/// b(t) alone, as equations without unknowns.
struct RightSide<B> {
    rows: usize,
    b: B,
}

impl<B: Inhomogeneity> LinearEquations for RightSide<B> {
    fn dim(&self) -> usize {
        0
    }
    fn rows(&self) -> usize {
        self.rows
    }
    fn coefficients<S: Scalar>(&self, t: S, _E: &mut Matrix<S>, _A: &mut Matrix<S>, b: &mut [S]) {
        self.b.value(t, b);
    }
}

impl<B: Inhomogeneity> Coefficients for ConstantCoefficients<B> {
    fn rows(&self) -> usize {
        self.E.rows()
    }

    fn dim(&self) -> usize {
        self.E.cols()
    }

    fn taylor(&mut self, t: f64, order: usize, out: &mut TaylorData) -> Result<(), CoefficientError> {
        for i in 0..self.E.rows() {
            out.E[0].row_mut(i).copy_from_slice(self.E.row(i));
            out.A[0].row_mut(i).copy_from_slice(self.A.row(i));
        }
        for k in 1..=order {
            out.E[k].fill(0.0);
            out.A[k].fill(0.0);
        }
        self.inhomogeneity(t, order, out)
    }

    fn inhomogeneity(&mut self, t: f64, order: usize, out: &mut TaylorData) -> Result<(), CoefficientError> {
        self.evaluators.at(order, self.right.rows, 0)?.evaluate(&self.right, t, out);
        finite(t, order, out)
    }

    fn constant(&self) -> bool {
        true
    }
}

/// Are all coefficients up to an order finite?
fn finite(t: f64, order: usize, data: &TaylorData) -> Result<(), CoefficientError> {
    let all =
        (0..=order).all(|k| data.E[k].data().iter().chain(data.A[k].data()).chain(&data.b[k]).all(|x| x.is_finite()));
    if all { Ok(()) } else { Err(CoefficientError::NotFinite { t }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Wave;
    impl LinearEquations for Wave {
        fn dim(&self) -> usize {
            1
        }
        fn coefficients<S: Scalar>(&self, t: S, E: &mut Matrix<S>, A: &mut Matrix<S>, b: &mut [S]) {
            E[(0, 0)] = t.exp();
            A[(0, 0)] = t * t;
            b[0] = t.sin();
        }
    }

    #[test]
    fn series_agree_with_supplied_derivatives() {
        let mut by_series = Differentiated::new(Wave);
        let mut by_hand = Supplied::new(1, 1, 12, |k, t, E, A, b| {
            E[(0, 0)] = t.exp();
            A[(0, 0)] = [t * t, 2.0 * t, 2.0].get(k).copied().unwrap_or(0.0);
            b[0] = (t + k as f64 * std::f64::consts::FRAC_PI_2).sin();
        });
        let (mut x, mut y) = (TaylorData::new(1, 1, 12), TaylorData::new(1, 1, 12));
        by_series.taylor(0.7, 12, &mut x).unwrap();
        by_hand.taylor(0.7, 12, &mut y).unwrap();
        for k in 0..=12 {
            assert!((x.E[k][(0, 0)] - y.E[k][(0, 0)]).abs() < 1e-15);
            assert!((x.A[k][(0, 0)] - y.A[k][(0, 0)]).abs() < 1e-15);
            assert!((x.b[k][0] - y.b[k][0]).abs() < 1e-15);
        }
    }

    #[test]
    fn too_many_derivatives_are_refused() {
        let mut data = TaylorData::new(1, 1, HIGHEST_ORDER + 1);
        let refused = Differentiated::new(Wave).taylor(0.0, HIGHEST_ORDER + 1, &mut data);
        assert_eq!(refused, Err(CoefficientError::Order { wanted: HIGHEST_ORDER + 1, available: HIGHEST_ORDER }));
        let mut supplied = Supplied::new(1, 1, 1, |_, _, _: &mut Matrix, _: &mut Matrix, _: &mut [f64]| {});
        assert_eq!(supplied.taylor(0.0, 2, &mut data), Err(CoefficientError::Order { wanted: 2, available: 1 }));
    }

    #[test]
    fn a_pole_is_told() {
        let mut data = TaylorData::new(1, 1, 0);
        let mut pole = Supplied::new(1, 1, 0, |_, t: f64, E: &mut Matrix, _: &mut Matrix, _: &mut [f64]| {
            E[(0, 0)] = 1.0 / t;
        });
        assert_eq!(pole.taylor(0.0, 0, &mut data), Err(CoefficientError::NotFinite { t: 0.0 }));
    }
}
