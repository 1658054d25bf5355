//! Logarithmic axes: which part of the positive numbers they show, and where their marks stand.

/// Marks of an axis at most.
const MOST_MARKS: i32 = 8;
/// Below this many decades, marks stand at 1, 2 and 5 of each, or at more digits where these are too few.
const FEW_DECADES: f64 = 2.2;
/// Shortest axis, in decades.
const LEAST: f64 = 0.6;
/// Numbers below count as zero, which stands at the lower end.
const SMALLEST: f64 = 1e-20;

/// A logarithmic axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogAxis {
    /// Its ends, as powers of ten.
    low: f64,
    high: f64,
}

impl LogAxis {
    /// An axis that shows all these numbers; those that are not positive stand at its lower end.
    pub fn of(numbers: impl Iterator<Item = f64>) -> Self {
        let mut ends: Option<(f64, f64)> = None;
        let mut zero = false;
        for x in numbers.filter(|x| x.is_finite()) {
            if x < SMALLEST {
                zero = true;
                continue;
            }
            let x = x.log10();
            ends = Some(ends.map_or((x, x), |(low, high)| (low.min(x), high.max(x))));
        }
        let (low, high) = ends.unwrap_or((-1.0, 0.0));
        let wider = (0.5 * (LEAST - (high - low))).max(0.0) + 0.05 * (high - low);
        // zero stands apart from the smallest number
        let below = if zero { 0.1 * (high - low).max(LEAST) } else { 0.0 };
        LogAxis { low: low - wider - below, high: high + wider }
    }

    /// Place of a number, from 0 at the lower to 1 at the upper end.
    pub fn place(&self, x: f64) -> f64 {
        if x < SMALLEST {
            return 0.0;
        }
        ((x.log10() - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    /// Numbers that have a mark, with their text.
    pub fn marks(&self) -> Vec<(f64, String)> {
        let (first, last) = (self.low.ceil() as i32, self.high.floor() as i32);
        let mut marks = Vec::new();
        if self.high - self.low > FEW_DECADES {
            let pace = 1 + (last - first) / MOST_MARKS;
            for k in (first..=last).filter(|k| k.rem_euclid(pace) == 0) {
                marks.push((10.0_f64.powi(k), text(1, k)));
            }
            return marks;
        }
        for digits in [&[1, 2, 5][..], &[1, 2, 3, 5, 7]] {
            marks.clear();
            for k in first - 1..=last {
                for &digit in digits {
                    let x = f64::from(digit) * 10.0_f64.powi(k);
                    if (self.low..=self.high).contains(&x.log10()) {
                        marks.push((x, text(digit, k)));
                    }
                }
            }
            if marks.len() > 2 {
                break;
            }
        }
        marks
    }
}

/// digit · 10^k, as people write it.
fn text(digit: i32, k: i32) -> String {
    match (digit, k) {
        (_, 0..=3) => format!("{}", i64::from(digit) * 10_i64.pow(k.unsigned_abs())),
        (_, -2..0) => format!("{:.*}", k.unsigned_abs() as usize, f64::from(digit) * 10.0_f64.powi(k)),
        (1, _) => format!("10{}", raised(k)),
        _ => format!("{digit}·10{}", raised(k)),
    }
}

fn raised(k: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    k.to_string().chars().map(|c| c.to_digit(10).map_or('⁻', |digit| DIGITS[digit as usize])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_inside_in_their_order_and_decades_are_equal() {
        let scale = LogAxis::of([1e-8, 1e-2, 1e-5].into_iter());
        let places = [1e-8, 1e-5, 1e-2].map(|x| scale.place(x));
        assert!(0.0 < places[0] && places[2] < 1.0, "{places:?}");
        assert!((places[1] - places[0] - (places[2] - places[1])).abs() < 1e-12, "{places:?}");
    }

    #[test]
    fn zeros_stand_at_the_lower_end_apart_from_the_rest() {
        let scale = LogAxis::of([0.0, 1e-8, 1e-2].into_iter());
        assert_eq!(scale.place(0.0), 0.0);
        assert!(scale.place(1e-8) > 0.08);
        let nothing = LogAxis::of([0.0, f64::NAN].into_iter());
        assert_eq!(nothing.place(0.0), 0.0);
    }

    #[test]
    fn marks_are_few_and_lie_on_the_axis() {
        for (low, high) in [(1e-16, 1.0), (1e-3, 2e-3), (1.0, 1.0), (3e-5, 4e-3), (1e-9, 1e-3), (2.6e-4, 8.5e-4)] {
            let scale = LogAxis::of([low, high].into_iter());
            let marks = scale.marks();
            assert!((2..=9).contains(&marks.len()), "{low:e} to {high:e}: {marks:?}");
            assert!(marks.iter().all(|(x, _)| (0.0..=1.0).contains(&scale.place(*x))), "{marks:?}");
        }
    }

    #[test]
    fn marks_are_written_as_people_do() {
        assert_eq!([text(1, 0), text(2, 1), text(5, -2), text(1, -13)], ["1", "20", "0.05", "10⁻¹³"]);
        assert_eq!(text(2, -4), "2·10⁻⁴");
    }
}
