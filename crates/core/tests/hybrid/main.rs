//! Hybrid systems: events, transitions, restarts, chattering, and what holds for every run.
//!
//! | what must hold | where |
//! | --- | --- |
//! | order of events, zeros at the end of a step and at a restart, functions that touch zero | `events`, `root_finding` |
//! | smoothness, warnings, immediate changes, errors of a run | `transitions`, `properties` |
//! | TOLC, chattering detection on and off, hysteresis, dwell time | `chattering` |
//! | sliding systems (5.33) and (5.38): index, exits at α = 0 and 1; M4 | `sliding` |
//! | sliding systems from formulas: characteristic values, solutions, what cannot be combined | `generated` |
//! | consistent states: M6, M7, components that must not change | `restart`, `consistent` |
//! | charge, flux and momentum at jumps, whatever the scaling of rows | `impulses` |
//! | infinitely many switches in finite time | `accumulation` |
//! | no event is missed in 200 random systems | `random_systems` |
//!
//! The reference problems of Wunderlich, thesis (2008), chapter 7, are tested beside their equations, in `daedal-problems`.

mod accumulation;
mod chattering;
mod consistent;
mod events;
mod generated;
mod impulses;
#[path = "../support/mod.rs"]
mod mechanisms;
mod properties;
#[path = "../support/random.rs"]
#[allow(dead_code)]
mod random;
mod random_systems;
mod restart;
mod root_finding;
mod sliding;
mod support;
#[path = "../support/systems.rs"]
#[allow(dead_code)]
mod systems;
mod transitions;
