//! Consistent values of E ẋ = A x + b: x with 0 = A₂ x + b₂, nearest to a guess or with the differential part of the guess, and ẋ
//! with E₁ ẋ = A₁ x + b₁ and Â₂ ẋ = −(A₂' x + b₂'). Wunderlich, thesis (2008), Remark 5.27.

use crate::consistent::{Freedom, KeptRows};
use crate::linalg::product::{dot, product, transposed_product};
use crate::linalg::rank::Scales;
use crate::linalg::{Mat, Matrix, NoConvergence, Svd};
use crate::linear::{
    CoefficientError, Coefficients, DerivativeArray, RankOptions, StrangenessFree, TaylorData, equilibrate,
};

/// What a consistent value keeps of the guess.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// As much as possible in the least squares sense: x = x̃ − A₂⁺(A₂ x̃ + b₂).
    #[default]
    LeastChange,
    /// The differential part Z₁ᵀE x̃ with Z₁ an orthonormal basis of range E T₂, and undetermined parts: only the algebraic part changes.
    DifferentialPart,
}

/// The consistent value that belongs to a guess.
pub(crate) fn consistent_value(
    reduced: &StrangenessFree,
    E: &Matrix,
    guess: &[f64],
    keep: Keep,
) -> Result<Vec<f64>, NoConvergence> {
    let (A2, b2) = (&reduced.system.A2, &reduced.system.b2);
    let (a, n) = (reduced.values.a, guess.len());
    let kept = match keep {
        Keep::LeastChange => None,
        Keep::DifferentialPart => {
            let E1 = differential_part(reduced, E)?;
            Some(KeptRows { B: Mat::from_fn(E1.rows(), n, |i, j| E1[(i, j)]), start: guess.to_vec() })
        }
    };
    // the rank of A₂ is known: every singular value counts
    let (units, classes) = (Some(vec![1.0; n]), vec![(0..n).collect(), vec![]]);
    let freedom = Freedom {
        fixed: vec![],
        classes,
        units,
        kept,
        tau: f64::EPSILON,
        independent: true,
        equilibrated: false,
        damped: false,
    };
    let C = Mat::from_fn(a, n, |i, j| A2[(i, j)]);
    let mut x = guess.to_vec();
    // twice: the second time takes away the rounding of the first
    for _ in 0..2 {
        let rho: Vec<f64> = (0..a).map(|i| dot(A2.row(i), &x) + b2[i]).collect();
        let change = freedom.least_change(&C, &rho, &x).ok_or(NoConvergence)?;
        x.iter_mut().zip(&change.delta).for_each(|(x, change)| *x += change);
    }
    Ok(x)
}

/// Z₁ᵀE with Z₁ an orthonormal basis of range E T₂.
pub(crate) fn differential_part(reduced: &StrangenessFree, E: &Matrix) -> Result<Matrix, NoConvergence> {
    let d = reduced.values.d;
    let Z1 = left_basis(&product(E, &reduced.T2), d)?;
    let mut E1 = Matrix::zeros(d, E.cols());
    transposed_product(&Z1, E, &mut E1);
    Ok(E1)
}

/// ẋ at a consistent value. The relations between ẋ and x that the array of level μ + 1 contains are Yᵀ M₀ ẋ = Yᵀ(N x + g), with Y the
/// left null space of the columns of x_[2], x_[3], …; they have rank d + a and are solved with least norm. Where derivatives of order
/// μ + 1 are not available, ẋ is the smallest solution of E₁ ẋ = A₁ x + b₁.
pub(crate) fn derivative<C: Coefficients + ?Sized>(
    coefficients: &mut C,
    reduced: &StrangenessFree,
    factors: &[f64],
    options: &RankOptions,
    x: &[f64],
) -> Result<Vec<f64>, DerivativeError> {
    let system = &reduced.system;
    let (d, n) = (reduced.values.d, x.len());
    let level = reduced.values.mu + 1;
    let m = coefficients.rows();
    let mut data = TaylorData::new(m, n, level);
    let mut xdot = vec![0.0; n];
    match coefficients.taylor(system.t, level, &mut data) {
        Ok(()) => {
            let mut array = DerivativeArray::new(m, n, level);
            array.build(&data);
            let mut scales = Scales::default();
            equilibrate(&array, factors, &mut scales);
            let (height, width) = (array.M.rows(), array.M.cols());
            let mut svd = Svd::new(height, width - n);
            for i in 0..height {
                for j in n..width {
                    svd.A[(i, j - n)] = scales.rows[i] * array.M[(i, j)] * scales.columns[n + j];
                }
            }
            svd.factor()?;
            let rank = svd.rank(options.rule.of_numbers(height, width) * svd.sigma(0).max(1.0));
            let k = height - rank;
            let (mut relations, mut right) = (Matrix::zeros(k, n), vec![0.0; k]);
            for p in 0..k {
                for i in 0..height {
                    let y = svd.U[(i, rank + p)] * scales.rows[i];
                    for j in 0..n {
                        relations[(p, j)] += y * array.M[(i, j)];
                    }
                    right[p] += y * (dot(array.N.row(i), x) + array.g[i]);
                }
            }
            xdot = least_squares(&relations, d + reduced.values.a, &right)?;
        }
        Err(CoefficientError::Order { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    // the differential equations hold to rounding, whatever happened to redundant ones
    let defect: Vec<f64> =
        (0..d).map(|i| dot(system.A1.row(i), x) + system.b1[i] - dot(system.E1.row(i), &xdot)).collect();
    let change = least_squares(&system.E1, d, &defect)?;
    for (xdot, change) in xdot.iter_mut().zip(&change) {
        *xdot += change;
    }
    Ok(xdot)
}

/// Why there is no derivative.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum DerivativeError {
    #[error(transparent)]
    Coefficients(#[from] CoefficientError),
    #[error(transparent)]
    Svd(#[from] NoConvergence),
}

/// The smallest y that minimises ‖A y − c‖, with a rank that is known.
fn least_squares(A: &Matrix, rank: usize, c: &[f64]) -> Result<Vec<f64>, NoConvergence> {
    let svd = decomposed(A)?;
    let mut y = vec![0.0; A.cols()];
    for k in 0..rank {
        let sigma = svd.sigma(k);
        if sigma > 0.0 {
            let w = (0..A.rows()).map(|i| svd.U[(i, k)] * c[i]).sum::<f64>() / sigma;
            for (j, y) in y.iter_mut().enumerate() {
                *y += svd.V[(j, k)] * w;
            }
        }
    }
    Ok(y)
}

/// Orthonormal basis of the range of A, whose rank is known.
fn left_basis(A: &Matrix, rank: usize) -> Result<Matrix, NoConvergence> {
    let svd = decomposed(A)?;
    let mut Z = Matrix::zeros(A.rows(), rank);
    for i in 0..A.rows() {
        for j in 0..rank {
            Z[(i, j)] = svd.U[(i, j)];
        }
    }
    Ok(Z)
}

fn decomposed(A: &Matrix) -> Result<Svd, NoConvergence> {
    let mut svd = Svd::new(A.rows(), A.cols());
    for i in 0..A.rows() {
        for j in 0..A.cols() {
            svd.A[(i, j)] = A[(i, j)];
        }
    }
    svd.factor()?;
    Ok(svd)
}
