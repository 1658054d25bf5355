//! A square system F(t, x, ẋ) = 0 of index at most one, as it stands.

use super::watch::WatchedMatrix;
use super::{Dae, FirstOrder, Pencil, Structure};
use crate::error::StepFailure;
use crate::graph::{self, Compiler, Expr, Graph, Interpreted, Kernel};
use crate::linalg::{Entries, Matrices, RankRule, all_finite};
use crate::method::sums::of_length;
use crate::motion::Undefined;
use crate::statistics::Residuals;
use std::sync::Arc;

/// F itself.
pub struct Plain {
    n: usize,
    m: usize,
    values: Box<dyn Kernel>,
    /// entries of ∂F/∂ẋ, then of ∂F/∂x
    entries: Box<dyn Kernel>,
    /// zeros of the pattern, and where the entries of both derivatives stand in it
    pattern: Pencil,
    by_xdot: Entries,
    by_x: Entries,
    algebraic: Vec<bool>,
    quasilinear: bool,
    constant_leading: bool,
    multiplies_constrained_rates: bool,
    /// ∂F/∂t, where time moves F: formulas until it is asked for
    by_time: Option<TimeSlope>,
    /// ẋ of an ordinary differential equation whose rows have one derivative each: formulas until they are asked for
    rates: Option<ExplicitRates>,
    inputs: Vec<f64>,
    time: usize,
    /// where x and ẋ stand among the inputs
    of_x: InputPlaces,
    of_xdot: InputPlaces,
    slopes: Vec<f64>,
    rows: Vec<f64>,
    residuals: Residuals,
    row_names: Vec<String>,
    /// the matrix that must stay regular, unless it is made of numbers
    watch: Option<WatchedMatrix>,
}

/// Where numbers stand among the inputs of formulas.
enum InputPlaces {
    /// One behind the other, from this place on.
    From(usize),
    /// Anywhere.
    At(Vec<usize>),
}

impl InputPlaces {
    fn new(system: &FirstOrder, unknowns: &[Expr]) -> Self {
        let places: Vec<usize> = unknowns.iter().map(|&e| system.place(e)).collect();
        match places.first() {
            Some(&first) if places.iter().copied().eq(first..first + places.len()) => InputPlaces::From(first),
            _ => InputPlaces::At(places),
        }
    }

    #[inline]
    fn put(&self, numbers: &[f64], inputs: &mut [f64]) {
        match self {
            InputPlaces::From(first) => {
                let (n, to) = (numbers.len(), &mut inputs[*first..]);
                of_length!(n, 1 => to[..n].copy_from_slice(&numbers[..n]));
            }
            InputPlaces::At(places) => places.iter().zip(numbers).for_each(|(&place, &x)| inputs[place] = x),
        }
    }
}

/// ∂F/∂t, which few methods ask for.
enum TimeSlope {
    Formulas(Box<(Graph, graph::Jacobian)>),
    Kernel { rows: Vec<usize>, entries: Box<dyn Kernel>, values: Vec<f64> },
}

impl TimeSlope {
    /// Formulas of it; none where time does not enter, or in conditions alone: between its jumps the system is autonomous.
    fn of(structure: &Structure) -> Option<Self> {
        if structure.autonomous() {
            return None;
        }
        let (mut graph, t) = (structure.system.graph.clone(), [structure.system.t]);
        let slope = graph.jacobian(&structure.system.equations, &t);
        let moves = slope.entries.iter().any(|&e| graph.constant(e) != Some(0.0));
        moves.then(|| TimeSlope::Formulas(Box::new((graph, slope))))
    }

    /// Differentiated, and evaluated from then on.
    fn made(self) -> Self {
        let TimeSlope::Formulas(formulas) = self else { return self };
        let (graph, graph::Jacobian { row, entries, .. }) = *formulas;
        let values = vec![0.0; entries.len()];
        TimeSlope::Kernel { rows: row, entries: Interpreted.compile(&graph, &entries), values }
    }
}

/// ẋ by formulas, which explicit methods ask for.
enum ExplicitRates {
    Formulas(Box<Structure>, Arc<dyn Compiler>),
    Kernel(Box<dyn Kernel>),
}

impl ExplicitRates {
    /// ẋⱼ = −Fᵢ(t, x, 0)/eᵢⱼ with the row i in which ẋⱼ stands, compiled.
    fn made(self) -> Self {
        let ExplicitRates::Formulas(structure, compiler) = self else { return self };
        let FirstOrder { mut graph, equations, xdot, .. } = structure.system;
        let at_rest: Vec<_> = xdot.iter().map(|&rate| (rate, 0.0)).collect();
        let f = graph.bind(&equations, &at_rest);
        let mut rates = f.clone();
        for (i, j, e) in structure.leading.iter() {
            rates[j] = graph.with(|| -f[i] / e);
        }
        ExplicitRates::Kernel(compiler.compile(&graph, &rates))
    }
}

impl Plain {
    /// A square system; the caller knows that its index is at most one.
    pub fn new(structure: &Structure, compiler: &Arc<dyn Compiler>, ranks: RankRule, matrices: Matrices) -> Self {
        let [E, A] = [&structure.leading, &structure.slope].map(places);
        let pattern = Pencil::of_pattern(structure.system.dim(), &E, &A, matrices);
        let watch = WatchedMatrix::new(structure, &**compiler, ranks);
        let plain = Self::with_pattern(structure, &**compiler, pattern);
        let explicit = plain.is_ordinary() && structure.own_columns();
        let rates = explicit.then(|| ExplicitRates::Formulas(Box::new(structure.clone()), compiler.clone()));
        Plain { rates, watch, ..plain }
    }

    /// Rows and dense pencils of a system that need not be square; not for integrators.
    pub(super) fn rectangular(structure: &Structure, compiler: &dyn Compiler) -> Self {
        let pattern = Pencil::dense(structure.system.rows(), structure.system.dim());
        Self::with_pattern(structure, compiler, pattern)
    }

    fn with_pattern(structure: &Structure, compiler: &dyn Compiler, pattern: Pencil) -> Self {
        let (system, entries, algebraic) = (&structure.system, structure.coefficients(), structure.algebraic());
        let (m, n) = (system.rows(), system.dim());
        let constraint = algebraic.iter().any(|&a| a).then_some(0.0);
        Plain {
            n,
            m,
            values: compiler.compile(&system.graph, &system.equations),
            entries: compiler.compile(&system.graph, &entries),
            by_xdot: Entries::new(places(&structure.leading), &pattern.E),
            by_x: Entries::new(places(&structure.slope), &pattern.A),
            pattern,
            algebraic,
            quasilinear: structure.quasilinear(),
            constant_leading: structure.constant_leading(),
            multiplies_constrained_rates: structure.multiplies_constrained_rates(),
            by_time: TimeSlope::of(structure),
            rates: None,
            inputs: vec![0.0; system.graph.inputs().len()],
            time: system.place(system.t),
            of_x: InputPlaces::new(system, &system.x),
            of_xdot: InputPlaces::new(system, &system.xdot),
            slopes: vec![0.0; entries.len()],
            rows: vec![0.0; m],
            residuals: Residuals { constraint, ..Residuals::default() },
            row_names: system.row_names.clone(),
            watch: None,
        }
    }

    /// Are its pencils sparse?
    pub(super) fn is_sparse(&self) -> bool {
        self.pattern.is_sparse()
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
        self.by_xdot.places().iter().zip(leading).for_each(|(&(i, j), &e)| rows[0][i].push((j, e)));
        self.by_x.places().iter().zip(slope).for_each(|(&(i, j), &e)| rows[1][i].push((j, e)));
        Ok(rows)
    }

    fn slopes_at(&mut self, t: f64, x: &[f64], xdot: &[f64]) -> Result<(), StepFailure> {
        self.set(t, x, xdot);
        self.entries.call(&self.inputs, &mut self.slopes);
        if all_finite(&self.slopes) { Ok(()) } else { Err(StepFailure::Undefined { t }) }
    }

    fn set(&mut self, t: f64, x: &[f64], xdot: &[f64]) {
        self.inputs[self.time] = t;
        self.of_x.put(x, &mut self.inputs);
        self.of_xdot.put(xdot, &mut self.inputs);
    }
}

/// Rows and columns of the entries of a Jacobian.
fn places(J: &graph::Jacobian) -> Vec<(usize, usize)> {
    J.iter().map(|(i, j, _)| (i, j)).collect()
}

impl Dae for Plain {
    fn dim(&self) -> usize {
        self.n
    }

    fn new_pencil(&self) -> Pencil {
        self.pattern.clone()
    }

    fn algebraic(&self, row: usize) -> bool {
        self.algebraic[row]
    }

    fn row_name(&self, row: usize) -> Option<String> {
        self.row_names.get(row).cloned()
    }

    fn quasilinear(&self) -> bool {
        self.quasilinear
    }

    // its index is at most one: without algebraic combinations E is regular
    fn is_ordinary(&self) -> bool {
        self.constant_leading && !self.algebraic.contains(&true)
    }

    fn constant_leading(&self) -> bool {
        self.constant_leading
    }

    fn multiplies_constrained_rates(&self) -> bool {
        self.multiplies_constrained_rates
    }

    fn make_rates(&mut self) -> bool {
        self.rates = self.rates.take().map(ExplicitRates::made);
        self.rates.is_some()
    }

    fn rates_by_formulas(&mut self, t: f64, x: &[f64], rates: &mut [f64]) -> Result<(), Undefined> {
        let Some(ExplicitRates::Kernel(kernel)) = &mut self.rates else { return Err(Undefined) };
        self.inputs[self.time] = t;
        self.of_x.put(x, &mut self.inputs);
        kernel.call(&self.inputs, rates);
        if all_finite(rates) { Ok(()) } else { Err(Undefined) }
    }

    fn is_autonomous(&self) -> bool {
        self.by_time.is_none()
    }

    fn time_slope(
        &mut self,
        (t, x, _): (f64, &[f64], &[f64]),
        _: f64,
        [zeros, _]: [&mut [f64]; 2],
        out: &mut [f64],
    ) -> Result<(), Undefined> {
        self.set(t, x, zeros);
        self.by_time = self.by_time.take().map(TimeSlope::made);
        out.fill(0.0);
        if let Some(TimeSlope::Kernel { rows, entries, values }) = &mut self.by_time {
            entries.call(&self.inputs, values);
            rows.iter().zip(values).for_each(|(&i, value)| out[i] = *value);
        }
        if all_finite(out) { Ok(()) } else { Err(Undefined) }
    }

    fn residual(&mut self, _: usize, t: f64, x: &[f64], xdot: &[f64], r: &mut [f64]) -> Result<(), Undefined> {
        self.set(t, x, xdot);
        self.values.call(&self.inputs, r);
        if all_finite(r) { Ok(()) } else { Err(Undefined) }
    }

    fn pencil(&mut self, t: f64, x: &[f64], xdot: &[f64], out: &mut Pencil) -> Result<(), StepFailure> {
        self.slopes_at(t, x, xdot)?;
        out.clear();
        let slope = self.by_xdot.write(1.0, &self.slopes, &mut out.E);
        self.by_x.write(-1.0, slope, &mut out.A);
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
        let kind = if self.pattern.is_sparse() { "sparse" } else { "dense" };
        format!("index at most one: the equations as they stand, {kind}")
    }
}
