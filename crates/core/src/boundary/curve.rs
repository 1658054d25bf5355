//! A curve in pieces: a polynomial of degree K over every interval, continuous, by its values at the Lobatto points.

use super::scheme::{K, SymmetricScheme};

/// t = t₀ + length · τ, with a mesh of τ in [0, 1].
#[derive(Clone, Debug)]
pub(super) struct Curve {
    pub n: usize,
    pub t0: f64,
    pub length: f64,
    pub mesh: Vec<f64>,
    /// values at all Lobatto points; the last of an interval is the first of the next
    pub y: Vec<f64>,
}

impl Curve {
    /// By values at all points.
    pub fn new(
        scheme: &SymmetricScheme,
        n: usize,
        (t0, length): (f64, f64),
        mesh: Vec<f64>,
        mut value: impl FnMut(f64, &mut [f64]),
    ) -> Self {
        let intervals = mesh.len() - 1;
        let mut curve = Curve { n, t0, length, mesh, y: vec![0.0; (intervals * K + 1) * n] };
        for p in 0..=intervals * K {
            let tau = curve.tau_of(scheme, p);
            value(tau, &mut curve.y[p * n..(p + 1) * n]);
        }
        curve
    }

    pub fn intervals(&self) -> usize {
        self.mesh.len() - 1
    }

    /// τ of point p of all.
    pub fn tau_of(&self, scheme: &SymmetricScheme, p: usize) -> f64 {
        let (i, l) = if p == self.intervals() * K { (self.intervals() - 1, K) } else { (p / K, p % K) };
        self.tau(i, scheme.lobatto[l])
    }

    pub fn tau(&self, i: usize, sigma: f64) -> f64 {
        if sigma == 1.0 { self.mesh[i + 1] } else { self.mesh[i] + sigma * (self.mesh[i + 1] - self.mesh[i]) }
    }

    pub fn time(&self, tau: f64) -> f64 {
        self.t0 + self.length * tau
    }

    /// Lobatto point l of interval i.
    pub fn point(&self, i: usize, l: usize) -> &[f64] {
        let p = i * K + l;
        &self.y[p * self.n..(p + 1) * self.n]
    }

    /// A combination of the Lobatto points of an interval.
    pub fn combination(&self, i: usize, factors: &[f64; K + 1], out: &mut [f64]) {
        out.fill(0.0);
        for (l, factor) in factors.iter().enumerate() {
            out.iter_mut().zip(self.point(i, l)).for_each(|(x, y)| *x += factor * y);
        }
    }

    /// The value at τ.
    pub fn at(&self, scheme: &SymmetricScheme, tau: f64, out: &mut [f64]) {
        let i = self.mesh.partition_point(|&node| node <= tau).clamp(1, self.intervals()) - 1;
        let sigma = (tau - self.mesh[i]) / (self.mesh[i + 1] - self.mesh[i]);
        self.combination(i, &scheme.at(sigma), out);
    }

    /// The same curve on another mesh.
    pub fn on(&self, scheme: &SymmetricScheme, mesh: Vec<f64>) -> Self {
        Curve::new(scheme, self.n, (self.t0, self.length), mesh, |tau, y| self.at(scheme, tau, y))
    }

    /// Largest |y_j| of each unknown.
    pub fn sizes(&self) -> Vec<f64> {
        let mut sizes = vec![0.0_f64; self.n];
        for point in self.y.chunks_exact(self.n) {
            sizes.iter_mut().zip(point).for_each(|(size, y)| *size = size.max(y.abs()));
        }
        sizes
    }

    /// Add a multiple of a correction of all points and of the length.
    pub fn moved(&self, factor: f64, correction: &Correction) -> Self {
        let mut moved = self.clone();
        moved.y.iter_mut().zip(&correction.y).for_each(|(y, d)| *y += factor * d);
        moved.length += factor * correction.length;
        moved
    }
}

/// A correction of a curve.
#[derive(Clone, Debug)]
pub(super) struct Correction {
    pub y: Vec<f64>,
    pub length: f64,
}

/// How large corrections are.
pub(super) struct CorrectionMeasure<'m> {
    /// (rtol, atol) of the unknowns that count
    pub tolerances: &'m [(f64, f64)],
}

impl CorrectionMeasure<'_> {
    /// Largest correction in units of the tolerance at every point.
    pub fn local(&self, curve: &Curve, correction: &Correction) -> f64 {
        let mut top = self.of_length(curve, correction);
        for (y, d) in curve.y.chunks_exact(curve.n).zip(correction.y.chunks_exact(curve.n)) {
            for ((&(rtol, atol), y), d) in self.tolerances.iter().zip(y).zip(d) {
                top = top.max(d.abs() / (atol + rtol * y.abs()));
            }
        }
        top
    }

    /// The same in units of the sizes that unknowns have anywhere, as a mean square: what damping looks at.
    pub fn global(&self, curve: &Curve, sizes: &[f64], correction: &Correction) -> f64 {
        let mut sum = self.of_length(curve, correction).powi(2);
        let points = curve.y.len() / curve.n;
        for d in correction.y.chunks_exact(curve.n) {
            for ((&(rtol, atol), size), d) in self.tolerances.iter().zip(sizes).zip(d) {
                sum += (d / (atol + rtol * size)).powi(2) / points as f64;
            }
        }
        sum.sqrt()
    }

    fn of_length(&self, curve: &Curve, correction: &Correction) -> f64 {
        let (rtol, atol) =
            self.tolerances.iter().fold((1.0_f64, 1.0_f64), |(r, a), (rtol, atol)| (r.min(*rtol), a.min(*atol)));
        correction.length.abs() / (atol + rtol * (curve.t0 + curve.length).abs().max(curve.length.abs()))
    }
}
