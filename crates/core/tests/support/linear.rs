//! Linear equations with known answers, and what tests of them need.

use daedal::dae::CharacteristicValues;
use daedal::linalg::Matrix;
use daedal::linear::{ConstantCoefficients, LinearEquations};
use daedal::scalar::Scalar;

pub fn matrix(rows: &[&[f64]]) -> Matrix {
    let mut A = Matrix::zeros(rows.len(), rows.first().map_or(0, |row| row.len()));
    for (i, row) in rows.iter().enumerate() {
        A.row_mut(i).copy_from_slice(row);
    }
    A
}

pub fn values(mu: usize, d: usize, a: usize, v: usize, u: usize) -> CharacteristicValues {
    CharacteristicValues { mu, d, a, v, u }
}

pub fn distance(A: &[f64], B: &[f64]) -> f64 {
    assert_eq!(A.len(), B.len());
    A.iter().zip(B).fold(0.0, |y, (a, b)| y.max((a - b).abs()))
}

pub fn constant(E: &Matrix, A: &Matrix) -> ConstantCoefficients<()> {
    ConstantCoefficients::new(E.clone(), A.clone(), ())
}

/// Equations written for every scalar `S`, at a time `t`.
macro_rules! equations {
    ($name:ident, $m:expr, $n:expr, |$t:ident, $E:ident, $A:ident, $b:ident| $body:block) => {
        #[derive(Clone)]
        pub struct $name;
        impl LinearEquations for $name {
            fn dim(&self) -> usize {
                $n
            }
            fn rows(&self) -> usize {
                $m
            }
            fn coefficients<S: Scalar>(&self, $t: S, $E: &mut Matrix<S>, $A: &mut Matrix<S>, $b: &mut [S]) $body
        }
    };
}
pub(crate) use equations;

equations!(UniqueBehindSingularPencils, 2, 2, |t, E, A, b| {
    E[(1, 0)] = S::from(1.0);
    E[(1, 1)] = -t;
    A[(0, 0)] = S::from(-1.0);
    A[(0, 1)] = t;
    b[0] = t.sin();
    b[1] = t.exp();
});

/// M x'' + C x' + K x = f as x' = y, M y' = −C y − K x + f.
fn companion<S: Scalar>(M: [[S; 3]; 3], C: [[S; 3]; 3], K: [[S; 3]; 3], E: &mut Matrix<S>, A: &mut Matrix<S>) {
    for i in 0..3 {
        E[(i, i)] = S::from(1.0);
        A[(i, 3 + i)] = S::from(1.0);
        for j in 0..3 {
            E[(3 + i, 3 + j)] = M[i][j];
            A[(3 + i, 3 + j)] = -C[i][j];
            A[(3 + i, j)] = -K[i][j];
        }
    }
}

equations!(Companion, 6, 6, |t, E, A, b| {
    let (o, i) = (S::from(0.0), S::from(1.0));
    let M = [[t, o, o], [o, i, i], [o, t, t]];
    let C = [[i, o, o], [o, o, o], [o, o, o]];
    let K = [[i, o, o], [o, i, o], [o, t + 1.0, i]];
    companion(M, C, K, E, A);
    // x = (sin t, cos 2t, e^{−t})
    let (x, x1) = ([t.sin(), (t * 2.0).cos(), (-t).exp()], [t.cos(), (t * 2.0).sin() * -2.0, -(-t).exp()]);
    let x2 = [-t.sin(), (t * 2.0).cos() * -4.0, (-t).exp()];
    for r in 0..3 {
        for c in 0..3 {
            b[3 + r] += M[r][c] * x2[c] + C[r][c] * x1[c] + K[r][c] * x[c];
        }
    }
});

/// Modes of the boost converter in x = (vC, iL, vS, vD, iR, iS, iD): which of iS, vS and of vD, iD vanish.
pub fn boost(mode: usize) -> ConstantCoefficients<Vec<Vec<f64>>> {
    let (R, C, L, Vi) = (2.0, 1e-2, 1.0, 48.0);
    let (mut E, mut A) = (Matrix::zeros(7, 7), Matrix::zeros(7, 7));
    let mut b = vec![vec![]; 7];
    (E[(0, 0)], A[(0, 6)], A[(0, 4)]) = (C, 1.0, -1.0);
    (E[(1, 1)], A[(1, 2)]) = (L, 1.0);
    b[1] = vec![-Vi];
    (A[(2, 3)], A[(2, 0)], A[(2, 2)]) = (1.0, 1.0, 1.0);
    (A[(3, 4)], A[(3, 0)]) = (R, -1.0);
    (A[(4, 5)], A[(4, 1)], A[(4, 6)]) = (1.0, 1.0, -1.0);
    let (switch, diode) = [(5, 3), (2, 6), (5, 6), (2, 3)][mode - 1];
    A[(5, switch)] = 1.0;
    A[(6, diode)] = 1.0;
    ConstantCoefficients::new(E, A, b)
}
