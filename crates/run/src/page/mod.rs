//! The report page: what was solved, how it ended, and all curves, in one file that needs no network.
//!
//! The moving picture comes first, then the curves that the model asks for and its outputs; how it was solved comes last. Text and tables are written here and can be read without scripts; the curves stand in the page as JSON and are drawn
//! by the scripts in `assets` with uPlot. All text is escaped; `<` inside JSON is written `\u003c`, so that no name can end the script.

mod bands;
pub(crate) mod comparison;
mod mechanism;
mod modes;
mod picture;
pub(crate) mod plots;
mod portrait;
mod scale;
pub(crate) mod sweep;
pub(crate) mod text;

use crate::error::WriteError;
use crate::run::Run;
use std::io::Write;

const TEMPLATE: &str = include_str!("../../assets/page.html");
const STYLE: &str = include_str!("../../assets/page.css");
const LOOKS: &str = include_str!("../../assets/looks.js");
const PLOTS: &str = concat!(
    include_str!("../../assets/modes.js"),
    include_str!("../../assets/portrait.js"),
    include_str!("../../assets/ways.js"),
    include_str!("../../assets/page.js")
);
const UPLOT_STYLE: &str = include_str!("../../assets/uplot/uPlot.min.css");
const UPLOT_SCRIPT: &str = include_str!("../../assets/uplot/uPlot.iife.min.js");

/// Write the page of a run.
pub fn write(run: &Run, mut file: impl Write) -> Result<(), WriteError> {
    run.check()?;
    let plots = plots::plots(run);
    let mechanism = mechanism::mechanism(run).map_err(std::io::Error::from)?;
    let data = serde_json::to_string(&plots).map_err(std::io::Error::from)?.replace('<', "\\u003c");
    let parts = [
        ("title", text::escape(text::title(run))),
        ("uplot-style", UPLOT_STYLE.to_string()),
        ("style", STYLE.to_string()),
        ("heading", text::heading(run)),
        ("ending", text::ending(run)),
        ("missing", text::missing(run)),
        ("facts", text::facts(run)),
        ("parameters", text::parameters(run)),
        ("undetermined", text::undetermined(run)),
        ("mechanism", mechanism.section),
        ("curves", plots::sections(&plots)),
        ("bookkeeping", plots::bookkeeping(&plots)),
        ("warnings", text::warnings(run)),
        ("modes", modes::modes(run)),
        ("switches", modes::switches(run)),
        ("statistics", text::statistics(run)),
        ("final-values", text::final_values(run)),
        ("events", text::events(run)),
        ("data", data),
        ("scene", mechanism.data),
        ("uplot-script", UPLOT_SCRIPT.to_string()),
        ("script", format!("{LOOKS}{}{PLOTS}", mechanism.script)),
    ];
    Ok(file.write_all(fill(TEMPLATE, &parts).as_bytes())?)
}

/// Put the parts into the places `{{name}}` of a template; parts are not looked into again.
fn fill(template: &str, parts: &[(&str, String)]) -> String {
    let mut page = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        page.push_str(before);
        let (name, behind) = after.split_once("}}").unwrap_or((after, ""));
        if let Some((_, part)) = parts.iter().find(|(known, _)| *known == name) {
            page.push_str(part);
        }
        rest = behind;
    }
    page.push_str(rest);
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Column, ColumnKind, Ending, Header};

    fn page(run: &Run) -> String {
        let mut bytes = Vec::new();
        write(run, &mut bytes).expect("a page");
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn parts_are_put_in_once_and_not_looked_into() {
        let parts = [("a", "{{b}}".to_string()), ("b", "x".to_string())];
        assert_eq!(fill("1{{a}}2{{b}}3", &parts), "1{{b}}2x3");
    }

    #[test]
    fn every_place_of_the_template_has_its_part() {
        let page = page(&Run::default());
        assert!(!page.contains("{{"), "a place is left open");
        assert!(page.contains("uPlot=function") && page.contains(".u-wrap"));
    }

    #[test]
    fn no_name_can_leave_its_place() {
        let evil = "</script><img src=x onerror=alert(1)>&\"'";
        let column = Column::new(evil, ColumnKind::Position, vec![0.0, 1.0]);
        let text = || Some(evil.to_string());
        let header = Header {
            model: text(),
            description: text(),
            source: text(),
            message: text(),
            ended: Some(Ending::Failure),
            parameters: vec![(evil.to_string(), 1.0)],
            counters: vec![(evil.to_string(), Some(1))],
            undetermined: vec![vec![(evil.to_string(), 1.0)]],
            ..Header::default()
        };
        let run = Run { header, times: vec![0.0, 1.0], columns: vec![column], ..Run::default() };
        let page = page(&run);
        assert!(!page.contains("<img"));
        assert_eq!(page.matches("</script").count(), TEMPLATE.matches("</script").count());
    }

    #[test]
    fn a_failure_is_shown_with_its_message() {
        let header = Header {
            ended: Some(Ending::Failure),
            message: Some("the constraints lose rank".into()),
            tend: Some(2.0),
            ..Header::default()
        };
        let page = page(&Run { header, ..Run::default() });
        assert!(page.contains("class=\"ending failure\"") && page.contains("the constraints lose rank"));
    }

    #[test]
    fn a_table_says_what_it_does_not_know() {
        let column = Column::new("x", ColumnKind::Variable, vec![0.0, 1.0]);
        let page = page(&Run { times: vec![0.0, 1.0], columns: vec![column], ..Run::default() });
        assert!(page.contains("does not say") && page.contains("residuals"));
    }
}
