//! Half-explicit extrapolation: orders of the columns, and runs with step size and order control.

use super::problems::{Arm, Pendulum};
use daedal::BadOption;
use daedal::linalg::Matrix;
use daedal::method::Basic;
use daedal::method::Method;
use daedal::motion::{EquationsOfMotion, Form, Mechanism, Motion, Position, Sizes, Velocity, consistent};
use daedal::scalar::Scalar;
use daedal::{Ended, Geoms, Initial, Mexx, Options, Problem, Save, Solution, SolveError, Tolerance, catalogue, solve};

/// A mechanism, its start, an end, and p, v, λ there.
type Case = (&'static dyn Mechanism, Initial, f64, [f64; 5]);

fn cases() -> [Case; 2] {
    [(&Pendulum::P1, Pendulum::moving(), 2.0, Pendulum::AT_TWO), (&Arm::P2, Arm::start(), 1.0, Arm::AT_ONE)]
}

fn distance(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).fold(0.0, |most, (x, y)| most.max((x - y).abs()))
}

/// n steps with k columns.
fn steps((mechanism, initial, tend, _): &Case, basic: Basic, k: usize, n: u32) -> Solution {
    let problem = Problem::new(*mechanism, initial.clone(), *tend);
    let options = Options { h0: Some(tend / f64::from(n)), save: Save::Steps, ..Options::default() };
    let solution = solve(&problem, &Mexx { basic, columns: Some(k) }, &options).unwrap();
    assert_eq!(solution.statistics.steps, u64::from(n));
    solution
}

/// Errors of p, v and λ: the largest at the quarters of the interval, as each of them may vanish at one time.
fn errors(solution: &Solution, exact: &Solution) -> [f64; 3] {
    let mut most = [0.0_f64; 3];
    for k in 1..=4 {
        let at = |solution: &Solution| k * (solution.len() - 1) / 4;
        let (x, y) = (solution.motion(at(solution)), exact.motion(at(exact)));
        assert!((x.t - y.t).abs() < 1e-12);
        for (most, (x, y)) in most.iter_mut().zip([(x.p, y.p), (x.v, y.v), (x.lambda, y.lambda)]) {
            *most = most.max(distance(x, y));
        }
    }
    most
}

/// Orders of p, v and λ on P1 and P2 from n to 2n steps, with n for each of them.
fn orders(basic: Basic, k: usize, n: [u32; 2]) -> [[f64; 3]; 2] {
    let mut n = n.into_iter();
    cases().map(|case| {
        let n = n.next().unwrap();
        let exact = steps(&case, Basic::Midpoint, 7, 32);
        let end = exact.at_end();
        let difference = distance(&[end.p, end.v, end.lambda].concat(), &case.3);
        assert!(difference < 1e-12, "{difference:e}");
        let [coarse, fine] = [n, 2 * n].map(|n| errors(&steps(&case, basic, k, n), &exact));
        println!("{basic:?} {k} columns, {n} steps: {coarse:?} {fine:?}");
        std::array::from_fn(|i| (coarse[i] / fine[i]).log2())
    })
}

/// P1 at 1 and 2, P2 at 1, and the multipliers of the starts, of an independent program.
#[test]
fn reference_values_of_the_problems_are_met() {
    let at_one = (&Pendulum::P1 as &dyn Mechanism, Pendulum::moving(), 1.0, Pendulum::AT_ONE);
    let [pendulum, arm] = cases();
    for (case, lambda) in [(at_one, 1.5273560908995227), (pendulum, 1.5273560908995227), (arm, -1.026205876354094)] {
        let solution = steps(&case, Basic::Midpoint, 7, 32);
        let (start, end) = (solution.motion(0), solution.at_end());
        assert!((start.lambda[0] - lambda).abs() < 1e-13, "{:?}", start.lambda);
        let difference = distance(&[end.p, end.v, end.lambda].concat(), &case.3);
        assert!(difference < 1e-12, "{difference:e}");
    }
}

/// M4.
#[test]
fn k_columns_of_half_explicit_euler_have_order_k() {
    // later columns meet rounding before their errors are asymptotic everywhere
    for (k, n) in [(1, [16, 16]), (2, [16, 16]), (3, [16, 16]), (4, [16, 16]), (5, [16, 12]), (6, [8, 4])] {
        for orders in orders(Basic::Euler, k, n) {
            for order in orders {
                assert!((order - k as f64).abs() < 0.3, "{k} columns: {orders:?}");
            }
        }
    }
}

/// M5.
#[test]
fn k_columns_of_the_half_explicit_midpoint_rule_have_order_two_k() {
    for (k, n) in [(1, [16, 16]), (2, [16, 16]), (3, [12, 12]), (4, [8, 8])] {
        for orders in orders(Basic::Midpoint, k, n) {
            for order in orders {
                assert!((order - 2.0 * k as f64).abs() < 0.3, "{k} columns: {orders:?}");
            }
        }
    }
}

/// p and v of P1h: sin(θ/2) = √½ cd(t | ½), x = sin θ, y = −cos θ.
fn released(t: f64) -> [f64; 4] {
    // sn, cn, dn by the arithmetic-geometric mean
    let (mut a, mut b, mut ratios) = (1.0_f64, 0.5_f64.sqrt(), Vec::new());
    for _ in 0..6 {
        let c = 0.5 * (a - b);
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
        ratios.push(c / a);
    }
    let mut phi = 64.0 * a * (t % 7.416298709205487);
    for ratio in ratios.iter().rev() {
        phi = 0.5 * (phi + (ratio * phi.sin()).asin());
    }
    let (sn, cn) = phi.sin_cos();
    let dn = (1.0 - 0.5 * sn * sn).sqrt();
    let theta = 2.0 * (0.5_f64.sqrt() * cn / dn).asin();
    let rate = -(0.5_f64.sqrt()) * sn / (dn * dn) / (0.5 * theta).cos();
    [theta.sin(), -theta.cos(), rate * theta.cos(), rate * theta.sin()]
}

/// P1h over [0, 100] and its largest error in p and v at the ends of steps.
fn swing(method: &Mexx, tol: f64) -> (Solution, f64) {
    let problem = Problem::new(&Pendulum::P1, Pendulum::horizontal(), 100.0);
    let options = Options { tolerance: Tolerance::new(tol, tol), save: Save::Steps, ..Options::default() };
    let solution = solve(&problem, method, &options).unwrap();
    let error = (0..solution.len())
        .map(|k| {
            let (at, exact) = (solution.motion(k), released(solution.times[k]));
            at.p.iter().chain(at.v).zip(exact).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt()
        })
        .fold(0.0, f64::max);
    (solution, error)
}

#[test]
fn the_closed_form_of_the_released_pendulum_is_that_of_the_tables() {
    let at_five = [-0.685_344_871_278_748_5, -0.728_218_653_573_166_6, 0.878_835_712_874_84, -0.827_094_370_022_009_7];
    for (x, y) in released(5.0).into_iter().zip(at_five) {
        assert!((x - y).abs() < 1e-13, "{x} {y}");
    }
}

#[test]
fn step_and_order_control_makes_the_steps_and_errors_of_the_table() {
    for (tol, steps, error) in [(1e-4, 93, 2.6e-2), (1e-6, 108, 3.6e-4), (1e-8, 127, 5.7e-6), (1e-10, 168, 4.1e-8)] {
        let (solution, found) = swing(&Mexx::default(), tol);
        println!("{tol:.0e}: {found:.2e} {} {} {:?}", solution.decisions, solution.statistics, solution.max_residuals);
        assert!((solution.statistics.steps as f64 / f64::from(steps) - 1.0).abs() < 0.12, "{}", solution.statistics);
        assert!(found < 1.5 * error && error < 4.0 * found, "{tol:e}: {found:e}");
        let residuals = solution.max_residuals;
        assert!(residuals.position.unwrap() < 1e-14 && residuals.velocity.unwrap() < 1e-14, "{residuals:?}");
    }
}

#[test]
fn the_midpoint_rule_needs_less_work_at_small_tolerances() {
    for tol in [1e-6, 1e-8, 1e-10] {
        let (solution, error) = swing(&Mexx { basic: Basic::Midpoint, columns: None }, tol);
        let (euler, _) = swing(&Mexx::default(), tol);
        println!("{tol:.0e}: {error:.2e} {} {} / {}", solution.decisions, solution.statistics, euler.statistics);
        assert!(error < 1000.0 * tol, "{tol:e}: {error:e}");
        let (work, other) = (solution.statistics.decompositions, euler.statistics.decompositions);
        assert!(3 * work < 2 * other, "{tol:e}: {work} {other}");
    }
}

/// A skate on a plane that is tilted, steered by a spring, with velocities in its own frame, a blade that does not slip sideways, and a
/// follower r of its speed: all kinds of equations that the method takes.
struct Skate;

impl EquationsOfMotion for Skate {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 4, velocities: 4, dynamic: 1, holonomic: 1, nonholonomic: 1, ..Sizes::default() }
    }
    fn kinematics<S: Scalar>(&self, at: &Velocity<S>, pdot: &mut [S]) {
        let (s, c) = (at.p[2].sin(), at.p[2].cos());
        pdot[0] = c * at.v[0] - s * at.v[1];
        pdot[1] = s * at.v[0] + c * at.v[1];
        pdot[2] = at.v[2];
        pdot[3] = at.v[3];
    }
    fn mass<S: Scalar>(&self, at: &Position<S>, M: &mut Matrix<S>) {
        for (i, m) in [1.0, 1.0, 0.3, 0.1].into_iter().enumerate() {
            M[(i, i)] = S::from(m);
        }
        M[(2, 3)] = at.p[3].cos() * 0.05;
        M[(3, 2)] = at.p[3].cos() * 0.05;
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        f[0] = at.v[1] * at.v[2] - at.p[2].sin() - at.r[0] * 0.2;
        f[1] = -(at.v[0] * at.v[2]) - at.p[2].cos();
        f[2] = at.p[2] * -0.4;
        f[3] = -at.p[3];
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        g[0] = at.p[3] + at.p[2].sin() * 0.5 - at.t.sin() * 0.2;
    }
    fn nonholonomic<S: Scalar>(&self, at: &Velocity<S>, h: &mut [S]) {
        h[0] = at.v[1] - at.v[2] * 0.1 - at.t.cos() * 0.1;
    }
    fn dynamic<S: Scalar>(&self, at: &Motion<S>, b: &mut [S]) {
        b[0] = at.v[0] - at.r[0];
    }
}

fn skating() -> Initial {
    Initial::motion(0.0, &[0.0, 0.0, 0.4, -0.2], &[1.0, 0.0, 0.3, 0.0]).dynamic(&[0.5])
}

#[test]
fn quasi_velocities_nonholonomic_constraints_and_dynamic_variables_are_taken() {
    let problem = Problem::new(&Skate, skating(), 3.0);
    let options = |tol: f64| Options { tolerance: Tolerance::new(tol, tol), ..Options::default() };
    let exact = solve(&problem, &Geoms::default(), &options(1e-12)).unwrap();
    for basic in [Basic::Euler, Basic::Midpoint] {
        let solution = solve(&problem, &Mexx { basic, columns: None }, &options(1e-9)).unwrap();
        let moving = solution.layout.lambda().start..solution.layout.p().end;
        let difference = distance(&solution.end.x[moving.clone()], &exact.end.x[moving]);
        println!("{basic:?}: {difference:.1e} {} {:?}", solution.statistics, solution.max_residuals);
        assert!(difference < 1e-7, "{basic:?}: {difference:e}");
        let residuals = solution.max_residuals;
        assert!(residuals.position.unwrap() < 1e-14 && residuals.velocity.unwrap() < 1e-14, "{residuals:?}");
    }
}

#[test]
fn events_and_values_between_the_steps_are_found() {
    let quarter = 1.854_074_677_301_371_9;
    let problem = Problem::new(&Pendulum::P1, Pendulum::horizontal(), 10.0).stop_when("vertical", |x| x.p[0]);
    // the polynomials are those of short steps
    let options =
        Options { tolerance: Tolerance::new(1e-9, 1e-9), hmax: Some(0.1), save: Save::Dense, ..Options::default() };
    let solution = solve(&problem, &Mexx::default(), &options).unwrap();
    assert_eq!(solution.ended, Ended::AtEvent { name: "vertical".to_string() });
    assert!((solution.end.t - quarter).abs() < 1e-8, "{}", solution.end.t);
    let problem = Problem::new(&Pendulum::P1, Pendulum::horizontal(), 3.0);
    let solution = solve(&problem, &Mexx::default(), &options).unwrap();
    let mut x = solution.end.x.clone();
    for k in 1..300 {
        let t = 0.01 * f64::from(k);
        solution.eval(t, &mut x).unwrap();
        let p = &x[solution.layout.p()];
        let error = distance(p, &released(t)[..2]);
        assert!(error < 1e-8, "{t}: {error:e}");
    }
}

#[test]
fn steps_allocate_nothing() {
    for method in [Mexx::default(), Mexx { basic: Basic::Midpoint, columns: None }] {
        for (system, initial) in [(&Pendulum::P1 as &dyn Mechanism, Pendulum::horizontal()), (&Skate, skating())] {
            let state = consistent::initialise(system, &initial, Form::StrangenessFree).unwrap().state;
            let options = Options { tolerance: Tolerance::new(1e-6, 1e-6), ..Options::default() };
            let mut stepper = method.start(system, state, &options).unwrap();
            stepper.advance(1e3).unwrap();
            let mut made = 0;
            let info = allocation_counter::measure(|| {
                while made < 30 && stepper.advance(1e3).is_ok() {
                    made += 1;
                }
            });
            assert_eq!((info.count_total, made), (0, 30), "{method:?}");
        }
    }
}

#[test]
fn impossible_options_are_refused() {
    let problem = Problem::new(&Pendulum::P1, Pendulum::moving(), 1.0);
    let start = |method: Mexx, h0: Option<f64>| match solve(&problem, &method, &Options { h0, ..Options::default() }) {
        Err(SolveError::Options(BadOption::OutOfRange { name, .. })) => name,
        other => panic!("{other:?}"),
    };
    for columns in [0, 13] {
        assert_eq!(start(Mexx { columns: Some(columns), ..Mexx::default() }, Some(0.1)), "columns");
    }
    assert_eq!(start(Mexx { basic: Basic::Midpoint, columns: Some(9) }, Some(0.1)), "columns");
    assert_eq!(start(Mexx { columns: Some(3), ..Mexx::default() }, None), "h0");
}

#[test]
fn tolerances_that_are_lost_in_rounding_are_refused() {
    let problem = Problem::new(&Pendulum::P1, Pendulum::moving(), 1.0);
    let refused = |basic, rtol: f64| {
        let options = Options { tolerance: Tolerance::new(rtol, rtol), ..Options::default() };
        let outcome = solve(&problem, &Mexx { basic, columns: None }, &options);
        matches!(outcome, Err(SolveError::Options(BadOption::OutOfRange { name: "rtol", .. })))
    };
    assert!(!refused(Basic::Euler, 1e-10) && refused(Basic::Euler, 1e-11) && !refused(Basic::Midpoint, 1e-11));
}

#[test]
fn it_is_in_the_catalogue() {
    let entry = catalogue::find("mexx").unwrap();
    let method = entry.with(entry.usual()).unwrap();
    let problem = Problem::new(&Pendulum::P1, Pendulum::moving(), 1.0);
    let end = solve(&problem, &*method, &Options::default()).unwrap();
    assert!(distance(end.at_end().p, &Pendulum::AT_ONE[..2]) < 1e-6);
    assert_eq!(entry.formulations, ["eom1"]);
}

#[test]
fn steps_of_a_fixed_size_keep_it_where_values_between_them_are_saved() {
    let problem = Problem::new(&Pendulum::PERIOD_TWO, Pendulum::horizontal(), 2.0);
    let tolerance = Tolerance::new(1e-9, 1e-9);
    let options = Options { tolerance, h0: Some(0.1), save: Save::At(vec![0.33, 1.57]), ..Options::default() };
    let solution = solve(&problem, &Mexx { columns: Some(5), ..Mexx::default() }, &options).unwrap();
    assert_eq!((solution.statistics.steps, solution.statistics.rejected_error), (20, 0));
}
