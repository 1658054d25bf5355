//! Formulas know their times.
//!
//! What depends on time (and parameters) only is known before a run: where a condition such as `t > 5` changes, and where a smooth input such as
//! a road profile moves. A method that samples a right-hand side at a few points of a step knows neither.
//!
//! - **Breaks.** A condition c(t) of a selection, or the argument of an absolute value, divides time into *pieces* on which all formulas of time are
//!   smooth. Where a piece ends and a value or one of its first derivatives jumps, a step ends and the method begins anew.
//!   Zeros are found by interval arithmetic, so that none is missed (`zeros.rs`), one after the other as the run goes on.
//! - **Panels.** A piece is divided into panels on which every largest formula of time alone, u(t), is a polynomial of moderate degree up to a
//!   small part of what it changes by, which bounds of a high derivative certify (`panels.rs`). No step is longer than the panels it lies in.
//! - **One side at a time.** A break lies between two numbers of the machine: the last time at which all conditions certainly have the signs of the
//!   left piece, and the first with those of the right one. Steps end at the former and begin at the latter, a few units of the last place later,
//!   with a state made consistent there; so every evaluation of a step belongs to one piece.
//!
//! | file | what |
//! | --- | --- |
//! | `extract.rs` | conditions and inputs of time alone in formulas |
//! | `zeros.rs` | the first change of a sign |
//! | `panels.rs` | where inputs are resolved |
//! | `timetable.rs` | both, as a run goes on |
//! | `crossing.rs` | a state beyond a break: what must not jump |
//! | `suspects.rs` | conditions that change where a run fails |

mod crossing;
mod extract;
mod panels;
mod suspects;
mod timetable;
mod zeros;

pub(crate) use crossing::{cross_general, cross_motion};
pub use suspects::Suspects;
pub use timetable::{Crossing, Timetable};
