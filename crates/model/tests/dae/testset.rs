//! The test set for initial value problem solvers: digits against its reference solutions.
//!
//! Tolerances, first steps and measures are those of the source, and so are steps as long as the interval: with ten equal ones at the end
//! Robertson's reaction has 1.56 digits at 1e-4 instead of 2.95, both of them within its absolute tolerance. scd is −log10 of the largest relative error, mescd the same with
//! atol/rtol + |y| in the denominator. One rule for all: published values are those of RADAU5 in release 2.1 (1999), and of RADAU, which may change its
//! order, only at 1e-4 or where it made the steps of RADAU5: at 1e-4 both have the same rows for every problem that has both. Between two published
//! tolerances the value is interpolated. Mazzia and Magherini (2008); Lioen and de Swart (1999).

use super::references::*;
use super::runs::{Run, mescd, scd};

/// Longer than any interval.
const UNBOUNDED: f64 = 1e12;

/// How a problem is measured.
struct Measured {
    name: &'static str,
    reference: &'static [f64],
    /// Number of components that count for scd.
    count: usize,
    /// atol/rtol.
    ratio: f64,
    /// h0/rtol.
    first_step: f64,
}

const fn measured(
    name: &'static str,
    reference: &'static [f64],
    count: usize,
    ratio: f64,
    first_step: f64,
) -> Measured {
    Measured { name, reference, count, ratio, first_step }
}

const AMPLIFIER: Measured = measured("transistor-amplifier", &TRANSISTOR_AMPLIFIER, 8, 1.0, 1e-2);
const RING: Measured = measured("ring-modulator", &RING_MODULATOR, 15, 1.0, 1e-2);
const RING_2: Measured = measured("ring-modulator-index-2", &RING_MODULATOR_INDEX_2, 15, 1.0, 1e-2);
const PLANT: Measured = measured("hires", &HIRES, 8, 1.0, 1e-2);
const THREE: Measured = measured("robertson", &ROBERTSON, 3, 1e-4, 1e-2);
const OSCILLATING: Measured = measured("oregonator", &OREGONATOR, 3, 1.0, 1e-2);
const AIR: Measured = measured("pollution", &POLLUTION, 20, 1.0, 1.0);
const STARS: Measured = measured("pleiades", &PLEIADES, 14, 1.0, 1e-2);
const MECHANISM: Measured = measured("andrews-dae", &ANDREWS, 7, 1.0, 1.0);
const AXIS: Measured = measured("car-axis-dae", &CAR_AXIS, 10, 1.0, 1.0);

impl Measured {
    /// scd and mescd.
    fn digits(&self, rtol: f64) -> (f64, f64) {
        let Measured { name, reference, count, ratio, first_step } = *self;
        let (atol, h0, hmax) = (ratio * rtol, Some(first_step * rtol), Some(UNBOUNDED));
        let x = Run { atol, h0, hmax, ..Run::new(name, rtol) }.end();
        (scd(&x[..count], &reference[..count]), mescd(&x[..reference.len()], reference, ratio))
    }

    /// Not worse than published, up to half a digit; mescd is not published everywhere.
    fn assert_digits(&self, rtol: f64, published: f64, published_mescd: Option<f64>) {
        let (scd, mescd) = self.digits(rtol);
        println!("{} at {rtol:e}: scd {scd:.2} ({published}), mescd {mescd:.2} ({published_mescd:?})", self.name);
        assert!(scd > published - 0.5, "{} at {rtol:e}: scd {scd:.2}, published {published}", self.name);
        if let Some(published) = published_mescd {
            assert!(mescd > published - 0.5, "{} at {rtol:e}: mescd {mescd:.2}, published {published}", self.name);
        }
    }
}

#[test]
fn the_transistor_amplifier_has_the_digits_of_radau5() {
    AMPLIFIER.assert_digits(1e-5, 5.67, None);
    AMPLIFIER.assert_digits(1e-6, between(5.67, 6.83, 0.5), None);
    AMPLIFIER.assert_digits(1e-7, 6.83, Some(7.11));
}

#[test]
fn the_ring_modulator_has_the_digits_of_radau5() {
    // RADAU5 fails at larger tolerances than 1e-7: a digit less is wanted at 1e-6
    RING.assert_digits(1e-6, 2.80, Some(3.49));
    RING.assert_digits(1e-7, 3.80, Some(4.49));
}

#[test]
fn the_ring_modulator_of_index_two_is_solved() {
    // no published values: a relative error of the tolerance in voltages, currents are small
    let (_, mescd) = RING_2.digits(1e-6);
    assert!(mescd > 5.0, "mescd {mescd:.2}");
}

#[test]
fn hires_has_the_digits_of_radau5() {
    PLANT.assert_digits(1e-4, 0.72, None);
    PLANT.assert_digits(1e-6, between(0.72, 4.31, 2.0 / 3.0), None);
    PLANT.assert_digits(1e-7, 4.31, None);
}

#[test]
fn robertson_has_the_digits_of_radau() {
    THREE.assert_digits(1e-4, 3.06, Some(6.74));
    // nothing is published for RADAU5: a smaller tolerance must not lose digits
    THREE.assert_digits(1e-6, 3.06, Some(6.74));
}

#[test]
fn the_oregonator_has_the_digits_of_radau() {
    OSCILLATING.assert_digits(1e-4, 3.12, Some(3.42));
    OSCILLATING.assert_digits(1e-6, 3.12, Some(3.42));
}

#[test]
fn pollution_has_the_digits_of_radau5() {
    AIR.assert_digits(1e-4, 1.23, None);
    AIR.assert_digits(1e-6, between(1.23, 3.78, 2.0 / 3.0), None);
    AIR.assert_digits(1e-7, 3.78, Some(5.59));
}

#[test]
fn pleiades_has_the_digits_of_radau5() {
    STARS.assert_digits(1e-4, 2.11, Some(2.67));
    STARS.assert_digits(1e-6, between(2.11, 4.51, 2.0 / 3.0), None);
    STARS.assert_digits(1e-7, 4.51, None);
}

#[test]
fn medical_akzo_nobel_has_the_digits_of_radau5() {
    // the error is absolute
    for (rtol, published) in [(1e-4, 3.82), (1e-6, between(3.82, 6.52, 2.0 / 3.0)), (1e-7, 6.52)] {
        let x = Run { h0: Some(1e-5 * rtol), ..Run::new("medical-akzo-nobel", rtol) }.end();
        let error = MEDICAL_AKZO_NOBEL.iter().map(|(k, y)| (x[k - 1] - y).abs()).fold(0.0, f64::max);
        let digits = -error.log10();
        println!("medical-akzo-nobel at {rtol:e}: {digits:.2} ({published})");
        assert!(digits > published - 0.5, "{rtol:e}: {digits:.2}, published {published}");
    }
}

#[test]
fn the_squeezing_mechanism_has_the_digits_of_radau5_without_its_structure() {
    MECHANISM.assert_digits(1e-6, between(1.36, 4.46, 2.0 / 3.0), None);
}

#[test]
fn the_car_axis_has_the_digits_of_radau5_without_its_structure() {
    AXIS.assert_digits(1e-4, 0.19, Some(1.34));
    AXIS.assert_digits(1e-6, between(0.19, 2.51, 2.0 / 3.0), None);
    AXIS.assert_digits(1e-7, 2.51, Some(3.73));
}

#[test]
fn the_water_tubes_have_the_digits_of_radau5() {
    // pressures are a million times as large as flows
    for (rtol, published) in [(1e-4, 1.49), (1e-7, 2.33)] {
        let larger = Some((36, 1e6));
        let x = Run { larger, h0: Some(rtol), hmax: Some(UNBOUNDED), ..Run::new("water-tube", rtol) }.end();
        let scd = scd(&x, &WATER_TUBE);
        println!("water-tube at {rtol:e}: scd {scd:.2} ({published})");
        assert!(scd > published - 0.5, "{rtol:e}: scd {scd:.2}, published {published}");
    }
}

#[test]
fn the_nand_gate_has_the_digits_of_pside() {
    // nothing is published for RADAU5, which needs a constant matrix before the derivatives; PSIDE is a Radau method, too
    for (rtol, published) in [(1e-4, 2.39), (1e-7, 5.28)] {
        let x = Run::new("nand-gate", rtol).end();
        let mescd = mescd(&x, &NAND_GATE, 1.0);
        println!("nand-gate at {rtol:e}: mescd {mescd:.2} ({published})");
        assert!(mescd > published, "{rtol:e}: mescd {mescd:.2}, published {published}");
    }
}

#[test]
fn e5_has_the_digits_of_radau() {
    // the first and the fourth concentration are smaller than any tolerance
    for (rtol, published) in [(1e-4, 2.43), (1e-7, 2.43)] {
        let (h0, hmax) = (Some(1e-2 * rtol), Some(1e14));
        let x = Run { atol: 1.1e-24, h0, hmax, ..Run::new("e5", rtol) }.end();
        let scd = scd(&x[1..3], &E5);
        println!("e5 at {rtol:e}: scd {scd:.2} ({published})");
        assert!(scd > published - 0.5, "{rtol:e}: scd {scd:.2}, published {published}");
    }
}

#[test]
fn the_beam_has_the_digits_of_radau() {
    // tensions, which the source does not have as unknowns, are as large as n^4
    for (rtol, published, published_mescd) in [(1e-4, 2.49, 3.57), (1e-7, 2.49, 3.57)] {
        let larger = Some((80, 1e6));
        let x = Run { larger, h0: Some(rtol), hmax: Some(UNBOUNDED), ..Run::new("beam", rtol) }.end();
        let (scd, mescd) = (scd(&x[..40], &BEAM[..40]), mescd(&x[..40], &BEAM[..40], 1.0));
        println!("beam at {rtol:e}: scd {scd:.2} ({published}), mescd {mescd:.2} ({published_mescd})");
        assert!(scd > published - 0.5, "{rtol:e}: scd {scd:.2}, published {published}");
        assert!(mescd > published_mescd - 0.5, "{rtol:e}: mescd {mescd:.2}, published {published_mescd}");
    }
}

#[test]
fn emep_has_the_digits_of_radau5() {
    // without O and O(1D), of which less than one molecule is left in the dark
    let counts = |x: &[f64]| -> Vec<f64> { (0..66).filter(|k| ![35, 37].contains(k)).map(|k| x[k]).collect() };
    for (rtol, published) in [(1e-2, 2.57), (1e-4, 2.68), (1e-6, 4.43)] {
        let (h0, hmax) = (Some(1e-7), Some(UNBOUNDED));
        let x = Run { atol: 1.0, h0, hmax, ..Run::new("emep", rtol) }.end();
        let scd = scd(&counts(&x), &counts(&EMEP));
        println!("emep at {rtol:e}: scd {scd:.2} ({published})");
        assert!(scd > published - 0.5, "{rtol:e}: scd {scd:.2}, published {published}");
    }
}

#[test]
fn the_two_bit_adder_adds() {
    // the least that BIMD, GAMD, MEBDFI and DDASSL have at 1e-4 is 3.32; the source's own values are good to four digits
    let x = Run { h0: Some(1e-3), ..Run::new("two-bit-adder", 1e-4) }.end();
    let found: Vec<f64> = TWO_BIT_ADDER.iter().map(|(node, _)| x[174 + node]).collect();
    let scd = scd(&found, &TWO_BIT_ADDER.map(|(_, y)| y));
    println!("two-bit-adder at 1e-4: scd {scd:.2}");
    assert!(scd > 3.32, "scd {scd:.2}");
}

/// A value between two published ones; `part` of the way in log rtol.
fn between(from: f64, to: f64, part: f64) -> f64 {
    from + part * (to - from)
}
