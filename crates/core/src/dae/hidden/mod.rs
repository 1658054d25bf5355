//! Hidden constraints as formulas: the iterative procedure for quasi-linear systems E(t, x) x' = k(t, x).
//!
//! Only constraints are differentiated, never the differential part. Rows whose leading coefficients are numbers give rates
//! x_j' = …; for the other derivatives that enter, x_j' becomes an auxiliary unknown, so that nothing is inverted symbolically, rows that are
//! nonlinear in x' are allowed, and a leading matrix may lose rank where the trajectory does not notice. What remains has the form
//!
//! x_j' = rate_j(t, y),  0 = c(t, y),  y = (x, auxiliary unknowns).
//!
//! A constraint whose gradient with respect to the unknowns without rates vanishes is differentiated along the rates; constraints whose
//! gradients depend on each other are differentiated together, with the derivatives of the unknowns they contain as further auxiliary
//! unknowns. Steinbrecher (2006), Procedure 3.5.11, with the numbers of new constraints known from the derivative array.
//!
//! What a constraint contains is told by its formula. Some coefficients vanish wherever the constraints hold, such as that of λ in the rate of an
//! energy: the derivatives they multiply cannot be determined and are left out. These coefficients are kept, and watched along a run.

mod dependence;
mod differentiate;
mod elimination;
mod points;
mod restrictions;
mod separate;

use super::{CharacteristicValues, Characteristics, FirstOrder, System};
use crate::graph::{Expr, Graph, Node};
pub(in crate::dae) use dependence::dependences;
use points::Points;
pub use restrictions::{KeptDerivatives, Restriction, Restrictions, restrictions};

/// What a constraint is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It restricts the unknowns of the system: stated (level 0) or hidden.
    Constraint,
    /// It determines auxiliary unknowns.
    Definition,
    /// A quantity that keeps its initial value.
    Invariant,
}

/// 0 = residual(t, y).
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    /// The formula.
    pub residual: Expr,
    /// How often equations of the system were differentiated for it.
    pub level: usize,
    /// What it is.
    pub role: Role,
    /// The equation it comes from.
    pub equation: String,
    /// Does its gradient vanish where it holds, as that of a square? Then it restricts nothing that others do not.
    pub blind: bool,
}

/// The derivative of an unknown that was left out when a constraint was differentiated, because its coefficient is zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Omitted {
    /// The constraint that was differentiated.
    pub constraint: usize,
    /// The unknown.
    pub unknown: usize,
    /// ∂(constraint)/∂(unknown), which must stay zero.
    pub coefficient: Expr,
    /// Size of the terms that the gradient of the constraint is summed from, at the start: a sum that cancels has none of its own.
    pub terms: f64,
}

/// The minimal reduced derivative array as formulas.
#[derive(Clone, Debug)]
pub struct MinimalArray {
    /// The graph of all formulas.
    pub graph: Graph,
    /// Time.
    pub t: Expr,
    /// Unknowns y: those of the system, then auxiliary ones.
    pub unknowns: Vec<Expr>,
    /// Their names.
    pub names: Vec<String>,
    /// Number of unknowns of the system.
    pub dim: usize,
    /// Which derivative of which unknown of the system each one is.
    pub origin: Vec<(usize, usize)>,
    /// y_j' = rate_j, where there is such an equation.
    pub rates: Vec<Option<Expr>>,
    /// All constraints.
    pub constraints: Vec<Constraint>,
    /// What they would contain besides, if these coefficients were not zero.
    pub omitted: Vec<Omitted>,
    /// Parameters: input, number.
    pub parameters: Vec<(Expr, f64)>,
}

/// Why the procedure gave no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProcedureError {
    /// It needs more auxiliary unknowns than allowed.
    #[error("hidden constraints could not be separated: too many derivatives became unknowns of their own")]
    TooManyUnknowns,
    /// The point is special: beside it there are fewer constraints.
    #[error(
        "the start is a singular point: {here} there, {beside} beside it, and formulas that hold there lose terms on the way; start beside it"
    )]
    Special {
        /// Characteristic values at the point.
        here: CharacteristicValues,
        /// At consistent points beside it.
        beside: CharacteristicValues,
    },
    /// The formulas have no value at the point.
    #[error("the formulas of the hidden constraints have no finite value at the point of the analysis")]
    Undefined,
}

/// Derive the hidden constraints of a system at a point where its characteristic values are known.
pub fn minimal_array(system: &System, at: &Characteristics) -> Result<MinimalArray, ProcedureError> {
    let points = Points::new(system, at);
    let mut procedure = Procedure::new(&system.first, &points, EntersBy::Formula);
    let outcome = procedure.run(at);
    // derivatives that nothing determines because their coefficients vanish where the constraints hold
    if procedure.concealed && (outcome.is_err() || procedure.open()? > at.values.u) {
        let mut other = Procedure::new(&system.first, &points, EntersBy::Constraints);
        match other.run(at) {
            Ok(()) => procedure = other,
            Err(_) => outcome?,
        }
    } else {
        outcome?;
    }
    if let Some(beside) = points.generic() {
        return Err(ProcedureError::Special { here: at.values, beside });
    }
    if at.values.v > 0 {
        procedure.find_blind()?;
    }
    let mut array = procedure.array;
    for (name, e) in &system.first.invariants {
        let (residual, equation) = (*e, name.clone());
        array.constraints.push(Constraint { residual, level: 0, role: Role::Invariant, equation, blind: false });
    }
    Ok(array)
}

impl MinimalArray {
    /// Inputs of the graph at a jet: time, unknowns, parameters.
    pub(super) fn inputs(&self, t: f64, y: &[f64]) -> Vec<f64> {
        let mut inputs = vec![0.0; self.graph.inputs().len()];
        inputs[self.place(self.t)] = t;
        for (&e, &value) in self.unknowns.iter().zip(y) {
            inputs[self.place(e)] = value;
        }
        for &(e, value) in &self.parameters {
            inputs[self.place(e)] = value;
        }
        inputs
    }

    /// Values of the unknowns on a jet of normalised Taylor coefficients.
    pub(super) fn on_jet(&self, jet: &[f64]) -> Vec<f64> {
        let value = |&(j, order): &(usize, usize)| {
            let factorial: f64 = (1..=order).map(|k| k as f64).product();
            jet.get(order * self.dim + j).map_or(0.0, |x| x * factorial)
        };
        self.origin.iter().map(value).collect()
    }

    /// Unknowns without a rate.
    fn without_rates(&self) -> Vec<usize> {
        (0..self.unknowns.len()).filter(|&j| self.rates[j].is_none()).collect()
    }

    /// Where a handle of an input stands among the inputs of the graph.
    pub(super) fn place(&self, input: Expr) -> usize {
        match self.graph.node(input) {
            Node::Input(i) => i,
            _ => unreachable!("unknowns and parameters are inputs"),
        }
    }
}

/// How it is decided whether an unknown enters a constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EntersBy {
    /// By the formula: its coefficient is not zero everywhere.
    Formula,
    /// Its coefficient is not zero where the constraints hold.
    Constraints,
}

struct Procedure<'p> {
    array: MinimalArray,
    points: &'p Points<'p>,
    sight: EntersBy,
    xdot: Vec<Expr>,
    equations: Vec<(String, Expr)>,
    /// constraints that have not been differentiated
    active: Vec<usize>,
    /// does a constraint that was differentiated contain an unknown that it does not see at the start?
    concealed: bool,
}

impl<'p> Procedure<'p> {
    fn new(first: &FirstOrder, points: &'p Points<'p>, sight: EntersBy) -> Self {
        let n = first.dim();
        let array = MinimalArray {
            graph: first.graph.clone(),
            t: first.t,
            unknowns: first.x.clone(),
            names: first.names.clone(),
            dim: n,
            origin: (0..n).map(|j| (j, 0)).collect(),
            rates: vec![None; n],
            constraints: Vec::new(),
            omitted: Vec::new(),
            parameters: first.parameters.clone(),
        };
        Procedure {
            array,
            points,
            sight,
            xdot: first.xdot.clone(),
            equations: first.row_names.iter().cloned().zip(first.equations.iter().copied()).collect(),
            active: Vec::new(),
            concealed: false,
        }
    }

    fn run(&mut self, at: &Characteristics) -> Result<(), ProcedureError> {
        self.separate();
        // redundant equations show only after μ differentiations: then they are conditions on the right-hand sides, which are watched
        let levels = if at.values.v > 0 { at.values.mu } else { at.constraint_level().unwrap_or(0) };
        for _ in 0..levels {
            if !self.differentiate()? {
                break;
            }
        }
        Ok(())
    }

    /// Constraints with a gradient that is rounding.
    fn find_blind(&mut self) -> Result<(), ProcedureError> {
        let all: Vec<usize> = (0..self.array.constraints.len()).collect();
        let blind = self.gradients(&all)?.blind();
        self.array.constraints.iter_mut().zip(blind).for_each(|(c, blind)| c.blind = blind);
        Ok(())
    }

    /// How many unknowns without rates the constraints leave open at the start.
    fn open(&mut self) -> Result<usize, ProcedureError> {
        let free = self.array.without_rates();
        let all: Vec<usize> = (0..self.array.constraints.len()).collect();
        let gradients = self.gradients(&all)?;
        let (independent, _) = dependences(&gradients.at(&gradients.start), &free, all, self.points.ranks());
        Ok(free.len() - independent.len())
    }

    fn add(&mut self, residual: Expr, level: usize, role: Role, equation: String) {
        self.active.push(self.array.constraints.len());
        self.array.constraints.push(Constraint { residual, level, role, equation, blind: false });
    }

    /// y_j' = w with a new unknown w.
    fn add_unknown(&mut self, j: usize, w: Expr) {
        let (original, order) = self.array.origin[j];
        self.array.rates[j] = Some(w);
        self.array.unknowns.push(w);
        self.array.names.push(format!("{}{}", self.array.names[original], "'".repeat(order + 1)));
        self.array.origin.push((original, order + 1));
        self.array.rates.push(None);
    }
}
