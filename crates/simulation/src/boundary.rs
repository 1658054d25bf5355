//! Boundary value problems: a model with [final] is solved as a whole, not step by step.

use crate::choice::{MethodChoice, PlannedSolver, RunPlan};
use crate::error::Error;
use crate::model::{GeneralModel, Model, ModelSystem, MotionModel};
use crate::monitor::{Monitor, Progress};
use crate::outcome::SolverResult;
use crate::outputs::RateRecorder;
use crate::settings::Settings;
use crate::steps::StepRecorder;
use crate::variables::ShownVariables;
use daedal::dae::{Form, System};
use daedal::linalg::Matrices;
use daedal::motion::{self, Formulas, Mechanism, Names, ReducedArray, Sizes, Structure};
use daedal::{
    BoundaryAccount, BoundaryError, BoundarySolution, Bounded, Initial, Observer, Options, Save, Solution, Statistics,
};
use daedal_model::ModelBoundary;
use daedal_run::WarningRecord;

/// How the solver of boundary value problems is called.
pub const METHOD: &str = "collocation";
/// Conditions whose values move those at the ends by more are told.
const ILL_CONDITIONED: f64 = 1e8;

/// A boundary value problem with its equations.
pub(crate) struct BoundaryPlan<'m> {
    pub boundary: &'m ModelBoundary,
    equations: PlannedEquations<'m>,
}

enum PlannedEquations<'m> {
    Motion(&'m MotionModel),
    General(&'m GeneralModel),
}

/// What a boundary value problem gave.
pub(crate) struct BoundaryOutcome {
    pub found: Option<SolverResult>,
    pub account: Option<BoundaryAccount>,
    pub error: Option<Error>,
    pub steps: Option<StepRecorder>,
    pub save: Save,
}

/// The plan for a model with conditions at the end.
pub(crate) fn plan<'m>(
    model: &'m Model,
    boundary: &'m ModelBoundary,
    settings: &Settings,
) -> Result<RunPlan<'m>, Error> {
    let defaults = &model.content.defaults;
    let asked = |name: &Option<String>| name.as_deref().is_some_and(|name| name != Form::Auto.name());
    let given = [
        ("method", asked(&settings.method) || asked(&defaults.method)),
        ("formulation", asked(&settings.formulation) || asked(&defaults.formulation)),
        ("h0", settings.h0.is_some() || defaults.h0.is_some()),
        ("trust_initial", settings.trust_initial || defaults.trust_initial),
        ("events", !settings.events.is_empty()),
    ];
    let refused = given.iter().filter(|(_, given)| *given).map(|(key, _)| *key);
    let refused: Vec<&'static str> = refused.chain(settings.options.given().map(|option| option.key)).collect();
    if !refused.is_empty() {
        return Err(Error::NotBetweenEnds { settings: refused, model: model.name().to_string() });
    }
    let equations = match &model.content.equations {
        ModelSystem::Motion(motion) => PlannedEquations::Motion(motion),
        ModelSystem::General(general) => PlannedEquations::General(general),
        ModelSystem::Modes(_) => {
            return Err(Error::NotBetweenEnds { settings: vec!["modes"], model: model.name().to_string() });
        }
    };
    let choice = MethodChoice {
        method: METHOD.to_string(),
        formulation: Form::QuasiLinear.name().to_string(),
        reasons: vec!["conditions are given at both ends".to_string()],
        unknowns: None,
    };
    Ok(RunPlan { choice, solver: PlannedSolver::Boundary(BoundaryPlan { boundary, equations }) })
}

impl BoundaryPlan<'_> {
    /// Solve it.
    pub fn run(
        &self,
        (t0, tend): (f64, f64),
        settings: &dyn Fn(f64) -> Save,
        options: &Options,
        with_rates: bool,
        monitor: &mut dyn Monitor,
    ) -> BoundaryOutcome {
        let options = Options { save: Save::Dense, ..options.clone() };
        let find = self.boundary.find.len();
        let found = match &self.equations {
            PlannedEquations::Motion(motion) => {
                let mut initial = Initial { t: t0, ..motion.initial.clone() };
                // they are conditions of both ends
                initial.conditions.clear();
                // compiled formulas have numbers for the parameters, which may have to be found
                let symbolic = SymbolicMechanism { of: motion.mechanism(), formulas: motion.formulas.as_ref() };
                let mechanism: &dyn Mechanism = &symbolic;
                let shown = |layout: &_| ShownVariables::of_motion(layout, Form::QuasiLinear.name());
                solved(self.boundary, mechanism, initial, tend, &options, monitor, shown)
            }
            PlannedEquations::General(general) => {
                let initial = Initial { t: t0, ..general.initial.clone() };
                let states = general.formulas.states.len() + find;
                let shown = |unknowns: &_| ShownVariables::of_general(unknowns, states);
                solved::<System>(self.boundary, general.system(), initial, tend, &options, monitor, shown)
            }
        };
        let mut steps = None;
        let mut save = settings(tend);
        let mut kept = |mut solution: Solution<ShownVariables>| {
            save = settings(solution.end.t);
            let mut recorder = StepRecorder::new(crate::steps::StepOrder::Unknown);
            let mut rates = with_rates.then(|| RateRecorder::new(save.clone(), (t0, solution.end.t)));
            let mut observers: Vec<&mut dyn Observer<ShownVariables>> = vec![&mut recorder];
            observers.extend(rates.as_mut().map(|rates| rates as &mut dyn Observer<ShownVariables>));
            solution.show(&mut observers);
            solution.keep(&save);
            steps = (save != Save::End).then_some(recorder);
            SolverResult::Single { solution: Box::new(solution), rates }
        };
        let (found, account, error) = match found {
            Ok(BoundarySolution { solution, account }) => (Some(kept(solution)), Some(account), None),
            Err(BoundaryError::Interrupted) => (None, None, Some(Error::Interrupted { t: t0 })),
            Err(error) => {
                let partial = error.partial().cloned().map(&mut kept);
                (partial, None, Some(Error::Boundary(Box::new(error))))
            }
        };
        BoundaryOutcome { found, account, error, steps, save }
    }
}

/// A mechanism whose formulas keep the names of its parameters.
struct SymbolicMechanism<'m> {
    of: &'m (dyn Mechanism + Send + Sync),
    formulas: Option<&'m Formulas>,
}

impl Mechanism for SymbolicMechanism<'_> {
    fn sizes(&self) -> Sizes {
        self.of.sizes()
    }
    fn names(&self) -> Names {
        self.of.names()
    }
    fn structure(&self) -> Structure {
        self.of.structure()
    }
    fn matrices(&self) -> Matrices {
        self.of.matrices()
    }
    fn formulas(&self) -> Option<Formulas> {
        self.formulas.cloned().or_else(|| self.of.formulas())
    }
    fn array<'m>(&'m self, form: motion::Form, with_invariants: bool) -> Box<dyn ReducedArray + 'm> {
        self.of.array(form, with_invariants)
    }
    fn sparse_array<'m>(&'m self, form: motion::Form) -> Option<Box<dyn ReducedArray + 'm>> {
        self.of.sparse_array(form)
    }
}

fn solved<S: Bounded + ?Sized>(
    boundary: &ModelBoundary,
    system: &S,
    initial: Initial,
    tend: f64,
    options: &Options,
    monitor: &mut dyn Monitor,
    shown: impl Fn(&S::Layout) -> ShownVariables,
) -> Result<BoundarySolution<ShownVariables>, BoundaryError<ShownVariables>>
where
    S::Layout: Clone,
{
    let t0 = initial.t;
    let problem = boundary.problem(system, initial, tend);
    let mut go_on = |iterations: u64| {
        let statistics = Statistics { solves: iterations, ..Statistics::default() };
        monitor.step(&Progress { fraction: 0.0, t: t0, statistics: &statistics }).is_continue()
    };
    match S::solve_between(&problem, options, &mut go_on) {
        Ok(BoundarySolution { solution, account }) => {
            Ok(BoundarySolution { solution: solution.map_layout(shown), account })
        }
        Err(error) => Err(error.map_layout(shown)),
    }
}

/// What a reader should know of a solution.
pub(crate) fn warnings(account: &BoundaryAccount, periodic: bool) -> Vec<WarningRecord> {
    let mut warnings = Vec::new();
    if account.at_rest && periodic {
        warnings.push(WarningRecord::new(
            "nothing moves along the periodic solution that was found: it is a rest; give initial values near the motion you look for"
                .to_string(),
        ));
    }
    if account.conditioning > ILL_CONDITIONED {
        warnings.push(WarningRecord::new(format!(
            "the conditions determine the solution poorly: a change of one of them is magnified up to {:.0e} times; a solution may not exist, or not be the only one",
            account.conditioning
        )));
    }
    warnings
}
