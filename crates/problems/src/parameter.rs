//! Parameters by name.

/// A parameter that cannot be set.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ParameterError {
    /// There is none of that name.
    #[error(transparent)]
    Unknown(#[from] UnknownParameter),
    /// Its value is infinite or not a number.
    #[error("the parameter {name} is set to {value}, which is not a finite number")]
    NotFinite {
        /// Which parameter.
        name: String,
        /// The value given.
        value: f64,
    },
}

/// A name that no parameter of the problem has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no parameter {name}{}; {}", question(*.suggestion), list(.known))]
pub struct UnknownParameter {
    /// The name given.
    pub name: String,
    /// The names there are.
    pub known: Vec<&'static str>,
    /// The name that looks most like it.
    pub suggestion: Option<&'static str>,
}

/// The defaults, with some of them changed.
pub(crate) fn set(parameters: &[(&'static str, f64)], changes: &[(String, f64)]) -> Result<Vec<f64>, ParameterError> {
    let mut set: Vec<f64> = parameters.iter().map(|&(_, default)| default).collect();
    for (name, value) in changes {
        let Some(i) = parameters.iter().position(|(known, _)| known == name) else {
            let known: Vec<_> = parameters.iter().map(|&(known, _)| known).collect();
            let suggestion = nearest(name, &known);
            return Err(UnknownParameter { name: name.clone(), known, suggestion }.into());
        };
        if !value.is_finite() {
            return Err(ParameterError::NotFinite { name: name.clone(), value: *value });
        }
        set[i] = *value;
    }
    Ok(set)
}

fn question(suggestion: Option<&str>) -> String {
    suggestion.map_or(String::new(), |name| format!(" (did you mean {name}?)"))
}

fn list(known: &[&str]) -> String {
    if known.is_empty() {
        "the problem has no parameters".to_string()
    } else {
        format!("the parameters are {}", known.join(", "))
    }
}

/// The known name with the fewest changes of letters, if they are fewer than the letters.
fn nearest(name: &str, known: &[&'static str]) -> Option<&'static str> {
    let name = name.to_lowercase();
    known
        .iter()
        .map(|&known| (distance(&name, &known.to_lowercase()), known))
        .filter(|&(changes, known)| changes < name.chars().count().max(known.chars().count()))
        .min_by_key(|&(changes, _)| changes)
        .map(|(_, known)| known)
}

/// How many letters must be inserted, deleted or replaced (Levenshtein distance).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMETERS: &[(&str, f64)] = &[("m", 1.0), ("L", 2.0), ("omega", 3.0)];

    #[test]
    fn parameters_are_set_by_name() {
        let changes = [("omega".to_string(), 30.0), ("m".to_string(), 10.0)];
        assert_eq!(set(PARAMETERS, &changes), Ok(vec![10.0, 2.0, 30.0]));
    }

    #[test]
    fn unknown_parameters_are_reported_with_the_known_ones() {
        let message = |name: &str, parameters| match set(parameters, &[(name.to_string(), 1.0)]) {
            Err(error) => error.to_string(),
            Ok(_) => String::new(),
        };
        assert_eq!(
            message("omgea", PARAMETERS),
            "there is no parameter omgea (did you mean omega?); the parameters are m, L, omega"
        );
        assert_eq!(
            message("l", PARAMETERS),
            "there is no parameter l (did you mean L?); the parameters are m, L, omega"
        );
        assert_eq!(message("x", PARAMETERS), "there is no parameter x; the parameters are m, L, omega");
        assert_eq!(message("x", &[]), "there is no parameter x; the problem has no parameters");
    }

    #[test]
    fn values_that_are_not_finite_are_refused() {
        for value in [f64::NAN, f64::INFINITY] {
            let refused = set(PARAMETERS, &[("m".to_string(), value)]);
            assert!(matches!(refused, Err(ParameterError::NotFinite { name, .. }) if name == "m"));
        }
    }
}
