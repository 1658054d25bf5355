//! A study of the automatic choice over many models: runs, or what a file holds of them.

use crate::arguments::{ModelArguments, StudyArguments, ToleranceList};
use crate::compare::command;
use crate::failure::{Failure, print};
use crate::files;
use crate::progress::Tally;
use daedal_run::study::{FORMAT, StudiedModel, Study};
use daedal_simulation::compare::study::{StudySettings, study as study_model};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;

/// The ratio that is aimed at.
const AIM: f64 = 1.2;

/// Make a study, or show one.
pub fn study(arguments: &StudyArguments, said: &[OsString]) -> Result<(), Failure> {
    if let Some(path) = &arguments.from {
        let unreadable = |cause: String| Failure::BadStudy { path: path.clone(), cause };
        let text = std::fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))?;
        return print(&shown(&Study::read(&text).map_err(unreadable)?));
    }
    let ToleranceList(tolerances) = arguments.tolerances.clone();
    let settings = StudySettings { tolerances, timeout: arguments.timeout, besides: arguments.besides.clone() };
    let load = |name: &String| ModelArguments { name: name.clone(), ..ModelArguments::default() }.load();
    let mut models: Vec<StudiedModel> = Vec::new();
    // what goes wrong in a run is no failure of the study
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let tally = Tally::new(arguments.models.len(), "models");
    for name in &arguments.models {
        let called = Path::new(name).file_stem().and_then(|stem| stem.to_str()).unwrap_or(name);
        models.push(match load(name) {
            Ok(model) => study_model(&model, called, &settings),
            Err(failure) => StudiedModel {
                model: called.to_string(),
                left_out: Some(failure.to_string()),
                ..StudiedModel::default()
            },
        });
        tally.count();
    }
    drop(tally);
    std::panic::set_hook(hook);
    let made = Study { format: FORMAT.to_string(), command: command(said), tolerances: settings.tolerances, models };
    if let Some(path) = &arguments.output {
        let mut bytes = Vec::new();
        made.write(&mut bytes).map_err(|cause| Failure::Unwritten { path: path.clone(), cause })?;
        files::write_text(path, &String::from_utf8_lossy(&bytes))?;
    }
    print(&shown(&made))
}

/// The table with all that belongs to it, in Markdown.
fn shown(study: &Study) -> String {
    let mut text = study.table();
    let (all, within) = study.within(AIM);
    let _ = writeln!(text, "\nWithin {AIM} of the best: {within} of {all}.");
    let left_out = study.left_out();
    if !left_out.is_empty() {
        let _ = write!(text, "\nNot compared:\n\n{left_out}");
    }
    text
}
