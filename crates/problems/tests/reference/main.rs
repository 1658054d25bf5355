//! Reference problems against published and exact values.

mod accuracy;
mod analysis;
mod disturbed;
mod formulas;
mod geoms_options;
mod gmkssol;
mod lolly;
mod order;
mod radau5_counts;
mod residuals;
mod singular;
mod support;
mod tables;
mod water_tube;
