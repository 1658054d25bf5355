//! GELDA: E(t) ẋ = A(t) x + b(t) of any strangeness index, over- or underdetermined, as a square system for an integrator,
//!
//! G = [ Z₁ᵀ(E ẋ − A x − b) ; −(A₂ x + b₂) ; Uᵀ ẋ ]      d, a and u rows.
//!
//! U spans the kernel of (E₁; A₂): what the equations leave undetermined keeps its last value, (5.16) of Wunderlich, thesis (2008).
//! The projections are chosen at the point of a pencil; at the other times of a step they move smoothly with it. The characteristic
//! values are computed again at every accepted point. Kunkel, Mehrmann, Rath & Weickert, A new software package for linear
//! differential-algebraic equations, SIAM J. Sci. Comput. 18 (1997).

mod consistent;

pub use consistent::Keep;

use super::{CharacteristicValues, Dae, Pencil, Point};
use crate::error::StepFailure;
use crate::linalg::product::{dot, norm};
use crate::linalg::rank::{RankWatch, Rows};
use crate::linalg::{LeastChange, MOVING_WEIGHT, Matrix};
use crate::linear::{
    Coefficients, FrameError, LeastClear, MovingFrame, RankOptions, ReducedSystem, Reducer, ReductionError,
    StrangenessFree,
};
use crate::motion::Undefined;
use crate::statistics::Residuals;
use consistent::{DerivativeError, consistent_value, derivative, differential_part};

/// What to do with equations that contradict each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Contradiction {
    /// Stop.
    #[default]
    Stop,
    /// Leave the contradicting combinations away: the least squares solution.
    LeastSquares,
}

/// Options of [`Gelda`].
#[derive(Clone, Debug, PartialEq)]
pub struct GeldaOptions {
    /// How ranks are decided.
    pub ranks: RankOptions,
    /// ‖Z₃ᵀg‖ above this part of ‖g‖ is a contradiction.
    pub consistency_tolerance: f64,
    /// What to do then.
    pub contradiction: Contradiction,
}

impl Default for GeldaOptions {
    fn default() -> Self {
        GeldaOptions {
            ranks: RankOptions::default(),
            consistency_tolerance: 1e-8,
            contradiction: Contradiction::default(),
        }
    }
}

/// Times whose reduced coefficients are kept: more than any method has stages.
const SLOTS: usize = 16;

/// A linear DAE as an integrator sees it.
///
/// ```
/// use daedal::Options;
/// use daedal::linalg::Matrix;
/// use daedal::dae::{Gelda, GeldaOptions, Keep};
/// use daedal::linear::ConstantCoefficients;
/// use daedal::RadauIIa;
/// use daedal::method::Integrator;
///
/// // x₁' = x₂, 0 = x₁ − t², with the hidden constraint x₂ = 2t
/// let (mut E, mut A) = (Matrix::zeros(2, 2), Matrix::zeros(2, 2));
/// E[(0, 0)] = 1.0;
/// A[(0, 1)] = 1.0;
/// A[(1, 0)] = 1.0;
/// let b = vec![vec![], vec![0.0, 0.0, -1.0]];
/// let mut system = Gelda::new(ConstantCoefficients::new(E, A, b), 0.0, GeldaOptions::default())?;
/// assert_eq!(system.values().to_string(), "μ = 1, d = 0, a = 2, v = 0, u = 0");
/// let start = system.consistent(0.0, &[5.0, 5.0], Keep::LeastChange)?;
/// let mut stepper = RadauIIa::default().start(Box::new(system), start, &Options::default())?;
/// while stepper.state().t < 3.0 {
///     stepper.advance(3.0)?;
/// }
/// assert!((stepper.state().x[0] - 9.0).abs() < 1e-9 && (stepper.state().x[1] - 6.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Gelda<C> {
    coefficients: C,
    options: GeldaOptions,
    reducer: Reducer,
    values: CharacteristicValues,
    /// the decisions at the last time that was looked at
    decided: StrangenessFree,
    frame: MovingFrame,
    slots: Vec<ReducedSystem>,
    next_slot: usize,
    constraint: Option<f64>,
    least_change: LeastChange,
    constraint_residuals: Vec<f64>,
    weights: Vec<f64>,
    /// (E₁; A₂) must stay regular on the way from one accepted point to the next
    watch: RankWatch,
    watched_at: f64,
    between: StrangenessFree,
}

impl<C: Coefficients> Gelda<C> {
    /// Analyse the equations at t₀.
    pub fn new(mut coefficients: C, t0: f64, options: GeldaOptions) -> Result<Self, ReductionError> {
        let (m, n) = (coefficients.rows(), coefficients.dim());
        let mut reducer = Reducer::new(m, n, options.ranks.clone());
        let mut decided = StrangenessFree::empty();
        reducer.reduce(&mut coefficients, t0, &mut decided)?;
        let values = decided.values;
        let frame = MovingFrame::new(&decided).map_err(|_| ReductionError::SvdFailed { t: t0 })?;
        Ok(Gelda {
            coefficients,
            options,
            reducer,
            values,
            frame,
            slots: (0..SLOTS).map(|_| ReducedSystem::new(values.d, values.a, n)).collect(),
            next_slot: 0,
            decided,
            constraint: None,
            least_change: LeastChange::new(values.a),
            constraint_residuals: vec![0.0; values.a],
            weights: vec![1.0; values.d + values.a + values.u],
            watch: RankWatch::new(values.d + values.a, n, Rows::Bases(values.d)),
            watched_at: t0,
            between: StrangenessFree::empty(),
        })
    }

    /// μ, d, a, v, u.
    pub fn values(&self) -> CharacteristicValues {
        self.values
    }

    /// The strangeness-free system at the last time that was analysed.
    pub fn strangeness_free(&self) -> &StrangenessFree {
        &self.decided
    }

    /// A consistent point near a guess.
    pub fn consistent(&mut self, t: f64, guess: &[f64], keep: Keep) -> Result<Point, StepFailure> {
        assert_eq!(guess.len(), self.dim(), "a guess of another length than the unknowns");
        self.decide(t)?;
        self.check_contradiction(t)?;
        let failed = |_| StepFailure::SvdFailed { t };
        // 5.5 needs E itself; with constant coefficients it stands there since the first reduction
        let x = consistent_value(&self.decided, &self.reducer.data.E[0], guess, keep).map_err(failed)?;
        let xdot = derivative(&mut self.coefficients, &self.decided, self.reducer.factors(), &self.options.ranks, &x)
            .map_err(|error| match error {
            DerivativeError::Svd(_) => StepFailure::SvdFailed { t },
            DerivativeError::Coefficients(_) => StepFailure::Undefined { t },
        })?;
        Ok(Point { t, x, xdot })
    }

    /// Decide everything anew at t, unless it was decided there.
    fn decide(&mut self, t: f64) -> Result<(), StepFailure> {
        if self.decided.system.t == t {
            return Ok(());
        }
        if self.coefficients.constant() {
            self.reducer
                .renew_inhomogeneity(&mut self.coefficients, t, &mut self.decided)
                .map_err(|_| StepFailure::Undefined { t })?;
            return Ok(());
        }
        let before = self.values;
        let changed = |now| StepFailure::CharacteristicChange { t, before, now };
        // what stands there is worth nothing if this fails
        self.decided.system.t = f64::NAN;
        match self.reducer.reduce(&mut self.coefficients, t, &mut self.decided) {
            Ok(()) if self.decided.values == before => Ok(()),
            Ok(()) => {
                self.decided.system.t = f64::NAN;
                Err(changed(self.decided.values))
            }
            Err(ReductionError::IndexNotFound { last, .. }) => Err(changed(last)),
            Err(ReductionError::SvdFailed { .. }) => Err(StepFailure::SvdFailed { t }),
            Err(ReductionError::Coefficients(_)) => Err(StepFailure::Undefined { t }),
        }
    }

    /// Do redundant equations contradict the others at the time last decided?
    fn check_contradiction(&self, t: f64) -> Result<(), StepFailure> {
        let agree = self.decided.inconsistency <= self.options.consistency_tolerance;
        if self.options.contradiction == Contradiction::Stop && !agree {
            return Err(StepFailure::Contradictory { t, residual: norm(&self.decided.consistency) });
        }
        Ok(())
    }

    /// From Newton's tolerance to rounding.
    fn polish(&mut self, x: &mut [f64]) {
        let system = &self.decided.system;
        for (i, r) in self.constraint_residuals.iter_mut().enumerate() {
            *r = dot(system.A2.row(i), x) + system.b2[i];
        }
        for (j, weight) in self.weights.iter_mut().enumerate() {
            let moves = (0..system.E1.rows()).any(|i| system.E1[(i, j)] != 0.0);
            *weight = if moves { MOVING_WEIGHT } else { 1.0 };
        }
        self.least_change.apply(&system.A2, &self.weights, &self.constraint_residuals, x);
    }

    /// Stop where (E₁; A₂) has lost rank since the last accepted point: solutions end or branch there, whatever the ranks of the points are.
    fn watch(&mut self, t: f64) -> Result<(), StepFailure> {
        let CharacteristicValues { d, a, .. } = self.values;
        if self.coefficients.constant() || d == 0 || a == 0 {
            return Ok(());
        }
        let Gelda { coefficients, reducer, between, decided, values, watched_at: t0, watch, .. } = self;
        put_together(&decided.system, watch.next_matrix());
        let mut looked = false;
        let lost = watch.step(|s, K| {
            looked = true;
            K.fill(0.0);
            let same = reducer.reduce(coefficients, *t0 + s * (t - *t0), between).is_ok() && between.values == *values;
            if same {
                put_together(&between.system, K);
            }
            true
        });
        let lost = lost.map(|s| *t0 + s * (t - *t0));
        *t0 = t;
        if looked {
            // the reducer has been elsewhere
            decided.system.t = f64::NAN;
            self.decide(t)?;
        }
        lost.map_or(Ok(()), |t| Err(StepFailure::LeadingSingular { t }))
    }

    /// Take the decisions as the reference of the frame; old reductions are void. With constant coefficients the first reference stays.
    fn take_reference(&mut self) -> Result<(), FrameError> {
        if self.coefficients.constant() {
            return Ok(());
        }
        for slot in &mut self.slots {
            slot.t = f64::NAN;
        }
        self.frame.reset(&self.decided)
    }

    /// The slot with the reduced coefficients at t.
    fn reduced(&mut self, t: f64) -> Result<usize, FrameError> {
        if let Some(slot) = self.slots.iter().position(|slot| slot.t == t) {
            return Ok(slot);
        }
        let slot = self.next_slot;
        self.next_slot = (slot + 1) % SLOTS;
        self.slots[slot].t = f64::NAN;
        let result = self.frame.reduce(&mut self.coefficients, t, &mut self.slots[slot]);
        if result.is_err() {
            self.slots[slot].t = f64::NAN;
        }
        result.map(|()| slot)
    }
}

/// K ← (E₁; A₂).
fn put_together(system: &ReducedSystem, K: &mut Matrix) {
    let d = system.E1.rows();
    (0..d).for_each(|i| K.row_mut(i).copy_from_slice(system.E1.row(i)));
    (0..system.A2.rows()).for_each(|i| K.row_mut(d + i).copy_from_slice(system.A2.row(i)));
}

impl<C: Coefficients> Dae for Gelda<C> {
    fn dim(&self) -> usize {
        self.coefficients.dim()
    }

    fn new_pencil(&self) -> Pencil {
        let n = self.dim();
        Pencil::dense(n, n)
    }

    fn algebraic(&self, row: usize) -> bool {
        let CharacteristicValues { d, a, .. } = self.values;
        (d..d + a).contains(&row)
    }

    fn quasilinear(&self) -> bool {
        true
    }

    fn residual(&mut self, _stage: usize, t: f64, x: &[f64], xdot: &[f64], r: &mut [f64]) -> Result<(), Undefined> {
        let slot = self.reduced(t).map_err(|_| Undefined)?;
        let (system, U) = (&self.slots[slot], self.frame.undetermined());
        let CharacteristicValues { d, a, u, .. } = self.values;
        for i in 0..d {
            r[i] = dot(system.E1.row(i), xdot) - dot(system.A1.row(i), x) - system.b1[i];
        }
        for i in 0..a {
            r[d + i] = -(dot(system.A2.row(i), x) + system.b2[i]);
        }
        for k in 0..u {
            r[d + a + k] = xdot.iter().enumerate().map(|(j, xdot)| U[(j, k)] * xdot).sum();
        }
        Ok(())
    }

    fn pencil(&mut self, t: f64, _x: &[f64], _xdot: &[f64], out: &mut Pencil) -> Result<(), StepFailure> {
        self.decide(t)?;
        self.take_reference().map_err(|_| StepFailure::SvdFailed { t })?;
        let [E, A] = out.dense_mut();
        let CharacteristicValues { d, a, u, .. } = self.values;
        let (system, U) = (&self.decided.system, self.frame.undetermined());
        E.fill(0.0);
        A.fill(0.0);
        for i in 0..d {
            E.row_mut(i).copy_from_slice(system.E1.row(i));
            A.row_mut(i).copy_from_slice(system.A1.row(i));
        }
        for i in 0..a {
            A.row_mut(d + i).copy_from_slice(system.A2.row(i));
        }
        for k in 0..u {
            for j in 0..E.cols() {
                E[(d + a + k, j)] = U[(j, k)];
            }
        }
        Ok(())
    }

    fn accepted(&mut self, _stage: usize, t: f64, x: &mut [f64], _xdot: &[f64]) -> Result<(), StepFailure> {
        self.decide(t)?;
        self.watch(t)?;
        self.polish(x);
        let system = &self.decided.system;
        self.constraint = (0..self.values.a).map(|i| (dot(system.A2.row(i), x) + system.b2[i]).abs()).reduce(f64::max);
        self.check_contradiction(t)
    }

    fn jumped(&mut self, t: f64, _: &[f64]) {
        self.watch.forget();
        self.watched_at = t;
    }

    fn constant_linear(&mut self) -> Option<&mut dyn Coefficients> {
        if self.coefficients.constant() { Some(&mut self.coefficients) } else { None }
    }

    fn differential_part(&self) -> Option<Matrix> {
        differential_part(&self.decided, &self.reducer.data.E[0]).ok()
    }

    fn residuals(&self) -> Residuals {
        Residuals { constraint: self.constraint, ..Residuals::default() }
    }

    fn undetermined(&self) -> Vec<Vec<f64>> {
        let U = self.frame.undetermined();
        (0..U.cols()).map(|k| (0..U.rows()).map(|j| U[(j, k)]).collect()).collect()
    }

    fn decisions(&self) -> String {
        let LeastClear { gap, place, level } = self.decided.least_clear;
        format!(
            "{}; least clear rank: {:.1e} kept, {:.1e} neglected ({place:?} of level {level})",
            self.values, gap.kept, gap.dropped
        )
    }
}
