//! Gradients that must keep their rank along the chord from one accepted point to the next.
//!
//! The smallest singular value tells a loss of rank from gradients that turn by a large angle in a long step. It is the test of
//! mechanisms, for general systems.

use crate::linalg::Matrix;
use crate::linalg::rank::{RankWatch, Rows};

/// A matrix at the last point.
#[derive(Debug)]
pub(super) struct Chord {
    watch: RankWatch,
    last: Option<(f64, Vec<f64>)>,
    between: Vec<f64>,
}

impl Chord {
    /// For matrices with r rows and n ≥ r columns, at points with this many unknowns.
    pub fn new(r: usize, n: usize, unknowns: usize) -> Self {
        Chord { watch: RankWatch::new(r, n, Rows::Fixed), last: None, between: vec![0.0; unknowns] }
    }

    /// The next point is a first one.
    pub fn forget(&mut self) {
        self.last = None;
        self.watch.forget();
    }

    /// Where the matrix of the next point is written.
    pub fn next(&mut self) -> &mut Matrix {
        self.watch.next_matrix()
    }

    /// Go on to a point. `matrix_at` gives the matrix of another one. The time of a singular point that lies between.
    pub fn step(&mut self, (t, y): (f64, &[f64]), mut matrix_at: impl FnMut(f64, &[f64], &mut Matrix)) -> Option<f64> {
        let (last, between) = (&self.last, &mut self.between);
        let lost = self.watch.step(|s, W| {
            let Some((t0, y0)) = last else { return false };
            between.iter_mut().zip(y0.iter().zip(y)).for_each(|(x, (a, b))| *x = a + s * (b - a));
            matrix_at(t0 + s * (t - t0), between, W);
            W.data().iter().all(|w| w.is_finite())
        });
        let lost = lost.zip(last.as_ref()).map(|(s, (t0, _))| t0 + s * (t - t0));
        match &mut self.last {
            Some((t0, y0)) => {
                *t0 = t;
                y0.copy_from_slice(y);
            }
            None => self.last = Some((t, y.to_vec())),
        }
        lost
    }
}

/// Gradients of some of the constraints; which of them may change.
#[derive(Debug)]
pub(super) struct Chosen {
    rows: Vec<usize>,
    chord: Chord,
}

impl Chosen {
    /// Before the first point.
    pub fn new(n: usize) -> Self {
        Chosen { rows: Vec::new(), chord: Chord::new(0, n, n) }
    }

    /// The next point is a first one.
    pub fn forget(&mut self) {
        self.chord.forget();
    }

    /// Go on to a point with gradients `C` of these rows. `gradients_at` gives those of another point. The time of a singular point that lies between.
    pub fn follow(
        &mut self,
        rows: &[usize],
        at: (f64, &[f64]),
        C: impl Fn(usize, usize) -> f64,
        gradients_at: impl FnMut(f64, &[f64], &mut Matrix),
    ) -> Option<f64> {
        if self.rows != rows {
            self.rows = rows.to_vec();
            self.chord = Chord::new(rows.len(), at.1.len(), at.1.len());
        }
        let next = self.chord.next();
        for i in 0..rows.len() {
            next.row_mut(i).iter_mut().enumerate().for_each(|(j, c)| *c = C(i, j));
        }
        self.chord.step(at, gradients_at)
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
        let mut chosen = Chosen::new(2);
        let of = |y: [f64; 2]| move |_: usize, j: usize| if j == 0 { 2.0 * y[0] } else { sign * 2.0 * y[1] };
        assert_eq!(chosen.follow(&[0], (0.0, &from), of(from), &at), None);
        chosen.follow(&[0], (1.0, &to), of(to), &at)
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
