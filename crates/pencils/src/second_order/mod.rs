//! Linear differential-algebraic equations of second order, M(t) x″ + C(t) x′ + K(t) x = f(t), of any index, square or not.
//!
//! First the index is reduced, then the order: the classical order reduction, which takes all of x′ as new unknowns, differentiates
//! algebraic unknowns and may raise the index by one. Wunderlich, thesis (2008), chapter 3.
//!
//! | what | how |
//! | --- | --- |
//! | data at a point | [`Expansion`]: Taylor coefficients of M, C, K, f from [`TripleFormulas`], [`Constant`] or supplied derivatives |
//! | invariants of one point | [`local_invariants`] |
//! | index and characteristic values | [`characteristic_values`], from ranks of [`TripleArray`]s |
//! | system of index zero with the same unknowns | [`strangeness_free`] |
//! | its form of first order | [`StrangenessFreeTriple::trimmed`], [`StrangenessFreeTriple::trimmed_without_frame`] |
//! | solution | [`ExplicitSolution`] for constant coefficients, [`discretise`] for all |
//! | which formulation to take | [`compare_formulations`] |
//! | nonlinear systems at a point | [`linearise`], [`strangeness_free_of_arrays`] |

mod characteristic;
mod coefficients;
mod comparison;
mod derivative_array;
mod discretisation;
mod error;
mod expansion;
mod explicit_solution;
mod first_order;
mod invariants;
mod nonlinear;
mod start;
mod strangeness_free;
mod trimmed;
mod values;

pub use characteristic::{CharacteristicTable, LevelRanks, characteristic_values, characteristic_values_of_arrays};
pub use coefficients::{Constant, SecondOrderSystem, SuppliedTriple, TripleCoefficients, TripleFormulas};
pub use comparison::{FormulationComparison, FormulationWarning, companion, compare_formulations, partial_first_order};
pub use derivative_array::TripleArray;
pub use discretisation::{DifferenceFormulas, DiscreteStart, Trajectory, discretise};
pub use error::SecondOrderError;
pub use expansion::Expansion;
pub use explicit_solution::{ExplicitMotion, ExplicitSolution};
pub use first_order::FirstOrderExpansion;
pub use invariants::{TripleInvariants, local_invariants};
pub use nonlinear::{Jet, SecondOrderEquations, linearise, solve_jet};
pub use start::taylor_start;
pub use strangeness_free::{StrangenessFreeTriple, strangeness_free, strangeness_free_of_arrays};
pub use trimmed::Trimmed;
pub use values::SecondOrderValues;
