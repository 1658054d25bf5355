//! Are formulas the same function? They are if they are the same node. Otherwise values at several points decide, where formulas are analytic: those
//! that agree there agree everywhere, with probability one. Formulas with branches may differ where nobody looks, and do not count as equal.

use crate::graph::{Expr, Graph, Tape};

/// Points at which formulas are compared, and how many of them must lie where the formulas have values.
const POINTS: usize = 12;
const ENOUGH: usize = 3;

/// Values of formulas at points without special values, as far as they are finite there.
pub(super) fn samples(graph: &Graph, formulas: &[Expr]) -> Vec<Vec<f64>> {
    let tape = Tape::new(graph, formulas);
    let inputs = graph.inputs().len();
    let point = |k: usize| -> Vec<f64> {
        // fractional parts of multiples of the golden section; every third point is positive
        let fraction = |i: usize| (0.618_033_988_749_894_9 * (1 + i + k * (inputs + 7)) as f64).fract();
        let place = |i: usize| if k.is_multiple_of(3) { 0.05 + 0.9 * fraction(i) } else { 3.1 * fraction(i) - 1.6 };
        (0..inputs).map(place).collect()
    };
    (0..POINTS)
        .map(|k| tape.evaluate(&point(k)))
        .filter(|values: &Vec<f64>| values.iter().all(|value| value.is_finite()))
        .collect()
}

/// Are two formulas the same function?
pub(super) fn equal(graph: &Graph, a: Expr, b: Expr) -> bool {
    if a == b {
        return true;
    }
    if graph.has_branches(&[a, b]) {
        return false;
    }
    let samples = samples(graph, &[a, b]);
    let close = |values: &Vec<f64>| (values[0] - values[1]).abs() <= 1e-12 * (values[0].abs() + values[1].abs());
    samples.len() >= ENOUGH && samples.iter().all(close)
}
