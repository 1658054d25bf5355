//! Why a search for a boundary value problem's solution ended, in the words of the problem: names instead of rows.

use super::curve::Curve;
use super::error::{BoundaryError, Divergence, Unmet};
use super::interval::LinearisationFailure;
use super::linearised::{Determination, ends};
use super::newton::Stuck;
use super::scheme::K;
use super::solve::BoundarySearch;
use crate::solution::Ended;

/// Conditions may be off by so many tolerances of the values they contain, if there are more of them than needed.
const OFF: f64 = 10.0;

impl BoundarySearch<'_> {
    /// Why there is no solution, as it is told.
    pub(super) fn failed(&mut self, stuck: Stuck, needed: usize) -> BoundaryError {
        let degrees = self.system.values.d;
        let free_end = self.problem.free_end;
        match stuck {
            Stuck::Failure(LinearisationFailure::Undefined { t }) => BoundaryError::Undefined { t },
            Stuck::Failure(LinearisationFailure::Singular { t }) => BoundaryError::ConstraintsSingular { t },
            Stuck::Collapsed { length } => BoundaryError::Collapsed { length },
            Stuck::Interrupted => BoundaryError::Interrupted,
            Stuck::Singular { determined } => {
                let free = self.free(&determined);
                let given = self.conditions.len();
                if given < needed {
                    return BoundaryError::TooFew { given, needed, degrees, free_end, free };
                }
                let conditions = determined.dependent.iter().map(|&i| self.conditions.names[i].clone()).collect();
                BoundaryError::Singular { rank: determined.rank, needed, degrees, free_end, conditions, free }
            }
            Stuck::Diverged { curve, iterations, residual, row: (interval, row), ends, undefined } => {
                let (equation, t) = self.row(&curve, interval, row);
                let conditions = self.contradiction(&curve, &ends);
                let intervals = curve.intervals();
                let partial = Box::new(self.result(&curve, "a guess", Ended::ByFailure));
                let account = Divergence { iterations, intervals, residual, equation, t, conditions, undefined };
                BoundaryError::NotConverged { account, partial }
            }
        }
    }

    /// What can be moved, as it is told.
    fn free(&self, determined: &Determination) -> Vec<String> {
        let own = self.system.own();
        let told = |&(is_last, j): &(bool, Option<usize>)| match j {
            None => Some("the end time".to_string()),
            Some(j) if j < own => {
                Some(format!("{} at the {}", self.system.names()[j], if is_last { "end" } else { "start" }))
            }
            Some(_) => None,
        };
        determined.free.iter().filter_map(told).collect()
    }

    /// Equation and time of a row of an interval.
    fn row(&self, curve: &Curve, interval: usize, row: usize) -> (String, f64) {
        let rows: Vec<usize> = self.system.constraint_rows().collect();
        let a = rows.len();
        if let Some(row) = row.checked_sub(K * a) {
            let d = self.system.values.d.max(1);
            let t = curve.time(curve.tau(interval, self.scheme.gauss[(row / d).min(K - 1)]));
            return ("a differential equation".to_string(), t);
        }
        let t = curve.time(curve.tau(interval, self.scheme.lobatto[row / a + 1]));
        let (equation, level, _) = self.system.constraint(rows[row % a]);
        (if level == 0 { equation.to_string() } else { format!("{equation}, differentiated {level} times") }, t)
    }

    /// Do the conditions hold, where there are more than needed?
    pub(super) fn contradiction(&mut self, curve: &Curve, residuals: &[f64]) -> Vec<Unmet> {
        let Ok((first, last)) = ends(&mut self.system, curve) else { return Vec::new() };
        let B = self.conditions.slopes(&first, &last);
        let n = curve.n;
        let (rtol, atol) = self.tolerances.iter().fold((0.0_f64, 0.0_f64), |w, t| (w.0.max(t.0), w.1.max(t.1)));
        let allowed = |i: usize| {
            let row = B.row(i);
            let of =
                |y: &[f64], by: &[f64]| by.iter().zip(y).map(|(b, y)| b.abs() * (atol + rtol * y.abs())).sum::<f64>();
            of(&first.y, &row[..n]) + of(&last.y, &row[n..2 * n]) + row[2 * n].abs() * (atol + rtol * last.t.abs())
        };
        let off = |(i, residual): (usize, &f64)| {
            let name = self.conditions.names[i].clone();
            (residual.abs() > OFF * allowed(i).max(f64::MIN_POSITIVE))
                .then_some(Unmet { name, residual: residual.abs() })
        };
        residuals.iter().enumerate().filter_map(off).collect()
    }
}
