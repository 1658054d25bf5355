//! General DAEs: analysis and solution of the worked examples.

mod analysis;
mod derivative_array;
mod discretisation;
mod examples;
mod explicit_time;
mod failures;
mod formulations;
mod initial_values;
mod long;
mod optimal_control;
mod runs;
mod steering;
