//! Orders, drift and published results of the methods for equations of motion, each on the same problems.

mod extrapolation;
mod formulations;
mod half_explicit;
mod local_state_space;
mod problems;
