//! What the files say beside formulas: names, parameters, initial values, interval. And how tests read them.

use daedal::motion::{Compiled, Form, Formulas, Layout, Mechanism};
use daedal::{Initial, Start};
use daedal_model::{Model, ModelKind};
use daedal_problems::{Case, ReferenceProblem, all};
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the model files.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models")
}

/// A model file, with some parameters changed.
pub fn read(name: &str, changes: &[(String, f64)]) -> Model {
    let path = folder().join(format!("{name}.toml"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Model::read(&format!("{name}.toml"), &text, changes).unwrap_or_else(|mistakes| panic!("{}", mistakes.lines()))
}

/// The equations of motion of a model.
pub fn motion(model: &Model) -> (&Formulas, &Initial) {
    match &model.kind {
        ModelKind::Motion { formulas, initial, .. } => (formulas, initial),
        ModelKind::Dae { .. } | ModelKind::Hybrid(_) => panic!("{} has no equations of motion", model.name),
    }
}

/// The same model as file and in Rust.
pub struct Pair {
    pub name: &'static str,
    pub case: Case,
    pub model: Model,
    pub compiled: Compiled,
}

impl Pair {
    pub fn new(problem: &'static ReferenceProblem, changes: &[(String, f64)]) -> Self {
        let model = read(problem.name, changes);
        let compiled = Compiled::new(motion(&model).0, daedal::graph::Interpreted);
        let case = problem.case_with(changes).expect("parameters of the problem");
        Pair { name: problem.name, case, model, compiled }
    }

    /// What is known about each variable at the start, in Rust and in the file.
    pub fn starts(&self) -> [Vec<Start>; 2] {
        let layout = Layout::new(self.case.mechanism.sizes(), Form::StrangenessFree, true);
        [&self.case.initial, motion(&self.model).1]
            .map(|initial| initial.values(&layout, &[]).expect("blocks that fit"))
    }
}

/// Every problem, with its default parameters and with each of them changed.
pub fn pairs() -> impl Iterator<Item = Pair> {
    all().iter().flat_map(|problem| {
        let changed = problem.parameters.iter().map(|&(name, value)| vec![(name.to_string(), 1.03 * value + 0.001)]);
        std::iter::once(vec![]).chain(changed).map(move |changes| Pair::new(problem, &changes))
    })
}

#[test]
fn every_problem_has_a_file_with_its_name_and_description() {
    for problem in all() {
        let model = read(problem.name, &[]);
        assert_eq!(model.name, problem.name);
        assert_eq!(model.description.as_deref(), Some(problem.description), "{}", problem.name);
        assert_eq!(model.source.as_deref(), Some(problem.source), "{}", problem.name);
    }
}

#[test]
fn variables_and_constraints_have_the_same_names_in_the_same_order() {
    for problem in all() {
        let pair = Pair::new(problem, &[]);
        assert_eq!(pair.compiled.sizes(), pair.case.mechanism.sizes(), "{}", pair.name);
        assert_eq!(pair.compiled.names(), pair.case.mechanism.names(), "{}", pair.name);
    }
}

#[test]
fn parameters_come_first_with_the_same_defaults() {
    for problem in all() {
        let model = read(problem.name, &[]);
        let wanted: Vec<(String, f64)> = problem.parameters.iter().map(|&(name, x)| (name.to_string(), x)).collect();
        assert!(model.parameters.starts_with(&wanted), "{}: {:?}", problem.name, model.parameters);
        assert!(model.structural.iter().all(|name| wanted.iter().all(|(known, _)| known != name)), "{}", problem.name);
    }
}

#[test]
fn initial_values_interval_and_first_step_are_the_same() {
    for pair in pairs() {
        let [rust, file] = pair.starts();
        assert_eq!(rust, file, "{}", pair.name);
        assert_eq!(pair.model.time, Some((pair.case.initial.t, pair.case.tend)), "{}", pair.name);
        assert_eq!(pair.model.solve.h0, pair.case.h0, "{}", pair.name);
    }
}

#[test]
fn every_file_in_the_folder_is_a_model() {
    let names: Vec<String> = fs::read_dir(folder())
        .expect("the models")
        .filter_map(|entry| entry.expect("a file").path().file_stem()?.to_str().map(ToString::to_string))
        .collect();
    assert!(names.len() >= all().len() + 2, "{names:?}");
    for name in names {
        assert_eq!(read(&name, &[]).name, name);
    }
}
