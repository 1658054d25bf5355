//! Redundant constraints of mechanisms: rows that follow from others are left out by explicit methods, and nothing that is told depends on which ones. Small
//! mechanisms get sparse matrices for that.

#[path = "support/ladder.rs"]
mod ladder;

use daedal::catalogue;
use daedal::formulation::Formulation;
use daedal::graph::Interpreted;
use daedal::linalg::{Matrices, Svd};
use daedal::motion::{Compiled, EquationsOfMotion, Form, Formulas, Mechanism, consistent};
use daedal::motion::{Motion, Position, Sizes};
use daedal::scalar::Scalar;
use daedal::{Initial, Options, Problem, Solution, SolveError, StepFailure, Tolerance, solve};
use ladder::{GRAVITY, Ladder};

const EXPLICIT: [&str; 5] = ["dop853", "dopri5", "hedop5", "hem5", "mexx"];

const KINDS: [Matrices; 2] = [Matrices::Sparse, Matrices::Auto];

fn compiled<E: EquationsOfMotion>(model: &E, matrices: Matrices) -> Compiled {
    Compiled::new(&Formulas::trace(model), Interpreted).with_matrices(matrices)
}

fn run(system: &Compiled, initial: &Initial, tend: f64, method: &str, tol: f64) -> Result<Solution, SolveError> {
    let entry = catalogue::find(method).unwrap();
    let formulation = Formulation::ALL.into_iter().find(|f| entry.formulations.contains(&f.name())).unwrap();
    let options = Options { tolerance: Tolerance::new(tol, tol), ..Options::default() };
    solve(&Problem::new(system, initial.clone(), tend), &*entry.with(formulation).unwrap(), &options)
}

/// φ and φ' of φ'' = −k cos φ, by steps of Runge and Kutta.
fn angle(k: f64, start: [f64; 2], tend: f64) -> [f64; 2] {
    let n = 20_000;
    let h = tend / f64::from(n);
    let f = |y: [f64; 2]| [y[1], -k * y[0].cos()];
    let along = |y: [f64; 2], h: f64, d: [f64; 2]| [y[0] + h * d[0], y[1] + h * d[1]];
    (0..n).fold(start, |y, _| {
        let a = f(y);
        let b = f(along(y, 0.5 * h, a));
        let c = f(along(y, 0.5 * h, b));
        let d = f(along(y, h, c));
        along(y, h / 6.0, [0, 1].map(|i| a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]))
    })
}

/// The smallest multipliers with the force of the given ones, by singular values, W = diag K D⁻¹ Kᵀ.
fn least(system: &Compiled, x: &[f64], given: &[f64]) -> Vec<f64> {
    let mut array = system.array(Form::StrangenessFree, false);
    let [M, K, _] = array.matrices(0.0, x).unwrap();
    let (m, n) = (K.rows(), K.cols());
    let mut svd = Svd::new(m, n);
    let mut sizes = vec![0.0; m];
    for i in 0..m {
        let row: Vec<(usize, f64)> = K.row(i).map(|(j, k)| (j, k / M[(j, j)].sqrt())).collect();
        sizes[i] = row.iter().map(|(_, k)| k * k).sum::<f64>().sqrt();
        for &(j, k) in &row {
            svd.A[(i, j)] = k / sizes[i];
        }
    }
    svd.factor().unwrap();
    let mut found = vec![0.0; m];
    for k in 0..svd.rank(1e-9 * svd.sigma(0)) {
        let along: f64 = (0..m).map(|i| svd.U[(i, k)] * given[i] * sizes[i]).sum();
        (0..m).for_each(|i| found[i] += svd.U[(i, k)] * along / sizes[i]);
    }
    found
}

#[test]
fn a_ladder_swings_as_a_pendulum_and_its_ground_carries_its_weight() {
    let ladder = Ladder { cells: 3 };
    let systems = KINDS.map(|matrices| compiled(&ladder, matrices));
    let exact = angle(ladder.pendulum(), [-0.8, 0.5], 0.7);
    for (system, method) in systems.iter().flat_map(|system| EXPLICIT.map(|method| (system, method))) {
        let solution = run(system, &ladder.start(-0.8, 0.5), 0.7, method, 1e-9).unwrap();
        let end = solution.at_end();
        for crank in 0..=ladder.cells {
            let at = [end.p[3 * crank + 2], end.v[3 * crank + 2]];
            assert!((0..2).all(|i| (at[i] - exact[i]).abs() < 1e-6), "{method}: {at:?} {exact:?}");
        }
        let most = solution.max_residuals;
        assert!(most.position.unwrap() < 1e-11 && most.velocity.unwrap() < 1e-11, "{method}: {most:?}");
        // M a = f − Kᵀλ, and rows of the ground pull at bars with +1
        let l = &solution.layout;
        let (a, lambda) = (&solution.end.x[l.a()], &solution.end.x[l.lambda()]);
        for k in 0..2 {
            let ground: f64 = -lambda[..ladder.ground()].iter().skip(k).step_by(2).sum::<f64>();
            let weight = |bar: usize| {
                let mass = ladder.length_and_mass(bar)[1];
                mass * (a[3 * bar + k] + if k == 1 { GRAVITY } else { 0.0 })
            };
            let needed: f64 = (0..ladder.bars()).map(weight).sum();
            assert!((ground - needed).abs() < 1e-9 * needed.abs(), "{method}: {ground} {needed}");
        }
        let expected = least(system, &solution.end.x, lambda);
        let largest = expected.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let error = lambda.iter().zip(&expected).fold(0.0, |most: f64, (x, y)| most.max((x - y).abs()));
        assert!(error < 1e-9 * largest, "{method}: {error:e} of {largest}");
    }
}

#[test]
fn long_ladders_swing_as_short_ones_with_matrices_that_are_sparse_by_themselves() {
    for cells in [30, 120] {
        let ladder = Ladder { cells };
        let system = Compiled::new(&Formulas::trace(&ladder), Interpreted);
        assert!(system.array(Form::StrangenessFree, false).new_matrices()[1].is_sparse());
        let found = consistent::initialise(&system, &ladder.start(-0.8, 0.5), Form::StrangenessFree).unwrap();
        assert_eq!(found.undetermined_multipliers, cells);
        let exact = angle(ladder.pendulum(), [-0.8, 0.5], 0.2);
        let solution = run(&system, &ladder.start(-0.8, 0.5), 0.2, "dop853", 1e-8).unwrap();
        let end = solution.at_end();
        for crank in [0, cells / 2, cells] {
            assert!((end.p[3 * crank + 2] - exact[0]).abs() < 1e-6, "{cells}: {} {exact:?}", end.p[3 * crank + 2]);
        }
        let most = solution.max_residuals;
        assert!(most.position.unwrap() < 1e-10 && most.velocity.unwrap() < 1e-10, "{cells}: {most:?}");
        // forces of inner cells are of the size of those of a short ladder
        let lambda = &solution.end.x[solution.layout.lambda()];
        assert!(lambda.iter().all(|x| x.abs() < 100.0), "{cells}");
    }
}

#[test]
fn guesses_beside_redundant_constraints_are_brought_onto_them() {
    let ladder = Ladder { cells: 4 };
    let systems = [Matrices::Sparse, Matrices::Dense].map(|matrices| compiled(&ladder, matrices));
    let mut initial = ladder.start(-0.8, 0.5);
    let shift = |start: &mut daedal::Start, by: f64| {
        if let daedal::Start::Guess(x) | daedal::Start::Fixed(x) = start {
            *start = daedal::Start::Guess(*x + by);
        }
    };
    initial.p.iter_mut().enumerate().for_each(|(j, p)| shift(p, 1e-3 * (2.3 * j as f64).sin()));
    initial.v.iter_mut().enumerate().for_each(|(j, v)| shift(v, 1e-2 * (1.7 * j as f64).cos()));
    // near the values without the shifts, and on the constraints: all cranks turn alike, couplers do not
    let value = |start: &daedal::Start| match start {
        daedal::Start::Guess(x) | daedal::Start::Fixed(x) => *x,
        daedal::Start::Unknown => f64::NAN,
    };
    let exact = ladder.start(-0.8, 0.5);
    for system in systems {
        let found = consistent::initialise(&system, &initial, Form::StrangenessFree).unwrap();
        assert_eq!(found.undetermined_multipliers, 4);
        let l = system.array(Form::StrangenessFree, false).layout().clone();
        for (range, exact, far) in [(l.p(), &exact.p, 0.01), (l.v(), &exact.v, 0.05)] {
            let found = &found.state.x[range];
            assert!(found.iter().zip(exact).all(|(x, exact)| (x - value(exact)).abs() < far), "{found:?}");
            for bar in 0..ladder.bars() {
                let alike = if bar <= ladder.cells { found[2] } else { 0.0 };
                assert!((found[3 * bar + 2] - alike).abs() < 1e-9, "{bar}: {found:?}");
            }
        }
    }
}

/// Two unit masses on a line and two rods between the same points: x₂ − x₁ = 1 twice, the second time with a length that grows with t³ from so much on.
struct TwoRods {
    grows: f64,
}

impl EquationsOfMotion for TwoRods {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 2, velocities: 2, holonomic: 2, ..Sizes::default() }
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut daedal::linalg::Matrix<S>) {
        (0..2).for_each(|i| M[(i, i)] = S::from(1.0));
    }
    fn force<S: Scalar>(&self, _: &Motion<S>, f: &mut [S]) {
        f[0] = S::from(1.0);
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        g[0] = at.p[1] - at.p[0] - 1.0;
        g[1] = at.p[1] - at.p[0] - 1.0 - at.t * at.t * at.t * self.grows;
    }
}

#[test]
fn constraints_that_contradict_others_later_are_named() {
    let initial = Initial::motion(0.0, &[0.0, 1.0], &[0.2, 0.2]);
    for (matrices, method) in KINDS.into_iter().flat_map(|matrices| EXPLICIT.map(|method| (matrices, method))) {
        let solution = run(&compiled(&TwoRods { grows: 0.0 }, matrices), &initial, 1.0, method, 1e-8).unwrap();
        // the force is shared by both rods
        let lambda = &solution.end.x[solution.layout.lambda()];
        assert!(lambda.iter().all(|l| (l.abs() - 0.25).abs() < 1e-10), "{lambda:?}");
        assert!((solution.at_end().p[0] - (0.2 + 0.25)).abs() < 1e-8);
        let failure = run(&compiled(&TwoRods { grows: 1.0 }, matrices), &initial, 1.0, method, 1e-8).unwrap_err();
        let SolveError::Stopped { cause: StepFailure::LeftOutFails { constraint, t, .. }, .. } = failure else {
            panic!("{method}: {failure:?}")
        };
        assert!(!constraint.is_empty() && t < 0.9, "{method}: {constraint} {t}");
    }
}

#[test]
fn a_singular_start_is_no_redundancy() {
    // flat: the rows of a parallelogram are dependent here, and not beside it
    let ladder = Ladder { cells: 1 };
    for matrices in KINDS {
        let failure = run(&compiled(&ladder, matrices), &ladder.start(0.0, 0.5), 0.5, "dop853", 1e-8);
        assert!(failure.is_err());
    }
}
