//! Large general systems: sparse matrices find what dense ones find, and chains of a thousand unknowns are analysed and solved.

use daedal::dae::analysis::{Scope, analyse};
use daedal::dae::{Depth, Equations, Form, System, characterise};
use daedal::linalg::Matrices;
use daedal::prelude::*;
use daedal::scalar::Scalar;

/// A chain of n point masses on rods of length one, index three: x, y, u, v of every mass, then the forces in the rods.
struct Chain(usize);

impl Equations for Chain {
    fn dim(&self) -> usize {
        5 * self.0
    }
    fn residual<S: Scalar>(&self, _: S, x: &[S], xdot: &[S], r: &mut [S]) {
        let n = self.0;
        let at = |i: usize, k: usize| x[4 * i + k];
        // from the mass before, and along the rod
        let rod = |i: usize, k: usize| if i == 0 { at(0, k) } else { at(i, k) - at(i - 1, k) };
        for i in 0..n {
            let force = |k: usize| {
                let pull = rod(i, k) * x[4 * n + i];
                if i + 1 < n { pull - rod(i + 1, k) * x[4 * n + i + 1] } else { pull }
            };
            r[4 * i] = xdot[4 * i] - at(i, 2);
            r[4 * i + 1] = xdot[4 * i + 1] - at(i, 3);
            r[4 * i + 2] = xdot[4 * i + 2] + force(0);
            r[4 * i + 3] = xdot[4 * i + 3] + force(1) + 1.0;
            r[4 * n + i] = rod(i, 0).square() + rod(i, 1).square() - 1.0;
        }
    }
}

/// At rest, all rods in one direction.
fn hanging(n: usize, angle: f64) -> Initial {
    let mut x = vec![0.0; 5 * n];
    for i in 0..n {
        x[4 * i] = (i + 1) as f64 * angle.sin();
        x[4 * i + 1] = -((i + 1) as f64) * angle.cos();
    }
    Initial::new(0.0, &x)
}

/// n cells u_i' = i_i − u_i, each driven by a source: u_i = sin(t + i/n) + u_{i−1}/2. Index two, and linear.
struct Sources(usize);

impl Equations for Sources {
    fn dim(&self) -> usize {
        2 * self.0
    }
    fn residual<S: Scalar>(&self, t: S, x: &[S], xdot: &[S], r: &mut [S]) {
        let n = self.0;
        for i in 0..n {
            let before = if i == 0 { S::from(0.0) } else { x[i - 1] * 0.5 };
            r[i] = xdot[i] - x[n + i] + x[i];
            r[n + i] = x[i] - before - (t + i as f64 / n as f64).sin();
        }
    }
}

/// The closed form of u_i and of i_i = u_i' + u_i.
fn sources(n: usize, t: f64) -> Vec<f64> {
    let (mut u, mut rate) = (vec![0.0; n], vec![0.0; n]);
    for i in 0..n {
        let phase = t + i as f64 / n as f64;
        let before = if i == 0 { (0.0, 0.0) } else { (u[i - 1], rate[i - 1]) };
        (u[i], rate[i]) = (phase.sin() + 0.5 * before.0, phase.cos() + 0.5 * before.1);
    }
    let currents: Vec<f64> = u.iter().zip(&rate).map(|(u, rate)| u + rate).collect();
    [u, currents].concat()
}

#[test]
fn sparse_and_dense_arrays_have_the_same_ranks() {
    for (system, initial) in
        [(System::of(&Chain(3)), hanging(3, 0.7)), (System::of(&Sources(6)), Initial::new(0.0, &sources(6, 0.0)))]
    {
        let depth = Depth { confirm: true, ..Depth::default() };
        let dense = characterise(&system.clone().with_matrices(Matrices::Dense), &initial, depth).unwrap();
        let sparse = characterise(&system.with_matrices(Matrices::Sparse), &initial, depth).unwrap();
        assert_eq!(dense.values, sparse.values);
        for (a, b) in dense.levels.iter().zip(&sparse.levels) {
            assert_eq!((a.rank, a.a, a.v, a.d, a.holds, a.one_full), (b.rank, b.a, b.v, b.d, b.holds, b.one_full));
        }
        assert!(dense.x().iter().zip(sparse.x()).all(|(a, b)| (a - b).abs() < 1e-9));
    }
}

#[test]
fn a_chain_runs_alike_with_sparse_and_dense_matrices() {
    let options = Options { tolerance: Tolerance::new(1e-8, 1e-8), ..Options::default() };
    let ends = [Matrices::Dense, Matrices::Sparse].map(|matrices| {
        let system = System::of(&Chain(4)).with_matrices(matrices);
        let problem = Problem::new(&system, hanging(4, 1.2), 2.0);
        let solution = solve(&problem, &RadauIIa::default(), &options).unwrap();
        assert!(solution.max_residuals.hidden.unwrap() < 1e-7, "{matrices:?}");
        solution.end.x[..20].to_vec()
    });
    let error = ends[0].iter().zip(&ends[1]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(error < 1e-5, "{error:e}");
}

#[test]
fn a_long_chain_is_analysed_and_swings() {
    let n = 200;
    let system = System::of(&Chain(n));
    let found = analyse(&system, &hanging(n, 0.7), Scope::default()).unwrap();
    assert_eq!(found.at.differentiation_index(), Some(3));
    assert_eq!((found.at.values.mu, found.at.values.a, found.at.values.d), (2, 3 * n, 2 * n));
    assert_eq!(found.free.len(), 2 * n);
    let problem = Problem::new(&system, hanging(n, 0.7), 0.2);
    let solution = solve(&problem, &RadauIIa::default(), &Options::default()).unwrap();
    assert_eq!(solution.layout.form, Form::QuasiLinear);
    // the last mass falls freely at first: rods hang in one line that turns as a whole at its upper end only
    assert!(solution.max_residuals.constraint.unwrap() < 1e-6 && solution.max_residuals.hidden.unwrap() < 1e-6);
}

#[test]
fn a_linear_system_of_index_two_follows_its_closed_form() {
    let n = 500;
    let system = System::of(&Sources(n));
    // currents are not given
    let mut initial = Initial::new(0.0, &sources(n, 0.0));
    initial.states[n..].iter_mut().for_each(|start| *start = Start::Unknown);
    let options = Options { tolerance: Tolerance::new(1e-7, 1e-7), ..Options::default() };
    let solution = solve(&Problem::new(&system, initial, 1.0), &RadauIIa::default(), &options).unwrap();
    let error = solution.end.x.iter().zip(sources(n, 1.0)).map(|(x, exact)| (x - exact).abs()).fold(0.0, f64::max);
    assert!(error < 1e-5, "{error:e}");
}
