//! The stage equations of a square system, and their Newton systems.
//!
//! With rows that contain derivatives multiplied by h, and Ĝᵣ = Σⱼ τᵣⱼ G(t₀ + cⱼh, x₀ + Zⱼ, Ẋⱼ):
//!
//! ```text
//! (γE − hA) ΔW₁ = −h Ĝ₁,   ((αₖ + iβₖ)E − hA)(ΔW₂ₖ + iΔW₂ₖ₊₁) = −h (Ĝ₂ₖ + iĜ₂ₖ₊₁)
//! ```
//!
//! Algebraic rows are −A ΔW = −Ĝ, whatever h.

use crate::dae::{Dae, Pencil};
use crate::error::StepFailure;
use crate::linalg::{IterationMatrix, Singular};
use crate::method::collocation::{
    Collocation, Discretised, OffStage, PointRate, Prediction, StageEquations, StagePoints, StageRate, StageVectors,
    Tableau, Transformed, Unsettled,
};
use crate::method::convergence::{Convergence, Limits};
use crate::method::pace::{Failures, first_step_of};
use crate::method::sums::{of_length, square, sum_of, vectors};
use crate::method::weights::Weights;
use crate::method::{State, derivative};
use crate::motion::Undefined;
use crate::statistics::{Residuals, Statistics};
use faer::c64;

/// The decomposed matrices of a step size, with rows at the stages.
struct StepMatrices {
    /// γE − hA.
    real: IterationMatrix<f64>,
    /// (αₖ + iβₖ)E − hA.
    complex: Vec<IterationMatrix<c64>>,
    algebraic: Vec<bool>,
    /// −h, or −1 in algebraic rows
    scales: Vec<f64>,
    /// rows G at the stages, one behind the other
    G: Vec<f64>,
    /// ΔW₂ₖ + iΔW₂ₖ₊₁, one pair behind the other
    pairs: Vec<c64>,
    /// the stages and their rates, one behind the other
    X: Vec<f64>,
    Xdot: Vec<f64>,
}

impl StepMatrices {
    /// Room for a system and this number of stages.
    fn new(dae: &dyn Dae, pencil: &Pencil, stages: usize) -> Self {
        let n = dae.dim();
        let algebraic: Vec<bool> = (0..n).map(|i| dae.algebraic(i)).collect();
        StepMatrices {
            real: IterationMatrix::new(pencil, algebraic.clone()),
            complex: (0..stages / 2).map(|_| IterationMatrix::new(pencil, algebraic.clone())).collect(),
            algebraic,
            scales: vec![-1.0; n],
            G: vec![0.0; stages * n],
            pairs: vec![c64::new(0.0, 0.0); stages / 2 * n],
            X: vec![0.0; stages * n],
            Xdot: vec![0.0; stages * n],
        }
    }

    /// Decompose all for a step size.
    fn decompose(&mut self, pencil: &Pencil, tableau: &Tableau, h: f64) -> Result<(), Singular> {
        for (scale, algebraic) in self.scales.iter_mut().zip(&self.algebraic) {
            *scale = if *algebraic { -1.0 } else { -h };
        }
        self.real.decompose(pencil, tableau.GAMMA, h)?;
        for (matrix, &(alpha, beta)) in self.complex.iter_mut().zip(tableau.PAIRS) {
            matrix.decompose(pencil, c64::new(alpha, beta), h)?;
        }
        Ok(())
    }
}

/// −h Ĝ, or −Ĝ in algebraic rows, of the rows G at the stages: the first, and the pairs of the others.
fn right_sides<const S: usize>(T: &[f64], G: &[f64], scales: &[f64], first: &mut [f64], pairs: &mut [c64]) {
    let (n, T) = (scales.len(), square::<S>(T));
    of_length!(n, S => right_sides_at::<S>(n, &T, G, scales, first, pairs));
}

#[inline(always)]
fn right_sides_at<const S: usize>(
    n: usize,
    T: &[[f64; S]; S],
    G: &[f64],
    scales: &[f64],
    first: &mut [f64],
    pairs: &mut [c64],
) {
    let (G, scales, first, pairs) = (vectors::<S>(G, n), &scales[..n], &mut first[..n], &mut pairs[..S / 2 * n]);
    for i in 0..n {
        let (g, scale) = (G.map(|g| g[i]), scales[i]);
        first[i] = sum_of(&T[0], &g) * scale;
        for k in 0..S / 2 {
            let [re, im] = [2 * k + 1, 2 * k + 2].map(|r| sum_of(&T[r], &g) * scale);
            pairs[k * n + i] = c64::new(re, im);
        }
    }
}

/// A square system with its matrices.
pub(crate) struct SquareStages<'p> {
    dae: Box<dyn Dae + 'p>,
    pencil: Pencil,
    matrices: StepMatrices,
    /// those of shorter steps inside of the last one, where values between steps are wanted
    inside: Option<StepMatrices>,
    /// ẋ at the last accepted point, and where the last step began
    xdot: Vec<f64>,
    xdot_before: Vec<f64>,
    /// are all rows constraints?
    without_freedom: bool,
    /// see [`RadauIIa::safeguards`](super::RadauIIa::safeguards)
    safeguards: bool,
}

impl<'p> SquareStages<'p> {
    /// At a point with this ẋ, with up to so many stages.
    pub fn new(
        mut dae: Box<dyn Dae + 'p>,
        here: &State,
        xdot: Vec<f64>,
        stages: usize,
        safeguards: bool,
    ) -> Result<Self, StepFailure> {
        let n = dae.dim();
        let mut pencil = dae.new_pencil();
        dae.pencil(here.t, &here.x, &xdot, &mut pencil)?;
        Ok(SquareStages {
            matrices: StepMatrices::new(&*dae, &pencil, stages),
            inside: None,
            xdot_before: vec![0.0; n],
            xdot,
            without_freedom: n > 0 && (0..n).all(|i| dae.algebraic(i)),
            safeguards,
            dae,
            pencil,
        })
    }

    /// The matrices of the run and those of shorter steps inside of the last one change places.
    fn exchange(&mut self) {
        if let Some(inside) = &mut self.inside {
            std::mem::swap(&mut self.matrices, inside);
        }
    }
}

impl StageEquations for SquareStages<'_> {
    fn evaluate(&mut self, stage: usize, t: f64, X: &[f64], Xdot: StageRate) -> Result<(), Undefined> {
        let (n, matrices) = (X.len(), &mut self.matrices);
        let rate = &mut matrices.Xdot[..n];
        Xdot.write(rate);
        self.dae.residual(stage, t, X, rate, &mut matrices.G[stage * n..][..n])
    }

    fn evaluate_all(&mut self, points: &StagePoints, _: &mut [f64], evaluated: &mut u64) -> Result<(), Undefined> {
        let (n, StepMatrices { X, Xdot, G, .. }) = (points.x.len(), &mut self.matrices);
        points.points_and_rates(X, Xdot);
        for j in 0..points.tableau.stages() {
            *evaluated += 1;
            let at = j * n..(j + 1) * n;
            self.dae.residual(j, points.time(j), &X[at.clone()], &Xdot[at.clone()], &mut G[at])?;
        }
        Ok(())
    }

    fn increments(&mut self, stages: &mut Transformed, _h: f64) {
        let StepMatrices { real, complex, scales, G, pairs, .. } = &mut self.matrices;
        let (T, n) = (stages.tableau.T_INVERSE, scales.len());
        let (first, others) = stages.dW.split_at_mut(n);
        match stages.tableau.stages() {
            1 => right_sides::<1>(T, G, scales, first, pairs),
            3 => right_sides::<3>(T, G, scales, first, pairs),
            5 => right_sides::<5>(T, G, scales, first, pairs),
            _ => right_sides::<7>(T, G, scales, first, pairs),
        }
        real.solve(first);
        let of_pairs = others.chunks_exact_mut((2 * n).max(1)).zip(pairs.chunks_exact_mut(n.max(1)));
        for (matrix, (dW, pair)) in complex.iter_mut().zip(of_pairs) {
            matrix.solve(pair);
            let (re, im) = dW.split_at_mut(n);
            for ((z, re), im) in pair.iter().zip(re).zip(im) {
                (*re, *im) = (z.re, z.im);
            }
        }
    }
}

impl Discretised for SquareStages<'_> {
    fn at_stages(&mut self) -> &mut dyn StageEquations {
        self
    }

    fn judge(&self) -> fn(Limits, &mut f64) -> Convergence {
        match self.safeguards {
            true if self.dae.multipliers_lag() => Convergence::patient,
            true => Convergence::cautious,
            false => Convergence::new,
        }
    }

    fn first_prediction(&self) -> Prediction<'_> {
        if self.dae.quasilinear() { Prediction::Zero } else { Prediction::Line(&self.xdot) }
    }

    fn renew(
        &mut self,
        here: &State,
        _h: f64,
        collocation: &mut Collocation,
        counters: &mut Statistics,
    ) -> Result<(), StepFailure> {
        self.dae.pencil(here.t, &here.x, &self.xdot, &mut self.pencil)?;
        counters.jacobians += 1;
        collocation.renewed(true);
        Ok(())
    }

    fn decompose(&mut self, tableau: &'static Tableau, h: f64, counters: &mut Statistics) -> Result<(), Singular> {
        counters.decompositions += 1;
        self.matrices.decompose(&self.pencil, tableau, h)
    }

    fn correction(
        &mut self,
        point: OffStage,
        (t, x, rate, h): PointRate,
        tableau: &Tableau,
        counters: &mut Statistics,
        xi: &mut [f64],
    ) -> Result<(), Undefined> {
        let StepMatrices { real, algebraic, Xdot, .. } = &mut self.matrices;
        let Xdot = &mut Xdot[..x.len()];
        Xdot.iter_mut().zip(rate).for_each(|(xdot, rate)| *xdot = rate / h);
        counters.residuals += 1;
        // numbered behind the stages
        let number = tableau.stages() + usize::from(point == OffStage::Inside);
        self.dae.residual(number, t, x, Xdot, xi)?;
        let of_algebraic_rows = if self.safeguards && point != OffStage::Inside { 0.0 } else { -1.0 };
        for (xi, algebraic) in xi.iter_mut().zip(algebraic) {
            *xi *= if *algebraic { of_algebraic_rows } else { -h };
        }
        real.solve(xi);
        Ok(())
    }

    fn without_freedom(&self) -> bool {
        self.without_freedom
    }

    fn reach(
        &mut self,
        _t: f64,
        _x: &[f64],
        stages: &StageVectors,
        h: f64,
        _counters: &mut Statistics,
    ) -> Result<(), Undefined> {
        std::mem::swap(&mut self.xdot, &mut self.xdot_before);
        stages.derivative(stages.tableau().stages() - 1, h, &mut self.xdot);
        Ok(())
    }

    fn accepted(
        &mut self,
        state: &mut State,
        _h: f64,
        collocation: &mut Collocation,
        _counters: &mut Statistics,
    ) -> Result<(), Unsettled> {
        collocation.weights.at(&state.x);
        let last = collocation.tableau().stages() - 1;
        self.dae.accepted(last, state.t, &mut state.x, &self.xdot).map_err(Unsettled::WayOn)?;
        collocation.jacobian_wanted |= self.dae.wants_pencil();
        Ok(())
    }

    fn back(&mut self, _state: &State, _counters: &mut Statistics) -> Result<(), StepFailure> {
        self.xdot.copy_from_slice(&self.xdot_before);
        Ok(())
    }

    fn restart(&mut self, state: &State, xdot: Option<&[f64]>) -> Result<(), StepFailure> {
        if let Some(xdot) = xdot {
            self.xdot.copy_from_slice(xdot);
        }
        self.dae.jumped(state.t, &state.x);
        let (pencil, matrix) = (&mut self.pencil, &mut self.matrices.real);
        derivative::recover(&mut *self.dae, pencil, matrix, (state.t, &state.x), &mut self.xdot)
    }

    fn watch_between(&mut self, stages: usize) {
        self.inside = Some(StepMatrices::new(&*self.dae, &self.pencil, stages));
    }

    fn decompose_inside(&mut self, collocation: &mut Collocation, h: f64) -> Result<(), Singular> {
        self.exchange();
        self.matrices.decompose(&self.pencil, collocation.tableau(), h)
    }

    fn high_index_from_polynomial(&self) -> bool {
        true
    }

    fn looked_back(&mut self) {
        self.exchange();
        self.dae.looked_back();
    }

    fn settle_inside(&mut self, t: f64, x: &mut [f64], _counters: &mut Statistics) {
        self.dae.settle(t, x);
    }

    fn first_size(&self, x: &[f64], weights: &Weights, scratch: [&mut [f64]; 2]) -> f64 {
        first_step_of(&self.pencil, (x, &self.xdot), weights, scratch)
    }

    fn rates(&self, xdot: &mut [f64]) {
        xdot.copy_from_slice(&self.xdot);
    }

    fn stuck(&self, t: f64, h: f64, failures: Failures) -> StepFailure {
        failures.of_general(&*self.dae, t, h)
    }

    fn system(&mut self) -> Option<&mut dyn Dae> {
        Some(&mut *self.dae)
    }

    fn counted(&self, counters: Statistics) -> Statistics {
        Statistics { selectors: self.dae.selections(), ..counters }
    }

    fn residuals(&self) -> Residuals {
        self.dae.residuals()
    }

    fn undetermined(&self) -> Vec<Vec<f64>> {
        self.dae.undetermined()
    }

    fn decisions(&self) -> String {
        self.dae.decisions()
    }
}
