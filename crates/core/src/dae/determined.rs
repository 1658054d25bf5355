//! Unknowns without a rate must be determined by the constraints: the gradients with respect to them keep full rank along a run.
//!
//! Where they do not, an unknown loses its equation on the way, as z in 0 = y z + x − 1 where y passes zero.

use super::chord::Chord;
use crate::linalg::Matrix;

/// Gradients with respect to the unknowns without a rate at the last point.
pub(super) struct Determined {
    /// entry of the Jacobian, unknown, constraint
    entries: Vec<(usize, usize, usize)>,
    chord: Chord,
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
            chord: Chord::new(seen, constraints.len(), moving.len()),
        }
    }

    /// The next point does not continue the last one.
    pub fn forget(&mut self) {
        self.chord.forget();
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
        let Determined { entries, chord } = self;
        let put = |slopes: &[f64], W: &mut Matrix| {
            W.fill(0.0);
            for &(entry, row, column) in entries.iter() {
                W[(row, column)] = slopes[entry];
            }
        };
        put(slopes, chord.next());
        chord.step((t, y), |t, y, W| entries_at(t, y, &mut |slopes| put(slopes, W)))
    }
}
