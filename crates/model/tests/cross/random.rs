//! Random numbers from a fixed seed (splitmix64).

/// A generator that gives the same numbers in every run.
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// One of 0, …, count − 1.
    pub fn below(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }

    /// Once in `count` times.
    pub fn once_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    /// Between two numbers, with two digits, so that files stay readable.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        let unit = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        ((low + (high - low) * unit) * 100.0).round() / 100.0
    }

    /// Of that size, with either sign.
    pub fn signed(&mut self, low: f64, high: f64) -> f64 {
        let size = self.between(low, high);
        if self.once_in(2) { -size } else { size }
    }
}
