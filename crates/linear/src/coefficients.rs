//! What a linear problem E(t) ẋ = A(t) x + b(t) is: coefficient functions, and their Taylor coefficients
//! X_[k] = X⁽ᵏ⁾/k! at a time, from which derivative arrays are built. Wunderlich, thesis (2008), 2.2.2.

use crate::linalg::Matrix;
use daedal_scalar::Scalar;

/// E(t) ẋ = A(t) x + b(t), written once for every scalar.
///
/// The contract of an implementation:
/// 1. every entry that is not zero is written; E, A and b come filled with zeros;
/// 2. control flow depends on numbers of the model only;
/// 3. the coefficients are as often differentiable as the strangeness index asks for.
///
/// ```
/// use daedal_linear::linalg::Matrix;
/// use daedal_linear::{Differentiated, LinearEquations, RankOptions, strangeness_free};
/// use daedal_scalar::Scalar;
///
/// /// 0 = −x₁ + t x₂ + sin t, x₁' − t x₂' = eᵗ: every frozen pencil is singular, the solution is unique.
/// struct Hidden;
/// impl LinearEquations for Hidden {
///     fn dim(&self) -> usize { 2 }
///     fn coefficients<S: Scalar>(&self, t: S, E: &mut Matrix<S>, A: &mut Matrix<S>, b: &mut [S]) {
///         E[(1, 0)] = S::from(1.0);
///         E[(1, 1)] = -t;
///         A[(0, 0)] = S::from(-1.0);
///         A[(0, 1)] = t;
///         b[0] = t.sin();
///         b[1] = t.exp();
///     }
/// }
/// let found = strangeness_free(&mut Differentiated::new(Hidden), 0.5, &RankOptions::default()).unwrap();
/// assert_eq!((found.values.mu, found.values.d, found.values.a), (1, 0, 2));
/// ```
pub trait LinearEquations {
    /// Number of unknowns n.
    fn dim(&self) -> usize;
    /// Number of equations m.
    fn rows(&self) -> usize {
        self.dim()
    }
    /// E, A (m × n) and b (m) at t.
    fn coefficients<S: Scalar>(&self, t: S, E: &mut Matrix<S>, A: &mut Matrix<S>, b: &mut [S]);
}

/// Taylor coefficients of E, A and b at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct TaylorData {
    /// E_\[k\].
    pub E: Vec<Matrix>,
    /// A_\[k\].
    pub A: Vec<Matrix>,
    /// b_\[k\].
    pub b: Vec<Vec<f64>>,
}

impl TaylorData {
    /// Zeros up to an order, for m equations and n unknowns.
    pub fn new(m: usize, n: usize, order: usize) -> Self {
        TaylorData {
            E: vec![Matrix::zeros(m, n); order + 1],
            A: vec![Matrix::zeros(m, n); order + 1],
            b: vec![vec![0.0; m]; order + 1],
        }
    }

    /// Highest order there is room for.
    pub fn order(&self) -> usize {
        self.b.len() - 1
    }

    /// Make room up to an order.
    pub fn extend(&mut self, order: usize) {
        let (m, n) = (self.E[0].rows(), self.E[0].cols());
        while self.b.len() <= order {
            self.E.push(Matrix::zeros(m, n));
            self.A.push(Matrix::zeros(m, n));
            self.b.push(vec![0.0; m]);
        }
    }
}

/// Why Taylor coefficients cannot be had.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CoefficientError {
    /// Not as many derivatives as asked for.
    #[error(
        "derivatives of the coefficients up to order {wanted} are needed, {available} are available; supply more, or lower max_index"
    )]
    Order {
        /// Order asked for.
        wanted: usize,
        /// Highest order there is.
        available: usize,
    },
    /// A coefficient is not finite.
    #[error(
        "at t = {t}: the coefficients have values that are not finite (NaN or infinity); check the model at this time"
    )]
    NotFinite {
        /// Time.
        t: f64,
    },
}

/// Taylor coefficients of E, A and b on demand.
///
/// The contract of an implementation:
/// 1. `taylor` writes every entry of the orders 0, …, `order`;
/// 2. nothing is allocated when an order is asked for again;
/// 3. where [`constant`](Coefficients::constant) is true, E and A do not depend on t.
pub trait Coefficients {
    /// Number of equations m.
    fn rows(&self) -> usize;
    /// Number of unknowns n.
    fn dim(&self) -> usize;
    /// E_\[k\], A_\[k\], b_\[k\] for k ≤ order, at t. `out` has room for them.
    fn taylor(&mut self, t: f64, order: usize, out: &mut TaylorData) -> Result<(), CoefficientError>;
    /// Only b_\[k\]; what stands in E and A need not be touched.
    fn inhomogeneity(&mut self, t: f64, order: usize, out: &mut TaylorData) -> Result<(), CoefficientError> {
        self.taylor(t, order, out)
    }
    /// Are E and A constant?
    fn constant(&self) -> bool {
        false
    }
}

impl<C: Coefficients + ?Sized> Coefficients for Box<C> {
    fn rows(&self) -> usize {
        (**self).rows()
    }
    fn dim(&self) -> usize {
        (**self).dim()
    }
    fn taylor(&mut self, t: f64, order: usize, out: &mut TaylorData) -> Result<(), CoefficientError> {
        (**self).taylor(t, order, out)
    }
    fn inhomogeneity(&mut self, t: f64, order: usize, out: &mut TaylorData) -> Result<(), CoefficientError> {
        (**self).inhomogeneity(t, order, out)
    }
    fn constant(&self) -> bool {
        (**self).constant()
    }
}
