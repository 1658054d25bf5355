//! Where the variables that are shown stand in a state, and what they are; the same for all kinds of models.

use daedal::SolveError;
use daedal::dae::Unknowns;
use daedal::motion::Layout;
use daedal_run::ColumnKind;

/// The variables that are shown, in their order, and which equations they solve.
#[derive(Clone, Debug)]
pub struct ShownVariables {
    /// Place in a state, kind.
    pub shown: Vec<(usize, ColumnKind)>,
    /// Which equations were discretised.
    pub formulation: &'static str,
}

/// Why it did not reach its end.
pub type Stopped = SolveError<ShownVariables>;

impl ShownVariables {
    /// p, v, r, w, s, λ, μ, accelerations.
    pub fn of_motion(layout: &Layout, formulation: &'static str) -> Self {
        let kind = |j: usize| {
            let blocks = [
                (layout.p(), ColumnKind::Position),
                (layout.v(), ColumnKind::Velocity),
                (layout.r(), ColumnKind::Dynamic),
                (layout.w(), ColumnKind::Auxiliary),
                (layout.s(), ColumnKind::Contact),
                (layout.lambda(), ColumnKind::Multiplier),
                (layout.mu(), ColumnKind::Multiplier),
                (layout.a(), ColumnKind::Acceleration),
            ];
            blocks.into_iter().find(|(block, _)| block.contains(&j)).map_or(ColumnKind::Variable, |(_, kind)| kind)
        };
        ShownVariables { shown: layout.shown().into_iter().map(|j| (j, kind(j))).collect(), formulation }
    }

    /// The states, then the derivatives that are unknowns; those behind serve the solver only.
    pub fn of_general(unknowns: &Unknowns, states: usize) -> Self {
        let kind = |j: usize| if j < states { ColumnKind::State } else { ColumnKind::Derivative };
        ShownVariables { shown: (0..unknowns.dim).map(|j| (j, kind(j))).collect(), formulation: unknowns.form.name() }
    }
}
