//! Which formulation: the system of second order, the companion form with all of x′ as unknowns, or only chosen derivatives.
//!
//! ```text
//! companion:  [M 0; 0 I] (v′, x′) = [−C −K; I 0] (v, x) + (f, 0)
//! partial:    M_J v′ + C x′ = −K x + f,   x_J′ = v                      J: the chosen unknowns, all with x″ among them
//! ```
//! The companion form may raise the index by one, because it differentiates algebraic unknowns. The reduction of second order goes on
//! where equations of first order bind unknowns of second order, as multipliers of mechanical systems with forces that depend on
//! velocities do; then the partial form is the better one. Wunderlich, thesis (2008), Examples 3.1–3.3.

use super::{Expansion, FirstOrderExpansion, SecondOrderError, SecondOrderValues, strangeness_free};
use crate::blocks::{below, beside, put};
use daedal::dae::CharacteristicValues;
use daedal::linalg::RankRule;
use faer::{Mat, Scale};
use std::fmt;

/// What to mind about formulations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormulationWarning {
    /// Equations of first order bind unknowns of second order: so many become unknowns of first order, and the reduction needs more
    /// derivatives than the form with chosen derivatives may need.
    ConvertsOrder {
        /// How many.
        unknowns: usize,
    },
    /// The theory of second order is proved for μ ≤ 2.
    BeyondProvedRange {
        /// The index found.
        mu: usize,
    },
    /// The companion form has a higher index.
    CompanionRaisesIndex {
        /// Of the system of second order.
        mu: usize,
        /// Of the companion form.
        companion: usize,
    },
    /// The form with chosen derivatives has a smaller index than the system of second order.
    PartialIsLower {
        /// Of the system of second order.
        mu: usize,
        /// Of the form with chosen derivatives.
        partial: usize,
    },
}

impl fmt::Display for FormulationWarning {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            FormulationWarning::ConvertsOrder { unknowns } => write!(
                f,
                "equations of first order bind {unknowns} unknown(s) of second order, which the reduction turns into unknowns of first order"
            ),
            FormulationWarning::BeyondProvedRange { mu } => {
                write!(f, "μ = {mu} is beyond the proved range μ ≤ 2 of the theory of second order")
            }
            FormulationWarning::CompanionRaisesIndex { mu, companion } => {
                write!(f, "the companion form raises the strangeness index from {mu} to {companion}")
            }
            FormulationWarning::PartialIsLower { mu, partial } => write!(
                f,
                "the form of first order with chosen derivatives has the strangeness index {partial}, the system of second order {mu}: prefer the former"
            ),
        }
    }
}

/// Formulations side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct FormulationComparison {
    /// The system of second order.
    pub second_order: SecondOrderValues,
    /// The companion form.
    pub companion: CharacteristicValues,
    /// The unknowns whose derivatives are unknowns of the partial form.
    pub chosen: Vec<usize>,
    /// The partial form.
    pub partial: CharacteristicValues,
    /// What to mind.
    pub warnings: Vec<FormulationWarning>,
}

/// Compare the formulations at the point of the expansion. `chosen` are the unknowns whose derivatives become unknowns of the partial
/// form; `None` takes those with x″ in the equations.
pub fn compare_formulations(
    at: &Expansion,
    chosen: Option<&[usize]>,
    rule: RankRule,
) -> Result<FormulationComparison, SecondOrderError> {
    let reduced = strangeness_free(at, rule)?;
    let second_order = reduced.values;
    let (at, _) = at.equilibrated();
    let chosen = chosen.map_or_else(|| with_second_derivative(&at), <[usize]>::to_vec);
    let partial = partial_first_order(&at, &chosen)?.characteristic_values(rule)?;
    let companion = companion(&at).characteristic_values(rule)?;
    let mu = second_order.mu;
    let mut warnings = Vec::new();
    if reduced.converted > 0 {
        warnings.push(FormulationWarning::ConvertsOrder { unknowns: reduced.converted });
    }
    if second_order.beyond_proved_range() {
        warnings.push(FormulationWarning::BeyondProvedRange { mu });
    }
    if companion.mu > mu {
        warnings.push(FormulationWarning::CompanionRaisesIndex { mu, companion: companion.mu });
    }
    if partial.mu < mu {
        warnings.push(FormulationWarning::PartialIsLower { mu, partial: partial.mu });
    }
    Ok(FormulationComparison { second_order, companion, chosen, partial, warnings })
}

/// Companion form with unknowns (v, x), v = x′.
pub fn companion(at: &Expansion) -> FirstOrderExpansion {
    let (m, n) = (at.rows(), at.dim());
    let series = |k: usize| {
        let one = if k == 0 { Mat::identity(n, n) } else { Mat::zeros(n, n) };
        let upper = beside(&[&at.M()[k], &Mat::zeros(m, n)]);
        let E = below(&[&upper, &beside(&[&Mat::zeros(n, n), &one])]);
        let upper = beside(&[&(&at.C()[k] * Scale(-1.0)), &(&at.K()[k] * Scale(-1.0))]);
        (E, below(&[&upper, &beside(&[&one, &Mat::zeros(n, n)])]))
    };
    collect(at, n, series)
}

/// Form of first order with unknowns (v, x), v = x_J′ for the chosen unknowns J.
pub fn partial_first_order(at: &Expansion, chosen: &[usize]) -> Result<FirstOrderExpansion, SecondOrderError> {
    let (m, n, k) = (at.rows(), at.dim(), chosen.len());
    for (place, &unknown) in chosen.iter().enumerate() {
        if unknown >= n || chosen[..place].contains(&unknown) {
            return Err(SecondOrderError::NoSuchUnknown { unknown, count: n });
        }
    }
    if let Some(unknown) = with_second_derivative(at).into_iter().find(|unknown| !chosen.contains(unknown)) {
        return Err(SecondOrderError::SecondDerivativeRemains { unknown });
    }
    let mut select = Mat::<f64>::zeros(n, k);
    for (place, &unknown) in chosen.iter().enumerate() {
        select[(unknown, place)] = 1.0;
    }
    let series = |order: usize| {
        let mut E = Mat::zeros(m + k, k + n);
        let mut A = Mat::zeros(m + k, k + n);
        put(&mut E, 0, 0, &(&at.M()[order] * &select));
        put(&mut E, 0, k, &at.C()[order]);
        put(&mut A, 0, k, &(&at.K()[order] * Scale(-1.0)));
        if order == 0 {
            put(&mut E, m, k, &select.transpose().to_owned());
            put(&mut A, m, 0, &Mat::identity(k, k));
        }
        (E, A)
    };
    Ok(collect(at, k, series))
}

fn collect(at: &Expansion, added: usize, series: impl Fn(usize) -> (Mat<f64>, Mat<f64>)) -> FirstOrderExpansion {
    let (E, A) = (0..=at.level()).map(series).unzip();
    let right = |f: &Vec<f64>| {
        let mut b = f.clone();
        b.resize(f.len() + added, 0.0);
        b
    };
    FirstOrderExpansion { E, A, b: at.f().iter().map(right).collect() }
}

/// Unknowns whose column of M does not vanish near the point.
fn with_second_derivative(at: &Expansion) -> Vec<usize> {
    (0..at.dim()).filter(|&j| at.M().iter().any(|M| (0..M.nrows()).any(|i| M[(i, j)] != 0.0))).collect()
}
