//! Dense output: the polynomial over one step.

use crate::method::sums::{of_length, parts, vectors};
use crate::scalar::{Interval, Taylor};

/// Largest degree of a polynomial.
pub(crate) const MOST_DEGREE: usize = 8;

/// Polynomial over [t₀, t₁] in Newton form with respect to nodes σᵢ ≤ 0:
/// x(t) = x₁ + σ (a₁ + (σ − σ₁)(a₂ + (σ − σ₂)(a₃ + …))), σ = (t − t₁)/(t₁ − t₀).
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// Left end.
    pub t0: f64,
    /// Right end.
    pub t1: f64,
    n: usize,
    degree: usize,
    /// σ₁, σ₂, …, one less than the degree
    nodes: [f64; MOST_DEGREE - 1],
    /// x₁, a₁, a₂, … one after the other
    coefficients: Vec<f64>,
}

impl Segment {
    /// A segment at one point, with room for a cubic.
    pub fn point(t: f64, x: &[f64]) -> Self {
        Self::with_room(t, x, 3)
    }

    /// A segment at one point, with room for a polynomial of this degree, at most `MOST_DEGREE`.
    pub fn with_room(t: f64, x: &[f64], degree: usize) -> Self {
        assert!((1..=MOST_DEGREE).contains(&degree), "degree {degree} is not between 1 and {MOST_DEGREE}");
        let mut coefficients = vec![0.0; (degree + 1) * x.len()];
        coefficients[..x.len()].copy_from_slice(x);
        Segment { t0: t, t1: t, n: x.len(), degree, nodes: [0.0; MOST_DEGREE - 1], coefficients }
    }

    /// The polynomial through x₀ = x₁ − Yₛ, and x₀ + Yᵢ at the nodes cᵢ of the step, cₛ = 1; `stages` are Y₁, …, Yₛ, at most
    /// `MOST_DEGREE`. Divided differences with respect to cₛ, …, c₁, 0. \[HW\] IV.8, (8.27).
    pub fn collocation(&mut self, t0: f64, t1: f64, x1: &[f64], c: &[f64], stages: &[&[f64]]) {
        (self.t0, self.t1) = (t0, t1);
        let (n, s) = (self.n, c.len());
        self.degree = s;
        let mut nodes = [0.0; MOST_DEGREE + 1];
        for (node, c) in nodes.iter_mut().zip(c.iter().rev()) {
            *node = *c;
        }
        for (sigma, node) in self.nodes.iter_mut().zip(&nodes[1..s]) {
            *sigma = node - 1.0;
        }
        self.coefficients[..n].copy_from_slice(x1);
        match s {
            3 => self.divided_differences::<3>(&nodes, stages),
            5 => self.divided_differences::<5>(&nodes, stages),
            7 => self.divided_differences::<7>(&nodes, stages),
            _ => self.any_divided_differences(&nodes, stages),
        }
    }

    /// All differences of S + 1 points, the last of which is the begin of the step.
    fn divided_differences<const S: usize>(&mut self, nodes: &[f64; MOST_DEGREE + 1], stages: &[&[f64]]) {
        let n = self.n;
        let widths: [[f64; S]; S] =
            std::array::from_fn(|k| std::array::from_fn(|j| if j < k { 1.0 } else { nodes[j + 1] - nodes[j - k] }));
        of_length!(n, S => self.divided_differences_at::<S>(n, &widths, stages));
    }

    #[inline(always)]
    fn divided_differences_at<const S: usize>(&mut self, n: usize, widths: &[[f64; S]; S], stages: &[&[f64]]) {
        let Y: [&[f64]; S] = std::array::from_fn(|j| &stages[S - 1 - j][..n]);
        let a = parts::<S>(&mut self.coefficients[n..], n);
        for i in 0..n {
            // d₀, …, dₛ₋₁ and the begin, whose value is zero
            let mut d: [f64; S] = std::array::from_fn(|j| Y[j][i]);
            let mut last = 0.0;
            for k in 0..S {
                last = (last - d[S - 1]) / widths[k][S - 1];
                for j in (k + 1..S).rev() {
                    d[j] = (d[j] - d[j - 1]) / widths[k][j - 1];
                }
                a[k][i] = if k + 1 < S { d[k + 1] } else { last };
            }
        }
    }

    /// The same for any number of points.
    fn any_divided_differences(&mut self, nodes: &[f64; MOST_DEGREE + 1], stages: &[&[f64]]) {
        let (n, s) = (self.n, stages.len());
        for i in 0..n {
            let mut d = [0.0; MOST_DEGREE + 1];
            for (d, Y) in d.iter_mut().zip(stages.iter().rev()) {
                *d = Y[i];
            }
            for k in 1..=s {
                for j in (k..=s).rev() {
                    d[j] = (d[j] - d[j - 1]) / (nodes[j] - nodes[j - k]);
                }
                self.coefficients[k * n + i] = d[k];
            }
        }
    }

    /// The polynomial of this degree through x₁ and the points of the past: `back[j]` is t₁ minus the time of the point j + 1 steps
    /// before, `differences[j]` the divided difference x[t₁, …, t₁ − back_j] times back₀ ⋯ back_j.
    pub fn differences<'d>(
        &mut self,
        (t0, t1): (f64, f64),
        x1: &[f64],
        back: &[f64],
        differences: impl Iterator<Item = &'d [f64]>,
    ) {
        (self.t0, self.t1) = (t0, t1);
        let (n, h) = (self.n, t1 - t0);
        self.coefficients[..n].copy_from_slice(x1);
        // a_j = h^j x[t₁, …]
        let mut factor = 1.0;
        self.degree = 0;
        for (j, (difference, back)) in differences.zip(back).enumerate() {
            factor *= h / back;
            for (a, d) in self.coefficients[(j + 1) * n..].iter_mut().zip(difference) {
                *a = factor * d;
            }
            if j + 1 < MOST_DEGREE {
                self.nodes[j] = -back / h;
            }
            self.degree = j + 1;
        }
    }

    /// Coefficients of the powers 1, σ, σ², …, one block of components after the other, to be written for a step.
    pub fn powers(&mut self, t0: f64, t1: f64) -> &mut [f64] {
        (self.t0, self.t1) = (t0, t1);
        self.nodes.fill(0.0);
        self.degree = self.coefficients.len() / self.n.max(1) - 1;
        &mut self.coefficients
    }

    /// The first n components.
    pub fn first(&self, n: usize) -> Self {
        let mut first =
            Segment { n, coefficients: vec![0.0; self.coefficients.len() / self.n.max(1) * n], ..self.clone() };
        first.take_first(self);
        first
    }

    /// Become the first components of another polynomial with the same room.
    pub fn take_first(&mut self, of: &Segment) {
        (self.t0, self.t1, self.degree, self.nodes) = (of.t0, of.t1, of.degree, of.nodes);
        let blocks = of.coefficients.chunks_exact(of.n.max(1));
        self.coefficients.chunks_exact_mut(self.n.max(1)).zip(blocks).for_each(|(own, of)| {
            let n = own.len();
            own.copy_from_slice(&of[..n]);
        });
    }

    /// Become the polynomial over −t, with some components times −1.
    pub(crate) fn mirror(&mut self, signs: &[f64]) {
        (self.t0, self.t1) = (-self.t0, -self.t1);
        for block in self.coefficients.chunks_exact_mut(self.n.max(1)) {
            block.iter_mut().zip(signs).for_each(|(a, sign)| *a *= sign);
        }
    }

    /// Degree of the polynomial.
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// Move the right end to `x1` by adding a constant; for small corrections of an accepted point.
    pub fn shift_to(&mut self, x1: &[f64]) {
        self.coefficients[..self.n].copy_from_slice(x1);
    }

    /// Number of components.
    pub fn dim(&self) -> usize {
        self.n
    }

    /// x(t), component i.
    #[inline]
    pub fn component(&self, t: f64, i: usize) -> f64 {
        self.coefficients[i] + self.increment(self.sigma(t), i)
    }

    /// x(t).
    pub fn eval(&self, t: f64, x: &mut [f64]) {
        let sigma = self.sigma(t);
        for (i, x) in x.iter_mut().enumerate() {
            *x = self.coefficients[i] + self.increment(sigma, i);
        }
    }

    /// x'(t).
    pub fn derivative(&self, t: f64, x: &mut [f64]) {
        let sigma = self.sigma(t);
        let h = self.t1 - self.t0;
        for (i, x) in x.iter_mut().enumerate() {
            let (mut p, mut dp) = (self.coefficient(self.degree, i), 0.0);
            for j in (1..self.degree).rev() {
                let factor = sigma - self.nodes[j - 1];
                dp = p + factor * dp;
                p = self.coefficient(j, i) + factor * p;
            }
            *x = (p + sigma * dp) / h;
        }
    }

    /// Bounds of x and x' between two times, component i.
    pub fn bound(&self, (a, b): (f64, f64), i: usize) -> Taylor<Interval, 2> {
        let sigma = Taylor::parameter(Interval::new(self.sigma(a), self.sigma(b)));
        let mut p = Taylor::from(self.coefficient(self.degree, i));
        for j in (1..self.degree).rev() {
            p = p * (sigma - self.nodes[j - 1]) + self.coefficient(j, i);
        }
        let [x, slope] = (p * sigma + self.coefficients[i]).coefficients;
        // by its rate around the middle, which is sharper in short intervals
        let middle = 0.5 * (a + b);
        let rate = slope / (self.t1 - self.t0);
        let around = rate * Interval::new(a - middle, b - middle) + self.component(middle, i);
        let x = Interval::new(x.low.max(around.low), x.high.min(around.high));
        Taylor { coefficients: [x, rate] }
    }

    /// x(t₁ + σ (t₁ − t₀)) − x(t₁); σ > 0 extrapolates.
    #[inline]
    pub fn increment(&self, sigma: f64, i: usize) -> f64 {
        let mut p = self.coefficient(self.degree, i);
        for j in (1..self.degree).rev() {
            p = self.coefficient(j, i) + (sigma - self.nodes[j - 1]) * p;
        }
        sigma * p
    }

    /// [`increment`](Segment::increment) of all components at t₁ + cⱼh for every node cⱼ, one behind the other.
    pub fn predict(&self, h: f64, c: &[f64], out: &mut [f64]) {
        let ratio = h / (self.t1 - self.t0);
        match (self.degree, c.len()) {
            (3, 3) => self.predict_of::<3>(ratio, c, out),
            (5, 5) => self.predict_of::<5>(ratio, c, out),
            (7, 7) => self.predict_of::<7>(ratio, c, out),
            _ => {
                for (c, out) in c.iter().zip(out.chunks_exact_mut(self.n.max(1))) {
                    out.iter_mut().enumerate().for_each(|(i, out)| *out = self.increment(c * ratio, i));
                }
            }
        }
    }

    fn predict_of<const S: usize>(&self, ratio: f64, c: &[f64], out: &mut [f64]) {
        let n = self.n;
        let sigma: [f64; S] = std::array::from_fn(|k| c[k] * ratio);
        let factors: [[f64; S]; S] =
            sigma.map(|sigma| std::array::from_fn(|j| sigma - self.nodes[j.min(MOST_DEGREE - 2)]));
        of_length!(n, S => self.predict_at::<S>(n, (&sigma, &factors), out));
    }

    #[inline(always)]
    fn predict_at<const S: usize>(&self, n: usize, (sigma, factors): (&[f64; S], &[[f64; S]; S]), out: &mut [f64]) {
        let (a, out) = (vectors::<S>(&self.coefficients[n..], n), parts::<S>(out, n));
        for i in 0..n {
            let a = a.map(|a| a[i]);
            for k in 0..S {
                let mut p = a[S - 1];
                for j in (0..S - 1).rev() {
                    p = a[j] + factors[k][j] * p;
                }
                out[k][i] = sigma[k] * p;
            }
        }
    }

    /// a_j, component i.
    #[inline]
    fn coefficient(&self, j: usize, i: usize) -> f64 {
        self.coefficients[j * self.n + i]
    }

    fn sigma(&self, t: f64) -> f64 {
        if self.t1 == self.t0 { 0.0 } else { (t - self.t1) / (self.t1 - self.t0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cubic_is_reproduced_with_its_derivative() {
        let f = |t: f64| 1.0 + t * (2.0 + t * (-3.0 + 0.5 * t));
        let df = |t: f64| 2.0 + t * (-6.0 + 1.5 * t);
        let (t0, h, c) = (0.3, 0.4, [0.2, 0.6, 1.0]);
        let y: Vec<[f64; 1]> = c.iter().map(|c| [f(t0 + c * h) - f(t0)]).collect();
        let mut segment = Segment::point(t0, &[f(t0)]);
        segment.collocation(t0, t0 + h, &[f(t0 + h)], &c, &[&y[0], &y[1], &y[2]]);
        for t in [0.3, 0.35, 0.5, 0.7] {
            let mut x = [0.0];
            segment.eval(t, &mut x);
            assert!((x[0] - f(t)).abs() < 1e-14);
            segment.derivative(t, &mut x);
            assert!((x[0] - df(t)).abs() < 1e-13);
        }
    }

    #[test]
    fn collocation_reproduces_polynomials_of_the_degree_of_its_stages() {
        let (t0, h) = (-0.4, 0.9);
        for s in [1, 2, 5, 7] {
            let f = |t: f64| (0..=s).map(|k| (1.0 + f64::from(k)).sin() * t.powi(k)).sum::<f64>();
            let df = |t: f64| (1..=s).map(|k| (1.0 + f64::from(k)).sin() * f64::from(k) * t.powi(k - 1)).sum::<f64>();
            let c: Vec<f64> = (1..=s).map(|k| f64::from(k) / f64::from(s)).collect();
            let y: Vec<[f64; 1]> = c.iter().map(|c| [f(t0 + c * h) - f(t0)]).collect();
            let stages: Vec<&[f64]> = y.iter().map(|y| &y[..]).collect();
            let mut segment = Segment::with_room(t0, &[f(t0)], MOST_DEGREE);
            segment.collocation(t0, t0 + h, &[f(t0 + h)], &c, &stages);
            assert_eq!(segment.degree(), s as usize);
            for t in [-0.4, -0.1, 0.2, 0.5] {
                let mut x = [0.0];
                segment.eval(t, &mut x);
                assert!((x[0] - f(t)).abs() < 1e-13, "{s}: {t}");
                segment.derivative(t, &mut x);
                assert!((x[0] - df(t)).abs() < 1e-11, "{s}: {t}");
            }
        }
    }

    #[test]
    fn a_polynomial_of_degree_five_is_found_from_its_differences() {
        let f = |t: f64| 1.0 + t * (2.0 + t * (-3.0 + t * (0.5 + t * (1.0 - 0.7 * t))));
        let df = |t: f64| 2.0 + t * (-6.0 + t * (1.5 + t * (4.0 - 3.5 * t)));
        let times = [1.0, 0.8, 0.75, 0.5, 0.2, 0.1];
        // divided differences of the values at t₁ = 1 and before
        let mut table = times.map(f);
        let mut differences = [[0.0; 1]; 5];
        let mut product = 1.0;
        for j in 1..6 {
            for i in 0..6 - j {
                table[i] = (table[i] - table[i + 1]) / (times[i] - times[i + j]);
            }
            product *= times[0] - times[j];
            differences[j - 1] = [table[0] * product];
        }
        let back: [f64; 5] = std::array::from_fn(|j| times[0] - times[j + 1]);
        let mut segment = Segment::with_room(0.0, &[0.0], 5);
        segment.differences((0.8, 1.0), &[f(1.0)], &back, differences.iter().map(|d| &d[..]));
        assert_eq!(segment.degree(), 5);
        for t in [0.8, 0.87, 0.95, 1.0] {
            let mut x = [0.0];
            segment.eval(t, &mut x);
            assert!((x[0] - f(t)).abs() < 1e-14);
            segment.derivative(t, &mut x);
            assert!((x[0] - df(t)).abs() < 1e-12);
        }
    }
}
