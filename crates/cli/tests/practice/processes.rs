//! Reactions, heat and oil: stiffness, small numbers beside large ones.

use crate::run::{HUNDRED_TOLERANCES, Reference};

/// c' = k (c₀ − c) − r(T(t), c) along the prescribed temperature, Radau at 1e-12 and DOP853 at 1e-13 in agreement;
/// the jacket from the balance of heat.
#[test]
fn a_tank_follows_a_prescribed_temperature() {
    Reference {
        model: "tank-temperature",
        points: 6,
        columns: &["c", "T", "jacket"],
        rows: TANK_TEMPERATURE,
        allowed: HUNDRED_TOLERANCES,
    }
    .holds();
}

/// s/S₀ and es/E₀ with the conservation laws put in; Radau at 1e-12.
#[test]
fn an_enzyme_in_moles_per_litre() {
    Reference {
        model: "enzyme-kinetics",
        points: 6,
        columns: &["s", "es", "e", "p"],
        rows: ENZYME_KINETICS,
        allowed: HUNDRED_TOLERANCES,
    }
    .holds();
}

/// Four differential equations with the flows put in and pressures in MPa, DOP853 at 1e-13 and Radau at 1e-11 in
/// agreement.
#[test]
fn a_hydraulic_cylinder() {
    Reference {
        model: "hydraulic-cylinder",
        points: 6,
        columns: &["x", "v", "p1", "p2", "Q1", "Q2"],
        rows: HYDRAULIC_CYLINDER,
        allowed: HUNDRED_TOLERANCES,
    }
    .holds();
}

/// Exponential of the matrix of the 49 inner temperatures and the oscillator at the end; SciPy's and the one by
/// eigenvectors agree to 1e-11.
#[test]
fn heat_in_a_rod() {
    Reference {
        model: "heat-equation",
        points: 6,
        columns: &["T[10]", "T[25]", "T[40]", "T[50]", "flow"],
        rows: HEAT_EQUATION,
        allowed: HUNDRED_TOLERANCES,
    }
    .holds();
}

#[rustfmt::skip]
const TANK_TEMPERATURE: &[(f64, &[f64])] = &[
    (0.0, &[0.8, 330.013_414_005, 310.606_756_545]),
    (2.0, &[0.636_060_305_518, 334.503_460_875, 321.695_396_505]),
    (4.0, &[0.416_853_690_698, 345.053_208_767, 330.572_104_42]),
    (6.0, &[0.042_731_943_324_9, 371.963_416_192, 356.861_542_121]),
    (8.0, &[0.051_903_787_474_3, 371.426_102_578, 360.953_488_282]),
    (10.0, &[0.057_818_187_986_1, 365.435_027_979, 353.183_417_659]),
];

#[rustfmt::skip]
const ENZYME_KINETICS: &[(f64, &[f64])] = &[
    (40.0, &[7.499_311_023_76e-6, 1.935_441_991_57e-9, 2.064_558_008_43e-9, 2.498_753_534_25e-6]),
    (80.0, &[5.370_709_138_48e-6, 1.606_773_354_76e-9, 2.393_226_645_24e-9, 4.627_684_088_16e-6]),
    (120.0, &[3.653_548_788_03e-6, 1.254_131_400_51e-9, 2.745_868_599_49e-9, 6.345_197_080_57e-6]),
    (160.0, &[2.357_899_622_8e-6, 9.106_492_100_01e-10, 3.089_350_79e-9, 7.641_189_727_99e-6]),
    (200.0, &[1.449_794_232_1e-6, 6.137_526_802_58e-10, 3.386_247_319_74e-9, 8.549_592_015_22e-6]),
];

#[rustfmt::skip]
const HYDRAULIC_CYLINDER: &[(f64, &[f64])] = &[
    (0.0, &[0.0, 0.0, 5_000_000.0, 5_000_000.0, 0.000_397_994_974_843, 0.000_265_631_323_454]),
    (0.2, &[
        0.053_980_306_039_7, 0.264_710_601_41, 5_075_462.390_84, 4_043_275.902_38, 0.000_530_581_082_047,
        0.000_318_771_004_817,
    ]),
    (0.4, &[
        0.086_562_575_614_5, 0.097_484_773_397_9, 5_331_470.3432, 3_972_660.6815, 0.000_196_727_937_069,
        0.000_118_527_323_225,
    ]),
    (0.6, &[
        0.120_863_557_703, 0.267_027_049_606, 5_758_468.032_87, 3_802_903.291_66, 0.000_536_424_351_552,
        0.000_322_550_119_639,
    ]),
    (0.8, &[
        0.171_484_777_686, 0.172_163_530_151, 5_972_331.845_03, 3_736_063.301_67, 0.000_346_876_015_543,
        0.000_208_876_707_404,
    ]),
    (1.0, &[
        0.194_542_052_247, 0.134_923_803_335, 6_312_742.554_13, 3_622_148.528_09, 0.000_273_289_382_245,
        0.000_164_788_223_255,
    ]),
];

#[rustfmt::skip]
const HEAT_EQUATION: &[(f64, &[f64])] = &[
    (0.1, &[0.656_671_149_512, 0.578_897_036_441, 0.484_091_606_264, 0.360_376_561_973, 1.349_378_302_81]),
    (0.2, &[0.813_993_036_745, 0.612_329_746_787, 0.427_805_831_513, 0.306_634_320_89, 0.237_390_265_759]),
    (0.3, &[0.462_107_246_18, 0.537_915_161_018, 0.416_334_752_995, 0.301_371_975_856, -2.352_289_138_6]),
    (0.4, &[-0.187_090_580_443, 0.228_531_737_347, 0.293_206_852_077, 0.228_182_150_686, -3.441_359_716_48]),
    (0.5, &[-0.590_083_188_919, -0.138_601_441_198, 0.061_215_240_597_5, 0.069_501_094_845_7, -1.750_819_296_88]),
];
