//! What the loop asks of equations beside their stepper: times that formulas know, states beyond a break and back on the constraints, and
//! reasons of failures.

use crate::dae::hidden::MinimalArray;
use crate::dae::{self, CharacteristicValues, System};
use crate::error::StepFailure;
use crate::explicit_time::{Crossing, Suspects, Timetable, cross_general, cross_motion};
use crate::initial::Initial;
use crate::method::{State, Stepper};
use crate::motion::{Form, Layout, Mechanism, WrongDeclaration, consistent, declared, view};
use crate::options::Options;

/// Equations along a run.
pub trait Course {
    /// What they know about times, where they have formulas.
    fn timetable(&self, interval: (f64, f64)) -> Option<Timetable>;
    /// Move a stepper beyond a time where formulas jump.
    fn cross(&self, stepper: &mut dyn Stepper, crossing: &Crossing, options: &Options) -> Result<(), StepFailure>;
    /// The formulas among which the reason of a failure may be.
    fn suspects(&self) -> Option<Suspects>;
    /// Bring a state back onto the constraints, which a polynomial satisfies at its ends only.
    fn restore(&self, t: f64, x: &mut [f64], options: &Options);
    /// Does the start of a run until tend refute what is declared about them?
    fn check(&self, _start: &State, _tend: f64) -> Result<(), Box<WrongDeclaration>> {
        Ok(())
    }
}

/// Equations of motion.
pub(crate) struct CourseOfMotion<'m>(pub &'m (dyn Mechanism + 'm));

impl Course for CourseOfMotion<'_> {
    fn timetable(&self, interval: (f64, f64)) -> Option<Timetable> {
        Timetable::of_motion(self.0, interval)
    }

    fn cross(&self, stepper: &mut dyn Stepper, crossing: &Crossing, options: &Options) -> Result<(), StepFailure> {
        cross_motion(self.0, stepper, crossing, options)
    }

    fn suspects(&self) -> Option<Suspects> {
        Suspects::motion(self.0)
    }

    fn restore(&self, t: f64, x: &mut [f64], options: &Options) {
        let form = Form::StrangenessFree;
        let layout = Layout::new(self.0.sizes(), form, false);
        let at = view(&layout, t, x);
        let initial =
            Initial::motion(t, at.p, at.v).dynamic(at.r).auxiliary(at.w).contact(at.s).multipliers(at.lambda, at.mu);
        if let Ok(consistent) = consistent::initialise_by(self.0, &initial, form, options.ranks()) {
            x.copy_from_slice(&consistent.state.x);
        }
    }

    fn check(&self, start: &State, tend: f64) -> Result<(), Box<WrongDeclaration>> {
        declared::check(self.0, (start.t, &start.x), tend)
    }
}

/// A general system.
pub(crate) struct CourseOfSystem<'s> {
    pub system: &'s System,
    /// formulas of its hidden constraints, where the states of the run have auxiliary unknowns for them
    pub array: Option<&'s MinimalArray>,
    /// if they are known
    pub values: Option<CharacteristicValues>,
}

impl Course for CourseOfSystem<'_> {
    fn timetable(&self, interval: (f64, f64)) -> Option<Timetable> {
        Timetable::of_system(self.system, interval)
    }

    fn cross(&self, stepper: &mut dyn Stepper, crossing: &Crossing, options: &Options) -> Result<(), StepFailure> {
        cross_general(self.system, stepper, crossing, options)
    }

    fn suspects(&self) -> Option<Suspects> {
        Some(Suspects::general(self.system))
    }

    fn restore(&self, t: f64, x: &mut [f64], options: &Options) {
        if let Some(values) = self.values {
            dae::restore(self.system, self.array, values, options.ranks(), (t, x));
        }
    }
}
