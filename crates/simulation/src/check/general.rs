//! What can be known about a general system before it is solved.

use super::finding::{self, Remark};
use super::{LinearAnalysis, NearbyValues, OrderAnalysis, linear, near, orders};
use crate::control::{self, ControlFacts};
use crate::error::Error;
use crate::model::{GeneralModel, Model};
use crate::settings::Settings;
use daedal::dae::analysis::{Analysis, Scope, analyse, shortened, too_long};
use daedal::dae::hidden::Role;
use daedal::dae::{AnalysisError, Depth, Form, HighOrderSystem, System, derivatives, prepare_at};
use daedal::graph::Expr;
use daedal::{Initial, Start};
use daedal_run::WarningRecord;

/// What was found about a general system.
pub struct GeneralCheck {
    /// Why there is nothing to tell, or what there is.
    pub found: Result<GeneralAnalysis, AnalysisError>,
    /// What is worth telling, the worst first.
    pub findings: Vec<Remark>,
    /// As written, and of the first-order form.
    pub sizes: SystemSizes,
    /// Does time enter the equations?
    pub with_time: bool,
    /// States about which nothing is given.
    pub open: Vec<String>,
    /// What is known without order reduction, of a system of order two or more, or why it is not known.
    pub orders: Option<Result<OrderAnalysis, String>>,
    /// Why a run has other unknowns than the derivatives that enter the equations, if it has.
    pub unknowns: Option<String>,
    /// What is known of a linear system.
    pub linear: Option<LinearAnalysis>,
    /// What is known of its control, or why nothing is.
    pub control: Option<Result<ControlFacts, String>>,
}

/// Sizes of a general system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names say it
pub struct SystemSizes {
    pub states: usize,
    pub equations: usize,
    pub invariants: usize,
    pub unknowns: usize,
    pub rows: usize,
}

/// What was found at a consistent point.
pub struct GeneralAnalysis {
    /// Ranks, indices, redundancy, other points.
    pub analysis: Analysis,
    /// Derivatives of the unknowns there.
    pub rates: Vec<f64>,
    /// The form that `solve` takes if nothing is said.
    pub form: Option<Form>,
    /// Constraints, stated and hidden, and what is kept.
    pub constraints: Vec<ConstraintFormula>,
    /// Subexpressions that several formulas share.
    pub definitions: Vec<(String, String)>,
}

/// A constraint on the unknowns, stated or hidden, or a quantity that is kept.
pub struct ConstraintFormula {
    /// The equation that it comes from.
    pub equation: String,
    /// Other equations that were combined with it, and how often each was differentiated.
    pub with: Vec<(String, usize)>,
    /// Is it an equation whose derivatives were taken out by others?
    pub combined: bool,
    /// A constraint, or what is kept.
    pub role: Role,
    /// How often equations were differentiated for it.
    pub level: usize,
    /// How it reads.
    pub formula: String,
    /// Coefficients that it was divided by: it holds where none of them is zero.
    pub nonzero: Vec<String>,
    /// Why it still contains derivatives.
    pub kept: Option<String>,
}

/// Analyse, and tell what was found.
pub(super) fn examine(
    model: &Model,
    general: &GeneralModel,
    t0: f64,
    odd: &[(&'static str, WarningRecord)],
    nearby: Option<NearbyValues>,
) -> Result<GeneralCheck, Error> {
    let system = general.system();
    let mut initial = Initial { t: t0, ..general.initial.clone() };
    if let Some(known) = nearby {
        start_near(&mut initial, system, known);
    }
    let depth = Depth { ranks: model.ranks(), ..Depth::default() };
    let scope = Scope { depth, tend: model.interval().1.filter(|tend| *tend > t0) };
    let (found, mut findings) = match analyse(system, &initial, scope) {
        Err(error @ (AnalysisError::WrongLength { .. } | AnalysisError::NotFinite { .. })) => return Err(error.into()),
        Err(error) => {
            let findings = vec![Remark::impossible(&error)];
            (Err(error), findings)
        }
        Ok(analysis) => {
            let prepared = prepare_at(system, &analysis.at, Form::Auto);
            let findings = finding::all(&analysis, prepared.as_ref().err());
            let (constraints, definitions) = formulas(&analysis);
            let found = GeneralAnalysis {
                rates: derivatives(system, &analysis.at),
                form: prepared.ok().map(|prepared| prepared.unknowns.form),
                constraints,
                definitions,
                analysis,
            };
            (Ok(found), findings)
        }
    };
    let written = HighOrderSystem::new(&system.formulas);
    let at = found.as_ref().ok().map(|found: &GeneralAnalysis| &found.analysis.at);
    let orders = orders::examine(system, &written, t0, at, model.ranks());
    if matches!(&orders, Some(Ok(found)) if !found.agrees()) {
        findings.push(Remark::unclear_order());
    }
    let linear = linear::examine(system, &written, &initial, model.ranks());
    let graph = &system.first.graph;
    let given = system.formulas.states.iter().zip(&initial.states);
    Ok(GeneralCheck {
        found,
        findings: finding::sorted(findings, model, odd),
        sizes: SystemSizes {
            states: system.formulas.states.len(),
            equations: system.formulas.equations.len(),
            invariants: system.formulas.invariants.len(),
            unknowns: system.dim(),
            rows: system.rows(),
        },
        with_time: graph.needed(&system.first.equations).binary_search(&system.first.t).is_ok(),
        open: given.filter(|(_, start)| **start == Start::Unknown).map(|(name, _)| name.clone()).collect(),
        orders,
        unknowns: model.for_run(&Settings::default()).1.map(str::to_string),
        linear,
        control: control::of_general(general, model.ranks()),
    })
}

/// Guesses by name for a mode that is not the first.
fn start_near(initial: &mut Initial, system: &System, known: NearbyValues) {
    let formulas = &system.formulas;
    initial.states = formulas.states.iter().map(|name| near(known, name)).collect();
    let highest = formulas.orders.iter().copied().max().unwrap_or(0);
    // derivatives that are unknowns
    let derivatives = (1..highest).map(|order| {
        formulas.states.iter().map(|name| near(known, &format!("{name}{}", "'".repeat(order as usize)))).collect()
    });
    initial.derivatives = derivatives.collect();
}

/// The constraints with their formulas, those that are stated first, and what the formulas share.
fn formulas(analysis: &Analysis) -> (Vec<ConstraintFormula>, Vec<(String, String)>) {
    let Some((array, found)) = analysis.array.as_ref().zip(analysis.restrictions.as_ref()) else {
        return Default::default();
    };
    let mut graph = found.graph.clone();
    let residuals: Vec<Option<Expr>> = found.all.iter().map(|c| shortened(&mut graph, array, c.residual)).collect();
    // formulas, then the coefficients that must not vanish
    let nonzero: Vec<Expr> = found.all.iter().flat_map(|c| c.nonzero.iter().copied()).collect();
    let shown: Vec<Expr> = residuals.iter().flatten().copied().chain(nonzero.iter().copied()).collect();
    let listing = graph.listing(&shown);
    let (formulas, coefficients) = listing.formulas.split_at(listing.formulas.len() - nonzero.len());
    let (mut formulas, mut coefficients) = (formulas.iter().cloned(), coefficients.iter().cloned());
    let told = found.all.iter().zip(residuals).map(|(c, short)| {
        let formula = match short.and_then(|_| formulas.next()) {
            Some(formula) if c.role == Role::Invariant => format!("{formula} = constant"),
            Some(formula) => format!("0 = {formula}"),
            None => too_long(&graph, c.residual),
        };
        let (equation, with) =
            c.equations.split_first().map_or_else(Default::default, |(first, rest)| (first.0.clone(), rest.to_vec()));
        ConstraintFormula {
            equation,
            with,
            combined: c.combined,
            role: c.role,
            level: c.level,
            formula,
            nonzero: coefficients.by_ref().take(c.nonzero.len()).collect(),
            kept: c.kept.as_ref().map(ToString::to_string),
        }
    });
    (told.collect(), listing.definitions)
}
