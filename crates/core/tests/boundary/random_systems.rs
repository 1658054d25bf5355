//! Random linear systems of index one and two with random conditions, against matrix exponentials.

use crate::{options, system};
use daedal::graph::Expr;
use daedal::{BoundaryProblem, EndCondition, Initial, solve_boundary};

type Rows = Vec<Vec<f64>>;

/// Numbers in (−1, 1), the same in every run (Marsaglia's xorshift).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
    fn rows(&mut self, m: usize, n: usize) -> Rows {
        (0..m).map(|_| (0..n).map(|_| self.next()).collect()).collect()
    }
    /// Near the identity, so that it is regular.
    fn regular(&mut self, n: usize) -> Rows {
        let mut rows = self.rows(n, n);
        rows.iter_mut().enumerate().for_each(|(i, row)| {
            for x in row.iter_mut() {
                *x *= 0.8 / n as f64;
            }
            row[i] += 1.0;
        });
        rows
    }
}

fn product(A: &Rows, B: &Rows) -> Rows {
    let row = |a: &Vec<f64>| (0..B[0].len()).map(|j| a.iter().zip(B).map(|(a, b)| a * b[j]).sum()).collect();
    A.iter().map(row).collect()
}

fn times(A: &Rows, x: &[f64]) -> Vec<f64> {
    A.iter().map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum()).collect()
}

/// e^A by squaring a Taylor sum.
fn exponential(A: &Rows) -> Rows {
    let n = A.len();
    let scaled: Rows = A.iter().map(|row| row.iter().map(|a| a / 1024.0).collect()).collect();
    let identity: Rows = (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    let (mut sum, mut term) = (identity.clone(), identity);
    for k in 1..25 {
        term = product(&term, &scaled)
            .into_iter()
            .map(|row| row.into_iter().map(|x| x / f64::from(k)).collect())
            .collect();
        sum.iter_mut().zip(&term).for_each(|(s, t)| s.iter_mut().zip(t).for_each(|(s, t)| *s += t));
    }
    for _ in 0..10 {
        sum = product(&sum, &sum);
    }
    sum
}

/// Solve A x = b by elimination with pivots; the smallest pivot tells how regular A is.
fn solve(mut A: Rows, mut b: Vec<f64>) -> (Vec<f64>, f64) {
    let n = b.len();
    let mut smallest = f64::INFINITY;
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| A[i][k].abs().total_cmp(&A[j][k].abs())).unwrap();
        A.swap(k, pivot);
        b.swap(k, pivot);
        smallest = smallest.min(A[k][k].abs());
        for i in k + 1..n {
            let factor = A[i][k] / A[k][k];
            let row = A[k].clone();
            A[i].iter_mut().zip(&row).for_each(|(a, r)| *a -= factor * r);
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        b[k] = (b[k] - (k + 1..n).map(|j| A[k][j] * b[j]).sum::<f64>()) / A[k][k];
    }
    (b, smallest)
}

/// x' = A x; index one: 0 = z − C x; index two: besides 0 = w − g x and w' = q. Unknowns and equations are mixed.
#[test]
fn random_systems_agree_with_matrix_exponentials() {
    let mut random = Numbers(0x1234_5678_9abc_def1);
    let (mut done, mut of_index_two, mut drawn) = (0, 0, 0);
    while done < 120 {
        drawn += 1;
        let d = 1 + drawn % 4;
        let a = drawn % 3;
        let higher = drawn % 2;
        let n = d + a + 2 * higher;
        let strength = [1.0, 4.0, 12.0][drawn % 3];
        let A: Rows = random.rows(d, d).into_iter().map(|r| r.into_iter().map(|x| strength * x).collect()).collect();
        let (C, g) = (random.rows(a, d), random.rows(higher, d));
        // canonical unknowns (x, z, w, q) = S x
        let mut S: Rows = (0..d).map(|i| (0..d).map(|j| f64::from(u8::from(i == j))).collect()).collect();
        S.extend(C.clone());
        S.extend(g.clone());
        S.extend(if higher == 1 { product(&g, &A) } else { Vec::new() });
        let (mut E, mut F) = (vec![vec![0.0; n]; n], vec![vec![0.0; n]; n]);
        for i in 0..d {
            E[i][i] = 1.0;
            F[i][..d].copy_from_slice(&A[i]);
        }
        for (k, row) in C.iter().chain(&g).enumerate() {
            F[d + k][..d].copy_from_slice(row);
            F[d + k][d + k] = -1.0;
        }
        if higher == 1 {
            E[n - 1][n - 2] = 1.0;
            F[n - 1][n - 1] = 1.0;
        }
        let (P, T) = (random.regular(n), random.regular(n));
        let (E, F) = (product(&product(&P, &E), &T), product(&product(&P, &F), &T));
        // T ξ = S x
        let columns: Vec<Vec<f64>> = (0..d).map(|j| solve(T.clone(), S.iter().map(|row| row[j]).collect()).0).collect();
        let unmixed: Rows = (0..n).map(|i| columns.iter().map(|c| c[i]).collect()).collect();
        let (first, last) = (random.rows(d, n), random.rows(d, n));
        let right: Vec<f64> = (0..d).map(|_| random.next()).collect();
        let flow = |t: f64| exponential(&A.iter().map(|r| r.iter().map(|x| x * t).collect()).collect::<Rows>());
        let at_end = product(&unmixed, &flow(1.0));
        let ends = product(&first, &unmixed).into_iter().zip(product(&last, &at_end));
        let matrix: Rows = ends.map(|(a, b)| a.into_iter().zip(b).map(|(a, b)| a + b).collect()).collect();
        let (x0, pivot) = solve(matrix, right.clone());
        // in double precision an exponential with larger entries is off by more than what is asked for here: x(t) is a difference of them
        let growth = flow(1.0).iter().flatten().fold(0.0_f64, |top, x| top.max(x.abs()));
        if pivot < 0.05 || growth > 1e4 {
            continue;
        }
        let names: Vec<String> = (0..n).map(|j| format!("x{j}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let sum = |row: &[f64], x: &[Expr]| row.iter().zip(x).fold(Expr::from(0.0), |sum, (c, x)| sum + *x * *c);
        let s = system(&names, &[], |_, x, xd, _| (0..n).map(|i| sum(&E[i], xd) - sum(&F[i], x)).collect());
        let mut problem = BoundaryProblem::new(&s, Initial::at(0.0), Initial::at(1.0));
        for i in 0..d {
            problem = problem.condition(EndCondition::new(format!("condition {i}"), &names, |a, b| {
                sum(&first[i], a) + sum(&last[i], b) - right[i]
            }));
        }
        let found = solve_boundary(&problem, &options(1e-9)).unwrap_or_else(|e| panic!("system {drawn}: {e}"));
        assert_eq!((found.account.degrees, found.account.conditions.len()), (d, d), "system {drawn}");
        let solution = &found.solution;
        for k in 0..solution.len() {
            let exact = times(&unmixed, &times(&flow(solution.times[k]), &x0));
            let top = exact.iter().fold(1.0_f64, |top, x| top.max(x.abs()));
            for j in 0..n {
                let off = (solution.state(k)[j] - exact[j]).abs();
                assert!(off < 1e-7 * top, "system {drawn}, x{j} at {}: {off}", solution.times[k]);
            }
        }
        done += 1;
        of_index_two += higher;
    }
    assert!(of_index_two > 40, "{of_index_two}");
}
