//! What every method promises, whatever it computes: a new method is covered by its row in the catalogue.

use chain::Chain;
use daedal::catalogue::{self, MotionMethod};
use daedal::dae::{self, Equations, System};
use daedal::formulation::{Formulated, Formulation};
use daedal::graph::Interpreted;
use daedal::hybrid::{Hybrid, HybridError, HybridOptions, HybridSolution, Mode, Transition};
use daedal::linalg::Matrix;
use daedal::method::{Integrator, Method, StartFailure, State, Stepper};
use daedal::motion::{
    Compiled, EquationsOfMotion, Form, Formulas, Layout, Mechanism, Motion, Names, Position, Sizes, Velocity,
    consistent,
};
use daedal::scalar::Scalar;
use daedal::{Bdf, Ended, Initial, Options, Problem, RadauIIa, Save, SolveError, StepFailure, Tolerance, solve};

#[path = "support/chain.rs"]
mod chain;

/// A method of one's own is tried like the others.
#[allow(dead_code)] // its own `main`
#[path = "../examples/implicit_euler.rs"]
mod implicit_euler;

const GRAVITY: f64 = 13.750_371_636_040_745;
/// Error that a run to t = 1 at 1e-7 may have, in tolerances; formulations that drift and constant steps have other promises.
const PROMISED: f64 = 100.0;

/// A pendulum of period two, released from the horizontal, that knows its energy.
struct Pendulum;

impl EquationsOfMotion for Pendulum {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 2, velocities: 2, holonomic: 1, invariants: 1, ..Sizes::default() }
    }
    fn names(&self) -> Names {
        Names::numbered(&EquationsOfMotion::sizes(self))
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        (M[(0, 0)], M[(1, 1)]) = (S::from(1.0), S::from(1.0));
    }
    fn force<S: Scalar>(&self, _: &Motion<S>, f: &mut [S]) {
        f[1] = S::from(-GRAVITY);
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        g[0] = at.p[0].square() + at.p[1].square() - 1.0;
    }
    fn invariant<S: Scalar>(&self, at: &Velocity<S>, e: &mut [S]) {
        e[0] = (at.v[0].square() + at.v[1].square()) * 0.5 + at.p[1] * GRAVITY;
    }
}

/// A method of the catalogue on one of its formulations.
struct Way {
    name: String,
    method: Box<dyn MotionMethod>,
    /// Is its error controlled, on equations that do not drift?
    accurate: bool,
    constant: bool,
}

/// All that the pendulum can be solved by.
fn every_way() -> Vec<Way> {
    let mut ways = Vec::new();
    for entry in catalogue::all().iter().chain([&implicit_euler::ROW]) {
        for formulation in Formulation::ALL.into_iter().filter(|f| entry.formulations.contains(&f.name())) {
            let method = entry.with(formulation).unwrap();
            let constant = ["rattle", "lobatto", "alpha"].contains(&entry.name);
            let drifts = ["eom0", "eom", "ode", "baumgarte"].contains(&formulation.name())
                && ["radau", "bdf", "rodas", "trapezoidal", "gauss", "radau-ia", "lobatto-iiic"].contains(&entry.name);
            let name = format!("{} {}", entry.name, formulation.name());
            // errors of methods of order one and two add up to more than a hundred tolerances
            let low_order = [implicit_euler::ROW.name, "trapezoidal"].contains(&entry.name);
            let accurate = !constant && !drifts && !low_order;
            let way = Way { name, method, accurate, constant };
            // unknowns of index three are refused by BDF, with a word about it
            match way.method.start(&Pendulum, start(), &options()) {
                Ok(_) => ways.push(way),
                Err(StartFailure::OutOfClass { why, instead, .. }) => {
                    assert!(!why.is_empty() && !instead.is_empty(), "{}", way.name);
                }
                Err(other) => panic!("{}: {other}", way.name),
            }
        }
    }
    assert!(ways.len() > 25, "{}", ways.len());
    ways
}

fn initial() -> Initial {
    Initial::motion(0.0, &[1.0, 0.0], &[0.0, 0.0])
}

fn start() -> State {
    consistent::initialise(&Pendulum, &initial(), Form::StrangenessFree).unwrap().state
}

fn options() -> Options {
    Options { tolerance: Tolerance::new(1e-7, 1e-7), hmax: Some(0.1), ..Options::default() }
}

fn layout() -> Layout {
    Layout::new(EquationsOfMotion::sizes(&Pendulum), Form::StrangenessFree, false)
}

impl Way {
    fn start(&self, options: &Options) -> Box<dyn Stepper> {
        self.method.start(&Pendulum, start(), options).unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    fn to(&self, stepper: &mut dyn Stepper, tend: f64) {
        while stepper.state().t < tend {
            stepper.advance(tend).unwrap_or_else(|error| panic!("{}: {error}", self.name));
        }
    }
}

/// Positions and velocities: what is left of a state when multipliers of formulations are not compared.
fn motion(x: &[f64]) -> Vec<f64> {
    layout().p().chain(layout().v()).map(|j| x[j]).collect()
}

fn distance(x: &[f64], y: &[f64]) -> f64 {
    motion(x).iter().zip(motion(y)).fold(0.0, |most, (x, y)| (x - y).abs().max(most))
}

/// The pendulum at a time by the most accurate way.
fn exact(t: f64) -> Vec<f64> {
    let method = catalogue::find("radau").unwrap().with(Formulation::default()).unwrap();
    let options = Options { tolerance: Tolerance::new(1e-12, 1e-12), ..Options::default() };
    solve(&Problem::new(&Pendulum, initial(), t), &*method, &options).unwrap().end.x
}

#[test]
fn no_step_allocates() {
    for way in every_way() {
        let mut stepper = way.start(&options());
        for _ in 0..3 {
            stepper.advance(100.0).unwrap();
        }
        let mut failure = None;
        let info = allocation_counter::measure(|| {
            for _ in 0..60 {
                failure = failure.take().or(stepper.advance(100.0).err());
            }
        });
        assert_eq!((failure, info.count_total), (None, 0), "{}", way.name);
    }
}

/// Antibodies u in a tissue v that a tumour has taken, by the method of lines with N points; as `models/medical-akzo-nobel.toml`.
struct MedicalAkzoNobel(usize);

impl Equations for MedicalAkzoNobel {
    fn dim(&self) -> usize {
        2 * self.0
    }
    fn residual<S: Scalar>(&self, _: S, x: &[S], xdot: &[S], r: &mut [S]) {
        let n = self.0;
        let dz = 1.0 / n as f64;
        for j in 0..n {
            let z = (j + 1) as f64 * dz - 1.0;
            let (alpha, beta) = (2.0 * z.powi(3) / 16.0, z.powi(4) / 16.0);
            let before = if j == 0 { S::from(2.0) } else { x[2 * j - 2] };
            let after = x[2 * if j + 1 == n { j } else { j + 1 }];
            let reaction = x[2 * j] * x[2 * j + 1] * 100.0;
            let diffusion = (before - x[2 * j] * 2.0 + after) * (beta / (dz * dz));
            r[2 * j] = xdot[2 * j] - (after - before) * (alpha / (2.0 * dz)) - diffusion + reaction;
            r[2 * j + 1] = xdot[2 * j + 1] + reaction;
        }
    }
}

/// Allocations in so many steps after the first ones.
fn allocations(stepper: &mut dyn Stepper, steps: u32) -> (u64, Option<StepFailure>) {
    let mut failure = None;
    for _ in 0..10 {
        failure = failure.or(stepper.advance(100.0).err());
    }
    let info = allocation_counter::measure(|| {
        for _ in 0..steps {
            failure = failure.take().or(stepper.advance(100.0).err());
        }
    });
    (info.count_total, failure)
}

#[test]
fn no_step_with_sparse_matrices_allocates() {
    let chain = Compiled::new(&Formulas::trace(&Chain { links: 60 }), Interpreted);
    let start = consistent::initialise(&chain, &Chain { links: 60 }.start(), Form::StrangenessFree).unwrap().state;
    let options = Options { tolerance: Tolerance::new(1e-5, 1e-5), ..Options::default() };
    let tissue = System::of(&MedicalAkzoNobel(100));
    let mut clean: Vec<f64> = vec![0.0; 200];
    clean.iter_mut().skip(1).step_by(2).for_each(|v| *v = 1.0);
    for name in ["dopri5", "dop853", "hedop5", "hem5", "mexx", "rattle"] {
        let entry = catalogue::find(name).unwrap();
        let first =
            Formulation::ALL.into_iter().find(|formulation| formulation.name() == entry.formulations[0]).unwrap();
        let method = entry.with(first).unwrap();
        let mut stepper = method.start(&chain as &dyn Mechanism, start.clone(), &options).unwrap();
        assert_eq!(allocations(&mut *stepper, 40), (0, None), "chain, {name}");
    }
    for name in ["radau", "bdf"] {
        let integrator = || -> Box<dyn Integrator> {
            if name == "radau" { Box::new(RadauIIa::default()) } else { Box::new(Bdf::default()) }
        };
        for formulation in [Formulation::Eom1, Formulation::Ggl] {
            let what = format!("chain, {name} {}", formulation.name());
            assert!(formulation.system(&chain, &start).unwrap().new_pencil().is_sparse(), "{what}");
            let method = Formulated { formulation, integrator: integrator() };
            let mut stepper = method.start(&chain as &dyn Mechanism, start.clone(), &options).unwrap();
            assert_eq!(allocations(&mut *stepper, 40), (0, None), "{what}");
            assert!(stepper.statistics().decompositions > 10, "{what}");
        }
        let prepared = dae::prepare(&tissue, &Initial::new(0.0, &clean), dae::Form::Plain).unwrap();
        assert!(prepared.dae.new_pencil().is_sparse());
        let mut stepper = integrator().start(prepared.dae, prepared.at, &options).unwrap();
        assert_eq!(allocations(&mut *stepper, 60), (0, None), "medical Akzo Nobel, {name}");
    }
}

#[test]
fn no_step_passes_its_limit_and_the_last_one_ends_there() {
    for way in every_way() {
        let mut stepper = way.start(&options());
        for limit in [1e-3, 0.1, 0.1 + 1e-9, 0.777] {
            while stepper.state().t < limit {
                stepper.advance(limit).unwrap_or_else(|error| panic!("{} to {limit}: {error}", way.name));
                assert!(stepper.state().t <= limit, "{}", way.name);
                assert_eq!(stepper.segment().t1, stepper.state().t, "{}", way.name);
            }
            assert_eq!(stepper.state().t, limit, "{}", way.name);
        }
        // there is no way back, and none to where it is
        let state = stepper.state().clone();
        for limit in [0.777, 0.5, f64::NAN] {
            assert!(matches!(stepper.advance(limit), Err(StepFailure::StepTooSmall { .. })), "{}", way.name);
            assert_eq!(stepper.state(), &state, "{}", way.name);
        }
    }
}

#[test]
fn steps_are_not_longer_than_they_may_be_and_constant_ones_are_constant() {
    for way in every_way() {
        let options = Options { hmax: Some(0.02), h0: way.constant.then_some(0.01), ..options() };
        let mut stepper = way.start(&options);
        let mut sizes = Vec::new();
        while stepper.state().t < 1.0 {
            let t = stepper.state().t;
            stepper.advance(1.0).unwrap();
            sizes.push(stepper.state().t - t);
        }
        assert!(sizes.iter().all(|h| *h <= 0.02 * (1.0 + 1e-3)), "{}: {sizes:?}", way.name);
        if way.constant {
            assert!(sizes.len() == 100 && sizes.iter().all(|h| (h - 0.01).abs() < 1e-12), "{}: {sizes:?}", way.name);
        }
    }
}

#[test]
fn the_same_run_has_the_same_bits() {
    for way in every_way() {
        let run = || {
            let mut stepper = way.start(&options());
            way.to(&mut *stepper, 1.0);
            (stepper.state().x.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), stepper.statistics())
        };
        assert_eq!(run(), run(), "{}", way.name);
    }
}

#[test]
fn a_restart_is_a_fresh_start() {
    for way in every_way() {
        let mut fresh = way.start(&options());
        fresh.advance(0.5).unwrap();
        let first = fresh.state().t;
        way.to(&mut *fresh, 0.5);
        let mut again = way.start(&options());
        while again.state().t < 0.3 {
            again.advance(0.5).unwrap();
        }
        again.restart(start());
        again.propose(first);
        let before = again.statistics();
        way.to(&mut *again, 0.5);
        let error = distance(&again.state().x, &fresh.state().x);
        let allowed = if way.accurate { 5e-7 } else { 1e-5 };
        assert!(error <= allowed, "{}: {error:e}", way.name);
        let steps = again.statistics().steps - before.steps;
        let expected = fresh.statistics().steps;
        let close = steps.abs_diff(expected) <= 2 + expected / 20;
        assert!(close || !way.accurate, "{}: {steps} for {expected}", way.name);
    }
}

#[test]
fn a_step_that_is_made_again_ends_where_it_is_told() {
    for way in every_way() {
        let mut stepper = way.start(&options());
        way.to(&mut *stepper, 0.2);
        stepper.advance(0.9).unwrap();
        let (t0, t1) = (stepper.segment().t0, stepper.state().t);
        let t = 0.5 * (t0 + t1);
        let steps = stepper.statistics().steps;
        if !stepper.retake(t).unwrap() {
            // its polynomial is as accurate as its steps
            assert_eq!(stepper.state().t, t1, "{}", way.name);
            continue;
        }
        assert!(stepper.state().t <= t && stepper.state().t > t0, "{}", way.name);
        assert_eq!((stepper.segment().t0, stepper.statistics().steps), (t0, steps), "{}", way.name);
        way.to(&mut *stepper, 0.9);
        if way.accurate {
            let error = distance(&stepper.state().x, &exact(0.9));
            assert!(error < PROMISED * 1e-7, "{}: {error:e}", way.name);
        }
    }
}

#[test]
fn a_run_ends_after_the_attempts_that_it_has_and_keeps_what_it_computed() {
    for way in every_way() {
        let options = Options { max_steps: 5, h0: Some(1e-3), save: Save::Steps, ..options() };
        let error = solve(&Problem::new(&Pendulum, initial(), 1.0), &*way.method, &options).unwrap_err();
        let SolveError::Stopped { cause, partial } = error else { panic!("{}: {error}", way.name) };
        assert!(matches!(cause, StepFailure::TooManySteps { steps: 5, .. }), "{}: {cause}", way.name);
        assert_eq!(partial.times.len() as u64, partial.statistics.steps + 1, "{}", way.name);
        assert!(partial.statistics.steps > 0 && partial.end.t == cause.time(), "{}", way.name);
    }
}

#[test]
fn values_between_the_steps_and_events_are_as_accurate_as_steps() {
    let times: Vec<f64> = (1..10).map(|k| 0.0987 * f64::from(k)).collect();
    let trusted: Vec<Vec<f64>> = times.iter().map(|t| exact(*t)).collect();
    let lowest = {
        let half_period = exact(0.5);
        half_period[layout().p().start]
    };
    assert!(lowest.abs() < 1e-9, "the pendulum hangs down after a quarter of its period: {lowest:e}");
    for way in every_way().into_iter().filter(|way| way.accurate) {
        let options = Options { save: Save::At(times.clone()), ..options() };
        let x = layout().p().start;
        let problem = Problem::new(&Pendulum, initial(), 1.0).stop_when("lowest point", |at| at.p[0]);
        let solution = solve(&problem, &*way.method, &options).unwrap_or_else(|error| panic!("{}: {error}", way.name));
        assert_eq!(solution.ended, Ended::AtEvent { name: "lowest point".to_string() }, "{}", way.name);
        assert!((solution.end.t - 0.5).abs() < PROMISED * 1e-7, "{}: {}", way.name, solution.end.t);
        assert!(solution.end.x[x].abs() < 1e-9, "{}: {:e}", way.name, solution.end.x[x]);
        for (t, exact) in times.iter().zip(&trusted).take(solution.times.len()) {
            let k = solution.times.iter().position(|saved| saved == t).unwrap();
            let error = distance(solution.state(k), exact);
            assert!(error < PROMISED * 1e-7, "{} at {t}: {error:e}", way.name);
        }
        assert_eq!(solution.times.len(), 5, "{}", way.name);
    }
}

#[test]
fn forward_and_backward_leads_to_the_start() {
    for way in every_way() {
        let there = solve(&Problem::new(&Pendulum, initial(), 1.0), &*way.method, &options()).unwrap();
        let problem = Problem::new(&Pendulum, initial(), 0.0).trust(there.end.clone());
        let options = Options { save: Save::Steps, ..options() };
        let back = solve(&problem, &*way.method, &options).unwrap_or_else(|error| panic!("{}: {error}", way.name));
        assert!(back.ended == Ended::AtEnd && back.end.t == 0.0, "{}", way.name);
        assert!(back.times.windows(2).all(|t| t[1] < t[0]) && back.times[0] == 1.0, "{}", way.name);
        let error = distance(&back.end.x, &start().x);
        let promised = if way.accurate { 10.0 * PROMISED * 1e-7 } else { 2e-2 };
        assert!(error < promised, "{}: {error:.1e}", way.name);
    }
}

#[test]
fn impossible_options_are_refused_by_every_method() {
    for way in every_way() {
        let tolerance = Tolerance::new(0.0, 1e-7);
        for bad in [
            Options { h0: Some(-1.0), ..options() },
            Options { hmax: Some(0.0), ..options() },
            Options { tolerance, ..options() },
        ] {
            let refused = way.method.start(&Pendulum, start(), &bad);
            assert!(matches!(refused, Err(StartFailure::Options(_))), "{}: {:?}", way.name, refused.err());
        }
    }
}

/// A mechanism with a force that depends on a multiplier, which few methods take.
struct Friction;

impl EquationsOfMotion for Friction {
    fn sizes(&self) -> Sizes {
        Sizes { invariants: 0, ..EquationsOfMotion::sizes(&Pendulum) }
    }
    fn mass<S: Scalar>(&self, at: &Position<S>, M: &mut Matrix<S>) {
        EquationsOfMotion::mass(&Pendulum, at, M);
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        f[0] = -at.v[0] * at.lambda[0] * 0.01;
        f[1] = -at.v[1] * at.lambda[0] * 0.01 - GRAVITY;
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        EquationsOfMotion::holonomic(&Pendulum, at, g);
    }
}

#[test]
fn a_method_solves_a_mechanism_or_says_why_not_and_which_method_does() {
    let initial = Initial::motion(0.0, &[0.6, -0.8], &[0.0, 0.0]);
    let mechanism: &dyn Mechanism = &Friction;
    let trusted = {
        let method = catalogue::find("geoms").unwrap().with(Formulation::default()).unwrap();
        let options = Options { tolerance: Tolerance::new(1e-11, 1e-11), ..Options::default() };
        solve(&Problem::new(mechanism, initial.clone(), 0.5), &*method, &options).unwrap().end.x
    };
    let (mut solved, mut refused) = (0, 0);
    for way in every_way().into_iter().filter(|way| way.accurate && !way.name.contains("psf+i")) {
        match solve(&Problem::new(mechanism, initial.clone(), 0.5), &*way.method, &options()) {
            Ok(solution) => {
                let error = distance(&solution.end.x, &trusted);
                assert!(error < PROMISED * 1e-7, "{}: {error:e}", way.name);
                solved += 1;
            }
            Err(SolveError::Start(StartFailure::OutOfClass { method, why, instead })) => {
                assert!(way.name.starts_with(method) && !why.is_empty(), "{}: {why}", way.name);
                assert!(catalogue::find(instead).is_some(), "{}: {instead}", way.name);
                refused += 1;
            }
            Err(error) => panic!("{}: {error}", way.name),
        }
    }
    assert!(solved > 5 && refused > 3, "{solved} {refused}");
}

/// The pendulum with a wall at its lowest point, which returns four fifths of the speed.
fn against_a_wall(method: Box<dyn MotionMethod>, max_steps: u64) -> Result<HybridSolution, HybridError> {
    let mut system = Hybrid::new();
    let swinging = system.mode(Mode::motion("swinging", Pendulum, method));
    let (x, v) = (layout().p().start, layout().v());
    let wall = Transition::when(swinging, swinging, "x <= 0", move |_, at| at[x]);
    system.transition(wall.transfer(move |_, old, _, new| v.clone().for_each(|j| new[j] = -0.8 * old[j])));
    let start = start().x;
    let problem = Problem::new(&system, Initial::new(0.0, &start).in_mode(swinging), 2.0);
    daedal::solve(&problem, &HybridOptions::default(), &Options { max_steps, ..options() })
}

#[test]
fn every_method_works_in_modes() {
    let trusted = {
        let method = catalogue::find("radau").unwrap().with(Formulation::default()).unwrap();
        let switches = against_a_wall(method, 100_000).unwrap().switches;
        switches.iter().map(|switch| switch.t).collect::<Vec<_>>()
    };
    assert!(trusted.len() >= 2 && (trusted[0] - 0.5).abs() < 1e-6, "{trusted:?}");
    for way in every_way() {
        let (name, accurate, constant) = (way.name, way.accurate, way.constant);
        let solution = match against_a_wall(way.method, 100_000) {
            Ok(solution) => solution,
            Err(HybridError::Stopped { cause, .. }) => panic!("{name}: {cause}"),
            Err(error) => panic!("{name}: {error}"),
        };
        assert_eq!((&solution.ended, solution.switches.len()), (&Ended::AtEnd, trusted.len()), "{name}");
        let allowed = if accurate { PROMISED * 1e-7 } else { 1e-2 };
        for (switch, t) in solution.switches.iter().zip(&trusted) {
            assert!((switch.t - t).abs() < allowed, "{name}: {} for {t}", switch.t);
        }
        // the attempts of a run are counted over all visits of its modes
        let attempts = solution.statistics.attempts;
        assert!(constant || attempts > 20, "{name}: {attempts}");
    }
}

#[test]
fn attempts_are_limited_over_all_visits_of_a_mode() {
    let method = || catalogue::find("geoms").unwrap().with(Formulation::default()).unwrap();
    let attempts = against_a_wall(method(), 100_000).unwrap().statistics.attempts;
    let most = attempts - 5;
    let Err(HybridError::Stopped { cause, partial }) = against_a_wall(method(), most) else { panic!("it ends") };
    assert!(cause.to_string().contains(&most.to_string()), "{cause}");
    assert!(partial.switches.len() >= 2 && partial.statistics.attempts <= most + 2, "{}", partial.statistics);
}
