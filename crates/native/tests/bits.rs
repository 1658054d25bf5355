//! Native code has the bits of the tape, for every kind of node and any numbers.

use daedal_graph::{Expr, Graph, Kernel, Tape};
use daedal_native::Native;
use daedal_scalar::Scalar;
use proptest::prelude::*;

/// A step of a random program: what to do, and with which of the values so far.
type Operation = (u8, usize, usize, usize, i32, f64);

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        8 => -3.0..3.0,
        3 => -1e3..1e3,
        1 => any::<u64>().prop_map(f64::from_bits),
        3 => prop::sample::select(vec![
            0.0, -0.0, 1.0, -1.0, 0.5, 2.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MAX, f64::MIN, f64::MIN_POSITIVE,
            5e-324, -5e-324, 1e-310, 1e308, -1e-200, 1e200, f64::EPSILON,
        ]),
    ]
}

fn operations(length: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Operation>> {
    let power = prop_oneof![4 => -5..=8_i32, 1 => any::<i32>()];
    prop::collection::vec((0..26_u8, any::<usize>(), any::<usize>(), any::<usize>(), power, number()), length)
}

/// All values of the program; those of the inputs come first.
fn build(graph: &mut Graph, inputs: usize, operations: &[Operation]) -> Vec<Expr> {
    let mut all: Vec<Expr> = (0..inputs).map(|i| graph.input(format!("x{i}"))).collect();
    graph.with(|| {
        for &(operation, i, j, k, n, a) in operations {
            // mostly recent values, so that formulas become deep
            let at = |i: usize| {
                all[if i.is_multiple_of(4) { i / 4 % all.len() } else { all.len() - 1 - i / 4 % all.len().min(8) }]
            };
            let (x, y, z) = (at(i), at(j), at(k));
            all.push(match operation {
                0 => x + y,
                1 => x - y,
                2 => x * y,
                3 => x / y,
                4 => -x,
                5 => x.sqrt(),
                6 => x.exp(),
                7 => x.ln(),
                8 => x.sin(),
                9 => x.cos(),
                10 => x.tan(),
                11 => x.sinh(),
                12 => x.cosh(),
                13 => x.tanh(),
                14 => x.asin(),
                15 => x.acos(),
                16 => x.atan(),
                17 => x.abs(),
                18 => x.atan2(y),
                19 => x.pow(y),
                20 => x.powi(n),
                21 => x.powf(a),
                22 => x.select(y, z),
                23 => Expr::from(a),
                24 => x.sin_cos().0 * x.sin_cos().1,
                _ => x * a + y,
            });
        }
    });
    all
}

fn same(x: f64, y: f64) -> bool {
    x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan()
}

fn compare(inputs: usize, operations: &[Operation], picks: &[usize], points: &[Vec<f64>]) -> Result<(), TestCaseError> {
    let mut graph = Graph::new();
    let all = build(&mut graph, inputs, operations);
    let outputs: Vec<Expr> = picks.iter().map(|&i| all[all.len() - 1 - i % all.len()]).collect();
    let tape = Tape::new(&graph, &outputs);
    let mut kernel = Native.try_compile(&graph, &outputs).expect("native code on this machine");
    let mut values = vec![0.0; outputs.len()];
    for point in points {
        let expected = tape.evaluate(&point[..inputs]);
        kernel.call(&point[..inputs], &mut values);
        for (k, (&x, &y)) in values.iter().zip(&expected).enumerate() {
            prop_assert!(same(x, y), "output {k}: {x:e} instead of {y:e}, {}", graph.formula(outputs[k]));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn native_code_has_the_bits_of_the_tape(
        inputs in 1..5_usize,
        operations in operations(0..60),
        picks in prop::collection::vec(any::<usize>(), 0..12),
        points in prop::collection::vec(prop::collection::vec(number(), 5), 1..8),
    ) {
        compare(inputs, &operations, &picks, &points)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn long_code_has_the_bits_of_the_tape(
        operations in operations(2000..4000),
        picks in prop::collection::vec(any::<usize>(), 1..300),
        points in prop::collection::vec(prop::collection::vec(-2.0..2.0, 5), 1..4),
    ) {
        compare(5, &operations, &picks, &points)?;
    }
}

#[test]
fn powers_have_the_bits_of_the_tape() {
    let mut graph = Graph::new();
    let x = graph.input("x");
    let powers: Vec<i32> =
        (-70..=70).chain([i32::MIN, i32::MIN + 1, i32::MAX, -1000, 1000, 12345, -98765, 1 << 20]).collect();
    let outputs: Vec<Expr> = graph.with(|| powers.iter().map(|&n| x.powi(n)).collect());
    let mut kernel = Native.try_compile(&graph, &outputs).expect("native code on this machine");
    let mut values = vec![0.0; outputs.len()];
    for k in -4000..4000 {
        let point = 1.0 + f64::from(k) * 7.3e-4 + f64::from(k).powi(3) * 1e-9;
        kernel.call(&[point], &mut values);
        for (&value, &n) in values.iter().zip(&powers) {
            // unknown to the optimiser, as in the tape
            let expected = point.powi(std::hint::black_box(n));
            assert!(same(value, expected), "{point}^{n}: {value:e} instead of {expected:e}");
        }
    }
}

#[test]
fn a_condition_that_is_not_a_number_has_no_result() {
    let mut graph = Graph::new();
    let x = graph.input("x");
    let (at_run_time, folded) = graph.with(|| {
        let condition = |c: Expr| c.select(Expr::from(1.0), Expr::from(2.0));
        (condition(x.sqrt() - 1.0), condition(Expr::from(-1.0).sqrt() - 1.0))
    });
    assert!(graph.constant(folded).is_some_and(f64::is_nan));
    let mut kernel = Native.try_compile(&graph, &[at_run_time]).expect("native code on this machine");
    for (at, expected) in [(4.0, 1.0), (0.25, 2.0), (-1.0, f64::NAN)] {
        let mut value = [0.0];
        kernel.call(&[at], &mut value);
        assert!(same(value[0], expected), "native: {} at {at}", value[0]);
        assert!(same(Tape::new(&graph, &[at_run_time]).evaluate(&[at])[0], expected), "tape at {at}");
    }
}
