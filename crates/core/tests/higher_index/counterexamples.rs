//! Two problems whose differentiation index is 1 and whose perturbation index is larger.
//! Lubich's and Campbell & Gear's example, Hairer & Wanner, Solving ODEs II, (VII.1.31) and (VII.1.32).

use super::dormand_prince::DormandPrince;
use daedal::linalg::Svd;
use daedal::scalar::{Dual, Scalar, Taylor};
use std::array::from_fn;

/// y₁' − y₃ y₂' + y₂ y₃', y₂, y₃.
fn lubich<S: Scalar>(y: &[S; 3], rate: &[S; 3]) -> [S; 3] {
    [rate[0] - y[2] * rate[1] + y[1] * rate[2], y[1], y[2]]
}

/// y_m N y' + y with ones above the diagonal of N.
fn campbell_gear<S: Scalar, const M: usize>(y: &[S; M], rate: &[S; M]) -> [S; M] {
    from_fn(|i| if i + 1 < M { y[M - 1] * rate[i + 1] + y[i] } else { y[i] })
}

/// Is u' determined at u = 0, u' = 0 by F = 0 and dF/dx = 0? That is: (G_{u'}, G_w) is 1-full in u', w = u''.
fn one_differentiation_suffices<const M: usize>(
    F: impl Fn(&[Taylor<Dual<f64, 16>, 2>; M], &[Taylor<Dual<f64, 16>, 2>; M]) -> [Taylor<Dual<f64, 16>, 2>; M],
) -> bool {
    // along u + τ u', u' + τ u'', differentiated by u' (lanes from 0) and u'' (lanes from 8)
    let zero = Dual::<f64, 16>::from(0.0);
    let rate: [_; M] = from_fn(|i| Dual::variable(0.0, i));
    let second: [_; M] = from_fn(|i| Dual::variable(0.0, 8 + i));
    let r = F(
        &from_fn(|i| Taylor { coefficients: [zero, rate[i]] }),
        &from_fn(|i| Taylor { coefficients: [rate[i], second[i]] }),
    );
    let rank = |columns: &[usize]| {
        let mut svd = Svd::new(2 * M, columns.len());
        for i in 0..2 * M {
            for (j, &lane) in columns.iter().enumerate() {
                svd.A[(i, j)] = r[i % M].coefficients[i / M].lanes[lane];
            }
        }
        svd.factor().expect("finite entries");
        svd.rank(1e-12)
    };
    let w: Vec<_> = (8..8 + M).collect();
    let all: Vec<_> = (0..M).chain(8..8 + M).collect();
    rank(&all) == M + rank(&w)
}

/// T5.
#[test]
fn lubichs_example_has_differentiation_index_one() {
    assert!(one_differentiation_suffices::<3>(lubich));
    // the constraints themselves say nothing about y₂' and y₃'
    let rate: [_; 3] = from_fn(|i| Dual::<f64, 3>::variable(0.0, i));
    let r = lubich(&[Dual::from(0.0); 3], &rate);
    assert_eq!(r.map(|row| row.lanes[1].abs() + row.lanes[2].abs()), [0.0; 3]);
}

/// T5: y₁ = ε²ω x, however small the defect ε.
#[test]
fn lubichs_example_sees_the_derivative_of_its_defect() {
    for (epsilon, omega) in [(1e-3, 10.0), (1e-3, 1e3), (1e-2, 1e4)] {
        let perturbation = |x: f64| {
            let (sine, cosine) = (omega * x).sin_cos();
            [epsilon * sine, epsilon * cosine, epsilon * omega * cosine, -epsilon * omega * sine]
        };
        // y₁' from the first row with y₂ = ε sin ωx, y₃ = ε cos ωx
        let slope = |x: f64, _: &[f64; 1]| {
            let [y2, y3, rate2, rate3] = perturbation(x);
            [-lubich(&[0.0, y2, y3], &[0.0, rate2, rate3])[0]]
        };
        let (y, _) = DormandPrince::new(1e-10).integrate(slope, 0.0, [0.0], 0.7, |_, _| {});
        let expected = epsilon * epsilon * omega * 0.7;
        assert!((y[0] - expected).abs() < 1e-10, "{} {expected}", y[0]);
    }
}

/// T5, the second example.
#[test]
fn campbell_and_gears_example_has_differentiation_index_one() {
    assert!(one_differentiation_suffices::<2>(campbell_gear));
    assert!(one_differentiation_suffices::<3>(campbell_gear));
    assert!(one_differentiation_suffices::<5>(campbell_gear));
}

/// Largest |y₁| over one period, when the last component is c + ε sin ωx and the other rows have no defect.
fn first_component<const M: usize>(c: f64, epsilon: f64, omega: f64) -> f64 {
    let mut largest = 0.0_f64;
    for k in 0..200 {
        // in the phase s = ωx, d/dx = ω d/ds; M coefficients are enough for M − 1 derivatives
        let s = Taylor::<f64, M>::parameter(f64::from(k) * std::f64::consts::TAU / 200.0);
        let mut y = [Taylor::from(0.0); M];
        y[M - 1] = s.sin() * epsilon + c;
        let mut rate = [Taylor::from(0.0); M];
        for i in (0..M - 1).rev() {
            rate[i + 1] = Taylor {
                coefficients: from_fn(|n| {
                    if n + 1 < M { y[i + 1].coefficients[n + 1] * (n + 1) as f64 * omega } else { 0.0 }
                }),
            };
            y[i] = -(y[M - 1] * rate[i + 1]);
        }
        // the defect is that of the last row alone
        let defect = campbell_gear(&y, &rate).map(|row| row.coefficients[0]);
        assert!(defect[..M - 1].iter().all(|&d| d == 0.0) && defect[M - 1].abs() <= c + epsilon);
        largest = largest.max(y[0].coefficients[0].abs());
    }
    largest
}

/// y₁ while the derivatives of the defect up to the order M − 2, and up to M − 1, stay bounded by 0.2 and ω grows tenfold.
fn growth<const M: usize>() -> [f64; 2] {
    [M - 2, M - 1].map(|bounded| {
        let [slow, fast] =
            [100.0_f64, 1000.0].map(|omega| first_component::<M>(0.1, 0.1 * omega.powi(-(bounded as i32)), omega));
        fast / slow
    })
}

/// T5, the second example: M − 2 bounded derivatives of the defect do not bound y₁, M − 1 do.
#[test]
fn campbell_and_gears_example_has_perturbation_index_m() {
    for growth in [growth::<3>(), growth::<4>(), growth::<5>()] {
        assert!((growth[0] / 10.0 - 1.0).abs() < 0.1, "{growth:?}");
        assert!((growth[1] - 1.0).abs() < 0.1, "{growth:?}");
    }
}
