//! Linear algebra in fixed buffers: nothing here allocates after construction, eigenvalues, subspaces and sparse matrices
//! excepted.
//!
//! Loops written out, because the systems that are solved in every step are small: below about 25 unknowns they are
//! faster than a library call. The singular value decomposition, eigenvalues, and LU of large and of sparse matrices are faer's.

mod complete_lu;
mod eigenvalues;
mod iteration_matrix;
mod jacobian;
mod large_lu;
mod least_change;
mod lu;
mod matrix;
mod pencil;
mod pivoted_qr;
pub(crate) mod product;
pub(crate) mod rank;
mod sparse_lu;
mod sparse_matrix;
mod svd;
mod thin_qr;

pub(crate) use complete_lu::CompleteLu;
pub use eigenvalues::{eigenvalues, symmetric_eigenvalues};
pub use iteration_matrix::{IterationMatrix, Shift};
pub(crate) use jacobian::{Entries, is_sparse};
pub use jacobian::{Jacobian, JacobianRef};
pub(crate) use large_lu::LargeLu;
pub(crate) use least_change::{LeastChange, MOVING_WEIGHT};
pub(crate) use lu::row_pivots;
pub use lu::{Field, Lu, Singular};
pub use matrix::Matrix;
pub use pencil::Pencil;
pub(crate) use pivoted_qr::PivotedQr;
pub use product::{dot, norm, product, times};
pub use rank::{RankError, RankGap, RankRule, Ranks, Subspaces, scale_of};
pub use sparse_matrix::SparseMatrix;
pub use svd::{NoConvergence, Svd};
pub(crate) use thin_qr::ThinQr;

/// Matrices of analyses, which allocate: faer's.
pub use faer::Mat;
