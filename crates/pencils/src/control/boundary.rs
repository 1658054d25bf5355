//! Linear-quadratic optimal control over several modes in a given order. Wunderlich, thesis (2008), Theorem 5.46, with other relations at
//! the switches: (5.57c) is not used, see below.
//!
//! Minimise ½x(t_f)ᵀMx(t_f) + mᵀx(t_f) + Σ ∫ ½(x, u)ᵀ[Q S; Sᵀ R](x, u) + cᵀ(x, u) dt under E_i ẋ = A_i x + B_i u + b_i. In every phase
//!
//! ```text
//! E ẋ = A x + B u + b,   −Eᵀλ̇ = Aᵀλ + Q x + S u + c_x,   0 = Bᵀλ + Sᵀx + R u + c_u
//! E₁ x(t₀) = E₁ x₀,      E_Nᵀλ(t_f) = M x(t_f) + m
//! E_{i+1} x(τ⁺) = E_{i+1} x(τ⁻),   E_{i+1}ᵀλ(τ⁺) = E_iᵀλ(τ⁻) − g_xᵀη on the cokernel of E_i,   g(τ, x(τ⁻)) = 0 where a surface is given
//! ```
//! The variation of x(τ⁻) is not zero: it goes on into the next phase. (5.57c), E_iᵀλ(τ⁻) = ½g_xᵀη, comes from a proof that lets it restart at zero, and with
//! (5.57d) forces E_{i+1}ᵀλ(τ⁺) = 0. The derivative of the optimal cost with respect to τ is H_i(τ⁻) − H_{i+1}(τ⁺) + g_t η.
//!
//! Solutions of a phase are exponentials; phases are cut into pieces over which these do not grow much, and one linear system gives all of them.

use super::assembly::{Assembly, NodePlaces};
use super::flow::ConstantFlow;
use super::{ControlError, OptimalityValues, SwitchedOptimum};
use crate::structured::{OptimalControl, Symmetry, sized};
use daedal_linear::linalg::rank::REGULAR;
use daedal_linear::linalg::{Mat, RankRule, Ranks, Subspaces};

/// ‖J‖h of a piece.
const PIECE: f64 = 2.0;
/// Parts of a piece over which the cost is summed: exponents of at most one.
const PARTS: u32 = 4;
/// Most unknowns of the block system.
const MOST_UNKNOWNS: usize = 1500;
/// Nodes and weights of Gauss' formula with five nodes on [0, 1], exact up to degree nine. [HW1], II.7.
const NODES: [f64; 5] = [0.046910077030668, 0.230765344947158, 0.5, 0.769234655052842, 0.953089922969332];
const WEIGHTS: [f64; 5] =
    [0.118463442528095, 0.239314335249683, 0.284444444444444, 0.239314335249683, 0.118463442528095];

/// A mode with its cost.
#[derive(Clone, Debug, PartialEq)]
pub struct ControlPhase {
    /// Plant and quadratic weights, constant.
    pub plant: OptimalControl,
    /// b in E ẋ = A x + B u + b.
    pub b: Vec<f64>,
    /// Linear cost of (x, u).
    pub linear: Vec<f64>,
}

impl ControlPhase {
    /// Without b and linear cost.
    pub fn homogeneous(plant: OptimalControl) -> Self {
        let (n, k) = (plant.E.nrows(), plant.B.ncols());
        ControlPhase { plant, b: vec![0.0; n], linear: vec![0.0; n + k] }
    }

    /// ½zᵀWz + cᵀz at (λ, x, u).
    fn running_cost(&self, z: &Mat<f64>) -> f64 {
        let OptimalControl { E, Q, R, S, B, .. } = &self.plant;
        let (n, k) = (E.ncols(), B.ncols());
        let (x, u) = (z.get(n..2 * n, ..).to_owned(), z.get(2 * n..2 * n + k, ..).to_owned());
        let square = (x.transpose() * Q * &x)[(0, 0)] + 2.0 * (x.transpose() * S * &u)[(0, 0)];
        let square = square + (u.transpose() * R * &u)[(0, 0)];
        0.5 * square + self.linear.iter().enumerate().map(|(j, c)| c * z[(n + j, 0)]).sum::<f64>()
    }

    /// H = cost + λᵀ(A x + B u + b).
    fn hamiltonian(&self, z: &Mat<f64>) -> f64 {
        let OptimalControl { A, B, .. } = &self.plant;
        let (n, k) = (A.ncols(), B.ncols());
        let (x, u) = (z.get(n..2 * n, ..).to_owned(), z.get(2 * n..2 * n + k, ..).to_owned());
        let rate = A * x + B * u;
        self.running_cost(z) + (0..n).map(|i| z[(i, 0)] * (rate[(i, 0)] + self.b[i])).sum::<f64>()
    }

    fn flow(&self, rule: RankRule) -> Result<ConstantFlow, ControlError> {
        let values = OptimalityValues::new(&self.plant, rule)?;
        if !values.is_regular() {
            return Err(ControlError::SingularControl { rank: values.rank, size: values.size });
        }
        let pair = self.plant.pair()?;
        let beta: Vec<f64> = self.b.iter().chain(&self.linear).copied().collect();
        ConstantFlow::new(&pair.E, &pair.A, &Mat::from_fn(beta.len(), 1, |i, _| beta[i]), rule)
    }
}

/// g(t, x) = gᵀx + rate · t + offset = 0 at a switch.
#[derive(Clone, Debug, PartialEq)]
pub struct SwitchSurface {
    /// g_x.
    pub gradient: Vec<f64>,
    /// g_t.
    pub rate: f64,
    /// g(0, 0).
    pub offset: f64,
}

/// A linear-quadratic problem over phases.
#[derive(Clone, Debug, PartialEq)]
pub struct SwitchedProblem {
    /// The modes in their order.
    pub phases: Vec<ControlPhase>,
    /// Start, switches, end.
    pub times: Vec<f64>,
    /// What must hold at the switches.
    pub surfaces: Vec<Option<SwitchSurface>>,
    /// State at the start; only E x₀ counts.
    pub start: Vec<f64>,
    /// M: ½xᵀMx at the end.
    pub final_weight: Mat<f64>,
    /// m: mᵀx at the end.
    pub final_linear: Vec<f64>,
}

impl SwitchedProblem {
    /// Solve the boundary value problem for the times as they are.
    ///
    /// ```
    /// use daedal_linear::linalg::{Mat, RankRule};
    /// use daedal_pencils::control::{ControlPhase, SwitchedProblem};
    /// use daedal_pencils::structured::OptimalControl;
    /// // y' = u, y(0) = 1, ½∫ y² + u²/4: y = cosh(2(1 − t))/cosh 2
    /// let one = |x: f64| Mat::from_fn(1, 1, |_, _| x);
    /// let plant =
    ///     OptimalControl { E: one(1.0), A: one(0.0), B: one(1.0), Q: one(1.0), R: one(0.25), S: one(0.0), E_rate: None };
    /// let problem = SwitchedProblem {
    ///     phases: vec![ControlPhase::homogeneous(plant)],
    ///     times: vec![0.0, 1.0],
    ///     surfaces: vec![],
    ///     start: vec![1.0],
    ///     final_weight: one(0.0),
    ///     final_linear: vec![0.0],
    /// };
    /// let found = problem.solve(RankRule::default()).unwrap();
    /// assert!((found.at(1.0, 0).unwrap().x[0] - 0.265802228834).abs() < 1e-12);
    /// ```
    pub fn solve(&self, rule: RankRule) -> Result<SwitchedOptimum, ControlError> {
        let sizes = self.sizes()?;
        let mut ranks = Ranks::new(rule);
        let of_E =
            self.phases.iter().map(|phase| ranks.subspaces(&phase.plant.E, 0.0)).collect::<Result<Vec<_>, _>>()?;
        self.check_kernels(&of_E)?;
        let flows = self.phases.iter().map(|phase| phase.flow(rule)).collect::<Result<Vec<_>, _>>()?;
        let pieces: Vec<usize> = flows
            .iter()
            .zip(self.times.windows(2))
            .map(|(flow, w)| ((largest_row_sum(&flow.J) * (w[1] - w[0]) / PIECE).ceil() as usize).max(1))
            .collect();
        let places = NodePlaces::new(&flows, &pieces, &self.surfaces);
        if places.count > MOST_UNKNOWNS {
            return Err(ControlError::TooLong { unknowns: places.count, most: MOST_UNKNOWNS });
        }
        let assembly = Assembly { problem: self, of_E: &of_E, flows: &flows, pieces: &pieces, places: &places, sizes };
        let y = assembly.system()?.solve(rule)?;
        let nodes = (0..flows.len()).map(|i| {
            let (begin, d) = (places.begin[i], flows[i].dim());
            let h = (self.times[i + 1] - self.times[i]) / pieces[i] as f64;
            (h, (0..=pieces[i]).map(|j| y.get(begin + j * d..begin + (j + 1) * d, ..).to_owned()).collect())
        });
        let mut found = SwitchedOptimum {
            times: self.times.clone(),
            cost: 0.0,
            hamiltonians: Vec::new(),
            slopes: Vec::new(),
            multipliers: places.multipliers.iter().map(|at| at.map_or(0.0, |at| y[(at, 0)])).collect(),
            nodes: nodes.collect(),
            flows,
            sizes,
        };
        found.cost = self.cost(&found)?;
        for (i, surface) in self.surfaces.iter().enumerate() {
            let (before, behind) = (found.end_of(i), found.start_of(i + 1));
            let pair = (self.phases[i].hamiltonian(&before), self.phases[i + 1].hamiltonian(&behind));
            let moving = surface.as_ref().map_or(0.0, |surface| surface.rate * found.multipliers[i]);
            found.hamiltonians.push(pair);
            found.slopes.push(pair.0 - pair.1 + moving);
        }
        Ok(found)
    }

    /// Is the final weight symmetric and of the right size, and does everything else fit?
    fn sizes(&self) -> Result<(usize, usize), ControlError> {
        let count = self.phases.len();
        let needed = |what, found, wanted| {
            if found == wanted { Ok(()) } else { Err(ControlError::Count { what, found, wanted }) }
        };
        needed("phases", count.min(1), 1)?;
        needed("times", self.times.len(), count + 1)?;
        needed("surfaces", self.surfaces.len(), count - 1)?;
        let (n, k) = (self.phases[0].plant.E.ncols(), self.phases[0].plant.B.ncols());
        for phase in &self.phases {
            sized("E", &phase.plant.E, (n, n))?;
            sized("B", &phase.plant.B, (n, k))?;
            needed("entries of b", phase.b.len(), n)?;
            needed("linear costs", phase.linear.len(), n + k)?;
        }
        for surface in self.surfaces.iter().flatten() {
            needed("entries of the gradient of a surface", surface.gradient.len(), n)?;
        }
        needed("initial values", self.start.len(), n)?;
        needed("linear costs at the end", self.final_linear.len(), n)?;
        sized("M", &self.final_weight, (n, n))?;
        Symmetry::Symmetric.require("M", &self.final_weight)?;
        if !self.times.windows(2).all(|w| w[0] < w[1] && w[1].is_finite()) {
            return Err(ControlError::Times);
        }
        Ok((n, k))
    }

    /// What is handed on must be differential.
    fn check_kernels(&self, bases: &[Subspaces]) -> Result<(), ControlError> {
        let vanishes = |X: Mat<f64>, size: f64| X.norm_max() <= REGULAR * size;
        for i in 0..self.surfaces.len() {
            let T = &bases[i].kernel;
            let new = &self.phases[i + 1].plant.E;
            if !vanishes(new * T, new.norm_max()) {
                return Err(ControlError::AlgebraicTransfer { phase: i + 2 });
            }
            if let Some(surface) = &self.surfaces[i] {
                let g = Mat::from_fn(1, surface.gradient.len(), |_, j| surface.gradient[j]);
                if !vanishes(&g * T, g.norm_max()) {
                    return Err(ControlError::AlgebraicSurface { switch: i + 1 });
                }
            }
        }
        let T = &bases[bases.len() - 1].kernel;
        let m = Mat::from_fn(1, self.final_linear.len(), |_, j| self.final_linear[j]);
        let size = self.final_weight.norm_max().max(m.norm_max());
        if !vanishes(&self.final_weight * T, size) || !vanishes(m * T, size) {
            return Err(ControlError::AlgebraicFinalCost);
        }
        Ok(())
    }

    fn cost(&self, found: &SwitchedOptimum) -> Result<f64, ControlError> {
        let mut sum = 0.0;
        for (i, (h, nodes)) in found.nodes.iter().enumerate() {
            let part = h / f64::from(PARTS);
            for (k, (c, w)) in (0..PARTS).flat_map(|k| NODES.iter().zip(WEIGHTS).map(move |node| (k, node))) {
                let (Phi, phi) = found.flows[i].over((f64::from(k) + c) * part)?;
                for y in &nodes[..nodes.len() - 1] {
                    let z = found.flows[i].whole(&(&Phi * y + &phi));
                    sum += part * w * self.phases[i].running_cost(&z);
                }
            }
        }
        let n = found.sizes.0;
        let x = found.end_of(self.phases.len() - 1).get(n..2 * n, ..).to_owned();
        let linear: f64 = self.final_linear.iter().enumerate().map(|(j, m)| m * x[(j, 0)]).sum();
        Ok(sum + 0.5 * (x.transpose() * &self.final_weight * &x)[(0, 0)] + linear)
    }
}

fn largest_row_sum(J: &Mat<f64>) -> f64 {
    (0..J.nrows()).map(|i| (0..J.ncols()).map(|j| J[(i, j)].abs()).sum::<f64>()).fold(0.0, f64::max)
}
