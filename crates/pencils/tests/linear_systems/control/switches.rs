//! Relations at switches against a minimisation that knows none of them: u constant on short pieces, states by exact steps, and the quadratic
//! function of all u minimised, under the condition of a surface where there is one.

use super::matrix;
use super::quadratic::{plant, problem};
use daedal::linalg::{Lu, Mat, RankRule};
use daedal_pencils::control::{SwitchSurface, SwitchedProblem, optimal_times};

/// x' = a x + b u, ½∫ q x² + r u².
#[derive(Clone, Copy)]
struct Scalar {
    a: f64,
    b: f64,
    q: f64,
    r: f64,
}

const FIRST: Scalar = Scalar { a: 1.0, b: 1.0, q: 1.0, r: 0.5 };
const SECOND: Scalar = Scalar { a: -0.5, b: 2.0, q: 3.0, r: 2.0 };
const M: f64 = 1.5;

fn written(modes: &[Scalar], times: &[f64]) -> SwitchedProblem {
    let one = |x: f64| matrix(&[&[x]]);
    let phases = modes.iter().map(|m| plant(one(1.0), one(m.a), one(m.b), one(m.q), one(0.0), one(m.r)));
    problem(phases.collect(), times.to_vec(), vec![1.0], one(M))
}

/// Least cost over u constant on pieces; `at_switch` is the value that x must have at the first switch. Also u on the pieces.
fn brute_force(modes: &[Scalar], times: &[f64], pieces: usize, at_switch: Option<f64>) -> (f64, Vec<f64>) {
    const C: [f64; 3] = [0.112701665379258, 0.5, 0.887298334620742];
    const W: [f64; 3] = [5.0 / 18.0, 4.0 / 9.0, 5.0 / 18.0];
    let count = modes.len() * pieces;
    // x = p + cᵀu along the way; the cost is ½uᵀHu + gᵀu + const
    let (mut p, mut c) = (1.0, vec![0.0; count]);
    let (mut H, mut g, mut constant) = (Mat::<f64>::zeros(count, count), vec![0.0; count], 0.0);
    let mut condition: Option<(Vec<f64>, f64)> = None;
    let weigh = |H: &mut Mat<f64>, g: &mut [f64], constant: &mut f64, w: f64, p: f64, c: &[f64]| {
        for i in 0..count {
            if c[i] != 0.0 {
                (0..count).for_each(|j| H[(i, j)] += w * c[i] * c[j]);
                g[i] += w * p * c[i];
            }
        }
        *constant += 0.5 * w * p * p;
    };
    for (i, mode) in modes.iter().enumerate() {
        let h = (times[i + 1] - times[i]) / pieces as f64;
        for j in 0..pieces {
            let k = i * pieces + j;
            let over = |s: f64, p: f64, c: &[f64]| {
                let e = (mode.a * s).exp();
                let mut c: Vec<f64> = c.iter().map(|c| e * c).collect();
                c[k] += mode.b * if mode.a == 0.0 { s } else { (mode.a * s).exp_m1() / mode.a };
                (e * p, c)
            };
            for (node, w) in C.iter().zip(W) {
                let (p, c) = over(node * h, p, &c);
                weigh(&mut H, &mut g, &mut constant, h * w * mode.q, p, &c);
            }
            H[(k, k)] += h * mode.r;
            (p, c) = over(h, p, &c);
        }
        if let (0, Some(value)) = (i, at_switch) {
            condition = Some((c.clone(), value - p));
        }
    }
    weigh(&mut H, &mut g, &mut constant, M, p, &c);
    let size = count + usize::from(condition.is_some());
    let mut lu = Lu::<f64>::new(size);
    let mut right: Vec<f64> = g.iter().map(|g| -g).collect();
    for i in 0..count {
        (0..count).for_each(|j| lu.A[(i, j)] = H[(i, j)]);
    }
    if let Some((row, value)) = &condition {
        for j in 0..count {
            (lu.A[(count, j)], lu.A[(j, count)]) = (row[j], row[j]);
        }
        right.push(*value);
    }
    lu.factor().unwrap();
    lu.solve(&mut right);
    let u = right[..count].to_vec();
    let square: f64 = (0..count).map(|i| (0..count).map(|j| u[i] * H[(i, j)] * u[j]).sum::<f64>()).sum();
    let linear: f64 = g.iter().zip(&u).map(|(g, u)| g * u).sum();
    (0.5 * square + linear + constant, u)
}

#[test]
fn the_adjoint_variable_goes_through_a_switch() {
    let (modes, times) = ([FIRST, SECOND], [0.0, 0.7, 1.6]);
    let found = written(&modes, &times).solve(RankRule::default()).unwrap();
    let pieces = 100;
    let (cost, u) = brute_force(&modes, &times, pieces, None);
    // pieces of length h cost O(h²) more
    assert!(cost > found.cost && cost - found.cost < 1e-4, "{cost} {}", found.cost);
    for (i, mode) in modes.iter().enumerate() {
        let h = (times[i + 1] - times[i]) / pieces as f64;
        for j in [0, pieces / 2, pieces - 1] {
            let point = found.at(times[i] + (j as f64 + 0.5) * h, i).unwrap();
            let u = u[i * pieces + j];
            assert!((point.u[0] - u).abs() < 1e-3, "{} {u}", point.u[0]);
            assert!((point.lambda[0] + mode.r / mode.b * u).abs() < 1e-3);
        }
    }
    // (5.57c) with a surface in time alone would make λ vanish on both sides of the switch
    let (before, behind) = (found.at(0.7, 0).unwrap(), found.at(0.7, 1).unwrap());
    assert!((before.lambda[0] - behind.lambda[0]).abs() < 1e-12 && before.lambda[0].abs() > 0.1);
    let (left, right) = (-FIRST.r / FIRST.b * u[pieces - 1], -SECOND.r / SECOND.b * u[pieces]);
    assert!(left.abs() > 0.1 && (left - right).abs() < 0.02, "{left} {right}");
}

#[test]
fn a_surface_makes_the_adjoint_variable_jump_by_its_multiplier() {
    let (modes, times) = ([FIRST, SECOND], [0.0, 0.7, 1.6]);
    let mut problem = written(&modes, &times);
    // x(τ) = 0.9
    problem.surfaces[0] = Some(SwitchSurface { gradient: vec![1.0], rate: 0.0, offset: -0.9 });
    let found = problem.solve(RankRule::default()).unwrap();
    let pieces = 100;
    let (cost, u) = brute_force(&modes, &times, pieces, Some(0.9));
    assert!((cost - found.cost).abs() < 2e-4 && cost > found.cost, "{cost} {}", found.cost);
    let (before, behind) = (found.at(0.7, 0).unwrap(), found.at(0.7, 1).unwrap());
    assert!((before.x[0] - 0.9).abs() < 1e-12);
    assert!((behind.lambda[0] - before.lambda[0] + found.multipliers[0]).abs() < 1e-12);
    assert!(found.multipliers[0].abs() > 0.1);
    // both sides as the minimisation has them: neither λ(τ⁻) = η, which (5.57c) asks for, nor λ(τ⁺) = 0
    let (left, right) = (-FIRST.r / FIRST.b * u[pieces - 1], -SECOND.r / SECOND.b * u[pieces]);
    assert!((before.lambda[0] - left).abs() < 0.02 && (behind.lambda[0] - right).abs() < 0.02);
    assert!((before.lambda[0] - found.multipliers[0]).abs() > 0.1 && behind.lambda[0].abs() > 0.1);
}

#[test]
fn the_slope_of_the_cost_is_the_jump_of_the_hamiltonian() {
    let cost = |tau: f64, surface: Option<SwitchSurface>| {
        let mut problem = written(&[FIRST, SECOND], &[0.0, tau, 1.6]);
        problem.surfaces[0] = surface;
        problem.solve(RankRule::default()).unwrap()
    };
    // without a surface, on one at rest, and on one that moves
    let surfaces = [
        None,
        Some(SwitchSurface { gradient: vec![1.0], rate: 0.0, offset: -0.9 }),
        Some(SwitchSurface { gradient: vec![1.0], rate: 0.4, offset: -1.0 }),
    ];
    for surface in surfaces {
        let h = 1e-5;
        let (left, right) = (cost(0.7 - h, surface.clone()).cost, cost(0.7 + h, surface.clone()).cost);
        let found = cost(0.7, surface.clone());
        assert!((found.slopes[0] - (right - left) / (2.0 * h)).abs() < 1e-6, "{surface:?}: {}", found.slopes[0]);
        assert!(found.slopes[0].abs() > 1e-2);
    }
}

/// With −Ṗ = q − b²P²/r backward from M, the mode with the smaller right-hand side is better: below P with q₁ − b₁²P² = q₂ − b₂²P² the first
/// one. Backward from M in the second mode this P is met after (1/(2√q b)) ln of a quotient.
#[test]
fn the_best_time_is_that_of_a_closed_form_and_of_a_scan_by_brute_force() {
    let modes = [Scalar { a: 0.0, b: 1.0, q: 0.1, r: 1.0 }, Scalar { a: 0.0, b: 3.0, q: 4.0, r: 1.0 }];
    let since = |P: f64| ((3.0 * P - 2.0) / (3.0 * P + 2.0)).ln() / 12.0;
    let exact = 2.0 - (since(M) - since((3.9_f64 / 8.0).sqrt()));
    let scan = (20..40).map(|i| {
        let tau = 0.05 * f64::from(i);
        (tau, brute_force(&modes, &[0.0, tau, 2.0], 60, None).0)
    });
    let best = scan.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
    assert!((best.0 - exact).abs() < 0.05, "{best:?} {exact}");
    for start in [1.0, 1.9] {
        let found = optimal_times(&written(&modes, &[0.0, start, 2.0]), RankRule::default()).unwrap();
        assert!((found.problem.times[1] - exact).abs() < 1e-6, "{} {exact}", found.problem.times[1]);
        let (before, behind) = found.optimum.hamiltonians[0];
        assert!((before - behind).abs() < 1e-8 * before.abs() && found.at_edge.is_empty());
        assert!(found.optimum.cost < best.1 && best.1 - found.optimum.cost < 1e-3, "{} {best:?}", found.optimum.cost);
    }
    // in the other order one of the modes is not worth its place
    let turned = [modes[1], modes[0]];
    let found = optimal_times(&written(&turned, &[0.0, 1.0, 2.0]), RankRule::default()).unwrap();
    assert_eq!(found.at_edge, [1]);
}
