//! Constraints without derivatives: they vanish at consistent points, and there are as many as the ranks say.

use super::files::{folder, read};
use daedal::Initial;
use daedal::dae::analysis::{Analysis, Scope, analyse};
use daedal::dae::hidden::{Restriction, Role};
use daedal::dae::{Depth, System, characterise};
use daedal::graph::{Interpreted, Tape};
use daedal_model::ModelKind;
use std::fs;

/// All general systems whose constraints have formulas.
fn analysed() -> Vec<(String, System, Analysis)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_string();
        // large, and without hidden constraints
        let large = ["medical-akzo-nobel", "two-bit-adder", "beam"].contains(&name.as_str());
        if path.extension().is_none_or(|e| e != "toml") || large {
            continue;
        }
        let model = read(&name, &[]);
        let ModelKind::Dae { formulas, initial, .. } = &model.kind else { continue };
        let system = System::new(formulas, Interpreted);
        let Ok(analysis) = analyse(&system, initial, Scope::default()) else { continue };
        found.push((name, system, analysis));
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(found.len() > 30);
    found
}

/// Values and gradients of constraints at the unknowns of a consistent point.
fn evaluate(system: &System, analysis: &Analysis, told: &[&Restriction], t: f64, x: &[f64]) -> Vec<(f64, Vec<f64>)> {
    let (first, mut graph) = (&system.first, analysis.restrictions.as_ref().unwrap().graph.clone());
    let residuals: Vec<_> = told.iter().map(|c| c.residual).collect();
    let jacobian = graph.jacobian(&residuals, &first.x);
    let tape = Tape::new(&graph, &[&residuals[..], &jacobian.entries].concat());
    // nothing else may enter: derivatives would not be finite
    let mut inputs = vec![f64::NAN; graph.inputs().len()];
    inputs[first.place(first.t)] = t;
    first.x.iter().zip(x).for_each(|(&e, &x)| inputs[first.place(e)] = x);
    first.parameters.iter().for_each(|&(e, value)| inputs[first.place(e)] = value);
    let values = tape.evaluate(&inputs);
    let mut rows: Vec<(f64, Vec<f64>)> = values[..told.len()].iter().map(|&v| (v, vec![0.0; x.len()])).collect();
    for ((i, j, _), &slope) in jacobian.iter().zip(&values[told.len()..]) {
        rows[i].1[j] = slope;
    }
    rows
}

/// By complete pivoting, of rows of size one.
fn rank(mut rows: Vec<Vec<f64>>) -> usize {
    let mut rank = 0;
    loop {
        let entries =
            rows.iter().enumerate().flat_map(|(i, row)| row.iter().enumerate().map(move |(j, x)| (x.abs(), i, j)));
        let Some((size, i, j)) = entries.max_by(|a, b| a.0.total_cmp(&b.0)) else { return rank };
        if size < 1e-8 {
            return rank;
        }
        rank += 1;
        let pivot = rows.swap_remove(i);
        for row in &mut rows {
            let factor = row[j] / pivot[j];
            row.iter_mut().zip(&pivot).for_each(|(x, p)| *x -= factor * p);
        }
    }
}

fn free_of_derivatives(analysis: &Analysis) -> Vec<&Restriction> {
    let all = analysis.restrictions.iter().flat_map(|found| &found.all);
    all.filter(|c| c.role == Role::Constraint && c.kept.is_none()).collect()
}

#[test]
fn constraints_in_the_unknowns_vanish_at_consistent_points() {
    for (name, system, analysis) in analysed() {
        let told = free_of_derivatives(&analysis);
        // the start, and a consistent point beside it
        let beside: Vec<f64> =
            analysis.at.x().iter().enumerate().map(|(j, x)| x + 1e-3 * (1.0 + j as f64).sin()).collect();
        let t = analysis.at.t + 1e-3;
        let other = (beside.len() == system.formulas.states.len())
            .then(|| characterise(&system, &Initial::new(t, &beside), Depth::default()).ok())
            .flatten();
        let other = other.filter(|other| other.values == analysis.at.values);
        let points = std::iter::once(&analysis.at).chain(&other);
        for point in points {
            for ((value, gradient), c) in evaluate(&system, &analysis, &told, point.t, point.x()).iter().zip(&told) {
                let terms: f64 = gradient.iter().zip(point.x()).map(|(g, x)| g.abs() * (1.0 + x.abs())).sum();
                assert!(value.abs() <= 1e-7 * (1.0 + terms), "{name} {:?}: {value:e}, terms {terms:e}", c.equations);
            }
        }
    }
}

#[test]
fn constraints_in_the_unknowns_are_as_many_as_the_ranks_say() {
    let mut complete = 0;
    for (name, system, analysis) in analysed() {
        let told = free_of_derivatives(&analysis);
        let all = analysis
            .restrictions
            .as_ref()
            .map_or(0, |found| found.all.iter().filter(|c| c.role == Role::Constraint).count());
        let rows = evaluate(&system, &analysis, &told, analysis.at.t, analysis.at.x());
        let a = analysis.at.values.a;
        // rows of size one
        let scaled = |(_, row): &(f64, Vec<f64>)| {
            let top = row.iter().fold(0.0_f64, |top, g| top.max(g.abs()));
            row.iter().map(|g| if top > 0.0 { g / top } else { 0.0 }).collect::<Vec<f64>>()
        };
        let rows: Vec<Vec<f64>> = rows.iter().map(scaled).collect();
        let rank = rank(rows);
        assert!(rank <= a, "{name}: rank {rank} of {a}");
        // others are told with derivatives, or not at all
        if told.len() == all && analysis.restrictions.is_some() {
            assert_eq!(rank, a, "{name}");
            complete += 1;
        }
    }
    assert!(complete >= 40, "{complete}");
}
