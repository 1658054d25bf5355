//! Random formulas: as a graph they have the values and the derivatives that they have as a program.

use daedal_graph::{Expr, Graph, Tape};
use daedal_scalar::{Dual, Scalar, Taylor};
use proptest::prelude::*;

/// Number of inputs of the random formulas.
const INPUTS: usize = 3;

/// What to do, and with which of the values so far.
type Operation = (u8, usize, usize, f64);

/// All values of a random program, inputs first. No value grows fast, and every formula is smooth where it is used.
fn program<S: Scalar>(inputs: &[S], operations: &[Operation]) -> Vec<S> {
    let mut all = inputs.to_vec();
    for &(operation, i, j, c) in operations {
        let (x, y) = (all[all.len() - 1 - i % all.len()], all[all.len() - 1 - j % all.len().min(4)]);
        all.push(match operation {
            0 => x + y,
            1 => x - y,
            2 => x * y,
            3 => x / (y.square() + 1.0),
            4 => -x,
            5 => (x.square() + 0.5).sqrt(),
            6 => x.tanh().exp(),
            7 => (x.square() + 1.5).ln(),
            8 => x.sin(),
            9 => x.cos(),
            10 => x.atan().tan(),
            11 => x.sin().sinh(),
            12 => y.cos().cosh(),
            13 => (x.sin() * 0.9).asin(),
            14 => (y.tanh() * 0.8).acos(),
            15 => x.abs(),
            16 => (x.square() + 0.1).atan2(y),
            17 => (x.square() + 0.3).pow(y.sin()),
            18 => x.powi(2 + i as i32 % 3) * y.square().exp().recip(),
            19 => (y.square() + 0.7).powf(c),
            20 => x.select(y, x * c),
            21 => x * c + y,
            22 => (y - c) / 4.0,
            _ => S::from(c) - x * y * 2.0,
        });
    }
    all
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let number = prop_oneof![0.1..3.0, -3.0..-0.1, prop::sample::select(vec![1.0, -1.0, 2.0, -0.25, 8.0])];
    prop::collection::vec((0..24_u8, any::<usize>(), any::<usize>(), number), 1..25)
}

/// In a graph, powers with an integer exponent are products, unlike those of `f64::powf`; so no such exponents where bits are compared.
fn without_integer_powers(mut operations: Vec<Operation>) -> Vec<Operation> {
    for operation in &mut operations {
        if operation.0 == 19 && operation.3 == operation.3.round() {
            operation.3 += 0.375;
        }
    }
    operations
}

fn point() -> impl Strategy<Value = [f64; INPUTS]> {
    prop::array::uniform3(prop_oneof![0.05..1.5, -1.5..-0.05])
}

/// Is nothing zero, huge or tiny on the way? Then no rewriting shows in the bits.
fn ordinary(values: &[f64]) -> bool {
    values.iter().all(|x| (1e-3..1e3).contains(&x.abs()))
}

fn traced(operations: &[Operation]) -> (Graph, Vec<Expr>, Vec<Expr>) {
    let mut graph = Graph::new();
    let inputs: Vec<Expr> = (0..INPUTS).map(|i| graph.input(format!("x{i}"))).collect();
    let values = graph.with(|| program(&inputs, operations));
    (graph, inputs, values)
}

fn close(x: f64, y: f64, size: f64) -> bool {
    (x - y).abs() <= 1e-10 * (1.0 + size)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, max_global_rejects: 100_000, ..ProptestConfig::default() })]

    #[test]
    fn a_graph_has_the_bits_of_the_program(operations in operations(), x in point()) {
        let operations = without_integer_powers(operations);
        let expected = program(&x, &operations);
        prop_assume!(ordinary(&expected));
        let (graph, _, values) = traced(&operations);
        let found = Tape::new(&graph, &values).evaluate(&x);
        for (k, (a, b)) in found.iter().zip(&expected).enumerate() {
            prop_assert_eq!(a.to_bits(), b.to_bits(), "{} instead of {}: {}", a, b, graph.formula(values[k]));
        }
    }

    #[test]
    fn equal_programs_are_the_same_nodes(operations in operations()) {
        let (mut graph, inputs, values) = traced(&operations);
        let nodes = graph.len();
        let again = graph.with(|| program(&inputs, &operations));
        prop_assert_eq!(again, values);
        prop_assert_eq!(graph.len(), nodes);
    }

    #[test]
    fn a_tape_of_one_output_is_part_of_the_tape_of_all(operations in operations(), x in point()) {
        let (graph, _, values) = traced(&operations);
        let all = Tape::new(&graph, &values).evaluate(&x);
        for (&e, expected) in values.iter().zip(all) {
            let alone = Tape::new(&graph, &[e, e]).evaluate(&x);
            prop_assert!(alone.iter().all(|y| y.to_bits() == expected.to_bits() || y.is_nan() && expected.is_nan()));
        }
    }

    #[test]
    fn jacobians_are_those_of_dual_numbers(operations in operations(), x in point()) {
        let duals: Vec<Dual<f64, INPUTS>> = (0..INPUTS).map(|i| Dual::variable(x[i], i)).collect();
        let expected = program(&duals, &operations);
        prop_assume!(expected.iter().all(|y| ordinary(&[y.value]) && y.lanes.iter().all(|d| d.abs() < 1e3)));
        let (mut graph, inputs, values) = traced(&operations);
        let jacobian = graph.jacobian(&values, &inputs);
        let entries = Tape::new(&graph, &jacobian.entries).evaluate(&x);
        let mut dense = vec![[0.0; INPUTS]; values.len()];
        for ((i, j, _), entry) in jacobian.iter().zip(entries) {
            dense[i][j] = entry;
        }
        let size = expected.iter().flat_map(|y| y.lanes).fold(0.0, |size: f64, d| size.max(d.abs()));
        for (i, y) in expected.iter().enumerate() {
            for j in 0..INPUTS {
                prop_assert!(close(dense[i][j], y.lanes[j], size), "∂{i}/∂{j}: {} instead of {}", dense[i][j], y.lanes[j]);
            }
        }
        // the tape of the values gives the same through dual numbers
        for (y, expected) in Tape::new(&graph, &values).evaluate(&duals).iter().zip(&expected) {
            prop_assert!((0..INPUTS).all(|j| close(y.lanes[j], expected.lanes[j], size)));
        }
    }

    #[test]
    fn total_derivatives_are_those_of_power_series(operations in operations(), x in point(), v in point()) {
        // x(τ) = x + v τ + a τ²/2 with a = −x
        let series: Vec<Taylor<f64, 3>> = (0..INPUTS).map(|i| Taylor { coefficients: [x[i], v[i], -x[i] / 2.0] }).collect();
        let expected = program(&series, &operations);
        prop_assume!(expected.iter().all(|y| ordinary(&y.coefficients[..1]) && y.coefficients.iter().all(|d| d.abs() < 1e3)));
        let (mut graph, inputs, values) = traced(&operations);
        let rates: Vec<Expr> = (0..INPUTS).map(|i| graph.input(format!("v{i}"))).collect();
        let mut flow: Vec<(Expr, Expr)> = inputs.iter().copied().zip(rates.iter().copied()).collect();
        for (&x, &v) in inputs.iter().zip(&rates) {
            flow.push((v, graph.negative(x)));
        }
        let first = graph.total_derivative(&values, &flow);
        let second = graph.total_derivative(&first, &flow);
        let at: Vec<f64> = x.into_iter().chain(v).collect();
        let (first, second) = (Tape::new(&graph, &first).evaluate(&at), Tape::new(&graph, &second).evaluate(&at));
        let size = expected.iter().flat_map(|y| y.coefficients).fold(0.0, |size: f64, d| size.max(d.abs())).powi(2);
        for (k, y) in expected.iter().enumerate() {
            let [_, y1, y2] = y.coefficients;
            prop_assert!(close(first[k], y1, size), "first: {} instead of {}", first[k], y1);
            prop_assert!(close(second[k], 2.0 * y2, size), "second: {} instead of {}", second[k], 2.0 * y2);
        }
    }

    #[test]
    fn numbers_may_be_put_in_before_or_after(operations in operations(), x in point()) {
        let operations = without_integer_powers(operations);
        let expected = program(&x, &operations);
        prop_assume!(ordinary(&expected));
        let (mut graph, inputs, values) = traced(&operations);
        let some = graph.bind(&values, &[(inputs[1], x[1])]);
        prop_assert!(some.iter().all(|&e| !graph.depends_on(e).contains(&1)));
        let found = Tape::new(&graph, &some).evaluate(&[x[0], f64::NAN, x[2]]);
        for (a, b) in found.iter().zip(&expected) {
            prop_assert_eq!(a.to_bits(), b.to_bits());
        }
        // with numbers for all inputs nothing is left to compute
        let numbers: Vec<(Expr, f64)> = inputs.iter().copied().zip(x).collect();
        for (e, b) in graph.bind(&values, &numbers).into_iter().zip(expected) {
            prop_assert_eq!(graph.constant(e).map(f64::to_bits), Some(b.to_bits()));
        }
    }

    #[test]
    fn substituted_formulas_are_evaluated_first(outer in operations(), inner in operations(), x in point()) {
        let (outer, inner) = (without_integer_powers(outer), without_integer_powers(inner));
        let inside = program(&x, &inner);
        let z = inside[inside.len() - 1];
        let expected = program(&[x[0], z, x[2]], &outer);
        prop_assume!(ordinary(&inside) && ordinary(&expected));
        let (mut graph, inputs, values) = traced(&outer);
        let by = graph.with(|| program(&inputs, &inner));
        let replaced = graph.substitute(&values, &[(inputs[1], by[by.len() - 1])]);
        let found = Tape::new(&graph, &replaced).evaluate(&x);
        for (a, b) in found.iter().zip(&expected) {
            prop_assert_eq!(a.to_bits(), b.to_bits());
        }
    }
}
