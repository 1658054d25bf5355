//! Singular configurations between two points: no step may pass one silently.
//!
//! K = [GZ; HZ] must keep its rank along the polynomial of every step. Where it is kept with all entries, whatever the number by which its rank
//! drops ([`DensePassage`]); where it is sparse, by its smallest singular vector ([`SparsePassage`]).

mod dense;
mod sparse;

pub(crate) use dense::DensePassage;
pub(crate) use sparse::{SparsePassage, SparseRank};

use super::structural::kinds;
use crate::linalg::{Jacobian, RankRule};
use crate::motion::ReducedArray;
use crate::segment::Segment;

/// Redundant constraints of more rows than this are not looked at with all entries. Chosen: singular values of as many take seconds.
pub(crate) const MOST_DENSE: usize = 1_000;

/// K along a run.
pub enum Passage {
    /// With all entries.
    Dense(Box<DensePassage>),
    /// With those of a pattern.
    Sparse(Box<SparsePassage>),
}

impl Passage {
    /// Room for an array.
    pub fn new(array: &dyn ReducedArray, ranks: RankRule) -> Self {
        match kinds(array).1 {
            Jacobian::Sparse(K) => Passage::Sparse(Box::new(SparsePassage::new(K, array.layout(), ranks))),
            Jacobian::Dense(_) => Passage::Dense(Box::new(DensePassage::new(array.layout(), ranks))),
        }
    }

    /// Forget the last K.
    pub fn forget(&mut self) {
        match self {
            Passage::Dense(passage) => passage.forget(),
            Passage::Sparse(passage) => passage.forget(),
        }
    }

    /// Begin at a point; false if there are no constraints, and nothing can be seen. Redundant ones are followed with all entries.
    pub fn begin(&mut self, array: &mut dyn ReducedArray, t: f64, x: &[f64]) -> bool {
        if let Passage::Sparse(passage) = self {
            let follows = passage.begin(array, t, x);
            let constraints = array.layout().row_h().end - array.layout().row_g1().start;
            if follows || constraints == 0 || constraints > MOST_DENSE {
                return follows;
            }
            *self = Passage::Dense(Box::new(DensePassage::new(array.layout(), passage.ranks())));
        }
        match self {
            Passage::Dense(passage) => passage.begin(array, t, x),
            Passage::Sparse(_) => unreachable!("it was made dense"),
        }
    }

    /// The same without some rows, which depend on the others there; none, where the list is empty.
    pub fn begin_without(&mut self, array: &mut dyn ReducedArray, t: f64, x: &[f64], left_out: &[bool]) -> bool {
        match self {
            Passage::Sparse(passage) if !left_out.is_empty() => passage.begin_without(array, t, x, left_out),
            _ => self.begin(array, t, x),
        }
    }

    /// Go on without other rows than before. The smallest singular value of those that stay, at the last point.
    pub fn leave_out(&mut self, rows: &[bool]) -> f64 {
        match self {
            Passage::Dense(_) => f64::INFINITY,
            Passage::Sparse(passage) => passage.leave_out(rows),
        }
    }

    /// The smallest singular value at the last point, rows being of size one, where K is sparse.
    pub fn smallest(&self) -> Option<f64> {
        match self {
            Passage::Dense(_) => None,
            Passage::Sparse(passage) => passage.smallest(),
        }
    }

    /// Let K at a point be the last one.
    pub fn stand(&mut self, array: &mut dyn ReducedArray, t: f64, x: &[f64]) {
        match self {
            Passage::Dense(passage) => {
                if passage.put_at(array, t, x) {
                    passage.first();
                }
            }
            Passage::Sparse(passage) => passage.stand(array, t, x),
        }
    }

    /// Write down the next K.
    pub fn put(&mut self, K: &Jacobian) {
        match (self, K) {
            (Passage::Dense(passage), Jacobian::Dense(K)) => passage.put((0..K.rows()).map(|k| K.row(k))),
            (Passage::Dense(passage), Jacobian::Sparse(K)) => {
                let K = K.to_dense();
                passage.put((0..K.rows()).map(|k| K.row(k)));
            }
            (Passage::Sparse(passage), K) => passage.put(|next| next.take_rows(K, 0)),
        }
    }

    /// The same of a point; false where K has no value.
    pub fn put_at(&mut self, array: &mut dyn ReducedArray, t: f64, x: &[f64]) -> bool {
        match self {
            Passage::Dense(passage) => passage.put_at(array, t, x),
            Passage::Sparse(passage) => passage.put_at(array, t, x),
        }
    }

    /// Go on to the K that was written down, at the end of a step. Time and relative size of a vanishing singular value on it, if there is one.
    pub fn singularity(&mut self, array: &mut dyn ReducedArray, segment: &Segment) -> Option<(f64, f64)> {
        match self {
            Passage::Dense(passage) => passage.singularity(array, segment),
            Passage::Sparse(passage) => passage.singularity(array, segment),
        }
    }

    /// The same of a way from the point at hand that was not taken.
    pub fn ahead(&mut self, array: &mut dyn ReducedArray, way: &Segment) -> Option<(f64, f64)> {
        match self {
            Passage::Dense(passage) => passage.ahead(array, way),
            Passage::Sparse(passage) => passage.ahead(array, way),
        }
    }

    /// The smallest singular value of K at a point, relative to the start, if it is so small that no way leads on from there.
    pub fn lost(&mut self, array: &mut dyn ReducedArray, t: f64, x: &[f64]) -> Option<f64> {
        match self {
            Passage::Dense(passage) => passage.lost(array, t, x),
            Passage::Sparse(passage) => passage.lost(array, t, x),
        }
    }
}
