//! Model files: TOML with formulas, read into expression graphs, with messages that mark the place of every mistake.
//!
//! [`Model::read`] gives a [`Model`] whose [`ModelKind`] is either equations of motion ([`daedal::motion::Formulas`]) or a general system
//! ([`daedal::dae::Formulas`]) or a system with modes ([`HybridModel`]), or all [`Mistakes`] that were found.
//!
//! | module | what |
//! | --- | --- |
//! | `source`, `document` | places in the file, TOML with spans |
//! | `formula` | tokens, tree, value of a formula |
//! | `names`, `index`, `memo` | what names mean, index ranges, definitions |
//! | `reader`, `lower` | values in numbers and in graph nodes |
//! | `hybrid` | modes, transitions, sliding |
//! | `bodies` | bodies, joints and forces |
//! | `columns` | points of tables from files |
//! | `spline` | tables of points as smooth functions |
//! | `model`, `parameters`, `tables`, `definitions`, `motion`, `dae`, `initial`, `last`, `output`, `control`, `picture`, `plots` | the sections of a file |
//! | `closed_loop` | a file with its control loop closed |
//! | `import` | robots of URDF and MJCF as model files |

mod bodies;
mod closed_loop;
mod columns;
mod control;
mod dae;
mod definitions;
mod diagnostic;
mod document;
mod entries;
mod events;
mod formula;
mod hybrid;
mod import;
mod index;
mod initial;
mod last;
mod lower;
mod memo;
mod model;
mod motion;
mod names;
mod output;
mod parameters;
mod picture;
mod plots;
mod reader;
mod shape;
mod source;
mod spline;
mod suggestion;
mod tables;
mod unknowns;
mod unused;

pub use closed_loop::{ControlLaw, NotClosed, closed_loop, with_tables_of};
pub use control::{ControlFormula, ControlSequence, InputPlace, ModelControl};
pub use diagnostic::{Mistake, Mistakes};
pub use entries::Written;
pub use events::{GivenEvent, GivenMistakes, ModelEvent, ModelEvents};
pub use hybrid::{HybridMode, HybridModel, HybridSliding, HybridTransition, HybridTrigger, Methods, Statement};
pub use import::{Base, Imported, import};
pub use index::ReadingLimits;
pub use last::ModelBoundary;
pub use model::{Defaults, Model, ModelKind};
pub use motion::MotionTexts;
pub use picture::{LineStyle, ModelPicture, PictureKind, PictureShape, PictureValue};
pub use plots::ModelPlot;
pub use source::Span;
pub use tables::TableOfTime;
pub use unused::Unused;
