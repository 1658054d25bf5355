//! Formulas as expression graphs.
//!
//! [`Expr`] is one more [`Scalar`](daedal_scalar::Scalar): a model that is generic in the scalar is traced into a [`Graph`] by evaluating it
//! with inputs of the graph. Equal subexpressions are one node, constants are folded, what is multiplied by zero is gone.
//!
//! ```
//! use daedal_graph::Graph;
//! use daedal_scalar::Scalar;
//! let mut graph = Graph::new();
//! let (x, y) = (graph.input("x"), graph.input("y"));
//! let (vx, vy) = (graph.input("vx"), graph.input("vy"));
//! let rod = graph.with(|| x.square() + y.square() - 1.0);
//! // along x' = vx, y' = vy
//! let rate = graph.total_derivative(&[rod], &[(x, vx), (y, vy)])[0];
//! assert_eq!(graph.formula(rate), "2*x*vx + 2*y*vy");
//! ```
//!
//! | file | what |
//! | --- | --- |
//! | `graph.rs`, `node.rs` | nodes, each stored once |
//! | `simplify.rs` | what is rewritten when a node is made |
//! | `expr.rs` | arithmetic on handles; [`Graph::unary`], [`Graph::binary`] and others do the same without [`Graph::with`] |
//! | `derivative.rs` | total derivatives along a flow, sparse Jacobians |
//! | `substitute.rs` | inputs replaced by numbers or formulas |
//! | `print.rs` | formulas for people |
//! | `source.rs` | formulas for programs: read back, they are the same nodes |
//! | `tape.rs`, `schedule.rs`, `kernel.rs` | evaluation, for any scalar and for `f64` |

mod derivative;
mod expr;
mod graph;
mod kernel;
mod node;
mod print;
mod schedule;
mod simplify;
mod size;
mod source;
mod substitute;
mod tape;

pub use derivative::Jacobian;
pub use expr::Expr;
pub use graph::Graph;
pub use kernel::{Compiler, Interpreted, Kernel};
pub use node::{Binary, Node, Unary};
pub use print::Listing;
pub use tape::Tape;
