//! Unknowns without a rate must be determined by the constraints: the gradients with respect to them keep full rank along a run.
//!
//! Where they do not, an unknown loses its equation on the way, as z in 0 = y z + x − 1 where y passes zero.

use crate::linalg::Matrix;
use crate::linalg::rank::{RankWatch, Rows};

/// Gradients with respect to the unknowns without a rate at the last point.
pub(super) struct Determined {
    /// entry of the Jacobian, unknown, constraint
    entries: Vec<(usize, usize, usize)>,
    watch: RankWatch,
    last: Option<(f64, Vec<f64>)>,
    between: Vec<f64>,
}

impl Determined {
    /// From the places (constraint, unknown) of all gradients, by the number of their entry; `moving` unknowns have rates.
    pub fn new(places: impl Iterator<Item = (usize, usize, usize)>, moving: &[bool]) -> Self {
        let places: Vec<_> = places.filter(|(_, _, j)| !moving[*j]).collect();
        let (mut unknowns, mut constraints): (Vec<usize>, Vec<usize>) = places.iter().map(|&(_, i, j)| (j, i)).unzip();
        for list in [&mut unknowns, &mut constraints] {
            list.sort_unstable();
            list.dedup();
        }
        let place = |list: &[usize], k: usize| list.binary_search(&k).unwrap_or(0);
        // fewer constraints than unknowns: what is undetermined has been told before
        let seen = if constraints.len() < unknowns.len() { 0 } else { unknowns.len() };
        let of = |&(entry, i, j): &(usize, usize, usize)| (entry, place(&unknowns, j), place(&constraints, i));
        Determined {
            entries: places.iter().filter(|_| seen > 0).map(of).collect(),
            watch: RankWatch::new(seen, constraints.len(), Rows::Fixed),
            last: None,
            between: vec![0.0; moving.len()],
        }
    }

    /// The next point does not continue the last one.
    pub fn forget(&mut self) {
        self.last = None;
        self.watch.forget();
    }

    /// Go on to a point with these entries of the Jacobian; `entries_at` gives those of another point. The time at which an unknown is
    /// not determined.
    pub fn step(
        &mut self,
        (t, y): (f64, &[f64]),
        slopes: &[f64],
        mut entries_at: impl FnMut(f64, &[f64], &mut dyn FnMut(&[f64])),
    ) -> Option<f64> {
        if self.entries.is_empty() {
            return None;
        }
        let Determined { entries, watch, last, between } = self;
        let put = |slopes: &[f64], W: &mut Matrix| {
            W.fill(0.0);
            for &(entry, row, column) in entries.iter() {
                W[(row, column)] = slopes[entry];
            }
        };
        put(slopes, watch.next());
        let lost = watch.step(|s, W| {
            let Some((t0, y0)) = last.as_ref() else { return false };
            between.iter_mut().zip(y0.iter().zip(y)).for_each(|(x, (a, b))| *x = a + s * (b - a));
            entries_at(*t0 + s * (t - *t0), between, &mut |slopes| put(slopes, W));
            W.data().iter().all(|w| w.is_finite())
        });
        let lost = lost.zip(last.as_ref()).map(|(s, (t0, _))| t0 + s * (t - t0));
        match last {
            Some((t0, y0)) => {
                *t0 = t;
                y0.copy_from_slice(y);
            }
            None => *last = Some((t, y.to_vec())),
        }
        lost
    }
}
