//! The published comparisons, as a study that can be run again: every number in the chapters `published.md` and `published-switched.md` is a row
//! that one of these runs prints, and a claim of the sources that holds here is an assertion.
//!
//! `cargo test --release -p daedal-problems --test published -- --ignored`; `DAEDAL_BLESS=1` writes the rows of the chapters anew. Work is counted, not
//! timed. Steinbrecher, thesis (2006), section 5.3; Wunderlich, thesis, chapter 7.

mod academic;
mod chapter;
mod lolly;
mod pendulum;
mod skateboard;
mod slider_crank;
mod solvers;
mod switched;
mod truck;
