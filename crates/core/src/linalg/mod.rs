//! Dense linear algebra in fixed buffers: nothing here allocates after construction.
//!
//! Loops written out, because the systems that are solved in every step are small: below about 25 unknowns they are
//! faster than a library call. The singular value decomposition is faer's.

mod lu;
mod matrix;

pub use lu::{Field, Lu, Singular, row_pivots};
pub use matrix::Matrix;
