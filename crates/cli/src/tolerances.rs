//! Relative tolerance, and absolute tolerances of single variables: from the command, the model file, and nominal values.
//!
//! An error in x counts as |e|/(atol + rtol|x|). A variable whose values all lie below its atol is computed with any error up to atol: its
//! digits mean nothing. So each variable may have an atol of its own, or a nominal value, its usual size, which gives atol = rtol · nominal.
//! What is first in this list holds: `--atol NAME=X`, `--nominal NAME=X`, `atol` and `nominal` of the file by name, `--atol X`, `atol` of
//! the file, rtol. Tolerances by name in a file stand beside its rtol and change with it.

use crate::arguments::Solve;
use crate::failure::Failure;
use crate::setup::{Equations, Setup};
use daedal::Tolerance;
use daedal::hybrid::ActiveMode;
use daedal::motion::{Form, Layout};
use daedal::observer::{Observer, StepView};
use daedal_run::Warning;
use std::ops::ControlFlow;

/// The relative tolerance where none is given.
const RTOL: f64 = 1e-7;
/// Values below this part of the largest value of any variable are rounding of the others.
const ROUNDING: f64 = 1e-13;
/// Most variables that a warning names.
const SHOWN: usize = 6;

/// Tolerances of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Tolerances {
    pub rtol: f64,
    /// Absolute tolerance of all variables that have none of their own.
    pub atol: f64,
    /// Variables with a tolerance of their own.
    pub of: Vec<(String, f64)>,
}

impl Tolerances {
    /// What command and model say.
    pub fn resolve(setup: &Setup, arguments: &Solve) -> Result<Self, Failure> {
        let wishes = &setup.defaults;
        let rtol = arguments.rtol.or(wishes.rtol).unwrap_or(RTOL);
        // an absolute tolerance belongs to the relative one that it stands beside
        let beside = if arguments.rtol.is_none() { wishes.atol } else { None };
        let ratio = rtol / wishes.rtol.unwrap_or(RTOL);
        let for_all = arguments.atol.iter().rfind(|(name, _)| name.is_none()).map(|(_, atol)| *atol);
        let atol = for_all.or(beside).unwrap_or(rtol);

        let known = names(setup);
        let mut of: Vec<(String, f64)> = Vec::new();
        let mut put = |option: &'static str, name: &str, atol: f64| {
            let meant: Vec<&String> = known.iter().filter(|known| is_meant(name, known)).collect();
            if meant.is_empty() {
                let known = known.clone();
                return Err(Failure::UnknownName { kind: option, name: name.to_string(), known });
            }
            for name in meant {
                match of.iter_mut().find(|(known, _)| known == name) {
                    Some(known) => known.1 = atol,
                    None => of.push((name.clone(), atol)),
                }
            }
            Ok(())
        };
        for (name, nominal) in &wishes.nominal {
            put("variable for nominal", name, rtol * nominal)?;
        }
        for (name, atol) in &wishes.atol_of {
            put("variable for atol", name, atol * ratio)?;
        }
        for (name, nominal) in &arguments.nominal {
            put("variable for --nominal", name, rtol * nominal)?;
        }
        for (name, atol) in &arguments.atol {
            if let Some(name) = name {
                put("variable for --atol", name, *atol)?;
            }
        }
        Ok(Tolerances { rtol, atol, of })
    }

    /// For the solver.
    pub fn core(&self) -> Tolerance {
        let &Tolerances { rtol, atol, ref of } = self;
        if of.is_empty() { Tolerance::new(rtol, atol) } else { Tolerance::Named { rtol, atol, of: of.clone() } }
    }

    /// What is allowed for a variable of that name and value.
    pub fn weight(&self, name: &str, x: f64) -> f64 {
        self.of(name) + self.rtol * x.abs()
    }

    /// The absolute tolerance of a variable.
    pub fn of(&self, name: &str) -> f64 {
        self.of.iter().find(|(known, _)| known == name).map_or(self.atol, |(_, atol)| *atol)
    }

    /// What the tolerances could not see in a run. `names` are those of the unknowns of each mode; one that does not count has none.
    pub fn blind(&self, largest: &Largest, names: &[Vec<Option<&String>>]) -> Option<Warning> {
        let mut seen: Vec<(&String, f64)> = Vec::new();
        for (names, largest) in names.iter().zip(&largest.modes) {
            for (name, &x) in names.iter().zip(largest).filter_map(|(name, x)| Some(((*name)?, x))) {
                match seen.iter_mut().find(|(known, _)| *known == name) {
                    Some(known) => known.1 = known.1.max(x),
                    None => seen.push((name, x)),
                }
            }
        }
        let most = seen.iter().map(|(_, x)| *x).fold(0.0, f64::max);
        let is_blind = |&&(name, x): &&(&String, f64)| x > ROUNDING * most && x < self.of(name);
        let blind: Vec<&(&String, f64)> = seen.iter().filter(is_blind).collect();
        if blind.is_empty() {
            return None;
        }
        let told: Vec<String> = blind
            .iter()
            .take(SHOWN)
            .map(|(name, x)| format!("{name} (at most {x:.1e}, atol {:.1e})", self.of(name)))
            .collect();
        let more = if blind.len() > SHOWN { format!(" and {} more", blind.len() - SHOWN) } else { String::new() };
        let first = blind[0].0;
        Some(Warning::new(format!(
            "the tolerance cannot see {}{more}: all values lie below the absolute tolerance, and any error up to it is allowed; give \
             them one of their own, atol = {{ {first} = … }} or nominal = {{ {first} = … }} in [solve], or --atol {first}=…",
            told.join(", ")
        )))
    }
}

/// Is this the variable, or the list whose entry it is?
fn is_meant(name: &str, variable: &str) -> bool {
    variable == name || variable.strip_prefix(name).is_some_and(|rest| rest.starts_with('['))
}

/// The variables that tolerances are for: all unknowns but accelerations.
fn names(setup: &Setup) -> Vec<String> {
    match &setup.equations {
        Equations::Motion(motion) => {
            let mechanism = &*motion.case.mechanism;
            let layout = Layout::new(mechanism.sizes(), Form::StrangenessFree, false);
            let all = layout.variable_names(&mechanism.names());
            layout.shown().into_iter().filter(|j| !layout.a().contains(j)).map(|j| all[j].clone()).collect()
        }
        Equations::General(general) => general.system.names().to_vec(),
        Equations::Hybrid(switched) => {
            let mut names: Vec<String> = Vec::new();
            for name in switched.model.modes.iter().flat_map(|mode| &mode.unknowns) {
                if !names.contains(name) {
                    names.push(name.clone());
                }
            }
            names
        }
    }
}

/// Writes down the largest absolute value of every unknown, in every mode.
#[derive(Debug, Default)]
pub struct Largest {
    modes: Vec<Vec<f64>>,
    /// end of the last step
    t: Option<f64>,
    x: Vec<f64>,
}

impl Largest {
    fn see<L>(&mut self, mode: usize, step: &StepView<L>) {
        if self.modes.len() <= mode {
            self.modes.resize(mode + 1, Vec::new());
        }
        let n = step.x.len();
        let largest = &mut self.modes[mode];
        if largest.len() < n {
            largest.resize(n, 0.0);
        }
        // a run, or a mode, begins before its first step
        if self.t != Some(step.segment.t0) {
            self.x.resize(n.max(step.segment.dim()), 0.0);
            step.segment.eval(step.segment.t0, &mut self.x[..step.segment.dim()]);
            largest.iter_mut().zip(&self.x).for_each(|(most, x)| *most = most.max(x.abs()));
        }
        largest.iter_mut().zip(step.x).for_each(|(most, x)| *most = most.max(x.abs()));
        self.t = Some(step.t);
    }
}

impl Observer<Layout> for Largest {
    fn observe(&mut self, step: &StepView<Layout>) -> ControlFlow<()> {
        self.see(0, step);
        ControlFlow::Continue(())
    }
}

impl Observer<daedal::dae::Unknowns> for Largest {
    fn observe(&mut self, step: &StepView<daedal::dae::Unknowns>) -> ControlFlow<()> {
        self.see(0, step);
        ControlFlow::Continue(())
    }
}

impl Observer<ActiveMode> for Largest {
    fn observe(&mut self, step: &StepView<ActiveMode>) -> ControlFlow<()> {
        self.see(step.layout.mode, step);
        ControlFlow::Continue(())
    }
}
