//! Kernels of M, G, H, f and the constraint levels one by one, compiled when a method first asks for them.

use super::super::{Formulas, Layout, Structure};
use super::ProgramInputs;
use super::program::{Places, entries};
use crate::graph::{Compiler, Expr, Kernel};
use crate::linalg::{Entries, Jacobian};

/// Compiled kernels of the parts.
pub(super) struct Parts {
    /// GZ, HZ, M where it changes, g, g_t, h
    at_rest: Box<dyn Kernel>,
    /// f, b, Z v
    forces: Box<dyn Kernel>,
    /// f, b, Z v, gII, hI
    hidden: Box<dyn Kernel>,
    inputs: usize,
    GZ: Places,
    HZ: Places,
    mass: Places,
}

impl Parts {
    pub fn new(formulas: &Formulas, structure: Structure, compiler: &dyn Compiler) -> Self {
        let parts = formulas.parts();
        let changing = if structure.mass.is_constant() { &[][..] } else { &formulas.mass[..] };
        let matrices = parts.GZ.iter().chain(&parts.HZ).chain(changing).map(|(_, _, e)| *e);
        let at_rest: Vec<Expr> = matrices.chain(parts.at_rest.iter().copied()).collect();
        let hidden = [&parts.forces[..], &parts.hidden].concat();
        Parts {
            at_rest: compiler.compile(&parts.graph, &at_rest),
            forces: compiler.compile(&parts.graph, &parts.forces),
            hidden: compiler.compile(&parts.graph, &hidden),
            inputs: parts.graph.inputs().len(),
            GZ: entries(&parts.GZ),
            HZ: entries(&parts.HZ),
            mass: entries(changing),
        }
    }
}

/// The kernels at work, with scratch space.
pub(super) struct PartKernels {
    at_rest: Box<dyn Kernel>,
    forces: Box<dyn Kernel>,
    hidden: Box<dyn Kernel>,
    point: ProgramInputs,
    outputs: Vec<f64>,
    GZ: Entries,
    HZ: Entries,
    mass: Entries,
    /// lengths of what stands before the rows at rest, and of the outputs of the kernels
    lengths: [usize; 4],
}

impl PartKernels {
    /// For matrices of these kinds.
    pub fn new(parts: &Parts, layout: &Layout, [M, GZ, HZ]: &[Jacobian; 3]) -> Self {
        let n = layout.sizes;
        let matrices = parts.GZ.len() + parts.HZ.len() + parts.mass.len();
        let at_rest = matrices + 2 * n.holonomic + n.nonholonomic;
        let forces = n.velocities + n.dynamic + n.positions;
        let hidden = forces + n.holonomic + n.nonholonomic;
        PartKernels {
            at_rest: parts.at_rest.duplicate(),
            forces: parts.forces.duplicate(),
            hidden: parts.hidden.duplicate(),
            point: ProgramInputs::new(layout, parts.inputs),
            outputs: vec![0.0; at_rest.max(hidden)],
            GZ: Entries::new(parts.GZ.clone(), GZ),
            HZ: Entries::new(parts.HZ.clone(), HZ),
            mass: Entries::new(parts.mass.clone(), M),
            lengths: [matrices, at_rest, forces, hidden],
        }
    }

    /// M where it changes, GZ, HZ and the rows g, gI and H Z v + h for v = 0.
    pub fn at_rest(&mut self, t: f64, x: &[f64], [M, GZ, HZ]: [&mut Jacobian; 3], rows: &mut [f64]) {
        self.point.set(t, x);
        let outputs = &mut self.outputs[..self.lengths[1]];
        self.at_rest.call(&self.point.inputs, outputs);
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
        (if hidden { &mut self.hidden } else { &mut self.forces }).call(&self.point.inputs, outputs);
        let levels = if hidden { [l.row_g2(), l.row_h1()] } else { [0..0, 0..0] };
        let [g2, h1] = levels;
        copy(outputs, rows, [l.row_dynamics(), l.row_dynamic(), l.row_kinematics(), g2, h1]);
        rows[l.row_dynamics()].iter_mut().for_each(|f| *f = -*f);
    }
}

/// Write values into ranges of rows, one after the other.
fn copy<const N: usize>(mut values: &[f64], rows: &mut [f64], ranges: [std::ops::Range<usize>; N]) {
    for range in ranges {
        let (own, rest) = values.split_at(range.len());
        rows[range].copy_from_slice(own);
        values = rest;
    }
}
