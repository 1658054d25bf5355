//! The ways to solve a model, and what one of them finds.

use daedal::dae::{Form, System};
use daedal::formulation::{Formulated, Formulation, Selectors};
use daedal::hybrid::SwitchKind;
use daedal::method::Integrator;
use daedal::method::Stages;
use daedal::motion::{Compiled, Layout};
use daedal::{Auto, Bdf, Geoms, Options, RadauIIa, Rodas, Save, Statistics, Tolerance, catalogue};
use daedal_model::{HybridModel, Methods, Model, ModelKind};
use daedal_native::Native;
use std::error::Error;
use std::sync::Arc;

/// Values are looked at in so many points, the last one is the end.
const POINTS: usize = 4;
/// Relative tolerance of files that give none.
const USUAL_RTOL: f64 = 1e-7;
/// Radau IIa with seven stages, which is not in the catalogue: references are made with it.
pub const ORDER_13: &str = "radau of order 13";
/// What is chosen for a mechanism: it promises what the methods do that are chosen among.
pub const CHOSEN: Way = Way::new("auto", "auto");

/// A form or formulation with a method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Way {
    pub form: &'static str,
    pub method: &'static str,
}

/// What a value is; unknowns of general systems are all of the first kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Position,
    Velocity,
    /// Multipliers and auxiliary variables.
    Multiplier,
}

/// A variable at the times that are looked at.
#[derive(Clone, Debug)]
pub struct Value {
    pub name: String,
    pub level: Level,
    pub at: Vec<f64>,
}

/// Values, and what they cost.
#[derive(Clone, Debug)]
pub struct Found {
    pub values: Vec<Value>,
    pub statistics: Statistics,
}

/// A model on an interval.
pub struct Case {
    pub model: Model,
    pub tend: f64,
    /// Is the number of switches a matter of the tolerance?
    pub accumulates: bool,
    pub max_steps: u64,
}

impl Way {
    pub const fn new(form: &'static str, method: &'static str) -> Self {
        Way { form, method }
    }

    /// `form method`, as it is shown.
    pub fn name(&self) -> String {
        format!("{} {}", self.form, self.method)
    }

    fn radau(&self) -> RadauIIa {
        let stages = if self.method == ORDER_13 { Stages::Fixed(7) } else { Stages::default() };
        RadauIIa { stages, ..RadauIIa::default() }
    }
}

/// All ways for a kind of model.
pub fn ways(kind: &ModelKind) -> Vec<Way> {
    match kind {
        ModelKind::Motion { .. } => {
            let ways =
                |entry: &'static catalogue::Entry| entry.formulations.iter().map(|form| Way::new(form, entry.name));
            catalogue::all().iter().flat_map(ways).chain([CHOSEN]).collect()
        }
        ModelKind::Dae { .. } => {
            // where nothing contradicts, least squares are the form linear
            let forms = Form::ALL.iter().filter(|form| **form != Form::LeastSquares);
            let ways = forms.flat_map(|form| ["radau", "bdf"].map(|method| Way::new(form.name(), method)));
            // for equations as they stand
            ways.chain([Way::new(Form::Plain.name(), "rodas")]).collect()
        }
        ModelKind::Hybrid(hybrid) if is_mechanical(hybrid) => vec![Way::new("psf", "geoms"), Way::new("p1", "geoms")],
        ModelKind::Hybrid(_) => ["radau", "bdf"].map(|method| Way::new("modes", method)).to_vec(),
    }
}

/// Are modes equations of motion?
pub fn is_mechanical(hybrid: &HybridModel) -> bool {
    hybrid.modes.iter().any(|mode| matches!(mode.kind, ModelKind::Motion { .. }))
}

impl Case {
    /// Solve it. Why not, if not.
    pub fn solve(&self, way: &Way, tolerance: f64) -> Result<Found, String> {
        match &self.model.kind {
            ModelKind::Motion { .. } => self.motion(way, &self.options(tolerance)),
            ModelKind::Dae { .. } => self.general(way, &self.options(tolerance)),
            ModelKind::Hybrid(hybrid) => self.switched(hybrid, way, &self.options(tolerance)),
        }
    }

    fn motion(&self, way: &Way, options: &Options) -> Result<Found, String> {
        let ModelKind::Motion { formulas, initial, .. } = &self.model.kind else { unreachable!("a mechanism") };
        let mechanism = Compiled::new(formulas, Native);
        let problem = daedal::Problem::new(&mechanism, (**initial).clone(), self.tend);
        if *way == CHOSEN {
            return Ok(found(&daedal::solve(&problem, &Auto, options).map_err(|error| reason(&error))?));
        }
        let formulation = Formulation::ALL.into_iter().find(|known| known.name() == way.form).expect("a formulation");
        let method: Box<dyn catalogue::MotionMethod> = if way.method == ORDER_13 {
            Box::new(Formulated { formulation, integrator: way.radau() })
        } else {
            catalogue::find(way.method).expect("a method").with(formulation).map_err(|error| reason(&error))?
        };
        Ok(found(&daedal::solve(&problem, &*method, options).map_err(|error| reason(&error))?))
    }

    fn general(&self, way: &Way, options: &Options) -> Result<Found, String> {
        let ModelKind::Dae { formulas, initial, .. } = &self.model.kind else { unreachable!("a general system") };
        let system = System::new(formulas, Native);
        let problem = daedal::Problem::new(&system, (**initial).clone(), self.tend);
        let form = Form::ALL.into_iter().find(|known| known.name() == way.form).expect("a form");
        let (radau, bdf, rodas) = (way.radau(), Bdf::default(), Rodas::default());
        let method: &dyn Integrator = match way.method {
            "bdf" => &bdf,
            "rodas" => &rodas,
            _ => &radau,
        };
        let solution = daedal::solve(&problem, &daedal::dae::InForm { form, integrator: method }, options)
            .map_err(|error| reason(&error))?;
        // auxiliary unknowns of the form stand behind those of the system
        let level = |j| (j < solution.layout.dim).then_some(Level::Position);
        let values = columns(&solution.names, level, solution.len(), |k| solution.state(k));
        Ok(Found { values, statistics: solution.statistics })
    }

    /// Modes may differ at a time: the end counts, and when and how often it switched.
    fn switched(&self, hybrid: &HybridModel, way: &Way, options: &Options) -> Result<Found, String> {
        let general = if way.method == "bdf" { "bdf" } else { "radau" };
        let formulation = match way.form {
            "p1" => Formulation::ProjectedIndexOne(Selectors::default()),
            _ => Formulation::Projected,
        };
        let geoms = Geoms { formulation, ..Geoms::default() };
        let methods = Methods { general, geoms, radau: way.radau(), ..Methods::default() };
        let system = hybrid.build(&(Arc::new(Native) as _), &methods);
        let problem = hybrid.problem(&system, self.tend);
        let options = Options { save: Save::End, ..options.clone() };
        let solution = daedal::solve(&problem, &hybrid.options, &options).map_err(|error| reason(&error))?;
        let names = &solution.modes[solution.end_mode].unknowns;
        let is_multiplier = |name: &str| name.starts_with("lambda") || name.starts_with("mu");
        let value = |(name, x): (&String, &f64)| {
            let level = if is_multiplier(name) { Level::Multiplier } else { Level::Position };
            Value { name: name.clone(), level, at: vec![*x] }
        };
        let mut values: Vec<Value> =
            names.iter().zip(&solution.end.x).filter(|(name, _)| !name.ends_with('\'')).map(value).collect();
        if !self.accumulates {
            let span = self.tend - self.begin();
            // what is left at once comes and goes with rounding
            let lasting = solution.switches.iter().filter(|switch| switch.kind != SwitchKind::Immediate);
            let lasting: Vec<_> = lasting.collect();
            let count =
                Value { name: "number of switches".into(), level: Level::Position, at: vec![lasting.len() as f64] };
            values.push(count);
            values.extend(lasting.iter().enumerate().map(|(k, switch)| {
                let name = format!("time of switch {}", k + 1);
                Value { name, level: Level::Position, at: vec![switch.t / span] }
            }));
        }
        Ok(Found { values, statistics: solution.statistics })
    }

    fn begin(&self) -> f64 {
        match &self.model.kind {
            ModelKind::Motion { initial, .. } => initial.t,
            ModelKind::Dae { initial, .. } => initial.t,
            ModelKind::Hybrid(hybrid) => hybrid.initial.t,
        }
    }

    fn options(&self, tolerance: f64) -> Options {
        let (t0, tend) = (self.begin(), self.tend);
        let times = (1..POINTS).map(|k| t0 + (tend - t0) * k as f64 / POINTS as f64).chain([tend]);
        Options {
            tolerance: self.tolerance(tolerance),
            hmax: self.model.solve.hmax,
            max_steps: self.max_steps,
            save: Save::At(times.collect()),
            ..Options::default()
        }
    }

    /// rtol, and absolute tolerances in the ratio that the file gives.
    fn tolerance(&self, rtol: f64) -> Tolerance {
        let (wishes, atol) = (&self.model.solve, rtol * self.size(""));
        let named = wishes.nominal.iter().chain(&wishes.atol_of);
        let of: Vec<_> = named.map(|(name, _)| (name.clone(), rtol * self.size(name))).collect();
        if of.is_empty() { Tolerance::new(rtol, atol) } else { Tolerance::Named { rtol, atol, of } }
    }

    /// Errors of a variable count relative to its values and to this: its nominal value, or atol/rtol.
    pub fn size(&self, name: &str) -> f64 {
        let wishes = &self.model.solve;
        let rtol = wishes.rtol.unwrap_or(USUAL_RTOL);
        let own = |list: &[(String, f64)]| list.iter().find(|(known, _)| known == name).map(|(_, x)| *x);
        let atol = own(&wishes.atol_of).or(wishes.atol);
        own(&wishes.nominal).unwrap_or_else(|| atol.map_or(1.0, |atol| atol / rtol))
    }
}

/// What the run of a mechanism gave.
fn found(solution: &daedal::Solution) -> Found {
    let level = |j| level(&solution.layout, j);
    let values = columns(&solution.names, level, solution.len(), |k| solution.state(k));
    Found { values, statistics: solution.statistics }
}

/// Accelerations count in no norm.
fn level(layout: &Layout, j: usize) -> Option<Level> {
    if layout.a().contains(&j) {
        None
    } else if layout.p().contains(&j) {
        Some(Level::Position)
    } else if layout.v().contains(&j) || layout.r().contains(&j) {
        Some(Level::Velocity)
    } else {
        Some(Level::Multiplier)
    }
}

fn columns<'s>(
    names: &[String],
    level: impl Fn(usize) -> Option<Level>,
    rows: usize,
    state: impl Fn(usize) -> &'s [f64],
) -> Vec<Value> {
    let column = |j: usize| (0..rows).map(|k| state(k)[j]).collect();
    let value = |(j, name): (usize, &String)| Some(Value { name: name.clone(), level: level(j)?, at: column(j) });
    names.iter().enumerate().filter_map(value).collect()
}

fn reason(error: &dyn Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {}", reason(cause)),
        None => error.to_string(),
    }
}
