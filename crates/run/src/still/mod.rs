//! Pictures of a run for papers, as SVG: a strip of stills of its scene, or its curves where it has none.
//!
//! Stills stand at equal times, with the start behind them in grey and the traces up to their time. What is in space is seen in parallel
//! projection from the front, a little from the right and above.

mod curves;
mod shapes;
mod solids;

use crate::error::WriteError;
use crate::page::text::escape;
use crate::run::{Run, time};
use crate::scene::Scene;
use shapes::{Dot, Mark, Viewpoint};
use std::fmt::Write as _;
use std::io::Write;

/// Stills of a strip.
const STILLS: usize = 6;
/// Width of the whole strip, in pixels.
const WIDTH: f64 = 900.0;
/// Space between stills, and below them for their times.
const GAP: f64 = 12.0;
const CAPTION: f64 = 20.0;
const STYLE: &str =
    "text{font:13px Helvetica,Arial,sans-serif;fill:#1b1f24}path,line{stroke-linejoin:round;stroke-linecap:round}";

/// Write the picture of a run.
pub fn write(run: &Run, mut file: impl Write) -> Result<(), WriteError> {
    run.check()?;
    let scene = run.scene.as_deref().filter(|scene| !scene.is_empty() && !scene.frames.t.is_empty());
    let drawn = scene.and_then(strip);
    let (svg, width, height) = match drawn {
        Some(drawn) => drawn,
        None => curves::panels(run)?,
    };
    let title = escape(run.header.model.as_deref().unwrap_or("Run"));
    writeln!(
        file,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\">\
         <title>{title}</title><style>{STYLE}</style><rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{svg}</svg>"
    )?;
    Ok(())
}

/// The stills of a scene side by side, with width and height of the whole; none if nothing has a place.
fn strip(scene: &Scene) -> Option<(String, f64, f64)> {
    let frames = scene.frames.t.len();
    let view = Viewpoint::of(scene)?;
    let count = frames.min(STILLS);
    let aspect = view.width() / view.height();
    // wide pictures stand below each other
    let columns = match aspect {
        a if count == 1 || a > 4.0 => 1,
        a if a > 1.8 => 2,
        a if a > 0.7 => 3,
        _ => count,
    };
    let columns = columns.min(count);
    let cell = (WIDTH - GAP * (columns + 1) as f64) / columns as f64;
    let scale = (cell / view.width()).min(520.0 / view.height());
    let (inner_width, inner_height) = (scale * view.width(), scale * view.height());
    let rows = count.div_ceil(columns);
    let start = shapes::marks(scene, &view, 0);
    let mut svg = String::new();
    for still in 0..count {
        let frame = if count == 1 { frames - 1 } else { still * (frames - 1) / (count - 1) };
        let (column, row) = (still % columns, still / columns);
        let left = GAP + column as f64 * (cell + GAP) + 0.5 * (cell - inner_width);
        let top = GAP + row as f64 * (inner_height + CAPTION + GAP);
        let place =
            |point: [f64; 2]| [left + scale * (point[0] - view.low[0]), top + scale * (view.high[1] - point[1])];
        for mark in shapes::traces(scene, &view, frame) {
            svg.push_str(&mark.drawn(&place, scale, 1.0));
        }
        if frame > 0 {
            for mark in start.iter().filter(|mark| mark.moves) {
                svg.push_str(&mark.drawn(&place, scale, 0.15));
            }
        }
        for mark in shapes::marks(scene, &view, frame) {
            svg.push_str(&mark.drawn(&place, scale, 1.0));
        }
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">t = {}</text>",
            left + 0.5 * inner_width,
            top + inner_height + CAPTION - 4.0,
            short(scene.frames.t[frame]),
        );
    }
    let height = GAP + rows as f64 * (inner_height + CAPTION + GAP);
    Some((svg, WIDTH, height))
}

/// A time without zeros at its end.
fn short(t: f64) -> String {
    let t = if t == 0.0 { 0.0 } else { t };
    let digits = format!("{t:.3e}").parse().unwrap_or(t);
    let text = time(digits);
    if text.contains('e') || !text.contains('.') {
        format!("{digits:e}")
    } else {
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    }
}

impl Mark {
    /// As SVG, where `place` takes it to the paper and `scale` its lengths.
    fn drawn(&self, place: &dyn Fn([f64; 2]) -> [f64; 2], scale: f64, opacity: f64) -> String {
        let mut path = String::new();
        for (k, &point) in self.points.iter().enumerate() {
            let [x, y] = place(point);
            let _ = write!(path, "{}{x:.1} {y:.1}", if k == 0 { "M" } else { "L" });
        }
        if self.closed {
            path.push('Z');
        }
        let color = &self.color;
        let light = shapes::lightened(color);
        let fill = match (self.solid, self.filled) {
            (true, _) => light.as_str(),
            (false, true) => color.as_str(),
            (false, false) => "none",
        };
        let faint = if opacity < 1.0 { format!(" opacity=\"{opacity}\"") } else { String::new() };
        if let (Some(dot), Some(&at)) = (self.dot, self.points.first()) {
            let r = match dot {
                Dot::Usual => 3.0,
                Dot::Joint => 1.8,
                Dot::Radius(radius) => (scale * radius).max(1.0),
            };
            let [x, y] = place(at);
            return format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{r:.1}\" fill=\"{color}\"{faint}/>\n");
        }
        let dash = if self.dashed { " stroke-dasharray=\"6 5\"" } else { "" };
        let shade = if self.filled { " fill-opacity=\"0.25\"" } else { "" };
        format!(
            "<path d=\"{path}\" fill=\"{fill}\"{shade} stroke=\"{color}\" stroke-width=\"{}\"{dash}{faint}/>\n",
            self.width
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Column, ColumnKind};
    use crate::scene::{Coordinate, DrawingKind, SceneDrawing, SceneFrames, SceneTrace};

    fn svg(run: &Run) -> Result<String, WriteError> {
        let mut bytes = Vec::new();
        write(run, &mut bytes)?;
        Ok(String::from_utf8(bytes).expect("text"))
    }

    fn pendulum() -> Run {
        let tip = || vec![Coordinate::Column { column: 0 }, Coordinate::Column { column: 1 }];
        let rod = vec![vec![Coordinate::Fixed(0.0), Coordinate::Fixed(0.0)], tip()];
        let times: Vec<f64> = (0..=10).map(|k| f64::from(k) / 10.0).collect();
        let columns = vec![times.iter().map(|t| t.sin()).collect(), times.iter().map(|t| -t.cos()).collect()];
        let scene = Scene {
            dimension: 2,
            drawings: vec![SceneDrawing::new(DrawingKind::Line, rod)],
            traces: vec![SceneTrace { body: None, point: tip(), color: None, width: None }],
            frames: SceneFrames { t: times, columns },
            ..Scene::default()
        };
        Run { scene: Some(Box::new(scene)), ..Run::default() }
    }

    #[test]
    fn a_strip_has_six_stills_with_their_times_and_the_start_behind() {
        let svg = svg(&pendulum()).expect("a picture");
        assert_eq!(svg.matches("<text").count(), 6);
        assert!(svg.contains(">t = 0<") && svg.contains(">t = 0.2<") && svg.contains(">t = 1<"), "{svg}");
        assert_eq!(svg.matches("opacity=\"0.15\"").count(), 5);
        assert!(!svg.contains("NaN"));
    }

    #[test]
    fn a_single_frame_is_a_single_still() {
        let mut run = pendulum();
        if let Some(scene) = &mut run.scene {
            scene.frames.t.truncate(1);
            scene.frames.columns.iter_mut().for_each(|column| column.truncate(1));
        }
        assert_eq!(svg(&run).expect("a picture").matches("<text").count(), 1);
    }

    #[test]
    fn without_a_picture_there_are_curves_and_without_curves_a_refusal() {
        let column = Column::new("<x>", ColumnKind::Output, vec![0.0, 1.0]);
        let run = Run { times: vec![0.0, 1.0], columns: vec![column], ..Run::default() };
        let curves = svg(&run).expect("curves");
        assert!(curves.contains("&lt;x&gt;") && curves.contains("<path"), "{curves}");
        let said = svg(&Run::default()).expect_err("nothing to draw").to_string();
        assert!(said.contains("nothing to draw") && said.contains("fewer than two points"), "{said}");
    }
}
