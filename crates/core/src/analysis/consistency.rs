//! Do the given initial values satisfy the equations of every level, and how far does the initialisation move them?

use super::decided::MassBlocks;
use super::equations::Level;
use super::linearised::{Linearised, Means};
use crate::initial::{Initial, Start};
use crate::linalg::rank::{Decomposed, Scaling};
use crate::motion::consistent::{Attempt, InitialisationError};
use crate::motion::{Layout, Names, ReducedArray, Undefined, view};
use faer::Mat;

/// The point at which a system is analysed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Consistent initial values.
    Consistent,
    /// There are none, or they are not determined: where the search for them ended.
    Nearest,
    /// Nothing was computed: the values as they are given, zero where nothing is.
    Given,
}

/// The given initial values.
#[derive(Clone, Debug, PartialEq)]
pub struct Consistency {
    /// Where the rest of the analysis is made.
    pub place: Place,
    /// Why there are no consistent values.
    pub error: Option<InitialisationError>,
    /// Iterations of the initialisation.
    pub iterations: Option<u32>,
    /// Independent equations that were not needed.
    pub surplus: Option<usize>,
    /// Residuals of the equations at the given values; empty if the model has no finite value there.
    pub residuals: Vec<Residual>,
    /// Values that are not given, for which the residuals use those at the start. Accelerations follow from the dynamic equations.
    pub filled: Vec<String>,
    /// What the initialisation did to every given value.
    pub movements: Vec<Movement>,
}

/// What an equation leaves at the given values.
#[derive(Clone, Debug, PartialEq)]
pub struct Residual {
    /// Its name.
    pub equation: String,
    /// Its level; `None` for further conditions.
    pub level: Option<Level>,
    /// Its value.
    pub value: f64,
    /// Its largest term.
    pub terms: f64,
    /// Up to this it counts as satisfied.
    pub tolerance: f64,
}

impl Residual {
    /// Is the equation satisfied?
    pub fn is_satisfied(&self) -> bool {
        self.value.abs() <= self.tolerance
    }
}

/// What the initialisation did to a given value.
#[derive(Clone, Debug, PartialEq)]
pub struct Movement {
    /// Which variable.
    pub variable: String,
    /// Its given value.
    pub given: f64,
    /// Its value at the start.
    pub start: f64,
    /// Was it fixed?
    pub fixed: bool,
}

impl Movement {
    /// |start − given| / (1 + |given|).
    pub fn relative(&self) -> f64 {
        (self.start - self.given).abs() / (1.0 + self.given.abs())
    }
}

/// The start: a point to analyse, and what is worth knowing about the given values. `point` is where the search ended.
pub(super) fn consistency(
    array: &mut dyn ReducedArray,
    names: &Names,
    initial: &Initial,
    starts: &[Start],
    attempt: &Attempt,
    (place, point): (Place, &[f64]),
    means: Means,
) -> Consistency {
    let layout = array.layout().clone();
    let variables = layout.variable_names(names);
    let (mut x, mut filled) = (point.to_vec(), Vec::new());
    let mut movements = Vec::new();
    for j in layout.shown() {
        match starts[j] {
            Start::Fixed(value) | Start::Guess(value) => {
                x[j] = value;
                let fixed = matches!(starts[j], Start::Fixed(_));
                movements.push(Movement { variable: variables[j].clone(), given: value, start: point[j], fixed });
            }
            Start::Unknown if !layout.a().contains(&j) => filled.push(variables[j].clone()),
            Start::Unknown => {}
        }
    }
    if place != Place::Consistent {
        movements.clear();
    }
    let found = attempt.outcome.as_ref().ok();
    Consistency {
        place,
        error: attempt.outcome.as_ref().err().cloned(),
        iterations: found.map(|c| c.iterations),
        surplus: found.map(|c| c.surplus),
        residuals: residuals(array, &layout, names, initial, &mut x, means).unwrap_or_default(),
        filled,
        movements,
    }
}

/// Residuals at x, with the accelerations that the dynamic equations give there.
fn residuals(
    array: &mut dyn ReducedArray,
    layout: &Layout,
    names: &Names,
    initial: &Initial,
    x: &mut [f64],
    means: Means,
) -> Result<Vec<Residual>, Undefined> {
    let t = initial.t;
    x[layout.a()].fill(0.0);
    let at = Linearised::at(array, t, x, means)?;
    // M a + (the rest of the dynamic equations) = 0
    let n = layout.a().len();
    let condition = if means.sparse {
        let mass = MassBlocks::of(&at.sparse_block(layout.row_dynamics(), layout.a()), means.ranks).ok_or(Undefined)?;
        let rest: Vec<f64> = at.rows[..n].iter().map(|row| -row).collect();
        x[layout.a()].copy_from_slice(&mass.solve(&rest));
        mass.rank.condition()
    } else {
        let mass = Decomposed::of(&at.mass(), Scaling::Both, means.ranks).ok_or(Undefined)?;
        let a = mass.solve(&Mat::from_fn(n, 1, |i, _| -at.rows[i]));
        layout.a().enumerate().for_each(|(j, i)| x[i] = a[(j, 0)]);
        mass.decision.condition()
    };
    let at = Linearised::at(array, t, x, means)?;
    // rounding of the accelerations, in the rows that contain them
    let largest = x[layout.a()].iter().fold(0.0_f64, |m, a| m.max(a.abs()));
    let rounding = 1e-15 * condition.unwrap_or(1.0) * largest;
    let of_accelerations = |i: usize| {
        let slopes = at.slopes(i).filter(|(j, _)| layout.a().contains(j));
        rounding * slopes.map(|(_, slope)| slope.abs()).fold(0.0, f64::max)
    };
    let equations = layout.row_names(names);
    let level = |i: usize| {
        if i >= layout.row_contact().start {
            Level::Position
        } else if i >= layout.row_g1().start {
            Level::Velocity
        } else {
            Level::Acceleration
        }
    };
    let mut found: Vec<Residual> = (0..layout.algebraic())
        // invariants are kept at the values they have
        .filter(|i| !layout.row_invariants().contains(i))
        .map(|i| Residual {
            equation: equations[i].clone(),
            level: Some(level(i)),
            value: at.rows[i],
            terms: at.terms(i),
            tolerance: at.tolerance(i) + of_accelerations(i),
        })
        .collect();
    found.sort_by_key(|residual| residual.level);
    for condition in &initial.conditions {
        let value = condition.value(&view(layout, t, x));
        let terms = x.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let equation = format!("condition {}", condition.name);
        found.push(Residual { equation, level: None, value, terms, tolerance: 1e-9 * terms + 1e-13 });
    }
    Ok(found)
}
