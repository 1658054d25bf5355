//! A model file, read.

use crate::bodies::{self, ModeOfBodies};
use crate::control::{self, ModelControl};
use crate::dae;
use crate::diagnostic::{Mistake, Mistakes};
use crate::document::{self, Section, wrong_type};
use crate::entries::Written;
use crate::events::{self, EventDraft, GivenEvent, GivenMistakes, ModelEvents};
use crate::hybrid::{self, HybridModel, ModeDraft, Shared};
use crate::index::{Bindings, ReadingLimits};
use crate::last::ModelBoundary;
use crate::motion::{self, Beside, MotionTexts};
use crate::names::{Classes, Context, Quantity};
use crate::parameters;
use crate::picture::{self, ModelPicture, PictureDraft};
use crate::plots::{self, ModelPlot};
use crate::reader::Reader;
use crate::source::Span;
use crate::suggestion::{enumerate, help, nearest};
use crate::tables::{self, TableOfTime};
use crate::unused::{self, Unused};
use daedal::dae::Form;
use daedal::formulation::Formulation;
use daedal::linalg::Matrices;
use daedal::motion::Formulas;
use daedal::{Initial, catalogue};
use daedal_multibody::System;
use std::path::Path;
use std::sync::Arc;
use toml::de::{DeTable, DeValue};

/// A model with its formulas in a graph.
#[derive(Clone, Debug)]
pub struct Model {
    /// Its name.
    pub name: String,
    /// What it is.
    pub description: Option<String>,
    /// Where it comes from.
    pub source: Option<String>,
    /// The interval of time, begin < end.
    pub time: Option<(f64, f64)>,
    /// Wishes of the model for solving.
    pub solve: Defaults,
    /// Names and numbers of all scalar parameters, entries of arrays among them, in the order of the file.
    pub parameters: Vec<(String, f64)>,
    /// Parameters whose numbers decided what the formulas look like: bounds of index ranges, indices, exponents and conditions
    /// between constants. To change one of them, read the file again.
    pub structural: Vec<String>,
    /// Parameters and definitions that nothing uses.
    pub unused: Vec<Unused>,
    /// Tables of time, which must cover every run.
    pub tables: Vec<TableOfTime>,
    /// Its equations.
    pub kind: ModelKind,
    /// Events; those of a system with modes are kept by the modes.
    pub events: ModelEvents,
    /// What holds at the end, of a boundary value problem.
    pub boundary: Option<Box<ModelBoundary>>,
    /// What it looks like.
    pub picture: Option<Box<ModelPicture>>,
    /// Plots that it asks for.
    pub plots: Vec<ModelPlot>,
    /// Bodies, joints and forces as they are drawn, of a model that has them: what pictures and checks need beside the equations.
    pub bodies: Option<Arc<System>>,
}

/// Equations of a model.
#[derive(Clone, Debug)]
pub enum ModelKind {
    /// Equations of motion.
    Motion {
        /// The formulas.
        formulas: Box<Formulas>,
        /// What is given about the start.
        initial: Box<Initial>,
        /// The formulas as they are written.
        texts: MotionTexts,
    },
    /// A general system.
    Dae {
        /// The formulas.
        formulas: Box<daedal::dae::Formulas>,
        /// What is given about the start.
        initial: Box<Initial>,
        /// The equations as they are written.
        texts: Vec<Written>,
        /// Inputs, outputs and costs.
        control: Option<Box<ModelControl>>,
    },
    /// A system that switches between modes.
    Hybrid(Box<HybridModel>),
}

/// Kinds of matrices, as they are written.
const MATRICES: [(&str, Matrices); 3] =
    [("auto", Matrices::Auto), ("dense", Matrices::Dense), ("sparse", Matrices::Sparse)];

/// `[solve]`: what the command takes unless it is told otherwise.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Defaults {
    /// Relative tolerance.
    pub rtol: Option<f64>,
    /// Absolute tolerance of all variables that have none of their own.
    pub atol: Option<f64>,
    /// Absolute tolerances of single variables by name.
    pub atol_of: Vec<(String, f64)>,
    /// Usual sizes of single variables by name.
    pub nominal: Vec<(String, f64)>,
    /// First step size.
    pub h0: Option<f64>,
    /// Largest step size.
    pub hmax: Option<f64>,
    /// Singular values below this part of the size of their matrix count as zero.
    pub rank_tolerance: Option<f64>,
    /// Which matrices are sparse; not with modes.
    pub matrices: Option<Matrices>,
    /// The name of a [`Formulation`](daedal::formulation::Formulation) of equations of motion, of a [`Form`](daedal::dae::Form) of general
    /// systems, or `auto`.
    pub formulation: Option<String>,
    /// The name of a method in the [`catalogue`](daedal::catalogue), or `auto`; not with modes, which have methods of their own.
    pub method: Option<String>,
    /// Are the initial values of equations of motion taken as they are?
    pub trust_initial: bool,
}

const SECTIONS: [&str; 22] = [
    "model",
    "solve",
    "parameters",
    "tables",
    "definitions",
    "motion",
    "dae",
    "world",
    "bodies",
    "points",
    "joints",
    "forces",
    "modes",
    "transitions",
    "sliding",
    "initial",
    "final",
    "output",
    "events",
    "control",
    "picture",
    "plots",
];

pub(crate) const NUMBER: Context = Context {
    place: "this place",
    allowed: Classes::of(&[Quantity::Parameter]),
    help: "only numbers and parameters can stand here",
};

impl Model {
    /// Read a model from the text of a file; `name` is how messages call the file. `overrides` replace parameters.
    ///
    /// ```
    /// use daedal_model::{Model, ModelKind};
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
    /// let model = Model::read("oscillator.toml", text, &[("c".to_string(), 9.0)]).unwrap();
    /// let ModelKind::Motion { formulas, .. } = &model.kind else { unreachable!() };
    /// assert_eq!(formulas.parameters, [("c".to_string(), 9.0)]);
    /// assert_eq!(formulas.graph.depends_on(formulas.force[0]).len(), 2); // x and c
    /// ```
    pub fn read(name: &str, text: &str, overrides: &[(String, f64)]) -> Result<Model, Mistakes> {
        Self::read_within(name, text, overrides, ReadingLimits::default())
    }

    /// [`Model::read`] with other limits than the usual ones, for files that are not trusted.
    pub fn read_within(
        name: &str,
        text: &str,
        overrides: &[(String, f64)],
        limits: ReadingLimits,
    ) -> Result<Model, Mistakes> {
        let mut reader = Reader::new(text, limits);
        let model = read(&mut reader, overrides, &[]);
        match model {
            Some(model) if reader.count() == 0 => Ok(model),
            _ => Err(Mistakes::new(name, Arc::from(text), reader.into_mistakes().0)),
        }
    }

    /// [`Model::read`] with more events than the file has.
    ///
    /// ```
    /// use daedal::Action;
    /// use daedal_model::{GivenEvent, GivenMistakes, Model};
    /// let text = r#"
    ///     [model]
    ///     name = "oscillator"
    ///     [motion]
    ///     positions = ["x"]
    ///     velocities = ["v"]
    ///     mass = [1]
    ///     forces = ["-x"]
    /// "#;
    /// let stop = |when: &str| [GivenEvent { name: None, when: when.into(), action: Action::Stop }];
    /// let model = Model::read_with("oscillator.toml", text, &[], &stop("x < 0 and v < 0")).unwrap();
    /// assert_eq!(model.events.list[0].statements.len(), 2);
    /// let Err(GivenMistakes::Event(0, mistakes)) = Model::read_with("oscillator.toml", text, &[], &stop("z < 0")) else {
    ///     unreachable!()
    /// };
    /// assert_eq!(mistakes.to_string(), "nothing is called `z`");
    /// ```
    pub fn read_with(
        name: &str,
        text: &str,
        overrides: &[(String, f64)],
        given: &[GivenEvent],
    ) -> Result<Model, GivenMistakes> {
        Self::read_by(Reader::new(text, ReadingLimits::default()), (name, text), overrides, given)
    }

    /// [`Model::read_with`] for a file in a folder, where files that it names are looked for.
    pub fn read_in(
        folder: &Path,
        (name, text): (&str, &str),
        overrides: &[(String, f64)],
        given: &[GivenEvent],
    ) -> Result<Model, GivenMistakes> {
        let mut reader = Reader::new(text, ReadingLimits::default());
        reader.folder = Some(folder.into());
        Self::read_by(reader, (name, text), overrides, given)
    }

    /// The same without pictures, plots and names that nothing uses: what runs need of a file that was read as a whole before, with other parameters.
    pub fn read_numbers(
        folder: Option<&Path>,
        (name, text): (&str, &str),
        overrides: &[(String, f64)],
    ) -> Result<Model, GivenMistakes> {
        let mut reader = Reader::new(text, ReadingLimits::default());
        (reader.folder, reader.only_numbers) = (folder.map(Into::into), true);
        Self::read_by(reader, (name, text), overrides, &[])
    }

    fn read_by(
        mut reader: Reader,
        (name, text): (&str, &str),
        overrides: &[(String, f64)],
        given: &[GivenEvent],
    ) -> Result<Model, GivenMistakes> {
        let model = read(&mut reader, overrides, given);
        if let (Some(model), 0) = (model, reader.count()) {
            return Ok(model);
        }
        let (of_file, of_events) = reader.into_mistakes();
        match of_events.first() {
            Some(&(number, _)) if of_file.is_empty() => {
                let own = of_events.into_iter().filter(|(event, _)| *event == number).map(|(_, mistake)| mistake);
                let when: Arc<str> = Arc::from(given[number].when.as_str());
                Err(GivenMistakes::Event(number, Mistakes::new("the condition", when, own.collect())))
            }
            _ => Err(GivenMistakes::File(Mistakes::new(name, Arc::from(text), of_file))),
        }
    }
}

#[allow(clippy::too_many_lines)] // the sections of a file in their order
fn read(reader: &mut Reader, overrides: &[(String, f64)], given: &[GivenEvent]) -> Option<Model> {
    let (root, errors) = DeTable::parse_recoverable(reader.file);
    for error in errors {
        let end = reader.file.len();
        let at = error.span().map_or(Span { start: end, end }, Span::from);
        let line = reader.file.get(at.start..).and_then(|rest| rest.lines().next()).unwrap_or("");
        if error.message().contains("must be quoted") && line.trim().is_empty() {
            let message = "a value is missing after `=`".into();
            reader.mistake(Mistake::Toml { message, at: at.into(), help: None });
            continue;
        }
        let help = match error.message() {
            m if m.contains("must be quoted") => Some("a formula is a string: force = \"-m*g\"".to_string()),
            m if m.contains("duplicate key") => Some("a key stands only once in a section".to_string()),
            _ => None,
        };
        reader.mistake(Mistake::Toml { message: error.message().into(), at: at.into(), help });
    }
    if reader.count() > 0 {
        return None;
    }
    let root = root.get_ref();
    check_sections(reader, root);

    let find = |reader: &mut Reader, name, title| Section::find(reader, root, name, title);
    let given_by_points = find(reader, "tables", "[tables]");
    tables::read(reader, given_by_points);
    let parameters = find(reader, "parameters", "[parameters]");
    let modes = hybrid::declared(reader, root).unwrap_or_default();
    parameters::read(reader, parameters, overrides, &hybrid::parameters_of_modes(&modes));
    let about = about(reader, root);
    let solve = match find(reader, "solve", "[solve]") {
        Some(section) => {
            let has_modes = root.contains_key("modes");
            let (general, motion) = (Form::ALL.map(Form::name), Formulation::ALL.map(Formulation::name));
            // modes without a common part may have equations of both kinds
            let formulations: Vec<&str> = match (root.contains_key("dae"), root.contains_key("motion")) {
                (true, _) => general.to_vec(),
                (false, false) if has_modes => general.into_iter().chain(motion).collect(),
                _ => ["auto"].into_iter().chain(motion).collect(),
            };
            let of_motion = || ["auto"].into_iter().chain(catalogue::all().iter().map(|entry| entry.name)).collect();
            let methods: Option<Vec<&str>> = match (has_modes, root.contains_key("dae")) {
                (true, _) => None,
                (false, true) => {
                    let alone = catalogue::of_systems().iter().map(|method| method.name);
                    Some(std::iter::once("auto").chain(catalogue::general()).chain(alone).collect())
                }
                (false, false) => Some(of_motion()),
            };
            defaults(reader, section, &formulations, methods.as_deref())
        }
        None => Defaults::default(),
    };
    let events = events::read(reader, root, given);
    let picture = if reader.only_numbers { PictureDraft::default() } else { picture::read(reader, root) };
    if root.contains_key("modes") {
        return switched(reader, root, &modes, (about, solve), overrides, (&events, picture));
    }
    for key in ["transitions", "sliding"] {
        if let Some((key, _)) = root.get_key_value(key) {
            reader.mistake(Mistake::Missing {
                what: "the section [modes]".into(),
                at: Span::from(key.span()).into(),
                label: "between which modes?".into(),
                help: "write [modes.NAME] for each mode; one mode that is left and entered again is fine".into(),
            });
        }
    }
    let beside = Beside {
        definitions: find(reader, "definitions", "[definitions]"),
        initial: find(reader, "initial", "[initial]"),
        last: find(reader, "final", "[final]"),
        output: find(reader, "output", "[output]"),
        events: &events,
        picture: &picture,
        control: find(reader, "control", "[control]"),
        t0: about.time.map_or(0.0, |(t0, _)| t0),
        tend: about.time.map(|(_, tend)| tend),
    };
    let of_bodies = bodies::present(root);
    control::refuse(reader, beside.control, false, !root.contains_key("motion") && !of_bodies);
    if let (Some(section), false) = (beside.last, events.is_empty()) {
        reader.mistake(Mistake::NotAllowed {
            what: "[final]".into(),
            place: "a file with [events]".into(),
            at: section.span.into(),
            label: "conditions at the end".into(),
            help:
                "a boundary value problem has no course of time in which something happens; remove one of the sections"
                    .into(),
        });
    }
    let motion = find(reader, "motion", "[motion]");
    let dae = find(reader, "dae", "[dae]");
    let mut drawn = None;
    let (kind, boundary) = match (motion, dae) {
        (motion, None) if of_bodies => {
            let read = bodies::read(reader, root, motion, beside, given, ModeOfBodies::default(), &mut [])?;
            drawn = Some(read.system);
            let (formulas, initial) = (Box::new(read.formulas), Box::new(read.initial));
            (ModelKind::Motion { formulas, initial, texts: read.texts }, read.boundary)
        }
        (_, Some(dae)) if of_bodies => {
            reader.mistake(Mistake::NotAllowed {
                what: "[dae]".into(),
                place: "a file with [[bodies]]".into(),
                at: dae.span.into(),
                label: "other equations".into(),
                help: "bodies have equations of motion; states of force elements stand in [motion] as `dynamic`".into(),
            });
            return None;
        }
        (Some(motion), Some(dae)) => {
            reader.mistake(Mistake::BothKinds { motion: motion.span.into(), dae: dae.span.into() });
            return None;
        }
        (Some(section), None) => {
            let (formulas, initial, texts, boundary) = motion::read(reader, section, beside, &mut []);
            (ModelKind::Motion { formulas: Box::new(formulas), initial: Box::new(initial), texts }, boundary)
        }
        (None, Some(section)) => dae::read(reader, section, beside, &mut []).into_kind(),
        (None, None) => {
            if root.get("motion").is_none() && root.get("dae").is_none() {
                let end = reader.file.trim_end().len();
                reader.mistake(Mistake::Missing {
                    what: "the section [motion] or [dae]".into(),
                    at: Span { start: end, end }.into(),
                    label: "the file has no equations".into(),
                    help: "equations of motion stand in [motion], other equations in [dae], mechanisms in [[bodies]] and [[joints]]".into(),
                });
            }
            parameters::evaluate(reader);
            return None;
        }
    };
    let parameters = match &kind {
        ModelKind::Motion { formulas, .. } => formulas.parameters.clone(),
        ModelKind::Dae { formulas, .. } => formulas.parameters.clone(),
        ModelKind::Hybrid(_) => Vec::new(),
    };
    let (structural, boundary) = (reader.structural(), boundary.map(Box::new));
    let plain = assembled(reader, root, (about, solve), kind);
    let events = events::of_model(reader, &events, &plain.kind);
    let formulas = std::mem::take(&mut reader.picture);
    let picture = picture.picture.map(|picture| Box::new(ModelPicture { formulas, ..picture }));
    Some(Model { parameters, structural, events, boundary, picture, bodies: drawn, ..plain })
}

/// A model without parameters, events and conditions at the end.
fn assembled(reader: &mut Reader, root: &DeTable, (about, solve): (ModelSection, Defaults), kind: ModelKind) -> Model {
    let ModelSection { name, description, source, time } = about;
    let plots = if reader.only_numbers { Vec::new() } else { plots::read(reader, root, &kind) };
    Model {
        name,
        description,
        source,
        time,
        solve,
        parameters: Vec::new(),
        structural: Vec::new(),
        unused: if reader.only_numbers { Vec::new() } else { unused::find(reader, root) },
        tables: tables::of_time(reader, time),
        kind,
        events: ModelEvents::default(),
        boundary: None,
        picture: None,
        plots,
        bodies: None,
    }
}

/// A system with modes.
fn switched(
    reader: &mut Reader,
    root: &DeTable,
    modes: &[ModeDraft],
    (about, solve): (ModelSection, Defaults),
    overrides: &[(String, f64)],
    (events, picture): (&[EventDraft], PictureDraft),
) -> Option<Model> {
    parameters::evaluate(reader);
    if let Some((key, _)) = root.get_key_value("final") {
        reader.mistake(Mistake::NotAllowed {
            what: "[final]".into(),
            place: "a file with [modes]".into(),
            at: Span::from(key.span()).into(),
            label: "conditions at the end".into(),
            help: "boundary value problems are solved for systems without modes".into(),
        });
    }
    let shared = Shared {
        root,
        t0: about.time.map_or(0.0, |(t0, _)| t0),
        tend: about.time.map(|(_, tend)| tend),
        overrides,
        formulation: solve.formulation.clone(),
        events,
        picture: &picture,
    };
    let (model, of_modes, structural) = hybrid::read(reader, &shared, modes)?;
    let mut parameters: Vec<(String, f64)> = (0..reader.parameters.len())
        .map(|k| (reader.parameters[k].name.clone(), reader.parameter(k).unwrap_or(f64::NAN)))
        .collect();
    parameters.extend(of_modes);
    let bodies = model.modes[model.initial.mode].bodies.clone();
    let kind = ModelKind::Hybrid(Box::new(model));
    let picture = picture.picture.map(Box::new);
    Some(Model { parameters, structural, picture, bodies, ..assembled(reader, root, (about, solve), kind) })
}

fn check_sections(reader: &mut Reader, root: &DeTable) {
    for (key, _) in root {
        let (name, at) = (key.get_ref().as_ref(), Span::from(key.span()).into());
        if !SECTIONS.contains(&name) {
            let all = enumerate(SECTIONS);
            let near = nearest(name, SECTIONS).or_else(|| match name {
                "params" | "constants" => Some("parameters".to_string()),
                "start" | "initial_values" => Some("initial".to_string()),
                "outputs" => Some("output".to_string()),
                _ => None,
            });
            let help = match near {
                Some(near) => format!("did you mean [{near}]? The sections are {all}"),
                None => format!("the sections are {all}"),
            };
            reader.mistake(Mistake::UnknownSection { section: name.into(), at, help });
        }
    }
}

struct ModelSection {
    name: String,
    description: Option<String>,
    source: Option<String>,
    time: Option<(f64, f64)>,
}

/// `[model]`.
fn about(reader: &mut Reader, root: &DeTable) -> ModelSection {
    let mut about = ModelSection { name: String::new(), description: None, source: None, time: None };
    let Some(section) = Section::find(reader, root, "model", "[model]") else {
        if root.get("model").is_none() {
            reader.mistake(Mistake::Missing {
                what: "the section [model]".into(),
                at: Span { start: 0, end: 0 }.into(),
                label: "it stands first in the file".into(),
                help: "write [model] and below it name = \"…\" and time = [0.0, 10.0]".into(),
            });
        }
        return about;
    };
    section.check_keys(reader, &["name", "description", "source", "time"]);
    match section.string(reader, "name") {
        Some(name) => about.name = name,
        None if section.get("name").is_none() => reader.mistake(Mistake::Missing {
            what: "the name of the model".into(),
            at: section.span.into(),
            label: "in this section".into(),
            help: "write name = \"…\"".into(),
        }),
        None => {}
    }
    about.description = section.string(reader, "description");
    about.source = section.string(reader, "source");
    about.time = time(reader, section);
    about
}

fn time(reader: &mut Reader, section: Section) -> Option<(f64, f64)> {
    let value = section.get("time")?;
    let DeValue::Array(items) = value.get_ref() else {
        reader.mistake(wrong_type("`time`", "a list [begin, end]", value));
        return None;
    };
    let [begin, end] = &items[..] else {
        reader.mistake(Mistake::Count {
            message: "`time` has two entries, begin and end".into(),
            at: Span::from(value.span()).into(),
            found: items.len(),
            help: Some("write time = [0.0, 10.0]".into()),
        });
        return None;
    };
    let mut one = |item: &document::TomlItem| {
        let node = document::formula(reader, item, "the time")?;
        let result =
            reader.constant(&node, Context { place: "the interval of time", ..NUMBER }, &mut Bindings::default());
        let value = reader.ok(result)?;
        if !value.is_finite() {
            reader.mistake(Mistake::NotFinite { what: "the time".into(), value, at: node.span.into() });
            return None;
        }
        Some(value)
    };
    let (t0, tend) = (one(begin), one(end));
    let (t0, tend) = (t0?, tend?);
    if t0 >= tend {
        reader.mistake(Mistake::TimeBackward { t0, tend, at: Span::from(value.span()).into() });
        return None;
    }
    Some((t0, tend))
}

/// `[solve]`.
/// `methods` is absent where the model has modes.
fn defaults(reader: &mut Reader, section: Section, formulations: &[&str], methods: Option<&[&str]>) -> Defaults {
    let common = ["rtol", "atol", "nominal", "h0", "hmax", "rank_tolerance", "formulation"];
    let further: &[&str] = if methods.is_some() {
        &["method", "trust_initial", "matrices"]
    } else {
        &["max_switches", "max_immediate", "time_tolerance"]
    };
    section.check_keys(reader, &[&common, further].concat());
    let (atol, atol_of) = by_name(reader, section, "atol");
    let (for_all, nominal) = by_name(reader, section, "nominal");
    if let (Some(value), Some(item)) = (for_all, section.get("nominal")) {
        reader.mistake(Mistake::Syntax {
            message: format!("`nominal` is {value} for all variables"),
            label: "for which variable?".into(),
            at: Span::from(item.span()).into(),
            help: Some(
                "write nominal = { c = 1e-6 } with the usual size of each variable that has an unusual one".into(),
            ),
        });
    }
    let mut positive = |key: &str| document::positive(reader, section, key);
    Defaults {
        rtol: positive("rtol"),
        atol,
        atol_of,
        nominal,
        h0: positive("h0"),
        hmax: positive("hmax"),
        rank_tolerance: document::part(reader, section, "rank_tolerance"),
        matrices: one_of(reader, section, "matrices", &MATRICES.map(|(word, _)| word))
            .and_then(|word| MATRICES.into_iter().find(|(known, _)| *known == word).map(|(_, matrices)| matrices)),
        formulation: one_of(reader, section, "formulation", formulations),
        method: methods.and_then(|methods| one_of(reader, section, "method", methods)),
        trust_initial: section.truth(reader, "trust_initial").unwrap_or(false),
    }
}

/// A positive number for all variables, or a table of them by name, `"*"` being all others.
fn by_name(reader: &mut Reader, section: Section, key: &'static str) -> (Option<f64>, Vec<(String, f64)>) {
    let Some(item) = section.get(key) else { return (None, Vec::new()) };
    let DeValue::Table(table) = item.get_ref() else { return (document::positive(reader, section, key), Vec::new()) };
    let (mut for_all, mut of) = (None, Vec::new());
    let inner = Section { title: section.title, span: section.span, table };
    for (name, value) in table {
        let name = name.get_ref().as_ref();
        // lambda.rod is a table inside of a table in TOML
        if let (DeValue::Table(multipliers), "lambda" | "mu") = (value.get_ref(), name) {
            let inner = Section { title: section.title, span: section.span, table: multipliers };
            for constraint in multipliers.keys().map(|key| key.get_ref().as_ref()) {
                let value = document::positive(reader, inner, constraint);
                of.extend(value.map(|value| (format!("{name}.{constraint}"), value)));
            }
            continue;
        }
        match (document::positive(reader, inner, name), name) {
            (value, "*") => for_all = value,
            (Some(value), name) => of.push((name.replace(' ', ""), value)),
            (None, _) => {}
        }
    }
    (for_all, of)
}

/// One of these words.
fn one_of(reader: &mut Reader, section: Section, key: &str, known: &[&str]) -> Option<String> {
    let word = section.string(reader, key)?;
    if known.contains(&word.as_str()) {
        return Some(word);
    }
    if let Some(item) = section.get(key) {
        reader.mistake(Mistake::Syntax {
            message: format!("there is no {key} `{word}`"),
            label: format!("unknown {key}"),
            at: Span::from(item.span()).into(),
            help: Some(help(&word, known.iter().copied(), &format!("the {key}s are"))),
        });
    }
    None
}
