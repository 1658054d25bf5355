//! Rates and constraints of a linear system with constant coefficients, F = E ẋ − A x − b(t), from the projections of its derivative array.
//!
//! Z₁ᵀE ẋ = Z₁ᵀA x + Z₁ᵀb and 0 = C x + c(t) with C = Z₂ᵀN and c = Z₂ᵀ(F, F', …) at x = 0. Since (Z₁ᵀE; C) is regular, ẋ = (Z₁ᵀE; C)⁻¹ (Z₁ᵀ(A x + b); −c') for
//! all unknowns. Where equations are mixed, formulas alone do not find this; here the combinations are numbers.

use super::hidden::{Constraint, MinimalArray, Role};
use super::linear_form::LinearFormulas;
use super::{Characteristics, System};
use crate::graph::Expr;
use crate::linalg::{Lu, Matrix};
use crate::linear::LinearEquations;

/// Coefficients below this part of the largest one of their row are rounding.
const ROUNDING: f64 = 1e-14;

/// `None` if the system is of another kind.
pub(super) fn linear_array(system: &System, found: &Characteristics) -> Option<MinimalArray> {
    let structure = system.structure();
    let (n, m, values) = (system.dim(), system.rows(), found.values);
    let determined = values.u == 0 && values.v == 0 && m == n;
    if !(determined && structure.linear() && structure.constant_coefficients()) {
        return None;
    }
    let (mut E, mut A) = (Matrix::zeros(m, n), Matrix::zeros(m, n));
    LinearFormulas::new(system)?.coefficients(found.t, &mut E, &mut A, &mut vec![0.0; m]);
    let (d, a, mu) = (values.d, values.a, values.mu);
    let projections = found.projections(system).ok()?;
    let (Z1, Z2, C) = (&projections.Z1, &projections.Z2, &projections.constraints);

    let mut lu = Lu::<f64>::new(n);
    let mut right = Matrix::zeros(n, n);
    for i in 0..d {
        for j in 0..n {
            lu.A[(i, j)] = (0..m).map(|r| Z1[(r, i)] * E[(r, j)]).sum();
            right[(i, j)] = (0..m).map(|r| Z1[(r, i)] * A[(r, j)]).sum();
        }
    }
    for i in 0..a {
        (0..n).for_each(|j| lu.A[(d + i, j)] = C[(i, j)]);
    }
    lu.factor().ok()?;
    // columns of the inverse, and of its product with the right-hand side
    let column = |mut b: Vec<f64>| {
        lu.solve(&mut b);
        b
    };
    let unit = |k: usize| (0..n).map(|i| f64::from(u8::from(i == k))).collect();
    let inverse: Vec<Vec<f64>> = (0..n).map(|k| column(unit(k))).collect();
    let by_x: Vec<Vec<f64>> = (0..n).map(|j| column((0..n).map(|i| right[(i, j)]).collect())).collect();

    let mut first = structure.system.clone();
    let zeros: Vec<(Expr, f64)> = first.x.iter().chain(&first.xdot).map(|&e| (e, 0.0)).collect();
    let one = first.graph.with(|| Expr::from(1.0));
    // F at x = 0 and its derivatives
    let mut rest = vec![first.graph.bind(&first.equations, &zeros)];
    for k in 0..=mu {
        let next = first.graph.total_derivative(&rest[k], &[(first.t, one)]);
        rest.push(next);
    }
    let (rates, constraints) = first.graph.with(|| {
        // c, and its derivative
        let along_Z2 = |i: usize, shift: usize| {
            let mut factorial = 1.0;
            let mut terms = Vec::new();
            for k in 0..=mu {
                factorial *= if k > 0 { k as f64 } else { 1.0 };
                terms.extend((0..m).map(|r| (Z2[(k * m + r, i)] / factorial, rest[k + shift][r])));
            }
            sum(&terms)
        };
        let mut h: Vec<Expr> =
            (0..d).map(|i| sum(&(0..m).map(|r| (-Z1[(r, i)], rest[0][r])).collect::<Vec<_>>())).collect();
        h.extend((0..a).map(|i| -along_Z2(i, 1)));
        let rate = |j: usize| {
            let of_x = sum(&(0..n).map(|k| (by_x[k][j], first.x[k])).collect::<Vec<_>>());
            of_x + sum(&(0..n).map(|k| (inverse[k][j], h[k])).collect::<Vec<_>>())
        };
        let constraint = |i: usize| sum(&(0..n).map(|j| (C[(i, j)], first.x[j])).collect::<Vec<_>>()) + along_Z2(i, 0);
        ((0..n).map(rate).collect::<Vec<_>>(), (0..a).map(constraint).collect::<Vec<_>>())
    });
    let constraint = |(i, residual): (usize, Expr)| Constraint {
        residual,
        level: mu,
        role: Role::Constraint,
        equation: format!("constraint {} of the reduced system", i + 1),
        blind: false,
    };
    Some(MinimalArray {
        t: first.t,
        unknowns: first.x.clone(),
        names: first.names.clone(),
        dim: n,
        origin: (0..n).map(|j| (j, 0)).collect(),
        rates: rates.into_iter().map(Some).collect(),
        constraints: constraints.into_iter().enumerate().map(constraint).collect(),
        omitted: Vec::new(),
        parameters: first.parameters.clone(),
        graph: first.graph,
    })
}

/// Σ factor · term, without what is rounding.
fn sum(terms: &[(f64, Expr)]) -> Expr {
    let top = terms.iter().fold(0.0_f64, |top, (factor, _)| top.max(factor.abs()));
    let told = terms.iter().filter(|(factor, _)| factor.abs() > ROUNDING * top);
    told.fold(Expr::from(0.0), |sum, &(factor, term)| sum + term * factor)
}
