//! Orders, drift and published results of the methods for equations of motion, each on the same problems.

mod formulations;
mod generalized_alpha;
mod half_explicit;
mod heavy_top;
mod problems;
mod symplectic;
