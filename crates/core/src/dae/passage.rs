//! Did a step pass a singular point of the stated constraints?
//!
//! Where their gradients C lose rank between two points, det(C_old C_newᵀ) changes its sign. So it does when they turn by more than a right angle in a
//! long step: the smallest singular value along the chord tells one from the other. It is the test of GEOMS, for general systems.

use crate::linalg::{Lu, Matrix, Svd};

/// Points of the chord that are looked at.
const PARTS: u32 = 24;
/// A smallest singular value this much below the larger one of the ends is a loss of rank.
const LOST: f64 = 0.05;

/// Gradients of some constraints at the last point.
#[derive(Clone, Debug)]
pub struct Passage {
    rows: Vec<usize>,
    at: Option<(f64, Vec<f64>)>,
    gradients: Matrix,
    product: Lu<f64>,
}

impl Passage {
    /// Before the first point.
    pub fn new(n: usize) -> Self {
        Passage { rows: Vec::new(), at: None, gradients: Matrix::zeros(0, n), product: Lu::new(0) }
    }

    /// The next point is a first one.
    pub fn forget(&mut self) {
        self.at = None;
    }

    /// Go on to a point with gradients `C` of these rows. `gradients_at` gives those of another point. True if a singular point lies between.
    pub fn follow(
        &mut self,
        rows: &[usize],
        (t, y): (f64, &[f64]),
        C: impl Fn(usize, usize) -> f64,
        mut gradients_at: impl FnMut(f64, &[f64], &mut Matrix),
    ) -> bool {
        let (r, n) = (rows.len(), y.len());
        if self.rows != rows || self.at.is_none() {
            self.rows = rows.to_vec();
            self.gradients = Matrix::zeros(r, n);
            self.product = Lu::new(r);
            self.at = None;
        }
        let mut passed = false;
        if let Some((t0, y0)) = &self.at {
            for i in 0..r {
                for k in 0..r {
                    self.product.A[(i, k)] = (0..n).map(|j| self.gradients[(i, j)] * C(k, j)).sum();
                }
            }
            let turned = self.product.factor().is_err() || !self.product.determinant_is_positive();
            if r > 0 && turned {
                let mut smallest = Vec::new();
                let (mut along, mut svd) = (Matrix::zeros(r, n), Svd::new(r, n));
                for part in 0..=PARTS {
                    let s = f64::from(part) / f64::from(PARTS);
                    let point: Vec<f64> = y0.iter().zip(y).map(|(a, b)| a + s * (b - a)).collect();
                    gradients_at(t0 + s * (t - t0), &point, &mut along);
                    for i in 0..r {
                        for j in 0..n {
                            svd.A[(i, j)] = along[(i, j)];
                        }
                    }
                    smallest.push(if svd.factor().is_ok() { svd.sigma(r - 1) } else { 0.0 });
                }
                // an end may lie close to the singular point
                let usual = smallest[0].max(smallest[PARTS as usize]);
                passed = smallest.iter().any(|s| *s <= LOST * usual);
            }
        }
        for i in 0..r {
            for j in 0..n {
                self.gradients[(i, j)] = C(i, j);
            }
        }
        match &mut self.at {
            Some((t0, y0)) => {
                *t0 = t;
                y0.copy_from_slice(y);
            }
            None => self.at = Some((t, y.to_vec())),
        }
        passed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gradient of x² − y² and of x² + y².
    fn gradient(sign: f64) -> impl Fn(f64, &[f64], &mut Matrix) {
        move |_, y, C| {
            C[(0, 0)] = 2.0 * y[0];
            C[(0, 1)] = sign * 2.0 * y[1];
        }
    }

    fn passes(sign: f64, from: [f64; 2], to: [f64; 2]) -> bool {
        let at = gradient(sign);
        let mut passage = Passage::new(2);
        let of = |y: [f64; 2]| move |_: usize, j: usize| if j == 0 { 2.0 * y[0] } else { sign * 2.0 * y[1] };
        assert!(!passage.follow(&[0], (0.0, &from), of(from), &at));
        passage.follow(&[0], (1.0, &to), of(to), &at)
    }

    #[test]
    fn crossing_the_vertex_is_seen_and_turning_far_is_not() {
        assert!(passes(-1.0, [0.5, 0.5], [-0.5, -0.5]));
        assert!(!passes(-1.0, [0.5, 0.5], [0.1, 0.1]));
        // a pendulum that turns by 120 degrees in one step
        let turn = 2.0 * std::f64::consts::PI / 3.0;
        assert!(!passes(1.0, [1.0, 0.0], [turn.cos(), turn.sin()]));
    }
}
