//! Hybrid systems: modes with their own equations, and transitions between them.
//!
//! Every problem is a structure of parameters with published or usual defaults, with functions that build the
//! [`Hybrid`](daedal::hybrid::Hybrid) system, and with what is known exactly about its solution.
//!
//! | problem | modes |
//! | --- | --- |
//! | [`boost_converter`] | linear, index 1 and 2 |
//! | [`friction_bodies`], [`belt`], [`bowed_string`] | stick and slip: sliding by hand, and generated |
//! | [`bouncing_ball`] | a transition to itself, infinitely many in finite time |
//! | [`diode_bridge`] | index 2 while a diode conducts |
//! | [`newtons_cradle`] | immediate transitions |
//! | [`clutch`] | equations of motion with and without constraint, impulses |
//! | [`relay`] | hysteresis |
//! | [`rope_cut`] | index 3, then none |
//! | [`no_solution`] | a mode without freedom |

pub mod belt;
pub mod boost_converter;
pub mod bouncing_ball;
pub mod bowed_string;
pub mod clutch;
pub mod diode_bridge;
pub mod friction_bodies;
pub mod newtons_cradle;
pub mod no_solution;
pub mod relay;
pub mod rope_cut;

use daedal::dae::{Dae, Point};
use daedal::graph::Expr;
use daedal::hybrid::{Condition, SwitchingFunction};
use daedal::method::{Integrator, StartFailure, Stepper};
use daedal::{Bdf, Options, RadauIIa};

/// The method that integrates the modes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ModeIntegrator {
    /// Radau IIa of order 5.
    #[default]
    Radau,
    /// Backward differentiation formulas of order 1 to 5.
    Bdf,
}

impl ModeIntegrator {
    /// Both.
    pub const ALL: [ModeIntegrator; 2] = [ModeIntegrator::Radau, ModeIntegrator::Bdf];
}

impl Integrator for ModeIntegrator {
    fn start<'p>(
        &self,
        system: Box<dyn Dae + 'p>,
        at: Point,
        options: &Options,
    ) -> Result<Box<dyn Stepper + 'p>, StartFailure> {
        match self {
            ModeIntegrator::Radau => RadauIIa::default().start(system, at, options),
            ModeIntegrator::Bdf => Bdf::default().start(system, at, options),
        }
    }
}

/// Is sliding written by hand, generated, or absent?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlidingBy {
    /// A mode of the system.
    ByHand,
    /// The system has no mode for it; the solver makes one if it is to look for sliding.
    Generated,
}

/// A condition along whose surface a system may slide: a switching function and its formula.
fn surface(
    name: &str,
    value: impl Fn(f64, &[f64]) -> f64 + 'static,
    formula: impl Fn(Expr, &[Expr]) -> Expr + 'static,
) -> Condition<'static> {
    let mut function = SwitchingFunction::new(name, value);
    function.formula = Some(Box::new(formula));
    Condition::of(function)
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}
