//! What a way of solving promises, in words that are data.

use super::run::{Level, Way};

/// Errors up to this many tolerances are what one-step methods and GEOMS promise.
const OF_STEPS: f64 = 100.0;
/// Collocation methods compare steps of order five with an estimate of order three: their errors fall with the power 5/6 of the tolerance, so
/// that the multiple grows thirty times from 1e-3 to 1e-12.
const OF_COLLOCATION: f64 = 300.0;
/// BDF estimates the errors of single steps, which add up.
const OF_BDF: f64 = 1000.0;
/// So do explicit methods without projection, or in the coordinates of a chart.
const OF_CHARTS: f64 = 300.0;
/// Estimates of a low order: at 1e-3 steps are as long as the motion allows.
const OF_LOW_ORDER: f64 = 1000.0;
/// The same where errors of single steps also lead off the constraints, and grow with the second or third power of time.
const OF_DRIFT: f64 = 1e5;
const OF_ODE: f64 = 1e6;
/// Orders that vary are others at every tolerance, and what a step of order 13 leaves below its estimate is a matter of chance: on the stiff start of
/// the wheelset errors are 20, 5 and 500 tolerances at 1e-8, 1e-9 and 1e-10, on the whole of its interval those of three stages.
const LUCK_OF_ORDERS: f64 = 10.0;
/// Errors of formulations of index 3 stop falling here: their iteration matrices are divided by h².
const STAGNATION: f64 = 1e-6;

/// Errors of the values that count stay below a multiple of the tolerance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Promise {
    /// Which values count: those up to this level.
    pub counts: Level,
    /// Of the tolerance.
    pub multiple: f64,
    /// Errors below this need not fall any more.
    pub floor: f64,
    /// Errors below this many tolerances are luck: the next one need not be as small.
    pub luck: f64,
    /// Does it stop where constraints lose rank?
    pub stops: bool,
    /// In a word, where it is not the usual one.
    pub why: &'static str,
}

/// Every value within a hundred tolerances.
pub const USUAL: Promise =
    Promise { counts: Level::Multiplier, multiple: OF_STEPS, floor: 0.0, luck: 1.0, stops: true, why: "" };

impl Promise {
    /// Of a way, whatever the model.
    pub fn of(way: &Way) -> Promise {
        let multiple = match way.method {
            "bdf" => OF_BDF,
            "radau" | "geoms" | "gmkssol" | "auto" => OF_COLLOCATION,
            _ => OF_STEPS,
        };
        let luck = if way.method == "auto" { LUCK_OF_ORDERS } else { USUAL.luck };
        let usual = Promise { multiple, luck, ..USUAL };
        match (way.form, way.method) {
            (_, "rattle" | "lobatto" | "alpha") => {
                let why = "constant steps, chosen at the start";
                Promise { counts: Level::Velocity, multiple: f64::INFINITY, why, ..usual }
            }
            (_, "hem3") | ("psf", "trapezoidal") => Promise { multiple: OF_LOW_ORDER, ..usual },
            (_, "dopri5" | "dop853" | "partition" | "tangent") => Promise { multiple: OF_CHARTS, ..usual },
            (_, "hedop5" | "hem4" | "hem5" | "mexx") => usual,
            ("eom", _) => Promise {
                counts: Level::Position,
                multiple: OF_DRIFT,
                floor: STAGNATION,
                why: "index 3: errors of velocities count h, of multipliers h² times",
                ..usual
            },
            ("eom1", _) => {
                Promise { multiple: OF_DRIFT, stops: false, why: "positions drift, also past singular ones", ..usual }
            }
            ("ode", _) => Promise {
                multiple: OF_ODE,
                stops: false,
                why: "drifts with the third power of time, also past singular points",
                ..usual
            },
            ("eom0" | "baumgarte", _) => Promise {
                multiple: OF_DRIFT,
                stops: false,
                why: "drifts off the constraints, also past singular points",
                ..usual
            },
            _ => usual,
        }
    }
}
