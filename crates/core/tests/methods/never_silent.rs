//! What no method may do without a word: take a branch of a formula for the whole, pass a singular configuration, enforce a false invariant.

use daedal::formulation::Formulation;
use daedal::linalg::Matrix;
use daedal::method::StartFailure;
use daedal::motion::{Compiled, EquationsOfMotion, Formulas, Kinematics, Mechanism, Motion, Position, Sizes, Velocity};
use daedal::scalar::Scalar;
use daedal::{Initial, catalogue};
use daedal::{Options, Problem, Save, Solution, SolveError, StepFailure, Tolerance, solve};

/// Every method in its usual formulation.
fn run(name: &str, mechanism: &dyn Mechanism, initial: &Initial, tend: f64, tol: f64) -> Result<Solution, SolveError> {
    let entry = catalogue::find(name).unwrap();
    let method = entry.with(entry.usual()).unwrap();
    let options = Options { tolerance: Tolerance::new(tol, tol), save: Save::End, ..Options::default() };
    solve(&Problem::new(mechanism, initial.clone(), tend), &*method, &options)
}

fn unit_mass<S: Scalar>(M: &mut Matrix<S>) {
    (0..M.rows()).for_each(|i| M[(i, i)] = S::from(1.0));
}

/// A double pendulum whose second rod is written in another unit.
struct OtherUnit(f64);

impl EquationsOfMotion for OtherUnit {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 4, velocities: 4, holonomic: 2, ..Sizes::default() }
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        unit_mass(M);
    }
    fn force<S: Scalar>(&self, _: &Motion<S>, f: &mut [S]) {
        (f[1], f[3]) = (S::from(-9.81), S::from(-9.81));
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        let p = at.p;
        g[0] = p[0].square() + p[1].square() - 1.0;
        g[1] = ((p[2] - p[0]).square() + (p[3] - p[1]).square() - 1.0) * self.0;
    }
}

#[test]
fn a_constraint_in_a_small_unit_is_not_left_out_as_redundant() {
    let initial = Initial::motion(0.0, &[1.0, 0.0, 2.0, 0.0], &[0.0; 4]);
    let tight = run("geoms", &OtherUnit(1.0), &initial, 1.0, 1e-11).unwrap();
    for unit in [1e-9, 1e9] {
        for entry in catalogue::all().iter().filter(|entry| matches!(entry.name, "geoms" | "gmkssol" | "radau" | "bdf"))
        {
            for formulation in Formulation::ALL.into_iter().filter(|known| entry.formulations.contains(&known.name())) {
                if !matches!(formulation.name(), "psf" | "p1" | "ggl" | "over") {
                    continue;
                }
                let method = entry.with(formulation).unwrap();
                let options = Options { tolerance: Tolerance::new(1e-7, 1e-7), ..Options::default() };
                let way = format!("{} {} in units of {unit:e}", entry.name, formulation.name());
                // a stop is an answer where multipliers of 1e9 are lost in rounding, another motion is none
                let mechanism = OtherUnit(unit);
                let Ok(solution) = solve(&Problem::new(&mechanism, initial.clone(), 1.0), &*method, &options) else {
                    assert!(entry.name == "geoms" || formulation.name() != "psf", "{way} stops");
                    continue;
                };
                let error =
                    solution.at_end().p.iter().zip(tight.at_end().p).fold(0.0_f64, |e, (p, q)| e.max((p - q).abs()));
                assert!(error < 1e-5, "{way}: {error:e}");
            }
        }
    }
}

/// x' = v, and twice as fast from x = 5 on.
struct LateGear;

impl EquationsOfMotion for LateGear {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 1, velocities: 1, ..Sizes::default() }
    }
    fn kinematics<S: Scalar>(&self, at: &Velocity<S>, rate: &mut [S]) {
        rate[0] = (at.p[0] - 5.0).select(at.v[0] * 2.0, at.v[0]);
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        unit_mass(M);
    }
    fn force<S: Scalar>(&self, _: &Motion<S>, _: &mut [S]) {}
}

#[test]
fn kinematics_that_change_late_are_not_taken_for_velocities() {
    let compiled = Compiled::new(&Formulas::trace(&LateGear), daedal::graph::Interpreted);
    for mechanism in [&LateGear as &dyn Mechanism, &compiled] {
        assert_eq!(mechanism.structure().kinematics, Kinematics::General);
        let initial = Initial::motion(0.0, &[0.0], &[1.0]);
        for name in ["rattle", "lobatto", "partition", "tangent", "gmkssol"] {
            match run(name, mechanism, &initial, 10.0, 1e-7) {
                Err(SolveError::Start(StartFailure::OutOfClass { why, .. })) => {
                    assert!(why.contains("velocities"), "{name}: {why}");
                }
                other => panic!("{name}: {other:?}"),
            }
        }
        for name in ["alpha", "geoms", "radau", "bdf", "hem4", "hedop5", "dopri5", "dop853"] {
            let x = run(name, mechanism, &initial, 10.0, 1e-7).unwrap().at_end().p[0];
            // alpha has steps of one size, one of which the jump lies in
            let enough = if name == "alpha" { 0.6 } else { 1e-4 };
            assert!((x - 15.0).abs() < enough, "{name}: {x}");
        }
    }
}

/// Beads on lemniscates, all of which reach the crossing at the same time.
struct Lemniscates(usize);

/// When they do: a quarter of the length of a lemniscate of unit size, ∫₀¹ dx/√(1 − x⁴).
const CROSSING: f64 = 1.311_028_777_146_06;

impl EquationsOfMotion for Lemniscates {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 2 * self.0, velocities: 2 * self.0, holonomic: self.0, ..Sizes::default() }
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        unit_mass(M);
    }
    fn force<S: Scalar>(&self, _: &Motion<S>, _: &mut [S]) {}
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        for (g, p) in g.iter_mut().zip(at.p.chunks_exact(2)) {
            *g = (p[0].square() + p[1].square()).square() - p[0].square() + p[1].square();
        }
    }
}

fn stops_at(name: &str, result: Result<Solution, SolveError>, time: f64, enough: f64) {
    let Err(SolveError::Stopped { cause, .. }) = result else { panic!("{name} passes: {result:?}") };
    assert!((cause.time() - time).abs() < enough, "{name}: {cause}");
    let told = cause.to_string();
    assert!(told.contains("rank") && told.contains("singular"), "{name}: {told}");
}

#[test]
fn singular_configurations_stop_every_method_however_many_constraints_lose_rank() {
    for beads in [1, 2, 3, 4] {
        let initial = Initial::motion(0.0, &[1.0, 0.0].repeat(beads), &[0.0, 1.0].repeat(beads));
        // with eom0 and no projection a motion drifts around the point
        for entry in catalogue::all().iter().filter(|entry| entry.name != "rodas") {
            for tol in [1e-3, 1e-7] {
                let stopped = run(entry.name, &Lemniscates(beads), &initial, 2.0, tol);
                stops_at(&format!("{} with {beads} beads at {tol:e}", entry.name), stopped, CROSSING, 0.05);
            }
        }
    }
}

/// The same with every constraint stated twice.
struct Doubled(Lemniscates);

impl EquationsOfMotion for Doubled {
    fn sizes(&self) -> Sizes {
        Sizes { holonomic: 2 * self.0.0, ..EquationsOfMotion::sizes(&self.0) }
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        unit_mass(M);
    }
    fn force<S: Scalar>(&self, _: &Motion<S>, _: &mut [S]) {}
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        let (first, second) = g.split_at_mut(self.0.0);
        self.0.holonomic(at, first);
        second.iter_mut().zip(first).for_each(|(again, g)| *again = *g * 3.0);
    }
}

#[test]
fn redundant_constraints_hide_no_singular_configuration() {
    for beads in [1, 2] {
        let initial = Initial::motion(0.0, &[1.0, 0.0].repeat(beads), &[0.0, 1.0].repeat(beads));
        for name in ["geoms", "gmkssol", "radau", "bdf"] {
            for tol in [1e-2, 1e-3, 1e-7] {
                let stopped = run(name, &Doubled(Lemniscates(beads)), &initial, 2.0, tol);
                stops_at(&format!("{name} with {beads} beads at {tol:e}"), stopped, CROSSING, 0.1);
            }
        }
    }
}

/// Two unit cranks at distance 2 with a coupler of length 2: in line, they may go on as a parallelogram or crossed.
struct Parallelogram;

impl EquationsOfMotion for Parallelogram {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 4, velocities: 4, holonomic: 3, ..Sizes::default() }
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        unit_mass(M);
    }
    fn force<S: Scalar>(&self, _: &Motion<S>, f: &mut [S]) {
        f[1] = S::from(-1.0);
        f[3] = S::from(-1.0);
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        let p = at.p;
        g[0] = p[0].square() + p[1].square() - 1.0;
        g[1] = (p[2] - 2.0).square() + p[3].square() - 1.0;
        g[2] = (p[2] - p[0]).square() + (p[3] - p[1]).square() - 4.0;
    }
}

#[test]
fn the_first_change_point_of_a_parallelogram_stops_every_method() {
    let initial = Initial::motion(0.0, &[0.0, 1.0, 2.0, 1.0], &[1.0, 0.0, 1.0, 0.0]);
    for entry in catalogue::all() {
        let stopped = run(entry.name, &Parallelogram, &initial, 6.0, 1e-6);
        stops_at(entry.name, stopped, 1.2536, 0.02);
    }
}

/// A top on unit quaternions, with its norm as an invariant or as a constraint.
struct Top {
    constraint: bool,
    invariant: bool,
}

impl EquationsOfMotion for Top {
    fn sizes(&self) -> Sizes {
        let (holonomic, invariants) = (usize::from(self.constraint), usize::from(self.invariant));
        Sizes { positions: 4, velocities: 3, holonomic, invariants, ..Sizes::default() }
    }
    fn kinematics<S: Scalar>(&self, at: &Velocity<S>, rate: &mut [S]) {
        let (q, w) = (at.p, at.v);
        rate[0] = -(q[1] * w[0] + q[2] * w[1] + q[3] * w[2]) * 0.5;
        rate[1] = (q[0] * w[0] + q[2] * w[2] - q[3] * w[1]) * 0.5;
        rate[2] = (q[0] * w[1] + q[3] * w[0] - q[1] * w[2]) * 0.5;
        rate[3] = (q[0] * w[2] + q[1] * w[1] - q[2] * w[0]) * 0.5;
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        [1.0, 1.0, 0.5].into_iter().enumerate().for_each(|(i, m)| M[(i, i)] = S::from(m));
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        let (q, w) = (at.p, at.v);
        f[0] = w[1] * w[2] * 0.5 + (q[2] * q[3] + q[0] * q[1]) * 19.62;
        f[1] = -w[2] * w[0] * 0.5 - (q[1] * q[3] - q[0] * q[2]) * 19.62;
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        if self.constraint {
            g[0] = at.p.iter().fold(S::from(-1.0), |sum, q| sum + q.square());
        }
    }
    fn invariant<S: Scalar>(&self, at: &Velocity<S>, e: &mut [S]) {
        if self.invariant {
            e[0] = at.p.iter().fold(S::from(0.0), |sum, q| sum + q.square());
        }
    }
}

#[test]
fn norms_of_quaternions_are_kept_as_invariants_and_as_constraints() {
    use daedal::analysis::{analyse, choose};
    use daedal::motion::Form;
    use daedal::motion::consistent::initialise;
    let initial = Initial::motion(0.0, &[0.96, 0.28, 0.0, 0.0], &[0.0, 0.0, 20.0]);
    let plain = run("hem5", &Top { constraint: false, invariant: false }, &initial, 2.0, 1e-10).unwrap().end.x;
    for (constraint, invariant) in [(false, false), (true, false), (false, true)] {
        let top = Top { constraint, invariant };
        let compiled = Compiled::new(&Formulas::trace(&top), daedal::graph::Interpreted);
        for mechanism in [&top as &dyn Mechanism, &compiled] {
            let found = analyse(mechanism, &initial, 2.0).unwrap();
            assert!(found.is_possible(), "{:?}", found.findings);
            assert_eq!(found.findings.iter().any(|f| f.code() == "implied"), constraint, "{:?}", found.findings);
            let start = initialise(mechanism, &initial, Form::StrangenessFree).unwrap().state;
            let choice = choose(mechanism, &start, 2.0);
            assert!(
                !choice.reasons.iter().any(|why| why.contains("not kept") || why.contains("redundant")),
                "{choice:?}"
            );
            let method = catalogue::find(choice.method).unwrap().with(choice.formulation).unwrap();
            let options = Options { tolerance: Tolerance::new(1e-9, 1e-9), ..Options::default() };
            let solution = solve(&Problem::new(mechanism, initial.clone(), 2.0), &*method, &options).unwrap();
            let p = solution.at_end().p;
            let norm: f64 = p.iter().map(|q| q * q).sum::<f64>() - 1.0;
            println!("{constraint} {invariant} {} {norm:.1e}", choice.method);
            assert!(norm.abs() < if constraint || invariant { 1e-12 } else { 1e-7 }, "{norm:e}");
            let expected = &plain[plain.len() - 4..];
            p.iter().zip(expected).for_each(|(p, q)| assert!((p - q).abs() < 1e-6, "{p} {q}"));
            assert!(solution.at_end().lambda.iter().all(|l| *l == 0.0));
        }
    }
    // guesses that are off are brought to norm one by the constraint only
    let off = Initial::motion(0.0, &[0.97, 0.28, 0.0, 0.0], &[0.0, 0.0, 20.0]);
    let start = initialise(&Top { constraint: true, invariant: false }, &off, Form::StrangenessFree).unwrap().state;
    let norm: f64 = start.x[start.x.len() - 4..].iter().map(|q| q * q).sum();
    assert!((norm - 1.0).abs() < 1e-14);
    // a method for independent constraints says what this one is
    let told = run("hedop5", &Top { constraint: true, invariant: false }, &initial, 2.0, 1e-7).unwrap_err();
    let SolveError::Start(told) = told else { panic!("{told:?}") };
    assert!(told.to_string().contains("the kinematics keep") && told.to_string().contains("invariant"), "{told}");
}

/// A pendulum with damping, its energy stated as an invariant.
struct Damped(f64);

impl EquationsOfMotion for Damped {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 2, velocities: 2, holonomic: 1, invariants: 1, ..Sizes::default() }
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        unit_mass(M);
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        f[0] = at.v[0] * -self.0;
        f[1] = at.v[1] * -self.0 - 9.81;
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        g[0] = at.p[0].square() + at.p[1].square() - 1.0;
    }
    fn invariant<S: Scalar>(&self, at: &Velocity<S>, e: &mut [S]) {
        e[0] = (at.v[0].square() + at.v[1].square()) * 0.5 + at.p[1] * 9.81;
    }
}

#[test]
fn false_invariants_stop_a_run_that_would_keep_them() {
    let moving = Initial::motion(0.0, &[0.6, -0.8], &[0.8, 0.6]);
    let resting = Initial::motion(0.0, &[0.6, -0.8], &[0.0, 0.0]);
    for name in ["geoms", "radau", "bdf"] {
        let entry = catalogue::find(name).unwrap();
        let form = daedal::formulation::Formulation::ProjectedWithInvariants(daedal::formulation::Selectors::default());
        let method = entry.with(form).unwrap();
        for tol in [1e-3, 1e-7] {
            let options = Options { tolerance: Tolerance::new(tol, tol), save: Save::End, ..Options::default() };
            // it shows at the start
            let result = solve(&Problem::new(&Damped(0.5), moving.clone(), 5.0), &*method, &options);
            let Err(SolveError::Stopped { cause, .. }) = result else { panic!("{name}: {result:?}") };
            assert!(matches!(cause, StepFailure::FalseInvariant { t: 0.0, .. }), "{name}: {cause}");
            assert!(cause.to_string().contains("is not invariant"), "{cause}");
            // it shows on the way
            let result = solve(&Problem::new(&Damped(0.5), resting.clone(), 5.0), &*method, &options);
            let Err(SolveError::Stopped { cause, .. }) = result else { panic!("{name} at {tol:e}: {result:?}") };
            assert!(matches!(cause, StepFailure::FalseInvariant { t, .. } if t < 1.5), "{name} at {tol:e}: {cause}");
            // nothing is said of one that is true
            for start in [&moving, &resting] {
                solve(&Problem::new(&Damped(0.0), start.clone(), 5.0), &*method, &options).unwrap();
            }
        }
    }
}

/// Two coordinates tied to each other, all mass on the first: M is singular, [M Gᵀ; G 0] is not.
struct Slaved;

impl EquationsOfMotion for Slaved {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 2, velocities: 2, holonomic: 1, ..Sizes::default() }
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        M[(0, 0)] = S::from(1.0);
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        f[0] = -at.p[0];
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        g[0] = at.p[1] - at.p[0] * 2.0;
    }
}

#[test]
fn a_mass_that_vanishes_is_not_called_a_loss_of_rank() {
    let initial = Initial::motion(0.0, &[1.0, 2.0], &[0.0, 0.0]);
    let Err(SolveError::Stopped { cause, .. }) = run("lobatto", &Slaved, &initial, 1.0, 1e-6) else { panic!() };
    assert!(cause.to_string().contains("its mass matrix is singular"), "{cause}");
    let solution = run("rattle", &Slaved, &initial, 1.0, 1e-6).unwrap();
    assert!((solution.at_end().p[0] - 1.0_f64.cos()).abs() < 1e-5);
}

/// A point in the plane under a force that is conservative up to x = 5.
#[derive(Clone, Copy)]
enum Late {
    /// −∇(x² + y²)/2, then a part that turns.
    Turns,
    /// The same, then damping.
    Damps,
    /// A constant force along y that begins at x = 5: no derivative shows it.
    Begins,
    /// A wall that is smooth: max(0, x − 5)³.
    Wall,
    /// A nonlinear spring, conservative, whose derivatives are different formulas.
    Spring,
    /// Gravity and linear springs.
    Linear,
}

impl EquationsOfMotion for Late {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 2, velocities: 2, ..Sizes::default() }
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        unit_mass(M);
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        let (x, y) = (at.p[0], at.p[1]);
        let zero = S::from(0.0);
        let late = |value: S| (x - 5.0).select(value, zero);
        f[0] = -x;
        f[1] = -y;
        match self {
            Late::Turns => f[0] += late((x - 5.0).square() * y),
            Late::Damps => f[0] -= late((x - 5.0).square() * at.v[0]),
            Late::Begins => f[1] += late(S::from(1.0)),
            Late::Wall => f[0] -= late((x - 5.0).powi(3)),
            Late::Spring => {
                let length = ((x - 0.3).square() + (y + 1.7).square()).sqrt();
                f[0] -= (length - 1.0) * (x - 0.3) / length;
                f[1] -= (length - 1.0) * (y + 1.7) / length;
            }
            Late::Linear => {
                f[0] += (y - x) * 3.0;
                f[1] += (x - y) * 3.0 - 9.81;
            }
        }
    }
}

#[test]
fn conservative_forces_are_proved_or_looked_at_in_every_branch() {
    use daedal::motion::Hamiltonian;
    let verdict = |model: Late| {
        let formulas = Formulas::trace(&model).bound();
        formulas.hamiltonian(Mechanism::structure(&model), &[0.4, 0.3], &[0.1, 0.0])
    };
    assert_eq!(verdict(Late::Linear), Hamiltonian::Proved);
    for (model, told) in [(Late::Turns, "no potential"), (Late::Damps, "damping"), (Late::Begins, "jump")] {
        let Hamiltonian::Not(why) = verdict(model) else { panic!("{:?}", verdict(model)) };
        assert!(why.contains(told), "{why}");
        let initial = Initial::motion(0.0, &[0.4, 0.3], &[0.1, 0.0]);
        for name in ["rattle", "lobatto"] {
            let refused = run(name, &model, &initial, 1.0, 1e-5);
            assert!(matches!(refused, Err(SolveError::Start(StartFailure::OutOfClass { .. }))), "{name}: {refused:?}");
        }
    }
    for model in [Late::Wall, Late::Spring] {
        assert!(matches!(verdict(model), Hamiltonian::Generic { points } if points > 20), "{:?}", verdict(model));
        let solution = run("rattle", &model, &Initial::motion(0.0, &[0.4, 0.3], &[0.1, 0.0]), 1.0, 1e-5).unwrap();
        assert!(solution.decisions.contains("random points"), "{}", solution.decisions);
    }
}
