//! The command `daedal`.

use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let said: Vec<OsString> = std::env::args_os().collect();
    ExitCode::from(daedal_cli::run(&said))
}
