//! Linear algebra, and linear differential-algebraic equations E(t) ẋ = A(t) x + b(t) with m equations and n unknowns, of any strangeness
//! index.
//!
//! | module | what |
//! | --- | --- |
//! | [`linalg`] | decompositions in fixed buffers, and how ranks are decided |
//! | `coefficients` | what a problem is: [`LinearEquations`] for every scalar, [`Coefficients`] with Taylor coefficients |
//! | `oracle` | [`Coefficients`] from equations, from supplied derivatives, from constant matrices |
//! | `array` | the derivative array M z' = N x + g in Taylor form |
//! | `equilibrate` | row and column scales for rank decisions |
//! | `level` | ranks and bases of one level of the array |
//! | `strangeness_free` | characteristic values and the strangeness-free system at one time |
//! | `moving_frame` | the same system at a neighbouring time, in bases that turn smoothly |
//!
//! Kunkel & Mehrmann, Differential-Algebraic Equations (2006), chapters 3 and 6; Wunderlich, thesis (2008), 2.2 and 5.

mod array;
mod characteristic_values;
mod coefficients;
mod equilibrate;
mod level;
pub mod linalg;
mod moving_frame;
mod oracle;
mod strangeness_free;

pub use array::DerivativeArray;
pub use characteristic_values::CharacteristicValues;
pub use coefficients::{CoefficientError, Coefficients, LinearEquations, TaylorData};
pub use equilibrate::equilibrate;
pub use moving_frame::{FrameError, MovingFrame};
pub use oracle::{ConstantCoefficients, Differentiated, Inhomogeneity, Supplied};
pub use strangeness_free::{
    LeastClear, RankOptions, RankPlace, ReducedSystem, Reducer, ReductionError, StrangenessFree, strangeness_free,
};
