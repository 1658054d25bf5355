//! Kernels at the edges: no outputs, the same output twice, wrong lengths, other threads.

use daedal_graph::{Compiler, Expr, Graph, Kernel};
use daedal_native::{CompiledKernel, Native};
use daedal_scalar::Scalar;

fn compile(graph: &Graph, outputs: &[Expr]) -> CompiledKernel {
    Native.try_compile(graph, outputs).expect("native code on this machine")
}

#[test]
fn this_machine_is_supported() {
    assert!(Native::supported().is_ok());
    assert_eq!(Native.name(), "native");
}

#[test]
fn outputs_may_be_equal_constant_or_inputs() {
    let mut graph = Graph::new();
    let (x, y) = (graph.input("x"), graph.input("y"));
    let (z, five) = graph.with(|| (x * y, Expr::from(5.0)));
    let mut values = [0.0; 6];
    compile(&graph, &[z, five, z, y, five, y]).call(&[3.0, -2.0], &mut values);
    assert_eq!(values, [-6.0, 5.0, -6.0, -2.0, 5.0, -2.0]);
    let mut values = [0.0; 2];
    compile(&graph, &[y, five]).call(&[3.0, -2.0], &mut values);
    assert_eq!(values, [-2.0, 5.0]);
}

#[test]
fn no_outputs_are_allowed() {
    let mut graph = Graph::new();
    graph.input("x");
    compile(&graph, &[]).call(&[1.0], &mut []);
    compile(&Graph::new(), &[]).call(&[], &mut []);
}

#[test]
fn sine_alone_and_cosine_alone() {
    let mut graph = Graph::new();
    let (x, y) = (graph.input("x"), graph.input("y"));
    let (s, c) = graph.with(|| (x.sin(), y.cos()));
    let mut values = [0.0; 2];
    compile(&graph, &[s, c]).call(&[0.7, 1.9], &mut values);
    assert_eq!(values, [0.7_f64.sin(), 1.9_f64.cos()]);
}

#[test]
fn what_is_selected_at_nan_and_at_negative_zero() {
    let mut graph = Graph::new();
    let (x, y, z) = (graph.input("x"), graph.input("y"), graph.input("z"));
    let chosen = graph.with(|| x.select(y, z));
    let mut kernel = compile(&graph, &[chosen]);
    for (x, expected) in [(0.0, 1.0), (-0.0, 1.0), (5e-324, 1.0), (-5e-324, 2.0), (f64::NEG_INFINITY, 2.0)] {
        let mut value = [0.0];
        kernel.call(&[x, 1.0, 2.0], &mut value);
        assert_eq!(value, [expected], "{x}");
    }
    // what is not a number decides nothing
    let mut value = [0.0];
    kernel.call(&[f64::NAN, 1.0, 2.0], &mut value);
    assert!(value[0].is_nan());
}

#[test]
#[should_panic(expected = "a kernel of 2 inputs got 1")]
fn wrong_number_of_inputs() {
    let mut graph = Graph::new();
    let (x, y) = (graph.input("x"), graph.input("y"));
    let z = graph.with(|| x + y);
    compile(&graph, &[z]).call(&[1.0], &mut [0.0]);
}

#[test]
#[should_panic(expected = "a kernel of 1 outputs got 2")]
fn wrong_number_of_outputs() {
    let mut graph = Graph::new();
    let x = graph.input("x");
    compile(&graph, &[x]).call(&[1.0], &mut [0.0, 0.0]);
}

#[test]
fn many_kernels_live_at_once_and_move_to_other_threads() {
    let mut kernels: Vec<Box<dyn Kernel>> = (0..200)
        .map(|k| {
            let mut graph = Graph::new();
            let x = graph.input("x");
            let y = graph.with(|| (x * f64::from(k)).sin() + 1.0);
            Native.compile(&graph, &[y])
        })
        .collect();
    let odd: Vec<Box<dyn Kernel>> = kernels.split_off(100);
    let run = |mut kernels: Vec<Box<dyn Kernel>>, first: i32| {
        for (k, kernel) in (first..).zip(&mut kernels) {
            let mut value = [0.0];
            kernel.call(&[1.5], &mut value);
            assert_eq!(value, [(1.5 * f64::from(k)).sin() + 1.0]);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| run(odd, 100));
        run(kernels, 0);
    });
}

#[test]
fn duplicates_share_code_and_outlive_the_original() {
    let mut graph = Graph::new();
    let x = graph.input("x");
    // long enough for scratch space
    let y = graph.with(|| (0..2000).fold(x, |y, k| (y * 1.5 + x).sin() + f64::from(k)));
    let mut original = compile(&graph, &[y]);
    let mut expected = [0.0];
    original.call(&[0.3], &mut expected);
    let mut duplicates: Vec<Box<dyn Kernel>> = (0..4).map(|_| original.duplicate()).collect();
    drop(original);
    std::thread::scope(|scope| {
        for kernel in &mut duplicates {
            scope.spawn(move || {
                for _ in 0..100 {
                    let mut value = [0.0];
                    kernel.call(&[0.3], &mut value);
                    assert_eq!(value, expected);
                }
            });
        }
    });
}
