//! Characteristic values by projections, by the recursion over inflated pairs, and of frozen pencils. T1.1–T3.3: Wunderlich, thesis (2008);
//! T18: Hairer & Wanner, Solving ODEs II, VII; examples 3.2.16, 3.5.60: Steinbrecher, thesis (2006).

use crate::hidden::{Hidden, Random, kronecker, unimodular};
use crate::linear::*;
use crate::pencils::mechanical;
use daedal::dae::CharacteristicValues;
use daedal::dae::{Gelda, GeldaOptions, Keep};
use daedal::linalg::{Matrix, times};
use daedal::linear::*;
use daedal::scalar::Scalar;
use daedal_pencils::{
    LocalInvariants, PencilError, RegularPencil, invariants_by_recursion, is_one_full, local_invariants,
};

const TOLERANCE: f64 = 1e-11;

/// The values by projections and by the recursion, which must agree.
pub fn analysed<C: Coefficients>(mut problem: C, t: f64) -> CharacteristicValues {
    let options = RankOptions::default();
    let found = strangeness_free(&mut problem, t, &options).unwrap();
    assert_eq!(invariants_by_recursion(&mut problem, t, &options).unwrap(), found.values);
    // [E₁; A₂] has full row rank, and the reduced pair no strangeness
    let CharacteristicValues { d, a, v, u, .. } = found.values;
    let m = problem.rows();
    let (mut E, mut A) = (Matrix::zeros(m, problem.dim()), Matrix::zeros(m, problem.dim()));
    for i in 0..d {
        E.row_mut(i).copy_from_slice(found.system.E1.row(i));
        A.row_mut(i).copy_from_slice(found.system.A1.row(i));
    }
    for i in 0..a {
        A.row_mut(d + i).copy_from_slice(found.system.A2.row(i));
    }
    let local = local_invariants(&E, &A, TOLERANCE).unwrap();
    assert_eq!(local, LocalInvariants { r: d, a, s: 0, d, u, v });
    found.values
}

fn constant_values(E: &[&[f64]], A: &[&[f64]]) -> CharacteristicValues {
    analysed(constant(&matrix(E), &matrix(A)), 0.0)
}

equations!(FreeBehindRegularPencils, 2, 2, |t, E, A, _b| {
    E[(0, 0)] = -t;
    E[(0, 1)] = t * t;
    E[(1, 0)] = S::from(-1.0);
    E[(1, 1)] = t;
    A[(0, 0)] = S::from(-1.0);
    A[(1, 1)] = S::from(-1.0);
});

#[test]
fn t1_1_regular_frozen_pencils_hide_a_free_unknown() {
    for t in [-1.0, 0.0, 0.5, 3.0] {
        assert_eq!(analysed(Differentiated::new(FreeBehindRegularPencils), t), values(1, 0, 1, 1, 1));
        let mut data = TaylorData::new(2, 2, 0);
        Differentiated::new(FreeBehindRegularPencils).taylor(t, 0, &mut data).unwrap();
        let local = local_invariants(&data.E[0], &data.A[0], TOLERANCE).unwrap();
        assert_eq!(local, LocalInvariants { r: 1, a: 0, s: 1, d: 0, u: 1, v: 0 });
        // det(λE − A) = 1 for every frozen pencil
        assert!(RegularPencil::new(&data.E[0], &data.A[0], TOLERANCE).is_ok());
    }
}

#[test]
fn t1_2_singular_frozen_pencils_hide_a_unique_solution() {
    // also example 3.2.16, and M7 with b = (sin t, eᵗ)
    for t in [-0.7_f64, 0.0, 0.4, 2.0] {
        assert_eq!(analysed(Differentiated::new(UniqueBehindSingularPencils), t), values(1, 0, 2, 0, 0));
        let mut data = TaylorData::new(2, 2, 0);
        Differentiated::new(UniqueBehindSingularPencils).taylor(t, 0, &mut data).unwrap();
        let local = local_invariants(&data.E[0], &data.A[0], TOLERANCE).unwrap();
        assert_eq!((local.r, local.a, local.s), (1, 0, 1));
        let refused = RegularPencil::new(&data.E[0], &data.A[0], TOLERANCE);
        assert_eq!(refused.unwrap_err(), PencilError::Singular);
        // any start is projected onto the solution, and the derivative is the solution's
        let mut system =
            Gelda::new(Differentiated::new(UniqueBehindSingularPencils), t, GeldaOptions::default()).unwrap();
        let point = system.consistent(t, &[3.0, -5.0], Keep::LeastChange).unwrap();
        let (x2, x2dot) = (t.exp() - t.cos(), t.exp() + t.sin());
        assert!(distance(&point.x, &[t * x2 + t.sin(), x2]) < 1e-13);
        assert!(distance(&point.xdot, &[x2 + t * x2dot + t.cos(), x2dot]) < 1e-12);
    }
}

#[test]
fn t1_3_one_unknown_in_two_equations_and_two_in_one() {
    assert_eq!(constant_values(&[&[1.0], &[0.0]], &[&[0.0], &[1.0]]), values(1, 0, 1, 1, 0));
    let local = local_invariants(&matrix(&[&[1.0], &[0.0]]), &matrix(&[&[0.0], &[1.0]]), TOLERANCE).unwrap();
    assert_eq!((local.r, local.a, local.s), (1, 0, 1));
    assert_eq!(constant_values(&[&[1.0, 0.0]], &[&[0.0, 1.0]]), values(0, 1, 0, 0, 1));
}

#[test]
fn t1_4_the_companion_form_of_example_3_23_has_index_three() {
    for t in [0.5, 1.0, 1.7] {
        assert_eq!(analysed(Differentiated::new(Companion), t), values(3, 2, 4, 0, 0));
    }
    // T2.3: the solution satisfies the reduced system
    let t: f64 = 1.3;
    let found = strangeness_free(&mut Differentiated::new(Companion), t, &RankOptions::default()).unwrap();
    let x = [t.sin(), (2.0 * t).cos(), (-t).exp(), t.cos(), -2.0 * (2.0 * t).sin(), -(-t).exp()];
    let residual = times(&found.system.A2, &x);
    assert!(distance(&residual, &found.system.b2.iter().map(|b| -b).collect::<Vec<f64>>()) < 1e-12);
}

#[test]
fn t18_one_fullness_of_the_acceleration_system() {
    let acceleration = |M: [[f64; 2]; 2], G: &[[f64; 2]]| {
        let k = G.len();
        let mut X = Matrix::zeros(2 + k, 2 + k);
        for i in 0..2 {
            for j in 0..2 {
                X[(i, j)] = M[i][j];
            }
            for r in 0..k {
                X[(2 + r, i)] = G[r][i];
                X[(i, 2 + r)] = G[r][i];
            }
        }
        is_one_full(&X, 2, 1e-12).unwrap()
    };
    assert!(acceleration([[1.0, 0.0], [0.0, 0.0]], &[[0.0, 1.0]]));
    assert!(acceleration([[1.0, 0.0], [0.0, 1.0]], &[[1.0, 0.0], [1.0, 0.0]]));
    assert!(!acceleration([[1.0, 0.0], [0.0, 0.0]], &[[1.0, 0.0]]));
    // exercise 2 needs M semidefinite
    assert!(!acceleration([[0.0, 1.0], [1.0, 0.0]], &[[1.0, 0.0]]));
}

#[test]
fn checked_results_of_the_characteristic_values() {
    let mut E = Matrix::zeros(4, 4);
    let mut A = Matrix::zeros(4, 4);
    for i in 0..4 {
        A[(i, i)] = 1.0;
        if i < 3 {
            E[(i, i + 1)] = 1.0;
        }
    }
    assert_eq!(analysed(constant(&E, &A), 0.0), values(3, 0, 4, 0, 0));
    // the pendulum, linearised where it hangs: (μ, d, a, v, u) = (2, 2, 3, 0, 0)
    let (E, A) = mechanical("position");
    assert_eq!(analysed(constant(&E, &A), 0.0), values(2, 2, 3, 0, 0));
}

equations!(StirredTank, 8, 8, |t, E, A, b| {
    // u' = G(t) u + C p + f₁, 0 = R(t) m + f₂, 0 = Cᵀu + f₃ with n_u = 4, n_m = n_p = 2; unknowns u, m, p
    let C = [[1.0, 0.0], [-1.0, 1.0], [0.5, -1.0], [0.0, 2.0]];
    for i in 0..4 {
        E[(i, i)] = S::from(1.0);
        for j in 0..4 {
            A[(i, j)] = (t * 0.5 + (i * 4 + j) as f64).sin();
        }
        for k in 0..2 {
            A[(i, 6 + k)] = S::from(C[i][k]);
            A[(6 + k, i)] = S::from(C[i][k]);
        }
        b[i] = t.cos();
    }
    A[(4, 4)] = t.sin() + 2.0;
    A[(4, 5)] = t;
    A[(5, 5)] = t.cos() + 3.0;
    b[4] = t;
    b[6] = (t * 2.0).sin();
});

#[test]
fn example_3_5_60_stirred_tank() {
    for t in [0.0, 0.8, 3.0] {
        assert_eq!(analysed(Differentiated::new(StirredTank), t), values(1, 2, 6, 0, 0));
        // four constraints as they stand, two more by differentiation
        for (max_index, a) in [(0, 4), (1, 6)] {
            let options = RankOptions { max_index, ..RankOptions::default() };
            let found = strangeness_free(&mut Differentiated::new(StirredTank), t, &options);
            let found_a = match found {
                Ok(found) => found.values.a,
                Err(ReductionError::IndexNotFound { last, .. }) => last.a,
                Err(other) => panic!("{other:?}"),
            };
            assert_eq!(found_a, a, "t = {t}, {max_index} differentiations");
        }
        assert_eq!(analysed(Differentiated::new(RegularisedTank), t), values(0, 2, 6, 0, 0));
    }
}

equations!(RegularisedTank, 8, 8, |t, E, A, b| {
    // rows of a basis of kernel Cᵀ over the differential equations, and constraints of both levels
    let (mut E0, mut A0, mut b0) = (Matrix::zeros(8, 8), Matrix::zeros(8, 8), vec![S::from(0.0); 8]);
    StirredTank.coefficients(t, &mut E0, &mut A0, &mut b0);
    let C = [[1.0, 0.0], [-1.0, 1.0], [0.5, -1.0], [0.0, 2.0]];
    for (row, S_D) in [[1.0, 1.0, 0.0, -0.5], [-0.5, 0.0, 1.0, 0.5]].into_iter().enumerate() {
        for i in 0..4 {
            E[(row, i)] = S::from(S_D[i]);
            b[row] += b0[i] * S_D[i];
            for j in 0..8 {
                A[(row, j)] += A0[(i, j)] * S_D[i];
            }
        }
    }
    for k in 0..2 {
        // 0 = Rm + f₂, 0 = Cᵀu + f₃
        for j in 0..8 {
            A[(2 + k, j)] = A0[(4 + k, j)];
            A[(4 + k, j)] = A0[(6 + k, j)];
        }
        (b[2 + k], b[4 + k]) = (b0[4 + k], b0[6 + k]);
        // 0 = Cᵀ(Gu + Cp + f₁) + f₃'
        for i in 0..4 {
            b[6 + k] += b0[i] * C[i][k];
            for j in 0..8 {
                A[(6 + k, j)] += A0[(i, j)] * C[i][k];
            }
        }
    }
    b[6] += (t * 2.0).cos() * 2.0;
});

equations!(Symmetric, 3, 3, |t, E, A, _b| {
    E[(0, 0)] = S::from(1.0);
    E[(1, 1)] = t;
    A[(0, 2)] = t;
    A[(1, 1)] = S::from(1.0);
    A[(2, 0)] = t;
});

equations!(NotReducible, 6, 6, |t, E, A, _b| {
    for (i, j) in [(0, 2), (2, 0), (1, 3), (3, 1)] {
        E[(i, j)] = t;
    }
    for (i, j) in [(0, 4), (4, 0), (1, 5), (5, 1), (2, 2)] {
        A[(i, j)] = S::from(1.0);
    }
});

equations!(TurningKernel, 3, 3, |t, E, A, _b| {
    let (s, c) = t.sin_cos();
    let (o, i) = (S::from(0.0), S::from(1.0));
    let (p, q, e) = ([c, s, o], [-s, c, o], [o, o, i]);
    for r in 0..3 {
        for k in 0..3 {
            E[(r, k)] = p[r] * p[k] + e[r] * e[k];
            A[(r, k)] = (p[r] * e[k] + e[r] * p[k]) * 2.0 - p[r] * q[k] - q[r] * p[k];
        }
    }
});

#[test]
fn t3_1_to_t3_3_structured_problems_seen_as_general_ones() {
    assert_eq!(analysed(Differentiated::new(Symmetric), 1.2), values(1, 1, 2, 0, 0));
    assert_eq!(analysed(Differentiated::new(NotReducible), 1.2), values(2, 1, 4, 1, 1));
    assert_eq!(analysed(Differentiated::new(TurningKernel), 0.4), values(2, 0, 2, 1, 1));
    // frozen, the index of the last one is only 1
    let mut data = TaylorData::new(3, 3, 0);
    Differentiated::new(TurningKernel).taylor(0.4, 0, &mut data).unwrap();
    assert_eq!(analysed(constant(&data.E[0], &data.A[0]), 0.0).mu, 1);
}

#[test]
fn t2_2_equations_of_tiny_size_are_equations() {
    let e = 1e-17;
    assert_eq!(constant_values(&[&[1.0, 0.0], &[0.0, e]], &[&[0.0, 1.0], &[-e, -e]]), values(0, 2, 0, 0, 0));
}

/// The recursion finds what was hidden.
fn check(problem: Hidden, t: f64, what: &str) {
    let (m, n, values) = (problem.rows(), problem.dim(), problem.values);
    let found = invariants_by_recursion(&mut Differentiated::new(problem), t, &RankOptions::default()).unwrap();
    assert_eq!(found, values, "{what} {m} × {n}");
}

#[test]
fn the_recursion_finds_hidden_kronecker_structures_behind_any_scales() {
    for (count, factor, badly_scaled) in
        [(1200_u64, 0x9E37_79B9_7F4A_7C15_u64, false), (300, 0xD134_2543_DE82_EF95, true)]
    {
        for seed in 1..=count {
            let mut random = Random(seed.wrapping_mul(factor));
            let problem = kronecker(&mut random, seed.is_multiple_of(3), badly_scaled);
            if problem.rows() == 0 || problem.dim() == 0 || (badly_scaled && problem.values.mu > 3) {
                continue;
            }
            check(problem, random.real(), &format!("seed {seed}"));
        }
    }
}

#[test]
fn t1_5_the_recursion_is_not_changed_by_differentiated_row_operations() {
    for seed in 1..=400_u64 {
        let mut random = Random(seed.wrapping_mul(0xA076_1D64_78BD_642F));
        let problem = unimodular(&mut random);
        check(problem, random.real(), &format!("seed {seed}"));
    }
}
