//! Impacts, friction, couplings and a thermostat.

use crate::run::{HUNDRED_TOLERANCES, Reference, near, solve};

/// Parabolas; times of impacts by Brent's method to 1e-15.
#[test]
fn a_ball_on_a_shaking_table() {
    let run = Reference {
        model: "shaking-table",
        points: 7,
        columns: &["y", "v"],
        rows: SHAKING_TABLE,
        allowed: HUNDRED_TOLERANCES,
    }
    .holds();
    let times = HITS;
    assert_eq!(run.switches.len(), times.len());
    for (switch, t) in run.switches.iter().zip(times) {
        near(switch.0, t, 1e-7);
    }
}

/// Each block is slower than the belt, faster, or sticks until its springs exceed the friction at rest; DOP853 at
/// 1e-12 between.
#[test]
fn two_blocks_stick_and_slip() {
    let run = Reference {
        model: "stribeck-blocks",
        points: 6,
        columns: &["x1", "x2", "v1", "v2"],
        rows: STRIBECK_BLOCKS,
        allowed: HUNDRED_TOLERANCES,
    }
    .holds();
    let times = STICKS;
    assert_eq!(run.switches.len(), times.len(), "{:?}", run.switches);
    for (switch, t) in run.switches.iter().zip(times) {
        near(switch.0, t, 1e-5);
    }
}

/// Constant accelerations; momentum is kept when a coupling closes. The couplings push: 20 t × 0.016 m/s² − 800 N and
/// so on.
#[test]
fn wagons_that_couple_keep_their_momentum() {
    let run = Reference {
        model: "coupling-wagons",
        points: 11,
        columns: &["x1", "x2", "v1", "v2", "v3"],
        rows: COUPLING_WAGONS,
        allowed: HUNDRED_TOLERANCES,
    }
    .holds();
    run.switches_at(&[(2.440_442_408_5, "apart", "pair"), (11.237_243_569_6, "pair", "train")], 1e-6);
    near(run.value("lambda.first", 6.0), -480.0, 1e-3);
    near(run.value("lambda.first", 14.0), -986.666_666_667, 1e-3);
    near(run.value("lambda.second", 14.0), -1_266.666_666_667, 1e-3);
}

/// Closed form of the linear equation with a sine outside; times by Brent's method to 1e-12 s. The band is crossed
/// hundreds of times.
#[test]
fn a_thermostat_switches_all_day() {
    let run = Reference {
        model: "thermostat",
        points: 13,
        columns: &["T", "used"],
        rows: THERMOSTAT,
        allowed: HUNDRED_TOLERANCES,
    }
    .holds();
    assert_eq!(run.switches.len(), 453);
    let expected = [(1_593.734_853_3, "on", "off"), (1_699.221_342_3, "off", "on"), (2_096.716_999_95, "on", "off")];
    run.switches_at(&expected, 1e-2);
    near(run.switches[452].0, 86_345.999_239_2, 1e-1);
}

/// What happens in two hours does not depend on how long the run is.
#[test]
fn a_thermostat_does_not_know_the_end_of_the_run() {
    let (short, day) = (solve("thermostat", 5, &["--tend", "7200"]), solve("thermostat", 49, &[]));
    let early = day.switches.iter().filter(|switch| switch.0 < 7200.0).count();
    assert_eq!(short.switches.len(), early);
    near(short.value("T", 7200.0), day.value("T", 7200.0), 1e-4);
    near(short.value("used", 7200.0), day.value("used", 7200.0), 1e-4);
}

#[rustfmt::skip]
const SHAKING_TABLE: &[(f64, &[f64])] = &[
    (0.5, &[0.197_772_789_867, 0.031_767_126_421_9]),
    (1.0, &[0.049_359_572_234, -1.178_090_009_3]),
    (1.5, &[0.006_078_124_136_36, 1.081_925_995_89]),
    (2.0, &[0.016_005_801_471_1, -1.194_384_908_07]),
    (2.5, &[0.027_487_997_049_1, -0.824_655_698_88]),
    (3.0, &[0.074_426_616_113_4, -0.673_980_088_291]),
];

#[rustfmt::skip]
const STRIBECK_BLOCKS: &[(f64, &[f64])] = &[
    (2.0, &[0.108_694_773_552, 0.268_756_522_187, 0.061_712_918_857_7, -0.343_450_914_479]),
    (4.0, &[0.122_617_213_204, 0.263_461_843_167, 0.2, 0.185_936_187_073]),
    (6.0, &[0.073_298_600_449_9, 0.086_139_832_560_5, 0.2, 0.2]),
    (8.0, &[0.171_860_856_889, 0.080_934_425_992_4, 0.166_930_413_468, -0.389_100_847_747]),
    (10.0, &[0.206_085_278_726, 0.296_668_244_858, 0.199_945_035_411, -0.067_942_637_875_7]),
];

#[rustfmt::skip]
const COUPLING_WAGONS: &[(f64, &[f64])] = &[
    (2.0, &[4.08, 15.0, 2.08, 0.0, 0.0]),
    (6.0, &[8.088, 18.088, 0.896, 0.896, 0.0]),
    (10.0, &[11.8, 21.8, 0.96, 0.96, 0.0]),
    (14.0, &[14.769_005_102_4, 24.769_005_102_4, 0.627_411_538_058, 0.627_411_538_058, 0.627_411_538_058]),
    (20.0, &[18.365_474_330_7, 28.365_474_330_7, 0.571_411_538_058, 0.571_411_538_058, 0.571_411_538_058]),
];

#[rustfmt::skip]
const THERMOSTAT: &[(f64, &[f64])] = &[
    (7200.0, &[19.915_549_275_1, 9.861_968_241_65]),
    (21600.0, &[19.690_293_300_2, 26.225_370_299]),
    (43200.0, &[19.677_602_009_3, 42.446_738_065_8]),
    (64800.0, &[19.909_552_395_4, 58.701_595_995_2]),
    (86400.0, &[19.980_537_329_2, 84.501_536_267]),
];

#[rustfmt::skip]
const HITS: [f64; 10] = [
    0.312_828_361_921, 0.712_608_346_101, 1.028_949_464_29, 1.338_935_310_85, 1.485_487_586_75, 1.735_527_993_62,
    2.012_152_632, 2.323_221_313_84, 2.523_722_367_74, 2.802_527_479_46,
];

#[rustfmt::skip]
const STICKS: [f64; 20] = [
    0.102_322_683_671, 0.555_663_349_925, 0.899_507_042_126, 1.399_817_143_05, 2.169_988_354_19, 2.304_317_678_61,
    2.867_444_050_56, 3.342_605_871_64, 3.862_726_010_19, 4.404_637_426_55, 5.606_155_787_94, 5.905_377_673_82,
    6.493_592_897_98, 6.962_678_616_53, 7.850_615_529_28, 7.903_294_210_98, 8.430_824_376_96, 8.938_287_241_76,
    9.481_627_786_39, 9.994_606_286_42,
];
