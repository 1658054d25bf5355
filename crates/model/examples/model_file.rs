//! Model files: one pendulum, written as a mechanism and as five equations without structure, read and solved.
//! `cargo run -p daedal-model --example model_file`

use daedal::dae::System;
use daedal::graph::Interpreted;
use daedal::motion::Compiled;
use daedal::{Geoms, Options, Problem, RadauIIa, Tolerance, solve};
use daedal_model::{Model, ModelKind};
use std::error::Error;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/");
const END: f64 = 5.0;

/// x at the end, of the model in a file; `v0`, the speed at the lowest point, replaces that of the file.
fn end_of(file: &str, v0: f64) -> Result<f64, Box<dyn Error>> {
    let text = std::fs::read_to_string(format!("{FOLDER}{file}"))?;
    let model = Model::read(file, &text, &[("v0".to_string(), v0)])?;
    let options = Options { tolerance: Tolerance::new(1e-9, 1e-9), ..Options::default() };
    let end = match &model.kind {
        ModelKind::Motion { formulas, initial, .. } => {
            let mechanism = Compiled::new(formulas, Interpreted);
            let problem = Problem::new(&mechanism, (**initial).clone(), END);
            solve(&problem, &Geoms::default(), &options)?.end_value("x")
        }
        ModelKind::Dae { formulas, initial, .. } => {
            let system = System::new(formulas, Interpreted);
            let problem = daedal::Problem::new(&system, (**initial).clone(), END);
            solve(&problem, &RadauIIa::default(), &options)?.end_value("x")
        }
        ModelKind::Hybrid(_) => None,
    };
    end.ok_or_else(|| format!("{file} has no unknown x").into())
}

/// x at the end, from both files.
pub fn run() -> Result<[f64; 2], Box<dyn Error>> {
    Ok([end_of("pendulum.toml", 2.0)?, end_of("pendulum-dae.toml", 2.0)?])
}

fn main() -> Result<(), Box<dyn Error>> {
    let [mechanism, equations] = run()?;
    println!("x({END}) = {mechanism:.9} as a mechanism, {equations:.9} as general equations");
    Ok(())
}
