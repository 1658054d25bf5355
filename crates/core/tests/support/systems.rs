//! General systems of index at most one for the tests of integrators.

use daedal::dae::{Dae, Equations, Pencil, Point};
use daedal::motion::Undefined;
use daedal::scalar::{Dual, Scalar};
use daedal::{Residuals, StepFailure};

type Number = Dual<f64, 1>;

/// Which form the pencil has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Dense,
    Sparse,
}

/// Equations of index at most one with Jacobians by forward differentiation.
pub struct Differentiated<E> {
    pub equations: E,
    algebraic: Vec<bool>,
    pencil: Pencil,
    x: Vec<Number>,
    xdot: Vec<Number>,
    r: Vec<Number>,
    /// time from which on the system has no value
    pub undefined_after: f64,
    /// time from which on an accepted point is refused
    pub refused_after: f64,
    /// time from which on there is no pencil
    pub no_pencil_after: f64,
    pub quasilinear: bool,
    /// an unknown that is bookkeeping
    pub bookkeeping: Option<usize>,
}

impl<E: Equations> Differentiated<E> {
    pub fn new(equations: E, algebraic: &[usize], form: Form) -> Self {
        let n = equations.dim();
        let pencil = match form {
            Form::Dense => Pencil::dense(n, n),
            Form::Sparse => Pencil::sparse(n, pattern(&equations), pattern(&equations)),
        };
        let zero = vec![Number::constant(0.0); n];
        Differentiated {
            equations,
            algebraic: (0..n).map(|i| algebraic.contains(&i)).collect(),
            pencil,
            x: zero.clone(),
            xdot: zero.clone(),
            r: zero,
            undefined_after: f64::INFINITY,
            refused_after: f64::INFINITY,
            no_pencil_after: f64::INFINITY,
            quasilinear: true,
            bookkeeping: None,
        }
    }

    /// Derivatives of all rows by unknown j, of ẋ or of x.
    fn column(&mut self, t: f64, j: usize, of_derivative: bool) {
        let seeded = if of_derivative { &mut self.xdot[j] } else { &mut self.x[j] };
        seeded.lanes[0] = 1.0;
        self.equations.residual(Number::constant(t), &self.x, &self.xdot, &mut self.r);
        (self.x[j].lanes[0], self.xdot[j].lanes[0]) = (0.0, 0.0);
    }
}

/// Entries that can be different from zero, found at a point without special values.
fn pattern<E: Equations>(equations: &E) -> Vec<(usize, usize)> {
    let n = equations.dim();
    let number = |i: usize| Number::constant(0.3 + 0.1 * (i as f64).sin());
    let mut places = Vec::new();
    for j in 0..n {
        let mut x: Vec<Number> = (0..n).map(number).collect();
        let mut xdot = x.clone();
        x[j].lanes[0] = 1.0;
        xdot[j].lanes[0] = 0.71;
        let mut r = vec![Number::constant(0.0); n];
        equations.residual(Number::constant(0.2), &x, &xdot, &mut r);
        places.extend((0..n).filter(|&i| r[i].lanes[0] != 0.0).map(|i| (i, j)));
    }
    places
}

impl<E: Equations> Dae for Differentiated<E> {
    fn dim(&self) -> usize {
        self.x.len()
    }
    fn new_pencil(&self) -> Pencil {
        self.pencil.clone()
    }
    fn algebraic(&self, row: usize) -> bool {
        self.algebraic[row]
    }
    fn quasilinear(&self) -> bool {
        self.quasilinear
    }
    fn residual(&mut self, _: usize, t: f64, x: &[f64], xdot: &[f64], r: &mut [f64]) -> Result<(), Undefined> {
        self.equations.residual(t, x, xdot, r);
        if t <= self.undefined_after && r.iter().all(|r| r.is_finite()) { Ok(()) } else { Err(Undefined) }
    }
    fn pencil(&mut self, t: f64, x: &[f64], xdot: &[f64], out: &mut Pencil) -> Result<(), StepFailure> {
        if t > self.no_pencil_after {
            return Err(StepFailure::Undefined { t });
        }
        for j in 0..x.len() {
            (self.x[j], self.xdot[j]) = (Number::constant(x[j]), Number::constant(xdot[j]));
        }
        for j in 0..x.len() {
            self.column(t, j, true);
            out.E.put_columns(&[j], |i, _| self.r[i].lanes[0]);
            self.column(t, j, false);
            out.A.put_columns(&[j], |i, _| -self.r[i].lanes[0]);
        }
        Ok(())
    }
    fn accepted(&mut self, _: usize, t: f64, _: &mut [f64], _: &[f64]) -> Result<(), StepFailure> {
        if t > self.refused_after { Err(StepFailure::Contradictory { t, residual: 1.0 }) } else { Ok(()) }
    }
    fn in_error_norm(&self, unknown: usize) -> bool {
        self.bookkeeping != Some(unknown)
    }
    fn residuals(&self) -> Residuals {
        Residuals::default()
    }
}

/// A point at time zero.
pub fn point(x: &[f64], xdot: &[f64]) -> Point {
    Point { t: 0.0, x: x.to_vec(), xdot: xdot.to_vec() }
}

/// Robertson's reactions; with the conservation of mass as an algebraic equation if `conserved`.
pub struct Robertson {
    pub conserved: bool,
}

impl Robertson {
    pub const START: [f64; 3] = [1.0, 0.0, 0.0];
    pub const SLOPE: [f64; 3] = [-0.04, 0.04, 0.0];
    pub const END: [f64; 3] = [2.083340149701255e-08, 8.333360770334713e-14, 0.999999979166505];
}

impl Equations for Robertson {
    fn dim(&self) -> usize {
        3
    }
    fn residual<S: Scalar>(&self, _t: S, x: &[S], xdot: &[S], r: &mut [S]) {
        let (slow, quick, back) = (x[0] * 0.04, x[1].square() * 3e7, x[1] * x[2] * 1e4);
        r[0] = xdot[0] + slow - back;
        r[1] = xdot[1] - slow + quick + back;
        r[2] = if self.conserved { x[0] + x[1] + x[2] - 1.0 } else { xdot[2] - quick };
    }
}

/// Photomorphogenesis: eight reactions (HIRES).
pub struct Hires;

impl Hires {
    pub const START: [f64; 8] = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0057];
    pub const SLOPE: [f64; 8] = [-1.7093, 1.71, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    pub const TEND: f64 = 321.8122;
    pub const END: [f64; 8] = [
        0.7371312573325668e-3,
        0.1442485726316185e-3,
        0.5888729740967575e-4,
        0.1175651343283149e-2,
        0.2386356198831331e-2,
        0.6238968252742796e-2,
        0.2849998395185769e-2,
        0.2850001604814231e-2,
    ];
}

impl Equations for Hires {
    fn dim(&self) -> usize {
        8
    }
    fn residual<S: Scalar>(&self, _t: S, y: &[S], ydot: &[S], r: &mut [S]) {
        let pair = y[5] * y[7] * 280.0;
        r[0] = ydot[0] - (y[0] * -1.71 + y[1] * 0.43 + y[2] * 8.32 + 0.0007);
        r[1] = ydot[1] - (y[0] * 1.71 - y[1] * 8.75);
        r[2] = ydot[2] - (y[2] * -10.03 + y[3] * 0.43 + y[4] * 0.035);
        r[3] = ydot[3] - (y[1] * 8.32 + y[2] * 1.71 - y[3] * 1.12);
        r[4] = ydot[4] - (y[4] * -1.745 + y[5] * 0.43 + y[6] * 0.43);
        r[5] = ydot[5] - (y[3] * 0.69 + y[4] * 1.71 - y[5] * 0.43 + y[6] * 0.69 - pair);
        r[6] = ydot[6] - (pair - y[6] * 1.81);
        r[7] = ydot[7] - (y[6] * 1.81 - pair);
    }
}

/// van der Pol's oscillator with ε = 1e-6.
pub struct VanDerPol;

impl VanDerPol {
    pub const START: [f64; 2] = [2.0, 0.0];
    pub const SLOPE: [f64; 2] = [0.0, -2.0e6];
    /// At t = 2.
    pub const END: [f64; 2] = [0.1706167732170483e1, -0.8928097010247975];
}

impl Equations for VanDerPol {
    fn dim(&self) -> usize {
        2
    }
    fn residual<S: Scalar>(&self, _t: S, x: &[S], xdot: &[S], r: &mut [S]) {
        r[0] = xdot[0] - x[1];
        r[1] = xdot[1] - ((S::from(1.0) - x[0].square()) * x[1] - x[0]) / 1e-6;
    }
}

/// Two-transistor amplifier: a constant singular E whose rows do not show the constraints.
pub struct Amplifier;

impl Amplifier {
    pub const START: [f64; 8] = [0.0, 3.0, 3.0, 6.0, 3.0, 3.0, 6.0, 0.0];
    pub const SLOPE: [f64; 8] = [
        51.338775,
        51.338775,
        -166.66666666666669,
        -24.9757667,
        -24.9757667,
        -83.33333333333334,
        -10.00564453,
        -10.00564453,
    ];
    pub const TEND: f64 = 0.2;
    pub const END: [f64; 8] = [
        -0.5562145012262709e-2,
        0.3006522471903042e1,
        0.2849958788608128e1,
        0.2926422536206241e1,
        0.2704617865010554e1,
        0.2761837778393145e1,
        0.4770927631616772e1,
        0.1236995868091548e1,
    ];
}

impl Equations for Amplifier {
    fn dim(&self) -> usize {
        8
    }
    fn residual<S: Scalar>(&self, t: S, y: &[S], d: &[S], r: &mut [S]) {
        let (ub, alpha, r0, rk) = (6.0, 0.99, 1000.0, 9000.0);
        let ue = (t * (200.0 * std::f64::consts::PI)).sin() * 0.1;
        let current = |u: S| ((u / 0.026).exp() - 1.0) * 1e-6;
        let (first, second) = (current(y[1] - y[2]), current(y[4] - y[5]));
        r[0] = (d[1] - d[0]) * 1e-6 - (y[0] - ue) / r0;
        r[1] = (d[0] - d[1]) * 1e-6 - (y[1] * 2.0 - ub) / rk - first * (1.0 - alpha);
        r[2] = d[2] * -2e-6 - y[2] / rk + first;
        r[3] = (d[4] - d[3]) * 3e-6 - (y[3] - ub) / rk - first * alpha;
        r[4] = (d[3] - d[4]) * 3e-6 - (y[4] * 2.0 - ub) / rk - second * (1.0 - alpha);
        r[5] = d[5] * -4e-6 - y[5] / rk + second;
        r[6] = (d[7] - d[6]) * 5e-6 - (y[6] - ub) / rk - second * alpha;
        r[7] = (d[6] - d[7]) * 5e-6 - y[7] / rk;
    }
}

/// x₁' = x₂ − sin t·x₁ + q(t), 0 = x₁ + 2 x₂ − p(t), with the solution (e^(−t/2), cos 2t).
pub struct LinearIndexOne;

impl LinearIndexOne {
    pub fn solution(t: f64) -> ([f64; 2], [f64; 2]) {
        ([(-0.5 * t).exp(), (2.0 * t).cos()], [-0.5 * (-0.5 * t).exp(), -2.0 * (2.0 * t).sin()])
    }
}

impl Equations for LinearIndexOne {
    fn dim(&self) -> usize {
        2
    }
    fn residual<S: Scalar>(&self, t: S, x: &[S], xdot: &[S], r: &mut [S]) {
        let (e, c) = ((t * -0.5).exp(), (t * 2.0).cos());
        let q = e * -0.5 - c + t.sin() * e;
        r[0] = xdot[0] - x[1] + t.sin() * x[0] - q;
        r[1] = x[0] + x[1] * 2.0 - e - c * 2.0;
    }
}

/// (1 + x₂²) x₁' + x₁ x₂' = (x₁ − x₂) x₁ + …, 2 x₂ − x₁³ = …, with the solution (sin t, cos t): E depends on x.
pub struct Nonlinear;

impl Nonlinear {
    pub fn solution(t: f64) -> ([f64; 2], [f64; 2]) {
        ([t.sin(), t.cos()], [t.cos(), -t.sin()])
    }
}

impl Equations for Nonlinear {
    fn dim(&self) -> usize {
        2
    }
    fn residual<S: Scalar>(&self, t: S, x: &[S], xdot: &[S], r: &mut [S]) {
        let (s, c) = (t.sin(), t.cos());
        let forcing = (S::from(1.0) + c * c) * c - s * s - (s - c) * s;
        r[0] = (x[1].square() + 1.0) * xdot[0] + x[0] * xdot[1] - (x[0] - x[1]) * x[0] - forcing;
        r[1] = x[1] * 2.0 - x[0].square() * x[0] - c * 2.0 + s * s * s;
    }
}

/// ẋ³ + ẋ = x³ + x: fully implicit, the solution is x₀ eᵗ.
pub struct FullyImplicit;

impl FullyImplicit {
    pub fn system() -> Box<Differentiated<Self>> {
        let mut system = Differentiated::new(FullyImplicit, &[], Form::Dense);
        system.quasilinear = false;
        Box::new(system)
    }
}

impl Equations for FullyImplicit {
    fn dim(&self) -> usize {
        1
    }
    fn residual<S: Scalar>(&self, _t: S, x: &[S], xdot: &[S], r: &mut [S]) {
        r[0] = xdot[0].square() * xdot[0] + xdot[0] - x[0].square() * x[0] - x[0];
    }
}

/// Prothero & Robinson: x' = λ (x − φ) + φ', φ = sin(π/4 + t).
pub struct ProtheroRobinson {
    pub lambda: f64,
}

impl ProtheroRobinson {
    pub fn solution(t: f64) -> ([f64; 1], [f64; 1]) {
        let s = std::f64::consts::FRAC_PI_4 + t;
        ([s.sin()], [s.cos()])
    }
}

impl Equations for ProtheroRobinson {
    fn dim(&self) -> usize {
        1
    }
    fn residual<S: Scalar>(&self, t: S, x: &[S], xdot: &[S], r: &mut [S]) {
        let s = t + std::f64::consts::FRAC_PI_4;
        r[0] = xdot[0] - (x[0] - s.sin()) * self.lambda - s.cos();
    }
}

/// Diffusion with a reaction on a line of cells, the flux at the right end as an algebraic unknown.
pub struct Diffusion {
    pub cells: usize,
}

impl Diffusion {
    pub fn start(&self) -> Point {
        let n = self.cells;
        let mut x: Vec<f64> = (0..n).map(|i| 1.0 + 0.5 * (3.0 * (i as f64 + 0.5) / n as f64).sin()).collect();
        x.push(n as f64 * (0.2 - x[n - 1]));
        Point { t: 0.0, xdot: vec![0.0; n + 1], x }
    }
}

impl Equations for Diffusion {
    fn dim(&self) -> usize {
        self.cells + 1
    }
    fn residual<S: Scalar>(&self, t: S, x: &[S], xdot: &[S], r: &mut [S]) {
        let (n, m) = (self.cells, self.cells as f64);
        for i in 0..n {
            let left = if i > 0 { (x[i] - x[i - 1]) * m } else { t.sin() };
            let right = if i + 1 < n { (x[i + 1] - x[i]) * m } else { x[n] };
            r[i] = xdot[i] - (right - left) * m + x[i].square();
        }
        r[n] = x[n] - (S::from(0.2) - x[n - 1]) * m;
    }
}

/// x' = x², which has a pole at 1/x₀.
pub struct Pole;

impl Equations for Pole {
    fn dim(&self) -> usize {
        1
    }
    fn residual<S: Scalar>(&self, _t: S, x: &[S], xdot: &[S], r: &mut [S]) {
        r[0] = xdot[0] - x[0].square();
    }
}

/// x₁' = −x₁, and nothing about x₂.
pub struct Undetermined;

impl Equations for Undetermined {
    fn dim(&self) -> usize {
        2
    }
    fn residual<S: Scalar>(&self, _t: S, x: &[S], xdot: &[S], r: &mut [S]) {
        r[0] = xdot[0] + x[0];
        r[1] = x[0] * 0.0;
    }
}

/// x' = −x, and a quick y' = 1000 cos 1000t that is computed along.
pub struct WithBookkeeping;

impl Equations for WithBookkeeping {
    fn dim(&self) -> usize {
        2
    }
    fn residual<S: Scalar>(&self, t: S, x: &[S], xdot: &[S], r: &mut [S]) {
        r[0] = xdot[0] + x[0];
        r[1] = xdot[1] - (t * 1000.0).cos() * 1000.0;
    }
}

/// P (z₁' + λ₁ z₁, z₂' + λ₂ z₂, z₃ − cos t, z₄ − z₁² − sin t) = 0 with z = Q x: constraints that stand in no row alone.
pub struct Mixed {
    pub P: [[f64; 4]; 4],
    pub Q: [[f64; 4]; 4],
    pub lambda: [f64; 2],
}

impl Mixed {
    /// Matrices that are far from singular: twice the identity and small numbers.
    pub fn new(seed: u64, lambda: [f64; 2]) -> Self {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 40) as f64 / (1_u64 << 24) as f64 - 0.5
        };
        let mut matrix = || std::array::from_fn(|i| std::array::from_fn(|j| next() + if i == j { 2.0 } else { 0.0 }));
        Mixed { P: matrix(), Q: matrix(), lambda }
    }

    /// z and z'.
    pub fn solution(&self, t: f64) -> ([f64; 4], [f64; 4]) {
        let [l, m] = self.lambda;
        let z = [(-l * t).exp(), (-m * t).exp(), t.cos(), (-2.0 * l * t).exp() + t.sin()];
        (z, [-l * z[0], -m * z[1], -t.sin(), -2.0 * l * (-2.0 * l * t).exp() + t.cos()])
    }

    /// x with Q x = z.
    pub fn unknowns(&self, z: [f64; 4]) -> Vec<f64> {
        let mut lu = daedal::linalg::Lu::<f64>::new(4);
        for i in 0..4 {
            lu.A.row_mut(i).copy_from_slice(&self.Q[i]);
        }
        lu.factor().unwrap();
        let mut x = z.to_vec();
        lu.solve(&mut x);
        x
    }
}

impl Equations for Mixed {
    fn dim(&self) -> usize {
        4
    }
    fn residual<S: Scalar>(&self, t: S, x: &[S], xdot: &[S], r: &mut [S]) {
        let product = |M: &[[f64; 4]; 4], x: &[S], i: usize| (0..4).fold(S::from(0.0), |sum, j| sum + x[j] * M[i][j]);
        let z: [S; 4] = std::array::from_fn(|i| product(&self.Q, x, i));
        let zdot: [S; 2] = std::array::from_fn(|i| product(&self.Q, xdot, i));
        let rows = [
            zdot[0] + z[0] * self.lambda[0],
            zdot[1] + z[1] * self.lambda[1],
            z[2] - t.cos(),
            z[3] - z[0].square() - t.sin(),
        ];
        for i in 0..4 {
            r[i] = product(&self.P, &rows, i);
        }
    }
}
