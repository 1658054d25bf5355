//! Simulation as a library: load a model, choose a method, solve, and have the result as data. The command and other doors stand on it.
//!
//! | module | what |
//! | --- | --- |
//! | [`Model`], [`mod@reference`] | a file, a text or a reference problem, with its parameters set |
//! | [`Settings`], [`options`] | what a run is asked for; one table of the options of all methods |
//! | [`choose`], [`MethodChoice`] | method and formulation, with the reasons |
//! | [`solve`], [`Simulation`], [`Outcome`] | a run, watched by a [`Monitor`]; what was computed is kept, however it ended |
//! | [`sweep()`], [`Variation`] | many runs with other values of parameters; [`SweepGathering`] and [`make_runs`] where they are made elsewhere |
//! | [`control`] | controllability, feedback, optima and sliding of models with `[control]` |
//! | [`Error`] | what was not done, in words, and of which [`ErrorKind`] it is |
//!
//! Nothing here prints, and nothing knows a terminal.
//!
//! ```
//! use daedal_simulation::{Model, SaveSetting, Settings, Unwatched, solve};
//!
//! let text = r#"
//!     [model]
//!     name = "pendulum"
//!     time = [0, 2]
//!     [parameters]
//!     L = 1.0
//!     g = 9.81
//!     [motion]
//!     positions = ["x", "y"]
//!     velocities = ["vx", "vy"]
//!     mass = [1, 1]
//!     forces = [0, "-g"]
//!     holonomic = { rod = "x^2 + y^2 - L^2" }
//!     [initial]
//!     fix = { x = 1, vx = 0 }
//!     guess = { y = 0, vy = 0 }
//! "#;
//! let model = Model::read("pendulum.toml", text)?;
//! let settings = Settings { rtol: Some(1e-9), save: SaveSetting::Points(5), ..Settings::default() };
//! let outcome = solve(&model, &settings, &mut Unwatched)?;
//! let run = outcome.record().ok_or("nothing was computed")?;
//! assert_eq!(run.times, [0.0, 0.5, 1.0, 1.5, 2.0]);
//! let (x, y) = (&run.columns[0].values, &run.columns[1].values);
//! assert!((x[4].hypot(y[4]) - 1.0).abs() < 1e-9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod boundary;
pub mod check;
mod choice;
pub mod compare;
pub mod control;
mod curve;
mod dense;
mod error;
mod events;
mod model;
mod modes;
mod monitor;
pub mod options;
mod outcome;
mod outputs;
mod places;
mod plain;
mod programs;
mod record;
pub mod reference;
mod scene;
mod settings;
mod solve;
mod start;
pub mod statistics;
mod steps;
mod sweep;
mod tolerances;
mod trimmed;
mod variables;
pub mod verification;

pub use check::{Check, check};
pub use choice::MethodChoice;
pub use compare::{ComparisonSettings, compare};
pub use dense::NotDense;
pub use error::{Error, ErrorKind};
pub use model::{KernelKind, Model, ModelSource, ProgramModel};
pub use monitor::{Monitor, Progress, Unwatched};
pub use options::{BadMethodOption, MethodOptions, OptionValue};
pub use outcome::{Computed, ModeShare, Outcome, Switching};
pub use places::EquationPlaces;
pub use plain::{is_control, plain};
pub use settings::{EventAction, EventSetting, SaveSetting, Settings, SlidingSetting, equidistant};
pub use solve::{Simulation, choose, solve};
pub use start::{ConsistentStart, GivenValue, StartDetails, StartSettings, StartValue, initialise};
pub use sweep::{SweepGathering, SweepOutcome, SweepSettings, Variation, make_runs, sweep};
pub use tolerances::Tolerances;
