//! One row for each model: which interval, and which promises differ from those of the methods.

use super::promise::Promise;
use super::run::{Level, Way};

/// Attempts of a run: those that need more are refused, and count as too dear.
const ATTEMPTS: u64 = 3000;
/// Attempts of the projected derivative array, which decomposes it by singular values at every Jacobian, and the largest system that it is
/// tried with.
const ATTEMPTS_OF_ARRAY: u64 = 150;
const LARGEST_ARRAY: usize = 8;

/// Attempts of methods with constant steps, whose Newton iterations begin anew in each of them.
const ATTEMPTS_OF_CONSTANT_STEPS: u64 = 500;

/// BDF makes errors of every step that nothing damps.
const UNDAMPED: &str = "an oscillation without damping";
/// Where multipliers are of index two, forces are computed from positions whose own errors count.
const STIFF_FORCES: &str = "forces of stiff springs and tyres; ten tolerances at 1e-7";
/// Transistors kink, and absolute tolerances are those of the source.
const TEST_SET: &str = "its digits are compared with published ones in dae/testset.rs";
/// Explicit methods make multipliers of stiff tyres from the noise of velocities.
const STIFF: &str = "stiff tyres";

/// A model.
pub struct Row {
    pub model: &'static str,
    /// End of a shorter interval than that of the file, and why.
    pub until: Option<(f64, &'static str)>,
    /// Why every run must stop.
    pub stops: Option<&'static str>,
    /// By how much the motion itself multiplies errors, and why: all methods show it.
    pub grows: (f64, &'static str),
    /// Errors below this need not fall any more: rounding of a system of high index.
    pub floor: f64,
    /// Why no two methods agree on values that could be trusted; its own tests look at the model.
    pub untrusted: Option<&'static str>,
    /// Why multipliers do not count.
    pub motion_only: Option<&'static str>,
    /// Parameters that are changed, for a smaller model.
    pub changes: &'static [(&'static str, f64)],
    /// Switches accumulate: their number is a matter of the tolerance.
    pub accumulates: bool,
    /// Ways that promise something else: part of `form method`, multiple of the tolerance, why.
    pub others: &'static [(&'static str, f64, &'static str)],
    /// Is it among those of every build?
    pub quick: bool,
}

impl Row {
    /// The values that count here.
    pub fn counts(&self) -> Level {
        if self.motion_only.is_some() { Level::Velocity } else { Level::Multiplier }
    }

    /// What a way promises here.
    pub fn promise(&self, way: &Way) -> Promise {
        let usual = Promise::of(way);
        let (counts, multiple) = (usual.counts.min(self.counts()), self.grows.0 * usual.multiple);
        let usual = Promise { counts, multiple, floor: usual.floor.max(self.floor), ..usual };
        match self.others.iter().find(|(part, ..)| way.name().contains(part)) {
            Some(&(_, multiple, why)) => Promise { multiple, why, ..usual },
            None => usual,
        }
    }

    /// Most attempts of a way with so many unknowns.
    pub fn attempts_of(way: &Way, unknowns: usize) -> u64 {
        match (way.form, way.method) {
            ("array", _) if unknowns > LARGEST_ARRAY => 0,
            ("array", _) => ATTEMPTS_OF_ARRAY,
            (_, "rattle" | "lobatto" | "alpha") => ATTEMPTS_OF_CONSTANT_STEPS,
            // of all modes together
            ("modes", _) => 4 * ATTEMPTS,
            _ => ATTEMPTS,
        }
    }

    const fn quick(self) -> Row {
        Row { quick: true, ..self }
    }

    const fn until(self, tend: f64, why: &'static str) -> Row {
        Row { until: Some((tend, why)), ..self }
    }

    const fn stops(self, why: &'static str) -> Row {
        Row { stops: Some(why), ..self }
    }

    const fn grows(self, factor: f64, why: &'static str) -> Row {
        Row { grows: (factor, why), ..self }
    }

    const fn motion_only(self, why: &'static str) -> Row {
        Row { motion_only: Some(why), ..self }
    }

    const fn floor(self, floor: f64) -> Row {
        Row { floor, ..self }
    }

    const fn untrusted(self, why: &'static str) -> Row {
        Row { untrusted: Some(why), ..self }
    }

    const fn with(self, changes: &'static [(&'static str, f64)]) -> Row {
        Row { changes, ..self }
    }

    const fn accumulates(self) -> Row {
        Row { accumulates: true, ..self }
    }

    const fn but(self, others: &'static [(&'static str, f64, &'static str)]) -> Row {
        Row { others, ..self }
    }
}

const fn row(model: &'static str) -> Row {
    Row {
        model,
        until: None,
        stops: None,
        grows: (1.0, ""),
        floor: 0.0,
        untrusted: None,
        motion_only: None,
        changes: &[],
        accumulates: false,
        others: &[],
        quick: false,
    }
}

pub const ROWS: &[Row] = &[
    row("academic").quick(),
    row("andrews-dae").until(0.01, "seven bodies"),
    row("andrews").until(0.01, "seven bodies"),
    row("beam").until(0.5, "more of the same").untrusted(TEST_SET),
    row("boost-converter").quick(),
    row("bouncing-ball-rest").accumulates(),
    row("bouncing-ball").stops("switches accumulate at 2.56"),
    row("bowed-string").until(0.1, "two hundred unknowns").but(&[("modes bdf", 3000.0, UNDAMPED)]),
    row("buck-hysteresis"),
    row("buck-pwm"),
    row("capacitor-loop"),
    row("car-axis-dae").until(1.0, "more of the same").grows(2.0, "stiff springs"),
    row("car-axis").until(1.0, "more of the same").grows(2.0, "stiff springs"),
    row("cart-double-pendulum").until(1.0, "chaotic"),
    row("chain").with(&[("N", 4.0)]).until(1.0, "chaotic").grows(4.0, "links whip"),
    row("circle").but(&[("p1 bdf", 3000.0, UNDAMPED), ("ggl bdf", 3000.0, UNDAMPED)]),
    row("clutch"),
    row("coupling-wagons"),
    row("crane"),
    row("crossing-lines"),
    row("diode-bridge"),
    row("dog-clutch"),
    row("double-four-bar").until(1.0, "more of the same").motion_only("redundant"),
    row("e5").untrusted(TEST_SET),
    row("emep").until(2e4, "more of the same").untrusted(TEST_SET),
    row("enzyme-kinetics"),
    row("equivalent-control"),
    row("example-5-45"),
    row("filippov"),
    row("five-bar").until(1.0, "more of the same"),
    row("flexible-slider-crank")
        .until(0.01, "more of the same")
        .untrusted("Newton's iteration fails at small tolerances where the beam is stiff"),
    row("friction-bodies"),
    row("gyroscopic-chain"),
    row("half-car"),
    row("heat-equation"),
    row("heavy-top-free").until(1.0, "more of the same"),
    row("heavy-top-holonomic").until(1.0, "more of the same").grows(2.0, "spins quickly"),
    row("heavy-top-invariant").until(1.0, "more of the same"),
    row("hessenberg-3"),
    row("hires").quick().but(&[("radau", 1000.0, "y[6] falls suddenly, and is looked at there")]),
    row("hydraulic-cylinder"),
    row("hysteresis-relay"),
    row("iftomm-pendulum"),
    row("implicit-circle"),
    row("inconsistent-start"),
    row("knife-edge"),
    row("kronecker-blocks"),
    row("lolly").until(1.0, "more of the same"),
    row("mains-crossings").until(0.995, "the last crossing is at the end, and may fall behind it"),
    row("mass-on-belt"),
    row("medical-akzo-nobel").until(0.1, "four hundred unknowns"),
    row("multiple-root"),
    row("nand-gate").until(20.0, "more of the same").untrusted(TEST_SET),
    row("newtons-cradle").quick(),
    row("nilpotent").quick(),
    row("oregonator"),
    row("overdetermined"),
    row("pendulum-2.9"),
    row("pendulum-acceleration"),
    row("pendulum-dae").quick(),
    row("pendulum-energy"),
    row("pendulum-ggl"),
    row("pendulum-horizontal"),
    row("pendulum-long").until(5.0, "a period says as much as 500"),
    row("pendulum-overdetermined"),
    row("pendulum-second-order"),
    row("pendulum-twice"),
    row("pendulum-velocity"),
    row("pendulum").quick(),
    row("perturbation-index"),
    row("pleiades").until(1.0, "stars meet later"),
    row("pollution"),
    row("prescribed-jerk"),
    row("prescribed-output"),
    row("quadrotor"),
    row("redundant-underdetermined"),
    row("regular-pencil"),
    row("ring-modulator-index-2").until(1e-05, "a thousand oscillations"),
    row("ring-modulator").until(1e-05, "a thousand oscillations"),
    row("robertson"),
    row("roller-racer").until(3.0, "more of the same"),
    row("rolling-disc").until(2.0, "more of the same"),
    row("rope-cut").quick(),
    row("saddle-point"),
    row("sallen-key"),
    row("scotch-yoke").until(2.0, "more of the same"),
    row("second-order-linear"),
    row("second-order-mixed"),
    row("second-order-varying-rank"),
    row("semi-explicit"),
    row("shaking-table"),
    row("singular-pencil"),
    row("singular-point"),
    row("skateboard-1").until(2.0, "more of the same").but(&[("eom1 mexx", 200.0, "multipliers of long steps")]),
    row("skateboard-2").until(0.2, "more of the same"),
    row("slider-crank-equal-arms").stops("a branching point"),
    row("slider-crank-redundant").until(2.0, "more of the same").motion_only("redundant"),
    row("slider-crank").until(2.0, "more of the same"),
    row("sliding-regulator"),
    row("spring-chain-inverse"),
    row("steering-wheel").floor(1e-10),
    row("stephenson-six-bar").until(0.5, "more of the same"),
    row("stirred-tank"),
    row("stribeck-blocks").but(&[(
        "bdf",
        f64::INFINITY,
        "at 1e-3 the last switch, at 9.994 of 10, falls behind the end",
    )]),
    row("switched-regulator"),
    row("tank-temperature"),
    row("thermostat").until(85_250.0, "a switch near the end may fall behind it"),
    row("three-joint-arm"),
    row("transistor-amplifier").until(0.02, "more of the same"),
    row("truck").until(2.0, "more of the same").but(&[
        ("hem4", 300.0, STIFF),
        ("hem5", 300.0, STIFF),
        ("hedop5", 1000.0, STIFF),
        ("mexx", 2000.0, STIFF),
        ("dopri5", 1000.0, STIFF),
        ("partition", 1000.0, STIFF),
        ("tangent", 1000.0, STIFF),
        ("p1 geoms", 2e4, STIFF_FORCES),
        ("p1 radau", 2e4, STIFF_FORCES),
        ("ggl radau", 2e4, STIFF_FORCES),
        ("p1 bdf", 5e3, STIFF_FORCES),
        ("ggl bdf", 5e3, STIFF_FORCES),
    ]),
    row("two-bit-adder").until(1.0, "more of the same").untrusted(TEST_SET),
    row("valve-servo"),
    row("varactor-delta"),
    row("varying-rank"),
    row("voltage-doubler"),
    row("water-tube").untrusted(TEST_SET),
    row("wheelset").until(0.05, "more of the same").grows(3.0, "contact forces are stiff"),
];
