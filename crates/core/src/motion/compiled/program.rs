//! Kernels of one reduced derivative array: compiled once, and at work with scratch space of their own.

use super::super::array::finite;
use super::super::eliminated::{ArrayRows, eliminates, filled};
use super::super::{Formulas, InvariantSlopes, Layout, Solved, Structure, Undefined};
use super::contact::{ContactKernels, ContactProgram};
use super::parts::{PartKernels, copy};
use super::{Compiled, ProgramInputs};
use crate::graph::{self, Compiler, Expr, Kernel};
use crate::linalg::{Entries, Jacobian, JacobianRef, Matrices, Matrix};
use std::sync::Arc;

/// Where the entries of a sparse matrix go.
pub(super) type Places = Vec<(usize, usize)>;

/// Compiled kernels of one array.
pub(super) struct ArrayProgram {
    pub layout: Layout,
    structure: Structure,
    /// are accelerations eliminated?
    pub eliminated: bool,
    inputs: usize,
    pub nodes: usize,
    /// rows, then GZ and HZ where accelerations are eliminated
    values: Box<dyn Kernel>,
    /// ∂rows/∂x, ∂rows/∂y, GZ, HZ
    jacobian: Box<dyn Kernel>,
    /// GZ, HZ, M where it changes
    matrices: Box<dyn Kernel>,
    /// zeros of the kind of −∂k/∂x
    F: Jacobian,
    by_x: Entries,
    by_y: Places,
    /// M where it is constant, zeros of the kinds of GZ and HZ, and where their entries stand
    pub matrices_at_start: [Jacobian; 3],
    changing_mass: Entries,
    GZ: Entries,
    HZ: Entries,
    contact: Option<ContactProgram>,
}

impl ArrayProgram {
    pub fn new(
        formulas: &Formulas,
        layout: Layout,
        structure: Structure,
        (compiler, matrices): (&dyn Compiler, Matrices),
    ) -> Self {
        let array = formulas.array(&layout);
        let n = layout.sizes;
        let contact = ContactProgram::new(&array, compiler, formulas.graph.inputs().len());
        let (by_x, GZ, HZ) = (places(&array.by_x), entries(&array.GZ), entries(&array.HZ));
        // contact variables fill rows in
        let sparse =
            |places: &Places| contact.is_none() && matrices.are_sparse(layout.rows(), layout.dim(), places.len());
        // and so does the inverse of a matrix that is not diagonal
        let eliminated = eliminates(structure) && (structure.mass.is_diagonal() || !sparse(&by_x));
        let mut all = by_x.clone();
        if eliminated && sparse(&all) {
            filled(&layout, &mut all, &GZ, &HZ);
        }
        let F = if sparse(&all) {
            Jacobian::sparse(layout.rows(), layout.dim(), all)
        } else {
            Jacobian::dense(layout.rows(), layout.dim())
        };
        // what is decomposed is [M Kᵀ; K 0]
        let mass = entries(&array.mass);
        let (constraints, coefficients) = (n.holonomic + n.nonholonomic, GZ.len() + HZ.len());
        let sparse =
            contact.is_none() && matrices.saddle_is_sparse(n.velocities, constraints, mass.len() + 2 * coefficients);
        let kind = |rows: usize, places: &Places| {
            if sparse {
                Jacobian::sparse(rows, n.velocities, places.clone())
            } else {
                Jacobian::dense(rows, n.velocities)
            }
        };
        let mut matrices_at_start = [kind(n.velocities, &mass), kind(n.holonomic, &GZ), kind(n.nonholonomic, &HZ)];
        for &(i, j, m) in &array.mass {
            matrices_at_start[0].put((i, j), array.graph.constant(m).unwrap_or(0.0));
        }

        let constraints = || array.GZ.iter().chain(&array.HZ).map(|(_, _, e)| *e);
        let besides: Vec<Expr> = if eliminated { constraints().collect() } else { Vec::new() };
        let values: Vec<Expr> = array.rows.iter().chain(&besides).copied().collect();
        let derivatives: Vec<Expr> =
            array.by_x.entries.iter().chain(&array.by_y.entries).chain(&besides).copied().collect();
        let graph = &array.graph;
        let changing = if structure.mass.is_constant() { &[][..] } else { &array.mass[..] };
        let matrix_entries: Vec<Expr> = constraints().chain(changing.iter().map(|(_, _, e)| *e)).collect();
        let all: Vec<Expr> = values.iter().chain(&derivatives).copied().collect();
        ArrayProgram {
            structure,
            eliminated,
            inputs: graph.inputs().len(),
            nodes: graph.needed(&all).len(),
            values: compiler.compile(graph, &values),
            jacobian: compiler.compile(graph, &derivatives),
            matrices: compiler.compile(graph, &matrix_entries),
            by_x: Entries::new(by_x, &F),
            by_y: places(&array.by_y),
            changing_mass: Entries::new(entries(changing), &matrices_at_start[0]),
            GZ: Entries::new(GZ, &matrices_at_start[1]),
            HZ: Entries::new(HZ, &matrices_at_start[2]),
            matrices_at_start,
            F,
            contact,
            layout,
        }
    }

    /// How many entries of GZ and HZ stand beside the rows.
    fn besides(&self) -> usize {
        if self.eliminated { self.GZ.len() + self.HZ.len() } else { 0 }
    }
}

pub(super) fn places(jacobian: &graph::Jacobian) -> Places {
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
    program: Arc<ArrayProgram>,
    compiled: &'m Compiled,
    /// once a method asks for them
    parts: Option<PartKernels<'m>>,
    values: Box<dyn Kernel>,
    jacobian: Box<dyn Kernel>,
    point: ProgramInputs,
    outputs: Vec<f64>,
    entries: Vec<f64>,
    matrices: Box<dyn Kernel>,
    matrix_entries: Vec<f64>,
    M: Jacobian,
    GZ: Jacobian,
    HZ: Jacobian,
    contact: Option<ContactKernels>,
    mass_evaluations: u64,
}

impl<'m> Kernels<'m> {
    pub fn new(compiled: &'m Compiled, program: &Arc<ArrayProgram>) -> Self {
        let l = &program.layout;
        let [M, GZ, HZ] = program.matrices_at_start.clone();
        Kernels {
            compiled,
            parts: None,
            values: program.values.duplicate(),
            jacobian: program.jacobian.duplicate(),
            point: ProgramInputs::new(l, program.inputs),
            outputs: vec![0.0; l.rows() + program.besides()],
            entries: vec![0.0; program.by_x.len() + program.by_y.len() + program.besides()],
            matrices: program.matrices.duplicate(),
            matrix_entries: vec![0.0; program.GZ.len() + program.HZ.len() + program.changing_mass.len()],
            M,
            GZ,
            HZ,
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

/// GZ and HZ from their entries, GZ along c = 0; returns the rest of the entries.
fn know_constraints<'v>(
    program: &ArrayProgram,
    values: &'v [f64],
    [GZ, HZ]: [&mut Jacobian; 2],
    contact: Option<&mut ContactKernels>,
) -> &'v [f64] {
    if contact.is_some() {
        GZ.clear();
    }
    let rest = program.GZ.write(1.0, values, GZ);
    let rest = program.HZ.write(1.0, rest, HZ);
    if let Some(kernels) = contact {
        kernels.correct(GZ.dense_mut());
    }
    rest
}

impl ArrayRows for Kernels<'_> {
    fn evaluate(&mut self, t: f64, x: &[f64], rows: &mut [f64]) -> Result<(), Undefined> {
        self.locate(t, x)?;
        let program = &*self.program;
        self.values.call(&self.point.inputs, &mut self.outputs);
        let (own, matrices) = self.outputs.split_at(rows.len());
        rows.copy_from_slice(own);
        if program.eliminated {
            know_constraints(program, matrices, [&mut self.GZ, &mut self.HZ], self.contact.as_mut());
        }
        Ok(())
    }

    fn pattern(&self) -> Option<&Jacobian> {
        Some(&self.program.F)
    }

    fn kinds(&self) -> Option<[Jacobian; 3]> {
        Some(self.program.matrices_at_start.clone())
    }

    fn jacobian(&mut self, t: f64, x: &[f64], F: &mut Jacobian) -> Result<(), Undefined> {
        self.locate(t, x)?;
        let program = &*self.program;
        self.jacobian.call(&self.point.inputs, &mut self.entries);
        let rest = program.by_x.write(-1.0, &self.entries, F);
        let (by_y, matrices) = rest.split_at(program.by_y.len());
        if let (Some(kernels), Some(contact)) = (&mut self.contact, &program.contact) {
            kernels.derivatives(contact, &self.point.inputs);
            kernels.follow();
            // ∂k/∂x + ∂k/∂y ∂y/∂x
            let by_x = JacobianRef::Dense(&kernels.by_x);
            for (&(i, k), &value) in program.by_y.iter().zip(by_y) {
                F.add_row(i, -value, &by_x, k);
            }
        }
        if program.eliminated {
            know_constraints(program, matrices, [&mut self.GZ, &mut self.HZ], self.contact.as_mut());
        }
        Ok(())
    }

    fn evaluate_matrices(&mut self, t: f64, x: &[f64]) -> Result<(), Undefined> {
        self.locate(t, x)?;
        let program = &*self.program;
        self.matrices.call(&self.point.inputs, &mut self.matrix_entries);
        let matrices = [&mut self.GZ, &mut self.HZ];
        let rest = know_constraints(program, &self.matrix_entries, matrices, self.contact.as_mut());
        program.changing_mass.write(1.0, rest, &mut self.M);
        Ok(())
    }

    fn at_rest(&mut self, t: f64, x: &[f64], rows: &mut [f64]) -> Result<(), Undefined> {
        let parts = self.parts.get_or_insert_with(|| self.compiled.parts(&self.program));
        parts.at_rest(t, x, [&mut self.M, &mut self.GZ, &mut self.HZ], rows);
        Ok(())
    }

    fn forces(&mut self, t: f64, x: &[f64], hidden: bool, rows: &mut [f64]) -> Result<(), Undefined> {
        let parts = self.parts.get_or_insert_with(|| self.compiled.parts(&self.program));
        parts.forces(t, x, hidden, rows);
        Ok(())
    }

    fn know_solutions(&mut self, t: f64, x: &[f64], what: &[Solved]) -> Result<bool, Undefined> {
        if self.M.is_sparse() || self.contact.is_some() {
            return Ok(false);
        }
        self.evaluate_matrices(t, x)?;
        let parts = self.parts.get_or_insert_with(|| self.compiled.parts(&self.program));
        Ok(parts.know_solutions(what, [self.M.view(), self.GZ.view(), self.HZ.view()]))
    }

    fn accelerations(&mut self, t: f64, x: &mut [f64], rows: &mut [f64]) -> bool {
        let (Some(parts), l) = (&mut self.parts, &self.program.layout) else { return false };
        let Some([solution, residual, besides]) = parts.solve(Solved::Acceleration, t, x) else { return false };
        if finite(besides).is_err() {
            return false;
        }
        copy(solution, x, [l.a(), l.lambda(), l.mu()]);
        copy(&residual[l.a().len()..], rows, [l.row_g2(), l.row_h1()]);
        copy(besides, rows, [l.row_dynamic(), l.row_kinematics()]);
        true
    }

    fn correction(&mut self, what: Solved, t: f64, x: &[f64], correction: &mut [f64]) -> bool {
        let (Some(parts), l) = (&mut self.parts, &self.program.layout) else { return false };
        let Some([solution, _, besides]) = parts.solve(what, t, x) else { return false };
        match what {
            Solved::Position => correction[l.p()].copy_from_slice(besides),
            _ => correction[l.v()].copy_from_slice(&solution[..l.v().len()]),
        }
        true
    }

    fn invariant_slopes(&mut self, t: f64, x: &[f64], at: &mut InvariantSlopes) -> bool {
        let (Some(parts), n) = (&mut self.parts, self.program.layout.sizes) else { return false };
        let Some([solutions, _, mut besides]) = parts.solve(Solved::Invariants, t, x) else { return false };
        let InvariantSlopes { e, along: [along_p, along_v], slopes: [by_p, by_v] } = at;
        for part in [e, along_p, by_p, by_v] {
            let (own, rest) = besides.split_at(part.len());
            part.copy_from_slice(own);
            besides = rest;
        }
        let size = n.velocities + n.holonomic + n.nonholonomic;
        let of_v = solutions[n.invariants * size..].chunks_exact(size.max(1));
        along_v.chunks_exact_mut(n.velocities.max(1)).zip(of_v).for_each(|(w, x)| w.copy_from_slice(&x[..w.len()]));
        true
    }

    fn matrices(&self) -> [JacobianRef<'_>; 3] {
        [self.M.view(), self.GZ.view(), self.HZ.view()]
    }

    fn mass_evaluations(&self) -> u64 {
        self.mass_evaluations
    }
}
