//! Which methods solve the modes of a model; what fits no mode is refused.

use super::table;
use crate::choice::{Asked, MethodChoice, PlannedSolver, RunPlan, WHY_VARIABLE, bdf, geoms, only_known, radau};
use crate::error::Error;
use crate::events;
use crate::model::{KernelKind, Model, SwitchedModel};
use crate::settings::Settings;
use crate::steps::{ModeRecorder, StepOrder, StepRecorder};
use crate::tolerances::Tolerances;
use daedal::catalogue::{self, Unsuitable};
use daedal::dae::Form;
use daedal::formulation::Formulation;
use daedal::hybrid::HybridOptions;
use daedal::method::Stages;
use daedal::{Bdf, Geoms, RadauIIa};
use daedal_model::{HybridMode, HybridModel, Methods, ModelKind};

/// All that a run through several modes needs.
pub struct ModesPlan {
    /// The model in which modes have the formulations that are asked for, and the start its time.
    pub model: HybridModel,
    pub kernel: KernelKind,
    pub methods: Methods,
    pub options: HybridOptions,
    /// Do outputs contain derivatives that are no unknowns?
    pub with_rates: bool,
    /// Method of each mode.
    names: Vec<&'static str>,
}

/// Methods whose options are passed on to modes; others take their usual ones there.
const WITH_OPTIONS: [&str; 3] = ["geoms", "radau", "bdf"];

impl ModesPlan {
    /// Options apply to all modes that did not choose themselves.
    pub fn choose<'m>(
        model: &Model,
        modes: &SwitchedModel,
        asked: Option<&'static str>,
        form: Option<&Asked>,
        settings: &Settings,
        (t0, _): (f64, f64),
    ) -> Result<RunPlan<'m>, Error> {
        let name = &format!("every mode of {}", model.name());
        let mut own = events::of_modes(model, modes, &settings.events)?;
        own.initial.t = t0;
        if let Some(method) = asked
            && !solves_general(method)
            && !own.modes.iter().any(is_motion)
        {
            let known = catalogue::general().collect::<Vec<_>>().join(", ");
            return Err(Error::MethodOfMotion { method, model: name.clone(), known });
        }
        if let Some(form) = form {
            formulate(name, &mut own, model.content.defaults.formulation.as_deref(), form)?;
        }
        suit(&mut own, asked, model.content.defaults.formulation.as_deref())?;
        let mut methods = Methods {
            general: asked.filter(|method| solves_general(method)).unwrap_or("radau"),
            motion: asked.unwrap_or("geoms"),
            ..Methods::default()
        };
        let names: Vec<&str> = own.modes.iter().map(|mode| methods.name(mode)).collect();
        if let Some(Asked::Motion(wanted)) = form {
            takes(&own, &names, wanted.name())?;
        }

        // an option must be known to one of the methods
        let given = &settings.options;
        let used = |name: &str| names.contains(&name);
        let method = joined(names.iter().map(ToString::to_string));
        let passed_on = names.iter().all(|name| WITH_OPTIONS.contains(name));
        let who = if passed_on { method.clone() } else { format!("{method} in modes") };
        only_known(given, &who, |option| {
            names.iter().filter(|name| WITH_OPTIONS.contains(name)).any(|name| option.is_known_to(name, ""))
        })?;
        methods.geoms = if used("geoms") { geoms(given) } else { Geoms::default() };
        methods.radau = if used("radau") { radau(given) } else { RadauIIa::default() };
        let mut reasons = Vec::new();
        let with_rates = table::needs_rates(&own)?;
        // derivatives are those of polynomials, which are poor over the long steps of high orders
        if asked.is_none() && given.given().next().is_none() && !with_rates {
            let stages = Stages::chosen(Tolerances::resolve(model, settings)?.rtol);
            (methods.geoms.stages, methods.radau.stages) = (stages, stages);
            if stages == Stages::VARIABLE && (used("geoms") || used("radau")) {
                reasons.push(WHY_VARIABLE.to_string());
            }
        }
        methods.bdf = if used("bdf") { bdf(given)? } else { Bdf::default() };
        let formulation = |mode: &HybridMode| match &mode.formulation {
            _ if is_motion(mode) => methods.formulation(mode).name().to_string(),
            Some(formulation) => formulation.clone(),
            None => Form::default().name().to_string(),
        };
        let choice =
            MethodChoice { method, formulation: joined(own.modes.iter().map(formulation)), reasons, unknowns: None };
        let mut options = own.options.clone();
        options.max_switches = settings.max_switches.unwrap_or(options.max_switches);
        options.time_tolerance = settings.time_tolerance.or(options.time_tolerance);
        options.detection = settings.sliding.map_or(options.detection, Into::into);
        options.keep_switches = settings.keep_switches.or(options.keep_switches);
        let plan = ModesPlan { model: own, kernel: modes.kernel, methods, options, with_rates, names };
        Ok(RunPlan { choice, solver: PlannedSolver::Modes(Box::new(plan)) })
    }

    /// Somebody who writes down the steps.
    pub fn recorder(&self) -> ModeRecorder {
        let order = |name: &&str| StepOrder::of(name);
        ModeRecorder { steps: StepRecorder::new(StepOrder::OF_RADAU), modes: self.names.iter().map(order).collect() }
    }
}

fn solves_general(method: &str) -> bool {
    catalogue::find(method).is_some_and(|entry| entry.integrator.is_some())
}

/// Modes that ask for a formulation which GEOMS does not take are solved by Radau IIa, as models without modes are, unless somebody chose a method;
/// a mode that names both must name what fits.
fn suit(model: &mut HybridModel, asked: Option<&'static str>, of_file: Option<&str>) -> Result<(), Error> {
    let known = |method: &str| catalogue::find(method).map_or(&[][..], |entry| entry.formulations);
    for mode in model.modes.iter_mut().filter(|mode| is_motion(mode)) {
        let wish = mode.formulation.as_deref();
        let Some(formulation) = Formulation::ALL.map(Formulation::name).into_iter().find(|name| wish == Some(name))
        else {
            continue;
        };
        match mode.method {
            None if asked.is_none() && !known("geoms").contains(&formulation) => mode.method = Some("radau"),
            Some(method) if of_file != wish && !known(method).contains(&formulation) => {
                return Err(Unsuitable { method, formulation, known: known(method) }.into());
            }
            _ => {}
        }
    }
    Ok(())
}

/// The methods of modes with equations of motion must take a formulation that is asked for.
fn takes(model: &HybridModel, names: &[&'static str], formulation: &'static str) -> Result<(), Error> {
    for (mode, method) in model.modes.iter().zip(names).filter(|(mode, _)| is_motion(mode)) {
        let known = catalogue::find(method).map_or(&[][..], |entry| entry.formulations);
        if mode.formulation.as_deref() == Some(formulation) && !known.contains(&formulation) {
            return Err(Unsuitable { method, formulation, known }.into());
        }
    }
    Ok(())
}

/// Take a formulation in all modes of its kind that have none of their own; `wished` is the one that the whole file asks for.
fn formulate(name: &str, model: &mut HybridModel, wished: Option<&str>, form: &Asked) -> Result<(), Error> {
    let (wanted, of_motion) = match form {
        Asked::Motion(formulation) => (formulation.name(), true),
        Asked::General(form) => (form.name(), false),
    };
    let (model_name, of_modes) = (name.to_string(), Formulation::ALL.map(Formulation::name).join(", "));
    let mut fitting = model.modes.iter_mut().filter(|mode| is_motion(mode) == of_motion).peekable();
    if fitting.peek().is_none() {
        return Err(if of_motion {
            let known = Form::ALL.map(Form::name).join(", ");
            Error::FormOfMotion { form: wanted, model: model_name, known }
        } else {
            Error::FormOfGeneral { form: wanted, model: model_name, known: of_modes }
        });
    }
    for mode in fitting.filter(|mode| mode.formulation.as_deref().is_none_or(|own| Some(own) == wished)) {
        mode.formulation = Some(wanted.to_string());
    }
    Ok(())
}

pub fn is_motion(mode: &HybridMode) -> bool {
    matches!(mode.kind, ModelKind::Motion { .. })
}

/// Each word once.
fn joined(words: impl Iterator<Item = String>) -> String {
    let mut all: Vec<String> = Vec::new();
    for word in words {
        if !all.contains(&word) {
            all.push(word);
        }
    }
    all.join(", ")
}
