//! Linear algebra in fixed buffers: nothing here allocates after construction, eigenvalues, subspaces and sparse matrices
//! excepted.
//!
//! Loops written out, because the systems that are solved in every step are small: below about 25 unknowns they are
//! faster than a library call. The singular value decomposition, eigenvalues, and LU of large and of sparse matrices are faer's.

mod augmented;
mod complete_lu;
mod eigenvalues;
mod finite;
mod iteration_matrix;
mod jacobian;
mod large_lu;
mod least_change;
mod least_multipliers;
mod lu;
mod matrix;
mod pencil;
mod pivoted_qr;
pub mod product;
pub mod rank;
mod row_merge;
#[allow(clippy::assign_op_pattern)] // numbers of either kind have no −=
mod small_lu;
#[allow(clippy::assign_op_pattern)] // numbers of either kind have no −=
mod sparse_lu;
mod sparse_matrix;
mod svd;
mod thin_qr;

pub use augmented::Augmented;
pub use complete_lu::CompleteLu;
pub use eigenvalues::{eigenvalues, symmetric_eigenvalues};
pub use finite::all_finite;
pub use iteration_matrix::{IterationMatrix, Shift};
pub use jacobian::{Entries, Jacobian, JacobianRef, Matrices};
pub use large_lu::LargeLu;
pub use least_change::{LeastChange, MOVING_WEIGHT};
pub use least_multipliers::LeastMultipliers;
pub use lu::row_pivots;
pub use lu::{Field, Lu, Singular};
pub use matrix::Matrix;
pub use pencil::Pencil;
pub use pivoted_qr::PivotedQr;
pub use product::{dot, norm, product, times};
pub use rank::{RankError, RankGap, RankRule, Ranks, Subspaces, scale_of};
pub use row_merge::{IndependentRows, RowMerge};
pub use sparse_lu::SparseLu;
pub use sparse_matrix::SparseMatrix;
pub use svd::{NoConvergence, Svd};
pub use thin_qr::ThinQr;

/// Matrices of analyses, which allocate: faer's.
pub use faer::Mat;
