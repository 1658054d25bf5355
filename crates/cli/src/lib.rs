//! The command `daedal`: checks, controls and simulates models, finds their consistent initial values, compares methods, makes pages of runs, imports robots.
//!
//! [`run`] is the whole command, from its arguments to its exit code, so that other programs can be the command as well. The rest are texts
//! of the command that other doors show.
#![allow(clippy::type_complexity)] // tables of names and functions

mod arguments;
mod boundary;
mod check;
mod compare;
mod control;
mod failure;
mod files;
mod import;
mod init;
mod interrupt;
mod list;
mod progress;
mod report;
mod solve;
mod study;
mod summary;
mod sweep;
mod warnings;

pub use check::whole_text as check_text;
pub use daedal_simulation::statistics::object as statistics_object;
pub use failure::{causes, marked_plainly};
pub use init::{object as start_object, table as start_text};
pub use summary::plain_summary;

use arguments::{Arguments, Command};
use clap::Parser;
use std::ffi::OsString;

/// Do what the arguments ask for; the first of them is the name of the program. Gives the exit code.
///
/// ```
/// let said = |words: &[&str]| words.iter().map(Into::into).collect::<Vec<std::ffi::OsString>>();
/// assert_eq!(daedal_cli::run(&said(&["daedal", "list", "--format", "json"])), 0);
/// assert_eq!(daedal_cli::run(&said(&["daedal", "solve", "no-such-file.toml"])), 2);
/// ```
pub fn run(said: &[OsString]) -> u8 {
    let arguments = match Arguments::try_parse_from(said) {
        Ok(arguments) => arguments,
        // help and version end here with code 0, mistakes in the arguments themselves with code 2
        Err(error) => {
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    let outcome = match arguments.command {
        Command::List(arguments) => list::list(&arguments),
        Command::Solve(arguments) => solve::solve(&arguments),
        Command::Init(arguments) => init::init(&arguments),
        Command::Compare(arguments) => compare::compare(&arguments, said),
        Command::Study(arguments) => study::study(&arguments, said),
        Command::Sweep(arguments) => sweep::sweep(&arguments),
        Command::Import(arguments) => import::import(&arguments),
        Command::Report(arguments) => report::report(&arguments),
        Command::Check(arguments) => check::check(&arguments),
        Command::Control(arguments) => control::control(&arguments),
    };
    match outcome {
        Ok(()) => 0,
        Err(failure) => {
            failure.report();
            failure.exit_code()
        }
    }
}
