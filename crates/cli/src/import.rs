//! Robots of other formats as model files.

use crate::arguments::Import;
use crate::failure::{Failure, print};
use crate::files;
use daedal_simulation::Error;
use std::fs;

/// Write the model file of a robot, and tell what is not as it was.
pub fn import(arguments: &Import) -> Result<(), Failure> {
    let path = &arguments.robot;
    let bytes = fs::read(path).map_err(|cause| Error::Unreadable { path: path.clone(), cause })?;
    let text = String::from_utf8(bytes).map_err(|cause| Error::NotText { path: path.clone(), cause })?;
    let imported = daedal_model::import(&path.to_string_lossy(), &text, arguments.base)
        .map_err(|wrong| Error::Model(wrong.into()))?;
    for note in &imported.notes {
        eprintln!("note: {}", daedal_simulation::plain(note));
    }
    match &arguments.output {
        Some(path) => files::write_text(path, &imported.text),
        None => print(&imported.text),
    }
}
