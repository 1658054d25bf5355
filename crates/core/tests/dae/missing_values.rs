//! Initial values that are not given, where the equations show all constraints: nothing is analysed for them.

use daedal::dae::{Depth, Equations, Form, Formulas, System, characterise};
use daedal::graph::{Compiler, Expr, Graph, Interpreted, Kernel};
use daedal::scalar::Scalar;
use daedal::{Initial, Options, Problem, RadauIIa, solve};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Heat in a rod of n points with a boundary that is an equation of its own, 0 = u₀ + u₀³/10 − 1.1.
struct Rod(usize);

impl Equations for Rod {
    fn dim(&self) -> usize {
        self.0
    }
    fn residual<S: Scalar>(&self, _: S, u: &[S], d: &[S], r: &mut [S]) {
        let n = self.0;
        r[0] = u[0] + u[0].powi(3) * 0.1 - 1.1;
        for i in 1..n {
            let right = if i + 1 < n { u[i + 1] } else { u[i - 1] };
            r[i] = d[i] - (u[i - 1] - u[i] * 2.0 + right) * 10.0;
        }
    }
}

/// How many formulas were compiled.
struct Counting(Arc<AtomicUsize>);

impl Compiler for Counting {
    fn compile(&self, graph: &Graph, outputs: &[Expr]) -> Box<dyn Kernel> {
        self.0.fetch_add(outputs.len(), Ordering::Relaxed);
        Interpreted.compile(graph, outputs)
    }
    fn name(&self) -> &'static str {
        "counting"
    }
}

/// End of a run, and how many formulas it compiled.
fn run(n: usize, initial: Initial) -> (Vec<f64>, usize) {
    let count = Arc::new(AtomicUsize::new(0));
    let system = System::new(&Formulas::trace(&Rod(n)), Counting(count.clone()));
    let solution = solve(&Problem::new(&system, initial, 0.1), &RadauIIa::default(), &Options::default()).unwrap();
    assert_eq!(solution.layout.form, Form::Plain);
    (solution.end.x, count.load(Ordering::Relaxed))
}

#[test]
fn a_missing_value_costs_no_derivative_array() {
    let n = 300;
    let mut given = vec![0.0; n];
    given[0] = 1.0;
    let (end, compiled) = run(n, Initial::new(0.0, &given));
    // rows, entries of the pencil, and ∂F₀/∂u₀ once more: it must not vanish along the run
    assert_eq!(compiled, n + (n - 1) + 1 + 3 * (n - 2) + 2 + 1);
    for missing in [0, 7, n - 1] {
        let (found, work) = run(n, Initial::new(0.0, &given).unknown(missing));
        assert_eq!(work, compiled, "{missing}");
        let off = found.iter().zip(&end).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 1e-9, "{missing}: {off:e}");
    }
}

#[test]
fn missing_algebraic_values_are_solved_for_and_missing_differential_ones_are_zero() {
    let mut initial = Initial::new(0.0, &[0.5; 4]);
    for j in [0, 2] {
        initial = initial.unknown(j);
    }
    let found = characterise(&System::of(&Rod(4)), &initial, Depth::default()).unwrap();
    for (x, wanted) in found.x().iter().zip([1.0, 0.5, 0.0, 0.5]) {
        assert!((x - wanted).abs() < 1e-12, "{:?}", found.x());
    }
}
