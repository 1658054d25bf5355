//! Minimal coordinates: equations of motion by projection (Kane), with derivatives along the motion by arithmetic of second order.
//!
//! ```text
//! Σ mẋⱼ·(ẍ − g) + ωⱼ·(Jω̇ + ω×Jω) = Qⱼ        ẋⱼ = ∂ẋ/∂q̇ⱼ,  ωⱼ = ∂ω/∂q̇ⱼ
//! ```
//! Nothing of the program is used here.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// A value with its first and second derivative in time.
#[derive(Clone, Copy, Debug)]
pub struct Jet(pub f64, pub f64, pub f64);

impl From<f64> for Jet {
    fn from(x: f64) -> Self {
        Jet(x, 0.0, 0.0)
    }
}
impl Add for Jet {
    type Output = Jet;
    fn add(self, b: Jet) -> Jet {
        Jet(self.0 + b.0, self.1 + b.1, self.2 + b.2)
    }
}
impl Neg for Jet {
    type Output = Jet;
    fn neg(self) -> Jet {
        Jet(-self.0, -self.1, -self.2)
    }
}
impl Sub for Jet {
    type Output = Jet;
    fn sub(self, b: Jet) -> Jet {
        self + -b
    }
}
impl Mul for Jet {
    type Output = Jet;
    fn mul(self, b: Jet) -> Jet {
        Jet(self.0 * b.0, self.1 * b.0 + self.0 * b.1, self.2 * b.0 + 2.0 * self.1 * b.1 + self.0 * b.2)
    }
}
impl Div for Jet {
    type Output = Jet;
    fn div(self, b: Jet) -> Jet {
        self * b.through(1.0 / b.0, -1.0 / b.0.powi(2), 2.0 / b.0.powi(3))
    }
}
impl Jet {
    /// f(x) with its derivatives.
    fn through(self, f: f64, f1: f64, f2: f64) -> Jet {
        Jet(f, f1 * self.1, f2 * self.1 * self.1 + f1 * self.2)
    }
    pub fn sin(self) -> Jet {
        self.through(self.0.sin(), self.0.cos(), -self.0.sin())
    }
    pub fn cos(self) -> Jet {
        self.through(self.0.cos(), -self.0.sin(), -self.0.cos())
    }
    pub fn sqrt(self) -> Jet {
        let root = self.0.sqrt();
        self.through(root, 0.5 / root, -0.25 / root.powi(3))
    }
}

pub type V = [Jet; 3];
pub type R = [V; 3];

pub fn constant(a: [f64; 3]) -> V {
    a.map(Jet::from)
}
pub fn plus(a: V, b: V) -> V {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}
pub fn times(s: Jet, a: V) -> V {
    a.map(|x| s * x)
}
pub fn cross(a: V, b: V) -> V {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}
fn inner(a: V, b: V) -> Jet {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
pub fn unit(a: V) -> V {
    times(Jet::from(1.0) / inner(a, a).sqrt(), a)
}
/// Columns of a matrix.
pub fn columns(a: V, b: V, c: V) -> R {
    [0, 1, 2].map(|i| [a[i], b[i], c[i]])
}
pub fn apply(A: &R, a: V) -> V {
    A.map(|row| inner(row, a))
}
pub fn product(A: &R, B: &R) -> R {
    A.map(|row| [0, 1, 2].map(|j| row[0] * B[0][j] + row[1] * B[1][j] + row[2] * B[2][j]))
}
/// Rotation about an axis of the coordinates, 0, 1 or 2.
pub fn about(axis: usize, angle: impl Into<Jet>) -> R {
    let angle = angle.into();
    let (s, c, zero, one) = (angle.sin(), angle.cos(), Jet::from(0.0), Jet::from(1.0));
    match axis {
        0 => [[one, zero, zero], [zero, c, -s], [zero, s, c]],
        1 => [[c, zero, s], [zero, one, zero], [-s, zero, c]],
        _ => [[c, -s, zero], [s, c, zero], [zero, zero, one]],
    }
}
/// A frame: rotation and origin.
#[derive(Clone, Copy)]
pub struct Place(pub R, pub V);
impl Place {
    pub fn world() -> Place {
        Place(about(2, 0.0), constant([0.0; 3]))
    }
    pub fn moved(&self, by: V) -> Place {
        Place(self.0, plus(self.1, apply(&self.0, by)))
    }
    pub fn to(&self, by: [f64; 3]) -> Place {
        self.moved(constant(by))
    }
    pub fn turned(&self, turn: &R) -> Place {
        Place(product(&self.0, turn), self.1)
    }
}

/// A rigid body: J about its centre, in its axes.
pub struct Rigid {
    pub mass: f64,
    pub J: [[f64; 3]; 3],
    pub x: V,
    pub R: R,
}

/// Bodies as functions of q, and coordinates with the forces along them, −k(s − s₀) − d ṡ + f each.
pub struct Motion {
    pub bodies: Vec<Rigid>,
    /// (s, k, s₀, d, f)
    pub forces: Vec<(Jet, f64, f64, f64, f64)>,
}

fn numbers(a: V, order: usize) -> [f64; 3] {
    a.map(|x| [x.0, x.1, x.2][order])
}
fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
fn vector(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// ω and ω̇ in the body: the skew parts of RᵀR' and of its derivative.
fn omega(R: &R) -> [[f64; 3]; 2] {
    let sum = |i: usize, j: usize, a: usize, b: usize| -> f64 {
        (0..3).map(|k| numbers(R[k], a)[i] * numbers(R[k], b)[j]).sum()
    };
    let skew = |f: &dyn Fn(usize, usize) -> f64| [f(2, 1), f(0, 2), f(1, 0)];
    [skew(&|i, j| sum(i, j, 0, 1)), skew(&|i, j| sum(i, j, 0, 2) + sum(i, j, 1, 1))]
}

/// q̈.
fn accelerations(model: &dyn Fn(&[Jet]) -> Motion, q: &[f64], rates: &[f64]) -> Vec<f64> {
    const GRAVITY: [f64; 3] = [0.0, 0.0, -9.81];
    let n = q.len();
    let along = |rates: &dyn Fn(usize) -> f64| -> Motion {
        model(&(0..n).map(|k| Jet(q[k], rates(k), 0.0)).collect::<Vec<_>>())
    };
    let now = along(&|k| rates[k]);
    let units: Vec<Motion> = (0..n).map(|j| along(&|k| if j == k { 1.0 } else { 0.0 })).collect();
    let mut M = vec![vec![0.0; n]; n];
    let mut f = vec![0.0; n];
    for j in 0..n {
        for (b, body) in now.bodies.iter().enumerate() {
            let (x, w) = (numbers(units[j].bodies[b].x, 1), omega(&units[j].bodies[b].R)[0]);
            let spin = |w: [f64; 3]| body.J.map(|row| dot(row, w));
            for k in 0..n {
                M[j][k] += body.mass * dot(x, numbers(units[k].bodies[b].x, 1));
                M[j][k] += dot(w, spin(omega(&units[k].bodies[b].R)[0]));
            }
            let [rate, acceleration] = omega(&body.R);
            let bias = numbers(body.x, 2);
            f[j] -= body.mass * (dot(x, bias) - dot(x, GRAVITY));
            f[j] -= dot(w, spin(acceleration)) + dot(w, vector(rate, spin(rate)));
        }
        for (s, (c, k, rest, d, constant)) in now.forces.iter().enumerate() {
            f[j] += units[j].forces[s].0.1 * (-k * (c.0 - rest) - d * c.1 + constant);
        }
    }
    solve(M, f)
}

/// Gauss with pivots.
fn solve(mut A: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|i, j| A[*i][k].abs().total_cmp(&A[*j][k].abs())).unwrap();
        A.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..n {
            let factor = A[i][k] / A[k][k];
            for j in k..n {
                A[i][j] -= factor * A[k][j];
            }
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        for j in k + 1..n {
            b[k] -= A[k][j] * b[j];
        }
        b[k] /= A[k][k];
    }
    b
}

/// q at the end, by the classical method of order four.
pub fn integrated(model: &dyn Fn(&[Jet]) -> Motion, q: &[f64], rates: &[f64], end: f64, steps: usize) -> Vec<f64> {
    let (n, h) = (q.len(), end / steps as f64);
    let mut x = [q, rates].concat();
    let slope = |x: &[f64]| [x[n..].to_vec(), accelerations(model, &x[..n], &x[n..])].concat();
    let moved = |x: &[f64], h: f64, k: &[f64]| -> Vec<f64> { x.iter().zip(k).map(|(x, k)| x + h * k).collect() };
    for _ in 0..steps {
        let k1 = slope(&x);
        let k2 = slope(&moved(&x, h / 2.0, &k1));
        let k3 = slope(&moved(&x, h / 2.0, &k2));
        let k4 = slope(&moved(&x, h, &k3));
        for i in 0..x.len() {
            x[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
        }
    }
    x
}

/// The pendulum of a rod falls as its one equation says.
#[test]
fn a_rod_falls_as_its_equation_says() {
    let rod = |q: &[Jet]| {
        let R = about(1, q[0]);
        let x = apply(&R, constant([0.4, 0.0, 0.0]));
        Motion {
            bodies: vec![Rigid { mass: 1.4, J: [[0.01, 0.0, 0.0], [0.0, 0.07, 0.0], [0.0, 0.0, 0.07]], x, R }],
            forces: vec![(q[0], 0.0, 0.0, 0.3, 0.0)],
        }
    };
    let inertia = 0.07 + 1.4 * 0.16;
    let a = accelerations(&rod, &[0.3], &[0.7])[0];
    assert!((a - (1.4 * 9.81 * 0.4 * 0.3f64.cos() - 0.3 * 0.7) / inertia).abs() < 1e-12, "{a}");
}
