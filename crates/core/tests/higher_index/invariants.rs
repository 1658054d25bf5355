//! Which first integrals are kept: linear ones by all Runge-Kutta and multistep methods, quadratic ones by symplectic Runge-Kutta
//! methods; others by projection onto φ(y) = 0, which keeps the order. Hairer & Wanner, Solving ODEs II, VII.2.

use super::dormand_prince;
use super::explicit::{adams_bashforth4, distance, euler, observed_order, runge_kutta4, shifted};

/// The free rigid body with moments of inertia 1, 2, 3: |y|² and Σ yᵢ²/Iᵢ are constant.
fn rigid_body(_: f64, y: &[f64; 3]) -> [f64; 3] {
    let w = [y[0], y[1] / 2.0, y[2] / 3.0];
    [y[1] * w[2] - y[2] * w[1], y[2] * w[0] - y[0] * w[2], y[0] * w[1] - y[1] * w[0]]
}

const SPINNING: [f64; 3] = [0.6, 0.0, 0.8];

/// |y|² − 1 and Σ yᵢ²/Iᵢ − its value at the start.
fn integrals(y: &[f64; 3]) -> [f64; 2] {
    let sum = |weights: [f64; 3]| (0..3).map(|i| weights[i] * (y[i] * y[i] - SPINNING[i] * SPINNING[i])).sum();
    [sum([1.0; 3]), sum([1.0, 0.5, 1.0 / 3.0])]
}

/// The implicit midpoint rule, by fixed point iteration.
fn midpoint(y: &[f64; 3], h: f64) -> [f64; 3] {
    let mut slope = rigid_body(0.0, y);
    for _ in 0..60 {
        slope = rigid_body(0.0, &shifted(y, h / 2.0, &slope));
    }
    shifted(y, h, &slope)
}

/// y = ỹ − φ_yᵀ μ with both integrals, φ_y φ_yᵀ held fixed.
fn project(y: &mut [f64; 3]) {
    let gradients = [y.map(|y| 2.0 * y), [2.0 * y[0], y[1], 2.0 / 3.0 * y[2]]];
    let dot = |a: &[f64; 3], b: &[f64; 3]| (0..3).map(|i| a[i] * b[i]).sum::<f64>();
    let A = [0, 1].map(|i| [dot(&gradients[i], &gradients[0]), dot(&gradients[i], &gradients[1])]);
    let det = A[0][0] * A[1][1] - A[0][1] * A[1][0];
    for _ in 0..6 {
        let r = integrals(y);
        let mu = [(A[1][1] * r[0] - A[0][1] * r[1]) / det, (A[0][0] * r[1] - A[1][0] * r[0]) / det];
        for i in 0..3 {
            y[i] -= gradients[0][i] * mu[0] + gradients[1][i] * mu[1];
        }
    }
}

#[test]
fn linear_first_integrals_are_kept_by_all_methods() {
    // three species that react; their sum is constant
    let f = |_: f64, y: &[f64; 3]| {
        let (a, b, c) = (y[0] - 0.3 * y[1] * y[2], y[1] * y[1], 0.7 * y[2] * y[0]);
        [c - a, a - b, b - c]
    };
    let start = [1.0, 0.5, 0.25];
    let h = 0.05;
    let mut states = [start; 4];
    let mut past = [f(0.0, &start); 4];
    for _ in 0..400 {
        past = [past[1], past[2], past[3], f(0.0, &states[3])];
        states = [
            euler(f, 0.0, &states[0], h),
            runge_kutta4(f, 0.0, &states[1], h),
            dormand_prince::step(f, 0.0, &states[2], h, f(0.0, &states[2])).0,
            adams_bashforth4(&past, &states[3], h),
        ];
    }
    for y in states {
        assert!((y.iter().sum::<f64>() - 1.75).abs() < 1e-13, "{y:?}");
        assert!(distance(&y, &start) > 0.1);
    }
}

#[test]
fn quadratic_first_integrals_are_kept_by_the_midpoint_rule() {
    let (mut symplectic, mut explicit) = (SPINNING, SPINNING);
    for _ in 0..1000 {
        symplectic = midpoint(&symplectic, 0.1);
        explicit = runge_kutta4(rigid_body, 0.0, &explicit, 0.1);
    }
    assert!(integrals(&symplectic).iter().all(|r| r.abs() < 1e-13), "{symplectic:?}");
    assert!(integrals(&explicit).iter().any(|r| r.abs() > 1e-8), "{:?}", integrals(&explicit));
}

/// T12 for invariants.
#[test]
fn projection_onto_invariants_keeps_the_order() {
    let run = |n: u32| {
        let mut y = SPINNING;
        for _ in 0..n {
            y = runge_kutta4(rigid_body, 0.0, &y, 10.0 / f64::from(n));
            project(&mut y);
            assert!(integrals(&y).iter().all(|r| r.abs() < 1e-14));
        }
        y
    };
    let exact = dormand_prince::DormandPrince::new(1e-13).integrate(rigid_body, 0.0, SPINNING, 10.0, |_, _| {}).0;
    let [coarse, fine] = [80, 160].map(|n| distance(&run(n), &exact));
    let order = observed_order(coarse, fine, 2.0);
    assert!((order - 4.0).abs() < 0.15, "{order} {coarse:e}");
}
