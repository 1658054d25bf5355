//! Relative tolerance, and absolute tolerances of single variables: from the settings, the model file, and nominal values.
//!
//! An error in x counts as |e|/(atol + rtol|x|). A variable whose values all lie below its atol is computed with any error up to atol: its
//! digits mean nothing. So each variable may have an atol of its own, or a nominal value, its usual size, which gives atol = rtol · nominal.
//! What is first in this list holds: `atol_of` and `nominal` of the settings, `atol` and `nominal` of the file by name, `atol` of the settings,
//! `atol` of the file, rtol. Tolerances by name in a file stand beside its rtol and change with it.

use crate::error::Error;
use crate::model::{Model, ModelSystem};
use crate::settings::Settings;
use daedal::Tolerance;
use daedal_run::WarningRecord;
use serde::Serialize;
use std::collections::HashMap;

/// The relative tolerance where none is given.
const RTOL: f64 = 1e-7;
/// Values below this part of the largest value of any variable are rounding of the others.
const ROUNDING: f64 = 1e-13;
/// Most variables that a warning names.
const SHOWN: usize = 6;

/// Tolerances of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tolerances {
    /// Relative tolerance.
    pub rtol: f64,
    /// Absolute tolerance of all variables that have none of their own.
    pub atol: f64,
    /// Variables with a tolerance of their own.
    pub of: Vec<(String, f64)>,
}

impl Tolerances {
    /// What settings and model say.
    pub(crate) fn resolve(model: &Model, settings: &Settings) -> Result<Self, Error> {
        let defaults = &model.content.defaults;
        let rtol = settings.rtol.or(defaults.rtol).unwrap_or(RTOL);
        // an absolute tolerance belongs to the relative one that it stands beside
        let beside = if settings.rtol.is_none() { defaults.atol } else { None };
        let ratio = rtol / defaults.rtol.unwrap_or(RTOL);
        let atol = settings.atol.or(beside).unwrap_or(rtol);

        let known = names(model);
        let mut of: Vec<(String, f64)> = Vec::new();
        let mut put = |kind: &'static str, given: &[(String, f64)], factor: f64| {
            for (name, value) in given {
                let meant: Vec<&String> = known.iter().filter(|known| is_meant(name, known)).collect();
                if meant.is_empty() {
                    return Err(Error::UnknownName { kind, name: name.clone(), known: known.clone() });
                }
                for name in meant {
                    match of.iter_mut().find(|(known, _)| known == name) {
                        Some(known) => known.1 = value * factor,
                        None => of.push((name.clone(), value * factor)),
                    }
                }
            }
            Ok(())
        };
        put("variable for nominal", &defaults.nominal, rtol)?;
        put("variable for atol", &defaults.atol_of, ratio)?;
        put("variable for the setting nominal", &settings.nominal, rtol)?;
        put("variable for the setting atol", &settings.atol_of, 1.0)?;
        Ok(Tolerances { rtol, atol, of })
    }

    /// For the solver.
    pub(crate) fn core(&self) -> Tolerance {
        let &Tolerances { rtol, atol, ref of } = self;
        if of.is_empty() { Tolerance::new(rtol, atol) } else { Tolerance::Named { rtol, atol, of: of.clone() } }
    }

    /// What is allowed for a variable of that name and value.
    pub(crate) fn weight(&self, name: &str, x: f64) -> f64 {
        self.of(name) + self.rtol * x.abs()
    }

    /// The absolute tolerance of a variable.
    pub fn of(&self, name: &str) -> f64 {
        self.of.iter().find(|(known, _)| known == name).map_or(self.atol, |(_, atol)| *atol)
    }

    /// What the tolerances could not see in a run: names of the unknowns of each mode with their largest absolute values.
    pub(crate) fn blind<'n>(&self, largest: impl Iterator<Item = (&'n String, f64)>) -> Option<WarningRecord> {
        let (mut seen, mut places): (Vec<(&String, f64)>, HashMap<&String, usize>) = Default::default();
        for (name, x) in largest {
            match places.get(name) {
                Some(&k) => seen[k].1 = seen[k].1.max(x),
                None => {
                    places.insert(name, seen.len());
                    seen.push((name, x));
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
        Some(WarningRecord::new(format!(
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
fn names(model: &Model) -> Vec<String> {
    match &model.content.equations {
        ModelSystem::Motion(motion) => {
            let (layout, all) = motion.layout();
            layout.shown().into_iter().filter(|j| !layout.a().contains(j)).map(|j| all[j].clone()).collect()
        }
        ModelSystem::General(general) => general.system().names().to_vec(),
        ModelSystem::Modes(modes) => {
            let mut names: Vec<String> = Vec::new();
            for name in modes.model.modes.iter().flat_map(|mode| &mode.unknowns) {
                if !names.contains(name) {
                    names.push(name.clone());
                }
            }
            names
        }
    }
}
