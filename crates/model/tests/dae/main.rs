//! The general systems in `models/`: every file is read, says what its source says, and has the solution that is known.

mod characteristics;
mod files;
mod initial;
mod sizes;
mod solutions;
mod vanishing;
