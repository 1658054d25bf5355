//! Modes that no run can enter are mistakes.

use super::ModeDraft;
use super::sliding::SlidingModeDraft;
use super::transitions::TransitionDraft;
use crate::diagnostic::Mistake;
use crate::reader::Reader;

/// Follow all transitions from the first mode.
pub(super) fn check(
    reader: &mut Reader,
    modes: &[ModeDraft],
    plans: &[TransitionDraft],
    sliding: &[SlidingModeDraft],
    first: Option<usize>,
) {
    let Some(first) = first else { return };
    // what could not be read may lead anywhere
    if plans.iter().any(|plan| plan.to.is_none() || plan.from.is_empty()) {
        return;
    }
    let mut next = vec![Vec::new(); modes.len()];
    for plan in plans {
        for &from in &plan.from {
            next[from].extend(plan.to.into_iter().chain(plan.after_accumulation));
        }
    }
    for mode in sliding {
        next[mode.between.0].push(mode.mode);
        next[mode.between.1].push(mode.mode);
    }
    let mut reached = vec![false; modes.len()];
    let mut open = vec![first];
    while let Some(mode) = open.pop() {
        if !std::mem::replace(&mut reached[mode], true) {
            open.extend(&next[mode]);
        }
    }
    for (mode, _) in modes.iter().zip(reached).filter(|(_, reached)| !reached) {
        reader.mistake(Mistake::Unreachable {
            mode: mode.name.clone(),
            first: modes[first].name.clone(),
            at: mode.span.into(),
        });
    }
}
