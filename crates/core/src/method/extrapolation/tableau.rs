//! Extrapolation to step size zero by the scheme of Aitken and Neville.
//!
//! ```text
//! T_{j,l+1} = T_{j,l} + (T_{j,l} − T_{j−1,l}) / ((n_j / n_{j−l})^κ − 1)
//! ```
//! κ = 1 for asymptotic expansions in h, κ = 2 for those in h². Hairer, Nørsett & Wanner, Solving ODEs I, II.9, (9.10).

/// The numbers of substeps, one for each line of the tableau, and the powers of h in the expansion of the error.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sequence {
    pub numbers: &'static [u32],
    /// κ
    pub power: i32,
}

/// The last line of the tableau.
#[derive(Clone, Debug)]
pub(super) struct ExtrapolationTableau {
    sequence: Sequence,
    /// `T[l − 1]` is T_{j,l}
    T: Vec<Vec<f64>>,
    lines: usize,
}

impl ExtrapolationTableau {
    /// For vectors of this length, with room for so many lines.
    pub fn new(sequence: Sequence, lines: usize, dim: usize) -> Self {
        ExtrapolationTableau { sequence, T: vec![vec![0.0; dim]; lines], lines: 0 }
    }

    /// Begin a new step.
    pub fn clear(&mut self) {
        self.lines = 0;
    }

    /// Add the line that begins with T_{j,1} = x; x becomes T_{j,j}.
    pub fn push(&mut self, x: &mut [f64]) {
        let n = self.sequence.numbers;
        let j = self.lines;
        for l in 0..j {
            let factor = 1.0 / ((f64::from(n[j]) / f64::from(n[j - 1 - l])).powi(self.sequence.power) - 1.0);
            for (x, T) in x.iter_mut().zip(&mut self.T[l]) {
                let before = std::mem::replace(T, *x);
                *x += factor * (*x - before);
            }
        }
        self.T[j].copy_from_slice(x);
        self.lines += 1;
    }

    /// T_{j,j} − T_{j,j−1} of the last line; there are two lines at least.
    pub fn difference(&self, e: &mut [f64]) {
        let (last, before) = (&self.T[self.lines - 1], &self.T[self.lines - 2]);
        for (e, (x, y)) in e.iter_mut().zip(last.iter().zip(before)) {
            *e = x - y;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of 3 + Σ c_i h^(κi) with h = 1/n.
    fn value(n: u32, power: i32, terms: i32) -> f64 {
        3.0 + (1..=terms).map(|i| f64::from(i) * f64::from(n).powi(-power * i)).sum::<f64>()
    }

    #[test]
    fn expansions_with_fewer_terms_than_lines_are_extrapolated_exactly() {
        for power in [1, 2] {
            let numbers: &[u32] = &[2, 3, 4, 5, 6];
            let mut tableau = ExtrapolationTableau::new(Sequence { numbers, power }, 5, 1);
            for (j, &n) in numbers.iter().enumerate() {
                let mut x = [value(n, power, 3)];
                tableau.push(&mut x);
                assert_eq!((x[0] - 3.0).abs() < 1e-12, j >= 3, "line {j}: {}", x[0]);
            }
            let mut e = [0.0];
            tableau.difference(&mut e);
            assert!(e[0].abs() < 1e-12, "{}", e[0]);
        }
    }
}
