//! Facts about equations of higher index that any implementation has to reproduce: index reduction and drift, stabilisation,
//! projection, invariants, local state space forms and overdetermined equations. Hairer & Wanner, Solving ODEs II (1996), VII.1 and
//! VII.2; tests name the entry of the list of tests (T4, T5, …) they belong to.
//!
//! The methods stand here in their plainest form, for two positions and one constraint where mechanics is meant.

mod arm;
mod baumgarte;
mod counterexamples;
mod dormand_prince;
mod drift;
mod explicit;
mod invariants;
mod kepler;
mod local_state_space;
mod mechanism;
mod overdetermined;
mod pendulum;
mod projection;
mod steering;
