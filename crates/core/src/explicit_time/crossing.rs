//! A state beyond a break: differential unknowns stay, algebraic ones are computed anew.
//!
//! A jump of a force changes accelerations and multipliers. A jump of a constraint in time, or of its rate (a driven coordinate with a kink), asks for
//! a jump of positions or velocities, which no formula describes: the run stops and says so.

use super::timetable::Crossing;
use crate::dae::System;
use crate::error::StepFailure;
use crate::graph::Tape;
use crate::hybrid::{Restart, make_consistent};
use crate::initial::Initial;
use crate::method::{State, Stepper};
use crate::motion::{self, Form, Layout, Mechanism, consistent};
use crate::options::Options;
use crate::scalar::Dual;
use crate::tolerance::Tolerance;

/// Jumps below this many tolerances are left to the method.
const ALLOWED: f64 = 10.0;
/// E Δx counts as zero if its terms cancel to this part of them.
const CANCELLED: f64 = 1e-3;

fn failure(t: f64, crossing: &Crossing, what: String) -> StepFailure {
    StepFailure::Break { t, changed: crossing.changed.clone(), what }
}

/// The largest rtol and atol.
fn tolerances(options: &Options) -> (f64, f64) {
    match &options.tolerance {
        Tolerance::Uniform { rtol, atol } => (*rtol, *atol),
        Tolerance::Named { rtol, atol, of } => (*rtol, of.iter().fold(*atol, |a, (_, own)| a.max(*own))),
        Tolerance::PerComponent(list) => list.iter().fold((0.0, 0.0), |(r, a), x| (x.0.max(r), x.1.max(a))),
    }
}

/// Restart equations of motion beyond a break. The constraints must not jump.
pub(crate) fn cross_motion(
    system: &dyn Mechanism,
    stepper: &mut dyn Stepper,
    crossing: &Crossing,
    options: &Options,
) -> Result<(), StepFailure> {
    let layout = Layout::new(system.sizes(), Form::StrangenessFree, false);
    let State { t, x } = stepper.state().clone();
    let mut array = system.array(Form::StrangenessFree, false);
    let mut rows = [vec![0.0; layout.rows()], vec![0.0; layout.rows()]];
    for (rows, time) in rows.iter_mut().zip([t, crossing.to]) {
        array.evaluate(time, &x, rows).map_err(|_| StepFailure::Undefined { t: time })?;
    }
    let (rtol, atol) = tolerances(options);
    let names = layout.row_names(&system.names());
    let size = |range: std::ops::Range<usize>| x[range].iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    for (range, size) in
        [(layout.row_g(), size(layout.p())), (layout.row_g1(), size(layout.v())), (layout.row_h(), size(layout.v()))]
    {
        for i in range {
            let jump = rows[1][i] - rows[0][i];
            if !(jump.abs() <= ALLOWED * (rtol * size + atol)) {
                return Err(failure(crossing.to, crossing, format!("the {} jumps by {jump:.3e}", names[i])));
            }
        }
    }
    let at = motion::view(&layout, t, &x);
    let initial = Initial::motion(crossing.to, at.p, at.v)
        .dynamic(at.r)
        .auxiliary(at.w)
        .contact(at.s)
        .multipliers(at.lambda, at.mu);
    let mut beyond = x.clone();
    if let Ok(found) = consistent::initialise_by(system, &initial, Form::StrangenessFree, options.ranks()) {
        beyond = found.state.x;
        for range in [layout.p(), layout.v(), layout.r()] {
            beyond[range.clone()].copy_from_slice(&x[range]);
        }
    }
    stepper.restart(State { t: crossing.to, x: beyond });
    Ok(())
}

/// Restart a general system beyond a break. What stands under a derivative must not jump.
pub(crate) fn cross_general(
    system: &System,
    stepper: &mut dyn Stepper,
    crossing: &Crossing,
    options: &Options,
) -> Result<(), StepFailure> {
    let State { x: before, .. } = stepper.state().clone();
    let (mut x, mut xdot) = (before.clone(), vec![0.0; before.len()]);
    stepper.rates(&mut xdot);
    if let Some(dae) = stepper.system() {
        let weights = vec![1.0; x.len()];
        make_consistent(dae, crossing.to, &mut x, &mut xdot, Restart::Differential, &[], &weights, options.ranks())
            .map_err(|error| failure(crossing.to, crossing, format!("no consistent state follows ({error})")))?;
    }
    if let Some(what) = unknowns_that_jump(system, crossing.to, (&before, &x), &xdot, tolerances(options)) {
        return Err(failure(crossing.to, crossing, what));
    }
    stepper.restart(State { t: crossing.to, x });
    Ok(())
}

/// The equation that would need an impulse if unknowns jumped like this: E Δx ≠ 0 with E = ∂F/∂ẋ.
fn unknowns_that_jump(
    system: &System,
    t: f64,
    (before, after): (&[f64], &[f64]),
    xdot: &[f64],
    (rtol, atol): (f64, f64),
) -> Option<String> {
    let n = system.dim();
    let jump = |j: usize| after[j] - before[j];
    let large = |j: &usize| jump(*j).abs() > ALLOWED * (rtol * before[*j].abs().max(after[*j].abs()) + atol);
    let jumping: Vec<usize> = (0..n).filter(large).collect();
    if jumping.is_empty() {
        return None;
    }
    let first = system.first.bound();
    let tape = Tape::new(&first.graph, &first.equations);
    let mut inputs = vec![Dual::<f64, 1>::from(0.0); first.graph.inputs().len()];
    inputs[first.place(first.t)] = Dual::from(t);
    for j in 0..n {
        inputs[first.place(first.x[j])] = Dual::from(after[j]);
        inputs[first.place(first.xdot[j])] = Dual::from(xdot[j]);
    }
    // sum, sum of absolute values and largest term of each row
    let mut rows = vec![(0.0, 0.0, (0.0, 0)); first.rows()];
    for &j in &jumping {
        let place = first.place(first.xdot[j]);
        inputs[place].lanes = [jump(j)];
        for (row, (sum, size, largest)) in tape.evaluate(&inputs).iter().zip(&mut rows) {
            let term: f64 = row.lanes[0];
            *sum += term;
            *size += term.abs();
            if term.abs() > largest.0 {
                *largest = (term.abs(), j);
            }
        }
        inputs[place].lanes = [0.0];
    }
    let worst = rows.iter().enumerate().filter(|(_, (sum, size, _))| sum.abs() > CANCELLED * size);
    let (i, (_, _, (_, j))) = worst.max_by(|a, b| a.1.0.abs().total_cmp(&b.1.0.abs()))?;
    let (row, name) = (&first.row_names[i], &first.names[*j]);
    Some(format!("{name} would jump by {:.3e}, for which equation `{row}` needs an impulse", jump(*j)))
}
