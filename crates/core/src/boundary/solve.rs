//! Solve boundary value problems: the regularised system, conditions, a guess, meshes until two of them agree.

use super::curve::{CorrectionMeasure, Curve};
use super::ends::{EndCondition, EndConditions};
use super::error::{BoundaryError, Unmet, counted};
use super::guess::{self, Guess, GuessKind};
use super::mesh::{FEWEST, differences, halved, redistributed};
use super::newton::{Collocated, Converged, Cost, Stuck};
use super::problem::{BoundaryProblem, General, Periodic};
use super::scheme::{K, SymmetricScheme};
use super::solution::{BoundaryAccount, BoundarySolution, ResultShape, kept, solution};
use crate::dae::{Formulas, RegularisedSystem, System, Unknowns};
use crate::error::BadOption;
use crate::explicit_time::Timetable;
use crate::graph::Interpreted;
use crate::initial::{BadInitial, Initial, Residual, Start};
use crate::linalg::RankRule;
use crate::motion::consistent::InitialisationError;
use crate::motion::{Form, Layout, Mechanism};
use crate::options::Options;
use crate::problem::Class;
use crate::solution::{Ended, Solution};
use crate::statistics::Statistics;
use crate::tolerance::Tolerance;
use crate::verify::Verifier;

/// Intervals of the first mesh.
const FIRST: usize = 10;
/// First meshes that are tried with one guess.
const FIRST_MESHES: usize = 3;
/// Most meshes.
const MOST_MESHES: usize = 30;
/// A mesh is good if its halves change the solution by at most so many tolerances: what is left then is much smaller.
const AGREED: f64 = 4.0;
/// Bytes that the linearised intervals may take.
const MEMORY: usize = 1 << 30;
/// Singular values of the conditions below this part of the largest count as zero.
const RANK: f64 = 1e-10;
/// A solution that moves by less than this part of its size is at rest.
const AT_REST: f64 = 1e-6;

/// A class of systems with boundary value problems.
pub trait Bounded: Class {
    /// Solve a problem. `go_on` is asked before every iteration, with the number of those before.
    fn solve_between(
        problem: &BoundaryProblem<Self>,
        options: &Options,
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<BoundarySolution<Self::Layout>, BoundaryError<Self::Layout>>;
}

/// Solve a boundary value problem by symmetric collocation of the system without hidden constraints.
pub fn solve_boundary<S: Bounded + ?Sized>(
    problem: &BoundaryProblem<S>,
    options: &Options,
) -> Result<BoundarySolution<S::Layout>, BoundaryError<S::Layout>> {
    S::solve_between(problem, options, &mut |_| true)
}

impl Bounded for System {
    fn solve_between(
        problem: &BoundaryProblem<Self>,
        options: &Options,
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<BoundarySolution, BoundaryError> {
        let general = general(problem.system.clone(), problem)?;
        let search = BoundarySearch::new(&general, options, ResultShape::all)?;
        kept(search.solve(go_on), &options.save)
    }
}

impl Bounded for dyn Mechanism + '_ {
    fn solve_between(
        problem: &BoundaryProblem<Self>,
        options: &Options,
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<BoundarySolution<Layout>, BoundaryError<Layout>> {
        let layout = Layout::new(problem.system.sizes(), Form::StrangenessFree, false);
        let of_motion = |_: &Unknowns| layout.clone();
        let formulas = problem.system.formulas().ok_or(BoundaryError::NoFormulas)?;
        let names = layout.variable_names(&problem.system.names());
        let system = System::new(&Formulas::of_motion(&formulas), Interpreted);
        let states = system.formulas.states.len();
        let at = |given: &Initial| -> Result<Initial, BadInitial> {
            let mut given = given.clone();
            for (block, n) in [(&mut given.p, layout.p().len()), (&mut given.v, layout.v().len())] {
                if block.is_empty() {
                    *block = vec![Start::Unknown; n];
                }
            }
            if let Some(condition) = given.conditions.first() {
                return Err(BadInitial::OtherCondition { name: condition.name.clone() });
            }
            let values = given.values(&layout, &names).map_err(|error| match error {
                InitialisationError::Given(bad) => bad,
                _ => BadInitial::OtherBlock { block: "blocks of another length" },
            })?;
            let shown = layout.shown();
            let mut general = Initial { t: given.t, states: vec![Start::Unknown; states], ..Initial::default() };
            let counted = layout.dim() - layout.a().len();
            general.states.iter_mut().zip(&shown[..counted]).for_each(|(state, &j)| *state = values[j]);
            Ok(general)
        };
        let plain = BoundaryProblem {
            system: &system,
            initial: at(&problem.initial)?,
            last: at(&problem.last)?,
            conditions: problem.conditions.clone(),
            periodic: problem.periodic.clone(),
            free_end: problem.free_end,
            find: problem.find.clone(),
            near: problem.near.clone(),
        };
        let general = general(system.clone(), &plain).map_err(|e: BoundaryError| e.map_layout(of_motion))?;
        let search = BoundarySearch::new(&general, options, |of| {
            // parameters that are found stand behind what the layout knows
            ResultShape::named(of, names.iter().chain(&general.find).cloned().collect())
        });
        let found = search.and_then(|search| search.solve(go_on)).map_err(|e| e.map_layout(of_motion));
        let found = found
            .map(|found| BoundarySolution { solution: found.solution.map_layout(of_motion), account: found.account });
        kept(found, &options.save)
    }
}

/// A problem with parameters that are sought as states, and something said about every state.
fn general(system: System, problem: &BoundaryProblem<System>) -> Result<General, BoundaryError> {
    let states = system.formulas.states.len();
    let mut ends = [problem.initial.clone(), problem.last.clone()];
    for end in &mut ends {
        if end.states.is_empty() {
            end.states = vec![Start::Unknown; states];
        }
    }
    let known = &system.formulas.parameters;
    for name in &problem.find {
        if !known.iter().any(|(parameter, _)| parameter == name) {
            let known = known.iter().map(|(name, _)| name.clone()).collect();
            return Err(BoundaryError::NoSuchParameter { name: name.clone(), known });
        }
    }
    let sought: Vec<(String, f64)> = known.iter().filter(|(name, _)| problem.find.contains(name)).cloned().collect();
    for (k, end) in ends.iter_mut().enumerate() {
        let guess = |value: &f64| if k == 0 { Start::Guess(*value) } else { Start::Unknown };
        end.states.extend(sought.iter().map(|(_, value)| guess(value)));
    }
    let system =
        if sought.is_empty() { system } else { system.of_the_same_kind(&system.formulas.with_sought(&problem.find)) };
    let [mut initial, mut last] = ends;
    let mut conditions = Vec::new();
    for (is_last, end) in [(false, &mut initial), (true, &mut last)] {
        for condition in &end.conditions {
            let Residual::Formula(residual) = condition.residual else {
                return Err(BadInitial::OtherCondition { name: condition.name.clone() }.into());
            };
            conditions.push(EndCondition::of_system(
                condition,
                residual,
                &problem.system.formulas,
                &problem.find,
                is_last,
            ));
        }
        // their formulas belong to the graph without what is sought
        if !sought.is_empty() {
            end.conditions.clear();
        }
    }
    conditions.extend(problem.conditions.iter().cloned());
    Ok(General {
        system,
        initial,
        last,
        conditions,
        periodic: problem.periodic.clone(),
        free_end: problem.free_end,
        find: sought.into_iter().map(|(name, _)| name).collect(),
        near: problem.near.clone(),
    })
}

/// A boundary value problem while it is solved.
pub(super) struct BoundarySearch<'s> {
    pub(super) problem: &'s General,
    options: Options,
    pub(super) system: RegularisedSystem,
    pub(super) scheme: SymmetricScheme,
    pub(super) conditions: EndConditions,
    start: Vec<f64>,
    pub(super) tolerances: Vec<(f64, f64)>,
    shape: ResultShape,
    t0: f64,
    length: f64,
    /// longest intervals in τ: (from, length)
    panels: Vec<(f64, f64)>,
    phase: bool,
    cost: Cost,
    meshes: usize,
}

impl<'s> BoundarySearch<'s> {
    fn new(
        problem: &'s General,
        options: &Options,
        shape: impl FnOnce(&RegularisedSystem) -> ResultShape,
    ) -> Result<Self, BoundaryError> {
        options.check()?;
        let (t0, tend) = (problem.initial.t, problem.last.t);
        if !tend.is_finite() || !t0.is_finite() {
            let value = if tend.is_finite() { t0 } else { tend };
            return Err(BadOption::OutOfRange { name: "tend", value, expected: "it must be finite" }.into());
        }
        if t0 == tend {
            return Err(BoundaryError::NoInterval { t: t0 });
        }
        problem.initial.check_names(&problem.system)?;
        problem.last.check_names(&problem.system)?;
        for (name, _) in &problem.near {
            if !problem.system.names().contains(name) {
                let known = problem.system.names().to_vec();
                return Err(BoundaryError::UnknownName { condition: "curve".into(), name: name.clone(), known });
            }
        }
        let ranks = options.ranks();
        let (system, start) = RegularisedSystem::new(&problem.system, &problem.initial, ranks)
            .map_err(|e| BoundaryError::Start(Box::new(e)))?;
        check_end(problem, ranks)?;
        let own = system.own();
        let named = options.for_unknowns(&system.names()[..own]);
        let mut tolerance = named.map_or_else(|| options.tolerance.clone(), |named| named.tolerance);
        if let Tolerance::PerComponent(list) = &mut tolerance
            && let Some(&last) = list.last()
        {
            // parameters that are sought, and multipliers of contact equations, have none of their own
            list.resize(list.len().max(own), last);
        }
        let tolerances = tolerance.pairs_where(&vec![true; own]).map_err(BadOption::from)?;
        let shape = shape(&system);
        let mut search = BoundarySearch {
            problem,
            options: options.clone(),
            system,
            scheme: SymmetricScheme::new(),
            conditions: EndConditions::default(),
            start,
            tolerances,
            shape,
            t0,
            length: tend - t0,
            panels: Vec::new(),
            phase: false,
            cost: Cost::default(),
            meshes: 0,
        };
        search.look_at_times()?;
        search.collect_conditions()?;
        Ok(search)
    }

    /// Where formulas of time jump, and how they are resolved.
    fn look_at_times(&mut self) -> Result<(), BoundaryError> {
        let hmax = self.options.hmax.unwrap_or(f64::INFINITY);
        let (t0, tend) = (self.t0, self.t0 + self.length);
        let mut panels = Vec::new();
        if self.length > 0.0
            && let Some(mut table) = Timetable::of_system(self.system.system(), (t0, tend))
        {
            if let Some(crossing) = table.first_crossing() {
                self.length -= crossing.to - self.t0;
                self.t0 = crossing.to;
            }
            let mut t = self.t0;
            while t < tend {
                let end = table.limit(t, tend - t).min(tend).min(t + hmax);
                if !(end > t) {
                    break;
                }
                panels.push(((t - self.t0) / self.length, (end - t) / self.length));
                t = end;
                if t < tend
                    && let Some(crossing) = table.crossing(t)
                {
                    return Err(BoundaryError::Jumps { t: crossing.to, changed: crossing.changed });
                }
            }
        }
        if panels.is_empty() {
            panels.push((0.0, (hmax / self.length.abs()).min(1.0)));
        }
        self.panels = panels;
        Ok(())
    }

    fn longest(&self, tau: f64) -> f64 {
        let k = self.panels.partition_point(|(from, _)| *from <= tau).max(1) - 1;
        self.panels[k].1
    }

    fn collect_conditions(&mut self) -> Result<(), BoundaryError> {
        let (problem, of) = (self.problem, &self.system);
        let own = problem.system.dim();
        let names = problem.system.names();
        for (is_last, end) in [(false, &problem.initial), (true, &problem.last)] {
            for (j, start) in problem.starts(end).iter().enumerate() {
                if let Start::Fixed(value) = start {
                    let name = if j < own { names[j].clone() } else { format!("{}'", names[j - own]) };
                    self.conditions.fix(of, is_last, &name, *value);
                }
            }
        }
        for condition in &problem.conditions {
            self.conditions.formula(of, condition)?;
        }
        let others = self.conditions.len();
        let sought = &problem.find;
        match &problem.periodic {
            Periodic::No => {}
            Periodic::All => {
                (0..own).filter(|&j| !sought.contains(&names[j])).for_each(|j| self.conditions.same(j, &names[j]));
            }
            Periodic::Of(list) => {
                for name in list {
                    let Some(j) = names.iter().position(|n| n == name) else {
                        let known = names.to_vec();
                        let condition = "periodic".into();
                        return Err(BoundaryError::UnknownName { condition, name: name.clone(), known });
                    };
                    self.conditions.same(j, name);
                }
            }
        }
        let periodic = problem.periodic == Periodic::All;
        if periodic && problem.free_end && self.system.autonomous() && others < 1 + sought.len() {
            // a periodic solution may begin anywhere
            let (n, own) = (self.system.dim(), self.system.own());
            let mut direction = vec![0.0; n];
            if self.system.evaluate(self.t0, &self.start).is_ok() {
                for (j, d) in direction.iter_mut().enumerate().take(own) {
                    *d = self.system.rate_row(j).map_or(0.0, |row| self.system.outputs[row]);
                }
            }
            self.conditions.phase(direction, self.start.clone());
            self.phase = true;
        }
        Ok(())
    }

    fn most_intervals(&self) -> usize {
        let n = self.system.dim();
        let bytes = 8 * (K * n) * (K * n + 2 * n + self.system.values.d);
        (MEMORY / bytes.max(1)).clamp(8 * FIRST, usize::MAX).min((self.options.max_steps as usize).max(FEWEST))
    }

    fn collocate(&mut self, guess: Curve, go_on: &mut dyn FnMut(u64) -> bool) -> Result<Converged, Stuck> {
        self.meshes += 1;
        let tolerance = self.options.rank_tolerance.unwrap_or(RANK);
        Collocated {
            system: &mut self.system,
            scheme: &self.scheme,
            conditions: &self.conditions,
            measure: CorrectionMeasure { tolerances: &self.tolerances },
            with_length: self.problem.free_end,
            tolerance,
            cost: &mut self.cost,
            go_on,
        }
        .solve(guess)
    }

    fn solve(mut self, go_on: &mut dyn FnMut(u64) -> bool) -> Result<BoundarySolution, BoundaryError> {
        let needed = self.system.values.d + usize::from(self.problem.free_end);
        let periodic = self.problem.periodic != Periodic::No;
        let mut first_failure = None;
        let mut begun = None;
        'guesses: for kind in guess::kinds(self.problem, periodic, self.system.autonomous()) {
            let interval = (self.t0, self.length);
            let Some(guess) = Guess::new(kind, self.problem, &self.system, &self.start, interval) else { continue };
            for k in 0..FIRST_MESHES {
                let mesh = self.even(FIRST << k);
                let curve = guess.on(&self.scheme, self.system.dim(), interval, mesh);
                match self.collocate(curve, go_on) {
                    Ok(found) => {
                        begun = Some((found, kind));
                        break 'guesses;
                    }
                    Err(Stuck::Interrupted) => return Err(BoundaryError::Interrupted),
                    Err(stuck) => {
                        let singular = matches!(stuck, Stuck::Singular { .. });
                        first_failure.get_or_insert(stuck);
                        if singular {
                            break;
                        }
                    }
                }
            }
            // fewer conditions than needed are not a matter of guesses
            if self.conditions.len() < needed {
                break;
            }
        }
        let Some((found, kind)) = begun else {
            return Err(match first_failure {
                Some(stuck) => self.failed(stuck, needed),
                None => BoundaryError::Undefined { t: self.t0 },
            });
        };
        self.refine(found, kind, needed, go_on)
    }

    /// Intervals of the same length, or shorter where formulas of time ask for it.
    fn even(&self, count: usize) -> Vec<f64> {
        let mesh: Vec<f64> = (0..=count).map(|i| i as f64 / count as f64).collect();
        if self.panels.len() < 2 && self.panels[0].1 >= 1.0 / count as f64 {
            return mesh;
        }
        redistributed(&mesh, &vec![1.0; count], 1.0, |tau| self.longest(tau))
    }

    /// Meshes until one and its halves agree.
    fn refine(
        mut self,
        mut coarse: Converged,
        kind: GuessKind,
        needed: usize,
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<BoundarySolution, BoundaryError> {
        let most = self.most_intervals();
        let mut worst = (0.0, f64::INFINITY);
        for _ in 0..MOST_MESHES {
            let mesh = halved(&coarse.curve.mesh);
            if mesh.len() > most {
                break;
            }
            let fine = match self.collocate(coarse.curve.on(&self.scheme, mesh), go_on) {
                Ok(fine) => fine,
                Err(stuck) => return Err(self.failed(stuck, needed)),
            };
            let errors = differences(&self.scheme, &coarse.curve, &fine.curve, &self.tolerances);
            let shift = self.shift_of_end(&coarse.curve, &fine.curve);
            let top = errors.iter().copied().enumerate().fold((0, shift), |w, (i, e)| if e > w.1 { (i, e) } else { w });
            worst = (coarse.curve.time(coarse.curve.mesh[top.0]), top.1);
            if !worst.1.is_finite() {
                break;
            }
            if worst.1 <= AGREED {
                return self.finish(fine, kind, needed, worst.1);
            }
            let mesh = redistributed(&coarse.curve.mesh, &errors, 1.0, |tau| self.longest(tau));
            let next = if mesh.len() < fine.curve.mesh.len() / 3 { halved(&mesh) } else { mesh };
            if next.len() > most {
                break;
            }
            coarse = match self.collocate(fine.curve.on(&self.scheme, next), go_on) {
                Ok(found) => found,
                // the halves were good: go on with them
                Err(Stuck::Interrupted) => return Err(BoundaryError::Interrupted),
                Err(_) => fine,
            };
        }
        let (t, error) = worst;
        let intervals = coarse.curve.intervals();
        let partial = Box::new(self.result(&coarse.curve, kind.name(), Ended::ByFailure));
        Err(BoundaryError::TooManyIntervals { intervals, t, error, partial })
    }

    fn shift_of_end(&self, a: &Curve, b: &Curve) -> f64 {
        let (rtol, atol) = self.tolerances.iter().fold((1.0_f64, 1.0_f64), |w, t| (w.0.min(t.0), w.1.min(t.1)));
        (a.length - b.length).abs() / (atol + rtol * b.length.abs())
    }

    fn finish(
        mut self,
        found: Converged,
        kind: GuessKind,
        needed: usize,
        difference: f64,
    ) -> Result<BoundarySolution, BoundaryError> {
        let Converged { curve, determined, ends } = found;
        let unmet = self.contradiction(&curve, &ends);
        if !unmet.is_empty() {
            let partial = Box::new(self.result(&curve, kind.name(), Ended::ByFailure));
            return Err(BoundaryError::Contradictory { given: ends.len(), needed, conditions: unmet, partial });
        }
        let at_end = curve.point(curve.intervals() - 1, K);
        let names = self.system.names();
        let value = |name: &String| names.iter().position(|n| n == name).map(|j| (name.clone(), at_end[j]));
        let sizes = curve.sizes();
        let start = curve.point(0, 0);
        let moves = curve.y.chunks_exact(curve.n).any(|y| {
            (0..self.system.own()).any(|j| (y[j] - start[j]).abs() > AT_REST * sizes[j].max(self.tolerances[j].1))
        });
        let residual = |(name, residual): (&String, &f64)| Unmet { name: name.clone(), residual: *residual };
        let account = BoundaryAccount {
            degrees: self.system.values.d,
            needed,
            conditions: self.conditions.names.iter().zip(&ends).map(residual).collect(),
            phase: self.phase,
            conditioning: determined.conditioning,
            intervals: curve.intervals(),
            meshes: self.meshes,
            iterations: self.cost.iterations,
            difference,
            guess: kind.name(),
            found: self.problem.find.iter().filter_map(value).collect(),
            end: self.problem.free_end.then(|| curve.time(1.0)),
            at_rest: !moves,
        };
        let solution = self.result(&curve, kind.name(), Ended::AtEnd);
        Ok(BoundarySolution { solution, account })
    }

    /// A curve as a solution.
    pub(super) fn result(&mut self, curve: &Curve, guess: &str, ended: Ended) -> Solution<Unknowns> {
        let own = self.system.own();
        let tolerances: Vec<(f64, f64)> = self
            .shape
            .names
            .iter()
            .map(|name| {
                let place = self.system.names()[..own].iter().position(|n| n == name);
                place.map_or((1e-3, 1e-3), |j| self.tolerances[j])
            })
            .collect();
        let verifier = self.options.verify.then(|| {
            let system = &self.problem.system;
            Verifier::new(system, &self.shape.names, &tolerances, curve.length.abs())
        });
        let intervals = curve.intervals() as u64;
        let statistics = Statistics {
            steps: intervals,
            attempts: self.meshes as u64,
            residuals: self.cost.evaluations,
            jacobians: self.cost.linearisations,
            decompositions: self.cost.linearisations,
            solves: self.cost.iterations,
            ..Statistics::default()
        };
        let decisions = format!(
            "boundary value problem: symmetric collocation of degree {K} on {intervals} intervals after {} meshes and {} Newton iterations, beginning with {guess}; {}, {}{}",
            self.meshes,
            self.cost.iterations,
            counted(self.system.values.d, "degree of freedom", "degrees of freedom"),
            counted(self.system.constraints(), "constraint", "constraints"),
            if self.phase { "; the phase of the periodic solution is that of the initial values" } else { "" },
        );
        let of = (statistics, decisions);
        solution(&mut self.system, &self.scheme, curve, &self.shape, verifier, of, ended)
    }
}

/// Is what is fixed at the end consistent with the equations there?
fn check_end(problem: &General, ranks: RankRule) -> Result<(), BoundaryError> {
    let starts = problem.starts(&problem.last);
    if problem.free_end || !starts.iter().any(|start| matches!(start, Start::Fixed(_))) {
        return Ok(());
    }
    let mut last = problem.last.clone();
    last.conditions.clear();
    match crate::dae::characterise(&problem.system, &last, crate::dae::Depth { ranks, ..Default::default() }) {
        Err(error @ crate::dae::AnalysisError::FixedInconsistent { .. }) => {
            Err(BoundaryError::End(Box::new(error.into())))
        }
        _ => Ok(()),
    }
}

impl Initial {
    /// Nothing but a time: everything is to be found.
    pub fn at(t: f64) -> Self {
        Initial { t, ..Initial::default() }
    }
}
