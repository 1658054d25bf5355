//! Curves for papers: the plots that a model asks for, else its outputs, else its first kind of variables.

use crate::decimate::Buckets;
use crate::error::WriteError;
use crate::page::plots::balance;
use crate::page::text::escape;
use crate::run::{ChosenPlot, Column, ColumnKind, Run};
use std::fmt::Write;

const WIDTH: f64 = 720.0;
/// Height of a panel with its axis, and of a line of its legend.
const HEIGHT: f64 = 300.0;
const LINE: f64 = 18.0;
/// Left, top, right and bottom of the field in a panel.
const FIELD: [f64; 4] = [74.0, 14.0, 706.0, 256.0];
/// Most curves of a panel, and most points of a curve.
const MOST_CURVES: usize = 8;
const MOST_POINTS: usize = 2_000;
const COLOURS: [&str; MOST_CURVES] =
    ["#1f5fa8", "#c8501e", "#2e7d32", "#8e3a9d", "#00798a", "#a87b00", "#b3261e", "#5d4fc4"];

/// All panels, with width and height of the whole.
pub fn panels(run: &Run) -> Result<(String, f64, f64), WriteError> {
    if run.times.len() < 2 {
        return Err(WriteError::NothingToDraw { why: "fewer than two points were kept for curves" });
    }
    let chosen = if run.plots.is_empty() { usual(run) } else { run.plots.clone() };
    let (mut svg, mut height) = (String::new(), 0.0);
    for plot in &chosen {
        let find = |name: &String| run.columns.iter().find(|column| column.name == *name);
        let curves: Vec<&Column> = plot.curves.iter().filter_map(find).take(MOST_CURVES).collect();
        let across = plot.x.as_ref().map(find);
        if !curves.is_empty() && across != Some(None) {
            let panel = CurvePanel { run, curves, across: across.flatten(), top: height };
            svg.push_str(&panel.drawn());
            height += HEIGHT + LINE * panel.curves.len().div_ceil(4) as f64;
        }
    }
    if svg.is_empty() {
        return Err(WriteError::NothingToDraw { why: "no columns for curves" });
    }
    Ok((svg, WIDTH, height))
}

/// Outputs of the file, or else the first kind of variables that there is.
fn usual(run: &Run) -> Vec<ChosenPlot> {
    let of = |kind: ColumnKind| {
        let columns = run.columns.iter().filter(|column| column.kind == kind && balance(column).is_none());
        let curves: Vec<String> = columns.map(|column| column.name.clone()).collect();
        (!curves.is_empty()).then(|| ChosenPlot { title: kind.word().to_string(), x: None, curves })
    };
    let kinds = [ColumnKind::Output, ColumnKind::Position, ColumnKind::State, ColumnKind::Variable];
    kinds.into_iter().find_map(of).into_iter().collect()
}

struct CurvePanel<'r> {
    run: &'r Run,
    curves: Vec<&'r Column>,
    across: Option<&'r Column>,
    top: f64,
}

impl CurvePanel<'_> {
    fn drawn(&self) -> String {
        let [left, above, right, below] = FIELD;
        let (above, below) = (above + self.top, below + self.top);
        // what is drawn over time keeps its extremes, what is drawn over another column its points
        let over_time = self.across.is_none();
        let buckets = Buckets::new(self.run.times.len(), MOST_POINTS);
        let kept = |values: &[f64], times: bool| match (over_time, times) {
            (true, true) => buckets.times(values),
            (true, false) => buckets.values(values),
            (false, _) => values.iter().step_by(values.len().div_ceil(5 * MOST_POINTS).max(1)).copied().collect(),
        };
        let x = kept(self.across.map_or(&self.run.times, |column| &column.values), true);
        let y: Vec<Vec<f64>> = self.curves.iter().map(|curve| kept(&curve.values, false)).collect();
        let (horizontal, vertical) = (Axis::of(x.iter()), Axis::of(y.iter().flatten()));
        let place_x = |value: f64| left + (right - left) * horizontal.part(value);
        let place_y = |value: f64| below - (below - above) * vertical.part(value);
        let mut svg = String::new();
        for (value, text) in horizontal.marks() {
            let at = place_x(value);
            let _ = writeln!(
                svg,
                "<path d=\"M{at:.1} {above}V{below}\" stroke=\"#e3e6ea\" fill=\"none\"/><text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{text}</text>",
                below + 17.0
            );
        }
        for (value, text) in vertical.marks() {
            let at = place_y(value);
            let _ = writeln!(
                svg,
                "<path d=\"M{left} {at:.1}H{right}\" stroke=\"#e3e6ea\" fill=\"none\"/><text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>",
                left - 7.0,
                at + 4.5
            );
        }
        let title = |name: &str, unit: Option<&String>| match unit {
            Some(unit) => escape(&format!("{name} ({unit})")),
            None => escape(name),
        };
        let across = self.across.map_or("t".to_string(), |column| title(&column.name, column.unit.as_ref()));
        let _ = writeln!(
            svg,
            "<path d=\"M{left} {above}V{below}H{right}\" stroke=\"#57606a\" fill=\"none\"/><text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{across}</text>",
            0.5 * (left + right),
            below + 36.0
        );
        for (k, (values, curve)) in y.iter().zip(&self.curves).enumerate() {
            let color = COLOURS[k];
            let (mut path, mut drawing) = (String::new(), false);
            for (&x, &y) in x.iter().zip(values) {
                let is = x.is_finite() && y.is_finite();
                if is {
                    let _ = write!(path, "{}{:.1} {:.1}", if drawing { "L" } else { "M" }, place_x(x), place_y(y));
                }
                drawing = is;
            }
            let (at, line) = (left + (k % 4) as f64 * 160.0, below + 36.0 + LINE * (1 + k / 4) as f64);
            let _ = writeln!(
                svg,
                "<path d=\"{path}\" stroke=\"{color}\" stroke-width=\"1.6\" fill=\"none\"/><path d=\"M{at} {}h22\" stroke=\"{color}\" stroke-width=\"2.5\"/><text x=\"{}\" y=\"{line}\">{}</text>",
                line - 4.5,
                at + 28.0,
                title(&curve.name, curve.unit.as_ref()),
            );
        }
        svg
    }
}

/// A linear axis.
struct Axis {
    low: f64,
    high: f64,
}

impl Axis {
    fn of<'x>(values: impl Iterator<Item = &'x f64>) -> Axis {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for &x in values.filter(|x| x.is_finite()) {
            (low, high) = (low.min(x), high.max(x));
        }
        if !(low <= high) {
            (low, high) = (0.0, 1.0);
        }
        let size = low.abs().max(high.abs());
        // values that differ by rounding only count as one
        let room = if high - low > 1e-12 * size { 0.04 * (high - low) } else { (0.1 * size).max(1e-300) };
        let room = if size == 0.0 { 1.0 } else { room };
        Axis { low: low - room, high: high + room }
    }

    fn part(&self, x: f64) -> f64 {
        (x - self.low) / (self.high - self.low)
    }

    /// Multiples of 1, 2 or 5 times a power of ten, at most nine of them.
    fn marks(&self) -> Vec<(f64, String)> {
        let range = self.high - self.low;
        let power = 10.0_f64.powf((range / 9.0).log10().floor());
        let pace =
            [1.0, 2.0, 5.0, 10.0].into_iter().map(|k| k * power).find(|pace| range / pace <= 9.0).unwrap_or(range);
        let digits = (-pace.log10() + 1e-9).ceil().clamp(0.0, 12.0) as usize;
        let exponents = !(1e-4..1e5).contains(&self.low.abs().max(self.high.abs()));
        let first = (self.low / pace).ceil();
        let mark = |k: usize| {
            let x = (first + k as f64) * pace;
            let x = if x.abs() < 1e-9 * pace { 0.0 } else { x };
            (x, if exponents { format!("{x:.1e}") } else { format!("{x:.digits$}") })
        };
        (0..10).map(mark).take_while(|(x, _)| *x <= self.high).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_a_linear_axis_are_round_numbers() {
        let marks = |low: f64, high: f64| {
            Axis::of([low, high].iter()).marks().into_iter().map(|(_, text)| text).collect::<Vec<_>>()
        };
        assert_eq!(marks(0.0, 1.0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(marks(-0.013, 0.021).first().map(String::as_str), Some("-0.010"));
        assert!((2..=10).contains(&marks(3.0, 3.0).len()));
        assert_eq!(marks(0.0, 0.0).len(), 5);
    }

    #[test]
    fn one_column_over_another_is_a_panel_with_its_unit() {
        let mut x = Column::new("x", ColumnKind::Position, vec![0.0, 1.0, 0.0]);
        x.unit = Some("m".into());
        let y = Column::new("y", ColumnKind::Position, vec![0.0, f64::NAN, 2.0]);
        let plots =
            vec![ChosenPlot { title: "way".into(), x: Some("x".into()), curves: vec!["y".into(), "absent".into()] }];
        let run = Run { times: vec![0.0, 1.0, 2.0], columns: vec![x, y], plots, ..Run::default() };
        let (svg, _, height) = panels(&run).expect("a panel");
        assert!(svg.contains(">x (m)<") && !svg.contains("NaN"), "{svg}");
        assert_eq!(height, HEIGHT + LINE);
    }
}
