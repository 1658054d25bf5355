//! Reference problems against published and exact values.

mod accuracy;
mod analysis;
mod disturbed;
mod formulas;
mod geoms_options;
mod gmkssol;
mod iftomm;
mod lolly;
mod order;
mod printed;
mod radau5_counts;
mod residuals;
mod singular;
mod support;
mod tables;
mod water_tube;
