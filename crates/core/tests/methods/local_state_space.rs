//! Local state space forms: order, constraints, changes of charts, and what is refused.

use super::problems::{Arm, Pendulum};
use daedal::LocalStateSpace;
use daedal::linalg::Matrix;
use daedal::method::Chart;
use daedal::method::Steps;
use daedal::method::{Method, StartFailure};
use daedal::motion::{EquationsOfMotion, Form, Mechanism, Motion, Position, Sizes, Velocity, consistent};
use daedal::scalar::Scalar;
use daedal::{Ended, Geoms, Initial, Options, Problem, Save, Solution, SolveError, Tolerance, catalogue, solve};

const CHARTS: [Chart; 2] = [Chart::Partition, Chart::Tangent];

fn form(chart: Chart) -> LocalStateSpace {
    LocalStateSpace { chart, ..LocalStateSpace::default() }
}

fn distance(x: &[f64], y: &[f64]) -> f64 {
    assert_eq!(x.len(), y.len());
    x.iter().zip(y).fold(0.0, |most, (x, y)| most.max((x - y).abs()))
}

fn tolerance(tol: f64) -> Options {
    Options { tolerance: Tolerance::new(tol, tol), ..Options::default() }
}

fn assert_constraints_hold(solution: &Solution) {
    let residuals = solution.max_residuals;
    assert!(residuals.position.unwrap_or(0.0) < 1e-14 && residuals.velocity.unwrap() < 1e-14, "{residuals:?}");
}

/// n steps over [0, tend].
fn steps(mechanism: &dyn Mechanism, initial: &Initial, chart: Chart, (tend, n): (u32, u32)) -> Solution {
    let problem = Problem::new(mechanism, initial.clone(), f64::from(tend));
    let options = Options { h0: Some(f64::from(tend) / f64::from(n)), save: Save::Steps, ..Options::default() };
    let solution = solve(&problem, &LocalStateSpace { steps: Steps::Fixed, ..form(chart) }, &options).unwrap();
    assert_eq!(solution.statistics.steps, u64::from(n));
    assert_constraints_hold(&solution);
    solution
}

/// The largest errors of p, v and λ at eight times.
fn errors(solution: &Solution, exact: &Solution) -> [f64; 3] {
    let mut most = [0.0_f64; 3];
    for k in 1..=8 {
        let at = |solution: &Solution| k * (solution.len() - 1) / 8;
        let (x, y) = (solution.motion(at(solution)), exact.motion(at(exact)));
        for (most, (x, y)) in most.iter_mut().zip([(x.p, y.p), (x.v, y.v), (x.lambda, y.lambda)]) {
            *most = most.max(distance(x, y));
        }
    }
    most
}

/// T14 with a method of order 5. Its errors of order 6 are large: short steps over a long time show the order before rounding does.
#[test]
fn both_charts_keep_the_order_five_and_all_constraints() {
    let P1 = (&Pendulum::P1 as &dyn Mechanism, Pendulum::moving(), Pendulum::AT_ONE);
    let P2 = (&Arm::P2 as &dyn Mechanism, Arm::start(), Arm::AT_ONE);
    for ((mechanism, initial, at_one), chart, tend, n) in [
        (&P1, Chart::Partition, 8, 512),
        (&P1, Chart::Tangent, 8, 320),
        (&P2, Chart::Partition, 8, 256),
        (&P2, Chart::Tangent, 8, 256),
    ] {
        let exact = steps(*mechanism, initial, chart, (tend, 8 * n));
        let one = exact.motion((8 * n / tend) as usize);
        assert!(distance(&[one.p, one.v, one.lambda].concat(), at_one) < 1e-12, "{:?}", one.p);
        let [coarse, fine] = [n, 2 * n].map(|n| errors(&steps(*mechanism, initial, chart, (tend, n)), &exact));
        let orders: [f64; 3] = std::array::from_fn(|i| (coarse[i] / fine[i]).log2());
        println!("{chart:?}: {coarse:?} {orders:.2?}");
        assert!(orders.iter().all(|order| (order - 5.0).abs() < 0.3), "{chart:?}: {orders:?}");
    }
}

#[test]
fn errors_stay_near_the_tolerance() {
    for chart in CHARTS {
        for tol in [1e-4, 1e-6, 1e-8, 1e-10] {
            let problem = Problem::new(&Pendulum::P1, Pendulum::moving(), 2.0);
            let solution = solve(&problem, &form(chart), &tolerance(tol)).unwrap();
            let error = distance(&[solution.at_end().p, solution.at_end().v].concat(), &Pendulum::AT_TWO[..4]);
            println!("{chart:?} {tol:.0e}: {error:.1e} {} {}", solution.statistics, solution.decisions);
            assert!(error < 100.0 * tol, "{chart:?} {tol:e}: {error:e}");
            assert_constraints_hold(&solution);
        }
    }
}

/// The pendulum goes round and round: every position is independent somewhere and dependent elsewhere.
#[test]
fn a_pendulum_that_swings_over_changes_its_chart_and_keeps_its_energy() {
    let initial = Initial::motion(0.0, &[0.0, -1.0], &[2.5, 0.0]);
    for chart in CHARTS {
        let problem = Problem::new(&Pendulum::P1, initial.clone(), 20.0).record_when("on top", |x| x.p[0]);
        let solution = solve(&problem, &form(chart), &Options { save: Save::Steps, ..tolerance(1e-9) }).unwrap();
        println!("{chart:?}: {} {}", solution.statistics, solution.decisions);
        for k in 0..solution.len() {
            let at = solution.motion(k);
            let energy = 0.5 * (at.v[0].powi(2) + at.v[1].powi(2)) + at.p[1];
            assert!((energy - 2.125).abs() < 1e-6, "{chart:?}: {energy}");
        }
        assert_constraints_hold(&solution);
        // twice round at least, and always the same way
        assert!(solution.events.len() >= 4, "{:?}", solution.events.len());
        assert!(solution.events.iter().all(|event| event.x[solution.layout.p()][1] > 0.99));
        let (charts, steps) = (solution.statistics.selectors, solution.statistics.steps);
        match chart {
            Chart::Tangent => assert!(charts >= steps, "{charts} {steps}"),
            // four in each round, and more after rejections only
            Chart::Partition => assert!(charts >= 16 && charts < steps / 3, "{charts} {steps}"),
        }
    }
}

/// Long steps reach far into a chart, where its slopes grow.
/// A pendulum of any length, with a weight that gives it one period.
struct OfLength(f64);

impl EquationsOfMotion for OfLength {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 2, velocities: 2, holonomic: 1, ..Sizes::default() }
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        (M[(0, 0)], M[(1, 1)]) = (S::from(1.0), S::from(1.0));
    }
    fn force<S: Scalar>(&self, _: &Motion<S>, f: &mut [S]) {
        f[1] = S::from(-9.81 * self.0);
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        g[0] = at.p[0].square() + at.p[1].square() - self.0 * self.0;
    }
}

#[test]
fn small_pendulums_swing_as_large_ones() {
    for chart in [Chart::Partition, Chart::Tangent] {
        let end = |length: f64| {
            let pair = (1e-9, 1e-9 * length);
            let options = Options { tolerance: Tolerance::PerComponent(vec![pair; 5]), ..Options::default() };
            let initial = Initial::motion(0.0, &[length, 0.0], &[0.0, 0.0]);
            let solution = solve(&Problem::new(&OfLength(length), initial, 5.0), &form(chart), &options).unwrap();
            [solution.at_end().p[0] / length, solution.at_end().p[1] / length]
        };
        let [large, small] = [end(1.0), end(1e-6)];
        assert!(distance(&large, &small) < 1e-8, "{chart:?}: {large:?} {small:?}");
    }
}

#[test]
fn long_steps_do_not_leave_their_charts() {
    for chart in CHARTS {
        for tol in [1e-2, 1e-3, 1e-4, 1e-5, 1e-6] {
            let problem = Problem::new(&Pendulum::P1, Initial::motion(0.0, &[0.0, -1.0], &[2.5, 0.0]), 20.0);
            let solution = solve(&problem, &form(chart), &tolerance(tol)).unwrap();
            let at = solution.at_end();
            let energy = 0.5 * (at.v[0].powi(2) + at.v[1].powi(2)) + at.p[1];
            println!("{chart:?} {tol:.0e}: {:.1e} {}", energy - 2.125, solution.statistics);
            assert!((energy - 2.125).abs() < 1000.0 * tol, "{chart:?} {tol:e}: {energy}");
            assert_constraints_hold(&solution);
        }
    }
}

#[test]
fn events_and_values_between_the_steps_are_found() {
    let quarter = 1.854_074_677_301_371_9;
    for chart in CHARTS {
        let problem = Problem::new(&Pendulum::P1, Pendulum::horizontal(), 10.0).stop_when("vertical", |x| x.p[0]);
        let solution = solve(&problem, &form(chart), &Options { save: Save::Dense, ..tolerance(1e-10) }).unwrap();
        assert_eq!(solution.ended, Ended::AtEvent { name: "vertical".to_string() });
        assert!((solution.end.t - quarter).abs() < 1e-8, "{}", solution.end.t);
        let mut x = solution.end.x.clone();
        // λ = −3 y along this motion, and the length is 1
        for k in 1..180 {
            solution.eval(0.01 * f64::from(k), &mut x).unwrap();
            let (p, lambda) = (&x[solution.layout.p()], x[solution.layout.lambda().start]);
            assert!((p[0].hypot(p[1]) - 1.0).abs() < 1e-8, "{chart:?}: {p:?}");
            assert!((lambda + 3.0 * p[1]).abs() < 1e-5, "{chart:?}: {lambda} {p:?}");
        }
    }
}

/// A sledge on a wire cross: a holonomic and a nonholonomic constraint, a dynamic variable, and M that depends on p.
struct Sledge;

impl EquationsOfMotion for Sledge {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 4, velocities: 4, dynamic: 1, holonomic: 1, nonholonomic: 1, ..Sizes::default() }
    }
    fn mass<S: Scalar>(&self, at: &Position<S>, M: &mut Matrix<S>) {
        for (i, m) in [1.0, 1.0, 0.3, 0.2].into_iter().enumerate() {
            M[(i, i)] = S::from(m);
        }
        M[(2, 3)] = at.p[3].cos() * 0.1;
        M[(3, 2)] = at.p[3].cos() * 0.1;
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        f[0] = at.r[0] * -0.2;
        f[1] = S::from(-1.0);
        f[2] = at.p[2] * -0.4;
        f[3] = -at.p[3];
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        g[0] = at.p[3] + at.p[2].sin() * 0.5 - at.t.sin() * 0.2;
    }
    fn nonholonomic<S: Scalar>(&self, at: &Velocity<S>, h: &mut [S]) {
        h[0] = at.p[2].sin() * at.v[0] - at.p[2].cos() * at.v[1] - at.t.cos() * 0.1;
    }
    fn dynamic<S: Scalar>(&self, at: &Motion<S>, b: &mut [S]) {
        b[0] = at.v[0] - at.r[0];
    }
}

fn sliding() -> Initial {
    Initial::motion(0.0, &[0.0, 0.0, 0.4, -0.2], &[1.0, 0.4, 0.3, 0.0]).dynamic(&[0.5])
}

#[test]
fn nonholonomic_constraints_and_dynamic_variables_are_taken() {
    let problem = Problem::new(&Sledge, sliding(), 3.0);
    let exact = solve(&problem, &Geoms::default(), &tolerance(1e-12)).unwrap();
    for chart in CHARTS {
        let solution = solve(&problem, &form(chart), &tolerance(1e-9)).unwrap();
        let moving = solution.layout.lambda().start..solution.layout.p().end;
        let difference = distance(&solution.end.x[moving.clone()], &exact.end.x[moving]);
        println!("{chart:?}: {difference:.1e} {}", solution.statistics);
        assert!(difference < 1e-7, "{chart:?}: {difference:e}");
        assert_constraints_hold(&solution);
    }
}

/// A point mass without constraints, and one that a constraint leads.
struct Point {
    led: bool,
}

impl EquationsOfMotion for Point {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 1, velocities: 1, holonomic: usize::from(self.led), ..Sizes::default() }
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        M[(0, 0)] = S::from(2.0);
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        f[0] = at.p[0] * -2.0;
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        if self.led {
            g[0] = at.p[0] - at.t.cos();
        }
    }
}

#[test]
fn systems_without_constraints_and_without_freedom_are_taken() {
    for chart in CHARTS {
        for led in [false, true] {
            let system = Point { led };
            let problem = Problem::new(&system, Initial::motion(0.0, &[1.0], &[0.0]), 2.0);
            let solution = solve(&problem, &form(chart), &tolerance(1e-9)).unwrap();
            assert!((solution.at_end().p[0] - 2.0_f64.cos()).abs() < 1e-7, "{chart:?} {led}");
        }
    }
}

#[test]
fn steps_allocate_nothing() {
    for chart in CHARTS {
        let over = Initial::motion(0.0, &[0.0, -1.0], &[2.5, 0.0]);
        for (system, initial) in [(&Pendulum::P1 as &dyn Mechanism, over), (&Sledge, sliding())] {
            let state = consistent::initialise(system, &initial, Form::StrangenessFree).unwrap().state;
            let method = form(chart);
            let mut stepper = method.start(system, state, &tolerance(1e-7)).unwrap();
            stepper.advance(1e3).unwrap();
            let mut made = 0;
            let info = allocation_counter::measure(|| {
                while made < 100 && stepper.advance(1e3).is_ok() {
                    made += 1;
                }
            });
            assert_eq!((info.count_total, made), (0, 100), "{chart:?}");
        }
    }
}

/// Velocities in another scale than positions.
struct Scaled;

impl EquationsOfMotion for Scaled {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 2, velocities: 2, holonomic: 1, ..Sizes::default() }
    }
    fn kinematics<S: Scalar>(&self, at: &Velocity<S>, pdot: &mut [S]) {
        pdot[0] = at.v[0] * 2.0;
        pdot[1] = at.v[1] * 2.0;
    }
    fn mass<S: Scalar>(&self, at: &Position<S>, M: &mut Matrix<S>) {
        Pendulum::P1.mass(at, M);
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        Pendulum::P1.force(at, f);
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        Pendulum::P1.holonomic(at, g);
    }
}

#[test]
fn velocities_that_are_not_derivatives_of_positions_are_refused() {
    for chart in CHARTS {
        let problem = Problem::new(&Scaled, Pendulum::horizontal(), 1.0);
        match solve(&problem, &form(chart), &Options::default()) {
            Err(SolveError::Start(failure @ StartFailure::OutOfClass { method, .. })) => {
                assert_eq!(method, chart.name());
                assert!(failure.to_string().contains("p' = Z(p) v"), "{failure}");
            }
            other => panic!("{other:?}"),
        }
        let fixed = LocalStateSpace { steps: Steps::Fixed, ..form(chart) };
        let problem = Problem::new(&Pendulum::P1, Pendulum::moving(), 1.0);
        assert!(matches!(solve(&problem, &fixed, &Options::default()), Err(SolveError::Options(_))));
    }
}

#[test]
fn they_are_in_the_catalogue() {
    for chart in CHARTS {
        let entry = catalogue::find(chart.name()).unwrap();
        let method = entry.with(entry.usual()).unwrap();
        let problem = Problem::new(&Pendulum::P1, Pendulum::moving(), 1.0);
        let solution = solve(&problem, &*method, &Options::default()).unwrap();
        assert!(distance(solution.at_end().p, &Pendulum::AT_ONE[..2]) < 1e-6);
        assert!(solution.decisions.ends_with("charts"));
    }
}
