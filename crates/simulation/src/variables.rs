//! Where the variables that are shown stand in a state, and what they are; the same for all kinds of models.

use daedal::SolveError;
use daedal::dae::Unknowns;
use daedal::motion::Layout;
use daedal_run::Kind;

/// The variables that are shown, in their order, and which equations they solve.
#[derive(Clone, Debug)]
pub struct Variables {
    /// Place in a state, kind.
    pub shown: Vec<(usize, Kind)>,
    /// Which equations were discretised.
    pub formulation: &'static str,
}

/// Why it did not reach its end.
pub type Stopped = SolveError<Variables>;

impl Variables {
    /// p, v, r, w, s, λ, μ, accelerations.
    pub fn of_motion(layout: &Layout, formulation: &'static str) -> Self {
        let kind = |j: usize| {
            let blocks = [
                (layout.p(), Kind::Position),
                (layout.v(), Kind::Velocity),
                (layout.r(), Kind::Dynamic),
                (layout.w(), Kind::Auxiliary),
                (layout.s(), Kind::Contact),
                (layout.lambda(), Kind::Multiplier),
                (layout.mu(), Kind::Multiplier),
                (layout.a(), Kind::Acceleration),
            ];
            blocks.into_iter().find(|(block, _)| block.contains(&j)).map_or(Kind::Variable, |(_, kind)| kind)
        };
        Variables { shown: layout.shown().into_iter().map(|j| (j, kind(j))).collect(), formulation }
    }

    /// The states, then the derivatives that are unknowns; those behind serve the solver only.
    pub fn of_general(unknowns: &Unknowns, states: usize) -> Self {
        let kind = |j: usize| if j < states { Kind::State } else { Kind::Derivative };
        Variables { shown: (0..unknowns.dim).map(|j| (j, kind(j))).collect(), formulation: unknowns.form.name() }
    }
}
