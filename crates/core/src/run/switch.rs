//! From one mode to another: which transition, what it does to the state, and what is told about it.

use super::Execution;
use super::exit::{Reason, Target};
use super::rearranged::{carried, starts};
use super::record::jumps;
use crate::hybrid::{
    Detection, Entered, HybridFailure, ModeEntry, Part, Repair, Restart, Smoothness, Switch, SwitchKind, Transfer,
    Warning,
};

/// Changes below this many times the tolerance are no jumps.
const JUMP: f64 = 10.0;
/// Excursions below this many times the uncertainty of a switching function are noise.
pub const NOISE: f64 = 25.0;

/// What a switch does with the state.
pub struct StateChange<'h> {
    pub transition: Option<usize>,
    pub transfer: Option<&'h Transfer<'h>>,
    /// the mode whose unknowns the transfer expects, if it is not the active one
    pub expects: Option<usize>,
    pub restart: Option<Restart>,
    pub keep: &'h [String],
    pub kind: SwitchKind,
    pub condition: String,
}

/// A mode that was entered.
pub struct EnteredMode {
    pub entered: Entered,
    /// the state that was to be made consistent, not a number for what is new
    pub given: Vec<f64>,
    pub restart: Restart,
}

impl<'h> Execution<'_, 'h> {
    /// Which of several ways out is taken.
    pub fn choose(&self, due: &[usize], t: f64) -> Result<usize, HybridFailure> {
        let exits = &self.places[self.active].exits;
        let most = due.iter().map(|&k| exits[k].priority).max().flatten();
        let first: Vec<usize> = due.iter().copied().filter(|&k| exits[k].priority == most).collect();
        let plain = |k: usize| {
            let changes = exits[k].transition.is_some_and(|j| self.system.transitions[j].transfer.is_some());
            !changes && exits[k].to == exits[first[0]].to
        };
        if first.len() == 1 || first.iter().all(|&k| plain(k)) {
            return Ok(first[0]);
        }
        let transitions = first.iter().map(|&k| {
            let to = match &exits[k].to {
                Target::Mode(mode) => self.name(*mode),
                Target::Side { .. } | Target::Apart { .. } => "the end of sliding".into(),
                Target::Across(_) => "another surface".into(),
            };
            format!("`{}` → `{to}`", exits[k].name())
        });
        let transitions = transitions.collect();
        Err(HybridFailure::Ambiguous { t, mode: self.name(self.active), transitions })
    }

    /// Leave the active mode at time t with the state in `x`. Returns ways out of the new mode whose functions are zero because sliding along
    /// them has ended.
    pub fn switch(&mut self, due: &[usize], t: f64, kind: SwitchKind) -> Result<Vec<usize>, HybridFailure> {
        let count = self.record.solution.switch_count;
        if count >= self.hybrid.max_switches {
            let last = self.record.solution.switches.last();
            let modes = last.map(|s| vec![self.name(s.from), self.name(s.to)]).unwrap_or_default();
            return Err(HybridFailure::TooManySwitches { t, count, modes });
        }
        let chosen = self.choose(due, t)?;
        let exit = &self.places[self.active].exits[chosen];
        let (condition, to, transition) = (exit.name(), exit.to.clone(), exit.transition);
        let kind = match exit.reason {
            Reason::Times(_) => SwitchKind::Scheduled,
            _ if kind == SwitchKind::Scheduled => SwitchKind::Regular,
            _ => kind,
        };
        let lost = self.watch.stays_near_zero(chosen, NOISE);
        match to {
            Target::Mode(to) => self.follow(transition, to, t, kind, condition, chosen).map(|()| Vec::new()),
            Target::Side { surface, side } => self.leave_surface(surface, side, t, condition),
            Target::Apart { surface } => self.leave_surface(surface, self.nearer_side(surface), t, condition),
            Target::Across(transitions) => {
                self.cross_while_sliding(&transitions, t, condition, lost).map(|()| Vec::new())
            }
        }
    }

    /// A transition of the system.
    pub fn follow(
        &mut self,
        transition: Option<usize>,
        to: usize,
        t: f64,
        kind: SwitchKind,
        condition: String,
        exit: usize,
    ) -> Result<(), HybridFailure> {
        let from = self.active;
        let described = transition.map(|j| &self.system.transitions[j]);
        let transfer = described.and_then(|t| t.transfer.as_ref());
        let restart = described.and_then(|t| t.restart);
        let keep: &[String] = described.map_or(&[], |t| &t.keep);
        // a mode that slides between others is left by their transitions
        let expects = described.map(|t| t.from);
        let mut change = StateChange { transition, transfer, expects, restart, keep, kind, condition };
        let chattering = match kind {
            SwitchKind::Regular => {
                let lost = self.watch.stays_near_zero(exit, NOISE);
                let short = self.history.switched(t, transition, self.hybrid.chatter_time, lost, &self.here.x);
                short && self.hybrid.detection != Detection::Off
            }
            _ => false,
        };
        // infinitely many in finite time?
        if let Some(j) = transition
            && kind == SwitchKind::Regular
            && let Some(accumulation) = self.accumulates(j, exit, t)
        {
            let Some(follower) = self.system.transitions[j].after_accumulation else {
                let (limit, count, ratio) = (accumulation.limit, accumulation.count, accumulation.ratio);
                return Err(HybridFailure::Accumulation { t, limit, count, ratio, condition: change.condition });
            };
            let limit = self.bridge(j, &accumulation, t);
            // what the transition does, infinitely often, has come to its limit
            (change.kind, change.transfer) = (SwitchKind::Accumulation, None);
            self.history.forget();
            return self.enter(follower, limit, &change, chattering);
        }
        let before = self.here.clone();
        let candidate = match (transition, kind) {
            (Some(j), SwitchKind::Regular | SwitchKind::Immediate) => self.sliding_candidate(j, t, chattering),
            _ => None,
        };
        let placed = self.place(to, t, &change)?;
        if let (Some(width), Some(j)) = (candidate, transition)
            && self.slides(j, to, t, &before, chattering)
        {
            if self.begin_sliding(from, j, to, width, t, &before, chattering, &change.condition) {
                return Ok(());
            }
            // the attempt may have moved a stepper
            self.here = before;
            self.place(to, t, &change)?;
        }
        self.told(to, t, &change, chattering, placed);
        Ok(())
    }

    /// Enter a mode and tell about it.
    pub fn enter(
        &mut self,
        to: usize,
        t: f64,
        change: &StateChange<'h>,
        chattering: bool,
    ) -> Result<(), HybridFailure> {
        let placed = self.place(to, t, change)?;
        self.told(to, t, change, chattering, placed);
        Ok(())
    }

    /// Put the stepper of a mode to the state in `x` of the active mode, changed and made consistent.
    pub fn place(&mut self, to: usize, t: f64, change: &StateChange<'h>) -> Result<EnteredMode, HybridFailure> {
        let (old, new) = (&self.places[self.active], &self.places[to]);
        let mut y = carried(&self.here.x, &old.unknowns, &new.unknowns);
        if let Some(transfer) = change.transfer {
            let known: Vec<bool> = y.iter().map(|y| !y.is_nan()).collect();
            match change.expects.filter(|&mode| mode != self.active) {
                None => transfer(t, &self.here.x, &self.here.xdot, &mut y),
                Some(mode) => {
                    let arranged = |x: &[f64]| carried(x, &old.unknowns, &self.places[mode].unknowns);
                    transfer(t, &arranged(&self.here.x), &arranged(&self.here.xdot), &mut y);
                }
            }
            let wrong = (0..y.len()).find(|&j| y[j].is_infinite() || (y[j].is_nan() && known[j]));
            if let Some(j) = wrong {
                return Err(HybridFailure::Transfer {
                    t,
                    from: old.name.clone(),
                    to: new.name.clone(),
                    condition: change.condition.clone(),
                    name: new.unknowns[j].clone(),
                    value: y[j],
                });
            }
        }
        let from = Some((old.name.clone(), change.condition.clone()));
        let mode = new.name.clone();
        let restart = change.restart.unwrap_or(new.restart());
        let entered = starts(&y, &new.unknowns, &[new.keep(), change.keep])
            .map(|start| ModeEntry { t, start, restart: Some(restart) })
            .and_then(|entry| self.places[to].enter(&entry, self.options, self.interval.1));
        match entered {
            Ok(entered) => Ok(EnteredMode { entered, given: y, restart }),
            Err(cause) => Err(HybridFailure::Enter { t, mode, from, cause: Box::new(cause) }),
        }
    }

    /// What making a state consistent changed by more than the tolerance.
    fn repair(&self, to: usize, placed: &EnteredMode, after: &[f64]) -> Option<Repair> {
        let place = &self.places[to];
        let mut moved: Vec<(Part, f64)> = Vec::new();
        for (j, (&given, &after)) in placed.given.iter().zip(after).enumerate() {
            let change = (after - given).abs();
            let size = given.abs().max(after.abs());
            let (rtol, atol) = self.tolerance_of(&place.unknowns[j]);
            if !(change > JUMP * (rtol * size + atol)) || place.bookkeeping.contains(&j) {
                continue;
            }
            let part = place.part(j);
            match moved.iter_mut().find(|(known, _)| *known == part) {
                Some((_, most)) => *most = most.max(change),
                None => moved.push((part, change)),
            }
        }
        (!moved.is_empty()).then_some(Repair { restart: placed.restart, moved, balance: placed.entered.balance })
    }

    /// The new mode is active now.
    pub fn told(&mut self, to: usize, t: f64, change: &StateChange<'h>, chattering: bool, placed: EnteredMode) {
        let from = self.active;
        let (old, new) = (&self.places[from], &self.places[to]);
        let after = new.at().state().x[..new.unknowns.len()].to_vec();
        let before = self.here.x[..old.unknowns.len()].to_vec();
        let tolerance = |name: &str, size: f64| {
            let (rtol, atol) = self.tolerance_of(name);
            JUMP * (rtol * size + atol)
        };
        let mut jumps = jumps((&before, &old.unknowns), (&after, &new.unknowns), tolerance);
        let bookkeeping = |name: &String| new.bookkeeping.iter().any(|&j| new.unknowns[j] == *name);
        jumps.retain(|jump| !bookkeeping(&jump.name));
        let repair = self.repair(to, &placed, &after);
        // impulses of constraints that were met to the tolerance are noise
        let Entered { impulses, higher_impulses, .. } =
            if jumps.is_empty() { Entered::default() } else { placed.entered };
        let smoothness = if jumps.is_empty() {
            Smoothness::Smooth
        } else if change.transfer.is_some() {
            Smoothness::Transfer
        } else {
            Smoothness::Restart
        };
        if chattering && change.kind != SwitchKind::SlidingBegins {
            let message =
                format!("the modes `{}` and `{}` chatter: three switches in short succession", old.name, new.name);
            self.warn_once(from, to, t, message);
        }
        self.record.switch(Switch {
            t,
            from,
            to,
            transition: change.transition,
            condition: change.condition.clone(),
            kind: change.kind,
            smoothness,
            jumps,
            impulses,
            higher_impulses,
            repair,
            chattering,
            before,
            after,
        });
        self.active = to;
        let place = &self.places[to];
        self.record.begin(to, t, &place.at().state().x, place.unknowns.len());
        self.read_state();
    }

    /// A warning about two modes, unless there was one.
    pub fn warn_once(&mut self, from: usize, to: usize, t: f64, message: String) {
        let pair = (from.min(to), from.max(to));
        if !self.warned.contains(&pair) {
            self.warned.push(pair);
            self.record.solution.warnings.push(Warning { t, message });
        }
    }
}
