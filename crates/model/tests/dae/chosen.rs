//! What `auto` takes for the shipped ordinary differential equations, and that their errors are within what the ladder of tolerances promises.

use super::files::{read, system};
use super::references::*;
use daedal::dae::{System, Unknowns};
use daedal::graph::Interpreted;
use daedal::{Auto, Options, Problem, Solution, Tolerance, solve};

fn solved(name: &str, rtol: f64, atol: f64) -> Solution<Unknowns> {
    let model = read(name, &[]);
    let (formulas, initial) = system(&model);
    let system = System::new(formulas, Interpreted);
    let options = Options { tolerance: Tolerance::new(rtol, atol), ..Options::default() };
    let problem = Problem::new(&system, initial.clone(), model.time.expect("an interval").1);
    solve(&problem, &Auto, &options).unwrap_or_else(|error| panic!("{name} at {rtol:e}: {error}"))
}

/// Largest error in tolerances rtol |x| + atol.
fn multiple(x: &[f64], exact: &[f64], rtol: f64, atol: f64) -> f64 {
    x.iter().zip(exact).map(|(x, exact)| (x - exact).abs() / (rtol * exact.abs() + atol)).fold(0.0, f64::max)
}

#[test]
fn stars_are_not_stiff_and_need_no_implicit_method() {
    for (tolerance, method) in [(1e-3, "dopri5"), (1e-6, "dop853"), (1e-9, "dop853"), (1e-11, "dop853")] {
        let solution = solved("pleiades", tolerance, tolerance);
        assert_eq!(solution.methods, [(method, 0.0)], "{tolerance:e}");
        assert_eq!(solution.statistics.jacobians, 0);
        // stars that meet multiply errors: 300 tolerances are what the ladder promises of both pairs
        let error = multiple(&solution.end.x[..14], &PLEIADES[..14], tolerance, tolerance);
        println!("pleiades {tolerance:e}: {error:.1} tolerances, {}", solution.statistics);
        assert!(error < 300.0, "{tolerance:e}: {error} tolerances");
    }
}

#[test]
fn stiff_reactions_are_solved_by_implicit_methods_from_the_start() {
    for (name, exact, ratio) in [
        ("hires", &HIRES[..], 1.0),
        ("robertson", &ROBERTSON, 1e-4),
        ("oregonator", &OREGONATOR, 1.0),
        ("pollution", &POLLUTION, 1.0),
    ] {
        for rtol in [1e-4, 1e-6, 1e-8] {
            let solution = solved(name, rtol, ratio * rtol);
            let last = solution.methods.last().expect("a method");
            assert_eq!(solution.methods.len(), 1, "{name} at {rtol:e}: {:?}", solution.methods);
            assert_eq!(last.0, if rtol < 1e-4 { "radau" } else { "rodas" }, "{name} at {rtol:e}");
            let error = multiple(&solution.end.x[..exact.len()], exact, rtol, ratio * rtol);
            println!("{name} {rtol:e}: {error:.1} tolerances, {}", solution.statistics);
            assert!(error < 100.0, "{name} at {rtol:e}: {error} tolerances");
        }
    }
}

/// 400 unknowns, and a boundary value that falls at t = 5.
#[test]
fn a_large_stiff_system_is_told_by_its_fastest_decay() {
    for (tolerance, method) in [(1e-4, "rodas"), (1e-6, "radau")] {
        assert_eq!(solved("medical-akzo-nobel", tolerance, tolerance).methods, [(method, 0.0)], "{tolerance:e}");
    }
}

/// Concentrations from 1e-21 to 1e-3: the absolute tolerance of the source.
#[test]
fn the_slowest_reaction_ends_with_radau() {
    let solution = solved("e5", 1e-6, 1e-24);
    assert_eq!(solution.methods.last().expect("a method").0, "radau");
    assert!(solution.statistics.steps < 2000, "{}", solution.statistics);
}
