//! Which unknowns a run of a linear system of order two or more has: derivatives that enter through fewer combinations than there are of
//! them are taken together, where that lowers the index.

use crate::model::{GeneralModel, Model, ModelSystem};
use crate::settings::Settings;
use daedal::dae::{Form, Formulas, HighOrderSystem, TrimmedFormulas};
use daedal::linalg::RankRule;
use daedal::{Initial, Start};
use daedal_pencils::high_order::OrderExpansion;

/// Most differentiations that are tried.
const MOST_LEVELS: usize = 8;
/// Largest systems that are looked at.
const MOST_UNKNOWNS: usize = 60;

/// A model with fewer unknowns, and why it is taken.
pub(crate) struct TrimmedModel {
    pub model: Model,
    pub reason: String,
}

impl Model {
    /// The model whose unknowns a run has, and why they are not those of the equations as written.
    pub(crate) fn for_run(&self, settings: &Settings) -> (&Model, Option<&str>) {
        let defaults = &self.content.defaults;
        let auto = |name: &Option<String>| name.as_deref().is_none_or(|name| name == Form::Auto.name());
        // events and tolerances speak of the unknowns as they are without this
        let open = self.content.boundary.is_none()
            && auto(&settings.formulation)
            && auto(&defaults.formulation)
            && !self.has_events()
            && settings.events.is_empty()
            && settings.atol_of.is_empty()
            && settings.nominal.is_empty()
            && defaults.atol_of.is_empty()
            && defaults.nominal.is_empty();
        match &self.content.equations {
            ModelSystem::General(general) if open => match general.trimmed(self) {
                Some(trimmed) => (&trimmed.model, Some(&trimmed.reason)),
                None => (self, None),
            },
            _ => (self, None),
        }
    }
}

/// The trimmed model, if its index is lower.
pub(crate) fn lower_index(whole: &Model, general: &GeneralModel) -> Option<TrimmedModel> {
    let conditions = !general.initial.conditions.is_empty();
    if conditions || general.formulas.states.len() > MOST_UNKNOWNS {
        return None;
    }
    let TrimmedFormulas { formulas, combinations, relieved } = general.formulas.trimmed()?;
    let (t0, ranks) = (whole.interval().0, whole.ranks());
    let (usual, lower) = (index(&general.formulas, t0, ranks)?, index(&formulas, t0, ranks)?);
    if lower >= usual {
        return None;
    }
    let reason = format!(
        "highest derivatives of {} enter together only: with {} as {} the strangeness index is {lower} instead of {usual}",
        relieved.join(", "),
        combinations.join(", "),
        if combinations.len() == 1 { "unknown" } else { "unknowns" },
    );
    let initial = longer(&general.initial, formulas.states.len());
    let mut trimmed = GeneralModel::new(formulas, initial, general.kernel);
    trimmed.matrices = general.matrices;
    let model = whole.with_general(trimmed);
    Some(TrimmedModel { model, reason })
}

/// Strangeness index of the form of first order of a linear system.
fn index(formulas: &Formulas, t0: f64, ranks: RankRule) -> Option<usize> {
    let written = HighOrderSystem::new(formulas);
    if !written.linear() {
        return None;
    }
    let found = written.expand(t0, &[], MOST_LEVELS).ok()?;
    let orders: Vec<usize> = formulas.orders.iter().map(|&order| order as usize).collect();
    let form = OrderExpansion::new(found.A, found.f).ok()?.with_derivatives(&orders);
    Some(form.characteristic_values(ranks).ok()?.mu)
}

/// Nothing is known about the new states.
fn longer(initial: &Initial, states: usize) -> Initial {
    let mut initial = initial.clone();
    initial.states.resize(states, Start::Unknown);
    initial.derivatives.iter_mut().for_each(|block| block.resize(states, Start::Unknown));
    initial
}
