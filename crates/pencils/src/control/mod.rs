//! Control of descriptor systems E ẋ = A x + B u, y = C x with constant coefficients, alone and as modes of a switched system. Wunderlich,
//! thesis (2008), 5.6; Bunse-Gerstner, Mehrmann & Nichols, SIAM J. Matrix Anal. Appl. 13 (1992); Dai, Singular Control Systems (1989).
//!
//! | what | how |
//! | --- | --- |
//! | controllability and observability, finite, at infinity, of impulses | [`Controllability`] |
//! | feedback after which the system is regular with index one at most | [`regularise_state`], [`regularise_output`], [`regularise_derivative`] |
//! | states that a mode can be in, and transfers between modes | [`StateSpaces`], [`transfer_surplus`] |
//! | linear-quadratic optimal control: conditions, and the boundary value problem over several modes | [`OptimalityValues`], [`SwitchedOptimum`] |
//! | switching times that are free or lie on surfaces | [`optimal_times`] |
//! | sliding along a surface | [`EquivalentControl`] |

mod assembly;
mod boundary;
mod controllability;
mod course;
mod derivative_feedback;
mod equivalent;
mod error;
mod flow;
mod quadratic;
mod regularisation;
mod spaces;
mod switch_times;
mod system;

pub use boundary::{ControlPhase, SwitchSurface, SwitchedProblem};
pub use controllability::Controllability;
pub use course::{OptimalPoint, SwitchedOptimum};
pub use derivative_feedback::regularise_derivative;
pub use equivalent::EquivalentControl;
pub use error::ControlError;
pub use quadratic::OptimalityValues;
pub use regularisation::{RegularisingFeedback, regularise_output, regularise_state};
pub use spaces::{StateSpaces, transfer_surplus};
pub use switch_times::{OptimalTimes, optimal_times};
pub use system::DescriptorSystem;
