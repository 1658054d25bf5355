//! Entries 7.13 and 7.14: redundant loops, and the remaining formulations of the pendulum. Steinbrecher (2006), 3.5 and 4.1.

use crate::examples::{ENERGY, Pendulum, PendulumAcceleration, PendulumVelocity, moving_pendulum};
use daedal::Initial;
use daedal::dae::{Characteristics, Depth, Equations, Form, Pencil, System, characterise, prepare};
use daedal::linalg::{Mat, Matrix, RankRule, Ranks};
use daedal::scalar::Scalar;

/// Which rows stand beside the constraints of the pendulum.
#[derive(Clone, Copy)]
enum Rows {
    /// One kinematic row along the circle, both dynamic rows, g and gI.
    ProjectedIndexOne,
    /// One kinematic and one dynamic row along the circle, g, gI, gII.
    StrangenessFree,
    /// The same with the energy, nothing left out for it.
    WithEnergy,
    /// One kinematic row, g, gI, gII and the energy.
    Reselected,
}

/// The pendulum, unit mass and length, g = 13.75, with selected rows.
struct Selected(Rows);

impl Equations for Selected {
    fn dim(&self) -> usize {
        5
    }
    fn rows(&self) -> usize {
        if matches!(self.0, Rows::WithEnergy) { 6 } else { 5 }
    }
    fn residual<S: Scalar>(&self, _: S, x: &[S], d: &[S], r: &mut [S]) {
        let (p, q, u, v, l) = (x[0], x[1], x[2], x[3], x[4]);
        let along = |a: S, b: S| p * b - q * a;
        let kinematic = along(d[0] - u, d[1] - v);
        let dynamic = [d[2] + p * l * 2.0, d[3] + q * l * 2.0 + 13.75];
        let g = p.square() + q.square() - 1.0;
        let g1 = p * u + q * v;
        let g2 = u.square() + v.square() - q * 13.75 - (p.square() + q.square()) * l * 2.0;
        let energy = (u.square() + v.square()) * 0.5 + q * 13.75 - ENERGY;
        let moving = along(dynamic[0], dynamic[1]);
        let rows = match self.0 {
            Rows::ProjectedIndexOne => vec![kinematic, dynamic[0], dynamic[1], g, g1],
            Rows::StrangenessFree => vec![kinematic, moving, g, g1, g2],
            Rows::WithEnergy => vec![kinematic, moving, g, g1, g2, energy],
            Rows::Reselected => vec![kinematic, g, g1, g2, energy],
        };
        r.copy_from_slice(&rows);
    }
}

/// φ' = η, η' = −g sin φ.
struct StateSpace;

impl Equations for StateSpace {
    fn dim(&self) -> usize {
        2
    }
    fn residual<S: Scalar>(&self, _: S, x: &[S], d: &[S], r: &mut [S]) {
        r[0] = d[0] - x[1];
        r[1] = d[1] + x[0].sin() * 13.75;
    }
}

/// Three parallel cranks with a platform, unit parameters, L₄ = 2: φ, ω, λ, four each; four loop equations of rank three.
struct DoubleFourBar;

impl Equations for DoubleFourBar {
    fn dim(&self) -> usize {
        12
    }
    fn residual<S: Scalar>(&self, _: S, x: &[S], d: &[S], r: &mut [S]) {
        let (p, v, l) = (&x[..4], &x[4..8], &x[8..]);
        let [(s1, c1), (s2, c2), (s3, c3), (s4, c4)] = [0, 1, 2, 3].map(|i| p[i].sin_cos());
        let (sine, cosine) = (p[0] - p[3]).sin_cos();
        for i in 0..4 {
            r[i] = d[i] - v[i];
        }
        let a = &d[4..8];
        r[4] = a[0] * 2.0 + cosine * a[3] + c1 * (2.0 * 9.81) + sine * v[3].square() - s1 * (l[0] + l[2])
            + c1 * (l[1] + l[3]);
        r[5] = a[1] + c2 * 9.81 + s2 * l[0] - c2 * l[1];
        r[6] = a[2] + c3 * 9.81 + s3 * l[2] - c3 * l[3];
        r[7] = a[3] + cosine * a[0] + c4 * 9.81 - sine * v[0].square() - s4 * (l[0] + l[2] * 2.0)
            + c4 * (l[1] + l[3] * 2.0);
        r[8] = c1 - c2 + c4 - 1.0;
        r[9] = s1 - s2 + s4;
        r[10] = c1 - c3 + (c4 - 1.0) * 2.0;
        r[11] = s1 - s3 + s4 * 2.0;
    }
}

/// Slider crank with unit masses, l₁ = 1, l₂ = 2, and two further constraints that vanish identically.
struct RedundantSliderCrank;

impl Equations for RedundantSliderCrank {
    fn dim(&self) -> usize {
        7
    }
    fn residual<S: Scalar>(&self, _: S, x: &[S], d: &[S], r: &mut [S]) {
        let (p, q, u, v, l) = (x[0], x[1], x[2], x[3], x[4]);
        let (sine, cosine) = (p + q).sin_cos();
        r[0] = d[0] - u;
        r[1] = d[1] - v;
        r[2] = d[2] * 2.0 - cosine * d[3] * 2.0 + p.cos() * (2.0 * 9.81) + sine * v.square() * 2.0 + p.cos() * l;
        r[3] = d[3] * 4.0 - cosine * d[2] * 2.0 - q.cos() * (2.0 * 9.81) + sine * u.square() * 2.0 - q.cos() * l * 2.0;
        r[4] = p.sin() - q.sin() * 2.0;
        r[5] = x[5] * 0.0;
        r[6] = x[6] * 0.0;
    }
}

fn analyse<E: Equations>(equations: &E, x: &[f64], unknown: std::ops::Range<usize>) -> Characteristics {
    let initial = unknown.fold(Initial::new(0.0, x), Initial::unknown);
    characterise(&System::of(equations), &initial, Depth { confirm: true, ..Depth::default() }).unwrap()
}

/// (ν_c, ν_s), (d, a, v, u), ν_d.
fn numbers(c: &Characteristics) -> ((i32, usize), [usize; 4], Option<usize>) {
    let v = c.values;
    let level = c.constraint_level().map_or(-1, |l| l as i32);
    ((level, v.mu), [v.d, v.a, v.v, v.u], c.differentiation_index())
}

#[test]
fn entry_7_14_selected_formulations_of_the_pendulum() {
    let x = moving_pendulum();
    let of = |rows: Rows| numbers(&analyse(&Selected(rows), &x, 0..0));
    assert_eq!(of(Rows::ProjectedIndexOne), ((1, 1), [2, 3, 0, 0], Some(2)));
    assert_eq!(of(Rows::StrangenessFree), ((0, 0), [2, 3, 0, 0], Some(1)));
    assert_eq!(of(Rows::WithEnergy), ((0, 1), [1, 4, 1, 0], None));
    assert_eq!(of(Rows::Reselected), ((0, 0), [1, 4, 0, 0], Some(1)));
    assert_eq!(numbers(&analyse(&StateSpace, &[0.6, 1.3], 0..0)), ((-1, 0), [2, 0, 0, 0], Some(0)));
}

#[test]
fn entry_7_13_redundant_loops_of_the_double_four_bar() {
    let x = [-1.2, -1.2, -1.2, 0.0, 0.7, 0.7, 0.7, 0.0, 0.0, 0.0, 0.0, 0.0];
    let c = analyse(&DoubleFourBar, &x, 8..12);
    assert_eq!(c.levels.iter().map(|l| l.a).collect::<Vec<_>>(), [3, 6, 9, 9]);
    assert_eq!(numbers(&c), ((2, 2), [2, 9, 1, 1], None));
}

#[test]
fn entry_7_13_constraints_of_the_slider_crank_that_vanish_identically() {
    let (p, u) = (0.6_f64, 0.9);
    let q = (0.5 * p.sin()).asin();
    let c = analyse(&RedundantSliderCrank, &[p, q, u, p.cos() * u / (2.0 * q.cos()), 0.0, 0.0, 0.0], 4..7);
    let v = c.values;
    assert_eq!((v.d, v.v, v.u), (2, 2, 2));
}

const STEPS: [f64; 3] = [1e-2, 1e-3, 1e-4];

/// σ₁/σₙ.
fn condition(N: &Mat<f64>) -> f64 {
    let sizes = Ranks::new(RankRule::default()).subspaces(N, 0.0).unwrap().singular_values;
    sizes[0] / sizes[sizes.len() - 1]
}

/// Conditions of E + h F_x for all steps, with the constraint as it stands or divided by h, where the equations are discretised as they are.
fn direct<E: Equations>(equations: &E, divided: bool) -> [f64; 3] {
    let system = System::of(equations);
    let found = characterise(&system, &Initial::new(0.0, &moving_pendulum()), Depth::default()).unwrap();
    let mut J = Matrix::zeros(5, 10);
    system.array().jacobian(0, 0.0, &found.jet[..10], &mut J).unwrap();
    STEPS.map(|h| {
        let factor = |i: usize| if i == 4 && divided { 1.0 } else { h };
        condition(&Mat::from_fn(5, 5, |i, j| factor(i) * J[(i, j)] + if i < 4 { J[(i, 5 + j)] } else { 0.0 }))
    })
}

/// Section 3.5: the iteration matrix of a direct discretisation has the condition h^(−ν) with the differentiation index ν, one power less with
/// the constraint divided by h. That of the regularised system, which integrators use, does not depend on h.
#[test]
fn iteration_matrices_of_the_regularised_pendulum_stay_well_conditioned() {
    let exponents = |of: [f64; 3]| [(of[1] / of[0]).log10(), (of[2] / of[1]).log10()];
    for (power, of) in [
        (3.0, [direct(&Pendulum, false), direct(&Pendulum, true)]),
        (2.0, [direct(&PendulumVelocity, false), direct(&PendulumVelocity, true)]),
        (1.0, [direct(&PendulumAcceleration, false), direct(&PendulumAcceleration, true)]),
    ] {
        println!("{of:?} {:?} {:?}", exponents(of[0]), exponents(of[1]));
        assert!(exponents(of[0]).iter().all(|p| (p - power).abs() < 0.1), "{of:?}");
        assert!(exponents(of[1]).iter().all(|p| (p - power + 1.0).abs() < 0.1), "{of:?}");
    }
    let system = System::of(&Pendulum);
    let mut prepared = prepare(&system, &Initial::new(0.0, &moving_pendulum()), Form::QuasiLinear).unwrap();
    let mut pencil = prepared.dae.new_pencil();
    prepared.dae.pencil(0.0, &prepared.at.x, &prepared.at.xdot, &mut pencil).unwrap();
    let Pencil { E, A } = &pencil;
    let of =
        STEPS.map(|h| {
            condition(&Mat::from_fn(5, 5, |i, j| {
                if prepared.dae.algebraic(i) { A[(i, j)] } else { E[(i, j)] - h * A[(i, j)] }
            }))
        });
    println!("{of:?}");
    // 1.3e2 with selectors of the source, which are combinations
    assert!(of.iter().all(|of| *of < 300.0) && (of[2] / of[0] - 1.0).abs() < 0.1, "{of:?}");
}

/// E(x) x' = k with E = [exp 3x₁, sin x₂; 0, 1]: without ∂(E x')/∂x in the iteration matrix the source counts 30 iterations instead of two.
#[test]
fn iteration_matrices_contain_the_derivative_of_the_leading_matrix() {
    struct Leading;
    impl Equations for Leading {
        fn dim(&self) -> usize {
            2
        }
        fn residual<S: Scalar>(&self, _: S, x: &[S], d: &[S], r: &mut [S]) {
            r[0] = (x[0] * 3.0).exp() * d[0] + x[1].sin() * d[1] - 1.0;
            r[1] = d[1] - x[0];
        }
    }
    let mut prepared = prepare(&System::of(&Leading), &Initial::new(0.0, &[0.2, 0.4]), Form::Plain).unwrap();
    let ([x1, x2], [d1, d2]) = ([0.2_f64, 0.4_f64], [prepared.at.xdot[0], prepared.at.xdot[1]]);
    assert!((d2 - x1).abs() < 1e-14 && (d1 - (1.0 - x2.sin() * d2) / (3.0 * x1).exp()).abs() < 1e-14);
    let mut pencil = prepared.dae.new_pencil();
    prepared.dae.pencil(0.0, &prepared.at.x, &prepared.at.xdot, &mut pencil).unwrap();
    let expected = [[-3.0 * (3.0 * x1).exp() * d1, -x2.cos() * d2], [1.0, 0.0]];
    for (i, row) in expected.iter().enumerate() {
        for (j, entry) in row.iter().enumerate() {
            assert!((pencil.A[(i, j)] - entry).abs() < 1e-14, "{i} {j}: {}", pencil.A[(i, j)]);
        }
    }
}
