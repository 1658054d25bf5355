//! What is between the steps of a collocation method.
//!
//! The polynomial over a step goes through x₀ and the stages, s + 1 points in all. Unknowns that constraints determine are right at the stages, so
//! that it differs from them by ω(σ) d, where ω(σ) = σ (σ − c₁) ⋯ (σ − cₛ) and d is the next divided difference. The rates of unknowns that are
//! integrated are right there: those differ by (s + 1) Ω(σ) d, Ω' = (σ − c₁) ⋯ (σ − cₛ), Ω(0) = 0, at the stages as well. The error estimate of a step bounds d for unknowns that are
//! integrated. It says nothing about unknowns that constraints determine, or that are so stiff that they follow a function of time: they are
//! right at the end of a step, whatever they did inside of it. Where values between steps are wanted,
//!
//! 1. d is guessed from the differences of the step. If it may be too large, the defect of the equations where |ω| is largest tells how far
//!    the polynomial is from the solution there, and this counts as an error of the step;
//! 2. values at given times are ends of steps that begin where the last step did, unless the polynomial is good enough.
//!
//! Enright, Jackson, Nørsett & Thomsen, Interpolants for Runge–Kutta formulas, ACM TOMS 12 (1986).

use crate::segment::MOST_DEGREE;

/// Guessed deviations up to this many given tolerances are left in saved values: guesses may be too small by a factor of ten, and twenty
/// tolerances are what steps of collocation methods themselves are allowed at 1e-7.
pub(crate) const NEGLIGIBLE: f64 = 2.0;
/// Guessed deviations of this many tolerances of a step are looked at. Below one, because they are guessed.
pub(crate) const SUSPICIOUS: f64 = 0.5;
/// Nodes of polynomials that are kept, besides the begin of the step: those of Radau IIa with five stages.
pub(crate) const KEPT: usize = 5;
/// Steps are not shortened below this multiple of the rounding of time for the sake of a polynomial.
const ROUNDING: f64 = 1e3;
/// Points at which |ω| is looked at; it is smooth.
const SAMPLES: usize = 200;

/// Nodes of a collocation method, and where its polynomial is least accurate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nodes {
    c: [f64; MOST_DEGREE],
    s: usize,
    /// σ where |ω| is largest
    worst: f64,
    /// the larger one of |ω| and (s + 1)|Ω|, at its largest
    most: f64,
    /// Ω(σ)/σ in powers of σ
    integral: [f64; MOST_DEGREE + 1],
    /// x(σ) − x₀ = Σ wⱼ Zⱼ and h ẋ(σ) = Σ wⱼ' Zⱼ there
    value: [f64; MOST_DEGREE],
    rate: [f64; MOST_DEGREE],
}

impl Nodes {
    /// Of the nodes c₁, …, cₛ = 1, at most [`MOST_DEGREE`].
    pub fn new(c: &[f64]) -> Self {
        let s = c.len();
        let mut nodes = Nodes {
            c: std::array::from_fn(|j| c.get(j).copied().unwrap_or(0.0)),
            s,
            worst: 0.0,
            most: 0.0,
            integral: [0.0; MOST_DEGREE + 1],
            value: [0.0; MOST_DEGREE],
            rate: [0.0; MOST_DEGREE],
        };
        // (σ − c₁) ⋯ (σ − cₛ) in powers, then its integral
        nodes.integral[0] = 1.0;
        for (j, c) in c.iter().enumerate() {
            for k in (0..=j).rev() {
                nodes.integral[k + 1] += nodes.integral[k];
                nodes.integral[k] *= -c;
            }
        }
        nodes.integral.iter_mut().enumerate().for_each(|(k, a)| *a /= (k + 1) as f64);
        let mut largest = 0.0;
        for k in 1..SAMPLES {
            let sigma = k as f64 / SAMPLES as f64;
            if nodes.omega(sigma) > largest {
                (nodes.worst, largest) = (sigma, nodes.omega(sigma));
            }
            nodes.most = nodes.most.max(nodes.profile(sigma));
        }
        // Lagrange polynomials with respect to 0, c₁, …, cₛ
        let sigma = nodes.worst;
        for j in 0..s {
            let others = || (0..s).filter(|&k| k != j).map(|k| c[k]).chain([0.0]);
            let scale: f64 = others().map(|node| c[j] - node).product();
            let value: f64 = others().map(|node| sigma - node).product();
            nodes.value[j] = value / scale;
            nodes.rate[j] = value * others().map(|node| 1.0 / (sigma - node)).sum::<f64>() / scale;
        }
        nodes
    }

    fn omega(&self, sigma: f64) -> f64 {
        self.c[..self.s].iter().fold(sigma, |product, c| product * (sigma - c)).abs()
    }

    /// Deviation at σ, for a divided difference of one.
    fn profile(&self, sigma: f64) -> f64 {
        let integral = self.integral[..=self.s].iter().rev().fold(0.0, |sum, a| sum * sigma + a) * sigma;
        self.omega(sigma).max((self.s + 1) as f64 * integral.abs())
    }

    /// σ where the polynomial is least accurate.
    pub fn worst(&self) -> f64 {
        self.worst
    }

    /// Weights of the stages for x(σ) − x₀ there.
    pub fn value(&self) -> &[f64] {
        &self.value[..self.s]
    }

    /// Weights of the stages for h ẋ(σ) there.
    pub fn rate(&self) -> &[f64] {
        &self.rate[..self.s]
    }

    /// How large a deviation is at σ, relative to where it is largest.
    pub fn share(&self, sigma: f64) -> f64 {
        self.profile(sigma) / self.most
    }

    /// A guess of the largest deviation of one unknown, from its stages Z₁, …, Zₛ: the next divided difference continues the last ones like a
    /// geometric sequence. Two ratios are looked at, because one of three derivatives may vanish by accident.
    pub fn guess(&self, Z: impl Fn(usize) -> f64) -> f64 {
        let (s, c) = (self.s, &self.c);
        let mut d = [0.0; MOST_DEGREE + 1];
        for (j, d) in d[1..=s].iter_mut().enumerate() {
            *d = Z(j);
        }
        let node = |j: usize| if j == 0 { 0.0 } else { c[j - 1] };
        for k in 1..=s {
            for j in (k..=s).rev() {
                d[j] = (d[j] - d[j - 1]) / (node(j) - node(j - k));
            }
        }
        if s < 3 {
            return self.most * d[s].abs();
        }
        let [first, second, last] = [d[s - 2].abs(), d[s - 1].abs(), d[s].abs()];
        // ratios of one and more: the step is longer than what it follows
        let ratio = if last >= second || second >= first { 1.0 } else { (second / first).max(last / second) };
        self.most * (last * ratio).max(second * ratio * ratio)
    }
}

/// The smallest step that is shortened for the sake of its polynomial: no polynomial follows a jump, whose place is known well enough then.
pub(crate) fn smallest(t: f64, longest: f64) -> f64 {
    ROUNDING * f64::EPSILON * longest.max(t.abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::collocation::Tableau;

    #[test]
    fn the_weights_reproduce_powers_and_the_guess_is_near_the_deviation() {
        for s in [1, 3, 5, 7] {
            let C = Tableau::of(s).C;
            let nodes = Nodes::new(C);
            for k in 1..=s as i32 {
                let value: f64 = nodes.value().iter().zip(C).map(|(w, c)| w * c.powi(k)).sum();
                let rate: f64 = nodes.rate().iter().zip(C).map(|(w, c)| w * c.powi(k)).sum();
                assert!((value - nodes.worst().powi(k)).abs() < 1e-13, "{s} stages, power {k}");
                assert!((rate - f64::from(k) * nodes.worst().powi(k - 1)).abs() < 1e-11, "{s} stages, power {k}");
            }
            // methods of order s + 1 and more are right at the end
            assert!(nodes.share(0.0) == 0.0 && (s == 1 || nodes.share(1.0) < 1e-9), "{s} stages");
        }
        // sin(0.3 σ + φ) at all phases: never half of what it is, and too large where a difference vanishes by accident, but no
        // more than a thousand times
        let nodes = Nodes::new(Tableau::of(3).C);
        let f = |sigma: f64, phase: f64| (0.3 * sigma + phase).sin();
        let phases = || (0..100).map(|k| 0.0628 * f64::from(k));
        let deviation = |phase: f64| {
            let sum: f64 =
                nodes.value().iter().zip(Tableau::of(3).C).map(|(w, &c)| w * (f(c, phase) - f(0.0, phase))).sum();
            (f(0.0, phase) + sum - f(nodes.worst(), phase)).abs()
        };
        let most = phases().map(deviation).fold(0.0, f64::max);
        for phase in phases() {
            let guess = nodes.guess(|j| f(Tableau::of(3).C[j], phase) - f(0.0, phase));
            assert!(guess > 0.5 * most.min(deviation(phase)) && guess < 1e3 * most, "{phase}: {guess} {most}");
        }
    }
}
