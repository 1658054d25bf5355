//! The command `daedal`: checks and simulates models, finds their consistent initial values, compares methods, makes pages of runs.
#![allow(clippy::type_complexity)] // tables of names and functions

mod arguments;
mod check;
mod compare;
mod curve;
mod failure;
mod files;
mod hybrid;
mod init;
mod interrupt;
mod list;
mod method;
mod output;
mod outputs;
mod places;
mod plain;
mod progress;
mod record;
mod report;
mod setup;
mod solve;
mod summary;
mod tolerances;
mod variables;
mod verification;
mod warnings;

use arguments::{Arguments, Command};
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    // mistakes in the arguments themselves end here, with code 2
    let outcome = match Arguments::parse().command {
        Command::List(arguments) => list::list(&arguments),
        Command::Solve(arguments) => solve::solve(&arguments),
        Command::Init(arguments) => init::init(&arguments),
        Command::Compare(arguments) => compare::compare(&arguments),
        Command::Report(arguments) => report::report(&arguments),
        Command::Check(arguments) => check::check(&arguments),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.report();
            ExitCode::from(failure.exit_code())
        }
    }
}
