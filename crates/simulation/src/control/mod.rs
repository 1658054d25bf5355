//! Control of a model with a section `[control]`: what inputs can do and outputs tell, feedback, optima, sliding.
//!
//! | module | what |
//! | --- | --- |
//! | `linearised` | E ẋ = A x + B u + b, y = C x and quadratic costs from formulas |
//! | `facts` | what is known of one system or mode |
//! | `transfers` | control of a system with modes as a whole |
//! | `optimum` | the optimal course |
//! | `laws` | feedback as formulas, and the model with its loop closed |
//! | `object` | all of it as one JSON object |

mod facts;
mod laws;
mod linearised;
pub(crate) mod object;
mod optimum;
mod terms;
mod transfers;

use crate::error::Error;
use crate::model::{Model, ModelSystem};
use serde_json::Value;

pub(crate) use facts::of_general;
pub use facts::{ControlFacts, FeedbackKind, SlidingFacts};
pub use laws::{ClosedLoop, ClosedMode};
pub use optimum::OptimumFacts;
pub use transfers::{HybridFacts, TransferFacts};

/// What is known of the control of a model.
pub struct ControlReport {
    /// Name of the model.
    pub model: String,
    /// Has it modes?
    pub has_modes: bool,
    /// For the system, or for every mode by name: what is known, or why nothing is.
    pub systems: Vec<(String, Result<ControlFacts, String>)>,
    /// The modes together.
    pub hybrid: Option<HybridFacts>,
    /// The optimal course, where a cost is given, or why there is none.
    pub optimum: Option<Result<OptimumFacts, String>>,
    /// The loop that was asked for.
    pub closed: Option<ClosedLoop>,
}

impl ControlReport {
    /// All of it for programs.
    pub fn object(&self) -> Value {
        object::report(self)
    }
}

/// Look at the control of a model; close the loop by a feedback if one is asked for. `tend` is the end of the optimal course, unless it is that of
/// the model.
///
/// ```
/// use daedal_simulation::{Model, control::control};
/// let text = r#"
///     [model]
///     name = "integrator"
///     time = [0, 1]
///     [parameters]
///     u = 0
///     [dae]
///     states = ["y"]
///     equations = ["der(y) = u"]
///     [control]
///     inputs = ["u"]
///     cost = "(y^2 + u^2/4)/2"
///     [initial]
///     fix = { y = 1 }
/// "#;
/// let found = control(&Model::read("integrator.toml", text)?, None, None)?;
/// let optimum = found.optimum.unwrap().unwrap();
/// assert!((optimum.end[0].1 - 1.0 / 2.0_f64.cosh()).abs() < 1e-12);
/// # Ok::<(), daedal_simulation::Error>(())
/// ```
pub fn control(model: &Model, feedback: Option<FeedbackKind>, tend: Option<f64>) -> Result<ControlReport, Error> {
    let rule = model.ranks();
    let name = model.name().to_string();
    let (systems, hybrid) = match &model.content.equations {
        ModelSystem::General(general) => {
            let facts = of_general(general, rule).ok_or_else(|| laws::no_section(model))?;
            (vec![(name.clone(), facts)], None)
        }
        ModelSystem::Modes(modes) if transfers::is_general(&modes.model) => {
            let mut systems = Vec::new();
            for (k, mode) in modes.model.modes.iter().enumerate() {
                let ModelSystem::General(general) = &model.mode(modes, k).content.equations else {
                    return Err(laws::no_section(model));
                };
                let facts = of_general(general, rule).ok_or_else(|| laws::no_section(model))?;
                systems.push((mode.name.clone(), facts));
            }
            let hybrid = transfers::examine(model, modes, &systems, rule);
            (systems, Some(hybrid))
        }
        _ => return Err(laws::no_section(model)),
    };
    let optimum = optimum::examine(model, tend, rule);
    let closed = feedback.map(|kind| laws::close(model, kind, rule)).transpose()?;
    Ok(ControlReport { model: name, has_modes: model.has_modes(), systems, hybrid, optimum, closed })
}
