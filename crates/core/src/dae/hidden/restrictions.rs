//! Constraints as functions of the unknowns alone, where the derivatives in them can be eliminated, and how they are told.

use super::elimination::{DerivativeElimination, OpenRow};
use super::points::Points;
use super::{Characteristics, Constraint, MinimalArray, Role, System};
use crate::family::families;
use crate::graph::{Expr, Graph};
use std::collections::BTreeMap;

/// More rows with derivatives are not eliminated: nobody would read the result.
const MOST_ROWS: usize = 40;
/// Of more constraints one of each family is told.
const MOST_TOLD: usize = 300;

/// 0 = residual(t, x), with x the unknowns of the first-order system.
#[derive(Clone, Debug, PartialEq)]
pub struct Restriction {
    /// The formula.
    pub residual: Expr,
    /// Largest number of differentiations of an equation in it.
    pub level: usize,
    /// Is it a constraint, or a quantity that keeps its value?
    pub role: Role,
    /// Equations that it comes from, each with the number of its differentiations, the most often differentiated first.
    pub equations: Vec<(String, usize)>,
    /// Is it an equation whose derivatives were taken out by others?
    pub combined: bool,
    /// Coefficients that it was divided by: it holds where none of them is zero.
    pub nonzero: Vec<Expr>,
    /// Why it still contains derivatives.
    pub kept: Option<KeptDerivatives>,
}

impl Restriction {
    /// A constraint.
    fn of(residual: Expr, mut equations: Vec<(String, usize)>, nonzero: Vec<Expr>) -> Restriction {
        // the one that was differentiated most is what it comes from
        equations.sort_by_key(|(_, level)| std::cmp::Reverse(*level));
        let level = equations.first().map_or(0, |(_, level)| *level);
        Restriction { residual, level, role: Role::Constraint, equations, combined: false, nonzero, kept: None }
    }
}

/// Why derivatives stay in a constraint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeptDerivatives {
    /// They are not determined by linear equations.
    #[error("not free of {derivatives}: no equation gives it with a coefficient that contains no derivative")]
    NotLinear {
        /// Their names.
        derivatives: String,
    },
    /// The coefficients vanish at the start.
    #[error("not free of {derivatives}: the coefficients to divide by vanish at the start")]
    Vanishing {
        /// Their names.
        derivatives: String,
    },
    /// It would be too long.
    #[error("not free of {derivatives}: without derivatives it has {operations} different operations")]
    TooLong {
        /// Their names.
        derivatives: String,
        /// Number of operations.
        operations: usize,
    },
    /// Too many equations with derivatives.
    #[error("not free of {derivatives}: {rows} equations with derivatives are too many to be solved by formulas")]
    TooMany {
        /// Their names.
        derivatives: String,
        /// Number of equations.
        rows: usize,
    },
}

/// All constraints of a system in its unknowns.
#[derive(Clone, Debug)]
pub struct Restrictions {
    /// The graph of the formulas, that of the array with what was added.
    pub graph: Graph,
    /// The constraints, then what is kept; of each the lowest level first.
    pub all: Vec<Restriction>,
}

/// Eliminate the derivatives from the constraints of a system, unless what comes out is not readable.
pub fn restrictions(
    system: &System,
    at: &Characteristics,
    array: &MinimalArray,
    readable: impl Fn(&Graph, Expr) -> bool,
) -> Restrictions {
    if array.constraints.len() > MOST_TOLD {
        return by_families(array);
    }
    let points = Points::new(system, at);
    let mut elimination = DerivativeElimination::new(array.clone(), &points);
    let auxiliary = elimination.auxiliary.clone();
    let contains = |e: Expr| elimination.contained(e, &auxiliary);
    let with = elimination.rows.iter().filter(|row| !contains(row.residual).is_empty()).count();
    if with <= MOST_ROWS {
        elimination.run();
    }
    elimination.finish(array, readable, with)
}

/// One constraint of every family of a large system, as it was derived; its equation tells the family.
fn by_families(array: &MinimalArray) -> Restrictions {
    let mut auxiliary = vec![None; array.graph.inputs().len()];
    (array.dim..array.unknowns.len()).for_each(|j| auxiliary[array.place(array.unknowns[j])] = Some(j));
    let mut groups: Vec<(&Constraint, Vec<String>)> = Vec::new();
    let mut known: BTreeMap<(&str, usize, bool), usize> = BTreeMap::new();
    for c in array.constraints.iter().filter(|c| c.role != Role::Definition) {
        let base = c.equation.split('[').next().unwrap_or_default();
        let group = *known.entry((base, c.level, c.role == Role::Invariant)).or_insert(groups.len());
        match groups.get_mut(group) {
            Some((_, names)) => names.push(c.equation.clone()),
            None => groups.push((c, vec![c.equation.clone()])),
        }
    }
    let residuals: Vec<Expr> = groups.iter().map(|(c, _)| c.residual).collect();
    let dependencies = array.graph.dependencies(&residuals);
    let told = groups.into_iter().zip(dependencies).map(|((c, names), inputs)| {
        let contained: Vec<&str> =
            inputs.iter().filter_map(|&i| auxiliary[i]).map(|j| array.names[j].as_str()).collect();
        let rows = array.constraints.len();
        let kept = KeptDerivatives::TooMany { derivatives: contained.join(", "), rows };
        let equations = vec![(families(&names).join(", "), c.level)];
        let kept = (!contained.is_empty()).then_some(kept);
        Restriction { role: c.role, kept, ..Restriction::of(c.residual, equations, Vec::new()) }
    });
    let mut all: Vec<Restriction> = told.collect();
    all.sort_by_key(|c| (c.role == Role::Invariant, c.level));
    Restrictions { graph: array.graph.clone(), all }
}

impl DerivativeElimination<'_> {
    fn finish(mut self, array: &MinimalArray, readable: impl Fn(&Graph, Expr) -> bool, with: usize) -> Restrictions {
        let mut all = Vec::new();
        for row in std::mem::take(&mut self.rows) {
            let before = &array.constraints[row.origin];
            let kept = self.kept(&row, before, &readable, with);
            let free = self.contained(row.residual, &self.auxiliary).is_empty();
            let restriction = match kept {
                // as it was derived
                Some(kept) => {
                    let equations = vec![row.equations[0].clone()];
                    Restriction { kept: Some(kept), ..Restriction::of(before.residual, equations, Vec::new()) }
                }
                // an equation that determines derivatives
                None if !free => continue,
                None if row.residual == before.residual => Restriction::of(row.residual, row.equations, Vec::new()),
                None => {
                    let residual = self.tidy(row.residual);
                    let nonzero = row.nonzero.iter().map(|&e| self.positive(e)).collect();
                    let combined = before.role == Role::Definition;
                    Restriction { combined, ..Restriction::of(residual, row.equations, nonzero) }
                }
            };
            // what vanishes by itself is told among the redundant equations
            if self.array.graph.constant(restriction.residual) != Some(0.0) {
                all.push(restriction);
            }
        }
        all.sort_by_key(|c| c.level);
        for c in array.constraints.iter().filter(|c| c.role == Role::Invariant) {
            let equations = vec![(c.equation.clone(), c.level)];
            all.push(Restriction { role: Role::Invariant, ..Restriction::of(c.residual, equations, Vec::new()) });
        }
        Restrictions { graph: self.array.graph, all }
    }

    /// The coefficient or its negative, whichever is written shorter.
    fn positive(&mut self, e: Expr) -> Expr {
        let negative = self.array.graph.negative(e);
        let size = |e: Expr| self.array.graph.formula(e).len();
        if size(negative) < size(e) { negative } else { e }
    }

    /// Why a constraint is told as it was derived, with derivatives.
    fn kept(
        &self,
        row: &OpenRow,
        before: &Constraint,
        readable: &impl Fn(&Graph, Expr) -> bool,
        with: usize,
    ) -> Option<KeptDerivatives> {
        let contained = self.contained(before.residual, &self.auxiliary);
        if contained.is_empty() || before.role != Role::Constraint {
            return None;
        }
        let left = self.contained(row.residual, &self.auxiliary);
        let derivatives = self.names(if left.is_empty() { &contained } else { &left });
        if with > MOST_ROWS {
            Some(KeptDerivatives::TooMany { derivatives, rows: with })
        } else if !left.is_empty() && self.special {
            Some(KeptDerivatives::Vanishing { derivatives })
        } else if !left.is_empty() {
            Some(KeptDerivatives::NotLinear { derivatives })
        } else if !readable(&self.array.graph, row.residual) && readable(&self.array.graph, before.residual) {
            let operations = self.array.graph.needed(&[row.residual]).len();
            Some(KeptDerivatives::TooLong { derivatives, operations })
        } else {
            None
        }
    }

    fn names(&self, unknowns: &[usize]) -> String {
        unknowns.iter().map(|&j| self.array.names[j].as_str()).collect::<Vec<_>>().join(", ")
    }

    /// With a positive sign of the first unknown, if its coefficient is a number.
    fn tidy(&mut self, residual: Expr) -> Expr {
        let slopes = self.array.graph.jacobian(&[residual], &self.array.unknowns[..self.array.dim]);
        let first = slopes.iter().next().and_then(|(_, _, e)| self.number(e));
        if first.is_some_and(|slope| slope < 0.0) { self.array.graph.negative(residual) } else { residual }
    }
}
