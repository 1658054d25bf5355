//! Two modes that do not share their constraints, combined in their reduced forms ẋ₁ = L(t, x₁), x₂ = R(t, x₁).
//!
//! L and R are not formed: derivatives w and algebraic unknowns z of both modes are unknowns of their own. Wunderlich, thesis (2008), (5.38). The
//! system has strangeness index 0 where g_x₂ (R⁰ − R¹) ≠ 0, and 1 where the constraints are continuous. (Theorem 5.29 says 1 for the first case,
//! where α follows from the algebraic equations as they stand.)

use super::SlidingError;
use super::equal::samples;
use super::vertices::{Images, Vertices};
use crate::dae::{ArrangedState, Arrangement};
use crate::graph::{Expr, Graph, Jacobian};
use crate::linalg::Mat;
use crate::linalg::rank::{REGULAR, is_regular};

/// The combination of two modes, without the surface; `row` is not shared.
pub(super) fn combine(mut vertices: Vertices, leading: &[Jacobian], row: String) -> Result<Arrangement, SlidingError> {
    let names = vertices.names().to_vec();
    let (x, xdot, alpha) = (vertices.x.clone(), vertices.xdot.clone(), vertices.alpha[0]);
    // whose derivatives occur?
    let differential = |mode: usize, j: usize| leading[mode].columns[j] < leading[mode].columns[j + 1];
    let states: Vec<String> =
        (0..names.len()).filter(|&j| differential(0, j) != differential(1, j)).map(|j| names[j].clone()).collect();
    if !states.is_empty() {
        return Err(SlidingError::Split { states, row });
    }

    let mut added = Vec::new();
    let mut equations = Vec::new();
    let mut own = Vec::new();
    for mode in 0..2 {
        // w and z of this mode
        let mut inputs = Vec::with_capacity(names.len());
        for (j, name) in names.iter().enumerate() {
            let name = if differential(0, j) { format!("{name}'|{mode}") } else { format!("{name}|{mode}") };
            let input = vertices.graph.input(&*name);
            inputs.push(input);
            added.push(ArrangedState { name, x: input, xdot: None });
        }
        let pick = |there: &[Expr], wanted: bool| -> Vec<Expr> {
            (0..names.len()).map(|j| if differential(0, j) == wanted { inputs[j] } else { there[j] }).collect()
        };
        let (at, rates) = (pick(&x, false), pick(&xdot, true));
        let rows = vertices.equations(mode, &Images { x: &at, xdot: &rates, parameters: None });
        if !determined(&mut vertices.graph, &rows, &inputs) {
            return Err(SlidingError::Index { mode, row });
        }
        equations.extend(vertices.rows.iter().map(|name| format!("{name} of mode {mode}")).zip(rows));
        own.push(inputs);
    }
    let combined: Vec<(String, Expr)> = vertices.graph.with(|| {
        let row = |j: usize| {
            let left = if differential(0, j) { xdot[j] } else { x[j] };
            left - (alpha * own[0][j] + (Expr::from(1.0) - alpha) * own[1][j])
        };
        names.iter().enumerate().map(|(j, name)| (format!("combination of {name}"), row(j))).collect()
    });
    let mut arrangement = vertices.arrangement(Vec::new());
    arrangement.states.extend(added);
    arrangement.equations = combined;
    arrangement.equations.extend(equations);
    Ok(arrangement)
}

/// Do the rows determine these inputs? They do if the Jacobian is regular at one point at least.
fn determined(graph: &mut Graph, rows: &[Expr], inputs: &[Expr]) -> bool {
    let n = inputs.len();
    if rows.len() != n {
        return false;
    }
    let jacobian = graph.jacobian(rows, inputs);
    let samples = samples(graph, &jacobian.entries);
    // where nothing can be said, the analysis of the generated system will tell
    samples.is_empty()
        || samples.iter().any(|values| {
            let mut J = Mat::zeros(n, n);
            jacobian.iter().zip(values).for_each(|((i, j, _), e)| J[(i, j)] = *e);
            is_regular(&J, REGULAR)
        })
}
