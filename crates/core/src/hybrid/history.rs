//! Switches in short succession: chattering, and accumulation at a finite time.

/// Ratios of distances that must agree before an accumulation is believed.
const ENOUGH: usize = 6;
/// Ratios that agree differ by less than this.
const SAME_RATIO: f64 = 0.1;
/// Ratios above this are not told from equal distances, which rounding makes a little shorter each time.
const EQUAL: f64 = 0.999;

/// When the last switches happened.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// the last three of them, and whether nothing but noise was seen since the one before
    recent: Vec<(f64, bool)>,
    /// of every transition: its last times and states, the newest at the end, and how often it happened
    transitions: Vec<(Vec<Visit>, u64)>,
}

/// Time and state of a switch, in the mode that was left.
type Visit = (f64, Vec<f64>);

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

    /// A switch; is it one of three in short succession? Short is what lasts less than a given time, or else what is `lost` in the
    /// uncertainty of switching functions.
    pub fn switched(&mut self, t: f64, transition: Option<usize>, short: Option<f64>, lost: bool, x: &[f64]) -> bool {
        if self.recent.len() == 3 {
            self.recent.remove(0);
        }
        self.recent.push((t, lost));
        if let Some((visits, count)) = transition.and_then(|j| self.transitions.get_mut(j)) {
            let mut visit = if visits.len() == ENOUGH + 2 { visits.remove(0) } else { Visit::default() };
            visit.0 = t;
            visit.1.clear();
            visit.1.extend_from_slice(x);
            visits.push(visit);
            *count += 1;
        }
        let [a, b, c] = self.recent[..] else { return false };
        match short {
            Some(short) => b.0 - a.0 < short && c.0 - b.0 < short,
            None => b.1 && c.1,
        }
    }

    /// Forget what was before, as after sliding.
    pub fn forget(&mut self) {
        self.recent.clear();
        self.transitions.iter_mut().for_each(|(visits, _)| visits.clear());
    }

    /// Time and state of a transition before its last one: the latest that is at least so long ago, or else the oldest that is known.
    pub fn earlier(&self, transition: usize, ago: f64) -> Option<(f64, &[f64])> {
        let (last, before) = self.transitions.get(transition)?.0.split_last()?;
        let found = before.iter().rev().find(|(t, _)| last.0 - t >= ago).or(before.first())?;
        Some((found.0, &found.1))
    }

    /// Do the times of a transition accumulate? Their distances shrink by the same ratio each time.
    pub fn accumulation(&self, transition: usize) -> Option<Accumulation> {
        let (visits, count) = self.transitions.get(transition)?;
        if visits.len() < ENOUGH + 2 {
            return None;
        }
        let distances: Vec<f64> = visits.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
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
        if ratio > EQUAL {
            return None;
        }
        Some(Accumulation { limit: visits[ENOUGH + 1].0 + left, ratio, count: *count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_switches_in_short_succession_are_chattering() {
        let mut history = History::new(0);
        let mut chatters = |t: f64, lost: bool, short: Option<f64>| history.switched(t, None, short, lost, &[]);
        let found = [0.0, 1.0, 1.1, 1.2, 2.0].map(|t| chatters(t, false, Some(0.2)));
        assert_eq!(found, [false, false, false, true, false]);
        // without a time it counts what was lost in noise, in whatever unit of time
        let found = [2.001, 2.002, 20.0, 300.0, 4000.0].map(|t| chatters(t, t > 3.0 && t < 1000.0, None));
        assert_eq!(found, [false, false, false, true, false]);
        history.forget();
        assert!(!history.switched(2.1, None, Some(1.0), true, &[]) && !history.switched(2.2, None, None, true, &[]));
    }

    #[test]
    fn geometric_distances_accumulate_and_equal_ones_do_not() {
        let mut history = History::new(2);
        let (mut t, mut distance) = (0.0, 1.0);
        for _ in 0..20 {
            history.switched(t, Some(0), None, false, &[t]);
            t += distance;
            distance *= 0.7;
        }
        let accumulation = history.accumulation(0).unwrap();
        assert!((accumulation.limit - 1.0 / 0.3).abs() < 1e-9 && (accumulation.ratio - 0.7).abs() < 1e-9);
        // the last distance but one is longer than the rest, that of the oldest is the longest that is known
        let newest = t - distance / 0.7;
        let (t, x) = history.earlier(0, distance).unwrap();
        assert!((newest - t - distance / 0.49).abs() < 1e-12 && x == [t]);
        assert!(history.earlier(0, 1e3).unwrap().0 < history.earlier(0, 10.0 * distance).unwrap().0);
        for k in 0..20 {
            history.switched(f64::from(k), Some(1), None, false, &[]);
        }
        assert_eq!(history.accumulation(1), None);
        for k in 0..20 {
            history.switched(f64::from(k) - 1e-8 * f64::from(k * k), Some(1), None, false, &[]);
        }
        assert_eq!(history.accumulation(1), None);
    }
}
