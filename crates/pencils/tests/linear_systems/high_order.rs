//! Systems of any order: the numbers of second order come out again, and systems of order three that are made keep theirs.

use crate::orders::{OrderedSystem, POWERS, regular};
use crate::random::Random;
use crate::second_order::{Example323, chain};
use daedal::linalg::{Mat, Matrix, RankRule, Ranks};
use daedal::linear::CharacteristicValues;
use daedal_pencils::high_order::{OrderExpansion, OrderValues, reduce_order};
use daedal_pencils::second_order::{Expansion, TripleCoefficients, TripleFormulas, compare_formulations};
use daedal_pencils::{Kronecker, local_invariants};
use faer::Scale;

fn rule() -> RankRule {
    RankRule::default()
}

fn of_second_order(at: &Expansion) -> OrderExpansion {
    OrderExpansion::new(vec![at.K().to_vec(), at.C().to_vec(), at.M().to_vec()], at.f().to_vec()).unwrap()
}

fn values(mu: usize, d: &[usize], a: usize, v: usize, u: usize) -> OrderValues {
    OrderValues { mu, d: d.to_vec(), a, v, u }
}

fn first(mu: usize, d: usize, a: usize) -> CharacteristicValues {
    CharacteristicValues { mu, d, a, v: 0, u: 0 }
}

#[test]
fn t2_3_has_index_two_as_written_and_three_as_a_companion() {
    let triple = TripleFormulas(Example323).expand(1.2, 6).unwrap();
    let at = of_second_order(&triple);
    assert_eq!(reduce_order(&at, rule()).unwrap().values, values(2, &[0, 1], 2, 0, 0));
    let companion = at.with_derivatives(&[2, 2, 2]).characteristic_values(rule()).unwrap();
    assert_eq!(companion, first(3, 2, 4));
    assert_eq!(companion, compare_formulations(&triple, None, rule()).unwrap().companion);
}

#[test]
fn t2_9_forms_of_first_order_of_a_constrained_chain() {
    for (gyroscopic, expected) in [(false, values(2, &[0, 2], 2, 0, 0)), (true, values(3, &[2, 1], 1, 0, 0))] {
        let [M, C, K] = chain(gyroscopic);
        let at = OrderExpansion::constant(&[K, C, M], 6).unwrap();
        let reduced = reduce_order(&at, rule()).unwrap();
        assert_eq!(reduced.values, expected);
        assert_eq!(reduced.converted, usize::from(gyroscopic));
        assert_eq!(at.orders(), [2, 2, 2, 0]);
        let form = |orders: &[usize]| at.with_derivatives(orders).characteristic_values(rule()).unwrap();
        assert_eq!(form(&[0; 4]), first(2, 4, 3));
        assert_eq!(form(&[2; 4]), first(3, 4, 4));
    }
}

fn rows_of(X: &Mat<f64>) -> Matrix {
    let mut Y = Matrix::zeros(X.nrows(), X.ncols());
    (0..X.nrows()).for_each(|i| (0..X.ncols()).for_each(|j| Y[(i, j)] = X[(i, j)]));
    Y
}

#[test]
fn random_systems_of_order_two_and_three_keep_their_values() {
    let mut random = Random(33);
    let mut indices = [0; 8];
    for case in 0..400 {
        let k = 2 + case % 2;
        let d: Vec<usize> = (0..k).map(|_| random.below(3)).collect();
        let sizes = [random.below(3), random.below(2), random.below(2)];
        let varying = case % 4 > 1;
        let [a, v, u] = sizes;
        let mut system = OrderedSystem::strangeness_free(&mut random, &d, sizes, varying);
        let (m, n) = system.size();
        if m == 0 || n == 0 {
            continue;
        }
        system.hide(&mut random, 3);
        let turned = system.turned(&regular(&mut random, m, varying), &random.orthogonal(n));
        let x = random.polynomial(n, 1, 4);
        let f = turned.right_hand_side(&x);
        let f = f.iter().map(|f| (0..m).map(|i| f[(i, 0)]).collect()).collect();
        let at = OrderExpansion::new(turned.0, f).unwrap();
        let reduced = reduce_order(&at, rule()).unwrap_or_else(|error| panic!("case {case}: {error}"));
        let mu = reduced.values.mu;
        assert_eq!(reduced.values, values(mu, &d, a, v, u), "case {case}");
        indices[mu] += 1;
        let degrees = reduced.values.free_initial_values();
        assert_eq!(Ranks::default().rank(&reduced.leading(), 0.0).unwrap(), d.iter().sum::<usize>() + a, "case {case}");
        // solutions of the system solve the reduced one
        let rates: Vec<Mat<f64>> = (0..=k).map(|q| &x[q] * Scale((1..=q).map(|p| p as f64).product::<f64>())).collect();
        for rows in &reduced.rows {
            let mut residual = Mat::from_fn(rows.len(), 1, |i, _| -rows.f[i]);
            rows.A.iter().zip(&rates).for_each(|(A, x)| residual += A * x);
            let size = rows.A.iter().fold(1.0_f64, |size, A| size.max(A.norm_max()));
            assert!(residual.norm_max() < 1e-9 * size, "case {case}: {:e}", residual.norm_max());
        }
        assert!(reduced.consistency_residual < 1e-9, "case {case}");
        // every form of first order has as many degrees of freedom; of constant ones Kronecker's form counts them
        for orders in [vec![0; n], vec![k; n]] {
            let form = at.with_derivatives(&orders);
            let found = form.characteristic_values(rule()).unwrap_or_else(|error| panic!("case {case}: {error}"));
            // derivatives of what nothing determines may be differential unknowns
            assert!(u > 0 || (found.d, found.v, found.u) == (degrees, v, u), "case {case}");
            assert!(found.mu < mu + k, "case {case}: {} from {mu}", found.mu);
            if !varying && u == 0 && v == 0 {
                let pencil = Kronecker::new(&form.E[0], &form.A[0], rule()).unwrap();
                assert!(pencil.is_regular() && pencil.finite.len() == degrees, "case {case}");
                assert_eq!(pencil.index().max(1), found.mu + 1, "case {case}");
            }
        }
        // order reduction after index reduction: strangeness-free, and the solution is one of it
        if !varying && u == 0 && mu + k <= POWERS {
            let trimmed = reduced.trimmed(&at).unwrap();
            let local = local_invariants(&rows_of(&trimmed.E), &rows_of(&trimmed.A), 1e-11).unwrap();
            assert_eq!((local.d, local.a, local.s, local.u), (degrees, a, 0, 0), "case {case}");
            let size = trimmed.E.ncols();
            assert_eq!(size, n + d.iter().enumerate().map(|(q, d)| q * d).sum::<usize>(), "case {case}");
        }
    }
    assert!(indices[1] > 20 && indices[2] > 20 && indices[3..].iter().sum::<i32>() > 5, "{indices:?}");
}
