//! The nearest of known names, for "did you mean".

/// Most names that are compared; a model with more of them has made them by index ranges or by a program.
const MOST_COMPARED: usize = 2000;
/// Most names in a list: all sections of a file.
const MOST_LISTED: usize = 13;

/// The known name nearest to `name`, if one is near enough to be meant.
pub(crate) fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<String> {
    // a third of the letters may be wrong; comparing long words costs the product of their lengths
    let allowed = (name.chars().count() / 3).max(1);
    if name.len() > 80 {
        return None;
    }
    known
        .into_iter()
        .take(MOST_COMPARED)
        .filter(|k| *k != name && k.chars().count().abs_diff(name.chars().count()) <= allowed)
        .map(|k| (distance(name, k), k))
        .filter(|(d, k)| *d <= allowed && *d < k.chars().count())
        .min_by_key(|(d, _)| *d)
        .map(|(_, k)| k.to_string())
}

/// What helps with an unknown name: "did you mean `near`? The modes are …", or the list alone; `list` is "the modes are".
pub(crate) fn help<'n>(name: &str, known: impl Iterator<Item = &'n str> + Clone, list: &str) -> String {
    let all = enumerate(known.clone());
    match nearest(name, known) {
        Some(near) => {
            let (first, rest) = list.split_at(1);
            format!("did you mean `{near}`? {}{rest} {all}", first.to_uppercase())
        }
        None => format!("{list} {all}"),
    }
}

/// Number of wrong letters; case alone counts as one.
fn distance(a: &str, b: &str) -> usize {
    if a.to_lowercase() == b.to_lowercase() { 1 } else { strsim::damerau_levenshtein(a, b) }
}

/// "`a`, `b` and `c`", shortened if there are many.
pub(crate) fn enumerate<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    let quoted: Vec<String> = names.iter().take(MOST_LISTED).map(|n| format!("`{n}`")).collect();
    match (quoted.as_slice(), names.len()) {
        ([], _) => "none".to_string(),
        ([one], _) => one.clone(),
        (shown, n) if n > shown.len() => format!("{} and {} more", shown.join(", "), n - shown.len()),
        ([first @ .., last], _) => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_names_are_recognised() {
        let known = ["positions", "velocities", "mass", "x", "y"];
        assert_eq!(nearest("postions", known).as_deref(), Some("positions"));
        assert_eq!(nearest("Mass", known).as_deref(), Some("mass"));
        assert_eq!(nearest("forces", known), None);
        // one letter is not a misspelling of another
        assert_eq!(nearest("z", known), None);
    }

    #[test]
    fn long_enumerations_are_cut() {
        let names: Vec<String> = (0..20).map(|k| format!("n{k}")).collect();
        assert!(enumerate(names.iter().map(String::as_str)).ends_with("`n12` and 7 more"));
        assert_eq!(enumerate(["a", "b"]), "`a` and `b`");
    }
}
