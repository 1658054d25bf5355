//! Options that every method knows.

use crate::error::BadOption;
use crate::linalg::RankRule;
use crate::motion::Layout;
use crate::tolerance::Tolerance;

/// What to keep of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Save {
    /// Every accepted step.
    #[default]
    Steps,
    /// The solution at these times, from the dense output; the times rise.
    At(Vec<f64>),
    /// Every accepted step with its polynomial.
    Dense,
    /// The end only: memory does not grow with the length of the run.
    End,
}

/// Options of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Tolerances, 1e-7 by default.
    pub tolerance: Tolerance,
    /// First step size; chosen from the tolerance and the interval if absent.
    pub h0: Option<f64>,
    /// Largest step size; a tenth of the interval if absent, unless `h0` is larger. A large number switches it off.
    pub hmax: Option<f64>,
    /// Most attempts.
    pub max_steps: u64,
    /// Singular values and pivots below this part of the size of their matrix count as zero, in every decision about a rank; absent: as exactly
    /// as the matrix is known, 1e-12 to 1e-8.
    pub rank_tolerance: Option<f64>,
    /// What to keep; every accepted step unless asked for more or less.
    pub save: Save,
    /// Is every step looked at with the equations as they were written ([`Verification`](crate::Verification))?
    pub verify: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            tolerance: Tolerance::default(),
            h0: None,
            hmax: None,
            max_steps: 100_000,
            rank_tolerance: None,
            save: Save::Steps,
            verify: false,
        }
    }
}

/// Steps of a run make up at least so many: the default of MATLAB's solvers (`MaxStep` is a tenth of the interval), so that what happens in
/// between is looked at a few times, even where nothing moves.
const LEAST_STEPS: f64 = 10.0;

impl Options {
    /// The same with a largest step size for an interval.
    pub(crate) fn over(&self, t0: f64, tend: f64) -> Options {
        let usual = ((tend - t0) / LEAST_STEPS).max(self.h0.unwrap_or(0.0));
        let hmax = self.hmax.or(Some(usual).filter(|h| *h > 0.0));
        Options { hmax, ..self.clone() }
    }

    /// The same with tolerances by name put into the order of these unknowns, which are those that count; nothing where they are not
    /// given by name.
    pub(crate) fn for_unknowns<'n>(&self, names: impl IntoIterator<Item = &'n String>) -> Option<Options> {
        let Tolerance::Named { rtol, atol, .. } = &self.tolerance else { return None };
        let pair = |name: &String| self.tolerance.of(name).unwrap_or((*rtol, *atol));
        let pairs = names.into_iter().map(pair).collect();
        Some(Options { tolerance: Tolerance::PerComponent(pairs), ..self.clone() })
    }

    /// The same for the unknowns of equations of motion.
    pub(crate) fn for_motion(&self, layout: &Layout, names: &[String]) -> Option<Options> {
        let counted = layout.dim() - layout.a().len();
        self.for_unknowns(layout.shown().into_iter().take(counted).map(|j| &names[j]))
    }

    /// How ranks are decided.
    pub(crate) fn ranks(&self) -> RankRule {
        RankRule::of(self.rank_tolerance)
    }

    /// Are step sizes and the tolerance of ranks possible?
    pub fn check(&self) -> Result<(), BadOption> {
        if let Some(h0) = self.h0 {
            BadOption::positive("h0", h0)?;
        }
        if let Some(hmax) = self.hmax {
            BadOption::positive("hmax", hmax)?;
        }
        BadOption::in_ranks(self.ranks())
    }
}
