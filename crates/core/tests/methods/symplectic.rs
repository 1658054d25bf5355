//! RATTLE, its compositions and the pairs Lobatto IIIA-IIIB: M8, M9.

use super::heavy_top::HeavyTop;
use super::problems::{Arm, Pendulum};
use daedal::catalogue::MotionMethod;
use daedal::linalg::Matrix;
use daedal::method::Composition;
use daedal::motion::consistent::initialise;
use daedal::motion::{EquationsOfMotion, Form, Mechanism, Motion, Position, Sizes, Velocity};
use daedal::scalar::Scalar;
use daedal::{
    Ended, Geoms, Initial, Lobatto, Options, Problem, Rattle, Save, Solution, SolveError, Tolerance, solve,
    solve_observed,
};
use daedal::{Observer, StepView};
use std::ops::ControlFlow;

const COMPOSITIONS: [Composition; 3] = [Composition::Yoshida4, Composition::Suzuki4, Composition::KahanLi6];

fn steps(h: f64) -> Options {
    Options { h0: Some(h), max_steps: u64::MAX, ..Options::default() }
}

/// A method with constant steps to tend.
fn run(problem: &Problem, method: &impl MotionMethod, options: &Options) -> Solution {
    solve(problem, method, options).unwrap()
}

fn distance(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).fold(0.0_f64, |m, (x, y)| m.max((x - y).abs()))
}

/// Times at which errors are measured, common to all runs.
const TIMES: [f64; 5] = [0.2, 0.4, 0.6, 0.8, 1.0];

/// Observed orders of q, v and λ for steps 1/n and 1/(2n), from the largest errors at [`TIMES`].
fn orders<M: MotionMethod>(
    mechanism: &dyn Mechanism,
    initial: &Initial,
    method: &M,
    n: f64,
    exact: &Solution,
) -> [f64; 3] {
    let problem = Problem::new(mechanism, initial.clone(), 1.0);
    let errors = [n, 2.0 * n].map(|n| {
        let options = Options { save: Save::At(TIMES.to_vec()), ..steps(1.0 / n) };
        let solution = run(&problem, method, &options);
        assert_eq!(solution.statistics.steps, n as u64);
        let l = &solution.layout;
        [l.p(), l.v(), l.lambda()].map(|block| {
            (0..TIMES.len()).fold(0.0_f64, |m, k| {
                m.max(distance(&solution.state(k)[block.clone()], &exact.state(k)[block.clone()]))
            })
        })
    });
    println!("{errors:?}");
    std::array::from_fn(|k| (errors[0][k] / errors[1][k]).log2())
}

/// P1 and P2c with their solutions at [`TIMES`]: small steps of order 6, and GEOMS as a witness.
fn conservative() -> [(&'static dyn Mechanism, Initial, Solution); 2] {
    let options = Options { tolerance: Tolerance::new(1e-13, 1e-13), ..Options::default() };
    [(&Pendulum::P1 as &dyn Mechanism, Pendulum::moving()), (&Arm::P2C, Arm::start())].map(|(mechanism, initial)| {
        let problem = Problem::new(mechanism, initial.clone(), 1.0);
        let witness = solve(&problem, &Geoms::default(), &options).unwrap();
        let small = Options { save: Save::At(TIMES.to_vec()), ..steps(0.01) };
        let exact = run(&problem, &Rattle { composition: Composition::KahanLi6 }, &small);
        assert!(distance(&witness.end.x, &exact.end.x) < 1e-11);
        (mechanism, initial, exact)
    })
}

#[test]
fn rattle_is_the_pair_with_two_stages() {
    let problem = Problem::new(&Pendulum::P1, Pendulum::moving(), 2.0);
    let [rattle, pair] =
        [run(&problem, &Rattle::default(), &steps(0.05)), run(&problem, &Lobatto { stages: 2 }, &steps(0.05))];
    let difference = distance(rattle.at_end().p, pair.at_end().p).max(distance(rattle.at_end().v, pair.at_end().v));
    println!("{difference:.1e}");
    assert!(difference < 1e-14, "{difference:.1e}");
    for solution in [rattle, pair] {
        let residuals = solution.max_residuals;
        assert!(residuals.position.unwrap() < 1e-14 && residuals.velocity.unwrap() < 1e-14, "{residuals:?}");
    }
}

#[test]
fn rattle_and_the_pairs_have_orders_two_four_and_six() {
    for (mechanism, initial, exact) in conservative() {
        for (stages, n) in [(2, 40.0), (3, 20.0), (4, 10.0)] {
            let expected = 2.0 * stages as f64 - 2.0;
            for order in orders(mechanism, &initial, &Lobatto { stages }, n, &exact) {
                assert!((order - expected).abs() < 0.15, "{stages} stages: {order}");
            }
        }
        for order in orders(mechanism, &initial, &Rattle::default(), 40.0, &exact) {
            assert!((order - 2.0).abs() < 0.05, "{order}");
        }
    }
}

#[test]
fn compositions_have_orders_four_four_and_six() {
    for (mechanism, initial, exact) in conservative() {
        for (composition, n) in COMPOSITIONS.into_iter().zip([40.0, 20.0, 10.0]) {
            for order in orders(mechanism, &initial, &Rattle { composition }, n, &exact) {
                assert!((order - f64::from(composition.order())).abs() < 0.25, "{composition:?}: {order}");
            }
        }
    }
}

/// Energy errors along a run.
struct Energy<'e> {
    of: &'e dyn Fn(&[f64], &[f64]) -> f64,
    first: f64,
    largest: f64,
    early: f64,
    // for a line through the errors
    sums: [f64; 5],
}

impl<'e> Energy<'e> {
    fn new(of: &'e dyn Fn(&[f64], &[f64]) -> f64, p: &[f64]) -> Self {
        let first = of(p, &vec![0.0; p.len()]);
        Energy { of, first, largest: 0.0, early: 0.0, sums: [0.0; 5] }
    }

    /// Slope of the line of least squares through the errors, in energy per time, and the amplitude of the errors about it.
    fn line(&self) -> (f64, f64) {
        let [n, t, tt, e, te] = self.sums;
        let slope = (n * te - t * e) / (n * tt - t * t);
        (slope, self.largest)
    }
}

impl Observer for Energy<'_> {
    fn observe(&mut self, step: &StepView) -> ControlFlow<()> {
        let l = step.layout;
        let error = (self.of)(&step.x[l.p()], &step.x[l.v()]) - self.first;
        self.largest = self.largest.max(error.abs());
        if step.statistics.steps <= 1000 {
            self.early = self.largest;
        }
        let t = step.t;
        for (sum, term) in self.sums.iter_mut().zip([1.0, t, t * t, error, t * error]) {
            *sum += term;
        }
        ControlFlow::Continue(())
    }
}

#[test]
fn the_energy_of_a_pendulum_stays_within_its_first_oscillations() {
    let of = |p: &[f64], v: &[f64]| 0.5 * (v[0] * v[0] + v[1] * v[1]) + p[1];
    let initial = Pendulum::horizontal();
    let mut energy = Energy::new(&of, &[1.0, 0.0]);
    let problem = Problem::new(&Pendulum::P1, initial, 1e4);
    let solution = solve_observed(&problem, &Rattle::default(), &steps(0.1), &mut [&mut energy]).unwrap();
    println!("{:e} {:e} {:?}", energy.early, energy.largest, solution.max_residuals);
    assert_eq!(solution.statistics.steps, 100_000);
    // 3.756e-3 in the first 1000 steps, and in all of them
    assert!((energy.early - 3.756e-3).abs() < 1e-6 && (energy.largest - 3.756e-3).abs() < 1e-6, "{:e}", energy.largest);
    assert!(solution.max_residuals.position.unwrap() < 1e-13 && solution.max_residuals.velocity.unwrap() < 1e-13);
}

/// Two masses on two rods, in absolute coordinates.
struct DoublePendulum;

impl DoublePendulum {
    const MASSES: [f64; 2] = [1.0, 0.5];
    const GRAVITY: f64 = 9.81;
    /// Positions at the start, at rest.
    const START: [f64; 4] = [0.6, -0.8, 1.6, -0.8];

    fn start() -> Initial {
        Initial::motion(0.0, &Self::START, &[0.0; 4])
    }

    fn energy(p: &[f64], v: &[f64]) -> f64 {
        (0..2)
            .map(|k| {
                let (v, y) = (&v[2 * k..2 * k + 2], p[2 * k + 1]);
                Self::MASSES[k] * (0.5 * (v[0] * v[0] + v[1] * v[1]) + Self::GRAVITY * y)
            })
            .sum()
    }
}

impl EquationsOfMotion for DoublePendulum {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 4, velocities: 4, holonomic: 2, ..Sizes::default() }
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        for k in 0..4 {
            M[(k, k)] = S::from(Self::MASSES[k / 2]);
        }
    }
    fn force<S: Scalar>(&self, _: &Motion<S>, f: &mut [S]) {
        f[1] = S::from(-Self::MASSES[0] * Self::GRAVITY);
        f[3] = S::from(-Self::MASSES[1] * Self::GRAVITY);
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        let [x, y, X, Y] = [at.p[0], at.p[1], at.p[2], at.p[3]];
        g[0] = (x.square() + y.square() - 1.0) * 0.5;
        g[1] = ((X - x).square() + (Y - y).square() - 1.0) * 0.5;
    }
}

/// Energy errors of RATTLE on the double pendulum: in the first 1000 steps, in all, and slope times duration.
fn double_pendulum(steps_made: f64) -> [f64; 3] {
    let h = 0.01;
    let of = DoublePendulum::energy;
    let mut energy = Energy::new(&of, &DoublePendulum::START);
    let problem = Problem::new(&DoublePendulum, DoublePendulum::start(), steps_made * h);
    let solution = solve_observed(&problem, &Rattle::default(), &steps(h), &mut [&mut energy]).unwrap();
    let (slope, amplitude) = energy.line();
    println!(
        "early {:.3e}, all {amplitude:.3e}, slope times duration {:.3e}; {:?} {}",
        energy.early,
        slope * solution.end_time(),
        solution.max_residuals,
        solution.statistics
    );
    [energy.early, amplitude, slope * solution.end_time()]
}

#[test]
fn the_energy_of_a_double_pendulum_does_not_drift_in_a_million_steps() {
    let [_, all, drift] = double_pendulum(1e6);
    assert!(all < 0.05 && drift.abs() < 0.02 * all);
}

/// One mass on the line; what is not Hamiltonian can be switched on.
#[derive(Default)]
struct Mass {
    damping: f64,
    drive: f64,
    curl: f64,
    gyroscopic: f64,
    slow: f64,
    states: usize,
    skate: usize,
}

impl EquationsOfMotion for Mass {
    fn sizes(&self) -> Sizes {
        let (dynamic, nonholonomic) = (self.states, self.skate);
        Sizes { positions: 2, velocities: 2, dynamic, nonholonomic, ..Sizes::default() }
    }
    fn kinematics<S: Scalar>(&self, at: &Velocity<S>, pdot: &mut [S]) {
        pdot[0] = at.v[0] * (1.0 - self.slow);
        pdot[1] = at.v[1];
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        M[(0, 0)] = S::from(1.0);
        M[(1, 1)] = S::from(2.0);
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        let ([x, y], [u, v]) = ([at.p[0], at.p[1]], [at.v[0], at.v[1]]);
        let pull = if self.drive == 0.0 { S::from(0.0) } else { at.t.sin() * self.drive };
        f[0] = -x - x * y.square() - u * self.damping + y * self.curl + v * self.gyroscopic + pull;
        f[1] = -(y * 2.0) - x.square() * y - x * self.curl - u * self.gyroscopic;
    }
    fn dynamic<S: Scalar>(&self, at: &Motion<S>, b: &mut [S]) {
        b.iter_mut().zip(at.r).for_each(|(b, &r)| *b = -r);
    }
    fn nonholonomic<S: Scalar>(&self, at: &Velocity<S>, h: &mut [S]) {
        if let [h] = h {
            *h = at.v[0] - at.p[1] * at.v[1];
        }
    }
}

/// The pendulum on two equal rods.
struct TwoRods;

impl EquationsOfMotion for TwoRods {
    fn sizes(&self) -> Sizes {
        Sizes { holonomic: 2, ..EquationsOfMotion::sizes(&Pendulum::P1) }
    }
    fn mass<S: Scalar>(&self, at: &Position<S>, M: &mut Matrix<S>) {
        Pendulum::P1.mass(at, M);
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        Pendulum::P1.force(at, f);
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        Pendulum::P1.holonomic(at, &mut g[..1]);
        g[1] = g[0] * 2.0;
    }
}

#[test]
fn what_is_not_hamiltonian_is_refused_with_a_reason() {
    let start = || Initial::motion(0.0, &[1.0, 0.5], &[0.0, 0.0]);
    let none = Mass::default;
    for (mass, reason) in [
        (Mass { damping: 1e-3, ..none() }, "beyond the inertia terms"),
        (Mass { gyroscopic: 1e-3, ..none() }, "beyond the inertia terms"),
        (Mass { curl: 1e-3, ..none() }, "no potential"),
        (Mass { drive: 1.0, ..none() }, "time enters"),
        (Mass { states: 1, ..none() }, "states of their own"),
        (Mass { skate: 1, ..none() }, "nonholonomic"),
        (Mass { slow: 0.5, ..none() }, "not the derivatives of its positions"),
    ] {
        let initial = if mass.states > 0 { start().dynamic(&[0.0]) } else { start() };
        let problem = Problem::new(&mass, initial, 1.0);
        let failures = [
            solve(&problem, &Rattle::default(), &Options::default()),
            solve(&problem, &Lobatto::default(), &Options::default()),
        ];
        for failure in failures {
            let Err(SolveError::Start(cause)) = failure else { panic!("not refused: {reason}") };
            assert!(cause.to_string().contains(reason), "{cause}");
        }
    }
    for arm in [Arm { damping: 0.2, drive: 0.0 }, Arm { damping: 0.0, drive: 0.2 }] {
        let problem = Problem::new(&arm, Arm::start(), 1.0);
        assert!(matches!(solve(&problem, &Rattle::default(), &Options::default()), Err(SolveError::Start(_))));
    }
    for (system, initial, reason) in [
        (&HeavyTop as &dyn Mechanism, HeavyTop::start(), "more positions than velocities"),
        (&TwoRods, Pendulum::moving(), "redundant"),
    ] {
        let Err(SolveError::Start(cause)) =
            solve(&Problem::new(system, initial, 1.0), &Rattle::default(), &Options::default())
        else {
            panic!("not refused: {reason}")
        };
        assert!(cause.to_string().contains(reason), "{cause}");
    }
    let problem = Problem::new(&Pendulum::P1, Pendulum::moving(), 1.0);
    assert!(matches!(solve(&problem, &Lobatto { stages: 5 }, &Options::default()), Err(SolveError::Options(_))));
}

#[test]
fn without_constraints_rattle_is_the_method_of_stoermer_and_verlet() {
    let mass = Mass::default();
    let problem = Problem::new(&mass, Initial::motion(0.0, &[1.0, 0.5], &[0.2, -0.3]), 1.0);
    let solution = run(&problem, &Rattle::default(), &steps(0.01));
    let force = |q: [f64; 2]| [-q[0] - q[0] * q[1] * q[1], (-2.0 * q[1] - q[0] * q[0] * q[1]) / 2.0];
    let (mut q, mut v) = ([1.0, 0.5], [0.2, -0.3]);
    for _ in 0..100 {
        let before = force(q);
        for k in 0..2 {
            v[k] += 0.005 * before[k];
            q[k] += 0.01 * v[k];
        }
        let after = force(q);
        (0..2).for_each(|k| v[k] += 0.005 * after[k]);
    }
    assert!(distance(solution.at_end().p, &q) < 1e-13 && distance(solution.at_end().v, &v) < 1e-13);
}

#[test]
fn a_step_size_is_chosen_from_the_tolerance_and_told() {
    for (mechanism, initial, _) in conservative() {
        for tol in [1e-4, 1e-6, 1e-8] {
            let tight = Options { tolerance: Tolerance::new(1e-12, 1e-12), ..Options::default() };
            let options = Options { tolerance: Tolerance::new(tol, tol), max_steps: 10_000_000, ..Options::default() };
            let problem = Problem::new(mechanism, initial.clone(), 3.0);
            let exact = solve(&problem, &Geoms::default(), &tight).unwrap();
            let solutions = [
                run(&problem, &Rattle { composition: Composition::Suzuki4 }, &options),
                run(&problem, &Lobatto { stages: 3 }, &options),
                run(&problem, &Lobatto { stages: 4 }, &options),
            ];
            for solution in solutions {
                let error = distance(&solution.end.x[5..], &exact.end.x[5..]);
                println!("{tol:.0e} {error:.1e} {} {}", solution.statistics.steps, solution.decisions);
                assert!(solution.decisions.contains("chosen from the tolerance"));
                assert!(error < 30.0 * tol, "{error}");
                assert!(error > 1e-4 * tol, "{error}");
            }
        }
    }
}

#[test]
fn a_step_made_again_to_an_earlier_end_and_a_restart_keep_the_accuracy() {
    for method in [&Rattle { composition: Composition::Suzuki4 } as &dyn MotionMethod, &Lobatto { stages: 3 }] {
        let start = initialise(&Pendulum::P1, &Pendulum::moving(), Form::StrangenessFree).unwrap().state;
        let mut stepper = method.start(&Pendulum::P1, start.clone(), &steps(0.05)).unwrap();
        for _ in 0..5 {
            stepper.advance(1.0).unwrap();
        }
        assert!(stepper.retake(0.22).unwrap());
        assert_eq!(stepper.state().t, 0.22);
        while stepper.state().t < 1.0 {
            stepper.advance(1.0).unwrap();
            assert!(stepper.segment().t1 - stepper.segment().t0 < 0.0501);
        }
        let p = stepper.state().x.len() - 2;
        let error = distance(&stepper.state().x[p..], &Pendulum::AT_ONE[..2]);
        assert!(error < 1e-6, "{error:.1e}");
        stepper.restart(start);
        while stepper.state().t < 1.0 {
            stepper.advance(1.0).unwrap();
        }
        let again = distance(&stepper.state().x[p..], &Pendulum::AT_ONE[..2]);
        assert!(again < 1e-6, "{again:.1e}");
    }
}

#[test]
fn nothing_is_allocated_after_the_first_steps() {
    for (method, mechanism) in [
        (&Rattle { composition: Composition::Yoshida4 } as &dyn MotionMethod, &Pendulum::P1 as &dyn Mechanism),
        (&Lobatto { stages: 4 }, &Arm::P2C),
    ] {
        let initial = Initial::motion(0.0, &[0.6, -0.8], &[0.0, 0.0]);
        let start = initialise(mechanism, &initial, Form::StrangenessFree).unwrap().state;
        let mut stepper = method.start(mechanism, start, &steps(0.01)).unwrap();
        let mut advance = |n: u32| (0..n).for_each(|_| stepper.advance(10.0).unwrap());
        advance(8);
        let info = allocation_counter::measure(|| advance(20));
        assert_eq!(info.count_total, 0);
    }
}

#[test]
fn dense_output_and_events_are_as_accurate_as_the_steps() {
    let problem = Problem::new(&Pendulum::P1, Pendulum::horizontal(), 10.0).stop_when("left", |at| at.p[0] + 0.5);
    let options = Options { save: Save::Dense, ..steps(0.02) };
    let tight = Options { tolerance: Tolerance::new(1e-12, 1e-12), ..Options::default() };
    let exact = solve(&problem, &Geoms::default(), &tight).unwrap();
    let composed = Rattle { composition: Composition::KahanLi6 };
    let solution = run(&problem, &composed, &options);
    assert!(matches!(solution.ended, Ended::AtEvent { .. }));
    let error = (solution.end_time() - exact.end_time()).abs();
    println!("{error:.1e}");
    assert!(error < 1e-8);
    // energy between the steps
    let mut x = vec![0.0; solution.end.x.len()];
    for segment in &solution.segments {
        segment.eval(0.5 * (segment.t0 + segment.t1), &mut x);
        let l = &solution.layout;
        let (p, v) = (&x[l.p()], &x[l.v()]);
        let energy = 0.5 * (v[0] * v[0] + v[1] * v[1]) + p[1];
        assert!(energy.abs() < 1e-7, "{energy:.1e}");
    }
}
