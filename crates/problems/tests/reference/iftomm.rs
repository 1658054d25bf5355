//! IFToMM benchmarks A01 and A03 at all tabulated times: elliptic functions for the pendulum, an integration of the acceleration form
//! in minimal tolerances for Andrews' squeezing mechanism. The library asks for the drift of the energy; a wrong phase shows in coordinates only.

use crate::support::{case, options, run};
use daedal::{Geoms, Options, Save};

/// Rows of numbers behind a line of names.
fn rows(table: &str) -> Vec<Vec<f64>> {
    table.lines().skip(1).map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect()
}

/// Largest error of what is tabulated, at all times behind the first.
fn largest_error(name: &str, table: &str, tolerance: f64) -> f64 {
    let rows = &rows(table)[1..];
    let (case, times) = (case(name), rows.iter().map(|row| row[0]).collect::<Vec<f64>>());
    let tend = times[times.len() - 1];
    let options = Options { save: Save::At(times), ..options(tolerance) };
    let solution = run(&case, tend, &Geoms::default(), &options).unwrap();
    assert_eq!(solution.len(), rows.len());
    let mut largest = 0.0_f64;
    for (k, row) in rows.iter().enumerate() {
        let at = solution.motion(k);
        assert!((at.t - row[0]).abs() < 1e-12, "{} {}", at.t, row[0]);
        largest = row[1..].iter().zip(at.p.iter().chain(at.v)).fold(largest, |most, (r, x)| most.max((r - x).abs()));
    }
    largest
}

#[test]
fn the_pendulum_a01_has_its_closed_form_at_a_hundred_times() {
    for (tolerance, most) in [(1e-8, 1e-6), (1e-11, 1e-9)] {
        let error = largest_error("iftomm-pendulum", include_str!("a01.csv"), tolerance);
        println!("A01 at {tolerance:e}: {error:.1e}");
        assert!(error < most, "{tolerance:e}: {error:e}");
    }
}

#[test]
fn the_mechanism_a03_has_its_angles_at_fifty_times() {
    for (tolerance, most) in [(1e-8, 1e-6), (1e-11, 1e-9)] {
        let error = largest_error("andrews", include_str!("a03.csv"), tolerance);
        println!("A03 at {tolerance:e}: {error:.1e}");
        assert!(error < most, "{tolerance:e}: {error:e}");
    }
}
