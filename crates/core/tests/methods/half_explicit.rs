//! Half-explicit methods and the explicit pair of Dormand and Prince: orders, drift, published counts, refusals.

use super::problems::{Arm, Pendulum};
use daedal::Pair;
use daedal::catalogue::{self, MotionMethod};
use daedal::graph::Interpreted;
use daedal::linalg::Matrix;
use daedal::method::AtSingular;
use daedal::method::HalfExplicitFormula as Formula;
use daedal::method::ProjectedOnto;
use daedal::method::Steps;
use daedal::method::{Method, StartFailure, Stepper};
use daedal::motion::{
    Compiled, EquationsOfMotion, Form, Formulas, Mechanism, Motion, Position, Sizes, Velocity, consistent,
};
use daedal::scalar::Scalar;
use daedal::{
    DormandPrince, Ended, Geoms, HalfExplicit, Hedop5, Initial, Options, Problem, Save, Solution, SolveError,
    Tolerance, solve,
};

const FIXED: Hedop5 = Hedop5 { steps: Steps::Fixed, project: ProjectedOnto::All, safety: 0.9 };
const FIXED_PAIR: DormandPrince = DormandPrince {
    pair: Pair::Order5,
    steps: Steps::Fixed,
    project: ProjectedOnto::All,
    safety: 0.9,
    singular: AtSingular::Stop,
};

fn hem(formula: Formula, project: ProjectedOnto) -> HalfExplicit {
    HalfExplicit { formula, steps: Steps::Fixed, project, ..HalfExplicit::default() }
}

fn tolerance(tol: f64) -> Options {
    Options { tolerance: Tolerance::new(tol, tol), ..Options::default() }
}

fn run(system: &dyn Mechanism, initial: Initial, tend: f64, method: &dyn MotionMethod, options: &Options) -> Solution {
    solve(&Problem::new(system, initial, tend), method, options).unwrap()
}

fn distance(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).fold(0.0_f64, |m, (x, y)| m.max((x - y).abs()))
}

#[derive(Clone, Copy, Debug)]
enum On {
    P1,
    P2,
}

/// Errors of p, v and λ at t = 1 after so many steps of one size.
fn errors(problem: On, method: &dyn MotionMethod, steps: u32) -> [f64; 3] {
    let options = Options { h0: Some(1.0 / f64::from(steps)), ..Options::default() };
    let (solution, exact) = match problem {
        On::P1 => (run(&Pendulum::P1, Pendulum::moving(), 1.0, method, &options), Pendulum::AT_ONE),
        On::P2 => (run(&Arm::P2, Arm::start(), 1.0, method, &options), Arm::AT_ONE),
    };
    assert_eq!(solution.statistics.steps, u64::from(steps));
    let end = solution.at_end();
    [distance(end.p, &exact[..2]), distance(end.v, &exact[2..4]), distance(end.lambda, &exact[4..])]
}

/// Orders of p, v and λ that the errors of two runs show, the second with twice as many steps.
fn orders(problem: On, method: &dyn MotionMethod, steps: u32) -> [f64; 3] {
    let [coarse, fine] = [steps, 2 * steps].map(|n| errors(problem, method, n));
    std::array::from_fn(|k| (coarse[k] / fine[k]).log2())
}

#[test]
fn formulas_of_brasey_and_hairer_have_their_orders() {
    // M1; multipliers come from the acceleration level and have the order of the velocities at least
    for project in [ProjectedOnto::All, ProjectedOnto::Nothing] {
        for (problem, formula, order, steps) in [
            (On::P1, Formula::Hem3, 3.0, 40),
            (On::P1, Formula::Hem4, 4.0, 40),
            (On::P1, Formula::Hem5, 5.0, 20),
            (On::P2, Formula::Hem3, 3.0, 40),
            (On::P2, Formula::Hem4, 4.0, 40),
            (On::P2, Formula::Hem5, 5.0, 20),
        ] {
            let [p, v, lambda] = orders(problem, &hem(formula, project), steps);
            println!("{problem:?} {formula:?} {project:?}: {p:.2} {v:.2} {lambda:.2}");
            // positions of HEM5 on P2 come to their order from above
            assert!(p > order - 0.15 && p < order + 0.6, "{problem:?} {formula:?} {project:?}: {p}");
            assert!((v - order).abs() < 0.15, "{problem:?} {formula:?} {project:?}: {v}");
            assert!(lambda > order - 0.15, "{problem:?} {formula:?} {project:?}: {lambda}");
        }
    }
}

#[test]
fn hedop5_has_order_five() {
    // M2
    for (problem, steps) in [(On::P1, 20), (On::P2, 10), (On::P2, 20)] {
        for project in [ProjectedOnto::All, ProjectedOnto::Nothing] {
            let [p, v, lambda] = orders(problem, &Hedop5 { project, ..FIXED }, steps);
            assert!(p > 4.9 && v > 4.9 && lambda > 4.9, "{problem:?} {project:?}: {p} {v} {lambda}");
        }
    }
}

#[test]
fn the_explicit_pair_has_order_five_and_its_projection_keeps_the_constraints() {
    for project in [ProjectedOnto::All, ProjectedOnto::Nothing] {
        let [p, v, lambda] = orders(On::P2, &DormandPrince { project, ..FIXED_PAIR }, 20);
        assert!(p > 4.9 && v > 4.9 && lambda > 4.9, "{project:?}: {p} {v} {lambda}");
    }
    // on P1 the order is met from below
    let [p, v, lambda] = orders(On::P1, &FIXED_PAIR, 40);
    assert!(p > 4.7 && v > 4.7 && lambda > 4.7, "{p} {v} {lambda}");
    let options = tolerance(1e-5);
    let kept = run(&Arm::P2, Arm::start(), 20.0, &DormandPrince::default(), &options).max_residuals;
    let [position, velocity] = [kept.position, kept.velocity].map(Option::unwrap);
    assert!(position < 1e-14 && velocity < 1e-14, "{position} {velocity}");
    let free = DormandPrince { project: ProjectedOnto::Nothing, ..DormandPrince::default() };
    let left = run(&Arm::P2, Arm::start(), 20.0, &free, &options).max_residuals;
    assert!(left.position.unwrap() > 1e-6 && left.velocity.unwrap() > 1e-7, "{left:?}");
    assert!(left.acceleration.unwrap() < 1e-13, "{left:?}");
}

#[test]
fn hedop5_needs_as_many_steps_as_published() {
    // M3: accepted and rejected steps, error at the end, drift without projection, of another program
    let exact = run(&Pendulum::P1, Pendulum::horizontal(), 100.0, &Geoms::default(), &tolerance(1e-11));
    for (tol, accepted, rejected, known, drift) in
        [(1e-4, 267, 124, 1.1e-2, 1.1e-3), (1e-6, 612, 130, 9.6e-5, 3.3e-6), (1e-8, 1675, 127, 1.6e-6, 4.1e-8)]
    {
        let solution = run(&Pendulum::P1, Pendulum::horizontal(), 100.0, &Hedop5::default(), &tolerance(tol));
        let end = solution.at_end();
        let error = distance(end.p, exact.at_end().p).max(distance(end.v, exact.at_end().v));
        let s = solution.statistics;
        println!("{tol:e}: {s}, error {error:.1e} ({known:e})");
        // no more rejections, and no larger errors
        assert!((s.steps as f64 / f64::from(accepted) - 1.0).abs() < 0.06, "{tol:e}: {s}");
        assert!(s.rejected_error <= rejected, "{tol:e}: {s}");
        assert!(error < known && known < 5.0 * error, "{tol:e}: {error:e}");
        assert_eq!(s.steps + s.rejected_error, s.attempts);
        // six stages and the new point
        assert!(s.residuals <= 6 * s.attempts + s.steps + 4, "{s}");
        assert!(solution.max_residuals.position.unwrap() < 1e-14);
        let free = Hedop5 { project: ProjectedOnto::Nothing, ..Hedop5::default() };
        let left = run(&Pendulum::P1, Pendulum::horizontal(), 100.0, &free, &tolerance(tol)).max_residuals;
        let position = left.position.unwrap();
        println!("{tol:e}: drift {position:.1e} ({drift:e})");
        assert!((0.5..1.5).contains(&(position / drift)), "{tol:e}: {position}");
        assert!(left.velocity.unwrap() < 1e-14, "the velocity constraints hold by themselves");
    }
}

#[test]
fn tolerances_are_met_by_every_method() {
    let exact = run(&Arm::P2, Arm::start(), 5.0, &Geoms::default(), &tolerance(1e-12));
    for name in ["hem3", "hem4", "hem5", "hedop5", "dopri5", "dop853"] {
        let entry = catalogue::find(name).unwrap();
        let method = entry.with(entry.usual()).unwrap();
        let mut steps = 0;
        for tol in [1e-5, 1e-7] {
            let solution = run(&Arm::P2, Arm::start(), 5.0, &*method, &tolerance(tol));
            let error =
                distance(solution.at_end().p, exact.at_end().p).max(distance(solution.at_end().v, exact.at_end().v));
            println!("{name} {tol:.0e}: {}, error {error:.1e}", solution.statistics);
            assert!(error < 30.0 * tol, "{name} {tol}: {error}");
            assert!(solution.statistics.steps > steps, "{name}");
            steps = solution.statistics.steps;
        }
    }
}

/// A skate on a disc whose rim moves: velocities along and across the skate, so that p' = Z v; a driven blade that must not slip, a
/// holonomic constraint, and a filter r' = u − r whose output pulls.
struct Skate;
impl EquationsOfMotion for Skate {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 3, velocities: 3, holonomic: 1, nonholonomic: 1, dynamic: 1, ..Sizes::default() }
    }
    fn kinematics<S: Scalar>(&self, at: &Velocity<S>, pdot: &mut [S]) {
        let (s, c) = (at.p[2].sin(), at.p[2].cos());
        pdot[0] = at.v[0] * c - at.v[1] * s;
        pdot[1] = at.v[0] * s + at.v[1] * c;
        pdot[2] = at.v[2];
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        M[(0, 0)] = S::from(2.0);
        M[(1, 1)] = S::from(2.0);
        M[(1, 2)] = S::from(0.3);
        M[(2, 1)] = S::from(0.3);
        M[(2, 2)] = S::from(0.5);
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        let (s, c) = (at.p[2].sin(), at.p[2].cos());
        f[0] = at.v[1] * at.v[2] * 2.0 - s - at.r[0] * 0.4;
        f[1] = -(at.v[0] * at.v[2] * 2.0) - c;
        f[2] = -(at.v[2] * 0.1) - at.p[2].sin();
    }
    fn dynamic<S: Scalar>(&self, at: &Motion<S>, b: &mut [S]) {
        b[0] = at.v[0] - at.r[0];
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        let radius = at.t.sin() * 0.1 + 1.0;
        g[0] = at.p[0].square() + at.p[1].square() * 0.5 - radius.square();
    }
    fn nonholonomic<S: Scalar>(&self, at: &Velocity<S>, h: &mut [S]) {
        h[0] = at.v[1] + at.v[2] * 0.3 - (at.t * 2.0).sin() * 0.1;
    }
}

fn skate_start() -> Initial {
    Initial::motion(0.0, &[0.8, 0.8, 0.3], &[0.2, 0.0, 0.4]).dynamic(&[0.1])
}

#[test]
fn kinematics_nonholonomic_constraints_and_dynamic_states_keep_the_order() {
    let exact = run(&Skate, skate_start(), 1.0, &Geoms::default(), &tolerance(1e-12));
    let error = |method: &dyn MotionMethod, steps: u32| {
        let options = Options { h0: Some(1.0 / f64::from(steps)), ..Options::default() };
        let end = run(&Skate, skate_start(), 1.0, method, &options).end.x;
        distance(&end, &exact.end.x)
    };
    for (name, method, order, steps) in [
        ("hem3", Box::new(hem(Formula::Hem3, ProjectedOnto::All)) as Box<dyn MotionMethod>, 3.0, 40),
        ("hem4", Box::new(hem(Formula::Hem4, ProjectedOnto::All)), 4.0, 40),
        ("hem5", Box::new(hem(Formula::Hem5, ProjectedOnto::All)), 5.0, 20),
        ("hedop5", Box::new(FIXED), 5.0, 20),
        ("dopri5", Box::new(FIXED_PAIR), 5.0, 20),
        ("dop853", Box::new(DormandPrince { pair: Pair::Order8, ..FIXED_PAIR }), 8.0, 2),
    ] {
        let [coarse, fine] = [steps, 2 * steps].map(|n| error(&*method, n));
        let observed = (coarse / fine).log2();
        println!("{name} {observed:.2} {fine:.1e}");
        assert!(observed > order - 0.3, "{name}: {observed}");
        assert!(fine < 1e-4, "{name}: {fine}");
    }
}

#[test]
fn compiled_formulas_make_the_same_steps() {
    for (mechanism, initial) in [(&Skate as &dyn Mechanism, skate_start()), (&Arm::P2, Arm::start())] {
        let compiled = Compiled::new(&mechanism.formulas().unwrap(), Interpreted);
        for name in ["hem5", "hedop5", "dopri5", "dop853"] {
            let method = catalogue::find(name).unwrap();
            let method = method.with(method.usual()).unwrap();
            let one = run(mechanism, initial.clone(), 2.0, &*method, &tolerance(1e-7));
            let other = run(&compiled, initial.clone(), 2.0, &*method, &tolerance(1e-7));
            // explicit pairs solve for accelerations by formulas, whose evaluations are counted otherwise
            let (residuals, masses) = (other.statistics.residuals, other.statistics.masses);
            let by_formulas = daedal::Statistics { residuals, masses, ..one.statistics };
            let wanted = if name.starts_with("dop") { by_formulas } else { one.statistics };
            assert_eq!(wanted, other.statistics, "{name}");
            let difference = distance(&one.end.x, &other.end.x);
            assert!(difference < 1e-11, "{name}: {difference}");
        }
    }
}

#[test]
fn dense_output_has_order_four_at_least() {
    let times: Vec<f64> = (0..200).map(|k| 0.005 + 0.01 * f64::from(k)).collect();
    let save = Save::At(times);
    #[allow(clippy::type_complexity)] // a table, written out where it is read
    let runs: [(&dyn Mechanism, fn() -> Initial, f64); 2] = [(&Arm::P2, Arm::start, 4.5), (&Skate, skate_start, 3.7)];
    for (mechanism, initial, least) in runs {
        let reference = Options { save: save.clone(), ..tolerance(1e-12) };
        let exact = run(mechanism, initial(), 2.0, &Geoms::default(), &Options { hmax: Some(2e-3), ..reference });
        let sizes = mechanism.sizes();
        let skip = sizes.velocities + sizes.holonomic + sizes.nonholonomic;
        let error = |steps: f64| {
            let options = Options { h0: Some(2.0 / steps), save: save.clone(), ..Options::default() };
            let solution = run(mechanism, initial(), 2.0, &FIXED, &options);
            let error = |k: usize| distance(&solution.state(k)[skip..], &exact.state(k)[skip..]);
            (0..solution.times.len()).map(error).fold(0.0, f64::max)
        };
        let [coarse, fine] = [20.0, 40.0].map(error);
        let observed = (coarse / fine).log2();
        println!("{observed:.2} {fine:.1e}");
        assert!(observed > least, "{observed}: {coarse} {fine}");
    }
}

#[test]
fn an_event_stops_at_its_time() {
    // from the horizontal the lowest point is passed after a quarter of the period
    let problem =
        Problem::new(&Pendulum::P1, Pendulum::horizontal(), 10.0).stop_when("lowest", |at: &Motion<f64>| at.p[0]);
    for name in ["hem5", "hedop5", "dopri5", "dop853"] {
        let entry = catalogue::find(name).unwrap();
        let solution = solve(&problem, &*entry.with(entry.usual()).unwrap(), &tolerance(1e-8)).unwrap();
        assert_eq!(solution.ended, Ended::AtEvent { name: "lowest".to_string() }, "{name}");
        assert!((solution.end.t - 7.416_298_709_205_487 / 4.0).abs() < 1e-7, "{name}: {}", solution.end.t);
        assert!((solution.at_end().lambda[0] - 3.0).abs() < 1e-6, "{name}: {:?}", solution.at_end().lambda);
    }
}

#[test]
fn a_step_made_again_ends_where_it_is_told_to_and_leaves_the_run_as_it_was() {
    let state = consistent::initialise(&Arm::P2, &Arm::start(), Form::StrangenessFree).unwrap().state;
    let options = Options { h0: Some(0.05), ..tolerance(1e-8) };
    for method in [&FIXED, &Hedop5::default()] {
        let mut stepper: Box<dyn Stepper> =
            Method::<dyn Mechanism>::start(method, &Arm::P2, state.clone(), &options).unwrap();
        for _ in 0..5 {
            stepper.advance(1.0).unwrap();
        }
        let (end, proposed) = (stepper.state().t, stepper.proposed_step());
        let middle = 0.5 * (stepper.segment().t0 + end);
        let steps = stepper.statistics().steps;
        assert!(stepper.retake(middle).unwrap());
        assert_eq!((stepper.state().t, stepper.statistics().steps), (middle, steps));
        assert!(stepper.proposed_step() > 0.5 * proposed, "{} {proposed}", stepper.proposed_step());
        // another start: the same run again
        stepper.restart(state.clone());
        assert_eq!(stepper.state().t, 0.0);
        while stepper.state().t < 1.0 {
            stepper.advance(1.0).unwrap();
        }
        let x = &stepper.state().x;
        assert!(distance(&x[5..], &Arm::AT_ONE[..2]) < 1e-7, "{x:?}");
    }
}

/// A mass on a rod with what explicit methods do not take.
#[derive(Clone, Copy, PartialEq)]
enum Feature {
    Contact,
    Auxiliary,
    Friction,
    Redundancy,
}
struct Odd(Feature);
impl EquationsOfMotion for Odd {
    fn sizes(&self) -> Sizes {
        let one = |feature: Feature| usize::from(self.0 == feature);
        Sizes {
            positions: 2,
            velocities: 2,
            holonomic: 1 + one(Feature::Redundancy),
            contact: one(Feature::Contact),
            auxiliary: one(Feature::Auxiliary),
            ..Sizes::default()
        }
    }
    fn mass<S: Scalar>(&self, at: &Position<S>, M: &mut Matrix<S>) {
        Pendulum::P1.mass(at, M);
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        Pendulum::P1.force(at, f);
        match self.0 {
            Feature::Auxiliary => f[0] = at.w[0],
            Feature::Friction => f[0] = at.lambda[0] * -0.1,
            _ => {}
        }
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        Pendulum::P1.holonomic(at, &mut g[..1]);
        match self.0 {
            Feature::Contact => g[0] = at.s[0] - 1.0,
            Feature::Redundancy => g[1] = g[0] * 2.0,
            _ => {}
        }
    }
    fn contact<S: Scalar>(&self, at: &Position<S>, c: &mut [S]) {
        if let Some(c) = c.first_mut() {
            *c = at.s[0] - at.p[0].square() - at.p[1].square();
        }
    }
    fn auxiliary<S: Scalar>(&self, at: &Motion<S>, d: &mut [S]) {
        if let Some(d) = d.first_mut() {
            *d = at.w[0] - at.v[0] * 0.1;
        }
    }
}

#[test]
fn what_is_out_of_class_is_refused_with_a_reason() {
    for (feature, word) in [
        (Feature::Contact, "contact variables"),
        (Feature::Auxiliary, "auxiliary variables"),
        (Feature::Friction, "depend on multipliers"),
        (Feature::Redundancy, "redundant: rank 1 of 2"),
    ] {
        let odd = Odd(feature);
        let initial = Initial::motion(0.0, &[1.0, 0.0], &[0.0, 0.0]);
        let problem = Problem::new(&odd, initial, 1.0);
        for name in ["hem3", "hedop5", "dopri5", "dop853"] {
            let entry = catalogue::find(name).unwrap();
            let failure = solve(&problem, &*entry.with(entry.usual()).unwrap(), &Options::default()).unwrap_err();
            let SolveError::Start(cause) = failure else { panic!("{name}: {failure}") };
            assert!(matches!(cause, StartFailure::OutOfClass { .. }), "{name}: {cause}");
            assert!(cause.to_string().contains(word) && cause.to_string().contains("geoms"), "{cause}");
        }
    }
}

#[test]
fn impossible_options_are_refused() {
    let problem = Problem::new(&Pendulum::P1, Pendulum::moving(), 1.0);
    let unsafe_factor = Hedop5 { safety: 2.0, ..Hedop5::default() };
    assert!(matches!(solve(&problem, &unsafe_factor, &Options::default()), Err(SolveError::Options(_))));
    assert!(matches!(solve(&problem, &FIXED, &Options::default()), Err(SolveError::Options(_))));
}

#[test]
fn a_system_without_constraints_is_integrated_too() {
    /// A linear oscillator.
    struct Oscillator;
    impl EquationsOfMotion for Oscillator {
        fn sizes(&self) -> Sizes {
            Sizes { positions: 1, velocities: 1, ..Sizes::default() }
        }
        fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
            M[(0, 0)] = S::from(1.0);
        }
        fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
            f[0] = -at.p[0];
        }
    }
    for name in ["hem3", "hem4", "hem5", "hedop5", "dopri5", "dop853"] {
        let entry = catalogue::find(name).unwrap();
        let method = entry.with(entry.usual()).unwrap();
        let solution = run(&Oscillator, Initial::motion(0.0, &[1.0], &[0.0]), 10.0, &*method, &tolerance(1e-8));
        let error = (solution.at_end().p[0] - 10.0_f64.cos()).abs();
        assert!(error < 1e-5, "{name}: {error}");
        assert_eq!(solution.max_residuals.position, None);
    }
    let formulas = Formulas::trace(&Oscillator);
    let compiled = Compiled::new(&formulas, Interpreted);
    let solution = run(&compiled, Initial::motion(0.0, &[1.0], &[0.0]), 10.0, &Hedop5::default(), &tolerance(1e-8));
    assert!((solution.at_end().p[0] - 10.0_f64.cos()).abs() < 1e-6);
}
