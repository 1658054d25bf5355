//! Text and tables of the report page.

use crate::run::{ColumnKind, Ending, Run, time};
use std::fmt::Write;

/// Text that means itself in HTML.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

pub fn title(run: &Run) -> &str {
    run.header.model.as_deref().unwrap_or("Run")
}

pub fn heading(run: &Run) -> String {
    let mut html = format!("<h1>{}</h1>\n", escape(title(run)));
    if let Some(description) = &run.header.description {
        let _ = writeln!(html, "<p class=\"description\">{}</p>", escape(description));
    }
    if let Some(source) = &run.header.source {
        let _ = writeln!(html, "<p class=\"source\">Source: {}</p>", escape(source));
    }
    html
}

/// How the run ended: the first thing to look at.
pub fn ending(run: &Run) -> String {
    let at = run.end.as_ref().map(|end| end.t).or_else(|| run.times.last().copied());
    let at = at.map_or(String::new(), |t| format!(" at t = {t:?}"));
    let asked = run.header.tend.map_or(String::new(), |t| format!(", before the end of the interval t = {t:?}"));
    let (class, said) = match run.header.ended {
        Some(Ending::End) => ("end", format!("Reached the end{at}")),
        Some(Ending::Event) => ("event", format!("Stopped by an event{at}")),
        Some(Ending::Observer) => ("observer", format!("Interrupted{at}{asked}")),
        Some(Ending::Failure) => ("failure", format!("Stopped{at}{asked}")),
        None => ("unknown", "The file does not say how the run ended".to_string()),
    };
    let mut html = format!("<div class=\"ending {class}\"><p class=\"said\">{}</p>", escape(&said));
    if let Some(message) = &run.header.message {
        let _ = write!(html, "<p class=\"message\">{}</p>", escape(message));
    }
    if run.header.ended == Some(Ending::Failure) {
        html.push_str("<p class=\"kept\">Everything computed until then is on this page.</p>");
    }
    html.push_str("</div>\n");
    html
}

/// What a reader should know although the run went on.
pub fn warnings(run: &Run) -> String {
    let mut html = String::new();
    for warning in &run.header.warnings {
        let _ = match warning.t {
            Some(t) => write!(html, "<p class=\"warning\">Warning, first at t = {}: ", time(t)),
            None => write!(html, "<p class=\"warning\">Warning: "),
        };
        let _ = writeln!(html, "{}</p>", escape(&warning.message));
    }
    html
}

/// What a file that is only a table, or only a part of a run, does not say.
pub fn missing(run: &Run) -> String {
    let header = &run.header;
    let absent: Vec<&str> = [
        (header.model.is_none(), "the model and its parameters"),
        (header.method.is_none(), "the method and its tolerances"),
        (header.ended.is_none(), "how the run ended"),
        (header.counters.is_empty(), "statistics"),
        (
            run.columns.iter().any(|column| column.kind == ColumnKind::Variable),
            "which columns are positions, velocities, multipliers, states",
        ),
        (run.steps.is_none(), "step sizes and residuals of the constraints"),
        (run.times.len() < 2, "curves, because fewer than two points were kept"),
    ]
    .into_iter()
    .filter_map(|(absent, what)| absent.then_some(what))
    .collect();
    if absent.is_empty() {
        return String::new();
    }
    format!("<p class=\"missing\">This run file does not say: {}.</p>\n", absent.join("; "))
}

/// Method, tolerances, interval, and how much was kept.
pub fn facts(run: &Run) -> String {
    let header = &run.header;
    let number = |x: Option<f64>| x.map(|x| format!("{x:?}"));
    let interval = header.t0.zip(header.tend).map(|(t0, tend)| format!("t = {t0:?} to {tend:?}"));
    let points = match (run.times.first(), run.times.last()) {
        (Some(first), Some(last)) if run.times.len() > 1 => {
            format!("{} from t = {first:?} to {last:?}", run.times.len())
        }
        _ => run.times.len().to_string(),
    };
    let variables = run.columns.iter().filter(|column| column.kind != ColumnKind::Mode).count();
    let rows = [
        ("method", header.method.clone()),
        ("formulation", header.formulation.clone()),
        ("relative tolerance", number(header.rtol)),
        ("absolute tolerance", number(header.atol)),
        ("absolute tolerances of", of_variables(&header.atol_of)),
        ("interval", interval),
        ("decided by the method", header.decisions.clone()),
        ("computing time", header.seconds.map(|seconds| format!("{seconds:.3} s"))),
        ("points kept", Some(points)),
        ("variables", Some(variables.to_string())),
        ("switches", run.hybrid.as_ref().map(|hybrid| hybrid.switches.len().to_string())),
    ];
    let rows = rows.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?)));
    card("How it was solved", &table(&[], rows.map(|(name, value)| vec![name, value])))
}

/// Tolerances of single variables.
fn of_variables(tolerances: &[(String, f64)]) -> Option<String> {
    let told: Vec<String> = tolerances.iter().map(|(name, atol)| format!("{name}: {atol:?}")).collect();
    (!told.is_empty()).then(|| told.join(", "))
}

pub fn parameters(run: &Run) -> String {
    if run.header.parameters.is_empty() {
        return String::new();
    }
    let rows = run.header.parameters.iter().map(|(name, value)| vec![name.clone(), format!("{value:?}")]);
    format!(
        "<details class=\"card folded\" id=\"parameters\"><summary><h2>Parameters</h2> <span class=\"count\">{}</span></summary>{}</details>\n",
        run.header.parameters.len(),
        table(&[], rows)
    )
}

pub fn undetermined(run: &Run) -> String {
    if run.header.undetermined.is_empty() {
        return String::new();
    }
    let rows = run.header.undetermined.iter().map(|combination| {
        let terms: Vec<String> = combination.iter().map(|(name, factor)| format!("{factor:+.4} {name}")).collect();
        vec![terms.join(" ")]
    });
    let general = run.columns.iter().any(|column| column.kind == ColumnKind::State);
    let (heading, said) = if general {
        (
            "Undetermined combinations of states",
            "<p>The equations leave these combinations open: any values are a solution, and these keep the values of the start.</p>",
        )
    } else {
        (
            "Undetermined combinations of multipliers",
            "<p>Redundant constraints leave these combinations open: the motion does not determine them, and they keep the values \
             of the start.</p>",
        )
    };
    card(heading, &format!("{said}{}", table(&[], rows)))
}

pub fn statistics(run: &Run) -> String {
    let header = &run.header;
    if header.counters.is_empty() {
        return String::new();
    }
    let count = |count: &Option<u64>| count.map_or("–".to_string(), grouped);
    let counters = header.counters.iter().map(|(name, value)| vec![counter(name).to_string(), count(value)]);
    let largest = &header.max_residual;
    let levels = [
        ("position", largest.position),
        ("velocity", largest.velocity),
        ("acceleration", largest.acceleration),
        ("invariant", largest.invariant),
        ("constraint", largest.constraint),
        ("hidden", largest.hidden),
    ];
    // the levels of a mechanism are all told, those of a general system where they exist
    let general = run.columns.iter().any(|column| column.kind == ColumnKind::State);
    let levels = levels.into_iter().enumerate().filter(|&(k, (_, x))| x.is_some() || (k < 4 && !general));
    let form = header.formulation.as_deref();
    let levels = levels.map(|(_, (level, x))| (format!("largest residual, {}", level_name(level, form)), x));
    let residual = |x: f64| if x == 0.0 { "0".to_string() } else { format!("{x:.2e}") };
    let levels = levels.map(|(name, x)| vec![name, x.map_or("–".to_string(), residual)]);
    card("Statistics", &table(&[], counters.chain(levels)))
}

/// What the residuals of a level are residuals of.
pub fn level_name(level: &str, formulation: Option<&str>) -> String {
    match (level, formulation) {
        ("invariant", _) => "invariants".to_string(),
        // these forms do not tell stated and hidden constraints apart
        ("constraint", Some("linear")) | ("hidden", Some("array")) => "all constraints".to_string(),
        ("constraint", _) => "stated constraints".to_string(),
        ("hidden", _) => "hidden constraints".to_string(),
        (level, _) => format!("{level} level"),
    }
}

/// The last point in full precision.
pub fn final_values(run: &Run) -> String {
    let last = run.times.len().checked_sub(1);
    let at = run.end.as_ref().map(|end| end.t).or_else(|| last.map(|k| run.times[k]));
    let Some(at) = at else { return String::new() };
    let units = run.columns.iter().any(|column| column.unit.is_some());
    // the mode of the last point, which may not have all columns
    let of_end = |j: usize| run.end.as_ref().map(|end| end.values[j]);
    let place = run.columns.iter().position(|column| column.kind == ColumnKind::Mode).and_then(of_end);
    let active = run.hybrid.as_ref().zip(place).and_then(|(hybrid, mode)| hybrid.modes.get(mode as usize));
    let rows = run.columns.iter().enumerate().map(|(j, column)| {
        let value = match (&run.end, last) {
            (Some(end), _) => end.values[j],
            (None, Some(k)) => column.values[k],
            (None, None) => f64::NAN,
        };
        // a place for the sign, so that digits stand below each other
        let sign = if value.is_sign_negative() && !value.is_nan() { "" } else { " " };
        let unit = units.then(|| column.unit.clone().unwrap_or_default());
        let mode = run.hybrid.as_ref().filter(|_| column.kind == ColumnKind::Mode);
        let mode =
            mode.and_then(|hybrid| hybrid.modes.get(value as usize)).map(|mode| format!(" {value} ({})", mode.name));
        let there = active.is_none_or(|mode| mode.determines(&column.name) || column.kind == ColumnKind::Mode);
        let value = if there { format!("{sign}{value:?}") } else { "–".to_string() };
        let told = mode.unwrap_or(value);
        let mut row = vec![column.name.clone(), told];
        row.extend(unit);
        row.push(column.kind.word().to_string());
        row
    });
    let heads: &[&str] = if units { &["name", "value", "unit", "kind"] } else { &["name", "value", "kind"] };
    let table = table(heads, rows);
    card(&format!("Final values at t = {at:?}"), &format!("<div class=\"scroll\">{table}</div>"))
}

pub fn events(run: &Run) -> String {
    if run.events.is_empty() {
        return String::new();
    }
    let rows = run.events.iter().map(|event| vec![event.name.clone(), format!("{:?}", event.t)]);
    card("Events", &format!("<div class=\"scroll\">{}</div>", table(&["event", "t"], rows)))
}

/// What a counter counts, in words.
fn counter(name: &str) -> &str {
    match name {
        "steps" => "accepted steps",
        "rejected_error" => "attempts rejected by the error test",
        "rejected_newton" => "attempts rejected by Newton's iteration",
        "residuals" => "evaluations of the equations",
        "jacobians" => "Jacobians",
        "masses" => "mass matrices",
        "selectors" => "choices of a selector",
        "predecompositions" => "decompositions without step size",
        "decompositions" => "decompositions for a step size",
        "solves" => "Newton iterations",
        other => other,
    }
}

/// Thousands apart, by thin spaces that do not break.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

pub fn card(heading: &str, content: &str) -> String {
    format!("<section class=\"card\"><h2>{}</h2>{content}</section>\n", escape(heading))
}

/// A table whose first column names the rows; without a line of heads if there are none.
pub fn table(heads: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut html = "<table>".to_string();
    if !heads.is_empty() {
        html.push_str("<thead><tr>");
        for head in heads {
            let _ = write!(html, "<th scope=\"col\">{}</th>", escape(head));
        }
        html.push_str("</tr></thead>");
    }
    html.push_str("<tbody>");
    for row in rows {
        html.push_str("<tr>");
        for (k, cell) in row.iter().enumerate() {
            let open = match k {
                0 if row.len() > 1 => "<th scope=\"row\">",
                // numbers are not broken
                _ if cell.trim().parse::<f64>().is_ok() => "<td class=\"number\">",
                _ => "<td>",
            };
            let close = if open.starts_with("<th") { "</th>" } else { "</td>" };
            let _ = write!(html, "{open}{}{close}", escape(cell));
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table>");
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_grouped_by_thousands() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1\u{202f}234\u{202f}567");
    }

    #[test]
    fn text_means_itself() {
        assert_eq!(escape("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&#39;");
    }
}
