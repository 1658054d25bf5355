//! Kernels of M, G, H, f and the constraint levels one by one, and of solutions with them, each compiled when a method first asks for it.

use super::super::solved::{PivotOrder, Solved, is_rounding};
use super::super::symbolic::SymbolicParts;
use super::super::{Formulas, Layout, Sizes, Structure};
use super::ProgramInputs;
use super::program::{Places, entries};
use crate::graph::{Compiler, Expr, Kernel};
use crate::linalg::{Entries, Jacobian, JacobianRef};
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The parts as formulas, and compiled kernels of them.
pub(super) struct Parts {
    symbolic: SymbolicParts,
    /// GZ, HZ, M where it changes, g, g_t, h
    at_rest: OnceLock<Box<dyn Kernel>>,
    /// f, b, Z v
    forces: OnceLock<Box<dyn Kernel>>,
    /// f, b, Z v, gII, hI
    hidden: OnceLock<Box<dyn Kernel>>,
    solved: Mutex<HashMap<(Solved, PivotOrder), Box<dyn Kernel>>>,
    changing: bool,
}

impl Parts {
    pub fn new(formulas: &Formulas, structure: Structure) -> Self {
        let (at_rest, forces, hidden) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        let (symbolic, changing) = (formulas.parts(), !structure.mass.is_constant());
        Parts { symbolic, at_rest, forces, hidden, solved: Mutex::default(), changing }
    }

    /// Entries of M where it changes.
    fn mass(&self) -> &[(usize, usize, Expr)] {
        if self.changing { &self.symbolic.mass } else { &[] }
    }

    fn at_rest(&self, compiler: &dyn Compiler) -> Box<dyn Kernel> {
        let parts = &self.symbolic;
        let compile = || {
            let matrices = parts.GZ.iter().chain(&parts.HZ).chain(self.mass()).map(|(_, _, e)| *e);
            compiler.compile(&parts.graph, &matrices.chain(parts.at_rest.iter().copied()).collect::<Vec<_>>())
        };
        self.at_rest.get_or_init(compile).duplicate()
    }

    fn forces(&self, hidden: bool, compiler: &dyn Compiler) -> Box<dyn Kernel> {
        let parts = &self.symbolic;
        let compiled = if hidden {
            let all = || [&parts.forces[..], &parts.hidden].concat();
            self.hidden.get_or_init(|| compiler.compile(&parts.graph, &all()))
        } else {
            self.forces.get_or_init(|| compiler.compile(&parts.graph, &parts.forces))
        };
        compiled.duplicate()
    }

    /// Equal pivots have equal code.
    fn solved(&self, what: Solved, pivots: &PivotOrder, compiler: &dyn Compiler) -> Box<dyn Kernel> {
        let mut all = self.solved.lock().unwrap_or_else(PoisonError::into_inner);
        let kernel = all.entry((what, pivots.clone())).or_insert_with(|| {
            let (graph, outputs) = self.symbolic.solved(what, pivots);
            compiler.compile(&graph, &outputs)
        });
        kernel.duplicate()
    }
}

/// The kernels at work, with scratch space.
pub(super) struct PartKernels<'m> {
    parts: &'m Parts,
    compiler: &'m dyn Compiler,
    at_rest: Option<Box<dyn Kernel>>,
    forces: [Option<Box<dyn Kernel>>; 2],
    solved: [Option<Box<dyn Kernel>>; 4],
    point: ProgramInputs,
    /// the same where x is at rest or moves only, so that nothing else is looked at
    moving: ProgramInputs,
    outputs: Vec<f64>,
    GZ: Entries,
    HZ: Entries,
    mass: Entries,
    /// lengths of what stands before the rows at rest, and of the outputs of the kernels
    lengths: [usize; 4],
}

impl<'m> PartKernels<'m> {
    /// For matrices of these kinds.
    pub fn new(
        parts: &'m Parts,
        compiler: &'m dyn Compiler,
        layout: &Layout,
        [M, GZ, HZ]: &[Jacobian; 3],
    ) -> PartKernels<'m> {
        let n = layout.sizes;
        let symbolic = &parts.symbolic;
        let [of_GZ, of_HZ, mass]: [Places; 3] = [&symbolic.GZ[..], &symbolic.HZ, parts.mass()].map(entries);
        let matrices = of_GZ.len() + of_HZ.len() + mass.len();
        let at_rest = matrices + 2 * n.holonomic + n.nonholonomic;
        let forces = n.velocities + n.dynamic + n.positions;
        let hidden = forces + n.holonomic + n.nonholonomic;
        let longest = [Solved::Acceleration, Solved::Position, Solved::Velocity, Solved::Invariants].map(|what| {
            let (solutions, besides) = lengths_of(what, n);
            3 * solutions + besides
        });
        let solved = longest.into_iter().fold(0, usize::max);
        let inputs = symbolic.graph.inputs().len();
        PartKernels {
            parts,
            compiler,
            at_rest: None,
            forces: [None, None],
            solved: [const { None }; 4],
            point: ProgramInputs::new(layout, inputs),
            moving: ProgramInputs::moving(layout, inputs),
            outputs: vec![0.0; at_rest.max(hidden).max(solved)],
            GZ: Entries::new(of_GZ, GZ),
            HZ: Entries::new(of_HZ, HZ),
            mass: Entries::new(mass, M),
            lengths: [matrices, at_rest, forces, hidden],
        }
    }

    /// M where it changes, GZ, HZ and the rows g, gI and H Z v + h for v = 0.
    pub fn at_rest(&mut self, t: f64, x: &[f64], [M, GZ, HZ]: [&mut Jacobian; 3], rows: &mut [f64]) {
        self.moving.set(t, x);
        let outputs = &mut self.outputs[..self.lengths[1]];
        let kernel = self.at_rest.get_or_insert_with(|| self.parts.at_rest(self.compiler));
        kernel.call(&self.moving.inputs, outputs);
        let rest = self.GZ.write(1.0, outputs, GZ);
        let rest = self.HZ.write(1.0, rest, HZ);
        let rest = self.mass.write(1.0, rest, M);
        let l = &self.point.layout;
        copy(rest, rows, [l.row_g(), l.row_g1(), l.row_h()]);
    }

    /// The rows −f, b, Z v and, if `hidden`, gII and hI, for a = 0, λ = 0, μ = 0.
    pub fn forces(&mut self, t: f64, x: &[f64], hidden: bool, rows: &mut [f64]) {
        self.point.set(t, x);
        let l = &self.point.layout;
        let outputs = &mut self.outputs[..self.lengths[if hidden { 3 } else { 2 }]];
        let kernel = &mut self.forces[usize::from(hidden)];
        kernel.get_or_insert_with(|| self.parts.forces(hidden, self.compiler)).call(&self.point.inputs, outputs);
        let levels = if hidden { [l.row_g2(), l.row_h1()] } else { [0..0, 0..0] };
        let [g2, h1] = levels;
        copy(outputs, rows, [l.row_dynamics(), l.row_dynamic(), l.row_kinematics(), g2, h1]);
        rows[l.row_dynamics()].iter_mut().for_each(|f| *f = -*f);
    }

    /// Compile solutions with pivots for these matrices; false if there are none.
    pub fn know_solutions(&mut self, what: &[Solved], [M, GZ, HZ]: [JacobianRef; 3]) -> bool {
        let parts = &self.parts.symbolic;
        let (n, m) = (M.rows(), GZ.rows());
        let value = |(i, j): (usize, usize)| match (i < n, j < n) {
            (true, true) => M[(i, j)],
            (true, false) if j - n < m => GZ[(j - n, i)],
            (true, false) => HZ[(j - n - m, i)],
            (false, _) if i - n < m => GZ[(i - n, j)],
            (false, _) => HZ[(i - n - m, j)],
        };
        let entries: Vec<_> = parts.saddle().iter().map(|&(i, j, _)| (i, j, value((i, j)))).collect();
        let Some(pivots) = PivotOrder::of(n + m + HZ.rows(), &entries) else { return false };
        for &what in what {
            self.solved[what as usize] = Some(self.parts.solved(what, &pivots, self.compiler));
        }
        true
    }

    /// A solution, A x − b, and what stands behind them; none where it is not compiled, or not to be trusted.
    #[inline]
    pub fn solve(&mut self, what: Solved, t: f64, x: &[f64]) -> Option<[&[f64]; 3]> {
        let kernel = self.solved[what as usize].as_mut()?;
        self.moving.set(t, x);
        let n = self.moving.layout.sizes;
        let rows = n.velocities + n.holonomic + n.nonholonomic;
        let (size, besides) = lengths_of(what, n);
        let outputs = &mut self.outputs[..3 * size + besides];
        kernel.call(&self.moving.inputs, outputs);
        let (solution, rest) = outputs.split_at(size);
        let (residual, rest) = rest.split_at(size);
        let (sizes, besides) = rest.split_at(size);
        is_rounding(residual, sizes, (n.velocities, rows)).then_some([solution, residual, besides])
    }
}

/// How many numbers solutions are, and what stands behind them.
fn lengths_of(what: Solved, n: Sizes) -> (usize, usize) {
    let (size, k) = (n.velocities + n.holonomic + n.nonholonomic, n.invariants);
    match what {
        Solved::Acceleration => (size, n.dynamic + n.positions),
        Solved::Position => (size, n.positions),
        Solved::Velocity => (size, 0),
        Solved::Invariants => (2 * k * size, k * (1 + n.positions + 2 * k)),
    }
}

/// Write values into ranges of rows, one after the other.
pub(super) fn copy<const N: usize>(mut values: &[f64], rows: &mut [f64], ranges: [std::ops::Range<usize>; N]) {
    for range in ranges {
        let (own, rest) = values.split_at(range.len());
        rows[range].copy_from_slice(own);
        values = rest;
    }
}
