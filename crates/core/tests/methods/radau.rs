//! Radau IIa with 1, 3, 5 and 7 stages: orders on formulations of the pendulum, and the control of the order (M13, M14).
//!
//! Double precision leaves few digits for orders up to 13: steps are so large that errors lie far above rounding, and errors are means over
//! several parts of a motion, since those of few large steps depend on where they are made.

use super::problems::Pendulum;
use daedal::dae::{Dae, Pencil, Point};
use daedal::formulation::{Formulated, Formulation, Selectors};
use daedal::linalg::Matrix;
use daedal::method::Control;
use daedal::method::Stages;
use daedal::method::{Integrator, State};
use daedal::motion::consistent::initialise;
use daedal::motion::{EquationsOfMotion, Form, Layout, Mechanism, Motion, Position, Sizes, Undefined};
use daedal::scalar::Scalar;
use daedal::{Initial, Options, Problem, RadauIIa, Residuals, StepFailure, Tolerance, solve};

/// The pendulum M = I, f = (0, −1), with all constraints and the differential equations along the tangent S = (−y, x) at the last pencil:
/// x = (p, v, λ). The pencil and S belong to a guess of the motion a little ahead of its point: in the middle of large steps Newton's
/// iteration converges faster.
struct Regularised {
    S: [f64; 2],
    ahead: f64,
}

impl Regularised {
    fn new(ahead: f64) -> Self {
        Regularised { S: [0.0, 1.0], ahead }
    }

    /// Where the pendulum will be, if its angular acceleration does not change.
    fn guess(&self, x: &[f64]) -> [f64; 5] {
        let (omega, alpha, t) = (x[0] * x[3] - x[1] * x[2], -x[0], self.ahead);
        let (sin, cos) = (omega * t + 0.5 * alpha * t * t).sin_cos();
        let (p1, p2, omega) = (cos * x[0] - sin * x[1], sin * x[0] + cos * x[1], omega + alpha * t);
        [p1, p2, -omega * p2, omega * p1, omega * omega - p2]
    }
}

impl Dae for Regularised {
    fn dim(&self) -> usize {
        5
    }
    fn new_pencil(&self) -> Pencil {
        Pencil::dense(5, 5)
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
        let [p1, p2, v1, v2, lambda] = self.guess(x);
        self.S = [-p2, p1];
        let ([S1, S2], [E, A]) = (self.S, out.dense_mut());
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

/// P1 at t = 2, by elliptic functions: p, v, λ.
const AT_TWO: [f64; 5] = [
    0.728_503_389_156_769_194,
    -0.685_042_197_231_017_952,
    -0.591_430_780_341_652_073,
    -0.628_952_974_973_053_830,
    1.430_414_409_894_008_334,
];
/// P1h, released at rest from (1, 0), at t = 20, by elliptic functions.
const AT_TWENTY: [f64; 5] = [
    -0.517_719_703_552_777_816,
    -0.855_550_295_747_259_886,
    1.119_137_160_279_954_920,
    -0.677_224_193_288_336_579,
    2.566_650_887_241_779_657,
];

/// Fixed steps; Newton's iteration stops when its error is about `small`.
fn fixed(s: usize, small: f64) -> (RadauIIa, Tolerance) {
    let tolerance: f64 = 1e-8;
    let scaled = 0.1 * tolerance.powf((s as f64 + 1.0) / (2.0 * s as f64));
    let method = RadauIIa {
        stages: Stages::Fixed(s),
        control: Control::Fixed,
        max_newton: 200,
        newton_tolerance: Some(small / scaled),
        safeguards: false,
        ..RadauIIa::default()
    };
    (method, Tolerance::new(tolerance, tolerance))
}

/// Part of the motion P1 whose error is looked at.
const SPAN: f64 = 4.0;
/// Steps of the exact motion, in a span and between starts.
const FINE: (u32, usize) = (80, 14);

/// Points p, v, λ of the regularised pendulum, from one of them on, with steps of a given size.
fn regularised(s: usize, small: f64, x: &[f64], h: f64, steps: u32) -> Vec<Vec<f64>> {
    let (method, tolerance) = fixed(s, small);
    let options = Options { tolerance, h0: Some(h), ..Options::default() };
    let xdot = vec![x[2], x[3], -x[0] * x[4], -1.0 - x[1] * x[4], 0.0];
    let at = Point { t: 0.0, x: x.to_vec(), xdot };
    let mut stepper = method.start(Box::new(Regularised::new(0.5 * h)), at, &options).unwrap();
    let mut points = vec![x.to_vec()];
    for _ in 0..steps {
        stepper.advance(1e9).unwrap();
        points.push(stepper.state().x.clone());
    }
    points
}

/// Beginnings and ends of eight spans of P1, by many small steps.
fn spans() -> Vec<(Vec<f64>, Vec<f64>)> {
    let (sin, cos) = (-0.8_f64).sin_cos();
    let start = [cos, sin, -0.9 * sin, 0.9 * cos, 0.81 - sin];
    let points = regularised(7, 1e-14, &start, SPAN / f64::from(FINE.0), FINE.0 + 7 * FINE.1 as u32);
    assert!(distances(&points[FINE.0 as usize / 2], &AT_TWO).iter().all(|e| *e < 1e-13));
    (0..8).map(|k| (points[k * FINE.1].clone(), points[k * FINE.1 + FINE.0 as usize].clone())).collect()
}

fn distances(x: &[f64], y: &[f64]) -> [f64; 3] {
    let distance = |i: std::ops::Range<usize>| i.map(|i| (x[i] - y[i]).powi(2)).sum::<f64>().sqrt();
    [distance(0..2), distance(2..4), distance(4..5)]
}

/// Mean errors of p, v, λ over the spans, of a run from x to an end.
fn mean_errors(run: impl Fn(&[f64]) -> Vec<f64>) -> [f64; 3] {
    let spans = spans();
    let errors: Vec<[f64; 3]> = spans.iter().map(|(from, to)| distances(&run(from), to)).collect();
    std::array::from_fn(|i| errors.iter().map(|e| e[i]).sum::<f64>() / errors.len() as f64)
}

/// Mean errors of the regularised pendulum with n steps.
fn regularised_errors(s: usize, small: f64, n: u32) -> [f64; 3] {
    mean_errors(|x| regularised(s, small, x, SPAN / f64::from(n), n).pop().unwrap())
}

/// Steps of one size, stages found to rounding.
fn equal_steps(s: usize, h: f64) -> (RadauIIa, Options) {
    // no increment is small enough, but one that does not shrink any more is
    let (least, newton_tolerance) = if s == 1 { (1e-12, 0.03) } else { (3e-15, 1e-9) };
    let integrator = RadauIIa {
        stages: Stages::Fixed(s),
        control: Control::Fixed,
        max_newton: 200,
        newton_tolerance: Some(newton_tolerance),
        ..RadauIIa::default()
    };
    (integrator, Options { tolerance: Tolerance::new(least, least), h0: Some(h), ..Options::default() })
}

/// Errors of p, v, λ of a mechanism in a formulation, as the method has them after n steps.
fn formulated(
    (mechanism, initial, (tend, exact)): (&dyn Mechanism, Initial, (f64, [f64; 5])),
    formulation: Formulation,
    s: usize,
    n: u32,
) -> [f64; 3] {
    let (integrator, options) = equal_steps(s, tend / f64::from(n));
    let State { t, mut x } = initialise(mechanism, &initial, Form::StrangenessFree).unwrap().state;
    let dae = formulation.system(mechanism, &State { t, x: x.clone() }).unwrap();
    x.resize(dae.dim(), 0.0);
    let xdot = vec![0.0; x.len()];
    let mut stepper = integrator.start(dae, Point { t, x, xdot }, &options).unwrap();
    while stepper.state().t < tend {
        stepper.advance(tend).unwrap_or_else(|error| panic!("{s} stages, {n} steps: {error}"));
    }
    let l = Layout::new(mechanism.sizes(), Form::StrangenessFree, false);
    let x = &stepper.state().x;
    distances(&[&x[l.p()], &x[l.v()], &x[l.lambda()]].concat(), &exact)
}

/// The same of what is shown.
fn shown(
    (mechanism, initial, (tend, exact)): (&dyn Mechanism, Initial, (f64, [f64; 5])),
    formulation: Formulation,
    s: usize,
    n: u32,
) -> [f64; 3] {
    let (integrator, options) = equal_steps(s, tend / f64::from(n));
    let method = Formulated { formulation, integrator };
    let solution = solve(&Problem::new(mechanism, initial, tend), &method, &options).unwrap();
    let end = solution.at_end();
    distances(&[end.p, end.v, end.lambda].concat(), &exact)
}

fn pendulum() -> (&'static dyn Mechanism, Initial, (f64, [f64; 5])) {
    (&Pendulum::P1, Pendulum::moving(), (2.0, AT_TWO))
}

/// A driven linear oscillator: v₁' = −2p₁ − p₂ − λ, v₂' = −4p₂ − p₁ − 3v₁, 0 = p₁ − sin t. Newton's iteration finds its stages at once,
/// however large a step is. p₂ = a cos 2t + b sin 2t − (sin t)/3 − cos t, λ = −sin t − p₂.
struct Driven;

impl EquationsOfMotion for Driven {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 2, velocities: 2, holonomic: 1, ..Sizes::default() }
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        M[(0, 0)] = S::from(1.0);
        M[(1, 1)] = S::from(1.0);
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        f[0] = -(at.p[0] * 2.0) - at.p[1];
        f[1] = -(at.p[1] * 4.0) - at.p[0] - at.v[0] * 3.0;
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        g[0] = at.p[0] - at.t.sin();
    }
}

fn driven() -> (&'static dyn Mechanism, Initial, (f64, [f64; 5])) {
    let exact = |t: f64| {
        let (sin, cos) = t.sin_cos();
        let (sin2, cos2) = (2.0 * t).sin_cos();
        let p2 = cos2 + 0.5 * sin2 - sin / 3.0 - cos;
        [sin, p2, cos, -2.0 * sin2 + cos2 - cos / 3.0 + sin, -sin - p2]
    };
    let start = exact(0.0);
    (&Driven, Initial::motion(0.0, &start[..2], &start[2..4]), (12.0, exact(12.0)))
}

/// Slope of log(error) over log(n) by least squares, for p, v, λ.
fn orders(numbers: &[u32], errors: impl Fn(u32) -> [f64; 3]) -> [f64; 3] {
    let table: Vec<(f64, [f64; 3])> = numbers.iter().map(|&n| (f64::from(n).ln(), errors(n))).collect();
    for (n, (_, e)) in numbers.iter().zip(&table) {
        println!("  n = {n}: {:.2e} {:.2e} {:.2e}", e[0], e[1], e[2]);
    }
    #[allow(clippy::type_complexity)] // a function, written out where it is called
    let mean = |f: &dyn Fn(&(f64, [f64; 3])) -> f64| table.iter().map(f).sum::<f64>() / table.len() as f64;
    let centre = mean(&|row| row.0);
    let spread = mean(&|row| (row.0 - centre).powi(2));
    let found = std::array::from_fn(|i| -mean(&|row| (row.0 - centre) * row.1[i].ln()) / spread);
    println!("  orders {found:.2?}");
    found
}

fn close(name: &str, found: f64, wanted: f64, within: f64) {
    assert!((found - wanted).abs() <= within, "{name}: order {found:.2} instead of {wanted}");
}

#[test]
fn orders_on_the_regularised_pendulum_are_those_of_the_collocation() {
    for (s, numbers) in [(1, vec![200, 400]), (3, vec![32, 48, 64]), (5, vec![10, 12, 14, 16])] {
        println!("regularised, {s} stages");
        for found in orders(&numbers, |n| regularised_errors(s, 1e-14, n)) {
            close(&format!("{s} stages"), found, 2.0 * s as f64 - 1.0, 0.1);
        }
    }
    // errors of the largest steps are not yet dominated by their first term, those of smaller ones are rounding
    println!("regularised, 7 stages");
    let found = orders(&[4, 5, 6, 7, 8], |n| regularised_errors(7, 3e-14, n));
    assert!(found.iter().all(|order| *order > 12.5 && *order < 14.5), "{found:?}");
}

#[test]
fn orders_of_index_two_are_full_in_positions_and_velocities_and_s_in_multipliers() {
    for formulation in [Formulation::Ggl, Formulation::Eom1] {
        let name = formulation.name();
        let found = orders(&[200, 400], |n| formulated(pendulum(), formulation, 1, n));
        (0..2).for_each(|i| close(name, found[i], 1.0, 0.05));
        assert!(found[2] > 0.95, "{name}: {found:?}");
        let found = orders(&[32, 48, 64], |n| formulated(pendulum(), formulation, 3, n));
        (0..3).for_each(|i| close(name, found[i], [5.0, 5.0, 3.0][i], 0.05));
        let found = orders(&[6, 7, 8, 9, 10], |n| formulated(pendulum(), formulation, 5, n));
        (0..2).for_each(|i| close(name, found[i], 9.0, 0.2));
        let found = orders(&[25, 32, 40, 50], |n| formulated(pendulum(), formulation, 5, n));
        close(name, found[2], 5.0, 0.25);
        // the multiplier comes from above, 7.5 at these steps
        let found = orders(&[7, 8, 9, 10, 12, 14, 16], |n| formulated(pendulum(), formulation, 7, n));
        close(name, found[2], 7.0, 0.6);
        let found = orders(&[8, 10, 12, 14, 16], |n| formulated(driven(), formulation, 7, n));
        assert!(found[0] > 12.5 && found[1] > 12.5, "{name}: {found:?}");
    }
}

#[test]
fn multipliers_of_index_two_are_shown_with_the_order_of_the_motion() {
    for formulation in [Formulation::Ggl, Formulation::Eom1, Formulation::ProjectedIndexOne(Selectors::default())] {
        let name = formulation.name();
        let found = orders(&[32, 48, 64], |n| shown(pendulum(), formulation, 3, n));
        (0..3).for_each(|i| close(name, found[i], 5.0, 0.1));
        // with five stages they fall too irregularly for a slope: they stay below the errors of the motion
        for n in [6, 8, 10] {
            let [p, v, lambda] = shown(pendulum(), formulation, 5, n);
            assert!(lambda < p.max(v), "{name}, {n} steps: {lambda:e}, motion {p:e}, {v:e}");
        }
    }
}

#[test]
fn orders_of_index_three_are_full_in_positions_s_in_velocities_and_one_less_in_multipliers() {
    let on = |numbers: &[u32], s: usize| orders(numbers, |n| formulated(pendulum(), Formulation::Eom, s, n));
    let found = on(&[200, 400], 1);
    (0..2).for_each(|i| close("1 stage", found[i], 1.0, 0.05));
    let found = on(&[64, 96, 128], 3);
    (0..3).for_each(|i| close("3 stages", found[i], [5.0, 3.0, 2.0][i], 0.12));
    close("5 stages", on(&[5, 6, 7, 8], 5)[0], 9.0, 0.5);
    let found = on(&[16, 20, 25, 32, 40], 5);
    (1..3).for_each(|i| close("5 stages", found[i], [9.0, 5.0, 4.0][i], 0.15));
    let found = on(&[10, 12, 14, 16], 7);
    (1..3).for_each(|i| close("7 stages", found[i], [13.0, 7.0, 6.0][i], 0.2));
    let found = orders(&[8, 10, 12, 14, 16], |n| formulated(driven(), Formulation::Eom, 7, n));
    assert!(found[0] > 12.5, "7 stages: {found:?}");
}

/// Degrees of the steps and errors at t = 20 of the regularised pendulum that is released at the horizontal.
fn swing(stages: Stages, tol: f64) -> (Vec<usize>, Vec<f64>) {
    let options = Options { tolerance: Tolerance::new(tol, tol), ..Options::default() };
    let at = Point { t: 0.0, x: vec![1.0, 0.0, 0.0, 0.0, 0.0], xdot: vec![0.0, 0.0, 0.0, -1.0, 0.0] };
    let method = RadauIIa { stages, ..RadauIIa::default() };
    let mut stepper = method.start(Box::new(Regularised::new(0.0)), at, &options).unwrap();
    let mut degrees = Vec::new();
    while stepper.state().t < 20.0 {
        stepper.advance(20.0).unwrap();
        degrees.push(stepper.segment().degree());
    }
    let errors: Vec<f64> = stepper.state().x.iter().zip(AT_TWENTY).map(|(x, y)| (x - y).abs()).collect();
    println!("{stages:?} {tol:e}: {}, {errors:?}", stepper.statistics());
    (degrees, errors)
}

#[test]
fn order_rises_for_small_tolerances_only_and_errors_follow_the_tolerance() {
    for tol in [1e-4, 1e-6, 1e-8, 1e-10, 1e-12] {
        let (degrees, errors) = swing(Stages::VARIABLE, tol);
        assert_eq!(degrees.iter().any(|degree| *degree > 3), tol < 1e-9, "{tol:e}: {degrees:?}");
        assert!(errors.iter().all(|e| *e <= 50.0 * tol), "{tol:e}: {errors:?}");
    }
    // accepted steps of an implementation of the same rules, and its errors of the positions
    let table = [
        (1e-6, Stages::Fixed(3), 182, 5.9e-7),
        (1e-6, Stages::Fixed(5), 64, 5.8e-7),
        (1e-6, Stages::Fixed(7), 47, 1.6e-7),
        (1e-12, Stages::Fixed(3), 1721, 3.6e-11),
        (1e-12, Stages::Fixed(5), 180, 5.4e-13),
        (1e-12, Stages::Fixed(7), 84, 1.1e-12),
        (1e-12, Stages::VARIABLE, 186, 4.8e-12),
    ];
    for (tol, stages, steps, known) in table {
        let (degrees, errors) = swing(stages, tol);
        let (found, position) = (degrees.len(), errors[0].max(errors[1]));
        assert!(errors.iter().all(|e| *e <= 50.0 * tol), "{stages:?}, {tol:e}: {errors:?}");
        assert!(found.abs_diff(steps) * 10 <= steps, "{stages:?}, {tol:e}: {found} steps");
        assert!(position < 6.0 * known, "{stages:?}, {tol:e}: {position:e} for {known:e}");
        if stages == Stages::VARIABLE {
            // nine with three stages, all others with five
            let few = degrees.iter().filter(|degree| **degree == 3).count();
            assert!((5..=15).contains(&few) && degrees.iter().all(|degree| *degree < 7), "{degrees:?}");
        }
    }
}

#[test]
fn other_numbers_of_stages_are_refused() {
    for stages in [Stages::Fixed(4), Stages::Variable { least: 7, most: 5 }] {
        let method = RadauIIa { stages, ..RadauIIa::default() };
        let at = Point { t: 0.0, x: vec![1.0, 0.0, 0.0, 0.0, 0.0], xdot: vec![0.0, 0.0, 0.0, -1.0, 0.0] };
        let refused = method.start(Box::new(Regularised::new(0.0)), at, &Options::default()).err().unwrap();
        assert!(refused.to_string().contains("stages"), "{refused}");
    }
}

#[test]
fn a_step_is_made_again_and_a_jump_begins_with_few_stages() {
    for stages in [Stages::Fixed(1), Stages::Fixed(5), Stages::Fixed(7), Stages::VARIABLE] {
        let tol = if stages == Stages::Fixed(1) { 1e-5 } else { 1e-11 };
        let options = Options { tolerance: Tolerance::new(tol, tol), ..Options::default() };
        let start = vec![1.0, 0.0, 0.0, 0.0, 0.0];
        let at = Point { t: 0.0, x: start.clone(), xdot: vec![0.0, 0.0, 0.0, -1.0, 0.0] };
        let method = RadauIIa { stages, ..RadauIIa::default() };
        let mut stepper = method.start(Box::new(Regularised::new(0.0)), at, &options).unwrap();
        while stepper.state().t < 3.0 {
            stepper.advance(10.0).unwrap();
        }
        let segment = stepper.segment().clone();
        let degree = segment.degree();
        let (mut x, t) = ([0.0; 5], 0.5 * (segment.t0 + segment.t1));
        segment.eval(t, &mut x);
        assert!(stepper.retake(t).unwrap());
        assert_eq!((stepper.state().t, stepper.segment().t0), (t, segment.t0));
        // the interpolant has order s: the new step is better, but not far away
        let distance = distances(&stepper.state().x, &x);
        assert!(distance.iter().all(|d| *d < 1e-3 && *d < 1e5 * tol), "{stages:?}: {distance:?}");
        assert!(stepper.state().x[0].hypot(stepper.state().x[1]) - 1.0 < 1e-6);
        stepper.restart(State { t: 5.0, x: start.clone() });
        stepper.propose(1e-3);
        stepper.advance(10.0).unwrap();
        assert_eq!(stepper.segment().degree(), stages.range().0);
        assert!(stages != Stages::VARIABLE || degree > 3);
        assert!(stepper.state().t > 5.0 && stepper.state().x[1] < 0.0);
    }
}
