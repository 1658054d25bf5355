//! Random linear time-varying rectangular problems whose characteristic values are known because they were hidden: Kronecker blocks
//! behind time-dependent transformations P(t), Q(t), and strangeness-free systems behind differentiated row operations.

use daedal::dae::CharacteristicValues;
use daedal::linalg::Matrix;
use daedal::linear::LinearEquations;
use daedal::scalar::Scalar;

/// Marsaglia's xorshift.
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    /// Uniform in [−1, 1].
    pub fn real(&mut self) -> f64 {
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
pub struct Hidden {
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
    pub values: CharacteristicValues,
}

impl Hidden {
    pub fn solution_at<S: Scalar>(&self, t: S) -> (Vec<S>, Vec<S>) {
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
pub fn kronecker(random: &mut Random, square: bool, badly_scaled: bool) -> Hidden {
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
pub fn unimodular(random: &mut Random) -> Hidden {
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
