//! Derivative arrays of order k in Taylor form.
//!
//! ```text
//! row i, unknown x_[p]:   Σ_q p!/(p−q)! A_q,[i−p+q]                 right-hand side:  f_[i]
//! ```
//! Row i is the i-th derivative of the equations divided by i!, x_\[p\] = x⁽ᵖ⁾/p!; ranks are those of the derivatives.

use super::OrderExpansion;
use crate::second_order::SecondOrderError;
use faer::{Mat, Scale};

/// The columns of x_\[k\], x_\[k+1\], … in one matrix, those of x_\[0\], …, x_\[k−1\] in one each.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderArray {
    /// Columns of x_\[k\], …, x_\[k+l\], (l+1)m × (l+1)n.
    pub high: Mat<f64>,
    /// Columns of x_\[p\], p < k, (l+1)m × n each.
    pub low: Vec<Mat<f64>>,
    /// f_\[0\], …, f_\[l\].
    pub g: Vec<f64>,
}

impl OrderArray {
    /// Up to derivative `level`.
    pub fn new(at: &OrderExpansion, level: usize) -> Result<Self, SecondOrderError> {
        if level > at.level() {
            return Err(SecondOrderError::TooFewDerivatives { asked: level, given: at.level() });
        }
        let (k, m, n) = (at.order(), at.rows(), at.dim());
        let mut high = Mat::zeros((level + 1) * m, (level + 1) * n);
        let mut low = vec![Mat::zeros((level + 1) * m, n); k];
        for i in 0..=level {
            for p in 0..=i + k {
                let mut block = Mat::<f64>::zeros(m, n);
                for q in 0..=k.min(p) {
                    if i + q >= p {
                        let factor: f64 = (p - q + 1..=p).map(|x| x as f64).product();
                        block += &at.A(q)[i + q - p] * Scale(factor);
                    }
                }
                let rows = i * m..(i + 1) * m;
                match p.checked_sub(k) {
                    Some(j) => high.get_mut(rows, j * n..(j + 1) * n).copy_from(&block),
                    None => low[p].get_mut(rows, ..).copy_from(&block),
                }
            }
        }
        Ok(OrderArray { high, low, g: at.f()[..=level].concat() })
    }

    /// Largest entry: what is small against it is rounding.
    pub fn size(&self) -> f64 {
        self.low.iter().fold(self.high.norm_max(), |size, X| size.max(X.norm_max()))
    }
}
