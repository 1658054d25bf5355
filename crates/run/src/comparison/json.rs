//! A comparison as one JSON object. Numbers that do not exist are `null`.
//!
//! ```text
//! format "daedal comparison", version, model, description, source, parameters {name: value}, t0, tend, command
//! reference   { source, check, accuracy LEVELS, undetermined [name] }
//! timing      { jobs, timeout }
//! notes       [text]
//! runs        [ { method, formulation, tolerance, failure: null|text, t_end, steps, rejected_error, rejected_newton, residuals,
//!                 jacobians, decompositions, solves, seconds, spread, repeats, error LEVELS,
//!                 max_residual { position, velocity, acceleration, constraint, hidden }, drift } ]
//! LEVELS      { position, velocity, multiplier, state, switch }
//! ```

use super::Comparison;
use crate::error::WriteError;
use serde::Serialize;
use std::io::Write;

/// The tag by which a comparison is known.
pub const FORMAT: &str = "daedal comparison";
/// The version that is written.
pub const VERSION: u64 = 1;

#[derive(Serialize)]
struct ComparisonRecord<'c> {
    format: &'static str,
    version: u64,
    #[serde(flatten)]
    comparison: &'c Comparison,
}

/// Write a comparison.
pub fn write(comparison: &Comparison, mut file: impl Write) -> Result<(), WriteError> {
    let record = ComparisonRecord { format: FORMAT, version: VERSION, comparison };
    serde_json::to_writer_pretty(&mut file, &record).map_err(std::io::Error::from)?;
    Ok(writeln!(file)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::example::comparison;

    #[test]
    fn the_object_has_a_version_and_every_run() {
        let mut bytes = Vec::new();
        write(&comparison(), &mut bytes).expect("an object");
        let value: serde_json::Value = serde_json::from_slice(&bytes).expect("JSON");
        assert_eq!((value["format"].as_str(), value["version"].as_u64()), (Some(FORMAT), Some(1)));
        assert_eq!(value["parameters"]["L"], 2.0);
        let runs = value["runs"].as_array().expect("a list");
        assert_eq!(runs.len(), 6);
        assert_eq!(runs[0]["steps"], 30);
        assert_eq!(runs[0]["error"]["velocity"], 1e-3);
        assert!(runs[4]["failure"].as_str().is_some_and(|why| why.contains("10 s")));
        assert!(runs[4]["seconds"].is_null() && runs[0]["error"]["multiplier"].is_null());
    }
}
