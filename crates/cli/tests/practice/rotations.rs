//! A heavy top with a unit quaternion, written three ways.

use crate::run::{Reference, Run};

/// The nine direction cosines R' = R ω̂ and Euler's equations; DOP853 at 1e-13, orthogonal to 1e-13 at the end. What
/// holds the fixed point is m (a + g) in the axes of the body.
fn top(model: &'static str) -> Run {
    Reference {
        model,
        points: 7,
        columns: &["ex", "ey", "ez", "w1", "w2", "w3", "force1", "force2", "force3"],
        rows: HEAVY_TOP,
        // it turns about its axis nineteen times, and errors of angles add up
        allowed: 1e-4,
    }
    .holds()
}

fn largest_error_of_the_norm(run: &Run) -> f64 {
    run.column("norm").into_iter().map(|norm| (norm - 1.0).abs()).fold(0.0, f64::max)
}

#[test]
fn a_norm_that_is_left_to_the_kinematics_drifts_with_the_tolerance() {
    let error = largest_error_of_the_norm(&top("heavy-top-free"));
    assert!(error < 1e-5, "{error:e}");
}

#[test]
fn a_norm_as_an_invariant_is_kept() {
    let error = largest_error_of_the_norm(&top("heavy-top-invariant"));
    // every step is brought onto it; values between the steps are on the constraints only
    assert!(error < 1e-9, "{error:e}");
}

#[test]
fn a_norm_as_a_constraint_is_kept() {
    let error = largest_error_of_the_norm(&top("heavy-top-holonomic"));
    assert!(error < 1e-12, "{error:e}");
}

#[rustfmt::skip]
const HEAVY_TOP: &[(f64, &[f64])] = &[
    (0.0, &[
        0.0, -0.564_642_473_395, 0.825_335_614_91, 0.5, 1.0, 40.0, 2.307_692_307_69, 1.227_423_658_5,
        11.676_063_573_4,
    ]),
    (0.5, &[
        0.744_365_503_54, 0.609_427_058_322, -0.272_981_057_445, 5.912_406_566_78, 5.742_886_375_65,
        40.065_975_310_5, 29.969_377_606_3, 1.556_465_489_02, -29.493_402_010_8,
    ]),
    (1.0, &[
        -0.546_619_816_703, 0.135_444_922_905, 0.826_354_311_931, 1.105_832_784_99, 0.459_677_749_744,
        39.992_511_916_6, 7.388_414_299_7, 0.180_319_581_015, 11.621_990_031_8,
    ]),
    (1.5, &[
        0.020_820_920_994_7, -0.980_755_463_917, -0.194_126_786_524, 6.909_580_648_99, -4.445_582_125_03,
        39.898_198_606_4, 35.619_370_841, -0.687_616_589_704, -28.171_140_104_4,
    ]),
    (2.0, &[
        0.284_741_239_929, 0.532_780_265_678, 0.796_911_296_687, 1.635_344_465_37, -0.863_954_625_89,
        39.984_633_902_7, 8.262_015_171_29, -1.257_023_386_71, 10.443_761_312_2,
    ]),
    (2.5, &[
        -0.841_318_313_938, 0.538_425_597_403, 0.047_763_696_402_4, -4.498_327_445_99, -5.208_181_058_92,
        40.078_904_313, -20.965_232_667_1, -2.169_612_835_59, -17.057_194_615_1,
    ]),
    (3.0, &[
        0.488_455_799_19, -0.482_088_509_82, 0.727_324_962_405, -0.967_471_511_495, -2.347_445_850_76,
        40.037_037_845_7, -7.046_406_852_73, -0.601_458_694_317, 8.285_148_141_36,
    ]),
];
