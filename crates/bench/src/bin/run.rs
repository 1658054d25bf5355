//! Solve one problem and print the counters: what instruction counts are taken of.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, tolerance] = arguments.as_slice() else {
        eprintln!("usage: run NAME TOLERANCE");
        return ExitCode::FAILURE;
    };
    let (Some(case), Ok(tolerance)) = (daedal_bench::case(name), tolerance.parse()) else {
        eprintln!("run: no problem {name}, or {tolerance} is no number");
        return ExitCode::FAILURE;
    };
    println!("{}", daedal_bench::run(&case, tolerance).statistics);
    ExitCode::SUCCESS
}
