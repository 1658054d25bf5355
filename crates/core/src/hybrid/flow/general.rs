//! A mode that is a general system: what impulses leave alone follows from its derivative array.

use super::impulses::ImpulseLaw;
use super::{Entered, Flow, KnownOfRestart, ModeEntry, Part, counted, kept};
use crate::dae::hidden::MinimalArray;
use crate::dae::{CharacteristicValues, DerivativeArray, Form, PrepareError, System, prepare_by};
use crate::error::StepFailure;
use crate::hybrid::error::EnterError;
use crate::hybrid::impulsive::CoefficientsAt;
use crate::initial::{Initial, Start};
use crate::linalg::{Mat, Matrix, RankRule};
use crate::method::{Integrator, Stepper};
use crate::options::Options;
use crate::run::{Course, CourseOfSystem};
use std::cell::{OnceCell, RefCell};

/// Combinations of the unknowns that impulses cannot change.
enum KeptCombinations {
    /// The same at all times, since all coefficients are numbers.
    Always(Result<Mat<f64>, EnterError>),
    /// By the coefficients at the instant.
    Linearised(RefCell<DerivativeArray>),
}

/// What is known about the form that is integrated.
struct FormFound {
    /// the system with ẋ = 0 for free unknowns
    completed: Option<System>,
    /// formulas of hidden constraints
    array: Option<MinimalArray>,
    values: CharacteristicValues,
}

/// A general system.
pub struct GeneralFlow {
    system: System,
    form: Form,
    integrator: Box<dyn Integrator>,
    /// made when constraints are first to be repaired
    kept: OnceCell<KeptCombinations>,
    /// found when it is first entered
    form_found: OnceCell<FormFound>,
    /// impulses, where all coefficients are numbers
    impulse_law: OnceCell<Option<ImpulseLaw>>,
}

impl GeneralFlow {
    /// A system with the form and the method to solve it.
    pub fn new(system: System, form: Form, integrator: impl Integrator + 'static) -> Self {
        GeneralFlow {
            system,
            form,
            integrator: Box::new(integrator),
            kept: OnceCell::new(),
            form_found: OnceCell::new(),
            impulse_law: OnceCell::new(),
        }
    }

    fn kept(&self, ranks: RankRule) -> KeptCombinations {
        match self.system.structure().numbers() {
            Some([E, slope]) => {
                let rate = Mat::zeros(E.nrows(), E.ncols());
                KeptCombinations::Always(kept(&CoefficientsAt { E, rate, A: -slope }, ranks))
            }
            None => KeptCombinations::Linearised(RefCell::new(self.system.array())),
        }
    }

    /// Combinations of the unknowns that impulses cannot change at a point.
    fn combinations(
        &self,
        d: usize,
        (t, x, xdot): (f64, &[f64], &[f64]),
        ranks: RankRule,
    ) -> Result<Option<Mat<f64>>, EnterError> {
        if self.system.structure().algebraic().iter().filter(|algebraic| !**algebraic).count() == d {
            // nothing is hidden: impulses reach the kernel of E
            return Ok(None);
        }
        let rows = match self.kept.get_or_init(|| self.kept(ranks)) {
            KeptCombinations::Always(rows) => rows.clone()?,
            KeptCombinations::Linearised(array) => kept(&self.linearised(&mut array.borrow_mut(), t, x, xdot)?, ranks)?,
        };
        // what is free is kept by no equation, invariants by none of these
        let plain = self.system.formulas.free.is_empty() && self.system.first.invariants.is_empty();
        if plain { counted(rows, d).map(Some) } else { Ok(Some(rows)) }
    }

    fn linearised(
        &self,
        array: &mut DerivativeArray,
        t: f64,
        x: &[f64],
        xdot: &[f64],
    ) -> Result<CoefficientsAt, StepFailure> {
        let (m, n) = (self.system.rows(), self.system.dim());
        let jet = [&x[..n], &xdot[..n], &vec![0.0; n]].concat();
        let mut J = Matrix::zeros(2 * m, 3 * n);
        array.jacobian(1, t, &jet, &mut J).map_err(|_| StepFailure::Undefined { t })?;
        // ∂F₁/∂X₁ = F_x + dF_ẋ/dt
        let rate = |i: usize, j: usize| {
            let (sum, slope) = (J[(m + i, n + j)], J[(i, j)]);
            if (sum - slope).abs() <= 8.0 * f64::EPSILON * (sum.abs() + slope.abs()) { 0.0 } else { sum - slope }
        };
        Ok(CoefficientsAt {
            E: Mat::from_fn(m, n, |i, j| J[(i, n + j)]),
            rate: Mat::from_fn(m, n, rate),
            A: Mat::from_fn(m, n, |i, j| -J[(i, j)]),
        })
    }

    /// What entering the mode did to an unknown beside its jump.
    fn entered(&self, entry: &ModeEntry, stepper: &dyn Stepper, options: &Options) -> Entered {
        let law = self.impulse_law.get_or_init(|| {
            let [E, slope] = self.system.structure().numbers()?;
            let dense = |M: &Mat<f64>, sign: f64| {
                let mut dense = Matrix::zeros(M.nrows(), M.ncols());
                (0..M.nrows()).for_each(|i| (0..M.ncols()).for_each(|j| dense[(i, j)] = sign * M[(i, j)]));
                dense
            };
            ImpulseLaw::new(dense(&E, 1.0), &dense(&slope, -1.0), options.ranks())
        });
        let x = &stepper.state().x;
        law.as_ref().map_or_else(Entered::default, |law| law.entered(entry, x, self.system.names(), options))
    }

    /// A stepper that does not borrow from the system.
    pub(crate) fn start(&self, entry: &ModeEntry, options: &Options) -> Result<Box<dyn Stepper>, EnterError> {
        entry.check(self.system.dim())?;
        let first = &self.system.first;
        let orders = first.origin.iter().map(|(_, order)| *order as usize).max().unwrap_or(0);
        let states = self.system.formulas.states.len();
        let mut blocks = vec![vec![Start::Unknown; states]; orders + 1];
        for (&(state, order), &start) in first.origin.iter().zip(&entry.start) {
            blocks[order as usize][state] = start;
        }
        let derivatives = blocks.split_off(1);
        let states = blocks.pop().unwrap_or_default();
        let initial = Initial { t: entry.t, states, derivatives, ..Initial::default() };
        let prepared = prepare_by(&self.system, &initial, self.form, options.ranks()).map_err(|error| match error {
            PrepareError::Analysis(error) => EnterError::Analysis(error),
            PrepareError::Start(failure) => EnterError::Start(failure),
        })?;
        let (completed, array, values) = (prepared.completed, prepared.array, prepared.unknowns.values);
        self.form_found.get_or_init(|| FormFound { completed, array, values });
        let (mut dae, mut point) = (prepared.dae, prepared.at);
        let kept = |d: usize, t: f64, x: &[f64], xdot: &[f64]| self.combinations(d, (t, x, xdot), options.ranks());
        let structure = self.system.structure();
        let known = KnownOfRestart {
            kept: &kept,
            move_along: structure.leading_moves(),
            differentiated: &|unknown| structure.is_differentiated(unknown),
        };
        entry.impose(&mut *dae, &mut point, self.system.names(), options, &known)?;
        let named = options.for_unknowns(self.system.names());
        Ok(self.integrator.start(dae, point, named.as_ref().unwrap_or(options))?)
    }
}

impl Flow for GeneralFlow {
    fn names(&self) -> Vec<String> {
        self.system.names().to_vec()
    }

    fn enter<'f>(
        &'f self,
        entry: &ModeEntry,
        options: &Options,
    ) -> Result<(Box<dyn Stepper + 'f>, Entered), EnterError> {
        let stepper = self.start(entry, options)?;
        let entered = self.entered(entry, &*stepper, options);
        Ok((stepper, entered))
    }

    fn enter_again(
        &self,
        stepper: &mut dyn Stepper,
        entry: &ModeEntry,
        options: &Options,
    ) -> Result<Entered, EnterError> {
        entry.check(self.system.dim())?;
        let kept = |d: usize, t: f64, x: &[f64], xdot: &[f64]| self.combinations(d, (t, x, xdot), options.ranks());
        let structure = self.system.structure();
        let known = KnownOfRestart {
            kept: &kept,
            move_along: structure.leading_moves(),
            differentiated: &|unknown| structure.is_differentiated(unknown),
        };
        entry.impose_again(stepper, self.system.names(), options, &known)?;
        Ok(self.entered(entry, stepper, options))
    }

    fn part(&self, unknown: usize) -> Part {
        if self.system.structure().is_differentiated(unknown) { Part::Differential } else { Part::Algebraic }
    }

    fn system(&self) -> Option<System> {
        Some(self.system.clone())
    }

    fn course(&self) -> Option<Box<dyn Course + '_>> {
        let form = self.form_found.get();
        Some(Box::new(CourseOfSystem {
            system: form.and_then(|form| form.completed.as_ref()).unwrap_or(&self.system),
            array: form.and_then(|form| form.array.as_ref()),
            values: form.map(|form| form.values),
        }))
    }
}
