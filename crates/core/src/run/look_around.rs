//! Where the run stands, and which conditions hold there.

use super::{Execution, StateAndRate};
use crate::hybrid::watch::Here;
use crate::hybrid::{HybridFailure, SwitchKind};

/// Modes that messages show of a cycle.
const SHOWN: usize = 6;

impl Execution<'_, '_> {
    /// Look at the conditions where a place was entered; those that hold are followed at once.
    pub fn look_around(&mut self, held: &[usize]) -> Result<(), HybridFailure> {
        let mut held = held.to_vec();
        loop {
            let place = &mut self.places[self.active];
            let t = place.at().state().t;
            if self.entered != t {
                self.immediate.clear();
                self.entered = t;
            }
            self.immediate.push(self.active);
            self.read_state();
            self.start_watching(&held)?;
            if self.dwells(t) {
                self.tell_dropped(t);
                return self.begin_events();
            }
            let place = &self.places[self.active];
            let due = self.watch.true_exits(&place.exits);
            if due.is_empty() {
                return self.begin_events();
            }
            let count = self.immediate.len() as u32;
            if count > self.hybrid.max_immediate {
                let cycle = self.immediate.iter().rev().take(SHOWN).rev().map(|&k| self.name(k)).collect();
                return Err(HybridFailure::EndlessSwitching { t, count, cycle });
            }
            held = self.switch(&due, t, SwitchKind::Immediate)?;
        }
    }

    /// State and derivative of a mode that was entered.
    pub fn stand(&mut self, place: usize) -> StateAndRate {
        let stepper = self.places[place].stepper();
        let x = stepper.state().x.clone();
        let mut xdot = vec![0.0; x.len()];
        stepper.rates(&mut xdot);
        StateAndRate { x, xdot }
    }

    /// State and derivative of the active place.
    pub fn read_state(&mut self) {
        let stepper = self.places[self.active].stepper();
        self.here.x.clear();
        self.here.x.extend_from_slice(&stepper.state().x);
        self.here.xdot.resize(self.here.x.len(), 0.0);
        stepper.rates(&mut self.here.xdot);
    }

    /// What the tolerances leave open in the state of the active place.
    pub fn scales(&self) -> Vec<f64> {
        let tolerances = &self.places[self.active].tolerances;
        self.here.x.iter().zip(tolerances).map(|(x, (rtol, atol))| rtol * x.abs() + atol).collect()
    }

    /// Watch the conditions of the active place from here on.
    pub fn start_watching(&mut self, held: &[usize]) -> Result<(), HybridFailure> {
        let scales = self.scales();
        let place = &self.places[self.active];
        let t = place.at().state().t;
        let (x, xdot, probe, fine) =
            (&self.here.x, &self.here.xdot, self.hybrid.probe, self.fine.map(|(fine, _)| fine));
        let here = Here { t, x, xdot, scales: &scales, probe, fine };
        let started = self.watch.start(&place.exits, here, held);
        started.map_err(|none| HybridFailure::Undefined {
            t: none.t,
            mode: place.name.clone(),
            condition: place.exits[none.exit].name(),
        })
    }
}
