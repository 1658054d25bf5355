//! What is kept of a hybrid run.

use super::place::Place;
use super::solution::{HybridSolution, Jump, ModeNames, Phase};
use crate::method::{State, Stepper};
use crate::options::Save;
use crate::solution::Ended;
use crate::statistics::{Residuals, Statistics};

/// Writes down a run.
pub struct Record {
    save: Save,
    /// next time of [`Save::At`]
    next: usize,
    pub solution: HybridSolution,
    /// largest |x_j| of every mode
    largest: Vec<Vec<f64>>,
    x: Vec<f64>,
}

impl Record {
    /// Before the first point.
    pub fn new(save: &Save, t0: f64) -> Self {
        let solution = HybridSolution {
            modes: Vec::new(),
            phases: Vec::new(),
            switches: Vec::new(),
            end: State { t: t0, x: Vec::new() },
            end_mode: 0,
            ended: Ended::ByFailure,
            statistics: Statistics::default(),
            max_residuals: Residuals::default(),
            warnings: Vec::new(),
        };
        Record { save: save.clone(), next: 0, solution, largest: Vec::new(), x: Vec::new() }
    }

    /// A phase begins. Times at which the solution is wanted are served before a switch, unless the run begins.
    pub fn begin(&mut self, mode: usize, t: f64, x: &[f64], unknowns: usize) {
        let n = unknowns.min(x.len());
        let mut phase = Phase { mode, t0: t, t1: t, times: Vec::new(), states: Vec::new(), segments: Vec::new(), n };
        match &self.save {
            Save::Steps | Save::Dense => phase.push(t, x),
            Save::At(times) => {
                while times.get(self.next).is_some_and(|&wanted| wanted <= t) {
                    phase.push(t, x);
                    self.next += 1;
                }
            }
            Save::End => {}
        }
        self.here(mode, t, &x[..n]);
        self.solution.phases.push(phase);
    }

    /// A step, or the part of it up to a time, was made.
    pub fn step(&mut self, stepper: &mut dyn Stepper, t: f64, x: &[f64]) {
        let Some(phase) = self.solution.phases.last_mut() else { return };
        let (n, mode) = (phase.n, phase.mode);
        phase.t1 = t;
        match &self.save {
            Save::End => {}
            Save::Steps => phase.push(t, x),
            Save::Dense => {
                phase.push(t, x);
                stepper.refine();
                phase.segments.push(stepper.segment().clone());
            }
            Save::At(times) => {
                self.x.resize(stepper.segment().dim(), 0.0);
                while let Some(&wanted) = times.get(self.next).filter(|&&wanted| wanted <= t) {
                    if wanted < t {
                        stepper.inside(wanted, &mut self.x);
                        phase.push(wanted, &self.x);
                    } else {
                        phase.push(t, x);
                    }
                    self.next += 1;
                }
            }
        }
        self.here(mode, t, &x[..n]);
    }

    /// A formula of the mode jumps: the state goes on with other values.
    pub fn jumped(&mut self, t: f64, x: &[f64]) {
        let Some(phase) = self.solution.phases.last_mut() else { return };
        let (n, mode) = (phase.n, phase.mode);
        phase.t1 = t;
        match &self.save {
            // what jumps has two values
            Save::Steps => phase.push(t, x),
            Save::At(times) => {
                while let Some(&wanted) = times.get(self.next).filter(|&&wanted| wanted <= t) {
                    phase.push(wanted, x);
                    self.next += 1;
                }
            }
            Save::Dense | Save::End => {}
        }
        self.here(mode, t, &x[..n]);
    }

    fn here(&mut self, mode: usize, t: f64, x: &[f64]) {
        let end = &mut self.solution.end;
        end.t = t;
        end.x.clear();
        end.x.extend_from_slice(x);
        self.solution.end_mode = mode;
        if self.largest.len() <= mode {
            self.largest.resize(mode + 1, Vec::new());
        }
        let largest = &mut self.largest[mode];
        largest.resize(x.len(), 0.0);
        for (largest, x) in largest.iter_mut().zip(x) {
            *largest = largest.max(x.abs());
        }
    }

    /// The run is over.
    pub fn finish(mut self, places: &[Place], ended: Ended) -> HybridSolution {
        self.solution.modes = places.iter().map(Place::names).collect::<Vec<ModeNames>>();
        for (mode, largest) in self.solution.modes.iter_mut().zip(self.largest) {
            mode.largest = largest;
        }
        let all = self.solution.modes.iter().map(|mode| mode.statistics);
        self.solution.statistics = all.fold(Statistics::default(), Statistics::plus);
        self.solution.statistics.events = self.solution.switches.len() as u64;
        self.solution.ended = ended;
        self.solution
    }
}

impl Phase {
    fn push(&mut self, t: f64, x: &[f64]) {
        self.times.push(t);
        self.states.extend_from_slice(&x[..self.n]);
    }
}

/// Components that two modes share and that differ by more than their tolerance.
pub fn jumps(
    (before, old): (&[f64], &[String]),
    (after, new): (&[f64], &[String]),
    tolerance: impl Fn(&str, f64) -> f64,
) -> Vec<Jump> {
    let mut jumps = Vec::new();
    for (name, &after) in new.iter().zip(after) {
        if let Some(j) = old.iter().position(|other| other == name)
            && let Some(&before) = before.get(j)
            && (after - before).abs() > tolerance(name, before.abs().max(after.abs()))
        {
            jumps.push(Jump { name: name.clone(), before, after });
        }
    }
    jumps
}
