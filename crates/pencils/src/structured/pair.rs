//! A pair at a point, its adjoint and its symmetry. Wunderlich, thesis (2008), 4.3.
//!
//! ```text
//! ∫ (E x′ − A x)ᵀ y = ∫ xᵀ(−(Eᵀy)′ − Aᵀy):        adjoint (−Eᵀ, (A + E′)ᵀ)
//! ```

use super::StructuredError;
use faer::{Mat, Scale};
use std::fmt;

/// Relative defects below this are rounding.
const ROUNDING: f64 = 1e-12;

/// X = Xᵀ or X = −Xᵀ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symmetry {
    /// X = Xᵀ.
    Symmetric,
    /// X = −Xᵀ.
    Skew,
}

impl Symmetry {
    /// ε of X = ε Xᵀ.
    pub fn sign(self) -> f64 {
        match self {
            Symmetry::Symmetric => 1.0,
            Symmetry::Skew => -1.0,
        }
    }

    /// ‖X − ε Xᵀ‖ in the largest entry.
    pub fn defect(self, X: &Mat<f64>) -> f64 {
        (X - X.transpose() * Scale(self.sign())).norm_max()
    }

    /// An error unless X has this symmetry up to rounding.
    pub(crate) fn require(self, what: &'static str, X: &Mat<f64>) -> Result<(), StructuredError> {
        let defect = self.defect(X) / X.norm_max().max(f64::MIN_POSITIVE);
        if defect > ROUNDING { Err(StructuredError::WrongSymmetry { what, symmetry: self, defect }) } else { Ok(()) }
    }
}

impl fmt::Display for Symmetry {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Symmetry::Symmetric => "symmetric",
            Symmetry::Skew => "skew",
        })
    }
}

/// By how much a pair misses a structure, relative to its largest entry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Defect {
    /// Of E.
    pub E: f64,
    /// Of A.
    pub A: f64,
}

impl Defect {
    /// Is it rounding?
    pub fn is_rounding(&self) -> bool {
        self.E <= ROUNDING && self.A <= ROUNDING
    }
}

/// E and A at a point, with the derivative of E there.
#[derive(Clone, Debug, PartialEq)]
pub struct MatrixPair {
    /// Factor of x′.
    pub E: Mat<f64>,
    /// Factor of x.
    pub A: Mat<f64>,
    /// dE/dt.
    pub E_rate: Mat<f64>,
}

impl MatrixPair {
    /// A pair of matrices of the same size with finite entries.
    pub fn new(E: Mat<f64>, A: Mat<f64>, E_rate: Mat<f64>) -> Result<Self, StructuredError> {
        let size = (E.nrows(), E.ncols());
        for (what, X) in [("E", &E), ("A", &A), ("E′", &E_rate)] {
            sized(what, X, size)?;
        }
        Ok(MatrixPair { E, A, E_rate })
    }

    /// With constant E.
    pub fn constant(E: Mat<f64>, A: Mat<f64>) -> Result<Self, StructuredError> {
        let rate = Mat::zeros(E.nrows(), E.ncols());
        Self::new(E, A, rate)
    }

    /// The adjoint pair (−Eᵀ, (A + E′)ᵀ); the adjoint of the adjoint is the pair.
    pub fn adjoint(&self) -> Self {
        MatrixPair {
            E: self.E.transpose() * Scale(-1.0),
            A: (&self.A + &self.E_rate).transpose().to_owned(),
            E_rate: self.E_rate.transpose() * Scale(-1.0),
        }
    }

    /// Largest entries of E − Eᵀ and A − Aᵀ; infinite for a pair that is not square.
    pub fn symmetry_defect(&self) -> Defect {
        self.relative(|| {
            let symmetric = Symmetry::Symmetric;
            Defect { E: symmetric.defect(&self.E), A: symmetric.defect(&self.A) }
        })
    }

    /// Largest entries of E + Eᵀ and A − (A + E′)ᵀ; infinite for a pair that is not square.
    pub fn self_adjointness_defect(&self) -> Defect {
        self.relative(|| {
            let adjoint = self.adjoint();
            Defect { E: (&self.E - adjoint.E).norm_max(), A: (&self.A - adjoint.A).norm_max() }
        })
    }

    /// E = Eᵀ and A = Aᵀ up to rounding.
    pub fn is_symmetric(&self) -> bool {
        self.symmetry_defect().is_rounding()
    }

    /// The pair is its adjoint up to rounding.
    pub fn is_self_adjoint(&self) -> bool {
        self.self_adjointness_defect().is_rounding()
    }

    fn relative(&self, defect: impl Fn() -> Defect) -> Defect {
        if self.E.nrows() != self.E.ncols() {
            return Defect { E: f64::INFINITY, A: f64::INFINITY };
        }
        let size = self.E.norm_max().max(self.A.norm_max()).max(f64::MIN_POSITIVE);
        let found = defect();
        Defect { E: found.E / size, A: found.A / size }
    }
}

/// An error unless X has this size and finite entries.
pub(crate) fn sized(what: &'static str, X: &Mat<f64>, expected: (usize, usize)) -> Result<(), StructuredError> {
    let found = (X.nrows(), X.ncols());
    if found != expected {
        return Err(StructuredError::Size { what, expected, found });
    }
    if X.col_iter().any(|column| column.iter().any(|x| !x.is_finite())) {
        return Err(StructuredError::NotFinite { what });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::mat;

    #[test]
    fn the_adjoint_of_the_adjoint_is_the_pair() {
        let pair = MatrixPair::new(
            mat![[1.0, 2.0, 0.0], [0.5, -1.0, 3.0]],
            mat![[0.0, 1.0, 1.0], [2.0, 0.0, 1.0]],
            mat![[1.0, 0.0, 0.0], [0.0, 4.0, 0.0]],
        );
        let pair = pair.unwrap();
        assert_eq!((pair.adjoint().E.nrows(), pair.adjoint().A[(1, 1)]), (3, 4.0));
        assert_eq!(pair.adjoint().adjoint(), pair);
        assert!(!pair.is_symmetric() && !pair.is_self_adjoint());
    }

    #[test]
    fn a_moving_skew_matrix_needs_the_right_part_of_its_rate() {
        // E = [0 t; −t 0], A = S − ½E′
        let (E, rate) = (mat![[0.0, 2.0], [-2.0, 0.0]], mat![[0.0, 1.0], [-1.0, 0.0]]);
        let A = mat![[1.0, 3.0 - 0.5], [3.0 + 0.5, 2.0]];
        assert!(MatrixPair::new(E.clone(), A.clone(), rate).unwrap().is_self_adjoint());
        assert!(!MatrixPair::constant(E, A).unwrap().is_self_adjoint());
    }

    #[test]
    fn wrong_sizes_and_numbers_are_refused() {
        let wrong = MatrixPair::constant(Mat::zeros(2, 2), Mat::zeros(2, 3));
        assert_eq!(wrong, Err(StructuredError::Size { what: "A", expected: (2, 2), found: (2, 3) }));
        let wrong = MatrixPair::constant(mat![[f64::NAN]], mat![[1.0]]);
        assert_eq!(wrong, Err(StructuredError::NotFinite { what: "E" }));
    }
}
