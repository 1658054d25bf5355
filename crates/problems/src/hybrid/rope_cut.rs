//! A pendulum whose rope is cut when it is fast enough.
//!
//! ```text
//! rope:    p' = v,  m v' = (0, −m g) − 2pλ,  0 = |p|² − l²         until |v|² = vv
//! flight:  p' = v,  m v' = (0, −m g)
//! ```
//! Index 3, then an ordinary differential equation. Wunderlich, thesis (2008), example 5.11; parameters and values are chosen here: from
//! (l, 0) at rest, the energy gives the height of the cut, y = −vv/(2g).

use super::{ModeIntegrator, names};
use crate::pendulum::Pendulum;
use daedal::dae::{Equations, Form, System};
use daedal::hybrid::{Hybrid, Mode, Transition};
use daedal::linalg::Matrix;
use daedal::linear::ConstantCoefficients;
use daedal::motion::{EquationsOfMotion, Layout, Motion, Names, Position, Sizes};
use daedal::scalar::{Scalar, dot};
use daedal::{Geoms, Start};

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RopeCut {
    /// The pendulum.
    pub pendulum: Pendulum,
    /// |v|² at which the rope is cut.
    pub vv: f64,
}

impl Default for RopeCut {
    fn default() -> Self {
        RopeCut { pendulum: Pendulum { m: 1.0, l: 1.0, g: 9.81 }, vv: 10.0 }
    }
}

/// End of the run.
pub const TEND: f64 = 1.0;
/// When the rope is cut.
pub const CUT: f64 = 0.331797929;
/// x, y, vx, vy, λ there.
pub const AT_CUT: [f64; 5] = [0.860361682, -0.509683996, -1.611762314, -2.720702527, 7.5];
/// x, y, vy at t = 1.
pub const END: [f64; 3] = [-0.216621234, -4.517716165, -9.275764842];

/// The solver of a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RopeSolver {
    /// GEOMS, for equations of motion.
    Geoms,
    /// A general system in a form.
    General(Form, ModeIntegrator),
    /// GELDA for the flight; the pendulum is not linear, its form is chosen by itself.
    Gelda(ModeIntegrator),
}

impl RopeCut {
    /// The system with a solver for each mode: rope, flight.
    pub fn system(&self, rope: RopeSolver, flight: RopeSolver) -> Hybrid<'static> {
        let (of, mut hybrid) = (*self, Hybrid::new());
        let general =
            |name: &str, rope, form, method| Mode::general(name, System::of(&RopeMode { of, rope }), form, method);
        let bound = hybrid.mode(match rope {
            RopeSolver::Geoms => Mode::motion("rope", RopeMode { of, rope: true }, Geoms::default()),
            RopeSolver::General(form, method) => general("rope", true, form, method),
            RopeSolver::Gelda(method) => general("rope", true, Form::Auto, method),
        });
        let free = hybrid.mode(match flight {
            RopeSolver::Geoms => Mode::motion("flight", RopeMode { of, rope: false }, Geoms::default()),
            RopeSolver::General(form, method) => general("flight", false, form, method),
            RopeSolver::Gelda(method) => Mode::linear("flight", &NAMES[..4], self.linear(), method),
        });
        // the velocities stand at different places in the two kinds of modes
        let v = if rope == RopeSolver::Geoms { layout(true).v().start } else { 2 };
        hybrid.transition(Transition::when(bound, free, "|v|^2 >= vv", move |_, x| {
            of.vv - x[v].powi(2) - x[v + 1].powi(2)
        }));
        hybrid
    }

    /// What is known at the start, in the order of the names of the first mode.
    pub fn start(&self, rope: RopeSolver) -> Vec<Start> {
        let known = [self.pendulum.l, 0.0, 0.0, 0.0].map(Start::Guess);
        if rope == RopeSolver::Geoms {
            let layout = layout(true);
            let mut start = vec![Start::Unknown; layout.dim()];
            start[layout.p()].copy_from_slice(&known[..2]);
            start[layout.v()].copy_from_slice(&known[2..]);
            start
        } else {
            known.into_iter().chain([Start::Unknown]).collect()
        }
    }

    /// The flight with constant matrices.
    pub fn linear(&self) -> ConstantCoefficients<Vec<Vec<f64>>> {
        let (mut E, mut A) = (Matrix::zeros(4, 4), Matrix::zeros(4, 4));
        for i in 0..4 {
            E[(i, i)] = 1.0;
        }
        (A[(0, 2)], A[(1, 3)]) = (1.0, 1.0);
        ConstantCoefficients::new(E, A, vec![vec![0.0], vec![0.0], vec![0.0], vec![-self.pendulum.g]])
    }
}

/// Names of the unknowns as general equations; those of the equations of motion are the same and the accelerations.
pub const NAMES: [&str; 5] = ["x", "y", "vx", "vy", "lambda.rope"];

fn layout(rope: bool) -> Layout {
    let sizes = EquationsOfMotion::sizes(&RopeMode { of: RopeCut::default(), rope });
    Layout::new(sizes, daedal::motion::Form::StrangenessFree, false)
}

/// The mass, with or without the rope.
#[derive(Clone, Copy, Debug)]
pub struct RopeMode {
    /// The parameters.
    pub of: RopeCut,
    /// Does the rope hold?
    pub rope: bool,
}

impl EquationsOfMotion for RopeMode {
    fn sizes(&self) -> Sizes {
        Sizes { positions: 2, velocities: 2, holonomic: usize::from(self.rope), ..Sizes::default() }
    }
    fn names(&self) -> Names {
        let names = Names::numbered(&EquationsOfMotion::sizes(self)).motion(&NAMES[..2], &NAMES[2..4]);
        if self.rope { names.constraints(&["rope"], &[]) } else { names }
    }
    fn mass<S: Scalar>(&self, _: &Position<S>, M: &mut Matrix<S>) {
        M[(0, 0)] = S::from(self.of.pendulum.m);
        M[(1, 1)] = S::from(self.of.pendulum.m);
    }
    fn force<S: Scalar>(&self, _: &Motion<S>, f: &mut [S]) {
        f[0] = S::from(0.0);
        f[1] = S::from(-self.of.pendulum.m * self.of.pendulum.g);
    }
    fn holonomic<S: Scalar>(&self, at: &Position<S>, g: &mut [S]) {
        if self.rope {
            g[0] = dot(at.p, at.p) - self.of.pendulum.l.powi(2);
        }
    }
}

impl Equations for RopeMode {
    fn dim(&self) -> usize {
        if self.rope { 5 } else { 4 }
    }
    fn names(&self) -> Vec<String> {
        names(&NAMES[..self.dim()])
    }
    fn residual<S: Scalar>(&self, _t: S, x: &[S], xdot: &[S], r: &mut [S]) {
        let Pendulum { m, l, g } = self.of.pendulum;
        for i in 0..2 {
            r[i] = xdot[i] - x[2 + i];
            r[2 + i] = xdot[2 + i] * m;
            if self.rope {
                r[2 + i] += x[i] * x[4] * 2.0;
            }
        }
        r[3] = r[3] + m * g;
        if self.rope {
            r[4] = dot(&x[..2], &x[..2]) - l * l;
        }
    }
}
