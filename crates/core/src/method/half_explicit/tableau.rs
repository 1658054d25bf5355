//! Coefficients of Brasey & Hairer (1993): rows 2 to s + 1 of aᵢⱼ, of which the last one holds the weights b, and the nodes c₂ … cₛ₊₁ = 1.
//!
//! HEM5 is published with 16 digits; its row sums equal the nodes up to 1.6e-13.

/// A formula with s stages. All aᵢ₊₁,ᵢ differ from zero.
#[derive(Clone, Copy, Debug)]
pub(super) struct HalfExplicitTableau {
    /// Nodes c₂ … cₛ₊₁.
    pub c: &'static [f64],
    /// Rows 2 … s + 1; row i has i − 1 entries.
    pub a: &'static [&'static [f64]],
    /// Weights of the error estimate.
    pub estimate: Estimate,
    /// The estimate is of the size h^q.
    pub q: i32,
}

/// Errors from the rates of the stages.
#[derive(Clone, Copy, Debug)]
pub(super) enum Estimate {
    /// e = h (d₀ F₀ + Σ dⱼ Fⱼ), where F₀ has the acceleration of the acceleration level at the start.
    Embedded(f64, &'static [f64]),
    /// err = ‖e₁‖²/(‖e₁‖ + 0.01 ‖e₂‖) with e₁ = yₙ₊₁ − Yₛ and e₂ = yₙ₊₁ − (yₙ + h (d₀ F₀ + Σ dⱼ Fⱼ)), which is larger by one power of h.
    Quotient(f64, &'static [f64]),
    /// None: steps of one size only.
    #[cfg(test)]
    None,
}

/// √6
const R: f64 = 2.449_489_742_783_178;

/// HEM3.
///
/// The estimate is our own: d = (b − b̂), b̂ = (−1/2; 0, 3/2, 0). Besides Σ b̂ = 1 and Σ b̂ c = 1/2 a formula of order two must satisfy
/// Σ b̂ᵢ wᵢ = 1 with w = Â⁻¹c² = (1/3, 2/3, 2), because stages have the constraint forces of an interval; the three stages alone leave no
/// choice but b. The acceleration at the start has w₀ = c₀ = 0.
pub(super) const HEM3: HalfExplicitTableau = HalfExplicitTableau {
    c: &[1.0 / 3.0, 1.0, 1.0],
    a: &[&[1.0 / 3.0], &[-1.0, 2.0], &[0.0, 0.75, 0.25]],
    estimate: Estimate::Embedded(0.5, &[0.0, -0.75, 0.25]),
    q: 3,
};

/// HEM4.
///
/// The estimate is our own, after the pattern of HEM5: Y₅ at c₅ = 1 is of order two, the explicit Euler step of order one.
pub(super) const HEM4: HalfExplicitTableau = HalfExplicitTableau {
    c: &[0.3, (4.0 - R) / 10.0, (4.0 + R) / 10.0, 1.0, 1.0],
    a: &[
        &[0.3],
        &[(1.0 + R) / 30.0, (11.0 - 4.0 * R) / 30.0],
        &[(-79.0 - 31.0 * R) / 150.0, (-1.0 - 4.0 * R) / 30.0, (24.0 + 11.0 * R) / 25.0],
        &[(14.0 + 5.0 * R) / 6.0, (-8.0 + 7.0 * R) / 6.0, (-9.0 - 7.0 * R) / 4.0, (9.0 - R) / 4.0],
        &[0.0, 0.0, (16.0 - R) / 36.0, (16.0 + R) / 36.0, 1.0 / 9.0],
    ],
    estimate: Estimate::Quotient(1.0, &[]),
    q: 4,
};

/// HEM5 with its estimate: e₁ = O(h⁴), e₂ = O(h³).
pub(super) const HEM5: HalfExplicitTableau = HalfExplicitTableau {
    c: &[0.1, 0.15, 0.361_478_734_657_363_5, 0.085_355_843_354_863_51, 0.5, 0.8, 1.0, 1.0],
    a: &[
        &[0.1],
        &[0.0375, 0.1125],
        &[0.322_216_923_621_603_8, -1.188_883_322_987_607, 1.228_145_134_023_366],
        &[-0.035_011_238_981_299_43, 0.372_542_060_108_616_3, -0.272_105_353_558_203_4, 0.019_930_375_785_750_77],
        &[
            -0.557_654_705_504_200_5,
            1.367_307_289_645_883,
            -1.732_236_360_460_725,
            0.458_777_200_746_754_8,
            0.963_806_575_572_288_0,
        ],
        &[
            0.086_545_171_935_661_55,
            -0.088_100_828_479_454_16,
            0.198_127_554_732_940_4,
            -0.464_542_267_933_108_3,
            0.161_517_009_110_948_8,
            0.906_453_360_633_011_9,
        ],
        &[
            0.0,
            0.0,
            0.0,
            3.624_477_248_753_816,
            -0.461_772_418_918_125_6,
            -3.198_024_628_164_272,
            1.035_319_798_328_740,
        ],
        &[
            0.0,
            0.0,
            0.0,
            0.246_776_066_763_679_1,
            0.210_659_408_748_972_8,
            0.176_921_814_912_502_1,
            0.306_444_644_414_792_2,
            0.059_198_065_160_053_73,
        ],
    ],
    estimate: Estimate::Quotient(0.0, &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.5, -1.5]),
    q: 5,
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Σᵢ bᵢ cᵢᵏ.
    fn moment(tableau: &HalfExplicitTableau, row: &[f64], k: i32) -> f64 {
        row.iter().enumerate().map(|(j, b)| b * if j == 0 { 0.0_f64.powi(k) } else { tableau.c[j - 1].powi(k) }).sum()
    }

    /// w = Â⁻¹(c₂², …, cₛ₊₁²), where Â are the rows 2 … s + 1.
    fn w(tableau: &HalfExplicitTableau) -> Vec<f64> {
        let mut w: Vec<f64> = Vec::new();
        for (row, c) in tableau.a.iter().zip(tableau.c) {
            let known: f64 = row.iter().zip(&w).map(|(a, w)| a * w).sum();
            w.push((c * c - known) / row[row.len() - 1]);
        }
        w
    }

    #[test]
    fn tableaux_satisfy_the_conditions_of_order_three_and_classical_ones_of_their_order() {
        // M1
        for (tableau, order, tolerance) in [(&HEM3, 3, 1e-14), (&HEM4, 4, 1e-14), (&HEM5, 5, 1e-12)] {
            for (i, row) in tableau.a.iter().enumerate() {
                assert_eq!(row.len(), i + 1);
                assert!(row[i] != 0.0);
                let sum = moment(tableau, row, 0) - tableau.c[i];
                assert!(sum.abs() < tolerance, "row {}: {sum}", i + 2);
            }
            let b = tableau.a[tableau.a.len() - 1];
            for k in 1..=order {
                assert!((moment(tableau, b, k - 1) - 1.0 / f64::from(k)).abs() < tolerance, "{k}");
            }
            let w = w(tableau);
            let bcw: f64 = (1..b.len()).map(|i| b[i] * tableau.c[i - 1] * w[i]).sum();
            assert!((bcw - 2.0 / 3.0).abs() < 10.0 * tolerance, "{bcw}");
        }
    }

    #[test]
    fn the_estimate_of_hem3_belongs_to_a_formula_of_order_two_but_not_three() {
        let Estimate::Embedded(d0, d) = HEM3.estimate else { unreachable!("it is embedded") };
        let w = w(&HEM3);
        assert!((d0 + d.iter().sum::<f64>()).abs() < 1e-15);
        assert!(moment(&HEM3, d, 1).abs() < 1e-15);
        assert!(d.iter().zip(&w).map(|(d, w)| d * w).sum::<f64>().abs() < 1e-15, "{w:?}");
        assert!(moment(&HEM3, d, 2).abs() > 0.1);
    }
}
