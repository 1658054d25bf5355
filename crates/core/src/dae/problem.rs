//! Initial value problems for general systems, and how they are put into a form that integrators take.

use super::characteristics::{AnalysisError, Characteristics, Depth, characterise, characterise_at, states_of};
use super::freedom::{completed, undetermined};
use super::hidden::{MinimalArray, ProcedureError, minimal_array};
use super::invariance::check;
use super::jet::fit_derivatives;
use super::large::LargeSystem;
use super::missing::complete;
use super::ready::{ready, stands_alone};
use super::{
    Contradiction, Dae, FormulaCoefficients, Gelda, GeldaOptions, Genda, Keep, Plain, Point, QuasiLinear, System,
};
use crate::dae::CharacteristicValues;
use crate::error::{BadOption, StepFailure};
use crate::initial::{Initial, Start};
use crate::linalg::RankRule;
use crate::linalg::rank::ALONG_RUN;
use crate::linear::RankOptions;
use crate::method::StartFailure;

/// Fixed initial values that move by less than this, relative to 1 + |x|, stay.
const FIXED: f64 = 1e-8;

/// Which equations are handed to the integrator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// The cheapest that fits: the equations as they stand if their index is at most one; otherwise the strangeness-free form of a linear
    /// system, or hidden constraints as formulas; the derivative array where formulas do not suffice.
    #[default]
    Auto,
    /// The equations as they stand; for index at most one.
    Plain,
    /// Hidden constraints as formulas, and a choice of differential equations.
    QuasiLinear,
    /// The derivative array itself, projected numerically (GENDA).
    DerivativeArray,
    /// The strangeness-free form of a linear system (GELDA).
    Linear,
    /// The same where equations may contradict each other: contradicting combinations are left away, which is the least squares solution.
    LeastSquares,
}

impl Form {
    /// All forms.
    pub const ALL: [Form; 6] =
        [Form::Auto, Form::Plain, Form::QuasiLinear, Form::DerivativeArray, Form::Linear, Form::LeastSquares];

    /// Its name in options and reports.
    pub fn name(self) -> &'static str {
        match self {
            Form::Auto => "auto",
            Form::Plain => "plain",
            Form::QuasiLinear => "quasilinear",
            Form::DerivativeArray => "array",
            Form::Linear => "linear",
            Form::LeastSquares => "least-squares",
        }
    }
}

/// Where the unknowns of a general system stand in a state: those of the system first, then auxiliary ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unknowns {
    /// Number of unknowns of the system.
    pub dim: usize,
    /// The form that was integrated.
    pub form: Form,
    /// Characteristic values of the system.
    pub values: CharacteristicValues,
}

/// A system in a form that integrators take, at a consistent point.
pub struct Prepared {
    /// The square system of index at most one.
    pub dae: Box<dyn Dae>,
    /// The point.
    pub at: Point,
    /// Names of all unknowns.
    pub names: Vec<String>,
    /// How the unknowns are ordered.
    pub unknowns: Unknowns,
    /// Formulas of the hidden constraints, if they were derived.
    pub array: Option<MinimalArray>,
    /// Why the form that would have been taken first was not.
    pub refused: Option<Box<PrepareError>>,
    /// The system with ẋ = 0 for unknowns that are free, if there are any.
    pub completed: Option<System>,
    /// Names of these unknowns.
    pub free: Vec<String>,
}

impl Prepared {
    /// A form without formulas of hidden constraints.
    fn new(dae: Box<dyn Dae>, at: Point, names: Vec<String>, unknowns: Unknowns) -> Self {
        Prepared { dae, at, names, unknowns, array: None, refused: None, completed: None, free: Vec::new() }
    }
}

/// Why a system could not be prepared.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PrepareError {
    /// Analysis or initial values.
    #[error(transparent)]
    Analysis(#[from] AnalysisError),
    /// The first choice of equations.
    #[error(transparent)]
    Start(#[from] StartFailure),
}

impl PrepareError {
    /// Does the run start at a singular point?
    fn is_special(&self) -> bool {
        let special = |cause: &ProcedureError| matches!(cause, ProcedureError::Special { .. });
        matches!(self, PrepareError::Start(StartFailure::Procedure { cause, .. }) if special(cause))
    }
}

impl From<BadOption> for PrepareError {
    fn from(bad: BadOption) -> Self {
        PrepareError::Start(bad.into())
    }
}

impl From<StepFailure> for PrepareError {
    fn from(failure: StepFailure) -> Self {
        PrepareError::Start(failure.into())
    }
}

/// Put a problem into a form that integrators take.
pub fn prepare(system: &System, initial: &Initial, form: Form) -> Result<Prepared, PrepareError> {
    prepare_by(system, initial, form, RankRule::default())
}

/// The same with ranks decided by a rule.
pub fn prepare_by(system: &System, initial: &Initial, form: Form, ranks: RankRule) -> Result<Prepared, PrepareError> {
    if matches!(form, Form::Auto | Form::Plain)
        && let Some((plain, at, values)) =
            ready(system, initial, ranks).or_else(|| complete(system, initial, ranks).map(|(_, ready)| ready))
    {
        return Ok(plainly(system, plain, at, values));
    }
    match characterise(system, initial, Depth { ranks, ..Depth::default() }) {
        Ok(found) => prepare_at(system, &found, form),
        Err(_) if form == Form::LeastSquares => least_squares(system, initial, ranks),
        Err(error) => Err(error.into()),
    }
}

/// A linear system whose equations contradict each other, where initial values are moved as little as possible.
fn least_squares(system: &System, initial: &Initial, ranks: RankRule) -> Result<Prepared, PrepareError> {
    let (starts, x) = states_of(system, initial)?;
    let Some(coefficients) = FormulaCoefficients::new(system) else { return Err(StartFailure::NotLinear.into()) };
    if let Some(condition) = initial.conditions.first() {
        return Err(StartFailure::ConditionAside { name: condition.name.clone() }.into());
    }
    let prepared = linear(system, (initial.t, &x), ranks, coefficients, Form::LeastSquares)?;
    for ((start, found), name) in starts.iter().zip(&prepared.at.x).zip(system.names()) {
        if let Start::Fixed(given) = *start
            && (found - given).abs() > FIXED * (1.0 + given.abs())
        {
            return Err(StartFailure::FixedMoves { name: name.clone(), given, found: *found }.into());
        }
    }
    Ok(prepared)
}

/// The same at a point that has been analysed.
pub fn prepare_at(system: &System, found: &Characteristics, form: Form) -> Result<Prepared, PrepareError> {
    if let Some((completed, free)) = completed(system, found)? {
        let depth = Depth { ranks: found.ranks, ..Depth::default() };
        let at = characterise_at(&completed, &mut completed.array(), found.t, found.x(), depth)?;
        if at.values.u > 0 {
            return Err(undetermined(&completed, &at, &[]).into());
        }
        let prepared = prepare_at(&completed, &at, form)?;
        return Ok(Prepared { completed: Some(completed), free, ..prepared });
    }
    let values = found.values;
    if let Some((table, smoothness)) = system.formulas.tables.iter().find(|(_, smoothness)| *smoothness < values.mu) {
        let (table, smoothness) = (table.clone(), *smoothness);
        return Err(AnalysisError::NotSmooth { table, smoothness, needed: values.mu }.into());
    }
    let regular = values.u == 0 && values.v == 0;
    if !system.first.invariants.is_empty() {
        return match form {
            Form::Auto | Form::QuasiLinear => quasilinear(system, found),
            form => Err(StartFailure::Invariants { form: form.name() }.into()),
        };
    }
    match form {
        Form::Plain if values.mu > 0 || !regular || !stands_alone(system, values) => {
            return Err(PrepareError::Start(StartFailure::NotPlain { t: found.t, values }));
        }
        Form::Auto | Form::Plain if values.mu == 0 && regular && stands_alone(system, values) => {
            let at = Point { t: found.t, x: found.x().to_vec(), xdot: derivatives(system, found) };
            let plain = Plain::new(system.structure(), &system.compiler, found.ranks, system.matrices);
            return Ok(plainly(system, plain, at, values));
        }
        // hidden constraints of large linear systems are formulas, too: these stay sparse
        Form::Auto | Form::Linear | Form::LeastSquares
            if !(form == Form::Auto && system.is_large())
                && let Some(coefficients) = FormulaCoefficients::new(system) =>
        {
            let form = if form == Form::LeastSquares { form } else { Form::Linear };
            return linear(system, (found.t, found.x()), found.ranks, coefficients, form);
        }
        Form::Linear | Form::LeastSquares => return Err(StartFailure::NotLinear.into()),
        Form::Auto | Form::QuasiLinear => match quasilinear(system, found) {
            Ok(prepared) => return Ok(prepared),
            // the array would keep the ranks of a special start
            Err(error) if form == Form::QuasiLinear || error.is_special() => return Err(error),
            Err(error) => return array(system, found, Some(error)),
        },
        _ => {}
    }
    array(system, found, None)
}

/// The derivative array, and why formulas were not taken.
pub(super) fn array(
    system: &System,
    found: &Characteristics,
    refused: Option<PrepareError>,
) -> Result<Prepared, PrepareError> {
    let genda = Genda::new(system, found)?;
    let at = Point { t: found.t, x: found.x().to_vec(), xdot: found.xdot().to_vec() };
    let unknowns = Unknowns { dim: system.dim(), form: Form::DerivativeArray, values: found.values };
    let prepared = Prepared::new(Box::new(genda), at, system.names().to_vec(), unknowns);
    Ok(Prepared { refused: refused.map(Box::new), ..prepared })
}

fn plainly(system: &System, plain: Plain, at: Point, values: CharacteristicValues) -> Prepared {
    let unknowns = Unknowns { dim: system.dim(), form: Form::Plain, values };
    Prepared::new(Box::new(plain), at, system.names().to_vec(), unknowns)
}

fn linear(
    system: &System,
    (t, x): (f64, &[f64]),
    ranks: RankRule,
    coefficients: FormulaCoefficients,
    form: Form,
) -> Result<Prepared, PrepareError> {
    // at every accepted point
    let rule = RankRule { tolerance: Some(ranks.or(ALONG_RUN)), ..ranks };
    let ranks = RankOptions { max_index: Depth::default().most, rule };
    let contradiction = match form {
        Form::LeastSquares => Contradiction::LeastSquares,
        _ => Contradiction::Stop,
    };
    let options = GeldaOptions { ranks, contradiction, ..GeldaOptions::default() };
    let mut gelda =
        Gelda::new(coefficients, t, options).map_err(|cause| StartFailure::Reduction { cause: Box::new(cause) })?;
    let at = gelda.consistent(t, x, Keep::default())?;
    let unknowns = Unknowns { dim: system.dim(), form, values: gelda.values() };
    Ok(Prepared::new(Box::new(gelda), at, system.names().to_vec(), unknowns))
}

fn quasilinear(system: &System, found: &Characteristics) -> Result<Prepared, PrepareError> {
    let t = found.t;
    check(system, found)?;
    let array = minimal_array(system, found).map_err(|cause| StartFailure::Procedure { t, cause })?;
    let y = array.on_jet(&found.jet);
    let mut ydot = vec![0.0; y.len()];
    let undefined = |_| StepFailure::Undefined { t };
    let (dae, degrees, open): (Box<dyn Dae>, usize, usize) = if system.is_large() {
        let mut dae = LargeSystem::new(array.clone(), &*system.compiler, found.values, found.ranks, t, &y)?;
        dae.rates(t, &y, &mut ydot).map_err(undefined)?;
        let (degrees, open) = (dae.degrees(), dae.open());
        (Box::new(dae), degrees, open)
    } else {
        let mut dae = QuasiLinear::new(array.clone(), &*system.compiler, found.values, found.ranks, t, &y)?;
        dae.rates(t, &y, &mut ydot).map_err(undefined)?;
        let (degrees, open) = (dae.degrees(), dae.open());
        (Box::new(dae), degrees, open)
    };
    let (invariants, wanted, undetermined) = (system.first.invariants.len(), found.values.d, found.values.u);
    if degrees > wanted || degrees + invariants < wanted || open != undetermined {
        return Err(StartFailure::Degrees { t, degrees, wanted, open, undetermined }.into());
    }
    let unknowns = Unknowns { dim: system.dim(), form: Form::QuasiLinear, values: found.values };
    let names = array.names.clone();
    let at = Point { t, x: y, xdot: ydot };
    Ok(Prepared { array: Some(array), ..Prepared::new(dae, at, names, unknowns) })
}

/// ẋ at a point that has been analysed, with the derivatives of algebraic unknowns, which need one more differentiation.
pub fn derivatives(system: &System, found: &Characteristics) -> Vec<f64> {
    let (n, level) = (system.dim(), found.values.mu + 1);
    let mut jet = found.jet.clone();
    jet.resize((level + 2) * n, 0.0);
    match fit_derivatives(&mut system.array(), level, found.t, &mut jet, found.ranks) {
        Ok(fit) if fit.consistent() => jet[n..2 * n].to_vec(),
        _ => found.xdot().to_vec(),
    }
}

/// Bring a state back onto all constraints, moving it as little as possible.
pub fn restore(
    system: &System,
    array: Option<&MinimalArray>,
    values: CharacteristicValues,
    ranks: RankRule,
    (t, x): (f64, &mut [f64]),
) {
    let n = system.dim();
    let depth = Depth { most: values.mu + 1, confirm: false, ranks };
    if let Ok(found) = characterise_at(system, &mut system.array(), t, &x[..n], depth) {
        match array {
            Some(array) => x.copy_from_slice(&array.on_jet(&found.jet)),
            None => x.copy_from_slice(found.x()),
        }
    }
}
