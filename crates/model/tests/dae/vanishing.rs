//! Solutions in closed form satisfy the equations of their files.

use super::files::{read, residuals, system};
use super::solutions::{QUARTER, all, jacobi};
use daedal::Start;
use daedal::graph::Tape;
use std::f64::consts::{FRAC_1_SQRT_2, PI};

#[test]
fn every_known_solution_satisfies_the_equations_of_its_file() {
    for known in all() {
        let model = read(known.name, &known.changes);
        let (formulas, _) = system(&model);
        let (t0, tend) = model.time.unwrap();
        for k in 0..=10 {
            let t = t0 + (tend - t0) * f64::from(k) / 10.0;
            for ((name, _), f) in formulas.equations.iter().zip(residuals(formulas, t, &known.jet(t))) {
                assert!(f.abs() < 2e-12, "{} at t = {t}, equation {name}: {f:e}", known.name);
            }
        }
    }
}

#[test]
fn what_is_given_about_the_start_agrees_with_the_known_solution() {
    for known in all().iter().filter(|known| known.unique) {
        let model = read(known.name, &known.changes);
        let (_, initial) = system(&model);
        let jet = known.jet(initial.t);
        let given = std::iter::once(&initial.states).chain(&initial.derivatives);
        for (order, (block, exact)) in given.zip(&jet).enumerate() {
            for (start, exact) in block.iter().zip(exact) {
                // guesses need not be exact
                if let Start::Fixed(value) = start {
                    assert!((value - exact).abs() < 1e-14, "{} order {order}: {value} {exact}", known.name);
                }
            }
        }
    }
}

#[test]
fn outputs_called_exact_are_the_known_solution() {
    let states = |name: &str| match name {
        "exact1" | "exact_first" => 0,
        "exact2" => 1,
        "exact_force" => usize::MAX,
        _ => panic!("{name}"),
    };
    let mut count = 0;
    for known in all() {
        let model = read(known.name, &known.changes);
        let (formulas, _) = system(&model);
        for (name, output) in formulas.outputs.iter().filter(|(name, _)| name.starts_with("exact")) {
            let t = 1.3;
            let jet = known.jet(t);
            let value = Tape::new(&formulas.graph, &[*output]).evaluate(&super::files::inputs(formulas, t, &jet))[0];
            let wanted = jet[0][states(name).min(jet[0].len() - 1)];
            assert!((value - wanted).abs() < 1e-14, "{} {name}: {value} {wanted}", known.name);
            count += 1;
        }
    }
    assert_eq!(count, 16);
}

#[test]
fn elliptic_functions_have_their_known_values() {
    let (sn, cn) = jacobi(QUARTER, FRAC_1_SQRT_2);
    assert!((sn - 1.0).abs() < 1e-15 && cn.abs() < 1e-15, "{sn} {cn}");
    // k = 0: sine and cosine
    let (sn, cn) = jacobi(PI / 5.0, 0.0);
    assert!((sn - (PI / 5.0).sin()).abs() < 1e-15 && (cn - (PI / 5.0).cos()).abs() < 1e-15);
    // Hairer and Wanner, VII.2: the pendulum from rest at the height of its joint
    let horizontal = all().into_iter().find(|known| known.name == "pendulum-horizontal").unwrap();
    for (t, x, y, lambda) in [
        (1.0, 0.879_548_132_411_889_2, -0.475_809_922_942_720_8, 1.427_429_768_828_162),
        (10.0, -0.811_586_446_191_303_8, -0.584_232_351_345_395_7, 1.752_697_054_036_187),
    ] {
        let states = horizontal.states(t);
        for (found, wanted) in [(states[0], x), (states[1], y), (states[4], lambda)] {
            assert!((found - wanted).abs() < 1e-13, "t = {t}: {found} {wanted}");
        }
    }
}
