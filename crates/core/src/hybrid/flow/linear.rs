//! A mode that is a linear system, given by its coefficients.

use super::impulses::ImpulseLaw;
use super::{Entered, Flow, KnownOfRestart, ModeEntry, counted, kept};
use crate::dae::Point;
use crate::dae::{Gelda, GeldaOptions, Keep};
use crate::hybrid::error::EnterError;
use crate::hybrid::impulsive;
use crate::linalg::{Mat, Matrix, RankRule};
use crate::linear::{Coefficients, RankOptions, TaylorData};
use crate::method::{Integrator, StartFailure, Stepper};
use crate::options::Options;
use std::cell::OnceCell;

/// A linear system E ẋ = A x + b.
pub struct LinearFlow<C> {
    names: Vec<String>,
    coefficients: C,
    integrator: Box<dyn Integrator>,
    /// impulses, where the coefficients are constant
    impulse_law: OnceCell<Option<ImpulseLaw>>,
}

impl<C: Coefficients + Clone> LinearFlow<C> {
    /// Coefficients with the names of the unknowns and the method to solve the system.
    pub fn new(names: Vec<String>, coefficients: C, integrator: impl Integrator + 'static) -> Self {
        LinearFlow { names, coefficients, integrator: Box::new(integrator), impulse_law: OnceCell::new() }
    }

    /// Combinations of the unknowns that impulses cannot change at a time.
    fn combinations(&self, d: usize, t: f64, ranks: RankRule) -> Result<Option<Mat<f64>>, EnterError> {
        let mut coefficients = self.coefficients.clone();
        let (m, n, order) = (coefficients.rows(), coefficients.dim(), usize::from(!coefficients.constant()));
        let mut data = TaylorData::new(m, n, order);
        let taylor = coefficients.taylor(t, order, &mut data);
        taylor.map_err(|error| EnterError::Impulses { reason: error.to_string() })?;
        let dense = |M: &Matrix| Mat::from_fn(m, n, |i, j| M[(i, j)]);
        let rate = data.E.get(1).map_or_else(|| Mat::zeros(m, n), dense);
        let rows = kept(&impulsive::CoefficientsAt { E: dense(&data.E[0]), rate, A: dense(&data.A[0]) }, ranks)?;
        counted(rows, d).map(Some)
    }

    /// What entering the mode did to an unknown beside its jump.
    fn entered(&self, entry: &ModeEntry, stepper: &dyn Stepper, options: &Options) -> Entered {
        let law = self.impulse_law.get_or_init(|| {
            let mut coefficients = self.coefficients.clone();
            let mut data = TaylorData::new(coefficients.rows(), coefficients.dim(), 0);
            let known = coefficients.constant() && coefficients.taylor(entry.t, 0, &mut data).is_ok();
            let [E, A] = [data.E.swap_remove(0), data.A.swap_remove(0)];
            known.then(|| ImpulseLaw::new(E, &A, options.ranks())).flatten()
        });
        let x = &stepper.state().x;
        law.as_ref().map_or_else(Entered::default, |law| law.entered(entry, x, &self.names, options))
    }

    /// Does the derivative of an unknown occur at a time? Coefficients without values say so elsewhere.
    fn is_differentiated(&self, unknown: usize, t: f64) -> bool {
        let mut coefficients = self.coefficients.clone();
        let mut data = TaylorData::new(coefficients.rows(), coefficients.dim(), 0);
        let E = coefficients.taylor(t, 0, &mut data).map(|()| &data.E[0]);
        E.is_ok_and(|E| (0..E.rows()).any(|i| E[(i, unknown)] != 0.0))
    }
}

impl<C: Coefficients + Clone + 'static> Flow for LinearFlow<C> {
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    fn enter<'f>(
        &'f self,
        entry: &ModeEntry,
        options: &Options,
    ) -> Result<(Box<dyn Stepper + 'f>, Entered), EnterError> {
        entry.check(self.coefficients.dim())?;
        let t = entry.t;
        let ranks = RankOptions { rule: options.ranks(), ..RankOptions::default() };
        let gelda_options = GeldaOptions { ranks, ..GeldaOptions::default() };
        let reduced = Gelda::new(self.coefficients.clone(), t, gelda_options);
        let mut gelda = reduced.map_err(|cause| StartFailure::Reduction { cause: Box::new(cause) })?;
        let mut x = vec![0.0; entry.start.len()];
        entry.write(&mut x);
        let mut at = Point { t, xdot: vec![0.0; x.len()], x };
        let kept = |d: usize, t: f64, _: &[f64], _: &[f64]| self.combinations(d, t, options.ranks());
        let differentiated = |unknown| self.is_differentiated(unknown, entry.t);
        let known = KnownOfRestart { kept: &kept, move_along: false, differentiated: &differentiated };
        entry.impose(&mut gelda, &mut at, &self.names, options, &known)?;
        // only its derivative is new now
        let at = gelda.consistent(t, &at.x, Keep::default())?;
        let named = options.for_unknowns(&self.names);
        let stepper = self.integrator.start(Box::new(gelda), at, named.as_ref().unwrap_or(options))?;
        let entered = self.entered(entry, &*stepper, options);
        Ok((stepper, entered))
    }

    fn enter_again(
        &self,
        stepper: &mut dyn Stepper,
        entry: &ModeEntry,
        options: &Options,
    ) -> Result<Entered, EnterError> {
        entry.check(self.coefficients.dim())?;
        let kept = |d: usize, t: f64, _: &[f64], _: &[f64]| self.combinations(d, t, options.ranks());
        let differentiated = |unknown| self.is_differentiated(unknown, entry.t);
        let known = KnownOfRestart { kept: &kept, move_along: false, differentiated: &differentiated };
        entry.impose_again(stepper, &self.names, options, &known)?;
        Ok(self.entered(entry, stepper, options))
    }
}
