//! A general system with the means to evaluate it.

use super::array::ArrayKernels;
use super::{DerivativeArray, Equations, FirstOrder, Formulas, Structure};
use crate::graph::{Compiler, Interpreted};
use crate::linalg::Matrices;
use std::sync::{Arc, OnceLock};

/// F(t, x, ẋ) = 0 with its formulas and a compiler for them.
#[derive(Clone)]
pub struct System {
    /// As it was written.
    pub formulas: Formulas,
    /// With derivatives as unknowns where they are needed; parameters stay symbolic.
    pub first: FirstOrder,
    pub(super) compiler: Arc<dyn Compiler>,
    /// which matrices of its forms without reduction are sparse
    pub(super) matrices: Matrices,
    /// made when they are first asked for
    kernels: OnceLock<Arc<ArrayKernels>>,
}

impl std::fmt::Debug for System {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("System").field("unknowns", &self.first.names).finish_non_exhaustive()
    }
}

impl System {
    /// From formulas.
    pub fn new(formulas: &Formulas, compiler: impl Compiler + 'static) -> Self {
        Self::compiled(formulas, Arc::new(compiler))
    }

    /// From a Rust model, which is traced; its formulas are interpreted.
    pub fn of<E: Equations>(equations: &E) -> Self {
        System::new(&Formulas::trace(equations), Interpreted)
    }

    /// The same with dense or sparse matrices, where no reduction fills them in.
    #[must_use]
    pub fn with_matrices(self, matrices: Matrices) -> Self {
        System { matrices, ..self }
    }

    /// States that may stay undetermined, by their names: they keep their initial values.
    ///
    /// ```
    /// use daedal::dae::{Equations, Form, System};
    /// use daedal::scalar::Scalar;
    /// use daedal::{Initial, Options, Problem, RadauIIa, solve};
    ///
    /// /// x' = F + u, 0 = x − sin t: only the sum of F and u is determined.
    /// struct Prescribed;
    /// impl Equations for Prescribed {
    ///     fn dim(&self) -> usize { 3 }
    ///     fn rows(&self) -> usize { 2 }
    ///     fn names(&self) -> Vec<String> { ["x", "F", "u"].map(String::from).to_vec() }
    ///     fn residual<S: Scalar>(&self, t: S, x: &[S], xdot: &[S], r: &mut [S]) {
    ///         r[0] = xdot[0] - x[1] - x[2];
    ///         r[1] = x[0] - t.sin();
    ///     }
    /// }
    /// let initial = Initial::new(0.0, &[0.0, 1.0, 0.25]).unknown(1);
    /// let solved = |system: &System| {
    ///     solve(&Problem::new(system, initial.clone(), 1.0), &RadauIIa::default(), &Options::default())
    /// };
    /// let system = System::of(&Prescribed);
    /// assert!(solved(&system).is_err());
    /// let end = solved(&system.free(&["u"]))?.end.x;
    /// assert!((end[1] - (1.0_f64.cos() - 0.25)).abs() < 1e-6 && (end[2] - 0.25).abs() < 1e-12);
    /// # Ok::<(), daedal::SolveError<daedal::dae::Unknowns>>(())
    /// ```
    #[must_use]
    pub fn free(mut self, states: &[&str]) -> Self {
        self.formulas.free.extend(states.iter().map(ToString::to_string));
        self
    }

    /// Does every equation contain a derivative, as those of ordinary differential equations do?
    pub fn has_derivatives_in_all_rows(&self) -> bool {
        let FirstOrder { graph, xdot, equations, .. } = &self.first;
        let mut rate = vec![false; graph.inputs().len()];
        for &e in xdot {
            rate[self.first.place(e)] = true;
        }
        graph.dependencies(equations).iter().all(|inputs| inputs.iter().any(|&i| rate[i]))
    }

    /// Other formulas with the same compiler.
    #[must_use]
    pub fn of_the_same_kind(&self, formulas: &Formulas) -> Self {
        Self::compiled(formulas, self.compiler.clone())
    }

    fn compiled(formulas: &Formulas, compiler: Arc<dyn Compiler>) -> Self {
        System {
            formulas: formulas.clone(),
            first: FirstOrder::new(formulas),
            compiler,
            matrices: Matrices::Auto,
            kernels: OnceLock::new(),
        }
    }

    /// The system with ẋ = 0 for some of its unknowns.
    pub(super) fn held(&self, unknowns: &[usize]) -> Self {
        let mut held = System { kernels: OnceLock::new(), ..self.clone() };
        for &j in unknowns {
            held.first.equations.push(held.first.xdot[j]);
            held.first.row_names.push(format!("{} stays", self.names()[j]));
        }
        held
    }

    /// What its formulas tell.
    pub fn structure(&self) -> &Structure {
        &self.kernels().structure
    }

    fn kernels(&self) -> &Arc<ArrayKernels> {
        let new = || ArrayKernels::new(Structure::new(&self.first), self.compiler.clone());
        self.kernels.get_or_init(|| Arc::new(new()))
    }

    /// Number of unknowns of the first-order form.
    pub fn dim(&self) -> usize {
        self.first.dim()
    }

    /// Number of equations of the first-order form.
    pub fn rows(&self) -> usize {
        self.first.rows()
    }

    /// Names of the unknowns of the first-order form.
    pub fn names(&self) -> &[String] {
        &self.first.names
    }

    /// Names of the equations of the first-order form.
    pub fn row_names(&self) -> &[String] {
        &self.first.row_names
    }

    /// Its derivative arrays.
    pub fn array(&self) -> DerivativeArray {
        DerivativeArray::new(self.kernels().clone(), self.is_large())
    }

    /// Are matrices of its reduction sparse? Singular values decide about all others.
    pub(super) fn is_large(&self) -> bool {
        let Structure { leading, slope, .. } = self.structure();
        self.matrices.arrays_are_sparse(self.dim(), leading.entries.len() + slope.entries.len())
    }
}
