//! Names in few words: `u[1], u[2], …, u[1000]` are `u[1..1000]`.

/// Names that differ in one index, which rises by one, become one with a range. The order stays; what has no neighbour is told as it is.
///
/// ```
/// use daedal::families;
/// let names = ["u[1]", "u[2]", "u[3]", "force", "x[2,5]", "x[2,6]", "x[2,7]", "x[3,5]"].map(String::from);
/// assert_eq!(families(&names), ["u[1..3]", "force", "x[2,5..7]", "x[3,5]"]);
/// ```
pub fn families(names: &[String]) -> Vec<String> {
    let mut ranges: Vec<NameRange> = Vec::new();
    for name in names {
        if !ranges.last_mut().is_some_and(|last| last.takes(name)) {
            ranges.push(NameRange::of(name));
        }
    }
    ranges.iter().map(NameRange::to_string).collect()
}

/// A name, or several that differ in their last index.
struct NameRange<'n> {
    before: &'n str,
    first: Option<i64>,
    last: i64,
    behind: &'n str,
}

impl<'n> NameRange<'n> {
    /// One name.
    fn of(name: &'n str) -> Self {
        let (before, index, behind) = split(name);
        NameRange { before, first: index, last: index.unwrap_or(0), behind }
    }

    /// Go on with a name, if it is the next one.
    fn takes(&mut self, name: &str) -> bool {
        let (before, index, behind) = split(name);
        let next =
            self.first.is_some() && index == Some(self.last + 1) && (before, behind) == (self.before, self.behind);
        self.last += i64::from(next);
        next
    }
}

impl std::fmt::Display for NameRange<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let NameRange { before, first, last, behind } = self;
        match first {
            None => write!(f, "{before}{behind}"),
            Some(first) if first == last => write!(f, "{before}{first}{behind}"),
            Some(first) if first + 1 == *last => write!(f, "{before}{first}{behind}, {before}{last}{behind}"),
            Some(first) => write!(f, "{before}{first}..{last}{behind}"),
        }
    }
}

/// What stands before and behind the last index of a name.
fn split(name: &str) -> (&str, Option<i64>, &str) {
    let parts = name.rfind(']').and_then(|end| {
        let start = name[..end].rfind(['[', ',', ' ']).map(|start| start + 1)?;
        Some((&name[..start], name[start..end].parse().ok()?, &name[end..]))
    });
    parts.map_or((name, None, ""), |(before, index, behind)| (before, Some(index), behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_and_gaps_stay_apart() {
        let told = |names: &[&str]| families(&names.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(told(&["x[1]'", "x[2]'", "x[3]'", "x[5]'"]), ["x[1..3]'", "x[5]'"]);
        assert_eq!(told(&["x[0]", "x[1]"]), ["x[0], x[1]"]);
        assert_eq!(told(&["x[2]", "x[1]", "a]", "[", "x[b]"]), ["x[2]", "x[1]", "a]", "[", "x[b]"]);
        assert!(told(&[]).is_empty());
    }
}
