//! Where equations stand: the solver knows them by name or number, a reader wants the line and the text.

use daedal_model::{ModelKind, Written};
use std::collections::{HashMap, HashSet};

/// Equations of a model file by their names.
#[derive(Clone, Debug, Default)]
pub struct EquationPlaces(Vec<EquationPlace>);

#[derive(Clone, Debug, PartialEq)]
struct EquationPlace {
    name: String,
    line: usize,
    text: String,
}

impl EquationPlaces {
    /// The equations of a model. Names that several modes have for different equations, or that are those of variables, are left out.
    pub fn of(kind: &ModelKind) -> Self {
        let mut places: Vec<EquationPlace> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut unclear: HashSet<String> = HashSet::new();
        let mut put = |name: &str, written: &Written| {
            let (name, line) = (name.to_string(), written.line);
            let place = EquationPlace { name, line, text: written.to_string() };
            match known.get(&place.name) {
                Some(&k) if places[k] != place => {
                    unclear.insert(place.name);
                }
                Some(_) => {}
                None => {
                    known.insert(place.name.clone(), places.len());
                    places.push(place);
                }
            }
        };
        let mut of_kind = |kind: &ModelKind| {
            if let ModelKind::Dae { formulas, texts, .. } = kind {
                let states: HashSet<&String> = formulas.states.iter().collect();
                for ((name, _), written) in formulas.equations.iter().zip(texts) {
                    if !states.contains(name) {
                        put(name, written);
                    }
                }
            }
        };
        match kind {
            ModelKind::Hybrid(model) => model.modes.iter().for_each(|mode| of_kind(&mode.kind)),
            kind => of_kind(kind),
        }
        places.retain(|place| !unclear.contains(&place.name));
        EquationPlaces(places)
    }

    /// A message in which every equation, `3` or `supply`, has its line and its text where it is first spoken of.
    pub fn told(&self, message: &str) -> String {
        let mut told = message.to_string();
        for EquationPlace { name, line, text } in &self.0 {
            let quoted = format!("`{name}`");
            if let Some(start) = told.find(&quoted) {
                let word = if told[..start].trim_end().ends_with("equation") { "" } else { "equation " };
                let end = start + quoted.len();
                told.replace_range(start..end, &format!("{word}{name} (line {line}: {text})"));
            }
        }
        told
    }

    /// A name with its line.
    pub fn named(&self, name: &str) -> String {
        match self.0.iter().find(|place| place.name == name) {
            Some(place) => format!("{name} (line {})", place.line),
            None => name.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equations_are_told_with_line_and_text() {
        let place = |name: &str, line, text: &str| EquationPlace { name: name.into(), line, text: text.into() };
        let places = EquationPlaces(vec![place("3", 12, "der(x) = y"), place("supply", 14, "u = 5")]);
        assert_eq!(
            places.told("at t = 0: `3`, differentiated once, keeps a residual of 1e0"),
            "at t = 0: equation 3 (line 12: der(x) = y), differentiated once, keeps a residual of 1e0"
        );
        assert_eq!(places.told("the equation `supply`"), "the equation supply (line 14: u = 5)");
        assert_eq!((places.named("3"), places.named("4")), ("3 (line 12)".to_string(), "4".to_string()));
    }
}
