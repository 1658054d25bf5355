//! Circuits: switches, diodes, an amplifier, capacitors in a loop.

use crate::run::{HUNDRED_TOLERANCES, Reference, near};

/// Matrix exponentials (SciPy) between the switches; the time at which the current is zero by Brent's method to
/// 1e-15.
#[test]
fn a_buck_converter_with_a_clock() {
    let run =
        Reference { model: "buck-pwm", points: 201, columns: &["i", "u"], rows: BUCK_PWM, allowed: HUNDRED_TOLERANCES }
            .holds();
    // discontinuous current in twenty periods of its start
    let zeros: Vec<f64> = run.switches.iter().filter(|switch| switch.2 == "blocking").map(|switch| switch.0).collect();
    assert_eq!(zeros.len(), 20);
    near(zeros[0], 0.000_233_523_909_6, 1e-9);
    near(zeros[19], 0.000_619_755_359_2, 1e-9);
}

/// Matrix exponentials between the switches, whose times come from Brent's method to 1e-15. The ripple is what the
/// circuit is built for.
#[test]
fn a_buck_converter_with_hysteresis_keeps_its_ripple() {
    let run = Reference {
        model: "buck-hysteresis",
        points: 6,
        columns: &["i", "u"],
        rows: BUCK_HYSTERESIS,
        // 281 switches, each of which moves the ones after it
        allowed: 1e-4,
    }
    .holds();
    assert_eq!(run.switches.len(), 281);
    run.switches_at(&[(8.769_758_485e-6, "closed", "open"), (2.651_509_182e-5, "open", "closed")], 1e-11);
    near(run.switches[280].0, 0.000_998_265_806, 1e-9);
}

/// One linear equation in each mode, with exponentials and sines: (C₁ + C₂) u₂' = C₁ u' − u₂/R while the second diode
/// conducts; times by Brent's method.
#[test]
fn a_voltage_doubler_with_ideal_diodes() {
    let run = Reference {
        model: "voltage-doubler",
        points: 21,
        columns: &["u1", "u2", "i2"],
        rows: VOLTAGE_DOUBLER,
        allowed: HUNDRED_TOLERANCES,
    }
    .holds();
    let expected = [
        (0.005_007_160_325, "lifting", "blocking"),
        (0.007_580_273_317, "blocking", "charging"),
        (0.015, "charging", "blocking"),
        (0.017_541_681_080, "blocking", "lifting"),
        (0.025_019_011_649, "lifting", "blocking"),
        (0.029_442_071_523, "blocking", "charging"),
    ];
    run.switches_at(&expected, 1e-8);
    // a diode that closes may be tried once more at once
    let mut times: Vec<f64> = run.switches.iter().map(|switch| switch.0).collect();
    times.dedup();
    assert_eq!(times.len(), 39);
}

/// Exponential of the matrix of both capacitors and the oscillator at the input, thirty digits (mpmath).
#[test]
fn a_sallen_key_filter() {
    Reference {
        model: "sallen-key",
        points: 6,
        columns: &["v[2]", "v[4]", "isource", "iamp"],
        rows: SALLEN_KEY,
        allowed: HUNDRED_TOLERANCES,
    }
    .holds();
}

/// Exponentials; at t = 1 the charge C₁ u₁ + C₂ u₂ stays as it was: 4.5446 As, 1.13616 V at both.
#[test]
fn capacitors_that_are_connected_keep_their_charge() {
    Reference {
        model: "capacitor-loop",
        points: 7,
        columns: &["u1", "u2", "i"],
        rows: CAPACITOR_LOOP,
        allowed: HUNDRED_TOLERANCES,
    }
    .holds();
}

/// Two of the equations and the derivative of their sum, solved for the rates; DOP853 at 1e-13.
#[test]
fn a_delta_of_varactors() {
    Reference {
        model: "varactor-delta",
        points: 7,
        columns: &["u1", "u2", "u3"],
        rows: VARACTOR_DELTA,
        allowed: HUNDRED_TOLERANCES,
    }
    .holds();
}

/// Crossings every hundredth of a second; exponential and sines for the capacitor.
#[test]
fn zero_crossings_of_the_mains() {
    let run = Reference {
        model: "mains-crossings",
        points: 201,
        columns: &["u", "uc", "n"],
        rows: MAINS_CROSSINGS,
        allowed: HUNDRED_TOLERANCES,
    }
    .holds();
    // the hundredth lies at the end of the run, on one side of it or the other
    assert!(matches!(run.switches.len(), 99 | 100), "{}", run.switches.len());
    for (k, switch) in run.switches.iter().enumerate() {
        near(switch.0, 0.01 * (k + 1) as f64, 1e-7);
    }
}

#[rustfmt::skip]
const BUCK_PWM: &[(f64, &[f64])] = &[
    (0.00021, &[2.104_189_291_57, 17.264_784_885]),
    (0.00051, &[0.835_165_808_69, 10.816_767_680_5]),
    (0.00055, &[0.884_766_704_361, 10.329_539_444]),
    (0.00101, &[1.156_042_808_22, 9.841_616_075_79]),
    (0.00151, &[1.199_919_596_43, 9.542_295_003_66]),
    (0.00199, &[1.292_897_081_8, 9.500_278_136_32]),
];

#[rustfmt::skip]
const BUCK_HYSTERESIS: &[(f64, &[f64])] = &[
    (0.0002, &[1.922_259_200_62, 4.865_907_055_66]),
    (0.0004, &[1.800_761_088_75, 4.995_438_901_78]),
    (0.0006, &[2.001_935_860_28, 4.991_183_236_65]),
    (0.0008, &[2.195_408_035_62, 4.999_818_363_09]),
    (0.001, &[2.027_854_960_42, 5.007_670_380_18]),
];

#[rustfmt::skip]
const VOLTAGE_DOUBLER: &[(f64, &[f64])] = &[
    (0.02, &[6.224_598_142_01, 6.224_598_142_01, 0.260_153_987_381]),
    (0.05, &[1.983_515_355_82, 13.825_932_807, 0.0]),
    (0.08, &[12.0, 16.112_913_794_6, 0.0]),
    (0.11, &[7.608_521_642_29, 19.387_787_775_2, 0.0]),
    (0.14, &[12.0, 19.694_544_708, 0.0]),
    (0.17, &[9.215_143_173_95, 20.976_396_997_1, 0.0]),
    (0.2, &[12.0, 20.716_791_870_2, 0.0]),
];

#[rustfmt::skip]
const SALLEN_KEY: &[(f64, &[f64])] = &[
    (0.0, &[0.0, 0.0, 0.0, 0.0]),
    (0.001, &[-1.001_094_869_21, -0.604_279_437_501, 6.102_238_160_8e-6, -3.917_019_080_35e-5]),
    (0.002, &[-0.020_995_017_460_1, 0.449_000_688_313, -6.912_076_034_54e-5, 2.995_445_153_1e-5]),
    (0.003, &[0.992_269_165_682, 0.879_898_317_028, -4.932_730_651_09e-5, 5.869_154_389_87e-5]),
    (0.004, &[0.634_215_921_64, 0.094_725_427_593_2, 3.863_909_690_92e-5, 6.318_444_261_4e-6]),
    (0.005, &[-0.600_302_688_564, -0.821_354_963_99, 7.320_764_494_68e-5, -5.478_662_199_45e-5]),
];

#[rustfmt::skip]
const CAPACITOR_LOOP: &[(f64, &[f64])] = &[
    (0.5, &[3.619_349_672_14, 0.460_022_207_315, 0.0]),
    (1.5, &[1.040_972_515_84, 1.040_972_515_84, -0.026_024_312_896]),
    (2.5, &[0.862_996_526_857, 0.877_500_331_61, 0.0]),
    (3.0, &[0.780_871_549_136, 0.807_339_278_933, 0.0]),
];

#[rustfmt::skip]
const VARACTOR_DELTA: &[(f64, &[f64])] = &[
    (0.0, &[0.5, -0.5, -0.75]),
    (0.5, &[1.029_891_326_76, 0.062_051_018_624_8, -0.190_265_548_391]),
    (1.0, &[0.552_127_248_344, -0.392_944_046_246, -0.643_605_651_484]),
    (1.5, &[-0.110_784_264_779, -0.920_970_564_453, -1.218_781_711_98]),
    (2.0, &[0.212_087_641_756, -0.450_984_555_883, -0.798_032_586_042]),
    (2.5, &[0.865_258_356_768, 0.222_990_636_873, -0.116_261_095_29]),
    (3.0, &[0.583_188_441_003, -0.079_512_087_888, -0.393_941_735_451]),
];

#[rustfmt::skip]
const MAINS_CROSSINGS: &[(f64, &[f64])] = &[
    (0.095, &[-325.0, 0.000_103_449_697_303, 4.0]),
    (0.305, &[325.0, 0.000_103_447_590_74, 15.0]),
    (0.505, &[325.0, 0.000_103_445_521_81, 25.0]),
    (0.695, &[-325.0, 0.000_103_443_490_506, 34.0]),
    (0.905, &[325.0, 0.000_103_441_384_073, 45.0]),
];
