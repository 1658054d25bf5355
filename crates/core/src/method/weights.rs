//! Weighted norms of errors: ‖e‖ = √(Σ (eᵢ/scᵢ)²/n), scᵢ = atolᵢ + rtolᵢ |xᵢ|, over the unknowns that count.
//!
//! Errors of unknowns of index k count h^(k−1) times. Hairer & Wanner, Solving ODEs II, VII.6.

use crate::dae::Dae;
use crate::error::BadOption;
use crate::method::sums::of_length;
use crate::motion::Layout;
use crate::tolerance::Tolerance;

/// Tolerances of a general system, and weights 1/sc at a point.
#[derive(Clone, Debug)]
pub struct Weights {
    /// relative and absolute tolerances as they were given, and as they are used
    given: Vec<(f64, f64)>,
    pairs: Vec<(f64, f64)>,
    counts: Vec<bool>,
    /// 1/sc, zero for unknowns that do not count
    inverse_scales: Vec<f64>,
    /// unknowns of index two and more, with one less than it, and their 1/sc without regard to the step
    higher: Vec<(usize, i32, f64)>,
    counted: f64,
}

impl Weights {
    /// For the unknowns of a system; weights are zero until the first [`Weights::at`].
    pub fn new(dae: &dyn Dae, tolerance: &Tolerance) -> Result<Self, BadOption> {
        let counts: Vec<bool> = (0..dae.dim()).map(|i| dae.in_error_norm(i)).collect();
        let pairs = tolerance.pairs_where(&counts)?;
        let counted = counts.iter().filter(|counts| **counts).count().max(1) as f64;
        let index = |i: usize| i32::from(dae.index(i)) - 1;
        let higher = (0..dae.dim()).filter(|&i| counts[i] && index(i) > 0).map(|i| (i, index(i), 0.0)).collect();
        Ok(Weights { given: pairs.clone(), pairs, inverse_scales: vec![0.0; counts.len()], counts, higher, counted })
    }

    /// For the unknowns of a reduced derivative array, those that count, with their indices.
    pub fn of_array(
        layout: &Layout,
        tolerance: &Tolerance,
        counts: impl Fn(usize) -> bool,
        index: impl Fn(usize) -> i32,
    ) -> Result<Self, BadOption> {
        let pairs = tolerance.pairs(layout)?;
        let counts: Vec<bool> = (0..layout.dim()).map(counts).collect();
        let counted = counts.iter().filter(|counts| **counts).count().max(1) as f64;
        let higher = (0..layout.dim()).filter(|&i| counts[i] && index(i) > 1).map(|i| (i, index(i) - 1, 0.0)).collect();
        Ok(Weights { given: pairs.clone(), pairs, inverse_scales: vec![0.0; counts.len()], counts, higher, counted })
    }

    /// For equations of motion: p, v and r count, what follows from them does not.
    pub fn of_motion(layout: &Layout, tolerance: &Tolerance) -> Result<Self, BadOption> {
        let counts = |i: usize| [layout.p(), layout.v(), layout.r()].iter().any(|range| range.contains(&i));
        Self::of_array(layout, tolerance, counts, |_| 1)
    }

    /// Leave unknowns out.
    pub fn leave_out(&mut self, which: impl Fn(usize) -> bool) {
        self.counts.iter_mut().enumerate().for_each(|(i, counts)| *counts &= !which(i));
        self.higher.retain(|(i, _, _)| !which(*i));
        self.counted = self.counts.iter().filter(|counts| **counts).count().max(1) as f64;
    }

    /// Use a function of every given relative tolerance; absolute ones keep their ratio to it.
    pub fn transform(&mut self, rtol: impl Fn(f64) -> f64) {
        for (used, (r, a)) in self.pairs.iter_mut().zip(&self.given) {
            let new = rtol(*r);
            *used = (new, a / r * new);
        }
    }

    /// Relative and absolute tolerance of an unknown, as they are used.
    pub fn pair(&self, i: usize) -> (f64, f64) {
        self.pairs[i]
    }

    /// The smallest relative tolerance.
    pub fn rtol(&self) -> f64 {
        self.pairs.iter().fold(1.0, |least, (rtol, _)| rtol.min(least))
    }

    /// How much larger the tolerances in use are than the given ones, at most.
    pub fn loosened(&self) -> f64 {
        self.pairs.iter().zip(&self.given).fold(0.0, |most, (used, given)| (used.0 / given.0).max(most))
    }

    /// Weights at a point.
    pub fn at(&mut self, x: &[f64]) {
        let of = self.pairs.iter().zip(&self.counts).zip(x);
        for (w, (((rtol, atol), counts), x)) in self.inverse_scales.iter_mut().zip(of) {
            *w = if *counts { 1.0 / (atol + rtol * x.abs()) } else { 0.0 };
        }
        for (i, _, scale) in &mut self.higher {
            *scale = self.inverse_scales[*i];
        }
    }

    /// Weights for a step of this size, at the same point.
    pub fn for_step(&mut self, h: f64) {
        for &(i, less, scale) in &self.higher {
            self.inverse_scales[i] = scale * h.powi(less);
        }
    }

    /// Unknowns of index two and more.
    pub fn higher_index(&self) -> impl Iterator<Item = usize> {
        self.higher.iter().map(|(i, _, _)| *i)
    }

    /// ‖e‖.
    pub fn norm(&self, e: &[f64]) -> f64 {
        (self.sum(e) / self.counted).sqrt()
    }

    /// The same as a mean over `n` unknowns, where the others are left out of e.
    pub fn norm_among(&self, n: usize, e: &[f64]) -> f64 {
        (self.sum(e) / n.max(1) as f64).sqrt()
    }

    /// max |eᵢ/scᵢ|.
    pub fn largest(&self, e: &[f64]) -> f64 {
        e.iter().zip(&self.inverse_scales).fold(0.0, |most, (e, w)| (e * w).abs().max(most))
    }

    /// ‖e‖ with scᵢ = atolᵢ + rtolᵢ max(|xᵢ|, |yᵢ|) for the two ends of a step.
    pub fn norm_between(&self, e: &[f64], x: &[f64], y: &[f64]) -> f64 {
        let n = self.pairs.len();
        let (e, x, y, counts) = (&e[..n], &x[..n], &y[..n], &self.counts[..n]);
        let mut sum = 0.0;
        for (i, (rtol, atol)) in self.pairs.iter().enumerate() {
            let (x, y) = (x[i].abs(), y[i].abs());
            // an end that is not a number shows in e
            let part = e[i] / (atol + rtol * if y > x { y } else { x });
            sum += if counts[i] { part * part } else { 0.0 };
        }
        (sum / self.counted).sqrt()
    }

    /// ‖(e₁, …, eₛ)‖ of s vectors, one behind the other.
    pub fn norm_of_stages(&self, e: &[f64], s: usize) -> f64 {
        let n = self.inverse_scales.len();
        let sum = of_length!(n, 1 => (0..s).fold(0.0, |sum, j| sum + self.sum_of(n, &e[j * n..])));
        (sum / (s as f64 * self.counted)).sqrt()
    }

    fn sum(&self, e: &[f64]) -> f64 {
        let n = e.len().min(self.inverse_scales.len());
        of_length!(n, 1 => self.sum_of(n, e))
    }

    #[inline(always)]
    fn sum_of(&self, n: usize, e: &[f64]) -> f64 {
        let (e, w) = (&e[..n], &self.inverse_scales[..n]);
        (0..n).fold(0.0, |sum, i| sum + (e[i] * w[i]) * (e[i] * w[i]))
    }
}
