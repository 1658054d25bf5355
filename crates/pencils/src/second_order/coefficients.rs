//! Where the Taylor coefficients come from: formulas written for every scalar, constant matrices, or supplied derivatives.

use super::{Expansion, SecondOrderError};
use daedal::linalg::Matrix;
use daedal::scalar::{Scalar, Taylor};
use faer::Mat;

/// Coefficients that can be computed from formulas.
const COEFFICIENTS: usize = 16;
type TaylorSeries = Taylor<f64, COEFFICIENTS>;

/// M(t) x″ + C(t) x′ + K(t) x = f(t), expanded at any time.
pub trait TripleCoefficients {
    /// Taylor coefficients 0..=level at t.
    fn expand(&self, t: f64, level: usize) -> Result<Expansion, SecondOrderError>;
}

/// M(t), C(t), K(t), f(t) written once for every scalar. The arguments come zeroed.
pub trait SecondOrderSystem {
    /// Number of equations m.
    fn rows(&self) -> usize;
    /// Number of unknowns n.
    fn dim(&self) -> usize;
    /// M, C, K (m × n) and f at t.
    fn coefficients<S: Scalar>(&self, t: S, M: &mut Matrix<S>, C: &mut Matrix<S>, K: &mut Matrix<S>, f: &mut [S]);
}

/// Derivatives of formulas by Taylor arithmetic, up to order 15.
///
/// ```
/// use daedal::linalg::Matrix;
/// use daedal::scalar::Scalar;
/// use daedal_pencils::second_order::{TripleCoefficients, TripleFormulas, SecondOrderSystem};
///
/// /// t x″ + x = sin t.
/// struct Stretched;
/// impl SecondOrderSystem for Stretched {
///     fn rows(&self) -> usize { 1 }
///     fn dim(&self) -> usize { 1 }
///     fn coefficients<S: Scalar>(&self, t: S, M: &mut Matrix<S>, _C: &mut Matrix<S>, K: &mut Matrix<S>, f: &mut [S]) {
///         M[(0, 0)] = t;
///         K[(0, 0)] = S::from(1.0);
///         f[0] = t.sin();
///     }
/// }
/// let at = TripleFormulas(Stretched).expand(2.0, 3).unwrap();
/// assert_eq!((at.M()[0][(0, 0)], at.M()[1][(0, 0)], at.M()[2][(0, 0)]), (2.0, 1.0, 0.0));
/// assert!((at.f()[3][0] + 2.0_f64.cos() / 6.0).abs() < 1e-16);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TripleFormulas<E>(pub E);

impl<E: SecondOrderSystem> TripleCoefficients for TripleFormulas<E> {
    fn expand(&self, t: f64, level: usize) -> Result<Expansion, SecondOrderError> {
        if level >= COEFFICIENTS {
            return Err(SecondOrderError::TooFewDerivatives { asked: level, given: COEFFICIENTS - 1 });
        }
        let (m, n) = (self.0.rows(), self.0.dim());
        let zeros = || Matrix::<TaylorSeries>::zeros(m, n);
        let (mut M, mut C, mut K) = (zeros(), zeros(), zeros());
        let mut f = vec![TaylorSeries::from(0.0); m];
        self.0.coefficients(TaylorSeries::parameter(t), &mut M, &mut C, &mut K, &mut f);
        let split = |X: &Matrix<TaylorSeries>| {
            (0..=level).map(|k| Mat::from_fn(m, n, |i, j| X[(i, j)].coefficients[k])).collect::<Vec<_>>()
        };
        let f = (0..=level).map(|k| f.iter().map(|x| x.coefficients[k]).collect()).collect();
        Expansion::new(split(&M), split(&C), split(&K), f)
    }
}

/// Constant M, C, K; `f(t, l)` gives f, f′, …, f^(l) at t.
#[derive(Clone, Debug)]
pub struct Constant<F> {
    /// Factor of x″.
    pub M: Mat<f64>,
    /// Factor of x′.
    pub C: Mat<f64>,
    /// Factor of x.
    pub K: Mat<f64>,
    /// Derivatives of the right-hand side.
    pub f: F,
}

impl<F: Fn(f64, usize) -> Vec<Vec<f64>>> TripleCoefficients for Constant<F> {
    fn expand(&self, t: f64, level: usize) -> Result<Expansion, SecondOrderError> {
        let constant = |X: &Mat<f64>| {
            let zero = Mat::zeros(X.nrows(), X.ncols());
            (0..=level).map(|k| if k == 0 { X.clone() } else { zero.clone() }).collect()
        };
        Expansion::from_derivatives(constant(&self.M), constant(&self.C), constant(&self.K), (self.f)(t, level))
    }
}

/// Derivatives by a function of (t, level), for instance `|t, l| Expansion::from_derivatives(…)`.
#[derive(Clone, Copy, Debug)]
pub struct SuppliedTriple<F>(pub F);

impl<F: Fn(f64, usize) -> Result<Expansion, SecondOrderError>> TripleCoefficients for SuppliedTriple<F> {
    fn expand(&self, t: f64, level: usize) -> Result<Expansion, SecondOrderError> {
        let found = (self.0)(t, level)?;
        if found.level() < level {
            return Err(SecondOrderError::TooFewDerivatives { asked: level, given: found.level() });
        }
        Ok(found)
    }
}
