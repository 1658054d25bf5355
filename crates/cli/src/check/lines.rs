//! Lines of a check: headings, and labels with words beside them, within 100 columns.

use daedal::dae::analysis::HiddenComparison;

/// Columns of a line.
const WIDTH: usize = 100;
/// Columns of a label.
const LABEL: usize = 20;
/// Most formulas of one kind.
pub const MOST_FORMULAS: usize = 24;

/// Lines of text in sections.
#[derive(Default)]
pub struct ReportText(String);

impl ReportText {
    /// All of them.
    pub fn into_string(self) -> String {
        self.0
    }

    /// How many formulas are not shown.
    pub fn more(&mut self, all: usize) {
        if all > MOST_FORMULAS {
            self.entry("", &format!("… and {} more; --format json has them all", all - MOST_FORMULAS));
        }
    }

    pub fn line(&mut self, line: &str) {
        self.0.push_str(line.trim_end());
        self.0.push('\n');
    }

    /// An empty line and a heading.
    pub fn heading(&mut self, heading: &str) {
        self.0.push('\n');
        self.line(heading);
    }

    /// A label, and words beside it that are broken into lines.
    pub fn entry(&mut self, label: &str, words: &str) {
        let mut line = format!("  {label:<width$}", width = LABEL - 2);
        if line.chars().count() > LABEL || !line.ends_with(' ') {
            line.push(' ');
        }
        let mut column = line.chars().count();
        let mut fresh = true;
        // leading blanks align columns
        let indent: String = words.chars().take_while(|c| *c == ' ').collect();
        line.push_str(&indent);
        column += indent.len();
        for word in words.trim_start().split(' ') {
            let length = word.chars().count();
            if !fresh && column + 1 + length > WIDTH {
                self.line(&line);
                line = format!("{:LABEL$}", "");
                column = LABEL;
                fresh = true;
            }
            if !fresh {
                line.push(' ');
                column += 1;
            }
            line.push_str(word);
            column += length;
            fresh = false;
        }
        self.line(&line);
    }
}

/// A verdict, and how many warnings stand against it.
pub fn solvable(verdict: &str, warnings: usize) -> String {
    match warnings {
        0 => verdict.to_string(),
        1 => format!("{verdict}, but look at the warning"),
        n => format!("{verdict}, but look at the {n} warnings"),
    }
}

/// Hidden constraints that the model states, and what is missing among them.
pub fn stated_hidden(text: &mut ReportText, comparison: &HiddenComparison) {
    for claim in &comparison.claims {
        text.entry("stated hidden", &format!("{}: 0 = {} {}", claim.name, claim.formula, claim.verdict));
    }
    for formula in comparison.missing.iter().take(MOST_FORMULAS) {
        text.entry("not stated", &format!("0 = {formula}"));
    }
    text.more(comparison.missing.len());
    if comparison.further > 0 {
        text.entry("not stated", &format!("{} more without formulas of the unknowns alone", comparison.further));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_entries_are_broken_below_their_first_word() {
        let mut text = ReportText::default();
        text.entry("label", &"word ".repeat(40));
        let lines: Vec<&str> = text.0.lines().collect();
        assert!(lines.len() > 1 && lines.iter().all(|line| line.chars().count() <= WIDTH), "{}", text.0);
        assert!(lines[1].starts_with(&" ".repeat(LABEL)) && !lines[1].starts_with(&" ".repeat(LABEL + 1)));
    }
}
