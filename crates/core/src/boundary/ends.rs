//! Conditions at the ends of an interval: their residuals and derivatives by the unknowns at both ends and by the length of the interval.

use super::error::BoundaryError;
use crate::dae::{Formulas, RegularisedSystem};
use crate::graph::{Expr, Graph, Tape};
use crate::initial::Condition;
use crate::linalg::Matrix;
use crate::motion::Undefined;

/// 0 = residual of values at both ends.
///
/// ```
/// use daedal::EndCondition;
/// // x has turned its sign at the end
/// let turned = EndCondition::new("x turns", &["x"], |first, last| last[0] + first[0]);
/// assert_eq!(turned.to_string(), "0 = x + initial(x)");
/// ```
#[derive(Clone, Debug)]
pub struct EndCondition {
    /// How messages call it.
    pub name: String,
    graph: Graph,
    residual: Expr,
}

impl std::fmt::Display for EndCondition {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "0 = {}", self.graph.formula(self.residual))
    }
}

impl EndCondition {
    /// A function of the values that some unknowns have at both ends, each in the order of the names.
    pub fn new(name: impl Into<String>, unknowns: &[&str], residual: impl FnOnce(&[Expr], &[Expr]) -> Expr) -> Self {
        let mut graph = Graph::new();
        let first: Vec<Expr> = unknowns.iter().map(|x| graph.input(initial(x))).collect();
        let last: Vec<Expr> = unknowns.iter().map(|x| graph.input(*x)).collect();
        let residual = graph.with(|| residual(&first, &last));
        EndCondition { name: name.into(), graph, residual }
    }

    /// A formula whose inputs have names: `x` and `x'` at the end, `initial(x)` and `initial(x')` at the start, `t` for the end time and
    /// `initial(t)` for the start.
    pub fn formula(name: impl Into<String>, graph: &Graph, residual: Expr) -> Self {
        let (graph, residual) = graph.reduced_to(&[residual]);
        EndCondition { name: name.into(), graph, residual: residual[0] }
    }
}

impl EndCondition {
    /// A condition in the graph of a system, at one end; parameters have their numbers unless they are sought.
    pub(super) fn of_system(
        condition: &Condition,
        residual: Expr,
        formulas: &Formulas,
        sought: &[String],
        last: bool,
    ) -> Self {
        let mut graph = Graph::new();
        let number = |name: &str| {
            let parameter = formulas.parameters.iter().find(|(parameter, _)| parameter == name);
            parameter.filter(|(name, _)| !sought.contains(name)).map(|(_, value)| *value)
        };
        let names: Vec<String> = formulas.graph.inputs().map(|(name, _)| name.to_string()).collect();
        let handles: Vec<Result<Expr, f64>> = names
            .iter()
            .map(|name| match number(name) {
                Some(value) => Err(value),
                None => Ok(graph.input(if last { name.clone() } else { initial(name) })),
            })
            .collect();
        let tape = Tape::new(&formulas.graph, &[residual]);
        let residual = graph.with(|| {
            let inputs: Vec<Expr> = handles.into_iter().map(|e| e.unwrap_or_else(Expr::from)).collect();
            tape.evaluate(&inputs)[0]
        });
        EndCondition { name: condition.name.clone(), graph, residual }
    }
}

/// How the value at the start of an unknown is called.
fn initial(name: &str) -> String {
    format!("initial({name})")
}

/// The state of a curve at one end: where it is, what its unknowns are, and rates and their derivatives there.
#[derive(Clone, Debug, Default)]
pub(super) struct AtEnd {
    pub t: f64,
    pub y: Vec<f64>,
    rates: Vec<f64>,
    slopes: Option<Matrix>,
}

impl AtEnd {
    pub fn new(of: &mut RegularisedSystem, t: f64, y: &[f64]) -> Result<Self, Undefined> {
        of.evaluate(t, y)?;
        let rates = of.outputs.clone();
        of.differentiate(t, y)?;
        Ok(AtEnd { t, y: y.to_vec(), rates, slopes: Some(of.slopes.clone()) })
    }
}

/// A quantity at an end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum EndQuantity {
    Unknown(usize),
    /// the rate in this row
    Rate(usize),
    Time,
}

impl EndQuantity {
    /// An unknown or a derivative by its name.
    pub fn find(of: &RegularisedSystem, name: &str) -> Option<Self> {
        let unknown = |name: &str| of.names().iter().position(|n| n == name);
        match unknown(name) {
            Some(j) => Some(EndQuantity::Unknown(j)),
            None => of.rate_row(unknown(name.strip_suffix('\'')?)?).map(EndQuantity::Rate),
        }
    }

    fn value(self, at: &AtEnd) -> f64 {
        match self {
            EndQuantity::Unknown(j) => at.y[j],
            EndQuantity::Rate(row) => at.rates[row],
            EndQuantity::Time => at.t,
        }
    }

    /// Add `factor` times the derivatives, by the unknowns to `by_y` and by time to `by_t`.
    fn add_slopes(self, at: &AtEnd, factor: f64, by_y: &mut [f64], by_t: &mut f64) {
        match self {
            EndQuantity::Unknown(j) => by_y[j] += factor,
            EndQuantity::Time => *by_t += factor,
            EndQuantity::Rate(row) => {
                if let Some(slopes) = &at.slopes {
                    let row = slopes.row(row);
                    by_y.iter_mut().zip(row).for_each(|(b, s)| *b += factor * s);
                    *by_t += factor * row[by_y.len()];
                }
            }
        }
    }
}

enum EndKind {
    /// a quantity at the start or at the end has a value
    Value { last: bool, of: EndQuantity, value: f64 },
    /// it is the same at both ends
    Same { of: EndQuantity },
    /// residual, then derivatives by the inputs
    Formula { tape: Tape, inputs: Vec<(bool, EndQuantity)>, by: Vec<usize> },
    /// the start lies in the plane through a point, orthogonal to the flow there
    Phase { direction: Vec<f64>, through: Vec<f64> },
}

/// All conditions of a problem.
#[derive(Default)]
pub(super) struct EndConditions {
    pub names: Vec<String>,
    kinds: Vec<EndKind>,
}

impl EndConditions {
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    fn push(&mut self, name: String, kind: EndKind) {
        self.names.push(name);
        self.kinds.push(kind);
    }

    /// A value at the start or at the end.
    pub fn fix(&mut self, of: &RegularisedSystem, last: bool, name: &str, value: f64) {
        if let Some(quantity) = EndQuantity::find(of, name) {
            let place = if last { "end" } else { "start" };
            self.push(format!("{name} = {value} at the {place}"), EndKind::Value { last, of: quantity, value });
        }
    }

    /// The same value at both ends.
    pub fn same(&mut self, unknown: usize, name: &str) {
        self.push(format!("{name} is periodic"), EndKind::Same { of: EndQuantity::Unknown(unknown) });
    }

    /// The start stays in the plane through this point that is orthogonal to the flow.
    pub fn phase(&mut self, direction: Vec<f64>, through: Vec<f64>) {
        self.push("phase of the start".into(), EndKind::Phase { direction, through });
    }

    /// A formula of both ends.
    pub fn formula<L>(&mut self, of: &RegularisedSystem, condition: &EndCondition) -> Result<(), BoundaryError<L>> {
        let mut graph = condition.graph.clone();
        let used = graph.depends_on(condition.residual);
        let mut inputs = vec![(true, EndQuantity::Time); graph.inputs().len()];
        for &i in &used {
            let name = graph.input_name(i).to_string();
            let inner = name.strip_prefix("initial(").and_then(|rest| rest.strip_suffix(')'));
            let (last, plain) = (inner.is_none(), inner.unwrap_or(&name));
            let quantity = if plain == "t" { Some(EndQuantity::Time) } else { EndQuantity::find(of, plain) };
            let Some(quantity) = quantity else {
                let known = of.names()[..of.own()].to_vec();
                return Err(BoundaryError::UnknownName { condition: condition.name.clone(), name, known });
            };
            inputs[i] = (last, quantity);
        }
        let handles: Vec<Expr> = graph.inputs().map(|(_, e)| e).collect();
        let variables: Vec<Expr> = used.iter().map(|&i| handles[i]).collect();
        let jacobian = graph.jacobian(&[condition.residual], &variables);
        let by = jacobian.iter().map(|(_, j, _)| used[j]).collect();
        let tape = Tape::new(&graph, &[&[condition.residual][..], &jacobian.entries].concat());
        self.push(condition.name.clone(), EndKind::Formula { tape, inputs, by });
        Ok(())
    }

    /// Residuals.
    pub fn residuals(&self, first: &AtEnd, last: &AtEnd) -> Vec<f64> {
        let at = |is_last: bool| if is_last { last } else { first };
        let residual = |kind: &EndKind| match kind {
            EndKind::Value { last, of, value } => of.value(at(*last)) - value,
            EndKind::Same { of } => of.value(last) - of.value(first),
            EndKind::Formula { tape, inputs, .. } => {
                tape.evaluate(&inputs.iter().map(|(last, of)| of.value(at(*last))).collect::<Vec<_>>())[0]
            }
            EndKind::Phase { direction, through } => {
                direction.iter().zip(&first.y).zip(through).map(|((d, y), x)| d * (y - x)).sum()
            }
        };
        self.kinds.iter().map(residual).collect()
    }

    /// Derivatives by the unknowns at the start, at the end, and by the end time.
    pub fn slopes(&self, first: &AtEnd, last: &AtEnd) -> Matrix {
        let n = first.y.len();
        let mut B = Matrix::zeros(self.len(), 2 * n + 1);
        for (i, kind) in self.kinds.iter().enumerate() {
            let (by_first, rest) = B.row_mut(i).split_at_mut(n);
            let (by_last, by_end) = rest.split_at_mut(n);
            let mut start_time = 0.0;
            let mut add = |is_last: bool, of: EndQuantity, factor: f64| {
                if is_last {
                    of.add_slopes(last, factor, by_last, &mut by_end[0]);
                } else {
                    of.add_slopes(first, factor, by_first, &mut start_time);
                }
            };
            match kind {
                EndKind::Value { last, of, .. } => add(*last, *of, 1.0),
                EndKind::Same { of } => {
                    add(true, *of, 1.0);
                    add(false, *of, -1.0);
                }
                EndKind::Formula { tape, inputs, by } => {
                    let values: Vec<f64> =
                        inputs.iter().map(|(is_last, of)| of.value(if *is_last { last } else { first })).collect();
                    let all = tape.evaluate(&values);
                    for (&input, &slope) in by.iter().zip(&all[1..]) {
                        let (is_last, of) = inputs[input];
                        add(is_last, of, slope);
                    }
                }
                EndKind::Phase { direction, .. } => by_first.copy_from_slice(direction),
            }
        }
        B
    }
}
