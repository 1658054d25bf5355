//! The projected formulations `psf`, `psf+i` and `p1`: constraints of all levels, and those differential equations that they leave open.
//!
//! Unknowns are those of [`Layout`], a, w, λ, μ, r, v, s, p. Rows, in this order:
//!
//! ```text
//! M a − f + (GZ)ᵀλ + (HZ)ᵀμ,  d,  S (gII, hI),  U₂ᵀ (λ, μ),  r' − b,  S (gI, HZv + h),  S_v (v' − a),  S (c, g),  S_p (p' − Zv)
//! ```
//!
//! S keeps independent combinations of constraints, U₂ᵀ(λ, μ) = 0 makes undetermined multipliers smallest, S_p and S_v span ker G and
//! ker \[GZ; HZ\], along c = 0 where there are contact variables. `p1` has neither gII, hI nor S_v: v' − a stands in full, and λ, μ are of index 2. `psf+i` takes gI, HZv + h, c, g and the
//! invariants e as one block of constraints on (v, s, p), because an invariant restricts the positions where it does not restrict the velocities,
//! as energy at a turning point. Steinbrecher, thesis (2006), 4.6.9, 4.6.12, 4.6.15; preprint 742-02 (2002), algorithm 27.

use super::Selectors;
use super::selector::{SelectorGradients, Subspace};
use crate::dae::{Dae, Pencil};
use crate::error::{BadOption, ConstraintBlock, StepFailure};
use crate::linalg::{Jacobian, Matrix, RankRule};
use crate::method::{StartFailure, State};
use crate::motion::{Form, Layout, Mechanism, ReducedArray, Undefined};
use crate::statistics::Residuals;

/// Residuals of dropped constraints above this, and above the next multiple of those of the others, mean a contradiction.
const DISAGREEMENT: f64 = 1e-6;
const MORE_THAN_KEPT: f64 = 1e3;

/// Which of the projected formulations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// pEoM1.
    IndexOne,
    /// psfEoM.
    StrangenessFree,
    /// psfEoM with invariants.
    WithInvariants,
}

/// What rows are combined of.
enum Source {
    /// Rows of the array.
    Array,
    /// Unknowns.
    Unknowns,
    /// x' − k, unknowns and rows of the array.
    Derivatives,
}

/// Rows that are combinations S of others.
struct CombinedRows {
    first: usize,
    source: Source,
    from: Vec<usize>,
    unknowns: Vec<usize>,
    S: Matrix,
    /// number of the gradients and the subspace by which S is chosen; the identity if absent
    chosen: Option<(usize, Subspace)>,
}

/// A projected formulation at work.
pub(super) struct Projected<'p> {
    kind: Kind,
    selectors: Selectors,
    array: Box<dyn ReducedArray + 'p>,
    layout: Layout,
    rows: Vec<f64>,
    F: Jacobian,
    /// of velocity level, and of position level or of both with invariants
    gradients: [SelectorGradients; 2],
    parts: Vec<CombinedRows>,
    algebraic: Vec<bool>,
    invariants: Vec<bool>,
    /// accepted steps since the last choice
    steps: u32,
    /// has a step been tried since the last accepted one?
    attempted: bool,
    /// has the point jumped?
    jumped: bool,
    choices: u64,
    residuals: Residuals,
}

/// Velocity level and position level.
const VELOCITY: usize = 0;
const POSITION: usize = 1;

impl<'p> Projected<'p> {
    /// At a consistent point, with selectors chosen there.
    pub fn new(
        kind: Kind,
        selectors: Selectors,
        mechanism: &'p (dyn Mechanism + '_),
        at: &State,
        ranks: RankRule,
    ) -> Result<Self, StartFailure> {
        let with_invariants = kind == Kind::WithInvariants;
        if with_invariants && mechanism.sizes().invariants == 0 {
            return Err(BadOption::NoInvariants.into());
        }
        if selectors == Selectors::EverySteps(0) {
            let expected = "selectors are kept for one step at least";
            return Err(BadOption::OutOfRange { name: "steps between selectors", value: 0.0, expected }.into());
        }
        let form = if kind == Kind::IndexOne { Form::IndexOne } else { Form::StrangenessFree };
        let array = mechanism.array(form, with_invariants);
        let layout = array.layout().clone();
        let l = &layout;
        let velocity_rows = l.row_g1().start..l.row_h().end;
        let velocity =
            SelectorGradients::new(ConstraintBlock::Velocity, velocity_rows.collect(), l.v().collect(), &l.s(), ranks);
        let position = if with_invariants {
            let (rows, unknowns) = (l.row_g1().start..l.row_g().end, l.v().start..l.p().end);
            SelectorGradients::new(ConstraintBlock::Velocity, rows.collect(), unknowns.collect(), &l.s(), ranks)
        } else {
            let (rows, unknowns) = (l.row_contact().start..l.row_g().end, l.s().start..l.p().end);
            SelectorGradients::new(ConstraintBlock::Position, rows.collect(), unknowns.collect(), &l.s(), ranks)
        };
        let mut system = Projected {
            rows: vec![0.0; l.rows()],
            F: array.new_jacobian(),
            gradients: [velocity, position],
            parts: Vec::new(),
            algebraic: vec![true; l.dim()],
            invariants: vec![false; l.dim()],
            steps: 0,
            attempted: false,
            jumped: false,
            choices: 0,
            residuals: Residuals::default(),
            kind,
            selectors,
            array,
            layout,
        };
        let (t, x) = (at.t, &at.x[..system.layout.dim()]);
        system.keep_invariants(t, x).map_err(|_| StepFailure::Undefined { t })?;
        system.linearise(t, x)?;
        system.residuals = system.layout.residuals(&system.rows);
        system.choose(t, true)?;
        system.arrange();
        system.refresh();
        Ok(system)
    }

    /// Write down which rows there are, for the ranks at hand.
    fn arrange(&mut self) {
        let l = &self.layout;
        let [velocity, position] = &self.gradients;
        let chosen = |q: usize, subspace| Some((q, subspace));
        let levels = |rows: [std::ops::Range<usize>; 2]| rows.into_iter().flatten().collect::<Vec<_>>();
        let rate = |j: usize| {
            if l.v().contains(&j) {
                l.row_acceleration().start + j - l.v().start
            } else {
                l.row_kinematics().start + j - l.p().start
            }
        };
        #[allow(clippy::type_complexity)] // a table, written out where it is read
        let mut parts: Vec<(Source, Vec<usize>, Vec<usize>, Option<(usize, Subspace)>)> = vec![
            (Source::Array, levels([l.row_dynamics(), l.row_auxiliary()]), vec![], None),
            (Source::Unknowns, vec![], levels([l.lambda(), l.mu()]), chosen(VELOCITY, Subspace::Dropped)),
            (Source::Derivatives, l.row_dynamic().collect(), l.r().collect(), None),
            (Source::Array, position.rows().to_vec(), vec![], chosen(POSITION, Subspace::Kept)),
            (
                Source::Derivatives,
                position.moving().map(rate).collect(),
                position.moving().collect(),
                chosen(POSITION, Subspace::Free),
            ),
        ];
        if self.kind != Kind::IndexOne {
            let rows = levels([l.row_g2(), l.row_h1()]);
            parts.push((Source::Array, rows, vec![], chosen(VELOCITY, Subspace::Kept)));
        }
        if self.kind != Kind::WithInvariants {
            parts.push((Source::Array, velocity.rows().to_vec(), vec![], chosen(VELOCITY, Subspace::Kept)));
            let free = (self.kind == Kind::StrangenessFree).then_some((VELOCITY, Subspace::Free));
            parts.push((Source::Derivatives, l.row_acceleration().collect(), l.v().collect(), free));
        }
        let mut first = 0;
        for (source, from, unknowns, chosen) in parts {
            let n = from.len().max(unknowns.len());
            let m = chosen.map_or(n, |(q, subspace): (usize, _)| self.gradients[q].dimension(subspace));
            let mut S = Matrix::zeros(m, n);
            (0..m.min(n)).for_each(|i| S[(i, i)] = 1.0);
            if matches!(source, Source::Derivatives) {
                self.algebraic[first..first + m].fill(false);
            }
            if chosen == Some((POSITION, Subspace::Kept)) && !position.redundant() {
                for (i, row) in from.iter().enumerate() {
                    self.invariants[first + i] = l.row_invariants().contains(row);
                }
            }
            self.parts.push(CombinedRows { first, source, from, unknowns, S, chosen });
            first += m;
        }
        assert_eq!(first, l.dim(), "{first} rows for {} unknowns", l.dim());
    }
}

impl Projected<'_> {
    /// Invariants keep the values that they have at a point.
    fn keep_invariants(&mut self, t: f64, x: &[f64]) -> Result<(), Undefined> {
        let e = self.layout.row_invariants();
        if !e.is_empty() {
            self.rows[e.clone()].fill(0.0);
            self.array.set_invariants(&self.rows[e.clone()]);
            self.array.evaluate(t, x, &mut self.rows)?;
            self.array.set_invariants(&self.rows[e]);
        }
        Ok(())
    }

    /// Rows and their Jacobian at a point, and the gradients of the constraints.
    fn linearise(&mut self, t: f64, x: &[f64]) -> Result<(), StepFailure> {
        let undefined = |_| StepFailure::Undefined { t };
        self.array.evaluate(t, x, &mut self.rows).map_err(undefined)?;
        self.array.jacobian(t, x, &self.rows, &mut self.F).map_err(undefined)?;
        for gradients in &mut self.gradients {
            gradients.take(&self.F);
        }
        Ok(())
    }

    /// Choose selectors for the gradients at hand.
    fn choose(&mut self, t: f64, first: bool) -> Result<(), StepFailure> {
        let [velocity, position] = &mut self.gradients;
        position.choose(t, first)?;
        // one selector serves both levels where Z = I and there are no nonholonomic constraints
        if velocity.equal(position) {
            velocity.follow(position);
        } else {
            velocity.choose(t, first)?;
        }
        self.steps = 0;
        self.choices += 1;
        Ok(())
    }

    /// Put the chosen selectors into the rows.
    fn refresh(&mut self) {
        for part in &mut self.parts {
            if let Some((q, subspace)) = part.chosen {
                self.gradients[q].basis(subspace, &mut part.S);
            }
        }
    }

    /// Are new selectors due, at the gradients at hand?
    fn due(&mut self) -> bool {
        match self.selectors {
            _ if self.jumped => true,
            Selectors::EveryJacobian => true,
            Selectors::Constant => false,
            Selectors::EverySteps(most) => {
                self.attempted || self.steps >= most || self.gradients.iter_mut().any(SelectorGradients::strayed)
            }
        }
    }

    /// Constraints that were dropped as redundant must still hold with the others.
    fn check_agreement(&self, t: f64) -> Result<(), StepFailure> {
        for part in self.parts.iter().filter(|part| matches!(part.source, Source::Array)) {
            let Some((q, Subspace::Kept)) = part.chosen else { continue };
            if !self.gradients[q].redundant() {
                continue;
            }
            let combined = |S: &[f64]| part.from.iter().zip(S).map(|(&i, s)| s * self.rows[i]).sum::<f64>();
            let kept: f64 = (0..part.S.rows()).map(|i| combined(part.S.row(i)).powi(2)).sum();
            let all: f64 =
                part.from.iter().enumerate().map(|(k, &i)| (self.gradients[q].unit(k) * self.rows[i]).powi(2)).sum();
            let dropped = (all - kept).max(0.0).sqrt();
            if dropped > DISAGREEMENT && dropped > MORE_THAN_KEPT * kept.sqrt() {
                let block = if part.from.first().is_some_and(|&i| i >= self.layout.row_contact().start) {
                    ConstraintBlock::Position
                } else if part.from.first().is_some_and(|&i| i < self.layout.row_h1().end) {
                    ConstraintBlock::Acceleration
                } else {
                    ConstraintBlock::Velocity
                };
                return Err(StepFailure::Contradiction { t, block, residual: dropped });
            }
        }
        Ok(())
    }
}

impl Dae for Projected<'_> {
    fn dim(&self) -> usize {
        self.layout.dim()
    }

    fn new_pencil(&self) -> Pencil {
        let n = self.dim();
        // selectors are full
        Pencil::dense(n, n)
    }

    fn algebraic(&self, row: usize) -> bool {
        self.algebraic[row]
    }

    fn quasilinear(&self) -> bool {
        true
    }

    fn residual(&mut self, _: usize, t: f64, x: &[f64], xdot: &[f64], r: &mut [f64]) -> Result<(), Undefined> {
        self.attempted = true;
        self.array.evaluate(t, x, &mut self.rows)?;
        for part in &self.parts {
            for (i, r) in r[part.first..part.first + part.S.rows()].iter_mut().enumerate() {
                let S = part.S.row(i).iter();
                *r = match part.source {
                    Source::Array => S.zip(&part.from).map(|(s, &k)| s * self.rows[k]).sum(),
                    Source::Unknowns => S.zip(&part.unknowns).map(|(s, &j)| s * x[j]).sum(),
                    Source::Derivatives => S
                        .zip(part.unknowns.iter().zip(&part.from))
                        .map(|(s, (&j, &k))| s * (xdot[j] - self.rows[k]))
                        .sum(),
                };
            }
        }
        Ok(())
    }

    fn pencil(&mut self, t: f64, x: &[f64], _: &[f64], out: &mut Pencil) -> Result<(), StepFailure> {
        self.linearise(t, x)?;
        if self.due() {
            self.choose(t, false)?;
            self.refresh();
        }
        (self.attempted, self.jumped) = (false, false);
        out.clear();
        let Pencil { E, A } = out;
        for part in &self.parts {
            for i in 0..part.S.rows() {
                let (row, S) = (part.first + i, part.S.row(i));
                let sign = if matches!(part.source, Source::Derivatives) { -1.0 } else { 1.0 };
                for (&s, &k) in S.iter().zip(&part.from).filter(|(s, _)| **s != 0.0) {
                    A.add_row(row, sign * s, &self.F, k);
                }
                for (&s, &j) in S.iter().zip(&part.unknowns) {
                    if matches!(part.source, Source::Unknowns) {
                        A.put((row, j), -s);
                    } else {
                        E.put((row, j), s);
                    }
                }
            }
        }
        Ok(())
    }

    fn accepted(&mut self, _: usize, t: f64, x: &mut [f64], _: &[f64]) -> Result<(), StepFailure> {
        self.attempted = false;
        self.steps += 1;
        self.array.evaluate(t, x, &mut self.rows).map_err(|_| StepFailure::Undefined { t })?;
        self.residuals = self.layout.residuals(&self.rows);
        self.check_agreement(t)
    }

    fn wants_pencil(&self) -> bool {
        matches!(self.selectors, Selectors::EverySteps(most) if self.steps >= most)
    }

    fn jumped(&mut self, t: f64, x: &[f64]) {
        self.jumped = true;
        if self.keep_invariants(t, x).is_ok() && self.array.evaluate(t, x, &mut self.rows).is_ok() {
            self.residuals = self.layout.residuals(&self.rows);
        }
    }

    fn looked_back(&mut self) {
        self.attempted = false;
    }

    fn invariant(&self, row: usize) -> bool {
        self.invariants[row]
    }

    fn residuals(&self) -> Residuals {
        self.residuals
    }

    fn multipliers_lag(&self) -> bool {
        true
    }

    fn in_error_norm(&self, unknown: usize) -> bool {
        // accelerations are bookkeeping
        unknown >= self.layout.a().end
    }

    fn recovered(&self, unknown: usize) -> bool {
        self.index(unknown) == 2
    }

    fn index(&self, unknown: usize) -> u8 {
        let multipliers = self.layout.sizes.holonomic + self.layout.sizes.nonholonomic;
        if self.kind == Kind::IndexOne && multipliers > 0 && unknown < self.layout.mu().end { 2 } else { 1 }
    }

    fn undetermined(&self) -> Vec<Vec<f64>> {
        let closure = self.parts.iter().filter(|part| matches!(part.source, Source::Unknowns));
        let vector = |(part, k): (&CombinedRows, usize)| {
            let mut x = vec![0.0; self.layout.dim()];
            part.unknowns.iter().zip(part.S.row(k)).for_each(|(&j, s)| x[j] = *s);
            x
        };
        closure.flat_map(|part| (0..part.S.rows()).map(move |k| (part, k))).map(vector).collect()
    }

    fn cause_of_failure(&self, t: f64) -> Option<StepFailure> {
        self.gradients.iter().find_map(|gradients| gradients.loss(t))
    }

    fn selections(&self) -> u64 {
        self.choices
    }

    fn decisions(&self) -> String {
        let [velocity, position] = &self.gradients;
        let kept = match self.selectors {
            Selectors::EveryJacobian => "until the next Jacobian".to_string(),
            Selectors::EverySteps(1) => "for one step".to_string(),
            Selectors::EverySteps(most) => format!("for {most} steps"),
            Selectors::Constant => "from the start".to_string(),
        };
        let freedom = match self.kind {
            Kind::WithInvariants => format!("{} differential equations", position.dimension(Subspace::Free)),
            Kind::StrangenessFree => format!(
                "{} kinematic and {} dynamic equations",
                position.dimension(Subspace::Free),
                velocity.dimension(Subspace::Free)
            ),
            Kind::IndexOne => format!("{} kinematic equations", position.dimension(Subspace::Free)),
        };
        format!(
            "{freedom} selected, selectors kept {kept}, ranks of velocity and position level [{}, {}] of [{}, {}]",
            velocity.rank(),
            position.rank(),
            velocity.rows().len(),
            position.rows().len()
        )
    }
}
