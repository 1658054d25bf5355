//! The linear system of a boundary value problem over several phases: pieces, start, switches, end.

use super::flow::ConstantFlow;
use super::{ControlError, SwitchSurface, SwitchedProblem};
use crate::blocks::put;
use daedal_linear::linalg::rank::REGULAR;
use daedal_linear::linalg::{Mat, RankRule, Subspaces};
use faer::Scale;
use faer::linalg::solvers::Solve;

/// Where the unknowns stand: y at the nodes of all phases, then the multipliers of surfaces.
pub(super) struct NodePlaces {
    /// First node of each phase, and the end of the last.
    pub begin: Vec<usize>,
    /// Of each switch, where it has a surface.
    pub multipliers: Vec<Option<usize>>,
    pub count: usize,
}

impl NodePlaces {
    pub fn new(flows: &[ConstantFlow], pieces: &[usize], surfaces: &[Option<SwitchSurface>]) -> Self {
        let mut begin = vec![0];
        for (flow, pieces) in flows.iter().zip(pieces) {
            begin.push(begin[begin.len() - 1] + flow.dim() * (pieces + 1));
        }
        let mut count = begin[flows.len()];
        let multipliers = surfaces.iter().map(|surface| {
            surface.as_ref().map(|_| {
                count += 1;
                count - 1
            })
        });
        let multipliers = multipliers.collect();
        NodePlaces { begin, multipliers, count }
    }
}

/// All that the rows are made of.
pub(super) struct Assembly<'a> {
    pub problem: &'a SwitchedProblem,
    /// Subspaces of E of each phase.
    pub of_E: &'a [Subspaces],
    pub flows: &'a [ConstantFlow],
    pub pieces: &'a [usize],
    pub places: &'a NodePlaces,
    /// Numbers of states and of inputs.
    pub sizes: (usize, usize),
}

impl Assembly<'_> {
    pub fn system(&self) -> Result<BlockSystem, ControlError> {
        let size = self.places.count;
        let mut block = BlockSystem { K: Mat::zeros(size, size), right: Mat::zeros(size, 1), row: 0 };
        for (i, flow) in self.flows.iter().enumerate() {
            let length = self.problem.times[i + 1] - self.problem.times[i];
            let (Phi, phi) = flow.over(length / self.pieces[i] as f64)?;
            let d = flow.dim();
            for j in 0..self.pieces[i] {
                let at = self.places.begin[i] + j * d;
                block.add(&[(at + d, &Mat::identity(d, d)), (at, &(&Phi * Scale(-1.0)))], &phi);
            }
        }
        self.start(&mut block);
        (0..self.problem.surfaces.len()).for_each(|i| self.switch(&mut block, i));
        self.end(&mut block);
        Ok(block)
    }

    fn first(&self, phase: usize) -> usize {
        self.places.begin[phase]
    }

    fn last(&self, phase: usize) -> usize {
        self.places.begin[phase + 1] - self.flows[phase].dim()
    }

    /// Rows on (λ, x, u).
    fn wide(&self, of_lambda: Option<&Mat<f64>>, of_x: Option<&Mat<f64>>) -> Mat<f64> {
        let (n, k) = self.sizes;
        let count = of_lambda.or(of_x).map_or(0, Mat::nrows);
        let mut rows = Mat::zeros(count, 2 * n + k);
        if let Some(of_lambda) = of_lambda {
            put(&mut rows, 0, 0, of_lambda);
        }
        if let Some(of_x) = of_x {
            put(&mut rows, 0, n, of_x);
        }
        rows
    }

    /// E₁ x(t₀) = E₁ x₀.
    fn start(&self, block: &mut BlockSystem) {
        let of_x = self.of_E[0].range.transpose() * &self.problem.phases[0].plant.E;
        let rows = self.wide(None, Some(&of_x));
        let right = &of_x * column(&self.problem.start) - &rows * &self.flows[0].zeta;
        block.add(&[(self.first(0), &(&rows * &self.flows[0].X))], &right);
    }

    /// E_{i+1} x and, on the cokernel of E_i, Eᵀλ go on; g = 0 with its multiplier.
    fn switch(&self, block: &mut BlockSystem, i: usize) {
        let (old, new) = (&self.flows[i], &self.flows[i + 1]);
        let (E_old, E_new) = (&self.problem.phases[i].plant.E, &self.problem.phases[i + 1].plant.E);
        let rows = self.wide(None, Some(&(self.of_E[i + 1].range.transpose() * E_new)));
        let right = &rows * &old.zeta - &rows * &new.zeta;
        let terms = (&rows * &new.X, &rows * &old.X * Scale(-1.0));
        block.add(&[(self.first(i + 1), &terms.0), (self.last(i), &terms.1)], &right);

        let V = self.of_E[i].cokernel.transpose();
        let before = self.wide(Some(&(V * E_old.transpose())), None);
        let behind = self.wide(Some(&(V * E_new.transpose())), None);
        let right = &before * &old.zeta - &behind * &new.zeta;
        let terms = (&behind * &new.X, &before * &old.X * Scale(-1.0));
        let mut all = vec![(self.first(i + 1), &terms.0), (self.last(i), &terms.1)];
        let Some((surface, multiplier)) = self.problem.surfaces[i].as_ref().zip(self.places.multipliers[i]) else {
            return block.add(&all, &right);
        };
        let jump = V * column(&surface.gradient);
        all.push((multiplier, &jump));
        block.add(&all, &right);
        let rows = self.wide(None, Some(&column(&surface.gradient).transpose().to_owned()));
        let moved = surface.rate * self.problem.times[i + 1] + surface.offset;
        let right = Mat::from_fn(1, 1, |_, _| -moved - (&rows * &old.zeta)[(0, 0)]);
        block.add(&[(self.last(i), &(&rows * &old.X))], &right);
    }

    /// E_Nᵀλ = M x + m.
    fn end(&self, block: &mut BlockSystem) {
        let i = self.flows.len() - 1;
        let V = self.of_E[i].cokernel.transpose();
        let of_lambda = V * self.problem.phases[i].plant.E.transpose();
        let of_x = V * &self.problem.final_weight * Scale(-1.0);
        let rows = self.wide(Some(&of_lambda), Some(&of_x));
        let right = V * column(&self.problem.final_linear) - &rows * &self.flows[i].zeta;
        block.add(&[(self.last(i), &(&rows * &self.flows[i].X))], &right);
    }
}

fn column(x: &[f64]) -> Mat<f64> {
    Mat::from_fn(x.len(), 1, |i, _| x[i])
}

/// Rows of a linear system, added one group after the other.
pub(super) struct BlockSystem {
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
    pub fn solve(mut self, rule: RankRule) -> Result<Mat<f64>, ControlError> {
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
