//! What can be known about a general system before it is solved.

mod finding;
mod object;
mod text;

use crate::check::Examined;
use crate::failure::Failure;
use crate::setup::{General, Setup};
use daedal::analysis::Severity;
use daedal::dae::analysis::{Analysis, Scope, analyse, shortened, too_long};
use daedal::dae::hidden::Role;
use daedal::dae::{AnalysisError, Form, derivatives, prepare_at};
use daedal::graph::Expr;
use finding::Finding;

/// A system with what was found about it.
struct Checked<'s> {
    setup: &'s Setup,
    general: &'s General,
    /// Why there is nothing to tell, or what there is.
    found: Result<Found, AnalysisError>,
    findings: Vec<Finding>,
}

/// What was found at a consistent point.
struct Found {
    analysis: Analysis,
    /// Derivatives of the unknowns there.
    rates: Vec<f64>,
    /// The form that `solve` takes if nothing is said.
    form: Option<Form>,
    constraints: Vec<Constraint>,
    /// Subexpressions that several formulas share.
    definitions: Vec<(String, String)>,
}

/// A constraint on the unknowns, stated or hidden, or a quantity that is kept.
struct Constraint {
    equation: String,
    kind: Kind,
    /// How often equations were differentiated for it.
    level: usize,
    formula: String,
}

/// What a formula is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Constraint,
    Invariant,
}

/// Analyse, and tell what was found.
pub fn examine(setup: &Setup, general: &General) -> Result<Examined, Failure> {
    let tend = Some(general.tend).filter(|tend| *tend > general.initial.t);
    let scope = Scope { tend, ..Scope::default() };
    let checked = match analyse(&general.system, &general.initial, scope) {
        Err(error @ (AnalysisError::WrongLength { .. } | AnalysisError::NotFinite { .. })) => return Err(error.into()),
        Err(error) => {
            let findings = finding::sorted(vec![Finding::impossible(&error)], setup);
            Checked { setup, general, found: Err(error), findings }
        }
        Ok(analysis) => {
            let prepared = prepare_at(&general.system, &analysis.at, Form::Auto);
            let findings = finding::sorted(finding::all(&analysis, prepared.as_ref().err()), setup);
            let (constraints, definitions) = formulas(&analysis);
            let found = Found {
                rates: derivatives(&general.system, &analysis.at),
                form: prepared.ok().map(|prepared| prepared.unknowns.form),
                constraints,
                definitions,
                analysis,
            };
            Checked { setup, general, found: Ok(found), findings }
        }
    };
    let impossible = checked.findings.iter().filter(|finding| finding.is_impossible());
    let reasons: Vec<String> = impossible.map(|finding| finding.message.clone()).collect();
    let warnings = checked.findings.iter().filter(|finding| finding.severity == Severity::Warning);
    let warnings = warnings.map(|finding| finding.message.clone()).collect();
    Ok(Examined {
        warnings,
        text: text::text(&checked),
        object: object::object(&checked),
        impossible: (!reasons.is_empty()).then(|| Failure::Unsolvable { model: setup.name.clone(), reasons }),
    })
}

/// The constraints with their formulas, those that are stated first, and what the formulas share.
fn formulas(analysis: &Analysis) -> (Vec<Constraint>, Vec<(String, String)>) {
    let Some(array) = &analysis.array else { return Default::default() };
    let kind = |role: Role| match role {
        Role::Constraint => Some(Kind::Constraint),
        Role::Invariant => Some(Kind::Invariant),
        Role::Definition => None,
    };
    let mut told: Vec<_> = array.constraints.iter().filter_map(|c| Some((c, kind(c.role)?))).collect();
    told.sort_by_key(|(c, kind)| (*kind == Kind::Invariant, c.level));
    let mut graph = array.graph.clone();
    let residuals: Vec<Option<Expr>> = told.iter().map(|(c, _)| shortened(&mut graph, array, c.residual)).collect();
    let listing = graph.listing(&residuals.iter().flatten().copied().collect::<Vec<_>>());
    let mut formulas = listing.formulas.into_iter();
    let told = told.into_iter().zip(residuals).map(|((c, kind), short)| {
        let formula = match short.and_then(|_| formulas.next()) {
            Some(formula) if kind == Kind::Invariant => format!("{formula} = constant"),
            Some(formula) => format!("0 = {formula}"),
            None => too_long(&graph, c.residual),
        };
        Constraint { equation: c.equation.clone(), kind, level: c.level, formula }
    });
    (told.collect(), listing.definitions)
}
