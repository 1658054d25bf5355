//! Which runs are made: every combination of method, formulation and tolerance that the catalogue allows.

use super::ComparisonSettings;
use crate::error::Error;
use crate::options::{MethodOptions, OptionValue, OptionValues, SCHEMA};
use crate::steps::AUTO;
use daedal::catalogue::{self, Entry};
use daedal::dae::Form;
use daedal::formulation::Formulation;
use daedal::motion::Sizes;

/// The word for everything.
const ALL: &str = "all";
/// Methods that are compared in all formulations: those in which formulations differ most.
const IN_ALL: [&str; 2] = ["radau", "bdf"];
/// Not among them unless they are asked for: the one keeps nothing, the other is for equations that contradict each other.
const UNUSUAL: [&str; 2] = ["ode", "least-squares"];
/// Methods with steps of one size, which do not know a tolerance.
const CONSTANT_STEPS: [&str; 3] = ["rattle", "lobatto", "alpha"];

/// What is to be run.
pub struct ComparisonPlan {
    /// By method, formulation and tolerance.
    pub runs: Vec<PlannedRun>,
    /// What was left out, and why.
    pub notes: Vec<String>,
}

/// A method with a formulation and a tolerance.
#[derive(Clone, Debug)]
pub struct PlannedRun {
    /// How results call it: its name, and the options that were given.
    pub label: String,
    /// Name of the method, or `auto`.
    pub method: &'static str,
    /// Name of the formulation or form; none where the method decides.
    pub formulation: Option<&'static str>,
    pub tolerance: f64,
    pub options: MethodOptions,
}

impl PlannedRun {
    /// With the usual options.
    pub fn of(method: &'static str, formulation: Option<&'static str>, tolerance: f64) -> Self {
        PlannedRun { label: method.to_string(), method, formulation, tolerance, options: MethodOptions::default() }
    }

    /// Does the program choose?
    pub fn is_auto(&self) -> bool {
        self.method == AUTO
    }

    /// How results call the formulation.
    pub fn formulation(&self) -> &'static str {
        self.formulation.unwrap_or(AUTO)
    }
}

/// What kind of system is compared.
#[derive(Clone, Copy)]
pub enum Compared<'s> {
    Motion(&'s Sizes),
    General,
    /// Some modes have equations of motion, or none has.
    Modes {
        motion: bool,
    },
}

impl Compared<'_> {
    /// Methods of the catalogue that solve it, `auto` first.
    fn methods(self) -> Vec<&'static str> {
        let own: Vec<&'static str> = match self {
            Compared::Motion(_) | Compared::Modes { motion: true } => {
                catalogue::all().iter().map(|entry| entry.name).collect()
            }
            Compared::General => {
                let alone = catalogue::of_systems().iter().map(|method| method.name);
                catalogue::general().chain(alone).collect()
            }
            Compared::Modes { motion: false } => catalogue::general().collect(),
        };
        [AUTO].into_iter().chain(own).collect()
    }

    /// Those that are compared unless others are named.
    fn usual_methods(self) -> Vec<&'static str> {
        let mut all = self.methods();
        if let Compared::Modes { .. } = self {
            // every switch would begin with a search for their step
            all.retain(|name| !CONSTANT_STEPS.contains(name));
        }
        all
    }

    /// Formulations that a method takes.
    fn formulations(self, method: &str) -> Vec<&'static str> {
        match self {
            _ if method == AUTO => vec![AUTO],
            Compared::Motion(_) => catalogue::find(method).map_or(Vec::new(), |entry| entry.formulations.to_vec()),
            Compared::General if catalogue::find(method).is_none() => vec![AUTO],
            Compared::General => Form::ALL.map(Form::name).to_vec(),
            Compared::Modes { motion: true } => vec![AUTO],
            Compared::Modes { motion: false } => Form::ALL.map(Form::name).to_vec(),
        }
    }

    /// The formulations of a method that are compared if none are named.
    fn usual(self, method: &str) -> Vec<&'static str> {
        let all = self.formulations(method);
        match self {
            Compared::Motion(sizes) => {
                let entry: Option<&Entry> = catalogue::find(method);
                if !IN_ALL.contains(&method) {
                    return entry.map_or(all, |entry| vec![entry.usual().name()]);
                }
                let with_invariants = "psf+i";
                let possible =
                    |name: &&str| !UNUSUAL.contains(name) && (*name != with_invariants || sizes.invariants > 0);
                all.into_iter().filter(possible).collect()
            }
            Compared::General if IN_ALL.contains(&method) => {
                all.into_iter().filter(|name| !UNUSUAL.contains(name)).collect()
            }
            _ => vec![AUTO],
        }
    }

    /// All formulations by name.
    fn known(self) -> Vec<&'static str> {
        match self {
            Compared::Motion(_) => Formulation::ALL.map(Formulation::name).to_vec(),
            Compared::Modes { motion: true } => vec![AUTO],
            Compared::General | Compared::Modes { motion: false } => Form::ALL.map(Form::name).to_vec(),
        }
    }
}

/// Resolve names, and leave out what does not fit together.
pub fn plan(settings: &ComparisonSettings, compared: Compared) -> Result<ComparisonPlan, Error> {
    let methods: Vec<Spec> = match &settings.methods[..] {
        [] => compared.usual_methods().into_iter().map(Spec::of).collect(),
        names => specs(names, compared)?,
    };
    let formulations: Option<Vec<&'static str>> = match &settings.formulations[..] {
        [] => None,
        names => Some(chosen("formulation", names, &compared.known())?),
    };
    let mut plan = ComparisonPlan { runs: Vec::new(), notes: Vec::new() };
    for Spec { label, method, options } in methods {
        let wanted: Vec<&'static str> = match &formulations {
            None => compared.usual(method),
            Some(_) if method == AUTO => vec![AUTO],
            Some(asked) => {
                let takes = compared.formulations(method);
                asked.iter().copied().filter(|one| takes.contains(one)).collect()
            }
        };
        if wanted.is_empty() {
            let takes = compared.formulations(method).join(", ");
            plan.notes.push(format!("{label} is left out: it takes the formulations {takes}"));
        }
        for formulation in wanted {
            let formulation = (method != AUTO).then_some(formulation);
            let run = |&tolerance: &f64| {
                let (label, options) = (label.clone(), options.clone());
                PlannedRun { label, method, formulation, tolerance, options }
            };
            plan.runs.extend(settings.tolerances.iter().map(run));
        }
    }
    if plan.runs.is_empty() { Err(Error::NothingToCompare { notes: plan.notes }) } else { Ok(plan) }
}

/// A method with options of its own.
struct Spec {
    label: String,
    method: &'static str,
    options: MethodOptions,
}

impl Spec {
    fn of(method: &'static str) -> Self {
        Spec { label: method.to_string(), method, options: MethodOptions::default() }
    }
}

/// Methods by their names, each once, in the order in which they are named; options follow behind colons, as in `radau:stages=auto`.
fn specs(names: &[String], compared: Compared) -> Result<Vec<Spec>, Error> {
    let known = compared.methods();
    let mut found: Vec<Spec> = Vec::new();
    for label in names.iter().map(|name| name.trim()) {
        if label == ALL {
            return Ok(known.into_iter().map(Spec::of).collect());
        }
        let mut words = label.split(':');
        let name = words.next().unwrap_or_default();
        let method = chosen("method", &[name.to_string()], &known)?[0];
        let mut options = MethodOptions::default();
        for word in words {
            let (key, value) = word.split_once('=').unwrap_or((word, "true"));
            options
                .set(key, value_of(key, value))
                .map_err(|cause| Error::BadSpec { spec: label.to_string(), cause })?;
        }
        if !found.iter().any(|other| other.label == label) {
            found.push(Spec { label: label.to_string(), method, options });
        }
    }
    Ok(found)
}

/// The value of an option from a word.
fn value_of(key: &str, word: &str) -> OptionValue {
    let values = SCHEMA.iter().find(|option| option.key == key).map(|option| option.values);
    match (values, word.parse()) {
        (Some(OptionValues::Flag), _) => OptionValue::Flag(word == "true"),
        (Some(OptionValues::Words(_)), _) | (_, Err(_)) => OptionValue::Word(word.to_string()),
        (_, Ok(number)) => OptionValue::Number(number),
    }
}

/// Things by their names, each once, in the order in which they are named.
fn chosen(kind: &'static str, names: &[String], known: &[&'static str]) -> Result<Vec<&'static str>, Error> {
    let mut found: Vec<&'static str> = Vec::new();
    for name in names.iter().map(|name| name.trim()) {
        if name == ALL {
            return Ok(known.to_vec());
        }
        let Some(one) = known.iter().copied().find(|one| *one == name) else {
            let known = known.iter().map(ToString::to_string).collect();
            return Err(Error::UnknownName { kind, name: name.to_string(), known });
        };
        if !found.contains(&one) {
            found.push(one);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(methods: &[&str], formulations: &[&str], compared: Compared) -> Result<ComparisonPlan, Error> {
        let names = |list: &[&str]| list.iter().map(ToString::to_string).collect();
        let (methods, formulations) = (names(methods), names(formulations));
        let settings =
            ComparisonSettings { methods, formulations, tolerances: vec![1e-3, 1e-4], ..ComparisonSettings::default() };
        plan(&settings, compared)
    }

    fn sizes(invariants: usize) -> Sizes {
        Sizes { invariants, ..Sizes::default() }
    }

    fn pairs(plan: &ComparisonPlan) -> Vec<(&str, &'static str)> {
        let mut pairs: Vec<_> = plan.runs.iter().map(|run| (run.label.as_str(), run.formulation())).collect();
        pairs.dedup();
        pairs
    }

    #[test]
    fn by_default_every_method_is_there_and_some_in_all_formulations() {
        let Ok(plan) = planned(&[], &[], Compared::Motion(&sizes(1))) else { panic!("there is a default") };
        for entry in catalogue::all() {
            let count = pairs(&plan).iter().filter(|(method, _)| *method == entry.name).count();
            assert_eq!(count, if IN_ALL.contains(&entry.name) { entry.formulations.len() - 1 } else { 1 });
        }
        assert_eq!(pairs(&plan)[0], ("auto", "auto"));
        assert!(plan.runs.iter().all(|run| run.formulation() != "ode"));
        let Ok(without) = planned(&[], &[], Compared::Motion(&sizes(0))) else { panic!("there is a default") };
        assert!(without.runs.iter().all(|run| run.formulation() != "psf+i"));
    }

    #[test]
    fn general_systems_and_modes_have_methods_and_forms_of_their_own() {
        let Ok(plan) = planned(&[], &[], Compared::General) else { panic!("there is a default") };
        let found = pairs(&plan);
        assert!(found.contains(&("radau", "array")) && found.contains(&("exact", "auto")));
        assert!(!found.iter().any(|(method, form)| *method == "geoms" || *form == "least-squares"));
        let Ok(plan) = planned(&[], &[], Compared::Modes { motion: false }) else { panic!("there is a default") };
        assert!(pairs(&plan).iter().all(|(method, form)| *form == "auto" && *method != "geoms" && *method != "exact"));
        let Ok(plan) = planned(&[], &[], Compared::Modes { motion: true }) else { panic!("there is a default") };
        assert!(pairs(&plan).contains(&("geoms", "auto")) && !pairs(&plan).contains(&("rattle", "auto")));
        let unknown = planned(&["geoms"], &[], Compared::General);
        assert!(matches!(unknown, Err(Error::UnknownName { kind: "method", .. })));
    }

    #[test]
    fn methods_may_have_options() {
        let Ok(plan) = planned(&["radau:stages=auto", "radau"], &["psf"], Compared::Motion(&sizes(0))) else {
            panic!("radau has stages")
        };
        assert_eq!(pairs(&plan), [("radau:stages=auto", "psf"), ("radau", "psf")]);
        let wrong = planned(&["radau:stages=6"], &[], Compared::General);
        assert!(wrong.is_err_and(|error| error.to_string().contains("radau:stages=6")));
    }

    #[test]
    fn only_what_methods_take_is_run_and_the_rest_is_told() {
        let sizes = sizes(0);
        let Ok(plan) = planned(&["radau", "geoms"], &["ggl", "ode"], Compared::Motion(&sizes)) else {
            panic!("radau takes them")
        };
        assert_eq!(pairs(&plan), [("radau", "ggl"), ("radau", "ode")]);
        assert_eq!(plan.runs.len(), 4);
        assert!(plan.notes[0].contains("geoms is left out") && plan.notes[0].contains("psf, psf+i, p1"));
        let nothing = planned(&["geoms"], &["ggl"], Compared::Motion(&sizes));
        assert!(matches!(nothing, Err(Error::NothingToCompare { .. })));
    }
}
