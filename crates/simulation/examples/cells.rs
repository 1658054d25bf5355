//! One model, many methods and tolerances, each once: what `cells.sh` counts instructions of.
//!
//! usage: cells MODEL ATOL/RTOL TOLERANCE,… METHOD[:OPTION=WORD][@FORMULATION]…      the first method at a thousandth of the least tolerance is the reference

use daedal_simulation::{
    KernelKind, MethodOptions, ModelSource, OptionValue, SaveSetting, Settings, Simulation, Unwatched,
};
use std::process::ExitCode;

/// The least tolerance of a reference.
const LEAST: f64 = 1e-13;

/// Values at the end by name, steps and the method.
type End = (Vec<(String, f64)>, u64, String);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, ratio, tolerances, specs @ ..] = arguments.as_slice() else {
        eprintln!("usage: cells MODEL ATOL/RTOL TOLERANCE,… METHOD[:OPTION=WORD][@FORMULATION]…");
        return ExitCode::FAILURE;
    };
    let model = match ModelSource::load(file).and_then(|source| source.model(&[], KernelKind::Native)) {
        Ok(model) => model,
        Err(error) => {
            eprintln!("cells: {error}");
            return ExitCode::FAILURE;
        }
    };
    let ratio: f64 = ratio.parse().unwrap_or(1.0);
    let run = |spec: &str, rtol: f64| -> Result<End, String> {
        let (spec, formulation) =
            spec.split_once('@').map_or((spec, None), |(spec, form)| (spec, Some(form.to_string())));
        let (method, option) = spec.split_once(':').map_or((spec, None), |(method, option)| (method, Some(option)));
        let mut options = MethodOptions::default();
        if let Some((key, word)) = option.and_then(|option| option.split_once('=')) {
            options.set(key, OptionValue::Word(word.into())).map_err(|error| error.to_string())?;
        }
        let settings = Settings {
            method: Some(method.to_string()),
            formulation,
            options,
            rtol: Some(rtol),
            atol: Some(rtol * ratio),
            max_steps: Some(1_000_000),
            save: SaveSetting::End,
            ..Settings::default()
        };
        let simulation = Simulation::new(&model, &settings).map_err(|error| error.to_string())?;
        let outcome = simulation.run(&mut Unwatched);
        if let Some(error) = &outcome.error {
            return Err(error.to_string());
        }
        let record = outcome.record().ok_or("no record")?;
        let end = record.end.as_ref().ok_or("no end")?;
        let values = record.columns.iter().zip(&end.values).filter(|(column, _)| {
            use daedal_run::ColumnKind::{Position, State, Velocity};
            matches!(column.kind, Position | Velocity | State)
        });
        let values = values.map(|(column, value)| (column.name.clone(), *value)).collect();
        let steps = outcome.computed.as_ref().map_or(0, |computed| computed.statistics.steps);
        Ok((values, steps, format!("{} {}", outcome.choice.method, outcome.formulation()).replace(' ', "_")))
    };
    let tolerances: Vec<f64> = tolerances.split(',').filter_map(|text| text.parse().ok()).collect();
    let least = tolerances.iter().copied().fold(1.0, f64::min);
    let Some((first, others)) = specs.split_first() else { return ExitCode::FAILURE };
    let reference = run(first, (1e-3 * least).max(LEAST));
    match &reference {
        Ok((values, steps, _)) => println!("reference {steps} {values:?}"),
        Err(error) => println!("reference failed {error}"),
    }
    for spec in others {
        for &rtol in &tolerances {
            match (run(spec, rtol), &reference) {
                (Ok((values, steps, name)), Ok((known, ..))) => {
                    let error = values.iter().filter_map(|(name, x)| {
                        let (_, exact) = known.iter().find(|(known, _)| known == name)?;
                        Some((x - exact).abs() / exact.abs().max(ratio))
                    });
                    println!("run {spec} {rtol:e} {steps} {:.3e} {name}", error.fold(0.0, f64::max));
                }
                (Ok((_, steps, name)), Err(_)) => println!("run {spec} {rtol:e} {steps} nan {name}"),
                (Err(error), _) => println!("failed {spec} {rtol:e} {}", error.lines().next().unwrap_or_default()),
            }
        }
    }
    ExitCode::SUCCESS
}
