//! The modes around an intersection of surfaces, brought into one graph with the same unknowns.

use super::{SlidingError, SurfaceFormula};
use crate::dae::{ArrangedState, Arrangement, FirstOrder, Formulas};
use crate::graph::{Expr, Graph, Tape};
use std::collections::{BTreeMap, BTreeSet};

/// Modes with the same unknowns and equations that are paired.
pub(super) struct Vertices {
    /// The common graph.
    pub graph: Graph,
    pub t: Expr,
    pub x: Vec<Expr>,
    pub xdot: Vec<Expr>,
    /// Convex parameters, one for each surface.
    pub alpha: Vec<Expr>,
    names: Vec<String>,
    alpha_names: Vec<String>,
    /// Names of the paired equations, those of the first mode.
    pub rows: Vec<String>,
    pub modes: Vec<Vertex>,
}

/// One of the modes.
pub(super) struct Vertex {
    first: FirstOrder,
    /// which of its unknowns the common ones are
    columns: Vec<usize>,
    /// which of its equations the paired ones are
    order: Vec<usize>,
    /// Names and numbers of its parameters.
    pub parameters: Vec<(String, f64)>,
}

/// What the inputs of a mode become.
pub(super) struct Images<'i> {
    pub x: &'i [Expr],
    pub xdot: &'i [Expr],
    /// In the order of the parameters of the mode; their numbers if absent.
    pub parameters: Option<&'i [Expr]>,
}

impl Vertices {
    /// Modes that have the same unknowns and as many equations.
    pub fn new(formulas: &[&Formulas], surfaces: usize) -> Result<Self, SlidingError> {
        let count = u32::try_from(surfaces).ok().and_then(|s| 2_usize.checked_pow(s));
        if surfaces == 0 || count != Some(formulas.len()) {
            return Err(SlidingError::Count { modes: formulas.len(), surfaces });
        }
        let firsts: Vec<FirstOrder> = formulas.iter().map(|f| FirstOrder::new(f)).collect();
        let (names, rows) = (firsts[0].names.clone(), firsts[0].row_names.clone());
        // unique names that are the same everywhere pair the equations
        let by_name = firsts.iter().all(|first| same_set(&rows, &first.row_names));
        let mut modes = Vec::with_capacity(firsts.len());
        for (mode, (first, formulas)) in firsts.into_iter().zip(formulas).enumerate() {
            if let Some((missing, additional)) = differences(&names, &first.names) {
                return Err(SlidingError::States { mode, missing, additional });
            }
            if first.rows() != rows.len() {
                return Err(SlidingError::Rows { mode, rows: first.rows(), wanted: rows.len() });
            }
            let columns = places(&names, &first.names);
            let order = if by_name { places(&rows, &first.row_names) } else { (0..rows.len()).collect() };
            modes.push(Vertex { columns, order, parameters: formulas.parameters.clone(), first });
        }
        let mut graph = Graph::new();
        let t = graph.input("t");
        let x = names.iter().map(|name| graph.input(&**name)).collect();
        let xdot = names.iter().map(|name| graph.input(format!("{name}'"))).collect();
        let alpha_names = convex_parameters(&names, surfaces);
        let alpha = alpha_names.iter().map(|name| graph.input(&**name)).collect();
        Ok(Vertices { graph, t, x, xdot, alpha, names, alpha_names, rows, modes })
    }

    /// The surfaces as formulas of the unknowns.
    pub fn surfaces(&mut self, surfaces: &[SurfaceFormula]) -> Result<Vec<Expr>, SlidingError> {
        let (t, x) = (self.t, &self.x);
        let mut formulas = Vec::with_capacity(surfaces.len());
        for (surface, formula) in surfaces.iter().enumerate() {
            let g = self.graph.with(|| formula(t, x));
            let inputs = self.graph.depends_on(g);
            if let Some(&i) = inputs.iter().find(|&&i| i > x.len()) {
                return Err(SlidingError::Surface { surface, name: self.graph.input_name(i).into() });
            }
            if inputs.iter().all(|&i| i == 0) {
                return Err(SlidingError::NoUnknown { surface });
            }
            // a value that was not there when the formula was made
            let undefined = |e: &Expr| self.graph.constant(*e).is_some_and(|c| !c.is_finite());
            if self.graph.needed(&[g]).iter().any(undefined) {
                return Err(SlidingError::Surface { surface, name: "a value that is not finite".into() });
            }
            formulas.push(g);
        }
        Ok(formulas)
    }

    /// The equations of a mode, paired, with its inputs replaced.
    pub fn equations(&mut self, mode: usize, images: &Images) -> Vec<Expr> {
        let Vertex { first, columns, order, .. } = &self.modes[mode];
        let tape = Tape::new(&first.graph, &first.equations);
        let t = self.t;
        let rows = self.graph.with(|| {
            let mut inputs = vec![Expr::from(0.0); first.graph.inputs().len()];
            inputs[first.place(first.t)] = t;
            for (common, &own) in columns.iter().enumerate() {
                inputs[first.place(first.x[own])] = images.x[common];
                inputs[first.place(first.xdot[own])] = images.xdot[common];
            }
            for (k, &(parameter, number)) in first.parameters.iter().enumerate() {
                inputs[first.place(parameter)] = images.parameters.map_or_else(|| Expr::from(number), |p| p[k]);
            }
            tape.evaluate(&inputs)
        });
        order.iter().map(|&i| rows[i]).collect()
    }

    /// Weights of the modes, given the surfaces that count: products of αᵢ on the positive sides and 1 − αᵢ on the negative ones.
    pub fn weight(&mut self, mode: usize, surfaces: &[usize]) -> Expr {
        let alpha = &self.alpha;
        self.graph.with(|| {
            let one = Expr::from(1.0);
            surfaces.iter().fold(one, |weight, &i| weight * if mode >> i & 1 == 0 { alpha[i] } else { one - alpha[i] })
        })
    }

    /// The names of the unknowns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The unknowns and convex parameters with these equations, named as those of the modes.
    pub fn arrangement(self, rows: Vec<Expr>) -> Arrangement {
        let unknowns = self.names.into_iter().zip(self.x).zip(self.xdot);
        let mut states: Vec<ArrangedState> =
            unknowns.map(|((name, x), xdot)| ArrangedState { name, x, xdot: Some(xdot) }).collect();
        states.extend(self.alpha_names.into_iter().zip(self.alpha).map(|(name, x)| ArrangedState {
            name,
            x,
            xdot: None,
        }));
        Arrangement {
            graph: self.graph,
            t: self.t,
            states,
            parameters: Vec::new(),
            equations: self.rows.into_iter().zip(rows).collect(),
            outputs: Vec::new(),
            hidden: Vec::new(),
        }
    }
}

/// Names that no unknown has.
fn convex_parameters(names: &[String], surfaces: usize) -> Vec<String> {
    let free = |mut name: String| {
        while names.contains(&name) {
            name.push('_');
        }
        name
    };
    (1..=surfaces).map(|i| free(if surfaces == 1 { "alpha".into() } else { format!("alpha.{i}") })).collect()
}

/// Which names one list lacks and which it has beyond another one; nothing if they are the same.
pub(super) fn differences(wanted: &[String], given: &[String]) -> Option<(Vec<String>, Vec<String>)> {
    let without = |a: &[String], b: &[String]| -> Vec<String> {
        let b: BTreeSet<&String> = b.iter().collect();
        a.iter().filter(|name| !b.contains(name)).cloned().collect()
    };
    let found = (without(wanted, given), without(given, wanted));
    (!found.0.is_empty() || !found.1.is_empty()).then_some(found)
}

/// Do both consist of the same names, each once?
fn same_set(a: &[String], b: &[String]) -> bool {
    let set: BTreeSet<&String> = a.iter().collect();
    set.len() == a.len() && a.len() == b.len() && set == b.iter().collect()
}

/// Where the wanted names stand among the given ones, which are the same.
pub(super) fn places(wanted: &[String], given: &[String]) -> Vec<usize> {
    let place: BTreeMap<&String, usize> = given.iter().enumerate().map(|(k, name)| (name, k)).collect();
    wanted.iter().map(|name| place[name]).collect()
}
