//! Regularising feedback: closed loops by another route, and refusals by feedback drawn at random.

use super::{matrix, rank, system};
use crate::blocks::{below, beside};
use crate::linear::matrix as rows;
use crate::random::Random;
use daedal::linalg::{Mat, Matrix, RankRule};
use daedal_pencils::control::{
    ControlError, DescriptorSystem, RegularisingFeedback, regularise_derivative, regularise_output, regularise_state,
};
use daedal_pencils::index_by_powers;

fn in_rows(X: &Mat<f64>) -> Matrix {
    let all: Vec<Vec<f64>> = (0..X.nrows()).map(|i| (0..X.ncols()).map(|j| X[(i, j)]).collect()).collect();
    rows(&all.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// Index by ranks of powers at a λ that is no eigenvalue; none if λE − A is singular there.
fn index(E: &Mat<f64>, A: &Mat<f64>) -> Option<usize> {
    let lambda = 0.7316;
    let shifted = Mat::from_fn(E.nrows(), E.nrows(), |i, j| lambda * E[(i, j)] - A[(i, j)]);
    if rank(&shifted) < E.nrows() {
        return None;
    }
    index_by_powers(&in_rows(E), &in_rows(A), lambda, 1e-10).ok().map(|found| found.0)
}

fn is_regularised(found: &RegularisingFeedback) -> bool {
    index(&found.E, &found.A).is_some_and(|index| index <= 1)
}

/// Wunderlich, thesis (2008), Example 5.45.
#[test]
fn both_modes_of_example_5_45_can_be_regularised() {
    let (A, B) = (matrix(&[&[1.0, 0.0], &[0.0, 0.0]]), matrix(&[&[0.0], &[1.0]]));
    for E in [Mat::identity(2, 2), Mat::zeros(2, 2)] {
        let singular = E.norm_max() == 0.0;
        let mode = system(E, A.clone(), B.clone(), Mat::identity(2, 2));
        let found = regularise_state(&mode, RankRule::default()).unwrap();
        assert!(is_regularised(&found));
        assert_eq!(found.needless, !singular);
        assert_eq!(found.pencil.index(), usize::from(singular));
        if singular {
            // A + B F = I up to the sign of the gain, as in the thesis
            assert!((found.F[(0, 1)].abs() - 1.0).abs() < 1e-14 && found.F[(0, 0)].abs() < 1e-14);
        }
    }
}

/// A derivative helps where states do not: x₁' = u, 0 = x₁ becomes x₂' = w, 0 = x₁.
#[test]
fn derivatives_regularise_what_states_do_not() {
    let plant = system(
        matrix(&[&[1.0, 0.0], &[0.0, 0.0]]),
        matrix(&[&[0.0, 0.0], &[1.0, 0.0]]),
        matrix(&[&[1.0], &[0.0]]),
        Mat::identity(2, 2),
    );
    let refused = ControlError::NotRegularisable { kind: "state", condition: "[E, AT, B]", rank: 1, n: 2 };
    assert_eq!(regularise_state(&plant, RankRule::default()), Err(refused));
    let found = regularise_derivative(&plant, RankRule::default()).unwrap();
    assert!(is_regularised(&found) && found.pencil.index() == 1);
    // an equation without inputs and with nothing to determine
    let plant = system(Mat::zeros(2, 2), matrix(&[&[1.0, 0.0], &[0.0, 0.0]]), Mat::zeros(2, 1), Mat::identity(2, 2));
    let told = regularise_derivative(&plant, RankRule::default()).unwrap_err().to_string();
    assert!(told.contains("no derivative feedback") && told.contains("rank 1, not 2"), "{told}");
}

#[test]
fn an_output_that_does_not_see_the_kernel_is_refused() {
    // 0 = u, and only x₁ is seen
    let plant = system(
        matrix(&[&[1.0, 0.0], &[0.0, 0.0]]),
        matrix(&[&[-1.0, 0.0], &[0.0, 0.0]]),
        matrix(&[&[0.0], &[1.0]]),
        matrix(&[&[1.0, 0.0]]),
    );
    assert!(is_regularised(&regularise_state(&plant, RankRule::default()).unwrap()));
    let refused = ControlError::NotRegularisable { kind: "output", condition: "[E; ZᵀA; C]", rank: 1, n: 2 };
    assert_eq!(regularise_output(&plant, RankRule::default()), Err(refused));
}

/// E and A of low rank, so that most are singular or have a high index.
fn random_plant(random: &mut Random) -> DescriptorSystem {
    let n = 2 + random.below(5);
    let (k, p) = (1 + random.below(3), 1 + random.below(3));
    let mut low = |rank: usize| {
        let (X, Y) = (random.orthogonal(n), random.orthogonal(n));
        let D = Mat::from_fn(n, n, |i, j| if i == j && i < rank { 1.0 + 0.1 * i as f64 } else { 0.0 });
        X * D * Y
    };
    let sizes = (n * 2 / 3, n - 1);
    let (E, A) = (low(sizes.0), low(sizes.1));
    let (B, C) = (random.matrix(n, k), random.matrix(p, n));
    // inputs and outputs that reach only a part
    let (P, Q) = (random.orthogonal(n), random.orthogonal(n));
    let (reached, seen) = (1 + random.below(n), 1 + random.below(n));
    let B = &P * Mat::from_fn(n, k, |i, j| if i < reached { B[(i, j)] } else { 0.0 });
    let C = Mat::from_fn(p, n, |i, j| if j < seen { C[(i, j)] } else { 0.0 }) * &Q;
    // the rows that inputs do not reach are those in which E and A may vanish as well
    let shared = random.below(2) == 0;
    let keep = |X: Mat<f64>| {
        if !shared {
            return X;
        }
        let D = Mat::from_fn(n, n, |i, j| if i == j && i + 1 < n { 1.0 } else { 0.0 });
        &P * D * P.transpose() * X
    };
    system(keep(E), keep(A), B, C)
}

#[test]
fn feedback_regularises_300_random_systems_or_none_does() {
    let mut random = Random(543);
    let mut made = [0; 3];
    let mut refused = [0; 3];
    for case in 0..300 {
        let plant = random_plant(&mut random);
        let DescriptorSystem { E, A, B, C } = &plant;
        let (n, k, p) = (plant.dim(), B.ncols(), C.nrows());
        let found = [
            regularise_state(&plant, RankRule::default()),
            regularise_output(&plant, RankRule::default()),
            regularise_derivative(&plant, RankRule::default()),
        ];
        for (which, found) in found.into_iter().enumerate() {
            match found {
                Ok(found) => {
                    made[which] += 1;
                    assert!(is_regularised(&found), "case {case}, {which}");
                    assert!(found.F.norm_max().max(found.G.norm_max()) < 1e4, "case {case}: {:?}", found.F);
                    // the closed loop is that of the feedback
                    let seen = if which == 1 { C.clone() } else { Mat::identity(n, n) };
                    assert!((&found.A - (A + B * &found.F * seen)).norm_max() < 1e-12);
                    assert!((&found.E - (E + B * &found.G)).norm_max() < 1e-12);
                }
                Err(ControlError::NotRegularisable { .. }) => {
                    refused[which] += 1;
                    // what no generic feedback does, none does
                    for _ in 0..5 {
                        let closed = match which {
                            0 => (E.clone(), A + B * random.matrix(k, n)),
                            1 => (E.clone(), A + B * random.matrix(k, p) * C),
                            _ => (E + B * random.matrix(k, n), A.clone()),
                        };
                        let index = index(&closed.0, &closed.1);
                        assert!(index.is_none_or(|index| index > 1), "case {case}, {which}: index {index:?}");
                    }
                }
                Err(other) => panic!("case {case}, {which}: {other}"),
            }
        }
    }
    assert!(made.iter().all(|&made| made > 60) && refused.iter().all(|&refused| refused > 20), "{made:?} {refused:?}");
}

/// The conditions of Theorem 5.43 in the words of the thesis.
#[test]
fn conditions_of_theorem_5_43_decide() {
    let mut random = Random(1992);
    let (mut states, mut outputs) = (0, 0);
    for case in 0..200 {
        let plant = random_plant(&mut random);
        let DescriptorSystem { E, A, B, C } = &plant;
        let n = plant.dim();
        let svd = |X: &Mat<f64>| {
            let mut svd = daedal::linalg::Svd::new(n, n);
            svd.A.copy_from(X);
            svd.factor().unwrap();
            let r = svd.rank(1e-9);
            (svd.U.get(.., r..).to_owned(), svd.V.get(.., r..).to_owned())
        };
        let (Z, T) = svd(E);
        let first = rank(&beside(&[E, &(A * &T), B])) == n;
        let second = first && rank(&below(&[E, &(Z.transpose() * A), C])) == n;
        assert_eq!(regularise_state(&plant, RankRule::default()).is_ok(), first, "case {case}");
        assert_eq!(regularise_output(&plant, RankRule::default()).is_ok(), second, "case {case}");
        states += usize::from(first);
        outputs += usize::from(second);
    }
    assert!((40..190).contains(&states) && (20..180).contains(&outputs), "{states} {outputs}");
}
