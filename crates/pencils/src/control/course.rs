//! An optimal course: exponentials between the nodes of its pieces.

use super::ControlError;
use super::flow::ConstantFlow;
use daedal_linear::linalg::Mat;

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
    pub(super) flows: Vec<ConstantFlow>,
    /// piece length and y at the nodes of every phase
    pub(super) nodes: Vec<(f64, Vec<Mat<f64>>)>,
    pub(super) sizes: (usize, usize),
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

    pub(super) fn start_of(&self, phase: usize) -> Mat<f64> {
        self.flows[phase].whole(&self.nodes[phase].1[0])
    }

    pub(super) fn end_of(&self, phase: usize) -> Mat<f64> {
        let nodes = &self.nodes[phase].1;
        self.flows[phase].whole(&nodes[nodes.len() - 1])
    }
}
