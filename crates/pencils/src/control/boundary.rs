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

use super::flow::ConstantFlow;
use super::{ControlError, OptimalityValues};
use crate::blocks::put;
use crate::structured::{OptimalControl, Symmetry, sized};
use daedal_linear::linalg::rank::REGULAR;
use daedal_linear::linalg::{Mat, RankRule, Ranks};
use faer::Scale;
use faer::linalg::solvers::Solve;

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

/// The optimal course.
#[derive(Clone, Debug)]
pub struct SwitchedOptimum {
    /// Start, switches, end.
    pub times: Vec<f64>,
    /// Its cost.
    pub cost: f64,
    /// H_i(τ⁻) and H_{i+1}(τ⁺) at every switch.
    pub hamiltonians: Vec<(f64, f64)>,
    /// d cost / dτ of every switch.
    pub slopes: Vec<f64>,
    /// η of every switch; zero without a surface.
    pub multipliers: Vec<f64>,
    flows: Vec<ConstantFlow>,
    /// piece length and y at the nodes of every phase
    nodes: Vec<(f64, Vec<Mat<f64>>)>,
    sizes: (usize, usize),
}

/// Unknowns (λ, x, u) at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct OptimalPoint {
    /// Adjoint variables.
    pub lambda: Vec<f64>,
    /// States.
    pub x: Vec<f64>,
    /// Inputs.
    pub u: Vec<f64>,
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
        let (n, k) = self.sizes()?;
        let mut ranks = Ranks::new(rule);
        let bases = self.phases.iter().map(|phase| ranks.subspaces(&phase.plant.E, 0.0)).collect::<Result<Vec<_>, _>>()?;
        self.check_kernels(&bases)?;
        let flows = self.phases.iter().map(|phase| phase.flow(rule)).collect::<Result<Vec<_>, _>>()?;
        let pieces: Vec<usize> = flows
            .iter()
            .zip(self.times.windows(2))
            .map(|(flow, w)| ((largest_row_sum(&flow.J) * (w[1] - w[0]) / PIECE).ceil() as usize).max(1))
            .collect();
        // where the nodes of each phase begin among the unknowns, and where the multipliers do
        let mut begin = vec![0];
        for (flow, pieces) in flows.iter().zip(&pieces) {
            begin.push(begin[begin.len() - 1] + flow.dim() * (pieces + 1));
        }
        let with_surface: Vec<usize> = (0..self.surfaces.len()).filter(|&i| self.surfaces[i].is_some()).collect();
        let unknowns = begin[flows.len()] + with_surface.len();
        if unknowns > MOST_UNKNOWNS {
            return Err(ControlError::TooLong { unknowns, most: MOST_UNKNOWNS });
        }
        let mut block = BlockSystem { K: Mat::zeros(unknowns, unknowns), right: Mat::zeros(unknowns, 1), row: 0 };

        // pieces
        for (i, flow) in flows.iter().enumerate() {
            let (Phi, phi) = flow.over((self.times[i + 1] - self.times[i]) / pieces[i] as f64)?;
            let d = flow.dim();
            for j in 0..pieces[i] {
                let at = begin[i] + j * d;
                block.add(&[(at + d, &Mat::identity(d, d)), (at, &(&Phi * Scale(-1.0)))], &phi);
            }
        }
        // a row on (λ, x, u) becomes one on y
        let first = |i: usize| begin[i];
        let last = |i: usize| begin[i + 1] - flows[i].dim();
        let wide = |of_lambda: &Mat<f64>, of_x: &Mat<f64>| {
            let mut rows = Mat::zeros(of_x.nrows(), 2 * n + k);
            put(&mut rows, 0, 0, of_lambda);
            put(&mut rows, 0, n, of_x);
            rows
        };
        let none = |rows: usize| Mat::<f64>::zeros(rows, n);
        let column = |x: &[f64]| Mat::from_fn(x.len(), 1, |i, _| x[i]);
        let count = flows.len();

        // start
        let of_start = bases[0].range.transpose() * &self.phases[0].plant.E;
        let rows = wide(&none(of_start.nrows()), &of_start);
        let right = &of_start * column(&self.start) - &rows * &flows[0].zeta;
        block.add(&[(first(0), &(&rows * &flows[0].X))], &right);
        // switches
        let mut multiplier = begin[count];
        for i in 0..count - 1 {
            let (old, new) = (&self.phases[i].plant.E, &self.phases[i + 1].plant.E);
            let of_x = bases[i + 1].range.transpose() * new;
            let rows = wide(&none(of_x.nrows()), &of_x);
            let right = &rows * &flows[i].zeta - &rows * &flows[i + 1].zeta;
            block.add(
                &[(first(i + 1), &(&rows * &flows[i + 1].X)), (last(i), &(&rows * &flows[i].X * Scale(-1.0)))],
                &right,
            );
            let V = bases[i].cokernel.transpose();
            let (before, behind) = (V * old.transpose(), V * new.transpose());
            let (before, behind) = (wide(&before, &none(before.nrows())), wide(&behind, &none(behind.nrows())));
            let right = &before * &flows[i].zeta - &behind * &flows[i + 1].zeta;
            let mut terms = vec![
                (first(i + 1), &behind * &flows[i + 1].X),
                (last(i), &before * &flows[i].X * Scale(-1.0)),
            ];
            if let Some(surface) = &self.surfaces[i] {
                terms.push((multiplier, V * column(&surface.gradient)));
            }
            let borrowed: Vec<(usize, &Mat<f64>)> = terms.iter().map(|(at, X)| (*at, X)).collect();
            block.add(&borrowed, &right);
            if let Some(surface) = &self.surfaces[i] {
                let gradient = column(&surface.gradient).transpose().to_owned();
                let rows = wide(&none(1), &gradient);
                let value = -(surface.rate * self.times[i + 1] + surface.offset) - (&rows * &flows[i].zeta)[(0, 0)];
                block.add(&[(last(i), &(&rows * &flows[i].X))], &Mat::from_fn(1, 1, |_, _| value));
                multiplier += 1;
            }
        }
        // end
        let V = bases[count - 1].cokernel.transpose();
        let rows = wide(
            &(V * self.phases[count - 1].plant.E.transpose()),
            &(V * &self.final_weight * Scale(-1.0)),
        );
        let right = V * column(&self.final_linear) - &rows * &flows[count - 1].zeta;
        block.add(&[(last(count - 1), &(&rows * &flows[count - 1].X))], &right);

        let y = block.solve(rule)?;
        let mut multipliers = vec![0.0; self.surfaces.len()];
        for (at, &i) in with_surface.iter().enumerate() {
            multipliers[i] = y[(begin[count] + at, 0)];
        }
        let nodes = (0..count).map(|i| {
            let d = flows[i].dim();
            let h = (self.times[i + 1] - self.times[i]) / pieces[i] as f64;
            (h, (0..=pieces[i]).map(|j| y.get(begin[i] + j * d..begin[i] + (j + 1) * d, ..).to_owned()).collect())
        });
        let mut found = SwitchedOptimum {
            times: self.times.clone(),
            cost: 0.0,
            hamiltonians: Vec::new(),
            slopes: Vec::new(),
            multipliers,
            nodes: nodes.collect(),
            flows,
            sizes: (n, k),
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
    fn check_kernels(&self, bases: &[daedal_linear::linalg::Subspaces]) -> Result<(), ControlError> {
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

impl SwitchedOptimum {
    /// The unknowns at a time inside of a phase; a switch belongs to the phase before and to the one behind it.
    pub fn at(&self, t: f64, phase: usize) -> Result<OptimalPoint, ControlError> {
        let (h, nodes) = &self.nodes[phase];
        let since = t - self.times[phase];
        let piece = ((since / h) as usize).min(nodes.len() - 2);
        let (Phi, phi) = self.flows[phase].over(since - piece as f64 * h)?;
        Ok(self.point(&self.flows[phase].whole(&(Phi * &nodes[piece] + phi))))
    }

    fn point(&self, z: &Mat<f64>) -> OptimalPoint {
        let (n, k) = self.sizes;
        let part = |from: usize, to: usize| (from..to).map(|i| z[(i, 0)]).collect();
        OptimalPoint { lambda: part(0, n), x: part(n, 2 * n), u: part(2 * n, 2 * n + k) }
    }

    fn start_of(&self, phase: usize) -> Mat<f64> {
        self.flows[phase].whole(&self.nodes[phase].1[0])
    }

    fn end_of(&self, phase: usize) -> Mat<f64> {
        let nodes = &self.nodes[phase].1;
        self.flows[phase].whole(&nodes[nodes.len() - 1])
    }
}

/// Rows of a linear system, added one group after the other.
struct BlockSystem {
    K: Mat<f64>,
    right: Mat<f64>,
    row: usize,
}

impl BlockSystem {
    fn add(&mut self, terms: &[(usize, &Mat<f64>)], right: &Mat<f64>) {
        for (at, X) in terms {
            put(&mut self.K, self.row, *at, X);
        }
        put(&mut self.right, self.row, 0, right);
        self.row += right.nrows();
    }

    /// By an LU decomposition of the equilibrated rows; ‖K⁻¹‖ is estimated by a solution with random signs.
    fn solve(mut self, rule: RankRule) -> Result<Mat<f64>, ControlError> {
        let size = self.K.nrows();
        debug_assert_eq!(self.row, size);
        for i in 0..size {
            let largest = (0..size).fold(0.0_f64, |most, j| most.max(self.K[(i, j)].abs()));
            if largest > 0.0 {
                (0..size).for_each(|j| self.K[(i, j)] /= largest);
                self.right[(i, 0)] /= largest;
            }
        }
        let lu = self.K.partial_piv_lu();
        let mut bits = 0x9e37_79b9_7f4a_7c15_u64;
        let signs = Mat::from_fn(size, 1, |_, _| {
            bits ^= bits << 13;
            bits ^= bits >> 7;
            bits ^= bits << 17;
            if bits & 1 == 0 { 1.0 } else { -1.0 }
        });
        let grown = lu.solve(&signs).norm_max();
        let y: Mat<f64> = lu.solve(&self.right);
        let clear = grown.is_finite() && grown * rule.or(REGULAR) < 1.0 && y.norm_max().is_finite();
        if clear { Ok(y) } else { Err(ControlError::NoUniqueOptimum) }
    }
}

fn largest_row_sum(J: &Mat<f64>) -> f64 {
    (0..J.nrows()).map(|i| (0..J.ncols()).map(|j| J[(i, j)].abs()).sum::<f64>()).fold(0.0, f64::max)
}
