//! The first zero of several functions in an interval: modified secants that keep a bracket, as IDA finds roots.
//!
//! The returned time is the far end of the last bracket, where the function has changed its sign already: who goes on from there does
//! not find the same zero again. Hiebert & Shampine (1980); Wunderlich, thesis (2008), 6.3.

/// More iterations than brackets of doubles can be halved.
const MOST_ITERATIONS: u32 = 200;

/// A zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Root {
    /// When.
    pub t: f64,
    /// Which function.
    pub function: usize,
}

/// Units of rounding to which times are found: 100 U (|t| + |h|).
pub fn time_tolerance(t: f64, h: f64) -> f64 {
    100.0 * f64::EPSILON * (t.abs() + h.abs())
}

/// The first zero in (low, high] of functions whose values at the ends are `at_low` and `at_high`. `evaluate` writes the values at
/// another time; `middle` is scratch space. The buffers hold the values around the zero afterwards.
pub fn first_zero(
    (mut low, mut high): (f64, f64),
    at_low: &mut [f64],
    at_high: &mut [f64],
    middle: &mut [f64],
    tolerance: f64,
    evaluate: &mut dyn FnMut(f64, &mut [f64]),
) -> Option<Root> {
    let zero = |g: &[f64]| g.iter().position(|g| *g == 0.0);
    let Some(mut leading) = leading(at_low, at_high) else {
        return zero(at_high).map(|function| Root { t: high, function });
    };
    // which end was moved last, and before
    let (mut side, mut before, mut alpha) = (Side::None, Side::Unknown, 1.0);
    for _ in 0..MOST_ITERATIONS {
        if high - low <= tolerance {
            break;
        }
        if side == before {
            alpha *= if side == Side::Low { 2.0 } else { 0.5 };
        } else {
            alpha = 1.0;
        }
        let width = high - low;
        let mut t = high - width * at_high[leading] / (at_high[leading] - alpha * at_low[leading]);
        let parts = width / tolerance;
        let inset = if parts > 5.0 { 0.1 } else { 0.5 / parts };
        if (t - low).abs() < 0.5 * tolerance {
            t = low + inset * width;
        }
        if (high - t).abs() < 0.5 * tolerance {
            t = high - inset * width;
        }
        if !(t > low && t < high) {
            t = low + 0.5 * width;
        }
        evaluate(t, middle);
        before = side;
        if let Some(first) = self::leading(at_low, middle) {
            (high, leading, side) = (t, first, Side::High);
            at_high.copy_from_slice(middle);
        } else if let Some(function) = zero(middle) {
            at_high.copy_from_slice(middle);
            return Some(Root { t, function });
        } else {
            (low, side) = (t, Side::Low);
            at_low.copy_from_slice(middle);
        }
    }
    Some(Root { t: high, function: leading })
}

/// Which end of the bracket was moved.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Unknown,
    None,
    Low,
    High,
}

/// The function with a change of sign whose secant has the first zero.
fn leading(low: &[f64], high: &[f64]) -> Option<usize> {
    let mut first: Option<(usize, f64)> = None;
    for (j, (a, b)) in low.iter().zip(high).enumerate() {
        // products of small numbers vanish
        if (*a < 0.0 && *b > 0.0) || (*a > 0.0 && *b < 0.0) {
            let nearness = (b / (b - a)).abs();
            if first.is_none_or(|(_, most)| nearness > most) {
                first = Some((j, nearness));
            }
        }
    }
    first.map(|(j, _)| j)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first zero in [0, 1] and the number of evaluations inside.
    fn search(functions: &[&dyn Fn(f64) -> f64]) -> (Option<Root>, u32) {
        let at = |t: f64| functions.iter().map(|f| f(t)).collect::<Vec<_>>();
        let (mut low, mut high, mut middle) = (at(0.0), at(1.0), at(0.0));
        let mut count = 0;
        let mut evaluate = |t: f64, g: &mut [f64]| {
            count += 1;
            g.copy_from_slice(&at(t));
        };
        let tolerance = time_tolerance(1.0, 1.0);
        let root = first_zero((0.0, 1.0), &mut low, &mut high, &mut middle, tolerance, &mut evaluate);
        (root, count)
    }

    #[test]
    fn zeros_are_found_to_the_tolerance_with_few_evaluations() {
        // the counts are those of the published algorithm
        #[allow(clippy::type_complexity)] // a table, written out where it is read
        let cases: [(&dyn Fn(f64) -> f64, f64, u32); 3] = [
            (&|t| t.powi(3) - 0.2, 0.2_f64.powf(1.0 / 3.0), 14),
            (&|t| (-40.0 * t).exp() - 1e-6, 1e6_f64.ln() / 40.0, 44),
            (&|t| 1e-3 - t.powi(9), 1e-3_f64.powf(1.0 / 9.0), 24),
        ];
        for (f, exact, count) in cases {
            let (root, evaluations) = search(&[f]);
            let t = root.unwrap().t;
            assert!((t - exact).abs() <= 2.0 * time_tolerance(1.0, 1.0), "{t} instead of {exact}");
            assert_eq!(evaluations, count);
        }
    }

    #[test]
    fn the_first_of_several_zeros_is_found() {
        let (root, _) = search(&[&|t| 0.31 - t, &|t| 0.3 - t, &|t| (20.0 * t).cos() + 2.0]);
        let root = root.unwrap();
        assert!(root.function == 1 && (root.t - 0.3).abs() < 1e-12 && root.t >= 0.3, "{root:?}");
    }

    #[test]
    fn a_zero_exactly_at_the_end_counts_and_none_is_none() {
        let (root, count) = search(&[&|t| 1.0 - t]);
        assert_eq!((root, count), (Some(Root { t: 1.0, function: 0 }), 0));
        assert_eq!(search(&[&|t| 2.0 - t]).0, None);
    }
}
