use daedal::dae::*;
use daedal::graph::Interpreted;
use daedal::method::bdf::Bdf;
use daedal::{Options, RadauIIa, SolveError, Tolerance};
use daedal_model::{Kind, Model};
use std::time::Instant;

#[test]
fn scratch() {
    let list = std::env::var("FILES").unwrap();
    let forms = std::env::var("FORMS").unwrap_or("auto".into());
    let bdf = std::env::var("BDF").is_ok();
    let tols = std::env::var("TOLS").unwrap_or("1e-6".into());
    for name in list.split(',') {
        let path = format!("../../models/{name}.toml");
        let text = std::fs::read_to_string(&path).unwrap();
        let model = Model::read(&path, &text, &[]).unwrap();
        let Kind::Dae { formulas, initial, .. } = model.kind else { continue };
        let start = Instant::now();
        let system = System::new(&formulas, Interpreted);
        for form in forms.split(',') {
            let form = match form {
                "auto" => Form::Auto,
                "ql" => Form::QuasiLinear,
                "array" => Form::DerivativeArray,
                _ => Form::Plain,
            };
            for tol in tols.split(',') {
                let tol: f64 = tol.parse().unwrap();
                let tend = std::env::var("TEND").map_or(model.time.unwrap().1, |t| t.parse().unwrap());
                let problem = Problem::new(&system, (*initial).clone(), tend);
                let options = Options {
                    tolerance: Tolerance::new(tol, tol),
                    h0: model.solve.h0,
                    max_steps: 1000000,
                    ..Options::default()
                };
                let out = if bdf {
                    solve(&problem, form, &Bdf::default(), &options)
                } else {
                    solve(&problem, form, &RadauIIa::default(), &options)
                };
                match out {
                    Ok(s) => println!(
                        "{name} {form:?} {tol:e} {:?} {:.3}s: {}\n   {:?} {:?}\n   {}\n   {:?}",
                        s.layout,
                        start.elapsed().as_secs_f64(),
                        s.statistics,
                        s.max_residuals.constraint,
                        s.max_residuals.hidden,
                        s.decisions,
                        s.end.x.iter().take(8).collect::<Vec<_>>()
                    ),
                    Err(SolveError::Stopped { cause, partial }) => println!(
                        "{name} {form:?} {tol:e} STOPPED {cause}\n  {:?} {}",
                        partial.layout, partial.statistics
                    ),
                    Err(e) => println!(
                        "{name} {form:?} ERROR {e}: {}",
                        std::error::Error::source(&e).map(|s| s.to_string()).unwrap_or_default()
                    ),
                }
            }
        }
    }
}
