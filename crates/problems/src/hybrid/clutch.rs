//! A clutch between an engine and a load.
//!
//! ```text
//! slipping:  J₁ ω₁' = T₁(t) − T,   J₂ ω₂' = T − T₂                 T the friction, 0 while the clutch is open
//! engaged:   J₁ ω₁' = T₁(t) − μ,   J₂ ω₂' = μ − T₂,   0 = ω₁ − ω₂   μ the moment it transmits
//! ```
//! As equations of motion: engaging adds a constraint of the velocities. A dog clutch closes suddenly; the velocities jump to
//! (J₁ω₁ + J₂ω₂)/(J₁ + J₂), and ½ J₁J₂/(J₁ + J₂) (ω₁ − ω₂)² of the energy is lost. A friction clutch slips until the velocities are equal, holds
//! while |μ| is smaller than its capacity, and slips again.

use daedal::hybrid::{Hybrid, Mode, Restart, Schedule, Transition};
use daedal::linalg::Matrix;
use daedal::motion::{EquationsOfMotion, Form, Layout, Motion, Names, Position, Sizes, Velocity};
use daedal::scalar::Scalar;
use daedal::{Geoms, Start};

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clutch {
    /// Inertias of engine and load.
    pub inertia: [f64; 2],
    /// Moment of the engine, T₁ = constant + amplitude · sin t.
    pub engine: [f64; 2],
    /// Moment of the load.
    pub load: f64,
    /// Friction while the clutch slips, and largest moment while it is engaged.
    pub capacity: f64,
    /// Velocities at the start.
    pub start: [f64; 2],
    /// When the dog clutch closes and when it opens.
    pub closes: [f64; 2],
}

impl Default for Clutch {
    fn default() -> Self {
        Clutch {
            inertia: [0.2, 0.8],
            engine: [10.0, 15.0],
            load: 4.0,
            capacity: 20.0,
            start: [100.0, 0.0],
            closes: [0.5, 1.25],
        }
    }
}

/// The kinds of clutch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClutchKind {
    /// Closes and opens at given times, without slipping.
    Dog,
    /// Friction.
    Friction,
}

impl Clutch {
    /// The system: mode 0 is open (dog) or slips forward (friction), mode 1 is engaged.
    pub fn system(&self, kind: ClutchKind) -> Hybrid<'static> {
        let mut hybrid = Hybrid::new();
        let capacity = self.capacity;
        let shafts = |friction: f64, engaged: bool| Shafts { of: *self, friction, engaged };
        let mu = Layout::new(shafts(0.0, true).sizes(), Form::StrangenessFree, false).mu().start;
        let v = Layout::new(shafts(0.0, false).sizes(), Form::StrangenessFree, false).v().start;
        match kind {
            ClutchKind::Dog => {
                let open = hybrid.mode(Mode::motion("open", shafts(0.0, false), Geoms::default()));
                let engaged = hybrid.mode(Mode::motion("engaged", shafts(0.0, true), Geoms::default()));
                let [close, reopen] = self.closes.map(|t| Schedule::Times(vec![t]));
                hybrid.transition(Transition::at(open, engaged, close).restart(Restart::Momentum));
                hybrid.transition(Transition::at(engaged, open, reopen));
            }
            ClutchKind::Friction => {
                let forward = hybrid.mode(Mode::motion("slips forward", shafts(capacity, false), Geoms::default()));
                let engaged = hybrid.mode(Mode::motion("engaged", shafts(0.0, true), Geoms::default()));
                let backward = hybrid.mode(Mode::motion("slips backward", shafts(-capacity, false), Geoms::default()));
                hybrid.transition(Transition::when(forward, engaged, "w1 <= w2", move |_, x| x[v] - x[v + 1]));
                hybrid.transition(Transition::when(backward, engaged, "w1 >= w2", move |_, x| x[v + 1] - x[v]));
                hybrid.transition(Transition::when(engaged, forward, "mu >= capacity", move |_, x| capacity - x[mu]));
                hybrid.transition(Transition::when(engaged, backward, "mu <= -capacity", move |_, x| capacity + x[mu]));
            }
        }
        hybrid
    }

    /// What is known at the start, in the order of the names of mode 0: ω', ω, φ.
    pub fn start(&self) -> Vec<Start> {
        let mut start = vec![Start::Unknown; 2];
        start.extend(self.start.map(Start::Fixed));
        start.extend([Start::Fixed(0.0); 2]);
        start
    }

    /// T₁(t).
    pub fn torque(&self, t: f64) -> f64 {
        self.engine[0] + self.engine[1] * t.sin()
    }

    /// ∫ T₁ from 0 to t.
    pub fn impulse(&self, t: f64) -> f64 {
        self.engine[0] * t + self.engine[1] * (1.0 - t.cos())
    }

    /// The moment that the engaged clutch transmits at a time.
    pub fn transmitted(&self, t: f64) -> f64 {
        let [j1, j2] = self.inertia;
        (j2 * self.torque(t) + j1 * self.load) / (j1 + j2)
    }

    /// Kinetic energy.
    pub fn energy(&self, w: [f64; 2]) -> f64 {
        0.5 * (self.inertia[0] * w[0].powi(2) + self.inertia[1] * w[1].powi(2))
    }
}

/// Both shafts, in one mode.
#[derive(Clone, Copy, Debug)]
pub struct Shafts {
    /// The parameters.
    pub of: Clutch,
    /// Friction from the engine to the load.
    pub friction: f64,
    /// Are they engaged?
    pub engaged: bool,
}

impl EquationsOfMotion for Shafts {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 2, velocities: 2, nonholonomic: usize::from(self.engaged), ..Sizes::default() }
    }
    fn names(&self) -> Names {
        let names = Names::numbered(&self.sizes()).motion(&["phi1", "phi2"], &["w1", "w2"]);
        if self.engaged { names.constraints(&[], &["clutch"]) } else { names }
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        M[(0, 0)] = S::from(self.of.inertia[0]);
        M[(1, 1)] = S::from(self.of.inertia[1]);
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        f[0] = at.t.sin() * self.of.engine[1] + (self.of.engine[0] - self.friction);
        f[1] = S::from(self.friction - self.of.load);
    }
    fn nonholonomic<S: Scalar>(&self, at: &Velocity<S>, h: &mut [S]) {
        if self.engaged {
            h[0] = at.v[0] - at.v[1];
        }
    }
}
