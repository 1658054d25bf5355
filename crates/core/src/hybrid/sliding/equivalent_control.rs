//! Parameters combined: the modes have the same equations, and differ in the numbers of some parameters, the controls.
//!
//! A control that jumps at surface i becomes u = αᵢ u⁰ + (1 − αᵢ) u¹; one that jumps at several surfaces has the products of their weights.
//! Utkin, Sliding modes in control and optimization (1992); Wunderlich, thesis (2008), section 5.4.

use super::SlidingError;
use super::equal::equal;
use super::vertices::{Images, Vertices, differences, places};
use crate::dae::Arrangement;
use crate::graph::Expr;

/// The equations with combined controls, without surfaces.
pub(super) fn combine(mut vertices: Vertices) -> Result<Arrangement, SlidingError> {
    let names = |vertices: &Vertices, mode: usize| -> Vec<String> {
        vertices.modes[mode].parameters.iter().map(|(name, _)| name.clone()).collect()
    };
    let common = names(&vertices, 0);
    let symbols: Vec<Expr> = common.iter().map(|name| vertices.graph.input(&**name)).collect();
    let (x, xdot) = (vertices.x.clone(), vertices.xdot.clone());
    // numbers[mode][parameter], in the order of mode 0
    let mut numbers: Vec<Vec<f64>> = Vec::new();
    let mut first: Vec<Expr> = Vec::new();
    for mode in 0..vertices.modes.len() {
        let given = names(&vertices, mode);
        if let Some((missing, additional)) = differences(&common, &given) {
            return Err(SlidingError::Parameters { mode, missing, additional });
        }
        let own = &vertices.modes[mode].parameters;
        numbers.push(places(&common, &given).into_iter().map(|k| own[k].1).collect());
        let parameters: Vec<Expr> = places(&given, &common).into_iter().map(|k| symbols[k]).collect();
        let rows = vertices.equations(mode, &Images { x: &x, xdot: &xdot, parameters: Some(&parameters) });
        if mode == 0 {
            first = rows;
        } else if let Some(i) = (0..rows.len()).find(|&i| !equal(&vertices.graph, first[i], rows[i])) {
            return Err(SlidingError::Formulas { mode, row: vertices.rows[i].clone() });
        }
    }

    // at which surfaces each parameter jumps
    let surfaces = vertices.alpha.len();
    let jumps = |k: usize, i: usize| (0..numbers.len()).any(|mode| numbers[mode][k] != numbers[mode ^ (1 << i)][k]);
    if let Some(surface) = (0..surfaces).find(|&i| !(0..common.len()).any(|k| jumps(k, i))) {
        return Err(SlidingError::NoControl { surface });
    }
    let mut controls = Vec::with_capacity(common.len());
    for k in 0..common.len() {
        let at: Vec<usize> = (0..surfaces).filter(|&i| jumps(k, i)).collect();
        let all: usize = at.iter().map(|i| 1 << i).sum();
        let mut control = vertices.graph.with(|| Expr::from(0.0));
        // one mode of those that differ at other surfaces only
        for mode in (0..numbers.len()).filter(|mode| mode & !all == 0) {
            let weight = vertices.weight(mode, &at);
            vertices.graph.with(|| control += weight * numbers[mode][k]);
        }
        controls.push((symbols[k], control));
    }
    let rows = vertices.graph.substitute(&first, &controls);
    Ok(vertices.arrangement(rows))
}
