//! Error and time of one solver on a ladder of tolerances, and the time that an error costs.

/// A run to the end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunPoint {
    /// Relative tolerance.
    pub rtol: f64,
    /// Largest error at the end.
    pub error: f64,
    /// Shortest time inside the solver.
    pub seconds: f64,
    /// Accepted steps.
    pub steps: u64,
}

/// What a solver did; runs that did not reach the end are missing.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkPrecision {
    /// Code and form, or method.
    pub solver: String,
    /// Is it Daedal?
    pub ours: bool,
    /// Its runs, from loose to tight tolerances.
    pub points: Vec<RunPoint>,
    /// Tolerances at which it gave up.
    pub failed: Vec<f64>,
}

impl WorkPrecision {
    /// Time that an error costs, by the runs that no other run of this solver beats in both error and time: log(time) is interpolated over
    /// log(error) between them. An error that the quickest run does not make costs the time of that run; one that no run reaches costs nothing
    /// that could be told.
    pub fn time(&self, error: f64) -> Option<f64> {
        let front = self.front();
        let reached = front.iter().position(|point| point.error <= error)?;
        let tight = front[reached];
        let Some(loose) = reached.checked_sub(1).map(|before| front[before]) else { return Some(tight.seconds) };
        let part = (error / loose.error).ln() / (tight.error / loose.error).ln();
        Some(loose.seconds * (tight.seconds / loose.seconds).powf(part))
    }

    /// Runs from quick to accurate.
    fn front(&self) -> Vec<RunPoint> {
        let mut sorted = self.points.clone();
        sorted.sort_by(|a, b| a.seconds.total_cmp(&b.seconds).then(a.error.total_cmp(&b.error)));
        let mut front: Vec<RunPoint> = Vec::new();
        for point in sorted {
            if front.last().is_none_or(|last| point.error < last.error) {
                front.push(point);
            }
        }
        front
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_lie_on_the_line_between_runs() {
        let point = |error, seconds| RunPoint { rtol: error, error, seconds, steps: 1 };
        // the run with the error 1e-5 is beaten by the next one
        let points = vec![point(1e-4, 1.0), point(1e-5, 8.0), point(1e-6, 4.0)];
        let curve = WorkPrecision { solver: String::new(), ours: false, points, failed: Vec::new() };
        assert!((curve.time(1e-5).unwrap() - 2.0).abs() < 1e-12);
        assert_eq!((curve.time(1e-3), curve.time(1e-7)), (Some(1.0), None));
    }
}
