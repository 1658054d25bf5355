//! Which model is meant: a model file or a reference problem, with its parameters set.

use crate::arguments::{Kernel, Model};
use crate::failure::Failure;
use crate::list::reference_problem;
use crate::places::Places;
use daedal::dae::{self, System};
use daedal::graph::{Compiler, Interpreted};
use daedal::motion::{Compiled, Formulas, Mechanism};
use daedal_model::{Defaults, HybridModel, Kind};
use daedal_native::Native;
use daedal_problems::Case;
use daedal_run::Warning;
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// A model with its parameters set.
pub struct Setup {
    pub name: String,
    pub description: String,
    pub source: String,
    /// All parameters, in the order of the model.
    pub parameters: Vec<(String, f64)>,
    /// The parameters that were set.
    pub changed: Vec<(String, f64)>,
    /// What a model file wishes for.
    pub defaults: Defaults,
    /// What is odd about the model, whatever is done with it.
    pub warnings: Vec<Warning>,
    /// What a trial run said against it, where one was made.
    pub doubts: Vec<Warning>,
    /// Where the equations stand in the file.
    pub places: Places,
    pub equations: Equations,
}

/// What is to be solved.
pub enum Equations {
    Motion(Box<Motion>),
    General(Box<General>),
    Hybrid(Box<Switched>),
}

/// Equations of motion.
pub struct Motion {
    pub case: Case,
    /// The formulas with the names of the parameters, where the model has any.
    pub formulas: Option<Formulas>,
}

/// A general system.
pub struct General {
    pub system: System,
    pub initial: dae::Initial,
    pub tend: f64,
}

/// A system with modes.
pub struct Switched {
    pub model: HybridModel,
    pub tend: f64,
    kernel: Kernel,
}

impl Switched {
    /// What evaluates the formulas.
    pub fn compiler(&self) -> Arc<dyn Compiler> {
        match self.kernel {
            Kernel::Tape => Arc::new(Interpreted),
            Kernel::Native | Kernel::Rust => Arc::new(Native),
        }
    }

    /// One mode as a model of its own.
    pub fn mode(&self, setup: &Setup, k: usize) -> Setup {
        let mode = &self.model.modes[k];
        Setup {
            name: mode.name.clone(),
            description: mode.description.clone().unwrap_or_default(),
            source: setup.source.clone(),
            parameters: setup.parameters.clone(),
            changed: setup.changed.clone(),
            defaults: setup.defaults.clone(),
            warnings: Vec::new(),
            doubts: Vec::new(),
            places: setup.places.clone(),
            equations: equations(mode.kind.clone(), self.kernel, self.tend, setup.defaults.h0),
        }
    }
}

impl Setup {
    /// The model that is named, with some parameters changed.
    pub fn resolve(model: &Model) -> Result<Self, Failure> {
        let name = |k: usize| model.set[k].0.replace(' ', "");
        if let Some(k) = (0..model.set.len()).find(|&k| (0..k).any(|j| name(j) == name(k))) {
            return Err(Failure::SetTwice { name: name(k) });
        }
        let mut setup = if is_file(&model.name) { from_file(model)? } else { from_problem(model)? };
        if let Some(t0) = model.t0.filter(|t0| *t0 != setup.t0()) {
            match &mut setup.equations {
                Equations::Motion(motion) => {
                    motion.case.initial.t = t0;
                    // they hold for the interval of the problem
                    motion.case.references.clear();
                }
                Equations::General(general) => general.initial.t = t0,
                Equations::Hybrid(switched) => switched.model.initial.t = t0,
            }
        }
        Ok(setup)
    }

    /// All that should be looked at, with a word that programs can rely on.
    pub fn told(&self) -> impl Iterator<Item = (&'static str, &Warning)> {
        let odd = self.warnings.iter().map(|warning| ("unused", warning));
        odd.chain(self.doubts.iter().map(|doubt| ("trial", doubt)))
    }

    /// Start of the interval.
    pub fn t0(&self) -> f64 {
        match &self.equations {
            Equations::Motion(motion) => motion.case.initial.t,
            Equations::General(general) => general.initial.t,
            Equations::Hybrid(switched) => switched.model.initial.t,
        }
    }

    /// End of the interval; not a number if the model does not say it.
    pub fn tend(&self) -> f64 {
        match &self.equations {
            Equations::Motion(motion) => motion.case.tend,
            Equations::General(general) => general.tend,
            Equations::Hybrid(switched) => switched.tend,
        }
    }

    /// Take another end.
    pub fn end_at(&mut self, end: f64) {
        match &mut self.equations {
            Equations::Motion(motion) => motion.case.tend = end,
            Equations::General(general) => general.tend = end,
            Equations::Hybrid(switched) => switched.tend = end,
        }
    }

    /// First step size that the model wishes for.
    pub fn h0(&self) -> Option<f64> {
        match &self.equations {
            Equations::Motion(motion) => motion.case.h0,
            Equations::General(_) | Equations::Hybrid(_) => self.defaults.h0,
        }
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
    let tend = read.time.map_or(f64::NAN, |(_, tend)| tend);
    let places = Places::of(&read.kind);
    let equations = equations(read.kind, model.kernel, tend, read.solve.h0);
    Ok(Setup {
        name: read.name,
        description: read.description.unwrap_or_default(),
        source: read.source.unwrap_or_default(),
        parameters: read.parameters,
        changed: model.set.clone(),
        defaults: read.solve,
        warnings: read.unused.iter().map(|unused| Warning::new(unused.to_string())).collect(),
        doubts: Vec::new(),
        places,
        equations,
    })
}

fn equations(kind: Kind, kernel: Kernel, tend: f64, h0: Option<f64>) -> Equations {
    match kind {
        Kind::Motion { formulas, initial, .. } => {
            let mechanism = compiled(&formulas, kernel);
            let case = Case { mechanism, initial: *initial, tend, h0, references: Vec::new() };
            Equations::Motion(Box::new(Motion { case, formulas: Some(*formulas) }))
        }
        Kind::Dae { formulas, initial, .. } => {
            let system = match kernel {
                Kernel::Tape => System::new(&formulas, Interpreted),
                Kernel::Native | Kernel::Rust => System::new(&formulas, Native),
            };
            Equations::General(Box::new(General { system, initial: *initial, tend }))
        }
        Kind::Hybrid(model) => Equations::Hybrid(Box::new(Switched { model: *model, tend, kernel })),
    }
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
        defaults: Defaults::default(),
        warnings: Vec::new(),
        doubts: Vec::new(),
        places: Places::default(),
        equations: Equations::Motion(Box::new(Motion { case, formulas })),
    })
}

/// Formulas with kernels of that kind.
fn compiled(formulas: &Formulas, kernel: Kernel) -> Box<dyn Mechanism + Send + Sync> {
    match kernel {
        Kernel::Tape => Box::new(Compiled::new(formulas, Interpreted)),
        Kernel::Native | Kernel::Rust => Box::new(Compiled::new(formulas, Native)),
    }
}
