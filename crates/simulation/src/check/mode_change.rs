//! What a transition does to the kinds of unknowns: thirteen classes by the signs of the changes of d, a and u.
//!
//! Both modes are counted with the same number of unknowns n = d + a + u: what only one of them has is undetermined in the other, and keeps
//! its last value there. Wunderlich, thesis (2008), table 5.1, whose row 8 is printed as d + a → a; its inequalities mean d + u → a.

use super::{Check, Examined};
use daedal::analysis::Analysis;
use daedal::dae::CharacteristicValues;
use std::cmp::Ordering::{self, Equal, Greater, Less};
use std::fmt;

/// Signs of the changes of (d, a, u) in the order of the table, and what becomes what.
const CLASSES: [([Ordering; 3], &str); 13] = [
    ([Equal, Equal, Equal], "none"),
    ([Equal, Greater, Less], "u → a"),
    ([Equal, Less, Greater], "a → u"),
    ([Less, Greater, Equal], "d → a"),
    ([Less, Equal, Greater], "d → u"),
    ([Less, Greater, Greater], "d → a + u"),
    ([Less, Less, Greater], "d + a → u"),
    ([Less, Greater, Less], "d + u → a"),
    ([Greater, Equal, Less], "u → d"),
    ([Greater, Less, Equal], "a → d"),
    ([Greater, Less, Less], "a + u → d"),
    ([Greater, Less, Greater], "a → d + u"),
    ([Greater, Greater, Less], "u → d + a"),
];

/// A change between two modes whose characteristic values are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModeChange {
    /// Its class, 1 to 13.
    pub class: usize,
    /// What becomes what: "d → a" where differential unknowns become algebraic.
    pub kinds: &'static str,
    /// Does something become algebraic, so that a state that was consistent may not be so any more?
    pub may_jump: bool,
    /// Does the strangeness index rise, so that more derivatives are needed?
    pub index_rises: bool,
}

impl ModeChange {
    /// From one mode into another.
    pub fn new(from: &CharacteristicValues, to: &CharacteristicValues) -> Self {
        let unknowns = |values: &CharacteristicValues| values.d + values.a + values.u;
        let n = unknowns(from).max(unknowns(to));
        let padded = |values: &CharacteristicValues| [values.d, values.a, n - values.d - values.a];
        let (before, after) = (padded(from), padded(to));
        let signs = [0, 1, 2].map(|k: usize| after[k].cmp(&before[k]));
        // d + a + u is the same, so that no other signs are possible
        let place = CLASSES.iter().position(|(known, _)| *known == signs).unwrap_or(0);
        ModeChange {
            class: place + 1,
            kinds: CLASSES[place].1,
            may_jump: signs[1] == Greater,
            index_rises: to.mu > from.mu,
        }
    }
}

impl fmt::Display for ModeChange {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "class {} of mode changes", self.class)?;
        if self.class > 1 {
            write!(f, " ({})", self.kinds)?;
        }
        let jump = if self.may_jump { ", unknowns that become algebraic may jump" } else { "" };
        let index = if self.index_rises { ", the index rises" } else { "" };
        write!(f, "{jump}{index}")
    }
}

/// Characteristic values of a mode, where they were found.
pub(super) fn values(check: &Check) -> Option<CharacteristicValues> {
    match &check.examined {
        Examined::General(general) => Some(general.found.as_ref().ok()?.analysis.at.values),
        Examined::Motion(motion) => of_motion(&motion.analysis),
        Examined::Modes(_) => None,
    }
}

/// Those of equations of motion in (p, v, r, w, s, λ, μ): Steinbrecher (2006), section 4.2.
fn of_motion(found: &Analysis) -> Option<CharacteristicValues> {
    let (n, constraints, index) = (found.sizes, found.constraints.as_ref()?, found.index?);
    let unknowns = [n.positions, n.velocities, n.dynamic, n.auxiliary, n.contact, n.holonomic, n.nonholonomic];
    let d = constraints.position_freedom + constraints.velocity_freedom + n.dynamic;
    let u = n.holonomic + n.nonholonomic - constraints.all.rank;
    let a = unknowns.iter().sum::<usize>().checked_sub(d + u)?;
    Some(CharacteristicValues { mu: usize::from(index.strangeness), d, a, v: u, u })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(from: [usize; 3], to: [usize; 3]) -> ModeChange {
        let [from, to] = [from, to].map(|[d, a, u]| CharacteristicValues { mu: 0, d, a, v: 0, u });
        ModeChange::new(&from, &to)
    }

    #[test]
    fn every_sign_pattern_has_one_class_and_jumps_where_something_becomes_algebraic() {
        let mut seen = [0; 14];
        for d in 0..=4_usize {
            for a in 0..=4 - d {
                seen[change([1, 1, 2], [d, a, 4 - d - a]).class] += 1;
                seen[change([2, 1, 1], [d, a, 4 - d - a]).class] += 1;
                seen[change([1, 2, 1], [d, a, 4 - d - a]).class] += 1;
            }
        }
        assert!(seen[0] == 0 && seen[1..].iter().all(|count| *count > 0), "{seen:?}");
        // the source: inconsistency is possible in 2, 4, 6, 8 and 13
        let jumps: Vec<usize> = (1..=13).filter(|k| matches!(CLASSES[k - 1].0[1], Greater)).collect();
        assert_eq!(jumps, [2, 4, 6, 8, 13]);
        assert_eq!((change([2, 0, 1], [1, 2, 0]).class, change([2, 0, 1], [1, 2, 0]).kinds), (8, "d + u → a"));
    }

    #[test]
    fn what_a_mode_does_not_have_is_undetermined_there() {
        // a rope with five unknowns becomes a free body with four
        let cut = change([2, 3, 0], [4, 0, 0]);
        assert_eq!((cut.class, cut.kinds, cut.may_jump), (12, "a → d + u", false));
        // and back
        let caught = change([4, 0, 0], [2, 3, 0]);
        assert_eq!((caught.class, caught.kinds, caught.may_jump), (8, "d + u → a", true));
    }
}
