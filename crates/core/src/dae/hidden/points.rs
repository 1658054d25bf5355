//! Where formulas are looked at: the start, points beside it that satisfy nothing, and consistent points beside it.
//!
//! Ranks are numbers, and the start may be special: at rest, in a plane, at a turning point. What is generic shows beside it. Beside the
//! constraints, where any values do, an analytic formula that vanishes at a few random points vanishes everywhere; there rows see at
//! least as much as on the constraints. Consistent points cost a fit of the derivative array each and are made when asked for.

use super::super::characteristics::{Depth, characterise_at};
use super::super::{CharacteristicValues, Characteristics, System};
use super::MinimalArray;
use crate::analysis::random::Random;
use crate::graph::Tape;
use crate::linalg::RankRule;
use std::cell::OnceCell;

/// How far from the start points are that satisfy nothing, relative to 1 + |y|: where formulas have no value there, they are looked at nearer.
const BESIDE: [f64; 6] = [0.3, 0.3, 0.1, 0.1, 0.01, 0.01];
/// Farther ones, where high powers can be seen; sizes may differ too much there for ranks.
const FAR: [f64; 4] = [3.0, 3.0, 1.0, 1.0];
/// Very near ones, relative to |y|, whatever its units: the gradient of c² grows from rounding to this part of its factors.
const VERY_NEAR: f64 = 1e-6;
/// How many of the others are looked at.
const ENOUGH: usize = 2;
/// Consistent points lie this part of the time later in which the solution changes by its own size, …
const LATER: [f64; 2] = [0.1, 0.07];
/// … and this far off it, relative to 1 + |x|.
const OFF: f64 = 1e-2;

/// The points of one procedure.
pub(super) struct Points<'p> {
    system: &'p System,
    at: &'p Characteristics,
    consistent: OnceCell<PointsBeside>,
}

/// Consistent points beside the start: time and jet of those with its characteristic values; those that others agree on, if they are not its.
struct PointsBeside {
    points: Vec<(f64, Vec<f64>)>,
    generic: Option<CharacteristicValues>,
}

impl<'p> Points<'p> {
    pub fn new(system: &'p System, at: &'p Characteristics) -> Self {
        Points { system, at, consistent: OnceCell::new() }
    }

    /// Values of formulas at the start; nothing where one of them is not finite.
    pub fn start(&self, array: &MinimalArray, tape: &Tape) -> Option<Vec<f64>> {
        finite(tape.evaluate(&array.inputs(self.at.t, &array.on_jet(&self.at.jet))))
    }

    /// Values of formulas at points beside the start that satisfy nothing; fewer than usual where formulas have no value.
    pub fn beside(&self, array: &MinimalArray, tape: &Tape) -> Vec<Vec<f64>> {
        self.around(&BESIDE, array, tape)
    }

    /// The same far from the start.
    pub fn far(&self, array: &MinimalArray, tape: &Tape) -> Vec<Vec<f64>> {
        self.around(&FAR, array, tape)
    }

    /// Values of formulas very near the start, if any of its equations is redundant; nothing otherwise.
    pub fn very_near(&self, array: &MinimalArray, tape: &Tape) -> Option<Vec<f64>> {
        if self.at.values.v == 0 {
            return None;
        }
        let mut random = Random(0xA076_1D64_78BD_642F);
        let y = array.on_jet(&self.at.jet);
        let moved: Vec<f64> = y.iter().map(|y| y * (1.0 + VERY_NEAR * random.next())).collect();
        finite(tape.evaluate(&array.inputs(self.at.t, &moved)))
    }

    /// How ranks are decided.
    pub fn ranks(&self) -> RankRule {
        self.at.ranks
    }

    fn around(&self, distances: &[f64], array: &MinimalArray, tape: &Tape) -> Vec<Vec<f64>> {
        let mut random = Random(0x9E37_79B9_7F4A_7C15);
        let y = array.on_jet(&self.at.jet);
        let mut move_by = |value: f64, far: f64| value + far * (1.0 + value.abs()) * random.next();
        let mut found = Vec::with_capacity(ENOUGH);
        for &far in distances {
            let t = move_by(self.at.t, far);
            let moved: Vec<f64> = y.iter().map(|&y| move_by(y, far)).collect();
            if found.len() < ENOUGH {
                found.extend(finite(tape.evaluate(&array.inputs(t, &moved))));
            }
        }
        found
    }

    /// Values of formulas at consistent points of the same characteristic values beside the start.
    pub fn consistent(&self, array: &MinimalArray, tape: &Tape) -> Vec<Vec<f64>> {
        let points = &self.consistent.get_or_init(|| self.find()).points;
        points.iter().filter_map(|(t, jet)| finite(tape.evaluate(&array.inputs(*t, &array.on_jet(jet))))).collect()
    }

    /// Characteristic values of all consistent points beside the start, if it has more constraints than they have and they have been looked at.
    pub fn generic(&self) -> Option<CharacteristicValues> {
        self.consistent.get().and_then(|consistent| consistent.generic)
    }

    fn find(&self) -> PointsBeside {
        let mut array = self.system.array();
        let mut random = Random(0xD1B5_4A32_D192_ED03);
        let (n, jet) = (self.system.dim(), &self.at.jet);
        // the solution changes by its own size in 1/rate
        let rate = |k: usize, j: usize| (jet[k * n + j].abs() / (1.0 + jet[j].abs())).powf(1.0 / k as f64);
        let rates = (1..jet.len() / n).flat_map(|k| (0..n).map(move |j| (k, j))).map(|(k, j)| rate(k, j));
        let fastest = rates.fold(1.0, f64::max);
        let depth = Depth { most: self.at.values.mu, confirm: false, ranks: self.at.ranks };
        let (mut points, mut values) = (Vec::new(), Vec::new());
        for part in LATER {
            let delta = part / fastest;
            // x(t + δ) = Σ Xₖ δᵏ, and off it
            let later = |j: usize| jet.iter().skip(j).step_by(n).rev().fold(0.0, |sum, X| sum * delta + X);
            let x: Vec<f64> = (0..n).map(later).map(|x| x + OFF * (1.0 + x.abs()) * random.next()).collect();
            if let Ok(found) = characterise_at(self.system, &mut array, self.at.t + delta, &x, depth) {
                values.push(found.values);
                points.push((found.t, found.jet));
            }
        }
        let here = self.at.values;
        let fewer = |found: &CharacteristicValues| (found.a, found.mu) < (here.a, here.mu) && found.mu <= here.mu;
        let agree = values.len() == LATER.len() && values.iter().all(|found| *found == values[0]);
        let generic = values.first().copied().filter(|found| agree && fewer(found));
        let mut same = values.iter().map(|found| *found == here);
        points.retain(|_| same.next().unwrap_or(false));
        PointsBeside { points, generic }
    }
}

fn finite(values: Vec<f64>) -> Option<Vec<f64>> {
    values.iter().all(|x| x.is_finite()).then_some(values)
}
