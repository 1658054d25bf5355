//! A frame of a scene as flat lines and dots.

use super::solids;
use crate::scene::{Anchor, Coordinate, DrawingKind, Pose, Scene, SceneDrawing, Stroke};
use std::f64::consts::TAU;

/// Points of a circle.
const ROUND: usize = 40;
/// Part of the extent that the longest arrow has, where nothing else is said.
const ARROW: f64 = 0.18;
/// Azimuth and elevation from which space is seen.
const SEEN_FROM: (f64, f64) = (-0.9, 0.38);
/// Most frames that the extent is looked for in.
const LOOKED_AT: usize = 300;

/// Colours by name, on white paper.
const COLOURS: [(&str, &str); 11] = [
    ("black", "#1b1f24"),
    ("blue", "#1f5fa8"),
    ("orange", "#c8501e"),
    ("green", "#2e7d32"),
    ("purple", "#8e3a9d"),
    ("teal", "#00798a"),
    ("yellow", "#a87b00"),
    ("red", "#b3261e"),
    ("violet", "#5d4fc4"),
    ("pink", "#b0407a"),
    ("grey", "#4d5a66"),
];

/// How large a dot is.
#[derive(Clone, Copy)]
pub enum Dot {
    Usual,
    /// that of a joint
    Joint,
    /// radius in lengths of the model
    Radius(f64),
}

/// A line or a dot.
pub struct Mark {
    pub points: Vec<[f64; 2]>,
    pub closed: bool,
    pub filled: bool,
    /// covers what is behind it
    pub solid: bool,
    pub dashed: bool,
    pub width: f64,
    pub color: String,
    pub dot: Option<Dot>,
    pub moves: bool,
}

/// What is seen of a scene: the projection and the extent over all frames.
pub struct Viewpoint {
    across: [f64; 3],
    upward: [f64; 3],
    /// to the reader
    pub towards: [f64; 3],
    pub low: [f64; 2],
    pub high: [f64; 2],
    /// Length of arrows for each unit of what they show.
    arrow: f64,
}

impl Viewpoint {
    /// None if nothing has a place.
    pub fn of(scene: &Scene) -> Option<Viewpoint> {
        let mut view = Viewpoint::from(scene.dimension, scene.up);
        let frames = scene.frames.t.len();
        let stride = frames.div_ceil(LOOKED_AT).max(1);
        let mut longest: f64 = 0.0;
        for frame in (0..frames).step_by(stride).chain(frames.checked_sub(1)) {
            for mark in marks(scene, &view, frame) {
                let room = if let Some(Dot::Radius(radius)) = mark.dot { radius } else { 0.0 };
                for point in &mark.points {
                    for k in 0..2 {
                        view.low[k] = view.low[k].min(point[k] - room);
                        view.high[k] = view.high[k].max(point[k] + room);
                    }
                }
            }
            for drawing in scene.drawings.iter().filter(|drawing| drawing.scale.is_none()) {
                let vector = drawing.vector.as_deref().map(|vector| triple(scene, vector, frame));
                longest = longest.max(vector.map_or(0.0, norm));
            }
        }
        if !(view.low[0].is_finite() && view.low[1].is_finite()) {
            return None;
        }
        let extent = (view.high[0] - view.low[0]).max(view.high[1] - view.low[1]);
        let extent = if extent > 0.0 { extent } else { 1.0 };
        view.arrow = if longest > 0.0 { ARROW * extent / longest } else { 0.0 };
        for k in 0..2 {
            // some air, and no picture that is a line only
            let missing = (0.12 * extent - (view.high[k] - view.low[k])).max(0.0);
            view.low[k] -= 0.04 * extent + 0.5 * missing;
            view.high[k] += 0.04 * extent + 0.5 * missing;
        }
        Some(view)
    }

    /// A view of nothing, from the front.
    pub fn from(dimension: u8, up: [f64; 3]) -> Viewpoint {
        let flat = ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]);
        let (across, upward) = if dimension == 2 { flat } else { projection(up) };
        let towards = cross(across, upward);
        Viewpoint { across, upward, towards, low: [f64::INFINITY; 2], high: [f64::NEG_INFINITY; 2], arrow: 0.0 }
    }

    /// The larger side; zero before anything was seen.
    pub fn extent(&self) -> f64 {
        let extent = self.width().max(self.height());
        if extent.is_finite() { extent } else { 0.0 }
    }

    pub fn width(&self) -> f64 {
        self.high[0] - self.low[0]
    }

    pub fn height(&self) -> f64 {
        self.high[1] - self.low[1]
    }

    pub fn flat(&self, point: [f64; 3]) -> [f64; 2] {
        [dot(self.across, point), dot(self.upward, point)]
    }
}

/// Directions to the right and upward on the paper.
fn projection(up: [f64; 3]) -> ([f64; 3], [f64; 3]) {
    let up = scaled(up, 1.0 / norm(up).max(f64::MIN_POSITIVE));
    let side = if up[0].abs() < 0.9 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
    let first = minus(side, scaled(up, dot(side, up)));
    let first = scaled(first, 1.0 / norm(first));
    let second = cross(up, first);
    let (azimuth, elevation) = SEEN_FROM;
    let towards = plus(scaled(first, azimuth.cos()), scaled(second, azimuth.sin()));
    let across = cross(up, towards);
    let upward = minus(scaled(up, elevation.cos()), scaled(towards, elevation.sin()));
    (across, upward)
}

/// What a frame shows, the last one on top.
pub fn marks(scene: &Scene, view: &Viewpoint, frame: usize) -> Vec<Mark> {
    let mut marks = solids::bodies(scene, view, frame);
    for force in &scene.forces {
        let ends = [anchor(scene, &force.from, frame), anchor(scene, &force.to, frame)];
        let points = if force.kind.contains("spring") { winding(view, ends, 8.0, None) } else { ends.to_vec() };
        push(&mut marks, view, &points, Mark::line(colour(None, "green"), 1.5, true));
    }
    for joint in &scene.joints {
        marks.extend(solids::joint(scene, view, joint, frame));
    }
    for drawing in &scene.drawings {
        draw(&mut marks, scene, view, drawing, frame);
    }
    marks
}

/// The ways of points up to a frame.
pub fn traces(scene: &Scene, view: &Viewpoint, frame: usize) -> Vec<Mark> {
    let mut marks = Vec::new();
    for trace in &scene.traces {
        let at = |frame: usize| {
            let point = triple(scene, &trace.point, frame);
            match trace.body.map(|k| placed(scene, &scene.bodies[k].pose, frame)) {
                Some(body) => body.place(point),
                None => point,
            }
        };
        let color = colour(trace.color.as_deref(), "orange");
        let points: Vec<[f64; 3]> = (0..=frame).map(at).collect();
        // a gap where a mode does not have the point
        for piece in points.split(|point| !point.iter().all(|x| x.is_finite())).filter(|piece| piece.len() > 1) {
            push(&mut marks, view, piece, Mark::line(color.clone(), trace.width.unwrap_or(1.2), true));
        }
    }
    marks
}

impl Mark {
    pub fn line(color: String, width: f64, moves: bool) -> Self {
        Mark {
            points: Vec::new(),
            closed: false,
            filled: false,
            solid: false,
            dashed: false,
            width,
            color,
            dot: None,
            moves,
        }
    }
}

/// A mark through these points, unless one of them has no place.
fn push(marks: &mut Vec<Mark>, view: &Viewpoint, points: &[[f64; 3]], mark: Mark) {
    if points.iter().flatten().all(|x| x.is_finite()) {
        marks.push(Mark { points: points.iter().map(|&point| view.flat(point)).collect(), ..mark });
    }
}

fn draw(marks: &mut Vec<Mark>, scene: &Scene, view: &Viewpoint, drawing: &SceneDrawing, frame: usize) {
    let fixed = |c: &Coordinate| matches!(c, Coordinate::Fixed(_));
    let everything = drawing.points.iter().flatten().chain(drawing.at.iter().flatten()).chain(&drawing.angle);
    let moves = !everything.chain(drawing.axis.iter().flatten()).all(fixed);
    let single = |of: Option<Coordinate>| of.map_or(0.0, |of| scene.value(of, frame));
    let points: Vec<[f64; 3]> = drawing.points.iter().map(|point| triple(scene, point, frame)).collect();
    let usual = match drawing.kind {
        DrawingKind::Polygon => "blue",
        DrawingKind::Spring => "green",
        DrawingKind::Arrow => "red",
        _ => "black",
    };
    let mut mark = Mark::line(colour(drawing.color.as_deref(), usual), drawing.width.unwrap_or(2.0), moves);
    mark.dashed = drawing.style == Stroke::Dashed;
    match drawing.kind {
        DrawingKind::Point => {
            push(marks, view, &points[..1], Mark { dot: Some(drawing.size.map_or(Dot::Usual, Dot::Radius)), ..mark });
        }
        DrawingKind::Line => {
            if drawing.style == Stroke::Ground {
                hatch(marks, view, &points, &mark.color);
            }
            push(marks, view, &points, mark);
        }
        DrawingKind::Circle => {
            let (radius, angle) = (single(drawing.radius), single(drawing.angle));
            let (first, second) = match &drawing.axis {
                Some(axis) => across(triple(scene, axis, frame)),
                None => ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]),
            };
            let rim =
                |phi: f64| plus(points[0], plus(scaled(first, radius * phi.cos()), scaled(second, radius * phi.sin())));
            if drawing.angle.is_some() {
                push(marks, view, &[points[0], rim(angle)], Mark::line(mark.color.clone(), mark.width, true));
            }
            let round: Vec<[f64; 3]> = (0..ROUND).map(|k| rim(TAU * k as f64 / ROUND as f64)).collect();
            push(marks, view, &round, Mark { closed: true, filled: drawing.fill.unwrap_or(false), ..mark });
        }
        DrawingKind::Spring => {
            let line = winding(view, [points[0], points[1]], drawing.coils.unwrap_or(8.0), drawing.size);
            push(marks, view, &line, Mark { width: drawing.width.unwrap_or(1.5), ..mark });
        }
        DrawingKind::Polygon => {
            let corners = match &drawing.at {
                None => points,
                Some(at) => {
                    let (at, (sin, cos)) = (triple(scene, at, frame), single(drawing.angle).sin_cos());
                    let turned = |p: [f64; 3]| plus(at, [cos * p[0] - sin * p[1], sin * p[0] + cos * p[1], p[2]]);
                    points.into_iter().map(turned).collect()
                }
            };
            push(marks, view, &corners, Mark { closed: true, filled: drawing.fill.unwrap_or(true), ..mark });
        }
        DrawingKind::Arrow => {
            let vector = drawing.vector.as_deref().map_or([0.0; 3], |vector| triple(scene, vector, frame));
            let tip = plus(points[0], scaled(vector, drawing.scale.unwrap_or(view.arrow)));
            let ([x0, y0], [x1, y1]) = (view.flat(points[0]), view.flat(tip));
            let (dx, dy) = (x1 - x0, y1 - y0);
            push(marks, view, &[points[0], tip], Mark::line(mark.color.clone(), mark.width, moves));
            if (dx.hypot(dy)).is_finite() && dx.hypot(dy) > 0.0 {
                let barb = |side: f64| [x1 - 0.22 * dx + side * 0.1 * dy, y1 - 0.22 * dy - side * 0.1 * dx];
                marks.push(Mark { points: vec![barb(1.0), [x1, y1], barb(-1.0)], ..mark });
            }
        }
    }
}

/// Short strokes on the right side of a line that does not move.
fn hatch(marks: &mut Vec<Mark>, view: &Viewpoint, points: &[[f64; 3]], color: &str) {
    let extent = view.width().max(view.height());
    if !extent.is_finite() {
        return;
    }
    let (pace, long) = (extent / 45.0, extent / 40.0);
    for ends in points.windows(2) {
        let ([x0, y0], [x1, y1]) = (view.flat(ends[0]), view.flat(ends[1]));
        let length = (x1 - x0).hypot(y1 - y0);
        if !(length > 0.0 && length.is_finite()) {
            continue;
        }
        let (dx, dy) = ((x1 - x0) / length, (y1 - y0) / length);
        let count = (length / pace).floor().min(400.0) as usize;
        for k in 0..=count {
            let from = [x0 + k as f64 * pace * dx, y0 + k as f64 * pace * dy];
            let to = [from[0] + 0.7 * long * (dy - dx), from[1] - 0.7 * long * (dx + dy)];
            marks.push(Mark { points: vec![from, to], ..Mark::line(color.to_string(), 1.0, false) });
        }
    }
}

/// A zigzag between two points, seen from the front.
fn winding(view: &Viewpoint, ends: [[f64; 3]; 2], coils: f64, size: Option<f64>) -> Vec<[f64; 3]> {
    let along = minus(ends[1], ends[0]);
    let length = norm(along);
    let [x, y] = view.flat(along);
    let seen = x.hypot(y);
    if !(seen > 0.0) {
        return ends.to_vec();
    }
    let aside = plus(scaled(view.across, -y / seen), scaled(view.upward, x / seen));
    let reach = size.unwrap_or(0.08 * length);
    let count = (2.0 * coils).round().clamp(2.0, 400.0) as usize;
    let mut points = vec![ends[0]];
    for k in 0..=count + 1 {
        let part = 0.1 + 0.8 * (k as f64 - 0.5).clamp(0.0, count as f64) / count as f64;
        let side = if k == 0 || k == count + 1 {
            0.0
        } else if k % 2 == 0 {
            -reach
        } else {
            reach
        };
        points.push(plus(plus(ends[0], scaled(along, part)), scaled(aside, side)));
    }
    points.push(ends[1]);
    points
}

/// A place and a quaternion.
pub struct Placement {
    pub at: [f64; 3],
    pub rotation: [f64; 4],
}

impl Placement {
    /// at + R(q) point
    pub fn place(&self, point: [f64; 3]) -> [f64; 3] {
        let [q0, a, b, c] = self.rotation;
        let (axis, square) = ([a, b, c], q0 * q0 + a * a + b * b + c * c);
        let twice = scaled(cross(axis, point), 2.0);
        let turned = plus(scaled(twice, q0), cross(axis, twice));
        plus(self.at, plus(point, scaled(turned, 1.0 / square)))
    }
}

pub fn placed(scene: &Scene, pose: &Pose, frame: usize) -> Placement {
    match pose {
        Pose::Fixed { at, rotation } => Placement { at: *at, rotation: *rotation },
        Pose::Columns(columns) => {
            let x: Vec<f64> = columns.iter().map(|&k| scene.frames.columns[k][frame]).collect();
            match x[..] {
                [x, y, z, q0, q1, q2, q3] => Placement { at: [x, y, z], rotation: [q0, q1, q2, q3] },
                [x, y, phi] => {
                    let (sin, cos) = (0.5 * phi).sin_cos();
                    Placement { at: [x, y, 0.0], rotation: [cos, 0.0, 0.0, sin] }
                }
                _ => Placement { at: [f64::NAN; 3], rotation: [1.0, 0.0, 0.0, 0.0] },
            }
        }
    }
}

fn anchor(scene: &Scene, anchor: &Anchor, frame: usize) -> [f64; 3] {
    match anchor.body {
        Some(k) => placed(scene, &scene.bodies[k].pose, frame).place(anchor.point),
        None => anchor.point,
    }
}

/// Three numbers; the third one of a flat scene is zero.
fn triple(scene: &Scene, point: &[Coordinate], frame: usize) -> [f64; 3] {
    let at = |k: usize| point.get(k).map_or(0.0, |&coordinate| scene.value(coordinate, frame));
    [at(0), at(1), at(2)]
}

pub fn colour(given: Option<&str>, usual: &str) -> String {
    let word = given.unwrap_or(usual);
    let hexadecimal = word.strip_prefix('#').is_some_and(|digits| digits.chars().all(|c| c.is_ascii_hexdigit()));
    match COLOURS.iter().find(|(name, _)| *name == word) {
        Some((_, color)) => (*color).to_string(),
        None if hexadecimal => word.to_string(),
        None => COLOURS[0].1.to_string(),
    }
}

/// A colour #rrggbb with three parts of white, as a face in light.
pub fn lightened(color: &str) -> String {
    let part = |k: usize| color.get(2 * k + 1..2 * k + 3).and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let mixed = [0, 1, 2].map(|k| (part(k).unwrap_or(255) + 3 * 255) / 4);
    format!("#{:02x}{:02x}{:02x}", mixed[0], mixed[1], mixed[2])
}

/// Two directions across an axis.
fn across(axis: [f64; 3]) -> ([f64; 3], [f64; 3]) {
    let axis = scaled(axis, 1.0 / norm(axis).max(f64::MIN_POSITIVE));
    let side = if axis[0].abs() < 0.7 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
    let first = cross(axis, side);
    let first = scaled(first, 1.0 / norm(first).max(f64::MIN_POSITIVE));
    (first, cross(axis, first))
}

pub fn plus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

pub fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    plus(a, scaled(b, -1.0))
}

pub fn scaled(a: [f64; 3], by: f64) -> [f64; 3] {
    a.map(|x| by * x)
}

pub fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub fn norm(a: [f64; 3]) -> f64 {
    dot(a, a).sqrt()
}

pub fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quaternion_turns_a_point_whatever_its_length() {
        // a quarter turn about z, twice as long as a unit quaternion
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let turned =
            Placement { at: [1.0, 0.0, 0.0], rotation: [2.0 * half, 0.0, 0.0, 2.0 * half] }.place([1.0, 0.0, 0.0]);
        assert!(norm(minus(turned, [1.0, 1.0, 0.0])) < 1e-15, "{turned:?}");
    }

    #[test]
    fn the_projection_keeps_up_upward_and_right_angles() {
        for up in [[0.0, 0.0, 1.0], [0.0, 2.0, 0.0], [1.0, 0.0, 0.0]] {
            let (across, upward) = projection(up);
            assert!(dot(across, up).abs() < 1e-15 && dot(upward, up) > 0.9 && dot(across, upward).abs() < 1e-15);
            assert!((norm(across) - 1.0).abs() < 1e-15 && (norm(upward) - 1.0).abs() < 1e-15);
        }
    }
}
