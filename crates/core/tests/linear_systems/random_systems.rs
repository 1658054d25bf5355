//! Random linear time-varying rectangular problems whose characteristic values are known because they were hidden: Kronecker blocks
//! behind time-dependent transformations P(t), Q(t), and strangeness-free systems behind differentiated row operations.

use daedal::dae::{CharacteristicValues, Dae};
use daedal::linalg::{Lu, Matrix};
use daedal::linear::*;
use daedal::method::Integrator;
use daedal::method::bdf::Bdf;
use daedal::method::radau::RadauIIa;
use daedal::scalar::Scalar;
use daedal::{Options, Tolerance};

/// Marsaglia's xorshift.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    /// Uniform in [−1, 1].
    fn real(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 33) as usize % n
    }
    fn matrix(&mut self, m: usize, n: usize, size: f64) -> Matrix {
        let mut A = Matrix::zeros(m, n);
        for i in 0..m {
            for j in 0..n {
                A[(i, j)] = size * self.real();
            }
        }
        A
    }
    /// Orthogonal, from Gram and Schmidt.
    fn orthogonal(&mut self, n: usize) -> Matrix {
        let mut Q = self.matrix(n, n, 1.0);
        for k in 0..n {
            for _ in 0..2 {
                for j in 0..k {
                    let (q, row) = Q.row_pair(j, k);
                    let r: f64 = q.iter().zip(row.iter()).map(|(a, b)| a * b).sum();
                    for (x, q) in row.iter_mut().zip(q) {
                        *x -= r * q;
                    }
                }
            }
            let size = Q.row(k).iter().map(|x| x * x).sum::<f64>().sqrt();
            for x in Q.row_mut(k) {
                *x /= size;
            }
        }
        Q
    }
}

/// X₀ + X₁ sin(ω t + φ), which stays regular when X₀ is orthogonal and X₁ small.
#[derive(Clone)]
struct Moving {
    X0: Matrix,
    X1: Matrix,
    omega: f64,
    phi: f64,
}

impl Moving {
    fn transformation(random: &mut Random, n: usize) -> Self {
        let X0 = random.orthogonal(n);
        let X1 = random.matrix(n, n, 0.5 / n.max(1) as f64);
        Moving { X0, X1, omega: 0.5 + random.real().abs(), phi: 3.0 * random.real() }
    }
    fn coefficient(random: &mut Random, m: usize, n: usize) -> Self {
        let (X0, X1) = (random.matrix(m, n, 1.0), random.matrix(m, n, 0.5));
        Moving { X0, X1, omega: 0.5 + random.real().abs(), phi: 3.0 * random.real() }
    }
    fn zero(m: usize, n: usize) -> Self {
        Moving { X0: Matrix::zeros(m, n), X1: Matrix::zeros(m, n), omega: 1.0, phi: 0.0 }
    }
    /// X and X'.
    fn at<S: Scalar>(&self, t: S) -> (Matrix<S>, Matrix<S>) {
        let (m, n) = (self.X0.rows(), self.X0.cols());
        let (s, c) = (t * self.omega + self.phi).sin_cos();
        let (mut X, mut Xdot) = (Matrix::zeros(m, n), Matrix::zeros(m, n));
        for i in 0..m {
            for j in 0..n {
                X[(i, j)] = s * self.X1[(i, j)] + self.X0[(i, j)];
                Xdot[(i, j)] = c * (self.X1[(i, j)] * self.omega);
            }
        }
        (X, Xdot)
    }
}

fn product<S: Scalar>(A: &Matrix<S>, B: &Matrix<S>) -> Matrix<S> {
    let mut C = Matrix::zeros(A.rows(), B.cols());
    for i in 0..A.rows() {
        for k in 0..A.cols() {
            for j in 0..B.cols() {
                C[(i, j)] += A[(i, k)] * B[(k, j)];
            }
        }
    }
    C
}

/// P (E₀ (Q x)' − (A₀ + coupling) Q x) with row and column scales, right-hand side from a known solution.
#[derive(Clone)]
struct Hidden {
    /// hidden pair, time dependent
    E0: Moving,
    A0: Moving,
    /// rows to which multiples of the derivative of another row, without derivatives of x, are added: (to, from, factor)
    operations: Vec<(usize, usize, f64)>,
    P: Moving,
    Q: Moving,
    row_scales: Vec<f64>,
    column_scales: Vec<f64>,
    /// xⱼ = sin(ωⱼ t + φⱼ), in the scale of its column
    solution: Vec<(f64, f64)>,
    values: CharacteristicValues,
}

impl Hidden {
    fn solution_at<S: Scalar>(&self, t: S) -> (Vec<S>, Vec<S>) {
        let columns = self.solution.iter().zip(&self.column_scales);
        columns
            .map(|(&(omega, phi), scale)| {
                let (s, c) = (t * omega + phi).sin_cos();
                (s / *scale, c * (omega / scale))
            })
            .unzip()
    }
}

impl LinearEquations for Hidden {
    fn dim(&self) -> usize {
        self.Q.X0.rows()
    }
    fn rows(&self) -> usize {
        self.P.X0.rows()
    }
    fn coefficients<S: Scalar>(&self, t: S, E: &mut Matrix<S>, A: &mut Matrix<S>, b: &mut [S]) {
        let (mut E0, _) = self.E0.at(t);
        let (mut A0, A0dot) = self.A0.at(t);
        let n = self.dim();
        // row `to` += factor · d/dt(A₀x + …) of row `from`: factor (A₀ x' + A₀' x) stands on the right
        for &(to, from, factor) in &self.operations {
            for j in 0..n {
                let (a, adot) = (A0[(from, j)], A0dot[(from, j)]);
                E0[(to, j)] -= a * factor;
                A0[(to, j)] += adot * factor;
            }
        }
        let (P, _) = self.P.at(t);
        let (Q, Qdot) = self.Q.at(t);
        let EQ = product(&E0, &Q);
        let mut AQ = product(&A0, &Q);
        let EQdot = product(&E0, &Qdot);
        for i in 0..self.rows() {
            for j in 0..n {
                AQ[(i, j)] -= EQdot[(i, j)];
            }
        }
        let (PE, PA) = (product(&P, &EQ), product(&P, &AQ));
        let (x, xdot) = self.solution_at(t);
        for i in 0..self.rows() {
            for j in 0..n {
                let scale = self.row_scales[i] * self.column_scales[j];
                E[(i, j)] = PE[(i, j)] * scale;
                A[(i, j)] = PA[(i, j)] * scale;
                b[i] += E[(i, j)] * xdot[j] - A[(i, j)] * x[j];
            }
        }
    }
}

/// Transformations, scales and a solution around a hidden pair.
fn hide(
    random: &mut Random,
    E0: Moving,
    A0: Moving,
    operations: Vec<(usize, usize, f64)>,
    values: CharacteristicValues,
    badly_scaled: bool,
) -> Hidden {
    let (m, n) = (E0.X0.rows(), E0.X0.cols());
    let scale = |random: &mut Random| if badly_scaled { 10f64.powf(3.0 * random.real()) } else { 1.0 };
    Hidden {
        E0,
        A0,
        operations,
        P: Moving::transformation(random, m),
        Q: Moving::transformation(random, n),
        row_scales: (0..m).map(|_| scale(random)).collect(),
        column_scales: (0..n).map(|_| scale(random)).collect(),
        solution: (0..n).map(|_| (0.5 + random.real().abs(), 3.0 * random.real())).collect(),
        values,
    }
}

/// Kronecker blocks: finite J (d), nilpotent of size k (a = k, μ = k − 1), ε × (ε+1) (d = ε, u = 1), (η+1) × η (a = η, v = 1, μ = η).
/// Differential rows are coupled to everything.
fn kronecker(random: &mut Random, square: bool, badly_scaled: bool) -> Hidden {
    let d = random.below(3);
    let mut nilpotent = Vec::new();
    for _ in 0..random.below(3) {
        nilpotent.push(1 + random.below(4));
    }
    if nilpotent.is_empty() && d == 0 || random.below(12) == 0 {
        nilpotent.push(5);
    }
    nilpotent.truncate(2);
    let (mut wide, mut tall) = (Vec::new(), Vec::new());
    if !square {
        for _ in 0..random.below(3) {
            wide.push(random.below(3));
        }
        for _ in 0..random.below(3) {
            tall.push(random.below(4));
        }
    }
    let m =
        d + nilpotent.iter().sum::<usize>() + wide.iter().sum::<usize>() + tall.iter().map(|k| k + 1).sum::<usize>();
    let n =
        d + nilpotent.iter().sum::<usize>() + wide.iter().map(|k| k + 1).sum::<usize>() + tall.iter().sum::<usize>();
    let mut E0 = Moving::zero(m, n);
    let mut A0 = Moving::coefficient(random, m, n);
    // only the differential rows keep their random coefficients
    for i in d..m {
        A0.X0.row_mut(i).fill(0.0);
        A0.X1.row_mut(i).fill(0.0);
    }
    for i in 0..d {
        E0.X0[(i, i)] = 1.0;
    }
    let (mut row, mut column) = (d, d);
    for &k in &nilpotent {
        for i in 0..k {
            A0.X0[(row + i, column + i)] = 1.0;
            if i + 1 < k {
                E0.X0[(row + i, column + i + 1)] = 1.0;
            }
        }
        row += k;
        column += k;
    }
    for &k in &wide {
        for i in 0..k {
            E0.X0[(row + i, column + i)] = 1.0;
            A0.X0[(row + i, column + i + 1)] = 1.0;
        }
        row += k;
        column += k + 1;
    }
    for &k in &tall {
        for i in 0..k {
            E0.X0[(row + i, column + i)] = 1.0;
            A0.X0[(row + i + 1, column + i)] = 1.0;
        }
        row += k + 1;
        column += k;
    }
    let values = CharacteristicValues {
        mu: nilpotent.iter().map(|k| k - 1).chain(tall.iter().copied()).max().unwrap_or(0),
        d: d + wide.iter().sum::<usize>(),
        a: nilpotent.iter().sum::<usize>() + tall.iter().sum::<usize>(),
        v: tall.len(),
        u: wide.len(),
    };
    hide(random, E0, A0, Vec::new(), values, badly_scaled)
}

/// T1.5: E₁x' = A₁x, 0 = A₂x strangeness-free with v zero rows; derivatives of algebraic rows are added to other rows.
fn unimodular(random: &mut Random) -> Hidden {
    let (d, a, v, u) = (random.below(3), 1 + random.below(3), random.below(2), random.below(2));
    let (m, n) = (d + a + v, d + a + u);
    let (mut E0, mut A0) = (Moving::zero(m, n), Moving::zero(m, n));
    // [E₁; A₂] orthonormal rows plus something small that moves
    let rows = random.orthogonal(n);
    for i in 0..d {
        E0.X0.row_mut(i).copy_from_slice(rows.row(i));
        for j in 0..n {
            E0.X1[(i, j)] = 0.1 * random.real();
            A0.X0[(i, j)] = random.real();
            A0.X1[(i, j)] = 0.5 * random.real();
        }
    }
    for i in d..d + a {
        A0.X0.row_mut(i).copy_from_slice(rows.row(i));
        for j in 0..n {
            A0.X1[(i, j)] = 0.1 * random.real();
        }
    }
    let mut operations = Vec::new();
    let mut mu = 0;
    for to in 0..d {
        if random.below(2) == 0 {
            operations.push((to, d + random.below(a), 1.0 + random.real().abs()));
        }
    }
    if a > 1 && random.below(2) == 0 {
        // into another algebraic row: now it has to be differentiated away
        operations.push((d + a - 1, d, 1.0 + random.real().abs()));
        operations.retain(|&(to, from, _)| from != d + a - 1 || to == d + a - 1);
        mu = 1;
    }
    hide(random, E0, A0, operations, CharacteristicValues { mu, d, a, v, u }, false)
}

/// All values by both ways, and the solution in the reduced system.
fn check(problem: Hidden, t: f64, what: &str) {
    let values = problem.values;
    let (x, xdot) = problem.solution_at(t);
    let (m, n) = (problem.rows(), problem.dim());
    let mut oracle = Differentiated::new(problem);
    let options = RankOptions::default();
    let found = strangeness_free(&mut oracle, t, &options).unwrap_or_else(|error| panic!("{what} {m} × {n}: {error}"));
    assert_eq!(found.values, values, "{what} {m} × {n}: {:?}", found.gap);
    let by_recursion = invariants_by_recursion(&mut oracle, t, &options).unwrap();
    assert_eq!(by_recursion, values, "{what} {m} × {n}, by recursion");
    // the solution solves the reduced system, relative to the size of the terms
    let system = &found.system;
    let row = |A: &Matrix, i: usize, x: &[f64]| A.row(i).iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
    let size = |A: &Matrix, i: usize, x: &[f64]| A.row(i).iter().zip(x).map(|(a, x)| (a * x).abs()).sum::<f64>();
    for i in 0..values.d {
        let scale = size(&system.E1, i, &xdot) + size(&system.A1, i, &x) + system.b1[i].abs();
        let residual = row(&system.E1, i, &xdot) - row(&system.A1, i, &x) - system.b1[i];
        assert!(residual.abs() < 1e-12 * scale, "{what}: differential row {residual:e}");
    }
    for i in 0..values.a {
        let scale = size(&system.A2, i, &x) + system.b2[i].abs() + 1e-3;
        let residual = row(&system.A2, i, &x) + system.b2[i];
        assert!(residual.abs() < 1e-10 * scale, "{what}: algebraic row {residual:e} of {scale:e}");
    }
    assert!(found.inconsistency < 1e-11, "{what}: inconsistency {:e}", found.inconsistency);
}

#[test]
fn every_hidden_kronecker_structure_is_found() {
    let mut counts = [0; 6];
    for seed in 1..=1200_u64 {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let problem = kronecker(&mut random, seed.is_multiple_of(3), false);
        if problem.rows() == 0 || problem.dim() == 0 {
            continue;
        }
        counts[problem.values.mu.min(5)] += 1;
        check(problem, random.real(), &format!("seed {seed}"));
    }
    println!("problems with μ = 0, 1, …: {counts:?}");
    assert!(counts.iter().sum::<usize>() > 1000 && counts[3] > 50 && counts[4] > 20);
}

#[test]
fn structures_are_found_behind_bad_scales() {
    for seed in 1..=300_u64 {
        let mut random = Random(seed.wrapping_mul(0xD134_2543_DE82_EF95));
        let problem = kronecker(&mut random, seed.is_multiple_of(3), true);
        if problem.rows() == 0 || problem.dim() == 0 || problem.values.mu > 3 {
            continue;
        }
        check(problem, random.real(), &format!("seed {seed}"));
    }
}

#[test]
fn t1_5_differentiated_row_operations_change_no_count() {
    for seed in 1..=400_u64 {
        let mut random = Random(seed.wrapping_mul(0xA076_1D64_78BD_642F));
        let problem = unimodular(&mut random);
        check(problem, random.real(), &format!("seed {seed}"));
    }
}

/// Radau IIa with three stages at fixed steps: the linear stage system in the derivatives, from residuals at unit vectors.
fn radau<D: Dae>(system: &mut D, t0: f64, x0: &[f64], t1: f64, steps: usize) -> Vec<f64> {
    let n = system.dim();
    let r = 6f64.sqrt();
    let c = [(4.0 - r) / 10.0, (4.0 + r) / 10.0, 1.0];
    let a = [
        [(88.0 - 7.0 * r) / 360.0, (296.0 - 169.0 * r) / 1800.0, (-2.0 + 3.0 * r) / 225.0],
        [(296.0 + 169.0 * r) / 1800.0, (88.0 + 7.0 * r) / 360.0, (-2.0 - 3.0 * r) / 225.0],
        [(16.0 - r) / 36.0, (16.0 + r) / 36.0, 1.0 / 9.0],
    ];
    let h = (t1 - t0) / steps as f64;
    let mut x = x0.to_vec();
    let mut pencil = system.new_pencil();
    for step in 0..steps {
        let t = t0 + h * step as f64;
        system.pencil(t, &x, &vec![0.0; n], &mut pencil).unwrap();
        let mut residual = |K: &[f64]| {
            let mut out = vec![0.0; 3 * n];
            for s in 0..3 {
                let X: Vec<f64> =
                    (0..n).map(|j| x[j] + h * (0..3).map(|l| a[s][l] * K[l * n + j]).sum::<f64>()).collect();
                let end = if s == 2 { t0 + h * (step + 1) as f64 } else { t + c[s] * h };
                let part = &mut out[s * n..(s + 1) * n];
                system.residual(s, end, &X, &K[s * n..(s + 1) * n], part).unwrap();
            }
            for s in 0..3 {
                for i in 0..n {
                    if system.algebraic(i) {
                        out[s * n + i] /= h;
                    }
                }
            }
            out
        };
        let zero = residual(&vec![0.0; 3 * n]);
        let mut lu = Lu::<f64>::new(3 * n);
        for k in 0..3 * n {
            let mut unit = vec![0.0; 3 * n];
            unit[k] = 1.0;
            for (i, r) in residual(&unit).iter().enumerate() {
                lu.A[(i, k)] = r - zero[i];
            }
        }
        lu.factor().unwrap();
        let mut K: Vec<f64> = zero.iter().map(|r| -r).collect();
        lu.solve(&mut K);
        for (j, x) in x.iter_mut().enumerate() {
            *x += h * (0..3).map(|l| a[2][l] * K[l * n + j]).sum::<f64>();
        }
        let end = t0 + h * (step + 1) as f64;
        system.accepted(2, end, &mut x, &K[2 * n..]).unwrap();
    }
    x
}

#[test]
fn the_error_falls_with_the_order_of_the_method() {
    let (t0, t1) = (0.2, 1.4);
    let mut orders = Vec::new();
    let mut seed = 0_u64;
    while orders.len() < 40 {
        seed += 1;
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x55);
        let problem =
            if seed.is_multiple_of(4) { unimodular(&mut random) } else { kronecker(&mut random, seed % 4 == 1, false) };
        let values = problem.values;
        if values.u > 0 || values.d == 0 || values.mu > 3 {
            continue;
        }
        let exact = problem.solution_at(t1).0;
        let start = problem.solution_at(t0).0;
        let error = |steps: usize| {
            let mut system = Gelda::new(Differentiated::new(problem.clone()), t0, GeldaOptions::default()).unwrap();
            let first = system.consistent(t0, &start, Keep::LeastChange).unwrap();
            let x = radau(&mut system, t0, &first.x, t1, steps);
            assert!(system.residuals().constraint.is_none_or(|residual| residual < 1e-11));
            x.iter().zip(&exact).fold(0.0_f64, |y, (a, b)| y.max((a - b).abs()))
        };
        let (coarse, fine) = (error(4), error(8));
        if fine > 1e-11 {
            orders.push((coarse / fine).log2());
        } else {
            assert!(coarse < 1e-8, "seed {seed}: {coarse:e}");
        }
        assert!(fine < 1e-4, "seed {seed}, {values}: error {fine:e}");
    }
    orders.sort_by(f64::total_cmp);
    println!("observed orders {orders:.2?}");
    let median = orders[orders.len() / 2];
    assert!(median > 4.7 && median < 5.6, "median {median}");
    assert!(orders[0] > 4.5, "{orders:?}");
}

#[test]
fn integrators_reach_their_tolerance_on_hidden_problems() {
    let methods: [(&str, Box<dyn Integrator>); 2] =
        [("Radau", Box::new(RadauIIa::default())), ("BDF", Box::new(Bdf::default()))];
    let options = Options { tolerance: Tolerance::new(1e-7, 1e-7), ..Options::default() };
    let mut worst = [0.0_f64; 2];
    for seed in 1..=24_u64 {
        let mut random = Random(seed.wrapping_mul(0xA076_1D64_78BD_642F) ^ 0x77);
        let problem =
            if seed.is_multiple_of(4) { unimodular(&mut random) } else { kronecker(&mut random, false, false) };
        let values = problem.values;
        if problem.rows() == 0 || problem.dim() == 0 || values.mu > 3 {
            continue;
        }
        for (worst, (name, method)) in worst.iter_mut().zip(&methods) {
            let mut system = Gelda::new(Differentiated::new(problem.clone()), 0.0, GeldaOptions::default()).unwrap();
            let start = problem.solution_at(0.0).0;
            let point = system.consistent(0.0, &start, Keep::LeastChange).unwrap();
            let mut stepper = method.start(Box::new(system), point, &options).unwrap();
            while stepper.state().t < 2.0 {
                stepper.advance(2.0).unwrap_or_else(|error| panic!("{name}, seed {seed}, {values}: {error}"));
                let constraint = stepper.residuals().constraint.unwrap_or(0.0);
                assert!(constraint < 1e-5, "{name}, seed {seed}, {values}: constraint {constraint:e}");
            }
            // only what is determined can be compared
            if values.u == 0 {
                let exact = problem.solution_at(2.0).0;
                let error = stepper.state().x.iter().zip(&exact).fold(0.0_f64, |y, (a, b)| y.max((a - b).abs()));
                assert!(error < 1e-4, "{name}, seed {seed}, {values}: error {error:e}");
                *worst = worst.max(error);
            }
        }
    }
    println!("largest errors {worst:?}");
}
