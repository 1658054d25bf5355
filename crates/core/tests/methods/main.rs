//! Orders, drift and published results of the methods for equations of motion, each on the same problems.

mod bdf;
mod circle;
mod drift;
mod formulations;
mod odassl;
mod problems;
