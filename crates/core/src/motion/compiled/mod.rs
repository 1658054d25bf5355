//! Equations of motion as compiled formulas: a [`Mechanism`] whose rows and Jacobians are kernels.

mod contact;
mod least_norm;
mod parts;
mod program;

use super::eliminated::Eliminated;
use super::{Form, Formulas, Layout, Mechanism, Names, ReducedArray, Sizes, Structure};
use crate::graph::{Compiler, Expr, Interpreted, Kernel};
use crate::linalg::Matrices;
use least_norm::LeastNorm;
use parts::{PartKernels, Parts};
use program::{ArrayProgram, Kernels};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Formulas with a compiler. Kernels are compiled when they are first needed and then kept.
///
/// ```
/// use daedal::graph::Interpreted;
/// use daedal::motion::{Compiled, Formulas};
/// use daedal::{Geoms, Initial, Options, Problem, solve};
/// # use daedal::{linalg::Matrix, motion::{EquationsOfMotion, Motion, Position, Sizes}, scalar::Scalar};
/// # struct Pendulum;
/// # impl EquationsOfMotion for Pendulum {
/// #     fn sizes(&self) -> Sizes { Sizes { positions: 2, velocities: 2, holonomic: 1, ..Sizes::default() } }
/// #     fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) { M[(0, 0)] = S::from(1.0); M[(1, 1)] = S::from(1.0); }
/// #     fn force<S: Scalar>(&self, _: &Motion<S>, f: &mut [S]) { f[1] = S::from(-9.81); }
/// #     fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) { g[0] = at.p[0].square() + at.p[1].square() - 1.0; }
/// # }
/// let pendulum = Compiled::new(&Formulas::trace(&Pendulum), Interpreted);
/// let problem = Problem::new(&pendulum, Initial::motion(0.0, &[-1.0, 0.0], &[0.0, 0.0]), 10.0);
/// let solution = solve(&problem, &Geoms::default(), &Options::default())?;
/// assert!((solution.at_end().p[0] + 0.27508746).abs() < 1e-5);
/// # Ok::<(), daedal::SolveError>(())
/// ```
pub struct Compiled {
    formulas: Formulas,
    structure: Structure,
    compiler: Box<dyn Compiler>,
    matrices: Matrices,
    programs: Mutex<HashMap<ProgramKey, Arc<ArrayProgram>>>,
    parts: OnceLock<Parts>,
}

/// Form, with invariants, with sparse matrices whatever its size.
type ProgramKey = (Form, bool, bool);

impl Compiled {
    /// Formulas with numbers for their parameters.
    pub fn new(formulas: &Formulas, compiler: impl Compiler + 'static) -> Self {
        let formulas = formulas.bound();
        Compiled {
            structure: formulas.structure(),
            formulas,
            compiler: Box::new(compiler),
            matrices: Matrices::Auto,
            programs: Mutex::new(HashMap::new()),
            parts: OnceLock::new(),
        }
    }

    /// The same with dense or sparse matrices.
    #[must_use]
    pub fn with_matrices(self, matrices: Matrices) -> Self {
        Compiled { matrices, programs: Mutex::new(HashMap::new()), ..self }
    }

    /// Number of nodes of the array and of its Jacobian.
    pub fn nodes(&self, form: Form, with_invariants: bool) -> usize {
        self.program(form, with_invariants, self.matrices).nodes
    }

    fn parts(&self, program: &ArrayProgram) -> PartKernels<'_> {
        let parts = self.parts.get_or_init(|| Parts::new(&self.formulas, self.structure));
        PartKernels::new(parts, &*self.compiler, &program.layout, &program.matrices_at_start)
    }

    fn program(&self, form: Form, with_invariants: bool, matrices: Matrices) -> Arc<ArrayProgram> {
        // without invariants both are the same array
        let with_invariants = with_invariants && self.formulas.sizes.invariants > 0;
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        let layout = || Layout::new(self.formulas.sizes, form, with_invariants);
        let compile =
            || Arc::new(ArrayProgram::new(&self.formulas, layout(), self.structure, (&*self.compiler, matrices)));
        let key = (form, with_invariants, matrices == Matrices::Sparse);
        programs.entry(key).or_insert_with(compile).clone()
    }

    fn array_of(&self, program: &Arc<ArrayProgram>) -> Box<dyn ReducedArray + '_> {
        let layout = program.layout.clone();
        let (eliminated, diagonal) = (program.eliminated, self.structure.mass.is_diagonal());
        Box::new(Eliminated::new(Kernels::new(self, program), layout, eliminated, diagonal))
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
    fn matrices(&self) -> Matrices {
        self.matrices
    }
    fn formulas(&self) -> Option<Formulas> {
        Some(self.formulas.clone())
    }
    fn array<'m>(&'m self, form: Form, with_invariants: bool) -> Box<dyn ReducedArray + 'm> {
        self.array_of(&self.program(form, with_invariants, self.matrices))
    }
    fn sparse_array<'m>(&'m self, form: Form) -> Option<Box<dyn ReducedArray + 'm>> {
        let possible = self.matrices != Matrices::Dense && self.formulas.sizes.contact == 0;
        possible.then(|| self.array_of(&self.program(form, false, Matrices::Sparse)))
    }
}

/// Further quantities of a model, evaluated at points of its motion.
pub struct Outputs {
    point: ProgramInputs,
    kernel: Box<dyn Kernel>,
    names: Vec<String>,
    least_norm: Option<LeastNorm>,
}

impl Outputs {
    /// The outputs of these formulas, in their order, with numbers for the parameters. Where constraints in closed form are redundant, outputs see
    /// the smallest multipliers with the same forces.
    pub fn new(formulas: &Formulas) -> Self {
        let formulas = formulas.bound();
        let outputs: Vec<Expr> = formulas.outputs.iter().map(|(_, e)| *e).collect();
        let layout = Layout::new(formulas.sizes, Form::StrangenessFree, false);
        Outputs {
            point: ProgramInputs::new(&layout, formulas.graph.inputs().len()),
            kernel: Interpreted.compile(&formulas.graph, &outputs),
            least_norm: LeastNorm::new(&formulas, &outputs),
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
        if let Some(least_norm) = &mut self.least_norm {
            least_norm.apply(&mut self.point.inputs);
        }
        self.kernel.call(&self.point.inputs, values);
    }
}

/// The inputs of the graph, filled from (t, x): t, p, v, r, w, s, λ, μ, a, parameters, y.
struct ProgramInputs {
    inputs: Vec<f64>,
    layout: Layout,
    /// where blocks of x begin among the inputs
    blocks: Vec<(usize, Range<usize>)>,
}

impl ProgramInputs {
    fn new(layout: &Layout, inputs: usize) -> Self {
        let l = layout;
        Self::of_blocks(l, inputs, &[l.p(), l.v(), l.r(), l.w(), l.s(), l.lambda(), l.mu(), l.a()])
    }

    /// p, v and r alone; all others are zero.
    fn moving(layout: &Layout, inputs: usize) -> Self {
        Self::of_blocks(layout, inputs, &[layout.p(), layout.v(), layout.r()])
    }

    fn of_blocks(layout: &Layout, inputs: usize, blocks: &[Range<usize>]) -> Self {
        let mut start = 1;
        let place = |block: &Range<usize>| {
            start += block.len();
            (start - block.len(), block.clone())
        };
        let blocks = blocks.iter().map(place).filter(|(_, block)| !block.is_empty()).collect();
        ProgramInputs { inputs: vec![0.0; inputs], layout: layout.clone(), blocks }
    }

    fn set(&mut self, t: f64, x: &[f64]) {
        self.inputs[0] = t;
        for (start, block) in &self.blocks {
            self.inputs[*start..*start + block.len()].copy_from_slice(&x[block.clone()]);
        }
    }
}
