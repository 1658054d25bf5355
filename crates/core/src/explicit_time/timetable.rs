//! Breaks and panels, as a run goes on.
//!
//! Two pieces are known at a time, that of the run and the next one; so a schedule of a million switches needs no memory.

use super::extract::OfTime;
use super::panels::{Panel, Profiles};
use super::zeros::{TapeValues, TimeConditions};
use crate::dae::System;
use crate::graph::{Expr, Graph};
use crate::motion::Mechanism;
use crate::scalar::Taylor;

/// Derivatives of inputs that are compared at the end of a piece, from the zeroth on: a jump in a higher one does not disturb steps of order
/// five.
const COMPARED: usize = 5;
/// Derivatives differ if they do by this part of them, or of what the input changes by in the interval.
const DIFFERENT: f64 = 1e-9;
/// Steps that end this close to a limit, as part of what is left, end at it.
const CLOSE: f64 = 1e-3;

/// Pieces that are shorter than this part of time and interval are not integrated: what is lost is rounding.
const SHORTEST: f64 = 1e-13;
/// Values and derivatives at the end of a piece are compared with sizes within this part of the interval.
const NEIGHBOURHOOD: f64 = 1e-2;

/// Where a run goes on beyond the end of a piece.
#[derive(Clone, Debug, PartialEq)]
pub struct Crossing {
    /// From this time on.
    pub to: f64,
    /// The conditions that change, as people read them.
    pub changed: String,
}

/// How a piece ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ends {
    /// With the interval.
    Last,
    /// Something jumps: a step ends here.
    Jump,
    /// What jumps is a high derivative: steps go on.
    Smooth,
}

/// Times between which no condition changes its sign.
#[derive(Clone, Debug)]
struct Piece {
    from: f64,
    to: f64,
    signs: Vec<f64>,
    ends: Ends,
    /// where the next one begins, and its signs
    behind: Option<(f64, Vec<f64>)>,
    /// how often it was halved for the last panel
    level: u32,
}

impl Piece {
    fn interval(&self) -> (f64, f64) {
        (self.from, self.to)
    }
}

/// What formulas know about times: where steps must end, and how long they may be.
#[derive(Clone, Debug)]
pub struct Timetable {
    of: OfTime,
    conditions: TimeConditions,
    profiles: Profiles,
    jets: TapeValues<Taylor<f64, COMPARED>>,
    before: Vec<Taylor<f64, COMPARED>>,
    tend: f64,
    span: f64,
    piece: Piece,
    next: Option<Piece>,
    /// the panel of the run and the one behind it
    panels: Option<(Panel, Option<Panel>)>,
    /// the formulas see other signs at the start than right behind it
    crosses_start: bool,
}

impl Timetable {
    /// Of equations of motion, where they have formulas.
    pub fn of_motion(system: &dyn Mechanism, interval: (f64, f64)) -> Option<Self> {
        if system.structure().autonomous {
            return None;
        }
        let formulas = system.formulas()?.bound();
        let blocks = [
            &formulas.kinematics,
            &formulas.force,
            &formulas.holonomic,
            &formulas.nonholonomic,
            &formulas.dynamic,
            &formulas.auxiliary,
            &formulas.contact,
        ];
        let mass = formulas.mass.iter().map(|(_, _, m)| *m);
        let all: Vec<Expr> = blocks.into_iter().flatten().copied().chain(mass).collect();
        Self::new(&formulas.graph, formulas.variables().t(), &all, interval)
    }

    /// Of a general system.
    pub fn of_system(system: &System, interval: (f64, f64)) -> Option<Self> {
        let first = &system.first;
        // nothing is copied where time does not enter
        first.graph.needed(&first.equations).binary_search(&first.t).ok()?;
        let first = first.bound();
        Self::new(&first.graph, first.t, &first.equations, interval)
    }

    /// Of formulas with numbers for their parameters, over an interval; none if they know nothing about time.
    pub fn new(graph: &Graph, t: Expr, formulas: &[Expr], (t0, tend): (f64, f64)) -> Option<Self> {
        if !(tend > t0) {
            return None;
        }
        let of = OfTime::new(graph, t, formulas)?;
        let signs = vec![1.0; of.texts.len()];
        let mut table = Timetable {
            conditions: TimeConditions::new(&of),
            profiles: Profiles::new(&of),
            jets: TapeValues::new(&of.profiles, of.inputs, of.count),
            before: vec![Taylor::constant(0.0); of.count],
            of,
            tend,
            span: tend - t0,
            piece: Piece { from: t0, to: tend, signs, ends: Ends::Last, behind: None, level: 0 },
            next: None,
            panels: None,
            crosses_start: false,
        };
        table.begin(t0);
        Some(table)
    }

    /// Begin at a time, as when a mode is entered.
    pub fn begin(&mut self, t: f64) {
        let (of, interval) = (&self.of, (t, self.tend));
        let signs = &mut self.piece.signs;
        self.conditions.signs(of, t, signs);
        // a condition may change right here, as t > 0 at zero
        let behind = self.conditions.signs_after(of, interval, self.span, signs);
        self.crosses_start = behind < self.tend && self.conditions.differ(of, t, signs);
        let from = if self.crosses_start { behind } else { t };
        let piece = Piece { from, to: self.tend, signs: signs.clone(), ends: Ends::Last, behind: None, level: 0 };
        (self.next, self.panels) = (None, None);
        self.piece = self.finished(piece);
    }

    /// The crossing at the start, if the formulas see another piece there than right behind it.
    pub fn first_crossing(&mut self) -> Option<Crossing> {
        let crosses = std::mem::take(&mut self.crosses_start);
        crosses.then(|| Crossing { to: self.piece.from, changed: "a condition in time".into() })
    }

    /// How far a step from t may go; a method proposes to make it so long.
    pub fn limit(&mut self, t: f64, proposed: f64) -> f64 {
        while self.passed(t) {
            self.advance();
        }
        let end = self.end();
        if self.of.count == 0 {
            return end;
        }
        let reach = self.reach(t);
        // nor is a small step left over
        if t + proposed > reach && reach < end - CLOSE * (end - t) { reach } else { end }
    }

    /// How far is known: the end of this piece, or, where it ends smoothly, of the next one.
    fn end(&mut self) -> f64 {
        if self.piece.ends != Ends::Smooth {
            return self.piece.to;
        }
        self.look_ahead();
        self.next.as_ref().map_or(self.tend, |next| next.to)
    }

    /// If a run that stands at t ends a piece there: where to go on, and which conditions change.
    pub fn crossing(&mut self, t: f64) -> Option<Crossing> {
        let close = SHORTEST * (t.abs() + self.span);
        let mut changed = String::new();
        while t >= self.piece.to - close && self.piece.ends == Ends::Jump || self.passed(t) {
            let before = self.piece.signs.clone();
            let jumps = self.piece.ends == Ends::Jump;
            self.advance();
            if jumps {
                changed = self.changed(&before);
            }
        }
        (!changed.is_empty()).then_some(Crossing { to: self.piece.from.max(t), changed })
    }

    /// Does t lie behind a piece that ends smoothly?
    fn passed(&self, t: f64) -> bool {
        t >= self.piece.to && self.piece.ends == Ends::Smooth
    }

    /// The conditions that have other signs than before, for messages.
    fn changed(&self, before: &[f64]) -> String {
        let changed = self.of.texts.iter().zip(before.iter().zip(&self.piece.signs)).filter(|(_, (a, b))| a != b);
        let texts: Vec<String> = changed.map(|(text, _)| format!("`{text}`")).collect();
        if texts.is_empty() { "a condition".into() } else { texts.join(", ") }
    }

    /// The longest step from t: no longer than the panels it lies in.
    fn reach(&mut self, t: f64) -> f64 {
        let panel = match self.panels {
            Some((panel, _)) if panel.a <= t && t < panel.b => panel,
            Some((_, Some(next))) if next.a <= t && t < next.b => next,
            _ => self.panel(t),
        };
        let mut ahead = match self.panels {
            Some((known, ahead)) if known == panel => ahead,
            _ => None,
        };
        let mut reach = t + panel.width();
        if reach > panel.b {
            if panel.b < self.piece.to {
                ahead = ahead.or_else(|| Some(self.panel(panel.b)));
            } else if self.piece.ends == Ends::Smooth && ahead.is_none() {
                self.look_ahead();
                if let Some(mut next) = self.next.take() {
                    ahead =
                        Some(self.profiles.panel(&self.of, next.interval(), &next.signs, next.from, &mut next.level));
                    self.next = Some(next);
                }
            }
            reach = match ahead {
                Some(next) => (t + panel.width().min(next.width())).max(panel.b),
                None => panel.b,
            };
        }
        self.panels = Some((panel, ahead));
        reach
    }

    fn panel(&mut self, t: f64) -> Panel {
        let Piece { signs, level, from, to, .. } = &mut self.piece;
        self.profiles.panel(&self.of, (*from, *to), signs, t, level)
    }

    /// Go over to the next piece.
    fn advance(&mut self) {
        self.look_ahead();
        if let Some(next) = self.next.take() {
            self.piece = next;
        }
        self.panels = None;
    }

    fn look_ahead(&mut self) {
        if self.next.is_none()
            && let Some((from, signs)) = self.piece.behind.take()
        {
            let piece = Piece { from, to: self.tend, signs, ends: Ends::Last, behind: None, level: 0 };
            self.next = Some(self.finished(piece));
        }
    }

    /// A piece with its end.
    fn finished(&mut self, mut piece: Piece) -> Piece {
        if let Some(change) = self.conditions.first_change(&self.of, (piece.from, self.tend), &piece.signs, self.span) {
            let jumps = self.jumps((change.before, &piece.signs), (change.behind, &change.signs));
            (piece.to, piece.ends) = (change.before.max(piece.from), if jumps { Ends::Jump } else { Ends::Smooth });
            piece.behind = Some((change.behind, change.signs));
        }
        if self.of.count > 0 && piece.to > piece.from {
            self.profiles.measure(&self.of, piece.interval(), &piece.signs);
        }
        piece
    }

    /// Does an input jump, or one of its first derivatives, or may unknowns see a jump?
    fn jumps(&mut self, left: (f64, &[f64]), right: (f64, &[f64])) -> bool {
        if self.of.mixed.iter().zip(left.1.iter().zip(right.1)).any(|(mixed, (a, b))| *mixed && a != b) {
            return true;
        }
        self.jets.at(&self.of, &self.of.profiles, Taylor::parameter(left.0), left.1);
        self.before.copy_from_slice(&self.jets.outputs);
        self.jets.at(&self.of, &self.of.profiles, Taylor::parameter(right.0), right.1);
        let near = NEIGHBOURHOOD * self.span;
        let sizes_left = self.profiles.sizes(&self.of, (left.0 - near, left.0), left.1);
        let sizes = self.profiles.sizes(&self.of, (right.0, right.0 + near), right.1);
        self.before.iter().zip(&self.jets.outputs).enumerate().any(|(i, (a, b))| {
            let size = sizes_left[i].max(sizes[i]);
            (0..COMPARED).any(|k| {
                let (a, b) = (a.coefficients[k], b.coefficients[k]);
                let floor = size / self.span.powi(k as i32);
                !((a - b).abs() <= DIFFERENT * (a.abs().max(b.abs()) + floor))
            })
        })
    }
}
