//! Kernels of one reduced derivative array: compiled once, and at work with scratch space of their own.

use super::super::eliminated::{Rows, eliminates};
use super::super::{Formulas, Layout, Structure, Undefined};
use super::contact::{ContactKernels, ContactProgram};
use super::parts::PartKernels;
use super::{Compiled, Point};
use crate::graph::{Compiler, Expr, Jacobian, Kernel};
use crate::linalg::Matrix;
use std::sync::Arc;

/// Where the entries of a sparse matrix go.
pub(super) type Places = Vec<(usize, usize)>;

/// Compiled kernels of one array.
pub(super) struct Program {
    pub layout: Layout,
    structure: Structure,
    eliminated: bool,
    inputs: usize,
    pub nodes: usize,
    /// rows, then GZ and HZ where accelerations are eliminated
    values: Box<dyn Kernel>,
    /// ∂rows/∂x, ∂rows/∂y, GZ, HZ
    jacobian: Box<dyn Kernel>,
    /// GZ, HZ, M where it changes
    matrices: Box<dyn Kernel>,
    by_x: Places,
    by_y: Places,
    GZ: Places,
    HZ: Places,
    all_GZ: Places,
    all_HZ: Places,
    changing_mass: Places,
    M: Matrix,
    contact: Option<ContactProgram>,
}

impl Program {
    pub fn new(formulas: &Formulas, layout: Layout, structure: Structure, compiler: &dyn Compiler) -> Self {
        let array = formulas.array(&layout);
        let eliminated = eliminates(structure);
        let (GZ, HZ) = if eliminated { (&array.GZ[..], &array.HZ[..]) } else { (&[][..], &[][..]) };
        let matrices = GZ.iter().chain(HZ).map(|(_, _, e)| *e);
        let values: Vec<Expr> = array.rows.iter().copied().chain(matrices.clone()).collect();
        let derivatives: Vec<Expr> =
            array.by_x.entries.iter().chain(&array.by_y.entries).copied().chain(matrices).collect();
        let graph = &array.graph;
        let mut M = Matrix::zeros(layout.a().len(), layout.a().len());
        for &(i, j, m) in &array.mass {
            M[(i, j)] = graph.constant(m).unwrap_or(0.0);
        }
        let changing = if structure.mass.is_constant() { &[][..] } else { &array.mass[..] };
        let matrix_entries: Vec<Expr> = array.GZ.iter().chain(&array.HZ).chain(changing).map(|(_, _, e)| *e).collect();
        let contact = ContactProgram::new(&array, compiler, formulas.graph.inputs().len());
        let all: Vec<Expr> = values.iter().chain(&derivatives).copied().collect();
        Program {
            structure,
            eliminated,
            inputs: graph.inputs().len(),
            nodes: graph.needed(&all).len(),
            values: compiler.compile(graph, &values),
            jacobian: compiler.compile(graph, &derivatives),
            matrices: compiler.compile(graph, &matrix_entries),
            all_GZ: entries(&array.GZ),
            all_HZ: entries(&array.HZ),
            changing_mass: entries(changing),
            by_x: places(&array.by_x),
            by_y: places(&array.by_y),
            GZ: entries(GZ),
            HZ: entries(HZ),
            M,
            contact,
            layout,
        }
    }
}

pub(super) fn places(jacobian: &Jacobian) -> Places {
    jacobian.iter().map(|(i, j, _)| (i, j)).collect()
}

pub(super) fn entries(entries: &[(usize, usize, Expr)]) -> Places {
    entries.iter().map(|&(i, j, _)| (i, j)).collect()
}

/// Write the entries into a matrix that is zero elsewhere; returns the rest.
pub(super) fn scatter<'v>(values: &'v [f64], places: &Places, A: &mut Matrix) -> &'v [f64] {
    let (own, rest) = values.split_at(places.len());
    for (&(i, j), &value) in places.iter().zip(own) {
        A[(i, j)] = value;
    }
    rest
}

/// Kernels at work, with scratch space.
pub(super) struct Kernels<'m> {
    program: Arc<Program>,
    compiled: &'m Compiled,
    /// once a method asks for them
    parts: Option<PartKernels>,
    values: Box<dyn Kernel>,
    jacobian: Box<dyn Kernel>,
    point: Point,
    outputs: Vec<f64>,
    entries: Vec<f64>,
    matrices: Box<dyn Kernel>,
    matrix_entries: Vec<f64>,
    M: Matrix,
    GZ: Matrix,
    HZ: Matrix,
    contact: Option<ContactKernels>,
    mass_evaluations: u64,
}

impl<'m> Kernels<'m> {
    pub fn new(compiled: &'m Compiled, program: &Arc<Program>) -> Self {
        let l = &program.layout;
        let n = l.sizes;
        let matrices = program.GZ.len() + program.HZ.len();
        Kernels {
            compiled,
            parts: None,
            values: program.values.duplicate(),
            jacobian: program.jacobian.duplicate(),
            point: Point::new(l, program.inputs),
            outputs: vec![0.0; l.rows() + matrices],
            entries: vec![0.0; program.by_x.len() + program.by_y.len() + matrices],
            matrices: program.matrices.duplicate(),
            matrix_entries: vec![0.0; program.all_GZ.len() + program.all_HZ.len() + program.changing_mass.len()],
            M: program.M.clone(),
            GZ: Matrix::zeros(n.holonomic, n.velocities),
            HZ: Matrix::zeros(n.nonholonomic, n.velocities),
            contact: program.contact.as_ref().map(|contact| ContactKernels::new(contact, l)),
            mass_evaluations: 0,
            program: program.clone(),
        }
    }

    /// Set the inputs of all kernels to a point, with s₁, s₂ and η that belong to it.
    fn locate(&mut self, t: f64, x: &[f64]) -> Result<(), Undefined> {
        if !self.program.structure.mass.is_constant() || self.mass_evaluations == 0 {
            self.mass_evaluations += 1;
        }
        self.point.set(t, x);
        match (&mut self.contact, &self.program.contact) {
            (Some(kernels), Some(contact)) => kernels.solve(contact, &mut self.point.inputs),
            _ => Ok(()),
        }
    }
}

impl Rows for Kernels<'_> {
    fn evaluate(&mut self, t: f64, x: &[f64], rows: &mut [f64]) -> Result<(), Undefined> {
        self.locate(t, x)?;
        let program = &*self.program;
        self.values.call(&self.point.inputs, &mut self.outputs);
        let (own, matrices) = self.outputs.split_at(rows.len());
        rows.copy_from_slice(own);
        if self.contact.is_some() {
            self.GZ.fill(0.0);
        }
        let rest = scatter(matrices, &program.GZ, &mut self.GZ);
        scatter(rest, &program.HZ, &mut self.HZ);
        if let Some(kernels) = self.contact.as_mut().filter(|_| program.eliminated) {
            kernels.correct(&mut self.GZ);
        }
        Ok(())
    }

    fn jacobian(&mut self, t: f64, x: &[f64], F: &mut Matrix) -> Result<(), Undefined> {
        self.locate(t, x)?;
        let program = &*self.program;
        self.jacobian.call(&self.point.inputs, &mut self.entries);
        let (by_x, rest) = self.entries.split_at(program.by_x.len());
        for (&(i, j), value) in program.by_x.iter().zip(by_x) {
            F[(i, j)] = -value;
        }
        let (by_y, matrices) = rest.split_at(program.by_y.len());
        if self.contact.is_some() {
            self.GZ.fill(0.0);
        }
        let rest = scatter(matrices, &program.GZ, &mut self.GZ);
        scatter(rest, &program.HZ, &mut self.HZ);
        if let (Some(kernels), Some(contact)) = (&mut self.contact, &program.contact) {
            kernels.derivatives(contact, &self.point.inputs);
            kernels.follow();
            // ∂k/∂x + ∂k/∂y ∂y/∂x
            for (&(i, k), &value) in program.by_y.iter().zip(by_y) {
                for (f, &yx) in F.row_mut(i).iter_mut().zip(kernels.by_x.row(k)) {
                    *f -= value * yx;
                }
            }
            if program.eliminated {
                kernels.correct(&mut self.GZ);
            }
        }
        Ok(())
    }

    fn evaluate_matrices(&mut self, t: f64, x: &[f64]) -> Result<(), Undefined> {
        self.locate(t, x)?;
        let program = &*self.program;
        self.matrices.call(&self.point.inputs, &mut self.matrix_entries);
        if self.contact.is_some() {
            self.GZ.fill(0.0);
        }
        let rest = scatter(&self.matrix_entries, &program.all_GZ, &mut self.GZ);
        let rest = scatter(rest, &program.all_HZ, &mut self.HZ);
        scatter(rest, &program.changing_mass, &mut self.M);
        if let Some(kernels) = &mut self.contact {
            kernels.correct(&mut self.GZ);
        }
        Ok(())
    }

    fn at_rest(&mut self, t: f64, x: &[f64], rows: &mut [f64]) -> Result<(), Undefined> {
        let parts = self.parts.get_or_insert_with(|| self.compiled.parts(&self.program.layout));
        parts.at_rest(t, x, [&mut self.M, &mut self.GZ, &mut self.HZ], rows);
        Ok(())
    }

    fn forces(&mut self, t: f64, x: &[f64], hidden: bool, rows: &mut [f64]) -> Result<(), Undefined> {
        let parts = self.parts.get_or_insert_with(|| self.compiled.parts(&self.program.layout));
        parts.forces(t, x, hidden, rows);
        Ok(())
    }

    fn matrices(&self) -> [&Matrix; 3] {
        [&self.M, &self.GZ, &self.HZ]
    }

    fn mass_evaluations(&self) -> u64 {
        self.mass_evaluations
    }
}
