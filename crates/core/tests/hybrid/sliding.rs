//! Sliding along the surface between two modes. Wunderlich, thesis (2008), section 5.3.

use super::support::*;
use daedal::dae::{Depth, Equations, System, characterise};
use daedal::hybrid::{
    Detection, Hybrid, HybridError, HybridOptions, HybridSolution, Hysteresis, SwitchKind, Transition,
};
use daedal::scalar::Scalar;
use daedal::{Initial, Problem, solve};

/// Two modes and the surface x.0 = 0 between them.
fn divided(above: &impl Equations, below: &impl Equations, method: Method, width: f64) -> Hybrid<'static> {
    let mut hybrid = Hybrid::new();
    hybrid.mode(mode("I", above, method));
    hybrid.mode(mode("II", below, method));
    hybrid.transition(Transition::on(0, 1, surface("x.0 <= 0", |_, x| x[0], |_, x| x[0])).hysteresis(width));
    hybrid.transition(Transition::on(1, 0, surface("x.0 >= 0", |_, x| -x[0], |_, x| -x[0])).hysteresis(width));
    hybrid
}

fn solved(hybrid: &Hybrid, x0: &[f64], tend: f64, detection: Detection) -> Result<HybridSolution, HybridError> {
    // three switches within 1e-3, where only they count; the limit of a hysteresis, where there is one
    let hysteresis = Hysteresis::Limit;
    let options = HybridOptions { detection, hysteresis, chatter_time: Some(1e-3), ..HybridOptions::default() };
    solve(&Problem::new(hybrid, Initial::new(0.0, x0), tend), &options, &tolerance(1e-9))
}

fn value(solution: &HybridSolution, name: &str) -> f64 {
    solution.end_value(name).unwrap_or_else(|| panic!("no {name} in {:?}", solution.modes[solution.end_mode]))
}

#[test]
fn m4_the_sliding_velocity_is_that_of_filippov() {
    for method in METHODS {
        for detection in [Detection::Both, Detection::Condition] {
            let hybrid = divided(&Affine::constant(&[-1.0, 1.0]), &Affine::constant(&[2.0, 0.0]), method, 0.0);
            let solution = solved(&hybrid, &[0.5, 0.0], 2.0, detection).unwrap_or_else(|e| panic!("{}", told(&e)));
            assert_eq!(solution.switches.len(), 1, "{:?}", solution.mode_trajectory());
            assert_eq!(solution.switches[0].kind, SwitchKind::SlidingBegins);
            assert!((solution.switches[0].t - 0.5).abs() < 1e-9);
            assert!(solution.modes[solution.end_mode].sliding && solution.end_mode >= 2);
            assert!(value(&solution, "x.0").abs() < 1e-12);
            assert!((value(&solution, "x.1") - 1.5).abs() < 1e-8, "{}", value(&solution, "x.1"));
        }
    }
}

#[test]
fn sliding_ends_towards_the_mode_that_begins_to_lead_away() {
    // above: x' = −1 + t/2 turns at t = 2; below: x' = 2 − t turns at t = 2
    for method in METHODS {
        let above = divided(&Affine::ramp(&[-1.0, 0.0], &[0.5, 0.0]), &Affine::constant(&[2.0, 1.0]), method, 0.0);
        let solution = solved(&above, &[0.25, 0.0], 3.0, Detection::Both).unwrap_or_else(|e| panic!("{}", told(&e)));
        let [begins, ends] = &solution.switches[..] else { panic!("{:?}", solution.mode_trajectory()) };
        assert_eq!((begins.kind, ends.kind, ends.to), (SwitchKind::SlidingBegins, SwitchKind::SlidingEnds, 0));
        assert!((ends.t - 2.0).abs() < 1e-7, "{}", ends.t);
        // x = (t − 2)²/4 behind it
        assert!((value(&solution, "x.0") - 0.25).abs() < 1e-6, "{:?}", solution.end.x);

        let below = divided(&Affine::constant(&[-1.0, 1.0]), &Affine::ramp(&[2.0, 0.0], &[-1.0, 0.0]), method, 0.0);
        let solution = solved(&below, &[0.25, 0.0], 3.0, Detection::Both).unwrap_or_else(|e| panic!("{}", told(&e)));
        let [begins, ends] = &solution.switches[..] else { panic!("{:?}", solution.mode_trajectory()) };
        assert_eq!((begins.kind, ends.kind, ends.to), (SwitchKind::SlidingBegins, SwitchKind::SlidingEnds, 1));
        assert!((ends.t - 2.0).abs() < 1e-7, "{}", ends.t);
        assert!((value(&solution, "x.0") + 0.5).abs() < 1e-6, "{:?}", solution.end.x);
        // x₂' = α = (2 − t)/(3 − t) while it slides, from x₂ = ¼ at t = ¼: ∫ = (2 − ¼) + ln(1/2.75)
        let exact = 0.25 + 1.75 + (1.0_f64 / 2.75).ln();
        assert!((value(&solution, "x.1") - exact).abs() < 1e-6, "{} not {exact}", value(&solution, "x.1"));
    }
}

#[test]
fn a_surface_that_both_modes_cross_is_crossed_once() {
    for method in METHODS {
        let hybrid = divided(&Affine::constant(&[-1.0, 1.0]), &Affine::constant(&[-2.0, 0.0]), method, 0.0);
        let solution = solved(&hybrid, &[0.5, 0.0], 2.0, Detection::Both).unwrap_or_else(|e| panic!("{}", told(&e)));
        expect(&solution, &[(0.5, "I", "II")], 1e-9);
        assert!((value(&solution, "x.0") + 3.0).abs() < 1e-8);
    }
}

#[test]
fn filippov_and_not_the_equivalent_control_is_generated() {
    /// x₁' = u, x₂' = u².
    struct Squared(f64);
    impl Equations for Squared {
        fn dim(&self) -> usize {
            2
        }
        fn residual<S: Scalar>(&self, _: S, _: &[S], d: &[S], r: &mut [S]) {
            r[0] = d[0] - self.0;
            r[1] = d[1] - self.0 * self.0;
        }
    }
    for method in METHODS {
        let solution = solved(&divided(&Squared(-1.0), &Squared(1.0), method, 0.0), &[0.5, 0.0], 2.0, Detection::Both);
        let solution = solution.unwrap_or_else(|e| panic!("{}", told(&e)));
        assert!((value(&solution, "x.1") - 2.0).abs() < 1e-8, "{:?}", solution.end.x);
    }
}

/// x = sin t.
struct Along;
impl Equations for Along {
    fn dim(&self) -> usize {
        1
    }
    fn residual<S: Scalar>(&self, t: S, x: &[S], _: &[S], r: &mut [S]) {
        r[0] = x[0] - t.sin();
    }
}

#[test]
fn the_surface_may_move() {
    for method in METHODS {
        for by_hand in [true, false] {
            let mut hybrid = Hybrid::new();
            hybrid.mode(mode("I", &Affine::constant(&[-2.0]), method));
            hybrid.mode(mode("II", &Affine::constant(&[2.0]), method));
            let above = surface("x <= sin t", |t, x| x[0] - t.sin(), |t, x| x[0] - t.sin());
            let below = surface("x >= sin t", |t, x| t.sin() - x[0], |t, x| t.sin() - x[0]);
            hybrid.transition(Transition::on(0, 1, above));
            hybrid.transition(Transition::on(1, 0, below));
            if by_hand {
                let along = hybrid.mode(mode("along", &Along, method));
                hybrid.slide((0, 1), along);
            }
            let solution = solved(&hybrid, &[1.0], 4.0, Detection::Both).unwrap_or_else(|e| panic!("{}", told(&e)));
            assert_eq!(solution.switches.len(), 1, "{:?}", solution.mode_trajectory());
            assert_eq!((solution.switches[0].kind, solution.switches[0].to), (SwitchKind::SlidingBegins, 2));
            assert!((value(&solution, "x.0") - 4.0_f64.sin()).abs() < 1e-8);
        }
    }
}

#[test]
fn a_mode_for_sliding_is_not_used_where_sliding_is_not_looked_for() {
    let mut hybrid = divided(&Affine::constant(&[-1.0]), &Affine::constant(&[1.0]), Method::Radau, 1e-3);
    let stay = hybrid.mode(mode("stay", &Affine::constant(&[0.0]), Method::Radau));
    hybrid.slide((0, 1), stay);
    let off = solved(&hybrid, &[0.5], 0.6, Detection::Off).unwrap();
    assert!(off.switches.len() > 40 && off.switches.iter().all(|s| s.to != stay));
    let on = solved(&hybrid, &[0.5], 0.6, Detection::Condition).unwrap();
    assert!(on.switches.len() == 1 && on.end_mode == stay, "{:?}", on.mode_trajectory());
}

#[test]
fn three_switches_in_short_succession_begin_the_sliding_where_only_they_count() {
    for method in METHODS {
        let width = 1e-4;
        let hybrid = divided(&Affine::constant(&[-1.0, 1.0]), &Affine::constant(&[1.0, 0.0]), method, width);
        let solution =
            solved(&hybrid, &[0.5, 0.0], 2.0, Detection::ThreePoints).unwrap_or_else(|e| panic!("{}", told(&e)));
        // at 0.5 + ε, 0.5 + 3ε and 0.5 + 5ε
        assert_eq!(solution.switches.len(), 3, "{:?}", solution.mode_trajectory());
        assert_eq!(solution.switches[2].kind, SwitchKind::SlidingBegins);
        assert!((solution.switches[2].t - 0.5005).abs() < 1e-8 && solution.switches[2].chattering);
        assert!((value(&solution, "x.1") - (0.5 + 0.75)).abs() < 5e-4, "{:?}", solution.end.x);
    }
}

#[test]
fn entering_from_the_edge_of_a_hysteresis_projects_onto_the_surface() {
    for method in METHODS {
        let hybrid = divided(&Affine::constant(&[-1.0, 1.0]), &Affine::constant(&[2.0, 0.0]), method, 1e-2);
        let solution =
            solved(&hybrid, &[0.5, 0.0], 2.0, Detection::Condition).unwrap_or_else(|e| panic!("{}", told(&e)));
        assert_eq!(solution.switches.len(), 1, "{:?}", solution.mode_trajectory());
        let switch = &solution.switches[0];
        assert!((switch.t - 0.51).abs() < 1e-9);
        assert!((switch.before[0] + 1e-2).abs() < 1e-9 && switch.after[0].abs() < 1e-12, "{switch:?}");
        assert!(switch.jumps.iter().any(|j| j.name == "x.0"));
    }
}

#[test]
fn modes_with_algebraic_unknowns_slide() {
    /// x' = y, 0 = y − u: continuous constraints are not needed, y jumps between the modes.
    struct Driven(f64);
    impl Equations for Driven {
        fn dim(&self) -> usize {
            3
        }
        fn names(&self) -> Vec<String> {
            ["x", "z", "y"].map(String::from).to_vec()
        }
        fn residual<S: Scalar>(&self, _: S, x: &[S], d: &[S], r: &mut [S]) {
            r[0] = d[0] - x[2];
            r[1] = d[1] - x[2].square();
            r[2] = x[2] - self.0;
        }
    }
    for method in METHODS {
        let mut hybrid = Hybrid::new();
        hybrid.mode(mode("I", &Driven(-1.0), method));
        hybrid.mode(mode("II", &Driven(2.0), method));
        hybrid.transition(Transition::on(0, 1, surface("x <= 0", |_, x| x[0], |_, x| x[0])));
        hybrid.transition(Transition::on(1, 0, surface("x >= 0", |_, x| -x[0], |_, x| -x[0])));
        let solution =
            solved(&hybrid, &[0.5, 0.0, -1.0], 2.0, Detection::Both).unwrap_or_else(|e| panic!("{}", told(&e)));
        assert_eq!(solution.switches.len(), 1, "{:?}", solution.mode_trajectory());
        // α = 2/3: z' = 2/3 · 1 + 1/3 · 4 = 2, from z = 0.5 at t = 0.5; y = 2/3 · (−1) + 1/3 · 2 = 0
        assert!((value(&solution, "z") - 3.5).abs() < 1e-7, "{:?}", solution.end.x);
        assert!(value(&solution, "y").abs() < 1e-8, "{:?}", solution.end.x);
    }
}

/// (5.33): x' = αf¹ + (1 − α)f², 0 = g.
struct Sliding533;
impl Equations for Sliding533 {
    fn dim(&self) -> usize {
        3
    }
    fn residual<S: Scalar>(&self, _: S, x: &[S], d: &[S], r: &mut [S]) {
        r[0] = d[0] + x[2] - (-x[2] + 1.0) * 2.0;
        r[1] = d[1] - x[2];
        r[2] = x[0];
    }
}

/// (5.38) with x₂ = α(x₁ − c) + (1 − α)(x₁ + c), and the surface x₂ = 0 or x₁ = 0.
struct Sliding538 {
    c: f64,
    algebraic_surface: bool,
}
impl Equations for Sliding538 {
    fn dim(&self) -> usize {
        3
    }
    fn residual<S: Scalar>(&self, _: S, x: &[S], d: &[S], r: &mut [S]) {
        let (alpha, other) = (x[2], -x[2] + 1.0);
        r[0] = d[0] + alpha - other;
        r[1] = x[1] - alpha * (x[0] - self.c) - other * (x[0] + self.c);
        r[2] = if self.algebraic_surface { x[1] } else { x[0] };
    }
}

#[test]
fn sliding_systems_have_the_index_of_the_theory() {
    let values = |equations: &dyn Fn() -> System, x: &[f64]| {
        let found = characterise(&equations(), &Initial::new(0.0, x), Depth::default()).unwrap();
        (found.values.mu, found.values.d, found.values.a)
    };
    // (5.33): strangeness index 1
    assert_eq!(values(&|| System::of(&Sliding533), &[0.0, 0.0, 0.6]), (1, 1, 2));
    // (5.38): without strangeness where the algebraic equations fix α; printed is 1
    let jumping = || System::of(&Sliding538 { c: 0.5, algebraic_surface: true });
    assert_eq!(values(&jumping, &[0.1, 0.0, 0.6]), (0, 1, 2));
    // 1 for constraints that are continuous on the surface
    let continuous = || System::of(&Sliding538 { c: 0.0, algebraic_surface: true });
    assert_eq!(values(&continuous, &[0.0, 0.0, 0.5]), (1, 0, 3));
    let differential = || System::of(&Sliding538 { c: 0.5, algebraic_surface: false });
    assert_eq!(values(&differential, &[0.0, 0.0, 0.5]), (1, 0, 3));
}
