//! scratch
#[path = "hybrid/support.rs"]
mod support;
use daedal::hybrid::*;
use support::*;
#[test]
fn roots() {
    for method in METHODS {
        for (k, g) in [(|t: f64| 0.2 - t.powi(3)) as fn(f64) -> f64, |t| (-40.0 * t).exp() - 1e-6, |t| 1e-3 - t.powi(9)]
            .into_iter()
            .enumerate()
        {
            let mut hybrid = clocks(2, method);
            hybrid.transition(Transition::when(0, 1, "g", move |t, _| g(t)));
            let p = Problem::new(&hybrid, 0, 0.0, &[0.0], 1.0);
            let s = solve(&p, &tolerance(1e-9), &HybridOptions::default()).unwrap();
            println!("{method:?} {k} {:?} {}", s.mode_trajectory(), s.statistics);
        }
    }
}
use daedal::dae::*;
use daedal::scalar::Scalar;
struct Driven(f64);
impl Equations for Driven {
    fn dim(&self) -> usize {
        3
    }
    fn names(&self) -> Vec<String> {
        ["x", "z", "y"].map(String::from).to_vec()
    }
    fn residual<S: Scalar>(&self, _: S, x: &[S], d: &[S], r: &mut [S]) {
        r[0] = d[0] - x[2];
        r[1] = d[1] - x[2].square();
        r[2] = x[2] - self.0;
    }
}
#[test]
fn driven() {
    let (a, b) = (Formulas::trace(&Driven(-1.0)), Formulas::trace(&Driven(2.0)));
    let f = sliding_formulas(&[&a, &b], &[&|_, x: &[daedal::graph::Expr]| x[0]], Combination::Filippov).unwrap();
    println!("{:?}", f.states);
    for (n, e) in &f.equations {
        println!("{n}: {}", f.graph.formula(*e));
    }
    let s = System::new(&f, daedal::graph::Interpreted);
    let mut init = Initial::new(0.5, &vec![0.0; f.states.len()]);
    for j in 2..f.states.len() {
        init = init.unknown(j);
    }
    init = init.guess(1, 0.5).guess(2, -1.0);
    match prepare(&s, &init, Form::Auto) {
        Ok(p) => println!("{:?} {:?} {:?}", p.at, p.unknowns, p.names),
        Err(e) => println!("ERR {e}"),
    }
    let flow = GeneralFlow::new(s, Form::Auto, daedal::RadauIIa::default());
    use daedal::motion::Start::*;
    let mut start = vec![Unknown; f.states.len()];
    start[0] = Guess(0.0);
    start[1] = Guess(0.5);
    start[2] = Guess(-1.0);
    match flow.enter(&Entry { t: 0.5, start, restart: Some(Restart::LeastChange) }, &daedal::Options::default()) {
        Ok((s, _)) => println!("{:?}", s.state()),
        Err(e) => println!("ERR {e}"),
    }
}
