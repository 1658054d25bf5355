//! Dense output: the polynomial over one step.

/// Polynomial over [t₀, t₁] in Newton form with respect to nodes σᵢ ∈ [−1, 0]:
/// x(t) = x₁ + σ (a₁ + (σ − σ₁)(a₂ + (σ − σ₂) a₃)), σ = (t − t₁)/(t₁ − t₀).
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// Left end.
    pub t0: f64,
    /// Right end.
    pub t1: f64,
    n: usize,
    nodes: [f64; 2],
    /// x₁, a₁, a₂, a₃ one after the other
    coefficients: Vec<f64>,
}

impl Segment {
    /// A segment at one point.
    pub fn point(t: f64, x: &[f64]) -> Self {
        let mut coefficients = vec![0.0; 4 * x.len()];
        coefficients[..x.len()].copy_from_slice(x);
        Segment { t0: t, t1: t, n: x.len(), nodes: [0.0; 2], coefficients }
    }

    /// The cubic through x₁ − Y₃, and x₁ − Y₃ + Yᵢ at the nodes cᵢ of the step, c₃ = 1. \[HW\] IV.8, (8.27); `stages` are Y₁, Y₂, Y₃.
    pub fn collocation(&mut self, t0: f64, t1: f64, x1: &[f64], c: [f64; 3], stages: [&[f64]; 3]) {
        (self.t0, self.t1) = (t0, t1);
        let [c1, c2, _] = c;
        self.nodes = [c2 - 1.0, c1 - 1.0];
        let n = self.n;
        let (head, rest) = self.coefficients.split_at_mut(n);
        let (a1, rest) = rest.split_at_mut(n);
        let (a2, a3) = rest.split_at_mut(n);
        head.copy_from_slice(x1);
        let [y1, y2, y3] = stages;
        for i in 0..n {
            a1[i] = (y2[i] - y3[i]) / (c2 - 1.0);
            let ak = (y1[i] - y2[i]) / (c1 - c2);
            a2[i] = (ak - a1[i]) / (c1 - 1.0);
            a3[i] = a2[i] - (ak - y1[i] / c1) / c2;
        }
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
        let (sigma, n) = (self.sigma(t), self.n);
        let [s1, s2] = self.nodes;
        let h = self.t1 - self.t0;
        for (i, x) in x.iter_mut().enumerate() {
            let (a1, a2, a3) = (self.coefficients[n + i], self.coefficients[2 * n + i], self.coefficients[3 * n + i]);
            let inner = a2 + (sigma - s2) * a3;
            *x = (a1 + (sigma - s1) * inner + sigma * (inner + (sigma - s1) * a3)) / h;
        }
    }

    /// x(t₁ + σ (t₁ − t₀)) − x(t₁); σ > 0 extrapolates.
    #[inline]
    pub fn increment(&self, sigma: f64, i: usize) -> f64 {
        let n = self.n;
        let [s1, s2] = self.nodes;
        let (a1, a2, a3) = (self.coefficients[n + i], self.coefficients[2 * n + i], self.coefficients[3 * n + i]);
        sigma * (a1 + (sigma - s1) * (a2 + (sigma - s2) * a3))
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
        segment.collocation(t0, t0 + h, &[f(t0 + h)], c, [&y[0], &y[1], &y[2]]);
        for t in [0.3, 0.35, 0.5, 0.7] {
            let mut x = [0.0];
            segment.eval(t, &mut x);
            assert!((x[0] - f(t)).abs() < 1e-14);
            segment.derivative(t, &mut x);
            assert!((x[0] - df(t)).abs() < 1e-13);
        }
    }
}
