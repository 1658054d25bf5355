//! Did a step pass a singular point of the stated constraints?
//!
//! Their gradients C are followed along the chord between two points: the smallest singular value tells a loss of rank from
//! gradients that turn by a large angle in a long step. It is the test of GEOMS, for general systems and for losses of any number.

use crate::linalg::Matrix;
use crate::linalg::rank::{RankWatch, Rows};

/// Gradients of some constraints at the last point.
#[derive(Debug)]
pub struct Passage {
    rows: Vec<usize>,
    at: Option<(f64, Vec<f64>)>,
    watch: RankWatch,
    between: Vec<f64>,
}

impl Passage {
    /// Before the first point.
    pub fn new(n: usize) -> Self {
        Passage { rows: Vec::new(), at: None, watch: RankWatch::new(0, n, Rows::Fixed), between: vec![0.0; n] }
    }

    /// The next point is a first one.
    pub fn forget(&mut self) {
        self.at = None;
        self.watch.forget();
    }

    /// Go on to a point with gradients `C` of these rows. `gradients_at` gives those of another point. The time of a singular point that lies between.
    pub fn follow(
        &mut self,
        rows: &[usize],
        (t, y): (f64, &[f64]),
        C: impl Fn(usize, usize) -> f64,
        mut gradients_at: impl FnMut(f64, &[f64], &mut Matrix),
    ) -> Option<f64> {
        let (r, n) = (rows.len(), y.len());
        if self.rows != rows {
            self.rows = rows.to_vec();
            self.watch = RankWatch::new(r, n, Rows::Fixed);
            self.at = None;
        }
        let next = self.watch.next();
        for i in 0..r {
            next.row_mut(i).iter_mut().enumerate().for_each(|(j, c)| *c = C(i, j));
        }
        let (at, between) = (&self.at, &mut self.between);
        let lost = self.watch.step(|s, W| {
            let Some((t0, y0)) = at else { return false };
            between.iter_mut().zip(y0.iter().zip(y)).for_each(|(x, (a, b))| *x = a + s * (b - a));
            gradients_at(t0 + s * (t - t0), between, W);
            W.data().iter().all(|c| c.is_finite())
        });
        let lost = lost.zip(at.as_ref()).map(|(s, (t0, _))| t0 + s * (t - t0));
        match &mut self.at {
            Some((t0, y0)) => {
                *t0 = t;
                y0.copy_from_slice(y);
            }
            None => self.at = Some((t, y.to_vec())),
        }
        lost
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

    fn passes(sign: f64, from: [f64; 2], to: [f64; 2]) -> Option<f64> {
        let at = gradient(sign);
        let mut passage = Passage::new(2);
        let of = |y: [f64; 2]| move |_: usize, j: usize| if j == 0 { 2.0 * y[0] } else { sign * 2.0 * y[1] };
        assert_eq!(passage.follow(&[0], (0.0, &from), of(from), &at), None);
        passage.follow(&[0], (1.0, &to), of(to), &at)
    }

    #[test]
    fn crossing_the_vertex_is_seen_and_turning_far_is_not() {
        let found = passes(-1.0, [0.5, 0.5], [-0.5, -0.5]);
        assert!(found.is_some_and(|t| (t - 0.5).abs() < 1e-4), "{found:?}");
        assert_eq!(passes(-1.0, [0.5, 0.5], [0.1, 0.1]), None);
        // a pendulum that turns by 120 degrees in one step
        let turn = 2.0 * std::f64::consts::PI / 3.0;
        assert_eq!(passes(1.0, [1.0, 0.0], [turn.cos(), turn.sin()]), None);
    }
}
