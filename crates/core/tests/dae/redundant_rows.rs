//! Random systems with redundant nonlinear equations: factors, squares, products and sums of equations that hold already.

use daedal::dae::{Depth, Equations, Form, InForm, System, Unknowns, characterise};
use daedal::scalar::Scalar;
use daedal::{Initial, Options, Problem, RadauIIa, Solution, SolveError, Tolerance, solve};

use crate::random::Random;

/// A factor of a redundant row: a function of an unknown.
#[derive(Clone, Copy, Debug)]
struct Factor(usize, usize);

impl Factor {
    fn of<S: Scalar>(self, x: &[S]) -> S {
        let x = x[self.1];
        match self.0 {
            0 => x.square() + 1.0,
            1 => x.sin() + 2.0,
            2 => x.exp(),
            _ => x.cos() - 3.0,
        }
    }
}

/// A row that follows from rows i, k of the system.
#[derive(Clone, Copy, Debug)]
enum Extra {
    Multiple(Factor, usize),
    Square(usize),
    Product(usize, usize),
    Bent(usize, usize),
    Sum(Factor, usize, Factor, usize),
}

/// One of four systems of index 1 to 3 with further rows.
#[derive(Clone, Debug)]
struct Redundant {
    kind: usize,
    numbers: [f64; 2],
    extra: Vec<Extra>,
}

impl Redundant {
    fn random(seed: u64) -> Self {
        let mut random = Random(seed);
        let kind = random.below(4);
        let numbers = [0.9 + 0.6 * random.real(), 0.9 + 0.6 * random.real()];
        let mut system = Redundant { kind, numbers, extra: Vec::new() };
        let constraints = system.constraints();
        for _ in 0..=random.below(3) {
            let mut factor = || Factor(random.below(4), random.below(system.dim()));
            let (f, g) = (factor(), factor());
            let rows = system.dim();
            let mut constraint = || constraints[random.below(constraints.len())];
            let (i, k) = (constraint(), constraint());
            let (any, other) = (random.below(rows), random.below(rows));
            system.extra.push(match random.below(6) {
                0 => Extra::Multiple(f, i),
                1 => Extra::Square(i),
                2 => Extra::Product(i, any),
                3 => Extra::Bent(i, k),
                _ => Extra::Sum(f, any, g, other),
            });
        }
        system
    }

    /// Rows without derivatives.
    fn constraints(&self) -> &'static [usize] {
        [&[4][..], &[3], &[2], &[2, 3]][self.kind]
    }

    fn start(&self) -> &'static [f64] {
        [&[0.6, -0.8, 0.4, 0.3, 1.0][..], &[0.6, 0.8, 0.5, 0.1], &[0.6, 0.7, 0.5], &[0.6, 0.7, 0.4, 0.5]][self.kind]
    }
}

impl Equations for Redundant {
    fn dim(&self) -> usize {
        [5, 4, 3, 4][self.kind]
    }
    fn rows(&self) -> usize {
        self.dim() + self.extra.len()
    }
    fn residual<S: Scalar>(&self, _: S, x: &[S], d: &[S], r: &mut [S]) {
        let [a, b] = self.numbers;
        match self.kind {
            // a pendulum, index 3
            0 => {
                r[0] = d[0] - x[2];
                r[1] = d[1] - x[3];
                r[2] = d[2] + x[0] * x[4];
                r[3] = d[3] + x[1] * x[4] + a;
                r[4] = x[0].square() + x[1].square() - 1.0;
            }
            // a point on a circle that is driven, index 2
            1 => {
                r[0] = d[0] + x[0] * x[3] - x[2] * a;
                r[1] = d[1] + x[1] * x[3] - x[2].sin() * b;
                r[2] = d[2] + x[2] - x[0] * x[1];
                r[3] = x[0].square() + x[1].square() - 1.0;
            }
            // index 1
            2 => {
                r[0] = d[0] + x[1] * x[2];
                r[1] = d[1] - x[0] + x[2].square() * a;
                r[2] = x[2].powi(3) + x[2] + x[0] * x[1] - 1.0;
            }
            // index 1 with a leading matrix of the state
            _ => {
                r[0] = (x[0].square() * a + 1.0) * d[0] + x[2];
                r[1] = d[1] + x[1] - x[3] * x[0];
                r[2] = x[2] - x[0] * x[1] - x[2].powi(3) * 0.1;
                r[3] = x[3] + x[3].powi(3) * 0.3 - x[0].cos() * b;
            }
        }
        let n = self.dim();
        for (k, extra) in self.extra.iter().enumerate() {
            r[n + k] = match *extra {
                Extra::Multiple(f, i) => f.of(x) * r[i],
                Extra::Square(i) => r[i].square(),
                Extra::Product(i, j) => r[i] * r[j],
                Extra::Bent(i, j) => r[i] * (r[j] + 1.0),
                Extra::Sum(f, i, g, j) => f.of(x) * r[i] + g.of(x) * r[j],
            };
        }
    }
}

fn run(equations: &Redundant, form: Form, x: &[f64]) -> Result<Solution<Unknowns>, SolveError<Unknowns>> {
    let system = System::of(equations);
    let options = Options { tolerance: Tolerance::new(1e-8, 1e-8), ..Options::default() };
    solve(
        &Problem::new(&system, Initial::new(0.0, x), 1.0),
        &InForm { form, integrator: &RadauIIa::default() },
        &options,
    )
}

#[test]
fn redundant_nonlinear_equations_change_nothing() {
    let (mut solved, mut fell_back) = (0, 0);
    for seed in 0..60 {
        let system = Redundant::random(seed);
        let plain = Redundant { extra: Vec::new(), ..system.clone() };
        let initial = Initial::new(0.0, system.start());
        let start = characterise(&System::of(&plain), &initial, Depth::default()).unwrap();
        let exact = run(&plain, Form::Auto, start.x()).unwrap();
        let off = |found: &Solution<Unknowns>| {
            (0..system.dim()).map(|j| (found.end.x[j] - exact.end.x[j]).abs()).fold(0.0, f64::max)
        };
        let auto = run(&system, Form::Auto, start.x());
        let array = run(&system, Form::DerivativeArray, start.x());
        // what reaches the end is right, and where the derivative array gets there the default does
        for found in [&auto, &array].into_iter().flatten() {
            assert!(off(found) < 1e-5, "{seed}: {system:?}: {:?}: {:e}", found.layout, off(found));
        }
        match (&auto, &array) {
            (Ok(found), _) => {
                solved += 1;
                fell_back += usize::from(found.layout.form == Form::DerivativeArray);
            }
            (Err(error), Ok(_)) => panic!("{seed}: {system:?}: {error:?}"),
            (Err(error), Err(_)) => println!("{seed}: {system:?}: {error}"),
        }
    }
    println!("{solved} of 60 solved, {fell_back} by the derivative array");
    assert!(solved >= 55, "{solved}");
}

/// x₁ = sin t, x₁' = x₂, g(t) (x₃ − c + x₃³ − c³) = 0 with c = 0.3 t, and a sum of the last two.
struct Cancels;

impl Equations for Cancels {
    fn dim(&self) -> usize {
        3
    }
    fn rows(&self) -> usize {
        4
    }
    fn residual<S: Scalar>(&self, t: S, x: &[S], xdot: &[S], r: &mut [S]) {
        let (g, c) = ((-((t - 1.0) * 10.0).square()).exp() * 4.0 + 1.0, t * 0.3);
        r[0] = x[0] - t.sin();
        r[1] = xdot[0] - x[1];
        r[2] = g * (x[2] - c + x[2] * x[2] * x[2] - c * c * c);
        r[3] = r[1] - r[2] * 1.93;
    }
}

#[test]
fn rounding_in_a_sum_of_rows_that_cancels_is_no_term_that_appears() {
    for form in [Form::Auto, Form::QuasiLinear] {
        let system = System::of(&Cancels);
        let problem = Problem::new(&system, Initial::new(0.0, &[0.0, 1.0, 0.0]), 2.0);
        let solution =
            solve(&problem, &InForm { form, integrator: &RadauIIa::default() }, &Options::default()).unwrap();
        let x = &solution.end.x;
        assert!((x[1] - 2.0_f64.cos()).abs() < 1e-6 && (x[2] - 0.6).abs() < 1e-6, "{form:?}: {x:?}");
    }
}
