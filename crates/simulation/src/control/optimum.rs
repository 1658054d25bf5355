//! The optimal course of a linear-quadratic problem, with the modes of a sequence, as data and as a run.

use super::facts::plant;
use super::linearised::{ControlMatrices, DrivingTerm};
use super::transfers::linearised;
use crate::model::{Model, ModelSystem, SwitchedModel};
use daedal::Start;
use daedal::linalg::{Mat, RankRule};
use daedal_pencils::control::{
    ControlError, ControlPhase, OptimalPoint, SwitchedOptimum, SwitchedProblem, optimal_times,
};
use daedal_run::{
    Column, ColumnKind, Continuity, Ending, Header, LastPoint, ModeHistory, ModeRecord, PhaseRecord, Run, SwitchCause,
    SwitchRecord,
};

/// Points of the course that is kept.
const POINTS: usize = 200;

/// An optimal course.
pub struct OptimumFacts {
    /// Names of the modes in their order; empty without modes.
    pub sequence: Vec<String>,
    /// Start, switches, end.
    pub times: Vec<f64>,
    /// Were the times of the switches found?
    pub found_times: bool,
    /// Switches, from 1, at which a phase shrank to nothing.
    pub at_edge: Vec<usize>,
    /// Its cost.
    pub cost: f64,
    /// d cost / dτ of the switches.
    pub slopes: Vec<f64>,
    /// Names and values of states and inputs at the start.
    pub start: Vec<(String, f64)>,
    /// The same at the end.
    pub end: Vec<(String, f64)>,
    /// Given initial values that the optimum does not have: name, given, optimal.
    pub moved: Vec<(String, f64, f64)>,
    /// The course.
    pub run: Run,
}

/// Solve, if the file has a cost.
pub(super) fn examine(model: &Model, tend: Option<f64>, rule: RankRule) -> Option<Result<OptimumFacts, String>> {
    match &model.content.equations {
        ModelSystem::General(general) => {
            let control = general.control.as_deref()?;
            control.cost.as_ref()?;
            let part = ControlMatrices::new(&general.formulas, control, &general.initial);
            Some(part.and_then(|part| {
                let first = daedal::dae::FirstOrder::new(&general.formulas);
                let start = first.origin.iter().map(|&(state, order)| general.initial.start(state, order)).collect();
                Planned {
                    model,
                    tend,
                    parts: vec![part],
                    sequence: Vec::new(),
                    switches: Vec::new(),
                    free: false,
                    start,
                }
                .solve(rule)
            }))
        }
        ModelSystem::Modes(modes) => {
            let first = whole_control(model, modes)?;
            Some(first.and_then(|()| {
                let sequence =
                    modes.model.sequence.clone().ok_or(
                        "the modes of an optimum are not known: write `sequence` and `switches` into [control]",
                    )?;
                let initial = &modes.model.initial;
                if sequence.modes.first() != Some(&initial.mode) {
                    let name = &modes.model.modes[initial.mode].name;
                    return Err(format!("`sequence` must begin with {name}, the mode of [initial]"));
                }
                let parts =
                    sequence.modes.iter().map(|&k| linearised(model, modes, k)).collect::<Result<Vec<_>, _>>()?;
                let names = sequence.modes.iter().map(|&k| modes.model.modes[k].name.clone()).collect();
                let (switches, free) = (sequence.switches, sequence.free);
                Planned { model, tend, parts, sequence: names, switches, free, start: initial.states.clone() }
                    .solve(rule)
            }))
        }
        ModelSystem::Motion(_) => None,
    }
}

/// Has the file a cost?
fn whole_control(model: &Model, modes: &SwitchedModel) -> Option<Result<(), String>> {
    match &model.mode(modes, modes.model.initial.mode).content.equations {
        ModelSystem::General(general) => general.control.as_ref()?.cost.as_ref().map(|_| Ok(())),
        _ => None,
    }
}

struct Planned<'m> {
    model: &'m Model,
    tend: Option<f64>,
    parts: Vec<ControlMatrices>,
    sequence: Vec<String>,
    switches: Vec<f64>,
    free: bool,
    /// Of all unknowns of the first mode, inputs among them.
    start: Vec<Start>,
}

impl Planned<'_> {
    fn solve(self, rule: RankRule) -> Result<OptimumFacts, String> {
        let told = |error: ControlError| error.to_string();
        let (t0, usual) = self.model.interval();
        let tend = self.tend.or(usual).ok_or("the interval has no end: add `time = [0.0, 1.0]` to [model]")?;
        let first = &self.parts[0];
        let (states, inputs) = (first.states.clone(), first.inputs.clone());
        if self.parts.iter().any(|part| part.states != states) {
            return Err("the modes have different unknowns".into());
        }
        let mut phases = Vec::new();
        let mut constant = Vec::new();
        for part in &self.parts {
            let plant = plant(part).ok_or("there is no cost")??;
            let DrivingTerm::Constant(b) = &part.drive else {
                return Err("the equations have terms that depend on time: optima are found for constant ones".into());
            };
            let Some(Ok(cost)) = &part.cost else { return Err("there is no cost".into()) };
            constant.push(cost.constant);
            phases.push(ControlPhase { plant, b: b.clone(), linear: cost.c.clone() });
        }
        let n = states.len();
        let (final_weight, final_linear, final_constant) = self.final_cost(n)?;
        let start = self.start(&states)?;
        let times: Vec<f64> = [t0].into_iter().chain(self.switches.iter().copied()).chain([tend]).collect();
        let surfaces = vec![None; phases.len() - 1];
        let problem = SwitchedProblem { phases, times, surfaces, start: start.clone(), final_weight, final_linear };
        let (optimum, at_edge) = if self.free {
            let found = optimal_times(&problem, rule).map_err(told)?;
            (found.optimum, found.at_edge)
        } else {
            (problem.solve(rule).map_err(told)?, Vec::new())
        };
        let lasting = optimum.times.windows(2).zip(&constant).map(|(w, c)| c * (w[1] - w[0])).sum::<f64>();
        let last = optimum.times.len() - 2;
        let begin = optimum.at(t0, 0).map_err(told)?;
        let end = optimum.at(tend, last).map_err(told)?;
        let named = |point: &OptimalPoint| {
            let values = point.x.iter().chain(&point.u).copied();
            states.iter().chain(&inputs).cloned().zip(values).collect::<Vec<_>>()
        };
        let moved = states.iter().zip(&start).zip(&begin.x).zip(self.given(&states));
        let moved = moved.filter(|(((_, given), found), was_given)| {
            *was_given && (*given - *found).abs() > 1e-9 * given.abs().max(1.0)
        });
        let run = self.run(&optimum, &states, &inputs).map_err(told)?;
        Ok(OptimumFacts {
            sequence: self.sequence.clone(),
            found_times: self.free,
            at_edge,
            cost: optimum.cost + lasting + final_constant,
            slopes: optimum.slopes.clone(),
            moved: moved.map(|(((name, given), found), _)| (name.clone(), *given, *found)).collect(),
            start: named(&begin),
            end: named(&end),
            times: optimum.times.clone(),
            run,
        })
    }

    /// Which states have an initial value.
    fn given(&self, states: &[String]) -> Vec<bool> {
        let mut given = vec![false; states.len()];
        for (place, start) in self.parts[0].places.iter().zip(&self.start) {
            if let Some(place) = place {
                given[*place] = *start != Start::Unknown;
            }
        }
        given
    }

    /// Initial values; those that E does not look at may be missing.
    fn start(&self, states: &[String]) -> Result<Vec<f64>, String> {
        let first = &self.parts[0];
        let mut values = vec![0.0; states.len()];
        for (place, start) in first.places.iter().zip(&self.start) {
            let Some(place) = *place else { continue };
            match start {
                Start::Fixed(x) | Start::Guess(x) => values[place] = *x,
                Start::Unknown if (0..states.len()).all(|i| first.system.E[(i, place)] == 0.0) => {}
                Start::Unknown => return Err(format!("nothing is given for {} at the start", states[place])),
            }
        }
        Ok(values)
    }

    fn final_cost(&self, n: usize) -> Result<(Mat<f64>, Vec<f64>, f64), String> {
        match self.parts.last().and_then(|part| part.final_cost.as_ref()) {
            None => Ok((Mat::zeros(n, n), vec![0.0; n], 0.0)),
            Some(Err(why)) => Err(why.clone()),
            Some(Ok(cost)) => {
                let of_inputs =
                    (n..cost.c.len()).any(|i| cost.c[i] != 0.0 || (0..cost.c.len()).any(|j| cost.W[(i, j)] != 0.0));
                if of_inputs {
                    return Err("the cost of the end contains inputs: it may contain states only".into());
                }
                Ok((cost.W.get(..n, ..n).to_owned(), cost.c[..n].to_vec(), cost.constant))
            }
        }
    }

    fn run(&self, optimum: &SwitchedOptimum, states: &[String], inputs: &[String]) -> Result<Run, ControlError> {
        let n = states.len();
        let named = |names: &[String], kind: ColumnKind| {
            names.iter().map(|name| Column::new(name, kind, Vec::new())).collect::<Vec<_>>()
        };
        let adjoint: Vec<String> = (1..=n).map(|i| format!("lambda{i}")).collect();
        let mut columns = named(states, ColumnKind::State);
        columns.extend(named(inputs, ColumnKind::Output));
        columns.extend(named(&adjoint, ColumnKind::Multiplier));
        let with_modes = !self.sequence.is_empty();
        if with_modes {
            columns.push(Column::new("mode", ColumnKind::Mode, Vec::new()));
        }
        let mut distinct: Vec<&String> = Vec::new();
        for name in &self.sequence {
            if !distinct.contains(&name) {
                distinct.push(name);
            }
        }
        let number = |phase: usize| distinct.iter().position(|name| **name == self.sequence[phase]).unwrap_or(0);
        let (t0, tend) = (optimum.times[0], optimum.times[optimum.times.len() - 1]);
        let mut times = Vec::new();
        let mut last = Vec::new();
        for (phase, w) in optimum.times.windows(2).enumerate() {
            let pieces = ((w[1] - w[0]) / (tend - t0) * POINTS as f64).ceil().max(1.0) as usize;
            for j in 0..=pieces {
                let t = if j == pieces { w[1] } else { w[0] + (w[1] - w[0]) * j as f64 / pieces as f64 };
                let point = optimum.at(t, phase)?;
                last = [point.x, point.u, point.lambda].concat();
                if with_modes {
                    last.push(number(phase) as f64);
                }
                times.push(t);
                columns.iter_mut().zip(&last).for_each(|(column, value)| column.values.push(*value));
            }
        }
        let hybrid = with_modes.then(|| ModeHistory {
            modes: distinct.iter().map(|name| ModeRecord { name: (*name).clone(), ..ModeRecord::default() }).collect(),
            phases: optimum
                .times
                .windows(2)
                .enumerate()
                .map(|(phase, w)| PhaseRecord { mode: number(phase), t0: w[0], t1: w[1] })
                .collect(),
            switches: (1..optimum.times.len() - 1)
                .map(|i| SwitchRecord {
                    t: optimum.times[i],
                    from: number(i - 1),
                    to: number(i),
                    condition: "the sequence of [control]".into(),
                    kind: SwitchCause::Scheduled,
                    smoothness: Continuity::default(),
                    jumps: Vec::new(),
                    impulses: Vec::new(),
                    higher_impulses: Vec::new(),
                    restart: None,
                    chattering: false,
                })
                .collect(),
        });
        let content = &self.model.content;
        let header = Header {
            model: Some(content.name.clone()),
            description: Some(content.description.clone()).filter(|text| !text.is_empty()),
            source: Some(content.citation.clone()).filter(|text| !text.is_empty()),
            parameters: content.parameters.clone(),
            method: Some("optimal control".into()),
            t0: Some(t0),
            tend: Some(tend),
            ended: Some(Ending::End),
            ..Header::default()
        };
        let end = Some(LastPoint { t: tend, values: last });
        Ok(Run { header, times, columns, end, hybrid, ..Run::default() })
    }
}
