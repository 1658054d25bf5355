//! The generated equations as they are written.

use super::*;
use crate::dae::{Equations, Formulas, highest_orders};
use crate::graph::Graph;
use crate::scalar::Scalar;

fn text(formulas: &Formulas) -> Vec<String> {
    formulas.equations.iter().map(|(name, e)| format!("{name}: {}", formulas.graph.formula(*e))).collect()
}

/// A mass on a belt: x' = v, m v' = −kx + force; unknowns and equations in the other order where told.
struct Belt {
    force: f64,
    turned: bool,
}

impl Equations for Belt {
    fn dim(&self) -> usize {
        2
    }
    fn residual<S: Scalar>(&self, _: S, x: &[S], xdot: &[S], r: &mut [S]) {
        let (x_, v) = if self.turned { (1, 0) } else { (0, 1) };
        r[x_] = xdot[x_] - x[v];
        r[v] = xdot[v] + x[x_] * 3.0 - self.force;
    }
    fn names(&self) -> Vec<String> {
        if self.turned { vec!["v".into(), "x".into()] } else { vec!["x".into(), "v".into()] }
    }
    fn row_names(&self) -> Vec<String> {
        if self.turned { vec!["force".into(), "speed".into()] } else { vec!["speed".into(), "force".into()] }
    }
}

#[test]
fn unknowns_and_equations_are_paired_by_their_names() {
    let modes = [Belt { force: -1.0, turned: false }, Belt { force: 1.0, turned: true }].map(|m| Formulas::trace(&m));
    let sliding = sliding_formulas(&[&modes[0], &modes[1]], &[&|_, x| x[1] - 0.2], Combination::Filippov).unwrap();
    assert_eq!(sliding.states, ["x", "v", "alpha"]);
    assert_eq!(sliding.orders, [1, 1, 0]);
    assert_eq!(text(&sliding), ["speed: x' - v", "force: v' + 3*x + 1 - 2*(1 - alpha)", "surface: v - 0.2"]);
}

/// One unknown x with x' = u x, u a parameter; a second one called alpha with alpha' = w u.
fn controlled(numbers: &[(&str, f64)], exponent: i32) -> Formulas {
    let mut graph = Graph::new();
    let inputs = ["t", "x", "alpha", "x'", "alpha'"].map(|name| graph.input(name));
    let parameters: Vec<Expr> = numbers.iter().map(|(name, _)| graph.input(*name)).collect();
    let place = |name: &str| parameters[numbers.iter().position(|(n, _)| *n == name).unwrap()];
    let (u, w) = (place("u"), place("w"));
    let [_, x, _, xdot, adot] = inputs;
    let rows = graph.with(|| [xdot - u * x, adot - w.powi(exponent) * u]);
    Formulas {
        orders: highest_orders(&graph, &rows, 2, 1),
        graph,
        states: vec!["x".into(), "alpha".into()],
        levels: 1,
        equations: vec![("first".into(), rows[0]), ("second".into(), rows[1])],
        parameters: numbers.iter().map(|(name, value)| (name.to_string(), *value)).collect(),
        ..Formulas::default()
    }
}

#[test]
fn controls_are_combined_and_other_parameters_are_numbers() {
    let modes = [controlled(&[("u", -1.0), ("w", 5.0)], 1), controlled(&[("w", 5.0), ("u", 3.0)], 1)];
    let sliding = sliding_formulas(&[&modes[0], &modes[1]], &[&|_, x| x[0]], Combination::EquivalentControl).unwrap();
    // the name alpha is taken
    assert_eq!(sliding.states, ["x", "alpha", "alpha_"]);
    assert!(sliding.parameters.is_empty());
    assert_eq!(
        text(&sliding),
        ["first: x' - (3*(1 - alpha_) - alpha_)*x", "second: alpha' - 5*(3*(1 - alpha_) - alpha_)", "surface: x"]
    );
}

#[test]
fn a_control_may_jump_at_two_surfaces() {
    // u jumps at surface 1, w at both
    let numbers = [(-1.0, 1.0), (1.0, 2.0), (-1.0, 3.0), (1.0, 5.0)];
    let modes = numbers.map(|(u, w)| controlled(&[("u", u), ("w", w)], 1));
    let all: Vec<&Formulas> = modes.iter().collect();
    let sliding = sliding_formulas(&all, &[&|_, x| x[0], &|_, x| x[1]], Combination::EquivalentControl).unwrap();
    assert_eq!(sliding.states, ["x", "alpha", "alpha.1", "alpha.2"]);
    let tape = crate::graph::Tape::new(&sliding.graph, &[sliding.equations[1].1]);
    for (mode, (u, w)) in numbers.into_iter().enumerate() {
        let [a, b] = [0, 1].map(|i| if mode >> i & 1 == 0 { 1.0 } else { 0.0 });
        assert_eq!(tape.evaluate(&[0.0, 1.0, 1.0, a, b, 0.0, 0.0, 0.0, 0.0]), [-u * w], "mode {mode}");
    }
    // in the middle of all
    assert_eq!(tape.evaluate(&[0.0, 1.0, 1.0, 0.25, 0.5, 0.0, 0.0, 0.0, 0.0]), [-0.5 * 3.125]);
}

#[test]
fn constraints_that_differ_are_combined_with_unknowns_of_both_modes() {
    struct Gain(f64);
    impl Equations for Gain {
        fn dim(&self) -> usize {
            2
        }
        fn residual<S: Scalar>(&self, _: S, x: &[S], xdot: &[S], r: &mut [S]) {
            r[0] = xdot[0] - x[1];
            r[1] = x[1] - x[0] * self.0;
        }
        fn names(&self) -> Vec<String> {
            vec!["x".into(), "y".into()]
        }
    }
    let modes = [-1.0, 2.0].map(|gain| Formulas::trace(&Gain(gain)));
    let sliding = sliding_formulas(&[&modes[0], &modes[1]], &[&|_, x| x[0] - 1.0], Combination::Filippov).unwrap();
    assert_eq!(sliding.states, ["x", "y", "alpha", "x'|0", "y|0", "x'|1", "y|1"]);
    assert_eq!(sliding.orders, [1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(
        text(&sliding),
        [
            "combination of x: x' - alpha*x'|0 - (1 - alpha)*x'|1",
            "combination of y: y - alpha*y|0 - (1 - alpha)*y|1",
            "eq.0 of mode 0: x'|0 - y|0",
            "eq.1 of mode 0: y|0 + x",
            "eq.0 of mode 1: x'|1 - y|1",
            "eq.1 of mode 1: y|1 - 2*x",
            "surface: x - 1"
        ]
    );
}

#[test]
fn derivatives_that_are_unknowns_may_be_surfaces() {
    // x'' = −3x ∓ 1, as a file gives it: two levels of inputs
    let mode = |force: f64| {
        let mut graph = Graph::new();
        let [_, x, _, x2] = ["t", "x", "x'", "x''"].map(|name| graph.input(name));
        let row = graph.with(|| x2 + x * 3.0 - force);
        Formulas {
            graph,
            states: vec!["x".into()],
            orders: vec![2],
            levels: 2,
            equations: vec![("force".into(), row)],
            ..Formulas::default()
        }
    };
    let (above, below) = (mode(-1.0), mode(1.0));
    let sliding = sliding_formulas(&[&above, &below], &[&|_, x| x[1] - 0.2], Combination::Filippov).unwrap();
    assert_eq!((&sliding.states[..], sliding.levels), (&["x", "x'", "alpha"].map(String::from)[..], 1));
    assert_eq!(sliding.orders, [1, 1, 0]);
    assert_eq!(
        text(&sliding),
        ["force: x'' + 3*x + 1 - 2*(1 - alpha)", "definition of x': der(x) - x'", "surface: x' - 0.2"]
    );
}

#[test]
fn equations_that_are_written_differently_are_shared() {
    struct Written(bool);
    impl Equations for Written {
        fn dim(&self) -> usize {
            3
        }
        fn residual<S: Scalar>(&self, _: S, x: &[S], xdot: &[S], r: &mut [S]) {
            let (angle, double) = (x[0], x[0] * 2.0);
            r[0] = xdot[0] + if self.0 { 1.0 } else { -1.0 };
            r[1] = if self.0 { xdot[1] * double.sin() } else { xdot[1] * (angle.sin() * angle.cos() * 2.0) };
            r[2] = if self.0 { (x[1] + x[2]) * x[0] } else { x[1] * x[0] + x[2] * x[0] };
        }
    }
    let modes = [true, false].map(|first| Formulas::trace(&Written(first)));
    let sliding = sliding_formulas(&[&modes[0], &modes[1]], &[&|_, x| x[0]], Combination::Filippov).unwrap();
    assert_eq!(sliding.states.len(), 4);
    assert_eq!(text(&sliding)[0], "eq.0: x.0' + 1 - 2*(1 - alpha)");
}

#[test]
fn what_cannot_be_combined_is_told() {
    let belt = |force| Formulas::trace(&Belt { force, turned: false });
    let (one, two) = (belt(1.0), belt(-1.0));
    let filippov = Combination::Filippov;
    let say = |result: Result<Formulas, SlidingError>| result.unwrap_err().to_string();
    let g: SurfaceFormula = &|_, x| x[1];

    let message = say(sliding_formulas(&[&one, &two], &[g, g], filippov));
    assert!(message.starts_with("2 modes given around 2 surfaces"), "{message}");

    let other = controlled(&[("u", 1.0), ("w", 1.0)], 1);
    let message = say(sliding_formulas(&[&one, &other], &[g], filippov));
    assert!(message.contains("mode 1") && message.contains("it lacks v, it has also alpha"), "{message}");

    let mut short = one.clone();
    short.equations.pop();
    let message = say(sliding_formulas(&[&one, &short], &[g], filippov));
    assert!(message.starts_with("mode 1 has 1 equations, mode 0 has 2"), "{message}");

    // a handle of another graph with the same inputs: t, x, v, x', v', alpha
    let mut graph = Graph::new();
    let inputs: Vec<Expr> = ["t", "x", "v", "x'", "v'", "alpha"].map(|name| graph.input(name)).to_vec();
    for (place, name) in [(4, "v'"), (5, "alpha")] {
        let message = say(sliding_formulas(&[&one, &two], &[&|_, x| x[0] + inputs[place]], filippov));
        assert!(message.contains(&format!("switching function 0 contains {name}")), "{message}");
    }
    let message = say(sliding_formulas(&[&one, &two], &[&|_, x| x[0] * f64::NAN], filippov));
    assert!(message.contains("switching function 0 contains a value that is not finite"), "{message}");
    let message = say(sliding_formulas(&[&one, &two], &[&|t, _| t - 1.0], filippov));
    assert!(message.contains("switching function 0 contains no unknown"), "{message}");

    let control = Combination::EquivalentControl;
    let message = say(sliding_formulas(&[&one, &two], &[g], control));
    assert!(message.contains("`force` of mode 1 differs"), "{message}");
    let first = controlled(&[("u", 1.0), ("w", 1.0)], 1);
    let message = say(sliding_formulas(&[&first, &controlled(&[("u", -1.0), ("w", 1.0)], 2)], &[g], control));
    assert!(message.contains("`second` of mode 1 differs"), "{message}");
    let message =
        say(sliding_formulas(&[&first, &controlled(&[("u", -1.0), ("w", 1.0), ("k", 0.0)], 1)], &[g], control));
    assert!(message.contains("it has also k"), "{message}");
    let message = say(sliding_formulas(&[&first, &first], &[g], control));
    assert!(message.starts_with("no parameter changes at switching function 0"), "{message}");
}
