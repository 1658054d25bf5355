//! The page of a comparison: work–precision pictures, residuals, drift, the table, and what failed, in one file that needs no network.

use crate::comparison::text::{self, duration, explanation, name, short, table};
use crate::comparison::{ComparedRun, Comparison, KINDS};
use crate::error::WriteError;
use crate::page::picture::{Picture, PictureCurve, PicturePoint, colour, marker, series};
use crate::page::text::{card, escape};
use crate::page::{STYLE, fill};
use std::fmt::Write as _;
use std::io::Write;

const TEMPLATE: &str = include_str!("../../assets/comparison.html");
const OWN_STYLE: &str = include_str!("../../assets/comparison.css");
const SCRIPT: &str = include_str!("../../assets/comparison.js");

/// Write the page of a comparison.
pub fn write(comparison: &Comparison, mut file: impl Write) -> Result<(), WriteError> {
    let parts = [
        ("title", escape(&format!("{}: comparison", comparison.model))),
        ("style", STYLE.to_string()),
        ("own-style", OWN_STYLE.to_string()),
        ("heading", heading(comparison)),
        ("outcome", outcome(comparison)),
        ("facts", facts(comparison)),
        ("legend", legend(comparison)),
        ("errors", errors(comparison)),
        ("constraints", constraints(comparison)),
        ("table", runs(comparison)),
        ("failures", failures(comparison)),
        ("script", SCRIPT.to_string()),
    ];
    Ok(file.write_all(fill(TEMPLATE, &parts).as_bytes())?)
}

fn heading(comparison: &Comparison) -> String {
    let mut html = format!("<h1>{}</h1>\n", escape(&comparison.model));
    for (class, text) in [("description", &comparison.description), ("source", &comparison.source)] {
        if !text.is_empty() {
            let label = if class == "source" { "Source: " } else { "" };
            let _ = writeln!(html, "<p class=\"{class}\">{label}{}</p>", escape(text));
        }
    }
    let _ = writeln!(html, "<p class=\"command\"><code>{}</code></p>", escape(&comparison.command));
    html
}

fn outcome(comparison: &Comparison) -> String {
    let (all, reached) = (comparison.runs.len(), comparison.succeeded().count());
    let class = if reached > 0 { "end" } else { "failure" };
    let failed =
        if reached == all { String::new() } else { format!(", <a href=\"#failures\">{} did not</a>", all - reached) };
    format!(
        "<div class=\"ending {class}\"><p class=\"said\">{reached} of {all} runs reached t = {:?}{failed}</p></div>\n",
        comparison.tend
    )
}

fn facts(comparison: &Comparison) -> String {
    let mut html = "<ul class=\"facts\">".to_string();
    for said in explanation(comparison).iter().chain(&comparison.notes) {
        let _ = write!(html, "<li>{}</li>", escape(said));
    }
    if !comparison.parameters.is_empty() {
        let parameters: Vec<String> =
            comparison.parameters.iter().map(|(name, value)| format!("{name} = {value:?}")).collect();
        let _ = write!(html, "<li>parameters: {}</li>", escape(&parameters.join(", ")));
    }
    html.push_str("</ul>");
    card("What was measured", &html)
}

/// A check box for every method, every formulation and every pair of them.
fn legend(comparison: &Comparison) -> String {
    let (methods, formulations) = (comparison.methods(), comparison.formulations());
    let pairs = comparison.series();
    let glyph = |class: &str, shape: &str| {
        format!(
            "<svg class=\"glyph {class}\" viewBox=\"-8 -8 16 16\" aria-hidden=\"true\"><path class=\"line\" d=\"M-8 0H8\"/>{shape}</svg>"
        )
    };
    let mut html = "<fieldset class=\"key\"><legend>Curves</legend>\n".to_string();
    for (m, method) in methods.iter().enumerate() {
        let _ = write!(
            html,
            "<div class=\"keys\"><label class=\"whole\"><input type=\"checkbox\" checked data-method=\"{0}\"><span class=\"swatch {1}\"></span>{0}</label>",
            escape(method),
            colour(m)
        );
        for (_, formulation) in pairs.iter().filter(|(own, _)| own == method) {
            let k = formulations.iter().position(|known| known == formulation).unwrap_or(0);
            let _ = write!(
                html,
                "<label><input type=\"checkbox\" checked data-curve=\"{}\">{}{}</label>",
                escape(&series(method, formulation)),
                glyph(&colour(m), &marker(k)),
                escape(formulation)
            );
        }
        html.push_str("</div>\n");
    }
    if formulations.len() > 1 && methods.len() > 1 {
        html.push_str("<div class=\"keys\"><span class=\"whole\">all methods</span>");
        for (k, formulation) in formulations.iter().enumerate() {
            let _ = write!(
                html,
                "<label><input type=\"checkbox\" checked data-formulation=\"{0}\">{1}{0}</label>",
                escape(formulation),
                glyph("", &marker(k))
            );
        }
        html.push_str("</div>\n");
    }
    html.push_str("</fieldset>\n");
    html
}

/// Errors against time, evaluations and tolerance, a tab for each kind of variable.
fn errors(comparison: &Comparison) -> String {
    let mut panels = Vec::new();
    for (kind, (what, _)) in KINDS.into_iter().enumerate() {
        let floor = comparison.reference.accuracy.list()[kind];
        let picture = |against: &str, horizontal, across: fn(&ComparedRun) -> Option<f64>| Picture {
            title: format!("Error of {what} against {against}"),
            horizontal,
            vertical: format!("error of {what}"),
            floor,
            curves: curves(comparison, |run| Some((across(run)?, run.error.list()[kind]?))),
        };
        let pictures = [
            picture("computing time", "computing time (s)", |run| run.seconds),
            picture("evaluations", "evaluations of the equations", |run| run.counters.map(|c| c.residuals as f64)),
            picture("tolerance", "tolerance", |run| Some(run.tolerance)),
        ];
        if pictures.iter().any(|picture| !picture.is_empty()) {
            panels.push((what, gallery(&pictures)));
        }
    }
    if panels.is_empty() {
        return String::new();
    }
    let mut html = "<section class=\"tabs\"><h2>Work and precision</h2>".to_string();
    for (k, (what, _)) in panels.iter().enumerate() {
        let checked = if k == 0 { " checked" } else { "" };
        let _ = write!(
            html,
            "<input type=\"radio\" name=\"kind\" id=\"kind-{k}\"{checked}><label class=\"tab\" for=\"kind-{k}\">{what}</label>"
        );
    }
    for (_, panel) in panels {
        let _ = write!(html, "<div class=\"panel\">{panel}</div>");
    }
    html.push_str("</section>\n");
    html
}

/// Residuals of every level and the drift of invariants against the tolerance.
fn constraints(comparison: &Comparison) -> String {
    let picture = |title: &str, vertical: &str, value: fn(&ComparedRun) -> Option<f64>| Picture {
        title: title.to_string(),
        horizontal: "tolerance",
        vertical: vertical.to_string(),
        floor: None,
        curves: curves(comparison, |run| Some((run.tolerance, value(run)?))),
    };
    let pictures = [
        picture("Residual of the constraints, position level", "largest |g|", |run| run.max_residual.position),
        picture("Residual of the constraints, velocity level", "largest |gI|", |run| run.max_residual.velocity),
        picture("Residual of the constraints, acceleration level", "largest |gII|", |run| {
            run.max_residual.acceleration
        }),
        picture("Residual of the constraints that are stated", "largest residual", |run| run.max_residual.constraint),
        picture("Residual of the hidden constraints", "largest residual", |run| run.max_residual.hidden),
        picture("Drift of the invariants", "largest |e − e(t0)| / max(1, |e(t0)|)", |run| run.drift),
    ];
    if pictures.iter().all(Picture::is_empty) {
        return String::new();
    }
    format!("<section><h2>Constraints and invariants</h2>{}</section>\n", gallery(&pictures))
}

fn gallery(pictures: &[Picture]) -> String {
    let figures: String = pictures.iter().filter(|picture| !picture.is_empty()).map(Picture::figure).collect();
    format!("<div class=\"gallery\">{figures}</div>")
}

/// A curve for each method with each formulation.
fn curves(comparison: &Comparison, value: impl Fn(&ComparedRun) -> Option<(f64, f64)>) -> Vec<PictureCurve> {
    let (methods, formulations) = (comparison.methods(), comparison.formulations());
    let place = |all: &[&str], one: &str| all.iter().position(|known| *known == one).unwrap_or(0);
    comparison
        .series()
        .into_iter()
        .map(|(method, formulation)| {
            let runs = comparison.runs.iter().filter(|run| run.method == method && run.formulation == formulation);
            let point = |run: &ComparedRun| {
                let (x, y) = value(run).filter(|_| run.failure.is_none())?;
                Some(PicturePoint { x, y, title: told(run) })
            };
            PictureCurve {
                method: method.to_string(),
                formulation: formulation.to_string(),
                colour: place(&methods, method),
                marker: place(&formulations, formulation),
                points: runs.map(point).collect(),
            }
        })
        .filter(|curve| curve.points.iter().any(Option::is_some))
        .collect()
}

/// What is told about a run under the cursor.
fn told(run: &ComparedRun) -> String {
    let mut said = name(run);
    if let Some(counters) = run.counters {
        let _ = write!(said, "\n{} steps, {} evaluations", counters.steps, counters.residuals);
    }
    if let Some(seconds) = run.seconds {
        let _ = write!(said, ", {}", duration(seconds));
    }
    let errors: Vec<String> = KINDS
        .into_iter()
        .zip(run.error.list())
        .filter_map(|((kind, _), error)| Some(format!("{kind} {}", short(error?))))
        .collect();
    if !errors.is_empty() {
        let _ = write!(said, "\nerrors: {}", errors.join(", "));
    }
    said
}

fn runs(comparison: &Comparison) -> String {
    let (heads, rows) = table(comparison);
    if rows.is_empty() {
        return String::new();
    }
    let mut html = "<table><thead><tr>".to_string();
    for head in heads {
        let _ = write!(html, "<th scope=\"col\">{}</th>", escape(head));
    }
    html.push_str("</tr></thead><tbody>");
    for row in rows {
        let _ = write!(html, "<tr data-series=\"{}\">", escape(&series(&row[0], &row[1])));
        for (k, cell) in row.iter().enumerate() {
            let class = if k < 2 { "" } else { " class=\"right\"" };
            let _ = write!(html, "<td{class}>{}</td>", escape(cell));
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table>");
    let marked = html.contains("*</td>");
    let note = if marked { "<p class=\"note\">* not resolved: below the accuracy of the reference</p>" } else { "" };
    format!(
        "<section class=\"card\" id=\"runs\"><h2>Runs</h2><div class=\"scroll\" tabindex=\"0\">{html}</div>{note}</section>\n"
    )
}

fn failures(comparison: &Comparison) -> String {
    let rows: Vec<String> = text::failures(comparison)
        .into_iter()
        .map(|(name, why)| format!("<tr><th scope=\"row\">{}</th><td>{}</td></tr>", escape(&name), escape(why)))
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    format!(
        "<section class=\"card\" id=\"failures\"><h2>Did not reach the end</h2><div class=\"scroll\" tabindex=\"0\"><table><tbody>{}</tbody></table></div></section>\n",
        rows.concat()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::example;

    fn page(comparison: &Comparison) -> String {
        let mut bytes = Vec::new();
        write(comparison, &mut bytes).expect("a page");
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn every_place_is_filled_and_nothing_is_loaded() {
        let page = page(&example::comparison());
        assert!(!page.contains("{{"), "a place is left open");
        assert!(!page.contains("http://") && !page.contains("https://"), "the page refers to the network");
        assert!(page.contains("<code>daedal compare pendulum</code>"));
    }

    #[test]
    fn every_series_is_drawn_and_can_be_switched() {
        let page = page(&example::comparison());
        for series in ["geoms psf", "radau ggl"] {
            assert!(page.contains(&format!("data-curve=\"{series}\"")));
            // three pictures of positions, three of velocities, three levels, the drift
            assert_eq!(
                page.matches(&format!("c0\" data-series=\"{series}\"")).count(),
                if series == "geoms psf" { 10 } else { 0 }
            );
            assert_eq!(
                page.matches(&format!("c1\" data-series=\"{series}\"")).count(),
                if series == "radau ggl" { 10 } else { 0 }
            );
        }
        assert!(!page.contains("error of multipliers"), "no run has errors of multipliers");
    }

    #[test]
    fn failures_are_told_with_their_reason() {
        let page = page(&example::comparison());
        assert!(page.contains("5 of 6 runs") && page.contains("stopped after 10 s at t = 0.5"));
    }

    #[test]
    fn no_name_can_leave_its_place() {
        let evil = "</script><img src=x onerror=alert(1)>&\"'";
        let mut comparison = example::comparison();
        comparison.model = evil.into();
        comparison.command = evil.into();
        comparison.notes.push(evil.into());
        comparison.runs[4].failure = Some(evil.into());
        comparison.runs[0].method = evil.into();
        let page = page(&comparison);
        assert!(!page.contains("<img"));
        assert_eq!(page.matches("</script").count(), TEMPLATE.matches("</script").count());
    }

    #[test]
    fn without_any_success_there_is_still_a_page() {
        let mut comparison = example::comparison();
        for run in &mut comparison.runs {
            run.failure = Some("no".into());
        }
        let page = page(&comparison);
        assert!(page.contains("0 of 6 runs") && page.contains("id=\"failures\"") && !page.contains("id=\"runs\""));
    }
}
