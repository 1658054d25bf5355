//! Derivative arrays of second order in Taylor form. Wunderlich, thesis (2008), (3.19)–(3.20).
//!
//! ```text
//! row i, unknown x_[j+2]:  (j+2)(j+1) M_[i−j] + (j+2) C_[i−j−1] + K_[i−j−2]
//! row i, unknown x_[1]:    C_[i] + K_[i−1]          row i, unknown x_[0]:  K_[i]          right-hand side:  f_[i]
//! ```
//! Row i is the i-th derivative of the equations divided by i!, the column of x_\[p\] = x^(p)/p! is that of x^(p) times p!; ranks are
//! those of the derivatives, and the entries do not grow like factorials.

use super::{Expansion, SecondOrderError};
use faer::{Mat, Scale};

/// M_l z″ + L_l z′ + N_l z = g_l with the columns of x″, x‴, … in M_l, of x′ in L_l and of x in N_l.
#[derive(Clone, Debug, PartialEq)]
pub struct TripleArray {
    pub(super) rows: usize,
    pub(super) level: usize,
    /// factor of x″ in the equations themselves
    pub(super) mass: Mat<f64>,
    pub(super) M: Mat<f64>,
    pub(super) L: Mat<f64>,
    pub(super) N: Mat<f64>,
    pub(super) g: Vec<f64>,
}

impl TripleArray {
    /// Of the expansion, up to derivative `level`.
    pub fn new(at: &Expansion, level: usize) -> Result<Self, SecondOrderError> {
        if level > at.level() {
            return Err(SecondOrderError::TooFewDerivatives { asked: level, given: at.level() });
        }
        let (m, n) = (at.rows(), at.dim());
        let mut M = Mat::zeros((level + 1) * m, (level + 1) * n);
        let mut L = Mat::zeros((level + 1) * m, n);
        let mut N = Mat::zeros((level + 1) * m, n);
        for i in 0..=level {
            for j in 0..=i {
                let p = (j + 2) as f64;
                let mut block = &at.M()[i - j] * Scale(p * (p - 1.0));
                if i > j {
                    block += &at.C()[i - j - 1] * Scale(p);
                }
                if i > j + 1 {
                    block += &at.K()[i - j - 2];
                }
                M.get_mut(i * m..(i + 1) * m, j * n..(j + 1) * n).copy_from(&block);
            }
            let mut block = at.C()[i].clone();
            if i > 0 {
                block += &at.K()[i - 1];
            }
            L.get_mut(i * m..(i + 1) * m, ..).copy_from(&block);
            N.get_mut(i * m..(i + 1) * m, ..).copy_from(&at.K()[i]);
        }
        let g = at.f()[..=level].concat();
        Ok(TripleArray { rows: m, level, mass: at.M()[0].clone(), M, L, N, g })
    }

    /// From Jacobians of the derivatives F, dF/dt, …, dˡF/dtˡ of a system of m equations by (x″, …, x^(l+2)), x′ and x, and g = −F_l.
    /// Rows of derivatives and columns of x‴ and higher may be scaled by constants.
    pub fn from_blocks(
        rows: usize,
        M: Mat<f64>,
        L: Mat<f64>,
        N: Mat<f64>,
        g: Vec<f64>,
    ) -> Result<Self, SecondOrderError> {
        let n = L.ncols();
        let all = M.nrows();
        let levels = all.checked_div(rows).unwrap_or(0);
        if rows == 0 || levels == 0 || all != levels * rows || M.ncols() != levels * n {
            let expected = (levels.max(1) * rows, levels.max(1) * n);
            return Err(SecondOrderError::Size { what: "M_l", expected, found: (M.nrows(), M.ncols()) });
        }
        for (what, X) in [("L_l", &L), ("N_l", &N)] {
            if (X.nrows(), X.ncols()) != (all, n) {
                return Err(SecondOrderError::Size { what, expected: (all, n), found: (X.nrows(), X.ncols()) });
            }
        }
        if g.len() != all {
            return Err(SecondOrderError::Size { what: "g_l", expected: (all, 1), found: (g.len(), 1) });
        }
        for (what, X) in [("M_l", &M), ("L_l", &L), ("N_l", &N)] {
            if X.col_iter().any(|column| column.iter().any(|x| !x.is_finite())) {
                return Err(SecondOrderError::NotFinite { what });
            }
        }
        if g.iter().any(|x| !x.is_finite()) {
            return Err(SecondOrderError::NotFinite { what: "g_l" });
        }
        let mass = M.get(..rows, ..n).to_owned();
        Ok(TripleArray { rows, level: levels - 1, mass, M, L, N, g })
    }

    /// Number of equations m of the system.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of unknowns n of the system.
    pub fn dim(&self) -> usize {
        self.L.ncols()
    }

    /// Level l: derivatives 0..=l.
    pub fn level(&self) -> usize {
        self.level
    }

    /// M_l, (l+1)m × (l+1)n.
    pub fn M(&self) -> &Mat<f64> {
        &self.M
    }

    /// L_l, (l+1)m × n.
    pub fn L(&self) -> &Mat<f64> {
        &self.L
    }

    /// N_l, (l+1)m × n.
    pub fn N(&self) -> &Mat<f64> {
        &self.N
    }

    /// g_l.
    pub fn g(&self) -> &[f64] {
        &self.g
    }

    /// Largest entry: what is small against it is rounding.
    pub(super) fn size(&self) -> f64 {
        self.M.norm_max().max(self.L.norm_max()).max(self.N.norm_max())
    }
}

/// The arrays of all levels that an expansion allows, made when asked for.
pub(super) fn levels(at: &Expansion) -> impl Iterator<Item = Result<TripleArray, SecondOrderError>> {
    (0..=at.level()).map(|level| TripleArray::new(at, level))
}
