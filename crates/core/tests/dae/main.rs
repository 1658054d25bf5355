//! General DAEs: analysis and solution of the worked examples.

mod analysis;
mod derivative_array;
mod discretisation;
mod examples;
mod explicit_time;
mod failures;
mod formulations;
mod initial_values;
mod late_coefficients;
mod long;
mod manufactured;
mod mechanisms;
mod missing_values;
mod optimal_control;
#[path = "../support/random.rs"]
#[allow(dead_code)]
mod random;
mod ranks;
mod redundant_rows;
mod runs;
mod special_starts;
mod steering;
