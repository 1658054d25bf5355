//! The past of a BDF method as modified divided differences. Brenan, Campbell & Petzold (1996), 5.2.1, 5.2.2.
//!
//! ```text
//! ψ_j = t_n − t_(n−j),   φ_0 = x_n,   φ_j = ψ_1 ⋯ ψ_j x[t_n, …, t_(n−j)]
//! ```
//!
//! At a step to t_(n+1) with size h the differences are scaled to φ*_j = β_j φ_j; the predictor is Σ φ*_j, its derivative
//! Σ γ_j φ*_j. With a constant step size φ_j is the backward difference ∇ʲ x_n.

use crate::segment::Segment;

/// Largest order.
pub const MOST_ORDER: usize = 5;
/// Differences that are kept: up to that order, and one more for the choice of the order.
const KEPT: usize = MOST_ORDER + 2;

/// The past, and the coefficients of one step.
#[derive(Clone, Debug)]
pub struct Differences {
    /// φ_j.
    phi: [Vec<f64>; KEPT],
    /// ψ_(j+1).
    psi: [f64; KEPT],
    beta: [f64; KEPT],
    gamma: [f64; KEPT],
    /// α_j = h/ψ_j.
    alpha: [f64; KEPT],
    /// σ_j = h^j j!/(ψ_1 ⋯ ψ_(j+1)) up to a factor h.
    sigma: [f64; KEPT],
    /// steps with the same size and order
    constant: usize,
    /// order and step size of the last accepted step
    last: (usize, f64),
}

impl Differences {
    /// Room for n unknowns.
    pub fn new(n: usize) -> Self {
        let none = [0.0; KEPT];
        Differences {
            phi: std::array::from_fn(|_| vec![0.0; n]),
            psi: none,
            beta: none,
            gamma: none,
            alpha: none,
            sigma: none,
            constant: 0,
            last: (0, 0.0),
        }
    }

    /// One point with its derivative.
    pub fn start(&mut self, x: &[f64], xdot: &[f64], h: f64) {
        self.phi[0].copy_from_slice(x);
        for (phi, d) in self.phi[1].iter_mut().zip(xdot) {
            *phi = h * d;
        }
        self.psi[0] = h;
        (self.constant, self.last) = (0, (0, 0.0));
    }

    /// Points of the past, (t, x), the newest first; at most six.
    pub fn start_with_history(&mut self, points: &[(f64, &[f64])]) {
        let m = points.len();
        let (t, order) = (points[0].0, m - 1);
        for (phi, (_, x)) in self.phi.iter_mut().zip(points) {
            phi.copy_from_slice(x);
        }
        // divided differences in place, then the products
        for j in 1..m {
            for l in (j..m).rev() {
                let (newer, older) = self.phi.split_at_mut(l);
                let width = points[l - j].0 - points[l].0;
                for (phi, before) in older[0].iter_mut().zip(&newer[l - 1]) {
                    *phi = (before - *phi) / width;
                }
            }
        }
        let mut product = 1.0;
        for j in 1..m {
            self.psi[j - 1] = t - points[j].0;
            product *= self.psi[j - 1];
            self.phi[j].iter_mut().for_each(|phi| *phi *= product);
        }
        (self.constant, self.last) = (0, (order, self.psi[0]));
    }

    /// Order of the last accepted step, zero before the first.
    pub fn last_order(&self) -> usize {
        self.last.0
    }

    /// Has the step size been the same for long enough to judge the next higher order?
    pub fn is_constant(&self, order: usize) -> bool {
        self.constant > order + 1
    }

    /// Coefficients of a step of size h, and φ → φ*. Undone by [`Differences::retreat`].
    pub fn prepare(&mut self, h: f64, order: usize) {
        if (order, h) != self.last {
            self.constant = 0;
        }
        self.constant = (self.constant + 1).min(self.last.0 + 2);
        if order + 1 >= self.constant {
            (self.beta[0], self.alpha[0], self.gamma[0], self.sigma[0]) = (1.0, 1.0, 0.0, 1.0);
            let mut back = h;
            for i in 1..=order {
                let before = self.psi[i - 1];
                self.psi[i - 1] = back;
                self.beta[i] = self.beta[i - 1] * self.psi[i - 1] / before;
                back = before + h;
                self.alpha[i] = h / back;
                self.sigma[i] = i as f64 * self.sigma[i - 1] * self.alpha[i];
                self.gamma[i] = self.gamma[i - 1] + self.alpha[i - 1] / h;
            }
            self.psi[order] = back;
        }
        for j in self.constant..=order {
            self.phi[j].iter_mut().for_each(|phi| *phi *= self.beta[j]);
        }
    }

    /// Back to the state before [`Differences::prepare`].
    pub fn retreat(&mut self, h: f64, order: usize) {
        for j in self.constant..=order {
            self.phi[j].iter_mut().for_each(|phi| *phi /= self.beta[j]);
        }
        for i in 1..=order {
            self.psi[i - 1] = self.psi[i] - h;
        }
        self.constant = 0;
    }

    /// Predictor and its derivative.
    pub fn predict(&self, order: usize, x: &mut [f64], xdot: &mut [f64]) {
        x.fill(0.0);
        xdot.fill(0.0);
        for j in 0..=order {
            for ((x, d), phi) in x.iter_mut().zip(xdot.iter_mut()).zip(&self.phi[j]) {
                *x += phi;
                *d += self.gamma[j] * phi;
            }
        }
    }

    /// Factor of ‖x − predictor‖ in the error of a step: the larger of the local error and the error of the interpolation.
    pub fn error_constant(&self, order: usize) -> f64 {
        let alpha_s: f64 = (1..=order).map(|i| 1.0 / i as f64).sum();
        let alpha_0: f64 = self.alpha[..order].iter().sum();
        (self.alpha[order] + alpha_0 - alpha_s).abs().max(self.alpha[order])
    }

    /// σ_j.
    pub fn sigma(&self, j: usize) -> f64 {
        self.sigma[j]
    }

    /// φ_j, or φ*_j inside of a step.
    pub fn phi(&self, j: usize) -> &[f64] {
        &self.phi[j]
    }

    /// A step was accepted whose solution is the predictor plus `e`.
    pub fn update(&mut self, e: &[f64], h: f64, order: usize) {
        self.last = (order, h);
        self.phi[order + 1].copy_from_slice(e);
        for (phi, e) in self.phi[order].iter_mut().zip(e) {
            *phi += e;
        }
        for j in (0..order).rev() {
            let (lower, higher) = self.phi.split_at_mut(j + 1);
            for (phi, next) in lower[j].iter_mut().zip(&higher[0]) {
                *phi += next;
            }
        }
    }

    /// Move the last point by a small correction: it enters every difference once, as e does.
    pub fn correct(&mut self, x: &[f64]) {
        let order = self.last.0;
        for i in 0..x.len() {
            let correction = x[i] - self.phi[0][i];
            if correction != 0.0 {
                self.phi[..=order + 1].iter_mut().for_each(|phi| phi[i] += correction);
            }
        }
    }

    /// The polynomial of the last step through its end and the points before.
    pub fn write_segment(&self, t0: f64, t1: f64, segment: &mut Segment) {
        let order = self.last.0;
        let differences = self.phi[1..=order].iter().map(|phi| &phi[..]);
        segment.differences((t0, t1), &self.phi[0], &self.psi[..order], differences);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_polynomial_is_predicted_with_its_derivative_whatever_the_steps() {
        let f = |t: f64| 1.0 - t + 0.3 * t * t * t;
        let df = |t: f64| -1.0 + 0.9 * t * t;
        let times = [1.0, 0.9, 0.85, 0.6];
        let values = times.map(|t| [f(t)]);
        let points: Vec<(f64, &[f64])> = times.iter().zip(&values).map(|(t, x)| (*t, &x[..])).collect();
        let mut differences = Differences::new(1);
        differences.start_with_history(&points);
        let (mut x, mut xdot) = ([0.0], [0.0]);
        let mut t = 1.0;
        for h in [0.1, 0.1, 0.25, 0.05, 0.05, 0.05, 0.05, 0.05, 0.2] {
            // a step that is taken back leaves no trace
            differences.prepare(1.7 * h, 3);
            differences.retreat(1.7 * h, 3);
            differences.prepare(h, 3);
            differences.predict(3, &mut x, &mut xdot);
            assert!((x[0] - f(t + h)).abs() < 1e-13, "{} at {t} + {h}", x[0] - f(t + h));
            assert!((xdot[0] - df(t + h)).abs() < 1e-11);
            differences.update(&[f(t + h) - x[0]], h, 3);
            let mut segment = Segment::with_room(t, &[0.0], 5);
            differences.write_segment(t, t + h, &mut segment);
            segment.eval(t + 0.3 * h, &mut x);
            assert!((x[0] - f(t + 0.3 * h)).abs() < 1e-13);
            t += h;
        }
    }
}
