//! Which model is meant: a model file or a reference problem, with its parameters set.

use crate::arguments::{Kernel, Model};
use crate::failure::Failure;
use crate::list::reference_problem;
use daedal::graph::Interpreted;
use daedal::motion::{Compiled, Formulas, Mechanism};
use daedal_model::{Defaults, Kind};
use daedal_native::Native;
use daedal_problems::Case;
use std::fs;
use std::path::Path;

/// A model with its parameters set.
pub struct Setup {
    pub name: String,
    pub description: String,
    pub source: String,
    /// All parameters, in the order of the model.
    pub parameters: Vec<(String, f64)>,
    /// The parameters that were set.
    pub changed: Vec<(String, f64)>,
    pub case: Case,
    /// What a model file wishes for.
    pub defaults: Defaults,
    /// The formulas with the names of the parameters, where the model has any.
    pub formulas: Option<Formulas>,
}

impl Setup {
    /// The model that is named, with some parameters changed.
    pub fn resolve(model: &Model) -> Result<Self, Failure> {
        let mut setup = if is_file(&model.name) { from_file(model)? } else { from_problem(model)? };
        if let Some(t0) = model.t0.filter(|t0| *t0 != setup.case.initial.t) {
            setup.case.initial.t = t0;
            // they hold for the interval of the problem
            setup.case.references.clear();
        }
        Ok(setup)
    }
}

/// Does the name stand for a file?
fn is_file(name: &str) -> bool {
    let path = Path::new(name);
    let toml = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml"));
    toml || name.contains(['/', '\\']) || path.is_file()
}

fn from_file(model: &Model) -> Result<Setup, Failure> {
    let path = Path::new(&model.name);
    if model.kernel == Kernel::Rust {
        return Err(Failure::NoRust { path: path.into() });
    }
    let bytes = fs::read(path).map_err(|cause| Failure::Unreadable { path: path.into(), cause })?;
    let text = String::from_utf8(bytes).map_err(|cause| Failure::NotText { path: path.into(), cause })?;
    let read = daedal_model::Model::read(&model.name, &text, &model.set)
        .map_err(|mistakes| Failure::Model(Box::new(mistakes)))?;
    let Kind::Motion { formulas, initial, .. } = read.kind else {
        return Err(Failure::Dae { name: read.name });
    };
    let (_, tend) = read.time.unwrap_or((initial.t, f64::NAN));
    let case = Case {
        mechanism: compiled(&formulas, model.kernel),
        initial: *initial,
        tend,
        h0: read.solve.h0,
        references: Vec::new(),
    };
    Ok(Setup {
        name: read.name,
        description: read.description.unwrap_or_default(),
        source: read.source.unwrap_or_default(),
        parameters: read.parameters,
        changed: model.set.clone(),
        case,
        defaults: read.solve,
        formulas: Some(*formulas),
    })
}

fn from_problem(model: &Model) -> Result<Setup, Failure> {
    let problem = reference_problem(&model.name)?;
    let mut case =
        problem.case_with(&model.set).map_err(|cause| Failure::Parameter { problem: problem.name, cause })?;
    let formulas = case.mechanism.formulas();
    if let (Some(formulas), true) = (&formulas, model.kernel != Kernel::Rust) {
        case.mechanism = compiled(formulas, model.kernel);
    }
    let parameters: Vec<(String, f64)> = problem
        .parameters
        .iter()
        .map(|&(name, default)| {
            let set = model.set.iter().rfind(|(given, _)| given == name);
            (name.to_string(), set.map_or(default, |&(_, value)| value))
        })
        .collect();
    let changed = parameters.iter().zip(problem.parameters).filter(|((_, value), (_, default))| value != default);
    let changed = changed.map(|(parameter, _)| parameter.clone()).collect();
    Ok(Setup {
        name: problem.name.to_string(),
        description: problem.description.to_string(),
        source: problem.source.to_string(),
        parameters,
        changed,
        case,
        defaults: Defaults::default(),
        formulas,
    })
}

/// Formulas with kernels of that kind.
fn compiled(formulas: &Formulas, kernel: Kernel) -> Box<dyn Mechanism + Send + Sync> {
    match kernel {
        Kernel::Tape => Box::new(Compiled::new(formulas, Interpreted)),
        Kernel::Native | Kernel::Rust => Box::new(Compiled::new(formulas, Native)),
    }
}
