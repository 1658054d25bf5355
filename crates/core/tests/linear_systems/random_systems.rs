//! Random linear time-varying rectangular problems: analysed, reduced and integrated.

use crate::hidden::{Hidden, Random, kronecker, unimodular};
use daedal::Bdf;
use daedal::RadauIIa;
use daedal::dae::Dae;
use daedal::dae::{Gelda, GeldaOptions, Keep};
use daedal::linalg::{Lu, Matrix};
use daedal::linear::*;
use daedal::method::Integrator;
use daedal::{Options, Tolerance};

/// All values, and the solution in the reduced system.
fn check(problem: Hidden, t: f64, what: &str) {
    let values = problem.values;
    let (x, xdot) = problem.solution_at(t);
    let (m, n) = (problem.rows(), problem.dim());
    let mut oracle = Differentiated::new(problem);
    let options = RankOptions::default();
    let found = strangeness_free(&mut oracle, t, &options).unwrap_or_else(|error| panic!("{what} {m} × {n}: {error}"));
    assert_eq!(found.values, values, "{what} {m} × {n}: {:?}", found.least_clear);
    // the solution solves the reduced system, relative to the size of the terms
    let system = &found.system;
    let row = |A: &Matrix, i: usize, x: &[f64]| A.row(i).iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
    let size = |A: &Matrix, i: usize, x: &[f64]| A.row(i).iter().zip(x).map(|(a, x)| (a * x).abs()).sum::<f64>();
    for i in 0..values.d {
        let scale = size(&system.E1, i, &xdot) + size(&system.A1, i, &x) + system.b1[i].abs();
        let residual = row(&system.E1, i, &xdot) - row(&system.A1, i, &x) - system.b1[i];
        assert!(residual.abs() < 1e-12 * scale, "{what}: differential row {residual:e}");
    }
    for i in 0..values.a {
        let scale = size(&system.A2, i, &x) + system.b2[i].abs() + 1e-3;
        let residual = row(&system.A2, i, &x) + system.b2[i];
        assert!(residual.abs() < 1e-10 * scale, "{what}: algebraic row {residual:e} of {scale:e}");
    }
    assert!(found.inconsistency < 1e-11, "{what}: inconsistency {:e}", found.inconsistency);
}

#[test]
fn every_hidden_kronecker_structure_is_found() {
    let mut counts = [0; 6];
    for seed in 1..=1200_u64 {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let problem = kronecker(&mut random, seed.is_multiple_of(3), false);
        if problem.rows() == 0 || problem.dim() == 0 {
            continue;
        }
        counts[problem.values.mu.min(5)] += 1;
        check(problem, random.real(), &format!("seed {seed}"));
    }
    println!("problems with μ = 0, 1, …: {counts:?}");
    assert!(counts.iter().sum::<usize>() > 1000 && counts[3] > 50 && counts[4] > 20);
}

#[test]
fn structures_are_found_behind_bad_scales() {
    for seed in 1..=300_u64 {
        let mut random = Random(seed.wrapping_mul(0xD134_2543_DE82_EF95));
        let problem = kronecker(&mut random, seed.is_multiple_of(3), true);
        if problem.rows() == 0 || problem.dim() == 0 || problem.values.mu > 3 {
            continue;
        }
        check(problem, random.real(), &format!("seed {seed}"));
    }
}

#[test]
fn t1_5_differentiated_row_operations_change_no_count() {
    for seed in 1..=400_u64 {
        let mut random = Random(seed.wrapping_mul(0xA076_1D64_78BD_642F));
        let problem = unimodular(&mut random);
        check(problem, random.real(), &format!("seed {seed}"));
    }
}

/// Radau IIa with three stages at fixed steps: the linear stage system in the derivatives, from residuals at unit vectors.
fn radau<D: Dae>(system: &mut D, t0: f64, x0: &[f64], t1: f64, steps: usize) -> Vec<f64> {
    let n = system.dim();
    let r = 6f64.sqrt();
    let c = [(4.0 - r) / 10.0, (4.0 + r) / 10.0, 1.0];
    let a = [
        [(88.0 - 7.0 * r) / 360.0, (296.0 - 169.0 * r) / 1800.0, (-2.0 + 3.0 * r) / 225.0],
        [(296.0 + 169.0 * r) / 1800.0, (88.0 + 7.0 * r) / 360.0, (-2.0 - 3.0 * r) / 225.0],
        [(16.0 - r) / 36.0, (16.0 + r) / 36.0, 1.0 / 9.0],
    ];
    let h = (t1 - t0) / steps as f64;
    let mut x = x0.to_vec();
    let mut pencil = system.new_pencil();
    for step in 0..steps {
        let t = t0 + h * step as f64;
        system.pencil(t, &x, &vec![0.0; n], &mut pencil).unwrap();
        let mut residual = |K: &[f64]| {
            let mut out = vec![0.0; 3 * n];
            for s in 0..3 {
                let X: Vec<f64> =
                    (0..n).map(|j| x[j] + h * (0..3).map(|l| a[s][l] * K[l * n + j]).sum::<f64>()).collect();
                let end = if s == 2 { t0 + h * (step + 1) as f64 } else { t + c[s] * h };
                let part = &mut out[s * n..(s + 1) * n];
                system.residual(s, end, &X, &K[s * n..(s + 1) * n], part).unwrap();
            }
            for s in 0..3 {
                for i in 0..n {
                    if system.algebraic(i) {
                        out[s * n + i] /= h;
                    }
                }
            }
            out
        };
        let zero = residual(&vec![0.0; 3 * n]);
        let mut lu = Lu::<f64>::new(3 * n);
        for k in 0..3 * n {
            let mut unit = vec![0.0; 3 * n];
            unit[k] = 1.0;
            for (i, r) in residual(&unit).iter().enumerate() {
                lu.A[(i, k)] = r - zero[i];
            }
        }
        lu.factor().unwrap();
        let mut K: Vec<f64> = zero.iter().map(|r| -r).collect();
        lu.solve(&mut K);
        for (j, x) in x.iter_mut().enumerate() {
            *x += h * (0..3).map(|l| a[2][l] * K[l * n + j]).sum::<f64>();
        }
        let end = t0 + h * (step + 1) as f64;
        system.accepted(2, end, &mut x, &K[2 * n..]).unwrap();
    }
    x
}

#[test]
fn the_error_falls_with_the_order_of_the_method() {
    let (t0, t1) = (0.2, 1.4);
    let mut orders = Vec::new();
    let mut seed = 0_u64;
    while orders.len() < 40 {
        seed += 1;
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x55);
        let problem =
            if seed.is_multiple_of(4) { unimodular(&mut random) } else { kronecker(&mut random, seed % 4 == 1, false) };
        let values = problem.values;
        if values.u > 0 || values.d == 0 || values.mu > 3 {
            continue;
        }
        let exact = problem.solution_at(t1).0;
        let start = problem.solution_at(t0).0;
        let error = |steps: usize| {
            let mut system = Gelda::new(Differentiated::new(problem.clone()), t0, GeldaOptions::default()).unwrap();
            let first = system.consistent(t0, &start, Keep::LeastChange).unwrap();
            let x = radau(&mut system, t0, &first.x, t1, steps);
            assert!(system.residuals().constraint.is_none_or(|residual| residual < 1e-11));
            x.iter().zip(&exact).fold(0.0_f64, |y, (a, b)| y.max((a - b).abs()))
        };
        let (coarse, fine) = (error(4), error(8));
        if fine > 1e-11 {
            orders.push((coarse / fine).log2());
        } else {
            assert!(coarse < 1e-8, "seed {seed}: {coarse:e}");
        }
        assert!(fine < 1e-4, "seed {seed}, {values}: error {fine:e}");
    }
    orders.sort_by(f64::total_cmp);
    println!("observed orders {orders:.2?}");
    let median = orders[orders.len() / 2];
    assert!(median > 4.7 && median < 5.6, "median {median}");
    assert!(orders[0] > 4.5, "{orders:?}");
}

#[test]
fn integrators_reach_their_tolerance_on_hidden_problems() {
    let methods: [(&str, Box<dyn Integrator>); 2] =
        [("Radau", Box::new(RadauIIa::default())), ("BDF", Box::new(Bdf::default()))];
    let options = Options { tolerance: Tolerance::new(1e-7, 1e-7), ..Options::default() };
    let mut worst = [0.0_f64; 2];
    for seed in 1..=24_u64 {
        let mut random = Random(seed.wrapping_mul(0xA076_1D64_78BD_642F) ^ 0x77);
        let problem =
            if seed.is_multiple_of(4) { unimodular(&mut random) } else { kronecker(&mut random, false, false) };
        let values = problem.values;
        if problem.rows() == 0 || problem.dim() == 0 || values.mu > 3 {
            continue;
        }
        for (worst, (name, method)) in worst.iter_mut().zip(&methods) {
            let mut system = Gelda::new(Differentiated::new(problem.clone()), 0.0, GeldaOptions::default()).unwrap();
            let start = problem.solution_at(0.0).0;
            let point = system.consistent(0.0, &start, Keep::LeastChange).unwrap();
            let mut stepper = method.start(Box::new(system), point, &options).unwrap();
            while stepper.state().t < 2.0 {
                stepper.advance(2.0).unwrap_or_else(|error| panic!("{name}, seed {seed}, {values}: {error}"));
                let constraint = stepper.residuals().constraint.unwrap_or(0.0);
                assert!(constraint < 1e-5, "{name}, seed {seed}, {values}: constraint {constraint:e}");
            }
            // only what is determined can be compared
            if values.u == 0 {
                let exact = problem.solution_at(2.0).0;
                let error = stepper.state().x.iter().zip(&exact).fold(0.0_f64, |y, (a, b)| y.max((a - b).abs()));
                assert!(error < 1e-4, "{name}, seed {seed}, {values}: error {error:e}");
                *worst = worst.max(error);
            }
        }
    }
    println!("largest errors {worst:?}");
}
