//! Whole runs, and single steps for each pair of decompositions.

use daedal::method::Decomposition::{self, Lu, Qr, Svd};
use daedal_bench::{RUNS, TimedProblem};
use std::time::{Duration, Instant};

fn main() {
    divan::main();
    if std::env::args().any(|argument| argument == "--bench") {
        steps();
    }
}

/// Whole runs: psfEoM with default options, initial values included.
#[divan::bench(args = RUNS, sample_count = 20, sample_size = 1)]
fn run(bencher: divan::Bencher, run: TimedProblem) {
    let case = daedal_bench::case(run.name).expect("a problem");
    bencher.bench(|| daedal_bench::run(&case, run.tolerance));
}

/// Time per accepted step, the first steps of a run.
fn steps() {
    const STEPS: u32 = 100;
    const REPEATS: usize = 100;
    println!("\nμs per accepted step, first {STEPS} steps at 1e-7, minimum of {REPEATS} repeats");
    println!("{:<16}{:<12}{:<14}{:>8}{:>12}", "problem", "constraints", "differential", "μs", "Newton/step");
    for name in ["andrews", "pendulum-long"] {
        let case = daedal_bench::case(name).expect("a problem");
        for constraint in [Lu, Qr, Svd] {
            for differential in [Lu, Qr] {
                let method = daedal_bench::geoms(constraint, differential);
                let (mut best, mut solves) = (Duration::MAX, 0);
                for _ in 0..REPEATS {
                    let mut stepper = daedal_bench::stepper(&case, &method, 1e-7);
                    let before = Instant::now();
                    for _ in 0..STEPS {
                        stepper.advance(case.tend).expect("a step");
                    }
                    best = best.min(before.elapsed());
                    solves = stepper.statistics().solves;
                }
                println!(
                    "{name:<16}{:<12}{:<14}{:>8.2}{:>12.2}",
                    label(constraint),
                    label(differential),
                    1e6 * best.as_secs_f64() / f64::from(STEPS),
                    solves as f64 / f64::from(STEPS)
                );
            }
        }
    }
}

fn label(decomposition: Decomposition) -> &'static str {
    match decomposition {
        Lu => "LU",
        Qr => "QR",
        Svd => "SVD",
    }
}
