//! Projected formulations, and GMKSSOL.

use super::problems::{Arm, Pendulum};
use daedal::formulation::{Formulated, Formulation, Selectors};
use daedal::linalg::Matrix;
use daedal::method::Control;
use daedal::method::Method;
use daedal::method::Steps;
use daedal::motion::{EquationsOfMotion, Form, Mechanism, Motion, Position, Sizes, Velocity, consistent};
use daedal::scalar::Scalar;
use daedal::{Bdf, Gmkssol, Initial, Options, Problem, RadauIIa, Save, Solution, SolveError, Tolerance, solve};

const EVERY: Selectors = Selectors::EveryJacobian;
const PROJECTED: [Formulation; 4] = [
    Formulation::Projected,
    Formulation::ProjectedBy(Selectors::EverySteps(10)),
    Formulation::ProjectedBy(Selectors::Constant),
    Formulation::ProjectedIndexOne(EVERY),
];

fn options(tolerance: f64) -> Options {
    Options { tolerance: Tolerance::new(tolerance, tolerance), ..Options::default() }
}

fn attempt<M: for<'m> Method<dyn Mechanism + 'm>>(
    mechanism: &dyn Mechanism,
    initial: Initial,
    tend: f64,
    method: &M,
    options: &Options,
) -> Result<Solution, SolveError> {
    solve(&Problem::new(mechanism, initial, tend), method, options)
}

fn run<M: for<'m> Method<dyn Mechanism + 'm>>(
    mechanism: &dyn Mechanism,
    initial: Initial,
    tend: f64,
    method: &M,
    options: &Options,
) -> Solution {
    attempt(mechanism, initial, tend, method, options).unwrap()
}

fn distance(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).fold(0.0_f64, |m, (x, y)| m.max((x - y).abs()))
}

/// Errors of p, v, λ.
fn errors(solution: &Solution, exact: &[f64; 5]) -> [f64; 3] {
    let end = solution.at_end();
    [distance(end.p, &exact[..2]), distance(end.v, &exact[2..4]), distance(end.lambda, &exact[4..])]
}

fn shown(errors: [f64; 3]) -> String {
    let [p, v, lambda] = errors;
    format!("[{p:.1e} {v:.1e} {lambda:.1e}]")
}

/// P1 that knows its energy.
struct Conservative(Pendulum);

impl EquationsOfMotion for Conservative {
    fn sizes(&self) -> Sizes {
        Sizes { invariants: 1, ..EquationsOfMotion::sizes(&self.0) }
    }
    fn mass<S: Scalar>(&self, at: &Position<S>, M: &mut Matrix<S>) {
        self.0.mass(at, M);
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        self.0.force(at, f);
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        self.0.holonomic(at, g);
    }
    fn invariant<S: Scalar>(&self, at: &Velocity<S>, e: &mut [S]) {
        e[0] = (at.v[0].square() + at.v[1].square()) * 0.5 + at.p[1] * self.0.gravity;
    }
}

/// The pendulum of section 5.3 of the thesis, m = l = 1, with its constraint written as often as there are factors.
struct Published(&'static [f64]);

impl EquationsOfMotion for Published {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 2, velocities: 2, holonomic: self.0.len(), ..Sizes::default() }
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        M[(0, 0)] = S::from(1.0);
        M[(1, 1)] = S::from(1.0);
    }
    fn force<S: Scalar>(&self, _: &Motion<S>, f: &mut [S]) {
        f[1] = S::from(-13.75);
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        for (g, factor) in g.iter_mut().zip(self.0) {
            *g = (at.p[0].square() + at.p[1].square() - 1.0) * *factor;
        }
    }
}

/// p₁ = sin t, p₂ = −cos t by two constraints, with r' = v₁.
struct Forced;

impl EquationsOfMotion for Forced {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 2, velocities: 2, holonomic: 2, ..Sizes::default() }
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        M[(0, 0)] = S::from(1.0);
        M[(1, 1)] = S::from(1.0);
    }
    fn force<S: Scalar>(&self, _: &Motion<S>, f: &mut [S]) {
        f[1] = S::from(-9.81);
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        g[0] = at.p[0] - at.t.sin();
        g[1] = at.p[1] + at.t.cos();
    }
}

/// The same with r' = v₁ r.
struct ForcedWithState;

impl EquationsOfMotion for ForcedWithState {
    fn sizes(&self) -> Sizes {
        Sizes { dynamic: 1, ..EquationsOfMotion::sizes(&Forced) }
    }
    fn mass<S: Scalar>(&self, at: &Position<S>, M: &mut Matrix<S>) {
        Forced.mass(at, M);
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        Forced.force(at, f);
    }
    fn dynamic<S: Scalar>(&self, at: &Motion<S>, b: &mut [S]) {
        b[0] = at.v[0] * at.r[0];
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        Forced.holonomic(at, g);
    }
}

/// p'' = −p, without constraints; p' = (1 + p²) v where asked for.
struct Free {
    turned: bool,
}

impl EquationsOfMotion for Free {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 1, velocities: 1, ..Sizes::default() }
    }
    fn kinematics<S: Scalar>(&self, at: &Velocity<S>, pdot: &mut [S]) {
        pdot[0] = if self.turned { (at.p[0].square() + 1.0) * at.v[0] } else { at.v[0] };
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        M[(0, 0)] = S::from(1.0);
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        f[0] = -at.p[0];
    }
}

fn keeps_its_levels(solution: &Solution, exact: &[f64; 5], tolerance: f64, most: [f64; 3], name: &str) {
    let errors = errors(solution, exact);
    let r = solution.max_residuals;
    println!("{name} {} {r:?} {}", shown(errors), solution.statistics);
    for (k, (error, most)) in errors.into_iter().zip(most).enumerate() {
        assert!(error < most, "{name}, p v λ number {k}: {error:e}");
    }
    for (level, residual) in [r.position, r.velocity, r.acceleration, r.invariant].into_iter().enumerate() {
        assert!(residual.is_none_or(|r| r < tolerance), "{name}, level {level}: {residual:?}");
    }
}

#[test]
fn projected_formulations_keep_all_levels_with_radau_and_bdf() {
    let tolerance = 1e-8;
    for formulation in PROJECTED {
        let radau = Formulated { formulation, integrator: RadauIIa::default() };
        let bdf = Formulated { formulation, integrator: Bdf::default() };
        let index_one = matches!(formulation, Formulation::ProjectedIndexOne(_));
        let of_lambda = if index_one { 100.0 } else { 1.0 };
        for (name, mechanism, initial, exact) in [
            ("P1", &Pendulum::P1 as &dyn Mechanism, Pendulum::moving(), Pendulum::AT_ONE),
            ("P2", &Arm::P2, Arm::start(), Arm::AT_ONE),
        ] {
            let solution = run(mechanism, initial.clone(), 1.0, &radau, &options(tolerance));
            let name = format!("{name} {formulation:?}");
            keeps_its_levels(&solution, &exact, tolerance, [1e-7, 1e-7, of_lambda * 1e-7], &name);
            assert_eq!(solution.max_residuals.acceleration.is_none(), index_one);
            assert!(solution.decisions.contains("ranks of velocity and position level [1, 1] of [1, 1]"));
            let solution = run(mechanism, initial, 1.0, &bdf, &options(tolerance));
            keeps_its_levels(&solution, &exact, tolerance, [1e-6, 1e-6, of_lambda * 1e-6], &format!("{name}, BDF"));
        }
    }
}

#[test]
fn invariants_are_kept_besides() {
    let formulation = Formulation::ProjectedWithInvariants(EVERY);
    let tolerance = 1e-8;
    let radau = Formulated { formulation, integrator: RadauIIa::default() };
    let bdf = Formulated { formulation, integrator: Bdf::default() };
    let P1 = Conservative(Pendulum::P1);
    let solution = run(&P1, Pendulum::moving(), 1.0, &radau, &options(tolerance));
    keeps_its_levels(&solution, &Pendulum::AT_ONE, tolerance, [1e-7; 3], "psf+i");
    assert!(solution.max_residuals.invariant.is_some());
    let solution = run(&P1, Pendulum::moving(), 1.0, &bdf, &options(tolerance));
    keeps_its_levels(&solution, &Pendulum::AT_ONE, tolerance, [1e-6; 3], "psf+i, BDF");
    // released at rest, where energy does not restrict the velocities
    let released = Conservative(Pendulum::PERIOD_TWO);
    let solution = run(&released, Pendulum::horizontal(), 20.0, &radau, &options(1e-7));
    println!("{} {:?} {}", solution.statistics, solution.max_residuals, solution.decisions);
    let error = distance(solution.at_end().p, &[1.0, 0.0]);
    assert!(error < 1e-5, "{error:e}");
    assert!(solution.max_residuals.invariant.unwrap() < 1e-7);
    // a system without invariants has none to keep
    let none = attempt(&Pendulum::P1, Pendulum::moving(), 1.0, &radau, &options(1e-6)).unwrap_err();
    assert!(none.to_string().contains("declares none"), "{none}");
}

/// Observed orders of p, v, λ between h = 1/10 and 1/20.
fn orders(mechanism: &dyn Mechanism, initial: &Initial, exact: &[f64; 5], formulation: Formulation) -> [f64; 3] {
    let integrator =
        RadauIIa { control: Control::Fixed, max_newton: 50, newton_tolerance: Some(1e-4), ..RadauIIa::default() };
    let method = Formulated { formulation, integrator };
    let at = |h: f64| {
        let options = Options { h0: Some(h), ..options(1e-12) };
        errors(&run(mechanism, initial.clone(), 1.0, &method, &options), exact)
    };
    let (coarse, fine) = (at(0.1), at(0.05));
    println!("{formulation:?} {} {}", shown(coarse), shown(fine));
    std::array::from_fn(|k| (coarse[k] / fine[k]).log2())
}

#[test]
fn projected_formulations_have_order_five_in_all_unknowns() {
    // selectors that are kept for more steps of another size are chosen elsewhere: then errors do not compare
    let formulations = [
        Formulation::Projected,
        Formulation::ProjectedBy(Selectors::EverySteps(1)),
        Formulation::ProjectedBy(Selectors::Constant),
        Formulation::ProjectedIndexOne(EVERY),
    ];
    for formulation in formulations {
        let of_lambda = if matches!(formulation, Formulation::ProjectedIndexOne(_)) { 3.0 } else { 5.0 };
        for (mechanism, initial, exact) in [
            (&Pendulum::P1 as &dyn Mechanism, Pendulum::moving(), Pendulum::AT_ONE),
            (&Arm::P2, Arm::start(), Arm::AT_ONE),
        ] {
            let [p, v, lambda] = orders(mechanism, &initial, &exact, formulation);
            println!("{formulation:?}: {p:.2} {v:.2} {lambda:.2}");
            assert!(p > 4.6 && v > 4.6 && lambda > of_lambda - 0.4, "{formulation:?}: {p} {v} {lambda}");
        }
    }
    let formulation = Formulation::ProjectedWithInvariants(EVERY);
    let [p, v, lambda] = orders(&Conservative(Pendulum::P1), &Pendulum::moving(), &Pendulum::AT_ONE, formulation);
    assert!(p > 4.6 && v > 4.6 && lambda > 4.6, "{p} {v} {lambda}");
}

fn published(system: &Published, v1: f64, selectors: Selectors) -> Result<Solution, SolveError> {
    let options = Options { h0: Some(0.01), ..options(1e-7) };
    let method = Gmkssol { selectors, ..Gmkssol::default() };
    attempt(system, Initial::motion(0.0, &[0.0, -1.0], &[v1, 0.0]), 5.0, &method, &options)
}

#[test]
fn counters_of_gmkssol_agree_with_an_independent_implementation() {
    // v₁ at the start, selectors, and accepted steps, rejections by the error test and by Newton's iteration, its increments, selectors
    let each = Selectors::EverySteps(1);
    let ten = Selectors::EverySteps(10);
    for (v1, selectors, wanted) in [
        (2.8, each, [185, 5, 0, 587, 185]),
        (2.8, ten, [189, 2, 0, 589, 19]),
        (2.8, Selectors::Constant, [203, 3, 0, 615, 1]),
        (2.9, each, [188, 1, 0, 589, 188]),
        (2.9, ten, [193, 4, 0, 610, 20]),
        (2.9, Selectors::Constant, [207, 2, 0, 626, 1]),
        (6.0, each, [303, 1, 0, 1002, 303]),
        (6.0, ten, [307, 1, 0, 1008, 31]),
    ] {
        let solution = published(&Published(&[1.0]), v1, selectors).unwrap();
        let s = solution.statistics;
        let found = [s.steps, s.rejected_error, s.rejected_newton, s.solves, s.selectors];
        println!("{v1} {selectors:?}: {found:?} for {wanted:?}, {:?}", solution.max_residuals);
        let end = solution.at_end();
        let energy = 0.5 * (end.v[0].powi(2) + end.v[1].powi(2)) + 13.75 * end.p[1] - (0.5 * v1 * v1 - 13.75);
        // 1e-7 … 6e-7 there
        assert!(energy.abs() < 6e-7, "{energy:e}");
        // 3e-9 there; selectors that are old leave more
        let position = solution.max_residuals.position.unwrap();
        assert!(position < if selectors == Selectors::Constant || v1 > 3.0 { 4e-8 } else { 4e-9 }, "{position:e}");
        // all of them are met but for an increment
        assert!(found.iter().zip(wanted).all(|(f, w)| f.abs_diff(w) <= 2), "{found:?} {wanted:?}");
    }
    // and with the constraint twice
    let s = published(&Published(&[1.0, 2.0]), 2.8, ten).unwrap().statistics;
    let found = [s.steps, s.rejected_error, s.rejected_newton, s.solves, s.selectors];
    assert!(found.iter().zip([186, 5, 0, 592, 19]).all(|(f, w)| f.abs_diff(w) <= 2), "{found:?}");
}

#[test]
fn constant_selectors_fail_where_the_tangent_has_turned_by_a_right_angle() {
    let Err(SolveError::Stopped { cause, partial }) = published(&Published(&[1.0]), 6.0, Selectors::Constant) else {
        panic!("passed the horizontal");
    };
    println!("{cause}");
    assert!((partial.end.t - 0.325).abs() < 0.01, "{}: {cause}", partial.end.t);
}

#[test]
fn multipliers_of_a_doubled_constraint_are_the_smallest() {
    let solution = published(&Published(&[1.0, 2.0]), 2.8, Selectors::EverySteps(10)).unwrap();
    let s = solution.statistics;
    println!("{s} {:?} {:?} {}", solution.at_end().lambda, solution.max_residuals, solution.decisions);
    let lambda = solution.at_end().lambda;
    assert!(distance(lambda, &[1.306026, 2.612052]) < 1e-6, "{lambda:?}");
    let single = published(&Published(&[1.0]), 2.8, Selectors::EverySteps(10)).unwrap();
    assert!(distance(single.at_end().p, solution.at_end().p) < 1e-6);
    // 2 λ₁ − λ₂ is undetermined
    assert_eq!(solution.undetermined.len(), 1);
    assert!(solution.decisions.contains("[1, 1] of [2, 2]"), "{}", solution.decisions);
    // of terms between 20 and 80
    let residuals = solution.max_residuals;
    assert!(residuals.position.unwrap() < 1e-7 && residuals.velocity.unwrap() < 1e-6, "{residuals:?}");
    assert!(residuals.acceleration.unwrap() < 4e-6, "{residuals:?}");
}

#[test]
fn a_forced_system_follows_its_constraints() {
    let start = Initial::motion(0.0, &[0.0, -1.0], &[1.0, 0.0]);
    for tolerance in [1e-4, 1e-8] {
        let options = Options { save: Save::Dense, ..options(tolerance) };
        let solution = run(&Forced, start.clone(), 10.0, &Gmkssol::default(), &options);
        println!("{} {}", solution.statistics, solution.decisions);
        let (sin, cos) = 10.0_f64.sin_cos();
        let end = solution.at_end();
        assert!(distance(end.p, &[sin, -cos]) < 1e-12 && distance(end.v, &[cos, sin]) < 1e-12);
        assert!(distance(end.lambda, &[sin, -9.81 - cos]) < 1e-10, "{:?}", end.lambda);
        // and between the points its polynomial does
        let mut x = vec![0.0; solution.layout.dim()];
        for k in 0..1000 {
            let t = 0.01 * f64::from(k);
            solution.eval(t, &mut x).unwrap();
            let error = distance(&x[solution.layout.p()], &[t.sin(), -t.cos()]);
            assert!(error < 10.0 * tolerance.powf(2.0 / 3.0), "{tolerance:e} at {t}: {error:e}");
        }
        // with a state of a force element beside
        let solution = run(&ForcedWithState, start.clone().dynamic(&[1.0]), 10.0, &Gmkssol::default(), &options);
        let error = (solution.at_end().r[0] - sin.exp()).abs();
        assert!(error < 100.0 * tolerance, "{tolerance:e}: {error:e}");
    }
}

#[test]
fn a_free_system_is_an_ordinary_equation_and_other_kinematics_are_refused() {
    let start = Initial::motion(0.0, &[1.0], &[0.0]);
    let solution = run(&Free { turned: false }, start.clone(), 10.0, &Gmkssol::default(), &options(1e-8));
    assert!((solution.at_end().p[0] - 10.0_f64.cos()).abs() < 1e-6);
    let refused = attempt(&Free { turned: true }, start, 10.0, &Gmkssol::default(), &options(1e-8)).unwrap_err();
    let SolveError::Start(why) = refused else { panic!("{refused}") };
    assert!(why.to_string().contains("derivatives of its positions are not its velocities"), "{why}");
    let never = Gmkssol { selectors: Selectors::EverySteps(0), ..Gmkssol::default() };
    let bad = attempt(&Pendulum::P1, Pendulum::moving(), 1.0, &never, &options(1e-6)).unwrap_err();
    assert!(bad.to_string().contains("one step at least"), "{bad}");
}

#[test]
fn bdf_with_fixed_steps_has_its_order_on_the_projected_form() {
    let integrator = Bdf { steps: Steps::Fixed, max_order: 2, ..Bdf::default() };
    let method = Formulated { formulation: Formulation::Projected, integrator };
    let at = |h: f64| {
        let options = Options { h0: Some(h), ..options(1e-12) };
        errors(&run(&Pendulum::P1, Pendulum::moving(), 1.0, &method, &options), &Pendulum::AT_ONE)
    };
    let (coarse, fine) = (at(0.005), at(0.0025));
    for k in 0..3 {
        let order = (coarse[k] / fine[k]).log2();
        assert!(order > 1.8, "{k}: {coarse:?} {fine:?}");
    }
}

/// What is allocated in 300 steps after the first.
fn allocations<M: for<'m> Method<dyn Mechanism + 'm>>(mechanism: &dyn Mechanism, method: &M) -> u64 {
    let initial = Initial::motion(0.0, &[0.0, -1.0], &[2.9, 0.0]);
    let start = consistent::initialise(mechanism, &initial, Form::StrangenessFree).unwrap().state;
    let mut stepper = method.start(mechanism, start, &options(1e-6)).unwrap();
    stepper.advance(1e3).unwrap();
    allocation_counter::measure(|| (0..300).for_each(|_| stepper.advance(1e3).unwrap())).count_total
}

#[test]
fn steps_of_projected_formulations_allocate_nothing() {
    for formulation in PROJECTED {
        let radau = Formulated { formulation, integrator: RadauIIa::default() };
        assert_eq!(allocations(&Published(&[1.0]), &radau), 0, "{formulation:?}");
        assert_eq!(allocations(&Published(&[1.0, 2.0]), &radau), 0, "{formulation:?}, redundant");
        let bdf = Formulated { formulation, integrator: Bdf::default() };
        assert_eq!(allocations(&Published(&[1.0]), &bdf), 0, "{formulation:?} with BDF");
    }
    let formulation = Formulation::ProjectedWithInvariants(EVERY);
    let radau = Formulated { formulation, integrator: RadauIIa::default() };
    assert_eq!(allocations(&Conservative(Pendulum::PERIOD_TWO), &radau), 0, "with invariants");
}

#[test]
fn the_catalogue_knows_gmkssol() {
    let entry = daedal::catalogue::find("gmkssol").unwrap();
    let method = entry.with(entry.usual()).unwrap();
    let solution = solve(&Problem::new(&Arm::P2, Arm::start(), 1.0), &*method, &options(1e-7)).unwrap();
    assert!(solution.decisions.contains("selectors kept for 10 steps"), "{}", solution.decisions);
    assert!(errors(&solution, &Arm::AT_ONE)[0] < 1e-6);
    assert!(entry.with(Formulation::Ggl).is_err());
}
