//! General DAEs: analysis and solution of the worked examples.

mod analysis;
mod examples;
mod runs;
