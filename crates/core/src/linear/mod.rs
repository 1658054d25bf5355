//! Linear differential-algebraic equations E(t) ẋ = A(t) x + b(t) with m equations and n unknowns, of any strangeness index.
//!
//! | file | what |
//! | --- | --- |
//! | `coefficients` | what a problem is: [`LinearEquations`] for every scalar, [`Coefficients`] with Taylor coefficients |
//! | `oracle` | [`Coefficients`] from equations, from supplied derivatives, from constant matrices |
//! | `array` | the derivative array M z' = N x + g in Taylor form |
//! | `equilibrate` | row and column scales for rank decisions |
//! | `level` | ranks and bases of one level of the array |
//! | `strangeness_free` | characteristic values and the strangeness-free system at one time |
//! | `moving_frame` | the same system at a neighbouring time, in bases that turn smoothly |
//! | `consistent` | consistent initial values and derivatives |
//! | `gelda` | [`Gelda`]: what an integrator sees |
//!
//! Kunkel & Mehrmann, Differential-Algebraic Equations (2006), chapters 3 and 6; Wunderlich, thesis (2008), 2.2 and 5.

mod array;
mod coefficients;
mod consistent;
mod equilibrate;
mod gelda;
mod level;
mod moving_frame;
mod oracle;
mod strangeness_free;

pub use array::DerivativeArray;
pub use coefficients::{CoefficientError, Coefficients, LinearEquations, TaylorData};
pub use consistent::Keep;
pub use gelda::{Contradiction, Gelda, GeldaOptions};
pub use oracle::{ConstantCoefficients, Differentiated, Inhomogeneity, Supplied};
pub use strangeness_free::{
    LeastClear, RankOptions, RankPlace, ReducedSystem, ReductionError, StrangenessFree, strangeness_free,
};
