//! Time to compile and time of a call, native code against the tape, for chains of more and more links.
//!
//! `cargo run --release -p daedal-native --example compile [links …]`

use daedal_graph::{Compiler, Expr, Graph, Interpreted, Kernel};
use daedal_native::Native;
use daedal_scalar::Scalar;
use std::hint::black_box;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let links: Vec<usize> = std::env::args().skip(1).map(|n| n.parse()).collect::<Result<_, _>>()?;
    let links = if links.is_empty() { vec![1, 10, 100, 1000] } else { links };
    println!(
        "{:>8} {:>6} {:>8} {:>11} {:>10} {:>11} {:>11} {:>6}",
        "chain", "links", "nodes", "compile ms", "code kB", "native ns", "tape ns", "ratio"
    );
    for (name, chain) in [("rods", rods as fn(&mut Graph, usize) -> Vec<Expr>), ("angles", angles)] {
        for &n in &links {
            let mut graph = Graph::new();
            let outputs = chain(&mut graph, n);
            let nodes = graph.needed(&outputs).len();
            let start = Instant::now();
            let mut native = Native.try_compile(&graph, &outputs)?;
            let compile = start.elapsed().as_secs_f64();
            let code = native.code_size();
            let mut tape = Interpreted.compile(&graph, &outputs);
            let inputs: Vec<f64> = (0..graph.inputs().len()).map(|i| (i as f64).sin()).collect();
            let mut results = [vec![0.0; outputs.len()], vec![0.0; outputs.len()]];
            let fast = time(&mut native, &inputs, &mut results[0]);
            let slow = time(&mut *tape, &inputs, &mut results[1]);
            assert!(results[0].iter().zip(&results[1]).all(|(x, y)| x.to_bits() == y.to_bits()), "different bits");
            println!(
                "{name:>8} {n:>6} {nodes:>8} {:>11.2} {:>10.1} {:>11.0} {:>11.0} {:>6.1}",
                compile * 1e3,
                code as f64 / 1e3,
                fast * 1e9,
                slow * 1e9,
                slow / fast
            );
        }
    }
    Ok(())
}

/// Seconds per call: the least of several rounds.
fn time(kernel: &mut dyn Kernel, inputs: &[f64], outputs: &mut [f64]) -> f64 {
    let mut calls = 1;
    let mut best = f64::INFINITY;
    let mut rounds = 0;
    while rounds < 200 {
        let start = Instant::now();
        for _ in 0..calls {
            kernel.call(black_box(inputs), black_box(outputs));
        }
        let seconds = start.elapsed().as_secs_f64();
        if seconds < 0.0002 {
            calls *= 2;
        } else {
            best = best.min(seconds / f64::from(calls));
            rounds += 1;
        }
    }
    best
}

/// Point masses on rods in absolute coordinates: constraints of three levels and the Jacobian of the last. Only arithmetic.
fn rods(graph: &mut Graph, n: usize) -> Vec<Expr> {
    let mut inputs = |name: &str| -> Vec<Expr> { (0..2 * n).map(|i| graph.input(format!("{name}{i}"))).collect() };
    let (p, v, a) = (inputs("p"), inputs("v"), inputs("a"));
    let g: Vec<Expr> = graph.with(|| {
        (0..n)
            .map(|i| {
                let before = |k: usize| if i == 0 { Expr::from(0.0) } else { p[2 * i - 2 + k] };
                (p[2 * i] - before(0)).square() + (p[2 * i + 1] - before(1)).square() - 0.7
            })
            .collect()
    });
    let flow: Vec<(Expr, Expr)> = p.iter().copied().zip(v.iter().copied()).chain(v.iter().copied().zip(a)).collect();
    let g1 = graph.total_derivative(&g, &flow);
    let g2 = graph.total_derivative(&g1, &flow);
    let unknowns: Vec<Expr> = p.iter().chain(&v).copied().collect();
    let jacobian = graph.jacobian(&g2, &unknowns);
    [g, g1, g2, jacobian.entries].concat()
}

/// A chain in absolute angles: places, velocities and accelerations of its joints, spring forces, and derivatives by the last angle.
fn angles(graph: &mut Graph, n: usize) -> Vec<Expr> {
    let mut inputs = |name: &str| -> Vec<Expr> { (0..n).map(|i| graph.input(format!("{name}{i}"))).collect() };
    let (phi, omega, alpha) = (inputs("phi"), inputs("omega"), inputs("alpha"));
    let places: Vec<Expr> = graph.with(|| {
        let (mut x, mut y) = (Expr::from(0.0), Expr::from(0.0));
        let mut places = Vec::new();
        for angle in &phi {
            let (s, c) = angle.sin_cos();
            x += s * 0.31;
            y -= c * 0.31;
            // a spring between joint and origin
            let distance = (x.square() + y.square() + 0.01).sqrt();
            places.extend([x, y, x / distance.powi(3), y / distance.powi(3)]);
        }
        places
    });
    let flow: Vec<(Expr, Expr)> =
        phi.iter().copied().zip(omega.iter().copied()).chain(omega.iter().copied().zip(alpha)).collect();
    let velocities = graph.total_derivative(&places, &flow);
    let accelerations = graph.total_derivative(&velocities, &flow);
    let jacobian = graph.jacobian(&accelerations, &phi[n - 1..]);
    [places, velocities, accelerations, jacobian.entries].concat()
}
