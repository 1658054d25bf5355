//! Points of a table from a file with columns of numbers: fields apart by commas, names in the first line, `#` begins a comment.

use crate::suggestion::enumerate;

/// (argument, value) of all lines, from the columns of these names; without them from the first and the second of two. What is wrong, if
/// anything, with its line.
pub(crate) fn points(text: &str, argument: Option<&str>, value: Option<&str>) -> Result<Vec<(f64, f64)>, String> {
    let content = |line: &'_ str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let mut lines = text.lines().enumerate().filter(|(_, line)| content(line));
    let Some((_, first)) = lines.next() else { return Err("the file has no lines".into()) };
    let names: Vec<&str> = first.trim_start_matches('\u{feff}').split(',').map(name).collect();
    if let Some(number) = names.iter().find(|name| name.parse::<f64>().is_ok()) {
        return Err(format!("the first line holds the names of the columns, but `{number}` is a number"));
    }
    let known = || enumerate(names.iter().copied());
    let find = |wanted: &str| {
        names.iter().position(|name| *name == wanted).ok_or(format!("there is no column `{wanted}`, only {}", known()))
    };
    let place = |wanted: Option<&str>, usual: usize, key: &str| match wanted {
        Some(wanted) => find(wanted),
        None if names.len() == 2 => Ok(usual),
        None => Err(format!("it has {} columns; say with `{key}` which of {} is meant", names.len(), known())),
    };
    let (argument, value) = (place(argument, 0, "argument")?, place(value, 1, "value")?);
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (k, line) in lines {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        if fields.len() != names.len() {
            return Err(format!("line {} has {} fields, the first line has {}", k + 1, fields.len(), names.len()));
        }
        let number = |field: &str| {
            let number = field.parse::<f64>().ok().filter(|x| x.is_finite());
            number.ok_or(format!("line {}: `{field}` is not a number", k + 1))
        };
        let (x, y) = (number(fields[argument])?, number(fields[value])?);
        if points.last().is_some_and(|(last, _)| *last >= x) {
            return Err(format!("line {}: the argument {x:?} is not above the one before; arguments rise", k + 1));
        }
        points.push((x, y));
    }
    Ok(points)
}

/// A name without its quotation marks.
fn name(field: &str) -> &str {
    field.trim().trim_matches('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_their_names() {
        let text = "# measured\ntime, height ,\"slope\"\n0, 1.5, 0\n\n1e0,2,-1\n";
        assert_eq!(points(text, Some("time"), Some("slope")), Ok(vec![(0.0, 0.0), (1.0, -1.0)]));
        assert_eq!(points("t,z\n0,1\n2,3\n", None, None), Ok(vec![(0.0, 1.0), (2.0, 3.0)]));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let wrong = |text: &str| points(text, None, None).unwrap_err();
        assert_eq!(wrong("t,z\n0,1\n1,one\n"), "line 3: `one` is not a number");
        assert_eq!(wrong("t,z\n0,1,2\n"), "line 2 has 3 fields, the first line has 2");
        assert!(wrong("t,z\n1,1\n1,2\n").starts_with("line 3: the argument 1.0"));
        assert!(wrong("0,1\n1,2\n").contains("names of the columns"));
        assert!(wrong("a,b,c\n0,1,2\n").contains("`argument`"));
        assert!(wrong("# nothing\n").contains("no lines"));
        assert!(points("t,z\n0,1\n", Some("x"), None).unwrap_err().contains("no column `x`"));
    }
}
