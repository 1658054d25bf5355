//! What a switching function cannot do along the polynomial of a step: interval arithmetic on its formula.
//!
//! A cell of time is clear of a function if its bounds there leave its statement as it is; where it is monotone its values at both ends tell.
//! All other cells are halved. So no excursion is overlooked because a step is long, as far as the polynomial is the solution. What
//! cannot be decided in the smallest cells (a function that touches zero) is left to samples. Functions that are no formulas, and those that
//! have not left zero since the mode was entered, are sampled only.

use super::{Guard, NoValue, Watch, Watched, evaluate, function};
use crate::graph::{Expr, Graph, Tape};
use crate::scalar::{Interval, Taylor};
use crate::segment::Segment;
use std::cell::RefCell;

/// Smallest cells, as part of a step.
const SMALLEST: f64 = 1e-6;
/// Most cells of one step: a function that has a hundred zeros in it needs fewer.
const MOST_CELLS: usize = 1 << 10;

/// A value and its rate, over a cell of time.
type Bound = Taylor<Interval, 2>;

/// A switching function as a tape.
pub struct Bounds {
    tape: Tape,
    /// unknowns that enter, and whether formulas select
    unknowns: Vec<usize>,
    branches: bool,
    room: RefCell<[Vec<Bound>; 2]>,
}

/// What is known about functions over a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cell {
    Clear,
    Monotone,
    Unclear,
}

/// What is known about the functions over a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Division {
    /// Are all functions formulas that have left zero?
    pub all: bool,
    /// Does no formula change its statement?
    pub clear: bool,
}

impl Bounds {
    /// Of a formula in time and n unknowns.
    pub fn new(n: usize, formula: &dyn Fn(Expr, &[Expr]) -> Expr) -> Self {
        let mut graph = Graph::new();
        let t = graph.input("t");
        let x: Vec<Expr> = (0..n).map(|k| graph.input(format!("x{k}"))).collect();
        let g = graph.with(|| formula(t, &x));
        let tape = Tape::new(&graph, &[g]);
        let unknowns = graph.depends_on(g).into_iter().filter_map(|input| input.checked_sub(1)).collect();
        let zeros = |n: usize| vec![Bound::from(0.0); n];
        let room = RefCell::new([zeros(n + 1), zeros(tape.registers())]);
        Bounds { branches: graph.has_branches(&[g]), tape, unknowns, room }
    }

    /// The value and its rate between two times of a step.
    fn over(&self, segment: &Segment, (a, b): (f64, f64)) -> Bound {
        let [inputs, registers] = &mut *self.room.borrow_mut();
        inputs[0] = Bound::parameter(Interval::new(a, b));
        for &k in &self.unknowns {
            inputs[k + 1] = segment.bound((a, b), k);
        }
        let mut value = [Bound::from(0.0)];
        self.tape.run(inputs, registers, &mut value);
        value[0]
    }
}

impl Watched {
    /// What is known about the function from its bounds over a cell.
    fn look(&self, bounds: &Bounds, segment: &Segment, cell: (f64, f64)) -> Cell {
        let [g, rate] = bounds.over(segment, cell).coefficients;
        if g.is_undefined() {
            // so it is in every part of the cell, and at its ends
            return Cell::Monotone;
        }
        let touch = if self.touching && !self.truth { self.band } else { 0.0 };
        if self.turned(g.low).min(self.turned(g.high)) > touch {
            Cell::Clear
        } else if !bounds.branches && (rate.low > 0.0 || rate.high < 0.0) {
            Cell::Monotone
        } else {
            Cell::Unclear
        }
    }
}

impl Watch {
    /// Write down times between which every function that is a formula is clear or monotone.
    pub(super) fn divide(&mut self, exits: &[impl Guard], segment: &Segment) -> Division {
        let (t0, t1, n) = (segment.t0, segment.t1, segment.dim());
        let mut division = Division { all: true, clear: true };
        self.times.clear();
        self.times.push(t0);
        self.open.clear();
        self.open.push((t0, t1));
        let (mut cells, mut before) = (0, Cell::Unclear);
        while let Some((a, b)) = self.open.pop() {
            cells += 1;
            let mut decided = Cell::Clear;
            for w in &self.watched {
                match function(exits, w).bounds(n).filter(|_| w.settled) {
                    Some(bounds) => decided = decided.max(w.look(bounds, segment, (a, b))),
                    None => division.all = false,
                }
            }
            let middle = 0.5 * (a + b);
            if decided == Cell::Unclear && b - a > SMALLEST * (t1 - t0) && cells + self.open.len() < MOST_CELLS {
                self.open.extend([(middle, b), (a, middle)]);
                continue;
            }
            division.clear &= decided == Cell::Clear;
            // nothing is to be seen between two cells that are clear
            if decided == Cell::Clear && before == Cell::Clear && self.times.len() > 1 {
                self.times.pop();
            }
            self.times.push(b);
            before = decided;
        }
        division
    }

    /// Go on to the end of a step in which no function can change its statement.
    pub(super) fn pass_by(&mut self, exits: &[impl Guard], segment: &Segment) -> Result<(), NoValue> {
        let (x, xdot) = (&mut self.x[..], &mut self.xdot[..]);
        evaluate(exits, &self.watched, segment, (x, xdot), self.derivatives, segment.t1, &mut self.left);
        for (w, g) in self.watched.iter_mut().zip(&self.left) {
            if g.is_nan() {
                return Err(NoValue { t: segment.t1, exit: w.exit });
            }
            w.top = w.top.max((g + w.hysteresis).abs());
        }
        Ok(())
    }
}
