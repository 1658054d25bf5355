//! Orders, drift and published results of the methods for equations of motion, each on the same problems.

mod baumgarte;
mod bdf;
mod between;
mod circle;
mod drift;
mod extrapolation;
mod formulations;
mod generalized_alpha;
mod gmkssol;
mod half_explicit;
mod heavy_top;
mod local_state_space;
mod never_silent;
mod nonstiff_first;
mod odassl;
mod orders;
mod ordinary;
mod output;
mod problems;
mod radau;
mod ranks;
mod rodas;
mod runge_kutta;
mod symplectic;
