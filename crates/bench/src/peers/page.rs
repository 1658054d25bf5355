//! The results as one self-contained page: ratios, work–precision pictures, every run.

use super::curve::WorkPrecision;
use super::measure::Measured;
use super::table::{Cell, ERRORS, raw, shown};
use std::fmt::Write;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 330.0;
const LEFT: f64 = 56.0;
const BOTTOM: f64 = 36.0;
const COLOURS: [&str; 8] = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#666666", "#a05a2c"];

const STYLE: &str = "body{font:15px/1.45 sans-serif;max-width:1180px;margin:2em auto;padding:0 1em;color:#222}
table{border-collapse:collapse;margin:1em 0}td,th{border:1px solid #ccc;padding:.25em .6em;text-align:left}
.win{background:#dff3df}.loss{background:#fbe0dc}.even{background:#fff6d6}
figure{display:inline-block;margin:1em 1em 1em 0;vertical-align:top}svg{border:1px solid #ddd}
.legend span{margin-right:1em;white-space:nowrap}pre{font-size:12px;overflow:auto;max-height:30em}";

/// The page; `about` says what was run where.
pub fn page(all: &[Measured], about: &str) -> String {
    let mut text = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Daedal against the classical codes</title>\
         <style>{STYLE}</style></head><body><h1>Daedal against the classical codes</h1>\n<pre>{}</pre>\n",
        escaped(about)
    );
    text.push_str(
        "<p>Time of Daedal with its own choice of the method ÷ time of the best peer at equal error; in brackets with the best of its methods. \
         Below 1 Daedal is quicker. Green: below 0.95, red: above 1.05.</p>\n<table><tr><th>problem</th>",
    );
    for error in ERRORS {
        let _ = write!(text, "<th>{error:e}</th>");
    }
    text.push_str("<th>reading, first start, later start</th></tr>\n");
    for measured in all {
        let _ = write!(text, "<tr><td>{}</td>", measured.problem.title);
        for error in ERRORS {
            let cell = Cell::new(measured, error);
            let class = match cell.ratio() {
                Some(ratio) if ratio < 0.95 => "win",
                Some(ratio) if ratio <= 1.05 => "even",
                None if cell.peer.is_none() => "",
                _ => "loss",
            };
            let name =
                |found: &Option<(String, f64)>| found.as_ref().map_or("nobody".to_string(), |(name, _)| escaped(name));
            let _ = write!(
                text,
                "<td class=\"{class}\" title=\"{} against {}\">{}</td>",
                name(&cell.best),
                name(&cell.peer),
                shown(&cell)
            );
        }
        let [reading, first, later] = measured.start.map(|seconds| seconds * 1e3);
        let _ = writeln!(text, "<td>{reading:.1} ms, {first:.1} ms, {later:.2} ms</td></tr>");
    }
    text.push_str("</table>\n");
    for measured in all {
        text.push_str(&figure(measured));
    }
    let _ = write!(text, "<h2>Every run</h2>\n<pre>{}</pre></body></html>\n", escaped(&raw(all)));
    text
}

/// Error over time, both by powers of ten; Daedal is drawn thick.
fn figure(measured: &Measured) -> String {
    let points = || measured.curves.iter().flat_map(|curve| &curve.points);
    let range = |of: fn(&super::curve::RunPoint) -> f64| {
        let logs = points().map(of).map(f64::log10);
        let (least, most) = logs.fold((f64::MAX, f64::MIN), |(a, b), x| (a.min(x), b.max(x)));
        (least.floor(), most.ceil().max(least.floor() + 1.0))
    };
    let (errors, times) = (range(|point| point.error.min(1.0)), range(|point| point.seconds));
    let x = |error: f64| {
        let log = error.min(1.0).log10();
        LEFT + (errors.1 - log) / (errors.1 - errors.0) * (WIDTH - LEFT - 12.0)
    };
    let y = |seconds: f64| {
        let log = seconds.log10();
        12.0 + (times.1 - log) / (times.1 - times.0) * (HEIGHT - BOTTOM - 12.0)
    };
    let mut svg = format!(
        "<figure><figcaption><b>{}</b></figcaption><svg width=\"{WIDTH}\" height=\"{HEIGHT}\">",
        measured.problem.title
    );
    for (from, to, across) in [(errors.0, errors.1, true), (times.0, times.1, false)] {
        let mut power = from;
        while power <= to {
            let value = 10f64.powf(power);
            let (at, label) =
                if across { (x(value), format!("1e{power}")) } else { (y(value), format!("1e{power} s")) };
            let _ = if across {
                write!(
                    svg,
                    "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"12\" y2=\"{:.1}\" stroke=\"#eee\"/><text x=\"{at:.1}\" y=\"{:.1}\" font-size=\"10\" text-anchor=\"middle\">{label}</text>",
                    HEIGHT - BOTTOM,
                    HEIGHT - BOTTOM + 14.0
                )
            } else {
                write!(
                    svg,
                    "<line x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"#eee\"/><text x=\"{:.1}\" y=\"{:.1}\" font-size=\"10\" text-anchor=\"end\">{label}</text>",
                    WIDTH - 12.0,
                    LEFT - 4.0,
                    at + 3.0
                )
            };
            power += 1.0;
        }
    }
    let _ = write!(
        svg,
        "<text x=\"{:.0}\" y=\"{:.0}\" font-size=\"11\" text-anchor=\"middle\">error at the end</text>",
        WIDTH / 2.0,
        HEIGHT - 6.0
    );
    let (mut ours, mut theirs) = (0, 0);
    let mut legend = String::new();
    for curve in &measured.curves {
        let count = if curve.ours { &mut ours } else { &mut theirs };
        let colour = COLOURS[*count % COLOURS.len()];
        *count += 1;
        svg.push_str(&line(curve, colour, &x, &y));
        let mark = if curve.ours { "━━" } else { "┄┄" };
        let _ = write!(legend, "<span style=\"color:{colour}\">{mark} {}</span>", escaped(&curve.solver));
    }
    let _ = writeln!(svg, "</svg><div class=\"legend\" style=\"max-width:{WIDTH}px\">{legend}</div></figure>");
    svg
}

fn line(curve: &WorkPrecision, colour: &str, x: &dyn Fn(f64) -> f64, y: &dyn Fn(f64) -> f64) -> String {
    let (width, dashes, radius) = if curve.ours { (2.2, "none", 2.6) } else { (1.2, "5 3", 2.0) };
    let at: Vec<(f64, f64)> = curve.points.iter().map(|point| (x(point.error), y(point.seconds))).collect();
    let path: Vec<String> = at.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let mut svg = format!(
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" stroke-dasharray=\"{dashes}\"/>",
        path.join(" ")
    );
    for ((x, y), point) in at.iter().zip(&curve.points) {
        let _ = write!(
            svg,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{colour}\"><title>{}, rtol {:.0e}: error {:.1e}, {:.2e} s, {} steps</title></circle>",
            escaped(&curve.solver),
            point.rtol,
            point.error,
            point.seconds,
            point.steps
        );
    }
    svg
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
