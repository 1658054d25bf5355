//! Random systems of any index with a solution that is known because they were made from it, and that starts where many values are zero:
//! whatever reaches the end must be right.

use daedal::dae::{Equations, Form, InForm, System};
use daedal::scalar::{Scalar, Taylor};
use daedal::{Initial, Options, Problem, RadauIIa, SolveError, Tolerance, solve};

use crate::random::Random;

/// One term: a coefficient times one or two unknowns.
#[derive(Clone, Copy, Debug)]
struct Term(f64, usize, Option<usize>);

impl Term {
    fn of<S: Scalar>(self, x: &[S]) -> S {
        let first = x[self.1] * self.0;
        self.2.map_or(first, |k| first * x[k])
    }
}

/// x_i' = f_i(x) + …, 0 = g(x) + … with the solution x_j = a_j + c_j t^k_j.
#[derive(Clone, Debug)]
struct Manufactured {
    solution: Vec<(f64, f64, i32)>,
    rates: Vec<Vec<Term>>,
    constraints: Vec<Vec<Term>>,
}

impl Manufactured {
    fn random(seed: u64) -> Self {
        let mut random = Random(seed);
        let (moving, free) = (3 + random.below(3), 1 + random.below(2));
        let n = moving + free;
        let mut solution = Vec::new();
        for _ in 0..n {
            // many start at zero, some stay there for long
            let at_zero = if random.below(3) == 0 { 1.0 } else { 0.0 };
            solution.push((at_zero, 0.4 + 0.3 * random.real(), 1 + random.below(5) as i32));
        }
        let mut term = |unknowns: usize| {
            let second = if random.below(2) == 0 { Some(random.below(unknowns)) } else { None };
            Term(1.0 + 0.5 * random.real(), random.below(unknowns), second)
        };
        let rates = (0..moving).map(|_| vec![term(n), term(n)]).collect();
        // one constraint for each unknown without a rate
        let constraints = (0..free).map(|_| vec![term(moving), term(moving)]).collect();
        Manufactured { solution, rates, constraints }
    }

    fn exact<S: Scalar>(&self, t: S) -> Vec<S> {
        self.solution.iter().map(|&(a, c, k)| t.powi(k) * c + a).collect()
    }
}

fn sum<S: Scalar>(terms: &[Term], x: &[S]) -> S {
    terms.iter().map(|term| term.of(x)).fold(S::from(0.0), |sum, term| sum + term)
}

impl Equations for Manufactured {
    fn dim(&self) -> usize {
        self.solution.len()
    }
    fn residual<S: Scalar>(&self, t: S, x: &[S], d: &[S], r: &mut [S]) {
        let exact = self.exact(t);
        for (i, terms) in self.rates.iter().enumerate() {
            let (_, c, k) = self.solution[i];
            let rate = if k == 1 { S::from(c) } else { t.powi(k - 1) * (c * f64::from(k)) };
            r[i] = d[i] - sum(terms, x) + sum(terms, &exact) - rate;
        }
        for (i, terms) in self.constraints.iter().enumerate() {
            r[self.rates.len() + i] = sum(terms, x) - sum(terms, &exact);
        }
    }
}

#[test]
fn special_starts_lose_no_term() {
    let options = Options { tolerance: Tolerance::new(1e-8, 1e-8), max_steps: 2000, ..Options::default() };
    let (mut right, mut refused, mut wrong) = ([0; 3], [0; 3], Vec::new());
    for seed in 0..200 {
        let equations = Manufactured::random(seed);
        let system = System::of(&equations);
        let initial = Initial::new(0.0, &equations.exact(0.0));
        let exact: Vec<f64> =
            equations.exact(Taylor::<f64, 1>::parameter(0.5)).iter().map(|x| x.coefficients[0]).collect();
        for (k, form) in [Form::Auto, Form::QuasiLinear, Form::DerivativeArray].into_iter().enumerate() {
            match solve(
                &Problem::new(&system, initial.clone(), 0.5),
                &InForm { form, integrator: &RadauIIa::default() },
                &options,
            ) {
                Ok(solution) if solution.layout.values.u == 0 => {
                    let off = solution.end.x.iter().zip(&exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                    right[k] += 1;
                    // the derivative array keeps the ranks of its start, where that is special
                    if off > 1e-4 && form != Form::DerivativeArray {
                        wrong.push(format!("{seed} {form:?}: {off:e}: {equations:?}: {:?}", solution.layout));
                    }
                }
                // unknowns may be undetermined
                Ok(_) => {}
                Err(SolveError::Options(bad)) => panic!("{bad}"),
                Err(_) => refused[k] += 1,
            }
        }
    }
    println!("right {right:?}, refused {refused:?} of auto, quasilinear, array");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(right.iter().all(|&count| count >= 60), "{right:?}");
}
