//! Daedal against the classical codes: ratios to the output, pictures and every run to a page.
//!
//! usage: peers [--rounds N] [--budget SECONDS] [--peers FOLDER] [--page FILE] [PROBLEM…]

use daedal_bench::peers::measure::{Effort, measure};
use daedal_bench::peers::page::page;
use daedal_bench::peers::problems::PROBLEMS;
use daedal_bench::peers::table::{ratios, raw};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

struct Arguments {
    effort: Effort,
    folder: PathBuf,
    page: PathBuf,
    names: Vec<String>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let Arguments { effort, folder, page: file, names } = arguments()?;
    let about = about(&folder, effort);
    if let Some(parent) = file.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut all = Vec::new();
    for problem in PROBLEMS {
        if names.is_empty() || names.iter().any(|name| name == problem.name) {
            eprintln!("{}", problem.title);
            all.push(measure(problem, &folder, effort)?);
            // what was measured is kept if somebody stops here
            fs::write(&file, page(&all, &about))?;
            fs::write(file.with_extension("tsv"), raw(&all))?;
        }
    }
    println!("{about}\n{}", ratios(&all));
    println!("pictures and every run: {}", file.display());
    Ok(())
}

fn arguments() -> Result<Arguments, Box<dyn Error>> {
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("target"), PathBuf::from);
    let mut arguments = Arguments {
        effort: Effort { rounds: 5, budget: 0.02 },
        folder: target.join("peers"),
        page: target.join("peers.html"),
        names: Vec::new(),
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        match word.as_str() {
            "--rounds" => arguments.effort.rounds = value()?.parse()?,
            "--budget" => arguments.effort.budget = value()?.parse()?,
            "--peers" => arguments.folder = value()?.into(),
            "--page" => arguments.page = value()?.into(),
            name if PROBLEMS.iter().any(|problem| problem.name == name) => arguments.names.push(word),
            other => return Err(format!("{other} is neither an option nor a problem").into()),
        }
    }
    Ok(arguments)
}

/// Processor, versions and options.
fn about(folder: &Path, effort: Effort) -> String {
    let processor = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let processor = processor.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let versions = fs::read_to_string(folder.join("versions")).unwrap_or_default();
    format!(
        "Daedal {}, release build, native code; one thread on {}\nshortest of {} rounds with repetitions for {} s each, all solvers in turn\n\
         time inside the solver, from a consistent start to the end; peers with functions and Jacobians by hand\n{}",
        env!("CARGO_PKG_VERSION"),
        processor.map_or("an unknown processor", |(_, name)| name.trim()),
        effort.rounds,
        effort.budget,
        versions.trim_end()
    )
}
