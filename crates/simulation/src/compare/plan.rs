//! Which runs are made: every combination of method, formulation and tolerance that the catalogue allows.

use super::ComparisonSettings;
use crate::error::Error;
use daedal::catalogue::{self, Entry};
use daedal::formulation::Formulation;
use daedal::motion::Sizes;

/// The word for everything.
const ALL: &str = "all";
/// Methods that are compared in all formulations: those in which formulations differ most.
const IN_ALL: [&str; 2] = ["radau", "bdf"];
/// Not among them unless it is asked for: it keeps nothing.
const UNUSUAL: &str = "ode";

/// What is to be run.
pub struct ComparisonPlan {
    /// By method, formulation and tolerance.
    pub runs: Vec<PlannedRun>,
    /// What was left out, and why.
    pub notes: Vec<String>,
}

/// A method with a formulation and a tolerance.
#[derive(Clone, Copy)]
pub struct PlannedRun {
    pub entry: &'static Entry,
    pub formulation: Formulation,
    pub tolerance: f64,
}

/// Resolve names, and leave out what does not fit together.
pub fn plan(settings: &ComparisonSettings, sizes: &Sizes) -> Result<ComparisonPlan, Error> {
    let methods: Vec<&'static Entry> = match &settings.methods[..] {
        [] => catalogue::all().iter().collect(),
        names => chosen("method", names, catalogue::all().iter().collect(), |entry| entry.name)?,
    };
    let formulations: Option<Vec<Formulation>> = match &settings.formulations[..] {
        [] => None,
        names => Some(chosen("formulation", names, Formulation::ALL.to_vec(), Formulation::name)?),
    };
    let mut plan = ComparisonPlan { runs: Vec::new(), notes: Vec::new() };
    for entry in methods {
        let wanted: Vec<Formulation> = match &formulations {
            None => usual(entry, sizes),
            Some(asked) => asked.iter().copied().filter(|one| entry.formulations.contains(&one.name())).collect(),
        };
        if wanted.is_empty() {
            let takes = entry.formulations.join(", ");
            plan.notes.push(format!("{} is left out: it takes the formulations {takes}", entry.name));
        }
        for formulation in wanted {
            plan.runs.extend(settings.tolerances.iter().map(|&tolerance| PlannedRun { entry, formulation, tolerance }));
        }
    }
    if plan.runs.is_empty() { Err(Error::NothingToCompare { notes: plan.notes }) } else { Ok(plan) }
}

/// The formulations of a method that are compared if none are named.
fn usual(entry: &Entry, sizes: &Sizes) -> Vec<Formulation> {
    if !IN_ALL.contains(&entry.name) {
        return vec![entry.usual()];
    }
    let possible = |one: &Formulation| {
        let with_invariants = matches!(one, Formulation::ProjectedWithInvariants(_));
        one.name() != UNUSUAL && (!with_invariants || sizes.invariants > 0)
    };
    let named = |name: &&str| Formulation::ALL.into_iter().find(|one| one.name() == *name);
    entry.formulations.iter().filter_map(named).filter(possible).collect()
}

/// Things by their names, each once, in the order in which they are named.
fn chosen<T: Copy>(
    kind: &'static str,
    names: &[String],
    known: Vec<T>,
    name_of: impl Fn(T) -> &'static str,
) -> Result<Vec<T>, Error> {
    let mut found: Vec<T> = Vec::new();
    for name in names.iter().map(|name| name.trim()) {
        if name == ALL {
            return Ok(known);
        }
        let Some(one) = known.iter().copied().find(|one| name_of(*one) == name) else {
            let known = known.into_iter().map(|one| name_of(one).to_string()).collect();
            return Err(Error::UnknownName { kind, name: name.to_string(), known });
        };
        if !found.iter().any(|other| name_of(*other) == name) {
            found.push(one);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(methods: &[&str], formulations: &[&str], invariants: usize) -> Result<ComparisonPlan, Error> {
        let names = |list: &[&str]| list.iter().map(ToString::to_string).collect();
        let (methods, formulations) = (names(methods), names(formulations));
        let settings =
            ComparisonSettings { methods, formulations, tolerances: vec![1e-3, 1e-4], ..ComparisonSettings::default() };
        plan(&settings, &Sizes { invariants, ..Sizes::default() })
    }

    fn pairs(plan: &ComparisonPlan) -> Vec<(&'static str, &'static str)> {
        let mut pairs: Vec<_> = plan.runs.iter().map(|run| (run.entry.name, run.formulation.name())).collect();
        pairs.dedup();
        pairs
    }

    #[test]
    fn by_default_every_method_is_there_and_some_in_all_formulations() {
        let Ok(plan) = planned(&[], &[], 1) else { panic!("there is a default") };
        for entry in catalogue::all() {
            let count = pairs(&plan).iter().filter(|(method, _)| *method == entry.name).count();
            assert_eq!(count, if IN_ALL.contains(&entry.name) { entry.formulations.len() - 1 } else { 1 });
        }
        assert!(plan.runs.iter().all(|run| run.formulation.name() != UNUSUAL));
        let Ok(without) = planned(&[], &[], 0) else { panic!("there is a default") };
        assert!(without.runs.iter().all(|run| run.formulation.name() != "psf+i"));
    }

    #[test]
    fn only_what_methods_take_is_run_and_the_rest_is_told() {
        let Ok(plan) = planned(&["radau", "geoms"], &["ggl", "ode"], 0) else { panic!("radau takes them") };
        assert_eq!(pairs(&plan), [("radau", "ggl"), ("radau", "ode")]);
        assert_eq!(plan.runs.len(), 4);
        assert!(plan.notes[0].contains("geoms is left out") && plan.notes[0].contains("psf, psf+i, p1"));
        let nothing = planned(&["geoms"], &["ggl"], 0);
        assert!(matches!(nothing, Err(Error::NothingToCompare { .. })));
    }
}
