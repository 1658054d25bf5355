//! Step size and order of extrapolation methods, chosen for the least work per unit of time.
//!
//! Line j costs A_j evaluations so far and proposes the step size H_j from its error, so W_j = A_j/H_j is its work per unit of time. The
//! column K that a step aims at, and the next step size, follow from the smallest W. Deuflhard, Numer. Math. 41 (1983); Hairer, Nørsett &
//! Wanner, Solving ODEs I, II.9; with the constants of MEXX, Lubich, Nowak, Pöhle & Engstler, ZIB SC 92-12.

use super::tableau::Sequence;

/// Evaluations that a step costs beside its substeps.
const OVERHEAD: f64 = 4.0;
/// A column is left for the one before if that has less work than this part.
const WORTHWHILE: f64 = 0.9;
/// Errors aim at this part of the tolerance.
const AIM: f64 = 0.8;
/// Safety factor of step sizes.
const SAFETY: f64 = 0.93;
/// The tableau has no more lines than this.
pub(super) const MOST_LINES: usize = 12;

/// What is decided after a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum OrderVerdict {
    /// One more line.
    Continue,
    /// The step is accepted; size of the next one.
    Accept(f64),
    /// Try again with this size.
    Reject(f64),
}

/// What is known about the step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circumstances {
    pub H: f64,
    pub after_rejection: bool,
    /// Is it the first or the last step? Its size says little, so every line may be the last.
    pub end: bool,
}

/// The control; lines and columns are counted from 1.
#[derive(Clone, Debug)]
pub(super) struct ExtrapolationControl {
    sequence: Sequence,
    /// K
    target: usize,
    /// the error of the last line, 0.8 at least
    limit: f64,
    H: [f64; MOST_LINES + 1],
    W: [f64; MOST_LINES + 1],
    work: [f64; MOST_LINES + 1],
    /// the highest column that was accepted
    pub highest: usize,
    /// the column that was accepted last
    pub columns: usize,
}

impl ExtrapolationControl {
    pub fn new(sequence: Sequence) -> Self {
        let mut work = [0.0; MOST_LINES + 1];
        work[0] = OVERHEAD;
        for (j, &n) in sequence.numbers.iter().enumerate() {
            work[j + 1] = work[j] + f64::from(n);
        }
        ExtrapolationControl {
            sequence,
            target: 3,
            limit: 0.0,
            H: [0.0; MOST_LINES + 1],
            W: [0.0; MOST_LINES + 1],
            work,
            highest: 0,
            columns: 0,
        }
    }

    /// The column for a first step with this tolerance.
    pub fn restart(&mut self, rtol: f64) {
        let wanted = (1.5 - 0.6 * rtol.log10()).floor();
        self.target = (wanted.max(3.0) as usize).min(self.largest_target() - 1);
    }

    /// Begin a new step.
    pub fn begin(&mut self) {
        self.limit = f64::INFINITY;
    }

    /// K leaves room for one more line.
    fn largest_target(&self) -> usize {
        self.sequence.numbers.len() - 1
    }

    /// By how much one more line reduces the error, at most: n_j for expansions in h, (n_j/2)² for those in h².
    fn gain(&self, j: usize) -> f64 {
        let n = f64::from(self.sequence.numbers[j - 1]);
        if self.sequence.power == 1 { n } else { (0.5 * n).powi(2) }
    }

    /// What to do after line j ≥ 2 with this error.
    pub fn judge(&mut self, j: usize, error: f64, step: Circumstances) -> OrderVerdict {
        if !(error < self.limit) {
            // the columns do not converge: the step is too long for an order to be chosen
            return OrderVerdict::Reject(0.5 * step.H);
        }
        self.limit = if error > AIM { error } else { AIM };
        self.propose(j, error, step.H);
        let K = self.target;
        let may_end = step.end || j >= K || (j + 1 == K && !step.after_rejection);
        if error <= 1.0 && may_end {
            return OrderVerdict::Accept(self.accept(j, step));
        }
        let hopeless = if j == K + 1 {
            true
        } else if j == K {
            error > self.gain(K + 1)
        } else {
            j + 1 == K && !step.end && !step.after_rejection && error > self.gain(K + 1) * self.gain(K)
        };
        if hopeless { OrderVerdict::Reject(self.reject(j)) } else { OrderVerdict::Continue }
    }

    /// H_j and W_j.
    fn propose(&mut self, j: usize, error: f64, H: f64) {
        // err_j = O(H^j) for expansions in h with one power lost to the constraints, O(H^(2j−1)) for those in h²
        let exponent = if self.sequence.power == 1 { j - 1 } else { 2 * j - 1 };
        let root = 1.0 / exponent as f64;
        let F = 0.1_f64.powf(root);
        self.H[j] = H / (4.0 / F).min(F.max((error / AIM).powf(root) / SAFETY));
        self.W[j] = self.work[j] / self.H[j];
    }

    /// The step is accepted in line j.
    fn accept(&mut self, j: usize, step: Circumstances) -> f64 {
        (self.columns, self.highest) = (j, self.highest.max(j));
        let (W, most) = (&self.W, self.largest_target());
        let mut K = if j == 2 {
            if step.after_rejection { 2 } else { 3 }
        } else if j <= self.target {
            if W[j - 1] < WORTHWHILE * W[j] {
                j - 1
            } else if W[j] < W[j - 1] {
                (j + 1).min(most)
            } else {
                j
            }
        } else {
            let K = if j > 3 && W[j - 2] < WORTHWHILE * W[j - 1] { j - 2 } else { j - 1 };
            if W[j] < W[K] { j.min(most) } else { K }
        };
        let next = if step.after_rejection {
            K = K.min(j);
            step.H.min(self.H[K])
        } else if K <= j {
            self.H[K]
        } else {
            self.H[j] * self.work[j + 1] / self.work[j]
        };
        self.target = K;
        next
    }

    /// The step is rejected in line j.
    fn reject(&mut self, j: usize) -> f64 {
        self.target = self.target.min(j);
        let K = self.target;
        if K > 2 && self.W[K - 1] < WORTHWHILE * self.W[K] {
            self.target = K - 1;
        }
        self.H[self.target]
    }
}

#[cfg(test)]
mod tests {
    use super::super::EULER;
    use super::*;

    fn step(after_rejection: bool, end: bool) -> Circumstances {
        Circumstances { H: 0.1, after_rejection, end }
    }

    #[test]
    fn the_first_column_follows_from_the_tolerance() {
        let mut control = ExtrapolationControl::new(EULER);
        for (rtol, K) in [(1e-2, 3), (1e-4, 3), (1e-6, 5), (1e-8, 6), (1e-10, 7), (1e-15, 10)] {
            control.restart(rtol);
            assert_eq!(control.target, K, "{rtol:e}");
        }
    }

    #[test]
    fn a_first_step_ends_in_the_first_line_that_is_good_enough_and_another_one_before_its_target() {
        let mut control = ExtrapolationControl::new(EULER);
        control.restart(1e-8);
        control.begin();
        assert!(matches!(control.judge(2, 0.5, step(false, true)), OrderVerdict::Accept(_)));
        control.restart(1e-8);
        control.begin();
        for (j, error) in [(2, 1e-1), (3, 1e-2), (4, 1e-3)] {
            assert_eq!(control.judge(j, error, step(false, false)), OrderVerdict::Continue);
        }
        assert!(matches!(control.judge(5, 1e-4, step(false, false)), OrderVerdict::Accept(_)));
    }

    #[test]
    fn errors_that_grow_halve_the_step_and_hopeless_ones_are_not_followed() {
        let mut control = ExtrapolationControl::new(EULER);
        control.restart(1e-4);
        control.begin();
        assert_eq!(control.judge(2, 5.0, step(true, false)), OrderVerdict::Continue);
        assert_eq!(control.judge(3, 6.0, step(true, false)), OrderVerdict::Reject(0.05));
        control.begin();
        // K = 3: n₄ n₃ = 20
        let OrderVerdict::Reject(next) = control.judge(2, 21.0, step(false, false)) else { panic!() };
        assert!((next / (0.1 * 0.93 * 0.8 / 21.0) - 1.0).abs() < 1e-12, "{next}");
    }
}
