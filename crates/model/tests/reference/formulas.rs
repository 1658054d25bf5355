//! The formulas of the files do the same arithmetic as the Rust models.
//!
//! Rust models are traced into graphs. Where a file says the same in the same order, every formula is the same graph, and the
//! rows agree bit by bit.

use crate::files::{Pair, pairs};
use daedal::Start;
use daedal::graph::Interpreted;
use daedal::linalg::Matrix;
use daedal::motion::{Compiled, Form, Mechanism};

/// Numbers in [−1, 1] that are the same in every run.
struct Random(u64);

impl Random {
    fn number(&mut self) -> f64 {
        // xorshift
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

/// Rows and Jacobian of the reduced derivative array.
fn array(mechanism: &dyn Mechanism, t: f64, x: &[f64]) -> (Vec<f64>, Matrix) {
    let mut array = mechanism.array(Form::StrangenessFree, true);
    let (rows, dim) = (array.layout().rows(), array.layout().dim());
    assert_eq!(dim, x.len());
    let (mut k, mut F) = (vec![0.0; rows], Matrix::zeros(rows, dim));
    array.evaluate(t, x, &mut k).expect("finite rows");
    array.dense_jacobian(t, x, &k, &mut F).expect("finite derivatives");
    (k, F)
}

/// Points near the start, at a time where nothing vanishes.
fn points(pair: &Pair) -> Vec<(f64, Vec<f64>)> {
    let [start, _] = pair.starts();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut point = || {
        let near = |start: &Start| match *start {
            Start::Fixed(x) | Start::Guess(x) => x + 1e-3 * random.number() * x.abs().max(1e-3),
            Start::Unknown => random.number(),
        };
        (pair.case.initial.t + 0.1 * pair.case.tend, start.iter().map(near).collect())
    };
    vec![point(), point(), point()]
}

#[test]
fn rows_and_jacobians_agree_with_the_traced_models_bit_by_bit() {
    let mut differences = vec![];
    for pair in pairs() {
        let traced = pair.case.mechanism.formulas().expect("a model generic in the scalar");
        let traced = Compiled::new(&traced, Interpreted);
        for (t, x) in points(&pair) {
            let (rows, F) = array(&traced, t, &x);
            let (others, Fs) = array(&pair.compiled, t, &x);
            if rows != others || F.data() != Fs.data() {
                let worst = |a: &[f64], b: &[f64]| {
                    a.iter().zip(b).map(|(x, y)| (x - y).abs() / x.abs().max(1.0)).fold(0.0, f64::max)
                };
                differences.push(format!(
                    "{}: rows {:e}, Jacobian {:e}",
                    pair.name,
                    worst(&rows, &others),
                    worst(F.data(), Fs.data())
                ));
            }
        }
    }
    assert!(differences.is_empty(), "{differences:#?}");
}

#[test]
fn rows_and_jacobians_agree_with_the_rust_models_to_rounding() {
    for pair in pairs() {
        for (t, x) in points(&pair) {
            let (rows, F) = array(&*pair.case.mechanism, t, &x);
            let (others, Fs) = array(&pair.compiled, t, &x);
            for i in 0..rows.len() {
                // terms of a row cancel: rounding is relative to their sizes
                let size = 1.0 + F.row(i).iter().zip(&x).map(|(f, x)| (f * x).abs()).sum::<f64>();
                let error = (rows[i] - others[i]).abs();
                assert!(error <= 2e-13 * size, "{}: row {i} differs by {error:e} of {size:e}", pair.name);
                let scale = F.row(i).iter().fold(1.0, |scale: f64, f| scale.max(f.abs()));
                for j in 0..x.len() {
                    let error = (F[(i, j)] - Fs[(i, j)]).abs();
                    assert!(error <= 1e-11 * scale, "{}: entry ({i}, {j}) differs by {error:e}", pair.name);
                }
            }
        }
    }
}
