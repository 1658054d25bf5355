//! Taylor coefficients of A_0, …, A_k and f at one point.

use crate::second_order::SecondOrderError;
use daedal_linear::linalg::scale_of;
use faer::Mat;

/// Taylor coefficients 0..=level of all matrices and of the right-hand side at one point, of fitting sizes and finite.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderExpansion {
    /// `A[q][i]`
    A: Vec<Vec<Mat<f64>>>,
    f: Vec<Vec<f64>>,
}

impl OrderExpansion {
    /// `A[q][i]` is coefficient i of A_q, `f[i]` that of f.
    pub fn new(A: Vec<Vec<Mat<f64>>>, f: Vec<Vec<f64>>) -> Result<Self, SecondOrderError> {
        let given = A.iter().map(Vec::len).chain([f.len()]);
        let (least, most) = given.fold((usize::MAX, 0), |(least, most), n| (least.min(n), most.max(n)));
        if A.len() < 2 || least == 0 || least != most {
            return Err(SecondOrderError::TooFewDerivatives { asked: most.max(1) - 1, given: least.max(1) - 1 });
        }
        let expected = (A[0][0].nrows(), A[0][0].ncols());
        for X in A.iter().flatten() {
            let found = (X.nrows(), X.ncols());
            if found != expected {
                return Err(SecondOrderError::Size { what: "A_q", expected, found });
            }
            if X.col_iter().any(|column| column.iter().any(|x| !x.is_finite())) {
                return Err(SecondOrderError::NotFinite { what: "A_q" });
            }
        }
        if let Some(wrong) = f.iter().find(|f| f.len() != expected.0) {
            return Err(SecondOrderError::Size { what: "f", expected: (expected.0, 1), found: (wrong.len(), 1) });
        }
        if f.iter().flatten().any(|x| !x.is_finite()) {
            return Err(SecondOrderError::NotFinite { what: "f" });
        }
        Ok(OrderExpansion { A, f })
    }

    /// Constant A_0, …, A_k with f = 0.
    pub fn constant(A: &[Mat<f64>], level: usize) -> Result<Self, SecondOrderError> {
        let series = |X: &Mat<f64>| {
            (0..=level).map(|i| if i == 0 { X.clone() } else { Mat::zeros(X.nrows(), X.ncols()) }).collect()
        };
        let rows = A.first().map_or(0, Mat::nrows);
        Self::new(A.iter().map(series).collect(), vec![vec![0.0; rows]; level + 1])
    }

    /// The order k.
    pub fn order(&self) -> usize {
        self.A.len() - 1
    }

    /// Number of equations m.
    pub fn rows(&self) -> usize {
        self.A[0][0].nrows()
    }

    /// Number of unknowns n.
    pub fn dim(&self) -> usize {
        self.A[0][0].ncols()
    }

    /// The highest coefficient that is given.
    pub fn level(&self) -> usize {
        self.f.len() - 1
    }

    /// Coefficients of A_q.
    pub fn A(&self, q: usize) -> &[Mat<f64>] {
        &self.A[q]
    }

    /// Coefficients of f.
    pub fn f(&self) -> &[Vec<f64>] {
        &self.f
    }

    /// The highest derivative of each unknown near the point.
    pub fn orders(&self) -> Vec<usize> {
        let enters = |q: usize, j: usize| self.A[q].iter().any(|X| (0..X.nrows()).any(|i| X[(i, j)] != 0.0));
        (0..self.dim()).map(|j| (0..=self.order()).rev().find(|&q| enters(q, j)).unwrap_or(0)).collect()
    }

    /// Every equation divided by the largest entry of its row at the point, to the next power of two, constant in time. A row that vanishes
    /// at the point is measured by its first coefficients that do not.
    pub fn equilibrated(&self) -> Self {
        let row = |X: &Mat<f64>, i: usize| (0..X.ncols()).map(|j| X[(i, j)].abs()).fold(0.0, f64::max);
        let size = |i: usize, k: usize| self.A.iter().map(|A| row(&A[k], i)).fold(0.0, f64::max);
        let largest = |i: usize| (0..=self.level()).map(|k| size(i, k)).find(|size| *size > 0.0);
        let factors: Vec<f64> = (0..self.rows()).map(|i| largest(i).map_or(1.0, scale_of)).collect();
        let scaled = |X: &Mat<f64>| Mat::from_fn(X.nrows(), X.ncols(), |i, j| factors[i] * X[(i, j)]);
        OrderExpansion {
            A: self.A.iter().map(|A| A.iter().map(scaled).collect()).collect(),
            f: self.f.iter().map(|f| f.iter().zip(&factors).map(|(f, r)| f * r).collect()).collect(),
        }
    }
}
