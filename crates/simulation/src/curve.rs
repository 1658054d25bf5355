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

/// Points of a run at which the noise of outputs is looked at; most of them tell what is usual.
const SAMPLES: usize = 15;

/// How far each column may be off its chords.
pub struct Flatness {
    smallest: Vec<f64>,
    largest: Vec<f64>,
    /// what the tolerances of the run call equal: relative, and absolute for each column that has a tolerance
    rtol: f64,
    atol: Vec<Option<f64>>,
    /// changes of all columns at some points, where the state moves within its tolerance
    moved: Vec<Vec<f64>>,
}

impl Flatness {
    /// For columns with these absolute tolerances; outputs have none.
    pub fn new(rtol: f64, atol: Vec<Option<f64>>) -> Self {
        let n = atol.len();
        let (smallest, largest) = (vec![f64::INFINITY; n], vec![f64::NEG_INFINITY; n]);
        Flatness { smallest, largest, rtol, atol, moved: vec![Vec::new(); n] }
    }

    /// The values of all columns at a step.
    pub fn see(&mut self, row: &[f64]) {
        for (k, &x) in row.iter().enumerate().filter(|(_, x)| x.is_finite()) {
            self.smallest[k] = self.smallest[k].min(x);
            self.largest[k] = self.largest[k].max(x);
        }
    }

    /// The values of all columns in a state, and in the state that [`nudged`] makes of it: outputs of the size of their change are noise.
    pub fn compare(&mut self, row: &[f64], moved: &[f64]) {
        for (changes, (x, y)) in self.moved.iter_mut().zip(row.iter().zip(moved)) {
            changes.extend(Some((x - y).abs()).filter(|change| change.is_finite()));
        }
    }

    /// The noise of column k. That of an output is the usual one: where it jumps or grows without bound it says nothing.
    fn noise(&self, k: usize) -> f64 {
        self.atol[k].unwrap_or_else(|| {
            let mut changes = self.moved[k].clone();
            changes.sort_by(f64::total_cmp);
            changes.get(changes.len() / 2).copied().unwrap_or(0.0)
        })
    }

    /// What every column may be off.
    fn allowed(&self) -> Vec<f64> {
        let of = |k: usize| {
            let (smallest, largest) = (self.smallest[k], self.largest[k]);
            (FLATNESS * (largest - smallest)).max(self.rtol * largest.abs().max(smallest.abs()) + self.noise(k))
        };
        (0..self.atol.len()).map(of).collect()
    }

    /// When all values were seen.
    pub fn ready(self) -> ChordTolerances {
        ChordTolerances { allowed: self.allowed() }
    }
}

/// How far each column may be off its chords, for good.
pub struct ChordTolerances {
    allowed: Vec<f64>,
}

impl ChordTolerances {
    /// Into how many parts a step must be cut; `row(θ)` gives the values of all columns at the part θ of the step.
    pub fn parts(&self, mut row: impl FnMut(f64) -> Vec<f64>) -> f64 {
        let rows: Vec<Vec<f64>> = (0..=LOOK).map(|k| row(k as f64 / LOOK as f64)).collect();
        let mut worst: f64 = 0.0;
        for three in rows.windows(3) {
            for k in 0..three[0].len() {
                let second = (three[0][k] - 2.0 * three[1][k] + three[2][k]).abs();
                // what is not finite is a gap, and no curve
                if second.is_finite() {
                    worst = worst.max(second / self.allowed[k]);
                }
            }
        }
        (LOOK as f64 * (worst / 8.0).sqrt()).ceil().clamp(1.0, MOST_PARTS)
    }
}

/// A state that moves within these tolerances: up and down without a pattern, so that little of it cancels.
pub fn nudged(x: &[f64], weights: impl Iterator<Item = f64>) -> Vec<f64> {
    // the golden ratio spreads multiples of itself over the unit interval
    let sign = |j: usize| if (j as f64 * 0.618_033_988_749_895).fract() < 0.5 { 1.0 } else { -1.0 };
    x.iter().zip(weights).enumerate().map(|(j, (x, weight))| x + sign(j) * weight).collect()
}

/// Which of so many points are looked at for noise.
pub fn samples(points: usize) -> impl Iterator<Item = usize> {
    (0..points).step_by(points.div_ceil(SAMPLES).max(1))
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
        let mut flatness = Flatness::new(1e-7, vec![Some(1e-7); 2]);
        flatness.see(&[0.0, f64::NAN]);
        flatness.see(&[1.0, 3.0]);
        let flatness = flatness.ready();
        // s²/4 is the largest distance of x² from its chord over s: 1e-3 for 15.8 parts
        assert_eq!(flatness.parts(|theta| vec![theta * theta, f64::NAN]), 16.0);
        assert_eq!(flatness.parts(|theta| vec![theta, 3.0 + 1e-9 * theta * theta]), 1.0);
    }

    #[test]
    fn a_column_that_only_rounding_moves_needs_no_points() {
        let mut flatness = Flatness::new(1e-7, vec![Some(1e-7)]);
        flatness.see(&[1.0]);
        flatness.see(&[1.0 + 1e-15]);
        let flatness = flatness.ready();
        assert_eq!(flatness.parts(|theta| vec![1.0 + 1e-15 * (40.0 * theta).sin()]), 1.0);
    }

    #[test]
    fn an_output_is_as_smooth_as_the_state_it_comes_from() {
        // a small quantity, and what is left of a constraint
        let mut flatness = Flatness::new(1e-7, vec![None; 2]);
        for x in [0.0, 1e-9] {
            flatness.see(&[x, x]);
            flatness.compare(&[x, x], &[x + 1e-16, x + 1e-7]);
        }
        let flatness = flatness.ready();
        assert_eq!(flatness.parts(|theta| vec![1e-9 * theta * theta, 0.0]), 16.0);
        assert_eq!(flatness.parts(|theta| vec![0.0, 1e-9 * (40.0 * theta).sin()]), 1.0);
        assert_eq!(nudged(&[1.0, 1.0, 1.0], [0.5, 0.5, 0.25].into_iter()), [1.5, 0.5, 1.25]);
        assert!(samples(0).count() == 0 && samples(7).count() == 7 && (8..=SAMPLES).contains(&samples(1000).count()));
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
