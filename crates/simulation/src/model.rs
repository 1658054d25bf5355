//! A model: a file, a text or a reference problem, with its parameters set. A value that any number of runs may share.

use crate::error::Error;
use crate::events;
use crate::places::EquationPlaces;
use crate::programs::ProgramCache;
use crate::reference;
use crate::trimmed::{self, TrimmedModel};
use daedal::BadOption;
use daedal::Initial;
use daedal::dae::{self, System};
use daedal::graph::{Compiler, Interpreted};
use daedal::linalg::{Matrices, RankRule};
use daedal::motion::{Compiled, Form, Formulas, Layout, Mechanism};
use daedal_model::{
    Defaults, HybridModel, ModelBoundary, ModelControl, ModelEvents, ModelKind, ModelPicture, ModelPlot, TableOfTime,
};
use daedal_native::Native;
use daedal_problems::{ReferenceProblem, ReferenceValues};
use daedal_run::WarningRecord;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// How formulas are evaluated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KernelKind {
    /// Machine code where the machine takes it, else instructions that are interpreted.
    #[default]
    Auto,
    /// Machine code, or an error where the machine takes none.
    Native,
    /// Instructions that are interpreted.
    Tape,
    /// The program that a reference problem is written as.
    Rust,
}

impl KernelKind {
    pub(crate) fn compiler(self) -> Arc<dyn Compiler> {
        match self {
            KernelKind::Tape => Arc::new(Interpreted),
            KernelKind::Auto | KernelKind::Native | KernelKind::Rust => Arc::new(Native),
        }
    }
}

/// Where a model comes from, before its parameters are set.
#[derive(Clone)]
pub enum ModelSource {
    /// A text, and how messages call it.
    Text {
        /// Name of the file.
        name: String,
        /// What stands in it.
        text: Arc<str>,
        /// Where files that it names are looked for, if it came from a file.
        folder: Option<PathBuf>,
    },
    /// A reference problem.
    Reference(&'static ReferenceProblem),
    /// Equations that somebody else evaluates.
    Program {
        /// How messages call it.
        name: String,
    },
}

/// How much of a file is read.
#[derive(Clone, Copy)]
enum Reading {
    /// All of it.
    Whole,
    /// Without pictures, plots and the search for names that nothing uses.
    Numbers,
}

impl ModelSource {
    /// A model file.
    pub fn load(path: impl AsRef<Path>) -> Result<ModelSource, Error> {
        let path = path.as_ref();
        let bytes = fs::read(path).map_err(|cause| Error::Unreadable { path: path.into(), cause })?;
        let text = String::from_utf8(bytes).map_err(|cause| Error::NotText { path: path.into(), cause })?;
        let folder = path.parent().map(Into::into);
        Ok(ModelSource::Text { name: path.display().to_string(), text: text.into(), folder })
    }

    /// The model with these parameters changed, each of them once.
    pub fn model(&self, parameters: &[(String, f64)], kernel: KernelKind) -> Result<Model, Error> {
        self.model_with(parameters, (kernel, None), Arc::default(), Reading::Whole)
    }

    /// The same with matrices of a kind, whatever the model says, and with the programs of another model of this source.
    fn model_with(
        &self,
        parameters: &[(String, f64)],
        (kernel, matrices): (KernelKind, Option<Matrices>),
        programs: Arc<ProgramCache>,
        reading: Reading,
    ) -> Result<Model, Error> {
        let name = |k: usize| parameters[k].0.replace(' ', "");
        if let Some(k) = (0..parameters.len()).find(|&k| (0..k).any(|j| name(j) == name(k))) {
            return Err(Error::SetTwice { name: name(k) });
        }
        if kernel == KernelKind::Native {
            Native::supported()?;
        }
        let content = match self {
            ModelSource::Text { name, text, folder } => {
                from_text((name, text, folder.as_deref()), parameters, (kernel, matrices), &programs, reading)?
            }
            ModelSource::Reference(problem) => from_problem(problem, parameters, (kernel, matrices), &programs)?,
            ModelSource::Program { name } => return Err(Error::OnlyProgram { name: name.clone() }),
        };
        Ok(Model { source: self.clone(), kernel, matrices, rank_tolerance: None, content: Arc::new(content), programs })
    }
}

/// A model with its parameters set. Cheap to clone; nothing is compiled before it is needed, and then once.
///
/// ```
/// use daedal_simulation::Model;
/// let text = r#"
///     [model]
///     name = "oscillator"
///     [parameters]
///     c = 4.0
///     [motion]
///     positions = ["x"]
///     velocities = ["v"]
///     mass = [1]
///     forces = ["-c*x"]
/// "#;
/// let soft = Model::read("oscillator.toml", text)?;
/// let hard = soft.set(&[("c".to_string(), 9.0)])?;
/// assert_eq!((soft.parameters()[0].1, hard.parameters()[0].1), (4.0, 9.0));
/// # Ok::<(), daedal_simulation::Error>(())
/// ```
#[derive(Clone)]
pub struct Model {
    pub(crate) source: ModelSource,
    pub(crate) kernel: KernelKind,
    matrices: Option<Matrices>,
    rank_tolerance: Option<f64>,
    pub(crate) content: Arc<ModelContent>,
    /// Shared with models that differ in parameters only.
    programs: Arc<ProgramCache>,
}

/// What is known about a model.
pub(crate) struct ModelContent {
    pub name: String,
    pub description: String,
    pub citation: String,
    pub parameters: Vec<(String, f64)>,
    pub changed: Vec<(String, f64)>,
    pub defaults: Defaults,
    pub interval: (f64, Option<f64>),
    pub warnings: Vec<WarningRecord>,
    /// Tables of time, which must cover every run.
    pub tables: Vec<TableOfTime>,
    pub places: EquationPlaces,
    pub equations: ModelSystem,
    /// Events of a model without modes.
    pub events: ModelEvents,
    /// What holds at the end, of a boundary value problem.
    pub boundary: Option<Box<ModelBoundary>>,
    /// What it looks like.
    pub picture: Option<Arc<DrawnModel>>,
    /// Plots that it asks for.
    pub plots: Vec<ModelPlot>,
}

/// A picture, and the equations in whose graph its formulas stand.
pub(crate) struct DrawnModel {
    pub picture: ModelPicture,
    /// Where the equations that are solved have another graph.
    pub general: Option<dae::Formulas>,
}

/// What is to be solved.
pub(crate) enum ModelSystem {
    Motion(Arc<MotionModel>),
    General(Box<GeneralModel>),
    Modes(Box<SwitchedModel>),
}

/// Equations of motion.
pub(crate) struct MotionModel {
    /// With the names of the parameters, where the model has formulas.
    pub formulas: Option<Formulas>,
    pub initial: Initial,
    /// Bodies, joints and forces as they are drawn, where the model is made of them.
    pub bodies: Option<Arc<daedal_multibody::System>>,
    /// What is known about the solution, of a reference problem.
    pub references: Vec<ReferenceValues>,
    /// The program of a reference problem, where nothing is compiled.
    program: Option<Box<dyn Mechanism + Send + Sync>>,
    kernel: KernelKind,
    matrices: Matrices,
    /// Shared with models that differ in parameters only.
    programs: Arc<ProgramCache>,
    compiled: OnceLock<Arc<Compiled>>,
}

impl MotionModel {
    /// The equations with their kernels.
    pub fn mechanism(&self) -> &(dyn Mechanism + Send + Sync) {
        match (&self.program, &self.formulas) {
            (None, Some(formulas)) => {
                self.compiled.get_or_init(|| self.programs.motion(formulas, self.kernel, self.matrices)).as_ref()
            }
            (program, _) => program.as_deref().expect("a model has formulas or is a program"),
        }
    }

    /// Where the variables stand in a state, and their names.
    pub fn layout(&self) -> (Layout, Vec<String>) {
        let mechanism = self.mechanism();
        let layout = Layout::new(mechanism.sizes(), Form::StrangenessFree, false);
        let names = layout.variable_names(&mechanism.names());
        (layout, names)
    }
}

/// A general system.
pub(crate) struct GeneralModel {
    pub formulas: dae::Formulas,
    pub initial: daedal::Initial,
    pub kernel: KernelKind,
    pub matrices: Matrices,
    /// Inputs, outputs and costs.
    pub control: Option<Box<ModelControl>>,
    compiled: OnceLock<System>,
    trimmed: OnceLock<Option<Box<TrimmedModel>>>,
}

impl GeneralModel {
    pub fn new(formulas: dae::Formulas, initial: daedal::Initial, kernel: KernelKind) -> Self {
        let (compiled, trimmed) = (OnceLock::new(), OnceLock::new());
        GeneralModel { formulas, initial, kernel, matrices: Matrices::Auto, control: None, compiled, trimmed }
    }

    /// With fewer unknowns, where that lowers the index; `whole` is the model that this is the system of.
    pub fn trimmed(&self, whole: &Model) -> Option<&TrimmedModel> {
        self.trimmed.get_or_init(|| trimmed::lower_index(whole, self).map(Box::new)).as_deref()
    }

    /// The equations with their kernels.
    pub fn system(&self) -> &System {
        let compile = || System::new(&self.formulas, self.kernel.compiler()).with_matrices(self.matrices);
        self.compiled.get_or_init(compile)
    }
}

/// A system with modes.
pub(crate) struct SwitchedModel {
    pub model: HybridModel,
    pub kernel: KernelKind,
}

/// Is a tolerance of ranks possible?
fn possible(rank_tolerance: Option<f64>) -> Result<(), Error> {
    BadOption::in_ranks(RankRule::of(rank_tolerance)).map_err(|bad| Error::Solve(Box::new(bad.into())))
}

impl Model {
    /// A model file, with the parameters that stand in it.
    pub fn load(path: impl AsRef<Path>) -> Result<Model, Error> {
        ModelSource::load(path)?.model(&[], KernelKind::default())
    }

    /// The text of a model file; `name` is how messages call it.
    pub fn read(name: &str, text: &str) -> Result<Model, Error> {
        ModelSource::Text { name: name.to_string(), text: text.into(), folder: None }.model(&[], KernelKind::default())
    }

    /// A reference problem; [`reference::find`] tells which names are understood.
    pub fn reference(name: &str) -> Result<Model, Error> {
        ModelSource::Reference(reference::find(name)?.problem).model(&[], KernelKind::default())
    }

    /// The same model with some parameters changed, beside those that were changed before.
    pub fn set(&self, parameters: &[(String, f64)]) -> Result<Model, Error> {
        self.set_by(parameters, Reading::Whole)
    }

    /// The same for a run of whose page nothing is wanted.
    pub(crate) fn set_for_numbers(&self, parameters: &[(String, f64)]) -> Result<Model, Error> {
        self.set_by(parameters, Reading::Numbers)
    }

    fn set_by(&self, parameters: &[(String, f64)], reading: Reading) -> Result<Model, Error> {
        let before = self.content.changed.iter().filter(|(name, _)| !parameters.iter().any(|(new, _)| new == name));
        let all: Vec<(String, f64)> = before.chain(parameters).cloned().collect();
        let how = (self.kernel, self.matrices);
        let model = self.source.model_with(&all, how, self.programs.clone(), reading)?;
        Ok(Model { rank_tolerance: self.rank_tolerance, ..model })
    }

    fn again(
        &self,
        parameters: &[(String, f64)],
        kernel: KernelKind,
        matrices: Option<Matrices>,
    ) -> Result<Model, Error> {
        self.source.model_with(parameters, (kernel, matrices), self.programs.clone(), Reading::Whole)
    }

    /// How formulas are evaluated.
    pub fn kernel(&self) -> KernelKind {
        self.kernel
    }

    /// The same model, evaluated otherwise.
    pub fn with_kernel(&self, kernel: KernelKind) -> Result<Model, Error> {
        let model = self.again(&self.content.changed, kernel, self.matrices)?;
        Ok(Model { rank_tolerance: self.rank_tolerance, ..model })
    }

    /// The same model with dense or sparse matrices, whatever it says itself. Models with modes, programs and black boxes choose by themselves.
    pub fn with_matrices(&self, matrices: Matrices) -> Result<Model, Error> {
        let model = self.again(&self.content.changed, self.kernel, Some(matrices))?;
        let chooses = match &model.content.equations {
            ModelSystem::Motion(motion) => motion.program.is_some(),
            ModelSystem::General(_) => false,
            ModelSystem::Modes(_) => true,
        };
        if chooses && matrices != Matrices::Auto {
            return Err(Error::NoMatrices { model: model.name().to_string() });
        }
        Ok(Model { rank_tolerance: self.rank_tolerance, ..model })
    }

    /// The same model, with ranks decided by this tolerance whatever is done with it.
    pub fn with_rank_tolerance(&self, tolerance: f64) -> Result<Model, Error> {
        possible(Some(tolerance))?;
        Ok(Model { rank_tolerance: Some(tolerance), ..self.clone() })
    }

    /// What was said of it, else what the model says.
    pub(crate) fn rank_tolerance(&self) -> Option<f64> {
        self.rank_tolerance.or(self.content.defaults.rank_tolerance)
    }

    /// How ranks are decided.
    pub(crate) fn ranks(&self) -> RankRule {
        RankRule::of(self.rank_tolerance())
    }

    /// The same, unless settings say it.
    pub(crate) fn ranks_unless(&self, given: Option<f64>) -> Result<RankRule, Error> {
        possible(given)?;
        Ok(RankRule::of(given.or(self.rank_tolerance())))
    }

    /// How messages call the file or the problem.
    pub fn source_name(&self) -> String {
        match &self.source {
            ModelSource::Text { name, .. } => name.clone(),
            ModelSource::Reference(problem) => problem.name.to_string(),
            ModelSource::Program { name } => name.clone(),
        }
    }

    /// Does it switch between modes?
    pub fn has_modes(&self) -> bool {
        matches!(self.content.equations, ModelSystem::Modes(_))
    }

    /// Has it events, without modes?
    pub fn has_events(&self) -> bool {
        !self.content.events.list.is_empty()
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.content.name
    }

    /// What it is; empty if nobody says it.
    pub fn description(&self) -> &str {
        &self.content.description
    }

    /// Names that conditions and outputs may contain beside time and parameters: variables and multipliers, then outputs; with modes those of
    /// all modes.
    pub fn names(&self) -> Vec<String> {
        let of_motion = |formulas: &Formulas| -> Vec<String> {
            let layout = Layout::new(formulas.sizes, Form::StrangenessFree, false);
            let names = layout.variable_names(&formulas.names);
            let shown = layout.shown().into_iter().filter(|j| !layout.a().contains(j)).map(|j| names[j].clone());
            shown.chain(formulas.outputs.iter().map(|(name, _)| name.clone())).collect()
        };
        let of_general = |formulas: &dae::Formulas| -> Vec<String> {
            formulas.states.iter().chain(formulas.outputs.iter().map(|(name, _)| name)).cloned().collect()
        };
        let mut names: Vec<String> = Vec::new();
        match &self.content.equations {
            ModelSystem::Motion(motion) => match &motion.formulas {
                Some(formulas) => names = of_motion(formulas),
                None => names = motion.layout().1,
            },
            ModelSystem::General(general) => names = of_general(&general.formulas),
            ModelSystem::Modes(modes) => {
                for mode in &modes.model.modes {
                    let own = match &mode.kind {
                        ModelKind::Motion { formulas, .. } => of_motion(formulas),
                        ModelKind::Dae { formulas, .. } => of_general(formulas),
                        ModelKind::Hybrid(_) => Vec::new(),
                    };
                    names.extend(own);
                }
                let mut seen = std::collections::HashSet::new();
                names.retain(|name| seen.insert(name.clone()));
            }
        }
        names
    }

    /// The text of its file; none of a reference problem or a program.
    pub fn text(&self) -> Option<&str> {
        match &self.source {
            ModelSource::Text { text, .. } => Some(text),
            ModelSource::Reference(_) | ModelSource::Program { .. } => None,
        }
    }

    /// Where it comes from, before its parameters are set.
    pub fn source(&self) -> &ModelSource {
        &self.source
    }

    /// All parameters, in the order of the model.
    pub fn parameters(&self) -> &[(String, f64)] {
        &self.content.parameters
    }

    /// The parameters that were set.
    pub fn changed(&self) -> &[(String, f64)] {
        &self.content.changed
    }

    /// Start and end of the interval, as far as the model says them.
    pub fn interval(&self) -> (f64, Option<f64>) {
        self.content.interval
    }

    /// What holds at the end, of a boundary value problem.
    pub fn boundary(&self) -> Option<&ModelBoundary> {
        self.content.boundary.as_deref()
    }

    /// What is odd about the model, whatever is done with it.
    pub fn warnings(&self) -> &[WarningRecord] {
        &self.content.warnings
    }

    /// Where the equations stand in the file.
    pub fn places(&self) -> &EquationPlaces {
        &self.content.places
    }

    /// What is known about the solution of a reference problem at the end of this interval.
    pub fn references(&self, t0: f64, tend: f64) -> Vec<&ReferenceValues> {
        match &self.content.equations {
            // they hold for the start of the problem
            ModelSystem::Motion(motion) if t0 == motion.initial.t => {
                motion.references.iter().filter(|reference| reference.t == tend).collect()
            }
            _ => Vec::new(),
        }
    }

    /// An error, with lines and texts of the equations that it speaks of.
    pub(crate) fn located(&self, error: Error) -> Error {
        Error::Located { error: Box::new(error), places: self.places().clone() }
    }

    /// The same general system without events.
    pub(crate) fn without_events(&self) -> Model {
        match &self.content.equations {
            ModelSystem::General(general) => {
                let (formulas, initial) = (general.formulas.clone(), general.initial.clone());
                self.with_general(GeneralModel::new(formulas, initial, general.kernel))
            }
            ModelSystem::Motion(_) | ModelSystem::Modes(_) => self.clone(),
        }
    }

    /// The same with another general system.
    pub(crate) fn with_general(&self, general: GeneralModel) -> Model {
        let whole = &self.content;
        let content = ModelContent {
            name: whole.name.clone(),
            description: whole.description.clone(),
            citation: whole.citation.clone(),
            parameters: whole.parameters.clone(),
            changed: whole.changed.clone(),
            defaults: whole.defaults.clone(),
            interval: whole.interval,
            warnings: whole.warnings.clone(),
            places: whole.places.clone(),
            equations: ModelSystem::General(Box::new(general)),
            tables: whole.tables.clone(),
            events: ModelEvents::default(),
            boundary: None,
            picture: whole.picture.as_ref().map(|drawn| {
                let general = match &whole.equations {
                    ModelSystem::General(general) => Some(general.formulas.clone()),
                    ModelSystem::Motion(_) | ModelSystem::Modes(_) => None,
                };
                Arc::new(DrawnModel { picture: drawn.picture.clone(), general: drawn.general.clone().or(general) })
            }),
            plots: whole.plots.clone(),
        };
        Model { content: Arc::new(content), ..self.clone() }
    }

    /// One mode as a model of its own.
    pub(crate) fn mode(&self, modes: &SwitchedModel, k: usize) -> Model {
        let (mode, whole) = (&modes.model.modes[k], &self.content);
        let content = ModelContent {
            name: mode.name.clone(),
            description: mode.description.clone().unwrap_or_default(),
            citation: whole.citation.clone(),
            parameters: whole.parameters.clone(),
            changed: whole.changed.clone(),
            defaults: whole.defaults.clone(),
            interval: whole.interval,
            warnings: Vec::new(),
            tables: whole.tables.clone(),
            places: whole.places.clone(),
            equations: equations(
                mode.kind.clone(),
                None,
                (self.kernel, self.matrices.unwrap_or_default()),
                &self.programs,
            ),
            events: ModelEvents::default(),
            boundary: None,
            picture: None,
            plots: Vec::new(),
        };
        Model { content: Arc::new(content), ..self.clone() }
    }
}

/// Equations of motion as a program, with what a model says beside them.
pub struct ProgramModel {
    /// Its name.
    pub name: String,
    /// What it is; empty if nobody says it.
    pub description: String,
    /// Numbers that the program is made with.
    pub parameters: Vec<(String, f64)>,
    /// Start and end of the interval.
    pub interval: (f64, Option<f64>),
    /// What is known about the start.
    pub initial: Initial,
    /// The equations, which need not have formulas.
    pub mechanism: Box<dyn Mechanism + Send + Sync>,
}

impl From<ProgramModel> for Model {
    /// A model whose equations are evaluated by a program. It cannot be changed: other parameters are another program.
    fn from(program: ProgramModel) -> Model {
        let motion = MotionModel {
            formulas: None,
            initial: Initial { t: program.interval.0, ..program.initial },
            bodies: None,
            references: Vec::new(),
            program: Some(program.mechanism),
            kernel: KernelKind::Rust,
            matrices: Matrices::Auto,
            programs: Arc::default(),
            compiled: OnceLock::new(),
        };
        let content = ModelContent {
            name: program.name.clone(),
            description: program.description,
            citation: String::new(),
            parameters: program.parameters,
            changed: Vec::new(),
            defaults: Defaults::default(),
            interval: program.interval,
            warnings: Vec::new(),
            tables: Vec::new(),
            places: EquationPlaces::default(),
            equations: ModelSystem::Motion(Arc::new(motion)),
            events: ModelEvents::default(),
            boundary: None,
            picture: None,
            plots: Vec::new(),
        };
        Model {
            source: ModelSource::Program { name: program.name },
            kernel: KernelKind::Rust,
            matrices: None,
            rank_tolerance: None,
            content: Arc::new(content),
            programs: Arc::default(),
        }
    }
}

fn from_text(
    (name, text, folder): (&str, &str, Option<&Path>),
    set: &[(String, f64)],
    (kernel, matrices): (KernelKind, Option<Matrices>),
    programs: &Arc<ProgramCache>,
    reading: Reading,
) -> Result<ModelContent, Error> {
    if kernel == KernelKind::Rust {
        return Err(Error::NoProgram { name: name.to_string() });
    }
    let read = match reading {
        Reading::Whole => events::read((name, text, folder), set, &[])?,
        Reading::Numbers => events::read_numbers((name, text, folder), set)?,
    };
    let t0 = match &read.kind {
        ModelKind::Motion { initial, .. } => initial.t,
        ModelKind::Dae { initial, .. } => initial.t,
        ModelKind::Hybrid(model) => model.initial.t,
    };
    let matrices = matrices.or(read.solve.matrices).unwrap_or_default();
    Ok(ModelContent {
        name: read.name,
        description: read.description.unwrap_or_default(),
        citation: read.source.unwrap_or_default(),
        parameters: read.parameters,
        changed: set.to_vec(),
        defaults: read.solve,
        interval: (t0, read.time.map(|(_, tend)| tend)),
        warnings: read.unused.iter().map(|unused| WarningRecord::new(unused.to_string())).collect(),
        tables: read.tables,
        places: EquationPlaces::of(&read.kind),
        equations: equations(read.kind, read.bodies, (kernel, matrices), programs),
        events: read.events,
        boundary: read.boundary,
        picture: read.picture.map(|picture| Arc::new(DrawnModel { picture: *picture, general: None })),
        plots: read.plots,
    })
}

fn equations(
    kind: ModelKind,
    bodies: Option<Arc<daedal_multibody::System>>,
    (kernel, matrices): (KernelKind, Matrices),
    programs: &Arc<ProgramCache>,
) -> ModelSystem {
    match kind {
        ModelKind::Motion { formulas, initial, .. } => ModelSystem::Motion(Arc::new(MotionModel {
            formulas: Some(*formulas),
            initial: *initial,
            bodies,
            references: Vec::new(),
            program: None,
            kernel,
            matrices,
            programs: programs.clone(),
            compiled: OnceLock::new(),
        })),
        ModelKind::Dae { formulas, initial, control, .. } => {
            let general = GeneralModel { matrices, control, ..GeneralModel::new(*formulas, *initial, kernel) };
            ModelSystem::General(Box::new(general))
        }
        ModelKind::Hybrid(model) => ModelSystem::Modes(Box::new(SwitchedModel { model: *model, kernel })),
    }
}

fn from_problem(
    problem: &ReferenceProblem,
    set: &[(String, f64)],
    (kernel, matrices): (KernelKind, Option<Matrices>),
    programs: &Arc<ProgramCache>,
) -> Result<ModelContent, Error> {
    let case = problem.case_with(set).map_err(|cause| Error::Parameter { problem: problem.name, cause })?;
    let formulas = case.mechanism.formulas();
    let program = (formulas.is_none() || kernel == KernelKind::Rust).then_some(case.mechanism);
    let value = |name: &str, default: f64| set.iter().rfind(|(given, _)| given == name).map_or(default, |(_, x)| *x);
    let all = problem.parameters.iter().map(|&(name, default)| (name.to_string(), value(name, default)));
    let parameters: Vec<(String, f64)> = all.collect();
    let changed = parameters.iter().zip(problem.parameters).filter(|((_, value), (_, default))| value != default);
    let changed = changed.map(|(parameter, _)| parameter.clone()).collect();
    let (t0, tend) = (case.initial.t, case.tend);
    let motion = MotionModel {
        formulas,
        initial: case.initial,
        bodies: None,
        references: case.references,
        program,
        kernel,
        matrices: matrices.unwrap_or_default(),
        programs: programs.clone(),
        compiled: OnceLock::new(),
    };
    Ok(ModelContent {
        name: problem.name.to_string(),
        description: problem.description.to_string(),
        citation: problem.source.to_string(),
        parameters,
        changed,
        defaults: Defaults { h0: case.h0, ..Defaults::default() },
        interval: (t0, Some(tend)),
        warnings: Vec::new(),
        tables: Vec::new(),
        places: EquationPlaces::default(),
        equations: ModelSystem::Motion(Arc::new(motion)),
        events: ModelEvents::default(),
        boundary: None,
        picture: None,
        plots: Vec::new(),
    })
}
