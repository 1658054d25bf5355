//! Findings about a general system, with their severity and a word that programs can rely on.

use crate::model::Model;
use daedal::analysis::Severity;
use daedal::dae::analysis::{self, Analysis, ClaimVerdict, HiddenComparison};
use daedal::dae::{AnalysisError, PrepareError};
use daedal_run::WarningRecord;

/// Something worth telling.
pub struct Remark {
    /// How bad it is.
    pub severity: Severity,
    /// A word that programs can rely on.
    pub code: &'static str,
    /// What it is.
    pub message: String,
}

impl Remark {
    /// There is no consistent point.
    pub(super) fn impossible(error: &AnalysisError) -> Self {
        let code = match error {
            AnalysisError::Undefined { .. } => "undefined",
            AnalysisError::IndexNotFound { .. } => "index_not_found",
            _ => "no_consistent_start",
        };
        Remark { severity: Severity::Impossible, code, message: error.to_string() }
    }
}

impl Remark {
    /// Degrees of freedom of the system and of its forms of first order differ.
    pub(super) fn unclear_order() -> Self {
        let message = "the equations as written and their forms of first order have different degrees of freedom: a rank is not clear; scale the equations or the time, or set rank_tolerance";
        Remark { severity: Severity::Warning, code: "unclear_order", message: message.to_string() }
    }
}

/// All findings about the system.
pub fn all(analysis: &Analysis, unprepared: Option<&PrepareError>) -> Vec<Remark> {
    let mut findings: Vec<Remark> = analysis.findings.iter().map(of_analysis).collect();
    let values = analysis.at.values;
    let undetermined = matches!(unprepared, Some(PrepareError::Analysis(AnalysisError::Undetermined { .. })));
    if let Some(error) = unprepared.filter(|_| undetermined) {
        findings.push(Remark { severity: Severity::Impossible, code: "undetermined", message: error.to_string() });
    } else if let Some(error @ PrepareError::Analysis(AnalysisError::NotInvariant { .. })) = unprepared {
        findings.push(Remark { severity: Severity::Impossible, code: "not_invariant", message: error.to_string() });
    } else if let Some(error) = unprepared {
        let message = format!("no form of the equations can be integrated from here: {error}");
        findings.push(Remark { severity: Severity::Impossible, code: "no_form", message });
    }
    if values.u > 0 && !undetermined {
        let message = format!(
            "{}: any course of time is a solution, and what is declared free keeps its initial value",
            counted(
                values.u,
                "combination of unknowns is not determined",
                "combinations of unknowns are not determined"
            )
        );
        findings.push(Remark { severity: Severity::Note, code: "undetermined", message });
    }
    findings.extend(of_claims(&analysis.comparison));
    if !analysis.comparison.missing.is_empty() || analysis.comparison.further > 0 {
        let count = analysis.comparison.missing.len() + analysis.comparison.further;
        let message = format!(
            "{} among those that are stated",
            counted(count, "hidden constraint is not", "hidden constraints are not")
        );
        findings.push(Remark { severity: Severity::Note, code: "hidden_missing", message });
    }
    if values.v > 0 {
        let message = format!(
            "{}: a run checks that what is left out keeps agreeing with the others",
            counted(values.v, "equation is redundant", "equations are redundant")
        );
        findings.push(Remark { severity: Severity::Note, code: "redundant", message });
    }
    findings
}

/// Hidden constraints that are stated and do not follow.
pub fn of_claims(comparison: &HiddenComparison) -> Vec<Remark> {
    let wrong = comparison.claims.iter().filter_map(|claim| {
        if claim.verdict == ClaimVerdict::Implied {
            return None;
        }
        let code = claim_code(claim.verdict);
        let message = format!("the stated hidden constraint {}: 0 = {} {}", claim.name, claim.formula, claim.verdict);
        Some(Remark { severity: Severity::Warning, code, message })
    });
    wrong.collect()
}

/// A word that programs can rely on.
pub fn claim_code(verdict: ClaimVerdict) -> &'static str {
    match verdict {
        ClaimVerdict::Implied => "implied",
        ClaimVerdict::Contradicting { .. } => "hidden_contradicts",
        ClaimVerdict::NotImplied { .. } => "hidden_not_implied",
        ClaimVerdict::WithDerivatives => "hidden_with_derivatives",
        ClaimVerdict::Undefined => "hidden_undefined",
    }
}

/// With what is odd about the file and the places of equations, the worst first.
pub fn sorted(mut findings: Vec<Remark>, model: &Model, odd: &[(&'static str, WarningRecord)]) -> Vec<Remark> {
    for &(code, ref warning) in odd {
        findings.push(Remark { severity: Severity::Warning, code, message: warning.to_string() });
    }
    for finding in &mut findings {
        finding.message = model.places().told(&finding.message);
    }
    findings.sort_by_key(|finding| finding.severity);
    findings
}

fn of_analysis(finding: &analysis::Finding) -> Remark {
    use analysis::Finding as Told;
    let (severity, code) = match finding {
        Told::StructuralIndexDiffers { .. } => (Severity::Warning, "structural_index"),
        Told::StructureMisleads => (Severity::Note, "structure_misleads"),
        Told::SingularPoint { .. } => (Severity::Warning, "singular_point"),
        Told::Changes { .. } => (Severity::Warning, "changes"),
        Told::UnclearRank { .. } => (Severity::Warning, "unclear_rank"),
        Told::NotConfirmed { .. } => (Severity::Note, "unconfirmed"),
        Told::SlowConvergence { .. } => (Severity::Warning, "slow_convergence"),
        Told::Trajectory { .. } => (Severity::Warning, "trajectory"),
        Told::NoFormulas { .. } => (Severity::Note, "no_formulas"),
    };
    Remark { severity, code, message: finding.to_string() }
}

/// A number of things.
fn counted(n: usize, one: &str, several: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { several })
}
