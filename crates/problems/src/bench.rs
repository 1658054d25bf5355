//! What tests share: rows at a point, consistent values, and an integrator of its own.

use crate::Case;
use daedal::Start;
use daedal::linalg::{Matrix, Svd};
use daedal::motion::{Form, Layout, Mechanism, ReducedArray};
use std::ops::Range;

/// The reduced derivative array of a problem, all levels and invariants included.
pub struct Bench<'m> {
    array: Box<dyn ReducedArray + 'm>,
    pub layout: Layout,
}

impl<'m> Bench<'m> {
    pub fn new(mechanism: &'m dyn Mechanism) -> Self {
        let array = mechanism.array(Form::StrangenessFree, true);
        let layout = array.layout().clone();
        Bench { array, layout }
    }

    /// x with these blocks, the rest zero.
    pub fn point(&self, blocks: &[(&str, &[f64])]) -> Vec<f64> {
        let mut x = vec![0.0; self.layout.dim()];
        for (name, values) in blocks {
            let block = match *name {
                "a" => self.layout.a(),
                "w" => self.layout.w(),
                "lambda" => self.layout.lambda(),
                "mu" => self.layout.mu(),
                "r" => self.layout.r(),
                "v" => self.layout.v(),
                "s" => self.layout.s(),
                "p" => self.layout.p(),
                _ => panic!("no block is called {name}"),
            };
            x[block].copy_from_slice(values);
        }
        x
    }

    /// The given initial values, the rest zero.
    pub fn start(&self, case: &Case) -> Vec<f64> {
        let value = |start| match start {
            Start::Fixed(x) | Start::Guess(x) => x,
            Start::Unknown => 0.0,
        };
        case.initial.values(&self.layout, &[]).expect("blocks that fit").into_iter().map(value).collect()
    }

    pub fn rows(&mut self, t: f64, x: &[f64]) -> Vec<f64> {
        let mut rows = vec![0.0; self.layout.rows()];
        self.array.evaluate(t, x, &mut rows).expect("finite rows");
        rows
    }

    /// −∂k/∂x.
    pub fn jacobian(&mut self, t: f64, x: &[f64]) -> Matrix {
        let rows = self.rows(t, x);
        let mut F = Matrix::zeros(self.layout.rows(), self.layout.dim());
        self.array.dense_jacobian(t, x, &rows, &mut F).expect("finite derivatives");
        F
    }

    /// Keep the invariants at their values in x.
    pub fn keep_invariants(&mut self, t: f64, x: &[f64]) {
        let block = self.layout.row_invariants();
        self.array.set_invariants(&vec![0.0; block.len()]);
        let rows = self.rows(t, x);
        self.array.set_invariants(&rows[block]);
    }

    /// GZ = ∂gI/∂v.
    pub fn constraint_matrix(&mut self, t: f64, x: &[f64]) -> Vec<Vec<f64>> {
        let F = self.jacobian(t, x);
        self.layout.row_g1().map(|i| F.row(i)[self.layout.v()].iter().map(|f| -f).collect()).collect()
    }

    /// Rank of GZ.
    pub fn constraint_rank(&mut self, t: f64, x: &[f64]) -> usize {
        rank(self.constraint_matrix(t, x))
    }

    /// Accelerations from the dynamics, with all else given.
    pub fn accelerate(&mut self, t: f64, x: &mut [f64]) {
        let (rows, columns) = (self.layout.row_dynamics(), self.layout.a());
        self.newton(t, x, &rows, &columns);
    }

    /// Contact variables from c = 0.
    pub fn contact(&mut self, t: f64, x: &mut [f64]) {
        let (rows, columns) = (self.layout.row_contact(), self.layout.s());
        self.newton(t, x, &rows, &columns);
    }

    /// Contact variables, then a, w, λ, μ from block 1.
    pub fn complete(&mut self, t: f64, x: &mut [f64]) {
        self.contact(t, x);
        let (rows, columns) = (self.layout.algebraic_blocks()[0].clone(), 0..self.layout.n1());
        self.newton(t, x, &rows, &columns);
    }

    /// Positions and contact variables onto c = 0, g = 0, then velocities onto gI = 0, H Z v + h = 0.
    fn project(&mut self, t: f64, x: &mut [f64]) {
        let (rows, columns) =
            (self.layout.row_contact().start..self.layout.row_g().end, self.layout.s().start..self.layout.p().end);
        self.newton(t, x, &rows, &columns);
        let (rows, columns) = (self.layout.row_g1().start..self.layout.row_h().end, self.layout.v());
        self.newton(t, x, &rows, &columns);
    }

    fn newton(&mut self, t: f64, x: &mut [f64], rows: &Range<usize>, columns: &Range<usize>) {
        if columns.is_empty() || rows.is_empty() {
            return;
        }
        // a fresh matrix every few corrections
        for _ in 0..5 {
            let F = self.jacobian(t, x);
            let A: Vec<Vec<f64>> = rows.clone().map(|i| F.row(i)[columns.clone()].to_vec()).collect();
            for _ in 0..4 {
                let mut b = self.rows(t, x)[rows.clone()].to_vec();
                let (dx, _) = solve(&mut A.clone(), &mut b);
                let mut done = true;
                for (x, dx) in x[columns.clone()].iter_mut().zip(dx) {
                    done &= dx.abs() <= 1e-10 * x.abs().max(1.0);
                    *x += dx;
                }
                if done {
                    return;
                }
            }
        }
        panic!("Newton's method does not converge at t = {t}");
    }

    /// (r, v, p)' of the index-1 form.
    fn rate(&mut self, t: f64, x: &mut [f64]) -> Vec<f64> {
        self.complete(t, x);
        self.rows(t, x)[self.layout.row_dynamic().start..].to_vec()
    }

    /// The index-1 form from t to `end` in steps of about H: modified midpoint rule, extrapolated to order 16.
    pub fn integrate(&mut self, t: f64, x: &mut [f64], end: f64, H: f64) {
        let places: Vec<usize> = self.layout.r().chain(self.layout.v()).chain(self.layout.p()).collect();
        let steps = ((end - t) / H).ceil().max(1.0);
        let H = (end - t) / steps;
        for step in 0..steps as usize {
            let t = t + H * step as f64;
            let y: Vec<f64> = places.iter().map(|&i| x[i]).collect();
            let first = self.rate(t, x);
            let mut table: Vec<Vec<f64>> = vec![];
            for k in 1..=8_usize {
                let n = 2 * k;
                let h = H / n as f64;
                let (mut before, mut now) = (y.clone(), sum(&y, h, &first));
                for m in 1..=n {
                    places.iter().zip(&now).for_each(|(&i, &value)| x[i] = value);
                    let slope = self.rate(t + h * m as f64, x);
                    if m == n {
                        let smooth = |((b, c), f): ((&f64, &f64), f64)| 0.5 * (b + c + h * f);
                        now = before.iter().zip(&now).zip(slope).map(smooth).collect();
                    } else {
                        let next = sum(&before, 2.0 * h, &slope);
                        before = std::mem::replace(&mut now, next);
                    }
                }
                // Aitken and Neville: from steps H/n to zero, in even powers
                for j in 1..k {
                    let ratio = (k as f64 / (k - j) as f64).powi(2) - 1.0;
                    let previous = std::mem::replace(&mut table[j - 1], now.clone());
                    now = now.iter().zip(&previous).map(|(a, b)| a + (a - b) / ratio).collect();
                }
                table.push(now);
            }
            places.iter().zip(&table[7]).for_each(|(&i, &value)| x[i] = value);
            self.project(t + H, x);
        }
        self.complete(end, x);
    }
}

fn sum(y: &[f64], h: f64, f: &[f64]) -> Vec<f64> {
    y.iter().zip(f).map(|(y, f)| y + h * f).collect()
}

/// A solution of A x = b by elimination with full pivoting, unknowns without pivot zero; and the rank of A.
fn solve(A: &mut [Vec<f64>], b: &mut [f64]) -> (Vec<f64>, usize) {
    let (m, n) = (A.len(), A.first().map_or(0, Vec::len));
    let mut order: Vec<usize> = (0..n).collect();
    let (mut rank, mut largest) = (0, 0.0);
    while rank < m.min(n) {
        let mut best = (rank, rank);
        for i in rank..m {
            for j in rank..n {
                if A[i][order[j]].abs() > A[best.0][order[best.1]].abs() {
                    best = (i, j);
                }
            }
        }
        A.swap(rank, best.0);
        b.swap(rank, best.0);
        order.swap(rank, best.1);
        let pivot = A[rank][order[rank]];
        largest = pivot.abs().max(largest);
        if pivot.abs() <= 1e-13 * largest {
            break;
        }
        for i in rank + 1..m {
            let factor = A[i][order[rank]] / pivot;
            for &j in &order[rank..] {
                A[i][j] -= factor * A[rank][j];
            }
            b[i] -= factor * b[rank];
        }
        rank += 1;
    }
    let mut x = vec![0.0; n];
    for i in (0..rank).rev() {
        let known: f64 = order[i + 1..rank].iter().map(|&j| A[i][j] * x[j]).sum();
        x[order[i]] = (b[i] - known) / A[i][order[i]];
    }
    (x, rank)
}

/// Rank of a matrix.
pub fn rank(mut A: Vec<Vec<f64>>) -> usize {
    let mut none = vec![0.0; A.len()];
    solve(&mut A, &mut none).1
}

/// Singular values of a matrix, in falling order.
pub fn singular_values(A: &[Vec<f64>]) -> Vec<f64> {
    let (m, n) = (A.len(), A[0].len());
    let mut svd = Svd::new(m, n);
    (0..m).for_each(|i| (0..n).for_each(|j| svd.A[(i, j)] = A[i][j]));
    svd.factor().expect("singular values");
    (0..m.min(n)).map(|k| svd.sigma(k)).collect()
}

/// Numbers in [−1, 1] that are the same in every run.
pub struct RandomNumbers(u64);

impl RandomNumbers {
    pub fn new(seed: u64) -> Self {
        RandomNumbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn number(&mut self) -> f64 {
        // xorshift
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    pub fn vector(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.number()).collect()
    }
}

/// Both agree to `accuracy` · max(1, |expected|).
#[track_caller]
pub fn close(computed: &[f64], expected: &[f64], accuracy: f64) {
    assert_eq!(computed.len(), expected.len());
    for (i, (x, y)) in computed.iter().zip(expected).enumerate() {
        assert!((x - y).abs() <= accuracy * y.abs().max(1.0), "{x} instead of {y} at place {i}");
    }
}
