//! Rank of the constraints, degrees of freedom, redundancy.
//!
//! ```text
//! freedom in position = n_p − rank G,          G = dg/dp along c = 0, from the rank of ∂(c, g)/∂(s, p)
//! freedom in velocity = n_v − rank K,          K = [GZ; HZ]
//! ```
//! Each yᵀK = 0 is a redundancy. It is harmless if Σ yᵢ kᵢ = 0 at all levels, and contradictory otherwise. Whether the constraints
//! are redundant along the motion or lose rank only here is told by the rank at a consistent point nearby.

use super::decided::NullVector;
use super::linearised::{Linearised, STEP, constraint_names};
use super::random::Random;
use crate::initial::Initial;
use crate::linalg::rank::{Combination, Decomposed, RankDecision, Scaling};
use crate::motion::{Form, Mechanism, Names, consistent, view};

/// Constraints at the start.
#[derive(Clone, Debug, PartialEq)]
pub struct Constraints {
    /// Rank of GZ.
    pub holonomic: RankDecision,
    /// Rank of K = [GZ; HZ].
    pub all: RankDecision,
    /// Rank of ∂(c, g)/∂(s, p).
    pub position: RankDecision,
    /// Rank of Z; below n_p, combinations of positions are kept by the kinematics alone.
    pub kinematics: RankDecision,
    /// Degrees of freedom in position.
    pub position_freedom: usize,
    /// Degrees of freedom in velocity.
    pub velocity_freedom: usize,
    /// Constraints that depend on others, one entry for each missing rank of K.
    pub redundancies: Vec<Redundancy>,
    /// Constraints that the kinematics imply: they restrict positions only, and their multipliers have no force.
    pub implied: Vec<String>,
    /// Rank of K nearby, if it is deficient here and the system can move.
    pub nearby: Option<Nearby>,
}

/// Constraints whose Jacobians depend on each other: Σ factor · constraint does not change.
#[derive(Clone, Debug, PartialEq)]
pub struct Redundancy {
    /// The combination.
    pub combination: Combination,
    /// Its residual at position level; `None` with nonholonomic constraints in it.
    pub position: Option<f64>,
    /// Its residual at velocity level.
    pub velocity: f64,
    /// Its residual at acceleration level.
    pub acceleration: f64,
    /// Residuals up to these count as zero, in the same order.
    pub tolerances: [f64; 3],
}

impl Redundancy {
    /// Does the combination hold at all levels?
    pub fn is_consistent(&self) -> bool {
        let residuals = [self.position.unwrap_or(0.0), self.velocity, self.acceleration];
        residuals.iter().zip(self.tolerances).all(|(r, tolerance)| r.abs() <= tolerance)
    }
}

/// Constraints at a consistent point near the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearby {
    /// Largest change of a position, relative to 1 + |p|.
    pub distance: f64,
    /// Rank of K there.
    pub rank: usize,
}

impl Constraints {
    /// Do the constraints lose rank here but not nearby?
    pub fn is_singular_configuration(&self) -> bool {
        self.nearby.is_some_and(|nearby| nearby.rank > self.all.rank)
    }
}

/// Analyse the constraints at a point; `None` if a decomposition does not converge.
pub(super) fn constraints(at: &Linearised, names: &Names) -> Option<Constraints> {
    let l = &at.layout;
    let holonomic = at.decide_holonomic()?.decision().clone();
    let all = at.decide_constraints()?;
    let position = at.decide_position()?.decision().clone();
    let kinematics = at.decide_scaled(l.row_kinematics(), l.v(), Scaling::Rows)?.decision().clone();
    let names = constraint_names(names);
    let redundancies = all.left_null_vectors()?.iter().map(|y| redundancy(at, y, &names)).collect();
    Some(Constraints {
        position_freedom: position.null_directions(),
        velocity_freedom: all.decision().null_directions(),
        holonomic,
        position,
        kinematics,
        all: all.decision().clone(),
        redundancies,
        implied: Vec::new(),
        nearby: None,
    })
}

fn redundancy(at: &Linearised, y: &NullVector, names: &[String]) -> Redundancy {
    let l = &at.layout;
    let n = l.sizes.holonomic;
    // residual of a combination of rows, and what rounding of its terms explains
    let combine = |[first, second]: [usize; 2]| {
        let row = |k: usize| if k < n { first + k } else { second + k - n };
        let residual: f64 = y.iter().map(|&(k, y)| y * at.rows[row(k)]).sum();
        let tolerance: f64 = y.iter().map(|&(k, y)| y.abs() * at.tolerance(row(k))).sum();
        (residual, tolerance)
    };
    let of_positions = y.iter().all(|(k, _)| *k < n);
    let (position, position_tolerance) = if of_positions { combine([l.row_g().start, 0]) } else { (f64::NAN, 0.0) };
    let (velocity, velocity_tolerance) = combine([l.row_g1().start, l.row_h().start]);
    let (acceleration, acceleration_tolerance) = combine([l.row_g2().start, l.row_h1().start]);
    Redundancy {
        combination: Combination { terms: y.iter().map(|&(k, y)| (names[k].clone(), y)).collect() },
        position: of_positions.then_some(position),
        velocity,
        acceleration,
        tolerances: [position_tolerance, velocity_tolerance, acceleration_tolerance],
    }
}

/// Rank of K at a consistent point a little way along the directions that the constraints leave open.
pub(super) fn nearby(mechanism: &dyn Mechanism, at: &Linearised) -> Option<Nearby> {
    let l = &at.layout;
    let open = (!at.means.sparse).then(|| open_positions(at)).flatten();
    let mut random = Random::default();
    let mut best: Option<Nearby> = None;
    // directions with all components of different size, so that no symmetry keeps the rank down; from a singular position not all of them lead on
    for seed in [1.0, -2.0, 0.4, 3.1] {
        let mut x = at.x.clone();
        for (i, j) in (l.s().start..l.p().end).enumerate() {
            let direction = match &open {
                Some(open) => (0..open.ncols())
                    .map(|k| open[(i, k)] * (seed + 1.7 * k as f64 + 0.3 * seed * i as f64).sin())
                    .sum::<f64>(),
                // the way back to the constraints is that of least change: what is left is along them
                None => seed * random.next(),
            };
            x[j] += STEP * direction * (1.0 + x[j].abs());
        }
        let m = view(l, at.t, &x);
        let initial =
            Initial::motion(at.t, m.p, m.v).dynamic(m.r).auxiliary(m.w).contact(m.s).multipliers(m.lambda, m.mu);
        let Ok(found) = consistent::initialise_by(mechanism, &initial, Form::StrangenessFree, at.means.ranks) else {
            continue;
        };
        let x = &found.state.x;
        let distance = l.p().map(|j| (x[j] - at.x[j]).abs() / (1.0 + at.x[j].abs())).fold(0.0, f64::max);
        if distance < 0.01 * STEP {
            continue; // it went back to where it came from
        }
        let mut array = mechanism.array(Form::StrangenessFree, true);
        let Ok(there) = Linearised::at(&mut *array, at.t, x, at.means) else { continue };
        let rank = there.decide_constraints()?.decision().rank;
        if best.is_none_or(|best| best.rank < rank) {
            best = Some(Nearby { distance, rank });
        }
    }
    best
}

/// Basis of the directions that the constraints leave open.
fn open_positions(at: &Linearised) -> Option<faer::Mat<f64>> {
    let l = &at.layout;
    let (rows, columns) = (l.row_contact().start..l.row_g().end, l.s().start..l.p().end);
    let sizes = at.usual_sizes(rows.clone());
    Some(Decomposed::with_usual_sizes(&at.block(rows, columns), sizes, at.means.ranks)?.null_basis())
}
