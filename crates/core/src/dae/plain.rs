//! A square system F(t, x, ẋ) = 0 of index at most one, as it stands.

use super::watch::Watch;
use super::{Dae, Pencil, Structure};
use crate::error::StepFailure;
use crate::graph::{Compiler, Jacobian, Kernel};
use crate::linalg::{Matrix, RankRule};
use crate::motion::Undefined;
use crate::statistics::Residuals;

/// Systems of this size and more are sparse if few of their entries may differ from zero.
const SPARSE_FROM: usize = 60;
const SPARSE_SHARE: f64 = 0.15;

/// F itself.
pub struct Plain {
    n: usize,
    m: usize,
    values: Box<dyn Kernel>,
    /// entries of ∂F/∂ẋ, then of ∂F/∂x
    entries: Box<dyn Kernel>,
    by_xdot: Vec<(usize, usize)>,
    by_x: Vec<(usize, usize)>,
    /// places of a sparse pencil, and where the entries of both derivatives stand in it
    pattern: Option<Pattern>,
    algebraic: Vec<bool>,
    quasilinear: bool,
    inputs: Vec<f64>,
    time: usize,
    places: Vec<usize>,
    slopes: Vec<f64>,
    rows: Vec<f64>,
    residuals: Residuals,
    /// the matrix that must stay regular, unless it is made of numbers
    watch: Option<Watch>,
}

struct Pattern {
    places: Vec<(usize, usize)>,
    of_xdot: Vec<usize>,
    of_x: Vec<usize>,
}

impl Plain {
    /// A square system; the caller knows that its index is at most one.
    pub fn new(structure: &Structure, compiler: &dyn Compiler, ranks: RankRule) -> Self {
        let plain = Self::rectangular(structure, compiler);
        let pattern = Pattern::new(plain.n, &plain.by_xdot, &plain.by_x);
        Plain { pattern, watch: Watch::new(structure, compiler, ranks), ..plain }
    }

    /// Rows and dense pencils of a system that need not be square; not for integrators.
    pub(super) fn rectangular(structure: &Structure, compiler: &dyn Compiler) -> Self {
        let (system, entries, algebraic) = (&structure.system, structure.coefficients(), structure.algebraic());
        let (m, n) = (system.rows(), system.dim());
        let constraint = algebraic.iter().any(|&a| a).then_some(0.0);
        let places = |J: &Jacobian| J.iter().map(|(i, j, _)| (i, j)).collect();
        Plain {
            n,
            m,
            values: compiler.compile(&system.graph, &system.equations),
            entries: compiler.compile(&system.graph, &entries),
            by_xdot: places(&structure.leading),
            by_x: places(&structure.slope),
            pattern: None,
            algebraic,
            quasilinear: structure.quasilinear(),
            inputs: vec![0.0; system.graph.inputs().len()],
            time: system.place(system.t),
            places: system.x.iter().chain(&system.xdot).map(|&e| system.place(e)).collect(),
            slopes: vec![0.0; entries.len()],
            rows: vec![0.0; m],
            residuals: Residuals { constraint, ..Residuals::default() },
            watch: None,
        }
    }

    /// Entries of ∂F/∂ẋ and of ∂F/∂x at a point: column and value of each, row by row.
    #[allow(clippy::type_complexity)] // rows of E and of A as pairs of column and value
    pub(super) fn slopes_by_row(
        &mut self,
        t: f64,
        x: &[f64],
        xdot: &[f64],
    ) -> Result<[Vec<Vec<(usize, f64)>>; 2], StepFailure> {
        self.slopes_at(t, x, xdot)?;
        let (leading, slope) = self.slopes.split_at(self.by_xdot.len());
        let mut rows = [vec![Vec::new(); self.m], vec![Vec::new(); self.m]];
        self.by_xdot.iter().zip(leading).for_each(|(&(i, j), &e)| rows[0][i].push((j, e)));
        self.by_x.iter().zip(slope).for_each(|(&(i, j), &e)| rows[1][i].push((j, e)));
        Ok(rows)
    }

    fn slopes_at(&mut self, t: f64, x: &[f64], xdot: &[f64]) -> Result<(), StepFailure> {
        self.set(t, x, xdot);
        self.entries.call(&self.inputs, &mut self.slopes);
        if self.slopes.iter().any(|x| !x.is_finite()) { Err(StepFailure::Undefined { t }) } else { Ok(()) }
    }

    fn set(&mut self, t: f64, x: &[f64], xdot: &[f64]) {
        self.inputs[self.time] = t;
        for (&place, &value) in self.places.iter().zip(x.iter().chain(xdot)) {
            self.inputs[place] = value;
        }
    }
}

impl Pattern {
    fn new(n: usize, by_xdot: &[(usize, usize)], by_x: &[(usize, usize)]) -> Option<Self> {
        let mut places: Vec<(usize, usize)> = by_xdot.iter().chain(by_x).copied().collect();
        places.sort_unstable_by_key(|&(i, j)| (j, i));
        places.dedup();
        if n < SPARSE_FROM || places.len() as f64 > SPARSE_SHARE * (n * n) as f64 {
            return None;
        }
        let find = |&(i, j): &(usize, usize)| places.binary_search_by_key(&(j, i), |&(i, j)| (j, i)).unwrap_or(0);
        let (of_xdot, of_x) = (by_xdot.iter().map(find).collect(), by_x.iter().map(find).collect());
        Some(Pattern { places, of_xdot, of_x })
    }
}

impl Dae for Plain {
    fn dim(&self) -> usize {
        self.n
    }

    fn new_pencil(&self) -> Pencil {
        match &self.pattern {
            Some(pattern) => {
                let zeros = vec![0.0; pattern.places.len()];
                Pencil::Sparse { places: pattern.places.clone(), E: zeros.clone(), A: zeros }
            }
            None => Pencil::Dense { E: Matrix::zeros(self.m, self.n), A: Matrix::zeros(self.m, self.n) },
        }
    }

    fn algebraic(&self, row: usize) -> bool {
        self.algebraic[row]
    }

    fn quasilinear(&self) -> bool {
        self.quasilinear
    }

    fn residual(&mut self, _: usize, t: f64, x: &[f64], xdot: &[f64], r: &mut [f64]) -> Result<(), Undefined> {
        self.set(t, x, xdot);
        self.values.call(&self.inputs, r);
        if r.iter().all(|r| r.is_finite()) { Ok(()) } else { Err(Undefined) }
    }

    fn pencil(&mut self, t: f64, x: &[f64], xdot: &[f64], out: &mut Pencil) -> Result<(), StepFailure> {
        self.slopes_at(t, x, xdot)?;
        let (leading, slope) = self.slopes.split_at(self.by_xdot.len());
        match (out, &self.pattern) {
            (Pencil::Dense { E, A }, None) => {
                E.fill(0.0);
                A.fill(0.0);
                self.by_xdot.iter().zip(leading).for_each(|(&place, &e)| E[place] = e);
                self.by_x.iter().zip(slope).for_each(|(&place, &a)| A[place] = -a);
            }
            (Pencil::Sparse { E, A, .. }, Some(pattern)) => {
                E.fill(0.0);
                A.fill(0.0);
                pattern.of_xdot.iter().zip(leading).for_each(|(&place, &e)| E[place] = e);
                pattern.of_x.iter().zip(slope).for_each(|(&place, &a)| A[place] = -a);
            }
            _ => unreachable!("a pencil of another system"),
        }
        Ok(())
    }

    fn accepted(&mut self, _: usize, t: f64, x: &mut [f64], xdot: &[f64]) -> Result<(), StepFailure> {
        if let Some(watch) = &mut self.watch {
            watch.step(t, x, xdot)?;
        }
        if self.residuals.constraint.is_some() {
            self.set(t, x, xdot);
            self.values.call(&self.inputs, &mut self.rows);
            let rows = self.rows.iter().zip(&self.algebraic).filter(|(_, a)| **a);
            self.residuals.constraint = Some(rows.fold(0.0, |most: f64, (r, _)| most.max(r.abs())));
        }
        Ok(())
    }

    fn jumped(&mut self, _: f64, _: &[f64]) {
        if let Some(watch) = &mut self.watch {
            watch.forget();
        }
    }

    fn residuals(&self) -> Residuals {
        self.residuals
    }

    fn decisions(&self) -> String {
        let kind = if self.pattern.is_some() { "sparse" } else { "dense" };
        format!("index at most one: the equations as they stand, {kind}")
    }
}
