//! Equivalent control, Wunderlich, thesis (2008), (5.76).

use super::{matrix, rank, system};
use crate::random::Random;
use daedal::linalg::{Mat, RankRule};
use daedal_pencils::control::{ControlError, EquivalentControl};

/// ẋ₁ = B₁₂u + b₁, 0 = x₂ + B₂₂u + b₂: u_eq = (C₁B₁₂)⁻¹(C₂ḃ₂ − C₁b₁).
#[test]
fn the_reduced_form_of_the_thesis_gives_its_formula() {
    let (B12, B22, C1, C2) = (2.0, 3.0, 0.5, 0.25);
    let E = matrix(&[&[1.0, 0.0], &[0.0, 0.0]]);
    // 0 = x₂ + B₂₂u + b₂ is E ẋ = A x + B u + b with A₂₂ = 1
    let A = matrix(&[&[0.0, 0.0], &[0.0, 1.0]]);
    let plant = system(E, A, matrix(&[&[B12], &[B22]]), matrix(&[&[C1, C2]]));
    let found = EquivalentControl::new(&plant, RankRule::default()).unwrap();
    let (b, rate) = ([0.7, -0.4], [0.0, 1.3]);
    let u: f64 = (0..2).map(|j| found.of_b[(0, j)] * b[j] + found.of_rate[(0, j)] * rate[j]).sum();
    assert!((u - (C2 * rate[1] - C1 * b[0]) / (C1 * B12)).abs() < 1e-14);
    assert!(found.of_states.norm_max() < 1e-15);
    assert!((found.crossing[(0, 0)] - C1 * B12).abs() < 1e-15);
    assert_eq!((found.sliding.index(), found.sliding.finite.len()), (1, 1));
}

#[test]
fn the_surface_does_not_move_in_100_random_systems() {
    let mut random = Random(5_76);
    for case in 0..100 {
        let (d, a, k) = (2 + random.below(3), random.below(3), 1 + random.below(2));
        let n = d + a;
        let (P, Q) = (random.orthogonal(n), random.orthogonal(n));
        let E = &P * Mat::from_fn(n, n, |i, j| if i == j && i < d { 1.0 } else { 0.0 }) * &Q;
        let A = random.matrix(n, n);
        let plant = system(E, A, random.matrix(n, k), random.matrix(k, n));
        let found = EquivalentControl::new(&plant, RankRule::default()).unwrap();
        // d/dt of C x along a motion with u = u_eq at x and u' = 0: differences of the states with the input held
        let Z = {
            let mut svd = daedal::linalg::Svd::new(n, n);
            svd.A.copy_from(&plant.E);
            svd.factor().unwrap();
            svd.U.get(.., d..).to_owned()
        };
        assert_eq!(rank(&plant.E), d);
        // consistent x and u: Zᵀ(A x + B u) = 0 with u = K x
        let closed = &plant.A + &plant.B * &found.of_states;
        let x = {
            let mut svd = daedal::linalg::Svd::new(a, n);
            svd.A.copy_from(Z.transpose() * &closed);
            svd.factor().unwrap();
            &svd.V.get(.., a..).to_owned() * random.matrix(d, 1)
        };
        // E ẋ = A x + B u, Zᵀ A ẋ = 0 because u is held
        let stacked = crate::blocks::below(&[&plant.E, &(Z.transpose() * &plant.A)]);
        let right = crate::blocks::below(&[&(&closed * &x), &Mat::zeros(a, 1)]);
        let normal = stacked.transpose() * &stacked;
        let xdot: Mat<f64> = faer_solve(&normal, &(stacked.transpose() * right));
        assert!((&plant.C * xdot).norm_max() < 1e-8, "case {case}");
    }
}

fn faer_solve(A: &Mat<f64>, b: &Mat<f64>) -> Mat<f64> {
    let n = A.nrows();
    let mut lu = daedal::linalg::Lu::<f64>::new(n);
    (0..n).for_each(|i| (0..n).for_each(|j| lu.A[(i, j)] = A[(i, j)]));
    lu.factor().unwrap();
    let mut x: Vec<f64> = (0..n).map(|i| b[(i, 0)]).collect();
    lu.solve(&mut x);
    Mat::from_fn(n, 1, |i, _| x[i])
}

#[test]
fn surfaces_that_inputs_do_not_cross_are_refused() {
    // x₁' = x₂, x₂' = u: the position alone has no equivalent control of first order
    let plant = |C: &[f64]| {
        system(Mat::identity(2, 2), matrix(&[&[0.0, 1.0], &[0.0, 0.0]]), matrix(&[&[0.0], &[1.0]]), matrix(&[C]))
    };
    let refused = EquivalentControl::new(&plant(&[1.0, 0.0]), RankRule::default());
    assert_eq!(refused, Err(ControlError::NotTransversal { rank: 0, size: 1 }));
    let found = EquivalentControl::new(&plant(&[2.0, 1.0]), RankRule::default()).unwrap();
    // x₂' = −2x₂ on x₂ = −2x₁
    assert!((found.of_states[(0, 1)] + 2.0).abs() < 1e-14 && found.of_states[(0, 0)].abs() < 1e-14);
    let two = system(Mat::identity(2, 2), Mat::zeros(2, 2), Mat::identity(2, 2), matrix(&[&[1.0, 0.0]]));
    let told = EquivalentControl::new(&two, RankRule::default()).unwrap_err().to_string();
    assert_eq!(told, "surfaces, one for each input: 1 given, 2 needed");
    let high = system(
        matrix(&[&[0.0, 1.0], &[0.0, 0.0]]),
        Mat::identity(2, 2),
        matrix(&[&[1.0], &[1.0]]),
        matrix(&[&[1.0, 0.0]]),
    );
    let refused = EquivalentControl::new(&high, RankRule::default());
    assert_eq!(refused, Err(ControlError::HighIndex { index: 2 }));
}
