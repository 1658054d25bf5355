//! A folder with the runs of a sweep that are finished. `manifest.json` says of which sweep; every part is written under another name first and then
//! renamed, so that it is there as a whole or not at all. Files that the model names, such as tables, are not looked at.

use super::Variation;
use crate::error::Error;
use crate::model::{Model, ModelSource};
use crate::settings::Settings;
use daedal_run::Sweep;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A folder for one sweep.
pub(super) struct SweepStore {
    folder: PathBuf,
}

/// What makes a sweep the same.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct SweepManifest {
    version: String,
    model: String,
    parameters: Vec<(String, f64)>,
    kernel: crate::KernelKind,
    settings: Settings,
    names: Vec<String>,
    rows: Vec<Vec<f64>>,
}

impl SweepStore {
    /// A new folder, or one of the same sweep.
    pub fn open(folder: &Path, model: &Model, variation: &Variation, settings: &Settings) -> Result<Self, Error> {
        let manifest = SweepManifest {
            version: env!("CARGO_PKG_VERSION").to_string(),
            model: match &model.source {
                ModelSource::Text { text, .. } => text.to_string(),
                ModelSource::Reference(problem) => problem.name.to_string(),
                ModelSource::Program { name } => name.clone(),
            },
            parameters: model.changed().to_vec(),
            kernel: model.kernel,
            settings: settings.clone(),
            names: variation.names.clone(),
            rows: variation.rows.clone(),
        };
        let cannot = |cause: io::Error| Error::SweepFolder { path: folder.into(), cause };
        fs::create_dir_all(folder).map_err(cannot)?;
        let path = folder.join("manifest.json");
        match fs::read(&path) {
            Ok(bytes) => {
                let before: SweepManifest = serde_json::from_slice(&bytes).map_err(|cause| cannot(cause.into()))?;
                if let Some(what) = manifest.differs(&before) {
                    return Err(Error::OtherSweep { path: folder.into(), what });
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let text = serde_json::to_vec(&manifest).map_err(|cause| cannot(cause.into()))?;
                whole(&path, |file| Ok(file.write_all(&text)?)).map_err(|cause| match cause {
                    daedal_run::WriteError::Io(cause) => cannot(cause),
                    cause => Error::SweepUnwritten { path: path.clone(), cause },
                })?;
            }
            Err(error) => return Err(cannot(error)),
        }
        Ok(SweepStore { folder: folder.into() })
    }

    /// What is there already.
    pub fn parts(&self) -> Result<Vec<Sweep>, Error> {
        let cannot = |cause: io::Error| Error::SweepFolder { path: self.folder.clone(), cause };
        let mut paths = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(cannot)? {
            let path = entry.map_err(cannot)?.path();
            if path.extension().is_some_and(|ending| ending == "npz") {
                paths.push(path);
            }
        }
        paths.sort();
        let read = |path: PathBuf| {
            let file = File::open(&path).map_err(cannot)?;
            Sweep::read(file).map_err(|cause| Error::SweepFile { path, cause })
        };
        paths.into_iter().map(read).collect()
    }

    /// Some more runs.
    pub fn write(&self, part: &Sweep) -> Result<(), Error> {
        let first = part.runs.first().map_or(0, |run| run.number);
        let path = self.folder.join(format!("runs-{first:08}-{}.npz", part.runs.len()));
        whole(&path, |file| part.write(file)).map_err(|cause| Error::SweepUnwritten { path: path.clone(), cause })
    }
}

impl SweepManifest {
    fn differs(&self, other: &Self) -> Option<&'static str> {
        [
            (self.version == other.version, "the versions of the program"),
            (self.model == other.model && self.parameters == other.parameters, "the models"),
            (self.kernel == other.kernel && self.settings == other.settings, "the settings of the runs"),
            (self.names == other.names && self.rows == other.rows, "the values of the parameters"),
        ]
        .into_iter()
        .find(|(same, _)| !same)
        .map(|(_, what)| what)
    }
}

/// A file that is there as a whole or not at all.
fn whole(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> Result<(), daedal_run::WriteError>,
) -> Result<(), daedal_run::WriteError> {
    let temporary = path.with_extension(format!("{}.part", std::process::id()));
    let written = (|| {
        let mut file = BufWriter::new(File::create(&temporary)?);
        content(&mut file)?;
        file.flush()?;
        file.get_ref().sync_all()?;
        Ok(fs::rename(&temporary, path)?)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}
