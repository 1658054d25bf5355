//! Points between the steps, as many as a smooth curve needs.
//!
//! A reader joins the points of a file by straight lines. A chord over the length s is off by s²|x''|/8, and the second difference over that
//! length is s²x'': nine points of a step tell into how many parts it must be cut for every column to stay within a small part of its range.
//! Steps are chosen for accuracy by a method of high order and are often far too long for that: a falling ball takes one.

/// How far a chord may be off, as a part of the range of a column: half a pixel in a picture of 500.
const FLATNESS: f64 = 1e-3;
/// Parts in which a step is looked at.
const LOOK: usize = 8;
/// Most parts of a step: its polynomial has degree 8 at most.
const MOST_PARTS: f64 = 32.0;
/// Most points between the steps of a run; in longer runs all curves are coarser by the same factor.
const MOST_POINTS: f64 = 200_000.0;

/// How far each column may be off its chords.
pub struct Flatness {
    smallest: Vec<f64>,
    largest: Vec<f64>,
    /// what the tolerances of the run call equal: relative and absolute
    noise: (f64, f64),
}

impl Flatness {
    /// For so many columns of a run with these tolerances.
    pub fn new(columns: usize, noise: (f64, f64)) -> Self {
        Flatness { smallest: vec![f64::INFINITY; columns], largest: vec![f64::NEG_INFINITY; columns], noise }
    }

    /// The values of all columns at a step.
    pub fn see(&mut self, row: &[f64]) {
        for (k, &x) in row.iter().enumerate().filter(|(_, x)| x.is_finite()) {
            self.smallest[k] = self.smallest[k].min(x);
            self.largest[k] = self.largest[k].max(x);
        }
    }

    /// What column k may be off.
    fn of(&self, k: usize) -> f64 {
        let (smallest, largest) = (self.smallest[k], self.largest[k]);
        let (rtol, atol) = self.noise;
        (FLATNESS * (largest - smallest)).max(rtol * largest.abs().max(smallest.abs()) + atol)
    }

    /// Into how many parts a step must be cut; `row(θ)` gives the values of all columns at the part θ of the step.
    pub fn parts(&self, mut row: impl FnMut(f64) -> Vec<f64>) -> f64 {
        let rows: Vec<Vec<f64>> = (0..=LOOK).map(|k| row(k as f64 / LOOK as f64)).collect();
        let mut worst: f64 = 0.0;
        for three in rows.windows(3) {
            for k in 0..three[0].len() {
                let second = (three[0][k] - 2.0 * three[1][k] + three[2][k]).abs();
                // what is not finite is a gap, and no curve
                if second.is_finite() {
                    worst = worst.max(second / self.of(k));
                }
            }
        }
        (LOOK as f64 * (worst / 8.0).sqrt()).ceil().clamp(1.0, MOST_PARTS)
    }
}

/// Whole numbers of parts of all steps, fewer where there would be too many points.
pub fn limited(parts: &[f64]) -> Vec<u32> {
    let between: f64 = parts.iter().map(|n| n - 1.0).sum();
    let factor = if between > MOST_POINTS { MOST_POINTS / between } else { 1.0 };
    parts.iter().map(|n| 1 + ((n - 1.0) * factor) as u32).collect()
}

/// The times between two ends that cut it into so many parts.
pub fn between((t0, t1): (f64, f64), parts: u32) -> impl Iterator<Item = f64> {
    (1..parts).map(move |k| t0 + (t1 - t0) * f64::from(k) / f64::from(parts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parabola_is_cut_until_its_chords_are_close() {
        let mut flatness = Flatness::new(2, (1e-7, 1e-7));
        flatness.see(&[0.0, f64::NAN]);
        flatness.see(&[1.0, 3.0]);
        // s²/4 is the largest distance of x² from its chord over s: 1e-3 for 15.8 parts
        assert_eq!(flatness.parts(|theta| vec![theta * theta, f64::NAN]), 16.0);
        assert_eq!(flatness.parts(|theta| vec![theta, 3.0 + 1e-9 * theta * theta]), 1.0);
    }

    #[test]
    fn a_column_that_only_rounding_moves_needs_no_points() {
        let mut flatness = Flatness::new(1, (1e-7, 1e-7));
        flatness.see(&[1.0]);
        flatness.see(&[1.0 + 1e-15]);
        assert_eq!(flatness.parts(|theta| vec![1.0 + 1e-15 * (40.0 * theta).sin()]), 1.0);
    }

    #[test]
    fn long_runs_have_a_limit() {
        let parts = limited(&vec![32.0; 100_000]);
        let points: u32 = parts.iter().map(|n| n - 1).sum();
        assert!((100_000..=200_000).contains(&points), "{points}");
        assert_eq!(limited(&[1.0, 4.0]), [1, 4]);
        assert_eq!(between((1.0, 2.0), 4).collect::<Vec<_>>(), [1.25, 1.5, 1.75]);
        assert_eq!(between((1.0, 2.0), 1).count(), 0);
    }
}
