//! The explicit pair of Dormand and Prince of order 5(4), with the dense output of order 4. Dormand & Prince (1980); Hairer, Nørsett & Wanner, Solving
//! ODEs I, II.5, table 5.2, and II.6, (6.12).

use super::ExplicitTableau;

pub(super) static ORDER_5: ExplicitTableau = ExplicitTableau {
    name: "dopri5",
    order: 5,
    stages: 6,
    C: &C,
    A: &A,
    error: &[&ERROR],
    dense: &[&D],
    // the left end of the stability region on the real axis. Solving ODEs II, IV.2
    stable: 3.25,
};

const C: [f64; 7] = [0.0, 1.0 / 5.0, 3.0 / 10.0, 4.0 / 5.0, 8.0 / 9.0, 1.0, 1.0];

/// The last row holds the weights of order 5.
const A: [&[f64]; 7] = [
    &[],
    &[1.0 / 5.0],
    &[3.0 / 40.0, 9.0 / 40.0],
    &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0],
    &[19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0],
    &[9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0],
    &[35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
];

/// bⱼ − b̂ⱼ.
const ERROR: [f64; 7] =
    [71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0];

/// Weights of the term of the dense output that is not known from the ends of a step: `CONTD5` of DOPRI5.
const D: [f64; 7] = [
    -12_715_105_075.0 / 11_282_082_432.0,
    0.0,
    87_487_479_700.0 / 32_700_410_799.0,
    -10_690_763_975.0 / 1_880_347_072.0,
    701_980_252_875.0 / 199_316_789_632.0,
    -1_453_857_185.0 / 822_651_844.0,
    69_997_945.0 / 29_380_423.0,
];
