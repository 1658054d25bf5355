//! Run files of Daedal: what a run was, what it computed, step by step, as plain data; read, written, and shown as one
//! self-contained page. Nothing here knows the solver.
//!
//! | module | what |
//! | --- | --- |
//! | [`run`] | the data of one run |
//! | [`scene`] | its moving picture |
//! | [`hybrid`] | modes, phases and switches of a run |
//! | [`mod@format`] | which file holds it how, by the ending of its name |
//! | [`json`], [`npz`], [`csv`] | readers and writers; all of it, all of it for NumPy, columns only |
//! | [`comparison`] | runs of one model with many methods, as data, table and page |
//! | [`sweep`] | runs of one model with many values of its parameters, as NumPy arrays |
//! | [`study`] | what `auto` costs against the best method, model by model |
//! | [`page`] | the report page |
//! | `still` | pictures for papers, as SVG |
//! | [`decimate`] | fewer points with the same extremes |
//!
//! ```
//! use daedal_run::{Column, ColumnKind, Format, Run};
//!
//! let angle = Column::new("angle", ColumnKind::Position, vec![0.0, 0.1, 0.3]);
//! let run = Run { times: vec![0.0, 0.5, 1.0], columns: vec![angle], ..Run::default() };
//! let mut file = Vec::new();
//! run.write(Format::Csv, &mut file)?;
//! assert_eq!(String::from_utf8_lossy(&file), "t,angle\n0.0,0.0\n0.5,0.1\n1.0,0.3\n");
//! assert_eq!(daedal_run::csv::read(&*file)?.columns[0].values[2], 0.3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod comparison;
pub mod csv;
pub mod decimate;
pub mod error;
pub mod format;
pub mod hybrid;
pub mod json;
mod npy;
pub mod npz;
mod number;
pub mod page;
pub mod run;
pub mod scene;
mod still;
pub mod study;
pub mod sweep;

pub use comparison::Comparison;
pub use error::{Inconsistent, ReadError, WriteError};
pub use format::Format;
pub use hybrid::{
    Continuity, JumpRecord, ModeHistory, ModeRecord, PhaseRecord, RestartRecord, SwitchCause, SwitchRecord, TimeShare,
};
pub use run::{
    ChosenPlot, Column, ColumnKind, Ending, EventRecord, Header, LastPoint, ResidualRecord, Run, StepRecords,
    WarningRecord, time,
};
pub use scene::{
    Anchor, Coordinate, DrawingKind, Pose, Scene, SceneBody, SceneDrawing, SceneForce, SceneFrames, SceneJoint,
    SceneShape, SceneTrace, ShapeKind, Stroke,
};
pub use sweep::{Sweep, SweepFormat, SweptRun};
