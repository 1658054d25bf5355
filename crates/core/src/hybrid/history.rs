//! Switches in short succession: chattering, and accumulation at a finite time.

/// Ratios of distances that must agree before an accumulation is believed.
const ENOUGH: usize = 6;
/// Ratios that agree differ by less than this.
const SAME_RATIO: f64 = 0.1;

/// When the last switches happened.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// the last three of them
    recent: Vec<f64>,
    /// of every transition: its last times, the newest at the end, and how often it happened
    transitions: Vec<(Vec<f64>, u64)>,
}

/// Switches that become infinitely many before some time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accumulation {
    /// That time.
    pub limit: f64,
    /// Ratio of successive distances.
    pub ratio: f64,
    /// How often the transition has happened.
    pub count: u64,
}

impl History {
    /// For a number of transitions.
    pub fn new(transitions: usize) -> Self {
        History { recent: Vec::new(), transitions: vec![(Vec::new(), 0); transitions] }
    }

    /// A switch; is it one of three in short succession?
    pub fn switched(&mut self, t: f64, transition: Option<usize>, short: f64) -> bool {
        if self.recent.len() == 3 {
            self.recent.remove(0);
        }
        self.recent.push(t);
        if let Some((times, count)) = transition.and_then(|j| self.transitions.get_mut(j)) {
            if times.len() == ENOUGH + 2 {
                times.remove(0);
            }
            times.push(t);
            *count += 1;
        }
        matches!(self.recent[..], [a, b, c] if b - a < short && c - b < short)
    }

    /// Forget what was before, as after sliding.
    pub fn forget(&mut self) {
        self.recent.clear();
        self.transitions.iter_mut().for_each(|(times, _)| times.clear());
    }

    /// Do the times of a transition accumulate? Their distances shrink by the same ratio each time.
    pub fn accumulation(&self, transition: usize) -> Option<Accumulation> {
        let (times, count) = self.transitions.get(transition)?;
        if times.len() < ENOUGH + 2 {
            return None;
        }
        let distances: Vec<f64> = times.windows(2).map(|t| t[1] - t[0]).collect();
        if distances.iter().any(|d| *d <= 0.0) {
            return None;
        }
        let ratios: Vec<f64> = distances.windows(2).map(|d| d[1] / d[0]).collect();
        let (least, most) = ratios.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), r| (a.min(*r), b.max(*r)));
        if most >= 1.0 || most - least > SAME_RATIO {
            return None;
        }
        // the product of all ratios is exacter than each of them
        let ratio = (distances[ENOUGH] / distances[0]).powf(1.0 / ENOUGH as f64);
        let left = distances[ENOUGH] * ratio / (1.0 - ratio);
        Some(Accumulation { limit: times[ENOUGH + 1] + left, ratio, count: *count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_switches_in_short_succession_are_chattering() {
        let mut history = History::new(0);
        let chatters: Vec<bool> = [0.0, 1.0, 1.1, 1.2, 2.0].iter().map(|t| history.switched(*t, None, 0.2)).collect();
        assert_eq!(chatters, [false, false, false, true, false]);
        history.forget();
        assert!(!history.switched(2.1, None, 1.0) && !history.switched(2.2, None, 1.0));
    }

    #[test]
    fn geometric_distances_accumulate_and_equal_ones_do_not() {
        let mut history = History::new(2);
        let (mut t, mut distance) = (0.0, 1.0);
        for _ in 0..20 {
            history.switched(t, Some(0), 0.0);
            t += distance;
            distance *= 0.7;
        }
        let accumulation = history.accumulation(0).unwrap();
        assert!((accumulation.limit - 1.0 / 0.3).abs() < 1e-9 && (accumulation.ratio - 0.7).abs() < 1e-9);
        for k in 0..20 {
            history.switched(f64::from(k), Some(1), 0.0);
        }
        assert_eq!(history.accumulation(1), None);
    }
}
