//! Formulas of hidden constraints for people: as they were derived while they are short, with their numbers combined where they are
//! linear, and not at all where nobody would read them. Differentiated equations share parts; written out they may grow exponentially.

use crate::dae::hidden::MinimalArray;
use crate::dae::linear_terms::written_terms;
use crate::graph::{Expr, Graph};
use std::collections::HashMap;

/// Formulas of more operations and letters are shortened: half a page.
const LONG: usize = 600;
/// Coefficients below this part of the largest are rounding.
const ROUNDING: f64 = 1e-12;
/// Factors of more letters are not what somebody would write.
const LONG_FACTOR: usize = 6;

/// A formula that can be printed, in the graph, which is one of the array; `None` if it is too long.
pub fn shortened(graph: &mut Graph, array: &MinimalArray, residual: Expr) -> Option<Expr> {
    if graph.written_size(residual) <= LONG {
        return Some(tidied(graph, residual));
    }
    // c₁ y₁ + c₂ y₂ + … + f(t)
    let bound = graph.bind(&[residual], &array.parameters);
    let slopes = graph.jacobian(&bound, &array.unknowns);
    let terms: Option<Vec<(usize, f64)>> = slopes.iter().map(|(_, j, e)| Some((j, graph.constant(e)?))).collect();
    let (terms, zeros): (_, Vec<_>) = (terms?, array.unknowns.iter().map(|&y| (y, 0.0)).collect());
    let rest = graph.bind(&bound, &zeros)[0];
    let rest = if graph.written_size(rest) <= LONG { rest } else { graph.input("f(t)") };
    let top = terms.iter().fold(0.0_f64, |top, (_, c)| top.max(c.abs()));
    Some(graph.with(|| {
        let mut sum = Expr::from(0.0);
        for (j, c) in terms.into_iter().filter(|(_, c)| c.abs() > ROUNDING * top) {
            sum = if c == 1.0 { sum + array.unknowns[j] } else { sum + array.unknowns[j] * c };
        }
        sum + rest
    }))
}

/// A sum with its like terms taken together, if there are any: derivatives of rates leave some that cancel.
fn tidied(graph: &mut Graph, sum: Expr) -> Expr {
    let written = written_terms(graph, sum);
    let (mut terms, mut places) = (Vec::<(Option<Expr>, f64, f64)>::new(), HashMap::new());
    for &(base, factor) in &written {
        let place = *places.entry(base).or_insert(terms.len());
        if place == terms.len() {
            terms.push((base, 0.0, 0.0));
        }
        terms[place].1 += factor;
        terms[place].2 += factor.abs();
    }
    let like = terms.len() < written.len();
    terms.retain(|(_, factor, size)| factor.abs() > ROUNDING * size);
    if !like || terms.iter().any(|(_, factor, _)| factor.to_string().len() > LONG_FACTOR) {
        return sum;
    }
    // numbers stand last
    terms.sort_by_key(|term| term.0.is_none());
    graph.with(|| {
        let of = |base: Option<Expr>, factor: f64| match base {
            Some(base) if factor == 1.0 => base,
            Some(base) => base * factor,
            None => Expr::from(factor),
        };
        let mut tidied: Option<Expr> = None;
        for (base, factor, _) in terms {
            tidied = Some(match tidied {
                None => of(base, factor),
                Some(sum) if factor < 0.0 => sum - of(base, -factor),
                Some(sum) => sum + of(base, factor),
            });
        }
        tidied.unwrap_or(Expr::from(0.0))
    })
}

/// The text of a formula, or how long it would be.
pub(super) fn text(graph: &Graph, array: &MinimalArray, residual: Expr) -> String {
    let mut graph = graph.clone();
    match shortened(&mut graph, array, residual) {
        Some(formula) => graph.formula(formula),
        None => too_long(&graph, residual),
    }
}

/// Instead of a formula that is too long.
pub fn too_long(graph: &Graph, residual: Expr) -> String {
    let parts = graph.needed(&[residual]).len();
    format!("(a formula of {parts} different operations, too long to print)")
}
