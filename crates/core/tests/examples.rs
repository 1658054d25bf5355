//! The examples say what they promise.
#![allow(missing_docs)]

use daedal::formulation::Formulation;

macro_rules! example {
    ($name:ident, $path:literal) => {
        #[allow(dead_code)] // their own `main`
        #[path = $path]
        mod $name;
    };
}

example!(bouncing_ball, "../examples/bouncing_ball.rs");
example!(compare_methods, "../examples/compare_methods.rs");
example!(implicit_euler, "../examples/implicit_euler.rs");
example!(counting_kernel, "../examples/counting_kernel.rs");
example!(decaying_constraints, "../examples/decaying_constraints.rs");
example!(dense_output, "../examples/dense_output.rs");
example!(index_three, "../examples/index_three.rs");
example!(pendulum, "../examples/pendulum.rs");

/// An example that nobody runs is no example.
#[test]
fn every_example_is_tested() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(include_str!("examples.rs").contains(&format!("examples/{name}")), "{name}");
    }
}

#[test]
fn the_pendulum_is_where_elliptic_functions_say() {
    let solution = pendulum::run().unwrap();
    assert!((solution.at_end().p[0] + 0.2750874625761169).abs() < 1e-6);
    assert!(solution.max_residuals.position.unwrap() < 1e-13);
}

#[test]
fn the_force_of_a_prescribed_motion_is_found() {
    let found = index_three::run().unwrap();
    assert_eq!((found.index, found.hidden.len()), (Some(3), 2));
    assert!((found.force - index_three::exact()).abs() < 1e-6);
}

#[test]
fn the_ball_lies_still_when_the_series_says() {
    let solution = bouncing_ball::run().unwrap();
    let fall = (2.0_f64 / 9.81).sqrt();
    for (switch, t) in solution.switches.iter().zip([fall, 2.0 * fall, 2.5 * fall]) {
        assert!((switch.t - t).abs() < 1e-9);
    }
    let last = solution.switches.last().unwrap();
    assert_eq!(solution.modes[last.to].name, "lying");
    assert!((last.t - bouncing_ball::rest_time()).abs() < 1e-6);
}

#[test]
fn methods_agree_with_the_exact_value() {
    let rows = compare_methods::run().unwrap();
    assert_eq!(rows.len(), 4);
    for row in rows {
        assert!(row.error < 1e-5, "{}: {:e}", row.method, row.error);
    }
}

#[test]
fn implicit_euler_has_order_one() {
    // x₀ = exp(−t)
    let errors = [1e-4, 1e-6].map(|tolerance| {
        let solution = implicit_euler::run(tolerance).unwrap();
        assert!(solution.max_residuals.constraint.unwrap() < 1e-12);
        ((solution.end.x[0] - (-5.0_f64).exp()).abs(), solution.statistics.steps as f64)
    });
    let [(coarse, few), (fine, many)] = errors;
    let order = (coarse / fine).ln() / (many / few).ln();
    assert!((order - 1.0).abs() < 0.2, "{errors:?}");
}

#[test]
fn a_kernel_of_ones_own_counts_every_residual() {
    let (solution, evaluated) = counting_kernel::run().unwrap();
    // two equations each, and the entries of Jacobians besides
    assert!(evaluated > 2 * solution.statistics.residuals, "{evaluated} for {}", solution.statistics);
}

#[test]
fn constraints_that_decay_do_not_drift() {
    let [drifting, decaying] = [Formulation::Eom1, Formulation::Other(decaying_constraints::ROW)].map(|formulation| {
        let solution = decaying_constraints::run(formulation).unwrap();
        (solution.max_residuals.position.unwrap(), solution.at_end().p[0])
    });
    assert!(decaying.0 < 0.2 * drifting.0 && decaying.0 < 1e-5, "{decaying:?}, {drifting:?}");
    assert!((decaying.1 - drifting.1).abs() < 1e-3, "{decaying:?}, {drifting:?}");
}

#[test]
fn period_and_turning_point_are_read_between_steps() {
    let found = dense_output::run().unwrap();
    assert!((found.period - dense_output::exact_period()).abs() < 1e-7);
    assert!((found.turning + 0.8).abs() < 1e-7);
}
