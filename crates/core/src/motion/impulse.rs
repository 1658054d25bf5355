//! Impulses: velocities behind the instant at which constraints close,
//!
//! M (v⁺ − v⁻) = −Jᵀ Λ,   0 = J v⁺ + k,   J v + k = (gI, HZv + h),
//!
//! where Λ are the integrals of λ and μ over that instant. Forces that stay finite play no part, so the momentum of all motions that the
//! constraints allow is kept: NᵀM (v⁺ − v⁻) = 0 with N a basis of kernel J. The loss of energy is ½ (v⁺ − v⁻)ᵀM (v⁺ − v⁻) if k = 0 (Carnot).
//! With contact variables, c(t, p, s) = 0 and J = (GZ; HZ), G = g_p − g_s c_s⁻¹ c_p. Redundant constraints share their impulses: Λ of
//! least norm. Wunderlich, thesis (2008), (2.37), for equations of motion; Pfeiffer & Glocker, Multibody Dynamics with Unilateral
//! Contacts (1996), chapter 8.

use super::Formulas;
use crate::error::StepFailure;
use crate::graph::{Compiler, Expr, Interpreted, Jacobian, Kernel};
use crate::linalg::{Lu, Mat, NoConvergence, RankError, RankRule, Ranks, Svd};

/// Residuals of velocities below this part of what they are summed from are rounding.
const ROUNDING: f64 = 16.0 * f64::EPSILON;
/// Redundant constraints may keep this part of what they are summed from.
const CONTRADICTION: f64 = 1e-8;

/// What closing constraints do.
#[derive(Clone, Debug, PartialEq)]
pub struct Impact {
    /// v⁺.
    pub v: Vec<f64>,
    /// Λ: impulses of the holonomic constraints, then of the nonholonomic ones.
    pub impulses: Vec<f64>,
}

/// What a change of velocities did to a mechanism.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Balance {
    /// Largest change of the momentum of a motion that the constraints allow: nᵀM (v⁺ − v⁻) with J n = 0 and entries of n up to one. Impulses of
    /// constraints do not change it; for two wagons that are coupled it is their whole momentum.
    pub momentum: f64,
    /// Change of the kinetic energy ½ vᵀM v.
    pub energy: f64,
}

/// The constraints of equations of motion at velocity level, made ready for instants at which they close.
///
/// ```
/// use daedal::linalg::Matrix;
/// use daedal::motion::{Closing, EquationsOfMotion, Formulas, Motion, Position, Sizes, Velocity};
/// use daedal::scalar::Scalar;
///
/// /// Two shafts behind a clutch that has just closed.
/// struct Clutch;
/// impl EquationsOfMotion for Clutch {
///     fn sizes(&self) -> Sizes { Sizes { positions: 2, velocities: 2, nonholonomic: 1, ..Sizes::default() } }
///     fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
///         M[(0, 0)] = S::from(1.0);
///         M[(1, 1)] = S::from(3.0);
///     }
///     fn force<S: Scalar>(&self, _: &Motion<S>, _: &mut [S]) {}
///     fn nonholonomic<S: Scalar>(&self, at: &Velocity<S>, h: &mut [S]) { h[0] = at.v[0] - at.v[1]; }
/// }
/// let impact = Closing::new(&Formulas::trace(&Clutch)).close(0.0, &[0.0, 0.0], &[1.0, 0.0], &[])?;
/// assert!((impact.v[0] - 0.25).abs() < 1e-15 && (impact.v[1] - 0.25).abs() < 1e-15);
/// assert!((impact.impulses[0] - 0.75).abs() < 1e-15);
/// # Ok::<(), daedal::StepFailure>(())
/// ```
pub struct Closing {
    /// How ranks are decided.
    pub ranks: RankRule,
    /// all of what follows, one after the other
    kernel: Box<dyn Kernel>,
    outputs: Vec<f64>,
    inputs: Vec<f64>,
    /// where t, p, v, s and s' stand among the inputs
    places: [usize; 5],
    sizes: [usize; 4],
    /// places of the entries of M, ∂(gI, HZv + h)/∂v, ∂gI/∂s', ∂(dc/dt)/∂v, ∂(dc/dt)/∂s'
    entries: [Vec<(usize, usize)>; 5],
}

impl Closing {
    /// From formulas, whose velocity level is derived.
    pub fn new(formulas: &Formulas) -> Self {
        Self::compiled(formulas, &Interpreted)
    }

    /// The same with a compiler.
    pub fn compiled(formulas: &Formulas, compiler: &dyn Compiler) -> Self {
        let bound = formulas.bound();
        let n = bound.sizes;
        let v = bound.variables().v().to_vec();
        let hidden = bound.hidden();
        let mut graph = hidden.graph;
        let constraints = [&hidden.holonomic_velocity[..], &bound.nonholonomic].concat();
        let [rates, _] = hidden.contact_rates;
        let [s1, ..] = hidden.y;
        let jacobians = [
            graph.jacobian(&constraints, &v),
            graph.jacobian(&constraints, &s1),
            graph.jacobian(&rates, &v),
            graph.jacobian(&rates, &s1),
        ];
        let mut all: Vec<Expr> = [&constraints[..], &rates].concat();
        all.extend(bound.mass.iter().map(|(_, _, m)| *m));
        for jacobian in &jacobians {
            all.extend(&jacobian.entries);
        }
        let [by_v, by_s1, rates_by_v, rates_by_s1] = jacobians.map(|jacobian| entries(&jacobian));
        let mass = bound.mass.iter().map(|&(i, j, _)| (i, j)).collect();
        let (p, of_v) = (1, 1 + n.positions);
        let s = of_v + n.velocities + n.dynamic + n.auxiliary;
        Closing {
            ranks: RankRule::default(),
            outputs: vec![0.0; all.len()],
            inputs: vec![0.0; graph.inputs().len()],
            places: [0, p, of_v, s, bound.graph.inputs().len()],
            sizes: [n.positions, n.velocities, n.contact, constraints.len()],
            entries: [mass, by_v, by_s1, rates_by_v, rates_by_s1],
            kernel: compiler.compile(&graph, &all),
        }
    }

    /// Close the constraints at positions p with contact variables s, from velocities v⁻ = `v`. Velocities that satisfy the constraints to
    /// rounding stay as they are.
    ///
    /// # Panics
    ///
    /// If p, v or s has another length than the equations say.
    pub fn close(&mut self, t: f64, p: &[f64], v: &[f64], s: &[f64]) -> Result<Impact, StepFailure> {
        self.change(t, p, v, s, true)
    }

    /// The velocities nearest to `v` that satisfy the constraints: no impact law.
    ///
    /// # Panics
    ///
    /// If p, v or s has another length than the equations say.
    pub fn nearest(&mut self, t: f64, p: &[f64], v: &[f64], s: &[f64]) -> Result<Vec<f64>, StepFailure> {
        Ok(self.change(t, p, v, s, false)?.v)
    }

    /// What a change of the velocities from v⁻ to v⁺ does to momentum and kinetic energy at positions p with contact variables s.
    ///
    /// # Panics
    ///
    /// If p, v⁻, v⁺ or s has another length than the equations say.
    pub fn balance(
        &mut self,
        t: f64,
        p: &[f64],
        s: &[f64],
        before: &[f64],
        after: &[f64],
    ) -> Result<Balance, StepFailure> {
        let [positions, n, contact, m] = self.sizes;
        let given = (p.len(), before.len(), after.len(), s.len());
        assert_eq!(given, (positions, n, n, contact), "lengths of p, v⁻, v⁺ and s");
        let (M, J, ..) = self.linearise(t, p, after, s)?;
        let top = |i: usize| (0..n).map(|j| J[(i, j)].abs()).fold(0.0, f64::max);
        let unit: Vec<f64> = (0..m).map(|i| if top(i) > 0.0 { 1.0 / top(i) } else { 1.0 }).collect();
        let scaled = Mat::from_fn(m, n, |i, j| unit[i] * J[(i, j)]);
        let N = Ranks::new(self.ranks).subspaces(&scaled, 0.0).map_err(|_| StepFailure::SvdFailed { t })?.kernel;
        let change = &M * Mat::from_fn(n, 1, |j, _| after[j] - before[j]);
        let along = |k: usize| {
            let size = (0..n).map(|j| N[(j, k)].abs()).fold(0.0, f64::max);
            (0..n).map(|j| N[(j, k)] * change[(j, 0)]).sum::<f64>().abs() / size
        };
        let kinetic = |v: &[f64]| {
            0.5 * (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| v[i] * M[(i, j)] * v[j]).sum::<f64>()
        };
        let momentum = (0..N.ncols()).map(along).fold(0.0, f64::max);
        Ok(Balance { momentum, energy: kinetic(after) - kinetic(before) })
    }

    /// The smallest change of velocities, in the norm of M or in that of the numbers themselves.
    fn change(&mut self, t: f64, p: &[f64], v: &[f64], s: &[f64], by_mass: bool) -> Result<Impact, StepFailure> {
        let [positions, velocities, contact, m] = self.sizes;
        assert_eq!((p.len(), v.len(), s.len()), (positions, velocities, contact), "lengths of p, v and s");
        let n = velocities;
        let mut impact = Impact { v: v.to_vec(), impulses: vec![0.0; m] };
        let (mass, J, mut rho, sizes) = self.linearise(t, p, v, s)?;
        let M = if by_mass { mass } else { Mat::identity(n, n) };
        if rho.iter().zip(&sizes).all(|(r, size)| r.abs() <= ROUNDING * size) {
            return Ok(impact);
        }

        // rows of one size, so that the rank can be judged
        let top: Vec<f64> = (0..m).map(|i| (0..n).map(|j| J[(i, j)].abs()).fold(0.0, f64::max)).collect();
        let unit: Vec<f64> = top.iter().map(|&top| if top > 0.0 { 1.0 / top } else { 1.0 }).collect();
        let scaled = Mat::from_fn(m, n, |i, j| unit[i] * J[(i, j)]);
        let failed = |error| match error {
            RankError::NotFinite { .. } => StepFailure::Undefined { t },
            _ => StepFailure::SvdFailed { t },
        };
        let found = Ranks::new(self.ranks).subspaces(&scaled, 0.0).map_err(failed)?;
        let (rank, N) = (found.rank, &found.kernel);
        let NtM = N.transpose() * &M;
        let mut free = Lu::<f64>::new(n - rank);
        let NtMN = &NtM * N;
        (0..n - rank).for_each(|i| (0..n - rank).for_each(|j| free.A[(i, j)] = NtMN[(i, j)]));
        free.factor().map_err(|_| StepFailure::SingularPencil { t })?;

        // twice: the second time takes away the rounding of the first
        for _ in 0..2 {
            // Δ = −J⁺ρ + N z with NᵀM Δ = 0
            let reached = |k: usize| {
                (0..m).map(|i| found.range[(i, k)] * unit[i] * rho[i]).sum::<f64>() / found.singular_values[k]
            };
            let reached = Mat::from_fn(rank, 1, |k, _| -reached(k));
            let mut delta = &found.cokernel * reached;
            let defect = &NtM * &delta;
            let mut z: Vec<f64> = (0..n - rank).map(|i| -defect[(i, 0)]).collect();
            free.solve(&mut z);
            delta += N * Mat::from_fn(n - rank, 1, |i, _| z[i]);
            // the smallest Λ with Jᵀ Λ = −M Δ
            let momentum = &M * &delta;
            let Lambda = smallest(&J, rank, &momentum).map_err(|_| StepFailure::SvdFailed { t })?;
            impact.v.iter_mut().enumerate().for_each(|(j, v)| *v += delta[(j, 0)]);
            impact.impulses.iter_mut().zip(&Lambda).for_each(|(impulse, change)| *impulse -= change);
            rho = self.linearise(t, p, &impact.v, s)?.2;
        }
        // a row whose velocities were zero has the rounding of the others
        let fastest = v.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
        let ratio = |i: usize| (rho[i] / sizes[i].max(top[i] * fastest)).abs();
        let worst = (0..m).map(ratio).fold(0.0, f64::max);
        if worst > CONTRADICTION {
            return Err(StepFailure::Contradictory { t, residual: worst });
        }
        if impact.v.iter().chain(&impact.impulses).all(|x| x.is_finite()) {
            Ok(impact)
        } else {
            Err(StepFailure::SingularPencil { t })
        }
    }

    /// M, J, J v + k, and what the last is summed from.
    #[allow(clippy::type_complexity)]
    fn linearise(
        &mut self,
        t: f64,
        p: &[f64],
        v: &[f64],
        s: &[f64],
    ) -> Result<(Mat<f64>, Mat<f64>, Vec<f64>, Vec<f64>), StepFailure> {
        let [_, n, contact, m] = self.sizes;
        let [time, at_p, at_v, at_s, at_s1] = self.places;
        self.inputs[time] = t;
        self.inputs[at_p..at_p + p.len()].copy_from_slice(p);
        self.inputs[at_v..at_v + n].copy_from_slice(v);
        self.inputs[at_s..at_s + contact].copy_from_slice(s);
        self.inputs[at_s1..at_s1 + contact].fill(0.0);
        self.evaluate(t)?;
        let mut J = self.block(1, m, n);
        if contact > 0 {
            // s' = −c_s⁻¹ dc/dt, and the same for its derivative with respect to v
            let (rates_by_v, rates_by_s1) = (self.block(3, contact, n), self.block(4, contact, contact));
            let mut c_s = Lu::<f64>::new(contact);
            (0..contact).for_each(|i| (0..contact).for_each(|j| c_s.A[(i, j)] = rates_by_s1[(i, j)]));
            c_s.factor().map_err(|_| StepFailure::SingularPencil { t })?;
            let mut s1: Vec<f64> = self.outputs[m..m + contact].iter().map(|c| -c).collect();
            c_s.solve(&mut s1);
            let mut s1_by_v = Mat::zeros(contact, n);
            for j in 0..n {
                let mut column: Vec<f64> = (0..contact).map(|i| -rates_by_v[(i, j)]).collect();
                c_s.solve(&mut column);
                (0..contact).for_each(|i| s1_by_v[(i, j)] = column[i]);
            }
            J += self.block(2, m, contact) * s1_by_v;
            self.inputs[at_s1..at_s1 + contact].copy_from_slice(&s1);
            self.evaluate(t)?;
        }
        let rho = self.outputs[..m].to_vec();
        let size = |i: usize| {
            let product: f64 = (0..n).map(|j| J[(i, j)] * v[j]).sum();
            let sum: f64 = (0..n).map(|j| (J[(i, j)] * v[j]).abs()).sum();
            (sum + (rho[i] - product).abs()).max(f64::MIN_POSITIVE)
        };
        let sizes = (0..m).map(size).collect();
        Ok((self.block(0, n, n), J, rho, sizes))
    }

    fn evaluate(&mut self, t: f64) -> Result<(), StepFailure> {
        self.kernel.call(&self.inputs, &mut self.outputs);
        if self.outputs.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(StepFailure::Undefined { t }) }
    }

    /// Matrix k of the outputs.
    fn block(&self, k: usize, rows: usize, cols: usize) -> Mat<f64> {
        let [_, _, contact, m] = self.sizes;
        let first = m + contact + self.entries[..k].iter().map(Vec::len).sum::<usize>();
        let mut block = Mat::zeros(rows, cols);
        self.entries[k].iter().zip(&self.outputs[first..]).for_each(|(&(i, j), &entry)| block[(i, j)] += entry);
        block
    }
}

fn entries(jacobian: &Jacobian) -> Vec<(usize, usize)> {
    jacobian.iter().map(|(i, j, _)| (i, j)).collect()
}

/// The smallest Λ with Jᵀ Λ = f, the rank of J being known.
fn smallest(J: &Mat<f64>, rank: usize, f: &Mat<f64>) -> Result<Vec<f64>, NoConvergence> {
    let (m, n) = (J.nrows(), J.ncols());
    let mut svd = Svd::new(m, n);
    svd.A.copy_from(J);
    svd.factor()?;
    let mut Lambda = vec![0.0; m];
    for k in 0..rank {
        let w = (0..n).map(|j| svd.V[(j, k)] * f[(j, 0)]).sum::<f64>() / svd.sigma(k);
        Lambda.iter_mut().enumerate().for_each(|(i, Lambda)| *Lambda += svd.U[(i, k)] * w);
    }
    Ok(Lambda)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Matrix;
    use crate::motion::{EquationsOfMotion, Motion, Position, Sizes, Velocity};
    use crate::scalar::Scalar;

    fn closed(equations: &impl EquationsOfMotion, p: &[f64], v: &[f64], s: &[f64]) -> Result<Impact, StepFailure> {
        Closing::new(&Formulas::trace(equations)).close(0.0, p, v, s)
    }

    /// Two inertias behind a clutch that is closed `copies` times.
    struct Clutch {
        J: [f64; 2],
        copies: usize,
    }

    impl EquationsOfMotion for Clutch {
        fn sizes(&self) -> Sizes {
            Sizes { positions: 2, velocities: 2, nonholonomic: self.copies, ..Sizes::default() }
        }
        fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
            (0..2).for_each(|i| M[(i, i)] = S::from(self.J[i]));
        }
        fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
            // finite torques play no part
            f[0] = S::from(100.0) - at.v[0];
        }
        fn nonholonomic<S: Scalar>(&self, at: &Velocity<S>, h: &mut [S]) {
            h.fill(at.v[0] - at.v[1]);
        }
    }

    #[test]
    fn a_clutch_keeps_the_angular_momentum_and_loses_the_energy_of_carnot() {
        for (J, w) in [([1.0, 3.0], [1.0, 0.0]), ([0.2, 7.0], [-4.0, 31.0])] {
            let Impact { v, impulses } = closed(&Clutch { J, copies: 1 }, &[0.1, 0.2], &w, &[]).unwrap();
            let common = (J[0] * w[0] + J[1] * w[1]) / (J[0] + J[1]);
            assert!((v[0] - common).abs() < 1e-14 * common.abs() && v[0] == v[1], "{v:?}");
            let lost = 0.5 * (J[0] * w[0] * w[0] + J[1] * w[1] * w[1] - (J[0] + J[1]) * v[0] * v[0]);
            let theory = 0.5 * J[0] * J[1] / (J[0] + J[1]) * (w[0] - w[1]).powi(2);
            assert!((lost - theory).abs() < 1e-12 * theory, "{lost} {theory}");
            assert!((J[0] * (v[0] - w[0]) + impulses[0]).abs() < 1e-12);
            assert!((J[1] * (v[1] - w[1]) - impulses[0]).abs() < 1e-12);
        }
        // what is closed already stays
        let w = [0.3, 0.3];
        let impact = closed(&Clutch { J: [1.0, 3.0], copies: 1 }, &[0.0; 2], &w, &[]).unwrap();
        assert_eq!(impact, Impact { v: w.to_vec(), impulses: vec![0.0] });
    }

    #[test]
    fn redundant_constraints_share_their_impulse() {
        let Impact { v, impulses } = closed(&Clutch { J: [1.0, 3.0], copies: 3 }, &[0.0; 2], &[1.0, 0.0], &[]).unwrap();
        assert!((v[0] - 0.25).abs() < 1e-15 && (v[1] - 0.25).abs() < 1e-15, "{v:?}");
        assert!(impulses.iter().all(|impulse| (impulse - 0.25).abs() < 1e-15), "{impulses:?}");
    }

    /// A point of mass 2 that meets a rail y = x tan α − 1, or one that moves upwards with `speed`.
    struct Rail {
        slope: f64,
        speed: f64,
    }

    impl EquationsOfMotion for Rail {
        fn sizes(&self) -> Sizes {
            Sizes { positions: 2, velocities: 2, holonomic: 1, ..Sizes::default() }
        }
        fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
            (0..2).for_each(|i| M[(i, i)] = S::from(2.0));
        }
        fn force<S: Scalar>(&self, _: &Motion<S>, f: &mut [S]) {
            f[1] = S::from(-2.0 * 9.81);
        }
        fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
            g[0] = at.p[1] - at.p[0] * self.slope + 1.0 - at.t * self.speed;
        }
    }

    #[test]
    fn a_point_keeps_its_velocity_along_the_rail_that_it_meets() {
        let (alpha, v) = (0.4_f64, [1.0, -2.0]);
        let along = v[0] * alpha.cos() + v[1] * alpha.sin();
        let impact = closed(&Rail { slope: alpha.tan(), speed: 0.0 }, &[0.0, -1.0], &v, &[]).unwrap();
        assert!((impact.v[0] - along * alpha.cos()).abs() < 1e-15, "{impact:?}");
        assert!((impact.v[1] - along * alpha.sin()).abs() < 1e-15, "{impact:?}");
        // Λ along the gradient (−tan α, 1) takes the momentum across the rail
        assert!((2.0 * (impact.v[1] - v[1]) + impact.impulses[0]).abs() < 1e-14);
        // a flat one that moves gives its own velocity
        let impact = closed(&Rail { slope: 0.0, speed: 3.0 }, &[0.0, -1.0], &v, &[]).unwrap();
        assert!((impact.v[0] - 1.0).abs() < 1e-15 && (impact.v[1] - 3.0).abs() < 1e-15, "{impact:?}");
        assert!((impact.impulses[0] + 10.0).abs() < 1e-14);
    }

    /// The same rail through a contact variable: s = p₁ tan α, 0 = p₂ − s + 1.
    struct ThroughContact(f64);

    impl EquationsOfMotion for ThroughContact {
        fn sizes(&self) -> Sizes {
            Sizes { positions: 2, velocities: 2, holonomic: 1, contact: 1, ..Sizes::default() }
        }
        fn mass<S: Scalar>(&self, at: &Position<S>, M: &mut Matrix<S>) {
            Rail { slope: 0.0, speed: 0.0 }.mass(at, M);
        }
        fn force<S: Scalar>(&self, _: &Motion<S>, _: &mut [S]) {}
        fn contact<S: Scalar>(&self, at: &Position<S>, c: &mut [S]) {
            c[0] = (at.s[0] - at.p[0] * self.0) * 5.0;
        }
        fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
            g[0] = at.p[1] - at.s[0] + 1.0;
        }
    }

    #[test]
    fn contact_variables_belong_to_the_constraint() {
        let (slope, v) = (0.4_f64.tan(), [1.0, -2.0]);
        let direct = closed(&Rail { slope, speed: 0.0 }, &[0.5, 0.5 * slope - 1.0], &v, &[]).unwrap();
        let through = closed(&ThroughContact(slope), &[0.5, 0.5 * slope - 1.0], &v, &[0.5 * slope]).unwrap();
        assert!(direct.v.iter().zip(&through.v).all(|(a, b)| (a - b).abs() < 1e-14));
        assert!((direct.impulses[0] - through.impulses[0]).abs() < 1e-14);
    }

    /// Two walls that move at different speeds.
    struct Between;

    impl EquationsOfMotion for Between {
        fn sizes(&self) -> Sizes {
            Sizes { positions: 1, velocities: 1, holonomic: 2, ..Sizes::default() }
        }
        fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
            M[(0, 0)] = S::from(1.0);
        }
        fn force<S: Scalar>(&self, _: &Motion<S>, _: &mut [S]) {}
        fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
            g[0] = at.p[0] - at.t;
            g[1] = at.p[0] + at.t;
        }
    }

    /// Three velocities that three constraints stop.
    struct Stopped;

    impl EquationsOfMotion for Stopped {
        fn sizes(&self) -> Sizes {
            Sizes { positions: 3, velocities: 3, nonholonomic: 3, ..Sizes::default() }
        }
        fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
            (0..3).for_each(|i| M[(i, i)] = S::from(1.0 + i as f64));
        }
        fn force<S: Scalar>(&self, _: &Motion<S>, _: &mut [S]) {}
        fn nonholonomic<S: Scalar>(&self, at: &Velocity<S>, h: &mut [S]) {
            h[0] = at.v[0] + at.v[1] * 0.3;
            h[1] = at.v[0] * 0.3 + at.v[1] * 0.2 + at.v[2] * 0.7;
            h[2] = at.v[1] * 0.7 + at.v[2] * 0.1;
        }
    }

    #[test]
    fn rounding_in_a_row_whose_velocities_were_zero_contradicts_nothing() {
        for speed in [1.0, -3e-14, 1e-200] {
            let impact = closed(&Stopped, &[0.0; 3], &[0.0, 0.0, speed], &[]).unwrap();
            assert!(impact.v.iter().all(|v| v.abs() < 1e-15 * speed.abs()), "{impact:?}");
        }
    }

    #[test]
    fn contradicting_constraints_and_missing_values_are_refused() {
        assert!(matches!(closed(&Between, &[0.0], &[0.3], &[]), Err(StepFailure::Contradictory { .. })));
        let missing = closed(&Between, &[0.0], &[f64::NAN], &[]);
        assert_eq!(missing, Err(StepFailure::Undefined { t: 0.0 }));
    }
}
