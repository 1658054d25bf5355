//! What is kept of a run.

use super::place::Place;
use crate::event::Happened;
use crate::hybrid::{HybridSolution, Jump, ModeNames, Occurrence, Phase, Switch};
use crate::method::{State, Stepper};
use crate::options::Save;
use crate::segment::Segment;
use crate::solution::Ended;
use crate::statistics::{Residuals, Statistics};
use crate::verify::Verification;

/// Writes down a run.
pub struct Record {
    save: Save,
    /// next time of [`Save::At`]
    next: usize,
    pub solution: HybridSolution,
    /// switches and phases that are kept at either end of the run
    kept: Option<usize>,
    /// of every place
    shares: Vec<Share>,
    x: Vec<f64>,
}

/// How much of a run one mode had.
#[derive(Clone, Debug, Default)]
struct Share {
    entered: u64,
    time: f64,
    /// largest |x_j|
    largest: Vec<f64>,
}

impl Record {
    /// Before the first point.
    pub fn new(save: &Save, kept: Option<usize>, t0: f64) -> Self {
        let solution = HybridSolution {
            modes: Vec::new(),
            phases: Vec::new(),
            switches: Vec::new(),
            events: Vec::new(),
            event_count: 0,
            switch_count: 0,
            chattering_count: 0,
            end: State { t: t0, x: Vec::new() },
            end_mode: 0,
            ended: Ended::ByFailure,
            statistics: Statistics::default(),
            max_residuals: Residuals::default(),
            warnings: Vec::new(),
            verification: None,
        };
        Record { save: save.clone(), next: 0, solution, kept, shares: Vec::new(), x: Vec::new() }
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
        self.share(mode).entered += 1;
        keep_ends(&mut self.solution.phases, self.kept.map(|kept| kept + 1));
        self.solution.phases.push(phase);
    }

    fn share(&mut self, mode: usize) -> &mut Share {
        if self.shares.len() <= mode {
            self.shares.resize(mode + 1, Share::default());
        }
        &mut self.shares[mode]
    }

    /// A mode was left for another one.
    pub fn switch(&mut self, switch: Switch) {
        self.solution.switch_count += 1;
        self.solution.chattering_count += u64::from(switch.chattering);
        keep_ends(&mut self.solution.switches, self.kept);
        self.solution.switches.push(switch);
    }

    /// Events happened in a mode.
    pub fn events(&mut self, mode: usize, unknowns: usize, happened: Vec<Happened>) {
        for mut event in happened {
            event.x.truncate(unknowns);
            event.xdot.truncate(unknowns);
            self.solution.event_count += 1;
            keep_ends(&mut self.solution.events, self.kept);
            self.solution.events.push(Occurrence { mode, event });
        }
    }

    /// What happened in between is not known: a line leads to this point.
    pub fn bridge(&mut self, (t0, x0): (f64, &[f64]), (t1, x1): (f64, &[f64])) {
        let Some(phase) = self.solution.phases.last_mut() else { return };
        let (n, mode) = (phase.n, phase.mode);
        phase.t1 = t1;
        match &self.save {
            Save::End => {}
            Save::Steps => phase.push(t1, x1),
            Save::Dense => {
                phase.push(t1, x1);
                let mut line = Segment::with_room(t1, x1, 1);
                let slopes = &mut line.powers(t0, t1)[x1.len()..];
                slopes.iter_mut().zip(x0.iter().zip(x1)).for_each(|(slope, (x0, x1))| *slope = x1 - x0);
                phase.segments.push(line);
            }
            Save::At(times) => {
                while let Some(&wanted) = times.get(self.next).filter(|&&wanted| wanted <= t1) {
                    let part = (wanted - t0) / (t1 - t0);
                    self.x.clear();
                    self.x.extend(x0.iter().zip(x1).map(|(x0, x1)| x0 + part * (x1 - x0)));
                    phase.push(wanted, &self.x);
                    self.next += 1;
                }
            }
        }
        self.share(mode).time += t1 - t0;
        self.here(mode, t1, &x1[..n]);
    }

    /// A step, or the part of it up to a time, was made: to the state of the stepper, or to another one there.
    pub fn step(&mut self, stepper: &mut dyn Stepper, t: f64, other: Option<&[f64]>) {
        let Some(phase) = self.solution.phases.last_mut() else { return };
        let (n, mode) = (phase.n, phase.mode);
        let length = t - phase.t1;
        phase.t1 = t;
        match &self.save {
            Save::End => {}
            Save::Steps => phase.push(t, other.unwrap_or(&stepper.state().x)),
            Save::Dense => {
                phase.push(t, other.unwrap_or(&stepper.state().x));
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
                        phase.push(t, other.unwrap_or(&stepper.state().x));
                    }
                    self.next += 1;
                }
            }
        }
        self.share(mode).time += length;
        self.here(mode, t, &other.unwrap_or(&stepper.state().x)[..n]);
    }

    /// A formula of the mode jumps: the state goes on with other values.
    pub fn jumped(&mut self, t: f64, x: &[f64]) {
        let Some(phase) = self.solution.phases.last_mut() else { return };
        let (n, mode) = (phase.n, phase.mode);
        phase.t1 = t;
        match &self.save {
            // what jumps has two values, with a polynomial of no length between them
            Save::Steps => phase.push(t, x),
            Save::Dense => {
                phase.push(t, x);
                phase.segments.push(Segment::with_room(t, x, 1));
            }
            Save::At(times) => {
                while let Some(&wanted) = times.get(self.next).filter(|&&wanted| wanted <= t) {
                    phase.push(wanted, x);
                    self.next += 1;
                }
            }
            Save::End => {}
        }
        self.here(mode, t, &x[..n]);
    }

    fn here(&mut self, mode: usize, t: f64, x: &[f64]) {
        let end = &mut self.solution.end;
        end.t = t;
        end.x.clear();
        end.x.extend_from_slice(x);
        self.solution.end_mode = mode;
        let largest = &mut self.share(mode).largest;
        largest.resize(x.len(), 0.0);
        for (largest, x) in largest.iter_mut().zip(x) {
            *largest = largest.max(x.abs());
        }
    }

    /// The run is over.
    pub fn finish(mut self, places: &mut [Place], ended: Ended, verified: bool) -> HybridSolution {
        if verified {
            let mut found = Verification::default();
            for place in places.iter_mut() {
                found.add(place.verification());
            }
            self.solution.verification = Some(found);
        }
        self.solution.modes = places.iter().map(Place::names).collect::<Vec<ModeNames>>();
        for (mode, share) in self.solution.modes.iter_mut().zip(self.shares) {
            (mode.entered, mode.time, mode.largest) = (share.entered, share.time, share.largest);
        }
        let all = self.solution.modes.iter().map(|mode| mode.statistics);
        self.solution.statistics = all.fold(Statistics::default(), Statistics::plus);
        self.solution.statistics.events = self.solution.switch_count + self.solution.event_count;
        self.solution.ended = ended;
        self.solution
    }
}

/// Make room for one more: with a limit, the first ones and the last ones are kept, so many of each.
fn keep_ends<T>(list: &mut Vec<T>, kept: Option<usize>) {
    if let Some(kept) = kept
        && list.len() >= (2 * kept).max(1)
    {
        list.remove(kept.min(list.len() - 1));
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
