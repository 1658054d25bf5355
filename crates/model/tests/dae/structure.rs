//! What the structure of a mechanism is worth: the same mechanisms as general systems and as equations of motion.

use super::files::read;
use super::references::{ANDREWS, CAR_AXIS};
use super::runs::{Run, scd};
use daedal::graph::Interpreted;
use daedal::motion::Compiled;
use daedal::{Geoms, Options, Problem, Tolerance, solve};
use daedal_model::ModelKind;

/// Positions and velocities at the end, by GEOMS from equations of motion.
fn with_structure(name: &str, tolerance: f64) -> Vec<f64> {
    let model = read(name, &[]);
    let ModelKind::Motion { formulas, initial, .. } = &model.kind else { panic!("{name} has no equations of motion") };
    let mechanism = Compiled::new(formulas, Interpreted);
    let problem = Problem::new(&mechanism, (**initial).clone(), model.time.expect("an interval").1);
    let tolerance = Tolerance::new(tolerance, tolerance);
    let solution = solve(&problem, &Geoms::default(), &Options { tolerance, ..Options::default() }).unwrap();
    let end = solution.at_end();
    [end.p, end.v].concat()
}

/// Digits without the structure, and with it.
fn digits(general: &str, mechanism: &str, reference: &[f64], count: usize, tolerance: f64) -> (f64, f64) {
    let without = Run::new(general, tolerance).end();
    let with = with_structure(mechanism, tolerance);
    (scd(&without[..count], &reference[..count]), scd(&with[..count], &reference[..count]))
}

/// In the mean over two tolerances: each of the two may be lucky at one of them.
#[test]
fn mechanisms_without_their_structure_lose_at_most_half_a_digit() {
    for (general, mechanism, reference, count) in
        [("andrews-dae", "andrews", &ANDREWS[..], 7), ("car-axis-dae", "car-axis", &CAR_AXIS[..], 8)]
    {
        let lost = [1e-6, 1e-7].map(|tolerance| {
            let (without, with) = digits(general, mechanism, reference, count, tolerance);
            println!("{mechanism} at {tolerance:e}: scd {without:.2} without structure, {with:.2} with it");
            with - without
        });
        assert!(f64::midpoint(lost[0], lost[1]) < 0.5, "{mechanism}: {lost:.2?}");
    }
}
