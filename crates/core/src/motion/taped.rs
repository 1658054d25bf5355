//! Formulas as [`EquationsOfMotion`]: every block is a tape that runs for any scalar.
//!
//! Slower than [`Compiled`](super::Compiled), and each call allocates its registers. It takes the same way through the library as a model written in Rust and does
//! the same arithmetic, so it is the second opinion on compiled formulas and the proof that a model file says the same as a program.

use super::{EquationsOfMotion, Formulas, Motion, Names, Position, Sizes, Velocity};
use crate::graph::{Expr, Graph, Tape};
use crate::linalg::Matrix;
use crate::scalar::Scalar;

/// Formulas with numbers for their parameters, one tape for each block.
#[derive(Clone, Debug)]
pub struct Taped {
    sizes: Sizes,
    names: Names,
    inputs: usize,
    entries: Vec<(usize, usize)>,
    mass: Tape,
    kinematics: Tape,
    force: Tape,
    holonomic: Tape,
    nonholonomic: Tape,
    dynamic: Tape,
    auxiliary: Tape,
    contact: Tape,
    invariant: Tape,
}

impl Taped {
    /// The tapes of these formulas.
    pub fn new(formulas: &Formulas) -> Self {
        let bound = formulas.bound();
        let graph: &Graph = &bound.graph;
        let tape = |outputs: &[Expr]| Tape::new(graph, outputs);
        let mass: Vec<Expr> = bound.mass.iter().map(|(_, _, m)| *m).collect();
        Taped {
            sizes: bound.sizes,
            inputs: graph.inputs().len(),
            entries: bound.mass.iter().map(|&(i, j, _)| (i, j)).collect(),
            mass: tape(&mass),
            kinematics: tape(&bound.kinematics),
            force: tape(&bound.force),
            holonomic: tape(&bound.holonomic),
            nonholonomic: tape(&bound.nonholonomic),
            dynamic: tape(&bound.dynamic),
            auxiliary: tape(&bound.auxiliary),
            contact: tape(&bound.contact),
            invariant: tape(&bound.invariant),
            names: bound.names,
        }
    }

    /// Run a tape; what a block may not depend on is zero.
    fn run<S: Scalar>(&self, tape: &Tape, at: &Motion<S>, out: &mut [S]) {
        let n = self.sizes;
        let mut inputs = vec![S::from(0.0); self.inputs];
        inputs[0] = at.t;
        let lengths = [n.positions, n.velocities, n.dynamic, n.auxiliary, n.contact, n.holonomic, n.nonholonomic];
        let mut start = 1;
        for (length, block) in lengths.into_iter().zip([at.p, at.v, at.r, at.w, at.s, at.lambda, at.mu]) {
            inputs[start..start + block.len()].copy_from_slice(block);
            start += length;
        }
        out.copy_from_slice(&tape.evaluate(&inputs));
    }
}

fn at_position<'x, S: Scalar>(at: &Position<'x, S>) -> Motion<'x, S> {
    Motion { t: at.t, p: at.p, v: &[], r: &[], w: &[], s: at.s, lambda: &[], mu: &[] }
}

fn at_velocity<'x, S: Scalar>(at: &Velocity<'x, S>) -> Motion<'x, S> {
    Motion { t: at.t, p: at.p, v: at.v, r: &[], w: &[], s: at.s, lambda: &[], mu: &[] }
}

impl EquationsOfMotion for Taped {
    fn sizes(&self) -> Sizes {
        self.sizes
    }
    fn names(&self) -> Names {
        self.names.clone()
    }
    fn kinematics<S: Scalar>(&self, at: &Velocity<S>, pdot: &mut [S]) {
        self.run(&self.kinematics, &at_velocity(at), pdot);
    }
    fn mass<S: Scalar>(&self, at: &Position<S>, M: &mut Matrix<S>) {
        let mut entries = vec![S::from(0.0); self.entries.len()];
        self.run(&self.mass, &at_position(at), &mut entries);
        for (&place, m) in self.entries.iter().zip(entries) {
            M[place] = m;
        }
    }
    fn force<S: Scalar>(&self, at: &Motion<S>, f: &mut [S]) {
        self.run(&self.force, at, f);
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        self.run(&self.holonomic, &at_position(at), g);
    }
    fn nonholonomic<S: Scalar>(&self, at: &Velocity<S>, h: &mut [S]) {
        self.run(&self.nonholonomic, &at_velocity(at), h);
    }
    fn dynamic<S: Scalar>(&self, at: &Motion<S>, b: &mut [S]) {
        self.run(&self.dynamic, at, b);
    }
    fn auxiliary<S: Scalar>(&self, at: &Motion<S>, d: &mut [S]) {
        self.run(&self.auxiliary, at, d);
    }
    fn contact<S: Scalar>(&self, at: &Position<S>, c: &mut [S]) {
        self.run(&self.contact, &at_position(at), c);
    }
    fn invariant<S: Scalar>(&self, at: &Velocity<S>, e: &mut [S]) {
        self.run(&self.invariant, &at_velocity(at), e);
    }
}
