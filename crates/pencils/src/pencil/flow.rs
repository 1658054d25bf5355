//! The explicit solution of E ẋ = A x + b(t), piece by piece, in fixed buffers: over a piece b is its Taylor polynomial, and
//!
//! ```text
//! (y, c)′ = [J W; 0 S] (y, c),    cⱼ = (τ/h)ʲ/j!,  W = (β₀, …, j! βⱼ hʲ, …),  S cⱼ = cⱼ₋₁/h,  β = (E₂₂⁻¹P₂) b
//! ```
//! so that one matrix exponential gives the finite part to rounding however stiff J is. The nilpotent part is what b and its
//! derivatives at the time itself say. Higham, Functions of Matrices (2008), 10.7.4, for φ-functions by one exponential.

use super::RegularPencil;
use daedal_linear::linalg::{Matrix, dot};

/// Terms of the exponential series; below [`SMALL`] the rest is rounding.
const TERMS: usize = 16;
/// Norm to which the matrix is scaled before it is squared.
const SMALL: f64 = 0.5;

/// The flow of a regular pencil from a point, with b as a polynomial.
#[derive(Clone, Debug)]
pub struct ExplicitFlow {
    pencil: RegularPencil,
    /// Taylor coefficients of β at the begin, one after the other
    beta: Vec<f64>,
    degree: usize,
    y: Vec<f64>,
    /// exponent, its exponential, room for products
    G: Matrix,
    power: Matrix,
    work: Matrix,
    /// (y, c) where the flow stands
    w: Vec<f64>,
    next: Vec<f64>,
    /// nilpotent and finite coordinates of x or x′
    split: Vec<f64>,
    z: Vec<f64>,
}

impl ExplicitFlow {
    /// For polynomials of this degree.
    pub fn new(pencil: RegularPencil, degree: usize) -> Self {
        let (n, finite) = (pencil.dim(), pencil.finite_dimension());
        let size = finite + degree + 1;
        let square = || Matrix::zeros(size, size);
        ExplicitFlow {
            beta: vec![0.0; (degree + 1) * finite],
            degree,
            y: vec![0.0; finite],
            G: square(),
            power: square(),
            work: square(),
            w: vec![0.0; size],
            next: vec![0.0; size],
            split: vec![0.0; n],
            z: vec![0.0; n - finite],
            pencil,
        }
    }

    /// The pencil.
    pub fn pencil(&self) -> &RegularPencil {
        &self.pencil
    }

    /// Begin at x; `b[j]` is Taylor coefficient j there, up to the degree.
    pub fn begin(&mut self, x: &[f64], b: &[Vec<f64>]) {
        let (k, finite) = (self.pencil.N.rows(), self.y.len());
        for i in 0..finite {
            self.y[i] = dot(self.pencil.X_inverse.row(k + i), x);
            for j in 0..=self.degree {
                self.beta[j * finite + i] = dot(self.pencil.B.row(k + i), &b[j]);
            }
        }
    }

    /// Make ready for a piece of length h in this many steps, and stand at its begin. False if the exponential is not finite.
    pub fn prepare(&mut self, h: f64, steps: usize) -> bool {
        let finite = self.y.len();
        let part = 1.0 / steps as f64;
        self.G.fill(0.0);
        for i in 0..finite {
            for j in 0..finite {
                self.G[(i, j)] = part * h * self.pencil.J[(i, j)];
            }
            let mut factor = part * h;
            for j in 0..=self.degree {
                self.G[(i, finite + j)] = factor * self.beta[j * finite + i];
                factor *= h * (j + 1) as f64;
            }
        }
        for j in 1..=self.degree {
            self.G[(finite + j, finite + j - 1)] = part;
        }
        self.rewind();
        self.exponential()
    }

    /// Back to the begin of the piece.
    pub fn rewind(&mut self) {
        let finite = self.y.len();
        self.w[..finite].copy_from_slice(&self.y);
        self.w[finite..].fill(0.0);
        self.w[finite] = 1.0;
    }

    /// One of the steps of the piece.
    pub fn step(&mut self) {
        for (i, next) in self.next.iter_mut().enumerate() {
            *next = dot(self.power.row(i), &self.w);
        }
        std::mem::swap(&mut self.w, &mut self.next);
    }

    /// x where the flow stands; `b[j]` is Taylor coefficient j of b at that time, j < ν.
    pub fn state(&mut self, b: &[Vec<f64>], x: &mut [f64]) {
        self.nilpotent(b, 0);
        let k = self.z.len();
        self.split[..k].copy_from_slice(&self.z);
        self.split[k..].copy_from_slice(&self.w[..self.y.len()]);
        self.whole(x);
    }

    /// x′ there; `b` as for [`state`](Self::state), up to ν.
    pub fn rates(&mut self, b: &[Vec<f64>], xdot: &mut [f64]) {
        self.nilpotent(b, 1);
        let (k, finite) = (self.z.len(), self.y.len());
        self.split[..k].copy_from_slice(&self.z);
        for i in 0..finite {
            self.split[k + i] = dot(self.pencil.J.row(i), &self.w[..finite]) + dot(self.pencil.B.row(k + i), &b[0]);
        }
        self.whole(xdot);
    }

    /// By how much the polynomial misses b at τ after the begin, as a rate of x.
    pub fn missed(&mut self, tau: f64, b: &[f64], out: &mut [f64]) {
        let (k, finite) = (self.z.len(), self.y.len());
        self.split[..k].fill(0.0);
        for i in 0..finite {
            let polynomial = (0..=self.degree).rev().fold(0.0, |sum, j| sum * tau + self.beta[j * finite + i]);
            self.split[k + i] = dot(self.pencil.B.row(k + i), b) - polynomial;
        }
        self.whole(out);
    }

    fn whole(&self, x: &mut [f64]) {
        for (i, x) in x.iter_mut().enumerate() {
            *x = dot(self.pencil.X.row(i), &self.split);
        }
    }

    /// z = −Σ Nⁱ A₁₁⁻¹(P b⁽ⁱ⁾)₁ or its derivative, b⁽ⁱ⁾ = i! b_\[i\].
    fn nilpotent(&mut self, b: &[Vec<f64>], derivative: usize) {
        let k = self.z.len();
        self.z.fill(0.0);
        for i in (0..self.pencil.index).rev() {
            let factorial: f64 = (1..=i + derivative).map(|x| x as f64).product();
            for p in 0..k {
                let through = dot(self.pencil.N.row(p), &self.z);
                self.split[p] = through - factorial * dot(self.pencil.B.row(p), &b[i + derivative]);
            }
            self.z.copy_from_slice(&self.split[..k]);
        }
    }

    /// power ← e^G by scaling and squaring.
    fn exponential(&mut self) -> bool {
        let size = self.G.rows();
        let norm = (0..size).map(|i| self.G.row(i).iter().map(|x| x.abs()).sum::<f64>()).fold(0.0, f64::max);
        if !norm.is_finite() {
            return false;
        }
        let squarings = if norm > SMALL { (norm / SMALL).log2().ceil() as i32 } else { 0 };
        let factor = 2.0_f64.powi(-squarings);
        // Horner: I + G (I + G/2 (I + G/3 (…)))
        self.power.fill(0.0);
        (0..size).for_each(|i| self.power[(i, i)] = 1.0);
        for term in (1..=TERMS).rev() {
            multiply(&self.G, &self.power, factor / term as f64, &mut self.work);
            (0..size).for_each(|i| self.work[(i, i)] += 1.0);
            std::mem::swap(&mut self.power, &mut self.work);
        }
        for _ in 0..squarings {
            multiply(&self.power, &self.power, 1.0, &mut self.work);
            std::mem::swap(&mut self.power, &mut self.work);
        }
        self.power.data().iter().all(|x| x.is_finite())
    }
}

/// out ← factor · X Y.
fn multiply(X: &Matrix, Y: &Matrix, factor: f64, out: &mut Matrix) {
    out.fill(0.0);
    for i in 0..X.rows() {
        for (p, &x) in X.row(i).iter().enumerate().filter(|(_, x)| **x != 0.0) {
            let x = factor * x;
            out.row_mut(i).iter_mut().zip(Y.row(p)).for_each(|(out, y)| *out += x * y);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stiff_decay_and_a_hidden_constraint_are_followed_to_rounding() {
        // x₁' = −λ x₁ + t², x₂' = x₃, 0 = x₂ − t³
        let lambda = 1e4_f64;
        let (mut E, mut A) = (Matrix::zeros(3, 3), Matrix::zeros(3, 3));
        (E[(0, 0)], E[(1, 1)]) = (1.0, 1.0);
        (A[(0, 0)], A[(1, 2)], A[(2, 1)]) = (-lambda, 1.0, 1.0);
        let pencil = RegularPencil::new(&E, &A, 1e-12).unwrap();
        let mut flow = ExplicitFlow::new(pencil, 4);
        // Taylor coefficients of (t², 0, −t³)
        let b = |t: f64| -> Vec<Vec<f64>> {
            vec![
                vec![t * t, 0.0, -t * t * t],
                vec![2.0 * t, 0.0, -3.0 * t * t],
                vec![1.0, 0.0, -3.0 * t],
                vec![0.0, 0.0, -1.0],
                vec![0.0; 3],
            ]
        };
        flow.begin(&[1.0, 0.0, 0.0], &b(0.0));
        for (t, steps) in [(1e-4, 3), (0.5, 1), (2.0, 16)] {
            assert!(flow.prepare(t, steps));
            (0..steps).for_each(|_| flow.step());
            let (mut x, mut xdot) = ([0.0; 3], [0.0; 3]);
            flow.state(&b(t), &mut x);
            flow.rates(&b(t), &mut xdot);
            let particular = t * t / lambda - 2.0 * t / lambda.powi(2) + 2.0 / lambda.powi(3);
            let exact = particular + (1.0 - 2.0 / lambda.powi(3)) * (-lambda * t).exp();
            assert!((x[0] - exact).abs() < 1e-12, "{t}: {} {exact}", x[0]);
            assert!((x[1] - t.powi(3)).abs() < 1e-13 && (x[2] - 3.0 * t * t).abs() < 1e-12, "{x:?}");
            assert!((xdot[2] - 6.0 * t).abs() < 1e-11 && (xdot[0] - (t * t - lambda * x[0])).abs() < 1e-8);
            let mut missed = [0.0; 3];
            flow.missed(t, &b(t)[0], &mut missed);
            assert!(missed[0].abs() < 1e-14);
        }
    }
}
