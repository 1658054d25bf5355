//! Which methods solve the modes of a model; what fits no mode is refused.

use super::Recorder;
use crate::arguments::{FormName, MethodName, Solve};
use crate::failure::Failure;
use crate::method::{NOT_OF_GEOMS, OF_BDF, OF_RADAU, RADAU, bdf, geoms, radau, word};
use crate::record::{Order, StepRecorder};
use daedal::dae::Form;
use daedal::{Bdf, Geoms, RadauIIa};
use daedal_model::{HybridMode, HybridModel, Kind, Methods, ModeMethod};

/// Methods with their options, and what each mode takes.
pub struct Modes {
    pub methods: Methods,
    /// Method of each mode.
    names: Vec<&'static str>,
    /// Formulation that each mode is solved in, where one is asked for.
    formulations: Vec<String>,
}

/// Formulations of modes with equations of motion.
const MOTION_MODES: [&str; 3] = ["psf", "psf+i", "p1"];

fn of_motion_modes() -> String {
    MOTION_MODES.join(", ")
}

/// The order of steps unless a mode has another one.
pub const USUAL: Order = Order::Fixed(RADAU);

impl Modes {
    /// Options apply to all modes that did not choose themselves; `wished` is the formulation that the whole file asks for.
    pub fn choose(
        name: &str,
        model: &mut HybridModel,
        wished: Option<&str>,
        arguments: &Solve,
    ) -> Result<Self, Failure> {
        let name = &format!("every mode of {name}");
        let (motion, general) = (model.modes.iter().any(is_motion), model.modes.iter().any(|mode| !is_motion(mode)));
        let asked = arguments.method.unwrap_or(MethodName::Auto);
        match asked {
            MethodName::Named(method @ "geoms") if !motion => {
                return Err(Failure::MethodOfMotion { method, model: name.clone() });
            }
            MethodName::Named(method @ ("radau" | "bdf")) if !general => {
                return Err(Failure::MethodOfGeneral { method, model: name.clone() });
            }
            MethodName::Auto | MethodName::Named("geoms" | "radau" | "bdf") => {}
            MethodName::Named(method) => {
                return Err(Failure::MethodWithoutModes { method, model: name.clone() });
            }
        }
        if let Some(form) = arguments.options.formulation {
            formulate(name, model, wished, form)?;
        }
        let usual = if asked == MethodName::Named("bdf") { ModeMethod::Bdf } else { ModeMethod::Radau };
        let names: Vec<&str> = model.modes.iter().map(|mode| method(mode, usual)).collect();

        // an option must be known to one of the methods
        let given = &arguments.options;
        let used = |name: &str| names.contains(&name);
        let known = |option: &str| {
            (used("geoms") && !NOT_OF_GEOMS.contains(&option))
                || (used("radau") && OF_RADAU.contains(&option))
                || (used("bdf") && OF_BDF.contains(&option))
        };
        given.only(&joined(names.iter().map(ToString::to_string)), known)?;
        let methods = Methods {
            geoms: if used("geoms") { geoms(given) } else { Geoms::default() },
            radau: if used("radau") { radau(given) } else { RadauIIa::default() },
            bdf: if used("bdf") { bdf(given)? } else { Bdf::default() },
            general: usual,
        };
        let formulation = |mode: &HybridMode| match &mode.formulation {
            Some(formulation) => formulation.clone(),
            None if is_motion(mode) => word(methods.geoms.formulation).to_string(),
            None => Form::default().name().to_string(),
        };
        let formulations = model.modes.iter().map(formulation).collect();
        Ok(Modes { methods, names, formulations })
    }

    /// The methods of all modes.
    pub fn method(&self) -> String {
        joined(self.names.iter().map(ToString::to_string))
    }

    /// The formulations of all modes.
    pub fn formulation(&self) -> String {
        joined(self.formulations.iter().cloned())
    }

    /// Is GEOMS among the methods?
    pub fn with_geoms(&self) -> bool {
        self.names.contains(&"geoms")
    }

    /// Somebody who writes down the steps.
    pub fn recorder(&self) -> Recorder {
        let order = |name: &&str| if *name == "bdf" { Order::OfSegment } else { USUAL };
        Recorder { steps: StepRecorder::new(USUAL), modes: self.names.iter().map(order).collect() }
    }
}

/// Take a formulation in all modes of its kind that have none of their own.
fn formulate(name: &str, model: &mut HybridModel, wished: Option<&str>, form: FormName) -> Result<(), Failure> {
    let (wanted, of_motion) = match form {
        FormName::Motion(formulation) => (formulation.name(), true),
        FormName::General(form) => (form.name(), false),
    };
    let mut fitting = model.modes.iter_mut().filter(|mode| is_motion(mode) == of_motion).peekable();
    if fitting.peek().is_none() {
        let model = name.to_string();
        return Err(if of_motion {
            let known = Form::ALL.map(Form::name).join(", ");
            Failure::FormOfMotion { form: wanted, model, known }
        } else {
            Failure::FormOfGeneral { form: wanted, model, known: of_motion_modes() }
        });
    }
    if of_motion && !MOTION_MODES.contains(&wanted) {
        return Err(Failure::FormWithoutModes { form: wanted, model: name.to_string(), known: of_motion_modes() });
    }
    for mode in fitting.filter(|mode| mode.formulation.as_deref().is_none_or(|own| Some(own) == wished)) {
        mode.formulation = Some(wanted.to_string());
    }
    Ok(())
}

fn is_motion(mode: &HybridMode) -> bool {
    matches!(mode.kind, Kind::Motion { .. })
}

/// The method of a mode; `usual` for general systems that do not choose.
fn method(mode: &HybridMode, usual: ModeMethod) -> &'static str {
    match (is_motion(mode), mode.method) {
        (true, _) => "geoms",
        (false, ModeMethod::Auto) => usual.name(),
        (false, ModeMethod::Bdf) => "bdf",
        (false, _) => "radau",
    }
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
