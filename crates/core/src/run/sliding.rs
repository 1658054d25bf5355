//! Sliding: is it possible, how does it begin, where does it end.

use super::exit::{Composite, Exit, Sheet, Target};
use super::rearranged::carried;
use super::switch::StateChange;
use super::{Execution, StateAndRate};
use crate::hybrid::slide::{
    along, beyond, constant_width, convex_parameters, generate, opposite, side, surface_function,
};
use crate::hybrid::watch::uncertainty;
use crate::hybrid::{Detection, HybridFailure, Hysteresis, SlidingMode, SwitchKind, Warning};

/// Sliding begins if the convex parameters lie in [0, 1] up to this.
const ROUNDED: f64 = 1e-6;
/// A state lies on a surface up to this many times what its tolerances leave open in the switching function: a restart may have moved it.
const ON_THE_SURFACE: f64 = 10.0;
/// Widths of a hysteresis are the same if they differ by less than this part of them: that is rounding.
const SAME_WIDTH: f64 = 1e-9;

impl<'h> Execution<'_, 'h> {
    /// A mode that was written for sliding between two modes.
    fn written(&self, from: usize, to: usize) -> Option<&'h SlidingMode<'h>> {
        let pair = |sliding: &&SlidingMode| sliding.between == (from, to) || sliding.between == (to, from);
        self.system.sliding.iter().find(pair)
    }

    /// Is there an opposite transition, so that the system might slide? The distance of the two functions. Sliding replaces what would
    /// switch infinitely fast; across a gap, however narrow, the modes alternate unless its limit is asked for.
    pub fn sliding_candidate(&mut self, j: usize, t: f64, chattering: bool) -> Option<f64> {
        match self.hybrid.detection {
            Detection::Off => return None,
            Detection::ThreePoints if !chattering => return None,
            _ if self.active != self.system.transitions[j].from => return None,
            _ => {}
        }
        let (back, width) = self.opposite(j, t)?;
        let (there, back) = (&self.system.transitions[j], &self.system.transitions[back]);
        let asked = self.hybrid.hysteresis == Hysteresis::Limit || self.written(there.from, there.to).is_some();
        if width + there.hysteresis + back.hysteresis > 0.0 && !asked {
            return None;
        }
        // only on the surface itself: an immediate transition may happen far from it
        let g = surface_function(self.system, j)?;
        let scales = self.scales();
        let StateAndRate { x, xdot } = &self.here;
        let value = (g.value)(t, x, xdot);
        let uncertain = uncertainty(x, &scales, value, |x| (g.value)(t, x, xdot));
        let hysteresis = self.system.transitions[j].hysteresis;
        let near = ON_THE_SURFACE * uncertain + width + 2.0 * hysteresis;
        ((value + hysteresis).abs() <= near).then_some(width)
    }

    /// The transition back over the same surface and the width between both, here. Only where formulas say that it is the same everywhere
    /// it is not looked for again.
    fn opposite(&mut self, j: usize, t: f64) -> Option<(usize, f64)> {
        if let Some(Some((back, width))) = self.opposites.get(&j).copied()
            && self.moving_back(j, back).is_none()
        {
            return Some((back, width));
        }
        let found = opposite(self.system, &self.places, j, (t, &self.here.x));
        self.opposites.insert(j, found);
        found
    }

    /// A transition back, if its distance may change.
    fn moving_back(&mut self, j: usize, back: usize) -> Option<usize> {
        let (system, places) = (self.system, &self.places);
        let constant = self.constant_widths.entry((j, back)).or_insert_with(|| constant_width(system, places, j, back));
        (!*constant).then_some(back)
    }

    /// A way out of sliding because the surfaces of two transitions are apart at another time.
    pub fn comes_apart(&self, t: f64) -> Option<usize> {
        let StateAndRate { x, xdot } = &self.here;
        let apart = |exit: &Exit| match (&exit.to, exit.condition()) {
            (Target::Apart { .. }, Some(condition)) => (condition.functions[0].value)(t, x, xdot) <= 0.0,
            _ => false,
        };
        self.places[self.active].exits.iter().position(apart)
    }

    /// The side of a surface whose mode has the larger part in sliding along it.
    pub fn nearer_side(&self, surface: usize) -> usize {
        let place = &self.places[self.active];
        let names = convex_parameters(place.composite.as_ref().map_or(0, |composite| composite.surfaces.len()));
        let alpha = names.get(surface).and_then(|alpha| place.unknowns.iter().position(|name| name == alpha));
        usize::from(alpha.is_some_and(|j| self.here.x[j] < 0.5))
    }

    /// Do the solutions on both sides of the surface lead to it? The active mode stands before the switch, the other one has been entered.
    pub fn slides(&mut self, j: usize, to: usize, t: f64, before: &StateAndRate, chattering: bool) -> bool {
        if self.hybrid.detection == Detection::ThreePoints {
            return true;
        }
        let back = self.opposites.get(&j).copied().flatten();
        let (Some(g), Some((back, _))) = (surface_function(self.system, j), back) else { return false };
        let Some(g_back) = surface_function(self.system, back) else { return false };
        let probe = self.hybrid.probe;
        let after = self.stand(to);
        let here = along(g, t, &before.x, &before.xdot, probe);
        // both derivatives of the same function
        let beyond = -along(g_back, t, &after.x, &after.xdot, probe);
        (here < 0.0 && beyond > 0.0) || (chattering && self.hybrid.detection == Detection::Both && beyond >= 0.0)
    }

    /// Slide between two modes, if that is possible. The state stays as it was if not.
    #[expect(clippy::too_many_arguments)]
    pub fn begin_sliding(
        &mut self,
        from: usize,
        j: usize,
        to: usize,
        width: f64,
        t: f64,
        before: &StateAndRate,
        chattering: bool,
        condition: &str,
    ) -> bool {
        self.here = before.clone();
        let written = self.written(from, to);
        let place = match written {
            Some(sliding) => Some(sliding.mode),
            None => {
                // the same mode, from whichever side it is entered
                let other = self.opposites.get(&j).copied().flatten().map_or(j, |(back, _)| back);
                let (vertices, transition, back) =
                    if from < to { (vec![from, to], j, other) } else { (vec![to, from], other, j) };
                let (back, offset) = (self.moving_back(transition, back), 0.5 * width);
                let place =
                    self.generated(&Composite { vertices, surfaces: vec![Sheet { transition, back, offset }] }, t);
                let made = place.and_then(|place| self.places[place].composite.as_ref());
                let made = made.map_or(offset, |made| made.surfaces[0].offset);
                if (made - offset).abs() > SAME_WIDTH * made.max(offset) {
                    self.warn_once(from, to, t, "the width of a hysteresis has changed: it alternates".into());
                    return false;
                }
                place
            }
        };
        let Some(place) = place else { return false };
        let change = StateChange {
            transition: None,
            transfer: written.and_then(|sliding| sliding.transfer.as_ref()),
            expects: written.map(|sliding| sliding.between.0),
            restart: None,
            keep: &[],
            kind: SwitchKind::SlidingBegins,
            condition: condition.to_string(),
        };
        self.try_sliding(place, t, &change, chattering)
    }

    /// Enter a mode for sliding; false if it would be left at once.
    pub fn try_sliding(&mut self, place: usize, t: f64, change: &StateChange<'h>, chattering: bool) -> bool {
        let placed = match self.place(place, t, change) {
            Ok(placed) => placed,
            Err(failure) => {
                self.warn_once(self.active, place, t, format!("the system does not slide: {failure}"));
                return false;
            }
        };
        let state = self.places[place].at().state().x.clone();
        let sliding = match &self.places[place].composite {
            Some(composite) => convex_parameters(composite.surfaces.len()).iter().all(|alpha| {
                let j = self.places[place].unknowns.iter().position(|name| name == alpha);
                j.is_some_and(|j| state[j] >= -ROUNDED && state[j] <= 1.0 + ROUNDED)
            }),
            None => {
                // a mode that was written by hand tells with its own transitions
                let active = std::mem::replace(&mut self.active, place);
                let kept = self.here.clone();
                self.read_state();
                let watching = self.start_watching(&[]);
                let left = self.watch.true_exits(&self.places[place].exits);
                self.active = active;
                self.here = kept;
                watching.is_ok() && left.is_empty()
            }
        };
        if sliding {
            self.told(place, t, change, chattering, placed);
            self.history.forget();
        }
        sliding
    }

    /// The generated mode for sliding between modes, made when it is first needed.
    pub fn generated(&mut self, composite: &Composite, t: f64) -> Option<usize> {
        if let Some(known) = self.generated.get(&composite.vertices) {
            return *known;
        }
        let tolerance = |name: &str| self.tolerance_of(name);
        let made = generate(self.system, &self.places, composite, self.hybrid.combination, &tolerance);
        let place = match made {
            Ok(place) => {
                self.places.push(place);
                Some(self.places.len() - 1)
            }
            Err(reason) => {
                let names: Vec<String> = composite.vertices.iter().map(|&k| format!("`{}`", self.name(k))).collect();
                let message = format!("between {} nothing slides: {reason}", names.join(" and "));
                self.record.solution.warnings.push(Warning { t, message });
                None
            }
        };
        self.generated.insert(composite.vertices.clone(), place);
        place
    }

    /// Sliding along a surface ends on one of its sides.
    pub fn leave_surface(
        &mut self,
        surface: usize,
        which: usize,
        t: f64,
        condition: String,
    ) -> Result<Vec<usize>, HybridFailure> {
        let Some(composite) = self.places[self.active].composite.clone() else { return Ok(Vec::new()) };
        let rest = side(self.system, &composite, surface, which);
        let kind = SwitchKind::SlidingEnds;
        let change =
            StateChange { transition: None, transfer: None, expects: None, restart: None, keep: &[], kind, condition };
        let rest =
            rest.unwrap_or(Composite { vertices: vec![composite.vertices[which << surface]], surfaces: Vec::new() });
        let to = if rest.vertices.len() == 1 {
            rest.vertices[0]
        } else {
            self.generated(&rest, t).unwrap_or(rest.vertices[0])
        };
        self.enter(to, t, &change, false)?;
        self.history.forget();
        // the surface that was left is not met again by rounding
        let across: Vec<usize> = composite.vertices.clone();
        let exits = self.places[to].exits.iter().enumerate();
        let held = exits.filter(|(_, exit)| match &exit.to {
            Target::Mode(mode) => across.contains(mode),
            Target::Across(all) => all.iter().any(|&j| across.contains(&self.system.transitions[j].to)),
            Target::Side { .. } | Target::Apart { .. } => false,
        });
        Ok(held.map(|(k, _)| k).collect())
    }

    /// Another surface is met while sliding: cross it, or slide along both.
    pub fn cross_while_sliding(
        &mut self,
        transitions: &[usize],
        t: f64,
        condition: String,
        lost: bool,
    ) -> Result<(), HybridFailure> {
        let Some(composite) = self.places[self.active].composite.clone() else { return Ok(()) };
        let first = transitions[0];
        let kind = SwitchKind::Regular;
        let change = StateChange {
            transition: Some(first),
            transfer: None,
            expects: None,
            restart: None,
            keep: &[],
            kind,
            condition,
        };
        let targets: Vec<usize> = transitions.iter().map(|&j| self.system.transitions[j].to).collect();
        let same = targets.iter().all(|to| *to == targets[0]);
        let before = self.here.clone();
        let unknowns = self.places[self.active].unknowns.clone();
        let chattering = self.history.switched(t, Some(first), self.hybrid.chatter_time, lost, &self.here.x);
        let other = if same { None } else { beyond(self.system, &composite, transitions) };
        let place = other.as_ref().and_then(|other| self.generated(other, t));
        let (Some(other), Some(place)) = (other, place) else {
            return self.enter(targets[0], t, &change, chattering);
        };
        let placed = self.place(place, t, &change)?;
        // where do the sliding solutions on both sides lead?
        let both = surface_function(self.system, first).is_some_and(|g| {
            let after = self.stand(place);
            let names = &self.places[composite.vertices[0]].unknowns;
            let rate = |at: &StateAndRate, unknowns: &[String]| {
                let zero = |v: &f64| if v.is_nan() { 0.0 } else { *v };
                let read = |v: &[f64]| carried(v, unknowns, names).iter().map(zero).collect::<Vec<f64>>();
                along(g, t, &read(&at.x), &read(&at.xdot), self.hybrid.probe)
            };
            rate(&before, &unknowns) < 0.0 && rate(&after, &self.places[place].unknowns) > 0.0
        });
        self.here = before;
        if both && self.hybrid.detection != Detection::Off {
            let vertices = [&composite.vertices[..], &other.vertices].concat();
            let mut surfaces = composite.surfaces.clone();
            surfaces.push(Sheet { transition: first, back: None, offset: 0.0 });
            if let Some(corner) = self.generated(&Composite { vertices, surfaces }, t) {
                let change =
                    StateChange { kind: SwitchKind::SlidingBegins, condition: change.condition.clone(), ..change };
                if self.try_sliding(corner, t, &change, chattering) {
                    return Ok(());
                }
            }
            self.place(place, t, &change)?;
        }
        self.told(place, t, &change, chattering, placed);
        Ok(())
    }
}
