//! Bodies, joints and forces as equations of motion, in absolute coordinates and closed form.
//!
//! ```text
//! p = (x, q)   x: centre of mass, world;  q = (q0, q⃗): body → world         v = (ẋ, ω)   ẋ world, ω body,  w = Rω
//! ```
//! M is constant and block diagonal, loops are ordinary joints, joint forces are multipliers. The norm of a quaternion is neither constraint nor
//! invariant: R(q) is divided by |q|². Planar systems have p = (x, y, φ), v = p'.
//!
//! | file | what |
//! | --- | --- |
//! | `vector`, `inertia`, `shape`, `body` | vectors and rotations, J, forms, bodies |
//! | `joint` | kinds of joints; `joint/block.rs` their building blocks, `joint/rolling.rs` nonholonomic ones |
//! | `force`, `element`, `law` | forces of single elements, their nouns, functions with two derivatives |
//! | `system`, `view`, `equations` | what is drawn; a point of its motion for any scalar; formulas |
//! | `assembly`, `mobility`, `assembled` | the start; freedoms and redundant rows; a system ready to be solved |
//!
//! ```
//! use daedal::{Options, Problem, Geoms, solve};
//! use daedal_multibody::{Body, GROUND, Joint, System, Torsion};
//! let mut system = System::new();
//! let rod = system.body(Body::bar([0., 0., 0.], [0.8, 0., 0.], 0.05).mass(1.4).name("rod"));
//! let hinge = system.joint(Joint::revolute([0., 0., 0.], [0., 1., 0.]).between(GROUND, rod).name("hinge"));
//! system.force(Torsion::on(hinge).damping(0.02));
//! let mechanism = system.finish()?;
//! let problem = Problem::new(&mechanism, mechanism.start(), 1.0);
//! let solution = solve(&problem, &Geoms::default(), &Options::default())?;
//! let [force, _] = mechanism.joint_force(hinge, 1.0, solution.state(solution.len() - 1));
//! assert!(force[2] > 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod assembled;
mod assembly;
mod body;
mod element;
mod equations;
pub mod force;
pub mod inertia;
pub mod joint;
mod law;
mod mobility;
mod shape;
mod state;
mod system;
pub mod vector;
mod view;

pub use assembled::Assembled;
pub use assembly::Given;
pub use body::{Body, BodyId, GROUND};
pub use element::{Bushing, Contact, Linear, Spring, Torsion};
pub use equations::Equations;
pub use force::Force;
pub use joint::{Coordinate, Joint, JointId, Kind};
pub use law::Function;
pub use mobility::{Dependent, Mobility};
pub use shape::{Form, Shape};
pub use state::BodyState;
pub use system::{BadSystem, System};
pub use view::{Constraint, View};
