//! Radau IIa with s = 1, 3, 5, 7 stages, order 2s − 1, and the transformation that splits the stage equations. \[HW\] IV.8; Hairer &
//! Wanner, J. Comput. Appl. Math. 111 (1999).
//!
//! A⁻¹ has the eigenvalues γ and αₖ ± iβₖ, and T⁻¹A⁻¹T = diag(γ, [α₁ −β₁; β₁ α₁], …) with β₁ > β₂ > …. The constants of three stages are
//! written out: γ and α ± iβ are roots of z³ − 9z² + 36z − 60.

mod five;
mod seven;

/// A Radau IIa method; matrices row by row.
#[derive(Debug)]
pub struct Tableau {
    /// Nodes, the last of them 1.
    pub C: &'static [f64],
    /// A⁻¹.
    pub A_INVERSE: &'static [f64],
    /// T: columns y(γ)/‖y(γ)‖, Re y(α₁+iβ₁), −Im y(α₁+iβ₁), …, where the last component of y(α+iβ) is 1.
    pub T: &'static [f64],
    /// T⁻¹.
    pub T_INVERSE: &'static [f64],
    /// γ.
    pub GAMMA: f64,
    /// αₖ and βₖ.
    pub PAIRS: &'static [(f64, f64)],
    /// Error estimate: h ẋ₀ + Σ εᵢZᵢ vanishes for solutions of degree up to s.
    pub E: &'static [f64],
}

impl Tableau {
    /// The method with 1, 3, 5 or 7 stages.
    pub fn of(stages: usize) -> &'static Tableau {
        match stages {
            1 => &ONE,
            5 => &five::TABLEAU,
            7 => &seven::TABLEAU,
            _ => &THREE,
        }
    }

    /// Number of stages.
    pub fn stages(&self) -> usize {
        self.C.len()
    }

    /// Row of A⁻¹.
    pub fn a_inverse(&self, row: usize) -> &'static [f64] {
        &self.A_INVERSE[row * self.stages()..][..self.stages()]
    }
}

/// The implicit Euler method.
static ONE: Tableau =
    Tableau { C: &[1.0], A_INVERSE: &[1.0], T: &[1.0], T_INVERSE: &[1.0], GAMMA: 1.0, PAIRS: &[], E: &[-1.0] };

/// RADAU5.
static THREE: Tableau = Tableau {
    C: &C,
    A_INVERSE: A_INVERSE.as_flattened(),
    T: T.as_flattened(),
    T_INVERSE: T_INVERSE.as_flattened(),
    GAMMA,
    PAIRS: &[(ALPHA, BETA)],
    E: &E,
};

const SQRT6: f64 = 2.449489742783178098197284;

/// Nodes (4 ∓ √6)/10 and 1.
pub const C: [f64; 3] = [(4.0 - SQRT6) / 10.0, (4.0 + SQRT6) / 10.0, 1.0];

/// A⁻¹ in closed form.
pub const A_INVERSE: [[f64; 3]; 3] = [
    [2.0 + SQRT6 / 2.0, -1.2 + 29.0 * SQRT6 / 30.0, 0.4 - 4.0 * SQRT6 / 15.0],
    [-1.2 - 29.0 * SQRT6 / 30.0, 2.0 - SQRT6 / 2.0, 0.4 + 4.0 * SQRT6 / 15.0],
    [-1.0 + 8.0 * SQRT6 / 3.0, -1.0 - 8.0 * SQRT6 / 3.0, 5.0],
];

/// γ = 3 − ∛3 + ∛9.
pub const GAMMA: f64 = 3.637834252744495732208418513577776;
/// α = 3 + (∛3 − ∛9)/2.
pub const ALPHA: f64 = 2.681082873627752133895790743211112;
/// β = (3^(5/6) + 3^(7/6))/2.
pub const BETA: f64 = 3.050430199247410569426377624787568;

/// T: columns y(γ)/‖y(γ)‖, Re y(α+iβ), −Im y(α+iβ).
pub const T: [[f64; 3]; 3] = [
    [0.091232394870892942792, -0.14125529502095420843, -0.030029194105147424492],
    [0.24171793270710701896, 0.20412935229379993199, 0.38294211275726193779],
    [0.96604818261509293619, 1.0, 0.0],
];

/// T⁻¹.
pub const T_INVERSE: [[f64; 3]; 3] = [
    [4.3255798900631553510, 0.33919925181580986954, 0.54177053993587487119],
    [-4.1787185915519047273, -0.32768282076106238708, 0.47662355450055045196],
    [-0.50287263494578687595, 2.5719269498556054292, -0.59603920482822492497],
];

/// Error estimate: ε = (−(13+7√6)/3, (−13+7√6)/3, −1/3).
pub const E: [f64; 3] = [-(13.0 + 7.0 * SQRT6) / 3.0, (-13.0 + 7.0 * SQRT6) / 3.0, -1.0 / 3.0];

#[cfg(test)]
mod tests {
    use super::*;

    const NUMBERS: [usize; 4] = [1, 3, 5, 7];

    /// Σ aₖbₖ with the rounding errors of all operations collected: as good as twice the digits.
    fn dot(a: impl Iterator<Item = f64>, b: impl Iterator<Item = f64>) -> f64 {
        let (mut sum, mut lost) = (0.0_f64, 0.0);
        for (a, b) in a.zip(b) {
            let p = a * b;
            let s = sum + p;
            let kept = s - sum;
            lost += (sum - (s - kept)) + (p - kept) + a.mul_add(b, -p);
            sum = s;
        }
        sum + lost
    }

    fn product(a: &[f64], b: &[f64], s: usize) -> Vec<f64> {
        (0..s * s).map(|k| dot((0..s).map(|j| a[k / s * s + j]), (0..s).map(|j| b[j * s + k % s]))).collect()
    }

    fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn the_transformation_block_diagonalises_the_inverse_of_a() {
        // M12: T⁻¹ (A⁻¹ T) = diag(γ, [α −β; β α], …) and T⁻¹ T = I
        for s in NUMBERS {
            let tableau = Tableau::of(s);
            let mut sigma = vec![0.0; s * s];
            sigma[0] = tableau.GAMMA;
            for (k, (alpha, beta)) in tableau.PAIRS.iter().enumerate() {
                let (i, j) = (2 * k + 1, 2 * k + 2);
                (sigma[i * s + i], sigma[j * s + j]) = (*alpha, *alpha);
                (sigma[i * s + j], sigma[j * s + i]) = (-beta, *beta);
            }
            let identity: Vec<f64> = (0..s * s).map(|k| if k / s == k % s { 1.0 } else { 0.0 }).collect();
            let left = product(tableau.A_INVERSE, tableau.T, s);
            let right = product(tableau.T, &sigma, s);
            assert!(largest_difference(&left, &right) < 1e-14, "A⁻¹T = TΛ, {s} stages");
            assert!(largest_difference(&product(tableau.T_INVERSE, tableau.T, s), &identity) < 1e-14, "{s} stages");
        }
    }

    #[test]
    fn stages_are_exact_for_powers_up_to_their_number() {
        // collocation: Σⱼ (A⁻¹)ᵢⱼ cⱼᵏ = k cᵢᵏ⁻¹ for k = 1, …, s
        for s in NUMBERS {
            let tableau = Tableau::of(s);
            for k in 1..=s as i32 {
                for i in 0..s {
                    let sum = dot(tableau.a_inverse(i).iter().copied(), tableau.C.iter().map(|c| c.powi(k)));
                    let exact = f64::from(k) * tableau.C[i].powi(k - 1);
                    assert!((sum - exact).abs() < 2e-14, "{s} stages, power {k}, row {i}: {:e}", sum - exact);
                }
            }
        }
    }

    #[test]
    fn nodes_are_those_of_radau_quadrature() {
        // Π (x − cᵢ) is orthogonal to powers below s − 1 on [0, 1]: quadrature is exact up to degree 2s − 2
        for s in NUMBERS {
            let mut p = vec![1.0];
            for c in Tableau::of(s).C {
                let mut next = vec![0.0; p.len() + 1];
                for (k, a) in p.iter().enumerate() {
                    next[k + 1] += a;
                    next[k] -= c * a;
                }
                p = next;
            }
            for power in 0..s - 1 {
                let integral = dot(p.iter().copied(), (0..=s).map(|k| 1.0 / (k + power + 1) as f64));
                assert!(integral.abs() < 1e-14, "{s} stages: {integral:e}");
            }
        }
    }

    /// Nodes, γ, pairs α and β, error weights.
    #[allow(clippy::type_complexity)] // a table, written out where it is read
    const PUBLISHED: [(&[f64], f64, &[(f64, f64)], &[f64]); 4] = [
        (&[1.0], 1.0, &[], &[-1.0]),
        (
            &[0.155_051_025_721_682_2, 0.644_948_974_278_317_8, 1.0],
            3.637_834_252_744_495_732_2,
            &[(2.681_082_873_627_752_133_9, 3.050_430_199_247_410_569_4)],
            &[-10.048_809_399_827_415_6, 1.382_142_733_160_748_9, -0.333_333_333_333_333_3],
        ),
        (
            &[
                0.057_104_196_114_517_682_193,
                0.276_843_013_638_123_827_68,
                0.583_590_432_368_916_820_06,
                0.860_240_135_656_219_447_85,
                1.0,
            ],
            6.286_704_751_729_276_645_2,
            &[
                (3.655_694_325_463_572_258_2, 6.543_736_899_360_077_294_0),
                (5.700_953_298_671_789_419_2, 3.210_265_600_308_549_888_4),
            ],
            &[
                -27.780_933_944_064_637_3,
                3.641_478_498_049_213_15,
                -1.252_547_721_169_118_72,
                0.592_003_167_184_542_873,
                -0.2,
            ],
        ),
        (
            &[
                0.029_316_427_159_784_891_972,
                0.148_078_599_668_484_291_85,
                0.336_984_690_281_154_299_10,
                0.558_671_518_771_550_132_08,
                0.769_233_862_030_054_500_92,
                0.926_945_671_319_741_114_85,
                1.0,
            ],
            8.936_832_788_405_216_337_3,
            &[
                (4.378_693_561_506_806_002_5, 10.169_693_283_795_011_627),
                (7.141_055_219_187_640_105_8, 6.623_045_922_639_275_970_6),
                (8.511_834_825_102_945_723_1, 3.281_013_624_325_058_830_0),
            ],
            &[
                -54.374_436_894_128_614_5,
                7.000_024_004_259_186_51,
                -2.355_661_091_987_557_19,
                1.132_289_066_106_134_39,
                -0.646_891_326_767_358_712,
                0.387_533_385_375_352_377,
                -0.142_857_142_857_142_857,
            ],
        ),
    ];

    #[test]
    fn published_digits_of_nodes_eigenvalues_and_error_weights() {
        // M12: Hairer & Wanner (1999)
        let close = |found: f64, wanted: f64| (found - wanted).abs() < 1e-14 * wanted.abs().max(1.0);
        for (s, (nodes, gamma, pairs, weights)) in NUMBERS.into_iter().zip(PUBLISHED) {
            let tableau = Tableau::of(s);
            assert!(close(tableau.GAMMA, gamma), "{s} stages: {}", tableau.GAMMA);
            for (found, wanted) in [(tableau.C, nodes), (tableau.E, weights)] {
                assert!(found.len() == s && found.iter().zip(wanted).all(|(f, w)| close(*f, *w)), "{found:?}");
            }
            assert_eq!(tableau.PAIRS.len(), pairs.len());
            for ((alpha, beta), wanted) in tableau.PAIRS.iter().zip(pairs) {
                assert!(close(*alpha, wanted.0) && close(*beta, wanted.1), "{s} stages: {alpha} {beta}");
            }
        }
    }

    #[test]
    fn the_inverse_of_a_has_the_printed_digits() {
        let printed = [
            [3.224_744_871_391_589_0, 1.167_840_084_690_405_5, -0.253_197_264_742_180_8],
            [-3.567_840_084_690_405_5, 0.775_255_128_608_411_0, 1.053_197_264_742_180_8],
            [5.531_972_647_421_808_3, -7.531_972_647_421_808_3, 5.0],
        ];
        assert!(largest_difference(A_INVERSE.as_flattened(), printed.as_flattened()) < 4e-15, "{A_INVERSE:?}");
    }

    #[test]
    fn eigenvalues_are_roots_of_the_characteristic_polynomial() {
        let z = faer::c64::new(ALPHA, BETA);
        let p = z * z * z - z * z * 9.0 + z * 36.0 - 60.0;
        assert!(p.norm() < 1e-12);
        assert!((GAMMA.powi(3) - 9.0 * GAMMA.powi(2) + 36.0 * GAMMA - 60.0).abs() < 1e-12);
    }

    #[test]
    fn the_embedded_quadrature_has_the_order_of_the_stages() {
        // the estimate h ẋ₀ + Σ εᵢ Zᵢ vanishes for solutions of degree up to s and not for degree s + 1
        for s in NUMBERS {
            let tableau = Tableau::of(s);
            for degree in 1..=s as i32 + 1 {
                let f0 = if degree == 1 { 1.0 } else { 0.0 };
                let sum = f0 + dot(tableau.E.iter().copied(), tableau.C.iter().map(|c| c.powi(degree)));
                assert_eq!(sum.abs() < 1e-14, degree <= s as i32, "degree {degree}: {sum:e}");
            }
        }
    }
}
