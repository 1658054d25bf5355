//! Options of GEOMS do what their names say: each is seen in counters or in the result. Thesis, table 5.2 and section B.1.

use crate::support::{case, error, is_motion, options, run};
use daedal::method::{Control, NewtonPoint, Predictor, SelectorUpdate};
use daedal::{Geoms, Options, Solution, Statistics};

fn pendulum(method: &Geoms) -> Solution {
    let options = Options { h0: Some(0.01), ..options(1e-7) };
    run(&case("pendulum"), 5.0, method, &options).unwrap()
}

fn counters(method: &Geoms) -> Statistics {
    pendulum(method).statistics
}

fn slider_crank(method: &Geoms) -> Statistics {
    run(&case("slider-crank"), 20.0, method, &options(1e-7)).unwrap().statistics
}

#[test]
fn options_of_geoms_do_what_their_names_say() {
    let usual = counters(&Geoms::default());
    println!("default {usual:?}");
    let with = |what: &str, method: Geoms| {
        let found = counters(&method);
        println!("{what} {found:?}");
        found
    };
    // STARTN: without the extrapolated polynomial every iteration begins at the last point
    let zero = with("zero", Geoms { predictor: Predictor::Zero, ..Geoms::default() });
    assert!(zero.solves as f64 > 1.5 * usual.solves as f64 && zero.steps.abs_diff(usual.steps) * 20 < usual.steps);
    // NWTMAT: "the second extrapolated stage is fastest"
    let stage = |k| Geoms { newton_point: NewtonPoint::Stage(k), ..Geoms::default() };
    let of_stages = [1, 2, 3].map(|k| with("stage", stage(k)).solves);
    assert!(
        of_stages[1] < usual.solves && of_stages[1] <= of_stages[0] && of_stages[1] <= of_stages[2],
        "{of_stages:?}"
    );
    let crank = [Geoms::default(), stage(1), stage(2), stage(3)].map(|method| slider_crank(&method).solves);
    assert!(crank[2] == *crank.iter().min().unwrap() && crank[2] < crank[0], "{crank:?}");
    // SELCOMP: selectors at every Jacobian make the same run
    let often = with("every Jacobian", Geoms { selector_update: SelectorUpdate::EveryJacobian, ..Geoms::default() });
    assert_eq!((often.steps, often.solves, often.selectors), (usual.steps, usual.solves, often.jacobians));
    assert_eq!(usual.selectors, 1);
    // PRED: the classical rule forgets the last step and is rejected more often
    let classical = with("classical", Geoms { control: Control::Classical, ..Geoms::default() });
    assert!(
        classical.rejected_error > usual.rejected_error,
        "{} and {}",
        classical.rejected_error,
        usual.rejected_error
    );
    // THET: a Jacobian is kept while the iteration contracts
    let kept = with("kept", Geoms { jacobian_reuse: 0.1, ..Geoms::default() });
    let never = with("never", Geoms { jacobian_reuse: -1.0, ..Geoms::default() });
    assert!(kept.jacobians < usual.jacobians && usual.jacobians <= never.jacobians);
    assert_eq!(never.jacobians, never.steps);
    // SAFE, FNEWT, NIT
    let careful = with("careful", Geoms { safety: 0.5, ..Geoms::default() });
    assert!(careful.steps as f64 > 1.3 * usual.steps as f64);
    let exact = with("exact", Geoms { newton_tolerance: Some(1e-8), ..Geoms::default() });
    assert!(exact.solves as f64 > 1.2 * usual.solves as f64);
    // refilter: the estimate of the first step and after rejections is filtered twice, so that fewer attempts are rejected
    let sharp = Geoms { jacobian_reuse: 0.001, ..Geoms::reproduction() };
    let refiltered = with("refiltered", Geoms { refilter: true, ..sharp.clone() });
    let plain = with("plain", sharp);
    assert!(refiltered.solves != plain.solves || refiltered.rejected_error != plain.rejected_error);
    // NWTUPD: "more than one does not pay"
    let updated = |n| {
        let method =
            Geoms { newton_updates: n, slow_newton: daedal::method::SlowNewton::ShorterStep, ..Geoms::default() };
        let set = [("beta".to_string(), 140.0)];
        let case = daedal_problems::find("lolly").unwrap().case_with(&set).unwrap();
        run(&case, 10.0, &method, &options(1e-8)).unwrap().statistics
    };
    let of_updates = [0, 1, 3].map(|n| updated(n));
    println!("{of_updates:?}");
    assert!(of_updates[1].newton_updates > 0 && of_updates[1].rejected_newton < of_updates[0].rejected_newton);
    assert!(of_updates[2].residuals as f64 > 0.9 * of_updates[1].residuals as f64);
}

/// Specification of GEOMS, 20.2: the thesis' control with QR of the differential part.
#[test]
fn selectors_by_least_squares_take_the_steps_of_the_digest() {
    use daedal::method::Decomposition::Qr;
    let method = Geoms { differential_decomposition: Some(Qr), ..Geoms::reproduction() };
    for (name, wanted) in [("pendulum", [194, 6, 0, 596]), ("pendulum-2.9", [196, 7, 0, 612])] {
        let options = Options { h0: Some(0.01), ..options(1e-7) };
        let s = run(&case(name), 5.0, &method, &options).unwrap().statistics;
        assert_eq!([s.steps, s.rejected_error, s.rejected_newton, s.solves], wanted, "{name}");
    }
}

/// 20.2 and 13: the Newton matrix at the second stage, and the energy as invariant with joint LU.
#[test]
fn side_rows_of_the_published_runs() {
    use daedal::formulation::{Formulation, Selectors};
    use daedal::method::Decomposition::Lu;
    let second = Geoms { newton_point: NewtonPoint::Stage(2), ..Geoms::reproduction() };
    let s = counters(&second);
    let found = [s.steps, s.rejected_error, s.rejected_newton, s.solves];
    println!("second stage {found:?}");
    assert!(found.iter().zip([187, 18, 1, 570]).all(|(f, p)| f.abs_diff(p) <= 3), "{found:?}");
    let joint = Geoms {
        formulation: Formulation::ProjectedWithInvariants(Selectors::default()),
        constraint_decomposition: Some(Lu),
        differential_decomposition: Some(Lu),
        ..Geoms::reproduction()
    };
    for (tolerance, wanted) in [(1e-5, [115, 8, 20]), (1e-7, [232, 16, 12]), (1e-9, [485, 13, 11])] {
        let options = Options { h0: Some(0.01), ..options(tolerance) };
        match run(&case("pendulum"), 5.0, &joint, &options) {
            Ok(solution) => {
                let s = solution.statistics;
                println!(
                    "invariants, joint LU {tolerance:e}: {:?}, {wanted:?}",
                    [s.steps, s.rejected_error, s.rejected_newton]
                );
            }
            Err(error) => println!("invariants, joint LU {tolerance:e}: {error}, {wanted:?}"),
        }
    }
}

/// 20.4: largest errors of p, v and λ at t = 5 with 1e-9 and the rules of RADAU5.
#[test]
fn errors_of_three_kinds_of_selectors_are_those_of_the_digest() {
    use daedal::method::Decomposition::Qr;
    use daedal::method::Selection::Joint;
    let plain = Geoms { polish: daedal::method::Polish::Off, ..Geoms::default() };
    let joint = Geoms { selection: Joint, ..plain.clone() };
    let qr = Geoms { differential_decomposition: Some(Qr), ..plain.clone() };
    let reference = &case("pendulum").references[0];
    let wanted = [
        (joint, [1.8e-9, 4.7e-9, 1.4e-8], 426),
        (plain, [3.2e-10, 7.7e-10, 2.7e-9], 420),
        (qr, [2.9e-10, 4.5e-10, 2.0e-9], 444),
    ];
    for (method, errors, steps) in wanted {
        let options = Options { h0: Some(0.01), ..options(1e-9) };
        let solution = run(&case("pendulum"), 5.0, &method, &options).unwrap();
        let of = |names: &[&str]| error(&solution, reference, |name| names.contains(&name));
        let found = [of(&["x", "y"]), of(&["vx", "vy"]), error(&solution, reference, |name| !is_motion(name))];
        println!("{found:?} {errors:?}, {} steps, {steps}", solution.statistics.steps);
        assert!(found.iter().zip(errors).all(|(f, e)| *f < 1.5 * e && e < 3.0 * f), "{found:?}, {errors:?}");
        assert!(solution.statistics.steps.abs_diff(steps) <= steps / 50, "{}", solution.statistics.steps);
    }
}
