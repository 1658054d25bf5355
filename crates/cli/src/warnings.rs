//! What a reader should know although the run went on: on standard error, in the object of statistics, in run files and on pages.
//!
//! There is one list, that of the header of a run file; whoever finds something out about a run adds to it.

use daedal_run::WarningRecord;
use daedal_simulation::plain;
use std::io::{self, Write};

/// Print them on standard error, below what was printed about the run.
pub fn report(warnings: &[WarningRecord]) {
    for warning in warnings {
        // nobody is left to tell if this fails
        let _ = io::stderr().write_all(plain(&format!("warning: {warning}\n")).as_bytes());
    }
}

/// How many there are, behind the line that tells how the run ended.
pub fn counted(warnings: &[WarningRecord]) -> String {
    match warnings.len() {
        0 => String::new(),
        1 => ", with 1 warning".to_string(),
        n => format!(", with {n} warnings"),
    }
}
