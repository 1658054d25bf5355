//! A general system with the means to evaluate it.

use super::{DerivativeArray, Equations, FirstOrder, Formulas};
use crate::graph::{Compiler, Interpreted};
use std::sync::Arc;

/// F(t, x, ẋ) = 0 with its formulas and a compiler for them.
#[derive(Clone)]
pub struct System {
    /// As it was written.
    pub formulas: Formulas,
    /// With derivatives as unknowns where they are needed; parameters stay symbolic.
    pub first: FirstOrder,
    pub(super) compiler: Arc<dyn Compiler>,
}

impl std::fmt::Debug for System {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("System").field("unknowns", &self.first.names).finish_non_exhaustive()
    }
}

impl System {
    /// From formulas.
    pub fn new(formulas: &Formulas, compiler: impl Compiler + 'static) -> Self {
        System { formulas: formulas.clone(), first: FirstOrder::new(formulas), compiler: Arc::new(compiler) }
    }

    /// From a Rust model, which is traced; its formulas are interpreted.
    pub fn of<E: Equations>(equations: &E) -> Self {
        System::new(&Formulas::trace(equations), Interpreted)
    }

    /// Other formulas with the same compiler.
    #[must_use]
    pub fn of_the_same_kind(&self, formulas: &Formulas) -> Self {
        System { formulas: formulas.clone(), first: FirstOrder::new(formulas), compiler: self.compiler.clone() }
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
        DerivativeArray::new(&self.first, self.compiler.clone())
    }
}
