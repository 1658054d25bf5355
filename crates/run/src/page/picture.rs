//! Work–precision pictures: curves over two logarithmic axes, as SVG that needs no script. A method has a colour, a formulation a marker.

use crate::page::scale::LogAxis;
use crate::page::text::escape;
use std::fmt::Write;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 400.0;
/// Left, top, right and bottom of the field inside.
const FIELD: [f64; 4] = [74.0, 12.0, 546.0, 346.0];
/// Half of the width of a letter of a mark on narrow screens, where letters are largest.
const HALF_A_LETTER: f64 = 4.8;
/// Colours that there are in the style sheet.
const COLOURS: usize = 16;

/// A picture.
pub struct Picture {
    /// What it shows.
    pub title: String,
    /// Title of the horizontal axis.
    pub horizontal: &'static str,
    /// Title of the vertical axis.
    pub vertical: String,
    /// Vertical values below are not resolved.
    pub floor: Option<f64>,
    /// The curves.
    pub curves: Vec<PictureCurve>,
}

/// Runs of one method with one formulation.
pub struct PictureCurve {
    /// Name of the method.
    pub method: String,
    /// Name of the formulation.
    pub formulation: String,
    /// Place of the method in the list of methods.
    pub colour: usize,
    /// Place of the formulation in the list of formulations.
    pub marker: usize,
    /// From the largest tolerance to the smallest; a run without a value is a gap.
    pub points: Vec<Option<PicturePoint>>,
}

/// One run.
pub struct PicturePoint {
    /// Horizontal value.
    pub x: f64,
    /// Vertical value.
    pub y: f64,
    /// What is told about it.
    pub title: String,
}

impl Picture {
    /// Is there anything to see?
    pub fn is_empty(&self) -> bool {
        self.points().next().is_none()
    }

    fn points(&self) -> impl Iterator<Item = &PicturePoint> {
        self.curves.iter().flat_map(|curve| curve.points.iter().flatten())
    }

    /// The picture as a figure.
    pub fn figure(&self) -> String {
        let across = LogAxis::of(self.points().map(|point| point.x));
        let up = LogAxis::of(self.points().map(|point| point.y));
        let [left, top, right, bottom] = FIELD;
        let x = |value: f64| left + (right - left) * across.place(value);
        let y = |value: f64| bottom - (bottom - top) * up.place(value);
        let mut svg = format!(
            "<figure class=\"picture\"><figcaption>{0}</figcaption><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{0}\">",
            escape(&self.title)
        );
        if let Some(floor) = self.floor.filter(|floor| up.place(*floor) > 0.0) {
            let (from, width, height) = (y(floor), right - left, bottom - y(floor));
            let _ = write!(
                svg,
                "<rect class=\"unresolved\" x=\"{left}\" y=\"{from:.1}\" width=\"{width}\" height=\"{height:.1}\"><title>not resolved: below the accuracy of the reference, {floor:.1e}</title></rect>"
            );
        }
        for (value, text) in across.marks() {
            let at = x(value);
            // text at the right border does not reach beyond the picture
            let place = at.min(WIDTH - HALF_A_LETTER * text.chars().count() as f64);
            let _ = write!(
                svg,
                "<path class=\"grid\" d=\"M{at:.1} {top}V{bottom}\"/><text class=\"mark\" x=\"{place:.1}\" y=\"{}\" text-anchor=\"middle\">{text}</text>",
                bottom + 19.0
            );
        }
        for (value, text) in up.marks() {
            let at = y(value);
            let _ = write!(
                svg,
                "<path class=\"grid\" d=\"M{left} {at:.1}H{right}\"/><text class=\"mark\" x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>",
                left - 7.0,
                at + 4.5
            );
        }
        let middle = 0.5 * (top + bottom);
        let _ = write!(
            svg,
            "<path class=\"frame\" d=\"M{left} {top}V{bottom}H{right}\"/><text class=\"title\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text><text class=\"title\" transform=\"translate(15 {middle}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            0.5 * (left + right),
            HEIGHT - 10.0,
            escape(self.horizontal),
            escape(&self.vertical),
        );
        for curve in &self.curves {
            svg.push_str(&curve.drawn(x, y));
        }
        svg.push_str("</svg></figure>\n");
        svg
    }
}

impl PictureCurve {
    fn drawn(&self, x: impl Fn(f64) -> f64, y: impl Fn(f64) -> f64) -> String {
        let name = series(&self.method, &self.formulation);
        let mut svg = format!("<g class=\"series {}\" data-series=\"{}\">", colour(self.colour), escape(&name));
        let mut line = String::new();
        let mut pen = 'M';
        for point in &self.points {
            if let Some(PicturePoint { x: across, y: up, .. }) = point {
                let _ = write!(line, "{pen}{:.1} {:.1}", x(*across), y(*up));
                pen = 'L';
            } else {
                pen = 'M';
            }
        }
        let _ = write!(svg, "<path class=\"line\" d=\"{line}\"/>");
        for point in self.points.iter().flatten() {
            let _ = write!(
                svg,
                "<g class=\"point\" transform=\"translate({:.1} {:.1})\"><title>{}</title>{}</g>",
                x(point.x),
                y(point.y),
                escape(&point.title),
                marker(self.marker)
            );
        }
        svg.push_str("</g>");
        svg
    }
}

/// The name by which the script knows runs of one method with one formulation.
pub fn series(method: &str, formulation: &str) -> String {
    format!("{method} {formulation}")
}

/// The class that has the colour of a method.
pub fn colour(method: usize) -> String {
    format!("c{}", method % COLOURS)
}

/// Shapes around the origin, one for each formulation; after the last one they are repeated, hollow.
pub fn marker(formulation: usize) -> String {
    const SHAPES: [&str; 8] = [
        "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z",
        "M-4-4h8v8h-8z",
        "M0-5.4L5 3.6H-5z",
        "M0-6L5 0L0 6L-5 0z",
        "M0 5.4L5-3.6H-5z",
        "M-1.6-5h3.2v3.4h3.4v3.2h-3.4v3.4h-3.2v-3.4h-3.4v-3.2h3.4z",
        "M-6-2h12v4h-12z",
        "M0-6L1.5-2L5.7-1.9L2.4.8L3.5 4.9L0 2.5L-3.5 4.9L-2.4.8L-5.7-1.9L-1.5-2z",
    ];
    let hollow = if (formulation / SHAPES.len()).is_multiple_of(2) { "" } else { " class=\"hollow\"" };
    format!("<path{hollow} d=\"{}\"/>", SHAPES[formulation % SHAPES.len()])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(points: Vec<Option<PicturePoint>>) -> Picture {
        let curve = PictureCurve { method: "radau".into(), formulation: "psf+i".into(), colour: 1, marker: 2, points };
        Picture {
            title: "errors".into(),
            horizontal: "seconds",
            vertical: "error <p>".into(),
            floor: Some(1e-6),
            curves: vec![curve],
        }
    }

    fn point(x: f64, y: f64) -> PicturePoint {
        PicturePoint { x, y, title: format!("at {x:?}") }
    }

    #[test]
    fn every_run_has_a_marker_and_a_gap_breaks_the_line() {
        let svg =
            picture(vec![Some(point(1e-3, 1e-3)), Some(point(2e-3, 1e-5)), None, Some(point(4e-3, 1e-7))]).figure();
        assert_eq!(svg.matches("class=\"point\"").count(), 3);
        let line = svg.split("class=\"line\" d=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a line");
        assert_eq!((line.matches('M').count(), line.matches('L').count()), (2, 1), "{line}");
        assert!(svg.contains("data-series=\"radau psf+i\"") && svg.contains("error &lt;p&gt;"));
        assert!(svg.contains("class=\"unresolved\""));
    }

    #[test]
    fn smaller_errors_stand_lower_and_longer_times_to_the_right() {
        let svg = picture(vec![Some(point(1e-3, 1e-3)), Some(point(2e-2, 1e-5))]).figure();
        let places: Vec<f64> = svg
            .split("class=\"point\" transform=\"translate(")
            .skip(1)
            .flat_map(|rest| rest.split(')').next().expect("a place").split(' ').map(|x| x.parse().expect("a number")))
            .collect();
        assert!(places[2] > places[0] && places[3] > places[1], "{places:?}");
    }

    #[test]
    fn marks_stay_inside_of_the_picture() {
        // 2·10⁻⁴ lies at the right border
        let svg = picture(vec![Some(point(2e-5, 1e-3)), Some(point(1.8e-4, 1e-5))]).figure();
        let mark = svg.split("</text>").find(|part| part.ends_with("2·10⁻⁴")).expect("a mark");
        let x = mark.rsplit("x=\"").next().and_then(|rest| rest.split('"').next()).expect("a place");
        let x: f64 = x.parse().expect("a number");
        assert!(x > 500.0 && x + 6.0 * HALF_A_LETTER <= WIDTH, "{x}");
    }

    #[test]
    fn formulations_have_different_markers() {
        let shapes: std::collections::HashSet<String> = (0..16).map(marker).collect();
        assert_eq!(shapes.len(), 16);
    }

    #[test]
    fn without_points_there_is_nothing_to_see() {
        assert!(picture(vec![None, None]).is_empty());
        assert!(!picture(vec![Some(point(1.0, 0.0))]).is_empty());
    }
}
