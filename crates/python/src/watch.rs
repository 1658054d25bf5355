//! Somebody in Python who looks at a run: signals every 50 ms, progress ten times a second.

use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Time between two looks at signals.
const LOOK: Duration = Duration::from_millis(50);
/// Time between two calls of a function that shows progress.
const TELL: Duration = Duration::from_millis(100);

/// Looks at signals, and calls a function with the fraction that is done and the time that was reached.
pub struct Watch {
    progress: Option<Py<PyAny>>,
    looked: Instant,
    told: Instant,
    /// What ended the run: an exception of the function, or a signal.
    pub raised: Option<PyErr>,
}

impl Watch {
    pub fn new(progress: Option<Py<PyAny>>) -> Self {
        let now = Instant::now();
        Watch { progress, looked: now, told: now, raised: None }
    }

    /// Is it time to look, and does the run go on?
    pub fn look(&mut self, fraction: f64, t: f64) -> ControlFlow<()> {
        if self.looked.elapsed() < LOOK {
            return ControlFlow::Continue(());
        }
        self.looked = Instant::now();
        let tells = self.told.elapsed() >= TELL;
        let answer = Python::attach(|py| -> PyResult<()> {
            py.check_signals()?;
            if let Some(progress) = self.progress.as_ref().filter(|_| tells) {
                progress.call1(py, (fraction, t))?;
            }
            Ok(())
        });
        if tells {
            self.told = Instant::now();
        }
        match answer {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.raised = Some(error);
                ControlFlow::Break(())
            }
        }
    }
}
