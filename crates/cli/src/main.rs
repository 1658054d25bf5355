//! The command `daedal`: checks, controls and simulates models, finds their consistent initial values, compares methods, makes pages of runs.
#![allow(clippy::type_complexity)] // tables of names and functions

mod arguments;
mod boundary;
mod check;
mod compare;
mod control;
mod failure;
mod files;
mod init;
mod interrupt;
mod list;
mod progress;
mod report;
mod solve;
mod statistics;
mod study;
mod summary;
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
        Command::Study(arguments) => study::study(&arguments),
        Command::Report(arguments) => report::report(&arguments),
        Command::Check(arguments) => check::check(&arguments),
        Command::Control(arguments) => control::control(&arguments),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.report();
            ExitCode::from(failure.exit_code())
        }
    }
}
