//! Reference problems.
