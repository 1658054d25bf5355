//! How a state is made consistent in a new mode. Wunderlich, thesis (2008), section 5.2 and Remark 5.27.

use super::support::*;
use daedal::dae::Equations;
use daedal::hybrid::{
    EnterError, Hybrid, HybridFailure, HybridOptions, HybridSolution, Mode, Part, Restart, Schedule, Smoothness,
    Transition,
};
use daedal::linalg::Matrix;
use daedal::linear::ConstantCoefficients;
use daedal::motion::{EquationsOfMotion, Motion, Names, Position, Sizes, Velocity};
use daedal::scalar::Scalar;
use daedal::{Geoms, Initial, Problem, Start, solve};
use daedal::{Options, Tolerance};

const MASSES: [f64; 2] = [1.0, 3.0];

/// Two masses without forces, locked together by v₁ = v₂ or not.
#[derive(Clone, Copy)]
struct Masses {
    locked: bool,
}

impl Equations for Masses {
    fn dim(&self) -> usize {
        2 + usize::from(self.locked)
    }
    fn names(&self) -> Vec<String> {
        ["v1", "v2", "lambda"][..self.dim()].iter().map(ToString::to_string).collect()
    }
    fn residual<S: Scalar>(&self, _: S, x: &[S], d: &[S], r: &mut [S]) {
        for i in 0..2 {
            r[i] = d[i] * MASSES[i];
        }
        if self.locked {
            r[0] += x[2];
            r[1] -= x[2];
            r[2] = x[0] - x[1];
        }
    }
}

impl EquationsOfMotion for Masses {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 2, velocities: 2, nonholonomic: usize::from(self.locked), ..Sizes::default() }
    }
    fn names(&self) -> Names {
        let names = Names::numbered(&self.sizes());
        if self.locked { names.constraints(&[], &["lock"]) } else { names }
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        M[(0, 0)] = S::from(MASSES[0]);
        M[(1, 1)] = S::from(MASSES[1]);
    }
    fn force<S: Scalar>(&self, _: &Motion<S>, f: &mut [S]) {
        f.fill(S::from(0.0));
    }
    fn nonholonomic<S: Scalar>(&self, at: &Velocity<S>, h: &mut [S]) {
        if self.locked {
            h[0] = at.v[0] - at.v[1];
        }
    }
}

/// The same with matrices.
fn matrices(locked: bool) -> ConstantCoefficients<()> {
    let n = 2 + usize::from(locked);
    let (mut E, mut A) = (Matrix::zeros(n, n), Matrix::zeros(n, n));
    (E[(0, 0)], E[(1, 1)]) = (MASSES[0], MASSES[1]);
    if locked {
        (A[(0, 2)], A[(1, 2)], A[(2, 0)], A[(2, 1)]) = (-1.0, 1.0, 1.0, -1.0);
    }
    ConstantCoefficients::new(E, A, ())
}

/// Locked at t = 0.5 from v = (1, 0).
fn locked(free: Mode<'static>, locked: Mode<'static>, start: Vec<Start>, options: &Options) -> HybridSolution {
    let mut hybrid = Hybrid::new();
    hybrid.mode(free);
    hybrid.mode(locked);
    hybrid.transition(Transition::at(0, 1, Schedule::Times(vec![0.5])));
    let problem = Problem::new(&hybrid, Initial { states: start, ..Initial::default() }, 1.0);
    let solution = solve(&problem, &HybridOptions::default(), options).unwrap_or_else(|e| panic!("{}", told(&e)));
    assert_eq!(solution.switches.len(), 1);
    assert_eq!(solution.switches[0].smoothness, Smoothness::Restart);
    let (v1, v2) = (solution.end_value("v1").unwrap(), solution.end_value("v2").unwrap());
    assert!((v1 - v2).abs() < 1e-12, "{v1} {v2}");
    solution
}

fn known() -> Vec<Start> {
    vec![Start::Guess(1.0), Start::Guess(0.0)]
}

#[test]
fn m6_least_change_gives_the_mean_of_the_velocities() {
    for method in METHODS {
        for linear in [false, true] {
            let free = mode("free", &Masses { locked: false }, method);
            let lock = if linear {
                Mode::linear("locked", &["v1", "v2", "lambda"], matrices(true), daedal::RadauIIa::default())
            } else {
                mode("locked", &Masses { locked: true }, method)
            };
            let solution = locked(free, lock.restart(Restart::LeastChange), known(), &tolerance(1e-9));
            assert!((solution.end_value("v1").unwrap() - 0.5).abs() < 1e-9, "{linear}: {:?}", solution.end.x);
        }
    }
}

#[test]
fn m6_keeping_the_differential_part_of_a_linear_mode_weighs_with_the_squares_of_the_masses() {
    for method in METHODS {
        let free = mode("free", &Masses { locked: false }, method);
        let lock = Mode::linear("locked", &["v1", "v2", "lambda"], matrices(true), daedal::RadauIIa::default());
        let solution = locked(free, lock.restart(Restart::Differential), known(), &tolerance(1e-9));
        assert!((solution.end_value("v1").unwrap() - 0.1).abs() < 1e-9, "{:?}", solution.end.x);
    }
}

#[test]
fn m6_impulses_conserve_the_momentum() {
    let unknown = [Start::Unknown; 2];
    let start: Vec<Start> = unknown.into_iter().chain(known()).chain([Start::Guess(0.0); 2]).collect();
    let free = Mode::motion("free", Masses { locked: false }, Geoms::default());
    // the default
    let lock = Mode::motion("locked", Masses { locked: true }, Geoms::default());
    let solution = locked(free, lock, start, &tolerance(1e-9));
    assert!((solution.end_value("v1").unwrap() - 0.25).abs() < 1e-12, "{:?}", solution.end.x);
    let repair = solution.switches[0].repair.as_ref().unwrap();
    assert_eq!(repair.restart, Restart::Impulse);
    let balance = repair.balance.unwrap();
    assert!(balance.momentum < 1e-12 && (balance.energy + 0.375).abs() < 1e-12, "{balance:?}");
    // m₁ (v₁⁺ − v₁⁻) = −Λ
    let impulses = &solution.switches[0].impulses;
    assert!(impulses.len() == 1 && (impulses[0].1 - 0.75).abs() < 1e-12, "{impulses:?}");
    assert!(impulses[0].0.contains("lock"));
    // positions do not jump
    assert!((solution.end_value("p1").unwrap() - (0.5 + 0.125)).abs() < 1e-9);
    let jumps: Vec<&str> = solution.switches[0].jumps.iter().map(|j| j.name.as_str()).collect();
    assert!(jumps.contains(&"v1") && jumps.contains(&"v2") && !jumps.contains(&"p1"), "{jumps:?}");
}

#[test]
fn m6_the_default_of_general_and_linear_modes_conserves_the_momentum_as_well() {
    for method in METHODS {
        for linear in [false, true] {
            let free = mode("free", &Masses { locked: false }, method);
            let lock = if linear {
                Mode::linear("locked", &["v1", "v2", "lambda"], matrices(true), daedal::RadauIIa::default())
            } else {
                mode("locked", &Masses { locked: true }, method)
            };
            let solution = locked(free, lock, known(), &tolerance(1e-9));
            assert!((solution.end_value("v1").unwrap() - 0.25).abs() < 1e-9, "{linear}: {:?}", solution.end.x);
        }
    }
}

#[test]
fn a_restart_that_is_no_physics_tells_what_it_changed() {
    let unknown = [Start::Unknown; 2];
    let start: Vec<Start> = unknown.into_iter().chain(known()).chain([Start::Guess(0.0); 2]).collect();
    for restart in [Restart::LeastChange, Restart::Differential, Restart::Weighted] {
        let free = Mode::motion("free", Masses { locked: false }, Geoms::default());
        let lock = Mode::motion("locked", Masses { locked: true }, Geoms::default()).restart(restart);
        let solution = locked(free, lock, start.clone(), &tolerance(1e-9));
        let repair = solution.switches[0].repair.as_ref().unwrap();
        let v = solution.switches[0].jumps.iter().find(|jump| jump.name == "v1").unwrap().after;
        assert_eq!((repair.restart, repair.moved.len(), repair.moved[0].0), (restart, 1, Part::Velocity));
        let balance = repair.balance.unwrap();
        // momentum was 1, energy 1/2
        assert!((balance.momentum - (4.0 * v - 1.0).abs()).abs() < 1e-9, "{v}: {balance:?}");
        assert!((balance.energy - (2.0 * v * v - 0.5)).abs() < 1e-9 && balance.momentum > 1e-3, "{v}: {balance:?}");
    }
    // a general system tells its kinds of unknowns
    let free = mode("free", &Masses { locked: false }, Method::Radau);
    let lock = mode("locked", &Masses { locked: true }, Method::Radau).restart(Restart::LeastChange);
    let solution = locked(free, lock, known(), &tolerance(1e-9));
    let repair = solution.switches[0].repair.as_ref().unwrap();
    assert!(repair.moved.len() == 1 && repair.moved[0].0 == Part::Differential && repair.balance.is_none());
    assert!((repair.moved[0].1 - 0.5).abs() < 1e-9, "{repair:?}");
}

#[test]
fn weights_of_the_tolerances_move_what_is_known_worst() {
    // |1| + 1 against 1: weights 2 and 1, v = (1/4)/(1/4 + 1)
    let options = Options { tolerance: Tolerance::new(1e-6, 1e-6), ..Options::default() };
    for method in METHODS {
        let free = mode("free", &Masses { locked: false }, method);
        let lock = mode("locked", &Masses { locked: true }, method).restart(Restart::Weighted);
        let solution = locked(free, lock, known(), &options);
        assert!((solution.end_value("v1").unwrap() - 0.2).abs() < 1e-5, "{:?}", solution.end.x);
    }
}

#[test]
fn impulses_need_equations_of_motion() {
    let mut hybrid = Hybrid::new();
    hybrid.mode(mode("free", &Masses { locked: false }, Method::Radau));
    hybrid.mode(mode("locked", &Masses { locked: true }, Method::Radau).restart(Restart::Momentum));
    hybrid.transition(Transition::at(0, 1, Schedule::Times(vec![0.5])));
    let (cause, _) = stopped(run(&hybrid, &[1.0, 0.0], 1.0));
    let HybridFailure::Enter { cause: inner, .. } = &cause else { panic!("{cause}") };
    assert_eq!(**inner, EnterError::NoMomentum);
}

#[test]
fn what_must_not_change_does_not() {
    for method in METHODS {
        for (kept, v) in [("v1", 1.0), ("v2", 0.0)] {
            for restart in [Restart::Differential, Restart::LeastChange] {
                let free = mode("free", &Masses { locked: false }, method);
                let lock = mode("locked", &Masses { locked: true }, method).keep(&[kept]).restart(restart);
                let solution = locked(free, lock, known(), &tolerance(1e-9));
                assert!((solution.end_value("v1").unwrap() - v).abs() < 1e-9, "{kept}: {:?}", solution.end.x);
            }
        }
    }
}

#[test]
fn what_must_not_change_and_cannot_stay_is_told() {
    for method in METHODS {
        let mut hybrid = Hybrid::new();
        hybrid.mode(mode("free", &Masses { locked: false }, method));
        hybrid.mode(mode("locked", &Masses { locked: true }, method).keep(&["v1", "v2"]));
        hybrid.transition(Transition::at(0, 1, Schedule::Times(vec![0.5])));
        let (cause, partial) = stopped(run(&hybrid, &[1.0, 0.0], 1.0));
        let HybridFailure::Enter { mode, from, cause: inner, .. } = &cause else { panic!("{cause}") };
        assert_eq!((mode.as_str(), from.as_ref().map(|f| f.0.as_str())), ("locked", Some("free")));
        assert!(!matches!(**inner, EnterError::NotConsistent { .. }), "{cause}");
        assert!(["v1", "v2"].iter().all(|name| inner.to_string().contains(name)), "{cause}");
        assert_eq!(partial.end.t, 0.5);
    }
}

#[test]
fn a_transition_may_keep_more_than_its_mode() {
    let mut hybrid = Hybrid::new();
    hybrid.mode(mode("free", &Masses { locked: false }, Method::Radau));
    hybrid.mode(mode("locked", &Masses { locked: true }, Method::Radau));
    let mut transition = Transition::at(0, 1, Schedule::Times(vec![0.5]));
    transition.keep = vec!["v2".into()];
    hybrid.transition(transition);
    let solution = reach(&hybrid, &[1.0, 0.0], 1.0);
    assert!(solution.end_value("v1").unwrap().abs() < 1e-9);
}

#[test]
fn m7_any_start_of_a_system_without_freedom_is_projected_onto_its_solution() {
    /// 0 = −x₁ + t x₂ + sin t, x₁' − t x₂' = eᵗ.
    struct Singular;
    impl Equations for Singular {
        fn dim(&self) -> usize {
            2
        }
        fn residual<S: Scalar>(&self, t: S, x: &[S], d: &[S], r: &mut [S]) {
            r[0] = t * x[1] - x[0] + t.sin();
            r[1] = d[0] - t * d[1] - t.exp();
        }
    }
    for method in METHODS {
        let mut hybrid = Hybrid::new();
        let free = Affine::constant(&[0.0, 0.0]);
        hybrid.mode(mode("free", &free, method));
        hybrid.mode(mode("singular", &Singular, method));
        hybrid.transition(Transition::at(0, 1, Schedule::Times(vec![0.5])));
        let solution = reach(&hybrid, &[7.0, -3.0], 1.5);
        let exact = |t: f64| [t * (t.exp() - t.cos()) + t.sin(), t.exp() - t.cos()];
        let after = &solution.switches[0].after;
        for (j, (value, end)) in exact(0.5).into_iter().zip(exact(1.5)).enumerate() {
            assert!((after[j] - value).abs() < 1e-9, "{after:?}");
            assert!((solution.end.x[j] - end).abs() < 1e-7, "{method:?}: {:?}", solution.end.x);
        }
        assert_eq!(solution.switches[0].smoothness, Smoothness::Restart);
        assert_eq!(solution.switches[0].jumps.len(), 2);
    }
}
