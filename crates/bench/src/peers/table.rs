//! Time ratios Daedal ÷ best peer at equal errors, as Markdown.

use super::curve::WorkPrecision;
use super::measure::Measured;
use std::fmt::Write;

/// Errors of the columns.
pub const ERRORS: [f64; 4] = [1e-3, 1e-5, 1e-7, 1e-9];

/// A cell: who is quickest at an error, and how long it takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Seconds of Daedal's own choice.
    pub auto: Option<f64>,
    /// Daedal's quickest method.
    pub best: Option<(String, f64)>,
    /// The quickest peer.
    pub peer: Option<(String, f64)>,
}

impl Cell {
    /// What a problem says about an error; nothing below the accuracy of its reference values.
    pub fn new(measured: &Measured, error: f64) -> Self {
        if error < measured.problem.trusted {
            return Cell { auto: None, best: None, peer: None };
        }
        let quickest = |ours: bool| {
            let curves = measured.curves.iter().filter(move |curve| curve.ours == ours);
            let times = curves.filter_map(|curve| Some((curve.solver.clone(), curve.time(error)?)));
            times.min_by(|a, b| a.1.total_cmp(&b.1))
        };
        let auto = measured.curves.first().and_then(|curve: &WorkPrecision| curve.time(error));
        Cell { auto, best: quickest(true), peer: quickest(false) }
    }

    /// Daedal's own choice ÷ best peer.
    pub fn ratio(&self) -> Option<f64> {
        Some(self.auto? / self.peer.as_ref()?.1)
    }

    /// Daedal's best method ÷ best peer.
    pub fn best_ratio(&self) -> Option<f64> {
        Some(self.best.as_ref()?.1 / self.peer.as_ref()?.1)
    }
}

/// Ratios of all problems: own choice, best method in brackets, and the best peers.
pub fn ratios(all: &[Measured]) -> String {
    let mut text = String::from("| problem |");
    for error in ERRORS {
        let _ = write!(text, " error {error:e} |");
    }
    text.push_str(" best method of ours | best peer |\n| --- | --- | --- | --- | --- | --- | --- |\n");
    for measured in all {
        let cells = ERRORS.map(|error| Cell::new(measured, error));
        let _ = write!(text, "| {} |", measured.problem.title);
        for cell in &cells {
            let _ = write!(text, " {} |", shown(cell));
        }
        let best = listed(cells.iter().map(|cell| cell.best.as_ref()));
        let peer = listed(cells.iter().map(|cell| cell.peer.as_ref()));
        let _ = writeln!(text, " {} | {peer} |", best.replace("Daedal ", ""));
    }
    text
}

/// Own choice, and the best method in brackets.
pub fn shown(cell: &Cell) -> String {
    match (cell.ratio(), cell.best_ratio(), &cell.best, &cell.peer) {
        (Some(auto), Some(best), ..) => format!("{} ({})", two_digits(auto), two_digits(best)),
        (None, Some(best), ..) => format!("not reached ({})", two_digits(best)),
        (.., Some(_), None) => "no peer".to_string(),
        (.., None, Some(_)) => "not reached".to_string(),
        _ => "–".to_string(),
    }
}

/// 0.87, 2.3, 12.
fn two_digits(ratio: f64) -> String {
    match ratio {
        ratio if ratio < 0.995 => format!("{ratio:.2}"),
        ratio if ratio < 9.95 => format!("{ratio:.1}"),
        ratio => format!("{ratio:.0}"),
    }
}

/// Names in their order, each once.
fn listed<'a>(found: impl Iterator<Item = Option<&'a (String, f64)>>) -> String {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in found.flatten() {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names.join("; ")
}

/// Every run.
pub fn raw(all: &[Measured]) -> String {
    let mut text = String::from("problem\tsolver\trtol\terror\tseconds\tsteps\n");
    for measured in all {
        for curve in &measured.curves {
            for point in &curve.points {
                let _ = writeln!(
                    text,
                    "{}\t{}\t{:.1e}\t{:.2e}\t{:.3e}\t{}",
                    measured.problem.title, curve.solver, point.rtol, point.error, point.seconds, point.steps
                );
            }
            for rtol in &curve.failed {
                let _ = writeln!(text, "{}\t{}\t{rtol:.1e}\tend not reached\t\t", measured.problem.title, curve.solver);
            }
        }
    }
    text
}
