//! Symmetric compositions of RATTLE: substeps γᵢ h, some of them backwards.
//!
//! Hairer, Lubich & Wanner, Geometric Numerical Integration, V.3.2; the factors of order 6 are those of Kahan & Li, Math. Comp. 66 (1997).

/// A composition of a symmetric method of order 2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Composition {
    /// The method itself, order 2.
    #[default]
    None,
    /// Three substeps, order 4: γ₁ = γ₃ = 1/(2 − 2^(1/3)). Yoshida (1990).
    Yoshida4,
    /// Five substeps, order 4, smaller errors: γ = 1/(4 − 4^(1/3)) four times. Suzuki (1990).
    Suzuki4,
    /// Nine substeps, order 6.
    KahanLi6,
}

/// The first four factors of order 6.
const KAHAN_LI: [f64; 4] =
    [0.39216144400731413928, 0.33259913678935943860, -0.70624617255763935981, 0.08221359629355080023];

impl Composition {
    /// Order of the composed method.
    pub fn order(self) -> u32 {
        match self {
            Composition::None => 2,
            Composition::Yoshida4 | Composition::Suzuki4 => 4,
            Composition::KahanLi6 => 6,
        }
    }

    /// Sizes of the substeps, in steps.
    pub fn factors(self) -> Vec<f64> {
        // the middle factor makes the sum 1
        let around = |outer: &[f64]| {
            let middle = 1.0 - 2.0 * outer.iter().sum::<f64>();
            outer.iter().copied().chain([middle]).chain(outer.iter().rev().copied()).collect()
        };
        match self {
            Composition::None => vec![1.0],
            Composition::Yoshida4 => around(&[1.0 / (2.0 - 2.0_f64.cbrt())]),
            Composition::Suzuki4 => around(&[1.0 / (4.0 - 4.0_f64.cbrt()); 2]),
            Composition::KahanLi6 => around(&KAHAN_LI),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_satisfy_the_order_conditions_of_symmetric_compositions() {
        for composition in [Composition::Yoshida4, Composition::Suzuki4, Composition::KahanLi6] {
            let factors = composition.factors();
            let sum = |power: i32| factors.iter().map(|g| g.powi(power)).sum::<f64>();
            assert!((sum(1) - 1.0).abs() < 1e-15 && sum(3).abs() < 1e-14, "{composition:?}");
            if composition.order() == 6 {
                assert!(sum(5).abs() < 1e-14);
                // the condition of two trees: Σₖ γₖ³ (γ₁ + … + γₖ₋₁ + γₖ/2)² = 0
                let mut before = 0.0;
                let mut mixed = 0.0;
                for g in &factors {
                    let until = before + 0.5 * g;
                    mixed += g.powi(3) * until * until;
                    before += g;
                }
                assert!(mixed.abs() < 1e-14, "{mixed}");
            }
        }
    }
}
