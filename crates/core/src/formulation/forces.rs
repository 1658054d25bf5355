//! Forces as accurate as the motion: where multipliers are of index two, steps control h λ only. What is shown is a, w, λ, μ of
//!
//! ```text
//! M a = f − (GZ)ᵀλ − (HZ)ᵀμ,   0 = d,   0 = gII,   0 = hI
//! ```
//! at p, v, r, s of the step. The method goes on with its own values.

use super::selector::{SelectorGradients, Subspace};
use crate::dae::Dae;
use crate::error::{BadOption, ConstraintBlock, StepFailure};
use crate::linalg::{Jacobian, Lu, Matrix, RankRule, SparseLu};
use crate::method::collocation::Tableau;
use crate::method::collocation::nodes::KEPT;
use crate::method::passage::SparseRank;
use crate::method::{StartFailure, State, Stepper};
use crate::motion::{Form, Layout, Mechanism, ReducedArray, Undefined};
use crate::segment::Segment;
use crate::statistics::{Residuals, Statistics};
use crate::tolerance::Tolerance;

/// Most corrections with a matrix.
const MOST: u32 = 10;
/// A correction below this part of the tolerance is the last one.
const ENOUGH: f64 = 1e-3;
/// A matrix serves at other points while each correction is smaller than the one before by this factor.
const SLOW: f64 = 0.1;
/// Corrections that do not shrink any more are rounding if they are below the tolerance, or this part of the first one.
const ROUNDING: f64 = 1e-3;

/// The equations of forces at a point of a motion.
struct Forces<'p> {
    array: Box<dyn ReducedArray + 'p>,
    rows: Vec<f64>,
    F: Jacobian,
    /// places of a, w, λ, μ, and of their equations
    unknowns: Vec<usize>,
    equations: Vec<usize>,
    /// −∂(equations)/∂(a, w, λ, μ), at some point
    matrix: ForceMatrix,
    is_decomposed: bool,
    /// of the velocity level, and combinations that are redundant, if there are; nothing where a sparse K shows that there are none
    gradients: Option<SelectorGradients>,
    redundant: Matrix,
    correction: Vec<f64>,
    /// relative and absolute tolerances of the unknowns
    tolerances: Vec<(f64, f64)>,
    own: Vec<f64>,
    solves: u64,
}

impl<'p> Forces<'p> {
    /// At a point where the mechanism is defined.
    fn new(
        system: &'p (dyn Mechanism + '_),
        at: &State,
        tolerances: &[(f64, f64)],
        ranks: RankRule,
    ) -> Result<Self, StepFailure> {
        let undefined = |_| StepFailure::Undefined { t: at.t };
        let mut array = system.array(Form::StrangenessFree, false);
        let l = array.layout().clone();
        let unknowns: Vec<usize> = l.a().chain(l.w()).chain(l.lambda()).chain(l.mu()).collect();
        let equations: Vec<usize> =
            l.row_dynamics().chain(l.row_auxiliary()).chain(l.row_g2()).chain(l.row_h1()).collect();
        let (mut rows, mut F) = (vec![0.0; l.rows()], array.new_jacobian());
        array.evaluate(at.t, &at.x, &mut rows).map_err(undefined)?;
        array.jacobian(at.t, &at.x, &rows, &mut F).map_err(undefined)?;
        let [_, GZ, HZ] = array.matrices(at.t, &at.x[..l.dim()]).map_err(undefined)?;
        let independent = match Jacobian::stacked(&GZ, &HZ) {
            Jacobian::Sparse(K) => F.is_sparse() && SparseRank::of(&K, ranks).is_full(),
            Jacobian::Dense(_) => false,
        };
        let constraints = l.row_g1().start..l.row_h().end;
        let gradients = if independent {
            None
        } else {
            let (rows, columns) = (constraints.collect(), l.v().collect());
            let mut gradients = SelectorGradients::new(ConstraintBlock::Velocity, rows, columns, &l.s(), ranks);
            gradients.take(&F);
            gradients.choose(at.t, true)?;
            Some(gradients)
        };
        let multipliers = l.lambda().len() + l.mu().len();
        let dropped = gradients.as_ref().map_or(0, |gradients| gradients.dimension(Subspace::Dropped));
        Ok(Forces {
            redundant: Matrix::zeros(dropped, multipliers),
            gradients,
            rows,
            matrix: ForceMatrix::new(independent, &F, &equations, &unknowns),
            F,
            is_decomposed: false,
            correction: vec![0.0; unknowns.len()],
            tolerances: unknowns.iter().map(|&j| tolerances[j]).collect(),
            own: vec![0.0; l.dim()],
            solves: 0,
            unknowns,
            equations,
            array,
        })
    }

    /// Write a, w, λ, μ that belong to the rest of x; those of the method stay where there are none. Redundant constraints leave
    /// combinations of multipliers open, which keep their values.
    fn complete(&mut self, t: f64, x: &mut [f64]) {
        self.own.copy_from_slice(x);
        if !self.iterate(t, x).unwrap_or(false) {
            x.copy_from_slice(&self.own);
        }
    }

    fn iterate(&mut self, t: f64, x: &mut [f64]) -> Result<bool, Undefined> {
        let (mut first, mut last) = (None, f64::INFINITY);
        let (mut is_of_here, mut corrections) = (false, 0);
        loop {
            self.array.evaluate(t, x, &mut self.rows)?;
            if !self.is_decomposed {
                self.array.jacobian(t, x, &self.rows, &mut self.F)?;
                is_of_here = true;
                if !self.decompose(t) {
                    return Ok(false);
                }
            }
            for (c, &row) in self.correction.iter_mut().zip(&self.equations) {
                *c = self.rows[row];
            }
            self.take_off_redundant();
            self.matrix.solve(&mut self.correction);
            self.solves += 1;
            if self.correction.iter().any(|c| !c.is_finite()) {
                return Ok(false);
            }
            let parts = self.correction.iter().zip(&self.unknowns).zip(&self.tolerances);
            let size =
                parts.fold(0.0_f64, |most, ((c, &j), (rtol, atol))| most.max(c.abs() / (atol + rtol * x[j].abs())));
            let first = *first.get_or_insert(size);
            corrections += 1;
            if size <= SLOW * last && corrections <= MOST {
                self.unknowns.iter().zip(&self.correction).for_each(|(&j, c)| x[j] += c);
                if size <= ENOUGH {
                    return Ok(true);
                }
                last = size;
            } else if is_of_here {
                return Ok(size <= (ROUNDING * first).max(1.0));
            } else {
                (self.is_decomposed, last, corrections) = (false, f64::INFINITY, 0);
            }
        }
    }

    /// What redundant equations say beside the others is beside the constraints, and no reason to move their multipliers.
    fn take_off_redundant(&mut self) {
        let first = self.unknowns.len() - self.redundant.cols();
        let rows = &mut self.correction[first..];
        for u in (0..self.redundant.rows()).map(|k| self.redundant.row(k)) {
            let along: f64 = u.iter().zip(&*rows).map(|(u, r)| u * r).sum();
            rows.iter_mut().zip(u).for_each(|(r, u)| *r -= along * u);
        }
    }

    /// False where the matrix is singular: the multipliers are not determined there.
    fn decompose(&mut self, t: f64) -> bool {
        let matrix = match &mut self.matrix {
            ForceMatrix::Sparse { lu, places } => {
                for &(position, k) in places.iter() {
                    lu.values[position] = self.F.values()[k];
                }
                self.is_decomposed = lu.factor().is_ok();
                return self.is_decomposed;
            }
            ForceMatrix::Dense(matrix) => matrix,
        };
        for (i, &row) in self.equations.iter().enumerate() {
            for (j, &unknown) in self.unknowns.iter().enumerate() {
                matrix.A[(i, j)] = self.F[(row, unknown)];
            }
        }
        // the combinations u of constraints that are redundant hold uᵀ(λ, μ): u uᵀ stands where the saddle has its zeros
        let multipliers = self.redundant.cols();
        if let (Some(gradients), true) = (&mut self.gradients, self.redundant.rows() > 0) {
            gradients.take(&self.F);
            if gradients.choose(t, false).is_err() {
                return false;
            }
            gradients.basis(Subspace::Dropped, &mut self.redundant);
        }
        let first = self.unknowns.len() - multipliers;
        for u in (0..self.redundant.rows()).map(|k| self.redundant.row(k)) {
            for (i, ui) in u.iter().enumerate() {
                for (j, uj) in u.iter().enumerate() {
                    matrix.A[(first + i, first + j)] -= ui * uj;
                }
            }
        }
        self.is_decomposed = matrix.factor().is_ok();
        self.is_decomposed
    }
}

/// −∂(equations)/∂(a, w, λ, μ), decomposed.
enum ForceMatrix {
    Dense(Lu<f64>),
    /// with pairs of places among its values and among those of F
    Sparse {
        lu: Box<SparseLu<f64>>,
        places: Vec<(usize, usize)>,
    },
}

impl ForceMatrix {
    /// Sparse where F is and the constraints are independent.
    fn new(independent: bool, F: &Jacobian, equations: &[usize], unknowns: &[usize]) -> Self {
        if let (Jacobian::Sparse(F), true) = (F, independent) {
            let place_in = |all: &[usize], length: usize| {
                let mut places = vec![None; length];
                all.iter().enumerate().for_each(|(place, &k)| places[k] = Some(place));
                places
            };
            let (rows, columns) = (place_in(equations, F.rows()), place_in(unknowns, F.cols()));
            let own = (0..).zip(F.places()).filter_map(|(k, (i, j)): (usize, _)| Some((k, (rows[i]?, columns[j]?))));
            let (own, places): (Vec<usize>, Vec<(usize, usize)>) = own.unzip();
            if let (Some(lu), positions) = SparseLu::of_places(unknowns.len(), &places) {
                return ForceMatrix::Sparse { lu: Box::new(lu), places: positions.into_iter().zip(own).collect() };
            }
        }
        ForceMatrix::Dense(Lu::new(unknowns.len()))
    }

    fn solve(&mut self, b: &mut [f64]) {
        match self {
            ForceMatrix::Dense(lu) => lu.solve(b),
            ForceMatrix::Sparse { lu, .. } => lu.solve(b),
        }
    }
}

/// A method at work, with forces of the acceleration level.
pub(crate) struct WithForces<'p> {
    stepper: Box<dyn Stepper + 'p>,
    forces: Forces<'p>,
    state: State,
    /// where the last step began
    before: Vec<f64>,
    /// the polynomial through forces of the acceleration level, where it is kept
    kept: Segment,
    is_kept: bool,
    /// are values between steps wanted? The polynomial must then agree with them
    between: bool,
    values: Vec<Vec<f64>>,
}

impl<'p> WithForces<'p> {
    pub fn new(
        stepper: Box<dyn Stepper + 'p>,
        system: &'p (dyn Mechanism + '_),
        tolerance: &Tolerance,
        ranks: RankRule,
    ) -> Result<Self, StartFailure> {
        let layout = Layout::new(system.sizes(), Form::StrangenessFree, false);
        let mut tolerances = tolerance.pairs(&layout).map_err(BadOption::from)?;
        // accelerations have none of their own
        tolerances.copy_within(layout.v(), layout.a().start);
        let state = stepper.state().clone();
        let n = state.x.len();
        Ok(WithForces {
            forces: Forces::new(system, &state, &tolerances, ranks)?,
            before: state.x.clone(),
            kept: Segment::with_room(state.t, &state.x, KEPT),
            is_kept: false,
            between: false,
            values: vec![vec![0.0; n]; KEPT],
            state,
            stepper,
        })
    }

    /// Take the last point over.
    fn look(&mut self) {
        let now = self.stepper.state();
        self.state.t = now.t;
        self.state.x.copy_from_slice(&now.x);
        self.is_kept = false;
        self.forces.complete(self.state.t, &mut self.state.x);
    }
}

impl Stepper for WithForces<'_> {
    fn state(&self) -> &State {
        &self.state
    }
    fn segment(&self) -> &Segment {
        if self.is_kept { &self.kept } else { self.stepper.segment() }
    }
    fn advance(&mut self, limit: f64) -> Result<(), StepFailure> {
        let t = self.state.t;
        self.before.copy_from_slice(&self.state.x);
        let outcome = self.stepper.advance(limit);
        self.look();
        if self.between && self.state.t > t {
            self.refine();
        }
        outcome
    }
    fn restart(&mut self, at: State) {
        self.stepper.restart(at);
        self.look();
    }
    fn retake(&mut self, t: f64) -> Result<bool, StepFailure> {
        let outcome = self.stepper.retake(t);
        self.look();
        if self.between && outcome.is_ok() {
            self.refine();
        }
        outcome
    }
    fn watch_between(&mut self) {
        self.between = true;
        self.stepper.watch_between();
    }
    fn inside(&mut self, t: f64, x: &mut [f64]) {
        self.stepper.inside(t, x);
        self.forces.complete(t, x);
    }
    fn refine(&mut self) {
        if self.is_kept {
            return;
        }
        let (t0, t1) = (self.stepper.segment().t0, self.stepper.segment().t1);
        let C = Tableau::of(KEPT).C;
        let mut values = std::mem::take(&mut self.values);
        for (value, c) in values.iter_mut().zip(&C[..KEPT - 1]) {
            self.inside(t0 + c * (t1 - t0), value);
        }
        values[KEPT - 1].copy_from_slice(&self.state.x);
        for value in &mut values {
            value.iter_mut().zip(&self.before).for_each(|(x, x0)| *x -= x0);
        }
        let stages: [&[f64]; KEPT] = std::array::from_fn(|k| &values[k][..]);
        self.kept.collocation(t0, t1, &self.state.x, C, &stages);
        (self.values, self.is_kept) = (values, true);
    }
    fn propose(&mut self, h: f64) {
        self.stepper.propose(h);
    }
    fn rates(&mut self, xdot: &mut [f64]) {
        self.stepper.rates(xdot);
    }
    fn system(&mut self) -> Option<&mut dyn Dae> {
        self.stepper.system()
    }
    fn attempts(&self) -> u64 {
        self.stepper.attempts()
    }

    fn statistics(&self) -> Statistics {
        let own = self.stepper.statistics();
        Statistics { polishing_solves: own.polishing_solves + self.forces.solves, ..own }
    }
    fn residuals(&self) -> Residuals {
        self.stepper.residuals()
    }
    fn undetermined(&self) -> Vec<Vec<f64>> {
        self.stepper.undetermined()
    }
    fn proposed_step(&self) -> f64 {
        self.stepper.proposed_step()
    }
    fn decisions(&self) -> String {
        self.stepper.decisions()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::initial::Initial;
    use crate::motion::consistent::initialise;
    use crate::motion::{EquationsOfMotion, Motion, Position, Sizes};
    use crate::scalar::Scalar;

    /// A point mass on a rod that is stated once or twice, with a weight in any unit.
    struct Rod {
        weight: f64,
        times: usize,
    }

    impl EquationsOfMotion for Rod {
        fn sizes(&self) -> Sizes {
            Sizes { positions: 2, velocities: 2, holonomic: self.times, ..Sizes::default() }
        }
        fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
            M[(0, 0)] = S::from(1.0);
            M[(1, 1)] = S::from(1.0);
        }
        fn force<S: Scalar>(&self, _: &Motion<S>, f: &mut [S]) {
            f[1] = S::from(-self.weight);
        }
        fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
            g.fill(at.p[0].square() + at.p[1].square() - 1.0);
        }
    }

    #[test]
    fn forces_belong_to_the_motion_in_every_unit_and_what_is_redundant_keeps_its_value() {
        for (weight, times) in [(9.81, 1), (1e-9, 1), (1e9, 1), (9.81, 2)] {
            let rod = Rod { weight, times };
            let initial = Initial::motion(0.0, &[0.6, -0.8], &[0.0, 0.0]);
            let right = initialise(&rod, &initial, Form::StrangenessFree).unwrap().state;
            let mut forces = Forces::new(&rod, &right, &[(1e-9, 1e-9 * weight); 8], RankRule::default()).unwrap();
            let l = forces.array.layout().clone();
            let mut x = right.x.clone();
            for (k, j) in l.a().chain(l.lambda()).enumerate() {
                x[j] += 0.01 * (k + 1) as f64 * weight;
            }
            forces.complete(0.0, &mut x);
            let difference = |j: usize| (x[j] - right.x[j]) / weight;
            if times == 1 {
                assert!((0..x.len()).all(|j| difference(j).abs() < 1e-13), "{weight}: {x:?}");
            } else {
                // the sum of the two forces is determined, their difference is not
                let [first, second] = [difference(l.lambda().start), difference(l.lambda().start + 1)];
                assert!((first + second).abs() < 1e-13 && (first - second + 0.01).abs() < 1e-13, "{first} {second}");
            }
        }
    }

    #[test]
    fn where_forces_are_not_determined_the_own_ones_stay() {
        let rod = Rod { weight: 9.81, times: 1 };
        let at = State { t: 0.0, x: vec![0.0; 7] };
        let mut forces = Forces::new(
            &rod,
            &State { x: vec![0.0, 0.0, 0.0, 0.0, 0.0, 0.6, -0.8], ..at.clone() },
            &[(1e-9, 1e-9); 7],
            RankRule::default(),
        )
        .unwrap();
        // at the origin the rod has no direction
        let mut x = vec![1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.0];
        forces.complete(0.0, &mut x);
        assert_eq!(x, [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.0]);
    }
}
