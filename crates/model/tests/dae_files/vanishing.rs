//! Solutions in closed form satisfy the equations of their files.

use super::files::{read, residuals, system};
use super::solutions::all;
use daedal::graph::Tape;
use daedal::motion::Start;

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
