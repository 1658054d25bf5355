//! Ordinary differential equations ẋ = f(t, x): the pair of Dormand and Prince without constraints.

use daedal::dae::{Form, InForm, Unknowns};
use daedal::method::Steps;
use daedal::method::{Integrator, StartFailure};
use daedal::prelude::*;
use daedal::{Ended, Pair, SolveError};

/// A driven oscillator with a mass matrix: (2 1; 1 2) (x', y')ᵀ = (2 1; 1 2) (y, −x + 3 cos 2t)ᵀ.
struct Driven {
    coupled: bool,
}

impl Equations for Driven {
    fn dim(&self) -> usize {
        2
    }
    fn residual<S: Scalar>(&self, t: S, x: &[S], xdot: &[S], r: &mut [S]) {
        let (a, b) = (xdot[0] - x[1], xdot[1] + x[0] - (t * 2.0).cos() * 3.0);
        (r[0], r[1]) = if self.coupled { (a * 2.0 + b, a + b * 2.0) } else { (a, b) };
    }
}

/// x = 2 cos t − cos 2t.
fn exact(t: f64) -> [f64; 2] {
    [2.0 * t.cos() - (2.0 * t).cos(), -2.0 * t.sin() + 2.0 * (2.0 * t).sin()]
}

const PAIRS: [Pair; 2] = [Pair::Order5, Pair::Order8];

fn solved(system: &System, pair: Pair, options: &Options) -> Solution<Unknowns> {
    let problem = Problem::new(system, Initial::new(0.0, &exact(0.0)), 5.0);
    solve(&problem, &DormandPrince::of(pair), options).unwrap()
}

fn tolerance(tolerance: f64) -> Options {
    Options { tolerance: Tolerance::new(tolerance, tolerance), ..Options::default() }
}

fn error(x: &[f64], t: f64) -> f64 {
    x.iter().zip(exact(t)).fold(0.0, |most, (x, exact)| (x - exact).abs().max(most))
}

#[test]
fn pairs_have_their_order_with_and_without_a_mass_matrix() {
    let steps = [[0.1, 0.05, 0.025], [0.5, 0.25, 0.125]];
    for (coupled, (pair, order, steps)) in
        [false, true].into_iter().flat_map(|c| [(c, (PAIRS[0], 5.0, steps[0])), (c, (PAIRS[1], 8.0, steps[1]))])
    {
        let system = System::of(&Driven { coupled });
        let method = DormandPrince { steps: Steps::Fixed, ..DormandPrince::of(pair) };
        let problem = Problem::new(&system, Initial::new(0.0, &exact(0.0)), 5.0);
        let errors = steps.map(|h| {
            let solution = solve(&problem, &method, &Options { h0: Some(h), ..Options::default() }).unwrap();
            assert_eq!(solution.statistics.steps, (5.0 / h).round() as u64);
            error(&solution.end.x, 5.0)
        });
        println!("{coupled}: {errors:?}");
        for pair in errors.windows(2) {
            let observed = (pair[0] / pair[1]).log2();
            assert!((observed - order).abs() < 0.3, "{coupled}: order {observed} instead of {order}");
        }
    }
}

#[test]
fn tolerances_are_met_at_steps_between_them_and_at_events() {
    for (pair, tol) in PAIRS.into_iter().flat_map(|pair| [1e-5, 1e-8, 1e-11].map(|tol| (pair, tol))) {
        let times: Vec<f64> = (0..=50).map(|k| 0.1 * f64::from(k)).collect();
        let system = System::of(&Driven { coupled: false });
        let mut worst = 0.0_f64;
        for save in [Save::Steps, Save::At(times.clone()), Save::Dense] {
            let solution = solved(&system, pair, &Options { save, ..tolerance(tol) });
            for (k, &t) in solution.times.iter().enumerate() {
                worst = worst.max(error(solution.state(k), t));
            }
            if !solution.segments.is_empty() {
                let mut x = [0.0; 2];
                for &t in &times {
                    solution.eval(t, &mut x).unwrap();
                    worst = worst.max(error(&x, t));
                }
            }
        }
        // x = 0 first where 2 cos t = cos 2t
        let problem = Problem::new(&system, Initial::new(0.0, &exact(0.0)), 5.0).stop_when("x", |_, x| x[0]);
        let stopped = solve(&problem, &DormandPrince::of(pair), &tolerance(tol)).unwrap();
        assert!(matches!(stopped.ended, Ended::AtEvent { .. }));
        let zero = ((1.0 - 3.0_f64.sqrt()) / 2.0).acos();
        let late = (stopped.end.t - zero).abs();
        println!("{pair:?} {tol:e}: {worst:.1e} between, {late:.1e} at the event");
        assert!(worst < 20.0 * tol && late < 20.0 * tol, "{tol:e}: {worst:.1e}, {late:.1e}");
    }
}

#[test]
fn it_agrees_with_radau_and_needs_no_jacobian() {
    let system = System::of(&Driven { coupled: true });
    for (pair, evaluations) in [(PAIRS[0], 6), (PAIRS[1], 12)] {
        let explicit = solved(&system, pair, &tolerance(1e-9));
        let problem = Problem::new(&system, Initial::new(0.0, &exact(0.0)), 5.0);
        let implicit = solve(&problem, &Auto, &tolerance(1e-9)).unwrap();
        assert!((explicit.end.x[0] - implicit.end.x[0]).abs() < 1e-7);
        let statistics = explicit.statistics;
        assert_eq!((statistics.jacobians, statistics.decompositions, statistics.newton_updates), (0, 0, 0));
        // the first stage of a step is the last of the one before
        assert_eq!(statistics.residuals, 1 + evaluations * statistics.attempts);
        assert_eq!(explicit.state(3), solved(&system, pair, &tolerance(1e-9)).state(3), "the same bits twice");
    }
}

/// x' = −y + …, 0 = y − x; with `late` the leading coefficient vanishes for t > 5.
struct Constrained {
    late: bool,
}

impl Equations for Constrained {
    fn dim(&self) -> usize {
        2
    }
    fn residual<S: Scalar>(&self, t: S, x: &[S], xdot: &[S], r: &mut [S]) {
        r[0] = xdot[0] + x[1];
        r[1] =
            x[1] - x[0] + if self.late { (t - 5.0).select(S::from(1.0), S::from(2.0)) * xdot[1] } else { S::from(0.0) };
    }
}

/// (1 1; 1 1) ẋ = …: an algebraic equation is hidden in a singular matrix of numbers, that rounding may make regular.
struct Combined;
impl Equations for Combined {
    fn dim(&self) -> usize {
        2
    }
    fn residual<S: Scalar>(&self, _: S, x: &[S], xdot: &[S], r: &mut [S]) {
        let rate = xdot[0] * 0.1 + xdot[1] * 0.3;
        r[0] = rate + x[0];
        r[1] = rate * 0.7 + x[0] * 0.7 + x[0] - x[1];
    }
}

#[test]
fn what_is_no_ordinary_differential_equation_is_refused() {
    let refused = |system: &System, x: &[f64]| {
        let problem = Problem::new(system, Initial::new(0.0, x), 1.0);
        let method = InForm { form: Form::Plain, integrator: &DormandPrince::default() };
        match solve(&problem, &method, &Options::default()) {
            Err(SolveError::Start(StartFailure::OutOfClass { method, instead, .. })) => (method, instead),
            other => panic!("{:?}", other.map(|solution| solution.end)),
        }
    };
    for late in [false, true] {
        assert_eq!(refused(&System::of(&Constrained { late }), &[1.0, 1.0]), ("dopri5", "radau"));
    }
    assert_eq!(refused(&System::of(&Combined), &[1.0, 1.0]), ("dopri5", "radau"));
}

/// x' = −1000 (x − cos t): stiff.
struct Stiff;
impl OrdinaryEquations for Stiff {
    fn dim(&self) -> usize {
        1
    }
    fn rates<S: Scalar>(&self, t: S, x: &[S], f: &mut [S]) {
        f[0] = (x[0] - t.cos()) * -1000.0;
    }
}

#[test]
fn stiffness_is_told() {
    let system = System::explicit(&Stiff);
    let problem = Problem::new(&system, Initial::new(0.0, &[1.0]), 2.0);
    for pair in PAIRS {
        let solution = solve(&problem, &DormandPrince::of(pair), &tolerance(1e-6)).unwrap();
        assert!(solution.decisions.contains("stiff"), "{}", solution.decisions);
        assert!(!solved(&System::of(&Driven { coupled: false }), pair, &tolerance(1e-6)).decisions.contains("stiff"));
    }
}

/// x' = x², which grows without bound at t = 1.
struct BlowUp;
impl OrdinaryEquations for BlowUp {
    fn dim(&self) -> usize {
        1
    }
    fn rates<S: Scalar>(&self, _: S, x: &[S], f: &mut [S]) {
        f[0] = x[0].square();
    }
    fn names(&self) -> Vec<String> {
        vec!["population".into()]
    }
}

#[test]
fn a_run_that_cannot_go_on_keeps_what_it_has() {
    let system = System::explicit(&BlowUp);
    let problem = Problem::new(&system, Initial::new(0.0, &[0.0]).fix("population", 1.0), 2.0);
    let Err(SolveError::Stopped { partial, .. }) = solve(&problem, &DormandPrince::default(), &tolerance(1e-6)) else {
        panic!("x grows without bound")
    };
    assert!((partial.end.t - 1.0).abs() < 1e-3 && partial.len() > 10 && partial.names == ["population"]);
}

#[test]
fn steps_allocate_nothing() {
    let system = System::of(&Driven { coupled: true });
    for pair in PAIRS {
        let prepared = daedal::dae::prepare(&system, &Initial::new(0.0, &exact(0.0)), Form::Plain).unwrap();
        let mut stepper = DormandPrince::of(pair).start(prepared.dae, prepared.at, &tolerance(1e-8)).unwrap();
        stepper.watch_between();
        stepper.advance(5.0).unwrap();
        let info = allocation_counter::measure(|| {
            while stepper.state().t < 5.0 {
                stepper.advance(5.0).unwrap();
            }
        });
        assert_eq!(info.count_total, 0);
    }
}
