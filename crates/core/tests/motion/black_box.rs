//! Equations of motion as a black box, and derived quantities written by hand, against the generated ones.

use crate::support::{GRAVITY, M2, PENDULUM, SliderCrank, distance, tolerance};
use daedal::analysis::{Finding, analyse};
use daedal::formulation::{Formulation, Selectors};
use daedal::hybrid::{EnterError, Hybrid, HybridError, HybridFailure, HybridOptions, Mode};
use daedal::linalg::Matrix;
use daedal::method::Control;
use daedal::method::Decomposition;
use daedal::method::StartFailure;
use daedal::motion::{
    Acceleration, BlackBox, BlackBoxMotion, BlackBoxRows, Declared, Derivation, EquationsOfMotion, Kinematics,
    MassStructure, Mechanism, Motion, Position, Sizes, Structure, Undefined, Velocity,
};
use daedal::scalar::Scalar;
use daedal::{Geoms, Initial, Options, Problem, Solution, SolveError, StepFailure, solve};

/// The pendulum m = l = 1 in the original interface.
struct BlackPendulum;

impl BlackBox for BlackPendulum {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 2, velocities: 2, holonomic: 1, ..Sizes::default() }
    }
    fn rows(&self, at: &Motion<f64>, out: &mut BlackBoxRows) -> Result<(), Undefined> {
        let (p, v, lambda, g) = (at.p, at.v, at.lambda[0], PENDULUM.g);
        out.force[0] = -2.0 * p[0] * lambda;
        out.force[1] = -g - 2.0 * p[1] * lambda;
        out.kinematics.copy_from_slice(v);
        out.holonomic[0] = p[0] * p[0] + p[1] * p[1] - 1.0;
        out.holonomic_velocity[0] = 2.0 * (p[0] * v[0] + p[1] * v[1]);
        // absent in the s-index-1 form
        if let [g2] = out.holonomic_acceleration {
            *g2 = 2.0 * (v[0] * v[0] + v[1] * v[1] + p[0] * out.force[0] + p[1] * out.force[1]);
        }
        Ok(())
    }
    fn mass(&self, _: &Position<f64>, M: &mut Matrix) -> Result<(), Undefined> {
        M[(0, 0)] = 1.0;
        M[(1, 1)] = 1.0;
        Ok(())
    }
    fn structure(&self) -> Structure {
        Structure { mass: MassStructure::ConstantDiagonal, autonomous: true, ..Structure::unknown() }
    }
}

/// The slider crank in the original interface, with or without gII.
struct BlackCrank {
    with_acceleration_level: bool,
}

const L2: f64 = 3.0;

impl BlackBox for BlackCrank {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 2, velocities: 2, holonomic: 1, ..Sizes::default() }
    }
    fn rows(&self, at: &Motion<f64>, out: &mut BlackBoxRows) -> Result<(), Undefined> {
        let (p, v, lambda) = (at.p, at.v, at.lambda[0]);
        let s = M2 * L2 * (p[0] + p[1]).sin();
        let G = [p[0].cos(), -L2 * p[1].cos()];
        out.force[0] = -(1.0 + M2) * GRAVITY * p[0].cos() - s * v[1] * v[1] - G[0] * lambda;
        out.force[1] = M2 * GRAVITY * L2 * p[1].cos() - s * v[0] * v[0] - G[1] * lambda;
        out.kinematics.copy_from_slice(v);
        out.holonomic[0] = p[0].sin() - L2 * p[1].sin();
        out.holonomic_velocity[0] = G[0] * v[0] + G[1] * v[1];
        if self.with_acceleration_level && !out.holonomic_acceleration.is_empty() {
            // v' = M⁻¹ force
            let (a, b, d) = (1.0 + M2, -M2 * L2 * (p[0] + p[1]).cos(), M2 * L2 * L2);
            let [f0, f1] = [out.force[0], out.force[1]];
            let determinant = a * d - b * b;
            let acceleration = [(d * f0 - b * f1) / determinant, (a * f1 - b * f0) / determinant];
            out.holonomic_acceleration[0] = -p[0].sin() * v[0] * v[0]
                + L2 * p[1].sin() * v[1] * v[1]
                + G[0] * acceleration[0]
                + G[1] * acceleration[1];
        }
        Ok(())
    }
    fn mass(&self, at: &Position<f64>, M: &mut Matrix) -> Result<(), Undefined> {
        let coupling = -M2 * L2 * (at.p[0] + at.p[1]).cos();
        M[(0, 0)] = 1.0 + M2;
        M[(0, 1)] = coupling;
        M[(1, 0)] = coupling;
        M[(1, 1)] = M2 * L2 * L2;
        Ok(())
    }
}

fn run(system: &dyn Mechanism, initial: &Initial, tend: f64, method: &Geoms, tol: f64) -> Solution {
    solve(&Problem::new(system, initial.clone(), tend), method, &tolerance(tol)).unwrap()
}

/// Largest differences of p, v and λ at the end.
fn differences(a: &Solution, b: &Solution) -> [f64; 3] {
    let (a, b) = (a.at_end(), b.at_end());
    [distance(a.p, b.p), distance(a.v, b.v), distance(a.lambda, b.lambda)]
}

fn swinging() -> Initial {
    Initial::motion(0.0, &[0.0, -1.0], &[2.8, 0.0])
}

fn falling() -> Initial {
    Initial::motion(0.0, &[0.0, 0.0], &[0.0, 0.0])
}

/// λ of the slider crank at rest in the stretched position.
const RESTING: f64 = -M2 * GRAVITY;

#[test]
fn a_pendulum_in_a_black_box_moves_like_the_generated_one() {
    let method = Geoms { constraint_decomposition: Some(Decomposition::Lu), ..Geoms::default() };
    for tol in [1e-5, 1e-7, 1e-9] {
        let black = run(&BlackBoxMotion(BlackPendulum), &swinging(), 2.0, &method, tol);
        let generated = run(&PENDULUM, &swinging(), 2.0, &method, tol);
        let [p, v, lambda] = differences(&black, &generated);
        assert!(p < 100.0 * tol && v < 100.0 * tol && lambda < 1000.0 * tol, "{p:e} {v:e} {lambda:e} at {tol:e}");
        let (b, g) = (black.statistics, generated.statistics);
        assert!(b.steps.abs_diff(g.steps) <= 2 + g.steps / 20, "{b} for {g}");
        // one evaluation a column of λ, v, p in every Jacobian, counted apart
        assert_eq!(b.difference_evaluations, 5 * b.jacobians);
        assert_eq!(g.difference_evaluations, 0);
        assert!(b.residuals < 2 * g.residuals);
        // a constant mass matrix is evaluated once
        assert_eq!((b.masses, g.masses), (1, 1));
    }
}

#[test]
fn a_slider_crank_in_a_black_box_moves_like_the_generated_one() {
    for tol in [1e-5, 1e-7, 1e-9] {
        let method = Geoms { constraint_decomposition: Some(Decomposition::Lu), ..Geoms::default() };
        let black = run(&BlackBoxMotion(BlackCrank { with_acceleration_level: true }), &falling(), 2.0, &method, tol);
        let generated = run(&SliderCrank { l2: L2 }, &falling(), 2.0, &method, tol);
        let [p, v, lambda] = differences(&black, &generated);
        assert!(p < 100.0 * tol && v < 100.0 * tol && lambda < 1000.0 * tol, "{p:e} {v:e} {lambda:e} at {tol:e}");
        assert_eq!(black.statistics.difference_evaluations, 5 * black.statistics.jacobians);
        assert!(black.statistics.masses > black.statistics.residuals);
    }
}

#[test]
fn a_multiplier_that_nothing_determines_is_asked_for() {
    let black = BlackBoxMotion(BlackCrank { with_acceleration_level: false });
    let method = Geoms { formulation: Formulation::ProjectedIndexOne(Selectors::default()), ..Geoms::default() };
    let problem = Problem::new(&black, falling(), 2.0);
    let error = solve(&problem, &method, &tolerance(1e-6)).unwrap_err();
    let message = std::error::Error::source(&error).expect("a cause").to_string();
    assert!(message.contains("nothing fixes lambda1; give 1 more value"), "{message}");
}

#[test]
fn the_index_one_form_needs_no_acceleration_level() {
    let method = Geoms { formulation: Formulation::ProjectedIndexOne(Selectors::default()), ..Geoms::default() };
    // the multiplier must be given where gII is not
    let start = falling().multipliers(&[RESTING], &[]);
    for tol in [1e-5, 1e-7] {
        let black = run(&BlackBoxMotion(BlackCrank { with_acceleration_level: false }), &start, 2.0, &method, tol);
        let generated = run(&SliderCrank { l2: L2 }, &start, 2.0, &method, tol);
        let exact = run(&SliderCrank { l2: L2 }, &start, 2.0, &Geoms::default(), 1e-11);
        let [p, v, _] = differences(&black, &generated);
        assert!(p < 100.0 * tol && v < 100.0 * tol, "{p:e} {v:e} at {tol:e}");
        let [p, v, _] = differences(&black, &exact);
        assert!(p < 100.0 * tol && v < 100.0 * tol, "{p:e} {v:e} at {tol:e}");
        assert_eq!(black.max_residuals.acceleration, None);
        assert!(black.max_residuals.position.unwrap() < 1e-6);
    }
}

#[test]
fn a_black_box_may_have_no_value() {
    struct Short;
    impl BlackBox for Short {
        fn sizes(&self) -> Sizes {
            Sizes { positions: 1, velocities: 1, ..Sizes::default() }
        }
        fn rows(&self, at: &Motion<f64>, out: &mut BlackBoxRows) -> Result<(), Undefined> {
            out.force[0] = 1.0;
            out.kinematics[0] = at.v[0];
            if at.t > 1.0 { Err(Undefined) } else { Ok(()) }
        }
        fn mass(&self, _: &Position<f64>, M: &mut Matrix) -> Result<(), Undefined> {
            M[(0, 0)] = 1.0;
            Ok(())
        }
    }
    let short = BlackBoxMotion(Short);
    let problem = Problem::new(&short, Initial::motion(0.0, &[0.0], &[0.0]), 2.0);
    let error = solve(&problem, &Geoms::default(), &tolerance(1e-6)).unwrap_err();
    let SolveError::Stopped { cause, partial } = error else { panic!("{error:?}") };
    assert!(matches!(cause, StepFailure::NewtonFailed { .. } | StepFailure::StepTooSmall { .. }), "{cause:?}");
    let t = cause.time();
    assert!(t > 0.9 && t <= 1.0 && partial.end_time() == t);
    assert!((partial.at_end().p[0] - 0.5 * t * t).abs() < 1e-10);
}

/// An oscillator on a rail, with one thing that is not as it is usually.
struct Rail {
    odd: Option<Odd>,
    structure: Structure,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Odd {
    MassChanges,
    /// far from the start only
    MassChangesFarAway,
    MassIsCoupled,
    KinematicsAreAffine,
    KinematicsAreNot,
    TimeEnters,
    TimeEntersTheMass,
    MultiplierEnters,
    MultiplierEntersTheRate,
}

impl BlackBox for Rail {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 2, velocities: 2, dynamic: 1, holonomic: 1, ..Sizes::default() }
    }
    fn rows(&self, at: &Motion<f64>, out: &mut BlackBoxRows) -> Result<(), Undefined> {
        let is = |odd: Odd, value: f64| if self.odd == Some(odd) { value } else { 0.0 };
        let lambda = at.lambda[0];
        out.force[0] = -at.p[0] + at.r[0] + is(Odd::TimeEnters, 0.1 * at.t) + is(Odd::MultiplierEnters, 0.3 * lambda);
        out.force[1] = -2.0 - lambda;
        out.dynamic[0] = -at.r[0] + is(Odd::MultiplierEntersTheRate, 0.1 * lambda);
        let stretched = is(Odd::KinematicsAreAffine, 0.1 * at.p[0]) + is(Odd::KinematicsAreNot, 0.1 * at.p[0].powi(2));
        out.kinematics.copy_from_slice(&[at.v[0] * (1.0 + stretched), at.v[1]]);
        out.holonomic[0] = at.p[1];
        out.holonomic_velocity[0] = at.v[1];
        out.holonomic_acceleration.iter_mut().for_each(|g2| *g2 = out.force[1]);
        Ok(())
    }
    fn mass(&self, at: &Position<f64>, M: &mut Matrix) -> Result<(), Undefined> {
        let is = |odd: Odd, value: f64| if self.odd == Some(odd) { value } else { 0.0 };
        let far = if (at.p[0] - 1.0).abs() > 0.5 { 0.5 } else { 0.0 };
        M[(0, 0)] = 1.0 + is(Odd::MassChanges, 0.1 * at.p[0]) + is(Odd::MassChangesFarAway, far);
        M[(0, 0)] += is(Odd::TimeEntersTheMass, 0.1 * at.t);
        M[(1, 1)] = 1.0;
        M[(0, 1)] = is(Odd::MassIsCoupled, 0.2);
        M[(1, 0)] = M[(0, 1)];
        Ok(())
    }
    fn structure(&self) -> Structure {
        self.structure
    }
}

#[test]
fn a_wrong_declaration_is_named_with_its_numbers_and_refused() {
    let nothing = Structure::unknown();
    let mass = |mass| Structure { mass, ..nothing };
    let kinematics = |kinematics| Structure { kinematics, ..nothing };
    let (autonomous, multipliers) =
        (Structure { autonomous: true, ..nothing }, Structure { multipliers_in_forces: false, ..nothing });
    let initial = Initial::motion(0.0, &[1.0, 0.0], &[0.5, 0.0]).dynamic(&[0.2]);
    for (odd, structure, wrong, entry) in [
        (Odd::MassChanges, mass(MassStructure::ConstantFull), Declared::ConstantMass, "M[v1, v1]"),
        (Odd::MassChanges, mass(MassStructure::ConstantDiagonal), Declared::ConstantMass, "M[v1, v1]"),
        (Odd::MassChangesFarAway, mass(MassStructure::ConstantFull), Declared::ConstantMass, "M[v1, v1]"),
        (Odd::MassIsCoupled, mass(MassStructure::Diagonal), Declared::DiagonalMass, "M[v"),
        (Odd::KinematicsAreAffine, kinematics(Kinematics::Plain), Declared::PlainKinematics, "the rate of p1"),
        (Odd::KinematicsAreNot, kinematics(Kinematics::Affine), Declared::AffineKinematics, "the rate of p1"),
        (Odd::TimeEnters, autonomous, Declared::Autonomous, "the dynamic equation of v1"),
        (Odd::TimeEntersTheMass, autonomous, Declared::Autonomous, ""),
        (Odd::MultiplierEnters, multipliers, Declared::NoMultipliersInForces, "the dynamic equation of v1"),
        (Odd::MultiplierEntersTheRate, multipliers, Declared::NoMultipliersInForces, "the rate of r1"),
    ] {
        let rail = BlackBoxMotion(Rail { odd: Some(odd), structure });
        let found = analyse(&rail, &initial, 2.0).unwrap();
        let wrongs: Vec<_> = found.findings.iter().filter(|f| f.code() == "wrong_declaration").collect();
        let [Finding::WrongDeclaration { wrong: told }] = wrongs[..] else { panic!("{odd:?}: {wrongs:?}") };
        assert!(told.declared == wrong && told.entry.starts_with(entry), "{odd:?}: {told}");
        assert!((told.found - told.told).abs() > 1e-9 && !found.is_possible(), "{told}");
        // a run is refused by the start and a point beside it
        let run = solve(&Problem::new(&rail, initial.clone(), 2.0), &Geoms::default(), &tolerance(1e-6));
        match run {
            Err(SolveError::Start(StartFailure::Declaration(told))) => assert_eq!(told.declared, wrong),
            Ok(_) if odd == Odd::MassChangesFarAway => {}
            other => panic!("{odd:?}: {:?}", other.err()),
        }
        // so is one in a mode
        let mut system = Hybrid::new();
        system.mode(Mode::motion("rail", BlackBoxMotion(Rail { odd: Some(odd), structure }), Geoms::default()));
        let start = Initial::default().guess("p1", 1.0).guess("p2", 0.0).guess("v1", 0.5).guess("v2", 0.0);
        let problem = Problem::new(&system, start.guess("r1", 0.2), 2.0);
        match solve(&problem, &HybridOptions::default(), &tolerance(1e-6)) {
            Err(HybridError::Stopped { cause, .. }) => {
                let HybridFailure::Enter { cause, .. } = *cause else { panic!("{odd:?}: {cause}") };
                let EnterError::Start(StartFailure::Declaration(told)) = *cause else { panic!("{odd:?}: {cause}") };
                assert_eq!(told.declared, wrong);
            }
            Ok(_) if odd == Odd::MassChangesFarAway => {}
            other => panic!("{odd:?}: {:?}", other.err()),
        }
        // what declares nothing is right
        let modest = BlackBoxMotion(Rail { odd: Some(odd), structure: nothing });
        assert!(analyse(&modest, &initial, 2.0).unwrap().findings.iter().all(|f| f.code() != "wrong_declaration"));
        solve(&Problem::new(&modest, initial.clone(), 0.5), &Geoms::default(), &tolerance(1e-6)).unwrap();
    }
}

#[test]
fn a_right_declaration_passes_and_changes_no_result() {
    let all = Structure {
        mass: MassStructure::ConstantDiagonal,
        kinematics: Kinematics::Plain,
        autonomous: true,
        multipliers_in_forces: false,
        ..Structure::unknown()
    };
    let initial = Initial::motion(0.0, &[1.0, 0.0], &[0.5, 0.0]).dynamic(&[0.2]);
    let affine = Structure { kinematics: Kinematics::Affine, ..all };
    let runs = [
        (None, all),
        (None, affine),
        (Some(Odd::KinematicsAreAffine), affine),
        (None, Structure::unknown()),
        (Some(Odd::KinematicsAreAffine), Structure::unknown()),
    ]
    .map(|(odd, structure)| {
        let rail = BlackBoxMotion(Rail { odd, structure });
        let found = analyse(&rail, &initial, 2.0).unwrap();
        assert!(found.findings.is_empty(), "{:?}", found.findings);
        // the interface of a black box is no matter of declaration
        let structure = rail.structure();
        assert!(structure.black_box && structure.acceleration_level_by_hand && structure.constraint_force_by_hand);
        run(&rail, &initial, 2.0, &Geoms::default(), 1e-8)
    });
    let [declared, as_affine, stretched, silent, silently_stretched] = &runs;
    for (one, other) in [(declared, silent), (as_affine, silent), (stretched, silently_stretched)] {
        assert!(differences(one, other).iter().all(|d| *d < 1e-12), "{:?}", differences(one, other));
    }
    // methods that need M, f and the constraints one by one say why they do not take it
    let rail = BlackBoxMotion(Rail { odd: None, structure: all });
    let hedop5 = daedal::catalogue::find("hedop5").unwrap();
    let method = hedop5.with(hedop5.usual()).unwrap();
    let error = solve(&Problem::new(&rail, initial, 1.0), &*method, &tolerance(1e-6)).unwrap_err();
    assert!(std::error::Error::source(&error).unwrap().to_string().contains("black box"), "{error}");
}

/// Which quantities are written by hand.
#[derive(Clone, Copy, Debug)]
struct ByHand {
    force: bool,
    velocity: bool,
    acceleration: bool,
}

impl ByHand {
    /// All eight combinations.
    fn all() -> Vec<ByHand> {
        let one = |k: u8| ByHand { force: k & 1 != 0, velocity: k & 2 != 0, acceleration: k & 4 != 0 };
        (0..8).map(one).collect()
    }
}

fn derivation(by_hand: bool) -> Derivation {
    if by_hand { Derivation::ByHand } else { Derivation::Generated }
}

/// The pendulum with derived quantities by hand.
struct HandPendulum(ByHand);

impl EquationsOfMotion for HandPendulum {
    fn sizes(&self) -> Sizes {
        EquationsOfMotion::sizes(&PENDULUM)
    }
    fn mass<S: Scalar>(&self, at: &Position<S>, M: &mut Matrix<S>) {
        EquationsOfMotion::mass(&PENDULUM, at, M);
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        PENDULUM.force(at, f);
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        PENDULUM.holonomic(at, g);
    }
    fn constraint_force<S: Scalar>(&self, at: &Motion<S>, force: &mut [S]) -> Derivation {
        if self.0.force {
            force[0] = at.p[0] * at.lambda[0] * 2.0;
            force[1] = at.p[1] * at.lambda[0] * 2.0;
        }
        derivation(self.0.force)
    }
    fn holonomic_velocity<S: Scalar>(&self, at: &Velocity<S>, g1: &mut [S]) -> Derivation {
        if self.0.velocity {
            g1[0] = (at.p[0] * at.v[0] + at.p[1] * at.v[1]) * 2.0;
        }
        derivation(self.0.velocity)
    }
    fn holonomic_acceleration<S: Scalar>(&self, at: &Acceleration<S>, g2: &mut [S]) -> Derivation {
        if self.0.acceleration {
            let (p, v, a) = (at.at.p, at.at.v, at.a);
            g2[0] = (v[0].square() + v[1].square() + p[0] * a[0] + p[1] * a[1]) * 2.0;
        }
        derivation(self.0.acceleration)
    }
}

/// The slider crank with derived quantities by hand.
struct HandCrank(ByHand);

const CRANK: SliderCrank = SliderCrank { l2: L2 };

impl EquationsOfMotion for HandCrank {
    fn sizes(&self) -> Sizes {
        EquationsOfMotion::sizes(&CRANK)
    }
    fn mass<S: Scalar>(&self, at: &Position<S>, M: &mut Matrix<S>) {
        EquationsOfMotion::mass(&CRANK, at, M);
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        CRANK.force(at, f);
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        CRANK.holonomic(at, g);
    }
    fn constraint_force<S: Scalar>(&self, at: &Motion<S>, force: &mut [S]) -> Derivation {
        if self.0.force {
            force[0] = at.p[0].cos() * at.lambda[0];
            force[1] = at.p[1].cos() * at.lambda[0] * -L2;
        }
        derivation(self.0.force)
    }
    fn holonomic_velocity<S: Scalar>(&self, at: &Velocity<S>, g1: &mut [S]) -> Derivation {
        if self.0.velocity {
            g1[0] = at.p[0].cos() * at.v[0] - at.p[1].cos() * at.v[1] * L2;
        }
        derivation(self.0.velocity)
    }
    fn holonomic_acceleration<S: Scalar>(&self, at: &Acceleration<S>, g2: &mut [S]) -> Derivation {
        if self.0.acceleration {
            let (p, v, a) = (at.at.p, at.at.v, at.a);
            g2[0] = p[0].cos() * a[0] - p[0].sin() * v[0].square() - p[1].cos() * a[1] * L2
                + p[1].sin() * v[1].square() * L2;
        }
        derivation(self.0.acceleration)
    }
}

/// Do two runs make the same steps through the same states?
#[track_caller]
fn same_run(a: &Solution, b: &Solution, what: &str) {
    assert_eq!(a.statistics.steps, b.statistics.steps, "{what}: {} for {}", a.statistics, b.statistics);
    assert_eq!(a.statistics.solves, b.statistics.solves, "{what}");
    assert!(distance(&a.times, &b.times) < 1e-9, "{what}: times differ by {:e}", distance(&a.times, &b.times));
    for k in 0..a.len() {
        let d = distance(a.state(k), b.state(k));
        assert!(d < 1e-9 * (1.0 + a.motion(k).lambda[0].abs()), "{what}: {d:e} at t = {}", a.times[k]);
    }
}

#[test]
fn a_pendulum_by_hand_makes_the_generated_run() {
    let method = Geoms::default();
    let by_hand = |force, velocity, acceleration| {
        let model = HandPendulum(ByHand { force, velocity, acceleration });
        let structure = Mechanism::structure(&model);
        assert_eq!((structure.constraint_force_by_hand, structure.acceleration_level_by_hand), (force, acceleration));
        run(&model, &swinging(), 1.0, &method, 1e-8)
    };
    let generated = run(&PENDULUM, &swinging(), 1.0, &method, 1e-8);
    same_run(&by_hand(false, false, false), &generated, "nothing");
    same_run(&by_hand(false, true, false), &generated, "gI");
    // where M is constant, rows are generated at a − M⁻¹ρ but written by hand at a: other iterates on the way to the same stages
    let forces = by_hand(true, false, false);
    assert!(forces.statistics.steps.abs_diff(generated.statistics.steps) <= 2);
    assert!(differences(&forces, &generated).iter().all(|d| *d < 1e-6));
    same_run(&by_hand(true, true, false), &forces, "force, gI");
    same_run(&by_hand(true, true, true), &forces, "force, gI, gII");
    same_run(&by_hand(false, false, true), &forces, "gII");
    same_run(&by_hand(false, true, true), &forces, "gI, gII");
}

#[test]
fn fixed_steps_by_hand_are_those_of_the_generated_equations() {
    let method = Geoms { control: Control::Fixed, newton_tolerance: Some(1e-8), ..Geoms::default() };
    let options = Options { h0: Some(0.01), ..tolerance(1e-8) };
    let run = |system: &dyn Mechanism, initial: Initial| {
        solve(&Problem::new(system, initial, 1.0), &method, &options).unwrap()
    };
    let (pendulum, crank) = (run(&PENDULUM, swinging()), run(&CRANK, falling()));
    for by_hand in ByHand::all() {
        for (hand, generated) in
            [(run(&HandPendulum(by_hand), swinging()), &pendulum), (run(&HandCrank(by_hand), falling()), &crank)]
        {
            assert_eq!(hand.len(), generated.len());
            for k in 0..hand.len() {
                assert!(distance(hand.state(k), generated.state(k)) < 1e-9, "{by_hand:?} at t = {}", hand.times[k]);
            }
        }
    }
}

#[test]
fn a_slider_crank_by_hand_makes_the_generated_run() {
    let generated = run(&CRANK, &falling(), 1.0, &Geoms::default(), 1e-8);
    for by_hand in ByHand::all() {
        same_run(
            &run(&HandCrank(by_hand), &falling(), 1.0, &Geoms::default(), 1e-8),
            &generated,
            &format!("{by_hand:?}"),
        );
    }
}
