//! The general systems in `models/`: every file is read, says what its source says, and has the solution that is known.

mod between;
mod characteristics;
mod chosen;
mod counters;
mod examples;
mod files;
mod hidden;
mod initial;
mod redundant;
mod references;
mod runs;
mod singular;
mod sizes;
mod solutions;
mod structure;
mod testset;
mod vanishing;
