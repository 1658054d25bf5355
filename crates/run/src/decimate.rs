//! Fewer points with the same look: the points are divided into buckets, and of each bucket every curve keeps its first,
//! smallest, largest and last value (M4 aggregation: Jugel, Jerzak, Hackenbroich, Markl, Proceedings of the VLDB
//! Endowment 7 (2014) 797–808). With at least as many buckets as pixels the picture of a line is the same.
//!
//! All curves share the times, so the smallest and the largest value stand at two inner times of their bucket, in the
//! order in which they occur; they may be off by one bucket in time, never in value.
//!
//! Buckets have the same number of rows, so that parts with many steps keep their detail. Where most rows stand in a small part of the time,
//! as in a run that chatters, half of the buckets have the same length of time instead, so that the other parts keep theirs.

/// Which rows a table keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buckets {
    /// where buckets begin, and the end of the last one; empty if all rows are kept
    bounds: Vec<usize>,
}

/// Rows of each bucket.
const ROWS: usize = 4;

impl Buckets {
    /// For `rows` rows of which at most `most` shall stay.
    pub fn new(rows: usize, most: usize) -> Self {
        let count = (most / ROWS).max(1);
        // a bucket of four rows or fewer saves nothing
        if rows <= most || rows <= ROWS * count {
            return Buckets { bounds: Vec::new() };
        }
        Buckets { bounds: (0..=count).map(|k| (k as u128 * rows as u128 / count as u128) as usize).collect() }
    }

    /// The same for rows whose times are crowded: half of the buckets divide the rows, half the time.
    pub fn crowded(times: &[f64], most: usize) -> Self {
        let (rows, count) = (times.len(), (most / ROWS / 2).max(1));
        if rows <= most || rows <= 2 * ROWS * count {
            return Buckets { bounds: Vec::new() };
        }
        let (first, last) = (times[0], times[rows - 1]);
        let by_rows = (0..=count).map(|k| (k as u128 * rows as u128 / count as u128) as usize);
        let by_time = (1..count).map(|k| {
            let t = first + (last - first) * k as f64 / count as f64;
            times.partition_point(|&time| time < t)
        });
        let mut bounds: Vec<usize> = by_rows.chain(by_time).collect();
        bounds.sort_unstable();
        bounds.dedup();
        Buckets { bounds }
    }

    /// Rows that stay if all curves must show the same ones: the ends of each bucket.
    pub fn ends(&self, rows: usize) -> Vec<usize> {
        if !self.reduces() {
            return (0..rows).collect();
        }
        let mut kept = Vec::new();
        for bucket in self.bounds.windows(2) {
            if bucket[1] - bucket[0] <= ROWS {
                kept.extend(bucket[0]..bucket[1]);
            } else {
                kept.extend([bucket[0], bucket[1] - 1]);
            }
        }
        kept
    }

    /// Does it leave anything out?
    pub fn reduces(&self) -> bool {
        !self.bounds.is_empty()
    }

    /// The times that stay: four of each bucket, evenly spread over its rows.
    pub fn times(&self, times: &[f64]) -> Vec<f64> {
        if !self.reduces() {
            return times.to_vec();
        }
        let mut kept = Vec::new();
        for bucket in self.bounds.windows(2) {
            let last = bucket[1] - bucket[0] - 1;
            if last < ROWS {
                kept.extend_from_slice(&times[bucket[0]..bucket[1]]);
                continue;
            }
            kept.extend([0, last / 3, 2 * last / 3, last].map(|k| times[bucket[0] + k]));
        }
        kept
    }

    /// First, smallest, largest and last value of each bucket, the inner two in the order in which they occur.
    /// NaN is neither small nor large.
    pub fn values(&self, values: &[f64]) -> Vec<f64> {
        if !self.reduces() {
            return values.to_vec();
        }
        let mut kept = Vec::new();
        for bucket in self.bounds.windows(2) {
            let values = &values[bucket[0]..bucket[1]];
            if values.len() <= ROWS {
                kept.extend_from_slice(values);
                continue;
            }
            let (mut low, mut high) = (0, 0);
            for (k, &x) in values.iter().enumerate() {
                if x < values[low] || values[low].is_nan() {
                    low = k;
                }
                if x > values[high] || values[high].is_nan() {
                    high = k;
                }
            }
            kept.extend([values[0], values[low.min(high)], values[low.max(high)], values[values.len() - 1]]);
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn few_points_stay_as_they_are() {
        let buckets = Buckets::new(5, 20);
        assert!(!buckets.reduces());
        assert_eq!(buckets.values(&[1.0, 2.0, 3.0, 4.0, 5.0]), [1.0, 2.0, 3.0, 4.0, 5.0]);
    }

    #[test]
    fn a_single_peak_among_a_million_points_survives() {
        let n = 1_000_000;
        let mut values = vec![0.0; n];
        values[654_321] = 7.0;
        values[654_322] = -3.0;
        let times: Vec<f64> = (0..n).map(|k| k as f64).collect();
        let buckets = Buckets::new(n, 20_000);
        let (kept, at) = (buckets.values(&values), buckets.times(&times));
        assert_eq!((kept.len(), at.len()), (20_000, 20_000));
        let peak = kept.iter().position(|x| *x == 7.0).expect("the peak");
        assert!((at[peak] - 654_321.0).abs() < 200.0);
        // the peak comes before the dip, as it did
        assert_eq!(kept[peak + 1], -3.0);
    }

    #[test]
    fn calm_parts_keep_their_points_beside_crowded_ones() {
        // ten rows in [0, 1), a hundred thousand in [1, 2)
        let calm = (0..10).map(|k| f64::from(k) / 10.0);
        let times: Vec<f64> = calm.chain((0..100_000).map(|k| 1.0 + f64::from(k) * 1e-5)).collect();
        let buckets = Buckets::crowded(&times, 2000);
        let kept = buckets.times(&times);
        assert!(kept.len() <= 2000, "{}", kept.len());
        assert_eq!(kept[..10], times[..10]);
        assert_eq!(buckets.values(&times).len(), kept.len());
        let ends = buckets.ends(times.len());
        assert_eq!((ends[..10].to_vec(), ends.last()), ((0..10).collect(), Some(&100_009)));
    }

    proptest! {
        #[test]
        fn extremes_ends_and_the_order_of_times_are_kept(values in prop::collection::vec(-1e3..1e3_f64, 1..3000), most in 1_usize..600) {
            let times: Vec<f64> = (0..values.len()).map(|k| k as f64).collect();
            let buckets = Buckets::new(values.len(), most);
            let (kept, at) = (buckets.values(&values), buckets.times(&times));
            let extreme = |values: &[f64]| values.iter().fold((f64::MAX, f64::MIN), |(a, b), x| (a.min(*x), b.max(*x)));
            prop_assert_eq!(extreme(&kept), extreme(&values));
            prop_assert_eq!((kept[0], kept[kept.len() - 1]), (values[0], values[values.len() - 1]));
            prop_assert_eq!((at[0], at[at.len() - 1]), (times[0], times[times.len() - 1]));
            prop_assert_eq!(kept.len(), at.len());
            prop_assert!(kept.len() <= most.max(4) || kept.len() == values.len());
            prop_assert!(at.windows(2).all(|pair| pair[0] <= pair[1]));
        }

        #[test]
        fn gaps_do_not_hide_extremes(place in 0_usize..1000) {
            let mut values = vec![f64::NAN; 1000];
            values[place] = 1.0;
            prop_assert!(Buckets::new(1000, 100).values(&values).contains(&1.0));
        }
    }
}
