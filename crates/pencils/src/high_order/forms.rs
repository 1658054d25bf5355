//! Forms of first order of a system of order k: some derivatives of the unknowns become unknowns themselves.

use super::OrderExpansion;
use crate::second_order::FirstOrderExpansion;
use faer::Mat;

impl OrderExpansion {
    /// The pair of first order with x_j, x_j′, …, x_j⁽ᵒ⁻¹⁾ as unknowns, o = `orders[j]` but at least one and the highest derivative of x_j in
    /// the equations: the states first, then the derivatives of the first state, of the second, …. With all o = k this is the companion form.
    pub fn with_derivatives(&self, orders: &[usize]) -> FirstOrderExpansion {
        let (m, n) = (self.rows(), self.dim());
        let needed = self.orders();
        let order = |j: usize| orders[j].max(needed[j]).max(1);
        let mut unknowns: Vec<(usize, usize)> = (0..n).map(|j| (j, 0)).collect();
        unknowns.extend((0..n).flat_map(|j| (1..order(j)).map(move |q| (j, q))));
        let place = |j: usize, q: usize| unknowns.iter().position(|&unknown| unknown == (j, q));
        let size = unknowns.len();
        let rows = m + size - n;
        let series = |i: usize| {
            let (mut E, mut A) = (Mat::zeros(rows, size), Mat::zeros(rows, size));
            for j in 0..n {
                for q in 0..=order(j).min(self.order()) {
                    let from = &self.A(q)[i];
                    match place(j, q) {
                        Some(at) => (0..m).for_each(|r| A[(r, at)] = -from[(r, j)]),
                        // the derivative of the last unknown of the chain
                        None => {
                            let at = place(j, q - 1).unwrap_or(j);
                            (0..m).for_each(|r| E[(r, at)] = from[(r, j)]);
                        }
                    }
                }
            }
            if i == 0 {
                for (row, &(j, q)) in (m..).zip(&unknowns[n..]) {
                    E[(row, place(j, q - 1).unwrap_or(j))] = 1.0;
                    A[(row, place(j, q).unwrap_or(j))] = 1.0;
                }
            }
            (E, A)
        };
        let (E, A) = (0..=self.level()).map(series).unzip();
        let right = |f: &Vec<f64>| {
            let mut b = f.clone();
            b.resize(rows, 0.0);
            b
        };
        FirstOrderExpansion { E, A, b: self.f().iter().map(right).collect() }
    }
}
