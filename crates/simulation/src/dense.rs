//! Values of a run at any time: those of the polynomial over the step there, with the outputs computed from them. At a switch, and where a
//! formula jumps in time, the value behind it counts.

use crate::outcome::Outcome;
use crate::record::{self, Stretch};
use daedal::Save;

/// Why there are no values at some times.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NotDense {
    /// Polynomials were not kept.
    #[error("values between the steps were not kept: solve with save = dense")]
    NotKept,
    /// A time outside of the run.
    #[error("t = {t:?} lies outside of the run, which goes from {from:?} to {to:?}")]
    Outside {
        /// The time.
        t: f64,
        /// Start of the run.
        from: f64,
        /// Where it ended.
        to: f64,
    },
}

impl Outcome {
    /// The columns of the run file at these times, one row for each; the column of the mode is the last one.
    ///
    /// ```
    /// use daedal_simulation::{Model, SaveSetting, Settings, Unwatched, solve};
    /// let settings = Settings { save: SaveSetting::Dense, ..Settings::default() };
    /// let outcome = solve(&Model::reference("pendulum")?, &settings, &mut Unwatched)?;
    /// let row = &outcome.at(&[0.25])?[0];
    /// assert!((row[0].hypot(row[1]) - 1.0).abs() < 1e-6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn at(&self, times: &[f64]) -> Result<Vec<Vec<f64>>, NotDense> {
        let computed = self.computed.as_ref().filter(|_| self.save == Save::Dense).ok_or(NotDense::NotKept)?;
        let record::RecordedPoints { mut table, stretches, .. } = record::points(self, computed);
        let (from, to) = (self.interval.0, computed.t);
        let sense = if to < from { -1.0 } else { 1.0 };
        let is_inside = |t: f64| sense * from <= sense * t && sense * t <= sense * to;
        let mut rows = Vec::with_capacity(times.len());
        for &t in times {
            if !is_inside(t) {
                return Err(NotDense::Outside { t, from, to });
            }
            let (mode, x, rates) = stretches
                .iter()
                .rev()
                .find_map(|stretch| inside(stretch, t, sense))
                .ok_or(NotDense::Outside { t, from, to })?;
            let mut row = table.at(mode, t, &x, rates.as_deref()).to_vec();
            if computed.switching.is_some() {
                row.push(mode as f64);
            }
            rows.push(row);
        }
        Ok(rows)
    }
}

/// Mode, state and derivative at a time, if the stretch holds it.
fn inside(stretch: &Stretch, t: f64, sense: f64) -> Option<(usize, Vec<f64>, Option<Vec<f64>>)> {
    let begins = stretch.points.first().is_some_and(|first| sense * first.0 <= sense * t);
    // the end of a step is the point itself, not its polynomial
    if let Some((_, x, rates)) = stretch.points.iter().rev().find(|point| point.0 == t) {
        return Some((stretch.mode, x.clone(), rates.clone()));
    }
    let k = stretch.segments.partition_point(|segment| sense * segment.t1 < sense * t);
    let segment = stretch.segments.get(k).filter(|_| begins)?;
    let (x, rates) = stretch.inside(segment, t);
    Some((stretch.mode, x, Some(rates)))
}
