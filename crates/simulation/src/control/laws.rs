//! Feedback as formulas, and the model with its loop closed.

use super::facts::FeedbackKind;
use super::linearised::ControlMatrices;
use super::terms::{LinearSum, cleaned, written};
use super::transfers::linearised;
use crate::error::Error;
use crate::model::{Model, ModelSource, ModelSystem};
use daedal::linalg::{Mat, RankRule};
use daedal_model::{ControlLaw, InputPlace, ModelControl, closed_loop, with_tables_of};
use daedal_pencils::Kronecker;
use std::path::{Path, PathBuf};

/// A feedback of one kind, in all modes.
pub struct ClosedLoop {
    /// Which kind.
    pub kind: FeedbackKind,
    /// For every system or mode: its name where there are modes, F or G, and the closed loop.
    pub modes: Vec<ClosedMode>,
    /// The model file with the loop closed; `None` where nothing needed a feedback.
    pub text: Option<String>,
    /// The folder for which the text is written, if the model came from a file.
    folder: Option<PathBuf>,
}

impl ClosedLoop {
    /// The model file with the loop closed, as it is written into a folder: tables stay where they are.
    pub fn text_in(&self, folder: &Path) -> Option<String> {
        let text = self.text.as_ref()?;
        let whole = |path: &Path| std::path::absolute(path).and_then(std::fs::canonicalize).ok();
        match self.folder.as_deref().and_then(|own| whole(named(own))) {
            Some(own) if whole(named(folder)).as_ref() != Some(&own) => Some(with_tables_of(text, &own)),
            _ => Some(text.clone()),
        }
    }
}

/// The folder of a file without one is the present one.
fn named(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

/// A feedback in one mode.
pub struct ClosedMode {
    /// Its name, in a model with modes.
    pub mode: Option<String>,
    /// F, or G of −G ẋ.
    pub gain: Mat<f64>,
    /// u = formula + w, by input.
    pub laws: Vec<(String, String)>,
    /// The closed loop.
    pub pencil: Kronecker,
    /// Was the mode regular with index ≤ 1 before?
    pub needless: bool,
}

/// Make a feedback and close the loop.
pub(super) fn close(model: &Model, kind: FeedbackKind, rule: RankRule) -> Result<ClosedLoop, Error> {
    let refused = |reason: String| Error::Uncontrolled { model: model.name().to_string(), reason };
    let mut modes = Vec::new();
    let mut laws = Vec::new();
    let mut add = |name: Option<&String>, part: &ControlMatrices, control: &ModelControl| -> Result<(), String> {
        if kind == FeedbackKind::Output && control.outputs.is_empty() {
            return Err("there are no outputs: write `outputs` into [control]".into());
        }
        let of_mode = |why: String| name.map_or(why.clone(), |name| format!("mode {name}: {why}"));
        let found = kind.make(&part.system, rule).map_err(|error| of_mode(error.to_string()))?;
        let gain = if kind == FeedbackKind::Derivative { found.G } else { found.F };
        let formulas: Vec<(String, String)> =
            (0..part.inputs.len()).map(|i| (part.inputs[i].clone(), law(part, control, kind, &gain, i))).collect();
        for ((input, formula), (_, place)) in formulas.iter().zip(&control.inputs) {
            let is_state = matches!(place, InputPlace::State(_));
            laws.push(ControlLaw { mode: name.cloned(), input: input.clone(), is_state, formula: formula.clone() });
        }
        let (pencil, needless) = (found.pencil, found.needless);
        modes.push(ClosedMode { mode: name.cloned(), gain, laws: formulas, pencil, needless });
        Ok(())
    };
    match &model.content.equations {
        ModelSystem::General(general) => {
            let control = general.control.as_deref().ok_or_else(|| no_section(model))?;
            let part = ControlMatrices::new(&general.formulas, control, &general.initial).map_err(refused)?;
            add(None, &part, control).map_err(refused)?;
        }
        ModelSystem::Modes(switched) => {
            for (k, mode) in switched.model.modes.iter().enumerate() {
                let daedal_model::ModelKind::Dae { control: Some(control), .. } = &mode.kind else {
                    return Err(no_section(model));
                };
                let part = linearised(model, switched, k).map_err(refused)?;
                add(Some(&mode.name), &part, control).map_err(refused)?;
            }
        }
        ModelSystem::Motion(_) => return Err(no_section(model)),
    }
    let (text, folder) = match &model.source {
        ModelSource::Text { name, text, folder } if modes.iter().any(|mode| !mode.needless) => {
            let closed = closed_loop(text, &laws).map_err(|error| refused(error.to_string()))?;
            // what is written must be a model
            let source = ModelSource::Text { name: name.clone(), text: closed.as_str().into(), folder: folder.clone() };
            source
                .model(&[], model.kernel)
                .map_err(|error| refused(format!("the closed loop cannot be written into this file: {error}")))?;
            (Some(closed), folder.clone())
        }
        _ => (None, None),
    };
    Ok(ClosedLoop { kind, modes, text, folder })
}

/// A file without inputs.
pub(super) fn no_section(model: &Model) -> Error {
    let reason = "it has no section [control]; write [control] and below it inputs = [\"u\"]".to_string();
    Error::Uncontrolled { model: model.name().to_string(), reason }
}

/// u without w.
fn law(part: &ControlMatrices, control: &ModelControl, kind: FeedbackKind, gain: &Mat<f64>, i: usize) -> String {
    let factors = cleaned((0..gain.ncols()).map(|j| gain[(i, j)]).collect());
    let mut sum = LinearSum::default();
    let some = || factors.iter().enumerate().filter(|(_, factor)| **factor != 0.0);
    match kind {
        FeedbackKind::State => sum = LinearSum::of(&factors, &part.states),
        FeedbackKind::Output => {
            sum.terms = some().map(|(j, factor)| (*factor, format!("({})", control.outputs[j].text))).collect();
        }
        FeedbackKind::Derivative => {
            sum.terms = some().map(|(j, factor)| (-factor, written(&part.states[j], 1))).collect();
        }
    }
    // about an equilibrium, u = u₀ + F(x − x₀) + w; a parameter keeps u₀ as its number
    if let (Some((_, u)), (_, InputPlace::State(_))) = (&part.point, &control.inputs[i]) {
        sum.constant = u[i];
    }
    if let (Some((x, _)), true) = (&part.point, kind != FeedbackKind::Derivative) {
        let at: Vec<f64> = match kind {
            FeedbackKind::State => x.clone(),
            _ => (0..gain.ncols()).map(|j| (0..x.len()).map(|p| part.system.C[(j, p)] * x[p]).sum()).collect(),
        };
        sum.constant -= factors.iter().zip(&at).map(|(factor, x)| factor * x).sum::<f64>();
    }
    sum.text()
}
