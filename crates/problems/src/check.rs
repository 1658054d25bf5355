//! Tests of all problems: consistent initial values, Jacobians, references, invariants.

use crate::bench::{Bench, RandomNumbers};
use crate::{all, find};
use daedal::graph::Interpreted;
use daedal::motion::{Compiled, Mechanism, Structure};

/// How far the published initial values satisfy c, g, gI and H Z v + h.
fn accuracy_of_start(problem: &str) -> f64 {
    match problem {
        "flexible-slider-crank" => 1e-13, // velocities of some 100 rad/s
        "wheelset" => 6e-6,               // five digits, and constraints scaled by 10⁴
        _ => 2e-15,
    }
}

/// How far published multipliers are the consistent ones.
fn accuracy_of_multipliers(problem: &str) -> f64 {
    match problem {
        "truck" => 1e-9,                 // nominal forces to 1e-5 N
        "wheelset" => 1e-6,              // five digits
        "flexible-slider-crank" => 1e-7, // nine digits
        _ => 1e-12,
    }
}

#[test]
fn published_initial_values_are_consistent() {
    for problem in all() {
        let case = problem.case();
        let mut bench = Bench::new(&*case.mechanism);
        let t = case.initial.t;
        let given = bench.start(&case);
        bench.keep_invariants(t, &given);
        let rows = bench.rows(t, &given);
        let levels = bench.layout.row_g1().start..bench.layout.algebraic();
        let worst = rows[levels].iter().fold(0.0, |worst: f64, row| worst.max(row.abs()));
        assert!(worst <= accuracy_of_start(problem.name), "{}: {worst:e} in the constraints", problem.name);
        // the rest follows
        let mut x = given.clone();
        bench.complete(t, &mut x);
        let scale = x[bench.layout.a()].iter().fold(1.0, |scale: f64, a| scale.max(a.abs()));
        let rows = bench.rows(t, &x);
        let block = bench.layout.algebraic_blocks()[0].clone();
        let worst = rows[block].iter().fold(0.0, |worst: f64, row| worst.max(row.abs()));
        assert!(worst <= 1e-12 * scale, "{}: {worst:e} in the dynamics", problem.name);
        if !case.initial.lambda.is_empty() {
            for i in bench.layout.lambda() {
                let (x, y) = (x[i], given[i]);
                let accuracy = accuracy_of_multipliers(problem.name) * y.abs().max(1.0);
                assert!((x - y).abs() <= accuracy, "{}: {x} instead of {y} in variable {i}", problem.name);
            }
        }
    }
}

#[test]
fn jacobians_agree_with_differences() {
    for (seed, problem) in all().iter().enumerate() {
        let case = problem.case();
        let mut bench = Bench::new(&*case.mechanism);
        let mut random = RandomNumbers::new(100 + seed as u64);
        // some points near the start, at a time where nothing vanishes
        for _ in 0..3 {
            let t = case.initial.t + 0.1 * case.tend;
            let mut x = bench.start(&case);
            bench.complete(case.initial.t, &mut x);
            for x in &mut x {
                *x += 0.003 * random.number() * x.abs().max(1.0);
            }
            if problem.name == "wheelset" {
                // wheels leave the rails a few centimetres away
                let place = bench.layout.p();
                x[place].copy_from_slice(&crate::wheelset::P0.map(|p| p + 1e-3 * random.number()));
                bench.contact(t, &mut x);
            }
            // where the accelerations are eliminated, Jacobians are exact on the dynamics only
            bench.accelerate(t, &mut x);
            compare_with_differences(&mut bench, t, &x, problem.name);
        }
    }
}

fn compare_with_differences(bench: &mut Bench, t: f64, x: &[f64], problem: &str) {
    let F = bench.jacobian(t, x);
    let rows = bench.rows(t, x);
    let magnitude: Vec<f64> = (0..rows.len())
        .map(|i| 1.0 + rows[i].abs() + F.row(i).iter().zip(x).map(|(f, x)| (f * x.abs().max(1e-3)).abs()).sum::<f64>())
        .collect();
    for j in 0..x.len() {
        let h = 1e-4 * x[j].abs().max(if problem == "wheelset" { 0.01 } else { 1.0 });
        let mut central = |h: f64| -> Vec<f64> {
            let mut moved = x.to_vec();
            moved[j] = x[j] + h;
            let above = bench.rows(t, &moved);
            moved[j] = x[j] - h;
            let below = bench.rows(t, &moved);
            above.iter().zip(below).map(|(a, b)| (a - b) / (2.0 * h)).collect()
        };
        let (coarse, fine) = (central(h), central(0.5 * h));
        for i in 0..rows.len() {
            let extrapolated = (4.0 * fine[i] - coarse[i]) / 3.0;
            let (truncation, rounding) = ((fine[i] - coarse[i]).abs(), f64::EPSILON * magnitude[i] / h);
            let tolerance = 1e-8 * F[(i, j)].abs() + 1e-3 * truncation + 100.0 * rounding;
            let error = (F[(i, j)] + extrapolated).abs();
            assert!(
                error <= tolerance,
                "{problem}: row {i}, variable {j}: {} instead of {extrapolated} (error {error:e}, tolerance {tolerance:e})",
                -F[(i, j)]
            );
        }
    }
}

/// How far reference values satisfy the constraints of all levels.
fn accuracy_of_end(problem: &str) -> f64 {
    match problem {
        "flexible-slider-crank" => 1e-9, // index 2: the position level drifted
        "wheelset" => 1e-5,              // index 2, tolerance 1e-9, constraints scaled by 10⁴
        "skateboard-1" | "skateboard-2" => 1e-11,
        "andrews" => 1e-13,
        _ => 1e-14,
    }
}

#[test]
fn reference_states_satisfy_the_constraints() {
    for problem in all() {
        let case = problem.case();
        let mut bench = Bench::new(&*case.mechanism);
        let start = bench.start(&case);
        bench.keep_invariants(case.initial.t, &start);
        let names = bench.layout.variable_names(&case.mechanism.names());
        for reference in &case.references {
            let mut x = start.clone();
            for (name, value) in case.references.iter().filter(|other| other.t == reference.t).flat_map(|r| &r.values) {
                x[names.iter().position(|known| known == name).expect("a variable")] = *value;
            }
            let rows = bench.rows(reference.t, &x);
            let levels = bench.layout.row_g1().start..bench.layout.algebraic();
            let worst = rows[levels].iter().fold(0.0, |worst: f64, row| worst.max(row.abs()));
            assert!(worst <= accuracy_of_end(problem.name), "{} at {}: {worst:e}", problem.name, reference.t);
            // multipliers belong to p and v
            let mut consistent = x.clone();
            bench.complete(reference.t, &mut consistent);
            for (name, value) in &reference.values {
                let i = names.iter().position(|known| known == name).expect("a variable");
                let (error, bound) = ((consistent[i] - value).abs(), 100.0 * reference.accuracy * value.abs().max(1.0));
                assert!(error <= bound, "{} at {}: {name} is off by {error:e}", problem.name, reference.t);
            }
        }
    }
}

/// Integrate the index-1 form and compare with the references up to `end`; the largest error.
fn reach_references(problem: &str, H: f64, end: f64) -> f64 {
    let case = find(problem).expect("a problem").case();
    let mut bench = Bench::new(&*case.mechanism);
    let names = bench.layout.variable_names(&case.mechanism.names());
    let (mut t, mut x) = (case.initial.t, bench.start(&case));
    let mut worst = 0.0;
    for reference in case.references.iter().filter(|reference| reference.t <= end) {
        bench.integrate(t, &mut x, reference.t, H);
        t = reference.t;
        for (name, value) in &reference.values {
            let i = names.iter().position(|known| known == name).expect("a variable");
            let error = (x[i] - value).abs() / value.abs().max(1.0);
            println!("{problem} at {t}: {name} = {} instead of {value}, error {error:e}", x[i]);
            worst = f64::max(worst, error);
        }
    }
    worst
}

#[test]
fn references_are_reached_by_another_method() {
    // steps, last time, and what rounding and steps leave as error
    let runs = [
        ("pendulum", 0.05, 5.0, 1e-11),
        ("pendulum-2.9", 0.05, 5.0, 1e-11),
        ("pendulum-long", 0.05, 2.0, 1e-11),
        ("iftomm-pendulum", 0.05, 10.0, 1e-11),
        ("lolly", 0.1, 10.0, 1e-11),
        ("circle", 0.05, 5.0, 1e-11),
        ("slider-crank", 0.05, 10.0, 1e-11),
        ("slider-crank-redundant", 0.05, 10.0, 1e-11),
        ("double-four-bar", 0.05, 10.0, 1e-11),
        ("knife-edge", 0.1, 10.0, 1e-11),
        ("academic", 0.02, 1.0, 1e-11),
        ("car-axis", 0.01, 3.0, 1e-11),
        ("andrews", 2e-4, 0.03, 1e-9),
        ("skateboard-2", 0.02, 10.0, 1e-9),
        ("truck", 0.02, 20.0, 5e-8),
    ];
    let mut failed = vec![];
    for (problem, H, end, allowed) in runs {
        let worst = reach_references(problem, H, end);
        if worst > allowed {
            failed.push(format!("{problem}: error {worst:e}"));
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
#[ignore = "takes a minute"]
fn slow_references_are_reached_by_another_method() {
    for (problem, H, end, allowed) in [("skateboard-1", 0.05, 100.0, 1e-9), ("flexible-slider-crank", 1e-4, 0.1, 1e-6)]
    {
        let worst = reach_references(problem, H, end);
        assert!(worst <= allowed, "{problem}: error {worst:e}");
    }
}

#[test]
fn invariants_stay_constant() {
    for problem in all() {
        let case = problem.case();
        let mut bench = Bench::new(&*case.mechanism);
        let block = bench.layout.row_invariants();
        if block.is_empty() {
            continue;
        }
        let (t, mut x) = (case.initial.t, bench.start(&case));
        bench.keep_invariants(t, &x);
        bench.integrate(t, &mut x, t + 0.7, 0.05);
        let drift = bench.rows(t + 0.7, &x)[block].iter().fold(0.0, |worst: f64, e| worst.max(e.abs()));
        assert!(drift <= 1e-12, "{}: {drift:e}", problem.name);
    }
}

#[test]
fn formulas_have_the_rows_and_jacobians_of_the_models() {
    for (seed, problem) in all().iter().enumerate() {
        let case = problem.case();
        let formulas = case.mechanism.formulas().unwrap_or_else(|| panic!("{} has no formulas", problem.name));
        let compiled = Compiled::new(&formulas, Interpreted);
        assert_eq!(compiled.structure(), Structure { constraint_force_by_hand: false, ..case.mechanism.structure() });
        let (mut one, mut other) = (Bench::new(&*case.mechanism), Bench::new(&compiled));
        let mut random = RandomNumbers::new(300 + seed as u64);
        for _ in 0..3 {
            let t = case.initial.t + 0.1 * case.tend;
            let mut x = one.start(&case);
            one.complete(case.initial.t, &mut x);
            for x in &mut x {
                *x += 1e-3 * random.number() * x.abs().max(1e-3);
            }
            let (rows, others) = (one.rows(t, &x), other.rows(t, &x));
            let (F, Fs) = (one.jacobian(t, &x), other.jacobian(t, &x));
            for i in 0..rows.len() {
                // terms of a row cancel: rounding is relative to their sizes
                let size = 1.0 + F.row(i).iter().zip(&x).map(|(f, x)| (f * x).abs()).sum::<f64>();
                let error = (rows[i] - others[i]).abs();
                assert!(error <= 2e-13 * size, "{}: row {i} differs by {error:e}", problem.name);
                let scale = F.row(i).iter().fold(1.0, |scale: f64, f| scale.max(f.abs()));
                for j in 0..x.len() {
                    let error = (F[(i, j)] - Fs[(i, j)]).abs();
                    assert!(error <= 1e-11 * scale, "{}: entry ({i}, {j}) differs by {error:e}", problem.name);
                }
            }
        }
    }
}
