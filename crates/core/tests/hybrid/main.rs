//! Hybrid systems: events, transitions, restarts, chattering, and what holds for every run.

mod chattering;
mod events;
mod properties;
mod random_systems;
mod restart;
mod root_finding;
mod sliding;
mod support;
mod transitions;
