//! Which method solves a model, in which form, with which options; what does not fit together is refused.

use crate::arguments::{FormName, MethodArguments, MethodName, Solve};
use crate::failure::Failure;
use crate::record::Order;
use crate::setup::{Equations, Motion, Setup};
use daedal::analysis::{self, Choice};
use daedal::catalogue::{self, MotionMethod};
use daedal::dae::Form;
use daedal::formulation::{Formulated, Formulation};
use daedal::method::Integrator;
use daedal::method::bdf::{Bdf, Steps};
use daedal::method::controller::Control;
use daedal::method::generalized_alpha::AlphaForm;
use daedal::method::geoms;
use daedal::motion::{self, consistent};
use daedal::{GeneralizedAlpha, Geoms, Lobatto, RadauIIa, Rattle};

/// A method with its options.
pub enum Method {
    /// For equations of motion, in this formulation.
    Motion {
        name: &'static str,
        formulation: Formulation,
        method: Box<dyn MotionMethod>,
        /// Why it was chosen, if it was not asked for.
        reasons: Vec<String>,
    },
    /// For general systems, in this form.
    General { name: &'static str, form: Form, integrator: Box<dyn Integrator> },
}

/// Options that RadauIIa shares with GEOMS.
pub const OF_RADAU: [&str; 6] =
    ["--control", "--max-newton", "--newton-tolerance", "--jacobian-reuse", "--safety", "--stages"];
/// Options that BDF knows.
pub const OF_BDF: [&str; 5] = ["--control", "--max-newton", "--newton-tolerance", "--jacobian-reuse", "--max-order"];
/// Options that GEOMS does not know.
pub const NOT_OF_GEOMS: [&str; 4] = ["--max-order", "--baumgarte", "--composition", "--rho"];
/// Order of Radau IIa with three stages.
pub const RADAU: u32 = 5;

/// Does a method know an option? The methods that are not named here have none.
fn knows(method: &str, formulation: &str, option: &str) -> bool {
    match method {
        "geoms" => !NOT_OF_GEOMS.contains(&option),
        "radau" | "bdf" if formulation == "baumgarte" && option == "--baumgarte" => true,
        "radau" => OF_RADAU.contains(&option),
        "bdf" => OF_BDF.contains(&option),
        "lobatto" => option == "--stages",
        "rattle" => option == "--composition",
        "alpha" => option == "--rho",
        _ => false,
    }
}

/// What was asked for, by the arguments or by the model.
struct Wish {
    formulation: Formulation,
    /// Was it the model? Then the method decides if it can.
    of_model: bool,
}

impl Method {
    /// The method for a model; one with modes has several, and `hybrid/methods.rs` for them.
    pub fn choose(setup: &Setup, arguments: &Solve) -> Result<Method, Failure> {
        let given = &arguments.options;
        let of_model = || setup.defaults.method.as_deref().and_then(catalogue::find).map(|entry| entry.name);
        let name = match arguments.method {
            Some(MethodName::Named(name)) => Some(name),
            Some(MethodName::Auto) => None,
            None => of_model(),
        };
        match &setup.equations {
            Equations::Motion(motion) => {
                let wish = Self::wish(setup, given)?;
                let (name, wish, reasons) = match (name, wish) {
                    (Some(name), wish) => (name, wish, Vec::new()),
                    (None, Some(wish)) => {
                        let takes = |name: &str| {
                            catalogue::find(name).is_some_and(|e| e.formulations.contains(&wish.formulation.name()))
                        };
                        let name = if takes("geoms") { "geoms" } else { "radau" };
                        let why = format!("{name} takes the formulation {}", wish.formulation.name());
                        (name, Some(wish), vec![why])
                    }
                    (None, None) if !given.given().is_empty() => {
                        ("geoms", None, vec!["options of geoms are given".to_string()])
                    }
                    (None, None) => {
                        let chosen = decide(motion);
                        let wish = Wish { formulation: chosen.formulation, of_model: false };
                        (chosen.method, Some(wish), chosen.reasons)
                    }
                };
                Self::of_motion(name, wish.as_ref(), given, reasons)
            }
            Equations::Hybrid(_) => unreachable!("modes have methods of their own"),
            Equations::General(_) => Self::of_general(name.unwrap_or("radau"), setup, given),
        }
    }

    /// The formulation that is asked for, if any.
    fn wish(setup: &Setup, given: &MethodArguments) -> Result<Option<Wish>, Failure> {
        match (given.formulation, &setup.defaults.formulation) {
            (Some(FormName::Motion(formulation)), _) => Ok(Some(Wish { formulation, of_model: false })),
            (Some(FormName::General(Form::Auto)), _) => Ok(None),
            (Some(FormName::General(form)), _) => {
                let known = Formulation::ALL.map(Formulation::name).join(", ");
                Err(Failure::FormOfGeneral { form: form.name(), model: setup.name.clone(), known })
            }
            (None, Some(wish)) if wish != "auto" => Ok(Some(Wish { formulation: named(wish), of_model: true })),
            (None, _) => Ok(None),
        }
    }

    fn of_motion(
        name: &'static str,
        wish: Option<&Wish>,
        given: &MethodArguments,
        reasons: Vec<String>,
    ) -> Result<Method, Failure> {
        let entry = catalogue::find(name).expect("names of methods are checked");
        let mut formulation = match wish {
            Some(Wish { formulation, of_model }) if !of_model || entry.formulations.contains(&formulation.name()) => {
                *formulation
            }
            _ => entry.usual(),
        };
        given.only(name, |option| knows(name, formulation.name(), option))?;
        if let (Formulation::Baumgarte(parameters), Some(given)) = (&mut formulation, given.baumgarte) {
            *parameters = given;
        }
        // refuses formulations that the method does not take
        let usual = entry.with(formulation)?;
        let method: Box<dyn MotionMethod> = match name {
            "geoms" => Box::new(Geoms { formulation: of_geoms(formulation), ..geoms(given) }),
            "radau" => Box::new(Formulated { formulation, integrator: radau(given) }),
            "bdf" => Box::new(Formulated { formulation, integrator: bdf(given)? }),
            "rattle" => Box::new(Rattle { composition: given.composition.unwrap_or_default() }),
            "lobatto" => Box::new(Lobatto { stages: given.stages.map_or(Lobatto::default().stages, |s| s.range().0) }),
            "alpha" => {
                let form = if formulation == Formulation::Eom { AlphaForm::Index3 } else { AlphaForm::Stabilised };
                let defaults = GeneralizedAlpha::default();
                Box::new(GeneralizedAlpha { rho: given.rho.unwrap_or(defaults.rho), form, ..defaults })
            }
            _ => usual,
        };
        Ok(Method::Motion { name, formulation, method, reasons })
    }

    fn of_general(name: &'static str, setup: &Setup, given: &MethodArguments) -> Result<Method, Failure> {
        let model = || setup.name.clone();
        if !["radau", "bdf"].contains(&name) {
            return Err(Failure::MethodOfMotion { method: name, model: model() });
        }
        let form = match (given.formulation, &setup.defaults.formulation) {
            (Some(FormName::General(form)), _) => form,
            (Some(FormName::Motion(formulation)), _) => {
                let known = Form::ALL.map(Form::name).join(", ");
                return Err(Failure::FormOfMotion { form: formulation.name(), model: model(), known });
            }
            (None, Some(wish)) => Form::ALL.into_iter().find(|form| form.name() == wish).unwrap_or_default(),
            (None, None) => Form::default(),
        };
        given.only(name, |option| knows(name, "", option))?;
        let integrator: Box<dyn Integrator> =
            if name == "bdf" { Box::new(bdf(given)?) } else { Box::new(radau(given)) };
        Ok(Method::General { name, form, integrator })
    }

    /// Its name in options and reports.
    pub fn name(&self) -> &'static str {
        match self {
            Method::Motion { name, .. } | Method::General { name, .. } => name,
        }
    }

    /// Which equations are discretised, as far as that is known before the run.
    pub fn formulation(&self) -> &'static str {
        match self {
            Method::Motion { formulation, .. } => formulation.name(),
            Method::General { form, .. } => form.name(),
        }
    }

    /// Why it was chosen, if it was not asked for.
    pub fn reasons(&self) -> &[String] {
        match self {
            Method::Motion { reasons, .. } => reasons,
            Method::General { .. } => &[],
        }
    }

    /// Order of its steps.
    pub fn order(&self) -> Order {
        match self.name() {
            "geoms" | "gmkssol" => Order::Fixed(RADAU),
            // with s stages the polynomial has degree s, and the order is 2s − 1
            "radau" => Order::OfStages,
            "bdf" => Order::OfSegment,
            _ => Order::Unknown,
        }
    }
}

/// What suits the equations best; a model without consistent initial values is left to geoms, which says why.
fn decide(motion: &Motion) -> Choice {
    let case = &motion.case;
    match consistent::initialise(&*case.mechanism, &case.initial, motion::Form::StrangenessFree) {
        Ok(found) => analysis::choose(&*case.mechanism, &found.state, case.tend),
        Err(_) => Choice { method: "geoms", formulation: Formulation::default(), reasons: Vec::new() },
    }
}

/// The formulation of that name.
fn named(name: &str) -> Formulation {
    Formulation::ALL.into_iter().find(|formulation| formulation.name() == name).unwrap_or_default()
}

/// A formulation as GEOMS knows it.
fn of_geoms(formulation: Formulation) -> geoms::Formulation {
    match formulation {
        Formulation::ProjectedWithInvariants(_) => geoms::Formulation::WithInvariants,
        Formulation::ProjectedIndexOne(_) => geoms::Formulation::IndexOne,
        _ => geoms::Formulation::StrangenessFree,
    }
}

/// The word for a formulation of GEOMS.
pub fn word(formulation: geoms::Formulation) -> &'static str {
    match formulation {
        geoms::Formulation::StrangenessFree => "psf",
        geoms::Formulation::WithInvariants => "psf+i",
        geoms::Formulation::IndexOne => "p1",
    }
}

impl MethodArguments {
    /// Refuse what the method does not know.
    pub fn only(&self, method: &str, knows: impl Fn(&str) -> bool) -> Result<(), Failure> {
        let options: Vec<&str> = self.given().into_iter().filter(|option| !knows(option)).collect();
        if options.is_empty() {
            Ok(())
        } else {
            Err(Failure::OptionsOfOther { options: options.join(", "), method: method.to_string() })
        }
    }

    /// The options of methods that are given, the formulation apart.
    fn given(&self) -> Vec<&'static str> {
        [
            ("--reproduction", self.reproduction),
            ("--decomposition", self.decomposition.is_some()),
            ("--differential", self.differential.is_some()),
            ("--selection", self.selection.is_some()),
            ("--selector-update", self.selector_update.is_some()),
            ("--control", self.control.is_some()),
            ("--predictor", self.predictor.is_some()),
            ("--newton-point", self.newton_point.is_some()),
            ("--newton-updates", self.newton_updates.is_some()),
            ("--max-newton", self.max_newton.is_some()),
            ("--newton-tolerance", self.newton_tolerance.is_some()),
            ("--jacobian-reuse", self.jacobian_reuse.is_some()),
            ("--safety", self.safety.is_some()),
            ("--refilter", self.refilter),
            ("--rank-tolerance", self.rank_tolerance.is_some()),
            ("--polish", self.polish.is_some()),
            ("--multipliers", self.multipliers.is_some()),
            ("--max-order", self.max_order.is_some()),
            ("--stages", self.stages.is_some()),
            ("--baumgarte", self.baumgarte.is_some()),
            ("--composition", self.composition.is_some()),
            ("--rho", self.rho.is_some()),
        ]
        .into_iter()
        .filter_map(|(option, given)| given.then_some(option))
        .collect()
    }
}

pub fn geoms(given: &MethodArguments) -> Geoms {
    let defaults = if given.reproduction { Geoms::reproduction() } else { Geoms::default() };
    Geoms {
        formulation: defaults.formulation,
        stages: given.stages.unwrap_or(defaults.stages),
        constraint_decomposition: given.decomposition.unwrap_or(defaults.constraint_decomposition),
        differential_decomposition: given.differential.unwrap_or(defaults.differential_decomposition),
        selection: given.selection.unwrap_or(defaults.selection),
        selector_update: given.selector_update.unwrap_or(defaults.selector_update),
        predictor: given.predictor.unwrap_or(defaults.predictor),
        newton_point: given.newton_point.unwrap_or(defaults.newton_point),
        newton_updates: given.newton_updates.unwrap_or(defaults.newton_updates),
        max_newton: given.max_newton.unwrap_or(defaults.max_newton),
        newton_tolerance: given.newton_tolerance.or(defaults.newton_tolerance),
        jacobian_reuse: given.jacobian_reuse.unwrap_or(defaults.jacobian_reuse),
        safety: given.safety.unwrap_or(defaults.safety),
        control: given.control.unwrap_or(defaults.control),
        refilter: given.refilter || defaults.refilter,
        rank_tolerance: given.rank_tolerance.unwrap_or(defaults.rank_tolerance),
        polish: given.polish.unwrap_or(defaults.polish),
        multipliers: given.multipliers.unwrap_or(defaults.multipliers),
        keep_step: defaults.keep_step,
        ratio: defaults.ratio,
    }
}

pub fn radau(given: &MethodArguments) -> RadauIIa {
    let defaults = RadauIIa::default();
    RadauIIa {
        stages: given.stages.unwrap_or(defaults.stages),
        max_newton: given.max_newton.unwrap_or(defaults.max_newton),
        newton_tolerance: given.newton_tolerance.or(defaults.newton_tolerance),
        jacobian_reuse: given.jacobian_reuse.unwrap_or(defaults.jacobian_reuse),
        safety: given.safety.unwrap_or(defaults.safety),
        control: given.control.unwrap_or(defaults.control),
        ..defaults
    }
}

pub fn bdf(given: &MethodArguments) -> Result<Bdf, Failure> {
    let defaults = Bdf::default();
    let steps = match given.control {
        Some(Control::Fixed) => Steps::Fixed,
        None => defaults.steps,
        Some(_) => return Err(Failure::ControlOfBdf),
    };
    Ok(Bdf {
        max_order: given.max_order.map_or(defaults.max_order, usize::from),
        max_newton: given.max_newton.unwrap_or(defaults.max_newton),
        newton_tolerance: given.newton_tolerance.unwrap_or(defaults.newton_tolerance),
        jacobian_reuse: given.jacobian_reuse.unwrap_or(defaults.jacobian_reuse),
        steps,
        ..defaults
    })
}
