//! Controllability and observability against textbooks, and against Kalman's matrices of Weierstrass' form.

use super::{matrix, rank, system};
use crate::blocks::{beside, put};
use crate::random::Random;
use daedal::linalg::{Mat, RankRule};
use daedal_pencils::control::{ControlError, Controllability, DescriptorSystem, StateSpaces, transfer_surplus};

fn of(system: &DescriptorSystem) -> Controllability {
    Controllability::new(system, RankRule::default()).unwrap()
}

fn seen(system: &DescriptorSystem) -> Controllability {
    Controllability::of_outputs(system, RankRule::default()).unwrap()
}

/// [B, J B, J²B, …].
fn kalman(J: &Mat<f64>, B: &Mat<f64>) -> Mat<f64> {
    let mut blocks = vec![B.clone()];
    for k in 1..J.nrows().max(1) {
        let next = J * &blocks[k - 1];
        blocks.push(next);
    }
    beside(&blocks.iter().collect::<Vec<_>>())
}

/// Two masses on springs, pushed at the first one: Kailath, Linear Systems (1980), for the inverted pair of pendulums on one cart, which
/// cannot be told apart if their lengths agree.
#[test]
fn pendulums_of_equal_length_on_one_cart_are_not_controllable() {
    // θᵢ″ = θᵢ/ℓᵢ + u/ℓᵢ
    let cart = |l1: f64, l2: f64| {
        let A = matrix(&[
            &[0.0, 1.0, 0.0, 0.0],
            &[1.0 / l1, 0.0, 0.0, 0.0],
            &[0.0, 0.0, 0.0, 1.0],
            &[0.0, 0.0, 1.0 / l2, 0.0],
        ]);
        let B = matrix(&[&[0.0], &[1.0 / l1], &[0.0], &[1.0 / l2]]);
        system(Mat::identity(4, 4), A, B, matrix(&[&[1.0, 0.0, 0.0, 0.0]]))
    };
    let different = of(&cart(1.0, 2.0));
    assert!(different.is_complete() && different.is_strong() && different.is_stabilisable());
    let equal = of(&cart(0.25, 0.25));
    assert!(!equal.is_reachable() && equal.is_impulse_free() && !equal.is_stabilisable());
    // what differs between them falls as θ″ = 4θ
    let mut fixed: Vec<f64> = equal.fixed.iter().map(|value| value.0).collect();
    fixed.sort_by(f64::total_cmp);
    assert!((fixed[0] + 2.0).abs() < 1e-9 && (fixed[1] - 2.0).abs() < 1e-9, "{fixed:?}");
    // the second pendulum does not show in the first
    let outputs = seen(&cart(1.0, 2.0));
    assert_eq!((outputs.fixed.len(), outputs.is_complete()), (2, false));
}

/// Dai, Singular Control Systems (1989), chapter 2: the three notions are different.
#[test]
fn finite_infinite_and_impulse_controllability_differ() {
    let none = Mat::zeros(0, 2);
    // x₁' = u, 0 = x₂: R- and I-, not C-
    let found = of(&system(
        matrix(&[&[1.0, 0.0], &[0.0, 0.0]]),
        matrix(&[&[0.0, 0.0], &[0.0, 1.0]]),
        matrix(&[&[1.0], &[0.0]]),
        none.clone(),
    ));
    assert_eq!((found.is_complete(), found.is_reachable(), found.is_impulse_free()), (false, true, true));
    assert_eq!((found.at_infinity, found.of_impulses), (1, 2));
    // x₂' = x₁ + u, 0 = x₂: impulses of x₁ belong to no input
    let chain =
        |B: &[&[f64]]| system(matrix(&[&[0.0, 1.0], &[0.0, 0.0]]), Mat::identity(2, 2), matrix(B), Mat::zeros(0, 2));
    let found = of(&chain(&[&[1.0], &[0.0]]));
    assert_eq!((found.is_complete(), found.is_reachable(), found.is_impulse_free()), (false, true, false));
    let found = of(&chain(&[&[0.0], &[1.0]]));
    assert_eq!((found.is_complete(), found.is_reachable(), found.is_impulse_free()), (true, true, true));
    // a row without anything
    let found = of(&system(none.clone().transpose() * &none, Mat::zeros(2, 2), matrix(&[&[1.0], &[0.0]]), none));
    assert_eq!((found.empty.clone(), found.is_stabilisable()), (vec![0], false));
}

#[test]
fn a_fixed_eigenvalue_on_the_axis_is_not_stable() {
    let with = |value: f64| {
        of(&system(
            Mat::identity(2, 2),
            matrix(&[&[0.0, 1.0], &[0.0, value]]),
            matrix(&[&[1.0], &[0.0]]),
            Mat::zeros(0, 2),
        ))
    };
    assert!(with(-1.0).is_stabilisable() && !with(0.0).is_stabilisable() && !with(1.0).is_stabilisable());
}

#[test]
fn sizes_that_do_not_fit_are_refused() {
    let wrong = DescriptorSystem::new(Mat::zeros(2, 3), Mat::zeros(2, 3), Mat::zeros(2, 1), Mat::zeros(0, 3));
    assert_eq!(wrong, Err(ControlError::NotSquare { equations: 2, states: 3 }));
    let wrong = DescriptorSystem::new(Mat::zeros(2, 2), Mat::zeros(2, 2), Mat::zeros(1, 1), Mat::zeros(0, 2));
    assert_eq!(wrong.unwrap_err().to_string(), "B has size (1, 1), but (2, 1) fits the rest");
}

/// Weierstraß' form with known controllability behind random transformations.
struct Weierstrass {
    J: Mat<f64>,
    N: Mat<f64>,
    of_finite: Mat<f64>,
    of_infinite: Mat<f64>,
}

impl Weierstrass {
    fn random(random: &mut Random) -> Self {
        let (moved, fixed, k) = (random.below(4), random.below(3), 1 + random.below(2));
        let d = moved + fixed;
        // block triangular: the last block is not moved by the inputs
        let mut J = random.matrix(d, d);
        for i in moved..d {
            for j in 0..moved {
                J[(i, j)] = 0.0;
            }
        }
        let mut of_finite = random.matrix(d, k);
        for i in moved..d {
            for j in 0..k {
                of_finite[(i, j)] = 0.0;
            }
        }
        let sizes: Vec<usize> = (0..random.below(3)).map(|_| 1 + random.below(3)).collect();
        let size: usize = sizes.iter().sum();
        let (mut N, mut of_infinite) = (Mat::zeros(size, size), random.matrix(size, k));
        let mut at = 0;
        for s in sizes {
            (1..s).for_each(|i| N[(at + i - 1, at + i)] = 1.0);
            // some chains end without an input, some have none at all
            let without = random.below(s + 1);
            for i in s - without..s {
                (0..k).for_each(|j| of_infinite[(at + i, j)] = 0.0);
            }
            at += s;
        }
        Weierstrass { J, N, of_finite, of_infinite }
    }

    fn behind(&self, random: &mut Random) -> DescriptorSystem {
        let (d, q) = (self.J.nrows(), self.N.nrows());
        let n = d + q;
        let (mut E, mut A, mut B) = (Mat::zeros(n, n), Mat::zeros(n, n), Mat::zeros(n, self.of_finite.ncols()));
        put(&mut E, 0, 0, &Mat::identity(d, d));
        put(&mut E, d, d, &self.N);
        put(&mut A, 0, 0, &self.J);
        put(&mut A, d, d, &Mat::identity(q, q));
        put(&mut B, 0, 0, &self.of_finite);
        put(&mut B, d, 0, &self.of_infinite);
        let mut turn = || {
            let D = Mat::from_fn(n, n, |i, j| if i == j { 1.0 + random.below(8) as f64 / 8.0 } else { 0.0 });
            random.orthogonal(n) * D * random.orthogonal(n)
        };
        let (P, Q) = (turn(), turn());
        system(&P * E * &Q, &P * A * &Q, &P * B, Mat::zeros(0, n))
    }
}

#[test]
fn controllability_of_300_random_systems_is_that_of_kalmans_matrices() {
    let mut random = Random(5_38);
    let (mut complete, mut impulsive, mut unreachable) = (0, 0, 0);
    for case in 0..300 {
        let form = Weierstrass::random(&mut random);
        let system = form.behind(&mut random);
        let (d, q) = (form.J.nrows(), form.N.nrows());
        if d + q == 0 {
            continue;
        }
        let found = of(&system);
        let moved = if d == 0 { 0 } else { rank(&kalman(&form.J, &form.of_finite)) };
        let infinite = if q == 0 { 0 } else { rank(&kalman(&form.N, &form.of_infinite)) };
        assert_eq!(found.fixed.len(), d - moved, "case {case}");
        assert_eq!(found.is_reachable(), moved == d, "case {case}");
        assert_eq!(found.is_complete(), moved == d && infinite == q, "case {case}");
        // impulses: range N + kernel N + range B₁ is everything
        let kernel = Mat::from_fn(q, q, |i, j| {
            let column_is_zero = (0..q).all(|p| form.N[(p, j)] == 0.0);
            if i == j && column_is_zero { 1.0 } else { 0.0 }
        });
        let free = q == 0 || rank(&beside(&[&form.N, &kernel, &form.of_infinite])) == q;
        assert_eq!(found.is_impulse_free(), free, "case {case}");
        // the dual system is observed as this one is controlled
        let dual = seen(&system.dual());
        assert_eq!(
            (dual.fixed.len(), dual.is_complete(), dual.is_impulse_free()),
            (d - moved, found.is_complete(), free)
        );
        // subspaces of states
        let spaces = StateSpaces::new(&system, RankRule::default()).unwrap();
        assert_eq!(spaces.admissible.ncols(), d + infinite, "case {case}");
        assert_eq!(spaces.reachable.ncols(), moved + infinite, "case {case}");
        complete += usize::from(found.is_complete());
        impulsive += usize::from(!free);
        unreachable += usize::from(moved < d);
    }
    assert!(complete > 40 && impulsive > 20 && unreachable > 100, "{complete} {impulsive} {unreachable}");
}

/// Wunderlich, thesis (2008), Example 5.45: both modes have index ≤ 1, and the transfer leaves what the second one allows.
#[test]
fn states_of_the_first_mode_of_example_5_45_are_not_those_of_the_second() {
    let A = Mat::<f64>::identity(2, 2);
    let spaces = |E: Mat<f64>| {
        let closed = system(E, A.clone(), Mat::zeros(2, 0), Mat::zeros(0, 2));
        StateSpaces::new(&closed, RankRule::default()).unwrap()
    };
    let (first, second) = (spaces(Mat::identity(2, 2)), spaces(Mat::zeros(2, 2)));
    let surplus = |from: &Mat<f64>, surface: Mat<f64>, to: &Mat<f64>| {
        transfer_surplus(from, &surface, &Mat::identity(2, 2), to, RankRule::default()).unwrap()
    };
    assert_eq!(surplus(&first.admissible, Mat::zeros(0, 2), &second.admissible), 2);
    assert_eq!(surplus(&first.admissible, matrix(&[&[1.0, 0.0]]), &second.admissible), 1);
    assert_eq!(surplus(&second.admissible, Mat::zeros(0, 2), &first.admissible), 0);
}
