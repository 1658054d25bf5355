//! Consistent initial values: what holds, what moves, and what cannot be.

use crate::support::{Academic, DoubledPendulum, PENDULUM, Pendulum, academic_start, distance, tolerance};
use daedal::linalg::Matrix;
use daedal::motion::consistent::{Consistent, InitialisationError, initialise};
use daedal::motion::{EquationsOfMotion, Form, Layout, Mechanism, Motion, Names, Position, Sizes};
use daedal::scalar::Scalar;
use daedal::{Geoms, Initial, Problem, Start, solve};

fn start(system: &dyn Mechanism, initial: &Initial) -> Result<Consistent, InitialisationError> {
    initialise(system, initial, Form::StrangenessFree)
}

fn layout(system: &dyn Mechanism) -> Layout {
    Layout::new(system.sizes(), Form::StrangenessFree, false)
}

/// The conditions p₁ + p₂ = 0 and |v| = 2.
fn on_the_diagonal(p: &[f64], v: &[f64]) -> Initial {
    Initial::motion(0.0, p, v)
        .condition("diagonal", |x| x.p[0] + x.p[1])
        .condition("speed", |x| x.v[0].hypot(x.v[1]) - 2.0)
}

#[test]
fn conditions_determine_the_published_multiplier() {
    let found = start(&PENDULUM, &on_the_diagonal(&[0.6, -0.8], &[1.0, 1.0])).unwrap();
    let (l, x) = (layout(&PENDULUM), &found.state.x);
    let half = 0.5_f64.sqrt();
    assert!((x[l.lambda()][0] - 6.86135912).abs() < 5e-9);
    // gII: λ = |v|²/2 − g p₂/2
    assert!((x[l.lambda()][0] - (2.0 + 0.5 * 13.75 * half)).abs() < 1e-12);
    assert!(distance(&x[l.p()], &[half, -half]) < 1e-13);
    assert!(distance(&x[l.v()], &[2.0 * half, 2.0 * half]) < 1e-12);
    assert!(found.iterations < 10);
    assert_eq!((found.surplus, found.undetermined_multipliers), (0, 0));
    // accelerations follow from the dynamics
    let a = &x[l.a()];
    let lambda = x[l.lambda()][0];
    assert!(distance(a, &[-2.0 * half * lambda, 2.0 * half * lambda - 13.75]) < 1e-12);
}

#[test]
fn the_guess_chooses_the_branch() {
    let l = layout(&PENDULUM);
    let half = 0.5_f64.sqrt();
    for (p, v) in
        [([0.6, -0.8], [1.0, 1.0]), ([-0.6, 0.8], [1.0, 1.0]), ([0.6, -0.8], [-1.0, -1.0]), ([-0.6, 0.8], [-1.0, -1.0])]
    {
        let found = start(&PENDULUM, &on_the_diagonal(&p, &v)).unwrap();
        let x = &found.state.x;
        let (side, direction) = (p[0].signum(), v[0].signum());
        assert!(distance(&x[l.p()], &[side * half, -side * half]) < 1e-13);
        assert!(distance(&x[l.v()], &[direction * 2.0 * half, direction * 2.0 * half]) < 1e-12);
        assert!((x[l.lambda()][0] - (2.0 + side * 4.86135912)).abs() < 5e-9);
    }
}

#[test]
fn fixed_values_are_not_moved_at_all() {
    let l = layout(&PENDULUM);
    let mut initial = Initial::motion(0.0, &[0.0, -0.7], &[0.1, 0.3]);
    let (p1, v2) = (0.1 + 0.2, 1.0 / 3.0);
    initial.p[0] = Start::Fixed(p1);
    initial.v[1] = Start::Fixed(v2);
    let found = start(&PENDULUM, &initial).unwrap();
    let x = &found.state.x;
    assert_eq!(x[l.p()][0].to_bits(), p1.to_bits());
    assert_eq!(x[l.v()][1].to_bits(), v2.to_bits());
    // the others do what they must
    let p2 = -(1.0 - p1 * p1).sqrt();
    assert!((x[l.p()][1] - p2).abs() < 1e-15);
    assert!((x[l.v()][0] + p2 * v2 / p1).abs() < 1e-14);
}

#[test]
fn a_consistent_guess_is_not_moved() {
    let l = layout(&PENDULUM);
    for angle in [0.1_f64, 0.7, 1.9, -2.5] {
        let (s, c) = angle.sin_cos();
        let (p, v) = ([s, -c], [3.0 * c, 3.0 * s]);
        let found = start(&PENDULUM, &Initial::motion(0.0, &p, &v)).unwrap();
        assert!(distance(&found.state.x[l.p()], &p) <= 1e-15);
        assert!(distance(&found.state.x[l.v()], &v) <= 1e-15);
        assert!((found.state.x[l.lambda()][0] - (4.5 + 0.5 * 13.75 * c)).abs() < 1e-14);
    }
    // with all kinds of variables
    let l = layout(&Academic);
    let found = start(&Academic, &academic_start()).unwrap();
    let x = &found.state.x;
    for (range, exact) in [
        (l.p(), &[1.0, 0.0, 1.0][..]),
        (l.v(), &[1.0, 1.0, 0.0]),
        (l.r(), &[-2.0, 0.0]),
        (l.w(), &[-2.0]),
        (l.s(), &[1.0, 0.0]),
        (l.lambda(), &[1.0, 0.0]),
        // v' of ((1+t) cos t, sin t, cos t)
        (l.a(), &[-1.0, 0.0, -1.0]),
    ] {
        assert!(distance(&x[range.clone()], exact) <= 1e-15, "{:?} is not {exact:?}", &x[range]);
    }
}

#[test]
fn a_guess_moves_no_farther_than_it_must() {
    let l = layout(&PENDULUM);
    // p moves along the rod, and v₂, which is consistent, stays
    let found = start(&PENDULUM, &Initial::motion(0.0, &[1.2, 0.0], &[0.3, 2.0])).unwrap();
    assert!(distance(&found.state.x[l.p()], &[1.0, 0.0]) < 1e-15);
    assert_eq!(found.state.x[l.v()][1], 2.0);
    assert!(found.state.x[l.v()][0].abs() < 1e-15);
    // a guess near the circle moves about as far as its distance from it
    for (angle, off) in [(0.3_f64, 1e-3), (2.0, -1e-3), (-1.1, 1e-6)] {
        let p = [(1.0 + off) * angle.sin(), -(1.0 + off) * angle.cos()];
        let found = start(&PENDULUM, &Initial::motion(0.0, &p, &[0.0, 0.0])).unwrap();
        let moved = (found.state.x[l.p()][0] - p[0]).hypot(found.state.x[l.p()][1] - p[1]);
        assert!(moved < 1.1 * off.abs(), "{moved} for {off}");
        assert_eq!(found.state.x[l.v()], [0.0, 0.0]);
    }
    // a velocity off its constraint leaves the positions alone
    let found = start(&PENDULUM, &Initial::motion(0.0, &[0.6, -0.8], &[1.0, 0.0])).unwrap();
    assert!(distance(&found.state.x[l.p()], &[0.6, -0.8]) <= 1e-15);
}

#[test]
fn everything_unknown_but_position_and_velocity_is_computed() {
    let initial = Initial::motion(0.0, &[1.0, 0.0, 1.0], &[1.0, 1.0, 0.0]).dynamic(&[-2.0, 0.0]).contact(&[0.9, 0.1]);
    let found = start(&Academic, &initial).unwrap();
    let l = layout(&Academic);
    assert!(distance(&found.state.x[l.s()], &[1.0, 0.0]) < 1e-12);
    assert!(distance(&found.state.x[l.w()], &[-2.0]) < 1e-12);
    assert!(distance(&found.state.x[l.lambda()], &[1.0, 0.0]) < 1e-12);
}

#[test]
fn contradictory_values_are_told_from_surplus_ones() {
    let fixed = |p: [f64; 2], v: [f64; 2]| Initial {
        p: p.map(Start::Fixed).to_vec(),
        v: v.map(Start::Fixed).to_vec(),
        ..Initial::default()
    };
    // more is said than needed, and it agrees: g and gI are surplus
    let found = start(&PENDULUM, &fixed([0.6, -0.8], [0.8, 0.6])).unwrap();
    assert_eq!((found.surplus, found.undetermined_multipliers), (2, 0));
    // a condition that agrees
    let agreeing =
        Initial::motion(0.0, &[0.6, -0.8], &[0.8, 0.6]).condition("unit speed", |x| x.v[0].hypot(x.v[1]) - 1.0);
    assert_eq!(start(&PENDULUM, &agreeing).unwrap().surplus, 0);
    let mut agreeing = agreeing;
    agreeing.v[0] = Start::Fixed(0.8);
    agreeing.p[0] = Start::Fixed(0.6);
    assert_eq!(start(&PENDULUM, &agreeing).unwrap().surplus, 1);
    // it does not agree
    let error = start(&PENDULUM, &fixed([0.6, -0.8], [0.8, 0.7])).unwrap_err();
    let InitialisationError::Contradictory { equations, mut fixed } = error else { panic!("{error:?}") };
    assert_eq!(equations.len(), 1);
    assert_eq!(equations[0].0, "holonomic constraint 1 at velocity level");
    // gI = 2 p·v
    assert!((equations[0].1 + 0.16).abs() < 1e-15);
    fixed.sort();
    assert_eq!(fixed, ["p1", "p2", "v1", "v2"]);
    // conditions that exclude each other, nothing fixed
    let initial = Initial::motion(0.0, &[0.6, -0.8], &[0.0, 0.0])
        .condition("left", |x| x.p[0] + 0.5)
        .condition("right", |x| x.p[0] - 0.5);
    let error = start(&PENDULUM, &initial).unwrap_err();
    let InitialisationError::Contradictory { equations, fixed } = &error else { panic!("{error:?}") };
    let names: Vec<&str> = equations.iter().map(|e| e.0.as_str()).collect();
    assert!(names.contains(&"condition left") && names.contains(&"condition right"), "{names:?}");
    assert!(fixed.is_empty() && !error.to_string().contains("fixed"));
}

/// Two point masses on rods, side by side, with names of their own.
struct Pair;

impl EquationsOfMotion for Pair {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 4, velocities: 4, holonomic: 2, ..Sizes::default() }
    }
    fn names(&self) -> Names {
        Names::numbered(&EquationsOfMotion::sizes(self))
            .motion(&["left.x", "left.y", "right.x", "right.y"], &["left.vx", "left.vy", "right.vx", "right.vy"])
            .constraints(&["left rod", "right rod"], &[])
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        for i in 0..4 {
            M[(i, i)] = S::from(1.0);
        }
    }
    fn force<S: Scalar>(&self, _: &Motion<S>, f: &mut [S]) {
        f[1] = S::from(-13.75);
        f[3] = S::from(-13.75);
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        g[0] = at.p[0].square() + at.p[1].square() - 1.0;
        g[1] = at.p[2].square() + at.p[3].square() - 1.0;
    }
}

#[test]
fn underdetermined_values_are_named_and_counted() {
    let diagonal = 0.5_f64.sqrt();
    let mut initial = Initial::motion(0.0, &[diagonal, -diagonal, 1.0, 0.0], &[0.0; 4]);
    initial.v[0] = Start::Unknown;
    initial.v[1] = Start::Unknown;
    let error = start(&Pair, &initial).unwrap_err();
    let names = vec!["left.vx".to_string(), "left.vy".to_string()];
    assert_eq!(error, InitialisationError::Underdetermined { names, count: 1 });
    // on the right, the rod fixes vx but not vy
    initial.v[2] = Start::Unknown;
    initial.v[3] = Start::Unknown;
    let error = start(&Pair, &initial).unwrap_err();
    let InitialisationError::Underdetermined { names, count } = &error else { panic!("{error:?}") };
    assert_eq!(*count, 2);
    assert_eq!(names, &["left.vx", "left.vy", "right.vy"]);
    crate::support::says(&error.to_string(), &["left.vx, left.vy, right.vy", "give 2 more values"]);
    // one condition for each is enough
    let initial = initial.condition("left", |x| x.v[0] - 1.0).condition("right", |x| x.v[3] - 2.0);
    let found = start(&Pair, &initial).unwrap();
    assert!(distance(&found.state.x[layout(&Pair).v()], &[1.0, 1.0, 0.0, 2.0]) < 1e-12);
}

#[test]
fn redundant_constraints_leave_multipliers_undetermined_but_nothing_else() {
    let found = start(&DoubledPendulum, &Initial::motion(0.0, &[0.6, -0.8], &[0.8, 0.6])).unwrap();
    assert_eq!(found.undetermined_multipliers, 1);
    let single = start(&PENDULUM, &Initial::motion(0.0, &[0.6, -0.8], &[0.8, 0.6])).unwrap();
    assert_eq!(single.undetermined_multipliers, 0);
    // the smallest multipliers share the load
    let load = single.state.x[layout(&PENDULUM).lambda()][0];
    let shared = &found.state.x[layout(&DoubledPendulum).lambda()];
    assert!(distance(shared, &[0.5 * load, 0.5 * load]) < 1e-13);
    // a guess decides how they share it
    let uneven = Initial::motion(0.0, &[0.6, -0.8], &[0.8, 0.6]).multipliers(&[load, 0.0], &[]);
    let found = start(&DoubledPendulum, &uneven).unwrap();
    assert!(distance(&found.state.x[layout(&DoubledPendulum).lambda()], &[load, 0.0]) < 1e-13);
}

/// A coordinate without mass, 0 = p₂ − p₁² − 1: M is singular, [M Gᵀ; G 0] is not.
struct Massless;

impl EquationsOfMotion for Massless {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 2, velocities: 2, holonomic: 1, ..Sizes::default() }
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        M[(0, 0)] = S::from(1.0);
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        f[0] = -at.p[0];
        f[1] = -at.p[1] - 1.0;
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        g[0] = at.p[1] - at.p[0].square() - 1.0;
    }
}

#[test]
fn a_coordinate_without_mass_starts_and_moves() {
    let initial = Initial::motion(0.0, &[0.5, 1.2], &[0.3, 0.0]);
    let found = start(&Massless, &initial).unwrap();
    let (l, x) = (layout(&Massless), &found.state.x);
    let (q, u) = (x[l.p()][0], x[l.v()][0]);
    // p₂ = p₁² + 1, v₂ = 2 p₁ v₁, λ = −p₂ − 1, v₁' = −p₁ + 2 p₁ λ
    assert!((x[l.p()][1] - q * q - 1.0).abs() < 1e-14);
    assert!((x[l.v()][1] - 2.0 * q * u).abs() < 1e-14);
    assert!((x[l.lambda()][0] + q * q + 2.0).abs() < 1e-13);
    let rate = |q: f64| -5.0 * q - 2.0 * q * q * q;
    assert!((x[l.a()][0] - rate(q)).abs() < 1e-12);

    // the reduced equation p₁'' = −5 p₁ − 2 p₁³ by the classical Runge–Kutta method
    let (mut q, mut u, h) = (q, u, 1e-4);
    for _ in 0..20_000 {
        let (k1, l1) = (u, rate(q));
        let (k2, l2) = (u + 0.5 * h * l1, rate(q + 0.5 * h * k1));
        let (k3, l3) = (u + 0.5 * h * l2, rate(q + 0.5 * h * k2));
        let (k4, l4) = (u + h * l3, rate(q + h * k3));
        q += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
        u += h / 6.0 * (l1 + 2.0 * l2 + 2.0 * l3 + l4);
    }
    let solution = solve(&Problem::new(&Massless, initial, 2.0), &Geoms::default(), &tolerance(1e-10)).unwrap();
    let end = solution.at_end();
    assert!(distance(end.p, &[q, q * q + 1.0]) < 1e-8, "{end:?} is not {q}, {u}");
    assert!(distance(end.v, &[u, 2.0 * q * u]) < 1e-8);
    assert!((end.lambda[0] + q * q + 2.0).abs() < 1e-8);
}

#[test]
fn initial_values_do_not_depend_on_the_scale_of_the_constraint() {
    // the same motion in millimetres
    let small = Pendulum { l: 1e-3, g: 13.75e-3, m: 1.0 };
    let found = start(&small, &Initial::motion(0.0, &[0.7e-3, -0.8e-3], &[0.0, 0.0])).unwrap();
    let l = layout(&small);
    let p = &found.state.x[l.p()];
    assert!((p[0].hypot(p[1]) - 1e-3).abs() < 1e-15);
    assert!((p[0] - 0.7e-3).abs() < 0.1e-3 && (p[1] + 0.8e-3).abs() < 0.1e-3);
}
