//! Starting GEOMS at a consistent point: decompositions are chosen from the problem, redundancy is judged, everything is sized.

use super::constraint::ConstraintPart;
use super::differential::DifferentialPart;
use super::equations::{BLOCKS, GeomsEquations};
use super::regularised::{Regularised, StageRows};
use super::{Decomposition, Geoms, Multipliers, Predictor};
use crate::error::{BadOption, StepFailure};
use crate::formulation::Formulation;
use crate::linalg::RankGap;
use crate::method::collocation::{Collocation, CollocationStep, StageSettings};
use crate::method::controller::{Control, Controller};
use crate::method::pace::{Rules, Trust};
use crate::method::passage::DensePassage;
use crate::method::shell::Shell;
use crate::method::weights::Weights;
use crate::method::{Kept, StartFailure, State};
use crate::motion::{Form, Layout, Mechanism};
use crate::options::Options;
use crate::statistics::Statistics;

/// Failed attempts in a row after which the original stops: its only net for singular configurations. Here others hold, and difficult steps get
/// a longer chance.
const MOST_FAILURES_PUBLISHED: u32 = 5;
/// Rate of contraction up to which the order is raised. Ten times that of RADAU: where constraints of all levels are solved with one Jacobian,
/// iterations of short steps contract by about 0.01 already, and still well when the steps of the next order are five times as long. Fitted
/// on the pendulum, the slider crank and Andrews' mechanism at 1e-10.
const RAISED_UP_TO: f64 = 0.02;
/// Newton increments below this part of the tolerance may be rounding.
const ROUNDING: f64 = 0.01;

impl Geoms {
    /// At work, at a consistent point.
    pub(super) fn at<'p>(
        &self,
        system: &'p (dyn Mechanism + '_),
        at: State,
        options: &Options,
    ) -> Result<Shell<CollocationStep<GeomsEquations<'p>>>, StartFailure> {
        self.check(options)?;
        self.check_formulation()?;
        let with_invariants = matches!(self.formulation, Formulation::ProjectedWithInvariants(_));
        if with_invariants && system.sizes().invariants == 0 {
            return Err(BadOption::NoInvariants.into());
        }
        let kept = with_invariants.then(|| Kept::new(system, &at, &options.tolerance)).transpose()?;
        let mut method = self.clone();
        let mut array = system.array(method.form(), with_invariants);
        let layout = array.layout().clone();

        // the point, and the values that invariants are kept at
        let mut rows = vec![0.0; layout.rows()];
        let undefined = |_| StepFailure::Undefined { t: at.t };
        array.evaluate(at.t, &at.x, &mut rows).map_err(undefined)?;
        if with_invariants {
            array.set_invariants(&rows[layout.row_invariants()]);
            rows[layout.row_invariants()].fill(0.0);
        }

        // decompositions: redundancy wants the SVD, invariants want QR selectors
        let kind = match method.constraint_decomposition {
            Some(kind) => kind,
            None => {
                let mut trial = ConstraintPart::new(&layout, Decomposition::Svd, options.ranks());
                array.dense_jacobian(at.t, &at.x, &rows, &mut trial.F).map_err(undefined)?;
                let ranks = trial.decompose().map_err(|_| StepFailure::SvdFailed { t: at.t })?;
                if ranks.iter().all(RankGap::is_full) { Decomposition::Lu } else { Decomposition::Svd }
            }
        };
        let differential_kind = method.differential_decomposition.unwrap_or(if with_invariants {
            Decomposition::Qr
        } else {
            Decomposition::Lu
        });
        method.constraint_decomposition = Some(kind);
        method.differential_decomposition = Some(differential_kind);
        let mut constraints = ConstraintPart::new(&layout, kind, options.ranks());
        array.dense_jacobian(at.t, &at.x, &rows, &mut constraints.F).map_err(undefined)?;
        let stages = method.stages.range().1;
        let mut passage = DensePassage::new(&layout, options.ranks());
        passage.follow(constraints.velocity_rows());
        passage.put_negative(constraints.velocity_rows());
        passage.first();
        let ranks = constraints.decompose().map_err(|_| StepFailure::SvdFailed { t: at.t })?;
        check_redundancy(&ranks, kind, &layout, at.t)?;
        let differential = DifferentialPart::new(&layout, &constraints, differential_kind, method.selection, stages);

        let settings = StageSettings {
            stages: method.stages,
            max_newton: method.max_newton,
            newton_tolerance: method.newton_tolerance,
            jacobian_reuse: method.jacobian_reuse,
            keep_step: method.keep_step,
            rounding: if method.control == Control::Thesis { 0.0 } else { ROUNDING },
            extrapolates: method.predictor == Predictor::Extrapolate,
            raised_up_to: RAISED_UP_TO,
        };
        let controller = Controller::new(method.control, method.safety, method.ratio, method.max_newton);
        let weights = weights(&layout, &method, options)?;
        let collocation = Collocation::new(settings, controller, weights, (at.t, &at.x));
        let n = layout.dim();
        let mut pivots = vec![false; n];
        constraints.mark_pivots(&mut pivots);
        let control = method.control;
        let equations = GeomsEquations {
            newton: Regularised { array, constraints, differential, rows: StageRows::new(&layout, stages) },
            selector_wanted: true,
            pivots,
            selector_pivots: vec![false; n],
            usual: ranks.map(|r| r.kept),
            ranks,
            pending: None,
            x: vec![0.0; n],
            xi: vec![0.0; n],
            other_rows: vec![0.0; layout.rows()],
            method,
            kept,
            passage,
            rows,
            layout,
        };
        let constant = control == Control::Fixed;
        let counters = Statistics { jacobians: 1, predecompositions: 1, ..Statistics::default() };
        let step = CollocationStep::new(equations, collocation, at, constant, counters);
        let mut rules = Rules { constant, ..Rules::default() };
        match control {
            // where Newton's iteration, not the error, limits the steps: do not run into the same wall every time
            Control::Radau5 => rules.trust = Trust::Steady,
            Control::Thesis => rules.failures = (MOST_FAILURES_PUBLISHED, MOST_FAILURES_PUBLISHED),
            Control::Classical | Control::Fixed => {}
        }
        Ok(Shell::new(step, rules, options))
    }
}

/// Accelerations are bookkeeping and do not count, nor do multipliers that nobody wants; w, λ, μ are of index two in the s-index-1 form.
fn weights(layout: &Layout, method: &Geoms, options: &Options) -> Result<Weights, BadOption> {
    let multipliers = layout.lambda().start..layout.mu().end;
    let unwanted = method.multipliers == Multipliers::Unwanted;
    let counts = |i: usize| !(layout.a().contains(&i) || unwanted && multipliers.contains(&i));
    let of_index_two = layout.w().start..layout.mu().end;
    let index = |i: usize| if layout.form == Form::IndexOne && of_index_two.contains(&i) { 2 } else { 1 };
    Weights::of_array(layout, &options.tolerance, counts, index)
}

/// Do the ranks suit the decomposition, and each other?
fn check_redundancy(ranks: &[RankGap; 3], kind: Decomposition, layout: &Layout, t: f64) -> Result<(), StepFailure> {
    let deficiencies = ranks.map(|r| r.rows - r.rank);
    if deficiencies == [0; 3] {
        return Ok(());
    }
    if kind != Decomposition::Svd || layout.form == Form::IndexOne {
        let q = (0..3).rev().find(|&q| deficiencies[q] > 0).unwrap_or(0);
        let RankGap { rank, rows, .. } = ranks[q];
        return Err(StepFailure::Redundant { t, block: BLOCKS[q], rank, rows });
    }
    // (nλ − rG) + (nμ − rH) at the levels of a and v, nλ − rG at the level of p; with invariants v and p are one level, and
    // invariants may depend on each other
    let even = if layout.row_invariants().is_empty() {
        deficiencies[0] == deficiencies[1] && deficiencies[2] <= deficiencies[1]
    } else {
        (deficiencies[0]..=2 * deficiencies[0] + layout.row_invariants().len()).contains(&deficiencies[1])
    };
    if even { Ok(()) } else { Err(StepFailure::UnevenRedundancy { t, deficiencies }) }
}
