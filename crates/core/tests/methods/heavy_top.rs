//! P3, the heavy top: a body with quaternions and three constraints at its tip, M11. Brüls, Cardona & Arnold (2012).
//!
//! `m ẍ = m γ + λ`, `J Ω̇ + Ω×JΩ + X̃ Rᵀ λ = 0`, `0 = −x + R X` with p = (x, quaternion), v = (ẋ, Ω in the body).

use daedal::linalg::Matrix;
use daedal::method::{AlphaForm, AlphaStart};
use daedal::motion::{EquationsOfMotion, Motion, Position, Sizes, Velocity};
use daedal::scalar::Scalar;
use daedal::{GeneralizedAlpha, Initial, Options, Problem, Save, Solution, solve};

/// The heavy top.
pub struct HeavyTop;

const MASS: f64 = 15.0;
const INERTIA: [f64; 3] = [0.234375, 0.46875, 0.234375];
const GRAVITY: f64 = -9.81;
/// X = (0, 1, 0) in the body.
const OMEGA: [f64; 3] = [0.0, 150.0, -4.61538];

impl HeavyTop {
    /// At the start its axis is horizontal.
    pub fn start() -> Initial {
        // ẋ = Ω × X
        let v = [-OMEGA[2], 0.0, OMEGA[0], OMEGA[0], OMEGA[1], OMEGA[2]];
        Initial::motion(0.0, &[0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0], &v)
    }
}

/// R X, the second column of the matrix of a unit quaternion (w, x, y, z).
fn axis<S: Scalar>(q: &[S]) -> [S; 3] {
    let [w, x, y, z] = [q[0], q[1], q[2], q[3]];
    [(x * y - w * z) * 2.0, w.square() - x.square() + y.square() - z.square(), (y * z + w * x) * 2.0]
}

impl EquationsOfMotion for HeavyTop {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 7, velocities: 6, holonomic: 3, ..Sizes::default() }
    }
    fn kinematics<S: Scalar>(&self, at: &Velocity<S>, pdot: &mut [S]) {
        let [w, x, y, z] = [at.p[3], at.p[4], at.p[5], at.p[6]];
        let [a, b, c] = [at.v[3], at.v[4], at.v[5]];
        pdot[..3].copy_from_slice(&at.v[..3]);
        pdot[3] = -(x * a + y * b + z * c) * 0.5;
        pdot[4] = (w * a + y * c - z * b) * 0.5;
        pdot[5] = (w * b + z * a - x * c) * 0.5;
        pdot[6] = (w * c + x * b - y * a) * 0.5;
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        for k in 0..3 {
            M[(k, k)] = S::from(MASS);
            M[(3 + k, 3 + k)] = S::from(INERTIA[k]);
        }
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        let [a, b, c] = [at.v[3], at.v[4], at.v[5]];
        f[2] = S::from(MASS * GRAVITY);
        // −Ω × JΩ
        f[3] = b * c * (INERTIA[1] - INERTIA[2]);
        f[4] = c * a * (INERTIA[2] - INERTIA[0]);
        f[5] = a * b * (INERTIA[0] - INERTIA[1]);
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        let tip = axis(&at.p[3..]);
        (0..3).for_each(|k| g[k] = tip[k] - at.p[k]);
    }
}

/// x, Ω, λ at t = 0.1.
const AT_TENTH: [[f64; 3]; 3] =
    [[0.42129666, 0.89457197, -0.1491647], [4.80894133, 150.0, 1.02830076], [-361.056005, -295.393173, -212.267172]];

fn run(method: GeneralizedAlpha, h: f64, tend: f64) -> Solution {
    let problem = Problem::new(&HeavyTop, HeavyTop::start(), tend);
    let options = Options { h0: Some(h), save: Save::Steps, ..Options::default() };
    solve(&problem, &method, &options).unwrap()
}

fn distance(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt()
}

/// A solution of high accuracy: GEOMS.
fn reference(tend: f64, times: Vec<f64>) -> Solution {
    let problem = Problem::new(&HeavyTop, HeavyTop::start(), tend);
    let options =
        Options { tolerance: daedal::Tolerance::new(1e-11, 1e-11), save: Save::At(times), ..Options::default() };
    solve(&problem, &daedal::Geoms::default(), &options).unwrap()
}

const ALPHA: GeneralizedAlpha = GeneralizedAlpha { rho: 0.9, form: AlphaForm::Stabilised, start: None };

#[test]
fn the_heavy_top_has_order_two_in_all_variables() {
    let exact = reference(0.1, vec![0.1]);
    for (k, known) in AT_TENTH.iter().enumerate() {
        let end = exact.at_end();
        let found = [&end.p[..3], &end.v[3..], end.lambda][k];
        assert!(distance(found, known) < 1e-7 * distance(known, &[0.0; 3]).max(10.0), "{found:?} {known:?}");
    }
    for (form, largest) in [(AlphaForm::Index3, 2.8e-5), (AlphaForm::Stabilised, 5.2e-5)] {
        let errors = [1e-3, 5e-4, 2.5e-4].map(|h| {
            let solution = run(GeneralizedAlpha { form, ..ALPHA }, h, 0.1);
            let (end, exact) = (solution.at_end(), exact.at_end());
            let norm = (distance(&end.p[3..], &[0.0; 4]) - 1.0).abs();
            assert!(norm < 1e-13, "{norm:.1e}");
            println!("{form:?} {h}: {} {}", solution.statistics, solution.decisions);
            [
                distance(&end.p[..3], &exact.p[..3]),
                distance(&end.p[3..], &exact.p[3..]),
                distance(&end.v[3..], &exact.v[3..]),
                distance(end.lambda, exact.lambda),
            ]
        });
        println!("{form:?} {errors:?}");
        for k in 0..4 {
            for pair in errors.windows(2) {
                let order = (pair[0][k] / pair[1][k]).log2();
                assert!((order - 2.0).abs() < 0.12, "{form:?} {k}: {order}");
            }
        }
        assert!((errors[2][0] / largest - 1.0).abs() < 0.05, "{:.3e}", errors[2][0]);
    }
}

#[test]
fn the_heavy_top_has_the_tabulated_values_at_three_later_times() {
    // computed with Euler's equations of the top about its tip and the tolerance 1e-13
    let table = [
        (
            0.2,
            [
                [0.60555056, 0.59895768, -0.52398303],
                [-2.69159091, 150.0, 4.91726099],
                [-640.236408, -148.627711, 136.929313],
            ],
        ),
        (
            0.5,
            [
                [-0.7024683, -0.02116518, -0.71140026],
                [-0.4710531, 150.0, 5.90108305],
                [523.281244, 404.206178, 357.336176],
            ],
        ),
        (
            1.0,
            [
                [0.17334396, 0.64008859, -0.74849079],
                [-0.8220781, 150.0, -5.92329135],
                [-517.600739, -396.843101, 404.574925],
            ],
        ),
    ];
    let solution = reference(1.0, table.map(|(t, _)| t).to_vec());
    for (k, (t, known)) in table.iter().enumerate() {
        let at = solution.motion(k);
        assert_eq!(at.t, *t);
        // eight digits behind the point, six of the multipliers
        let found = [(&at.p[..3], 1e-8), (&at.v[3..], 1e-8), (at.lambda, 1e-6)];
        for ((found, digit), known) in found.into_iter().zip(known) {
            for (found, known) in found.iter().zip(known) {
                println!("{t}: {found} {known} {:.1e}", found - known);
                assert!((found - known).abs() < digit, "at {t}: {found} instead of {known}");
            }
        }
    }
}

#[test]
fn the_first_multipliers_of_the_heavy_top_are_as_good_as_the_later_ones() {
    let h = 2.5e-4;
    let times: Vec<f64> = (1..=15).map(|k| f64::from(k) * h).collect();
    let exact = reference(16.0 * h, times);
    for (form, start, known) in [
        (AlphaForm::Index3, AlphaStart::Naive, 29.8),
        (AlphaForm::Index3, AlphaStart::Both, 0.133),
        (AlphaForm::Stabilised, AlphaStart::Shifted, 0.077),
    ] {
        let solution = run(GeneralizedAlpha { form, start: Some(start), ..ALPHA }, h, 16.0 * h);
        let lambda = solution.layout.lambda();
        let error = (0..15).fold(0.0_f64, |m, k| {
            m.max(distance(&solution.state(k + 1)[lambda.clone()], &exact.state(k)[lambda.clone()]))
        });
        println!("{form:?} {start:?} {error:.4}");
        assert!((error / known - 1.0).abs() < 0.1, "{form:?} {start:?}: {error}");
    }
}
