//! Examples with known solutions are solved, whatever their index.

use super::files::read;
use super::runs::{Run, reason, stopped};
use super::solutions::{Known, all};
use daedal::dae::Form;

/// Largest error at the end, relative to 1 + |x|; the reason if there is no solution.
fn error(known: &Known, form: Form, tolerance: f64) -> Result<f64, String> {
    let run = Run { changes: &known.changes, form, ..Run::new(known.name, tolerance) };
    let found = run.make().map_err(|error| reason(&error))?.end.x;
    let exact = known.states(read(known.name, &known.changes).time.expect("an interval").1);
    Ok(found.iter().zip(&exact).map(|(x, y)| (x - y).abs() / (1.0 + y.abs())).fold(0.0, f64::max))
}

/// Errors may be this many tolerances large.
const FACTOR: f64 = 100.0;

#[test]
fn every_unique_solution_is_found() {
    let mut wrong = Vec::new();
    // a multiple root cannot be told from a free unknown by ranks
    for known in all().iter().filter(|known| known.unique && known.name != "multiple-root") {
        for tolerance in [1e-6, 1e-9] {
            let told = match error(known, Form::Auto, tolerance) {
                Ok(error) if error < FACTOR * tolerance => continue,
                Ok(error) => format!("error {error:.1e}"),
                Err(reason) => reason,
            };
            wrong.push(format!("{} {:?} at {tolerance:e}: {told}", known.name, known.changes));
        }
    }
    assert!(wrong.is_empty(), "{} failures\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn no_form_gives_a_wrong_answer() {
    let mut wrong = Vec::new();
    for known in all().iter().filter(|known| known.unique && known.name != "multiple-root") {
        for form in [Form::Plain, Form::QuasiLinear, Form::DerivativeArray] {
            // a form may refuse
            if let Ok(error) = error(known, form, 1e-7)
                && error > FACTOR * 1e-7
            {
                wrong.push(format!("{} {:?} {}: error {error:.1e}", known.name, known.changes, form.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong answers\n{}", wrong.len(), wrong.join("\n"));
}

fn assert_near(name: &str, found: &[f64], wanted: &[f64], bound: f64) {
    for (k, (x, y)) in found.iter().zip(wanted).enumerate() {
        assert!((x - y).abs() < bound, "{name}, unknown {}: {x} instead of {y}", k + 1);
    }
}

#[test]
fn systems_of_index_two_and_three_without_closed_solution_are_solved() {
    // Runge and Kutta's method with extrapolation on the reduced equations, in extended precision
    let semi_explicit = [-0.836_283_237_390_582, 0.648_179_296_833_399_3, -0.924_932_454_674_849_2];
    let hessenberg = [0.489_528_552_861, 0.647_895_727_694, 0.152_997_896_136, -0.194_461_287_464, -0.477_309_323_176];
    for tolerance in [1e-6, 1e-9] {
        let bound = FACTOR * tolerance;
        assert_near("semi-explicit", &Run::new("semi-explicit", tolerance).end(), &semi_explicit, bound);
        assert_near("hessenberg-3", &Run::new("hessenberg-3", tolerance).end(), &hessenberg, bound);
    }
}

#[test]
fn the_steering_wheel_is_where_it_should_be() {
    // Hairer and Wanner, VII.1, (1.9): from φ' = 1.4 cos²φ − 0.7 sin²φ + √(1 − 1.1025 sin² 2φ)
    for (t, y1, y2, z) in [
        (0.1, 0.944_771_483_381, -0.327_729_834_146, 0.416_710_827_644),
        (0.2, 0.993_076_016_972, -0.117_473_505_586, 0.146_100_360_615),
        (0.3, 0.992_783_052_821, 0.119_924_184_511, -0.149_167_119_786),
        (0.4, 0.944_101_677_850, 0.329_654_397_636, -0.419_295_517_546),
    ] {
        let x = Run { tend: Some(t), ..Run::new("steering-wheel", 1e-10) }.end();
        assert_near("steering-wheel", &x, &[y1, y2, z], 1e-8);
    }
}

#[test]
fn the_steering_wheel_stops_at_its_singular_point() {
    let error = Run { tend: Some(1.0), ..Run::new("steering-wheel", 1e-8) }.make().unwrap_err();
    let stopped = stopped(&error);
    println!("{stopped}: {}", reason(&error));
    assert!((stopped - 0.621_962_170_962).abs() < 1e-6, "{stopped}: {}", reason(&error));
}

#[test]
fn a_vanishing_leading_coefficient_stops_the_run() {
    // x = x0 exp(t) meets x = 1 at t = ln 2
    let run = Run { changes: &[("x0", 0.5)], ..Run::new("singular-point", 1e-8) };
    let before = Run { tend: Some(0.69), ..run }.end();
    assert_near("singular-point", &before, &[0.5 * 0.69f64.exp()], 1e-6);
    let error = run.make().unwrap_err();
    let stopped = stopped(&error);
    assert!((stopped - 2f64.ln()).abs() < 1e-3, "{stopped}: {}", reason(&error));
}

#[test]
fn the_index_can_be_nine() {
    let known = all().into_iter().find(|known| known.changes == [("N", 4.0)]).unwrap();
    let run = Run { changes: &known.changes, ..Run::new(known.name, 1e-6) };
    let solution = run.make().unwrap_or_else(|error| panic!("{}", reason(&error)));
    assert_eq!(solution.layout.values.differentiation_index(), Some(9));
    assert_near(known.name, &solution.end.x, &known.states(6.0), 1e-12);
}

#[test]
fn all_constraints_of_the_pendulum_are_kept() {
    for name in ["pendulum-dae", "pendulum-second-order", "pendulum-ggl", "pendulum-twice", "pendulum-horizontal"] {
        let solution = Run::new(name, 1e-7).make().unwrap_or_else(|error| panic!("{name}: {}", reason(&error)));
        let residuals = solution.max_residuals;
        let largest = residuals.constraint.unwrap_or(0.0).max(residuals.hidden.unwrap_or(0.0));
        assert!(largest < 1e-5, "{name}: {residuals:?}");
    }
}
