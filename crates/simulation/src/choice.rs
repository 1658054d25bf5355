//! Which method solves a model, in which form, with which options, and why; what does not fit together is refused.

use crate::boundary::{self, BoundaryPlan};
use crate::error::Error;
use crate::model::{GeneralModel, Model, ModelSystem, MotionModel};
use crate::modes::plan::ModesPlan;
use crate::options::{self, MethodOptions};
use crate::outputs::needs_rates;
use crate::settings::Settings;
use crate::steps::{AUTO, StepOrder};
use crate::tolerances::Tolerances;
use daedal::Bdf;
use daedal::catalogue::{self, MotionMethod};
use daedal::dae::Form;
use daedal::formulation::{Formulated, Formulation, Selectors};
use daedal::linalg::RankRule;
use daedal::method::Stages;
use daedal::method::{
    AlphaForm, Chart, Control, HalfExplicitFormula, Integrator, NonstiffFirst, ProjectedOnto, RungeKuttaFamily, State,
    Steps,
};
use daedal::motion;
use daedal::motion::consistent::initialise_by;
use daedal::{
    DormandPrince, GeneralizedAlpha, Geoms, Gmkssol, HalfExplicit, Hedop5, ImplicitRungeKutta, Lobatto,
    LocalStateSpace, Mexx, Pair, RadauIIa, Rattle, Rodas,
};
use daedal::{Initial, analysis};
use serde::{Deserialize, Serialize};

/// Why ordinary differential equations begin with an explicit method.
const WHY_EXPLICIT: &str =
    "these are ordinary differential equations, which are solved explicitly as long as they are not stiff";

/// Why orders vary.
pub(crate) const WHY_VARIABLE: &str = "the tolerance is small: orders from 5 to 13, as the solution allows";

/// Why they begin with RODAS.
const WHY_ROSENBROCK: &str = "these are stiff ordinary differential equations, and the tolerance is loose";

/// A method, the equations that it solves, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MethodChoice {
    /// Name of the method; several with modes, apart by commas.
    pub method: String,
    /// Which equations are discretised, as far as that is known before a run.
    pub formulation: String,
    /// Why it was chosen, if it was not asked for.
    pub reasons: Vec<String>,
    /// Why the unknowns are not those of the equations as written, where derivatives are taken together.
    #[serde(default)]
    pub unknowns: Option<String>,
}

impl MethodChoice {
    /// The methods that a run with this relative tolerance has chosen on its way, each with the time from which on.
    pub(crate) fn settle(&mut self, methods: &[(&'static str, f64)], rtol: f64) {
        let Some(((first, _), later)) = methods.split_first() else { return };
        self.method = methods.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        match *first {
            "radau" => {
                let varies = Stages::chosen(rtol) == Stages::VARIABLE;
                self.reasons = if varies { vec![WHY_VARIABLE.to_string()] } else { Vec::new() };
            }
            "rodas" => self.reasons = vec![WHY_ROSENBROCK.to_string()],
            _ => {}
        }
        let goes_on =
            |(name, t): &(&str, f64)| format!("{name} goes on from t = {t:.6}, since the system is stiff there");
        self.reasons.extend(later.iter().map(goes_on));
    }
}

/// A choice with all that is needed to run it.
pub(crate) struct RunPlan<'m> {
    pub choice: MethodChoice,
    pub solver: PlannedSolver<'m>,
}

/// The three kinds of systems with what solves them, and problems that are solved as a whole.
pub(crate) enum PlannedSolver<'m> {
    Motion {
        motion: &'m MotionModel,
        formulation: &'static str,
        method: Box<dyn MotionMethod>,
        initial: Box<Initial>,
        /// The consistent start, where choosing has found it.
        start: Option<State>,
    },
    General {
        general: &'m GeneralModel,
        form: Form,
        integrator: Box<dyn Integrator>,
    },
    Modes(Box<ModesPlan>),
    /// Conditions at both ends.
    Boundary(BoundaryPlan<'m>),
}

/// A formulation that is asked for.
pub(crate) enum Asked {
    Motion(Formulation),
    General(Form),
}

impl Asked {
    /// The formulation or form of that name.
    pub fn named(name: &str) -> Result<Asked, Error> {
        let motion = Formulation::ALL.into_iter().find(|one| one.name() == name).map(Asked::Motion);
        let general = || Form::ALL.into_iter().find(|form| form.name() == name).map(Asked::General);
        motion.or_else(general).ok_or_else(|| {
            let all = Formulation::ALL.map(Formulation::name).into_iter().chain(Form::ALL.map(Form::name));
            let known = all.map(String::from).collect();
            Error::UnknownName { kind: "formulation", name: name.to_string(), known }
        })
    }
}

/// The method of that name; none for `auto`.
pub(crate) fn method_named(name: &str) -> Result<Option<&'static str>, Error> {
    match catalogue::names().find(|known| *known == name) {
        Some(name) => Ok(Some(name)),
        None if name == "auto" => Ok(None),
        None => {
            let known = ["auto"].into_iter().chain(catalogue::names()).map(String::from).collect();
            Err(Error::UnknownName { kind: "method", name: name.to_string(), known })
        }
    }
}

impl<'m> RunPlan<'m> {
    /// What settings and model ask for, and else what suits the equations best.
    pub fn new(model: &'m Model, settings: &Settings, (t0, tend): (f64, f64), ranks: RankRule) -> Result<Self, Error> {
        if let Some(conditions) = &model.content.boundary {
            return boundary::plan(model, conditions, settings);
        }
        let wish = model.content.defaults.method.as_deref();
        let of_model = || wish.and_then(|wish| catalogue::names().find(|known| *known == wish));
        let name = match settings.method.as_deref() {
            Some(name) => method_named(name)?,
            None => of_model(),
        };
        if let Some(method) = name.filter(|name| catalogue::find(name).is_none())
            && !matches!(model.content.equations, ModelSystem::General(_))
        {
            return Err(Error::MethodOfSystems { method, model: model.name().to_string() });
        }
        let asked = settings.formulation.as_deref().map(Asked::named).transpose()?;
        let trust = settings.trust_initial || model.content.defaults.trust_initial;
        if trust && !matches!(model.content.equations, ModelSystem::Motion(_)) {
            return Err(Error::NothingToTrust { model: model.name().to_string() });
        }
        match &model.content.equations {
            ModelSystem::Motion(motion) => {
                let initial = Initial { t: t0, ..motion.initial.clone() };
                let trusted = trust.then(|| motion::trusted(motion.mechanism(), &initial)).transpose();
                let trusted = trusted.map_err(|error| Error::Solve(Box::new(error.into())))?;
                let rtol = Tolerances::resolve(model, settings)?.rtol;
                let open = (&settings.options, rtol);
                of_motion(model, (motion, initial, trusted), name, asked.as_ref(), open, tend, ranks)
            }
            ModelSystem::General(general) => {
                let given = &settings.options;
                let rtol = Tolerances::resolve(model, settings)?.rtol;
                // derivatives are those of polynomials, which are poor over the long steps of high orders
                let open = name.is_none() && given.given().next().is_none() && !needs_rates(&general.formulas)?;
                let stages = open.then(|| Stages::chosen(rtol));
                let name = name.unwrap_or_else(|| chosen_for_general(general, given));
                of_general(model, general, (name, stages), asked.as_ref(), given)
            }
            ModelSystem::Modes(modes) => {
                let name = settings.method.as_deref().map_or(Ok(None), method_named)?;
                ModesPlan::choose(model, modes, name, asked.as_ref(), settings, (t0, tend))
            }
        }
    }

    /// Order of the steps.
    pub fn order(&self) -> StepOrder {
        StepOrder::of(&self.choice.method)
    }
}

fn of_motion<'m>(
    model: &Model,
    (motion, initial, mut start): (&'m MotionModel, Initial, Option<State>),
    name: Option<&'static str>,
    asked: Option<&Asked>,
    (given, rtol): (&MethodOptions, f64),
    tend: f64,
    ranks: RankRule,
) -> Result<RunPlan<'m>, Error> {
    let wish = wanted_formulation(model, asked)?;
    // the number of stages, where the method is chosen
    let mut stages: Option<Stages> = None;
    let mut onto_invariants = false;
    let (name, wish, mut reasons) = match (name, wish) {
        (Some(name), wish) => (name, wish, Vec::new()),
        (None, Some((formulation, of_model))) => {
            let takes = |name: &str| {
                catalogue::find(name).is_some_and(|entry| entry.formulations.contains(&formulation.name()))
            };
            let name = if takes("geoms") { "geoms" } else { "radau" };
            let why = format!("{name} takes the formulation {}", formulation.name());
            (name, Some((formulation, of_model)), vec![why])
        }
        (None, None) if given.given().next().is_some() => {
            let knows = |name: &str| given.given().all(|option| option.is_known_to(name, ""));
            let name = if knows("dop853") && !knows("geoms") { "dop853" } else { "geoms" };
            (name, None, vec![format!("options of {name} are given")])
        }
        (None, None) => {
            let search = || initialise_by(motion.mechanism(), &initial, motion::Form::StrangenessFree, ranks).ok();
            start = start.or_else(|| search().map(|found| found.state));
            match &start {
                Some(start) => {
                    // backward in time the scales are the same
                    let tend = start.t + (tend - start.t).abs();
                    let chosen = analysis::choose_by(motion.mechanism(), start, tend, ranks);
                    (stages, onto_invariants) = (chosen.stages(rtol), chosen.onto_invariants);
                    (chosen.method, Some((chosen.formulation, false)), chosen.reasons)
                }
                // a model without consistent initial values is left to geoms, which says why
                None => ("geoms", Some((Formulation::default(), false)), Vec::new()),
            }
        }
    };
    let entry = catalogue::find(name).expect("names of methods are those of the catalogue");
    let mut formulation = match wish {
        Some((formulation, of_model)) if !of_model || entry.formulations.contains(&formulation.name()) => formulation,
        _ => entry.usual(),
    };
    only_known(given, name, |option| option.is_known_to(name, formulation.name()))?;
    if let (Formulation::Baumgarte(parameters), Some(given)) = (&mut formulation, given.baumgarte()) {
        *parameters = given;
    }
    // refuses formulations that the method does not take
    let usual = entry.with(formulation)?;
    let method: Box<dyn MotionMethod> = match name {
        "geoms" => {
            let usual = geoms(given);
            Box::new(Geoms { formulation, stages: stages.unwrap_or(usual.stages), ..usual })
        }
        "radau" => Box::new(Formulated { formulation, integrator: radau(given) }),
        "bdf" => Box::new(Formulated { formulation, integrator: bdf(given)? }),
        "rodas" => Box::new(Formulated { formulation, integrator: rodas(given) }),
        "gmkssol" => Box::new(gmkssol(given)),
        "hem3" => Box::new(half_explicit(HalfExplicitFormula::Hem3, given)?),
        "hem4" => Box::new(half_explicit(HalfExplicitFormula::Hem4, given)?),
        "hem5" => Box::new(half_explicit(HalfExplicitFormula::Hem5, given)?),
        "hedop5" => {
            let HalfExplicit { steps, project, safety, .. } = half_explicit(HalfExplicitFormula::default(), given)?;
            Box::new(Hedop5 { steps, project, safety })
        }
        "dopri5" => Box::new(dormand_prince(Pair::Order5, given)?),
        "dop853" if onto_invariants => {
            Box::new(DormandPrince { project: ProjectedOnto::Invariants, ..DormandPrince::of(Pair::Order8) })
        }
        "dop853" => Box::new(dormand_prince(Pair::Order8, given)?),
        "partition" => Box::new(local_state_space(Chart::Partition, given)?),
        "tangent" => Box::new(local_state_space(Chart::Tangent, given)?),
        "mexx" => {
            let basic = given.one_of("basic", &options::BASICS).unwrap_or_default();
            Box::new(Mexx { basic, columns: given.count("columns").map(|columns| columns as usize) })
        }
        "rattle" => {
            Box::new(Rattle { composition: given.one_of("composition", &options::COMPOSITIONS).unwrap_or_default() })
        }
        "lobatto" => {
            let stages = given.one_of("stages", &options::STAGES).map(|stages| stages.range().0);
            Box::new(Lobatto { stages: stages.unwrap_or(Lobatto::default().stages) })
        }
        "alpha" => {
            let form = if formulation == Formulation::Eom { AlphaForm::Index3 } else { AlphaForm::Stabilised };
            let defaults = GeneralizedAlpha::default();
            Box::new(GeneralizedAlpha { rho: given.number("rho").unwrap_or(defaults.rho), form, ..defaults })
        }
        other => match family(other) {
            Some(family) => Box::new(Formulated { formulation, integrator: runge_kutta(family, given)? }),
            None => usual,
        },
    };
    if stages == Some(Stages::VARIABLE) {
        reasons.push(WHY_VARIABLE.to_string());
    }
    let formulation = formulation.name();
    let choice =
        MethodChoice { method: name.to_string(), formulation: formulation.to_string(), reasons, unknowns: None };
    Ok(RunPlan {
        choice,
        solver: PlannedSolver::Motion { motion, formulation, method, initial: Box::new(initial), start },
    })
}

/// A formulation that is asked for, and whether only the model does so: then the method decides if it can.
fn wanted_formulation(model: &Model, asked: Option<&Asked>) -> Result<Option<(Formulation, bool)>, Error> {
    let of_model = model.content.defaults.formulation.as_deref().filter(|wish| *wish != "auto");
    Ok(match (asked, of_model) {
        (Some(Asked::Motion(formulation)), _) => Some((*formulation, false)),
        (Some(Asked::General(Form::Auto)), _) => None,
        (Some(Asked::General(form)), _) => {
            let known = Formulation::ALL.map(Formulation::name).join(", ");
            return Err(Error::FormOfGeneral { form: form.name(), model: model.name().to_string(), known });
        }
        (None, Some(wish)) => {
            let named = Formulation::ALL.into_iter().find(|formulation| formulation.name() == wish);
            Some((named.unwrap_or_default(), true))
        }
        (None, None) => None,
    })
}

/// Radau where equations without derivatives or options of its own say so, else what the run finds out.
fn chosen_for_general(general: &GeneralModel, given: &MethodOptions) -> &'static str {
    let open = given.given().next().is_none() && general.system().has_derivatives_in_all_rows();
    if open { AUTO } else { "radau" }
}

fn of_general<'m>(
    model: &Model,
    general: &'m GeneralModel,
    (name, stages): (&'static str, Option<Stages>),
    asked: Option<&Asked>,
    given: &MethodOptions,
) -> Result<RunPlan<'m>, Error> {
    let chosen: fn() -> Box<dyn Integrator> = || Box::new(NonstiffFirst);
    let Some(usual) = catalogue::integrator(name).or((name == AUTO).then_some(chosen)) else {
        let alone = catalogue::of_systems().iter().map(|method| method.name);
        let known = catalogue::general().chain(alone).collect::<Vec<_>>().join(", ");
        return Err(Error::MethodOfMotion { method: name, model: model.name().to_string(), known });
    };
    let form = match (asked, model.content.defaults.formulation.as_deref()) {
        (Some(Asked::General(form)), _) => *form,
        (Some(Asked::Motion(formulation)), _) => {
            let known = Form::ALL.map(Form::name).join(", ");
            return Err(Error::FormOfMotion { form: formulation.name(), model: model.name().to_string(), known });
        }
        (None, wish) => Form::ALL.into_iter().find(|form| Some(form.name()) == wish).unwrap_or_default(),
    };
    // explicit pairs have nothing to project there
    let known = |option: &options::MethodOption| {
        option.is_known_to(name, "") && !(["projection", "singular"].contains(&option.key) && name.starts_with("dop"))
    };
    only_known(given, name, known)?;
    let integrator: Box<dyn Integrator> = match name {
        "bdf" => Box::new(bdf(given)?),
        "rodas" => Box::new(rodas(given)),
        "radau" => {
            let usual = radau(given);
            Box::new(RadauIIa { stages: stages.unwrap_or(usual.stages), ..usual })
        }
        "dopri5" => Box::new(dormand_prince(Pair::Order5, given)?),
        "dop853" => Box::new(dormand_prince(Pair::Order8, given)?),
        other => match family(other) {
            Some(family) => Box::new(runge_kutta(family, given)?),
            None => usual(),
        },
    };
    let reasons = match (name, stages) {
        (AUTO, _) => vec![WHY_EXPLICIT.to_string()],
        ("radau", Some(Stages::VARIABLE)) => vec![WHY_VARIABLE.to_string()],
        _ => Vec::new(),
    };
    let choice =
        MethodChoice { method: name.to_string(), formulation: form.name().to_string(), reasons, unknowns: None };
    Ok(RunPlan { choice, solver: PlannedSolver::General { general, form, integrator } })
}

/// Refuse what is not known.
pub(crate) fn only_known(
    given: &MethodOptions,
    method: &str,
    known: impl Fn(&options::MethodOption) -> bool,
) -> Result<(), Error> {
    let options: Vec<&str> = given.given().filter(|option| !known(option)).map(|option| option.key).collect();
    if options.is_empty() { Ok(()) } else { Err(Error::OptionsOfOther { options, method: method.to_string() }) }
}

pub(crate) fn geoms(given: &MethodOptions) -> Geoms {
    let defaults = if given.flag("reproduction") { Geoms::reproduction() } else { Geoms::default() };
    let decomposition = given.one_of("decomposition", &options::CONSTRAINT_DECOMPOSITIONS);
    let differential = given.one_of("differential", &options::DIFFERENTIAL_DECOMPOSITIONS);
    let update = given.one_of("selector_update", &options::SELECTOR_UPDATES);
    Geoms {
        stages: given.one_of("stages", &options::STAGES).unwrap_or(defaults.stages),
        constraint_decomposition: decomposition.unwrap_or(defaults.constraint_decomposition),
        differential_decomposition: differential.unwrap_or(defaults.differential_decomposition),
        selection: given.one_of("selection", &options::SELECTIONS).unwrap_or(defaults.selection),
        selector_update: update.unwrap_or(defaults.selector_update),
        predictor: given.one_of("predictor", &options::PREDICTORS).unwrap_or(defaults.predictor),
        newton_point: given.one_of("newton_point", &options::NEWTON_POINTS).unwrap_or(defaults.newton_point),
        newton_updates: given.count("newton_updates").unwrap_or(defaults.newton_updates),
        slow_newton: given.one_of("slow_newton", &options::SLOW_NEWTONS).unwrap_or(defaults.slow_newton),
        max_newton: given.count("max_newton").unwrap_or(defaults.max_newton),
        newton_tolerance: given.number("newton_tolerance").or(defaults.newton_tolerance),
        jacobian_reuse: given.number("jacobian_reuse").unwrap_or(defaults.jacobian_reuse),
        safety: given.number("safety").unwrap_or(defaults.safety),
        control: given.one_of("control", &options::CONTROLS).unwrap_or(defaults.control),
        refilter: given.flag("refilter") || defaults.refilter,
        polish: given.one_of("polish", &options::POLISHES).unwrap_or(defaults.polish),
        multipliers: given.one_of("multipliers", &options::MULTIPLIERS).unwrap_or(defaults.multipliers),
        keep_step: given.pair("keep_step").unwrap_or(defaults.keep_step),
        ratio: given.pair("step_ratio").unwrap_or(defaults.ratio),
        ..defaults
    }
}

pub(crate) fn radau(given: &MethodOptions) -> RadauIIa {
    let defaults = RadauIIa::default();
    RadauIIa {
        stages: given.one_of("stages", &options::STAGES).unwrap_or(defaults.stages),
        max_newton: given.count("max_newton").unwrap_or(defaults.max_newton),
        newton_tolerance: given.number("newton_tolerance").or(defaults.newton_tolerance),
        jacobian_reuse: given.number("jacobian_reuse").unwrap_or(defaults.jacobian_reuse),
        safety: given.number("safety").unwrap_or(defaults.safety),
        control: given.one_of("control", &options::CONTROLS).unwrap_or(defaults.control),
        keep_step: given.pair("keep_step").unwrap_or(defaults.keep_step),
        ratio: given.pair("step_ratio").unwrap_or(defaults.ratio),
        ..defaults
    }
}

fn rodas(given: &MethodOptions) -> Rodas {
    let defaults = Rodas::default();
    Rodas {
        control: given.one_of("control", &options::CONTROLS).unwrap_or(defaults.control),
        safety: given.number("safety").unwrap_or(defaults.safety),
        ratio: given.pair("step_ratio").unwrap_or(defaults.ratio),
    }
}

/// The family of implicit Runge–Kutta methods of that name.
fn family(name: &str) -> Option<RungeKuttaFamily> {
    use RungeKuttaFamily::{Gauss, LobattoIIIC, RadauIA, Trapezoidal};
    [Trapezoidal, Gauss, RadauIA, LobattoIIIC].into_iter().find(|family| family.name() == name)
}

fn runge_kutta(family: RungeKuttaFamily, given: &MethodOptions) -> Result<ImplicitRungeKutta, Error> {
    let defaults = ImplicitRungeKutta::of(family);
    let project = match projection(given) {
        ProjectedOnto::All => true,
        ProjectedOnto::Nothing => false,
        ProjectedOnto::Positions | ProjectedOnto::Velocities | ProjectedOnto::Invariants => {
            return Err(Error::ProjectsAllOrNone { method: family.name() });
        }
    };
    Ok(ImplicitRungeKutta {
        stages: given.one_of("stages", &options::STAGES).map_or(defaults.stages, |stages| stages.range().1),
        steps: steps(given)?,
        project,
        safety: given.number("safety").unwrap_or(defaults.safety),
        max_newton: given.count("max_newton").unwrap_or(defaults.max_newton),
        newton_tolerance: given.number("newton_tolerance").unwrap_or(defaults.newton_tolerance),
        ..defaults
    })
}

fn projection(given: &MethodOptions) -> ProjectedOnto {
    given.one_of("projection", &options::PROJECTIONS).unwrap_or_default()
}

fn gmkssol(given: &MethodOptions) -> Gmkssol {
    let selectors = match given.count("selector_steps") {
        None => Gmkssol::default().selectors,
        Some(0) => Selectors::Constant,
        Some(steps) => Selectors::EverySteps(steps),
    };
    Gmkssol { selectors, integrator: radau(given) }
}

fn half_explicit(formula: HalfExplicitFormula, given: &MethodOptions) -> Result<HalfExplicit, Error> {
    let defaults = HalfExplicit::default();
    let safety = given.number("safety").unwrap_or(defaults.safety);
    Ok(HalfExplicit { formula, steps: steps(given)?, project: projection(given), safety })
}

fn dormand_prince(pair: Pair, given: &MethodOptions) -> Result<DormandPrince, Error> {
    let defaults = DormandPrince::default();
    Ok(DormandPrince {
        pair,
        steps: steps(given)?,
        project: projection(given),
        safety: given.number("safety").unwrap_or(defaults.safety),
        singular: given.one_of("singular", &options::AT_SINGULAR).unwrap_or_default(),
    })
}

fn local_state_space(chart: Chart, given: &MethodOptions) -> Result<LocalStateSpace, Error> {
    let safety = given.number("safety").unwrap_or(LocalStateSpace::default().safety);
    Ok(LocalStateSpace { chart, steps: steps(given)?, safety })
}

/// Steps of methods that have a control of their own.
fn steps(given: &MethodOptions) -> Result<Steps, Error> {
    match given.one_of("control", &options::CONTROLS) {
        None => Ok(Steps::Variable),
        Some(Control::Fixed) => Ok(Steps::Fixed),
        Some(_) => Err(Error::OnlyFixedControl),
    }
}

pub(crate) fn bdf(given: &MethodOptions) -> Result<Bdf, Error> {
    let defaults = Bdf::default();
    Ok(Bdf {
        max_order: given.count("max_order").map_or(defaults.max_order, |order| order as usize),
        max_newton: given.count("max_newton").unwrap_or(defaults.max_newton),
        newton_tolerance: given.number("newton_tolerance").unwrap_or(defaults.newton_tolerance),
        jacobian_reuse: given.number("jacobian_reuse").unwrap_or(defaults.jacobian_reuse),
        steps: steps(given)?,
        ..defaults
    })
}
