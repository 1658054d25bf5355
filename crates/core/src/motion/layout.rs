//! Where each block of variables and equations stands.
//!
//! Variables x = [ a w λ μ | r | v | s p ], the accelerations a = v' being bookkeeping. Rows of the reduced derivative array:
//!
//! ```text
//! 1  M a − f + (GZ)ᵀλ + (HZ)ᵀμ,  d,  gII,  hI      fix a, w, λ, μ   (gII, hI absent in the s-index-1 form)
//! 2  gI,  H Z v + h,  e                            fix part of v
//! 3  c,  g                                         fix s and part of p
//! 4  b      5  a      6  Z v                       right-hand sides of r', v', p'
//! ```
//! Steinbrecher (2007), section 3, with the accelerations as auxiliary unknowns.

use crate::statistics::Residuals;
use std::ops::Range;

/// How many variables of each kind a system has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Positions p.
    pub positions: usize,
    /// Velocities v.
    pub velocities: usize,
    /// States r of dynamic force elements.
    pub dynamic: usize,
    /// Auxiliary variables w.
    pub auxiliary: usize,
    /// Contact variables s.
    pub contact: usize,
    /// Holonomic constraints and their multipliers λ.
    pub holonomic: usize,
    /// Nonholonomic constraints and their multipliers μ.
    pub nonholonomic: usize,
    /// Invariants.
    pub invariants: usize,
}

/// Names of the variables (p, v, r, w, s) and of the constraints and invariants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// Names of p.
    pub positions: Vec<String>,
    /// Names of v.
    pub velocities: Vec<String>,
    /// Names of r.
    pub dynamic: Vec<String>,
    /// Names of w.
    pub auxiliary: Vec<String>,
    /// Names of s.
    pub contact: Vec<String>,
    /// Names of the holonomic constraints; multipliers are called `lambda.NAME`.
    pub holonomic: Vec<String>,
    /// Names of the nonholonomic constraints; multipliers are called `mu.NAME`.
    pub nonholonomic: Vec<String>,
    /// Names of the invariants.
    pub invariants: Vec<String>,
}

impl Names {
    /// p1, p2, …, v1, …; constraints are called by their numbers.
    pub fn numbered(sizes: &Sizes) -> Self {
        let list = |prefix: &str, n: usize| (1..=n).map(|i| format!("{prefix}{i}")).collect();
        Names {
            positions: list("p", sizes.positions),
            velocities: list("v", sizes.velocities),
            dynamic: list("r", sizes.dynamic),
            auxiliary: list("w", sizes.auxiliary),
            contact: list("s", sizes.contact),
            holonomic: list("", sizes.holonomic),
            nonholonomic: list("", sizes.nonholonomic),
            invariants: list("e", sizes.invariants),
        }
    }

    /// Replace the names of positions and velocities.
    #[must_use]
    pub fn motion(mut self, positions: &[&str], velocities: &[&str]) -> Self {
        self.positions = positions.iter().map(ToString::to_string).collect();
        self.velocities = velocities.iter().map(ToString::to_string).collect();
        self
    }

    /// Replace the names of the holonomic and nonholonomic constraints.
    #[must_use]
    pub fn constraints(mut self, holonomic: &[&str], nonholonomic: &[&str]) -> Self {
        self.holonomic = holonomic.iter().map(ToString::to_string).collect();
        self.nonholonomic = nonholonomic.iter().map(ToString::to_string).collect();
        self
    }

    /// Replace the names of the invariants.
    #[must_use]
    pub fn invariants(mut self, invariants: &[&str]) -> Self {
        self.invariants = invariants.iter().map(ToString::to_string).collect();
        self
    }
}

/// Which reduced derivative array is solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Form {
    /// psfEoM, projected strangeness-free: all constraint levels are rows; d-index 1.
    #[default]
    StrangenessFree,
    /// pEoM1, projected strangeness index 1: without gII and hI; d-index 2.
    IndexOne,
}

/// Places of the blocks in x and in the rows of the reduced derivative array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Sizes of the blocks.
    pub sizes: Sizes,
    /// Which array.
    pub form: Form,
    /// Are the invariants among the rows?
    pub with_invariants: bool,
    /// where the blocks of x begin and end: a, w, λ, μ, r, v, s, p
    columns: [usize; 9],
    /// where the blocks of rows begin and end: dynamics, d, gII, hI, gI, h, e, c, g, b, a, Zv
    ends: [usize; 13],
}

impl Layout {
    /// Layout of the array for a system of these sizes.
    pub fn new(sizes: Sizes, form: Form, with_invariants: bool) -> Self {
        let n = sizes;
        let hidden = |n: usize| if form == Form::StrangenessFree { n } else { 0 };
        let invariants = if with_invariants { n.invariants } else { 0 };
        let columns =
            [n.velocities, n.auxiliary, n.holonomic, n.nonholonomic, n.dynamic, n.velocities, n.contact, n.positions];
        let rows = [
            n.velocities,
            n.auxiliary,
            hidden(n.holonomic),
            hidden(n.nonholonomic),
            n.holonomic,
            n.nonholonomic,
            invariants,
            n.contact,
            n.holonomic,
            n.dynamic,
            n.velocities,
            n.positions,
        ];
        Layout { sizes, form, with_invariants, columns: ends(columns), ends: ends(rows) }
    }

    /// Number of unknowns, accelerations included.
    pub fn dim(&self) -> usize {
        self.columns[8]
    }
    /// N₁ = nv + nw + nλ + nμ, the columns fixed by block 1.
    pub fn n1(&self) -> usize {
        self.columns[4]
    }
    /// Accelerations in x.
    #[inline]
    pub fn a(&self) -> Range<usize> {
        self.columns[0]..self.columns[1]
    }
    /// w in x.
    #[inline]
    pub fn w(&self) -> Range<usize> {
        self.columns[1]..self.columns[2]
    }
    /// λ in x.
    #[inline]
    pub fn lambda(&self) -> Range<usize> {
        self.columns[2]..self.columns[3]
    }
    /// μ in x.
    #[inline]
    pub fn mu(&self) -> Range<usize> {
        self.columns[3]..self.columns[4]
    }
    /// r in x.
    #[inline]
    pub fn r(&self) -> Range<usize> {
        self.columns[4]..self.columns[5]
    }
    /// v in x.
    #[inline]
    pub fn v(&self) -> Range<usize> {
        self.columns[5]..self.columns[6]
    }
    /// s in x.
    #[inline]
    pub fn s(&self) -> Range<usize> {
        self.columns[6]..self.columns[7]
    }
    /// p in x.
    #[inline]
    pub fn p(&self) -> Range<usize> {
        self.columns[7]..self.columns[8]
    }

    /// Rows M a − f + ….
    #[inline]
    pub fn row_dynamics(&self) -> Range<usize> {
        self.ends[0]..self.ends[1]
    }
    /// Rows d.
    #[inline]
    pub fn row_auxiliary(&self) -> Range<usize> {
        self.ends[1]..self.ends[2]
    }
    /// Rows gII.
    #[inline]
    pub fn row_g2(&self) -> Range<usize> {
        self.ends[2]..self.ends[3]
    }
    /// Rows hI.
    #[inline]
    pub fn row_h1(&self) -> Range<usize> {
        self.ends[3]..self.ends[4]
    }
    /// Rows gI.
    #[inline]
    pub fn row_g1(&self) -> Range<usize> {
        self.ends[4]..self.ends[5]
    }
    /// Rows H Z v + h.
    #[inline]
    pub fn row_h(&self) -> Range<usize> {
        self.ends[5]..self.ends[6]
    }
    /// Rows e.
    #[inline]
    pub fn row_invariants(&self) -> Range<usize> {
        self.ends[6]..self.ends[7]
    }
    /// Rows c.
    #[inline]
    pub fn row_contact(&self) -> Range<usize> {
        self.ends[7]..self.ends[8]
    }
    /// Rows g.
    #[inline]
    pub fn row_g(&self) -> Range<usize> {
        self.ends[8]..self.ends[9]
    }
    /// Rows b.
    #[inline]
    pub fn row_dynamic(&self) -> Range<usize> {
        self.ends[9]..self.ends[10]
    }
    /// Rows a.
    #[inline]
    pub fn row_acceleration(&self) -> Range<usize> {
        self.ends[10]..self.ends[11]
    }
    /// Rows Z v.
    #[inline]
    pub fn row_kinematics(&self) -> Range<usize> {
        self.ends[11]..self.ends[12]
    }
    /// The three algebraic blocks of rows.
    pub fn algebraic_blocks(&self) -> [Range<usize>; 3] {
        let (one, two) = (self.row_h1().end, self.row_invariants().end);
        [0..one, one..two, two..self.row_g().end]
    }
    /// Number of algebraic rows.
    pub fn algebraic(&self) -> usize {
        self.row_g().end
    }
    /// Number of differential rows.
    pub fn differential(&self) -> usize {
        self.sizes.dynamic + self.sizes.velocities + self.sizes.positions
    }
    /// Number of all rows.
    pub fn rows(&self) -> usize {
        self.row_kinematics().end
    }

    /// Largest residual of each constraint level, from the rows.
    pub fn residuals(&self, rows: &[f64]) -> Residuals {
        let largest = |ranges: [Range<usize>; 2]| {
            let mut rows = ranges.into_iter().flatten().map(|i| rows[i].abs()).peekable();
            rows.peek()?;
            Some(rows.fold(0.0_f64, f64::max))
        };
        Residuals {
            position: largest([self.row_contact(), self.row_g()]),
            velocity: largest([self.row_g1(), self.row_h()]),
            acceleration: largest([self.row_g2(), self.row_h1()]),
            invariant: largest([self.row_invariants(), 0..0]),
            constraint: None,
            hidden: None,
        }
    }

    /// Names of all unknowns in the order of x: `vx'` for accelerations, `lambda.rod` for multipliers.
    pub fn variable_names(&self, names: &Names) -> Vec<String> {
        let mut all: Vec<String> = names.velocities.iter().map(|v| format!("{v}'")).collect();
        all.extend_from_slice(&names.auxiliary);
        all.extend(names.holonomic.iter().map(|c| multiplier("lambda", c)));
        all.extend(names.nonholonomic.iter().map(|c| multiplier("mu", c)));
        all.extend_from_slice(&names.dynamic);
        all.extend_from_slice(&names.velocities);
        all.extend_from_slice(&names.contact);
        all.extend_from_slice(&names.positions);
        all
    }

    /// Names of the algebraic rows, as they are told to people.
    pub fn row_names(&self, names: &Names) -> Vec<String> {
        let mut all: Vec<String> = names.velocities.iter().map(|v| format!("dynamics of {v}")).collect();
        all.extend(names.auxiliary.iter().map(|w| format!("equation of auxiliary variable {w}")));
        if self.form == Form::StrangenessFree {
            all.extend(names.holonomic.iter().map(|c| format!("holonomic constraint {c} at acceleration level")));
            all.extend(names.nonholonomic.iter().map(|c| format!("nonholonomic constraint {c} at acceleration level")));
        }
        all.extend(names.holonomic.iter().map(|c| format!("holonomic constraint {c} at velocity level")));
        all.extend(names.nonholonomic.iter().map(|c| format!("nonholonomic constraint {c}")));
        if self.with_invariants {
            all.extend(names.invariants.iter().map(|c| format!("invariant {c}")));
        }
        all.extend(names.contact.iter().map(|s| format!("equation of contact variable {s}")));
        all.extend(names.holonomic.iter().map(|c| format!("holonomic constraint {c}")));
        all
    }

    /// The order in which variables are shown to people: p, v, r, w, s, λ, μ, then the accelerations.
    pub fn shown(&self) -> Vec<usize> {
        [self.p(), self.v(), self.r(), self.w(), self.s(), self.lambda(), self.mu(), self.a()]
            .into_iter()
            .flatten()
            .collect()
    }
}

/// `lambda.rod`, but `lambda1` where the constraint is only numbered.
fn multiplier(letter: &str, constraint: &str) -> String {
    let dot = if constraint.starts_with(|c: char| c.is_ascii_digit()) { "" } else { "." };
    format!("{letter}{dot}{constraint}")
}

/// Running sums, from zero.
fn ends<const N: usize, const M: usize>(lengths: [usize; N]) -> [usize; M] {
    std::array::from_fn(|k| lengths[..k].iter().sum())
}
