//! What is constant, diagonal or absent in equations of motion. It is read from formulas, or from which variables enter ([`Depends`]), so that it
//! holds everywhere: no point is looked at, and a `select` depends on its condition and on both branches. A black box declares it.

use super::{Acceleration, Derivation, EquationsOfMotion, Kinematics, Motion, Position, Velocity};
use crate::linalg::Matrix;
use crate::scalar::Depends;

/// What is known about the mass matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MassStructure {
    /// Any matrix that changes along the motion.
    Full,
    /// Diagonal, changing.
    Diagonal,
    /// Constant: evaluated once.
    ConstantFull,
    /// Constant and diagonal.
    ConstantDiagonal,
}

impl MassStructure {
    /// Is M constant?
    pub fn is_constant(self) -> bool {
        matches!(self, MassStructure::ConstantFull | MassStructure::ConstantDiagonal)
    }

    /// Is M diagonal?
    pub fn is_diagonal(self) -> bool {
        matches!(self, MassStructure::Diagonal | MassStructure::ConstantDiagonal)
    }
}

/// Structure that saves work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Structure {
    /// Structure of M.
    pub mass: MassStructure,
    /// What p' = Z(p) v is.
    pub kinematics: Kinematics,
    /// Does time enter nowhere?
    pub autonomous: bool,
    /// Do f, b or d depend on λ or μ?
    pub multipliers_in_forces: bool,
    /// Is the constraint force given by hand?
    pub constraint_force_by_hand: bool,
    /// Is gII or hI given by hand?
    pub acceleration_level_by_hand: bool,
    /// Are there values only, with v' eliminated from gII and hI?
    pub black_box: bool,
}

/// Variables are followed by kind: one number for all positions, and so on.
mod kind {
    pub const T: usize = 0;
    pub const P: usize = 1;
    pub const V: usize = 2;
    pub const R: usize = 3;
    pub const W: usize = 4;
    pub const S: usize = 5;
    pub const LAMBDA: usize = 6;
    pub const MU: usize = 7;
    pub const A: usize = 8;
}

impl Structure {
    /// What may be assumed about a black box that declares nothing.
    pub const fn unknown() -> Self {
        Structure {
            mass: MassStructure::Full,
            kinematics: Kinematics::General,
            autonomous: false,
            multipliers_in_forces: true,
            constraint_force_by_hand: true,
            acceleration_level_by_hand: true,
            black_box: true,
        }
    }

    /// Structure of a system, as its equations show it.
    pub fn of<E: EquationsOfMotion>(equations: &E) -> Self {
        let n = equations.sizes();
        let block = |kind: usize, n: usize| -> Vec<Depends> {
            // any values will do: the pattern counts, and select joins both branches
            (0..n).map(|i| Depends::variable(0.3 + 0.1 * i as f64, kind)).collect()
        };
        let (p, v, s) = (block(kind::P, n.positions), block(kind::V, n.velocities), block(kind::S, n.contact));
        let (r, w) = (block(kind::R, n.dynamic), block(kind::W, n.auxiliary));
        let (lambda, mu) = (block(kind::LAMBDA, n.holonomic), block(kind::MU, n.nonholonomic));
        let a = block(kind::A, n.velocities);
        let t = Depends::variable(0.7, kind::T);
        let position = Position { t, p: &p, s: &s };
        let velocity = Velocity { t, p: &p, v: &v, s: &s };
        let motion = Motion { t, p: &p, v: &v, r: &r, w: &w, s: &s, lambda: &lambda, mu: &mu };
        let zeros = |n: usize| vec![Depends::from(0.0); n];

        // mass
        let mut M = Matrix::<Depends>::zeros(n.velocities, n.velocities);
        equations.mass(&position, &mut M);
        let constant = M.data().iter().all(|m| m.is_constant());
        let diagonal = (0..n.velocities).all(|i| (0..n.velocities).all(|j| i == j || M[(i, j)].is_zero()));
        let mass = match (constant, diagonal) {
            (true, true) => MassStructure::ConstantDiagonal,
            (true, false) => MassStructure::ConstantFull,
            (false, true) => MassStructure::Diagonal,
            (false, false) => MassStructure::Full,
        };

        // forces and the rest
        let (mut f, mut b, mut d) = (zeros(n.velocities), zeros(n.dynamic), zeros(n.auxiliary));
        equations.force(&motion, &mut f);
        equations.dynamic(&motion, &mut b);
        equations.auxiliary(&motion, &mut d);
        let multipliers_in_forces = f.iter().chain(&b).chain(&d).any(|x| x.on(kind::LAMBDA) || x.on(kind::MU));
        let (mut g, mut h, mut c) = (zeros(n.holonomic), zeros(n.nonholonomic), zeros(n.contact));
        let (mut e, mut pdot) = (zeros(n.invariants), zeros(n.positions));
        equations.holonomic(&position, &mut g);
        equations.nonholonomic(&velocity, &mut h);
        equations.contact(&position, &mut c);
        equations.invariant(&velocity, &mut e);
        equations.kinematics(&velocity, &mut pdot);

        // what is given by hand
        let by_hand = |d: Derivation| d == Derivation::ByHand;
        let acceleration = Acceleration { at: motion, a: &a };
        let mut force = zeros(n.velocities);
        let constraint_force_by_hand = by_hand(equations.constraint_force(&motion, &mut force));
        let (mut g1, mut g2, mut h1) = (zeros(n.holonomic), zeros(n.holonomic), zeros(n.nonholonomic));
        equations.holonomic_velocity(&velocity, &mut g1);
        let g2_by_hand = by_hand(equations.holonomic_acceleration(&acceleration, &mut g2));
        let h1_by_hand = by_hand(equations.nonholonomic_acceleration(&acceleration, &mut h1));

        let autonomous = ![&f, &b, &d, &g, &h, &c, &e, &pdot, &force, &g1, &g2, &h1]
            .into_iter()
            .flatten()
            .chain(M.data())
            .any(|x| x.on(kind::T));
        Structure {
            mass,
            kinematics: Kinematics::trace(equations),
            autonomous,
            multipliers_in_forces,
            constraint_force_by_hand,
            acceleration_level_by_hand: g2_by_hand || h1_by_hand,
            black_box: false,
        }
    }
}
