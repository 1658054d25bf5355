//! Systems of order two and more: characteristic values without order reduction, and what forms of first order make of them.

use daedal::dae::{Characteristics, HighOrderSystem, OrderCoefficients, System, curve_of_states};
use daedal::linalg::rank::{Combination, ON_JET, echelon, normalised};
use daedal::linalg::{Mat, RankRule};
use daedal::linear::CharacteristicValues;
use daedal_pencils::high_order::{OrderExpansion, OrderValues, ReducedOrder, reduce_order};

/// Most differentiations of a linear system; those of others need formulas of their derivatives.
const MOST_LEVELS: usize = 10;
/// Most unknowns of a system whose arrays are decomposed, and most rows of these.
const MOST_UNKNOWNS: usize = 200;
const MOST_ROWS: usize = 800;

/// What was found about a system of order two or more.
pub struct OrderAnalysis {
    /// The order k.
    pub order: usize,
    /// Is it linear? Otherwise the numbers hold at the start, along a solution.
    pub linear: bool,
    /// Index and characteristic values as it is written.
    pub values: OrderValues,
    /// Unknowns of order k that equations of lower order bind, and which therefore lose an order.
    pub converted: usize,
    /// The form of first order with the derivatives that enter the equations as unknowns, which is what `solve` begins with.
    pub entering: CharacteristicValues,
    /// The form of first order with all derivatives below the order as unknowns.
    pub companion: CharacteristicValues,
    /// Unknowns of the trimmed form beside the states: combinations of derivatives.
    pub trimmed: Vec<Combination>,
    /// Smallest gap of the rank decisions.
    pub gap: f64,
}

impl OrderAnalysis {
    /// Do the degrees of freedom of all forms agree? They must where all unknowns are determined; otherwise a rank was decided wrong.
    pub fn agrees(&self) -> bool {
        let OrderValues { v, u, .. } = self.values;
        let degrees = self.values.free_initial_values();
        let same = |form: &CharacteristicValues| (form.d, form.v, form.u) == (degrees, v, u);
        u > 0 || (same(&self.entering) && same(&self.companion))
    }
}

/// Look at a system of order two or more at t₀; nonlinear ones at a point that has been analysed. A text says why nothing was found.
pub(super) fn examine(
    system: &System,
    written: &HighOrderSystem,
    t0: f64,
    at: Option<&Characteristics>,
    ranks: RankRule,
) -> Option<Result<OrderAnalysis, String>> {
    (written.order() >= 2).then(|| {
        let (linear, n) = (written.linear(), written.dim().max(written.rows()).max(1));
        if n > MOST_UNKNOWNS {
            return Err(format!("more than {MOST_UNKNOWNS} unknowns: not decomposed"));
        }
        let (expansion, ranks) = if linear {
            (expand(written, t0, &[], MOST_LEVELS.min(MOST_ROWS / n))?, ranks)
        } else {
            let at = at.ok_or("no consistent start was found")?;
            // a jet is consistent to so much
            (along(system, written, at)?, RankRule { tolerance: Some(ranks.or(ON_JET)), ..ranks })
        };
        compare(system, &expansion, linear, ranks)
    })
}

/// The linearisation along a solution through a point.
fn along(system: &System, written: &HighOrderSystem, at: &Characteristics) -> Result<OrderExpansion, String> {
    let level = at.values.mu + written.order();
    let curve = curve_of_states(system, at, level + written.order())
        .ok_or("no curve was found at the start that satisfies the equations and their derivatives")?;
    expand(written, at.t, &curve, level)
}

fn expand(written: &HighOrderSystem, t: f64, curve: &[Vec<f64>], level: usize) -> Result<OrderExpansion, String> {
    let OrderCoefficients { A, f } =
        written.expand(t, curve, level).map_err(|_| format!("the coefficients have no finite value at t = {t:?}"))?;
    OrderExpansion::new(A, f).map_err(|error| error.to_string())
}

fn compare(system: &System, at: &OrderExpansion, linear: bool, ranks: RankRule) -> Result<OrderAnalysis, String> {
    let reduced = reduce_order(at, ranks).map_err(|error| error.to_string())?;
    let form =
        |orders: &[usize]| at.with_derivatives(orders).characteristic_values(ranks).map_err(|error| error.to_string());
    let (order, formulas) = (at.order(), &system.formulas);
    let entering: Vec<usize> = formulas.orders.iter().map(|&order| order as usize).collect();
    Ok(OrderAnalysis {
        order,
        linear,
        entering: form(&entering)?,
        companion: form(&vec![order; at.dim()])?,
        trimmed: added(&reduced, &formulas.states),
        gap: reduced.ranks.smallest_gap().unwrap_or(f64::INFINITY),
        converted: reduced.converted,
        values: reduced.values,
    })
}

/// Combinations of derivatives that the trimmed form adds: of what has equations of order q, the derivatives 1, …, q − 1.
fn added(reduced: &ReducedOrder, states: &[String]) -> Vec<Combination> {
    let mut all = Vec::new();
    for (q, rows) in reduced.rows.iter().enumerate().skip(2).rev() {
        let leading: &Mat<f64> = &rows.A[q];
        let vectors = (0..leading.nrows()).map(|i| (0..leading.ncols()).map(|j| leading[(i, j)]).collect());
        let mut vectors: Vec<Vec<f64>> = echelon(vectors.collect()).into_iter().map(normalised).collect();
        vectors.iter_mut().flatten().filter(|x| x.abs() < 1e-8).for_each(|x| *x = 0.0);
        vectors.sort_by_key(|vector| vector.iter().position(|x| *x != 0.0));
        for vector in vectors {
            for derivative in 1..q {
                let names: Vec<String> = states.iter().map(|name| name.clone() + &"'".repeat(derivative)).collect();
                all.push(Combination::of(&vector, &names));
            }
        }
    }
    all
}
