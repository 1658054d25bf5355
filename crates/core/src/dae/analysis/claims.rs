//! Hidden constraints that a model states, compared with those that follow from its equations.
//!
//! A formula h follows where it vanishes at consistent points and its gradient lies in the span of the gradients of all constraints. If it
//! lies there and h does not vanish, h is a number wherever the constraints hold: a contradiction. Otherwise h restricts the
//! solutions further than the equations do. What the stated constraints and those that follow do not span is missing. Steinbrecher
//! (2006), section 3.5; the formulas are compared only, runs use what is derived.

use super::super::characteristics::characterise_at;
use super::{Characteristics, Depth, Restrictions, Role, System};
use crate::analysis::random::Random;
use crate::dae::hidden::dependences;
use crate::graph::{Expr, Graph, Tape};
use crate::linalg::RankRule;

/// Consistent points beside the start that are looked at.
const POINTS: usize = 3;
/// How far they are from it, relative to 1 + |x|, and in time.
const DISTANCE: f64 = 1e-2;
/// A value below this part of its terms is zero: consistent values are known to some rounding.
const VANISHES: f64 = 1e-7;

/// A hidden constraint that is stated in the model.
#[derive(Clone, Debug, PartialEq)]
pub struct HiddenClaim {
    /// Its name, or its number.
    pub name: String,
    /// The formula that should vanish.
    pub formula: String,
    /// What was found.
    pub verdict: ClaimVerdict,
}

/// What is true of a hidden constraint that is stated.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ClaimVerdict {
    /// It holds for every solution.
    #[error("follows from the equations")]
    Implied,
    /// It holds for no solution.
    #[error("contradicts the equations: wherever they hold it is {} instead of 0", few_digits(*value))]
    Contradicting {
        /// Its value at the start.
        value: f64,
    },
    /// It holds for some solutions only.
    #[error(
        "does not follow from the equations: it would restrict the solutions further (at the start it is {})",
        few_digits(*value)
    )]
    NotImplied {
        /// Its value at the start.
        value: f64,
    },
    /// It contains derivatives that are no unknowns.
    #[error("contains derivatives that the equations determine: state it in the unknowns")]
    WithDerivatives,
    /// It has no value.
    #[error("has no finite value at the start")]
    Undefined,
}

/// A value for people.
fn few_digits(value: f64) -> String {
    let text = format!("{value:.6}");
    let sized = (1e-3..1e6).contains(&value.abs()) || value == 0.0;
    if sized { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { format!("{value:.3e}") }
}

/// The stated hidden constraints and what is missing among them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HiddenComparison {
    /// Those that are stated.
    pub claims: Vec<HiddenClaim>,
    /// Formulas of derived ones that do not follow from the stated ones.
    pub missing: Vec<String>,
    /// How many more are missing whose formulas are not known.
    pub further: usize,
}

/// Compare what a system states with what was derived at a consistent point.
pub(super) fn compare(
    system: &System,
    at: &Characteristics,
    derived: Option<&Restrictions>,
    depth: Depth,
) -> HiddenComparison {
    let stated = &system.formulas.hidden;
    if stated.is_empty() {
        return HiddenComparison::default();
    }
    let residuals: Vec<Expr> = stated.iter().map(|(_, e)| *e).collect();
    let claimed = GradientFormulas::new(system, &system.first.graph, &residuals);
    let points = points(system, at, depth);
    let seen: Vec<Option<Vec<ValueAndGradient>>> = points.iter().map(|point| claimed.at(system, point)).collect();
    let verdicts: Vec<ClaimVerdict> =
        (0..stated.len()).map(|k| verdict(system, &points, &seen, residuals[k], k)).collect();
    let claims = stated.iter().zip(&verdicts).map(|((name, e), &verdict)| HiddenClaim {
        name: name.clone(),
        formula: system.first.graph.formula(*e),
        verdict,
    });
    let claims = claims.collect();
    let implied = |k: &usize| verdicts[*k] == ClaimVerdict::Implied;
    let here = seen.into_iter().next().flatten().unwrap_or_default();
    let known = here.into_iter().enumerate().filter(|(k, _)| implied(k)).map(|(_, row)| row.gradient).collect();
    let (missing, further) = missing(system, at, derived, known);
    HiddenComparison { claims, missing, further }
}

/// The start, and consistent points of the same kind beside it.
fn points(system: &System, at: &Characteristics, depth: Depth) -> Vec<Characteristics> {
    let (mut array, mut random) = (system.array(), Random::default());
    let mut points = vec![at.clone()];
    for k in 0..POINTS {
        let x: Vec<f64> = at.x().iter().map(|x| x + DISTANCE * (1.0 + x.abs()) * random.next()).collect();
        let t = at.t + DISTANCE * k as f64;
        let depth = Depth { confirm: false, ..depth };
        points.extend(characterise_at(system, &mut array, t, &x, depth).ok().filter(|p| p.values == at.values));
    }
    points
}

fn verdict(
    system: &System,
    points: &[Characteristics],
    seen: &[Option<Vec<ValueAndGradient>>],
    residual: Expr,
    k: usize,
) -> ClaimVerdict {
    let first = &system.first;
    let inputs = first.graph.depends_on(residual);
    let unknown = |e: &Expr| first.x.contains(e);
    if first.xdot.iter().filter(|e| !unknown(e)).any(|&e| inputs.contains(&first.place(e))) {
        return ClaimVerdict::WithDerivatives;
    }
    let Some(start) = seen[0].as_ref().map(|rows| &rows[k]) else { return ClaimVerdict::Undefined };
    let (mut spanned, mut zeros, mut count) = (true, 0, 0);
    for (point, rows) in points.iter().zip(seen) {
        let Some(row) = rows.as_ref().map(|rows| &rows[k]) else { continue };
        let dense = |row: Vec<(usize, f64)>| {
            let mut all = vec![0.0; system.dim()];
            for (j, slope) in row {
                all[j] = slope;
            }
            all
        };
        let mut gradients: Vec<Vec<f64>> = point.constraints().into_iter().map(dense).collect();
        gradients.push(row.gradient.clone());
        spanned &= !independent(&gradients, point.ranks).contains(&(gradients.len() - 1));
        zeros += usize::from(row.value.abs() <= VANISHES * row.terms(point.x()));
        count += 1;
    }
    match (spanned, zeros) {
        (true, zeros) if zeros == count => ClaimVerdict::Implied,
        (true, 0) => ClaimVerdict::Contradicting { value: start.value },
        _ => ClaimVerdict::NotImplied { value: start.value },
    }
}

/// Derived hidden constraints that the stated constraints and the known gradients do not span: formulas, and the number of others.
fn missing(
    system: &System,
    at: &Characteristics,
    derived: Option<&Restrictions>,
    mut known: Vec<Vec<f64>>,
) -> (Vec<String>, usize) {
    let mut missing = Vec::new();
    if let Some(derived) = derived {
        let constraints: Vec<_> =
            derived.all.iter().filter(|c| c.role == Role::Constraint && c.kept.is_none()).collect();
        let residuals: Vec<Expr> = constraints.iter().map(|c| c.residual).collect();
        let rows = GradientFormulas::new(system, &derived.graph, &residuals).at(system, at).unwrap_or_default();
        // those that are visible first
        let (stated, hidden): (Vec<_>, Vec<_>) = constraints.into_iter().zip(rows).partition(|(c, _)| c.level == 0);
        known.splice(0..0, stated.into_iter().map(|(_, row)| row.gradient));
        for (c, row) in hidden {
            known.push(row.gradient);
            if independent(&known, at.ranks).contains(&(known.len() - 1)) {
                missing.push(derived.graph.formula(c.residual));
            }
        }
    }
    let further = at.values.a.saturating_sub(independent(&known, at.ranks).len());
    (missing, further)
}

fn independent(gradients: &[Vec<f64>], ranks: RankRule) -> Vec<usize> {
    let columns: Vec<usize> = (0..gradients.first().map_or(0, Vec::len)).collect();
    let rows: Vec<_> = gradients.iter().map(|row| row.iter().copied().enumerate().collect()).collect();
    dependences(&rows, &columns, 0..gradients.len(), ranks).0
}

/// A formula at a point, with its derivatives by the unknowns.
struct ValueAndGradient {
    value: f64,
    gradient: Vec<f64>,
}

impl ValueAndGradient {
    /// Size of the terms that the value is a sum of.
    fn terms(&self, x: &[f64]) -> f64 {
        self.gradient.iter().zip(x).map(|(g, x)| g.abs() * (1.0 + x.abs())).sum()
    }
}

struct GradientFormulas {
    rows: usize,
    inputs: usize,
    entries: Vec<(usize, usize)>,
    tape: Tape,
}

impl GradientFormulas {
    /// Of formulas in a graph that begins as that of the system.
    fn new(system: &System, graph: &Graph, residuals: &[Expr]) -> Self {
        let mut graph = graph.clone();
        let jacobian = graph.jacobian(residuals, &system.first.x);
        let entries = jacobian.iter().map(|(i, j, _)| (i, j)).collect();
        let outputs = [residuals, &jacobian.entries].concat();
        let tape = Tape::new(&graph, &outputs);
        GradientFormulas { rows: residuals.len(), inputs: graph.inputs().len(), entries, tape }
    }

    /// At a consistent point; nothing where a value is not finite.
    fn at(&self, system: &System, point: &Characteristics) -> Option<Vec<ValueAndGradient>> {
        let first = &system.first;
        let mut inputs = vec![0.0; self.inputs];
        inputs[first.place(first.t)] = point.t;
        first.xdot.iter().zip(point.xdot()).for_each(|(&e, &x)| inputs[first.place(e)] = x);
        first.x.iter().zip(point.x()).for_each(|(&e, &x)| inputs[first.place(e)] = x);
        first.parameters.iter().for_each(|&(e, value)| inputs[first.place(e)] = value);
        let values = self.tape.evaluate(&inputs);
        if values.iter().any(|x| !x.is_finite()) {
            return None;
        }
        let (residuals, slopes) = values.split_at(self.rows);
        let mut rows: Vec<ValueAndGradient> =
            residuals.iter().map(|&value| ValueAndGradient { value, gradient: vec![0.0; first.dim()] }).collect();
        for (&(i, j), &slope) in self.entries.iter().zip(slopes) {
            rows[i].gradient[j] = slope;
        }
        Some(rows)
    }
}
