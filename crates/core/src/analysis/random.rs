//! Numbers off what is special: points beside a start only have to be generic, and the same in every run.

/// Xorshift (Marsaglia, 2003); the seed is not zero.
pub(crate) struct Random(pub u64);

impl Default for Random {
    fn default() -> Self {
        Random(0x9e37_79b9_7f4a_7c15)
    }
}

impl Random {
    /// The next number in [−1, 1).
    pub fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_numbers_fill_their_interval() {
        let mut random = Random::default();
        let numbers: Vec<f64> = (0..100).map(|_| random.next()).collect();
        assert!(numbers.iter().all(|x| x.abs() < 1.0));
        assert!(numbers.iter().any(|x| *x < -0.75) && numbers.iter().any(|x| *x > 0.75));
    }
}
