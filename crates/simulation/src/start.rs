//! Consistent initial values: what is given is kept, moved or filled in until all constraints hold, the hidden ones included.

use crate::error::{Error, not_started};
use crate::model::{GeneralModel, Model, ModelSystem, MotionModel, SwitchedModel};
use crate::modes::table::shown;
use crate::variables::ShownVariables;
use daedal::dae::{Characteristics, Depth, System, characterise, derivatives};
use daedal::hybrid::{Hybrid, ModeEntry};
use daedal::linalg::RankRule;
use daedal::motion::Form;
use daedal::motion::consistent::{self, InitialisationError};
use daedal::{BadInitial, Initial, Options, SolveError, Unknown};
use daedal_model::{HybridModel, Methods};
use daedal_run::ColumnKind;
use serde::{Deserialize, Serialize};

/// Guesses that are moved by less than this, relative to max(1, |x|), are kept.
pub(crate) const KEPT: f64 = 1e-12;

/// What is said about initial values, beside what the model says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StartSettings {
    /// Initial time.
    pub t0: Option<f64>,
    /// Values that hold.
    pub fix: Vec<(String, f64)>,
    /// Values that help.
    pub guess: Vec<(String, f64)>,
    /// Variables about which nothing is known.
    pub unknown: Vec<String>,
}

/// What is known about one initial value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GivenValue {
    /// It holds.
    Fixed(f64),
    /// It helps.
    Guess(f64),
    /// It is computed.
    Unknown,
}

impl From<daedal::Start> for GivenValue {
    fn from(start: daedal::Start) -> Self {
        match start {
            daedal::Start::Fixed(x) => GivenValue::Fixed(x),
            daedal::Start::Guess(x) => GivenValue::Guess(x),
            daedal::Start::Unknown => GivenValue::Unknown,
        }
    }
}

/// A consistent value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StartValue {
    /// Its name.
    pub name: String,
    /// The value.
    pub value: f64,
    /// What was known about it.
    pub given: GivenValue,
    /// What it is.
    pub kind: ColumnKind,
    /// Is it computed anew from the others in every run?
    pub follows: bool,
}

impl StartValue {
    /// Its name as a model file writes it.
    pub fn written(&self) -> String {
        let state = self.name.trim_end_matches('\'');
        written(state, (self.name.len() - state.len()) as u32)
    }

    /// The guess, if it was not kept.
    pub fn moved(&self) -> Option<f64> {
        match self.given {
            GivenValue::Guess(x) if (x - self.value).abs() > KEPT * x.abs().max(1.0) => Some(x),
            _ => None,
        }
    }
}

/// Consistent initial values, and what was found with them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConsistentStart {
    /// Name of the model.
    pub model: String,
    /// Its parameters.
    pub parameters: Vec<(String, f64)>,
    /// Initial time.
    pub t0: f64,
    /// All values, in the order in which they are shown.
    pub values: Vec<StartValue>,
    /// What else is known.
    pub about: StartDetails,
}

/// What is known about a start beside its values, by the kind of the system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StartDetails {
    /// Equations of motion.
    Motion {
        /// Iterations.
        iterations: u32,
        /// Fixed values and conditions beyond the freedom of the system that agree with it.
        surplus: usize,
        /// Combinations of multipliers that redundant constraints leave open.
        undetermined_multipliers: usize,
    },
    /// A general system.
    General {
        /// Iterations.
        iterations: usize,
        /// Unknowns that can be chosen at the start.
        free: usize,
        /// Unknowns that can be chosen at all times.
        undetermined: usize,
        /// Number of unknowns.
        unknowns: usize,
    },
    /// The first mode of several.
    Mode {
        /// Its name.
        name: String,
    },
}

/// Find consistent initial values.
///
/// ```
/// use daedal_simulation::{Model, StartSettings, initialise};
/// let pendulum = Model::reference("pendulum")?;
/// let settings = StartSettings { fix: vec![("x".into(), 0.6)], ..StartSettings::default() };
/// let start = initialise(&pendulum, &settings)?;
/// assert_eq!(start.values[0].value, 0.6);
/// assert!((start.values[1].value.abs() - 0.8).abs() < 1e-12); // y of a rod of length one
/// # Ok::<(), daedal_simulation::Error>(())
/// ```
pub fn initialise(model: &Model, settings: &StartSettings) -> Result<ConsistentStart, Error> {
    let said = settings.said()?;
    let t0 = settings.t0.unwrap_or(model.interval().0);
    let found = match &model.content.equations {
        ModelSystem::Motion(motion) => of_motion(motion, t0, said, model.ranks()),
        ModelSystem::General(general) => of_general(general, t0, said, model.ranks()),
        ModelSystem::Modes(modes) => of_modes(modes, t0, said, model.rank_tolerance()),
    };
    let (values, about) = found.map_err(|error| model.located(error))?;
    Ok(ConsistentStart { model: model.name().to_string(), parameters: model.parameters().to_vec(), t0, values, about })
}

type FoundStart = Result<(Vec<StartValue>, StartDetails), Error>;

impl StartSettings {
    /// What is said, once about each variable.
    fn said(&self) -> Result<Vec<(String, daedal::Start)>, Error> {
        let fixed = self.fix.iter().map(|(name, value)| (name.clone(), daedal::Start::Fixed(*value)));
        let guessed = self.guess.iter().map(|(name, value)| (name.clone(), daedal::Start::Guess(*value)));
        let unknown = self.unknown.iter().map(|name| (name.clone(), daedal::Start::Unknown));
        let said: Vec<(String, daedal::Start)> = fixed.chain(guessed).chain(unknown).collect();
        match (1..said.len()).find(|&k| said[..k].iter().any(|(before, _)| *before == said[k].0)) {
            Some(k) => Err(Error::SaidTwice { name: said[k].0.clone() }),
            None => Ok(said),
        }
    }
}

fn of_motion(motion: &MotionModel, t0: f64, said: Vec<(String, daedal::Start)>, ranks: RankRule) -> FoundStart {
    let (layout, names) = motion.layout();
    let mut initial = Initial { t: t0, ..motion.initial.clone() };
    initial.single.extend(said.into_iter().map(|(name, start)| (Unknown::Name(name), start)));
    let given = initial.values(&layout, &names).map_err(|error| refused(error, motion.bodies.as_deref()))?;
    let form = Form::StrangenessFree;
    let found = consistent::initialise_by(motion.mechanism(), &initial, form, ranks)
        .map_err(|error| refused(error, motion.bodies.as_deref()))?;
    let value = |(j, kind): (usize, ColumnKind)| StartValue {
        name: names[j].clone(),
        value: found.state.x[j],
        given: given[j].into(),
        kind,
        follows: matches!(kind, ColumnKind::Multiplier | ColumnKind::Acceleration),
    };
    let values = ShownVariables::of_motion(&layout, "").shown.into_iter().map(value).collect();
    let consistent::Consistent { iterations, surplus, undetermined_multipliers, .. } = found;
    Ok((values, StartDetails::Motion { iterations, surplus, undetermined_multipliers }))
}

/// A name that the system does not have is told with those that it has.
fn refused(error: InitialisationError, bodies: Option<&daedal_multibody::System>) -> Error {
    match error {
        InitialisationError::Given(BadInitial::NoSuchUnknown { unknown: Unknown::Name(name), known }) => {
            Error::UnknownName { kind: "variable", name, known }
        }
        error => not_started(SolveError::Initialisation(error), bodies),
    }
}

fn of_general(general: &GeneralModel, t0: f64, said: Vec<(String, daedal::Start)>, ranks: RankRule) -> FoundStart {
    let system = general.system();
    let states = system.formulas.states.len();
    let mut initial = Initial { t: t0, ..general.initial.clone() };
    for (name, start) in said {
        let Some((state, order)) = derivative_named(system, &name) else {
            let known = (0..states)
                .flat_map(|j| (0..=most(system, j)).map(move |order| written(&system.formulas.states[j], order)));
            return Err(Error::UnknownName { kind: "state", name, known: known.collect() });
        };
        initial.set(state, order, start);
    }
    let found = characterise(system, &initial, Depth { ranks, ..Depth::default() })?;
    let about = StartDetails::General {
        iterations: found.fit.iterations,
        free: found.values.d,
        undetermined: found.values.u,
        unknowns: system.dim(),
    };
    Ok((values_of_general(system, &initial, &found), about))
}

fn values_of_general(system: &System, initial: &Initial, found: &Characteristics) -> Vec<StartValue> {
    let formulas = &system.formulas;
    let value = |state: usize, order: u32, value: f64, follows: bool| StartValue {
        name: written(&formulas.states[state], order),
        value,
        given: initial.start(state, order).into(),
        kind: if order == 0 { ColumnKind::State } else { ColumnKind::Derivative },
        follows,
    };
    let (origin, rates) = (&system.first.origin, derivatives(system, found));
    let unknowns = origin.iter().zip(found.x()).map(|(&(state, order), &x)| value(state, order, x, false));
    // derivatives that the equations contain, and those that were asked for
    let rates = origin.iter().zip(&rates).filter(|&(&(state, order), _)| {
        order + 1 == formulas.orders[state] || (order == 0 && initial.start(state, 1) != daedal::Start::Unknown)
    });
    let rates = rates.filter(|&(&(state, order), _)| !origin.contains(&(state, order + 1)));
    let rates = rates.map(|(&(state, order), &rate)| value(state, order + 1, rate, true));
    unknowns.chain(rates).collect()
}

/// The highest derivative of a state about which something can be said.
fn most(system: &System, state: usize) -> u32 {
    system.formulas.orders[state].max(1)
}

/// How a derivative is written in a model file.
fn written(state: &str, order: u32) -> String {
    match order {
        0 => state.to_string(),
        1 => format!("der({state})"),
        k => format!("der({state}, {k})"),
    }
}

/// The state and the order of its derivative that a name means.
fn derivative_named(system: &System, name: &str) -> Option<(usize, u32)> {
    let plain = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    let name = plain(name);
    let states = system.formulas.states.iter().enumerate();
    states
        .flat_map(|(j, state)| (0..=most(system, j)).map(move |order| (j, order, state)))
        .find(|&(_, order, state)| {
            let primes = || format!("{state}{}", "'".repeat(order as usize));
            plain(&written(state, order)) == name || primes() == name
        })
        .map(|(j, order, _)| (j, order))
}

fn of_modes(
    modes: &SwitchedModel,
    t0: f64,
    said: Vec<(String, daedal::Start)>,
    rank_tolerance: Option<f64>,
) -> FoundStart {
    let initial = &modes.model.initial;
    let mode = &modes.model.modes[initial.mode];
    let mut start = initial.states.clone();
    for (name, given) in said {
        match mode.unknowns.iter().position(|known| *known == name) {
            Some(j) => start[j] = given,
            None => {
                let known = mode.unknowns.clone();
                return Err(Error::UnknownName { kind: "unknown of the first mode", name, known });
            }
        }
    }
    let system = modes.model.build(&modes.kernel.compiler(), &Methods::default());
    let x = first_state(&modes.model, &system, t0, &start, rank_tolerance)?;
    let value = |(j, kind): (usize, ColumnKind)| {
        let name = mode.unknowns[j].clone();
        let follows = matches!(kind, ColumnKind::Multiplier | ColumnKind::Acceleration);
        StartValue { name, value: x[j], given: start[j].into(), kind, follows }
    };
    let values = shown(&mode.kind, start.len()).into_iter().map(value).collect();
    Ok((values, StartDetails::Mode { name: mode.name.clone() }))
}

/// A consistent state of the first mode.
pub(crate) fn first_state(
    model: &HybridModel,
    system: &Hybrid,
    t: f64,
    start: &[daedal::Start],
    rank_tolerance: Option<f64>,
) -> Result<Vec<f64>, Error> {
    let initial = &model.initial;
    let entry = ModeEntry { t, start: start.to_vec(), restart: initial.restart };
    let flow = &system.modes[initial.mode].flow;
    let options = Options { rank_tolerance, ..Options::default() };
    let entered = flow.enter(&entry, &options).map_err(|cause| Error::Enter {
        mode: model.modes[initial.mode].name.clone(),
        t,
        cause: Box::new(cause),
    })?;
    let mut x = entered.0.state().x.clone();
    x.truncate(start.len());
    Ok(x)
}
