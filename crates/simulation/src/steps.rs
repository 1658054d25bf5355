//! The steps of a run, written down while they are made.

use daedal::Residuals;
use daedal::hybrid::ActiveMode;
use daedal::{Observer, StepView};
use daedal_run::StepRecords;
use std::ops::ControlFlow;

/// Name under which a run begins whose method is chosen along the way.
pub const AUTO: &str = "auto";

/// Order of the steps of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepOrder {
    /// The same in every step.
    Fixed(u32),
    /// The degree of the polynomial over the step.
    OfSegment,
    /// 2s − 1, where s is the degree of that polynomial.
    OfStages,
    /// Told when the run is over and its methods are known.
    Later,
    /// Not known.
    Unknown,
}

/// Writes down every accepted step.
pub struct StepRecorder {
    pub of_method: StepOrder,
    t: Vec<f64>,
    h: Vec<f64>,
    order: Vec<u32>,
    newton: Vec<u64>,
    residuals: Vec<Residuals>,
    /// Newton iterations up to the last step
    solves: u64,
}

impl<L> Observer<L> for StepRecorder {
    fn observe(&mut self, step: &StepView<L>) -> ControlFlow<()> {
        self.t.push(step.t);
        self.h.push((step.segment.t1 - step.segment.t0).abs());
        match self.of_method {
            StepOrder::Fixed(order) => self.order.push(order),
            StepOrder::OfSegment | StepOrder::Later => self.order.push(step.segment.degree() as u32),
            StepOrder::OfStages => self.order.push(2 * step.segment.degree() as u32 - 1),
            StepOrder::Unknown => {}
        }
        self.newton.push(step.statistics.solves.saturating_sub(self.solves));
        self.solves = step.statistics.solves;
        self.residuals.push(step.residuals);
        ControlFlow::Continue(())
    }
}

impl StepRecorder {
    /// Before the first step.
    pub fn new(of_method: StepOrder) -> Self {
        let (t, h, order, newton, residuals) = Default::default();
        StepRecorder { of_method, t, h, order, newton, residuals, solves: 0 }
    }

    /// Of steps whose order is told later this is it; only degrees of polynomials are known.
    pub fn settle(&mut self, order: StepOrder) {
        if self.of_method == StepOrder::Later {
            match order {
                StepOrder::Fixed(order) => self.order.fill(order),
                StepOrder::OfStages => self.order.iter_mut().for_each(|degree| *degree = 2 * *degree - 1),
                StepOrder::OfSegment | StepOrder::Later | StepOrder::Unknown => {}
            }
            self.of_method = order;
        }
    }

    /// The steps, in the shape of a run file.
    pub fn steps(self) -> StepRecords {
        let level = |read: fn(&Residuals) -> Option<f64>| {
            let there = self.residuals.iter().any(|residuals| read(residuals).is_some());
            there.then(|| self.residuals.iter().map(|residuals| read(residuals).unwrap_or(f64::NAN)).collect())
        };
        StepRecords {
            position: level(|r| r.position),
            velocity: level(|r| r.velocity),
            acceleration: level(|r| r.acceleration),
            invariant: level(|r| r.invariant),
            constraint: level(|r| r.constraint),
            hidden: level(|r| r.hidden),
            t: self.t,
            h: self.h,
            order: (self.of_method != StepOrder::Unknown).then_some(self.order),
            newton: Some(self.newton),
        }
    }
}

/// Writes down every accepted step of a run through several modes, with the order of the method of its mode.
pub struct ModeRecorder {
    pub steps: StepRecorder,
    pub modes: Vec<StepOrder>,
}

impl Observer<ActiveMode> for ModeRecorder {
    fn observe(&mut self, step: &StepView<ActiveMode>) -> ControlFlow<()> {
        // generated modes have the order of Radau IIa
        self.steps.of_method = self.modes.get(step.layout.mode).copied().unwrap_or(StepOrder::OF_RADAU);
        self.steps.observe(step)
    }
}

impl StepOrder {
    /// That of Radau IIa with three stages.
    pub const OF_RADAU: StepOrder = StepOrder::Fixed(5);

    /// Of a method by its name.
    pub fn of(method: &str) -> StepOrder {
        match method {
            "gmkssol" => StepOrder::OF_RADAU,
            // with s stages the polynomial has degree s, and the order is 2s − 1
            "geoms" | "radau" => StepOrder::OfStages,
            "bdf" => StepOrder::OfSegment,
            AUTO => StepOrder::Later,
            _ => StepOrder::Unknown,
        }
    }
}
