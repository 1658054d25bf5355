//! Trusted values: two different methods agree on them at the smallest tolerances, and with what is known in closed form or published.

use super::climb::Trusted;
use super::references::*;
use super::run::{Case, Found, Level, ORDER_13, Way, is_mechanical};
use super::solutions;
use daedal::Statistics;
use daedal_model::ModelKind;

/// Two methods must agree up to this for their values to be trusted; by how much they differ is left open in errors.
const AGREEMENT: f64 = 1e-7;
/// Most attempts of a run that makes a reference.
const MOST_ATTEMPTS: u64 = 40_000;
/// Closed forms hold up to rounding of the functions in them and of the run.
const CLOSED_FORM: f64 = 1e-10;

/// Values that are published for the end of the interval of a file, with their accuracy relative to the tolerances of the file.
const PUBLISHED: [(&str, &[f64], f64); 10] = [
    ("transistor-amplifier", &TRANSISTOR_AMPLIFIER, 1e-8),
    ("ring-modulator", &RING_MODULATOR, 1e-8),
    ("ring-modulator-index-2", &RING_MODULATOR_INDEX_2, 1e-7),
    ("hires", &HIRES, 1e-9),
    ("robertson", &ROBERTSON, 1e-9),
    ("oregonator", &OREGONATOR, 1e-9),
    ("pollution", &POLLUTION, 1e-9),
    ("pleiades", &PLEIADES, 1e-8),
    ("andrews-dae", &ANDREWS, 1e-7),
    ("car-axis-dae", &CAR_AXIS, 1e-8),
];

/// Who is asked, in this order, and with which tolerance: the first two that answer are compared.
fn witnesses(kind: &ModelKind) -> Vec<(Way, f64)> {
    match kind {
        ModelKind::Motion { .. } => vec![
            (Way::new("psf", ORDER_13), 1e-13),
            (Way::new("eom1", "hedop5"), 1e-13),
            (Way::new("psf", "geoms"), 1e-13),
            (Way::new("psf", "radau"), 1e-13),
            // where Newton's iteration does not reach such tolerances
            (Way::new("psf", "geoms"), 1e-11),
            (Way::new("psf", "radau"), 1e-11),
        ],
        ModelKind::Dae { .. } => {
            vec![
                (Way::new("auto", ORDER_13), 1e-13),
                (Way::new("auto", "radau"), 1e-13),
                (Way::new("auto", "bdf"), 1e-12),
                (Way::new("auto", "radau"), 1e-11),
                (Way::new("auto", "bdf"), 1e-11),
            ]
        }
        ModelKind::Hybrid(hybrid) if is_mechanical(hybrid) => {
            vec![(Way::new("psf", "geoms"), 1e-13), (Way::new("p1", "geoms"), 1e-13)]
        }
        ModelKind::Hybrid(_) => vec![
            (Way::new("modes", ORDER_13), 1e-13),
            (Way::new("modes", "radau"), 1e-13),
            (Way::new("modes", "bdf"), 1e-12),
        ],
    }
}

impl Trusted {
    /// The values of a case; why there are none, if not.
    pub fn new(case: &Case, counts: Level) -> Result<Trusted, String> {
        let patient = Case { model: case.model.clone(), max_steps: MOST_ATTEMPTS, ..*case };
        let mut reasons = Vec::new();
        let mut answers = Vec::new();
        for (way, tolerance) in witnesses(&case.model.kind) {
            match patient.solve(&way, tolerance) {
                Ok(found) => answers.push(found),
                Err(reason) => reasons.push(format!("{}: {reason}", way.name())),
            }
            if answers.len() == 2 {
                break;
            }
        }
        let [first, second] = &answers[..] else { return Err(reasons.join("; ")) };
        // a mode of equations of motion has no other method than GEOMS, whose other formulation has multipliers of lower order
        let counts = match &case.model.kind {
            ModelKind::Hybrid(hybrid) if is_mechanical(hybrid) => Level::Velocity,
            _ => counts,
        };
        let (doubt, name) = case.error(second, first, counts);
        if !(doubt <= AGREEMENT) {
            return Err(format!("two methods differ by {doubt:.1e} in {name}"));
        }
        let name = &case.model.name;
        for (known, accuracy) in known(case) {
            let (error, of) = case.error(first, &known, counts);
            if !(error <= accuracy) {
                return Err(format!("{name}: two methods agree, but {of} is known to be off by {error:.1e}"));
            }
        }
        Ok(Trusted { found: first.clone(), doubt })
    }
}

/// What is known about the end from elsewhere, with its accuracy; the order of the states is that of the file.
fn known(case: &Case) -> Vec<(Found, f64)> {
    let ModelKind::Dae { formulas, .. } = &case.model.kind else { return problems(case) };
    let name = case.model.name.as_str();
    let found = |x: &[f64]| of_end(formulas.states.iter().cloned().zip(x.iter().copied()));
    let exact =
        solutions::all().into_iter().find(|known| known.name == name && known.changes.is_empty() && known.unique);
    let exact = exact.map(|known| (found(&known.states(case.tend)), CLOSED_FORM));
    let whole = case.model.time.is_some_and(|(_, end)| end == case.tend);
    let published = PUBLISHED.iter().find(|(known, ..)| *known == name && whole);
    exact.into_iter().chain(published.map(|(_, x, accuracy)| (found(x), *accuracy))).collect()
}

/// References of the same problem written in Rust.
fn problems(case: &Case) -> Vec<(Found, f64)> {
    let Some(problem) = daedal_problems::find(&case.model.name) else { return Vec::new() };
    let references = problem.case().references.into_iter().filter(|reference| reference.t == case.tend);
    references.map(|reference| (of_end(reference.values.into_iter()), reference.accuracy.max(CLOSED_FORM))).collect()
}

fn of_end(values: impl Iterator<Item = (String, f64)>) -> Found {
    let value = |(name, x)| super::run::Value { name, level: Level::Position, at: vec![x] };
    Found { values: values.map(value).collect(), statistics: Statistics::default() }
}
