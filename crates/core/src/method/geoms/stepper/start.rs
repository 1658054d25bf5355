//! Starting GEOMS at a consistent point: decompositions are chosen from the problem, redundancy is judged, everything is sized.

use super::super::constraint::{ConstraintPart, Rank};
use super::super::differential::DifferentialPart;
use super::super::newton::{Limits, Stages};
use super::super::{Decomposition, Formulation, Geoms};
use super::{BLOCKS, GeomsStepper};
use crate::error::{BadOption, StepFailure};
use crate::method::controller::{Control, Controller};
use crate::method::{Kept, Passage, StartFailure, State};
use crate::motion::{Form, Layout, Mechanism};
use crate::options::Options;
use crate::segment::Segment;
use crate::statistics::Statistics;

/// Newton increments below this part of the tolerance may be rounding.
const ROUNDING: f64 = 0.01;

impl<'p> GeomsStepper<'p> {
    /// Start at a consistent point.
    pub fn new<'m>(
        method: &Geoms,
        system: &'p (dyn Mechanism + 'm),
        at: State,
        options: &Options,
    ) -> Result<Self, StartFailure> {
        method.check(options)?;
        let with_invariants = method.formulation == Formulation::WithInvariants;
        if with_invariants && system.sizes().invariants == 0 {
            return Err(BadOption::NoInvariants.into());
        }
        let kept = with_invariants.then(|| Kept::new(system, &at, &options.tolerance)).transpose()?;
        let mut method = method.clone();
        let mut array = system.array(method.form(), with_invariants);
        let layout = array.layout().clone();
        let tolerances = options.tolerance.pairs(&layout).map_err(BadOption::from)?;

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
                let mut trial = ConstraintPart::new(&layout, Decomposition::Svd, method.rank_tolerance);
                array.jacobian(at.t, &at.x, &rows, &mut trial.F).map_err(undefined)?;
                let ranks = trial.decompose().map_err(|_| StepFailure::SvdFailed { t: at.t })?;
                if ranks.iter().all(|r| r.rank == r.rows) { Decomposition::Lu } else { Decomposition::Svd }
            }
        };
        let differential_kind = method.differential_decomposition.unwrap_or(if with_invariants {
            Decomposition::Qr
        } else {
            Decomposition::Lu
        });
        method.constraint_decomposition = Some(kind);
        method.differential_decomposition = Some(differential_kind);
        let mut constraints = ConstraintPart::new(&layout, kind, method.rank_tolerance);
        array.jacobian(at.t, &at.x, &rows, &mut constraints.F).map_err(undefined)?;
        let mut passage = Passage::new(&layout);
        passage.follow(constraints.velocity_rows());
        let ranks = constraints.decompose().map_err(|_| StepFailure::SvdFailed { t: at.t })?;
        check_redundancy(&ranks, kind, &layout, at.t)?;
        let differential = DifferentialPart::new(&layout, &constraints, differential_kind, method.selection);

        // RADAU5's transformation: an error estimate of order 3 controls a method of order 5
        let given = tolerances;
        let tolerances: Vec<(f64, f64)> = given
            .iter()
            .map(|&(rtol, atol)| {
                let r = 0.1 * rtol.powf(2.0 / 3.0);
                (r, atol / rtol * r)
            })
            .collect();
        let loosened = tolerances.iter().zip(&given).fold(0.0, |most: f64, (used, given)| most.max(used.0 / given.0));
        let rtol = tolerances[layout.a().end].0;
        let tolerance = method.newton_tolerance.unwrap_or((10.0 * f64::EPSILON / rtol).max(0.03_f64.min(rtol.sqrt())));
        let n = layout.dim();
        let mut stepper = GeomsStepper {
            limits: Limits {
                most: method.max_newton,
                tolerance,
                default_rate: method.jacobian_reuse.abs(),
                rounding: if method.control == Control::Thesis { 0.0 } else { ROUNDING },
            },
            controller: Controller::new(method.control, method.safety, method.ratio, method.max_newton),
            stages: Stages::new(&layout),
            segment: Segment::point(at.t, &at.x),
            extrapolates: false,
            inside: false,
            after_rejection: false,
            failures: 0,
            between: None,
            tolerances,
            loosened,
            weights: vec![0.0; n],
            attempt_weights: vec![0.0; n],
            counted: 0.0,
            eta: 1.0,
            h: 0.0,
            hmax: options.hmax.unwrap_or(f64::INFINITY),
            trusted: f64::INFINITY,
            guessed: false,
            max_steps: options.max_steps,
            jacobian_wanted: false,
            jacobian_is_here: true,
            selector_wanted: true,
            decomposed_for: None,
            pivots: vec![false; n],
            selector_pivots: vec![false; n],
            usual: ranks.map(|r| r.smallest),
            ranks,
            pending: None,
            x: vec![0.0; n],
            before: vec![0.0; n],
            error: vec![0.0; n],
            zeta: vec![0.0; n],
            bC: vec![0.0; layout.algebraic()],
            bD: vec![0.0; layout.differential()],
            scratch_rows: vec![0.0; layout.rows()],
            statistics: Statistics { jacobians: 1, predecompositions: 1, ..Statistics::default() },
            method,
            kept,
            array,
            constraints,
            differential,
            passage,
            state: at,
            rows,
            layout,
        };
        stepper.constraints.mark_pivots(&mut stepper.pivots);
        stepper.weigh();
        stepper.guessed = options.h0.is_none();
        stepper.h = options.h0.unwrap_or_else(|| stepper.first_step());
        Ok(stepper)
    }

    /// A step that changes the differential components by about a hundredth of their size. \[HW1\] II.4.
    fn first_step(&self) -> f64 {
        let (mut size, mut rate) = (0.0, 0.0);
        for (i, j) in self.differential_columns().enumerate() {
            size += (self.state.x[j] * self.weights[j]).powi(2);
            rate += (self.rows[self.layout.algebraic() + i] * self.weights[j]).powi(2);
        }
        let n = self.layout.differential().max(1) as f64;
        let (size, rate) = ((size / n).sqrt(), (rate / n).sqrt());
        let h = if size < 1e-5 || rate < 1e-5 { 1e-6 } else { 0.01 * size / rate };
        h.min(self.hmax)
    }
}

/// Do the ranks suit the decomposition, and each other?
fn check_redundancy(ranks: &[Rank; 3], kind: Decomposition, layout: &Layout, t: f64) -> Result<(), StepFailure> {
    let deficiencies = ranks.map(|r| r.rows - r.rank);
    if deficiencies == [0; 3] {
        return Ok(());
    }
    if kind != Decomposition::Svd || layout.form == Form::IndexOne {
        let q = (0..3).rev().find(|&q| deficiencies[q] > 0).unwrap_or(0);
        let Rank { rank, rows, .. } = ranks[q];
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
