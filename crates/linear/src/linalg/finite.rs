//! Are all numbers finite?

/// One in the exponent of a number.
const ONE_IN_EXPONENT: u64 = 1 << 52;
/// All bits but the sign.
const MAGNITUDE: u64 = u64::MAX >> 1;

/// Is none of them infinite or not a number? Without a branch for each: the exponents of such numbers are all ones, and one more
/// reaches the place of the sign.
#[inline]
pub fn all_finite(x: &[f64]) -> bool {
    x.iter().fold(0, |seen, x| seen | ((x.to_bits() & MAGNITUDE) + ONE_IN_EXPONENT)) >> 63 == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_number_without_a_value_is_found_wherever_it_stands() {
        let finite = [0.0, -0.0, f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324, -1.5];
        assert!(all_finite(&finite) && all_finite(&[]));
        for bad in [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for k in 0..finite.len() {
                let mut x = finite;
                x[k] = bad;
                assert!(!all_finite(&x), "{x:?}");
            }
        }
    }
}
