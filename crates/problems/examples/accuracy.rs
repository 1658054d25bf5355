//! Errors of all reference problems against their reference values, over a ladder of tolerances.
//!
//! `cargo run --release -p daedal-problems --example accuracy -- [NAME…]`

use daedal::formulation::Formulation;
use daedal::{Geoms, Options, Problem, Save, SolveError, Tolerance, solve};
use std::time::Instant;

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    for entry in daedal_problems::all() {
        if !wanted.is_empty() && !wanted.iter().any(|w| w == entry.name) {
            continue;
        }
        let case = entry.case();
        for tol in [1e-4, 1e-6, 1e-7, 1e-9, 1e-11] {
            for reference in &case.references {
                if reference.t > case.tend * 1.0001 {
                    continue;
                }
                let problem = Problem::new(&*case.mechanism, case.initial.clone(), reference.t);
                let options = Options {
                    tolerance: Tolerance::new(tol, tol),
                    save: Save::End,
                    max_steps: 100_000_000,
                    ..Options::default()
                };
                let method = Geoms { formulation: Formulation::Projected, ..Geoms::default() };
                let start = Instant::now();
                match solve(&problem, &method, &options) {
                    Ok(solution) => {
                        let time = start.elapsed();
                        let (mut absolute, mut relative) = ((0.0, ""), (0.0, ""));
                        let (mut pv, mut multipliers) = (0.0_f64, 0.0_f64);
                        for (name, value) in &reference.values {
                            let error = (solution.end_value(name).unwrap_or(f64::NAN) - value).abs();
                            if name.starts_with("lambda") || name.starts_with("mu") || name.ends_with('\'') {
                                multipliers = multipliers.max(error);
                            } else {
                                pv = pv.max(error);
                            }
                            if error > absolute.0 {
                                absolute = (error, name);
                            }
                            if error / value.abs() > relative.0 && *value != 0.0 {
                                relative = (error / value.abs(), name);
                            }
                        }
                        println!(
                            "{:24} {tol:7.0e} t {:9.3} steps {:7} ({}/{}) pv {pv:8.1e} mult {multipliers:8.1e} scd {:5.2} ({}) res {:8.1e} {:8.1e} {:8.1e} {:?} trusted {:.0e}",
                            entry.name,
                            reference.t,
                            solution.statistics.steps,
                            solution.statistics.rejected_error,
                            solution.statistics.rejected_newton,
                            -f64::log10(relative.0),
                            relative.1,
                            solution.max_residuals.position.unwrap_or(f64::NAN),
                            solution.max_residuals.velocity.unwrap_or(f64::NAN),
                            solution.max_residuals.acceleration.unwrap_or(f64::NAN),
                            time,
                            reference.accuracy
                        );
                    }
                    Err(SolveError::Stopped { cause, partial }) => {
                        println!(
                            "{:24} {tol:7.0e} t {:9.3} STOPPED {cause} ({})",
                            entry.name, reference.t, partial.statistics
                        );
                    }
                    Err(error) => println!("{:24} {tol:7.0e} {error:?}", entry.name),
                }
            }
        }
    }
}
