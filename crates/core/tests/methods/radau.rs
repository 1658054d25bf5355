//! Radau IIa with 1, 3, 5 and 7 stages: orders on formulations of the pendulum, and the control of the order (M13, M14).
//!
//! Double precision leaves few digits for orders up to 13: steps are so large that errors lie far above rounding.

use super::problems::Pendulum;
use daedal::dae::{Dae, Pencil, Point};
use daedal::formulation::{Formulated, Formulation};
use daedal::linalg::Matrix;
use daedal::method::Integrator;
use daedal::method::controller::Control;
use daedal::method::radau::Stages;
use daedal::motion::Undefined;
use daedal::{Options, Problem, RadauIIa, Residuals, StepFailure, Tolerance, solve};

/// The pendulum M = I, f = (0, −1), with all constraints and the differential equations along the tangent (−y, x) at the last pencil:
/// x = (p, v, λ).
struct Regularised {
    S: [f64; 2],
}

impl Dae for Regularised {
    fn dim(&self) -> usize {
        5
    }
    fn new_pencil(&self) -> Pencil {
        Pencil::Dense { E: Matrix::zeros(5, 5), A: Matrix::zeros(5, 5) }
    }
    fn algebraic(&self, row: usize) -> bool {
        row > 1
    }
    fn quasilinear(&self) -> bool {
        true
    }
    fn residual(&mut self, _: usize, _: f64, x: &[f64], xdot: &[f64], r: &mut [f64]) -> Result<(), Undefined> {
        let ([S1, S2], [p1, p2, v1, v2, lambda]) = (self.S, [x[0], x[1], x[2], x[3], x[4]]);
        r[0] = S1 * (xdot[0] - v1) + S2 * (xdot[1] - v2);
        r[1] = S1 * (xdot[2] + p1 * lambda) + S2 * (xdot[3] + p2 * lambda + 1.0);
        r[2] = 0.5 * (p1 * p1 + p2 * p2 - 1.0);
        r[3] = p1 * v1 + p2 * v2;
        r[4] = v1 * v1 + v2 * v2 - p2 - lambda * (p1 * p1 + p2 * p2);
        Ok(())
    }
    fn pencil(&mut self, _: f64, x: &[f64], _: &[f64], out: &mut Pencil) -> Result<(), StepFailure> {
        let [p1, p2, v1, v2, lambda] = [x[0], x[1], x[2], x[3], x[4]];
        self.S = [-p2, p1];
        let ([S1, S2], Pencil::Dense { E, A }) = (self.S, out) else { unreachable!() };
        E.row_mut(0).copy_from_slice(&[S1, S2, 0.0, 0.0, 0.0]);
        E.row_mut(1).copy_from_slice(&[0.0, 0.0, S1, S2, 0.0]);
        A.row_mut(0).copy_from_slice(&[0.0, 0.0, S1, S2, 0.0]);
        A.row_mut(1).copy_from_slice(&[-S1 * lambda, -S2 * lambda, 0.0, 0.0, 0.0]);
        A.row_mut(2).copy_from_slice(&[-p1, -p2, 0.0, 0.0, 0.0]);
        A.row_mut(3).copy_from_slice(&[-v1, -v2, -p1, -p2, 0.0]);
        A.row_mut(4).copy_from_slice(&[
            2.0 * lambda * p1,
            1.0 + 2.0 * lambda * p2,
            -2.0 * v1,
            -2.0 * v2,
            p1 * p1 + p2 * p2,
        ]);
        Ok(())
    }
    fn accepted(&mut self, _: usize, _: f64, _: &mut [f64], _: &[f64]) -> Result<(), StepFailure> {
        Ok(())
    }
    fn residuals(&self) -> Residuals {
        Residuals::default()
    }
}

/// Released at rest from the horizontal: p, v, λ at t = 5, 6 and 20 by elliptic functions.
const AT_SIX: [f64; 5] = [
    0.564_543_163_734_466_226,
    -0.825_403_547_533_374_524,
    1.060_509_332_104_806_147,
    0.725_346_159_833_611_466,
    2.476_210_642_600_123_573,
];
const AT_TWENTY: [f64; 5] = [
    -0.517_719_703_552_777_816,
    -0.855_550_295_747_259_886,
    1.119_137_160_279_954_920,
    -0.677_224_193_288_336_579,
    2.566_650_887_241_779_657,
];

/// Fixed steps, with Newton's iteration down to rounding.
fn fixed(s: usize, digits: f64) -> (RadauIIa, Tolerance) {
    let tolerance: f64 = 1e-8;
    let scaled = 0.1 * tolerance.powf((s as f64 + 1.0) / (2.0 * s as f64));
    let method = RadauIIa {
        stages: Stages::Fixed(s),
        control: Control::Fixed,
        max_newton: 90,
        newton_tolerance: Some(digits / scaled),
        safeguards: false,
        ..RadauIIa::default()
    };
    (method, Tolerance::new(tolerance, tolerance))
}

fn distances(x: &[f64], y: &[f64]) -> [f64; 3] {
    let distance = |i: std::ops::Range<usize>| i.map(|i| (x[i] - y[i]).abs()).fold(0.0, f64::max);
    [distance(0..2), distance(2..4), distance(4..5)]
}

/// Errors of p, v, λ of the regularised pendulum, released at the horizontal, at t = 6 after n steps.
fn regularised(s: usize, n: u32) -> [f64; 3] {
    let (method, tolerance) = fixed(s, 1e-13);
    let options = Options { tolerance, h0: Some(6.0 / f64::from(n)), ..Options::default() };
    let at = Point { t: 0.0, x: vec![1.0, 0.0, 0.0, 0.0, 0.0], xdot: vec![0.0, 0.0, 0.0, -1.0, 0.0] };
    let mut stepper = method.start(Box::new(Regularised { S: [0.0, 1.0] }), at, &options).unwrap();
    while stepper.state().t < 6.0 {
        stepper.advance(6.0).unwrap();
    }
    distances(&stepper.state().x, &AT_SIX)
}

/// Errors of p, v, λ of a formulation of P1 at t = 2 after n steps.
fn formulated(formulation: Formulation, s: usize, n: u32) -> [f64; 3] {
    let (integrator, tolerance) = fixed(s, 1e-13);
    let options = Options { tolerance, h0: Some(2.0 / f64::from(n)), ..Options::default() };
    let problem = Problem::new(&Pendulum::P1, Pendulum::moving(), 2.0);
    let solution = solve(&problem, &Formulated { formulation, integrator }, &options).unwrap();
    let end = solution.end();
    distances(&[end.p, end.v, end.lambda].concat(), &Pendulum::AT_TWO)
}

/// Slope of log(error) over log(n) by least squares, for p, v, λ.
fn orders(numbers: &[u32], errors: impl Fn(u32) -> [f64; 3]) -> [f64; 3] {
    let table: Vec<(f64, [f64; 3])> = numbers.iter().map(|&n| (f64::from(n).ln(), errors(n))).collect();
    for (n, (_, e)) in numbers.iter().zip(&table) {
        println!("  n = {n}: {:.2e} {:.2e} {:.2e}", e[0], e[1], e[2]);
    }
    let mean = |f: &dyn Fn(&(f64, [f64; 3])) -> f64| table.iter().map(f).sum::<f64>() / table.len() as f64;
    let centre = mean(&|row| row.0);
    let spread = mean(&|row| (row.0 - centre).powi(2));
    let found = std::array::from_fn(|i| -mean(&|row| (row.0 - centre) * row.1[i].ln()) / spread);
    println!("  orders {found:.2?}");
    found
}

#[test]
#[ignore]
fn explore() {
    for (s, numbers) in [
        (1, vec![200, 400, 800, 1600]),
        (3, vec![16, 24, 32, 48, 64, 96, 128]),
        (5, vec![6, 7, 8, 10, 12, 14, 16, 20, 24]),
        (7, vec![5, 6, 7, 8, 9, 10, 11, 12, 14, 16]),
    ] {
        println!("regularised {s}");
        for w in numbers.windows(2) {
            let r = std::panic::catch_unwind(|| orders(w, |n| regularised(s, n)));
            if r.is_err() {
                println!("failed {w:?}");
            }
        }
    }
    for formulation in [Formulation::Ggl, Formulation::Eom1, Formulation::Eom] {
        for (s, numbers) in [
            (1, vec![100, 200, 400]),
            (3, vec![8, 12, 16, 24, 32, 48]),
            (5, vec![2, 3, 4, 5, 6, 8, 10, 12]),
            (7, vec![1, 2, 3, 4, 5, 6]),
        ] {
            println!("{} {s}", formulation.name());
            for w in numbers.windows(2) {
                let r = std::panic::catch_unwind(|| orders(w, |n| formulated(formulation, s, n)));
                if r.is_err() {
                    println!("failed {w:?}");
                }
            }
        }
    }
}

/// Steps, largest degree and error at t = 20 of the regularised pendulum that is released at the horizontal.
fn swing(stages: Stages, tol: f64) -> (u64, usize, [f64; 3]) {
    let options = Options { tolerance: Tolerance::new(tol, tol), ..Options::default() };
    let at = Point { t: 0.0, x: vec![1.0, 0.0, 0.0, 0.0, 0.0], xdot: vec![0.0, 0.0, 0.0, -1.0, 0.0] };
    let method = RadauIIa { stages, ..RadauIIa::default() };
    let mut stepper = method.start(Box::new(Regularised { S: [0.0, 1.0] }), at, &options).unwrap();
    let mut degree = 0;
    while stepper.state().t < 20.0 {
        stepper.advance(20.0).unwrap();
        degree = degree.max(stepper.segment().degree());
    }
    let errors = distances(&stepper.state().x, &AT_TWENTY);
    println!("{stages:?} {tol:e}: {}, degree {degree}, {errors:?}", stepper.statistics());
    (stepper.statistics().steps, degree, errors)
}

#[test]
fn order_rises_for_small_tolerances_only() {
    for tol in [1e-4, 1e-6, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12] {
        let (_, degree, errors) = swing(Stages::VARIABLE, tol);
        assert!(tol >= 1e-9 || degree > 3, "{tol:e}");
        assert!(tol < 1e-9 || degree == 3, "{tol:e}");
        assert!(errors.iter().all(|e| *e <= 50.0 * tol), "{tol:e}: {errors:?}");
    }
    for tol in [1e-6, 1e-12] {
        for s in [3, 5, 7] {
            let (_, _, errors) = swing(Stages::Fixed(s), tol);
            assert!(errors.iter().all(|e| *e <= 50.0 * tol), "{s} stages, {tol:e}: {errors:?}");
        }
    }
}
