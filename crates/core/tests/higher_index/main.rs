//! Facts about equations of higher index that any implementation has to reproduce: index reduction and drift, stabilisation,
//! projection, invariants. Hairer & Wanner, Solving ODEs II (1996), VII.1 and VII.2; tests name the entry of the list of tests
//! (T4, T5, …) they belong to.
//!
//! What is tried are the methods of the library; reference solutions are closed forms.

mod arm;
mod baumgarte;
mod counterexamples;
mod drift;
mod invariants;
mod kepler;
mod mechanism;
mod observed;
mod pendulum;
mod projection;
mod steering;
