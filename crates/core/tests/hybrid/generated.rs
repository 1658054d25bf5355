//! Generated equations of sliding, and equations of motion as general systems: characteristic values and solutions.

use crate::mechanisms::{Academic, DoubledPendulum, PENDULUM, distance, tolerance};
use daedal::dae::{self, CharacteristicValues, Depth, Equations, Formulas, System, Unknowns, characterise};
use daedal::graph::{Expr, Interpreted};
use daedal::hybrid::{Combination, SlidingError, SurfaceFormula, sliding_formulas};
use daedal::linalg::Matrix;
use daedal::motion::{self, EquationsOfMotion, Motion, Names, Position, Sizes, Velocity};
use daedal::scalar::Scalar;
use daedal::{Geoms, Initial, RadauIIa, Solution};

type Row = fn(Expr, &[Expr], &[Expr]) -> Expr;

/// A system written as a list of residuals of (t, x, ẋ).
fn system(names: &[&str], rows: &[Row]) -> Formulas {
    let mut graph = daedal::graph::Graph::new();
    let t = graph.input("t");
    let x: Vec<Expr> = names.iter().map(|name| graph.input(*name)).collect();
    let xdot: Vec<Expr> = names.iter().map(|name| graph.input(format!("{name}'"))).collect();
    let rows: Vec<Expr> = graph.with(|| rows.iter().map(|row| row(t, &x, &xdot)).collect());
    Formulas {
        orders: dae::highest_orders(&graph, &rows, x.len(), 1),
        graph,
        states: names.iter().map(ToString::to_string).collect(),
        levels: 1,
        equations: rows.into_iter().enumerate().map(|(i, e)| (format!("row {i}"), e)).collect(),
        ..Formulas::default()
    }
}

fn values(formulas: &Formulas, t: f64, x: &[f64]) -> CharacteristicValues {
    let system = System::new(formulas, Interpreted);
    let depth = Depth { confirm: true, ..Depth::default() };
    let found = characterise(&system, &Initial::new(t, x), depth).unwrap();
    assert!(found.confirmed);
    found.values
}

fn regular(mu: usize, d: usize, a: usize) -> CharacteristicValues {
    CharacteristicValues { mu, d, a, v: 0, u: 0 }
}

/// Guesses of the first unknowns; the others are computed.
fn guesses(formulas: &Formulas, t: f64, x: &[f64]) -> Initial {
    let mut initial = Initial::new(t, x);
    initial.states.resize(formulas.states.len(), daedal::Start::Unknown);
    initial
}

fn run(formulas: &Formulas, x: &[f64], tend: f64) -> Solution<Unknowns> {
    let system = System::new(formulas, Interpreted);
    let problem = daedal::Problem::new(&system, guesses(formulas, 0.0, x), tend);
    daedal::solve(&problem, &RadauIIa::default(), &tolerance(1e-9)).unwrap()
}

fn end(formulas: &Formulas, x: &[f64], tend: f64) -> Vec<f64> {
    run(formulas, x, tend).end.x[..formulas.states.len()].to_vec()
}

fn filippov(modes: &[&Formulas], surfaces: &[SurfaceFormula]) -> Formulas {
    sliding_formulas(modes, surfaces, Combination::Filippov).unwrap()
}

// equations of motion as general systems

/// A general system and GEOMS at the same time: p, v, r, w, s, λ, μ.
fn both_ways<E: EquationsOfMotion>(model: &E, initial: daedal::Initial, tend: f64) -> (Vec<f64>, Vec<f64>, Formulas) {
    let t0 = initial.t;
    let mut formulas = Formulas::of_motion(&motion::Formulas::trace(model));
    // redundant constraints leave multipliers open
    formulas.free = formulas.states.iter().filter(|name| name.starts_with("lambda")).cloned().collect();
    let problem = daedal::Problem::new(model, initial, tend);
    let geoms = daedal::solve(&problem, &Geoms::default(), &tolerance(1e-10)).unwrap();
    let parts = |m: Motion<f64>| [m.p, m.v, m.r, m.w, m.s, m.lambda, m.mu].concat();
    let (first, last) = (parts(geoms.motion(0)), parts(geoms.at_end()));
    let system = System::new(&formulas, Interpreted);
    let problem = daedal::Problem::new(&system, guesses(&formulas, t0, &first), tend);
    let general = daedal::solve(&problem, &RadauIIa::default(), &tolerance(1e-10)).unwrap();
    (general.end.x[..last.len()].to_vec(), last, formulas)
}

/// A skate on an inclined plane: p = (x, y, φ), 0 = −sin φ ẋ + cos φ ẏ.
struct Skate;

impl EquationsOfMotion for Skate {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 3, velocities: 3, nonholonomic: 1, ..Sizes::default() }
    }
    fn names(&self) -> Names {
        Names::numbered(&self.sizes()).motion(&["x", "y", "phi"], &["vx", "vy", "omega"]).constraints(&[], &["edge"])
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        for (i, m) in [2.0, 2.0, 0.5].into_iter().enumerate() {
            M[(i, i)] = S::from(m);
        }
    }
    fn force<S: Scalar>(&self, _: &Motion<S>, f: &mut [S]) {
        f[0] = S::from(3.0);
    }
    fn nonholonomic<S: Scalar>(&self, at: &Velocity<S>, h: &mut [S]) {
        h[0] = at.p[2].cos() * at.v[1] - at.p[2].sin() * at.v[0];
    }
}

#[test]
fn a_pendulum_is_a_general_system_of_strangeness_index_two() {
    let initial = Initial::motion(0.0, &[0.0, -1.0], &[2.8, 0.0]);
    let (general, geoms, formulas) = both_ways(&PENDULUM, initial, 3.0);
    assert_eq!(formulas.states, ["p1", "p2", "v1", "v2", "lambda1"]);
    assert_eq!(formulas.equations[4].0, "holonomic constraint 1");
    assert_eq!(values(&formulas, 0.0, &[0.0, -1.0, 2.8, 0.0, 10.795]), regular(2, 2, 3));
    assert!(distance(&general, &geoms) < 1e-7, "{general:?} {geoms:?}");
}

#[test]
fn a_skate_is_a_general_system_of_strangeness_index_one() {
    let initial = Initial::motion(0.0, &[0.0, 0.0, 0.3], &[0.0, 0.0, 1.5]);
    let (general, geoms, formulas) = both_ways(&Skate, initial, 3.0);
    assert_eq!(formulas.states, ["x", "y", "phi", "vx", "vy", "omega", "mu.edge"]);
    assert_eq!(values(&formulas, 0.0, &[0.0, 0.0, 0.3, 0.0, 0.0, 1.5, 0.0]), regular(1, 5, 2));
    assert!(distance(&general, &geoms) < 1e-7, "{general:?} {geoms:?}");
}

#[test]
fn redundant_constraints_leave_multipliers_open_but_not_the_motion() {
    let initial = Initial::motion(0.0, &[0.0, -1.0], &[2.8, 0.0]);
    let (general, geoms, formulas) = both_ways(&DoubledPendulum, initial, 2.0);
    let found = values(&formulas, 0.0, &[0.0, -1.0, 2.8, 0.0, 5.0, 5.795]);
    assert_eq!((found.d, found.u, found.v), (2, 1, 1));
    assert!(distance(&general[..4], &geoms[..4]) < 1e-7, "{general:?} {geoms:?}");
    // only the sum of both multipliers is determined
    assert!((general[4] + general[5] - geoms[4] - geoms[5]).abs() < 1e-6, "{general:?} {geoms:?}");
}

#[test]
fn contact_auxiliary_and_dynamic_variables_are_unknowns_of_the_general_system() {
    // the solution is p = ((1 + t) cos t, sin t, cos t), s = (1 + t, t cos t), r = (−2 cos t, −4t − t²), λ = (cos t, −t)
    let t = 0.1_f64;
    let (sin, cos) = t.sin_cos();
    let start = Initial::motion(t, &[(1.0 + t) * cos, sin, cos], &[cos - (1.0 + t) * sin, cos, -sin])
        .dynamic(&[-2.0 * cos, -4.0 * t - t * t])
        .auxiliary(&[-2.0 * cos])
        .contact(&[1.0 + t, t * cos])
        .multipliers(&[cos, -t], &[]);
    let (general, geoms, formulas) = both_ways(&Academic, start, 0.6);
    assert_eq!(formulas.states[13..], ["s1*", "s2*"]);
    assert!(distance(&general, &geoms) < 1e-7, "{general:?} {geoms:?}");
}

#[test]
fn parameters_of_a_motion_keep_names_and_numbers() {
    // x'' = −k x
    let (sizes, parameters) = (Sizes { positions: 1, velocities: 1, ..Sizes::default() }, [("k".to_string(), 4.0)]);
    let names = Names::numbered(&sizes).motion(&["x"], &["v"]);
    let mut graph = daedal::graph::Graph::new();
    let at = motion::Variables::new(&mut graph, &sizes, &names, &parameters);
    let (one, force, output) =
        graph.with(|| (Expr::from(1.0), -(at.parameters()[0] * at.p()[0]), at.a()[0] * at.parameters()[0]));
    let formulas = Formulas::of_motion(&motion::Formulas {
        graph,
        sizes,
        names,
        parameters: parameters.to_vec(),
        kinematics: vec![at.v()[0]],
        mass: vec![(0, 0, one)],
        force: vec![force],
        outputs: vec![("a".into(), output)],
        ..motion::Formulas::default()
    });
    assert_eq!(formulas.parameters, parameters);
    assert_eq!(formulas.graph.formula(formulas.equations[1].1), "v' + k*x");
    assert_eq!(formulas.graph.formula(formulas.outputs[0].1), "v'*k");
    let end = end(&formulas, &[1.0, 0.0], 1.0);
    assert!(distance(&end, &[2.0_f64.cos(), -2.0 * 2.0_f64.sin()]) < 1e-7, "{end:?}");
}

// sliding

#[test]
fn m4_the_sliding_field_is_the_tangential_combination() {
    let above = system(&["x1", "x2"], &[|_, _, d| d[0] + 1.0, |_, _, d| d[1] - 1.0]);
    let below = system(&["x1", "x2"], &[|_, _, d| d[0] - 2.0, |_, _, d| d[1]]);
    let sliding = filippov(&[&above, &below], &[&|_, x| x[0]]);
    // (5.33)
    assert_eq!(values(&sliding, 0.0, &[0.0, 0.0, 0.5]), regular(1, 1, 2));
    let end = end(&sliding, &[0.0, 0.25, 0.5], 3.0);
    assert!(distance(&end, &[0.0, 2.25, 2.0 / 3.0]) < 1e-9, "{end:?}");
}

/// x1' = u, x2' = u².
fn squared(u: f64) -> Formulas {
    let mut formulas = system(&["x1", "x2"], &[]);
    let input = formulas.graph.input("u");
    let rates = [0, 1].map(|j| formulas.input(j, 1).unwrap());
    let rows = formulas.graph.with(|| [rates[0] - input, rates[1] - input * input]);
    formulas.equations = vec![("first".into(), rows[0]), ("second".into(), rows[1])];
    formulas.orders = vec![1, 1];
    formulas.parameters = vec![("u".into(), u)];
    formulas
}

#[test]
fn filippov_and_equivalent_control_differ_where_the_control_enters_nonlinearly() {
    let modes = [squared(-1.0), squared(1.0)];
    for (combination, slope) in [(Combination::Filippov, 1.0), (Combination::EquivalentControl, 0.0)] {
        let sliding = sliding_formulas(&[&modes[0], &modes[1]], &[&|_, x| x[0]], combination).unwrap();
        assert_eq!(values(&sliding, 0.0, &[0.0, 0.0, 0.4]), regular(1, 1, 2));
        let end = end(&sliding, &[0.0, 0.0, 0.4], 2.0);
        assert!(distance(&end, &[0.0, 2.0 * slope, 0.5]) < 1e-9, "{combination:?}: {end:?}");
    }
}

/// x' = −1 + y/2 or 1 + y, constraint y = r, where r is given for both modes.
fn with_constraint(constraint: [Row; 2]) -> [Formulas; 2] {
    let names = ["x", "y"];
    [
        system(&names, &[|_, x, d| d[0] + 1.0 - x[1] * 0.5, constraint[0]]),
        system(&names, &[|_, x, d| d[0] - 1.0 - x[1], constraint[1]]),
    ]
}

#[test]
fn constraints_that_jump_in_the_switching_function_fix_the_weight_without_differentiation() {
    // y = x + 1 above, y = x − 1 below, g = y: α = (1 − x)/2, x' = α (−1 + (x + 1)/2) + (1 − α)(1 + x − 1)
    let modes = with_constraint([|_, x, _| x[1] - x[0] - 1.0, |_, x, _| x[1] - x[0] + 1.0]);
    let sliding = filippov(&[&modes[0], &modes[1]], &[&|_, x| x[1]]);
    let x = 0.2;
    let start = [x, 0.0, 0.4, 0.0, 0.0, 0.0, 0.0];
    assert_eq!(values(&sliding, 0.0, &start), regular(0, 1, 6));
    let solution = run(&sliding, &start, 0.5);
    let (x, alpha) = (solution.end.x[0], solution.end.x[2]);
    assert!((alpha - 0.5 * (1.0 - x)).abs() < 1e-8, "{alpha}");
    // x' = ½(1−x)·½(x−1) + ½(1+x)·x = ¼(x² + 4x − 1)
    let rate = |x: f64| 0.25 * (x * x + 4.0 * x - 1.0);
    // RK4 with small steps
    let (mut exact, h) = (0.2, 0.5e-3);
    for _ in 0..1000 {
        let k1 = rate(exact);
        let k2 = rate(exact + 0.5 * h * k1);
        let k3 = rate(exact + 0.5 * h * k2);
        let k4 = rate(exact + h * k3);
        exact += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
    }
    assert!((x - exact).abs() < 1e-8, "{x} {exact}");
}

#[test]
fn continuous_constraints_need_one_differentiation() {
    // y = 2x + 1 in both modes; equations are multiplied by 2 and 3 below, so that nothing is shared as it stands
    let names = ["x", "y"];
    let above = system(&names, &[|_, _, d| d[0] + 1.0, |_, x, _| x[1] - x[0] * 2.0 - 1.0]);
    let below = system(&names, &[|_, _, d| d[0] * 2.0 - 6.0, |_, x, _| x[1] * 3.0 - x[0] * 6.0 - 3.0]);
    let sliding = filippov(&[&above, &below], &[&|t, x| x[1] - 1.0 - t]);
    assert_eq!(sliding.states.len(), 7);
    let start = [0.0, 1.0, 0.5, -1.0, 1.0, 3.0, 1.0];
    assert_eq!(values(&sliding, 0.0, &start), regular(1, 0, 7));
    // x' = −α + 3(1 − α) = ½, α = 5/8
    let end = end(&sliding, &start, 1.0);
    assert!(distance(&end[..3], &[0.5, 2.0, 0.625]) < 1e-8, "{end:?}");

    // with another unknown the sliding motion has a degree of freedom
    let names = ["x", "y", "s"];
    let third: Row = |_, x, d| d[2] - x[1];
    let above = system(&names, &[|_, _, d| d[0] + 1.0, |_, x, _| x[1] - x[0] * 2.0 - 1.0, third]);
    let below = system(&names, &[|_, _, d| d[0] * 2.0 - 6.0, |_, x, _| x[1] * 3.0 - x[0] * 6.0 - 3.0, third]);
    let sliding = filippov(&[&above, &below], &[&|_, x| x[1] - 1.0]);
    let start = [0.0, 1.0, 0.0, 0.5, -1.0, 1.0, 1.0, 3.0, 1.0, 1.0];
    assert_eq!(values(&sliding, 0.0, &start), regular(1, 1, 9));
}

/// 15.2: two rigid bodies with dry friction.
fn bodies(sign: f64) -> Formulas {
    struct Bodies(f64);
    impl Equations for Bodies {
        fn dim(&self) -> usize {
            4
        }
        fn residual<S: Scalar>(&self, t: S, x: &[S], xdot: &[S], r: &mut [S]) {
            r[0] = xdot[0] - x[2];
            r[1] = xdot[1] - x[3];
            r[2] = xdot[2] - t.sin() + 0.4 * self.0;
            r[3] = xdot[3] - 0.4 * self.0;
        }
    }
    Formulas::trace(&Bodies(sign))
}

#[test]
fn rigid_bodies_stick_with_the_force_between_them() {
    let sliding = filippov(&[&bodies(1.0), &bodies(-1.0)], &[&|_, x| x[2] - x[3]]);
    assert_eq!(values(&sliding, 0.1, &[1.0, 1.0, 0.0, 0.0, 0.5]), regular(1, 3, 2));
    let tend = 0.9_f64;
    let end = end(&sliding, &[1.0, 1.0, 0.0, 0.0], tend);
    let v = 0.5 * (1.0 - tend.cos());
    let p = 1.0 + 0.5 * (tend - tend.sin());
    // λS = 2 μ F (1 − α) = 0.4 − sin(t)/2
    let alpha = 1.0 - (0.4 - 0.5 * tend.sin()) / 0.8;
    assert!(distance(&end, &[p, p, v, v, alpha]) < 1e-8, "{end:?} {alpha}");
}

#[test]
fn a_mass_sticks_to_the_belt_with_the_weight_of_the_spring_force() {
    // 15.3: x' = v, v' = −3x ∓ 1/(1 + 3|v − 0.2|)
    fn belt(sign: f64) -> Formulas {
        struct Belt(f64);
        impl Equations for Belt {
            fn dim(&self) -> usize {
                2
            }
            fn residual<S: Scalar>(&self, _: S, x: &[S], xdot: &[S], r: &mut [S]) {
                let slip = x[1] - 0.2;
                r[0] = xdot[0] - x[1];
                r[1] = xdot[1] + x[0] * 3.0 - (slip.abs() * 3.0 + 1.0).recip() * self.0;
            }
        }
        Formulas::trace(&Belt(sign))
    }
    let sliding = filippov(&[&belt(-1.0), &belt(1.0)], &[&|_, x| x[1] - 0.2]);
    assert_eq!(values(&sliding, 0.0, &[0.1, 0.2, 0.3]), regular(1, 1, 2));
    let end = end(&sliding, &[-0.16, 0.2], 2.0);
    assert!(distance(&end, &[0.24, 0.2, 0.5 * (1.0 - 3.0 * 0.24)]) < 1e-8, "{end:?}");
}

#[test]
fn two_surfaces_have_a_weight_each() {
    // x₁' = 1/4 − sign x₁, x₂' = 1/2 − sign x₂, y' = sign x₁ + 2 sign x₂
    let names = ["x1", "x2", "y"];
    let modes = [
        system(&names, &[|_, _, d| d[0] + 0.75, |_, _, d| d[1] + 0.5, |_, _, d| d[2] - 1.0 - 2.0]),
        system(&names, &[|_, _, d| d[0] - 1.25, |_, _, d| d[1] + 0.5, |_, _, d| d[2] + 1.0 - 2.0]),
        system(&names, &[|_, _, d| d[0] + 0.75, |_, _, d| d[1] - 1.5, |_, _, d| d[2] - 1.0 + 2.0]),
        system(&names, &[|_, _, d| d[0] - 1.25, |_, _, d| d[1] - 1.5, |_, _, d| d[2] + 1.0 + 2.0]),
    ];
    let all: Vec<&Formulas> = modes.iter().collect();
    let sliding = filippov(&all, &[&|_, x| x[0], &|_, x| x[1]]);
    assert_eq!(sliding.states, ["x1", "x2", "y", "alpha.1", "alpha.2"]);
    let start = [0.0, 0.0, 0.0, 0.5, 0.5];
    assert_eq!(values(&sliding, 0.0, &start), regular(1, 1, 4));
    let end = end(&sliding, &start, 2.0);
    // α₁ = 5/8, α₂ = 3/4: y' = 1/4 + 2·1/2
    assert!(distance(&end, &[0.0, 0.0, 2.5, 0.625, 0.75]) < 1e-8, "{end:?}");
}

#[test]
fn coupled_surfaces_have_the_weights_of_the_bilinear_equations() {
    // corners of x₁': −1, 2, −2, 1; of x₂': −1, −2, 3, 1
    let names = ["x1", "x2"];
    let modes = [
        system(&names, &[|_, _, d| d[0] + 1.0, |_, _, d| d[1] + 1.0]),
        system(&names, &[|_, _, d| d[0] - 2.0, |_, _, d| d[1] + 2.0]),
        system(&names, &[|_, _, d| d[0] + 2.0, |_, _, d| d[1] - 3.0]),
        system(&names, &[|_, _, d| d[0] - 1.0, |_, _, d| d[1] - 1.0]),
    ];
    let all: Vec<&Formulas> = modes.iter().collect();
    let sliding = filippov(&all, &[&|_, x| x[0], &|_, x| x[1]]);
    let found = end(&sliding, &[0.0, 0.0, 0.5, 0.4], 1.0);
    // with a, b: first 1 − 3a + b = 0, second 1 + 2a − 3b − ab = 0, so that b = 3a − 1 and 3a² + 6a − 4 = 0
    let a = (-3.0 + 21.0_f64.sqrt()) / 3.0;
    assert!(distance(&found, &[0.0, 0.0, a, 3.0 * a - 1.0]) < 1e-8, "{found:?} {a}");
}

/// A bob on a rod in the plane with friction μ_F ‖Gᵀλ‖ against the motion along the tangent c = (−y, x); driven by a horizontal force.
struct Rubbing {
    sign: f64,
}

const FRICTION: f64 = 0.5;

impl EquationsOfMotion for Rubbing {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 2, velocities: 2, holonomic: 1, ..Sizes::default() }
    }
    fn names(&self) -> Names {
        Names::numbered(&self.sizes()).motion(&["x", "y"], &["u", "v"]).constraints(&["rod"], &[])
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        M[(0, 0)] = S::from(1.0);
        M[(1, 1)] = S::from(1.0);
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        // the rod pulls: λ > 0, ‖Gᵀλ‖ = 2λ on the circle
        let friction = at.lambda[0] * (2.0 * FRICTION * self.sign);
        f[0] = at.t.sin() * 2.0 + friction * at.p[1];
        f[1] = -friction * at.p[0] - 9.81;
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        g[0] = at.p[0].square() + at.p[1].square() - 1.0;
    }
}

#[test]
fn a_bob_is_carried_along_with_the_friction_that_the_rod_force_allows() {
    // friction is (1 − 2α) μ ‖Gᵀλ‖ c; the surface on which the bob lies turns with ω = 0.3; the index of the modes is three, their friction contains the multiplier
    let (omega, angle) = (0.3, -1.3_f64);
    let modes = [1.0, -1.0].map(|sign| Formulas::of_motion(&motion::Formulas::trace(&Rubbing { sign })));
    let sliding = filippov(&[&modes[0], &modes[1]], &[&|_, x| -(x[1] * x[2]) + x[0] * x[3] - 0.3]);
    assert_eq!(sliding.states, ["x", "y", "u", "v", "lambda.rod", "alpha"]);
    let row = |i: usize| sliding.graph.formula(sliding.equations[i].1);
    assert_eq!(row(2), "u' - 2*sin(t) - lambda.rod*y + 2*x*lambda.rod + 2*(1 - alpha)*lambda.rod*y");
    assert_eq!(row(5), "x*v - y*u - 0.3");
    let at = |angle: f64| [angle.cos(), angle.sin(), -omega * angle.sin(), omega * angle.cos()];
    let start = at(angle);
    // g, g', g'', cᵀv = ω and its derivative leave the angle
    let system = System::new(&sliding, Interpreted);
    let found = characterise(&system, &guesses(&sliding, 0.0, &start), Depth::default()).unwrap();
    assert_eq!(found.values, regular(2, 1, 5));
    let tend = 1.0_f64;
    let end = end(&sliding, &start, tend);
    // along and across the rod: 2λ = f·p + ω², (2α − 1) μ 2λ = f·c with f = (2 sin t, −9.81)
    let [x, y, u, v] = at(angle + omega * tend);
    let (fx, fy) = (2.0 * tend.sin(), -9.81);
    let lambda = 0.5 * (fx * x + fy * y + omega * omega);
    let weight = 0.5 * ((fx * -y + fy * x) / (2.0 * lambda * FRICTION) + 1.0);
    assert!(distance(&end, &[x, y, u, v, lambda, weight]) < 1e-7, "{end:?} {lambda} {weight}");
}

#[test]
fn a_bowed_string_that_sticks_has_one_degree_of_freedom_less() {
    // 15.4 with N = 10, node c = 1: yb, ys, vb, vs and two multipliers of the ends
    const N: usize = 10;
    struct Bowed(f64);
    impl Equations for Bowed {
        fn dim(&self) -> usize {
            2 * N + 6
        }
        fn residual<S: Scalar>(&self, t: S, x: &[S], xdot: &[S], r: &mut [S]) {
            let stiffness = 5.5 / (0.07 * 0.07);
            let (n, lambda) = (N + 2, 2 * N + 4);
            for i in 0..n {
                r[i] = xdot[i] - x[n + i];
            }
            r[n] = xdot[n] + (t * 2.0).sin() + self.0;
            for i in 0..=N {
                let y = |k: usize| x[1 + k];
                let mut curvature = y(i) * -2.0;
                if i > 0 {
                    curvature += y(i - 1);
                }
                if i < N {
                    curvature += y(i + 1);
                }
                r[n + 1 + i] = xdot[n + 1 + i] * 0.5 - curvature * stiffness;
            }
            r[n + 1] += x[lambda];
            r[n + 1 + N] += x[lambda + 1];
            r[n + 2] -= S::from(self.0);
            (r[lambda], r[lambda + 1]) = (x[1], x[1 + N]);
        }
    }
    let modes = [-0.72, 0.72].map(|force| Formulas::trace(&Bowed(force)));
    let zero = vec![0.0; 2 * N + 7];
    assert_eq!(values(&modes[0], 0.0, &zero[1..]), regular(2, 2 * N, 6));
    let sliding = filippov(&[&modes[0], &modes[1]], &[&|_, x| x[N + 4] - x[N + 2]]);
    assert_eq!(values(&sliding, 0.0, &zero), regular(2, 2 * N - 1, 8));
}

#[test]
fn modes_that_share_too_little_are_told_to_be_written_by_hand() {
    let names = ["x", "y"];
    let g: SurfaceFormula = &|_, x| x[0];
    let sum: Row = |_, x, d| d[0] - x[1];
    let ode = system(&names, &[sum, |_, _, d| d[1] + 1.0]);
    let algebraic = system(&names, &[sum, |_, x, _| x[1] - 1.0]);
    let error = sliding_formulas(&[&ode, &algebraic], &[g], Combination::Filippov).unwrap_err();
    assert_eq!(error, SlidingError::Split { states: vec!["y".into()], row: "row 1".into() });
    // x = 1 leaves y to a differentiation
    let hidden = system(&names, &[sum, |_, x, _| x[0] - 1.0]);
    let error = sliding_formulas(&[&algebraic, &hidden], &[g], Combination::Filippov).unwrap_err();
    assert_eq!(error, SlidingError::Index { mode: 1, row: "row 1".into() });
    let four = [&ode, &ode, &ode, &algebraic];
    let error = sliding_formulas(&four, &[g, g], Combination::Filippov).unwrap_err();
    assert_eq!(error, SlidingError::Intersection { row: "row 1".into(), modes: [0, 3] });
}

#[test]
fn an_unknown_that_a_constraint_does_not_see_at_the_start_moves_along() {
    // at t = 0 the constraint s₁ s₂ − t p₁ does not see s₁, because s₂ = 0
    let (general, geoms, _) = both_ways(&Academic, crate::mechanisms::academic_start(), 0.5);
    assert!(distance(&general, &geoms) < 1e-7, "{general:?} {geoms:?}");
}
