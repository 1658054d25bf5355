//! Equations of motion as compiled formulas: a [`Mechanism`] whose rows and Jacobians are kernels.

use super::eliminated::{Eliminated, Rows, eliminates};
use super::symbolic::{Entries, SymbolicArray};
use super::{Form, Formulas, Layout, Mechanism, Names, ReducedArray, Sizes, Structure, Undefined};
use crate::graph::{Compiler, Expr, Graph, Interpreted, Jacobian, Kernel};
use crate::linalg::{Lu, Matrix};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Formulas with a compiler. Kernels are compiled when they are first needed and then kept.
///
/// ```
/// use daedal::graph::Interpreted;
/// use daedal::motion::{Compiled, Formulas, Initial};
/// use daedal::{Geoms, Options, Problem, solve};
/// # use daedal::{linalg::Matrix, motion::{EquationsOfMotion, Motion, Position, Sizes}, scalar::Scalar};
/// # struct Pendulum;
/// # impl EquationsOfMotion for Pendulum {
/// #     fn sizes(&self) -> Sizes { Sizes { positions: 2, velocities: 2, holonomic: 1, ..Sizes::default() } }
/// #     fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) { M[(0, 0)] = S::from(1.0); M[(1, 1)] = S::from(1.0); }
/// #     fn force<S: Scalar>(&self, _: &Motion<S>, f: &mut [S]) { f[1] = S::from(-9.81); }
/// #     fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) { g[0] = at.p[0].square() + at.p[1].square() - 1.0; }
/// # }
/// let pendulum = Compiled::new(&Formulas::trace(&Pendulum), Interpreted);
/// let problem = Problem::new(&pendulum, Initial::new(0.0, &[-1.0, 0.0], &[0.0, 0.0]), 10.0);
/// let solution = solve(&problem, &Geoms::default(), &Options::default())?;
/// assert!((solution.end().p[0] + 0.27508746).abs() < 1e-5);
/// # Ok::<(), daedal::SolveError>(())
/// ```
pub struct Compiled {
    formulas: Formulas,
    structure: Structure,
    compiler: Box<dyn Compiler>,
    programs: Mutex<HashMap<(Form, bool), Arc<Program>>>,
}

impl Compiled {
    /// Formulas with numbers for their parameters.
    pub fn new(formulas: &Formulas, compiler: impl Compiler + 'static) -> Self {
        let formulas = formulas.bound();
        Compiled {
            structure: formulas.structure(),
            formulas,
            compiler: Box::new(compiler),
            programs: Mutex::new(HashMap::new()),
        }
    }

    /// Number of nodes of the array and of its Jacobian.
    pub fn nodes(&self, form: Form, with_invariants: bool) -> usize {
        self.program(form, with_invariants).nodes
    }

    fn program(&self, form: Form, with_invariants: bool) -> Arc<Program> {
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        let layout = || Layout::new(self.formulas.sizes, form, with_invariants);
        let compile = || Arc::new(Program::new(&self.formulas, layout(), self.structure, &*self.compiler));
        programs.entry((form, with_invariants)).or_insert_with(compile).clone()
    }
}

impl Mechanism for Compiled {
    fn sizes(&self) -> Sizes {
        self.formulas.sizes
    }
    fn names(&self) -> Names {
        self.formulas.names.clone()
    }
    fn structure(&self) -> Structure {
        self.structure
    }
    fn formulas(&self) -> Option<Formulas> {
        Some(self.formulas.clone())
    }
    fn array<'m>(&'m self, form: Form, with_invariants: bool) -> Box<dyn ReducedArray + 'm> {
        let program = self.program(form, with_invariants);
        let layout = program.layout.clone();
        Box::new(Eliminated::new(Kernels::new(&program), layout, self.structure))
    }
}

/// Further quantities of a model, evaluated at points of its motion.
pub struct Outputs {
    point: Point,
    kernel: Box<dyn Kernel>,
    names: Vec<String>,
}

impl Outputs {
    /// The outputs of these formulas, in their order, with numbers for the parameters.
    pub fn new(formulas: &Formulas) -> Self {
        let formulas = formulas.bound();
        let outputs: Vec<Expr> = formulas.outputs.iter().map(|(_, e)| *e).collect();
        let layout = Layout::new(formulas.sizes, Form::StrangenessFree, false);
        Outputs {
            point: Point::new(&layout, formulas.graph.inputs().len()),
            kernel: Interpreted.compile(&formulas.graph, &outputs),
            names: formulas.outputs.into_iter().map(|(name, _)| name).collect(),
        }
    }

    /// Their names.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Their values at (t, x).
    pub fn evaluate(&mut self, t: f64, x: &[f64], values: &mut [f64]) {
        self.point.set(t, x);
        self.kernel.call(&self.point.inputs, values);
    }
}

/// The inputs of the graph, filled from (t, x): t, p, v, r, w, s, λ, μ, a, parameters, y.
struct Point {
    inputs: Vec<f64>,
    layout: Layout,
}

impl Point {
    fn new(layout: &Layout, inputs: usize) -> Self {
        Point { inputs: vec![0.0; inputs], layout: layout.clone() }
    }

    fn set(&mut self, t: f64, x: &[f64]) {
        let l = &self.layout;
        self.inputs[0] = t;
        let mut start = 1;
        for block in [l.p(), l.v(), l.r(), l.w(), l.s(), l.lambda(), l.mu(), l.a()] {
            let end = start + block.len();
            self.inputs[start..end].copy_from_slice(&x[block]);
            start = end;
        }
    }
}

/// Where the entries of a sparse matrix go.
type Places = Vec<(usize, usize)>;

/// Compiled kernels of one array.
struct Program {
    layout: Layout,
    structure: Structure,
    eliminated: bool,
    inputs: usize,
    nodes: usize,
    /// rows, then GZ and HZ where accelerations are eliminated
    values: Box<dyn Kernel>,
    /// ∂rows/∂x, ∂rows/∂y, GZ, HZ
    jacobian: Box<dyn Kernel>,
    by_x: Places,
    by_y: Places,
    GZ: Places,
    HZ: Places,
    M: Matrix,
    contact: Option<ContactProgram>,
}

/// Compiled equations of y = (s₁, s₂, η).
struct ContactProgram {
    /// where y begins among the inputs
    first: usize,
    /// dc/dt and c_sᵀη − g_sᵀλ at y = 0, then c_s, c_pZ and g_s
    rates: Box<dyn Kernel>,
    /// d²c/dt² at s₂ = 0
    second_rates: Box<dyn Kernel>,
    /// the derivatives of the three equations with respect to x, of the second with respect to s₁
    jacobian: Box<dyn Kernel>,
    c_s: Places,
    by_x: [Places; 3],
    second_by_first: Places,
    c_pZ: Places,
    g_s: Places,
}

impl Program {
    fn new(formulas: &Formulas, layout: Layout, structure: Structure, compiler: &dyn Compiler) -> Self {
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
        let contact = ContactProgram::new(&array, compiler, formulas.graph.inputs().len());
        let all: Vec<Expr> = values.iter().chain(&derivatives).copied().collect();
        Program {
            structure,
            eliminated,
            inputs: graph.inputs().len(),
            nodes: graph.needed(&all).len(),
            values: compiler.compile(graph, &values),
            jacobian: compiler.compile(graph, &derivatives),
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

impl ContactProgram {
    fn new(array: &SymbolicArray, compiler: &dyn Compiler, first: usize) -> Option<Self> {
        let contact = array.contact.as_ref()?;
        let n = contact.equations[0].len();
        let graph: &Graph = &array.graph;
        let of = |entries: &Entries| entries.iter().map(|(_, _, e)| *e).collect::<Vec<Expr>>();
        let [rates, second, adjoint] = &contact.equations;
        // of ∂(d²c/dt²)/∂y only the columns of s₁ are wanted
        let second_by_first: Entries = contact.by_y[1].iter().filter(|(_, j, _)| *j < n).collect();
        let mut derivatives: Vec<Expr> = contact.by_x.iter().flat_map(|J| J.entries.iter().copied()).collect();
        derivatives.extend(of(&second_by_first));
        let matrices = [&contact.c_s, &contact.c_pZ, &contact.g_s].map(of);
        let values = [&rates[..], adjoint, &matrices.concat()].concat();
        Some(ContactProgram {
            first,
            rates: compiler.compile(graph, &values),
            second_rates: compiler.compile(graph, second),
            jacobian: compiler.compile(graph, &derivatives),
            c_s: entries(&contact.c_s),
            by_x: [0, 1, 2].map(|k| places(&contact.by_x[k])),
            second_by_first: entries(&second_by_first),
            c_pZ: entries(&contact.c_pZ),
            g_s: entries(&contact.g_s),
        })
    }
}

fn places(jacobian: &Jacobian) -> Places {
    jacobian.iter().map(|(i, j, _)| (i, j)).collect()
}

fn entries(entries: &[(usize, usize, Expr)]) -> Places {
    entries.iter().map(|&(i, j, _)| (i, j)).collect()
}

/// Write the entries into a matrix that is zero elsewhere; returns the rest.
fn scatter<'v>(values: &'v [f64], places: &Places, A: &mut Matrix) -> &'v [f64] {
    let (own, rest) = values.split_at(places.len());
    for (&(i, j), &value) in places.iter().zip(own) {
        A[(i, j)] = value;
    }
    rest
}

/// Kernels at work, with scratch space.
struct Kernels {
    program: Arc<Program>,
    values: Box<dyn Kernel>,
    jacobian: Box<dyn Kernel>,
    point: Point,
    outputs: Vec<f64>,
    entries: Vec<f64>,
    GZ: Matrix,
    HZ: Matrix,
    contact: Option<ContactKernels>,
    mass_evaluations: u64,
}

impl Kernels {
    fn new(program: &Arc<Program>) -> Self {
        let l = &program.layout;
        let n = l.sizes;
        let matrices = program.GZ.len() + program.HZ.len();
        Kernels {
            values: program.values.duplicate(),
            jacobian: program.jacobian.duplicate(),
            point: Point::new(l, program.inputs),
            outputs: vec![0.0; l.rows() + matrices],
            entries: vec![0.0; program.by_x.len() + program.by_y.len() + matrices],
            GZ: Matrix::zeros(n.holonomic, n.velocities),
            HZ: Matrix::zeros(n.nonholonomic, n.velocities),
            contact: program.contact.as_ref().map(|contact| ContactKernels::new(contact, l)),
            mass_evaluations: 0,
            program: program.clone(),
        }
    }

    fn count_mass(&mut self) {
        if !self.program.structure.mass.is_constant() || self.mass_evaluations == 0 {
            self.mass_evaluations += 1;
        }
    }
}

impl Rows for Kernels {
    fn evaluate(&mut self, t: f64, x: &[f64], rows: &mut [f64]) -> Result<(), Undefined> {
        self.count_mass();
        let program = &*self.program;
        self.point.set(t, x);
        if let (Some(kernels), Some(contact)) = (&mut self.contact, &program.contact) {
            kernels.solve(contact, &mut self.point.inputs)?;
        }
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
        self.count_mass();
        let program = &*self.program;
        self.point.set(t, x);
        if let (Some(kernels), Some(contact)) = (&mut self.contact, &program.contact) {
            kernels.solve(contact, &mut self.point.inputs)?;
        }
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

    fn matrices(&self) -> [&Matrix; 3] {
        [&self.program.M, &self.GZ, &self.HZ]
    }

    fn mass_evaluations(&self) -> u64 {
        self.mass_evaluations
    }
}

/// s₁, s₂, η and their derivatives by solving with c_s.
struct ContactKernels {
    n: usize,
    rates: Box<dyn Kernel>,
    second_rates: Box<dyn Kernel>,
    jacobian: Box<dyn Kernel>,
    outputs: Vec<f64>,
    entries: Vec<f64>,
    second: Vec<f64>,
    /// factors of c_s and of its transpose
    lu: Lu<f64>,
    transposed: Lu<f64>,
    /// ∂(s₁, s₂, η)/∂x
    by_x: Matrix,
    second_by_first: Matrix,
    c_pZ: Matrix,
    g_s: Matrix,
    column: Vec<f64>,
}

impl ContactKernels {
    fn new(contact: &ContactProgram, l: &Layout) -> Self {
        let n = l.s().len();
        let matrices = contact.c_s.len() + contact.c_pZ.len() + contact.g_s.len();
        let entries = contact.by_x.iter().map(Vec::len).sum::<usize>() + contact.second_by_first.len();
        ContactKernels {
            n,
            rates: contact.rates.duplicate(),
            second_rates: contact.second_rates.duplicate(),
            jacobian: contact.jacobian.duplicate(),
            outputs: vec![0.0; 2 * n + matrices],
            entries: vec![0.0; entries],
            second: vec![0.0; n],
            lu: Lu::new(n),
            transposed: Lu::new(n),
            by_x: Matrix::zeros(3 * n, l.dim()),
            second_by_first: Matrix::zeros(n, n),
            c_pZ: Matrix::zeros(n, l.v().len()),
            g_s: Matrix::zeros(l.lambda().len(), n),
            column: vec![0.0; n],
        }
    }

    /// y at the point whose other inputs are set.
    fn solve(&mut self, contact: &ContactProgram, inputs: &mut [f64]) -> Result<(), Undefined> {
        let n = self.n;
        let y = contact.first..contact.first + 3 * n;
        inputs[y.clone()].fill(0.0);
        self.rates.call(inputs, &mut self.outputs);
        self.lu.A.fill(0.0);
        let rest = scatter(&self.outputs[2 * n..], &contact.c_s, &mut self.lu.A);
        let rest = scatter(rest, &contact.c_pZ, &mut self.c_pZ);
        scatter(rest, &contact.g_s, &mut self.g_s);
        for i in 0..n {
            for j in 0..n {
                self.transposed.A[(j, i)] = self.lu.A[(i, j)];
            }
        }
        // c_s has no inverse here: the model has no value
        self.lu.factor().map_err(|_| Undefined)?;
        self.transposed.factor().map_err(|_| Undefined)?;
        let (s1, rest) = inputs[y.clone()].split_at_mut(n);
        let eta = &mut rest[n..];
        s1.iter_mut().zip(&self.outputs).for_each(|(s, c)| *s = -c);
        eta.iter_mut().zip(&self.outputs[n..2 * n]).for_each(|(eta, c)| *eta = -c);
        self.lu.solve(s1);
        self.transposed.solve(eta);
        self.second_rates.call(inputs, &mut self.second);
        let s2 = &mut inputs[y.start + n..y.start + 2 * n];
        s2.iter_mut().zip(&self.second).for_each(|(s, c)| *s = -c);
        self.lu.solve(s2);
        Ok(())
    }

    /// The derivatives of the equations of y at the point.
    fn derivatives(&mut self, contact: &ContactProgram, inputs: &[f64]) {
        self.jacobian.call(inputs, &mut self.entries);
        self.by_x.fill(0.0);
        let mut rest = &self.entries[..];
        for (k, places) in contact.by_x.iter().enumerate() {
            let (own, behind) = rest.split_at(places.len());
            for (&(i, j), &value) in places.iter().zip(own) {
                self.by_x[(k * self.n + i, j)] = value;
            }
            rest = behind;
        }
        scatter(rest, &contact.second_by_first, &mut self.second_by_first);
    }

    /// ∂y/∂x, column by column.
    fn follow(&mut self) {
        let n = self.n;
        for j in 0..self.by_x.cols() {
            for k in 0..3 {
                for i in 0..n {
                    self.column[i] = -self.by_x[(k * n + i, j)];
                    if k == 1 {
                        for l in 0..n {
                            self.column[i] -= self.second_by_first[(i, l)] * self.by_x[(l, j)];
                        }
                    }
                }
                if self.column.iter().any(|&x| x != 0.0) {
                    if k == 2 { &self.transposed } else { &self.lu }.solve(&mut self.column);
                }
                for i in 0..n {
                    self.by_x[(k * n + i, j)] = self.column[i];
                }
            }
        }
    }

    /// GZ = g_p Z − g_s c_s⁻¹ c_p Z.
    fn correct(&mut self, GZ: &mut Matrix) {
        for k in 0..GZ.rows() {
            // (c_s⁻ᵀ g_sᵀ) of this row
            self.column.copy_from_slice(self.g_s.row(k));
            self.transposed.solve(&mut self.column);
            for (i, &eta) in self.column.iter().enumerate() {
                for (g, &c) in GZ.row_mut(k).iter_mut().zip(self.c_pZ.row(i)) {
                    *g -= eta * c;
                }
            }
        }
    }
}
