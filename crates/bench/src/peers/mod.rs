//! Daedal from model files against the classical codes with functions and Jacobians by hand: errors at the end and times inside the solvers.
//!
//! | file | what |
//! | --- | --- |
//! | `problems.rs` | the table of problems: who solves them in which form, tolerances, and how errors are measured |
//! | `classical.rs` | a classical code, a program of its own that `peers/setup.sh` makes |
//! | `own.rs` | Daedal, timed from a consistent start |
//! | `measure.rs` | all solvers in turn, the shortest times |
//! | `curve.rs` | error and time of a ladder of tolerances, and the time that an error costs |
//! | `table.rs`, `page.rs` | the results as a table and as a page |

pub mod classical;
pub mod curve;
pub mod measure;
pub mod own;
pub mod page;
pub mod problems;
pub mod table;
